"""The formats that are recognised, by kind and one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, NamedTuple

from passk_cli.commands.formats import FormatsOptions
from passk_cli.commands.question import Question, SharedOptions
from passk_cli.files.formats import FORMATS
from passk_cli.files.request import TABLES
from passk_cli.files.roles import ENDED_WORDS
from passk_cli.report.model import FULL, Column, Report, Sentence
from passk_cli.study.section import VERSION, Section

# Columns for names of formats, so that with their kind they fit a terminal of 80.
_WIDE = 70
_KINDS = (
    "harness: of an evaluation harness; general: records and tables; refused: recognised, but"
    " without the outcomes of independent attempts."
)


class KnownFormat(NamedTuple):
    """A format.

    kind : "harness", "general" (records and tables) or "refused".  rule : what passes in it.
    source : where its layout was read.
    """

    name: str
    kind: str
    rule: str
    source: str


@dataclass(frozen=True)
class Kinds(Section[tuple[str, str]]):
    """The names of the formats of each kind, in lines."""

    columns = (
        Column("kind", cell=lambda line: line[0], meaning=_KINDS),
        Column("formats", cell=lambda line: line[1], meaning="Names, as --from takes them."),
    )  # fmt: skip

    def context(self) -> Iterator[str]:
        """Where the rest is."""
        yield "--from NAME reads files as one of them · what passes in each: --full"


@dataclass(frozen=True)
class EachFormat(Section[KnownFormat]):
    """The outcomes that pass in each format, and where its layout was read."""

    shown = FULL
    columns = (
        Column("format", name="format", cell=lambda each: each.name,
               meaning="Its name, as --from takes it."),
        Column("kind", name="kind", cell=lambda each: each.kind, meaning=_KINDS),
        Column("what passes", name="passes", cell=lambda each: each.rule,
               meaning="Which outcomes of a file pass."),
        Column("layout from", name="source", cell=lambda each: each.source,
               meaning="Where its layout was read."),
    )  # fmt: skip

    def answer(self) -> Iterator[Sentence]:
        """How many formats are read, and by what they are recognised."""
        kinds = [each.kind for each in self.records]
        yield (
            f"{kinds.count('harness')} formats of evaluation harnesses are read and"
            f" {kinds.count('general')} of records and tables; content decides, not the file's"
            f" name. {kinds.count('refused')} more are recognised and refused.",
        )

    def details(self) -> Iterator[str]:
        """The values that stand for a missing outcome."""
        yield (
            f"in an outcome column, what is empty is missing, and so is {', '.join(ENDED_WORDS)}"
        )


class Formats(Question, FormatsOptions):
    """The question of `passk formats`."""

    sections = (Kinds, EachFormat)

    def alone(self, asked: SharedOptions) -> Report:
        """The formats, by their kinds and in the order in which a file is tried."""
        no_study: Any = None
        every = []
        for name, form in FORMATS.items():
            source = form.source or "written by scripts, not by one harness"
            every.append(KnownFormat(name, form.kind, form.rule, source))
        rule = "outcome column: true/false, 1/0, pass/fail; scores need --threshold"
        every += [KnownFormat(name, "general", rule, source) for name, source in TABLES.items()]
        lines: list[tuple[str, str]] = []
        for kind in dict.fromkeys(each.kind for each in every):
            names = sorted(each.name for each in every if each.kind == kind)
            text = wrap(", ".join(names), _WIDE, break_on_hyphens=False)
            lines += zip([kind, *[""] * (len(text) - 1)], text, strict=True)
        sections = Kinds(no_study, lines), EachFormat(no_study, every)
        return Report(
            tuple(table for section in sections for table in section.tables()),
            sections[1].data(),
            " · ".join((*sections[0].context(), VERSION)),
            " · ".join(sections[1].details()),
            answer=tuple(sections[1].answer()),
        )
