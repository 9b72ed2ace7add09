"""Functions of scipy.special without its package are the same functions, whoever imports first."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import passk_cli
import passk_cli.scipy_special

PACKAGE = Path(passk_cli.__file__).parent


def used() -> list[str]:
    """The functions that the package takes from scipy.special."""
    names = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "passk_cli.scipy_special":
                names |= {alias.name for alias in node.names}
    return sorted(names)


@pytest.mark.parametrize("first", ["passk_cli.scipy_special", "scipy.special", "scipy.stats"])
def test_functions_are_those_of_scipy(first: str) -> None:
    names = used()
    assert {"ndtr", "stdtrit", "betaln"} <= {*names}
    code = (
        f"import {first}, sys, passk_cli.scipy_special as own\n"
        f"ours = [getattr(own, name)(.25, .5, .75)[()] if getattr(own, name).nin == 3 else\n"
        f"        getattr(own, name)(*[.25, .5][:getattr(own, name).nin]) for name in {names}]\n"
        "light = 'scipy._lib._array_api' not in sys.modules\n"
        "import scipy.special as real, scipy.stats\n"
        f"theirs = [getattr(real, name)(*[.25, .5, .75][:getattr(own, name).nin])"
        f" for name in {names}]\n"
        "assert ours == theirs, (ours, theirs)\n"
        "assert scipy.stats.norm.cdf(0) == .5 and real.logsumexp([0, 0]) > .69\n"
        "print(light)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"{first == 'passk_cli.scipy_special'}\n"


def test_what_scipy_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = passk_cli.scipy_special.no_such_function
