"""What is measured: our call, a peer's on the same rows, and the least that is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import mixed_file, rows
from benchmarks.measure import Call, peak
from benchmarks.mixed_file import LABEL, LEVELS
from benchmarks.rows import Rows

__all__ = ["BY_NAME", "Task", "memory_of", "polars_sums"]

MILLION = 1_000_000
BATCHES = 10
WARM_ROWS = 1_000
DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[2] / "shared" / "data"))
ANSWER = """
import numpy as np
from {library}.naive_bayes import GaussianNB
x, y = np.random.default_rng(0).normal(size=(150, 4)), np.arange(150) % 3
GaussianNB().fit(x, y).predict_proba(x)
"""

Prepared = Callable[[Any], Call]
Pair = tuple[Prepared, Prepared]


@dataclass(frozen=True)
class Task:
    """Our call and a peer's.

    Parameters
    ----------
    make : callable
        From a number of rows to what is given to both.
    calls : pair of callables
        Ours and theirs: from what is given to the call that is timed.
    asked : mapping from "cpu" or "wall" to the least ratio of their seconds to ours
    most : float, optional
        MB at the peak of our call, over input and result; measured where it is given.
    share : float
        Part of their work that is timed, where all of its parts are alike.
    quick : int, optional
        Rows of a quick run; a hundredth, and at least 150, by default.
    """

    name: str
    make: Callable[[int], Any]
    n: int
    calls: Pair
    asked: Mapping[str, float] = field(default_factory=dict)
    most: float | None = None
    peer: str = "sklearn"
    share: float = 1.0
    quick: int | None = None


# Fits and answers of classes that both libraries have ---------------------------------------------


def _methods(module: str, model: str, *methods: str, ours: Any = None, **theirs: Any) -> Pair:
    """Methods that are called one after the other; what comes before `predict` is not timed."""

    def of(library: str, options: Mapping[str, Any]) -> Prepared:
        def prepare(given: Rows) -> Call:
            cls = getattr(import_module(f"{library}.{module}"), model)
            if "fit" in methods:
                return lambda: _learn(cls(**options), given, *methods[1:])
            fitted = cls(**options).fit(given.x, given.y)
            return partial(getattr(fitted, methods[0]), given.x)

        return prepare

    return of("suffice", ours or {}), of("sklearn", theirs)


def _learn(model: Any, given: Rows, *then: str) -> Any:
    model.fit(given.x, given.y)
    return getattr(model, then[0])(given.x) if then else model


def _in_batches(given: Rows) -> Call:
    from suffice.naive_bayes import GaussianNB

    edges = np.arange(BATCHES + 1) * len(given.y) // BATCHES

    def learn() -> Any:
        model = GaussianNB()
        for first, end in pairwise(edges):
            model.partial_fit(given.x[first:end], given.y[first:end], given.classes)
        return model

    return learn


def _first_answer(library: str) -> Prepared:
    """Import, fit and `predict_proba` in a new process."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", ANSWER.format(library=library)]
    return lambda _: lambda: subprocess.run(command, check=True, env=kept)


# Cross-validation --------------------------------------------------------------------------------


def _folds(model: str, module: str, cv: Any, timed: int) -> Pair:
    """All folds by us, the first ones by scikit-learn."""

    def ours(given: Rows) -> Call:
        from suffice.model_selection import cross_validate

        cls = getattr(import_module(f"suffice.{module}"), model)
        return lambda: cross_validate(cls(), given.x, given.y, cv=cv)

    def theirs(given: Rows) -> Call:
        from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_validate

        cls = getattr(import_module(f"sklearn.{module}"), model)
        splitter = LeaveOneOut() if cv == "loo" else StratifiedKFold(cv)
        folds = list(splitter.split(given.x, given.y))[:timed]
        return lambda: cross_validate(cls(), given.x, given.y, cv=folds)

    return ours, theirs


def _grid(library: str, points: int, folds: int) -> Prepared:
    def prepare(given: Rows) -> Call:
        from sklearn.model_selection import StratifiedKFold

        search = import_module(f"{library}.model_selection").GridSearchCV
        cls = import_module(f"{library}.naive_bayes").CategoricalNB
        alphas = {"alpha": np.logspace(-3, 2, 20)[:points].tolist()}
        first = list(StratifiedKFold(10).split(given.x, given.y))[:folds]
        cv = 10 if folds == 10 else first
        return lambda: search(cls(), alphas, cv=cv, refit=False).fit(given.x, given.y)

    return prepare


