"""Everything that can go wrong, and what to do about it.

::

    SufficeError
    ├── DataError        (ValueError)  a cell, row or column breaks a rule
    │   ├── SchemaError                the columns are not those of the model
    │   └── ReadError                  a file or database cannot be read as specified
    ├── ParameterError   (ValueError)  an option has a value outside its rule
    │   └── UnavailableError           a fit with these options lacks an attribute
    ├── ForgetError      (ValueError)  rows to forget were never in fit
    ├── ModelFileError   (ValueError)  a model file is damaged, foreign or too new
    └── EngineError      (RuntimeError)  workers cannot be started, died, or have another version

A message is built from facts: what was found and where, the rule it breaks, and the next step.
An option is named as ``name=value``, which the command line spells its own way.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

from suffice.phrases import printable

__all__ = [
    "DataError",
    "EngineError",
    "ForgetError",
    "ModelFileError",
    "ParameterError",
    "ReadError",
    "SchemaError",
    "SufficeError",
    "SufficeWarning",
    "UnavailableError",
    "warn",
]


class SufficeError(Exception):
    """Root of every error raised on purpose.

    Parameters
    ----------
    fact : str
        What was found: the value, its column and its row.
    rule : str, optional
        The rule that the fact breaks.
    next_step : str, optional
        What the user can do about it.

    Examples
    --------
    >>> print(DataError("column 'age', row 3: inf", "numbers must be finite", "blank the cell"))
    column 'age', row 3: inf; numbers must be finite; blank the cell.
    """

    def __init__(self, fact: str, rule: str = "", next_step: str = "") -> None:
        self.fact, self.rule, self.next_step = map(printable, (fact, rule, next_step))
        parts = (self.fact, self.rule, self.next_step)
        super().__init__("; ".join(part for part in parts if part) + ".")

    def __reduce__(self) -> tuple[type[SufficeError], tuple[str, str, str]]:
        return type(self), (self.fact, self.rule, self.next_step)


class DataError(SufficeError, ValueError):
    """A cell, row or column breaks a rule.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> try:
    ...     NaiveBayes().fit([[1.0], [float("inf")]], ["a", "b"])
    ... except DataError as error:
    ...     print(error)
    column 'x0', row 1: inf; a number must be finite.
    """


class SchemaError(DataError):
    """The columns are not those that the model was fitted with.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes().fit({"size": [1.0, 2.0, 5.0]}, ["a", "a", "b"])
    >>> try:
    ...     model.predict({"weight": [1.0]})
    ... except SchemaError as error:
    ...     print(error)
    column 'size' is not in the table; its columns are 'weight'; correct the name.
    """


class ReadError(DataError):
    r"""A file or database cannot be read as specified.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from suffice import NaiveBayes
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.csv")
    ...     _ = file.write_text("size,kind\n1,a\n2\n")
    ...     try:
    ...         NaiveBayes().fit(file, "kind")
    ...     except ReadError as error:
    ...         print(error.rule)
    every row must have one field per column
    """


class ParameterError(SufficeError, ValueError):
    """An option has a value outside its rule.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> try:
    ...     NaiveBayes(alpha=-1).fit([[1], [2]], ["a", "b"])
    ... except ParameterError as error:
    ...     print(error)
    alpha=-1; alpha is a finite number, 0 or more.
    """


class UnavailableError(ParameterError, AttributeError):
    """A fit with these options lacks an attribute; `hasattr` is false.

    Examples
    --------
    >>> from suffice import LinearRegression
    >>> rows = [[1.0], [2.0], [4.0]]
    >>> model = LinearRegression(solver="gradient").fit(rows, [1.0, 2.0, 4.5])
    >>> try:
    ...     model.rank_
    ... except UnavailableError as error:
    ...     print(error.rule)
    gradient descent keeps no sums over the rows, only coefficients
    """


class ForgetError(SufficeError, ValueError):
    """Rows to forget were never in fit.

    A statistic knows the number of its column only; whoever knows the names says them.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes.textbook().fit({"size": [1.0, 2.0, 5.0]}, ["a", "a", "b"])
    >>> try:
    ...     model.forget({"size": [7.0]}, ["c"])
    ... except ForgetError as error:
    ...     print(error)
    class 'c': fewer rows than are to be forgotten; only rows that were learnt can be forgotten.
    """

    block: int = 0
    column: int | None = None


class ModelFileError(SufficeError, ValueError):
    """A model file is damaged, foreign, or written by a newer version.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import suffice
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "model.suffice").write_text("hello")
    ...     try:
    ...         suffice.load(Path(folder, "model.suffice"))
    ...     except ModelFileError as error:
    ...         print(error.rule)
    only files that Suffice saved can be loaded
    """


class EngineError(SufficeError, RuntimeError):
    """Workers cannot be started, died, or have another version of this library.

    Examples
    --------
    >>> print(EngineError("worker 2 died three times", "a part is tried three times"))
    worker 2 died three times; a part is tried three times.
    """


class SufficeWarning(UserWarning):
    """Something was decided on the user's behalf and is worth knowing.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> names = [f"name {i}" for i in range(30)]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = NaiveBayes().fit({"name": names, "size": [1.0, 5.0] * 15}, ["a", "b"] * 15)
    >>> "column 'name' tells one row from another" in str(caught[0].message)
    True
    """


def library(name: str, fact: str, install: str) -> Any:
    """Import a module of an optional library.

    Parameters
    ----------
    name : str
        The module.
    fact : str
        What needs it.
    install : str
        How the library is installed.

    Raises
    ------
    ParameterError
        If it is not installed.

    Examples
    --------
    >>> library("json", "a.json is JSON", "").loads("[1]")
    [1]
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ParameterError(fact, f"{error.name} is not installed", install) from error


def first_line(error: Exception) -> str:
    r"""Return what an error says first, to be quoted in a sentence.

    Examples
    --------
    >>> first_line(OSError("ERROR:  no such table.\nLINE 1: SELECT"))
    'ERROR: no such table'
    """
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    # Arrow adds where in Python an error began.
    return " ".join(first.partition(". Detail: ")[0].split()).rstrip(".")


def warn(message: str, category: type[Warning] = SufficeWarning) -> None:
    """Warn of a line of the caller's, the last one that is outside this library.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("column 'age' is constant")
    >>> caught[0].category.__name__
    'SufficeWarning'
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("suffice."):
        frame, level = frame.f_back, level + 1
    warnings.warn(printable(message), category, stacklevel=level)
