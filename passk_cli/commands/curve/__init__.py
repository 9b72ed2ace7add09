"""passk curve: coverage (pass@k) and reliability (pass^k) over k."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.inference.populations import THESE_TASKS
from passk_cli.limits import MOST_ATTEMPTS, whole_number
from passk_cli.option import Option, changed
from passk_cli.report.words import span
from passk_cli.study.confidence import Confidence
from passk_cli.study.metrics import Metrics, parse_k
from passk_cli.version import __version__

if TYPE_CHECKING:
    from passk_cli.files.rates import Family
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.curves import Grid
    from passk_cli.study.study import Study


BANDS = (POINTWISE, SIMULTANEOUS) = ("pointwise", "simultaneous")
_MOST_POINTS, _USUAL_MAX_K = 100_000, 10
# The families of the two curves that are there anyway.
_BOTH = ("pass@", "pass^")


def parse_families(value: Any) -> tuple[Any, ...]:
    """Families of tasks from ["mixed=0,1"] or {"mixed": [0, 1]}."""
    from passk_cli.files.rates import parse_rates

    if isinstance(value, Mapping):
        value = [f"{name}={','.join(map(str, rates))}" for name, rates in value.items()]
    return parse_rates(value)


def parse_points(value: Any) -> str:
    """A number of points, or "all"; ParameterError for anything else."""
    text = str(value)
    if text == "all":
        return text
    name = f"--points {text}: a whole number, or all; it"
    return str(whole_number(name, text, 2, _MOST_POINTS))


def parse_curves(value: Any) -> tuple[Metric, ...]:
    """Metrics at k = 1 from names with k for the number.

    >>> [metric.name for metric in parse_curves("maj@k,gpass@k:0.5,pass@k")]
    ['maj@1', 'gpass@1:0.5', 'pass@1']
    """
    from passk_cli.metrics.registry import parse

    text = value if isinstance(value, str) else ",".join(value)
    metrics = []
    for part in filter(None, (name.strip() for name in text.split(","))):
        match = re.fullmatch(r"([a-z-]+[@^])k(:.*)?", part.lower())
        if match is None:
            raise ParameterError(
                f"-m {part}: a curve is named as pass@k, best@k or gpass@k:0.5",
                name="unknown-metric",
            )
        metrics.append(parse(f"{match[1]}1{match[2] or ''}"))
    return tuple(dict.fromkeys(metrics))


@dataclass(frozen=True)
class Curve(Question):
    """pass@k and pass^k over k.

    pass@k (coverage) rises with k and pass^k (reliability) falls. The gap between them shows
    whether many tasks are solved sometimes or few always; --delta puts numbers on it.

    Example: passk curve sample_data/tau_airline.csv --delta

    Example: passk curve sample_data/toy_families.csv --max-k 20 --chart curves.svg
    """

    unbounded_options: ClassVar[Mapping[str, str]] = {
        option: f"{quantity} does not lie between its values at all failing and at all passing;"
        f" leave {option} out, or use --missing fail or drop"
        for option, quantity in (
            ("--delta", "how uneven tasks are"),
            (f"--band {SIMULTANEOUS}", "the level of a band"),
        )
    }

    # Families and metrics stay unimported for the help's sake, so they are not named here.
    # fmt: off
    rates: Annotated[tuple[Any, ...], Option(
        "--rates", "NAME=P,P,…", "Exact success rates, as mixed=0,1.", parse=parse_families,
        detail="They stand instead of files; a file may have a column rate as well. Repeatable.",
    )] = ()
    points: Annotated[str, Option(
        "--points", "N|all", "How many k's: all up to N, else about N.", parse=parse_points,
        detail="Beyond N they lie on a log scale.",
    )] = "40"
    max_k: Annotated[int | None, Option(
        "--max-k", "K", "The last k.", low=1, high=MOST_ATTEMPTS,
        detail="Default: the smallest n of each model (the largest with --short-tasks drop); 10 for"
        " exact rates.",
    )] = None
    band: Annotated[str, Option(
        "--band", help="Intervals hold for each k, or for all k", choices=BANDS,
        detail="simultaneous: for both curves of a model at all k together.",
    )] = POINTWISE
    delta: Annotated[bool, Option(
        "--delta", help="Δ_k, coverage deficit and moments.",
        detail="They say what uneven tasks do.",
    )] = False
    curves: Annotated[tuple[Any, ...], Option(
        "-m --metric", "NAMES", "Curves, as pass@k or maj@k,gpass@k:0.5.", parse=parse_curves,
        detail="pass@k and pass^k are there anyway, unless one of them is named.",
    )] = ()
    k: Annotated[tuple[int, ...], Option(
        "-k", "1,2,5,10", "These k's only.", parse=parse_k, detail="Instead of --points.",
    )] = ()
    # fmt: on

    @property
    def grid(self) -> Grid:
        """The k's that are computed."""
        from passk_cli.study.curves import Grid

        points = None if self.points == "all" else int(self.points)
        return Grid(points, max(self.k, default=self.max_k), self.k)

    @property
    def points_text(self) -> str:
        """The k's, for the signature."""
        return ",".join(map(str, sorted(self.k))) or self.points

    @property
    def further(self) -> tuple[Any, ...]:
        """The curves of other metrics."""
        return tuple(metric for metric in self.curves if metric.family not in _BOTH)

    @property
    def shown(self) -> tuple[str, ...]:
        """Those of pass@k and pass^k that are shown: both, unless one is named."""
        named = {metric.family for metric in self.curves}
        return tuple(f"{family}k" for family in _BOTH if family in named or not named & set(_BOTH))

    def request(self, options: SharedOptions) -> Request:
        """The request, with what the further curves need to know of the attempts."""
        from passk_cli.metrics.registry import needs

        cluster = options.confidence.cluster
        return replace(options.request, cluster=cluster, attempts=needs(self.further))

    def alone(self, options: SharedOptions) -> Report | None:
        """The curves of exact rates, given as such or as data that holds them."""
        from passk_cli.files.rates import exact_rates

        self._check(options)
        families = exact_rates(self.rates, options.source, self.request(options))
        if not families:
            return None
        if self.further:
            raise ParameterError(
                "-m: exact rates say nothing of what attempts are; leave it out",
                name="contradicting-options",
            )
        if self.band != POINTWISE or options.metrics.short_tasks != "empty":
            option = "--band" if self.band != POINTWISE else "--short-tasks"
            raise ParameterError(
                f"{option} is for outcomes; exact rates have no sampling error",
                name="contradicting-options",
            )
        return self.of_rates(families)

    def of_rates(self, families: Sequence[Family]) -> Report:
        """The curves of tasks whose success rates are known."""
        from passk_cli.commands.curve.view import AcrossK, details
        from passk_cli.outcomes.counts import Counts
        from passk_cli.study.curves import exact_curves
        from passk_cli.study.fact import tidy
        from passk_cli.study.section import view
        from passk_cli.study.study import Study

        grid = self.grid
        last = grid.max_k or _USUAL_MAX_K
        every = [exact_curves(f, grid, last, self.shown, delta=self.delta) for f in families]
        counts = Counts.from_cells([(family.name, "", 1, 0) for family in families])
        study = Study(counts, confidence=Confidence("none"))
        overview = AcrossK(study, every, grid)
        report = view(study, [overview, *details(study, every)])
        signature = {
            "passk": __version__, "curves": ",".join(self.shown), "max-k": last,
            "points": self.points_text, "rates": ", ".join(family.name for family in families),
        }  # fmt: skip
        data = tidy(overview.facts(), (), "")
        return replace(report, data=data, signature=signature, methods=None)

    def _check(self, options: SharedOptions) -> None:
        """ParameterError for what no data can give."""
        if self.k and (self.max_k is not None or "--points" in changed(self)):
            other = "--points" if self.max_k is None else "--max-k"
            raise ParameterError(
                f"-k names every k; leave {other} out", name="contradicting-options"
            )
        method, population = options.confidence.method, options.confidence.population
        refusal = ""
        if method == "none":
            refusal = "needs an interval; leave --interval none out"
        elif population == THESE_TASKS and method == "percentile":
            refusal = (
                "for these tasks is made of hull or jackknife intervals, not percentile; leave"
                " --interval out"
            )
        elif options.metrics.short_tasks == "drop":
            refusal = "needs the same tasks at every k; leave --short-tasks drop out"
        elif self.further:
            refusal = "is for pass@k and pass^k; leave -m out"
        if refusal and self.band == SIMULTANEOUS:
            raise ParameterError(f"--band simultaneous {refusal}", name="invalid-method")

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """None at one k: all are curves."""
        return ()

    def report(self, study: Study) -> Report:
        """pass@k and pass^k over k for every model, what more attempts gain, and Δ_k."""
        from passk_cli.commands.curve.view import EVEN_FROM, AcrossK, details
        from passk_cli.study.curves import Measurement
        from passk_cli.study.section import view

        together, grid, confidence = self.band == SIMULTANEOUS, self.grid, study.confidence
        measurement = Measurement(study, grid, self.further, self.shown, together, self.delta)
        every, drawn, levels = measurement.curves()
        overview = AcrossK(study, every, grid, levels, drawn)
        ends = [model.ks[-1] for model in every]
        decided: dict[str, Any] = {
            "curves": ",".join(every[0].measured),
            "max_k": span(min(ends), max(ends)).replace("–", "-"),
            "points": self.points_text,
            **confidence.signature(),
        }
        if confidence.method != "none":
            decided["band"] = self.band
            if together or (self.delta and confidence.population != THESE_TASKS):
                decided |= {"resamples": confidence.resamples, "seed": confidence.seed}
        if self.delta:
            decided["delta"] = EVEN_FROM[confidence.population]
        messages = study.messages(overview.points, short=())
        return view(study, [overview, *details(study, every)], messages=messages, **decided)


COMMAND = Command(
    Curve, (Request, Metrics, Confidence), without=("metrics",), files="optional", charts=True,
    methods=True, view="passk_cli.commands.curve.view",
)  # fmt: skip
