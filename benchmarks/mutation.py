"""Mutants of the mathematics: would the tests see a wrong sign, limit, comparison or constant?

Run: python3.13 benchmarks/mutation.py [--mutants 160] [--seed 1] [--minutes 60] [--folders study …]
     python3.13 benchmarks/mutation.py --only "1 17 …" [--whole]

A mutant is one change at a random place in metrics/, inference/, distributions/ or study/. All
tests run once without a mutant, and the lines that each one runs are recorded. A mutant then meets
the tests that run its statement: first those of its folder, then all others, the quick ones first.
It needs Python 3.12 or newer.

--only: run only these numbers, for example if a survivor has a new test. --whole: run also the slow
tests of other folders. --lines: a file for the recorded lines, which is read if it exists.
--unchanged: write the file again without a change. No test may fail then.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("metrics", "inference", "distributions", "study")
# Imported once; each run of tests is a fork that has them.
HEAVY = ("duckdb", "hypothesis", "pandas", "rich.table", "scipy.optimize", "scipy.special",
         "scipy.stats", "typer")  # fmt: skip
# Tests that read the code rather than run it.
OF_TEXT = "tests/test_house.py"
# Seconds of CPU time without a mutant. Slow tests of other folders are left out beyond it.
OTHERS_TAKE = 20
# A run that is that many times longer is a hang. The seconds are for the start.
HANG, START = 5, 20
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd, ast.In: ast.NotIn,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min", "ones": "zeros",
         "zeros": "ones", "floor": "ceil", "ceil": "floor", "any": "all", "all": "any"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change.

    path : the file.  source : the complete changed source.  lines : the lines of its statement.
    in_function : whether the statement runs when a function is called, and not at the import.
    """

    number: int
    path: str
    lines: range
    in_function: bool
    change: str
    source: str

    def __str__(self) -> str:
        return f"{self.number} {self.path}:{self.lines[-1]}: {self.change}"


@dataclass(frozen=True)
class Lines:
    """What each test runs.

    tests : their names → seconds of the processor.  lines : file → line → places in `tests`.
    """

    tests: dict[str, float]
    lines: dict[str, dict[int, list[int]]]

    @classmethod
    def read(cls, path: Path) -> Lines:
        recorded = json.loads(path.read_text())
        lines = {
            file: {int(line): tests for line, tests in line_tests.items()}
            for file, line_tests in recorded["lines"].items()
        }
        return cls(recorded["tests"], lines)

    def tests_of(self, mutation: Mutant) -> tuple[list[str], list[str]]:
        """Tests that run the statement, from its folder and from other folders, the quick ones
        first.

        For a statement that runs at the import, these are the tests that run any line of its file.
        """
        of_file, names = self.lines.get(mutation.path, {}), [*self.tests]
        lines = mutation.lines if mutation.in_function else of_file
        places = {place for line in lines for place in of_file.get(line, ())}
        tests = sorted((names[place] for place in places), key=self.tests.__getitem__)
        folder = mutation.path.split("/")[1]
        folders = (f"tests/{folder}/", f"passk_cli/{folder}/")
        close_tests = [test for test in tests if test.startswith(folders)]
        distant_tests = [test for test in tests if not test.startswith((*folders, OF_TEXT))]
        return close_tests, distant_tests

    def quick(self, tests: list[str]) -> list[str]:
        """The first tests that together need no more time than other tests may use."""
        seconds, selection = 0.0, []
        for test in tests:
            seconds += self.tests[test]
            if seconds > OTHERS_TAKE:
                break
            selection.append(test)
        return selection

    def most_seconds(self, tests: list[str]) -> int:
        """After which they hang."""
        return START + int(HANG * sum(self.tests[test] for test in tests))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=160)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", nargs="*", default=FOLDERS)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--unchanged", action="store_true")
    parser.add_argument("--lines", type=Path)
    arguments = parser.parse_args()
    numbers = [int(word) for word in arguments.only.split()] or range(arguments.mutants)
    for name in HEAVY:
        importlib.import_module(name)
    ends: dict[str, Counter[str]] = {folder: Counter() for folder in FOLDERS}
    survivors = []
    with tempfile.TemporaryDirectory() as place:
        recorded = arguments.lines or Path(place) / "lines.json"
        tree = Tree(Path(place) / "tree")
        if recorded.exists():
            tree.compile_tests()
        else:
            tree.record(recorded)
        lines = Lines.read(recorded)
        until = time.monotonic() + arguments.minutes * 60
        for number in numbers:
            if time.monotonic() > until:
                break
            mutation = mutant(arguments.folders, arguments.seed, number, arguments.unchanged)
            end, by = tree.end_of(mutation, lines, arguments.whole)
            ends[mutation.path.split("/")[1]][end] += 1
            print(f"{end}: {mutation}{by and f'  by {by}'}", file=sys.stderr, flush=True)
            survivors += [f"- `{mutation}`"] * (end in ("survived", "never run"))
    print("| folder | mutants | killed | by own tests | share |\n| --- | --: | --: | --: | --: |")
    for folder, end in [*ends.items(), ("all", sum(ends.values(), Counter()))]:
        if count := end.total():
            killed = count - end["survived"] - end["never run"]
            print(f"| {folder} | {count} | {killed} | {end['own']} | {killed / count:.0%} |")
    print("\nSurvivors:\n", *survivors, sep="\n")


