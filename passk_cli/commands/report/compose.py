"""The page: every part that the data gives, in reading order; a sentence on each other one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from passk_cli.commands.report.averages import macro_panel
from passk_cli.commands.report.gathered import Gathered, only_models
from passk_cli.commands.report.options import with_options_named
from passk_cli.commands.report.parts import (
    DIVERSITY,
    FLIPS,
    MANY,
    OF_A_GROUP,
    QUALITY,
    SEPARATION,
    TEMPERATURE,
    Part,
    first_metric,
)
from passk_cli.errors import PasskError
from passk_cli.message import Said
from passk_cli.outcomes.counts import Counts
from passk_cli.report.model import Document, Panel, Report, Section, Sentence
from passk_cli.report.words import first_few, plural
from passk_cli.study.extremes import groups_named

_DIFFERENCES = (
    "Each line is the difference of two models on the tasks they share, with its interval. A"
    " filled point is a significant difference after adjustment; a hollow one is a tie."
)
_LEADERBOARD = (
    "Each number is an estimate with its confidence interval. A narrow interval means that another"
    " sample of tasks would give nearly the same number."
)


@dataclass
class _Absent:
    """What is not shown, and why; each reason with the sections it holds for."""

    reasons: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, title: str, reason: str, section: str) -> None:
        self.reasons.setdefault((title, reason), []).append(section)

    def sentences(self, sections: int) -> Iterator[str]:
        for (title, reason), names in self.reasons.items():
            where = f" ({', '.join(names)})" if names[0] and len(names) < sections else ""
            yield f"{title}{where}: {reason}."


def page_report(study: Gathered, title: str) -> Report:
    """The estimates of all models, with the page of everything.

    title : of the page.
    """
    absent = _Absent()
    groups = list(dict.fromkeys(series[1:] for series in study.counts.series))
    whole = study.ask("estimate", study.counts, **_metrics_of_many(study))
    single = None if study.counts.group_names else whole
    sections = [_section(study, values, absent, single) for values in groups]
    overall = list(_overall(study, whole, groups, absent))
    sections.append(Section("All groups" if study.counts.group_names else "", tuple(overall)))
    if not study.counts.group_names:
        sections = [replace(sections[0], panels=(*sections[0].panels, *overall))]
    page = Document(title, tuple(sections), tuple(absent.sentences(len(groups))))
    first = sections[0].panels[0].report
    return replace(
        whole,
        tables=whole.tables if study.counts.group_names else first.tables,
        answer=tuple(_finding(sections, len(groups))),
        messages=tuple(_notes(sections, len(groups))),
        draw=tuple,
        page=page,
    )


def _notes(sections: Sequence[Section], groups: int) -> Iterator[Said]:
    """Those of all panels once, warnings first; where only some groups have one, it says which."""
    titles: dict[Said, dict[str, None]] = {}
    for section in sections:
        for panel in section.panels:
            for note in panel.report.messages:
                titles.setdefault(note, {})[section.title] = None
    named = {section.title for section in sections[:groups]} if groups > 1 else set()
    for note, where in sorted(titles.items(), key=lambda item: item[0].severity != "warning"):
        some = bool(named) and where.keys() < named
        yield note.about(first_few(list(where))) if some else note


def _metrics_of_many(study: Gathered) -> dict[str, object]:
    """The first and the last metric alone where there are many models."""
    if len(study.models) <= MANY:
        return {}
    return {"metrics": tuple(dict.fromkeys((study.metrics[0], study.metrics[-1])))}


def _finding(sections: Sequence[Section], groups: int) -> Iterator[Sentence]:
    """What the first sections find, each under its name where there are several."""
    if groups == 1:
        yield from sections[0].answer
        return
    for section in sections[: min(groups, 3)]:
        first, *others = section.answer
        yield (f"{section.title}: ", *first)
        yield from others
    if groups > 3:
        yield (f"{plural(groups - 3, 'more group')} below.",)


def _section(
    study: Gathered,
    values: tuple[str, ...],
    absent: _Absent,
    estimates: Report | None,
) -> Section:
    """The panels about one group of tasks.

    estimates : of that group, where they are known; None to make them.
    """
    name = groups_named(values, study.counts.group_names)
    counts = study.group(values)
    estimates = estimates or study.ask("estimate", counts, **_metrics_of_many(study))
    panels: list[Panel] = []
    answer = estimates.answer
    differences = _differences(study, counts, name, absent)
    panels.append(Panel("leaderboard", "Leaderboard", _LEADERBOARD, estimates, answered=True))
    if differences is not None:
        answer = differences.report.answer
        panels.append(differences)
    for part in OF_A_GROUP:
        panel = _panel(study, part, _counts_for(study, part, values, counts), name, absent)
        panels += [panel] if panel is not None else []
        # A list of flips is no list of changes: what chance makes of them is part of the finding.
        answer += _flips_found(panel, counts) if panel is not None and part is FLIPS else ()
    return Section(name, tuple(panels), answer)


def _flips_found(flips: Panel, counts: Counts) -> tuple[Sentence, ...]:
    """How many tasks flipped of one pair; of several, which have more flips than chance makes."""
    answer = flips.report.answer
    return answer[:1] if len({model for model, *_ in counts.series}) == 2 else answer[-1:]


def _counts_for(
    study: Gathered, part: Part, values: tuple[str, ...], counts: Counts
) -> Counts | str:
    """What a part is about: the group's counts, read with more where that was needed."""
    if part is not DIVERSITY:
        return counts
    further = study.further.get(part.command)
    if further is None and "solution" not in counts.attempts:
        return "the data holds no solutions"
    if further is None or isinstance(further, str):
        return further or counts
    return study.group(values, further)