# Files -------------------------------------------------------------------------------------------


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="suffice-")  # removed at the end of the process


def _file(name: str, n: int) -> Path:
    path = Path(_folder().name, name)
    mixed_file.write(path, n)
    return path


def _fit_file(path: Path) -> Call:
    from suffice import NaiveBayes

    return lambda: NaiveBayes.textbook().fit(path, LABEL)


def polars_sums(path: Path) -> list[Any]:
    """Compute what a fit needs: counts, sums and sums of squares, and counts of levels, by class.

    Polars reads the file once for all five tables.
    """
    import polars
    import polars.selectors as columns

    table, x = polars.scan_parquet(path), columns.float()
    moments = table.group_by(LABEL).agg(
        x.count().name.suffix("_count"), x.sum(), (x * x).sum().name.suffix("_squares")
    )
    counts = [table.group_by(LABEL, name).len() for name in LEVELS]
    return polars.collect_all([moments, *counts], engine="streaming")


def _polars(path: Path) -> Call:
    import_module("polars")
    return partial(polars_sums, path)


def _read_csv(path: Path) -> Call:
    from pyarrow import csv

    return lambda: sum(batch.num_rows for batch in csv.open_csv(path))


# Brain images ------------------------------------------------------------------------------------


def _slice(_: int) -> tuple[Any, ...]:
    """Image, mask, labels and runs of the volumes of a slice of the Haxby study that show."""
    import nibabel

    from suffice.images.labels import read_attributes

    folder = DATA / "haxby_slice"
    labels, groups = map(np.array, read_attributes(folder / "attributes_literal.txt"))
    bold, mask = (nibabel.load(folder / f"{name}.nii.gz") for name in ("bold", "mask"))
    shown = labels != "rest"
    image = nibabel.Nifti1Image(np.asarray(bold.dataobj)[..., shown], bold.affine)
    return image, mask, labels[shown], groups[shown]


def _our_searchlight(given: tuple[Any, ...]) -> Call:
    from suffice.images import SearchLight

    image, mask, y, groups = given
    data, inside = np.asarray(image.dataobj), np.asarray(mask.dataobj) > 0
    return lambda: SearchLight(inside, shape="cube", radius=1).fit(data, y, groups)


def _nilearn(given: tuple[Any, ...]) -> Call:
    from nilearn.decoding import SearchLight
    from sklearn.model_selection import LeaveOneGroupOut
    from sklearn.naive_bayes import GaussianNB

    image, mask, y, groups = given
    ball = partial(SearchLight, mask, radius=6.15)  # mm: on the slice, the voxels of a cube
    return lambda: ball(estimator=GaussianNB(), cv=LeaveOneGroupOut()).fit(image, y, groups)


# The tasks ---------------------------------------------------------------------------------------

bayes = partial(_methods, "naive_bayes")
discriminant = partial(_methods, "discriminant_analysis")
lda = partial(discriminant, "LinearDiscriminantAnalysis")
qda = partial(discriminant, "QuadraticDiscriminantAnalysis")
linear = partial(_methods, "linear_model")
# Both stop where the gradient is below 1e-8 of that at 0; scikit-learn's solver is the fastest that
# comes so far, with the tolerance that it needs for it.
logistic = partial(
    linear, "LogisticRegression", "fit", ours={"solver": "newton", "tol": 1e-8}, max_iter=10_000
)
l1 = partial(linear, "LogisticRegression", "fit", ours={"l1_ratio": 1.0}, l1_ratio=1.0)
two_topics, five_classes = partial(rows.words, k=2), partial(rows.overlapping, k=5)
wide, narrow = partial(rows.normal, k=3), partial(rows.normal, d=20, k=3)
codes = partial(rows.codes, d=30, k=3, m=6)

