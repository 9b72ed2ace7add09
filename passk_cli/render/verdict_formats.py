"""Writes the verdicts of a gate for CI: JUnit XML, GitHub annotations and GitLab code quality."""

from __future__ import annotations

import os
from hashlib import sha256
from xml.etree import ElementTree

from passk_cli.errors import ParameterError
from passk_cli.render.style import Style, sentence_text
from passk_cli.report.data_types import GateCheck, Report, options_signature_line
from passk_cli.suggested_fix import SuggestedFix
from passk_cli.text import printable, printable_json

# A rule with a verdict in _INCONCLUSIVE_VERDICTS neither passes nor fails.
_INCONCLUSIVE_VERDICTS = ("undecided", "not judged")
# GitHub shows at most ten errors and ten warnings per step, so passk replaces further annotations
# by one with their number.
_MAX_ANNOTATIONS_PER_LEVEL = 10
# If a gate has no rules file, GitLab shows the issues of the gate next to this file.
_ISSUE_FILE_WITHOUT_RULES_FILE = ".gitlab-ci.yml"


def junit(report: Report, style: Style) -> str:
    """A gate's verdicts as JUnit XML, with one test case per rule and model.

    A rule that fails is a failure, and a rule that cannot be checked is an error.  Undecided and
    unchecked rules are skipped tests, unless the gate counts undecided rules as failures.  Changed
    tasks and the signature are in system-out, and warnings in system-err.
    """
    _require_checks(report)
    checks = report.checks
    errors = sum(c.verdict == "error" and c.failing for c in checks)
    failing = sum(c.failing for c in checks) - errors
    skipped = sum(c.verdict in _INCONCLUSIVE_VERDICTS and not c.failing for c in checks)
    suite = ElementTree.Element(
        "testsuite", name="passk", tests=str(len(checks)), failures=str(failing),
        skipped=str(skipped), errors=str(errors),
    )  # fmt: skip
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=check.model, name=check.rule)
        text = _finding_marked_if_undecided(check, style)
        if check.failing:
            kind = "error" if check.verdict == "error" else "failure"
            ElementTree.SubElement(case, kind, message=text).text = text
        elif check.verdict in _INCONCLUSIVE_VERDICTS:
            ElementTree.SubElement(case, "skipped", message=text)
        else:
            ElementTree.SubElement(case, "system-out").text = text
    lines = (*report.changed_task_lines, options_signature_line(report))
    ElementTree.SubElement(suite, "system-out").text = "\n".join(lines)
    if warnings := _warning_texts(report):
        ElementTree.SubElement(suite, "system-err").text = "\n".join(warnings)
    return _xml_document(suite)


def junit_error(problem: str) -> str:
    """JUnit XML with one test case, which contains the error that stopped the gate."""
    counts = {"tests": "1", "failures": "0", "skipped": "0", "errors": "1"}
    suite = ElementTree.Element("testsuite", {"name": "passk", **counts})
    case = ElementTree.SubElement(suite, "testcase", classname="passk", name="gate")
    ElementTree.SubElement(case, "error", message=problem).text = problem
    return _xml_document(suite)


def github(report: Report, style: Style) -> str:
    """A gate's verdicts as GitHub workflow commands, with one notice about the changed tasks.

    A failed rule is an error, an undecided rule is a warning, and a passed rule is a notice.
    """
    _require_checks(report)
    levels = {"undecided": "warning", "pass": "notice", "not judged": "notice"}
    lines = []
    for check in report.checks:
        rule = _escape_workflow_command(f"passk: {check.rule}")
        title = rule.replace(":", "%3A").replace(",", "%2C")
        message = _escape_workflow_command(f"{_verdict_text(check)}: {finding_text(check, style)}")
        level = "error" if check.failing else levels.get(check.verdict, "warning")
        lines.append(f"::{level} title={title}::{message}")
    if flips := "%0A".join(map(_escape_workflow_command, report.changed_task_lines)):
        # One notice lists all changed tasks, because GitHub shows only ten notices per step.
        lines.append(f"::notice title=passk%3A flips::{flips}")
    warnings = map(_escape_workflow_command, _warning_texts(report))
    lines += [f"::warning title=passk::{text}" for text in warnings]
    return "".join(line + "\n" for line in lines)


