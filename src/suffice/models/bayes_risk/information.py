"""Mutual information of columns and the class in bits, and of the missing cells of one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from suffice.data.source import all_batches
from suffice.errors import DataError, ParameterError
from suffice.families import Parameters
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.densities.piecewise import PiecewiseParameters
from suffice.families.gaussian import GaussianParameters, StudentParameters
from suffice.families.joint_table import JointTableParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.families.multivariate_gaussian import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.families.poisson import NegativeBinomialParameters, PoissonParameters
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.bayes_risk.densities import log_density, values_of
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.model import generative
from suffice.models.reading import is_named, open_rows, row_by_name
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.elementary import exp, log, log_of
from suffice.numerics.in_print import Printed, Table, percent
from suffice.numerics.logspace import row_sums, scores
from suffice.numerics.quadrature import integrate
from suffice.sums.batch import Batch
from suffice.sums.block import CodedBlock

LOG_2 = log_of(2.0)
PRECISION = 1e-12  # of an integral, in nats
# Quantiles that cut the line: even in the middle, by decades in the tails.
QUANTILES = np.concatenate([np.arange(1, 9) / 16, 10.0 ** -np.arange(2, 17)])
# The same of a missing cell, in each class.
QUESTIONED = np.concatenate([np.arange(1, 25) / 48, [0.01, 0.001, 1e-4]])
MOST_NUMBERS = 2_000  # of a column, in all classes together: a page holds them
UNSEEN = 1e-12  # probability from which unseen values are a value of their own
DIGITS = 8  # of a probability between quantiles, so that a page holds it in few bytes


@dataclass(frozen=True, eq=False, repr=False)
class ColumnInformation(Printed):
    """Bits that a cell of each column tells of the class, if the model is right.

    Parameters
    ----------
    columns : tuple of str
        d names, in the order of the table.
    families : tuple of str
        How each is modelled.
    bits : ndarray (d,)
        I(C; X_j); NaN where it is not known.
    entropy : float
        H(C) of the class prior, in bits.
    """

    columns: tuple[str, ...]
    families: tuple[str, ...]
    bits: Floats
    entropy: float

    @property
    def order(self) -> Ints:
        """Places of the columns, the most telling first; unknown ones last."""
        return np.argsort(-np.nan_to_num(self.bits, nan=-1.0), kind="stable")

    def table(self) -> Table:
        rows = []
        for j in self.order.tolist():
            bits = float(self.bits[j])
            share = percent(bits / self.entropy if self.entropy else np.nan)
            known = "-" if np.isnan(bits) else f"{bits:.4f}"
            rows.append([self.columns[j], self.families[j], known, share])
        return Table(
            "",
            ["column", "family", "bits", "of all there is to tell"],
            rows,
            [f"{self.entropy:.4f} bits tell the class of a row, before any cell is seen"],
            left=(0, 1),
            bars=self.bits[self.order].tolist(),
        )


def column_information(model: GenerativeClassifier) -> ColumnInformation:
    """Return how many bits a cell of each column tells of the class, under a fitted model.

    ::

        I(C; X_j) = Σ_c P(c) ∫ p(x_j | c) log₂ (p(x_j | c) / p(x_j)) dx_j,
        p(x_j) = Σ_c P(c) p(x_j | c)

    by sums over the values of discrete columns, and by quadrature over numbers. Of a text, and of
    counts of words, it is what one word tells, which is a sum over words: a column of counts has
    its own term. Each column stands alone: what two of them tell together may be less than the sum,
    and more. It is 0 for a column that looks alike in all classes, at most H(C), and known without
    any rows.

    Parameters
    ----------
    model : generative classifier
        Such as `NaiveBayes` or `LinearDiscriminantAnalysis`, fitted.

    Returns
    -------
    ColumnInformation

    Raises
    ------
    ParameterError
        If the model does not say how columns look in a class.

    Source: T. M. Cover and J. A. Thomas, Elements of Information Theory, 2nd ed. (2006), eq. 2.28
    and section 8.5.

    Examples
    --------
    >>> from suffice.naive_bayes import NaiveBayes
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["u", "u", "v", "v"], "b": ["x", "y", "x", "y"], "c": list("0011")})
    >>> column_information(NaiveBayes(estimation="mle").fit(table, "c"))
    column  family         bits  of all there is to tell
    a       categorical  1.0000                  100.0 %
    b       categorical  0.0000                    0.0 %
    <BLANKLINE>
    1.0000 bits tell the class of a row, before any cell is seen
    """
    fitted = generative(model, "fit one of them to see what columns tell")
    bits = dict.fromkeys(fitted.layout.names, np.nan)
    families = dict.fromkeys(bits, "-") | fitted.family_names
    for part, parameters in zip(fitted.parts, fitted.parameters, strict=True):
        columns = part.layout.columns
        if part.family.is_distribution:
            bits |= zip(columns, _of_part(parameters, len(columns), fitted.prior), strict=True)
    prior = fitted.prior
    return ColumnInformation(
        tuple(bits),
        tuple(families.values()),
        np.array(list(bits.values())),
        float(_entropy(prior)),
    )


def _of_part(parameters: Parameters, d: int, prior: Floats) -> Iterator[float]:
    """Yield the bits of every column of a part; NaN where no form is known."""
    if isinstance(parameters, MultinomialParameters):
        bits = _information(parameters.theta * prior[:, None], prior) / LOG_2
        yield from bits.tolist() if parameters.events.closed else [float(bits.sum())]
        return
    for column in map(parameters.column, range(d)):
        cells = discrete(column)
        if cells is not None:
            yield float(_information(prior[:, None] * cells, prior).sum()) / LOG_2
            continue
        line = numbers(column)
        yield _integrated(line, prior) if line is not None and line.scale.all() else np.nan


def _integrated(line: Numbers, prior: Floats) -> float:
    """Return the bits of a column of numbers, Gaussian or Student's t."""
    location, scale, dof = line
    parts = location, np.zeros_like(location), scale**2
    column = GaussianParameters(*parts) if dof is None else StudentParameters(*parts, dof)

    def at(x: Floats) -> Floats:
        return _information(prior[:, None] * exp(column.log_densities(x)), prior)

    with np.errstate(all="ignore"):
        value, _ = integrate(at, line.quantiles(QUANTILES), PRECISION)
    return max(value, 0.0) / LOG_2


