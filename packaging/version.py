"""The version of a wheel or sdist, from git: hatchling runs this file when it builds them.

A commit with the tag v0.1.0 is the version 0.1.0. Without the tag it is 0.1.0.dev7+gCOMMIT if it is
the seventh commit, and 0.1.0.post2+gCOMMIT if it is the second one after the tag. Files that differ
from the commit add ".dirty". Archives of a commit, which have no repository, contain the commit in
`.git_archival.txt`. Without the program git, it is 0.1.0.dev0+gCOMMIT. If there is no commit, it
is the release that the package names.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # The tests and check.py need only the functions.
    BuildHookInterface = object

ROOT = Path(__file__).resolve().parent.parent
WRITTEN = "passk_cli/version.txt"

Git = Callable[..., str]


def build_version(root: Path = ROOT) -> str:
    """The version of the tree at `root`.

    Errors: ValueError if the commit has the tag of another release than the package names.
    """
    source = (root / "passk_cli" / "version.py").read_text(encoding="utf-8")
    release = re.search(r'^RELEASE = "(.+)"$', source, re.M)[1]  # type: ignore[index]
    written = root / WRITTEN
    if written.exists():  # in an unpacked sdist
        return written.read_text(encoding="utf-8").strip()
    version = _from_git(root, release) or _from_archive(root, release) or release
    if "+" not in version and version != release:
        raise ValueError(
            f"the commit has the tag v{version}, and passk_cli/version.py names {release}; use one"
        )
    return version


def _from_git(root: Path, release: str) -> str:
    """The version of a clone, or "" if `root` is not the top of a clone or there is no git."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    if not (root / ".git").exists():
        return ""
    try:
        commit = git("rev-parse", "--short=8", "HEAD")
        changed = ".dirty" if git("status", "--porcelain", "--untracked-files=no") else ""
        for tag in git("tag", "--points-at", "HEAD", "v[0-9]*").split():
            if not changed:
                return tag.removeprefix("v")
        if git("tag", "--merged", "HEAD", f"v{release}"):
            since = f"post{git('rev-list', '--count', f'v{release}..HEAD')}"
        else:
            since = f"dev{git('rev-list', '--count', 'HEAD')}"
    except (OSError, subprocess.CalledProcessError):
        commit = _commit_of_head(root / ".git")
        return f"{release}.dev0+g{commit}" if commit else ""
    return f"{release}.{since}+g{commit}{changed}"


def _commit_of_head(folder: Path) -> str:
    """The commit of a repository, read without git, or "" if it is in none of the usual files.

    Small container images have no git. This function cannot read tags.
    """
    files = [folder / "HEAD", folder / "packed-refs"]
    head, packed = (f.read_text(encoding="utf-8") if f.is_file() else "" for f in files)
    name = head.strip().removeprefix("ref: ")
    branch = folder / name
    if re.fullmatch(r"refs/[\w./-]+", name):
        packed_commit = re.search(rf"^(\w+) {re.escape(name)}$", packed, re.M)
        name = branch.read_text().strip() if branch.is_file() else (packed_commit or [""] * 2)[1]
    return name[:8] if re.fullmatch("[0-9a-f]{40,64}", name) else ""


def _from_archive(root: Path, release: str) -> str:
    """The version of an archive that git made of a commit, or "" if `root` is not one.

    .git_archival.txt : the commit, and the tag with the number of commits after it if there is one.
    """
    file = root / ".git_archival.txt"
    words = file.read_text(encoding="utf-8").split() if file.exists() else []
    if not words or "$" in words[0]:
        return ""
    commit, described = words[0][:8], words[1] if words[1:] else ""
    tag, count, _ = (described.removeprefix("v") + "-0-").split("-", 2)
    if tag and count == "0":
        return tag
    return f"{release}.{f'post{count}' if tag == release else 'dev0'}+g{commit}"


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc,valid-type]
    """Writes the version into the wheel and the sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add version.txt to the files, except in an editable install, which is a source tree.

        .gitignore names this file, so that the wheel of an unpacked sdist does not get it twice.
        """
        if version == "editable":
            return
        handle, self.file = tempfile.mkstemp(suffix=".txt")
        with os.fdopen(handle, "w") as file:
            file.write(self.metadata.version + "\n")
        os.chmod(self.file, 0o644)
        build_data["force_include"][self.file] = WRITTEN

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary file."""
        if hasattr(self, "file"):
            os.unlink(self.file)
