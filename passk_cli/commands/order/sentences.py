"""What the order of attempts shows, in sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from passk_cli.commands.order.evidence import THE_SAME, Evidence
from passk_cli.commands.order.verdicts import (
    AGREEING,
    ALIKE,
    ALTERNATING,
    COPIES,
    DECLINING,
    IMPROVING,
    UNCLEAR,
    agreeing_pairs,
    copies_word,
    holds_zero,
    neighbour_word,
    trend_word,
)
from passk_cli.inference.exchangeability import MOST_POSITIONS
from passk_cli.message import Said
from passk_cli.report.model import Note, Sentence
from passk_cli.report.words import first_few, plural, span

# Of models whose attempts agree, those whose pair is named.
_PAIRS_SAID = 2

if TYPE_CHECKING:
    from passk_cli.outcomes.provenance import ReadFacts


def order_answer(evidence: Sequence[Evidence], level: float) -> tuple[Sentence, ...]:
    """Whether attempts are exchangeable, and which models show that they are not."""
    words = {
        "pass rates fall with later attempts": _named(evidence, trend_word, level, DECLINING),
        "pass rates rise with later attempts": _named(evidence, trend_word, level, IMPROVING),
        "neighbouring attempts are correlated": _named(evidence, neighbour_word, level, ALIKE),
        "outcomes alternate": _named(evidence, neighbour_word, level, ALTERNATING),
        "pairs of attempts agree more often than independent ones": _named(
            evidence, copies_word, level, AGREEING
        ),
        "attempts look like copies": _named(evidence, copies_word, level, COPIES),
    }
    shown = {sign: names for sign, names in words.items() if names}
    signs = [f"{sign} ({first_few(names)})" for sign, names in shown.items()]
    models = plural(len(evidence), "model")
    if len(evidence) == 1 and shown:
        return ((f"Order matters: {'; '.join(shown)}.",),)
    untested = [model.order.name for model in evidence if _untested(model)]
    beside = f" Cannot be tested: {first_few(untested)}." if untested else ""
    if signs:
        flagged = {name for names in words.values() for name in names}
        return ((f"Order matters for {len(flagged)} of {models}: {'; '.join(signs)}.{beside}",),)
    if len(untested) == len(evidence):
        return (("The order cannot be tested: no task has both passes and failures.",),)
    tested = plural(len(evidence) - len(untested), "model")
    none = "no significant trend, lag-1 correlation or agreement of attempts"
    whom = "" if len(evidence) == 1 else f" for {tested}"
    return ((f"No sign that the order of attempts matters{whom}: {none}.{beside}",),)


def _untested(model: Evidence) -> bool:
    return not model.constant and all(math.isnan(p) for p in model.p)


def _named(
    evidence: Sequence[Evidence], word: Callable[[Evidence, float], str], level: float, sign: str
) -> list[str]:
    """The models with this sign."""
    return [model.order.name for model in evidence if word(model, level) == sign]


def order_notes(
    facts: ReadFacts, evidence: Sequence[Evidence], level: float, short_tasks: str
) -> list[Said]:
    """What qualifies the numbers: how they were read, what was found, then what holds for all."""
    found = (_places(facts), _stopped(evidence), *_findings(evidence, level))
    notes = [Note(text, "warning") for part in found for text in part]
    notes += [Note(text) for text in (*_sizes(evidence), *_flaws(evidence))]
    return [*notes, *_short(evidence, short_tasks)]


def _findings(evidence: Sequence[Evidence], level: float) -> Iterator[Iterator[str]]:
    yield _trends(evidence, level)
    yield _neighbours(evidence, level)
    yield _constant(evidence)
    yield _pairs(evidence, level)


def _places(facts: ReadFacts) -> Iterator[str]:
    """Attempts left out do not leave their place empty."""
    if facts.missing and facts.missing_policy == "drop":
        yield (
            f"{plural(facts.missing, 'attempt')} without an outcome left out: later attempts at"
            " the same task move up, so attempt 1 here may have been the second"
        )


def _stopped(evidence: Sequence[Evidence]) -> Iterator[str]:
    names = [model.order.name for model in evidence if model.stopped]
    if names:
        yield (
            f"{first_few(names)}: attempts stop at the first pass, so their order cannot be"
            " tested; attempts to the first success stay right"
        )


def _trends(evidence: Sequence[Evidence], level: float) -> Iterator[str]:
    for sign, verb in ((DECLINING, "fall"), (IMPROVING, "rise")):
        models = [model for model in evidence if trend_word(model, level) == sign]
        if models:
            yield (
                f"pass rates {verb} with later attempts (points per attempt:"
                f" {_each(models, _slope)}); pass@k mixes early and late attempts, first@k does not"
            )
        unsure = [model for model in models if holds_zero(model.slope.estimate)]
        if unsure:
            yield (
                "the test is about these tasks; the confidence interval of the trend for new tasks"
                f" includes 0 (tasks with both outcomes: {_each(unsure, _mixed)})"
            )
    unclear = [model for model in evidence if trend_word(model, level) == UNCLEAR]
    if unclear:
        yield (
            "a trend may be an effect of the lag-1 correlation, as its confidence interval includes"
            f" 0 (points per attempt: {_each(unclear, _slope)})"
        )


def _neighbours(evidence: Sequence[Evidence], level: float) -> Iterator[str]:
    alternating = [m for m in evidence if neighbour_word(m, level) == ALTERNATING]
    if alternating:
        yield (
            "neighbouring attempts differ more often than chance allows (lag-1 correlation:"
            f" {_each(alternating, _lag)})"
        )
    correlated = [model for model in evidence if neighbour_word(model, level) == ALIKE]
    if correlated:
        yield (
            f"neighbouring attempts are correlated (lag-1 correlation: {_each(correlated, _lag)});"
            " a shared session, a cache, the time of day or sorting can cause this"
        )
    trend = [m for m in correlated if m.p[0] <= level and (m.lag_of_trend or 0) >= (m.lag or 0) / 2]
    if trend:
        yield f"the trend alone would cause a lag-1 correlation ({_each(trend, _lag_of_trend)})"


def _constant(evidence: Sequence[Evidence]) -> Iterator[str]:
    names = [model.order.name for model in evidence if model.constant]
    if names:
        yield (
            f"{first_few(names)}: no task has both passes and failures; attempts are copies (one"
            " seed, cached responses, temperature 0) or every task is certain; either way pass@k"
            " equals pass@1, and n attempts say no more than one"
        )


def _pairs(evidence: Sequence[Evidence], level: float) -> Iterator[str]:
    """The most striking pair of attempts stands for all of its model."""
    copies: list[tuple[str, int]] = []
    agree: list[tuple[str, int]] = []
    for model in evidence:
        pairs = [i for _, i in agreeing_pairs([model], level)]
        copied = [i for i in pairs if model.pairs.copied[i]]
        if pairs:
            text = _pair(model, min(copied or pairs, key=lambda i: model.pairs.p[i]))
            (copies if copied else agree).append((text, len(copied or pairs)))
    for texts, why in (
        (copies, ", as copies do (one seed, cached responses, a run read twice)"),
        (agree, " than independent attempts would"),
    ):
        if texts:
            more = sum(pairs for _, pairs in texts) - min(len(texts), _PAIRS_SAID)
            also = f"; {plural(more, 'more pair')}" if more else ""
            said = "; ".join(text for text, _ in texts[:_PAIRS_SAID])
            yield f"attempts agree more often{why}: {said}{also}"


def _pair(model: Evidence, i: int) -> str:
    first, second = model.pairs.first[i] + 1, model.pairs.second[i] + 1
    return (
        f"attempts {first} and {second} of {model.order.name} differ on {model.pairs.differ[i]}"
        f" tasks, {model.pairs.expected[i]:.3g} expected"
    )


def _each(evidence: Sequence[Evidence], number: Callable[[Evidence], str]) -> str:
    return first_few([f"{model.order.name}: {number(model)}" for model in evidence])


def _slope(evidence: Evidence) -> str:
    return _points(evidence.slope.estimate.value or 0.0)


def _mixed(evidence: Evidence) -> str:
    return f"{evidence.mixed:,}"


def _lag(evidence: Evidence) -> str:
    return _signed(evidence.lag or 0.0)


def _lag_of_trend(evidence: Evidence) -> str:
    return _signed(evidence.lag_of_trend or 0.0)


def _sizes(evidence: Sequence[Evidence]) -> Iterator[str]:
    """What unequal and very many attempts mean."""
    longest = [int(model.order.n.max()) for model in evidence]
    if any(int(model.order.n.min()) < most for model, most in zip(evidence, longest, strict=True)):
        yield (
            "tasks have different numbers of attempts: rates by attempt are over different tasks,"
            " trends are within tasks, and attempts to the first success count a task until its"
            " last attempt (Kaplan–Meier)"
        )
    if max(longest) > MOST_POSITIONS:
        yield f"only the first {MOST_POSITIONS:,} attempts were compared in pairs"


def _flaws(evidence: Sequence[Evidence]) -> Iterator[str]:
    """What is special about intervals, once each, with the numbers it is said of."""
    numbers: dict[str, list[str]] = {}
    for model in evidence:
        for number, flaw in _flaws_of(model):
            numbers.setdefault(flaw, []).append(f"{number} of {model.order.name}")
    for flaw, names in numbers.items():
        yield f"{first_few(names)}: {flaw}"


def _flaws_of(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Which number, and what is special about its interval."""
    flaws = []
    for rate in evidence.rates:
        first, last = int(rate.k or 0), rate.more["k_to"]
        several = "s" * (first != last)
        flaws.append((f"attempt{several} {span(first, int(str(last)))}", rate.flaw))
    facts = [] if evidence.stopped else [evidence.slope]
    for beside in evidence.beside:
        flaws += [(fact.name, fact.flaw) for fact in (beside.first, beside.any)]
        if beside.first.estimate.value is not None and beside.difference.note != THE_SAME:
            facts.append(beside.difference)
    flaws += [(fact.name, fact.note) for fact in facts if fact.estimate.low is None]
    yield from ((number, flaw) for number, flaw in flaws if flaw)


def _short(evidence: Sequence[Evidence], short_tasks: str) -> Iterator[Said]:
    """Which k's some tasks are too short for, model by model."""
    remedy = "" if short_tasks == "drop" else "; --short-tasks drop uses the tasks with n ≥ k"
    for model in evidence:
        for first, any_k, *_ in model.beside:
            if any_k.estimate.reason:
                state = "empty" if any_k.estimate.value is None else "without those tasks"
                names = f"{first.name} and {any_k.name} of {model.order.name} {state}"
                yield Note(f"{names}: {any_k.estimate.reason}{remedy}", "warning")


def _points(value: float) -> str:
    return f"{100 * value:+.2g}"


def _signed(value: float) -> str:
    return f"{value:+.2f}"
