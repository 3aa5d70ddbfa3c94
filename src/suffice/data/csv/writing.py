"""Cells in the way that a delimited text has them, so that they are read again as they were."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.csv.format import CsvFormat
from suffice.data.notation import Dates, Marked, Notation, notation_named

__all__ = ["as_written"]


def as_written(table: pa.Table, format: CsvFormat) -> pa.Table:
    """The same table with text in the place of numbers and times that a format writes otherwise.

    Examples
    --------
    >>> table = pa.table({"day": [0.5], "price": [-2.5]})
    >>> as_written(table, CsvFormat(decimal=",", written={"price": "$1"})).to_pylist()
    [{'day': '0,5', 'price': '-$2,5'}]
    """
    written = {name: notation_named(spelling) for name, spelling in dict(format.written).items()}
    columns = {
        name: _text(table[name].combine_chunks(), written.get(name), format.decimal or ".")
        for name in table.column_names
    }
    return pa.table(columns)


def _text(cells: pa.Array[Any], notation: Notation | None, decimal: str) -> pa.Array[Any]:
    if isinstance(notation, Dates) and pa.types.is_temporal(cells.type):
        return _dates(cells, notation)
    if not pa.types.is_floating(cells.type):
        return cells
    mark = notation if isinstance(notation, Marked) else Marked("", leads=True)
    if not mark.mark and decimal == ".":
        return cells
    return pa.array([_number(cell, mark, decimal) for cell in cells.to_pylist()], pa.string())


def _dates(cells: pa.Array[Any], notation: Dates) -> pa.Array[Any]:
    order = notation.date.replace("YYYY", "%Y").replace("MM", "%m").replace("DD", "%d")
    clock, zone = (" %H:%M:%S" if notation.time else ""), ("Z" if "Z" in notation.time else "")
    return pc.strftime(pc.cast(cells, pa.timestamp("s"), safe=False), order + clock + zone)


def _number(cell: float | None, mark: Marked, decimal: str) -> str | None:
    if cell is None:
        return None
    digits = repr(abs(cell)).replace(".", decimal)
    sign = "-" if cell < 0 else ""
    return f"{sign}{mark.mark}{digits}" if mark.leads else f"{sign}{digits}{mark.mark}"
