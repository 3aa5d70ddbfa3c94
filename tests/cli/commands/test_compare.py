"""``suffice compare``, and what merge and forget say of files that do not go together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import suffice

Run = Callable[..., Result]

TABLES = {
    "other": "size,color,kind\n1.0,red,apple\n2,green,plum\n8,green,plum\n",
    "hue": "size,hue,kind\n1.0,red,apple\n2,green,plum\n",
    "words": "size,color,kind\nbig,red,apple\nsmall,green,plum\n",
    "codes": "size,color,kind\n1.0,red,1\n2,green,2\n",
    "turned": "color,size,kind\nred,1.0,apple\ngreen,2,plum\n",
    "sorts": "size,color,sort\n1.0,red,apple\n2,green,plum\n",
    "flat": "size,color,kind\n3,red,apple\n3,red,plum\n",
}


PLAIN = ("-p", "numbers=gaussian", "-p", "calibration=none")


@pytest.fixture
def model(run: Run, fruit: Path) -> Path:
    assert run("fit", fruit, "--label", "kind", "--ignore", "id", *PLAIN).exit_code == 0
    return fruit.with_name("fruit.suffice")


@pytest.fixture
def models(run: Run, model: Path, tmp_path: Path) -> Path:
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text)
        label = "sort" if name == "sorts" else "kind"
        assert run("fit", f"{name}.csv", "--label", label, *options(name)).exit_code == 0
    words = ("--label", "kind", "--model", "lda", "--features", "size", "-o", "lda.suffice")
    assert run("fit", "other.csv", *words).exit_code == 0
    words = ("--target", "size", "--model", "linear", "--features", "color", "-o", "line.suffice")
    assert run("fit", "other.csv", *words).exit_code == 0
    words = ("--target", "size", "--model", "ridge", "--features", "hue", "-o", "tint.suffice")
    assert run("fit", "hue.csv", *words).exit_code == 0
    words = ("--label", "kind", "--model", "logistic", "--features", "size", "-o", "curve.suffice")
    assert run("fit", "other.csv", *words).exit_code == 0
    return tmp_path


def options(name: str) -> tuple[str, ...]:
    return (*PLAIN, *(("-p", "families=size:gaussian") if name == "flat" else ()))


def facts_of(run: Run, *words: object) -> dict[str, Any]:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


class TestCompare:
    def test_equals_python(self, run: Run, models: Path) -> None:
        facts = facts_of(run, "compare", "fruit.suffice", "other.suffice")
        found = suffice.load("fruit.suffice").compare(suffice.load("other.suffice"))
        assert facts["models"] == ["fruit.suffice", "other.suffice"]
        assert facts["rows"] == [6.0, 3.0]
        assert facts["labels"]["hellinger"] == found.labels.hellinger
        assert [c["column"] for c in facts["columns"]] == [c.column for c in found.columns]
        for shown, column in zip(facts["columns"], found.columns, strict=True):
            assert column.overall is not None
            assert shown["missing"] == list(column.missing)
            assert shown["overall"] == {
                "hellinger": column.overall.hellinger,
                "psi": column.overall.psi,
                "jensen_shannon": column.overall.jensen_shannon,
                "p": column.overall.p_value,
            }
            assert [w["label"] for w in shown["within"]] == ["apple", "plum"]

    def test_shows_the_largest_first(self, run: Run, models: Path) -> None:
        result = run("compare", "fruit.suffice", "other.suffice")
        assert result.exit_code == 0
        lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
        assert lines[0] == ["Hellinger", "PSI", "p", "missing", "within", "class"]
        assert [line[0] for line in lines[2:5]] == ["(labels)", "color", "size"]
        assert " ".join(lines[3]) == "color 0.7435 1.384 - 16.7 → 0.0 % 1.0000 plum"
        assert "6 and 3 rows" in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= 80

    def test_columns_without_space_stand_below(
        self, run: Run, models: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "50")
        lines = run("compare", "fruit.suffice", "other.suffice").stdout.splitlines()
        assert max(map(len, lines)) <= 50
        assert [line.split() for line in lines if line.strip().startswith("color")] == [
            ["color", "0.7435", "1.384", "-", "16.7", "→", "0.0", "%"],
            ["color", "1.0000", "plum"],
        ]

    def test_rows_of_long_names_break_in_the_names_alone(self, run: Run) -> None:
        name = "years that the person has spent at school"
        for file, first in (("a", 1.0), ("b", "")):
            cells = [f"{first},no,kind of label"] + [f"{i}.5,yes,the other label" for i in range(9)]
            Path(f"{file}.csv").write_text("\n".join([f"{name},married,y", *cells]))
            assert run("fit", f"{file}.csv", "--label", "y").exit_code == 0
        result = run("compare", "a.suffice", "b.suffice")
        assert max(map(len, result.stdout.splitlines())) <= 80
        assert "0.0 → 10.0 %" in result.stdout
        numbers = [line[len(line) // 3 :] for line in result.stdout.splitlines()]
        assert not any(line.strip() in ("%", "→", "person") for line in numbers)

    def test_infinity_is_a_sign_in_print_and_null_in_json(self, run: Run, models: Path) -> None:
        words = ("compare", "fruit.suffice", "flat.suffice")
        assert "∞" in run(*words).stdout
        sizes = [c for c in facts_of(run, *words)["columns"] if c["column"] == "size"]
        assert sizes[0]["overall"]["psi"] is None

    def test_regressions_have_no_classes(self, run: Run, models: Path) -> None:
        words = ("--target", "size", "--model", "ridge", "--features", "color")
        assert run("fit", "flat.csv", *words, "-o", "ridge.suffice").exit_code == 0
        result = run("compare", "line.suffice", "ridge.suffice")
        assert result.exit_code == 0, result.stderr
        lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
        assert lines[0] == ["Hellinger", "PSI", "p", "missing"]
        assert [line[0] for line in lines[2:4]] == ["size", "color"]
        assert result.stdout.splitlines()[-1].strip() == "3 and 2 rows"
        facts = facts_of(run, "compare", "line.suffice", "ridge.suffice")
        assert facts["labels"] is None
        assert [column["within"] for column in facts["columns"]] == [[], []]


MERGED = "only models of the same columns and families can be merged"
AGAIN = "fit both with the same options"
LABELS = "labels are of one type; convert them"

ERRORS = {
    "compare fruit.suffice hue.suffice": (
        "the models differ: column 'color' is in fruit.suffice only; only models of the same "
        f"columns and families can be compared; {AGAIN}."
    ),
    "compare fruit.suffice line.suffice": (
        "line.suffice holds a LinearRegression; fruit.suffice holds a NaiveBayes, and only models "
        "of one kind can be compared; fit both with the same --model."
    ),
    "compare curve.suffice fruit.suffice": (
        "curve.suffice holds a LogisticRegression; it keeps no distribution of every column; "
        "fit naive Bayes to both tables."
    ),
    "compare line.suffice tint.suffice": (
        "the models differ: 'color' is among the columns of line.suffice only; only models of the "
        "same columns can be compared; fit both to the same columns."
    ),
    "merge fruit.suffice hue.suffice -o x": (
        f"the models differ: column 'color' is in fruit.suffice only; {MERGED}; {AGAIN}."
    ),
    "merge fruit.suffice other.suffice words.suffice -o x": (
        "the models differ: column 'size' is Gaussian() in fruit.suffice and Categorical() in "
        f"words.suffice; {MERGED}; {AGAIN}."
    ),
    "merge fruit.suffice turned.suffice -o x": (
        "the models differ: the columns of fruit.suffice come in the order 'size', 'color', those "
        f"of turned.suffice 'color', 'size'; {MERGED}; "
        "fit one of them again, its columns in the order of the other."
    ),
    "merge fruit.suffice sorts.suffice -o x": (
        "the models differ: the label of fruit.suffice is 'kind', that of sorts.suffice is 'sort'; "
        "only models of the same label can be merged; rename the column if it is the same."
    ),
    "merge fruit.suffice codes.suffice -o x": (
        "the labels of fruit.suffice are of the type str, those of codes.suffice of the type "
        f"number; {LABELS}."
    ),
    "merge fruit.suffice lda.suffice -o x": (
        "lda.suffice holds a LinearDiscriminantAnalysis; fruit.suffice holds a NaiveBayes, and "
        "only models of one kind add up; fit both with the same --model."
    ),
    "forget fruit.suffice hue.csv -o x": (
        "hue.csv does not fit fruit.suffice: column 'color' is not in the table; its columns are "
        "'size', 'hue', 'kind'; correct the name."
    ),
    "forget fruit.suffice sorts.csv -o x": (
        "sorts.csv does not fit fruit.suffice: there is no column 'kind' to be the label; "
        "the columns are 'size', 'color', 'sort'."
    ),
    "forget fruit.suffice words.csv -o x": (
        "line 2 of words.csv, column 'size': 'big' is not a number; every cell of this column is "
        "read as a number; correct the cell, declare 'big' in -r missing=..., or read it as "
        "text with "
        "-r written=size:text."
    ),
    "forget fruit.suffice codes.csv -o x": (
        "class '1': fewer rows than are to be forgotten; only rows that were learnt can be "
        "forgotten."
    ),
}


@pytest.mark.parametrize("words", ERRORS)
def test_one_sentence_names_both_files(run: Run, models: Path, words: str) -> None:
    before = {path.name: path.read_bytes() for path in models.iterdir()}
    result = run(*words.split())
    assert result.stderr == f"error: {ERRORS[words]}\n"
    assert (result.exit_code, result.stdout) == (2, "")
    assert {path.name: path.read_bytes() for path in models.iterdir()} == before
