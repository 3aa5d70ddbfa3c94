"""Compiled loops, one module per job: those of ``src/native``, and those that Numba compiles.

A kernel file is loaded on first use (``kernels.moments.add_rows(...)``), because importing Numba
costs more than most small fits.
"""

from importlib import import_module
from types import ModuleType

from suffice.numerics import _kernels

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
    native: ModuleType | None = getattr(_kernels, name, None)
    return native or import_module(f"{__name__}.{name}")
