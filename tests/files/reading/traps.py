"""Small inputs with a trap in each, and the pass rates that are right."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

Rows = list[dict[str, Any]]


def _ok(i: int) -> bool:
    """The outcome of a row; about 3 of 7 pass."""
    return (i * 5 + i // 7) % 7 < 3


def _rows(count: int, **columns: Any) -> Rows:
    """Rows with columns that are functions of their number."""
    return [{name: of(i) for name, of in columns.items()} for i in range(count)]


def _rate(count: int) -> list[Fraction]:
    return [Fraction(sum(map(_ok, range(count))), count)]


def _task(i: int) -> str:
    return f"t{i // 3}"


# Name → rows, and the rates per model; no rates if only the reader can tell.
TRAPS: dict[str, tuple[Rows, list[Fraction]]] = {
    "status next to a verdict": (
        _rows(24, example_id=_task, correctness=lambda i: int(_ok(i)),
              status=lambda i: "success"), _rate(24)),
    "success says that the judge answered": (
        _rows(24, qid=_task, success=lambda i: True,
              label=lambda i: "pass" if _ok(i) else "fail"), _rate(24)),
    "a constant reward next to what varies": (
        _rows(24, task=_task, reward=lambda i: 1, verified=_ok), _rate(24)),
    "counts of tests next to a verdict": (
        _rows(24, item=_task, verdict=_ok, n_passed=lambda i: 5 if _ok(i) else i % 5,
              n_total=lambda i: 5), _rate(24)),
    "tests that passed": (
        _rows(24, case=lambda i: f"t{i}", passed=lambda i: 5 if _ok(i) else i % 5,
              total=lambda i: 5), _rate(24)),
    "several verdicts": (
        _rows(24, problem=_task, returns_results=lambda i: i % 5 > 0, exact_match=_ok,
              syntax_ok=lambda i: i % 11 > 0), []),
    "two usual verdicts": (
        _rows(24, item=_task, passed=_ok, is_correct=lambda i: _ok(i) or i % 5 == 0), []),
    "a usual verdict next to one with a word": (
        _rows(24, item=_task, is_correct=lambda i: _ok(i) or i % 5 == 0, answer_ok=_ok), []),
    "an effort": (
        _rows(48, item=lambda i: f"t{i // 6}", effort=lambda i: ("low", "high")[i % 2],
              passed=_ok), []),
    "ids that restart in each suite": (
        _rows(18, suite=lambda i: f"s{i // 9}", case=lambda i: i // 3 % 3,
              trial=lambda i: i % 3, passed=_ok), _rate(18)),
    "counts of episodes": (
        _rows(6, task=lambda i: f"t{i}", successes=lambda i: i, episodes=lambda i: 10),
        [Fraction(15, 60)]),
    "something bad": (
        _rows(24, prompt_id=_task, harmful=lambda i: not _ok(i)), _rate(24)),
    "a score": (
        _rows(24, question=_task, score=lambda i: i % 7 / 10), []),
    "attempts without an outcome": (
        _rows(24, item=_task, passed=lambda i: None if i % 9 == 4 else _ok(i)), []),
    "repeated attempts": (
        _rows(24, item=_task, trial=lambda i: i % 3 % 2, passed=_ok), []),
    "a row of sums": (
        [*_rows(24, item=lambda i: f"t{i}", passed=_ok), {"item": "overall", "passed": True}],
        _rate(24)),
    "models under a name of their own": (
        _rows(48, puzzle=lambda i: f"t{i // 6}", llm_used=lambda i: f"gpt-{i % 6 // 3}",
              passed=_ok),
        [Fraction(sum(_ok(i) for i in range(48) if i % 6 // 3 == m), 24) for m in range(2)]),
    "an expected verdict": (
        _rows(24, item=_task, expected=lambda i: ("safe", "unsafe")[i % 2],
              result=lambda i: ("safe", "unsafe")[i % 2 ^ (not _ok(i))]), _rate(24)),
    "entries of scorers": (
        _rows(24, item=_task, scores=lambda i: [
            {"name": "correct", "value": int(_ok(i))}, {"name": "short", "value": i % 2}]),
        _rate(24)),
    "preferences": (_rows(24, prompt=_task, winner=lambda i: "ab"[_ok(i)]), []),
    "words that only the reader knows": (
        _rows(24, item=_task, verdict=lambda i: ("unmet", "met")[_ok(i)]), _rate(24)),
    "errors in place of answers": (
        _rows(24, item=_task, passed=_ok,
              output=lambda i: f"answer {i}" if _ok(i) else "[ERROR] rate limit"), []),
}  # fmt: skip
