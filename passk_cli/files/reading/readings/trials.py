"""Trials: remedies and readings that lead to numbers, and what else has to be settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from passk_cli.errors import PasskError
from passk_cli.files.reading.doubts.tasks import UNLIKELY_TASKS
from passk_cli.files.reading.readings.question import (
    MISSING,
    answers,
    blank,
    question,
    rivals,
)
from passk_cli.files.reading.readings.reading import RankedReading
from passk_cli.files.reading.structures import Structure
from passk_cli.files.request import AVERAGED, BOUNDS, Request
from passk_cli.files.roles import COLUMN
from passk_cli.settle import Settle
from passk_cli.text import plural

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts

# How many remedies are tried, and how often options are added to one.
TRIED, _ROUNDS = 9, 6
# How many answers to one question are printed.
_ANSWERS = 8


@dataclass(frozen=True)
class Trials:
    """Remedies tried on the data that an error is about.

    read : reads with a request.  unsuited : why counts that remedies read do not suit the question.
    known : what requests led to.
    """

    request: Request
    read: Callable[[Request], Counts]
    unsuited: list[PasskError] = field(default_factory=list)
    known: dict[str, Counts | PasskError] = field(default_factory=dict)

    def counts(self, settle: Settle) -> Counts:
        """The counts that a remedy reads; PasskError where they do not suit the question."""
        asked = replace(self.request.settled(settle), conversion=None, resume=None)
        found = self.known.get(repr(asked))
        if found is None:
            found = self.known[repr(asked)] = self._read(asked)
        if isinstance(found, PasskError):
            raise found
        return found

    def _read(self, asked: Request) -> Counts | PasskError:
        try:
            counts = self.read(asked)
        except PasskError as error:
            if error.name == UNLIKELY_TASKS.name:
                self.unsuited.append(error)
            return error
        try:
            if asked.suits is not None:
                asked.suits(counts)
        except PasskError as error:
            self.unsuited.append(error)
            return error
        return counts

    def of(self, settle: Settle, rounds: int = _ROUNDS) -> tuple[Settle, Counts | None]:
        """A remedy with what else has to be settled, and the counts it reads; None for none."""
        try:
            return settle, self.counts(settle)
        except PasskError as error:
            ways = _next(settle, error, averages=self.request.averages)
        if not ways or rounds == 1:
            return settle, None
        # Where the first leads to no number the last may: pooling on purpose.
        first = self.of(settle.merged(ways[0]), rounds - 1)
        if first[1] is not None or len(ways) == 1 or rounds < _ROUNDS:
            return first
        last = self.of(settle.merged(ways[-1]), rounds - 1)
        return first if last[1] is None else last

    def readable(self, settles: Sequence[Settle]) -> list[Settle]:
        """The first of these remedies that read, each with how much that is."""
        own = [each for each in settles if not is_open(each)]
        tried = [(each, *self.of(each)) for each in own[:TRIED]]
        return [
            replace(self.bounded(settle, counts),
                    why=": ".join(filter(None, [each.why, _reads(settle, counts, each)])))
            for each, settle, counts in tried
            if counts is not None
        ]  # fmt: skip

    def bounded(self, settle: Settle, counts: Counts) -> Settle:
        """A remedy that averages scores with their range, where they lie from 0 to 1."""
        score = counts.attempts.get("score")
        if "-m" not in settle.options or self.request.lowest is not None or score is None:
            return settle
        within = score.value.min() >= 0.0 and score.value.max() <= 1.0
        return settle.merged(Settle({"--bounds": "0,1"})) if within else settle

    def asking(self, settles: Sequence[Settle]) -> Iterator[Settle]:
        """Of remedies without a number those that lead to what only people know of attempts that
        are there twice."""
        for settle in settles:
            own, _ = self.of(settle)
            try:
                self.counts(own)
            except PasskError as error:
                if error.name == "duplicate-attempts":
                    why = ": ".join(filter(None, [settle.why, "asks about duplicated attempts"]))
                    yield replace(own, why=why)

    def completed(self, settles: Sequence[Settle]) -> Iterator[Settle]:
        """Remedies with what else has to be settled after them; those without a number go, and
        those that become another."""
        known = [repr(self.request.settled(each)) for each in settles if not is_open(each)]
        for settle in settles:
            # What is left to people, or to another command, is not tried.
            if is_open(settle):
                yield settle
                continue
            own, counts = self.of(settle)
            if own != settle and (asked := repr(self.request.settled(own))) in known:
                continue
            if own != settle:
                known.append(asked)
            averaged = "-m" in own.options.keys() - settle.options.keys()
            if counts is not None:
                yield replace(
                    self.bounded(own, counts), why=settle.why + "; scores are averaged" * averaged
                )

    def leads_on(self, settle: Settle, error: PasskError) -> bool:
        """Whether a remedy without a number comes past the error that it settles."""
        try:
            _ = is_open(settle) or self.counts(settle)
        except PasskError as other:
            return other.name != error.name
        return True

    def suits(self, settle: Settle, rounds: int = _ROUNDS) -> bool:
        """Whether a remedy, and what else has to be settled after it, does not end in counts that
        do not suit the question."""
        if is_open(settle) or self.request.suits is None:
            return True
        try:
            self.counts(settle)
        except PasskError as error:
            ways = _next(settle, error, averages=self.request.averages)
            if error in self.unsuited or not ways or rounds == 1:
                return error not in self.unsuited
            return any(self.suits(settle.merged(way), rounds - 1) for way in ways)
        return True


def is_open(settle: Settle) -> bool:
    """Whether a remedy is another command's, labels files, or leaves something to the reader."""
    return bool(settle.command or settle.labels) or not settle.complete


