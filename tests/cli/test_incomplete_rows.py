"""Rows that a model cannot answer, and columns that it does not know, do not end a run."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from suffice.errors import DataError
from suffice.linear_model import LinearRegression, LogisticRegression

from .conftest import Run

ROWS = "x,colour,kind,y\n" + "".join(
    f"{i % 7},{('red', 'blue', 'green')[i % 3]},{'ab'[i % 7 > 3]},{i % 7 + 2 * (i % 3)}\n"
    for i in range(60)
)
NEW = "x,colour\n1,red\n,blue\n5,black\n6,\n6,green\n"
WARNING = (
    "warning: 3 of 5 rows have no answer: a cell is missing, or shows a category that no row of "
    "the fit had, which --unseen reference takes for the reference.\n"
)
MODELS = {
    "linear": ["--label", "y", "--model", "linear", "--ignore", "kind"],
    "ridge": ["--label", "y", "--model", "ridge", "--ignore", "kind"],
    "logistic": ["--label", "kind", "--model", "logistic", "--ignore", "y"],
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "new.csv").write_text(NEW)
    (tmp_path / "whole.csv").write_text("x,colour\n1,red\n6,green\n")
    return tmp_path


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))[1:]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("more", [[], ["--engine", "local=2"]])
def test_an_answer_is_empty_and_counted(run: Run, files: Path, model: str, more: list[str]) -> None:
    assert run("fit", "rows.csv", *MODELS[model], "-o", "m.suffice").exit_code == 0
    answers = run("predict", "m.suffice", "new.csv", *more)
    assert answers.exit_code == 0
    assert answers.stderr == WARNING
    first, *empty, last = cells(answers.stdout)
    assert [first, last] == cells(run("predict", "m.suffice", "whole.csv").stdout)
    assert empty == [[""]] * 3


def test_what_is_expected_in_missing_cells_answers_every_row(run: Run, files: Path) -> None:
    given = [*MODELS["linear"], "-p", "incomplete=gaussian"]
    run("fit", "rows.csv", *given, "-o", "m.suffice")
    answers = run("predict", "m.suffice", "new.csv")
    assert answers.stderr == ""
    assert all(row[0] for row in cells(answers.stdout))


@pytest.mark.parametrize("estimator", [LinearRegression(), LogisticRegression()])
def test_in_python_a_row_without_an_answer_is_an_error_by_default(estimator: Any) -> None:
    model = estimator.fit([[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1])
    rows = [[1.0], [float("nan")]]
    with pytest.raises(DataError):
        list(model.predict_batches(rows))
    with pytest.warns(UserWarning, match="1 of 2 rows has no answer"):
        (table,) = model.predict_batches(rows, unanswerable="empty")
    assert table["prediction"].is_null().to_pylist() == [False, True]
    with pytest.raises(ValueError, match="unanswerable is one of 'error', 'empty'"):
        model.predict_batches(rows, unanswerable="drop")


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_unknown_columns_are_left_out(run: Run, files: Path, command: str) -> None:
    run("fit", "rows.csv", "--label", "kind", "--ignore", "y", "-o", "m.suffice")
    plain = run(command, "m.suffice", "rows.csv")
    (files / "rows.csv").write_text(
        "".join(f"{line},7,8\n" for line in ROWS.replace("y\n", "y,u,v\n", 1).splitlines()[1:])
    )
    header = "x,colour,kind,y,u,v\n"
    (files / "rows.csv").write_text(header + (files / "rows.csv").read_text())
    more = run(command, "m.suffice", "rows.csv")
    assert more.stdout == plain.stdout
    assert more.stderr == "note: left out, as the model does not know them: 'u', 'v'.\n"


@pytest.mark.parametrize("model", MODELS)
def test_an_unknown_category_is_taken_for_the_reference(run: Run, files: Path, model: str) -> None:
    given = [*MODELS[model], "-p", "reference=colour:red", "-p", "unseen=reference"]
    fitted = run("fit", "rows.csv", *given, "-o", "m.suffice")
    assert "Categories are compared with colour[red]." in fitted.stdout
    answers = run("predict", "m.suffice", "new.csv")
    assert answers.stderr.startswith("warning: 1 of 5 rows has no answer")
    (files / "known.csv").write_text("x,colour\n5,red\n6,red\n")
    known = cells(run("predict", "m.suffice", "known.csv").stdout)
    assert cells(answers.stdout)[1:4] == [[""], *known]
