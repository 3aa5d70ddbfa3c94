"""Images, masks and labels that do not fit: one clear sentence each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suffice.errors import DataError, ParameterError, ReadError, SufficeError
from suffice.images import SearchLight

nibabel = pytest.importorskip("nibabel")


def refused(brain: Any, imgs: Any = None, y: Any = None, runs: Any = None, **options: Any) -> str:
    """What is said of a fit."""
    given = {"mask_img": brain.mask, "radius": 1, "shape": "cube"} | options
    with pytest.raises(SufficeError) as error:
        SearchLight(**given).fit(
            brain.imgs if imgs is None else imgs,
            brain.y if y is None else y,
            brain.runs if runs is None else runs,
        )
    assert isinstance(error.value, DataError | ParameterError)
    return str(error.value)


def test_a_mask_on_another_grid(brain: Any) -> None:
    one, other = np.diag([3.0, 3, 3, 1]), np.diag([3.0, 3, 4, 1])
    other[:3, 3] = 1, 2, 3
    mask = nibabel.Nifti1Image(brain.mask.astype(np.uint8), other)
    assert refused(brain, nibabel.Nifti1Image(brain.imgs, one), mask_img=mask).startswith(
        "the mask has 5 x 4 x 3 voxels of 3 x 3 x 4 mm from (1, 2, 3), the image has "
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"mask_img": np.ones((5, 4, 2))},
            "the mask has 5 x 4 x 2 voxels, the image has 5 x 4 x 3 voxels; ",
        ),
        ({"y": ["d"] * 2 + ["a", "b", "c"] * 11 + ["a"]}, "class d occurs only in run '0'; "),
        ({"runs": np.zeros(36)}, "there is one run, '0.0'; a searchlight"),
        ({"y": ["a"] * 36}, "every label is a; a classifier needs two"),
        ({"y": [None] * 36}, "no volume has a label; a classifier needs"),
        ({"y": list("abcab") * 7}, "there are 35 labels for the 36 volumes of the image; "),
        ({"runs": list(range(35))}, "there are 35 groups for the 36 volumes"),
        ({"imgs": {"a": 1}}, "the image is a dict; an image is a path"),
    ],
)
def test_what_does_not_fit(brain: Any, given: Any, sentence: str) -> None:
    assert refused(brain, **given).startswith(sentence)


def test_a_class_that_was_not_shown(brain: Any) -> None:
    light = SearchLight(brain.mask, radius=1, shape="cube").fit(brain.imgs, brain.y, brain.runs)
    with pytest.raises(ParameterError, match="there is no class 'd'; the classes are 'a', 'b'"):
        light.class_mean_img("d")


def test_a_label_that_is_left_out_occurs(brain: Any) -> None:
    assert refused(brain, leave_out=["rest"]) == (
        "leave_out names the label 'rest'; the labels are "
        + ", ".join(map(repr, dict.fromkeys(brain.y.tolist())))
        + "."
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_numbers_that_are_none(brain: Any, bad: float) -> None:
    brain.imgs[2, 1, 0, 7] = bad
    assert refused(brain).startswith(
        f"volume 7 of the image holds {bad} at voxel (2, 1, 0), and 1 such numbers in the mask; "
    )
    left_out = np.array(brain.y, object)
    left_out[7] = None
    light = SearchLight(brain.mask, radius=1, shape="cube").fit(brain.imgs, left_out, brain.runs)
    assert np.isfinite(light.scores_).all()


def test_what_is_no_image(brain: Any, tmp_path: Any) -> None:
    path = tmp_path / "bold.nii"
    assert refused(brain, path) == f"there is no file {path}."
    path.write_text("no image")
    assert refused(brain, path).startswith(f"{path} is no image that nibabel can read; scans and")
    assert refused(brain, []) == "there is no image; a searchlight needs one 4-D image at least."
    assert refused(brain, brain.imgs.astype(complex)).startswith("the image holds complex128")


@pytest.mark.parametrize("suffix", [".nii", ".nii.gz"])
def test_a_file_that_is_cut_off(brain: Any, tmp_path: Any, suffix: str) -> None:
    path = tmp_path / f"bold{suffix}"
    nibabel.save(nibabel.Nifti1Image(brain.imgs, np.eye(4)), path)
    whole = path.read_bytes()
    for length in (len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:length])
        with pytest.raises(ReadError) as error:
            SearchLight(brain.mask, radius=1, shape="cube").fit(path, brain.y, brain.runs)
        assert str(error.value).startswith(f"{path} is damaged or incomplete; ")


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, ">i2", np.float32, np.float64])
@pytest.mark.parametrize("scaled", [False, True])
def test_numbers_are_read_as_nibabel_reads_them(
    brain: Any, tmp_path: Any, dtype: Any, scaled: bool
) -> None:
    image = nibabel.Nifti1Image(brain.imgs.round().astype(np.dtype(dtype).newbyteorder("=")), None)
    image = nibabel.Nifti1Image(np.asarray(image.dataobj), np.eye(4))
    if np.dtype(dtype).byteorder == ">":
        image = nibabel.Nifti1Image(
            np.asarray(image.dataobj), np.eye(4), image.header.as_byteswapped(">")
        )
    if scaled:
        image.header.set_slope_inter(0.0123, -7.5)
    nibabel.save(image, tmp_path / "bold.nii.gz")
    read = np.asarray(nibabel.load(tmp_path / "bold.nii.gz").dataobj)
    given = [tmp_path / "bold.nii.gz", read]
    one, two = (
        SearchLight(brain.mask, radius=1, shape="cube").fit(imgs, brain.y, brain.runs)
        for imgs in given
    )
    assert one.predictions_.tobytes() == two.predictions_.tobytes()
    np.testing.assert_array_equal(
        np.asarray(one.class_mean_img("a").dataobj), np.asarray(two.class_mean_img("a").dataobj)
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"zscore": "all"}, "zscore='all'; it is None or 'run'."),
        ({"detrend": True}, "detrend=True; it is None or 'run'."),
        ({"permutations": 5}, "permutations=5; it is 0, or 19 or more: fewer cannot show"),
        ({"permutations": "all"}, "permutations='all'; it is 0, or 19 or more"),
        ({"n_jobs": 0}, "n_jobs=0; it is a number of threads, or -1 for all"),
        ({"random_state": -1, "permutations": 20}, "random_state=-1; it is a whole number"),
    ],
)
def test_options_outside_their_rule(brain: Any, options: Any, sentence: str) -> None:
    assert refused(brain, **options).startswith(sentence)
