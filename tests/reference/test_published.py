"""Results that others printed, on their data. Sources are with the cases in reference.json."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from suffice import NaiveBayes, read_csv
from suffice.families import Bernoulli, Gaussian, Multinomial

# -- R package naivebayes, README: printed to 7 digits, variance divisor n − 1


def test_r_naivebayes_mixed(data: Path, published):
    case = published["rnaivebayes_mixed"]
    train, test = (data / name for name in case["files"])
    gaussian = Gaussian(estimation="mle", ddof=1)
    model = NaiveBayes.textbook(families={"norm": gaussian, "count": gaussian}, estimation="mle")
    found = model.fit(train, "class").predict_proba(test)
    assert model.classes_.tolist() == case["classes"]
    assert np.abs(found - case["expected_proba_gaussian"]).max() < 5e-8


# -- R package e1071 on the votes of 1984, the file as it is: no header, padded, "?"


@pytest.fixture
def votes(data: Path):
    path = data / "house_votes_84" / "house-votes-84.data"
    categories = {f"column_{j}": "text" for j in range(2, 18)}
    return read_csv(path, header=False, strip=True, missing=["?"], written=categories)


def confusion(model: NaiveBayes, table) -> list[list[int]]:
    """Prediction by truth, as R prints it."""
    return model.evaluate(table, "column_1").confusion.value.T.astype(int).tolist()


def test_votes_without_smoothing(votes, published):
    # e1071 puts 0.001 in the place of a probability of zero. Nothing is to be imitated here:
    # every vote has both a yes and a no in both parties, so no probability is zero.
    model = NaiveBayes.textbook(estimation="mle").fit(votes, "column_1")
    theta = [model.model_.parameters[0].probabilities(j) for j in range(16)]
    assert min(t.min() for t in theta) > 0
    published = published["votes_e1071"]["published"]
    assert model.classes_.tolist() == published["classes"]
    assert confusion(model, votes) == published["confusion_pred_by_truth"]


def test_votes_with_laplace_3(votes, published):
    # e1071's laplace = 3 is the pseudo-count: (N_v + 3)/(N + 2·3).
    model = NaiveBayes.textbook(alpha=3).fit(votes, "column_1")
    published = published["votes_e1071_laplace3"]["published"]
    assert confusion(model, votes) == published["confusion_pred_by_truth"]
    first = model.model_.parameters[0].probabilities(0)
    for c, party in enumerate(("democrat", "republican")):
        printed = [published["V1"][party][vote] for vote in ("n", "y")]
        assert first[c] == pytest.approx(printed, rel=0, abs=5e-8)


# -- Manning, Raghavan, Schütze, Introduction to Information Retrieval, examples 13.1 and 13.2


def text_model(case, family):
    rows = pa.table({"text": case["docs"]})
    return NaiveBayes.textbook(families={"text": family}).fit(rows, case["y"])


def joint(model, case) -> dict[str, float]:
    log_joint = model.predict_joint_log_proba(pa.table({"text": case["test_docs"]}))
    return dict(zip(model.classes_.tolist(), np.exp(log_joint[0]), strict=True))


@pytest.mark.parametrize(
    ("family", "key"),
    [
        ("multinomial", "expected_param"),
        (Multinomial(estimation="mle"), "expected_param_nosmooth"),
        (Multinomial(alpha=0), "expected_param_nosmooth"),
    ],
)
def test_iir_multinomial_parameters(published, family, key):
    case = published["iir_multinomial"]
    parameters = text_model(case, family).model_.parameters[0]
    assert parameters.events.values == (
        "beijing", "chinese", "japan", "macao", "shanghai", "tokyo",
    )  # fmt: skip
    for c, label in enumerate("NY"):
        for word, probability in case[key][label].items():
            assert parameters.theta[c, parameters.events.codes[word.lower()]] == probability


def test_iir_multinomial_joint(published):
    case = published["iir_multinomial"]
    model = text_model(case, "multinomial")
    assert joint(model, case) == pytest.approx(case["expected_joint_test"], rel=1e-14)
    first = pa.table({"text": case["docs"][:1]})
    # printed to three and to two digits
    assert model.predict_proba(first)[0] == pytest.approx([0.065, 0.935], abs=5e-4)
    assert model.predict_joint_log_proba(first)[0] == pytest.approx([-6.59, -3.93], abs=5e-3)


def test_iir_bernoulli(published):
    case = published["iir_bernoulli"]
    model = text_model(case, "bernoulli")
    parameters = model.model_.parameters[0]
    assert len(parameters.words) == 6
    for c, label in enumerate("NY"):
        for word, probability in case["expected_param"][label].items():
            found = parameters.theta[c, parameters.words.codes[word.lower()], 1]
            assert found == pytest.approx(probability, rel=1e-15)
    # Y: 3/4 · 4/5 · 1/5 · 1/5 · (1 − 2/5)³ = 0.005184 exactly;
    # N: 1/4 · (2/3)⁶ = 16/729 = 0.0219478738, printed to seven digits.
    assert joint(model, case) == pytest.approx({"Y": 0.005184, "N": 16 / 729}, rel=1e-14)
    assert joint(model, case)["N"] == pytest.approx(case["expected_joint_test"]["N"], abs=5e-9)


# -- R package fastNaiveBayes, its tests


@pytest.mark.parametrize(
    ("name", "family", "options"),
    [
        ("fnb_gaussian", Gaussian(estimation="mle", ddof=1), {"class_prior": [0.25, 0.75]}),
        ("fnb_bernoulli3", Bernoulli(estimation="mle"), {}),
        ("fnb_bernoulli3", Bernoulli(alpha=0), {}),
        ("fnb_multinomial3", Multinomial(estimation="mle"), {}),
        ("fnb_multinomial3", Multinomial(alpha=0), {}),
    ],
)
def test_fast_naive_bayes(published, name, family, options):
    case = published[name]
    model = NaiveBayes.textbook(families=family, **options).fit(np.array(case["X"]), case["y"])
    found = model.predict_proba(np.array(case["X"]))
    assert model.classes_.tolist() == case["classes"]
    assert np.abs(found - case["expected_proba"]).max() <= case["tol"]


# -- Orange: a cell that is missing at prediction is left out, all missing gives the prior


def test_orange_missing_cells(published):
    case = published["orange_missing_predict"]
    X, rows = (np.array(case[key], dtype=float) for key in ("X", "test_X"))
    # Orange adds one to every cell of the table class x value, so a class with m values in a
    # column gets m in all; here that is the pseudo-count of the class. The three rows show no
    # column at all, the second (three values), and the first (two values).
    assert case["levels"] == [2, 3, 1]
    labels, weight = np.unique(case["y"], return_counts=True)
    for row, count, expected in zip(rows, (1, 3, 2), case["expected_proba"], strict=True):
        prior = (weight + count) / (weight + count).sum()
        model = NaiveBayes.textbook(
            families="categorical", class_prior=dict(zip(labels.tolist(), prior, strict=True))
        )
        found = model.fit(X, case["y"]).predict_proba(row[None])[0]
        assert np.abs(found - expected).max() < case["tol"]


# -- ISLP, lab of chapter 4


def test_islp_smarket(data: Path, published):
    printed = published["islp_smarket_gnb"]["published"]
    with (data / "islp" / "Smarket.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    def part(rows) -> pa.Table:
        columns = {name: [float(row[name]) for row in rows] for name in ("Lag1", "Lag2")}
        return pa.table(columns | {"Direction": [row["Direction"] for row in rows]})

    train = part([row for row in rows if int(row["Year"]) < 2005])
    test = part([row for row in rows if int(row["Year"]) == 2005])
    model = NaiveBayes.textbook(estimation="mle").fit(train, "Direction")
    parameters = model.model_.parameters[0]
    assert model.classes_.tolist() == printed["classes"]
    assert np.abs(model.model_.prior - printed["prior"]).max() < 5e-9
    assert np.abs(parameters.mean - printed["theta"]).max() < 5e-9
    assert np.abs(parameters.variance - printed["var"]).max() < 5e-9
    first = model.predict_proba(test)[:5]
    assert np.abs(first - printed["proba_first5"]).max() < 5e-9
    table = model.evaluate(test, "Direction").confusion.value.T
    assert table.tolist() == printed["confusion_pred_by_truth"]
