"""The rules of the options of a logistic regression."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from suffice.errors import ParameterError, warn
from suffice.models.base.checks import check_class_weight
from suffice.models.optimise.gradient_descent import STEPS, check_descent
from suffice.rules import check_options

Numbers = Literal["linear", "bins"]
Missing = Literal["error", "drop", "indicator"]
Penalty = Literal["l2", "l1", "elasticnet", "firth", "deprecated", None]
SolverName = Literal[
    "newton",
    "lbfgs",
    "gradient",
    "sgd",
    "minibatch",
    "liblinear",
    "newton-cg",
    "newton-cholesky",
    "sag",
    "saga",
]
NEWTON = "use solver='newton'"


def check_logistic(options: Any) -> None:
    check_options(options)
    for name in ("C", "tol"):
        value = getattr(options, name)
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (number and value > 0):
            raise ParameterError(f"{name}={value!r}", f"{name} is a number above 0")
    most = options.max_iter
    if not (isinstance(most, Integral) and not isinstance(most, bool) and int(most) >= 0):
        raise ParameterError(f"max_iter={most!r}", "max_iter is a whole number, 0 or more")
    if not isinstance(options.n_jobs, Integral | None):
        raise ParameterError(f"n_jobs={options.n_jobs!r}", "n_jobs is a whole number, or None")
    if options.descent is not None or options.solver in STEPS:
        check_descent(options, NEWTON, penalty="firth", dependent="error")
    if options.class_weight is not None:
        check_class_weight(options.class_weight)
    if options.numbers != "bins" and options.incomplete == "indicator":
        raise ParameterError(
            "incomplete='indicator' with numbers as they are",
            "a missing number has a term of its own where numbers are cut into bins",
            "set numbers='bins'",
        )
    if options.numbers == "bins" and options.formula is not None:
        raise ParameterError(
            "numbers='bins' with a formula",
            "a formula says what becomes of every number",
            "leave one of them out",
        )
    ratio = options.l1_ratio
    if options.penalty == "elasticnet" and ratio is None:
        raise ParameterError(
            "l1_ratio must be specified when penalty is elasticnet",
            "it is the part of the penalty that is of absolute values",
            "give a number from 0 to 1",
        )
    number = isinstance(ratio, Real) and not isinstance(ratio, bool)
    if ratio is not None and not (number and 0 <= ratio <= 1):
        raise ParameterError(
            f"l1_ratio={ratio!r}", "l1_ratio is a number from 0 to 1", "see its docstring"
        )
    if l1_ratio(options) and options.solver in STEPS:
        raise ParameterError(
            f"l1_ratio={ratio!r} with solver={options.solver!r}",
            "small steps make no coefficient 0",
            NEWTON,
        )


def l1_ratio(options: Any) -> float:
    """The part of the penalty that is of absolute values.

    Examples
    --------
    >>> from suffice.linear_model import LogisticRegression
    >>> [l1_ratio(LogisticRegression(p, l1_ratio=0.5)) for p in ("l2", "l1", "firth")]
    [0.5, 1.0, 0.0]
    """
    if options.penalty in (None, "firth"):
        return 0.0
    return 1.0 if options.penalty == "l1" else float(options.l1_ratio or 0.0)


def warn_of_unused(options: Any) -> None:
    """Say which options have no effect beside the penalty."""
    ratio, c = options.l1_ratio, options.C
    if options.penalty is None and c not in (1.0, np.inf):
        name, none = f"C={c:g}", "penalty=None"
        warn(f"Setting {none} will ignore the C and l1_ratio parameters: {name}.")
    if options.penalty in ("l1", None, "firth") and ratio is not None and 0 < ratio < 1:
        got = f"penalty={options.penalty!s}"
        rule = "l1_ratio parameter is only used when penalty is 'elasticnet'. Got ("
        warn(f"{rule}{got})")
