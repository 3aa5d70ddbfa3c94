"""Models of groups of rows, from the sums of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from suffice.models.grouped_sums import GroupedSums


@dataclass(frozen=True, eq=False, repr=False)
class GroupedModels(Mapping[Any, Any]):
    """A model for every group of rows.

    Parameters
    ----------
    sums : GroupedSums
        By group.
    estimator : FittedFromSums
        The options, not fitted.
    pooled : object
        The model of all rows, whose choices of families are those of every group; None where
        nothing is chosen.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from suffice import LinearRegression
    >>> rows = pa.table({"shop": ["a"] * 4 + ["b"] * 4, "x": [1.0, 2, 3, 4] * 2,
    ...                  "y": [2.0, 4, 6, 8, 3, 4, 6, 7]})
    >>> sums = LinearRegression().sums(rows, "y", by="shop")
    >>> models = LinearRegression().fit_each(sums)
    >>> models["b"].predict({"x": [5.0]})
    array([8.5])
    >>> models.table().column("x").to_pylist()
    [2.0, 1.4]
    """

    sums: GroupedSums
    estimator: Any
    pooled: Any = None

    def __getitem__(self, key: Any) -> Any:
        """Return the fitted estimator of a group; its errors are those of a fit to its rows."""
        found = self.estimator.unfitted().fit(self.sums[key])
        if self.pooled is not None:
            found.model_ = found.method().chosen_as(found.model_, self.pooled)
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sums)

    def __len__(self) -> int:
        return len(self.sums)

    def __repr__(self) -> str:
        name = type(self.estimator).__name__
        return f"{len(self):,} {name} models by {', '.join(self.sums.by)}"

    def table(self) -> pa.Table:
        """Return an Arrow table with a row for every group.

        Its first columns are the keys, then ``n``, the weight of the rows. Of a linear model follow
        the coefficients, under the names of their terms, the standard errors (``se_`` before the
        name), ``r_squared``; with several targets, each name ends with that of its target. What the
        rows of a group do not determine is null, as errors are where there are no more rows than
        coefficients. Of a classifier follows the weight of the rows of every class.
        """
        keys = dict(zip(self.sums.by, self.sums.keys.columns, strict=True))
        return pa.table({**keys, **self.estimator._columns_of(self.sums)})
