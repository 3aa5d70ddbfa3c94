"""The joint table in fractions, by brute force over missing cells, and against pandas."""

import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice import NaiveBayes
from suffice.errors import DataError, ForgetError, ParameterError
from suffice.families import JointTable

# Columns of three kinds; complete rows show 3, 2 and 2 values, and 7 of the 12 combinations.
ROWS = [
    ("x", 1, True, "a"),
    ("x", 1, True, "a"),
    ("x", 2, False, "a"),
    ("y", 2, True, "a"),
    ("z", 1, True, "a"),
    ("x", 1, True, "b"),
    ("y", 1, False, "b"),
    ("z", 2, False, "b"),
    ("z", 2, False, "b"),
    ("z", 1, False, "b"),
]
NAMES = ("letter", "digit", "sign")
VALUES: dict[str, tuple[Any, ...]] = {
    "letter": ("x", "y", "z"),
    "digit": (1, 2),
    "sign": (False, True),
}
TYPES = {"letter": pa.string(), "digit": pa.int64(), "sign": pa.bool_()}
M = 12
QUERIES = list(product(*((None, *VALUES[name]) for name in NAMES)))


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = dict(zip((*NAMES, "class"), zip(*rows, strict=True), strict=False))
    return pa.table({k: pa.array(v, TYPES.get(k, pa.string())) for k, v in columns.items()})


def fitted(rows: list[tuple[Any, ...]] = ROWS, **options: Any) -> NaiveBayes:
    return NaiveBayes.textbook("joint_table", **options).fit(table(rows), "class")


