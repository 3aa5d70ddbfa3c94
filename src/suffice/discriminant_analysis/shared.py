"""What linear and quadratic discriminant analysis share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.data.array_source import ArraySource
from suffice.data.schema import BlockLayout
from suffice.data.source import Part, each_batch
from suffice.data.table_source import TableSource
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian import (
    FactoredGaussians,
    MultivariateGaussianParameters,
    Shrinkage,
    add_complete,
    fill,
)
from suffice.families.options import check_nonnegative
from suffice.models.base.saved_options import COVARIANCES, is_covariance
from suffice.models.design.feature_columns import Predictors, features, is_coded
from suffice.models.design.settled import settled_design
from suffice.models.generative.class_prior import Prior
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.one_family import OneFamilyClassifier
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.row_answers import discriminants, posterior
from suffice.models.generative.terms import TermParameters
from suffice.numerics import kernels
from suffice.numerics.logspace import scores
from suffice.numerics.rows import affine, linear
from suffice.sums.batch import Batch
from suffice.sums.block import require_held
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments

__all__ = [
    "DiscriminantAnalysis",
    "on_axes",
    "one_of_two",
    "require_rows_of_a_class",
    "require_rows_of_each_class",
    "shrinkage_of",
]


class DiscriminantAnalysis(OneFamilyClassifier):
    """What both have in common: the family, and the attributes that are its parameters."""

    solver: str
    shrinkage: Any
    priors: ArrayLike | None
    tol: float
    covariance_estimator: Any
    ddof: int
    categorical: Sequence[str] | None

    fewest_classes = 2
    prior_option = "priors"
    pooling: float  # λ of the family
    solvers: tuple[str, ...]

    def _family(self) -> MultivariateGaussian:
        self._check()
        return MultivariateGaussian(
            estimation="mle",
            pooling=self.pooling,
            shrinkage=self._shrinkage(),
            ddof=self.ddof,
        )

    def _settled(self, source: TableSource | ArraySource) -> GenerativeReader:
        reader = super()._settled(source)
        if isinstance(source, ArraySource) and not self.categorical:
            return reader
        found = features(source, Predictors(categorical=self.categorical))
        for column in found.columns:
            if column.kind == "text":
                raise SchemaError(
                    f"column {column.name!r} holds text: {column.reason}",
                    f"{type(self).__name__} takes numbers and categories",
                    "leave the column out",
                )
        if not any(map(is_coded, found.columns)):
            return reader
        engine = self._engine_for(source)
        design = settled_design(source, found, "counted", engine, with_missing=True)
        names = tuple(column.name for column in found.columns)
        # Indicators nearly determine each other: more iterations take long, and predict worse.
        family = replace(self._family(), max_iter=0)
        part = FamilyColumns(family, BlockLayout("mixed", names), design)
        more = {"parts": (part,)}
        return self.reader_type.of(source, found.columns, (part.layout,), self._reading(), **more)

    def _check(self) -> None:
        if self.solver not in self.solvers:
            raise ParameterError(
                f"solver={self.solver!r}", f"solver is one of {', '.join(map(repr, self.solvers))}"
            )
        check_nonnegative(tol=self.tol)

    def _shrinkage(self) -> Shrinkage:
        """Share of the diagonal in the covariance."""
        if self.covariance_estimator is not None:
            if self.shrinkage:
                raise ParameterError(
                    f"shrinkage={self.shrinkage!r} with covariance_estimator",
                    "both say how a covariance is estimated",
                    "leave one of them out",
                )
            return shrinkage_of(self.covariance_estimator)
        fraction = 0.0 if self.shrinkage is None else self.shrinkage
        if not (fraction == "auto" or (isinstance(fraction, Real) and 0 <= float(fraction) <= 1)):
            raise ParameterError(
                f"shrinkage={fraction!r}",
                "shrinkage is None, a number from 0 to 1, or 'auto'",
            )
        return "ledoit-wolf" if fraction == "auto" else float(fraction)

    def _prior(self) -> Prior:
        if self.priors is None or isinstance(self.priors, str):
            return cast(Prior, self.priors or "empirical")
        total = self._sum_of_priors
        if total is None or abs(total - 1) < 1e-9:
            return cast(Prior, self.priors)
        if isinstance(self.priors, Mapping):
            return {label: given / total for label, given in self.priors.items()}
        return cast(Prior, (np.asarray(self.priors, float) / total).tolist())

    @property
    def _sum_of_priors(self) -> float | None:
        """Σ of the priors given; None where there are none, or they are no weights of classes.

        Raises
        ------
        ParameterError
            If one is negative.
        """
        given = self.priors
        try:
            values = np.asarray(
                list(given.values()) if isinstance(given, Mapping) else given, float
            )
        except (OverflowError, TypeError, ValueError):
            return None  # refused where the classes are known
        if (values < 0).any():
            raise ParameterError(f"priors={values.tolist()}", "priors must be non-negative")
        total = float(values.sum())
        return total if given is not None and 0 < total < np.inf else None

    def _warnings(self) -> Iterator[str]:
        yield from super()._warnings()
        total = self._sum_of_priors
        if total is not None and abs(total - 1) >= 1e-9:
            yield f"the priors do not sum to 1 but to {total:g}: each is divided by that."

    @property
    def terms_(self) -> tuple[str, ...]:
        """Names of the p numbers that a row becomes: a column, or ``column[value]``."""
        (part,) = self.model_.parts
        return tuple(part.terms)

    @property
    def _factored(self) -> FactoredGaussians:
        return cast(FactoredGaussians, self._estimates.factored)

    @property
    def n_iter_(self) -> int:
        """Steps of expectation-maximisation; 0 where no cell was missing."""
        return len(self._estimates.course.log_likelihood)

    @property
    def converged_(self) -> bool:
        """Whether expectation-maximisation converged."""
        return bool(self._estimates.course.converged)

    @property
    def priors_(self) -> NDArray[np.float64]:
        """P(c), (k,)."""
        return self.class_prior_

    @property
    def means_(self) -> NDArray[np.float64]:
        """Means (k, d)."""
        return self._factored.mean

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return δ_c(x), log P(c | x) up to a term that all classes share, (n, k).

        With two classes, log P(c₂ | x) − log P(c₁ | x), (n,).
        """
        if len(self._fitted().classes) > 2:
            return self._in_precision(X, self._discriminants(X))
        logs = self._predictions(X, discriminants)
        return self._in_precision(X, np.asarray(logs[:, -1] - logs[:, 0]))

    @abstractmethod
    def _discriminants(self, X: Any) -> NDArray[np.float64]:
        """δ_c(x) on scikit-learn's level, (n, k)."""


