"""Words of messages: amounts, articles, and names that may be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

NAMED = 3  # classes in a sentence
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    r"""Return a text with its control characters as Python spells them; lines stay.

    Examples
    --------
    >>> printable("5 \x80\n\x1b[1m")
    '5 \\x80\n\\x1b[1m'
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def amount(weight: float) -> str:
    """Write a number of rows, or a sum of weights.

    Examples
    --------
    >>> amount(32561.0), amount(2.5)
    ('32,561', '2.5')
    """
    return f"{weight:,.0f}" if float(weight).is_integer() else f"{weight:,.6g}"


def rows_in_print(weight: float) -> str:
    """Write how many rows there are, or what they weigh.

    Examples
    --------
    >>> rows_in_print(1), rows_in_print(32561.0), rows_in_print(0)
    ('1 row', '32,561 rows', '0 rows')
    """
    return f"{amount(weight)} row{'' if weight == 1 else 's'}"


def rows_of_classes(rows: Mapping[Any, float]) -> str:
    """Say how many rows each of some classes has.

    Examples
    --------
    >>> rows_of_classes({"typo": 1.0, "b": 2.0})
    "1 row of class 'typo', 2 rows of class 'b'"
    """
    first = [f"{rows_in_print(w)} of class {c!r}" for c, w in list(rows.items())[:NAMED]]
    others = len(rows) - len(first)
    return ", ".join(first) + (f" and those of {others} more" if others else "")


def meant(name: Any, known: Iterable[Any]) -> str:
    """Say which of some names may be meant by one that is none of them; nothing if none is near.

    Examples
    --------
    >>> meant("specis", ["island", "species"]), meant("Y", ["x", "y"]), meant("q", ["x", "y"])
    ("perhaps 'species' is meant", "perhaps 'y' is meant", '')
    """
    from difflib import get_close_matches

    folded = {str(one).strip().casefold(): one for one in known}
    near = get_close_matches(str(name).strip().casefold(), folded, 1, 0.75)
    return f"perhaps {folded[near[0]]!r} is meant" if near else ""


def with_article(name: str) -> str:
    """A noun with its article.

    Examples
    --------
    >>> with_article("ElasticNet"), with_article("Ridge")
    ('an ElasticNet', 'a Ridge')
    """
    return f"an {name}" if name[0] in "AEIOU" else f"a {name}"
