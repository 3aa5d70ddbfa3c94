"""Files of earlier versions load, and their models predict what they predicted then."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import suffice
from suffice.errors import ModelFileError
from suffice.models.generative import saved as generative
from suffice.models.linear import saved as linear
from suffice.models.logistic import saved as logistic
from suffice.saved import MODULES
from suffice.statistics.exact_loss_sums import ExactLossSums
from suffice.statistics.loss_sums import LossSums

TYPES = {**generative.SAVED, **linear.SAVED, **logistic.SAVED}

FOLDERS = sorted(path.parent for path in Path(__file__).parent.glob("*/predictions.json"))
FILES = sorted(path for folder in FOLDERS for path in folder.glob("*.suffice"))
WORKING = {ExactLossSums, LossSums}  # summed while a model is fitted: part of no model


FROM_INCOMPLETE_ROWS = {  # by expectation-maximisation, which stops at a tolerance
    "LinearDiscriminantAnalysis-forgot",
    "LinearRegression-gaussian",
    "NaiveBayes-one_family",
    "Ridge-gaussian",
}


@cache
def written(folder: Path) -> dict:
    return json.loads((folder / "predictions.json").read_text("utf-8"))


def rows_of(path: Path) -> pa.Table | np.ndarray:
    content = written(path.parent)
    model = content["models"][path.name]
    if model["rows"] != "table":
        return np.array(content["rows"][model["rows"]])
    with pa.ipc.open_file(path.parent / "table.arrow") as file:
        return file.read_all().select(model["columns"])


def predictions(model, rows) -> np.ndarray:
    return np.asarray(getattr(model, "predict_log_proba", model.predict)(rows))


@pytest.mark.filterwarnings("ignore:column 'x3' is 1:suffice.errors.SufficeWarning")
@pytest.mark.filterwarnings("ignore:alpha too small:suffice.errors.SufficeWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_predicts_what_it_predicted_when_it_was_written(path, tmp_path):
    expected = written(path.parent)["models"][path.name]
    model = suffice.load(path)
    assert type(model).__name__ == path.stem.partition("-")[0]
    assert [str(label) for label in getattr(model, "classes_", [])] == expected["classes"]
    found = predictions(model, rows_of(path))
    # Elementary functions may be rounded in another way; labels and orders may not change.
    close = 1e-9 if path.stem in FROM_INCOMPLETE_ROWS else 1e-12
    np.testing.assert_allclose(found, expected["predictions"], rtol=close, atol=close)
    model.save(tmp_path / "again")
    again = predictions(suffice.load(tmp_path / "again"), rows_of(path))
    np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("0.1.0/QuadraticDiscriminantAnalysis-default", "pairs"),
        ("0.1.0/LinearRegression-default", "pairs"),
        ("0.1.0/LinearRegression-double", "double"),
        ("0.1.0-exact/GaussianNB-exact", "exact"),
    ],
)
def test_products_that_the_first_format_called_exact_are_pairs(name, held):
    model = suffice.load(Path(__file__).parent / f"{name}.suffice")
    assert model.get_params()["precision"] == held


def test_there_is_a_file_of_every_estimator_and_of_every_type():
    estimators = {path.stem.partition("-")[0] for path in FILES}
    assert estimators == set(MODULES)
    texts = b"".join(path.read_bytes() for path in FILES)
    absent = {
        cls for name, cls in TYPES.items() if f'\\"record\\":[\\"{name}\\",'.encode() not in texts
    }
    assert absent == WORKING


def test_a_file_of_a_newer_format_is_refused_in_one_sentence(tmp_path):
    path, raw = tmp_path / "newer", FILES[0].read_bytes()
    raw = raw.replace(b'format_version\\":1', b'format_version\\":3')
    path.write_bytes(raw.replace(b'library_version\\":\\"0.1.0', b'library_version\\":\\"7.8.9'))
    with pytest.raises(ModelFileError) as error:
        suffice.load(path)
    assert str(error.value) == (
        f"{path}: written by suffice 7.8.9 with format 3; this version reads up to 2; "
        "upgrade suffice."
    )
