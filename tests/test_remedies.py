"""Every remedy is run as it is printed, at both doors: it is accepted, and what it settles is gone.

A case is a command line; FILE stands for one of the small files below.  Of each error and message
that it brings up, each remedy is typed on the command line and called in Python.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import passk_cli
from passk_cli.cli.output import output_option_groups
from passk_cli.commands import COMMANDS
from passk_cli.commands.command import load_command
from passk_cli.commands.diagnostic_lookup import all_messages
from passk_cli.errors import PasskError, PasskWarning
from tests.commands.test_every_command import spelled_in_python
from tests.conftest import PACKAGE, Passk, jsonl, mark_long_except, package_nodes

# What each situation below brought about when it was last looked at.
GOLDEN = Path(__file__).parent / "golden" / "remedies.txt"
EVALPLUS = Path(__file__).parent / "data" / "evalplus" / "new_eval_results.json"
Rows = list[dict[str, Any]]


def _rows(models: str, tasks: int, attempts: int, **more: Callable[[int, int, int], Any]) -> Rows:
    """Attempts that pass and fail by their numbers; more : column → value of (model, task, j)."""
    return [
        {"model": model, "task": f"t{i:02}", "passed": (2 * i + 3 * j + m * (i + j)) % 5 > 1 + m,
         **{name: value(m, i, j) for name, value in more.items()}}
        for m, model in enumerate(models) for i in range(tasks) for j in range(attempts)
    ]  # fmt: skip


def _number(m: int, i: int, j: int) -> int:
    return j + 1


def _without(rows: Rows, column: str, lost: Callable[[int], bool]) -> Rows:
    return [{**row, column: None} if lost(at) else row for at, row in enumerate(rows)]


def _cost(m: int, i: int, j: int) -> float:
    return 0.01 * (1 + m) * (1 + (i + j) % 4)


_PLAIN = _rows("ab", 12, 4, attempt=_number)
_COSTS = _rows("ab", 12, 4, attempt=_number, cost=_cost)
FILES: Mapping[str, Rows] = {
    "plain": _PLAIN,
    "one-model": _rows("a", 12, 4, attempt=_number),
    "one-attempt": _rows("ab", 12, 1),
    "short": [row for at, row in enumerate(_PLAIN) if at % 4 < 2 or at % 3],
    "missing": _without(_PLAIN, "passed", lambda at: at % 9 == 0),
    "uneven": _without(_PLAIN, "passed", lambda at: at < 48 and at % 3 == 0),
    "costs": _COSTS,
    "lost-costs": _without(_COSTS, "cost", lambda at: at % 7 == 0),
    "lost-tasks": _without(_COSTS, "cost", lambda at: at // 4 == 3),
    "repeated": [*_PLAIN, *_PLAIN[:5]],
    "scores": [{**row, "passed": (0.2, 0.7)[row["passed"]] + 0.01 * at}
               for at, row in enumerate(_PLAIN[:40])],
    "case": [{"case_id": row["task"], "ok": row["passed"]} for row in _PLAIN[:48]],
    "prompts": _rows("a", 12, 8, prompt=lambda m, i, j: "pq"[j % 2]),
    "modes": _rows("a", 12, 8, mode=lambda m, i, j: "pq"[j // 4 if i % 3 else j % 2]),
    "runs": _rows("a", 12, 8, run=lambda m, i, j: "pq"[j % 2], attempt=lambda m, i, j: j // 2),
    "times": _rows("a", 12, 4, started_at=lambda m, i, j: f"2026-01-01T00:{i:02}:{j:02}"),
    "two-outcomes": [{**row, "resolved": at % 3 == 0} for at, row in enumerate(_PLAIN)],
    "copy": [*_rows("a", 24, 4, attempt=_number), *({**row, "model": name}
             for name in ("b", "c[1]") for row in _rows("a", 24, 4, attempt=_number)
             if name == "b" or row["task"] != "t00")],
    "spellings": [{**row, "model": {"a": "org/alpha", "b": "org__alpha"}[row["model"]]}
                  for row in _PLAIN],
    "objects": [{**row, "model": {"id": row["model"], "size": 7}} for row in _PLAIN],
    "nested": [{"task": row["task"], "verdict": {"ok": row["passed"]}} for row in _PLAIN[:48]],
    "answers": _rows("ab", 12, 4, reply=lambda m, i, j: "xyz"[(i + j) % 3]),
    "tokens": _rows("ab", 12, 4, attempt=_number, input_tokens=lambda m, i, j: 100 + i,
                    output_tokens=lambda m, i, j: 10 + j),
    "free": _rows("ab", 12, 4, attempt=_number, cost=lambda m, i, j: 0.0 if m else _cost(m, i, j)),
    "temperatures": _rows("ab", 12, 6, temperature=lambda m, i, j: (0.2, 0.8)[j % 2]),
    "success": [{"task": row["task"], "success": True, "evaluation_score": (0.0, 0.5, 1.0)[at % 3]}
                for at, row in enumerate(_PLAIN[:48])],
    "clusters": _rows("ab", 12, 4, attempt=_number, book=lambda m, i, j: f"b{i // 3}"),
    "best": [{**row, "score": 0.1 * (at % 11)} for at, row in enumerate(_PLAIN)],
    "counts": [{"model": m, "task": f"t{i:02}", "n": 8, "c": (3 * i + k) % 9}
               for k, m in enumerate("ab") for i in range(12)],
    "words": [{**row, "passed": "maybe" if at % 9 == 0 else ("no", "yes")[row["passed"]]}
              for at, row in enumerate(_PLAIN)],
    "half": [row for at, row in enumerate(_PLAIN) if at < 72],
    "unnumbered": _rows("ab", 12, 4), "twin": _rows("ab", 12, 4),
    "nameless": _without(_PLAIN, "task", lambda at: at == 3),
    "lost-scores": [{**row, "score": None if at == 3 else 0.1 * (at % 11)}
                    for at, row in enumerate(_PLAIN)],
    "infinite": [{**row, "score": "inf" if at == 3 else 0.1 * (at % 11)}
                 for at, row in enumerate(_PLAIN)],
    "heats": _rows("ab", 12, 6, heat=lambda m, i, j: (0.2, 0.8)[j % 2],
                   temperature=lambda m, i, j: (1, 2)[j % 2]),
    "judged": _rows("ab", 12, 4, attempt=_number, cost=_cost, judge_cost=_cost),
    "cached": _rows("ab", 12, 4, attempt=_number, cost=_cost,
                    cached=lambda m, i, j: i == 2,
                    billed_cost=lambda m, i, j: 0.0 if i == 2 else _cost(m, i, j)),
    "again": [*_COSTS, *_COSTS[:5]],
    "renamed": [{**row, "model": {"a": "a", "b": "b2"}[row["model"]]} for row in _PLAIN],
    "two-scores": [{**row, "score": 0.1 * (at % 11), "reward": 0.1 * (at % 7)}
                   for at, row in enumerate(_PLAIN)],
    "labelled": _rows("ab", 12, 4, attempt=_number,
                      human=lambda m, i, j: None if j == 3 else i % 2 == 0),
    "millions": [{"model": m, "task": t, "n": 2_000_000, "c": 900_000}
                 for m in "ab" for t in "xyz"],
}  # fmt: skip
# Files in which more than rows of attempts stand.
DOCUMENTS = {
    "two-lists.json": json.dumps({"old": _PLAIN[:48], "new": _PLAIN[48:]}),
    "empty.jsonl": "", "prices.toml": "[a]\ninput = 1\noutput = 2\n[b]\ninput = 1\noutput = 2\n",
    "half-prices.toml": "[a]\ninput = 1\noutput = 2\n",
    **{f"sums/{m}.json": json.dumps([row for row in _PLAIN if row["model"] == m]) for m in "ab"},
    "sums/all.json": json.dumps([{"task": m, "passed": True} for m in "ab"]),
}  # fmt: skip

QUICK = (
    # Columns and what they hold.
    "estimate case -m pass@1", "estimate nested", "estimate objects", "estimate two-outcomes",
    "estimate plain --field task=tsk", "estimate scores", "estimate success",
    "estimate answers -m maj@3", "estimate times -m first@1", "estimate one-model -m cost",
    # Attempts.
    "estimate missing", "estimate repeated", "estimate prompts", "estimate modes", "estimate runs",
    "estimate missing -m best@2", "compare missing", "estimate uneven --missing fail",
    "order uneven --missing drop",
    # Amounts.
    "estimate lost-costs -m pass@1,cost", "estimate lost-tasks -m cost", "cost lost-tasks",
    "estimate lost-costs -m cost --missing-cost bounds", "cost plain --of cost", "cost tokens",
    "estimate tokens -m pass@1 --price PRICES", "cost free",
    # Too few attempts, tasks and models.
    "estimate short -k 4", "estimate short -k 1,4", "estimate counts -m pass^20",
    "compare one-model", "compare prompts --by prompt", "compare short --unpaired error -k 1",
    "curve short", "curve plain --max-k 9", "plan one-attempt", "plan plain --correlation 0.5",
    "estimate labelled --field truth=human -k 1",
    # Copies and names.
    "estimate copy", "compare copy -k 1", "estimate spellings", "estimate lab=spellings",
    "estimate lab=prompts",
    # Methods.
    "compare plain --interval none", "compare plain --test within-tasks",
    "compare plain --population these-tasks --test sign-flip", "compare short --test mid-p -k 1",
    "bootstrap costs -m pass-rate,cost-per-success", "bootstrap best -m mean",
    "compare missing --missing bounds --flips", "compare missing --missing bounds --test t",
    "curve missing --missing bounds --delta", "curve missing --missing bounds",
    "bootstrap missing --missing bounds", "tasks missing --missing bounds",
    "estimate missing --missing bounds --interval percentile",
    "curve plain --band simultaneous --interval none", "curve plain -k 1,2 --max-k 3",
    "curve --rates 0.5 -m maj@k", "curve --rates 0.5 --band simultaneous", "curve",
    # Gates, histories, plans.
    "gate plain", "gate plain --max-drop pass@1=0.1", "gate plain --min cost=1",
    "gate plain --min-by lower --no-regression --baseline a", "gate plain --must-pass-rate 0.5"
    " --min pass@1=0.1", "gate plain --max-false-alarms 0.1 --min pass@1=0.1",
    "watch plain --min pass@1=0.1 --planned 12 --attempts 4 --looks OUT.csv",
    "watch plain --min pass@1=0.1 --planned 12 --looks OUT.csv --order completion",
    "record plain", "plan", "plan --mean 0.5 --spread 0.2 --budget 9usd", "plan costs --budget 200",
    "plan plain --mean 0.5 --spread 0.2", "plan free --budget 9usd",
    # Where the result goes.
    "estimate plain --chart-theme dark", "estimate plain --stacked",
    "estimate plain --chart terminal",
    "convert counts -o OUT.csv",
    "tasks plain --suspects --always 0.9", "estimate plain --chart x.png --panel temperature",
    # Temperatures.
    "temperature", "temperature plain", "temperature temperatures --fit",
    "temperature --toy gaussian --by x", "temperature --toy gaussian --gamma 2",
    "temperature --toy gaussian --fit -k 2", "report plain --link x/{task} --board",
    # What files hold besides.
    "estimate two-lists.json", "estimate words", "estimate nameless", "estimate sums",
    "estimate unnumbered twin.jsonl", "estimate plain empty.jsonl", "estimate plain --from parquet",
    "estimate lost-scores -m best@2", "estimate judged -m cost", "estimate cached -m cost",
    "estimate again -m cost --duplicates first", "convert two-scores -o OUT.csv"
    " --field outcome=passed",
    "estimate tokens -m cost --price half-prices.toml",
    # What is compared, and with what.
    "compare half --unpaired error -k 1", "gate renamed --baseline plain.jsonl --no-regression",
    "gate costs --baseline history.parquet:nightly:last1 --no-regression",
    "gate clusters --baseline split.parquet:last1 --no-regression", "trend lacking.parquet",
    "trend history.parquet -m cost-per-success", "estimate infinite -m best@2", "estimate EVALPLUS",
    "estimate history.parquet", "estimate counts -k 20", "bootstrap costs -m cost-per-success",
    "temperature heats --temperature heat --by temperature",
    "estimate millions --population these-tasks --interval percentile",
    "estimate plain -f csv -o OUT.csv -o out.json",
)  # fmt: skip
SLOW = (
    "compare modes --by mode", "estimate modes --by mode -k 9", "cost missing", "order times",
    "compare copy --by attempt", "diversity plain", "trend plain", "tasks missing",
    "estimate best -m best@2 --missing drop",
    "compare missing --missing bounds --change pass@1:pass@2", "report missing", "report copy",
    "compare clusters --cluster book", "plan clusters --cluster book", "cost lost-costs",
    "estimate prompts --where prompt='p'", "estimate repeated --model a", "report uneven --missing"
    " fail", "compare temperatures", "plan plain --budget 200attempts", "estimate costs -m cost",
)  # fmt: skip


# Messages that name another command, which shows more of the same.
SHOWN_ELSEWHERE = {"dependent-attempts"}


class Remedy(NamedTuple):
    """A remedy as a door wrote it, of an error or a message."""

    family: str
    text: str
    fails: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, and prices."""
    path = tmp_path_factory.mktemp("remedies")
    for name, rows in FILES.items():
        (path / f"{name}.jsonl").write_text(jsonl(rows))
    (path / "sums").mkdir()
    for name, text in DOCUMENTS.items():
        (path / name).write_text(text)
    fewer, costs = FILES["costs"][4:], FILES["costs"]
    for at, (to, runs, more) in enumerate((
        ("history", (costs, _rows("ab", 12, 4, attempt=_number, cost=_cost)), {}),
        ("lacking", (costs, fewer, costs), {}), ("split", (FILES["clusters"],), {"by": "book"}),
    )):  # fmt: skip
        for number, rows in enumerate(runs, 1):
            date, run = f"2026-01-{at + 1:02}T0{number}:00Z", f"r{number}"
            columns = ["cost"] if to == "history" else []
            with warnings.catch_warnings(action="ignore", category=PasskWarning):
                passk_cli.record(
                    rows, to=str(path / f"{to}.parquet"), at=run, date=date, columns=columns,
                    incomplete=rows is fewer, **more
                )  # fmt: skip
    return path


