"""Install a wheel in new environments, use it there, and write a table of the results.

    python packaging/check.py                           build, and use the Python that runs this
    python packaging/check.py --python P1 --python P2   use these interpreters
    python packaging/check.py --wheel FILE --table T    use this wheel, and write to the file T

The table is in packaging/README.md. A row replaces an earlier row about the same environment. You
need uv and pipx; without them their rows are left out. Rows of the extra `spark` need Java.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
HEADER = (
    "| Python | installed with | dependencies | extra | seconds | MB | checked with |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n"
)
ROWS = "task,n,c\n" + "".join(f"t{i},4,{i % 5}\n" for i in range(20))
FILES = {
    "rows.csv": ROWS,
    "attempts.csv": "task,passed\na,1\na,0\n",
    "map.toml": '[data]\nmodel = {value = "a"}\ntask = "task"\noutcome = "passed"\n',
}
# Size of passk with its dependencies, in megabytes.
MOST_MB = 400
# Extra → a command that needs it. Commands run in a folder with FILES.
EXTRAS = {
    "pdf": "passk curve rows.csv --chart curve.pdf -q && head -c 4 curve.pdf | grep -q %PDF",
    # Nothing listens at this address: only a missing package is a failure.
    "remote": "python -c 'import s3fs, huggingface_hub' && "
    "AWS_ENDPOINT_URL=http://127.0.0.1:9 AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x "
    "passk estimate s3://bucket/rows.csv 2>&1 | grep -v missing-package | grep -q '^error'",
    "inspect": "python -W ignore -c 'from passk_cli.inspect import stop'",
    "spark": "passk convert attempts.csv --counts --map map.toml --engine spark -q "
    "-o counts.parquet && "
    "passk estimate counts.parquet -q",
}
BASE = "passk demo && passk estimate rows.csv -k 1 -q"


class Environment(NamedTuple):
    """An environment to check.

    tool : "pip", "uv" or "pipx".  dependencies : "newest" or "lowest".  extra : its name, or "".
    """

    python: str
    tool: str
    dependencies: str = "newest"
    extra: str = ""


def environments(pythons: Sequence[str], extras: Sequence[str]) -> Iterator[Environment]:
    """The environments of the table. The lowest numpy has wheels only up to Python 3.12."""
    for python in pythons:
        yield Environment(python, "pip")
        yield Environment(python, "uv")
        yield Environment(python, "pipx")
        if _version_of(python) < (3, 13):
            yield Environment(python, "uv", "lowest")
    for extra in extras:
        yield Environment(pythons[0], "uv", extra=extra)


def check(environment: Environment, wheel: Path) -> str:
    """Install the wheel, run its commands, and return the row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in FILES.items():
            (folder / file).write_text(text)
        requirement = f"{wheel}[{environment.extra}]" if environment.extra else str(wheel)
        start = time.perf_counter()
        bin_folder = _install(environment, requirement, folder)
        seconds = time.perf_counter() - start
        command = EXTRAS.get(environment.extra, BASE)
        path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
        result = _run(["sh", "-c", command], cwd=folder, env=os.environ | {"PATH": path})
        megabytes = _size(bin_folder.resolve().parent) / 1e6
    if environment.extra == "" and megabytes > MOST_MB:
        raise SystemExit(f"{environment}: {megabytes:.0f} MB are more than {MOST_MB}")
    python = ".".join(map(str, _version_of(environment.python)))
    extra = environment.extra or "–"
    words = "`passk demo`" if not environment.extra else "a command that needs the extra"
    print(f"{environment}: {seconds:.1f} s, {megabytes:.0f} MB\n{result[-200:]}", flush=True)
    return (
        f"| {python} | {environment.tool} | {environment.dependencies} | {extra} |"
        f" {seconds:.0f} | {megabytes:.0f} | {words} |"
    )


