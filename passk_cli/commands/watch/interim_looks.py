"""Looks at a run: when they are made, what each decided, and the file that keeps them."""

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

from passk_cli.cleanup import mode_of, write_whole
from passk_cli.commands.watch.order import RunProgress
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.export import locked, require_folder
from passk_cli.files.sources.arguments import split_label
from passk_cli.inference.alpha_spending import boundary
from passk_cli.limits import refuse_many
from passk_cli.outcomes.counts import Counts
from passk_cli.suggested_fix import OptionValue, Placeholder, SuggestedFix

SCHEMA = "passk-looks/1"
# The recursion of a boundary takes two seconds for as many.
MOST_LOOKS = 500
# Looks in a plan that does not say how many.
_DEFAULT_LOOKS = 20


@dataclass(frozen=True)
class WatchPlan:
    """A plan that was named before the run.

    planned : tasks at its end.  attempts : at every task.  every : tasks from look to look.
    level : of all looks together.
    """

    total_tasks: int
    attempts: int
    step: int
    level: float

    @classmethod
    def from_options(
        cls, total_tasks: int, attempts: int, step: int | None, level: float
    ) -> WatchPlan:
        """A plan; without `every` one of twenty looks.

        Errors: ParameterError for more looks than a boundary is computed for.
        """
        plan = cls(total_tasks, attempts, step or -(-total_tasks // _DEFAULT_LOOKS), level)
        fewer = SuggestedFix({"--every": -(-total_tasks // MOST_LOOKS)}, "makes fewer")
        refuse_many(
            "looks",
            len(plan.look_sizes),
            MOST_LOOKS,
            fewer,
            place=OptionValue("--every", str(step)),
        )
        return plan

    @property
    def look_sizes(self) -> list[int]:
        """The tasks that each look counts; the last are all.

        >>> WatchPlan(10, 1, 4, 0.95).look_sizes
        [4, 8, 10]
        """
        return [*range(self.step, self.total_tasks, self.step), self.total_tasks]

    @cached_property
    def boundaries(self) -> list[float]:
        """The boundary of each look."""
        shares = tuple(size / self.total_tasks for size in self.look_sizes)
        return boundary(shares, 1 - self.level)


@dataclass(frozen=True)
class InterimLook:
    """A look: the tasks that it counted, and what it decided.

    data : digest of their outcomes.  verdicts : of each line, "model: rule" → verdict; none where
    the look could decide nothing.  chance : that the rest decides; None where that is not known.
    """

    tasks: int
    data: str
    verdicts: Mapping[str, str] = field(default_factory=dict)
    chance: float | None = None


@dataclass
class InterimLooks:
    """The looks at a run, in a file or in memory alone.

    about : what they are about, name → value: the plan, rules and the baseline.
    tasks : the tasks of the last look, in their order.
    """

    setup: Mapping[str, Any]
    tasks: Sequence[str] = ()
    looks: list[InterimLook] = field(default_factory=list)
    path: Path | None = None

    @classmethod
    def from_file(cls, path: Path | None, setup: Mapping[str, Any]) -> InterimLooks:
        """The looks of a file, none where there is none yet.

        Errors: DataError for a file of another kind, or of another plan.
        """
        text = "" if path is None or not path.exists() else path.read_text("utf-8", "replace")
        if not text:
            return cls(setup, path=path)
        try:
            content = json.loads(text)
            if content["schema"] != SCHEMA:
                raise KeyError
            looks = [InterimLook(**look) for look in content["looks"]]
            recorded_setup, tasks = dict(content["about"]), tuple(content["tasks"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError(
                str(path), "no file of looks", "name another file, or none", name="bad-looks",
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
            old_value, new_value = (
                _value_text(setup.get(name)) for setup in (recorded_setup, current_setup)
            )
            raise DataError(
                str(path),
                f"it has looks with {name} {old_value}, and now it is {new_value}; a plan that"
                " changes after a look no longer keeps its level",
                name="other-plan",
                settles=[
                    SuggestedFix(
                        {"--looks": Placeholder("FILE")}, "begins anew, beside these looks"
                    )
                ],
            )
        return cls(setup, tasks, looks, path)

    def require_same(self, progress: RunProgress, data: Callable[[], str]) -> None:
        """DataError unless the run still has the tasks of the last look, with their outcomes.

        course : how far the run is.  data : the digest of these tasks now.
        """
        last, place = self.looks[-1], str(self.path)
        if progress.countable < last.tasks:
            raise DataError(
                place,
                f"its last look counted {last.tasks} tasks, and now {progress.countable} are"
                " complete",
                "is this the same run?", name="other-run",
            )  # fmt: skip
        if tuple(progress.tasks[: last.tasks]) != tuple(self.tasks) or data() != last.data:
            raise DataError(
                place, f"the {last.tasks} tasks of its last look have other outcomes, or an order",
                "a task that was counted may not change", name="other-run",
            )  # fmt: skip

    def write(self, order: Sequence[str]) -> None:
        """Keep the looks, if there are any, whole or not at all.  order : of the tasks."""
        if self.looks and self.path is not None:
            looks, tasks = [asdict(look) for look in self.looks], order[: self.looks[-1].tasks]
            content = {"schema": SCHEMA, "about": self.setup, "looks": looks, "tasks": tasks}
            write_whole(self.path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def _value_text(value: Any) -> str:
    """A part of a plan as words.

    >>> _value_text(["a", "b"]), _value_text(None), _value_text(0.9)
    ('a, b', 'none', '0.9')
    """
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value) or "none"
    return "none" if value is None else str(value)


def parse_looks(name: str) -> str:
    """The name of a file in a folder that is there; ParameterError for another."""
    require_folder(Path(name))
    return name


def default_looks_path(files: Sequence[str]) -> Path:
    """Where looks at these files are kept: beside the first, RUN.looks.

    Errors: ParameterError for what has no place beside it.

    >>> str(default_looks_path(["runs/nightly/"]))
    'runs/nightly.looks'
    """
    path = split_label(files[0])[1]
    if path == "-" or "://" in path or set(path) & set("*?["):
        raise ParameterError(
            f"{path}: looks at it are kept nowhere", name="bad-output",
            settles=[SuggestedFix({"--looks": Placeholder("FILE")}, "says where")],
        )  # fmt: skip
    place = Path(path)
    place = place.resolve() if not place.name else place
    return place.with_name(f"{place.name}.looks")


@contextmanager
def exclusive_lock(path: Path | None) -> Iterator[None]:
    """The block as the only one that looks at a run.

    Errors: ParameterError where another process does.
    """
    if path is None or not stat.S_ISREG(mode_of(str(path))):
        yield
        return
    with locked(path, path.with_name(f".{path.name}.lock"), wait=False):
        yield


def outcome_digest(counts: Counts) -> str:
    """A digest of outcomes: who passed what how often, and what attempts were otherwise."""
    sums = hashlib.sha256(json.dumps([counts.series, counts.tasks]).encode())
    arrays = [counts.series_codes, counts.task_codes, counts.n, counts.c]
    arrays += [] if counts.missing is None else [counts.missing]
    for role in sorted(counts.attempts.keys() - {"attempt"}):
        values = counts.attempts[role]
        arrays += [values.start, values.value, values.count]
    for array in arrays:
        sums.update(array.tobytes())
    return sums.hexdigest()[:16]
