"""Structures: the records of a file, wherever in it they are, and their columns.

Only on failure.  The beginning of the data is searched for records, at its top, below keys and in
lists; keys that are names become columns.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from passk_cli.errors import DataError
from passk_cli.files import formats
from passk_cli.files.formats.format import File, Format, Wanted, look
from passk_cli.files.reading.doubts.settings import NUMBERED
from passk_cli.files.reading.doubts.tasks import MODEL_NAME
from passk_cli.files.reading.layout import Batch
from passk_cli.files.reading.look import sniff
from passk_cli.files.reading.records import records
from passk_cli.files.request import TABLES, Request
from passk_cli.files.roles import (
    EACH,
    ONE_SIDED,
    ROLE_WORDS,
    ROLES,
    Roles,
    candidates,
    judge,
    spelled,
    strength,
    words,
)
from passk_cli.files.sources.memory import register
from passk_cli.files.sources.source import Source, parsed
from passk_cli.settle import Settle

if TYPE_CHECKING:
    import duckdb

# How many records are looked at, how much of a file, how many files of a record each; how deep.
ROWS, _BYTES, _FILES, _LEVELS = 1000, 1 << 22, 200, 5
# Values that are many enough to be tasks; the longest value that names something, in words.
_NAMED, _SENTENCE = 5, 6
# Words of keys above outcomes.
_OF_RESULTS = {"results", *ROLE_WORDS["task"], *ROLE_WORDS["outcome"]}
# The keys of what is said in turn.
_OF_MESSAGES = {"role", "content"}
# As many attempts as a task may have where there are fewer tasks; a key that is a plain word.
_FEW, _WORD = 16, re.compile("[A-Za-z_]+")
# Tasks that each of several parts has.
_APART = 3


@dataclass(frozen=True, eq=False)
class FieldColumn:
    """A field of records, or of what lies in them.

    path : as --field takes it.  values : of each record the value, or a list of those in a list;
        None where there is none.  beside : whether it stands beside a list of the records.
    """

    path: str
    values: Sequence[Any]
    beside: bool = False

    @cached_property
    def listed(self) -> bool:
        """Whether a record has several values."""
        return any(isinstance(value, list) for value in self.values)

    @cached_property
    def flat(self) -> list[Any]:
        """All values, those in lists one by one."""
        each = (value if isinstance(value, list) else [value] for value in self.values)
        return [value for values in each for value in values]

    @cached_property
    def texts(self) -> list[str]:
        """The values as texts; "" where there is none."""
        return ["" if value is None else str(value) for value in self.values]

    @cached_property
    def counts(self) -> Counter[str]:
        """Value → in how many records."""
        return Counter(filter(None, self.texts))

    @cached_property
    def judged(self) -> list[Any]:
        """The verdicts of its values; texts and scores that are none as texts."""
        return [verdict for verdict in (judge(v, None) for v in self.flat) if verdict is not None]

    @cached_property
    def numbers(self) -> list[float]:
        """The values as numbers, where all are."""
        try:
            return [float(value) for value in self.flat if value not in (None, "")]
        except (TypeError, ValueError):
            return []

    @cached_property
    def is_prose(self) -> bool:
        """Whether values are sentences, which name nothing."""
        return 2 * sum(len(value.split()) > _SENTENCE for value in self.counts) > len(self.counts)

    @cached_property
    def is_count(self) -> bool:
        """Whether its values are the whole numbers up to some number, from 0 or 1 on."""
        plain = not self.listed and "" not in self.texts and type(self.flat[0]) is not bool
        every = sorted({*self.numbers}) if plain else []
        return len(every) > 1 and every in ([*range(len(every))], [*range(1, len(every) + 1)])

    @property
    def tally(self) -> str:
        """Its most frequent values and how many of each there are: "12 true, 40 false"."""
        flat = ("none" if v is None else "empty" if v == "" else v for v in self.flat)
        shown = Counter(str(v).lower() if isinstance(v, bool) else str(v) for v in flat)
        return ", ".join(f"{count:,} {value}" for value, count in shown.most_common(4))


@dataclass(frozen=True, eq=False)
class Structure:
    """Records at one place of the data.

    keys : the way to them; "{model}" stands for every key, which names a model.
    columns : path → column.  usual : the fields of which a role is taken by its name, unasked.
    size : how many records.  alone : whether each is a file, whose path would name its model.
    """

    keys: tuple[str, ...]
    columns: Mapping[str, FieldColumn]
    usual: Sequence[str]
    size: int
    alone: bool = False

    @property
    def named(self) -> bool:
        """Whether keys on the way name something."""
        return any(key.startswith("{") for key in self.keys)


def flattened(record: Mapping[str, Any], prefix: str = "", level: int = 0) -> Iterator[Any]:
    """(path, value) of the fields of a record, and of the records in it; lists as lists.

    >>> dict(flattened({"a": {"b": 1}, "c": [{"d": 2}, {"d": 3}], "e": {"f": [True]}}))
    {'a.b': 1, 'c.d': [2, 3], 'e.f[]': [True]}
    """
    if level > _LEVELS or len(record) > 100:
        return
    for name, value in record.items():
        path = f"{prefix}{name}"
        if (prefix and "." in name) or (isinstance(value, list) and words(name) & ONE_SIDED):
            continue
        if isinstance(value, dict):
            yield from flattened(value, f"{path}.", level + 1)
        elif not isinstance(value, list):
            yield path, value
        elif any(isinstance(entry, dict) for entry in value):
            entries = [dict(flattened(entry, "", level + 1)) for entry in _dicts(value)]
            inside = dict.fromkeys(key for entry in entries for key in entry)
            each = "" if level == 0 else EACH
            for key in inside:
                values = [entry.get(key) for entry in entries]
                if not any(isinstance(inner, list) for inner in values):
                    yield f"{path}{each}.{key}", values
        elif value:
            yield f"{path}{EACH * (level > 0)}", value


def _dicts(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)]


def structure_of(
    rows: Sequence[Mapping[str, Any]],
    keys: tuple[str, ...] = (),
    beside: Sequence[Mapping[str, Any]] = (),
) -> Structure:
    """The structure of these records.  beside : of each what stands beside the list it is in."""
    flat = [dict(flattened(row)) for row in rows]
    own = dict.fromkeys(path for row in flat for path in row)
    others = dict.fromkeys(name for context in beside for name in context if name not in own)
    columns = {path: FieldColumn(path, [row.get(path) for row in flat]) for path in own}
    columns |= {
        name: FieldColumn(name, [context.get(name) for context in beside], beside=True)
        for name in others
    }
    usual = dict.fromkeys(name for row in rows for name in row)
    return Structure(keys, columns, [*usual], len(rows))


_Pairs = Sequence[tuple[Mapping[str, Any], Any]]


def structures(values: Sequence[Any], *, top: bool = True) -> Iterator[Structure]:
    """Records among these values: the values themselves, lists of records below their keys, and
    mappings to records, whose keys are columns.

    top : whether the values are records.
    """
    rows = _dicts(values)[:ROWS]
    if top and rows:
        yield structure_of(rows)
    for keys, pairs, plain in below([({}, row) for row in rows]):
        yield _with_levels(keys, pairs, plain=plain)


def below(
    pairs: _Pairs, keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], _Pairs, bool]]:
    """(keys, records, whether they are values instead) at the places below these values.

    pairs : values, and what stands beside them or above.
    """
    found = [(context, value) for context, value in pairs if isinstance(value, dict) and value]
    if len(keys) > _LEVELS or not found:
        return
    names = dict.fromkeys(name for _, value in found for name in value)
    inner = [value for _, each in found for value in each.values()][:ROWS]
    level = f"{{{keys.count('{}')}}}"
    # A key with a dot has to be any key: --records takes dots apart.
    # Records in a list have the same keys, which name no tasks unless there are many.
    many = len(names) >= len(pairs) or all(isinstance(value, dict) for value in inner)
    mapped = (len(names) > 2 and many) or not keys or "{}" in keys or len(pairs) == 1
    if (mapped and _alike(inner, names)) or any("." in name for name in names):
        if keys.count("{}") == 3:
            return
        ways = {"{}": [({**c, level: key}, v) for c, each in found for key, v in each.items()]}
    else:
        plain = [
            {n: v for n, v in each.items() if isinstance(v, str | int | float)} for _, each in found
        ]
        known = [{**c, **own} for (c, _), own in zip(found, plain, strict=True)]
        ways = {
            n: [(c, v[n]) for c, (_, v) in zip(known, found, strict=True) if n in v] for n in names
        }
        if len(found) == 1 and (runs := _runs(found[0][1])):
            ways["{}"] = [({**known[0], level: name}, found[0][1][name]) for name in runs]
    for name, members in ways.items():
        if words(name) & ONE_SIDED:
            continue
        way = (*keys, name)
        rows = [(c, entry) for c, value in members if isinstance(value, list) for entry in value]
        records = [
            (context, entry)
            for context, entry in rows
            if isinstance(entry, dict) and not (entry.keys() >= _OF_MESSAGES)
        ]
        single = [(context, value) for context, value in members if isinstance(value, dict)]
        if len(single) == len(members) == 1 and (table := formats.generic.tabular(single[0][1])):
            yield way, [(single[0][0], row) for row in table[:ROWS]], False
        elif records:
            yield way, records[:ROWS], False
            # Of lists in a list those whose entries name models or tasks are read, those in entries
            # that name models each, and those of one record.
            alone = len(records) == len(members) or len(_models(records)) == len(records)
            for deeper in below(records[:ROWS], way):
                if alone or (not deeper[2] and _names(deeper[1][0][1])):
                    yield deeper
        elif name == "{}" and single:
            yield way, single[:ROWS], False
        elif name == "{}" and _are_flags([value for _, value in members], way):
            yield way, members[:ROWS], True
        elif single and len(found) == 1 and len(single) == 1:
            yield way, single, False
        yield from below(members, way)


def _runs(value: Mapping[str, Any]) -> list[str]:
    """The keys of a document, two or more, under which the same key has a list of records."""
    under: dict[str, list[str]] = defaultdict(list)
    for name, inner in value.items():
        for key, entries in inner.items() if isinstance(inner, dict) else ():
            if isinstance(entries, list) and _dicts(entries):
                under[key].append(name)
    return max((names for names in under.values() if len(names) > 1), key=len, default=[])


def _names(entry: Mapping[str, Any]) -> bool:
    """Whether a record names its model, or its task by a usual name."""
    return bool(candidates("model", entry)) or any(
        ROLES["task"].ranks.get(spelled(name)) == 0 for name in entry
    )


def _models(pairs: _Pairs) -> set[str]:
    """The models that records name."""
    named = ([str(entry[name]) for name in entry if strength("model", name)] for _, entry in pairs)
    return {names[0] for names in named if names}


def _with_levels(keys: tuple[str, ...], pairs: _Pairs, *, plain: bool) -> Structure:
    """The structure of records below keys, of which "{}" are named: task, attempt, model."""
    contexts = [dict(context) for context, _ in pairs]
    count = keys.count("{}")
    rows = [{"outcome": value} if plain else value for _, value in pairs]
    own = structure_of(rows)
    levels = [[context[f"{{{i}}}"] for context in contexts] for i in range(count)]
    sizes = [len({*level}) for level in levels]
    names = [""] * count
    for i, level in enumerate(levels):
        others = max((size for j, size in enumerate(sizes) if j != i), default=0)
        if count > 1 and all(map(NUMBERED.fullmatch, level)) and sizes[i] <= max(others, _FEW):
            names[i] = "attempt"
    for i, place in enumerate(i for i, key in enumerate(keys) if key == "{}"):
        kinds = {word.removesuffix("s") for word in words(keys[place - 1])} if place else set()
        called = kinds & ROLE_WORDS["model"] or all(map(MODEL_NAME.fullmatch, levels[i]))
        if not names[i] and called and "model" not in names:
            names[i] = "model"
    open_levels = [i for i, name in enumerate(names) if not name]
    above = candidates("task", [name for context in contexts for name in context])
    if open_levels and not (above or (count and _names_tasks(own, levels[open_levels[0]]))):
        names[max(open_levels, key=lambda i: (sizes[i], i))] = "task"
    taken = "model" in names or len(candidates("model", own.usual)) > 0
    rest = iter(("model", "setting", "part")[taken:])
    for i, level in enumerate(levels):
        if not names[i] and "category" not in names and _parts_tasks(own, level):
            names[i] = "category"
    names = [name or next(rest) for name in names]
    for context in contexts:
        for i, name in enumerate(names):
            context[name] = context.pop(f"{{{i}}}")
    shown = iter(names)
    way = tuple(f"{{{next(shown)}}}" if key == "{}" else key for key in keys)
    whole = structure_of(rows, way, contexts)
    named = {name: FieldColumn(name, [c[name] for c in contexts]) for name in names}
    columns = {**whole.columns, **named}
    if plain:
        listed = any(isinstance(row["outcome"], list) for row in rows)
        columns = {"outcomes" if listed else "outcome": own.columns["outcome"], **named}
    return replace(whole, columns=columns, usual=[*columns] if plain else [*whole.usual, *named])


def _parts_tasks(structure: Structure, level: Sequence[str]) -> bool:
    """Whether no task is below two keys, as below categories, of those that records name first."""
    named = (c for p, c in structure.columns.items() if strength("task", p) and not c.listed)
    column = next(named, None)
    if column is None or "" in column.texts or len({*level}) < 2:
        return False
    pairs = Counter(key for key, _ in {*zip(level, column.texts, strict=True)})
    return pairs.total() == len(column.counts) and min(pairs.values()) >= _APART


def _are_flags(values: Sequence[Any], keys: Sequence[str]) -> bool:
    """Whether values are outcomes: truth values, or 0 and 1 right below a key that means an
    outcome."""
    flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
    kinds = {type(value) for value in flat} - {type(None)}
    above = [key for key in keys if key != "{}"]
    numbers = kinds == {int} and bool(above) and strength("outcome", above[-1]) > 0
    # Deep in a document they say what something is like, unless a key speaks of tasks or outcomes.
    near = len(above) < 2 or any(words(key) & _OF_RESULTS for key in above)
    return near and (kinds == {bool} or (numbers and {*flat} <= {0, 1, None}))


def _names_tasks(structure: Structure, level: Sequence[str]) -> bool:
    """Whether records name their tasks: by a usual name, or by values that each key has."""
    if any(ROLES["task"].ranks.get(spelled(path)) == 0 for path in structure.columns):
        return True
    if candidates("task", structure.usual) and len({*level}) < structure.size:
        return True
    for path, column in structure.columns.items():
        kinds = {type(value) for value in column.values}
        others = any(strength(role, path) > 1.2 for role in ("attempt", "outcome"))
        if not kinds <= {str, int} or others:
            continue
        under: dict[str, list[str]] = defaultdict(list)
        for key, text in zip(level, column.texts, strict=True):
            under[key].append(text)
        first, *rest = map(frozenset, under.values())
        once = all(len({*texts}) == len(texts) for texts in under.values())
        many = len(first) >= max(_NAMED, len(under)) or strength("task", path) > 0
        plain = not all(map(NUMBERED.fullmatch, first))
        if (once or many) and plain and rest and len(first) >= 3 and all(o == first for o in rest):
            return True
    return False


def _alike(values: Sequence[Any], names: Collection[str]) -> bool:
    """Whether the values of keys are of one kind, so that the keys are names of tasks, say.

    A key that stands alone is a name where it is no plain word and its value has an outcome.
    """
    if candidates("outcome", names) and not all(isinstance(value, list) for value in values):
        return False
    if len(names) < 2:
        value = values[0][0] if isinstance(values[0], list) and values[0] else values[0]
        judged = isinstance(value, dict) and candidates("outcome", value)
        return bool(judged or isinstance(value, bool)) and not all(map(_WORD.fullmatch, names))
    if all(isinstance(value, dict) for value in values):
        shared = set(values[0]).intersection(*values[1:])
        return bool(shared) or all(isinstance(v, dict) for each in values for v in each.values())
    if all(isinstance(value, list) for value in values):
        return all(isinstance(entry, dict | bool) for each in values for entry in each)
    return len(values) > 2 and all(
        value in (0, 1) for value in values if not isinstance(value, str)
    )


def beginning(
    name: str,
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[Source],
    request: Request,
) -> list[Structure]:
    """The structures at the beginning of the data.

    name : the place of an error, that of the file it is about.  Errors: NoResults of a harness's
    file that holds none.
    """
    places = [source for source in sources if name.startswith(source.name)]
    if not places:
        return []
    source = max(places, key=lambda source: len(source.name))
    if source.frame is not None:
        return [structure_of(_rows_of_table(con, source.frame))]
    file = look(source, size=_BYTES)
    known = formats.recognise(file)
    if known is not None and not known[1].generic:
        if file.form == "other":
            # A text with another opening is read as a table before formats are asked.
            known[1].table(file)
        # A harness's format says where outcomes are.
        return []
    if file.form not in ("lines", "array", "object") or request.format in (*TABLES,):
        return [structure_of(_rows_of_file(con, source, request))]
    form = known[1] if known else None
    if request.records is not None:
        form = formats.asked(file, request.records, request.fields.values())
    found = []
    if form is not None and (rows := _rows_of(file, form)):
        if form.name == "record":
            others = (look(other) for other in sources[:_FILES] if other is not source)
            rows += [
                row for other in others if other.form == "object" for row in _rows_of(other, form)
            ]
        alone = form.name == "record" and len(rows) > 1
        found.append(replace(structure_of(rows[:ROWS]), alone=alone))
    if request.records is not None and found:
        return found
    if file.form == "lines":
        return [*found, *structures([parsed(line) for line in islice(file.text.split("\n"), ROWS)])]
    single = isinstance(file.begun, dict)
    return [*found, *structures([file.begun] if single else file.begun or [], top=not single)]


def _rows_of(file: File, form: Format) -> list[Mapping[str, Any]]:
    """The first records that a format finds in a file; none where it finds something else."""
    try:
        rows: Any = form.table(file).rows(Wanted())
        return [row for row in islice(rows, ROWS) if isinstance(row, Mapping)]
    except DataError:
        return []


def _rows_of_file(
    con: duckdb.DuckDBPyConnection, source: Source, request: Request
) -> list[Mapping[str, Any]]:
    """The first rows of a table."""
    try:
        layout = sniff(con, source, request.format)
    except DataError:
        return []
    batch = Batch(layout, Roles("attempts", ""), (source,))
    return [record for _, record in islice(records(batch), ROWS)]


def _rows_of_table(con: duckdb.DuckDBPyConnection, data: Any) -> list[dict[str, Any]]:
    """The first rows of a table in memory."""
    register(con, data)
    rows = con.execute(f"SELECT to_json(frame) FROM frame LIMIT {ROWS}").fetchall()
    return [json.loads(row) for (row,) in rows]


def records_within(con: duckdb.DuckDBPyConnection, batch: Batch) -> DataError | None:
    """The error of a document that is one attempt and lists records with an outcome of that name,
    or with any where its own is a number of them.

    It is more likely their summary.
    """
    source, column = batch.sources[0], batch.roles.outcome or ""
    found = (
        beginning(source.name, con, [source], Request()) if batch.layout.kind == "record" else []
    )
    own = (each.columns[column] for each in found if not each.keys and column in each.columns)
    counts = any({*map(type, values.values)} == {int} for values in own)
    for each in found:
        outcomes = [column] if not counts else [column, *candidates("outcome", each.usual)]
        within = next((name for name in outcomes if name in each.usual), "")
        if each.keys and each.size > 1 and not each.named and within:
            key = ".".join(each.keys)
            choices = (
                Settle({"--records": key}, "reads these"),
                Settle({"--records": "."}, "reads the document itself"),
            )
            problem = f"one attempt by its own {column}, and its {key} are {each.size:,} records"
            return DataError(
                source.name, f"{problem} with {within}", name="ambiguous-records", settles=choices
            )
    return None
