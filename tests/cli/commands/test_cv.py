"""``suffice cv``: the figures are those of the library."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from sklearn.model_selection import KFold

import suffice
from suffice.model_selection import compare_scores, evaluate_folds

from ..conftest import Run, check_refused, facts_of

N = 120


@pytest.fixture
def table(tmp_path: Path) -> pa.Table:
    """Two classes told by one number, words, four doctors, and a number to predict."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, N)
    x = rng.normal(size=N) + 1.5 * y
    found = pa.table(
        {
            "x": x,
            "z": rng.normal(size=N),
            "word": rng.choice(["up", "down"], N),
            "doctor": rng.choice(["Ada", "Ben", "Cy", "Di"], N),
            "cost": 3 * x + rng.normal(size=N),
            "y": np.array(["no", "yes"])[y],
        }
    )
    pyarrow.csv.write_csv(found, tmp_path / "t.csv")
    return found


def by_name(found: dict) -> dict:
    return {model["name"]: model for model in found["models"]}


def test_scores_are_those_of_evaluate_folds(run: Run, table: pa.Table) -> None:
    words = "cv t.csv --label y --ignore word,doctor --folds 3 --model naive-bayes,lda,qda,logistic"
    found = facts_of(run, *words.split())
    known = {
        "naive-bayes": suffice.NaiveBayes(),
        "lda": suffice.LinearDiscriminantAnalysis(),
        "qda": suffice.QuadraticDiscriminantAnalysis(),
        "logistic": suffice.LogisticRegression(),
    }
    assert list(by_name(found)) == list(known)
    plain = table.select(["x", "z", "cost", "y"])
    scores, errors = {}, {}
    for name, estimator in known.items():
        expected = evaluate_folds(estimator, plain, "y", cv=3, shuffle=True, random_state=0)
        for score, shown in by_name(found)[name]["scores"].items():
            assert shown["folds"] == pytest.approx(expected.scores(score).tolist(), rel=1e-9)
            assert shown["standard_error"] == pytest.approx(expected.standard_error(score))
        scores[name], errors[name] = expected.scores("log loss"), expected.scores("error rate")
    best = min(scores, key=lambda name: scores[name].mean())
    assert found["best"] == best
    for name, model in by_name(found).items():
        gap = compare_scores(scores[name], scores[best], 0.5)
        assert model["difference_from_best"]["low"] == pytest.approx(gap.low)
        error = compare_scores(errors[name], errors[best], 0.5)
        worse = gap.low > 0 or error.low > 0 or min(gap.sign_p_value, error.sign_p_value) <= 0.05
        assert model["verdict"] == ("best" if name == best else "" if worse else "as good")


def test_the_table_names_the_best_and_what_to_type_next(run: Run, table: pa.Table) -> None:
    shown = run("cv", "t.csv", "--label", "y", "--features", "x,z", "--model", "lda,naive-bayes")
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    (best,) = (line.split()[0] for line in lines if line.split()[-1:] == ["best"])
    said = " ".join(shown.stdout.split())
    assert "120 rows in 10 folds; mean ± standard error" in said
    assert "dealt at random (seed 0)" in said
    assert f"suffice fit t.csv --label y --features x,z --model {best}" in said
    assert run(*said[said.index("suffice fit") + 8 :].split()).exit_code == 0


def test_what_suits_a_table_is_tried(run: Run, table: pa.Table) -> None:
    found = facts_of(run, "cv", "t.csv", "--label", "y", "--features", "x,word", "--folds", 2)
    tried = ["lda", "naive-bayes", "logistic", "logistic-bins", "qda", "aode"]
    assert sorted(by_name(found)) == sorted(tried)
    assert found["left_out"] == []
    gaps = table.set_column(0, "x", pa.array([None, *table["x"].to_pylist()[1:]]))
    pyarrow.csv.write_csv(gaps, "gaps.csv")
    words = ("cv", "gaps.csv", "--features", "x,word", "--folds", 2)
    names = by_name(facts_of(run, *words, "--label", "y"))
    assert all("scores" in one for one in names.values())
    assert "logistic" not in names
    numbers = facts_of(run, *words, "--label", "cost")
    assert list(by_name(numbers)) == ["linear", "ridge", "lasso"]
    assert "incomplete=gaussian" in numbers["next"]