def _information(joint: Floats, prior: Floats) -> Floats:
    """Σ_c P(c, x) log (P(c, x) / P(c) p(x)) of every x, in nats, (m,), from P(c, x), (k, m)."""
    total = row_sums(joint.T)[:, None]
    expected = prior * total
    ratio = np.divide(joint.T, expected, out=np.ones(joint.T.shape), where=joint.T > 0)
    return row_sums(joint.T * log(ratio))


# -- how a column looks in every class


def discrete(parameters: Parameters) -> Floats | None:
    """Return P(v | c) of the values v of one column, (k, m), in bins or not; None of numbers.

    Values that are unseen are one value.
    """
    if isinstance(parameters, BernoulliParameters):
        return parameters.theta[:, 0] if parameters.theta.shape[1] == 1 else None
    if isinstance(parameters, PiecewiseParameters):
        return parameters.probabilities(0)
    if isinstance(parameters, CategoricalParameters):
        return _with_others(parameters.probabilities(0))
    if isinstance(parameters, JointTableParameters):
        logs = scores(len(parameters.cells), len(parameters.count), 0.0)
        parameters.add_log_likelihood(CodedBlock(parameters.cells, parameters.vocabularies), logs)
        return _with_others(exp(logs).T)
    if isinstance(parameters, PoissonParameters):
        counts = [stats.poisson(*of_class) for of_class in parameters.rate]
    elif isinstance(parameters, NegativeBinomialParameters):
        a, b = parameters.a[:, 0], parameters.b[:, 0]
        counts = list(map(stats.nbinom, a, b / (b + 1)))
    else:
        return None
    values = values_of(counts)
    return np.stack([exp(log_density(one, values)) for one in counts])


