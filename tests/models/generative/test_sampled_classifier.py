"""How many rows a sample has, and that no file holds them."""

from pathlib import Path

import numpy as np

from suffice import NaiveBayes

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2_000, 4)), RNG.integers(0, 2, 2_000)


def test_no_file_holds_a_row_of_the_sample(tmp_path: Path) -> None:
    number = 123456.789012345
    model = NaiveBayes().fit(np.vstack([X, np.full((1, 4), number)]), np.append(Y, 1))
    assert (model.statistic_.sample.batch.blocks[0].values == number).any()
    model.save(tmp_path / "model")
    assert np.float64(number).tobytes() not in (tmp_path / "model").read_bytes()
