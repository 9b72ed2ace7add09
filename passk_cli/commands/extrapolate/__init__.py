"""passk extrapolate: pass@k and pass^k beyond the attempts there are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import Request
from passk_cli.limits import MOST_REFITS, whole_number
from passk_cli.option import Option, split
from passk_cli.study.confidence import Confidence

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study

CURVES = ("pass@k", "pass^k")
# By how much a prediction goes beyond the attempts when no k is named.
_TIMES = 10


def parse_to(given: Any) -> tuple[int, ...]:
    """k's, increasing, from numbers or texts as "100,1000"; ParameterError for anything else."""
    text = ",".join(map(str, given))
    return tuple(sorted({whole_number(f"--to {text}: k", part) for part in text.split(",")}))


def parse_target(given: Any) -> float:
    """A number between 0 and 1, which are themselves never reached."""
    target = float(given)
    if not 0 < target < 1:
        raise ParameterError(f"--target {target:g} must lie between 0 and 1, as 0.9 does")
    return target


def parse_curves(given: Any) -> tuple[str, ...]:
    """pass@k, pass^k or both, from their names; pass@k where none is named.

    >>> parse_curves(["pass^k, pass@k"]), parse_curves([","])
    (('pass^k', 'pass@k'), ('pass@k',))
    """
    names = split(given)
    for name in names:
        if name not in CURVES:
            raise ParameterError(
                f"-m {name}: pass@k and pass^k can be extrapolated", name="unknown-metric"
            )
    return names or CURVES[:1]


def models() -> tuple[str, ...]:
    """The laws that can be fitted to the attempts."""
    from passk_cli.inference.futures import FITS

    return FITS


@dataclass(frozen=True)
class Extrapolate(Question):
    """pass@k beyond the attempts made; the k for a target.

    Fits a distribution of task difficulty to the counts and predicts pass@k at larger k, with an
    interval under that fit and an assumption-free bound.

    Example: passk extrapolate sample_data/counts.csv --to 100,1000 --target 0.5

    Example: passk extrapolate sample_data/counts.csv --to 100 --fit beta -m pass@k,pass^k
    """

    unbounded: ClassVar[str] = (
        "pass@k beyond the attempts made need not lie between the fits with all missing"
        " outcomes failing and with all passing"
    )

    # fmt: off
    to: Annotated[tuple[int, ...], Option(
        "--to", "100,1000", "Predict at these k.", parse=parse_to,
        detail="Default: 10 times the attempts there are.",
    )] = ()
    target: Annotated[float | None, Option(
        "--target", "P", "Find the k at which pass@k reaches P, as 0.9.", parse=parse_target,
    )] = None
    curves: Annotated[tuple[str, ...], Option(
        "-m --metric", "pass@k,pass^k", "pass@k, pass^k or both. Default: pass@k.",
        parse=parse_curves,
    )] = CURVES[:1]
    fit: Annotated[str | None, Option(
        "--fit", "NAME",
        "Law to fit: ex-gaussian (default), smooth, beta, beta+0, beta+0+1, power, log-logit;"
        " weighed (default for pass^k): all but the first.",
        choices=models,
        detail="ex-gaussian has priors from published data sets, and its interval allows for a"
        " lighter tail of hard tasks; where the counts contradict it, the estimate is that of"
        " weighed, and the interval holds both fits. weighed: smooth has two thirds of the weight"
        " or more; misfit and backtest weigh the others.",
    )] = None
    resamples: Annotated[int, Option(
        "--resamples", "N", "Refits of the law to resampled tasks.", low=100, high=MOST_REFITS,
        detail="For ex-gaussian: draws from its posterior.",
    )] = 400
    # fmt: on

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """None at one k: predictions lie beyond those that the data supports."""
        return ()

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data and what is asked of it, with as many resamples as every model has refits."""
        confidence = replace(options.confidence, resamples=self.resamples)
        return super().study(replace(options, confidence=confidence), read)

    def report(self, study: Study) -> Report:
        """Predictions of every model at larger k, with what they rest on.

        Errors: DataError when no series' counts allow a prediction; ParameterError for attempts
        that are too many.
        """
        from concurrent.futures import ThreadPoolExecutor

        from passk_cli.activity import steps
        from passk_cli.commands.extrapolate.view import Fits, Predictions
        from passk_cli.inference.extrapolation import FARTHEST, largest_known
        from passk_cli.limits import refuse_many_steps
        from passk_cli.metrics.registry import Metric
        from passk_cli.study.prediction import Aim, Prediction, predict
        from passk_cli.study.section import view

        most, confidence = int(study.counts.n.max()), study.confidence
        refuse_many_steps("extrapolation", most, "thin out the attempts")
        families = [curve.removesuffix("k") for curve in self.curves]
        every = [rates for family in families for rates in study.values([Metric(family, 1)])]
        attempts = max(largest_known(rates.n) for rates in every)
        to = self.to or (min(_TIMES * attempts, FARTHEST),)
        aim = Aim(self.curves, to, self.target, self.fit)
        # Each has streams of its own, so threads change no number.
        with ThreadPoolExecutor() as pool:
            computed = pool.map(lambda rates: predict(study, rates, aim), every)
            results = list(steps(computed, "computing", "models", len(every)))
        predictions = [each for each in results if isinstance(each, Prediction)]
        if not predictions:
            first = results[0]
            raise DataError(first.rates.name, getattr(first, "reason", ""))
        sections = [
            Predictions(study, [r for r in results if r.family == family], aim, predictions)
            for family in families
        ]
        parts = [fact for each in predictions for k in aim.ks for fact in each.parts(k)]
        return view(
            study, [*sections, Fits(study, parts)], messages=study.messages(()),
            extrapolate=",".join(self.curves), to=",".join(map(str, aim.ks)), target=self.target,
            fit=",".join(dict.fromkeys(map(aim.fit_of, families))), interval=None,
            level=confidence.level, population=confidence.population,
            cluster=confidence.cluster, resamples=confidence.resamples, seed=confidence.seed,
        )  # fmt: skip


COMMAND = Command(
    Extrapolate, (Request, Confidence), without=("interval", "bounds"), charts=True, methods=True,
    view="passk_cli.commands.extrapolate.view",
)  # fmt: skip
