"""Tests marked passk: attempts, one verdict, what is written, in one process and in several."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from xml.etree import ElementTree

import pytest
from scipy.stats import binom

import passk_cli
from passk_cli.pytest_plugin import judge_test, parse_marker
from tests.conftest import ROOT, Passk

pytest_plugins = "pytester"

RULES = '{"min": {"pass^1": 0.9}}'
# Attempts of `steady` all pass, of `flaky` one in ten fails, of `broken` every second.
MODULE = f"""
import pytest

made = {{}}

@pytest.fixture
def attempt(request):
    name = request.node.originalname
    made[name] = made.get(name, 0) + 1
    print("setup", name, made[name])
    yield made[name]
    print("teardown", name)

@pytest.mark.passk(attempts=10, rules={RULES})
@pytest.mark.parametrize("reply", ["yes", "no-no"])
def test_steady(attempt, reply):
    pass

@pytest.mark.passk(attempts=10, rules={RULES})
def test_flaky(attempt):
    assert attempt != 4

@pytest.mark.passk(attempts=10, rules={RULES})
def test_broken(attempt):
    print("reply", attempt)
    assert attempt % 2, "no refund in reply"

def test_plain():
    pass
"""


@pytest.fixture
def run(pytester: pytest.Pytester):
    """pytest with the plugin, however it is installed, on one module."""

    def run(module: str, *arguments: str) -> pytest.RunResult:
        pytester.makepyfile(test_agent=module)
        return pytester.runpytest_inprocess(
            "-p", "no:passk", "-p", "passk_cli.pytest_plugin", "-p", "no:randomly", *arguments
        )

    return run


def test_the_plugin_is_declared_and_imports_nothing_heavy() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert declared["pytest11"] == {"passk": "passk_cli.pytest_plugin"}
    heavy = "{'numpy', 'pandas', 'duckdb', 'scipy', 'typer', 'rich', 'passk_cli.api'}"
    script = f"import sys, passk_cli.pytest_plugin; sys.exit(str({heavy} & set(sys.modules) or 0))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stderr == "0\n"


def test_one_verdict_per_test(run, pytester: pytest.Pytester) -> None:
    result = run(MODULE, "--junitxml=report.xml", "--passk-out=attempts.csv")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines([
        "test_agent.py ++++++++++.++++++++++.+++-++++++.+-+-+-+-+-F.*[[]100%]",
        "*_ test_broken _*",
        "5 of 10 attempts passed: pass^1 is 0.500 [[]0.187, 0.813]; its interval is below the"
        " minimum of 0.9",
        "attempts 2, 4, 6, 8, 10 of 10 failed:",
        "E *AssertionError: no refund in reply",
        "*Captured stdout call*", "reply 2",
        "4 tests: 3 undecided, counted as pass, 1 failed; 34 of 40 attempts passed; attempts.csv",
        "FAILED test_agent.py::test_broken - 5 of 10 attempts passed*",
    ])  # fmt: skip
    cases = ElementTree.parse(pytester.path / "report.xml").getroot().findall(".//testcase")
    assert [(case.get("name"), len(case.findall("failure"))) for case in cases] == [
        ("test_steady[yes]", 0), ("test_steady[no-no]", 0), ("test_flaky", 0), ("test_broken", 1),
        ("test_plain", 0),
    ]  # fmt: skip
    properties = {p.get("name"): p.get("value") for p in cases[2].iter("property")}
    assert properties["passk_passed"] == "9"
    assert properties["passk_verdict"] == "undecided"


def test_each_attempt_has_its_own_fixtures(run) -> None:
    module = MODULE + "\n@pytest.fixture(autouse=True, scope='session')\ndef all_of_them():\n"
    module += "    yield\n    print('made', made)\n"
    result = run(module, "-s")
    counts = "{'test_steady': 20, 'test_flaky': 10, 'test_broken': 10}"
    result.stdout.fnmatch_lines([f"*made {counts}*"])
    assert result.stdout.str().count("teardown test_flaky") == 10


@pytest.mark.parametrize("name", ["attempts.csv", "attempts.jsonl"])
def test_attempts_are_written_for_other_commands(run, pytester: pytest.Pytester, name: str) -> None:
    run(MODULE, f"--passk-out={name}")
    counts = passk_cli.read(str(pytester.path / name))
    assert dict(zip(counts.tasks, counts.c.tolist(), strict=True)) == {
        "test_agent.py::test_steady[yes]": 10, "test_agent.py::test_steady[no-no]": 10,
        "test_agent.py::test_flaky": 9, "test_agent.py::test_broken": 5,
    }  # fmt: skip
    assert counts.n.tolist() == [10] * 4


def test_errors_and_skips_are_not_outcomes(run, pytester: pytest.Pytester, passk: Passk) -> None:
    module = f"""
