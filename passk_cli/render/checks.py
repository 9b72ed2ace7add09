"""The checks of a gate for pipelines: JUnit XML and GitHub annotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree

from passk_cli.errors import ParameterError
from passk_cli.render.style import Style, answer, said, spoken
from passk_cli.report.model import Check, Estimate, Report, signature_line
from passk_cli.report.words import plural
from passk_cli.text import printable

# The order in which the verdict names what shuts the gate.
_FIRST = ("fail", "undecided", "error")


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


def verdict(report: Report, style: Style) -> str:
    """The gate's verdict in one line: "PASS: 3 rules hold" or "FAIL: " and the first reason.

    Of a rehearsal, what it would be: "REHEARSAL: this run would PASS: 3 rules hold", behind what
    is asked of the rehearsal.
    """
    _require_checks(report)
    if report.rehearsal:
        run = [replace(check, rehearsed="") for check in report.checks if not check.of_rehearsal]
        would = verdict(replace(report, rehearsal=False, checks=tuple(run)), style)
        asked = [f"{check.verdict.upper()}: {finding(check, style)}; " for check in report.checks
                 if check.of_rehearsal]  # fmt: skip
        return f"{''.join(asked)}REHEARSAL: this run would {would}"
    failing = sorted(
        (check for check in report.checks if check.failing),
        key=lambda check: _FIRST.index(check.verdict),
    )
    if failing:
        return f"FAIL: {_reason(failing[0], style)}{_others(failing, report.checks)}"
    holding = _holding(report, style)
    further = [words for words in report.omitted if words not in holding]
    return "; ".join((f"PASS: {holding}", *further))


def _holding(report: Report, style: Style) -> str:
    """How many rules hold, on which tasks, and the number of the only one, or an undecided one."""
    total = len(report.checks)
    undecided = [check for check in report.checks if check.verdict == "undecided"]
    lost = [c for c in report.checks if (c.shared or 0) < (c.baseline_tasks or 0)]
    on = [f" on {c.shared:,} of {plural(c.baseline_tasks or 0, 'baseline task')}" for c in lost]
    where = "".join(on[:1])
    if undecided:
        are = "is undecided and counts" if len(undecided) == 1 else "are undecided and count"
        holds = total - len(undecided)
        holding = f"{holds} of {plural(total, 'rule')} hold{'s' * (holds == 1)}{where}"
        if not holds:
            holding = f"no rule fails{where}"
        first = finding(undecided[0], style)
        return f"{holding}; {len(undecided)} {are} as pass: {first}"
    measured = [check for check in report.checks if isinstance(check.evidence, Estimate)]
    if len(measured) == 1 and not where:
        return finding(measured[0], style)
    every = {1: "the rule holds", 2: "both rules hold"}.get(total, f"all {total} rules hold")
    return f"{every}{where}"


def opening(report: Report, style: Style) -> str:
    """The answer; of a gate, its verdict before it."""
    line = verdict(report, style) if report.checks else ""
    return ". ".join(filter(None, (line, answer(report, style))))


def finding(check: Check, style: Style) -> str:
    """What the evidence shows, and what else the reader has to know."""
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


def _others(failing: Sequence[Check], checks: Sequence[Check]) -> str:
    """How many rules fail and how many cannot be checked, where there are several of them; how
    many are undecided and count as pass."""
    words, total = [], len(checks)
    if len(failing) > 1:
        unchecked = sum(check.verdict == "error" for check in failing)
        fails = len(failing) - unchecked
        if fails:
            words.append(f"{fails} of {total} rules fail{'s' * (fails == 1)}")
        if unchecked:
            words.append(f"{unchecked} of {total} cannot be checked")
    undecided = sum(check.verdict == "undecided" and not check.failing for check in checks)
    if undecided:
        are = "is undecided and counts" if undecided == 1 else "are undecided and count"
        words.append(f"{undecided} of {total} {are} as pass")
    return "".join(f"; {part}" for part in words)


def _warnings(report: Report) -> list[str]:
    return [spoken(message, Style()) for message in report.warnings]


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
