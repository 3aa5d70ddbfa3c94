"""Linear and quadratic discriminant analysis: their method, and what they say of it alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout
from suffice.data.source import ArraySource
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian import (
    FactoredGaussians,
    MultivariateGaussianParameters,
    Shrinkage,
    add_complete,
    fill,
)
from suffice.models.base.saved import COVARIANCES, is_covariance
from suffice.models.design.feature_columns import Predictors, features, is_coded, settled_design
from suffice.models.estimator import fitted
from suffice.models.generative.classifier import Rows, as_asked
from suffice.models.generative.method import Choice, GenerativeMethod, OneFamilyMethod
from suffice.models.generative.model import GenerativeModel, Prior
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.row_answers import discriminants, posterior
from suffice.models.generative.terms import TermParameters
from suffice.numerics import kernels
from suffice.numerics.logspace import scores
from suffice.numerics.rows import affine, linear
from suffice.rules import Within, check_options
from suffice.sums.batch import Batch
from suffice.sums.block import require_held
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments
from suffice.sums.kept_rows import Roots

OF_COVARIANCES = "reg_param", "shrinkage", "covariance_estimator"
Share: TypeAlias = Annotated[float | Literal["auto"] | None, Within(0, 1)]
"""Share of the diagonal in a covariance; "auto" is that of Ledoit and Wolf."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DiscriminantMethod(OneFamilyMethod):
    """All columns, or the terms that they become, in one Gaussian of every class."""

    categorical: Sequence[str] | None = None  # columns of numbers that are categories
    priors_sum: float | None = None  # what the given priors added up to, if not to 1
    n_components: int | None = None  # how many axes are asked for

    fewest_classes = 2

    def columns(self, rows: Rows, engine: Engine) -> Choice:
        if isinstance(rows, ArraySource) and not self.categorical:
            return super().columns(rows, engine)
        found = features(rows, Predictors(categorical=self.categorical, words="counted"))
        for column in found.columns:
            if column.kind == "text":
                raise SchemaError(
                    f"column {column.name!r} holds text: {column.reason}",
                    f"{self.name} takes numbers and categories",
                    "leave the column out",
                )
        if not any(map(is_coded, found.columns)):
            return super().columns(rows, engine)
        design = settled_design(rows, found, engine, with_missing=True)
        names = tuple(column.name for column in found.columns)
        part = FamilyColumns(self.of_terms, BlockLayout("mixed", names), design)
        return found.columns, (part,)

    @property
    def of_terms(self) -> MultivariateGaussian:
        """The family of terms: indicators nearly determine each other.

        More iterations take long, and predict worse.
        """
        return replace(cast(MultivariateGaussian, self.family), max_iter=0)

    def adopted(self, reader: GenerativeReader) -> GenerativeReader:
        found = super().adopted(reader)
        if all(part.design is None for part in found.parts):
            return found
        return replace(found, parts=tuple([replace(p, family=self.of_terms) for p in found.parts]))

    def require(self, sums: ByClass, rows: Rows | None = None) -> None:
        super().require(sums, rows)
        family = cast(MultivariateGaussian, self.family)
        if family.ddof == 0:  # otherwise such a class has the covariance of all rows
            require_spread(sums, family.shared)
        check_axes(self.n_components, len(sums.classes), columns_of(sums).d)

    def remarks(self, model: GenerativeModel, of_rows: bool) -> Iterator[str]:
        yield from super().remarks(model, of_rows)
        if self.priors_sum is not None:
            yield f"the priors do not sum to 1 but to {self.priors_sum:g}: each is divided by that."


def discriminant_method(
    estimator: Any, pooling: float, solvers: tuple[str, ...], **more: Any
) -> GenerativeMethod:
    """Return the method of a discriminant analysis, of options that are checked."""
    if estimator.solver not in solvers:
        raise ParameterError(
            f"solver={estimator.solver!r}", f"solver is one of {', '.join(map(repr, solvers))}"
        )
    check_options(estimator)
    shrinkage, ddof = chosen_shrinkage(estimator), estimator.ddof
    family = MultivariateGaussian("mle", pooling=pooling, shrinkage=shrinkage, ddof=ddof)
    prior, total = divided_priors(estimator.priors)
    return DiscriminantMethod(
        family=family,
        name=type(estimator).__name__,
        prior=prior,
        class_weight=estimator.class_weight,
        option="priors",
        categorical=estimator.categorical,
        priors_sum=total,
        **more,
    )


def chosen_shrinkage(estimator: Any) -> Shrinkage:
    """Return the share of the diagonal in the covariance."""
    options: dict[str, Any] = {name: getattr(estimator, name, None) for name in OF_COVARIANCES}
    given = [name for name, value in options.items() if value is not None and value != 0]
    if len(given) > 1:
        raise ParameterError(
            f"{given[0]}={options[given[0]]!r} with {given[1]}",
            "both say how a covariance is estimated",
            "leave one of them out",
        )
    if given != ["covariance_estimator"]:
        share = options[given[0]] if given else 0.0
        return "ledoit-wolf" if share == "auto" else float(share)
    covariance = estimator.covariance_estimator
    if not is_covariance(covariance) or covariance.assume_centered:
        raise ParameterError(
            f"covariance_estimator={covariance!r}",
            f"covariances follow from exact sums, not from rows; {', '.join(COVARIANCES)} of "
            "sklearn.covariance are understood, without assume_centered",
            "use shrinkage",
        )
    if type(covariance).__name__ == "LedoitWolf":
        return "ledoit-wolf"
    return cast(float, getattr(covariance, "shrinkage", 0.0))


