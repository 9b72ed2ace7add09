"""The reports of `passk formats`: all recognised formats, or one format with an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from textwrap import wrap
from typing import Any, NamedTuple

from passk_cli.commands.formats import FormatsOptions
from passk_cli.commands.runner import CommandRunner, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.formats import FORMAT_NAMES, FORMATS, TABLE_EXAMPLES
from passk_cli.files.formats.format import Example
from passk_cli.files.request import SPECIFICATION_BY_TABLE_FORMAT
from passk_cli.files.roles import ENDED_WITHOUT_VERDICT_WORDS
from passk_cli.report.data_types import FULL, Column, OptionHint, Report, Table
from passk_cli.study.answer import Answer
from passk_cli.study.section import FOOTER_VERSION_TEXT, ReportSection, data_field
from passk_cli.suggested_fix import OptionWithValue
from passk_cli.suggestions import did_you_mean, did_you_mean_or_list

# A line is at most _MAX_LINE_WIDTH characters wide, so that tables fit into a terminal of 80
# columns.
_MAX_LINE_WIDTH = 66
_KINDS_MEANING = (
    "harness (written by an evaluation harness), general (records and tables) or refused"
    " (recognised, but the files do not contain outcomes of independent attempts)."
)
_REFUSED_KIND = "refused"


class RecognisedFormat(NamedTuple):
    """A format that passk recognises.

    kind : "harness", "general" (records and tables) or "refused" (passk does not read the files).
    pass_rule : which outcomes pass.
    documentation : documentation from which passk knows the layout.
    example : a small file.
    """

    name: str
    kind: str
    pass_rule: str
    documentation: str
    example: Example


def recognised_formats() -> list[RecognisedFormat]:
    """All formats, in the order in which passk tries them when it reads a file."""
    formats = []
    for name, form in FORMATS.items():
        source = form.layout_documentation or "written by scripts, not by one harness"
        formats.append(RecognisedFormat(name, form.kind, form.pass_rule, source, form.example))
    rule = "outcome column: true/false, 1/0, pass/fail; scores need a threshold"
    tables = (
        RecognisedFormat(n, "general", rule, s, TABLE_EXAMPLES[n])
        for n, s in SPECIFICATION_BY_TABLE_FORMAT.items()
    )
    return [*formats, *tables]


def unknown_format_error(name: str) -> ParameterError:
    word = name.lower()
    inside = [known_name for known_name in FORMAT_NAMES if word in known_name]
    question = did_you_mean_or_list(word, FORMAT_NAMES, "`passk formats` lists them")
    question = did_you_mean(inside[:3]) if inside else question
    return ParameterError(f"no format is named {name!r}; {question}", name="unknown-name")


def complete_format_names(incomplete: str) -> list[str]:
    return [name for name in sorted(FORMAT_NAMES) if name.startswith(incomplete)]


class FormatNamesTable(ReportSection[tuple[str, str]]):
    """The names of the formats, grouped by kind."""

    columns = (
        Column("kind", cell_of_record=lambda line: line[0], meaning=_KINDS_MEANING),
        Column(
            "formats", cell_of_record=lambda line: line[1], meaning="Names of formats, for --from."
        ),
    )

    def footer_parts(self) -> Iterator[str | OptionHint]:
        yield OptionHint("an example and the command", OptionWithValue("passk formats", "NAME"))
        yield OptionHint("what passes in each")


class FormatTable(ReportSection[RecognisedFormat]):
    """A row per format with the outcomes that pass and the documentation of the layout."""

    visibility = FULL
    shown_when = "with --full"
    columns = (
        Column("format", field_name="format", cell_of_record=lambda form: form.name,
               meaning="Name of the format, for --from."),
        Column("kind", field_name="kind", cell_of_record=lambda form: form.kind,
            meaning=_KINDS_MEANING),
        Column("what passes", field_name="passes", cell_of_record=lambda form: form.pass_rule,
               meaning="Which outcomes in a file of this format pass."),
        Column("layout from", field_name="source", cell_of_record=lambda form: form.documentation,
               meaning="Documentation from which passk knows the layout of the format."),
               data_field("files", "Path of the files. Words in capitals are placeholders.",
                   lambda form: ", ".join(form.example.paths)),
        data_field("use", "The command that reads the example, or what to do instead if passk"
                   " refuses the format.", lambda form: form.example.usage),
        data_field("example", "A small file in this format. For a binary format, the JSON in the"
                   " file is shown.",
                   lambda form: form.example.text),
    )  # fmt: skip

    answers = (
        Answer("formats-read", lambda _: True,
               "passk reads {harness} formats of evaluation harnesses and {general} general"
               " formats. passk recognises {refused} more formats but refuses to read them.",
               lambda section: Counter(form.kind for form in section.records)),
    )  # fmt: skip

    def full_footer_parts(self) -> Iterator[str]:
        yield (
            f"in an outcome column, an empty cell is missing, and so is"
            f" {', '.join(ENDED_WITHOUT_VERDICT_WORDS)}"
        )


class SingleFormatTable(ReportSection[RecognisedFormat]):
    """The description of one format with a small example file."""

    shown_when = "of one format"
    columns = (
        Column("fact", cell_of_record=lambda line: line[0], meaning="Property of the format."),
        Column("of the format", cell_of_record=lambda line: line[1],
               meaning="Path of the files (words in capitals are placeholders), which outcomes"
               " pass, the documentation of the layout, and the command that reads the example."),
    )  # fmt: skip

    answers = (
        Answer("format-refused", lambda section: section.records[0].kind == _REFUSED_KIND,
               "{name} is recognised and {rule}.",
               lambda section: {"name": section.records[0].name,
                                "rule": section.records[0].pass_rule}),
        Answer("format-read", lambda _: True, "To read {name}: {use}",
               lambda section: {"name": section.records[0].name,
                                "use": section.records[0].example.usage}),
    )  # fmt: skip

    def tables(self) -> Iterator[Table]:
        (form,) = self.records
        example = form.example
        facts = {
            "kind": form.kind,
            "files": ", ".join(example.paths),
            **({} if example.alternative else {"what passes": form.pass_rule}),
            "layout from": form.documentation,
            "instead" if example.alternative else "command": example.usage,
        }
        lines: list[tuple[str, str]] = []
        for name, text in facts.items():
            parts = wrap(text, _MAX_LINE_WIDTH, break_on_hyphens=False, break_long_words=False)
            lines += zip([name, *[""] * (len(parts) - 1)], parts, strict=True)
        yield Table(self.columns, tuple(lines))
        content = tuple((line,) for line in example.text.splitlines())
        yield Table((Column(f"example of {example.paths[0]}"),), content)


class FormatsRunner(CommandRunner, FormatsOptions):
    sections = (FormatNamesTable, FormatTable, SingleFormatTable)

    def report_without_data(self, options: SharedOptions) -> Report:
        if self.name not in (None, *FORMAT_NAMES):
            raise unknown_format_error(str(self.name))
        no_study: Any = None
        formats = [form for form in recognised_formats() if self.name in (None, form.name)]
        each_format = FormatTable(no_study, formats)
        if self.name is not None:
            section = SingleFormatTable(no_study, formats)
            tables, answer = tuple(section.tables()), tuple(section.answer())
            return Report(tables, each_format.data_table, (FOOTER_VERSION_TEXT,), answer=answer)
        lines: list[tuple[str, str]] = []
        for kind in dict.fromkeys(form.kind for form in formats):
            names = sorted(form.name for form in formats if form.kind == kind)
            text = wrap(", ".join(names), _MAX_LINE_WIDTH, break_on_hyphens=False)
            lines += zip([kind, *[""] * (len(text) - 1)], text, strict=True)
        kinds = FormatNamesTable(no_study, lines)
        tables, context = (
            (*kinds.tables(), *each_format.tables()),
            (*kinds.footer_parts(), FOOTER_VERSION_TEXT),
        )
        answer = tuple(each_format.answer())
        return Report(
            tables, each_format.data_table, context, each_format.full_footer_parts, answer=answer
        )
