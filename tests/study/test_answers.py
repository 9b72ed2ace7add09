"""Every answer has a proof, and the page of answers lists all of them."""

from __future__ import annotations

from importlib import import_module

import pytest

from passk_cli.commands.diagnostic_lookup import all_answers_by_name
from passk_cli.report.data_types import AnswerSentence
from tests.truth import PROOFS

_PROOFS = (
    "tests.commands.test_cover", "tests.commands.test_headlines", "tests.commands.test_noise",
    "tests.commands.test_truth_costs",
    "tests.commands.test_truth_gates", "tests.commands.test_truth_horizon",
    "tests.commands.test_truth_numbers",
    "tests.commands.test_truth_tasks",
)  # fmt: skip


def test_every_answer_has_a_proof() -> None:
    """A test that says it on random data, and checks the fields behind its words."""
    for module in _PROOFS:
        import_module(module)
    assert all_answers_by_name().keys() == PROOFS.keys()


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_words_of_a_template_follow_counts_and_signs(sign: int) -> None:
    words = "{tasks:task} {tasks:is|are} flaky{?more|; {more:;}}; it {sign:falls|stays|rises}"
    answer = AnswerSentence("x", words, {"tasks": 2, "more": ["a", "b"], "sign": sign})
    verb = ("falls", "stays", "rises")[sign + 1]
    assert "".join(answer) == f"2 tasks are flaky; a; b; it {verb}"
    assert answer.with_prefix("Of {all}: ", all="3").fields == {**answer.fields, "all": "3"}
