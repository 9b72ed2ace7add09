"""Signature: the line that reproduces the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from passk_cli.metrics.registry import FAMILIES, Metric
from passk_cli.report.words import span
from passk_cli.version import __version__

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts


def signature(counts: Counts, metrics: Iterable[Metric], **more: object) -> dict[str, object]:
    """Name → value of everything that the numbers depend on besides the files.

    more : further entries of the command (interval, seed, …); None leaves an entry out.
    """
    facts = counts.facts
    entries: dict[str, object] = {
        "passk": __version__,
        "metrics": short_names(metrics),
        "tasks": len(counts.tasks),
        "n": span(int(counts.n.min()), int(counts.n.max())).replace("–", "-"),
        **more,
        "missing": facts.missing_policy,
        "duplicates": facts.duplicates_policy,
        "skip_bad": "yes" if facts.skipped or facts.empty_files else None,
        "threshold": ",".join(f"{t:g}" for t in facts.thresholds) or facts.threshold,
        "outcome": facts.outcome,
        "records": facts.records,
        "path": facts.path,
        "where": facts.where or None,
        "by": ",".join(counts.group_names) or None,
    }
    return stated(entries)


def stated(entries: Mapping[str, object]) -> dict[str, object]:
    """The entries that have a value, named as options are.

    >>> stated({"short_tasks": "drop", "by": None})
    {'short-tasks': 'drop'}
    """
    return {
        name.replace("_", "-"): value for name, value in entries.items() if value not in (None, "")
    }


def short_names(metrics: Iterable[Metric]) -> str:
    """Names of metrics, each family once: "pass@1,10 pass^10".

    >>> from passk_cli.metrics.registry import parse_list
    >>> short_names(parse_list("pass@1,pass^10,pass@10"))
    'pass@1,10 pass^10'
    """
    listed = list(metrics)
    arguments = {
        family: [metric.argument for metric in listed if metric.family == family]
        for family in FAMILIES
    }
    return " ".join(family + ",".join(ks) for family, ks in arguments.items() if ks)
