"""From a fitted model to its log joint: families, pairs, discriminants, coefficients, averages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from itertools import chain
from math import inf, log1p, nextafter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BOOLEAN, DATES, INSTANTS, LOW, TIMES, Layout, UniformColumns
from suffice.errors import ParameterError
from suffice.export.expressions import (
    AnyTerm,
    Cell,
    Column,
    ColumnKind,
    Expression,
    Gaussian,
    Log,
    Log1p,
    LogJoint,
    Member,
    Missing,
    Number,
    Pairs,
    Product,
    Quotient,
    Square,
    Steps,
    Sum,
    Table,
    Term,
    Values,
    Whitened,
    Words,
)
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
from suffice.numerics.elementary import lgamma, log
from suffice.phrases import with_article
from suffice.sums.comoments import Comoments
from suffice.sums.pairs import CutBins


def log_joint(model: Any) -> LogJoint:
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


def joint_of(model: Any) -> LogJoint:
    """Return the log joint of a model, texts and columns of weight 0 included."""
    fitted: Any = getattr(model, "model_", None)
    if getattr(model, "costs", None) is not None:
        raise ParameterError(
            "the model decides by costs",
            "an export answers the most probable label",
            "set costs=None, and apply them to the probabilities",
        )
    columns: list[Column] = []
    if hasattr(fitted, "classes"):
        _check_labels(fitted.classes.values)
        alone = not hasattr(model, "members_")
        members = [_member(columns, *one, alone=alone) for one in members_of(model)]
        return LogJoint("classes", fitted.classes.values, tuple(columns), tuple(members))
    if isinstance(fitted, LinearModel):
        member = _linear(fitted, columns)
        return LogJoint("numbers", fitted.design.targets, tuple(columns), (member,))
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


def _member(columns: list[Column], name: str, share: float, model: Any, alone: bool) -> Member:
    """Return the log joint of a member, and add its columns to those before."""
    fitted = model.model_
    terms: Sequence[AnyTerm]
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
    return Member(tuple(start.tolist()), tuple(prior.tolist()), tuple(terms), name, share)


def _refused_member(name: str, error: ParameterError) -> ParameterError:
    """Return the error of an average with a member that cannot be written."""
    return ParameterError(
        f"{name}, a member of the average, cannot be written: {error.fact}",
        error.rule,
        f"{error.next_step}; or fit candidates= without {name!r}, or write one of members_",
    )


def check_gaps(joint: LogJoint, most: float) -> None:
    """Check that rows like those of the fit are answered, by so many products at most.

    They may lack cells that others lacked, and show unknown values of categories.
    """
    if joint.integrates(most):
        return
    for member in joint.members:
        for term in member.terms:
            if isinstance(term, Gaussian) and (term.lacking or term.values):
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


def refusing_null(joint: LogJoint, most: float) -> tuple[str, ...]:
    """Return the columns without whose cells a row gets no answer, of so many products at most."""
    gaussians = () if joint.integrates(most) else (Gaussian,)
    places = {
        j
        for member in joint.members
        for term in member.terms
        if isinstance(term, gaussians) or getattr(term, "missing", "") == "refused"
        for j in term.columns
    }
    return tuple(dict.fromkeys(joint.columns[j].name for j in sorted(places)))


def _generative(model: GenerativeModel, layout: Layout, columns: list[Column]) -> list[AnyTerm]:
    terms: list[AnyTerm] = []
    first = len(columns)
    for part, parameters, block, weights in zip(
        model.parts,
        model.parameters,
        model.statistic.blocks[: len(model.parts)],
        model.part_weights,
        strict=True,
    ):
        names = tuple(part.layout.columns)
        found = family_terms(parameters, Where(names, layout, len(columns), _lacking(part, block)))
        columns += found[0]
        each = np.broadcast_to(weights, len(names)).tolist()
        before = len(columns) - len(names)
        terms += [replace(term, weight=each[term.columns[0] - before]) for term in found[1]]
    if isinstance(model, AODEModel) and model.pair_weight:
        terms.append(_pairs(model, layout, columns, first))
    return terms


def _pairs(model: AODEModel, layout: Layout, columns: list[Column], first: int) -> Pairs:
    """Return one-dependence estimators of columns that families have read."""
    counts, weight = model.pairs, model.statistic.weight.value
    place = {column.name: j for j, column in enumerate(columns) if j >= first}
    at = tuple(place[name] for name in counts.columns)
    bins = []
    two = ("binary", "outcome")
    binary = {name for b in layout.blocks if b.encoding in two for name in b.columns}
    for j, name, one in zip(at, counts.columns, counts.bins, strict=True):
        numbers = [float(b) for b in range(len(one))]
        if isinstance(one, CutBins):
            bins.append(Table(Steps(j, tuple(one.cuts.tolist())), (tuple(numbers),)))
            continue
        cells = [(value,) for value in one.values.values]
        if name in binary:
            cells = list(_cells_of_binary(layout, name)[1:])
        cases = [(v, b) for b, vs in zip(numbers, cells, strict=True) for v in vs]
        places = Values(j, tuple(value for value, _ in cases))
        bins.append(Table(places, ((*(b for _, b in cases), None),)))
    return Pairs(
        at,
        tuple(bins),
        tuple(map(len, counts.bins)),
        counts.count.value,
        weight,
        model.pair_terms,
        model.parents,
        log(weight / weight.sum()),
        model.pair_weight,
    )


TIMED: dict[str, ColumnKind] = {DATES: "date", INSTANTS: "date", TIMES: "time"}


def _timed(column: Column, layout: Layout) -> Column:
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
    model: LogisticModel, columns: list[Column], alone: bool
) -> tuple[list[AnyTerm], NDArray[np.float64]]:
    """Return terms and intercepts; in an average, a missing cell is as in the average row."""
    w, b = model.coefficients[:, 1:], model.coefficients[:, 0]
    if len(w) == 1:  # t₁ − t₀
        w, b = np.vstack([np.zeros_like(w), w]), np.append(0.0, b)
    missing: Missing = "refused" if alone else "nothing"
    terms, rest = _design_terms(model.centred.design, w, model.centred.mean, columns, missing)
    return terms, b + rest


def _linear(model: LinearModel, columns: list[Column]) -> Member:
    w = model.fit.coefficients.T
    b = np.broadcast_to(model.fit.intercept if model.fit.has_intercept else 0.0, len(w))
    terms, rest = _design_terms(model.design, w, np.zeros(w.shape[1]), columns, "refused")
    columns[:] = [_timed(column, model.layout) for column in columns]
    return Member(tuple((b + rest).tolist()), (), tuple(terms))


SHIFT = 8  # Stirling's series is used from here on
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)

Made = tuple[list[Column], list[Any]]
MOST_TOGETHER = 280  # numbers whose covariances are written


class Where(NamedTuple):
    """The columns of one family, the layout of the table, and the place of the first column.

    ``lacking`` are the columns of which rows of the fit lacked cells, if that is known.
    """

    names: tuple[str, ...]
    layout: Layout
    first: int
    lacking: frozenset[str] = frozenset()


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
        is_text = columns[-1].kind == "string"
        tokens = [one for one in at.layout.missing if is_text and one not in values]
        rows = []
        for row in log(parameters.column(j).theta).tolist():
            others = {"ignore": 0.0, "error": None, "smooth": row[-1]}[parameters.unseen]
            rows.append((*row[: len(values)], *(0.0 for _ in tokens), others))
        terms.append(Table(Values(at.first + j, (*values, *tokens)), tuple(rows)))
    return columns, terms


@family_terms.register
def _bernoulli(parameters: BernoulliParameters, at: Where) -> Made:
    if parameters.words is not None and not parameters.words.closed:
        raise _is_text(at.names[0])
    refused = {name for b in at.layout.blocks if b.encoding == "binary" for name in b.columns}
    columns, terms = [], []
    for j, name in enumerate(at.names):
        kind, zeros, ones = _cells_of_binary(at.layout, name)
        columns.append(Column(name, kind))
        log_theta = [tuple(row) for row in log(parameters.theta[:, j]).tolist()]
        if kind == "number":
            assert at.layout.threshold is not None
            above = Steps(at.first + j, (nextafter(at.layout.threshold, inf),))
            terms.append(Table(above, tuple(log_theta)))
            continue
        others = None if name in refused and kind == "integer" else 0.0
        rows = [
            (*(absent for _ in zeros), *(present for _ in ones), others)
            for absent, present in log_theta
        ]
        terms.append(Table(Values(at.first + j, (*zeros, *ones)), tuple(rows)))
    return columns, terms


def _cells_of_binary(
    layout: Layout, name: str
) -> tuple[ColumnKind, tuple[Any, ...], tuple[Any, ...]]:
    """Return the kind of a column of two values, and the cells that stand for 0 and for 1."""
    reason = next((c.reason for c in layout.columns if c.name == name), "")
    if reason == BOOLEAN:
        return "boolean", (False,), (True,)
    if layout.threshold is not None:
        return "number", (), ()
    return "integer", (int(LOW[reason]),) if reason in LOW else (0, -1), (1,)


@family_terms.register(MultinomialParameters)
@family_terms.register(ComplementParameters)
def _events(parameters: Any, at: Where) -> Made:
    if not parameters.events.closed:
        return [Column(name, "text") for name in at.names], [Words((at.first,), parameters)]
    terms: list[AnyTerm] = []
    for place, weights in enumerate(parameters.form().linear.T.tolist(), at.first):
        finite = [0.0 if w == -inf else w for w in weights]
        trees = tuple(Product(Number(w), Cell(place)) for w in finite)
        terms.append(Term((place,), trees))
        if finite != weights:  # of which no row may show any
            rows = tuple((0.0, -inf if w == -inf else 0.0) for w in weights)
            terms.append(Table(Steps(place, (nextafter(0.0, inf),)), rows))
    return [Column(name, "count") for name in at.names], terms


@family_terms.register
def _poisson(parameters: PoissonParameters, at: Where) -> Made:
    def one(place: int, rate: float) -> Expression:
        return Sum((Product(Number(float(log(np.array(rate)))), Cell(place)), Number(-rate)))

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
        terms.append(Table(Steps(place, starts), tuple(map(tuple, logs))))
    return [Column(name, "number") for name in at.names], terms


@family_terms.register
def _densities(parameters: DensityParameters, at: Where) -> Made:
    columns, terms = [], []
    for j, name in enumerate(at.names):
        found = family_terms(parameters.column(j), at._replace(names=(name,), first=at.first + j))
        columns += found[0]
        terms += found[1]
    return columns, terms


@family_terms.register
def _multivariate(parameters: MultivariateGaussianParameters, at: Where) -> Made:
    d = len(at.names)
    return [Column(name, "number") for name in at.names], _together(
        parameters, at, [(at.first + j, None) for j in range(d)], {}
    )


@family_terms.register
def _mixed(parameters: TermParameters, at: Where) -> Made:
    design = parameters.design
    columns = [
        value_column(name, design.categories[name].values)
        if name in design.categories
        else Column(name, "number")
        for name in design.columns
    ]
    features = [
        (at.first + one[0], one[1]) if isinstance(one, tuple) else (at.first + one, None)
        for one in parameters.feature_names
    ]
    place = {name: at.first + j for j, name in enumerate(design.columns)}
    values = {place[name]: known.values for name, known in design.categories.items()}
    return columns, _together(parameters.of_terms, at, features, values)


def _together(
    parameters: MultivariateGaussianParameters,
    at: Where,
    features: Sequence[tuple[int, Any]],
    values: Mapping[int, tuple[Any, ...]],
) -> list[Gaussian]:
    """Return a Gaussian of some features of the columns."""
    factored = parameters.factored
    if len(factored.variance) == 1:
        slopes, constants = factored.linear
        complete = Whitened(factored.origin[0], constants, slopes)
    elif isinstance(factored, FactoredGaussians):
        origin, white = factored.origin.mean(axis=0), factored.whitening
        slopes = factored.shift + np.einsum("cij,cj->ci", white, factored.origin - origin)
        complete = Whitened(origin, parameters.log_scale, slopes, white)
    else:
        raise ParameterError(
            f"column {at.names[0]!r} is modelled with more columns than rows",
            "an export writes their covariances where all classes share one",
            "fit the model on fewer columns",
        )
    columns = range(at.first, at.first + len(at.names))
    indicated = {at.names[j - at.first] for j, value in features if value is MISSING}
    lacking = tuple(name for name in at.names if name in indicated | at.lacking)
    offset = parameters.mean - complete.origin + factored.mean_lo
    covariance = None if len(features) > MOST_TOGETHER else parameters.covariance
    made = Gaussian(tuple(columns), tuple(features), values, offset, covariance, complete, lacking)
    return [made]


def _lacking(part: FamilyColumns, block: Any) -> frozenset[str]:
    """Return the columns of which rows of the fit lack cells, if that is known."""
    rows = getattr(block, "columns", None)
    if not isinstance(rows, Comoments):
        return frozenset()
    owner = part.layout.columns if part.design is None else part.design
    at = np.flatnonzero(~rows.patterns.all(axis=0)).tolist()
    return frozenset(owner.column(j) if isinstance(owner, Design) else owner[j] for j in at)


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


def _design_terms(
    design: Design,
    weights: NDArray[np.float64],
    centre: NDArray[np.float64],
    columns: list[Column],
    missing: Missing,
) -> tuple[list[AnyTerm], NDArray[np.float64]]:
    """Return terms, and what they leave to the intercepts (k,), of Σ_j w_j (x_j − m_j).

    The weights are (k, p). A number is measured from the centre m (p,), an indicator from 0. Where
    missing cells have a term, the intercepts are those of rows without the cell, from which its
    values differ. Other missing cells are refused, or, with "nothing", they and unknown values are
    as m. The columns are added to those before.
    """
    _refuse_computed(design)
    terms: list[AnyTerm] = []
    rest = np.zeros(len(weights))
    for name in design.columns:
        place, at = len(columns), design.places([name])
        own: Missing = "nothing" if name in design.missing else missing
        if name not in design.categories and name not in design.bins:
            columns.append(Column(name, "number"))
            origin = float(centre[at[0]])
            moved = Sum((Cell(place), Number(-origin))) if origin else Cell(place)
            trees = tuple(Product(Number(w), moved) for w in weights[:, at[0]].tolist())
            terms.append(Term((place,), trees, own))
            continue
        average = weights[:, at] @ centre[at]
        by_value, by_none = design.added_by(name, weights)
        if name not in design.missing and missing == "nothing":
            by_none = average
        rest += by_none - average
        rows = (by_value - by_none[:, None]).tolist()
        if name in design.categories:
            values = design.categories[name].values
            columns.append(value_column(name, values))
            others = 0.0 if own == "nothing" else None  # an unknown value is a missing one
            found = Table(Values(place, values), tuple((*row, others) for row in rows), own)
        else:
            columns.append(Column(name, "number"))
            starts = tuple(design.bins[name].cuts.tolist())
            found = Table(Steps(place, starts), tuple(map(tuple, rows)), own)
        terms.append(found)
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


KINDS: dict[frozenset[type], ColumnKind] = {
    frozenset(): "string",
    frozenset({str}): "string",
    frozenset({bool}): "boolean",
    frozenset({int}): "integer",
}


def value_column(name: str, values: Sequence[Any]) -> Column:
    """The column whose cells are compared with these values."""
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


def _check_labels(labels: Sequence[Any]) -> None:
    for label in labels:
        if type(label) not in (str, int, bool, float):
            raise ParameterError(
                f"the label {label!r} is of the type {type(label).__name__}",
                "an export writes labels that are strings, numbers or booleans",
                "turn the labels into strings before the fit",
            )