def mutant(folders: list[str], seed: int, number: int, unchanged: bool = False) -> Mutant:
    """The mutant of this number: first a folder, then a place in it."""
    chance = random.Random(f"{seed} {number}")
    folder = chance.choice(folders)
    path, at = chance.choice(places(folder))
    tree = parsed(path)
    node = list(sites(tree))[at]
    changed_node = copy.deepcopy(node)
    if not unchanged:
        change(changed_node)
    # The rest of the file stays as it is written.
    rows = (ROOT / path).read_bytes().splitlines(keepends=True)
    last = (node.end_lineno or node.lineno) - 1
    before = [*rows[: node.lineno - 1], rows[node.lineno - 1][: node.col_offset]]
    after = [rows[last][node.end_col_offset :], *rows[last + 1 :]]
    # The number of lines stays the same.
    gap = "\n" * (last + 1 - node.lineno)
    source = b"".join([*before, f"({ast.unparse(changed_node)}{gap})".encode(), *after]).decode()
    first, in_function = statement(tree, node)
    description = f"{ast.unparse(node)}  →  {ast.unparse(changed_node)}"
    return Mutant(number, path, range(first, node.lineno + 1), in_function, description, source)


def statement(tree: ast.Module, node: ast.expr) -> tuple[int, bool]:
    """Where the innermost statement around it begins, and whether that is in a function."""
    around = path_to(node, tree)
    first = [node.lineno for node in around if isinstance(node, ast.stmt)][-1]
    return first, any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in around)


def path_to(node: ast.AST, tree: ast.AST) -> list[ast.AST]:
    """The nodes around a node, from the outside to the inside."""
    for child in ast.iter_child_nodes(tree):
        if child is node:
            return [child]
        if below := path_to(node, child):
            return [child, *below]
    return []


