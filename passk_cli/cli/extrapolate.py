"""passk extrapolate: pass@k and pass^k beyond the attempts there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from passk_cli.cli.options import Certainty, Reading, not_empty, option
from passk_cli.cli.output import Charting, Output
from passk_cli.errors import ParameterError

if TYPE_CHECKING:
    from passk_cli.report.extrapolate import Wanted


@dataclass(frozen=True)
class Beyond:
    """How far, to what end, and by which model."""

    to: Annotated[
        list[str],
        option(
            "--to",
            metavar="100,1000",
            help="Predict at these k. Default: 10 and 100 times the attempts there are.",
        ),
    ] = field(default_factory=list)
    target: Annotated[
        float | None,
        option("--target", metavar="P", help="And the k that reaches this share, as 0.9."),
    ] = None
    metrics: Annotated[
        list[str],
        option(
            "-m",
            "--metric",
            metavar="pass@k,pass^k",
            help="Which of the two, or both. Default: pass@k.",
        ),
    ] = field(default_factory=list)
    fit: Annotated[
        str | None,
        option(
            "--fit",
            metavar="NAME",
            help="One model alone: smooth, beta, beta+0, beta+0+1, power, log-logit."
            " Default: all, weighed by fit and backtest (smooth: by neither).",
        ),
    ] = None

    def wanted(self) -> Wanted:
        """What is asked for, checked."""
        from passk_cli.report.extrapolate import FAMILIES, Wanted, parse_to

        ks = parse_to(",".join(not_empty("--to", self.to))) if self.to else ()
        names = ",".join(not_empty("-m", self.metrics)).replace(" ", "").split(",")
        for name in filter(None, names):
            if name.removesuffix("k") not in FAMILIES:
                raise ParameterError(f"-m {name}: pass@k and pass^k can be extrapolated")
        families = tuple(dict.fromkeys(name.removesuffix("k") for name in names if name))
        return Wanted(ks, self.target, families or FAMILIES[:1], self.fit).checked()


@dataclass(frozen=True)
class Refitted(Certainty):
    """How sure, by refitting every model to resampled tasks."""

    resamples: Annotated[
        int,
        option(
            "--resamples", metavar="N", min=100, show_default=True, help="Refits of each model."
        ),
    ] = 400


def extrapolate(
    reading: Reading, beyond: Beyond, certainty: Refitted, charting: Charting, output: Output
) -> None:
    """pass@k at k beyond the attempts there are, and the k that reaches a target.

    Example: passk extrapolate runs/*.jsonl --to 1000,10000 --target 0.9
    """
    from passk_cli.report.extrapolate import extrapolate_report

    output.check(reading.files, charting=charting)
    wanted = beyond.wanted()
    if certainty.bounds is not None:
        raise ParameterError("--bounds is for scores; pass@k and pass^k lie between 0 and 1")
    how = certainty.how()
    counts = reading.counts(cluster=certainty.cluster)
    output.write(extrapolate_report(counts, how, wanted), charting)
