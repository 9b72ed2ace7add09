"""Rules files, which define the suites of a gate, each with runs, rules and often a baseline.

The keys of a rules file are the options of the command line and the fields of `SuiteKeyValues`. The
checks, the JSON Schema and the documentation of rules files come from these declarations.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from typing import Annotated, Any, NamedTuple

from passk_cli.commands.gate import COMMAND
from passk_cli.commands.gate.rules import is_given
from passk_cli.commands.trend import COMMAND as TREND_COMMAND
from passk_cli.commands.trend import TrendOptions
from passk_cli.diagnostic import Diagnostic
from passk_cli.errors import DataError, ParameterError
from passk_cli.files.request import Request
from passk_cli.files.sources.arguments import (
    has_result_suffix,
    is_existing_data_argument,
    is_outside_folder,
    split_label,
)
from passk_cli.files.toml_map import NO_MAP, TABLE, AdjacentMapPath, read_maps
from passk_cli.limits import MOST_TOML
from passk_cli.option import (
    DeclaredOption,
    Option,
    declared_options_by_flag,
    fill_options,
    options_by_field,
)
from passk_cli.report.phrases import plural
from passk_cli.study.confidence import Confidence
from passk_cli.study.significance_options import BH, HOLM, MIN_P, UNADJUSTED
from passk_cli.suggested_fix import OptionWithValue, Placeholder, SuggestedFix
from passk_cli.suggestions import did_you_mean_or_list
from passk_cli.text import clauses_joined_by_semicolons
from passk_cli.toml import read_toml

# If you name neither result files nor a rules file, passk looks for rules in passk.toml and
# pyproject.toml.
FILE, PROJECT = "passk.toml", "pyproject.toml"
SUITE, TREND = "suite", "trend"
_TREND_FIELDS = ("metrics", "acknowledge", "skip_run", "level", "alias", "where")
# _REMOVED_KEYS maps each key that only earlier releases accepted to advice on what to write
# instead.
_REMOVED_KEYS = {
    "average": "the average over suites was removed; write a rule for each suite",
    "weight": "weights of suites were removed; leave this key out",
    "first": "leave this key out, and use `passk gate --first-run` once, for the first run",
}
# Options in OPTIONS_SAME_FOR_ALL_SUITES must be the same for all suites. A rules file cannot
# contain the options in _FORBIDDEN_OPTIONS.
OPTIONS_SAME_FOR_ALL_SUITES = ("level", "population")
_FORBIDDEN_OPTIONS = (
    "rules", "trust_rules", "tier", "check", "first_run", "rehearse", "max_false_alarms", "error",
    "ignore",
)  # fmt: skip
PATH_FIELDS = ("runs", "history", "map", "price", "truth_from")
PATH_OR_NAME_FIELDS = ("baseline", "truth")
TASK_LIST_FIELDS = ("must_pass", "only_tasks", "exclude_tasks")

_REFUSED_BASELINE_KEYWORD = "record"
_RECORD_KEYWORD_ERROR = (
    "baseline: name the file that the first run will create, for example history.parquet:last5, and"
    " use `passk gate --first-run` once, for the first run"
)
_TREND_WITHOUT_HISTORY_ERROR = "history is missing; name the file that `passk record` writes"
_FILE_WITHOUT_SUITE_ERROR = "the file has no suite; write [[suite]] with a name and runs"


class QuarantinedTask(NamedTuple):
    """A flaky task that verdicts leave out until the last day of its quarantine.

    until : last day of the quarantine, in UTC.
    n : number of attempts in the new run, including attempts without an outcome; 0 if the data
        lacks the task.  c : number of passes in the new run.
    """

    task: str
    until: datetime.date
    reason: str
    n: int = 0
    c: int = 0

    @property
    def is_active(self) -> bool:
        """Whether the quarantine includes today (in UTC)."""
        return datetime.datetime.now(datetime.UTC).date() <= self.until


def parse_quarantine_entries(value: Any) -> tuple[QuarantinedTask, ...]:
    """Parse the key `quarantine`, a list of tables with the keys task, until and reason.

    Errors: ParameterError for wrong keys or values, or for a task that is given twice.

    >>> parse_quarantine_entries([{"task": "t17", "until": "2026-12-31", "reason": "flaky"}])[0]
    QuarantinedTask(task='t17', until=datetime.date(2026, 12, 31), reason='flaky', n=0, c=0)
    """
    tasks: dict[str, QuarantinedTask] = {}
    form = '{task = "t17", until = 2026-12-31, reason = "flaky endpoint"}'
    for entry in value:
        fields = entry if isinstance(entry, Mapping) else {}
        if fields.keys() != {"task", "until", "reason"}:
            raise ParameterError(
                f"quarantine: each entry must have the keys task, until and reason; write {form}"
            )
        task, until, reason = fields["task"], fields["until"], fields["reason"]
        try:
            until = datetime.date.fromisoformat(str(until)[:10])
        except ValueError:
            raise ParameterError(
                f"quarantine {task}: until must be a date; got {until}; write {form}"
            ) from None
        if not isinstance(reason, str) or not reason.strip() or not str(task).strip():
            raise ParameterError(f"quarantine {task}: task and reason must be text; write {form}")
        if str(task) in tasks:
            raise ParameterError(f"quarantine {task}: this task is given twice")
        tasks[str(task)] = QuarantinedTask(str(task), until, reason)
    return tuple(tasks.values())


@dataclass(frozen=True)
class SuiteKeyValues:
    """The keys of a suite that do not set options: name, runs, tier and quarantine."""

    name: Annotated[str, Option("name", "NAME", "The unique name of the suite.")] = ""
    runs: Annotated[tuple[str, ...], Option(
        "runs", "FILE", "Files, folders, globs or URLs of the new run.",
        detail="Paths are relative to the folder of the rules file. Paths outside the folder of the"
        " rules file, and URLs, need --trust-rules.")] = ()  # fmt: skip
    tier: Annotated[tuple[str, ...], Option(
        "tier", "NAME", "Tiers that the suite belongs to, for --tier.")] = ()  # fmt: skip
    quarantine: Annotated[tuple[Any, ...], Option(
        "quarantine", "TABLE", "Flaky tasks, as entries with the keys 'task', 'until' and"
        " 'reason'.",
        parse=parse_quarantine_entries,
        detail="Verdicts leave flaky tasks out, and a row of the output shows how many attempts at"
        " flaky tasks passed. After the date in the key 'until', the verdicts include the task"
        " again, and passk prints a warning.")] = ()  # fmt: skip

    @property
    def active_quarantine(self) -> list[QuarantinedTask]:
        return [task for task in self.quarantine if task.is_active]


@dataclass(frozen=True)
class TrendTable:
    """The key of the table [trend], which names a history.

    The gate fails if the newest runs in this history are worse than earlier runs.
    """

    history: Annotated[str, Option(
        "history", "FILE", "File or folder with the history of `passk record`.",
        detail="The output of the gate has a row for each verdict of `passk trend --fail` about"
        " this history.",
    )] = ""  # fmt: skip


@dataclass(frozen=True)
class TrendTableValues:
    """The table [trend] of a rules file.

    values : maps the field of each option to the value of the option.
    error_with_line : function that adds the file and the line to an error.
    """

    history: str
    values: Mapping[str, Any]
    error_with_line: Callable[[ParameterError], ParameterError] = field(repr=False)


@dataclass(frozen=True)
class SuiteEntry:
    """A suite of a rules file, with the options of its gate.

    values : maps each field to its value, which is set in the suite or at the top of the file. The
        value of `runs` is a list of paths.
    error_with_line : function that adds the file and the line to an error.
    gate_runner, shared_options : the `GateRunner` and the shared options. Both are None until passk
        creates the gate of the suite.
    """

    suite: SuiteKeyValues
    values: Mapping[str, Any]
    error_with_line: Callable[[ParameterError], ParameterError] = field(repr=False)
    gate_runner: Any = None
    shared_options: Any = None

    @contextmanager
    def locate_errors(self, command_line_flags: Collection[str] = ()) -> Iterator[None]:
        """Add the file, the line and the suite to errors that the `with` block raises.

        command_line_flags : options of the command line. Errors about these options stay unchanged.
        """
        try:
            yield
        except DataError:
            raise
        except ParameterError as error:
            if (
                isinstance(error.place, OptionWithValue)
                and error.place.option in command_line_flags
            ):
                raise
            raise self.error_with_line(error) from None


def replace_options_with_keys(message: Diagnostic) -> Diagnostic:
    """Suggest keys of the rules file instead of the options that a message suggests.

    A key can apply to a single suite, but an option on the command line would apply to all suites.

    >>> from passk_cli.diagnostic import NOTE
    >>> pooled = Diagnostic("pooled", NOTE, "effort differs",
    ...     fixes=(SuggestedFix({"--by": ("effort",)}),))
    >>> replace_options_with_keys(pooled).text
    'effort differs; by = "effort"'
    """
    keys = "; ".join(_fix_as_keys(fix) for fix in message.fixes if not fix.command)
    if not keys:
        return replace(message, fixes=())
    words = "; ".join(filter(None, [message.remedy, "{keys}"]))
    return replace(message, remedy=words, fields={**message.fields, "keys": keys}, fixes=())


def _fix_as_keys(fix: SuggestedFix) -> str:
    key_names = {"--alias": "aliases"}
    keys = {key_names.get(flag, flag.lstrip("-")): value for flag, value in fix.options.items()}
    parts = (f"without {k}" if v is None else f"{k} = {_toml_value(v)}" for k, v in keys.items())
    return f"{', '.join(parts)} {fix.effect}".strip()


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(k)} = {_toml_value(v)}' for k, v in value.items())} }}"
    if isinstance(value, tuple) and len(value) == 1:
        return _toml_value(value[0])
    return str(value) if isinstance(value, Placeholder) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Rulebook:
    """The contents of a rules file.

    path : path of the file.  trend_entry : the table [trend] of the file, or None.
    tier : name of the tier, or "" for all suites.  other_suites : names of suites outside this
        tier.
    digest : first 12 digits of the SHA-256 hash of the file.
    fallible_verdict_count : number of verdicts that can be wrong by chance.
    quarantined_task_count : number of tasks in quarantine.
    """

    path: str
    suite_entries: tuple[SuiteEntry, ...]
    trend_entry: TrendTableValues | None = None
    other_suites: tuple[str, ...] = ()
    tier: str = ""
    digest: str = ""
    level: float = 0.0
    fallible_verdict_count: int = 0
    quarantined_task_count: int = 0

    @property
    def adjusted_confidence_per_verdict(self) -> float:
        """The confidence level of one verdict, adjusted for the number of verdicts (Bonferroni)."""
        return (
            self.level
            if self.fallible_verdict_count < 2
            else 1.0 - (1.0 - self.level) / self.fallible_verdict_count
        )

    @property
    def level_text(self) -> str:
        if self.fallible_verdict_count < 2:
            return f"{100 * self.level:g} %" if self.fallible_verdict_count else ""
        level, per_verdict = (
            f"{100 * share:.4g} %" for share in (self.level, self.adjusted_confidence_per_verdict)
        )
        return f"{level} for {self.fallible_verdict_count} verdicts together ({per_verdict} each)"

    @property
    def omission_notes(self) -> list[str]:
        notes = []
        if self.quarantined_task_count:
            notes.append(f"{plural(self.quarantined_task_count, 'task')} in quarantine")
        if self.other_suites:
            notes.append(f"{plural(len(self.other_suites), 'suite')} not in tier {self.tier}")
        return notes

    def with_gate_runners(
        self, ask: Callable[..., tuple[Any, Any]], command_options: Mapping[str, Any]
    ) -> Rulebook:
        """Create the `GateRunner` of each suite.

        command_options : options of the command line, which replace options of the file.
        Errors: one ParameterError that lists the problems of all suites with line numbers.
        """
        overrides = {field: value for field, value in command_options.items() if is_given(value)}
        flags = [option.option.name for option in COMMAND.options() if option.field in overrides]

        def with_question(entry: SuiteEntry) -> SuiteEntry:
            with entry.locate_errors(flags):
                values = {**entry.values, **overrides, "rules": None, "tier": None, "check": None}
                gate, options = ask(values, entry.values["runs"], requires_data=True)
                in_quarantine = [task.task for task in entry.suite.active_quarantine]
                if tasks := [task for task in in_quarantine if task in gate.must_pass]:
                    problem = "this task is in quarantine; remove it from must-pass or quarantine"
                    place = OptionWithValue("--must-pass", tasks[0])
                    raise ParameterError(place, problem, name="bad-rules")
                if options.comparison_options.adjust in (BH, UNADJUSTED):
                    raise ParameterError(
                        OptionWithValue("--adjust", options.comparison_options.adjust),
                        "this adjustment cannot keep one significance level for all suites",
                        name="invalid-method",
                        settles=[SuggestedFix({"--adjust": name}) for name in (MIN_P, HOLM)],
                    )  # fmt: skip
                gate.require_rules()
                return replace(entry, gate_runner=gate, shared_options=options)

        return replace(
            self, suite_entries=tuple(map_and_join_errors(with_question, self.suite_entries))
        )


def map_and_join_errors(make: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """Apply a function to all items, and raise the errors of all items together."""
    results, wrong = [], dict[str, ParameterError]()
    for item in items:
        try:
            results.append(make(item))
        except ParameterError as error:
            wrong.setdefault(str(error), error)
    if not wrong:
        return results
    first, *more_errors = wrong.values()
    if not more_errors:
        raise first
    if any(error.fixes != first.fixes for error in more_errors):
        raise ParameterError(clauses_joined_by_semicolons(*wrong), name=first.name)
    problems = (str(error.args[0]) for error in (first, *more_errors))
    raise ParameterError(
        clauses_joined_by_semicolons(*problems), name=first.name, settles=first.fixes
    )


def gate_option_by_key() -> dict[str, DeclaredOption]:
    """Maps each key that a rules file may contain to its option of `passk gate`."""
    declared_options = [
        option for option in COMMAND.options() if option.field not in _FORBIDDEN_OPTIONS
    ]
    keys = {
        flag.lstrip("-"): option
        for flag, option in declared_options_by_flag(declared_options).items()
    }
    return {"aliases" if key == "alias" else key: option for key, option in keys.items()}


def trend_option_by_key() -> dict[str, DeclaredOption]:
    options = [option for option in TREND_COMMAND.options() if option.field in _TREND_FIELDS]
    keys = {flag.lstrip("-"): option for flag, option in declared_options_by_flag(options).items()}
    return {"history": options_by_field(TrendTable)["history"], **keys}


def read_rulebook(path: str | None, tier: str | None, *, trusted: bool = False) -> Rulebook | None:
    """Read a rules file, or return None if there is no rules file.

    path : the rules file. If `path` is None, passk reads passk.toml in the current folder or, if
        there is no such file, [tool.passk] in pyproject.toml.
    trusted : whether the rules file may name URLs and files outside its folder.
    Errors: ParameterError with the line number for text that is not TOML, unknown keys, wrong
        values, and files that need --trust-rules. passk does not open these files.
    """
    if path is None:
        project = False
        if os.path.isfile(PROJECT):
            with suppress(OSError), open(PROJECT, "rb") as file:
                project = b"[tool.passk" in file.read(MOST_TOML)
        path = FILE if os.path.isfile(FILE) else PROJECT if project else None
        # A file that contains only field maps is not a rules file.
        if path is None or {TABLE} >= _RuleFile.from_path(path).tables.keys():
            return None
    return replace(_RuleFile.from_path(path), trusted=trusted).rulebook(tier)


@dataclass(frozen=True)
class _RuleFile:
    """The text of a rules file and its tables.

    pyproject_table_prefix : prefix of table names, which is "tool.passk." in pyproject.toml.
    trusted : whether the file may name URLs and files outside its folder.
    """

    path: str
    text: str
    tables: Mapping[str, Any]
    pyproject_table_prefix: str = ""
    trusted: bool = False

    @classmethod
    def from_path(cls, path: str) -> _RuleFile:
        text, tables = read_toml(path, "bad-rules", "write a [[suite]] with a name, runs and rules")
        if os.path.basename(path) != PROJECT:
            return cls(path, text, tables)
        tool = tables.get("tool", {})
        if "passk" not in tool:
            problem = "the file has no table [tool.passk]; write the suites into this table"
            raise ParameterError(f"{path}: {problem}", name="bad-rules")
        return cls(path, text, tool["passk"], "tool.passk.")

    def error_with_line(
        self, error: ParameterError | str, at: int | str = -1, name: str = ""
    ) -> ParameterError:
        """Add the file, the line and the suite to an error.

        error : an error, or the text of a problem. If the text begins with a key, the reported line
            is the line of this key. Otherwise, the reported line is the line of the table.
        at : index of the suite, TREND for the table [trend], or -1 for the part above the suites.
        """
        text, kind = error, "bad-rules"
        if isinstance(error, ParameterError):
            start = f"{str(error.place).lstrip('-')}: " if error.place else ""
            text = "; ".join([start + error.problem, *map(_fix_as_keys, error.fixes)])
            kind = error.name
        key = (re.match(r"[\w-]*", str(text)) or [""])[0].replace("_", "-")
        lines, top = self._line_numbers(at), self._line_numbers(-1)
        line = lines.get(key) or top.get(key) or lines.get("")
        table = at if isinstance(at, str) else SUITE
        about = "" if at == -1 else f"{' '.join(filter(None, (table, name)))}: "
        place = f"{self.path}:{line}" if line else self.path
        return ParameterError(f"{place}: {about}{text}", name=kind)

    def _line_numbers(self, at: int | str) -> dict[str, int]:
        """Maps each key of a table to a line number, and "" to the line number of the header.

        at : index of the suite, TREND for the table [trend], or -1 for the part above the suites.
        """
        lines, suite, inside = dict[str, int](), -1, not self.pyproject_table_prefix
        place: int | str = suite
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(#.*)?$", line):
                name = header[1].removeprefix(self.pyproject_table_prefix)
                suite += name == SUITE
                table = name.partition(".")[0]
                inside = table in (SUITE, TREND) or f"{name}." == self.pyproject_table_prefix
                place = TREND if table == TREND else suite
                key = "" if name in (SUITE, at) else name.removeprefix(f"{SUITE}.")
            elif key_match := re.match(r"\s*[\"']?([\w@^-]+)[\"']?\s*[.=]", line):
                key = key_match[1].replace("_", "-")
            else:
                continue
            if (header and at == -1) or (place == at and (inside or header)):
                lines.setdefault(key, number)
        return lines

    def rulebook(self, tier: str | None) -> Rulebook:
        """Parse the file, and keep the suites of one tier, or all suites if `tier` is None."""
        if TABLE in self.tables:
            read_maps(self.path)
        suites = self.tables.get(SUITE) or [None]
        if not isinstance(suites, list) or not all(isinstance(suite, dict) for suite in suites):
            raise self.error_with_line(_FILE_WITHOUT_SUITE_ERROR)
        top = dict[str, Any]()
        shared = {k: v for k, v in self.tables.items() if k not in (SUITE, TREND, TABLE)}

        def read_shared_options() -> None:
            top.update(
                self._option_values(
                    shared, gate_option_by_key(), self.error_with_line, (SUITE, TREND)
                )
            )

        steps = [partial(self._entry, at, table, top) for at, table in enumerate(suites)]
        all_steps = [read_shared_options, *steps, self._trend]
        _, *entries, trend = map_and_join_errors(lambda step: step(), all_steps)
        names = [entry.suite.name for entry in entries]
        twice = next((at for at, name in enumerate(names) if names.index(name) < at), None)
        if twice is not None:
            raise self.error_with_line("name: another suite has the same name", twice, names[twice])
        tiers = list(dict.fromkeys(name for entry in entries for name in entry.suite.tier))
        if tier is not None and tier not in tiers:
            question = did_you_mean_or_list(tier, tiers) if tiers else "no suite has a tier"
            problem = f"no suite of {self.path} has this tier; {question}"
            raise ParameterError(OptionWithValue("--tier", tier), problem)
        selected = [tier is None or tier in entry.suite.tier for entry in entries]
        run = tuple(compress(entries, selected))
        other_suites = tuple(compress(names, [not is_selected for is_selected in selected]))
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:12]
        return Rulebook(self.path, run, trend, other_suites, tier or "", digest)

    def _entry(self, at: int, table: Mapping[str, Any], top: Mapping[str, Any]) -> SuiteEntry:
        refused = partial(self.error_with_line, at=at, name=str(table.get("name", "")))
        suite_options = {
            option.option.name: option for option in options_by_field(SuiteKeyValues).values()
        }
        keys = {**gate_option_by_key(), **suite_options}
        values = self._option_values(table, keys, refused, of_suite=True)
        try:
            suite = fill_options(SuiteKeyValues, values)
        except ParameterError as error:
            raise refused(error) from None
        if not suite.name or not suite.runs:
            raise refused(f"{'runs' if suite.name else 'name'} is missing")
        values = {
            **top,
            **{k: v for k, v in values.items() if k not in options_by_field(SuiteKeyValues)},
        }
        if values.get("baseline") == _REFUSED_BASELINE_KEYWORD:
            raise refused(_RECORD_KEYWORD_ERROR)
        values = self._resolve_paths({**values, "runs": list(suite.runs)}, refused)
        if TABLE in self.tables:
            values.setdefault("map", AdjacentMapPath(self.path))
        return SuiteEntry(suite, values, refused)

    def _trend(self) -> TrendTableValues | None:
        table = self.tables.get(TREND)
        if table is None:
            return None
        refused = partial(self.error_with_line, at=TREND)
        table = table if isinstance(table, dict) else {}
        values = self._option_values(table, trend_option_by_key(), refused)
        if not isinstance(values.get("history"), str):
            raise refused(_TREND_WITHOUT_HISTORY_ERROR)
        history = self._resolve_paths(values, refused)["history"]
        del values["history"]
        try:
            for group in (TrendOptions, Request, Confidence):
                fill_options(group, values)
        except ParameterError as error:
            raise refused(error) from None
        return TrendTableValues(history, values, refused)

    def _option_values(
        self, table: Mapping[str, Any], keys: Mapping[str, DeclaredOption],
        refused: Callable[..., ParameterError], other_keys: Sequence[str] = (), *,
        of_suite: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """Maps the fields of the keys in a table to values. Keys may use underscores or hyphens."""
        values = dict[str, Any]()

        def take(key: str) -> None:
            value, option = table[key], keys.get(key) or keys.get(key.replace("_", "-"))
            if key in _REMOVED_KEYS:
                raise refused(f"{key}: {_REMOVED_KEYS[key]}")
            if option is None:
                key_names = [k.replace("-", "_") if "_" in key else k for k in (*keys, *other_keys)]
                question = did_you_mean_or_list(key, key_names, "`passk help gate` lists them")
                raise refused(f"{key}: unknown key; {question}")
            if of_suite and option.field in OPTIONS_SAME_FOR_ALL_SUITES:
                raise refused(f"{key}: all suites must share this key; write it above [[suite]]")
            if option.field in values:
                raise refused(f"{key}: this key is given twice; remove one")
            if isinstance(value, dict) and option.base_type is not Mapping:
                placeholder = option.option.value_placeholder or "a value"
                raise refused(f"{key}: write {placeholder} and not a table")
            values[option.field] = value

        map_and_join_errors(take, table)
        return values

    def _resolve_paths(
        self, values: Mapping[str, Any], refused: Callable[..., ParameterError]
    ) -> dict[str, Any]:
        """Replace the paths in a table by paths relative to the current folder.

        Errors: ParameterError for a path that the rules file may not name.
        """
        located, runs = dict(values), options_by_field(SuiteKeyValues)["runs"]
        for key, option in {**gate_option_by_key(), **trend_option_by_key(), "runs": runs}.items():
            value = values.get(option.field)
            if (
                option.field not in (*PATH_FIELDS, *PATH_OR_NAME_FIELDS, *TASK_LIST_FIELDS)
                or value is None
            ):
                continue
            several = value if isinstance(value, list) else [value]
            paths = [self._resolve_path(option.field, key, part, refused) for part in several]
            is_list = isinstance(value, list) and len(paths) != 1
            located[option.field] = paths if is_list else paths[0]
        return located

    def _resolve_path(
        self, field: str, key: str, value: Any, refused: Callable[..., ParameterError]
    ) -> Any:
        is_file: Callable[[str], bool] = os.path.isfile
        if field in TASK_LIST_FIELDS:
            label, path = None, str(value)
        elif not isinstance(value, str) or (field == "map" and value == NO_MAP):
            return value
        else:
            label, path = split_label(value)
            is_file = is_existing_data_argument
        kind = "an address" if "://" in path else "an absolute path" if os.path.isabs(path) else ""
        moved = path if kind or path == "-" else self._path_from_rules(path)
        located = moved if label is None else f"{label}={moved}"
        if field not in PATH_FIELDS and not is_file(located):
            is_path = has_result_suffix(path) and field in PATH_OR_NAME_FIELDS
            is_past = ":last" in path or (os.sep in path and not kind)
            if not is_path and not (is_past and field == "baseline"):
                if not is_file(str(value)):
                    return str(value)
                located = str(value)
        if not kind and is_outside_folder(located, os.path.dirname(self.path)):
            kind = "outside the folder of the rules file"
        if kind and not self.trusted:
            problem = f"{key}: {value} is {kind}; name a file in the folder of the rules file"
            raise refused(problem).with_changes(
                ParameterError, name="untrusted-rules",
                settles=[SuggestedFix({"--trust-rules": True}, "allows all files")],
            )  # fmt: skip
        return located

    def _path_from_rules(self, path: str) -> str:
        return os.path.join(os.path.dirname(self.path), path)
