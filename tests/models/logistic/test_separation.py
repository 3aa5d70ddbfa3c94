"""When a likelihood has no maximum: textbook tables, and random ones judged by a linear programme.

Classes are separated if there are h with (h_y − h_c)ᵀz ≥ 0 for every row z = (1, x) of class y and
every other class c, and > 0 for some row. Source: A. Albert and J. A. Anderson, On the existence of
maximum likelihood estimates in logistic regression models, Biometrika 71 (1984); K. Konis, Linear
programming algorithms for detecting separated data in binary logistic regression models (2007),
section 4.
"""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.sparse import csr_array

from suffice.errors import DataError
from suffice.linear_model import LogisticRegression
from suffice.models.logistic import minimise


def is_separated(x, y, **options) -> bool:
    """Tell if a fit by maximum likelihood is refused, as the classes are separated."""
    try:
        LogisticRegression(C=np.inf, **options).fit(x, y)
    except DataError as error:
        return re.search("separates? the classes", str(error)) is not None
    return False


def columns_named(x, y) -> list[int]:
    """The columns that the error of a separated table names."""
    with pytest.raises(DataError) as error:
        LogisticRegression(C=np.inf).fit(x, y)
    return [int(name) for name in re.findall(r"'x(\d+)'", str(error.value))]


# -- textbooks

# P. D. Allison, Convergence failures in logistic regression (2008), tables 1 and 2
COMPLETE = [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5], [0] * 5 + [1] * 5
QUASI = [*COMPLETE[0], 0, 0], [*COMPLETE[1], 0, 1]
OVERLAP = [*COMPLETE[0], 2, -2], [*COMPLETE[1], 0, 1]

# UCLA Statistical Consulting, What is complete or quasi-complete separation in logistic regression?
UCLA_COMPLETE = (
    [[1, 3], [2, 2], [3, -1], [3, -1], [5, 2], [6, 4], [10, 1], [11, 0]],
    [0] * 4 + [1] * 4,
)
UCLA_QUASI = (
    [[1, 3], [2, 0], [3, -1], [3, 4], [3, 1], [4, 0], [5, 2], [6, 7], [10, 3], [11, 4]],
    [0] * 4 + [1] * 6,
)

# D. J. Finney, The estimation from individual records of the relationship between dose and quantal
# response (1947): volume and rate of air, and whether the vessels of the skin contracted.
FINNEY = """
3.7 .825 1  3.5 1.09 1  1.25 2.5 1  .75 1.5 1  .8 3.2 1  .7 3.5 1  .6 .75 0  1.1 1.7 0
.9 .75 0  .9 .45 0  .8 .57 0  .55 2.75 0  .6 3 0  1.4 2.33 1  .75 3.75 1  2.3 1.64 1
3.2 1.6 1  .85 1.415 1  1.7 1.06 0  1.8 1.8 1  .4 2 0  .95 1.36 0  1.35 1.35 0  1.5 1.36 0
1.6 1.78 1  .6 1.5 0  1.8 1.5 1  .95 1.9 0  1.9 .95 1  1.6 .4 0  2.7 .75 1  2.35 .03 0
1.1 1.83 0  1.1 2.2 1  1.2 2 1  .8 3.33 1  .95 1.9 0  .75 1.9 0  1.3 1.625 1
"""


@pytest.mark.parametrize(
    ("table", "expected"),
    [(COMPLETE, True), (QUASI, True), (OVERLAP, False), (UCLA_COMPLETE, True), (UCLA_QUASI, True)],
)
@pytest.mark.parametrize(("solver", "kind"), [("newton", np.asarray), ("lbfgs", csr_array)])
def test_textbooks(table, expected, solver, kind):
    x, y = np.reshape(np.array(table[0], float), (len(table[1]), -1)), np.array(table[1])
    assert is_separated(kind(x), y, solver=solver) == expected
    if expected:
        assert columns_named(kind(x), y) == [0]


def test_finney_overlaps():
    rows = np.array(FINNEY.split(), float).reshape(39, 3)
    model = LogisticRegression(C=np.inf).fit(np.log(rows[:, :2]), rows[:, 2])
    # D. Pregibon, Logistic regression diagnostics (1981), section 1, and every text since
    assert model.summary().estimate[0] == pytest.approx([-2.875, 5.179, 4.562], abs=5e-4)
    assert model.summary().standard_error[0] == pytest.approx([1.321, 1.865, 1.838], abs=5e-4)


