"""Find files that are not models: files with only some of a model's attempts, and summary files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.files.checks.check import CERTAIN, CheckContext, CheckFinding, ReadingCheck
from passk_cli.files.checks.evenness import column_evenness
from passk_cli.files.checks.setting_columns import max_plausible_attempt_number_count
from passk_cli.files.reading.non_result_files import find_duplicate_file
from passk_cli.files.sources.path_templates import run_label_by_file
from passk_cli.files.sources.source import Source
from passk_cli.suggested_fix import SuggestedFix

# A file with a name that matches _SUMMARY_FILE_NAME_PATTERN summarizes other files.
_SUMMARY_FILE_NAME_PATTERN = re.compile(
    r"((results?|eval|runs?|models?|benchmark|all)[_-])?"
    r"(summary|leaderboard|aggregated?|aggregates|overall|totals?)([_-]results)?",
    re.I,
)
FILES_POOLED_PER_MODEL_WARNING = DiagnosticType(
    "files-share-tasks", WARNING,
    "{values} contain attempts by one model at the same tasks, so passk would pool these files",
    meaning="Several files contain attempts by one model at the same tasks, and the file names"
    " differ in more than a run number.",
    why="The files may belong to different arms of an experiment, or to benchmarks with the same"
    " task names. If passk pooled the files, one estimate would mix the arms or benchmarks.",
    advice="Use --path and --by to keep the files apart, or use --pool file to pool the files as"
    " runs.",
    example="warning[files-share-tasks]: plain.jsonl, cot.jsonl contain attempts by one model at"
    " the same tasks, so passk would pool these files",
)  # fmt: skip
SUMMARY_FILE_WARNING = DiagnosticType(
    "summary-file", WARNING,
    "{?tasks|the tasks of this file are the models of other files ({tasks})}{?name|the file is"
    " named like a summary of the other files ({name})}{?counts|the file counts attempts at"
    " {counts:task} that other files also contain}",
    meaning="The folder seems to contain one file that summarizes the results of the other files.",
    why="If passk counted a summary as a model, the summarized attempts would count twice.",
    advice="Leave the summary out, for example with --exclude-model. If the file contains new"
    " results, name files or a pattern instead of the folder.",
    example="warning[summary-file]: the file is named like a summary of the other files (alpha,"
    " beta)",
)  # fmt: skip


def files_pooled_per_model_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find files that contain the same model and the same tasks, but have names that differ in more
    than numbers.
    """
    request, sources, batches = context.request, context.sources, context.batches
    is_decided = request.template or "file" in request.pool or request.duplicates == "first"
    if len(sources) < 2 or context.is_known_format or is_decided:
        return
    if not any(s.label for s in sources) and not any(b.roles.model for b in batches):
        return
    counts = [batch for batch in batches if batch.roles.kind_of_rows == "counts"]
    if counts and (len(counts) < len(batches) or all(source.is_explicit for source in sources)):
        # In a folder, a file of counts may summarize the attempts in other files. The function
        # `summary_file_findings` finds such files.
        return
    attempt, profile = context.role_column("attempt"), context.profile
    profile = (
        profile
        if profile.is_complete
        else context.profile_all_rows_of_some_cells([attempt] if attempt else [])
    )
    files: dict[int, list[str]] = {}
    for series, file in {
        *zip(profile.series_codes.tolist(), profile.row_file_indices.tolist(), strict=True)
    }:
        files.setdefault(series, []).append(profile.file_names[file])
    if all(len({re.sub("[0-9]+", "0", name) for name in names}) == 1 for names in files.values()):
        return
    numbers = profile.columns.get(attempt)
    if numbers and numbers.distinct_count <= max_plausible_attempt_number_count(
        int(np.bincount(profile.cell_codes + 1).max())
    ):
        return
    if not column_evenness(
        profile.cell_codes, profile.row_file_indices
    ).are_values_likely_planned or find_duplicate_file(("", s) for s in sources):
        return
    ends = {name.partition(".")[2] for name in map(os.path.basename, profile.file_names)}
    end = f".{ends.pop()}" if len(ends) == 1 else ".*"
    levels: dict[str, Callable[[str], str]] = {
        f"{{part}}{end}": os.path.basename,
        f"{{part}}/*{end}": lambda name: os.path.basename(os.path.dirname(name)),
    }
    ways = [SuggestedFix({"--path": path, "--by": ("part",)}, "keeps them apart")
            for path, part in levels.items()
            if all(len({*map(part, names)}) == len(names) for names in files.values())]  # fmt: skip
    again = {"--duplicates": "keep"} if attempt or counts else {}
    are_explicit = all(source.is_explicit for source in sources)
    if are_explicit and len(sources) <= 6 and len(files) == 1:
        # If the user names only a few files, labels can distinguish the files in every command.
        runs = run_label_by_file([source.name for source in sources])
        ways.insert(0, SuggestedFix({}, "keeps them apart as runs", label_by_file=runs))
    ways = [*ways[:1], SuggestedFix({"--pool": ("file",), **again}, "pools them as runs")]
    yield CheckFinding(
        FILES_POOLED_PER_MODEL_WARNING, True, {"values": sorted(profile.file_names)}, tuple(ways)
    )


