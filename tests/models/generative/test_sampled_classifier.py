"""How many rows a sample has, and that no file holds them."""

from pathlib import Path

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.models.generative import calibrated

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2_000, 4)), RNG.integers(0, 2, 2_000)


@pytest.mark.parametrize(("cells", "rows"), [(2**22, 2_000), (4 * 500, 500), (4 * 100, 256)])
def test_wide_rows_are_fewer(monkeypatch: pytest.MonkeyPatch, cells: int, rows: int) -> None:
    monkeypatch.setattr(calibrated, "SAMPLE_CELLS", cells)
    assert NaiveBayes().fit(X, Y).statistic_.sample.rows == rows


def test_the_smaller_of_two_samples_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    one = NaiveBayes().fit(X[:1_000], Y[:1_000])
    monkeypatch.setattr(calibrated, "SAMPLE_CELLS", 4 * 500)
    other = NaiveBayes().fit(X[1_000:], Y[1_000:])
    sums = one.statistic_ + other.statistic_, other.statistic_ + one.statistic_
    assert [both.sample.rows for both in sums] == [500, 500]


def test_no_file_holds_a_row_of_the_sample(tmp_path: Path) -> None:
    number = 123456.789012345
    model = NaiveBayes().fit(np.vstack([X, np.full((1, 4), number)]), np.append(Y, 1))
    pieces = model.statistic_.sample.pieces
    assert any((batch.blocks[0].values == number).any() for batch, _ in pieces)
    model.save(tmp_path / "model")
    assert np.float64(number).tobytes() not in (tmp_path / "model").read_bytes()
