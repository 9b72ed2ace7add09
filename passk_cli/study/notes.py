"""Messages that qualify numbers: about reading, about sampling, about what is special in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from passk_cli.arrays import Ints, gathered, grouped
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.files.request import MORE_LABELS_FIX
from passk_cli.files.roles import COLUMN, SETTINGS, leaf, strength
from passk_cli.files.sources.paths import run_labels, temperature_template
from passk_cli.files.vocabulary import SETTING_NAMES
from passk_cli.inference.intervals import NEEDS_BOUNDS, WITH_FEW_TASKS
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.stopping import (
    FIRST_PASS,
    LEVEL,
    ONCE_PASSED,
    REPLACED,
    Stopping,
    stopping,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.report.words import SeriesName, model_numbers
from passk_cli.study.benchmarks import pooled_benchmarks
from passk_cli.study.completeness import uneven_attempts
from passk_cli.study.confidence import Confidence
from passk_cli.study.duplicate_runs import identical_outcomes
from passk_cli.study.missing_outcomes import loss_notes
from passk_cli.study.result import Result
from passk_cli.study.values import NO_PASS, UNPRICED, TooFewAttempts, common_reason
from passk_cli.suggested_fix import Placeholder, SuggestedFix
from passk_cli.text import plural

SIMILAR_NAMES = DiagnosticType(
    "similar-names", WARNING, "{names:and} count as {count:model}", "",
    "Names of models that differ only in case, punctuation and blanks around them, such as"
    " org/alpha and org__alpha, are often one model in the spelling of two tools. passk keeps them"
    " apart.")  # fmt: skip
ALIASED_MODELS = DiagnosticType(
    "aliased-models", NOTE, "counted as one model: {names:and}", "",
    "The attempts of a model count as those of another, in files, baselines and histories. Attempts"
    " that have the same number at the same task are duplicates then.")  # fmt: skip
EXCLUDED_TASKS = DiagnosticType(
    "excluded-tasks", NOTE, "{tasks:task} left out: {names}", "",
    "Every number is of the other tasks, also of the baseline.")  # fmt: skip
CHOSEN_TASKS = DiagnosticType(
    "chosen-tasks", NOTE, "{tasks:task} chosen: {names}", "",
    "Every number is of these tasks alone, also of the baseline.")  # fmt: skip
ONE_MODEL = DiagnosticType(
    "one-model", NOTE,
    "{file}: no column names a model, so all rows are one model's; not used: {columns}", "",
    "Nothing is read from a column that is named like a model or a setting. If it names models,"
    " add --field model=COLUMN. If it is a setting, keep its values apart with --by"
    " COLUMN.")  # fmt: skip
MODELS_IN_COLUMNS = DiagnosticType(
    "models-in-columns", NOTE, "{file}: columns are models; not used: {columns}", "",
    "With --field model=@column each column of --field outcome=A,B is a model. The table has"
    " columns that nothing is read from. If one of them holds outcomes, name it as well.",
)  # fmt: skip
POOLED_RUNS = DiagnosticType(
    "pooled-runs", NOTE, "{runs:run} of {models} are pooled",
    SuggestedFix({"--by": ("run",)}, "keeps runs apart"),
    "Attempts of several runs of one model at the same task count as attempts of one model. That is"
    " right where the runs are repetitions of one experiment.")  # fmt: skip
SKIPPED_FILES = DiagnosticType(
    "skipped-files", NOTE, "skipped {count:file} without results: {files}", "",
    "Files of a folder that hold no results, such as configurations and logs, are passed over."
    " `passk describe FILE` says why one of them cannot be read.")  # fmt: skip
LEFT_FILES = DiagnosticType(
    "left-files", WARNING, "left out {count:file} that may hold results: {files}", "",
    "Files of a folder lack a column that --field names, or do not fit --path, or are histories"
    " that `passk record` wrote, whose runs would count again. The numbers are of the other files."
    " `passk trend HISTORY` shows the course of a history's runs.")  # fmt: skip
FILES_WITHOUT_OUTCOME = DiagnosticType(
    "files-without-outcome", WARNING, "skipped {count:file} without this outcome: {files}", "",
    "Files of a folder do not have the outcome that --outcome names, so their attempts are missing"
    " from the numbers.")  # fmt: skip
SKIPPED_LINES = DiagnosticType(
    "skipped-lines", NOTE, "skipped {lines:line} that held no record", "",
    "--skip-bad leaves out lines that are no records: blank, cut off, or of another kind.",
)  # fmt: skip
LOST_TASKS = DiagnosticType(
    "lost-tasks", WARNING, "no attempt is left at {lost}", "",
    "All attempts of a model at a task have no outcome and are left out by --missing drop. The task"
    " is missing from that model's numbers. Such tasks are often the difficult ones.")  # fmt: skip
MODELS_LACK_TASKS = DiagnosticType(
    "models-lack-tasks", WARNING,
    "models lack tasks that others have ({lacking}): estimates are of a model's own tasks,"
    " comparisons of shared ones", "",
    "A model that lacks the difficult tasks has a higher rate. So `passk compare` ranks models by"
    " their differences on the tasks that both have, and `passk estimate` says which model scores"
    " highest on the tasks that all have. It is a note where no model lacks more than 5 % of the"
    " tasks. `passk compare --unpaired error` refuses such data.")  # fmt: skip
DROPPED_DUPLICATES = DiagnosticType(
    "dropped-duplicates", NOTE, "{rows:duplicate attempt} left out, the {kept} one kept", "",
    "Model, task and attempt number occurred more than once, and --duplicates first or last keeps"
    " one of them.")  # fmt: skip
UNNUMBERED_ATTEMPTS = DiagnosticType(
    "unnumbered-attempts", NOTE,
    "{attempts:attempt} without a number, which cannot be checked for duplicates", "",
    "The data numbers its attempts, but not all of them. Those without a number count as attempts"
    " of their own, even if they are duplicates.")  # fmt: skip
POOLED_FILES = DiagnosticType(
    "pooled-files", NOTE,
    "several files hold attempts of one model without numbers: they are pooled, and duplicates"
    " cannot be found", "",
    "The attempts of several files have no numbers that tell a repeated attempt from a new one."
    " They all count. Where the files are one run that was written twice, give one of them.",
)  # fmt: skip
POOLED_TEMPERATURES = DiagnosticType(
    "pooled-temperatures", WARNING,
    "files of one model are pooled whose names hold different temperatures",
    SuggestedFix({"--path": "{template}", "--by": ("temperature",)}, "keeps them apart"),
    "The names of files contain a temperature, and nothing else tells their attempts apart, so"
    " attempts at different temperatures count as attempts of one model.")  # fmt: skip
MIXED_COLUMNS = DiagnosticType(
    "mixed-columns", NOTE, "the {role} is read from {columns:and}, by file", "",
    "Files name the column differently. `passk describe FILE` shows how each file is read; --field"
    " chooses one column for all.")  # fmt: skip
_VALUELESS = (
    "The metric needs this value of every attempt, and some attempts with an outcome have none."
)
NO_ANSWER = DiagnosticType(
    "missing-answers", NOTE,
    "{attempts:attempt} without an answer, which never {attempts:wins|win} the vote", "",
    _VALUELESS + " An attempt without an answer takes part in the vote as one that nobody shares.",
)  # fmt: skip
NO_SCORE = DiagnosticType(
    "missing-scores", NOTE,
    "{attempts:attempt} without a score {attempts:has|have} the lowest one, as failures", "",
    _VALUELESS + " It counts as the lowest possible score: LOW of --bounds LOW,HIGH, or else 0.",
)  # fmt: skip
NO_VALUE = DiagnosticType(
    "missing-values", NOTE,
    "{attempts:attempt} without a {role}, which count as one {role}", "",
    _VALUELESS + " All of them together count as one value.")  # fmt: skip
# Files that a line names, each with a label.
_LABELLED = 6
_WITHOUT = {"answer": NO_ANSWER, "score": NO_SCORE}
ONLY_PASSES = DiagnosticType(
    "only-passes", WARNING,
    "all {attempts:attempt} of {model} passed, {least} to {most} of a task",
    "were failures written down?",
    "A file that holds passes alone, and not the same number at each task, often lacks what failed:"
    " pass@1 is 1 whatever the model did. Where every task has the same number of attempts, nothing"
    " is said.")  # fmt: skip
ONE_SIDED_THRESHOLD = DiagnosticType(
    "one-sided-threshold", WARNING, "{share} score reaches the threshold {threshold}",
    "are the scores on another scale?",
    "A threshold that every score reaches, or none, makes all models equal. Scores from 0 to 1 and"
    " from 0 to 100 are often taken for each other.")  # fmt: skip
SHORT_TASKS = DiagnosticType(
    "short-tasks", WARNING, "no value of {numbers}: {reason}",
    (SuggestedFix({"--short-tasks": "drop"}, "uses the tasks with n ≥ k"),
     SuggestedFix({"-k": "{k}"}, "uses all tasks")),
    "pass@k needs k attempts at a task. Tasks with fewer are not left out silently, because they"
    " are rarely a random choice of tasks: the number stays empty unless --short-tasks drop is"
    " given.")  # fmt: skip
NO_NUMBER = DiagnosticType(
    "no-value", WARNING, "no value of {numbers}: {reason}", "",
    "The number cannot be computed from this data, for the reason given.")  # fmt: skip
SHORT_TASKS_DROPPED = DiagnosticType(
    "short-tasks-dropped", WARNING, "{numbers} leave tasks out: {reason}", "",
    "Tasks with fewer than k attempts are left out by --short-tasks drop. The numbers are those of"
    " the other tasks, which may be easier or harder.")  # fmt: skip
FEW_LABELS = DiagnosticType(
    "few-labels", WARNING, "no value of {numbers}: {reason}",
    MORE_LABELS_FIX,
    "A judge's verdicts are corrected by labels only where there are enough of the right ones."
    " Labels that are scattered over attempts correct k = 1, and k = 2 where many tasks have two;"
    " k labels in each of some tasks correct any metric up to that k.")  # fmt: skip
NO_INTERVAL = DiagnosticType(
    "no-interval", WARNING, "no interval of {numbers}: {reason}", "",
    "The method cannot give an interval for this data, for the reason given. The estimate stands"
    " without one; another --interval may have one.")  # fmt: skip
UNKNOWN_BOUNDS = DiagnosticType(
    "unknown-bounds", WARNING, "{numbers}: {reason}",
    SuggestedFix({"--bounds": Placeholder("LOW,HIGH")}, "gives them"),
    "Guard intervals need the lowest and highest possible value. Where scores have no known range,"
    " BCa stands in for them. It is a note where there are more than 30 tasks.")  # fmt: skip
SPECIAL_INTERVAL = DiagnosticType(
    "special-interval", NOTE, "{numbers}: {reason}", "",
    "Something about the data limits what the interval can say, such as no difference between"
    " tasks. An interval of width 0 is not certainty.", full=True)  # fmt: skip

ODD_K = DiagnosticType(
    "odd-k", WARNING, "{metric} is at most {most}, also for a model that passes everything",
    "use an even k",
    "mgpass@k adds up k − ⌈k/2⌉ shares of passes and divides by k/2, as it was published: for odd k"
    " a model that passes everything gets 1 − 1/k, which is 0.667 for k = 3 and 0.8 for k = 5. Even"
    " k reach 1. Values at odd and even k cannot be compared.")  # fmt: skip

# Fewer attempts at the only task are attempts at a task, and no total over questions.
_TOTAL = 10
ONE_TASK = DiagnosticType(
    "one-task", WARNING,
    "all {attempts:attempt} of a model count as one task: intervals and tests about new tasks say"
    " next to nothing",
    SuggestedFix({"--population": "these-tasks"}, "takes them as questions of their own"),
    "A row per model with n and c is often a total over many questions. By default intervals and"
    " tests are about new tasks, of which one task shows almost nothing. With --population"
    " these-tasks they are about these attempts: the binomial distribution of c in n.")  # fmt: skip


MORE_ATTEMPTS = DiagnosticType(
    "more-attempts", NOTE,
    "{models} {count:has|have} {k} attempts at every task, most models fewer",
    SuggestedFix({"-k": "{k}"}, "shows pass@{k}"),
    "Without -k, metrics are shown at k that every task of most models allows. A larger k would"
    " leave their columns empty.")  # fmt: skip


# pass@1 of the model beside the rate of its first attempts, which sampling cannot have chosen.
_BIAS = "pass@1 reads {read}{?at_once|, first attempts passed at {at_once}}"
_FIRST_AT_K = (
    "use first@k for k ≤ {most} (first@{most} is {solved}), or make {most} attempts at every task"
)
_STOPPING = (
    "pass@k takes the number of attempts as fixed beforehand. Where it depends on the outcomes,"
    " easy tasks have few attempts and a high rate, and pass@k is biased; --short-tasks drop does"
    " not help, as it drops the easy tasks. The message is given where numbers fixed beforehand"
    " would look like this with a chance below 1 %, shared by the models. What such data does show"
    " is first@k, the share of tasks solved within k attempts."
)
STOPPED_AT_PASS = DiagnosticType(
    "stopped-at-pass", WARNING,
    "attempts of {models} seem to stop at the first pass, so pass@k is biased: {short} of {tasks}"
    " tasks of {model} have fewer than {most} attempts and none has two passes; " + _BIAS,
    _FIRST_AT_K, _STOPPING)  # fmt: skip
STOPPED_ONCE_PASSED = DiagnosticType(
    "stopped-once-passed", WARNING,
    "attempts of {models} seem to stop once a task has passed, so pass@k is biased: {short} of"
    " {tasks} tasks of {model} have fewer than {most} attempts, and each of these was solved;"
    " attempts go on after a pass in {beyond:task}, as in batches; " + _BIAS,
    "ignore this if their number was fixed beforehand; else " + _FIRST_AT_K,
    _STOPPING)  # fmt: skip
REPLACED_FAILURES = DiagnosticType(
    "replaced-failures", WARNING,
    "retries of {models} seem to replace failed attempts, so pass@k is biased: attempt numbers"
    " have gaps, and every task of {model} with fewer than {most} attempts ends with a pass; "
    + _BIAS,
    _FIRST_AT_K,
    "Numbers of attempts have gaps, as if a failed attempt were deleted when a retry took its"
    " place. " + _STOPPING)  # fmt: skip
_STOPPED = {
    FIRST_PASS: STOPPED_AT_PASS, ONCE_PASSED: STOPPED_ONCE_PASSED, REPLACED: REPLACED_FAILURES,
}  # fmt: skip
OF_STOPPING = tuple(message.name for message in _STOPPED.values())


# A share of the tasks that runs often lose.
_FEW_LACKING = 0.05


def reading_notes(counts: Counts) -> Iterator[Diagnostic]:
    """Messages about each thing that happened between sampling and the counts.

    Names that may be one model, runs of one model, and attempts that were passed over, lost, left
    out, not checked, without a value, or pooled; sampling that stopped because of the outcomes.
    """
    facts = counts.facts
    yield from facts.messages
    all_models = list(dict.fromkeys(model for model, *_ in counts.series))
    # org/alpha and org__alpha differ in case and signs only, or one ends in a blank.
    # A name without letters and digits is not a spelling of another one.
    spellings = grouped(all_models, lambda model: re.sub(r"[\W_]+", "-", model.casefold().strip())
                        if re.search(r"[^\W_]", model) else model)  # fmt: skip
    runs = gathered((facts.runs[model], model) for model in all_models if model in facts.runs)
    for names in spellings.values():
        if len(names) > 1:
            quoted = list(map(repr, names))
            # Of models with a task in common attempts may repeat: those of two names, if their
            # passes do.
            cells = zip(counts.cells, counts.n.tolist(), counts.c.tolist(), strict=True)
            shared = gathered(
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
    yield from pooled_benchmarks(counts)
    yield from identical_outcomes(counts)
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
        yield from _only_passes(counts)
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
        yield from loss_notes(facts)
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
        # Sampling that stopped because of outcomes explains why numbers differ.
        yield from stopped or uneven_attempts(counts)


def _may_name_models(column: str) -> bool:
    """Whether a column that nobody reads is named like a model or a setting."""
    is_setting = leaf(column) in SETTING_NAMES or leaf(column) in SETTINGS
    return is_setting or strength("model", column) > 0


def _only_passes(counts: Counts) -> Iterator[Diagnostic]:
    """A warning where tasks of a model have unequal numbers of attempts, none of which failed."""
    for s, series in enumerate(counts.series):
        n = counts.n[counts.rows_of(s)]
        if n.min() < n.max():
            least, most = int(n.min()), int(n.max())
            name, attempts = SeriesName(series), int(n.sum())
            yield ONLY_PASSES(attempts=attempts, model=name, least=least, most=most)
            return


def lacking_tasks(counts: Counts) -> Iterator[Diagnostic]:
    """Which models lack tasks that others of their group have, the one that lacks most first."""
    rows = {series: counts.rows_of(s) for s, series in enumerate(counts.series)}
    lacking: list[tuple[int, str, int]] = []
    for rivals in grouped(rows, lambda series: series[1:]).values():
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


def one_task(counts: Counts, confidence: Confidence) -> Iterator[Diagnostic]:
    """The warning about counts of one task per model, which may be totals over questions."""
    about_new = confidence.population != THESE_TASKS and confidence.method != "none"
    if about_new and len(counts.n) == len(counts.series) and counts.n.min() >= _TOTAL:
        yield ONE_TASK(attempts=int(counts.n.max()))


def _stopping_notes(counts: Counts) -> Iterator[Diagnostic]:
    """A warning per kind of stopping, with the numbers of the model with the smallest chance.

    A model is tested on all its tasks; each of its groups where they share tasks.
    """
    by_model = grouped(range(len(counts.series)), lambda s: counts.series[s][0])
    suspects: list[tuple[Stopping, str, int, float]] = []
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
            tested, end = tested + 1, stopping(n, c, *numbering)
            if end is not None:
                suspects.append((end, name, len(cells), float(np.mean(c / n))))
    suspects = [suspect for suspect in suspects if suspect[0].chance * tested < LEVEL]
    suspects.sort(key=lambda suspect: suspect[0].chance)
    for kind, same_kind in grouped(suspects, lambda suspect: suspect[0].kind).items():
        end, model, tasks, rate = same_kind[0]
        yield _STOPPED[kind](
            models=[name for _, name, *_ in same_kind], model=model, tasks=tasks, short=end.short,
            most=end.most, read=rate, at_once=end.at_once, solved=end.solved, beyond=end.beyond,
        )  # fmt: skip


def allowed_k(names: Collection[str], reasons: Sequence[str]) -> str:
    """The -k that all tasks of these models allow, in place of one they do not; "" where the
    numbers are not those of a -k, or there is no attempt."""
    few = [reason for reason in reasons if isinstance(reason, TooFewAttempts)]
    plain = {name.rstrip("0123456789") for name in names} == {"pass@", "pass^"}
    return str(min(reason.least for reason in few) or "") if plain and few else ""


def result_notes(
    facts: Sequence[Result], short: Sequence[Result], short_tasks: str
) -> list[Diagnostic]:
    """Each thing that is special about values and intervals once, with the numbers it is true of.

    A warning where it is why there is no value or no interval: the context says which intervals
    there are to be.  short : the facts whose lack of attempts is told.
    """

    def empty(fact: Result) -> DiagnosticType:
        if fact.values is not None and fact.values.labels is not None and fact.values.n.size:
            return FEW_LABELS
        has_enough = (fact.size.n_max or 0) >= (fact.k or 0)
        return SHORT_TASKS if has_enough and short_tasks != "drop" else NO_NUMBER

    # A model without a price has a message of its own.
    short = [fact for fact in short if fact.estimate.reason not in (UNPRICED, NO_PASS)]
    # A range that is too wide for an estimate has a sentence of its own.
    short = [fact for fact in short if not fact.ranged]
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
    numbers = gathered(
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
    """Whether the scores that a number rests on are known to lie from 0 to 1."""
    attempts = fact.values.attempts if fact.values else None
    return attempts is not None and attempts.value.min() >= 0.0 and attempts.value.max() <= 1.0
