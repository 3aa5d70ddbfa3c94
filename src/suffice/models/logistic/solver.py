"""How a logistic regression looks for its minimum: by curvature, by gradients, or by descent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from suffice.errors import DataError, ParameterError, warn
from suffice.models.base.options import Dependent
from suffice.models.design.dependent_columns import dependence
from suffice.models.logistic.descent import DescentState, fit_by_descent
from suffice.models.logistic.fit import Fit, Method, fit
from suffice.models.logistic.messages import separated
from suffice.models.logistic.objective import LARGEST_HESSIAN
from suffice.models.logistic.problem import Problem
from suffice.models.optimise.descent_options import STEPS, GradientDescent, Steps
from suffice.phrases import Option, Phrase, PythonOnly

__all__ = ["Solver", "SolverOptions"]

OwnSolver = Literal["newton", "lbfgs", "gradient", "sgd", "minibatch"]
Solver = Literal[OwnSolver, "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]

SECOND_ORDER = ("newton", "liblinear", "newton-cg", "newton-cholesky")


@dataclass(frozen=True)
class SolverOptions:
    """The options that say how a minimum is looked for.

    Parameters
    ----------
    solver : str
    descent : GradientDescent
        How to descend, if the solver does.
    tol : float
        The largest element of the gradient to stop at, as a share of that at 0.
    max_iter : int
    dependent : {"minimum_norm", "error"}
        Whether columns may depend on each other.
    """

    solver: Solver
    descent: GradientDescent
    tol: float
    max_iter: int
    dependent: Dependent

    def minimum(
        self, task: Problem, start: NDArray[np.float64] | None
    ) -> tuple[Fit, DescentState | None]:
        """Where the loss is least, and how a descent that found it goes on.

        Raises
        ------
        DataError
            If classes are separated and there is no penalty, or columns depend on each other and
            must not.
        ParameterError
            If Firth's penalty has too many coefficients, or a descent grows without end.
        """
        found, stride = self._descended(task, start)
        objective = task.objective
        terms = objective.centred.design.terms
        if found.separation is not None:
            raise separated(found.separation, terms, objective.k)
        if found.dependent and self.dependent == "error":
            raise DataError(
                "; ".join(self._dependence(found, task)),
                "the coefficients of such columns are not determined",
                "leave columns out, or use dependent='minimum_norm', or a penalty",
            )
        return found, stride

    def _descended(
        self, task: Problem, start: NDArray[np.float64] | None
    ) -> tuple[Fit, DescentState | None]:
        objective = task.objective
        if self.solver in STEPS:
            steps = cast(Steps, self.solver)
            return fit_by_descent(objective, task.data, self.descent, steps, start)
        small, width = objective.has_hessian, objective.centred.width
        if objective.firth and not small:
            raise ParameterError(
                Phrase(Option.of("penalty", "firth"), f" with {width} coefficients"),
                f"it needs their Hessian, of at most {LARGEST_HESSIAN:,}",
                Phrase("use ", Option("C", "1.0")),
            )
        if self.dependent == "error" and not (small or objective.penalty.any()):
            raise ParameterError(
                f"dependent='error' with {width} coefficients",
                f"dependent columns are looked for in a Hessian, of at most {LARGEST_HESSIAN:,}",
                Phrase("use dependent='minimum_norm', or a penalty (", Option("C", "1.0"), ")"),
            )
        second = objective.firth or (self.solver in SECOND_ORDER and small)
        method: Method = "newton" if second else "lbfgs"
        return fit(objective, task.data, method, self.tol, self.max_iter, start), None

    @staticmethod
    def _dependence(found: Fit, task: Problem) -> Iterator[str]:
        terms, intercept = task.objective.centred.design.terms, bool(task.objective.used[0])
        return dependence(found.dependent, found.factor, terms, intercept)

    def warn(self, found: Fit, task: Problem) -> None:
        """Say what a user should know of where a search ended; the caller of a fit is told."""
        if not found.converged and self.solver in STEPS:
            warn(
                self.descent.unfinished(cast(Steps, self.solver), found.iterations, "newton"),
                ConvergenceWarning,
            )
        elif not found.converged:
            advice: str = PythonOnly("; raise max_iter or tol, or use solver='newton'")
            if found.iterations < self.max_iter:
                advice = Phrase(
                    "; rounding leaves no way down; ",
                    PythonOnly("use solver='newton', or "),
                    "leave out columns that nearly depend on others",
                )
            where = (
                f"after {found.iterations} iterations the gradient is {found.gradient_norm:.1g} of "
                f"that at 0, not tol={self.tol:g}"
            )
            warn(Phrase(where, advice, "."), ConvergenceWarning)
        if found.dependent:
            leave_out = Phrase(Option("columns", "...", "refit"), " leaves columns out")
            warn(
                Phrase(
                    f"{'; '.join(self._dependence(found, task))}. Of all coefficients that fit as "
                    "well, those of least norm were taken; ",
                    PythonOnly("dependent='error' refuses", leave_out),
                    ".",
                )
            )
        if found.undecided:
            warn(
                Phrase(
                    "there are too many columns to rule out that the classes are separated and the "
                    "likelihood has no maximum; a penalty (",
                    Option("C", "1.0"),
                    ") is always safe.",
                )
            )
        for remark in task.remarks:
            warn(remark)
