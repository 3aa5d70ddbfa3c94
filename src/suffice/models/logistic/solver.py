"""How a logistic regression looks for its minimum: by curvature, by gradients, or by descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, warn
from suffice.models.base.options import Dependent
from suffice.models.base.scikit_learn import convergence_warning
from suffice.models.logistic.descent import fit_by_descent
from suffice.models.logistic.fit import Fit
from suffice.models.logistic.minimise import Method, minimise
from suffice.models.logistic.objective import LARGEST_HESSIAN, Objective
from suffice.models.optimise.gradient_descent import STEPS, GradientDescent, Steps
from suffice.numerics.memory import require_memory

OwnName = Literal["newton", "lbfgs", "gradient", "sgd", "minibatch"]
SolverName = Literal[OwnName, "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]

VECTORS = 50  # of coefficients, that L-BFGS remembers and works with
SECOND_ORDER = ("newton", "liblinear", "newton-cg", "newton-cholesky")


@dataclass(frozen=True)
class Solver:
    """How a minimum is looked for.

    Parameters
    ----------
    name : str
    tol : float
        The largest element of the gradient to stop at, as a fraction of that at 0.
    max_iter : int
    dependent : {"minimum_norm", "error"}
        Whether columns may depend on each other.
    descent : GradientDescent, optional
        How to descend, if the solver does.
    """

    name: SolverName
    tol: float
    max_iter: int
    dependent: Dependent
    descent: GradientDescent | None = None

    @property
    def steps(self) -> Steps | None:
        """The steps of gradient descent; None for a solver that needs no descent."""
        return cast(Steps, self.name) if self.name in STEPS else None

    @property
    def how(self) -> GradientDescent:
        """The options of gradient descent."""
        return self.descent or GradientDescent()

    def minimum(self, objective: Objective, start: NDArray[np.float64] | None = None) -> Fit:
        """Where the loss is least; ``start`` are coefficients (m, D) of z to begin with."""
        if self.steps:
            return fit_by_descent(objective, self.how, self.steps, start)
        self._check_size(objective)
        if self.max_iter == 0:
            zero = np.zeros((len(objective.basis), objective.centred.width))
            point = objective(objective.parameters(zero if start is None else start), False)
            return Fit.at(objective, point, 0, False, undecided=False)
        second = objective.firth or (self.name in SECOND_ORDER and objective.has_hessian)
        method: Method = "newton" if second else "lbfgs"
        fit = minimise(objective, start, method, self.tol, self.max_iter)
        if fit.dependence and self.dependent == "error":
            raise DataError(
                "; ".join(fit.dependence),
                "the coefficients of such columns are not determined",
                "leave columns out, or use dependent='minimum_norm', or a penalty",
            )
        return fit

    def _check_size(self, objective: Objective) -> None:
        if objective.has_hessian:
            return
        scores, width = len(objective.basis), objective.centred.width
        require_memory(
            8.0 * VECTORS * scores * width,
            f"{scores:,} x {width:,} coefficients and the steps towards them",
            "leave columns out, or make labels fewer",
        )
        if objective.firth:
            raise ParameterError(
                f"penalty='firth' with {objective.centred.width} coefficients",
                f"it needs their Hessian, of at most {LARGEST_HESSIAN:,}",
                "use C=1.0",
            )
        if self.dependent == "error" and not objective.penalised:
            raise ParameterError(
                f"dependent='error' with {objective.centred.width} coefficients",
                f"dependent columns are looked for in a Hessian, of at most {LARGEST_HESSIAN:,}",
                "use dependent='minimum_norm', or a penalty (C=1.0)",
            )

    def warn(self, fit: Fit) -> None:
        """Warn of what a user should know of where a fit ended."""
        if not fit.converged:
            warn(self._unfinished(fit), convergence_warning())
        if fit.dependence:
            warn(
                f"{'; '.join(fit.dependence)}. Of all coefficients that fit as well, "
                "those of least norm were taken; dependent='error' refuses."
            )
        if fit.undecided:
            warn(
                "there are too many columns to rule out that the classes are separated "
                "and the likelihood has no maximum; a penalty (C=1.0) is always safe."
            )

    def _unfinished(self, fit: Fit) -> str:
        if self.steps:
            return self.how.unfinished(fit.iterations, "newton")
        where = (
            f"after {fit.iterations} iterations the gradient is {fit.gradient_norm:.1g} of that "
            f"at 0, not tol={self.tol:g}."
        )
        if fit.iterations < self.max_iter:
            return (
                f"{self.name} failed to converge: {where} Rounding leaves no way down; "
                "use solver='newton', or leave out columns that nearly depend on "
                "others."
            )
        advice = " Increase the number of iterations (max_iter) or tol, or use solver='newton'."
        return (
            f"{self.name} failed to converge. The max_iter was reached which means "
            f"the coef_ did not converge: {where}{advice}"
        )
