"""A pytest plugin that attempts a test many times and checks the pass rate of the test with the
rules of `passk gate`.

Every pytest run loads this module, so its top-level imports must be fast.  The plugin imports the
code of the gate when pytest finds the first marked test.
"""

from __future__ import annotations

import csv
import io
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from passk_cli.suggestions import did_you_mean_or_list

MARKER_DESCRIPTION = (
    "passk(attempts, rules): attempt a test many times, and pass or fail the test by these rules of"
    ' `passk gate` about its pass rate, for example {"min": {"pass^1": 0.9}}.'
)
# The options of `passk gate` in ALLOWED_RULES can be rules for a pytest test.
ALLOWED_RULES = ("min", "min_by", "min_each", "on_undecided", "level")
_EXTRA_ATTEMPTS_TO_TRY = (1, 2, 3, 5, 8, 13, 21, 34)
ATTEMPT_REPORT_OUTCOME = "attempt"
_ATTEMPT_FIXTURE_NAME = "_passk"
# Below a verdict, passk shows at most _MAX_TRACEBACKS tracebacks of failed attempts.
_MAX_TRACEBACKS = 3
_COLUMN_NAMES = ("task", "attempt", "passed")
_STAND_IN_TEST_NAME = "this test"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option --passk-out to pytest."""
    parser.getgroup("passk").addoption(
        "--passk-out",
        metavar="FILE",
        help="Write all attempts of tests marked passk to a .csv or .jsonl file.",
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marker in every process, and the collector of attempts in the main process of
    pytest."""
    from _pytest.junitxml import xml_key

    config.addinivalue_line("markers", MARKER_DESCRIPTION)
    out = config.getoption("--passk-out")
    if out and Path(out).suffix not in (".csv", ".jsonl"):
        raise pytest.UsageError(
            f"--passk-out {out}: passk has no format with this suffix; use .csv or .jsonl"
        )
    if out and not Path(out).absolute().parent.is_dir():
        raise pytest.UsageError(
            f"--passk-out {out}: the output folder does not exist; create it first"
        )
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(AttemptCollector(config, out), "passk-verdicts")
    if xml := config.stash.get(xml_key, None):
        # The JUnit report of pytest must contain verdicts and errors, but not single attempts.
        config.pluginmanager.unregister(xml)
        write: Callable[[pytest.TestReport], None] = xml.pytest_runtest_logreport

        def pytest_runtest_logreport(report: pytest.TestReport) -> None:
            if report.failed or not hasattr(report, "passk"):
                write(report)

        vars(xml)["pytest_runtest_logreport"] = pytest_runtest_logreport
        config.pluginmanager.register(xml)


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one pytest item for each attempt of a marked test."""
    marker = metafunc.definition.get_closest_marker("passk")
    if marker is None:
        return
    try:
        attempts, rules = parse_marker(marker)
        problem = ""
    except ValueError as error:
        problem = str(error)
    # A parameter can have markers, for example pytest.param(…, marks=pytest.mark.xfail).
    of_parameters = (m for call in getattr(metafunc, "_calls", ()) for m in call.marks)
    if any(m.name == "xfail" for m in (*metafunc.definition.iter_markers(), *of_parameters)):
        problem = "a test with the marker passk cannot have xfail; use the rules to allow failures"
    if problem:
        pytest.fail(f"{metafunc.definition.name}: @pytest.mark.passk: {problem}", pytrace=False)
    parameters = [
        {"attempt": i, "attempts": attempts, "rules": rules} for i in range(1, attempts + 1)
    ]
    metafunc.fixturenames.append(_ATTEMPT_FIXTURE_NAME)
    metafunc.parametrize(
        _ATTEMPT_FIXTURE_NAME, parameters, ids=[f"attempt{i}" for i in range(1, attempts + 1)]
    )


def parse_marker(marker: pytest.Mark) -> tuple[int, dict[str, Any]]:
    """The number of attempts and the rules that a marker sets.

    Errors: ValueError if the rules are not valid, or if the test could never pass or never fail.
    """
    arguments = dict(marker.kwargs)
    attempts, rules = arguments.pop("attempts", None), arguments.pop("rules", None)
    if marker.args or arguments or not isinstance(rules, Mapping):
        example = _marker_text(10, {"min": {"pass^1": 0.9}})
        wrong = "the marker accepts only the arguments attempts and rules"
        if not (marker.args or arguments):
            wrong = "rules are missing" if rules is None else f"rules={rules!r}: this is not a dict"
        raise ValueError(f"{wrong}; write {example}")
    if type(attempts) is not int or attempts < 1:
        raise ValueError(f"attempts={attempts!r}: the value must be a whole number of at least 1")
    for name in rules:
        if name not in ALLOWED_RULES:
            raise ValueError(
                f"there is no rule {name!r}; {did_you_mean_or_list(str(name), ALLOWED_RULES)}"
            )
    if not {"min", "min_each"} & rules.keys():
        raise ValueError("there is no rule to check; give min or min_each")
    try:
        text = _rules_json(rules)
    except TypeError:
        raise ValueError(f"rules={rules!r}: the values must be numbers or strings") from None
    problem, alternatives = _rules_problem_and_alternatives(attempts, text)
    if problem:
        remedies = (
            _marker_text(n, rules)
            for n, rules in alternatives
            if not _rules_problem_and_alternatives(n, _rules_json(rules))[0]
        )
        raise ValueError("; write ".join([problem, *islice(remedies, 1)]))
    return attempts, json.loads(text)


def _rules_json(rules: Mapping[str, Any]) -> str:
    return json.dumps(rules, sort_keys=True)


def _marker_text(attempts: int, rules: Mapping[str, Any]) -> str:
    return f"passk(attempts={attempts}, rules={json.dumps(rules, ensure_ascii=False)})"


@lru_cache
def _rules_problem_and_alternatives(
    attempts: int, rules_json: str
) -> tuple[str, list[tuple[int, dict[str, Any]]]]:
    """The reason why a test cannot use these rules (or ""), and alternatives, which are pairs of a
    number of attempts and rules."""
    from passk_cli.errors import PasskError

    rules = json.loads(rules_json)
    try:
        (worst, low), (best, high) = (judge_test(attempts, n, rules_json) for n in (0, attempts))
    except PasskError as error:
        fewer = [settle.options for settle in error.fixes if not any(settle.options.values())]
        alternatives = [{n: v for n, v in rules.items() if n not in options} for options in fewer]
        if error.name in ("no-role-column", "unknown-metric") and "did you mean" not in str(error):
            return f"rules={rules_json}: a test passes or fails; write pass@K or pass^K", []
        words = str(error.args[0]).replace("minimum=", "min=")
        return words, [(attempts, alternative) for alternative in alternatives]
    if best != "fail" and worst == "fail":
        return "", []
    more = [(attempts + n, rules) for n in _EXTRA_ATTEMPTS_TO_TRY]
    never = f"no outcome passes the test; {high}" if best == "fail" else ""
    return never or f"no outcome fails the test; {low}", more


def judge_test(attempts: int, passes: int, rules_json: str) -> tuple[str, str]:
    """The verdict of a gate on a test ("pass", "undecided" or "fail"), and a sentence that explains
    the verdict.

    An undecided test counts as passed.  The interval of the pass rate is only about this test, not
    about similar tests.
    """
    import passk_cli
    from passk_cli.render.style import Style, sentence_text

    options = json.loads(rules_json)
    options["minimum"] = options.pop("min", {})
    counts = passk_cli.Counts.from_cells(
        [(_STAND_IN_TEST_NAME, _STAND_IN_TEST_NAME, attempts, passes)]
    )
    with warnings.catch_warnings():
        # passk ignores warnings in a pytest session, because the session may turn warnings into
        # errors.
        warnings.simplefilter("ignore")
        report = passk_cli.gate(counts, population="these-tasks", **options).report
    undecided = [check for check in report.checks if check.verdict == "undecided"]
    failing = [check for check in report.checks if check.failing]
    findings = (
        sentence_text(check.finding, Style()) for check in failing or undecided or report.checks
    )
    words = "; ".join(finding.replace(f" of {_STAND_IN_TEST_NAME}", "") for finding in findings)
    verdict = "fail" if failing else "undecided" if undecided else "pass"
    return verdict, f"{passes} of {attempts} attempts passed: {words}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a marked test if pytest cannot repeat the test, for example a unittest test."""
    if item.get_closest_marker("passk") and attempt_facts_of_item(item) is None:
        kind = type(item).__name__
        pytest.fail(f"@pytest.mark.passk: mark a function, not a {kind}", pytrace=False)


