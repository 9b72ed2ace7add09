"""lighteval's details: details/<model>/<time>/details_<task>_<time>.parquet, a row per sample.

Source: github.com/huggingface/lighteval (MIT), src/lighteval/logging/evaluation_tracker.py and
info_loggers.py: columns doc, metric and model_response.  Each metric is an outcome.  Of several
answers to one sample it is one number, such as avg@n, without the outcome of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passk_cli.errors import NoResults
from passk_cli.files.formats.format import Contents, File, Format, Row, Wanted, graded

_KEYS = ("doc.id", "doc.task_name", "doc.num_samples", "model_response.text")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d.-]+")


def _table(file: File) -> Contents:
    metrics = sorted(key for key in file.keys if key.startswith("metric."))
    # A metric that is a list or a record has keys of its own.
    inner = [key for key in metrics if any(key.startswith(f"{other}.") for other in metrics)]
    outcomes = tuple(key.removeprefix("metric.") for key in metrics if key not in inner)
    most = max((answers or 1 for (answers,) in file.rows(("doc", "num_samples"))), default=1)
    if most > 1:
        problem = f"{most} answers to a sample have one value of {', '.join(outcomes)}"
        remedy = f"give a table of task, n and c, where c = {most} × avg@n is how many pass"
        raise NoResults(file.source.name, problem, remedy)
    time, facts = file.path.parent, {}
    if _TIME.fullmatch(time.name):
        above = time.parent.parts
        # The model's organisation is a folder of its own.
        named = above[above.index("details") + 1 :] if "details" in above else above[-1:]
        facts = {"model": "/".join(named), "run": time.name}
    return Contents(lambda wanted: _rows(file, wanted), outcomes, facts)


def _rows(file: File, wanted: Wanted) -> Iterator[Row]:
    columns = ("doc", "id"), ("doc", "task_name"), ("metric", wanted.outcome)
    rows = file.rows(*columns, ("model_response", "text"))
    for number, (task, suite, value, texts) in enumerate(rows, 1):
        text = texts[0] if texts else None
        yield Row(task, *graded(value), 0, suite=suite, solution=text, place=f"row {number}")


LIGHTEVAL = Format(
    "lighteval",
    "a metric of 1 passes; other numbers need --threshold",
    "github.com/huggingface/lighteval: src/lighteval/logging/evaluation_tracker.py",
    lambda file: file.form == "parquet" and file.has(*_KEYS, "metric"),
    _table,
)
