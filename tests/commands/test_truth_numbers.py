"""What curve, extrapolate, bootstrap, diversity and ranges say is true of random data.

Numbers are computed here from the rows, without code of passk.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

import passk_cli
from passk_cli.commands.extrapolate.headline import (
    FEW_SHARED_TASKS_ANSWER_TEMPLATE,
    PREDICTION_ANSWER_TEMPLATES,
    TARGET_K_ANSWERS,
    RankedPredictions,
    RankedTargetKs,
)  # fmt: skip
from passk_cli.report.data_types import AnswerSentence, Estimate
from passk_cli.study.answer import first_true_sentence
from passk_cli.study.result import Result
from passk_cli.study.value_range import range_sentence
from tests.commands.test_headlines import Row, mean, random_rows
from tests.truth import proves

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
NUMBER = 80


def said_by(command: str, data: Any, **options: Any) -> list[AnswerSentence]:
    """The sentences of a command; none if it refuses the data."""
    try:
        return list(getattr(passk_cli, command)(data, **options).report.answer)
    except passk_cli.PasskError:
        return []


def near(estimate: Any, value: float | None) -> bool:
    """Whether an estimate, or a number, is this number."""
    actual = estimate.value if isinstance(estimate, Estimate) else estimate
    return value is not None and math.isclose(actual, float(value), abs_tol=1e-9)


@proves("no-value-of-any", "value-of-one", "one-value", "range-of-values")
def test_ranges_name_their_ends() -> Iterator[str]:
    draw = random.Random(70)
    for _ in range(NUMBER):
        values = {m: draw.choice([None, 0.2, 0.5, 0.5, 0.9]) for m in "abcd"[: draw.randint(1, 4)]}
        facts = [Result((m,), "pass@1", 1, Estimate(v)) for m, v in values.items()]
        known = {m: v for m, v in values.items() if v is not None}
        sentence = range_sentence(facts)
        if sentence.name == "no-value-of-any":
            assert not known
        elif sentence.name == "value-of-one":
            assert known == {sentence.fields["model"]: sentence.fields["estimate"].value}
        elif sentence.name == "one-value":
            assert {*known.values()} == {sentence.fields["estimate"].value}
            assert len(known) > 1
        else:
            ends = [(min, "low", "lowest"), (max, "high", "highest")]
            for end, number, names in ends:
                value = end(known.values())
                assert sentence.fields[number].value == value
                assert sentence.fields[names] == ", ".join(m for m in known if known[m] == value)
        yield sentence.name


def at(rows: list[Row], k: int, sign: str = "@") -> float | None:
    """pass@k or pass^k over the tasks that have k attempts."""
    value = mean([row for row in rows if row["n"] >= k], f"pass{sign}{k}")
    return None if value is None else float(value)


@proves("no-curve", "flat-curves", "flat-curve", "curve", "curve-of-fewer-tasks")
def test_what_curve_says_of_one_model_is_true() -> Iterator[str]:
    draw = random.Random(71)
    for number in range(NUMBER):
        steady, n = draw.random() < 0.3, draw.choice([1, 2, 5])
        rows = [{"model": "m", "task": f"t{t}", "n": own_values, "c": c}
                for t in range(6)
                for own_values in [n + (number % 3 == 0) * draw.randint(0, 2)]
                for c in [draw.choice([0, own_values]) if steady else draw.randint(0,
                own_values)]]  # fmt: skip
        metrics = draw.choice([None, "pass@k", "pass^k"])
        options = {"short_tasks": "drop"} | ({"metrics": metrics} if metrics else {})
        for sentence in said_by("curve", rows, **options):
            fields = sentence.fields
            signs = ["^"] if metrics == "pass^k" else ["@"]
            last = [row for row in rows if row["n"] >= fields["k"]]
            ends = [at(last, k, signs[0]) for k in (fields["start"], fields["k"])]
            if sentence.name == "no-curve":
                assert fields["k"] == fields["start"] == max(row["n"] for row in rows)
                assert near(fields["estimate"], ends[0])
            elif sentence.name in ("flat-curves", "flat-curve"):
                assert all(row["c"] in (0, row["n"]) for row in last)
                assert near(fields["first"], ends[0])
                assert near(fields["first"], ends[1])
            elif sentence.name != "last-of-fewer-tasks":
                assert near(fields["first"], ends[0])
                assert near(fields["last"], ends[1])
                assert fields["change"] == (ends[1] > ends[0] + 1e-12) - (ends[1] < ends[0] - 1e-12)
                assert fields["both"] == (metrics is None)
                if fields["both"]:
                    hat = at(last, fields["k"], "^")
                    assert near(fields["hat"], hat)
                    assert fields["hat_change"] == (hat > ends[0]) - (hat < ends[0] - 1e-12)
                assert (sentence.name == "curve-of-fewer-tasks") == (len(last) < len(rows))
                assert (fields["tasks"], fields["all"]) == (len(last), len(rows))
            yield sentence.name


@proves("last-of-fewer-tasks")
def test_a_curve_of_fewer_tasks_without_a_gain_says_its_last_number() -> Iterator[str]:
    draw = random.Random(72)
    for _ in range(10):
        rows = [{"model": "m", "task": f"t{t}", "n": n, "c": draw.randint(0, n)}
                for t in range(6) for n in [draw.choice([2, 4])]]  # fmt: skip
        for sentence in said_by("curve", rows, short_tasks="drop", metrics="pass^k"):
            if sentence.name == "last-of-fewer-tasks":
                k = sentence.fields["k"]
                assert near(sentence.fields["last"], at(rows, k, "^"))
                assert sentence.fields["tasks"] == sum(row["n"] >= k for row in rows) < len(rows)
            yield sentence.name


@proves("changes-apart")
def test_what_curve_says_of_changes_of_exact_rates_is_true() -> Iterator[str]:
    draw = random.Random(78)
    for _ in range(6):
        rates = {m: [draw.choice([0.2, 0.5, 0.9]) for _ in range(3)] for m in "abc"}
        for sentence in said_by("curve", None, rates=rates, metrics="pass^k", max_k=4):
            changes = {m: sum(p**4 - p for p in own_values) / 3 for m, own_values in rates.items()}
            most = min(changes.values())
            if sentence.name == "changes-apart":
                assert {*sentence.fields["most"]} == {m for m in changes if near(changes[m], most)}
                assert near(sentence.fields["high"], most)
                assert near(sentence.fields["low"], max(changes.values()))
            yield sentence.name


@proves("gains-alike", "gains-range", "gains-untested", "gains-overlap", "gains-apart")
def test_what_curve_says_of_several_models_is_true() -> Iterator[str]:
    draw = random.Random(73)
    for _ in range(NUMBER):
        rows, groups = random_rows(draw), {}
        if draw.random() < 0.4:
            # Very different gains on many tasks.
            rows = [{"model": m, "task": f"t{t}", "n": 4,
                     "c": draw.choice([0, 4]) if m == "a" else draw.choice([1, 2])}
                    for m in "ab" for t in range(60)]  # fmt: skip
        if draw.random() < 0.2:
            rows, groups = random_rows(draw, groups=2), {"by": "suite"}
        sign = draw.choice("@@^")
        options = groups | {"interval": draw.choice(["guard", "guard", "none"])}
        if options["interval"] == "guard":
            del options["interval"]
        for messages in said_by("curve", rows, metrics=f"pass{sign}k", **options):
            fields = messages.fields
            if not messages.name.startswith(("gains-", "changes-")):
                continue
            keys = {(row["model"], row.get("suite")) for row in rows}
            own_values = {
                key: [r for r in rows if (r["model"], r.get("suite")) == key] for key in keys
            }
            gains = {}
            for group in {suite for _, suite in keys}:
                of_group = {key: r for key, r in own_values.items() if key[1] == group}
                tasks = [{row["task"] for row in r} for r in of_group.values()]
                shared = set.intersection(*tasks)
                for key, r in of_group.items():
                    # Changes of pass^k are of each model's own tasks, and the sentence says so.
                    on = [row for row in r if sign == "^" or row["task"] in shared]
                    assert shared == {row["task"] for row in on} or "own" in fields["where"]
                    ends = [at(on, k, sign) for k in (fields["start"], fields["k"])]
                    if None not in ends:
                        gains[key] = ends[1] - ends[0]
            sizes = [abs(gain) for gain in gains.values()]
            assert near(abs(fields["high"].value), max(sizes))
            assert near(abs(fields["low"].value), min(sizes))
            most = [key for key in gains if near(abs(gains[key]), max(sizes))]
            assert fields["leaders"] == len(most)
            if len(most) <= 3 and not groups:
                assert {*fields["most"]} == {model for model, _ in most}
            assert (messages.name == "gains-alike") == (len(most) == len(gains))
            assert messages.name != "changes-apart" or sign == "^"
            yield messages.name


def counted(draw: random.Random, models: int, tasks: int, n: int) -> list[Row]:
    """Models that pass tasks at different rates."""
    return [
        {"model": f"m{m}", "task": f"t{t}", "n": n,
         "c": sum(draw.random() < min(1.0, (m + 1) * (t + 1) / tasks / models) for _ in range(n))}
        for m in range(models) for t in range(tasks)
    ]  # fmt: skip


class Curve:
    """A prediction with given numbers, as the sentences see it."""

    def __init__(
        self, draw: random.Random, name: str, k: int, *, family: str, known_k: int
    ) -> None:
        self.metric_family, self.known_k = family, known_k
        self.task_values = type("TaskValues", (), {"name": name})()
        low = draw.choice([0.2, 0.5, 0.7])
        high = low + draw.choice([0.0001, 0.1, 0.3])
        value = (low + high) / 2 if high - low < 0.2 else None
        estimate = Estimate(value, low=low, high=high)
        self.results_by_k = {k: Result((name,), f"{family}{k}", k, estimate)}
        first = draw.choice([10, 20])
        ends = draw.choice([(first, first + 5), (first, None), (first, first + 15)])
        reach = Estimate(None, low=ends[0], high=ends[1])
        self.target_k_results = (Result((name,), "k", None, reach),)

    def attempts_needed(self, k: int) -> None:
        return None

    @property
    def number(self) -> Estimate:
        return next(iter(self.results_by_k.values())).estimate


@proves(
    "not-determined", "some-not-determined", "predicted", "predicted-highest", "predicted-alike",
    "predicted-range", "too-few-shared",
)  # fmt: skip
def test_what_extrapolate_says_of_a_number_is_true() -> Iterator[str]:
    draw = random.Random(74)
    for number in range(NUMBER):
        curves = [Curve(draw, m, 30, family="pass@", known_k=draw.choice([10, 30]))
                  for m in "abc"[: number % 3 + 1]]  # fmt: skip
        curves.sort(key=lambda row: -(row.number.value or row.number.low or 0.0))
        (sentence,) = first_true_sentence(
            PREDICTION_ANSWER_TEMPLATES, RankedPredictions(curves, 30, "")
        )
        fields, best = sentence.fields, curves[0].number
        unknown = [row for row in curves if row.number.value is None]
        assert bool(unknown) == (sentence.name in ("not-determined", "some-not-determined"))
        if unknown:
            assert (fields["open"], fields["models"]) == (len(unknown), len(curves))
            widest = max(row.number.high - row.number.low for row in unknown)
            assert near(fields["limits"].high - fields["limits"].low, widest)
        else:
            values = [row.number.value for row in curves]
            assert fields["estimate"].value == max(values)
            assert fields["model"] == curves[0].task_values.name
            overlap = [row.task_values.name for row in curves[1:] if row.number.high >= best.low]
            if sentence.name == "predicted-highest":
                assert not overlap
            elif sentence.name == "predicted-alike":
                assert max(values) - min(values) < 0.0005
            elif sentence.name == "predicted-range":
                assert fields["rivals"] == overlap
                assert fields["lowest"].value == min(values)
            assert fields["within"] == (curves[0].known_k >= 30)
        yield sentence.name
    # At the tasks that both have, attempts ended with the first pass; at others they did not.
    shared = [(10, 0)] * 20 + [(1, 1), (2, 1), (2, 1), (3, 1), (7, 1)]
    rows = [{"model": m, "task": f"{'' if t < 25 else m}{t}", "n": n, "c": c}
            for m in "ab"
            for t, (n, c) in enumerate([*shared, *[(10, 5)] * 40, *[(5, 0)] * 20])]  # fmt: skip
    for _ in range(2):
        for sentence in said_by("extrapolate", rows, to=20):
            assert sentence.name == FEW_SHARED_TASKS_ANSWER_TEMPLATE.name
            yield sentence.name


@proves("target-of-one", "target-alike", "target-first")
def test_what_extrapolate_says_of_a_target_is_true() -> Iterator[str]:
    draw = random.Random(75)
    for number in range(NUMBER):
        family = draw.choice(["pass@", "pass^"])
        curves = [Curve(draw, m, 30, family=family, known_k=10) for m in "abc"[: number % 3 + 1]]
        (sentence,) = first_true_sentence(TARGET_K_ANSWERS, RankedTargetKs(curves, 0.9, ""))
        ends = {
            row.task_values.name: (reach.estimate.low, reach.estimate.high or math.inf)
            for row in curves
            for reach in row.target_k_results
        }
        first = (min if family == "pass@" else max)(ends.values())
        assert (sentence.fields["low"], sentence.fields["high"]) == first
        if sentence.name == "target-first":
            assert ends[sentence.fields["model"]] == first
            rivals = {m: e for m, e in ends.items() if m != sentence.fields["model"]}
            assert {*sentence.fields["rivals"]} == {
                m for m, (low, high) in rivals.items() if low <= first[1] and high >= first[0]
            }
        else:
            assert len({*ends.values()}) == 1
        yield sentence.name


@proves("one-method", "methods-agree", "methods-differ")
def test_what_bootstrap_says_is_true() -> Iterator[str]:
    draw = random.Random(76)
    for number in range(12):
        rows = counted(draw, 2, 12, 3)
        if number % 3 == 0:
            rows = [{**row, "c": 3} for row in rows]
        methods = draw.choice(["guard", "percentile,guard", "percentile,bca,guard"])
        if number % 3 == 0:
            methods = "percentile,bca"
        options = {"interval": methods, "metrics": "pass@1", "resamples": 200}
        frame = passk_cli.bootstrap(rows, **options).frame
        values = {m: float(mean([r for r in rows if r["model"] == m], "pass@1") or 0)
                  for m in ("m0", "m1")}  # fmt: skip
        gaps = {
            (model, end): own_values[end].max() - own_values[end].min()
            for model, own_values in frame.groupby("model") for end in ("low", "high")
        }  # fmt: skip
        (sentence,) = said_by("bootstrap", rows, **options)
        fields = sentence.fields
        if sentence.name == "one-method":
            assert "," not in methods
            assert near(fields["estimate"], values[fields["model"]])
        elif sentence.name == "methods-agree":
            assert max(gaps.values()) < 1e-9
        else:
            assert near(fields["gap"], max(gaps.values()))
            assert near(gaps[fields["model"], "low"], max(gaps.values())) or near(
                gaps[fields["model"], "high"], max(gaps.values())
            )
        yield sentence.name


@proves("different-solutions")
def test_what_diversity_says_is_true() -> Iterator[str]:
    draw = random.Random(77)
    for _ in range(4):
        rows = [{"model": "m", "task": f"t{t}", "attempt": a, "solution": text,
                 "passed": text in "ab"}
                for t in range(5) for a in range(3) for text in [draw.choice("abc")]]  # fmt: skip
        for sentence in said_by("diversity", rows):
            k = sentence.fields["k"]
            pair = []
            for expected in ("abc", "ab"):
                counts = [
                    len({r["solution"] for r in some if r["solution"] in expected})
                    for t in range(5)
                    for some in combinations([r for r in rows if r["task"] == f"t{t}"], k)
                ]
                pair.append(sum(counts) / len(counts))
            assert near(sentence.fields["different"], pair[0])
            assert near(sentence.fields["correct"], pair[1])
            yield sentence.name
