"""Positive semidefinite matrices against mpmath with 60 digits."""

from collections.abc import Callable, Iterator

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from suffice.errors import DataError
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import Factor, factorise, floored, is_above, product

SOME = settings(max_examples=20)


@pytest.fixture(autouse=True, scope="module")
def digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def precise(a: DoubleDouble) -> mpmath.matrix:
    """The value of pairs, in full."""
    return mpmath.matrix(a.hi.tolist()) + mpmath.matrix(a.lo.tolist())


def pairs(a: mpmath.matrix) -> DoubleDouble:
    """The pairs nearest to numbers of many digits."""
    hi = np.array(a.tolist(), dtype=np.float64).reshape(a.rows, a.cols)
    lo = np.array((a - mpmath.matrix(hi.tolist())).tolist(), dtype=np.float64)
    return DoubleDouble(hi, lo.reshape(hi.shape))


def gram(x: np.ndarray) -> DoubleDouble:
    """XᵀX, rounded to pairs."""
    x = mpmath.matrix(x.tolist())
    return pairs(x.T * x)


def normal(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def close(found: DoubleDouble, truth: mpmath.matrix, bits: int) -> None:
    """Every element is right, relative to the largest of its row."""
    assert found.shape == (truth.rows, truth.cols)
    for i, row in enumerate((precise(found) - truth).tolist()):
        largest = max(abs(x) for x in truth[i, :])
        assert max(abs(error) for error in row) <= largest / 2**bits, i


# The bits that the condition number leaves, of the 106 of a pair.
DEFINITE: dict[str, tuple[Callable[[], DoubleDouble], int]] = {
    "one": (lambda: gram(normal(3, 1)), 98),
    "correlated": (lambda: gram(normal(30, 8) + 100 * normal(30, 1, 1)), 80),
    "mixed scales": (lambda: gram(normal(30, 9) * np.logspace(-8, 8, 9)), 96),
    "tiny": (lambda: gram(normal(5, 3) * 1e-120), 90),
    "huge": (lambda: gram(normal(5, 3) * 1e140), 96),
    "Hilbert": (lambda: pairs(mpmath.hilbert(12)), 53),
}


@pytest.fixture(params=DEFINITE)
def definite(request: pytest.FixtureRequest) -> tuple[DoubleDouble, Factor, int]:
    matrix, bits = DEFINITE[request.param]
    return matrix(), factorise(matrix()), bits


def test_a_definite_matrix_has_full_rank(definite: tuple[DoubleDouble, Factor, int]) -> None:
    a, factor, _ = definite
    assert factor.rank == len(a.hi)
    assert factor.dependent == ()
    assert factor.independent.all()


def test_factors_multiply_to_the_matrix(definite: tuple[DoubleDouble, Factor, int]) -> None:
    a, factor, _ = definite
    lower = precise(factor.lower)
    np.testing.assert_array_equal(np.triu(factor.lower.hi), np.eye(len(a.hi)))
    product = lower * mpmath.diag(list(precise(factor.pivots))) * lower.T
    scale = mpmath.diag(factor.scale.tolist())
    close(pairs(product), scale * precise(a) * scale, 96)


def test_inverse_and_its_diagonal(definite: tuple[DoubleDouble, Factor, int]) -> None:
    a, factor, bits = definite
    truth = mpmath.inverse(precise(a))
    scale = mpmath.diag((1 / factor.scale).tolist())
    inverse = product(DoubleDouble(factor.whitening.hi.T, factor.whitening.lo.T), factor.whitening)
    close(pairs(scale * precise(inverse) * scale), scale * truth * scale, bits)
    np.testing.assert_array_equal(inverse.value, inverse.value.T)
    diagonal = precise(factor.inverse_diagonal())
    for j in range(truth.rows):
        assert abs(diagonal[j] / truth[j, j] - 1) <= mpmath.mpf(2) ** -bits


def test_whitening_and_cholesky(definite: tuple[DoubleDouble, Factor, int]) -> None:
    a, factor, bits = definite
    scale = mpmath.diag(factor.scale.tolist())
    cholesky = mpmath.cholesky(scale * precise(a) * scale)
    close(pairs(scale * precise(factor.cholesky)), cholesky, bits)
    whitening = precise(factor.whitening)
    close(pairs(whitening * mpmath.inverse(scale)), mpmath.inverse(cholesky), bits)
    close(pairs(whitening * precise(a) * whitening.T), mpmath.eye(len(a.hi)), bits)
    assert not np.triu(factor.whitening.hi, 1).any()


# -- singular matrices


@st.composite
def designs(draw: st.DrawFn) -> tuple[np.ndarray, list[int]]:
    """Whole numbers, some of whose columns are combinations of earlier ones; which those are."""
    x = normal(40, draw(st.integers(1, 5)), draw(st.integers(0, 10**6)))
    columns, dependent = [np.round(100 * column) for column in x.T], []
    for seed in draw(st.lists(st.integers(0, 10**6), max_size=3)):
        rng = np.random.default_rng(seed)
        place = int(rng.integers(0, len(columns) + 1))
        column = sum((int(rng.integers(-2, 3)) * c for c in columns[:place]), np.zeros(40))
        columns.insert(place, column)
        dependent = [j + (j >= place) for j in dependent] + [place]
    return np.array(columns).T, sorted(dependent)


@SOME
@given(designs(), st.sampled_from([1.0, 1e-8, 1 / 3]))
def test_dependent_columns_are_found_and_explained(
    design: tuple[np.ndarray, list[int]], unit: float
) -> None:
    x, dependent = design
    factor = factorise(pairs(precise(gram(x)) * mpmath.mpf(unit)))
    assert list(factor.dependent) == dependent
    assert factor.rank + len(dependent) == x.shape[1]
    for j in dependent:
        parts = factor.combination(j)
        assert set(parts) <= set(range(j)) - set(dependent)
        made = sum((c * x[:, i] for i, c in parts.items()), np.zeros(40))
        np.testing.assert_allclose(made, x[:, j], atol=1e-9)
        assert all(c == round(c) for c in parts.values())


@SOME
@given(designs())
def test_what_is_computed_holds_on_the_independent_columns(
    design: tuple[np.ndarray, list[int]],
) -> None:
    x, dependent = design
    a = gram(x)
    factor = factorise(a)
    used = factor.independent
    alone = factorise(a[np.ix_(used, used)])
    assert factor.log_determinant == alone.log_determinant
    for whole, part in ((factor.whitening, alone.whitening),):
        np.testing.assert_array_equal(whole.value[np.ix_(used, used)], part.value)
        assert not whole.value[dependent].any()
        assert not whole.value[:, dependent].any()
    diagonal = factor.inverse_diagonal().value
    np.testing.assert_array_equal(diagonal[used], alone.inverse_diagonal().value)
    product = precise(factor.cholesky) * precise(factor.cholesky).T
    np.testing.assert_allclose(pairs(product).value, a.value, rtol=1e-13, atol=1e-9)
    b = pairs(mpmath.matrix(x.T.tolist()) * mpmath.matrix(normal(40, 2).tolist()))
    basic = factor.solve(b)
    assert not basic.value[dependent].any()
    np.testing.assert_allclose(
        pairs(precise(a) * precise(basic)).value, b.value, rtol=1e-12, atol=1e-9
    )


# -- what counts as dependent


def scatter(x: np.ndarray) -> DoubleDouble:
    """Co-moments about the mean, rounded to pairs."""
    rows = mpmath.matrix(x.tolist())
    mean = mpmath.ones(1, rows.rows) * rows / rows.rows
    centred = rows - mpmath.ones(rows.rows, 1) * mean
    return pairs(centred.T * centred)


@pytest.mark.parametrize("mean", [0.0, 1e4])
def test_a_rounded_sum_of_columns_is_dependent(mean: float) -> None:
    x = normal(60, 2) + mean
    factor = factorise(scatter(np.column_stack([x, x.sum(axis=1)])))
    assert factor.dependent == (2,)
    assert factor.combination(2) == {0: 1.0, 1: 1.0}


def test_ill_conditioned_designs_are_not_dependent() -> None:
    # The powers 1 ... 10 of the range of NIST's Filip: 2^-61 by the measure of `factorise`.
    x = np.linspace(-8.78, -3.13, 82)[:, None] ** np.arange(1, 11)
    assert factorise(scatter(x)).rank == 10
    assert factorise(scatter(x), 2.0**-50).rank < 10


# -- what is refused


@pytest.mark.parametrize(
    ("a", "message"),
    [
        ([[-1.0]], "column 0: given the columns before it, its variance is -1; a matrix of"),
        ([[4.0, 6.0], [6.0, 5.0]], "column 1: given the columns before it, its variance is -4;"),
        ([[1.0, np.nan], [np.nan, 1.0]], r"entry \(0, 1\) of a matrix is nan; it must be finite"),
        ([[np.inf]], r"entry \(0, 0\) of a matrix is inf; it must be finite"),
    ],
)
def test_what_is_no_covariance_is_refused(a: list[list[float]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        factorise(DoubleDouble.of(a))


# -- the floor


def relative_variances(sigma: DoubleDouble, total: DoubleDouble) -> np.ndarray:
    """Eigenvalues of T⁻¹Σ, with 60 digits."""
    whitening = mpmath.inverse(mpmath.cholesky(precise(total)))
    relative = whitening * precise(sigma) * whitening.T
    return np.array(mpmath.eigsy(relative, eigvals_only=True).T.tolist(), dtype=np.float64)[0]


@SOME
@given(st.integers(1, 5), st.integers(0, 5), st.floats(1e-9, 1.0), st.integers(0, 10**6))
def test_no_direction_has_less_than_its_share(d: int, n: int, epsilon: float, seed: int) -> None:
    inside, outside = normal(n, d, seed), normal(d + 3, d, seed + 1)
    sigma = gram(inside) if n else DoubleDouble.zeros((d, d))
    total = gram(np.concatenate([inside, outside]))
    found, raised = floored(sigma, factorise(total), epsilon)
    before = np.sort(relative_variances(sigma, total))
    after = np.sort(relative_variances(found, total))
    np.testing.assert_allclose(after, np.maximum(before, epsilon), rtol=1e-6, atol=1e-15)
    np.testing.assert_array_equal(found.value, found.value.T)
    assert raised is bool((before < epsilon).any())


@SOME
@given(st.integers(1, 6), st.floats(0.0, 2.0), st.integers(0, 10**6))
def test_a_matrix_is_above_another_only_if_all_eigenvalues_are(
    d: int, epsilon: float, seed: int
) -> None:
    scales = np.logspace(-6, 6, d)
    sigma = gram(normal(2 * d, d, seed) * scales)
    least = epsilon * gram(normal(2 * d, d, seed + 1) * scales).value
    unit = DoubleDouble.of(np.diag(scales**2))
    smallest = relative_variances(sigma - DoubleDouble.of(least), unit).min()
    assume(abs(smallest) > 1e-9)  # beyond what rounding may hide
    assert is_above(sigma, least) == bool(smallest > 0)


def test_no_singular_matrix_is_above_zero() -> None:
    x = normal(30, 4)
    assert is_above(gram(x), np.zeros((4, 4)))
    assert not is_above(gram(np.column_stack([x, x.sum(axis=1)])), np.zeros((5, 5)))
    assert not is_above(DoubleDouble.zeros((2, 2)), np.zeros((2, 2)))
    assert not is_above(gram(x), gram(x).value)
