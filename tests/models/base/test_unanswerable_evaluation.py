"""An evaluation can leave out the rows that a model has no answer for, and counts them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.running import on

from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.linear_model import LinearRegression, LogisticRegression

RANDOM = np.random.default_rng(5)
N = 400
WHOLE = pd.DataFrame(
    {
        "size": RANDOM.normal(size=N),
        "color": RANDOM.choice(["red", "blue"], N),
        "site": RANDOM.choice(["north", "south"], N),
    }
)
WHOLE["y"] = np.where(WHOLE["size"] + RANDOM.normal(size=N) > 0, "yes", "no")
WHOLE["z"] = 2 * WHOLE["size"] + (WHOLE["color"] == "red") + RANDOM.normal(size=N)
HOLES = WHOLE.copy()
HOLES.loc[::10, "size"] = np.nan
HOLES.loc[3::50, "color"] = "green"
KEPT = HOLES["size"].notna() & (HOLES["color"] != "green")


@pytest.mark.parametrize("engine", [None, "processes"])
def test_a_classifier_is_judged_by_the_rows_that_it_answers(engine) -> None:
    columns = ["size", "color", "y"]
    model = on(engine, LogisticRegression()).fit(WHOLE[columns], "y")
    with pytest.warns(SufficeWarning, match=f"{N - KEPT.sum()} rows left out: a cell is missing"):
        found = model.evaluate(HOLES[columns], "y", unanswerable="empty")
    alone = model.evaluate(HOLES.loc[KEPT, columns], "y")
    np.testing.assert_array_equal(found.confusion.value, alone.confusion.value)
    assert found.log_loss == alone.log_loss
    with pytest.warns(SufficeWarning, match="rows left out"):
        groups = model.evaluate_by(HOLES.drop(columns="z"), "y", "site", unanswerable="empty")
    for site, part in groups.items():
        assert part.weight == (KEPT & (HOLES["site"] == site)).sum()
    with pytest.raises(DataError, match="'color', row 3: 'green'"):
        model.evaluate(HOLES[columns], "y")
    assert model.evaluate(WHOLE[columns], "y", unanswerable="empty").weight == N


def test_a_regression_is_judged_by_the_rows_that_it_answers() -> None:
    columns = ["size", "color", "z"]
    model = LinearRegression().fit(WHOLE[columns], "z")
    with pytest.warns(SufficeWarning, match=f"{N - KEPT.sum()} rows left out"):
        found = model.evaluate(HOLES[columns], "z", unanswerable="empty")
    alone = model.evaluate(HOLES.loc[KEPT, columns], "z")
    assert found.r_squared == alone.r_squared
    with pytest.warns(SufficeWarning, match="rows left out"):
        groups = model.evaluate_by(HOLES.drop(columns="y"), "z", "site", unanswerable="empty")
    assert sum(part.weight[0] for part in groups.values()) == KEPT.sum()
    with pytest.raises(ParameterError, match="unanswerable is one of 'error', 'empty'"):
        model.evaluate(HOLES[columns], "z", unanswerable="skip")


def test_a_bad_cell_is_named_by_its_own_row() -> None:
    holes = HOLES[["size", "color", "z"]].copy()
    holes.loc[37, "size"] = np.inf
    model = LinearRegression().fit(WHOLE[["size", "color", "z"]], "z")
    with pytest.raises(DataError, match="'size', row 37: inf"):
        model.evaluate(holes, "z", unanswerable="empty")
