"""An option that was removed is answered by what to use instead, for one release."""

from __future__ import annotations

from typing import Any

import pytest

import passk_cli
from tests.conftest import SAMPLES, Passk

AGENTS = SAMPLES / "agents.jsonl"
REMOVED = [
    (["cost", AGENTS, "--cascade", "a,b"], "cascades of two models were removed"),
    (["compare", AGENTS, "--band", True], "passk curve draws confidence bands for each model"),
    (["plan", AGENTS, "--cost-per-label", "1"], "passk judge shows how many labels you need"),
    (["convert", AGENTS, "--resume", True], "commands read many counts files together"),
    (["estimate", AGENTS, "--engine", "spark"], "count on the cluster first"),
    (["compare", AGENTS, "--spark-master", "sc://x"], "count on the cluster first"),
    (["watch", AGENTS, "--best", True], "passk compare tests all models when the run is complete"),
    (["watch", AGENTS, "--give-up", "5%"], "the answer contains the chance of a decision"),
    (["watch", AGENTS, "--pause", "1"], "checks the files twice a second"),
    (["watch", AGENTS, "--prior", "1"], "the forecast always uses 0.1"),
]


@pytest.mark.parametrize(("words", "answer"), REMOVED, ids=lambda value: str(value[2:3]))
def test_removed_options_name_their_replacement(
    passk: Passk, words: list[Any], answer: str
) -> None:
    result = passk(*(word for word in words if word is not True))
    assert (result.code, result.out) == (2, "")
    assert f"no such option: {words[2]}; " in result.err
    assert answer in result.err
    name = words[2].lstrip("-").replace("-", "_")
    with pytest.raises(TypeError, match=answer):
        getattr(passk_cli, words[0])(str(AGENTS), **{name: words[3]})
