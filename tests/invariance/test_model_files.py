"""A saved model is the model: to the bit, and able to learn, merge and forget."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.laws.comparing import frozen

import suffice
from suffice import NaiveBayes
from suffice.errors import ModelFileError
from suffice.families import Poisson

TABLE = pa.table(
    {
        "size": [1.0, 2.5, None, 1e8, 4.0, 0.1, 3.0, 7.0],
        "visits": [1, 0, 3, None, 2, 9, 4, 4],
        "color": ["red", None, "blue", "red", "green", "blue", "red", "red"],
        "old": [True, False, None, True, True, False, False, True],
        "note": ["to be or", "not to be", None, "that is", "the question", "be", "to", "is"],
        "kind": ["a", "b", "a", "b", "a", None, "c", "a"],
    }
)
FAMILIES = {"visits": Poisson(alpha=2.0), "note": "multinomial", "color": "categorical"}


def features(table: pa.Table) -> pa.Table:
    return table.drop(["kind"])


@pytest.mark.parametrize("estimation", ["mle", "map", "bayes"])
@pytest.mark.filterwarnings("ignore:.*impossible under every class:suffice.errors.SufficeWarning")
def test_a_loaded_model_is_the_model(estimation: str, tmp_path: Path) -> None:
    model = NaiveBayes.textbook(FAMILIES, estimation=estimation, class_prior="smoothed").fit(
        TABLE, "kind"
    )
    model.save(tmp_path / "m")
    loaded = suffice.load(tmp_path / "m")
    assert isinstance(loaded, NaiveBayes)
    assert loaded.get_params() == model.get_params()
    assert loaded.schema_ == model.schema_
    assert loaded.model_.parts == model.model_.parts
    assert loaded.n_parameters_ == model.n_parameters_
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    for part in ("classes_", "statistic_"):
        assert frozen(getattr(loaded, part)) == frozen(getattr(model, part))
    assert frozen(loaded.model_.parameters) == frozen(model.model_.parameters)
    rows = features(TABLE)
    np.testing.assert_array_equal(loaded.predict_log_proba(rows), model.predict_log_proba(rows))
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))

    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_a_loaded_model_learns_merges_and_forgets(tmp_path: Path) -> None:
    model = NaiveBayes.textbook(FAMILIES).fit(TABLE, "kind")
    model.save(tmp_path / "m")
    statistic = model.statistic_
    more = TABLE[2:7]
    both = NaiveBayes.textbook(FAMILIES).fit(pa.concat_tables([TABLE, more]), "kind")

    loaded = suffice.load(tmp_path / "m").partial_fit(more, "kind")
    assert loaded.statistic_ == both.statistic_
    assert loaded.forget(more, "kind").statistic_ == statistic
    merged = suffice.load(tmp_path / "m").merge(NaiveBayes.textbook(FAMILIES).fit(more, "kind"))
    assert merged.statistic_ == both.statistic_


def test_a_model_of_an_array_is_loaded_without_names(tmp_path: Path) -> None:
    x = np.arange(12.0).reshape(6, 2)
    model = NaiveBayes.textbook().fit(x, [0, 1] * 3)
    model.save(tmp_path / "m")
    loaded = suffice.load(tmp_path / "m")
    assert not hasattr(loaded, "feature_names_in_")
    assert loaded.n_features_in_ == 2
    np.testing.assert_array_equal(loaded.predict_proba(x), model.predict_proba(x))


def damaged(raw: bytes) -> Iterator[tuple[str, bytes]]:
    for i in range(0, len(raw), 5):
        yield f"byte {i} of {len(raw)}", raw[:i] + bytes([raw[i] ^ 0xFF]) + raw[i + 1 :]
    for n in range(0, len(raw), 5):
        yield f"{n} bytes of {len(raw)}", raw[:n]
    yield "a byte too many", raw + b"\0"


def test_damage_of_a_small_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m"
    table = pa.table({"x": [1.0, 2.0, 4.0], "c": ["r", "b", "r"], "y": ["p", "q", "p"]})
    NaiveBayes.textbook().fit(table, "y").save(path)
    accepted = []
    for what, raw in damaged(path.read_bytes()):
        path.write_bytes(raw)
        try:
            suffice.load(path)
        except ModelFileError:
            continue
        accepted.append(what)
    assert accepted == []
