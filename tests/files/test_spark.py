"""Tests of counts from Spark: a master and two workers count like one machine."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import passk_cli
from tests.conftest import SAMPLES, Passk, Write, jsonl

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
MAP = """[data]
model = "llm"
task = "case"
attempt = "try"
outcome = "verdict"
passes = "good"
by = ["lang", "effort"]
cost = "usd"
duration = "meta.ms"
"""


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
    """The output of a process once it has started."""
    for _ in range(1200):
        if match := re.search(pattern, log.read_text()):
            return match[1]
        time.sleep(0.1)
    raise TimeoutError(log.read_text())


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the addresses hdfs://cluster/runs and s3a://bucket/runs in Hadoop.

    All tests of a process share it, because the Java machine reads its settings only once.
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
    conf = " ".join(f"--conf {name}={value}" for name, value in settings.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{conf} pyspark-shell"
    return folder


def _rows() -> list[dict[str, Any]]:
    words = ("good", "bad", "slow", None, "good", "good")
    return [
        {"llm": model, "lang": lang, "effort": effort, "case": task, "try": i,
         "verdict": words[(i * len(task) + ord(lang[0])) % 6], "note": 'a "quoted",\n text',
         "usd": 0.25 * i, "meta": {"ms": None if task == "x" and i == 1 else 1500 * i}}
        for model in "ab" for lang in ("py", "c") for effort in (0.5, None)
        for task in ("007", "x", "é") for i in range(6)
    ]  # fmt: skip


def _jsonl(path: Path, rows: list[dict[str, Any]], more: str = "") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(jsonl(rows) + more)
    return path


def _folder_and_map(folder: Path, form: str) -> Path:
    """The rows in a folder with two files of a form; a map that fits it."""
    folder.mkdir()
    lines = _jsonl(folder.parent / f"{folder.name}-rows.jsonl", _rows())
    columns = "* EXCLUDE meta, meta.ms AS duration_ms" if form == "csv" else "*"
    for model in "ab":
        rows = f"SELECT {columns} FROM read_json('{lines}') WHERE llm = '{model}'"
        duckdb.sql(f"COPY ({rows}) TO '{folder}/{model}.{form}' (FORMAT {_KINDS[form]})")
    (folder / "passk.toml").write_text(
        MAP.replace("meta.ms", "duration_ms" if form == "csv" else "meta.ms:ms")
    )
    return folder / "passk.toml"


_KINDS = {"jsonl": "json", "csv": "csv", "parquet": "parquet"}


def _spark(master: str, *more: object) -> list[object]:
    return ["--counts", "--engine", "spark", "--spark-master", master, *more]


@pytest.mark.parametrize("form", _KINDS)
def test_a_cluster_counts_like_one_machine(
    shared: Path, master: str, passk: Passk, tmp_path: Path, form: str
) -> None:
    folder = shared / f"{form}-runs"
    source, local, cluster = (
        _folder_and_map(folder, form),
        tmp_path / "here.csv",
        tmp_path / "there.csv",
    )
    for policy in ("fail", "drop"):
        options = ("--map", source, "--missing", policy)
        expected = passk("convert", folder, *options, "--counts", "-o", local)
        assert expected.code == 0, expected.err
        address = f"hdfs://cluster/runs/{folder.name}"
        result = passk("convert", address, *options, *_spark(master, "-o", cluster))
        assert result.code == 0, result.err
        assert sorted(result.err.splitlines()) == sorted(expected.err.splitlines())
        assert "outcomes counted as passes: good (72); outcomes counted as failures: " in result.err
        assert result.out == expected.out
        same = "SELECT model, lang, effort, task, n, c"
        assert duckdb.sql(f"{same} FROM '{cluster}'").fetchall() == (
            duckdb.sql(f"{same} FROM '{local}'").fetchall()
        )
    for command in (["estimate", "-k", "1,2"], ["compare"], ["tasks"], ["curve"]):
        local_rows, cluster_rows = (
            passk(*command, path, "--by", "lang,effort", "-f", "csv") for path in (local, cluster)
        )
        assert local_rows.code == cluster_rows.code == 0, local_rows.err
        assert local_rows.out == cluster_rows.out


def test_a_cluster_sums_amounts(shared: Path, master: str, passk: Passk, tmp_path: Path) -> None:
    folder, table = _folder_and_map(shared / "sums", "jsonl"), tmp_path / "counts.parquet"
    address = "hdfs://cluster/runs/sums/*.jsonl"
    options = ("--map", folder, "--missing", "drop")
    assert passk("convert", address, *options, *_spark(master, "-o", table)).code == 0
    sums = {row["task"]: row for row in duckdb.sql(
        f"FROM '{table}' WHERE model = 'a' AND lang = 'py' AND effort = '0.5'"
    ).df().to_dict("records")}  # fmt: skip
    for task, cell in sums.items():
        rows = [
            row
            for row in _rows()
            if row["verdict"] is not None
            and (row["llm"], row["lang"], row["effort"], row["case"]) == ("a", "py", 0.5, task)
        ]
        times = [row["meta"]["ms"] for row in rows]
        assert cell["n"] == len(rows)
        assert cell["cost_sum"] == pytest.approx(sum(row["usd"] for row in rows))
        if None in times:
            # One attempt lacks the amount, so the sum is unknown.
            assert cell["duration_sum"] != cell["duration_sum"]
        else:
            assert cell["duration_sum"] == pytest.approx(sum(times) / 1000)
    assert len(sums) == 3
    assert any(row["duration_sum"] != row["duration_sum"] for row in sums.values())


def test_a_cluster_counts_scores_and_several_outcomes(
    shared: Path, master: str, tmp_path: Path
) -> None:
    rows = [{"m": "a", "t": f"t{i % 3}", "points": i / 10, "ok": i % 2, "slow": i % 3 == 1}
            for i in range(12)]  # fmt: skip
    path, table = _jsonl(shared / "scores.jsonl", rows), str(tmp_path / "counts.csv")
    roles = {"model": {"value": "a"}, "task": "t"}
    for judged in ({"outcome": "points", "threshold": 0.5}, {"all": ["ok", "not slow"]}):
        mapping = roles | judged
        passk_cli.convert(
            [str(path)], counts=True, engine="spark", spark_master=master, map=mapping, output=table
        )
        local, cluster = passk_cli.read(str(path), map=mapping), passk_cli.read(table)
        assert cluster.to_frame().equals(local.to_frame())


WRONG = {
    "bad line": ("{bad\n", [], "rows.jsonl: the data contains lines that are not JSON records: 1"),
    "null task": ('{"t": null, "ok": 1}\n', [], "rows without a task in 't': 1; correct"),
    "missing": ('{"t": "a", "ok": null}\n', [],
                "rows.jsonl: the data contains attempts without an outcome: 1"),
    "a word": ('{"t": "a", "ok": "maybe"}\n', [],
               "outcomes that neither pass nor fail (such as 'maybe'): 1"),
    "repeat": (2 * '{"t": "a", "i": 7, "ok": 1}\n', ["--field", "attempt=i"],
               "attempts occur more than once: 1 (for example attempt 7 of a)"),
    "amount": ('{"t": "a", "ok": 1, "usd": "free"}\n', ["--field", "cost=usd"],
               "attempts with a cost that is not a number from 0 up: 1"),
    "words": ("", ["--passes", "yes,fine"], "no outcome is yes or fine; the outcomes are 0 (2)"),
    "column": ("", ["--by", "langg"], "no column 'langg'; there are"),
    "role": ("", ["--field", "score=ok"], "a cluster only counts passes and adds amounts"),
    "list": ("", ["--field", "cost=calls[].usd"], "columns of models (cost = "),
    "option": ("", ["--where", "ok = 1"], "--where: a cluster cannot apply this option"),
    "model": ("", ["--model", "a"], "give --model to the command that reads the counts"),
}  # fmt: skip


@pytest.mark.parametrize(("more", "options", "words"), WRONG.values(), ids=WRONG)
def test_a_cluster_refuses_wrong_rows_and_options(
    shared: Path, master: str, passk: Passk, tmp_path: Path, more: str, options: list[str],
    words: str,
) -> None:  # fmt: skip
    rows = [{"t": "a", "i": i, "ok": i % 2, "usd": 1} for i in range(4)]
    path, map_path = _jsonl(shared / "wrong" / "rows.jsonl", rows, more), tmp_path / "passk.toml"
    map_path.write_text('[data]\nmodel = {value = "a"}\ntask = "t"\noutcome = "ok"\n')
    table = tmp_path / "counts.csv"
    result = passk("convert", path, "--map", map_path, *options, *_spark(master, "-o", table))
    assert result.code in (2, 3)
    assert words in result.err
    assert result.sentences == 1
    assert not table.exists()


def test_other_headers_are_refused(shared: Path, master: str, passk: Passk, tmp_path: Path) -> None:
    for name, header in (("a", "llm,case,ok"), ("b", "case,llm,ok")):
        (shared / "headers").mkdir(exist_ok=True)
        (shared / "headers" / f"{name}.csv").write_text(f"{header}\nx,y,1\n")
    mapping = {"model": "llm", "task": "case", "outcome": "ok"}
    with pytest.raises(passk_cli.DataError, match="header"):
        passk_cli.convert(
            ["hdfs://cluster/runs/headers"], counts=True, engine="spark", spark_master=master,
            map=mapping, output=str(tmp_path / "counts.csv"),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("hdfs://cluster/runs/none.jsonl", "no such file; check the address"),
        ("hdfs://cluster/runs/other", "no result file at this address matches {given}; check"),
        ("gs://bucket/a.csv", "Spark reports an error (Class org.apache.hadoop.fs.gs."),
        (
            "webhdfs://127.0.0.1:1/a.csv",
            "Spark reports an error (localhost:1: Connection refused)",
        ),
        ("s3://bucket/a.csv", "which a cluster cannot access; write s3a://"),
    ],
)
def test_addresses_that_are_refused(
    shared: Path, master: str, passk: Passk, tmp_path: Path, write: Write, address: str, words: str
) -> None:
    map_path = write(
        "passk.toml", '[data]\nfiles = "*.csv"\nmodel = "m"\ntask = "t"\noutcome = "ok"\n'
    )
    _jsonl(shared / "other" / "rows.jsonl", [{"m": "a", "t": "x", "ok": 1}])
    result = passk("convert", address, "--map", map_path, *_spark(master, "-o", tmp_path / "x.csv"))
    assert (result.code, result.out) == (3, "")
    assert result.message.startswith(f"{address}: ")
    assert words.format(given=map_path) in result.err
    assert result.sentences == 1


def test_a_cluster_needs_a_map_and_pyspark(
    passk: Passk, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--counts", "--engine", "spark", "-o", tmp_path / "counts.csv")
    result = passk("convert", SAMPLES / "costs.csv", *options)
    assert result.code == 2
    assert result.err.startswith(
        "error[bad-map]: --engine spark: to count on a cluster, passk needs a map with exactly one"
        " table [data];"
    )
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    map_path = write("passk.toml", '[data]\nmodel = "model"\ntask = "task"\noutcome = "passed"\n')
    result = passk("convert", SAMPLES / "costs.csv", "--map", map_path, *options)
    assert result.code == 2
    assert result.err == (
        "error[missing-package]: --engine spark: pyspark is not"
        " installed; install it with pip install pyarrow 'pyspark[connect]'\n"
    )


# In a process without another session.
NEW_PROCESS = """
import sys
from passk_cli.__main__ import main

