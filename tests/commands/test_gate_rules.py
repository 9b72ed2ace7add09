"""A gate's rules in a file: suites, one level, quarantine, tiers, first nights; refusals."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import passk_cli
from docs import rulebook
from passk_cli import api
from passk_cli.inference.random_streams import named_generator
from tests import schema
from tests.conftest import SAMPLES, Passk, Write, jsonl, long_cases, records

TODAY = date.today()
LATER, PAST = TODAY + timedelta(days=30), TODAY - timedelta(days=2)


def write_run(path: Path, passes: list[int], n: int = 5, names: str = "t") -> None:
    """A run of one model: so many passes of n at every task."""
    rows = (
        {"model": "agent", "task": f"{names}{t}", "attempt": a, "passed": a < c}
        for t, c in enumerate(passes)
        for a in range(n)
    )
    path.write_text(jsonl(rows))


@pytest.fixture
def nightly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two suites and their baselines; b lost half of its passes."""
    steady = [5, 4, 3, 5, 2, 1, 5, 0, 4, 5] * 3
    before = [4, 5, *steady[2:-2], 5, 4]
    for name, passes in {
        "a": steady, "b": [c // 2 for c in steady], "a-old": before, "b-old": steady
    }.items():  # fmt: skip
        write_run(tmp_path / f"{name}.jsonl", passes)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rules(folder: Path, text: str, name: str = "passk.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


TWO = """
[[suite]]
name = "a"
runs = "a.jsonl"
baseline = "a-old.jsonl"
max-drop = {"pass@1" = 0.05}
tier = "smoke"

[[suite]]
name = "b"
runs = "b.jsonl"
baseline = "b-old.jsonl"
max-drop = {"pass@1" = 0.05, "pass^5" = 0.4}
min = {"pass@1" = 0.2}
"""


def test_suites_share_one_level(nightly: Path, passk: Passk) -> None:
    """Four verdicts at 95 % together are the intervals of the command line at 98.75 %."""
    result = passk("gate", "--rules", rules(nightly, TWO), "-f", "csv", "--seed", "3")
    assert result.code == 1
    suite_rows = [row for row in records(result.out) if row["suite"] == "b" and row["low"]]
    single = passk(
        "gate", "b.jsonl", "--baseline", "b-old.jsonl", "--max-drop", "pass@1=0.05",
        "--max-drop", "pass^5=0.4", "--min", "pass@1=0.2", "--level", "0.9875", "--seed", "3",
        "-f", "csv",
    )  # fmt: skip
    numbers = ["metric", "low", "high", "verdict"]
    expected = [[row[name] for name in numbers] for row in records(single.out) if row["low"]]
    assert [[row[name] for name in numbers] for row in suite_rows] == expected
    assert {row["level"] for row in suite_rows} == {"0.9875"}
    screen = passk("gate", "--rules", "passk.toml", "-q")
    assert screen.out.startswith("FAIL: b: pass@1 of agent fell by ")
    assert "95 % for 4 verdicts together (98.75 % each)" in screen.out
    assert max(map(len, screen.out.splitlines()[1:])) <= 140


def test_rules_are_looked_for_in_the_folder(nightly: Path, passk: Passk) -> None:
    assert "and there is no passk.toml" in passk("gate").err
    text = TWO.replace("[[suite]]", "[[tool.passk.suite]]")
    rules(nightly, "[project]\nname = 'x'\n[tool.passk]\nseed = 1\n" + text, "pyproject.toml")
    assert passk("gate").code == 1
    rules(nightly, TWO.partition("\n\n[[")[0])
    assert passk("gate").code == 0
    output = passk_cli.gate(rules="passk.toml")
    assert output.passed
    assert str(passk_cli.gate()) == str(output)


def test_paths_are_relative_to_the_file(
    nightly: Path, passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules(nightly, TWO)
    rival = nightly / "elsewhere"
    rival.mkdir()
    monkeypatch.chdir(rival)
    assert passk("gate", "--rules", "../passk.toml").out.startswith("FAIL: b: ")


def test_tier_runs_its_suites_and_says_how_many_it_left_out(nightly: Path, passk: Passk) -> None:
    result = passk("gate", "--rules", rules(nightly, TWO), "--tier", "smoke", "-q")
    assert result.code == 0
    assert "1 suite not in tier smoke" in result.out.splitlines()[0]
    assert "1 suite not in tier smoke" in result.out.splitlines()[-1]
    assert "did you mean smoke?" in passk("gate", "--tier", "smoek").err


def test_remedies_of_a_suite_are_keys_of_its_table(nightly: Path, passk: Passk) -> None:
    path = nightly / "b.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    late = {"error": "TimeoutError: 1800 s exceeded"}
    lines = [json.dumps(row | (late if not row["passed"] else {})) for row in rows]
    path.write_text("\n".join(lines))
    messages = passk("gate", "--rules", rules(nightly, TWO), "-v").err
    assert 'pool = "error" counts them as failures on purpose' in messages
    assert "warning[errors-as-failures]: b: " in messages
    assert "--pool" not in messages


def test_command_line_replaces_options_of_the_file(nightly: Path, passk: Passk) -> None:
    rules(nightly, TWO.replace("tier", 'on-undecided = "pass"\ntier'))
    result = passk("gate", "--on-undecided", "fail", "-f", "csv")
    verdicts = {(row["suite"], row["verdict"]): row["fails"] for row in records(result.out)}
    assert verdicts["a", "undecided"] == "True"


QUARANTINE = f"""
[[suite]]
name = "a"
runs = "a.jsonl"
baseline = "a-old.jsonl"
must-pass = ["t0"]
quarantine = [
  {{task = "t1", until = {LATER}, reason = "flaky endpoint"}},
  {{task = "t9", until = {PAST}, reason = "slow"}},
  {{task = "gone", until = {LATER}, reason = "renamed"}},
]
"""


def test_quarantine_is_left_out_counted_and_reported_everywhere(
    nightly: Path, passk: Passk
) -> None:
    rules(nightly, QUARANTINE)
    files = ["g.json", "g.xml", "g.md", "g.csv"]
    result = passk("gate", *(word for name in files for word in ("-o", name)))
    assert result.code == 0
    for name in files:
        text = (nightly / name).read_text()
        assert "1 task in quarantine" in text, name
        assert re.search(r"flaky endpoint|passed 4 of 5", text), name
    assert "29 of 29" in (nightly / "g.csv").read_text()
    assert "the quarantine of task t9 (" in result.err
    assert "these tasks in quarantine: gone" in result.err
    assert "1 task in quarantine" in passk("gate", "-q").out.splitlines()[0]
    assert passk("gate", "--error", "quarantine-over").code == 3
    # A failing task shuts the gate until it is in quarantine.
    write_run(nightly / "a.jsonl", [5, 0, *[5] * 28])
    strict = QUARANTINE.replace('"t0"', '"t0", "t2"')
    assert passk("gate", "--rules", rules(nightly, strict)).code == 0
    expired = strict.replace('"t2"', '"t1"').replace(
        f'{LATER}, reason = "fl', f'{PAST}, reason = "fl'
    )
    assert passk("gate", "--rules", rules(nightly, expired)).code == 1


def test_what_suites_of_one_run_lack_is_said_once(nightly: Path, passk: Passk) -> None:
    rows = (nightly / "a.jsonl").read_text().splitlines()
    (nightly / "a.jsonl").write_text("\n".join(rows[3:]))
    text = TWO.replace('"b.jsonl"', '"a.jsonl"').replace('"b-old', '"a-old')
    text = text.replace(', "pass^5" = 0.4', "").replace("0.05}", "0.5}")
    rules(nightly, text.replace("tier = ", 'unpaired = "drop"\ntier = ') + 'unpaired = "drop"\n')
    result = passk("gate", "-q")
    lost = "a, b: fewer attempts than in the baseline at 1 task (2 of 5)"
    assert result.out.splitlines()[0].count("fewer attempts") == 1
    assert lost in result.out.splitlines()[0]


def test_first_night_judges_what_needs_no_baseline(nightly: Path, passk: Passk) -> None:
    text = TWO.replace("b-old.jsonl", "nights.parquet:last5")
    assert passk("gate", "--rules", rules(nightly, text)).code == 3
    result = passk("gate", "--rules", "passk.toml", "--first-run")
    assert result.code == 0
    assert result.out.count("not judged (no baseline yet)") == 2
    assert "note[no-baseline-yet]: b: 2 rules" in result.err
    only = text[text.index("[[suite]]", 20) :].replace('min = {"pass@1" = 0.2}', "")
    result = passk("gate", "--rules", rules(nightly, only), "--first-run")
    assert result.code == 0
    assert result.out.startswith("PASS: no rule is judged; 2 rules not judged, no baseline yet")
    present = passk("gate", "--rules", rules(nightly, TWO), "--first-run")
    assert (present.code, present.out) == (2, "")
    assert (
        "--first-run: this option is for a run without a baseline, but the baseline exists"
        in present.err
    )


def test_a_first_night_is_said_once(nightly: Path, passk: Passk) -> None:
    """Without a file of rules; the command that the refusal prints, and the night after."""
    words = ["gate", "a.jsonl", "--baseline", "h.parquet:last5", "--max-drop", "pass@1=0.05"]
    refused = passk(*words)
    assert (refused.code, refused.error, refused.out) == (3, "no-history-yet", "")
    (line,) = re.findall(r"^  passk (.*)  # accepts a first run", refused.err, re.M)
    first = passk(*line.split())
    assert first.code == 0
    assert first.out.startswith("PASS: no rule is judged; 1 rule not judged, no baseline yet")
    assert passk("record", "a.jsonl", "--to", "h.parquet", "--at", "r1").code == 0
    again = passk(*words, "--first-run")
    assert (again.code, again.error) == (2, "contradicting-options")
    assert passk(*words).code == 0
    single = passk("gate", "a.jsonl", "--min", "pass@1=0.1", "--first-run")
    assert (
        single.code,
        "which names the baseline of later runs; --baseline FILE" in single.err,
    ) == (2, True)
    gone = passk("gate", "a.jsonl", "--min", "pass@1=0.1", "--first", "pass")
    assert (gone.code, "use --first-run once, for the first run" in gone.err) == (2, True)


def test_a_suite_that_cannot_be_read_leaves_the_others_judged(nightly: Path, passk: Passk) -> None:
    rules(nightly, TWO)
    (nightly / "a.jsonl").write_text("")
    result = passk("gate", "-q")
    assert result.code == 1
    assert result.out.startswith("FAIL: b: ")
    assert re.search(r"a +its data can be read +– +error", result.out)
    (nightly / "b.jsonl").write_text("{")
    assert passk("gate", "-q").code == 3


def test_check_needs_no_data(nightly: Path, passk: Passk) -> None:
    rules(nightly, TWO.replace('runs = "a', 'runs = "nowhere/*'))
    result = passk("gate", "--check")
    assert result.code == 0
    assert result.out.startswith("The rules file passk.toml is valid and contains 2 suites.")
    # Runs and baselines by their paths.
    (nightly / "passk.toml").rename(nightly / "ci.toml")
    (nightly / "ci").mkdir()
    (nightly / "ci.toml").rename(nightly / "ci" / "passk.toml")
    assert "ci/a-old" in passk("gate", "--check", "--rules", "ci/passk.toml").out


REFUSED: list[tuple[str, str, str]] = [
    ('baseline = "a-old', 'baselin = "a-old', "passk.toml:5: suite a: baselin: unknown key; did"
     " you mean baseline?"),
    ("max-drop = {\"pass@1\" = 0.05}", "max_dorp = 1", "passk.toml:6: suite a: max_dorp: unknown"
     " key; did you mean max_drop?"),
    ("0.05}", "7}", "passk.toml:6: suite a: max-drop pass@1=7: write METRIC=X with X from 0 to 1"),
    ('tier = "smoke"', "level = 0.9", "passk.toml:7: suite a: level: all suites must share"
     " this key; write it above [[suite]]"),
    ('tier = "smoke"', "weight = 2", "passk.toml:7: suite a: weight: weights of suites were"
     " removed; leave this key out"),
    ('tier = "smoke"', 'first = "pass"', "passk.toml:7: suite a: first: leave this key out, and use"
     " `passk gate --first-run` once, for the first run"),
    ("a-old.jsonl", "record", "passk.toml:5: suite a: baseline: name the file that the first run"
     " will create, for example history.parquet:last5, and use `passk gate --first-run` once"),
    ("\n", "[average]\nkind = 'macro'\n", "passk.toml:1: average: the average over suites was"
     " removed"),
    ('tier = "smoke"', "max-drop = 1", "passk.toml:7: this is not TOML: "),
    ('name = "a"', 'name = "b"', "passk.toml:10: suite b: name: another suite has the same name"),
    ('runs = "a.jsonl"', "", "passk.toml:2: suite a: runs is missing"),
    ('baseline = "a-old.jsonl"', "", "passk.toml:6: suite a: max-drop: this rule needs a baseline"),
    ('tier = "smoke"', 'quarantine = [{task = "t1", until = "soon", reason = "x"}]',
     "passk.toml:7: suite a: quarantine t1: until must be a date; got soon"),
    ('tier = "smoke"', 'quarantine = ["t1"]', "passk.toml:7: suite a: quarantine: each entry must"
     " have the keys task, until and reason; write {task"),
    ('tier = "smoke"', 'adjust = "x"', "passk.toml:7: suite a: adjust x: choose one of"),
    ('tier = "smoke"', f'must-pass = ["t1"]\nquarantine = [{{task = "t1", until = {LATER}, reason'
     ' = "x"}]', "passk.toml:7: suite a: must-pass t1: this task is in quarantine"),
    ('tier = "smoke"', 'adjust = "bh"', "passk.toml:7: suite a: adjust bh: this adjustment cannot"
     " keep"),
    ('baseline = "a-old.jsonl"', 'baseline = "nobody"', "suite a: baseline nobody: no such file"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("there", "instead", "problem"), REFUSED, ids=[r[1] or r[0] for r in REFUSED]
)
def test_what_is_wrong_is_named_with_its_line(
    nightly: Path, passk: Passk, there: str, instead: str, problem: str
) -> None:
    assert there in TWO
    rules(nightly, TWO.replace(there, instead, 1))
    result = passk("gate")
    assert problem in result.err
    assert result.code == 2
    assert not result.out
    with pytest.raises(passk_cli.ParameterError) as error:
        passk_cli.gate(rules="passk.toml")
    assert re.sub(r"\W+", " ", problem.partition(": suite")[0]) in re.sub(
        r"\W+", " ", str(error.value)
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["a.jsonl", "--rules", "passk.toml"],
            "--rules: a rules file names the files to judge",
        ),
        (["a.jsonl", "--check"], "--check: a rules file names the files to judge"),
    ],
)
def test_options_that_exclude_rules(
    nightly: Path, passk: Passk, arguments: list[Any], problem: str
) -> None:
    rules(nightly, TWO)
    result = passk("gate", *arguments)
    assert problem in result.err
    assert result.code == 2
    absent = passk("gate", "--rules", "pask.toml")
    assert "pask.toml: no such file; did you mean passk.toml?" in absent.err
    assert absent.code == 3


def test_runs_are_not_written_over(nightly: Path, passk: Passk) -> None:
    rules(nightly, TWO)
    before = (nightly / "a.jsonl").read_bytes()
    for name in ("a.jsonl", "b-old.jsonl", "passk.toml"):
        result = passk("gate", "--rules", "passk.toml", "-f", "json", "-o", name)
        assert result.error == "bad-output", name
    assert (nightly / "a.jsonl").read_bytes() == before


def test_schema_for_editors_accepts_and_refuses_what_the_program_does(
    nightly: Path, passk: Passk
) -> None:
    root = json.loads(rulebook.PAGE.read_text())
    top = 'where = "n > 1"\nseed = 3\non_undecided = "fail"\nmodel = ["a*", "b"]\nk = [1, 2]\n'
    for text in (top + TWO, QUARANTINE):
        assert not list(schema.errors(parsed(text), root, root)), text
        assert passk("gate", "--check", "--rules", rules(nightly, text)).code == 0
    for present, instead, _ in REFUSED[:2]:
        assert list(schema.errors(parsed(TWO.replace(present, instead, 1)), root, root))
    for wrong in (
        TWO.replace('tier = "smoke"', "level = 0.9"), TWO.replace('runs = "a.jsonl"', ""),
        "suite = []", "sed = 1" + TWO, QUARANTINE.replace(', reason = "slow"', ""),
    ):  # fmt: skip
        assert list(schema.errors(parsed(wrong), root, root)), wrong
        assert passk("gate", "--check", "--rules", rules(nightly, wrong)).code == 2, wrong


def parsed(text: str) -> Any:
    """TOML as editors check it: dates are texts."""
    return json.loads(json.dumps(tomllib.loads(text), default=str))


def test_missing_outcomes_of_tasks_in_quarantine_are_none_of_the_suite(
    nightly: Path, passk: Passk
) -> None:
    rows = [json.loads(line) for line in (nightly / "a.jsonl").read_text().splitlines()]
    lost = [{**row, "passed": None} if row["task"] in ("t0", "t1") else row for row in rows]
    (nightly / "a.jsonl").write_text(jsonl(lost))
    out = ", ".join(f'{{task = "{t}", until = {LATER}, reason = "flaky"}}' for t in ("t0", "t1"))
    rules(nightly, f'missing = "drop"\n{TWO}'.replace("tier =", f"quarantine = [{out}]\ntier ="))
    result = passk("gate", "-f", "json", "--tier", "smoke")
    names = [message["name"] for message in json.loads(result.out)["messages"]]
    assert names == ["quarantined"]
    assert "(0 of 10 attempts passed): t0, t1" in result.err


def test_github_sees_the_verdict_without_being_asked(
    nightly: Path, passk: Passk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner reads workflow commands of both streams, and what is appended to the summary."""
    summary = nightly / "summary.md"
    summary.write_text("# Build\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    rules(nightly, TWO)
    result = passk("gate", "-f", "json")
    assert json.loads(result.out)["exit"] == result.code == 1
    commands = [line for line in result.err.splitlines() if line.startswith("::")]
    assert [line.partition(" ")[0] for line in commands] == [
        "::error", "::warning", "::warning", "::warning", "::warning"
    ]  # fmt: skip
    title = "::error title=passk%3A pass@1 drop ≤ 0.05::"
    assert commands[0].startswith(title + "fail: b: pass@1 of agent fell by ")
    displayed = summary.read_text()
    assert displayed.startswith("# Build\n**FAIL:** b: pass@1 of agent fell by ")
    assert "| b | pass@1 drop ≤ 0.05 |" in displayed
    # Once, where annotations are asked for; not at all, where they are not wanted.
    result = passk("gate", "-f", "github")
    assert "::error" not in result.err
    assert summary.read_text() == displayed + displayed.removeprefix("# Build\n")
    monkeypatch.setenv("PASSK_CI", "off")
    assert "::error" not in passk("gate").err
    assert len(summary.read_text()) == len(2 * displayed) - len("# Build\n")
    monkeypatch.delenv("PASSK_CI")
    summary.write_text("")
    for name in "ab":
        (nightly / f"{name}.jsonl").write_text("")
    result = passk("gate", "-q")
    assert result.code == 3
    assert result.err.startswith(
        "::error title=passk::passk.toml: no suite can be read: suite a: a.jsonl: the file is empty"
    )
    assert summary.read_text().startswith("**ERROR:** passk.toml: no suite can be read: ")
    rules(nightly, "oops")
    assert passk("gate").code == 2
    assert "this is not TOML" in summary.read_text()


def test_gitlab_reads_a_code_quality_report(nightly: Path, passk: Passk) -> None:
    """The keys and severities that docs.gitlab.com, "Code Quality", lists; unique fingerprints."""
    rules(nightly, TWO)
    names, result = nightly / "gl-code-quality-report.json", nightly / "x.json"
    passk("gate", "-o", names, "-o", "gate.xml", "-q")
    passk("gate", "-f", "gitlab", "-o", result, "-q")
    assert names.read_text() == result.read_text()
    issues = json.loads(names.read_text())
    assert [issue["severity"] for issue in issues] == [
        "minor", "minor", "critical", "minor", "info"
    ]  # fmt: skip
    for issue in issues:
        assert set(issue) == {
            "description", "check_name", "fingerprint", "severity", "location"
        }  # fmt: skip
        assert issue["location"] == {"path": "passk.toml", "lines": {"begin": 1}}
    prints = [issue["fingerprint"] for issue in issues]
    assert len(set(prints)) == 5
    # The same rule has the same fingerprint whatever its numbers: it is not new on the next night.
    write_run(nightly / "b.jsonl", [0] * 30)
    passk("gate", "-o", names, "-q")
    later = {issue["fingerprint"]: issue["severity"] for issue in json.loads(names.read_text())}
    assert list(later) == prints
    assert list(later.values()) == ["minor", "critical", "critical", "minor", "info"]
    (nightly / "a.jsonl").write_text("")
    (nightly / "b.jsonl").write_text("")
    passk("gate", "-o", names, "-q")
    assert [issue["severity"] for issue in json.loads(names.read_text())] == ["blocker"]


def test_no_output_of_yesterday_stays_where_no_suite_can_be_read(
    nightly: Path, passk: Passk
) -> None:
    rules(nightly, TWO)
    files = ["g.json", "g.xml", "g.md", "gl-code-quality.json"]
    words = [word for name in files for word in ("-o", name)]
    assert passk("gate", *words).code == 1
    for name in "ab":
        (nightly / f"{name}.jsonl").write_text("")
    assert passk("gate", *words).code == 3
    for name in files:
        assert (
            "no suite can be read: suite a: a.jsonl: the file is empty"
            in (nightly / name).read_text()
        ), name
    assert json.loads((nightly / "g.json").read_text())["error"]["exit"] == 3


def spending(path: Path, seed: int, times: float = 1.0, less: float = 0.0) -> Path:
    """Forty tasks × 4 attempts of a model with costs, all of them times a number."""
    rng = named_generator(seed, "spending")
    rows = [
        {
            "task": f"t{t}", "attempt": a, "passed": bool(rng.random() < t / 40 - less),
            "cost": times * (0.1 + 0.3 * t / 40 + 0.05 * rng.random()),
        }
        for t in range(40)
        for a in range(4)
    ]  # fmt: skip
    path.write_text(jsonl(rows))
    return path


@pytest.mark.parametrize(
    ("times", "verdict", "said"),
    [
        (1.25, "fail", "cost of new rose by 2"),
        *long_cases((1.0, "pass", " % [-"), (1.1, "undecided", "cost of new rose by ")),
    ],
)
def test_a_cost_may_rise_by_a_share_of_the_baseline(
    tmp_path: Path, passk: Passk, times: float, verdict: str, said: str
) -> None:
    """At the command line, in a file of rules and in Python; limits hold the rise that was made."""
    base, new = spending(tmp_path / "base.jsonl", 1), spending(tmp_path / "new.jsonl", 2, times)
    result = passk("gate", new, "--baseline", base, "--max-increase", "cost=10%")
    assert "cost increase ≤ 10 %" in result.out
    assert said in result.out.splitlines()[0]
    (tmp_path / "passk.toml").write_text(
        '[[suite]]\nname = "s"\nruns = "new.jsonl"\nbaseline = "base.jsonl"\n'
        'max-increase = {cost = "10%"}\n'
    )
    for output in (
        passk_cli.gate(new, baseline=base, max_increase={"cost": "10%"}),
        passk_cli.gate(rules=tmp_path / "passk.toml"),
    ):
        row = output.frame.set_index("rule").loc["cost increase ≤ 10 %"]
        assert row.verdict == verdict
        assert row.low - 1e-9 <= times - 1 <= row.high + 1e-9
    assert result.code == (verdict == "fail")
    absolute = passk_cli.gate(new, baseline=base, max_increase={"cost": 0.1}).frame
    assert absolute.set_index("rule").loc["cost increase ≤ $0.1"].verdict == "pass"


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
def test_a_cost_that_is_the_baselines_has_not_risen() -> None:
    """Rounding gives limits of no difference a sign."""
    costs = SAMPLES / "costs.csv"
    frame = passk_cli.gate(costs, baseline=costs, max_increase={"cost": "10%"}).frame
    rows = frame[frame.rule == "cost increase ≤ 10 %"]
    assert len(rows) == 3
    assert rows[["estimate", "low", "high"]].to_numpy() == pytest.approx(0, abs=1e-9)


@pytest.mark.filterwarnings("ignore::passk_cli.PasskWarning")
@pytest.mark.parametrize("population", ["new-tasks", *long_cases("these-tasks")])
def test_a_relative_limit_agrees_with_the_absolute_one(tmp_path: Path, population: str) -> None:
    """A drop of r of a baseline whose rate is certain is one of r times this rate."""
    base = [{"task": f"t{t}", "passed": 1} for t in range(30) for _ in range(4)]
    new = [{"task": f"t{t}", "passed": (t + a) % 5 > 0} for t in range(30) for a in range(4)]
    limits = {"max_drop": ["pass@1=0.12"], "population": population}
    pair = [
        passk_cli.gate(new, baseline=base, **limits | {"max_drop": [f"pass@1={limit}"]}).frame
        for limit in ("0.12", "12%", "0.5", "50%")
    ]
    for plain, share in (pair[:2], pair[2:]):
        first, second = (frame[frame.metric == "pass@1"].iloc[0] for frame in (plain, share))
        assert first.verdict == second.verdict
        assert second.estimate == pytest.approx(first.estimate)
        assert (second.low, second.high) == pytest.approx((first.low, first.high), abs=6e-3)


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--max-increase", "pass@1=3%", "a higher value of this metric is better; --max-drop"),
        ("--max-drop", "cost=3%", "a lower value of this metric is better; --max-increase cost=X"),
        ("--max-increase", "cost=-3%", "with X of at least 0"),
        ("--max-increase", "cost", "write METRIC=X, for example cost=10%"),
        ("--max-drop", "mean=3%", "write a difference without %"),
    ],
)
def test_limits_that_make_no_sense(passk: Passk, option: str, value: str, problem: str) -> None:
    result = passk("gate", SAMPLES / "costs.csv", "--baseline", "claude-opus-4-7", option, value)
    assert result.code == 2
    assert problem in result.err


def test_a_history_that_is_not_there_yet_has_its_first_night(tmp_path: Path, passk: Passk) -> None:
    spending(tmp_path / "new.jsonl", 2)
    text = (
        '[[suite]]\nname = "s"\nruns = "new.jsonl"\nbaseline = "h.parquet:last5"\n'
        'max-drop = {"pass@1" = 0.02}\nmax-increase = {cost = "10%"}\nmin = {"pass@1" = 0.1}\n'
    )
    book = rules(tmp_path, text)
    assert passk("gate", "--rules", book).code == 3
    first = passk("gate", "--rules", book, "--first-run")
    assert (first.code, "2 rules not judged, no baseline yet" in first.out) == (0, True)
    assert first.err.count("no baseline yet") == 1
    words = ["--to", tmp_path / "h.parquet", "--with", "cost", "--at", "r1", "-q"]
    assert passk("record", tmp_path / "new.jsonl", *words).code == 0
    spending(tmp_path / "new.jsonl", 3)
    second = passk("gate", "--rules", book)
    assert "not judged" not in second.out
    assert "cost increase ≤ 10 %" in second.out
    # A suite that is new in this history has its first night there; the other one is compared.
    later = text.replace('"s"', '"t"').replace("h.parquet:", "h.parquet:t:")
    new = passk("gate", "--rules", rules(tmp_path, text + later), "--first-run")
    assert new.out.count("not judged (no baseline yet)") == 2
    assert re.search(r"s +cost increase ≤ 10 % +\S.* (pass|fail|undecided)", new.out)
    refused = passk("gate", "--rules", book)
    assert refused.code == 3
    assert re.search(r"t +its data can be read +– +error", refused.out)


def test_every_suite_that_cannot_be_read_is_listed_beside_the_verdicts_of_others(
    nightly: Path, passk: Passk
) -> None:
    third = '[[suite]]\nname = "c"\nruns = "c.jsonl"\nbaseline = "gone.parquet:last2"\n'
    rules(nightly, f'{TWO}{third}max-drop = {{"pass@1" = 0.3}}\n')
    write_run(nightly / "c.jsonl", [3] * 30)
    (nightly / "b.jsonl").write_text('{"task": ')
    result = passk("gate", "--full")
    assert result.code == 3
    rows = [line for line in result.out.splitlines()[1:] if "its data can be read" in line]
    assert [row.split()[0] for row in rows] == ["b", "c"]
    assert "no such history" in rows[1]
    assert any(line.startswith("a ") and " pass" in line for line in result.out.splitlines())
    (nightly / "a.jsonl").write_text("")
    error = passk("gate").err
    for name, problem in (("a", "the file is empty"), ("b", "not JSON"), ("c", "no such history")):
        assert f"suite {name}: " in error
        assert problem in error


def test_a_rule_that_no_such_run_passes_is_said_without_a_rehearsal(
    passk: Passk, write: Write
) -> None:
    rows = "".join(f"t{t},{j},{int(t > 0)}\n" for t in range(12) for j in range(4))
    data = write("few.csv", "task,attempt,passed\n" + rows)
    never = "pass@1 ≥ 0.99 cannot pass: the verdict is undecided even if every attempt passes"
    assert never in passk("gate", data, "--min", "pass@1=0.99").err
    assert "cannot pass" not in passk("gate", data, "--min", "pass@1=0.7").err


def test_a_rule_that_no_such_run_fails_is_said_without_a_rehearsal(
    passk: Passk, write: Write
) -> None:
    rows = "".join(f"t{t},{j},{int(t > 9)}\n" for t in range(40) for j in range(5))
    data = write("many.csv", "task,attempt,passed\n" + rows)
    never = "each task ≥ 0.5 cannot fail: the verdict is undecided even if every attempt fails"
    result = passk("gate", data, "--min-each", "0.5")
    assert (result.code, never in result.err) == (0, True)
    assert "cannot fail" not in passk("gate", data, "--min-each", "0.8").err
    assert "cannot fail" not in passk(
        "gate", data, "--min-each", "0.5", "--on-undecided", "fail").err  # fmt: skip
    passing = (
        "pass@1 ≥ 0 decides nothing: the verdict is pass whether every attempt passes or every"
        " attempt fails"
    )
    assert passing in passk("gate", data, "--min", "pass@1=0").err


def test_mistakes_of_a_file_are_said_together(nightly: Path, passk: Passk) -> None:
    wrong = TWO.replace("baseline", "baselin").replace("max-drop", "maxdrop")
    rules(nightly, f"sed = 1\n{wrong}")
    result = passk("gate", "--check")
    assert (result.code, result.error) == (2, "bad-rules")
    assert "passk.toml:1: sed: unknown key; did you mean seed? passk.toml:" in result.err
    assert {*re.findall(r"suite (\w): (\w+): unknown key", result.err)} >= {
        ("a", "baselin"), ("a", "maxdrop"), ("b", "baselin")}  # fmt: skip
    # Values as well, and an option beside the file once.
    rules(nightly, TWO.replace("pass@1", "pas@1"))
    assert passk("gate", "--check").err.count("did you mean pass@1?") == 2
    assert passk("gate", "--check", "--adjust", "bhh").err.count("did you mean bh?") == 1


def test_a_file_is_read_once_for_all_suites_that_read_it_alike(
    nightly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suites = ["runs = 'a.jsonl'\nmin = 'pass@1=0.3'"] * 5 + ["runs = 'b.jsonl'\nmin = 'pass@1=0.3'"]
    suites += ["runs = 'a.jsonl'\nwhere = 'attempt < 3'\nmin = 'pass@1=0.3'"]
    text = "\n".join(f"[[suite]]\nname = 's{i}'\n{item}" for i, item in enumerate(suites))
    reads = []
    load = api.load
    monkeypatch.setattr(
        api, "load", lambda *given, **more: reads.append(given) or load(*given, **more)
    )
    assert len(passk_cli.gate(rules=rules(nightly, text)).frame) == 7
    assert len(reads) == 3
