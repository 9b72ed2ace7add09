"""Which files Spark reads, under the names it calls them by."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote, urlsplit

from passk_cli.errors import DataError
from passk_cli.files.source import Source

# What Spark takes for a pattern.
_SIGNS = "\\{}[]*?"
# Suffixes by which Spark unpacks.
_SUFFIX = {"gzip": ".gz", "none": ""}
PACKED = (".gz", ".zst", ".bz2", ".lz4", ".snappy", ".deflate")


def uri_of(path: str) -> str:
    r"""URI of a file on this machine.

    >>> uri_of("/runs/a {1}.jsonl")
    'file:///runs/a \\{1\\}.jsonl'
    """
    return "file://" + _escaped(path)


def literal(uri: str) -> str:
    r"""Path for Spark's reader, from Spark's name of a file.

    >>> literal("hdfs://host/a%20%7B1%7D.jsonl")
    'hdfs://host/a \\{1\\}.jsonl'
    """
    return _escaped(unquote(uri))


def given(source: Source) -> str:
    """Path for Spark's reader of a source."""
    return uri_of(source.path) if source.shared is None else literal(source.shared.uri)


def paths_by(sources: Sequence[Source]) -> Callable[[str], str]:
    """Function from Spark's name of one of these files to its path."""
    shared = {source.shared.uri: source.path for source in sources if source.shared is not None}
    return lambda uri: shared.get(plain(uri)) or path_of(uri)


def plain(uri: str) -> str:
    """Spark's name of a file in one spelling: it has two where there is no host.

    >>> plain("file:/runs/a.jsonl"), plain("hdfs://host/a.jsonl")
    ('file:///runs/a.jsonl', 'hdfs://host/a.jsonl')
    """
    return re.sub("^([^:/]+):/(?!/)", r"\1:///", uri)


def _escaped(path: str) -> str:
    return "".join("\\" * (sign in _SIGNS) + sign for sign in path)


def path_of(uri: str) -> str:
    """The path of a file here, from what Spark calls it.

    >>> path_of("file:///runs/a%20%7B1%7D.jsonl")
    '/runs/a {1}.jsonl'
    """
    return unquote(urlsplit(uri.replace("#", "%23").replace("?", "%3F")).path)


def require_readable(sources: Sequence[Source]) -> None:
    """DataError for files that Spark would pass over, or unpack in another way."""
    alone = "or leave --engine spark out"
    for source in sources:
        if source.shared is not None:
            continue
        file = os.path.basename(source.path)
        if file.startswith(("_", ".")):
            raise DataError(
                source.name,
                f"Spark passes over names that begin with {file[0]}",
                "rename it",
                name="not-on-spark",
            )
        suffix = _SUFFIX.get(source.packing)
        if suffix is None:
            raise DataError(
                source.name,
                f"Spark reads no {source.packing} here",
                f"pack it as .gz, {alone}",
                name="not-on-spark",
            )
        if not file.endswith(suffix) or (not suffix and file.endswith(PACKED)):
            packed = f"is packed with {source.packing}" if suffix else "is not packed"
            raise DataError(
                source.name,
                f"it {packed}, which Spark reads off the name",
                f"rename it, {alone}",
                name="not-on-spark",
            )
