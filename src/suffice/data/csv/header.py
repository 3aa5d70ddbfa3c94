"""A header that stands among the rows, as where files were joined."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import reduce
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.csv.records import CsvFile
from suffice.data.numerals import PLAIN
from suffice.errors import ReadError

__all__ = ["refuse_header_again"]


def refuse_header_again(files: Sequence[CsvFile], head: pa.RecordBatch) -> None:
    """Refuse the header as one of the first rows: it would make texts of columns of numbers.

    Raises
    ------
    ReadError
        Naming the line.
    """
    names = tuple(head.schema.names)
    if len(names) < 2 or not files[0].has_header or files[0].format.names is not None:
        return
    if any(map(PLAIN.matches, names)):  # which would be a row of numbers
        return
    equal = (pc.equal(column, name) for column, name in zip(head.columns, names, strict=True))
    if not pc.any(reduce(pc.and_, equal)).as_py():
        return
    for file in files:
        with closing(file.scan()) as records:
            for record in islice(records, 1, None):
                if tuple(map(str.strip, record.fields)) == names:
                    raise ReadError(
                        f"line {record.line} of {file.path.name} is the header again",
                        "a header stands once, above the rows",
                        "take the line out",
                    )
