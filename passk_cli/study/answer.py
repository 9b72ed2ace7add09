"""Declares answers, which are the sentences above the tables of a report.

Each answer is declared once, with a condition, a sentence template and the fields of the template.
A section lists its answers in order and prints the first answer with a true condition.  Code only
computes the values of fields, and never builds a sentence from parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passk_cli.diagnostic import readable_template
from passk_cli.report.data_types import AnswerSentence

# ANSWERS maps the name of an answer to the answer, for all answers of imported modules.
ANSWERS: dict[str, Answer] = {}


def _fields_of(subject: Any) -> Mapping[str, Any]:
    return subject if isinstance(subject, Mapping) else subject.sentence_fields


@dataclass(frozen=True, eq=False)
class Answer:
    """A sentence that a report can print above its tables.

    name : unique lower-case words joined by hyphens, for example "highest-of-all".
    when : a function that takes the subject, for example a section, and returns whether the
        sentence is true.
    template : the sentence with named fields; see `passk_cli.diagnostic.fill_template`.
    fields : a function that takes the subject and returns the fields of the template: name → value.
        The default function returns the subject if the subject is a mapping, and otherwise the
        subject's attribute `sentence_fields`.
    Errors: ValueError if two answers have the same name.

    >>> some = Answer("some-left", lambda n: n > 0, "{left:task} left.", lambda n: {"left": n})
    >>> none = Answer("none-left", lambda n: True, "Nothing is left.", lambda n: {})
    >>> [(said.name, "".join(said)) for n in (2, 0) for said in first_true_sentence((some, none),
    ...     n)]
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
        """The template as readable text with the names of its fields, for example "<left> tasks
        left."."""
        return readable_template(self.template, forms=True)

    def sentence_about(self, subject: Any) -> AnswerSentence:
        """The sentence of this answer about a subject for which the answer is true."""
        return AnswerSentence(self.name, self.template, self.fields(subject))


def first_true_sentence(answers: Iterable[Answer], subject: Any) -> Iterator[AnswerSentence]:
    """Yield the sentence of the first answer that is true of a subject, or nothing if no answer is
    true."""
    for answer in answers:
        if answer.when(subject):
            yield answer.sentence_about(subject)
            return


def true_sentences(
    answers: Iterable[Answer | Sequence[Answer]], subject: Any
) -> Iterator[AnswerSentence]:
    """Yield the sentences of all answers that are true of a subject.

    answers : answers, or sequences of alternative answers.  From each sequence, only the first true
        answer is used.
    """
    for answer in answers:
        yield from first_true_sentence((answer,) if isinstance(answer, Answer) else answer, subject)
