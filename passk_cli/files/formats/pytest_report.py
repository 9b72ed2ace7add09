"""pytest-json-report's .report.json, with one record per test.

Sources: github.com/numirias/pytest-json-report (MIT), pytest_jsonreport/plugin.py and serialize.py;
github.com/pytest-dev/pytest-repeat (MPL-2.0), pytest_repeat.py.  With pytest-repeat, the names of
the tests contain the attempt numbers. If a test runs 5 times, the names end with [1-5], [2-5] and
so on, or with [a-1-5] if the test has a parameter.  A test that failed and then
passed in a rerun has the outcome "rerun".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from passk_cli.diagnostic import NOTE, DiagnosticType
from passk_cli.errors import FileWithoutResultsError
from passk_cli.files.formats.format import (
    INCOMPLETE_RUN_WARNING,
    Contents,
    Example,
    File,
    Format,
    Row,
    build_usage_amount_reader,
    require_type,
    value_at_key_path,
)

REPEATED_TESTS_NOTE = DiagnosticType(
    "repeated-tests", NOTE,
    "{tests:test} {tests:is|are} repeated: in {example} the last two numbers are the attempt and"
    " the number of attempts",
    meaning="pytest-repeat adds the number of the attempt and the number of attempts to the name of"
    " a test, for example [1-5]. passk joins repeats if all tests of a function have the same last"
    " number and the attempts are numbered without gaps.",
    why="The repeated attempts of a test belong to one task. If passk did not join the repeats of a"
    " test, each attempt would be a separate task.",
    advice="If the numbers are parameters of the test, use `--records tests --field task=nodeid`."
    " passk then treats each name as a separate task.",
    example="note[repeated-tests]: 2 tests are repeated: in test_agent.py::test_refund[1-2] the"
    " last two numbers are the attempt and the number of attempts",
)  # fmt: skip

_REPEATED_TEST_NAME_PATTERN = re.compile(r"(.*?(?:\[|\[.*-))([1-9]\d*)-([1-9]\d*)\]", re.DOTALL)
_VERDICT_BY_TEST_OUTCOME: dict[Any, tuple[bool | None, str]] = {
    "passed": (True, ""),
    "xpassed": (True, ""),
    "failed": (False, ""),
    "xfailed": (False, "expected"),
    "rerun": (False, "passed when run again"),
    "error": (None, "error"),
    "skipped": (None, "skipped"),
}
_REPORT_KEYS = ("created", "duration", "exitcode", "root", "summary")


def _contents(file: File) -> Contents:
    report = file.document("tests", "collectors", "warnings")
    if not file.has_keys("tests[].nodeid"):
        problem = "the report contains no tests"
        remedy = "run pytest with --json-report, and without --json-report-summary"
        raise FileWithoutResultsError(file.source.name, problem, remedy)
    summary, plugins = report.get("summary"), value_at_key_path(report, "environment", "Plugins")
    without = isinstance(plugins, dict) and "repeat" not in plugins
    repeated = {} if without else _unnumbered_name_by_repeated_test(file)
    messages = []
    if repeated:
        example = next(iter(repeated))
        messages.append(REPEATED_TESTS_NOTE(tests=len(set(repeated.values())), example=example))
    tests_in_file = value_at_key_path(summary, "total")
    collected, deselected = (
        require_type(file, f"summary.{name}", value_at_key_path(summary, name), int) or 0
        for name in ("collected", "deselected")
    )
    tests_listed = collected - deselected
    if isinstance(tests_in_file, int) and tests_in_file < tests_listed:
        messages.append(INCOMPLETE_RUN_WARNING(listed=tests_listed, held=tests_in_file))
    facts = {"run": report.get("created")}
    return Contents(lambda request: _rows(file, repeated), constants=facts, messages=messages)


def _unnumbered_name_by_repeated_test(file: File) -> dict[str, str]:
    """Map the name of each repeated test to its name without the attempt number."""
    functions: dict[str, list[tuple[str, str, int, int]]] = {}
    parameters: dict[str, bool] = {}
    unnumbered: set[str] = set()
    for test in file.records("tests"):
        name, keywords = str(value_at_key_path(test, "nodeid")), value_at_key_path(test, "keywords")
        function = name.partition("[")[0]
        step = _REPEATED_TEST_NAME_PATTERN.fullmatch(name)
        if step is None:
            unnumbered.add(function)
            continue
        functions.setdefault(function, []).append((name, step[1], int(step[2]), int(step[3])))
        parameters[function] = not isinstance(keywords, list) or "parametrize" in keywords
    repeated: dict[str, str] = {}
    for function, tests in functions.items():
        counts = {count for *_, count in tests}
        steps: dict[str, set[int]] = {}
        for _, stem, number, _ in tests:
            steps.setdefault(stem, set()).add(number)
        (count, *more) = counts
        is_complete = all(numbers == set(range(1, count + 1)) for numbers in steps.values())
        has_one_count = function not in unnumbered and not more and count > 1
        if has_one_count and (is_complete or not parameters[function]):
            # Without the number of the repetition, the test name "a[1-5]" becomes "a", and
            # "a[b-1-5]" becomes "a[b]".
            repeated |= {name: stem[:-1] + "]" * stem.endswith("-") for name, stem, *_ in tests}
    return repeated


def _rows(file: File, repeated: dict[str, str]) -> Iterator[Row]:
    for place, test in enumerate(file.records("tests")):
        name = (
            require_type(file, f"tests[{place}].nodeid", value_at_key_path(test, "nodeid"), str)
            or ""
        )
        outcome = require_type(
            file, f"tests[{place}].outcome", value_at_key_path(test, "outcome"), str
        )
        outcome = outcome or ""
        # A test with subtests gets the outcome of the last subtest that did not pass.
        if outcome.startswith("subtests "):
            part = value_at_key_path(test, "call", "outcome")
            outcome = require_type(file, f"tests[{place}].call.outcome", part, str) or ""
        passed, reason = _VERDICT_BY_TEST_OUTCOME.get(outcome, (outcome or None, ""))
        step = _REPEATED_TEST_NAME_PATTERN.fullmatch(name) if name in repeated else None
        yield Row(
            repeated.get(name, name) or None,
            passed,
            None,
            int(step[2]) if step else 0,
            reason,
            place=f"tests[{place}]",
            record=test,
        )


PYTEST_REPORT_FORMAT = Format(
    "pytest-json-report",
    "passed or xpassed; failed, xfailed and rerun tests fail; errors and skipped tests are no"
    " outcome",
    "github.com/numirias/pytest-json-report: pytest_jsonreport/plugin.py;"
    " github.com/pytest-dev/pytest-repeat: pytest_repeat.py",
    lambda file: (
        file.structure == "object"
        and (
            file.has_keys("summary", "tests[].nodeid", "tests[].outcome")
            or file.has_keys(*_REPORT_KEYS)
        )
    ),
    _contents,
    # The duration of a pytest attempt is the duration of the test in seconds, without its setup.
    read_usage_amounts=build_usage_amount_reader(duration="call.duration"),
    example=Example(
        (".report.json",),
        """\
{"created": 1795408211.87, "exitcode": 1, "root": "/suite",
 "environment": {"Plugins": {"repeat": "0.9.4"}},
 "summary": {"passed": 3, "failed": 1, "total": 4, "collected": 4},
 "tests": [{"nodeid": "test_agent.py::test_refund[1-2]", "outcome": "passed"},
           {"nodeid": "test_agent.py::test_refund[2-2]", "outcome": "failed"},
           {"nodeid": "test_agent.py::test_search[1-2]", "outcome": "passed"},
           {"nodeid": "test_agent.py::test_search[2-2]", "outcome": "passed"}]}
""",
    ),
)
