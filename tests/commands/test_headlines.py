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
from passk_cli.commands.compare.headline import TWO_MODEL_ANSWERS
from passk_cli.report.data_types import AnswerSentence
from passk_cli.study.answer import ANSWERS
from tests.truth import proves

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
                own_values = n if constant else draw.randint(1, 4)
                c = own_values if same else draw.randint(0, own_values)
                suite = {"suite": f"s{group}"} if groups else {}
                row = {"model": model, "task": f"{group}-{task}", **suite, "n": own_values, "c": c}
                rows += [row] * (not rows or draw.random() >= lacking)
    return rows


def mean(rows: list[Row], metric: str, tasks: set[str] | None = None) -> Fraction | None:
    """pass@k or pass^k over the tasks; None if one of the rows has fewer than k attempts."""
    k, remaining = int(metric[5:]), [r for r in rows if tasks is None or r["task"] in tasks]
    if not remaining or any(row["n"] < k for row in rows):
        return None
    missed = [
        Fraction(math.comb(r["c"] if "^" in metric else r["n"] - r["c"], k), math.comb(r["n"], k))
        for r in remaining
    ]
    value = sum(missed, Fraction(0)) / len(missed)
    return value if "^" in metric else 1 - value


def values_of(rows: list[Row], metric: str) -> dict[str, Fraction]:
    """Model → mean on the tasks that all models with a value have; {} if they share none."""
    of_model = {m: [r for r in rows if r["model"] == m] for m in {r["model"] for r in rows}}
    valued = {
        m: own_values for m, own_values in of_model.items() if mean(own_values, metric) is not None
    }
    tasks = [{r["task"] for r in own} for own in valued.values()]
    shared = set.intersection(*tasks) if tasks else set[str]()
    actual = {m: mean(own, metric, shared) for m, own in valued.items()}
    return {m: value for m, value in actual.items() if value is not None}


def sentences(command: str, rows: list[Row], **options: Any) -> Iterator[AnswerSentence]:
    """The declared sentences of a command about these rows, without those about noise."""
    for sentence in getattr(passk_cli, command)(rows, **options).report.answer:
        # tests/commands/test_noise.py proves these.
        if not sentence.name.startswith("noise-floor"):
            yield sentence


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


def check_estimate(said: AnswerSentence, rows: list[Row]) -> None:
    """Assert that a sentence of estimate without groups is true of the rows."""
    fields, name = said.fields, said.name
    if name in ("no-shared-task", "own-tasks-below"):
        sets = {frozenset(r["task"] for r in rows if r["model"] == m["model"]) for m in rows}
        assert len(sets) > 1
        return
    if name == "any-and-all-attempts":
        assert near(fields["at"], mean(rows, f"pass@{fields['k']}"))
        assert near(fields["hat"], mean(rows, f"pass^{fields['k']}"))
        return
    metric = fields["metric"]
    values = values_of(rows, metric)
    all_values = {
        m: mean([r for r in rows if r["model"] == m], metric) for m in {r["model"] for r in rows}
    }
    if name in ("estimate", "value-of-one"):
        (only,) = (m for m, value in all_values.items() if value is not None)
        assert fields["model"] == only
        assert math.isclose(fields["estimate"].value, float(all_values[only] or 0), abs_tol=1e-12)
    elif name == "no-value-of-any":
        assert all(value is None for value in all_values.values())
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
        rivals = values_of(rows, fields["other"])
        assert best(rivals) == {fields["other_model"]}
        assert near(fields["other_estimate"], rivals[fields["other_model"]])
        assert (name == "highest-at-both") == (fields["model"] == fields["other_model"])


