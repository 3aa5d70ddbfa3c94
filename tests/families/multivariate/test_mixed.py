"""Sums of mixed columns whose missing cells are expected, against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.families import MultivariateGaussian
from suffice.families.multivariate.mixed import of_terms
from suffice.statistics.block import CodedBlock, RealBlock
from suffice.statistics.indicator_comoments import IndicatorComoments
from suffice.statistics.mixed_block import MixedBlock
from suffice.statistics.vocabulary import Vocabulary

Cells = list[list[Fraction] | None]

COLOR = Vocabulary(("blue", "green", "red"))
TERMS = {0: [0], 1: [1, 2]}  # the terms of each column: a number, and what is not the first value


def summed(
    x: np.ndarray, color: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> IndicatorComoments:
    total = MultivariateGaussian("mle").accumulator("mixed", 2)
    categories = CodedBlock(color[:, None], (COLOR,))
    block = MixedBlock(RealBlock(x[:, None]), categories, np.array([True, False]))
    total.add(block, codes, weights, 2)
    return total.statistic()


def exactly(
    x: np.ndarray, color: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> list[list[list[Fraction]]]:
    """Scatters of the terms of each class, as `of_terms` states them."""
    numbers: Cells = [None if v != v else [Fraction(v)] for v in x.tolist()]
    values: Cells = [
        None if c < 0 else [Fraction(c == 1), Fraction(c == 2)] for c in color.tolist()
    ]
    columns, of, n = [numbers, values], codes.tolist(), list(map(Fraction, weights.tolist()))

    def mean(cells: Cells, c: int) -> list[Fraction]:
        rows = [(w, v, k == c) for w, v, k in zip(n, cells, of, strict=True) if v]
        shown = [(w, v) for w, v, own in rows if own] or [(w, v) for w, v, _ in rows]
        total = sum(w for w, _ in shown)
        return [sum(w * v[t] for w, v in shown) / total for t in range(len(shown[0][1]))]

    means = [[mean(cells, c) for cells in columns] for c in (0, 1)]
    apart = [(w, (v[0] - means[k][0][0]) ** 2) for w, v, k in zip(n, numbers, of, strict=True) if v]
    variance = sum(w * v for w, v in apart) / sum(w for w, _ in apart)
    scatters = []
    for c in (0, 1):
        total = [[Fraction(0)] * 3 for _ in range(3)]
        for i in (i for i, k in enumerate(of) if k == c):
            row: list[Fraction] = []
            for cells, m in zip(columns, means[c], strict=True):
                row += [u - v for u, v in zip(cells[i] or m, m, strict=True)]
            for a in range(3):
                for b in range(3):
                    total[a][b] += n[i] * row[a] * row[b]
            if numbers[i] is None:
                total[0][0] += n[i] * variance
            if values[i] is None:
                for a, p in zip(TERMS[1], means[c][1], strict=True):
                    for b, q in zip(TERMS[1], means[c][1], strict=True):
                        total[a][b] += n[i] * ((p if a == b else 0) - p * q)
        scatters.append(total)
    return scatters


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1e8]),
    st.sampled_from([1e-5, 1.0, 1e3]),
    st.sampled_from([1.0, 2.0**30]),
)
def test_expected_sums_have_all_their_digits(
    seed: int, offset: float, scale: float, heaviest: float
) -> None:
    """Of numbers far from 0, and of values that all but a few cells show."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    x, color = rng.normal(size=n) * scale + offset, rng.integers(-1, 3, n)
    x[1:][rng.random(n - 1) < 0.3] = np.nan
    color[:3], codes = np.arange(3), rng.integers(0, 2, n)
    kept = (color >= 0) | ~np.isnan(x)  # of a row without a cell nothing is expected
    weights = rng.choice([1.0, heaviest], n)
    x, color, codes, weights = x[kept], color[kept], codes[kept], weights[kept]
    rows = of_terms(summed(x, color, codes, weights)).rows
    expected = exactly(x, color, codes, weights)
    for code, index in zip(rows.code.tolist(), rows.product_index.tolist(), strict=True):
        found = rows.scatter.value[index] if index >= 0 else np.zeros((3, 3))
        exact = np.array([[float(v) for v in row] for row in expected[code]])
        size = np.sqrt(np.diagonal(exact))
        assert (np.abs(found - exact) <= 1e-14 * size[:, None] * size).all()


def test_a_class_of_two_rows_far_from_zero_is_not_refused_by_rounding() -> None:
    apart = 1873 * 2.0**-26
    x = np.array([1e8 - 1, 1e8, 1e8 + 3, np.nan, 1e8, 1e8 + apart])
    color, codes = np.array([0, 1, 2, 1, 1, 2]), np.array([0, 0, 0, 0, 1, 1])
    family = MultivariateGaussian("mle", variance_floor=0.0)
    raised = family.estimate(summed(x, color, codes, np.ones(6))).factored.raised
    assert dict(raised)[1] == (1, 2)  # the number tells which of two colours it is
