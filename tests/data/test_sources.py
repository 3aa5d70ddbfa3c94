"""Wherever the rows of a mixed table with missing cells come from: the same model, to the bit."""

import gzip
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.laws.comparing import frozen

from suffice import LinearRegression, NaiveBayes, read_sql, read_table
from suffice.data.frames.memory import frame_table
from suffice.errors import DataError, SchemaError

pytestmark = pytest.mark.filterwarnings("ignore:.* without a label:suffice.errors.SufficeWarning")

N = 4_000


def mixed() -> pa.Table:
    rng = np.random.default_rng(8)
    code = rng.integers(0, 3, N)
    columns = {
        "size": (1e6 + rng.normal(size=N) + code).tolist(),
        "visits": rng.integers(0, 500, N).tolist(),
        "floor": rng.integers(0, 5, N).tolist(),
        "name": [f"level {i}" for i in rng.integers(0, 50, N)],
        "kind": [["ham", "spam", "eggs"][c] for c in code],
        "color": rng.choice(["red", "blue", "green=ish"], N).tolist(),
    }
    return pa.table({k: pa.array(v, mask=rng.random(N) < 0.07) for k, v in columns.items()})


TABLE = mixed()
SQL = "SELECT * FROM mixed"


def folder_of(value: str | None) -> str:
    return f"color={'__HIVE_DEFAULT_PARTITION__' if value is None else value.replace('=', '%3D')}"


def parts(rows: int) -> list[pa.Table]:
    return [TABLE.slice(start, rows) for start in range(0, N, rows)]


def one_parquet(home: Path, groups: int) -> Path:
    pq.write_table(TABLE, home / "t.parquet", row_group_size=-(-N // groups))
    return home / "t.parquet"


def folder(home: Path) -> Path:
    for i, part in enumerate(parts(700)):
        (home / "t" / f"{i}").mkdir(parents=True)
        pq.write_table(part, home / "t" / f"{i}" / "part.parquet")
    (home / "t" / "_SUCCESS").touch()
    return home / "t"


def hive(home: Path, suffix: str) -> Path:
    for value in TABLE.column("color").unique().to_pylist():
        chosen = [i for i, v in enumerate(TABLE.column("color").to_pylist()) if v == value]
        target = home / "t" / folder_of(value)
        target.mkdir(parents=True)
        part = TABLE.take(chosen).drop(["color"])
        if suffix == ".csv":
            pa.csv.write_csv(part, target / "part.csv")
        else:
            pq.write_table(part, target / "part.parquet")
    return home / "t"


def two_csv(home: Path) -> str:
    for name, part in zip("ab", parts(2_500), strict=True):
        pa.csv.write_csv(part, home / f"{name}.csv")
    return f"{home}/[ab].csv"


def csv_gz(home: Path) -> Path:
    pa.csv.write_csv(TABLE, home / "t.csv")
    (home / "t.csv.gz").write_bytes(gzip.compress((home / "t.csv").read_bytes()))
    return home / "t.csv.gz"


def arrow(home: Path, suffix: str) -> Path:
    new = pa.ipc.new_stream if suffix == ".arrows" else pa.ipc.new_file
    with new(home / f"t{suffix}", TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=900)
    return home / f"t{suffix}"


def dictionaries(_: Path) -> pa.RecordBatchReader:
    """A stream whose dictionaries differ from batch to batch."""
    coded = [
        pa.table(
            {
                name: column.dictionary_encode() if pa.types.is_string(column.type) else column
                for name, column in zip(part.column_names, part.columns, strict=True)
            }
        )
        for part in parts(300)
    ]
    batches = [batch for part in coded for batch in part.combine_chunks().to_batches()]
    return pa.RecordBatchReader.from_batches(coded[0].schema, batches)


def polars_lazy(home: Path) -> Any:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    return polars.scan_parquet(one_parquet(home, 7))


def duckdb_relation(home: Path) -> Any:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    # The relation keeps its connection alive.
    return duckdb.connect().read_parquet(str(one_parquet(home, 7)))


def duckdb_file(home: Path) -> Any:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    path = home / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", TABLE)
        connection.execute("CREATE TABLE mixed AS SELECT * FROM frame")
    return read_sql(SQL, f"duckdb:///{path}")


def sqlite(home: Path) -> Any:
    path = home / "t.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE mixed ({', '.join(TABLE.column_names)})")
        connection.executemany(
            "INSERT INTO mixed VALUES (?, ?, ?, ?, ?, ?)",
            [tuple(row.values()) for row in TABLE.to_pylist()],
        )
        connection.commit()
    return read_sql(SQL, f"sqlite:///{path}")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "stream": lambda _: pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(900)),
    "stream of dictionaries": dictionaries,
    "polars": lambda home: polars_lazy(home).collect(),
    "polars lazy": polars_lazy,
    "narwhals lazy": lambda home: nw.from_native(polars_lazy(home)),
    "duckdb": duckdb_relation,
    "duckdb file": duckdb_file,
    "sqlite": sqlite,
    "parquet, 1 row group": lambda home: one_parquet(home, 1),
    "parquet, 7 row groups": lambda home: one_parquet(home, 7),
    "parquet, 50 row groups": lambda home: one_parquet(home, 50),
    "folder": folder,
    "glob": lambda home: f"{folder(home)}/*/*.parquet",
    "hive, parquet": lambda home: hive(home, ".parquet"),
    "hive, csv": lambda home: hive(home, ".csv"),
    "hive, glob": lambda home: f"{hive(home, '.parquet')}/color=*/*.parquet",
    "two csv": two_csv,
    "csv.gz": csv_gz,
    "arrow": lambda home: arrow(home, ".arrow"),
    "arrows": lambda home: arrow(home, ".arrows"),
}