@proves(
    "estimate", "highest", "highest-at-both", "highest-per-metric", "same-estimates",
    "several-highest", "own-tasks-below", "no-shared-task", "any-and-all-attempts",
    "many-highest", "same-estimates-of-all",
)  # fmt: skip
def test_what_estimate_says_of_models_is_true() -> Iterator[str]:
    draw = random.Random(57)
    # One model leads at the first metric, the other one at the second.
    passes = {"steady": (4, 4, 0, 0), "wide": (2, 2, 2, 1)}
    separate = [{"model": m, "task": str(t), "n": 4, "c": c}
             for m, own_values in passes.items() for t, c in enumerate(own_values)]  # fmt: skip
    equal = [[{"model": m, "task": "t", "n": 1, "c": int(m > least)} for m in "abcdef"]
             for least in "AAbb"]  # fmt: skip
    for rows in (separate, *equal, *(random_rows(draw) for _ in range(NUMBER))):
        metrics = (
            "pass@1,pass@2"
            if rows is separate
            else draw.choice(
                ["pass@1", "pass@1,pass@2", "pass@1,pass^2", "pass@2", "pass@1,pass@2,pass^2"]
            )
        )
        if max(row["n"] for row in rows) < 2:
            metrics = "pass@1"
        try:
            printed_text = list(sentences("estimate", rows, metrics=metrics))
        except passk_cli.PasskError:
            # No number has a value.
            continue
        for sentence in printed_text:
            check_estimate(sentence, rows)
            yield sentence.name


@proves("highest-in-groups", "highest-by-group", "no-leader-in-groups", "no-groups-ranked")
def test_what_estimate_says_of_groups_is_true() -> Iterator[str]:
    draw = random.Random(58)
    for number in range(NUMBER):
        rows = random_rows(draw, groups=draw.randint(2, 4))
        if number % 5 == 4:
            # No group has two models.
            rows = [row for row in rows if (row["model"] == "a") == (row["suite"] == "s0")]
        for sentence in sentences("estimate", rows, metrics="pass@1", by="suite"):
            suites = sorted({row["suite"] for row in rows})
            values = {s: values_of([r for r in rows if r["suite"] == s], "pass@1") for s in suites}
            ranked = {s: own_values for s, own_values in values.items() if len(own_values) > 1}
            leaders = {s: best(own) for s, own in ranked.items()}
            single = {s: next(iter(own)) for s, own in leaders.items() if len(own) == 1}
            if sentence.name == "highest-in-groups":
                assert {*single.values()} == {sentence.fields["model"]}
                assert len(single) == sentence.fields["ranked"] == len(ranked)
                assert sentence.fields["groups"] == len(suites)
            elif sentence.name == "highest-by-group":
                assert {text.split(" (")[0] for text in sentence.fields["leaders"]} == {
                    *single.values()
                }
                assert sentence.fields["shared"] == len(ranked) - len(single)
            elif sentence.name == "no-leader-in-groups":
                assert not single
            elif sentence.name == "no-groups-ranked":
                assert not ranked
            else:
                # One model: its range over groups is no rank. Or only one number has a value.
                assert sentence.name in (
                    "range-of-values",
                    "one-value",
                    "estimate",
                    "value-of-one",
                    "own-tasks-below",
                )
            yield sentence.name


Verdicts = dict[tuple[str, str], tuple[str, float]]


def verdicts(rows: list[Row], **options: Any) -> Verdicts:
    """(model, other) → verdict and difference, in both directions."""
    frame = passk_cli.compare(rows, **options).frame
    turned = {"better": "worse", "worse": "better"}
    actual = {}
    # A pair without a p has no test.
    tested = frame[(frame.metric == frame.metric[0]) & frame.p.notna()]
    for row in tested.to_dict("records"):
        actual[row["model"], row["against"]] = row["verdict"], row["estimate"]
        reverse = turned.get(row["verdict"], row["verdict"]), -row["estimate"]
        actual[row["against"], row["model"]] = reverse
    return actual


def skilled_rows(draw: random.Random, models: int, choices: str = "259") -> list[Row]:
    """Models of different skill on the same tasks: some pairs differ, some tie."""
    hard = [draw.random() for _ in range(30)]
    skills = [int(draw.choice(choices)) / 10 for _ in range(models)]
    return [
        {"model": f"m{m}", "task": f"t{t}", "n": 4,
         "c": sum(draw.random() < 0.7 * skill + 0.3 * ease for _ in range(4))}
        for m, skill in enumerate(skills) for t, ease in enumerate(hard)
    ]  # fmt: skip


def difference(rows: list[Row], model: str, other: str, metric: str) -> float:
    """The first model's mean minus the other one's, on the tasks that both have."""
    of_model = {m: [r for r in rows if r["model"] == m] for m in (model, other)}
    shared = set.intersection(
        *({r["task"] for r in own_values} for own_values in of_model.values())
    )
    means = [mean([r for r in of_model[m] if r["task"] in shared], metric) for m in (model, other)]
    return float((means[0] or 0) - (means[1] or 0))


