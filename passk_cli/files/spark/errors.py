"""Refusals of Spark, in one sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from passk_cli.errors import DataError, PasskError
from passk_cli.files.remote import is_remote, scheme_of
from passk_cli.files.source import Source

_NOT_THERE = ("FileNotFoundException", "PATH_NOT_FOUND", "FILE_NOT_EXIST", "does not exist")
_NO_SYSTEM = ("No FileSystem for scheme", "ClassNotFoundException: Class org.apache.hadoop.fs")
_NO_ACCESS = ("AccessControlException", "AccessDenied", "Permission denied", "Forbidden")
_NO_ANSWER = ("ConnectException", "UnknownHostException", "NoRouteToHost", "SocketTimeoutException",
              "ConnectTimeoutException", "connection exception", "RPC response")  # fmt: skip
_NO_ROOM = ("maxResultSize", "OutOfMemoryError", "Java heap space", "Cannot grow BufferHolder")
MORE_FOR_DRIVER = (
    "read fewer files at once, or set spark.driver.memory and spark.driver.maxResultSize higher"
)
# Lines of an error that say no more than that there is one.
_WRAPPED = ("An error occurred while calling", "Exception thrown in awaitResult")
_CUT_OFF = ("EOFException", "ZipException", "incorrect data check", "invalid block type",
            "not a gzip file", "incorrect header check")  # fmt: skip
_JAVA = r"^(?:Caused by)?[: ]*\(?(?:[a-z]+\.)+\w+(?:Exception|Error)[:)] *"
# What makes an address a pattern to Hadoop.
PATTERN = "*?[{"


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
    place = next((s.name for s in sources if _calls(s) in message), sources[0].name)
    at_address = _of_address(place, message) if is_remote(place) else None
    if at_address is not None:
        return at_address
    if any(sign in message for sign in _NO_ROOM):
        return DataError(
            place,
            "its counts are larger than Spark's driver can take",
            MORE_FOR_DRIVER,
            name="out-of-memory",
        )
    if any(sign in message for sign in _NOT_THERE):
        return DataError(
            place, "Spark's workers do not see this file",
            "put it into a folder that all of them share", name="spark-failed")  # fmt: skip
    packed = any(s.packing == "gzip" or _calls(s).endswith(".gz") for s in sources)
    if packed and any(sign in message for sign in _CUT_OFF):
        return DataError(
            place,
            "the gzip stream is cut off or damaged",
            "copy the file again",
            name="damaged-file",
        )
    if "TextParsingException" in message or "MALFORMED_CSV" in message:
        return DataError(
            place,
            "a quote without its partner",
            "write it once more with a CSV library",
            name="bad-record",
        )
    reason = _reason(message)
    copy = "copy the file here, and " if is_remote(place) else ""
    remedy = f"{copy}leave --engine spark out"
    return DataError(place, f"Spark ends with an error ({reason})", remedy, name="spark-failed")


def _of_address(place: str, message: str) -> DataError | None:
    """Error for a file at an address that Spark cannot read; None for other errors."""

    def says(signs: Sequence[str]) -> bool:
        return any(sign in message for sign in signs)

    if says(_NO_SYSTEM):
        scheme = scheme_of(place)
        package = "org.apache.hadoop:hadoop-aws:VERSION" if scheme == "s3a" else "PACKAGE"
        problem = f"Spark has no file system for {scheme}://"
        remedy = f"give Spark its package: --packages {package} in PYSPARK_SUBMIT_ARGS"
        return DataError(place, problem, remedy, name="spark-failed")
    if says(_NO_ACCESS):
        return DataError(
            place,
            "no access",
            "check its permissions, and Spark's credentials",
            name="spark-failed",
        )
    if says(_NO_ANSWER):
        refused = " (connection refused)" if "Connection refused" in message else ""
        return DataError(
            place,
            f"Spark does not reach it{refused}",
            "check the host and the port",
            name="spark-failed",
        )
    if says(_NOT_THERE) and set(place) & set(PATTERN):
        return DataError(
            place, "no file matches", "is the pattern quoted and right?", name="no-such-file"
        )
    if says(_NOT_THERE):
        return DataError(place, "no such file", "check the address", name="no-such-file")
    return None


def _reason(message: str) -> str:
    """The first line that says something, without names of Java's."""
    lines = [line for line in message.splitlines() if line.strip() and "\tat " not in line]
    lines = [line for line in lines if not any(sign in line for sign in _WRAPPED)]
    reason = re.sub(r"\s+", " ", lines[0] if lines else "no reason given")
    return re.sub(_JAVA, "", reason)[:200]


def _calls(source: Source) -> str:
    """Name of a file in Spark's errors."""
    return source.path if source.shared is None else source.shared.uri
