"""What counting on Spark costs: rows per second and core, and what travels.

    python benchmarks/spark.py [rows …]     writes benchmarks/spark.md

Rows are generated inside Spark (2 models, 500 tasks, as many attempts as there are rows for) and
written as JSONL and as Parquet; then `passk.read` counts them with either engine, whole.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from passk_cli.api import read
from passk_cli.files.spark.session import session
from passk_cli.files.spark.statement import SparkStatement

MODELS, TASKS, CORES = 2, 500, 2
ROW = f"""
SELECT concat('model ', id % {MODELS}) AS model,
       concat('task ', id DIV {MODELS} % {TASKS}) AS task,
       id DIV {MODELS * TASKS} AS sample,
       pmod(xxhash64(id), 3) = 0 AS passed FROM range({{rows}})"""


def written(spark: Any, folder: Path, form: str, rows: int) -> list[str]:
    """The files that Spark wrote."""
    place = folder / f"{form}-{rows}"
    frame = spark.sql(ROW.format(rows=rows))
    frame.write.format("json" if form == "jsonl" else form).save(str(place))
    return sorted(map(str, place.glob("part-*")))


def main(sizes: list[int]) -> None:
    """Measure and write the table."""
    travelled: list[int] = []
    home = SparkStatement._home

    def counted(statement: SparkStatement, frame: Any) -> Any:
        table = home(statement, frame)
        travelled.append(table.nbytes)
        return table

    SparkStatement._home = counted  # type: ignore[method-assign]
    spark = session(f"local[{CORES}]")
    folder, lines = Path(tempfile.mkdtemp()), []
    try:
        for form in ("jsonl", "parquet"):
            for rows in sizes:
                files = written(spark, folder, form, rows)
                size = sum(map(os.path.getsize, files)) / 1e6
                seconds = {}
                for engine in ("duckdb", "spark"):
                    travelled.clear()
                    start = time.perf_counter()
                    counts = read(files, engine=engine)
                    seconds[engine] = time.perf_counter() - start
                    assert int(counts.n.sum()) == rows
                rate = rows / seconds["spark"] / CORES
                lines.append(
                    f"| {form} | {rows:,} | {size:,.0f} | {seconds['spark']:.1f}"
                    f" | {seconds['duckdb']:.1f} | {rate:,.0f} | {sum(travelled) / 1e3:,.0f} |"
                )
                print(lines[-1], flush=True)
                shutil.rmtree(folder / f"{form}-{rows}")
    finally:
        shutil.rmtree(folder)
        spark.stop()
    import pyspark

    head = (
        "| files | rows | MB | Spark s | DuckDB s | rows per second and core | KB home |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
    )
    machine = f"{CORES} cores, Spark {pyspark.__version__}, Python {platform.python_version()}"
    page = Path(__file__).with_suffix(".md")
    before = page.read_text() if page.exists() else "# Spark: `benchmarks/spark.py`\n\n"
    start, _, _ = before.partition("<!-- rows -->")
    table = head + "\n".join(lines)
    page.write_text(f"{start}<!-- rows -->\n{machine}\n\n{table}\n<!-- /rows -->\n")


if __name__ == "__main__":
    main([int(float(size)) for size in sys.argv[1:]] or [10**6, 10**7])
