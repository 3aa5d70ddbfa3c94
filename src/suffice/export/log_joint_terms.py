"""From a fitted model to its log joint: families, pairs, discriminants, coefficients, averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import singledispatch
from itertools import chain
from math import inf, nan, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BOOLEAN, DATES, INSTANTS, LOW, TIMES, Layout, UniformColumns
from suffice.errors import ParameterError
from suffice.export import expressions as ex
from suffice.export.expressions import CELL
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.complement import ComplementParameters
from suffice.families.densities.piecewise import PiecewiseParameters
from suffice.families.density import DensityParameters
from suffice.families.gaussian import GaussianParameters, StudentParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.families.multivariate_gaussian import (
    FactoredGaussians,
    MultivariateGaussianParameters,
)
from suffice.families.poisson import NegativeBinomialParameters, PoissonParameters
from suffice.models.design.matrix import MISSING, Design
from suffice.models.generative.aode import AODEModel
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.terms import TermParameters
from suffice.models.linear.model import LinearModel
from suffice.models.logistic.model import LogisticModel
from suffice.numerics.elementary import log, log1p
from suffice.phrases import with_article
from suffice.sums.comoments import Comoments
from suffice.sums.pairs import CutBins


def log_joint(model: Any) -> ex.LogJoint:
    """The log joint of a fitted classifier, or the predictions of a regressor, as expressions.

    Naive Bayes leaves a missing cell out, and discriminant analysis integrates it out. Linear and
    logistic models refuse a row with one.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    LogJoint

    Raises
    ------
    ParameterError
        If the model, or the family of a column, cannot be written as an expression.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> import pyarrow as pa
    >>> rows = pa.table({"size": [1.0, 2.0, 5.0], "kind": ["a", "a", "b"]})
    >>> log_joint(NaiveBayes().fit(rows, "kind")).columns
    (Column(name='size', kind='number'),)
    """
    joint = joint_of(model)
    for column in joint.columns:
        if column.kind == "text":
            raise _is_text(column.name)
    members = [
        replace(one, terms=tuple(term for term in one.terms if term.weight))
        for one in joint.members
    ]
    return replace(joint, members=tuple(members))


def joint_of(model: Any) -> ex.LogJoint:
    """Return the log joint of a model, texts and columns of weight 0 included."""
    fitted: Any = getattr(model, "model_", None)
    if getattr(model, "costs", None) is not None:
        raise ParameterError(
            "the model decides by costs",
            "an export answers the most probable label",
            "set costs=None, and apply them to the probabilities",
        )
    columns: list[ex.Column] = []
    if hasattr(fitted, "classes"):
        _check_labels(fitted.classes.values)
        alone = not hasattr(model, "members_")
        members = [_member(columns, *one, alone=alone) for one in members_of(model)]
        return ex.LogJoint("classes", fitted.classes.values, tuple(columns), tuple(members))
    if isinstance(fitted, LinearModel):
        member = _linear(fitted, columns)
        return ex.LogJoint("numbers", fitted.design.targets, tuple(columns), (member,))
    raise ParameterError(
        f"{with_article(type(model).__name__)} cannot be exported",
        "naive Bayes, discriminant analysis, linear and logistic models are, and their averages",
        "fit one of these",
    )


def _is_text(name: str) -> ParameterError:
    return ParameterError(
        f"column {name!r} is text",
        "an export does not cut a text into words",
        "fit the model without it, or on columns of counts",
    )


def members_of(model: Any) -> list[tuple[str, float, Any]]:
    """Return name, share and estimator of the members of an average; or the model alone."""
    if not hasattr(model, "members_"):
        return [("", 1.0, model)]
    names = [one.name for one in model.candidates_ if one.weight]
    return list(zip(names, model.model_.shares.tolist(), model.members_, strict=True))


def _member(
    columns: list[ex.Column], name: str, share: float, model: Any, alone: bool
) -> ex.Member:
    """Return the log joint of a member, and add its columns to those before."""
    fitted = model.model_
    terms: Sequence[ex.AnyTerm]
    first = len(columns)
    try:
        if isinstance(fitted, GenerativeModel):
            strict = getattr(model, "unseen", "error") == "error"
            terms = _generative(
                fitted, fitted.layout if strict else fitted.layout.answering, columns
            )
            start, prior = fitted.log_prior, fitted.prior
        else:
            terms, start = _logistic(fitted, columns, alone)
            prior = np.full(len(start), 1 / len(start))
        columns[first:] = [_timed(column, fitted.layout) for column in columns[first:]]
    except ParameterError as error:
        raise (error if alone else _refused_member(name, error)) from error
    return ex.Member(tuple(start.tolist()), tuple(prior.tolist()), tuple(terms), name, share)


def _refused_member(name: str, error: ParameterError) -> ParameterError:
    """Return the error of an average with a member that cannot be written."""
    return ParameterError(
        f"{name}, a member of the average, cannot be written: {error.fact}",
        error.rule,
        f"{error.next_step}; or fit candidates= without {name!r}, or write one of members_",
    )


def check_gaps(joint: ex.LogJoint, most: float) -> None:
    """Check that rows like those of the fit are answered, by so many products at most.

    They may lack cells that others lacked, and show unknown values of categories.
    """
    if joint.integrates(most):
        return
    for member in joint.members:
        for term in member.terms:
            if isinstance(term, ex.Gaussian) and (term.lacking or term.values):
                of_values = (joint.columns[j].name for j in term.values)
                name = next(chain(term.lacking, of_values))
                why = "has missing cells" if term.lacking else "is a category"
                error = ParameterError(
                    f"column {name!r} {why}, and is modelled with others as "
                    f"{len(term.features)} numbers",
                    "an export integrates missing cells and unknown values out by "
                    f"{most:,.0f} products at most",
                    "fit the model on fewer columns, or write JSON",
                )
                raise _refused_member(member.name, error) if member.name else error


def refusing_null(joint: ex.LogJoint, most: float) -> tuple[str, ...]:
    """Return the columns without whose cells a row gets no answer, of so many products at most."""
    gaussians = () if joint.integrates(most) else (ex.Gaussian,)
    places = {
        j
        for member in joint.members
        for term in member.terms
        if isinstance(term, gaussians) or getattr(term, "missing", "") == "refused"
        for j in term.columns
    }
    return tuple(dict.fromkeys(joint.columns[j].name for j in sorted(places)))


def _generative(
    model: GenerativeModel, layout: Layout, columns: list[ex.Column]
) -> list[ex.AnyTerm]:
    terms: list[ex.AnyTerm] = []
    first = len(columns)
    for part, parameters, block, weights in zip(
        model.parts,
        model.parameters,
        model.statistic.blocks[: len(model.parts)],
        model.part_weights,
        strict=True,
    ):
        names = part.layout.columns
        each = np.broadcast_to(weights, len(names)).tolist()
        if isinstance(parameters, MultivariateGaussianParameters | TermParameters):
            gaussian = _together(parameters, names, _lacking(part, block), columns)
            terms.append(replace(gaussian, weight=each[0]))
            continue
        found = by_column(parameters, names, layout)
        for name, weight, (kind, adds) in zip(names, each, found, strict=True):
            terms += [ex.Term(len(columns), one, weight=weight) for one in adds]
            columns.append(ex.Column(name, kind))
    if isinstance(model, AODEModel) and model.pair_weight:
        terms.append(_pairs(model, layout, columns, first))
    return terms


def _pairs(model: AODEModel, layout: Layout, columns: list[ex.Column], first: int) -> ex.Pairs:
    """Return one-dependence estimators of columns that families have read."""
    counts, weight = model.pairs, model.statistic.weight.value
    column_of = {column.name: j for j, column in enumerate(columns) if j >= first}
    two = ("binary", "outcome")
    binary = {name for b in layout.blocks if b.encoding in two for name in b.columns}
    places: list[ex.Steps | ex.Values] = []
    bins = []
    for name, one in zip(counts.columns, counts.bins, strict=True):
        if isinstance(one, CutBins):
            places.append(ex.Steps(tuple(one.cuts.tolist())))
            bins.append(np.arange(len(one)))
            continue
        cells = [(value,) for value in one.values.values]
        if name in binary:
            cells = list(_cells_of_binary(layout, name)[1:])
        places.append(ex.Values(tuple(value for values in cells for value in values)))
        bins.append(np.append(np.repeat(np.arange(len(cells)), list(map(len, cells))), -1))
    return ex.Pairs(
        tuple(column_of[name] for name in counts.columns),
        tuple(places),
        tuple(bins),
        tuple(map(len, counts.bins)),
        counts.count.value,
        weight,
        model.pair_terms,
        model.parents,
        log(weight / weight.sum()),
        model.pair_weight,
    )


TIMED: dict[str, ex.ColumnKind] = {DATES: "date", INSTANTS: "date", TIMES: "time"}


def _timed(column: ex.Column, layout: Layout) -> ex.Column:
    """Return a column whose numbers are seconds with a kind of its own."""
    all_columns = () if isinstance(layout.columns, UniformColumns) else layout.columns
    times = {one.name: one.reason for one in all_columns if one.stored == "time"}
    reason = times.get(column.name, "")
    if reason and (column.kind != "number" or reason not in TIMED):
        raise ParameterError(
            f"column {column.name!r} holds {reason.partition(',')[0]}",
            "an export reads dates and times of day, modelled as numbers",
            f"fit the model without it (--ignore {column.name})",
        )
    return column._replace(kind=TIMED[reason]) if reason else column


def _logistic(
    model: LogisticModel, columns: list[ex.Column], alone: bool
) -> tuple[list[ex.AnyTerm], NDArray[np.float64]]:
    """Return terms and intercepts; in an average, a missing cell is as in the average row."""
    w, b = model.coefficients[:, 1:], model.coefficients[:, 0]
    if len(w) == 1:  # t₁ − t₀
        w, b = np.vstack([np.zeros_like(w), w]), np.append(0.0, b)
    missing: ex.Missing = "refused" if alone else "nothing"
    terms, rest = _design_terms(model.centred.design, w, model.centred.mean, columns, missing)
    return terms, b + rest


def _linear(model: LinearModel, columns: list[ex.Column]) -> ex.Member:
    w = model.fit.coefficients.T
    b = np.broadcast_to(model.fit.intercept if model.fit.has_intercept else 0.0, len(w))
    terms, rest = _design_terms(model.design, w, np.zeros(w.shape[1]), columns, "refused")
    columns[:] = [_timed(column, model.layout) for column in columns]
    return ex.Member(tuple((b + rest).tolist()), (), tuple(terms))


SHIFT = 8  # Stirling's series is used from here on
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)

MOST_TOGETHER = 280  # numbers whose covariances are written

Adds = Iterator[tuple[ex.ColumnKind, list[ex.Adds]]]
"""By column, its kind and what its cells add."""


@singledispatch
def by_column(parameters: Any, names: Sequence[str], layout: Layout) -> Adds:
    """Yield the kind of every column of a family, and what its cells add."""
    kind = type(parameters).__name__.removesuffix("Parameters")
    raise ParameterError(
        f"column {names[0]!r} is modelled by {kind}",
        "an export writes columns that are independent of each other, or Gaussian with 'mle'",
        "fit it with another family",
    )


@by_column.register
def _categorical(parameters: CategoricalParameters, names: Sequence[str], layout: Layout) -> Adds:
    for j, name in enumerate(names):
        values = parameters.vocabularies[j].values
        kind = kind_of_values(name, values)
        tokens = [one for one in layout.missing if kind == "string" and one not in values]
        logs = log(parameters.column(j).theta)
        adds = np.pad(logs[:, : len(values)], ((0, 0), (0, len(tokens))))
        others = {"ignore": 0.0, "error": nan, "smooth": logs[:, -1]}[parameters.unseen]
        yield kind, [_of_values((*values, *tokens), adds, others)]


def _of_values(values: tuple[Any, ...], adds: NDArray[np.float64], others: Any) -> ex.Lookup:
    """Return what values add, (k, v), and all other cells, a number or (k,)."""
    last = np.broadcast_to(others, len(adds))
    return ex.Lookup(ex.Values(values), np.column_stack([adds, last]))


@by_column.register
def _bernoulli(parameters: BernoulliParameters, names: Sequence[str], layout: Layout) -> Adds:
    if parameters.words is not None and not parameters.words.closed:
        raise _is_text(names[0])
    refused = {name for b in layout.blocks if b.encoding == "binary" for name in b.columns}
    for j, name in enumerate(names):
        kind, zeros, ones = _cells_of_binary(layout, name)
        logs = log(parameters.theta[:, j])  # of 0 and of 1
        if kind == "number":
            assert layout.threshold is not None
            yield kind, [ex.Lookup(ex.Steps((nextafter(layout.threshold, inf),)), logs)]
            continue
        adds = logs[:, [0] * len(zeros) + [1] * len(ones)]
        others = nan if name in refused and kind == "integer" else 0.0
        yield kind, [_of_values((*zeros, *ones), adds, others)]


def _cells_of_binary(
    layout: Layout, name: str
) -> tuple[ex.ColumnKind, tuple[Any, ...], tuple[Any, ...]]:
    """Return the kind of a column of two values, and the cells that stand for 0 and for 1."""
    reason = next((c.reason for c in layout.columns if c.name == name), "")
    if reason == BOOLEAN:
        return "boolean", (False,), (True,)
    if layout.threshold is not None:
        return "number", (), ()
    return "integer", (int(LOW[reason]),) if reason in LOW else (0, -1), (1,)


@by_column.register(MultinomialParameters)
@by_column.register(ComplementParameters)
def _events(parameters: Any, names: Sequence[str], layout: Layout) -> Adds:
    if not parameters.events.closed:
        yield "text", [ex.Words(parameters)]
        return
    for weights in parameters.form().linear.T:
        linear, never = _in_events(weights)
        yield "count", [linear, *never]


@by_column.register
def _poisson(parameters: PoissonParameters, names: Sequence[str], layout: Layout) -> Adds:
    for rate in parameters.rate.T:
        linear, never = _in_events(log(rate))
        yield "whole", [linear + -rate, *never]


def _in_events(w: NDArray[np.float64]) -> tuple[ex.Expression, list[ex.Adds]]:
    """Return w x, and what makes a class with w = log 0 impossible after an event."""
    never = np.isneginf(w)
    linear = np.where(never, 0.0, w) * CELL
    if not never.any():
        return linear, []
    table = np.column_stack([np.zeros(len(w)), np.where(never, -inf, 0.0)])
    return linear, [ex.Lookup(ex.Steps((nextafter(0.0, inf),)), table)]


@by_column.register
def _negative_binomial(
    parameters: NegativeBinomialParameters, names: Sequence[str], layout: Layout
) -> Adds:
    for a, b in zip(parameters.a.T, parameters.b.T, strict=True):
        yield "whole", [-a * log1p(1 / b) + -log1p(b) * CELL + _log_rising(a)]


@by_column.register
def _gaussian(parameters: GaussianParameters, names: Sequence[str], layout: Layout) -> Adds:
    origin, (mean, _, log_scale) = parameters.terms
    precision = parameters.precision
    for j in range(len(names)):
        square = _about(origin, mean, j).square()
        yield "number", [log_scale[:, j] + -0.5 * precision[:, j] * square]


@by_column.register
def _student(parameters: StudentParameters, names: Sequence[str], layout: Layout) -> Adds:
    origin, (location, precision, power, log_scale) = parameters.terms
    for j in range(len(names)):
        square = _about(origin, location, j).square()
        yield "number", [log_scale[:, j] + -power[:, j] * (precision[:, j] * square).log1p()]


def _about(origin: NDArray[np.float64] | None, mean: NDArray[np.float64], j: int) -> ex.Expression:
    """x − μ of column j; where μ is worth more than one double, by way of an origin."""
    moved = CELL if origin is None or not origin[j] else CELL - float(origin[j])
    return moved - mean[:, j]


def _log_rising(a: NDArray[np.float64]) -> ex.Expression:
    """log Γ(x + a)/Γ(a), by Stirling's series about b = a + 8; nothing large cancels."""
    b = a + SHIFT
    z = CELL + b
    series: ex.Expression | float = STIRLING[-1]
    for s in STIRLING[-2::-1]:
        series = s + series * (1.0 / z).square()
    at_0 = sum(s * b ** -(2 * i + 1) for i, s in enumerate(STIRLING))
    found: ex.Expression = (
        (b - 0.5) * (1 / b * CELL).log1p() + CELL * (z.log() - 1.0) + series * (1.0 / z) - at_0
    )
    for i in range(SHIFT):
        found += -1.0 * (1 / (a + i) * CELL).log1p()
    return found


