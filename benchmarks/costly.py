"""Seconds of all cores and peak memory of 30 costly inputs of at most 1.5 MB.

Run: python benchmarks/costly.py [--only NAME] [--keep]
Makes each input in a folder of its own and runs one command on it as a whole process.  Each command
must end within 15 s and 1 GB, with numbers or with a refusal.  --keep writes reading.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from measure import ended, installed, keep, machine, table

_SECONDS, _MEBIBYTES, _LONGEST_INPUT = 15, 1024, 1_600_000
# A run is stopped after that many CPU seconds.
_MOST = 60
Make = Callable[[Path], None]


def text(name: str, content: str) -> Make:
    """What writes one file of this text."""
    return lambda folder: (folder / name).write_text(content) and None


def rows(head: str, lines: Iterable[str], name: str = "a.csv") -> Make:
    """What writes a CSV file of these lines."""
    return lambda folder: (folder / name).write_text("\n".join((head, *lines)) + "\n") and None


def attempts(models: int, tasks: int, runs: int) -> Iterator[str]:
    """Rows of models × tasks × attempts, each passed or failed by chance."""
    rng = random.Random(1)
    for model in range(models):
        for task in range(tasks):
            for run in range(runs):
                yield f"m{model},t{task},{run},{rng.randrange(2)}"


def squeezed(head: str, block: str, size: int) -> Make:
    """What writes a gz file of a block again and again, 1 GB when it is unpacked."""

    def make(folder: Path) -> None:
        with gzip.open(folder / "a.csv.gz", "wt") as file:
            file.write(head)
            for _ in range(size // len(block)):
                file.write(block)

    return make


def archive(folder: Path) -> None:
    """An Inspect log with summaries of 1 GB of blanks."""
    with zipfile.ZipFile(folder / "a.eval", "w", zipfile.ZIP_DEFLATED) as log:
        header = {"status": "success", "eval": {"task": "t", "model": "m", "task_id": "r"}}
        log.writestr("header.json", json.dumps(header))
        with log.open("summaries.json", "w", force_zip64=True) as summaries:
            summaries.write(b"[")
            for _ in range(1000):
                summaries.write(b" " * 1_000_000)
            summaries.write(b"]")


def many_files(folder: Path) -> None:
    """2,500 files of one record."""
    for number in range(2500):
        record = {"model": "m", "task_id": f"t{number % 50}", "passed": number % 3 == 0}
        (folder / f"{number}.json").write_text(json.dumps(record))


def suites(folder: Path) -> None:
    """4,000 suites of one small file."""
    (folder / "a.csv").write_text("model,task,passed\nm,a,1\nm,b,0\n")
    suite = '[[suite]]\nname = "s{}"\nruns = "a.csv"\nmin = {{"pass@1" = 0.1}}\n'
    (folder / "passk.toml").write_text("".join(suite.format(n) for n in range(4000)))


def nested(leaves: int, depth: int) -> str:
    """A document of that many leaves, each at another path of that depth."""
    tree: dict[str, object] = {}
    for number in range(leaves):
        node = tree
        for level in range(depth):
            node = node.setdefault(f"k{number // 10 ** (depth - level) % 10}", {})  # type: ignore[assignment]
        node[f"leaf{number}"] = number % 2
    return json.dumps(tree)


_HEAD = "model,task,attempt,passed"
_BILLION = 10**9
_LONG = {"model": "m", "task_id": "t", "passed": True, "output": "x" * 1_000_000}

# Name → the function that makes the input, and the command. Its files come last unless it names
# them.
INPUTS: dict[str, tuple[Make, str]] = {
    "lists in lists, 100,000 deep": (text("a.json", "[" * 100_000 + "]" * 100_000), "estimate"),
    "a document of 3,600 leaves": (text("a.json", nested(3_600, 4)), "estimate"),
    "a document of 20,000 leaves": (text("a.json", nested(20_000, 5)), "estimate"),
    "an object of 50,000 keys": (
        text("a.json", json.dumps({f"k{n}": n % 2 for n in range(50_000)})), "estimate"),
    "a row of 1 MB": (text("a.jsonl", json.dumps(_LONG) + "\n"), "estimate"),
    "a line of 1 MB that is not JSON": (text("a.jsonl", "x" * 1_000_000), "estimate"),
    "1 MB of zeros": (lambda f: (f / "a.csv").write_bytes(bytes(10**6)) and None, "estimate"),
    "other keys in each of 10,000 rows": (
        text("a.jsonl", "\n".join(json.dumps({"task": f"t{n}", "passed": n % 2, f"k{n}": 1})
                                  for n in range(10_000))), "estimate"),
    "a table of 15,000 columns": (
        rows(",".join(["task", "passed", *(f"c{n}" for n in range(15_000))]),
             [",".join([f"t{n}", "1", *["0"] * 15_000]) for n in range(20)]), "estimate"),
    "a table of 40,000 columns": (
        rows(",".join(f"c{n}" for n in range(40_000)), [",".join(["0"] * 40_000)]), "estimate"),
    "200 columns that may be outcomes": (
        rows(",".join(["task", *(f"passed{n}" for n in range(200))]),
             [",".join([f"t{n}", *["1"] * 200]) for n in range(2_000)]), "estimate"),
    "2,500 files of one record": (many_files, "estimate ."),
    "10,000 models": (rows(_HEAD, attempts(10_000, 3, 2)), "estimate"),
    "10,000 models compared": (rows(_HEAD, attempts(10_000, 3, 2)), "compare"),
    "400 models compared": (rows(_HEAD, attempts(400, 50, 3)), "compare"),
    "1,000 models, a report": (rows(_HEAD, attempts(1_000, 20, 3)), "report -o out.html"),
    "10,000 groups": (
        rows("group,task,passed", (f"g{n % 10_000},t{n},{n % 2}" for n in range(40_000))),
        "estimate --by group"),
    "1,900 groups, all intervals": (
        rows("group,task,passed", (f"g{n % 1_900},t{n},{n % 3 % 2}" for n in range(38_000))),
        "bootstrap --by group --interval all"),
    "2,500 numbers of attempts, a band": (
        rows("model,task,n,c", (f"m,t{n},{n + 2},{n // 2}" for n in range(2_500))),
        "curve --band simultaneous"),
    "10⁹ attempts rehearsed": (
        rows("model,task,n,c", (f"m,t{n},{_BILLION},{_BILLION // (n + 2)}" for n in range(50))),
        "gate --min pass@1=0.2 --rehearse"),
    "100,000 attempts planned": (
        rows("model,task,n,c", (f"m,t{n},100000,{100_000 // (n + 2)}" for n in range(50))),
        "plan"),
    "10⁶ attempts extrapolated": (
        rows("model,task,n,c", (f"m,t{n},1000000,{1_000_000 // (n + 2)}" for n in range(50))),
        "extrapolate --to 1000000000"),
    "2,000 k": (
        rows("model,task,n,c", (f"m,t{n},10000,{n}" for n in range(2_000))),
        f"estimate -k {','.join(str(k) for k in range(1, 2_001))}"),
    "4,000 suites": (suites, "gate --rules passk.toml"),
    "rules of 1 MB": (
        text("passk.toml", "".join(f"a{n} = {n}\n" for n in range(70_000))),
        "gate --rules passk.toml"),
    "a condition of 5,000 parts": (
        rows(_HEAD, attempts(2, 100, 5)),
        f"estimate --where {' or '.join(f'attempt={n}' for n in range(5_000))!r}"),
    "20,000 similar names of tasks": (
        rows(_HEAD, (f"m,Task_{n}{' ' * (n % 3)},0,{n % 2}" for n in range(20_000))), "estimate"),
    "10,000 different answers": (
        rows("model,task,attempt,passed,answer",
             (f"m,t{n % 5},{n // 5},{n % 2},a{n}" for n in range(10_000))), "diversity"),
    "1 GB of rows in a gz file": (
        squeezed(_HEAD + "\n", "m,t,0,1\n" * 1_000, 10**9),
        "estimate"),
    "an archive of 1 GB": (archive, "estimate"),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="keep the inputs whose name contains this")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    lines = []
    for name, (make, command) in INPUTS.items():
        if arguments.only in name:
            lines.append((name, *measured(make, command)))
            print(*lines[-1], sep="\t", flush=True)
    head = ("input", "command", "MB", "CPU s", "peak MiB", "exit")
    if arguments.keep and not arguments.only:
        keep("costly", f"{machine()}\n\n{table(head, lines)}", "reading.md")


def measured(make: Make, command: str) -> tuple[str, ...]:
    """The command, the size of its input, and its cost."""
    with tempfile.TemporaryDirectory() as place, installed() as variables:
        folder = Path(place)
        make(folder)
        files = sorted(folder.iterdir())
        size = sum(file.stat().st_size for file in files)
        assert size <= _LONGEST_INPUT, size
        words = [sys.executable, "-P", "-m", "passk_cli", *_words(command)]
        if not {"--rules", "."} & {*words}:
            words += [file.name for file in files]
        result = ended(words, {**variables, "PYTHONPATH": str(Path(__file__).parent.parent)}, _MOST,
                     folder)  # fmt: skip
    within = result.cpu <= _SECONDS and result.mebibytes <= _MEBIBYTES
    return (
        command if len(command) < 50 else command.split(" 1,")[0][:30] + " …", f"{size / 1e6:.2f}",
        f"{result.cpu:.1f}" + " (too long)" * (not within), f"{result.mebibytes:,.0f}",
        str(result.code),
    )  # fmt: skip


def _words(command: str) -> list[str]:
    """The words of a command. The last word may be quoted."""
    first, quote, remainder = command.partition(" '")
    return [*first.split(), remainder.rstrip("'")] if quote else command.split()


if __name__ == "__main__":
    main()
