"""Commands: a question with its options, the groups it shares, and how it is answered."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import BOUNDS, Request
from passk_cli.message import Message
from passk_cli.option import DeclaredOption, changed, declared, filled, named_files, sections_of
from passk_cli.report.model import DATA
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.rules import Rules
    from passk_cli.study.section import Section
    from passk_cli.study.study import Study

    class Read(Protocol):
        """Reads what a request asks for, from whatever the caller gave: files, a frame, counts."""

        def __call__(self, request: Request, source: Any = None, /) -> Counts:
            """source : data to read instead, as in `SharedOptions`."""


# The title of the options that only one command has.
OWN = "Options"
_EXAMPLE = "\n\nExample: "


@dataclass(frozen=True, eq=False, repr=False)
class SharedOptions:
    """The shared options, by group, as the user set them.

    source : what the data is given as: paths, rows, columns, a table, Counts; None for no data.
    """

    request: Request
    metrics: Metrics
    confidence: Confidence
    rules: Rules
    source: Any = None

    @property
    def data(self) -> bool:
        """Whether there is data to read."""
        return self.source is not None

    @property
    def once(self) -> bool:
        """Whether it can be read only once, as a pipe can."""
        from passk_cli.files.arguments import comes_once

        return comes_once(self.source)

    @property
    def files(self) -> list[str]:
        """Where it lies; none for data that lies in no files."""
        from passk_cli.files.arguments import paths_of

        return paths_of(self.source)


@dataclass(frozen=True, eq=False, repr=False)
class Question:
    """Base of the commands: fields are options, the docstring is the help, `report` the answer."""

    # Whether outcomes that are neither pass nor fail are counted instead of refused.
    tolerant: ClassVar[bool] = False
    # Why it says nothing of missing outcomes that may pass or fail; "" where it does.
    unbounded: ClassVar[str] = ""
    # Option → why it says nothing of them, and what to do.
    unbounded_options: ClassVar[Mapping[str, str]] = {}
    # Options that keep something beside a file of output, and mean nothing without one.
    beside_output: ClassVar[tuple[str, ...]] = ()
    # Whether it looks itself for temperatures where there is no column of them.
    finds_temperatures: ClassVar[bool] = False

    @property
    def exports(self) -> list[str]:
        """Files of columns that are to be written beside the report."""
        return named_files(type(self), vars(self), "written")

    def request(self, options: SharedOptions) -> Request:
        """The request to read."""
        return replace(
            options.request, cluster=options.confidence.cluster, **options.metrics.reading
        )

    def alone(self, options: SharedOptions) -> Report | None:
        """The report where no data is needed; None where it is."""
        return None

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Any, ...]:
        """The metrics it is about, of those the data supports."""
        return options.metrics.of(counts)

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data and what is asked of it."""
        from passk_cli.study.study import Study

        _ = options.confidence.method  # refused before anything is read
        counts = read(self.request(options))
        metrics = self.metrics(options, counts)
        confidence = options.confidence.for_metrics(metrics)
        hint = options.metrics.hint(counts)
        asked = bool(options.metrics.k or options.metrics.metrics)
        short = options.metrics.short_tasks
        return Study(counts, metrics, confidence, options.rules, short, hint, asked)

    def report(self, study: Study) -> Report:
        """The answer."""
        raise NotImplementedError

    def refuse_ranges(self) -> None:
        """ParameterError where it, or an option that is given, has no answer for missing outcomes
        that may pass or fail."""
        if self.unbounded:
            raise ParameterError(
                f"--missing {BOUNDS}: {self.unbounded}; use --missing fail or --missing drop",
                name="no-bounds",
            )
        given = changed(self)
        for option, reason in self.unbounded_options.items():
            if option.split()[0] in given:
                raise ParameterError(
                    f"{option}: with --missing {BOUNDS} {reason}", name="no-bounds"
                )


