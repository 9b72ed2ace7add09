"""Imports functions of scipy.special without the slow imports of the package scipy.special.

The package scipy.special also imports numpy.testing and numpy.f2py.  These two imports need more
time than a small command of passk.  The functions themselves are in one compiled module of
scipy.special.

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
    """A function of scipy.special, which is imported when passk first uses the function."""
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(_compiled_functions_module(), name)


@cache
def _compiled_functions_module() -> ModuleType:
    """The compiled module of scipy.special, or the whole package if the module lacks needed
    functions."""
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
