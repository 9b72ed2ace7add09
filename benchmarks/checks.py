"""How often does an honest column have a finding, and how often is a setting or a second verdict
found?

python benchmarks/checks.py [REPETITIONS] writes checks.md; 1,000 repetitions take ten minutes.
python benchmarks/checks.py columns [REPETITIONS] writes its section about verdicts, names and arms.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np

from passk_cli.arrays import Floats, Ints
from passk_cli.files.checks.check import CheckContext, CheckFinding
from passk_cli.files.checks.evenness import ValueEvennessOverCells, column_evenness
from passk_cli.files.checks.setting_columns import settings_dividing_tasks_findings as pooled_arms
from passk_cli.files.checks.setting_columns import unread_planned_column_findings
from passk_cli.files.checks.verdicts import second_verdict_findings
from passk_cli.files.reading.layout import Batch, FileStorageLayout
from passk_cli.files.reading.profile import RowSampleProfile, SampledColumn, ValueKind
from passk_cli.files.request import Request
from passk_cli.files.roles import ColumnRoles

TASKS, SIZES, VALUES = (10, 30, 100, 1000), (2, 5, 20), (2, 3, 5, 10, 20)
# Arms: rows of each value at a task.  The last four were not looked at before the test was made.
ARMS = ((1, 1), (1, 2), (2, 2), (1, 4), (4, 4), (3, 8), (1, 1, 1), (2, 4, 4), (8, 8),
        (5, 5), (2, 3), (1, 3), (2, 2, 2, 2))  # fmt: skip
FOUND_IN = (8, 12, 20, 30, 60)
LOST = 0.05
NUMBER = re.compile(r"[0-9.]+")
ReadingCheck = Callable[[CheckContext], Iterator[CheckFinding]]


def honest(
    random: np.random.Generator, kind: str, tasks: int, n: int, values: int
) -> ValueEvennessOverCells:
    """The evenness of a column that happened: at random, by the task, or by the outcome.

    Numbers of attempts vary, as attempts were lost.
    """
    sizes = np.maximum(random.binomial(n, 1 - LOST, tasks), 1)
    cell = np.repeat(np.arange(tasks), sizes)
    shares = random.dirichlet(np.ones(values))
    value = random.choice(values, len(cell), p=shares)
    if kind == "by the task":
        # Each task has its own shares.
        probabilities = random.dirichlet(shares * 3 + 0.05, tasks)
        value = (random.random(len(cell))[:, None] > probabilities.cumsum(1)[cell]).sum(1)
    elif kind == "by the outcome":
        passed = random.random(len(cell)) < random.beta(1, 1, tasks)[cell]
        value = np.where(passed, 0, 1 + random.integers(0, max(values - 1, 1), len(cell)))
    return column_evenness(cell, np.minimum(value, values - 1))


def arms(
    random: np.random.Generator, sizes: tuple[int, ...], tasks: int, half: bool
) -> ValueEvennessOverCells:
    """The evenness of arms; half : the last one ran on half of the tasks."""
    arm = np.repeat(np.arange(len(sizes)), sizes)
    cell, value = np.repeat(np.arange(tasks), len(arm)), np.tile(arm, tasks)
    kept_rows = random.random(len(cell)) >= LOST
    if half:
        kept_rows &= (value < len(sizes) - 1) | (cell % 2 == 0)
    return column_evenness(cell[kept_rows], value[kept_rows])


class Simulated(RowSampleProfile):
    """A survey of columns in memory: name → texts, one per row, "" for a missing one."""

    @cached_property
    def rows_of(self) -> dict[str, list[str]]:
        """The texts of each column, kept in `table`."""
        return cast("dict[str, list[str]]", self.table_name)

    @cached_property
    def kinds(self) -> dict[str, ValueKind]:
        """The kind of the values of each column."""
        kinds = {}
        for name, texts in self.rows_of.items():
            numbers, present = self.numbers(name), np.array([text != "" for text in texts])
            kind = "number" if np.isfinite(numbers[present]).all() else "text"
            integral = kind == "number" and bool(np.all(numbers[present] % 1 == 0))
            kinds[name] = ValueKind(kind, integral, max(map(len, texts)))
        return kinds

    def texts(self, column: str, most: int = 1000) -> list[str]:
        """The values of a column in the order of their codes."""
        return sorted({*self.rows_of[column]} - {""})[:most]

    def at(self, column: str, rows: Sequence[int]) -> list[str]:
        """The texts of a column in these rows."""
        return [self.rows_of[column][row] for row in rows]

    def verdicts(self, column: str) -> Floats:
        """The verdicts on the values of a column."""
        values_of_words = {"1": 1.0, "pass": 1.0, "0": 0.0, "fail": 0.0, "": np.nan}
        return np.array([values_of_words.get(text, -1.0) for text in self.rows_of[column]])

    def numbers(self, column: str) -> Floats:
        """The values of a column as numbers."""
        return np.array([float(t) if NUMBER.fullmatch(t) else np.nan for t in self.rows_of[column]])


def certain_and_likely(
    check: ReadingCheck, task: Ints, passed: Ints, columns: Mapping[str, Sequence[Any]]
) -> tuple[bool, bool]:
    """Whether a check finds something in a table for certain, and whether it finds anything."""
    texts = {
        "task": [f"t{code}" for code in task],
        "passed": [str(int(value)) for value in passed],
        **{name: [str(value) for value in values] for name, values in columns.items()},
    }
    observed = {}
    for name, values in texts.items():
        codes = np.unique(values, return_inverse=True)[1]
        if "" in values:
            codes = codes - 1
        observed[name] = SampledColumn(name, codes, int(codes.max()) + 1, "")
    zeros = np.zeros(len(task), dtype=np.int64)
    survey = Simulated(
        observed, zeros, task, zeros, passed.astype(float), ("a.csv",), True,
        con=cast("Any", None), table=cast("Any", texts),
    )  # fmt: skip
    layout = FileStorageLayout("csv", "", tuple((name, frozenset({"text"})) for name in texts))
    roles = ColumnRoles("attempts", "task", outcome="passed")
    context = CheckContext(survey, [Batch(layout, roles, ())], Request(), {}, lambda names: survey)
    findings = [*check(context)]
    return any(finding.certain for finding in findings), bool(findings)


def attempts(random: np.random.Generator, tasks: int, n: int) -> tuple[Ints, Ints]:
    """Tasks and outcomes of attempts at tasks of different difficulty."""
    task = np.repeat(np.arange(tasks), n)
    return task, (random.random(len(task)) < random.beta(1, 1, tasks)[task]).astype(int)


def second_verdict(random: np.random.Generator, kind: str, tasks: int, n: int) -> tuple[bool, bool]:
    """Whether a column with a verdict's word is taken for a second verdict."""
    task, passed = attempts(random, tasks, n)
    rows = len(task)
    score = np.where(passed, random.uniform(0.5, 1, rows), random.uniform(0, 0.49, rows))
    columns: dict[str, Sequence[Any]] = {}
    if kind == "a score that decides the outcome":
        columns["score"] = [*score.round(2)]
    elif kind == "the same, with 5 % missing":
        columns["score"] = np.where(random.random(rows) < LOST, "", score.round(2)).tolist()
    elif kind == "the outcome as a word":
        columns["verdict"] = np.where(passed, "pass", "fail").tolist()
    elif kind == "a rating of each task":
        columns["rating"] = random.integers(1, 6, tasks)[task].tolist()
    elif kind == "the label of each task, next to a prediction":
        label = random.integers(0, 2, tasks)[task]
        columns |= {"label": label.tolist(), "prediction": (label ^ (1 - passed)).tolist()}
    else:
        flipped = random.random(rows) < float(kind.split()[0]) / 100
        columns["verified"] = np.where(flipped, 1 - passed, passed).tolist()
    return certain_and_likely(second_verdict_findings, task, passed, columns)


