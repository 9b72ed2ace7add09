"""The page: every part that the data gives, in reading order; a sentence on each other one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from passk_cli.commands.command import command_of
from passk_cli.commands.question import Question, Read, SharedOptions
from passk_cli.commands.report import ReportOptions
from passk_cli.commands.report.averages import macro_panel
from passk_cli.commands.report.gathered import Gathered
from passk_cli.commands.report.parts import (
    DIFFERENCES,
    FLIPS,
    MANY,
    OF_A_GROUP,
    QUALITY,
    SEPARATION,
    TEMPERATURE,
    Part,
)
from passk_cli.errors import DataError, ParameterError, PasskError
from passk_cli.files.request import BOUNDS, Request
from passk_cli.message import Said
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Chapter, Document, Panel, Report, Sentence
from passk_cli.report.words import first_few, plural
from passk_cli.study.extremes import groups_named
from passk_cli.study.study import Study
from passk_cli.study.temperature_names import COLUMNS

_LEADERBOARD = (
    "Each number is an estimate with its confidence interval. A narrow interval means that another"
    " sample of tasks would give nearly the same number."
)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def page_report(study: Gathered, title: str) -> Report:
    """The estimates of all models, with the page of everything.

    title : of the page.
    """
    page, counts = _Draft(study), study.counts
    groups = list(dict.fromkeys(series[1:] for series in counts.series))
    whole = page.estimates(counts)
    sections = [page.section(values, None if counts.group_names else whole) for values in groups]
    overall = page.overall(whole, len(groups))
    if counts.group_names:
        sections.append(Chapter("All groups", overall))
    else:
        sections = [replace(sections[0], panels=(*sections[0].panels, *overall))]
    return replace(
        whole,
        answer=tuple(_finding(sections, len(groups))),
        messages=tuple(_messages(sections, len(groups))),
        draw=tuple,
        page=Document(title, tuple(sections), tuple(page.absences(len(groups)))),
    )


@dataclass(frozen=True)
class _Draft:
    """A page in the making.

    absent : (title, reason) of each part that is not shown → the sections that lack it.
    """

    study: Gathered
    absent: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def absences(self, groups: int) -> Iterator[str]:
        """The parts that are not shown and why, in sentences."""
        for (title, reason), names in self.absent.items():
            where = f" ({', '.join(names)})" if names[0] and len(names) < groups else ""
            yield f"{title}{where}: {reason}."

    def estimates(self, counts: Counts) -> Report:
        """The leaderboard; of many models at the first and the last metric alone."""
        metrics = self.study.metrics
        ends = tuple(dict.fromkeys((metrics[0], metrics[-1])))
        few = {"metrics": ends} if len(self.study.models) > MANY else {}
        return self.study.ask("estimate", counts, **few)

    def section(self, values: tuple[str, ...], estimates: Report | None) -> Chapter:
        """The panels about one group of tasks.

        estimates : of that group, where they are known; None to make them.
        """
        name, counts = groups_named(values, self.study.counts.group_names), self.study.group(values)
        estimates = estimates or self.estimates(counts)
        panels = [Panel("leaderboard", "Leaderboard", _LEADERBOARD, estimates, answered=True)]
        answer = estimates.answer
        for part in OF_A_GROUP:
            further = self.study.further.get(part.command, counts)
            if isinstance(further, Counts) and further is not counts:
                further = self.study.group(values, further)
            panel = self.panel(part, further, name)
            if panel is None:
                continue
            named = partial(_own_options, command=part.command)
            messages = tuple(said.spelled(named) for said in panel.report.messages)
            panels.append(replace(panel, report=replace(panel.report, messages=messages)))
            if part is DIFFERENCES:
                answer = panel.report.answer
            if part is FLIPS:
                # A list of flips is no list of changes: what chance makes of them is part of the
                # finding: of one pair how many, of several those with more than chance explains.
                flips, pair = panel.report.answer, len({model for model, *_ in counts.series}) == 2
                answer += flips[:1] if pair else flips[-1:]
        return Chapter(name, tuple(panels), answer)

    def overall(self, whole: Report, groups: int) -> tuple[Panel, ...]:
        """The panels about all groups together."""
        study = self.study
        temperature = study.further.get("temperature", study.counts)
        quality = self.panel(QUALITY, study.counts, "")
        if quality is not None:
            report = quality.report
            messages = tuple(dict.fromkeys((*report.messages, *study.messages(()))))
            quality = replace(quality, report=replace(report, messages=messages))
        panels = (
            macro_panel(study, whole) if groups > 1 else None,
            self.panel(TEMPERATURE, temperature, "", "the data does not name several temperatures"),
            quality,
        )
        return tuple(panel for panel in panels if panel is not None)

    def panel(
        self, part: Part, counts: Counts | str, section: str, reason: str = ""
    ) -> Panel | None:
        """A part filled; None, with the reason among those of what is absent, where it cannot be.

        counts : or why there are none.  reason : to be given where the command refuses.
        """
        study, limits = self.study, ""
        lacks = counts if isinstance(counts, str) else part.lacks(study, counts)
        report = None
        if not lacks and isinstance(counts, Counts):
            present = {model for model, *_ in counts.series}
            chosen = study.models
            if part is SEPARATION:
                chosen = [model for model in study.models if model in present][:2]
                limits = f"About {chosen[0]} and {chosen[1]}."
            elif part.most is not None and len(study.models) > MANY:
                chosen = study.models[: part.most]
                if study.baseline_name is not None and study.baseline_name not in chosen:
                    chosen.append(study.baseline_name)
                limits = (
                    f"About the first {len(chosen)} of {len(study.models):,} models; --model"
                    " chooses others."
                )
            if not present <= set(chosen):
                names = [series if series[0] in chosen else None for series in counts.series]
                counts = counts.regrouped(names, counts.group_names)
            try:
                report = study.ask(part.command, counts, **part.given(study, counts))
            except PasskError as error:
                lacks = reason or str(error)
        if report is None:
            self.absent.setdefault((part.title, lacks), []).append(section)
            return None
        return Panel(part.name, part.title, part.how, part.kept(report), limits, part.answered)


def _own_options(text: str, command: str) -> str:
    """The text of another command's message; it says which options are not those of the page.

    >>> _own_options("--max-tasks limits it", "plan")
    '--max-tasks limits it (--max-tasks: an option of passk plan)'
    """
    own = {
        flag for _, option, *_ in command_of("report").options() for flag in option.flags.split()
    }
    foreign = [name for name in dict.fromkeys(_OPTION.findall(text)) if name not in own]
    if not foreign:
        return text
    noun = "options" if len(foreign) > 1 else "an option"
    return f"{text} ({' and '.join(foreign)}: {noun} of passk {command})"


def _finding(sections: Sequence[Chapter], groups: int) -> Iterator[Sentence]:
    """The findings of the first sections, each under its name where there are several."""
    if groups == 1:
        yield from sections[0].answer
        return
    for section in sections[: min(groups, 3)]:
        first, *others = section.answer
        yield (f"{section.title}: ", *first)
        yield from others
    if groups > 3:
        yield (f"{plural(groups - 3, 'more group')} below.",)


def _messages(sections: Sequence[Chapter], groups: int) -> Iterator[Said]:
    """Those of all panels once, warnings first; where only some groups have one, it says which."""
    titles: dict[Said, dict[str, None]] = {}
    for section in sections:
        for panel in section.panels:
            for said in panel.report.messages:
                titles.setdefault(said, {})[section.title] = None
    named = {section.title for section in sections[:groups]} if groups > 1 else set()
    for said, where in sorted(titles.items(), key=lambda item: item[0].severity != "warning"):
        some = bool(named) and where.keys() < named
        yield said.about(first_few(list(where))) if some else said


class OnePage(Question, ReportOptions):
    """The question of `passk report`."""

    def request(self, options: SharedOptions) -> Request:
        """The columns to read, and the order of the attempts where the data has one."""
        request = super().request(options)
        return replace(request, order=request.missing != BOUNDS).keeping(self.baseline)

    def study(self, options: SharedOptions, read: Read) -> Gathered:
        """The data, and what else has to be read of it."""
        options = replace(options, confidence=options.confidence.required())
        study = super().study(options, read)
        whole = {field.name: getattr(study, field.name) for field in fields(study)}
        further = _further(options, study.counts, read)
        return Gathered(**whole, options=options, further=further, baseline_name=self.baseline)

    def report(self, study: Study) -> Report:
        """The finding and the leaderboard; the rest is its page."""
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


def _further(options: SharedOptions, counts: Counts, read: Read) -> dict[str, Counts | str]:
    """Command → counts that it needs apart, or why there are none; only of commands that need
    some."""
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
