"""What engines of other processes share: messages, sums on workers, splits that travel light."""

import errno
import operator
import pickle
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from scipy.sparse import random_array
from tests.laws.comparing import frozen
from tests.laws.engine_laws import check_engine

from suffice import NaiveBayes
from suffice.data.array_labels import Labels
from suffice.data.array_source import ArraySource
from suffice.data.open import open_table
from suffice.data.schema import BlockLayout, Column, Layout
from suffice.data.targets import ArrayTargets
from suffice.engines.remote import (
    FAN_IN,
    LARGE_SUM,
    ExhaustedError,
    Message,
    RemoteEngine,
    Task,
    add,
    deserialised,
    lost,
    perform,
    serialised,
    size_of,
)
from suffice.errors import DataError, EngineError

# Messages -----------------------------------------------------------------------------------------


def test_a_parcel_holds_a_value() -> None:
    assert deserialised(serialised({"a": 1})) == {"a": 1}
    assert deserialised(serialised({"a": 1}, cloudpickle.dumps)) == {"a": 1}
    assert serialised(b"x" * 1000).__sizeof__() > 1000


def test_a_parcel_of_another_version_is_not_opened() -> None:
    strange = replace(serialised(1), version="99.0", content=b"not a pickle")
    with pytest.raises(EngineError, match=r"suffice 99\.0 and suffice .* were to work together"):
        deserialised(strange)
    for answer in (
        perform(strange, serialised(1)),
        perform(serialised(Task(operator.add, 1)), strange),
    ):
        with pytest.raises(EngineError, match=r"install the same version everywhere"):
            deserialised(answer)
    with pytest.raises(EngineError, match=r"99\.0"):
        deserialised(add(pickle.dumps, serialised(1), strange))


def test_an_exception_travels_as_a_value() -> None:
    answer = perform(serialised(Task(operator.truediv, 0)), serialised(1))
    assert size_of(answer) is answer
    for message in (answer, add(pickle.dumps, serialised(1), answer)):
        with pytest.raises(ZeroDivisionError, match="division by zero") as caught:
            deserialised(message)
        assert str(caught.value) == "division by zero"
        assert "raised on a worker" in caught.value.__notes__[0]


def test_an_error_of_this_library_travels_as_it_is() -> None:
    with pytest.raises(
        DataError, match=r"^column 'x', row 3: inf; numbers are finite\.$"
    ) as caught:
        deserialised(
            perform(
                serialised(Task(_refuse, ("column 'x', row 3: inf", "numbers are finite"))),
                serialised(0),
            )
        )
    assert not hasattr(caught.value, "__notes__")


def _refuse(split: int, facts: tuple[str, ...]) -> None:
    raise DataError(*facts)


class UntoldError(Exception):
    """An exception that does not pickle."""


def _raise_untold(split: int, _: None) -> None:
    error = UntoldError("left behind")
    error.lock = threading.Lock()  # type: ignore[attr-defined]
    raise error


def test_an_exception_that_cannot_travel_is_told() -> None:
    answer = perform(
        Message(serialised(0).version, cloudpickle.dumps(Task(_raise_untold, None))), serialised(0)
    )
    with pytest.raises(EngineError, match=r"a worker raised UntoldError: left behind\."):
        deserialised(answer)


def _without_room(split: int, error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    "error", [MemoryError(), pa.ArrowMemoryError("malloc"), OSError(errno.ENOSPC, "disk full")]
)
def test_a_worker_without_room_says_nothing_of_its_rows(error: Exception) -> None:
    task = Message(serialised(0).version, cloudpickle.dumps(Task(_without_room, error)))
    with pytest.raises(ExhaustedError, match=type(error).__name__):
        perform(task, serialised(0))


def test_other_errors_of_a_system_are_told() -> None:
    task = Message(
        serialised(0).version, cloudpickle.dumps(Task(_without_room, OSError(5, "gone")))
    )
    with pytest.raises(OSError, match="gone"):
        deserialised(perform(task, serialised(0)))


def test_a_message_for_workers_that_die() -> None:
    message = "4 workers died, one after the other, over the same rows"
    assert str(lost()).startswith(message)


# Sums on workers ---------------------------------------------------------------------------------


class Here(RemoteEngine):
    """Workers that are played by this process; results stay in a list until they are fetched."""

    workers = 2

    def __init__(self) -> None:
        self.calls: list[tuple[Callable[..., Message], tuple[Any, ...]]] = []
        self.ahead = self.most = 0

    def _share(self, message: Message) -> Message:
        return message

    def _submit(self, function: Callable[..., Message], *arguments: Any) -> Message:
        self.calls.append((function, arguments))
        self.ahead += function is perform
        self.most = max(self.most, self.ahead)
        return function(*arguments)

    def _fetch(self, reference: Message) -> Message:
        self.ahead = max(0, self.ahead - 1)
        return reference

    def _drop(self, references: Iterable[Message]) -> None:
        self.dropped = list(references)

    def sums(self) -> list[int]:
        """How many statistics each call of `add` was given."""
        return [len(arguments) - 1 for function, arguments in self.calls if function is add]