sys.argv = ["passk", "convert", *sys.argv[1:]]
main()
"""


def _convert_in_new_process(
    master: str, path: Path, folder: Path, before: str = ""
) -> subprocess.CompletedProcess[str]:
    (folder / "own.toml").write_text('[data]\nmodel = "llm"\ntask = "case"\noutcome = "ok"\n')
    options = ["--map", folder / "own.toml", *_spark(master, "-o", folder / "counts.csv")]
    command = [sys.executable, "-c", before + NEW_PROCESS, path, *options]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300)


@needs_connect
def test_spark_connect_counts_rows(shared: Path, server: str, tmp_path: Path) -> None:
    rows = [{"llm": "a", "case": f"t{i % 3}", "ok": i % 2} for i in range(12)]
    result = _convert_in_new_process(server, _jsonl(shared / "connected.jsonl", rows), tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "counts.csv").read_text() == "model,task,n,c\na,t0,4,2\na,t1,4,2\na,t2,4,2\n"


def test_spark_connect_names_its_missing_packages(tmp_path: Path) -> None:
    before = "import sys; sys.modules['grpc'] = None"
    result = _convert_in_new_process("sc://127.0.0.1:1", SAMPLES / "costs.csv", tmp_path, before)
    assert result.stderr == (
        "error[missing-package]: --spark-master sc://127.0.0.1:1: packages of Spark Connect are"
        " missing; install them with pip install pyarrow 'pyspark[connect]'\n"
    )


@needs_connect
def test_an_unreachable_server_of_spark_connect_is_reported(tmp_path: Path) -> None:
    result = _convert_in_new_process(
        "sc://127.0.0.1:1/;token=secret", SAMPLES / "costs.csv", tmp_path
    )
    assert result.stderr == (
        "error[spark-failed]: --spark-master sc://127.0.0.1:1/: nothing answers at this"
        " address; check that the server runs and has the same version as pyspark\n"
    )