def test_one_class_and_a_threshold(run: Run, table: pa.Table) -> None:
    words = ("cv", "t.csv", "--label", "y", "--features", "x,z", "--model", "lda,naive-bayes")
    found = facts_of(run, *words, "--metric", "recall", "--positive", "no", "--threshold", 0.7)
    assert (found["score"], found["positive"]) == ("recall", "no")
    costs = [[0.0, 0.3], [0.7, 0.0]]  # "yes" above 0.3
    model = suffice.LinearDiscriminantAnalysis(costs=costs)
    plain = table.select(["x", "z", "y"])
    expected = evaluate_folds(model, plain, "y", cv=10, shuffle=True, random_state=0)
    shown = by_name(found)["lda"]["scores"]
    for name in ("precision", "recall", "F1"):
        values = [float(getattr(fold, name.lower())[0]) for fold in expected.folds]
        assert shown[name]["folds"] == pytest.approx(values)
    assert "costs=" in found["next"]
    assert run(*shlex.split(found["next"])[1:]).exit_code == 0
    assert np.allclose(suffice.load("t.suffice").costs, costs)
    by_f1 = facts_of(run, *words, "--metric", "f1")
    assert (by_f1["score"], by_f1["positive"], by_f1["threshold"]) == ("F1", "yes", None)


def test_a_grid_is_compared(run: Run, table: pa.Table) -> None:
    line = ("--grid", "alpha=0.1,10")
    line = (*line, "-p", "calibration=none", "--features", "x,word", "--folds", "3")
    found = facts_of(run, "cv", "t.csv", "--label", "y", "--model", "naive-bayes,logistic", *line)
    assert list(by_name(found)) == ["naive-bayes alpha=0.1", "naive-bayes alpha=10", "logistic"]
    expected = evaluate_folds(
        suffice.NaiveBayes(alpha=10.0, calibration="none"),
        table.select(["x", "word", "y"]),
        "y",
        cv=3,
        shuffle=True,
        random_state=0,
    )
    shown = by_name(found)["naive-bayes alpha=10"]["scores"]["log loss"]["mean"]
    assert shown == pytest.approx(expected.mean("log loss"))
    only = facts_of(run, "cv", "t.csv", "--label", "y", "--model", "naive-bayes", *line)
    assert list(by_name(only)) == ["alpha=0.1", "alpha=10"]
    assert f"-p alpha={only['best'].partition('=')[2]}" in only["next"]


def test_single_rows_are_left_out(run: Run, table: pa.Table) -> None:
    words = ("--label", "y", "--ignore", "word,doctor", "--model", "naive-bayes,lda")
    words = (*words, "-p", "numbers=gaussian", "-p", "calibration=none")
    found = facts_of(run, "cv", "t.csv", *words, "--folds", "loo")
    assert (found["folds"], found["seed"]) == (1, None)
    for name, model in [
        ("naive-bayes", suffice.NaiveBayes.textbook()),
        ("lda", suffice.LinearDiscriminantAnalysis()),
    ]:
        expected = evaluate_folds(model, table.drop(["word", "doctor"]), "y", cv="loo")
        scores = by_name(found)[name]["scores"]
        assert scores["log loss"]["mean"] == pytest.approx(expected.mean("log loss"), rel=1e-12)
        assert scores["log loss"]["standard_error"] is None
    printed = run("cv", "t.csv", *words, "--folds", "loo").stdout
    assert "120 rows, each left out" in printed


def test_rows_of_a_group_stay_together(run: Run, table: pa.Table) -> None:
    found = facts_of(run, "cv", "t.csv", "--label", "y", "--by", "doctor", "--model", "naive-bayes")
    expected = evaluate_folds(suffice.NaiveBayes(), table, "y", cv=10, groups="doctor")
    assert found["folds"] == 4
    assert found["seed"] is None
    shown = by_name(found)["naive-bayes"]["scores"]["error rate"]["folds"]
    assert shown == pytest.approx(expected.scores("error rate").tolist())
    assert "--ignore doctor" in found["next"]