def _words(line: str, folder: Path) -> list[str]:
    def word(text: str) -> str:
        label, equals, name = text.rpartition("=")
        files = {"PRICES": "prices.toml", "OUT.csv": "out.csv", "EVALPLUS": str(EVALPLUS)}
        file = files.get(name, f"{name}.jsonl")
        exists = name in FILES or file != f"{name}.jsonl"
        return f"{label}{equals}{file}" if exists and not text.startswith("-") else text

    first, *arguments = shlex.split(line)
    return [first, *map(word, arguments)]


def at_command_line(passk: Passk, words: Sequence[str]) -> Iterator[Remedy]:
    """The remedies that a command prints: below its error, or with the messages of its JSON."""
    result = passk(*words)
    if result.code not in (0, 1):
        for command in re.findall(r"(?m)^  (passk .*)$", result.err):
            yield Remedy(result.error, command, result.err)
        return
    if {"-f", "-o", "--chart"} & {*words} or words[0] == "report":
        return
    document = json.loads(passk(*words, "-f", "json").out)
    for message in document["messages"]:
        for command in message["remedies"]:
            yield Remedy(message["name"], command, message["text"])


def typed(passk: Passk, remedy: Remedy) -> str:
    """What is wrong with a remedy on the command line; "" for nothing."""
    # As a shell reads the line, with what it does behind a #.
    arguments = shlex.split(remedy.text, comments=True)[1:]
    result = passk(*arguments)
    names = {*re.findall(r"(?m)^(?:error|warning|note)\[([a-z-]+)\]", result.err)}
    accepted = result.code == 0 or (result.code in (1, 5) and arguments[0] in ("gate", "watch"))
    if not accepted or remedy.family in names - SHOWN_ELSEWHERE:
        return f"{remedy.fails}\n-> {remedy.text}\n-> exit {result.code}: {result.err}"
    return ""


