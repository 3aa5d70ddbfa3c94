"""Every reader gives the rows that were written, and a model of them the same answers."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

NEW = {"size": [1.1, None, 4.0], "color": ["green", "blue", "red"]}


def model_of(rows: Any, y: Any = "kind") -> Any:
    from suffice import NaiveBayes
    from suffice.families import Gaussian

    return NaiveBayes.textbook({"size": Gaussian("mle")}).fit(rows, y)


def joint(rows: Any) -> Any:
    return model_of(rows).predict_joint_log_proba(NEW)


@pytest.fixture
def expected(fruit: dict[str, Any]) -> Any:
    """log p(x, y) of three new rows, by hand: sizes 1.425 and 5.32, colours 3 : 1 and 1 : 3."""
    sizes = [np.array([1, 1.2, 1.5, 2]), np.array([5, 5.5, 4.8, 6.1, 5.2])]
    gauss = [
        [-np.log(2 * np.pi * s.var()) / 2 - (x - s.mean()) ** 2 / (2 * s.var()) for s in sizes]
        for x in (1.1, 4.0)
    ]
    red, blue = np.log([4 / 6, 2 / 6]), np.log([2 / 6, 4 / 6])
    return np.log(0.5) + np.array([gauss[0], blue, gauss[1] + red])


# -- files


def write_csv(path: Path, table: Any, separator: str = ",") -> None:
    columns = [["" if c is None else str(c) for c in column] for column in table.values()]
    lines = [list(table), *zip(*columns, strict=True)]
    path.write_text("".join(separator.join(line) + "\n" for line in lines))


def write_gz(path: Path, table: Any) -> None:
    plain = path.with_name("plain.csv")
    write_csv(plain, table)
    path.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()


def write_decimal_commas(path: Path, table: Any) -> None:
    write_csv(path, table, ";")
    path.write_text(path.read_text().replace(".", ","))


def write_parquet(path: Path, table: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(table), path, row_group_size=4)


def write_arrow(path: Path, table: Any) -> None:
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, pa.table(table).schema) as file:
        file.write_table(pa.table(table))


def write_json_lines(path: Path, table: Any) -> None:
    import json

    rows = zip(*table.values(), strict=True)
    lines = (json.dumps(dict(zip(table, row, strict=True))) for row in rows)
    path.write_text("\n".join(lines) + "\n")


def write_excel(path: Path, table: Any) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for row in [list(table), *zip(*table.values(), strict=True)]:
        book.active.append(row)
    book.save(path)


def write_arff(path: Path, table: Any) -> None:
    pytest.importorskip("arff")
    lines = [
        ",".join("?" if cell is None else str(cell) for cell in row)
        for row in zip(*table.values(), strict=True)
    ]
    header = "@relation fruit\n@attribute size numeric\n@attribute color {red,blue}\n"
    path.write_text(f"{header}@attribute kind {{apple,plum}}\n@data\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("rows.csv", write_csv),
        ("rows.tsv", lambda path, table: write_csv(path, table, "\t")),
        ("rows.txt", lambda path, table: write_csv(path, table, "|")),
        ("semicolons.csv", write_decimal_commas),
        ("rows.csv.gz", write_gz),
        ("rows.parquet", write_parquet),
        ("rows.arrow", write_arrow),
        ("rows.jsonl", write_json_lines),
        ("rows.xlsx", write_excel),
        ("rows.arff", write_arff),
    ],
)
def test_files(
    folder: Path, fruit: Any, expected: Any, name: str, write: Callable[[Path, Any], None]
) -> None:
    write(folder / name, fruit)
    assert_allclose(joint(name), expected, rtol=1e-12)


@pytest.mark.parametrize("path", ["inside/*.parquet", "inside"])
def test_a_glob_and_a_folder(folder: Path, fruit: Any, expected: Any, path: str) -> None:
    (folder / "inside").mkdir()
    write_parquet(folder / "inside" / "rows.parquet", fruit)
    assert_allclose(joint(path), expected, rtol=1e-12)


def test_several_files_are_one_table(folder: Path, fruit: Any, expected: Any) -> None:
    for name, rows in (("a.csv", slice(0, 3)), ("b.csv", slice(3, None))):
        write_csv(folder / name, {column: cells[rows] for column, cells in fruit.items()})
    assert_allclose(joint(["a.csv", "b.csv"]), expected, rtol=1e-12)


def test_a_pipe(folder: Path, expected: Any) -> None:
    os.mkfifo("pipe")
    text = Path("fruit.csv").read_text()
    writer = threading.Thread(target=lambda: Path("pipe").write_text(text))
    writer.start()
    assert_allclose(joint("pipe"), expected, rtol=1e-12)
    writer.join()


def test_folders_with_values_of_a_column(folder: Path, fruit: Any) -> None:
    for kind in ("apple", "plum"):
        (folder / "rows" / f"kind={kind}").mkdir(parents=True)
        keep = [i for i, k in enumerate(fruit["kind"]) if k == kind]
        part = {name: [fruit[name][i] for i in keep] for name in ("size", "color")}
        write_parquet(folder / "rows" / f"kind={kind}" / "part.parquet", part)
    assert_array_equal(model_of("rows").class_count_, [5, 5])
    assert_array_equal(
        model_of("rows").predict({"size": [1.0, 6.0], "color": [None, None]}), ["apple", "plum"]
    )


def test_a_csv_file_that_is_described(folder: Path, expected: Any) -> None:
    import suffice

    lines = Path("fruit.csv").read_text().splitlines()[1:]
    cells = [",".join(cell or "?" for cell in line.split(",")) for line in lines]
    Path("bare.data").write_text("\n".join(cells).replace(",", " ; ") + "\n", "latin-1")
    table = suffice.read_csv(
        "bare.data",
        separator=";",
        header=False,
        names=["size", "color", "kind"],
        missing=["?"],
        strip=True,
        encoding="latin-1",
    )
    assert_allclose(joint(table), expected, rtol=1e-12)
    assert table.head().to_pylist()[1] == {"size": 1.2, "color": None, "kind": "apple"}


def test_a_sheet_of_a_workbook(folder: Path, fruit: Any, expected: Any) -> None:
    import suffice

    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.active.append(["nothing"])
    sheet = book.create_sheet("fruit")
    for row in [list(fruit), *zip(*fruit.values(), strict=True)]:
        sheet.append(row)
    book.save("book.xlsx")
    assert_allclose(joint(suffice.read_excel("book.xlsx", sheet="fruit")), expected, rtol=1e-12)


def test_prices_percentages_and_dates_are_numbers(folder: Path) -> None:
    rows = [("$1,000.50", "10 %", "01/02/2024", "a"), ("$3,000.50", "30 %", "29/02/2024", "b")]
    Path("orders.csv").write_text(
        "price,share,day,y\n" + "".join(f'"{p}",{s},{d},{y}\n' for p, s, d, y in rows * 3)
    )
    model = model_of_numbers("orders.csv")
    assert [column.name for column in model.schema_] == ["price", "share", "day"]
    assert_array_equal(model.predict("orders.csv"), ["a", "b"] * 3)


def model_of_numbers(rows: Any) -> Any:
    from suffice import NaiveBayes

    return NaiveBayes.textbook(numbers="gaussian", estimation="mle").fit(rows, "y")


def test_an_error_of_a_file_names_row_and_column(folder: Path) -> None:
    import suffice
    from suffice.errors import SufficeError

    Path("bad.csv").write_text("x,y\n1,a\n2,b\n3,a\n4,b,5\n")
    with pytest.raises(SufficeError, match=r"bad\.csv.*5|5.*bad\.csv"):
        suffice.NaiveBayes().fit("bad.csv", "y")
    with pytest.raises(SufficeError, match=r"nothing\.csv"):
        suffice.NaiveBayes().fit("nothing.csv", "y")
    with pytest.raises(SufficeError, match="'no_column'"):
        suffice.NaiveBayes().fit("fruit.csv", "no_column")


# -- objects


def frames() -> dict[str, Callable[[Any], Any]]:
    def pandas(table: Any) -> Any:
        return pytest.importorskip("pandas").DataFrame(table)

    def polars(table: Any) -> Any:
        return pytest.importorskip("polars").DataFrame(table)

    def lazy(table: Any) -> Any:
        return polars(table).lazy()

    def arrow(table: Any) -> Any:
        import pyarrow as pa

        return pa.table(table)

    def batches(table: Any) -> Any:
        found = arrow(table)
        return found.to_reader(max_chunksize=3)

    return {
        "dict": dict,
        "pandas": pandas,
        "polars": polars,
        "lazy": lazy,
        "arrow": arrow,
        "stream": batches,
        "duckdb": duckdb_relation,
    }


def duckdb_relation(table: Any) -> Any:
    duckdb = pytest.importorskip("duckdb")
    import pyarrow as pa

    connection = duckdb.connect()
    connection.register("fruit", pa.table(table))
    return connection.sql("SELECT * FROM fruit")


@pytest.mark.parametrize("kind", list(frames()))
def test_frames(fruit: Any, expected: Any, kind: str) -> None:
    assert_allclose(joint(frames()[kind](fruit)), expected, rtol=1e-12)


@pytest.mark.parametrize("address", ["connection", "sqlite", "duckdb"])
def test_queries(folder: Path, fruit: Any, expected: Any, address: str) -> None:
    import suffice

    query = "SELECT size, color, kind FROM fruit WHERE weight > ?"
    module: Any = pytest.importorskip("duckdb") if address == "duckdb" else sqlite3
    writer = module.connect("shop.db")
    writer.execute("CREATE TABLE fruit (size DOUBLE, color TEXT, kind TEXT, weight DOUBLE)")
    rows = [(*row, 1.0) for row in zip(*fruit.values(), strict=True)]
    writer.executemany("INSERT INTO fruit VALUES (?, ?, ?, ?)", [*rows, (99.0, "red", "plum", 0.0)])
    writer.commit()
    if address != "connection":
        writer.close()
    source = writer if address == "connection" else f"{address}:///shop.db"
    assert_allclose(joint(suffice.read_sql(query, source, [0.5])), expected, rtol=1e-12)


def test_a_query_that_changes_the_database_is_refused() -> None:
    import suffice
    from suffice.errors import SufficeError

    shop = sqlite3.connect(":memory:")
    shop.execute("CREATE TABLE pet (kind TEXT)")
    with pytest.raises(SufficeError):
        suffice.read_sql("DROP TABLE pet", shop).head()
    assert shop.execute("SELECT count(*) FROM pet").fetchall() == [(0,)]


ARRAY = np.array([[1.0, 0], [0, 2], [3, 1], [0, 5], [2, 2], [1, 4]])


@pytest.mark.parametrize("kind", ["float32", "fortran", "list", "csr_array", "csc_matrix"])
def test_arrays_and_sparse_matrices(kind: str) -> None:
    from scipy import sparse

    from suffice.naive_bayes import MultinomialNB

    given = {
        "float32": lambda: ARRAY.astype(np.float32),
        "fortran": lambda: np.asfortranarray(ARRAY),
        "list": ARRAY.tolist,
        "csr_array": lambda: sparse.csr_array(ARRAY),
        "csc_matrix": lambda: sparse.csc_matrix(ARRAY),
    }[kind]()
    model = MultinomialNB(alpha=1.0).fit(given, [0, 1, 0, 1, 0, 1])
    theta = np.array([[7, 4], [2, 12]]) / np.array([[11], [14]])
    assert_allclose(np.exp(model.feature_log_prob_), theta, rtol=1e-12)
    assert_array_equal(model.predict(given), [0, 1, 0, 1, 0, 1])


def test_categories_of_a_frame_are_categories(fruit: Any) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(fruit).astype({"color": "category", "kind": "category"})
    model = model_of(frame)
    assert_array_equal(model.classes_, ["apple", "plum"])
    assert_array_equal(model.predict(frame), frame["kind"])


def test_whole_numbers_that_a_double_cannot_hold_are_refused() -> None:
    import suffice
    from suffice.errors import SufficeError

    rows = {"x": [2**53 + 1, 2, 3, 4], "y": ["a", "b", "a", "b"]}
    with pytest.raises(SufficeError, match="'x'"):
        suffice.LinearDiscriminantAnalysis().fit(rows, "y")


def test_an_infinite_number_is_refused_with_row_and_column() -> None:
    from suffice.errors import SufficeError

    with pytest.raises(SufficeError, match="'size'"):
        model_of({"size": [1.0, np.inf, 2.0], "kind": ["a", "b", "a"]})


def test_rows_without_a_label_are_left_out(fruit: Any) -> None:
    from suffice.errors import SufficeWarning

    with pytest.warns(SufficeWarning, match="1 row without a label"):
        model = model_of(fruit | {"kind": [None, *fruit["kind"][1:]]})
    assert_array_equal(model.class_count_, [4, 5])


def test_import_is_light() -> None:
    """`import suffice` imports neither NumPy nor scikit-learn."""
    code = "import sys, suffice; print('numpy' in sys.modules, 'sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_standard_input(folder: Path) -> None:
    program = shutil.which("suffice") or "suffice"
    done = subprocess.run(
        [program, "fit", "-", "--label", "kind", "-o", "m.suffice"],
        input=Path("fruit.csv").read_text(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "10 rows" in done.stdout
    assert Path("m.suffice").is_file()
