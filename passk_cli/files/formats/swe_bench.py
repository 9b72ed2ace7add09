"""Results of SWE-bench and related benchmarks: reports on runs or instances, and files that show
which instances were resolved.

SWE-bench writes a report with lists of ids, MODEL.RUN.json. This report summarises the files
logs/run_evaluation/RUN/MODEL/INSTANCE/report.json. Source: github.com/SWE-bench/SWE-bench (MIT),
swebench/harness/reporting.py.  SWE-bench-Live writes results.json in the folder that contains
INSTANCE/report.json. On the leaderboard of SWE-bench-Live, the lists in results.json have names
without _ids. Source: github.com/microsoft/SWE-bench-Live (MIT), evaluation/evaluation.py.
In 2024, RepoUnderstander wrote final_report.json, which counts failures under the key stats and
lists only the resolved instances. Source: github.com/RepoUnderstander/RepoUnderstander.  SWE-bench
Pro writes traj/MODEL/eval_results.json. Source: github.com/scaleapi/SWE-bench_Pro-os (MIT).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from passk_cli.diagnostic import WARNING, DiagnosticType
from passk_cli.errors import BadRecordError, FileWithoutResultsError
from passk_cli.files.formats.format import (
    Contents,
    Example,
    File,
    Format,
    Row,
    finite_number,
    value_at_key_path,
)
from passk_cli.text import truncated_text

# _OUTCOME_BY_INSTANCE_LIST maps the name of a list of instances (without _ids) to the outcome of
# these instances and the reason. If two lists contain an instance, passk uses the outcome of the
# list that comes first here, because that list is more specific. For example, an
# infrastructure failure also counts as an error.
_OUTCOME_BY_INSTANCE_LIST: dict[str, tuple[bool | None, str]] = {
    "resolved": (True, ""),
    "success": (True, ""),
    "unresolved": (False, ""),
    "failure": (False, ""),
    "empty_patch": (False, "empty patch"),
    "no_generation": (False, "empty patch"),
    "no_apply": (False, "patch not applied"),
    "infra_failure": (None, "infrastructure"),
    "install_fail": (None, "infrastructure"),
    "reset_failed": (None, "infrastructure"),
    "test_timeout": (None, "timeout"),
    "test_errored": (None, "error"),
    "no_logs": (None, "error"),
    "error": (None, "error"),
    "incomplete": (None, "not attempted"),
}
# If an instance is in one of the lists of _ATTEMPTED_INSTANCE_LISTS and in no list with an outcome,
# the instance was run and failed.
_ATTEMPTED_INSTANCE_LISTS = ("completed", "generated", "with_logs", "applied")
_LISTS_WITH_FAILED_INSTANCES = ("unresolved", "failure", *_ATTEMPTED_INSTANCE_LISTS)
COMPLETED_INSTANCES_ONLY_WARNING = DiagnosticType(
    "completed-only", WARNING,
    "instances with an error or an empty patch have no report of their own and are missing from the"
    " results",
    "give the report of the run, which lists all instances",
    meaning="SWE-bench writes a report for an instance only if the tests of the instance ran.",
    why="An instance with an empty patch counts as a failure, but has no report. The resolved rate"
    " is too high if instances with an empty patch are missing.",
    advice="Use the report of the whole run (MODEL.RUN.json) instead of the reports of single"
    " instances.",
    example="warning[completed-only]: instances with an error or an empty patch have no report of"
    " their own and are missing from the results; give the report of the run, which lists all"
    " instances",
)  # fmt: skip
UNLISTED_INSTANCES_OMITTED_WARNING = DiagnosticType(
    "unlisted-instances", WARNING,
    "{instances:submitted instance} {instances:is|are} left out, because no list of the report"
    " contains {instances:it|them}",
    meaning="The report of a SWE-bench run lists resolved instances, unresolved instances, and"
    " instances that ended with an error. Some submitted instances are not in any list of the"
    " report.",
    why="The outcome of an unlisted instance is unknown. If unlisted instances failed, the resolved"
    " rate is too high.",
    advice="Look for the unlisted instances in the logs of the run, and evaluate them again.",
    example="warning[unlisted-instances]: 2 submitted instances are left out, because no list of"
    " the report contains them",
)  # fmt: skip

_RUN_LOG_FOLDERS = ("logs/run_evaluation", "logs/evaluation")


def _is_report(file: File) -> bool:
    run = file.has_keys("resolved_ids") and not file.keys.isdisjoint(
        {"completed_ids", "submitted_ids", "empty_patch_ids", "error_ids", "schema_version"}
        | {"submitted_instances", "resolved_instances"}
    )
    live = file.has_keys("success_ids", "failure_ids", "submitted_ids")
    board = file.has_keys("resolved") and not file.keys.isdisjoint(
        {"no_generation", "no_logs", "generated", "unresolved", "stats.generated"}
    )
    return file.structure == "object" and (run or live or board)


def _report_contents(file: File) -> Contents:
    report = file.document()
    lists = {key.removesuffix("_ids"): ids for key, ids in report.items() if isinstance(ids, list)}
    if lists.keys().isdisjoint(_LISTS_WITH_FAILED_INSTANCES):
        problem = "the report lists the resolved instances but not the failed instances"
        remedy = "give the report of the run, or the report.json of each instance"
        raise FileWithoutResultsError(file.source.name, problem, remedy)
    model, run = _model_and_run(file)
    attempts = _outcome_and_reason_by_instance(file.source.name, lists)
    nowhere = len(set(map(str, lists.get("submitted", ()))) - attempts.keys())
    if "submitted" not in lists:
        nowhere = int(finite_number(report.get("submitted_instances")) or 0) - len(attempts)
    messages = (UNLISTED_INSTANCES_OMITTED_WARNING(instances=nowhere),) if nowhere > 0 else ()
    rows = [Row(task, outcome, None, 0, why) for task, (outcome, why) in attempts.items()]
    return Contents(lambda request: rows, constants={"model": model, "run": run}, messages=messages)


def _outcome_and_reason_by_instance(
    place: str, lists: dict[str, list[Any]]
) -> dict[str, tuple[bool | None, str]]:
    attempts: dict[str, tuple[bool | None, str]] = {}
    for name, verdict in _OUTCOME_BY_INSTANCE_LIST.items():
        for task in map(str, lists.get(name, ())):
            before = attempts.setdefault(task, verdict)
            if before[0] is not verdict[0] and name in ("unresolved", "failure"):
                problem = f"the instance {truncated_text(task)!r} is both resolved and unresolved"
                raise BadRecordError(place, problem, "correct the report")
    for name in _ATTEMPTED_INSTANCE_LISTS:
        for task in map(str, lists.get(name, ())):
            attempts.setdefault(task, (False, ""))
    return attempts


def _model_and_run(file: File) -> tuple[str | None, str | None]:
    """The model and the run in a file name like MODEL.RUN.json, or (None, None) for other names."""
    stem = file.name.removesuffix(".json")
    model, dot, run = stem.rpartition(".")
    return (model, run) if dot and model and run else (None, None)


def _instance_report_patterns(file: File) -> tuple[str, ...]:
    if file.has_keys("success_ids"):
        return ("*/report.json",)
    model, run = _model_and_run(file)
    return tuple(f"{logs}/{run or '*'}/{model or '*'}/*/report.json" for logs in _RUN_LOG_FOLDERS)


def _is_instance_report(file: File) -> bool:
    is_swe_bench = any(key.endswith(".patch_successfully_applied") for key in file.keys)
    live = file.has_keys("instance_id", "resolved", "PASS_TO_PASS")
    return file.structure == "object" and (is_swe_bench or live)


def _instance_contents(file: File) -> Contents:
    report = file.document()
    live = "instance_id" in report
    results = {report["instance_id"]: report} if live else report
    facts: dict[str, object] = {}
    parts = file.path.parts
    if len(parts) > 3 and parts[-2] in results:
        model = parts[-4] if parts[-3] == "logs" else parts[-3]
        runs = len(parts) > 5 and f"{parts[-6]}/{parts[-5]}" in _RUN_LOG_FOLDERS
        facts = {"model": model, "run": parts[-4] if runs else None}
    resolved = {
        instance: value_at_key_path(result, "resolved") for instance, result in results.items()
    }
    return Contents(
        lambda request: _rows(resolved),
        constants=facts,
        messages=(COMPLETED_INSTANCES_ONLY_WARNING(),),
    )


def _rows(resolved: dict[str, Any]) -> Iterator[Row]:
    for instance, outcome in resolved.items():
        yield Row(instance, outcome, None, 0)


SWE_BENCH = Format(
    "swe-bench",
    "a resolved id; empty patches fail; errors and unrun instances are no outcome, although"
    " SWE-bench counts them as failed",
    "github.com/SWE-bench/SWE-bench: swebench/harness/reporting.py;"
    " github.com/microsoft/SWE-bench-Live: evaluation/evaluation.py",
    _is_report,
    _report_contents,
    ignored_siblings=_instance_report_patterns,
    example=Example(
        ("MODEL.RUN.json",),
        """\
{"total_instances": 4, "submitted_instances": 4, "completed_instances": 3,
 "resolved_instances": 2, "unresolved_instances": 1, "empty_patch_instances": 1,
 "error_instances": 0,
 "submitted_ids": ["astropy-1", "django-2", "django-3", "sympy-4"],
 "completed_ids": ["astropy-1", "django-2", "django-3"], "incomplete_ids": [],
 "resolved_ids": ["astropy-1", "django-2"], "unresolved_ids": ["django-3"],
 "empty_patch_ids": ["sympy-4"], "error_ids": [], "schema_version": 2}