def _with_others(seen: Floats) -> Floats:
    """Append the probability of all unseen values together, (k, m) or (k, m + 1)."""
    others = np.maximum(1.0 - seen.sum(axis=1, keepdims=True), 0.0)
    return np.hstack([seen, others]) if others.max() > UNSEEN else seen


class Numbers(NamedTuple):
    """A column of numbers: location, scale and degrees of freedom in each class, (k, 1).

    It is moved to the mean of the first class: only ratios of densities matter.
    """

    location: Floats
    scale: Floats
    dof: Floats | None  # of Student's t; None of a Gaussian

    def quantiles(self, tails: Floats) -> Floats:
        """Return where such probabilities lie below or above in some class, in order."""
        below = self.scale * (ndtri(tails) if self.dof is None else stdtrit(self.dof, tails))
        found = np.unique([self.location + below, self.location - below])
        return np.asarray(found[np.isfinite(found)])

    def between(self, cuts: Floats) -> Floats:
        """Return the probabilities below, between and above some numbers, (k, m + 1)."""
        z = (np.concatenate([[-np.inf], cuts, [np.inf]]) - self.location) / self.scale
        below, above = (ndtr(a) if self.dof is None else stdtr(self.dof, a) for a in (z, -z))
        return np.where(z[:, 1:] < 0, np.diff(below), -np.diff(above))


def numbers(parameters: Parameters) -> Numbers | None:
    """Return a column of numbers as its parameters describe it; None of another column."""
    dof = None
    if isinstance(parameters, GaussianParameters):
        mean, low, variance = parameters.mean, parameters.mean_lo, parameters.variance
    elif isinstance(parameters, StudentParameters):
        mean, low, variance = parameters.location, parameters.location_lo, parameters.scale2
        dof = np.broadcast_to(parameters.dof, mean.shape)
    elif isinstance(parameters, MultivariateGaussianParameters | MultivariateStudentParameters):
        factored = parameters.factored
        mean, low, variance = factored.mean, factored.mean_lo, factored.covariance[:, :, 0]
        if isinstance(parameters, MultivariateStudentParameters):
            variance = variance * parameters.factor[:, None]
            dof = parameters.dof[:, None]
    else:
        return None
    scale = np.broadcast_to(np.sqrt(variance), mean.shape)
    return Numbers((mean - mean[0]) + (low - low[0]), scale, dof)


# -- what to ask next


@dataclass(frozen=True, eq=False, repr=False)
class NextQuestions(Printed):
    """Missing cells of a row, the most informative first.

    ``columns`` are their names and ``bits`` (g,) what each is expected to tell, NaN where it is not
    known; ``entropy`` is how uncertain the class is now, in bits.
    """

    columns: tuple[str, ...]
    bits: Floats
    entropy: float

    def table(self) -> Table:
        bits = self.bits.tolist()
        rows = [
            [name, "-" if np.isnan(one) else f"{one:.4f}"]
            for name, one in zip(self.columns, bits, strict=True)
        ]
        return Table(f"{self.entropy:.4f} bits are open.", ["column", "bits"], rows, bars=bits)


