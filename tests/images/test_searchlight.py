"""The searchlight on small brains: brute force, laws, permutations, images of classes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.signal import detrend
from sklearn.naive_bayes import GaussianNB

from suffice.errors import SufficeWarning
from suffice.images import SearchLight

nibabel = pytest.importorskip("nibabel")

CUBE: dict[str, Any] = {"radius": 1, "shape": "cube"}


def light_of(brain: Any, **options: Any) -> SearchLight:
    light = SearchLight(brain.mask, **(CUBE | options))
    return light.fit(brain.imgs, brain.y, brain.runs)


def around(brain: Any, voxel: Any) -> Any:
    """The voxels of a 3 x 3 x 3 cube that are in the mask."""
    near = np.zeros_like(brain.mask)
    near[tuple(slice(max(i - 1, 0), i + 2) for i in voxel)] = True
    return near & brain.mask


def refitted(brain: Any, model: Any, near: Any) -> Any:
    """What a model predicts that is fitted again for every run."""
    x = brain.imgs[near].T
    found = np.empty(len(brain.y), object)
    for run in np.unique(brain.runs):
        here = brain.runs == run
        found[here] = model().fit(x[~here], brain.y[~here]).predict(x[here])
    return found


# -- against models that are fitted again


def test_predictions_are_those_of_scikit_learn(brain: Any) -> None:
    light = light_of(brain)
    voxels = np.argwhere(brain.mask)
    for centre, voxel in enumerate(voxels):
        expected = refitted(brain, GaussianNB, around(brain, voxel))
        assert_array_equal(light.classes_[light.predictions_[:, centre]], expected)
        assert light.masked_scores_[centre] == pytest.approx((expected == brain.y).mean())


def test_only_the_process_mask_is_scored_and_all_of_the_mask_is_used(brain: Any) -> None:
    some = np.zeros_like(brain.mask)
    some[1:3, 1:3] = True
    part, whole = light_of(brain, process_mask_img=some), light_of(brain)
    assert_array_equal(part.scores_[some], whole.scores_[some])
    assert not part.scores_[~some].any()
    assert part.n_elements_ == some.sum()


# -- laws


def test_the_number_of_threads_changes_no_bit(brain: Any) -> None:
    one, *others = (
        light_of(brain, n_jobs=n, permutations=40, random_state=3) for n in (1, 2, 5, -1)
    )
    for other in others:
        assert one.predictions_.tobytes() == other.predictions_.tobytes()
        assert one.null_max_.tobytes() == other.null_max_.tobytes()
        assert one.fwe_p_img_.to_bytes() == other.fwe_p_img_.to_bytes()


def test_the_unit_of_a_voxel_changes_nothing(brain: Any) -> None:
    # scikit-learn adds a share of the largest variance to all, so a loud voxel swamps the others.
    before = light_of(brain).predictions_
    brain.imgs[2, 2, 1] *= 2.0**20
    assert_array_equal(light_of(brain).predictions_, before)
    options = {"detrend": "run", "zscore": "run"}
    before = light_of(brain, **options).predictions_
    brain.imgs[1, 1] += 2.0**12
    assert_array_equal(light_of(brain, **options).predictions_, before)


def test_the_order_of_runs_and_of_volumes_in_them_changes_no_count(brain: Any) -> None:
    before = light_of(brain)
    order = np.random.default_rng(0).permutation(36)
    mixed = SearchLight(brain.mask, **CUBE)
    mixed.fit(brain.imgs[..., order], brain.y[order], brain.runs[order])
    assert_array_equal(mixed.predictions_, before.predictions_[order])
    assert_array_equal(mixed.correct_, before.correct_)


def test_a_voxel_without_spread_says_nothing(brain: Any) -> None:
    flat = brain.imgs.copy()
    flat[2, 2, 1] = 7.3
    flat[2, 2, 1, 0] = 7.3 + 1e-3  # spread in the first run only
    without = brain.mask.copy()
    without[2, 2, 1] = False
    one = SearchLight(brain.mask, **CUBE).fit(flat, brain.y, brain.runs)
    other = SearchLight(without, brain.mask, **CUBE).fit(flat, brain.y, brain.runs)
    first = brain.runs == 0
    assert_array_equal(one.predictions_[first], other.predictions_[first])


def test_z_scores_are_of_all_volumes_of_a_run(brain: Any) -> None:
    y = np.where(np.arange(36) % 5 == 0, "rest", brain.y)
    given = brain.imgs.copy()
    for run in range(3):
        here = brain.runs == run
        brain.imgs[..., here] *= run + 2
        brain.imgs[..., here] += 100 * run
        z = given[..., here] - given[..., here].mean(axis=3, keepdims=True)
        given[..., here] = z / z.std(axis=3, keepdims=True)
    ours = SearchLight(brain.mask, leave_out=["rest"], zscore="run", **CUBE)
    theirs = SearchLight(brain.mask, leave_out=["rest"], **CUBE)
    ours.fit(brain.imgs, y, brain.runs)
    theirs.fit(given, y, brain.runs)
    assert_array_equal(ours.predictions_, theirs.predictions_)
    assert_allclose(
        np.asarray(ours.class_mean_img("a").dataobj),
        np.asarray(theirs.class_mean_img("a").dataobj),
        rtol=1e-10,
        atol=1e-12,
    )


@pytest.mark.parametrize("zscore", [None, "run"])
def test_trends_are_those_of_scipy_in_every_run(brain: Any, zscore: str | None) -> None:
    y = np.where(np.arange(36) % 5 == 0, "pause", brain.y)
    order = np.random.default_rng(0).permutation(36)  # runs lie across one another
    runs, given = brain.runs[order], brain.imgs[..., order]
    flat = given.copy()
    for run in range(3):
        here = runs == run
        given[..., here] += (np.arange(12) - 30.0) * 1000 * (run + 1)
        flat[..., here] = detrend(flat[..., here], axis=3)
        if zscore:
            flat[..., here] /= flat[..., here].std(axis=3, keepdims=True)
    ours = SearchLight(brain.mask, leave_out=["pause"], detrend="run", zscore=zscore, **CUBE)
    theirs = SearchLight(brain.mask, leave_out=["pause"], **CUBE)
    ours.fit(given, y[order], runs)
    theirs.fit(flat, y[order], runs)
    assert_array_equal(ours.predictions_, theirs.predictions_)
    for c in "abc":
        assert_allclose(
            np.asarray(ours.class_mean_img(c).dataobj),
            np.asarray(theirs.class_mean_img(c).dataobj),
            rtol=1e-9,
            atol=1e-10,
        )


def test_a_voxel_on_a_line_says_nothing(brain: Any) -> None:
    brain.imgs[2, 2, 1] = 1e4 + 0.1 * np.arange(36)
    without = brain.mask.copy()
    without[2, 2, 1] = False
    options: dict[str, Any] = {"detrend": "run", "zscore": "run"} | CUBE
    one = SearchLight(brain.mask, **options).fit(brain.imgs, brain.y, brain.runs)
    other = SearchLight(without, brain.mask, **options).fit(brain.imgs, brain.y, brain.runs)
    assert not np.asarray(one.class_mean_img("a").dataobj)[2, 2, 1]
    assert_array_equal(one.predictions_, other.predictions_)


# -- warnings


@pytest.mark.parametrize("name", ["rest", "Baseline", "fixation"])
def test_a_class_that_is_named_rest_is_remarked_upon(brain: Any, name: str) -> None:
    y = np.where(brain.y == "c", name, brain.y)
    told = rf"class '{name}' has 12 of 36 volumes; .*leave_out=\['{name}'\]$"
    with pytest.warns(SufficeWarning, match=told):
        SearchLight(brain.mask, **CUBE).fit(brain.imgs, y, brain.runs)
    SearchLight(brain.mask, leave_out=[name], **CUBE).fit(brain.imgs, y, brain.runs)


def test_a_class_of_five_times_the_volumes_is_remarked_upon() -> None:
    imgs, runs = np.random.default_rng(0).normal(size=(2, 1, 1, 28)), np.repeat([0, 1], 14)
    with pytest.warns(SufficeWarning, match="class 0 has 20 of 28 volumes; "):
        SearchLight(**CUBE).fit(imgs, np.tile([0] * 10 + [1, 1, 2, 2], 2), runs)
    SearchLight(**CUBE).fit(imgs, np.tile([0] * 10 + [1, 1, 1, 2], 2), runs)


# -- permutations


def test_maps_of_permuted_labels_are_those_of_fits_to_them(brain: Any) -> None:
    light = light_of(brain, permutations=30, random_state=5)
    rng = np.random.default_rng(5)
    runs = []
    for run in range(3):
        groups = itertools.groupby(brain.y[brain.runs == run].tolist())
        blocks = [(label, len(list(volumes))) for label, volumes in groups]
        labels, lengths = zip(*blocks, strict=True)
        runs.append(np.repeat(rng.permuted(np.tile(labels, (30, 1)), axis=1), lengths, axis=1))
    maps = [
        SearchLight(brain.mask, **CUBE).fit(brain.imgs, y, brain.runs)
        for y in np.concatenate(runs, axis=1)
    ]
    assert_array_equal(light.null_max_, [one.masked_scores_.max() for one in maps])
    whole = np.array([one.whole_mask_score_ for one in maps])
    assert light.whole_mask_p_ == (1 + (whole >= light.whole_mask_score_).sum()) / 31


def test_drawn_p_values_count_the_observed_labelling(brain: Any) -> None:
    light = light_of(brain, permutations=99, random_state=0)
    p = np.asarray(light.fwe_p_img_.dataobj)[brain.mask]
    as_large = (light.null_max_[:, None] >= light.masked_scores_).sum(axis=0)
    assert_array_equal(p, (1 + as_large) / 100)
    above = light.masked_scores_ > light.fwe_threshold_
    assert_array_equal(above, p <= 0.05)


# -- images


def test_mean_maps_of_classes(brain: Any) -> None:
    found = np.asarray(light_of(brain).class_mean_img("a").dataobj)
    expected = brain.imgs[..., brain.y == "a"].mean(axis=3)
    assert_allclose(found[brain.mask], expected[brain.mask], rtol=1e-12)
    assert not found[~brain.mask].any()


def test_images_keep_the_grid(brain: Any) -> None:
    affine = np.diag([-3.0, 3, 4, 1])
    affine[:3, 3] = 90, -120, -60
    mask = nibabel.Nifti1Image(brain.mask.astype(np.uint8), affine)
    light = SearchLight(mask, **CUBE).fit(
        nibabel.Nifti1Image(brain.imgs, affine), brain.y, brain.runs
    )
    assert_array_equal(light.scores_img_.affine, affine)
    assert_array_equal(np.asarray(light.scores_img_.dataobj), light.scores_)
    best = light.best_voxel_
    assert light.scores_[best] == light.scores_.max()
    assert_allclose(light.grid_.position(best), (affine @ [*best, 1])[:3])


def test_an_array_lies_on_the_grid_of_the_scans(brain: Any) -> None:
    affine = np.diag([3.0, 3, 3, 1])
    scans = nibabel.Nifti1Image(brain.imgs, affine)
    masks = brain.mask, nibabel.Nifti1Image(brain.mask.astype(np.uint8), affine)
    one, other = (SearchLight(mask, radius=3).fit(scans, brain.y, brain.runs) for mask in masks)
    assert_array_equal(one.predictions_, other.predictions_)
    assert_array_equal(one.scores_img_.affine, affine)