def _panel(
    study: Gathered, part: Part, counts: Counts | str, section: str, absent: _Absent
) -> Panel | None:
    """A part filled; None, with the reason among those of what is absent, where it cannot be."""
    reason = counts if isinstance(counts, str) else part.lacks(study, counts)
    if isinstance(counts, str) or reason:
        absent.add(part.title, reason, section)
        return None
    models = study.models
    limits = ""
    if part is SEPARATION:
        there = {series[0] for series in counts.series}
        chosen = [model for model in models if model in there][:2]
        counts, limits = only_models(counts, chosen), f"About {chosen[0]} and {chosen[1]}."
    elif part.most is not None and len(models) > MANY:
        chosen = _first_few(study, models, part.most)
        counts = only_models(counts, chosen)
        limits = f"About the first {len(chosen)} of {len(models):,} models; --model chooses others."
    try:
        report = study.ask(part.command, counts, **part.given(study, counts))
    except PasskError as error:
        absent.add(part.title, str(error), section)
        return None
    report = with_options_named(part.kept(report), part.command)
    return Panel(part.name, part.title, part.how, report, limits)


def _differences(study: Gathered, counts: Counts, section: str, absent: _Absent) -> Panel | None:
    """The comparison of all models, or of all with the baseline: ranks of some would be others."""
    models = {model for model, *_ in counts.series}
    if len(models) < 2:
        absent.add("Differences", f"the data has {plural(len(models), 'model')}", section)
        return None
    asked = {"baseline": study.baseline_name, **first_metric(study, counts)}
    try:
        report = study.ask("compare", counts, **asked)
    except PasskError as error:
        absent.add("Differences", str(error), section)
        return None
    return Panel("differences", "Differences", _DIFFERENCES, report, answered=True)


def _first_few(study: Gathered, models: list[str], number: int) -> list[str]:
    """The first models, and the baseline besides."""
    chosen = models[:number]
    baseline = study.baseline_name
    return chosen if baseline is None or baseline in chosen else [*chosen, baseline]


def _overall(
    study: Gathered, whole: Report, groups: Sequence[tuple[str, ...]], absent: _Absent
) -> Iterator[Panel]:
    """What is about all groups together."""
    if len(groups) > 1:
        yield macro_panel(study, whole)
    further = study.further.get("temperature", study.counts)
    try:
        if isinstance(further, str):
            absent.add(TEMPERATURE.title, further, "")
        else:
            report = study.ask("temperature", further, **first_metric(study, further))
            yield Panel(TEMPERATURE.name, TEMPERATURE.title, TEMPERATURE.how, report)
    except PasskError:
        absent.add(TEMPERATURE.title, "the data does not name several temperatures", "")
    report = study.ask("describe", study.counts)
    notes = tuple(note for note in study.messages(()) if True)
    report = replace(report, messages=tuple(dict.fromkeys((*report.messages, *notes))))
    yield Panel(QUALITY.name, QUALITY.title, QUALITY.how, report)