def attempt_facts_of_item(item: pytest.Item) -> dict[str, Any] | None:
    """The attempt that a pytest item makes, with the name of its test, or None for an item that is
    not an attempt."""
    spec: Any = getattr(item, "callspec", None)
    if spec is None or _ATTEMPT_FIXTURE_NAME not in spec.params:
        return None
    attempt = spec.params[_ATTEMPT_FIXTURE_NAME]
    parameters = spec.id.removesuffix(f"attempt{attempt['attempt']}").removesuffix("-")
    test = item.nodeid.removesuffix(f"[{spec.id}]") + (f"[{parameters}]" if parameters else "")
    return {**attempt, "test": test}


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Store the outcome of an attempt in the report of the attempt, so that a failed attempt does
    not fail the session.

    An error in the setup or teardown of an attempt still fails the session.
    """
    outcome = yield
    attempt = attempt_facts_of_item(item)
    if attempt is None:
        return
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and not hasattr(report, "wasxfail"):
        attempt["skipped"] = str(report.longrepr[2]).removeprefix("Skipped: ")
    elif report.when == "call":
        attempt["passed"] = call.excinfo is None
    report.passk = attempt
    if "passed" in attempt or "skipped" in attempt:
        report.outcome = ATTEMPT_REPORT_OUTCOME
        vars(report).pop("wasxfail", None)


@dataclass
class RepeatedTest:
    """The attempts of one test that pytest has reported so far.

    completed_attempt_numbers : numbers of the completed attempts.
    passed_by_attempt : number of an attempt → whether the attempt passed.
    """

    __test__ = False

    nodeid: str
    attempts: int
    rules_json: str
    location: tuple[str, int | None, str]
    completed_attempt_numbers: set[int] = field(default_factory=set)
    passed_by_attempt: dict[int, bool] = field(default_factory=dict)
    skip_reasons: list[str] = field(default_factory=list)
    errored_attempts: set[int] = field(default_factory=set)
    failure_reports: dict[int, pytest.TestReport] = field(default_factory=dict)
    item_ids: set[Any] = field(default_factory=set)
    seconds: float = 0.0
    verdict: str = ""
    sentence: str = ""

    def add(self, report: pytest.TestReport, attempt: Mapping[str, Any]) -> None:
        """Add pytest's report of the setup, the call or the teardown of an attempt."""
        number = attempt["attempt"]
        # Newer versions of pytest identify failed tests by report.id instead of report.nodeid.
        self.item_ids.add(getattr(report, "id", report.nodeid))
        self.seconds += report.duration
        if "passed" in attempt:
            self.passed_by_attempt[number] = attempt["passed"]
            if not attempt["passed"]:
                self.failure_reports[number] = report
        elif "skipped" in attempt:
            self.skip_reasons.append(attempt["skipped"])
        elif report.failed:
            self.errored_attempts.add(number)
        if report.when == "teardown":
            self.completed_attempt_numbers.add(number)

    def judge(self) -> None:
        """Compute the verdict on the test, and the sentence about the verdict, from the
        attempts."""
        n, lost = len(self.passed_by_attempt), self.attempts - len(self.passed_by_attempt)
        if self.skip_reasons and len(self.skip_reasons) == lost == self.attempts:
            self.verdict, self.sentence = "skipped", self.skip_reasons[0]
            return
        if n:
            self.verdict, self.sentence = judge_test(
                n, sum(self.passed_by_attempt.values()), self.rules_json
            )
        if lost:
            why = [f"{len(self.errored_attempts)} ended in an error"] * bool(self.errored_attempts)
            why += [f"{len(self.skip_reasons)} skipped"] * bool(self.skip_reasons)
            summary = f"{n} of {self.attempts} attempts have an outcome"
            summary += f" ({', '.join(why)})" if why else ""
            self.verdict, self.sentence = "fail", "; ".join(filter(None, (summary, self.sentence)))

    @property
    def verdict_as_reports(self) -> Iterator[pytest.TestReport]:
        """The verdict as two pytest reports: one for the call and one for the teardown of the
        test."""
        outcome = {"fail": "failed", "skipped": "skipped"}.get(self.verdict, "passed")
        path, line, _ = self.location
        why: Any = {
            "failed": self.text_with_tracebacks,
            "skipped": (path, line, self.sentence),
        }.get(outcome)
        properties = [
            ("passk_attempts", len(self.passed_by_attempt)), ("passk_passed",
                sum(self.passed_by_attempt.values())),
            ("passk_verdict", self.verdict), ("passk_sentence", self.sentence),
        ]  # fmt: skip
        first = next(iter(self.failure_reports.values()), None) if outcome == "failed" else None
        sections = first.sections if first else []
        call = ("call", outcome, why, self.seconds)
        for when, result, text, seconds in call, ("teardown", "passed", None, 0.0):
            yield pytest.TestReport(
                self.nodeid, self.location, {}, result, text, when,  # type: ignore[arg-type]
                sections, seconds, user_properties=properties,
            )  # fmt: skip

    @property
    def text_with_tracebacks(self) -> str:
        """The sentence about the verdict, followed by one traceback for each kind of failure."""
        kinds: dict[str, list[int]] = {}
        for number, report in sorted(self.failure_reports.items()):
            crash = getattr(report.longrepr, "reprcrash", None)
            message = getattr(crash, "message", report.longreprtext).partition("\n")[0]
            kinds.setdefault(message, []).append(number)
        blocks = [self.sentence]
        for numbers in list(kinds.values())[:_MAX_TRACEBACKS]:
            attempt_list = ", ".join(map(str, numbers))
            title = f"attempt{'s' * (len(numbers) > 1)} {attempt_list} of {self.attempts} failed:"
            blocks.append(f"{title}\n\n{self.failure_reports[numbers[0]].longreprtext}")
        if further := sum(map(len, list(kinds.values())[_MAX_TRACEBACKS:])):
            blocks.append(f"{further} more failed in other ways")
        return "\n\n".join(blocks)


