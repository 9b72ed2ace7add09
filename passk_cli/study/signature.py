"""The signature of a report, which contains the options on which the results of the report
depend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from passk_cli.metrics.registry import FAMILIES, Metric
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import number_range
from passk_cli.version import VERSION_AND_COMMIT_SIGNATURE


def signature(
    metrics: Iterable[Metric], more: Mapping[str, object], counts: Counts | None = None
) -> dict[str, object]:
    """The options on which the results depend, as a dict from names to values, without file names.

    more : further entries that the command adds, for example interval and seed.  Entries with the
        value None are left out.

    >>> from passk_cli.metrics.registry import parse_metric_list
    >>> metrics = parse_metric_list("pass@1,pass^10,pass@10")
    >>> list(signature(metrics, {"short_tasks": "drop", "by": None}).items())[1:]
    [('metrics', 'pass@1,10 pass^10'), ('short-tasks', 'drop')]
    """
    names: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for metric in metrics:
        names[metric.family].append(metric.k_and_share_name_suffix)
    entries: dict[str, object] = {
        **VERSION_AND_COMMIT_SIGNATURE,
        "metrics": " ".join(family + ",".join(ks) for family, ks in names.items() if ks),
    }
    if counts is None:
        entries |= more
    else:
        facts = counts.read_facts
        entries |= {
            "tasks": len(counts.tasks),
            "n": number_range(int(counts.n.min()), int(counts.n.max())).replace("–", "-"), **more,
            "missing": facts.missing_policy, "duplicates": facts.duplicates_policy,
            "skip_bad": "yes" if facts.skipped_lines or facts.empty_file_count else None,
            "threshold": ",".join(f"{t:g}" for t in facts.thresholds) or facts.threshold,
            "outcome": facts.outcome_column, "records": facts.records_key,
            "path": facts.path_template,
            "passes": ",".join(facts.passing_values), "pool": ",".join(facts.pooled_columns),
            "alias": ",".join(f"{new}={old}" for new, old in facts.model_aliases.items()),
            "exclude_task": ",".join(facts.option_value_names_in_data("--exclude-task")),
            "only_task": ",".join(facts.option_value_names_in_data("--only-task")),
            "where": facts.where_condition or None, "by": ",".join(counts.group_names) or None,
        }  # fmt: skip
    return {
        name.replace("_", "-"): value for name, value in entries.items() if value not in (None, "")
    }
