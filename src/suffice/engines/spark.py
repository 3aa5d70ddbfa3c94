"""The engine of Spark DataFrames: kernels go to the partitions, and sums meet on the executors."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from traceback import format_exception
from typing import Any, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from suffice._version import __version__
from suffice.data.frames.spark import PartitionRows, SparkRows, gist
from suffice.data.source import Part
from suffice.engines.engine import Engine
from suffice.engines.executor import opened
from suffice.errors import EngineError, ParameterError, SufficeError
from suffice.sums.base import Statistic, tree_sum

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
R = TypeVar("R")
Batches = Iterator[pa.RecordBatch]
Message = tuple[bool, bytes]
"""Whether a kernel raised an exception, and what it returned or raised, pickled."""

ROW = "index long, start long, size long, piece binary"  # a piece of the result of this index
PIECE = 1 << 18  # bytes; the Java side of Spark cannot bear large cells
RESULTS = 256  # more, or ones of more than a piece, are added on the executors
FAN_IN = 8  # sums added at a time there, a power of two
_SCHEMA = pa.schema({"index": "int64", "start": "int64", "size": "int64", "piece": "binary"})


@dataclass(frozen=True)
class SparkEngine(Engine):
    """The executors of Spark, classic or Connect, for DataFrames of Spark: read where they are.

    Executors need this library. Files are read by ``spark.read`` first.
    """

    @property
    def workers(self) -> int:
        return 1

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        yield self.run(cast(Any, kernel), params, parts)  # the sum; lists are joined

    def run(self, kernel: Callable[[Part, P], S], params: P, parts: Sequence[Part]) -> S:
        part: Any = parts[0] if len(parts) == 1 else None
        if not isinstance(part, SparkRows):
            raise ParameterError(
                "engine='spark' is given for rows that are not in Spark",
                "it reads Spark DataFrames",
                "make one by spark.read or spark.createDataFrame, or leave the engine out",
            )
        bare = PartitionRows((), part.names, 0, layout=part.layout)
        task = __version__, cloudpickle.dumps(((kernel, bare), params))
        kept = part.frame.mapInArrow(partial(_on_partition, task), ROW).persist()
        try:
            sums = list(_sums(kept))
        finally:
            with suppress(Exception):  # a session that died has taken everything with it
                kept.unpersist()
        return cast(S, tree_sum(sums or [kernel(bare, params)]))


def _sums(parts: DataFrame) -> Iterator[Any]:
    """Fetch results in order; where they are many or large, only their sum."""
    few = f"CASE WHEN index < {RESULTS} AND size <= {PIECE} THEN piece END AS piece"
    firsts = _fetched(parts.where("start = 0").selectExpr("index", "start", "size", few))
    if firsts["piece"].null_count:
        groups = pc.max(firsts["index"]).as_py() + 1
        while groups > 1:
            groups = -(-groups // FAN_IN)
            together = parts.repartition(groups, expr(f"index div {FAN_IN}"))
            parts = together.sortWithinPartitions("index", "start").mapInArrow(_added, ROW)
        firsts = _fetched(parts)
    for _, message in _messages(firsts.to_batches()):
        yield _value(message)


def _fetched(frame: DataFrame) -> pa.Table:
    """Fetch results in the order of their index; an exception of a kernel is a result."""
    try:
        table: pa.Table = frame.toArrow()
    except Exception as error:
        raise _given_up(error) from error
    return table.sort_by([("index", "ascending"), ("start", "ascending")])


def _given_up(error: Exception) -> EngineError:
    said = str(error)
    if isinstance(error, ConnectionError) or "Java side is empty" in said:
        return EngineError(
            "the session of Spark has died", "", "see Spark's log, and start Python anew"
        )
    if "Python worker exited unexpectedly" in said:
        times = re.search(r"failed (\d+) times", said)
        return EngineError(
            f"{times[1] if times else 1} workers died, one after the other, over the same rows",
            "Spark replaces a lost worker, but not without end",
            "look whether they run out of memory, and give them more of it or smaller partitions",
        )
    if "No module named 'suffice'" in said:
        return EngineError(
            "the Python of Spark's workers has no suffice",
            "every worker has this library",
            "install it there, or name their Python by PYSPARK_PYTHON",
        )
    return EngineError(f"Spark does not get through: {gist(error)}")


# What executors do -------------------------------------------------------------------------------


def _on_partition(task: tuple[str, bytes], batches: Batches) -> Batches:
    """Run the kernel on the rows of a partition, which are here and can be read once."""
    context = TaskContext.get()
    index = context.partitionId() if context is not None else 0
    yield from _pieces(index, _message(_performed, task, batches, index))


def _performed(task: tuple[str, bytes], batches: Batches, index: int) -> Any:
    (kernel, part), params = cast(Any, opened(*task))
    return kernel(replace(part, arriving=batches, partition=index), params)


def _added(rows: Batches) -> Batches:
    """Add the results of neighbours, which arrive in order."""
    for group, neighbours in groupby(_messages(rows), lambda pair: pair[0] // FAN_IN):
        values = (_value(message) for _, message in neighbours)
        yield from _pieces(group, _message(tree_sum, values))


def _message(call: Callable[..., Any], *arguments: Any) -> Message:
    """Call, and return what to send: an exception is a value, or Spark would make text of it."""
    try:
        return False, cloudpickle.dumps(call(*arguments))
    except Exception as error:
        if not isinstance(error, SufficeError):
            error.add_note(f"It was raised on a worker:\n{''.join(format_exception(error))}")
        try:
            content = pickle.dumps(error)
            pickle.loads(content)  # not every exception can be opened
        except Exception:
            content = pickle.dumps(EngineError(f"a worker raised {type(error).__name__}: {error}"))
        return True, content


def _value(message: Message) -> Any:
    raised, content = message
    value = pickle.loads(content)
    if raised:
        raise value
    return value


def _pieces(index: int, message: Message) -> Batches:
    content = pickle.dumps(message)
    for start in range(0, len(content), PIECE):
        row = [[index], [start], [len(content)], [content[start : start + PIECE]]]
        yield pa.record_batch(row, schema=_SCHEMA)


def _messages(rows: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Message]]:
    cells = (row for batch in rows for row in batch.to_pylist())
    for index, pieces in groupby(cells, itemgetter("index")):
        yield index, pickle.loads(b"".join(row["piece"] for row in pieces))
