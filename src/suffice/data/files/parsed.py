"""Files that are read whole, and say what their cells are: JSON, ARFF, Excel, OpenDocument."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.json as arrow_json

from suffice.data.files.stored import StoredFormat, StoredPart
from suffice.data.files.version import FileVersion, version_of
from suffice.data.missing_tokens import IN_WORKBOOKS
from suffice.data.table import BATCH_ROWS
from suffice.errors import ParameterError, ReadError

__all__ = ["ARFF", "EXCEL", "JSON", "with_sheet"]


@dataclass(frozen=True)
class ParsedPart(StoredPart):
    """The rows of a file that is parsed whole, once in every process."""

    more: tuple[str, ...] = ()  # what else is to be known of the file, such as its sheet

    @staticmethod
    @abstractmethod
    def parse(path: Path, *more: str) -> pa.Table:
        """Read the file.

        Raises
        ------
        pyarrow.ArrowInvalid
            If it is not what its format demands.
        """

    def _stored(self) -> Iterator[pa.RecordBatch]:
        whole = _parsed(self.parse, self.path, self.version, self.more)
        yield from whole.select([name for name, _ in self.types]).to_batches(BATCH_ROWS)

    def _rows_before(self) -> int:
        return 0


@dataclass(frozen=True)
class ParsedFormat(StoredFormat):
    """A format whose files are parsed whole."""

    more: tuple[str, ...] = ()

    def read(self, path: Path) -> tuple[pa.Schema, list[StoredPart]]:
        """Return the schema of a file, and its only part."""
        schema, parts = super().read(path)
        return schema, [replace(cast(ParsedPart, part), more=self.more) for part in parts]


def parsed_format(part: type[ParsedPart], *more: str) -> StoredFormat:
    """The format of files that a part parses, with what else is to be known of them."""

    def inspect(path: Path) -> tuple[pa.Schema, Sequence[int | None]]:
        whole = _parsed(part.parse, path, version_of(path), more)
        return whole.schema, [whole.num_rows]

    return ParsedFormat(part, inspect, more)


@lru_cache(maxsize=4)
def _parsed(
    parse: Callable[..., pa.Table], path: Path, version: FileVersion | None, more: tuple[str, ...]
) -> pa.Table:
    """The rows of one version of a file; those of a few files are kept for later passes."""
    return parse(path, *more).combine_chunks()


# JSON --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JsonPart(ParsedPart):
    """The rows of a JSON file."""

    kind = "JSON"

    @staticmethod
    def parse(path: Path, *more: str) -> pa.Table:
        """Read the file; a key that an object lacks is a missing cell."""
        with path.open("rb") as file:
            start = file.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"["):
            return _array(path)
        # A row has to fit into a block.
        block = min(max(path.stat().st_size, 1 << 16), 1 << 30)
        return arrow_json.read_json(str(path), arrow_json.ReadOptions(block_size=block))


def _array(path: Path) -> pa.Table:
    try:
        rows = json.loads(path.read_bytes())
    except ValueError as error:
        raise pa.ArrowInvalid(str(error)) from error
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise pa.ArrowInvalid(f"item {number} of the array is no object")
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


JSON = parsed_format(JsonPart)


# ARFF, the format of Weka, read by liac-arff ----------------------------------------------------


_NUMERIC = ("NUMERIC", "REAL", "INTEGER")
_RANGE = re.compile(r"^(@attribute\s.*\s(?:integer|numeric|real))\s*\[[^\]\n]*\]\s*$", re.I | re.M)


@dataclass(frozen=True)
class ArffPart(ParsedPart):
    """The rows of an ARFF file."""

    kind = "ARFF"

    @staticmethod
    def parse(path: Path, *more: str) -> pa.Table:
        """Read the file; ``?`` is a missing cell."""
        try:
            import arff
        except ImportError:
            raise ParameterError(
                f"{path.name} is written in ARFF",
                "liac-arff, which reads it, is not installed",
                "pip install 'suffice[arff]'",
            ) from None
        # The library does not know that a numeric attribute may state its range.
        text = _RANGE.sub(r"\1", path.read_text("utf-8-sig"))
        try:
            try:
                content, rows = _loaded(arff, text, arff.DENSE)
            except arff.BadLayout:
                content, found = _loaded(arff, text, arff.LOD)
                rows = [_dense(row, content["attributes"]) for row in found]
        except (arff.ArffException, ValueError) as error:
            raise pa.ArrowInvalid(str(error)) from error
        columns = [
            _column(kind, [row[j] for row in rows])
            for j, (_, kind) in enumerate(content["attributes"])
        ]
        return pa.Table.from_arrays(columns, names=[name for name, _ in content["attributes"]])


def _loaded(arff: Any, text: str, layout: int) -> tuple[Any, Any]:
    content = arff.loads(text, return_type=layout)
    return content, content["data"]


def _dense(row: Mapping[int, Any], attributes: Sequence[tuple[str, Any]]) -> list[Any]:
    """A sparse row, whose absent cells are 0 or the first value of the attribute."""
    zeros = [0.0 if kind in _NUMERIC else kind[0] for _, kind in attributes]
    return [row.get(place, zero) for place, zero in enumerate(zeros)]


def _column(kind: str | Sequence[str], cells: Sequence[Any]) -> pa.Array[Any]:
    if isinstance(kind, str):
        return pa.array(cells, pa.float64() if kind.upper() in _NUMERIC else pa.string())
    places = {value: place for place, value in enumerate(kind)}
    codes = [None if cell is None else places[cell] for cell in cells]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(kind, pa.string()))


ARFF = parsed_format(ArffPart)


# Excel and OpenDocument, read by python-calamine ------------------------------------------------


Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class ExcelPart(ParsedPart):
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
    columns = [_cells_of([row[j] for row in rows[1:]]) for j in range(len(names))]
    return pa.Table.from_arrays(columns, names=names)


def _name(cell: Any, place: int) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip() or f"column_{place}"


def _cells_of(cells: Sequence[Any]) -> pa.Array[Any]:
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


EXCEL = parsed_format(ExcelPart)


def with_sheet(sheet: str | int) -> StoredFormat:
    """The format of workbooks of which one sheet is meant."""
    return parsed_format(ExcelPart, str(sheet))