class AttemptCollector:
    """Collects attempts from all workers of pytest-xdist, and reports one verdict per test."""

    def __init__(self, config: pytest.Config, out: str | None) -> None:
        self.config, self.out = config, out
        self.tests: dict[str, RepeatedTest] = {}
        self.session: pytest.Session | None = None
        self.unwritten = ""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Store the pytest session, because verdicts change the session's number of tests."""
        self.session = session

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        """Show an attempt as "+" or "-", and a verdict as the result of a test."""
        attempt = getattr(report, "passk", None)
        if attempt is not None and report.outcome == ATTEMPT_REPORT_OUTCOME:
            passed = attempt.get("passed")
            if passed is None:
                return "", "s", ("attempt skipped", {"yellow": True})
            if passed:
                return "", "+", ("attempt passed", {"green": True})
            return "", "-", ("attempt failed", {"yellow": True})
        test = self.tests.get(report.nodeid)
        if test and test.verdict == "undecided" and report.when == "call":
            return "passed", ".", ("PASSED (undecided)", {"green": True})
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the report of an attempt, and report the verdict on a test after its last attempt."""
        attempt = getattr(report, "passk", None)
        if attempt is None:
            return
        name = attempt["test"]
        if name not in self.tests:
            path, line, domain = report.location
            rules = json.dumps(attempt["rules"], sort_keys=True)
            function, parameters = domain.partition("[")[0], "".join(name.partition("[")[1:])
            location = path, line, function + parameters
            self.tests[name] = RepeatedTest(name, attempt["attempts"], rules, location)
        test = self.tests[name]
        test.add(report, attempt)
        if len(test.completed_attempt_numbers) == test.attempts:
            self._report_verdict(test)

    def _report_verdict(self, test: RepeatedTest) -> None:
        test.judge()
        if self.session is not None:
            self.session.testscollected += 1
        for report in test.verdict_as_reports:
            self.config.hook.pytest_runtest_logreport(report=report)
        # With --lf, pytest must repeat all attempts of a failed test.
        last = getattr(self.config.pluginmanager.getplugin("lfplugin"), "lastfailed", {})
        for item in test.item_ids:
            last.pop(item, None)
            if test.verdict == "fail":
                last[item] = True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        """Report verdicts on tests with lost or deselected attempts, unless pytest was stopped."""
        outcome = yield
        if outcome.excinfo is None:  # type: ignore[attr-defined]
            for test in [test for test in self.tests.values() if not test.verdict]:
                self._report_verdict(test)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write all attempts to the file of --passk-out."""
        if self.out and not self.config.option.collectonly:
            from passk_cli.cleanup import write_atomically
            from passk_cli.errors import PasskError

            try:
                write_atomically(
                    Path(self.out), self.attempts_as_text(jsonl=self.out.endswith(".jsonl"))
                )
            except PasskError as error:
                self.unwritten = f"--passk-out {error}"
                session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def attempts_as_text(self, *, jsonl: bool) -> str:
        """The attempts as CSV or JSON lines.  The outcome of an attempt is empty if its setup
        failed."""
        rows = [
            (test.nodeid, number, test.passed_by_attempt.get(number))
            for test in self.tests.values()
            for number in sorted({*test.passed_by_attempt, *test.errored_attempts})
        ]
        if jsonl:
            records = (dict(zip(_COLUMN_NAMES, row, strict=True)) for row in rows)
            return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        cells = {True: "true", False: "false", None: ""}
        writer.writerows(
            [_COLUMN_NAMES, *((task, number, cells[passed]) for task, number, passed in rows)]
        )
        return text.getvalue()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a summary of all verdicts and attempts.  With -v, also print one line per test."""
        if not self.tests:
            return
        words = {
            "pass": "passed", "undecided": "undecided, counted as pass", "fail": "failed",
            "skipped": "skipped", "": "not finished, without a verdict",
        }  # fmt: skip
        verdicts = Counter(test.verdict for test in self.tests.values())
        counts = ", ".join(f"{verdicts[v]} {word}" for v, word in words.items() if verdicts[v])
        attempts = sum(len(test.passed_by_attempt) for test in self.tests.values())
        passes = sum(sum(test.passed_by_attempt.values()) for test in self.tests.values())
        output = f"; {self.out}" if self.out and not self.unwritten else ""
        terminalreporter.write_sep("=", "passk")
        for test in self.tests.values() if terminalreporter.verbosity > 0 else ():
            verdict = test.verdict or "not finished"
            terminalreporter.write_line(f"{test.nodeid}: {verdict}; {test.sentence}")
        tests = f"{len(self.tests)} test{'s' * (len(self.tests) != 1)}"
        line = f"{tests}: {counts}; {passes} of {attempts} attempts passed{output}"
        terminalreporter.write_line(line)
        if self.unwritten:
            terminalreporter.write_line(f"ERROR: {self.unwritten}", red=True)
