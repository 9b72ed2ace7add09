"""Messages about reading, about sampling, and about what is special in values and intervals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from passk_cli.arrays import Ints, group_by, group_pairs
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.files.request import MORE_LABELS_FIX
from passk_cli.files.roles import COLUMN, SETTINGS, name_strength, spelled_last_key
from passk_cli.files.sources.paths import run_labels, temperature_template
from passk_cli.files.vocabulary import SETTING_NAMES
from passk_cli.inference.intervals import NEEDS_BOUNDS, WITH_FEW_TASKS
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.stopping import (
    FIRST_PASS,
    LEVEL,
    ONCE_PASSED,
    REPLACED,
    OptionalStopping,
    detect_optional_stopping,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import SeriesName, model_numbers
from passk_cli.study.benchmarks import pooled_benchmarks_warning
from passk_cli.study.completeness import uneven_attempts_warning
from passk_cli.study.confidence import Confidence
from passk_cli.study.duplicate_runs import copied_models_warning
from passk_cli.study.missing_outcomes import missing_outcome_notes
from passk_cli.study.result import Result
from passk_cli.study.values import NO_PASS, UNPRICED, TooFewAttempts, common_reason
from passk_cli.suggested_fix import Placeholder, SuggestedFix
from passk_cli.text import plural

SIMILAR_NAMES = DiagnosticType(
    "similar-names", WARNING, "{names:and} count as {count:model}",
    meaning="These names differ only in case, punctuation or blanks around them, as org/alpha"
    " and org__alpha do. passk counts them as different models.",
    why="They are often one model, whose name two tools spell differently. Its attempts are"
    " then divided between two names.",
    advice="If they are one model, `--alias` counts them as one.",
    example="warning[similar-names]: 'org/alpha' and 'org__alpha' count as 2 models",
)  # fmt: skip
ALIASED_MODELS = DiagnosticType(
    "aliased-models", NOTE, "counted as one model: {names:and}",
    meaning="With `--alias`, the attempts of these models count as attempts of another model,"
    " in files, baselines and histories.",
    why="Two attempts with the same number at the same task are duplicates then.",
    advice="Nothing is needed if the names mean the same model.",
    example="note[aliased-models]: counted as one model: org__alpha counts as org/alpha",
)  # fmt: skip
EXCLUDED_TASKS = DiagnosticType(
    "excluded-tasks", NOTE, "{tasks:task} left out: {names}",
    meaning="`--exclude-task` leaves these tasks out. All numbers use the other tasks only,"
    " also those of the baseline.",
    why="Numbers over different tasks cannot be compared.",
    advice="Name the excluded tasks whenever you report the numbers.",
    example="note[excluded-tasks]: 2 tasks left out: t7, t9",
)  # fmt: skip
CHOSEN_TASKS = DiagnosticType(
    "chosen-tasks", NOTE, "{tasks:task} chosen: {names}",
    meaning="`--only-task` chooses these tasks. All numbers use only these tasks, also those of"
    " the baseline.",
    why="Numbers over different tasks cannot be compared.",
    advice="Name the chosen tasks whenever you report the numbers.",
    example="note[chosen-tasks]: 2 tasks chosen: t7, t9",
)  # fmt: skip
ONE_MODEL = DiagnosticType(
    "one-model", NOTE,
    "{file}: no column names a model, so all rows count as one model; not used: {columns}",
    meaning="No column is recognised as the model, so all rows count as attempts of one model."
    " passk does not use these columns, although they are named like a model or a setting.",
    why="If a column names models or settings, their attempts are pooled in one number.",
    advice="If the column names models, add `--field model=COLUMN`. If it is a setting, `--by"
    " COLUMN` keeps its values apart.",
    example="note[one-model]: runs.csv: no column names a model, so all rows count as one"
    " model; not used: agent_name",
)  # fmt: skip
MODELS_IN_COLUMNS = DiagnosticType(
    "models-in-columns", NOTE, "{file}: columns are models; not used: {columns}",
    meaning="With `--field model=@column`, each column of `--field outcome=A,B` is a model."
    " passk does not use these other columns of the table.",
    why="If one of them contains outcomes, its model is missing from the result.",
    advice="Add the column to `--field outcome=A,B,…` if it contains outcomes.",
    example="note[models-in-columns]: wide.csv: columns are models; not used: gamma",
)  # fmt: skip
POOLED_RUNS = DiagnosticType(
    "pooled-runs", NOTE, "{runs:run} of {models} are pooled",
    SuggestedFix({"--by": ("run",)}, "keeps runs apart"),
    meaning="Attempts of several runs of a model at the same task count as attempts of one"
    " model.",
    why="That is right if the runs repeat one experiment. It is wrong if something changed"
    " between the runs.",
    advice="`--by run` keeps the runs apart.",
    example="note[pooled-runs]: 3 runs of alpha, beta are pooled; --by run keeps runs apart",
)  # fmt: skip
SKIPPED_FILES = DiagnosticType(
    "skipped-files", NOTE, "skipped {count:file} without results: {files}",
    meaning="These files in a folder contain no results. They are, for example, configurations"
    " or logs.",
    why="Their contents are not part of the numbers.",
    advice="If a file should contain results, `passk describe FILE` shows why passk cannot read"
    " it.",
    example="note[skipped-files]: skipped 2 files without results: config.json, run.log",
)  # fmt: skip
LEFT_FILES = DiagnosticType(
    "left-files", WARNING, "left out {count:file} that may contain results: {files}",
    meaning="These files in a folder may contain results but were not read. They lack a column"
    " that --field names, their paths do not fit --path, or they are histories of `passk"
    " record`.",
    why="The numbers use the other files only. The runs of a history would be counted twice.",
    advice="Correct --field or --path, or move the files to another folder. `passk trend"
    " HISTORY` shows the runs of a history.",
    example="warning[left-files]: left out 2 files that may contain results: old/a.csv,"
    " old/b.csv",
)  # fmt: skip
FILES_WITHOUT_OUTCOME = DiagnosticType(
    "files-without-outcome", WARNING, "skipped {count:file} without this outcome: {files}",
    meaning="These files in a folder do not have the outcome that --outcome names.",
    why="Their attempts are missing from the numbers.",
    advice="If these files should count, score them with the same scorer, or choose an outcome"
    " that all files have.",
    example="warning[files-without-outcome]: skipped 2 files without this outcome: run3.eval,"
    " run4.eval",
)  # fmt: skip
SKIPPED_LINES = DiagnosticType(
    "skipped-lines", NOTE, "skipped {lines:line} that are not records",
    meaning="With `--skip-bad`, passk leaves out lines that are not records. They are blank,"
    " cut off or of another kind.",
    why="If such lines were attempts, the numbers lack them.",
    advice="Without `--skip-bad`, the error names the first of these lines.",
    example="note[skipped-lines]: skipped 2 lines that are not records",
)  # fmt: skip
LOST_TASKS = DiagnosticType(
    "lost-tasks", WARNING, "no attempt is left at {lost}",
    meaning="All attempts of a model at these tasks have no outcome, and `--missing drop`"
    " leaves them out. The tasks are missing from the numbers of this model.",
    why="Tasks that are lost like this are often the difficult ones, so the rate is too high.",
    advice="Use `--missing fail` or `--missing bounds`, or make these attempts again.",
    example="warning[lost-tasks]: no attempt is left at 2 tasks of alpha",
)  # fmt: skip
MODELS_LACK_TASKS = DiagnosticType(
    "models-lack-tasks", WARNING,
    "models lack tasks that other models have ({lacking}): estimates use the tasks of each model,"
    " comparisons the shared tasks",
    meaning="Not all models have the same tasks. An estimate uses all tasks of its own model,"
    " and a comparison uses the tasks that both models have.",
    why="A model that lacks the difficult tasks has a higher rate. Therefore `passk compare`"
    " ranks models by their differences on shared tasks, and `passk estimate` names the model"
    " that scores highest on the tasks that all models have. The message is a note if no model"
    " lacks more than 5 % of the tasks.",
    advice="Complete the runs. `passk compare --unpaired error` refuses such data.",
    example="warning[models-lack-tasks]: models lack tasks that other models have (alpha 12 of"
    " 164): estimates use the tasks of each model, comparisons the shared tasks",
)  # fmt: skip
DROPPED_DUPLICATES = DiagnosticType(
    "dropped-duplicates", NOTE, "{rows:duplicate attempt} left out, the {kept} one kept",
    meaning="These attempts have the same model, task and number as another attempt. With"
    " `--duplicates first` or `--duplicates last`, passk keeps one of them.",
    why="If they are different attempts, the numbers lack them.",
    advice="Use `--duplicates keep` if they are attempts of their own.",
    example="note[dropped-duplicates]: 20 duplicate attempts left out, the first one kept",
)  # fmt: skip
UNNUMBERED_ATTEMPTS = DiagnosticType(
    "unnumbered-attempts", NOTE,
    "{attempts:attempt} without a number, which cannot be checked for duplicates",
    meaning="Some attempts have a number and others do not. Those without a number count as"
    " different attempts.",
    why="passk cannot see whether an attempt without a number is a duplicate.",
    advice="Number all attempts in the data.",
    example="note[unnumbered-attempts]: 12 attempts without a number, which cannot be checked"
    " for duplicates",
)  # fmt: skip
POOLED_FILES = DiagnosticType(
    "pooled-files", NOTE,
    "several files contain attempts of one model without numbers: they are pooled, and duplicates"
    " cannot be found",
    meaning="Several files contain attempts of the same model, and the attempts have no"
    " numbers. passk counts all of them.",
    why="If two files contain the same run, every attempt counts twice, and passk cannot see"
    " it.",
    advice="If the files are one run that was written twice, give only one of them.",
    example="note[pooled-files]: several files contain attempts of one model without numbers:"
    " they are pooled, and duplicates cannot be found",
)  # fmt: skip
POOLED_TEMPERATURES = DiagnosticType(
    "pooled-temperatures", WARNING,
    "files of one model are pooled, although their names contain different temperatures",
    SuggestedFix({"--path": "{template}", "--by": ("temperature",)}, "keeps them apart"),
    meaning="The names of these files contain different temperatures, and nothing else"
    " distinguishes their attempts. They count as attempts of one model.",
    why="A mean over several temperatures describes none of them.",
    advice="`--path` reads the temperature from the names of the files, and `--by temperature`"
    " keeps the values apart.",
    example="warning[pooled-temperatures]: files of one model are pooled, although their names"
    " contain different temperatures; --path '{model}_temp{temperature}.jsonl' --by temperature"
    " keeps them apart",
)  # fmt: skip
MIXED_COLUMNS = DiagnosticType(
    "mixed-columns", NOTE, "the {role} is read from {columns:and}, by file",
    meaning="The files name the column of this role differently, so it is read from another"
    " column in each kind of file.",
    why="If the columns have different meanings, the files cannot be compared.",
    advice="`passk describe FILE` shows how a file is read. `--field` chooses one column for"
    " all files.",
    example="note[mixed-columns]: the outcome is read from passed and success, by file",
)  # fmt: skip
NO_ANSWER = DiagnosticType(
    "missing-answers", NOTE,
    "{attempts:attempt} without an answer, which never {attempts:wins|win} the vote",
    meaning="The metric needs the answer of every attempt, and these attempts have none.",
    why="In a vote such an attempt counts as one with an answer that no other attempt shares.",
    advice="If the answers exist, name their column with `--field answer=COLUMN`.",
    example="note[missing-answers]: 3 attempts without an answer, which never win the vote",
)  # fmt: skip
NO_SCORE = DiagnosticType(
    "missing-scores", NOTE,
    "{attempts:attempt} without a score {attempts:has|have} the lowest one, as failures",
    meaning="The metric needs the score of every attempt, and these attempts have none. They"
    " get the lowest possible score, which is LOW of --bounds LOW,HIGH, or else 0.",
    why="If the scores are missing for another reason than a failure, the mean is too low.",
    advice="If the scores exist, name their column with `--field score=COLUMN`.",
    example="note[missing-scores]: 3 attempts without a score have the lowest one, as failures",
)  # fmt: skip
NO_VALUE = DiagnosticType(
    "missing-values", NOTE, "{attempts:attempt} without a {role}, which count as one {role}",
    meaning="The metric needs this value of every attempt, and these attempts have none. All of"
    " them together count as one value.",
    why="If they have different values in truth, the number of different values is too low.",
    advice="If the values exist, name their column with `--field`.",
    example="note[missing-values]: 3 attempts without a solution, which count as one solution",
)  # fmt: skip
# The maximum number of files that a suggested command labels.
_LABELLED = 6
_WITHOUT = {"answer": NO_ANSWER, "score": NO_SCORE}
ONLY_PASSES = DiagnosticType(
    "only-passes", WARNING, "all {attempts:attempt} of {model} passed, {least} to {most} of a task",
    "were failures written down?",
    meaning="All attempts in the file passed, and tasks have different numbers of attempts."
    " There is no message if every task has the same number.",
    why="A file that contains only passes often lacks the failures. pass@1 is 1 then, whatever"
    " the model did.",
    advice="Check whether the harness writes failures down.",
    example="warning[only-passes]: all 124 attempts of alpha passed, 1 to 5 of a task; were"
    " failures written down?",
)  # fmt: skip
ONE_SIDED_THRESHOLD = DiagnosticType(
    "one-sided-threshold", WARNING, "{share} score reaches the threshold {threshold}",
    "are the scores on another scale?",
    meaning="Every score reaches the threshold, or no score does.",
    why="All models have the same rate then. Scores from 0 to 1 and scores from 0 to 100 are"
    " often confused.",
    advice="Check the scale of the scores, and choose another --threshold.",
    example="warning[one-sided-threshold]: no score reaches the threshold 50; are the scores on"
    " another scale?",
)  # fmt: skip
SHORT_TASKS = DiagnosticType(
    "short-tasks", WARNING, "no value of {numbers}: {reason}",
    (SuggestedFix({"--short-tasks": "drop"}, "uses the tasks with n ≥ k"),
     SuggestedFix({"-k": "{k}"}, "uses all tasks")),
    meaning="pass@k needs at least k attempts at a task, and these tasks have fewer.",
    why="passk does not leave such tasks out by itself, because they are rarely a random"
    " choice. The number stays empty.",
    advice="`--short-tasks drop` uses the tasks with enough attempts. A smaller k uses all"
    " tasks.",
    example="warning[short-tasks]: no value of pass@5 of alpha: n=3–4 < k=5 on 2 of 10 tasks;"
    " --short-tasks drop uses the tasks with n ≥ k; -k 3 uses all tasks",
)  # fmt: skip
NO_NUMBER = DiagnosticType(
    "no-value", WARNING, "no value of {numbers}: {reason}",
    meaning="The number cannot be computed from this data, for the reason that the message"
    " names.",
    why="Its cell is empty, and the model does not take part in comparisons at this metric.",
    advice="Add the data that the message names, or choose another metric.",
    example="warning[no-value]: no value of cost-per-success of alpha: no attempt passed, so"
    " there is only a lower limit",
)  # fmt: skip
SHORT_TASKS_DROPPED = DiagnosticType(
    "short-tasks-dropped", WARNING, "{numbers} leave tasks out: {reason}",
    meaning="With `--short-tasks drop`, these numbers leave out the tasks with fewer than k"
    " attempts.",
    why="The remaining tasks may be easier or harder than all tasks.",
    advice="Make k attempts at every task, or choose a smaller k.",
    example="warning[short-tasks-dropped]: pass@5 of alpha leave tasks out: n=3–4 < k=5 on 2 of"
    " 10 tasks",
)  # fmt: skip
FEW_LABELS = DiagnosticType(
    "few-labels", WARNING, "no value of {numbers}: {reason}",
    MORE_LABELS_FIX,
    meaning="A judge's verdicts can be corrected only if there are enough labels of the right"
    " kind, and there are too few.",
    why="The number stays empty, because a correction by so few labels could be far from the"
    " truth.",
    advice="Add labels. Labels of single attempts correct k = 1, and also k = 2 if many tasks"
    " have two labels. To correct a metric up to k, label k attempts at each of several tasks.",
    example="warning[few-labels]: no value of pass@4 of alpha: no task has 4 labels; passk"
    " judge --list FILE writes attempts to label",
)  # fmt: skip
NO_INTERVAL = DiagnosticType(
    "no-interval", WARNING, "no interval of {numbers}: {reason}",
    meaning="The method has no interval for this data, for the reason that the message names.",
    why="The estimate has no measure of its uncertainty.",
    advice="Try another --interval.",
    example="warning[no-interval]: no interval of pass@1 of alpha: one task",
)  # fmt: skip
UNKNOWN_BOUNDS = DiagnosticType(
    "unknown-bounds", WARNING, "{numbers}: {reason}",
    SuggestedFix({"--bounds": Placeholder("LOW,HIGH")}, "gives them"),
    meaning="Guard intervals need the lowest and highest possible score, and passk does not"
    " know them. It uses a BCa interval instead.",
    why="With few tasks, BCa intervals are often too narrow. The message is a note if there are"
    " more than 30 tasks.",
    advice="Give the range of the scores with `--bounds LOW,HIGH`.",
    example="warning[unknown-bounds]: mean of alpha: the interval is bca, because guard"
    " needs the lowest and highest possible score; --bounds LOW,HIGH gives them",
)  # fmt: skip
SPECIAL_INTERVAL = DiagnosticType(
    "special-interval", NOTE, "{numbers}: {reason}",
    meaning="Something in the data limits what the interval can show. For example, all tasks"
    " may have the same value.",
    why="An interval of width 0 does not mean that the number is certain.",
    advice="Read the reason that the message names. More tasks give a better interval.",
    example="note[special-interval]: pass@1 of alpha: no difference between tasks",
    full=True,
)  # fmt: skip

ODD_K = DiagnosticType(
    "odd-k", WARNING, "{metric} is at most {most}, even for a model that passes everything",
    "use an even k",
    meaning="mgpass@k adds up k − ⌈k/2⌉ shares of passes and divides them by k/2, as it was"
    " published. For odd k, a model that passes everything gets 1 − 1/k, which is 0.667 for k ="
    " 3 and 0.8 for k = 5.",
    why="Values at odd k cannot be compared with values at even k, which reach 1.",
    advice="Use an even k.",
    example="warning[odd-k]: mgpass@3 is at most 0.667, even for a model that passes"
    " everything; use an even k",
)  # fmt: skip

# Fewer attempts at the only task are probably not a total over questions.
_TOTAL = 10
ONE_TASK = DiagnosticType(
    "one-task", WARNING,
    "all {attempts:attempt} of a model count as one task: intervals and tests about new tasks say"
    " next to nothing",
    SuggestedFix({"--population": "these-tasks"}, "takes them as separate questions"),
    meaning="All attempts of a model belong to one task. A row per model with n and c is often"
    " a total over many questions.",
    why="By default intervals and tests are about new tasks, and one task shows almost nothing"
    " about new tasks.",
    advice="If the attempts are answers to different questions, `--population these-tasks` uses"
    " the binomial distribution of c in n.",
    example="warning[one-task]: all 200 attempts of a model count as one task: intervals and"
    " tests about new tasks say next to nothing; --population these-tasks takes them as"
    " separate questions",
)  # fmt: skip


MORE_ATTEMPTS = DiagnosticType(
    "more-attempts", NOTE,
    "{models} {count:has|have} {k} attempts at every task, but most models have fewer",
    SuggestedFix({"-k": "{k}"}, "shows pass@{k}"),
    meaning="Some models have enough attempts for a larger k than most models.",
    why="Without -k, passk shows metrics at the k that every task of most models allows. At a"
    " larger k the columns of the other models would be empty.",
    advice="`-k` shows the metric at the larger k.",
    example="note[more-attempts]: alpha, beta have 10 attempts at every task, but most models have"
    " fewer; -k 10 shows pass@10",
)  # fmt: skip


# pass@1 next to the rate of first attempts, which does not depend on when sampling stops.
_BIAS = "pass@1 reads {read}{?at_once|, first attempts passed at {at_once}}"
_FIRST_AT_K = (
    "use first@k for k ≤ {most} (first@{most} is {solved}), or make {most} attempts at every task"
)
_FIXED_BEFORE = (
    "passk reports this if data with numbers fixed before would look like this with a probability"
    " below 1 %, for all models together."
)
_BIASED = (
    "pass@k assumes that the number of attempts was fixed before. If it depends on the outcomes,"
    " easy tasks have few attempts and a high rate, and pass@k is biased. --short-tasks drop does"
    " not help, because it drops the easy tasks."
)
STOPPED_AT_PASS = DiagnosticType(
    "stopped-at-pass", WARNING,
    "attempts of {models} seem to stop at the first pass, so pass@k is biased: {short} of {tasks}"
    " tasks of {model} have fewer than {most} attempts and none has two passes; " + _BIAS,
    _FIRST_AT_K,
    meaning="Sampling seems to stop at the first pass: tasks with fewer attempts have exactly"
    " one pass, at the end. " + _FIXED_BEFORE,
    why=_BIASED,
    advice="Report first@k, the share of tasks that are solved within k attempts. If you need"
    " pass@k, make the same number of attempts at every task.",
    example="warning[stopped-at-pass]: attempts of alpha seem to stop at the first pass, so"
    " pass@k is biased: 31 of 40 tasks of alpha have fewer than 5 attempts and none has two"
    " passes; pass@1 reads 0.55, first attempts passed at 0.31; use first@k for k ≤ 5 (first@5"
    " is 0.88), or make 5 attempts at every task",
)  # fmt: skip
STOPPED_ONCE_PASSED = DiagnosticType(
    "stopped-once-passed", WARNING,
    "attempts of {models} seem to stop once a task has passed, so pass@k is biased: {short} of"
    " {tasks} tasks of {model} have fewer than {most} attempts, and each of these was solved;"
    " attempts go on after a pass in {beyond:task}, as in batches; " + _BIAS,
    "ignore this if their number was fixed beforehand; else " + _FIRST_AT_K,
    meaning="Sampling seems to stop once a task has passed, for example after a batch of"
    " attempts: every task with fewer attempts was solved. " + _FIXED_BEFORE,
    why=_BIASED,
    advice="If the number of attempts was fixed before, ignore this warning. Otherwise report"
    " first@k, or make the same number of attempts at every task.",
    example="warning[stopped-once-passed]: attempts of alpha seem to stop once a task has"
    " passed, so pass@k is biased: 31 of 40 tasks of alpha have fewer than 8 attempts, and each"
    " of these was solved; attempts go on after a pass in 6 tasks, as in batches; pass@1 reads"
    " 0.55, first attempts passed at 0.31; ignore this if their number was fixed beforehand;"
    " else use first@k for k ≤ 8 (first@8 is 0.88), or make 8 attempts at every task",
)  # fmt: skip
REPLACED_FAILURES = DiagnosticType(
    "replaced-failures", WARNING,
    "retries of {models} seem to replace failed attempts, so pass@k is biased: attempt numbers"
    " have gaps, and every task of {model} with fewer than {most} attempts ends with a pass; "
    + _BIAS,
    _FIRST_AT_K,
    meaning="Retries seem to replace failed attempts: numbers of attempts have gaps, as if a"
    " failed attempt were deleted when a retry took its place. " + _FIXED_BEFORE,
    why=_BIASED,
    advice="Keep all attempts in the data. Report first@k, or make the same number of attempts"
    " at every task.",
    example="warning[replaced-failures]: retries of alpha seem to replace failed attempts, so"
    " pass@k is biased: attempt numbers have gaps, and every task of alpha with fewer than 5"
    " attempts ends with a pass; pass@1 reads 0.92; use first@k for k ≤ 5 (first@5 is 0.88), or"
    " make 5 attempts at every task",
)  # fmt: skip
_STOPPED = {
    FIRST_PASS: STOPPED_AT_PASS, ONCE_PASSED: STOPPED_ONCE_PASSED, REPLACED: REPLACED_FAILURES,
}  # fmt: skip
OF_STOPPING = tuple(message.name for message in _STOPPED.values())


# The share of tasks that runs often lose; up to this share, the message is a note.
_FEW_LACKING = 0.05


def reading_notes(counts: Counts) -> Iterator[Diagnostic]:
    """Messages about everything that happened between sampling and the counts.

    They are about names that may be one model, about runs of one model, about attempts that were
    passed over, lost, left out, not checked, without a value, or pooled, and about sampling that
    stopped because of the outcomes.
    """
    facts = counts.facts
    yield from facts.messages
    all_models = list(dict.fromkeys(model for model, *_ in counts.series))
    # org/alpha and org__alpha are spellings of one name, and so are names with a blank at the end.
    # A name without letters and digits is not a spelling of another one.
    spellings = group_by(all_models, lambda model: re.sub(r"[\W_]+", "-", model.casefold().strip())
                        if re.search(r"[^\W_]", model) else model)  # fmt: skip
    runs = group_pairs((facts.runs[model], model) for model in all_models if model in facts.runs)
    for names in spellings.values():
        if len(names) > 1:
            quoted = list(map(repr, names))
            # Names that share tasks may contain the same attempts, if their passes are equal.
            cells = zip(counts.cells, counts.n.tolist(), counts.c.tolist(), strict=True)
            shared = group_pairs(
                ((task, *series[1:]), (n, c))
                for (series, task), n, c in cells
                if series[0] in names
            )
            several = [pairs for pairs in shared.values() if len(pairs) > 1]
            options: dict[str, Any] = {"--alias": dict.fromkeys(names[1:], names[0])}
            why = f"counts {'both' if len(names) == 2 else 'all'} as one, if they are"
            if several and facts.duplicates_checked:
                same = all(len({*pairs}) == 1 for pairs in several)
                options["--duplicates"] = "first" if same else "keep"
                why += ", and what repeats once" if same else ", with the attempts of each"
            elif several:
                why += ", with the attempts of each"
            diagnostic = SIMILAR_NAMES(names=quoted, count=len(names))
            yield replace(diagnostic, settles=(SuggestedFix(options, why),))
    yield from pooled_benchmarks_warning(counts)
    yield from copied_models_warning(counts)
    for file in facts.inputs:
        telling = [name for name in file.unused if _may_name_models(name)]
        if telling and not {"model", "attempt", "n"} & set(file.roles):
            yield ONE_MODEL(file=file.name, columns=telling)
        elif file.unused and file.roles.get("model") == COLUMN:
            yield MODELS_IN_COLUMNS(file=file.name, columns=file.unused)
    for number, models in runs.items():
        yield POOLED_RUNS(runs=number, models=models)
    if facts.alias:
        yield ALIASED_MODELS(names=[f"{new} counts as {old}" for new, old in facts.alias.items()])
    for option, message in (("--exclude-task", EXCLUDED_TASKS), ("--only-task", CHOSEN_TASKS)):
        if names := facts.names_of(option):
            yield message(tasks=len(names), names=names)
    passes = counts.c.sum()
    if facts.threshold is not None and passes in (0, counts.n.sum()):
        share = "every" if passes else "no"
        yield ONE_SIDED_THRESHOLD(share=share, threshold=f"{facts.threshold:g}")
    elif passes == counts.n.sum() and not any("n" in file.roles for file in facts.inputs):
        yield from _only_passes_warning(counts)
    if facts.non_result_files:
        yield SKIPPED_FILES(count=len(facts.non_result_files), files=facts.non_result_files)
    if facts.left_out_files:
        yield LEFT_FILES(count=len(facts.left_out_files), files=facts.left_out_files)
    if facts.without_outcome:
        files = facts.without_outcome
        yield FILES_WITHOUT_OUTCOME(count=len(files), files=files)
    if facts.skipped:
        yield SKIPPED_LINES(lines=facts.skipped)
    if facts.missing:
        yield from missing_outcome_notes(facts)
    if facts.emptied and facts.missing_outcomes:
        emptied = sorted(facts.missing_outcomes.emptied_tasks().items(), key=lambda item: -item[1])
        lost = [f"{plural(tasks, 'task')} of {SeriesName(series)}" for series, tasks in emptied]
        yield LOST_TASKS(lost=lost)
    if facts.duplicates and facts.duplicates_policy in ("first", "last"):
        yield DROPPED_DUPLICATES(rows=facts.duplicates, kept=facts.duplicates_policy)
    if facts.unnumbered:
        yield UNNUMBERED_ATTEMPTS(attempts=facts.unnumbered)
    if facts.pooled_unnumbered:
        templates = [*filter(None, map(temperature_template, facts.pooled_unnumbered))]
        files, one_model = facts.pooled_unnumbered, len({model for model, *_ in counts.series}) == 1
        label_fix = SuggestedFix({}, "keeps them apart", labels=run_labels(files))
        pooled = replace(
            POOLED_FILES(), settles=(label_fix,) * (one_model and len(files) <= _LABELLED)
        )
        differ = len({heat for _, heat in templates}) > 1
        yield POOLED_TEMPERATURES(template=templates[0][0]) if differ else pooled
    for role, attempts in counts.attempts.items():
        columns = list(dict.fromkeys(f.roles[role] for f in facts.inputs if role in f.roles))
        if len(columns) > 1:
            yield MIXED_COLUMNS(role=role, columns=columns)
        if attempts.valueless:
            yield _WITHOUT.get(role, NO_VALUE)(attempts=attempts.valueless, role=role)
    attempt_numbers = counts.n if counts.numbering is None else counts.numbering.attempts_made
    if any(numbers.min() < numbers.max() for numbers in (counts.n, attempt_numbers)):
        stopped = list(_stopping_notes(counts))
        # If sampling stopped because of outcomes, this explains the different numbers of attempts.
        yield from stopped or uneven_attempts_warning(counts)


def _may_name_models(column: str) -> bool:
    """Whether an unused column is named like a model or a setting."""
    is_setting = spelled_last_key(column) in SETTING_NAMES or spelled_last_key(column) in SETTINGS
    return is_setting or name_strength("model", column) > 0


def _only_passes_warning(counts: Counts) -> Iterator[Diagnostic]:
    """A warning if tasks of a model have different numbers of attempts and none of these failed."""
    for s, series in enumerate(counts.series):
        n = counts.n[counts.rows_of(s)]
        if n.min() < n.max():
            least, most = int(n.min()), int(n.max())
            name, attempts = SeriesName(series), int(n.sum())
            yield ONLY_PASSES(attempts=attempts, model=name, least=least, most=most)
            return


def lacking_tasks_message(counts: Counts) -> Iterator[Diagnostic]:
    """The message about models that lack tasks of other models in their group, the worst first."""
    rows = {series: counts.rows_of(s) for s, series in enumerate(counts.series)}
    lacking: list[tuple[int, str, int]] = []
    for rivals in group_by(rows, lambda series: series[1:]).values():
        tasks_by_series = {series: counts.task_codes[rows[series]] for series in rivals}
        total = int(np.count_nonzero(np.bincount(np.concatenate([*tasks_by_series.values()]))))
        lacking += [
            (total - len(tasks), SeriesName(series), total)
            for series, tasks in tasks_by_series.items()
            if len(tasks) < total
        ]
    if lacking:
        lacking.sort(key=lambda item: -item[0])
        diagnostic = MODELS_LACK_TASKS(
            lacking=[f"{name} {n:,} of {total:,}" for n, name, total in lacking]
        )
        few = all(n <= _FEW_LACKING * total for n, _, total in lacking)
        yield replace(diagnostic, severity=NOTE) if few else diagnostic


def one_task_warning(counts: Counts, confidence: Confidence) -> Iterator[Diagnostic]:
    """The warning about one task per model, whose counts may be totals over questions."""
    about_new = confidence.population != THESE_TASKS and confidence.method != "none"
    if about_new and len(counts.n) == len(counts.series) and counts.n.min() >= _TOTAL:
        yield ONE_TASK(attempts=int(counts.n.max()))


def _stopping_notes(counts: Counts) -> Iterator[Diagnostic]:
    """A warning per kind of stopping, with the numbers of the model with the smallest p-value.

    A model is tested on all its tasks together, or group by group if groups share tasks.
    """
    by_model = group_by(range(len(counts.series)), lambda s: counts.series[s][0])
    suspects: list[tuple[OptionalStopping, str, int, float]] = []
    tested = 0
    for model, places_of_model in by_model.items():
        places: list[tuple[str, Ints]]
        places = [(SeriesName(counts.series[s]), np.r_[counts.rows_of(s)]) for s in places_of_model]
        all_cells = np.concatenate([cells for _, cells in places])
        if np.bincount(counts.task_codes[all_cells], minlength=1).max() <= 1:
            places = [(model, all_cells)]
        for name, cells in places:
            n, c, numbers = counts.n[cells], counts.c[cells], counts.numbering
            numbering = (
                ()
                if numbers is None
                else (numbers.attempts_made[cells], numbers.last_passed[cells])
            )
            tested, end = tested + 1, detect_optional_stopping(n, c, *numbering)
            if end is not None:
                suspects.append((end, name, len(cells), float(np.mean(c / n))))
    suspects = [suspect for suspect in suspects if suspect[0].chance * tested < LEVEL]
    suspects.sort(key=lambda suspect: suspect[0].chance)
    for kind, same_kind in group_by(suspects, lambda suspect: suspect[0].kind).items():
        end, model, tasks, rate = same_kind[0]
        yield _STOPPED[kind](
            models=[name for _, name, *_ in same_kind], model=model, tasks=tasks, short=end.short,
            most=end.most, read=rate, at_once=end.at_once, solved=end.solved, beyond=end.beyond,
        )  # fmt: skip


def allowed_k(names: Collection[str], reasons: Sequence[str]) -> str:
    """The -k that all tasks of these models allow; "" if the numbers are not those of a -k."""
    few = [reason for reason in reasons if isinstance(reason, TooFewAttempts)]
    plain = {name.rstrip("0123456789") for name in names} == {"pass@", "pass^"}
    return str(min(reason.least for reason in few) or "") if plain and few else ""


def result_notes(
    facts: Sequence[Result], short: Sequence[Result], short_tasks: str
) -> list[Diagnostic]:
    """A message for each special fact about values and intervals, with the numbers that it
    concerns.

    It is a warning if it is the reason for a missing value or interval.  The line below the tables
    names the method of intervals.
    short : the results whose lack of attempts is reported.
    """

    def empty(fact: Result) -> DiagnosticType:
        if fact.values is not None and fact.values.labels is not None and fact.values.n.size:
            return FEW_LABELS
        has_enough = (fact.size.n_max or 0) >= (fact.k or 0)
        return SHORT_TASKS if has_enough and short_tasks != "drop" else NO_NUMBER

    # A model without a price has a message of its own.
    short = [fact for fact in short if fact.estimate.reason not in (UNPRICED, NO_PASS)]
    # A range that is too wide for an estimate has a sentence of its own.
    short = [fact for fact in short if not fact.is_range]
    failed = [fact for fact in facts if fact.estimate.reason == NO_PASS]
    causes = [
        *((fact, empty(fact) if fact.estimate.value is None else SHORT_TASKS_DROPPED,
           fact.estimate.reason) for fact in short),
        *((fact, NO_NUMBER, "no attempt passed, so there is only a lower limit")
          for fact in failed),
        *((fact, NO_INTERVAL if fact.estimate.low is None
           else UNKNOWN_BOUNDS if NEEDS_BOUNDS in fact.flaw else SPECIAL_INTERVAL, fact.flaw)
          for fact in facts),
    ]  # fmt: skip
    numbers = group_pairs(
        (
            (message, reason.condition if isinstance(reason, TooFewAttempts) else reason),
            (fact, reason),
        )
        for fact, message, reason in causes
        if reason
    )
    notes = []
    for (message, _), same in numbers.items():
        pairs = [(fact.name, SeriesName(fact.series)) for fact, _ in same]
        reasons = [reason for _, reason in same]
        reason = common_reason(reasons)
        k = allowed_k({fact.name for fact, _ in same}, reasons)
        diagnostic = message(numbers=model_numbers(pairs), reason=reason, k=k)
        if message is UNKNOWN_BOUNDS and all(_up_to_1(fact) for fact, _ in same):
            from_0 = SuggestedFix({"--bounds": "0,1"}, "gives them if scores go from 0 to 1")
            diagnostic = replace(diagnostic, settles=(from_0,))
        harmless = message is UNKNOWN_BOUNDS and WITH_FEW_TASKS not in reason
        notes.append(replace(diagnostic, severity=NOTE) if harmless else diagnostic)
    return notes


def _up_to_1(fact: Result) -> bool:
    """Whether all scores behind a number are from 0 to 1."""
    attempts = fact.values.attempts if fact.values else None
    return attempts is not None and attempts.value.min() >= 0.0 and attempts.value.max() <= 1.0
