"""Every command, in this process, beside what the same call in Python answers."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., str]


@pytest.fixture
def model(suffice_command: Run) -> Any:
    """`fruit.suffice`, fitted by the command line, and loaded."""
    import suffice

    suffice_command("fit fruit.csv --label kind")
    return suffice.load("fruit.suffice")


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


# -- fit and predict


def test_fit_writes_the_model_that_python_fits(model: Any) -> None:
    import suffice

    same = suffice.NaiveBayes().fit("fruit.csv", "kind")
    assert model.predict_proba("fruit.csv").tobytes() == same.predict_proba("fruit.csv").tobytes()
    assert model.class_count_.tolist() == [5, 5]


def test_fit_says_what_it_read(suffice_command: Run) -> None:
    printed = in_one_line(suffice_command("fit fruit.csv --label kind -o other.suffice"))
    assert "10 rows" in printed
    assert "Saved to other.suffice" in printed
    assert Path("other.suffice").stat().st_size < 100_000


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("naive-bayes", ""),
        ("aode", "--ignore size -p calibration=none"),
        ("lda", "--features size"),
        ("qda", "--features size"),
        ("logistic", "--features size"),
    ],
)
def test_fit_of_every_classifier(suffice_command: Run, name: str, options: str) -> None:
    rows = Path("fruit.csv").read_text().splitlines()
    complete = [rows[0], *(row for row in rows[1:] if "" not in row.split(","))]
    Path("rows.csv").write_text("\n".join(complete + complete[1:] * 4) + "\n")
    suffice_command(f"fit rows.csv --label kind --model {name} {options} -o m.suffice")
    answers = cells(suffice_command("predict m.suffice rows.csv"))
    found = np.array([row[0] for row in answers[1:]])
    truth = np.array([row.split(",")[2] for row in Path("rows.csv").read_text().split()[1:]])
    assert (found == truth).mean() > 0.7


@pytest.mark.parametrize("name", ["linear", "ridge", "lasso", "elastic-net"])
def test_fit_of_every_regressor(suffice_command: Run, name: str) -> None:
    import suffice

    suffice_command(f"fit line.csv --target y --model {name}")
    python = {
        "linear": suffice.LinearRegression,
        "ridge": suffice.Ridge,
        "lasso": suffice.Lasso,
        "elastic-net": suffice.ElasticNet,
    }[name]().fit("line.csv", "y")
    answers = cells(suffice_command("predict line.suffice line.csv"))
    found = np.array([float(row[0]) for row in answers[1:]])
    assert np.abs(found - np.ravel(python.predict("line.csv"))).max() < 1e-12


def test_predict_gives_labels_and_probabilities(suffice_command: Run, model: Any) -> None:
    answers = cells(suffice_command("predict fruit.suffice fruit.csv --proba"))
    assert answers[0] == ["prediction", "P(apple)", "P(plum)"]
    proba = np.array([[float(cell) for cell in row[1:]] for row in answers[1:]])
    assert np.abs(proba - model.predict_proba("fruit.csv")).max() < 1e-12
    assert [row[0] for row in answers[1:]] == model.predict("fruit.csv").tolist()


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_predict_writes_files(suffice_command: Run, model: Any, suffix: str) -> None:
    import suffice

    suffice_command(f"predict fruit.suffice fruit.csv --proba -o out.{suffix}")
    back = suffice.LinearRegression().fit(f"out.{suffix}", "P(apple)")
    proba = model.predict_proba("fruit.csv")
    predicted = np.ravel(back.predict(f"out.{suffix}"))
    assert np.abs(predicted - proba[:, 0]).max() < 1e-9  # P(apple) = 1 − P(plum)


def test_predict_with_an_interval(suffice_command: Run) -> None:
    import suffice

    suffice_command("fit line.csv --target y --model linear")
    answers = cells(suffice_command("predict line.suffice line.csv --interval prediction"))
    assert answers[0] == ["prediction", "lower", "upper"]
    model = suffice.LinearRegression().fit("line.csv", "y")
    found = np.array([[float(cell) for cell in row[1:]] for row in answers[1:]])
    assert np.abs(found - model.predict_interval("line.csv")).max() < 1e-12


# -- judge and explain


def test_evaluate(suffice_command: Run, model: Any) -> None:
    found = model.evaluate("fruit.csv", "kind")
    printed = json.loads(suffice_command("evaluate fruit.suffice fruit.csv --json"))
    assert printed["accuracy"] == pytest.approx(float(found.accuracy), rel=1e-12)
    assert printed["log_loss"] == pytest.approx(float(found.log_loss), rel=1e-12)
    shown = in_one_line(suffice_command("evaluate fruit.suffice fruit.csv"))
    assert f"accuracy {100 * float(found.accuracy):.2f} %" in shown


def test_evaluate_by_the_values_of_a_column(suffice_command: Run, model: Any) -> None:
    shown = in_one_line(suffice_command("evaluate fruit.suffice fruit.csv --by color"))
    assert "red 4" in shown
    assert "blue 4" in shown


def test_cv_ranks_models(suffice_command: Run) -> None:
    Path("many.csv").write_text(
        "x,y\n" + "".join(f"{(i * 37 % 100) / 10},{'ab'[(i * 37 % 100) > 50]}\n" for i in range(60))
    )
    line = "cv many.csv --label y --model naive-bayes,lda --folds 3"
    assert "60 rows" in suffice_command(line)
    found = json.loads(suffice_command(f"{line} --json"))
    assert "naive-bayes" in json.dumps(found)
    assert "lda" in json.dumps(found)


def test_cv_of_a_grid(suffice_command: Run) -> None:
    line = "cv line.csv --target y --model ridge --grid alpha=0.001,1000 --folds 3"
    printed = in_one_line(suffice_command(line))
    assert printed.index("0.001") < printed.index("1000")  # the better one first


def test_explain_adds_up(suffice_command: Run, model: Any) -> None:
    printed = in_one_line(suffice_command("explain fruit.suffice fruit.csv --rows 1"))
    assert "Row 1: apple" in printed
    assert "size" in printed
    assert "red" in printed


def test_show_names_classes_and_columns(suffice_command: Run, model: Any) -> None:
    printed = in_one_line(suffice_command("show fruit.suffice"))
    assert all(word in printed for word in ("apple", "plum", "50.0 %", "size", "color"))
    one = in_one_line(suffice_command("show fruit.suffice --column color"))
    assert "color: categorical, 2 missing" in one


def test_columns_ranks_by_mutual_information(suffice_command: Run, model: Any) -> None:
    from suffice.bayes import column_information

    printed = in_one_line(suffice_command("columns fruit.suffice"))
    found = column_information(model)
    bits = dict(zip(found.columns, found.bits, strict=True))
    assert printed.index("size") < printed.index("color")
    assert f"{bits['color']:.4g}" in printed


def test_summary_is_a_table_of_coefficients(suffice_command: Run) -> None:
    suffice_command("fit line.csv --target y --model linear")
    printed = in_one_line(suffice_command("summary line.suffice --level 0.9"))
    x, y = np.loadtxt("line.csv", delimiter=",", skiprows=1).T
    slope = ((x - x.mean()) * y).sum() / ((x - x.mean()) ** 2).sum()
    assert f"{slope:.6f}"[:5] in printed
    assert "(Intercept)" in printed


# -- models of models


def test_merge_is_a_fit_of_both(suffice_command: Run) -> None:
    import suffice

    lines = Path("fruit.csv").read_text().splitlines()
    Path("north.csv").write_text("\n".join([*lines[:3], *lines[6:8]]) + "\n")
    Path("south.csv").write_text("\n".join([lines[0], *lines[3:6], *lines[8:]]) + "\n")
    for place in ("north", "south"):
        suffice_command(f"fit {place}.csv --label kind --model lda --features size")
    printed = suffice_command("merge north.suffice south.suffice -o all.suffice")
    assert "2 models merged" in printed
    whole = suffice.LinearDiscriminantAnalysis().fit(
        suffice.read_csv("fruit.csv", ignore=["color"]), "kind"
    )
    merged = suffice.load("all.suffice")
    assert merged.means_.tobytes() == whole.means_.tobytes()
    assert merged.class_count_.tolist() == [5, 5]


def test_forget_is_a_fit_of_the_rest(suffice_command: Run, model: Any) -> None:
    import suffice

    lines = Path("fruit.csv").read_text().splitlines()
    Path("gone.csv").write_text("\n".join([lines[0], *lines[1:3]]) + "\n")
    printed = suffice_command("forget fruit.suffice gone.csv -o less.suffice")
    assert "2 rows forgotten, 8 left" in printed
    assert suffice.load("less.suffice").class_count_.tolist() == [3, 5]


def test_compare_names_the_column_that_moved(suffice_command: Run, model: Any) -> None:
    text = Path("fruit.csv").read_text()
    for old, new in (("5.", "95."), ("1.", "91."), ("4.8", "94.8")):
        text = text.replace(old, new)
    Path("later.csv").write_text(text)
    suffice_command("fit later.csv --label kind")
    printed = in_one_line(suffice_command("compare fruit.suffice later.suffice"))
    assert printed.index("size") < printed.index("color")
    same = in_one_line(suffice_command("compare fruit.suffice fruit.suffice"))
    assert "0.0000" in same


def test_calibrate_fits_the_weights_again(suffice_command: Run, model: Any) -> None:
    import suffice

    suffice_command("calibrate fruit.suffice fruit.csv -o again.suffice")
    again = suffice.load("again.suffice")
    assert again.class_count_.tolist() == [5, 5]
    assert again.predict("fruit.csv").tolist() == model.predict("fruit.csv").tolist()


def test_sample_draws_the_rows_that_python_draws(suffice_command: Run, model: Any) -> None:
    drawn = cells(suffice_command("sample fruit.suffice -n 5 --seed 3"))
    assert drawn[0] == ["size", "color", "kind"]
    rows, labels = model.sample(5, random_state=3)
    assert [row[2] for row in drawn[1:]] == labels.tolist()
    assert [float(row[0]) for row in drawn[1:]] == pytest.approx(np.asarray(rows["size"], float))


def test_audit_lists_what_few_rows_tell(suffice_command: Run, model: Any) -> None:
    printed = in_one_line(suffice_command("audit fruit.suffice --min-count 6"))
    assert "apple" in printed
    assert "color" in printed


# -- other forms


@pytest.mark.parametrize("form", ["sql", "json"])
def test_export(suffice_command: Run, model: Any, form: str) -> None:
    import suffice.export

    pytest.importorskip("sqlglot")
    options = "--to sql --dialect sqlite --table fruit" if form == "sql" else "--to json"
    suffice_command(f"export fruit.suffice {options} -o out.{form}")
    expected = (
        suffice.export.to_sql(model, "sqlite", "fruit")
        if form == "sql"
        else suffice.export.to_json(model)
    )
    assert Path(f"out.{form}").read_text().strip() == expected.strip()


def test_report_writes_one_page(suffice_command: Run, model: Any) -> None:
    pytest.importorskip("jinja2")
    suffice_command("report fruit.suffice fruit.csv -o page.html")
    page = Path("page.html").read_text("utf8")
    assert page.startswith("<!")
    assert "plum" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


# -- the program


def test_an_unknown_column_is_named(suffice_command: Run) -> None:
    printed = in_one_line(suffice_command("fit fruit.csv --label sort", exit_code=2))
    assert "'sort'" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    "line",
    ["fit", "fit nothing.csv --label y", "predict nothing.suffice fruit.csv", "nonsense", "fit -x"],
)
def test_mistakes_end_without_a_traceback(folder: Path, line: str) -> None:
    from typer.testing import CliRunner

    from suffice.cli.app import app

    result = CliRunner().invoke(app, line.split(), prog_name="suffice")
    assert result.exit_code in (1, 2)
    assert isinstance(result.exception, SystemExit)
    assert result.output.strip()


COMMANDS = (
    *("demo", "fit", "cv", "predict", "evaluate", "explain", "show", "columns", "summary"),
    *("sample", "export", "report", "merge", "compare", "forget", "calibrate", "audit"),
    "searchlight",
)


def test_help_of_every_command(suffice_command: Run) -> None:
    listed = suffice_command("--help")
    for command in COMMANDS:
        assert command in listed
        assert f"suffice {command}" in in_one_line(suffice_command(f"{command} --help"))


def test_demo_needs_no_file(suffice_command: Run) -> None:
    assert "177 Italian wines" in in_one_line(suffice_command("demo"))


def test_version() -> None:
    import suffice

    done = subprocess.run(
        [sys.executable, "-m", "suffice", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"suffice {suffice.__version__}\n"
