"""What is known of all classes together: their prior, and how each of them looks."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.masked_arrays import unmasked
from suffice.data.python_numbers import require_faithful
from suffice.data.schema import Numbered
from suffice.errors import DataError, ParameterError, SufficeError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.bayes_risk.densities import Density
from suffice.models.bayes_risk.fitted_densities import independent_columns
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.logspace import safe_log, scores

__all__ = ["ClassDensities", "FittedDensities", "KnownDensities"]


class ClassDensities(Protocol):
    """Class prior and class-conditional distributions, known or fitted."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """The k labels."""
        ...

    @property
    def prior(self) -> NDArray[np.float64]:
        """P(c), (k,)."""
        ...

    def log_joint(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, c), (n, k); infinite where a density is."""
        ...

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> Any:
        """Draw one row for every class code: rows that `log_joint` reads."""
        ...

    def known(self) -> KnownDensities | None:
        """Known densities of the same Bayes risk; None where no exact method could be of use."""
        ...


@dataclass(frozen=True)
class KnownDensities:
    """One distribution per class.

    Raises
    ------
    ParameterError
        If the distributions of two classes are not about the same columns.
    """

    classes: tuple[Any, ...]
    prior: NDArray[np.float64]
    densities: tuple[Density, ...]

    def __post_init__(self) -> None:
        label, first = self.classes[0], self.densities[0]
        for other, here in zip(self.classes[1:], self.densities[1:], strict=True):
            if first.d and here.d and first.d != here.d:
                raise ParameterError(
                    f"class {label!r} has {first.d} columns, class {other!r} has {here.d}",
                    "all classes describe the same columns",
                )
            pairs = zip(first.discrete, here.discrete, strict=False)
            for j, (mass, mass_here) in enumerate(pairs):
                if mass != mass_here:
                    kind = {True: "a probability mass (logpmf)", False: "a density (logpdf)"}
                    raise ParameterError(
                        f"column {j}: class {label!r} has {kind[mass]}, "
                        f"class {other!r} {kind[mass_here]}",
                        "a mass and a density cannot be compared",
                        "give all classes the same kind of distribution",
                    )

    @property
    def d(self) -> int | None:
        """Number of columns, if any class tells."""
        return next((here.d for here in self.densities if here.d), None)

    def known(self) -> KnownDensities:
        """These."""
        return self

    def possible(self) -> KnownDensities:
        """The classes whose prior is not 0."""
        kept = np.flatnonzero(self.prior)
        return KnownDensities(
            tuple(self.classes[c] for c in kept),
            self.prior[kept],
            tuple(self.densities[c] for c in kept),
        )

    def log_joint(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c) + log p(x | c), (n, k).

        Raises
        ------
        DataError
            If a cell is no finite number, or missing where it cannot be left out.
        ParameterError
            If a density is not a number.
        """
        return self.joint_of(self.rows(X))

    def joint_of(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """As `log_joint`, of rows (n, d) that need no check."""
        out = scores(len(rows), len(self.classes), -np.inf)
        if not len(rows):
            return out
        for c in np.flatnonzero(self.prior):
            with np.errstate(all="ignore"):
                log = self._asked(c, self.densities[c].log_density, rows)
            nan = np.flatnonzero(np.isnan(log))
            if len(nan):
                raise ParameterError(
                    f"the log density of class {self.classes[c]!r} at row {nan[0]}, "
                    f"{rows[nan[0]].tolist()}, is NaN",
                    "a density is a number everywhere",
                    "check its parameters",
                )
            out[:, c] = safe_log(self.prior[c]) + log
        return out

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw one row for every class code, (n, d).

        Raises
        ------
        ParameterError
            If a distribution cannot be drawn from.
        """
        rows = np.empty((len(codes), self.d or 1))
        for c in np.unique(codes):
            here = codes == c
            rows[here] = self._asked(c, self.densities[c].sample, int(here.sum()), rng)
        return rows

    def _asked(self, c: Any, method: Callable[..., NDArray[np.float64]], *args: Any) -> Any:
        """Call a method of a distribution; what goes wrong there becomes a sentence."""
        try:
            return method(*args)
        except SufficeError:
            raise
        except (AttributeError, TypeError, ValueError) as error:
            name = "log density" if method.__name__ == "log_density" else "sample"
            raise ParameterError(
                f"class {self.classes[c]!r} gives no {name}: {error}",
                "a distribution has `logpdf` or `logpmf` of rows (n, d), and `rvs` to be sampled",
            ) from error

    def rows(self, X: Any) -> NDArray[np.float64]:
        """Check a table, (n, d); one-dimensional values are the rows of a single column."""
        if hasattr(X, "toarray"):  # a sparse matrix
            X = X.toarray()
        try:
            rows = np.asarray(unmasked(X, numeric=True), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"X: {error}", "known densities are about numbers") from None
        require_faithful(X, rows, lambda at: f"column 'x{sum(at[1:])}', row {sum(at[:1])}")
        if rows.ndim == 1 and self.d in (1, None):
            rows = rows[:, None]
        if rows.ndim != 2 or self.d not in (rows.shape[1], None):
            raise DataError(
                f"X has shape {rows.shape}",
                f"the densities are about rows of {self.d or 'd'} numbers",
            )
        leaves_out = all(here.leaves_out for here in self.densities)
        bad = np.argwhere(np.isinf(rows) if leaves_out else ~np.isfinite(rows))
        if len(bad):
            i, j = bad[0]
            where = f"column {Numbered(rows.shape[1])[j]!r}, row {i}: {rows[i, j]}"
            if np.isinf(rows[i, j]):
                raise DataError(where, "a number must be finite")
            raise DataError(
                where,
                "a known density cannot leave a missing cell out",
                "drop the row, or give every class a tuple of independent columns",
            )
        return rows


@dataclass(frozen=True)
class FittedDensities:
    """What a fitted generative model knows."""

    model: GenerativeClassifier

    @classmethod
    def of(cls, model: GenerativeClassifier) -> FittedDensities:
        """Check that a model is fitted and its scores are probabilities.

        Raises
        ------
        ParameterError
            If they are not.
        """
        check_is_fitted(model)
        for part in model.parts_:
            if not part.family.is_distribution:
                raise ParameterError(
                    f"{model!r}: {part.family} is no distribution",
                    "its scores are no likelihood, so there is no Bayes-optimal decision",
                    "use a model that is generative, such as NaiveBayes",
                )
        return cls(model)

    def with_prior(self, prior: NDArray[np.float64]) -> FittedDensities:
        """The same class-conditional distributions under another class prior."""
        model = copy(self.model)
        model.model_ = replace(model.model_, prior=prior)
        return FittedDensities(model)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels of the model."""
        return tuple(self.model.classes_.tolist())

    @property
    def prior(self) -> NDArray[np.float64]:
        """P(c) of the model."""
        return self.model.class_prior_

    def log_joint(self, X: Any) -> NDArray[np.float64]:
        """Return the model's log P(x, c), (n, k); rows drawn by `sample` are a table, too."""
        return self.model.predict_joint_log_proba(pa.table(X) if isinstance(X, dict) else X)

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw rows as the model does: one array per column."""
        drawn: dict[str, NDArray[Any]] = self.model.model_.sample(codes, rng)
        return drawn

    def known(self) -> KnownDensities | None:
        """Independent columns that tell as much of the classes, if there are any."""
        columns = independent_columns(self.model.model_.parameters, len(self.classes))
        return None if columns is None else KnownDensities(self.classes, self.prior, columns)
