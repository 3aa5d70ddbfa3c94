"""The engine of an executor: of threads, and of processes."""

import operator
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
from tests.laws.engine_laws import check_engine
from tests.running import on

import suffice
from suffice import NaiveBayes
from suffice.errors import EngineError, ParameterError
from suffice.model_selection import cross_val_score

Run = Callable[[str], subprocess.CompletedProcess[str]]
TABLE = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]


def test_an_executor_is_given_to_an_estimator_or_chosen_for_all() -> None:
    expected = NaiveBayes.textbook().fit(*TABLE)
    with ThreadPoolExecutor(2) as pool:
        model = on(pool, NaiveBayes.textbook()).fit(*TABLE)
        assert model.statistic_ == expected.statistic_
        assert list(cross_val_score(model, *TABLE, cv=2)) == list(
            cross_val_score(expected, *TABLE, cv=2)
        )
        try:
            suffice.set_engine(pool)
            assert NaiveBayes.textbook().fit(*TABLE).statistic_ == expected.statistic_
        finally:
            suffice.set_engine()
    with pytest.raises(EngineError, match="the executor does not go on: cannot schedule new"):
        on(pool, NaiveBayes.textbook()).fit(*TABLE)


@pytest.mark.exhaustive
def test_processes_of_another_executor() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        engine = suffice.engine(pool)
        assert (engine.workers, engine.in_process) == (2, False)
        check_engine(engine)


def test_the_number_of_workers() -> None:
    with ThreadPoolExecutor(3) as pool:
        assert (suffice.engine(pool).workers, suffice.engine(pool, workers=7).workers) == (3, 7)
        for wrong in (0, True):
            with pytest.raises(ParameterError, match=f"workers={wrong}; it is a whole number, 1 o"):
                suffice.engine(pool, workers=wrong)


def test_few_results_wait() -> None:
    started: list[int] = []
    with ThreadPoolExecutor(2) as pool:
        results: Any = suffice.engine(pool).map(
            lambda part, _: started.append(part),  # type: ignore[arg-type]
            None,
            range(100),  # type: ignore[arg-type]
        )
        next(results)
        results.close()
    assert len(started) <= 5


# Processes ----------------------------------------------------------------------------------------


def test_a_process_that_dies_ends_the_pass() -> None:
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as pool,
        pytest.raises(EngineError, match="the executor does not go on"),
    ):
        suffice.engine(pool).run(operator.call, 1, [os._exit])  # type: ignore[list-item]


def test_a_script_without_a_guard_is_told_so(run: Run) -> None:
    done = run("""
import operator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
import suffice

suffice.engine(ProcessPoolExecutor(2, get_context("spawn"))).run(operator.add, 1, range(5))
""")
    assert done.returncode == 1
    assert "EngineError: the executor does not go on" in done.stderr
    assert 'a script without `if __name__ == "__main__":`' in done.stderr
