"""Every declared sentence above a table is true: random data, and the fields behind the words.

The numbers are computed here from the rows, with exact fractions and without code of passk.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import passk_cli
from passk_cli.commands.compare.headline import OF_TWO
from passk_cli.report.model import Stated
from passk_cli.study.answer import ANSWERS

pytestmark = pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")

Row = dict[str, Any]
# The data sets of each test: enough that each sentence of estimate is said.
NUMBER = 45


def random_rows(draw: random.Random, groups: int = 0) -> list[Row]:
    """Few models with few tasks, so that ties, gaps and numbers of attempts differ."""
    models = "abcdef"[: draw.choice([1, 2, 2, 3, 6])]
    tasks, constant, lacking = draw.randint(1, 5), draw.random() < 0.6, draw.choice([0, 0, 0.3])
    n, same = draw.choice([1, 2, 4]), draw.random() < 0.15
    rows: list[Row] = []
    for model in models:
        for task in range(tasks):
            for group in range(groups or 1):
                own = n if constant else draw.randint(1, 4)
                c = own if same else draw.randint(0, own)
                suite = {"suite": f"s{group}"} if groups else {}
                row = {"model": model, "task": f"{group}-{task}", **suite, "n": own, "c": c}
                rows += [row] * (not rows or draw.random() >= lacking)
    return rows


def mean(rows: list[Row], metric: str, tasks: set[str] | None = None) -> Fraction | None:
    """pass@k or pass^k over the tasks; None if one of the rows has fewer than k attempts."""
    k, kept = int(metric[5:]), [r for r in rows if tasks is None or r["task"] in tasks]
    if not kept or any(row["n"] < k for row in rows):
        return None
    missed = [
        Fraction(math.comb(r["c"] if "^" in metric else r["n"] - r["c"], k), math.comb(r["n"], k))
        for r in kept
    ]
    value = sum(missed, Fraction(0)) / len(missed)
    return value if "^" in metric else 1 - value


def values_of(rows: list[Row], metric: str) -> dict[str, Fraction]:
    """Model → mean on the tasks that all models with a value have; {} if they share none."""
    of_model = {m: [r for r in rows if r["model"] == m] for m in {r["model"] for r in rows}}
    valued = {m: own for m, own in of_model.items() if mean(own, metric) is not None}
    tasks = [{r["task"] for r in own} for own in valued.values()]
    shared = set.intersection(*tasks) if tasks else set[str]()
    found = {m: mean(own, metric, shared) for m, own in valued.items()}
    return {m: value for m, value in found.items() if value is not None}


def sentences(command: str, rows: list[Row], **options: Any) -> Iterator[Stated]:
    """The declared sentences of a command about these rows."""
    found = getattr(passk_cli, command)(rows, **options)
    return (sentence for sentence in found.report.answer if isinstance(sentence, Stated))


def best(values: dict[str, Fraction]) -> set[str]:
    """The models with the highest value."""
    return {model for model, value in values.items() if value == max(values.values())}


def near(estimate: Any, value: Fraction | None) -> bool:
    """Whether an estimate is the value, without an interval, which selection makes too short."""
    return (
        (estimate.low, estimate.high) == (None, None)
        and value is not None
        and math.isclose(estimate.value, float(value), abs_tol=1e-12)
    )


def check_estimate(said: Stated, rows: list[Row]) -> None:
    """Assert that a sentence of estimate without groups is true of the rows."""
    fields, name = said.fields, said.name
    if name in ("none-shared", "own-tasks-below"):
        sets = {frozenset(r["task"] for r in rows if r["model"] == m["model"]) for m in rows}
        assert len(sets) > 1
        return
    if name == "any-and-all-attempts":
        assert near(fields["at"], mean(rows, f"pass@{fields['k']}"))
        assert near(fields["hat"], mean(rows, f"pass^{fields['k']}"))
        return
    metric = fields["metric"]
    values = values_of(rows, metric)
    every = {
        m: mean([r for r in rows if r["model"] == m], metric) for m in {r["model"] for r in rows}
    }
    if name in ("estimate", "value-of-one"):
        (only,) = (m for m, value in every.items() if value is not None)
        assert fields["model"] == only
        assert math.isclose(fields["estimate"].value, float(every[only] or 0), abs_tol=1e-12)
    elif name == "no-value-of-any":
        assert all(value is None for value in every.values())
    elif name in ("range-of-values", "one-value"):
        assert not values
    elif name.startswith("same-estimates"):
        assert best(values) == {*values}
        assert fields["count"] == len(values)
        assert near(fields["estimate"], max(values.values()))
    elif name in ("several-highest", "many-highest"):
        assert best(values) == {*fields["models"]}
        assert 1 < fields["count"] == len(fields["models"]) < len(values)
    else:
        assert name in ("highest", "highest-at-both", "highest-per-metric")
        assert best(values) == {fields["model"]}
        assert near(fields["estimate"], values[fields["model"]])
    if name in ("highest-at-both", "highest-per-metric"):
        others = values_of(rows, fields["other"])
        assert best(others) == {fields["other_model"]}
        assert near(fields["other_estimate"], others[fields["other_model"]])
        assert (name == "highest-at-both") == (fields["model"] == fields["other_model"])


def test_what_estimate_says_of_models_is_true() -> None:
    draw, names = random.Random(57), set()
    # One model leads at the first metric, the other one at the second.
    passes = {"steady": (4, 4, 0, 0), "wide": (2, 2, 2, 1)}
    apart = [{"model": m, "task": str(t), "n": 4, "c": c}
             for m, own in passes.items() for t, c in enumerate(own)]  # fmt: skip
    for rows in (apart, *(random_rows(draw) for _ in range(NUMBER))):
        metrics = (
            "pass@1,pass@2"
            if rows is apart
            else draw.choice(["pass@1", "pass@1,pass@2", "pass@1,pass^2", "pass@2"])
        )
        if max(row["n"] for row in rows) < 2:
            metrics = "pass@1"
        try:
            said = list(sentences("estimate", rows, metrics=metrics))
        except passk_cli.PasskError:
            # No number has a value.
            continue
        for sentence in said:
            names.add(sentence.name)
            check_estimate(sentence, rows)
    assert names >= {
        "estimate", "highest", "highest-at-both", "highest-per-metric", "same-estimates",
        "several-highest", "own-tasks-below",
    }  # fmt: skip


def test_what_estimate_says_of_groups_is_true() -> None:
    draw, names = random.Random(58), set()
    for _ in range(NUMBER // 2):
        rows = random_rows(draw, groups=draw.randint(2, 4))
        for said in sentences("estimate", rows, metrics="pass@1", by="suite"):
            names.add(said.name)
            suites = sorted({row["suite"] for row in rows})
            values = {s: values_of([r for r in rows if r["suite"] == s], "pass@1") for s in suites}
            ranked = {s: own for s, own in values.items() if len(own) > 1}
            leaders = {s: best(own) for s, own in ranked.items()}
            alone = {s: next(iter(own)) for s, own in leaders.items() if len(own) == 1}
            if said.name == "highest-in-groups":
                assert {*alone.values()} == {said.fields["model"]}
                assert len(alone) == said.fields["ranked"] == len(ranked)
                assert said.fields["groups"] == len(suites)
            elif said.name == "highest-by-group":
                assert {text.split(" (")[0] for text in said.fields["leaders"]} == {*alone.values()}
                assert said.fields["shared"] == len(ranked) - len(alone)
            elif said.name == "no-leader-in-groups":
                assert not alone
            elif said.name == "no-groups-ranked":
                assert not ranked
            else:
                # One model: its range over groups is no rank. Or only one number has a value.
                assert said.name in (
                    "range-of-values",
                    "one-value",
                    "estimate",
                    "value-of-one",
                    "own-tasks-below",
                )
    assert {"highest-in-groups", "highest-by-group", "range-of-values"} <= names


def verdicts(rows: list[Row], **options: Any) -> dict[tuple[str, str], tuple[str, float]]:
    """(model, other) → verdict and difference, in both directions."""
    frame = passk_cli.compare(rows, **options).frame
    turned = {"better": "worse", "worse": "better"}
    found = {}
    for row in frame[frame.metric == frame.metric[0]].to_dict("records"):
        found[row["model"], row["against"]] = row["verdict"], row["estimate"]
        reverse = turned.get(row["verdict"], row["verdict"]), -row["estimate"]
        found[row["against"], row["model"]] = reverse
    return found


def skilled_rows(draw: random.Random, models: int) -> list[Row]:
    """Models of different skill on the same tasks: some pairs differ, some tie."""
    hard = [draw.random() for _ in range(30)]
    skills = [draw.choice([0.2, 0.5, 0.9]) for _ in range(models)]
    return [
        {"model": f"m{m}", "task": f"t{t}", "n": 4,
         "c": sum(draw.random() < 0.7 * skill + 0.3 * ease for _ in range(4))}
        for m, skill in enumerate(skills) for t, ease in enumerate(hard)
    ]  # fmt: skip


def test_what_compare_says_is_true() -> None:
    """Pairs come from the rows of the same comparison: the sentence must follow from them."""
    draw, names = random.Random(59), set()
    for _ in range(NUMBER // 2):
        rows = skilled_rows(draw, draw.choice([2, 3, 4, 6]))
        found = verdicts(rows, metrics="pass@1")
        models = {model for model, _ in found}
        significant = sum(verdict == "better" for verdict, _ in found.values())
        unbeaten = {
            m
            for m in models
            if all(verdict != "worse" for (model, _), (verdict, _) in found.items() if model == m)
        }
        for said in sentences("compare", rows, metrics="pass@1"):
            names.add(said.name)
            fields = said.fields
            if said.name in ("better", "worse", "tie"):
                verdict, difference = found[fields["model"], fields["against"]]
                assert verdict == {"tie": "tied"}.get(said.name, said.name)
                assert fields["difference"].value == pytest.approx(difference)
            elif said.name in ("leads", "leads-all-differ", "leads-ties-below"):
                own = {o: d for (m, o), (v, d) in found.items() if m == fields["model"]}
                assert unbeaten == {fields["model"]}
                assert all(found[fields["model"], other][0] == "better" for other in own)
                assert fields["lead"].value == pytest.approx(min(own.values()))
                assert own[fields["second"]] == min(own.values())
                assert fields["ties"] == len(found) // 2 - significant
                assert fields["rest"] == len(found) // 2 - 1
            elif said.name in ("comes-first", "pairs-that-differ"):
                assert (fields["differ"], fields["pairs"]) == (significant, len(found) // 2)
            elif said.name == "all-tie":
                assert unbeaten == models
            else:
                assert said.name in ("tie-but-one", "tie-for-first")
                assert len(unbeaten) == fields["count"] > 1
                assert len(fields["first"]) + fields["more"] == fields["count"]
                assert {*fields["first"]} <= unbeaten
                assert fields["rest"] == len(models) - len(unbeaten)
                values = values_of(rows, "pass@1")
                rest = [float(values[m]) for m in models - unbeaten]
                assert fields["last"].value == pytest.approx(max(rest))
    assert names >= {"better", "tie", "tie-but-one", "tie-for-first", "all-tie"}


def test_against_a_baseline_the_best_of_several_has_no_interval() -> None:
    draw = random.Random(60)
    for number in (3, 5):
        rows = skilled_rows(draw, number)
        (said,) = sentences("compare", rows, metrics="pass@1", baseline="m0")
        fields, found = said.fields, verdicts(rows, metrics="pass@1", baseline="m0")
        against = {m: d for (m, other), (_, d) in found.items() if other == "m0"}
        assert fields["best"] == max(against, key=against.__getitem__)
        assert fields["difference"].low is None
        counted = [v for (_, other), (v, _) in found.items() if other == "m0"]
        assert all(fields[v] == counted.count(v) for v in ("better", "worse", "tied"))


def test_every_sentence_has_one_name() -> None:
    """The registry refuses a second template of one name, so names in json are unambiguous."""
    assert all(name == answer.name for name, answer in ANSWERS.items())
    with pytest.raises(ValueError, match="two answers are named tie"):
        replace(OF_TWO[-1], template="other words")
