"""A model that has forgotten rows keeps nothing of them: no number, category, word or label.

The rows to forget come first, where pivots and schemas were looked for, and hold values that stand
nowhere else: doubles of 53 bits, large whole numbers, words, categories, labels. The model's file
and its pickle are searched for each of them in every notation.
"""

import pickle
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import suffice
from suffice import LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice import naive_bayes as nb
from suffice.families import Gaussian, JointTable, MultivariateGaussian, family_named, family_names
from suffice.linear_model import ElasticNet, LinearRegression, Ridge

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")

GONE, KEPT = 12, 60
D = 4


class Rows(NamedTuple):
    """A table, its labels or targets, its weights, and what stands in its first rows only."""

    x: Any
    y: Any
    weight: np.ndarray | None
    secrets: list[Any]

    def cut(self, rows: slice) -> tuple[Any, Any, np.ndarray | None]:
        weight = None if self.weight is None else self.weight[rows]
        x = self.x.iloc[rows] if isinstance(self.x, pd.DataFrame) else self.x[rows]
        return x, self.y if isinstance(self.y, str) else self.y[rows], weight


def notations(value: Any) -> Iterator[bytes]:
    """How a cell may be written in a file."""
    if isinstance(value, str):
        yield value.encode()
        return
    yield repr(value).encode()
    numbers = [("d", value), ("f", value)] if isinstance(value, float) else [("d", value)]
    if isinstance(value, int):
        numbers.append(("q", value))
    for order in "<>":
        for code, number in numbers:
            raw = struct.pack(order + code, number)
            yield from (raw, raw.hex().encode())
    if isinstance(value, float):
        yield value.hex().encode()


def traces(raw: bytes, secrets: list[Any]) -> list[Any]:
    """The values that are found in a file, digests aside: their digits are random."""
    raw = re.sub(rb"[0-9a-f]{64}", b"", raw)
    return [value for value in secrets if any(text in raw for text in notations(value))]


def test_every_notation_is_found() -> None:
    value, whole = 0.1234567890123456, 2**40 + 12345
    for text in notations(value):
        assert traces(b"..." + text + b"...", [value, 0.5]) == [value]
    for text in notations(whole):
        assert traces(b"..." + text + b"...", [whole]) == [whole]
    assert traces("…grün…".encode(), ["grün", "blau"]) == ["grün"]
    assert traces(np.array([value, 1.0], np.float32).tobytes(), [value]) == [value]


# -- rows


def numbers(rng: np.random.Generator, offset: float) -> np.ndarray:
    return rng.normal(size=(GONE + KEPT, D)) @ rng.normal(size=(D, D)) + offset


def labelled(seed: int, offset: float = 0.0, gaps: float = 0.0, weights: bool = False) -> Rows:
    """Numbers with labels, one of which the rows to forget alone have."""
    rng = np.random.default_rng([seed, int(offset)])
    x, y = numbers(rng, offset), rng.integers(0, 3, GONE + KEPT)
    x[rng.random(x.shape) < gaps] = np.nan
    y[:GONE:4] = 987_654_321_012
    weight = rng.random(len(x)) + 0.5 if weights else None
    seen = x[:GONE][~np.isnan(x[:GONE])].tolist()
    return Rows(x, y, weight, [*seen, *([] if weight is None else weight[:GONE]), int(y[0])])


def measured(seed: int, offset: float = 0.0, gaps: float = 0.0, weights: bool = False) -> Rows:
    """Numbers with a target."""
    x, _, weight, secrets = labelled(seed, offset, gaps, weights)
    y = np.nan_to_num(x).sum(axis=1) + np.random.default_rng(seed).normal(size=len(x))
    return Rows(x, y, weight, [*secrets[:-1], *y[:GONE].tolist()])


def counts(seed: int) -> Rows:
    """A sparse matrix of counts, those to forget with fractions."""
    rng = np.random.default_rng(seed)
    x = rng.poisson(1.0, (GONE + KEPT, D)) * 1.0
    x[:GONE] *= 1e5 + rng.random((GONE, D))
    y = rng.integers(0, 3, GONE + KEPT)
    y[:GONE:4] = 987_654_321_012
    secrets = x[:GONE][x[:GONE] > 0].tolist()
    return Rows(csr_array(x), y, None, [*secrets, int(y[0])])


def codes(seed: int) -> Rows:
    """Whole numbers that are categories."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 5, (GONE + KEPT, D)), rng.integers(0, 3, GONE + KEPT)
    x[:GONE] = rng.integers(20_001, 22_999, (GONE, D))
    return Rows(x, y, None, np.unique(x[:GONE]).tolist())


def bits(seed: int) -> Rows:
    """Zeros and ones; only a label tells the rows apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, GONE + KEPT).astype(str).astype(object)
    y[:GONE:4] = "geheime Klasse"
    return Rows(rng.integers(0, 2, (GONE + KEPT, D)), y, None, ["geheime Klasse"])


WORDS = ["to", "be", "or", "not", "that", "is", "the", "question"]
SECRET = ["Zweiundvierzig", "verschwiegen", "Parkstraße", "Hebamme"]