def setting_by_name(
    random: np.random.Generator, varies: int, tasks: int, n: int
) -> tuple[bool, bool]:
    """Whether a column named temperature is taken for a setting; varies : % of the tasks."""
    task, passed = attempts(random, tasks, n)
    value = random.integers(0, 3, tasks)[task]
    odd = (random.random(tasks) < varies / 100)[task] & (random.random(len(task)) < 0.5)
    return certain_and_likely(
        unread_planned_column_findings, task, passed, {"temperature": np.where(odd, 3, value)}
    )


def one_value_per_task(
    random: np.random.Generator, arms_: int, gain: float, tasks: int, n: int
) -> tuple[bool, bool]:
    """Whether a setting with one value per task is reported. gain : how much better the last arm
    is."""
    task, passed = attempts(random, tasks, n)
    arm = random.permutation(np.arange(tasks) % arms_)[task]
    better = (arm == arms_ - 1) & (random.random(len(task)) < gain)
    return certain_and_likely(
        pooled_arms, task, passed | better, {"scaffold": [f"s{a}" for a in arm]}
    )


def columns_section(times: int, random: np.random.Generator) -> str:
    """The tables of second verdicts, exact names and arms that share the tasks out."""
    honest = ("a score that decides the outcome", "the same, with 5 % missing",
              "the outcome as a word", "a rating of each task",
              "the label of each task, next to a prediction")  # fmt: skip
    kinds = (*honest, "2 % differ", "10 % differ", "30 % differ")

    def cells(make: Callable[..., tuple[bool, bool]], *arguments: Any) -> str:
        cells_of_row = []
        for tasks, n in product((10, 30, 100), (1, 5)):
            rates = (
                np.mean([make(random, *arguments, tasks, n) for _ in range(times)], axis=0) * 100
            )
            cells_of_row.append(f"{rates[0]:.1f} ({rates[1]:.1f})")
        return " | ".join(cells_of_row)

    head = (
        "| " + " | ".join(f"{t} × {n}" for t, n in product((10, 30, 100), (1, 5))) + " |\n| --- |"
    )
    head += " --: |" * 6 + "\n"
    verdicts = "".join(f"| {kind} | {cells(second_verdict, kind)} |\n" for kind in kinds)
    names = "".join(f"| {v} % | {cells(setting_by_name, v)} |\n" for v in (0, 10, 30, 50, 80, 100))
    arms_ = "".join(
        f"| {arms_} arms, {'none better' if not gain else f'one by {gain:g} of the failures'}"
        f" | {cells(one_value_per_task, arms_, gain)} |\n"
        for arms_, gain in product((2, 3, 5), (0.0, 0.5))
    )
    return (
        f"{times:,} repetitions a cell, of tasks × attempts: % of files that are asked about; in"
        " brackets with those that are warned about.\n\n"
        f"| a second verdict {head}{verdicts}\n"
        f"| tasks in which `temperature` varies {head}{names}\n"
        f"| `scaffold` with one value per task {head}{arms_}"
    )


