"""passk describe: what was understood of the files, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.files.request import Request
from passk_cli.message import NOTE
from passk_cli.report.words import plural, span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.outcomes.provenance import InputFacts
    from passk_cli.report.model import Cell, Report, Sentence
    from passk_cli.study.study import Study


@dataclass(frozen=True)
class Describe(Question):
    """How the files are read, before anything is computed.

    The format of each file, the column behind each role, models, tasks, attempts, missing outcomes,
    repeated attempts, and the largest k that the data supports.

    Example: passk describe sample_data/agents.jsonl

    Example: passk describe sample_data/cruxeval.jsonl.gz --by temperature
    """

    tolerant: ClassVar[bool] = True

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """None: nothing is computed."""
        return ()

    def report(self, study: Study) -> Report:
        """Formats, roles, sizes, what is missing or repeated, and the largest k of each model."""
        from passk_cli.report.model import Column, Report, Table
        from passk_cli.study.notes import reading_notes
        from passk_cli.study.pivot import head
        from passk_cli.study.signature import signature

        counts = study.counts
        columns = (
            *head(counts.group_names), Column("tasks", "count"), Column("attempts each"),
            Column("pass rate", "share"), Column("every task supports"), Column("some support"),
        )  # fmt: skip
        series = range(len(counts.series))
        ends = [] if counts.missing is None else ["pass_rate_low", "pass_rate_high"]
        names = (
            "model", *counts.group_names, "tasks", "attempts", "n_min", "n_median", "n_max",
            "pass_rate", *ends, "k_every_task", "k_some_task",
        )  # fmt: skip
        return Report(
            tables=(
                Table((Column("fact"), Column("what was understood")), tuple(_about(counts))),
                Table(columns, tuple(_model_row(counts, s) for s in series)),
            ),
            data=Table(tuple(map(Column, names)), tuple(_data_row(counts, s) for s in series)),
            answer=(describe_answer(counts),),
            context="pass rate is over attempts, pass@1 over tasks: they differ where tasks differ"
            " in attempts"
            + " · –: some outcomes neither pass nor fail"
            * bool(counts.facts.not_understood),
            messages=tuple(note for note in reading_notes(counts) if note.severity == "warning"),
            signature=signature(counts, ()),
        )


COMMAND = Command(Describe, (Request,))


def describe_answer(counts: Counts) -> Sentence:
    """How much there is, which k it supports, and what other commands ask for first."""
    models = len({model for model, *_ in counts.series})
    least = int(counts.n.min())
    most = int(counts.n.max())
    sizes = f"{plural(models, 'model')}, {plural(len(counts.tasks), 'task')}, {span(least, most)}"
    attempts = f"attempt{'s' * (most > 1)} each"
    return (f"{sizes} {attempts}: enough for k ≤ {least:,}. {_problems(counts)}",)


def _problems(counts: Counts) -> str:
    """What is missing, not understood or repeated, with the option that decides."""
    facts = counts.facts
    problems = []
    if facts.missing:
        choose = " (choose: --missing)" if facts.missing_policy == "error" else ""
        verb = "has" if facts.missing == 1 else "have"
        problems.append(f"{plural(facts.missing, 'attempt')} {verb} no outcome{choose}")
    if facts.not_understood:
        several = plural(facts.not_understood, "outcome")
        problems.append(f"{several} neither pass nor fail (choose: --threshold)")
    if facts.duplicates:
        choose = " (choose: --duplicates)" if facts.duplicates_policy == "error" else ""
        problems.append(f"{plural(facts.duplicates, 'row')} repeat an attempt{choose}")
    if problems:
        return f"{'; '.join(problems)}."
    if facts.duplicates_checked:
        return "No outcome is missing, no attempt repeated."
    return "No outcome is missing; repeats cannot be checked."


def _about(counts: Counts) -> list[tuple[Cell, ...]]:
    """Fact by fact, the files first."""
    from passk_cli.study.losses import kinds_missing

    facts, n = counts.facts, counts.n
    about = [row for file in facts.inputs for row in _about_input(file)]
    about += [
        *(("read as", said.text) for said in facts.messages if said.severity == NOTE),
        ("models", f"{len({model for model, *_ in counts.series}):,}"),
        ("tasks", f"{len(counts.tasks):,}"),
        ("attempts", f"{int(n.sum()):,} in all; per task {_spread(n)}"),
        ("outcomes", _outcomes(counts)),
        *(("no outcome", text) for text in kinds_missing(counts.losses, facts.reasons)),
        ("repeats", _repeats(counts)),
    ]
    if facts.skipped:
        about.append(("skipped", f"{plural(facts.skipped, 'line')} without a record"))
    return about


def _about_input(file: InputFacts) -> list[tuple[Cell, ...]]:
    roles = ", ".join(
        role if role == column else f"{role} = {column}" for role, column in file.roles.items()
    )
    if "model" not in file.roles:
        roles += "; model from the label or the file's name"
    lines: list[tuple[Cell, ...]] = [
        ("file", file.name),
        ("format", file.format),
        ("columns", roles),
    ]
    if len(file.outcomes) > 1:
        lines.append(("--outcome", ", ".join(file.outcomes)))
    if file.in_path:
        lines.append(("from paths", ", ".join(file.in_path)))
    if file.offered:
        offers = (f"{role} = {column} ({_uses(role)})" for role, column in file.offered.items())
        lines.append(("when asked", ", ".join(offers)))
    if file.unused:
        lines.append(("not used", ", ".join(file.unused)))
    return lines


def _uses(role: str) -> str:
    """The metrics that need to know this of attempts: "best@k, worst@k, mean"."""
    from passk_cli.metrics.registry import FAMILIES

    names = [name + "k" * kind.counted for name, kind in FAMILIES.items() if kind.needs == role]
    return ", ".join(names)


def _outcomes(counts: Counts) -> str:
    facts = counts.facts
    parts = [
        plural(facts.missing, "attempt") + " without an outcome"
        if facts.missing
        else "none missing"
    ]
    if facts.not_understood:
        parts.append(
            f"{facts.not_understood:,} neither pass nor fail (scores? --threshold X says which"
            " pass; best@k and mean need none)"
        )
    return ", ".join(parts)


def _repeats(counts: Counts) -> str:
    facts = counts.facts
    if not facts.duplicates_checked:
        return "cannot be checked: attempts have no numbers"
    if facts.duplicates:
        return f"{plural(facts.duplicates, 'row')} that repeat an attempt"
    return "none"


def _spread(n: NDArray[np.int64]) -> str:
    import numpy as np

    low, high = int(n.min()), int(n.max())
    if low == high:
        return str(low)
    values, times = np.unique(n, return_counts=True)
    if len(values) <= 4:
        pairs = sorted(zip(values, times, strict=True), reverse=True)
        detail = ", ".join(f"{count} have {value}" for value, count in pairs)
        return f"{low}–{high} ({detail})"
    return f"{low}–{high}, median {np.median(n):g}"


def _model_row(counts: Counts, s: int) -> tuple[Cell, ...]:
    rows = counts.rows_of(s)
    n = counts.n[rows]
    beyond = int(n.max()) > int(n.min())
    some = f"k ≤ {n.max()} on {int((n == n.max()).sum())}" if beyond else ""
    return (*counts.series[s], len(n), _spread(n), _pass_rate(counts, rows), f"k ≤ {n.min()}", some)


def _pass_rate(counts: Counts, rows: slice) -> Cell:
    """Passes among attempts, a range where outcomes are missing that may pass or fail; None where
    some attempts neither pass nor fail."""
    from passk_cli.report.model import ranged

    if counts.facts.not_understood:
        return None
    low, high = (counts.filled(passing=end).c[rows].sum() for end in (False, True))
    attempts = counts.n[rows].sum()
    return ranged(float(low / attempts), float(high / attempts))


def _data_row(counts: Counts, s: int) -> tuple[Cell, ...]:
    from statistics import median

    from passk_cli.report.model import Estimate

    rows = counts.rows_of(s)
    n = counts.n[rows]
    least, most, middle = int(n.min()), int(n.max()), float(median(n.tolist()))
    rate = _pass_rate(counts, rows)
    ends: list[Cell] = []
    if counts.missing is not None:
        ends = list(rate.ends) if isinstance(rate, Estimate) else [rate, rate]
    sizes = (len(n), int(n.sum()), least, middle, most)
    return (*counts.series[s], *sizes, rate, *ends, least, most)
