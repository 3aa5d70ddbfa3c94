"""Everything that can go wrong, and what to do about it.

::

    SufficeError
    ├── DataError        (ValueError)  a cell, row or column breaks a rule
    │   ├── SchemaError                the columns are not those of the model
    │   └── ReadError                  a file or database cannot be read as declared
    ├── ParameterError   (ValueError)  an option has a value outside its rule
    │   └── UnavailableError           a fit with these options lacks an attribute
    ├── ForgetError      (ValueError)  rows to forget were never learnt
    ├── ModelFileError   (ValueError)  a model file is damaged, foreign or too new
    └── EngineError      (RuntimeError)  workers cannot be started, died, or have another version

A message is built from facts: what was found and where, the rule it breaks, and the next step.
Where one of them names an option, it is a `Phrase`, which the command line can spell its own way.
"""

from __future__ import annotations

import sys
import warnings

__all__ = [
    "DataError",
    "EngineError",
    "ForgetError",
    "FormerNameWarning",
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
        self.fact, self.rule, self.next_step = fact, rule, next_step
        super().__init__("; ".join(part for part in (fact, rule, next_step) if part) + ".")

    def __reduce__(self) -> tuple[type[SufficeError], tuple[str, str, str]]:
        return type(self), (self.fact, self.rule, self.next_step)


class DataError(SufficeError, ValueError):
    """A cell, row or column breaks a rule."""


class SchemaError(DataError):
    """The columns are not those that the model was fitted with."""


class ReadError(DataError):
    """A file or database cannot be read as declared."""


class ParameterError(SufficeError, ValueError):
    """An option has a value outside its rule."""


class UnavailableError(ParameterError, AttributeError):
    """A fit with these options lacks an attribute; `hasattr` is false."""


class ForgetError(SufficeError, ValueError):
    """Rows to forget were never learnt.

    A statistic knows the number of its column only; whoever knows the names says them.
    """

    block: int = 0
    column: int | None = None


class ModelFileError(SufficeError, ValueError):
    """A model file is damaged, foreign, or written by a newer version."""


class EngineError(SufficeError, RuntimeError):
    """Workers cannot be started, died, or have another version of this library."""


class SufficeWarning(UserWarning):
    """Something was decided on the user's behalf and is worth knowing."""


class FormerNameWarning(SufficeWarning, FutureWarning):
    """A parameter is used by the name that it had before."""


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
    warnings.warn(message, category, stacklevel=level)
