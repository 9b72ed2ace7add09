"""Open or reuse the Spark session that groups rows, and convert Spark errors to passk errors."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from passk_cli.errors import DataError, ParameterError, PasskError
from passk_cli.files.sources.remote import is_remote
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix
from passk_cli.text import public_url

INSTALL_COMMAND = "pip install pyarrow 'pyspark[connect]'"
# In Spark, all times are in UTC, and the groups that the cluster returns are compressed.
_SPARK_SETTINGS = {
    "spark.app.name": "passk",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.compression.codec": "zstd",
}
# By default, Hadoop tries for 15 minutes to reach a host that does not answer.
_RETRY_SETTINGS = {
    "ipc.client.connect.max.retries": "2",
    "ipc.client.connect.timeout": "10000",
    "ipc.client.connect.max.retries.on.timeouts": "2",
}
COUNT_LOCALLY_FIX = SuggestedFix(
    {"--engine": None, "--spark-master": None}, "counts the file on this machine"
)
# _KNOWN_ERRORS maps a pattern of a Spark error message to the problem, the remedy, and the name of
# passk's error. For other Spark error messages, passk reports the reason that Spark gives.
_KNOWN_ERRORS = {
    "JAVA_GATEWAY_EXITED": (
        "Java did not start, but Spark needs Java 17 or later", "", "missing-package",
    ),
    "PACKAGE_NOT_INSTALLED": (
        f"packages of Spark Connect are missing; install them with {INSTALL_COMMAND}", "",
        "missing-package",
    ),
    "StatusCode.UNAVAILABLE": (
        "nothing answers at this address",
        "check that the server runs and has the same version as pyspark", "spark-failed",
    ),
    "FileNotFoundException|PATH_NOT_FOUND|FILE_NOT_EXIST|does not exist": (
        "no such file", "check the address, and whether all workers can read it", "no-such-file",
    ),
}  # fmt: skip
# Lines of a Spark error that contain one of the texts in _UNHELPFUL_ERROR_LINE_TEXTS are not
# useful. _JAVA_EXCEPTION_PREFIX_PATTERN matches the names of Java classes before the reason.
_UNHELPFUL_ERROR_LINE_TEXTS = (
    "An error occurred while calling",
    "Exception thrown in awaitResult",
    "\tat ",
)
_JAVA_EXCEPTION_PREFIX_PATTERN = r".*\b(?:[a-z]\w*\.)+\w+(?:Exception|Error)\b[:) -]*"


class NotOnSparkError(DataError):
    """The error for data that a cluster cannot read, or would read differently from passk."""

    name = "not-on-spark"


@contextmanager
def spark_session(master: str | None, addresses: Sequence[str]) -> Iterator[Any]:
    """Open a Spark session on a master. If no master is given, use the active session or open a new
    session.

    master : "spark://host:7077", "yarn", "local[4]", or "sc://host" for Spark Connect.
    addresses : the addresses of the files that are read inside the `with` block.
    Errors: DataError for a Spark error inside the block. If the message from Spark contains one of
        the addresses, the DataError names this address. Otherwise, it names the first address.
        ParameterError if pyspark or Java is not installed.
    """
    display_name = (
        "local[*]" if master is None else public_url(master) if is_remote(master) else master
    )
    with warnings.catch_warnings():
        # pyspark warns about versions of packages that passk does not use.
        warnings.simplefilter("ignore")
        try:
            spark = _start_session(master)
        except PasskError:
            raise
        except (Exception, SystemExit) as error:
            # If packages of Spark Connect are missing, pyspark may raise SystemExit, for example
            # with `python -c`.
            lacking = isinstance(error, ImportError | SystemExit)
            message = "PACKAGE_NOT_INSTALLED" if lacking else str(error)
            raise _spark_error(OptionWithValue("--spark-master", display_name), message) from None
        try:
            yield spark
        except Exception as error:
            if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
                raise
            message = str(error)
            address = next((place for place in addresses if place in message), addresses[0])
            local_fix = [COUNT_LOCALLY_FIX] * (not is_remote(address))
            display_name = address if local_fix else public_url(address)
            raise _spark_error(display_name, message, local_fix) from None


def _spark_error(
    place: str | OptionWithValue, message: str, settles: Sequence[SuggestedFix] = ()
) -> PasskError:
    for words, (problem, remedy, name) in _KNOWN_ERRORS.items():
        if re.search(words, message):
            error = ParameterError if name == "missing-package" else DataError
            return error(place, problem, remedy, name=name)
    lines = (line for line in message.splitlines() if line.strip())
    reasons = (
        line for line in lines if not any(sign in line for sign in _UNHELPFUL_ERROR_LINE_TEXTS)
    )
    reason = re.sub(
        _JAVA_EXCEPTION_PREFIX_PATTERN, "", " ".join(next(reasons, "no reason given").split())
    )[:200]
    problem = f"Spark reports an error ({reason})"
    return DataError(place, problem, name="spark-failed", settles=settles)


def _start_session(master: str | None) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        problem = f"pyspark is not installed; install it with {INSTALL_COMMAND}"
        engine = OptionWithValue("--engine", "spark")
        raise ParameterError(engine, problem, name="missing-package") from None
    active = SparkSession.getActiveSession()
    if active is not None and (master is None or active.conf.get("spark.master", "") == master):
        return active
    builder: Any = SparkSession.builder
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    else:
        builder = builder.config(map=_SPARK_SETTINGS).master(master or "local[*]")
    with _silenced_log():
        spark = builder.getOrCreate()
        if type(spark).__module__.startswith("pyspark.sql.connect"):
            _require_reachable(spark)
            return spark
        spark.sparkContext.setLogLevel("OFF")
    for name, value in _RETRY_SETTINGS.items():
        if spark.conf.get(f"spark.hadoop.{name}", None) is None:
            spark.conf.set(name, value)
    return spark


@contextmanager
def _silenced_log() -> Iterator[None]:
    """Hide Java's log in the `with` block, including the log of a Java process that starts in the
    block."""
    sys.stderr.flush()
    stderr = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


def _require_reachable(session: Any) -> None:
    """Raise an error soon if Spark Connect cannot reach the server. By default, Spark Connect tries
    to connect for ten minutes."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    patient = session.client.get_retry_policies()
    session.client.set_retry_policies([DefaultPolicy(max_retries=3)])
    try:
        _ = session.version
    except Exception:
        # An open session would try to reach the server again when the process ends.
        session.release_session_on_close = False
        session.stop()
        raise
    session.client.set_retry_policies(patient)
