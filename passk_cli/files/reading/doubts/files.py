"""Files that are no models and no runs: parts, arms, and sums of the others."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence

import numpy as np

from passk_cli.files.reading.doubts.evenness import evenness
from passk_cli.files.reading.doubts.grounds import Doubt, Finding, Grounds
from passk_cli.files.reading.doubts.settings import few
from passk_cli.files.reading.strays import equal_files
from passk_cli.files.sources.paths import is_day, layout_template
from passk_cli.files.sources.source import Source
from passk_cli.message import WARNING, Message
from passk_cli.settle import Settle

# Names of files that sum up the others.
_SUMMARY = re.compile(
    r"((results?|eval|runs?|models?|benchmark|all)[_-])?"
    r"(summary|leaderboard|aggregated?|aggregates|overall|totals?)([_-]results)?",
    re.I,
)
FILES_SHARE_TASKS = Message(
    "files-share-tasks", WARNING,
    "{values} hold attempts of one model at the same tasks, evenly: they would be pooled",
    "",
    "Several files hold attempts of one model at the same tasks, and their names are no numbers of"
    " runs. They may be arms of an experiment, or files of a benchmark's parts whose tasks have the"
    " same names.",
)  # fmt: skip

FILES_AS_MODELS = Message(
    "files-as-models", WARNING,
    "{values} have no task in common, and each counts as a model; where they are one model's,"
    " name it as label=path", "",
    "No column names a model, so that each file is one. Models are compared on the same tasks;"
    " files without a task in common are rather the parts of a benchmark, each in its own file.",
)  # fmt: skip
FILES_AS_RUNS = Message(
    "files-as-runs", WARNING,
    "each file would count as a model, and the same names stand in folder after folder: {values}",
    "",
    "No column names a model. Files or folders whose names differ in a number alone, or are days,"
    " the same in every folder, are rather runs of the model that their folder is named after:"
    " counted as models of one attempt each, they would be ranked among themselves.",
)  # fmt: skip
SUMMARY_FILE = Message(
    "summary-file", WARNING,
    "{?tasks|its tasks are models of the other files ({tasks})}{?name|by its name a summary of the"
    " other files ({name})}{?counts|counts attempts that other files hold, at {counts:task};"
    " a file that is named adds up}"
    "{?pattern|; if it is a model, name the files by a pattern: {pattern}}",
    "",
    "A folder holds the results of models and a summary of them: its tasks are their models, it"
    " counts their attempts again, or its name says so. It is no model, and its attempts are"
    " no further ones. Leave it out; where it holds results of its own, name the files, or a"
    " pattern, in place of the folder.",
)  # fmt: skip


def pooled_files(grounds: Grounds) -> Iterator[Finding]:
    """Files that hold the same tasks of one model evenly, and are not named as runs."""
    survey = grounds.survey
    if len(survey.files) < 2 or grounds.harness or grounds.request.template is not None:
        return
    batches, sources = grounds.batches, grounds.sources
    named = all(source.named for source in sources)
    if named and any(batch.roles.shape == "counts" for batch in batches):
        # Who names a file of counts beside others adds it.
        return
    if "file" in grounds.request.pool or (grounds.request.duplicates == "first"):
        # Copies are counted once.
        return
    if not survey.whole:
        survey = grounds.refined([])
    own = evenness(survey.cell, survey.file)
    labels = {source.name: source.label for source in sources}
    stems = {(labels.get(name), re.sub(r"[0-9]+", "0", name)) for name in survey.files}
    runs = len(stems) == len({label for label, _ in stems})
    # Numbers of attempts that go on from file to file are of one series; those that start again
    # are duplicates, which are asked about as such.
    numbers = survey.columns.get(grounds.column("attempt"))
    most = int(np.bincount(survey.cell[survey.cell >= 0], minlength=1).max())
    if runs or not own.certain or (numbers and numbers.distinct <= few(most)):
        return
    if equal_files(("", source) for source in sources):
        return
    files = [name.rsplit("/", 1)[-1] for name in survey.files]
    folders = len(set(files)) == 1
    path = "{arm}/" + files[0] if folders else "{arm}" + _ending(files)
    yield Finding(
        FILES_SHARE_TASKS,
        True,
        {"values": survey.files},
        (
            Settle({"--path": path, "--by": ("arm",)}, "keeps them apart"),
            Settle({"--pool": ("file",)}, "pools them as runs"),
        ),
    )


def _ending(names: Sequence[str]) -> str:
    """The end that all names share, from a dot on."""
    ends = {name[name.index(".") :] if "." in name else "" for name in names}
    return ends.pop() if len(ends) == 1 else ".*"


def _are_models(grounds: Grounds) -> bool:
    """Whether each file is a model, since nothing names one."""
    named = any(s.label for s in grounds.sources) or any(b.roles.model for b in grounds.batches)
    return not (named or grounds.harness or grounds.request.template)


def files(grounds: Grounds) -> Iterator[Finding]:
    """Files that name models, and have no task in common."""
    survey = grounds.survey
    if not (_are_models(grounds) and survey.whole):
        return
    there = survey.task >= 0
    models = np.unique(np.stack([survey.series[there], survey.task[there]]), axis=1)
    if len(grounds.models) > 1 and len(np.unique(models[1])) == models.shape[1]:
        yield Finding(FILES_AS_MODELS, False, {"values": survey.files})


def runs_in_folders(grounds: Grounds) -> Iterator[Finding]:
    """Files of runs, numbered alike in several folders, where no column names a model."""
    sources = grounds.sources
    if not _are_models(grounds):
        return
    template = layout_template([source.path for source in sources])
    folders = {os.path.dirname(source.path) for source in sources}
    names = sorted({os.path.basename(source.path) for source in sources})
    days = sorted({os.path.basename(folder) for folder in folders})
    if not template and len(names) == 1 and all(map(is_day, days)):
        # Days of one model, whose folder holds them.
        template = "{task}/{attempt}/" + names[0]
    grid = len(sources) == len(folders) * len(names) == len(grounds.models)
    shared = len(grounds.cells["task"].codes) > len(grounds.tasks)
    if not grid or not shared or len(folders) == 1 or "{attempt}" not in template:
        return
    # Rows name their tasks, so that folders are models, and what lies between are settings.
    path = template.replace("{task}", "{arm}" if "{model}" in template else "{model}")
    if "{model}/{arm}/" in path:
        arms = {tuple(s.path.split("/")[-path.count("/") - 1 :][:2]) for s in sources}
        if len({arm for _, arm in arms}) == len(arms):
            # The folder above each says whose it is.
            path = path.replace("{model}/{arm}/", "{model}/")
    by = ("arm",) if "{arm}" in path else ()
    apart = {"--path": path.replace("{attempt}", "{run}"), "--by": ("run", *by)}
    runs = {"--path": path} | ({"--by": by} if by else {})
    yield Finding(
        FILES_AS_RUNS, True, {"values": names if len(names) > 1 else days},
        (Settle(runs, "takes them as runs of a model"), Settle(apart, "keeps them apart")),
    )  # fmt: skip


def summaries(grounds: Grounds) -> Iterator[Finding]:
    """Files that would be models by their names, and sum up the others: their tasks are the models
    of these, or they lie in a folder and their names say so; and counts of what others hold."""
    names, tasks, models = grounds.cells["name"], grounds.cells["task"], {*grounds.models}
    files = [(batch, source) for batch in grounds.batches for source in batch.sources]
    shown = {"tasks": "", "name": "", "counts": 0, "pattern": ""}
    for batch, source in files if len(models) > 1 else ():
        unnamed = batch.roles.model is None and source.label is None and not batch.layout.table
        if source.stem not in models or not unnamed:
            continue
        others = models - {source.stem}
        own = tasks[names.codes == names.names.index(source.stem)].present
        if len(own) > 1 and others.issuperset(own):
            why: dict[str, object] = {"tasks": own}
        elif not source.named and _SUMMARY.fullmatch(source.stem):
            why = {"name": sorted(others)}
        else:
            continue
        if not source.named:
            pattern = os.path.join(os.path.dirname(source.name), "*")
            why["pattern"] = shlex.quote(pattern)
        without = Settle({"--exclude-model": (source.stem,)}, "leaves it out")
        yield Finding(SUMMARY_FILE, True, {**shown, **why}, (without,), source.name)
    counts = [s for b, s in files if b.roles.shape == "counts" and not s.named]
    rows = [s for b, s in files if b.roles.shape != "counts"]
    if not counts or not rows or any(batch.layout.table for batch in grounds.batches):
        return
    survey = grounds.survey if grounds.survey.whole else grounds.refined([])

    def cells(sources: Sequence[Source]) -> set[int]:
        places = [survey.files.index(s.name) for s in sources if s.name in survey.files]
        return {*survey.cell[np.isin(survey.file, places)].tolist()} - {-1}

    if both := cells(counts) & cells(rows):
        yield Finding(SUMMARY_FILE, True, {**shown, "counts": len(both)}, (), counts[0].name)


DOUBTS = (
    Doubt(
        FILES_SHARE_TASKS,
        "Files whose names differ in more than numbers hold the same tasks of one model, evenly.",
        ("--path '{arm}.jsonl' --by arm", "--pool file"),
        pooled_files,
    ),
    Doubt(
        FILES_AS_MODELS,
        "No column names a model, and no two files have a task in common.",
        (),
        files,
    ),
    Doubt(
        FILES_AS_RUNS,
        "No column names a model, and files or folders that are numbered alike, or named by days,"
        " lie in several folders.",
        ("--path '{model}/run{attempt}.jsonl'",),
        runs_in_folders,
    ),
    Doubt(
        SUMMARY_FILE,
        "The tasks of a file are the models of others; a file of a folder is called summary or"
        " leaderboard, or counts attempts that others hold one by one.",
        ("--exclude-model X",),
        summaries,
    ),
)
