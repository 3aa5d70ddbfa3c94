"""Logistic regressions of many training sets and penalties, which descend together.

All start from the optimum of all rows, and with its Hessian: that of a training set is the sum of
those of its groups of rows. This is a start only; each goes on to its own minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.fit_context import fit_context
from suffice.errors import DataError, ParameterError
from suffice.models.logistic.curvature import GRADIENT_ROUNDING
from suffice.models.logistic.fit import Fit
from suffice.models.logistic.grouped_passes import Gradients, GroupedPasses
from suffice.models.logistic.loss import LossRequest
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.options import check_options
from suffice.models.logistic.problem import Problem
from suffice.models.logistic.solver import SECOND_ORDER
from suffice.models.logistic.warm_start import ILL_CONDITIONED
from suffice.models.optimise.newton import inverse, smallest_pivot
from suffice.models.optimise.one_thread import one_thread_of_blas
from suffice.models.optimise.several_descents import Descent, descend_together
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.by_class import ByClass
from suffice.statistics.loss_sums import LossSums
from suffice.statistics.statistic import tree_sum

__all__ = ["fitted_together"]

ROUGH = 1e-2  # fraction of the gradient at 0 at which Newton's method hands over to L-BFGS
CLOSE = 0.1  # of the scores: their spread between starts that share a Hessian
NEAR = 1e-5  # fraction of the gradient at 0 at which the optimum of all rows is a start
MOST_CELLS = 2**24  # of Hessians that are kept at a time
OWN = ("C", "tol")  # options that learners may differ in

Array = NDArray[np.float64]


def fitted_together(
    learners: Sequence[Any],
    rows: tuple[Any, Any, Any],
    group: NDArray[np.intp],
    learnt: NDArray[np.intp],
) -> list[list[Any]] | None:
    """Every learner fitted to every training set; None where that is to be done one by one.

    Parameters
    ----------
    learners : sequence of LogisticRegression
    rows : tuple
        For `fit`: table, labels, weights.
    group : ndarray of int (n,)
        −1 for rows in no training set.
    learnt : ndarray of int (f, g)
        How often each training set has each group.

    Returns
    -------
    list of lists, or None
        For each learner and training set an estimator, or None for one that lost its way.
    """
    if len(learners) * len(learnt) < 3 or learnt.max() > 1 or group.min() < 0:
        return None
    try:
        for learner in learners:
            check_options(learner)
    except ParameterError:
        return None  # which a fit will say
    if not _are_alike(learners):
        return None
    first = learners[0].unfitted()
    with fit_context(first), one_thread_of_blas():
        try:
            first.reader_, source = first._open_first(*rows)
        except (DataError, ParameterError):
            return None
        if first.reader_.design or [b.encoding for b in first.layout_.blocks] != ["real"]:
            return None
        engine = first._engine_for(source)
        passes = GroupedPasses(engine, source.splits(first.layout_, engine.workers), group)
        seen = passes.first(first.layout_)
        return _Together(learners, first, source, passes, seen, learnt).fitted()


def _are_alike(learners: Sequence[Any]) -> bool:
    """Whether all minimise a smooth penalised loss by curvature, and differ in little."""

    def common(learner: Any) -> dict[str, Any]:
        options = learner.get_params(deep=False)
        return {name: str(value) for name, value in options.items() if name not in OWN}

    one = learners[0]
    return (
        one.penalty == "l2"
        and one.numbers == "linear"
        and one.incomplete == "error"
        and one.l1_ratio == 0
        and one.solver in SECOND_ORDER
        and one.class_weight != "balanced"
        and not one.warm_start
        and one.max_iter >= 100
        and all(common(learner) == common(one) for learner in learners)
        and all(np.inf > learner.C for learner in learners)
    )


class _Together:
    """The descents of learners on training sets.

    Parameters
    ----------
    learners : sequence of LogisticRegression
    first : LogisticRegression
        That has opened the table.
    source : ArraySource or TableSource
    passes : GroupedPasses
    seen : list of ByClass
        The first pass, by group.
    learnt : ndarray of int (f, g)
    """

    def __init__(
        self,
        learners: Sequence[Any],
        first: Any,
        source: Any,
        passes: GroupedPasses,
        seen: list[ByClass],
        learnt: NDArray[np.intp],
    ) -> None:
        self.learners, self.first, self.source = learners, first, source
        self.passes, self.seen, self.learnt = passes, seen, learnt
        self.classes = reduce(or_, (one.classes for one in seen))

    def fitted(self) -> list[list[Any]] | None:
        """An estimator for each learner and training set."""
        try:
            seen = tree_sum(self.seen)
            whole = [self._problem(learner, seen) for learner in self.learners]
            objectives = [problem.objective for problem in whole]
        except (DataError, ParameterError):
            return None
        cells = (objectives[0].basis.shape[0] * objectives[0].centred.width) ** 2
        if not objectives[0].has_hessian or cells * len(whole) * len(self.seen) > MOST_CELLS:
            return None
        self.rows = objectives[0].rows
        found = self._starts(objectives)
        if found is None:
            return None
        starts, sums = found
        mean = self.rows.centred.mean
        problems: dict[tuple[int, int], Problem] = {}
        descents: list[Descent] = []
        for f, mine in enumerate(self.learnt):
            here = np.flatnonzero(mine).tolist()
            seen = tree_sum(self.seen[g] for g in here)
            for i, there in enumerate(sums.of(here)):
                try:
                    problem = self._problem(self.learners[i], seen)
                    tol = self.learners[i].tol
                    descent = _descent(problem.objective, starts[i], there, mean, tol)
                except (DataError, ParameterError):
                    continue  # which a fit will say
                if descent is not None:
                    problems[i, f] = problem
                    descents.append(descent)
        keys = list(problems)
        functions = {q: problems[key].objective for q, key in enumerate(keys)}
        rows = self.learnt[[f for _, f in keys]]
        count = descend_together(
            descents, lambda at: self.passes.points(self.rows, functions, at, rows)
        )
        models: list[list[Any]] = [[None] * len(self.learnt) for _ in self.learners]
        for (i, f), descent in zip(keys, descents, strict=True):
            if descent.ended:
                problem = problems[i, f]
                problem.data.count = count + 1
                models[i][f] = self._estimator(self.learners[i], problem, descent)
        return models

    def _starts(self, objectives: Sequence[Objective]) -> tuple[list[Array], _Sums] | None:
        """Coefficients near the optimum of all rows, of every penalty; and the sums there."""
        middle = int(np.argsort([learner.C for learner in self.learners])[len(self.learners) // 2])
        solver = replace(self.learners[middle]._solver, tol=ROUGH)
        near = solver.minimum(objectives[middle]).coefficients
        by_group = self.passes.second_order([_request(objectives[middle], near)])
        sums = tree_sum(one for (one,) in by_group)
        mean = self.rows.centred.mean
        descents = [_descent(one, near, sums, mean, NEAR) for one in objectives]
        if any(descent is None for descent in descents):
            return None
        known = [descent for descent in descents if descent is not None]
        functions, rows = dict(enumerate(objectives)), np.ones((len(known), len(self.seen)), int)
        descend_together(known, lambda at: self.passes.points(self.rows, functions, at, rows))
        pairs = zip(objectives, known, strict=True)
        starts = [objective.coefficients(descent.point.x) for objective, descent in pairs]
        far = [i for i, start in enumerate(starts) if not _is_close(start - near, sums)]
        if far:
            requests = [_request(objectives[i], starts[i]) for i in far]
            by_group = list(map(add, by_group, self.passes.second_order(requests)))
        place = [far.index(i) + 1 if i in far else 0 for i in range(len(starts))]
        return starts, _Sums(place, by_group, self.passes.gradients(self.rows, np.stack(starts)))

    def _problem(self, learner: Any, seen: ByClass) -> Problem:
        """What a learner minimises over the rows of some groups."""
        problem: Problem = self._opened(learner)._problem(self.source, summed=seen)
        if len(problem.objective.classes) != len(self.classes):
            raise DataError("a class has no row", "all have the same classes")
        return problem

    def _opened(self, learner: Any) -> Any:
        """A learner that has opened the table."""
        return copy(self.first).set_params(**{name: getattr(learner, name) for name in OWN})

    def _estimator(self, learner: Any, problem: Problem, descent: Descent) -> Any:
        fitted = self._opened(learner)
        fit = Fit.at(problem.objective, descent.point, descent.iterations, True, False)
        fitted._set(problem, fit)
        fitted._solver.warn(fit)
        return fitted


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the rows of every group say at the starts of the learners.

    Parameters
    ----------
    place : list of int
        Which Hessian each learner has: starts that are close share one.
    hessians : list of lists of LossSums
        By group.
    gradients : list of Gradients
        Of all learners, by group.
    """

    place: Sequence[int]
    hessians: Sequence[Sequence[LossSums]]
    gradients: Sequence[Gradients]

    def of(self, groups: Sequence[int]) -> Iterator[LossSums]:
        """Yield the sums of some groups, for every learner."""
        first, *others = (self.gradients[g] for g in groups)
        here = reduce(add, others, first)
        shared = [tree_sum(each) for each in zip(*(self.hessians[g] for g in groups), strict=True)]
        for i, q in enumerate(self.place):
            yield replace(shared[q], loss=here.loss[i], gradient=here.gradient[i])