def fillings(row: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Every way to fill the holes of a row."""
    cells = zip(NAMES, row, strict=True)
    return list(product(*(VALUES[name] if cell is None else (cell,) for name, cell in cells)))


def theta(row: tuple[Any, ...], label: str, pseudo: Fraction) -> Fraction:
    """P(row | label): the sum over all complete rows that agree with it."""
    learnt = [r[:-1] for r in ROWS if r[-1] == label]
    share = (learnt.count(full) + pseudo for full in fillings(row))
    return sum(share, Fraction(0)) / (len(learnt) + M * pseudo)


def log(value: Fraction) -> float:
    return math.log(value) if value else -math.inf


PSEUDO = [
    ("mle", 1.0, Fraction(0)),
    ("map", 1.0, Fraction(0)),
    ("map", 2.5, Fraction(3, 2)),
    ("bayes", 1.0, Fraction(1)),
    ("bayes", 0.25, Fraction(1, 4)),
    ("bayes", 0.0, Fraction(0)),
]


# -- estimates


@pytest.mark.parametrize(("estimation", "alpha", "pseudo"), PSEUDO)
def test_every_pattern_of_holes(estimation: str, alpha: float, pseudo: Fraction) -> None:
    model = fitted(estimation=estimation, alpha=alpha)
    found = model.predict_joint_log_proba(table(QUERIES))
    expected = [[log(theta(row, label, pseudo) / 2) for label in "ab"] for row in QUERIES]
    assert_allclose(found, expected, rtol=2e-15, atol=2e-15)


@pytest.mark.parametrize(("estimation", "alpha", "pseudo"), PSEUDO)
def test_contributions_follow_the_chain_rule(
    estimation: str, alpha: float, pseudo: Fraction
) -> None:
    model = fitted(estimation=estimation, alpha=alpha)
    evidence = model.explain(table(QUERIES))
    assert evidence.columns == NAMES
    for row, found in zip(QUERIES, evidence.contributions, strict=True):
        for c, label in enumerate("ab"):
            upto = [theta((*row[:j], *(None,) * (3 - j)), label, pseudo) for j in range(4)]
            # Nothing is left to say once a row is impossible.
            terms = [log(upto[j + 1] / upto[j]) if upto[j] else 0.0 for j in range(3)]
            assert_allclose(found[:, c], terms, rtol=1e-14, atol=1e-14)
            assert all(found[j, c] == 0 for j in range(3) if row[j] is None)
    assert_allclose(evidence.log_joint, model.predict_joint_log_proba(table(QUERIES)), rtol=1e-14)


def test_one_column_is_a_categorical() -> None:
    cells = pa.table({"letter": ["x", "y", None, "z", "x", "x"], "class": list("aababb")})
    asked = pa.table({"letter": ["x", "y", "z", None, "new"]})
    for options in (
        {"estimation": "mle"},
        {"estimation": "map", "alpha": 2.0},
        {"alpha": 0.5},
        {"unseen": "smooth"},
    ):
        joint = NaiveBayes.textbook("joint_table", **options).fit(cells, "class")
        alone = NaiveBayes.textbook("categorical", **options).fit(cells, "class")
        assert joint.n_parameters_ == alone.n_parameters_
        with np.errstate(invalid="ignore"):
            scores = [m.predict_joint_log_proba(asked) for m in (joint, alone)]
        assert_allclose(*scores, rtol=1e-15)
        described = [m.model_.parameters[0].describe(0) for m in (joint, alone)]
        assert described[0].keys() == described[1].keys()
        for value in described[0]:
            assert_allclose(described[0][value], described[1][value], rtol=1e-15)


def test_a_class_that_never_showed_a_complete_row_borrows_from_all() -> None:
    rows = [*ROWS, ("x", None, True, "c")]
    found = fitted(rows, class_prior="uniform").predict_joint_log_proba(table(QUERIES))
    alike = fitted([(*row[:-1], "all") for row in ROWS] + [("x", 1, None, "none")])
    everyone = alike.model_.parameters[0]
    assert_array_equal(everyone.count[0], everyone.count[1])
    one = alike.predict_joint_log_proba(table(QUERIES))[:, 0] - alike.model_.log_prior[0]
    assert_allclose(found[:, 2], one - math.log(3), rtol=1e-14, atol=1e-15)


@pytest.mark.filterwarnings("ignore:column 'letter'. 27 of 27:suffice.errors.SufficeWarning")
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize("estimation", ["mle", "map", "bayes"])
def test_without_a_complete_row_nothing_is_known(estimation: str, unseen: str) -> None:
    rows = [("x", None, None, "a"), (None, 1, None, "b")]
    model = fitted(rows, estimation=estimation, unseen=unseen)
    assert_array_equal(model.predict_proba(table(QUERIES)), np.full((len(QUERIES), 2), 0.5))
    assert_array_equal(model.explain(table(QUERIES)).contributions, 0)
    assert model.n_parameters_ == 1
    drawn, _ = model.sample(3, random_state=0)
    assert {name: column.tolist() for name, column in drawn.items()} == {
        name: [None] * 3 for name in NAMES
    }


# -- unseen


def test_a_value_never_seen_is_left_out_or_one_more_category() -> None:
    asked, holed = table([("w", 1, True)]), table([(None, 1, True)])
    ignoring = fitted()
    assert_array_equal(ignoring.predict_proba(asked), ignoring.predict_proba(holed))
    found = fitted(unseen="smooth").predict_joint_log_proba(asked)
    assert_allclose(found, np.log([[1 / 2 / (5 + 36)] * 2]), rtol=1e-15)
    summed_out = fitted(unseen="smooth").predict_joint_log_proba(holed)
    assert_allclose(summed_out, np.log([[7 / 82, 5 / 82]]), rtol=1e-15)


def test_a_value_never_seen_may_be_refused_by_its_column() -> None:
    families = {("digit", "sign"): "joint_table"}
    model = NaiveBayes.textbook(families, unseen="error").fit(table(ROWS), "class")
    asked = table([("x", 1, True), ("y", 7, None)])
    for answer in (model.predict, model.explain):
        with pytest.raises(DataError, match=r"column 'digit', row 1: 7; the value was never seen"):
            answer(asked)
    with pytest.raises(ParameterError, match="unseen='drop'"):
        JointTable(unseen="drop")  # type: ignore[arg-type]


def test_a_combination_that_no_row_showed_is_not_forgotten() -> None:
    with pytest.raises(ForgetError, match="the combination 'y', 1, True: "):
        fitted().forget(table([("y", 1, True, "a")]), "class")


# -- groups


def test_a_semi_naive_model_multiplies_its_groups() -> None:
    families = {("letter", "sign"): "joint_table", "digit": "categorical"}
    model = NaiveBayes.textbook(families).fit(table(ROWS), "class")
    found = model.predict_joint_log_proba(table(QUERIES))
    for row, scores in zip(QUERIES, found, strict=True):
        for c, label in enumerate("ab"):
            learnt = [r for r in ROWS if r[-1] == label]
            pair = sum(
                Fraction(sum((r[0], r[2]) == (full[0], full[2]) for r in learnt) + 1, 5 + 6)
                for full in fillings((row[0], 1, row[2]))
            )
            digit = Fraction(sum(r[1] == row[1] for r in learnt) + 1, 5 + 2)
            expected = pair * (1 if row[1] is None else digit) / 2
            assert abs(scores[c] - math.log(expected)) < 1e-14
    assert model.n_parameters_ == 2 * (6 - 1) + 2 * (2 - 1) + 1


# -- size


@pytest.mark.parametrize("d", [20, 400])
def test_what_was_never_seen_takes_no_room(d: int) -> None:
    # 10^20 combinations are more than any memory, 10^400 more than any double.
    X = np.random.default_rng(0).integers(0, 10, (300, d))
    model = NaiveBayes.textbook("joint_table", alpha=0.5, class_prior="uniform").fit(
        X, [0, 1, 1] * 100
    )
    counts = model.statistic_.blocks[0]
    assert counts.cells.shape == (300, d)
    assert counts.count.shape == (2, 300)
    new = np.append(X[:1, 1:], X[:1, :1], axis=1)
    found = model.predict_joint_log_proba(np.concatenate([X[:2], new]))
    with mpmath.workdps(30):
        total = [mpmath.mpf(n) + mpmath.mpf(10) ** d / 2 for n in (100, 200)]
        shown = [[1.5, 0.5], [0.5, 1.5], [0.5, 0.5]]
        expected = [[float(mpmath.log(row[c] / total[c] / 2)) for c in range(2)] for row in shown]
    assert_allclose(found, expected, rtol=1e-14)
    assert model.n_parameters_ == 2 * (10**d - 1)
    holed = np.full((1, d), np.nan)
    holed[0, 1] = X[0, 1]
    assert_allclose(
        model.predict_joint_log_proba(holed), np.log(np.full((1, 2), 0.05)), rtol=1e-12
    )  # 10 values, all but equally probable under a prior that outweighs the rows


# -- another implementation, on real rows


def adult(data: Path) -> pd.DataFrame:
    names = [f"column_{j}" for j in range(1, 16)]
    path = data / "adult" / "adult.data"
    return pd.read_csv(path, header=None, names=names, skipinitialspace=True, na_values="?")


def test_votes_with_holes_are_summed_out(data: Path) -> None:
    path = data / "house_votes_84" / "house-votes-84.data"
    votes = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?"], dtype=str)
    votes = votes.apply(lambda column: column.str.strip()).replace("?", None)
    votes.columns = ["party", *(f"vote_{j}" for j in range(1, 17))]
    votes = votes.replace({"y": "aye", "n": "nay"}).astype(object).where(votes.notna(), None)
    names = list(votes.columns[1:])
    full = votes.dropna()
    model = NaiveBayes.textbook("joint_table", alpha=2.0**-16, class_prior="uniform").fit(
        votes, "party"
    )
    found = model.predict_joint_log_proba(votes[names])
    complete = full[names].to_numpy()
    for row, scores in zip(votes[names].to_numpy(), found, strict=True):
        observed = np.array([cell is not None for cell in row])
        agree = (complete[:, observed] == row[observed]).all(axis=1)
        for c, party in enumerate(model.classes_):
            own = (full["party"] == party).to_numpy()
            share = (agree & own).sum() + 2.0 ** -observed.sum()
            assert abs(scores[c] - math.log(share / (own.sum() + 1) / 2)) < 1e-13
