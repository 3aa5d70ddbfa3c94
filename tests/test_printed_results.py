"""What results look like where they are printed: tables, and no number in two parts."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from suffice import Lasso, LinearRegression, NaiveBayes, read_csv
from suffice.bayes import BayesError
from suffice.errors import ParameterError
from suffice.numerics.in_print import percent

SIZE = np.array([1.0, 2.0, 5.0, 6.0])
KIND = np.array(["fig", "fig", "plum", "plum"])


@pytest.fixture
def model() -> NaiveBayes:
    return NaiveBayes.textbook().fit({"size": SIZE, "hue": [0.0, 0.0, 1.0, 2.0]}, KIND)


def test_evidence(model: NaiveBayes) -> None:
    evidence = model.explain({"size": [1.5, 5.5], "hue": [None, 1.5]})
    _, columns = evidence.log_odds(0, 1)
    lines = repr(evidence).splitlines()
    ends = model.predict_proba_interval({"size": 1.5})[0, 0]
    share = f"{100 * evidence.probabilities[0, 0]:.1f} %"
    interval = " to ".join(map(percent, ends.tolist()))
    assert lines[0] == f"Row 1: fig, with probability {share} (95 % interval: {interval})"
    assert lines[1].split() == ["value", "log-odds", "of", "fig", "against", "plum", "odds"]
    assert lines[2].split() == ["prior", "0.00", "even"]
    assert lines[3].split()[:3] == ["size", "1.5", f"{columns[0, 0]:+.2f}"]
    assert lines[3].endswith(f"{np.exp(columns[0, 0]):.3g} to 1 for")
    assert lines[4].split() == ["hue", "missing", "0.00", "even"]
    assert lines[5].split()[:2] == ["sum", f"{columns[0, 0]:+.2f}"]
    assert lines[7].startswith("Row 2: plum")
    decibans = evidence.row(1, unit="decibans", label="fig")
    _, again = evidence.log_odds(0, 1)
    assert decibans.total[0] == pytest.approx(10 / np.log(10) * again[1].sum())
    with pytest.raises(ParameterError, match="bits"):
        evidence.row(unit="bits")  # type: ignore[arg-type]
    assert repr(model.explain({"size": [], "hue": []})) == "Evidence(0 rows)"


def test_evidence_of_many_columns_and_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 8
    x = rng.normal(size=(80, 50)) + y[:, None] * (np.arange(50) < 3)
    evidence = NaiveBayes.textbook().fit(x, y).explain(x[:1])
    lines = repr(evidence).splitlines()
    assert len(lines) == 1 + 1 + 1 + 20 + 1 + 1
    *parts, total = (float(re.split(" {2,}", line)[-2]) for line in lines[2:])
    assert sum(parts) == pytest.approx(total, abs=0.005 * len(lines))


def test_an_evaluation(model: NaiveBayes) -> None:
    found = model.evaluate({"size": SIZE, "hue": [None] * 4}, ["fig", "fig", "plum", "fig"])
    lines = repr(found).splitlines()
    assert lines[1].split() == ["accuracy", "75.00", "%"]
    assert f"log loss            {found.log_loss:.4f}  nats per row; 0 is perfect" in lines
    at = lines.index("true \\ predicted      fig    plum   recall")
    assert lines[at + 1 : at + 4] == [
        "fig                     2       1   66.7 %",
        "plum                    0       1  100.0 %",
        "precision         100.0 %  50.0 %",
    ]
    assert lines[-1].startswith("4 rows compared, 0 left out without label")
    costly = model.evaluate({"size": SIZE, "hue": [None] * 4}, KIND, costs=[[0, 1], [9, 0]])
    assert "mean cost" in repr(costly)


def test_an_evaluation_of_numbers() -> None:
    model = LinearRegression().fit({"size": SIZE}, 2 * SIZE)
    found = model.evaluate({"size": SIZE}, 2 * SIZE + [0.0, 0.0, 0.0, 4.0])
    lines = [line.split() for line in repr(found).splitlines()]
    assert [line[:2] for line in lines] == [
        ["y"],
        ["R²", f"{found.r_squared[0]:.4g}"],
        ["RMSE", "2"],
        ["MAE", "1"],
        ["mean", "error"],
        ["n", "4"],
    ]


def test_statistics_show_their_size(model: NaiveBayes) -> None:
    assert repr(model.statistic_) == (
        "ByClass(rows {'fig': 2, 'plum': 2}, Moments(2 classes, 2 columns))"
    )


def test_results_that_are_tables_already(model: NaiveBayes) -> None:
    found = model.compare(model)
    assert repr(found) == str(found)
    assert "(" not in repr(found).splitlines()[0]


def test_a_bayes_error() -> None:
    lines = repr(BayesError(0.15865525393145707, 1e-15, "sum")).splitlines()
    assert [line.split() for line in lines] == [
        ["value", "0.1586552539"],
        ["uncertainty", "1e-15"],
        ["method", "sum"],
    ]


def test_one_row() -> None:
    model = NaiveBayes.textbook().fit({"size": SIZE}, KIND)
    assert repr(model.evaluate({"size": [1.0]}, ["fig"])).splitlines()[-1].startswith("1 row ")


def test_paths_of_penalties() -> None:
    x = np.random.default_rng(0).normal(size=(40, 3))
    y = x @ [1.0, 0.0, 2.0] + 1
    lasso = Lasso(0.1).fit(x, y).path()
    head, names, first, *more = repr(lasso).splitlines()
    assert (head, names.split()) == ("100 penalties", ["alpha", "chosen", "RSS"])
    assert first.split() == [f"{lasso.alphas[0]:.4g}", "0", f"{lasso.rss[0]:.4g}"]
    assert len(more) == 9
    assert more[-1].split()[0] == f"{lasso.alphas[-1]:.4g}"
    two = Lasso(0.1).fit(x, np.c_[y, -y]).path()
    assert repr(two).splitlines()[1].split()[-4:] == ["RSS", "0", "RSS", "1"]


def test_weights_of_columns_and_a_file(tmp_path: Path) -> None:
    model = NaiveBayes().fit({"size": [*SIZE] * 9, "hue": [*KIND[[0, 1, 3, 0]]] * 9}, [*KIND] * 9)
    calibration = model.calibration_
    assert calibration is not None
    first, second = repr(calibration).splitlines()
    weights = ", ".join(f"{weight:.2f}" for weight in calibration.weights)
    assert first == f"weights of columns: {weights}"
    assert second.startswith(f"log loss: {calibration.before:.4f} nats a row with weights of 1, ")
    (tmp_path / "a.csv").write_text("size,hue\n1,red\n")
    assert repr(read_csv(tmp_path / "a.csv")) == "TextTable(size, hue)"
