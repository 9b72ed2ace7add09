"""The table that `passk convert` writes, and the report about it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from passk_cli.cleanup import file_moved_at_end
from passk_cli.commands.convert import ConvertOptions
from passk_cli.commands.runner import CommandRunner, ReadCountsFunction, SharedOptions
from passk_cli.commands.written_counts import (
    CountsWrittenToFileTable,
    model_counts_written_to_file,
    refuse_reserved_columns,
)
from passk_cli.errors import DataError, ParameterError, raise_parameter_error_if_any
from passk_cli.files.export import output_format, write_columns
from passk_cli.files.request import KEEP_MISSING, MISSING_FIXES, Conversion
from passk_cli.files.roles import AMOUNT_UNITS, CONTAINS_COUNTS_PROBLEM, COUNTS_COLUMNS
from passk_cli.files.sources.arguments import has_result_suffix, paths_in_data, split_label
from passk_cli.outcomes.counts import Counts
from passk_cli.report.data_types import Report
from passk_cli.study.analysis import Analysis
from passk_cli.study.answer import Answer, first_true_sentence
from passk_cli.study.benchmarks import POOLED_BENCHMARKS_WARNING
from passk_cli.study.section import build_report
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

# The column for a role in _ROLES_WITH_SEVERAL_NAMES may have one of several names, and --with
# recognises all these names.
_ROLES_WITH_SEVERAL_NAMES = ("answer", "solution", *sorted(AMOUNT_UNITS))
_REPORT_COLUMNS = ("tasks", "attempts", "passed")
_WRITE_COUNTS_FIX = (SuggestedFix({"--counts": True}, "writes counts"),)


CONVERT_ANSWERS = (
    Answer("counts-written", lambda fields: fields["rows"],
           "passk wrote {rows:row} with the counts n and c of {attempts:attempt} by {models:model}"
           " at {tasks:task}."),
    Answer("attempts-written-with-gaps", lambda fields: fields["empty"],
           "passk wrote {attempts:attempt} by {models:model} at {tasks:task}, including {empty}"
           " without an outcome."),
    Answer("attempts-written", lambda _: True,
           "passk wrote {attempts:attempt} by {models:model} at {tasks:task}."),
)  # fmt: skip


class ConversionSummaryTable(CountsWrittenToFileTable):
    """The number of tasks and attempts per model that `passk convert` wrote."""

    def footer_parts(self) -> Iterator[str]:
        if self.study.counts.read_facts.unclear_outcome_count:
            yield "–: scores"


class ConvertRunner(CommandRunner, ConvertOptions):
    """Reads the data of `passk convert` and computes its report."""

    sections = (ConversionSummaryTable,)

    reports_metrics: ClassVar[bool] = False

    missing_bounds_refusal: ClassVar[str] = "a table of counts contains one number of passes"

    def read_analysis(self, options: SharedOptions, read: ReadCountsFunction) -> Analysis:
        """Write the table to the output file, and return the data in the table."""
        if self.output is None:
            output_fix = SuggestedFix({"--output": Placeholder("FILE")}, "names the file")
            raise ParameterError("no output file is given", name="bad-output", settles=[output_fix])
        refuse_reserved_columns(options.request.by, _REPORT_COLUMNS, "the output")
        path = Path(self.output)
        _require_output_outside_inputs(options.source, path)
        form, request = output_format(path, self.form), options.request
        without = (SuggestedFix({"--spark-master": None}),)
        idle = self.spark_master is not None and self.engine != "spark"
        about = OptionWithValue("--spark-master"), "only Spark uses this option", without
        raise_parameter_error_if_any("contradicting-options", (idle, *about))
        if self.counts:
            contradictions: dict[str | OptionWithValue, object] = {
                OptionWithValue("--with"): self.columns,
                OptionWithValue("--format", form): form == "every-eval-ever",
                OptionWithValue("--missing", KEEP_MISSING): self.missing == KEEP_MISSING,
            }
            problem = "a table of counts has no single attempts, to which this option applies"
            settles: tuple[SuggestedFix, ...] = (SuggestedFix({"--counts": None}),)
            settles = MISSING_FIXES if self.missing == KEEP_MISSING else settles
        else:
            thresholds = ",".join(map("{:g}".format, request.threshold))
            contradictions = {
                OptionWithValue("--engine", self.engine): self.engine == "spark",
                "data": isinstance(options.source, Counts),
                OptionWithValue("--threshold", thresholds): len(request.threshold) > 1,
            }
            problem, settles = "this works only for a table of counts", _WRITE_COUNTS_FIX
            if self.engine == "spark" and request.map is None:
                options_of_fix = {"--counts": True, "--map": Placeholder("FILE")}
                settles = (SuggestedFix(options_of_fix, "writes counts"),)
        reasons = ((applies, at, problem, settles) for at, applies in contradictions.items())
        raise_parameter_error_if_any("contradicting-options", *reasons)
        if self.counts:
            refuse_reserved_columns(request.by, COUNTS_COLUMNS, "the output")
            option_names = request.given_options | ({"missing"} if self.missing else set())
            request = replace(request, missing=self.missing or "error", given_options=option_names)
            if self.engine == "spark":
                from passk_cli.files.spark.counting import count_and_sum_on_cluster

                counts, sums = count_and_sum_on_cluster(options.files, request, self.spark_master)
                refuse_reserved_columns(counts.group_names, (*COUNTS_COLUMNS, *sums), "the output")
                write_columns(path, {**counts.columns, **sums}, form)
                return Analysis(counts)
            study = super().read_analysis(replace(options, request=request), read)
            write_columns(path, study.counts.columns, form)
            return study
        with file_moved_at_end(path) as file:
            roles = tuple(name for name in self.columns if name in _ROLES_WITH_SEVERAL_NAMES)
            further_columns = tuple(
                name for name in self.columns if name not in _ROLES_WITH_SEVERAL_NAMES
            )
            request = replace(
                request, attempts=("line", "score", *roles), missing=self.missing or KEEP_MISSING,
                conversion=Conversion(str(file), form, further_columns, includes_amounts=True),
            )  # fmt: skip
            try:
                return Analysis(read(request))
            except DataError as error:
                if error.problem != CONTAINS_COUNTS_PROBLEM:
                    raise
                problem, name = f"{error.place}: {error.problem}", "contradicting-options"
                raise ParameterError(problem, name=name, settles=_WRITE_COUNTS_FIX) from None

    def report(self, study: Analysis) -> Report:
        counts = study.counts
        sections = [ConversionSummaryTable(study, model_counts_written_to_file(counts))]
        # The converted table lists every benchmark separately, so messages about pooled benchmarks
        # do not apply.
        messages = [m for m in study.messages(()) if m.name != POOLED_BENCHMARKS_WARNING.name]
        report = build_report(study, sections, messages=messages, interval=None)
        fields = {
            "models": len({model for model, *_ in counts.series}), "tasks": len(counts.tasks),
            "attempts": int(counts.n.sum()), "rows": len(counts.n) if self.counts else 0,
            "empty": counts.read_facts.missing_outcome_count
            * (counts.read_facts.missing_policy == KEEP_MISSING),
        }  # fmt: skip
        return replace(report, answer=tuple(first_true_sentence(CONVERT_ANSWERS, fields)))


def _require_output_outside_inputs(source: Any, output: Path) -> None:
    folder = output.resolve().parent
    for argument in paths_in_data(source):
        read = split_label(argument)[1]
        inside = os.path.isdir(read) and folder.is_relative_to(Path(read).resolve())
        if inside and has_result_suffix(output.name):
            problem = f"{output} is in the folder {read}, so passk would count each attempt twice"
            raise ParameterError(f"{problem}; choose another folder", name="bad-output")
