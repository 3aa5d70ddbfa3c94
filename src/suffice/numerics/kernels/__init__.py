"""Compiled loops, one file per job; the only files that import Numba.

A kernel file is loaded on first use (``kernels.moments.add_rows(...)``), because importing Numba
costs more than most small fits.
"""

from importlib import import_module
from types import ModuleType

__all__ = [
    "columns",
    "comoments",
    "counts",
    "descent",
    "distances",
    "factor",
    "linear",
    "logistic",
    "moments",
    "scores",
    "squares",
    "sums",
    "sweep",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
