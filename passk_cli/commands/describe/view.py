"""The report of `passk describe`: how files were read, and the size of the data per model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from posixpath import dirname
from statistics import median
from typing import Any, ClassVar, NamedTuple

import numpy as np

from passk_cli.arrays import Ints, group_by
from passk_cli.commands.describe import DescribeOptions
from passk_cli.commands.runner import CommandRunner, SharedOptions
from passk_cli.diagnostic import NOTE, WARNING
from passk_cli.files.map_draft import MapDraft, require_new_file, write_map
from passk_cli.files.roles import AMOUNT_UNITS
from passk_cli.metrics.registry import FAMILIES
from passk_cli.outcomes.counts import Counts
from passk_cli.outcomes.provenance import DescribedColumn, FileFormatAndRoles
from passk_cli.report.data_types import (
    ALWAYS,
    FULL,
    Cell,
    Column,
    Estimate,
    OptionHint,
    PhraseCell,
    Report,
    Table,
    number_or_range_cell,
)
from passk_cli.report.phrases import count_range, names_that_fit, plural
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.completeness import models_lacking_attempts
from passk_cli.study.missing_outcomes import missing_outcome_words
from passk_cli.study.section import (
    GROUP_VALUES_COLUMN,
    MODEL_COLUMN,
    ReportSection,
    build_report,
    data_field,
)
from passk_cli.study.values import SeriesKey
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.text import truncated_text

# Without --full, a report lists at most _GROUPS groups of files and at most _MODELS models, and a
# list is at most _WIDE characters wide.
_GROUPS, _MODELS, _WIDE = 4, 8, 80
# Without --full, a report shows at most _MAX_SHOWN_COLUMNS columns of the data.
_MAX_SHOWN_COLUMNS = 10


# _OPTION_BY_PLACEHOLDER maps each placeholder in an answer to the option that replaces the
# placeholder.
_OPTION_BY_PLACEHOLDER = {
    "by": "--by", "decide": "--missing", "threshold": "--threshold", "duplicates": "--duplicates",
}  # fmt: skip
MAP_DRAFT_ANSWERS = (
    Answer("draft-with-choices", lambda draft: draft["open"],
           "{path} is a draft. Choose {open} in the draft."),
    Answer("draft-without-choices", lambda draft: True,
           "{path} is a draft that defines every role."),
)  # fmt: skip
PropertyNameAndValue = tuple[str, Cell]


class ReadingSummary(ReportSection[PropertyNameAndValue]):
    """One row per property of the data, for example the format or the missing outcomes."""

    columns = (
        Column("fact", cell_of_record=lambda fact: fact[0], meaning="Property of the data."),
        Column("how the file was read", cell_of_record=lambda fact: fact[1],
               meaning="Format, column of each role, number of attempts, or missing outcomes."),
    )  # fmt: skip

    answers: ClassVar[tuple[Answer, ...]] = (
        Answer("data-read", lambda _: True,
               "passk read {models:model} and {tasks:task} with {attempts} per task, which is"
               " enough for k ≤ {k}."),
    )  # fmt: skip
    further_answers: ClassVar[tuple[Answer | tuple[Answer, ...], ...]] = (
        Answer("attempts-differ-in", lambda section: section.sentence_fields["settings"],
               "Attempts at one task differ in {settings} ({by})."),
        Answer("attempts-without-outcome", lambda section: section.sentence_fields["missing"],
               "{missing:attempt} {missing:has|have} no outcome{?undecided| ({decide})}."),
        Answer("outcomes-not-understood", lambda section: section.sentence_fields["unclear"],
               "{unclear:outcome} neither {unclear:passes nor fails|pass nor fail} ({threshold})."),
        Answer("repeated-numbers",
               lambda section: section.sentence_fields["repeated"]
               and section.sentence_fields["settings"],
               "{repeated:row} {repeated:has|have} the attempt number of another row."),
        Answer("repeated-rows",
               lambda section: section.sentence_fields["repeated"]
               and not section.sentence_fields["settings"],
               "{repeated:duplicate row}{?kept| ({duplicates})}."),
        Answer("nothing-missing-or-repeated",
               lambda section: section.has_no_problem_with_attempts
               and section.study.counts.read_facts.duplicates_checked,
               "No outcome is missing, and no attempt is duplicated."),
        Answer("nothing-missing",
               lambda section: section.has_no_problem_with_attempts
               and not section.study.counts.read_facts.duplicates_checked,
               "No outcome is missing, but duplicates cannot be detected."),
    )  # fmt: skip

    @cached_property
    def sentence_fields(self) -> dict[str, Any]:
        counts = self.study.counts
        facts = counts.read_facts
        has_message = any(message.name == "missing-outcome" for message in facts.messages)
        return {
            "models": len({model for model, *_ in counts.series}), "tasks": len(counts.tasks),
            "attempts": count_range(counts.n.tolist(), "attempt"), "k": int(counts.n.min()),
            "settings": [column.column for column in facts.described_columns
                if column.varies_within_tasks],
            "missing": facts.missing_outcome_count, "unclear": facts.unclear_outcome_count,
            "repeated": facts.duplicate_count, "kept": facts.duplicates_policy == "error",
            "undecided": facts.missing_policy == "error" and not has_message,
            **{name: OptionHint("choose", OptionWithValue(option)) for name, option
            in _OPTION_BY_PLACEHOLDER.items()},
        }  # fmt: skip

    @property
    def has_no_problem_with_attempts(self) -> bool:
        return not any(
            self.sentence_fields[name] for name in ("settings", "missing", "unclear", "repeated")
        )


class FilePropertyTable(ReadingSummary):
    """One row per file and property, for example the format or the columns of the file."""

    title = "Each file"
    visibility = FULL
    answers = further_answers = ()


class ColumnTable(ReportSection[tuple[str, Cell, str]]):
    """One row per column of the data, with its role and most frequent values.

    The columns that passk uses come first.
    """

    title = "Columns by role"
    columns: ClassVar[tuple[Column, ...]] = (
        Column("role", cell_of_record=lambda row: row[0],
            meaning="Role of the column, or a role that the column could have. The cell is empty"
               " for a column without a role."),
        Column("option", cell_of_record=lambda row: row[1],
            meaning="Option that chooses the column, or the"
               " name of the column."),
        Column("values", cell_of_record=lambda row: row[2],
            meaning="Most frequent values of the column."),
    )  # fmt: skip


class ModelSize(NamedTuple):
    """The number of tasks and attempts of one model.

    pass_rate : share of attempts that passed, or a range if outcomes are missing. The ends of the
        range count all missing outcomes as failures and as passes. None if some outcomes neither
        pass nor fail.
    """

    series: SeriesKey
    n: Ints
    pass_rate: Cell


class ModelSizeTable(ReportSection[ModelSize]):
    """A row per model with the number of tasks and attempts, and the largest possible k."""

    title = "Models"
    has_own_schema = True
    columns: ClassVar[tuple[Column, ...]] = (
        MODEL_COLUMN, GROUP_VALUES_COLUMN,
        Column("tasks", "count", field_name="tasks", cell_of_record=lambda size: len(size.n),
               meaning="Number of tasks with attempts."),
               Column("attempts each", cell_of_record=lambda size: _attempts_range_text(size.n),
                      meaning="Smallest and largest number of attempts per task."),
        data_field("attempts", "Number of attempts.", lambda size: int(size.n.sum())),
        data_field("n_min", "", lambda size: int(size.n.min())),
        data_field("n_median", "Median number of attempts per task.",
                   lambda size: float(median(size.n.tolist()))),
        data_field("n_max", "", lambda size: int(size.n.max())),
        Column("pass rate", "share", field_name="pass_rate",
            cell_of_record=lambda size: size.pass_rate,
               meaning="Share of all attempts that passed. pass@1 is the mean over tasks, so it"
               " differs from this share if tasks have different numbers of attempts."),
        replace(data_field("pass_rate_low", "Pass rate if every missing outcome failed.",
                           lambda size: _missing_outcome_pass_rate_limit(size, 0)),
                           exists_in_section=lambda section: section.has_missing_outcomes),
        replace(data_field("pass_rate_high", "Pass rate if every missing outcome passed.",
                           lambda size: _missing_outcome_pass_rate_limit(size, 1)),
                           exists_in_section=lambda section: section.has_missing_outcomes),
        Column("every task supports", cell_of_record=lambda size: f"k ≤ {size.n.min()}",
               meaning="Largest k for which every task has enough attempts."),
               Column("some support", meaning="Largest k for which some tasks have enough"
                      " attempts.",
                      cell_of_record=lambda size: f"k ≤ {size.n.max()} on"
                      f" {(size.n == size.n.max()).sum()}"
               if size.n.max() > size.n.min() else ""),
        data_field("k_every_task", "Largest k for which every task has enough attempts.",
                   lambda size: int(size.n.min())),
        data_field("k_some_task", "Largest k for which some task has enough attempts.",
                   lambda size: int(size.n.max())),
    )  # fmt: skip

    @property
    def has_missing_outcomes(self) -> bool:
        return self.study.counts.missing is not None

    @property
    def has_different_sizes(self) -> bool:
        return len({(len(size.n), size.n.min(), size.n.max()) for size in self.records}) > 1

    def footer_parts(self) -> Iterator[str | OptionHint]:
        if not self.has_different_sizes:
            yield OptionHint("each model")
        elif self.study.counts.read_facts.unclear_outcome_count:
            yield "–: some outcomes neither pass nor fail"

    def tables(self) -> Iterator[Table]:
        for table in super().tables():
            yield replace(table, visibility=ALWAYS if self.has_different_sizes else FULL)


class DescribeRunner(CommandRunner, DescribeOptions):
    sections = (ReadingSummary, ColumnTable, ModelSizeTable)

    reports_metrics: ClassVar[bool] = False
    label_refusal = ""
    tolerates_invalid_data: ClassVar[bool] = True

    def report_without_data(self, options: SharedOptions) -> Report | None:
        if self.init is None:
            return None
        path = self.init
        require_new_file(path)
        draft = MapDraft.from_data(options.source, options.request)
        text = draft.toml_text(path)
        lines = tuple((line,) for line in text.splitlines())
        table = Table((Column(path),), lines)
        answer = tuple(
            first_true_sentence(
                MAP_DRAFT_ANSWERS, {"path": path, "open": [f"{r} =" for r in draft.open_questions]}
            )
        )
        commit = partial(write_map, path, text)
        return Report((table,), lambda: table, write_command_file=commit, answer=answer)

    def report(self, study: Analysis) -> Report:
        # `passk describe` shows labels in columns of their own, so the pass rates are not corrected
        # by the labels.
        study = replace(study, counts=replace(study.counts, attempts={}))
        counts = study.counts
        ends = [counts.with_missing_as(passing=passing).c for passing in (False, True)]
        sizes = []
        for s, series in enumerate(counts.series):
            n = counts.n[counts.slice_of_series(s)]
            low, high = (float(c[counts.slice_of_series(s)].sum() / n.sum()) for c in ends)
            rate = (
                None if counts.read_facts.unclear_outcome_count else number_or_range_cell(low, high)
            )
            sizes.append(ModelSize(series, n, rate))
        odd = [model.series for model in models_lacking_attempts(counts)]
        sizes.sort(key=lambda size: odd.index(size.series) if size.series in odd else len(odd))
        inputs = counts.read_facts.file_readings
        columns = bool(counts.read_facts.described_columns)
        short = list(_file_group_rows(inputs, columns=columns))
        file_facts = [
            fact for file in inputs for fact in _rows_of_file_properties(file, columns=columns)
        ]
        sections: list[ReportSection[Any]] = [
            ReadingSummary(study, [*short, *_data_quality_rows(counts)]),
            ColumnTable(
                study,
                list(_column_rows(counts.read_facts.described_columns)),
                rows_without_full=_MAX_SHOWN_COLUMNS,
            ),
            FilePropertyTable(study, file_facts if set(file_facts) - set(short) else []),
            ModelSizeTable(study, sizes, rows_without_full=max(_MODELS, len(odd))),
        ]
        messages = [message for message in study.messages(()) if message.severity == WARNING]
        report = build_report(study, sections, messages=messages, interval=None)
        column_list = [
            {"role": choice.role, "column": choice.column,
             "option": str(choice.option_assigning_role or ""), "values": choice.value_description,
             "used": choice.has_role, "pooled": choice.varies_within_tasks}
            for choice in counts.read_facts.described_columns
        ]  # fmt: skip
        return replace(report, further_json_lists_by_name={"columns": column_list})


def _column_rows(columns: Sequence[DescribedColumn]) -> Iterator[tuple[str, Cell, str]]:
    used_roles = {choice.role for choice in columns if choice.has_role}
    names = [choice.option_assigning_role or choice.column for choice in columns]
    room = _WIDE - max((len(str(name)) for name in names[:_MAX_SHOWN_COLUMNS]), default=0)
    for choice in columns:
        role = (
            f"or {choice.role}"
            if choice.role in used_roles and not choice.has_role
            else choice.role
        )
        name = (
            PhraseCell((OptionHint("", choice.option_assigning_role),))
            if choice.option_assigning_role
            else choice.column
        )
        yield role, name, truncated_text(choice.value_description, max(room - 14, 20))


def _missing_outcome_pass_rate_limit(size: ModelSize, at: int) -> Cell:
    return size.pass_rate.range_ends[at] if isinstance(size.pass_rate, Estimate) else size.pass_rate


def _file_group_rows(
    inputs: Sequence[FileFormatAndRoles], *, columns: bool
) -> Iterator[PropertyNameAndValue]:
    groups = group_by(inputs, lambda file: (dirname(file.name), file.format, _roles_text(file)))
    if len(groups) == 1 and inputs:
        (_, name), *facts = _rows_of_file_properties(inputs[0], _WIDE, columns=columns)
        several = f"{plural(len(inputs), 'file')}, as {name}"
        yield "file", several if len(inputs) > 1 else name
        yield from facts
        return
    for (folder, form, roles), files in list(groups.items())[:_GROUPS]:
        name = files[0].name if len(files) == 1 else f"{folder or '.'}/ ({len(files):,} files)"
        yield "files", f"{name}: {form}; {roles}"
    if len(groups) > _GROUPS:
        file_count = sum(len(files) for files in list(groups.values())[_GROUPS:])
        hint = OptionHint(f"and {plural(file_count, 'more file')}, read in other ways")
        yield "files", PhraseCell((hint,))


def _rows_of_file_properties(
    file: FileFormatAndRoles, width: int = 0, *, columns: bool = False
) -> Iterator[PropertyNameAndValue]:
    def names(words: Sequence[str]) -> str:
        return names_that_fit(words, width, ", ") if width else ", ".join(words)

    yield "file", file.name
    yield "format", file.format
    if not columns:
        yield "columns", _roles_text(file)
    if len(file.outcome_names) > 1:
        yield "several outcomes", names(file.outcome_names)
    if file.columns_from_path:
        yield "from paths", names(file.columns_from_path)
    facts = [
        (role, column)
        for role, column in file.command_data_column_by_role.items()
        if role not in AMOUNT_UNITS
    ]
    if facts:
        yield "when asked", names([
            f"{role} = {column} ("
            + (", ".join(name + "k" * kind.has_k for name, kind in FAMILIES.items()
                         if kind.required_attempt_data == role) or "passk horizon") + ")"
            for role, column in facts
        ])  # fmt: skip
    if len(facts) < len(file.command_data_column_by_role):
        amounts = [
            (role, file.command_data_column_by_role[role])
            for role in AMOUNT_UNITS
            if role in file.command_data_column_by_role
        ]
        yield "amounts", names([r if r == column else f"{r} = {column}" for r, column in amounts])


def _roles_text(file: FileFormatAndRoles) -> str:
    roles = ", ".join(
        role if role == column else f"{role} = {column}" for role, column in file.roles.items()
    )
    return roles if "model" in file.roles else f"{roles}; model from the label or the file's name"


def _data_quality_rows(counts: Counts) -> Iterator[PropertyNameAndValue]:
    facts = counts.read_facts
    yield from _first_few_rows(
        "read as", [message.text for message in facts.messages if message.severity == NOTE]
    )
    yield "attempts", f"{int(counts.n.sum()):,} in all; per task {_attempts_range_text(counts.n)}"
    missing = f"{plural(facts.missing_outcome_count, 'attempt')} without an outcome"
    outcomes = [missing if facts.missing_outcome_count else "none missing"]
    if facts.unclear_outcome_count:
        outcomes.append(f"{facts.unclear_outcome_count:,} neither pass nor fail")
    yield "outcomes", ", ".join(outcomes)
    yield from _first_few_rows(
        "no outcome",
        list(missing_outcome_words(counts.missing_outcomes, facts.missing_reasons_by_model)),
    )
    if not facts.duplicates_checked:
        yield "duplicates", "cannot be found: attempts have no numbers"
    else:
        yield (
            "duplicates",
            plural(facts.duplicate_count, "row") if facts.duplicate_count else "none",
        )
    if facts.skipped_lines:
        yield "skipped", f"{plural(facts.skipped_lines, 'line')} without a record"


def _first_few_rows(name: str, texts: Sequence[str]) -> Iterator[PropertyNameAndValue]:
    yield from ((name, text) for text in texts[:_GROUPS])
    if len(texts) > _GROUPS:
        yield name, f"and {len(texts) - _GROUPS:,} more"


def _attempts_range_text(n: Ints) -> str:
    low, high = int(n.min()), int(n.max())
    if low == high:
        return str(low)
    values, times = np.unique(n, return_counts=True)
    if len(values) <= 4:
        pairs = sorted(zip(values, times, strict=True), reverse=True)
        detail = ", ".join(f"{count} with {value}" for value, count in pairs)
        return f"{low}–{high} ({detail})"
    return f"{low}–{high}, median {np.median(n):g}"
