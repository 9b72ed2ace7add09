"""The checks of a gate for pipelines: JUnit XML and GitHub annotations."""

from __future__ import annotations

from xml.etree import ElementTree

from passk_cli.errors import ParameterError
from passk_cli.render.style import Style, joined, parts, signature_line
from passk_cli.report.model import Check, Column, Report

_SHARE = Column("evidence", "share")


def junit(report: Report, style: Style) -> str:
    """One test case per rule and model; undecided ones are skipped, failed ones are failures."""
    _require_checks(report)
    failing = sum(c.failing for c in report.checks)
    skipped = sum(c.verdict == "undecided" and not c.failing for c in report.checks)
    suite = ElementTree.Element(
        "testsuite",
        name="passk gate",
        tests=str(len(report.checks)),
        failures=str(failing),
        skipped=str(skipped),
    )
    for check in report.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=check.model, name=check.rule)
        text = evidence(check, style)
        if check.failing:
            ElementTree.SubElement(case, "failure", message=text).text = text
        elif check.verdict == "undecided":
            ElementTree.SubElement(case, "skipped", message=text)
    ElementTree.SubElement(suite, "system-out").text = signature_line(report)
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def github(report: Report, style: Style) -> str:
    """One workflow command per rule: error, warning (undecided) or notice."""
    _require_checks(report)
    levels = {"undecided": "warning", "pass": "notice"}
    lines = []
    for check in report.checks:
        title = _property(f"passk: {check.rule}")
        message = _data(f"{check.model}: {check.verdict}, {evidence(check, style)}")
        level = "error" if check.failing else levels[check.verdict]
        lines.append(f"::{level} title={title}::{message}")
    return "".join(line + "\n" for line in lines)


def evidence(check: Check, style: Style) -> str:
    """What speaks for the verdict, in words."""
    shown = joined(parts(check.evidence, _SHARE, style))
    return f"{shown}; {check.detail}" if check.detail else shown


def _require_checks(report: Report) -> None:
    if not report.checks:
        raise ParameterError("-f junit and -f github are for passk gate")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
