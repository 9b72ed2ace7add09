"""Functions of scipy.special, without what its package imports next to them.

The package imports support for other array libraries, and with it numpy.testing and numpy.f2py,
which takes longer than a small command.  Its functions of numbers are in one module below it.

>>> from passk_cli.scipy_special import ndtr
>>> round(float(ndtr(1.96)), 3)
0.975
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from types import ModuleType
from typing import Any

_PACKAGE, _MODULE = "scipy.special", "scipy.special._ufuncs"


def __getattr__(name: str) -> Any:
    """A function of scipy.special, found when it is first used."""
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(_functions(), name)


@cache
def _functions() -> ModuleType:
    """The module with the functions, without the package that usually contains it.

    If another version of scipy has its functions elsewhere, they come from the package.
    """
    if _PACKAGE not in sys.modules:
        import scipy

        empty = ModuleType(_PACKAGE)
        empty.__path__ = [f"{path}/special" for path in scipy.__path__]
        sys.modules[_PACKAGE] = empty
        try:
            module = importlib.import_module(_MODULE)
            if hasattr(module, "stdtrit") and hasattr(module, "betaln"):
                return module
        except ImportError:
            pass
        finally:
            del sys.modules[_PACKAGE]
    return importlib.import_module(_PACKAGE)
