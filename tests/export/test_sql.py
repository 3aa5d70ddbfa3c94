"""SQL, run by the databases themselves: what they answer is what Python answers."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sqlglot", reason="sqlglot is not installed")

import sqlglot

from suffice import AutoClassifier, LinearDiscriminantAnalysis, NaiveBayes
from suffice.errors import ParameterError
from suffice.export import to_sql
from suffice.families import Density
from suffice.naive_bayes import BernoulliNB, GaussianNB

from .conftest import ALL_NAIVE_BAYES, DATED, DISCRIMINANTS, KINDS_OF_TIME, TRAINED, dates

TABLE = 't"; DROP TABLE x; --'
Run = Callable[[pd.DataFrame, str], pd.DataFrame]


def in_duckdb(rows: pd.DataFrame, query: str) -> pd.DataFrame:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        connection.execute(f"CREATE TABLE {_quoted(TABLE)} AS SELECT * FROM rows")
        found: pd.DataFrame = connection.execute(query).fetch_df()
    return found


def in_sqlite(rows: pd.DataFrame, query: str) -> pd.DataFrame:
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("SELECT ln(2.0), floor(1.5)")
        except sqlite3.OperationalError:
            pytest.skip("SQLite was built without mathematical functions")
        columns = ", ".join(map(_quoted, rows.columns))
        connection.execute(f"CREATE TABLE {_quoted(TABLE)} ({columns})")
        places = ", ".join("?" * rows.shape[1])
        plain = rows.astype(object).where(rows.notna(), None)
        for name in KINDS_OF_TIME.keys() & set(rows):
            plain[name] = [None if cell is None else str(cell) for cell in plain[name]]
        connection.executemany(
            f"INSERT INTO {_quoted(TABLE)} VALUES ({places})", plain.to_numpy().tolist()
        )
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description]
        return pd.DataFrame(cursor.fetchall(), columns=names)


@pytest.fixture
def in_postgresql(postgresql: Any) -> Run:
    import pyarrow as pa
    from adbc_driver_postgresql import dbapi

    def run(rows: pd.DataFrame, query: str) -> pd.DataFrame:
        with dbapi.connect(postgresql.address) as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {_quoted(TABLE)}")
            kinds = [_KINDS.get(str(rows[name].dtype), "float8") for name in rows]
            columns = ", ".join(f"{_quoted(n)} {k}" for n, k in zip(rows, kinds, strict=True))
            cursor.execute(f"CREATE TABLE {_quoted(TABLE)} ({columns})")
            cursor.adbc_ingest(TABLE, pa.Table.from_pandas(rows), mode="append")
            connection.commit()
            cursor.execute(query)
            found: pd.DataFrame = cursor.fetch_arrow_table().to_pandas()
        return found

    return run


_KINDS = {"Int64": "int8", "int64": "int8", "boolean": "boolean", "bool": "boolean"}
_KINDS |= {"string": "text", "str": "text", "object": "text"}
_KINDS |= {"date32[day][pyarrow]": "date", "time64[us][pyarrow]": "time"}
_KINDS |= {"timestamp[us][pyarrow]": "timestamp"}


@pytest.fixture(scope="module")
def in_spark() -> Iterator[Run]:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is absent")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()

    def run(rows: pd.DataFrame, query: str) -> pd.DataFrame:
        import pyarrow as pa

        session.createDataFrame(pa.Table.from_pandas(rows)).createOrReplaceTempView("t")
        answer = session.sql(query.replace(f"`{TABLE}`", "t"))
        return answer.toArrow().to_pandas()

    yield run
    session.stop()


@pytest.fixture(params=["duckdb", "sqlite", "postgres", "spark"])
def database(request: pytest.FixtureRequest) -> tuple[str, Run]:
    """A dialect, and what runs a query in it."""
    if request.param in ("postgres", "spark"):
        place = {"postgres": "in_postgresql", "spark": "in_spark"}[request.param]
        return request.param, request.getfixturevalue(place)
    return request.param, {"duckdb": in_duckdb, "sqlite": in_sqlite}[request.param]


LOCAL = [("duckdb", in_duckdb), ("sqlite", in_sqlite)]
NO_SPARK = pytest.mark.parametrize("database", ["duckdb", "sqlite", "postgres"], indirect=True)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def check(model: Any, rows: pd.DataFrame, dialect: str, run: Run) -> None:
    """The same labels, and probabilities within 1e-12 (1e-9 of numbers, which are larger)."""
    keyed = rows.assign(key=np.arange(len(rows)))
    query = to_sql(model, dialect, TABLE, keep=["key"])
    answer = run(keyed, query).sort_values("key")
    assert list(answer["key"]) == list(range(len(rows)))
    expected = model.predict(rows)
    if hasattr(model, "classes_"):
        assert list(answer["prediction"]) == list(expected)
        found = answer[[f"P({label})" for label in model.classes_]].to_numpy(float)
        np.testing.assert_allclose(found, model.predict_proba(rows), rtol=0, atol=1e-12)
    else:
        np.testing.assert_allclose(answer["prediction"].to_numpy(float), expected, rtol=1e-9)


@pytest.mark.parametrize("name", ALL_NAIVE_BAYES)
def test_naive_bayes(
    naive_bayes: Any, holes: pd.DataFrame, name: str, database: tuple[str, Run]
) -> None:
    check(naive_bayes[name], holes, *database)


@pytest.mark.parametrize(("dialect", "run"), LOCAL)
def test_bins(of_bins: Any, holes: pd.DataFrame, dialect: str, run: Run) -> None:
    check(of_bins, _read(of_bins, holes), dialect, run)


#: Models of complete rows, of which a cell that is missing leaves no answer.
STRICT = ["logistic", "logistic of two", "logistic of bins", "linear", "ridge"]


def _read(model: Any, rows: pd.DataFrame) -> pd.DataFrame:
    return rows[list(model.feature_names_in_)]


@pytest.mark.parametrize("name", [*DISCRIMINANTS, "joined", *STRICT])
def test_complete_rows(
    complete_models: Any, complete: pd.DataFrame, name: str, database: tuple[str, Run]
) -> None:
    model = complete_models[name]
    check(model, _read(model, complete), *database)


@NO_SPARK
def test_a_cell_at_the_threshold_is_not_above_it(database: tuple[str, Run]) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(-1, 2, (60, 2)).astype(float)).rename(columns="x{}".format)
    model = BernoulliNB(binarize=0.0).fit(rows, rng.choice(["a", "b"], 60))
    rows.iloc[:2, 0] = [1e-310, -1e-310]
    check(model, rows, *database)


@NO_SPARK
@pytest.mark.parametrize("name", DATED)
def test_dates(dated: Any, name: str, database: tuple[str, Run]) -> None:
    check(*dated[name], *database)


def test_texts_that_are_no_dates_are_refused_in_sqlite(dated: Any) -> None:
    model, rows = dated["gaussians"]
    texts = ["2024-13-01", "now", "2451545", "14:30", "1.2.2024", None]
    asked = rows.head(len(texts)).astype(object).assign(day=texts)
    answer = in_sqlite(asked, to_sql(model, "sqlite", TABLE, keep=["day"]))
    assert answer["P(yes)"].isna().tolist() == answer["day"].notna().tolist()


def test_a_dialect_without_dates_is_refused_by_name(dated: Any) -> None:
    with pytest.raises(ParameterError, match=r"column 'day' holds dates; .*, not oracle"):
        to_sql(dated["gaussians"][0], "oracle", "t")
    with pytest.raises(ParameterError, match=r"column 'at' holds times of day; .*, not spark"):
        to_sql(dated["gaussians"][0], "spark", "t")
    model = NaiveBayes.textbook().fit(dates(100, 1, gaps=True).drop(columns="at"), "y")
    for dialect in ("mysql", "bigquery", "trino", "spark"):
        assert len(sqlglot.parse(to_sql(model, dialect, "t"), dialect=dialect)) == 1


@pytest.mark.parametrize("name", STRICT)
def test_a_null_gives_null_and_the_statement_says_so(
    complete_models: Any, complete: pd.DataFrame, name: str
) -> None:
    model = complete_models[name]
    rows = _read(model, complete.head(5)).copy()
    rows.iloc[2, 0] = np.nan
    query = to_sql(model, "duckdb", TABLE)
    assert "gets NULL: the model needs" in query.splitlines()[1]
    answer = in_duckdb(rows, query)
    assert answer.isna().all(axis=1).tolist() == [False, False, True, False, False]
    assert answer.isna().any(axis=1).tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("name", ["whole", "gaps", "pairs"])
@pytest.mark.parametrize(("dialect", "run"), LOCAL)
def test_averages(averages: Any, holes: pd.DataFrame, name: str, dialect: str, run: Run) -> None:
    model = averages[name]
    check(model, _read(model, holes).head(300), dialect, run)


@pytest.mark.parametrize("name", DISCRIMINANTS)
@pytest.mark.parametrize(("dialect", "run"), LOCAL)
def test_discriminants_answer_whatever_is_missing(
    complete_models: Any, holes: pd.DataFrame, name: str, dialect: str, run: Run
) -> None:
    model = complete_models[name]
    check(model, _read(model, holes), dialect, run)


def test_gaps_that_no_statement_of_bounded_size_integrates_out_are_refused(
    training: pd.DataFrame,
) -> None:
    x = pd.DataFrame(np.random.default_rng(0).normal(size=(TRAINED, 47))).add_prefix("x")
    model = LinearDiscriminantAnalysis().fit(x, training["y"])
    assert "the model needs 'x0', " in to_sql(model, "duckdb", TABLE).splitlines()[1]
    x.loc[3, "x7"] = np.nan
    with pytest.raises(ParameterError, match="column 'x7' has missing cells"):
        to_sql(LinearDiscriminantAnalysis().fit(x, training["y"]), "duckdb", TABLE)
    average = AutoClassifier(["lda"]).fit(x, training["y"])
    with pytest.raises(ParameterError, match=r"^lda, a member .* column 'x7'.*without 'lda'"):
        to_sql(average, "duckdb", TABLE)


def test_what_python_refuses_is_null() -> None:
    rows = pd.DataFrame({"x": [1.0, 2.0, 4.0, 5.0], "y": ["a", "a", "b", "b"]})
    model = NaiveBayes.textbook().fit(rows, "y")
    asked = pd.DataFrame({"x": [np.inf, -np.inf, 1e200, np.nan, 3.0]})
    answer = in_duckdb(asked, to_sql(model, "duckdb", TABLE))
    assert answer.isna().all(axis=1).tolist() == [True, True, True, False, False]


def test_whole_numbers_that_are_stored_as_doubles(stored_as_numbers: Any) -> None:
    import pyarrow as pa

    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    model, rows, answers = stored_as_numbers
    cells = pa.array(rows["code"].to_numpy(), from_pandas=False)  # NaN, and no NULL
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"code": cells, "key": range(len(rows))}))
        found = connection.execute(to_sql(model, "duckdb", "t", keep=["key"])).fetch_df()
    found = found.sort_values("key")[["P(a)", "P(b)"]].to_numpy(float)
    np.testing.assert_allclose(found, answers, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("dialect", "run"), LOCAL)
def test_a_row_impossible_under_every_class_gets_the_prior(dialect: str, run: Run) -> None:
    rows = pd.DataFrame({"v": ["p", "q", "q"], "w": ["r", "s", "s"], "y": ["a", "b", "b"]})
    model = NaiveBayes.textbook(alpha=0.0, estimation="mle").fit(rows, "y")
    asked = pd.DataFrame({"v": ["p"], "w": ["s"]})
    (answer,) = run(asked, to_sql(model, dialect, TABLE)).to_dict("records")
    assert answer["prediction"] == "b"
    assert (answer["P(a)"], answer["P(b)"]) == pytest.approx((1 / 3, 2 / 3), rel=1e-15)


def test_many_classes_in_sqlite() -> None:
    rng = np.random.default_rng(3)
    labels = [f"c{i:03}" for i in range(250)]  # a function of SQLite has 100 arguments at most
    rows = pd.DataFrame({"x": rng.normal(size=1000), "y": labels * 4})
    rows["x"] += np.tile(np.arange(250), 4)
    check(NaiveBayes.textbook().fit(rows, "y"), rows[["x"]].head(50), "sqlite", in_sqlite)


@pytest.mark.parametrize("table", ["cells", "Scores", "maxima", "weights"])
def test_a_table_named_as_a_step(table: str) -> None:
    model = GaussianNB().fit(pd.DataFrame({"x": [0.0, 1.0, 4.0, 6.0]}), ["a", "a", "b", "b"])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE {table} AS SELECT 5.0 AS x")
        assert connection.execute(to_sql(model, "sqlite", table)).fetchone()[0] == "b"


@pytest.mark.parametrize("dialect", ["bigquery", "tsql", "oracle", "trino"])
def test_other_dialects_parse(naive_bayes: Any, complete_models: Any, dialect: str) -> None:
    model = naive_bayes["bayes"] if dialect in {"bigquery", "oracle"} else complete_models["qda"]
    statements = sqlglot.parse(to_sql(model, dialect, ("s", TABLE)), dialect=dialect)
    assert len(statements) == 1
    (table,) = [t for t in statements[0].find_all(sqlglot.exp.Table) if t.db == "s"]
    assert table.name == TABLE


def test_names_and_labels_stay_inside_their_quotes(naive_bayes: Any, holes: pd.DataFrame) -> None:
    for dialect in ("duckdb", "mysql", "spark"):
        statements = sqlglot.parse(to_sql(naive_bayes["bayes"], dialect, TABLE), dialect=dialect)
        assert [type(statement) for statement in statements] == [sqlglot.exp.Select]
        names = {i.name for i in statements[0].find_all(sqlglot.exp.Identifier)}
        assert set(holes.columns) <= names


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite", "spark", "mysql"])
def test_quotes_and_backslashes_stay_in_strings(dialect: str) -> None:
    odd = ["it's", "\\", "\\'", "a`b", 'c"d']
    rows = pd.DataFrame({"w": odd * 2, "y": [f"{text}!" for text in odd] * 2})
    statement = to_sql(NaiveBayes.textbook().fit(rows, "y"), dialect, "t")
    literals = sqlglot.parse_one(statement, read=dialect).find_all(sqlglot.exp.Literal)
    assert {*odd, *rows["y"]} <= {one.name for one in literals if one.is_string}


def test_spark_substitutes_no_variable_in_a_name() -> None:
    rows = pd.DataFrame({"${x}": [1.0, 2.0, 4.0], "y": ["a", "b", "b"]})
    model = NaiveBayes.textbook().fit(rows, "y")
    with pytest.raises(ParameterError, match=r"the name '\$\{x\}' holds \$\{"):
        to_sql(model, "spark", "t")
    assert "${x}" in to_sql(model, "duckdb", "t")


@pytest.mark.parametrize(("dialect", "run"), LOCAL)
@pytest.mark.parametrize("shape", ["histogram", "kernel_density"])
def test_a_number_at_an_edge_is_in_the_bin_of_python(shape: Any, dialect: str, run: Run) -> None:
    rng = np.random.default_rng(7)
    rows = pd.DataFrame({"x": rng.gamma(2.0, size=300).round(2), "y": rng.choice(list("abc"), 300)})
    model = NaiveBayes.textbook({"x": Density(shape)}).fit(rows, "y")
    edges = model.model_.parameters[0].low
    around = [edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]
    asked = pd.DataFrame({"x": np.concatenate([*around, [-0.0, -1e9, 1e9, np.nan]])})
    check(model, asked, dialect, run)


def test_refusals_name_the_rule(naive_bayes: Any, training: pd.DataFrame) -> None:
    model = naive_bayes["bayes"]
    with pytest.raises(ParameterError, match="dialect='klingon'"):
        to_sql(model, "klingon", "t")
    with pytest.raises(ParameterError, match="two columns 'prediction'"):
        to_sql(model, "duckdb", "t", keep=["prediction"])
    text = pd.DataFrame({"t": [f"some words here {i}" for i in range(8)], "y": list("ab") * 4})
    with pytest.raises(ParameterError, match="column 't' is text"):
        to_sql(NaiveBayes.textbook().fit(text, "y"), "duckdb", "t")
    costly = NaiveBayes.textbook(costs=1 - np.eye(3)).fit(training, "y")
    with pytest.raises(ParameterError, match="decides by costs"):
        to_sql(costly, "duckdb", "t")
