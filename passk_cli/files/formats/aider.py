"""Results of Aider's benchmark: the file .aider.results.json in the folder of each exercise.

Source: github.com/Aider-AI/aider (Apache-2.0), benchmark/benchmark.py.  In Aider's result file, the
list tests_outcomes has one entry per try. Aider tries an exercise until its tests pass, and each
try sees the test output of the previous try. Therefore, passk reads all tries at an exercise as one
attempt. The outcome `final` is the result of the last try, and the outcome `first` is the result of
the first try. Aider's pass_rate_2 and pass_rate_1 are the pass rates of these outcomes.  A second
run of all exercises gives each exercise a second attempt.  If an exercise raised an exception, the
result file contains only the exception.
"""

from __future__ import annotations

from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    build_usage_amount_reader,
    require_list,
    value_at_key_path,
)

_FINAL, _FIRST = "final", "first"
# If a file contains only an exception, the file does not name the model. passk then reads the name
# of the model from the results of other exercises. These results are in files that match
# _SIBLING_RESULT_PATTERNS.
_SIBLING_RESULT_PATTERNS = (
    "../*/.aider.results.json",
    "../../../../*/exercises/practice/*/.aider.results.json",
)


def _recognises(file: File) -> bool:
    ended = file.keys == {"exception"} and file.name == ".aider.results.json"
    return file.structure == "object" and (file.has_keys("tests_outcomes", "testcase") or ended)


def _contents(file: File) -> Contents:
    result = file.document()
    ended = "tests_outcomes" not in result
    folder = str(result.get("testdir") or file.path.parent)
    *above, task = folder.rstrip("/").split("/")
    if above[-2:] == ["exercises", "practice"] and len(above) > 2:
        above, task = above[:-3], f"{above[-3]}/{task}"
    described = result
    if ended:
        names = (
            name for pattern in _SIBLING_RESULT_PATTERNS for name in file.sibling_names(pattern)
        )
        siblings = map(file.sibling_document, names)
        described = next((result for result in siblings if value_at_key_path(result, "model")), {})
    tries = require_list(file, "tests_outcomes", result.get("tests_outcomes"))
    facts = {name: described.get(name) for name in ("model", "edit_format", "reasoning_effort")}
    facts["run"] = above[-1] if above else None

    def row(outcome: str) -> Row:
        passed = tries[0 if outcome == _FIRST else -1] if tries else None
        timeout = passed is False and bool(result.get("test_timeouts"))
        reason = "error" if ended else "timeout" if timeout else ""
        return Row(task, passed, attempt=0, reason=reason, record=result)

    return Contents(
        lambda request: [row(request.outcome)], (_FINAL, _FIRST), facts, default_outcome=_FINAL
    )


AIDER = Format(
    "aider",
    "a last try that passes the tests; --outcome first selects the first try",
    "github.com/Aider-AI/aider: benchmark/benchmark.py",
    _recognises,
    _contents,
    read_usage_amounts=build_usage_amount_reader(
        cost="cost",
        duration_s="duration",
        tokens_in="prompt_tokens",
        tokens_out="completion_tokens",
    ),
    example=Example(
        ("tmp.benchmarks/RUN/LANGUAGE/exercises/practice/TASK/.aider.results.json",),
        """\
{"testdir": "tmp.benchmarks/RUN/python/exercises/practice/bowling", "testcase": "bowling",
 "model": "gpt-5.5", "edit_format": "diff",
 "tests_outcomes": [false, true], "cost": 0.01, "duration": 12.5}
""",
        arguments="tmp.benchmarks",
    ),
)