""",
    ),
)
SWE_BENCH_INSTANCE = Format(
    "swe-bench-instance",
    "an instance with resolved true",
    "github.com/SWE-bench/SWE-bench: swebench/harness/grading.py;"
    " github.com/microsoft/SWE-bench-Live: evaluation/evaluation.py",
    _is_instance_report,
    _instance_contents,
    example=Example(
        ("logs/run_evaluation/RUN/MODEL/astropy-1/report.json",),
        """\
{"astropy-1": {"patch_is_None": false, "patch_exists": true,
               "patch_successfully_applied": true, "resolved": true}}
""",
        arguments="logs/run_evaluation",
    ),
)
SWE_BENCH_PRO = Format(
    "swe-bench-pro",
    "the value true; missing tasks are left out, although the leaderboard counts them as failed",
    "github.com/scaleapi/SWE-bench_Pro-os: traj/*/eval_results.json",
    lambda file: (
        file.structure == "object"
        and bool(file.keys)
        and all(key.startswith("instance_") for key in file.keys)
        and not _is_instance_report(file)
    ),
    lambda file: Contents(
        lambda request: _rows(file.document()),
        constants={"model": file.path.parent.name if file.name == "eval_results.json" else None},
    ),
    example=Example(
        ("traj/MODEL/eval_results.json",),
        """\
{"instance_ansible__ansible-1": true, "instance_openlibrary-2": false}
""",
        arguments="traj",
    ),
)