def in_python(words: Sequence[str]) -> Iterator[Remedy]:
    """The remedies of the same call in Python: notes of its error, or with its messages."""
    name, *arguments = words
    places = [at for at, word in enumerate(arguments) if word.startswith("-")]
    files = arguments[: min(places, default=len(arguments))]
    options = spelled_in_python(name, arguments[len(files) :])
    data = files if len(files) > 1 else next(iter(files), None)
    try:
        findings = getattr(passk_cli, name)(*[data] * bool(files), **options)
    except PasskError as error:
        for line in getattr(error, "__notes__", []):
            if (call := line.strip()).startswith("passk_cli."):
                yield Remedy(error.name, call, str(error))
        return
    for message in findings.messages:
        for call in message.remedies:
            yield Remedy(message.name, call, message.text)


def called(remedy: Remedy) -> str:
    """What is wrong with a remedy in Python; "" for nothing."""
    try:
        findings = eval(remedy.text, {"passk_cli": passk_cli})
    except (PasskError, TypeError) as error:
        return f"{remedy.fails}\n-> {remedy.text}\n-> {type(error).__name__}: {error}"
    names = {message.name for message in findings.messages} - SHOWN_ELSEWHERE
    return f"{remedy.fails}\n-> {remedy.text}\n-> it is still there" * (remedy.family in names)


