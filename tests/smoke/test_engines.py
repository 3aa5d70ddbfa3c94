"""Where rows are summed and validated: threads, checkpoints, folds, grids; brain images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.running import on
from tests.smoke.cases import answers, make, rows_of, table


@pytest.fixture
def parquet(folder: Path) -> str:
    """Sixty rows in five row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = table("numbers")
    columns = {f"x{j}": X[:, j] for j in range(4)} | {"y": y.astype(str)}
    pq.write_table(pa.table(columns), "rows.parquet", row_group_size=12)
    return "rows.parquet"


@pytest.mark.parametrize("name", ["GaussianNB", "LinearDiscriminantAnalysis"])
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_no_bit(parquet: str, name: str, threads: int) -> None:
    import suffice

    X, y = rows_of(name)
    found = on(suffice.engine("local", threads=threads), make(name)).fit(parquet, "y")
    whole = make(name).fit({f"x{j}": X[:, j] for j in range(4)} | {"y": y}, "y")
    assert answers(found, parquet).tobytes() == answers(whole, parquet).tobytes()


def test_an_engine_is_chosen_for_all(parquet: str) -> None:
    import suffice

    try:
        suffice.set_engine("local", threads=2)
        found = make("GaussianNB").fit(parquet, "y")
    finally:
        suffice.set_engine()
    assert answers(found, parquet).tobytes() == (
        answers(make("GaussianNB").fit(parquet, "y"), parquet).tobytes()
    )


def test_a_checkpoint_is_gone_after_the_fit(parquet: str) -> None:
    import suffice

    engine = suffice.engine("local", checkpoint="fit.checkpoint")
    found = on(engine, make("GaussianNB")).fit(parquet, "y")
    assert not Path("fit.checkpoint").exists()
    plain = make("GaussianNB").fit(parquet, "y")
    assert answers(found, parquet).tobytes() == answers(plain, parquet).tobytes()


def test_an_unknown_engine_is_refused() -> None:
    from suffice import engine
    from suffice.errors import ParameterError

    with pytest.raises(ParameterError, match="nowhere"):
        engine("nowhere")


def test_streams_forget_slowly() -> None:
    """With decay ½ the rows of the first batch count half."""
    from suffice import NaiveBayes

    model = NaiveBayes.textbook()
    model.partial_fit({"x": ["a"] * 4, "y": [0, 0, 0, 1]}, "y", classes=[0, 1])
    model.partial_fit({"x": ["b"] * 2, "y": [1, 1]}, "y", decay=0.5)
    assert_allclose(model.class_count_, [1.5, 2.5], rtol=1e-14)


def test_a_window_keeps_the_last_batches() -> None:
    from suffice import NaiveBayes

    model = NaiveBayes.textbook()
    for label in ("a", "b", "c"):
        rows = {"x": ["u", "v"], "y": [label] * 2}
        model.partial_fit(rows, "y", classes=["a", "b", "c"], window=2)
    assert_allclose(model.class_count_, [0, 2, 2], rtol=1e-14)


# -- model selection


def test_cross_validation_of_a_metric() -> None:
    from sklearn.model_selection import cross_val_score as theirs

    from suffice.model_selection import cross_val_score

    X, y = table("numbers")
    model = make("GaussianNB")
    assert_allclose(cross_val_score(model, X, y, cv=4), theirs(model, X, y, cv=4), rtol=1e-12)


@pytest.mark.parametrize("name", ["GaussianNB", "LinearDiscriminantAnalysis", "LinearRegression"])
def test_leave_one_out_is_n_fits(name: str) -> None:
    from sklearn.model_selection import LeaveOneOut

    from suffice.model_selection import cross_val_predict

    X, y = rows_of(name)
    found = cross_val_predict(make(name), X, y, cv=LeaveOneOut())
    for i in range(0, 60, 6):
        keep = np.arange(60) != i
        expected = make(name).fit(X[keep], y[keep]).predict(X[[i]])[0]
        assert found[i] == (pytest.approx(expected) if name == "LinearRegression" else expected)


def test_cross_validate_scores_training_rows_too() -> None:
    from sklearn.model_selection import cross_validate as theirs

    from suffice.model_selection import cross_validate

    X, y = table("target")
    ours = cross_validate(make("Ridge"), X, y, cv=3, return_train_score=True)
    expected = theirs(make("Ridge"), X, y, cv=3, return_train_score=True)
    for key in ("test_score", "train_score"):
        assert_allclose(ours[key], expected[key], rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("Ridge", {"alpha": [0.01, 1.0, 100.0]}),
        ("GaussianNB", {"var_smoothing": [1e-9, 0.1, 1.0]}),
        ("LogisticRegression", {"C": [0.01, 1.0]}),
    ],
)
def test_grid_search_ranks_as_scikit_learn_does(name: str, grid: dict[str, Any]) -> None:
    import sklearn.model_selection

    from suffice.model_selection import GridSearchCV

    X, y = rows_of(name)
    ours = GridSearchCV(make(name), grid, cv=3).fit(X, y)
    theirs = sklearn.model_selection.GridSearchCV(make(name), grid, cv=3).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    for key in ("mean_test_score", "rank_test_score"):
        assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=1e-10)


