"""``suffice summary --robust``: errors that need the rows once more."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from .conftest import Run


@pytest.fixture
def fitted(run: Run, tmp_path: Path) -> pd.DataFrame:
    random = np.random.default_rng(3)
    table = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    table["y"] = table.a + random.normal(size=60) * np.abs(table.b)
    table.to_csv(tmp_path / "t.csv", index=False)
    assert run("fit", "t.csv", "--label", "y", "--model", "linear").exit_code == 0
    return table


@pytest.mark.parametrize("kind", ["HC0", "HC3"])
def test_errors_are_those_of_statsmodels(run: Run, fitted: pd.DataFrame, kind: str) -> None:
    facts = json.loads(run("summary", "t.suffice", "t.csv", "--robust", kind, "--json").stdout)
    truth = sm.OLS(fitted.y, sm.add_constant(fitted[["a", "b"]])).fit(cov_type=kind, use_t=True)
    found = [known["standard_error"] for known in facts["equations"][0]["coefficients"]]
    np.testing.assert_allclose(found, truth.bse, rtol=1e-8)
    assert facts["errors"] == kind
    assert f"robust: {kind}" in run("summary", "t.suffice", "t.csv", "--robust", kind).stdout


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--robust", "HC3"], "--robust HC3 is given without rows"),
        (["t.csv", "--robust", "HC9"], "--robust 'HC9'; it is one of 'HC0', 'HC1', 'HC2', 'HC3'"),
        (["t.csv"], "a summary reads rows for --robust only"),
    ],
)
def test_what_cannot_be_asked(run: Run, fitted: pd.DataFrame, given: list[str], said: str) -> None:
    refused = run("summary", "t.suffice", *given)
    assert refused.exit_code == 2
    assert said in " ".join(refused.stderr.split())


def test_other_models_have_none(run: Run, fitted: pd.DataFrame) -> None:
    run("fit", "t.csv", "--label", "y", "--model", "ridge", "-o", "ridge.suffice")
    refused = run("summary", "ridge.suffice", "t.csv", "--robust", "HC3")
    assert "--robust is given for a Ridge" in refused.stderr
