"""Functions of the compiled module as its stubs have them, and calls of them that are right."""

import ast
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from suffice import (
    AODE,
    ElasticNet,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
from suffice.families import Density
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from suffice.numerics import kernels
from suffice.sums.bins import tables

from . import test_searchlight

__all__ = ["FUNCTIONS", "right_calls"]

HERE = Path(__file__).parent
STUBS = HERE.parents[2] / "src/suffice/numerics/kernels"
MOST_CALLS, MOST_CELLS = 12, 100_000


def _functions() -> Iterator[tuple[str, list[str]]]:
    for stub in sorted(STUBS.glob("*.pyi")):
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.FunctionDef) and stub.stem != "__init__":
                yield f"{stub.stem}.{node.name}", [one.arg for one in node.args.args]


FUNCTIONS = dict(_functions())


def right_calls() -> dict[str, list[dict[str, Any]]]:
    """Arguments by name with which models call every function, copied before the call."""
    calls: dict[str, list[dict[str, Any]]] = {name: [] for name in FUNCTIONS}
    with _recording(calls), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _use_models()
        _call_the_others()
    return calls


def _use_models() -> None:
    """Fit, merge, forget and ask small models of every kind."""
    rng, n = np.random.default_rng(0), 60
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, n)]
    x = rng.normal(size=(n, 4)) + (y == "a")[:, None]
    holes = np.where(rng.random(x.shape) < 0.1, np.nan, x)
    counts, weights = rng.poisson(2, (n, 5)), rng.random(n)
    table = pa.table(
        {
            "size": x[:, 0],
            "count": counts[:, 0],
            "hue": rng.choice(["r", "g", "b"], n),
            "wet": rng.random(n) < 0.5,
            "text": [" ".join(rng.choice(["ab", "cd", "ef"], 3)) for _ in range(n)],
            "kind": y,
        }
    )
    half, rest = table.slice(0, 30), table.slice(30)
    AODE().fit(table, "kind").predict_proba(table)
    histogram = NaiveBayes({"size": Density(shape="histogram")})
    for model in (NaiveBayes(), NaiveBayes.textbook(estimation="map"), histogram):
        other = type(model)(**model.get_params()).fit(rest, "kind")
        model.fit(half, "kind").merge(other).forget(rest, "kind")
        model.predict_proba(table)
        model.evaluate(table, "kind")
    together = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    classifiers: list[tuple[Any, Any]] = [
        *((kind(), rows) for kind in (GaussianNB, *together) for rows in (x, holes)),
        (NaiveBayes(), x),
        (NaiveBayes.textbook(estimation="bayes"), x),
        *((MultinomialNB(), rows) for rows in (counts, csr_array(counts))),
        (BernoulliNB(), counts > 1),
        (CategoricalNB(), counts),
        (ComplementNB(), counts),
    ]
    for model, rows in classifiers:
        for w in (None, weights):
            model.fit(rows, y, w).predict_proba(rows)
            model.score(rows, y)
    for kind in (LinearRegression, Ridge, Lasso, ElasticNet):
        for w in (None, weights):
            kind().fit(x[:, :3], x[:, 3], w).predict(x[:, :3])
    for model in (LogisticRegression(), LogisticRegression(l1_ratio=1.0)):
        for rows in (x, csr_array(counts)):
            for labels in (y, y == "a"):
                model.fit(rows, labels).predict_proba(rows)


def _call_the_others() -> None:
    """Call what small models do not."""
    some, whole, table = np.linspace(0.1, 3.0, 20), np.arange(2, 9), np.ones((4, 5))
    kernels.elementary.digamma(some.reshape(4, 5), np.zeros((4, 5)))
    for dtype in (np.int64, np.uint64):
        values = whole.astype(dtype)
        kernels.counts.mark(values, 2, np.zeros(7, np.bool_))
        kernels.counts.look_up(values, 2, np.arange(7), np.zeros(7, np.int64))
    codes = np.array([0, -1, 0, 0])
    for x in (table, np.asfortranarray(table)):
        kernels.scores.student_terms(x, *np.ones((4, 2, 5)), np.zeros((5, 2, 4)))
    kernels.bins.taken(*tables(1), np.zeros(2, np.int64), np.zeros(30, np.uint8))
    places = np.array([[0, 2], [-1, 4], [1, -1]], np.int32)
    kernels.pair_counts.count_weighted(places, codes[:3], np.ones(3), 5, np.zeros((2, 2, 15)))
    kernels.sums.scale(np.ones((3, 2, 4)), 0.1, np.zeros((3, 2, 4)))
    groups = [np.ones((2, 2)), np.zeros((2, 3)), np.zeros((2, 2, 3)), np.array([0, 1])]
    kernels.comoments.settle(*groups, np.zeros((2, 2, 3, 3)), np.ones((2, 3)))
    added = np.zeros(4, np.int64), np.empty(0), np.ones(2), np.ones(2), np.ones(2)
    kernels.logistic.add_gradient(table, np.zeros(5), np.ones((2, 6)), *added, np.zeros((1, 6)))
    sparse, directions = csr_array(table), np.ones((6, 8))
    stored = sparse.indptr, sparse.indices, sparse.data
    kernels.logistic.add_sparse_gradient(*stored, directions, *added, np.zeros((6, 8)))
    rows = table, np.ones((4, 1)), np.ones(4), np.arange(4)
    units, v, room = (np.zeros(3), np.ones(3)), np.ones((1, 4)), (np.ones(4), np.zeros(1))
    kernels.descent.add_gradient(*rows, *units, v, *room, np.zeros((1, 4)), np.zeros(1))
    rule = np.ones(4), 0.01, 0.7, True
    left = np.zeros((1, 4)), np.zeros(1), np.zeros((1, 4))
    kernels.descent.descend(*rows, 2, *units, *rule, *room, v, *left)
    test_searchlight.predicted()
    test_searchlight.test_single_precision_counts_what_double_predicts()
    test_searchlight.digest()


@contextmanager
def _recording(calls: dict[str, list[dict[str, Any]]]) -> Iterator[None]:
    kept = {}
    for name in FUNCTIONS:
        module, _, function = name.partition(".")
        kept[name] = getattr(getattr(kernels, module), function)
        setattr(getattr(kernels, module), function, _noting(name, kept[name], calls[name]))
    try:
        yield
    finally:
        for name, before in kept.items():
            module, _, function = name.partition(".")
            setattr(getattr(kernels, module), function, before)


def _noting(
    name: str, function: Callable[..., Any], calls: list[dict[str, Any]]
) -> Callable[..., Any]:
    seen: set[Any] = set()

    def call(*given: Any, **named: Any) -> Any:
        by_name = dict(zip(FUNCTIONS[name], given, strict=False)) | named
        arrays = [one for one in by_name.values() if isinstance(one, np.ndarray)]
        kinds = tuple((a.dtype.str, a.ndim, a.size == 0) for a in arrays)
        known = kinds in seen and len(calls) >= MOST_CALLS
        if known or sum(a.size for a in arrays) > MOST_CELLS:
            return function(*given, **named)
        copies = {
            key: np.copy(one, "K") if isinstance(one, np.ndarray) else one
            for key, one in by_name.items()
        }
        answer = function(*given, **named)
        seen.add(kinds)
        calls.append(copies)
        return answer

    return call
