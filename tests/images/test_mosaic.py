"""The picture of a map: sides of the head, and the anatomy below."""

import io
from typing import Any

import numpy as np
import pytest

from suffice.errors import DataError
from suffice.images.scans import Grid

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

from suffice.images.mosaic import draw_mosaic

SHAPE = 4, 6, 2
VALUES = np.arange(48.0).reshape(SHAPE) / 48
INSIDE = np.ones(SHAPE, np.bool_)
INSIDE[0] = False


def drawn(
    monkeypatch: pytest.MonkeyPatch, affine: np.ndarray | None, anatomy: Any = None
) -> list[Any]:
    """The axes of the slices."""
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: figures.append(figure))
    grid = Grid("the image", SHAPE, affine)
    draw_mosaic(io.BytesIO(), VALUES, INSIDE, grid, "map", "share", 0.5, anatomy=anatomy)
    return figures[0].axes[:2]


@pytest.mark.parametrize(
    ("axis", "step", "letters"), [(0, 3.0, "LR"), (0, -3.0, "RL"), (1, 3.0, "PA"), (2, -3.0, "SI")]
)
def test_letters_stand_at_the_ends_of_the_first_axis(
    monkeypatch: pytest.MonkeyPatch, axis: int, step: float, letters: str
) -> None:
    affine = np.diag([3.0, 3.0, 3.0, 1.0])
    affine[:3, 0] = 0.2
    affine[axis, 0] = step
    for slice_ in drawn(monkeypatch, affine):
        texts = {text.get_text(): text.get_position()[0] for text in slice_.texts}
        assert texts == {letters[0]: 0.02, letters[1]: 0.98}
    assert not drawn(monkeypatch, None)[0].texts


def test_the_anatomy_lies_below_a_map_that_is_faint_below_the_threshold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    anatomy = np.random.default_rng(0).random(SHAPE)
    for z, slice_ in enumerate(drawn(monkeypatch, None, anatomy)):
        below, above = slice_.images
        np.testing.assert_array_equal(below.get_array(), anatomy[:, :, z].T)
        shown = np.ma.masked_invalid(above.get_array())
        np.testing.assert_array_equal(~np.ma.getmaskarray(shown), INSIDE[:, :, z].T)
        opaque = np.asarray(above.get_alpha()) == 1
        expected = (VALUES[:, :, z] > 0.5) & INSIDE[:, :, z]
        np.testing.assert_array_equal(opaque, expected.T)
    with pytest.raises(DataError, match="the anatomy has"):
        drawn(monkeypatch, None, anatomy[1:])
