"""Files that are read whole, into memory: JSON, ARFF, workbooks, Stata, SAS and SPSS."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from statistics import median
from typing import Any, cast

import pyarrow as pa
import pyarrow.json as arrow_json

from suffice.data.files.stored import StoredFormat, StoredPart, with_remarks
from suffice.data.spelling import spelling_named
from suffice.data.text.dialect import names_of
from suffice.data.text_format import USUALLY_MISSING
from suffice.data.version import FileVersion, version_of
from suffice.errors import ParameterError, ReadError, library
from suffice.sums.batch import BATCH_ROWS

IN_WORKBOOKS = (*USUALLY_MISSING, "#N/A")  # the last is an error of Excel's
Parse = Callable[[Path, str | None], pa.Table]  # given a file, and the sheet of a workbook


@dataclass(frozen=True)
class ParsedPart(StoredPart):
    """The rows of a file that is parsed whole, once in every process."""

    parse: Parse | None = None
    sheet: str | None = None  # of a workbook

    def _stored(self) -> Iterator[pa.RecordBatch]:
        whole = _parsed(cast(Parse, self.parse), self.path, self.version, self.sheet)
        yield from whole.select([name for name, _ in self.types]).to_batches(BATCH_ROWS)


def parsed_format(
    kind: str,
    beginning: bytes,
    suffixes: tuple[str, ...],
    parse: Parse,
    sheet: str | None = None,
) -> StoredFormat:
    """Return the format of files that a function parses.

    It raises `pyarrow.ArrowInvalid` where a file is damaged: `readable` names the file.
    """

    def inspect(path: Path) -> tuple[pa.Schema, Sequence[int | None]]:
        whole = _parsed(parse, path, version_of(path), sheet)
        return whole.schema, [whole.num_rows]

    part = partial(ParsedPart, parse=parse, sheet=sheet)
    return StoredFormat(kind, beginning, suffixes, part, inspect)


@lru_cache(maxsize=4)
def _parsed(parse: Parse, path: Path, version: FileVersion | None, sheet: str | None) -> pa.Table:
    """Return the rows of one version of a file; a few files are kept for later passes."""
    return parse(path, sheet).combine_chunks()


# Cells as Python has them -----------------------------------------------------------------------


def _cells_of(values: Sequence[Any]) -> pa.Array[Any]:
    """Return the cells of a column in the type that holds them all; None is missing.

    Cells of several kinds, such as a number stored as text among others, become text.
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float}:
        fractions = (type(value) is float and not value.is_integer() for value in values)
        if not any(fractions):
            with suppress(OverflowError):  # of more than 64 bits
                return pa.array([None if v is None else int(v) for v in values], pa.int64())
        return pa.array(values, pa.float64())
    if kinds and kinds <= {date, datetime}:
        return pa.array([None if value is None else _moment(value) for value in values])
    if len(kinds) <= 1 or kinds & {list, dict}:
        return pa.array(values)
    return pa.array([None if value is None else _written(value) for value in values], pa.string())