def compared_rows(draw: random.Random, number: int) -> list[Row]:
    """Models that have the same tasks; or other tasks, so that some pairs share none or few."""
    if number % 4 == 0:
        # The second model has tasks with the first one and with the third one only.
        share = {"a": (0, 33 + draw.randint(0, 3)), "b": (30, 60), "c": (0, 60)}
        skills = {"a": 0.95, "b": 0.45, "c": 0.7}
        return [{"model": m, "task": f"t{t}", "n": 4,
                 "c": sum(draw.random() < skill for _ in range(4))}
                for m, skill in skills.items() for t in range(*share[m])]  # fmt: skip
    if number % 4 == 2:
        # As good as each other.
        return skilled_rows(draw, draw.choice([2, 3]), "5")
    rows = skilled_rows(draw, draw.choice([2, 3, 4, 6]))
    if number % 4 == 1:
        early = {row["task"] for row in rows if int(row["task"][1:]) < 15}
        rows = [r for r in rows if r["model"] > "m3" or (r["model"] < "m2") == (r["task"] in early)]
    return rows


@proves(
    "better", "worse", "tie", "equivalent", "leads", "leads-all-differ", "leads-ties-below",
    "pairs-that-differ", "tie-but-one", "tie-for-first", "all-tie",
    "comes-first",
)  # fmt: skip
def test_what_compare_says_is_true() -> Iterator[str]:
    """Verdicts are those of the rows of the same comparison, differences are computed anew."""
    draw = random.Random(59)
    for number in range(4 * NUMBER):
        rows = compared_rows(draw, number)
        options = {"metrics": "pass@1", "margin": draw.choice([0, 0, 0.3]), "resamples": 200}
        # Holm draws nothing.
        options |= {"adjust": "holm"} if number % 8 else {}
        try:
            printed_text, actual = (
                list(sentences("compare", rows, **options)),
                verdicts(rows, **options),
            )
        except passk_cli.PasskError:
            continue
        for sentence in printed_text:
            check_compare(sentence, rows, actual)
            yield sentence.name
        if printed_text and printed_text[0].name == "better":
            turned = passk_cli.compare(rows, baseline=printed_text[0].fields["model"], **options)
            check_compare(turned.report.answer[0], rows, actual)
            yield turned.report.answer[0].name