def _next(settle: Settle, error: PasskError, *, averages: bool) -> list[Settle]:
    """Remedies of the error that a remedy leads to, without those that take it back."""
    kind = next((name for name in ("--pool", "--by") if name in settle.options), "")
    if error.name == "missing-outcome" and "--missing" not in settle.options:
        ways = [Settle({"--missing": "fail"})]
    elif error.name == "duplicate-attempts" and kind:
        ways = [Settle({"--duplicates": "keep"})]
    else:
        # Nobody is led to count what repeats, unless settings are what is asked about.
        ways = [w for w in error.settles if not (is_open(w) or "--duplicates" in w.options)]
        if error.name == UNLIKELY_TASKS.name:
            # Nor to say that what is called as models are is tasks.
            ways.pop()
        # What is pooled, or kept apart, by one column is so by the others.
        ways.sort(key=lambda way: kind not in way.options)
    if error.name == "bad-outcome" and averages and not ways:
        # Of scores that are no verdicts the mean is a number.
        ways = [Settle(AVERAGED)]
    return [way for way in ways if not _undone(settle, way)]


def _undone(settle: Settle, other: Settle) -> bool:
    """Whether another remedy gives an option of the first a value that takes the place of its own.

    >>> _undone(Settle({"--missing": "drop"}), Settle({"--missing": "fail"}))
    True
    >>> _undone(Settle({"--where": "x > 1"}), Settle({"--where": "y = 2"}))
    False
    """
    both = settle.merged(other).options
    return any(
        isinstance(value, str) and both[name] != value and both[name] == other.options[name]
        for name, value in settle.options.items()
    )


def size(counts: Counts) -> str:
    """How much was read: "8 tasks × 3 attempts under 2 conditions"."""
    least, most = int(counts.n.min()), int(counts.n.max())
    each = plural(most, "attempt") if least == most else f"{least:,} to {plural(most, 'attempt')}"
    models = len({name for name, *_ in counts.series})
    by = f" by {plural(models, 'model')}" * (models > 1)
    groups = [
        plural(len({series[place] for series in counts.series}), name)
        for place, name in enumerate(counts.group_names, 1)
    ]
    under = " under " + " and ".join(groups) if groups else ""
    return f"{plural(len(counts.tasks), 'task')} × {each}{by}{under}"


def _reads(settle: Settle, counts: Counts, first: Settle) -> str:
    """How much a remedy reads, and what it leaves out or makes failures.

    first : the remedy before others were added to it, which says itself what it does.
    """
    missing = counts.facts.missing
    fails = missing and "--missing" in settle.options.keys() - first.options.keys()
    lost = f"; {plural(missing, 'missing outcome')} fail{'s' * (missing == 1)}" if fails else ""
    bad = counts.facts.skipped if "--skip-bad" in settle.options else 0
    lost += f"; {plural(bad, 'bad record')} left out" if bad else ""
    return f"reads {size(counts)}{lost}"


# Remedies, and a question with them; both empty where nothing is found.
Answer = tuple[list[Settle], str]
# How close the second best reading has to be.
_CLOSE = 0.8
# Options that answer a question.
ANSWERS_OF = ("--passes", "--fails", "--threshold", "--bounds", *AVERAGED)


