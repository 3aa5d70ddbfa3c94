"""From a fitted model to its log joint: terms of families, of discriminants, of coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch
from math import inf, log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BOOLEAN, LOW, Layout, UniformColumns
from suffice.errors import ParameterError
from suffice.export.expressions import (
    Above,
    Cell,
    Choice,
    Column,
    ColumnKind,
    Expression,
    Log,
    Log1p,
    LogJoint,
    Missing,
    Number,
    Product,
    Quotient,
    Square,
    Steps,
    Sum,
    Term,
)
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.complement import ComplementParameters
from suffice.families.densities.piecewise import PiecewiseParameters
from suffice.families.family import Form
from suffice.families.gaussian import GaussianParameters, StudentParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.families.poisson import NegativeBinomialParameters, PoissonParameters
from suffice.models.design.matrix import Design
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.terms import TermParameters
from suffice.models.linear.model import LinearModel
from suffice.models.logistic.model import LogisticModel
from suffice.numerics.elementary import lgamma, log
from suffice.phrases import with_article


def log_joint(model: Any) -> LogJoint:
    """The log joint of a fitted classifier, or the predictions of a regressor, as expressions.

    Naive Bayes leaves a missing cell out. Discriminant analysis, linear and logistic models have
    their terms of complete rows, and refuse others.

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
    fitted = getattr(model, "model_", None)
    if getattr(model, "costs", None) is not None:
        raise ParameterError(
            "the model decides by costs",
            "an export answers the most probable label",
            "set costs=None, and apply them to the probabilities",
        )
    if isinstance(fitted, GenerativeModel | LogisticModel):
        check_labels(fitted.classes.values)
    if isinstance(fitted, GenerativeModel):
        strict = getattr(model, "unseen", "error") == "error"
        return _generative(fitted, fitted.layout if strict else fitted.layout.answering)
    if isinstance(fitted, LogisticModel):
        return _logistic(fitted)
    if isinstance(fitted, LinearModel):
        return _linear(fitted)
    raise ParameterError(
        f"{with_article(type(model).__name__)} cannot be exported",
        "an export writes fitted naive Bayes, discriminant analysis, linear and logistic models",
        "fit one of these",
    )


def _generative(model: GenerativeModel, layout: Layout) -> LogJoint:
    columns: list[Column] = []
    terms: list[Term] = []
    model.refuse_pairs("an export")
    refuse_times(model.layout)
    for part, parameters, weights in zip(
        model.parts, model.parameters, model.part_weights, strict=True
    ):
        names = tuple(part.layout.columns)
        found = family_terms(parameters, Where(names, layout, len(columns)))
        columns += found[0]
        terms += _weighed(found[1], weights)
    prior = tuple(model.prior.tolist())
    start = tuple(model.log_prior.tolist())
    return LogJoint("classes", model.classes.values, start, prior, tuple(columns), tuple(terms))


def _weighed(terms: list[Term], weights: NDArray[np.float64]) -> list[Term]:
    """Terms of one family, each times its weight, or all times the only one; none of weight 0."""
    each = np.broadcast_to(weights, len(terms)).tolist()
    return [term.weighed(weight) for term, weight in zip(terms, each, strict=True) if weight]


def refuse_times(layout: Layout) -> None:
    """Check that no column holds dates or times."""
    for column in () if isinstance(layout.columns, UniformColumns) else layout.columns:
        if column.stored == "time":
            raise ParameterError(
                f"column {column.name!r} holds dates or times",
                "databases and programs count these in different ways",
                "fit the model on the seconds since 1970-01-01, as numbers",
            )


def _logistic(model: LogisticModel) -> LogJoint:
    refuse_times(model.layout)
    w, b = model.coefficients[:, 1:], model.coefficients[:, 0]
    if len(w) == 1:  # t₁ − t₀
        w, b = np.vstack([np.zeros_like(w), w]), np.append(0.0, b)
    columns, terms, rest = design_terms(model.centred.design, w, model.centred.mean)
    k = len(model.classes)
    start = tuple((b + rest).tolist())
    prior = (1 / k,) * k
    return LogJoint("classes", model.classes.values, start, prior, tuple(columns), tuple(terms))


def _linear(model: LinearModel) -> LogJoint:
    refuse_times(model.layout)
    w = model.fit.coefficients.T
    b = np.broadcast_to(model.fit.intercept if model.fit.has_intercept else 0.0, len(w))
    columns, terms, rest = design_terms(model.design, w, np.zeros(w.shape[1]))
    start = tuple((b + rest).tolist())
    return LogJoint("numbers", model.design.targets, start, (), tuple(columns), tuple(terms))


