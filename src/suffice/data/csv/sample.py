"""Rows from the beginning, the middle and the end of delimited text, to see how cells are written.

What is found there is a guess that every later cell is then held to.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.data.csv.blanks import BLANK, single_blanks
from suffice.data.csv.format import CsvFormat
from suffice.data.csv.records import is_gzip, is_utf8, open_text, undecoded
from suffice.data.files.version import readable
from suffice.errors import ReadError

__all__ = ["sampled_columns"]

SAMPLE_BYTES = 1 << 16  # at each of the three places


def sampled_columns(paths: Sequence[Path], format: CsvFormat, width: int) -> list[pa.Array[Any]]:
    r"""The columns of rows at the beginning, in the middle and at the end, as text.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        Of several files, the beginning is that of the first, and so on.
    format : CsvFormat
        How they are written.
    width : int
        Rows of another width are left out, as are missing cells.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("day,n\n1/2/2024,\n13/2/2024,5\n")
    ...     sampled_columns([path], CsvFormat(separator=","), 2)[1].to_pylist()
    ['5']
    """
    rows = [row for row in _rows(paths, format) if len(row) == width]
    missing = set(format.missing)
    columns = []
    for cells in zip(*rows, strict=True) if rows else [()] * width:
        stripped = (cell.strip() for cell in cells) if format.strip else cells
        known = [cell for cell in stripped if cell not in missing and not undecoded(cell)]
        columns.append(pa.array(known, pa.string()))
    return columns


def _rows(paths: Sequence[Path], format: CsvFormat) -> Iterator[list[str]]:
    for text, begins in _texts(paths, format.encoding):
        if format.separator == BLANK:
            once = single_blanks(text.encode("utf8", "surrogatepass"), format.quote)
            text = once.decode("utf8", "surrogatepass")
        lines = io.StringIO(text, newline="")
        rows = csv.reader(lines, delimiter=format.separator or ",", quotechar=format.quote or None)
        with suppress(csv.Error):  # a cell of more than 128 kB
            if begins and format.header is not False:
                next(rows, None)
            yield from rows


def _texts(paths: Sequence[Path], encoding: str) -> Iterator[tuple[str, bool]]:
    """Whole lines, and whether a file begins with them."""
    chosen = dict.fromkeys((paths[0], paths[len(paths) // 2], paths[-1]))
    for path in chosen:
        with suppress(ReadError, UnicodeError), readable(path), open_text(path, encoding) as file:
            text = file.read(SAMPLE_BYTES)
            yield (text.rpartition("\n")[0] if file.read(1) else text), True
    if len(chosen) == 1 and is_utf8(encoding):
        with suppress(ReadError), readable(paths[0]):
            yield from ((text, False) for text in _further(paths[0]))


def _further(path: Path) -> Iterator[str]:
    """Whole lines in the middle of a file and at its end, where bytes can be reached."""
    size = path.stat().st_size
    if is_gzip(path) or size < 2 * SAMPLE_BYTES:
        return
    with path.open("rb") as file:
        for start in ((size - SAMPLE_BYTES) // 2, size - SAMPLE_BYTES):
            file.seek(max(start, SAMPLE_BYTES))
            lines = file.read(SAMPLE_BYTES).decode("utf8", "replace").splitlines(keepends=True)
            yield "".join(lines[1:-1])
