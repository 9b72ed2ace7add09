"""Messages about reading data, about how attempts were sampled, and about special results."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from passk_cli.arrays import Ints, group_by, group_pairs
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.files.request import MORE_LABELS_FIX
from passk_cli.files.roles import (
    COLUMN_NAME_AS_MODEL,
    SETTING_COLUMN_NAMES,
    normalized_last_key,
    role_name_strength,
)
from passk_cli.files.sources.path_templates import run_label_by_file, template_and_temperature
from passk_cli.files.vocabulary import SETTING_NAMES
from passk_cli.inference.intervals import NEEDS_BOUNDS_REASON, WITH_FEW_TASKS
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.stopping import (
    FIRST_PASS,
    ONCE_PASSED,
    OPTIONAL_STOPPING_LEVEL,
    REPLACED,
    OptionalStoppingEvidence,
    detect_optional_stopping,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.report.phrases import SeriesName, metrics_of_models_text
from passk_cli.study.benchmarks import pooled_benchmarks_warning
from passk_cli.study.completeness import uneven_attempts_warning
from passk_cli.study.confidence import Confidence
from passk_cli.study.duplicate_runs import copied_models_warning
from passk_cli.study.missing_outcomes import missing_outcome_notes
from passk_cli.study.result import Result
from passk_cli.study.values import (
    NO_PASS_REASON,
    UNPRICED_REASON,
    TooFewAttemptsReason,
    first_or_combined_reason,
)
from passk_cli.suggested_fix import Placeholder, SuggestedFix
from passk_cli.text import plural

SIMILAR_NAMES = DiagnosticType(
    "similar-names", WARNING, "{names:and} count as {count:model}",
    meaning="Some names differ only in case, punctuation or surrounding blanks, for example"
    " org/alpha and org__alpha. passk counts every spelling of a name as a separate model.",
    why="Two tools often spell the name of the same model differently. The attempts of a model with"
    " two names are divided between the names.",
    advice="If two names refer to the same model, use `--alias` to count them as one model.",
    example="warning[similar-names]: 'org/alpha' and 'org__alpha' count as 2 models",
)  # fmt: skip
MODELS_JOINED_BY_ALIAS = DiagnosticType(
    "aliased-models", NOTE, "several names count as one model: {names:and}",
    meaning="With `--alias`, passk treats two names as one model in result files, baselines and"
    " histories.",
    why="Two attempts with the same task and the same number count as duplicates, even if they"
    " have different names of one model.",
    advice="If the names refer to the same model, you do not need to do anything.",
    example="note[aliased-models]: several names count as one model: org__alpha counts as"
    " org/alpha",
)  # fmt: skip
EXCLUDED_TASKS = DiagnosticType(
    "excluded-tasks", NOTE, "{tasks:task} {tasks:is|are} left out: {names}",
    meaning="`--exclude-task` leaves the named tasks out of all results, including the results of"
    " the baseline.",
    why="Pass rates over different tasks cannot be compared.",
    advice="If you report these results, name the excluded tasks.",
    example="note[excluded-tasks]: 2 tasks are left out: t7, t9",
)  # fmt: skip
CHOSEN_TASKS = DiagnosticType(
    "chosen-tasks", NOTE, "{tasks:task} {tasks:is|are} chosen: {names}",
    meaning="With `--only-task`, all results use only the named tasks, including the results of the"
    " baseline.",
    why="Pass rates over different tasks cannot be compared.",
    advice="If you report these results, name the chosen tasks.",
    example="note[chosen-tasks]: 2 tasks are chosen: t7, t9",
)  # fmt: skip
NO_MODEL_COLUMN = DiagnosticType(
    "one-model", NOTE,
    "{file}: no column names a model, so all rows count as one model; passk does not use {columns}",
    meaning="passk does not recognise any column as the model column, so all rows count as"
    " attempts of one model. passk does not use the listed columns, although their names look like"
    " a model or a setting.",
    why="If an unused column contains model names or settings, one estimate mixes the attempts of"
    " different models or settings.",
    advice="If an unused column contains model names, add `--field model=COLUMN`. If an unused"
    " column contains a setting, use `--by COLUMN` to get one estimate per setting.",
    example="note[one-model]: runs.csv: no column names a model, so all rows count as one model;"
    " passk does not use agent_name",
)  # fmt: skip
MODELS_IN_COLUMNS = DiagnosticType(
    "models-in-columns", NOTE, "{file}: columns are models; passk does not use {columns}",
    meaning="With `--field model=@column`, each column in `--field outcome=A,B` contains the"
    " outcomes of one model. The message lists the columns of the table that passk does not use.",
    why="If an unused column contains outcomes, the model of this column is missing from the"
    " results.",
    advice="If an unused column contains outcomes, add the column to `--field outcome=A,B,…`.",
    example="note[models-in-columns]: wide.csv: columns are models; passk does not use gamma",
)  # fmt: skip
POOLED_RUNS = DiagnosticType(
    "pooled-runs", NOTE, "{runs:run} of {models} are pooled",
    SuggestedFix({"--by": ("run",)}, "separates the runs"),
    meaning="If a model has several runs, passk pools the attempts of all runs at the same task.",
    why="Pooling is right if the runs repeat the same experiment. Pooling is wrong if something"
    " changed between the runs.",
    advice="If you want one estimate per run, use `--by run`.",
    example="note[pooled-runs]: 3 runs of alpha, beta are pooled; --by run separates the runs",
)  # fmt: skip
SKIPPED_FILES = DiagnosticType(
    "skipped-files", NOTE, "passk skipped {count:file} without results: {files}",
    meaning="Some files in the folder contain no results. Examples of files without results are"
    " configuration files and logs.",
    why="The results do not include anything from the skipped files.",
    advice="If a skipped file should contain results, run `passk describe FILE` to see why passk"
    " cannot read the file.",
    example="note[skipped-files]: passk skipped 2 files without results: config.json, run.log",
)  # fmt: skip
UNREAD_POSSIBLE_RESULT_FILES = DiagnosticType(
    "left-files", WARNING, "passk left out {count:file} that may contain results: {files}",
    meaning="Some files in the folder may contain results, but passk did not read them. passk does"
    " not read a file if a column named in --field is missing, or if the path of the file does not"
    " match --path. passk also does not read a history that `passk record` has written.",
    why="Results do not include the files that passk did not read. If passk read a history in"
    " addition to result files, it would count the same runs twice.",
    advice="Correct --field or --path, or move the unread files to a different folder. If you want"
    " to see the runs of a history, use `passk trend HISTORY`.",
    example="warning[left-files]: passk left out 2 files that may contain results: old/a.csv,"
    " old/b.csv",
)  # fmt: skip
FILES_WITHOUT_CHOSEN_OUTCOME = DiagnosticType(
    "files-without-outcome", WARNING, "passk skipped {count:file} without the chosen outcome:"
    " {files}",
    meaning="Some files in the folder do not contain the outcome that you chose with --outcome.",
    why="Results do not include the attempts in the skipped files.",
    advice="If you need the skipped files, score all files with the same scorer, or choose an"
    " outcome that all files contain.",
    example="warning[files-without-outcome]: passk skipped 2 files without the chosen outcome:"
    " run3.eval, run4.eval",
)  # fmt: skip
SKIPPED_LINES = DiagnosticType(
    "skipped-lines", NOTE, "passk skipped {lines:line} that are not records",
    meaning="With `--skip-bad`, passk leaves out lines that are not records, for example blank"
    " lines or lines that were cut off.",
    why="If a skipped line contained an attempt, the attempt is missing from the results.",
    advice="If you want to see the first skipped line, run the command without `--skip-bad`.",
    example="note[skipped-lines]: passk skipped 2 lines that are not records",
)  # fmt: skip
TASKS_WITHOUT_OUTCOMES = DiagnosticType(
    "lost-tasks", WARNING, "no attempt at {lost} has an outcome",
    meaning="For some tasks of a model, no attempt has an outcome. `--missing drop` leaves out"
    " attempts without an outcome, so the results of the model do not include tasks without any"
    " outcome.",
    why="Tasks without any outcome are often difficult, so the pass rate is too high if these"
    " tasks are left out.",
    advice="Use `--missing fail` or `--missing bounds`, or repeat the attempts that have no"
    " outcome.",
    example="warning[lost-tasks]: no attempt at 2 tasks of alpha has an outcome",
)  # fmt: skip
MODELS_LACK_TASKS = DiagnosticType(
    "models-lack-tasks", WARNING,
    "models lack tasks that other models have ({lacking}): estimates use the tasks of each model,"
    " and comparisons use the shared tasks",
    meaning="Not all models have the same tasks. The estimate of a model uses all tasks of the"
    " model, and a comparison uses only the tasks that both models share.",
    why="If a model lacks difficult tasks, its pass rate is too high. `passk compare` ranks models"
    " by their differences on shared tasks. `passk estimate` names the model with the highest"
    " estimate on the tasks that all models share. If no model lacks more than 5 % of the tasks,"
    " this message is only a note.",
    advice="Run the missing tasks. If you want `passk compare` to stop when models lack tasks, use"
    " `--unpaired error`.",
    example="warning[models-lack-tasks]: models lack tasks that other models have (alpha 12 of"
    " 164): estimates use the tasks of each model, and comparisons use the shared tasks",
)  # fmt: skip
DROPPED_DUPLICATES = DiagnosticType(
    "dropped-duplicates", NOTE, "passk left out {rows:duplicate attempt} and kept the {kept}"
    " attempt of each group of duplicates",
    meaning="A duplicate attempt has the same model, task and number as another attempt. With"
    " `--duplicates first` or `--duplicates last`, passk keeps only the first or the last of"
    " several duplicates.",
    why="If the duplicates are really different attempts, some attempts are missing from the"
    " results.",
    advice="If the duplicates are really different attempts, use `--duplicates keep`.",
    example="note[dropped-duplicates]: passk left out 20 duplicate attempts and kept the first"
    " attempt of each group of duplicates",
)  # fmt: skip
UNNUMBERED_ATTEMPTS = DiagnosticType(
    "unnumbered-attempts", NOTE,
    "{attempts:attempt} without a number cannot be checked for duplicates",
    meaning="Some attempts have a number, and other attempts do not. passk treats all attempts"
    " without a number as different attempts.",
    why="passk cannot find out whether an attempt without a number is a duplicate.",
    advice="Give every attempt in the data a number.",
    example="note[unnumbered-attempts]: 12 attempts without a number cannot be checked for"
    " duplicates",
)  # fmt: skip
UNNUMBERED_FILES_POOLED = DiagnosticType(
    "pooled-files", NOTE,
    "several files contain unnumbered attempts of one model: the files are pooled, and passk cannot"
    " find duplicates",
    meaning="Several files contain attempts of the same model, and the attempts have no numbers."
    " passk counts all attempts without a number.",
    why="If two files contain the same run, every attempt counts twice, and passk cannot detect the"
    " repetition.",
    advice="If the files contain the same run, give passk only one file.",
    example="note[pooled-files]: several files contain unnumbered attempts of one model: the files"
    " are pooled, and passk cannot find duplicates",
)  # fmt: skip
POOLED_TEMPERATURES = DiagnosticType(
    "pooled-temperatures", WARNING,
    "files of one model are pooled, although their names contain different temperatures",
    SuggestedFix({"--path": "{template}", "--by": ("temperature",)}, "keeps them apart"),
    meaning="The file names contain different temperatures, and nothing else distinguishes the"
    " attempts in the files. passk pools attempts at different temperatures as attempts of one"
    " model.",
    why="A mean over several temperatures does not describe any single temperature.",
    advice="If you want one estimate per temperature, read the temperature from the file names with"
    " `--path`, and add `--by temperature`.",
    example="warning[pooled-temperatures]: files of one model are pooled, although their names"
    " contain different temperatures; --path '{model}_temp{temperature}.jsonl' --by temperature"
    " keeps them apart",
)  # fmt: skip
ROLE_COLUMN_DIFFERS_BETWEEN_FILES = DiagnosticType(
    "mixed-columns", NOTE, "files have different columns for the {role}: {columns:and}",
    meaning="In different files, passk uses columns with different names for the same role, for"
    " example for the outcome.",
    why="If the columns have different meanings, you cannot compare the results of the files.",
    advice="Run `passk describe FILE` to see how passk reads a file. If all files contain the"
    " right column, name this column with `--field`.",
    example="note[mixed-columns]: files have different columns for the outcome: passed and success",
)  # fmt: skip
ATTEMPTS_WITHOUT_ANSWER = DiagnosticType(
    "missing-answers", NOTE,
    "{attempts:attempt} without an answer never {attempts:wins|win} the vote",
    meaning="The metric needs the answer of every attempt, but some attempts have no answer.",
    why="In a vote, an attempt without an answer never agrees with another attempt.",
    advice="If the data contains the answers, name the column of the answers with `--field"
    " answer=COLUMN`.",
    example="note[missing-answers]: 3 attempts without an answer never win the vote",
)  # fmt: skip
MISSING_SCORES = DiagnosticType(
    "missing-scores", NOTE,
    "{attempts:attempt} without a score {attempts:gets|get} the lowest score, like failed attempts",
    meaning="The metric needs the score of every attempt, but some attempts have no score. An"
    " attempt without a score gets the lowest possible score, which is LOW with --bounds LOW,HIGH"
    " and 0 without --bounds.",
    why="If an attempt has no score although it did not fail, the mean is too low.",
    advice="If the data contains the scores, name the column of the scores with `--field"
    " score=COLUMN`.",
    example="note[missing-scores]: 3 attempts without a score get the lowest score, like failed"
    " attempts",
)  # fmt: skip
MISSING_VALUES_COUNTED_AS_EQUAL = DiagnosticType(
    "missing-values", NOTE,
    "{attempts:attempt} without a {role} {attempts:counts|count} as one {role}",
    meaning="The metric needs a value from every attempt, but some attempts have no value. passk"
    " counts all attempts without a value as if they had the same value.",
    why="If the missing values really differ, the number of different values is too low.",
    advice="If the data contains the values, name the column of the values with `--field`.",
    example="note[missing-values]: 3 attempts without a solution count as one solution",
)  # fmt: skip
# passk suggests a command with one label per file only if there are at most _MAX_FILES_IN_LABEL_FIX
# files.
_MAX_FILES_IN_LABEL_FIX = 6
_MESSAGE_BY_ROLE_LACKING_VALUES = {"answer": ATTEMPTS_WITHOUT_ANSWER, "score": MISSING_SCORES}
ONLY_PASSES = DiagnosticType(
    "only-passes", WARNING,
    "all {attempts:attempt} of {model} passed, with {least} to {most} attempts per task",
    "check whether the file lacks failures",
    meaning="All attempts in the file passed, and tasks have different numbers of attempts.",
    why="If a file contains only passes, the failed attempts were often not recorded. If the"
    " failed attempts are missing, pass@1 is 1, even if most attempts failed.",
    advice="Check whether the harness writes failed attempts to the file.",
    example="warning[only-passes]: all 124 attempts of alpha passed, with 1 to 5 attempts per task;"
    " check whether the file lacks failures",
)  # fmt: skip
ALL_OR_NO_SCORES_REACH_THRESHOLD = DiagnosticType(
    "one-sided-threshold", WARNING, "{share} score reaches the threshold {threshold}",
    "are the scores on another scale?",
    meaning="Every score reaches the threshold, or no score does.",
    why="If every score or no score reaches the threshold, all models have the same rate. Scores"
    " from 0 to 1 and scores from 0 to 100 are often confused.",
    advice="Check the scale of the scores, and choose a different --threshold.",
    example="warning[one-sided-threshold]: no score reaches the threshold 50; are the scores on"
    " another scale?",
)  # fmt: skip
SHORT_TASKS = DiagnosticType(
    "short-tasks", WARNING, "passk cannot compute {numbers}: {reason}",
    (SuggestedFix({"--short-tasks": "drop"}, "uses the tasks with n ≥ k"),
     SuggestedFix({"-k": "{k}"}, "uses all tasks")),
    meaning="pass@k needs at least k attempts at every task, but some tasks have fewer attempts.",
    why="By default, passk does not leave out tasks with too few attempts, because these tasks are"
    " rarely a random sample of all tasks. The cell of the metric stays empty.",
    advice="If you want to use only the tasks with enough attempts, add `--short-tasks drop`. If"
    " you want to use all tasks, choose a smaller k.",
    example="warning[short-tasks]: passk cannot compute pass@5 of alpha: n=3–4 < k=5 on 2 of 10"
    " tasks; --short-tasks drop uses the tasks with n ≥ k; -k 3 uses all tasks",
)  # fmt: skip
UNCOMPUTABLE_METRIC = DiagnosticType(
    "no-value", WARNING, "passk cannot compute {numbers}: {reason}",
    meaning="passk cannot compute the metric from your data, and the message gives the reason.",
    why="The cell of the metric is empty, and passk leaves the model out of comparisons by the"
    " metric.",
    advice="Add the data that the message names, or choose another metric.",
    example="warning[no-value]: passk cannot compute cost-per-success of alpha: no attempt passed,"
    " so there is only a lower limit",
)  # fmt: skip
SHORT_TASKS_DROPPED = DiagnosticType(
    "short-tasks-dropped", WARNING, "tasks are left out of {numbers}: {reason}",
    meaning="With `--short-tasks drop`, passk computes the metric without the tasks that have fewer"
    " than k attempts.",
    why="The remaining tasks may be easier or harder than all tasks.",
    advice="Make k attempts at every task, or choose a smaller k.",
    example="warning[short-tasks-dropped]: tasks are left out of pass@5 of alpha: n=3–4 < k=5 on 2"
    " of 10 tasks",
)  # fmt: skip
TOO_FEW_LABELS = DiagnosticType(
    "few-labels", WARNING, "passk cannot compute {numbers}: {reason}",
    MORE_LABELS_FIX,
    meaning="passk can correct the verdicts of a judge only if there are enough labels of the"
    " right kind. passk has too few labels to correct the metric that the message names.",
    why="The cell of the metric is empty, because a correction with too few labels could be far"
    " from the truth.",
    advice="Add labels. For metrics with k = 1, labels of single attempts are enough. For metrics"
    " with k = 2, you need many tasks with two labelled attempts. For metrics with a larger k,"
    " label k attempts at each of several tasks.",
    example="warning[few-labels]: passk cannot compute pass@4 of alpha: no task has 4 labels; passk"
    " judge --list FILE writes attempts to label",
)  # fmt: skip
NO_INTERVAL = DiagnosticType(
    "no-interval", WARNING, "passk cannot compute an interval for {numbers}: {reason}",
    meaning="The interval method cannot compute an interval from your data, and the message gives"
    " the reason.",
    why="Without an interval, you do not know how uncertain the estimate is.",
    advice="Try a different method with --interval.",
    example="warning[no-interval]: passk cannot compute an interval for pass@1 of alpha: one task",
)  # fmt: skip
UNKNOWN_BOUNDS = DiagnosticType(
    "unknown-bounds", WARNING, "{numbers}: {reason}",
    SuggestedFix({"--bounds": Placeholder("LOW,HIGH")}, "sets these scores"),
    meaning="Guard intervals need the lowest and highest possible score, but the data does not"
    " contain these limits. passk uses a BCa interval instead of a guard interval.",
    why="With few tasks, BCa intervals are often too narrow. With more than 30 tasks, this message"
    " is only a note.",
    advice="Give the lowest and highest possible score with `--bounds LOW,HIGH`.",
    example="warning[unknown-bounds]: mean of alpha: the interval is bca, because guard needs the"
    " lowest and highest possible score; --bounds LOW,HIGH sets these scores",
)  # fmt: skip
LIMITED_USE_INTERVAL = DiagnosticType(
    "special-interval", NOTE, "{numbers}: {reason}",
    meaning="The interval is of limited use, and the message gives the reason. For example, an"
    " interval is of limited use if all tasks have the same value.",
    why="An interval of width 0 does not mean that the estimate is certain.",
    advice="Add tasks if you need a better interval.",
    example="note[special-interval]: pass@1 of alpha: no difference between tasks",
    only_with_full=True,
)  # fmt: skip

MGPASS_BELOW_1_AT_ODD_K = DiagnosticType(
    "odd-k", WARNING, "{metric} is at most {most}, even for a model that passes everything",
    "use an even k",
    meaning="The published formula of mgpass@k divides a sum of k − ⌈k/2⌉ terms by k/2. If k is"
    " odd, a model that passes every attempt gets only 1 − 1/k, for example 0.667 for k = 3.",
    why="You cannot compare mgpass@k at an odd k with mgpass@k at an even k, because mgpass@k can"
    " reach 1 only if k is even.",
    advice="Use an even k.",
    example="warning[odd-k]: mgpass@3 is at most 0.667, even for a model that passes"
    " everything; use an even k",
)  # fmt: skip

# If the data has only one task with at least _MIN_ATTEMPTS_TO_SUSPECT_TOTAL attempts, passk
# suspects that the attempts are a total over several questions.
_MIN_ATTEMPTS_TO_SUSPECT_TOTAL = 10
ONE_TASK = DiagnosticType(
    "one-task", WARNING,
    "all {attempts:attempt} of a model count as one task: intervals and tests about new tasks are"
    " hardly informative",
    SuggestedFix({"--population": "these-tasks"}, "treats the attempts as separate questions"),
    meaning="All attempts of a model belong to one task. If a file has one row per model with n and"
    " c, these numbers are often totals over many questions.",
    why="By default, intervals and tests are about new tasks, but a single task contains almost no"
    " information about new tasks.",
    advice="If the attempts are answers to different questions, use `--population these-tasks`."
    " With `--population these-tasks`, passk computes intervals from the binomial distribution of"
    " c passes in n attempts.",
    example="warning[one-task]: all 200 attempts of a model count as one task: intervals and tests"
    " about new tasks are hardly informative; --population these-tasks treats the attempts as"
    " separate questions",
)  # fmt: skip
LARGER_K_POSSIBLE = DiagnosticType(
    "more-attempts", NOTE,
    "{models} {count:has|have} {k} attempts at every task, but most models have fewer attempts",
    SuggestedFix({"-k": "{k}"}, "shows pass@{k}"),
    meaning="Some models have enough attempts for a larger k, but most models do not.",
    why="Without -k, passk shows only values of k for which most models have enough attempts at"
    " every task. For a larger k, the cells of most models would be empty.",
    advice="If you want to see the metric at a larger k, choose the value of k with `-k`.",
    example="note[more-attempts]: alpha, beta have 10 attempts at every task, but most models have"
    " fewer attempts; -k 10 shows pass@10",
)  # fmt: skip


# The pass rate of first attempts does not depend on when sampling stops.
_FIRST_ATTEMPT_PASS_RATE_TEXT = "pass@1 is {read}{?at_once|, but {at_once} for first attempts only}"
_USE_FIRST_AT_K_ADVICE = (
    "use first@k for k ≤ {most} (first@{most} is {solved}), or make {most} attempts at every task"
)
_STOPPING_WARNING_CRITERION = (
    "passk prints the warning if the pattern in the data would have a probability below 1 % with a"
    " fixed number of attempts per task. passk adjusts the probability of the pattern for the"
    " number of models."
)
_BIAS_REASON = (
    "pass@k assumes that the number of attempts was fixed before sampling. If the number of"
    " attempts depends on the outcomes, easy tasks have few attempts and high pass rates, and"
    " pass@k is biased. --short-tasks drop does not help, because it leaves out the easy tasks."
)
STOPPED_AT_PASS = DiagnosticType(
    "stopped-at-pass", WARNING,
    "attempts of {models} seem to stop at the first pass, so pass@k is biased: {short} of {tasks}"
    " tasks of {model} have fewer than {most} attempts and none of these tasks has two"
    " passes; " + _FIRST_ATTEMPT_PASS_RATE_TEXT,
    _USE_FIRST_AT_K_ADVICE,
    meaning="Sampling seems to stop at the first pass. At tasks with fewer attempts than other"
    " tasks, only the last attempt passes. " + _STOPPING_WARNING_CRITERION,
    why=_BIAS_REASON,
    advice="Report first@k, the share of tasks that are solved within k attempts. If you need"
    " pass@k, make the same number of attempts at every task.",
    example="warning[stopped-at-pass]: attempts of alpha seem to stop at the first pass, so pass@k"
    " is biased: 31 of 40 tasks of alpha have fewer than 5 attempts and none of these tasks has two"
    " passes; pass@1 is 0.55, but 0.31 for first attempts only; use first@k for k ≤ 5 (first@5 is"
    " 0.88), or make 5 attempts at every task",
)  # fmt: skip
STOPPED_ONCE_PASSED = DiagnosticType(
    "stopped-once-passed", WARNING,
    "attempts of {models} seem to stop once a task has passed, so pass@k is biased: {short} of"
    " {tasks} tasks of {model} have fewer than {most} attempts, and each of these tasks was solved;"
    " sampling went on after a pass at {beyond:task}, as with batches; "
    + _FIRST_ATTEMPT_PASS_RATE_TEXT,
    "ignore this warning if the number of attempts was fixed beforehand; otherwise"
    " " + _USE_FIRST_AT_K_ADVICE,
    meaning="Sampling seems to stop once a task is solved, for example after a batch of attempts."
    " Every task with fewer attempts than other tasks was solved. " + _STOPPING_WARNING_CRITERION,
    why=_BIAS_REASON,
    advice="If the number of attempts was fixed before sampling, ignore this warning. If the number"
    " of attempts was not fixed before sampling, report first@k, or make the same number of"
    " attempts at every task.",
    example="warning[stopped-once-passed]: attempts of alpha seem to stop once a task has passed,"
    " so pass@k is biased: 31 of 40 tasks of alpha have fewer than 8 attempts, and each of these"
    " tasks was solved; sampling went on after a pass at 6 tasks, as with batches; pass@1 is 0.55,"
    " but 0.31 for first attempts only; ignore this warning if the number of attempts was fixed"
    " beforehand; otherwise use first@k for k ≤ 8 (first@8 is 0.88), or make 8 attempts at every"
    " task",
)  # fmt: skip
FAILURES_REPLACED_BY_RETRIES = DiagnosticType(
    "replaced-failures", WARNING,
    "retries of {models} seem to replace failed attempts, so pass@k is biased: attempt numbers"
    " have gaps, and every task of {model} with fewer than {most} attempts ends with a pass; "
    + _FIRST_ATTEMPT_PASS_RATE_TEXT,
    _USE_FIRST_AT_K_ADVICE,
    meaning="Retries seem to replace failed attempts. The attempt numbers have gaps, as if the"
    " harness deleted each failed attempt when retrying it. " + _STOPPING_WARNING_CRITERION,
    why=_BIAS_REASON,
    advice="Keep all attempts in the data. Report first@k, or make the same number of attempts"
    " at every task.",
    example="warning[replaced-failures]: retries of alpha seem to replace failed attempts, so"
    " pass@k is biased: attempt numbers have gaps, and every task of alpha with fewer than 5"
    " attempts ends with a pass; pass@1 is 0.92; use first@k for k ≤ 5 (first@5 is 0.88), or"
    " make 5 attempts at every task",
)  # fmt: skip
_MESSAGES_BY_STOPPING = {
    FIRST_PASS: STOPPED_AT_PASS, ONCE_PASSED: STOPPED_ONCE_PASSED,
    REPLACED: FAILURES_REPLACED_BY_RETRIES,
}  # fmt: skip
STOPPING_MESSAGE_NAMES = tuple(message.name for message in _MESSAGES_BY_STOPPING.values())
# If the share of missing tasks is at most _MAX_MISSING_TASK_SHARE_FOR_NOTE, the message about
# missing tasks is only a note.
_MAX_MISSING_TASK_SHARE_FOR_NOTE = 0.05


def reading_notes(counts: Counts) -> Iterator[Diagnostic]:
    """The messages about how the data was sampled and read, for example about pooled runs or
    duplicates.
    """
    facts = counts.read_facts
    yield from facts.messages
    all_models = list(dict.fromkeys(model for model, *_ in counts.series))
    # Two names are similar if they differ only in case, punctuation and blanks. A name without
    # letters and digits is never similar to another name.
    spellings = group_by(all_models, lambda model: re.sub(r"[\W_]+", "-", model.casefold().strip())
                        if re.search(r"[^\W_]", model) else model)  # fmt: skip
    runs = group_pairs(
        (facts.pooled_run_count_by_model[model], model)
        for model in all_models
        if model in facts.pooled_run_count_by_model
    )
    for names in spellings.values():
        if len(names) > 1:
            quoted = list(map(repr, names))
            # If two names have the same passes at all shared tasks, the attempts may be the same.
            cells = zip(counts.cells, counts.n.tolist(), counts.c.tolist(), strict=True)
            shared = group_pairs(
                ((task, *series[1:]), (n, c))
                for (series, task), n, c in cells
                if series[0] in names
            )
            several = [pairs for pairs in shared.values() if len(pairs) > 1]
            options: dict[str, Any] = {"--alias": dict.fromkeys(names[1:], names[0])}
            why = f"counts {'both' if len(names) == 2 else 'all'} as one model, if they are one"
            if several and facts.duplicates_checked:
                same = all(len({*pairs}) == 1 for pairs in several)
                options["--duplicates"] = "first" if same else "keep"
                why += ", and repeated attempts once" if same else ", with the attempts of each"
            elif several:
                why += ", with the attempts of each"
            diagnostic = SIMILAR_NAMES(names=quoted, count=len(names))
            yield replace(diagnostic, fixes=(SuggestedFix(options, why),))
    yield from pooled_benchmarks_warning(counts)
    yield from copied_models_warning(counts)
    for file in facts.file_readings:
        telling = [name for name in file.unused_columns if _may_be_model_or_setting(name)]
        if telling and not {"model", "attempt", "n"} & set(file.roles):
            yield NO_MODEL_COLUMN(file=file.name, columns=telling)
        elif file.unused_columns and file.roles.get("model") == COLUMN_NAME_AS_MODEL:
            yield MODELS_IN_COLUMNS(file=file.name, columns=file.unused_columns)
    for number, models in runs.items():
        yield POOLED_RUNS(runs=number, models=models)
    if facts.model_aliases:
        yield MODELS_JOINED_BY_ALIAS(
            names=[f"{new} counts as {old}" for new, old in facts.model_aliases.items()]
        )
    for option, message in (("--exclude-task", EXCLUDED_TASKS), ("--only-task", CHOSEN_TASKS)):
        if names := facts.option_value_names_in_data(option):
            yield message(tasks=len(names), names=names)
    passes = counts.c.sum()
    if facts.threshold is not None and passes in (0, counts.n.sum()):
        share = "every" if passes else "no"
        yield ALL_OR_NO_SCORES_REACH_THRESHOLD(share=share, threshold=f"{facts.threshold:g}")
    elif passes == counts.n.sum() and not any("n" in file.roles for file in facts.file_readings):
        yield from _only_passes_warning(counts)
    if facts.non_result_files:
        yield SKIPPED_FILES(count=len(facts.non_result_files), files=facts.non_result_files)
    if facts.left_out_files:
        yield UNREAD_POSSIBLE_RESULT_FILES(
            count=len(facts.left_out_files), files=facts.left_out_files
        )
    if facts.files_without_outcome:
        files = facts.files_without_outcome
        yield FILES_WITHOUT_CHOSEN_OUTCOME(count=len(files), files=files)
    if facts.skipped_lines:
        yield SKIPPED_LINES(lines=facts.skipped_lines)
    if facts.missing_outcome_count:
        yield from missing_outcome_notes(facts)
    if facts.emptied_cell_count and facts.missing_outcomes:
        emptied = sorted(
            facts.missing_outcomes.emptied_task_counts_by_series().items(),
            key=lambda item: -item[1],
        )
        lost = [f"{plural(tasks, 'task')} of {SeriesName(series)}" for series, tasks in emptied]
        yield TASKS_WITHOUT_OUTCOMES(lost=lost)
    if facts.duplicate_count and facts.duplicates_policy in ("first", "last"):
        yield DROPPED_DUPLICATES(rows=facts.duplicate_count, kept=facts.duplicates_policy)
    if facts.unnumbered_attempts:
        yield UNNUMBERED_ATTEMPTS(attempts=facts.unnumbered_attempts)
    if facts.files_with_unnumbered_repeats:
        templates = [
            *filter(None, map(template_and_temperature, facts.files_with_unnumbered_repeats))
        ]
        files, one_model = (
            facts.files_with_unnumbered_repeats,
            len({model for model, *_ in counts.series}) == 1,
        )
        label_fix = SuggestedFix({}, "keeps them apart", label_by_file=run_label_by_file(files))
        pooled = replace(
            UNNUMBERED_FILES_POOLED(),
            fixes=(label_fix,) * (one_model and len(files) <= _MAX_FILES_IN_LABEL_FIX),
        )
        differ = len({heat for _, heat in templates}) > 1
        yield POOLED_TEMPERATURES(template=templates[0][0]) if differ else pooled
    for role, attempts in counts.attempts.items():
        columns = list(dict.fromkeys(f.roles[role] for f in facts.file_readings if role in f.roles))
        if len(columns) > 1:
            yield ROLE_COLUMN_DIFFERS_BETWEEN_FILES(role=role, columns=columns)
        if attempts.valueless:
            yield _MESSAGE_BY_ROLE_LACKING_VALUES.get(role, MISSING_VALUES_COUNTED_AS_EQUAL)(
                attempts=attempts.valueless, role=role
            )
    attempt_numbers = (
        counts.n
        if counts.attempt_number_facts is None
        else counts.attempt_number_facts.attempts_including_gaps
    )
    if any(numbers.min() < numbers.max() for numbers in (counts.n, attempt_numbers)):
        stopped = list(_stopping_notes(counts))
        yield from stopped or uneven_attempts_warning(counts)


def _may_be_model_or_setting(column: str) -> bool:
    is_setting = (
        normalized_last_key(column) in SETTING_NAMES
        or normalized_last_key(column) in SETTING_COLUMN_NAMES
    )
    return is_setting or role_name_strength("model", column) > 0


def _only_passes_warning(counts: Counts) -> Iterator[Diagnostic]:
    for s, series in enumerate(counts.series):
        n = counts.n[counts.slice_of_series(s)]
        if n.min() < n.max():
            least, most = int(n.min()), int(n.max())
            name, attempts = SeriesName(series), int(n.sum())
            yield ONLY_PASSES(attempts=attempts, model=name, least=least, most=most)
            return


def lacking_tasks_message(counts: Counts) -> Iterator[Diagnostic]:
    """The message about models that lack tasks that other models in their group have."""
    rows = {series: counts.slice_of_series(s) for s, series in enumerate(counts.series)}
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
        few = all(n <= _MAX_MISSING_TASK_SHARE_FOR_NOTE * total for n, _, total in lacking)
        yield replace(diagnostic, severity=NOTE) if few else diagnostic


def one_task_warning(counts: Counts, confidence: Confidence) -> Iterator[Diagnostic]:
    """The warning that each model has only one task, which may be a total over many questions."""
    about_new = confidence.population != THESE_TASKS and confidence.method != "none"
    if (
        about_new
        and len(counts.n) == len(counts.series)
        and counts.n.min() >= _MIN_ATTEMPTS_TO_SUSPECT_TOTAL
    ):
        yield ONE_TASK(attempts=int(counts.n.max()))


def _stopping_notes(counts: Counts) -> Iterator[Diagnostic]:
    """One warning for each kind of optional stopping, with numbers about the model that has the
    strongest evidence."""
    by_model = group_by(range(len(counts.series)), lambda s: counts.series[s][0])
    suspects: list[tuple[OptionalStoppingEvidence, str, int, float]] = []
    tested = 0
    for model, places_of_model in by_model.items():
        places: list[tuple[str, Ints]]
        places = [
            (SeriesName(counts.series[s]), np.r_[counts.slice_of_series(s)])
            for s in places_of_model
        ]
        all_cells = np.concatenate([cells for _, cells in places])
        if np.bincount(counts.task_codes[all_cells], minlength=1).max() <= 1:
            places = [(model, all_cells)]
        for name, cells in places:
            n, c, numbers = counts.n[cells], counts.c[cells], counts.attempt_number_facts
            numbering = (
                ()
                if numbers is None
                else (numbers.attempts_including_gaps[cells], numbers.last_attempt_outcomes[cells])
            )
            tested, end = tested + 1, detect_optional_stopping(n, c, *numbering)
            if end is not None:
                suspects.append((end, name, len(cells), float(np.mean(c / n))))
    suspects = [
        suspect
        for suspect in suspects
        if suspect[0].max_data_probability_if_n_fixed * tested < OPTIONAL_STOPPING_LEVEL
    ]
    suspects.sort(key=lambda suspect: suspect[0].max_data_probability_if_n_fixed)
    for kind, same_kind in group_by(suspects, lambda suspect: suspect[0].kind).items():
        end, model, tasks, rate = same_kind[0]
        yield _MESSAGES_BY_STOPPING[kind](
            models=[name for _, name, *_ in same_kind],
            model=model,
            tasks=tasks,
            short=end.short_tasks,
            most=end.largest_n,
            read=rate,
            at_once=end.first_attempt_pass_share,
            solved=end.solved_share_of_all_tasks,
            beyond=end.tasks_continued_after_pass,
        )


def largest_allowed_k_text(names: Collection[str], reasons: Sequence[str]) -> str:
    """The largest k for which all tasks have enough attempts, as text, or "" if a smaller k would
    not help."""
    few = [reason for reason in reasons if isinstance(reason, TooFewAttemptsReason)]
    plain = {name.rstrip("0123456789") for name in names} == {"pass@", "pass^"}
    return str(min(reason.least for reason in few) or "") if plain and few else ""


def result_notes(
    facts: Sequence[Result], short: Sequence[Result], short_tasks: str
) -> list[Diagnostic]:
    """The messages about missing estimates, missing intervals and special intervals, one for each
    reason.

    short : the results for which messages may report too few attempts.
    """

    def empty(fact: Result) -> DiagnosticType:
        if fact.values is not None and fact.values.labels is not None and fact.values.n.size:
            return TOO_FEW_LABELS
        has_enough = (fact.size.n_max or 0) >= (fact.k or 0)
        return SHORT_TASKS if has_enough and short_tasks != "drop" else UNCOMPUTABLE_METRIC

    short = [
        fact for fact in short if fact.estimate.reason not in (UNPRICED_REASON, NO_PASS_REASON)
    ]
    short = [fact for fact in short if not fact.is_range]
    failed = [fact for fact in facts if fact.estimate.reason == NO_PASS_REASON]
    causes = [
        *((fact, empty(fact) if fact.estimate.value is None else SHORT_TASKS_DROPPED,
           fact.estimate.reason) for fact in short),
        *((fact, UNCOMPUTABLE_METRIC, "no attempt passed, so there is only a lower limit")
          for fact in failed),
        *((fact, NO_INTERVAL if fact.estimate.low is None
           else UNKNOWN_BOUNDS if NEEDS_BOUNDS_REASON in fact.interval_flaw
           else LIMITED_USE_INTERVAL, fact.interval_flaw)
          for fact in facts),
    ]  # fmt: skip
    numbers = group_pairs(
        (
            (message, reason.condition if isinstance(reason, TooFewAttemptsReason) else reason),
            (fact, reason),
        )
        for fact, message, reason in causes
        if reason
    )
    notes = []
    for (message, _), same in numbers.items():
        pairs = [(fact.name, SeriesName(fact.series)) for fact, _ in same]
        reasons = [reason for _, reason in same]
        reason = first_or_combined_reason(reasons)
        k = largest_allowed_k_text({fact.name for fact, _ in same}, reasons)
        diagnostic = message(numbers=metrics_of_models_text(pairs), reason=reason, k=k)
        if message is UNKNOWN_BOUNDS and all(_has_scores_from_0_to_1(fact) for fact, _ in same):
            from_0 = SuggestedFix(
                {"--bounds": "0,1"}, "sets these scores if scores range from 0 to 1"
            )
            diagnostic = replace(diagnostic, fixes=(from_0,))
        harmless = message is UNKNOWN_BOUNDS and WITH_FEW_TASKS not in reason
        notes.append(replace(diagnostic, severity=NOTE) if harmless else diagnostic)
    return notes


def _has_scores_from_0_to_1(fact: Result) -> bool:
    attempts = fact.values.attempts if fact.values else None
    return attempts is not None and attempts.value.min() >= 0.0 and attempts.value.max() <= 1.0
