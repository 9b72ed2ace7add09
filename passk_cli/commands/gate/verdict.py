"""The verdict of a gate as people read it: in one sentence, and in as many rows as a screen has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from passk_cli.arrays import grouped
from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.rules import EVERY_ATTEMPT
from passk_cli.commands.gate.sides import OF, SHARED, Counted
from passk_cli.report.model import Estimate, Hint, Phrase, Sentence, Stated
from passk_cli.report.words import every_one, plural
from passk_cli.study.answer import Answer, first_true
from passk_cli.study.rules import ERROR, FAIL, NOT_JUDGED, PASS, UNDECIDED

# Characters of a verdict, and those that a number with its interval takes.
LONGEST, NUMBER = 212, 23
# The order of rows, and in which the verdict names what shuts the gate.
ORDER = (FAIL, UNDECIDED, ERROR, PASS, NOT_JUDGED)


@dataclass(frozen=True)
class Alike:
    """Lines with one verdict on one rule.

    lines : in their order.  judged : how many the rule judges.  noun : what each is about, "model",
    "group" or "suite".
    """

    lines: Sequence[Judgement]
    judged: int
    noun: str

    @classmethod
    def groups(
        cls, lines: Iterable[Judgement], every: Iterable[Judgement], noun: str
    ) -> list[Alike]:
        """Some lines by their rule and verdict.  every : all there are."""
        judged = Counter(line.rule for line in every if line.name)
        by_rule = grouped(lines, lambda line: (line.rule, line.verdict))
        return [cls(same, judged[rule], noun) for (rule, _), same in by_rule.items()]

    @property
    def worst(self) -> list[Judgement]:
        """The largest change first, or the least number."""

        def merit(line: Judgement) -> float:
            value = line.fact.estimate.value or 0.0
            return -abs(value) if line.fact.against and line.failing else value

        return sorted(self.lines, key=merit)

    @property
    def deed(self) -> str:
        """As "12 of 24 models lost more than 0.1 of pass@1"."""
        first, number = self.lines[0], len(self.lines)
        if number == 1 and first.counted is not None:
            # What was counted has no number with an interval.
            own = first.reason and f"{first.name}: {first.reason}"
            return own or "".join(map(str, first.finding))
        who = first.name if number == 1 else f"{number} of {self.judged} {self.noun}s"
        who = every_one(plural(number, self.noun)) if 1 < number == self.judged else who
        return f"{who} {first.did}"

    @property
    def row(self) -> Judgement:
        """All in one row: their counts together, or the lowest number, or what the first says."""
        number, first = len(self.lines), self.lines[0]
        name = f"{number} {'other ' * (first.verdict == PASS)}{self.noun}s"
        if number == self.judged:
            name = "both" if number == 2 else every_one(plural(number, self.noun))
        if self.noun == "suite":
            # Not every suite has every rule.
            names = [line.name for line in self.lines]
            name = ", ".join(names) if number < 4 else f"{number} suites"
        counts = [line.counted for line in self.lines if line.counted is not None]
        if not counts:
            lowest = self.worst[0]
            if lowest.fact.estimate.value is not None:
                name = f"lowest of {name.removeprefix('all ')}"
            reason = "" if lowest.verdict == PASS else lowest.reason
            return replace(lowest, name=name, reason=reason, details=())
        words = OF + SHARED * any(SHARED in count.words for count in counts)
        texts = list(dict.fromkeys(map(str, counts)))
        if len(texts) == 1:
            words = f"{texts[0]} each"
        elif not all(OF in count.words for count in counts):
            words = f"from {texts[0]} to {texts[-1]}"
        whole = Counted(sum(c.part for c in counts), sum(c.whole for c in counts), words)
        return replace(first, name=name, reason="", details=(), counted=whole)


def merged(lines: Sequence[Judgement], room: int, noun: str) -> list[Judgement]:
    """The rows of a screen: what all models pass in one row; where there are too many, one row for
    each verdict on a rule, and the first of what is left.

    noun : as of `Alike`.
    """
    rows = list(lines)
    stages = (PASS, True), (PASS, False), (UNDECIDED, False), (FAIL, False), (FAIL, True)
    for verdict, counted in (*stages, (ERROR, False)):
        own = [row for row in rows if row.verdict == verdict and row.name
               and not row.rehearsed and (row.counted is not None) == counted]  # fmt: skip
        for alike in Alike.groups(own, lines, noun):
            same, whole = alike.lines, len(alike.lines) == alike.judged
            at_once = whole and verdict == PASS and counted
            if len(same) > 1 and (at_once or len(rows) > room):
                at = rows.index(same[0])
                rows = [row for row in rows if row not in same]
                rows.insert(at, alike.row)
    if len(rows) <= room:
        return rows
    passes = [row for row in rows
              if not row.name or (row.verdict == PASS and row.rehearsed is None)]  # fmt: skip
    others = [row for row in rows if row not in passes]
    most = max(room - len(passes) - 1, 1)
    rest = [row.verdict for row in others[most:]]
    if len(rest) < 2:
        return rows
    verdicts = [f"{rest.count(verdict)} {verdict}" for verdict in ORDER if verdict in rest]
    last = replace(
        others[most], name=f"{len(rest)} more rows", words=(Hint(""),), reason="",
        verdict=", ".join(verdicts), counted=Counted(0, 0, " "), details=(), rehearsed=None,
    )  # fmt: skip
    return [*others[:most], last, *passes]


def with_reason(line: Judgement, room: int) -> Judgement:
    """The line, its verdict with its reason as far as a screen has room for it; a number of tasks
    never without the truth that it is for."""
    reason, verdict = line.reason.removeprefix("cannot be checked: "), line.verdict
    if not reason or room <= 0:
        return line
    about = reason.partition("; ")[0]
    fitting = (reason, about, about.replace(" would decide", ""), about.partition(", no ")[0])
    short = next((each for each in fitting if len(each) <= room), "")
    if not short and " would decide" not in about:
        short = f"{reason[: room - 1]}…"
    return replace(line, verdict=f"{verdict} ({short})" if short else verdict)


class GateVerdict:
    """What a gate comes to.

    lines : the judgements.  omitted : what the numbers lack.  noun : as of `Alike`.
    """

    def __init__(self, lines: Sequence[Judgement], omitted: Sequence[str], noun: str) -> None:
        self.lines, self.omitted = lines, omitted
        failing = sorted((line for line in lines if line.failing), key=lambda line: (
            ORDER.index(line.verdict), not line.fact.against,
        ))  # fmt: skip
        # The rules that fail, the worst one first.
        self.groups = Alike.groups(failing, lines, noun)
        self.undecided = [x for x in lines if x.verdict == UNDECIDED and not x.failing]
        self.covered = next((c for x in lines if (c := x.covered) is not None and c.lost), None)
        measured = [line for line in lines if isinstance(line.evidence, Estimate)]
        one = len(measured) == 1 and self.covered is None
        # The line that the sentence is about: the worst, the first that is undecided, or the only
        # one with a number.
        self.line = self.undecided[0] if self.undecided else measured[0] if one else None
        if self.groups:
            worst = self.groups[0].worst
            self.line = worst[0] if len(worst) == 1 else None

    @property
    def worst(self) -> str:
        """The verdict of the worst rule; "" if none fails."""
        return self.groups[0].lines[0].verdict if self.groups else ""

    @property
    def fields(self) -> dict[str, Any]:
        """How many rules hold, and what the sentence is about."""
        lines, covered = self.lines, self.covered
        made = next((own for x in lines if x.rule == EVERY_ATTEMPT and (own := x.counted)), None)
        # As many as were planned, and fewer than the baseline's: a pass that shows less.
        fewer = made is not None and made.part < made.whole
        fields: dict[str, Any] = {
            "total": len(lines), "holds": sum(line.verdict == PASS for line in lines),
            "undecided": len(self.undecided), "made": str(made) if fewer else "",
            "all": every_one(plural(len(lines), "rule")) if len(lines) > 1 else "",
            "one": len(lines) == 1, "shared": covered.shared if covered else None,
            "expected": covered.expected if covered else None,
        }  # fmt: skip
        if self.groups:
            group = self.groups[0]
            fields |= {
                "failing": sum(len(each.lines) for each in self.groups), "deed": group.deed,
                "models": [line.name for line in group.worst],
            }  # fmt: skip
        if (line := self.line) is not None:
            fields |= {"finding": Phrase(line.finding), "rule": line.rule, "model": line.name,
                       "estimate": line.fact.estimate}  # fmt: skip
        return fields

    @property
    def notes(self) -> tuple[list[str], list[str]]:
        """Clauses after the sentence as far as there is room, and those that it always has."""
        own = [] if self.line is None else list(self.line.details)
        if not self.groups:
            return [*self.omitted, *own], []
        # What is counted, as attempts that are too many, makes the other numbers doubtful.
        others = sorted(self.groups[1:], key=lambda group: group.lines[0].counted is None)
        do = "cannot be checked" if self.worst == ERROR else "fail"
        total, failing = len(self.lines), sum(len(group.lines) for group in self.groups)
        counts = [f"{failing} of {total} rules {do}"] if len(self.groups) > 2 else []
        if undecided := len(self.undecided):
            counts.append(f"{undecided} of {total} undecided, counted as pass")
        rest = own if self.line is not None else self.omitted
        return [*(group.deed for group in others), *rest], counts


_PASS = "PASS{?made|, with {made} baseline attempts}: "
_SHARED = "{?shared| on {shared} of {expected:baseline task}}"
_COUNTED = "; {undecided} undecided, counted as pass: {finding}"
_FIRST = "undecided, counted as fail: "
VERDICTS = (
    Answer("gate-cannot-check", lambda found: found.worst == ERROR and found.line,
           "ERROR: {finding}"),
    Answer("gate-cannot-check-several", lambda found: found.worst == ERROR,
           "ERROR: {deed}: {models}"),
    Answer("gate-fails", lambda found: found.worst == FAIL and found.line, "FAIL: {finding}"),
    Answer("gate-fails-several", lambda found: found.worst == FAIL, "FAIL: {deed}: {models}"),
    Answer("gate-fails-undecided", lambda found: found.worst and found.line,
           "FAIL: " + _FIRST + "{finding}"),
    Answer("gate-fails-several-undecided", lambda found: found.worst,
           "FAIL: " + _FIRST + "{deed}: {models}"),
    Answer("gate-judges-nothing", lambda found: not found.lines, "PASS: no rule is judged"),
    Answer("gate-undecided", lambda found: found.undecided and found.fields["holds"],
           _PASS + "{holds} of {total} rules {holds:holds|hold}" + _SHARED + _COUNTED),
    Answer("gate-all-undecided", lambda found: found.undecided,
           _PASS + "no rule fails" + _SHARED + _COUNTED),
    Answer("gate-passes-by", lambda found: found.line, _PASS + "{finding}"),
    Answer("gate-passes", lambda _: True,
           _PASS + "{?one|the rule holds}{?all|{all} hold}" + _SHARED),
)  # fmt: skip


def verdict_of(lines: Sequence[Judgement], omitted: Sequence[str], noun: str) -> Stated:
    """The gate's verdict in one sentence: PASS and how many rules hold, FAIL and what fails,
    changes first, or ERROR and what cannot be checked, where nothing fails.

    omitted : what the numbers lack.  noun : as of `Alike`.
    """
    found = GateVerdict(lines, omitted, noun)
    return with_notes(next(first_true(VERDICTS, found)), *found.notes, found.line)


_NOTES = "{?notes|; {notes:;}}{more}{?counts|; {counts:;}}"


def with_notes(
    head: Stated, notes: Sequence[str], counts: Sequence[str] = (), line: Judgement | None = None
) -> Stated:
    """A sentence with as many notes as its length allows, and the number of the others; then
    counts.  A note that it says already is left out.

    line : its reason comes first where the rule fails; else last where there is room, for the table
    has it.
    """
    said = "".join(piece if isinstance(piece, str) else " " * NUMBER for piece in flat(head))
    end = "".join(f"; {count}" for count in counts)
    reason = "; ".join(r for r in line.reason.split("; ") if r not in said) if line else ""
    fails = line is not None and line.verdict in (FAIL, ERROR)
    notes = [n for n in dict.fromkeys((reason * fails, *notes)) if n and n not in said]
    room = LONGEST - len(said) - len(end)
    fitting: list[str] = []
    more: Hint | str = ""
    for at, note in enumerate(notes):
        rest = len(notes) - at - 1
        if len(note) + 2 > room - (len(f"; {Hint('9 more details')}") if rest else 0):
            more = Hint(f"; {plural(rest + 1, 'more detail')}")
            break
        room -= len(note) + 2
        fitting.append(note)
    if reason and not fails and not {reason, said} & {*fitting} and len(reason) + 2 <= room:
        fitting.append(reason)
    fields = {**head.fields, "notes": fitting, "more": more, "counts": list(counts)}
    return Stated(head.name, head.template + _NOTES, fields)


def flat(sentence: Sentence) -> Iterator[Any]:
    """The pieces of a sentence, those of clauses in it one by one."""
    for piece in sentence:
        if isinstance(piece, Phrase):
            yield from flat(piece.pieces)
        else:
            yield piece
