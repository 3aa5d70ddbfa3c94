"""Where statements end, and what their words are, in the languages of databases."""

import pytest

from suffice.data.databases.query_text import (
    LANGUAGES,
    MYSQL,
    POSTGRESQL,
    POSTGRESQL_8,
    SQL_SERVER,
    SQLITE,
    Language,
    require_no_change,
    require_one_reading,
)
from suffice.errors import ParameterError

DROP = ["SELECT", ";", "DROP"]


@pytest.mark.parametrize(
    ("query", "language", "expected"),
    [
        # The same text is one statement here and two there.
        (r"SELECT 'a\\' ; DROP --'", SQLITE, DROP),
        (r"SELECT 'a\\' ; DROP --'", POSTGRESQL, DROP),
        (r"SELECT 'a\' ; DROP --'", MYSQL, ["SELECT"]),
        (r"SELECT 'a\' ; DROP --'", POSTGRESQL_8, ["SELECT"]),
        (r"SELECT 'a\'' ; DROP --'", SQLITE, ["SELECT"]),
        (r"SELECT 'a\'' ; DROP -- '", MYSQL, DROP),
        (r"SELECT E'a\'' ; DROP --'", POSTGRESQL, DROP),
        (r"SELECT e'a\' ; DROP --'", POSTGRESQL, ["SELECT"]),
        ("SELECT [a;b]", SQLITE, ["SELECT"]),
        ("SELECT [a]];DROP]", SQL_SERVER, ["SELECT"]),
        ("SELECT `a;``DROP`", MYSQL, ["SELECT"]),
        ("SELECT # ; DROP\n;DROP", MYSQL, DROP),
        ("SELECT # ;DROP", SQLITE, ["SELECT", "#", ";", "DROP"]),
        ("SELECT --;DROP", MYSQL, ["SELECT", "-", "-", ";", "DROP"]),
        ("SELECT -- ;DROP", MYSQL, ["SELECT"]),
        ("SELECT --a\r;DROP", SQLITE, ["SELECT"]),
        ("SELECT --a\r;DROP", POSTGRESQL, DROP),
        ("SELECT /* /* */ ;DROP */", SQLITE, ["SELECT", ";", "DROP", "*", "/"]),
        ("SELECT /* /* */ ;DROP */", POSTGRESQL, ["SELECT"]),
        ("SELECT /* ;DROP", SQL_SERVER, ["SELECT"]),
        ("SELECT /*!40000 ;DROP */", SQLITE, ["SELECT"]),
        ("SELECT /*! ;DROP */", MYSQL, ["SELECT", "/", "*", "!", ";", "DROP", "*", "/"]),
        ("SELECT $a$ $$ ;DROP $a$", POSTGRESQL, ["SELECT"]),
        ("SELECT a$$;DROP", POSTGRESQL, ["SELECT", "A$$", ";", "DROP"]),
        ('SELECT "it\'s";DROP', POSTGRESQL, DROP),
        ("SELECT 'it''s;DROP", POSTGRESQL, ["SELECT"]),
    ],
)
def test_code(query: str, language: Language, expected: list[str]) -> None:
    assert list(language.code(query)) == expected


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "query",
    [
        "select 1",
        "(SELECT 1) UNION (SELECT 2);;",
        "/* a */ WITH a AS (SELECT 1) SELECT * FROM a -- ;",
        "VALUES (1, ';')",
        'TABLE "a;b"',
        "FROM pet SELECT kind",
    ],
)
def test_a_reading_is_accepted(query: str, language: Language) -> None:
    require_one_reading(query, [language])


def test_any_language_may_object() -> None:
    query = r"SELECT 'a\'' ; DROP TABLE pet -- '"
    require_one_reading(query, [SQLITE, POSTGRESQL])
    with pytest.raises(ParameterError) as caught:
        require_one_reading(query)
    assert str(caught.value) == (
        "the query goes on with DROP after a semicolon; a query is one statement; leave the others "
        "out; give a string that holds a semicolon as a parameter."
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 'update', \"delete\", updated, insert(a, 1, 2, 'x'), truncate(b, 2) FROM c",
        "SELECT 1 /* into */ -- drop",
    ],
)
def test_names_and_functions_are_no_change(query: str) -> None:
    require_no_change(query)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("SELECT 1 DELETE FROM pet", "DELETE"),
        ("SELECT * FROM pet FOR UPDATE", "UPDATE"),
        ("SELECT 1 INTO OUTFILE 'x'", "INTO"),
        ("WITH d AS (INSERT INTO pet VALUES (1) RETURNING *) SELECT 1", "INSERT"),
        ("SELECT 1 /*! INTO OUTFILE 'x' */", "INTO"),
    ],
)
def test_a_change_is_named(query: str, word: str) -> None:
    with pytest.raises(ParameterError) as caught:
        require_no_change(query)
    assert str(caught.value) == (
        f"the query holds {word}; rows are read, and nothing is changed; leave it out; a name is "
        "quoted."
    )
