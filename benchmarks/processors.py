"""Do the tests pass on processors without this one's instructions?

Run: python benchmarks/processors.py [tests/inference …]
Each set of instructions that numpy chooses from is switched off in turn, newest first, then the
kernels of OpenBLAS are those of other processors, then the C library's are the oldest.  One process
at a time; each says how many tests failed, and the last lines of its output where some did.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__ as chosen
from numpy._core._multiarray_umath import __cpu_features__ as there

ROOT = Path(__file__).resolve().parent.parent
# Where a result may depend on the last digit of a computed number.
NUMBERS = (
    "tests/inference", "tests/distributions", "tests/metrics", "tests/study", "tests/commands",
    "tests/cli",
    "tests/charts", "tests/test_readme.py", "tests/test_docs.py", "tests/test_published.py",
    "passk_cli/inference", "passk_cli/temperature_models", "passk_cli/metrics", "passk_cli/study",
)  # fmt: skip


def settings() -> list[dict[str, str]]:
    """Environments: this processor, without its newest instructions, without further ones, …"""
    options = [name for name in chosen if there[name]]
    fewer = [
        {"NPY_DISABLE_CPU_FEATURES": " ".join(options[at:])} for at in reversed(range(len(options)))
    ]
    kernels = [{"OPENBLAS_CORETYPE": name} for name in ("Nehalem", "Haswell", "SkylakeX")]
    oldest = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA"}
    return [{}, *fewer, *kernels, oldest]


def main() -> None:
    """Print a line per environment, and exit with code 1 if a test failed in one."""
    failed = False
    for setting in settings():
        name = " ".join(f"{key}={value!r}" for key, value in setting.items()) or "as it is"
        tests = sys.argv[1:] or NUMBERS
        command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-m", "", *tests]
        result = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **setting}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        lines = result.stdout.splitlines()
        print(f"{name}: {'passes' if result.returncode == 0 else 'FAILS'}", flush=True)
        if result.returncode:
            failed = True
            print(*lines[-20:], result.stderr[-500:], sep="\n", flush=True)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