def learnt(model: NaiveBayes) -> Any:
    known = model.model_.classes, model.model_.prior, model.model_.parameters
    answers = model.predict_log_proba(TABLE.drop(["kind"]))
    return frozen((known, model.classes_, answers))


@pytest.fixture(scope="module")
def expected() -> NaiveBayes:
    return NaiveBayes.textbook().fit(TABLE, "kind")


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_model(name: str, expected: NaiveBayes, tmp_path: Path) -> None:
    model = NaiveBayes.textbook().fit(SOURCES[name](tmp_path), "kind")
    assert model.model_.parts == expected.model_.parts
    assert model.statistic_ == expected.statistic_
    assert learnt(model) == learnt(expected)


def test_the_same_model_from_postgresql(postgresql: Any, expected: NaiveBayes) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgresql.address) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("mixed", TABLE, mode="replace")
        connection.commit()
        exact = "size::text::numeric AS size, visits, floor, name, kind, color"
        for query, where in (
            (SQL, postgresql.address),
            (f"SELECT {exact} FROM mixed ORDER BY random()", connection),
        ):
            model = NaiveBayes.textbook().fit(read_sql(query, where), "kind")
            assert model.statistic_ == expected.statistic_
            assert learnt(model) == learnt(expected)


@pytest.mark.parametrize("name", ["hive, parquet", "polars lazy", "sqlite", "stream"])
def test_predictions_keep_the_row_order(name: str, expected: NaiveBayes, tmp_path: Path) -> None:
    table = read_table(SOURCES[name](tmp_path))
    parts = table.parts(dict.fromkeys(table.names))
    read = pa.concat_tables(
        [pa.Table.from_batches([batch]) for part in parts for batch in part.record_batches()],
        promote_options="permissive",
    )
    np.testing.assert_array_equal(
        expected.predict_joint_log_proba(table),
        expected.predict_joint_log_proba(read.drop(["kind"])),
    )


@pytest.mark.parametrize("column", ["n", "words", "bit"])
@pytest.mark.parametrize(
    "make", [pd.DataFrame, pa.table, lambda rows: np.array([*rows.values()]).T]
)
def test_a_bad_cell_is_named_in_every_block(column: str, make: Callable[..., Any]) -> None:
    rows = {"n": [1.0, 3.0], "words": [2.0, 4.0], "bit": [1.0, 0.0]}
    rows[column][1] = -7.0
    table, names = make(rows), list(rows)
    if isinstance(table, np.ndarray):
        names = ["x0", "x1", "x2"]
    families = dict(zip(names, ("poisson", "multinomial", "bernoulli"), strict=True))
    name = names[list(rows).index(column)]
    with pytest.raises(DataError, match=rf"^column '{name}', row 1: -7\.0; "):
        NaiveBayes.textbook(families=families).fit(table, ["a", "b"])


def test_narwhals_may_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals.stable.v2", None)
    assert read_table(TABLE).names == tuple(TABLE.column_names)
    with pytest.raises(SchemaError, match=r"^a int is no table; "):
        read_table(3)


EMPTY = {"day": pa.float64(), "word": pa.int8(), "note": pa.null()}


def test_a_column_without_any_value_is_of_every_type() -> None:
    days = pa.array([0, 86_400, 172_800, 0] * 5, pa.timestamp("s"))
    notes = [f"this is note {i} of all" for i in range(20)]
    table = pa.table({"day": days, "word": ["p", "q"] * 10, "note": notes, "kind": ["a", "b"] * 10})
    model = NaiveBayes.textbook().fit(table, "kind")
    nothing = pa.table({name: pa.nulls(1, kind) for name, kind in EMPTY.items()})
    not_a_number = pd.DataFrame({name: [np.nan] for name in EMPTY})
    for cells in (nothing, not_a_number, pa.table(not_a_number)):
        assert model.predict_proba(cells).tolist() == [[0.5, 0.5]]
    with pytest.raises(SchemaError, match="'day' holds numbers"):
        model.predict(pa.table({"day": [3.5], "word": ["p"], "note": ["is"]}))


@pytest.mark.filterwarnings("ignore:column:suffice.errors.SufficeWarning")  # label and id go along
@pytest.mark.parametrize("said", [{"ignore": ["id", "label"]}, {"missing": ["?"]}])
def test_labels_and_targets_stand_beside_a_frame_of_which_more_is_said(said: Any) -> None:
    frame = pd.DataFrame({"label": [1, 1, 2, 2], "id": ["?", "p", "q", "q"], "x": [1.0, 2, 8, 9]})
    y = np.array([1.0, 2.0, 8.0, 9.0])
    model = NaiveBayes.textbook().fit(read_table(frame, **said), ["u", "u", "v", "v"])
    assert model.predict(frame).tolist() == ["u", "u", "v", "v"]
    line = LinearRegression(incomplete="drop").fit(read_table(frame, **said), y)
    assert line.score(frame[1:], y[1:]) > 0.99


def test_run_end_encoded_columns_are_read() -> None:
    ends = pa.array([3, 6], pa.int32())
    repeated = pa.RunEndEncodedArray.from_arrays(ends, pa.array([1.5, None]))
    table = frame_table(pa.table({"x": repeated}))
    assert table.head().to_pydict() == {"x": [1.5] * 3 + [None] * 3}


@pytest.mark.parametrize("dtype", ["Sparse[int]", "Int8", "boolean", "category", "float32"])
def test_columns_of_pandas_alone_are_those_of_a_frame(dtype: str) -> None:
    column = pd.Series([0, 1, 0, 1]).astype(dtype)
    frame, alone = frame_table(pd.DataFrame({"x": column})), frame_table({"x": column})
    assert frame.table.equals(alone.table)
    assert frame.table.schema.field("x").type != pa.float64()
