"""Every shared option, declared once; the same option means the same thing in every command."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from passk_cli.errors import ParameterError

if TYPE_CHECKING:
    from passk_cli.files.request import Request
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.samples import Uncertainty


def option(*names: str, help: str, show_default: bool | str = False, **more: Any) -> Any:
    """An option with its names and help."""
    return typer.Option(*names, help=help, show_default=show_default, **more)


def not_empty(name: str, values: list[str]) -> list[str]:
    """The values of an option; ParameterError when one is empty, as of an unset variable."""
    if not all(value.strip() for value in values):
        raise ParameterError(f"{name} is empty; leave it out or give it a value")
    return values


def parse_bounds(text: str) -> tuple[float, float]:
    """Two numbers from "0,1"; ParameterError for anything else."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ParameterError(f"--bounds {text}: write LOW,HIGH, as in 0,1")
    return low, high


@dataclass(frozen=True)
class Reading:
    """Which files, and how their columns and values are meant."""

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Paths, globs, directories, label=path, or - for stdin.",
            show_default=False,
        ),
    ]
    fields: Annotated[
        list[str],
        option(
            "--field",
            metavar="ROLE=COLUMN",
            help="The column behind a role: task, outcome, attempt, model, n, c, score, answer,"
            " solution; a.b looks inside a record. Repeatable.",
        ),
    ] = field(default_factory=list)
    threshold: Annotated[
        str | None,
        option(
            "--threshold",
            metavar="X[,X…]",
            help="A score passes when ≥ X. Several: every number at each of them.",
        ),
    ] = None
    missing: Annotated[
        str,
        option(
            "--missing",
            metavar="error|fail|drop",
            help="What an empty outcome is.",
            show_default=True,
        ),
    ] = "error"
    duplicates: Annotated[
        str,
        option(
            "--duplicates",
            metavar="error|first|last|keep",
            help="What the same model, task and attempt number twice is.",
            show_default=True,
        ),
    ] = "error"
    skip_bad: Annotated[
        bool,
        option("--skip-bad", help="Leave out lines that are no records, and count them."),
    ] = False
    by: Annotated[
        list[str],
        option("--by", metavar="COLUMN", help="Split models further. Repeatable."),
    ] = field(default_factory=list)
    where: Annotated[
        list[str],
        option(
            "--where",
            metavar="EXPRESSION",
            help="Keep rows, as in \"difficulty = 'hard'\". Several: all must hold.",
        ),
    ] = field(default_factory=list)
    models: Annotated[
        list[str],
        option("--model", metavar="NAME", help="Keep this model. Repeatable."),
    ] = field(default_factory=list)
    format_from: Annotated[
        str | None,
        option(
            "--from",
            metavar="NAME",
            help="Force a file format: jsonl, json, csv, tsv, parquet, cruxeval.",
        ),
    ] = None

    def request(
        self, more_by: tuple[str, ...] = (), scores_only: bool = False, **more: Any
    ) -> Request:
        """The request the reading layer takes; ParameterError for what makes no sense."""
        from passk_cli.files.request import Request
        from passk_cli.option import filled

        given = {
            "fields": self.fields, "threshold": self.threshold, "missing": self.missing,
            "duplicates": self.duplicates, "skip_bad": self.skip_bad,
            "by": [*self.by, *more_by], "where": self.where, "models": self.models,
            "format": self.format_from,
        }  # fmt: skip
        asked = filled(Request, {k: v for k, v in given.items() if v not in (None, [])})
        return replace(asked, scores_only=scores_only, **more)

    def counts(self, *, tolerant: bool = False, **more: Any) -> Counts:
        """Read the files, with a sign of life on a terminal when it takes long."""
        from passk_cli.cli.progress import working
        from passk_cli.files.reading import load

        request = self.request(**more)
        with working("reading"):
            return load(self.files, request, tolerant=tolerant)


@dataclass(frozen=True)
class OptionalReading(Reading):
    """The same where there may be no files, because something else stands in for them."""

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE...]",
            help="Paths, globs, directories, label=path, or - for stdin.",
            show_default=False,
        ),
    ] = field(default_factory=list)