def on_axes(
    part: Part, params: tuple[GenerativeModel, NDArray[np.float64], NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Kernel of a transform: (x − origin) axes of the rows of a part, batch by batch."""
    model, origin, axes = params
    (parameters,) = model.parameters
    factored = cast(MultivariateGaussianParameters | TermParameters, parameters).factored
    terms = origin, np.ascontiguousarray(axes.T), np.zeros(axes.shape[1])

    def one(batch: Batch) -> NDArray[np.float64]:
        values = model.parts[0].numbers(batch.blocks[0])
        require_held(values)
        x = np.ascontiguousarray(values, np.float64)
        out = scores(len(x), axes.shape[1], 0.0)
        rest = add_complete(kernels.linear.add_complete, x, terms, out)
        if len(rest):
            probabilities, _ = posterior(model, batch, None)
            filled = fill(
                x[rest], linear(probabilities[rest], factored.mean), factored.covariance[0]
            )
            out[rest] = affine(filled, *terms)
        return out

    return list(each_batch(part, model.layout, one))


def one_of_two(by_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of two classes (1, ...), or the values of all others (k, ...)."""
    return by_class[1:] - by_class[:1] if len(by_class) == 2 else by_class


def shrinkage_of(estimator: Any) -> Shrinkage:
    """The shrinkage that an object of `sklearn.covariance` stands for.

    Raises
    ------
    ParameterError
        If it stands for none.
    """
    if not is_covariance(estimator) or estimator.assume_centered:
        raise ParameterError(
            f"covariance_estimator={estimator!r}",
            f"covariances follow from exact sums, not from rows; {', '.join(COVARIANCES)} of "
            "sklearn.covariance are understood, without assume_centered",
            "use shrinkage",
        )
    if type(estimator).__name__ == "LedoitWolf":
        return "ledoit-wolf"
    return cast(float, getattr(estimator, "shrinkage", 0.0))


def require_rows_of_a_class(statistic: ByClass) -> None:
    """Refuse one row of every class, unless all of them are alike.

    Raises
    ------
    DataError
        Saying so.
    """
    columns, k = _columns(statistic), len(statistic.classes.values)
    if columns.rows <= k and _differ(_means(columns)) and not _vary(columns).any():
        raise DataError(
            f"{columns.rows:g} rows of {k} classes",
            "The number of samples must be more than the number of classes: the covariance is that "
            "of rows within classes",
            "add rows",
        )


def require_rows_of_each_class(statistic: ByClass) -> None:
    """Refuse a class of one row, unless all rows of all classes are alike.

    Raises
    ------
    DataError
        Naming the class.
    """
    columns = _columns(statistic)
    vary = _vary(columns)
    if not (vary.any() or _differ(_means(columns))):
        return
    weight = statistic.weight.value
    for label, rows, several in zip(statistic.classes.values, weight, vary, strict=True):
        if 0 < rows <= 1 and not several:
            raise DataError(
                f"y has only 1 sample in class {label!r}",
                "covariance is ill defined: it is that of the rows of each class",
                "add rows, leave the class out, or share one covariance with "
                "LinearDiscriminantAnalysis",
            )


def _columns(statistic: ByClass) -> Comoments:
    """The co-moments of the one block."""
    (block,) = statistic.blocks
    columns: Comoments = block.columns
    return columns


def _vary(columns: Comoments) -> NDArray[np.bool_]:
    """Whether the rows of a class differ in a column, (k,); of pooled products, those of some."""
    squares = np.diagonal(columns.scatter.value, axis1=1, axis2=2)
    within = np.append((squares > 0).any(axis=1), False)[columns.product_index]
    vary = np.zeros(columns.k, bool)
    vary[columns.code[within]] = True
    means = _means(columns)
    for c in range(columns.k):
        vary[c] |= _differ(means[columns.code == c])
    return vary


def _means(columns: Comoments) -> NDArray[np.float64]:
    """The mean of every group of rows, (g, d); NaN in the columns that it does not show."""
    return np.where(columns.patterns[columns.pattern], columns.mean.value, np.nan)


def _differ(rows: NDArray[np.float64]) -> bool:
    """Whether rows differ in a column that both show."""
    return len(rows) > 1 and bool((np.fmax.reduce(rows) > np.fmin.reduce(rows)).any())
