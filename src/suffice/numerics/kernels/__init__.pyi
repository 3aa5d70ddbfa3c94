"""Compiled loops, a submodule for each kind of kernel."""

from suffice.numerics.kernels import (
    bins as bins,
    columns as columns,
    comoments as comoments,
    coordinate as coordinate,
    counts as counts,
    cuts as cuts,
    densities as densities,
    descent as descent,
    distances as distances,
    eigen as eigen,
    elementary as elementary,
    factor as factor,
    gram as gram,
    interrupts as interrupts,
    linear as linear,
    logistic as logistic,
    moments as moments,
    pair_counts as pair_counts,
    piecewise as piecewise,
    posterior as posterior,
    scores as scores,
    searchlight as searchlight,
    squares as squares,
    sums as sums,
    sweep as sweep
)


def level() -> str:
    """Return the level of the processor that the loops run at."""
