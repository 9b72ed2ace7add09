"""Both engines give the same bytes: a Spark cluster of one master and two workers on loopback."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import random
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
    pytest.mark.long,
]
needs_connect = pytest.mark.skipif(
    importlib.util.find_spec("grpc_status") is None,
    reason="grpcio-status, which pyspark[connect] brings, is not installed",
)
CLASS = "org.apache.spark.deploy.{0}.{1}"
Both = Callable[..., Done]


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def server(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of Spark Connect, which ends with the tests."""
    import pyspark

    home, log = Path(pyspark.__file__).parent, tmp_path_factory.mktemp("connect") / "log"
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [
        str(home / "bin" / "spark-submit"), "--master", "local[1]", "--driver-memory", "700m",
        *os.environ["PYSPARK_SUBMIT_ARGS"].split()[:-1],
        *("--conf", "spark.driver.memory=700m", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.driver.maxResultSize=1m"),
        *("--conf", "spark.connect.grpc.binding.port=0"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    ]  # fmt: skip
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        port = _wait(log, r"Spark Connect server started at: \S+:(\d+)")
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _wait(log: Path, pattern: str) -> str:
    """What a process says once it is there."""
    for _ in range(1200):
        if match := re.search(pattern, log.read_text()):
            return match[1]
        time.sleep(0.1)
    raise TimeoutError(log.read_text())


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that Hadoop calls hdfs://cluster/runs and s3a://bucket/runs.

    One for all tests of a process, whose Java machine reads its settings once.
    """
    folder = tmp_path_factory.mktemp("shared")
    views = "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme"
    settings = {
        "spark.executor.memory": "800m",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.hadoop.fs.hdfs.impl": views,
        "spark.hadoop.fs.s3a.impl": views,
        "spark.hadoop.fs.viewfs.overload.scheme.target.file.impl":
            "org.apache.hadoop.fs.LocalFileSystem",
        "spark.hadoop.fs.viewfs.mounttable.cluster.link./runs": folder.as_uri(),
        "spark.hadoop.fs.viewfs.mounttable.bucket.link./runs": folder.as_uri(),
    }  # fmt: skip
    given = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{given} pyspark-shell"
    return folder


@pytest.fixture
def both(shared: Path, master: str, passk: Passk) -> Both:
    """both("estimate", path, …): what both engines say, which is the same to the byte."""

    def run(*arguments: object) -> Done:
        here = passk(*arguments, "-f", "csv")
        there = passk(*arguments, "-f", "csv", "--engine", "spark", "--spark-master", master)
        assert _alike(there) == _alike(here)
        return here

    return run


def _alike(done: Done) -> Done:
    """What a command says, without its remedies, of which a cluster completes none."""
    return Done(done.code, done.out, re.sub(r"\n  .*|; expected true/false.*", "", done.err))


def _rows() -> list[dict[str, Any]]:
    draw = random.Random(2)
    return [
        {"model": model, "task": task, "sample": i, "passed": (i * 7 + len(task)) % 3 == 0,
         "temperature": draw.choice((0.00001, 0.7, 1e20)),
         "points": round(0.17 * i + 0.01 * ord(task[-1]), 3),
         "lang": draw.choice("pyc"), "answer": "12"[i % 2], "text": 'a "quoted", \n text'}
        for model in "ab" for task in ("007", "x", "é", "1.50") for i in range(6)
    ]  # fmt: skip


def _jsonl(path: Path, rows: list[dict[str, Any]], more: str = "") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + more)
    return path


@pytest.mark.parametrize(
    "name", ["agents.jsonl", "answers.csv", "counts.csv", "cruxeval.jsonl.gz", "tau_airline.csv"]
)
def test_sample_data(both: Both, name: str) -> None:
    pooled = name.startswith("cruxeval")
    assert both("estimate", SAMPLES / name).code == 3 * pooled
    assert both("estimate", SAMPLES / name, *["--by", "temperature"] * pooled).code == 0


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


def _without(*columns: str, name: str = "idx") -> list[dict[str, Any]]:
    """Eight attempts at each of twelve tasks, without some columns.  name : what idx is called."""
    rows = [
        {"model": "m", "task": task, "idx": i, "zork": i % 4 * 3, "maker": "xy"[i % 2],
         "passed": (i * i + len(task)) % 3 == 0}
        for task in map("a".__mul__, range(1, 13)) for i in range(8)
    ]  # fmt: skip
    return [{name if k == "idx" else k: v for k, v in row.items() if k not in columns}
            for row in rows]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "rows", "code", "words"),
    [
        ("jsonl", _without("model", "idx", "zork"), 3, "error[pooled-settings]: {path}: attempts"),
        ("parquet", _without("model", "idx"), 3, "error[pooled-settings]: {path}: attempts at one"),
        ("csv", _without("idx"), 3, "attempts at one task differ in zork (0, 3, 6"),
        ("parquet", _without("idx", "maker"), 3, "attempts at one task differ in zork (0, 3, 6"),
        ("jsonl", _without("maker", name="nr"), 3, "nr is not read and tells the attempts at each"),
        ("parquet", _without("maker", "zork"), 0, ""),
        ("jsonl", 2 * _without("maker", "zork", name="attempt"), 3, "error[duplicate-attempts]"),
    ],
)  # fmt: skip
def test_columns_that_are_not_read(
    shared: Path, master: str, passk: Passk, form: str, rows: list[dict[str, Any]], code: int,
    words: str,
) -> None:  # fmt: skip
    path = _jsonl(shared / "unread" / "rows.jsonl", rows)
    if form != "jsonl":
        table = path.with_suffix(f".{form}")
        duckdb.sql(f"COPY (FROM read_json('{path}')) TO '{table}'")
        path = table
    address = f"hdfs://cluster/runs/unread/{path.name}"
    here = passk("estimate", path, "-f", "csv")
    there = passk("estimate", address, "-f", "csv", *_spark(master))
    expected = Done(here.code, here.out, here.err.replace(str(path), address))
    assert _alike(there) == _alike(expected)
    assert here.code == code
    assert words.format(path=path) in here.err


def test_amounts(both: Both, tmp_path: Path) -> None:
    costs = SAMPLES / "costs.csv"
    assert both("estimate", costs, "-m", "cost").code == 0
    assert both("cost", costs, "--of", "duration").code == 0
    rows: list[dict[str, Any]] = [
        {"model": model, "task": task, "attempt": i, "passed": i % 3 == 0, "cost": 0.25 * i + 1}
        for model in "ab" for task in "xyz" for i in range(4)
    ]  # fmt: skip
    rows[2]["cost"] = None
    lines, table = _jsonl(tmp_path / "rows.jsonl", rows), tmp_path / "rows.parquet"
    duckdb.sql(f"COPY (FROM read_json('{lines}')) TO '{table}'")
    refused = both("estimate", lines, "-m", "cost")
    assert refused.code == 3
    assert "error[missing-cost]" in refused.err
    for path, policy in ((lines, "mean"), (table, "drop")):
        assert both("cost", path, "--missing-cost", policy).code == 0


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

    with pytest.raises(passk_cli.DataError, match="engine="):
        passk_cli.estimate(_rows(), engine="spark")


def test_without_pyspark(passk: Passk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    done = passk("estimate", SAMPLES / "counts.csv", "--engine", "spark")
    assert done.code == 2
    assert done.err == (
        "error[missing-package]: --engine spark: pyspark is not"
        " installed; pip install pyarrow 'pyspark[connect]'\n"
    )


def test_addresses(shared: Path, master: str, passk: Passk) -> None:
    rows = _rows()
    _jsonl(shared / "new" / "a {1}.jsonl", [row for row in rows if row["model"] == "a"])
    nameless = [{k: v for k, v in row.items() if k != "model"} for row in rows[:24]]
    with gzip.open(shared / "new" / "old run.jsonl.gz", "wb") as file:
        file.write("".join(json.dumps(row) + "\n" for row in nameless).encode())
    (shared / "new" / "notes.txt").write_text("nothing")
    (shared / "new" / "empty.json").write_text("")
    (shared / "rows.csv").write_text("task,passed,lang\n007,1,c\n007,0,p\né,1,c\né,1,p\n")
    (shared / "tables").mkdir()
    for model in "xy":
        more = ", 0.5 AS temperature" * (model == "y")
        duckdb.sql(
            f"COPY (SELECT '{model}' AS model, 't' || i % 5 AS task, i // 5 AS sample,"
            f" i % 3 = 0 AS passed{more} FROM range(50) AS t(i))"
            f" TO '{shared}/tables/{model}.parquet'"
        )
    for options, *paths in (
        ([], "hdfs://cluster/runs/new"),
        (["--skip-bad"], "hdfs://cluster/runs/new"),
        (["--by", "lang"], "one=s3a://bucket/runs/*.csv"),
        ([], "hdfs://cluster/runs/tables", f"{shared.as_uri()}/new/old run.jsonl.gz"),
    ):
        place = re.compile(r"hdfs://cluster/runs|s3a://bucket/runs|file://" + str(shared))
        here = passk("estimate", *(place.sub(str(shared), p) for p in paths), *options, "-f", "csv")
        there = passk("estimate", *paths, *options, "-f", "csv", *_spark(master))
        # Among others, an empty file is refused, or said to be skipped.
        assert here.code == (3 if not options and len(paths) == 1 else 0), here.err
        seen = Done(there.code, there.out, place.sub(str(shared), there.err))
        assert _alike(seen) == _alike(here)


def test_what_appears_or_fails_further_down_at_an_address(
    shared: Path, master: str, passk: Passk
) -> None:
    rows: list[dict[str, Any]] = [
        {"task": f"t{i % 7}", "sample": i // 7, "passed": i % 3 == 0} for i in range(600)
    ]
    _jsonl(shared / "late.jsonl", [*rows[:-30], *({**row, "zone": "q"} for row in rows[-30:])])
    _jsonl(shared / "bad.jsonl", rows, "{bad\n")
    for name, options, code in (("late", ["--by", "zone"], 0), ("bad", [], 3)):
        here = passk("estimate", shared / f"{name}.jsonl", *options)
        there = passk("estimate", f"hdfs://cluster/runs/{name}.jsonl", *options, *_spark(master))
        assert there.code == code
        err = there.err.replace("hdfs://cluster/runs", str(shared))
        assert err.replace(f" {' '.join(_spark(master))}", "") == here.err
        assert there.out == here.out


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("hdfs://cluster/runs/none.jsonl", "no such file; check the address"),
        ("s3a://bucket/runs/*.none", "no file matches; is the pattern quoted and right?"),
        ("hdfs://cluster/runs/none", "no result files in this folder; looked for .jsonl"),
        ("hdfs://cluster/runs/document.json", "in the format of list-of-records; a cluster reads"),
        ("s3a://bucket/runs/plain.csv.gz", "the gzip stream is cut off or damaged"),
        ("s3a://bucket/runs/packed.csv", "it is packed with gzip, which Spark reads off the name"),
        ("s3a://bucket/runs/a.jsonl.zst", "Spark reads no zst here; pack it as .gz"),
        ("gs://bucket/a.csv", "Spark has no file system for gs://; give Spark its package"),
        ("webhdfs://127.0.0.1:1/a.csv", "Spark does not reach it (connection refused); check"),
        ("s3://bucket/a.csv", "which a cluster does not share; write s3a://bucket/a.csv"),
    ],
)
def test_addresses_that_are_refused(
    shared: Path, master: str, passk: Passk, address: str, words: str
) -> None:
    (shared / "none").mkdir(exist_ok=True)
    (shared / "document.json").write_text('{"results": [\n{"task": "a", "passed": true}]}')
    (shared / "plain.csv.gz").write_text("task,passed\na,1\n")
    (shared / "packed.csv").write_bytes(gzip.compress(b"task,passed\na,1\n"))
    (shared / "a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    done = passk("estimate", address, *_spark(master))
    assert (done.code, done.out) == (3, "")
    assert done.said.startswith(f"{address}: ")
    assert words in done.err
    assert done.sentences == 1


# What both engines say of each file, in a process without another session.
IN_TURN = """
import io, sys
from contextlib import redirect_stderr, redirect_stdout
from passk_cli.__main__ import main

def said(*arguments):
    sys.argv = ["passk", "estimate", "-f", "csv", *arguments]
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    return code, out.getvalue(), err.getvalue()

master, *files = sys.argv[1:]
for near, far in zip(files[::2], files[1::2]):
    asked = ["--engine", "spark", "--spark-master", master]
    here, there = said(near), said(far, *asked)
    # A remedy keeps what was asked.
    alike = here == (*there[:2], there[2].replace(" " + " ".join(asked), ""))
    print(alike, here[0], there[0], there[2])
"""


@needs_connect
def test_spark_connect(shared: Path, server: str) -> None:
    rows, broken = _jsonl(shared / "x" / "c.jsonl", _rows()), shared / "x" / "broken.jsonl"
    _jsonl(broken, _rows(), "{bad\n")
    far = ("hdfs://cluster/runs/x/c.jsonl", "hdfs://cluster/runs/none.jsonl")
    large = shared / "x" / "large.parquet"
    duckdb.sql(f"COPY (SELECT i AS task, 1 AS passed FROM range(100000) AS t(i)) TO '{large}'")
    files = (rows, rows, broken, broken, rows, far[0], rows, far[1], large, large)
    command = [sys.executable, "-c", IN_TURN, server, *map(str, files)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.findall("^(?:True|False).{4}", lines, re.MULTILINE) == [
        "True 0 0", "True 3 3", "True 0 0", "False 0 3", "False 0 3"
    ]  # fmt: skip
    assert (
        f"error[out-of-memory]: {large}: its counts are larger than Spark's driver can take; read"
        in lines
    )
    assert f"error[no-such-file]: {far[1]}: no such file; check the address\n" in lines


def test_spark_connect_without_its_packages() -> None:
    script = "import sys; sys.modules['grpc'] = None" + IN_TURN
    command = [sys.executable, "-c", script, "sc://127.0.0.1:1", str(SAMPLES / "counts.csv")]
    lines = subprocess.run([*command, command[-1]], capture_output=True, text=True, check=True)
    assert lines.stdout.startswith("False 0 2 ")
    assert (
        "error[missing-package]: --spark-master sc://127.0.0.1:1: packages of Spark Connect are"
        " missing; pip install pyarrow 'pyspark[connect]'\n" in lines.stdout
    )


@needs_connect
def test_no_server_of_spark_connect() -> None:
    master = "sc://127.0.0.1:1/;token=secret"
    command = [sys.executable, "-c", IN_TURN, master, *[str(SAMPLES / "counts.csv")] * 2]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert lines == (
        "False 0 3 error[spark-failed]: --spark-master"
        " sc://127.0.0.1:1/: no session (nothing answers there);"
        " does it run, and is its version that of pyspark?\n\n"
    )


def _spark(master: str) -> list[str]:
    return ["--engine", "spark", "--spark-master", master]
