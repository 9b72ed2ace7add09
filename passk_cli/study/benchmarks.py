"""Warnings about estimates that pool the tasks of several benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.arrays import group_by
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import plural
from passk_cli.suggested_fix import SuggestedFix

if TYPE_CHECKING:
    from passk_cli.study.comparison import Comparison

POOLED_BENCHMARKS_WARNING = DiagnosticType(
    "pooled-benchmarks", WARNING, "{number:benchmark} are pooled: {sizes}",
    (SuggestedFix({"--by": ("{column}",)}, "separates them"),
     SuggestedFix({"--pool": ("{column}",)}, "pools the benchmarks on purpose")),
    meaning="The tasks belong to several benchmarks. passk identifies benchmarks from the file"
    " format, or from a column named suite, benchmark, dataset, subset or split that has one value"
    " per task.",
    why="A mean over all tasks weights each benchmark by its number of tasks. A model that is"
    " better on the large benchmark may be worse on the small benchmark.",
    advice="If you want estimates for each benchmark, use `--by COLUMN`. If you want to pool the"
    " benchmarks, use `--pool COLUMN`. With `--pool`, the line below the tables names the pooled"
    " column.",
    example="warning[pooled-benchmarks]: 2 benchmarks are pooled: humaneval (164 tasks), mbpp (378"
    " tasks); --by suite separates the benchmarks; --pool suite pools the benchmarks on purpose",
)  # fmt: skip
BENCHMARKS_DISAGREE = DiagnosticType(
    "benchmarks-disagree", WARNING,
    "benchmarks disagree about the difference {model} minus {against} in {metric}:"
    " {differences}{?more|; likewise about {more}}",
    meaning="A model is better than another model on some of the pooled benchmarks, and worse on"
    " other benchmarks.",
    why="The difference over all tasks depends on how many tasks each benchmark has. The message"
    " lists the difference on each benchmark, without a significance test.",
    advice="If you want a test for each benchmark, use `--by` with the column of benchmarks.",
    example="warning[benchmarks-disagree]: benchmarks disagree about the difference alpha minus"
    " beta in pass@1: +0.042 (humaneval), -0.061 (mbpp)",
)  # fmt: skip


def pooled_benchmarks_warning(counts: Counts) -> Iterator[Diagnostic]:
    """The warning that the tasks of a series come from several benchmarks, with the number of tasks
    of each benchmark."""
    benchmark_by_task = counts.read_facts.benchmark_by_task
    if not benchmark_by_task:
        return
    codes = {name: place for place, name in enumerate(dict.fromkeys(benchmark_by_task.values()))}
    codes_by_task = np.array([codes[benchmark_by_task[task]] for task in counts.tasks])
    cells = zip(
        counts.series_codes.tolist(), codes_by_task[counts.task_codes].tolist(), strict=True
    )
    most = max(Counter(series for series, _ in {*cells}).values())
    if most > 1:
        sizes = Counter(benchmark_by_task[task] for task in counts.tasks).most_common()
        yield POOLED_BENCHMARKS_WARNING(
            number=len(sizes), column=counts.read_facts.benchmark_column,
            sizes=[f"{name} ({plural(size, 'task')})" for name, size in sizes],
        )  # fmt: skip


def differences_by_benchmark(counts: Counts, pair: Comparison) -> dict[str, float]:
    """For each benchmark, the mean difference between two models on their shared tasks."""
    benchmark_by_task = counts.read_facts.benchmark_by_task
    differences = (pair.values[0] - pair.values[1]).tolist()
    by_benchmark = group_by(
        zip(pair.tasks.tolist(), differences, strict=True),
        lambda item: benchmark_by_task.get(counts.tasks[item[0]], ""),
    )
    return {
        name: float(np.mean([d for _, d in items])) for name, items in by_benchmark.items() if name
    }


def benchmark_disagreement_warning(
    counts: Counts, pairs: Sequence[Comparison]
) -> Iterator[Diagnostic]:
    """The warning that one model is better than another model on one benchmark, and worse on
    another benchmark.

    passk does not give this warning for benchmarks that the user pooled on purpose.
    """
    if not counts.read_facts.benchmark_by_task:
        return
    conflicting = [
        (pair, by) for pair in pairs if len(pair.values[0])
        for by in [differences_by_benchmark(counts, pair)]
        if by and min(by.values()) < 0 < max(by.values())
    ]  # fmt: skip
    if conflicting:
        pair, by = conflicting[0]
        same = pair.first.name == pair.second.name
        yield BENCHMARKS_DISAGREE(
            model=pair.first.name, against="its baseline" if same else pair.second.name,
            metric=pair.first.metric.name,
            differences=[f"{value:+.3f} ({name})" for name, value in by.items()],
            more=[f"{further.first.name} minus {further.second.name}" for further, _ in conflicting[
            1:]],
        )  # fmt: skip
