"""The lowest versions that pyproject.toml allows, as constraints for pip.

python tests/lowest_versions.py > lowest.txt
python3 -m venv lowest && lowest/bin/pip install -c lowest.txt -e '.[test]'
lowest/bin/python -m pytest --deselect tests/test_house.py::test_tool_is_content

The tools for tests are new ones there. Types are checked against the new numpy alone: its own
annotations have changed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

_LOWEST = re.compile(r"([\w.-]+)>=([\w.]+)")


def lowest_versions(pyproject: str) -> Iterator[str]:
    """A line `name==version` for each requirement of the project.

    >>> text = '[project]\\ndependencies = ["numpy>=2.0", "typer>=0.26,<0.29"]'
    >>> list(lowest_versions(text))
    ['numpy==2.0', 'typer==0.26']
    """
    for requirement in tomllib.loads(pyproject)["project"]["dependencies"]:
        match = _LOWEST.match(requirement)
        if match is None:
            raise ValueError(f"{requirement} names no lowest version")
        yield "==".join(match.groups())


if __name__ == "__main__":
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text()
    print("\n".join(lowest_versions(text)))
