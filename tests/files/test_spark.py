"""Both engines give the same bytes: a Spark cluster of one master and two workers on loopback."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.conftest import ROOT, SAMPLES, Done, Passk

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed"
    ),
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed"),
    pytest.mark.filterwarnings("default"),
]
CLASS = "org.apache.spark.deploy.{0}.{1}"
Both = Callable[..., Done]


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a master with two workers, which end with the tests."""
    import pyspark

    home, folder = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("cluster")
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1",
                   "SPARK_WORKER_DIR": str(folder), "SPARK_DAEMON_MEMORY": "256m"}  # fmt: skip
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, *arguments: str) -> Path:
        log = folder / f"{len(started)}.log"
        name = CLASS.format(kind.lower(), kind)
        command = [str(home / "bin" / "spark-class"), name, *arguments]
        with open(log, "wb") as output:
            started.append(subprocess.Popen(command, stdout=output, stderr=output, env=environment))
        return log

    try:
        log = start("Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        address = _wait(log, r"Starting Spark master at (spark://\S+)")
        worker = ("--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "900m", address)
        for log in [start("Worker", *worker), start("Worker", *worker)]:
            _wait(log, r"(Successfully registered)")
        yield address
        from pyspark.sql import SparkSession

        if (session := SparkSession.getActiveSession()) is not None:
            session.stop()
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def _wait(log: Path, pattern: str) -> str:
    """What a process says once it is there."""
    for _ in range(1200):
        if match := re.search(pattern, log.read_text()):
            return match[1]
        time.sleep(0.1)
    raise TimeoutError(log.read_text())


@pytest.fixture
def both(master: str, passk: Passk, monkeypatch: pytest.MonkeyPatch) -> Both:
    """both("estimate", path, …): what both engines say, which is the same to the byte."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        "--conf spark.executor.memory=800m --conf spark.driver.memory=1g"
        " --conf spark.sql.shuffle.partitions=2 --conf spark.driver.host=127.0.0.1 pyspark-shell"
    )

    def run(*arguments: object) -> Done:
        here = passk(*arguments, "-f", "csv")
        there = passk(*arguments, "-f", "csv", "--engine", "spark", "--spark-master", master)
        assert there == here
        return here

    return run


def _rows() -> list[dict[str, Any]]:
    return [
        {"model": model, "task": task, "sample": i, "passed": (i * 7 + len(task)) % 3 == 0,
         "temperature": (0.00001, 0.7, 1e20)[i % 3], "points": round(0.17 * i, 3),
         "lang": "pyc"[i % 3], "answer": "12"[i % 2], "text": 'a "quoted", \n text'}
        for model in "ab" for task in ("007", "x", "é", "1.50") for i in range(6)
    ]  # fmt: skip


def _jsonl(path: Path, rows: list[dict[str, Any]], more: str = "") -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + more)
    return path


@pytest.mark.parametrize(
    "name", ["agents.jsonl", "answers.csv", "counts.csv", "cruxeval.jsonl.gz", "tau_airline.csv"]
)
def test_sample_data(both: Both, name: str) -> None:
    assert both("estimate", SAMPLES / name).code == 0


def test_formats_of_harnesses(both: Both) -> None:
    for fixture in ("human_eval", "lm_eval", "inspect/logs", "p3", "latitude", "tau2", "harbor"):
        both("estimate", ROOT / "tests" / "data" / fixture)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_questions(both: Both, tmp_path: Path, form: str) -> None:
    path = _jsonl(tmp_path / "rows.jsonl", _rows())
    if form != "jsonl":
        table = tmp_path / f"rows.{form}"
        duckdb.sql(f"COPY (FROM read_json('{path}')) TO '{table}'")
        path = table
    for options in (
        ["--by", "temperature"],
        ["--where", "temperature < 1 AND lang = 'p'", "--by", "lang"],
        ["-m", "maj@3", "-m", "best@2", "-m", "distinct@2", "--field", "solution=text"],
        ["--threshold", "0.4", "--field", "outcome=points", "--model", "b"],
        ["--duplicates", "keep", "--exclude-model", "a", "--field", "attempt=lang"],
    ):
        assert both("estimate", path, *options).code == 0
    assert both("tasks", path).code == both("order", path).code == 0


def test_many_files(both: Both, tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "model"} for row in _rows()[:24]]
    for name in ("a b", "ü{1}"):
        _jsonl(tmp_path / f"{name}.jsonl", rows)
    both("compare", tmp_path)
    lists = [{"task": t, "results": [1, None, 0], "answers": ["x", "y"]} for t in "abc"]
    path = _jsonl(tmp_path / "lists.jsonl", lists)
    both("estimate", path, "-m", "pass@2", "-m", "maj@2", "--missing", "fail")


WRONG = {
    "bad line": "{bad\n",
    "two records on a line": '{"task": "x"} {"task": "y"}\n',
    "missing": '{"model": "a", "task": "x", "sample": 9, "passed": null}\n',
    "repeat": '{"model": "a", "task": "x", "sample": 1, "passed": true}\n',
    "a word": '{"model": "a", "task": "x", "sample": 9, "passed": "maybe"}\n',
    "a summary": '{"accuracy": 0.5}\n',
    "a key twice": '{"model": "a", "task": "x", "task": "y", "sample": 9, "passed": true}\n',
}


@pytest.mark.parametrize("more", WRONG.values(), ids=WRONG)
def test_errors(both: Both, tmp_path: Path, more: str) -> None:
    path = _jsonl(tmp_path / "rows.jsonl", _rows(), more)
    assert both("estimate", path).code == 3
    if more == WRONG["bad line"]:
        assert both("estimate", path, "--skip-bad").code == 0


@pytest.mark.parametrize(
    "rows", ["a,1,q\na,0\n", "a,1,q\na,0,,\n", 'a,1,q\na,0,"a\nb,1,\n', "a,1,q\na,2,q\n", "a,,q\n"]
)
def test_errors_of_delimited_text(both: Both, tmp_path: Path, rows: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("task,passed,x\n" + rows)
    assert both("estimate", path).code == 3


def test_a_million_rows(both: Both, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    duckdb.sql(
        "COPY (SELECT 'm' || i % 2 AS model, 'task ' || i // 1000 % 500 AS task,"
        " i // 2 % 500 + 500 * (i // 500000) AS sample, hash(i) % 3 = 0 AS passed"
        f" FROM range(1000000) AS t(i)) TO '{path}'"
    )
    assert both("estimate", path).code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["order", "{path}", "--order-from-lines"], "lines on a cluster have no order"),
        (
            ["diversity", "{path}", "--field", "solution=text", "--similarity", "0.8"],
            "--similarity",
        ),
        (["convert", "{path}"], "rows stay on the cluster"),
        (["estimate", "{repeats}", "--duplicates", "first"], "--duplicates first: attempts"),
    ],
)
def test_what_a_cluster_cannot(
    master: str, passk: Passk, tmp_path: Path, arguments: list[str], words: str
) -> None:
    path = _jsonl(tmp_path / "rows.jsonl", _rows())
    repeats = _jsonl(tmp_path / "repeats.jsonl", _rows() + _rows()[:2])
    given = [text.format(path=path, repeats=repeats) for text in arguments]
    done = passk(*given, "--engine", "spark", "--spark-master", master)
    assert done.code == 2
    assert words in done.err


def test_names_and_memory_are_refused(master: str, passk: Passk, tmp_path: Path) -> None:
    path = _jsonl(tmp_path / "_rows.jsonl", _rows())
    done = passk("estimate", path, "--engine", "spark", "--spark-master", master)
    assert (done.code, done.out) == (3, "")
    assert "Spark passes over names that begin with _" in done.err
    import passk_cli

    with pytest.raises(passk_cli.DataError, match="leave engine="):
        passk_cli.estimate(_rows(), engine="spark")


def test_without_pyspark(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    done = passk("estimate", SAMPLES / "counts.csv", "--engine", "spark")
    assert done.code == 2
    assert done.err == (
        "passk: --engine spark: pyspark is not installed; pip install 'passk-cli[spark]'\n"
    )
