"""`report`: a page in a file."""

from __future__ import annotations

from os import PathLike
from typing import Any

from suffice.atomic import atomic_writer
from suffice.errors import library
from suffice.models.base.scikit_learn import check_is_fitted


def report(model: Any, path: str | PathLike[str], test: Any = None) -> None:
    """Write a page that shows what a model knows, and answers questions, without a network.

    The page is one HTML file. It computes the answers of the model from its parameters, as Python
    does, missing and unseen cells included.

    Parameters
    ----------
    model : fitted estimator
        Naive Bayes, AODE, discriminant analysis, linear or logistic regression, or their average.
    path : str or path
        Where the page is written.
    test : table, or pair of rows and their answers, optional
        Test data. The page then has an evaluation of the predictions, and lists
        those that are most wrong. A table holds the column of answers under the name of the fit.

    Raises
    ------
    ParameterError
        If the model cannot be written as a page, or its page would be too large.
    DataError
        If a row of the test cannot be read, or none has an answer.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from suffice import NaiveBayes
    >>> rows = pa.table({"size": [1.0, 2.0, 5.0], "kind": ["a", "a", "b"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(NaiveBayes().fit(rows, "kind"), Path(folder) / "model.html")
    ...     "<title>kind" in Path(folder, "model.html").read_text("utf8")
    True
    """
    check_is_fitted(model)
    library("jinja2", "a page is filled in", "pip install 'suffice[report]'")
    from suffice.reports.page_text import page

    text = page(model, test)
    with atomic_writer(path, "w") as file:
        file.write(text)
