"""The verdict of a gate as people read it: in one sentence, and in as many rows as a screen has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from passk_cli.arrays import grouped
from passk_cli.commands.gate.judgement import Judgement
from passk_cli.commands.gate.rules import EVERY_ATTEMPT
from passk_cli.commands.gate.sides import OF, SHARED, Counted
from passk_cli.report.model import Estimate, Hint, Sentence
from passk_cli.report.words import every_one, first_few, plural
from passk_cli.study.rules import ERROR, FAIL, NOT_JUDGED, PASS, UNDECIDED

# Characters of a verdict, and those that a number with its interval takes.
LONGEST, NUMBER = 212, 23
# The order of rows, and in which the verdict names what shuts the gate.
ORDER = (FAIL, UNDECIDED, ERROR, PASS, NOT_JUDGED)
# What the verdict begins with, by that of the line that shuts the gate.
_SHUT = {FAIL: "FAIL: ", UNDECIDED: "FAIL: undecided, counted as fail: ", ERROR: "ERROR: "}


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


def verdict_of(lines: Sequence[Judgement], omitted: Sequence[str], noun: str) -> Sentence:
    """The gate's verdict in one sentence: PASS and how many rules hold, FAIL and what fails,
    changes first, or ERROR and what cannot be checked, where nothing fails.

    omitted : what the numbers lack.  noun : as of `Alike`.
    """
    failing = sorted((line for line in lines if line.failing), key=lambda line: (
        ORDER.index(line.verdict), not line.fact.against,
    ))  # fmt: skip
    undecided = [line for line in lines if line.verdict == UNDECIDED and not line.failing]
    if failing:
        return _of_failing(Alike.groups(failing, lines, noun), lines, undecided, omitted)
    if not lines:
        return within(("PASS: no rule is judged",), omitted)
    covered = next((c for line in lines if (c := line.covered) is not None and c.lost), None)
    where = ""
    if covered is not None:
        where = f" on {covered.shared:,} of {plural(covered.expected, 'baseline task')}"
    made = next(
        (own for line in lines if line.rule == EVERY_ATTEMPT and (own := line.counted)), None
    )
    # As many as were planned, and fewer than the baseline's: a pass that shows less.
    fewer = made is not None and made.part < made.whole
    passes = f"PASS, with {made} baseline attempts: " if fewer else "PASS: "
    holds, total = len(lines) - len(undecided), len(lines)
    if undecided:
        some = f"{holds} of {total} rules {'holds' if holds == 1 else 'hold'}"
        start = f"{passes}{some if holds else 'no rule fails'}{where}"
        head = (f"{start}; {len(undecided)} undecided, counted as pass: ", *undecided[0].finding)
        return within(head, (*omitted, *undecided[0].details), undecided[0])
    measured = [line for line in lines if isinstance(line.evidence, Estimate)]
    if len(measured) == 1 and not where:
        (line,) = measured
        return within((passes, *line.finding), (*omitted, *line.details), line)
    hold = "the rule holds" if total == 1 else f"{every_one(plural(total, 'rule'))} hold"
    return within((f"{passes}{hold}{where}",), omitted)


def _of_failing(
    groups: Sequence[Alike], lines: Sequence[Judgement], undecided: Sequence[Judgement],
    omitted: Sequence[str],
) -> Sentence:  # fmt: skip
    """The sentence of a gate that is shut, its worst rules first."""
    worst, total = groups[0].worst, len(lines)
    first, alone = worst[0], len(worst) == 1
    head = first.finding if alone else (
        f"{groups[0].deed}: {first_few([line.name for line in worst])}",
    )  # fmt: skip
    # What is counted, as attempts that are too many, makes the other numbers doubtful.
    others = sorted(groups[1:], key=lambda group: group.lines[0].counted is None)
    details = [*(group.deed for group in others), *(first.details if alone else omitted)]
    do = "cannot be checked" if first.verdict == ERROR else "fail"
    failing = sum(len(group.lines) for group in groups)
    counts = [f"{failing} of {total} rules {do}"] if len(groups) > 2 else []
    counts += [f"{len(undecided)} of {total} undecided, counted as pass"] if undecided else []
    return within((_SHUT[first.verdict], *head), details, first if alone else None, counts)


def within(
    head: Sentence, notes: Sequence[str], line: Judgement | None = None, counts: Sequence[str] = ()
) -> Sentence:
    """A sentence with as many notes as its length allows, and the number of the others; then
    counts.  A note that it says already is left out.

    line : its reason comes first where the rule fails; else last where there is room, for the table
    has it.
    """
    said = "".join(piece if isinstance(piece, str) else " " * NUMBER for piece in head)
    end = "".join(f"; {count}" for count in counts)
    reason = "; ".join(r for r in line.reason.split("; ") if r not in said) if line else ""
    fails = line is not None and line.verdict in (FAIL, ERROR)
    notes = [n for n in dict.fromkeys((reason * fails, *notes)) if n and n not in said]
    room = LONGEST - len(said) - len(end)
    parts: list[str | Hint] = []
    for at, note in enumerate(notes):
        rest = len(notes) - at - 1
        if len(note) + 2 > room - (len(f"; {Hint('9 more details')}") if rest else 0):
            parts.append(Hint(f"; {plural(rest + 1, 'more detail')}"))
            break
        room -= len(note) + 2
        parts.append(f"; {note}")
    last = f"; {reason}"
    if reason and not fails and last not in parts and reason not in said and len(last) <= room:
        parts.append(last)
    return (*head, *parts, end)
