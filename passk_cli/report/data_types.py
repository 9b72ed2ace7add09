"""The data types of a report, which commands return and renderers write as text or files."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from passk_cli.diagnostic import WARNING, Diagnostic, fill_template
from passk_cli.errors import DataError, ParameterError
from passk_cli.suggested_fix import FULL_DETAILS_OPTION, OptionWithValue, SuggestedFix
from passk_cli.text import plural, printable, printable_json

if TYPE_CHECKING:
    from passk_cli.report.plot import Plot

# Amounts are in US dollars, tokens, seconds and turns (or steps). "ratio" is a ratio of two
# amounts, "%" is a relative change, and "min" is a time, which is shown in seconds, minutes or
# hours.
AMOUNT_UNITS = ("$", "tokens", "s", "turns", "ratio", "%", "min", "days")


@dataclass(frozen=True)
class Estimate:
    """An estimate with its interval, or the reason why the estimate is missing.

    value : the estimate, or None.  If missing outcomes make the estimate a range, `value` is the
        lower end.
    range_upper_end : upper end of the range, or None if the estimate is not a range.
    reason : why the value or a limit is missing or of limited use.
    signed : whether a positive value has a plus sign, for example in a difference.
    is_significantly_best : whether the value is significantly the best value, and therefore bold.
    tie_or_equivalence_sign : the sign before the value: "~" for a tie, "=" for equivalence.
    tie_letters : letters after the value.  Two estimates that share a letter do not differ
        significantly.
    unit : "share" (in [0, 1], or a difference of shares), "score" (a number with an unknown unit),
        or one of QUANTITIES.
    """

    value: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    signed: bool = False
    is_significantly_best: bool = False
    unit: str = "share"
    tie_or_equivalence_sign: str = ""
    range_upper_end: float | None = None
    tie_letters: str = ""

    @property
    def is_share(self) -> bool:
        """Whether the estimate may be shown as a percentage."""
        return self.unit == "share"

    @property
    def without_interval(self) -> Estimate:
        """The estimate without its interval and its standard error."""
        return replace(self, se=None, low=None, high=None)

    @property
    def value_or_midpoint(self) -> float | None:
        """The value, or the middle of the limits if there is no value, for sorting."""
        if self.value is not None or self.low is None or self.high is None:
            return self.value
        return (self.low + self.high) / 2

    @property
    def value_or_limits(self) -> Cell:
        """The estimate, or the limits only if the value is missing."""
        only = self.value is None and self.low is not None and self.high is not None
        return Limits(self.low, self.high) if only else self

    @property
    def range_ends(self) -> tuple[float | None, float | None]:
        """The two ends of the range of the estimate.

        Both ends equal the value if the estimate is not a range.
        """
        return self.value, self.value if self.range_upper_end is None else self.range_upper_end


@dataclass(frozen=True)
class Limits:
    """The limits of an interval without the estimate.

    The field `reason` explains why a limit is None.
    """

    low: float | None
    high: float | None
    reason: str = ""


@dataclass(frozen=True)
class PhraseCell:
    """A table cell that contains words and numbers."""

    pieces: Sentence


Cell = str | int | float | Estimate | Limits | PhraseCell | None

# A sentence consists of words and numbers. A plain float is printed as a share. Any other number is
# paired with a column, which sets the unit and the rounding.
Sentence = tuple["Cell | OptionHint | tuple[Cell, Column]", ...]


class AnswerSentence(tuple[Any, ...]):
    """A sentence of a report, with the name, the template and the fields from which it was made.

    >>> sentence = AnswerSentence("tasks-left", "{left:task} left.", {"left": 2})
    >>> sentence, sentence.name, sentence.fields
    (('2 tasks', ' left.'), 'tasks-left', {'left': 2})
    """

    name: str
    template: str
    fields: Mapping[str, Any]

    def __new__(cls, name: str, template: str, fields: Mapping[str, Any]) -> AnswerSentence:
        sentence = super().__new__(cls, filter(None, fill_template(template, fields)))
        sentence.name, sentence.template, sentence.fields = name, template, fields
        return sentence

    def with_prefix(self, words: str, **fields: Any) -> AnswerSentence:
        """The sentence after a prefix, which may contain further fields."""
        return AnswerSentence(self.name, words + self.template, {**fields, **self.fields})

    def __reduce__(self) -> tuple[type[AnswerSentence], tuple[str, str, Mapping[str, Any]]]:
        return AnswerSentence, (self.name, self.template, self.fields)


@dataclass(frozen=True)
class OptionHint:
    """A hint that an option shows more details.

    The command line, Python and the report page write the option differently.  A hint about --full
    is shown only if a table is shortened.

    >>> str(OptionHint("each task")), str(OptionHint("other budgets", OptionWithValue("--at")))
    ('each task: --full', 'other budgets: --at')
    """

    words: str
    option: OptionWithValue | SuggestedFix = FULL_DETAILS_OPTION

    def __str__(self) -> str:
        return self.text(str)

    def text(self, spelling: Callable[[OptionWithValue | SuggestedFix], str]) -> str:
        """The hint as text.  The function `spelling` writes the option."""
        return ": ".join(filter(None, (self.words, spelling(self.option))))


def number_or_range_cell(low: float, high: float, unit: str = "share") -> Cell:
    """A single number if both ends are equal, or else an estimate that is a range."""
    return Estimate(low, range_upper_end=high, unit=unit) if high > low else low


# A column or table is shown always (ALWAYS), only with --full (FULL), only without --full (BRIEF),
# only in csv, json and Python (DATA), only in comments on pull requests (COMMENT), or only in wide
# terminals, which draw its estimates as bars (WIDE).
ALWAYS, FULL, DATA, BRIEF, COMMENT, WIDE = "always", "full", "data", "brief", "comment", "wide"


@dataclass(frozen=True)
class Column:
    """A column of a table, which is also a field of csv and json and an entry of the reference.

    header : the heading of the column.  For a number in a sentence, `header` is the unit with
        --percent ("%" if `header` is empty).
    kind : "text", "count", "share" (in [0, 1], or a difference of shares; obeys --percent), "fine"
        (a share with two more decimals, because small values matter), "given" (a share that an
        option sets, with all of its digits), "score" (a number with an unknown unit), "amount"
        (money or a ratio, with two decimals), "number" (of any size, with four significant digits),
        "points" (a difference of shares, in percentage points), "p" (a p-value), "strip" (attempts
        in their order, "+" passed and "-" failed) or one of QUANTITIES.
    stays_with_previous : whether the column must stay next to the previous column.
    meaning : one sentence, for --full, `passk help COMMAND`, the documentation and JSON Schema.
    field_name : the name in csv, json and Python, or "" if the column appears only in tables.
    visibility : ALWAYS, FULL (only with --full), WIDE or DATA (only in csv, json and Python).
    cell_of_record : a function that takes a record (and an item, if the column is repeated) and
        returns the cell.  `cell_of_record` is None for columns that appear only in csv and json.
    repeated_items : a function that takes the section and returns the items of a repeated column.
        The table repeats the column for each item.  The name of the item replaces {} in `header`
        and `meaning`.
    exists_in_section : a function that takes the section and returns whether the section has the
        column.
    kind_of_item : a function that takes the section and the item, and returns the kind of the
        column, if items have different kinds.
    example : the item that replaces {} in the documentation.
    """

    header: str
    kind: str = "text"
    stays_with_previous: bool = False
    meaning: str = ""
    field_name: str = ""
    visibility: str = ALWAYS
    cell_of_record: Callable[..., Cell] | None = field(default=None, compare=False, repr=False)
    repeated_items: Callable[[Any], Iterable[Any]] | None = field(
        default=None, compare=False, repr=False
    )
    exists_in_section: Callable[[Any], bool] | None = field(default=None, compare=False, repr=False)
    kind_of_item: Callable[[Any, Any], str] | None = field(default=None, compare=False, repr=False)
    example: Any = field(default=None, compare=False, repr=False)

    @property
    def column_of_example_item(self) -> Column:
        """The column for the documentation, in which `example` is the item of a repeated column."""
        if self.repeated_items is None or self.example is None:
            return self
        header, meaning = (text.format(self.example) for text in (self.header, self.meaning))
        return replace(self, header=header, meaning=meaning)

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers, which are aligned to the right."""
        return self.kind not in ("text", "strip")


