"""A model that was saved and loaded is the model that was saved."""

import json

import numpy as np
import pyarrow as pa
import pytest
from tests.forged_files.mutants import TYPES
from tests.saved_models.models import GROUPS

import suffice
from suffice.errors import ModelFileError
from suffice.saved import MODULES
from suffice.sums.loss_sums import LossSums

WORKING = {LossSums}  # summed while a model is fitted: part of no model


@pytest.mark.filterwarnings("ignore:column 'x3' is 1:suffice.errors.SufficeWarning")
@pytest.mark.filterwarnings("ignore:alpha too small:suffice.errors.SufficeWarning")
@pytest.mark.parametrize("group", GROUPS)
def test_a_loaded_model_predicts_and_is_saved_as_the_one_that_was_saved(group, folder_of, tmp_path):
    folder = folder_of(group)
    written = json.loads((folder / "predictions.json").read_text("utf-8"))
    with pa.ipc.open_file(folder / "table.arrow") as file:
        table = file.read_all()
    for name, of_model in written["models"].items():
        model, given = suffice.load(folder / name), of_model["rows"]
        rows = table.select(of_model["columns"]) if given == "table" else written["rows"][given]
        assert type(model).__name__ == name.partition("-")[0]
        assert [str(label) for label in getattr(model, "classes_", [])] == of_model["classes"]
        found = getattr(model, "predict_log_proba", model.predict)(
            rows if given == "table" else np.array(rows)
        )
        np.testing.assert_array_equal(np.asarray(found), of_model["predictions"])
        model.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name


def test_there_is_a_file_of_every_estimator_and_of_every_type(folder_of):
    files = [path for group in GROUPS for path in folder_of(group).glob("*.suffice")]
    assert {path.stem.partition("-")[0] for path in files} == set(MODULES)
    texts = b"".join(path.read_bytes() for path in files)
    absent = {
        cls for name, cls in TYPES.items() if f'\\"record\\":[\\"{name}\\",'.encode() not in texts
    }
    assert absent == WORKING


@pytest.mark.parametrize("version", [b"2", b"10"])
def test_a_file_of_a_newer_format_is_refused_in_one_sentence(version, folder_of, tmp_path):
    path = tmp_path / "newer"
    raw = (folder_of("calibrated") / "Ridge-calibrated.suffice").read_bytes()
    header = int.from_bytes(raw[:8], "little") + len(version) - 1
    raw = header.to_bytes(8, "little") + raw[8:]
    raw = raw.replace(b'format_version\\":1', b'format_version\\":' + version)
    path.write_bytes(raw.replace(b'library_version\\":\\"0.1.0', b'library_version\\":\\"7.8.9'))
    with pytest.raises(ModelFileError) as error:
        suffice.load(path)
    assert str(error.value) == (
        f"{path}: written by suffice 7.8.9 with format {version.decode()}; this version reads "
        "format 1; upgrade suffice."
    )