def _stored_counts() -> dict[str, str]:
    """Situation → the remedies that it brings about: "typed NAME 2, called NAME 2"."""
    lines = (line.rpartition(" -> ")[::2] for line in GOLDEN.read_text().splitlines())
    return {situation: remedies.strip() for situation, remedies in lines}


def _restored(folder: Path, history: bytes) -> None:
    """Take back what the last remedy wrote."""
    for name in ("out.csv", "passk.toml"):
        (folder / name).unlink(missing_ok=True)
    (folder / "history.parquet").write_bytes(history)


# One in twelve stands for all.
@pytest.mark.parametrize("line", mark_long_except([*QUICK, *SLOW], *QUICK[::12]))
def test_every_remedy_is_accepted_as_it_is_printed(
    passk: Passk, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    words = _words(line, folder)
    history = (folder / "history.parquet").read_bytes()
    _restored(folder, history)
    wrong, counts = [], Counter[str]()
    for remedy in [*at_command_line(passk, words)]:
        _restored(folder, history)
        wrong.append(typed(passk, remedy))
        counts[f"typed {remedy.family}"] += 1
    _restored(folder, history)
    with warnings.catch_warnings(action="ignore", category=PasskWarning):
        of_files = not {"--chart", "-f", "--stacked", "--chart-theme"} & {*words}
        for remedy in [*in_python(words)] if of_files else ():
            _restored(folder, history)
            wrong.append(called(remedy))
            counts[f"called {remedy.family}"] += 1
    _restored(folder, history)
    assert not any(wrong), "\n\n".join(filter(None, wrong))
    stored, now = _stored_counts(), ", ".join(f"{kind} {n}" for kind, n in sorted(counts.items()))
    if os.environ.get("PASSK_GOLDEN"):
        stored[line] = now
        GOLDEN.write_text(
            "".join(f"{line} -> {stored[line]}\n" for line in (*QUICK, *SLOW) if line in stored)
        )
    assert stored.get(line) == now


def test_a_remedy_for_piped_data_begins_with_a_pipe(passk: Passk, folder: Path) -> None:
    """As it is printed, behind `cat FILE`; a shell runs the first."""
    for words, name in ((["estimate", "new=-", "-k1"], "repeated"), (["estimate", "-"], "prompts")):
        path = folder / f"{name}.jsonl"
        text = path.read_bytes()
        printed = re.findall(r"(?m)^  (.*)$", passk(*words, stdin=text).err)
        assert printed
        for line in printed:
            assert line.startswith("| passk ")
            result = passk(*shlex.split(line, comments=True)[2:], stdin=text)
            assert result.code == 0, f"{line}: {result.err}"
    script = f'passk() {{ "{sys.executable}" -m passk_cli "$@"; }}; cat "{path}" {printed[0]}'
    subprocess.run(["bash", "-c", f"set -o pipefail; {script}"], check=True, capture_output=True)
    # So those of messages; a file that is written is none that is read.
    copies = (folder / "copy.jsonl").read_bytes()
    texts = json.loads(passk("estimate", "-", "-f", "json", stdin=copies).out)["messages"]
    remedies = [line for message in texts for line in message["remedies"]]
    assert remedies
    assert all(line.startswith("| passk ") for line in remedies)
    assert re.search(r"(?m)^  passk estimate", passk("estimate", path, "-o", "-").err)


def _with_remedies() -> Iterator[str]:
    """The names of messages that have remedies, and of errors that are raised with some."""
    yield from (message.name for message in all_messages().values() if message.fixes)
    usual = {"ParameterError": "bad-option-value", "DataError": "unusable-data"}
    for _, node in package_nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            values = {item.arg: item.value for item in node.keywords}
            name = values.get("name", ast.Constant(usual.get(node.func.id)))
            if "settles" in values and isinstance(name, ast.Constant) and name.value:
                yield str(name.value)


# Messages and errors with remedies that no situation here brings about, and why.
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        ("assumed-threshold", "bad-looks", "methods-without-bounds", "more-tasks-first",
         "no-temperature", "pilot-models", "recorded-run",
         "unpriced-models", "unusable-data"),
        "only the reader knows the value",
    ),
    **dict.fromkeys(
        ("few-labels", "missing-labels", "no-labels", "unmatched-labels"),
        "tests/commands/test_judge.py",
    ),
    **dict.fromkeys(
        ("baseline-models-not-run", "no-such-model"),
        "tests/commands/test_answers_to_mistakes.py",
    ),
    **dict.fromkeys(
        ("other-model-name", "run-lacks-attempts"), "tests/commands/test_incomplete.py",
    ),
    **dict.fromkeys(
        ("pooled-benchmarks", "unplanned-attempts"), "tests/study/test_completeness.py"
    ),
    "rule-cannot-fail": "tests/commands/test_gate_shares.py",
    "few-runs": "tests/commands/test_history.py: two runs of a model",
    "other-attempts-than-baseline": "tests/commands/test_gate_attempts.py: models of one file",
    "more-attempts": "tests/study/test_hint.py: models with different numbers of attempts",
    "pooled-runs": "tests/files/formats: runs of harnesses",
    "pooled-temperatures": "tests/commands/test_temperature.py: files of one model",
    "unclear-score": "tests/files/formats/test_inspect.py: a log of version 1",
    "no-task-column": "tests/files/reading/test_column_choice_errors.py: the screen",
    "possible-clusters": "tests/study/test_dependence.py",
    "one-task": "tests/commands/test_headlines.py",
    "new-model": "tests/commands/test_nights.py",
    "worse-than-before": "tests/commands/test_trend_fail.py",
    **dict.fromkeys(
        ("left-out-tasks", "no-such-suite", "short-runs"), "tests/commands/test_history.py"
    ),
    "unjudged-numbers": "tests/files/test_outcomes.py: words beside numbers",
    **dict.fromkeys(("spark-failed", "bad-map"), "tests/files/test_spark.py: a cluster"),
}  # fmt: skip


