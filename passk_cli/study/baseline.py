"""Reads a baseline from separate files, and joins the baseline with the run to compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from passk_cli.diagnostic import NOTE, WARNING, Diagnostic, DiagnosticType
from passk_cli.errors import DataError, ParameterError, PasskError
from passk_cli.files.sources.arguments import (
    arguments_without_file,
    base_name,
    is_existing_data_argument,
    paths_in_data,
)
from passk_cli.outcomes.counts import Counts
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

if TYPE_CHECKING:
    from passk_cli.files.request import Request


SAME_RUN = DiagnosticType(
    "same-run", WARNING, "nothing can change, because {file} is both the new run and the baseline",
    meaning="The new run and the baseline are the same file.",
    why="If a file is compared with itself, there are no differences and every gate rule about"
    " changes passes.",
    advice="Name the files of the new run, or choose a different baseline.",
    example="warning[same-run]: nothing can change, because main.csv is both the new run and the"
    " baseline",
)  # fmt: skip
BASELINE_FILE_LEFT_OUT = DiagnosticType(
    "baseline-left-out", NOTE, "{file} is the baseline, so it is left out of the new run",
    meaning="The folder or pattern that names the new run also contains the file of the baseline."
    " passk uses the baseline file only as the baseline, and uses all other files as the new run.",
    why="If the new run contained the baseline, passk would compare the baseline with itself.",
    advice="If the file is the baseline that you want, you do not need to do anything.",
    example="note[baseline-left-out]: runs/main.csv is the baseline, so it is left out of the new"
    " run",
)  # fmt: skip


@dataclass(frozen=True)
class FilesOfRunAndBaseline:
    """The files of the new run, and the baseline if separate files contain the baseline.

    files : the files of the new run, or None if the user gave exactly the files of the new run.
    """

    files: Sequence[str] | None
    baseline: Any = None
    notes: tuple[Diagnostic, ...] = ()

    @classmethod
    def from_arguments(cls, files: Sequence[str], baseline: Any) -> FilesOfRunAndBaseline:
        """Separate the files of the new run from the file of the baseline.

        If patterns or folders of the new run contain the file of the baseline, the new run does not
        include this file.  If the new run has no other file, passk compares the baseline with
        itself.

        Errors: ParameterError if there are several baselines and one of them is not a file.
        """
        absent = [path for path in paths_in_data(baseline) if not is_existing_data_argument(path)]
        if absent and isinstance(baseline, str):
            return cls(None)
        if absent and isinstance(baseline, list | tuple) and len(baseline) > 1:
            raise ParameterError(
                OptionWithValue("--baseline", absent[0]),
                "this file does not exist, but if you name several baselines, all of them must be"
                " files; name existing files, or only one model", name="no-such-model",
            )  # fmt: skip
        new_files, name = list(files), baseline_label(baseline)
        for path in paths_in_data(baseline):
            new_files = arguments_without_file(new_files, path)
        if new_files == list(files):
            return cls(None, baseline)
        if not new_files:
            return cls(None, baseline, (SAME_RUN(file=name),))
        return cls(new_files, baseline, (BASELINE_FILE_LEFT_OUT(file=name),))

    def read_baseline(self, read: Callable[..., Counts], request: Request) -> Counts:
        """Read the baseline with all models.

        Errors: DataError if passk cannot read the baseline.  The error contains only the suggested
            fixes that also fit the new run.
        """
        try:
            return read(request.with_all_models(), self.baseline)
        except DataError as error:
            error.fixes = self.applicable_fixes(error.fixes, read, request)
            raise

    def applicable_fixes(
        self, settles: Sequence[SuggestedFix], read: Callable[..., Counts], request: Request
    ) -> tuple[SuggestedFix, ...]:
        """The suggested fixes that keep the command and need only columns that the new run has.

        Fixes with another command are left out, because that command would read the files of the
        new run.
        """

        def fits(settle: SuggestedFix) -> bool:
            try:
                if {"--by", "--where"} & {*settle.options}:
                    read(request.with_fix(settle), self.files)
            except PasskError as error:
                return error.name != "no-such-column"
            return not settle.command

        return tuple(filter(fits, settles))


def baseline_label(baseline: Any) -> str:
    """The name of a baseline: the file names of the baseline, or the Python type of the data.

    >>> baseline_label("old=runs/old.jsonl"), baseline_label([{"task": "a", "passed": True}])
    ('old.jsonl', 'list')
    """
    return ", ".join(map(base_name, paths_in_data(baseline))) or type(baseline).__name__


def select_models(counts: Counts, request: Request) -> Counts:
    """The counts of only the requested models, or all counts if none of these models is present."""
    names = [series if request.keeps_model(series[0]) else None for series in counts.series]
    return counts.with_renamed_series(names, counts.group_names) if any(names) else counts


def join_baseline(counts: Counts, baseline: Counts, label: str) -> tuple[Counts, Counts]:
    """The joined counts of the run and the baseline, and the counts of the baseline with its final
    name.

    If a model of the run and the model of the baseline have the same name, the label of the
    baseline is added to the name of the baseline's model.

    Errors: DataError for a baseline with several models, or with clusters that contradict the
        clusters of the run.
    """
    models = sorted({series[0] for series in baseline.series})
    if len(models) > 1:
        raise DataError(
            label,
            f"a baseline must be one model, but this baseline contains {', '.join(models)}",
            "or pass the baseline's files together with the new run",
            settles=[SuggestedFix({"--baseline": Placeholder("NAME")}, "names the model")],
        )
    run_models = {series[0] for series in counts.series}
    name = f"{models[0]} ({label})" if models[0] in run_models else models[0]
    renamed = baseline.with_renamed_series(
        [(name, *s[1:]) for s in baseline.series], baseline.group_names
    )
    clusters = merged_cluster_by_task(counts, baseline, label)
    combined = Counts.concatenate([replace(counts, clusters=None), replace(renamed, clusters=None)])
    return (combined if clusters is None else combined.with_clusters(clusters)), renamed


def merged_cluster_by_task(counts: Counts, baseline: Counts, label: str) -> dict[str, str] | None:
    """The cluster of each task of the run and the baseline, or None if either has no clusters.

    Errors: DataError if a task belongs to different clusters in the run and in the baseline.
    """
    if counts.clusters is None or baseline.clusters is None:
        return None
    clusters = dict(zip(baseline.tasks, baseline.clusters, strict=True))
    for task, cluster in zip(counts.tasks, counts.clusters, strict=True):
        if clusters.setdefault(task, cluster) != cluster:
            old = clusters[task]
            raise DataError(
                label, f"task {task!r} belongs to cluster {old!r} in the baseline, but to"
                f" {cluster!r} in the new run",
                "use the same clusters in both data sets", name="bad-cluster",
            )  # fmt: skip
    return clusters