def share(times: int, make: Callable[[], ValueEvennessOverCells]) -> tuple[float, float]:
    """Shares of the repetitions that are certain, and certain or likely, in percent."""
    findings = [make() for _ in range(times)]
    certain = [result.are_values_certainly_planned for result in findings]
    either = [
        result.are_values_certainly_planned or result.are_values_likely_planned
        for result in findings
    ]
    return 100 * float(np.mean(certain)), 100 * float(np.mean(either))


def main() -> None:
    """Write the tables, or the section about columns."""
    only = "columns" in sys.argv
    times = next((int(text) for text in sys.argv[1:] if text.isdigit()), 200 if only else 1000)
    random = np.random.default_rng(20261123)
    section = f"<!-- columns -->\n{columns_section(times, random)}<!-- /columns -->\n"
    path = Path(__file__).with_suffix(".md")
    if only:
        before = path.read_text()
        path.write_text(
            re.sub("<!-- columns -->.*<!-- /columns -->\n", section, before, flags=re.S)
        )
        return
    rows, worst = [], {}
    for tasks, kind in product(TASKS, ("at random", "by the task", "by the outcome")):
        for n, values in product(SIZES, VALUES):
            often = times if tasks < 1000 else max(times // 5, 100)
            certain, either = share(often, partial(honest, random, kind, tasks, n, values))
            worst.setdefault((tasks, kind), []).append((certain, either))
    for (tasks, kind), pairs in worst.items():
        certain, either = zip(*pairs, strict=True)
        rows.append(
            f"| {tasks:,} | {kind} | {np.mean(certain):.2f} | {max(certain):.1f}"
            f" | {np.mean(either):.2f} | {max(either):.1f} |"
        )
    tables: dict[bool, list[str]] = {False: [], True: []}
    for half, sizes in product(tables, ARMS):
        cells = []
        for tasks in FOUND_IN:
            certain, either = share(max(times // 5, 50), partial(arms, random, sizes, tasks, half))
            cells.append(f"{certain:.0f} ({either:.0f})")
        tables[half].append(f"| {' : '.join(map(str, sizes))} | " + " | ".join(cells) + " |")
    head = "| arms | " + " | ".join(f"{tasks} tasks" for tasks in FOUND_IN) + " |\n"
    head += "| --- |" + " --: |" * len(FOUND_IN) + "\n"
    error = 100 * (0.005 * 0.995 / times) ** 0.5
    path.write_text(
        "# Checks: settings that were pooled\n\n"
        "- An honest column is accused for certain in at most"
        f" {max(c for pairs in worst.values() for c, _ in pairs):.1f} % of files, in"
        f" {np.mean([c for pairs in worst.values() for c, _ in pairs]):.2f} % on average.\n"
        "- Arms are found for certain in the shares below; in brackets with those that are only"
        " likely.\n"
        f"- {times:,} repetitions a cell, a fifth of them at 1,000 tasks and for arms; at 0.5 %"
        f" ± {error:.2f} points.\n"
        "\n"
        "`python benchmarks/checks.py` makes both tables: 5 % of the attempts are lost.\n\n"
        "## Honest columns: accused, % of files\n\n"
        f"n of {', '.join(map(str, SIZES))}, columns of {', '.join(map(str, VALUES))} values: mean"
        " and largest of these.\n\n"
        "| tasks | values come | certain: mean | largest | certain or likely: mean | largest |\n"
        "| --: | --- | --: | --: | --: | --: |\n" + "\n".join(rows) + "\n\n"
        "## Settings: found, % of files\n\n"
        "Attempts of each arm at a task. The last four kinds were held out.\n\n"
        + head
        + "\n".join(tables[False])
        + "\n\n## The last arm on half of the tasks\n\n"
        + head
        + "\n".join(tables[True])
        + "\n\n## Verdicts, exact names and arms\n\n"
        "From 30 tasks on no honest verdict, label or score is asked about. A rating of each task"
        " is if every task has one attempt:\nnobody can tell it from a grade of the attempt. A"
        " setting with an exact name is asked about if it varies in half of the tasks.\nOne value"
        " per task is a warning, also if no arm is better: an estimate mixes them all the same."
        "\n\n" + section
    )


if __name__ == "__main__":
    main()