SHIFT = 8  # Stirling's series is used from here on
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)

Made = tuple[list[Column], list[Term]]


class Where(NamedTuple):
    """The columns of one family, the layout of the table, and the place of the first column."""

    names: tuple[str, ...]
    layout: Layout
    first: int


@singledispatch
def family_terms(parameters: Any, at: Where) -> Made:
    """Columns and terms of one family."""
    kind = type(parameters).__name__.removesuffix("Parameters")
    raise ParameterError(
        f"column {at.names[0]!r} is modelled by {kind}",
        "an export writes columns that are independent of each other, or Gaussian with 'mle'",
        "fit it with another family",
    )


@family_terms.register
def _categorical(parameters: CategoricalParameters, at: Where) -> Made:
    columns, terms = [], []
    for j, name in enumerate(at.names):
        values = parameters.vocabularies[j].values
        columns.append(value_column(name, values))
        one = parameters.column(j)
        log_theta = log(one.theta)
        left_out = tuple(
            (token, 0.0)
            for token in at.layout.missing
            if columns[-1].kind == "string" and token not in values
        )
        choices = []
        for row in log_theta.tolist():
            otherwise = {"ignore": 0.0, "error": None, "smooth": row[-1]}[parameters.unseen]
            cases = *zip(values, row[:-1], strict=False), *left_out
            choices.append(Choice(at.first + j, cases, otherwise))
        terms.append(Term((at.first + j,), tuple(choices)))
    return columns, terms


@family_terms.register
def _bernoulli(parameters: BernoulliParameters, at: Where) -> Made:
    _refuse_text(parameters.words, at.names)
    low = {c.name: (c.reason, LOW[c.reason]) for c in at.layout.columns if c.reason in LOW}
    refused = {name for b in at.layout.blocks if b.encoding == "binary" for name in b.columns}
    columns, terms = [], []
    for j, name in enumerate(at.names):
        log_theta = log(parameters.theta[:, j]).tolist()
        reason, least = low.get(name, ("", None))
        made: list[Expression] = []
        kind: ColumnKind = "integer" if at.layout.threshold is None else "number"
        columns.append(Column(name, "boolean" if reason == BOOLEAN else kind))
        for absent, present in log_theta:
            if columns[-1].kind == "number":
                assert at.layout.threshold is not None
                made.append(Above(at.first + j, at.layout.threshold, present, absent))
            elif columns[-1].kind == "boolean":
                made.append(Choice(at.first + j, ((False, absent), (True, present)), 0.0))
            else:
                zeros = (0, -1) if least is None else (int(least),)
                cases = *((zero, absent) for zero in zeros), (1, present)
                made.append(Choice(at.first + j, cases, None if name in refused else 0.0))
        terms.append(Term((at.first + j,), tuple(made)))
    return columns, terms


@family_terms.register(MultinomialParameters)
@family_terms.register(ComplementParameters)
def _events(parameters: Any, at: Where) -> Made:
    _refuse_text(parameters.events, at.names)
    weights = parameters.form().linear
    terms = [
        Term((at.first + j,), tuple(_times(at.first + j, w) for w in weights[:, j].tolist()))
        for j in range(len(at.names))
    ]
    return [Column(name, "count") for name in at.names], terms


@family_terms.register
def _poisson(parameters: PoissonParameters, at: Where) -> Made:
    def one(place: int, rate: float) -> Expression:
        return Sum((_times(place, float(log(np.array(rate)))), Number(-rate)))

    return _by_cell(at, "whole", one, parameters.rate)


@family_terms.register
def _negative_binomial(parameters: NegativeBinomialParameters, at: Where) -> Made:
    def one(place: int, a: float, b: float) -> Expression:
        linear = Product(Number(-log1p(b)), Cell(place))
        return Sum((Number(-a * log1p(1 / b)), linear, *_log_rising(Cell(place), a)))

    return _by_cell(at, "whole", one, parameters.a, parameters.b)


@family_terms.register
def _gaussian(parameters: GaussianParameters, at: Where) -> Made:
    def one(place: int, mean: float, low: float, precision: float, scale: float) -> Expression:
        if precision == 0:
            return Number(0.0)
        square = Product(Number(-0.5 * precision), Square(_about(place, mean, low)))
        return Sum((Number(scale), square))

    p = parameters
    return _by_cell(at, "number", one, p.mean, p.mean_lo, p.precision, p.log_scale)


