"""Folders of texts, a folder for each class."""

from pathlib import Path

import pytest
from sklearn.datasets import load_files

from suffice import NaiveBayes
from suffice.data.file_formats import open_files
from suffice.data.files.texts import FILES, TextFolders
from suffice.errors import ReadError, SchemaError

WORDS = {"ham": "lunch at noon with the team", "spam": "free prize money call now"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for kind, words in WORDS.items():
        (tmp_path / kind).mkdir()
        for i in range(6):
            (tmp_path / kind / f"{i}.txt").write_text(f"{words} number{i}, today")
    return tmp_path


def test_it_is_what_scikit_learn_loads(home: Path) -> None:
    found = open_files(home).head().to_pylist()
    loaded = load_files(home, encoding="utf8", shuffle=False)
    names = [loaded.target_names[t] for t in loaded.target]
    expected = zip(loaded.data, names, strict=True)
    assert [(row["text"], row["folder"]) for row in found] == list(expected)


def test_a_model_of_texts(home: Path) -> None:
    model = NaiveBayes.textbook().fit(home, "folder")
    assert model.schema_[0].kind == "text"
    assert model.predict(home).tolist() == ["ham"] * 6 + ["spam"] * 6
    assert model.evaluate(home, "folder").accuracy == 1


def test_many_files_are_several_parts(home: Path) -> None:
    for i in range(FILES):
        (home / "spam" / f"more{i}.txt").write_text("free prize money")
    splits = open_files(home).splits({"folder": None})
    assert [sum(b.num_rows for b in split.record_batches()) for split in splits] == [FILES, 12]


def test_other_folders_are_tables(home: Path) -> None:
    (home / "ham" / "x.csv").write_text("a,b\n1,2\n")
    assert not isinstance(open_files(home / "ham" / "x.csv"), TextFolders)
    with pytest.raises(SchemaError, match="files of one table must have the same columns"):
        open_files(home)


def test_what_is_no_text(home: Path) -> None:
    (home / "spam" / "9.txt").write_bytes(b"caf\xe9")
    with pytest.raises(ReadError, match=r"spam/9\.txt: byte 0xe9 is not UTF-8"):
        NaiveBayes.textbook().fit(home, "folder")
