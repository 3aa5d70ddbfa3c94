"""``suffice split``: training and test data of one file."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages import note
from suffice.cli.models import refuse_result
from suffice.cli.options import AsJson, ReadAs, Reading, option
from suffice.cli.output import deliver, rows_to, suffix_of
from suffice.cli.values import check_columns
from suffice.data.text.records import is_utf8, unpacked_name
from suffice.errors import DataError, ParameterError
from suffice.phrases import rows_in_print

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from suffice.data.table import Table


def split(
    *,
    data: Annotated[str, typer.Argument(metavar="FILE", help="A table.")],
    test: Annotated[float, option("P", "Share of the test data.")] = 0.25,
    label: Annotated[
        str | None, option("COL", "Each label in its share.", "--label", "--target")
    ] = None,
    by: Annotated[str | None, option("COL", "Groups that stay together.")] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="The last rows are the test data.")
    ] = False,
    seed: Annotated[int, option("N", "Of the random order.")] = 0,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Split a file into training and test data.

    adult.csv becomes adult_train.csv and adult_test.csv, in the working directory:
    rows in their order, cells as they stand in the file.

    Example: suffice split adult.csv --label income
    """
    from suffice.data.beside import cells_as_stored
    from suffice.model_selection.folds import held_out_share

    ways = {"--label": label is not None, "--by": by is not None, "--in-order": in_order}
    given = [option for option, is_given in ways.items() if is_given]
    if len(given) > 1:
        fact = f"{' and '.join(given)} are given"
        raise ParameterError(fact, "a file is split in one way", "leave one of them out")
    if not 0 < test < 1:
        raise ParameterError(f"--test {test:g}", "it is a share of the rows, above 0 and below 1")
    first = Path(data)
    stem, ending = Path(unpacked_name(first.name)).stem, suffix_of(unpacked_name(first.name))
    files = [Path(f"{stem}_{part}{ending}") for part in ("train", "test")]
    for file in files:
        refuse_result(file, [data])
    table = Reading.of(read).open([data], notes=False)
    if table.about.ignored:
        note(f"{data}: no columns, and left out: {', '.join(map(repr, table.about.ignored))}")
    name = label or by
    check_columns("by" if label is None else "label", [] if name is None else [name], table.names)
    keys, rows = _column(table, name)
    held_out = held_out_share(rows, test, keys, by is not None, None if in_order else seed)
    counts = [int((~held_out).sum()), int(held_out.sum())]
    if not all(counts):
        fact = f"{data} has {rows_in_print(rows)}" + (f", of one {by!r}" if by else "")
        raise DataError(fact, "both files are to have some", "choose another --test")
    written = table.about.format
    if written is not None and not is_utf8(written.encoding):
        note(f"{files[0]} and {files[1]} are written in utf8, {data} is in {written.encoding}")
    with ExitStack() as stack:
        mark, header = (written.separator, written.header is not False) if written else (None, True)
        writers = [stack.enter_context(rows_to(file, False, mark, header)) for file in files]
        start = 0
        for piece in cells_as_stored(table, table.names):
            mine = held_out[start : start + piece.num_rows]
            start += piece.num_rows
            for write, kept in zip(writers, (~mine, mine), strict=True):
                write(piece.filter(kept))
    facts = {
        "files": [str(file) for file in files],
        "rows": counts,
        "seed": None if in_order else seed,
    }
    named = " and ".join(
        f"{rows_in_print(n)} to {file}" for n, file in zip(counts, files, strict=True)
    )
    deliver(facts, [f"{named}{'' if in_order else f' (seed {seed})'}."], as_json)


def _column(table: Table, name: str | None) -> tuple[NDArray[np.intp] | None, int]:
    """Return the number of the value of a column in every row, and how many rows there are."""
    import numpy as np

    from suffice.data.beside import cells_as_stored

    known_values: dict[Any, int] = {}
    codes: list[NDArray[np.intp]] = []
    for piece in cells_as_stored(table, [name or table.names[0]]):
        cells = piece.column(0).to_pylist()
        codes.append(
            np.array([known_values.setdefault(cell, len(known_values)) for cell in cells], np.intp)
        )
    places = np.concatenate(codes)
    return (None if name is None else places), len(places)