def chosen(ranked: Sequence[RankedReading], trials: Trials, most: float) -> Answer:
    """The best reading that reads, and the second best where it is close; or else a question.

    most : files that may be passed over.
    """
    settles, asked, known = list[Settle](), list[dict[str, Any]](), list[list[tuple[int, int]]]()
    # Structures of which a better reading needs no answer.
    clear: list[Structure] = []
    best = 0.0
    for reading in ranked:
        own = reading.options(trials.request)
        if own in asked:
            continue
        far = bool(settles) and reading.score < best - _CLOSE
        if far or len(settles) == 2 or len(asked) == TRIED:
            break
        asked.append(own)
        if _is_open(reading, trials.request):
            # Parts are asked about where nothing judges the whole.
            whole = reading.question == "parts" and _judged(reading.structure, ranked)
            first = not (settles or whole or reading.structure in clear)
            if first and (answer := _asked(reading, ranked, trials)):
                return answer
            continue
        settle, counts = trials.of(Settle(own)) if own else (Settle(own), None)
        clear.append(reading.structure)
        # What most files lack is no outcome of theirs; of wrong keys no other attempt is guessed.
        alone = counts is not None and counts.n.sum() == 1 and trials.request.records is not None
        if counts is None or alone or len(counts.facts.foreign) > most:
            continue
        passes = sorted(zip(counts.n.tolist(), counts.c.tolist(), strict=True))
        if passes in known:
            continue
        ways, ask = _counted(reading, settle, counts, trials.request)
        if len(ways) > 1:
            # What to make of missing outcomes comes first.
            return [*(settles if ask else []), *ways], ask
        best = best if settles else reading.score
        settles += ways
        known.append(passes)
    return settles, ""


def _judged(structure: Structure, ranked: Sequence[RankedReading]) -> bool:
    """Whether a reading of these records leaves nothing open."""
    return any(each.structure is structure and not each.question for each in ranked)


def _is_open(reading: RankedReading, request: Request) -> bool:
    """Whether a reading leaves open what a request does not say."""
    scored = request.threshold or request.scores_only
    return bool(reading.question) and not (scored and reading.question in ("threshold", "fewer"))


def _asked(
    reading: RankedReading, ranked: Sequence[RankedReading], trials: Trials
) -> Answer | None:
    """The question that a reading leaves open, with the whole answers that read; None for none."""
    own, others = reading.options(trials.request), rivals(reading, ranked)
    ways = answers(others, trials.request)
    if cut := len(ways) > _ANSWERS:
        models = [way for way in ways if way.options.get("--field", {}).get("model") == COLUMN]
        ways = [*models, *(way for way in ways[:_ANSWERS] if way not in models)]
    whole = trials.readable(ways)
    if not whole and len(others) > 1:
        # Of one alone more can be said.
        ways = answers([reading], trials.request)
        whole = trials.readable(ways)
    if reading.question == "name" and not whole:
        return None
    answered = len(whole) == len(ways) > 0 and not cut
    single = (way.options for way in whole if way.options.get("--field", {}).get("model") != COLUMN)
    given = next(single, own)
    left = {name: value for name, value in given.items() if name not in ANSWERS_OF}
    rest = [] if answered and reading.question != "threshold" else blank(others, left)
    return [*whole, *rest], question(others, trials.request, answered=answered)


def _counted(reading: RankedReading, settle: Settle, counts: Counts, request: Request) -> Answer:
    """The remedy with what it reads; where outcomes are missing, what becomes of them."""
    missing, outcome = counts.facts.missing, reading.outcome.path
    if missing > MISSING * int(counts.n.sum()):
        whys = {"fail": "counts them as failures", "drop": "leaves them out"}
        if request.ends and not request.attempts:
            whys[BOUNDS] = "gives the range of both"
        ways = [Settle({**settle.options, "--missing": way}, why) for way, why in whys.items()]
        return ways, f"{plural(missing, 'value')} of {outcome} are missing: what does that mean?"
    named = outcome == "outcome" or "outcome" in settle.options.get("--field", {})
    why = _reads(settle, counts, Settle(reading.options(request))) + f", outcome {outcome}" * (
        not named
    )
    if "--missing" not in settle.options:
        return [replace(settle, why=why)], ""
    dropped = Settle({**settle.options, "--missing": "drop"}, "leaves these out")
    return [replace(settle, why=why), dropped], ""
