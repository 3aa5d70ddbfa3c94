"""The slice of the Haxby study: the counts of scikit-learn and the map of nilearn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from suffice.images import SearchLight

nibabel = pytest.importorskip("nibabel")

SHAPES = {
    "cube": {"shape": "cube", "radius": 1},
    "ball 6 mm": {"shape": "ball", "radius": 6.0},
    "ball 12 mm": {"shape": "ball", "radius": 12.2},
}


def slice_of(haxby: Any) -> tuple[Any, Any, Any]:
    """Volumes (t, v) in double precision, the mask, and which volumes have a class."""
    mask = np.asarray(nibabel.load(haxby.mask).dataobj) > 0
    return np.asarray(nibabel.load(haxby.bold).dataobj, float)[mask].T, mask, haxby.y != "rest"


def cleaned(x: Any, runs: Any) -> Any:
    """Linear trends taken out run by run, and standardised."""
    x = x.copy()
    for run in np.unique(runs):
        time = np.linspace(-1, 1, (runs == run).sum())
        design = np.stack([np.ones_like(time), time], axis=1)
        x[runs == run] -= design @ np.linalg.lstsq(design, x[runs == run], rcond=None)[0]
        x[runs == run] /= x[runs == run].std(axis=0)
    return x


def neighbours(mask: Any, shape: str, radius: float) -> list[Any]:
    """The voxels near each voxel, by brute force."""
    voxels = np.argwhere(mask)
    step = np.array([3.1, 3.75, 3.75])
    apart = abs(voxels[:, None] - voxels)
    if shape == "cube":
        return list((apart <= radius).all(axis=2))
    return list(((apart * step) ** 2).sum(axis=2) <= radius**2)


@pytest.mark.parametrize("clean", [False, True], ids=["raw", "cleaned"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("step", [106, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_counts_are_those_of_scikit_learn(haxby: Any, shape: str, clean: bool, step: int) -> None:
    x, mask, shown = slice_of(haxby)
    if clean:
        x = cleaned(x, haxby.runs)
    imgs = np.zeros((*mask.shape, len(x)))
    imgs[mask] = x.T
    affine = nibabel.load(haxby.mask).affine
    light = SearchLight(haxby.mask, leave_out=["rest"], **SHAPES[shape])
    light.fit(nibabel.Nifti1Image(imgs, affine), haxby.y, haxby.runs)
    y, runs, folds = haxby.y[shown], haxby.runs[shown], LeaveOneGroupOut()
    centres = range(0, mask.sum(), step)  # 530 searchlights of scikit-learn take half a minute
    near = neighbours(mask, **SHAPES[shape])
    for centre in centres:
        found = cross_val_predict(GaussianNB(), x[shown][:, near[centre]], y, groups=runs, cv=folds)
        right = found == y
        counts = [right[runs == run].sum() for run in np.unique(runs)]
        np.testing.assert_array_equal(light.correct_[:, centre], counts)
        np.testing.assert_array_equal(light.classes_[light.predictions_[:, centre]], found)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # nilearn warns of every estimator that is not its own
@pytest.mark.parametrize("clean", [False, True], ids=["raw", "cleaned"])
def test_the_map_of_nilearn_but_for_its_single_precision(haxby: Any, clean: bool) -> None:
    decoding = pytest.importorskip("nilearn.decoding")
    x, mask, shown = slice_of(haxby)
    if clean:
        x = cleaned(x, haxby.runs)
    imgs = np.zeros((*mask.shape, shown.sum()))
    imgs[mask] = x[shown].T
    bold = nibabel.Nifti1Image(imgs, nibabel.load(haxby.mask).affine)
    mask_img = nibabel.load(haxby.mask)
    theirs = decoding.SearchLight(
        mask_img, radius=6.15, estimator=GaussianNB(), cv=LeaveOneGroupOut(), n_jobs=1
    )
    theirs.fit(bold, haxby.y[shown], haxby.runs[shown])
    ours = SearchLight(mask_img, radius=6.15).fit(bold, haxby.y[shown], haxby.runs[shown])
    volumes = abs(ours.scores_ - theirs.scores_)[mask] * shown.sum()
    assert volumes.max() < 1.5
    assert (volumes > 0.5).sum() <= 1


def test_a_run_at_a_time_or_all_at_once_is_the_same_to_the_bit(haxby: Any, tmp_path: Any) -> None:
    bold = nibabel.load(haxby.bold)
    data = np.asarray(bold.dataobj)
    for run in range(12):
        part = nibabel.Nifti1Image(data[..., haxby.runs == run], bold.affine, bold.header)
        nibabel.save(part, tmp_path / f"run-{run:02}_bold.nii{'.gz' * (run % 2)}")
    files = sorted(tmp_path.iterdir())
    in_memory = nibabel.Nifti1Image(data, bold.affine)
    for zscore in (None, "run"):
        light = SearchLight(haxby.mask, None, 1, "cube", zscore=zscore, leave_out=["rest"])
        one = light.fit(haxby.bold, haxby.y, haxby.runs)
        for others in (files, in_memory, nibabel.Nifti1Image(np.ascontiguousarray(data), None)):
            two = SearchLight(haxby.mask, None, 1, "cube", zscore=zscore, leave_out=["rest"])
            if others is not files and others.affine is None:
                others = np.ascontiguousarray(data)
            two.fit(others, haxby.y, haxby.runs)
            assert one.predictions_.tobytes() == two.predictions_.tobytes()
            for c in one.classes_:
                means = (light.class_mean_img(c).dataobj for light in (one, two))
                np.testing.assert_array_equal(*map(np.asarray, means))


@pytest.mark.exhaustive
def test_a_thousand_other_maps_pass_the_threshold_as_often_as_they_should(haxby: Any) -> None:
    def null(seed: int) -> SearchLight:
        light = SearchLight(
            haxby.mask, None, 1, "cube", leave_out=["rest"], zscore="run", permutations=1000,
            random_state=seed, n_jobs=2,
        )  # fmt: skip
        return light.fit(haxby.bold, haxby.y, haxby.runs)

    one, other = null(0), null(1)
    assert 0.03 <= (other.null_max_ > one.fwe_threshold_).mean() <= 0.07
    assert (one.masked_scores_ > one.fwe_threshold_).sum() > 100
