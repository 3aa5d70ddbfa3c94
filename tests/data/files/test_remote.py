"""Addresses: read like files, with a clear sentence where that is not possible."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suffice import NaiveBayes, read_csv, read_table
from suffice.errors import ParameterError, ReadError

fsspec = pytest.importorskip("fsspec")
TEXT = b"x;y\n1,5;a\n2,5;b\n9,5;b\n"


@pytest.fixture
def memory() -> Iterator[None]:
    files = fsspec.filesystem("memory")
    files.pipe("/home/a.csv", TEXT)
    files.pipe("/home/b.csv", TEXT)
    yield
    files.rm("/home", recursive=True)


@pytest.mark.usefixtures("memory")
def test_a_file_is_like_one_here(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT)
    model = NaiveBayes.textbook().fit("memory://home/a.csv", "y")
    assert model.statistic_ == NaiveBayes.textbook().fit(tmp_path / "a.csv", "y").statistic_
    assert read_csv("memory://home/a.csv", header=False).names == ("column_1", "column_2")


@pytest.mark.usefixtures("memory")
def test_a_glob_and_a_list(tmp_path: Path) -> None:
    assert read_table("memory://home/*.csv").head().num_rows == 6
    (tmp_path / "c.csv").write_bytes(TEXT)
    assert read_table([str(tmp_path / "c.csv"), "memory://home/b.csv"]).head().num_rows == 6


@pytest.mark.usefixtures("memory")
def test_a_copy_goes_with_its_table() -> None:
    table = read_table("memory://home/a.csv")
    folder = table.folders[0].path  # type: ignore[attr-defined]
    assert folder.is_dir()
    del table
    assert not folder.exists()


def test_what_is_not_there() -> None:
    with pytest.raises(ReadError, match=r"memory://home/none\.csv cannot be read: .*none\.csv"):
        read_table("memory://home/none.csv")
    with pytest.raises(ReadError, match=r"odd://x\.csv cannot be read: .*odd"):
        read_table("odd://x.csv")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ParameterError) as caught:
        read_table("https://example.org/a.csv")
    said = str(caught.value)
    assert said.startswith("'https://example.org/a.csv' is an address; ")
    assert "pip install 'suffice[remote]'" in said


def test_without_what_an_address_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("s3fs", "gcsfs"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ParameterError, match=r"s3://bucket/a\.csv' is an address; .*s3fs"):
        read_table("s3://bucket/a.csv")
