"""passk compare: which models differ significantly, and which tie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

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

    unbounded_options: ClassVar[Mapping[str, str]] = {
        "--change": "a change may be largest with some missing outcomes passing and others failing;"
        " use --missing fail or drop",
        "--crossings": "curves are ranges, which cross at no one k; leave --crossings out",
        "--band": "curves are ranges, and no band holds for what lies between their ends; use"
        " --missing fail or drop",
        "--flips": "a task may flip with each missing outcome; use --missing fail or drop",
    }

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
        Option("--band", help="The model that is ahead at each k, with a simultaneous band."),
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
        """The request: the baseline as well, and the groups that are left out in turn."""
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
        """The ranking or the baseline's table, the pairs, and what was asked for besides."""
        from passk_cli.commands.compare import band, pairs, sensitivity, view
        from passk_cli.commands.compare.crossings import Crossings, find_crossings
        from passk_cli.commands.tasks.flips import FlippedPairs, FlippedTasks
        from passk_cli.study.adjustment import Adjustment
        from passk_cli.study.bands import find_bands
        from passk_cli.study.flips import find_flips
        from passk_cli.study.pairs import choose_pairs, compare_pairs
        from passk_cli.study.ranks import find_ranks
        from passk_cli.study.section import Section
        from passk_cli.study.section import view as report_of

        baseline, change = self._baseline(study), self._change
        kept = []
        if self.sensitivity:
            kept = list(sensitivity.sensitivities(study, self.sensitivity, baseline))
        study = replace(study, counts=self._whole(study.counts))
        confidence, rules = study.confidence, study.rules
        changes = list(pairs.change_values(study, change)) if change else []
        chosen = choose_pairs(study, baseline, changes)
        compared = compare_pairs(chosen, confidence, rules)
        comparisons = [c for c in compared if c.first.metric != change]
        crossings = find_crossings(comparisons, confidence) if self.crossings else {}
        bands = find_bands(comparisons, study) if self.band else []
        ranks = [] if baseline is not None else list(find_ranks(comparisons, confidence))
        every = pairs.paired(compared, ranks, crossings, confidence)
        own = [pair for pair in every if pair.metric != change]
        changed = [pair for pair in every if pair.metric == change]
        adjustment = Adjustment(compared, confidence.level, rules)
        study = replace(study, confidence=confidence.as_used(adjustment.methods))
        alone = not study.counts.group_names and len({pair.models for pair in own}) == 1
        sections: list[Section[Any]] = [
            view.AllPairs(study, own, adjustment, baseline or "", alone, not bands)
        ]
        if baseline is None:
            standings = pairs.standings(ranks, own)
            sections.insert(0, view.Ranking(study, standings, own, alone))
        elif not alone:
            lines = view.lines(own, baseline)
            sections.insert(0, view.Baseline(study, lines, own, baseline))
        if change:
            sections.append(view.Changes(study, changed, change))
        if self.crossings:
            sections.append(Crossings(study, list(crossings.values())))
        if bands:
            sections.append(band.Bands(study, bands, comparisons))
        if self.flips:
            flipped = find_flips(pairs.sides(study, comparisons), confidence.level)
            sections.append(FlippedPairs(study, flipped))
            sections.append(FlippedTasks.of(study, flipped))
        if self.sensitivity:
            sections.append(sensitivity.Sensitivity(study, kept, self.sensitivity))
        return report_of(
            study, sections, messages=study.messages(()),
            resamples=confidence.resamples, seed=confidence.seed, **adjustment.signature,
            family=rules.family, margin=rules.margin or None,
            change=f"{change.start.name}:{change.end.name}" if change else None,
            baseline=baseline, unpaired=rules.unpaired, band="simultaneous" if bands else None,
        )  # fmt: skip

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


COMMAND = Command(
    Compare,
    (Request, Metrics, Rules, Confidence),
    charts=True,
    methods=True,
    view="passk_cli.commands.compare.view",
)
