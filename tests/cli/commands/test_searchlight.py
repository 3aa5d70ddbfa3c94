"""``suffice searchlight``: from files to maps, pictures and a summary; and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import Run

nibabel = pytest.importorskip("nibabel")

BLOCKS = ["a", "b", "a", "b"]
AFFINE = np.diag([3.0, 3.0, 3.0, 1.0])


def volumes(run: int) -> Any:
    """Sixteen volumes of 4 x 3 x 2 voxels, two runs of which tell a from b at x = 0."""
    rng = np.random.default_rng(run)
    data = rng.normal(500, 20, (4, 3, 2, 16))
    data[0] += 40 * (np.repeat(BLOCKS, 4) == "a")
    return data.astype(np.int16)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Three runs in files named by BIDS, the same in one file, a mask and attributes."""
    lines = []
    for run in range(3):
        name = f"sub-01_task-see_run-{run}"
        image = nibabel.Nifti1Image(volumes(run), AFFINE)
        nibabel.save(image, tmp_path / f"{name}_bold.nii.gz")
        lines += [f"{label} {run}" for label in np.repeat(BLOCKS, 4)]
    (tmp_path / "attributes.txt").write_text("\n".join(lines) + "\n")
    whole = np.concatenate([volumes(run) for run in range(3)], axis=3)
    nibabel.save(nibabel.Nifti1Image(whole, AFFINE), tmp_path / "bold.nii")
    mask = np.ones((4, 3, 2), np.uint8)
    mask[3, 2] = 0
    nibabel.save(nibabel.Nifti1Image(mask, AFFINE), tmp_path / "mask.nii.gz")
    return tmp_path


CUBE = "--shape cube --radius 1"
ONE = f"searchlight bold.nii --mask mask.nii.gz --labels attributes.txt {CUBE} -o map.nii.gz"


def values(path: str) -> Any:
    return np.asarray(nibabel.load(path).dataobj)


@pytest.mark.usefixtures("study")
def test_a_map_of_attributes(run: Run) -> None:
    done = run(*ONE.split())
    assert done.exit_code == 0, done.stderr
    assert "48 volumes of 2 classes, 3 folds, 22 searchlights" in done.stdout
    assert "best, around (0, " in done.stdout
    assert "chance (most frequent class)" in done.stdout
    found = values("map.nii.gz")
    assert found.dtype == np.float32
    assert found[0].min() > 0.9
    assert not found[3, 2].any()
    np.testing.assert_array_equal(nibabel.load("map.nii.gz").affine, AFFINE)


@pytest.mark.usefixtures("study")
def test_everything_at_once(run: Run) -> None:
    pytest.importorskip("matplotlib")
    asked = "--detrend run -p zscore=run --permutations 40 -p random_state=1 --png map.png "
    asked += "--maps maps --json --p-values p.nii.gz -p n_jobs=2"
    done = run(*ONE.split(), *asked.split())
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["permutations"] == 40
    assert facts["voxels_above"] == (values("map.nii.gz") > np.float32(facts["threshold"])).sum()
    assert facts["best"]["mm"] == [3 * i for i in facts["best"]["voxel"]]
    assert 0 < facts["whole_mask_p"] <= 1
    assert 0.5 < facts["whole_mask"] <= 1
    assert 0 < values("p.nii.gz").min() <= 0.05
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in Path("maps").iterdir()) == [
        "mean_a.nii.gz",
        "mean_b.nii.gz",
    ]
    assert set(facts["files"]) == {
        "map.nii.gz",
        "p.nii.gz",
        "map.png",
        *map(str, Path("maps").iterdir()),
    }
    told = run(*ONE.split(), "--png", "map.png", "--maps", "maps")
    assert told.stdout.splitlines()[-4:] == [
        f"    {name}" for name in facts["files"] if name != "p.nii.gz"
    ]
    again = run(*ONE.split(), *asked.partition(" --png")[0].split(), "--json")
    same = json.loads(again.stdout)
    assert same["threshold"] == facts["threshold"]


@pytest.mark.usefixtures("study")
def test_a_class_of_rest_is_remarked_upon(run: Run) -> None:
    labels = Path("attributes.txt")
    labels.write_text(labels.read_text().replace("b", "rest"))
    done = run(*ONE.split())
    assert done.exit_code == 0
    assert done.stderr.startswith("warning: class 'rest' has 24 of 48 volumes; ")
    assert done.stderr.endswith(": --leave-out rest.\n")


