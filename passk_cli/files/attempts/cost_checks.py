"""Apply --missing-cost to attempts without a cost, and warn about suspicious costs.

A missing cost is never treated as 0, because an attempt that timed out is expensive but often has
no recorded cost. Tokens, durations and turns are treated like costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from passk_cli.arrays import Ints
from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError
from passk_cli.files.attempts.query import AttemptFactQueries, is_missing_value_sql
from passk_cli.files.counting.diagnosis import first_matching_rows
from passk_cli.files.reading.layout import Batch
from passk_cli.files.request import BOUNDS, KEEP_MISSING, MISSING_COST_FIXES
from passk_cli.files.roles import (
    AMOUNT_UNITS,
    PASS_WORDS,
    amount_addends,
    is_list_column,
    normalized_column_name,
)
from passk_cli.outcomes.attempts import AttemptValuesByCell
from passk_cli.outcomes.counts import Counts
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.text import first_few, plural

AMOUNT_NOUNS = {
    "cost": "cost",
    "tokens_in": "count of input tokens",
    "tokens_out": "count of output tokens",
    "tokens": "count of tokens",
    "tokens_cached": "count of cached tokens",
    "duration": "duration",
    "turns": "count of turns",
}
# A column with a name in _FAILURE_REASON_COLUMNS may contain the reason why an attempt failed.
_FAILURE_REASON_COLUMNS = tuple(
    "reason failure_reason failure_mode error_type exception_type dispatch_disposition disposition"
    " error_category termination_reason finish_reason finishReason stop_reason status".split()
)
_CACHE_FLAG_COLUMNS = ("cached", "is_cached", "cache_hit", "from_cache")
# A column with a word in _NON_MODEL_COST_WORDS in its name may contain costs of a user simulator or
# a judge, and not of the evaluated model.
_NON_MODEL_COST_WORDS = frozenset(
    "user judge judges grader grading scorer scoring simulator evaluator evaluation verifier"
    " reviewer other others overhead".split()
)
_NON_DOLLAR_CURRENCY_WORDS = frozenset(
    "eur euro euros gbp chf jpy yen cny rmb yuan inr krw brl cad aud sek nok dkk pln czk".split()
)
_AMOUNT_COLUMN_WORDS_BY_ROLE = {"cost": {"cost", "costs", "usd"}, "tokens": {"tokens", "overhead"}}
_MISSING_IS_NOT_ZERO_TEXT = (
    "A missing amount does not mean 0. Harnesses often record no amount for attempts that timed out"
    " or crashed, although such attempts may be the most expensive."
)
MISSING_COSTS_DROPPED_WARNING = DiagnosticType(
    "missing-costs-dropped", WARNING,
    "only {known} of {made} attempts are used for {amount}, because {attempts:attempt}"
    " {attempts:has|have} no {noun}: {models}",
    meaning="With --missing-cost drop, an attempt without an amount is included in pass rates but"
    " not in the mean amount. The amount per success uses only attempts that have both an amount"
    " and an outcome.",
    why=_MISSING_IS_NOT_ZERO_TEXT + " If the missing amounts are larger than the known amounts, the"
    " result is too low.",
    advice="`--missing-cost bounds` shows how much the missing amounts can change the result.",
    example="warning[missing-costs-dropped]: only 47 of 75 attempts are used for cost, because 28"
    " attempts have no cost: glm 28 of 75 (9 passed, 19 failed; timeout 1)",
)  # fmt: skip
MISSING_COSTS_ESTIMATED_WARNING = DiagnosticType(
    "missing-costs-estimated", WARNING,
    "{attempts:attempt} without a {noun} {attempts:gets|get} the mean {noun} of the model's other"
    " attempts at the task: {models}",
    meaning="With --missing-cost mean, an attempt without an amount gets the mean amount of the"
    " other attempts by the same model at the same task.",
    why=_MISSING_IS_NOT_ZERO_TEXT + " If the missing amounts are larger than the known amounts, the"
    " mean is too low.",
    advice="`--missing-cost bounds` shows how much the missing amounts can change the result.",
    example="warning[missing-costs-estimated]: 28 attempts without a cost get the mean cost of the"
    " model's other attempts at the task: glm 28 of 75 (9 passed, 19 failed; timeout 1)",
)  # fmt: skip
MISSING_COSTS_BOUNDED_WARNING = DiagnosticType(
    "missing-costs-bounded", WARNING,
    "{attempts:attempt} without a {noun} may have used any amount: {models}",
    meaning="With --missing-cost bounds, a missing amount can be any amount from 0 upwards, so the"
    " results are ranges.",
    why=_MISSING_IS_NOT_ZERO_TEXT,
    advice="If the missing amounts are probably similar to the known amounts, use"
    " `--missing-cost mean` to get one number.",
    example="warning[missing-costs-bounded]: 28 attempts without a cost may have used any amount:"
    " glm 28 of 75 (9 passed, 19 failed; timeout 1)",
)  # fmt: skip
MISSING_COSTS_IN_HISTORY_NOTE = DiagnosticType(
    "missing-costs-kept", NOTE,
    "the history records no {noun} for {attempts:attempt}: {models}",
    "choose how missing amounts count when you run passk trend",
    meaning="If an attempt has no amount, the history records the outcome of the attempt but no"
    " amount.",
    why="When you run passk trend, the same --missing-cost setting applies to all runs of the"
    " history.",
    advice="Choose `--missing-cost` when you run `passk trend`.",
    example="note[missing-costs-kept]: the history records no cost for 28 attempts: glm 28 of 75 (9"
    " passed, 19 failed; timeout 1); choose how missing amounts count when you run passk trend",
)  # fmt: skip
_MESSAGE_BY_COST_POLICY = {
    KEEP_MISSING: MISSING_COSTS_IN_HISTORY_NOTE,
    "drop": MISSING_COSTS_DROPPED_WARNING,
    "mean": MISSING_COSTS_ESTIMATED_WARNING,
    BOUNDS: MISSING_COSTS_BOUNDED_WARNING,
}
MODEL_COSTS_ALL_ZERO_WARNING = DiagnosticType(
    "unpriced-models", WARNING,
    "every attempt by {models:and} costs 0, probably because the price is unknown",
    SuggestedFix({"--price": Placeholder("FILE")}, "computes costs from tokens"),
    meaning="Every attempt by a model costs 0. Many harnesses write 0 for models that have no known"
    " price or that run on your own machine.",
    why="If the price is unknown, you cannot compare a cost of 0 with the costs of other models.",
    example="warning[unpriced-models]: every attempt by local-llama costs 0, probably because the"
    " price is unknown; --price FILE computes costs from tokens",
)  # fmt: skip
MODEL_AMOUNTS_ALL_ZERO_WARNING = DiagnosticType(
    "uncounted-amounts", WARNING,
    "the files contain 0 as the {noun} of every attempt by {models:and}, probably because the"
    " harness did not record this amount",
    meaning="If an agent does not report tokens, turns or times, some harnesses write 0.",
    why="If the harness did not record the amount, a mean of 0 shows nothing about the model.",
    advice="Leave models without recorded amounts out of the comparison, or compare an amount that"
    " was recorded.",
    example="warning[uncounted-amounts]: the files contain 0 as the duration of every attempt by"
    " codex, probably because the harness did not record this amount",
)  # fmt: skip
SOME_ATTEMPT_COSTS_ZERO_WARNING = DiagnosticType(
    "zero-costs", WARNING,
    "{attempts:attempt} {attempts:costs|cost} 0, but other attempts by the same model cost more:"
    " {models}",
    "an attempt costs 0 if it crashed before the first call, or if a price is missing",
    meaning="Some attempts by a model cost exactly 0, and other attempts by the model do not.",
    why="An attempt that crashed before the first call to the model costs nothing. If a price or a"
    " token count is missing, a cost of 0 is wrong. Every attempt with a cost of 0 lowers the mean"
    " cost.",
    advice="If you ran the crashed attempts again, use `--duplicates` or `--where` to leave out the"
    " crashed attempts.",
    example="warning[zero-costs]: 3 attempts cost 0, but other attempts by the same model cost"
    " more: glm 3 of 75 (3 failed; error 3); an attempt costs 0 if it crashed before the first"
    " call, or if a price is missing",
)  # fmt: skip
CACHED_ANSWERS_BILLED_WARNING = DiagnosticType(
    "repeated-prices", WARNING,
    "{attempts:attempt} with a cached answer {attempts:repeats|repeat} the price of the first call:"
    " {models}",
    (
        SuggestedFix({"--field": {"cost": "{billed}"}}, "counts them as 0"),
        SuggestedFix({"--where": "{condition}"}, "leaves them out"),
    ),
    meaning="A cached answer is a copy of an earlier answer. You did not pay again for the cached"
    " answer, but the file repeats the price of the first call.",
    why="The reported cost is too high, and a cached answer is not an independent attempt at the"
    " task.",
    advice="If an evaluation makes several attempts per task, run it without a cache. For the"
    " existing files, use one of the options in the message.",
    example="warning[repeated-prices]: 12 attempts with a cached answer repeat the price of the"
    " first call: gpt-5.5 12 of 40 (12 passed); --field"
    " 'cost=billed_cost' counts them as 0; --where 'NOT cached' leaves them out",
)  # fmt: skip
DROPPED_DUPLICATE_COSTS_WARNING = DiagnosticType(
    "left-out-costs", WARNING,
    "the amounts do not include repeated attempts that were left out: {models}",
    SuggestedFix({"--duplicates": "keep"}, "counts them"),
    meaning="If the data contains an attempt more than once, --duplicates sets which of the"
    " repeated records counts. The result does not include the amounts of records that were left"
    " out.",
    why="You also paid for the repeated attempts, so the real cost is higher.",
    example="warning[left-out-costs]: the amounts do not include repeated attempts that"
    " were left out: glm 1.2 of 8.4 dollars; --duplicates keep counts them",
)  # fmt: skip
OTHER_COST_COLUMNS_NOTE = DiagnosticType(
    "other-costs", NOTE, "passk reads {role} from {column}, which does not include {others:and}",
    SuggestedFix({"--field": {"{role}": "{all}"}}, "adds all columns"),
    meaning="The files also contain other amounts, for example the cost of a simulated user or of"
    " an LLM judge. passk uses only the amount of the evaluated model.",
    why="The amount for the whole evaluation is larger than the amount for the evaluated model.",
    example="note[other-costs]: passk reads cost from agent_cost, which does not include user_cost;"
    " --field 'cost=agent_cost+user_cost' adds all columns",
)  # fmt: skip
NON_MODEL_COSTS_NOT_IN_FILES_NOTE = DiagnosticType(
    "unknown-costs", NOTE,
    "the {noun} includes only the model; the files do not contain the {noun} of {others}",
    meaning="A simulated user or an LLM judge also costs money, but the files contain only the cost"
    " of the evaluated model.",
    why="The amount for the whole evaluation is larger than the amount for the evaluated model.",
    advice="Look up the missing amount on your provider's bill.",
    example="note[unknown-costs]: the cost includes only the model; the files do not contain the"
    " cost of the simulated user",
)  # fmt: skip
AMOUNT_COLUMNS_NOTE = DiagnosticType(
    "amount-read", NOTE, "passk reads {role} as {how}{?unit|, in {unit}}",
    meaning="passk reads the amount from the columns that the message names. passk converts values"
    " if the column name contains a unit, or if you write a unit after a colon. passk assumes that"
    " times without a unit are in seconds. passk adds up the entries of a list, and adds up columns"
    " that you join with +.",
    why="If the unit is wrong, all amounts are wrong by the same factor. If one part of a sum is"
    " missing, the sum is missing.",
    advice="If the unit is wrong, add a colon and the correct unit to the column name, for example"
    " `--field duration=latency:ms`.",
    example="note[amount-read]: passk reads duration as latency:ms, in seconds",
)  # fmt: skip
NAME_CONTRADICTS_UNIT_WARNING = DiagnosticType(
    "other-unit", WARNING,
    "the name of {column} suggests {other}, but passk reads its values as {unit}",
    meaning="The option --field names a column for an amount, but the name of the column contains"
    " another unit. For example, the column for a cost has the name total_tokens. passk does not"
    " convert the values.",
    why="The amounts probably have the wrong unit.",
    advice="To count tokens, use `passk cost --of tokens --field tokens=COLUMN`. To compute dollars"
    " from tokens, use `--price`.",
    example="warning[other-unit]: the name of total_tokens suggests tokens, but passk reads its"
    " values as dollars",
)  # fmt: skip
NON_DOLLAR_CURRENCY_WARNING = DiagnosticType(
    "other-currency", WARNING,
    "the name of {column} suggests {currency}, so each $ in the output means {currency}",
    meaning="passk shows all costs with a dollar sign. The name of a cost column contains another"
    " currency, but passk does not convert the values of the column.",
    why="You cannot compare costs in two currencies.",
    advice="Convert the column to dollars before you compare models.",
    example="warning[other-currency]: the name of cost_eur suggests EUR, so each $ in the output"
    " means EUR",
)  # fmt: skip
COST_FROM_TOKENS_NOTE = DiagnosticType(
    "priced-tokens", NOTE,
    "passk computes the cost from tokens at the given prices{?cached|; {cached}}",
    meaning="passk multiplies the input tokens and the output tokens of an attempt by the prices"
    " per million tokens that you set with --price. Cached tokens are part of the input tokens.",
    why="Without a price for cached tokens, passk uses the price of input tokens, which may be more"
    " than your provider charges.",
    advice="If your provider charges less for cached tokens, add `cached = …` to the prices of the"
    " model.",
    example="note[priced-tokens]: passk computes the cost from tokens at the given prices; cached"
    " tokens of gpt-5.5 are charged at the input price",
)  # fmt: skip


@dataclass
class _ModelCountsOfProperty:
    """How many attempts by a model have a property, such as a missing cost.

    total : the number of all attempts by the model.
    reason_counts : maps each reason for the property, such as "timeout", to a number of attempts.
    """

    total: int = 0
    attempts_with_property: int = 0
    passed: int = 0
    reason_counts: Mapping[str, int] = field(default_factory=dict)

    def text(self, model: str) -> str:
        outcomes = {"passed": self.passed, "failed": self.attempts_with_property - self.passed}
        inside = ", ".join(f"{times:,} {name}" for name, times in outcomes.items() if times)
        reasons = sorted(self.reason_counts.items(), key=lambda pair: -pair[1])[:3]
        why = ", ".join(f"{reason} {times:,}" for reason, times in reasons)
        details = "; ".join(filter(None, (inside, why)))
        return f"{model} {self.attempts_with_property:,} of {self.total:,} ({details})"


def apply_missing_cost(counts: Counts, query: AttemptFactQueries) -> Counts:
    """Apply --missing-cost to attempts without an amount, such as a cost. Return new counts, which
    also contain messages about the amounts.

    counts : the counts with the amounts of attempts, in which NaN means a missing amount.
    Errors: DataError if --missing-cost is "error" and an amount is missing. DataError if
    --missing-cost is "drop" and no attempt has an amount. DataError if --missing-cost is "mean" and
    a model has no attempt with an amount at some task.
    """
    amounts = {role: attempts for role, attempts in counts.attempts.items() if role in AMOUNT_UNITS}
    request = query.statement.request
    cells, policy = len(counts.n), request.missing_cost
    remarks = tuple(_amount_messages(counts, amounts, query))
    messages = []
    for role, attempts in amounts.items():
        lost = np.isnan(attempts.value)
        if not lost.any():
            continue
        n = np.bincount(attempts.row_cell_indices, attempts.count * lost, cells).astype(np.int64)
        c = np.bincount(attempts.row_cell_indices, attempts.pass_count * lost, cells).astype(
            np.int64
        )
        models, total = _describe_missing_by_model(counts, role, n, c, query), int(counts.n.sum())
        if policy == "error" or (policy == "drop" and lost.all()):
            raise _missing_cost_error(role, models, n, counts, query)
        if policy in ("drop", "mean"):
            treated = (
                attempts.select_rows(~lost)
                if policy == "drop"
                else _fill_with_cell_means(attempts, counts, role)
            )
            counts = replace(counts, attempts={**counts.attempts, role: treated})
        messages.append(_MESSAGE_BY_COST_POLICY[policy](
            attempts=int(n.sum()), known=total - int(n.sum()), made=total, noun=AMOUNT_NOUNS[role],
            amount=AMOUNT_NOUNS[role].removeprefix("count of "), models=models,
        ))  # fmt: skip
    return counts.with_messages(*messages, *remarks)


def _missing_cost_error(
    role: str, models: Sequence[str], lost: Ints, counts: Counts, query: AttemptFactQueries
) -> DataError:
    request = query.statement.request
    noun = (
        "tokens to compute a cost from" if request.price and role == "cost" else AMOUNT_NOUNS[role]
    )
    problem = f"no {noun} ({plural(int(lost.sum()), 'attempt')} in all: {first_few(models)})"
    remedy, settles = "no attempt has this amount, so check the column", list[SuggestedFix]()
    has_known = lost < counts.n
    if has_known.any():
        remedy = "a missing amount is not 0"
        mean = SuggestedFix({"--missing-cost": "mean"}, "uses the mean of the other attempts")
        settles = [*[mean] * bool(has_known[lost > 0].all()), *MISSING_COST_FIXES]
    (row,) = first_matching_rows(query.con, query.statement, is_missing_value_sql(role, request))
    return DataError(row.place, problem, remedy, name="missing-cost", settles=settles)


def _describe_missing_by_model(
    counts: Counts, role: str, lost: Ints, passed: Ints, query: AttemptFactQueries
) -> list[str]:
    """Describe the missing amounts of each model. The model with the most missing amounts comes
    first."""
    reasons = _failure_reason_counts_by_model(query, role, "value IS NULL")
    sums = _sum_cells_by_model(counts, counts.n, lost, passed)
    shares = {
        name: _ModelCountsOfProperty(total, number, passes, reasons.get(name, {}))
        for name, (total, number, passes) in sums.items()
    }
    most = sorted(shares.items(), key=lambda pair: -pair[1].attempts_with_property)
    return [share.text(name) for name, share in most if share.attempts_with_property]


def _failure_reason_counts_by_model(
    query: AttemptFactQueries, role: str, where: str
) -> dict[str, Counter[str]]:
    role_columns = {c for batch in query.statement.batches for c in batch.roles.columns().values()}
    columns = [
        name
        for name in _FAILURE_REASON_COLUMNS
        if name in query.column_names_of_all_batches - role_columns
    ]
    reasons: dict[str, Counter[str]] = {}
    if columns:
        reason = f"coalesce({', '.join(f'column{i}' for i in range(len(columns)))})"
        rows = query.select_grouped_attempt_values(
            f"name, {reason} AS why, count(*)", where, role, columns
        )
        for model, why, times in rows:
            # A short text can be the reason why an attempt ended, but a long text is usually an
            # explanation by a judge.
            if why is not None and len(why) <= 40 and why.lower() not in PASS_WORDS:
                reasons.setdefault(model, Counter())[why] += times
    return reasons


def _fill_with_cell_means(
    attempts: AttemptValuesByCell, counts: Counts, role: str
) -> AttemptValuesByCell:
    lost, cells = np.isnan(attempts.value), len(counts.n)
    known_attempts = np.bincount(attempts.row_cell_indices, attempts.count * ~lost, cells)
    value = np.where(lost, 0.0, attempts.value)
    total = np.bincount(attempts.row_cell_indices, attempts.count * value, cells)
    empty = (np.bincount(attempts.row_cell_indices, lost, cells) > 0) & (known_attempts == 0)
    if empty.any():
        series, task = counts.cells[int(empty.argmax())]
        more = f"; {plural(int(empty.sum()), 'task')} have none" if empty.sum() > 1 else ""
        problem = (
            f"no attempt of {' '.join(series)} at task {task} has a {AMOUNT_NOUNS[role]}{more}"
        )
        raise DataError(
            OptionWithValue("--missing-cost", "mean"),
            problem,
            name="missing-cost",
            settles=MISSING_COST_FIXES,
        )
    mean = total / np.maximum(known_attempts, 1)
    filled = replace(
        attempts, value=np.where(lost, mean[attempts.row_cell_indices], attempts.value)
    )
    return filled.with_new_cell_indices(np.arange(cells), cells)


def _amount_messages(
    counts: Counts, amounts: Mapping[str, AttemptValuesByCell], query: AttemptFactQueries
) -> Iterator[Diagnostic]:
    request, batches = query.statement.request, query.statement.batches
    for role, attempts in amounts.items():
        yield from _zero_attempt_amount_messages(counts, role, attempts, query)
    if "cost" in amounts:
        yield from _billed_cached_answer_messages(counts, query)
    if query.kept_duplicate is not None:
        yield from _dropped_duplicate_amount_messages(amounts, query)
    if request.price and "cost" in amounts:
        priced = any(batch.roles.column("tokens_cached") for batch in batches)
        without = [name for name, price in request.price.items() if price.cached is None]
        cached = f"cached tokens of {first_few(without)} are charged at the input price"
        yield COST_FROM_TOKENS_NOTE(cached=cached if priced and without else "")
    for role in request.used_attempt_facts:
        if role in AMOUNT_UNITS:
            yield from _amount_column_reading_messages(
                role, batches, is_named=role in request.fields
            )


def _zero_attempt_amount_messages(
    counts: Counts, role: str, attempts: AttemptValuesByCell, query: AttemptFactQueries
) -> Iterator[Diagnostic]:
    """The messages about models with attempts that have an amount of 0, such as a cost of 0."""
    zero, number = attempts.value == 0, ~np.isnan(attempts.value)
    parts = (attempts.count * number, attempts.count * zero, attempts.pass_count * zero)
    cells = (np.bincount(attempts.row_cell_indices, part, len(counts.n)) for part in parts)
    shares = {
        name: _ModelCountsOfProperty(*numbers)
        for name, numbers in _sum_cells_by_model(counts, *cells).items()
    }
    pairs = [pair for pair in shares.items() if pair[1].attempts_with_property]
    free = [name for name, share in pairs if share.attempts_with_property == share.total]
    partly_free = {
        name: share for name, share in pairs if share.attempts_with_property < share.total
    }
    if free and role == "cost":
        yield MODEL_COSTS_ALL_ZERO_WARNING(models=free)
    elif free and role != "tokens_cached":
        yield MODEL_AMOUNTS_ALL_ZERO_WARNING(
            noun=AMOUNT_NOUNS[role].removeprefix("count of "), models=free
        )
    if role != "cost" or not partly_free:
        return
    if cached := next(
        (name for name in _CACHE_FLAG_COLUMNS if name in query.column_names_of_all_batches), None
    ):
        # Attempts with a cached answer are excluded, because a cached answer is free.
        new = "value = 0 AND coalesce(lower(column0), '') NOT IN ('true', '1')"
        select = "name, count(*), count(*) FILTER (verdict = 1)"
        rows_of = query.select_grouped_attempt_values(select, new, role, [cached])
        partly_free = {
            m: _ModelCountsOfProperty(partly_free[m].total, n, c)
            for m, n, c in rows_of
            if m in partly_free
        }
    reasons = _failure_reason_counts_by_model(query, role, "value = 0") if partly_free else {}
    words = [
        replace(share, reason_counts=reasons.get(model, {})).text(model)
        for model, share in partly_free.items()
    ]
    if words:
        yield SOME_ATTEMPT_COSTS_ZERO_WARNING(
            attempts=sum(share.attempts_with_property for share in partly_free.values()),
            models=words,
        )


def _sum_cells_by_model(counts: Counts, *cells: Any) -> dict[str, Any]:
    names = list(dict.fromkeys(model for model, *_ in counts.series))
    places = {name: place for place, name in enumerate(names)}
    model = np.array([places[name] for name, *_ in counts.series])[counts.series_codes]
    sums = (np.bincount(model, numbers, len(names)).astype(int).tolist() for numbers in cells)
    return dict(zip(names, zip(*sums, strict=True), strict=True))


def _billed_cached_answer_messages(
    counts: Counts, query: AttemptFactQueries
) -> Iterator[Diagnostic]:
    cached = next(
        (name for name in _CACHE_FLAG_COLUMNS if name in query.column_names_of_all_batches), None
    )
    if cached is None:
        return
    repeated = "value > 0 AND lower(column0) IN ('true', '1')"
    rows = query.select_grouped_attempt_values(
        "name, count(*), count(*) FILTER (verdict = 1)", repeated, "cost", [cached]
    )
    totals = {model: n for model, (n,) in _sum_cells_by_model(counts, counts.n).items()}
    if rows:
        billed = "billed_cost" if "billed_cost" in query.column_names_of_all_batches else ""
        yield CACHED_ANSWERS_BILLED_WARNING(
            attempts=sum(times for _, times, _ in rows),
            models=[
                _ModelCountsOfProperty(totals[m], times, passed).text(m)
                for m, times, passed in rows
            ],
            billed=billed,
            condition="" if billed else f"NOT {cached}",
        )


def _dropped_duplicate_amount_messages(
    amounts: Mapping[str, AttemptValuesByCell], query: AttemptFactQueries
) -> Iterator[Diagnostic]:
    texts = []
    for role in amounts:
        unit = AMOUNT_UNITS[role][0]
        totals = [
            dict(
                query.select_grouped_attempt_values(
                    "name, coalesce(sum(value), 0)", "true", role, all_runs=all_runs
                )
            )
            for all_runs in (True, False)
        ]
        for model, total in totals[0].items():
            if (difference := total - totals[1].get(model, 0.0)) > 1e-12 * total:
                texts.append(f"{model} {difference:,.4g} of {total:,.4g} {unit}")
    if texts:
        yield DROPPED_DUPLICATE_COSTS_WARNING(models=texts)


def _amount_column_reading_messages(
    role: str, batches: Sequence[Batch], *, is_named: bool
) -> Iterator[Diagnostic]:
    for batch in {b.roles.column(role): b for b in batches}.values():
        column, kinds = batch.roles.column(role), batch.layout.kinds_by_column
        if column is None:
            continue
        parts = amount_addends(role, column, kinds)
        # If each row contains several attempts as lists, the entries of a list of amounts belong to
        # different attempts and are not added up.
        lists = batch.roles.kind_of_rows == "lists"
        list_columns = [] if lists else [name for name, _ in parts if is_list_column(name, kinds)]
        how = [f"the sum of {name}" if name in list_columns else name for name, _ in parts]
        how = [f"{text}{unit}" for text, (_, unit) in zip(how, parts, strict=True)]
        timed = (
            column != role
            and not batch.layout.normalized_rows_file
            and not _has_known_unit(role, parts)
        )
        converted = any(unit for _, unit in parts)
        added = not lists and (list_columns or (is_named and len(parts) > 1))
        if timed or converted or added:
            unit = "" if AMOUNT_UNITS[role][0] in role else AMOUNT_UNITS[role][0]
            yield AMOUNT_COLUMNS_NOTE(role=role, unit=unit, how=" + ".join(how))
        for name, _ in parts if is_named else ():
            if other_unit := _conflicting_unit_in_column_name(role, name):
                yield NAME_CONTRADICTS_UNIT_WARNING(
                    column=name, other=other_unit, unit=AMOUNT_UNITS[role][0]
                )
        for name, _ in parts if role == "cost" else ():
            for currency in sorted(
                {*normalized_column_name(name).split("_")} & _NON_DOLLAR_CURRENCY_WORDS
            ):
                yield NON_DOLLAR_CURRENCY_WARNING(column=name, currency=currency.upper())
        if kind := _AMOUNT_COLUMN_WORDS_BY_ROLE.get(role):
            names = [name for name, _ in parts]
            other_columns = []
            for name in (name for name in kinds if name not in names):
                words = {*normalized_column_name(name).split("_")}
                other_columns += [name] * bool(words & _NON_MODEL_COST_WORDS and words & kind)
            form = batch.layout.format
            if other_columns:
                yield OTHER_COST_COLUMNS_NOTE(
                    role=role, column=column, others=other_columns, count=len(other_columns),
                    all="+".join([column, *other_columns]),
                )  # fmt: skip
            elif form is not None and form.cost_causes_besides_model and len(parts) == 1:
                yield NON_MODEL_COSTS_NOT_IN_FILES_NOTE(
                    noun=AMOUNT_NOUNS[role], others=form.cost_causes_besides_model
                )


def _conflicting_unit_in_column_name(role: str, column: str) -> str:
    words = {*normalized_column_name(column.rpartition(".")[2]).split("_")}
    unit, short = (
        AMOUNT_UNITS[role],
        {"tokens": ("token", "tok", "toks"), "turns": ("turn", "steps")},
    )
    other_units = {name: units for name, units in AMOUNT_UNITS.values() if name != unit[0]}
    if words & {unit[0], role, *unit[1]}:
        return ""
    conflicts = (n for n, units in other_units.items() if words & {n, *units, *short.get(n, ())})
    return next(conflicts, "")


def _has_known_unit(role: str, parts: Sequence[tuple[str, str]]) -> bool:
    return role != "duration" or all(
        unit
        or {*normalized_column_name(name.rpartition(".")[2]).split("_")}
        & AMOUNT_UNITS[role][1].keys()
        for name, unit in parts
    )
