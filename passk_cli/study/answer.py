"""Answers: the sentences above the tables, each declared once with the condition under which it is
said and the fields behind its words.

A section lists its answers in order, and the first whose condition holds is said.  Code computes
fields, never parts of sentences; tests assert the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.diagnostic import pattern
from passk_cli.report.model import AnswerSentence

# Name → answer, of every module that was imported.
ANSWERS: dict[str, Answer] = {}


def _default_fields(subject: Any) -> Mapping[str, Any]:
    return subject if isinstance(subject, Mapping) else subject.fields


@dataclass(frozen=True, eq=False)
class Answer:
    """A sentence that can stand above the tables.

    name : of lower-case words joined by hyphens, unique: "highest-of-all".
    when : (subject) → whether it is true of the subject, as a section.
    template : its words with named fields; see `passk_cli.diagnostic.filled`.
    fields : (subject) → name → text, count, number, names, or a number with its interval; by
        default the subject itself, or what it has by that name.
    Errors: ValueError if two answers have one name.

    >>> some = Answer("some-left", lambda n: n > 0, "{left:task} left.", lambda n: {"left": n})
    >>> none = Answer("none-left", lambda n: True, "Nothing is left.", lambda n: {})
    >>> [(said.name, "".join(said)) for n in (2, 0) for said in first_true((some, none), n)]
    [('some-left', '2 tasks left.'), ('none-left', 'Nothing is left.')]
    >>> del ANSWERS["some-left"], ANSWERS["none-left"]
    """

    name: str
    when: Callable[[Any], object]
    template: str
    fields: Callable[[Any], Mapping[str, Any]] = _default_fields

    def __post_init__(self) -> None:
        if ANSWERS.setdefault(self.name, self).template != self.template:
            raise ValueError(f"two answers are named {self.name}")

    @property
    def pattern(self) -> str:
        """Its words with the names of its fields: "<left> tasks left."."""
        return pattern(self.template, forms=True)

    def about(self, subject: Any) -> AnswerSentence:
        """The sentence about a subject of which it is true."""
        return AnswerSentence(self.name, self.template, self.fields(subject))


def first_true(answers: Iterable[Answer], subject: Any) -> Iterator[AnswerSentence]:
    """The sentence of the first answer whose condition holds; none if none holds."""
    for answer in answers:
        if answer.when(subject):
            yield answer.about(subject)
            return


def all_true(
    answers: Iterable[Answer | Sequence[Answer]], subject: Any
) -> Iterator[AnswerSentence]:
    """The sentences of all answers whose conditions hold; of alternatives that of the first."""
    for answer in answers:
        yield from first_true((answer,) if isinstance(answer, Answer) else answer, subject)
