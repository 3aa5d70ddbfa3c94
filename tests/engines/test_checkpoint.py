"""Fits that go on from a checkpoint: the same bits, whenever and however they were ended."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.running import on

import suffice
from suffice import LinearRegression, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.engines import checkpoint
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.engine import LocalEngine, fit_context
from suffice.errors import EngineError, ModelFileError, ParameterError
from suffice.linear_model import LogisticRegression
from suffice.persist import read_model, write_model
from suffice.sums.vocabulary import Vocabulary

GROUPS = 16
NOTE = "What is summed so far is kept in fit.checkpoint: run the same again to go on."


def written(path: Path, seed: int = 0, label: str = "class", categories: bool = True) -> Path:
    """A file of many row groups: numbers far from 0, categories, and a label."""
    rng = np.random.default_rng(seed)
    n = 50 * GROUPS
    x = rng.normal([0.0, 1e6, -3.0], [1.0, 2.0, 1e-3], (n, 3))
    y = x[:, 0] + (x[:, 1] - 1e6) + rng.normal(size=n)
    columns = {f"x{j}": x[:, j] for j in range(3)}
    if categories:
        columns["colour"] = rng.choice(["red", "green", "blue"], n)
    columns["y"] = np.where(y > 0, "yes", "no") if label == "class" else y
    pq.write_table(pa.table(columns), path, row_group_size=50)
    return path


@pytest.fixture(autouse=True)
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "rows.parquet")


def bits(model: Any) -> bytes:
    """Everything that was learnt."""
    path = Path("model.suffice")
    model.save(path)
    content = path.read_bytes()
    path.unlink()
    return content


class Stop(BaseException):
    """Ends a fit."""


@dataclass(frozen=True)
class Stopping:
    """An engine that raises something after so many results."""

    after: int = -1
    error: BaseException | type[BaseException] = Stop
    given: list[int] = field(default_factory=list)

    workers = 2
    in_process = True

    def map(self, kernel: Any, params: Any, parts: Sequence[Any]) -> Iterator[Any]:
        for result in LocalEngine(2).map(kernel, params, parts):
            if len(self.given) == self.after:
                raise self.error
            self.given.append(1)
            yield result

    def run(self, kernel: Any, params: Any, parts: Sequence[Any]) -> Any:
        raise AssertionError("a checkpoint is made of results one by one")


def checkpointed(engine: Any = None) -> CheckpointedEngine:
    return CheckpointedEngine(engine or Stopping(), "fit.checkpoint", every=0.0)


def stopped(make: Callable[..., Any], file: Any, after: int, **how: Any) -> BaseException:
    """What ended a fit after so many results."""
    error = how.get("error", Stop)
    kind = error if isinstance(error, type) else type(error)
    with pytest.raises(kind) as caught:
        on(checkpointed(Stopping(after, **how)), make()).fit(file, "y")
    return caught.value


CLOSED: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "naive Bayes": (NaiveBayes.textbook, {}),
    "LDA": (LinearDiscriminantAnalysis, {"categories": False}),
    "linear regression": (LinearRegression, {"label": "number"}),  # categories first, then sums
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_stopped_fit_goes_on_to_the_same_bits(name: str, tmp_path: Path) -> None:
    make, columns = CLOSED[name]
    file = written(tmp_path / "rows.parquet", **columns)
    whole = Stopping()
    expected = bits(on(checkpointed(whole), make()).fit(file, "y"))
    assert expected == bits(make().fit(file, "y"))
    n = len(whole.given)
    for after in {7, GROUPS + 3} & set(range(n)):
        assert stopped(make, file, after).__notes__ == [NOTE]
        rest = Stopping()
        assert bits(on(checkpointed(rest), make()).fit(file, "y")) == expected
        assert len(rest.given) == n - after
        assert os.listdir() == ["rows.parquet"]


def test_a_fit_may_be_stopped_again_and_again(file: Path) -> None:
    expected = bits(NaiveBayes.textbook().fit(file, "y"))
    for _ in range(2):
        stopped(NaiveBayes.textbook, file, 5)
    rest = Stopping()
    assert bits(on(checkpointed(rest), NaiveBayes.textbook()).fit(file, "y")) == expected
    assert len(rest.given) == GROUPS - 2 * 5


def test_weights_of_columns_are_learnt_in_another_reading(file: Path) -> None:
    """The checkpoint holds no row; a fit with one is the fit without."""
    expected = bits(NaiveBayes().fit(file, "y"))
    stopped(NaiveBayes, file, 9)
    model = on(checkpointed(LocalEngine(2)), NaiveBayes()).fit(file, "y")
    assert not model.calibration_.stale
    assert bits(model) == expected
    assert os.listdir() == ["rows.parquet"]


def test_another_engine_may_go_on(file: Path) -> None:
    expected = bits(NaiveBayes.textbook().fit(file, "y"))
    stopped(NaiveBayes.textbook, file, 9)
    model = on(checkpointed(LocalEngine(4)), NaiveBayes.textbook())
    assert bits(model.fit(file, "y")) == expected


def test_an_interrupt_in_the_middle_of_an_addition_loses_no_term(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = bits(NaiveBayes.textbook().fit(file, "y"))
    kind = type(NaiveBayes.textbook().fit(file, "y").statistic_)
    add, n = kind.__add__, GROUPS - GROUPS.bit_count()  # additions of neighbours
    for after in {0, n - 1}:
        added: list[int] = []

        def interrupted(self: Any, other: Any, after: int = after, added: Any = added) -> Any:
            if len(added) == after:
                raise KeyboardInterrupt
            added.append(1)
            return add(self, other)

        with monkeypatch.context() as patch:
            patch.setattr(kind, "__add__", interrupted)
            with pytest.raises(KeyboardInterrupt):
                on(checkpointed(), NaiveBayes.textbook()).fit(file, "y")
        rest = Stopping()
        assert bits(on(checkpointed(rest), NaiveBayes.textbook()).fit(file, "y")) == expected
        assert len(rest.given) < GROUPS


# Killed ------------------------------------------------------------------------------------------

# Python's own events, of all threads, are counted, and the process kills itself at the one that is
# asked for: in the middle of reading, adding, encoding, writing or renaming, whatever it is.
KILLED = """
import os, signal, sys, threading
from pathlib import Path
from suffice import NaiveBayes
from suffice.engines import checkpoint
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.engine import set_engine
from suffice.engines.engine import LocalEngine

