"""What a report of extrapolations says in words: caption and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from passk_cli.commands.extrapolate.prediction import Aim, Prediction, Refusal
from passk_cli.inference.futures import DOUBT as LAW_DOUBT
from passk_cli.inference.futures import EX_GAUSSIAN, HARD, WEIGHED
from passk_cli.inference.populations import NEW_TASKS
from passk_cli.laws.smooth_tail import DOUBT
from passk_cli.report.model import Note
from passk_cli.report.words import first_few, plural, span
from passk_cli.study.study import Study

# Beyond this many times the attempts, what is predicted is mostly the shape of the models.
_FAR = 1000


def caption(study: Study, predictions: Sequence[Prediction], aim: Aim) -> Iterator[str]:
    """What was counted, the two intervals, and what the backtest is."""
    yield study.sizes(one.known for one in predictions)
    confidence = study.confidence
    population = (
        "new tasks" if confidence.population == NEW_TASKS else "these tasks as attempts go on"
    )
    clustered = f", clustered by {confidence.cluster}" if confidence.cluster else ""
    percent = f"{100 * confidence.level:g} % intervals for {population}{clustered}"
    fits = {curve: aim.fit_of(curve.removesuffix("k")) for curve in aim.curves}
    for curve, fit in fits.items():
        head = f"{curve}: " if len(set(fits.values())) > 1 else ""
        if fit == EX_GAUSSIAN:
            text = f"{percent}, if success rates are spread as in the published data sets"
        else:
            text = f"{percent}, {confidence.resamples:,} refits of {_of(fit)}"
        yield head + text
        if not head:
            break
    yield "any rare tasks: the interval beyond k = n whatever the rare tasks are"
    known, few = zip(*((one.ahead.known, one.ahead.few) for one in predictions), strict=True)
    yield (
        f"backtest: k = {span(min(known), max(known))} predicted from {span(min(few), max(few))}"
        " attempts, minus what was seen"
    )


def _of(fit: str) -> str:
    return "each model" if fit == WEIGHED else fit


def notes(
    predictions: Sequence[Prediction], refusals: Sequence[Refusal], aim: Aim
) -> Iterator[Note]:
    """What the predictions rest on, and where they are not to be trusted."""
    for reason in dict.fromkeys(one.reason for one in refusals):
        names = _names(one for one in refusals if one.reason == reason)
        yield Note(f"{names}: no prediction: {reason}", "warning")
    for one in predictions:
        yield from _own_notes(one, max(aim.ks))
    settled = _names(one for one in predictions if not one.open)
    if settled:
        yield Note(
            f"{settled}: no task is left whose outcome is open; beyond k = n the estimate is at its"
            " bound, and the interval says what the number of tasks allows"
        )
    for curve in aim.curves:
        yield from _of_intervals(curve, aim.fit_of(curve.removesuffix("k")))


def _names(series: Iterable[Prediction | Refusal]) -> str:
    """Whose they are, each once; nothing where there are none."""
    return first_few(list(dict.fromkeys(one.rates.name for one in series)))


def _own_notes(one: Prediction, farthest: int) -> Iterator[Note]:
    """What is special about one series."""
    name, known, n = one.rates.name, one.ahead.known, one.rates.n
    if one.ahead.left_out:
        yield Note(
            f"{name}: without {', '.join(one.ahead.left_out)}, which cannot be fitted:"
            f" {one.family}k is 0 or 1 at all but one k"
        )
    misfit = one.ahead.misfit
    if misfit is not None and misfit.fails:
        yield Note(
            f"{name}: success rates are not spread as in the published data sets (misfit"
            f" {misfit.excess:.1f}, limit {misfit.limit:.1f})"
            + (f": estimate of --fit {WEIGHED}, interval of both" if one.ahead.law else ""),
            "warning",
        )
    short = int((n < known).sum())
    if short:
        yield Note(
            f"{name}: {plural(short, 'task')} of {len(n):,} with fewer than {known} attempts:"
            " continued by the models as the others are beyond theirs, and not in the backtest"
        )
    if farthest > _FAR * known:
        yield Note(
            f"{name}: k goes beyond {_FAR:,} times the attempts; there the models' shapes speak"
            " more than the data",
            "warning",
        )


def _of_intervals(curve: str, fit: str) -> Iterator[Note]:
    """What the intervals hold."""
    if fit == EX_GAUSSIAN:
        if curve == "pass^k":
            yield Note(
                "--fit ex-gaussian: published data sets say how rare passes are spread, not how"
                " rare failures are; its intervals of pass^k hold too seldom",
                "warning",
            )
        yield Note(
            f"{curve}, ex-gaussian: the law is fitted to tasks with at most {HARD} passes and to"
            f" the number of the others; in {100 * LAW_DOUBT:.0f} % of its draws, some tasks that"
            " never passed (pass^k: never failed) never will"
        )
        return
    if fit not in (WEIGHED, "smooth"):
        yield Note(f"--fit {fit}: the intervals hold only as far as this model does", "warning")
        return
    others = "the choice between models, " if fit == WEIGHED else ""
    yield Note(
        f"{curve}, {fit}: the intervals hold the noise of fits and tasks, {others}and"
        f" {100 * DOUBT:.0f} % of smooth fits in which some tasks that never passed (pass^k: never"
        " failed) never will: no data can refute them"
    )
