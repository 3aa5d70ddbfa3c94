"""Reproducible fits: sums that no order changes, the same model bytes, and what is refused."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import suffice
from suffice.data.array_labels import Labels
from suffice.data.array_source import ArraySource
from suffice.data.schema import BlockLayout, Layout, Numbered
from suffice.engines.local import LocalEngine
from suffice.errors import DataError, ParameterError
from suffice.linear_model import LogisticRegression
from suffice.models.design.matrix import Design
from suffice.models.logistic.centred_design import CentredDesign
from suffice.models.logistic.data_loop import DataLoop
from suffice.models.logistic.exact_loss import ExactLossRequest, power_above
from suffice.models.logistic.loss import LossRequest
from suffice.models.logistic.sample import draw_by_content
from suffice.models.logistic.training_rows import TrainingRows
from suffice.models.optimise.algebra import BLAS, IN_ORDER
from suffice.statistics.batch import Batch
from suffice.statistics.block import RealBlock
from suffice.statistics.exact_loss_sums import ExactLossSums
from suffice.statistics.vocabulary import Vocabulary

CELLS = st.one_of(
    st.floats(-1e3, 1e3, allow_subnormal=False),
    st.integers(-3, 3).map(float),
    st.sampled_from([1e8, -1e8, 2.0**-40, 1 / 3]),
)


def rows_of(x: Any, y: Any, w: Any = None) -> Batch:
    k = int(np.max(y, initial=1)) + 1
    weights = np.empty(0) if w is None else np.asarray(w, np.float64)
    labels = Vocabulary(tuple(range(k)))
    return Batch(len(x), (RealBlock(np.asarray(x, np.float64)),), np.asarray(y), labels, weights)


def training(x: Any, k: int, f: Any = None) -> TrainingRows:
    terms, mean = Numbered(x.shape[1]), np.asarray(x).mean(axis=0)
    layout = Layout((BlockLayout("real", terms),), ())
    scale = np.ones(x.shape[1])
    centred = CentredDesign(Design(terms, ()), layout, mean, scale, algebra=IN_ORDER)
    class_weights = np.ones(k) if f is None else np.asarray(f)
    return TrainingRows(centred, Vocabulary(tuple(range(k))), class_weights)


def request(x: Any, k: int, hessian: bool, heaviest: float = 1.0, f: Any = None) -> Any:
    rows, m = training(x, k, f), 1 if k == 2 else k
    reach = np.abs(x - rows.centred.mean).max(axis=0)
    coefficients = np.random.default_rng(0).normal(size=(m, 1 + x.shape[1]))
    coefficients[:, 1:] *= np.divide(1.0, reach, out=np.zeros_like(reach), where=reach > 0)
    checksum = np.ones(1 + x.shape[1])
    of_rows = rows, coefficients, checksum, hessian, None
    return ExactLossRequest(*of_rows, np.append(1.0, reach), heaviest), LossRequest(*of_rows)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Any, Any, Any, int]:
    n, d, k = draw(st.integers(1, 40)), draw(st.integers(1, 10)), draw(st.integers(2, 4))
    x = np.array(draw(st.lists(st.lists(CELLS, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)))
    weights = st.lists(st.floats(0.25, 8.0), min_size=n, max_size=n)
    w = draw(st.one_of(st.none(), weights.map(np.array)))
    return x, y, w, k


def batches(x: Any, y: Any, w: Any, parts: Any) -> list[Batch]:
    return [rows_of(x[p], y[p], None if w is None else w[p]) for p in parts]


# -- sums


@settings(max_examples=60, deadline=None)
@given(tables(), st.booleans(), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_order_and_parts_change_no_bit_of_a_sum(
    table: tuple[Any, Any, Any, int], hessian: bool, seed: int, parts: int
) -> None:
    x, y, w, k = table
    asked, _ = request(x, k, hessian, 1.0 if w is None else float(w.max()), np.arange(1, k + 1) / 2)
    whole = asked.of(*batches(x, y, w, [slice(None)]))
    order = np.random.default_rng(seed).permutation(len(y))
    pieces = [asked.of(b) for b in batches(x, y, w, np.array_split(order, parts))]
    total = pieces[0]
    for piece in pieces[1:]:
        total = piece + total
    assert total == whole
    assert_array_equal(total.rounded.gradient.value, whole.rounded.gradient.value)
    assert (total - pieces[-1]) + pieces[-1] == whole
    assert total != whole + asked.of(rows_of(x[:1], y[:1]))


@settings(max_examples=40, deadline=None)
@given(tables(), st.booleans())
def test_the_sums_are_those_of_the_usual_pass(
    table: tuple[Any, Any, Any, int], hessian: bool
) -> None:
    x, y, w, k = table
    f = np.arange(1, k + 1) / 2
    heaviest = 1.0 if w is None else float(w.max())
    exact, usual = request(x, k, hessian, heaviest, f)
    (batch,) = batches(x, y, w, [slice(None)])
    found, expected = exact.of(batch).rounded, usual.of(batch)
    for name, unit in (("loss", 1.0), ("weight", 1.0), ("gradient", exact.reach)):
        difference = getattr(found, name).value - getattr(expected, name).value
        assert (np.abs(difference) <= 1e-12 * len(y) * heaviest * k * unit).all()
    if hessian:
        unit = np.tile(exact.reach, len(exact.coefficients))
        difference = found.hessian.value - expected.hessian.value
        assert (np.abs(difference) <= 1e-12 * len(y) * heaviest * k * np.outer(unit, unit)).all()


def test_a_gradient_that_cancels_is_the_exact_sum_of_its_terms() -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(500, 3))
    x = np.concatenate([x, -x])
    y = np.tile([0, 1], (500, 1)).T.ravel()
    asked, _ = request(x, 2, False)
    asked = ExactLossRequest(
        *(asked.rows, np.zeros((1, 4)), asked.checksum, False, None, asked.reach, 1.0)
    )
    z = np.column_stack([np.ones(1000), x - asked.rows.centred.mean])
    residuals = np.where(y == 0, 0.5, -0.5)
    found = asked.of(rows_of(x, y)).rounded.gradient.value[0]
    for j in range(4):
        exact = sum(Fraction(r) * Fraction(c) for r, c in zip(residuals, z[:, j], strict=True))
        assert abs(Fraction(found[j]) - exact) <= Fraction(2.0**-52) * 1000
    sums = ExactLossSums.empty(2, 1, 4, False)
    assert not any(parts.any() for parts in vars(sums).values())


def test_powers_above_bounds() -> None:
    bounds = np.array([0.0, 1.0, 1.5, 2.0**-1000, 1e150])
    powers = power_above(bounds)
    assert (powers >= bounds).all()
    assert (powers[1:] < 2 * bounds[1:]).all()


# -- linear algebra


@pytest.mark.parametrize("p", [0, 1, 7, 40])
def test_algebra_in_order_is_that_of_lapack(p: int) -> None:
    random = np.random.default_rng(p)
    a, b = random.normal(size=(3 * p + 1, p)), random.normal(size=(p, 2))
    hessian = a.T @ a * 10.0 ** random.integers(-6, 6, p) * np.ones((p, 1))
    hessian = (hessian + hessian.T) / 2 + 1e6 * np.diag(np.diagonal(hessian))
    assert_allclose(IN_ORDER.times(a, b), a @ b, rtol=1e-12, atol=1e-12)
    ours, theirs = IN_ORDER.factored(hessian), BLAS.factored(hessian)
    assert_allclose(ours.solve(b), theirs.solve(b), rtol=1e-9, atol=1e-300)
    root = ours.inverse_root()
    assert_allclose(root @ hessian @ root.T, np.eye(len(root)), atol=1e-9)
    assert ours.smallest_pivot == pytest.approx(theirs.smallest_pivot)


def test_a_singular_hessian_has_the_shortest_solution() -> None:
    hessian, b = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), np.ones(3)
    for algebra in (BLAS, IN_ORDER):
        assert_allclose(algebra.factored(hessian).solve(b), [0.5, 0.5, 0.0])
        assert algebra.factored(hessian).smallest_pivot == 0.0
        assert len(algebra.factored(hessian).inverse_root()) == 1


def test_orthonormal_columns_and_both_sides() -> None:
    random = np.random.default_rng(0)
    a, q = random.normal(size=(9, 3)) + 100.0, random.normal(size=(4, 3))
    tensor = random.normal(size=(4, 5, 4, 5))
    axes = IN_ORDER.orthonormal(a)
    assert_allclose(axes.T @ axes, np.eye(3), atol=1e-13)
    assert_allclose(axes @ (axes.T @ a), a)
    assert_allclose(IN_ORDER.on_both_sides(q, tensor), BLAS.on_both_sides(q, tensor))


# -- the sample


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([1, 7, 40]))
def test_a_sample_does_not_depend_on_the_order(seed: int, limit: int, values: int) -> None:
    random = np.random.default_rng(seed)
    x = np.floor(random.random((300, 2)) * values)
    y, w = random.integers(2, size=300), random.choice([1.0, 0.1, 3.0], 300)
    order = random.permutation(300)
    found = []
    for places, parts in ((np.arange(300), 1), (order, 4)):
        terms = Numbered(2)
        rows = training(x, 2)
        source = ArraySource(x[places], terms, Labels.of(y[places]), w[places])
        data = DataLoop(LocalEngine(2), source.splits(rows.layout, parts))
        found.append(draw_by_content(data, rows, limit, 300))
    one, other = found
    assert len(one) <= limit
    for name in ("z", "codes", "weights"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    if len(one) < limit:  # they are all the distinct rows
        assert one.weights.sum() == pytest.approx(w.sum())


# -- models


def saved(model: Any, path: Path) -> bytes:
    model.set_params(threads=None).save(path)
    return path.read_bytes()


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([{}, {"C": np.inf}, {"solver": "lbfgs"}, {"penalty": "firth"}]),
    st.booleans(),
)
def test_orders_and_threads_give_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, seed: int, options: Any, weighted: bool
) -> None:
    random, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("files")
    x = random.normal(size=(400, 3)) * [1e-3, 1.0, 1e6] + [0.0, 50.0, 1e6]
    k = 2 if "penalty" in options else 3
    y, w = random.integers(k, size=400), random.random(400) + 0.1 if weighted else None
    order, files = random.permutation(400), []
    for places, threads in ((np.arange(400), 1), (order, 2)):
        model = LogisticRegression(reproducible=True, threads=threads, **options)
        model.fit(x[places], y[places], None if w is None else w[places])
        files.append(saved(model, folder / str(threads)))
    assert files[0] == files[1]


@pytest.mark.parametrize("n", [1_000, 140_000])
@pytest.mark.parametrize("k", [2, 4])
def test_the_optimum_is_the_usual_one(n: int, k: int) -> None:
    random = np.random.default_rng(n + k)
    x = random.normal(size=(n, 6)) * 10.0 ** np.arange(-3, 3)
    y = (x / 10.0 ** np.arange(-3, 3) + random.gumbel(size=x.shape))[:, :k].argmax(axis=1)
    for options in ({}, {"C": np.inf}, {"class_weight": "balanced", "standardize": True}):
        model = LogisticRegression(reproducible=True, **options).fit(x, y)
        usual = LogisticRegression(**options).fit(x, y)
        assert_allclose(model.predict_proba(x[:99]), usual.predict_proba(x[:99]), rtol=1e-8)
        if "C" in options:
            assert model.likelihood_.value == pytest.approx(usual.likelihood_.value, rel=1e-12)
            errors = (m.summary().standard_error for m in (model, usual))
            assert_allclose(*errors, rtol=1e-7)


def test_tables_in_other_batches_give_the_same_file(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    table = pa.table({"x": random.normal(size=500), "w": random.choice(["a", "b", "c"], 500)})
    table = table.append_column("y", pa.array(random.choice(["no", "yes"], 500)))
    others = table.slice(300), table.slice(0, 300)
    parts = pa.Table.from_batches([b for t in others for b in t.to_batches(max_chunksize=70)])
    files = [
        saved(LogisticRegression(reproducible=True, C=np.inf).fit(rows, "y"), tmp_path / "m")
        for rows in (table, parts)
    ]
    assert files[0] == files[1]


def test_sparse_rows_are_laid_out(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(300, 5)) * (random.random((300, 5)) < 0.3)
    y = random.integers(2, size=300)
    dense, sparse = (
        LogisticRegression(reproducible=True).fit(rows, y) for rows in (x, csr_array(x))
    )
    assert_array_equal(dense.coef_, sparse.coef_)


def test_a_warm_start_and_a_loaded_model_are_reproducible(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    x, y = random.normal(size=(300, 3)) + 1e3, random.integers(3, size=300)
    files = []
    for order in (np.arange(300), random.permutation(300)):
        model = LogisticRegression(reproducible=True, warm_start=True, C=np.inf)
        for rows in (order[order < 200], order):
            model.fit(x[rows], y[rows])
        files.append(saved(model, tmp_path / "m"))
    assert files[0] == files[1]
    assert suffice.load(tmp_path / "m").reproducible


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"solver": "sgd"},
            r"reproducible=True with solver='sgd'; small steps depend on the order",
        ),
        ({"solver": "minibatch"}, "with solver='minibatch'"),
        ({"solver": "gradient"}, "with solver='gradient'"),
        ({"l1_ratio": 0.5}, "reproducible=True with a penalty of absolute values"),
        ({"penalty": "l1"}, "reproducible=True with a penalty of absolute values"),
    ],
)
def test_what_depends_on_the_order_is_refused(options: dict[str, Any], message: str) -> None:
    model = LogisticRegression(**{"reproducible": True} | options)
    with pytest.raises(ParameterError, match=message):
        model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])


def test_reproducible_is_true_or_false() -> None:
    with pytest.raises(ParameterError, match="reproducible='yes'; it is True or False"):
        LogisticRegression(reproducible="yes").fit([[0.0], [1.0]], [0, 1])


def test_weights_whose_sums_would_be_rounded_are_refused() -> None:
    x, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    with pytest.raises(DataError, match="weights from 1e-30 on, of 3 in all, with reproducible=Tr"):
        LogisticRegression(reproducible=True).fit(x, y, [1e-30, 1, 1, 1])
    LogisticRegression(reproducible=True).fit(x, y, [1e-10, 1, 1, 0])
