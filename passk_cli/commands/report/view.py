"""The page of `passk report`, with all parts that the data allows and reasons for missing parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from passk_cli.commands.command import load_command
from passk_cli.commands.compare.integrity import text_reader
from passk_cli.commands.compare.view import PairTable
from passk_cli.commands.report import ReportOptions
from passk_cli.commands.report.averages import macro_panel
from passk_cli.commands.report.integrity import integrity_panel
from passk_cli.commands.report.leaderboard import RanksAndTieLetters, leaderboard, ranks_by_metric
from passk_cli.commands.report.outcome_grid import (
    link_in_group,
    require_valid_link_template,
    task_grid,
)
from passk_cli.commands.report.page import PageAnalysis
from passk_cli.commands.report.parts import (
    DATA_QUALITY_PART,
    DIFFERENCES_PART,
    FLIPS_PART,
    MANY,
    NO_SOLUTIONS_REASON,
    PARTS_OF_EACH_SECTION,
    SUSPECT_TASKS_PART,
    TASKS,
    TEMPERATURE,
    Part,
)
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.commands.tasks.view import SUSPECT_TASK_ADVICE
from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import (
    DataError,
    ParameterError,
    no_such_model_error,
    raise_parameter_error_if_any,
)
from passk_cli.files.request import BOUNDS, Request
from passk_cli.files.sources.path_templates import TEMPERATURE_COLUMN_NAMES
from passk_cli.limits import MOST_CHAPTERS, MOST_ON_PAGE, refuse_too_many
from passk_cli.metrics.registry import parse_metric
from passk_cli.option import changed_option_names, declared_options_by_flag
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import (
    ALWAYS,
    AnswerSentence,
    Report,
    ReportPage,
    ReportPagePanel,
    TaskGroupChapter,
)
from passk_cli.report.phrases import first_few, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.completeness import models_lacking_attempts
from passk_cli.study.duplicate_runs import require_no_copies
from passk_cli.study.section import FOOTER_VERSION_TEXT
from passk_cli.study.value_range import named_group_values
from passk_cli.study.values import require_monotone
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

_COST_METRIC = "cost"
_RANKS_FOOTNOTE = "rank: possible ranks"
# A page adjusts tests within each group, but `passk compare --by` adjusts tests over all groups.
_ADJUSTED_IN_GROUP_FOOTNOTE = "tests adjusted within this group"
# The commands in _COMMANDS_NEEDING_PASSES need passes and failures, even if all requested metrics
# use scores.
_COMMANDS_NEEDING_PASSES = ("curve", "order", "tasks")


class ReportRunner(CommandRunner, ReportOptions):
    max_groups = MOST_CHAPTERS
    label_refusal = ""
    rereads_if_columns_missing = True

    def request(self, options: SharedOptions) -> Request:
        request = super().request(options)
        raise_parameter_error_if_any("contradicting-options", (
            self.link and self.board, OptionWithValue("--link"),
            "a leaderboard has no tasks, so it cannot link to transcripts",
            (SuggestedFix({"--link": None}), SuggestedFix({"--board": None})),
        ))  # fmt: skip
        raise_parameter_error_if_any("contradicting-options", (
            self.average and len(request.by) > 1, OptionWithValue("--average", self.average),
            "the average is over the groups of one column, but you name several columns",
            (SuggestedFix({"--by": None}), SuggestedFix({"--average": None})),
        ))  # fmt: skip
        if self.link:
            require_valid_link_template(self.link, request.by)
        return replace(request, uses_attempt_order=request.missing != BOUNDS).with_additional_model(
            self.baseline
        )

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> PageAnalysis:
        options = replace(options, confidence=options.confidence.require_intervals())
        if self.average and self.average not in options.request.by:
            by = (*options.request.by, self.average)
            options = replace(options, request=replace(options.request, by=by))
        study, uncosted = super().read_analysis(options, read), dict[str, Counts | str]()
        if self.board:
            require_no_copies(study.counts, options.request.models)
            if not options.is_readable_only_once:
                texts = text_reader(study.counts, self.request(options), read)
                study = replace(study, read_texts=texts)
        inputs = study.counts.read_facts.file_readings
        has_costs = bool(inputs) and all(
            _COST_METRIC in i.command_data_column_by_role for i in inputs
        )
        if has_costs and not (study.are_metrics_chosen_by_user or options.is_readable_only_once):
            most = max(metric.k for metric in study.metrics)
            ends = [metric for metric in study.metrics if metric.k in (1, most)]
            metrics = replace(options.metric_options, metrics=(*ends, parse_metric(_COST_METRIC)))
            try:
                if study.has_missing_outcome_ranges:
                    require_monotone(metrics.metrics)
                costed = super().read_analysis(replace(options, metric_options=metrics), read)
                study = replace(costed, read_texts=study.read_texts)
                options = replace(options, metric_options=metrics)
            except (DataError, ParameterError) as error:
                uncosted = {_COST_METRIC: str(error)}
        study_fields = {field.name: getattr(study, field.name) for field in fields(study)}
        separate_counts = (
            {}
            if self.board
            else uncosted | _read_counts_or_failure_by_command(options, study.counts, read)
        )
        reading = self.request(options)
        if reading.are_scores_left_unjudged and not self.board:
            # Scores without a threshold have no passes, so passk reads the data a second time for
            # the parts about passes.
            judged = _counts_or_failure_reason(replace(reading, scores_only=False), options, read)
            separate_counts |= dict.fromkeys(_COMMANDS_NEEDING_PASSES, judged)
        return PageAnalysis(
            **study_fields,
            shared_options=options,
            counts_by_command=separate_counts,
            baseline_name=self.baseline,
        )

    def report(self, study: Analysis) -> Report:
        page = study
        if not isinstance(page, PageAnalysis):
            raise TypeError(f"`report` needs a Page from `study`; got {type(page).__name__}")
        models = dict.fromkeys(model for model, *_ in page.counts.series)
        fewer = SuggestedFix({"--model": Placeholder("NAME")}, "selects models")
        refuse_too_many("models on a page", len(models), MOST_ON_PAGE, fewer)
        if self.baseline is not None and self.baseline not in models:
            option = OptionWithValue("--baseline", self.baseline)
            raise no_such_model_error(option, "no such model", self.baseline, models, option.option)
        groups = list(dict.fromkeys(series[1:] for series in page.counts.series))
        estimates = page.command_report("estimate", page.counts)
        parts = (DIFFERENCES_PART,) if self.board else PARTS_OF_EACH_SECTION
        sections = [self._group_section(page, group, estimates, parts) for group in groups]
        macro = macro_panel(page, estimates) if self.average and len(groups) > 1 else None
        if self.board:
            boards = [replace(chapter, panels=chapter.panels[:1]) for chapter in sections]
            overall = tuple(filter(None, (macro, integrity_panel(page))))
            if len(groups) > 1 and overall:
                boards.append(TaskGroupChapter("All groups", overall))
            else:
                boards = [replace(boards[0], panels=(*boards[0].panels, *overall)), *boards[1:]]
            return self._report_with_page(
                page, _add_macro_rows(estimates, macro), boards, len(groups)
            )
        temperature = TEMPERATURE.panel(
            page, page.counts_by_command.get("temperature", page.counts)
        )
        quality = DATA_QUALITY_PART.panel(page, page.counts)
        if quality is not None:
            messages = dict.fromkeys((*quality.report.messages, *page.messages(())))
            quality = replace(quality, report=replace(quality.report, messages=tuple(messages)))
        overall = tuple(panel for panel in (macro, temperature, quality) if panel is not None)
        if page.counts.group_names:
            sections.append(TaskGroupChapter("All groups", overall))
        else:
            sections = [replace(sections[0], panels=(*sections[0].panels, *overall))]
        return self._report_with_page(
            page, _add_macro_rows(estimates, macro), sections, len(groups)
        )

    def _report_with_page(
        self,
        page: PageAnalysis,
        estimates: Report,
        sections: Sequence[TaskGroupChapter],
        groups: int,
    ) -> Report:
        absent, title, date = [], self.headline, ""
        for (part, reason), names in page.absent_parts.items():
            where = f" ({', '.join(names)})" if names[0] and len(names) < groups else ""
            absent.append(f"{part}{where}: {reason}.")
        if self.board:
            absent, date = [], datetime.now(UTC).date().isoformat()
            title = title if "--title" in changed_option_names(self) else "Leaderboard"
        page_of = ReportPage(title, tuple(sections), tuple(absent), date=date)
        answer, messages = (
            _answer_sentences(estimates, sections, groups),
            _page_messages(sections, groups),
        )
        return replace(estimates, answer=tuple(answer), messages=tuple(messages), make_plots=tuple,
                       page=page_of)  # fmt: skip

    def _group_section(
        self,
        page: PageAnalysis,
        group: tuple[str, ...],
        all_estimates: Report,
        parts: Sequence[Part],
    ) -> TaskGroupChapter:
        names = page.counts.group_names
        name, counts = named_group_values(group, names), page.counts_of_group(group, page.counts)
        estimates = page.command_report("estimate", counts) if names else all_estimates
        answer, places, panels = (
            estimates.answer,
            dict[str, RanksAndTieLetters](),
            list[ReportPagePanel](),
        )
        compared: Report | None = None
        pair_messages: tuple[Diagnostic, ...] = ()
        for part in parts:
            part_counts = page.counts_by_command.get(part.command, counts)
            if isinstance(part_counts, Counts) and part_counts is not counts:
                part_counts = page.counts_of_group(group, part_counts)
            panel = part.panel(page, part_counts, name)
            if panel is None:
                continue
            messages = tuple(
                _name_command_in_message_fixes(message, part.command)
                for message in panel.report.messages
            )
            panel = replace(panel, report=replace(panel.report, messages=messages))
            if part is DIFFERENCES_PART:
                answer, places = panel.report.answer, ranks_by_metric(panel.report)
                pair_messages = messages
                compared = panel.report if places else None
                tables = tuple(
                    replace(t, visibility=ALWAYS if t.title == PairTable.title else t.visibility)
                    for t in panel.report.tables if t.columns[0].header != "rank"
                )  # fmt: skip
                panel = replace(panel, report=replace(panel.report, tables=tables))
                if len(page.models) > MANY and page.baseline_name is None:
                    pairs = plural(len(counts.series) * (len(counts.series) - 1) // 2, "pair")
                    reason = f"the leaderboard has the ties of {pairs}; passk compare lists them"
                    page.absent_parts.setdefault((part.title, reason), []).append(name)
                    continue
            if part is FLIPS_PART:
                flips, pair = panel.report.answer, len({model for model, *_ in counts.series}) == 2
                answer += flips[:1] if pair else flips[1:2]
            if part is SUSPECT_TASKS_PART and not any(
                SUSPECT_TASK_ADVICE in row for row in panel.report.data_table.rows
            ):
                panel = replace(panel, report=replace(panel.report, tables=()))
            if part is TASKS:
                link = link_in_group(self.link, dict(zip(names, group, strict=True)))
                panel = replace(panel, grid=task_grid(counts, page.models, link))
            panels.append(panel)
        board, report = leaderboard(estimates, places, models_lacking_attempts(counts))
        messages = (*report.messages, *pair_messages)
        one_group = [_ADJUSTED_IN_GROUP_FOOTNOTE] if compared and name else []
        context = (*_method_words(estimates, compared), *one_group, FOOTER_VERSION_TEXT)
        report = replace(report, context=context, messages=messages)
        first = ReportPagePanel(
            "leaderboard", "Leaderboard", "", report, is_in_page_answer=True, board=board
        )
        return TaskGroupChapter(name, (first, *panels), answer)


def _read_counts_or_failure_by_command(
    options: SharedOptions, counts: Counts, read: ReadCountsFunction
) -> dict[str, Counts | str]:
    inputs = counts.read_facts.file_readings
    requests: dict[str, Any] = {}
    if inputs and "solution" not in counts.attempts:
        requests["diversity"] = replace(options.request, attempts=("solution",))
    if settings := [
        name
        for name in TEMPERATURE_COLUMN_NAMES
        if name in counts.read_facts.pooled_setting_columns
    ]:
        by = tuple(dict.fromkeys((*options.request.by, settings[0])))
        requests["temperature"] = replace(options.request, by=by)
    counts_by_command = {
        name: _counts_or_failure_reason(request, options, read)
        for name, request in requests.items()
    }
    offered = all("solution" in file.command_data_column_by_role for file in inputs)
    if isinstance(counts_by_command.get("diversity"), str) and not offered:
        counts_by_command["diversity"] = NO_SOLUTIONS_REASON
    return counts_by_command


def _counts_or_failure_reason(
    request: Request, options: SharedOptions, read: ReadCountsFunction
) -> Counts | str:
    if options.is_readable_only_once:
        return "the data can be read only once"
    try:
        return read(replace(request, cluster=options.confidence.cluster))
    except (DataError, ParameterError) as error:
        return str(error)


def _method_words(estimates: Report, compared: Report | None) -> tuple[str, ...]:
    parts = [part for part in estimates.context if isinstance(part, str)]
    if compared is not None:
        words = (part for part in compared.context if isinstance(part, str))
        shared = [part.removeprefix("~ or ") for part in words]
        parts.append(_RANKS_FOOTNOTE)
        parts += [p for p in shared if not parts[0].startswith(p.replace(" shared", ""))]
    return tuple(part for part in dict.fromkeys(parts) if part != FOOTER_VERSION_TEXT)


def _name_command_in_message_fixes(message: Diagnostic, command: str) -> Diagnostic:
    page_flags = declared_options_by_flag(load_command("report").options()).keys()
    settles = (
        fix if fix.options.keys() <= page_flags else replace(fix, command=command)
        for fix in message.fixes
    )
    return replace(message, fixes=tuple(settles))


def _add_macro_rows(estimates: Report, macro: ReportPagePanel | None) -> Report:
    if macro is None:
        return estimates
    data = estimates.data_table
    return replace(
        estimates,
        make_data_rows=lambda: replace(data, rows=[*data.rows, *macro.report.data_table.rows]),
    )


def _answer_sentences(
    estimates: Report, sections: Sequence[TaskGroupChapter], groups: int
) -> Iterator[AnswerSentence]:
    if groups == 1:
        yield from sections[0].answer
        return
    macro = (panel.report.answer for panel in sections[-1].panels if panel.name == "macro")
    yield from next(macro, ()) or estimates.answer


def _page_messages(sections: Sequence[TaskGroupChapter], groups: int) -> Iterator[Diagnostic]:
    """The messages of all panels without repeats, with warnings first.

    If only some groups have a message, the message begins with the names of these groups. If the
    same message has different fixes in several panels, the message with the most fixes is used.
    """
    titles: dict[Diagnostic, dict[str, None]] = {}
    fullest: dict[Diagnostic, Diagnostic] = {}
    for section in sections:
        for panel in section.panels:
            for message in panel.report.messages:
                bare = replace(message, fixes=())
                titles.setdefault(bare, {})[section.title] = None
                fullest[bare] = max(
                    fullest.get(bare, message), message, key=lambda version: len(version.fixes)
                )
    group_titles = {section.title for section in sections[:groups]} if groups > 1 else set()
    for bare, chapters in sorted(titles.items(), key=lambda item: item[0].severity != "warning"):
        message, in_some = fullest[bare], bool(group_titles) and chapters.keys() < group_titles
        yield message.with_prefix(first_few(list(chapters))) if in_some else message