import pytest
n = iter(range(99))

@pytest.fixture
def server():
    if next(n) == 3:
        raise RuntimeError("no server")

@pytest.mark.passk(attempts=5, rules={RULES})
def test_error(server):
    pass

@pytest.mark.passk(attempts=5, rules={RULES})
def test_some_skipped():
    if next(n) == 6:
        pytest.skip("quota")

@pytest.mark.skip("no key")
@pytest.mark.passk(attempts=5, rules={RULES})
def test_all_skipped():
    pass
"""
    result = run(module, "--passk-out=attempts.jsonl")
    result.assert_outcomes(failed=2, errors=1, skipped=1)
    result.stdout.fnmatch_lines([
        "4 of 5 attempts have an outcome (1 ended in an error); 4 of 4 attempts passed: *",
        "4 of 5 attempts have an outcome (1 skipped); 4 of 4 attempts passed: *",
        "3 tests: 2 failed, 1 skipped; 8 of 8 attempts passed; attempts.jsonl",
    ])  # fmt: skip
    lines = (pytester.path / "attempts.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["passed"] for row in rows] == [True, True, True, None, *[True] * 5]
    assert passk("estimate", pytester.path / "attempts.jsonl").error == "missing-outcome"


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"attempts": 10}, "rules are missing; write passk(attempts=10, rules="),
        ({"attempts": 10, "rules": 0.9}, "rules=0.9: this is not a dict; write "),
        ({"attempts": 10, "rules": {}, "model": "a"}, "accepts only the arguments"),
        (
            {"attempts": 0, "rules": {"min": {}}},
            "attempts=0: the value must be a whole number of at least 1",
        ),
        ({"attempts": True, "rules": {"min": {}}}, "attempts=True"),
        ({"attempts": 10, "rules": {"mim": {"pass@1": 0.5}}}, "no rule 'mim'; did you mean min?"),
        ({"attempts": 10, "rules": {"baseline": "a.csv"}}, "there are min, min_by"),
        ({"attempts": 10, "rules": {"level": 0.9}}, "no rule to check; give min or min_each"),
        (
            {"attempts": 10, "rules": {"min": {"pass@1": {1}}}},
            "must be numbers or strings",
        ),
        ({"attempts": 10, "rules": {"min": 0.9}}, "min=0.9: write METRIC=X"),
        ({"attempts": 10, "rules": {"min": {"pass@1": 90}}}, "X from 0 to 1"),
        ({"attempts": 10, "rules": {"min": {"best@2": 0.9}}}, "write pass@K or pass^K"),
        ({"attempts": 4, "rules": {"min": {"pass@5": 0.9}}}, "n=4 < k=5 on 1 of 1 task"),
        (
            {"attempts": 3, "rules": {"min": {"pass^1": 0.5}}},
            "no outcome fails the test; 0 of 3 attempts passed: pass^1 is 0.000 [0.000, 0.708]; its"
            " interval contains the minimum of 0.5",
        ),
        (
            {"attempts": 10, "rules": {"min": {"pass^1": 0.9}, "on_undecided": "fail"}},
            "no outcome passes the test; 10 of 10 attempts passed: pass^1 is 1.000 [0.692, 1.000]",
        ),
    ],
)
def test_rules_that_cannot_judge_are_refused(rules: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011
        parse_marker(pytest.mark.passk(**rules).mark)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("attempts", "rules"),
    [
        (3, {"min": {"pass^1": 0.5}}),
        (10, {"min": {"pass^1": 0.9}, "on_undecided": "fail"}),
        (10, {"min_each": 0.5, "min_by": "lower"}),
        (10, "min=0.9"),
    ],
)
def test_a_marker_that_is_proposed_is_accepted(attempts: int, rules: object) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011
        parse_marker(pytest.mark.passk(attempts=attempts, rules=rules).mark)
    *_, marker = str(error.value).partition("; write ")
    assert parse_marker(eval(marker, {"passk": pytest.mark.passk}).mark)[0] >= attempts


def test_what_is_refused_is_an_error_of_its_module(run) -> None:
    module = f"import pytest\n@pytest.mark.passk(attempts=3, rules={RULES.replace('min', 'mim')})\n"
    result = run(module + "def test_a(): pass\n")
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    lines = ["test_a: @pytest.mark.passk: there is no rule 'mim'; did you mean min?"]
    result.stdout.fnmatch_lines(lines)
    marks = f"@pytest.mark.passk(attempts=9, rules={RULES})\n"
    result = run("import pytest\n@pytest.mark.xfail\n" + marks + "def test_a(): pass\n")
    result.stdout.fnmatch_lines(["*a test with the marker passk cannot have xfail*"])
    parameters = '@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.xfail)])\n'
    result = run("import pytest\n" + parameters + marks + "def test_a(x): pass\n")
    result.stdout.fnmatch_lines(["*a test with the marker passk cannot have xfail*"])
    result = run(
        "import pytest, unittest\nclass TestA(unittest.TestCase):\n"
        "    " + marks + "    def test_a(self): pass\n"
    )
    result.stdout.fnmatch_lines(["*mark a function, not a TestCaseFunction"])
    result.assert_outcomes(errors=1)


@pytest.mark.parametrize("out", ["no/attempts.csv", "attempts.txt"])
def test_a_file_that_cannot_be_written_is_refused_at_the_start(run, out: str) -> None:
    result = run("def test_a(): pass\n", f"--passk-out={out}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --passk-out {out}: *; *"])


def test_a_test_with_fewer_attempts_fails_and_a_stopped_one_has_no_verdict(run) -> None:
    result = run(MODULE, "test_agent.py::test_flaky[attempt2]")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["1 of 10 attempts have an outcome; 1 of 1 attempts passed: *"])
    module = MODULE.replace("assert attempt != 4", "attempt != 4 or pytest.exit('quota')")
    result = run(module, "-v", "--passk-out=attempts.csv")
    result.stdout.fnmatch_lines([
        "test_agent.py::test_flaky: not finished*",
        "3 tests: 2 undecided, counted as pass, 1 not finished, without a verdict; 23 of 23*",
    ])  # fmt: skip
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_last_failed_runs_all_attempts_of_a_failed_test_again(run) -> None:
    run(MODULE)
    run(MODULE, "--lf").assert_outcomes(failed=1)
    # The module is imported anew: its attempts count from 1 again.
    fixed = MODULE.replace("assert attempt % 2", "assert attempt")
    run(fixed, "--lf").assert_outcomes(passed=1)
    run(fixed, "--lf").assert_outcomes(passed=5)


@pytest.mark.parametrize(("attempts", "limit"), [(10, 0.9), (7, 0.6)])
def test_a_test_at_its_limit_fails_as_rarely_as_the_level_says(attempts: int, limit: float) -> None:
    """Enumerated: at the limit itself it fails with probability at most 2.5 %, and can fail."""
    rules = json.dumps({"min": {"pass^1": limit}})
    failing = [c for c in range(attempts + 1) if judge_test(attempts, c, rules)[0] == "fail"]
    assert failing == list(range(len(failing)))
    assert (
        0
        < binom.cdf(len(failing) - 1, attempts, limit)
        <= 0.025
        < binom.cdf(len(failing), attempts, limit)
    )


@pytest.mark.long
def test_attempts_on_several_workers(run, pytester: pytest.Pytester) -> None:
    """The same verdicts and the same attempts; which of them fail depends on the workers."""
    module = MODULE.replace(
        "    yield made[name]", "    yield request.node.callspec.params['_passk']['attempt']"
    )
    result = run(module, "-n", "2", "--passk-out=attempts.csv", "--junitxml=report.xml")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines([
        "4 tests: 3 undecided, counted as pass, 1 failed; 34 of 40 attempts passed; attempts.csv"
    ])  # fmt: skip
    counts = passk_cli.read(str(pytester.path / "attempts.csv"))
    assert sorted(counts.c.tolist()) == [5, 9, 10, 10]
    names = {
        c.get("name") for c in ElementTree.parse(pytester.path / "report.xml").iter("testcase")
    }
    assert names == {
        "test_steady[yes]", "test_steady[no-no]", "test_flaky", "test_broken", "test_plain"
    }  # fmt: skip
    # A worker that dies in an attempt.
    crash = module.replace("assert attempt != 4", "import os; attempt == 4 and os._exit(1)")
    result = run(crash, "-n", "2", "--passk-out=attempts.csv")
    result.stdout.fnmatch_lines(["9 of 10 attempts have an outcome; 9 of 9 attempts passed: *"])