@by_column.register
def _piecewise(parameters: PiecewiseParameters, names: Sequence[str], layout: Layout) -> Adds:
    for j in range(len(names)):
        own = slice(*parameters.start[j : j + 2])
        starts = ex.Steps(tuple(parameters.low[own][1:].tolist()))
        yield "number", [ex.Lookup(starts, parameters.log_density[:, own])]


@by_column.register
def _densities(parameters: DensityParameters, names: Sequence[str], layout: Layout) -> Adds:
    for j, name in enumerate(names):
        yield from by_column(parameters.column(j), [name], layout)


def _together(
    parameters: MultivariateGaussianParameters | TermParameters,
    names: Sequence[str],
    lacking: frozenset[str],
    columns: list[ex.Column],
) -> ex.Gaussian:
    """Return a Gaussian of columns, which are added to those before."""
    first, categories = len(columns), {}
    features: list[tuple[int, Any]] = [(first + j, None) for j in range(len(names))]
    if isinstance(parameters, TermParameters):
        categories = {name: one.values for name, one in parameters.design.categories.items()}
        features = [
            (first + one[0], one[1]) if isinstance(one, tuple) else (first + one, None)
            for one in parameters.feature_names
        ]
        parameters = parameters.of_terms
    factored = parameters.factored
    if len(factored.variance) == 1:
        slopes, constants = factored.linear
        complete = ex.Whitened(factored.origin[0], constants, slopes)
    elif isinstance(factored, FactoredGaussians):
        origin, white = factored.origin.mean(axis=0), factored.whitening
        slopes = factored.shift + np.einsum("cij,cj->ci", white, factored.origin - origin)
        complete = ex.Whitened(origin, parameters.log_scale, slopes, white)
    else:
        raise ParameterError(
            f"column {names[0]!r} is modelled with more columns than rows",
            "an export writes their covariances where all classes share one",
            "fit the model on fewer columns",
        )
    for name in names:
        kind = kind_of_values(name, categories[name]) if name in categories else "number"
        columns.append(ex.Column(name, kind))
    lacking |= {names[j - first] for j, value in features if value is MISSING}
    return ex.Gaussian(
        columns=tuple(range(first, len(columns))),
        features=tuple(features),
        values={j: categories[name] for j, name in enumerate(names, first) if name in categories},
        offset=parameters.mean - complete.origin + factored.mean_lo,
        covariance=None if len(features) > MOST_TOGETHER else parameters.covariance,
        complete=complete,
        lacking=tuple(name for name in names if name in lacking),
    )


