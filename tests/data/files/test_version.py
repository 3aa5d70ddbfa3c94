"""A file that is not the one that was listed is refused, in every format."""

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import read_table
from suffice.errors import ReadError

SUFFIXES = [".parquet", ".arrow", ".arrows", ".csv", ".csv.gz"]
END = "; every pass must read the same rows; begin again, with a file that stays as it is."


def write(path: Path, n: int) -> Path:
    table = pa.table({"x": np.arange(float(n))})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix in (".arrow", ".arrows"):
        new = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with new(path, table.schema) as writer:
            writer.write_table(table)
    else:
        text = b"x\n" + b"1.5\n" * n
        path.write_bytes(gzip.compress(text, 1) if path.suffix == ".gz" else text)
    return path


def read(parts: Any) -> int:
    return sum(batch.num_rows for part in parts for batch in part.record_batches())


def message(parts: Any) -> str:
    with pytest.raises(ReadError) as caught:
        read(parts)
    return str(caught.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
class TestChanged:
    def test_between_two_passes(self, tmp_path: Path, suffix: str) -> None:
        path = write(tmp_path / f"t{suffix}", 100)
        parts = read_table(path).parts({"x": None})
        assert read(parts) == read(parts) == 100
        before = path.stat().st_size
        write(path, 5_000)
        now = path.stat().st_size
        assert message(parts) == (
            f"t{suffix} has changed since it was listed: it had {before:,} bytes and has {now:,}"
            + END
        )

    def test_at_the_same_size(self, tmp_path: Path, suffix: str) -> None:
        path = write(tmp_path / f"t{suffix}", 100)
        parts = read_table(path).parts({"x": None})
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
        assert message(parts) == (
            f"t{suffix} has changed since it was listed: it was written again" + END
        )

    def test_cut_short(self, tmp_path: Path, suffix: str) -> None:
        path = write(tmp_path / f"t{suffix}", 50_000)
        parts = read_table(path).parts({"x": None})
        path.write_bytes(path.read_bytes()[:-100])
        assert message(parts).startswith(f"t{suffix} has changed since it was listed: it had ")

    def test_gone(self, tmp_path: Path, suffix: str) -> None:
        path = write(tmp_path / f"t{suffix}", 100)
        parts = read_table(path).parts({"x": None})
        path.unlink()
        assert message(parts).startswith(f"{path} has gone since it was listed; ")

    def test_in_the_middle_of_a_pass(
        self, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Not all is read ahead.
        monkeypatch.setattr("suffice.data.text.reading.PIECE_BYTES", 1 << 20)
        path = write(tmp_path / f"t{suffix}", 1_000_000)
        (part,) = read_table(path).parts({"x": None})[:1]
        batches = part.record_batches()
        next(batches)
        os.utime(path, ns=(0, 0))
        with pytest.raises(ReadError, match="has changed since it was listed"):
            list(batches)


def test_what_breaks_while_a_file_changes_is_its_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "t.parquet", 100)
    parts = read_table(path).parts({"x": None})

    def changing(*_: Any) -> None:
        write(path, 200)
        raise pa.ArrowInvalid("a page ends too early")

    monkeypatch.setattr("suffice.data.files.parquet.open_parquet", changing)
    assert message(parts).startswith("t.parquet has changed since it was listed: ")
