"""Twelve nights with what goes wrong in them: what record, gate and trend say, with exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Passk

TASKS, ATTEMPTS = 800, 4
RULES = ["--max-drop", "pass@1=0.02", "--max-errors", "5%", "-v"]


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes night.csv: a run whose pass rate is lower by some points."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(11)
    rates = random.beta(2, 1, TASKS)

    def write(
        fall: float = 0.0, *, tasks: int = TASKS, model: str = "agent", errors: float = 0.0
    ) -> None:
        passed = random.random((tasks, ATTEMPTS)) < rates[:tasks, None] * (1 - fall / rates.mean())
        lost = random.random((tasks, ATTEMPTS)) < errors
        rows = (
            f"{model},t{t:03d},{'' if lost[t, a] else int(passed[t, a])}"
            for t in range(tasks)
            for a in range(ATTEMPTS)
        )
        Path("night.csv").write_text("\n".join(["model,task,passed", *rows, ""]))

    return write


@pytest.mark.long
def test_twelve_nights(passk: Passk, night: Callable[..., None]) -> None:
    def gate(*words: str) -> tuple[int, str]:
        result = passk("gate", "night.csv", "--baseline", "h.parquet:last5", *RULES, *words)
        return result.code, result.out.partition("\n")[0] + result.err

    def record(day: int, *words: str) -> tuple[int, str]:
        date = f"2026-11-{day:02d}"
        result = passk("record", "night.csv", "--to", "h.parquet", "--at", f"n{day}", "--date",
        date,
                     *words)  # fmt: skip
        return result.code, result.out.partition("\n")[0] + result.err

    def trend(*words: str) -> tuple[int, str]:
        result = passk("trend", "h.parquet", "--fail", *words)
        return result.code, result.out.partition("\n")[0] + result.err

    def is_(answer: tuple[int, str], code: int, words: str) -> None:
        assert answer[0] == code, answer[1]
        assert words in answer[1]

    # The first night has no history, and says so once.
    night()
    is_(gate(), 3, "there is no such history")
    is_(gate("--first-run"), 0, "1 rule not judged, no baseline yet")
    is_(record(1), 0, "Recorded run n1")
    is_(gate("--first-run"), 2, "the baseline exists")
    for day in (2, 3):
        night()
        is_(gate(), 0, "PASS")
        is_(record(day), 0, f"Recorded run n{day}")
    is_(trend(), 0, "PASS: 3 runs of agent are too few to show a change")
    # A lost shard, marked; the next night it is lost again, which the marked run does not hide.
    night(tasks=600)
    is_(gate(), 1, "FAIL: agent has no attempts at 200 of the 800 baseline tasks")
    is_(record(4), 3, "the run lacks 200 of 800 tasks that run n3 of agent has")
    is_(record(4, "--incomplete"), 0, "marked as incomplete")
    night(tasks=600)
    is_(gate(), 1, "FAIL: agent has no attempts at 200 of the 800 baseline tasks")
    is_(record(5), 3, "the run lacks 200 of 800 tasks that run n3 of agent has")
    night()
    is_(gate(), 0, "1 run recorded as incomplete is left out: n4")
    is_(record(5), 0, "Recorded run n5")
    # A renamed model is said on its first night.
    night(model="agent-v2")
    is_(gate(), 0, "agent-v2 is compared with agent, the only model of h.parquet:last5; --alias")
    is_(gate("--alias", "agent=agent-v2"), 0, "PASS")
    is_(record(6, "--alias", "agent-v2=agent"), 0, "Recorded run n6")
    # A lost history stops the night; it comes back from where it is remaining.
    night()
    remaining = Path("h.parquet").rename("artifact.parquet")
    is_(gate(), 3, "there is no such history")
    remaining.rename("h.parquet")
    is_(gate(), 0, "PASS")
    is_(record(7), 0, "Recorded run n7")
    # A night with 30 % errors is refused, however its missing outcomes count.
    night(errors=0.3)
    is_(gate(), 3, "missing-outcome]")
    is_(gate("--missing", "fail"), 1, "FAIL")
    is_(gate("--missing", "drop"), 1, "FAIL")
    is_(record(8), 3, "missing-outcome]")
    is_(record(8, "--missing", "drop"), 3, "the run lacks 6 of 800 tasks that run n7 of agent has")
    # A slow drift of 5 points, by one each night: one night is far off, then the gate forgets it.
    gates = []
    for day in range(8, 25):
        night(min(day - 7, 5) / 100)
        if day <= 12 or day == 24:
            gates.append(gate()[0])
        is_(record(day), 0, f"Recorded run n{day}")
        if day == 12:
            is_(trend(), 0, "PASS")
    assert gates == [0, 0, 0, 1, 0, 0]
    # Twelve nights are few for a trend; it does not forget, and is certain later.
    is_(trend(), 1, "FAIL: pass@1 of agent is lower by 0.050 since n11 (2026-11-11)")
    is_(trend("--acknowledge", "n11"), 0, "PASS")