def test_separation_of_groups_of_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 5))
    y = (x[:, 1] - 2 * x[:, 3] > 0.1).astype(int)
    assert columns_named(x, y) == [1, 3]
    x[:, 1] -= 2 * x[:, 3]
    assert columns_named(x, y) == [1]
    assert columns_named(-x * 1e9 + 1e6, y) == [1]


@pytest.mark.parametrize("d", [1, 3])
def test_as_many_classes_as_rows(d):
    x = np.random.default_rng(0).normal(size=(40, d))
    assert is_separated(x, np.r_[np.arange(39), 0])


def test_ways_out_of_separation():
    x, y = np.reshape(UCLA_QUASI[0], (10, 2)), np.array(UCLA_QUASI[1])
    for options in ({"C": 1.0}, {"C": 1e6}, {"penalty": "firth"}):
        model = LogisticRegression(**options).fit(x, y)
        assert np.isfinite(model.coef_).all()
        assert (model.predict(x) == y).mean() >= 0.8


def test_a_cell_of_a_table_of_counts_that_is_empty():
    # a two-way table with an empty cell: quasi-complete, and the estimate of Firth is that of the
    # counts plus one half
    counts = {(0, 0): 9, (0, 1): 4, (1, 1): 7}
    rows = np.repeat(list(counts), list(counts.values()), axis=0)
    assert is_separated(rows[:, :1], rows[:, 1])
    model = LogisticRegression(penalty="firth", tol=1e-14).fit(rows[:, :1], rows[:, 1])
    log_odds = np.log([4.5 / 9.5, 7.5 / 0.5])
    assert_allclose(model.intercept_, log_odds[:1], rtol=1e-9)
    assert_allclose(model.coef_[0], np.diff(log_odds), rtol=1e-9)


# -- a linear programme


def judged(x, y) -> bool:
    """Tell if classes are separated, from the definition; columns are small whole numbers."""
    z, classes = np.column_stack([np.ones(len(x)), x]), np.unique(y)
    k, width = len(classes), x.shape[1] + 1
    rows = []
    for row, label in zip(z, y, strict=True):
        for c in range(k):
            if classes[c] != label:
                a = np.zeros((k, width))
                a[np.searchsorted(classes, label)], a[c] = row, -row
                rows.append(a.ravel())
    a = np.array(rows)
    most = linprog(-a.sum(axis=0), A_ub=-a, b_ub=np.zeros(len(a)), bounds=(-1, 1))
    assert most.status == 0
    return bool(most.fun < -1e-6)


@example(seed=896, n=19, d=4, k=4, signal=2.0, solver="lbfgs")
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(6, 25),
    d=st.integers(1, 4),
    k=st.integers(2, 4),
    signal=st.sampled_from([0.0, 2.0, 20.0]),
    solver=st.sampled_from(["newton", "lbfgs"]),
)
def test_random_tables(seed, n, d, k, signal, solver):
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, (n, d)).astype(float)
    scores = signal * np.column_stack([np.ones(n), x]) @ rng.normal(size=(d + 1, k))
    y = (scores + rng.gumbel(size=(n, k))).argmax(axis=1)
    if len(np.unique(y)) < 2 or np.linalg.matrix_rank(np.column_stack([np.ones(n), x])) <= d:
        return
    assert is_separated(x, y, solver=solver) == judged(x, y)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(2, 5))
def test_the_columns_named_are_enough(seed, d):
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, (30, d)).astype(float)
    y = (x[:, : 1 + d // 2].sum(axis=1) + rng.normal(size=30) / 4 > 0).astype(int)
    if judged(x, y) and len(np.unique(y)) == 2:
        named = columns_named(x, y)
        assert judged(x[:, named], y)


def test_steps_from_a_sample_are_no_sign_of_separation(monkeypatch):
    """Heavy tails: a dozen steps with the Hessian of a sample, none of Newton's method."""
    rng = np.random.default_rng(0)
    x = np.exp(2 * rng.normal(size=(65_537, 8)))
    y = (x / x.std(axis=0))[:, :3].sum(axis=1) + rng.logistic(size=len(x)) > 1
    with monkeypatch.context() as patch:
        patch.setattr(minimise, "refuse_separation", lambda *_: pytest.fail("it is looked for"))
        found = LogisticRegression(C=np.inf).fit(x, y)
    assert found.n_iter_[0] > minimise.STEPS_BEFORE_SEPARATION
    z = np.column_stack([np.ones(len(x)), x])
    assert np.abs(z.T @ (found.predict_proba(x)[:, 1] - y)).max() < 1e-8 * np.abs(z).sum()