def mixed(seed: int, target: bool = False) -> Rows:
    """A frame with every kind of column."""
    rng = np.random.default_rng(seed)
    n = GONE + KEPT
    code = np.arange(n) % 3
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D")
    day = day.to_series(index=range(n))
    day[:GONE] = pd.Timestamp("1987-06-05 01:02:03") + pd.to_timedelta(range(GONE), unit="h")
    table = {
        "size": rng.normal(size=n) + code + 1e6,
        "id": rng.integers(1_000, 2_000, n),
        "visits": rng.poisson(2.0 + code),
        "color": rng.choice(["red", "green", "blue"], n).astype(object),
        "shape": rng.choice(["round", "long"], n).astype(object),
        "old": rng.random(n) < 0.5,
        "day": day,
        "note": [" ".join(rng.choice(WORDS, 5)) for _ in range(n)],
        "kind": np.array(["apple", "pear", "plum"], object)[code],
    }
    table["id"][:GONE] += 3_000_000_000
    table["visits"][:GONE] += 3_333_333
    for j, name in enumerate(("color", "shape")):
        table[name][:GONE:2] = [f"{SECRET[(i + j) % 2]}{j}" for i in range(GONE // 2)]
    table["note"][:GONE] = [f"is {SECRET[2 + i % 2]} {SECRET[i % 2]}x be it" for i in range(GONE)]
    table["kind"][:GONE:4] = "Quitte"
    frame = pd.DataFrame(table)
    seconds = (frame["day"][:GONE] - pd.Timestamp(0)).dt.total_seconds().tolist()
    secrets = [*SECRET, "Quitte", "1987", *frame["size"][:GONE], *seconds]
    secrets += [*map(int, frame["id"][:GONE]), *map(int, frame["visits"][:GONE])]
    if not target:
        frame.loc[3 * GONE :: 7, "size"] = np.nan
        return Rows(frame, "kind", None, secrets)
    frame["price"] = rng.normal(size=n) + code
    frame = frame.drop(columns=["note", "kind", "id"])
    secrets = [s for s in secrets if s != "Quitte" and not str(s).startswith("3000")]
    return Rows(frame, "price", None, [*secrets, *frame["price"][:GONE].tolist()])


# -- models

CHOSEN = {
    "size": "gaussian",
    "id": "gaussian",
    "visits": "poisson",
    "color": "categorical",
    "shape": "categorical",
    "old": "bernoulli",
    "day": "gaussian",
    "note": "multinomial",
}
JOINT = {
    **{name: CHOSEN[name] for name in ("id", "old")},
    ("shape", "color"): JointTable(),
    ("size", "day"): MultivariateGaussian(),
    "visits": "categorical",
    "note": "complement",
}
OTHERS = {**CHOSEN, "note": "bernoulli", "size": Gaussian(shared=True)}
WOLF = MultivariateGaussian("mle", shrinkage="ledoit-wolf")
Q = QuadraticDiscriminantAnalysis
Case = tuple[Callable[[], Any], Rows]

CASES: dict[str, Case] = {
    "mixed": (lambda: NaiveBayes.textbook(CHOSEN), mixed(0)),
    "joint": (lambda: NaiveBayes.textbook(JOINT), mixed(1)),
    "others": (lambda: NaiveBayes.textbook(OTHERS, estimation="map"), mixed(2)),
    "ledoit-wolf": (lambda: NaiveBayes.textbook(WOLF), labelled(1)),
    "ledoit-wolf far": (lambda: NaiveBayes.textbook(WOLF), labelled(1, 1e3, weights=True)),
    "MultinomialNB": (nb.MultinomialNB, counts(0)),
    "ComplementNB": (nb.ComplementNB, counts(1)),
    "BernoulliNB sparse": (nb.BernoulliNB, counts(2)),
    "BernoulliNB": (nb.BernoulliNB, bits(0)),
    "CategoricalNB": (nb.CategoricalNB, codes(0)),
    "whole numbers": (NaiveBayes.textbook, codes(1)),
    "LinearRegression frame": (LinearRegression, mixed(3, target=True)),
    "Ridge frame": (lambda: Ridge(incomplete="drop"), mixed(4, target=True)),
}
NAMED = tuple(CASES)
for seed, (offset, gaps, weights) in enumerate(
    [(0.0, 0.0, False), (1e6, 0.0, True), (50.0, 0.2, False), (0.0, 0.2, True)]
):
    name = f"{offset:g} {gaps:g} {weights}"
    options = (seed, offset, gaps, weights)
    CASES |= {
        f"GaussianNB {name}": (nb.GaussianNB, labelled(*options)),
        f"density {name}": (lambda: NaiveBayes.textbook(numbers="density"), labelled(*options)),
        f"LDA {name}": (LinearDiscriminantAnalysis, labelled(*options)),
        f"QDA {name}": (lambda: Q(shrinkage=1e-3), labelled(*options)),
        f"LinearRegression {name}": (
            lambda: LinearRegression(incomplete="drop"),
            measured(*options),
        ),
        f"Ridge {name}": (lambda: Ridge(incomplete="gaussian"), measured(*options)),
        f"ElasticNet {name}": (lambda: ElasticNet(0.1, incomplete="drop"), measured(*options)),
        f"gcv {name}": (lambda: Ridge("gcv", incomplete="drop"), measured(*options)),
    }


def in_time(name: str) -> Any:
    """A case, run when there is time if it is one of numbers near 0, or of gaps far from it."""
    near = " 0 0 " in name or " 0 0.2 " in name
    gaps = " 50 0.2 " in name and not name.startswith(("LDA", "Ridge"))
    return pytest.param(name, marks=pytest.mark.exhaustive if near or gaps else ())


def forgotten(make: Callable[[], Any], rows: Rows, path: Path) -> Iterator[tuple[str, Any]]:
    """Models that have forgotten the first rows, each in another way."""
    everything, gone = slice(None), slice(GONE)
    middle = GONE // 2
    steps = slice(middle), slice(middle, GONE)
    yield "at once", make().fit(*rows.cut(everything)).forget(*rows.cut(gone))
    model = make().fit(*rows.cut(everything))
    for step in steps:
        model.forget(*rows.cut(step))
    yield "in steps", model
    some = rows.cut(slice(2 * GONE))
    model = make().fit(*some).merge(make().fit(*rows.cut(everything)))
    yield "merged", model.forget(*rows.cut(gone)).forget(*some)
    make().fit(*rows.cut(everything)).save(path / "all")
    yield "loaded", suffice.load(path / "all").forget(*rows.cut(gone))
    loaded = suffice.load(path / "all").forget(*rows.cut(steps[0]))
    loaded.save(path / "half")
    yield "loaded twice", suffice.load(path / "half").forget(*rows.cut(steps[1]))


# A loaded model has no rows that say what one row weighs, so it keeps the weight of before.
JUDGED = ("density",)


@pytest.mark.parametrize("case", [in_time(name) for name in CASES])
def test_nothing_of_a_forgotten_row_is_left(case: str, tmp_path: Path) -> None:
    make, rows = CASES[case]
    kept = rows.cut(slice(GONE, None))
    expected = make().fit(*kept)
    score = "predict_joint_log_proba" if hasattr(expected, "classes_") else "predict"
    x = kept[0].drop(columns=[rows.y]) if isinstance(rows.y, str) else kept[0]
    if score == "predict" and isinstance(x, np.ndarray):
        x = x[~np.isnan(x).any(axis=1)]
    for way, model in forgotten(make, rows, tmp_path):
        model.save(tmp_path / "model")
        assert traces((tmp_path / "model").read_bytes(), rows.secrets) == [], way
        assert traces(pickle.dumps(model), rows.secrets) == [], way
        if not (way.startswith("loaded") and case.endswith("True") and case.startswith(JUDGED)):
            assert_array_equal(getattr(model, score)(x), getattr(expected, score)(x), way)
        if hasattr(expected, "classes_"):
            assert model.classes_.tolist() == expected.classes_.tolist(), way
            assert model.statistic_ == expected.statistic_, way


@pytest.mark.parametrize("rows", [mixed(5), labelled(5), labelled(6, 50.0)])
def test_nothing_of_a_forgotten_row_is_in_the_sample_of_column_weights(
    rows: Rows, tmp_path: Path
) -> None:
    families = CHOSEN if isinstance(rows.y, str) else None
    for way, model in forgotten(lambda: NaiveBayes(families), rows, tmp_path):
        assert traces(pickle.dumps(model), rows.secrets) == [], way


# A group of one row, as gaps make them, is that row.
FULL = [name for name in CASES if " 0 " in name and "0.2" not in name]


@pytest.mark.parametrize("case", [*FULL, "ledoit-wolf", "ledoit-wolf far"])
def test_no_number_that_was_learnt_is_in_the_file(case: str, tmp_path: Path) -> None:
    make, rows = CASES[case]
    make().fit(*rows.cut(slice(None))).save(tmp_path / "model")
    numbers = [value for value in rows.secrets if isinstance(value, float)]
    assert traces((tmp_path / "model").read_bytes(), numbers) == []


@pytest.mark.parametrize("case", [in_time(name) for name in CASES if "frame" not in name])
def test_a_batch_that_leaves_a_window_leaves_nothing(case: str, tmp_path: Path) -> None:
    make, rows = CASES[case]
    model = make()
    for part in (slice(GONE), slice(GONE, KEPT), slice(KEPT, None)):
        x, y, weight = rows.cut(part)
        model.partial_fit(x, y, sample_weight=weight, window=2)
    model.save(tmp_path / "model")
    assert traces((tmp_path / "model").read_bytes(), rows.secrets) == []
    assert traces(pickle.dumps(model), rows.secrets) == []


def test_every_family_forgets() -> None:
    few = [CASES[name] for name in CASES if name == "density 0 0 False" or name in NAMED]
    models = [make().fit(*rows.cut(slice(None))) for make, rows in few]
    seen = {type(part.family) for model in models for part in getattr(model.model_, "parts", ())}
    assert seen == {type(family_named(name)) for name in family_names()}
