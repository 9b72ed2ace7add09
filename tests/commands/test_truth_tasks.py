"""What tasks, order, describe, convert, record, judge and formats say is true of random data.

Numbers are computed here from the rows, without code of passk.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from passk_cli.report.data_types import AnswerSentence
from tests.truth import proves

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
NUMBER = 60
Row = dict[str, Any]


def said_by(command: str, data: Any, **options: Any) -> list[AnswerSentence]:
    """The sentences of a command; none if it refuses the data."""
    try:
        printed_text = getattr(passk_cli, command)(data, **options).report.answer
        # tests/commands/test_noise.py proves what is said of noise.
        return [
            sentence for sentence in printed_text if not sentence.name.startswith("noise-floor")
        ]
    except passk_cli.PasskError:
        return []


def cells(draw: random.Random, models: int, tasks: int = 4, *, single: bool = False) -> list[Row]:
    """Counts of few attempts, of which whole tasks often pass or fail."""
    even = draw.choice([0, 0, 2])
    rows = []
    for m in range(models):
        for t in range(tasks):
            n = 1 if single else even or draw.choice([1, 2, 4])
            c = draw.choice([0, n, draw.randint(0, n)])
            rows.append({"model": f"m{m}", "task": f"t{t}", "n": n, "c": c})
    return rows


def classes(rows: list[Row]) -> tuple[int, int, int]:
    """How many rows passed and failed every attempt, and how many are flaky."""
    passed, failed = (sum(r["c"] == end * r["n"] for r in rows) for end in (1, 0))
    return passed, failed, len(rows) - passed - failed


@proves(
    "flaky-of-single-attempts", "flaky-of-equal-attempts", "flaky", "equally-flaky", "flakiest",
    "agreed", "passed-by-all", "failed-by-all", "nothing-agreed",
)  # fmt: skip
def test_what_tasks_says_is_true() -> Iterator[str]:
    draw = random.Random(80)
    for number in range(4 * NUMBER):
        rows = cells(draw, number % 3 + 1, single=draw.random() < 0.2)
        models = sorted({row["model"] for row in rows})
        of_task = {t: [r for r in rows if r["task"] == t] for t in {r["task"] for r in rows}}
        agreed = [all(r["c"] == end * r["n"] for r in own_values) for own_values in of_task.values()
                  for end in (1, 0)]  # fmt: skip
        for sentence in said_by("tasks", rows):
            fields = sentence.fields
            if sentence.name.startswith("flaky"):
                passed, failed, flaky = classes(rows)
                assert (fields["passed"], fields["failed"], fields["flaky"]) == (
                    passed, failed, flaky,
                )  # fmt: skip
                attempts = {row["n"] for row in rows}
                assert (fields["least"], fields["most"]) == (min(attempts), max(attempts))
                assert (sentence.name == "flaky") == (len(attempts) > 1)
            elif sentence.name in ("equally-flaky", "flakiest"):
                flaky_of = {m: classes([r for r in rows if r["model"] == m])[2] for m in models}
                ends = min(flaky_of.values()), max(flaky_of.values())
                assert (fields["least"], fields["most"]) == ends
                assert {*fields["flakiest"]} == {m for m in models if flaky_of[m] == ends[1]}
            else:
                assert (fields["passed"], fields["failed"]) == (sum(agreed[::2]), sum(agreed[1::2]))
                assert fields["tasks"] == len(of_task)
            yield sentence.name


@proves("shown-to-pass")
def test_what_is_shown_to_pass_above_a_rate_is_true() -> Iterator[str]:
    draw = random.Random(81)
    for _ in range(5):
        rows = [{"model": "m", "task": f"t{t}", "n": n, "c": n - draw.choice([0, 0, 1])}
                for t in range(5) for n in [draw.choice([5, 20, 40])]]  # fmt: skip
        for sentence in said_by("tasks", rows, always=0.9):
            # Without a failure n attempts show it if .9^n is at most 5 %; with one failure more do.
            sure = [r for r in rows if 0.9 ** r["n"] + (r["n"] - r["c"]) * r["n"] * 0.1 * 0.9 ** (
                r["n"] - 1) <= 0.05]  # fmt: skip
            assert sentence.fields["shown"] == len(sure)
            assert 0.9 ** sentence.fields["needed"] <= 0.05 < 0.9 ** (sentence.fields["needed"] - 1)
            yield sentence.name


@proves(
    "flips", "flips-of-single-attempts", "flips-of-some-single-attempts", "flips-of-pairs",
    "flips-beyond-chance", "pairs-beyond-chance", "no-pair-beyond-chance", "no-task-changed",
    "tasks-changed", "tasks-changed-of-pairs",
)  # fmt: skip
def test_what_is_said_of_flips_is_true() -> Iterator[str]:
    draw = random.Random(82)
    for number in range(NUMBER):
        rivals = [f"m{m}" for m in range(number % 2 + 1)]
        kind = draw.choice(["single", "mixed", "many", "turned"])
        rows = []
        for t in range(12):
            for m in ("base", *rivals):
                n = {"single": 1, "mixed": draw.choice([1, 4])}.get(kind, 9)
                c = draw.randint(0, n)
                if kind == "turned":
                    c = n * ((t < 6) != (m != "base"))
                rows.append({"model": m, "task": f"t{t}", "n": n, "c": c})
        rate = {(r["model"], r["task"]): r["c"] / r["n"] for r in rows}
        turns = {m: [rate[m, f"t{t}"] - rate["base", f"t{t}"] for t in range(12)] for m in rivals}
        flips = {m: sum(abs(turn) > 0.5 for turn in own_values) for m, own_values in turns.items()}
        try:
            actual = passk_cli.tasks(rows, against="base")
        except passk_cli.PasskError:
            # Copies.
            continue
        verdicts = actual.frame.verdict.tolist()
        for sentence in actual.report.answer:
            fields = sentence.fields
            if sentence.name == "flips-of-pairs":
                assert (fields["pairs"], fields["all_flips"]) == (len(rivals), sum(flips.values()))
            elif sentence.name in ("flips", "flips-of-single-attempts",
                               "flips-of-some-single-attempts"):  # fmt: skip
                own = turns[fields["model"]]
                assert fields["flips"] == flips[fields["model"]]
                assert fields["gains"] == sum(turn > 0.5 for turn in own)
                assert fields["losses"] == sum(turn < -0.5 for turn in own)
            elif sentence.name in ("flips-beyond-chance", "pairs-beyond-chance"):
                assert fields["repeated"] > float(fields["expected"])
            elif sentence.name != "no-pair-beyond-chance":
                improved, regressed = verdicts.count("improved"), verdicts.count("regressed")
                assert (fields["improved"], fields["regressed"]) == (improved, regressed)
                assert (sentence.name == "no-task-changed") == (improved + regressed == 0)
            yield sentence.name


@proves(
    "suspect-tasks", "no-suspect-task", "no-task-tested", "solved-by-none", "solved-by-all",
    "solved-by-none-and-all",
)  # fmt: skip
def test_what_is_said_of_suspects_is_true() -> Iterator[str]:
    draw = random.Random(83)
    for number in range(NUMBER // 2):
        models, tasks, kind = 30, 8, number % 4
        rows = []
        for m in range(models):
            for t in range(tasks):
                passed = draw.random() < m / models
                if t == 7 and kind == 0:
                    passed = not passed
                if kind == 1:
                    passed = t < 4
                if t == 0 and kind in (0, 2):
                    passed = False
                if t == 1 and kind in (2, 3):
                    passed = True
                rows.append({"model": f"m{m:02}", "task": f"t{t}", "n": 1, "c": int(passed)})
        sums = {f"t{t}": sum(r["c"] for r in rows if r["task"] == f"t{t}") for t in range(tasks)}
        none, all_values = (sum(c == end for c in sums.values()) for end in (0, models))
        if kind == 1:
            # Models with the same outcomes are copies.
            rows = [{**row, "n": 2, "c": 2 * row["c"]} for row in rows]
        try:
            actual = passk_cli.tasks(rows, suspects=True)
        except passk_cli.PasskError:
            continue
        frame = actual.frame
        for sentence in actual.report.answer:
            if sentence.name == "suspect-tasks":
                weak = frame[(frame.p_adjusted <= 0.05) & (frame.estimate < 0)].task.tolist()
                assert [*sentence.fields["suspects"]] == weak
                assert sentence.fields["count"] == len(weak)
            elif sentence.name == "no-suspect-task":
                assert not ((frame.p_adjusted <= 0.05) & (frame.estimate < 0)).any()
            elif sentence.name == "no-task-tested":
                assert frame.p_adjusted.isna().all()
            else:
                assert (sentence.fields["none"], sentence.fields["every"]) == (none, all_values)
            yield sentence.name


def ordered(draw: random.Random, kind: str, model: str) -> list[Row]:
    """Attempts in their order: independent, until the first pass, or worse from one to the next."""
    rows = []
    for t in range(40):
        level = draw.random()
        for attempt in range(6):
            rate = level if kind == "even" else 0.9 - 0.16 * attempt
            passed = draw.random() < rate
            if kind == "constant":
                passed = t % 2 == 0
            rows.append({"model": model, "task": f"t{t}", "attempt": attempt, "passed": passed})
            if kind == "stopped" and passed:
                break
    return rows


@proves("dependent", "no-dependence", "independence-not-tested", "models-not-tested")
def test_what_order_says_is_true() -> Iterator[str]:
    draw = random.Random(84)
    for number in range(12):
        kinds = [["even"], ["falling"], ["stopped"], ["falling", "stopped"]][number % 4]
        rows = [row for m, kind in enumerate(kinds) for row in ordered(draw, kind, f"{kind}{m}")]
        actual = passk_cli.order(rows)
        frame = actual.frame[actual.frame.metric.isin(["trend", "lag-1"])]
        tested = {
            model: own_values.p_adjusted.dropna().min()
            for model, own_values in frame.groupby("model")
        }
        for sentence in actual.report.answer:
            if sentence.name == "dependent":
                assert {*sentence.fields["dependent"]} == {f"falling{kinds.index('falling')}"}
                assert all(tested[model] <= 0.05 for model in sentence.fields["dependent"])
                assert "fall" in sentence.fields["reasons"]
            elif sentence.name == "no-dependence":
                assert all(tested[model] > 0.05 for model in sentence.fields["independent"])
            elif sentence.name == "independence-not-tested":
                assert kinds == ["stopped"]
            else:
                assert sentence.fields["untested"] == ["stopped1"]
            yield sentence.name


@proves(
    "data-read", "attempts-differ-in", "attempts-without-outcome", "outcomes-not-understood",
    "repeated-rows", "repeated-numbers", "nothing-missing-or-repeated", "nothing-missing",
)  # fmt: skip
def test_what_describe_says_is_true() -> Iterator[str]:
    draw = random.Random(85)
    for number in range(NUMBER):
        numbered, outcomes = draw.random() < 0.6, [True, False]
        kind = number % 5
        outcomes += [None] if kind == 1 else []
        rows = [
            {"model": m, "task": f"t{t}", **({"attempt": a} if numbered else {}),
             "passed": draw.choice(outcomes)}
            for m in "ab" for t in range(4) for a in range(draw.choice([2, 2, 3]))
        ]  # fmt: skip
        repeated = [row for row in rows if draw.random() < 0.3] if kind == 2 and numbered else []
        if kind == 3:
            rows = [{**row, "temperature": heat} for row in rows for heat in (0.2, 0.8)]
        if kind == 4:
            rows = [{**row, "passed": draw.choice([0.0, 0.5, 1.0])} for row in rows]
        data = rows + repeated
        for sentence in said_by("describe", data):
            fields = sentence.fields
            attempts: dict[tuple[str, str], int] = {}
            for row in data:
                key = row["model"], row["task"]
                attempts[key] = attempts.get(key, 0) + 1
            if sentence.name == "data-read":
                assert (fields["models"], fields["tasks"]) == (2, 4)
                assert fields["k"] <= min(attempts.values())
            elif sentence.name == "attempts-differ-in":
                assert fields["settings"] == ["temperature"]
                assert kind == 3
            elif sentence.name == "attempts-without-outcome":
                assert fields["missing"] == sum(row["passed"] is None for row in rows) > 0
            elif sentence.name == "outcomes-not-understood":
                assert 0 < fields["unclear"] <= len(rows)
                assert kind == 4
            elif sentence.name in ("repeated-rows", "repeated-numbers"):
                assert fields["repeated"] > 0
                assert bool(repeated) or kind == 3
            else:
                assert not repeated
                assert all(row["passed"] is not None for row in rows)
                assert (sentence.name == "nothing-missing-or-repeated") == numbered
            yield sentence.name


@proves("draft-with-choices", "draft-without-choices")
def test_what_a_draft_leaves_open_is_true(tmp_path: Path) -> Iterator[str]:
    draw = random.Random(86)
    for number in range(6):
        path = tmp_path / f"{number}.toml"
        outcome = "passed" if number % 2 else "verdict_x"
        rows = [{"model": m, "task": f"t{t}", outcome: draw.choice([0, 1])}
                for m in "ab" for t in range(4) for _ in range(2)]  # fmt: skip
        for sentence in said_by("describe", rows, init=str(path)):
            lines = path.read_text().splitlines()
            still = [line for line in lines if line.partition("#")[0].strip().endswith('= ""')]
            assert bool(sentence.fields["open"]) == bool(still)
            yield sentence.name


@proves("counts-written", "attempts-written", "attempts-written-with-gaps")
def test_what_convert_says_is_true(tmp_path: Path) -> Iterator[str]:
    draw = random.Random(87)
    for number in range(9):
        outcomes = [True, False, *([None] if number % 3 == 0 else [])]
        rows = [{"model": m, "task": f"t{t}", "passed": draw.choice(outcomes)}
                for m in "ab" for t in range(3) for _ in range(draw.randint(1, 3))]  # fmt: skip
        options = {"counts": True} if number % 3 == 1 else {}
        path = str(tmp_path / f"{number}.csv")
        for sentence in said_by("convert", rows, output=path, **options):
            written = Path(path).read_text().splitlines()[1:]
            fields = sentence.fields
            assert (fields["models"], fields["tasks"], fields["attempts"]) == (2, 3, len(rows))
            assert len(written) == (fields["rows"] or len(rows))
            assert fields["empty"] == sum(row["passed"] is None for row in rows) * (not options)
            yield sentence.name


@proves("recorded")
def test_what_record_says_is_true(tmp_path: Path) -> Iterator[str]:
    draw = random.Random(88)
    for number in range(2):
        tasks = draw.randint(3, 6)
        rows = [{"model": m, "task": f"t{t}", "passed": draw.choice([True, False])}
                for m in "ab" for t in range(tasks)]  # fmt: skip
        to = str(tmp_path / "history.parquet")
        for messages in said_by("record", rows, to=to, at=f"r{number}", incomplete=True, suite="s"):
            fields = messages.fields
            assert (fields["models"], fields["tasks"], fields["to"]) == (2, tasks, to)
            assert (fields["run"], fields["suite"], fields["incomplete"]) == (
                f"r{number}",
                "s",
                True,
            )
            yield messages.name


@proves("judge-errs", "judge-passes-failures", "judge-differs")
def test_what_judge_says_is_true() -> Iterator[str]:
    draw = random.Random(89)
    for number in range(10):
        rows = []
        for m, wrong in (("a", 0.05), ("b", 0.6 if number % 2 else 0.1)):
            for t in range(60):
                for attempt in range(2):
                    truth = number % 5 < 4 and draw.random() < 0.5
                    judged = truth or draw.random() < wrong
                    rows.append({"model": m, "task": f"t{t}", "attempt": attempt,
                                 "passed": judged, "human": truth})  # fmt: skip
        shares = {
            m: [sum(r["passed"] is not verdict and r["human"] is verdict for r in rows
                    if r["model"] == m)
                / max(1, sum(r["human"] is verdict for r in rows if r["model"] == m))
                for verdict in (False, True)]
            for m in "ab"
        }  # fmt: skip
        for sentence in said_by("judge", rows, truth="human"):
            fields = sentence.fields
            if sentence.name == "judge-differs":
                assert fields["p"] <= 0.05
                assert abs(shares["a"][0] - shares["b"][0]) > 0.1
            else:
                passed, failed = shares[fields["model"]]
                assert fields["passed"].value == pytest.approx(passed)
                assert passed == pytest.approx(max(own_values[0] for own_values in shares.values()))
                if fields["failed"] is not None:
                    assert fields["failed"].value == pytest.approx(failed)
            yield sentence.name


@proves("to-label", "more-to-label", "nothing-to-label")
def test_what_is_said_of_attempts_to_label_is_true(tmp_path: Path) -> Iterator[str]:
    draw = random.Random(90)
    for number in range(9):
        rows = [{"model": m, "task": f"t{t:02}", "attempt": a, "passed": draw.random() < t / 30,
                 "human": draw.choice([True, False]) if number % 3 == 0 else None}
                for m in "ab" for t in range(30) for a in range(2)]  # fmt: skip
        if number % 3 == 1:
            rows = [{k: v for k, v in row.items() if k != "human"} for row in rows]
        path = str(tmp_path / f"{number}.csv")
        options = {"truth": "human"} if number % 3 == 0 else {}
        for sentence in said_by(
            "judge", rows, to_label=path, number=draw.choice([3, 5]), **options
        ):
            if sentence.name.startswith("judge"):
                continue
            written = Path(path).read_text().splitlines()[1:]
            assert sentence.fields["attempts"] == len(written)
            if sentence.name == "more-to-label":
                assert len(written) > sentence.fields["number"] * 2
            assert (sentence.name == "nothing-to-label") == (not written)
            yield sentence.name


@proves("formats-read", "format-read", "format-refused")
def test_what_formats_says_is_true() -> Iterator[str]:
    frame = passk_cli.formats().frame
    for _ in range(2):
        (sentence,) = passk_cli.formats().report.answer
        assert dict(sentence.fields) == frame.kind.value_counts().to_dict()
        yield sentence.name
        for name, kind in zip(frame.format[:40], frame.kind[:40], strict=True):
            (sentence,) = passk_cli.formats(name).report.answer
            assert (sentence.name == "format-refused") == (kind == "refused")
            assert sentence.fields["name"] == name
            yield sentence.name
