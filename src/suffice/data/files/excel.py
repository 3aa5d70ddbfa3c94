"""Excel and OpenDocument workbooks: the first sheet with rows, read by python-calamine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.data.files.parsed import ParsedSplit, parsed_format
from suffice.errors import ParameterError

__all__ = []

_NO_VALUE = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None")


@dataclass(frozen=True)
class ExcelSplit(ParsedSplit):
    """The rows of a sheet."""

    kind = "a workbook"

    @staticmethod
    def parse(path: Path) -> pa.Table:
        """Read the only sheet that has rows; its first row holds the names of the columns."""
        try:
            import python_calamine as calamine
        except ImportError:
            raise ParameterError(
                f"{path.name} is a workbook",
                "python-calamine, which reads it, is not installed",
                "pip install 'suffice[excel]'",
            ) from None
        try:
            book = calamine.CalamineWorkbook.from_path(str(path))
            sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
        except calamine.CalamineError as error:
            raise pa.ArrowInvalid(str(error)) from error
        filled = {name: rows for name, rows in sheets.items() if rows}
        if len(filled) != 1:
            found = ", ".join(map(repr, filled)) or "none"
            raise pa.ArrowInvalid(
                f"one sheet has to have rows, and these have: {found}; save the one that is meant "
                "in a file of its own"
            )
        return _table(*filled.values())


def _table(rows: Sequence[Sequence[Any]]) -> pa.Table:
    names = [_name(cell, place) for place, cell in enumerate(rows[0], start=1)]
    columns = [_column([row[j] for row in rows[1:]]) for j in range(len(names))]
    return pa.Table.from_arrays(columns, names=names)


def _name(cell: Any, place: int) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip() or f"column_{place}"


def _column(cells: Sequence[Any]) -> pa.Array[Any]:
    """The cells of a column in the type that holds them all; a workbook has no column types."""
    values = [None if str(cell).strip() in _NO_VALUE else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and kinds:
        numbers = [None if value is None else float(value) for value in values]
        whole = all(value is None or value.is_integer() for value in numbers)
        return pa.array(numbers, pa.float64()).cast(pa.int64() if whole else pa.float64())
    if kinds <= {date, datetime} and kinds:
        return pa.array([None if value is None else _moment(value) for value in values])
    if len(kinds) <= 1 and not kinds & {time, timedelta}:
        return pa.array(values)
    return pa.array([None if value is None else _written(value) for value in values], pa.string())


def _moment(value: date | datetime) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def _written(value: Any) -> str:
    """A cell among cells of other kinds, as the sheet shows it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


EXCEL = parsed_format(ExcelSplit)
