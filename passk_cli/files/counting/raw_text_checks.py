"""Find rows that DuckDB would ignore, and values that DuckDB would change, for example the task
name 1.50."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.files.counting.statement import Tally
from passk_cli.files.database import TextColumn
from passk_cli.files.reading.layout import Batch, FileStorageLayout
from passk_cli.files.request import Request
from passk_cli.files.roles import CONVERTED_TABLE_COLUMNS, usual_columns
from passk_cli.files.sources.source import HEAD_BYTES, Source, numbered_csv_rows, open_bytes
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import truncated_text

OTHER_ENCODING_WARNING = DiagnosticType(
    "other-encoding", WARNING,
    "passk read {files} as {encodings}, not as UTF-8",
    meaning="JSON and most tables are written in UTF-8. If a file starts with a UTF-16"
    " byte order mark, passk reads it as UTF-16. If only a few bytes of a file are not UTF-8,"
    " passk reads the file as UTF-8. passk reads all other files as cp1252, the encoding of"
    " Windows.",
    why="Outcomes are the same in all encodings, but names with accents may look odd.",
    advice="Save the files as UTF-8.",
    example="warning[other-encoding]: passk read results.csv as cp1252, not as UTF-8",
)  # fmt: skip
ATTEMPTS_WITHOUT_BY_VALUE_NOTE = DiagnosticType(
    "without-group", NOTE,
    "{attempts:attempt} {attempts:has|have} no {column} and {attempts:forms|form} a group without"
    " a name, which is listed last",
    meaning="The column of --by is empty or NaN in some rows.",
    why="Attempts without a group form a group without a name. passk does not report the group"
    " without a name as the best group.",
    advice="Use --where \"COLUMN IS NOT NULL\" to leave out the attempts without a group.",
    example="note[without-group]: 3 attempts have no language and form a group without a name,"
    " which is listed last",
)  # fmt: skip
NUMBER_AND_TEXT_TASKS_NOTE = DiagnosticType(
    "mixed-tasks", NOTE,
    "tasks are numbers in {numbers} and texts in {texts}: {task} and \"{task}\" count as one task",
    meaning="One file contains task names as numbers, and another file contains task names in"
    " quotes.",
    why="passk treats every task name as text, so equal names are the same task.",
    advice="If equal names mean different tasks, rename the tasks in one file.",
    example="note[mixed-tasks]: tasks are numbers in a.jsonl and texts in b.jsonl: 7 and \"7\""
    " count as one task",
)  # fmt: skip
SCORE_COLUMN_REPEATS_OUTCOME_NOTE = DiagnosticType(
    "several-scores", NOTE,
    "{columns} could be the score, so the column score repeats {outcome}",
    (
        SuggestedFix({"--field": {"score": "{first}"}}, "takes one"),
        SuggestedFix({"--with": "{joined}"}, "keeps all"),
    ),
    meaning="A table of attempts has one column for a score, but several columns of the file could"
    " be the score.",
    why="passk does not choose between several scores, so the column score contains the outcome as"
    " a number.",
    advice="Use --field score=COLUMN to name the score, or use --with to keep the columns under"
    " their own names.",
    example="note[several-scores]: f1, reward could be the score, so the column score repeats"
    " passed; --field 'score=f1' takes one; --with 'f1,reward' keeps all",
)  # fmt: skip


def number_and_text_task_messages(
    kinds: Mapping[str, str], tasks: TextColumn
) -> Iterator[Diagnostic]:
    """Yield a message if the tasks are numbers in one file and strings in another file.

    kinds : maps "number" and "text" to the first file that contains tasks of this kind.
    """
    files = {kinds.get("number"), kinds.get("text")}
    if (
        None not in files
        and len(files) == 2
        and all(task.isdecimal() for task in tasks.distinct_present_texts)
    ):
        yield NUMBER_AND_TEXT_TASKS_NOTE(
            numbers=kinds["number"], texts=kinds["text"], task=tasks.text_at(0)
        )


def several_score_columns_messages(
    batches: Iterable[Batch], request: Request
) -> Iterator[Diagnostic]:
    """Yield a message about the first file in which several columns could be the score."""
    kept_columns = request.conversion.extra_columns if request.conversion else ()
    for batch in batches:
        kinds, outcome = batch.layout.kinds_by_column, batch.roles.outcome
        scores = [column for column in usual_columns("score", kinds) if column not in request.by]
        has_score = "score" in request.fields or kinds.keys() >= set(CONVERTED_TABLE_COLUMNS)
        if (
            len(scores) > 1
            and not has_score
            and not {*scores} <= {*kept_columns}
            and batch.roles.column("score") == outcome
        ):
            joined = ",".join(scores)
            yield SCORE_COLUMN_REPEATS_OUTCOME_NOTE(
                columns=scores, outcome=outcome, first=scores[0], joined=joined
            )
            return


_DECIMAL_NUMBER_PATTERN = re.compile(r"-?[0-9]+(\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)")


def require_no_header_or_respelling(batch: Batch, tally: Tally) -> None:
    """Raise DataError for a repeated header, and for names that DuckDB would spell differently."""
    layout = batch.layout
    names = {name for name, _ in layout.columns}
    # In a repeated header row, the value in the task column is the name of the task column.
    if layout.kind == "csv" and names & {
        *tally.cell_table_before_deduplication["task"].distinct_texts
    }:
        for source in batch.sources:
            for line, row in numbered_csv_rows(source, layout.delimiter):
                if {*row} == names:
                    problem = f"this row repeats the header ({truncated_text(','.join(row))})"
                    remedy = "remove the line, or read the files that were joined here"
                    raise DataError(f"{source.name}:{line}", problem, remedy, name="bad-record")
    for role, column in batch.roles.columns().items() if layout.kind in ("json", "jsonl") else ():
        key = {"task": "task", "model": "name"}.get(role)
        if key is None or not any(
            map(
                _DECIMAL_NUMBER_PATTERN.fullmatch,
                tally.cell_table_before_deduplication[key].distinct_texts,
            )
        ):
            continue
        for source in batch.sources:
            if (number := _first_respelled_number(source, column)) is not None:
                line, spelled = number
                problem = f'"{column}" is the number {spelled}, '
                problem += f"which would be read as {float(spelled)!r}"
                remedy = "names are texts, so put the number in quotes"
                raise DataError(f"{source.name}:{line}", problem, remedy, name="bad-record")


def require_intact_files(
    layout: FileStorageLayout, sources: Sequence[Source], request: Request
) -> None:
    """Raise DataError for a surplus delimiter or an incomplete array, which DuckDB would ignore."""
    uneven = layout.kind == "csv" and not request.skip_bad
    for source in sources:
        if uneven and may_have_surplus_delimiter(
            source, layout.delimiter.encode(), len(layout.columns)
        ):
            require_no_extra_empty_field(source, layout)
        if layout.kind != "json" or source.first_character != "[":
            continue
        # If an array is cut off after a comma, DuckDB reads the array as if the array were
        # complete.
        with open_bytes(source) as stream:
            if source.compression == "none":
                stream.seek(max(os.path.getsize(source.path) - HEAD_BYTES, 0))
            last = b""
            while block := stream.read(1 << 20):
                # Spaces and a byte order mark may follow the end of the array.
                last = block.rstrip(b" \t\r\n\xef\xbb\xbf")[-1:] or last
        if last != b"]":
            problem = "the array has no end"
            raise DataError(
                source.name, problem, "check whether the file is cut off", name="damaged-file"
            )


def require_no_extra_empty_field(source: Source, layout: FileStorageLayout) -> None:
    """Raise DataError for the first row with an extra empty field, which DuckDB would ignore."""
    width = len(layout.columns)
    for line, row in numbered_csv_rows(source, layout.delimiter):
        if len(row) > width and not any(row[width:]):
            problem = f"{len(row)} fields; the header has {width}"
            remedy = "remove the delimiter at the end of the line"
            raise DataError(f"{source.name}:{line}", problem, remedy, name="bad-record")


def _first_respelled_number(source: Source, column: str) -> tuple[int, str] | None:
    """The line number and the text of the first JSON number that DuckDB would spell differently.

    For example, DuckDB changes 1e5 to 100000.0 and 1.10 to 1.1.
    """
    name = re.escape(json.dumps(column.split(".")[-1], ensure_ascii=False).encode())
    number = re.compile(name + rb"\s*:\s*(-?[0-9][0-9.eE+-]*)(?=[\s,}\]])")
    with open_bytes(source) as stream:
        before, line = b"", 1
        while block := stream.read(1 << 20):
            text = before + block
            for spelled in set(number.findall(text)):
                if _DECIMAL_NUMBER_PATTERN.fullmatch(spelled.decode()) and spelled.decode() != repr(
                    float(spelled)
                ):
                    place = next(m.start() for m in number.finditer(text) if m[1] == spelled)
                    return line + text.count(b"\n", 0, place), spelled.decode()
            before = text[-len(name) - 1000 :]
            line += text.count(b"\n", 0, len(text) - len(before))
    return None


def may_have_surplus_delimiter(source: Source, delimiter: bytes, columns: int) -> bool:
    """Whether a row of a delimited text may end with a surplus delimiter.

    The result is False if no line ends with a delimiter, or if the file contains as many delimiters
    as the columns require.
    """
    with open_bytes(source) as stream:
        end = delimiter + (b"\r" if stream.readline().endswith(b"\r\n") else b"\n")
        last, has_pair = b"", False
        while not has_pair and (block := stream.read(1 << 20)):
            has_pair, last = _has_byte_pair(last + block, end), block[-1:]
    if not has_pair and last != delimiter:
        return False
    with open_bytes(source) as stream:
        delimiters, breaks, last = 0, 0, b"\n"
        while block := stream.read(1 << 20):
            signs = np.frombuffer(block, dtype=np.uint8)
            delimiters += int(np.count_nonzero(signs == delimiter[0]))
            breaks += int(np.count_nonzero(signs == ord("\n")))
            last = block[-1:]
    return delimiters != (columns - 1) * (breaks + (last != b"\n"))


def _has_byte_pair(text: bytes, pair: bytes) -> bool:
    """Whether a text contains a given pair of consecutive bytes.

    The function compares 16-bit numbers, which takes a quarter of the time of the operator `in`.

    >>> _has_byte_pair(b"a,b,\\n", b",\\n"), _has_byte_pair(b"a,b\\n,", b",\\n")
    (True, False)
    """
    (pair_number,) = np.frombuffer(pair, dtype=np.uint16)
    return any(
        bool((np.frombuffer(text, np.uint16, (len(text) - start) // 2, start) == pair_number).any())
        for start in range(min(2, len(text)))
    )
