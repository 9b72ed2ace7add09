"""Tasks of several benchmarks in one number: which benchmarks, and whether they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from passk_cli.arrays import grouped
from passk_cli.diagnostic import WARNING, Diagnostic, DiagnosticType
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import plural
from passk_cli.suggested_fix import SuggestedFix

if TYPE_CHECKING:
    from passk_cli.study.comparison import Comparison

POOLED_BENCHMARKS = DiagnosticType(
    "pooled-benchmarks", WARNING, "{number:benchmark} are pooled: {sizes}",
    (SuggestedFix({"--by": ("{column}",)}, "separates them"),
     SuggestedFix({"--pool": ("{column}",)}, "pools them on purpose")),
    "The tasks belong to several benchmarks: the format says so, or a column named suite,"
    " benchmark, dataset, subset or split has one value per task. A mean over all tasks counts"
     " each benchmark by its number of tasks, and a model that is better on the large one may be"
     " worse on the small one. With --pool the line below the tables names what is pooled.",
)  # fmt: skip
BENCHMARKS_DISAGREE = DiagnosticType(
    "benchmarks-disagree", WARNING,
    "benchmarks disagree about {model} minus {against} at {metric}: {differences}"
    "{?more|; likewise about {more}}", "",
    "The difference of the two models has one sign on some of the pooled benchmarks and the other"
    " sign on others. These are estimates, without tests; `--by` tests each benchmark.",
)  # fmt: skip


def pooled_benchmarks(counts: Counts) -> Iterator[Diagnostic]:
    """The warning about benchmarks that one series of the counts pools, with their sizes."""
    benchmark_by_task = counts.facts.benchmarks
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
        yield POOLED_BENCHMARKS(
            number=len(sizes), column=counts.facts.benchmark,
            sizes=[f"{name} ({plural(size, 'task')})" for name, size in sizes],
        )  # fmt: skip


def differences_by_benchmark(counts: Counts, pair: Comparison) -> dict[str, float]:
    """Benchmark → difference of the means of a pair at the tasks of it that both have."""
    benchmark_by_task = counts.facts.benchmarks
    differences = (pair.values[0] - pair.values[1]).tolist()
    by_benchmark = grouped(
        zip(pair.tasks.tolist(), differences, strict=True),
        lambda item: benchmark_by_task.get(counts.tasks[item[0]], ""),
    )
    return {
        name: float(np.mean([d for _, d in items])) for name, items in by_benchmark.items() if name
    }


def disagreements(counts: Counts, pairs: Sequence[Comparison]) -> Iterator[Diagnostic]:
    """The warning about the first of the pairs whose difference has both signs.

    Benchmarks that were pooled on purpose are not known.
    """
    if not counts.facts.benchmarks:
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
