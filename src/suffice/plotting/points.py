"""What every value of every column adds to an answer, where an answer is a sum over columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.joint_table import JointTableParameters
from suffice.families.multivariate.parameters import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.models.design.bins import span
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.terms import TermParameters
from suffice.plotting.cells import MOST_WHOLE, POINTS, Cells, cells_of, log_likelihoods, rows_with
from suffice.plotting.style import require_place

__all__ = ["Added", "Sums", "sums_of"]

REACH = 2.0  # standard deviations that numbers go to either side, where no density is known
SAME = 1e-9
JOINED = (
    JointTableParameters,
    TermParameters,
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)


@dataclass(frozen=True, eq=False)
class Added:
    """What a column adds.

    Parameters
    ----------
    cells : Cells
        m values of it.
    adds : ndarray (m,)
        In nats, or in units of the target.
    """

    cells: Cells
    adds: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sums:
    """An answer as a sum: the start, and a term of every column.

    Parameters
    ----------
    start : float
    columns : tuple of Added
        Those that add anything.
    classes : tuple of two labels, or None
        The sum is log P(a | x) − log P(b | x); without classes, a prediction.
    target : str
        What the classes are classes of, or what is predicted.
    unknown : bool
        Whether a cell may be unknown, which then adds 0.
    of_two : bool
        Whether the model has no other class than these two.
    left_out : tuple of str
        Columns that add something that no list of values shows, such as texts.
    """

    start: float
    columns: tuple[Added, ...]
    classes: tuple[Any, Any] | None
    target: str
    unknown: bool
    of_two: bool = True
    left_out: tuple[str, ...] = ()


Limits = Mapping[str, tuple[float, float]]


def sums_of(
    model: Any, label: Any = None, against: Any = None, limits: Limits | None = None
) -> Sums:
    """The answers of a fitted model as sums over single columns.

    Raises
    ------
    ParameterError
        If they are no such sums, or there is no such class.
    """
    if isinstance(model, GenerativeClassifier):
        parameters = model.model_.parameters
        if getattr(model.model_, "pairs", None) is not None:
            raise _refused(model, "it counts pairs of columns")
        if any(isinstance(one, JOINED) for one in parameters):
            if all(_is_linear(one) for one in parameters):
                return _of_rows(model, label, against, limits or {})
            raise _refused(model, "columns are modelled together")
        return _of_parts(model, label, against, limits or {})
    if hasattr(model, "coef_") and (hasattr(model, "classes_") or hasattr(model, "design_")):
        return _of_rows(model, label, against, limits or {})
    raise _refused(model, "its answers are means of the answers of others")


def _refused(model: Any, why: str) -> ParameterError:
    return ParameterError(
        f"the answers of this {type(model).__name__} are no sums over single columns: {why}",
        "points of single columns are added",
        "draw NaiveBayes, LinearDiscriminantAnalysis, a linear or a logistic regression",
    )


def _is_linear(parameters: Any) -> bool:
    """Whether classes share a covariance, so that log-odds are linear."""
    if isinstance(parameters, TermParameters):
        parameters = parameters.of_terms
    gaussian = isinstance(parameters, MultivariateGaussianParameters)
    return gaussian and len(parameters.factored.covariance) == 1


def _two_classes(classes: Sequence[Any], label: Any, against: Any) -> tuple[int, int]:
    """Places of the class that points speak for, the last by default, and of the other one."""
    names = list(classes)
    if len(names) < 2:
        raise ParameterError("the model has one class", "points weigh one against another")
    a = len(names) - 1 if label is None else require_place(label, names, "class")
    if against is not None:
        return a, require_place(against, names, "class")
    if len(names) > 2:
        raise ParameterError(
            f"the model has {len(names)} classes",
            "points weigh one class against another",
            "name two: label=..., against=...",
        )
    return a, 1 - a


def _of_parts(model: GenerativeClassifier, label: Any, against: Any, limits: Limits) -> Sums:
    """Of naive Bayes: logarithms of likelihood ratios, as often as they are counted."""
    fitted = model.model_
    classes = fitted.classes.values
    a, b = _two_classes(classes, label, against)
    columns, left_out = [], []
    for name in fitted.family_names:
        try:
            cells = _within(cells_of(model, name), limits)
        except ParameterError:  # a text, or counts that share a draw
            left_out.append(name)
            continue
        logs = log_likelihoods(model, cells)
        with np.errstate(invalid="ignore"):
            adds = logs[:, a] - logs[:, b]
        if not np.isfinite(adds).all():
            raise ParameterError(
                f"a value of column {name!r} is impossible in a class",
                "points are finite",
                "fit the model with alpha above 0",
            )
        columns.append(Added(cells, adds))
    start = float(fitted.log_prior[a] - fitted.log_prior[b])
    target = model.layout_.label or "class"
    two = classes[a], classes[b]
    of_two = len(classes) == 2
    return Sums(start, _telling(columns), two, target, True, of_two, tuple(left_out))


def _of_rows(model: Any, label: Any, against: Any, limits: Limits) -> Sums:
    """Of models that answer complete rows: each column is moved on its own."""
    known = [_within(cells, limits) for cells in _cells_of_rows(model)]
    base = {one.column: one.values[len(one.values) // 2 if one.are_numbers else 0] for one in known}
    tables = [{name: [cell] for name, cell in base.items()}]
    for one in known:
        table = {name: [cell] * len(one.values) for name, cell in base.items()}
        tables.append(table | {one.column: list(one.values)})
    grid = {name: [cell for table in tables for cell in table[name]] for name in base}
    rows = rows_with(model, grid)
    if hasattr(model, "classes_"):
        a, b = _two_classes(model.classes_.tolist(), label, against)
        logs = model.predict_log_proba(rows)
        answers = logs[:, a] - logs[:, b]
        classes: tuple[Any, Any] | None = (model.classes_.tolist()[a], model.classes_.tolist()[b])
        target = model.layout_.label or "class"
    else:
        targets = model.design_.targets
        t = 0 if label is None else require_place(label, targets, "target")
        if label is None and len(targets) > 1:
            raise ParameterError(
                f"the model has {len(targets)} targets", "one is drawn", "name it: label=..."
            )
        answers = np.asarray(model.predict(rows), np.float64).reshape(len(rows), -1)[:, t]
        classes, target = None, targets[t]
    columns, at = [], 1
    for one in known:
        columns.append(Added(one, answers[at : at + len(one.values)] - answers[0]))
        at += len(one.values)
    of_two = len(getattr(model, "classes_", (0, 1))) == 2
    return Sums(float(answers[0]), _telling(columns), classes, target, False, of_two)


def _cells_of_rows(model: Any) -> list[Cells]:
    """Values of every column of a model that answers complete rows."""
    if isinstance(model, GenerativeClassifier):
        return [cells_of(model, name) for name in model.layout_.names]
    fitted = model.model_
    design = fitted.design
    if design.formula is not None or design.words:
        raise _refused(model, "terms of a formula, and words, are no single columns")
    cells = []
    for name in design.groups:
        if name in design.categories:
            held = np.empty(len(design.categories[name]), object)
            held[:] = design.categories[name].values
            cells.append(Cells(name, held, discrete=True))
            continue
        if name in design.bins:
            cells.append(Cells(name, np.linspace(*span(design.bins[name]), POINTS), discrete=False))
            continue
        (j,) = design.places([name])
        mean, sd = float(fitted.term_means[j]), float(fitted.term_scales[j])
        two = abs(sd**2 - mean * (1 - mean)) < SAME  # the variance of zeros and ones
        line = np.linspace(mean - REACH * sd, mean + REACH * sd, POINTS)
        cells.append(Cells(name, np.array([0.0, 1.0]) if two else line, discrete=two))
    return cells


def _within(cells: Cells, limits: Limits) -> Cells:
    """The cells of a column, numbers from where to where they were asked for."""
    if cells.column not in limits or not cells.are_numbers:
        return cells
    low, high = limits[cells.column]
    whole = cells.discrete and high - low <= MOST_WHOLE
    line = np.arange(np.floor(low), np.ceil(high) + 1) if whole else np.linspace(low, high, POINTS)
    return Cells(cells.column, line, cells.discrete)


def _telling(columns: list[Added]) -> tuple[Added, ...]:
    """Those that add anything, the widest first."""
    kept = [one for one in columns if np.ptp(one.adds) > 0]
    return tuple(sorted(kept, key=lambda one: -float(np.ptp(one.adds))))
