"""Evidence of a task, and of what numbers its attempts: names and values of columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from passk_cli.files.reading.doubts.settings import NUMBERED, SUITES, is_setting
from passk_cli.files.reading.doubts.steps import is_step
from passk_cli.files.reading.doubts.tasks import LANGUAGES
from passk_cli.files.reading.readings import vocabulary
from passk_cli.files.reading.readings.outcomes import likely_outcome
from passk_cli.files.reading.structures import FieldColumn, Structure
from passk_cli.files.roles import ROLE_WORDS, candidates, leaf, strength, words
from passk_cli.files.sources.source import text_kind

# The longest value that names something.
_LONG = 200


@dataclass(frozen=True, eq=False)
class _Records:
    """Records, and what speaks for a task beside its own column.

    columns : path → those that have a value each.
    """

    columns: Mapping[str, FieldColumn]
    usual: Sequence[str]
    size: int

    @cached_property
    def statements(self) -> list[FieldColumn]:
        """Columns of what is asked of an attempt, or was expected."""
        return [
            column
            for path, column in self.columns.items()
            if words(path) & vocabulary.STATEMENTS
            and (leaf(path) in vocabulary.STATEMENTS or not is_setting(path))
            and not words(path) & (vocabulary.AMOUNTS | vocabulary.NUMBERS)
            and (
                words(path) & vocabulary.GOLDS or any(" " in text.strip() for text in column.counts)
            )
        ]

    @cached_property
    def numbers(self) -> list[FieldColumn]:
        """Columns that number attempts by their usual name."""
        names = candidates("attempt", self.usual)
        return [self.columns[name] for name in names if name in self.columns]

    def told_apart(self, column: FieldColumn) -> bool:
        """Whether the models, and the attempts' numbers, repeat, and not with a column."""
        models = [self.columns[m] for m in candidates("model", self.usual) if m in self.columns]
        named = [each.texts for each in (*models, *self.numbers)]
        if not named or len({*zip(*named, strict=True)}) == self.size:
            return False
        apart = len({*zip(*named, column.texts, strict=True)}) == self.size
        return apart and (len(named) > 1 or len(column.counts) < self.size)


@dataclass(frozen=True, eq=False)
class _TaskColumn:
    """A column that may be the task, among those of its records."""

    column: FieldColumn
    records: _Records

    @cached_property
    def named(self) -> float:
        """How surely its name means a task."""
        return strength("task", self.column.path)

    @cached_property
    def kinds(self) -> set[type]:
        return {type(value) for value in self.column.values} - {type(None)}

    @property
    def values(self) -> Counter[str]:
        """Value → in how many records."""
        return self.column.counts

    @property
    def unique(self) -> bool:
        return len(self.values) == self.records.size

    @cached_property
    def admitted(self) -> bool:
        """Whether the values may be names of tasks: under a name of its own a task comes about
        equally often, is the id of a row, or what an attempt's number counts within."""
        path, values = self.column.path, self.values
        constant = len(values) == 1 < self.records.size and self.named < 3
        unlike = not self.kinds <= {str, int} or "" in self.column.texts
        fractions = self.named < 1.6 and any(number % 1 for number in self.column.numbers)
        if constant or unlike or fractions or words(path) & vocabulary.AMOUNTS:
            return False
        own = max(values.values()) <= 2 * min(values.values()) > 2
        if not (self.named or own) and self.kinds == {str}:
            own = self.unique or (not is_setting(path) and self.records.told_apart(self.column))
        # The number of a row is a task's where nothing else is.
        own = own or (self.unique and self.column.is_count)
        prose = self.column.is_prose and self.column not in self.records.statements
        if not (self.named or own) or (self.named < 1.7 and prose):
            return False
        answered = any(words(part) & vocabulary.ANSWERS for part in path.split(".")[:-1])
        return self.named == 3 or not answered

    @cached_property
    def run(self) -> bool:
        """Whether its values number runs, as texts do that say what they number: run1, 2.0."""
        return int not in self.kinds and all(map(NUMBERED.fullmatch, self.values))

    @cached_property
    def foreign(self) -> bool:
        """Whether its name means something else."""
        others = vocabulary.NO_TASK | vocabulary.NUMBERS | vocabulary.TOTAL | {"cases"}
        others |= ROLE_WORDS["model"]
        outcome = not self.named and strength("outcome", self.column.path) > 0
        return outcome or (self.named < 1.7 and bool(words(self.column.path) & others))

    @cached_property
    def stated(self) -> bool | None:
        """Whether each value has one statement of what is asked; None where there is none."""
        others = (each for each in self.records.statements if each is not self.column)
        statement = next(others, None)
        if statement is None or self.unique:
            return None
        # It may be stated once in each language.
        languages = [c.texts for p, c in self.records.columns.items() if leaf(p) in LANGUAGES]
        rows = zip(self.column.texts, *languages, statement.texts, strict=True)
        stated = {row for row in rows if row[-1]}
        return len(stated) == len({row[:-1] for row in stated})


