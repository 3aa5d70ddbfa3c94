"""What scikit-learn draws already works with our estimators, unchanged."""

import numpy as np
import pytest
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import PartialDependenceDisplay
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    confusion_matrix,
    roc_auc_score,
)
from sklearn.model_selection import LearningCurveDisplay

from suffice import LogisticRegression
from suffice.naive_bayes import GaussianNB

X, Y = load_breast_cancer(return_X_y=True)
MODELS = {"bayes": GaussianNB().fit(X, Y), "logistic": LogisticRegression().fit(X[:, :5], Y)}


@pytest.mark.parametrize("name", MODELS)
def test_curves_and_tables(name: str) -> None:
    model = MODELS[name]
    x = X[:, : model.n_features_in_]
    roc = RocCurveDisplay.from_estimator(model, x, Y)
    assert roc.roc_auc == pytest.approx(roc_auc_score(Y, model.predict_proba(x)[:, 1]))
    assert PrecisionRecallDisplay.from_estimator(model, x, Y).average_precision > 0.8
    table = ConfusionMatrixDisplay.from_estimator(model, x, Y).confusion_matrix
    np.testing.assert_array_equal(table, confusion_matrix(Y, model.predict(x)))
    calibration = CalibrationDisplay.from_estimator(model, x, Y)
    np.testing.assert_array_equal(calibration.y_prob, model.predict_proba(x)[:, 1])
    assert len(PartialDependenceDisplay.from_estimator(model, x, [0, 1]).lines_.ravel()) == 2


def test_learning_curves() -> None:
    display = LearningCurveDisplay.from_estimator(GaussianNB(), X, Y, cv=3, train_sizes=[0.5, 1.0])
    assert display.test_scores.shape == (2, 3)