@dataclass(frozen=True, eq=False, repr=False)
class Command:
    """A question with the option groups it shares.

    groups : of Request, Metrics, Confidence, Rules, those whose options it takes; a field of the
        question stands instead of the group's field of the same name.
    without : fields of the groups that mean nothing to it.
    files : whether it takes files: "needed", "optional" or "none".
    streams : whether its answer is a table of any length, in the file that its option `output`
        names, and the report only about it.
    charts : whether its report can be drawn.  paged : whether it is a page.
    judges : whether its report is a verdict, so that an error, which keeps it from one, has to show
        where pipelines look.
    methods : whether it says how its numbers were computed, as a paper does.
    view : the module that has the sections of its answer, as SECTIONS, and its messages.
    """

    question: type[Question]
    groups: tuple[type, ...]
    without: tuple[str, ...] = ()
    files: str = "needed"
    streams: bool = False
    charts: bool = False
    paged: bool = False
    judges: bool = False
    methods: bool = False
    view: str = ""

    def shown(self) -> tuple[type[Section[Any]], ...]:
        """The sections of its answer, in reading order: what its columns and fields mean."""
        sections: tuple[type[Section[Any]], ...] = ()
        if self.view:
            sections = import_module(self.view).SECTIONS
        return sections

    @property
    def meaning(self) -> list[str]:
        """Its purpose, in paragraphs; the first is one line, for lists of commands."""
        return (inspect.getdoc(self.question) or "").split(_EXAMPLE)[0].split("\n\n")

    @property
    def examples(self) -> list[str]:
        """Command lines that run as they are beside `sample_data`."""
        return (inspect.getdoc(self.question) or "").split(_EXAMPLE)[1:]

    def sections(self) -> Iterator[tuple[str, list[DeclaredOption]]]:
        """Title and options of each group, the question's own first."""
        for group, options in sections_of((self.question, *self.groups), self.without):
            if group is not self.question:
                yield group.title, options  # type: ignore[attr-defined]
                continue
            for title, fields in self.own_titles.items():
                yield title, [option for option in options if option[0] in fields]

    @property
    def own_titles(self) -> dict[str, list[str]]:
        """Title → its own options: those of the classes that declare them, then OWN."""
        titles: dict[str, list[str]] = {}
        for field in declared(self.question):
            owner = next(c for c in self.question.__mro__ if field in inspect.get_annotations(c))
            title = OWN if owner is self.question else getattr(owner, "title", OWN)
            titles.setdefault(title, []).append(field)
        if OWN in titles:
            titles[OWN] = titles.pop(OWN)
        return titles

    def columns(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Title of each table, and the header and meaning of its columns; each column once."""
        known: set[tuple[str, str]] = set()
        for section in self.shown():
            columns = [column.stated for column in section.columns if column.shown != DATA]
            rows = [(c.header, c.meaning) for c in columns if c.meaning]
            if new := [row for row in dict.fromkeys(rows) if row not in known]:
                yield section.title, new
            known.update(rows)

    def fields(self) -> dict[str, str]:
        """Name → meaning, of the fields of its rows in csv, json and Python."""
        from passk_cli.study.fact import FIELDS
        from passk_cli.study.section import Section

        sections = self.shown()
        common = {column.name: column.meaning for column in FIELDS}
        every = {column.name: column.meaning or common.get(column.name, "")
                 for section in sections for column in section.columns if column.name}  # fmt: skip
        # Rows of sections without facts are their records.
        facts = not sections or any(each.facts is not Section.facts for each in sections)
        return {**common, **every} if facts else every

    def said(self) -> dict[str, Message]:
        """Name → message, of those that its answer may come with besides those of reading."""
        names = vars(import_module(self.view)) if self.view else {}
        return {m.name: m for m in names.values() if isinstance(m, Message)}

    def options(self) -> Iterator[DeclaredOption]:
        """Every option, the question's own first."""
        return (option for _, options in self.sections() for option in options)

    def ask(self, given: Mapping[str, Any], source: Any = None) -> tuple[Question, SharedOptions]:
        """The question and the shared options, from what was given for them.

        given : field → value, as text from the command line or as Python has it.
        source : the data, as in `SharedOptions`.
        Errors: ParameterError for a value that an option does not know, or files that are missing.
        """
        from passk_cli.study.rules import Rules

        own = declared(self.question)
        question = filled(self.question, {k: v for k, v in given.items() if k in own})
        if self.files == "needed" and source is None:
            raise ParameterError("no files given", name="no-files")
        shared = {k: v for k, v in given.items() if k not in own}
        request, metrics = filled(Request, shared), filled(Metrics, shared)
        confidence, rules = filled(Confidence, shared), filled(Rules, shared)
        if confidence.bounds is not None:
            request = replace(request, lowest=confidence.bounds[0])
        return question, SharedOptions(request, metrics, confidence, rules, source)


def answer(
    question: Question,
    options: SharedOptions,
    read: Read,
    judged: Callable[[Report], Report] = lambda report: report,
) -> Report:
    """The report of a question about what `read` finds; its exports are written.

    judged : the report with the messages that are wanted, or an error, before anything is written.
    """
    if question.exports:
        from passk_cli.files.export import export_form

        for path in question.exports:
            export_form(Path(path))
    report = question.alone(options)
    if report is None:
        report = question.report(question.study(options, _reader(question, options, read)))
    report = judged(report)
    if report.exports:
        from passk_cli.files.export import write_columns

        for path, columns in report.exports.items():
            write_columns(Path(path), columns)
    return report


def _reader(question: Question, options: SharedOptions, read: Read) -> Read:
    """`read` as a question needs it.

    Outcomes that may pass or fail are refused where it, or one of its options, has no answer for
    them.  Where there is no column of temperatures, they are those in the names of models.
    """

    def counts_of(request: Request, source: Any = None) -> Counts:
        if request.missing == BOUNDS and question.unbounded:
            question.refuse_ranges()
        request = replace(request, ends=not question.unbounded)
        try:
            counts = read(request, source)
        except DataError as error:
            from passk_cli.study.temperature_names import COLUMNS, by_names

            wanted = [name for name in request.by if name in COLUMNS]
            absent = len(wanted) == 1 and error.problem == f"no column {wanted[0]!r}"
            # What comes through a pipe cannot be read a second time; what is converted is rows.
            lasting = not (question.finds_temperatures or options.once or request.conversion)
            if not (absent and lasting):
                raise
            others = tuple(name for name in request.by if name not in COLUMNS)
            counts = by_names(read(replace(request, by=others), source), request.by)
        if counts.missing is not None:
            question.refuse_ranges()
        return counts

    return counts_of
