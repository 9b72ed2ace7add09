"""What Spark refuses, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from passk_cli.errors import DataError, PasskError
from passk_cli.files.source import Source

_NOT_THERE = ("FileNotFoundException", "PATH_NOT_FOUND", "FILE_NOT_EXIST", "does not exist")
_CUT_OFF = ("EOFException", "ZipException", "incorrect data check", "invalid block type",
            "not a gzip file", "incorrect header check")  # fmt: skip


@contextmanager
def explained(sources: Sequence[Source]) -> Iterator[None]:
    """Errors of Spark's as DataError, about the file that they name or the first one."""
    try:
        yield
    except PasskError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            raise
        raise _sentence(str(error), sources) from None


def _sentence(message: str, sources: Sequence[Source]) -> DataError:
    place = next((s.name for s in sources if s.path in message), sources[0].name)
    if any(sign in message for sign in _NOT_THERE):
        return DataError(
            place, "Spark's workers do not see this file",
            "put it into a folder that all of them share",
        )  # fmt: skip
    if any(s.packing == "gzip" for s in sources) and any(sign in message for sign in _CUT_OFF):
        return DataError(place, "the gzip stream is cut off or damaged", "copy the file again")
    if "TextParsingException" in message or "MALFORMED_CSV" in message:
        return DataError(
            place, "a quote without its partner", "write it once more with a CSV library"
        )
    lines = [line for line in message.splitlines() if line.strip() and "\tat " not in line]
    reason = re.sub(r"\s+", " ", lines[0] if lines else "no reason given")[:200]
    return DataError(place, f"Spark ends with an error ({reason})", "leave --engine spark out")