# What speaks for or against a column as the task, and how much.
_EVIDENCE: tuple[tuple[float, Callable[[_TaskColumn], object]], ...] = (
    # Five values are tasks, two are models, say.
    (1.0, lambda own: len(own.values) >= 5),
    (-1.2, lambda own: len(own.values) < 3),
    # As many attempts at each, or one.
    (0.6, lambda own: len({*own.values.values()}) == 1),
    (0.2, lambda own: own.unique),
    # At each of several models once.
    (0.8, lambda own: own.records.told_apart(own.column)),
    (-1.0, lambda own: is_setting(own.column.path)),
    # An id of each row, such as a trial's, is a task's only where it is called so.
    (-2.0, lambda own: own.foreign),
    (-2.0, lambda own: own.foreign and own.unique and own.records.size > 1),
    # Names of runs; of files; mere numbers; texts that are too long to name anything.
    (-2.0, lambda own: own.named < 3 and own.run),
    (-2.0, lambda own: all(value[0] == "/" for value in own.values)),
    (-1.0, lambda own: not own.named and {*map(text_kind, own.values)} == {"number"}),
    (-0.5, lambda own: max(map(len, own.values)) > _LONG),
    # What is asked is the same at each, or is not.
    (1.2, lambda own: own.stated),
    (-2.5, lambda own: own.stated is False),
)


def likely_tasks(structure: Structure, columns: Mapping[str, FieldColumn]) -> dict[str, float]:
    """Columns that may be the task, also two together, and how likely each is."""
    plain = {path: c for path, c in columns.items() if not c.listed and c.counts}
    records = _Records(plain, structure.usual, structure.size)
    suites = {p: c for p, c in plain.items() if len(c.counts) in range(2, 40) and words(p) & SUITES}
    scores: dict[str, float] = {}
    for path, column in plain.items():
        own = _TaskColumn(column, records)
        if not own.admitted:
            continue
        score = own.named + sum(points for points, seen in _EVIDENCE if seen(own))
        if suite := next((p for p, c in suites.items() if _restarts(c, column)), ""):
            scores[f"{suite},{path}"], score = score - 0.5, score - 3
        scores[path] = score
    for one, other in _ids(plain) if max(scores.values(), default=0) < 4.5 else ():
        scores[f"{one},{other}"] = max(scores.get(one, 0), scores.get(other, 0), 1.7) + 0.3
    likely = {path: score for path, score in scores.items() if score > 0.5}
    if max(likely.values(), default=0) < 1:
        likely |= {f"{one},{other}": 1.0 for one, other in _grids(plain)}
    return likely


