"""Sums as objects: of all rows, or one for every group of rows."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from suffice.errors import ParameterError
from suffice.models.base.saved import portable
from suffice.persist import write_model
from suffice.sums.kept_rows import KeptRows
from suffice.sums.keys import KeyColumn, Keys
from suffice.sums.row_sample import Sampled
from suffice.tree import named

KIND = " sums"  # what follows the name of an estimator in the kind of a file
TYPES = named(KeyColumn)


@dataclass(frozen=True, eq=False, repr=False)
class GroupedSums:
    """The sufficient statistics that an estimator is fitted from, without the rows.

    `sums` of an estimator makes them, and its `fit` takes them in the place of a table.

    Parameters
    ----------
    estimator : FittedFromSums
        The options, not fitted.
    reader : SumsReader
        How tables are read.
    keys : Keys
        Of the groups.
    sums : KeptSums
        The sums.
    named : bool
        Whether columns have names.

    Examples
    --------
    >>> from suffice import LinearRegression
    >>> sums = LinearRegression().sums([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> LinearRegression().fit(sums).coef_
    array([2.])
    """

    estimator: Any
    reader: Any
    keys: Keys
    sums: Any
    named: bool

    @property
    def by(self) -> tuple[str, ...]:
        """The columns whose values are the keys of the groups."""
        return self.keys.names

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupedSums):
            return NotImplemented
        return self.keys == other.keys and bool(self.sums == other.sums)

    __hash__ = None  # type: ignore[assignment]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the sums to a file that `suffice.load` reads; there are no rows in it.

        Raises
        ------
        ModelFileError
            If the file cannot be written. A file that was there before is left as it was.
        ParameterError
            If the sums are the rows themselves, as those of a wide table are.
        """
        if isinstance(self.sums, KeptRows):
            raise ParameterError(
                "the sums of a wide table are its rows",
                "no file keeps rows",
                "save the model instead, which has its coefficients",
            )
        sums = self.sums.plain if isinstance(self.sums, Sampled) else self.sums
        content = {**self.entries(), "sums": sums, "keys": self.keys.saved()}
        types = {**self.estimator.kind.types, **TYPES}
        write_model(path, f"{type(self.estimator).__name__}{KIND}", content, types=types)

    def entries(self) -> dict[str, Any]:
        """Return what a file holds besides the sums: options, and how tables are read."""
        return {
            "params": portable(self.estimator.get_params(deep=False)),
            "layout": self.reader.layout,
            "format": self.reader.format,
            "named": self.named,
            "single_precision": self.reader.single,
            **self.estimator._kept_reader(self.reader),
        }

    def alone(self) -> Any:
        """Return the sums of the only group."""
        if self.by:
            raise ParameterError(
                f"the sums are by {', '.join(map(repr, self.by))}",
                "a model is fitted to the sums of one group",
                "take sums.total() or sums[key], or fit_each",
            )
        return self.sums
