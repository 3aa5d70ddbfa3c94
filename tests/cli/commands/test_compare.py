"""``suffice compare``, and what merge and forget say of files that do not go together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import FRUIT, Run, check_refused

import suffice
from suffice import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    Ridge,
    read_table,
)

from ..conftest import facts_of

TABLES = {
    "other": "size,color,kind\n1.0,red,apple\n2,green,plum\n8,green,plum\n",
    "hue": "size,hue,kind\n1.0,red,apple\n2,green,plum\n",
    "words": "size,color,kind\nbig,red,apple\nsmall,green,plum\n",
    "codes": "size,color,kind\n1.0,red,1\n2,green,2\n",
    "turned": "color,size,kind\nred,1.0,apple\ngreen,2,plum\n",
    "sorts": "size,color,sort\n1.0,red,apple\n2,green,plum\n",
    "flat": "size,color,kind\n3,red,apple\n3,red,plum\n",
}


PLAIN: dict[str, Any] = {"numbers": "gaussian", "calibration": "none"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of tables and models of them."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "fruit.csv").write_text(FRUIT)
    fruit = read_table(folder / "fruit.csv", ignore=["id"])
    NaiveBayes(**PLAIN).fit(fruit, "kind").save(folder / "fruit.suffice")
    for name, text in TABLES.items():
        (folder / f"{name}.csv").write_text(text)
        model = NaiveBayes({"size": "gaussian"} if name == "flat" else None, **PLAIN)
        model.fit(folder / f"{name}.csv", "sort" if name == "sorts" else "kind")
        model.save(folder / f"{name}.suffice")
    for name, model, table, label, ignored in (
        ("lda", LinearDiscriminantAnalysis(), "other", "kind", "color"),
        ("line", LinearRegression(), "other", "size", "kind"),
        ("tint", Ridge(), "hue", "size", "kind"),
        ("curve", LogisticRegression(), "other", "kind", "color"),
    ):
        rows = read_table(folder / f"{table}.csv", ignore=[ignored])
        model.fit(rows, label).save(folder / f"{name}.suffice")
    return folder


@pytest.fixture
def models(written: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(written)
    return written


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
                "p": column.overall.p_value,
                "p_adjusted": column.overall.p_adjusted,
            }
            assert [w["label"] for w in shown["within"]] == ["apple", "plum"]

    def test_shows_the_largest_first(self, run: Run, models: Path) -> None:
        result = run("compare", "fruit.suffice", "other.suffice")
        assert result.exit_code == 0
        lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
        assert " ".join(lines.pop(0)).startswith("Too few rows for tests; the most apart: color")
        assert lines[0] == ["Hellinger", "PSI", "p", "missing", "within", "class"]
        assert [line[0] for line in lines[1:4]] == ["(labels)", "color", "size"]
        assert " ".join(lines[2]).startswith("color 0.7")
        assert " ".join(lines[2]).endswith("- 16.7 → 0.0 % 1.0000 plum")
        assert "6 and 3 rows" in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= 80

    def test_infinity_is_a_sign_in_print_and_null_in_json(self, run: Run, models: Path) -> None:
        words = ("compare", "fruit.suffice", "flat.suffice")
        assert "∞" in run(*words).stdout
        sizes = [c for c in facts_of(run, *words)["columns"] if c["column"] == "size"]
        assert sizes[0]["overall"]["psi"] is None

    def test_regressions_have_no_classes(self, run: Run, models: Path) -> None:
        words = ("--target", "size", "--model", "ridge", "--features", "color")
        assert run("fit", "flat.csv", *words, "-o", "ridge.suffice", "--force").exit_code == 0
        result = run("compare", "line.suffice", "ridge.suffice")
        assert result.exit_code == 0, result.stderr
        lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
        assert lines[1] == ["Hellinger", "PSI", "p", "missing"]
        assert [line[0] for line in lines[2:4]] == ["size", "color"]
        assert result.stdout.splitlines()[-1].strip() == "3 and 2 rows"
        facts = facts_of(run, "compare", "line.suffice", "ridge.suffice")
        assert facts["labels"] is None
        assert [column["within"] for column in facts["columns"]] == [[], []]

    def test_a_pipeline_fails_above_a_distance(self, run: Run, models: Path) -> None:
        words = ("compare", "fruit.suffice", "other.suffice", "--fail-above")
        above = run(*words, 0.5)
        assert (above.exit_code, above.stderr) == (1, "")
        assert "Above 0.5: color." in above.stdout
        assert json.loads(run(*words, 0.5, "--json").stdout)["above"] == ["color"]
        assert run(*words, 0.99).exit_code == 0
        assert run(*words, "much").exit_code == 2
        check_refused("compare fruit.suffice other.suffice --fail-above 2", "--fail-above 2")


ERRORS = {
    "compare fruit.suffice hue.suffice": "the models differ: column 'color' is in fruit.suffice",
    "compare fruit.suffice line.suffice": "line.suffice holds a LinearRegression",
    "compare curve.suffice fruit.suffice": "curve.suffice holds a LogisticRegression",
    "compare line.suffice tint.suffice": "the models differ: 'color' is among the columns of",
    "merge fruit.suffice hue.suffice -o x": "the models differ: column 'color' is in",
    "merge fruit.suffice other.suffice words.suffice -o x": "the models differ: column 'size' is",
    "merge fruit.suffice turned.suffice -o x": "the models differ: the columns of fruit.suffice",
    "merge fruit.suffice sorts.suffice -o x": "the models differ: the label of fruit.suffice is",
    "merge fruit.suffice codes.suffice -o x": "the labels of fruit.suffice are of the type str,",
    "merge fruit.suffice lda.suffice -o x": "lda.suffice holds a LinearDiscriminantAnalysis",
    "forget fruit.suffice hue.csv -o x": "hue.csv does not fit fruit.suffice: column 'color' is",
    "forget fruit.suffice sorts.csv -o x": "sorts.csv does not fit fruit.suffice: there is no",
    "forget fruit.suffice words.csv -o x": "column 'size': 'big' is not a number",
    "forget fruit.suffice codes.csv -o x": "class '1': fewer rows than are to be forgotten",
}


@pytest.mark.parametrize("words", ERRORS)
def test_one_sentence_names_both_files(models: Path, words: str) -> None:
    check_refused(words, ERRORS[words])
