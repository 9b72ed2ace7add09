"""What a report of extrapolations says beside its answer: caption and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from passk_cli.commands.extrapolate.prediction import Aim, Prediction, Refusal
from passk_cli.inference.futures import DOUBT as LAW_DOUBT
from passk_cli.inference.futures import EX_GAUSSIAN, HARD, WEIGHED
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.laws.smooth_tail import DOUBT
from passk_cli.message import Said
from passk_cli.report.model import Note
from passk_cli.report.words import first_few, span
from passk_cli.study.study import Study

# 95 % intervals on domains left out of the priors: `benchmarks/extrapolation.md`, part "domains".
# Failures were not tried.
_HELD = {
    "pass@k": ", whose 95 % intervals held 112 of 114 values in domains left out of its priors",
    "pass^k": "",
}
# So few tasks with a pass say little of the law.
_FEW_PASSED = 10
# Beyond this many times the attempts, what is predicted is mostly the shape of the law.
_FAR = 1000


def caption(study: Study, predictions: Sequence[Prediction], aim: Aim) -> Iterator[str]:
    """What was counted, and what each column is."""
    yield study.sizes(one.known for one in predictions)
    confidence = study.confidence
    population = (
        "new tasks" if confidence.population == NEW_TASKS else "these tasks as attempts go on"
    )
    clustered = f", clustered by {confidence.cluster}" if confidence.cluster else ""
    percent = f"{100 * confidence.level:g} % confidence intervals for {population}{clustered}"
    fits = {curve: aim.fit_of(curve.removesuffix("k")) for curve in aim.curves}
    for curve, fit in fits.items():
        head = f"{curve}: " if len(set(fits.values())) > 1 else ""
        if fit == EX_GAUSSIAN:
            text = f"{percent}, under the ex-Gaussian model{_HELD[curve]}"
        else:
            text = f"{percent}, {confidence.resamples:,} refits of {_of(fit)}"
        yield head + text
        if not head:
            break
    verbs = " or ".join("pass" if curve == "pass@k" else "fail" for curve in aim.curves)
    yield (
        "any rare tasks: confidence interval for every k beyond the attempts, however rarely"
        f" tasks {verbs}"
    )
    if aim.target is not None:
        yield (
            f"k for {aim.target:g}: beyond the attempts made, two digits; low, high: its"
            " confidence interval"
        )
    known, few = zip(*((one.ahead.known, one.ahead.few) for one in predictions), strict=True)
    yield (
        f"backtest: k = {span(min(known), max(known))} predicted from {span(min(few), max(few))}"
        " attempts, minus the measured value"
    )
    if EX_GAUSSIAN in fits.values():
        yield "misfit above its limit: the counts contradict this spread of success rates"
    if WEIGHED in fits.values():
        yield "fit: the one with the largest weight"


def _of(fit: str) -> str:
    return "each fit" if fit == WEIGHED else fit


def notes(
    predictions: Sequence[Prediction], refusals: Sequence[Refusal], aim: Aim
) -> Iterator[Said]:
    """Where the predictions are not to be trusted, worst first, and what they rest on."""
    for reason in dict.fromkeys(one.reason for one in refusals):
        names = _names(one for one in refusals if one.reason == reason)
        yield Note(f"{names}: no prediction: {reason}", "warning")
    yield from _contradicted(predictions)
    fits = {curve: aim.fit_of(curve.removesuffix("k")) for curve in aim.curves}
    yield from _doubtful(fits)
    far = _names(one for one in predictions if max(aim.ks) > _FAR * one.ahead.known)
    if far:
        yield Note(
            f"{far}: k goes beyond {_FAR:,} times the attempts; there the prediction follows the"
            " shape of the law more than the data",
            "warning",
        )
    few = _names(
        one
        for one in predictions
        if aim.fit_of(one.family) == EX_GAUSSIAN
        and one.family == "pass@"
        and 0 < len(one.rates.n) - one.open < _FEW_PASSED
    )
    if few:
        yield Note(
            f"{few}: fewer than {_FEW_PASSED} tasks have passed; the prediction follows published"
            " data sets more than these counts"
        )
    settled = _names(one for one in predictions if not one.open)
    if settled:
        yield Note(
            f"{settled}: every task has passed (pass^k: failed) at least once; beyond k = n the"
            " estimate is at its bound, and the interval shows what so many tasks allow"
        )
    yield from _partial(predictions)
    for curve, fit in fits.items():
        yield from _assumed(curve, fit)


def _names(series: Iterable[Prediction | Refusal]) -> str:
    """Whose they are, each once; nothing where there are none."""
    return first_few(list(dict.fromkeys(one.rates.name for one in series)))


def _contradicted(predictions: Sequence[Prediction]) -> Iterator[Said]:
    """Series whose counts speak against the law."""
    for both in (True, False):
        misfits = {
            one.rates.name: one.ahead.misfit
            for one in predictions
            if one.ahead.misfit and one.contradicted and bool(one.ahead.law) == both
        }
        if misfits:
            worst = max(misfits.values(), key=lambda misfit: misfit.excess)
            largest = "largest " * (len(misfits) > 1)
            cure = f": estimate of --fit {WEIGHED}, interval of both fits" if both else ""
            yield Note(
                f"{first_few(list(misfits))}: success rates contradict the ex-Gaussian model"
                f" ({largest}misfit {worst.excess:.1f}, limit {worst.limit:.1f}){cure}",
                "warning",
            )


def _doubtful(fits: Mapping[str, str]) -> Iterator[Said]:
    """Fits whose intervals are not to be relied on."""
    for curve, fit in fits.items():
        if fit == EX_GAUSSIAN and curve == "pass^k":
            yield Note(
                f"--fit {EX_GAUSSIAN} of pass^k: published data sets show how rare passes are, not"
                f" how rare failures are; its intervals hold too seldom; --fit {WEIGHED} is better",
                "warning",
            )
        elif fit not in (EX_GAUSSIAN, WEIGHED, "smooth"):
            yield Note(
                f"--fit {fit}: the intervals hold only if success rates follow this law", "warning"
            )


def _partial(predictions: Sequence[Prediction]) -> Iterator[Said]:
    """What single series lack: fits, and tasks with as many attempts as the others."""
    for curve in dict.fromkeys(f"{one.family}k" for one in predictions):
        there = [one for one in predictions if f"{one.family}k" == curve]
        for fits in dict.fromkeys(one.ahead.left_out for one in there if one.ahead.left_out):
            names = _names(one for one in there if one.ahead.left_out == fits)
            yield Note(
                f"{names}: without the fits {', '.join(fits)}: {curve} is 0 or 1 at all but one k"
            )
    short = {
        one.rates.name: (int((one.rates.n < one.ahead.known).sum()), len(one.rates.n))
        for one in predictions
    }
    texts = [f"{name}: {count:,} of {of:,}" for name, (count, of) in short.items() if count]
    if texts:
        yield Note(
            f"tasks with fewer attempts than the k that is predicted from ({first_few(texts)}):"
            " they are extrapolated from their own attempts, and the backtest leaves them out"
        )


def _assumed(curve: str, fit: str) -> Iterator[Said]:
    """What the intervals take into account."""
    never = "passed" if curve == "pass@k" else "failed"
    if fit == EX_GAUSSIAN:
        yield Note(
            f"{curve}: the law is fitted to the tasks with at most {HARD} {_passes(curve)} and to"
            " the number of the others; the interval allows for a lighter tail of hard tasks, and"
            f" {100 * LAW_DOUBT:.0f} % of its draws assume that some tasks that never {never} never"
            " will"
        )
    elif fit in (WEIGHED, "smooth"):
        others = "the choice of the fit, " if fit == WEIGHED else ""
        yield Note(
            f"{curve}: the intervals allow for the choice of tasks, the error of each fit,"
            f" {others}and tasks that never {never} and never will ({100 * DOUBT:.0f} % of the"
            " smooth fits assume some, as data cannot rule them out)"
        )


def _passes(curve: str) -> str:
    return "passes" if curve == "pass@k" else "failures"
