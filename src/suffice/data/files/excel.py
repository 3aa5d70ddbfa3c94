"""Excel and OpenDocument workbooks: the first sheet with rows, read by python-calamine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.data.files.parsed import ParsedSplit, parsed_format
from suffice.data.files.stored import StoredFormat
from suffice.data.missing_tokens import IN_WORKBOOKS
from suffice.errors import ParameterError, ReadError

__all__ = []

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class ExcelSplit(ParsedSplit):
    """The rows of a sheet."""

    kind = "a workbook"

    @staticmethod
    def parse(path: Path, *more: str) -> pa.Table:
        """Read a sheet, or the only one with rows; its first row holds names of columns."""
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
        return _table(_chosen(path.name, sheets, *more))


def _chosen(name: str, sheets: Mapping[str, Rows], sheet: str | None = None) -> Rows:
    """The rows of a sheet by its name, or by its place from 1; without either the only ones."""
    filled = {title: rows for title, rows in sheets.items() if rows}
    found = ", ".join(map(repr, filled)) or "none"
    if sheet is not None:
        titles = list(sheets)
        if sheet not in sheets and sheet.isdecimal() and 0 < int(sheet) <= len(titles):
            sheet = titles[int(sheet) - 1]
        if sheet not in filled:
            raise ReadError(
                f"{name} has no sheet {sheet!r} with rows", f"those that have rows are: {found}"
            )
        return filled[sheet]
    if not filled:
        raise ReadError(f"{name} has no sheet with rows", "", "check how it was written")
    if len(filled) > 1:
        raise ReadError(
            f"{name} has several sheets with rows: {found}",
            "one of them is the table",
            f"say which with sheet={next(iter(filled))!r}",
        )
    return next(iter(filled.values()))


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
    values = [None if str(cell).strip() in IN_WORKBOOKS else cell for cell in cells]
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


def with_sheet(sheet: str | int) -> StoredFormat:
    """The format of workbooks of which one sheet is meant."""
    return parsed_format(ExcelSplit, str(sheet))
