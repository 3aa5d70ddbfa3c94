"""The SELECT of the sums that an estimator is fitted from, for a view in a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suffice.data.sliced_sql import SPOKEN, bare, quoted
from suffice.errors import ParameterError
from suffice.export.sql import check_dialect, translated
from suffice.models.database_sums import Call, declared, needed
from suffice.models.from_sums import FittedFromSums

SOURCE = "suffice_source"


def sql_of_sums(
    estimator: Any,
    query: str,
    label: str | Sequence[str],
    columns: Sequence[str] | Mapping[str, Any],
    *,
    by: str | Sequence[str] = (),
    sample_weight: str | None = None,
    dialect: str = "duckdb",
) -> str:
    """Return the SELECT of the sums that an estimator is fitted from.

    It has count and sum by group alone, which incremental views maintain: rows that are deleted
    from the table leave the sums, and the model of the view. All sums are those of whole numbers,
    so that a view does not drift, whatever is inserted and deleted.

    Parameters
    ----------
    estimator : estimator
        Naive Bayes of Gaussians, counts, outcomes and categories; discriminant analysis; linear
        regression and ridge.
    query : str
        The name of a table, or one SELECT in the dialect.
    label : str or list of str
        The column of the labels, or of the targets.
    columns : sequence of str, or mapping of str to str or list
        The predictors; a mapping says what they are: "number" (the default: below 2^40, in units
        of 2^-80), "whole" (a whole number), "boolean", "category", or the list of the values of
        a category, which linear models and discriminant analysis need. A number beyond, or a value
        that is not listed, is refused when the sums are read.
    by : str or sequence of str
        The keys of groups.
    sample_weight : str, optional
        The column of weights.
    dialect : str
        "duckdb", "postgres" or "sqlite"; or another one of sqlglot, such as "bigquery",
        "snowflake", "spark" or "clickhouse", which is written by sqlglot and was not run.

    Returns
    -------
    str
        One SELECT.

    Raises
    ------
    ParameterError
        If the estimator is not fitted from such sums, or an option is outside its rule.

    Examples
    --------
    >>> import sqlite3
    >>> from suffice.naive_bayes import GaussianNB
    >>> shop = sqlite3.connect(":memory:")
    >>> _ = shop.execute("CREATE TABLE sales (price REAL, returned TEXT)")
    >>> _ = shop.execute("INSERT INTO sales VALUES (2.5, 'no'), (3.5, 'no'), (9.5, 'yes')")
    >>> select = sql_of_sums(GaussianNB(), "sales", "returned", ["price"], dialect="sqlite")
    >>> _ = shop.execute(f"CREATE VIEW sales_sums AS {select}")
    >>> from suffice import read_sql
    >>> view = read_sql("SELECT * FROM sales_sums", shop)
    >>> sums = GaussianNB().sums(view, "returned", where="view")
    >>> GaussianNB().fit(sums).theta_.tolist()
    [[3.0], [9.5]]
    """
    if not isinstance(estimator, FittedFromSums):
        raise ParameterError(
            f"{type(estimator).__name__} and sums in a database",
            "it is not fitted from sums",
            "take an estimator that is",
        )
    if not isinstance(query, str):
        raise ParameterError(f"query={query!r}", "it is the name of a table, or one SELECT")
    keys = (by,) if isinstance(by, str) else tuple(by)
    call = Call(estimator, query, label, sample_weight, keys)
    call.check()
    written = dialect if dialect in SPOKEN else ""
    if not written:
        check_dialect(dialect)
    found = declared(call, columns, f"SELECT * FROM {SOURCE}", written)
    plan, _ = needed(found, call.open(found.table))
    select = plan.select(plan.sums)
    if not written:
        select = translated(select, "duckdb", dialect)
    if len(query.split()) > 1:
        rows = f"(\n{bare(query)}\n) AS {SOURCE}"
    else:
        rows = ".".join(map(quoted, query.split(".")))
        rows = rows if written else translated(rows, "duckdb", dialect)
    return select.replace(SOURCE, rows, 1)