ShortTasks = Annotated[
    str,
    option(
        "--short-tasks",
        metavar="empty|drop",
        show_default=True,
        help="A metric some tasks have too few attempts for: empty, or without those tasks.",
    ),
]


@dataclass(frozen=True)
class Choice:
    """Which metrics."""

    k: Annotated[
        list[str],
        option(
            "-k",
            metavar="1,10,100",
            help="pass@k and pass^k for these k. Default: those of"
            " 1, 10, 100 that every task of some model supports; fewer than two: 1, 2, 4, … and n.",
        ),
    ] = field(default_factory=list)
    metrics: Annotated[
        list[str],
        option("-m", "--metric", metavar="NAMES", help="Metrics by name, as pass@10,pass^4."),
    ] = field(default_factory=list)
    short_tasks: ShortTasks = "empty"

    @property
    def named(self) -> tuple[Metric, ...]:
        """The metrics asked for by name."""
        from passk_cli.metrics.registry import parse_list

        return parse_list(",".join(not_empty("-m", self.metrics)))

    @property
    def known(self) -> dict[str, Any]:
        """What reading has to find out of the attempts for these metrics."""
        from passk_cli.metrics.registry import needs, scores_only

        named = self.named
        return {"attempts": needs(named), "scores_only": not self.k and scores_only(named)}

    def of(self, counts: Counts) -> Any:
        """The metrics for this data."""
        from passk_cli.metrics.registry import parse_ks
        from passk_cli.report.estimate import choose_metrics
        from passk_cli.report.samples import check_short_tasks

        check_short_tasks(self.short_tasks)
        ks = parse_ks(",".join(not_empty("-k", self.k))) if self.k else ()
        return choose_metrics(counts, ks, self.named)

    def hint(self, counts: Counts) -> str:
        """Which of the usual k's the data does not support, when no others were asked for."""
        from passk_cli.metrics.registry import USUAL_K
        from passk_cli.report.estimate import supported_k

        if self.k or self.metrics:
            return ""
        missing = [k for k in USUAL_K if k > supported_k(counts)]
        return f"pass@{missing[0]} needs {missing[0]} attempts per task" if missing else ""


@dataclass(frozen=True)
class Interval:
    """Which interval."""

    interval: Annotated[
        str | None,
        option(
            "--interval",
            metavar="METHOD|none",
            help="guard (default for new tasks), gaffke, jeffreys (default for differences),"
            " percentile, basic, bca, t, wilson, clopper-pearson; jackknife (default for these"
            " tasks). none: standard errors.",
        ),
    ] = None


@dataclass(frozen=True)
class Certainty:
    """How sure, about what."""

    level: Annotated[
        float, option("--level", metavar="P", help="Coverage of intervals.", show_default=True)
    ] = 0.95
    population: Annotated[
        str,
        option(
            "--population",
            metavar="new-tasks|these-tasks",
            show_default=True,
            help="The question: tasks are a sample of what it is about, or all of it.",
        ),
    ] = "new-tasks"
    cluster: Annotated[
        str | None,
        option(
            "--cluster", metavar="COLUMN", help="Tasks that belong together, as one repository's."
        ),
    ] = None
    resamples: Annotated[
        int,
        option(
            "--resamples",
            metavar="N",
            min=100,
            show_default=True,
            help="Draws, where a method needs them.",
        ),
    ] = 10_000
    seed: Annotated[
        int, option("--seed", metavar="N", min=0, show_default=True, help="Seed of the draws.")
    ] = 0
    bounds: Annotated[
        str | None,
        option(
            "--bounds",
            metavar="LOW,HIGH",
            help="What scores cannot pass, as 0,1; guard intervals of best@k and mean need it.",
        ),
    ] = None

    def how(self, interval: str | None = None, *, required: bool = False) -> Uncertainty:
        """The uncertainty asked for, checked; required where verdicts rest on intervals."""
        from passk_cli.report.samples import Uncertainty

        not_empty("--cluster", [self.cluster] if self.cluster is not None else [])
        return Uncertainty(
            interval,
            self.level,
            self.population,
            self.cluster,
            self.resamples,
            self.seed,
            None if self.bounds is None else parse_bounds(self.bounds),
        ).checked(required=required)
