"""The data types of a report: what a command gives to the renderers."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from passk_cli.diagnostic import WARNING, Diagnostic, fill_template
from passk_cli.errors import DataError, ParameterError
from passk_cli.suggested_fix import FULL_OPTION, OptionValue, SuggestedFix
from passk_cli.text import plural, printable, strict_json

if TYPE_CHECKING:
    from passk_cli.report.plot import Plot

# Units of what attempts use: US dollars, tokens, seconds, and turns or steps. "ratio" is a ratio of
# two amounts, "%" a change, and "min" the minutes of a person, in seconds, minutes or hours.
QUANTITIES = ("$", "tokens", "s", "turns", "ratio", "%", "min", "days")


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, or the reason why it is missing.

    value : the estimate, or None with the reason.  upper : the upper end if the estimate is a
        range; `value` is then the lower end.
    se : standard error.  low, high : interval limits.  Each is None if it is missing.
    reason : why a value (or limit) is missing, or what qualifies it.
    signed : whether a plus sign is shown, as for differences.
    marked : whether it is the best, and distinguishable from the second; bold if the format has it.
    verdict : a sign before the value: "~" not significant, "=" equivalent.
    letters : letters after the value; numbers that share a letter do not differ significantly.
    unit : "share" (in [0, 1], or a difference of shares; may be shown as a percentage), "score" (a
        number with an unknown unit), or one of QUANTITIES; "%" is a change as a share, shown as a
        percentage.
    """

    value: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    signed: bool = False
    marked: bool = False
    unit: str = "share"
    verdict: str = ""
    upper: float | None = None
    letters: str = ""

    @property
    def is_share(self) -> bool:
        """Whether the number may be shown as a percentage."""
        return self.unit == "share"

    @property
    def without_interval(self) -> Estimate:
        """The estimate without its interval and error, which another column shows."""
        return replace(self, se=None, low=None, high=None)

    @property
    def middle(self) -> float | None:
        """The value, or the middle of the limits, by which ranges are sorted; None without both."""
        if self.value is not None or self.low is None or self.high is None:
            return self.value
        return (self.low + self.high) / 2

    @property
    def value_or_limits(self) -> Cell:
        """The estimate, or only its limits if the value is missing."""
        only = self.value is None and self.low is not None and self.high is not None
        return Limits(self.low, self.high) if only else self

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The lower and the upper end; both are the value if it is not a range."""
        return self.value, self.value if self.upper is None else self.upper


@dataclass(frozen=True)
class Limits:
    """An interval in a column next to its estimate; if a limit is None, `reason` explains why."""

    low: float | None
    high: float | None
    reason: str = ""


@dataclass(frozen=True)
class Phrase:
    """A cell that contains words and numbers."""

    pieces: Sentence


Cell = str | int | float | Estimate | Limits | Phrase | None

# A sentence consists of words and of numbers, which are rounded as in the tables.  A float is a
# share.  A number of another kind is a pair of the number and its column.
Sentence = tuple["Cell | OptionHint | tuple[Cell, Column]", ...]


class AnswerSentence(tuple[Any, ...]):
    """A declared sentence, with its name and the fields of its template.

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
        """The sentence with words in front, which may contain fields as its template does."""
        return AnswerSentence(self.name, words + self.template, {**fields, **self.fields})

    def __reduce__(self) -> tuple[type[AnswerSentence], tuple[str, str, Mapping[str, Any]]]:
        return AnswerSentence, (self.name, self.template, self.fields)


@dataclass(frozen=True)
class OptionHint:
    """Words that name the option which shows more.

    The command line, Python and the report page each write the option in their own way.  A hint to
    --full appears only if something is left out.

    >>> str(OptionHint("each task")), str(OptionHint("other budgets", OptionValue("--at")))
    ('each task: --full', 'other budgets: --at')
    """

    words: str
    option: OptionValue | SuggestedFix = FULL_OPTION

    def __str__(self) -> str:
        return self.text(str)

    def text(self, spelling: Callable[[OptionValue | SuggestedFix], str]) -> str:
        """The words with the option as `spelling` writes it."""
        return ": ".join(filter(None, (self.words, spelling(self.option))))


