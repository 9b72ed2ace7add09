"""The plan and the verdicts of interim looks at a run in progress, and the looks file."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from passk_cli.cleanup import st_mode_or_regular_if_missing, write_atomically
from passk_cli.commands.watch.task_order import RunProgress
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.export import exclusive_access, require_folder_of_output_file
from passk_cli.files.sources.arguments import split_label
from passk_cli.inference.alpha_spending import z_boundaries
from passk_cli.limits import refuse_too_many
from passk_cli.outcomes.counts import Counts
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix

LOOKS_FILE_SCHEMA = "passk-looks/1"
# A plan has at most MOST_LOOKS interim looks, because computing the boundaries of 500 looks takes
# two seconds.
MOST_LOOKS = 500
# Without --every, a plan has _DEFAULT_LOOKS interim looks.
_DEFAULT_LOOKS = 20


@dataclass(frozen=True)
class WatchPlan:
    """The plan of a run, which was fixed before the run began.

    tasks_between_looks : number of tasks between two looks.
    level : confidence level of all looks together.
    """

    total_tasks: int
    attempts_per_task: int
    tasks_between_looks: int
    level: float

    @classmethod
    def from_options(
        cls, total_tasks: int, attempts: int, step: int | None, level: float
    ) -> WatchPlan:
        """Create a plan, with up to twenty looks if `step` is None.

        Errors: ParameterError if the plan has too many looks.
        """
        plan = cls(total_tasks, attempts, step or -(-total_tasks // _DEFAULT_LOOKS), level)
        fewer = SuggestedFix({"--every": -(-total_tasks // MOST_LOOKS)}, "plans fewer looks")
        place = OptionWithValue("--every", str(step))
        refuse_too_many("looks", len(plan.task_counts_at_looks), MOST_LOOKS, fewer, place=place)
        return plan

    @property
    def task_counts_at_looks(self) -> list[int]:
        """The number of tasks that each interim look counts. The last look counts all tasks.

        >>> WatchPlan(10, 1, 4, 0.95).task_counts_at_looks
        [4, 8, 10]
        """
        return [
            *range(self.tasks_between_looks, self.total_tasks, self.tasks_between_looks),
            self.total_tasks,
        ]

    @cached_property
    def boundaries(self) -> list[float]:
        """For each look, the distance from the limit (in standard errors) that a verdict needs."""
        shares = tuple(size / self.total_tasks for size in self.task_counts_at_looks)
        return z_boundaries(shares, 1 - self.level)


@dataclass(frozen=True)
class InterimLook:
    """One interim look at a run, with the number of counted tasks and the verdicts.

    data : digest of the outcomes of the counted tasks.
    verdicts : maps each text "model: rule" to a verdict; empty if the look was too early for
        verdicts.
    chance : probability that the remaining tasks lead to a verdict on the run, or None if it was
        not computed.
    """

    tasks: int
    data: str
    verdicts: Mapping[str, str] = field(default_factory=dict)
    chance: float | None = None


@dataclass
class InterimLooksRecord:
    """All interim looks at a run, stored in a looks file or, without a path, only in memory.

    plan_settings : maps names to values that describe the plan, the rules and the baseline.
    counted_task_names : names of the tasks that the last look counted.
    """

    plan_settings: Mapping[str, Any]
    counted_task_names: Sequence[str] = ()
    looks: list[InterimLook] = field(default_factory=list)
    path: Path | None = None

    @classmethod
    def from_file(cls, path: Path | None, setup: Mapping[str, Any]) -> InterimLooksRecord:
        """Read a looks file. A file that does not exist or is empty contains no looks.

        Errors: DataError if the file is not a looks file, or belongs to another plan.
        """
        text = "" if path is None or not path.exists() else path.read_text("utf-8", "replace")
        if not text:
            return cls(setup, path=path)
        try:
            content = json.loads(text)
            if content["schema"] != LOOKS_FILE_SCHEMA:
                raise KeyError
            looks = [InterimLook(**look) for look in content["looks"]]
            recorded_setup, tasks = dict(content["about"]), tuple(content["tasks"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError(
                str(path), "passk watch did not write this file", "choose another file",
                name="bad-looks",
                settles=[SuggestedFix({"--looks": Placeholder("FILE")})],
            ) from None  # fmt: skip
        current_setup = json.loads(json.dumps(setup))
        differing = [
            name
            for name in {**recorded_setup, **current_setup}
            if recorded_setup.get(name) != current_setup.get(name)
        ]
        if differing:
            name = differing[0]
            old, new = (
                _plan_setting_text(setup.get(name)) for setup in (recorded_setup, current_setup)
            )
            fix = SuggestedFix({"--looks": Placeholder("FILE")}, "starts again in another file")
            raise DataError(
                str(path),
                f"{name} was {old} at the last interim look, but is {new} now; a plan that changes"
                " after an interim look does not keep its confidence"
                " level", name="other-plan", settles=[fix],
            )  # fmt: skip
        return cls(setup, tasks, looks, path)

    def require_unchanged_outcomes(self, progress: RunProgress, data: Callable[[], str]) -> None:
        """Raise a DataError if outcomes that the last interim look counted have changed."""
        last, place = self.looks[-1], str(self.path)
        if progress.complete_task_count_from_start < last.tasks:
            raise DataError(
                place,
                f"the last interim look included {last.tasks} tasks, but now only"
                f" {progress.complete_task_count_from_start} tasks are complete",
                "check that the files belong to the same run", name="other-run",
            )  # fmt: skip
        if (
            tuple(progress.tasks_in_counting_order[: last.tasks]) != tuple(self.counted_task_names)
            or data() != last.data
        ):
            raise DataError(
                place,
                f"the outcomes or the order of the first {last.tasks} tasks changed since the last"
                " interim look",
                "the tasks of an earlier interim look must not change", name="other-run",
            )  # fmt: skip

    def write(self, order: Sequence[str]) -> None:
        """Write the looks file if there are looks. `order` contains all task names in order."""
        if self.looks and self.path is not None:
            looks, tasks = [asdict(look) for look in self.looks], order[: self.looks[-1].tasks]
            content = {
                "schema": LOOKS_FILE_SCHEMA,
                "about": self.plan_settings,
                "looks": looks,
                "tasks": tasks,
            }
            write_atomically(self.path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def _plan_setting_text(value: Any) -> str:
    """Write one setting of a plan as text for an error message.

    >>> _plan_setting_text(["a", "b"]), _plan_setting_text(None), _plan_setting_text(0.9)
    ('a, b', 'none', '0.9')
    """
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)


def parse_looks_path(name: str) -> str:
    """Check the value of --looks, or raise a ParameterError if the folder does not exist."""
    require_folder_of_output_file(Path(name))
    return name


def default_looks_path(files: Sequence[str]) -> Path:
    """The default looks file RUN.looks, which is next to the first result file RUN.

    Errors: ParameterError if RUN is a pipe, a URL or a pattern.

    >>> str(default_looks_path(["runs/nightly/"]))
    'runs/nightly.looks'
    """
    path = split_label(files[0])[1]
    if path == "-" or "://" in path or set(path) & set("*?["):
        raise ParameterError(
            f"{path}: passk cannot choose a name of the looks file for this"
            " input", name="bad-output",
            settles=[SuggestedFix({"--looks": Placeholder("FILE")}, "names the file")],
        )  # fmt: skip
    place = Path(path)
    place = place.resolve() if not place.name else place
    return place.with_name(f"{place.name}.looks")


@contextmanager
def exclusive_lock(path: Path | None) -> Iterator[None]:
    """Lock the looks file, or raise a ParameterError if another process has locked the file."""
    if path is None or not stat.S_ISREG(st_mode_or_regular_if_missing(str(path))):
        yield
        return
    with exclusive_access(path, path.with_name(f".{path.name}.lock"), wait=False):
        yield


def outcome_digest(counts: Counts) -> str:
    """A digest of the counts and of all data about attempts, except the attempt numbers."""
    sums = hashlib.sha256(json.dumps([counts.series, counts.tasks]).encode())
    arrays = [counts.series_codes, counts.task_codes, counts.n, counts.c]
    arrays += [] if counts.missing is None else [counts.missing]
    for role in sorted(counts.attempts.keys() - {"attempt"}):
        values = counts.attempts[role]
        arrays += [values.cell_offsets, values.value, values.count]
    for array in arrays:
        sums.update(array.tobytes())
    return sums.hexdigest()[:16]
