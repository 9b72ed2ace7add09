"""What counting on Spark costs: rows per second and core, and what travels.

    python benchmarks/spark.py [FOLDER]     writes benchmarks/rows/spark.csv

Needs the extra `spark` and Java.  Rows are generated inside Spark (20 models, 1,000 tasks, as many
attempts as there are rows for), written to FOLDER and removed after; then `convert --counts` counts
them with either engine, whole, on local[2] and on a master with two workers of one core.  A
core-second is CPU time of all processes of Java, so that what else a machine does matters less.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from passk_cli.api import convert, read
from passk_cli.files.spark import counting
from passk_cli.files.spark.session import spark_session

MODELS, TASKS = 20, 1000
ROW = """
SELECT concat('model ', id % {models}) AS model,
       concat('task ', id DIV {models} % {tasks}) AS task,
       id DIV ({models} * {tasks}) AS sample,
       pmod(xxhash64(id), 3) = 0 AS passed FROM range({rows})"""
# Master → the data that it reads, as (form, rows, tasks).
RUNS = {
    "local[2]": [
        ("parquet", 10**6, TASKS), ("parquet", 10**7, TASKS), ("jsonl", 10**6, TASKS),
        ("csv", 10**6, TASKS),
    ],
    "spark": [("parquet", 10**7, TASKS)],
}  # fmt: skip
# No attempt is named, so that attempts that come twice are not looked for.
MAP = {"model": "model", "task": "task", "outcome": "passed"}
HEADER = (
    "master", "form", "rows", "cells", "MB", "seconds", "core seconds", "rows per core second",
    "rows home", "KB home", "python MB", "java MB", "DuckDB seconds", "DuckDB core seconds",
)  # fmt: skip


def status(process: int, key: str) -> int:
    """A figure of /proc/PID/status, in kB."""
    text = Path(f"/proc/{process}/status").read_text()
    match = re.search(rf"^{key}:\s+(\d+)", text, re.MULTILINE)
    return int(match[1]) if match else 0


def descendants(root: int) -> Iterator[int]:
    """The processes that a process began, and those they began."""
    for task in Path(f"/proc/{root}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            yield child
            yield from descendants(child)


def java() -> list[int]:
    """The processes of Java below this one."""
    return [p for p in descendants(os.getpid()) if Path(f"/proc/{p}/comm").read_text() == "java\n"]


def core_seconds() -> float:
    """CPU time of Java so far."""
    fields = (Path(f"/proc/{p}/stat").read_text().rpartition(")")[2].split() for p in java())
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


@contextmanager
def master(folder: Path) -> Iterator[str]:
    """The address of a master with two workers of one core."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1",
                   "SPARK_WORKER_DIR": str(folder), "SPARK_DAEMON_MEMORY": "256m"}  # fmt: skip
    started = []

    def start(name: str, pattern: str, *arguments: str) -> str:
        log = folder / f"{len(started)}.log"
        with open(log, "wb") as output:
            command = [str(home / "bin" / "spark-class"), name, *arguments]
            process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        started.append(process)
        while (match := re.search(pattern, log.read_text())) is None:
            time.sleep(0.2)
        return match[1]

    deploy, options = "org.apache.spark.deploy", ("--host", "127.0.0.1", "--webui-port", "0")
    try:
        address = start(f"{deploy}.master.Master", r"(spark://\S+)", *options, "--port", "0")
        for _ in range(2):
            worker_options = ("-c", "1", "-m", "1500m", address)
            start(f"{deploy}.worker.Worker", "(Successfully registered)", *options, *worker_options)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def write_with_spark(spark: Any, folder: Path, form: str, rows: int, tasks: int) -> list[str]:
    """The files that Spark wrote."""
    place = folder / f"{form}-{rows}-{tasks}"
    if not place.exists():
        frame = spark.sql(ROW.format(rows=rows, models=MODELS, tasks=tasks))
        options = {"header": "true"} if form == "csv" else {}
        frame.write.format("json" if form == "jsonl" else form).options(**options).save(str(place))
    return sorted(map(str, place.glob("part-*")))


def measured(spark: Any, folder: Path, form: str, rows: int, tasks: int) -> list[Any]:
    """One row of the table, without the column of the master."""
    files = write_with_spark(spark, folder, form, rows, tasks)
    size = sum(map(os.path.getsize, files)) / 1e6
    module: Any = counting
    grouped, travelled, output = module._grouped, [], str(folder / "counts.parquet")

    def record_group(*arguments: Any) -> Any:
        table = grouped(*arguments)
        travelled.append((table.num_rows, table.nbytes))
        return table

    module._grouped = record_group
    try:
        start, before = time.perf_counter(), core_seconds()
        convert(files, counts=True, engine="spark", map=MAP, output=output)
        seconds, cores = time.perf_counter() - start, core_seconds() - before
    finally:
        module._grouped = grouped
    memory = status(os.getpid(), "VmHWM") / 1e3, max(status(p, "VmHWM") for p in java()) / 1e3
    start, before = time.perf_counter(), time.process_time()
    counts, again = read(output), read(files, map=MAP, pool="sample")
    local_time = time.perf_counter() - start, time.process_time() - before
    if int(counts.n.sum()) != rows or (counts.n != again.n).any() or (counts.c != again.c).any():
        raise ValueError("the engines count differently")
    ((groups, size_home),) = travelled
    return [
        form, rows, counts.n.size, f"{size:.0f}", f"{seconds:.1f}", f"{cores:.1f}",
        f"{rows / cores:.0f}", groups, f"{size_home / 1e3:.0f}",
        f"{memory[0]:.0f}", f"{memory[1]:.0f}", f"{local_time[0]:.1f}", f"{local_time[1]:.1f}",
    ]  # fmt: skip


def main(folder: Path) -> None:
    """Measure and write the rows."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        "--conf spark.driver.memory=2g --conf spark.executor.memory=1400m"
        " --conf spark.sql.shuffle.partitions=4 --conf spark.driver.host=127.0.0.1 pyspark-shell"
    )
    page = Path(__file__).parent / "rows" / "spark.csv"
    with open(page, "w", newline="") as file, ExitStack() as stack:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        for kind, runs in RUNS.items():
            start = time.perf_counter()
            address = stack.enter_context(master(folder)) if kind == "spark" else kind
            spark = stack.enter_context(spark_session(address, [str(folder)]))
            spark.range(1).collect()
            print(f"{kind}: the session begins in {time.perf_counter() - start:.1f} s", flush=True)
            measured(spark, folder, "parquet", 10**5, TASKS)
            for form, rows, tasks in runs:
                line = [kind, *measured(spark, folder, form, rows, tasks)]
                table.writerow(line)
                file.flush()
                print(*line, flush=True)
            spark.stop()


if __name__ == "__main__":
    place = Path(tempfile.mkdtemp(dir=sys.argv[1] if sys.argv[1:] else None))
    try:
        main(place)
    finally:
        shutil.rmtree(place)
