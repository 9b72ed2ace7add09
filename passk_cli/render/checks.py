"""The checks of a gate for pipelines: JUnit XML and GitHub annotations."""

from __future__ import annotations

from xml.etree import ElementTree

from passk_cli.errors import ParameterError
from passk_cli.render.style import Style, said
from passk_cli.report.model import Check, Report, signature_line
from passk_cli.text import printable


def junit(report: Report, style: Style) -> str:
    """One test case per rule and model; what is listed stands under system-out, warnings under
    system-err.

    A failing rule is a failure, one that cannot be checked an error.  An undecided one is skipped,
    or a failure where it counts as one.
    """
    _require_checks(report)
    checks = report.judged
    errors = sum(c.verdict == "error" and c.failing for c in checks)
    failing = sum(c.failing for c in checks) - errors
    skipped = sum(c.verdict == "undecided" and not c.failing for c in checks)
    suite = ElementTree.Element(
        "testsuite",
        name="passk gate",
        tests=str(len(checks)),
        failures=str(failing),
        skipped=str(skipped),
        errors=str(errors),
    )
    for check in checks:
        case = ElementTree.SubElement(suite, "testcase", classname=check.model, name=check.rule)
        text = _reason(check, style)
        if check.failing:
            kind = "error" if check.verdict == "error" else "failure"
            ElementTree.SubElement(case, kind, message=text).text = text
        elif check.verdict == "undecided":
            ElementTree.SubElement(case, "skipped", message=text)
        else:
            ElementTree.SubElement(case, "system-out").text = text
    lines = (*report.listed, signature_line(report))
    ElementTree.SubElement(suite, "system-out").text = "\n".join(lines)
    if warnings := _warnings(report):
        ElementTree.SubElement(suite, "system-err").text = "\n".join(warnings)
    return _document(suite)


def junit_failure(problem: str) -> str:
    """A suite whose one test case is the error that kept the rules from being checked."""
    suite = ElementTree.Element(
        "testsuite", name="passk gate", tests="1", failures="0", skipped="0", errors="1"
    )
    case = ElementTree.SubElement(suite, "testcase", classname="passk", name="gate")
    ElementTree.SubElement(case, "error", message=problem).text = problem
    return _document(suite)


def github(report: Report, style: Style) -> str:
    """One workflow command per rule: error, warning (undecided) or notice; then a notice of what
    is listed, and the warnings."""
    _require_checks(report)
    levels = {"undecided": "warning", "pass": "notice"}
    lines = []
    for check in report.judged:
        title = _property(f"passk: {check.rule}")
        would = "would " * (report.rehearsal and not check.of_rehearsal)
        message = _data(f"{would}{_outcome(check)}: {finding(check, style)}")
        level = "error" if check.failing else levels.get(check.verdict, "warning")
        lines.append(f"::{level} title={title}::{message}")
    if report.listed:
        # One command for all of them: a pipeline shows few notices of a step.
        listed = "%0A".join(map(_data, report.listed))
        lines.append(f"::notice title=passk%3A flips::{listed}")
    lines += [f"::warning title=passk::{_data(text)}" for text in _warnings(report)]
    return "".join(line + "\n" for line in lines)


def github_failure(problem: str) -> str:
    """The workflow command for an error that kept the rules from being checked."""
    return f"::error title=passk::{_data(problem)}\n"


def finding(check: Check, style: Style) -> str:
    """Finding of a check, with what else the reader has to know."""
    text = said(check.finding, style)
    # A finding names p and tasks that were lost itself.
    further = [*(detail for detail in check.details if detail not in text), check.rehearsed]
    return "; ".join(filter(None, (text, *further)))


def _reason(check: Check, style: Style) -> str:
    """The finding; of an undecided rule that fails the gate, that it does before it."""
    counted = f"{_outcome(check)}: " * (check.failing and check.verdict == "undecided")
    return counted + finding(check, style)


def _outcome(check: Check) -> str:
    """The verdict; of an undecided rule that fails the gate, as what it counts."""
    undecided = check.failing and check.verdict == "undecided"
    return f"{check.verdict}{', counted as fail' * undecided}"


def _warnings(report: Report) -> list[str]:
    return [said(message.pieces(), Style()) for message in report.warnings]


def _document(suite: ElementTree.Element) -> str:
    """The suite as a file; control characters, which XML has no way to say, as their codes."""
    for element in suite.iter():
        element.attrib.update({name: printable(text) for name, text in element.items()})
        lines = (element.text or "").split("\n")
        element.text = "\n".join(map(printable, lines)) or None
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _require_checks(report: Report) -> None:
    if not report.checks:
        raise ParameterError("-f junit and -f github are for passk gate", name="bad-output")


def _data(text: str) -> str:
    """The message of a workflow command; a percent sign starts a code there."""
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
