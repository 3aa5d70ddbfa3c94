"""Logistic regression against printed results, statsmodels and scikit-learn."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as theirs
import statsmodels.api as sm
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from suffice.errors import DataError
from suffice.linear_model import LogisticRegression

# -- ISLP, lab of chapter 4


@pytest.fixture(scope="module")
def smarket(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "islp" / "Smarket.csv")


def test_islp_smarket(smarket, published):
    printed = published["islp_smarket_logit"]["published"]
    columns = ["Lag1", "Lag2", "Lag3", "Lag4", "Lag5", "Volume"]
    table = smarket[[*columns, "Direction"]]
    model = LogisticRegression(C=np.inf).fit(table, "Direction")
    summary = model.summary()
    assert np.abs(summary.estimate[0, 0] - printed["params"][0]) < 5e-5
    assert np.abs(summary.estimate[0, 1:] - printed["params"][1:]).max() < 5e-7
    assert np.abs(summary.p[0] - printed["pvalues"]).max() < 5e-5
    assert np.abs(summary.p[0, 1:] - printed["pvalues"][1:]).max() < 5e-7
    first = model.predict_proba(table[columns].head(10))[:, 1]
    assert np.abs(first - printed["proba_first10"]).max() < 5e-9
    confusion = model.evaluate(table, "Direction").confusion.value.T
    assert confusion.tolist() == printed["confusion_pred_by_truth"]


def test_islp_smarket_of_2005(smarket, published):
    printed = published["islp_smarket_logit_test"]["published"]
    columns = ["Lag1", "Lag2", "Direction"]
    train, test = (
        smarket[chosen][columns] for chosen in (smarket.Year < 2005, smarket.Year == 2005)
    )
    model = LogisticRegression(C=np.inf).fit(train, "Direction")
    confusion = model.evaluate(test, "Direction").confusion.value.T
    assert confusion.tolist() == printed["confusion_pred_by_truth"]
    new = pd.DataFrame({name: printed["newdata"][name] for name in ("Lag1", "Lag2")})
    assert np.abs(model.predict_proba(new)[:, 1] - printed["newdata"]["p_up"]).max() < 5e-7


# James, Witten, Hastie, Tibshirani, An Introduction to Statistical Learning, tables 4.1 to 4.3
ISL = [
    (["balance"], {"(Intercept)": (-10.6513, 0.3612), "balance": (0.0055, 0.0002)}),
    (["student"], {"(Intercept)": (-3.5041, 0.0707), "student[Yes]": (0.4049, 0.1150)}),
    (
        ["balance", "income", "student"],
        {
            "(Intercept)": (-10.8690, 0.4923),
            "balance": (0.0057, 0.0002),
            "income": (0.0030, 0.0082),
            "student[Yes]": (-0.6468, 0.2362),
        },
    ),
]


@pytest.mark.parametrize(("columns", "printed"), ISL)
def test_isl_default(data: Path, columns, printed):
    table = pd.read_csv(data / "islp" / "Default.csv", dtype={"student": "category"})
    table = table[["default", *columns]]
    if "income" in columns:
        table["income"] /= 1000
    found = LogisticRegression(C=np.inf).fit(table, "default").summary().frame()
    for term, (estimate, error) in printed.items():
        assert found.loc[term, "estimate"] == pytest.approx(estimate, abs=5.1e-5)
        # R takes the weights of the step before the last for its errors
        assert found.loc[term, "standard_error"] == pytest.approx(error, abs=1e-4)


# -- statsmodels


def two_class_tables(data: Path):
    smarket = pd.read_csv(data / "islp" / "Smarket.csv")
    yield smarket[["Lag1", "Lag2", "Volume"]], smarket.Direction == "Up"
    default = pd.read_csv(data / "islp" / "Default.csv")
    yield default[["balance", "income"]], default.default == "Yes"
    x, y = load_breast_cancer(return_X_y=True)
    yield x[:, [0, 1, 4, 8]], y == 1
    x, y = load_iris(return_X_y=True)
    yield x[50:], y[50:] == 2
    penguins = pd.read_csv(data / "penguins" / "penguins.csv").dropna()
    yield penguins[["body_mass_g", "flipper_length_mm"]], penguins.sex == "male"


def agree(summary, other, rtol=1e-8):
    """Estimates and errors of statsmodels, whose columns are outcomes."""
    params, errors = np.atleast_2d(np.asarray(other.params).T), np.asarray(other.bse).T
    assert_allclose(summary.estimate, params, rtol=rtol, atol=rtol * np.abs(params).min())
    assert_allclose(summary.standard_error, np.atleast_2d(errors), rtol=rtol)
    assert_allclose(summary.p, np.atleast_2d(np.asarray(other.pvalues).T), rtol=1e-6, atol=1e-300)
    interval = np.moveaxis(np.asarray(other.conf_int()), -1, 0).reshape(2, *summary.lower.shape)
    size = np.abs(interval).max()
    assert_allclose(np.stack([summary.lower, summary.upper]), interval, rtol=1e-7, atol=1e-9 * size)
    fit = summary.likelihood
    assert fit.value == pytest.approx(other.llf, rel=1e-11)
    assert fit.null == pytest.approx(other.llnull, rel=1e-9)
    assert fit.aic == pytest.approx(other.aic, rel=1e-11)
    assert fit.bic == pytest.approx(other.bic, rel=1e-11)
    assert fit.mcfadden == pytest.approx(other.prsquared, rel=1e-8)
    assert fit.ratio.statistic == pytest.approx(other.llr, rel=1e-8)
    assert fit.ratio.p == pytest.approx(other.llr_pvalue, rel=1e-5, abs=1e-300)
    assert fit.ratio.dof == other.df_model


def judge(model, y, x, tol=1e-14):
    """What statsmodels finds; on standardised columns its Newton steps lose no digits."""
    return model(np.asarray(y), sm.add_constant(x)).fit(
        method="newton", tol=tol, maxiter=100, disp=0
    )


@pytest.mark.parametrize("case", range(5))
def test_two_classes_as_statsmodels(data: Path, case):
    x, y = list(two_class_tables(data))[case]
    x, y = np.asarray(x, float), np.asarray(y).astype(int)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    agree(LogisticRegression(C=np.inf).fit(z, y).summary(), judge(sm.Logit, y, z))
    raw = LogisticRegression(C=np.inf).fit(x, y).summary()
    other = judge(sm.Logit, y, x, tol=1e-9)
    assert_allclose(raw.estimate[0], other.params, rtol=1e-7)
    assert_allclose(raw.standard_error[0], other.bse, rtol=1e-7)


def many_class_tables(data: Path):
    anes = sm.datasets.anes96.load()
    yield np.asarray(anes.exog, float)[:, 1:], np.asarray(anes.endog)
    penguins = pd.read_csv(data / "penguins" / "penguins.csv").dropna()
    yield penguins[["body_mass_g"]].to_numpy(float), penguins.island.to_numpy()
    x, y = load_digits(return_X_y=True)
    overlapping = np.isin(y, (1, 8, 9))
    yield x[overlapping][:, [20, 21, 28, 36]], y[overlapping]


@pytest.mark.parametrize("case", range(3))
def test_many_classes_as_statsmodels(data: Path, case):
    x, y = list(many_class_tables(data))[case]
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    codes = np.unique(y, return_inverse=True)[1]
    agree(LogisticRegression(C=np.inf).fit(z, y).summary(), judge(sm.MNLogit, codes, z))


def test_weights_as_statsmodels(data: Path):
    x, y = next(iter(two_class_tables(data)))
    w = np.random.default_rng(0).integers(1, 5, len(y)).astype(float)
    z = np.asarray((x - x.mean()) / x.std())
    other = sm.GLM(
        np.asarray(y, float), sm.add_constant(z), sm.families.Binomial(), freq_weights=w
    ).fit(tol=1e-14)
    found = LogisticRegression(C=np.inf).fit(z, y, w).summary()
    assert_allclose(found.estimate[0], other.params, rtol=1e-9)
    assert_allclose(found.standard_error[0], other.bse, rtol=1e-9)
    assert found.likelihood.value == pytest.approx(other.llf, rel=1e-12)


def test_a_group_of_columns_as_statsmodels(data: Path):
    x, y = list(two_class_tables(data))[2]
    model = LogisticRegression(C=np.inf).fit(x, y)
    found = model.anova(LogisticRegression(C=np.inf).fit(x[:, [0, 2]], y))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    full, less = (judge(sm.Logit, y, z[:, chosen]).llf for chosen in ([0, 1, 2, 3], [0, 2]))
    assert found.statistic == pytest.approx(2 * (full - less), rel=1e-9)
    assert found.difference == 2


# -- scikit-learn


def overlapping_tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Columns and classes of well-known data that overlap; all columns separate all classes."""
    digits, wine, iris = (load(return_X_y=True) for load in (load_digits, load_wine, load_iris))
    return {
        "digits, 10 classes": (digits[0][:, [10, 20, 21, 28, 36, 42, 43, 53]], digits[1]),
        "wine, 3 classes": (wine[0][:, 1:5], wine[1]),
        "wine, 2 classes": (wine[0][:130, 1:6], wine[1][:130]),
        "iris, 3 classes": (iris[0][:, :1], iris[1]),
        "iris, 2 classes": (iris[0][50:], iris[1][50:]),
    }


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=pytest.mark.exhaustive if "digits" in case else ())
        for case in overlapping_tables()
    ],
)
def test_maximum_likelihood_as_scikit_learn(case):
    x, y = overlapping_tables()[case]
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    other = theirs.LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-13, max_iter=500)
    other.fit(z, y)
    mine = LogisticRegression(C=np.inf).fit(z, y)
    size = np.abs(other.coef_).max()
    assert_allclose(mine.coef_, other.coef_, rtol=1e-8, atol=1e-8 * size)
    assert_allclose(mine.intercept_, other.intercept_, rtol=1e-8, atol=1e-8 * size)
    assert_allclose(mine.predict_proba(z), other.predict_proba(z), rtol=1e-7, atol=1e-9)
    raw = LogisticRegression(C=np.inf).fit(x, y)
    assert_allclose(raw.coef_ * x.std(axis=0), mine.coef_, rtol=1e-8, atol=1e-8 * size)
    assert (raw.predict(x) == other.predict(z)).all()


