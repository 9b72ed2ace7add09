"""Mutants of the mathematics: would the tests see a wrong sign, limit, comparison or constant?

Run: python benchmarks/mutation.py [--mutants 160] [--seed 1] [--minutes 60] [--folders laws …]
     python benchmarks/mutation.py --only "1 17 …"

A mutant is one change at a place drawn at random in metrics/, inference/, laws/ or study/.  Its
module's own tests are run, then all that import the module, then those of commands.
--only: these numbers alone, as when a survivor has a new test.  --sure: the tests pass without a
mutant, so they are not run without one first.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import importlib
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("metrics", "inference", "laws", "study")
# Of commands: the goldens first.
OTHERS = [
    "tests/cli/test_commands.py", "tests/cli/test_curve.py", "tests/cli/test_diversity.py",
    "tests/cli/test_order.py", "tests/cli/test_temperature.py", "tests/commands/test_compare.py",
    "tests/commands/test_gate.py", "tests/commands/test_compare_answer.py",
    "tests/commands/test_tasks.py", "tests/commands/test_curve.py", "tests/test_reference.py",
]  # fmt: skip
# Imported once; each run of tests is a fork that has them.
HEAVY = ("duckdb", "hypothesis", "pandas", "rich.table", "scipy.optimize", "scipy.special",
         "scipy.stats", "typer")  # fmt: skip
# Of the processor, which is many times what a module's own tests take: these hang.
MOST_SECONDS = 120
# Tests of commands take minutes, and only one that hangs takes so many times that.
OTHERS_TAKE = 10
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
    """One change.  path : of the file; source : all of it, changed."""

    number: int
    path: str
    first: int
    last: int
    change: str
    source: str

    def __str__(self) -> str:
        return f"{self.number} {self.path}:{self.first}: {self.change}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=160)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", nargs="*", default=FOLDERS)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--sure", action="store_true")
    arguments = parser.parse_args()
    numbers = [int(word) for word in arguments.only.split()] or range(arguments.mutants)
    for name in HEAVY:
        importlib.import_module(name)
    ends: dict[str, Counter[str]] = {folder: Counter() for folder in FOLDERS}
    survivors = []
    until = time.monotonic() + arguments.minutes * 60
    with tempfile.TemporaryDirectory() as place:
        tree = Tree(Path(place) / "tree")
        tests = [f"tests/{folder}" for folder in arguments.folders]
        if not arguments.sure and run(tree.place, tests, 20 * MOST_SECONDS) != "passed":
            sys.exit("without a mutant a test fails")
        for number in numbers:
            if time.monotonic() > until:
                break
            one = mutant(arguments.folders, arguments.seed, number)
            end = tree.end_of(one)
            ends[one.path.split("/")[1]][end] += 1
            print(f"{end}: {one}", file=sys.stderr, flush=True)
            survivors += [f"- `{one}`"] * (end == "survived")
    print("| folder | mutants | killed | by own tests | share |\n| --- | --: | --: | --: | --: |")
    for folder, end in [*ends.items(), ("all", sum(ends.values(), Counter()))]:
        if count := end.total():
            killed = count - end["survived"]
            print(f"| {folder} | {count} | {killed} | {end['own']} | {killed / count:.0%} |")
    print("\nSurvivors:\n", *survivors, sep="\n")


def mutant(folders: list[str], seed: int, number: int) -> Mutant:
    """The mutant of this number: first a folder, then a place in it."""
    chance = random.Random(f"{seed} {number}")
    folder = chance.choice(folders)
    path, at = chance.choice(places(folder))
    tree = copy.deepcopy(parsed(path))
    node = list(sites(tree))[at]
    before = ast.unparse(node)
    change(node)
    what = f"{before}  →  {ast.unparse(node)}"
    last = node.end_lineno or node.lineno
    return Mutant(number, path, node.lineno, last, what, ast.unparse(tree))


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
    """A copy of everything, in which one file at a time is changed.

    Links would not do: the tests keep what they read of sample data that lie in their own tree.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        compileall.compile_dir(place / "passk_cli", quiet=1)
        self.texts = {str(file.relative_to(ROOT)): file.read_text()
                      for file in sorted((ROOT / "tests").glob("**/test_*.py"))}  # fmt: skip

    def end_of(self, one: Mutant) -> str:
        """What killed it: "own", "others" or "time"; or "survived"."""
        path, own = self.place / one.path, self.own(one.path)
        original, times = path.read_text(), path.stat()
        try:
            path.write_text(one.source)
            end = run(self.place, own, MOST_SECONDS)
            if end != "passed":
                return "time" if end == "time" else "own"
            others = [file for file in self.others(one.path) if file not in own]
            end = run(self.place, others, OTHERS_TAKE * MOST_SECONDS)
            return {"failed": "others", "passed": "survived"}.get(end, end)
        finally:
            path.write_text(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def own(self, path: str) -> list[str]:
        """The module's examples, and the tests of its folder that import it."""
        folder = f"tests/{path.split('/')[1]}/"
        return [path, *(file for file in self.importing(path) if file.startswith(folder))]

    def others(self, path: str) -> list[str]:
        """Other tests that import it, but for those that take minutes; then those of commands."""
        return [*dict.fromkeys([*self.importing(path), *OTHERS])]

    def importing(self, path: str) -> list[str]:
        folder, name = path.split("/")[1], Path(path).stem
        package = rf"passk_cli\.{folder}"
        imports = re.compile(rf"{package}\.{name}\b|from {package} import .*\b{name}\b")
        return [file for file, text in self.texts.items() if imports.search(text)]


def run(tree: Path, tests: list[str], seconds: int) -> str:
    """How tests end in a fork of this process: "passed", "failed" or "time" of the processor."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        _become_pytest(tree, tests)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "time"
    # 5: no test there, as in a module without an example.
    return "passed" if code in (0, 5) else "failed"


def _become_pytest(tree: Path, tests: list[str]) -> None:
    """Run tests of a tree, and end this process."""
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    os.environ["PYTHONPATH"] = str(tree)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    # Plugins are imported already, which is a warning, and warnings are errors.
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning", "-p", "no:cacheprovider"]
    code = 1
    try:
        code = pytest.main(["-n", "0", "-q", "-x", *quiet, *tests])
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