def test_folds_of_a_file_are_those_of_its_rows(parquet: str) -> None:
    from sklearn.model_selection import KFold

    from suffice.model_selection import evaluate_folds

    X, y = table("numbers")
    found = evaluate_folds(make("GaussianNB"), parquet, "y", cv=3)
    for fold, (train, test) in zip(found.folds, KFold(3).split(X), strict=True):
        model = make("GaussianNB").fit(X[train], y[train])
        assert fold.accuracy == pytest.approx(model.score(X[test], y[test]))


def test_the_best_of_several_models() -> None:
    from sklearn.model_selection import train_test_split

    X, y = table("numbers")
    train, test, labels, truth = train_test_split(X, y, random_state=0, stratify=y)
    model = make("AutoClassifier").fit(train, labels)
    assert model.score(test, truth) > 0.6
    assert_allclose(model.predict_proba(test).sum(axis=1), 1, rtol=1e-12)
    assert 1 <= len(model.members_) <= 2


# -- probabilities worth trusting


def test_sets_of_classes_cover() -> None:
    X, y = table("numbers")
    model = make("NaiveBayes").fit(X, y)
    sets = model.predict_set(X, coverage=0.9)
    assert sets[np.arange(60), np.searchsorted(model.classes_, y)].mean() > 0.8
    assert sets.sum() < 3 * 60


def test_intervals_of_probabilities_hold_the_probability() -> None:
    from suffice import NaiveBayes

    rows = {"x": ["a"] * 30 + ["b"] * 30, "y": ([0] * 20 + [1] * 10) + ([0] * 10 + [1] * 20)}
    model = NaiveBayes.textbook().fit(rows, "y")
    few = model.predict_proba_interval({"x": ["a"]})[0]
    proba = model.predict_proba({"x": ["a"]})[0]
    assert np.all(few[..., 0] < proba)
    assert np.all(proba < few[..., 1])


# -- brain images


@pytest.fixture(scope="module")
def brain() -> Any:
    """4 x 3 x 3 voxels, 3 runs of 8 volumes, two classes that differ on the left."""
    rng = np.random.default_rng(1)
    y, runs = np.tile(np.repeat(["face", "house"], 2), 6), np.repeat([0, 1, 2], 8)
    images = rng.normal(100, 5, (4, 3, 3, 24))
    images[:2] += 8 * (y == "face")
    return images, y, runs


def light(brain: Any, **options: Any) -> Any:
    from suffice.images import SearchLight

    images, y, runs = brain
    mask = np.ones(images.shape[:3], bool)
    return SearchLight(mask, radius=1, shape="cube", **options).fit(images, y, runs)


def test_the_searchlight_is_naive_bayes_of_27_voxels(brain: Any) -> None:
    from sklearn.naive_bayes import GaussianNB

    images, y, runs = brain
    found = light(brain)
    near = images[0:3, 0:3, 0:3].reshape(-1, 24).T  # around voxel (1, 1, 1)
    correct = [
        GaussianNB().fit(near[runs != r], y[runs != r]).predict(near[runs == r]) == y[runs == r]
        for r in range(3)
    ]
    assert found.scores_[1, 1, 1] == pytest.approx(np.mean(correct))
    assert found.scores_[:2].mean() > found.scores_[3].mean()


def test_mean_maps_of_classes(brain: Any) -> None:
    images, y, _ = brain
    found = light(brain).class_mean_img("face")
    values = np.asarray(found.dataobj if hasattr(found, "dataobj") else found)
    assert_allclose(values, images[..., y == "face"].mean(axis=-1), rtol=1e-6)


def test_a_threshold_from_permuted_labels(brain: Any) -> None:
    found = light(brain, permutations=20, random_state=0)
    assert len(found.null_max_) == 20
    assert 0.5 <= found.fwe_threshold_ <= 1


def test_the_whole_mask_is_classified(brain: Any) -> None:
    from sklearn.naive_bayes import GaussianNB

    images, y, runs = brain
    rows = images.reshape(-1, 24).T
    correct = [
        GaussianNB().fit(rows[runs != r], y[runs != r]).predict(rows[runs == r]) == y[runs == r]
        for r in range(3)
    ]
    assert light(brain).whole_mask_score_ == pytest.approx(np.mean(correct))


def test_the_command_of_the_searchlight(brain: Any, suffice_command: Any) -> None:
    nibabel = pytest.importorskip("nibabel")
    images, y, runs = brain
    nibabel.Nifti1Image(images, np.eye(4)).to_filename("bold.nii.gz")
    Path("labels.txt").write_text("".join(f"{c} {r}\n" for c, r in zip(y, runs, strict=True)))
    suffice_command(
        "searchlight bold.nii.gz --labels labels.txt --shape cube --radius 1 -o map.nii.gz"
    )
    found = nibabel.load("map.nii.gz").get_fdata()
    assert_array_equal(np.round(found, 6), np.round(light(brain).scores_, 6))
