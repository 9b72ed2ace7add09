"""The shapes a result takes on its way to a renderer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from passk_cli.diagnostic import WARNING, Diagnostic, filled
from passk_cli.errors import DataError, ParameterError
from passk_cli.suggested_fix import FULL_OPTION, OptionValue, SuggestedFix
from passk_cli.text import plural, printable, strict_json

if TYPE_CHECKING:
    from passk_cli.report.plot import Plot

# Units of what attempts use: US dollars, tokens, seconds, turns or steps; a ratio of two such; and
# minutes of a person, written as seconds, minutes or hours; days.
QUANTITIES = ("$", "tokens", "s", "turns", "ratio", "%", "min", "days")


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, or the reason why there is none.

    value : the estimate, or None with the reason.  upper : where it is a range, its upper end, and
        `value` is the lower one.
    se : standard error.  low, high : interval limits.  Each None where there is none.
    reason : why a value (or limit) is missing, or what qualifies it.
    signed : shown with its sign, as differences are.
    marked : best, and distinguishable from the second; shown bold where bold exists.
    verdict : a sign shown before the value: "~" not significant, "=" equivalent.
    letters : shown after the value: numbers that share one do not differ significantly.
    unit : "share" (in [0, 1] or a difference of such, and so may be shown as a percentage),
        "score" (of no known unit), or one of QUANTITIES; "%" is a change as a share, shown as a
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
    def share(self) -> bool:
        """Whether it may be shown as a percentage."""
        return self.unit == "share"

    @property
    def without_interval(self) -> Estimate:
        """It without its interval and its error, which stand elsewhere."""
        return replace(self, se=None, low=None, high=None)

    @property
    def middle(self) -> float | None:
        """The value, or the middle of the limits: what ranges are sorted by; None without these."""
        if self.value is not None or self.low is None or self.high is None:
            return self.value
        return (self.low + self.high) / 2

    @property
    def value_or_limits(self) -> Cell:
        """It, or its limits if there are only these."""
        only = self.value is None and self.low is not None and self.high is not None
        return Limits(self.low, self.high) if only else self

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The lower and upper end; the value twice where it is no range."""
        return self.value, self.value if self.upper is None else self.upper


@dataclass(frozen=True)
class Limits:
    """An interval on its own, beside an estimate in another column; None limits carry a reason."""

    low: float | None
    high: float | None
    reason: str = ""


@dataclass(frozen=True)
class Phrase:
    """Words with numbers between them, as a cell."""

    pieces: Sentence


Cell = str | int | float | Estimate | Limits | Phrase | None

# What is said: words, and between them numbers, rounded as those of the tables.  A float is a
# share; a number of another kind comes as a pair with its column.
Sentence = tuple["Cell | Hint | tuple[Cell, Column]", ...]


class AnswerSentence(tuple[Any, ...]):
    """A sentence that was declared: it knows its name and the fields behind its words.

    >>> said = AnswerSentence("tasks-left", "{left:task} left.", {"left": 2})
    >>> said, said.name, said.fields
    (('2 tasks', ' left.'), 'tasks-left', {'left': 2})
    """

    name: str
    template: str
    fields: Mapping[str, Any]

    def __new__(cls, name: str, template: str, fields: Mapping[str, Any]) -> AnswerSentence:
        sentence = super().__new__(cls, filter(None, filled(template, fields)))
        sentence.name, sentence.template, sentence.fields = name, template, fields
        return sentence

    def after(self, words: str, **fields: Any) -> AnswerSentence:
        """The sentence with words before it, in which fields are named as in its template."""
        return AnswerSentence(self.name, words + self.template, {**fields, **self.fields})

    def __reduce__(self) -> tuple[type[AnswerSentence], tuple[str, str, Mapping[str, Any]]]:
        return AnswerSentence, (self.name, self.template, self.fields)


@dataclass(frozen=True)
class Hint:
    """Words that say where more is: by an option, which each door spells in its own way.

    One at --full stands only where not everything is shown.

    >>> str(Hint("each task")), str(Hint("other budgets", OptionValue("--at")))
    ('each task: --full', 'other budgets: --at')
    """

    words: str
    option: OptionValue | SuggestedFix = FULL_OPTION

    def __str__(self) -> str:
        return self.spelled(str)

    def spelled(self, spelling: Callable[[OptionValue | SuggestedFix], str]) -> str:
        """The words with the option in a spelling."""
        return ": ".join(filter(None, (self.words, spelling(self.option))))


