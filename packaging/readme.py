"""The README for a package index, which cannot follow relative links and pictures.

hatchling runs this file when it builds a wheel or sdist. If `[project.urls]` in pyproject.toml
contains a `Source`, links and pictures become absolute. Otherwise links become text, and pictures
are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # The tests need only the function.
    MetadataHookInterface = object

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)]+)\)")
_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)
_ADDRESS = re.compile(r'((?:src|srcset)=")(?!\w+:)')


def index_readme(text: str, source: str, version: str) -> str:
    """The README with absolute links, or without links if `source` is "".

    source : address of the repository.  version : the version, whose tag the links name.

    >>> index_readme("See [a](docs/a.md).", "", "0.1.0")
    'See a.'
    >>> index_readme("See [a](docs/a.md).", "https://example.org/passk", "0.1.0")
    'See [a](https://example.org/passk/blob/v0.1.0/docs/a.md).'
    """
    if not source:
        return _LINK.sub(r"\1", _PICTURE.sub("", text))
    commit = version.partition("+g")[2].removesuffix(".dirty") or f"v{version}"
    text = _LINK.sub(rf"[\1]({source}/blob/{commit}/\2)", text)
    return _ADDRESS.sub(rf"\1{source}/raw/{commit}/", text)


class CustomMetadataHook(MetadataHookInterface):  # type: ignore[misc,valid-type]
    """Sets the field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md; a hook of hatchling changes its argument."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source", "")
        text = index_readme(text, source, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
