"""The Spark session that reads: an existing one, or one of our own."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any

from passk_cli.errors import ParameterError
from passk_cli.files.remote import is_remote, name_of

INSTALL = "pip install pyarrow 'pyspark[connect]'"
# Of a session of our own.  Times are shown in UTC, as everywhere.
_SETTINGS = {
    "spark.app.name": "passk",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # Names of files come home with every group.
    "spark.sql.execution.arrow.compression.codec": "zstd",
}
# Hadoop tries for a quarter of an hour to reach a host that does not answer.
_PATIENCE = {
    "ipc.client.connect.max.retries": "2",
    "ipc.client.connect.timeout": "10000",
    "ipc.client.connect.max.retries.on.timeouts": "2",
}


def session(master: str | None) -> Any:
    """The session at a master; without one the active session, else one on this machine.

    master : "spark://host:7077", "yarn", "local[4]", or "sc://host" for Spark Connect.
    Errors: ParameterError where pyspark or Java is not installed, or nothing answers.
    """
    with silent_warnings():
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise ParameterError(
                f"--engine spark: pyspark is not installed; {INSTALL}", name="missing-package"
            ) from None
        return _session(SparkSession, master)


@contextmanager
def silent_warnings() -> Iterator[None]:
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
            if _of_connect(started):
                _require_answer(started)
                return started
            started.sparkContext.setLogLevel("OFF")
            for name, value in _PATIENCE.items():
                if started.conf.get(f"spark.hadoop.{name}", None) is None:
                    started.conf.set(name, value)
            return started
        except Exception as error:
            raise _silent(master, error, log()) from None


def _of_connect(of: Any) -> bool:
    """Whether a session speaks to Spark Connect, which has no context here."""
    return type(of).__module__.startswith("pyspark.sql.connect")


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


def _silent(master: str | None, error: Exception, log: str) -> ParameterError:
    """Why no session came about."""
    if ("JAVA_GATEWAY_EXITED" in str(error) and master is None) or "JAVA_HOME" in log:
        return ParameterError(
            "--engine spark: Java is not there; Spark needs Java 17 or later",
            name="missing-package",
        )
    if "PACKAGE_NOT_INSTALLED" in str(error) or isinstance(error, ImportError):
        return ParameterError(
            f"--spark-master {_shown(master)}: packages of Spark Connect are missing; {INSTALL}",
            name="missing-package",
        )
    answer = "StatusCode.UNAVAILABLE" not in str(error)
    reason = " ".join(str(error).split())[:200] if answer else "nothing answers there"
    return ParameterError(
        f"--spark-master {_shown(master)}: no session ({reason}); does it run, and is its"
        " version that of pyspark?",
        name="spark-failed",
    )


def _shown(master: str | None) -> str:
    """The master without a token."""
    return "local[*]" if master is None else name_of(master) if is_remote(master) else master


@contextmanager
def _quiet() -> Iterator[Any]:
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
