"""Every model on real files: fitted, summarised, used and refused from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.linear_model import ElasticNet, Lasso, LinearRegression

from .conftest import Run, facts_of

GAPS = "x,c,y\n1,a,1\n2,b,2\n,a,3\n4,b,5\n5,a,4\n3,b,3\n"


@pytest.fixture
def boston(data: Path) -> Path:
    return data / "islp" / "Boston.csv"


@pytest.fixture
def smarket(data: Path) -> Path:
    return data / "islp" / "Smarket.csv"


@pytest.fixture
def gaps(tmp_path: Path) -> Path:
    path = tmp_path / "gaps.csv"
    path.write_text(GAPS)
    return path


def done(run: Run, *words: object) -> str:
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


class TestLinear:
    @pytest.fixture
    def lstat(self, run: Run, boston: Path) -> str:
        done(
            run, "fit", boston, "--target", "medv", "--features", "lstat", "--model", "linear",
            "-o", "b.suffice",
        )  # fmt: skip
        return "b.suffice"

    def test_summary_equals_python(self, run: Run, lstat: str) -> None:
        found = suffice.load(lstat).summary(level=0.9)
        (equation,) = facts_of(run, "summary", lstat, "--level", "0.9")["equations"]
        for name in ("estimate", "standard_error", "t", "p", "lower", "upper"):
            values = [coefficient[name] for coefficient in equation["coefficients"]]
            assert values == getattr(found, name).tolist()

    @pytest.mark.parametrize("kind", ["prediction", "confidence"])
    def test_predictions_and_intervals_equal_python(
        self, run: Run, lstat: str, boston: Path, kind: str
    ) -> None:
        model = suffice.load(lstat)
        text = done(run, "predict", lstat, boston, "--interval", kind, "--level", "0.9")
        header, *rows = csv.reader(text.splitlines())
        assert header == ["prediction", "lower", "upper"]
        values = np.array(rows, dtype=np.float64)
        assert np.array_equal(values[:, 0], model.predict(boston))
        assert np.array_equal(values[:, 1:], model.predict_interval(boston, kind, 0.9))

    def test_evaluation_equals_python(self, run: Run, lstat: str, boston: Path) -> None:
        found = suffice.load(lstat).evaluate(boston, "medv")
        (facts,) = facts_of(run, "evaluate", lstat, boston)["targets"]
        assert facts == {
            "target": "medv",
            "rows": 506,
            "r_squared": found.r_squared[0],
            "unexplained": found.unexplained[0],
            "root_mean_squared_error": found.mean_squared_error[0] ** 0.5,
            "mean_absolute_error": found.mean_absolute_error[0],
            "mean_error": found.bias[0],
        }
        shown = [line.split()[:2] for line in done(run, "evaluate", lstat, boston).splitlines()]
        for line in (["R²", "0.5441"], ["RMSE", "6.203"], ["MAE", "4.505"], ["n", "506"]):
            assert line in shown

    def test_missing_cells(self, run: Run, gaps: Path) -> None:
        words = ("fit", gaps, "--target", "y", "--model", "linear", "-p")
        shown = done(run, *words, "incomplete=drop")
        assert "Rows left out for missing cells: 1" in shown
        assert "Fitted to 5 rows" in shown
        assert "Standard errors are not known" in done(
            run, *words, "incomplete=gaussian", "--force"
        )
        model = LinearRegression(incomplete="gaussian").fit(str(gaps), "y")
        predicted = done(run, "predict", "gaps.suffice", gaps).split()[1:]
        assert [float(cell) for cell in predicted] == model.predict(str(gaps)).tolist()

    def test_several_targets(self, run: Run, boston: Path) -> None:
        words = ("--target", "medv", "--target", "nox", "--model", "linear")
        facts = facts_of(run, "fit", boston, *words)
        assert facts["label"] == ["medv", "nox"]
        assert [equation["target"] for equation in facts["equations"]] == ["medv", "nox"]
        expected = LinearRegression().fit(str(boston), ["medv", "nox"])
        model = suffice.load("Boston.suffice")
        assert (model.coef_ == expected.coef_).all()
        found = expected.summary("nox")
        assert facts["equations"][1]["log_likelihood"] == found.log_likelihood


class TestFittedInPython:
    def test_two_targets(self, run: Run, tmp_path: Path) -> None:
        table = pa.table({"x": [1.0, 2, 3, 4], "a": [1.0, 3, 2, 4], "b": [2.0, 1, 4, 3]})
        pq.write_table(table, tmp_path / "t.parquet")
        model = LinearRegression().fit(table, ["a", "b"])
        model.save("two.suffice")
        text = done(run, "predict", "two.suffice", "t.parquet")
        assert text.splitlines()[0] == "prediction of a,prediction of b"
        rows = [[float(cell) for cell in row.split(",")] for row in text.split("\n")[1:-1]]
        assert rows == model.predict(table).tolist()
        targets = facts_of(run, "evaluate", "two.suffice", "t.parquet")["targets"]
        assert [facts["target"] for facts in targets] == ["a", "b"]
        equations = facts_of(run, "summary", "two.suffice")["equations"]
        assert [equation["target"] for equation in equations] == ["a", "b"]

    def test_no_negative_coefficients(self, run: Run) -> None:
        LinearRegression(positive=True).fit([[0.0], [1], [2]], [0.0, 1, 3]).save("p.suffice")
        shown = " ".join(done(run, "summary", "p.suffice").split())
        assert "Standard errors are not known: coefficients that may not be negative" in shown


class TestLasso:
    @pytest.mark.parametrize(
        ("words", "model"),
        [
            (("lasso", "-p", "alpha=0.5"), Lasso(0.5)),
            (("elastic-net", "-p", "l1_ratio=0.9"), ElasticNet(l1_ratio=0.9)),
        ],
    )
    def test_is_that_of_python(
        self, run: Run, boston: Path, words: tuple[str, ...], model: Any
    ) -> None:
        facts = facts_of(run, "fit", boston, "--target", "medv", "--model", *words)
        model.fit(str(boston), "medv")
        estimates = [c["estimate"] for c in facts["equations"][0]["coefficients"]]
        assert estimates == [model.intercept_, *model.coef_]
        shown = done(run, "summary", "Boston.suffice")
        assert "Standard errors are not given" in shown
        assert f"columns chosen: {np.count_nonzero(model.coef_)} of 12" in " ".join(shown.split())

    def test_a_logistic_penalty_of_absolute_values(self, run: Run, smarket: Path) -> None:
        words = ("--label", "Direction", "--ignore", "Year,Today", "--model", "logistic")
        shown = done(run, "fit", smarket, *words, "-p", "penalty=l1", "-p", "C=0.01")
        assert "Standard errors are not known" in shown
        model = suffice.load("Smarket.suffice")
        assert (model.penalty, model.C) == ("l1", 0.01)
        mixed = done(run, "fit", smarket, *words, "-p", "l1_ratio=0.5", "-o", "mixed.suffice")
        assert "Standard errors are not known" in mixed
        assert suffice.load("mixed.suffice").l1_ratio == 0.5


class TestLogistic:
    def test_the_outcome_and_its_reference_are_named(self, run: Run, smarket: Path) -> None:
        words = ("--label", "Direction", "--ignore", "Year,Today", "--model", "logistic")
        facts = facts_of(run, "fit", smarket, *words, "-p", "C=inf")
        (equation,) = facts["equations"]
        assert (equation["outcome"], equation["reference"]) == ("Up", "Down")
        shown = done(run, "summary", "Smarket.suffice")
        assert "log-odds of Up against Down" in shown
        assert max(map(len, shown.splitlines())) <= 80

    def test_answers_equal_python(self, run: Run, smarket: Path) -> None:
        words = ("--label", "Direction", "--features", "Lag1,Lag2", "--model", "logistic")
        shown = done(run, "fit", smarket, *words)
        assert "use --C inf" in " ".join(shown.split())
        model = suffice.load("Smarket.suffice")
        text = done(run, "predict", "Smarket.suffice", smarket, "--proba")
        header, *rows = csv.reader(text.splitlines())
        assert header == ["prediction", "P(Down)", "P(Up)"]
        assert [row[0] for row in rows] == model.predict(smarket).tolist()
        numbers = np.array([row[1:] for row in rows], dtype=np.float64)
        assert np.array_equal(numbers, model.predict_proba(smarket))

    @pytest.mark.parametrize("C", ["inf", "1.0"])
    def test_rows_left_out_are_counted(self, run: Run, tmp_path: Path, C: str) -> None:
        rows = "1,a\n2,b\n3,a\n4,b\n5,\n,b\n"
        (tmp_path / "t.csv").write_text(f"x,y\n{rows}")
        words = ("--label", "y", "--model", "logistic", "-p", "incomplete=drop", "-p", f"C={C}")
        shown = done(run, "fit", "t.csv", *words)
        assert "1 left out without label" in shown
        assert "Rows left out for missing cells: 1" in shown
        facts = facts_of(run, "summary", "t.suffice")
        assert (facts["unlabelled"], facts["left_out"]) == (1, 1)

    @pytest.mark.parametrize(("C", "equations"), [("inf", 2), ("1.0", 3)])
    def test_three_classes(self, run: Run, tmp_path: Path, C: str, equations: int) -> None:
        rows = [f"{x},{y}" for y in "abc" for x in (1, 2, 3, 4)]
        (tmp_path / "t.csv").write_text("\n".join(["x,y", *rows, "5,c", "0,a"]))
        words = ("--label", "y", "--model", "logistic", "-p", f"C={C}")
        facts = facts_of(run, "fit", "t.csv", *words)
        assert len(facts["equations"]) == equations
        title = "c against a:" if C == "inf" else "score of c"
        assert title in " ".join(done(run, "summary", "t.suffice").split())


def test_pseudo_counts_by_their_evidence(run: Run, tmp_path: Path) -> None:
    rows = "".join(
        f"{'ab'[i % 3 == 0]},{'xyz'[i * i % 3]},{['no', 'yes'][i % 2]}\n" for i in range(40)
    )
    (tmp_path / "t.csv").write_text("p,q,c\n" + rows)
    words = ("fit", tmp_path / "t.csv", "--label", "c", "-p", "alpha=evidence")
    done(run, *words, "-o", tmp_path / "m.suffice")
    found = json.loads(done(run, "show", tmp_path / "m.suffice", "--json"))["columns"]
    model = suffice.NaiveBayes(alpha="evidence").fit(str(tmp_path / "t.csv"), "c")
    expected = dict(zip(model.alpha_evidence_.names, model.alpha_evidence_.alpha, strict=True))
    assert {column["name"]: column["alpha"]["alpha"] for column in found} == expected
    assert len(found[0]["alpha"]["curve"]) == len(found[0]["alpha"]["tried"])
    shown = done(run, "show", tmp_path / "m.suffice")
    assert "by evidence" in shown
    assert "nats above that of 1" in shown
    result = run(*words[:4], "-p", "alpha=odd")
    assert "alpha is a finite number, 0 or more, or" in result.stderr


def test_a_second_file_with_another_category(run: Run) -> None:
    Path("a.csv").write_text("x,c,y\n1,A,1\n2,B,2.5\n3,A,3\n4,B,4.5\n")
    Path("b.csv").write_text("x,c,y\n1,A,1\n2,B,2.4\n3,C,3\n4,B,4.2\n5,C,5\n")
    line = ["--target", "y", "--model", "linear"]
    for one in ("a", "b"):
        assert run("fit", f"{one}.csv", *line).exit_code == 0
    run("fit", "a.csv", "b.csv", *line, "-o", "both.suffice")
    both = suffice.load("both.suffice")
    assert run("merge", "a.suffice", "b.suffice", "-o", "ab.suffice").exit_code == 0
    told = run("update", "a.suffice", "b.csv", "-o", "u.suffice", "--json")
    assert json.loads(told.stdout)["new_terms"] == ["c[C]"]
    for name in ("ab.suffice", "u.suffice"):
        assert suffice.load(name).statistic_ == both.statistic_
    answers = run("explain", "a.suffice", "b.csv", "--rows", 5, "--json")  # as predict does
    rows = json.loads(answers.stdout)["rows"]
    assert [row["row"] for row in rows] == [1, 2, 4]
    assert [row["columns"][0]["value"] for row in rows] == [1, 2, 4]
    assert "--unseen reference" in answers.stderr
    assert "--unseen reference" in run("predict", "a.suffice", "b.csv").stderr


def test_what_is_printed_is_typed(run: Run) -> None:
    lines = [f"{i % 7},{'uv'[i % 2]},{'pq'[i % 3 > 0]}" for i in range(60)]
    Path("t.csv").write_text("\n".join(["x,c,k", *lines, ",u,p"]))
    cv = ("cv", "t.csv", "--label", "k", "--folds", 2, "--json")
    tried = [one["name"] for one in json.loads(run(*cv).stdout)["models"]]
    assert "logistic-bins" in tried
    named = run(
        *cv, "--model", ",".join(tried), "--incomplete", "indicator", "--metric", "accuracy"
    )
    found = json.loads(named.stdout)
    assert sorted(one["name"] for one in found["models"]) == sorted(tried)
    assert found["score"] == "accuracy"
    fit = ("fit", "t.csv", "--label", "k", "-o", "m.suffice", "--force")
    assert run(*fit, "--model", "logistic-bins", "--incomplete", "indicator").exit_code == 0
    assert suffice.load("m.suffice").numbers == "bins"
    for words in (["--class-prior"], ["--model", "lda", "--priors"]):
        assert run(*fit, *words, "p:0.25,q:0.75").exit_code == 0
        assert suffice.load("m.suffice").class_prior_.tolist() == [0.25, 0.75]
    page = run("fit", "--model", "ridge", "--help").stdout
    assert "incomplete=error|drop|gaussian" in page
    assert "--model ridge" in page.splitlines()[-2]
    few = run("cv", "t.csv", "--label", "k", "--folds", 10_000)
    assert few.exit_code == 2
    assert "fewer folds" in few.stderr
    other = run(*fit, "--model", "lda", "--alpha", 1).stderr
    assert "--alpha 1 is given for --model lda; it belongs to --model naive-bayes" in other


def test_sums_are_for_the_model_that_suits_the_label(run: Run) -> None:
    rows = [f"{i},{'ab'[i % 2]},{i * 1.5}" for i in range(40)]
    Path("s.csv").write_text("\n".join(["x,shop,units", *rows]))
    told = run("sums", "s.csv", "--target", "units", "--by", "shop", "-o", "s.suffice")
    assert told.exit_code == 0
    assert type(suffice.load("s.suffice").estimator) is suffice.LinearRegression
