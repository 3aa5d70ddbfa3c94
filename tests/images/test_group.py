"""Maps of several brains, against all combinations of permuted maps in plain loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice.errors import DataError, ParameterError, SufficeWarning, UnavailableError
from suffice.images import GroupMap, SearchLight, group_map

nibabel = pytest.importorskip("nibabel")

Y, RUNS = np.tile([0, 0, 1, 1], 6), np.repeat([0, 1, 2], 8)
MASK = np.array([1, 1, 1, 0, 1], bool)[:, None, None]


def brain(seed: int, effect: float = 3.0, mask: Any = MASK, **options: Any) -> SearchLight:
    """Five voxels in a row, of which the first tells the classes apart, the second a little."""
    imgs = np.random.default_rng(seed).normal(size=(5, 1, 1, 24))
    imgs[:2] += np.array([effect, effect / 4])[:, None, None, None] * Y
    given = {"permutations": 19 + seed, "random_state": seed} | options
    return SearchLight(mask, radius=0, shape="cube", **given).fit(imgs, Y, RUNS)


@pytest.fixture(scope="module")
def brains() -> list[SearchLight]:
    return [brain(seed) for seed in range(3)]


def found_of(brains: list[SearchLight], **options: Any) -> GroupMap:
    return group_map(brains, **{"gamma": 0.1, "random_state": 0} | options)


def test_p_values_are_shares_of_all_combinations(brains: list[SearchLight]) -> None:
    found = found_of(brains)
    maps = [
        [one.masked_scores_.astype(np.float32).tolist(), *one.null_scores_.tolist()]
        for one in brains
    ]
    observed = [min(own[0][v] for own in maps) for v in range(4)]
    alone, anywhere, number = [0] * 4, [0] * 4, 0
    for combination in itertools.product(*maps):
        minima = [min(own[v] for own in combination) for v in range(4)]
        number += 1
        for v in range(4):
            alone[v] += minima[v] >= observed[v]
            anywhere[v] += max(minima) >= observed[v]
    inside = found.inside
    assert_array_equal(inside, MASK)
    shares, exact = np.array(alone) / number, np.array(anywhere) / number
    assert_allclose(found.global_p_uncorrected[inside], shares, rtol=1e-13)
    error = np.sqrt(exact * (1 - exact) / 10_000)
    assert (abs(found.global_p[inside] - exact) <= 4 * error + 2e-4).all()
    for v in range(4):
        p, corrected = shares[v], found.global_p[inside][v]
        of_share = (0.9 * p ** (1 / 3) + 0.1) ** 3
        assert found.prevalence_p_uncorrected[inside][v] == pytest.approx(of_share, rel=1e-12)
        assert found.prevalence_p[inside][v] == pytest.approx(
            corrected + (1 - corrected) * of_share, rel=1e-12
        )
    assert_allclose(found.mean[inside], np.mean([one.masked_scores_ for one in brains], axis=0))
    assert_array_equal(found.minimum[inside], np.min([one.masked_scores_ for one in brains], 0))
    assert found.global_p[3] == found.prevalence_p_uncorrected[3] == 1
    assert not found.bound[3].any()


@pytest.mark.filterwarnings("ignore:p-values of gamma")
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_bound_is_the_largest_share_rejected(brains: list[SearchLight], alpha: float) -> None:
    found = found_of(brains, alpha=alpha)
    for bound, p_of in (
        (found.bound, lambda map_: map_.prevalence_p),
        (found.bound_uncorrected, lambda map_: map_.prevalence_p_uncorrected),
    ):
        assert bound[0] > 0.2
        at, beyond = (found_of(brains, gamma=float(bound[0, 0, 0]) + d) for d in (0.0, 1e-3))
        assert_allclose(p_of(at)[0], alpha, rtol=1e-9)
        assert p_of(beyond)[0] > alpha
        assert ((bound > 0) == (p_of(found_of(brains, gamma=0.0)) < alpha)).all()
    assert (found.bound <= found.bound_uncorrected).all()


def test_brains_and_voxels(brains: list[SearchLight]) -> None:
    other = MASK.copy()
    other[0], other[3] = False, True
    shared = found_of([brains[0], brain(1, mask=other)])
    assert_array_equal(shared.inside, MASK & other)
    alone = [brain(seed, mask=MASK & other) for seed in (0, 1)]
    assert_array_equal(shared.bound, found_of(alone).bound)
    assert_array_equal(shared.mean, found_of(alone).mean)
    many = found_of([brain(0, permutations=250), *brains[1:]])
    assert many.bound.max() > found_of(brains).bound.max()  # finer p-values
    image = found_of(brains).image(many.bound)
    assert_array_equal(np.asarray(image.dataobj), many.bound)


def test_a_group_without_information_and_one_with_too_few_brains(brains: list[SearchLight]) -> None:
    none = found_of([brain(seed, effect=0.0) for seed in range(5)], gamma=0.5)
    assert none.global_p.min() > 0.05
    assert not none.bound.any()
    with pytest.warns(SufficeWarning, match=r"gamma=0\.5 are 0\.\d+ or more with 3 brains"):
        group_map(brains)


def test_what_is_no_group(brains: list[SearchLight]) -> None:
    imgs = np.random.default_rng(0).normal(size=(5, 1, 1, 24))
    small = SearchLight(radius=0, permutations=20).fit(imgs[:2], Y, RUNS)
    three = SearchLight(MASK, radius=0, permutations=20).fit(imgs, np.tile([0, 1, 2], 8), RUNS)
    for group, sentence in (
        (brains[:1], "the number of brains is 1; "),
        ([brains[0], "brain"], "brain 1 is a str; "),
        ([brains[0], small], "brain 0 has 5 x 1 x 1 voxels, brain 1 has 2 x 1 x 1 voxels; "),
        ([brains[0], three], "brain 1 has 3 classes, brain 0 2; "),
        ([brains[0], brain(1, mask=~MASK)], "no voxel is scored in every brain; "),
    ):
        with pytest.raises(DataError) as refused:
            found_of(group)  # type: ignore[arg-type]
        assert str(refused.value).startswith(sentence)
    with pytest.raises(UnavailableError, match="no permuted map"):
        found_of([brains[0], brain(1, permutations=0)])
    for name, value in (("gamma", 1), ("gamma", "half"), ("alpha", 0), ("permutations", 0)):
        with pytest.raises(ParameterError, match=f"^{name}={value!r}; "):
            found_of(brains, **{name: value})
