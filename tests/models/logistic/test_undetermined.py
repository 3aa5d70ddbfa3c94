"""What the rows of a logistic regression do not determine has no error, test and interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from suffice.errors import SufficeWarning
from suffice.linear_model import LogisticRegression

RNG, N = np.random.default_rng(1), 300
ROWS = pd.DataFrame(
    {"g": RNG.choice(list("abc"), N), "h": RNG.choice(list("uv"), N), "x": RNG.normal(size=N)}
)
ROWS = ROWS[(ROWS["g"] != "b") | (ROWS["h"] != "v")].reset_index(drop=True)
ROWS["k"] = np.where(ROWS["x"] + RNG.normal(size=len(ROWS)) > 0, "hi", "lo")
NEW = pd.DataFrame({"g": list("abcabc"), "h": list("uuuvvv"), "x": 0.5})
EMPTY = 4  # of NEW: the combination that no row of the fit shows


@pytest.mark.parametrize("reference", [{}, {"g": "b", "h": "v"}])
def test_an_empty_combination_has_no_interval(reference: dict[str, str]) -> None:
    model = LogisticRegression(C=np.inf, formula="g*h+x", reference=reference)
    with pytest.warns(SufficeWarning, match=r"g\[.\]:h\[.\]"):
        model.fit(ROWS, "k")
    ends = model.predict_proba_interval(NEW)
    whole = (ends[:, 0] == [0.0, 1.0]).all(axis=1)
    assert whole.tolist() == [i == EMPTY for i in range(len(NEW))]
    frame = model.summary().frame()
    assert frame.loc["x"].notna().all()
    assert frame["p"].isna().any()
    assert (frame["p"].isna() == frame["standard_error"].isna()).all()


def test_collinear_and_constant_columns_have_no_error_and_others_keep_theirs() -> None:
    rows = ROWS[["x", "k"]].assign(z=2 * ROWS["x"], c=5.0, u=RNG.normal(size=len(ROWS)))
    with pytest.warns(SufficeWarning, match="'z'"):
        model = LogisticRegression(C=np.inf).fit(rows, "k")
    found = model.summary().frame()
    known = sm.Logit((rows["k"] == "lo").astype(int), sm.add_constant(rows[["x", "u"]])).fit(disp=0)
    assert found.index[found["p"].isna()].tolist() == ["x", "z", "c"]
    np.testing.assert_allclose(
        found.loc[["(Intercept)", "u"], "standard_error"], known.bse[["const", "u"]], rtol=1e-6
    )
    assert "'x', 'z', 'c'" in str(model.summary())
    several = rows.assign(k=RNG.choice(list("pqr"), len(rows)))
    with pytest.warns(SufficeWarning, match="'z'"):
        model = LogisticRegression(C=np.inf).fit(several, "k")
    assert np.isnan(model.summary().standard_error).all(axis=0).tolist() == [
        False,
        True,
        True,
        True,
        False,
    ]
