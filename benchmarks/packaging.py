"""The sdist and the wheel: built, installed into a clean environment, run from another folder.

Run: python benchmarks/packaging.py [--python python3.13] [--lowest] [--tests tests/metrics …]
--lowest: the oldest version of every dependency that is allowed.  --tests: also run these there.
It needs the package index.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
JOB = ["estimate", str(ROOT / "sample_data" / "cruxeval.jsonl.gz"), "-k", "1", "-q", "-f", "csv"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--lowest", action="store_true")
    parser.add_argument("--tests", nargs="*", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run([arguments.python, "-m", "venv", "clean"], place)
        python = str(place / "clean" / "bin" / "python")
        run([python, "-m", "pip", "install", "-q", "build"], place)
        run([python, "-m", "build", "-q", "--outdir", str(place / "dist"), str(ROOT)], place)
        (wheel,), (sdist,) = (list((place / "dist").glob(f"*{end}")) for end in (".whl", ".gz"))
        require_complete(wheel, sdist)
        options = ["-c", constraints(place)] if arguments.lowest else []
        package = f"{wheel}[test]" if arguments.tests else str(wheel)
        run([python, "-m", "pip", "install", "-q", *options, package], place)
        passk = str(place / "clean" / "bin" / "passk")
        print(run([python, "--version"], place).strip(), run([passk, "--version"], place).strip())
        print(run([passk, *JOB], place))
        if arguments.tests:
            # With the tests of the sdist and the package of the environment.
            with tarfile.open(sdist) as archive:
                archive.extractall(place, filter="data")
            (tree,) = place.glob("passk_cli-*")
            (tree / "passk_cli").rename(tree / "elsewhere")
            tests = [*arguments.tests, "--deselect", "tests/test_house.py"]
            print(run([python, "-m", "pytest", "-n", "0", *tests], tree)[-300:])


def require_complete(wheel: Path, sdist: Path) -> None:
    """Every file of the package is in the wheel, and every file the tests need in the sdist."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = run(["git", "ls-files"], ROOT).splitlines()
    expected = {name for name in files if name.startswith("passk_cli/")}
    if inside != expected:
        sys.exit(f"the wheel differs from the package: {sorted(inside ^ expected)}")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = {name for name in files if not name.startswith(".git")} - names
    if missing:
        sys.exit(f"the sdist lacks {sorted(missing)}")
    print(f"{wheel.name}: {len(inside)} files; {sdist.name}: {len(names)} files")


def constraints(place: Path) -> str:
    """A file with the lowest version of every dependency."""
    path = place / "lowest.txt"
    path.write_text(run([sys.executable, str(ROOT / "tests" / "lowest_versions.py")], place))
    return str(path)


def run(command: list[str], place: Path) -> str:
    """The output of a command that does not see this checkout. The script ends if the command
    fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True,
                          check=False)  # fmt: skip
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stdout[-3000:]}{result.stderr[-3000:]}")
    return result.stdout


if __name__ == "__main__":
    main()
