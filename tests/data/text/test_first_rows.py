"""The first rows of a text file, which say what columns are, and the rows behind them."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice import NaiveBayes, read_csv
from suffice.errors import ReadError

FIRST = 65_536
N = FIRST + 5_000
RNG = np.random.default_rng(3)
SIZES = RNG.normal(size=N).round(4).tolist()
HOLES = [None if hole else size for hole, size in zip(RNG.random(N) < 0.1, SIZES, strict=True)]
KINDS = RNG.choice(["a", "b"], N).tolist()


def written(columns: dict[str, list[Any]], end: str = "\n", quote: str = "") -> str:
    cells = [["" if cell is None else f"{cell}" for cell in cells] for cells in columns.values()]
    rows = [columns.keys(), *zip(*cells, strict=True)]
    return "".join(",".join(f"{quote}{cell}{quote}" for cell in row) + end for row in rows)


def opened(path: Path, text: str, **options: Any) -> Any:
    path.write_bytes(text.encode())
    return read_csv(path, **options)


def read(table: Any) -> dict[str, list[Any]]:
    (part,) = table.parts(dict.fromkeys(table.names))
    return pa.Table.from_batches(part.record_batches()).to_pydict()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.csv"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
@pytest.mark.parametrize("above", ["", "\ufeff", "# a comment\n\n"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_every_row_is_read_once(path: Path, end: str, above: str, quote: str) -> None:
    columns = {"size": SIZES, "hole": HOLES, "kind": KINDS}
    table = opened(path, above + written(columns, end, quote))
    assert read(table) == read(table) == columns


def test_a_row_of_several_lines_ends_the_first_rows(path: Path) -> None:
    texts = ["two\nlines" if row % 1_000 == FIRST % 1_000 else "one" for row in range(N)]
    quoted = [f'"{text}"' for text in texts]
    table = opened(path, written({"size": SIZES, "text": quoted}))
    assert read(table) == {"size": SIZES, "text": texts}


def test_a_part_that_travels_reads_all_rows(path: Path) -> None:
    table = opened(path, written({"size": SIZES, "kind": KINDS}))
    (part,) = table.parts(dict.fromkeys(table.names))
    arrived = pickle.loads(pickle.dumps(part))
    assert len(pickle.dumps(part)) < 10_000
    assert pa.Table.from_batches(arrived.record_batches()).to_pydict()["size"] == SIZES


def test_another_cell_among_the_first_fractions_makes_a_column_text(path: Path) -> None:
    sizes = ["oops" if row == FIRST - 2 else size for row, size in enumerate(SIZES)]
    table = opened(path, written({"size": sizes, "other": SIZES, "kind": KINDS}))
    assert table.shown.schema.types == [pa.string(), pa.float64(), pa.string()]
    assert read(table)["size"] == list(map(str, sizes))


@pytest.mark.parametrize("cell", ["NA", "nan"])
def test_a_missing_cell_among_the_first_fractions_is_missing(path: Path, cell: str) -> None:
    sizes = [cell if row == FIRST - 2 else size for row, size in enumerate(SIZES)]
    expected = [None if size == cell else size for size in sizes]
    assert read(opened(path, written({"size": sizes, "kind": KINDS})))["size"] == expected


@pytest.mark.parametrize("cell", ["1e999", "9007199254740993"])
@pytest.mark.parametrize("row", [FIRST - 1, FIRST, N - 1])
def test_a_number_that_no_double_is_is_refused_by_its_line(path: Path, row: int, cell: str) -> None:
    sizes = [cell if at == row else size for at, size in enumerate(SIZES)]
    table = opened(path, written({"size": sizes, "kind": KINDS}), written={"size": "number"})
    with pytest.raises(ReadError, match=f"line {row + 2} of t.csv, column 'size'"):
        read(table)


@pytest.mark.parametrize("first", [10, FIRST + 10])
def test_malformed_rows_are_left_out_wherever_they_are(path: Path, first: int) -> None:
    lines = written({"size": SIZES, "kind": KINDS}).splitlines(keepends=True)
    lines.insert(first, "1.5\n")
    table = opened(path, "".join(lines), skip_bad_rows=1)
    with pytest.warns(match=rf"rows that begin on line {first + 1}\."):
        assert read(table)["size"] == SIZES


def test_categories_of_later_batches_are_counted_with_those_before(path: Path) -> None:
    hues = ["red" if row < FIRST else f"hue {row % 7}" for row in range(N)]
    model = NaiveBayes.textbook().fit(opened(path, written({"hue": hues, "kind": KINDS})), "kind")
    expected = NaiveBayes.textbook().fit(pa.table({"hue": hues, "kind": KINDS}), "kind")
    assert model.statistic_ == expected.statistic_