def summary_file_findings(context: CheckContext) -> Iterator[CheckFinding]:
    """Find summary files that passk would read as models.

    A summary file has the models of other files as its tasks, or counts the attempts in other
    files. A file in a folder is also a summary file if its name suggests a summary.
    """
    names, tasks, models = (
        context.cell_columns["name"],
        context.cell_columns["task"],
        {*context.models},
    )
    files = [(batch, source) for batch in context.batches for source in batch.sources]
    fields = {"tasks": "", "name": "", "counts": 0}
    for batch, source in files if len(models) > 1 else ():
        unnamed = batch.roles.model is None and source.label is None and not batch.layout.table_name
        if source.stem not in models or not unnamed:
            continue
        other_models = models - {source.stem}
        task_names = tasks[
            names.codes == names.distinct_texts.index(source.stem)
        ].distinct_present_texts
        if len(task_names) > 1 and other_models.issuperset(task_names):
            why: dict[str, object] = {"tasks": task_names}
        elif not source.is_explicit and _SUMMARY_FILE_NAME_PATTERN.fullmatch(source.stem):
            why = {"name": sorted(other_models)}
        else:
            continue
        without = SuggestedFix({"--exclude-model": (source.stem,)}, "leaves it out")
        yield CheckFinding(SUMMARY_FILE_WARNING, True, {**fields, **why}, (without,), source.name)
    counts = [s for b, s in files if b.roles.kind_of_rows == "counts" and not s.is_explicit]
    rows = [s for b, s in files if b.roles.kind_of_rows != "counts"]
    if not counts or not rows or any(batch.layout.table_name for batch in context.batches):
        return
    profile = (
        context.profile
        if context.profile.is_complete
        else context.profile_all_rows_of_some_cells([])
    )

    def cells(sources: Sequence[Source]) -> set[int]:
        places = [profile.file_names.index(s.name) for s in sources if s.name in profile.file_names]
        return {*profile.cell_codes[np.isin(profile.row_file_indices, places)].tolist()} - {-1}

    if shared_cells := cells(counts) & cells(rows):
        yield CheckFinding(
            SUMMARY_FILE_WARNING, True, {**fields, "counts": len(shared_cells)}, (), counts[0].name
        )


CHECKS = (
    ReadingCheck(
        FILES_POOLED_PER_MODEL_WARNING, CERTAIN,
        "Several files contain attempts by one model at the same tasks, and the file names differ"
        " in more than numbers.",
        ("--path '{part}.jsonl' --by part", "--pool file"), files_pooled_per_model_findings,
    ),
    ReadingCheck(
        SUMMARY_FILE_WARNING, CERTAIN,
        "The tasks of a file are the models of other files, or a file is named summary or"
        " leaderboard, or a file counts the attempts of other files.",
        ("--exclude-model X",), summary_file_findings,
    ),
)  # fmt: skip
