"""Compiled loops, a submodule for each idea."""

from suffice.numerics._kernels import sums as sums


def level() -> str:
    """Return the level of the processor that the loops run at."""