def _request(objective: Objective, coefficients: Array) -> LossRequest:
    return LossRequest(objective.rows, coefficients, objective.checksum, True)


def _is_close(change: Array, sums: LossSums) -> bool:
    """Whether coefficients that differ so little have nearly the same Hessian.

    ::

        Σ h (t − t₀)² ≤ CLOSE² Σ h        h = p (1 − p)

    A change of the scores t by ε changes h by a factor of e^±ε at most.
    """
    hessian = sums.hessian.value
    squares = float(change.ravel() @ hessian @ change.ravel())
    return squares <= CLOSE**2 * float(np.diagonal(hessian)[:: change.shape[1]].sum())


def _descent(
    objective: Objective, start: Array, sums: LossSums, mean: Array, tolerance: float
) -> Descent | None:
    """A descent from coefficients of z = (1, x − mean), and what all rows say of them there.

    None where a Hessian in double shows too little of what is a column's own.
    """
    about = objective.centred.mean
    turn = np.eye(objective.centred.width)
    turn[1:, 0] = mean - about  # (1, x − about) = turn · (1, x − mean)
    moved = start.copy()
    moved[:, 0] += start[:, 1:] @ (about - mean)
    m, width = start.shape
    blocks = sums.hessian.value.reshape(m, width, m, width).transpose(0, 2, 1, 3)
    full = (turn @ blocks @ turn.T).transpose(0, 2, 1, 3).reshape(m * width, m * width)
    here = LossSums(
        sums.weight,
        sums.checksum,
        sums.loss,
        DoubleDouble.of(sums.gradient.value @ turn.T),
        DoubleDouble.of(full),
    )
    point = objective.point(objective.parameters(moved), here)
    assert point.hessian is not None
    if smallest_pivot(point.hessian) < ILL_CONDITIONED:
        return None
    at_zero = objective.gradient_norm_at_zero()
    enough = max(tolerance * at_zero, GRADIENT_ROUNDING * objective.weight)
    return Descent(replace(point, hessian=None), inverse(point.hessian), enough)
