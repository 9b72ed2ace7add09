"""The options that choose metrics and values of k, and the default metrics for the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.errors import ParameterError, raise_parameter_error_if_any
from passk_cli.files.roles import TRUTH_ROLE
from passk_cli.option import Option
from passk_cli.report.phrases import plural
from passk_cli.suggested_fix import OptionWithValue, SuggestedFix

if TYPE_CHECKING:
    from passk_cli.inference.judge_correction import JudgeLabels
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts

SHORT_TASKS_CHOICES = ("empty", "drop")


def extrapolation_fixes(counts: Counts, k: int, family: str = "pass@") -> list[SuggestedFix]:
    """The suggested fix for a k above the number of attempts, which predicts the metric with `passk
    extrapolate`."""
    from passk_cli.inference.extrapolation import stopped_on_outcome_reason

    rows = [counts.slice_of_series(place) for place in range(len(counts.series))]
    predictable = sum(
        not stopped_on_outcome_reason(counts.n[cells], counts.c[cells]) for cells in rows
    )
    if not predictable:
        return []
    models = f" for {predictable} of {len(rows)} models" if predictable < len(rows) else ""
    options: dict[str, Any] = {"--to": k} | ({"-m": "pass^k"} if family == "pass^" else {})
    # Commands such as temperature choose groups without --by, but `extrapolate` needs --by.
    options |= {"--by": tuple(counts.group_names)} if counts.group_names else {}
    return [SuggestedFix(options, f"predicts k = {k:,}{models}", "extrapolate")]


def parse_metrics(value: Any) -> tuple[Metric, ...]:
    """The metrics that a string of names selects, for example "pass@10,pass^4"."""
    from passk_cli.metrics.registry import parse_metric_list

    return parse_metric_list(",".join(value))


def parse_k_values(value: Any) -> tuple[int, ...]:
    """The values of k that numbers or a string such as "1,10" select."""
    from passk_cli.metrics.registry import parse_ks

    return parse_ks(",".join(map(str, value)))


def refuse_range_valued_metrics(metrics: Iterable[Metric], option: str) -> None:
    """Raise ParameterError if an option names a metric that gives a range rather than a value."""
    raise_parameter_error_if_any("unknown-metric", *(
        (metric.definition.is_known_only_as_range, OptionWithValue(option, metric.name),
         "the value of this metric is a range, which only estimate, compare, curve and `gate --min`"
         " support", ())
        for metric in metrics
    ))  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class AttemptCountOptions:
    """The options about the required number of attempts per task."""

    title: ClassVar[str] = "Attempts"
    # fmt: off
    attempts: Annotated[int | None, Option(
        "--attempts", "N", "Number of attempts that every task of a model must have.", low=1,
        detail="If a task has a different number of attempts, passk stops. With --short-tasks"
        " drop, passk leaves out tasks with a different number of attempts, and lists their"
        " names.")] = None
    short_tasks: Annotated[str, Option(
        "--short-tasks", help="What to do with tasks with n < k", choices=SHORT_TASKS_CHOICES,
        detail="With empty, the cell of the metric stays empty. With drop, passk computes the"
        " metric without the tasks that have fewer than k attempts.",
    )] = "empty"
    # fmt: on

    def counts_with_required_attempts(self, counts: Counts) -> Counts:
        """Check that every task has the number of attempts that --attempts sets, and return the
        counts.

        Errors: DataError for tasks with fewer or more attempts, unless --short-tasks drops these
            tasks.
        """
        if self.attempts is None:
            return counts
        from passk_cli.study.completeness import require_exact_attempts

        return require_exact_attempts(counts, self.attempts, drop=self.short_tasks == "drop")


@dataclass(frozen=True, eq=False, repr=False)
class MetricOptions(AttemptCountOptions):
    """The options that choose metrics and values of k."""

    title: ClassVar[str] = "Metrics"
    # fmt: off
    k: Annotated[tuple[int, ...], Option(
        "-k", "1,10,100",
        "Values of k for pass@k and pass^k.",
        parse=parse_k_values,
        detail="By default, passk uses k = 1, 10 and 100, but leaves out values of k for which"
        " most models do not have enough attempts at every task. With fewer than 10 attempts per"
        " task, passk uses k = 1, 2, 4, … up to the smallest number of attempts.")] = ()
    # The type is Any because importing the class Metric would make `--help` slow.
    metrics: Annotated[tuple[Any, ...], Option(
        "-m --metric", "NAMES", "Metrics by name, such as pass@10,gpass@8:0.5.",
        parse=parse_metrics,
        completion_function_name="passk_cli.metrics.registry:metric_completions")] = ()
    # fmt: on

    @property
    def request_arguments(self) -> dict[str, Any]:
        """Arguments for reading the data of single attempts that the metrics need."""
        from passk_cli.metrics.registry import required_attempt_data, uses_only_scores

        only = not self.k and uses_only_scores(self.metrics)
        return {"attempts": required_attempt_data(self.metrics), "scores_only": only}

    def choose(self, counts: Counts) -> tuple[Metric, ...]:
        """The requested metrics, or the default metrics at the values of k that the data allows.

        Errors: ParameterError for a metric that needs more attempts than any task has.
        """
        from passk_cli.metrics.registry import USUAL_K, default_ks, standard_metrics

        ks, metrics = self.k, tuple(self.metrics)
        if not ks and not metrics:
            most, least = largest_k_of_most_models(counts), int(counts.n.min())
            most = min(
                [
                    most,
                    *(
                        labels.largest_correctable_k
                        for labels in judge_labels_of_each_series(counts)
                    ),
                ]
            )
            most = 1 if counts.read_facts.judge_error_counts else most
            least = min(least, most)
            ks = default_ks(least if least > 1 and most < USUAL_K[1] else most)
        if ks:
            metrics = (*standard_metrics(ks), *metrics)
        most = int(counts.n.max())
        for metric in metrics:
            if metric.k > most:
                usual = metric.family in ("pass@", "pass^")
                raise ParameterError(
                    f"{metric.name} needs {plural(metric.k, 'attempt')} per task, but no task has"
                    f" more than {plural(most, 'attempt')}",
                    name="too-few-attempts",
                    settles=extrapolation_fixes(counts, metric.k, metric.family) if usual else (),
                )
        return tuple(dict.fromkeys(metrics))

    def unavailable_k_hint(self, counts: Counts) -> str:
        """A hint about the smallest default k for which the data has too few attempts, or "" if
        there is no such k."""
        from passk_cli.metrics.registry import USUAL_K

        if self.k or self.metrics:
            return ""
        missing = [k for k in USUAL_K if k > largest_k_of_any_model(counts)]
        return f"pass@{missing[0]} needs {missing[0]} attempts per task" if missing else ""


def judge_labels_of_each_series(counts: Counts) -> list[JudgeLabels]:
    """The judge labels of each series, or an empty list if the counts have no labels."""
    if TRUTH_ROLE not in counts.attempts:
        return []
    from passk_cli.inference.judge_correction import JudgeLabels

    rows, truth = (
        map(counts.slice_of_series, range(len(counts.series))),
        counts.attempts[TRUTH_ROLE],
    )
    return [
        JudgeLabels.from_truth(counts.n[cells], counts.c[cells], truth.slice_cells(cells))
        for cells in rows
    ]


def is_corrected_for_judge_errors(counts: Counts) -> bool:
    """Whether passk corrects estimates by a judge's error rates or by labels of some attempts."""
    return bool(counts.read_facts.judge_error_counts) or not all(
        labels.is_complete for labels in judge_labels_of_each_series(counts)
    )


def largest_k_of_any_model(counts: Counts) -> int:
    """The largest k for which every task of at least one model has enough attempts."""
    return max(largest_k_by_series(counts))


def largest_k_of_most_models(counts: Counts) -> int:
    """The largest k for which every task of most models has enough attempts."""
    return sorted(largest_k_by_series(counts), reverse=True)[len(counts.series) // 2]


def largest_k_by_series(counts: Counts) -> list[int]:
    """For each series, the largest k for which every task has enough attempts."""
    return [int(counts.n[counts.slice_of_series(s)].min()) for s in range(len(counts.series))]