NUMBER_IN_POINTS_FORMAT = Column("points", "share")


@dataclass(frozen=True)
class Table:
    """A table, which consists of columns, and of rows with one cell per column.

    visibility : ALWAYS, FULL (only with --full), BRIEF (only without --full) or COMMENT (only in
        the Markdown of `passk gate`).
    rows_without_full : number of rows that are shown without --full, or 0 for all rows.
    tied_leader_count : number of models that tie for the first rank, or 0 if no models tie.
    """

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    title: str = ""
    visibility: str = ALWAYS
    rows_without_full: int = 0
    tied_leader_count: int = 0

    def with_columns_of_visibility(self, shown: Container[str]) -> Table:
        """The table with only the columns that have one of the given values of `visibility`."""
        places = [at for at, column in enumerate(self.columns) if column.visibility in shown]
        columns = tuple(self.columns[at] for at in places)
        return replace(
            self, columns=columns, rows=LazyRows.from_rows(self.rows).select_columns(places)
        )

    def with_fewer_rows(self, most: int = 0) -> Table:
        """The table with only some of its rows.

        most : maximum number of rows, or 0 if there is no maximum.  Rows with the most frequent
            verdict are left out first.  If a table exceeds the maximum by at most four rows, all
            rows are shown.
        """
        rows = LazyRows.from_rows(self.rows)
        if self.rows_without_full:
            rows = rows.rows_at(range(self.rows_without_full))
        if most and len(rows) > most + 4:
            judges = [at for at, column in enumerate(self.columns) if column.header == "verdict"]
            verdicts = [str(cell) for (cell,) in rows.select_columns(judges)] if judges else []
            frequent = max(verdicts, key=verdicts.count, default="")
            others = [at for at, verdict in enumerate(verdicts) if verdict != frequent][:most]
            places = [at for at in range(len(rows)) if at not in others]
            rows = rows.rows_at(sorted([*others, *places[: most - len(others)]]))
        return replace(self, rows=rows)


