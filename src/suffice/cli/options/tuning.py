"""``suffice fit --tune``: the options that answer best the rows that are left out of a fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from suffice.cli.options.estimators import Options, given_of
from suffice.cli.options.points import points_of
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.data.table import Table

__all__ = ["judged_points", "tuned_options"]

FOLDS, SEED = 10, 0
SHRINKAGE = "shrinkage=0,0.001,0.01,0.1,0.3,0.6,0.9"
PENALTY = "alpha=0.0001,0.001,0.01,0.1,1,10,100"
GRIDS = {
    "naive-bayes": ["alpha=0.001,0.01,0.1,0.5,1,2,5,10"],
    "lda": [SHRINKAGE],
    "qda": [SHRINKAGE],
    "ridge": [f"{PENALTY},1000,10000"],
    "lasso": [PENALTY],
    "elastic-net": [PENALTY, "l1_ratio=0.2,0.5,0.8"],
    "logistic": ["C=0.001,0.01,0.1,1,10,100,1000"],
}
"""The points that are tried, as ``suffice cv --grid`` takes them."""


def judged_points(
    model: str,
    options: Options,
    build: Callable[[str, Options], Any],
    table: Table,
    label: Any,
    weight: str | None,
) -> tuple[dict[str, Options], dict[str, Any]]:
    """The points of the model's grid, and how each answers rows that it has not learnt.

    An option that is given is not changed.

    Parameters
    ----------
    model : str
    options : Options
        What is given.
    build : callable
        Makes an estimator of a model and options.
    table, label, weight
        As for `fit`.

    Raises
    ------
    ParameterError
        If there is nothing to choose.
    """
    from suffice.model_selection import evaluate_models

    grid = _axes(model, options)
    if not grid:
        raise ParameterError(
            f"--tune is given for --model {model}",
            "there is no option left to choose" if model in GRIDS else "it has no such option",
            "leave --tune out",
        )
    points = {name: own for name, _, own in points_of([model], options, grid)}
    learners = {name: build(model, own) for name, own in points.items()}
    return points, evaluate_models(
        learners, table, label, weight, cv=FOLDS, shuffle=True, random_state=SEED
    )


def tuned_options(model: str, options: Options) -> tuple[str, ...]:
    """The options that are chosen."""
    return tuple(axis.partition("=")[0] for axis in _axes(model, options))


def _axes(model: str, options: Options) -> list[str]:
    given = given_of(options)
    return [axis for axis in GRIDS.get(model, ()) if axis.partition("=")[0] not in given]
