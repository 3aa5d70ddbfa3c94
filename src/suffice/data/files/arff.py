"""ARFF, the format of Weka, read by liac-arff: its header says what every column is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.data.files.parsed import ParsedSplit, parsed_format
from suffice.errors import ParameterError

__all__ = []

_NUMERIC = ("NUMERIC", "REAL", "INTEGER")
_RANGE = re.compile(r"^(@attribute\s.*\s(?:integer|numeric|real))\s*\[[^\]\n]*\]\s*$", re.I | re.M)


@dataclass(frozen=True)
class ArffSplit(ParsedSplit):
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


ARFF = parsed_format(ArffSplit)