@dataclass(frozen=True, eq=False, repr=False)
class LazyRows(Sequence[tuple[Cell, ...]]):
    """Rows of a table with cells that are computed when they are first used.

    cell_functions : for each column, a function that takes a record and returns the cell.
    """

    records: Sequence[Any]
    cell_functions: Sequence[Callable[[Any], Cell]]

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[Cell, ...]]) -> LazyRows:
        """Lazy rows (computed when first used) from rows of any kind."""
        if isinstance(rows, LazyRows):
            return rows
        return cls(rows, [itemgetter(at) for at in range(len(rows[0]) if rows else 0)])

    def select_columns(self, places: Sequence[int]) -> LazyRows:
        """The rows with only the columns that have the given indices."""
        return LazyRows(self.records, [self.cell_functions[at] for at in places])

    def rows_at(self, places: Sequence[int]) -> LazyRows:
        """The rows at the given indices, without indices beyond the last row."""
        return LazyRows(
            [self.records[at] for at in places if at < len(self.records)], self.cell_functions
        )

    @cached_property
    def _computed_rows(self) -> tuple[tuple[Cell, ...], ...]:
        return tuple(tuple(cell(record) for cell in self.cell_functions) for record in self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, at: Any) -> Any:
        return self._computed_rows[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._computed_rows == tuple(other)


@dataclass(frozen=True, eq=False, repr=False)
class GateCheck:
    """One rule of `passk gate` for one model, with its verdict and evidence.

    verdict : "pass", "fail", "undecided", or "error" if the rule cannot be checked.
    details : further facts, for example what the verdict does not include.
    failing : whether the gate fails because of this check.  Undecided checks fail the gate only if
        --on-undecided is fail.
    finding : a clause about the evidence.
    """

    model: str
    rule: str
    verdict: str
    details: tuple[str, ...] = ()
    failing: bool = False
    finding: Sentence = ()


# The sign ⚠ marks a cell that readers of a leaderboard must not overlook.
WARNING_SIGN = "\u26a0"


class LeaderboardRow(NamedTuple):
    """One model of a leaderboard.

    estimates : one estimate per metric, with letters for ties.
    ranks : for each metric, the ranks that tests allow, for example "1" or "1–3"; "" if there is
        no test.
    """

    model: str
    estimates: tuple[Estimate, ...]
    ranks: tuple[str, ...]
    extra_cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard:
    """A leaderboard, which sorts models by the first metric from the best to the worst."""

    metrics: tuple[Column, ...]
    extra_columns: tuple[Column, ...]
    entries: tuple[LeaderboardRow, ...]

    @property
    def table(self) -> Table:
        """The leaderboard as a table, with ranks and ties by the first metric."""
        ranked = any(entry.ranks[0] for entry in self.entries)
        lettered = any(entry.estimates[0].tie_letters for entry in self.entries)
        heads = [Column("rank")] * ranked + [Column("model"), self.metrics[0]]
        rows = []
        for model, numbers, places, extra_cells in self.entries:
            ties = [numbers[0].tie_letters] * lettered
            further_numbers = (
                replace(number.without_interval, tie_letters="") for number in numbers[1:]
            )
            rows.append(
                (*places[:ranked], model, numbers[0], *ties, *further_numbers, *extra_cells)
            )
        heads += [Column("ties")] * lettered
        return Table((*heads, *self.metrics[1:], *self.extra_columns), tuple(rows))


@dataclass(frozen=True, eq=False, repr=False)
class TaskGrid:
    """The result of every model at every task.

    distinct_results : the distinct results.  A result is "++-" for three attempts in their order,
        "2/3" if the order is not known, or "" if there are no attempts.
    result_codes : for each model and task, the index of the result in `distinct_results`.
    transcript_url_template : URL template of a transcript with {model}, {task} and optionally
        {attempt}, or "".
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    distinct_results: tuple[str, ...]
    result_codes: Sequence[Sequence[int]]
    transcript_url_template: str = ""
    first_attempt_number: int = 1


@dataclass(frozen=True, eq=False, repr=False)
class ChangedTaskSentences:
    """Sentences about the tasks that changed between a baseline and a run.

    summary : sentence about the number of flips, and the number of flips expected by chance.
    significant_lines : one line per task that changed significantly.
    insignificant_lines : one line per task that flipped but did not change significantly.
    """

    summary: str
    significant_lines: tuple[str, ...] = ()
    insignificant_lines: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class ReportPagePanel:
    """A part of a report page, with the report of one command and instructions for the reader.

    name, title : the anchor of the panel on the page, and the heading of the panel.
    instructions : two sentences that explain how to read the panel.
    is_in_page_answer : whether the answer at the top of the page includes the panel's answer.
    board : a leaderboard that the page shows instead of tables and charts.
    grid : results of every model at every task, which the page shows below the tables.
    """

    name: str
    title: str
    instructions: str
    report: Report
    is_in_page_answer: bool = False
    board: Leaderboard | None = None
    grid: TaskGrid | None = None


@dataclass(frozen=True, eq=False, repr=False)
class TaskGroupChapter:
    """The panels about one group of tasks, for example a benchmark.

    title : name of the group of tasks, or "" if the page has only one chapter.
    """

    title: str
    panels: tuple[ReportPagePanel, ...]
    answer: tuple[AnswerSentence, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class ReportPage:
    """The content of a report page, which consists of chapters with panels.

    omissions : sentences about results that the page does not show, with the reason.
    command : the command line that made the page, or "" if a Python function made the page.
    date : the date of a published leaderboard, or "" for other pages.
    """

    title: str
    chapters: tuple[TaskGroupChapter, ...]
    omissions: tuple[str, ...] = ()
    command: str = ""
    date: str = ""


class Reference(NamedTuple):
    """A cited publication with its label, for example "Chen et al. 2021", and its BibTeX entry."""

    label: str
    bibtex: str


@dataclass(frozen=True, eq=False, repr=False)
class MethodsText:
    """Sentences for a paper about how results were computed."""

    text: str
    references: Mapping[str, Reference]

    def text_with_citations(self, form: Callable[[Sequence[str]], str]) -> str:
        """The text with citations.  The function `form` writes the citation of the given keys."""
        return re.sub(r" \[(@[^\]]+)\]", lambda m: form(re.findall(r"@(\w+)", m[1])), self.text)

    @property
    def text_with_author_year_citations(self) -> str:
        """The text with citations in parentheses."""
        return self.text_with_citations(
            lambda keys: f" ({'; '.join(self.references[key].label for key in keys)})"
        )

    @property
    def bibtex(self) -> str:
        """The BibTeX entries of all references."""
        return "\n".join(reference.bibtex for reference in self.references.values())


class ProvisionalGateResult(NamedTuple):
    """A result that replaces the outcome of all checks, such as "not yet", and its exit code."""

    result: str
    exit_code: int


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The results of a command, as plain data for every output format.

    make_data_rows : a function that returns the rows of csv and json, one row per result.
    context : parts of the line below the tables, for example the number of tasks.
    make_full_context : a function that returns the parts of the line below the tables that only
        --full shows.
    make_signature : a function that returns the signature: the options on which the results depend.
    exports : for each file that an option requests, the path of the file and the columns (name →
        array).
    write_command_file : a function that writes a file of the command, for example a history. passk
        checks --error before the call.
    make_changed_tasks : a function that returns the changed tasks, which CI shows with the checks.
    provisional : a result that replaces the outcome of the checks, or None if the checks decide.
    further_json_lists_by_name : further lists by name, which json contains in addition to the rows.
    page : the reports of several commands on the same data, for output as one page.
    """

    tables: tuple[Table, ...] = ()
    make_data_rows: Callable[[], Table] = lambda: Table((), ())
    context: tuple[str | OptionHint, ...] = ()
    make_full_context: Callable[[], Iterable[str]] = tuple
    messages: tuple[Diagnostic, ...] = ()
    make_signature: Callable[[], Mapping[str, object]] = dict
    checks: tuple[GateCheck, ...] = ()
    make_plots: Callable[[], tuple[Plot, ...]] = tuple
    exports: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    write_command_file: Callable[[], object] | None = None
    answer: tuple[AnswerSentence, ...] = ()
    provisional: ProvisionalGateResult | None = None
    make_changed_tasks: Callable[[], tuple[ChangedTaskSentences, ...]] = tuple
    further_json_lists_by_name: Mapping[str, Sequence[Mapping[str, Any]]] = field(
        default_factory=dict
    )
    page: ReportPage | None = None
    make_methods_text: Callable[[], MethodsText] | None = None

    @cached_property
    def signature(self) -> Mapping[str, object]:
        """The options on which the results depend, by name."""
        return self.make_signature()

    @cached_property
    def plots(self) -> tuple[Plot, ...]:
        """The charts of the report."""
        return self.make_plots()

    @cached_property
    def data_table(self) -> Table:
        """The rows of csv and json.

        Errors: ParameterError if a group column has the same name as a column of passk.
        """
        table = self.make_data_rows()
        names = [column.header for column in table.columns]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ParameterError(
                OptionWithValue("--by", twice),
                "the output already has a column with this name; rename the column in the data",
                name="reserved-column",
            )  # fmt: skip
        return table

    def plots_in_picture(self, full: bool) -> tuple[Plot, ...]:
        """The plots of a picture.

        The picture contains plots that need --full only if there are no other plots.
        """
        return tuple(plot for plot in self.plots if full or not plot.only_with_full) or self.plots

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The messages with the severity "warning"."""
        return tuple(message for message in self.messages if message.severity == WARNING)

    @property
    def changed_task_lines(self) -> tuple[str, ...]:
        """A summary of the changed tasks, followed by one line per changed task."""
        groups = (
            (c.summary, *c.significant_lines, *c.insignificant_lines)
            for c in self.make_changed_tasks()
        )
        return tuple(line for lines in groups for line in lines)

    @property
    def gate_result_word(self) -> str:
        """The result of a gate: "pass", "fail", the provisional result, or "" if nothing was
        checked.
        """
        if self.provisional is not None:
            return self.provisional.result
        if not self.checks:
            return ""
        return "fail" if any(check.failing for check in self.checks) else "pass"

    @property
    def exit_code(self) -> int:
        """The exit code of the command.

        The exit code is 0 without failing checks, 1 if a check fails, and 3 if no check fails but a
        rule cannot be checked.  A provisional result has its own exit code.
        """
        if self.provisional is not None:
            return self.provisional.exit_code
        failing = {check.verdict for check in self.checks if check.failing}
        if not failing:
            return 0
        return DataError.exit_code if failing == {"error"} else 1


# _DATA_OPTION_DEFAULTS maps options that change the data that passk uses to their default values.
_DATA_OPTION_DEFAULTS = {
    "missing": "error", "duplicates": "error", "unpaired": "fail", "short-tasks": "empty",
    **dict.fromkeys(("skip-bad", "pool", "alias", "exclude-task", "only-task", "where"), ""),
}  # fmt: skip


def message_counts_and_changed_options(report: Report) -> str:
    """A short line about warnings, notes and changed options, such as "1 note · missing fail"."""
    notes = len(report.messages) - len(report.warnings)
    numbers = ((len(report.warnings), "warning"), (notes, "note"))
    counts = ", ".join(plural(number, noun) for number, noun in numbers if number)
    policies = (
        f"{name} {value}" for name, value in report.signature.items()
        if value != _DATA_OPTION_DEFAULTS.get(name, value)
    )  # fmt: skip
    return " · ".join(filter(None, (counts, *policies)))


def options_signature_line(report: Report) -> str:
    """The signature as one line, for example `passk=0.1.0 metrics=pass@1,10 …`.

    Values with blanks or quotes are written as JSON strings, so that programs can split the line.
    """
    pairs = []
    for name, text in ((name, str(value)) for name, value in report.signature.items()):
        needs_quotes = any(c.isspace() or c in '"\\' for c in text)
        pairs.append(f"{name}={printable_json(text) if needs_quotes else printable(text)}")
    return " ".join(pairs)