NEEDED = (
    "as in: suffice searchlight bold.nii --labels runs.txt --radius 6 -o "
    "map.nii; see suffice searchlight --help."
)
CASES = {
    "searchlight": f"Missing argument 'SCANS'; {NEEDED}",
    "searchlight bold.nii --radius 6": f"Missing option '--output' / '-o'; {NEEDED}",
    ONE.replace(CUBE, ""): (
        "--radius is not given; a searchlight has a size; for example --radius 6 (mm), or --shape "
        "cube --radius 1 (voxels)."
    ),
    ONE.replace("mask.nii.gz", "small.nii"): (
        "small.nii has 4 x 3 x 1 voxels of 3 x 3 x 3 mm from (0, 0, 0), bold.nii has 4 x 3 x 2 "
        "voxels of 3 x 3 x 3 mm from (0, 0, 0); all images share one grid; resample one to the "
        "other, for example with nilearn.image.resample_to_img."
    ),
    ONE.replace("mask.nii.gz", "empty.nii"): (
        "empty.nii has no voxel that is not zero; a mask marks the voxels to be used; check the "
        "mask."
    ),
    ONE.replace("attributes.txt", "short.txt"): (
        "there are 10 labels for the 48 volumes of bold.nii; every volume has one; check that "
        "they belong together."
    ),
    ONE.replace("attributes.txt", "one.txt"): (
        "run '1' shows one class, a; every run is held out in turn and tells two classes or more "
        "apart; join it with another run, or leave it out."
    ),
    ONE.replace("attributes.txt", "nothing.txt"): "nothing.txt: No such file or directory.",
    ONE.replace("bold.nii", "nan.nii"): (
        "volume 3 of nan.nii holds nan at voxel (1, 1, 1), and 1 such numbers in the mask; every "
        "number in the mask is finite, and its square too; mend the volume, leave it out, or take "
        "these voxels out of the mask."
    ),
    ONE.replace("bold.nii", "small.nii"): (
        "small.nii has 3 dimensions, 4 x 3 x 1; scans are 4-D: voxels in three directions, and "
        "volumes; give the 4-D image; pictures become one-slice volumes, x by y by 1 by number."
    ),
    ONE.replace("bold.nii", "cut.nii.gz"): (
        "cut.nii.gz is damaged or incomplete; its header promises more than it holds; get it again."
    ),
    ONE.replace("bold.nii", "attributes.txt"): (
        "attributes.txt is no image that nibabel can read; scans and masks are NIfTI images, .nii "
        "or .nii.gz."
    ),
    ONE.replace("bold.nii", "nothing.nii"): "there is no file nothing.nii.",
    f"{ONE} --leave-out rest": ("leave_out names the label 'rest'; the labels are 'a', 'b'."),
    f"{ONE} -p zscore=all": "--zscore all; it is None or 'run'.",
    f"{ONE} --permutations 5": (
        "--permutations 5; it is 0, or 19 or more: fewer cannot show that anything is "
        "significant at 5 %."
    ),
    f"{ONE} --p-values p.nii": (
        "--p-values is given without --permutations; p-values come from permuted labels."
    ),
    ONE.replace("map.nii.gz", "map.png"): (
        "--output map.png; a map is a NIfTI image; end the name in .nii.gz."
    ),
    ONE.replace("map.nii.gz", "mask.nii.gz"): (
        "--output mask.nii.gz is one of the files to be read; it would be replaced; choose "
        "another name."
    ),
    ONE.replace("map.nii.gz", "nowhere/map.nii.gz"): (
        "nowhere/map.nii.gz: No such file or directory."
    ),
}


@pytest.fixture
def bad_files(study: Path) -> None:
    def save(name: str, data: Any) -> None:
        nibabel.save(nibabel.Nifti1Image(data, AFFINE), study / name)

    save("small.nii", np.ones((4, 3, 1), np.uint8))
    save("empty.nii", np.zeros((4, 3, 2), np.uint8))
    holed = np.concatenate([volumes(run) for run in range(3)], axis=3).astype(np.float32)
    save("cut.nii.gz", holed)
    cut = study / "cut.nii.gz"
    cut.write_bytes(cut.read_bytes()[:-200])
    holed[1, 1, 1, 3] = np.nan
    save("nan.nii", holed)
    lines = (study / "attributes.txt").read_text().splitlines()
    (study / "short.txt").write_text("\n".join(lines[:10]))
    (study / "one.txt").write_text("\n".join(line.replace("b 1", "a 1") for line in lines))


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize("command", CASES)
def test_bad_input_is_one_sentence_and_no_file(run: Run, command: str, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(*command.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [f"error: {CASES[command]}"]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
