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


def test_a_fit_says_how_a_file_was_read_and_which_option_changes_it(run: Run) -> None:
    rows = "Messung 1\nlänge;tag;ok;farbe\n" + "1,5;13/02/2024;yes;rot\n;14/02/2024;no;blau\n" * 9
    Path("f.csv").write_bytes(rows.encode("utf-16"))
    done = run("fit", "f.csv", "--label", "farbe", "--json")
    found = json.loads(done.stdout)["read_as"]
    expected = {
        "--separator": "semicolons",
        "--encoding": "UTF-16",
        "--skip-lines": "1 line above",
        "länge": "1,5",
        "tag": "DD/MM/YYYY",
    }
    assert len(found) == len(expected)
    lines = {option: next(line for line in found if option in line) for option in expected}
    for line, (option, what) in zip(lines.values(), expected.items(), strict=True):
        assert option in line
        assert what in line
    assert "Read as: f.csv: fields are separated by semicolons" in run(
        "fit", "f.csv", "--label", "farbe", "--force"
    ).stdout.replace("\n ", "")


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