# -- all the way to the optimum, on a table as it is


def test_adult_as_it_is(data: Path):
    names = [f"column_{j}" for j in range(1, 16)]
    table = pd.read_csv(
        data / "adult" / "adult.data",
        header=None,
        names=names,
        skipinitialspace=True,
        na_values="?",
    )
    table = table.dropna()
    model = LogisticRegression().fit(table, "column_15")
    z = pd.get_dummies(table[names[:-1]], prefix_sep="[", dtype=float)
    z.columns = [f"{name}]" if "[" in name else name for name in z.columns]
    z = np.column_stack([np.ones(len(z)), z[list(model.terms_[1:])]])
    y = (table.column_15 == ">50K").to_numpy(float)
    coefficients = np.concatenate([model.intercept_, model.coef_[0]])
    penalty = np.concatenate([[0.0], model.coef_[0]])

    def gradient(w: np.ndarray) -> np.ndarray:
        return z.T @ (1 / (1 + np.exp(-z @ w)) - y)

    end, start = gradient(coefficients) + penalty, gradient(0 * coefficients)
    assert np.linalg.norm(end) < 1e-10 * np.linalg.norm(start)


# -- Firth: the R package logistf prints these estimates for its data sex2 and endometrial

# Urinary tract infection of college women (Cytel Inc., LogXact 9 User Manual, 2010). Distinct rows
# of sex2: case, age, oc, vic, vicl, vis, dia, and how often.
SEX2 = """
1111000 3  1110000 5  1101111 1  1101100 1  1101011 1  1101010 1  1101000 2  1011110 3
1011100 7  1011010 2  1011001 1  1011000 15  1010001 3  1010000 44  1001111 1  1001110 12
1001100 10  1001010 3  1001000 14  1000010 1  0111110 2  0111000 1  0110010 1  0110000 14
0101110 4  0101100 2  0011110 6  0011100 5  0011000 1  0010010 1  0010000 42  0001110 18
0001100 8  0001010 1  0001000 2  0000010 1
"""


