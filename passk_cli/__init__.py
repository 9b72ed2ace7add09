"""passk computes pass@k and pass^k with confidence intervals from the result files of any harness.

`read` reads files or tables and returns `Counts`.  Each command of passk is also a Python function,
which returns `Findings`.

>>> import passk_cli
>>> passk_cli.pass_at_k(10, 3, 5).round(6).item()
0.916667
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from passk_cli.commands import COMMANDS
from passk_cli.version import __version__ as __version__

# _MODULE_BY_PUBLIC_NAME maps each public name to its module. `tests/stub.py` generates
# `__init__.pyi`, which contains the types of all public names.
_MODULE_BY_PUBLIC_NAME = {
    "Counts": "outcomes.counts",
    "DataError": "errors",
    "Findings": "python.findings",
    "ParameterError": "errors",
    "PasskError": "errors",
    "PasskWarning": "errors",
    "Verdict": "python.findings",
    "pass_at_k": "metrics.pass_k",
    "pass_hat_k": "metrics.pass_k",
    "read": "api",
    **dict.fromkeys(COMMANDS, "api"),
}
__all__ = [*_MODULE_BY_PUBLIC_NAME]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package is fast."""
    if name not in _MODULE_BY_PUBLIC_NAME:
        from passk_cli.suggestions import did_you_mean_or_list

        question = did_you_mean_or_list(name, COMMANDS, "help(passk_cli) lists them")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; {question}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULE_BY_PUBLIC_NAME[name]}"), name)


class _ModuleWithReportFunction(ModuleType):
    """The class of the module `passk_cli`.  The attribute `report` of this module is always the
    function for `passk report` and never the subpackage."""

    @property
    def report(self) -> Any:
        """The Python function for `passk report`."""
        return __getattr__("report")

    @report.setter
    def report(self, folder: ModuleType) -> None:
        """Ignore the subpackage `report`, which Python assigns to this attribute when a module
        imports from the subpackage."""


sys.modules[__name__].__class__ = _ModuleWithReportFunction


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
