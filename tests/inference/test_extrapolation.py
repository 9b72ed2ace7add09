"""Extrapolation: what it must equal, laws, refusals, and a short simulation of its intervals."""

from __future__ import annotations

import csv
import gzip
from fractions import Fraction
from functools import cache, partial
from itertools import combinations
from math import comb

import numpy as np
import pytest

from passk_cli.errors import ParameterError
from passk_cli.inference.extrapolation import (
    Extrapolation,
    extrapolate,
    largest_known,
    refusal,
)
from passk_cli.inference.futures import EX_GAUSSIAN, FITS, HARD, MODELS, WEIGHED, Doubted
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.inference.projection import Weighed
from passk_cli.laws import beta_binomial
from passk_cli.laws.ex_gaussian import posterior
from passk_cli.metrics.pass_k import at_pairs, hat_pairs
from tests.conftest import ROOT, long

# Tried by .ci/run after the others.
pytestmark = pytest.mark.long

FEW = 100
KS = [1, 5, 20, 40, 100, 1_000, 10**6]


def attempts(
    seed: int = 0, tasks: int = 80, a: float = 0.4, b: float = 2.0, n: int = 40
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = np.full(tasks, n)
    return sizes, rng.binomial(sizes, rng.beta(a, b, tasks))


@cache
def by_fit(fit: str, mirrored: bool = False) -> Extrapolation:
    """What a fit says of these attempts, computed once."""
    return extrapolate(*attempts(), KS, resamples=FEW, mirrored=mirrored, fit=fit)


@pytest.fixture
def weighed() -> Extrapolation:
    return by_fit(WEIGHED)


@pytest.fixture(scope="module", params=[EX_GAUSSIAN, WEIGHED])
def found(request: pytest.FixtureRequest) -> Extrapolation:
    """The law draws without refits, so it has the draws for smooth quantiles."""
    if request.param != EX_GAUSSIAN:
        return by_fit(request.param)
    return extrapolate(*attempts(), KS, resamples=4_000, fit=EX_GAUSSIAN)


def test_within_the_attempts_it_is_the_unbiased_estimate(found: Extrapolation) -> None:
    n, c = attempts()
    for k in (1, 5, 20, 40):
        assert found.at(k)[0] == pytest.approx(at_pairs(n, c, k).mean(), abs=1e-12)
        for m in found.models:
            assert m.values[KS.index(k)] == pytest.approx(at_pairs(n, c, k).mean(), abs=1e-12)


def test_curves_rise_inside_their_limits_and_limits_part(found: Extrapolation) -> None:
    for values in (found.values, found.low, found.high, *(m.values for m in found.models)):
        assert np.all(np.diff(values) >= -1e-9)
        assert values[0] >= 0
        assert values[-1] <= 1
    assert np.all((found.low <= found.values) & (found.values <= found.high))
    # Near 1 all widths shrink; as factors of what is left unsolved they grow with distance.
    left = 1 - found.values
    beyond = [KS.index(k) for k in (40, 100, 1_000, 10**6)]
    assert np.all(np.diff(((1 - found.low) / left)[beyond]) > 0)
    assert np.all(np.diff((np.maximum(1 - found.high, 0) / left)[beyond]) <= 1e-9)
    # However far, the lower limit allows that many of the unsolved tasks are never solved.
    assert found.low[-1] < found.at(40)[0] + 0.6 * (1 - found.at(40)[0])


def test_the_estimate_is_the_weighted_mean_of_its_models(weighed: Extrapolation) -> None:
    found = weighed
    assert sum(m.weight for m in found.models) == pytest.approx(1.0)
    mean = sum(m.weight * m.values for m in found.models)
    np.testing.assert_allclose(found.values, mean)
    assert found.error == pytest.approx(sum(m.weight * m.error for m in found.models))
    assert {m.name for m in found.models} == set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_one_model_alone_says_what_it_says_among_others(weighed: Extrapolation, name: str) -> None:
    found = weighed
    alone = by_fit(name)
    among = next(m for m in found.models if m.name == name)
    np.testing.assert_array_equal(alone.values, among.values)
    assert alone.models[0].error == among.error
    assert alone.models[0].weight == 1.0


@pytest.mark.parametrize("fit", [EX_GAUSSIAN, WEIGHED])
def test_failures_are_the_mirror(fit: str) -> None:
    n, c = attempts()
    hat = by_fit(fit, mirrored=True)
    at = extrapolate(n, n - c, KS, resamples=FEW, fit=fit)
    np.testing.assert_allclose(hat.values, 1 - at.values)
    np.testing.assert_allclose(hat.low, 1 - at.high)
    np.testing.assert_allclose(hat.high, 1 - at.low)
    assert hat.error == pytest.approx(-at.error)
    assert hat.at(20)[0] == pytest.approx(hat_pairs(n, c, 20).mean())


def test_draws_have_names(weighed: Extrapolation) -> None:
    found = weighed
    again = extrapolate(*attempts(), KS, resamples=FEW, fit=WEIGHED)
    np.testing.assert_array_equal(found.low, again.low)
    n, c = attempts()
    order = np.random.default_rng(1).permutation(len(n))
    shuffled = extrapolate(n[order], c[order], KS, resamples=FEW, fit=WEIGHED)
    np.testing.assert_array_equal(found.high, shuffled.high)
    other = extrapolate(*attempts(), KS, resamples=FEW, seed=1, fit=WEIGHED)
    # Weights rest on how the backtest's refits scatter, and with them the estimate, a little.
    np.testing.assert_allclose(found.values, other.values, atol=1e-3)
    assert not np.array_equal(found.low, other.low)


def test_a_doubt_keeps_a_share_of_those_open_for_good() -> None:
    """Q(k) / Q(n) becomes v + (1 − v) Q(k) / Q(n); so does its mean over v, by the mean of v."""
    c, tasks = np.arange(4), np.array([30.0, 9, 4, 20])
    law = posterior(np.full(4, 50), c, tasks, most=2)
    plain = np.divide(*law.failure([5_000, 50]).T)
    for v in (0.0, 0.3, 0.99):
        curve = Doubted(law, 50, np.full(len(plain), v)).failure([50, 5_000])
        np.testing.assert_allclose(curve[:, 1] / curve[:, 0], v + (1 - v) * plain)
    n, c = attempts(n=100)
    found = extrapolate(n, c, [10**9], resamples=2_000)
    # A draw in 20 doubts, half of these keep more than half: 0.025 of all, the lower limit.
    solved = (c > 0).mean()
    assert found.low[0] <= 0.5 * (1 + solved) + 0.01


def test_easy_tasks_do_not_move_what_is_predicted() -> None:
    """Only how many they are counts, not how often they pass."""
    n, c = attempts(tasks=120)
    easy = c > HARD
    moved = np.where(easy, np.where(np.arange(120) % 2, 3, 40), c)
    at, other = (extrapolate(n, some, [40, 4_000], resamples=FEW) for some in (c, moved))
    law, same = (one.law or one for one in (at, other))
    np.testing.assert_allclose(law.values[1], same.values[1])
    assert at.misfit is not None
    assert other.misfit is not None
    assert other.misfit.excess > at.misfit.excess


def test_the_laws_estimate_has_no_draws_in_it() -> None:
    found = by_fit(EX_GAUSSIAN)
    law = partial(extrapolate, *attempts(), KS, resamples=FEW, fit=EX_GAUSSIAN)
    again, other = (law(seed=seed) for seed in (0, 1))
    np.testing.assert_array_equal(found.values, other.values)
    assert not np.array_equal(found.low, other.low)
    np.testing.assert_array_equal(found.low, again.low)


def test_unequal_attempts_by_hand() -> None:
    """Solved tasks count as solved beyond n, others fail on with Q(k) / Q(n), n ≥ k by counting."""
    rng = np.random.default_rng(2)
    n = rng.choice([20, 30, 60], 50)
    c = rng.binomial(n, rng.beta(0.4, 2, 50))
    k = 45
    found = extrapolate(n, c, [k], resamples=FEW, fit="beta")
    law = beta_binomial.fit(n, c, np.ones((1, 50)))
    by_hand = []
    for size, passes in zip(n.tolist(), c.tolist(), strict=True):
        if size >= k:
            by_hand.append(1 - comb(size - passes, k) / comb(size, k))
        elif passes:
            by_hand.append(1.0)
        else:
            by_hand.append(1 - law.failure([k])[0, 0] / law.failure([size])[0, 0])
    assert found.at(k)[0] == pytest.approx(np.mean(by_hand), abs=1e-5)
    assert found.known == 20


def test_few_attempts_are_averaged_over_all_choices() -> None:
    n, c = np.array([6, 6, 5, 4]), np.array([2, 0, 5, 1])
    tasks = Weighed.of(n, c, None, 3, np.random.default_rng(0))
    few = tasks.few(5, 3)
    expected = [Fraction(0)] * 4
    for size, passes in ((6, 2), (6, 0), (5, 5)):  # the task with four attempts is left out
        outcomes = [1] * passes + [0] * (size - passes)
        chosen = list(combinations(outcomes, 3))
        for one in chosen:
            expected[sum(one)] += Fraction(1, len(chosen))
    np.testing.assert_allclose(few.once[0], [float(e) for e in expected], atol=1e-12)
    assert few.again.sum(axis=1) == pytest.approx(tasks.again[:, tasks.n >= 5].sum(axis=1))
    once, again = tasks.failed(np.array([1, 5]), 5)
    # Of six attempts of which two pass, five hold one.
    assert once[0] == pytest.approx([(4 / 6 + 1 + 0) / 3, (0 + 1 + 0) / 3])
    assert again.shape == (3, 2)


def test_these_tasks_only_wait_for_the_unsolved() -> None:
    n, c = attempts()
    found = extrapolate(n, c, KS, resamples=FEW, population=THESE_TASKS)
    solved = float((c > 0).mean())
    assert found.at(40) == pytest.approx((solved, solved, solved))
    assert found.low[-1] >= solved
    lattice = found.low[KS.index(100) :] * len(n)
    np.testing.assert_allclose(lattice, lattice.round(), atol=1e-9)
    wider = extrapolate(n, c, KS, resamples=FEW)
    # Farther out what is not known of the law, which both hold, outweighs the noise of tasks.
    at = KS.index(100)
    assert found.high[at] - found.low[at] < wider.high[at] - wider.low[at]


@pytest.mark.long
def test_clusters_are_drawn_whole() -> None:
    n, c = attempts(tasks=60)
    twelve = np.repeat(np.arange(12), 5)
    order = np.argsort(c)  # alike tasks share a cluster
    alone = extrapolate(n[order], c[order], [40], resamples=400)
    together = extrapolate(n[order], c[order], [40], resamples=400, clusters=twelve)
    assert together.at(40)[0] == pytest.approx(alone.at(40)[0])
    assert together.high[0] - together.low[0] > 1.3 * (alone.high[0] - alone.low[0])


def test_clusters_say_as_much_as_fewer_tasks() -> None:
    """The estimate is the same; draws and the check are those of what the clusters are worth."""
    n, c = attempts(tasks=120)
    tasks = Weighed.of(n, c, np.repeat(np.arange(24), 5), 3, np.random.default_rng(0))
    assert tasks.worth == pytest.approx(1 / 5)
    uneven = np.r_[np.zeros(60, int), np.arange(1, 61)]
    assert Weighed.of(n, c, uneven, 3, np.random.default_rng(0)).worth == pytest.approx(120 / 3660)
    law = partial(extrapolate, n, c, [1_000], resamples=400, fit=EX_GAUSSIAN)
    alone, together = law(), law(clusters=np.repeat(np.arange(24), 5))
    assert together.values == pytest.approx(alone.values)
    assert together.high[0] - together.low[0] > 1.2 * (alone.high[0] - alone.low[0])
    assert alone.misfit is not None
    assert together.misfit is not None
    assert together.misfit.excess == pytest.approx(alone.misfit.excess / 5)


def test_nothing_left_open() -> None:
    """Every task solved: nothing is predicted but 1, and the limit is that of so many tasks."""
    n = np.full(40, 20)
    c = np.random.default_rng(0).integers(1, 20, 40)
    found = extrapolate(n, c, [20, 500], resamples=400)
    assert found.at(500)[0] == pytest.approx(1.0)
    assert 0.9 < found.low[1] < 0.99
    assert found.high[1] == pytest.approx(1.0)


def test_lines_that_cannot_be_laid_are_left_out() -> None:
    n = np.full(30, 5)
    c = np.r_[np.full(15, 5), np.full(14, 0), 1]  # pass@k strictly between 0 and 1 at every k
    assert extrapolate(n, c, [50], resamples=FEW, fit=WEIGHED).left_out == ()
    solved = np.random.default_rng(0).integers(4, 6, 30)  # pass@2 is 1 already
    found = extrapolate(n, solved, [50], resamples=FEW, fit=WEIGHED)
    assert found.left_out == ("power", "log-logit")
    with pytest.raises(ValueError, match="log-logit cannot be fitted"):
        extrapolate(n, solved, [50], resamples=FEW, fit="log-logit")


@pytest.mark.parametrize(
    ("n", "c", "reason"),
    [
        ([20] * 9, [3] * 9, "9 tasks are too few"),
        (
            [4] * 20,
            [1] * 20,
            "4 attempts per task are too few to fit a distribution of success rates;",
        ),
        ([20] * 17 + [3] * 3, [2] * 20, "more than one task in ten has fewer than 5 attempts"),
        ([20] * 20, [0] * 20, "no attempt passed"),
        ([20] * 20, [20] * 20, "every attempt passed"),
        ([20] * 20, [0, 20] * 10, "passes always or never"),
        ([1] * 10 + [30] * 40, [1] * 10 + [0] * 40, "sampling seems to have stopped"),
        ([20] * 20, [3] * 20, ""),
    ],
)
def test_refusals(n: list[int], c: list[int], reason: str) -> None:
    told = refusal(np.array(n), np.array(c))
    assert reason in told
    assert bool(told) == bool(reason)
    if reason:
        with pytest.raises(ValueError, match=told[:20]):
            extrapolate(np.array(n), np.array(c), [100])


def test_unknown_model() -> None:
    with pytest.raises(
        ParameterError, match="--fit gamma: no such law; there are ex-gaussian, weighed, smooth"
    ):
        extrapolate(*attempts(), KS, fit="gamma")


@pytest.mark.parametrize("fit", FITS)
def test_every_fit_can_be_asked_for(fit: str) -> None:
    found = by_fit(fit)
    assert (found.misfit is not None) == (fit == EX_GAUSSIAN)
    assert np.all((found.low <= found.values) & (found.values <= found.high))


def test_largest_known_is_had_by_nine_in_ten() -> None:
    assert largest_known(np.array([10] * 9 + [2])) == 10
    assert largest_known(np.array([10] * 8 + [2] * 2)) == 2
    assert largest_known(np.full(7, 33)) == 33


def test_reach_lies_between_the_ks() -> None:
    ks = np.array([1, 10, 100, 1000])
    rising = np.array([0.2, 0.4, 0.8, 0.9])
    found = Extrapolation(ks, rising, rising - 0.1, rising + 0.05, 10, 4, ())
    reach = found.reach(0.6)
    assert reach.k == pytest.approx(10**1.5)
    assert reach.low == pytest.approx(10 ** (1 + 0.15 / 0.4))
    assert reach.high == pytest.approx(10 ** (1 + 0.3 / 0.4))
    assert found.reach(0.1) == found.reach(0.1)
    assert found.reach(0.1).k == 1
    assert (found.reach(0.92).k, found.reach(0.92).high) == (None, None)
    assert found.reach(0.92).low == pytest.approx(10**2.7)
    falling = Extrapolation(ks, 1 - rising, 0.9 - rising, 1.05 - rising, 10, 4, ())
    down = falling.reach(0.4, falling=True)
    assert down.k == pytest.approx(10**1.5)
    assert down.low is not None
    assert down.high is not None
    assert down.low < down.k < down.high
    assert falling.reach(0.95, falling=True).k == 0
    assert falling.reach(0.05, falling=True).k is None


def test_a_model_that_does_not_follow_the_counts_has_no_say() -> None:
    """A beta law between two lumps of rates passes the backtest, but not what k ≤ n shows."""
    rng = np.random.default_rng(1)
    n = np.full(300, 100)
    rates = 1 / (1 + np.exp(-np.where(np.arange(300) % 2, rng.normal(2, 1.5, 300),
                                      rng.normal(-6, 1.5, 300))))  # fmt: skip
    c = rng.binomial(n, rates)
    found = extrapolate(n, c, [10_000], resamples=FEW, fit=WEIGHED)
    others = {m.name: m for m in found.models if m.name != "smooth"}
    assert sum(m.weight for m in others.values()) < 0.01
    assert others["beta"].misfit > 9
    assert found.low[0] <= 0.99 <= found.high[0]
    both = extrapolate(n, c, [10_000], resamples=FEW, fit=EX_GAUSSIAN)
    assert both.misfit is not None
    assert both.misfit.fails
    assert both.weighed is not None
    assert both.law is not None
    assert both.at(10_000) == (
        found.at(10_000)[0],
        min(both.law.low[0], found.low[0]),
        max(both.law.high[0], found.high[0]),
    )
    np.testing.assert_array_equal(both.weighed.low, found.low)


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_default_is_the_law_and_for_failures_the_weighed_models(mirrored: bool) -> None:
    found = extrapolate(*attempts(), KS, resamples=FEW, mirrored=mirrored)
    fit = WEIGHED if mirrored else EX_GAUSSIAN
    asked = by_fit(fit, mirrored)
    assert (found.misfit is None) == mirrored
    np.testing.assert_array_equal(found.low, asked.low)


def test_the_backtest_speaks_against_the_log_logit_line() -> None:
    """Its article's families apart, pass@k bends: 100 tasks and 100 attempts suffice to see it."""
    n, c = attempts(3, tasks=200, a=0.1, b=3, n=100)
    found = extrapolate(n, c, [10_000], resamples=FEW, fit=WEIGHED)
    line = next(m for m in found.models if m.name == "log-logit")
    smooth = next(m for m in found.models if m.name == "smooth")
    assert line.error > 3 * line.error_sd
    assert line.misfit > 9
    assert line.weight < 0.01
    assert abs(smooth.error) < 2 * smooth.error_sd
    true = 0.563
    assert abs(found.at(10_000)[0] - true) < abs(line.values[0] - true) / 2


@pytest.mark.parametrize("experiment", ["short", "med", "long"])
def test_real_counts_of_a_thousand_attempts(experiment: str) -> None:
    """100 of the 1,000 attempts at 397 puzzles predict how many all of them solve."""
    with gzip.open(ROOT / "tests" / "data" / "p3" / "counts.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["model"].endswith(experiment)]
    n, c = (np.array([int(row[name]) for row in rows]) for name in ("n", "c"))
    assert (len(n), set(n.tolist())) == (397, {1_000})
    some = np.random.default_rng(0).hypergeometric(c, n - c, 100)
    found = extrapolate(np.full(397, 100), some, [100, 1_000], resamples=1_000)
    value, low, high = found.at(1_000)
    solved = float((c > 0).mean())
    assert abs(value - solved) < 0.08
    assert low <= solved <= high
    assert high - low < 0.22


@pytest.mark.long
@pytest.mark.parametrize(
    ("never", "a", "b", "true"),
    [(0.1, 0.3, 1.0, 0.849), *long((0.0, 0.2, 2.0, 0.826), (0.0, 1.0, 20.0, 0.998))],
)
def test_intervals_hold(never: float, a: float, b: float, true: float) -> None:
    """n = 100 → k = 10,000; the full simulation is benchmarks/extrapolation.md."""
    held, errors = 0, []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = np.full(164, 100)
        rates = np.where(rng.random(164) < never, 0.0, rng.beta(a, b, 164))
        found = extrapolate(n, rng.binomial(n, rates), [10_000], resamples=FEW, seed=seed)
        value, low, high = found.at(10_000)
        held += low <= true <= high + 5e-4
        errors.append(abs(value - true))
    assert held >= 3
    assert np.median(errors) < 0.07


@pytest.mark.long
@pytest.mark.parametrize(("mean", "sd", "true"), [(-4.0, 2.5, 0.9826), (-2.0, 3.0, 0.9925)])
def test_intervals_hold_where_hardness_has_no_tail(mean: float, sd: float, true: float) -> None:
    """Log odds of the rates are normal; rates of jailbreaks are near to that."""
    held = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, 7])
        n = np.full(159, 60)
        c = rng.binomial(n, 1 / (1 + np.exp(-rng.normal(mean, sd, 159))))
        _, low, high = extrapolate(n, c, [10_000], resamples=400, seed=seed).at(10_000)
        held += low <= true <= high
    assert held >= 5
