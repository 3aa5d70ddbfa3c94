"""Files as people have them: no option says how they are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from suffice import NaiveBayes

from .conftest import Run

FLOWERS = pd.DataFrame(
    {
        "length": [1.5, 1.25, 1.75, 4.5, 4.25, 5.0],
        "colour": ["red", "blue", "red", "blue", "blue", "red"],
        "kind": ["a", "a", "a", "b", "b", "b"],
    }
)


def arff(frame: pd.DataFrame, path: Path) -> None:
    rows = "\n".join(",".join(map(str, row)) for row in frame.itertuples(index=False))
    path.write_text(
        "@relation flowers\n@attribute length numeric\n@attribute colour {red,blue}\n"
        f"@attribute kind {{a,b}}\n@data\n{rows}\n"
    )


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "semicolons.csv": lambda frame, path: frame.to_csv(path, sep=";", decimal=",", index=False),
    "tabs.txt": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "weka.arff": arff,
    "book.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "lines.json": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "columns.csv": lambda frame, path: frame.to_parquet(path, index=False),
}


@pytest.mark.parametrize("name", WRITERS)
def test_fit_and_predict(run: Run, tmp_path: Path, name: str) -> None:
    WRITERS[name](FLOWERS, tmp_path / name)
    fitted = run("fit", name, "--label", "kind", "-o", "m.suffice", "--json")
    assert fitted.exit_code == 0, fitted.stderr
    assert json.loads(fitted.stdout)["rows"] == 6
    answers = run("predict", "m.suffice", name, "--proba").stdout.splitlines()[1:]
    expected = NaiveBayes().fit(FLOWERS, "kind").predict_proba(FLOWERS)
    given = [float(line.split(",")[-1]) for line in answers]
    assert given == pytest.approx(expected[:, 1], rel=1e-12)


def test_what_was_found_is_said_with_its_option(run: Run, tmp_path: Path) -> None:
    WRITERS["semicolons.csv"](FLOWERS, tmp_path / "f.csv")
    assert run("fit", "f.csv", "--label", "kind").stderr == (
        "note: f.csv: fields are separated by semicolons (--separator says otherwise).\n"
        "note: f.csv: numbers are written 1000,5 for a thousand and a half (--decimal says "
        "otherwise).\n"
    )


def test_a_file_without_a_header(run: Run, tmp_path: Path) -> None:
    FLOWERS.to_csv(tmp_path / "f.csv", header=False, index=False)
    fitted = run("fit", "f.csv", "--label", "column_3", "--json")
    assert json.loads(fitted.stdout)["rows"] == 6
    assert fitted.stderr == (
        "note: f.csv: there is no header, as the first row is '1.5, red, a' (--header says "
        "otherwise).\n"
    )
    told = run("fit", "f.csv", "--label", "a", "-r", "header=true", "-o", "named.suffice", "--json")
    assert json.loads(told.stdout)["rows"] == 5


def test_a_model_reads_one_row_as_it_learnt_to(run: Run, tmp_path: Path) -> None:
    FLOWERS.to_csv(tmp_path / "f.csv", header=False, index=False)
    run("fit", "f.csv", "--label", "column_3", "-o", "m.suffice")
    (tmp_path / "one.csv").write_text("1.5,red,\n")
    answer = run("predict", "m.suffice", "one.csv")
    assert answer.stdout == "prediction\na\n"
    assert answer.stderr == ""


def test_numbers_with_two_meanings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("n;kind\n1,000;a\n2,000;b\n3,500;a\n")
    refused = run("fit", "f.csv", "--label", "kind")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("error: f.csv, column 1: '1,000' is either 1.000 or 1000; ")
    assert run("fit", "f.csv", "--label", "kind", "-r", "thousands=,").exit_code == 0


def test_a_sheet_of_a_workbook(run: Run, tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        FLOWERS.to_excel(book, sheet_name="old", index=False)
        FLOWERS.head(3).to_excel(book, sheet_name="new", index=False)
    refused = run("fit", "book.xlsx", "--label", "kind")
    assert refused.exit_code == 2
    assert refused.stderr.startswith(
        "error: book.xlsx has several sheets with rows: 'old', 'new'; "
    )
    fitted = run("fit", "book.xlsx", "--label", "kind", "-r", "sheet=old", "--json")
    assert json.loads(fitted.stdout)["rows"] == 6
    answers = run("predict", "book.suffice", "book.xlsx", "-r", "sheet=2")
    assert answers.stdout == "prediction\na\na\na\n"
    foreign = run("fit", "book.xlsx", "--label", "kind", "-r", "sheet=old", "-r", "quote=none")
    assert foreign.exit_code == 2
    assert foreign.stderr.startswith("error: --quote is given for book.xlsx; only delimited text")


def test_an_address(run: Run) -> None:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/shop/a.csv", FLOWERS.to_csv(index=False).encode())
    assert run("fit", "memory://shop/a.csv", "--label", "kind").exit_code == 0
    assert Path("a.suffice").is_file()
