"""passk report: what the other commands find, on one page to send to others."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import BOUNDS, Request
from passk_cli.option import Option
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics
from passk_cli.study.rules import Rules

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.commands.report.gathered import Gathered
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study


@dataclass(frozen=True)
class OnePage(Question):
    """A full report on one page.

    Leaderboard, curves, differences, reliability, order, diversity, temperature, tasks and data
    quality, as .html (one file, no network) or .md with its pictures beside it. With --by there is
    a section for each group, and a macro average.

    Example: passk report sample_data/agents.jsonl -m pass@1 -o report.html

    Example: passk report sample_data/tau_airline.csv -k 1,4 -o report.md
    """

    baseline: Annotated[
        str | None,
        Option(
            "--baseline",
            "NAME",
            "Compare every model with this one only.",
            of_models=True,
            detail="A model in the data.",
        ),
    ] = None
    headline: Annotated[str, Option("--title", "TEXT", "Title of the page.")] = "Evaluation report"

    def request(self, options: SharedOptions) -> Request:
        """The columns to read, and the order of the attempts where the data has one."""
        request = super().request(options)
        return replace(request, order=request.missing != BOUNDS).keeping(self.baseline)

    def study(self, options: SharedOptions, read: Read) -> Gathered:
        """The data, and what else has to be read of it."""
        from passk_cli.commands.report.gathered import Gathered

        options = replace(options, confidence=options.confidence.required())
        study = super().study(options, read)
        whole = {field.name: getattr(study, field.name) for field in fields(study)}
        further = _further(options, study.counts, read)
        return Gathered(**whole, options=options, further=further, baseline_name=self.baseline)

    def report(self, study: Study) -> Report:
        """The finding and the leaderboard; the rest is its page."""
        from passk_cli.commands.report.compose import page_report
        from passk_cli.commands.report.gathered import Gathered

        if not isinstance(study, Gathered):
            raise TypeError("a page is made of what `study` gathers")
        if self.baseline is not None:
            models = list(dict.fromkeys(model for model, *_ in study.counts.series))
            if self.baseline not in models:
                raise ParameterError(
                    f"--baseline {self.baseline}: no such model; there are {', '.join(models)}",
                    name="no-such-model",
                )
        return page_report(study, self.headline)


COMMAND = Command(OnePage, (Request, Metrics, Rules, Confidence), paged=True)


def _further(options: SharedOptions, counts: Counts, read: Read) -> dict[str, Counts | str]:
    """Command → counts that it needs apart, or why there are none; only of commands that need
    some."""
    from passk_cli.study.temperature_names import COLUMNS

    inputs = counts.facts.inputs
    apart: dict[str, Any] = {}
    offered = bool(inputs) and all("solution" in each.offered for each in inputs)
    if offered and "solution" not in counts.attempts:
        apart["diversity"] = replace(options.request, attempts=("solution",))
    settings = [name for name in COLUMNS if name in counts.facts.varying]
    if settings:
        by = tuple(dict.fromkeys((*options.request.by, settings[0])))
        apart["temperature"] = replace(options.request, by=by)
    further: dict[str, Counts | str] = {}
    for name, request in apart.items():
        if options.once:
            further[name] = "the data can be read only once"
            continue
        try:
            further[name] = read(replace(request, cluster=options.confidence.cluster))
        except (DataError, ParameterError) as error:
            further[name] = str(error)
    return further
