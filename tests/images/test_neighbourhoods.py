"""Balls and cubes: against distances, rotated grids, edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from suffice.errors import DataError, ParameterError
from suffice.images.scans import Grid, Mask
from suffice.images.scoring import neighbourhoods


def mask_of(shape: tuple[int, int, int], affine: Any = None, seed: int = 0) -> Mask:
    inside = np.random.default_rng(seed).random(shape) < 0.7
    inside[0, 0, 0] = True
    return Mask(Grid("a mask", shape, affine), inside)


def at(mask: Mask, *voxel: int) -> Mask:
    """A mask of one voxel."""
    inside = np.zeros(mask.grid.shape, bool)
    inside[voxel] = True
    return Mask(mask.grid, inside)


def rows(found: Any) -> list[list[int]]:
    return [
        found.indices[a:b].tolist() for a, b in zip(found.indptr, found.indptr[1:], strict=False)
    ]


sizes = st.tuples(*[st.integers(1, 5)] * 3)


@given(sizes, st.integers(0, 6), st.integers(0, 99))
def test_a_cube_holds_what_is_near_along_every_axis(
    shape: tuple[int, int, int], radius: int, seed: int
) -> None:
    mask = mask_of(shape, seed=seed)
    apart = abs(mask.voxels[:, None] - mask.voxels).max(axis=2)
    expected = [np.flatnonzero(row <= radius).tolist() for row in apart]
    assert rows(neighbourhoods(mask, mask, "cube", radius)) == expected


@given(sizes, st.sampled_from([0, 1.5, 3, 4.3, 6.1, 20]), st.integers(0, 99))
def test_a_ball_holds_what_is_near_in_millimetres(
    shape: tuple[int, int, int], radius: float, seed: int
) -> None:
    affine = np.diag([3.1, 3.75, 2.0, 1])
    mask = mask_of(shape, affine, seed)
    place = mask.voxels * [3.1, 3.75, 2.0]
    apart = np.sqrt(((place[:, None] - place) ** 2).sum(axis=2))
    expected = [np.flatnonzero(row <= radius + 1e-6).tolist() for row in apart]
    assert rows(neighbourhoods(mask, mask, "ball", radius)) == expected


def test_a_grid_without_volume_has_no_balls() -> None:
    mask = Mask(Grid("flat.nii", (2, 2, 2), np.diag([1.0, 1, 0, 1])), np.ones((2, 2, 2), bool))
    with pytest.raises(DataError, match=r"flat\.nii has an affine that maps its voxels to a plane"):
        neighbourhoods(mask, mask, "ball", 2)
    assert len(rows(neighbourhoods(mask, mask, "cube", 1))) == 8


def test_a_centre_outside_the_mask_needs_a_neighbour_in_it() -> None:
    mask = Mask(Grid("a mask", (3, 1, 1), None), np.array([1, 0, 0], bool)[:, None, None])
    assert_array_equal(neighbourhoods(mask, at(mask, 1, 0, 0), "cube", 1).indices, [0])
    with pytest.raises(DataError, match=r"voxel \(2, 0, 0\) of the process mask has no neighbour"):
        neighbourhoods(mask, at(mask, 2, 0, 0), "cube", 1)


@pytest.mark.parametrize(
    ("shape", "radius", "sentence"),
    [
        ("ball", -1, "radius=-1; it is a number, 0 or more."),
        ("ball", float("nan"), "radius=nan; it is a number, 0 or more."),
        ("cube", 1.5, "radius=1.5 of a cube; a cube reaches a whole number of voxels."),
        ("disc", 1, "shape='disc'; shape is one of 'ball', 'cube'."),
        ("ball", "6", "radius='6'; it is a number, 0 or more."),
    ],
)
def test_options_outside_their_rule(shape: Any, radius: Any, sentence: str) -> None:
    mask = mask_of((2, 2, 2))
    with pytest.raises(ParameterError) as refused:
        neighbourhoods(mask, mask, shape, radius)
    assert str(refused.value) == sentence