checkpoint.SHARE = float("inf")  # written after every result, however slow the disk is
moment, events = {moment}, 0

def count(*_):
    global events
    events += 1
    if 0 < moment <= events:
        os.kill(os.getpid(), signal.SIGKILL)

os.chdir({folder!r})
# Two threads would share the work in another way each time, and the events would not be the same.
set_engine(CheckpointedEngine(LocalEngine(1), "fit.checkpoint", every=0.0))
if not Path("fit.checkpoint").exists():  # imports and loading would be most of the events
    NaiveBayes.textbook().fit("rows.parquet", "y")
threading.setprofile(count)
sys.setprofile(count)
NaiveBayes.textbook().fit("rows.parquet", "y")
sys.setprofile(None)
Path("events").write_text(str(events))
"""


def run_to_its_end(folder: Path, moment: int) -> int | None:
    """The exit code of a process that fits a model."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["suffice.naive_bayes", "suffice.engines.checkpoint"])
    code = KILLED.format(moment=moment, folder=str(folder))
    process = context.Process(target=exec, args=(code, {}))
    process.start()
    process.join()
    return process.exitcode


def test_a_killed_fit_goes_on_to_the_same_bits(tmp_path: Path, file: Path) -> None:
    whole = Stopping()
    expected = bits(on(checkpointed(whole), NaiveBayes.textbook()).fit(file, "y"))
    assert run_to_its_end(tmp_path, moment=0) == 0
    events = int((tmp_path / "events").read_text())
    begun = 0
    for moment in np.random.default_rng(0).integers(1, 0.9 * events, 2).tolist():
        assert run_to_its_end(tmp_path, moment) == -signal.SIGKILL
        rest = Stopping()
        assert bits(on(checkpointed(rest), NaiveBayes.textbook()).fit(file, "y")) == expected
        begun += len(rest.given) < len(whole.given)
        assert not Path("fit.checkpoint").exists()
    assert begun > 0


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:strings are read as what they spell")
@pytest.mark.parametrize(
    "other",
    [
        lambda file: on(checkpointed(), NaiveBayes.textbook(alpha=2.0)).fit(file, "y"),
        lambda file: on(checkpointed(), NaiveBayes.textbook()).fit(file, "colour"),
        lambda file: on(checkpointed(), NaiveBayes.textbook()).fit([file, file], "y"),
        lambda file: on(checkpointed(), NaiveBayes.textbook()).fit(written(file, seed=1), "y"),
        lambda file: on(checkpointed(), NaiveBayes.textbook()).fit(
            file.rename("moved.parquet"), "y"
        ),
        lambda file: on(checkpointed(), LogisticRegression()).fit(file, "y"),
    ],
    ids=["option", "label", "files", "rows", "path", "model"],
)
def test_a_checkpoint_of_other_work_is_refused(file: Path, other: Callable[[Path], Any]) -> None:
    stopped(NaiveBayes.textbook, file, 5)
    before = Path("fit.checkpoint").read_bytes()
    with pytest.raises(ParameterError, match=r"^fit\.checkpoint is the checkpoint of other work"):
        other(file)
    assert Path("fit.checkpoint").read_bytes() == before


