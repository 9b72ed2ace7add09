"""Section: one question's worth of an answer, its columns declared once.

A command's answer is a list of sections.  A section holds its records and declares how each is
shown: the table in a terminal, the one of --full, the fields of csv and json, the entries of
`passk help COMMAND`, of the documentation and of JSON Schema come from that one declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from passk_cli.report.model import ALWAYS, DATA, Cell, Column, Report, Sentence, Table
from passk_cli.version import __version__

if TYPE_CHECKING:
    from passk_cli.message import Said
    from passk_cli.report.plot import Plot
    from passk_cli.study.fact import Fact
    from passk_cli.study.study import Study

Record = TypeVar("Record")
# What the line below the tables ends with: numbers may change from version to version.
VERSION = f"passk {__version__.rpartition('.')[0]}"


@dataclass(frozen=True)
class Section(Generic[Record]):
    """Records of one kind, how they are shown, and what is said of them.

    title : above its table; "" for none.  shown : ALWAYS, or FULL (with --full).
    columns : how a record is shown, in this order.  first : rows without --full; 0 for all.
    """

    title: ClassVar[str] = ""
    shown: ClassVar[str] = ALWAYS
    columns: ClassVar[tuple[Column, ...]] = ()

    study: Study
    records: Sequence[Record]
    first: int = field(default=0, kw_only=True)

    def facts(self) -> Iterable[Fact]:
        """The records as tidy rows."""
        return ()

    def answer(self) -> Iterable[Sentence]:
        """The answer, of the first section that has one."""
        return ()

    def context(self) -> Iterable[str]:
        """Parts of the one line below the tables."""
        return ()

    def details(self) -> Iterable[str]:
        """Further parts of that line, with --full."""
        return ()

    def messages(self) -> Iterable[Said]:
        """Messages: facts a reader must know beside the answer."""
        return ()

    def plots(self) -> tuple[Plot, ...]:
        """The pictures of the records."""
        return ()

    def tables(self) -> Iterator[Table]:
        """The records as a table; none without records."""
        if self.records:
            yield self.table(self.records, self.title)

    def table(self, records: Sequence[Record], title: str = "") -> Table:
        """These records under the section's columns."""
        columns, cells = self._shown(lambda column: column.shown != DATA)
        rows = tuple(tuple(cell(record) for cell in cells) for record in records)
        return Table(columns, rows, title, self.shown, self.first)

    def data(self) -> Table:
        """The records as rows of their own schema: the columns that have a name, under it."""
        columns, cells = self._shown(lambda column: bool(column.name) or column in (MODEL, GROUPS))
        rows = tuple(tuple(cell(record) for cell in cells) for record in self.records)
        return Table(
            tuple(Column(c.name if c.name and not c.across else c.header) for c in columns), rows
        )

    def _shown(
        self, wanted: Callable[[Column], bool]
    ) -> tuple[tuple[Column, ...], list[Callable[[Record], Cell]]]:
        """These of the columns, repeated where they are, and what gives the cells of each."""
        columns: list[Column] = []
        cells: list[Callable[[Record], Cell]] = []
        for column in filter(wanted, self.columns):
            if column.cell is None or (column.where is not None and not column.where(self)):
                continue
            if column.across is None:
                columns.append(column)
                cells.append(column.cell)
                continue
            for item in column.across(self):
                kind = column.units(self, item) if column.units else column.kind
                header, meaning = column.header.format(item), column.meaning.format(item)
                shown = getattr(item, "shown", column.shown)
                columns.append(
                    replace(column, header=header, meaning=meaning, kind=kind, shown=shown)
                )
                cells.append(partial(_of_item, column.cell, item))
        return tuple(columns), cells


def _of_item(cell: Callable[[Any, Any], Cell], item: Any, record: Any) -> Cell:
    return cell(record, item)


def data_field(name: str, meaning: str = "", cell: Callable[[Any], Cell] | None = None) -> Column:
    """A field of csv, json and Python that no table has.

    cell : of a section's own schema; None where facts bring it.
    """
    return Column("", meaning=meaning, name=name, shown=DATA, cell=cell)


MODEL = Column(
    "model", name="model", meaning="The model or agent, as the files name it.",
    cell=lambda record: record.series[0],
)  # fmt: skip
AGAINST = Column(
    "against", meaning="The model it is compared with; differences are model minus this one.",
    cell=lambda record: record.against,
)  # fmt: skip
GROUPS = Column(
    "{0[1]}", meaning="The column {0[1]} of the data, by which models are split (--by).",
    cell=lambda record, item: record.series[1 + item[0]],
    across=lambda section: enumerate(section.study.counts.group_names),
    example=(0, "COLUMN"),
)  # fmt: skip


def view(
    study: Study,
    sections: Sequence[Section[Any]],
    *,
    context: Iterable[str] = (),
    messages: Iterable[Said] = (),
    **decided: Any,
) -> Report:
    """The report of a command: its sections in reading order.

    The answer is that of the sections together; pictures are those of the first that has some.
    context : parts of the line below the tables that come before the sections' own.
    messages : what is said of the data as a whole.  decided : as in `Study.report`.
    """

    def plots() -> tuple[Plot, ...]:
        return next((drawn for section in sections if (drawn := section.plots())), ())

    return study.report(
        [fact for section in sections for fact in section.facts()],
        [table for section in sections for table in section.tables()],
        answer=tuple(sentence for section in sections for sentence in section.answer()),
        context=(
            *context, *(part for section in sections for part in section.context()), VERSION,
        ),
        details=[part for section in sections for part in section.details()],
        messages=(*messages, *(said for section in sections for said in section.messages())),
        plots=plots,
        **decided,
    )  # fmt: skip
