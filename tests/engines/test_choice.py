"""Which engine an estimator runs on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import suffice
from suffice.engines.engine import LocalEngine, engine_for
from suffice.errors import ParameterError


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    suffice.set_engine()


def test_a_name_an_object_or_the_one_for_all() -> None:
    assert engine_for() == LocalEngine()
    suffice.set_engine("local", threads=1)
    assert engine_for() == LocalEngine(1)
    with suffice.set_engine(LocalEngine(2)):
        assert engine_for() == LocalEngine(2)
    assert engine_for() == LocalEngine(1)
    suffice.set_engine(LocalEngine(4))
    assert engine_for() == LocalEngine(4)


@pytest.mark.parametrize("wrong", ["sparks", 3, object, LocalEngine, []])
def test_what_is_no_engine_is_named(wrong: Any) -> None:
    for action in (lambda: suffice.engine(wrong), lambda: suffice.set_engine(wrong)):
        with pytest.raises(ParameterError, match="an engine is one of 'local', 'dask'"):
            action()
    assert engine_for() == LocalEngine()


def test_options_alone_are_those_of_the_local_engine() -> None:
    suffice.set_engine(threads=1)
    assert engine_for() == LocalEngine(1)


def test_an_engine_takes_no_more_options() -> None:
    with pytest.raises(ParameterError) as caught:
        suffice.set_engine(LocalEngine(1), threads=2)
    assert str(caught.value) == (
        "threads= is given with LocalEngine(threads=1); an engine holds its "
        "options already; give them where it is made: suffice.engine(name, ...)."
    )


@pytest.mark.parametrize("wrong", ["x", 3])
def test_progress_is_told_to_a_callable(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=rf"^progress={wrong!r}; it is True, False, or a call"):
        suffice.engine(progress=wrong)
    assert suffice.engine(progress=None) == suffice.engine(progress=False) == LocalEngine()


def test_a_checkpoint_is_a_path() -> None:
    with pytest.raises(ParameterError, match=r"^checkpoint=5; it is the path of a file\.$"):
        suffice.engine(checkpoint=5)  # type: ignore[arg-type]


def test_an_option_that_an_engine_does_not_have() -> None:
    with pytest.raises(ParameterError, match=r"'local'.*'cores'.*options of its own"):
        suffice.engine("local", cores=2)


def test_a_choice_holds_in_its_thread_and_in_those_that_work_for_it() -> None:
    suffice.set_engine("local", threads=2)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(engine_for).result() == LocalEngine()
        pool.submit(suffice.set_engine, "local", threads=1).result()
    assert engine_for() == LocalEngine(2)
    found = LocalEngine(3).map(lambda part, _: engine_for(), None, range(9))  # type: ignore[arg-type]
    assert set(found) == {LocalEngine(2)}
