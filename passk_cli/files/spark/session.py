"""The Spark session that reads: an existing one, or one of our own; its errors in one sentence."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any

from passk_cli.errors import DataError, ParameterError, PasskError
from passk_cli.files.sources.remote import is_remote, scheme_of
from passk_cli.files.sources.source import QUOTE
from passk_cli.settle import Given, Settle
from passk_cli.text import name_of

INSTALL = "pip install pyarrow 'pyspark[connect]'"
# Of a session of our own.  Times are shown in UTC, as everywhere.
_SETTINGS = {
    "spark.app.name": "passk",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # Groups are returned packed.
    "spark.sql.execution.arrow.compression.codec": "zstd",
}
# Hadoop tries for a quarter of an hour to reach a host that does not answer.
_PATIENCE = {
    "ipc.client.connect.max.retries": "2",
    "ipc.client.connect.timeout": "10000",
    "ipc.client.connect.max.retries.on.timeouts": "2",
}

_NOT_THERE = ("FileNotFoundException", "PATH_NOT_FOUND", "FILE_NOT_EXIST", "does not exist")
_NO_SYSTEM = ("No FileSystem for scheme", "ClassNotFoundException: Class org.apache.hadoop.fs")
_NO_ACCESS = ("AccessControlException", "AccessDenied", "Permission denied", "Forbidden")
_NO_ANSWER = ("ConnectException", "UnknownHostException", "NoRouteToHost", "SocketTimeoutException",
              "ConnectTimeoutException", "connection exception", "RPC response")  # fmt: skip
_NO_ROOM = ("maxResultSize", "OutOfMemoryError", "Java heap space", "Cannot grow BufferHolder")
_UNQUOTED = ("TextParsingException", "MALFORMED_CSV")
# Lines of an error that say no more than that there is one.
_WRAPPED = ("An error occurred while calling", "Exception thrown in awaitResult")
_CUT_OFF = ("EOFException", "ZipException", "incorrect data check", "invalid block type",
            "not a gzip file", "incorrect header check")  # fmt: skip
_JAVA = r"^(?:Caused by)?[: ]*\(?(?:[a-z]+\.)+\w+(?:Exception|Error)[:)] *"

HERE = Settle({"--engine": None, "--spark-master": None}, "counts it here")


class NotOnSpark(DataError):
    """Data that a cluster cannot read, or not in the same way."""

    name = "not-on-spark"


def session(master: str | None) -> Any:
    """The session at a master; without one the active session, else one on this machine.

    master : "spark://host:7077", "yarn", "local[4]", or "sc://host" for Spark Connect.
    Errors: ParameterError where pyspark or Java is not installed, or nothing answers.
    """
    with _silent_warnings():
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise ParameterError(
                Given("--engine", "spark"), f"pyspark is not installed; {INSTALL}",
                name="missing-package",
            ) from None  # fmt: skip
        return _session(SparkSession, master)


@contextmanager
def _silent_warnings() -> Iterator[None]:
    """pyspark warns of versions of other packages that it does not use here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _session(sessions: Any, master: str | None) -> Any:
    active = sessions.getActiveSession()
    if active is not None and (master is None or active.conf.get("spark.master", "") == master):
        return active
    builder = sessions.builder
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        builder = builder.master(master or "local[*]")
    with _quiet() as log:
        try:
            started = builder.getOrCreate()
            if type(started).__module__.startswith("pyspark.sql.connect"):
                # It has no context here.
                _require_answer(started)
                return started
            started.sparkContext.setLogLevel("OFF")
            for name, value in _PATIENCE.items():
                if started.conf.get(f"spark.hadoop.{name}", None) is None:
                    started.conf.set(name, value)
            return started
        except (Exception, SystemExit) as error:
            # In a script of `python -c` pyspark leaves where packages of Spark Connect are missing.
            raise _silent(master, error, log()) from None


