"""An evaluation of Inspect AI that ends once it is decided, with its real release and a mock model.

.venv/bin/pip install -e '.[inspect]'
"""

from __future__ import annotations

import asyncio
import gc
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from passk_cli.errors import ParameterError
from passk_cli.inspect import stop
from tests.conftest import Write

with warnings.catch_warnings(action="ignore"):
    pytest.importorskip("inspect_ai", reason="pip install -e '.[inspect]'")
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import match
    from inspect_ai.solver import solver

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("default")]
Run = Callable[..., Any]
DECIDED = r"After (\d\d) of 100 tasks, PASS: pass@1 of mockllm/model is 0\.\d+ \["


@solver
def answers(rate: float, slow: float, wrong: tuple[int, ...]) -> Any:
    """Passes at a rate; failures take longer; some samples end with an error."""

    async def solve(state: Any, generate: Any) -> Any:
        draw = random.Random(f"{state.sample_id} {state.epoch}")
        passes = draw.random() < rate
        await asyncio.sleep(draw.random() * (0.002 if passes else slow))
        if state.sample_id in wrong:
            raise RuntimeError("boom")
        state.output.completion = "yes" if passes else "no"
        return state

    return solve


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """run(stopper, …) → the log of an evaluation of 100 samples."""

    def evaluate(
        stopper: Any, rate: float = 0.9, epochs: int = 1, wrong: tuple[int, ...] = (), **more: Any
    ) -> Any:
        samples = [Sample(id=at, input="x", target="yes") for at in range(1, 101)]
        dataset = MemoryDataset(samples)
        dataset.shuffle(5)
        task = inspect_ai.Task(
            dataset=dataset, solver=answers(rate, 0.01, wrong), scorer=match(), name="mine",
            early_stopping=stopper, epochs=epochs,
        )  # fmt: skip
        options = {"log_dir": str(tmp_path), "max_samples": 8, "fail_on_error": False, **more}
        with warnings.catch_warnings():
            # Streams that it leaves open.
            warnings.simplefilter("ignore")
            (log,) = inspect_ai.eval(task, model="mockllm/model", display="none", **options)
            gc.collect()
        assert log.status == "success"
        return log

    return evaluate


def stopping_metadata(log: Any) -> dict[str, Any]:
    """What the log says of the stop."""
    result: dict[str, Any] = log.results.early_stopping.metadata
    return result


def test_it_ends_once_it_is_decided(run: Run) -> None:
    log = run(stop("pass@1 >= 0.5"))
    stops = log.results.early_stopping.early_stops
    assert log.results.early_stopping.manager == "passk"
    decided = re.match(DECIDED, stopping_metadata(log)["answer"])
    assert decided is not None
    assert stopping_metadata(log)["looked_at"] == int(decided[1]) < 60
    # Samples that were under way have their end.
    assert (
        100 - stopping_metadata(log)["looked_at"] - 20
        <= len(stops)
        <= 100 - stopping_metadata(log)["looked_at"]
    )
    assert stops[0].reason == stopping_metadata(log)["answer"]


def test_the_command_says_the_same_of_its_log(run: Run) -> None:
    """The shuffled order is that of the log."""
    log = run(stop("pass@1 >= 0.5"))
    findings = passk_cli.watch(log.location, minimum="pass@1=0.5", looks="/dev/null")
    assert str(findings).splitlines()[0] == stopping_metadata(log)["answer"]
    assert findings.report.signature["order"] == "dataset"


def test_what_is_not_decided_runs_to_its_end(run: Run) -> None:
    log = run(stop("pass@1 >= 0.5"), rate=0.5)
    assert log.results.early_stopping.early_stops == []
    assert stopping_metadata(log)["answer"].startswith("After 100 of 100 tasks, ")


def test_epochs_count_once_all_are_there(run: Run) -> None:
    log = run(stop("pass@1 >= 0.5", every=10), epochs=3)
    assert " × 3 attempts" not in stopping_metadata(log)["answer"]
    assert stopping_metadata(log)["answer"].startswith("After 30 of 100 tasks, PASS")
    assert 100 <= log.results.completed_samples <= 300


@pytest.mark.parametrize("missing", [None, "fail", "drop"])
def test_a_sample_that_ends_with_an_error(run: Run, missing: str | None) -> None:
    """It holds up the looks, unless what it counts as is said."""
    first = MemoryDataset([Sample(id=at, input="x", target="yes") for at in range(1, 101)])
    first.shuffle(5)
    options = {} if missing is None else {"missing": missing}
    log = run(stop("pass@1 >= 0.5", **options), rate=0.95, wrong=(int(first[2].id),))
    assert bool(stopping_metadata(log)["looked_at"]) == (missing is not None)
    assert bool(log.results.early_stopping.early_stops) == (missing is not None)


def test_without_samples_in_the_log_nothing_is_skipped(run: Run) -> None:
    log = run(stop("pass@1 >= 0.5"), log_samples=False)
    assert log.results.early_stopping.early_stops == []
    assert re.match(DECIDED, stopping_metadata(log)["answer"])


def test_a_baseline_is_a_log(run: Run) -> None:
    base = run(None, rate=0.9)
    stopper = stop("pass@1 drop <= 0.05", baseline=base.location)
    log = run(stopper, rate=0.3)
    assert ", FAIL: pass@1 of mockllm/model fell by 0." in stopping_metadata(log)["answer"]
    assert log.results.early_stopping.early_stops


def test_rules_of_a_file(run: Run, write: Write) -> None:
    book = write("passk.toml", '[[suite]]\nname = "a"\nruns = ["x"]\nmin = { "pass@1" = 0.5 }\n')
    log = run(stop(rules=str(book)))
    assert re.match(DECIDED, stopping_metadata(log)["answer"])


def test_one_evaluation_at_a_time() -> None:
    with pytest.raises(ParameterError, match='or "pass@1 drop'):
        stop("pass@1 > 0.8")
    with pytest.raises(ParameterError, match="write"):
        stop("pass@1 drop >= 0.8")