@family_terms.register
def _student(parameters: StudentParameters, at: Where) -> Made:
    def one(place: int, mean: float, low: float, scale2: float, dof: float) -> Expression:
        if scale2 == 0:
            return Number(0.0)
        nu = np.array([(dof + 1) / 2, dof / 2])
        scale = (
            lgamma(nu[:1])[0] - lgamma(nu[1:])[0] - 0.5 * log(np.array([np.pi * dof * scale2]))[0]
        )
        u = Product(Number(1 / (dof * scale2)), Square(_about(place, mean, low)))
        return Sum((Number(float(scale)), Product(Number(-(dof + 1) / 2), Log1p(u))))

    p = parameters
    return _by_cell(at, "number", one, p.location, p.location_lo, p.scale2, p.dof)


@family_terms.register
def _piecewise(parameters: PiecewiseParameters, at: Where) -> Made:
    terms = []
    for j, place in enumerate(range(at.first, at.first + len(at.names))):
        own = slice(*parameters.start[j : j + 2])
        starts = tuple(parameters.low[own][1:].tolist())
        logs = parameters.log_density[:, own].tolist()
        terms.append(Term((place,), tuple(Steps(place, starts, tuple(v)) for v in logs)))
    return [Column(name, "number") for name in at.names], terms


@family_terms.register
def _multivariate(parameters: MultivariateGaussianParameters, at: Where) -> Made:
    places = tuple(range(at.first, at.first + len(at.names)))
    return [Column(name, "number") for name in at.names], form_terms(parameters.form(), places)


@family_terms.register
def _mixed(parameters: TermParameters, at: Where) -> Made:
    raise ParameterError(
        f"columns {', '.join(map(repr, at.names[:3]))} are modelled together, some as categories",
        "an export writes Gaussians of numbers only",
        "leave the categories out, or fit a naive Bayes or logistic model",
    )


def _by_cell(at: Where, kind: ColumnKind, one: Callable[..., Expression], *arrays: Any) -> Made:
    """One term for every column, whose parameters are in arrays (k, d) or (1, d)."""
    terms = []
    by_column = np.stack(np.broadcast_arrays(*arrays)).T.tolist()  # (d, k, parameters)
    for place, rows in enumerate(by_column, at.first):
        terms.append(Term((place,), tuple(one(place, *row) for row in rows)))
    return [Column(name, kind) for name in at.names], terms


def _about(place: int, mean: float, low: float) -> Expression:
    """x − μ, of a mean that may be worth more than one double."""
    return Sum((Cell(place), Number(-mean), *((Number(-low),) if low else ())))


def _times(place: int, weight: float) -> Expression:
    """w x, where 0 times −∞ is 0."""
    if weight == -inf:
        return Choice(place, ((0.0, 0.0),), -inf)
    return Product(Number(weight), Cell(place))


def _log_rising(x: Cell, a: float) -> Iterator[Expression]:
    """Terms of log Γ(x + a)/Γ(a), by Stirling's series about b = a + 8; nothing large cancels."""
    for i in range(SHIFT):
        yield Product(Number(-1.0), Log1p(Product(Number(1 / (a + i)), x)))
    b = a + SHIFT
    z = Sum((x, Number(b)))
    yield Product(Number(b - 0.5), Log1p(Product(Number(1 / b), x)))
    yield Product(x, Sum((Log(z), Number(-1.0))))
    yield Number(-sum(s * b ** -(2 * i + 1) for i, s in enumerate(STIRLING)))
    inverse: Expression = Quotient(Number(1.0), z)
    series: Expression = Number(STIRLING[-1])
    for s in STIRLING[-2::-1]:
        series = Sum((Number(s), Product(series, Square(inverse))))
    yield Product(series, inverse)


def _refuse_text(words: Any, names: Sequence[str]) -> None:
    """Refuse a text, whose words no target counts."""
    if words is not None and not words.closed:
        raise ParameterError(
            f"column {names[0]!r} is text",
            "an export does not cut a text into words",
            "fit the model without it, or on columns of counts",
        )