def test_folds_in_order(run: Run, table: pa.Table) -> None:
    words = ("cv", "t.csv", "--label", "y", "--model", "naive-bayes", "--folds", 3)
    for option, options in (
        ("--in-order", {"cv": KFold(3)}),
        ("--seed=5", {"cv": 3, "shuffle": True, "random_state": 5}),
    ):
        expected = evaluate_folds(suffice.NaiveBayes(), table, "y", **options)
        shown = by_name(facts_of(run, *words, option))["naive-bayes"]["scores"]["log loss"]["folds"]
        assert shown == pytest.approx(expected.scores("log loss").tolist())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--model forest", "the models are"),
        ("--model lda,linear", "some predict a class, the others a number"),
        ("--folds 1", "--folds 1"),
        ("--folds 63", "no class has more than"),
        ("--grid alpha", "write --grid alpha=0.1,1,10"),
        ("--grid beta=1", "it is a parameter of no model"),
        ("--grid alpha=much --model naive-bayes", "alpha is a finite number"),
        ("--grid alpha=1 --model lda", "it belongs to --model naive-bayes"),
        ("--metric beauty --model lda", "it is one of 'log loss'"),
        ("--metric recall --label doctor", "it is of one class; name it by --positive"),
        ("--positive maybe", "the labels are no, yes"),
        ("--threshold 2", "a probability is from 0 to 1"),
        ("--threshold 0.3 --label doctor", "given for 4 labels"),
        ("--C -1 --model logistic", "C is a number, above 0"),
        ("--by nurse", "--by names the column 'nurse'"),
        ("--by doctor --in-order", "--by and --in-order are both given"),
        ("--folds loo --in-order", "--folds loo and --in-order are both given"),
        ("--folds loo --by doctor", "--folds loo and --by are both given"),
        ("--ignore nobody", "the columns are"),
        ("-p alpha=1 --model lda", "it belongs to --model naive-bayes"),
    ],
)
def test_bad_options_are_told_in_a_sentence(table: pa.Table, words: str, said: str) -> None:
    check_refused(f"cv t.csv --label y {words}", said)


def test_a_warning_of_every_fold_is_printed_once(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"c{i:04d},{i % 7 + i % 2},{'no' if i % 2 else 'yes'}\n" for i in range(60))
    (tmp_path / "ids.csv").write_text("code,x,y\n" + rows)
    shown = run("cv", "ids.csv", "--label", "y", "--model", "naive-bayes", "--folds", 3)
    assert shown.exit_code == 0, shown.output
    assert shown.stderr.count("column 'code' tells one row from another") == 1


def test_a_label_of_one_fold_alone_makes_the_log_loss_infinite(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},{'abc'[i % 2 + (i == 5)]}\n" for i in range(30))
    (tmp_path / "once.csv").write_text(f"x,y\n{rows}")
    found = facts_of(run, "cv", "once.csv", "--label", "y", "--model", "naive-bayes", "--folds", 3)
    score = found["models"][0]["scores"]["log loss"]
    assert score["mean"] is None
    assert score["folds"].count(None) == 1
    assert (found["score"], found["instead_of"]) == ("error rate", "log loss")
    cause = {"label": "c", "rows": 1.0, "learnt": False}
    assert found["models"][0]["infinite_log_loss"] == [cause]
    again = ("--label", "y", "--model", "naive-bayes,lda", "--metric", "log loss")
    printed = run("cv", "once.csv", *again, "--folds", 3).stdout
    said = " ".join(printed.split())
    assert "Ranked by error rate, as no model has a finite log loss" in said
    assert "∞ by 1 row of class 'c'" in said
    assert not any(
        "best" in line or "as good" in line for line in printed.splitlines() if "∞" in line
    )


def test_a_model_of_heavy_tails_is_not_as_good(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    x = rng.normal(size=600) + 1.5 * y
    thin = np.where(rng.random(600) < 0.01, rng.normal(size=600), 1e-7 * rng.normal(size=600))
    rows = "".join(f"{a:.6f},{b:.9f},{'ny'[c]}\n" for a, b, c in zip(x, thin, y, strict=True))
    (tmp_path / "spikes.csv").write_text("x,thin,y\n" + rows)
    words = ("cv", "spikes.csv", "--label", "y", "--model", "naive-bayes,qda")
    found = by_name(facts_of(run, *words))
    assert found["naive-bayes"]["verdict"] == "best"
    assert found["qda"]["verdict"] == ""


def test_the_target_is_that_of_a_formula(run: Run, table: pa.Table) -> None:
    words = ("cv", "t.csv", "--model", "logistic", "-p", "formula=y ~ x*z", "--folds", 3)
    found, named = (by_name(facts_of(run, *words, *more)) for more in ((), ("--label", "y")))
    assert found["logistic"]["scores"] == named["logistic"]["scores"]
    result = run("cv", "t.csv", "--model", "logistic")
    assert result.exit_code == 2
    assert "--label" in result.stderr
