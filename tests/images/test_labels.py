"""Labels and runs from files of attributes."""

from __future__ import annotations

from pathlib import Path

import pytest

from suffice.errors import ReadError
from suffice.images.labels import read_attributes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rest 0\nface 0\nface 1\n", (["rest", "face", "face"], ["0", "0", "1"])),
        ("labels chunks\nrest 0\nface 1\n", (["rest", "face"], ["0", "1"])),
        ("rest,0\n\nface,1\n", (["rest", "face"], ["0", "1"])),
        ("rest\nface\n", (["rest", "face"], None)),
    ],
)
def test_attributes(tmp_path: Path, text: str, expected: object) -> None:
    path = tmp_path / "attributes.txt"
    path.write_text(text)
    assert read_attributes(path) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "{} is empty; it has a line for every volume: a label and a run."),
        (
            "rest 0\nface\n",
            "line 2 of {} has 1 words; every line has a label and a run, or every line a label.",
        ),
        (
            "rest 0 1\n",
            "line 1 of {} has 3 words; every line has a label and a run, or every line a label.",
        ),
    ],
)
def test_attributes_that_are_none(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "attributes.txt"
    path.write_text(text)
    with pytest.raises(ReadError) as refused:
        read_attributes(path)
    assert str(refused.value) == sentence.format(path)
