"""The version of passk, and the commit from which an unreleased version was built."""

from __future__ import annotations

from pathlib import Path

# RELEASE is the version that reports show. After a release, RELEASE is the newest release. Before
# the first release, RELEASE is the planned first release. RELEASE does not change with each commit,
# so reports do not change either.
RELEASE = "0.1.0"


def read_packaged_version(file: Path) -> str:
    """The version that `packaging/version.py` wrote into a wheel or sdist, or else RELEASE.

    A source tree has no version file, because the files of a source tree may differ from every
    commit.
    """
    try:
        return file.read_text(encoding="utf-8").strip() or RELEASE
    except OSError:
        return RELEASE


def commit_of(version: str) -> str:
    """The commit that the version string names, or "" for the version of a release.

    >>> commit_of("0.1.0.dev1662+gfd56ea4b"), commit_of("0.1.0")
    ('fd56ea4b', '')
    """
    return version.partition("+g")[2]


__version__ = read_packaged_version(Path(__file__).with_name("version.txt"))
VERSION_AND_COMMIT_SIGNATURE = {"passk": RELEASE} | (
    {"commit": commit_of(__version__)} if commit_of(__version__) else {}
)
