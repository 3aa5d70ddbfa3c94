"""The engine of Spark: a task per split, and statistics that meet on the executors."""

from __future__ import annotations

import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, groupby
from operator import itemgetter
from traceback import format_exception
from typing import Any, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Broadcast, TaskContext, cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

from suffice._version import __version__
from suffice.data.frames.spark import PartitionRows, SparkRows, gist
from suffice.data.source import Split
from suffice.data.table_source import TableSplit
from suffice.engines.engine import Engine
from suffice.engines.executor import opened
from suffice.engines.local import AVAILABLE_CORES
from suffice.errors import EngineError, ParameterError, SufficeError
from suffice.statistics.statistic import Statistic, tree_sum

__all__ = ["SparkEngine"]

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
ATTEMPTS = 4  # at a task, of a session that is started here
TASKS = 4  # per worker and job; each costs some 0.05 s
_SCHEMA = pa.schema({"index": "int64", "start": "int64", "size": "int64", "piece": "binary"})

_QUIET: dict[str, Any] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_ON_LOOPBACK: dict[str, Any] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
}


@dataclass(frozen=True)
class SparkEngine(Engine):
    """The executors of Spark, classic or Connect.

    The session that is active is used; if there is none, one is started and kept. Executors need
    this library, and read files under the paths that the caller gives. Arrays and frames in memory
    travel to every executor with every pass; a Spark DataFrame is read where it is.

    Parameters
    ----------
    master : str, optional
        Where to start a session, as Spark writes it: ``"spark://host:7077"``, ``"yarn"``. Default:
        the cores of this machine, and four attempts at every task.
    remote : str, optional
        A server of Spark Connect, such as ``"sc://host:15002"``, in its place.

    Raises
    ------
    ParameterError
        If both are given.

    Examples
    --------
    >>> SparkEngine(master="local[2,4]").in_process
    False
    """

    master: str | None = None
    remote: str | None = None

    def __post_init__(self) -> None:
        if self.master is not None and self.remote is not None:
            raise ParameterError(
                f"master={self.master!r} and remote={self.remote!r}",
                "a session is started by the one or by the other",
                "leave one of them out",
            )

    @property
    def workers(self) -> int:
        """How many tasks run at a time."""
        return _parallelism(self._session())

    def map(
        self, kernel: Callable[[Split, P], R], params: P, splits: Sequence[Split]
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order; a few results per worker wait.

        The result of a Spark DataFrame is the sum over its partitions: lists are joined.
        """
        if _in_spark(splits):
            yield self.run(cast(Any, kernel), params, splits)
            return
        wave = TASKS * self.workers
        with _Job(self._session(), kernel, params) as job:
            for start in range(0, len(splits), wave):
                results = _fetched(job.over(splits[start : start + wave]))
                for _, message in _messages(results.to_batches()):
                    yield _value(message)

    def run(self, kernel: Callable[[Split, P], S], params: P, splits: Sequence[Split]) -> S:
        """Return the sum of ``kernel(split, params)``, added in split order."""
        if _in_spark(splits):
            return self._over_frame(kernel, params, cast(TableSplit, splits[0]))
        if not splits:
            return tree_sum(())
        tasks, width = TASKS * self.workers, 1
        while width * tasks < len(splits):
            width *= 2  # sums of 2^j neighbours are the subtrees of their sum
        groups = [tuple(splits[i : i + width]) for i in range(0, len(splits), width)]
        with _Job(self._session(), _sum_of, (kernel, params)) as job:
            return cast(S, tree_sum(job.sums(job.over(groups))))

    def _over_frame(self, kernel: Callable[..., S], params: Any, split: TableSplit) -> S:
        """Sum over the partitions of a Spark DataFrame; an empty one is not worth a task."""
        rows = cast(SparkRows, split.part)
        with _Job(rows.frame.sparkSession, _in_place, (kernel, params, rows.names)) as job:
            sums: list[S] = job.sums(job.over_frame(split))
        return tree_sum(sums or [kernel(replace(split, part=None), params)])

    def _session(self) -> SparkSession:
        """The active session, or a new one.

        Raises
        ------
        EngineError
            If none can be started.
        """
        try:
            active = SparkSession.getActiveSession()
        except Exception as error:
            raise _given_up(error) from error
        if active is not None:
            return active
        master = self.master or f"local[{AVAILABLE_CORES},{ATTEMPTS}]"
        place = self.remote or master
        builder = SparkSession.builder.appName("suffice")
        builder = builder.master(master) if self.remote is None else builder.remote(self.remote)
        here = place.startswith("local")
        if here or self.remote is None:
            builder = builder.config(map=_QUIET)
        if here:
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            builder = builder.config(map=_ON_LOOPBACK)
        try:
            with _on_loopback() if here else nullcontext():
                return builder.getOrCreate()
        except Exception as error:
            raise EngineError(
                f"Spark does not start at {place!r}: {gist(error)}",
                "it needs Java 17 or later, or a server of Spark Connect",
                "install Java or set JAVA_HOME, or give the address of a server by remote=",
            ) from error


# A pass ------------------------------------------------------------------------------------------


class _Job:
    """One pass over rows: what its tasks share is sent once, and taken back at the end."""

    def __init__(self, session: SparkSession, kernel: Callable[..., Any], params: Any) -> None:
        self._session = session
        self._ended = ExitStack()
        self._task = self._share((__version__, cloudpickle.dumps((kernel, params))))

    def __enter__(self) -> _Job:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):  # a session that died has taken everything with it
            self._ended.close()

    def _share(self, value: Any) -> Broadcast[Any] | _Enclosed:
        if _is_remote(self._session):
            return _Enclosed(value)
        shared = self._session.sparkContext.broadcast(value)
        self._ended.callback(shared.destroy)
        return shared

    def over(self, splits: Sequence[Any]) -> DataFrame:
        """One row per split."""
        shared = self._share([cloudpickle.dumps(split) for split in splits])
        n = len(splits)
        each = partial(_on_splits, self._task, shared)
        return self._session.range(0, n, 1, n).mapInArrow(each, ROW)

    def over_frame(self, split: TableSplit) -> DataFrame:
        """One row per partition that is not empty."""
        bare = cloudpickle.dumps(replace(split, part=None))
        each = partial(_on_partition, self._task, bare)
        return cast(SparkRows, split.part).frame.mapInArrow(each, ROW)

    def sums(self, parts: DataFrame) -> list[Any]:
        """Fetch statistics in order; where they are many or large, only their sum."""
        kept = parts.persist()
        self._ended.callback(kept.unpersist)
        few = f"CASE WHEN index < {RESULTS} AND size <= {PIECE} THEN piece END AS piece"
        firsts = _fetched(kept.where("start = 0").selectExpr("index", "start", "size", few))
        if not firsts["piece"].null_count:
            return [_value(message) for _, message in _messages(firsts.to_batches())]
        total, groups = kept, pc.max(firsts["index"]).as_py() + 1
        while groups > 1:
            groups = -(-groups // FAN_IN)
            together = total.repartition(groups, expr(f"index div {FAN_IN}"))
            total = together.sortWithinPartitions("index", "start").mapInArrow(_added, ROW)
        return [_value(message) for _, message in _messages(_fetched(total).to_batches())]


@dataclass(frozen=True)
class _Enclosed:
    """What travels with every task: a server of Spark Connect has nothing to share."""

    value: Any


def _in_spark(splits: Sequence[Any]) -> bool:
    """Tell the one split of a Spark DataFrame from splits that can be sent."""
    return len(splits) == 1 and isinstance(getattr(splits[0], "part", None), SparkRows)


def _fetched(frame: DataFrame) -> pa.Table:
    """Fetch results in the order of their index.

    Raises
    ------
    EngineError
        If Spark does not get through. An exception of a kernel is a result.
    """
    try:
        table: pa.Table = frame.toArrow()
    except Exception as error:
        raise _given_up(error) from error
    return table.sort_by([("index", "ascending"), ("start", "ascending")])


def _given_up(error: Exception) -> EngineError:
    """Say in a sentence why a job failed."""
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
            "look whether they run out of memory, and give them more of it or smaller splits",
        )
    if "No module named 'suffice'" in said:
        return EngineError(
            "the Python of Spark's workers has no suffice",
            "every worker has this library",
            "install it there, or name their Python by PYSPARK_PYTHON",
        )
    return EngineError(f"Spark does not get through: {gist(error)}")


# The session -------------------------------------------------------------------------------------


@contextmanager
def _on_loopback() -> Iterator[None]:
    """Have the processes that Spark starts listen on loopback, those that no option reaches too."""
    before = os.environ.get("SPARK_LOCAL_IP")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SPARK_LOCAL_IP"]
        else:
            os.environ["SPARK_LOCAL_IP"] = before


def _is_remote(session: SparkSession) -> bool:
    """Tell a session of Spark Connect."""
    return not hasattr(session, "sparkContext")


def _parallelism(session: SparkSession) -> int:
    if _is_remote(session):
        return _partitions(session)
    return int(session.sparkContext.defaultParallelism)


@lru_cache(maxsize=1)
def _partitions(session: SparkSession) -> int:
    """Into how many partitions a server of Spark Connect cuts rows unasked."""
    return int(session.range(1 << 10).select(expr("spark_partition_id()")).distinct().count())


# What executors do -------------------------------------------------------------------------------


def _on_splits(task: Any, splits: Any, numbers: Batches) -> Batches:
    """Run the task on the splits of these numbers."""
    for batch in numbers:
        for index in batch.column(0).to_pylist():
            yield from _pieces(index, _message(_performed, task.value, splits.value[index]))


def _on_partition(task: Any, split: bytes, batches: Batches) -> Batches:
    """Run the task on the rows of a partition, which are here."""
    context = TaskContext.get()
    index = context.partitionId() if context is not None else 0
    yield from _pieces(index, _message(_performed, task.value, split, batches, index))


def _added(rows: Batches) -> Batches:
    """Add the results of neighbours, which arrive in order."""
    for group, neighbours in groupby(_messages(rows), lambda pair: pair[0] // FAN_IN):
        values = (_value(message) for _, message in neighbours)
        yield from _pieces(group, _message(tree_sum, values))


def _performed(task: tuple[str, bytes], split: bytes, *here: Any) -> Any:
    kernel, params = opened(*task)
    return kernel(pickle.loads(split), params, *here)


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
    """Cut a result into rows."""
    content = pickle.dumps(message)
    for start in range(0, len(content), PIECE):
        row = [index, start, len(content), content[start : start + PIECE]]
        yield pa.record_batch([[cell] for cell in row], schema=_SCHEMA)


def _messages(rows: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Message]]:
    """Put results together, each from rows that follow each other."""
    columns = ((batch["index"].to_pylist(), batch["piece"].to_pylist()) for batch in rows)
    pairs = chain.from_iterable(zip(*both, strict=True) for both in columns)
    for index, pieces in groupby(pairs, itemgetter(0)):
        yield index, pickle.loads(b"".join(piece for _, piece in pieces))


def _sum_of(splits: Sequence[Any], job: tuple[Callable[[Any, Any], Any], Any]) -> Any:
    """Kernel that adds the results of several splits."""
    kernel, params = job
    return tree_sum(kernel(split, params) for split in splits)


def _in_place(
    split: TableSplit,
    job: tuple[Callable[[Any, Any], Any], Any, tuple[str, ...]],
    arriving: Batches,
    partition: int,
) -> Any:
    """Kernel that reads rows which are here already."""
    kernel, params, names = job
    return kernel(replace(split, part=PartitionRows(arriving, names, partition)), params)