def _lacking(part: FamilyColumns, block: Any) -> frozenset[str]:
    """Return the columns of which rows of the fit lack cells, if that is known."""
    rows = getattr(block, "columns", None)
    if not isinstance(rows, Comoments):
        return frozenset()
    owner = part.layout.columns if part.design is None else part.design
    at = np.flatnonzero(~rows.patterns.all(axis=0)).tolist()
    return frozenset(owner.column(j) if isinstance(owner, Design) else owner[j] for j in at)


def _design_terms(
    design: Design,
    weights: NDArray[np.float64],
    centre: NDArray[np.float64],
    columns: list[ex.Column],
    missing: ex.Missing,
) -> tuple[list[ex.AnyTerm], NDArray[np.float64]]:
    """Return terms, and what they leave to the intercepts (k,), of Σ_j w_j (x_j − m_j).

    The weights are (k, p). A number is measured from the centre m (p,), an indicator from 0. Where
    missing cells have a term, the intercepts are those of rows without the cell, from which its
    values differ. Other missing cells are refused, or, with "nothing", they and unknown values are
    as m. The columns are added to those before.
    """
    _refuse_computed(design)
    terms: list[ex.AnyTerm] = []
    rest = np.zeros(len(weights))
    for name in design.columns:
        at, own = design.places([name]), "nothing" if name in design.missing else missing
        kind: ex.ColumnKind = "number"
        if name in design.categories or name in design.bins:
            average = weights[:, at] @ centre[at]
            by_value, by_none = design.added_by(name, weights)
            if name not in design.missing and missing == "nothing":
                by_none = average
            rest += by_none - average
            table = by_value - by_none[:, None]
        if name in design.categories:
            values = design.categories[name].values
            kind = kind_of_values(name, values)
            others = 0.0 if own == "nothing" else nan  # an unknown value is a missing one
            adds: ex.Adds = _of_values(values, table, others)
        elif name in design.bins:
            adds = ex.Lookup(ex.Steps(tuple(design.bins[name].cuts.tolist())), table)
        else:
            origin = float(centre[at[0]])
            adds = weights[:, at[0]] * (CELL - origin if origin else CELL)
        terms.append(ex.Term(len(columns), adds, own))
        columns.append(ex.Column(name, kind))
    return terms, rest


