"""Discriminant analyses that others printed, on their data; see reference.json."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.model_selection import cross_val_predict

# -- ISLP, lab of chapter 4; printed by a scikit-learn whose divisors were n − k and n_c − 1


@pytest.fixture
def smarket(data: Path):
    table = pd.read_csv(data / "islp" / "Smarket.csv")
    chosen = table[["Lag1", "Lag2", "Direction"]]
    return chosen[table["Year"] < 2005], chosen[table["Year"] == 2005]


def confusion(model, table) -> list[list[int]]:
    """Prediction by truth, as ISLP prints it."""
    return model.evaluate(table, "Direction").confusion.value.T.astype(int).tolist()


def test_smarket_linear(smarket, published):
    train, test = smarket
    printed = published["islp_smarket_lda"]["published"]
    model = LinearDiscriminantAnalysis(ddof=1).fit(train, "Direction")
    assert model.classes_.tolist() == ["Down", "Up"]
    assert confusion(model, test) == printed["confusion_pred_by_truth"]
    assert np.abs(model.means_ - printed["means"]).max() < 5e-9
    assert np.abs(model.scalings_[:, 0] - printed["scalings"]).max() < 5e-9


def test_smarket_quadratic(smarket, published):
    train, test = smarket
    printed = published["islp_smarket_qda"]["published"]
    model = QuadraticDiscriminantAnalysis(ddof=1).fit(train, "Direction")
    assert confusion(model, test) == printed["confusion_pred_by_truth"]
    assert model.score(test, "Direction") == printed["accuracy"]
    assert np.abs(model.covariance_[0] - printed["cov_class0"]).max() < 5e-9


# -- iris: the axes that R's MASS::lda prints, within-class covariance with n − k the identity


def test_iris_axes(data: Path, published):
    printed = published["iris_lda_R"]["published"]
    table = pd.read_csv(data / "iris" / "iris.csv")
    model = LinearDiscriminantAnalysis(ddof=1).fit(table, "species")
    for axis, name in enumerate(("LD1", "LD2")):
        found, expected = model.scalings_[:, axis], np.array(printed[name])
        sign = np.sign(found @ expected)
        assert np.abs(sign * found - expected).max() < 5e-8
    ratio = model.explained_variance_ratio_
    assert np.abs(ratio - printed["proportion_of_trace"]).max() < 5e-8


# -- wine: Aeberhard, Coomans and de Vel (1992), leave one out


@pytest.mark.parametrize(
    ("model", "name", "errors"),
    [
        (LinearDiscriminantAnalysis(), "LDA_accuracy", 2),
        (QuadraticDiscriminantAnalysis(), "QDA_accuracy", 1),
    ],
)
def test_wine_leave_one_out(data: Path, published, model, name, errors):
    table = np.loadtxt(data / "wine" / "wine.data", delimiter=",")
    x, y = table[:, :-1], table[:, -1]
    wrong = (cross_val_predict(model, x, y, cv="loo") != y).sum()
    assert wrong == errors
    assert round(1 - wrong / len(y), 3) == published["wine_loo"]["published"][name]