def _require_answer(connected: Any) -> None:
    """Ask once: Spark Connect would try for ten minutes to reach a server that is not there."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    patient = connected.client.get_retry_policies()
    connected.client.set_retry_policies([DefaultPolicy(max_retries=3)])
    try:
        _ = connected.version
    except Exception:
        # Else it would be tried again at the end of the process.
        connected.release_session_on_close = False
        connected.stop()
        raise
    connected.client.set_retry_policies(patient)


def _silent(master: str | None, error: BaseException, log: str) -> PasskError:
    """Why no session came about."""
    text = str(error)
    if ("JAVA_GATEWAY_EXITED" in text and master is None) or "JAVA_HOME" in log:
        problem = "Java is not there; Spark needs Java 17 or later"
        return ParameterError(Given("--engine", "spark"), problem, name="missing-package")
    # Without a token.
    shown = "local[*]" if master is None else name_of(master) if is_remote(master) else master
    if "PACKAGE_NOT_INSTALLED" in text or isinstance(error, ImportError | SystemExit):
        problem = f"packages of Spark Connect are missing; {INSTALL}"
        return ParameterError(Given("--spark-master", shown), problem, name="missing-package")
    silent = "StatusCode.UNAVAILABLE" in text or "a stopped SparkContext" in text
    reason = "nothing answers there" if silent else " ".join(text.split())[:200]
    remedy = "does it run, and is its version that of pyspark?"
    return DataError(
        Given("--spark-master", shown), f"no session ({reason})", remedy, name="spark-failed"
    )


@contextmanager
def _quiet() -> Iterator[Callable[[], str]]:
    """Java's log goes to a file instead of the terminal, also that of the process begun here."""
    with TemporaryFile() as log:
        sys.stderr.flush()
        stderr = os.dup(2)
        os.dup2(log.fileno(), 2)

        def text() -> str:
            log.seek(0)
            return log.read().decode(errors="replace")

        try:
            yield text
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


@contextmanager
def explained(addresses: Sequence[str]) -> Iterator[None]:
    """Errors of Spark's as DataError, about the address that they name or the first one."""
    try:
        with _silent_warnings():
            yield
    except PasskError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            raise
        raise _sentence(str(error), addresses) from None


def _sentence(message: str, addresses: Sequence[str]) -> DataError:
    address = next((each for each in addresses if each in message), addresses[0])
    far, there = is_remote(address), os.path.exists(address)
    place = name_of(address) if far else address
    packed, scheme = ".gz" in place + message, scheme_of(place) if far else ""
    package = "org.apache.hadoop:hadoop-aws:VERSION" if scheme == "s3a" else "PACKAGE"
    refused = " (connection refused)" if "Connection refused" in message else ""
    for applies, signs, problem, remedy, name in (
        (far, _NO_SYSTEM, f"Spark has no file system for {scheme}://",
         f"give Spark its package: --packages {package} in PYSPARK_SUBMIT_ARGS", "spark-failed"),
        (far, _NO_ACCESS, "no access", "check its permissions, and Spark's credentials",
         "spark-failed"),
        (far, _NO_ANSWER, f"Spark does not reach it{refused}", "check the host and the port",
         "spark-failed"),
        (not there and set(place) & set("*?[{"), _NOT_THERE, "no file matches",
         "is the pattern quoted and right?", "no-such-file"),
        (not there, _NOT_THERE, "no such file", "check the address", "no-such-file"),
        (True, _NO_ROOM, "its counts are larger than Spark's driver can take",
         "read fewer files at once, or set spark.driver.memory and spark.driver.maxResultSize"
         " higher", "out-of-memory"),
        (True, _NOT_THERE, "Spark's workers do not see this file",
         "put it into a folder that all of them share", "spark-failed"),
        (packed, _CUT_OFF, "the gzip stream is cut off or damaged", "copy the file again",
         "damaged-file"),
        (True, _UNQUOTED, *QUOTE, "bad-record"),
    ):  # fmt: skip
        if applies and any(sign in message for sign in signs):
            return DataError(place, problem, remedy, name=name)
    # The first line that says something, without names of Java's.
    lines = [line for line in message.splitlines() if line.strip() and "\tat " not in line]
    lines = [line for line in lines if not any(sign in line for sign in _WRAPPED)]
    reason = re.sub(r"\s+", " ", lines[0] if lines else "no reason given")
    reason = re.sub(_JAVA, "", reason)[:200]
    problem = f"Spark ends with an error ({reason})"
    if far:
        return DataError(place, problem, "copy the file here and read it here", name="spark-failed")
    return DataError(place, problem, name="spark-failed", settles=[HERE])