def test_a_file_of_the_same_size_and_time_is_other_work() -> None:
    files = [Path("a.csv"), Path("b.csv")]
    for file in files:
        file.write_text("x,y\n" + "1.5,no\n2.5,yes\n" * 30)
    stopped(NaiveBayes.textbook, files, 1)
    before = files[1].stat()
    Path("c.csv").write_text("x,y\n" + "1.5,no\n3.5,yes\n" * 30)
    os.utime("c.csv", ns=(before.st_atime_ns, before.st_mtime_ns))
    now = Path("c.csv").replace(files[1]).stat()
    assert (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(ParameterError, match="checkpoint of other work"):
        on(checkpointed(), NaiveBayes.textbook()).fit(files, "y")


def test_a_damaged_checkpoint_is_refused(file: Path) -> None:
    stopped(NaiveBayes.textbook, file, 5)
    path = Path("fit.checkpoint")
    whole = path.read_bytes()
    for length in (0, 50, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=r"^fit\.checkpoint"):
            on(checkpointed(), NaiveBayes.textbook()).fit(file, "y")
        assert path.read_bytes() == whole[:length]


def test_a_forged_checkpoint_is_refused(file: Path) -> None:
    """Its digest holds, and its sums are of other columns, or their categories are closed."""
    path = Path("fit.checkpoint")
    stopped(NaiveBayes.textbook, file, 5)
    _, (kept,) = read_model(path, types=checkpoint.TYPES)

    def closed(sums: Any) -> Any:
        numbers, colours = sums.blocks
        values = colours.vocabularies[0].values
        return (numbers, replace(colours, vocabularies=(Vocabulary(values, closed=True),)))

    for change in (closed, lambda sums: sums.blocks[:1]):
        forged = [(level, replace(sums, blocks=change(sums))) for level, sums in kept.stack]
        content = [replace(kept, stack=tuple(forged))]
        write_model(path, checkpoint.KIND, content, types=checkpoint.TYPES)
        with pytest.raises(
            ModelFileError, match=r"fit\.checkpoint holds sums that cannot be added"
        ):
            on(checkpointed(), NaiveBayes.textbook()).fit(file, "y")


def test_a_file_that_is_no_checkpoint_is_left_alone(file: Path) -> None:
    for path in (file, Path("rows.csv"), Path("other.suffice")):
        if path.suffix == ".csv":
            path.write_text("x,y\n1,2\n")
        if path.suffix == ".suffice":
            NaiveBayes.textbook().fit(file, "y").save(path)
        before = path.read_bytes()
        with pytest.raises(ModelFileError, match=f"^{path.name}|/{path.name}"):
            on(CheckpointedEngine(LocalEngine(), path), NaiveBayes.textbook()).fit(file, "y")
        assert path.read_bytes() == before


def test_who_cannot_write_knows_before_the_work(file: Path) -> None:
    engine = Stopping()
    model = on(CheckpointedEngine(engine, "absent/fit.checkpoint"), NaiveBayes.textbook())
    with pytest.raises(ModelFileError, match=r"absent/fit\.checkpoint cannot be written: No such"):
        model.fit(file, "y")
    assert not engine.given


def test_only_rows_in_files_have_a_checkpoint(file: Path) -> None:
    table = pq.read_table(file)
    stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    for rows, y in ((np.eye(4), [0, 1, 0, 1]), (table, "y"), (stream, "y")):
        with pytest.raises(ParameterError, match=r"^a checkpoint is asked for of rows that are"):
            on(checkpointed(), NaiveBayes.textbook()).fit(rows, y)
    assert os.listdir() == ["rows.parquet"]


# What else there is to it ------------------------------------------------------------------------


def test_a_fit_that_fails_at_once_leaves_no_file(file: Path) -> None:
    stopped(NaiveBayes.textbook, file, 0)
    assert os.listdir() == ["rows.parquet"]


def test_who_is_told_how_to_go_on(file: Path) -> None:
    lost = EngineError("a worker died")
    assert stopped(NaiveBayes.textbook, file, 3, error=lost).__notes__ == [NOTE]
    assert stopped(NaiveBayes.textbook, file, 3, error=KeyboardInterrupt).__notes__ == [NOTE]
    wrong = suffice.errors.DataError("column 'x0', row 3: inf")
    assert not hasattr(stopped(NaiveBayes.textbook, file, 3, error=wrong), "__notes__")
    assert Path("fit.checkpoint").exists()


def test_the_file_stays_while_the_work_lasts(file: Path) -> None:
    with fit_context():
        on(checkpointed(), NaiveBayes.textbook()).fit(file, "y")
        assert Path("fit.checkpoint").exists()
    assert not Path("fit.checkpoint").exists()


def test_work_that_fails_after_the_fit_is_not_lost(file: Path) -> None:
    with pytest.raises(Stop), fit_context():  # noqa: PT012
        on(checkpointed(), NaiveBayes.textbook()).fit(file, "y")
        raise Stop
    rest = Stopping()
    on(checkpointed(rest), NaiveBayes.textbook()).fit(file, "y")
    assert not rest.given


def test_an_engine_is_its_settings() -> None:
    engine = suffice.engine("local", threads=2, checkpoint="fit.checkpoint")
    assert engine == CheckpointedEngine(LocalEngine(2), "fit.checkpoint")
    assert (engine.workers, engine.in_process) == (2, True)
    for same in (copy.deepcopy(engine), pickle.loads(pickle.dumps(engine))):
        assert same == engine
        assert hash(same) == hash(engine)
