"""Whose temperature is which: from a column, or from the names of files and labels."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from passk_cli.errors import DataError, ParameterError
from passk_cli.files.database import quote_text
from passk_cli.message import NOTE, WARNING, Message
from passk_cli.outcomes.counts import Counts
from passk_cli.settle import Blank, Settle

TEMPERATURES_FROM_NAMES = Message(
    "named-temperatures", NOTE, "temperatures are read from names: {readings}", "",
    "No column holds the temperature of an attempt, so it is read from the names of models or"
    " files, such as gpt-4@T0.2, gpt-4_T0.2 or gpt-4_temp0.2. What is left of the name is the"
    " model.")  # fmt: skip
TEMPERATURES_IN_NAMES = Message(
    "shortened-names", NOTE, "names hold the temperature of the column too: {readings}", "",
    "A column holds the temperature and the names of models repeat it, as in gpt-4_T0.2. The names"
    " are cut, so that one model at two temperatures is not two models.")  # fmt: skip
MERGED_MODELS = Message(
    "merged-models", WARNING,
    "{models:model} with the same name and temperature as another, whose attempts are pooled", "",
    "After the temperature is taken out of the names, two names are the same model at the same"
    " temperature, and their attempts are pooled. Label the files if they are two models.",
)  # fmt: skip
TEMPERATURE = "temperature"
#: The columns looked for when none is named.
COLUMNS = (TEMPERATURE, "temp")
_REMEDY = (
    "a name can contain it as T0.2, gpt-4@T1, gpt-4_T0.2, gpt-4-t0.2 (with a decimal point) or"
    " gpt-4_temp0.2; or label the files, as gpt-4@T0.2=cold.jsonl"
)
# "T1" alone or after an @ ("flan-T5" is no temperature); "t0.2" and "temp1" between separators,
# the former not as a part of "t5.1.1".
_NUMBER = r"(\d+(?:\.\d+)?|\.\d+)"
_PLAIN = re.compile(r"\d+(\.\d*)?|\.\d+")
_LABEL = re.compile(rf"(?:^|@)T{_NUMBER}$")
_SHORT = re.compile(r"(?:^|[@_\-. /+])t(\d*\.\d+)(?=$|[@_\- /+]|\.(?!\d))", re.I)
_IN_A_NAME = re.compile(rf"(?:^|[@_\-. /+])temp(?:erature)?[=_\-]?{_NUMBER}(?=$|[@_\-. /+])", re.I)


def in_name(name: str) -> tuple[str, float] | None:
    """(model, temperature) from a model's name that says it; None when it does not, or says two.

    >>> in_name("T0.2"), in_name("gpt-4@T1"), in_name("codellama-7b_temp0.8")
    (('model', 0.2), ('gpt-4', 1.0), ('codellama-7b', 0.8))
    >>> in_name("run_T0.2"), in_name("qwen-t0.7_n10")
    (('run', 0.2), ('qwen_n10', 0.7))
    >>> in_name("flan-T5"), in_name("temp0.2_temp0.8")
    (None, None)
    """
    patterns = (_LABEL, _SHORT, _IN_A_NAME)
    # By the place of the number: two patterns may find the same one.
    matches = {m.span(1): m for pattern in patterns for m in pattern.finditer(name)}
    if len(matches) != 1:
        return None
    [match] = matches.values()
    model = (name[: match.start()] + name[match.end() :]).strip("@_-. /+")
    return model or "model", float(match[1])


def by_names(counts: Counts, groups: Sequence[str]) -> Counts:
    """The counts split by the temperatures in the models' names.

    groups : the groups in their order, one of them, of `COLUMNS`, for the temperature.
    Errors: DataError for a name without one temperature.
    """
    split = by_temperature(counts, None, "--by")
    others = [name for name in groups if name not in COLUMNS]
    places = [1 + others.index(name) + 1 if name in others else 1 for name in groups]
    series = [(names[0], *(names[place] for place in places)) for names in split.series]
    return split.regrouped(series, tuple(groups))


def by_temperature(counts: Counts, column: str | None, option: str = "--temperature") -> Counts:
    """The counts split by model and temperature, with the temperature as the first group.

    column : the group that holds temperatures; None to take them from the models' names.  Where
    names say the same temperature as the column, they are shortened to the model's.
    Temperatures are written shortly, "0.20" as "0.2"; what is then equal adds up.  What was read
    from names stands in the counts' facts.
    option : what names a column, for the error.
    Errors: DataError for a temperature that is no number ≥ 0, or names without one; ParameterError
    when another group is called temperature.
    """
    place = None if column is None else 1 + counts.group_names.index(column)
    readings = []
    for series in counts.series:
        said = in_name(series[0])
        if place is not None:
            value = _number(str(column), series[place])
        elif said is not None:
            value = said[1]
        else:
            raise DataError(
                series[0],
                f"no column {' or '.join(COLUMNS)}, and not exactly one temperature in this"
                " model's name",
                _REMEDY,
                name="no-temperature",
                settles=[Settle({option: Blank("COLUMN")}, "names the column")],
            )
        readings.append((series, said, value))
    if column != TEMPERATURE and TEMPERATURE in counts.group_names:
        values = {series[1 + counts.group_names.index(TEMPERATURE)] for series in counts.series}
        settle = Settle({"--temperature": TEMPERATURE, "--by": None})
        raise ParameterError(
            f"--by {TEMPERATURE}: the output's column of that name holds {column or 'the names'}",
            name="reserved-column",
            settles=[settle] * all(map(_PLAIN.fullmatch, values)),
        )
    others = [i for i in range(1, 1 + len(counts.group_names)) if i != place]
    # As text as well: 0.2 of a label and of a column are the same number.
    in_names = all(said and said[1] == value for _, said, value in readings)
    split = counts.regrouped(
        [
            (said[0] if in_names and said else old[0], degrees(value), *(old[i] for i in others))
            for old, said, value in readings
        ],
        (TEMPERATURE, *(counts.group_names[i - 1] for i in others)),
    )
    messages = []
    if in_names:
        words = [
            f"{old[0]!r} is {said[0]!r} at {degrees(value)}"
            for old, said, value in readings
            if said
        ]
        of_names = TEMPERATURES_FROM_NAMES if place is None else TEMPERATURES_IN_NAMES
        messages.append(of_names(readings=list(dict.fromkeys(words))))
    if merged := len(counts.series) - len(split.series):
        messages.append(MERGED_MODELS(models=merged))
    facts = replace(split.facts, messages=(*split.facts.messages, *messages))
    return replace(split, facts=facts)


def degrees(temperature: float) -> str:
    """A temperature as text, the shortest that is the same number.

    >>> degrees(0.2), degrees(1.0)
    ('0.2', '1')
    """
    return repr(temperature).removesuffix(".0")


def _number(column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        text_or_empty = repr(text) if text else "empty"
        raise DataError(
            f"column {column}",
            f"a temperature is {text_or_empty}; expected a number of at least 0",
            "correct it",
            name="no-temperature",
            settles=[Settle({"--where": f"{column} <> {quote_text(text)}"}, "leaves its rows out")],
        )
    return value + 0.0
