"""Answers: the sentences above the tables of a report.

Each answer is declared once, with the condition under which it is true and the fields of its
template.  A section lists its answers in order and prints the first one that is true.  Code
computes fields, never parts of sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.diagnostic import readable_template
from passk_cli.report.data_types import AnswerSentence

# Maps the name of an answer to the answer, for all answers of imported modules.
ANSWERS: dict[str, Answer] = {}


def _fields_of(subject: Any) -> Mapping[str, Any]:
    return subject if isinstance(subject, Mapping) else subject.sentence_fields


@dataclass(frozen=True, eq=False)
class Answer:
    """A sentence that a report can print above its tables.

    name : unique lower-case words joined by hyphens, for example "highest-of-all".
    when : a function of the subject, for example a section, that returns whether the sentence is
        true.
    template : the sentence with named fields; see `passk_cli.diagnostic.fill_template`.
    fields : a function of the subject that returns the template's fields by name.  By default,
        these are the subject itself if it is a mapping, else the subject's attribute `fields`.
    Errors: ValueError if two answers have the same name.

    >>> some = Answer("some-left", lambda n: n > 0, "{left:task} left.", lambda n: {"left": n})
    >>> none = Answer("none-left", lambda n: True, "Nothing is left.", lambda n: {})
    >>> [(said.name, "".join(said)) for n in (2, 0) for said in first_true((some, none), n)]
    [('some-left', '2 tasks left.'), ('none-left', 'Nothing is left.')]
    >>> del ANSWERS["some-left"], ANSWERS["none-left"]
    """

    name: str
    when: Callable[[Any], object]
    template: str
    fields: Callable[[Any], Mapping[str, Any]] = _fields_of

    def __post_init__(self) -> None:
        if ANSWERS.setdefault(self.name, self).template != self.template:
            raise ValueError(f"two answers are named {self.name}")

    @property
    def readable_template(self) -> str:
        """The template as readable text with the names of its fields: "<left> tasks left."."""
        return readable_template(self.template, forms=True)

    def sentence_about(self, subject: Any) -> AnswerSentence:
        """The sentence of this answer about a subject for which the answer is true."""
        return AnswerSentence(self.name, self.template, self.fields(subject))


def first_true_sentence(answers: Iterable[Answer], subject: Any) -> Iterator[AnswerSentence]:
    """The sentence of the first answer that is true of a subject, or nothing if none is."""
    for answer in answers:
        if answer.when(subject):
            yield answer.sentence_about(subject)
            return


def true_sentences(
    answers: Iterable[Answer | Sequence[Answer]], subject: Any
) -> Iterator[AnswerSentence]:
    """The sentences of all answers that are true of a subject.

    answers : answers, or sequences of alternative answers.  A sequence yields its first true
        answer.
    """
    for answer in answers:
        yield from first_true_sentence((answer,) if isinstance(answer, Answer) else answer, subject)