@cache
def parsed(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


@cache
def places(folder: str) -> list[tuple[str, int]]:
    """Every place of a folder: the file, and the how manieth place of it."""
    files = sorted((ROOT / "passk_cli" / folder).glob("**/*.py"))
    paths = [str(file.relative_to(ROOT)) for file in files]
    return [(path, at) for path in paths for at, _ in enumerate(sites(parsed(path)))]


def sites(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions that can be changed; not in annotations, errors, texts and defaults."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(
            node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.arguments
        ):
            continue
        if isinstance(node, ast.AnnAssign):
            yield from sites(node.value) if node.value is not None else ()
            continue
        if isinstance(node, ast.Assign) and isinstance(tree, ast.Module):
            continue
        if isinstance(node, ast.expr) and changeable(node):
            yield node
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            # Neither decorators nor types.
            yield from sites(ast.Interactive(node.body))
            continue
        yield from sites(node)


def changeable(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp):
        return type(node.op) in SWAPS
    if isinstance(node, ast.Compare):
        return type(node.ops[0]) in SWAPS
    if isinstance(node, ast.Attribute):
        return node.attr in NAMES
    return isinstance(node, ast.Constant) and type(node.value) in (bool, int, float)


def change(node: ast.expr) -> None:
    """Make the node another one, in place."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp):
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[call-overload]
    elif isinstance(node, ast.Attribute):
        node.attr = NAMES[node.attr]
    elif isinstance(node, ast.Constant):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1


class Tree:
    """A copy of the project in which one file at a time is changed.

    Links are not enough, because the tests keep their reading of sample data that is in the
    project.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        compileall.compile_dir(place / "passk_cli", quiet=1)

    def record(self, path: Path) -> None:
        """Record the lines that each test runs. Tests that fail in a copy are left out."""
        self._run_once("--ignore", OF_TEXT, plugins=[Recorder(self.place, path)])

    def compile_tests(self) -> None:
        """Tests are compiled whenever they are collected, unless that was kept once."""
        self._run_once("--collect-only")

    def _run_once(self, *arguments: str, plugins: Sequence[object] = ()) -> None:
        child = os.fork()
        if child == 0:
            _become_pytest(self.place, arguments, plugins)
        os.waitpid(child, 0)

    def end_of(self, mutation: Mutant, lines: Lines, all_tests: bool) -> tuple[str, str]:
        """What killed it, "own", "others" or "time", or "survived" or "never run"; and the test."""
        path = self.place / mutation.path
        original, times = path.read_text(), path.stat()
        close_tests, distant_tests = lines.tests_of(mutation)
        if not close_tests and not distant_tests:
            return "never run", ""
        try:
            path.write_text(mutation.source)
            for name, tests in (
                ("own", close_tests),
                ("others", distant_tests if all_tests else lines.quick(distant_tests)),
            ):
                end, by = run(self.place, tests, lines.most_seconds(tests)) if tests else ("", "")
                if end == "time":
                    return "time", by
                if end == "failed":
                    return name, by
            return "survived", ""
        finally:
            path.write_text(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


class Recorder:
    """A plugin of pytest that writes which lines of the four folders each test runs."""

    TOOL = 4

    def __init__(self, tree: Path, path: Path) -> None:
        self.path, self.start = path, len(str(tree)) + 1
        self.folders = tuple(f"{tree}/passk_cli/{folder}/" for folder in FOLDERS)
        self.now: set[tuple[str, int]] = set()
        self.failed: set[str] = set()
        self.tests: dict[str, float] = {}
        self.lines: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))

    def pytest_sessionstart(self) -> None:
        monitoring = sys.monitoring
        events = monitoring.events
        monitoring.use_tool_id(self.TOOL, "lines of tests")
        monitoring.register_callback(self.TOOL, events.PY_START, self._begins)
        monitoring.register_callback(self.TOOL, events.LINE, self._line)
        monitoring.set_events(self.TOOL, events.PY_START)

    def _begins(self, code: CodeType, _: int) -> object:
        if code.co_filename.startswith(self.folders):
            sys.monitoring.set_local_events(self.TOOL, code, sys.monitoring.events.LINE)
        return sys.monitoring.DISABLE

    def _line(self, code: CodeType, line: int) -> object:
        self.now.add((code.co_filename[self.start :], line))
        return sys.monitoring.DISABLE

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.failed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.now.clear()
        # Each line is reported once until the next restart.
        sys.monitoring.restart_events()
        begin = time.process_time()
        result = yield
        if item.nodeid not in self.failed:
            for file, line in self.now:
                self.lines[file][line].append(len(self.tests))
            self.tests[item.nodeid] = time.process_time() - begin
        return result

    def pytest_sessionfinish(self) -> None:
        sys.monitoring.set_events(self.TOOL, 0)
        sys.monitoring.free_tool_id(self.TOOL)
        self.path.write_text(json.dumps({"tests": self.tests, "lines": self.lines}))


class Chosen:
    """A plugin of pytest that runs only these tests in this order, and keeps the first failure."""

    def __init__(self, tests: list[str], failed: Path) -> None:
        self.failed = failed
        self.places = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        selection = (item for item in items if item.nodeid in self.places)
        items[:] = sorted(selection, key=lambda item: self.places[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.write_text(report.nodeid)


def run(tree: Path, tests: list[str], seconds: int) -> tuple[str, str]:
    """How tests end in a fork of this process: "passed", "failed" or "time"; and the test."""
    sys.stdout.flush()
    failed = tree.parent / "failed"
    failed.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        files = [*dict.fromkeys(test.partition("::")[0] for test in tests)]
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True
        _become_pytest(tree, ["-x", *files], [Chosen(tests, failed)])
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "time", ""
    if code in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        return "passed", ""
    if code == pytest.ExitCode.INTERNAL_ERROR:
        sys.exit(f"pytest itself fails on {tests}")
    return "failed", failed.read_text() if failed.exists() else "import"


def _become_pytest(tree: Path, arguments: Sequence[str], plugins: Sequence[object]) -> None:
    """Run tests of a tree, and end this process."""
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    os.environ["PYTHONPATH"] = str(tree)
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    # Plugins are imported already. pytest warns about this, and warnings are errors.
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider"]
    code = 1
    try:
        code = pytest.main(["-n", "0", "-q", "-m", "", *quiet, *arguments], plugins=plugins)
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
