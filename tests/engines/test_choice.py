"""Which engine an estimator runs on."""

from collections.abc import Iterator

import pytest
from sklearn.base import clone

import suffice
from suffice import NaiveBayes
from suffice.engines.choice import engine_of
from suffice.engines.local import LocalEngine
from suffice.errors import ParameterError

TABLE = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    suffice.set_engine()


def test_a_name_an_object_or_the_one_for_all() -> None:
    assert engine_of(None) == LocalEngine()
    assert engine_of("local", 3) == LocalEngine(3)
    assert engine_of(LocalEngine(2), 3) == LocalEngine(2)
    suffice.set_engine("local", threads=1)
    assert engine_of(None) == LocalEngine(1)
    assert engine_of(None, 2) == LocalEngine(2)  # said at the estimator
    suffice.set_engine(LocalEngine(4))
    assert engine_of(None) == LocalEngine(4)


def test_a_table_that_lives_in_an_engine_is_read_there() -> None:
    suffice.set_engine("local", threads=1)
    assert engine_of(None, home="local") == LocalEngine()
    assert engine_of(LocalEngine(2), home="local") == LocalEngine(2)


@pytest.mark.parametrize("wrong", ["sparks", 3, object])
def test_what_is_no_engine_is_named(wrong: object) -> None:
    with pytest.raises(ParameterError, match="an engine is one of 'local', 'processes'"):
        NaiveBayes(engine=wrong).fit(*TABLE)  # type: ignore[arg-type]


def test_an_option_that_an_engine_does_not_have() -> None:
    with pytest.raises(ParameterError, match=r"'local'.*'cores'.*options of its own"):
        suffice.engine("local", cores=2)


def test_the_engine_is_no_part_of_a_model(tmp_path) -> None:  # type: ignore[no-untyped-def]
    model = clone(NaiveBayes(engine=LocalEngine(1))).fit(*TABLE)
    assert model.engine == LocalEngine(1)
    model.save(tmp_path / "m.suffice")
    assert suffice.load(tmp_path / "m.suffice").engine is None