def divided_priors(given: Any) -> tuple[Prior, float | None]:
    """Return the priors, each divided by their sum, and this sum; None where they have none."""
    if given is None or isinstance(given, str):
        return cast(Prior, given or "empirical"), None
    try:
        values = np.asarray(list(given.values()) if isinstance(given, Mapping) else given, float)
    except (OverflowError, TypeError, ValueError):
        return given, None  # refused where the classes are known
    if (values < 0).any():
        raise ParameterError(f"priors={values.tolist()}", "priors must be non-negative")
    total = float(values.sum())
    if not 0 < total < np.inf or abs(total - 1) < 1e-9:
        return given, None
    divided = (values / total).tolist()
    return dict(zip(given, divided, strict=True)) if isinstance(given, Mapping) else divided, total


def check_axes(asked: int | None, classes: int, columns: int) -> int:
    """Refuse more axes than there can be, and say how many these are."""
    most = min(classes - 1, columns)
    if asked is not None and asked > most:
        raise ParameterError(
            f"n_components={asked!r}",
            f"n_components cannot be larger than {most}: so many axes divide "
            f"{classes} classes of {columns} columns",
        )
    return most


# -- fitted attributes of both


def terms_of(estimator: Any) -> tuple[str, ...]:
    """Names of the p numbers that a row becomes: a column, or ``column[value]``."""
    (part,) = estimator.model_.parts
    return tuple(part.terms)


def factored_of(estimator: Any) -> FactoredGaussians:
    (parameters,) = estimator.model_.parameters
    return cast(FactoredGaussians, parameters.factored)


def n_iter_of(estimator: Any) -> int:
    """Steps of expectation-maximisation; 0 where no cell was missing."""
    (parameters,) = estimator.model_.parameters
    return len(parameters.course.log_likelihood)


def converged_of(estimator: Any) -> bool:
    (parameters,) = estimator.model_.parameters
    return bool(parameters.course.converged)


def means_of(estimator: Any) -> NDArray[np.float64]:
    """Means (k, d)."""
    return factored_of(estimator).mean


def decisions(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return δ_c(x), log P(c | x) up to a term that all classes share, (n, k).

    With two classes, log P(c₂ | x) − log P(c₁ | x), (n,).
    """
    if len(fitted(estimator).classes) > 2:
        return as_asked(estimator, X, estimator._discriminants(X))
    logs = estimator._predictions(X, discriminants)
    return as_asked(estimator, X, np.asarray(logs[:, -1] - logs[:, 0]))


def on_axes(
    model: GenerativeModel, origin: NDArray[np.float64], axes: NDArray[np.float64], batch: Batch
) -> NDArray[np.float64]:
    """Return (x − origin) axes of the rows of a batch."""
    (parameters,) = model.parameters
    factored = cast(MultivariateGaussianParameters | TermParameters, parameters).factored
    terms = origin, np.ascontiguousarray(axes.T), np.zeros(axes.shape[1])
    values = model.parts[0].numbers(batch.blocks[0])
    require_held(values)
    x = np.ascontiguousarray(values, np.float64)
    out = scores(len(x), axes.shape[1], 0.0)
    rest = add_complete(kernels.linear.add_complete, x, terms, out)
    if len(rest):
        probabilities, _ = posterior(model, batch)
        filled = fill(x[rest], linear(probabilities[rest], factored.mean), factored.covariance[0])
        out[rest] = affine(filled, *terms)
    return out


def one_of_two(by_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of two classes (1, ...), or the values of all others (k, ...)."""
    return by_class[1:] - by_class[:1] if len(by_class) == 2 else by_class


def require_spread(statistic: ByClass, pooled: bool) -> None:
    """Refuse one row of every class, or of a class, unless all rows of all classes are alike."""
    weight, k = statistic.weight.value, len(statistic.classes.values)
    if (weight.sum() > k) if pooled else (weight > 1).all():
        return
    columns = columns_of(statistic)
    vary = _vary(columns)
    if not (vary.any() or _differ(_means(columns))):
        return
    if pooled and not vary.any():
        raise DataError(
            f"{weight.sum():g} rows of {k} classes",
            "The number of samples must be more than the number of classes: the covariance is that "
            "of rows within classes",
            "add rows",
        )
    for label, rows, several in zip(statistic.classes.values, weight, vary, strict=True):
        if 0 < rows <= 1 and not (several or pooled):
            raise DataError(
                f"y has only 1 sample in class {label!r}",
                "covariance is ill defined: it is that of the rows of each class",
                "add rows, leave the class out, or share one covariance with "
                "LinearDiscriminantAnalysis",
            )


def columns_of(statistic: ByClass) -> Comoments | Roots:
    (block,) = statistic.blocks
    columns: Comoments | Roots = block.columns
    return columns


def _vary(columns: Comoments | Roots) -> NDArray[np.bool_]:
    """Return which columns vary within a class, (k,); of pooled products, within some class."""
    if isinstance(columns, Roots):
        return (columns.sd > 0).any(axis=1) & (columns.weight > 0)
    squares = np.diagonal(columns.scatter.value, axis1=1, axis2=2)
    within = np.append((squares > 0).any(axis=1), False)[columns.product_index]
    vary = np.zeros(columns.k, bool)
    vary[columns.code[within]] = True
    means = _means(columns)
    for c in range(columns.k):
        vary[c] |= _differ(means[columns.code == c])
    return vary


def _means(columns: Comoments | Roots) -> NDArray[np.float64]:
    """The mean of every group of rows, (g, d); NaN in the columns that it does not show."""
    if isinstance(columns, Roots):
        return columns.mean[columns.code]
    mean: Any = columns.mean
    return np.where(columns.patterns[columns.pattern], mean.value, np.nan)


def _differ(rows: NDArray[np.float64]) -> bool:
    return len(rows) > 1 and bool((np.fmax.reduce(rows) > np.fmin.reduce(rows)).any())
