"""What the text of a query tells: how many statements it holds, and which words stand in them.

Databases disagree on what a string, a quoted name or a comment is, and so on where a statement
ends. Where the language of a query is not known, it must be fit to be read in each of those below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from suffice.errors import ParameterError, ReadError, SufficeError

__all__ = [
    "LANGUAGES",
    "POSTGRESQL",
    "POSTGRESQL_8",
    "SQLITE",
    "Language",
    "no_rows",
    "require_no_change",
    "require_one_reading",
    "that_begins_with",
]

RULE = "rows are read, and nothing is changed"
READING = ("SELECT", "WITH", "VALUES", "TABLE", "FROM")
CHANGE = re.compile(
    "ALTER|BACKUP|COMMIT|CREATE|DBCC|DELETE|DENY|DROP|EXEC|EXECUTE|GRANT|INSERT|INTO|KILL|MERGE|"
    "RECONFIGURE|RESTORE|REVOKE|ROLLBACK|SHUTDOWN|TRUNCATE|UPDATE"
)
FUNCTIONS = ("INSERT", "TRUNCATE")  # in MySQL, where a parenthesis follows
TRANSACTIONS = ("BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "START")


@dataclass(frozen=True)
class Language:
    """What is not code in a query.

    Examples
    --------
    >>> list(POSTGRESQL.code("SELECT 'a;b', $$;$$ /* ; /* ; */ ; */ FROM pet;  -- all"))
    ['SELECT', ',', 'FROM', 'PET', ';']
    """

    strings: str  # a pattern of strings and quoted names; what never closes reaches to the end
    lines: str = r"--[^\r\n]*"  # of comments that end with their line
    opens: str = r"/\*"  # of what opens a comment that ends with ``*/``
    nests: bool = False  # whether such a comment may hold others

    @cached_property
    def _piece(self) -> re.Pattern[str]:
        code = r"(?P<code>[^\W\d][\w$]*+|.)"
        return re.compile(
            rf"\s+|{self.lines}|(?P<comment>{self.opens})|{self.strings}|{code}", re.DOTALL
        )

    def code(self, query: str) -> Iterator[str]:
        """Yield words, in capitals, and other signs one by one."""
        at = 0
        while piece := self._piece.match(query, at):
            at = self._end(query, piece.end()) if piece["comment"] else piece.end()
            if piece["code"]:
                yield piece["code"].upper()

    def _end(self, query: str, inside: int) -> int:
        """Where a comment ends."""
        depth = 1
        for mark in re.compile(r"/\*|\*/").finditer(query, inside):
            depth += -1 if mark[0] == "*/" else self.nests
            if not depth:
                return mark.end()
        return len(query)


def _doubled(opens: str, closes: str) -> str:
    """What stands between two signs, the second of which is doubled inside."""
    closes = re.escape(closes)
    return rf"{re.escape(opens)}(?>(?:[^{closes}]|{closes}{closes})*){closes}?"


def _escaped(sign: str) -> str:
    """What stands between two equal signs, which are doubled or follow a backslash inside."""
    return rf"{sign}(?>(?:[^{sign}\\]|{sign}{sign}|\\.)*){sign}?"


_STRING, _NAME = _doubled("'", "'"), _doubled('"', '"')
_TICKED, _BRACKETED = _doubled("`", "`"), _doubled("[", "]")
_DOLLARS = r"\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?(?:\$(?P=tag)\$|\Z)"

SQLITE = Language(f"{_STRING}|{_NAME}|{_TICKED}|{_BRACKETED}", r"--[^\n]*")
POSTGRESQL = Language(f"[eE]{_escaped(chr(39))}|{_STRING}|{_NAME}|{_DOLLARS}", nests=True)
POSTGRESQL_8 = Language(f"{_escaped(chr(39))}|{_NAME}|{_DOLLARS}", nests=True)
MYSQL = Language(
    f"{_escaped(chr(39))}|{_escaped(chr(34))}|{_TICKED}",
    r"--(?=\s|\Z)[^\n]*|#[^\n]*",
    r"/\*(?!M?!)",  # what begins with /*! is code
)
SQL_SERVER = Language(f"{_STRING}|{_NAME}|{_BRACKETED}", nests=True)
LANGUAGES = (SQLITE, POSTGRESQL, POSTGRESQL_8, MYSQL, SQL_SERVER)


def require_one_reading(query: str, languages: Iterable[Language] = LANGUAGES) -> None:
    """Refuse a query that is not one statement which returns rows, in any of the languages.

    Raises
    ------
    ParameterError
        Saying what it begins with, or goes on with.
    ReadError
        If it begins or ends a transaction.

    Examples
    --------
    >>> require_one_reading("SELECT ';' AS sign FROM pet;")
    >>> require_one_reading("SELECT 1; DROP TABLE pet")
    Traceback (most recent call last):
        ...
    suffice.errors.ParameterError: the query goes on with DROP after a semicolon; a query is ...
    """
    for language in languages:
        code = list(language.code(query))
        first = next((piece for piece in code if piece not in "(;"), None)
        if first not in READING:
            raise that_begins_with(first)
        end = code.index(";") if ";" in code else len(code)
        second = next((piece for piece in code[end:] if piece != ";"), None)
        if second is not None:
            raise ParameterError(
                f"the query goes on with {second} after a semicolon",
                "a query is one statement",
                "leave the others out; give a string that holds a semicolon as a parameter",
            )


def that_begins_with(first: str | None) -> SufficeError:
    """What is wrong with a query that begins with a word which is not one of `READING`."""
    if first is None:
        return ParameterError("the query is empty", RULE, "use SELECT")
    if first in TRANSACTIONS:
        return no_rows()
    return ParameterError(f"the query begins with {first}", RULE, "use SELECT")


def no_rows() -> ReadError:
    """What is wrong with a statement that has no columns."""
    return ReadError("the query returns no rows", "a table has columns", "use SELECT")


def require_no_change(query: str, languages: Iterable[Language] = LANGUAGES) -> None:
    """Refuse a query that holds a word of change outside strings, quoted names and comments.

    Such a word may delete rows in a common table expression, name a file or table to write
    (``INTO``), lock rows (``FOR UPDATE``), or begin a statement where no semicolon is needed.

    Raises
    ------
    ParameterError
        Naming the word.

    Examples
    --------
    >>> require_no_change('SELECT "update", replace(kind, x, y) FROM pet')
    >>> require_no_change("WITH gone AS (DELETE FROM pet RETURNING *) SELECT * FROM gone")
    Traceback (most recent call last):
        ...
    suffice.errors.ParameterError: the query holds DELETE; rows are read, and nothing is changed...
    """
    for language in languages:
        code = [*language.code(query), ""]
        for word, after in pairwise(code):
            if CHANGE.fullmatch(word) and not (word in FUNCTIONS and after == "("):
                raise ParameterError(
                    f"the query holds {word}", RULE, "leave it out; a name is quoted"
                )
