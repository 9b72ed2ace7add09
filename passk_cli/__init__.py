"""passk: pass@k and pass^k from any harness's result files, with honest uncertainty.

>>> import passk_cli
>>> passk_cli.pass_at_k(10, 3, 5).round(6).item()
0.916667
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from passk_cli.api import compare, estimate
    from passk_cli.errors import DataError, ParameterError, PasskError, PasskWarning
    from passk_cli.files.reading import read
    from passk_cli.metrics.pass_k import pass_at_k, pass_hat_k
    from passk_cli.outcomes.counts import Counts

from passk_cli.version import __version__ as __version__

__all__ = [
    "Counts",
    "DataError",
    "ParameterError",
    "PasskError",
    "PasskWarning",
    "compare",
    "estimate",
    "pass_at_k",
    "pass_hat_k",
    "read",
]
_WHERE = {
    "Counts": "outcomes.counts",
    "DataError": "errors",
    "ParameterError": "errors",
    "PasskError": "errors",
    "PasskWarning": "errors",
    "compare": "api",
    "estimate": "api",
    "pass_at_k": "metrics.pass_k",
    "pass_hat_k": "metrics.pass_k",
    "read": "files.reading",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs nothing."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