def repeat(split: str, times: int) -> str:
    return split * times


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?+-"


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 64, 70])
def test_large_statistics_are_added_eight_at_a_time(n: int) -> None:
    engine, splits = Here(), LETTERS[:n]
    times = LARGE_SUM + 1
    total = engine.run(repeat, times, splits)  # type: ignore[type-var, arg-type]
    assert total == "".join(letter * times for letter in splits)
    sums = engine.sums()
    if n == 1:
        assert sums == []
    else:
        assert sums[:-1] == [FAN_IN] * len(sums[:-1])
        assert sum(sums) - len(sums) == n - 1  # every statistic is added once
    assert engine.most <= 2 * engine.workers + 1


def test_small_statistics_are_added_by_the_caller() -> None:
    engine = Here()
    assert engine.run(repeat, 2, LETTERS) == "".join(2 * x for x in LETTERS)  # type: ignore[type-var, arg-type]
    assert engine.sums() == []
    assert engine.most <= 2 * engine.workers + 1


def test_work_that_nobody_waits_for_is_dropped() -> None:
    engine = Here()
    results = engine.map(repeat, 1, LETTERS)  # type: ignore[arg-type]
    assert next(results) == "a"
    results.close()  # type: ignore[attr-defined]
    assert len(engine.dropped) == 2 * engine.workers
    with pytest.raises(ValueError, match="at least one"):
        engine.run(repeat, 1, "")  # type: ignore[type-var, arg-type]


# What travels is small ---------------------------------------------------------------------------

ROWS = 40_000
REAL = Layout((BlockLayout("real", ("x0", "x1")),), (Column("x0", "number", "real", ""),) * 2)


def travelled(split: Any) -> Any:
    """Send a split, and check that it arrives with its rows and no others."""
    there = pickle.loads(pickle.dumps(split))
    assert there.count() == split.count()
    assert there.locate(3) == split.locate(3)
    for mine, its in zip(split.batches(), there.batches(), strict=True):
        assert frozen(mine) == frozen(its)
    again = pickle.dumps(there)
    assert frozen(list(pickle.loads(again).batches())) == frozen(list(split.batches()))
    return len(again), len(pickle.dumps(split))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_slice_of_an_array_takes_its_own_rows(order: Any) -> None:
    rng = np.random.default_rng(0)
    x = np.asarray(rng.normal(size=(ROWS, 2)), order=order)
    labels = Labels.of(rng.integers(0, 3, ROWS))
    source = ArraySource(x, ("x0", "x1"), labels, rng.random(ROWS))
    splits = source.splits(REAL, 2)
    assert len(splits) == 2
    for split in splits:
        for size in travelled(split):
            assert size < (2 + 1 + 1) * 8 * ROWS / 2 + 2_000


def test_a_slice_of_a_sparse_matrix_takes_its_own_rows() -> None:
    x = random_array((ROWS, 50), density=0.1, rng=np.random.default_rng(1)).tocsr()
    names = tuple(f"w{j}" for j in range(50))
    layout = Layout(
        (BlockLayout("events", names),), tuple(Column(n, "number", "text", "") for n in names)
    )
    for split in ArraySource(x, names).splits(layout, 2):
        for size in travelled(split):
            assert size < 0.52 * (x.data.nbytes + x.indices.nbytes + x.indptr.nbytes) + 20_000


def test_targets_beside_an_array_travel_with_their_rows() -> None:
    rng = np.random.default_rng(2)
    layout = replace(REAL, blocks=(*REAL.blocks, BlockLayout("real", ("y",))))
    source = ArrayTargets(
        ArraySource(rng.normal(size=(ROWS, 2)), ("x0", "x1")), rng.normal(size=(ROWS, 1))
    )
    for split in source.splits(layout, 2):
        for size in travelled(split):
            assert size < 3 * 8 * ROWS / 2 + 2_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "x": pa.array(rng.normal(size=ROWS), mask=rng.random(ROWS) < 0.1),
            "letter": pa.array(rng.choice(list("abc"), ROWS)).dictionary_encode(),
            "kind": rng.choice(["yes", "no"], ROWS),
        }
    )


def test_a_slice_of_a_frame_takes_its_own_rows(table: pa.Table) -> None:
    layout = NaiveBayes.textbook().fit(table, "kind").layout_
    frame = open_table(table, "kind").table
    from suffice.data.table_source import TableSource

    splits = TableSource(replace(frame, split_rows=1_000), "kind").splits(layout, 2)
    assert len(splits) == ROWS // 1_000
    for split in splits[::13]:
        for size in travelled(split):
            assert size < 25_000


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_a_part_of_a_file_takes_its_path(table: pa.Table, suffix: str, tmp_path: Path) -> None:
    write: dict[str, Callable[[pa.Table, Path], None]] = {
        ".parquet": lambda rows, path: pq.write_table(rows, path, row_group_size=5_000),
        ".arrow": lambda rows, path: pa.feather.write_feather(rows, path, chunksize=5_000),
        ".csv": pa.csv.write_csv,
    }
    path = tmp_path / f"rows{suffix}"
    plain = table.set_column(1, "letter", table["letter"].cast(pa.string()))
    write[suffix](plain, path)
    layout = NaiveBayes.textbook().fit(path, "kind").layout_
    for split in open_table(path, "kind").splits(layout, 2):
        for size in travelled(split):
            assert size < 2_500


def test_the_laws_hold_where_workers_are_played() -> None:
    class Settled(Here):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Here)

        def __reduce__(self) -> Any:
            return Here, ()

        in_process = True

    check_engine(Settled())
