"""Learning curves equal fits from scratch, to the bit, and read every row once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn import datasets
from sklearn.base import clone
from sklearn.model_selection import KFold, learning_curve
from tests.laws.comparing import frozen

from suffice import NaiveBayes, naive_bayes, read_csv
from suffice.data.frames.memory import FrameSplit, frame_table
from suffice.data.table import Table
from suffice.errors import DataError, ParameterError
from suffice.model_selection import LearningCurve, learning_curve_from_statistics

FAMILIES = {
    "size": "gaussian",
    "visits": "poisson",
    "color": "categorical",
    "old": "bernoulli",
    "note": "multinomial",
}
WORDS = ["apple", "pear", "plum", "fig", "kiwi", "lime"]


def mixed(n: int = 300, seed: int = 0, gaps: float = 0.1) -> pa.Table:
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n)
    columns = {
        "size": (1e6 + rng.normal(size=n) + code).tolist(),
        "visits": rng.poisson(2.0 + code).tolist(),
        "color": rng.choice(["red", "blue", "green"], n).tolist(),
        "old": (rng.random(n) < 0.3 + 0.2 * code).tolist(),
        "note": [" ".join(rng.choice(WORDS[: 3 + c], 5)) for c in code],
        "kind": [["ham", "spam", "eggs"][c] for c in code],
    }
    return pa.table({name: pa.array(v, mask=rng.random(n) < gaps) for name, v in columns.items()})


def learnt(model: Any, rows: Any) -> Any:
    """Everything that a model knows and says, to the bit."""
    known = model.model_.classes, model.model_.prior, model.model_.parameters
    return frozen((known, model.classes_, model.predict_joint_log_proba(rows)))


@dataclass
class Watched(Table):
    """A table in memory that comes in small parts and counts the rows that are read."""

    table: pa.Table
    part: int = 7
    read: list[int] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def _head(self) -> pa.RecordBatch:
        return frame_table(self.table).head()

    def splits(self, types: Mapping[str, Any]) -> Sequence[Any]:
        rows = self.table.select(list(types))
        starts = range(0, len(rows), 5 * self.part)
        return [_Part(rows[start : start + 5 * self.part], start, self) for start in starts]


@dataclass(frozen=True)
class _Part(FrameSplit):
    watch: Watched

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self.rows.to_batches(max_chunksize=self.watch.part):
            self.watch.read.append(batch.num_rows)
            yield batch


# -- models


@settings(max_examples=20)
@given(
    sizes=st.sets(st.integers(20, 120), min_size=1, max_size=5).map(sorted),
    part=st.integers(1, 40),
    seed=st.integers(0, 1000),
)
def test_models_are_fits_from_scratch(sizes: list[int], part: int, seed: int) -> None:
    table, test = mixed(120, seed), mixed(50, seed + 1)
    assume(set(test["kind"].to_pylist()) <= set(table["kind"][: sizes[0]].to_pylist()))
    rows = test.drop(["kind"])
    watched = Watched(table, part)
    model = NaiveBayes.textbook(FAMILIES)
    curve = learning_curve_from_statistics(
        model, watched, "kind", train_sizes=sizes, test=(test, "kind")
    )
    assert curve.sizes.tolist() == sizes
    for size, found, evaluation in zip(sizes, curve.models, curve.evaluations, strict=True):
        scratch = NaiveBayes.textbook(FAMILIES).fit(table[:size], "kind")
        assert found.statistic_ == scratch.statistic_
        assert found.parts_ == scratch.parts_
        assert learnt(found, rows) == learnt(scratch, rows)
        assert frozen(evaluation) == frozen(scratch.evaluate(test, "kind"))
    assert not hasattr(model, "statistic_")


ARRAYS = {
    "GaussianNB": np.asarray,
    "MultinomialNB": csr_matrix,
    "ComplementNB": csr_matrix,
    "BernoulliNB": np.asarray,
    "CategoricalNB": lambda x: x.astype(np.int64),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("threads", [1, 2])
def test_arrays_of_every_estimator(name: str, threads: int) -> None:
    x, y = datasets.load_digits(return_X_y=True)
    x, w = ARRAYS[name](x), np.random.default_rng(0).integers(0, 3, len(y)) / 2
    model = getattr(naive_bayes, name)(threads=threads)
    sizes, test = [100, 101, 700, 1500], (x[1500:], y[1500:])
    curve = learning_curve_from_statistics(
        model, x[:1500], y[:1500], sample_weight=w[:1500], train_sizes=sizes, test=test
    )
    for size, found in zip(sizes, curve.models, strict=True):
        scratch = clone(model).fit(x[:size], y[:size], w[:size])
        assert found.statistic_ == scratch.statistic_
        assert learnt(found, x) == learnt(scratch, x)
    scratch = [clone(model).fit(x[:s], y[:s], w[:s]).evaluate(*test) for s in sizes]
    assert curve.accuracy.tolist() == [e.accuracy for e in scratch]
    assert curve.log_loss.tolist() == [e.log_loss for e in scratch]
    assert curve.accuracy[-1] > curve.accuracy[0]


def test_files(tmp_path: Path) -> None:
    table, test = mixed(400, 3, gaps=0.0), mixed(60, 4, gaps=0.0)
    pa.parquet.write_table(table, tmp_path / "t.parquet", row_group_size=77)
    pa.csv.write_csv(table, tmp_path / "t.csv")
    expected = learning_curve_from_statistics(
        NaiveBayes.textbook(FAMILIES), table, "kind", train_sizes=[0.25, 1.0], test=(test, "kind")
    )
    assert expected.sizes.tolist() == [100, 400]
    for path in (tmp_path / "t.parquet", str(tmp_path / "t.csv")):
        for sizes in ([0.25, 1.0], [100, 400]):
            found = learning_curve_from_statistics(
                NaiveBayes.textbook(FAMILIES), path, "kind", train_sizes=sizes, test=(test, "kind")
            )
            assert frozen(found.folds) == frozen(expected.folds)


def test_weights_by_name_and_rows_without_a_label() -> None:
    table = mixed(200, 5, gaps=0.2)
    table = table.append_column("w", pa.array(np.arange(200) % 3 / 2))
    model = NaiveBayes.textbook(FAMILIES)
    curve = learning_curve_from_statistics(
        model, table, "kind", sample_weight="w", train_sizes=[50, 150], test=(table, "kind", "w")
    )
    for size, found in zip((50, 150), curve.models, strict=True):
        scratch = NaiveBayes.textbook(FAMILIES).fit(table[:size], "kind", "w")
        assert found.statistic_ == scratch.statistic_
        assert found.statistic_.unlabelled.value > 0
        assert found.score(table, "kind", "w") == scratch.score(table, "kind", "w")
    assert curve.evaluations[1].unlabelled == table["kind"].null_count


# -- one pass


def test_rows_are_read_once_and_no_further_than_needed() -> None:
    watched, test = Watched(mixed(300, 1)), Watched(mixed(80, 2))
    model = NaiveBayes.textbook(FAMILIES)
    for sizes, read in (([20, 63, 300], 300), ([20, 63], 63), ([20, 64], 70)):
        watched.read.clear(), test.read.clear()
        learning_curve_from_statistics(
            model, watched, "kind", train_sizes=sizes, test=(test, "kind")
        )
        assert sum(watched.read) == read
        assert sum(test.read) == 80


def test_folds_read_rows_to_sum_and_to_score_where_their_number_is_known() -> None:
    watched = Watched(mixed(300, 1))
    curve = learning_curve_from_statistics(NaiveBayes.textbook(FAMILIES), watched, "kind", cv=4)
    assert curve.test_scores.shape == (5, 4)
    assert sum(watched.read) == 2 * 300


# -- folds


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("cv", [2, 5, 7])
def test_folds_are_those_of_scikit_learn(name: str, cv: int) -> None:
    x, y = datasets.load_digits(return_X_y=True)
    x, model = ARRAYS[name](x)[:600], getattr(naive_bayes, name)()
    found = learning_curve_from_statistics(model, x, y[:600], cv=cv)
    judge = {"cv": KFold(cv), "train_sizes": np.linspace(0.1, 1.0, 5)}
    sizes, _, scores = learning_curve(model, x, y[:600], **judge)
    np.testing.assert_array_equal(found.sizes, sizes)
    np.testing.assert_array_equal(found.test_scores, scores)
    *_, losses = learning_curve(model, x, y[:600], scoring="neg_log_loss", **judge)
    mine = [[fold.log_loss for fold in folds] for folds in found.folds]
    # scikit-learn keeps probabilities off 0 by one unit of rounding
    certain = np.abs(np.array(mine)) < 0.5
    np.testing.assert_allclose(np.array(mine)[certain], -losses[certain], rtol=1e-6)


def test_what_is_learnt_without_a_fold_equals_a_fit_without_it() -> None:
    table = mixed(90, 7)
    curve = learning_curve_from_statistics(
        NaiveBayes.textbook(FAMILIES), table, "kind", train_sizes=[40, 60], cv=3
    )
    for size, folds in zip((40, 60), curve.folds, strict=True):
        for f, found in enumerate(folds):
            fold = np.arange(30 * f, 30 * (f + 1))
            others = np.setdiff1d(np.arange(90), fold)[:size]
            scratch = NaiveBayes.textbook(FAMILIES).fit(table.take(others), "kind")
            assert frozen(found) == frozen(scratch.evaluate(table.take(fold), "kind"))
    together = curve.evaluations[0]
    assert together.weight == 90 - table["kind"].null_count
    assert curve.accuracy[0] == together.accuracy


# -- labels


def test_labels_that_few_rows_do_not_show_are_predicted_wrongly() -> None:
    x, y = datasets.load_iris(return_X_y=True)  # sorted by label
    curve = learning_curve_from_statistics(
        naive_bayes.GaussianNB(), x, y, train_sizes=[30, 80, 150], test=(x, y)
    )
    assert [model.classes_.tolist() for model in curve.models] == [[0], [0, 1], [0, 1, 2]]
    assert curve.accuracy[0] == 1 / 3
    assert 0.6 < curve.accuracy[1] <= 2 / 3
    assert np.isinf(curve.log_loss).tolist() == [True, True, False]
    two = slice(0, 100)
    scratch = naive_bayes.GaussianNB().fit(x[:80], y[:80]).evaluate(x[two], y[two])
    confusion = curve.evaluations[1].confusion.value
    np.testing.assert_array_equal(confusion[:2, :2], scratch.confusion.value)
    assert confusion[:, 2].tolist() == [0.0, 0.0, 0.0]
    few = learning_curve_from_statistics(
        naive_bayes.GaussianNB(), x, y, train_sizes=[30, 80], test=(x, y)
    )
    assert few.accuracy.tolist() == curve.accuracy[:2].tolist()
    assert [one.infinite_rows for one in few.evaluations] == [{1: 50.0, 2: 50.0}, {2: 50.0}]


# -- order


@pytest.mark.parametrize("seed", [0, np.random.default_rng(0)])
def test_a_shuffled_curve_is_that_of_the_shuffled_rows(seed: Any) -> None:
    order = np.random.default_rng(0).permutation(150)
    table, (x, y) = mixed(150), datasets.load_iris(return_X_y=True)
    cases = [
        ((table, "kind"), (table.take(order), "kind")),
        ((x, y), (x[order], y[order])),
        ((csr_matrix(x), y), (csr_matrix(x[order]), y[order])),
    ]
    for given_rows, shuffled in cases:
        model = NaiveBayes.textbook(FAMILIES if given_rows[0] is table else "multinomial")
        seed = np.random.default_rng(0) if isinstance(seed, np.random.Generator) else seed
        found = learning_curve_from_statistics(
            model, *given_rows, shuffle=True, random_state=seed, cv=3
        )
        expected = learning_curve_from_statistics(model, *shuffled, cv=3)
        assert frozen(found.folds) == frozen(expected.folds)


def test_weights_are_shuffled_with_their_rows() -> None:
    x, y = datasets.load_iris(return_X_y=True)
    w, order = np.arange(150) / 8, np.random.default_rng(1).permutation(150)
    model, options = naive_bayes.GaussianNB(), {"train_sizes": [60, 150], "test": (x, y)}
    found = learning_curve_from_statistics(
        model, x, y, sample_weight=w, shuffle=True, random_state=1, **options
    )
    expected = learning_curve_from_statistics(
        model, x[order], y[order], sample_weight=w[order], **options
    )
    assert frozen(found.folds) == frozen(expected.folds)


# -- real data


def test_adult(data: Path) -> None:
    train, test = (
        read_csv(data / "adult" / name, header=False, strip=True, missing=["?"])
        for name in ("adult.data", "adult.test")
    )
    families = {"column_11": "categorical", "column_12": "categorical"}
    model = NaiveBayes.textbook(families, label_suffix=".")
    curve = learning_curve_from_statistics(
        model, train, "column_15", train_sizes=[100, 1000, 32561], test=(test, "column_15")
    )
    whole = model.fit(train, "column_15").evaluate(test, "column_15")
    assert curve.evaluations[-1] == whole
    assert round(16281 * (1 - curve.accuracy[-1])) == 2593  # as in test_adult.py of reference
    assert [e.weight for e in curve.evaluations] == [16281] * 3
    assert curve.log_loss[2] < curve.log_loss[1] < curve.log_loss[0]


# -- what is refused


def refused(**options: Any) -> str:
    x, y = datasets.load_iris(return_X_y=True)
    with pytest.raises(ParameterError) as caught:
        learning_curve_from_statistics(naive_bayes.GaussianNB(), x, y, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_sizes": [0, 5]}, "train_sizes has 0; a size is 1 row or more, of the 120 rows"),
        ({"train_sizes": [5, 121]}, "train_sizes has 121; a size is 1 row or more, of the 120"),
        ({"train_sizes": [-1.0]}, "train_sizes has -1.0; a fraction is more than 0 and at most 1"),
        ({"train_sizes": [0.5, 1.5]}, "train_sizes has 1.5; a fraction is more than 0"),
        ({"train_sizes": [np.nan]}, "train_sizes has nan; a fraction is more than 0"),
        ({"train_sizes": [9, 5]}, "train_sizes asks for 9 rows and then for 5; sizes increase."),
        ({"train_sizes": [0.1, 0.1]}, "train_sizes asks for 12 rows and then for 12; sizes"),
        ({"train_sizes": []}, "train_sizes=[]; it lists whole numbers of rows, or fractions"),
        ({"train_sizes": 5}, "train_sizes=5; it lists whole numbers of rows, or fractions"),
        ({"train_sizes": ["5"]}, "train_sizes=['5']; it lists whole numbers of rows, or"),
        ({"cv": 1}, "cv=1; the number of folds is a whole number, 2 or more."),
        ({"cv": 2.5}, "cv=2.5; the number of folds is a whole number, 2 or more."),
        ({"cv": 151}, "cv=151 for 150 rows; every fold has a row at least."),
        ({"test": "t.csv"}, "test is no pair; held-out rows are (X, y) or (X, y, sample_weight)."),
        ({"test": (1, 2), "cv": 3}, "test and cv are both given; models are scored on held-out"),
    ],
)
def test_options_outside_their_rule(options: dict[str, Any], message: str) -> None:
    assert refused(**options).startswith(message)


def test_more_rows_than_there_are() -> None:
    x, y = datasets.load_iris(return_X_y=True)
    message = refused(train_sizes=[5, 151], test=(x, y))
    assert message == "train_sizes has 151; there are 150 rows to learn from."


def test_models_of_others_and_files_to_be_shuffled(tmp_path: Path) -> None:
    from sklearn.naive_bayes import GaussianNB

    with pytest.raises(ParameterError, match="GaussianNB is no classifier of suffice"):
        learning_curve_from_statistics(GaussianNB(), [[1.0]], [1])
    pa.csv.write_csv(mixed(50), tmp_path / "t.csv")
    with pytest.raises(ParameterError, match="the rows of a file are to change places; files are"):
        learning_curve_from_statistics(
            NaiveBayes.textbook(), tmp_path / "t.csv", "kind", shuffle=True
        )


def test_rows_without_labels() -> None:
    x, y = np.arange(12.0)[:, None], np.array([np.nan] * 4 + [0.0, 1.0] * 4)
    model = naive_bayes.GaussianNB()
    with pytest.raises(DataError) as caught:
        learning_curve_from_statistics(model, x, y, train_sizes=[3, 8], test=(x, y))
    assert str(caught.value) == (
        "none of the first 3 rows has a label and a weight that is not zero; a model needs at "
        "least one; begin with a larger size."
    )
    for options, where in (({"test": (x[:4], y[:4])}, "the held-out rows"), ({"cv": 3}, "fold 0")):
        with pytest.raises(DataError, match=f"{where}: there is no labelled row whose weight is"):
            learning_curve_from_statistics(model, x, y, train_sizes=[7], **options)


def test_a_bad_cell_is_named_by_its_row_wherever_batches_are_cut() -> None:
    x, y = datasets.load_iris(return_X_y=True)
    wrong = x.copy()
    wrong[77, 2] = np.inf
    model, message = naive_bayes.GaussianNB(), "column 'x2', row 77: inf; a number must be finite"
    for train, test in ((wrong, x), (x, wrong)):
        with pytest.raises(DataError, match=message):
            learning_curve_from_statistics(
                model, train, y, train_sizes=[60, 70, 150], test=(test, y)
            )
    with pytest.raises(DataError, match=message):
        learning_curve_from_statistics(model, wrong, y, cv=7, shuffle=False)
    found = learning_curve_from_statistics(
        model, wrong, y % 2, train_sizes=[60, 77], test=(x, y % 2)
    )
    assert isinstance(found, LearningCurve)


def test_a_curve_is_printed_as_sizes_and_scores() -> None:
    x, y = datasets.load_iris(return_X_y=True)
    curve = learning_curve_from_statistics(
        naive_bayes.GaussianNB(), x, y, train_sizes=[30, 120], shuffle=True, random_state=0
    )
    (small, large), (first, second) = curve.accuracy, curve.log_loss
    assert repr(curve).splitlines() == [
        "rows learnt  accuracy  log loss",
        f"30             {small:.4f}    {first:.4f}",
        f"120            {large:.4f}    {second:.4f}",
    ]
