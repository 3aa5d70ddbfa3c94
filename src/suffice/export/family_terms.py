"""Terms of the log joint that a family's parameters stand for, one reader for every kind.

A new family registers its reader here, and every target can write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch
from math import inf, log1p
from typing import Any

import numpy as np

from suffice.data.schema import BOOLEAN, LOW, Layout
from suffice.errors import ParameterError
from suffice.export.columns import value_column
from suffice.export.expressions import (
    Above,
    Cell,
    Choice,
    Column,
    Expression,
    Log,
    Log1p,
    Number,
    Product,
    Quotient,
    Square,
    Steps,
    Sum,
    Term,
)
from suffice.export.polynomials import form_terms
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.complement import ComplementParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.families.multivariate.mixed import MixedParameters
from suffice.families.multivariate.parameters import MultivariateGaussianParameters
from suffice.families.poisson import NegativeBinomialParameters, PoissonParameters
from suffice.families.univariate.parameters import GaussianParameters, StudentParameters
from suffice.families.univariate.piecewise import PiecewiseParameters
from suffice.numerics.elementary import lgamma, log
from suffice.numerics.logspace import safe_log

__all__ = ["family_terms"]

SHIFT = 8  # Stirling's series is used from here on
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)

Made = tuple[list[Column], list[Term]]


@singledispatch
def family_terms(parameters: Any, names: Sequence[str], layout: Layout, first: int) -> Made:
    """Columns and terms of one family; the place of its first column is ``first``.

    Raises
    ------
    ParameterError
        If no target can write such parameters.
    """
    kind = type(parameters).__name__.removesuffix("Parameters")
    raise ParameterError(
        f"column {names[0]!r} is modelled by {kind}",
        "an export writes columns that are independent of each other, or Gaussian with 'mle'",
        "fit it with another family",
    )


@family_terms.register
def _categorical(
    parameters: CategoricalParameters, names: Sequence[str], layout: Layout, first: int
) -> Made:
    columns, terms = [], []
    for j, name in enumerate(names):
        values = parameters.vocabularies[j].values
        columns.append(value_column(name, values))
        one = parameters.column(j)
        log_theta = safe_log(one.theta)
        left_out = tuple(
            (token, 0.0)
            for token in layout.missing
            if columns[-1].kind == "string" and token not in values
        )
        choices = []
        for row in log_theta.tolist():
            otherwise = {"ignore": 0.0, "error": None, "smooth": row[-1]}[parameters.unseen]
            cases = *zip(values, row[:-1], strict=False), *left_out
            choices.append(Choice(first + j, cases, otherwise))
        terms.append(Term((first + j,), tuple(choices)))
    return columns, terms


@family_terms.register
def _bernoulli(
    parameters: BernoulliParameters, names: Sequence[str], layout: Layout, first: int
) -> Made:
    _refuse_text(parameters.words, names)
    low = {c.name: (c.reason, LOW[c.reason]) for c in layout.columns if c.reason in LOW}
    refused = {name for b in layout.blocks if b.encoding == "binary" for name in b.columns}
    columns, terms = [], []
    for j, name in enumerate(names):
        log_theta = safe_log(parameters.theta[:, j]).tolist()
        reason, least = low.get(name, ("", None))
        made: list[Expression] = []
        if layout.threshold is not None:
            columns.append(Column(name, "boolean" if reason == BOOLEAN else "number"))
        else:
            columns.append(Column(name, "boolean" if reason == BOOLEAN else "integer"))
        for absent, present in log_theta:
            if columns[-1].kind == "number":
                assert layout.threshold is not None
                made.append(Above(first + j, layout.threshold, present, absent))
            elif columns[-1].kind == "boolean":
                made.append(Choice(first + j, ((False, absent), (True, present)), 0.0))
            else:
                zeros = (0, -1) if least is None else (int(least),)
                cases = *((zero, absent) for zero in zeros), (1, present)
                made.append(Choice(first + j, cases, None if name in refused else 0.0))
        terms.append(Term((first + j,), tuple(made)))
    return columns, terms


@family_terms.register(MultinomialParameters)
@family_terms.register(ComplementParameters)
def _events(parameters: Any, names: Sequence[str], layout: Layout, first: int) -> Made:
    _refuse_text(parameters.events, names)
    weights = parameters.form().linear
    terms = [
        Term((first + j,), tuple(_times(first + j, w) for w in weights[:, j].tolist()))
        for j in range(len(names))
    ]
    return [Column(name, "count") for name in names], terms


@family_terms.register
def _poisson(
    parameters: PoissonParameters, names: Sequence[str], layout: Layout, first: int
) -> Made:
    def one(place: int, rate: float) -> Expression:
        return Sum((_times(place, float(safe_log(np.array(rate)))), Number(-rate)))

    return _by_cell(names, first, "whole", one, parameters.rate)


@family_terms.register
def _negative_binomial(
    parameters: NegativeBinomialParameters, names: Sequence[str], layout: Layout, first: int
) -> Made:
    def one(place: int, a: float, b: float) -> Expression:
        linear = Product(Number(-log1p(b)), Cell(place))
        return Sum((Number(-a * log1p(1 / b)), linear, *_log_rising(Cell(place), a)))

    return _by_cell(names, first, "whole", one, parameters.a, parameters.b)


@family_terms.register
def _gaussian(
    parameters: GaussianParameters, names: Sequence[str], layout: Layout, first: int
) -> Made:
    def one(place: int, mean: float, low: float, precision: float, scale: float) -> Expression:
        if precision == 0:
            return Number(0.0)
        square = Product(Number(-0.5 * precision), Square(_about(place, mean, low)))
        return Sum((Number(scale), square))

    p = parameters
    return _by_cell(names, first, "number", one, p.mean, p.mean_lo, p.precision, p.log_scale)


@family_terms.register
def _student(
    parameters: StudentParameters, names: Sequence[str], layout: Layout, first: int
) -> Made:
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
    return _by_cell(names, first, "number", one, p.location, p.location_lo, p.scale2, p.dof)


@family_terms.register
def _piecewise(
    parameters: PiecewiseParameters, names: Sequence[str], layout: Layout, first: int
) -> Made:
    terms = []
    for j in range(len(names)):
        own = slice(*parameters.start[j : j + 2])
        starts = tuple(parameters.low[own][1:].tolist())
        logs = parameters.log_density[:, own].tolist()
        terms.append(Term((first + j,), tuple(Steps(first + j, starts, tuple(v)) for v in logs)))
    return [Column(name, "number") for name in names], terms


@family_terms.register
def _multivariate(
    parameters: MultivariateGaussianParameters, names: Sequence[str], layout: Layout, first: int
) -> Made:
    places = tuple(range(first, first + len(names)))
    return [Column(name, "number") for name in names], form_terms(parameters.form(), places)


@family_terms.register
def _mixed(parameters: MixedParameters, names: Sequence[str], layout: Layout, first: int) -> Made:
    raise ParameterError(
        f"the columns {', '.join(map(repr, names[:3]))} are modelled together, some as categories",
        "an export writes Gaussians of numbers only",
        "leave the categories out, or fit a naive Bayes or logistic model",
    )


def _by_cell(
    names: Sequence[str], first: int, kind: Any, one: Callable[..., Expression], *arrays: Any
) -> Made:
    """One term for every column, whose parameters are in arrays (k, d) or (1, d)."""
    wide = np.broadcast_arrays(*arrays)
    terms = [
        Term(
            (first + j,),
            tuple(
                one(first + j, *map(float, row))
                for row in zip(*(a[:, j] for a in wide), strict=True)
            ),
        )
        for j in range(len(names))
    ]
    return [Column(name, kind) for name in names], terms


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
