"""The census income data of 1994, both files as they are: no header, padded, "?", dotted labels."""

from pathlib import Path

import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.metrics import log_loss
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from suffice import NaiveBayes, read_csv
from suffice.families import Gaussian

LABEL = "column_15"
NUMBERS = [f"column_{j}" for j in (1, 3, 5, 11, 12, 13)]
STRINGS = [f"column_{j}" for j in (2, 4, 6, 7, 8, 9, 10, 14)]


def opened(data: Path, name: str):
    options = {"header": False, "strip": True, "missing": ["?"]}
    return read_csv(data / "adult" / name, label_suffix=".", **options)


@pytest.fixture(scope="module")
def frames(data: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both files with unknowns as missing cells and labels without the dot."""
    names = [f"column_{j}" for j in range(1, 16)]
    pair = []
    for name in ("adult.data", "adult.test"):
        path = data / "adult" / name
        frame = pd.read_csv(path, header=None, names=names, skipinitialspace=True, na_values="?")
        frame[LABEL] = frame[LABEL].str.rstrip(".")
        pair.append(frame)
    return pair[0], pair[1]


def errors(evaluation) -> float:
    return evaluation.weight - evaluation.confusion.value.trace()


# Regression numbers: what this model gives with exact sums. No published counterpart keeps the
# rows with unknowns.
@pytest.mark.parametrize(
    ("families", "wrong", "loss"),
    [
        (None, 2767, 0.7796195767345),
        # the two columns of capital are zero in nine rows of ten: no Gaussian, but categories
        ({"column_11": "categorical", "column_12": "categorical"}, 2580, 0.3931156037868),
    ],
)
def test_files_as_they_are(data: Path, families, wrong, loss):
    model = NaiveBayes.textbook(families=families).fit(opened(data, "adult.data"), LABEL)
    found = model.evaluate(opened(data, "adult.test"), LABEL)
    assert model.classes_.tolist() == ["<=50K", ">50K"]
    assert (found.weight, found.unlabelled, found.impossible) == (16281, 0, 0)
    assert errors(found) == wrong
    assert found.log_loss == pytest.approx(loss, rel=1e-12)


def test_the_default_errs_less(data: Path):
    """Other names of columns, as in the example, draw another sample: 2,133 errors."""
    model = NaiveBayes().fit(opened(data, "adult.data"), LABEL)
    found = model.evaluate(opened(data, "adult.test"), LABEL)
    assert errors(found) == 2118
    assert found.log_loss == pytest.approx(0.28267535298676, rel=1e-12)


def test_published_error_without_unknowns(frames):
    # adult.names: "after removal of unknowns", 30162 and 15060 rows. The 16.12 % printed there is
    # for MLC++ with supervised discretisation, which is another model; with Gaussians for the six
    # numbers and Laplace's rule for the strings the error is 17.59 %.
    train, test = (frame.dropna() for frame in frames)
    assert (len(train), len(test)) == (30162, 15060)
    gaussian = Gaussian(estimation="mle")
    model = NaiveBayes.textbook(families=dict.fromkeys(NUMBERS, gaussian)).fit(train, LABEL)
    found = model.evaluate(test, LABEL)
    assert errors(found) == 2649
    assert round(100 * found.error, 2) == 17.59


@pytest.mark.exhaustive
def test_scikit_learn_side_by_side(frames):
    train, test = frames
    with pytest.raises(ValueError, match="could not convert string to float: 'State-gov'"):
        GaussianNB().fit(train.drop(columns=LABEL), train[LABEL])
    # 4262 unknowns in 2399 rows of the training file, 2203 in 1221 of the test file
    assert [(f.isna().sum().sum(), f.isna().any(axis=1).sum()) for f in frames] == [
        (4262, 2399),
        (2203, 1221),
    ]
    strings = make_pipeline(OrdinalEncoder(), CategoricalNB())
    with pytest.raises(ValueError, match="Input X contains NaN"):
        strings.fit(train[STRINGS], train[LABEL])
    # One-hot columns as Gaussians: the pipeline that takes every row, unknowns as a category.
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(("passthrough", NUMBERS), (encoder, STRINGS))
    peer = make_pipeline(columns, GaussianNB()).fit(train, train[LABEL])
    ours = NaiveBayes.textbook().fit(train, LABEL).evaluate(test, LABEL)
    assert ours.error < 1 - peer.score(test, test[LABEL])
    assert ours.log_loss < log_loss(test[LABEL], peer.predict_proba(test))
