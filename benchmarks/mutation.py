"""Mutants of the mathematics: would the tests see a wrong sign, limit, comparison or constant?

Run: python benchmarks/mutation.py [--mutants 100] [--seed 1] [--minutes 30] [--folders laws …]
A mutant is one change at a place drawn at random in metrics/, inference/, laws/ or study/.  It is
killed by its module's own tests, those of its folder, or those of the commands, in this order.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("metrics", "inference", "laws", "study")
# What is tried when a module's own tests see nothing.
WIDER = {
    "metrics": ["tests/metrics", "tests/test_reference.py", "tests/commands/test_diversity.py"],
    "inference": ["tests/inference", "tests/commands/test_compare.py",
                  "tests/commands/test_gate.py", "tests/commands/test_curve.py"],
    "laws": ["tests/laws", "tests/commands/test_extrapolate.py",
             "tests/commands/test_temperature.py"],
    "study": ["tests/study", "tests/commands/test_compare.py", "tests/commands/test_gate.py",
              "tests/commands/test_compare_answer.py", "tests/cli/test_commands.py"],
}  # fmt: skip
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd, ast.In: ast.NotIn,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min", "ones": "zeros",
         "zeros": "ones", "floor": "ceil", "ceil": "floor", "any": "all", "all": "any"}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", nargs="*", default=FOLDERS)
    parser.add_argument("--minutes", type=float, default=30)
    arguments = parser.parse_args()
    ends: dict[str, Counter[bool]] = {folder: Counter() for folder in FOLDERS}
    survivors = []
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place)
        for name in ("passk_cli", "tests"):
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("sample_data", "docs", "benchmarks", "pyproject.toml", "README.md"):
            (tree / name).symlink_to(ROOT / name)
        wrong = [one for name in arguments.folders for one in WIDER[name] if fails(tree, [one])]
        if wrong:
            sys.exit(f"without a mutant these fail: {', '.join(wrong)}")
        until = time.monotonic() + arguments.minutes * 60
        for number in range(arguments.mutants):
            if time.monotonic() > until:
                break
            chance = random.Random(f"{arguments.seed} {number}")
            folder = chance.choice(arguments.folders)
            path, line, change, source = mutant(folder, chance)
            killed = is_killed(tree, path, source)
            ends[folder][killed] += 1
            if not killed:
                survivors.append(f"{path}:{line}: {change}")
                print(survivors[-1], file=sys.stderr, flush=True)
    print("| folder | mutants | killed | share |\n| --- | --: | --: | --: |")
    for folder, end in [*ends.items(), ("all", sum(ends.values(), Counter()))]:
        if end.total():
            share = end[True] / end.total()
            print(f"| {folder} | {end.total()} | {end[True]} | {share:.0%} |")
    print("\nSurvivors:\n")
    print("\n".join(f"- `{one}`" for one in survivors))


def mutant(folder: str, chance: random.Random) -> tuple[str, int, str, str]:
    """(file, line, what is changed, the changed source) of one mutant of a folder."""
    trees = {path: ast.parse(path.read_text())
             for path in sorted((ROOT / "passk_cli" / folder).glob("*.py"))}  # fmt: skip
    places = [(path, at) for path, tree in trees.items() for at, _ in enumerate(sites(tree))]
    path, at = chance.choice(places)
    tree = copy.deepcopy(trees[path])
    node = list(sites(tree))[at]
    before = ast.unparse(node)
    change(node)
    line = f"{before}  →  {ast.unparse(node)}"
    return str(path.relative_to(ROOT)), node.lineno, line, ast.unparse(tree)


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


def is_killed(tree: Path, path: str, source: str) -> bool:
    """Whether a test fails, or takes forever, in this tree with this source."""
    original = (tree / path).read_text()
    (tree / path).write_text(source)
    folder, name = path.split("/")[1], Path(path).stem
    own = [path, *(f"tests/{folder}/test_{name}.py",)]
    try:
        return fails(tree, [one for one in own if (tree / one).exists()]) or any(
            fails(tree, [one]) for one in WIDER[folder]
        )
    finally:
        (tree / path).write_text(original)


def fails(tree: Path, tests: list[str]) -> bool:
    """Whether one of these tests fails."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run([*command, *tests], cwd=tree, env=environment, capture_output=True,
                              timeout=300, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in (0, 5)


if __name__ == "__main__":
    main()
