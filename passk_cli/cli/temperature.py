"""passk temperature: which temperature is best for which k."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from passk_cli.cli.options import Adjusting, Certainty, Interval, OptionalReading, not_empty
from passk_cli.cli.output import Charting, Output
from passk_cli.cli.temperature_options import Heat, PassAtK, Toy, check_toy
from passk_cli.errors import DataError, ParameterError

if TYPE_CHECKING:
    from passk_cli.outcomes.counts import Counts
    from passk_cli.report.model import Report


def temperature(
    reading: OptionalReading,
    choice: PassAtK,
    heat: Heat,
    toy: Toy,
    adjusting: Adjusting,
    method: Interval,
    certainty: Certainty,
    charting: Charting,
    output: Output,
) -> None:
    """Which temperature is best for which k; where two models change places.

    Example: passk temperature runs/*.jsonl -k 1,5,10

    Example: passk temperature --toy gaussian --spread 16 -k 2,8,64
    """
    check_toy(toy, choice, reading, heat, adjusting, method, certainty)
    output.check(reading.files, charting=charting)
    if toy.toy is not None:
        output.write(_toy(toy, choice), charting)
        return
    if not reading.files:
        raise ParameterError("no FILE; give result files, or --toy gaussian for the toy model")
    from passk_cli.report.pairs import Rules
    from passk_cli.report.temperature.names import by_temperature
    from passk_cli.report.temperature.report import temperature_report

    rules = Rules(adjust=adjusting.adjust).checked()
    how = certainty.how(method.interval, required=True)
    known = {"cluster": certainty.cluster, **choice.known}
    read, column = _read(reading, heat.temperature, known)
    counts, naming = by_temperature(read, column)
    report = temperature_report(
        counts,
        choice.of(counts),
        how,
        rules,
        short_tasks=choice.short_tasks,
        source=column or "names",
        naming=naming,
    )
    output.write(report, charting)


def _toy(toy: Toy, choice: PassAtK) -> Report:
    from passk_cli.report.temperature import toy as model

    families = model.parse_toy(toy.toy or "")
    gamma = model.DEFAULT_GAMMA if toy.gamma is None else toy.gamma
    if toy.fit:
        return model.fit_report(families, gamma)
    spreads = model.parse_spreads(toy.spread) if toy.spread is not None else model.DEFAULT_SPREADS
    return model.toy_report(families, spreads, gamma, choice.ks or model.DEFAULT_KS)


def _read(
    reading: OptionalReading, column: str | None, known: dict[str, Any]
) -> tuple[Counts, str | None]:
    """The counts by the column of temperatures, and its name; None where the files have none."""
    from passk_cli.report.temperature.names import COLUMNS

    not_empty("--temperature", [] if column is None else [column])
    wanted = COLUMNS if column is None else (column,)
    asked = [name.strip() for text in not_empty("--by", reading.by) for name in text.split(",")]
    reading = replace(reading, by=[name for name in asked if name not in wanted])
    for name in wanted:
        try:
            return reading.counts(more_by=(name,), **known), name
        except DataError as error:
            # What comes through a pipe cannot be read a second time.
            once = any(file == "-" or file.endswith("=-") for file in reading.files)
            if column is not None or once or error.problem != f"no column {name!r}":
                raise
    return reading.counts(**known), None
