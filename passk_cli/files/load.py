"""Files or a frame in, Counts out.

The way of a row, a function per step: `sources_of` finds the files, `_CountsReader.recognised`
parts those of harnesses from tables, `tallied` reads them (`look`: how rows are laid out, what
columns mean; `Statement`, `run`: one SQL statement), `checked` looks for what contradicts the
reading, `policies.decide` counts, and `with_attempts` adds what else is to be known of attempts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from passk_cli.cleanup import disk_full_error, temporary_folder
from passk_cli.diagnostic import NOTE, DiagnosticType, refused
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.checks import (
    CELLS,
    DISTINGUISHING,
    CheckContext,
    Finding,
    attempt_number,
    error_of,
    findings,
    warning_of,
)
from passk_cli.files.counting.checks import require_as_written, require_sound
from passk_cli.files.counting.diagnosis import explain
from passk_cli.files.counting.policies import decide
from passk_cli.files.counting.sample import of_cells, surveyed
from passk_cli.files.counting.statement import LateColumn, Statement, Tally, run
from passk_cli.files.counting.words import judged_words
from passk_cli.files.database import connect, parquet_keys
from passk_cli.files.mapping import mapped
from passk_cli.files.reading.condition import columns_in, ordered
from passk_cli.files.reading.non_result_files import is_empty
from passk_cli.files.reading.profile import DataProfile
from passk_cli.files.reading.schema_detection import Inputs, NormalizedFiles, first_columns, look
from passk_cli.files.request import TABLES, Request, first_absent
from passk_cli.files.roles import TRUTH, UNITS, find
from passk_cli.files.roles import words as words_of
from passk_cli.files.sources.memory import sources_of
from passk_cli.files.sources.source import Source, beginning_of
from passk_cli.files.vocabulary import CORRECT_WORDS
from passk_cli.suggested_fix import OptionValue, SuggestedFix
from passk_cli.suggestions import meant
from passk_cli.text import decode_name, plural

if TYPE_CHECKING:
    from passk_cli.files.reading.normalize import Recognised
    from passk_cli.outcomes.counts import Counts

HIDDEN_FILES = DiagnosticType(
    "hidden-files", NOTE, "skipped {count:file} in hidden folders: {files}", "name one to read it",
    "Folders whose names begin with a dot hold caches and checkpoints, which usually repeat"
    " results. Files in them are not read unless they are named on the command line.",
)  # fmt: skip
# Files without an outcome in a folder of results that are looked at again.
_FEW_FOREIGN = 3
# Rows that are enough for a survey of complete cells, and tasks that it has at least.
_CELL_ROWS, _FEW_CELLS = 100_000, 50
# What JSON and archives begin with; "" of a file that has not been looked at.
_OPENINGS = {"", "{", "[", "PK"}
# One of these columns is in each Parquet file of a format, which only lighteval writes.
_METRICS = {"metric", "metrics"}
# What a file that holds nothing may begin with.
_EMPTY = ("", "{", "[")


def load(data: Any, request: Request, *, tolerant: bool = False) -> Counts:
    """Counts of attempts and passes per model and task, from files, rows or a table.

    data : as `passk_cli.read` takes it.
    tolerant : count what is wrong in `facts` instead of refusing it.
    Errors: ParameterError for a request that makes no sense, DataError (`place: problem; remedy`)
    for data that cannot be used.
    """
    if request.truth_from is not None:
        from passk_cli.files.attempts.labels import with_judge_errors

        return with_judge_errors(load, data, request, tolerant=tolerant)
    with temporary_folder("passk-") as folder, _system_errors(request):
        hidden: list[str] = []
        found = sources_of(data, folder, hidden)
        sources, request, said = mapped(data, found, request, first_columns)
        if hidden:
            said.append(HIDDEN_FILES(count=len(hidden), files=hidden))
        counts = _read(data, sources, request.as_read(), folder, tolerant).with_messages(*said)
        several = len(request.threshold) > 1
        return counts.at_thresholds(request.threshold) if several else counts


@contextmanager
def _system_errors(request: Request) -> Iterator[None]:
    """Errors of the system while files are read, as errors that the user can act on."""
    try:
        yield
    except OSError as error:
        ours = request.conversion is not None and error.filename == request.conversion.file
        if ours or error.strerror is None:
            raise
        raise disk_full_error(error, "temporary files") or DataError(
            decode_name(error.filename or "files"), f"cannot be read ({error.strerror})",
            "is it there, and does nothing change it?", name="unreadable-file",
        ) from None  # fmt: skip


def _read(
    data: Any, sources: Sequence[Source], request: Request, folder: Path, tolerant: bool
) -> Counts:
    """Count the files; an error comes with the columns that can be chosen.

    folder : for temporary files.
    """
    files = all(source.frame is None for source in sources)
    paths = [source.path for source in sources if files]
    paths += [request.conversion.file] if request.conversion else []
    if request.truth is not None:
        from passk_cli.files.attempts.labels import write_labels

        write_labels(request, data, folder, load)
        fields = {role: name for role, name in request.fields.items() if role != TRUTH}
        request = replace(request, fields=fields)
    # Closed at once: whoever keeps an error, as a notebook does, keeps no threads of the database.
    with connect(paths, folder, [folder]) as con:
        if request.normalise != "none":
            from passk_cli.files.attempts.solutions import register

            # Here: what a cursor makes known goes with it, and the database would still call it.
            register(con, request.normalise)
        reading = _CountsReader(con, sources, folder)
        try:
            counts = reading.counts(request, tolerant=tolerant)
            missing = reading.without_outcomes(counts, request, tolerant) if files else None
            if missing is None:
                return counts
            from passk_cli.files.reading.asking import asking

            asked = asking(missing, con, sources, request, reading.again, data)
            return counts if asked is missing else counts.with_messages(refused(asked))
        except DataError as error:
            if not files and sources[0].label is not None:
                # Of frames by model each has an error of its own.
                raise
            from passk_cli.files.reading.asking import asking

            raise asking(error, con, sources, request, reading.again, data) from None


@dataclass(frozen=True, eq=False, repr=False)
class _CountsReader:
    """Files, and the database that reads them with one request or, to try remedies, with several.

    folder : for temporary files.
    """

    con: duckdb.DuckDBPyConnection
    sources: Sequence[Source]
    folder: Path

    def again(self, request: Request) -> Counts:
        """The counts of the beginning of each file with another request."""
        sources = [beginning_of(source, self.folder) for source in self.sources]
        # With tables of its own, but no database: to make one takes as long as a small file.
        with self.con.cursor() as own:
            return replace(self, con=own, sources=sources).counts(request, tolerant=False)

    def counts(self, request: Request, *, tolerant: bool) -> Counts:
        """The way of a row: recognise, read, check, count, and what is to be known of attempts."""
        states = [*map(_state, self.sources)]
        inputs = self.recognised(request, skip_empty=request.skip_bad or tolerant)
        statement, tally = self.read(inputs, request)
        statement, tally, context, found = self.checked(
            inputs, statement, tally, first=not tolerant
        )
        request, batches = statement.request, statement.batches
        judged = judged_words(self.con, statement)
        errors = [error_of(finding, batches) for finding in found if finding.certain]
        if errors and not tolerant:
            raise errors[0]
        if not (tolerant or "outcome" in request.named):
            self.require_one_name(inputs, request)
        named = _near_names(self.con, statement)
        counts = decide(self.con, statement, inputs.attempts, tally, tolerant)
        warnings = [warning_of(finding) for finding in found if not finding.certain]
        counts = counts.with_messages(*map(refused, errors), *warnings, *judged)
        alias = {new: old for new, old in request.alias.items() if not named["--alias", new]}
        facts: dict[str, Any] = {"option_names": named, "alias": alias}
        if request.sampled and not (statement.has_counts or tally.repeats.attempts):
            from passk_cli.files.counting.sampled import sampled_rows

            settings = {str(finding.fields.get("column", "")) for finding in found}
            facts["sampled"] = sampled_rows(context, statement, settings)
        if tolerant:
            from passk_cli.files.choices import choices

            facts["columns"] = tuple(choices(self.con, self.sources, context, found))
        counts = replace(counts, facts=replace(counts.facts, **facts))
        try:
            counts = self.with_attempts(statement, tally, counts)
        except duckdb.Error as error:
            raise explain(self.con, error, batches, request) from None
        changed = [s for s, state in zip(self.sources, states, strict=True) if _state(s) != state]
        if changed:
            # Its numbers would mix.
            problem = "changed while it was read"
            remedy = "read it again when it is complete"
            raise DataError(changed[0].name, problem, remedy, name="changed-file")
        return counts

    def recognised(self, request: Request, *, skip_empty: bool) -> Inputs:
        """The attempts that formats find in these files, and the files that are tables as they are.

        skip_empty : whether empty files among others are left out instead of refused.
        Errors: ParameterError for a format that does not exist; DataError for what cannot be used.
        """
        files: list[Recognised] = []
        tables = [*self.sources]
        if any(source.frame is not None for source in tables):
            return Inputs(self.sources, tables, NormalizedFiles())
        # Importing all formats takes milliseconds, which a delimited table should not wait for.
        by_formats = request.format not in TABLES and (
            bool(request.format or request.records)
            or any(
                source.first_sign in _OPENINGS
                or (
                    source.first_sign == "PAR1"
                    and not _METRICS.isdisjoint(parquet_keys(source.path, self.con))
                )
                for source in tables
            )
        )
        if by_formats:
            from passk_cli.files.reading.normalize import recognised, spooled

            # What repeats another file is gone by now, empty or not.
            files, tables = recognised(self.sources, request)
        every = [*(file.source for file in files), *tables]
        empty = [source for source in every if source.first_sign in _EMPTY and is_empty(source)]
        if len(empty) == len(every):
            empty = []
        if empty and not skip_empty:
            # A run that ended early lost its results.
            more = f", as {plural(len(empty) - 1, 'more file')}" if len(empty) > 1 else ""
            without = SuggestedFix({"--skip-bad": True}, "leaves empty files out")
            raise DataError(
                empty[0].name, f"the file is empty{more}", "run it again", name="no-results",
                settles=[without],
            )  # fmt: skip
        attempts = NormalizedFiles()
        if by_formats:
            files = [file for file in files if file.source not in empty]
            attempts = spooled(files, request, self.folder)
        attempts.empty += [source.name for source in empty]
        return Inputs(self.sources, [s for s in tables if s not in empty], attempts)

    def read(self, inputs: Inputs, request: Request) -> tuple[Statement, Tally]:
        """The statement and its answer; once more if a model's own name looks like a pattern."""
        statement, tally = self.tallied(inputs, request)
        if request.models or request.exclude_models:
            names = self.con.execute(statement.models()).fetchall()
            exact = request.naming([name for (name,) in names])
            if exact is not request:
                return self.tallied(inputs, exact)
        return statement, tally

    def tallied(self, inputs: Inputs, request: Request) -> tuple[Statement, Tally]:
        """The statement and its answer; once more when columns that matter appear further down."""
        con = self.con
        for whole in (False, True):
            batches, names = look(con, inputs, request, whole=whole)
            try:
                where = columns_in(con, request.where, batches) if request.where else []
                statement = Statement(batches, names, request, where)
                if request.where:
                    for sql in statement.compared(ordered(con, request.where)):
                        con.execute(sql)
                statement, tally = run(con, statement)
                # Records without an outcome or a number may have it in a column not seen so far.
                numbered, attempts = tally.every["numbered"], tally.every["attempts"]
                empty = ["outcome"] * bool(tally.every["missing"].any())
                empty += ["attempt"] * bool(numbered.any() and (numbered < attempts).any())
                queries = (sql for role in empty for sql in statement.renamed(role))
                if any(con.execute(sql).fetchone() is not None for sql in queries):
                    continue
            except LateColumn:
                continue
            except duckdb.Error as error:
                raise explain(con, error, batches, request) from None
            for batch in batches:
                require_as_written(batch, tally)
                require_sound(batch.layout, batch.sources, request)
            return statement, tally
        raise AssertionError("a complete layout has no columns that appear further down")

    def checked(
        self, inputs: Inputs, statement: Statement, tally: Tally, *, first: bool
    ) -> tuple[Statement, Tally, CheckContext, list[Finding]]:
        """The statement and its answer, once more if a column numbers the attempts, and what checks
        find in them.  first : whether what is certain ends the search."""
        try:
            context = self.context(statement, tally)
            if column := attempt_number(context):
                # A table without it among others has no numbers.
                fields = {**statement.request.fields, "attempt": column}
                statement, tally = self.tallied(inputs, replace(statement.request, fields=fields))
                context = self.context(statement, tally)
            found = list[Finding]()
            for finding in findings(context):
                found.append(finding)
                if first and finding.certain:
                    break
        except duckdb.Error as error:
            raise explain(self.con, error, statement.batches, statement.request) from None
        if tally.repeats.attempts:
            # Attempts that repeat speak for what tells them apart.
            found = [replace(f, certain=f.certain or f.message in DISTINGUISHING) for f in found]
        return statement, tally, context, found

    def context(self, statement: Statement, tally: Tally) -> CheckContext:
        """What checks of a reading see."""
        request, batches, tasks = statement.request, statement.batches, tally.every["task"]
        columns = {"file", *(column for batch in batches for column in batch.layout.kinds)}
        for name in request.pool:
            if find(name, {column: set() for column in columns}) is None:
                problem = f"no such column; {meant(name, sorted(columns - {'file'}))}"
                raise ParameterError(OptionValue("--pool", name), problem, name="no-such-column")
        rows, size = int(tally.every["attempts"].sum()), len(tasks.names)
        one_in = max(1, size // CELLS, min(rows // _CELL_ROWS, size // _FEW_CELLS))

        def refined(columns: Sequence[str]) -> DataProfile:
            return of_cells(self.con, statement, columns, one_in)

        survey = surveyed(self.con, statement, self.folder)
        return CheckContext(survey, batches, request, tally.every, refined)

    def require_one_name(self, inputs: Inputs, request: Request) -> None:
        """DataError for a file of a folder with a task and a verdict of another name than the
        others: it would be passed over as one without results."""
        passed_over = inputs.attempts.passed_over
        for error in [e for e in passed_over if e.name == "no-outcome-column"][:_FEW_FOREIGN]:
            from passk_cli.files.reading.candidates import find_candidates

            own = [source for source in self.sources if source.name == str(error.place)]
            for place in find_candidates(self.con, own, request) if own else ():
                named = (c for c in place.get("outcome", ()) if words_of(c.column) & CORRECT_WORDS)
                if place.certain("task") and any(not each.passing for each in named):
                    raise error.with_changes(
                        DataError, remedy="other files have an outcome's usual name"
                    )

    def with_attempts(self, statement: Statement, tally: Tally, counts: Counts) -> Counts:
        """The counts with what has to be known of their attempts, or their attempts as a table."""
        con, request = self.con, statement.request
        if request.price:
            from passk_cli.files.attempts.prices import require_prices

            require_prices(request, [model for model, *_ in counts.series])
        if request.conversion is not None:
            from passk_cli.files.conversion import convert

            convert(con, statement, tally)
            return counts
        numbering = _is_numbering_telling(statement, tally, counts)
        if not (numbering or request.attempts or request.order or request.labelling is not None):
            return counts
        from passk_cli.files.attempts import query as attempts

        query = attempts.AttemptQuery(con, statement, tally.keep)
        if numbering:
            counts = attempts.with_numbering(query, counts)
        if request.truth is not None:
            from passk_cli.files.attempts.labels import join_labels

            counts = counts.with_messages(*join_labels(query, self.folder))
        if request.attempts:
            counts = attempts.with_attempts(query, counts)
            if not UNITS.keys().isdisjoint(request.attempts):
                from passk_cli.files.attempts.spending import apply_missing_cost

                counts = apply_missing_cost(counts, query)
        if request.order:
            counts = attempts.with_order(query, counts)
        if request.labelling is not None:
            from passk_cli.files.attempts.labels import unlabelled_attempts

            facts = replace(counts.facts, unlabelled=unlabelled_attempts(query, counts))
            counts = replace(counts, facts=facts)
        return counts

    def without_outcomes(
        self, counts: Counts, request: Request, tolerant: bool
    ) -> DataError | None:
        """Error for missing outcomes that another column may have: if a model has no outcome at
        all, or if files are only described; None if no other column is asked about."""
        losses = counts.facts.missing_outcomes
        if losses is None:
            return None
        # Who names the outcome means the one that is missing.
        named = request.outcome is not None or "outcome" in request.fields
        lost = not named and any(
            lost == made for lost, made in map(losses.shares_of_model, losses.models)
        )
        missing = f"{plural(counts.facts.missing, 'attempt')} without an outcome"
        error = DataError(self.sources[0].name, missing, name="missing-outcome")
        return error if tolerant or lost else None


def _is_numbering_telling(statement: Statement, tally: Tally, counts: Counts) -> bool:
    """Whether numbers may show that sampling stopped because of outcomes: if they have gaps, or if
    a model's n varies and none of its tasks has two passes."""
    if statement.has_counts or not tally.cells["numbered"].any():
        return False
    rows = map(counts.rows_of, range(len(counts.series)))
    return not tally.cells["unrepeated"].all() or any(
        int(counts.n[row].min()) < int(counts.n[row].max()) and int(counts.c[row].max()) == 1
        for row in rows
    )


def _near_names(con: duckdb.DuckDBPyConnection, statement: Statement) -> dict[tuple[str, str], str]:
    """Option and name of each model and task that an option names → what is near it; "" for a name
    that is in the data.

    Errors: ParameterError if none of the tasks to keep is there.
    """
    request = statement.request
    if not request.chosen_names:
        return {}
    rows = con.execute(statement.there()).fetchall()
    models, tasks = ({name for name in names if name} for names in zip(*rows, strict=True))
    asked = [(o, n, models if o == "--alias" else tasks) for o, n in request.chosen_names]
    named = {(o, n): "" if n in names else meant(n, sorted(names)) for o, n, names in asked}
    if request.only_tasks and all(named["--only-task", name] for name in request.only_tasks):
        first_absent([("--only-task", name) for name in request.only_tasks], named)
    return named


def _state(source: Source) -> tuple[int, int] | None:
    """Size and time of the last change of a file that is here; None where it is gone."""
    with suppress(OSError):
        status = os.stat(source.path)
        return status.st_size, status.st_mtime_ns
    return None