def number_or_range(low: float, high: float, unit: str = "share") -> Cell:
    """A number, or a range of numbers where the two differ."""
    return Estimate(low, upper=high, unit=unit) if high > low else low


# Where a column or a table is shown: always, with --full, or in csv, json and Python alone; a table
# also only without --full, which has a longer one for it, or in the comment on a pull request.
ALWAYS, FULL, DATA, BRIEF, COMMENT = "always", "full", "data", "brief", "comment"


@dataclass(frozen=True)
class Column:
    """A column of a table, a field of csv and json, an entry of the reference: one object.

    header : what people read above it.  Of a number in a sentence, its unit under --percent; "%"
        where empty.
    kind : "text", "count", "share" (in [0, 1] or a difference of such; obeys --percent), "fine" (a
        share of which small values matter: two decimals more), "given" (a share that was asked for,
        in as many digits as it has), "score" (a number of no known unit), "amount" (money or a
        ratio: two decimals), "number" (of any size: four significant digits), "points" (a
        difference of shares, in percentage points), "p" (a p-value), "strip" (attempts in their
        order, "+" passed and "-" failed) or one of QUANTITIES.
    joined : belongs to the column before it; the two are never shown apart.
    meaning : one sentence, for --full, `passk help COMMAND`, the documentation and JSON Schema.
    name : its name in csv, json and Python; "" where it is in none.
    shown : ALWAYS, FULL (with --full) or DATA (in csv, json and Python alone).
    cell : (record) → cell; of a repeated column (record, item) → cell; None of a field of csv and
        json alone.
    across : (section) → items; the column is there once for each, with the item in its header and
        meaning where they have {}.  example : stands for an item where there is no data, as in
        references.
    where : (section) → whether it is there.  units : (section, item) → kind, where that depends.
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
        """The column as references have it: of a repeated one, that of its example."""
        if self.across is None or self.example is None:
            return self
        header, meaning = (text.format(self.example) for text in (self.header, self.meaning))
        return replace(self, header=header, meaning=meaning)

    @property
    def numeric(self) -> bool:
        """Whether its cells are numbers, which are ranged right."""
        return self.kind not in ("text", "strip")


# The kind of a difference of shares in a sentence.
POINTS = Column("points", "share")


@dataclass(frozen=True)
class Table:
    """Columns and rows; every row has one cell per column.

    shown : ALWAYS, FULL (with --full), BRIEF (without) or COMMENT (a gate's Markdown).  first : so
        many rows without --full; 0 for all.
    """

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    title: str = ""
    shown: str = ALWAYS
    first: int = 0

    def shortened(self, most: int = 0) -> Table:
        """It without what only --full shows: its first rows and the columns that decide.

        most : so many rows, where there are clearly more and none has a verdict; 0 for any number.
        """
        visible = [at for at, column in enumerate(self.columns) if column.shown == ALWAYS]
        columns = tuple(self.columns[at] for at in visible)
        rows = LazyRows.from_rows(self.rows).select(visible, self.first or None)
        judges = any(column.header == "verdict" for column in columns)
        if most and len(rows) > most + 4 and not judges:
            rows = rows.select(range(len(columns)), most)
        return replace(self, columns=columns, rows=rows)


@dataclass(frozen=True, eq=False, repr=False)
class LazyRows(Sequence[tuple[Cell, ...]]):
    """Rows of a table whose cells are computed once they are looked at.

    records : one a row.  cells : what gives the cell of each column.
    """

    records: Sequence[Any]
    cells: Sequence[Callable[[Any], Cell]]

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[Cell, ...]]) -> LazyRows:
        """Any rows as such, where they are not already."""
        if isinstance(rows, LazyRows):
            return rows
        return cls(rows, [itemgetter(at) for at in range(len(rows[0]) if rows else 0)])

    def select(self, places: Sequence[int], first: int | None) -> LazyRows:
        """The first rows alone, and of their cells those in these places."""
        return LazyRows(self.records[:first], [self.cells[at] for at in places])

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
class Check:
    """One rule of a gate about one model: what speaks for it, and a verdict.

    verdict : "pass", "fail", "undecided", or "error" when the rule cannot be checked.
    details : what else the reader has to know, such as what the verdict leaves out.
    failing : whether it shuts the gate, which errors do, and undecided ones when asked to.
    finding : what the evidence shows, as a clause.
    """

    model: str
    rule: str
    verdict: str
    details: tuple[str, ...] = ()
    failing: bool = False
    finding: Sentence = ()


# The mark of a cell that a reader of a leaderboard must not overlook.
MARK = "\u26a0"


class BoardRow(NamedTuple):
    """A model of a leaderboard.

    numbers : one for each metric of the board, with the letters of its ties.
    places : the ranks that the tests leave open at each metric, "1" or "1–3"; "" without a test.
    others : cells of the other columns.
    """

    model: str
    numbers: tuple[Estimate, ...]
    places: tuple[str, ...]
    extra_cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Board:
    """A leaderboard: models by their first metric, the best first.

    metrics, others : columns of the numbers, and of what else differs between models.
    """

    metrics: tuple[Column, ...]
    extra_columns: tuple[Column, ...]
    entries: tuple[BoardRow, ...]

    @property
    def table(self) -> Table:
        """The board at its first metric."""
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

    models : the best first.  tasks : by name.
    results : the different ones: "++-" in the order of the attempts, "2/3" where that is not known,
        "" without attempts.
    codes : of each model the place of its result at each task among these.
    link : address of a transcript with {model} and {task}, maybe {attempt}; "" for none.
    first : the number of a model's first attempt.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    results: tuple[str, ...]
    codes: Sequence[Sequence[int]]
    link: str = ""
    first: int = 1


@dataclass(frozen=True, eq=False, repr=False)
class ChangedTasks:
    """The tasks of a run that changed against its baseline, in words.

    summary : how many flipped, and how many chance alone flips.
    significant : a line per task that changed beyond chance.  others : per task that flipped.
    """

    summary: str
    significant: tuple[str, ...] = ()
    insignificant: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Panel:
    """A part of a page: what one command found, and how to read it.

    name : its address on the page; title : above it.
    how : how to read it, in two sentences.
    answered : whether its answer is part of the page's own, which stands above all panels.
    board, grid : what a page shows instead of tables and pictures, and below the tables.
    """

    name: str
    title: str
    how: str
    report: Report
    answered: bool = False
    board: Board | None = None
    grid: TaskGrid | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Chapter:
    """The panels about one group of tasks, such as a benchmark; title "" where there is one."""

    title: str
    panels: tuple[Panel, ...]
    answer: tuple[AnswerSentence, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """Panels to be read as one document.

    absent : what is not shown and why, in sentences.
    command : the command line that made it; "" where none did.
    date : of a leaderboard to be published, which is all there is of the page; "" of others.
    """

    title: str
    sections: tuple[Chapter, ...]
    absent: tuple[str, ...] = ()
    command: str = ""
    date: str = ""


class Reference(NamedTuple):
    """A publication: as a sentence cites it, and its entry in BibTeX."""

    label: str
    bibtex: str


@dataclass(frozen=True, eq=False, repr=False)
class Methods:
    """How numbers were computed, as a paper says it.

    text : sentences with citations, "[@key; @other]".  references : key → reference.
    """

    text: str
    references: Mapping[str, Reference]

    def cited(self, form: Callable[[Sequence[str]], str]) -> str:
        """The text with citations as `form` makes them of their keys."""
        return re.sub(r" \[(@[^\]]+)\]", lambda m: form(re.findall(r"@(\w+)", m[1])), self.text)

    @property
    def words(self) -> str:
        """The text with citations in parentheses."""
        return self.cited(
            lambda keys: f" ({'; '.join(self.references[key].label for key in keys)})"
        )

    @property
    def bibtex(self) -> str:
        """The entries of its references."""
        return "\n".join(reference.bibtex for reference in self.references.values())


class Provisional(NamedTuple):
    """The result of a report while its checks do not decide, as "not yet", and its exit code."""

    result: str
    exit_code: int


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The answer of a command.

    tables : for people, in reading order.
    rows : makes the same facts tidy, when they are asked for: a row per fact, full precision, for
        programs.
    context : parts of one line under the tables: what was counted, and how certain it is.
    explain : makes what else that line says with --full, part by part.
    messages : what a reader must know beside the answer.
    sign : makes the signature: name → value, enough to reproduce the numbers; options by their
        names.
    checks : the rules of a gate; empty for other reports.
    draw : makes the pictures of the same facts, in reading order, when they are asked for.
    exports : file → its columns (name → array), which were asked for beside the report.
    commit : writes what the command is for, once no message stands against it.
    answer : what was found, in a sentence or two above the tables.
    changes : finds the tasks that changed, which a gate's formats for pipelines show besides its
        checks, when they are asked for.
    provisional : what it comes to while its checks do not decide; None if they do.
    lists : further lists of the same facts, by name, which json has beside the rows.
    page : what other commands found of the same data, where it is all shown as one document.
    methods : makes the sentences of a paper that say how the numbers were computed.
    """

    tables: tuple[Table, ...] = ()
    rows: Callable[[], Table] = lambda: Table((), ())
    context: tuple[str | Hint, ...] = ()
    explain: Callable[[], Iterable[str]] = tuple
    messages: tuple[Diagnostic, ...] = ()
    sign: Callable[[], Mapping[str, object]] = dict
    checks: tuple[Check, ...] = ()
    draw: Callable[[], tuple[Plot, ...]] = tuple
    exports: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    commit: Callable[[], object] | None = None
    answer: tuple[AnswerSentence, ...] = ()
    provisional: Provisional | None = None
    changes: Callable[[], tuple[ChangedTasks, ...]] = tuple
    lists: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    page: Document | None = None
    methods: Callable[[], Methods] | None = None

    @cached_property
    def signature(self) -> Mapping[str, object]:
        """Name → value of all that the numbers depend on, made when it is first asked for."""
        return self.sign()

    @cached_property
    def plots(self) -> tuple[Plot, ...]:
        """The pictures, made when they are first asked for."""
        return self.draw()

    @cached_property
    def data(self) -> Table:
        """The tidy rows, made when they are first asked for.

        Errors: ParameterError when a group column has the name of another column.
        """
        table = self.rows()
        names = [column.header for column in table.columns]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ParameterError(
                OptionValue("--by", twice),
                "the output has a column of that name; rename it in the data",
                name="reserved-column",
            )  # fmt: skip
        return table

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The messages that say why the numbers mean less than they seem."""
        return tuple(message for message in self.messages if message.severity == WARNING)

    @property
    def changed_lines(self) -> tuple[str, ...]:
        """The tasks that changed, a line each."""
        groups = ((c.summary, *c.significant, *c.insignificant) for c in self.changes())
        return tuple(line for lines in groups for line in lines)

    @property
    def result(self) -> str:
        """Of a gate: "pass" or "fail", or what it is while checks do not decide; "" for other
        reports."""
        if self.provisional is not None:
            return self.provisional.result
        if not self.checks:
            return ""
        return "fail" if any(check.failing for check in self.checks) else "pass"

    @property
    def exit_code(self) -> int:
        """Of the command: 0, also when all checks hold; 1 when one fails; 3 when none fails and one
        cannot be done; another one while checks do not decide."""
        if self.provisional is not None:
            return self.provisional.exit_code
        failing = {check.verdict for check in self.checks if check.failing}
        if not failing:
            return 0
        return DataError.exit_code if failing == {"error"} else 1


# What may be done to the data, and what is usual.
_POLICIES = {
    "missing": "error", "duplicates": "error", "unpaired": "fail", "short-tasks": "empty",
    **dict.fromkeys(("skip-bad", "pool", "alias", "exclude-task", "only-task", "where"), ""),
}  # fmt: skip


def caveats(report: Report) -> str:
    """A line on what a report's numbers rest on: "2 warnings, 1 note · missing fail"; "" where
    there is nothing to say."""
    notes = len(report.messages) - len(report.warnings)
    numbers = ((len(report.warnings), "warning"), (notes, "note"))
    counts = ", ".join(plural(number, noun) for number, noun in numbers if number)
    policies = (
        f"{name} {value}" for name, value in report.signature.items()
        if value != _POLICIES.get(name, value)
    )  # fmt: skip
    return " · ".join(filter(None, (counts, *policies)))


def signature_line(report: Report) -> str:
    """`passk=0.1.0 metrics=pass@1,10 …`: pairs in the order of the signature, quoted as in JSON
    where a value has blanks or quotes, so that programs can take the line apart."""
    pairs = []
    for name, text in ((name, str(value)) for name, value in report.signature.items()):
        needs = any(c.isspace() or c in '"\\' for c in text)
        pairs.append(f"{name}={strict_json(text) if needs else printable(text)}")
    return " ".join(pairs)
