"""The sentence from the lowest to the highest model, in every case."""

from __future__ import annotations

import pytest

from passk_cli.render.style import Style, answer_text
from passk_cli.report.data_types import Estimate, Report
from passk_cli.study.result import Result
from passk_cli.study.value_range import name_with_groups, range_sentence

R = Estimate


def said(
    cells: dict[str, Estimate], groups: tuple[str, ...] = (), style: Style | None = None
) -> str:
    facts = [Result(tuple(name.split("/")), "pass@1", 1, cell) for name, cell in cells.items()]
    report = Report(answer=(range_sentence(facts, groups),))
    return answer_text(report, style or Style())


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ({"a": R(0.5, low=0.4, high=0.6)}, "pass@1 of a is 0.500 [0.400, 0.600]."),
        ({"a": R(None, reason="n=1 < k=2 on 1 of 2 tasks")},
         "pass@1 cannot be computed: n=1 < k=2 on 1 of 2 tasks."),
        ({"a": R(None), "b": R(0.5)}, "pass@1 of b is 0.500. pass@1 cannot be computed for a."),
        ({"a": R(0.0), "b": R(0.0)}, "pass@1 is 0.000 for both models."),
        ({"a": R(1.0), "b": R(0.2), "c": R(0.2)},
         "pass@1 ranges from 0.200 (b, c) to 1.000 (a)."),
        ({**{f"m{i}": R(1.0) for i in range(7)}, "b": R(0.5, low=0.2, high=0.8)},
         "pass@1 ranges from 0.500 (b) to 1.000 (7 models)."),
        # An end that was picked from several has no interval.
        ({"a": R(1.0, low=0.9, high=1.0), "b": R(1.0, low=0.5, high=1.0), "c": R(0.1)},
         "pass@1 ranges from 0.100 (c) to 1.000 (a, b)."),
        # Ranges: clear ends; then an end that missing outcomes decide.
        ({"a": R(0.8, range_upper_end=0.9), "b": R(0.2, range_upper_end=0.7)},
         "pass@1 ranges from 0.200–0.700 (b) to 0.800–0.900 (a)."),
        ({"a": R(0.4, range_upper_end=0.9), "b": R(0.2, range_upper_end=0.7), "c": R(0.1)},
         "pass@1 ranges from 0.100 (c) to 0.400–0.900 (a or b);"
         " missing outcomes decide which models these are."),
        ({name: R(0.2, range_upper_end=0.7) for name in "abcd"},
         "pass@1 ranges from 0.200–0.700 (one of 4 models) to 0.200–0.700 (one of 4 models);"
         " missing outcomes decide which models these are."),
    ],
)  # fmt: skip
def test_every_case_has_its_sentence(cells: dict[str, Estimate], sentence: str) -> None:
    assert said(cells) == sentence


def test_groups_and_percentages() -> None:
    cells = {"a/0.2": R(0.5), "a/0.8": R(0.25)}
    text = said(cells, ("temperature",), Style(percent=True))
    assert text == "pass@1 ranges from 25.0 % (a, temperature 0.8) to 50.0 % (a, temperature 0.2)."
    assert name_with_groups(("m", "x", ""), ["suite", "mode"]) == 'm, suite x, mode ""'
