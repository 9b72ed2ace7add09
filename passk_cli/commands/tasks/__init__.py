"""passk tasks: which tasks are flaky, which changed, which look wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from passk_cli.commands.command import Command, Question, SharedOptions
from passk_cli.errors import ParameterError
from passk_cli.files.request import Request
from passk_cli.option import DATA, Option
from passk_cli.study.confidence import Confidence

if TYPE_CHECKING:
    from passk_cli.commands.command import Read
    from passk_cli.metrics.registry import Metric
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report
    from passk_cli.study.study import Study

# Rows of a table without --full.
ROWS = 12


def parse_rate(value: Any) -> float:
    """A rate between 0 and 1; ParameterError for another."""
    rate = float(value)
    if not 0.0 < rate < 1.0:
        raise ParameterError(f"--always {value}: it must lie between 0 and 1, as 0.95 does")
    return rate


@dataclass(frozen=True)
class EachTask(Question):
    """Each task: flaky, changed, suspicious.

    A flaky task passed some attempts and failed others. The table has a row per number of passes,
    with the pass rates that attempts do not rule out, or a row per model. --against shows which
    tasks changed, and how many change by chance alone; --suspects tasks that weaker models pass
    more often than better ones; --matrix all tasks and models.

    Example: passk tasks sample_data/tau_airline.csv

    Example: passk tasks sample_data/agents.jsonl --suspects
    """

    unbounded: ClassVar[str] = (
        "whether a task is flaky changes with each missing outcome that passes or fails"
    )

    always: Annotated[
        float | None,
        Option(
            "--always", "RATE", "Which tasks are shown to pass above this rate.", parse=parse_rate,
            detail="And how many more attempts the others need, if all of them pass.",
        ),
    ] = None  # fmt: skip
    against: Annotated[
        DATA,
        Option(
            "--against", "FILE|NAME", "Which tasks changed against another run or model.",
            file="read", of_models=True,
            detail="A file or folder, label=path, or a model in the data. Models of another run are"
            " compared with those of the same name, or with its only one.",
        ),
    ] = None  # fmt: skip
    suspects: Annotated[
        bool,
        Option(
            "--suspects",
            help="Tasks that weaker models pass more often; tasks that separate no models.",
        ),
    ] = False
    matrix: Annotated[
        bool, Option("--matrix", help="Pass rates, a row per task and a column per model.")
    ] = False
    rows: Annotated[
        int | None,
        Option(
            "--rows", "N", "Each task, the first N; csv has all.", low=1, high=1_000_000,
        ),
    ] = None  # fmt: skip
    order_from_lines: Annotated[
        bool,
        Option(
            "--order-from-lines", help="Attempts were made in the order of the lines.",
            detail="Default: by attempt number or time; entries of lists in their order.",
        ),
    ] = False  # fmt: skip

    def request(self, options: SharedOptions) -> Request:
        """The columns to read, and the order of the attempts where the data has one."""
        if self.order_from_lines:
            return replace(options.request, attempts=("line",))
        return replace(options.request, order=options.request.missing != "bounds")

    def metrics(self, options: SharedOptions, counts: Counts) -> tuple[Metric, ...]:
        """None: it is about each task."""
        return ()

    def study(self, options: SharedOptions, read: Read) -> Study:
        """The data, and what it is compared with, where that is another file."""
        views = {"--against": self.against is not None, "--suspects": self.suspects,
                 "--matrix": self.matrix, "--always": self.always is not None}  # fmt: skip
        asked = [name for name, given in views.items() if given]
        if len(asked) > 1:
            raise ParameterError(
                f"{' and '.join(asked)} are views of their own; give one of them",
                name="contradicting-options",
            )
        if self.against is None:
            return super().study(options, read)
        from passk_cli.files.arguments import name_beside, paths_of
        from passk_cli.study.baseline import Runs, label_of, only_models

        runs = Runs.apart(options.files, self.against)
        if runs.baseline is None:
            named = self.against if isinstance(self.against, str) else None
            study = super().study(
                options, lambda request, source=None: read(request.keeping(named), source)
            )
            return replace(study, decided={"against": named})
        study = super().study(options, lambda request, source=None: read(request, runs.files))
        request = self.request(options)
        other = only_models(read(request.of_all_models(), runs.baseline), request)
        names = [name_beside(path, options.files) for path in paths_of(self.against)]
        label = ", ".join(names) or label_of(self.against)
        return replace(study, baseline=other, reading=runs.notes, decided={"against": label})

    def report(self, study: Study) -> Report:
        """The view that was asked for."""
        if self.against is not None:
            from passk_cli.commands.tasks.flips import flips_report

            return flips_report(study, self.rows or ROWS)
        from passk_cli.commands.tasks.view import classes_report, matrix_report, suspects_report

        if self.suspects:
            return suspects_report(study, self.rows or ROWS)
        if self.matrix:
            return matrix_report(study, self.rows or ROWS)
        return classes_report(study, self.rows or 0, self.always)


COMMAND = Command(
    EachTask,
    (Request, Confidence),
    without=("interval", "population", "cluster", "resamples", "seed", "bounds"),
    charts=True,
    view="passk_cli.commands.tasks.view",
)