def _refuse_computed(design: Design) -> None:
    """Refuse terms that other programs would have to compute."""
    if design.formula is not None:
        raise ParameterError(
            f"the model has the formula {design.formula.text}",
            "an export writes models whose terms are columns",
            "compute the terms as columns of the table, and fit these",
        )
    for name in design.words:
        raise ParameterError(
            f"column {name!r} holds text",
            "an export does not split texts into words as a fit does",
            "count the words as columns of the table, and fit these",
        )


KINDS: dict[frozenset[type], ex.ColumnKind] = {
    frozenset(): "string",
    frozenset({str}): "string",
    frozenset({bool}): "boolean",
    frozenset({int}): "integer",
}


def kind_of_values(name: str, values: Sequence[Any]) -> ex.ColumnKind:
    """Return the kind of a column whose cells are compared with these values."""
    types = frozenset(map(type, values))
    if types in KINDS and all(abs(v) <= 2**53 for v in values if type(v) is int):
        return KINDS[types]
    other = [v for v in values if type(v) not in (str, bool)]
    example = next((v for v in other if type(v) is not int or abs(v) > 2**53), other[0])
    raise ParameterError(
        f"column {name!r} has the value {example!r}",
        "an export compares strings, booleans, or whole numbers up to 2**53, one type in a column",
        "turn the values into strings before the fit",
    )


def _check_labels(labels: Sequence[Any]) -> None:
    for label in labels:
        if type(label) not in (str, int, bool, float):
            raise ParameterError(
                f"the label {label!r} is of the type {type(label).__name__}",
                "an export writes labels that are strings, numbers or booleans",
                "turn the labels into strings before the fit",
            )