def test_firth_as_logistf_on_sex2():
    cells = SEX2.split()
    rows = np.array([[int(c) for c in row] for row in cells[::2]], float)
    times = np.array(cells[1::2], float)
    model = LogisticRegression(penalty="firth").fit(rows[:, 1:], rows[:, 0], times)
    printed = [-1.10598131, -0.06881673, 2.26887464, -2.11140817, -0.78831694, 3.09601166]
    assert times.sum() == 239
    assert np.abs(model.coef_[0] - printed).max() < 5e-7
    assert abs(model.intercept_[0] - 0.12025405) < 5e-7
    # as the package firthlogist prints them; recent versions of logistf weigh rows by 1 + h
    errors = [0.485542, 0.42366, 0.443793, 0.548416, 0.543082, 0.417368, 1.67501]
    assert_allclose(model.summary().standard_error[0], errors, rtol=1e-5)
    assert model.likelihood_.value == pytest.approx(-132.5394, abs=5e-5)
    with pytest.raises(DataError, match="column 'x5' separates the classes"):
        LogisticRegression(C=np.inf).fit(rows[:, 1:], rows[:, 0], times)


# The data of Heinze and Schemper (2002): neovasculation, pulsatility index of the arteria uterina,
# endometrium height, and the histology of 79 patients.
ENDOMETRIAL = """
0 13 1.64 0  0 16 2.26 0  0 8 3.14 0  0 34 2.68 0  0 20 1.28 0  0 5 2.31 0  0 17 1.8 0
0 10 1.68 0  0 26 1.56 0  0 17 2.31 0  0 8 2.01 0  0 7 1.89 0  0 20 3.15 0  0 10 1.23 0
0 18 1.27 0  0 16 1.76 0  0 18 2 0  0 8 2.64 1  0 29 0.88 1  0 12 1.27 1  0 20 1.37 1
1 38 0.97 1  1 22 1.14 1  1 7 0.88 1  1 25 0.91 1  1 15 0.58 1  0 7 0.97 1  0 28 1.5 0
0 11 1.33 0  0 19 2.37 0  0 10 1.82 0  0 10 3.13 0  0 18 1.31 0  0 14 1.92 0  0 21 1.64 0
0 11 2.01 0  0 17 1.88 0  0 25 1.93 0  0 16 2.11 0  0 19 1.29 0  0 15 1.72 0  0 33 0.75 0
0 24 1.92 0  0 48 1.84 1  0 12 1.11 1  0 19 1.61 1  0 2 1.18 1  1 22 1.44 1  1 40 1.18 1
1 5 0.93 1  1 0 1.17 1  0 21 1.19 1  0 15 1.06 1  0 29 2.02 0  0 15 2.29 0  0 12 2.33 0
0 3 2.9 0  0 20 1.7 0  0 23 1.41 0  0 12 2.25 0  0 22 1.54 0  0 42 1.97 0  0 15 1.75 0
0 13 2.16 0  0 14 2.57 0  0 19 1.37 0  0 12 3.61 0  0 13 2.04 0  0 10 2.17 0  0 12 1.69 1
1 49 0.27 1  0 6 1.84 1  0 5 1.3 1  0 17 0.96 1  1 11 1.01 1  1 21 0.98 1  0 5 0.35 1
1 19 1.02 1  0 33 0.85 1
"""


def test_firth_as_logistf_on_endometrial():
    rows = np.array(ENDOMETRIAL.split(), float).reshape(79, 4)
    table = pd.DataFrame(rows, columns=["NV", "PI", "EH", "HG"]).astype({"HG": int})
    model = LogisticRegression(penalty="firth").fit(table, "HG")
    assert np.abs(model.coef_[0] - [2.92927330, -0.03475175, -2.60416387]).max() < 5e-7
    assert abs(model.intercept_[0] - 3.77455951) < 5e-7
    message = r"column 'NV' separates the classes; .*penalty='firth'"
    with pytest.raises(DataError, match=message):
        LogisticRegression(C=np.inf).fit(table, "HG")