def _install(environment: Environment, requirement: str, folder: Path) -> Path:
    """Install into a new environment, and return the folder of its commands."""
    if environment.tool == "pipx":
        places = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "shims")}
        words = ["pipx", "install", "--python", environment.python, requirement]
        _run(words, cwd=folder, env=os.environ | places)
        return (folder / "shims" / "passk").resolve().parent
    venv = folder / "venv"
    python = str(venv / "bin" / "python")
    if environment.tool == "pip":
        _run([environment.python, "-m", "venv", str(venv)])
        _run([python, "-m", "pip", "install", "--quiet", requirement])
    else:
        _run(["uv", "venv", "--quiet", "--python", environment.python, str(venv)])
        install = ["uv", "pip", "install", "--quiet", "--python", python]
        if environment.dependencies == "lowest":
            # The direct dependencies are those of the project, not the wheel itself.
            file = str(ROOT / "pyproject.toml")
            _run([*install, "--resolution", "lowest-direct", "--requirement", file])
            requirement = f"--no-deps {requirement}"
        _run([*install, *requirement.split(" ", 1)])
    return venv / "bin"


def write_table(file: Path, rows: Sequence[str]) -> None:
    """Write rows into the table of a file, in which a row replaces one about the same environment.

    Rows are sorted by version of Python, and rows of extras come last.
    """
    text = file.read_text() if file.exists() else HEADER
    pattern = re.compile(rf"{re.escape(HEADER)}((?:\|.*\n)*)")
    found = pattern.search(text)
    if found is None:
        raise SystemExit(f"{file} has no table")
    by_key = {_key(row): row for row in [*found[1].splitlines(), *rows]}
    table = "".join(f"{by_key[key]}\n" for key in sorted(by_key))
    file.write_text(text[: found.start(1)] + table + text[found.end(1) :])


def _key(row: str) -> tuple[bool, str, tuple[int, ...], str, str]:
    python, tool, dependencies, extra = (cell.strip() for cell in row.split("|")[1:5])
    return extra != "–", extra, tuple(map(int, python.split("."))), tool, dependencies


def _version_of(python: str) -> tuple[int, ...]:
    code = "import sys; print(*sys.version_info[:2])"
    return tuple(map(int, _run([python, "-c", code]).split()))


def _size(folder: Path) -> int:
    """Bytes of the files below a folder, without pip, links and compiled code of Python."""
    without = {"__pycache__", "pip", "setuptools", "pkg_resources"}
    files = (path for path in folder.rglob("*") if not path.is_symlink() and path.is_file())
    return sum(path.stat().st_size for path in files if not without & {*path.parts})


def _run(words: Sequence[str], **options: object) -> str:
    """Run a command and return its output; end with its output if it fails."""
    result = subprocess.run(words, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if result.returncode:
        raise SystemExit(f"{' '.join(words)}:\n{result.stdout}{result.stderr}")
    return str(result.stdout)


def build(folder: Path) -> Path:
    """Build the sdist and the wheel, check them, and return the wheel."""
    _run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)])
    _run([sys.executable, "-m", "twine", "check", "--strict", *map(str, folder.iterdir())])
    (wheel,) = folder.glob("*.whl")
    _run([sys.executable, "-m", "check_wheel_contents", str(wheel)])
    for file in sorted(folder.iterdir()):
        print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    return wheel


def main() -> None:
    """Check the environments that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", help="interpreter; you can repeat it")
    parser.add_argument("--wheel", type=Path, help="check this wheel instead of building one")
    parser.add_argument("--table", type=Path, default=ROOT / "packaging" / "README.md")
    parser.add_argument("--extra", action="append", choices=[*EXTRAS, "none"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel.resolve() if options.wheel else build(Path(folder))
        extras = [extra for extra in options.extra or EXTRAS if extra != "none"]
        rows = []
        for environment in environments(options.python or [sys.executable], extras):
            if environment.tool == "pip" or shutil.which(environment.tool):
                rows.append(check(environment, wheel))
                write_table(options.table, rows)


if __name__ == "__main__":
    main()
