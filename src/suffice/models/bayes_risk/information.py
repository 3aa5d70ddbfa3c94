"""What every column of a model tells of the class: mutual information, in bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families import Parameters
from suffice.families.multinomial import MultinomialParameters
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.bayes_risk.densities import OneColumn
from suffice.models.bayes_risk.fitted_densities import independent_columns
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.elementary import exp, log, log_of
from suffice.numerics.in_print import Printed, Table, percent
from suffice.numerics.logspace import row_sums, safe_log
from suffice.numerics.quadrature import integrate

__all__ = ["ColumnInformation", "column_information"]

LOG_2 = log_of(2.0)
PRECISION = 1e-12  # of an integral, in nats
# Quantiles that cut the line: even in the middle, by decades in the tails.
QUANTILES = np.concatenate([np.arange(1, 9) / 16, 10.0 ** -np.arange(2, 17)])


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
        H(C) of the class prior, in bits: what there is to be told.
    """

    columns: tuple[str, ...]
    families: tuple[str, ...]
    bits: NDArray[np.float64]
    entropy: float

    @property
    def order(self) -> NDArray[np.intp]:
        """Places of the columns, the most telling first; unknown ones last."""
        return np.argsort(-np.nan_to_num(self.bits, nan=-1.0), kind="stable")

    def table(self) -> Table:
        """Return the columns as a table, the most informative first."""
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
    check_is_fitted(model)
    if not isinstance(model, GenerativeClassifier):
        raise ParameterError(
            f"{type(model).__name__} does not say how a column looks in a class",
            "naive Bayes and discriminant analysis do",
            "fit one of them to see what columns tell",
        )
    fitted = model.model_
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
        float(-_sum(prior * safe_log(np.where(prior > 0, prior, 1.0))) / LOG_2),
    )


def _of_part(parameters: Parameters, d: int, prior: NDArray[np.float64]) -> Iterator[float]:
    """The bits of every column of a part."""
    if isinstance(parameters, MultinomialParameters):
        shares = parameters.theta * prior[:, None]
        bits = _information(shares, prior) / LOG_2
        yield from bits.tolist() if parameters.events.closed else [_sum(bits)]
        return
    for j in range(d):
        lines = independent_columns((parameters.column(j),), len(prior))
        yield np.nan if lines is None else _of_lines([line.columns for line in lines], prior)


def _of_lines(lines: list[tuple[OneColumn, ...]], prior: NDArray[np.float64]) -> float:
    """The bits of one column, given its distribution in every class."""
    if not all(len(one) == 1 for one in lines):
        return 0.0 if not any(lines) else np.nan  # no column is left where all classes are alike
    columns = [one[0] for one in lines]

    def of(x: NDArray[np.float64]) -> NDArray[np.float64]:
        joint = np.array([p * exp(c.log_density(x)) for p, c in zip(prior, columns, strict=True)])
        return _information(joint, prior)

    with np.errstate(all="ignore"):
        if columns[0].discrete[0]:
            atoms = np.unique(np.concatenate([column.atoms() for column in columns]))
            return _sum(of(atoms)) / LOG_2
        edges = np.unique(np.concatenate([column.quantiles(QUANTILES) for column in columns]))
        value, _ = integrate(of, edges, PRECISION)
    return max(value, 0.0) / LOG_2


def _information(joint: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_c P(c, x) log (P(c, x) / P(c) p(x)) of every x, in nats, (m,), from P(c, x), (k, m)."""
    total = row_sums(joint.T)[:, None]
    expected = prior * total
    ratio = np.divide(joint.T, expected, out=np.ones(joint.T.shape), where=joint.T > 0)
    return row_sums(joint.T * log(ratio))


def _sum(values: NDArray[np.float64]) -> float:
    return float(np.add.reduce(values))