def check_compare(said: AnswerSentence, rows: list[Row], actual: Verdicts) -> None:
    """Assert that a sentence of compare without groups is true of the rows.

    found : (model, other) → verdict and difference, of the pairs that have a test.
    """
    fields, name = said.fields, said.name
    models = {model for model, _ in actual}
    significant = sum(verdict == "better" for verdict, _ in actual.values())
    beaten = {model for (model, _), (verdict, _) in actual.items() if verdict == "worse"}
    if name in ("better", "worse", "tie", "equivalent"):
        model, against = fields["model"], fields["against"]
        verdict, estimate = actual[model, against]
        assert verdict == {"tie": "tied"}.get(name, name)
        assert fields["difference"].value == pytest.approx(estimate)
        assert estimate == pytest.approx(difference(rows, model, against, fields["metric"]))
    elif name in ("leads", "leads-all-differ", "leads-ties-below"):
        model = fields["model"]
        own_values = {o: difference(rows, model, o, "pass@1") for m, o in actual if m == model}
        assert models - beaten == {model}
        assert all(actual[model, second][0] == "better" for second in own_values)
        assert fields["lead"].value == pytest.approx(min(own_values.values()))
        assert own_values[fields["second"]] == pytest.approx(min(own_values.values()))
        assert fields["ties"] == len(actual) // 2 - significant
        assert fields["rest"] == len(actual) // 2 - 1
    elif name in ("comes-first", "pairs-that-differ"):
        assert (fields["differ"], fields["pairs"]) == (significant, len(actual) // 2)
    elif name == "all-tie":
        assert not beaten
        assert fields["count"] == len(models)
    else:
        assert name in ("tie-but-one", "tie-for-first")
        assert len(models - beaten) == fields["count"] > 1
        assert len(fields["first"]) + fields["more"] == fields["count"]
        assert {*fields["first"]} <= models - beaten
        assert fields["rest"] == len(beaten)
        own_values = {r["model"]: [x for x in rows if x["model"] == r["model"]] for r in rows}
        rest = [float(mean(own_values[model], "pass@1") or 0) for model in beaten]
        assert fields["last"].value == pytest.approx(max(rest))


@proves("first-by-group", "ties-by-group", "against-baseline")
def test_what_compare_says_of_groups_and_of_a_baseline_is_true() -> Iterator[str]:
    draw = random.Random(61)
    for number in range(NUMBER):
        rows = [{**row, "suite": f"s{suite}", "task": f"{suite}-{row['task']}"}
                for suite in range(draw.randint(1, 3))
                for row in skilled_rows(draw, 2)]  # fmt: skip
        options = {"metrics": "pass@1", "by": "suite", "resamples": 500}
        frame = passk_cli.compare(rows, **options).frame
        won = frame[frame.verdict.isin(["better", "worse"])]
        first = [r.model if r.verdict == "better" else r.against for r in won.itertuples()]
        (sentence,) = list(sentences("compare", rows, **options))[:1]
        assert (sentence.fields["differ"], sentence.fields["pairs"]) == (len(won), len(frame))
        assert sentence.fields["groups"] == len({row["suite"] for row in rows})
        if sentence.name == "first-by-group":
            assert {text.split(" (")[0] for text in sentence.fields["leaders"]} == {*first}
            assert sentence.fields["ties"] == sentence.fields["groups"] - len(first)
        else:
            assert not first
        yield sentence.name
        if number < 5:
            yield from against_a_baseline(draw, 3 + number)


def against_a_baseline(draw: random.Random, models: int) -> Iterator[str]:
    """The best of several has no interval."""
    rows = skilled_rows(draw, models)
    options = {"metrics": "pass@1", "baseline": "m0", "resamples": 500}
    sentence, actual = next(sentences("compare", rows, **options)), verdicts(rows, **options)
    against = {m: difference(rows, m, "m0", "pass@1") for m, second in actual if second == "m0"}
    assert against[sentence.fields["best"]] == pytest.approx(max(against.values()))
    assert sentence.fields["difference"].value == pytest.approx(max(against.values()))
    assert sentence.fields["difference"].low is None
    counted = [v for (_, other), (v, _) in actual.items() if other == "m0"]
    assert all(sentence.fields[v] == counted.count(v) for v in ("better", "worse", "tied"))
    yield sentence.name


def crossing_rows(draw: random.Random, models: int = 2) -> list[Row]:
    """Models that are steady on some tasks, and others that pass each task sometimes."""
    level = draw.choice([12, 38])
    return [
        {"model": f"m{m}", "task": f"t{t}", "n": 8,
         "c": 8 * ((t * 7 + m) % 60 < level) if m % 2 == 0 else draw.choice([1, 2, 3, 4])}
        for m in range(models) for t in range(60)
    ]  # fmt: skip


@proves("order-reverses", "orders-reverse", "crossing", "second-crossing", "no-crossing")
def test_what_compare_says_of_reversals_and_crossings_is_true() -> Iterator[str]:
    draw = random.Random(62)
    for number in range(NUMBER):
        rows = crossing_rows(draw, draw.choice([2, 3, 4]))
        if number % 4 == 3:
            rows = skilled_rows(draw, 2)
        options = {"metrics": "pass@1,pass@8", "crossings": True, "resamples": 200}
        options["metrics"] = "pass@1,pass@8" if rows[0]["n"] == 8 else "pass@1,pass@4"
        frame = passk_cli.compare(rows, **options).frame
        turned = {(r.model, r.against): r.verdict for r in frame.itertuples() if r.k == 1}
        reversed_pairs = [
            r for r in frame.itertuples()
            if r.k > 1 and {r.verdict, turned[r.model, r.against]} == {"better", "worse"}
        ]  # fmt: skip
        for sentence in sentences("compare", rows, **options):
            fields = sentence.fields
            if sentence.name in ("order-reverses", "orders-reverse"):
                assert fields["pairs"] == len(reversed_pairs) > 0
                winner = {r.model if r.verdict == "better" else r.against for r in reversed_pairs}
                assert fields["better"] in winner
            elif sentence.name in ("crossing", "second-crossing"):
                k, pair = fields["k"], (fields["model"], fields["against"])
                gaps = [difference(rows, *pair, f"{fields['curve'][:-1]}{k}") for k in (k - 1, k)]
                assert gaps[0] <= 0 < gaps[1]
            elif sentence.name == "no-crossing":
                family = [difference(rows, "m0", "m1", f"pass@{k}")
                          for k in range(1, fields["most"] + 1)]  # fmt: skip
                assert min(family) >= 0 or max(family) <= 0
            yield sentence.name


@proves("changes-that-differ", "change-higher", "change-lower", "change-equivalent", "change-tied")
def test_what_compare_says_of_changes_is_true() -> Iterator[str]:
    draw = random.Random(63)
    for number in range(2 * NUMBER):
        rows = crossing_rows(draw, draw.choice([2, 2, 2, 3]))
        if number % 3:
            rows = skilled_rows(draw, 2)
        k = rows[0]["n"]
        options = {"metrics": f"pass@1,pass@{k}", "change": f"pass@1:pass@{k}", "resamples": 500,
                 "margin": draw.choice([0, 0.15])}  # fmt: skip
        frame = passk_cli.compare(rows, **options).frame
        frame = frame[frame.metric.str.contains(" − ") & frame.p.notna()]
        for sentence in sentences("compare", rows, **options):
            if not sentence.name.startswith("change"):
                continue
            if sentence.name == "changes-that-differ":
                significant = frame.verdict.isin(["higher", "lower"]).sum()
                assert (sentence.fields["differ"], sentence.fields["pairs"]) == (
                    significant,
                    len(frame),
                )
            else:
                (row,) = frame.itertuples()
                verdict = {"change-tied": "tied"}.get(
                    sentence.name, sentence.name.removeprefix("change-")
                )
                assert row.verdict == verdict
                own_values = [difference(rows, row.model, row.against, f"pass@{k}") for k in (1, k)]
                assert sentence.fields["difference"].value == pytest.approx(
                    own_values[1] - own_values[0]
                )
            yield sentence.name


@proves("no-task-with-attempts")
def test_models_whose_long_tasks_differ_are_not_ranked() -> Iterator[str]:
    draw = random.Random(65)
    for _ in range(NUMBER):
        rows = [{"model": m, "task": f"t{t}", "n": draw.choice([1, 2]), "c": 1}
                for m in "ab" for t in range(2)]  # fmt: skip
        enough = [{r["task"] for r in rows if r["model"] == m and r["n"] > 1} for m in "ab"]
        if all(enough):
            printed_text = list(sentences("estimate", rows, metrics="pass@2", short_tasks="drop"))
            names = [sentence.name for sentence in printed_text]
            assert ("no-task-with-attempts" in names) == (not enough[0] & enough[1])
            yield from names


@proves("highest-unsure")
def test_where_missing_outcomes_decide_all_that_may_lead_are_named() -> Iterator[str]:
    draw = random.Random(64)
    for _ in range(NUMBER):
        rows = [{"model": m, "task": f"t{t}", "passed": draw.choice([True, False, None])}
                for m in "abcd"[: draw.choice([2, 3, 4])] for t in range(4)]  # fmt: skip
        ends = {m: [sum(r["passed"] is True or (r["passed"] is None and fill) for r in rows
                        if r["model"] == m) / 4 for fill in (False, True)]
                for m in {row["model"] for row in rows}}  # fmt: skip
        least, most = (max(own_values[end] for own_values in ends.values()) for end in (0, 1))
        may = {model for model, (_, high) in ends.items() if high >= least}
        for sentence in sentences("estimate", rows, metrics="pass@1", missing="bounds"):
            if sentence.name == "highest-unsure":
                assert {*sentence.fields["models"]} == may
                estimate = sentence.fields["estimate"]
                assert (estimate.value, estimate.range_upper_end) == pytest.approx((least, most))
                assert len(may) > 1
            elif sentence.name == "highest":
                assert may == {sentence.fields["model"]}
            yield sentence.name


def test_every_sentence_has_one_name() -> None:
    """The registry refuses a second template of one name, so names in json are unambiguous."""
    assert all(name == answer.name for name, answer in ANSWERS.items())
    with pytest.raises(ValueError, match="two answers are named tie"):
        replace(TWO_MODEL_ANSWERS[-1], template="other words")
