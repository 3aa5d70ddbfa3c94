"""What is told of a pass while it lasts."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
import rich.console
from scipy.sparse import csr_array
from tests.running import on, processes

import suffice
from suffice import LinearRegression, LogisticRegression, NaiveBayes
from suffice.engines.progress import Progress, bar

N, GROUPS = 20_000, 8


@pytest.fixture(autouse=True)
def _without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.engines.progress.PAUSE", 0.0)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, 2))
    labels = np.where(x[:, 0] + rng.normal(size=N) > 0, "yes", "no")
    colours = rng.choice(["red", "green"], N)
    return pa.table({"a": x[:, 0], "b": x[:, 1], "colour": colours, "y": labels})


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    pq.write_table(table, folder / "rows.parquet", row_group_size=-(-N // GROUPS))
    pc.write_csv(table, folder / "rows.csv")
    (folder / "rows.csv.gz").write_bytes(gzip.compress((folder / "rows.csv").read_bytes(), 1))
    return folder


def told(rows: Any, y: Any = "y", make: Any = NaiveBayes.textbook, name: Any = "local") -> Any:
    """What is said of a fit, and the model."""
    seen: list[Any] = []
    return seen, on(suffice.engine(name, progress=seen.append), make()).fit(rows, y)


def check(seen: Sequence[Any], size: int | None) -> None:
    """One pass, from its beginning to its end."""
    last = seen[-1]
    assert (last.rows, last.total_rows, last.fraction, last.seconds_left) == (N, N, 1.0, 0.0)
    assert last.bytes == last.total_bytes
    assert size is None or abs(last.bytes - size) < 10
    for before, after in pairwise(seen):
        assert before.rows <= after.rows
        assert before.bytes <= after.bytes
        assert 0 <= before.fraction <= after.fraction
        assert before.number == after.number


@pytest.mark.parametrize("far_away", [False, True])
def test_files_are_told_part_by_part(folder: Path, far_away: bool) -> None:
    path = folder / "rows.parquet"
    seen, model = told(path, name=processes() if far_away else "local")
    check(seen, path.stat().st_size)
    assert len({progress.rows for progress in seen}) == GROUPS
    assert model.statistic_ == NaiveBayes.textbook().fit(path, "y").statistic_


def test_the_size_of_text_is_known_but_not_its_rows(folder: Path) -> None:
    for name in ("rows.csv", "rows.csv.gz"):
        last = told(folder / name)[0][-1]
        size = (folder / name).stat().st_size
        assert (last.rows, last.total_rows, last.bytes, last.total_bytes) == (0, None, size, size)
        assert last.fraction == 1.0


def test_tables_in_memory_are_told(table: pa.Table) -> None:
    check(told(table)[0], None)
    x = np.abs(np.column_stack([table["a"], table["b"]]))
    for rows in (x, csr_array(x)):
        check(told(rows, table["y"])[0], None)


def test_passes_are_numbered(folder: Path) -> None:
    seen, _ = told(folder / "rows.parquet", make=LogisticRegression)
    numbers = [progress.number for progress in seen]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, numbers[-1] + 1))
    assert numbers[-1] > 3
    for number in set(numbers):
        check([progress for progress in seen if progress.number == number], None)


def test_predictions_are_told_when_they_are_read(folder: Path) -> None:
    seen: list[Any] = []
    path = folder / "rows.parquet"
    model = NaiveBayes.textbook().fit(path, "y")
    with suffice.set_engine("local", threads=1, progress=seen.append):
        answers = model.predict_batches(path)
        assert not seen
        rows = sum(table.num_rows for table in answers)
    check(seen, path.stat().st_size)
    assert seen[-1].rows == rows


def test_what_the_listener_raises_ends_the_fit(table: pa.Table) -> None:
    def listen(progress: Any) -> None:
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        on(suffice.engine(progress=listen), NaiveBayes.textbook()).fit(table, "y")


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


@pytest.mark.parametrize(
    ("timer", "terminal"), [(Immediately, True), (Never, True), (Immediately, False)]
)
def test_a_bar_is_shown_of_what_takes_long_on_a_terminal(
    timer: Any, terminal: bool, monkeypatch: pytest.MonkeyPatch, table: pa.Table
) -> None:
    file, own = io.StringIO(), rich.console.Console
    how: dict[str, Any] = {"file": file, "width": 80, "color_system": None}
    how |= {"force_terminal": True, "force_interactive": terminal}
    monkeypatch.setattr(rich.console, "Console", lambda **_: own(**how))
    monkeypatch.setattr("suffice.engines.progress.Timer", timer)
    on(suffice.engine(progress=True), LinearRegression()).fit(table.select(["a", "b"]), "a")
    lines = [line for line in file.getvalue().splitlines() if "Reading" in line]
    assert bool(lines) == (terminal and timer is Immediately)
    if lines:
        for part in ("100%", "20,000 rows, 320.0 kB, 0:00:00 left"):
            assert part in lines[-1]


def test_a_notebook_shows_a_bar_until_the_work_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    handle = SimpleNamespace(update=pages.append)
    shell = SimpleNamespace(kernel=object())
    vars(ipython).update(get_ipython=lambda: shell)
    vars(display).update(HTML=str, display=lambda page, display_id: pages.append(page) or handle)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with bar("<b>") as report:
        report(Progress(1, 0, 4, None, 0.25, 3.0))
    assert pages == []  # it was done within a second
    monkeypatch.setattr("suffice.engines.progress.SOON", -1.0)
    with bar("<b>") as report:
        report(Progress(1, 0, 4, None, 0.25, 3.0))
        report(Progress(2, 0, 4, None, 0.5, 2.0))
    assert [page.count('value="0.') for page in pages] == [1, 1, 0]
    assert "&lt;b&gt;: 25%, 1 rows" in pages[0]
    del shell.kernel  # IPython on a terminal
    with bar("Fit", rich.console.Console(file=io.StringIO())) as report:
        report(Progress(1, 0, 4, None, 0.25, 3.0))
    assert len(pages) == 3
