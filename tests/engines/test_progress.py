"""What is told of a pass while it lasts."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from scipy.sparse import csr_array
from tests.running import on

import suffice
from suffice import LinearRegression, NaiveBayes
from suffice.data.source import Part
from suffice.engines import progress as home
from suffice.engines.executor import ProcessesEngine
from suffice.engines.local import LocalEngine
from suffice.engines.progress import Progress, WatchedEngine, bar, described
from suffice.linear_model import LogisticRegression

N = 20_000


@pytest.fixture(autouse=True)
def _without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "PAUSE", 0.0)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 2))
    labels = np.where(x[:, 0] + rng.normal(size=N) > 0, "yes", "no")
    colours = rng.choice(["red", "green"], N)
    return pa.table({"a": x[:, 0], "b": x[:, 1], "colour": colours, "y": labels})


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows in files of every kind."""
    folder = tmp_path_factory.mktemp("files")
    pq.write_table(table, folder / "rows.parquet", row_group_size=N // 7)
    pc.write_csv(table, folder / "rows.csv")
    (folder / "rows.csv.gz").write_bytes(gzip.compress((folder / "rows.csv").read_bytes(), 1))
    for name, deserialised in (("rows.arrow", ipc.new_file), ("rows.arrows", ipc.new_stream)):
        with deserialised(folder / name, table.schema) as writer:
            writer.write_table(table, max_chunksize=N // 5)
    (folder / "year=2026").mkdir()
    pq.write_table(table, folder / "year=2026" / "rows.parquet", row_group_size=N // 3)
    return folder


def told(
    rows: Any, engine: Any, estimator: Any = NaiveBayes.textbook
) -> tuple[list[Progress], Any]:
    """What is said of a fit, and the model."""
    seen: list[Progress] = []
    return seen, on(WatchedEngine(engine, seen.append), estimator()).fit(rows, "y")


def check(seen: Sequence[Progress], size: int | None) -> None:
    """One pass, from its beginning to its end."""
    assert seen[-1].rows == seen[-1].total_rows == N
    assert seen[-1].fraction == 1.0
    assert seen[-1].seconds_left == 0.0
    assert seen[-1].bytes == seen[-1].total_bytes
    if size is not None:
        assert abs(seen[-1].bytes - size) < 10
    for before, after in pairwise(seen):
        assert before.rows <= after.rows
        assert before.bytes <= after.bytes
        assert 0 <= before.fraction <= after.fraction
        assert before.number == after.number


PARTS = {"rows.parquet": 8, "year=2026/rows.parquet": 4}


@pytest.mark.parametrize("engine", [LocalEngine(2), ProcessesEngine(2)], ids=str)
@pytest.mark.parametrize("name", PARTS)
def test_files_are_told_part_by_part(folder: Path, name: str, engine: Any) -> None:
    seen, model = told(folder / name, engine)
    check(seen, (folder / name).stat().st_size)
    assert len({progress.rows for progress in seen}) == PARTS[name]
    assert model.statistic_ == NaiveBayes.textbook().fit(folder / name, "y").statistic_


def test_the_size_of_text_is_known_but_not_its_rows(folder: Path) -> None:
    for name in ("rows.csv", "rows.csv.gz"):
        last = told(folder / name, LocalEngine(1))[0][-1]
        size = (folder / name).stat().st_size
        assert (last.rows, last.total_rows, last.bytes, last.total_bytes) == (0, None, size, size)
        assert last.fraction == 1.0


def test_tables_in_memory_are_told(table: pa.Table) -> None:
    seen, _ = told(table, LocalEngine(2))
    check(seen, None)
    x = np.abs(np.column_stack([table["a"], table["b"]]))
    for rows in (x, csr_array(x)):
        seen = []
        on(WatchedEngine(LocalEngine(2), seen.append), NaiveBayes.textbook()).fit(rows, table["y"])
        check(seen, None)


def test_passes_are_numbered(folder: Path) -> None:
    seen, _ = told(folder / "rows.parquet", LocalEngine(2), LogisticRegression)
    numbers = [progress.number for progress in seen]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, numbers[-1] + 1))
    assert numbers[-1] > 3
    for number in set(numbers):
        check([progress for progress in seen if progress.number == number], None)


def test_predictions_are_told(folder: Path) -> None:
    seen: list[Progress] = []
    model = NaiveBayes.textbook().fit(folder / "rows.parquet", "y")
    answers = on(WatchedEngine(LocalEngine(2), seen.append), model).predict_proba(
        folder / "rows.parquet"
    )
    check(seen, (folder / "rows.parquet").stat().st_size)
    np.testing.assert_array_equal(answers, model.predict_proba(folder / "rows.parquet"))


def test_an_unknown_kind_of_part_is_told_by_number() -> None:
    class Rows(Part):
        """A part that says nothing of its size."""

        def batches(self) -> Any:
            yield from ()

        def locate(self, row: int) -> str:
            return f"row {row}"

    seen: list[Progress] = []
    engine = WatchedEngine(LocalEngine(1), seen.append)
    assert list(engine.map(_number_of_batches, None, [Rows(), Rows()])) == [0, 0]
    assert [progress.fraction for progress in seen] == [0.5, 1.0, 1.0]
    assert list(engine.map(_number_of_batches, None, [])) == []


def test_batches_are_told_when_they_are_read(folder: Path) -> None:
    seen: list[Progress] = []
    model = NaiveBayes.textbook().fit(folder / "rows.parquet", "y")
    with suffice.set_engine(WatchedEngine(LocalEngine(1), seen.append)):
        answers = model.predict_batches(folder / "rows.parquet")
        assert not seen
        rows = sum(table.num_rows for table in answers)
    check(seen, (folder / "rows.parquet").stat().st_size)
    assert seen[-1].rows == rows


def _number_of_batches(part: Any, _: None) -> int:
    return len(list(part.batches()))


def test_a_bad_cell_is_still_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0, np.inf], "y": [0, 1, 0]}), path, row_group_size=1)
    with pytest.raises(suffice.errors.DataError, match=r"^column 'a', row 3 of bad\.parquet: inf"):
        on(WatchedEngine(LocalEngine(2), lambda progress: None), NaiveBayes.textbook()).fit(
            path, "y"
        )


