"""The rules of the options of a logistic regression."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np

from suffice.errors import ParameterError
from suffice.models.base.options import Dependent, Incomplete, check_choices
from suffice.models.logistic.problem import ClassWeight
from suffice.models.logistic.solver import SolverName
from suffice.models.optimise.descent_options import SINGLE_ROWS, check_descent_options
from suffice.phrases import Option, Phrase

__all__ = ["Penalty", "check_options", "check_partial_fit", "single_rows"]

Penalty = Literal["l2", "firth", "deprecated", None]
NEWTON = "use solver='newton'"


def check_options(options: Any) -> None:
    """Refuse options outside their rules.

    Parameters
    ----------
    options : object
        Has them as attributes.

    Raises
    ------
    ParameterError
        If one is outside its rule, or two do not go together.
    """
    check_choices(
        options,
        penalty=get_args(Penalty),
        solver=get_args(SolverName),
        incomplete=get_args(Incomplete),
        dependent=get_args(Dependent),
    )
    for name in ("C", "tol", "max_iter"):
        value = getattr(options, name)
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (number and value > 0):
            raise ParameterError(Option.of(name, value), f"{name} is a number above 0")
    if not isinstance(options.max_iter, Integral):
        raise ParameterError(f"max_iter={options.max_iter!r}", "max_iter is a whole number above 0")
    if not isinstance(options.n_jobs, Integral | None):
        raise ParameterError(f"n_jobs={options.n_jobs!r}", "n_jobs is a whole number, or None")
    check_descent_options(options, NEWTON, penalty="firth", dependent="error")
    if options.solver in SINGLE_ROWS and options.incomplete == "gaussian":
        raise ParameterError(
            Phrase(Option.of("incomplete", "gaussian"), f" with solver={options.solver!r}"),
            "what is expected of missing cells takes sums over all rows",
            NEWTON,
        )
    if options.l1_ratio not in (0, None):
        raise ParameterError(
            f"l1_ratio={options.l1_ratio!r}", "no L1 penalty is offered", "leave it at 0"
        )
    weights: ClassWeight = options.class_weight
    if isinstance(weights, Mapping):
        if not all(isinstance(w, Real) and 0 < w < np.inf for w in weights.values()):
            raise ParameterError(f"class_weight={weights!r}", "a weight is a finite number above 0")
    elif not (weights is None or (isinstance(weights, str) and weights == "balanced")):
        raise ParameterError(
            f"class_weight={weights!r}", "it is 'balanced', or maps labels to numbers"
        )


def check_partial_fit(options: Any) -> None:
    """Refuse options that go with all rows at once only.

    Raises
    ------
    ParameterError
        If the weights of the classes follow from their frequencies.
    """
    if options.class_weight == "balanced":
        raise ParameterError(
            "class_weight='balanced' with partial_fit",
            "the fractions of the classes are known when all rows are",
            "give the weights by label",
        )


def single_rows(options: Any) -> bool:
    """Say that the solver can go on with further rows.

    Raises
    ------
    ParameterError
        If it cannot.
    """
    if options.solver not in SINGLE_ROWS:
        raise ParameterError(
            f"solver={options.solver!r}",
            "this model is no function of a finite statistic",
            "use solver='sgd' or 'minibatch', or fit all rows",
        )
    return True