def next_question(model: GenerativeClassifier, row: Any) -> NextQuestions:
    """Return how much each missing cell of a row is expected to tell of its class.

    ::

        H(C | x) − Σ_v P(v | x) H(C | x, v),    P(v | x) = Σ_c P(c | x) P(v | c)

    over the values v of a missing cell, given the cells x that are known; H is the entropy in bits.
    It is the mutual information I(C; X_j | x), where columns are independent given the class.
    Numbers have the bins of a histogram as values, or those between quantiles of a density. With
    weights of columns P(c | x, v) ∝ P(c | x) P(v | c)^w; a difference below 0 is given as 0.

    Parameters
    ----------
    model : generative classifier
        Naive Bayes, fitted.
    row : table of one row
        Such as a dictionary: columns that it does not name are missing.

    Raises
    ------
    ParameterError
        If the model does not say how single columns look in a class.
    DataError
        If there is not one row.

    Source: T. M. Cover and J. A. Thomas, Elements of Information Theory, 2nd ed. (2006), eq.
    2.43; D. V. Lindley, On a measure of the information provided by an experiment (1956).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice import NaiveBayes
    >>> table = pa.table({
    ...     "cough": ["yes", "yes", "no", "no"] * 5,
    ...     "shoe": ["left", "right"] * 10,
    ...     "ill": ["yes", "yes", "no", "no"] * 5,
    ... })
    >>> next_question(NaiveBayes.textbook().fit(table, "ill"), {})
    1.0000 bits are open.
    column    bits
    cough   0.5862
    shoe    0.0000
    """
    check_is_fitted(model)
    fitted = model.model_ if isinstance(model, GenerativeClassifier) else None
    if fitted is None or all(part.family.joint for part in fitted.parts):
        raise ParameterError(
            f"{type(model).__name__} does not say how a column alone looks in a class",
            "naive Bayes does",
            "fit NaiveBayes to be told what to ask",
        )
    fitted.refuse_pairs("next_question")
    batch = _only_row(model, row)
    answer = exp(fitted.partial_log_posterior(batch)[0])
    entropy = float(_entropy(answer))
    bits: dict[str, float] = {}
    for part, parameters, block, weights in zip(
        fitted.parts, fitted.parameters, batch.blocks, fitted.part_weights, strict=True
    ):
        names, missing = part.layout.columns, block.missing[0]
        is_text = len(missing) != len(names)
        if is_text and not missing.all():
            continue
        each, alone = np.broadcast_to(weights, len(names)), not (is_text or part.family.joint)
        for j in range(len(names)) if is_text else np.flatnonzero(missing).tolist():
            cells = probabilities_of_values(parameters.column(j), len(answer)) if alone else None
            bits[names[j]] = np.nan
            if cells is not None:
                joint = answer[:, None] * cells ** each[j]
                total = joint.sum(axis=0)
                after = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
                shown = answer @ (cells / cells.sum(axis=1, keepdims=True))
                expected = float((shown * _entropy(after.T)).sum())
                bits[names[j]] = max(entropy - expected, 0.0)
    found = np.array(list(bits.values()), np.float64)
    order = np.argsort(-np.where(np.isnan(found), -1.0, found), kind="stable")
    columns = tuple(bits)
    return NextQuestions(tuple(columns[j] for j in order.tolist()), found[order], entropy)


def probabilities_of_values(parameters: Parameters, k: int) -> Floats | None:
    """Return p(v | c) of the values v of one column, (k, m); None where no form is known."""
    line = numbers(parameters)
    if line is None:
        cells = discrete(parameters)
        if cells is None:
            return None
        return np.add.reduceat(cells, _few(np.arange(cells.shape[1]), k), axis=1)
    if not line.scale.all():  # a column without spread tells nothing
        return np.ones((k, 1))
    return line.between(_few(line.quantiles(QUESTIONED), k)).round(DIGITS)


def _few(values: NDArray[Any], k: int) -> NDArray[Any]:
    """Return every value, or every second, third, ... where a page cannot hold all."""
    return values[:: -(-len(values) // max(MOST_NUMBERS // k, 8))]


def _only_row(model: GenerativeClassifier, row: Any) -> Batch:
    if isinstance(row, Mapping) and not row:
        names = model.reader_.layout.names
        row = {str(names[0]): None} if is_named(model) else np.full((1, len(names)), np.nan)
    known = row_by_name(model, row)
    if known is not None:
        return known
    source, layout = open_rows(model, row), model.reader_.to_answer
    batches = [batch for batch in all_batches(source, layout) if batch.rows]
    if len(batches) != 1 or batches[0].rows != 1:
        rows = sum(batch.rows for batch in batches)
        raise DataError(f"there are {rows} rows", "one row is asked about", "give one of them")
    return batches[0]


def _entropy(p: Floats) -> Floats:
    """−Σ p log₂ p over the last axis."""
    return np.asarray(-(p * log(np.where(p > 0, p, 1.0))).sum(axis=-1) / LOG_2)