def _ids(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Two ids, which number no attempts and name no models, that occur in all combinations, each
    equally often."""
    ids = {
        path: column
        for path, column in columns.items()
        if words(path) & {"id", "idx"}
        and 0 < strength("task", path) < 3
        and not strength("attempt", path)
        and 2 < len(column.counts) < len(column.texts)
    }
    for one, other in combinations(ids, 2):
        pairs = Counter(zip(ids[one].texts, ids[other].texts, strict=True))
        whole = len(pairs) == len(ids[one].counts) * len(ids[other].counts)
        if whole and len({*pairs.values()}) == 1:
            yield one, other


def _grids(columns: Mapping[str, FieldColumn]) -> Iterator[tuple[str, str]]:
    """Two columns of texts, which are no settings and neither pass nor fail, that occur in all
    combinations."""
    unlikely = vocabulary.NO_TASK | vocabulary.NO_OUTCOME | ROLE_WORDS["model"]
    few = {
        path: column
        for path, column in columns.items()
        if len(column.counts) in range(2, 100)
        and {*map(type, column.values)} == {*map(type, column.judged)} == {str}
        and not (is_setting(path) or words(path) & unlikely)
    }
    for one, other in combinations(few, 2):
        pairs = {*zip(few[one].texts, few[other].texts, strict=True)}
        if len(pairs) == len(few[one].counts) * len(few[other].counts):
            yield one, other


def _restarts(suite: FieldColumn, column: FieldColumn) -> bool:
    """Whether a column's numbers start again under each of a few parts, which differ in size."""
    if suite is column or {*map(text_kind, column.counts)} != {"number"}:
        return False
    under: dict[str, set[float]] = defaultdict(set)
    for part, text in zip(suite.texts, column.texts, strict=True):
        under[part].add(float(text or -1))
    first = {min(numbers) for numbers in under.values()}
    return len(first) == 1 and len({len(numbers) for numbers in under.values()}) > 1


def attempt_of(
    structure: Structure, cell: Sequence[str], given: str, columns: Mapping[str, FieldColumn]
) -> tuple[str, tuple[str, ...], float]:
    """The column that numbers the attempts, "" for none; a setting without which its numbers
    repeat; and how well the rows fit the reading.

    cell : columns whose values an attempt shares with the others at its task.
    """
    cells = [*zip(*(structure.columns[path].texts for path in cell), strict=True)]
    sizes = {*Counter(cells).values()}
    fit = 0.8 * (len(sizes) == 1 and sizes != {1})
    if given or sizes <= {1}:
        return given, (), fit

    def distinct(*paths: str) -> bool:
        """Whether the values of columns tell the rows of each cell apart."""
        return len({*zip(cells, *(columns[p].texts for p in paths), strict=True)}) == len(cells)

    named = called("attempt", columns)
    once = [path for path in named if distinct(path)]
    if once:
        return once[0], (), fit + 0.9
    usual = [path for path in named if strength("attempt", path) >= 1.7]
    numbers = usual or [
        path
        for path, column in columns.items()
        if column.is_count
        and len(column.counts) <= max(sizes)
        and not (words(path) & vocabulary.NUMBERS or is_step(path) or likely_outcome(column))
    ]
    settings = [
        path
        for path, column in columns.items()
        if not (column.listed or column.numbers or "" in column.texts)
        and len(column.counts) in range(2, 20)
    ]
    for by, number in product([(), *zip(settings)], numbers):
        if distinct(*by, number):
            return number, by, fit + 0.4
    # A usual name is taken for it in any case.
    return (usual[0], (), fit - 0.8) if usual else ("", (), fit)


def called(role: str, columns: Mapping[str, FieldColumn]) -> list[str]:
    """The columns whose names mean a role, and whose values may name something."""
    scores = {
        path: strength(role, path)
        for path, column in columns.items()
        if column.counts
        and not (column.listed or column.is_prose)
        and not (role == "model" and (column.numbers or {*map(type, column.judged)} == {bool}))
    }
    named = (path for path, score in scores.items() if score)
    return sorted(
        named, key=lambda path: (-scores[path], role == "attempt" and not columns[path].numbers)
    )
