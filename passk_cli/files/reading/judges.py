"""Columns of a judge's verdicts, and of the labels by which its errors are known."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from passk_cli.files.reading.structures import FieldColumn
from passk_cli.files.request import Request
from passk_cli.files.roles import strength, words

# Words of names of judges; of what may judge or answer; of people; and of what is right, which
# need not be from people.
_JUDGES = frozenset("judge judged grader autograder autorater rater evaluator".split())
_MACHINES = frozenset("llm ai auto automatic automated label labels".split())
_PEOPLE = frozenset(
    "human humans annotator annotators annotation annotated expert experts person people".split()
)
_RIGHT = frozenset("gold golden reference truth true manual label labels".split())
# Words of judges and models.
_BOTH = _JUDGES | _MACHINES - {"label", "labels"}
# Words of names of what is no verdict, whoever gave it.
_NO_VERDICT = frozenset(
    "id idx index name model prompt reason reasoning explanation rationale comment comments note"
    " notes confidence time timestamp date count n num tokens cost answer output response".split()
)


def judged(columns: Mapping[str, FieldColumn], request: Request) -> dict[str, str]:
    """Column of a judge's verdicts → that of labels: judge_label and human_label, judge and gold.

    What a model answered is no verdict: under other names than a judge's these are words that pass
    or fail alone, beside labels of people.
    """
    truth = request.labels
    named = {
        path: {word for key in path.split(".") for word in words(key)}
        for path, column in columns.items()
        if not (column.listed or words(path) & _NO_VERDICT)
    }
    judges = {
        path: said for path, said in named.items()
        if not said & _PEOPLE and (said & (_JUDGES | _MACHINES) or strength("outcome", path))
    }  # fmt: skip
    labels = {p: said for p, said in named.items() if p == truth or said & (_PEOPLE | _RIGHT)}
    pairs: dict[str, str] = {}
    for (one, judge), (other, label) in product(judges.items(), labels.items()):
        if one == other:
            continue
        right = judge & _JUDGES and label & _RIGHT and not label & _BOTH
        meant = other == truth or label & _PEOPLE or right
        if meant and _alike(columns[one], columns[other], bool(judge & _JUDGES)):
            pairs.setdefault(one, other)
    return pairs


def _alike(one: FieldColumn, other: FieldColumn, judge: bool) -> bool:
    """Whether both columns have verdicts; of a judge also words or scores that both have."""
    kinds = {type(verdict) for column in (one, other) for verdict in column.judged}
    return kinds == {bool} or (judge and bool(one.counts.keys() & other.counts.keys()))
