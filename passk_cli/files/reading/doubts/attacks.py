"""Whose success: an attack that succeeds is a failure of the model that it is made on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from shlex import quote

from passk_cli.files.reading.doubts.grounds import Doubt, Finding, Grounds
from passk_cli.files.roles import EQUAL, judge, words
from passk_cli.message import WARNING, Message
from passk_cli.settle import Settle

# Words of names of columns where attacks are recorded, and of what succeeds.
_ATTACKS = {
    *"attack attacks attacker asr injection injected jailbreak redteam poisoned poison".split(),
    *"adversarial adversary hijack hijacked leakage leaked exfiltrated exfiltration".split(),
}
_SUCCESS = {*"success successful succeeded achieved".split()}

WHOSE_SUCCESS = Message(
    "whose-success", WARNING,
    "{column} beside {attack} may be the attack's success: does true pass?", "",
    "Where models are attacked, success often says that the attack worked. As pass@k of the attack"
    " true passes; as that of the model, which should withstand, false does. The data do not say"
    " which is meant.",
)  # fmt: skip


def attacked(columns: Iterable[str]) -> str:
    """The first column that is called as in records of attacks; "" where there is none.

    >>> attacked(["id", "attack_type", "success"]), attacked(["id", "success"])
    ('attack_type', '')
    """
    return next((name for name in columns if words(name) & _ATTACKS), "")


def is_of_either(column: str) -> bool:
    """Whether a column is called a success, which may be the attack's."""
    return bool(words(column) & _SUCCESS) and EQUAL not in column


def whose(grounds: Grounds) -> Iterator[Finding]:
    """A success where attacks are recorded, of which nobody said whose it is."""
    outcome, request = grounds.column("outcome"), grounds.request
    named = "outcome" in request.fields or request.outcome is not None
    if named or request.passes or request.fails or grounds.harness or not is_of_either(outcome):
        return
    if attack := attacked(grounds.survey.columns):
        # As they are written: true and false, 1 and 0, or words.
        values = grounds.survey.texts(outcome, 20) if outcome in grounds.survey.columns else []
        of = {kind: tuple(v for v in values if judge(v, None) is kind) for kind in (True, False)}
        passes, fails = of[True] or ("true",), of[False] or ("false",)
        ways = (
            Settle({"--passes": passes}, "if the attack's success passes"),
            Settle({"--passes": fails, "--fails": passes}, "if withstanding it passes"),
        )
        shown = {"column": quote(outcome), "attack": quote(attack)}
        yield Finding(WHOSE_SUCCESS, True, shown, ways)


DOUBTS = (
    Doubt(
        WHOSE_SUCCESS,
        "An outcome is called a success, and a column beside it attack, ASR, injection, jailbreak,"
        " leakage or the like; nobody named the outcome, or what passes.",
        ("--passes true", "--passes false --fails true", "--field outcome=X"),
        whose,
    ),
)
