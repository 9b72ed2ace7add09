"""MultiPL-E's folders: one TASK.results.json.gz per task, with all attempts at the task.

Source: github.com/nuprl/MultiPL-E (BSD-3-Clause), pass_k.py and evaluation/src/main.py. A file
contains {"name": task, "language": …, "temperature": …, "results": [{"program", "status",
"exit_code"}, …]}. An attempt passes if its status is "OK" and its exit code is 0. passk checks both
values, because the exit code can be 0 even if the status is "Exception".  The folder is named
SUITE-LANGUAGE-MODEL-TEMPERATURE, sometimes followed by a variation of the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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

_FOLDER_NAME_PATTERN = re.compile(
    r"(?P<suite>[^-]+)-(?P<language>[^-]+)-(?P<model>.+)-(?P<temperature>\d+(?:\.\d+)?)"
    r"(?:-(?P<variation>\w+))?"
)


def _contents(file: File) -> Contents:
    document = file.document()
    language, above = document.get("language"), file.path.parent.name
    folder_parts = _FOLDER_NAME_PATTERN.fullmatch(above)
    facts = {"language": language, "temperature": document.get("temperature")}
    if folder_parts is None or folder_parts["language"] != language:
        facts |= {"model": above, "suite": language}
    else:
        facts |= {"model": folder_parts["model"], "suite": f"{folder_parts['suite']}-{language}"}
        facts |= {"prompt": folder_parts["variation"]} if folder_parts["variation"] else {}
        if facts["temperature"] is None:
            facts["temperature"] = float(folder_parts["temperature"])

    def rows(request: RowRequest) -> Iterator[Row]:
        document = file.document()
        results = require_list(file, "results", document.get("results")) or [None]
        for attempt, result in enumerate(results):
            status, code = (
                value_at_key_path(result, "status"),
                value_at_key_path(result, "exit_code"),
            )
            unknown = "not attempted" if result is None else "unscored"
            yield Row(
                document.get("name"),
                None if status is None or code is None else status == "OK" and code == 0,
                attempt=attempt,
                reason=unknown if status is None else "timeout" if status == "Timeout" else "",
                default_missing_reason="",
                solution=value_at_key_path(result, "program"),
                place=f"results[{attempt}]",
            )

    return Contents(rows, constants=facts)


MULTIPL_E = Format(
    "multipl-e",
    "an attempt with status OK and exit_code 0",
    "github.com/nuprl/MultiPL-E: pass_k.py",
    lambda file: file.has_keys("name", "language", "results[].status", "results[].exit_code"),
    _contents,
    example=Example(
        ("humaneval-rkt-MODEL-0.2/HumanEval_0_TASK.results.json.gz",),
        """\
{"name": "HumanEval_0_TASK", "language": "rkt", "temperature": 0.2, "results": [
   {"program": "…", "exit_code": 0, "status": "OK"},
   {"program": "…", "exit_code": 0, "status": "Exception"}]}
""",
        arguments="humaneval-rkt-MODEL-0.2",
    ),
)
