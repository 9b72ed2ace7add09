"""Files that are not models: runs of one, parts of a benchmark, arms, and sums of the others."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from passk_cli.files.checks.check import CERTAIN, CheckContext, Finding, ReadingCheck
from passk_cli.files.checks.evenness import VARIES, evenness
from passk_cli.files.checks.laid_out import most_numbers
from passk_cli.files.reading.strays import copy_of
from passk_cli.files.sources.paths import Template, is_day, labels_of, layout_template
from passk_cli.files.sources.source import Source
from passk_cli.message import WARNING, Message
from passk_cli.settle import Settle

# Names of files that sum up the others.
_SUMMARY = re.compile(
    r"((results?|eval|runs?|models?|benchmark|all)[_-])?"
    r"(summary|leaderboard|aggregated?|aggregates|overall|totals?)([_-]results)?",
    re.I,
)
# Files that a line names, each with a label.
_LABELLED = 6
FILES_SHARE_TASKS = Message(
    "files-share-tasks", WARNING,
    "{?pooled|{values} contain attempts of one model at the same tasks and would be pooled}"
    "{?models|each file would count as a model ({values}); which part of a path is the model?}",
    "",
    "Several files have attempts of one model at the same tasks, and their names are not numbers of"
    " runs. They are rather arms of an experiment, or benchmarks whose tasks have the same names."
    " If no column names a model, each file would count as one. If the same names recur in every"
    " folder, or folders are named by days, the files are rather benchmarks or runs of the model"
    " that a folder is named after. Say with --path what the parts of the paths mean.",
)  # fmt: skip
SUMMARY_FILE = Message(
    "summary-file", WARNING,
    "{?tasks|its tasks are models of the other files ({tasks})}{?name|its name is that of a summary"
    " of the other files ({name})}{?counts|it counts attempts at {counts:task} that other files"
    " contain; a file that you name is added}",
    "",
    "A folder contains the results of models and a summary of them. The summary is not a model, and"
    " its attempts would count twice. Leave it out. If it has results of its own, name the files,"
    " or a pattern, in place of the folder.",
)  # fmt: skip


def files_of_a_model(context: CheckContext) -> Iterator[Finding]:
    """Several files of one model that are its runs, its benchmarks or arms, by their names.

    Names that differ in numbers only, or folders of days, are runs.  Others are benchmarks if they
    recur in folder after folder, or if the files have the same tasks evenly.
    """
    request, sources = context.request, context.sources
    if len(sources) < 2 or context.harness or request.template is not None:
        return
    if "file" in request.pool or request.duplicates == "first":
        # Copies are counted once.
        return
    template, levels = _levels([source.path for source in sources])
    places = {(level.get("benchmark"), level.get("model"), level.get("arm")) for level in levels}
    often = Counter(name for name, *_ in places)
    recurring = sum(folders > 1 for folders in often.values()) > 1
    if not _are_models(context):
        yield from _pooled(context, template, levels, recurring=recurring)
    elif recurring or "{attempt}" in template:
        yield from _as_models(context, template, levels)


def _levels(paths: Sequence[str]) -> tuple[str, list[dict[str, str]]]:
    """The template of files that are laid out alike, and what it reads from each of their paths.

    Its levels are some of model, arm and benchmark, or of model, arm and attempt; of files that are
    not laid out alike the names are benchmarks.
    """
    template = layout_template(paths, "model", "arm", "benchmark")
    if "{attempt}" in template:
        # Folders are models, and what lies between are settings.
        template = layout_template(paths, "model", "arm")
    names = sorted({os.path.basename(path) for path in paths})
    days = {os.path.basename(os.path.dirname(path)) for path in paths}
    if not template and len(names) == 1 and all(map(is_day, days)):
        # Days of one model, whose folder holds them.
        template = "{model}/{attempt}/" + names[0]
    if "{model}" not in template and "{attempt}" in template:
        template = template.replace("{arm}", "{model}")
    levels = [Template(template).columns(path) for path in paths if template]
    alike = [level for level in levels if level is not None]
    if len(alike) < len(paths):
        ends = {name[name.index(".") :] if "." in name else "" for name in names}
        end = ends.pop() if len(ends) == 1 else ".*"
        return f"{{benchmark}}{end}", [{"benchmark": path} for path in paths]
    return template, alike


def _pooled(
    context: CheckContext, template: str, levels: Sequence[Mapping[str, str]], *, recurring: bool
) -> Iterator[Finding]:
    """Files that hold the same tasks of one model, and are not named as runs.

    recurring : whether their names stand in folder after folder.
    """
    survey, sources = context.survey, context.sources
    counts = {batch.roles.shape == "counts" for batch in context.batches}
    if len(counts) == 2 or (True in counts and all(source.named for source in sources)):
        # Counts beside attempts sum these up, or were named to be added.
        return
    attempt = context.column("attempt")
    if not survey.whole:
        survey = context.refined([attempt] if attempt else [])
    # The levels whose names differ, in more than numbers, among the files of one model.
    of_name = {source.name: level for source, level in zip(sources, levels, strict=True)}
    names: dict[tuple[int, str], set[str]] = {}
    for series, file in {*zip(survey.series.tolist(), survey.file.tolist(), strict=True)}:
        for level, name in of_name.get(survey.files[file], {}).items():
            stem = re.sub("[0-9]+", "0", name)
            names.setdefault((series, level), set()).add(stem)
    apart = {level for (_, level), own in names.items() if len(own) > 1} - {"attempt"}
    own = evenness(survey.cell, survey.file)
    numbers = survey.columns.get(attempt)
    if numbers and recurring:
        # Who says what to do with repeats has been asked.
        shared = own.varies >= VARIES and context.request.duplicates == "error"
    elif numbers and numbers.distinct <= most_numbers(int(np.bincount(survey.cell + 1).max())):
        # Numbers that go on from file to file are of one series; those that start again are
        # duplicates, which are asked about as such.
        shared = False
    else:
        shared = own.varies >= VARIES if recurring else own.likely
    if not (apart and shared) or copy_of(("", source) for source in sources):
        return
    by = [level for level in ("model", "arm", "benchmark") if level in apart]
    new = dict(zip(by, ("folder", "arm", "benchmark")[-len(by) :], strict=True))
    path = re.sub(r"\{(\w+)\}", lambda n: f"{{{new[n[1]]}}}" if n[1] in new else "*", template)
    path = re.sub(r"^(\*/)+", "", path)
    parts = (*new.values(),)
    parted = sorted({level[by[-1]] for level in levels}) if recurring else sorted(survey.files)
    runs = labels_of([source.name for source in sources])
    labelled = len(sources) <= _LABELLED and not recurring and len({*survey.series.tolist()}) == 1
    yield Finding(
        FILES_SHARE_TASKS,
        True,
        {"values": parted, "pooled": True, "models": False},
        (
            *[Settle({}, "keeps them apart as runs", labels=runs)] * labelled,
            Settle({"--path": path, "--by": parts}, "keeps them apart"),
            _of_parts(context, {"--path": path}, parts),
            Settle({"--pool": ("file",), **_repeats_kept(context)}, "pools them as runs"),
        ),
    )


def _of_parts(context: CheckContext, options: Mapping[str, Any], parts: Sequence[str]) -> Settle:
    """The remedy that makes tasks of one name in several parts several tasks."""
    task = ",".join([*parts, context.column("task") or "task"])
    return Settle({**options, "--field": {"task": task}}, "counts their tasks as different ones")


def _repeats_kept(context: CheckContext) -> dict[str, str]:
    """The option that pools attempts whose numbers start again in each file."""
    numbered = context.column("attempt") or any(
        b.roles.shape != "attempts" for b in context.batches
    )
    return {"--duplicates": "keep"} if numbered else {}


def _as_models(
    context: CheckContext, template: str, levels: Sequence[Mapping[str, str]]
) -> Iterator[Finding]:
    """Runs or benchmarks in folders of models, where each file would be a model."""
    sources, survey = context.sources, context.survey
    shared = len(context.cells["task"].codes) > len(context.tasks)
    folders = {os.path.dirname(source.path) for source in sources}
    if not shared or len(sources) != len(context.models) or len(folders) == 1:
        return
    if len({re.sub("[0-9]+", "0", level.get("benchmark", "")) for level in levels}) == 1:
        template = template.replace("{benchmark}", "{attempt}")
    arms = {(level["model"], level.get("arm")) for level in levels}
    if len({arm for _, arm in arms}) == len(arms):
        # The folder above each says whose it is.
        template = template.replace("{model}/{arm}/", "{model}/")
    by = tuple(level for level in ("arm", "benchmark") if f"{{{level}}}" in template)
    # Attempts of several files at a task, of which each may have several.
    kept = _repeats_kept(context)
    several = int(np.bincount(survey.cell + 1)[1:].max(initial=0)) > 1
    names = sorted({os.path.basename(source.path) for source in sources})
    if "{attempt}" in template:
        pooled = {"--path": template, **({"--by": by} if by else {})}
        if several:
            pooled |= {"--path": template.replace("{attempt}", "*"), **kept}
        apart = {"--path": template.replace("{attempt}", "{run}"), "--by": ("run", *by)}
        names = names if len(names) > 1 else sorted(map(os.path.basename, folders))
        ways = [
            Settle(pooled, "takes them as runs of a model"),
            Settle(apart, "keeps them apart"),
        ]
    else:
        other = {"{model}": "{benchmark}", "{benchmark}": "{model}"}
        swapped = re.sub("{model}|{benchmark}", lambda level: other[level[0]], template)
        many = [len({level[name] for level in levels}) for name in ("benchmark", "model")]
        readings = [(template, "takes folders as models"), (swapped, "takes files as models")]
        if "{arm}" in template:
            readings = readings[:1]
        elif many[0] > many[1]:
            readings.reverse()
        path = readings[0][0]
        ways = [Settle({"--path": path, "--by": by}, why) for path, why in readings]
        ways.append(_of_parts(context, {"--path": path}, by))
        pooled = {"--path": path.replace("{benchmark}", "*"), **kept}
        ways.append(Settle(pooled, "pools them as runs"))
    shown = {"values": names, "pooled": False, "models": True}
    yield Finding(FILES_SHARE_TASKS, True, shown, tuple(ways))


def _are_models(context: CheckContext) -> bool:
    """Whether each file is a model, since nothing names one."""
    named = any(s.label for s in context.sources) or any(b.roles.model for b in context.batches)
    return not (named or context.harness or context.request.template)


def summaries(context: CheckContext) -> Iterator[Finding]:
    """Files that would be models by their names, and sum up the others: their tasks are the models
    of these, or they lie in a folder and their names say so; and counts of what others hold."""
    names, tasks, models = context.cells["name"], context.cells["task"], {*context.models}
    files = [(batch, source) for batch in context.batches for source in batch.sources]
    shown = {"tasks": "", "name": "", "counts": 0}
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
        without = Settle({"--exclude-model": (source.stem,)}, "leaves it out")
        yield Finding(SUMMARY_FILE, True, {**shown, **why}, (without,), source.name)
    counts = [s for b, s in files if b.roles.shape == "counts" and not s.named]
    rows = [s for b, s in files if b.roles.shape != "counts"]
    if not counts or not rows or any(batch.layout.table for batch in context.batches):
        return
    survey = context.survey if context.survey.whole else context.refined([])

    def cells(sources: Sequence[Source]) -> set[int]:
        places = [survey.files.index(s.name) for s in sources if s.name in survey.files]
        return {*survey.cell[np.isin(survey.file, places)].tolist()} - {-1}

    if both := cells(counts) & cells(rows):
        yield Finding(SUMMARY_FILE, True, {**shown, "counts": len(both)}, (), counts[0].name)


CHECKS = (
    ReadingCheck(
        FILES_SHARE_TASKS,
        CERTAIN,
        "Files whose names differ in more than numbers have the same tasks of one model, evenly. Or"
        " no column names a model, and names of files recur in every folder, or folders are days.",
        (
            "--path '{model}/{benchmark}.jsonl' --by benchmark",
            "--path '{model}/run{attempt}.jsonl'",
            "--path '{benchmark}.jsonl' --field task=benchmark,task",
            "--pool file",
        ),
        files_of_a_model,
    ),
    ReadingCheck(
        SUMMARY_FILE,
        CERTAIN,
        "The tasks of a file are the models of others; a file of a folder is named summary or"
        " leaderboard, or counts attempts that other files contain one by one.",
        ("--exclude-model X",),
        summaries,
    ),
)
