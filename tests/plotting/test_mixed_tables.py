"""Pictures of discriminant analysis of tables with categories: drawn, or refused in a sentence."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.contour import ContourSet
from scipy.interpolate import RegularGridInterpolator
from scipy.stats import norm

from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.errors import ParameterError
from suffice.plotting import (
    ClassDensityDisplay,
    ColumnImportanceDisplay,
    DecisionBoundaryDisplay,
    LedgerDisplay,
)

RNG = np.random.default_rng(0)
CLASS = RNG.integers(0, 3, 400)
TABLE = pd.DataFrame(
    {
        "hue": np.array(["r", "g", "b"])[(CLASS + RNG.choice(3, 400, p=[0.5, 0.4, 0.1])) % 3],
        "size": RNG.normal(CLASS, 1.0),
        "length": RNG.normal(size=400),
        "kind": np.array(["a", "b", "c"])[CLASS],
    }
)
MODELS = [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()]


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model(request: pytest.FixtureRequest) -> Any:
    return request.param.fit(TABLE, "kind")


def test_numbers_have_the_density_of_their_gaussian(model: Any) -> None:
    display = ClassDensityDisplay.from_estimator(model, "size", TABLE, "kind")
    covariance = np.broadcast_to(model.model_.parameters[0].factored.covariance, (3, 4, 4))
    for c in range(3):
        at, drawn = display.ax_.lines[c].get_data()
        mean = model.model_.parameters[0].factored.mean[c, 2]
        np.testing.assert_allclose(drawn, norm.pdf(at, mean, covariance[c, 2, 2] ** 0.5), rtol=1e-9)


def test_indicators_have_no_shares(model: Any) -> None:
    with pytest.raises(ParameterError, match="'hue' are indicators of a Gaussian"):
        ClassDensityDisplay.from_estimator(model, "hue")


def test_the_other_pictures_are_drawn(model: Any) -> None:
    row = TABLE.drop(columns="kind").iloc[:1]
    assert "hue" in LedgerDisplay.from_estimator(model, row).columns
    with pytest.raises(ParameterError, match="no column of this model has a distribution"):
        ColumnImportanceDisplay.from_estimator(model)
    held = {"hue": "r"}
    plane = DecisionBoundaryDisplay.from_estimator(model, ("size", "length"), held=held, points=30)
    contours = [one for one in plane.ax_.collections if isinstance(one, ContourSet)]
    paths = [path.vertices for lines in contours for path in lines.get_paths()]
    points = np.concatenate([points for points in paths if len(points)])
    assert len(points) > 30
    x, y = plane.x, plane.y
    grid = pd.DataFrame({"hue": "r", "size": np.tile(x, len(y)), "length": np.repeat(y, len(x))})
    logs = model.predict_log_proba(grid).reshape(len(y), len(x), 3)
    leads = [logs[..., c] - np.delete(logs, c, axis=2).max(axis=2) for c in range(3)]
    found = [RegularGridInterpolator((y, x), lead)(points[:, ::-1]) for lead in leads]
    np.testing.assert_allclose(np.abs(found).min(axis=0), 0, atol=1e-9)
    with pytest.raises(ParameterError, match="'hue' holds no numbers"):
        DecisionBoundaryDisplay.from_estimator(model, ("size", "hue"))
    assert "<table" in model._repr_html_()


def test_what_needs_numbers_alone_is_refused_in_a_sentence(model: Any) -> None:
    with pytest.raises(ParameterError, match="posterior"):
        model.predict_proba_interval(TABLE.drop(columns="kind"))
