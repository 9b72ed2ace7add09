"""LiveCodeBench's files: *_eval_all.json with one record per problem, and *_eval.json, in which
only the position of a problem identifies the problem.

Source: github.com/LiveCodeBench/LiveCodeBench (MIT), lcb_runner/benchmarks/*.py and
lcb_runner/utils/path_utils.py.  A record has question_id, difficulty, contest_date, graded_list,
and code_list or pred_list.  In the scenarios for test output prediction and code execution, a
question has several records with different values of test_id or id.

lcb_runner/evaluation/ writes the files *_eval.json, each of which contains an array. The first
element of the array contains pass@k. The second element maps the position of each problem to a list
of attempts, and each attempt is a list of test results. A test result is true, false, or a negative
code: -1 or -3 for a timeout, -2 for a wrong answer, -4 for an error of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from passk_cli.diagnostic import NOTE, DiagnosticType
from passk_cli.errors import BadRecordError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    RowRequest,
    require_list,
    value_at_key_path,
)

PROBLEMS_NUMBERED_BY_POSITION_NOTE = DiagnosticType(
    "numbered-problems", NOTE,
    "problems are numbered by position, so compare only models that attempted the same list",
    "the _eval_all.json of the same run contains ids",
    meaning="In LiveCodeBench's _eval.json, the only id of a problem is the position in a list of"
    " problems. The list of problems depends on the release and on the range of dates.",
    why="If two models attempted different lists, a comparison pairs different problems that have"
    " the same position.",
    advice="Give the _eval_all.json of the same run, which contains the ids.",
    example="note[numbered-problems]: problems are numbered by position, so compare only models"
    " that attempted the same list; the _eval_all.json of the same run contains ids",
)  # fmt: skip

# LiveCodeBench writes files such as output/<model>/Scenario.codegeneration_10_0.2_eval_all.json.
_FILE_NAME_PATTERN = re.compile(
    r"Scenario\.(?P<scenario>\w+?)_\d+_(?P<temperature>\d+(?:\.\d+)?)(?:_\w+)?_eval(?:_all)?\.json"
)
_PROBLEM_ATTRIBUTE_KEYS = ("difficulty", "platform", "contest_date")


def _has_attempts_by_problem_position(file: File) -> bool:
    """Whether the file is an array with pass@k, followed by the attempts at each problem.

    In files of code execution, the first element of the array has no key `detail`.
    """
    if file.short_document is None:
        return file.has_keys("[].pass@1", "[].detail.pass@1")
    attempts = value_at_key_path(file.short_document, 1)
    lists = isinstance(attempts, dict) and all(isinstance(a, list) for a in attempts.values())
    scored = value_at_key_path(file.short_document, 0, "pass@1") is not None
    return lists and len(file.short_document) in (2, 3) and scored


def _contents(file: File) -> Contents:
    name = _FILE_NAME_PATTERN.fullmatch(file.name)
    facts: dict[str, object] = {}
    if name is not None:
        facts = {"model": file.path.parent.name, "temperature": float(name["temperature"])}
    if file.has_keys("[].graded_list"):
        return Contents(lambda request: _rows(file, request), constants=facts)
    facts["suite"] = name["scenario"] if name else None
    return Contents(
        lambda request: _rows_by_position(file),
        constants=facts,
        messages=(PROBLEMS_NUMBERED_BY_POSITION_NOTE(),),
    )


def _rows_by_position(file: File) -> Iterator[Row]:
    # passk reads the JSON array to its end to detect a truncated file.
    for part, attempts_of in enumerate(file.records()):
        if part != 1:
            continue
        if not isinstance(attempts_of, dict):
            problem = "the second element of the array is not an object with attempts by position"
            raise BadRecordError(file.source.name, problem, "correct the file")
        for task, attempts in attempts_of.items():
            for attempt, results in enumerate(require_list(file, f"problem {task}", attempts)):
                place = f"problem {task}[{attempt}]"
                tests = require_list(file, place, results)
                strange = [test for test in tests if not isinstance(test, int | float)]
                judged = all(test > 0 for test in tests) if tests and not strange else None
                late = judged is False and not {*tests}.isdisjoint((-1, -3))
                outcome, reason = strange[0] if strange else judged, "timeout" if late else ""
                yield Row(task, outcome, None, attempt, reason, place=place)


def _rows(file: File, request: RowRequest) -> Iterator[Row]:
    for place, record in enumerate(file.records()):
        outcomes = require_list(file, "graded_list", value_at_key_path(record, "graded_list"))
        test_id = value_at_key_path(record, "test_id")
        test_id = value_at_key_path(record, "id") if test_id is None else test_id
        question = value_at_key_path(record, "question_id")
        task = question if question is None or test_id is None else f"{question}/{test_id}"
        settings = {name: value_at_key_path(record, name) for name in _PROBLEM_ATTRIBUTE_KEYS}
        for attempt, outcome in enumerate(outcomes or [None]):
            yield Row(
                task,
                outcome,
                attempt=attempt,
                reason="" if outcomes else "not attempted",
                settings=settings,
                answer=value_at_key_path(record, "pred_list", attempt),
                solution=value_at_key_path(record, "code_list", attempt),
                place=f"record {place + 1}",
            )


LIVECODEBENCH = Format(
    "livecodebench",
    "an entry of graded_list that is true; in _eval.json, an attempt that passes all tests",
    "github.com/LiveCodeBench/LiveCodeBench: lcb_runner/benchmarks/, lcb_runner/evaluation/",
    lambda file: (
        file.structure == "array"
        and (
            file.has_keys("[].question_id", "[].graded_list")
            or _has_attempts_by_problem_position(file)
        )
    ),
    _contents,
    lambda file: tuple(
        file.name.replace("_eval_all.json", end)
        for end in (".json", "_eval.json")
        if file.name.endswith("_eval_all.json")
    ),
    example=Example(
        ("output/MODEL/Scenario.codegeneration_2_0.2_eval_all.json",),
        """\
[{"question_id": "2819", "difficulty": "easy", "contest_date": "2025-05-28T00:00:00",
  "code_list": ["print(1)", "print(2)"], "graded_list": [true, false], "pass@1": 0.5},
 {"question_id": "2820", "difficulty": "hard", "contest_date": "2025-05-28T00:00:00",
  "code_list": ["print(3)", "print(4)"], "graded_list": [true, true], "pass@1": 1.0}]
""",
    ),
)