TASKS = (
    Task("gaussian-fit", rows.normal, MILLION, bayes("GaussianNB", "fit"), {"wall": 20}, 20),
    Task(
        "gaussian-batches",
        rows.normal,
        MILLION,
        (_in_batches, bayes("GaussianNB", "fit")[0]),
        {"wall": 1 / 1.3},
        20,
        "our fit",
    ),
    Task(
        "gaussian-proba",
        rows.normal,
        MILLION,
        bayes("GaussianNB", "predict_proba"),
        {"wall": 25},
    ),
    Task("bernoulli-fit", rows.booleans, MILLION, bayes("BernoulliNB", "fit"), {"wall": 100}, 20),
    Task("categorical-fit", rows.codes, MILLION, bayes("CategoricalNB", "fit"), {"wall": 20}, 20),
    Task("multinomial-fit", rows.words, 200_000, bayes("MultinomialNB", "fit"), {"wall": 3}, 20),
    Task(
        "multinomial-predict",
        rows.words,
        200_000,
        bayes("MultinomialNB", "predict"),
        {"wall": 2},
    ),
    Task("iris", rows.iris, 150, bayes("GaussianNB", "fit", "predict"), {"wall": 1}),
    Task("first-answer", lambda n: None, 150, (_first_answer("suffice"), _first_answer("sklearn"))),
    Task("lda-fit", rows.normal, MILLION, lda("fit"), {"wall": 15}),
    Task("lda-predict", rows.normal, MILLION, lda("predict"), {"wall": 3}),
    Task("qda-fit", rows.normal, MILLION, qda("fit"), {"wall": 10}),
    Task("qda-predict", rows.normal, MILLION, qda("predict"), {"wall": 8}),
    Task("ridge-fit", rows.numbers, MILLION, linear("Ridge", "fit"), {"wall": 3}),
    Task("lasso-fit", rows.numbers, MILLION, linear("Lasso", "fit"), {"wall": 3}),
    Task(
        "logistic-2",
        rows.overlapping,
        MILLION,
        logistic(solver="lbfgs", tol=1e-9),
        {"wall": 4},
    ),
    Task(
        "logistic-5",
        five_classes,
        MILLION,
        logistic(solver="newton-cg", tol=1e-8),
        {"wall": 4},
    ),
    Task(
        "logistic-text",
        two_topics,
        200_000,
        logistic(solver="newton-cg", tol=1e-9),
        {"wall": 1},
    ),
    Task("logistic-l1", rows.overlapping, 100_000, l1(solver="liblinear"), {"wall": 1}),
    Task(
        "folds",
        rows.normal,
        MILLION,
        _folds("GaussianNB", "naive_bayes", 10, 1),
        {"cpu": 90},
        share=1 / 10,
    ),
    Task(
        "gaussian-loo",
        wide,
        2_000,
        _folds("GaussianNB", "naive_bayes", "loo", 20),
        {"cpu": 500},
        share=20 / 2_000,
        quick=2_000,
    ),
    Task(
        "lda-loo",
        narrow,
        2_000,
        _folds("LinearDiscriminantAnalysis", "discriminant_analysis", "loo", 20),
        {"cpu": 300},
        share=20 / 2_000,
        quick=2_000,
    ),
    Task(
        "grid",
        codes,
        200_000,
        (_grid("suffice", 20, 10), _grid("sklearn", 2, 1)),
        {"cpu": 20},
        share=2 / 200,
    ),
    Task(
        "parquet",
        partial(_file, "rows.parquet"),
        3 * MILLION,
        (_fit_file, _polars),
        {"wall": 1},
        peer="polars",
    ),
    Task(
        "csv",
        partial(_file, "rows.csv"),
        3 * MILLION,
        (_fit_file, _read_csv),
        {"wall": 1 / 1.3},
        peer="pyarrow",
    ),
    Task("searchlight", _slice, 0, (_our_searchlight, _nilearn), {"cpu": 1_200}, peer="nilearn"),
)
BY_NAME = {task.name: task for task in TASKS}


def memory_of(name: str, side: int, n: int) -> float | None:
    """Return the MB at the peak of a call; runs in a fresh process."""
    task = BY_NAME[name]
    warm, work = (task.calls[side](task.make(size)) for size in (WARM_ROWS, n))
    return peak(warm, work)
