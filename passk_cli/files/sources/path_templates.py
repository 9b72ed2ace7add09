"""Read the values of columns from the path of a file. The values come from a template, or from
folders named key=value."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from passk_cli.errors import DataError, ParameterError
from passk_cli.suggested_fix import OptionWithValue

_PLACEHOLDER_OR_TEXT_PATTERN = re.compile(r"\{(\w+)\}|\*\*/|\*|[^{}*]+|.")
# _NUMBERED_RUN_NAME_PATTERN matches the name of a folder or file that ends with the number of a run
# or an attempt.
_NUMBERED_RUN_NAME_PATTERN = re.compile(
    r"^((?:.*[-_.])?(?:run|attempt|trial|sample|seed|rep|repeat|epoch|rollout|try)[-_]?)\d+$"
)
# _DATE_NAME_PATTERN matches the name of a folder or file that is a date, with or without a time.
_DATE_NAME_PATTERN = re.compile(r"^\d{4}([-_.]?)[01]\d\1[0-3]\d(?:[-_T. ]?[\d:.\-_]*Z?)?$")
# A column with the temperature of an attempt usually has a name in TEMPERATURE_COLUMN_NAMES.
TEMPERATURE_COLUMN_NAMES = ("temperature", "temp")
# _TEMPERATURE_PATTERN matches a temperature in a file name, such as "T0.2" or "temp1", but not "T5"
# (a model).
_TEMPERATURE_PATTERN = re.compile(
    r"(?<=[@_\-. +])(?:t(?=\d*\.\d)|temp(?:erature)?[=_\-]?)(\d*\.\d+|\d+)"
    r"(?=$|[@_\- +]|\.(?!\d))",
    re.I,
)


@dataclass(frozen=True)
class PathTemplate:
    """A template for the end of a path, with column names in braces, for example
    "{model}/run-{attempt}.json".

    A name in braces or a * matches any text without "/". The pattern **/ matches any number of
    folders.

    >>> PathTemplate("{model}/{task}/run-{attempt}.json").column_values("/data/a/t1/run-3.json")
    {'model': 'a', 'task': 't1', 'attempt': '3'}
    """

    text: str

    def __post_init__(self) -> None:
        names = self.column_names
        broken = re.search(r"[{}]", re.sub(r"\{\w+\}", "", self.text))
        if not names or broken or not all(map(str.isidentifier, names)):
            remedy = "write column names in braces, for example '{model}/{task}/run-{attempt}.json'"
            raise ParameterError(OptionWithValue("--path", self.text), remedy)
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            problem = f"{{{twice[0]}}} occurs twice; write * for one of the two"
            raise ParameterError(OptionWithValue("--path", self.text), problem)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The column names in the template."""
        return tuple(re.findall(r"\{(\w+)\}", self.text))

    @cached_property
    def _greedy_and_lazy_patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Two regular expressions for the template. In the first expression, a column name matches
        as much text as possible. In the second expression, it matches as little text as
        possible."""

        def expression(part: re.Match[str], often: str) -> str:
            if part[1]:
                return f"(?P<{part[1]}>[^/]{often})"
            return {"**/": "(?:.*/)?", "*": f"[^/]{often}"}.get(part[0]) or re.escape(part[0])

        parts = list(_PLACEHOLDER_OR_TEXT_PATTERN.finditer(self.text.lstrip("/")))
        most, least = ("".join(expression(p, often) for p in parts) for often in ("+", "+?"))
        return re.compile(f"(?:.*/)?{most}"), re.compile(f"(?:.*/)?{least}")

    def column_values(self, path: str) -> dict[str, str] | None:
        """Map each column to its text in a path. The result is None if the end of the path does not
        match.

        Errors: DataError if the template matches in two ways.
        """
        path = os.path.abspath(path)
        for ending in ("", ".gz", ".zst"):
            inside = path.removesuffix(ending)
            most, least = (pattern.fullmatch(inside) for pattern in self._greedy_and_lazy_patterns)
            if most is None or least is None:
                continue
            if most.groupdict() != least.groupdict():
                ways = (
                    ", ".join(f"{name}={value}" for name, value in match.groupdict().items())
                    for match in (most, least)
                )
                problem = f"the template {self.text} matches in two ways: {', or '.join(ways)}"
                remedy = "write more of the path, so that only one way matches"
                raise DataError(path, problem, remedy, name="bad-path")
            return most.groupdict()
        return None


def template_and_temperature(path: str) -> tuple[str, str] | None:
    """Find the temperature in a file name. Return the template for `--path` and the temperature.

    The result is None if the file name contains no temperature or several temperatures.

    >>> template_and_temperature("runs/gpt-4_T0.2.jsonl")
    ('{model}_T{temperature}.jsonl', '0.2')
    >>> template_and_temperature("flan-t5_temp1.csv.gz")
    ('{model}_temp{temperature}.csv.gz', '1')
    >>> template_and_temperature("runs/t5-v1.1.jsonl"), template_and_temperature("a_T0.2_T0.8.csv")
    (None, None)
    """
    name = os.path.basename(path)
    matches = list(_TEMPERATURE_PATTERN.finditer(name))
    if len(matches) != 1:
        return None
    start, end = matches[0].span(1)
    before = name[matches[0].start() - 1 : start]
    return f"{{model}}{before}{{temperature}}{name[end:]}", matches[0][1]


def is_date_name(name: str) -> bool:
    """Whether a name is a date, with or without a time.

    >>> is_date_name("2026-11-01"), is_date_name("20261101T0400Z"), is_date_name("run-1")
    (True, True, False)
    """
    return _DATE_NAME_PATTERN.match(name) is not None


def suggested_template(paths: Sequence[str]) -> str:
    """Suggest a `--path` template that fits most files, if folder or file names contain the task,
    the model or the attempt.

    The result is "" if no template fits.

    >>> runs = [f"out/{m}/t{t}/run-{j}/result.json" for m in "ab" for t in range(3) for j in (1, 2)]
    >>> suggested_template([*runs, "out/config.json"]), suggested_template(runs[::6])
    ('{model}/{task}/run-{attempt}/result.json', '{task}/t0/run-1/result.json')
    >>> suggested_template([f"out/{m}/2026-11-0{day}/result.json" for m in "ab" for day in (1, 2)])
    '{task}/{attempt}/result.json'
    >>> suggested_template([f"out/trial_{j}.json" for j in (1, 2)])
    'trial_{attempt}.json'
    >>> suggested_template([f"out/{m}/{{x/result.json" for m in "ab"])
    ''
    """
    all_parts = [re.sub(r"\.(gz|zst)$", "", os.path.abspath(path)).split("/") for path in paths]
    shape = Counter((len(parts), os.path.splitext(parts[-1])[1]) for parts in all_parts)
    (depth, suffix), _ = max(shape.items(), key=lambda item: item[1], default=((0, ""), 0))
    common_parts = [[*parts[:-1], parts[-1].removesuffix(suffix)] for parts in all_parts
             if (len(parts), os.path.splitext(parts[-1])[1]) == (depth, suffix)]  # fmt: skip
    levels = [[*dict.fromkeys(level)] for level in zip(*common_parts, strict=True)]
    varying = [place for place, level in enumerate(levels) if len(level) > 1]
    stems = {
        p: {_DATE_NAME_PATTERN.sub("", _NUMBERED_RUN_NAME_PATTERN.sub(r"\1", n)) for n in levels[p]}
        for p in varying
    }
    runs = [place for place in varying if len(stems[place]) == 1][-1:]
    role_places = [place for place in varying if place not in runs]
    if not varying or len(role_places) > 2:
        return ""
    names = ("{model}", "{task}")[2 - len(role_places) :]
    roles = dict(zip(role_places, names, strict=True))
    roles |= {place: f"{next(iter(stems[place]))}{{attempt}}" for place in runs}
    parts = [roles.get(place, level[0]) for place, level in enumerate(levels)][varying[0] :]
    fixed = (part.removesuffix("{attempt}") for part in parts)
    if any({*"{}*"} & {*part} for part in fixed if part not in roles.values()):
        return ""
    return "/".join(parts) + suffix


def key_value_folder_columns(path: str, names: Sequence[str]) -> Mapping[str, str]:
    """The values of the given columns, from folders named key=value in the path. If several folders
    define a column, the innermost folder counts.

    >>> key_value_folder_columns("/runs/temperature=0.2/a.jsonl", ["temperature", "prompt"])
    {'temperature': '0.2'}
    """
    parts = os.path.dirname(os.path.abspath(path)).split("/") if names else []
    pairs = dict(part.split("=", 1) for part in parts if "=" in part)
    return {name: pairs[name] for name in names if pairs.get(name)}


def template_columns(path: str, template: PathTemplate | None) -> dict[str, str]:
    """Map each template column to its text in a path, or to "" if the path does not match."""
    if template is None:
        return {}
    columns = template.column_values(path)
    return dict.fromkeys(template.column_names, "") if columns is None else columns


def path_columns(
    path: str, template: PathTemplate | None, by: Sequence[str], columns: Container[str]
) -> dict[str, str]:
    """The values of columns from the path of a file. The values come from the template, and from
    folders named key=value for the columns of `--by`.

    columns : the columns of the data. The template takes precedence over a column of the data, but
        a folder does not.
    """
    lacking = [name for name in by if name not in columns]
    return {**key_value_folder_columns(path, lacking), **template_columns(path, template)}


def run_label_by_file(files: Sequence[str]) -> dict[str, str]:
    """Map each file of a model to a label for the run in the file. The label is the file name, or a
    number if two file names are equal.

    >>> run_label_by_file(["n1.csv", "n2.csv"]), run_label_by_file(["a/x.csv", "b/x.csv"])
    ({'n1.csv': 'n1', 'n2.csv': 'n2'}, {'a/x.csv': 'run1', 'b/x.csv': 'run2'})
    """
    names = [Path(file).name.partition(".")[0] for file in files]
    if len({*names}) < len(names):
        names = [f"run{place}" for place, _ in enumerate(files, 1)]
    return dict(zip(files, names, strict=True))