def number_or_range(low: float, high: float, unit: str = "share") -> Cell:
    """One number if both ends are equal, else a range."""
    return Estimate(low, upper=high, unit=unit) if high > low else low


# A column or a table is shown always, only with --full, or only in csv, json and Python.  BRIEF is
# a table that --full replaces with a longer one.  COMMENT is for comments on pull requests.  WIDE
# is a column of estimates that wide terminals draw as bars.
ALWAYS, FULL, DATA, BRIEF, COMMENT, WIDE = "always", "full", "data", "brief", "comment", "wide"


@dataclass(frozen=True)
class Column:
    """A column of a table, which is also a field of csv and json and an entry of the reference.

    header : the heading that people read.  For a number in a sentence it is the unit under
        --percent ("%" if empty).
    kind : "text", "count", "share" (in [0, 1], or a difference of shares; obeys --percent), "fine"
        (a share with two more decimals, because small values matter), "given" (a share that an
        option sets, with all of its digits), "score" (a number with an unknown unit), "amount"
        (money or a ratio, with two decimals), "number" (of any size, with four significant digits),
        "points" (a difference of shares, in percentage points), "p" (a p-value), "strip" (attempts
        in their order, "+" passed and "-" failed) or one of QUANTITIES.
    joined : whether the column always appears next to the column before it.
    meaning : one sentence, for --full, `passk help COMMAND`, the documentation and JSON Schema.
    name : the name in csv, json and Python; "" if the column is in none of them.
    shown : ALWAYS, FULL (with --full), WIDE or DATA (only in csv, json and Python).
    cell : (record) → cell; for a repeated column (record, item) → cell; None for a field that only
        csv and json contain.
    across : (section) → items; the column is repeated for each item, which replaces {} in header
        and meaning.  example : replaces {} if there is no data, for example in references.
    where : (section) → whether the column exists.  units : (section, item) → kind, if it depends.
    """

    header: str
    kind: str = "text"
    joined: bool = False
    meaning: str = ""
    name: str = ""
    shown: str = ALWAYS
    cell: Callable[..., Cell] | None = field(default=None, compare=False, repr=False)
    across: Callable[[Any], Iterable[Any]] | None = field(default=None, compare=False, repr=False)
    where: Callable[[Any], bool] | None = field(default=None, compare=False, repr=False)
    units: Callable[[Any, Any], str] | None = field(default=None, compare=False, repr=False)
    example: Any = field(default=None, compare=False, repr=False)

    @property
    def with_example(self) -> Column:
        """The column as a reference lists it: a repeated column is shown with its example."""
        if self.across is None or self.example is None:
            return self
        header, meaning = (text.format(self.example) for text in (self.header, self.meaning))
        return replace(self, header=header, meaning=meaning)

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers, which are aligned right."""
        return self.kind not in ("text", "strip")


# Column of a difference of shares in a sentence.
POINTS = Column("points", "share")


@dataclass(frozen=True)
class Table:
    """Columns and rows; every row has one cell per column.

    shown : ALWAYS, FULL (with --full), BRIEF (without) or COMMENT (a gate's Markdown).
    first : the number of rows that are shown without --full; 0 for all.
    leaders : the number of first rows that tie for the first place; 0 if none do.
    """

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    title: str = ""
    shown: str = ALWAYS
    first: int = 0
    leaders: int = 0

    def with_columns(self, shown: Container[str]) -> Table:
        """The table with only the columns that these values of `Column.shown` select."""
        places = [at for at, column in enumerate(self.columns) if column.shown in shown]
        columns = tuple(self.columns[at] for at in places)
        return replace(self, columns=columns, rows=LazyRows.from_rows(self.rows).select(places))

    def shortened(self, most: int = 0) -> Table:
        """The first rows of the table.

        most : the number of rows to which a clearly longer table is cut; 0 for any number.  Rows
            with the most frequent verdict are left out first.
        """
        rows = LazyRows.from_rows(self.rows)
        if self.first:
            rows = rows.at(range(self.first))
        if most and len(rows) > most + 4:
            judges = [at for at, column in enumerate(self.columns) if column.header == "verdict"]
            verdicts = [str(cell) for (cell,) in rows.select(judges)] if judges else []
            frequent = max(verdicts, key=verdicts.count, default="")
            others = [at for at, verdict in enumerate(verdicts) if verdict != frequent][:most]
            places = [at for at in range(len(rows)) if at not in others]
            rows = rows.at(sorted([*others, *places[: most - len(others)]]))
        return replace(self, rows=rows)


@dataclass(frozen=True, eq=False, repr=False)
class LazyRows(Sequence[tuple[Cell, ...]]):
    """Rows of a table; their cells are computed when they are first read.

    records : one per row.  cells : for each column, the function from a record to its cell.
    """

    records: Sequence[Any]
    cells: Sequence[Callable[[Any], Cell]]

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[Cell, ...]]) -> LazyRows:
        """Any rows as lazy rows; lazy rows are returned as they are."""
        if isinstance(rows, LazyRows):
            return rows
        return cls(rows, [itemgetter(at) for at in range(len(rows[0]) if rows else 0)])

    def select(self, places: Sequence[int]) -> LazyRows:
        """The rows with only the columns at these places."""
        return LazyRows(self.records, [self.cells[at] for at in places])

    def at(self, places: Sequence[int]) -> LazyRows:
        """The rows at these places, as far as they exist."""
        return LazyRows([self.records[at] for at in places if at < len(self.records)], self.cells)

    @cached_property
    def _computed(self) -> tuple[tuple[Cell, ...], ...]:
        return tuple(tuple(cell(record) for cell in self.cells) for record in self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, at: Any) -> Any:
        return self._computed[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._computed == tuple(other)


@dataclass(frozen=True, eq=False, repr=False)
class GateCheck:
    """One rule of a gate for one model, with its verdict and evidence.

    verdict : "pass", "fail", "undecided", or "error" if the rule cannot be checked.
    details : further facts for the reader, for example what the verdict leaves out.
    failing : whether the check fails the gate.  Failures and errors do; undecided checks do if an
        option says so.
    finding : what the evidence shows, as a clause.
    """

    model: str
    rule: str
    verdict: str
    details: tuple[str, ...] = ()
    failing: bool = False
    finding: Sentence = ()


# The mark of a cell that readers of a leaderboard must not overlook.
MARK = "\u26a0"


class LeaderboardRow(NamedTuple):
    """A model of a leaderboard.

    numbers : one for each metric of the board, with the letters of its ties.
    places : the ranks that are possible at each metric according to the tests, for example "1" or
        "1–3"; "" without a test.
    extra_cells : cells of the extra columns.
    """

    model: str
    numbers: tuple[Estimate, ...]
    places: tuple[str, ...]
    extra_cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard:
    """A leaderboard: models in the order of their first metric, the best first.

    metrics : columns of the numbers.  extra_columns : columns of other differences between models.
    """

    metrics: tuple[Column, ...]
    extra_columns: tuple[Column, ...]
    entries: tuple[LeaderboardRow, ...]

    @property
    def table(self) -> Table:
        """The board as a table, with the ranks and ties of its first metric."""
        ranked = any(entry.places[0] for entry in self.entries)
        lettered = any(entry.numbers[0].letters for entry in self.entries)
        heads = [Column("rank")] * ranked + [Column("model"), self.metrics[0]]
        rows = []
        for model, numbers, places, extra_cells in self.entries:
            ties = [numbers[0].letters] * lettered
            further_numbers = (
                replace(number.without_interval, letters="") for number in numbers[1:]
            )
            rows.append(
                (*places[:ranked], model, numbers[0], *ties, *further_numbers, *extra_cells)
            )
        heads += [Column("ties")] * lettered
        return Table((*heads, *self.metrics[1:], *self.extra_columns), tuple(rows))


@dataclass(frozen=True, eq=False, repr=False)
class TaskGrid:
    """The result of every model at every task.

    models : the best first.  tasks : in the order of their names.
    results : the distinct results: "++-" in the order of the attempts, "2/3" if the order is not
        known, "" without attempts.
    codes : for each model and task, the index of the result in `results`.
    link : address of a transcript with {model} and {task}, and optionally {attempt}; "" for none.
    first_attempt : the number of the first attempt of a model.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    results: tuple[str, ...]
    codes: Sequence[Sequence[int]]
    link: str = ""
    first_attempt: int = 1


@dataclass(frozen=True, eq=False, repr=False)
class ChangedTasks:
    """The tasks that changed between a baseline and a run, in words.

    summary : how many tasks flipped, and how many flips to expect by chance.
    significant : a line per task that changed significantly.
    insignificant : a line per task that flipped without a significant change.
    """

    summary: str
    significant: tuple[str, ...] = ()
    insignificant: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Panel:
    """A part of a page: the report of one command, and how to read it.

    name : the address on the page.  title : the heading.
    instructions : how to read the panel, in two sentences.
    is_in_page_answer : whether the answer at the top of the page contains the panel's answer.
    board : a leaderboard that a page shows instead of tables and pictures.  grid : the results at
        every task, below the tables.
    """

    name: str
    title: str
    instructions: str
    report: Report
    is_in_page_answer: bool = False
    board: Leaderboard | None = None
    grid: TaskGrid | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Chapter:
    """The panels of one group of tasks, for example a benchmark; title is "" for a lone chapter."""

    title: str
    panels: tuple[Panel, ...]
    answer: tuple[AnswerSentence, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """The content of a page: chapters with panels.

    omissions : what is not shown and why, in sentences.
    command : the command line that made the page; "" if Python made it.
    date : the date of a leaderboard that you publish; "" for other pages.
    """

    title: str
    sections: tuple[Chapter, ...]
    omissions: tuple[str, ...] = ()
    command: str = ""
    date: str = ""


class Reference(NamedTuple):
    """A publication: the label with which a sentence cites it, and its BibTeX entry."""

    label: str
    bibtex: str


@dataclass(frozen=True, eq=False, repr=False)
class MethodsText:
    """How the numbers were computed, in the words of a paper.

    text : sentences with citations, "[@key; @other]".  references : key → reference.
    """

    text: str
    references: Mapping[str, Reference]

    def text_with_citations(self, form: Callable[[Sequence[str]], str]) -> str:
        """The text with its citations written by `form`, a function of their keys."""
        return re.sub(r" \[(@[^\]]+)\]", lambda m: form(re.findall(r"@(\w+)", m[1])), self.text)

    @property
    def plain_text(self) -> str:
        """The text with citations in parentheses."""
        return self.text_with_citations(
            lambda keys: f" ({'; '.join(self.references[key].label for key in keys)})"
        )

    @property
    def bibtex(self) -> str:
        """The BibTeX entries of all references."""
        return "\n".join(reference.bibtex for reference in self.references.values())


class ProvisionalResult(NamedTuple):
    """The result before the checks of a report decide, for example "not yet", and its exit code."""

    result: str
    exit_code: int


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The result of a command, as plain data that every renderer reads.

    tables : for people, in reading order.
    rows : function that makes the tidy table for programs: a row per fact at full precision.
    context : parts of the line under the tables: what was counted, and how certain it is.
    explain : function that makes the further parts which --full adds to that line.
    messages : notes and warnings.
    sign : function that makes the signature, name → value, which is enough to reproduce the
        numbers; options have their own names.
    checks : the rules of a gate; empty for other reports.
    draw : function that makes the plots, in reading order.
    exports : file → columns (name → array) of a file that an option asks for.
    commit : function that writes the output of the command, after --error has been checked.
    answer : one or two sentences above the tables.
    changes : function that finds the changed tasks, which a gate's formats for pipelines show
        together with its checks.
    provisional : the result before the checks decide; None if they decide.
    lists : further lists of the same facts, by name, which json contains in addition to the rows.
    page : the reports of several commands on the same data, if they are shown as one document.
    methods : function that makes the sentences of a paper on how the numbers were computed.
    """

    tables: tuple[Table, ...] = ()
    rows: Callable[[], Table] = lambda: Table((), ())
    context: tuple[str | OptionHint, ...] = ()
    explain: Callable[[], Iterable[str]] = tuple
    messages: tuple[Diagnostic, ...] = ()
    sign: Callable[[], Mapping[str, object]] = dict
    checks: tuple[GateCheck, ...] = ()
    draw: Callable[[], tuple[Plot, ...]] = tuple
    exports: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    commit: Callable[[], object] | None = None
    answer: tuple[AnswerSentence, ...] = ()
    provisional: ProvisionalResult | None = None
    changes: Callable[[], tuple[ChangedTasks, ...]] = tuple
    lists: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    page: Document | None = None
    methods: Callable[[], MethodsText] | None = None

    @cached_property
    def signature(self) -> Mapping[str, object]:
        """Name → value of everything that the numbers depend on, computed at the first use."""
        return self.sign()

    @cached_property
    def plots(self) -> tuple[Plot, ...]:
        """The plots, computed at the first use."""
        return self.draw()

    @cached_property
    def data(self) -> Table:
        """The tidy rows, computed at the first use.

        Errors: ParameterError if a group column has the name of another column.
        """
        table = self.rows()
        names = [column.header for column in table.columns]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ParameterError(
                OptionValue("--by", twice),
                "the output already has a column of that name; rename the column in the data",
                name="reserved-column",
            )  # fmt: skip
        return table

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The messages that explain why the numbers mean less than they seem to."""
        return tuple(message for message in self.messages if message.severity == WARNING)

    @property
    def changed_lines(self) -> tuple[str, ...]:
        """One line per changed task, after a line that sums them up."""
        groups = ((c.summary, *c.significant, *c.insignificant) for c in self.changes())
        return tuple(line for lines in groups for line in lines)

    @property
    def gate_result(self) -> str:
        """The result of a gate: "pass", "fail", or the provisional one; "" for other reports."""
        if self.provisional is not None:
            return self.provisional.result
        if not self.checks:
            return ""
        return "fail" if any(check.failing for check in self.checks) else "pass"

    @property
    def exit_code(self) -> int:
        """The exit code of the command.

        It is 0 without failing checks, 1 if a check fails, and 3 if none fails but one cannot be
        checked.  A provisional result has its own code.
        """
        if self.provisional is not None:
            return self.provisional.exit_code
        failing = {check.verdict for check in self.checks if check.failing}
        if not failing:
            return 0
        return DataError.exit_code if failing == {"error"} else 1


# Policies that change which data count, and their default values.
_POLICIES = {
    "missing": "error", "duplicates": "error", "unpaired": "fail", "short-tasks": "empty",
    **dict.fromkeys(("skip-bad", "pool", "alias", "exclude-task", "only-task", "where"), ""),
}  # fmt: skip


def caveats(report: Report) -> str:
    """Warnings, notes and policies of a report in a line: "2 warnings, 1 note · missing fail".

    The line is "" if there are none.
    """
    notes = len(report.messages) - len(report.warnings)
    numbers = ((len(report.warnings), "warning"), (notes, "note"))
    counts = ", ".join(plural(number, noun) for number, noun in numbers if number)
    policies = (
        f"{name} {value}" for name, value in report.signature.items()
        if value != _POLICIES.get(name, value)
    )  # fmt: skip
    return " · ".join(filter(None, (counts, *policies)))


def signature_line(report: Report) -> str:
    """The signature as a line: `passk=0.1.0 metrics=pass@1,10 …`.

    Values with blanks or quotes are written as JSON strings, so that programs can split the line.
    """
    pairs = []
    for name, text in ((name, str(value)) for name, value in report.signature.items()):
        needs_quotes = any(c.isspace() or c in '"\\' for c in text)
        pairs.append(f"{name}={strict_json(text) if needs_quotes else printable(text)}")
    return " ".join(pairs)
