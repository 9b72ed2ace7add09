"""passk compare: which models differ significantly, and which tie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.option import DATA, Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import Rules

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Change, Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


def parse_change_name(value: Any) -> str:
    """A change as one writes it, "pass@1:pass@100"; refused unless it is one."""
    from passk_cli.metrics.registry import parse_change

    try:
        parse_change(value)
    except ParameterError as error:
        raise ParameterError(f"--change {value}: {error}") from None
    return str(value)


@dataclass(frozen=True)
class Compare(Question):
    """Which models differ significantly, and which tie.

    Models are compared task by task, on the tasks they share. Each difference has an interval and a
    p-value, adjusted for the number of tests. With a baseline,
    every model is compared with it alone.

    Example: passk compare sample_data/agents.jsonl -k 1

    Example: passk compare sample_data/cruxeval.jsonl.gz --baseline gpt-4-0613 --by temperature
    """

    baseline: Annotated[
        DATA,
        Option(
            "--baseline",
            "FILE|NAME",
            "Compare every model with this one only.",
            file="read",
            of_models=True,
            detail="A model in the data, or a file with one model; several files are read"
            " together.",
        ),
    ] = None
    crossings: Annotated[
        bool, Option("--crossings", help="The k where one model overtakes another.")
    ] = False
    band: Annotated[
        bool,
        Option("--band", help="Which model leads at which k, with one band over all k."),
    ] = False
    flips: Annotated[
        bool,
        Option(
            "--flips",
            help="Tasks that flip between models, and how many by chance.",
        ),
    ] = False
    change: Annotated[
        str | None,
        Option(
            "--change",
            "FROM:TO",
            "Do models change differently, as from pass@1 to pass@100?",
            parse=parse_change_name,
            detail="The difference of two models at TO minus their difference at FROM, tested as a"
            " family of its own. Without -k and -m these are the metrics that are compared.",
        ),
    ] = None
    sensitivity: Annotated[
        str | None,
        Option(
            "--sensitivity",
            "COLUMN",
            "Repeat without each group of a column.",
            detail="Do the verdicts hold without each group of tasks, and with half the attempts?",
        ),
    ] = None

    def request(self, options: SharedOptions) -> Request:
        """What to read: the baseline as well, and the groups that are left out in turn."""
        request = super().request(self._asked(options))
        groups = (self.sensitivity,) if self.sensitivity else ()
        return replace(request, by=tuple(dict.fromkeys((*request.by, *groups))))

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """The metrics, of those that the data as a whole supports."""
        whole = self._whole(counts)
        if self._change is None:
            return super().metrics(options, whole)
        every = super().metrics(self._asked(options), whole)  # refuses a k that no task supports
        given = options.metrics.k or options.metrics.metrics
        return super().metrics(options, whole) if given else every

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data and what is asked of it; the intervals are those of differences."""
        from passk_cli.study.baseline import Runs, joined, label_of
        from passk_cli.study.notes import reading_notes

        confidence = options.confidence.required().for_differences()
        options = replace(options, confidence=confidence)
        runs = Runs.apart(options.files, self.baseline)
        if runs.baseline is None:
            named = self.baseline if isinstance(self.baseline, str) else None
            return super().study(
                options, lambda request, source=None: read(request.keeping(named), source)
            )
        label = label_of(runs.baseline)
        other = read(self.request(options).of_all_models(), runs.baseline)
        sides = joined(read(self.request(options), runs.files), other, label)
        study = super().study(options, lambda request, source=None: sides[0])
        notes = (note.about(f"baseline {label}") for note in reading_notes(other))
        return replace(study, baseline=sides[1], reading=(*runs.notes, *notes))

    def report(self, study: Study) -> Report:
        """Differences, tests and verdicts; a ranking where all pairs are compared."""
        baseline = self._baseline(study)
        from passk_cli.commands.compare.report import compare_report
        from passk_cli.commands.compare.sensitivity import sensitivity_table

        tables = []
        if self.sensitivity:
            tables.append(sensitivity_table(study, self.sensitivity, baseline))
        whole = replace(study, counts=self._whole(study.counts))
        return compare_report(
            whole,
            baseline,
            crossings=self.crossings,
            band=self.band,
            flips=self.flips,
            change=self._change,
            further=tables,
        )

    @property
    def _change(self) -> Change | None:
        from passk_cli.metrics.registry import parse_change

        return None if self.change is None else parse_change(self.change)

    def _asked(self, options: SharedOptions) -> SharedOptions:
        """The options with the metrics of the change among those asked for."""
        if (change := self._change) is None:
            return options
        metrics = (*options.metrics.metrics, change.start, change.end)
        return replace(options, metrics=replace(options.metrics, metrics=metrics))

    def _baseline(self, study: Study) -> str | None:
        """The name of the baseline's model."""
        return self.baseline if study.baseline is None else study.baseline.series[0][0]

    def _whole(self, counts: Counts) -> Counts:
        """The counts not split by the groups that are left out in turn."""
        return counts.without_group(self.sensitivity) if self.sensitivity else counts


COMMAND = Command(Compare, (Request, Metrics, Rules, Confidence), charts=True, methods=True)