def _moment(value: date | datetime) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def _written(value: Any) -> str:
    """Return a cell among cells of other kinds as a sheet shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# JSON -------------------------------------------------------------------------------------------


def _json(path: Path, _: str | None) -> pa.Table:
    """Read objects in lines or in an array; a key that one lacks is a missing cell."""
    with path.open("rb") as file:
        start = file.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return _objects(_loads(path.read_text("utf-8-sig")))
    # A row has to fit into a block.
    block = min(max(path.stat().st_size, 1 << 16), 1 << 30)
    try:
        return arrow_json.read_json(str(path), arrow_json.ReadOptions(block_size=block))
    except pa.ArrowInvalid as error:
        if "changed from" not in str(error):
            raise
        lines = filter(str.strip, path.read_text("utf-8-sig").splitlines())
        return _objects(list(map(_loads, lines)))


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise pa.ArrowInvalid(str(error)) from error


def _objects(rows: Sequence[Any]) -> pa.Table:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise pa.ArrowInvalid(f"item {number} of the array is no object")
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: _cells_of([row.get(name) for row in rows]) for name in names})


JSON = parsed_format(
    "JSON", rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"', (".json", ".jsonl", ".ndjson"), _json
)


# ARFF, the format of Weka, read by liac-arff ----------------------------------------------------


_NUMERIC = ("NUMERIC", "REAL", "INTEGER")
_RANGE = re.compile(r"^(@attribute\s.*\s(?:integer|numeric|real))\s*\[[^\]\n]*\]\s*$", re.I | re.M)
_NAME = r"(?P<name>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)"
_DATE = re.compile(
    rf"^@attribute\s+{_NAME}\s+date(?:[ \t]+(?P<form>\"[^\"\n]*\"|'[^\n]*'|\S+))?[ \t]*$",
    re.I | re.M,
)
_WEIGHTED = re.compile(r"^(?!\s*[%@{]).*,\s*\{\s*[0-9.eE+-]+\s*\}\s*$", re.M)
_ISO = "yyyy-MM-dd HH:mm"
_SPELLED = (  # letters of Java's SimpleDateFormat, and those of `suffice.data.spelling`
    (r"'T'", " "),
    (r":ss(?:\.SSS)?", ""),
    (r"yyyy", "YYYY"),
    (r"yy", "YY"),
    (r"MMMM", "MMM"),
    (r"(?<!M)M(?!M)", "MM"),
    (r"d{1,2}", "DD"),
    (r"hh?:mm a", "HH:MM AM"),
    (r"HH?:mm", "HH:MM"),
    (r" ?(?:Z|XXX)$", " Z"),
)


def _arff(path: Path, _: str | None) -> pa.Table:
    arff = library("arff", f"{path.name} is written in ARFF", "pip install 'suffice[arff]'")
    # The library knows neither ranges of numbers, nor dates, nor weights of rows.
    text = _RANGE.sub(r"\1", path.read_text("utf-8-sig"))
    dates = {one["name"].strip("'\""): one["form"] or _ISO for one in _DATE.finditer(text)}
    text = _DATE.sub(lambda one: f"@attribute {one['name']} string", text)
    weighted = _WEIGHTED.search(text)
    if weighted is not None:
        line = text[: weighted.start()].count("\n") + 1
        raise ReadError(
            f"line {line} of {path.name} ends with the weight of its row, {{...}}",
            "weights of rows are read from a column",
            "write them into a numeric attribute, and name it as the weight",
        )
    try:
        content = arff.loads(text)
    except (arff.ArffException, ValueError) as error:
        raise pa.ArrowInvalid(str(error)) from error
    columns = []
    for j, (name, kind) in enumerate(content["attributes"]):
        cells = [row[j] for row in content["data"]]
        columns.append(
            _dates(name, dates[name], cells) if name in dates else _attribute(kind, cells)
        )
    return pa.Table.from_arrays(columns, names=[name for name, _ in content["attributes"]])


def _attribute(kind: str | Sequence[str], cells: Sequence[Any]) -> pa.Array[Any]:
    if isinstance(kind, str):
        return pa.array(cells, pa.float64() if kind.upper() in _NUMERIC else pa.string())
    places = {value: place for place, value in enumerate(kind)}
    codes = [None if cell is None else places[cell] for cell in cells]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(kind, pa.string()))


def _dates(name: str, form: str, cells: Sequence[str | None]) -> pa.Array[Any]:
    form = form.strip("'\"") if form[0] == form[-1] else form
    spelling = form
    for letters, ours in _SPELLED:
        spelling = re.sub(letters, ours, spelling)
    try:
        return spelling_named(spelling).read(pa.array(cells, pa.string()))
    except (ParameterError, pa.ArrowInvalid) as error:
        fact = f"attribute {name!r}, whose dates are written as {form}"
        raise pa.ArrowInvalid(f"{fact}: {error}") from error


ARFF = parsed_format(
    "ARFF", rb"(?:\xef\xbb\xbf)?(?:\s*%[^\n]*\n)*\s*@relation\s", (".arff",), _arff
)


# Workbooks of Excel and OpenDocument, read by python-calamine -----------------------------------


Rows = Sequence[list[Any]]
Merged = Sequence[tuple[tuple[int, int], tuple[int, int]]]  # first and last cell of each range

_HEADER_ROWS = 20  # the names of the columns stand in one of these


def _workbook(path: Path, sheet: str | None) -> pa.Table:
    calamine = library(
        "python_calamine", f"{path.name} is a workbook", "pip install 'suffice[excel]'"
    )
    try:
        book = calamine.CalamineWorkbook.from_path(str(path))
        sheets = {name: book.get_sheet_by_name(name) for name in book.sheet_names}
        rows = {name: one.to_python(skip_empty_area=False) for name, one in sheets.items()}
    except calamine.CalamineError as error:
        raise pa.ArrowInvalid(str(error)) from error
    title = _chosen(
        path.name, {name: cells for name, cells in rows.items() if cells}, list(rows), sheet
    )
    return _sheet(rows[title], sheets[title].merged_cell_ranges or ())


def _chosen(name: str, filled: Mapping[str, Rows], titles: Sequence[str], sheet: str | None) -> str:
    """Return the sheet of a name, or of a place from 1; without either the only one with rows."""
    found = ", ".join(map(repr, filled)) or "none"
    if sheet is not None:
        if sheet not in titles and sheet.isdecimal() and 0 < int(sheet) <= len(titles):
            sheet = titles[int(sheet) - 1]
        if sheet not in filled:
            raise ReadError(
                f"{name} has no sheet {sheet!r} with rows", f"those that have rows are: {found}"
            )
        return sheet
    if not filled:
        raise ReadError(f"{name} has no sheet with rows", "", "check how it was written")
    if len(filled) > 1:
        raise ReadError(
            f"{name} has several sheets with rows: {found}",
            "one of them is the table",
            f"say which with sheet={next(iter(filled))!r}",
        )
    return next(iter(filled))


def _sheet(rows: Rows, merged: Merged) -> pa.Table:
    cells = [
        [None if isinstance(cell, str) and cell.strip() in IN_WORKBOOKS else cell for cell in row]
        for row in rows
    ]
    remarks: list[str] = []
    first = _header_row(cells)
    above = [cell for row in cells[:first] for cell in row if cell is not None]
    if above:
        remarks.append(
            f"row {first + 1} holds the names of the columns, and what is above it is left out, "
            f"such as {str(above[0])!r}; delete those rows, and this is not said"
        )
    names, last = _header(cells, first, merged)
    _fill(cells, last, merged, remarks)
    body = cells[last + 1 :]
    body = body[: len(body) - len(list(takewhile(_is_blank, reversed(body))))]
    blank = [number for number, row in enumerate(body, start=last + 2) if _is_blank(row)]
    if blank:
        remarks.append(f"{len(blank)} empty rows are left out, the first of them row {blank[0]}")
    body = [row for row in body if not _is_blank(row)]
    found, columns = names_of([names], True, None, None), {}
    for place, name in enumerate(found.names):
        column = [row[place] for row in body]
        if name not in found.unnamed or any(cell is not None for cell in column):
            columns[name] = _cells_of(column)
    for what, own in (
        ("columns without a name are called by their place", found.unnamed),
        ("columns with the name of another are called", found.doubled),
    ):
        if shown := ", ".join(repr(name) for name in own if name in columns):
            remarks.append(f"{what}: {shown}")
    return with_remarks(pa.table(columns), remarks)


def _is_blank(row: Sequence[Any]) -> bool:
    return all(cell is None for cell in row)


def _header_row(cells: Sequence[Sequence[Any]]) -> int:
    """Return the first row that has as many cells as those below it, but for a few."""
    filled = [sum(cell is not None for cell in row) for row in cells]
    for first in range(min(_HEADER_ROWS, len(cells))):
        below = [number for number in filled[first + 1 : first + 100] if number]
        usual = median(below) if below else filled[first]
        under = cells[first + 1] if first + 1 < len(cells) else ()
        names = [cell for cell in under if cell is not None]
        is_title = filled[first] < usual and (
            not names or (len(names) > filled[first] and all(isinstance(n, str) for n in names))
        )
        if filled[first] and 2 * filled[first] > usual and not is_title:
            return first
    return next((row for row, number in enumerate(filled) if number), 0)


def _header(cells: Sequence[Sequence[Any]], first: int, merged: Merged) -> tuple[list[str], int]:
    """Return the names, and the last of the one or two rows that hold them."""
    names = list(map(_name, cells[first]))
    groups: dict[int, str] = {}
    for (top, left), (bottom, right) in merged:
        if top == first == bottom and right > left:
            groups |= dict.fromkeys(range(left, right + 1), names[left])
    below = cells[first + 1] if first + 1 < len(cells) else []
    parts = [below[place] for place in groups if place < len(below)]
    if not parts or not all(isinstance(cell, str) for cell in parts):
        return names, first
    joined = []
    for place, name in enumerate(names):
        own = _name(below[place])
        joined.append(f"{groups.get(place, name)} {own}".strip())
    return joined, first + 1


def _name(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()


def _fill(cells: Sequence[list[Any]], last: int, merged: Merged, remarks: list[str]) -> None:
    """Write the value of a merged range into each of its cells, where it holds rows."""
    filled = []
    for (top, left), (bottom, right) in merged:
        if top > last and (bottom > top or right > left) and cells[top][left] is not None:
            filled.append(top)
            for row in range(top, min(bottom + 1, len(cells))):
                cells[row][left : right + 1] = [cells[top][left]] * (right + 1 - left)
    if filled:
        remarks.append(
            f"{len(filled)} merged ranges have their value in each of their cells, the first of "
            f"them from row {min(filled) + 1} on"
        )


def workbooks(sheet: str | int | None = None) -> StoredFormat:
    """Return the format of workbooks, of which one sheet may be meant."""
    beginning, suffixes = (
        rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods"),
    )
    named = None if sheet is None else str(sheet)
    return parsed_format("a workbook", beginning, suffixes, _workbook, named)


EXCEL = workbooks()


# Files of statistical packages, read by pandas ---------------------------------------------------


def _by_pandas(path: Path, what: str, reader: str, **options: Any) -> pa.Table:
    pandas = library("pandas", f"{path.name} is {what}", "pip install pandas")
    try:
        frame = getattr(pandas, reader)(path, **options)
    except ImportError as error:
        raise ParameterError(
            f"{path.name} is {what}",
            f"a library that reads it is not installed: {error}",
            "install it, or write the rows as CSV",
        ) from None
    except (ValueError, KeyError, UnicodeError, OSError) as error:
        raise pa.ArrowInvalid(str(error)) from error
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return with_remarks(table, [f"it is {what}, and is read by pandas"])


def _sas(path: Path, _: str | None) -> pa.Table:
    with path.open("rb") as file:
        form = "xport" if file.read(6) == b"HEADER" else "sas7bdat"
    return _by_pandas(path, "a SAS file", "read_sas", format=form, encoding="infer")


def _stata(path: Path, _: str | None) -> pa.Table:
    return _by_pandas(path, "a Stata file", "read_stata")


def _spss(path: Path, _: str | None) -> pa.Table:
    return _by_pandas(path, "an SPSS file", "read_spss")


STATA = parsed_format("Stata", rb"(?-i:<stata_dta>|[\x66-\x73][\x01\x02]\x01\0)", (".dta",), _stata)
SAS = parsed_format(
    "SAS",
    rb"\0{12}\xc2\xea\x81\x60|(?-i:HEADER RECORD\*{7}LIB)",
    (".sas7bdat", ".xpt"),
    _sas,
)
SPSS = parsed_format("SPSS", rb"(?-i:\$FL[23]@\(#\))", (".sav", ".zsav"), _spss)