def github_error(problem: str) -> str:
    """The GitHub workflow command for an error that stopped the gate."""
    return f"::error title=passk::{_escape_workflow_command(problem)}\n"


def github_errors_and_warnings(report: Report, style: Style) -> str:
    """The GitHub workflow commands of a gate, limited to ten errors and ten warnings."""
    commands, annotations = github(report, style).splitlines(keepends=True), []
    for level in ("error", "warning"):
        lines = [line for line in commands if line.startswith(f"::{level} ")]
        if surplus := lines[_MAX_ANNOTATIONS_PER_LEVEL - 1 :][1:]:
            more = f"::{level} title=passk::{len(surplus) + 1:,} more in the job summary\n"
            lines = [*lines[: _MAX_ANNOTATIONS_PER_LEVEL - 1], more]
        annotations += lines
    return "".join(annotations)


def gitlab(report: Report, style: Style) -> str:
    """A GitLab code-quality report, with one issue per warning and per rule that does not pass.

    The fingerprint of an issue depends on the rule but not on numbers, so that a merge request
    shows new and resolved issues.
    Source: docs.gitlab.com, "Code Quality", report format.
    """
    _require_checks(report)
    severities = {"error": "blocker", "fail": "critical", "undecided": "minor"}
    # GitLab rejects paths that begin with ./ or /.
    place = os.path.relpath(str(report.signature.get("rules", _ISSUE_FILE_WITHOUT_RULES_FILE)))
    issues = [
        _code_quality_issue(
            f"passk: {check.rule}", _finding_marked_if_undecided(check, style),
            "critical" if check.failing and check.verdict == "undecided"
            else severities.get(check.verdict, "info"),
            place, check.model, check.rule,
        )
        for check in report.checks if check.verdict != "pass"
    ]  # fmt: skip
    warnings = zip(report.warnings, _warning_texts(report), strict=True)
    issues += [
        _code_quality_issue(f"passk: {message.name}", text, "info", place, str(at))
        for at, (message, text) in enumerate(warnings)
    ]
    return printable_json(issues, indent=2) + "\n"


def gitlab_error(problem: str) -> str:
    """A GitLab code-quality report with one issue, which is the error that stopped the gate."""
    place = _ISSUE_FILE_WITHOUT_RULES_FILE
    issue = _code_quality_issue("passk: error", problem, "blocker", place, "error")
    return printable_json([issue], indent=2) + "\n"


def _code_quality_issue(
    name: str, text: str, severity: str, place: str, *identity: str
) -> dict[str, object]:
    return {
        "description": printable(text),
        "check_name": printable(name),
        "fingerprint": sha256("\0".join((name, *identity)).encode(errors="replace")).hexdigest(),
        "severity": severity,
        "location": {"path": place, "lines": {"begin": 1}},
    }


def finding_text(check: GateCheck, style: Style) -> str:
    """The finding of a check, followed by those details that the finding does not contain."""
    text = sentence_text(check.finding, style)
    details = (part for detail in check.details for part in detail.split("; "))
    further = [part for part in details if part not in text]
    return "; ".join(filter(None, (text, *further)))


def _finding_marked_if_undecided(check: GateCheck, style: Style) -> str:
    prefix = f"{_verdict_text(check)}: " * (check.failing and check.verdict == "undecided")
    return prefix + finding_text(check, style)


def _verdict_text(check: GateCheck) -> str:
    undecided = check.failing and check.verdict == "undecided"
    return f"{check.verdict}{', counted as fail' * undecided}"


def _warning_texts(report: Report) -> list[str]:
    return [sentence_text(message.pieces(), Style()) for message in report.warnings]


def _xml_document(suite: ElementTree.Element) -> str:
    """A test suite as XML.  Control characters are written as codes, because XML forbids them."""
    for element in suite.iter():
        element.attrib.update({name: printable(text) for name, text in element.items()})
        lines = (element.text or "").split("\n")
        element.text = "\n".join(map(printable, lines)) or None
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _require_checks(report: Report) -> None:
    if not report.checks:
        raise ParameterError(
            "junit, github and gitlab are formats for verdicts, but this report has no verdict",
            name="bad-output", settles=[SuggestedFix({"--fail": True}, "lets a trend fail")],
        )  # fmt: skip


def _escape_workflow_command(text: str) -> str:
    return printable(text).replace("%", "%25")