def form_terms(form: Form | None, places: Sequence[int]) -> list[Term]:
    """The terms of a form in numbers; those of one column alone where nothing joins columns."""
    assert form is not None
    k, d = form.linear.shape
    origin = np.broadcast_to(form.origin, d)
    quadratic = form.quadratic
    if quadratic.ndim == 2:
        quadratic = np.stack([np.diag(row) for row in quadratic])
    if (quadratic == quadratic[:1]).all():
        quadratic = np.zeros_like(quadratic)  # all classes share it
    joined = quadratic[:, ~np.eye(d, dtype=bool)].any()
    rows = [
        [_of_column(quadratic[c], form.linear[c], origin, places, i) for i in range(d)]
        for c in range(k)
    ]
    constants = form.constant.tolist()
    if joined:
        whole = tuple(Sum((Number(b), *row)) for b, row in zip(constants, rows, strict=True))
        return [Term(tuple(places), whole, "refused")]
    terms = [Term((places[i],), tuple(row[i] for row in rows), "refused") for i in range(d)]
    return [*terms, Term((), tuple(map(Number, constants)))]


def _of_column(
    quadratic: NDArray[np.float64],
    linear: NDArray[np.float64],
    origin: NDArray[np.float64],
    places: Sequence[int],
    i: int,
) -> Expression:
    """ψ_i (w_i + A_ii ψ_i + 2 Σ_{j>i} A_ij ψ_j)."""
    slope: list[Expression] = [Number(float(linear[i]))]
    for j in range(i, len(places)):
        weight = float(quadratic[i, j]) * (1 if i == j else 2)
        if weight:
            slope.append(Product(Number(weight), _moved(places[j], float(origin[j]))))
    factor = slope[0] if len(slope) == 1 else Sum(tuple(slope))
    return Product(factor, _moved(places[i], float(origin[i])))


def design_terms(
    design: Design, weights: NDArray[np.float64], centre: NDArray[np.float64]
) -> tuple[list[Column], list[Term], NDArray[np.float64]]:
    """Columns, terms, and what they leave to the intercepts (k,), of Σ_j w_j (x_j − m_j).

    Parameters
    ----------
    weights : ndarray (k, p)
    centre : ndarray (p,)
        m; a number is measured from it, an indicator from 0. Where missing cells have a term, the
        intercepts are those of rows without the cell, from which its values differ.
    """
    _refuse_computed(design)
    columns: list[Column] = []
    terms: list[Term] = []
    rest = np.zeros(len(weights))
    for place, name in enumerate(design.columns):
        at = design.places([name])
        missing: Missing = "nothing" if name in design.missing else "refused"
        made: list[Expression]
        if name in design.categories or name in design.bins:
            rest -= weights[:, at] @ centre[at]
            by_value, by_none = design.added_by(name, weights)
            rest += by_none
            rows = (by_value - by_none[:, None]).tolist()
        if name in design.categories:
            values = design.categories[name].values
            columns.append(value_column(name, values))
            other = 0.0 if name in design.missing else None  # an unknown value is a missing one
            made = [Choice(place, tuple(zip(values, row, strict=True)), other) for row in rows]
        elif name in design.bins:
            columns.append(Column(name, "number"))
            starts = tuple(design.bins[name].cuts.tolist())
            made = [Steps(place, starts, tuple(row)) for row in rows]
        else:
            columns.append(Column(name, "number"))
            moved = _moved(place, float(centre[at[0]]))
            made = [Product(Number(w), moved) for w in weights[:, at[0]].tolist()]
        terms.append(Term((place,), tuple(made), missing))
    return columns, terms, rest


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


def _moved(place: int, origin: float) -> Any:
    return Sum((Cell(place), Number(-origin))) if origin else Cell(place)


KINDS: dict[frozenset[type], ColumnKind] = {
    frozenset(): "string",
    frozenset({str}): "string",
    frozenset({bool}): "boolean",
    frozenset({int}): "integer",
}


def value_column(name: str, values: Sequence[Any]) -> Column:
    """The column whose cells are compared with these values.

    Examples
    --------
    >>> value_column("job", ("clerk", "nurse"))
    Column(name='job', kind='string')
    """
    types = frozenset(map(type, values))
    if types in KINDS and all(abs(v) <= 2**53 for v in values if type(v) is int):
        return Column(name, KINDS[types])
    other = [v for v in values if type(v) not in (str, bool)]
    example = next((v for v in other if type(v) is not int or abs(v) > 2**53), other[0])
    raise ParameterError(
        f"column {name!r} has the value {example!r}",
        "an export compares strings, booleans, or whole numbers up to 2**53, one type in a column",
        "turn the values into strings before the fit",
    )


def check_labels(labels: Sequence[Any]) -> None:
    """Check that labels can be written."""
    for label in labels:
        if type(label) not in (str, int, bool, float):
            raise ParameterError(
                f"the label {label!r} is of the type {type(label).__name__}",
                "an export writes labels that are strings, numbers or booleans",
                "turn the labels into strings before the fit",
            )
