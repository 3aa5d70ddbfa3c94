"""Compiled loops, a submodule for each kind of kernel."""

from suffice.numerics._kernels import (
    columns as columns,
    comoments as comoments,
    counts as counts,
    factor as factor,
    moments as moments,
    sums as sums
)


def level() -> str:
    """Return the level of the processor that the loops run at."""