def test_what_the_listener_raises_ends_the_fit(table: pa.Table) -> None:
    def listen(progress: Progress) -> None:
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        on(WatchedEngine(LocalEngine(2), listen), NaiveBayes.textbook()).fit(table, "y")


# The bar -----------------------------------------------------------------------------------------


class Immediately:
    """A timer whose time has come."""

    def __init__(self, seconds: float, act: Callable[[], None]) -> None:
        self.start = act

    def cancel(self) -> None: ...

    def join(self) -> None: ...


class Never(Immediately):
    """A timer whose time does not come."""

    def __init__(self, seconds: float, act: Callable[[], None]) -> None:
        self.start = lambda: None


HALF = Progress(1_500_000, 12_000_000, 3_000_000, 24_000_000, 0.5, 61.5)


def shown(interactive: bool = True) -> str:
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, force_interactive=interactive, width=80, color_system=None
    )
    with bar("Learning from a.csv", console) as report:
        report(HALF)
    return file.getvalue()


def test_the_bar_says_rows_bytes_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "Timer", Immediately)
    line = [line for line in shown().splitlines() if "Learning" in line][-1]
    for part in ("Learning from a.csv", "50%", "1,500,000 rows, 12.0 MB, 0:01:01 left"):
        assert part in line


def test_what_is_soon_done_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "Timer", Never)
    assert "Learning" not in shown()


def test_where_no_terminal_is_nothing_is_printed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], table: pa.Table
) -> None:
    monkeypatch.setattr(home, "Timer", Immediately)
    assert shown(interactive=False) == ""
    on(suffice.engine(progress=True), LinearRegression()).fit(table.select(["a", "b"]), "a")
    assert capfd.readouterr() == ("", "")


def test_words_for_what_is_known() -> None:
    assert described(HALF) == "1,500,000 rows, 12.0 MB, 0:01:01 left"
    assert described(Progress(0, 0, None, None, 0.0, None)) == "0 rows"
    assert described(Progress(5, 0, None, None, 0.5, 0.2, 3)) == "pass 3, 5 rows, 0:00:00 left"