def test_every_remedy_is_brought_about() -> None:
    """And benchmarks/safety.md says how many."""
    stored = _stored_counts()
    item = [words.split(" ") for text in stored.values() for words in text.split(", ") if words]
    names = {name for _, name, _ in item}
    assert {*_with_remedies()} - names == {*ELSEWHERE}
    assert {*stored} == {*QUICK, *SLOW}
    doors = {door: sum(int(n) for d, _, n in item if d == door) for door in ("typed", "called")}
    page = (PACKAGE.parent / "benchmarks" / "safety.md").read_text()
    assert (
        f"Of {len(stored)} situations {sum(map(bool, stored.values()))} bring up a remedy, of"
        f" {len(names)} messages and errors. {doors['typed']} were typed on the command line and"
        f" {doors['called']} called in Python, as printed: all are accepted, and what they settle"
        " is gone."
    ) in " ".join(page.split())


_FLAG = re.compile(r"(?<![\w-])--?[a-z][a-z-]*(?![\w-])")


def _texts(node: ast.AST) -> Iterator[str]:
    """The words of a literal, with fields as braces; an option as a value has none."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if not (
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("OptionWithValue", "SuggestedFix")
    ):
        yield from (text for part in ast.iter_child_nodes(node) for text in _texts(part))


def _sentences() -> Iterator[tuple[str, str]]:
    """What a reader is to do, of every error that the package raises, and where it stands."""
    kinds = re.compile(
        "(Data|Parameter|Passk)Error|NoResults|BadRecord|NotOnSparkError|NotFetchedError"
    )
    for path, node in package_nodes():
        if not isinstance(node, ast.Call | ast.Assign):
            continue
        place = f"{path}:{node.lineno}"
        if isinstance(node, ast.Call) and kinds.fullmatch(getattr(node.func, "id", "")):
            for argument in node.args[:2]:
                yield from ((place, text.partition(";")[2]) for text in _texts(argument))
            yield from ((place, text) for argument in node.args[2:] for text in _texts(argument))
        elif isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            two_tuples = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if two_tuples else [(target, value)]
            for name, words in pairs:
                if isinstance(name, ast.Name) and name.id == "remedy":
                    yield from ((place, text) for text in _texts(words))


def test_no_remedy_is_written_by_hand() -> None:
    """What is to be done with an option is a value; an option in words is where the fact stands."""
    sentences = [(place, text) for place, text in _sentences() if _FLAG.search(text)]
    # Options of other programs.
    foreign_options = {"--dump-eval-details", "--log_samples", "--json-report,", "--compressed",
              "--packages", "--passk-out"}  # fmt: skip
    sentences = [
        (place, text) for place, text in sentences if not foreign_options & {*text.split()}
    ]
    assert sentences == []
    of_messages = [m.remedy for m in all_messages().values() if isinstance(m.remedy, str)]
    later = [message.template.partition(";")[2] for message in all_messages().values()]
    assert [text for text in (*of_messages, *later) if _FLAG.search(text)] == []


def test_an_option_in_a_text_is_a_value() -> None:
    """Errors, messages and lines below tables name an option only through `OptionWithValue`."""
    kinds = re.compile(
        "(Data|Parameter|Passk)Error|refuse|NoResults|BadRecord|NotOnSparkError|NotFetchedError"
    )
    texts: list[str] = []
    for _, node in package_nodes():
        if isinstance(node, ast.Call) and kinds.fullmatch(getattr(node.func, "id", "")):
            texts += [text for argument in node.args for text in _texts(argument)]
        elif isinstance(node, ast.FunctionDef) and node.name in (
            "footer_parts",
            "full_footer_parts",
        ):
            texts += [text for item in ast.walk(node) if isinstance(item, ast.Yield)
                      for text in _texts(item)]  # fmt: skip
    foreign_options = {
        "--dump-eval-details",
        "--json-report,",
        "--compressed",
        "--packages",
        "--passk-out",
    }
    flagged = [
        text for text in texts if _FLAG.search(text) and not foreign_options & {*text.split()}
    ]
    assert len(texts) > 500
    assert flagged == []
    assert [m.template for m in all_messages().values() if _FLAG.search(m.template)] == []


def test_every_remedy_has_options_that_there_are() -> None:
    flags = {
        flag for name in COMMANDS for _, item in _declared(name) for flag in item.flags.split()
    }
    keys = set()
    for _, node in package_nodes():
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "SuggestedFix":
            options = node.args[0]
            if isinstance(options, ast.Dict):
                keys |= {k.value for k in options.keys if isinstance(k, ast.Constant)}
    assert len(keys) > 40
    assert keys <= flags


def _declared(name: str) -> Iterator[tuple[str, Any]]:
    declaration = load_command(name)
    for title, options in (*declaration.option_sections(), *output_option_groups(declaration)):
        yield from ((title, item.option) for item in options)
