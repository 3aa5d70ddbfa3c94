"""Rows without a label join with the labels that are expected of them.

::

    E   r_i(c) = P(c) p(x_i | c) / Σ_c' P(c') p(x_i | c')      of every row without a label
    M   all parameters, from the sums of labelled rows and of r_i(c) rows x_i in class c

The first step knows the labelled rows alone. With parameters of maximum likelihood no step lowers

::

    L = Σ_labelled ω_i log P(x_i, y_i) + Σ_others ω_i log Σ_c P(c) p(x_i | c)

With others (smoothing, Student's t, densities in bins) a step may; it is not taken, and ends the
search. So L never falls. Columns count once, as a likelihood has them: weights of columns are
learnt afterwards. What families choose, they choose from the sums after the first step.

Source: K. Nigam, A. K. McCallum, S. Thrun and T. Mitchell, "Text classification from labeled and
unlabeled documents using EM", Machine Learning 39 (2000), section 5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.sums import accumulator
from suffice.numerics import kernels
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.logspace import log_sum_exp, normalise
from suffice.rules import FINITE, NONNEGATIVE, Shape
from suffice.statistics.batch import LIGHTEST, Batch
from suffice.statistics.by_class import ByClass, ByClassAccumulator
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["ExpectedLabels", "ExpectedRows", "Plan", "expected_rows", "maximised"]

MOST_STEPS = 100
TOLERANCE = 1e-6  # of L, in nats a row
IMPOSSIBLE = -1e100  # what a row counts as that no class can have produced
UNITS = 2.0**40  # in which r is counted, so that sums of whole rows are whole

Parts = tuple[FamilyColumns, ...]
Plan = tuple[GenerativeModel, Parts, Layout]


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedLabels:
    """What expectation-maximisation made of rows without a label.

    Parameters
    ----------
    rows : float
        Σω of these rows.
    log_likelihood : ndarray (t,)
        L of the parameters of every step, in nats, once all rows are known; it never falls.
    converged : bool
        Whether the last step gained no more than 1e-6 nats a row, or would have gained nothing.
    """

    rows: Annotated[float, NONNEGATIVE, FINITE]
    log_likelihood: Annotated[NDArray[np.float64], Shape("t"), FINITE]
    converged: bool

    def __repr__(self) -> str:
        steps = self.log_likelihood
        if not len(steps):
            return "no row without a label"
        return (
            f"{self.rows:g} rows without a label, expected in {len(steps)} "
            f"step{'s' * (len(steps) != 1)}\n"
            f"log likelihood: {steps[0]:.6g} to {steps[-1]:.6g} nats"
            f"{'' if self.converged else ', which still rises'}"
        )


@dataclass(frozen=True)
class ExpectedRows:
    """Sums over the rows without a label, in the classes that are expected; and L of all rows.

    Parameters
    ----------
    sums : ByClass
    log_likelihood : DoubleDouble ()
    """

    sums: ByClass
    log_likelihood: DoubleDouble

    def __add__(self, other: ExpectedRows) -> ExpectedRows:
        found = self.log_likelihood + other.log_likelihood
        return ExpectedRows(self.sums + other.sums, found)

    def __sub__(self, other: ExpectedRows) -> ExpectedRows:
        found = self.log_likelihood - other.log_likelihood
        return ExpectedRows(self.sums - other.sums, found)


def expected_rows(split: Split, plan: Plan) -> ExpectedRows:
    """Kernel of a step: what a model expects of the rows of a split."""
    model, parts, layout = plan
    total, found = accumulator(parts), DoubleDouble.zeros((1, 1))

    def add(batch: Batch) -> None:
        logs = model.log_joint(batch)
        told, own = log_sum_exp(logs), batch.learnt(model.classes)
        known = np.flatnonzero(own >= 0)
        told[known] = logs[known, own[known]]
        told = np.maximum(told, IMPOSSIBLE)[:, None]
        one = np.zeros(batch.rows, np.intp)
        kernels.counts.add_events(told, one, batch.weights, found.hi, found.lo)
        _add_expected(total, batch, normalise(logs, model.prior)[0], model.classes)

    for _ in each_batch(split, layout, add):
        pass
    log_likelihood = DoubleDouble.from_sums(found.hi, found.lo)[0, 0]
    return ExpectedRows(total.statistic(), log_likelihood)


def _add_expected(
    total: ByClassAccumulator, batch: Batch, posterior: NDArray[np.float64], classes: Vocabulary
) -> None:
    """Add the rows without a label to every class, as often as they are expected there."""
    rows = np.flatnonzero(batch.codes < 0)
    share = np.floor(posterior[rows] * UNITS + 0.5)
    share[np.arange(len(rows)), share.argmax(axis=1)] += UNITS - share.sum(axis=1)
    share /= UNITS
    if batch.weights.size:
        share *= batch.weights[rows, None]
    for c, label in enumerate(classes.values):
        there = np.flatnonzero(share[:, c] >= LIGHTEST)
        only = np.zeros(len(there), np.intp), Vocabulary((label,)), share[there, c]
        taken = batch.take(rows[there])
        total.add(Batch(taken.rows, taken.blocks, *only))


def maximised(
    labelled: ByClass,
    parts: Parts,
    estimate: Callable[[Parts, ByClass], GenerativeModel],
    run: Callable[[GenerativeModel], ExpectedRows],
) -> tuple[ByClass, ExpectedLabels]:
    """The sums of all rows at the greatest likelihood that steps lead to.

    Parameters
    ----------
    labelled : ByClass
        Sums over the labelled rows.
    parts : tuple of FamilyColumns
        The families.
    estimate : callable
        Makes a model of families and sums.
    run : callable
        Asks a model about all rows.
    """
    first = run(_settled(estimate(parts, labelled))).sums
    if not first.rows:
        return labelled, ExpectedLabels(0.0, np.zeros(0), True)
    sums = best = labelled + first
    least = TOLERANCE * sums.rows
    model = _settled(estimate(parts, sums))
    path: list[float] = []
    converged = False
    while not converged and len(path) < MOST_STEPS:
        found = run(model)
        told = float(found.log_likelihood.value)
        if path and told < path[-1]:
            converged = True
            break
        converged = bool(path) and told - path[-1] <= least
        path.append(told)
        best, sums = sums, labelled + found.sums
        model = estimate(model.parts, sums)
    return best, ExpectedLabels(first.rows, np.array(path), converged)


def _settled(model: GenerativeModel) -> GenerativeModel:
    """The same model, whose families choose nothing anew; new categories say nothing."""
    settled = model.settled()
    return replace(settled, calibration=None, sampled=None)
