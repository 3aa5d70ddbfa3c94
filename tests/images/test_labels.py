"""Labels from attribute files, events and the names of BIDS."""

from __future__ import annotations

from pathlib import Path

import pytest

from suffice.errors import DataError, ParameterError, ReadError
from suffice.images.labels import (
    Event,
    events_of_scans,
    label_volumes,
    read_attributes,
    read_events,
)


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


def test_attributes_of_the_slice(data: Path) -> None:
    labels, runs = read_attributes(data / "haxby_slice" / "attributes_literal.txt")
    assert len(labels) == 1452
    assert runs is not None
    assert len(set(runs)) == 12
    assert labels.count("face") == 108


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


def test_an_image_is_no_attribute_file(tmp_path: Path) -> None:
    path = tmp_path / "attributes.txt"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ReadError, match="is no text"):
        read_attributes(path)


EVENTS = "onset\tduration\ttrial_type\n0\t4\tface\n6\t2\thouse\n9\t1\tn/a\n"


def test_events(tmp_path: Path) -> None:
    path = tmp_path / "events.tsv"
    path.write_text(EVENTS)
    assert read_events(path) == [Event(0, 4, "face", 2), Event(6, 2, "house", 3)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("onset\tduration\n0\t4\n", "has no column 'trial_type'"),
        (EVENTS.replace("6", "six"), "line 3 of .*: the onset is 'six'; it is a number of seconds"),
        (EVENTS.replace("\t2\t", "\t-2\t"), "line 3 of .*: the duration is '-2'"),
    ],
)
def test_events_that_are_none(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "events.tsv"
    path.write_text(text)
    with pytest.raises(ReadError, match=sentence):
        read_events(path)


@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        (0.0, ["face", "face", None, "house", None]),
        (2.0, [None, "face", "face", None, "house"]),
        (3.0, [None, None, "face", "face", None]),
    ],
)
def test_volumes_show_the_event_before_the_delay(delay: float, expected: list[object]) -> None:
    events = [Event(0, 4, "face", 2), Event(6, 2, "house", 3)]
    assert label_volumes(events, 5, 2.0, delay, "events.tsv") == expected


def test_times_that_are_late_by_rounding_are_in_time() -> None:
    events = [Event(0.1 * 3, 0.1, "face", 2)]
    assert label_volumes(events, 5, 0.1, 0.0, "events.tsv") == [None, None, None, "face", None]


def test_events_outside_the_scan_are_refused() -> None:
    with pytest.raises(DataError) as refused:
        label_volumes([Event(12, 4, "face", 7)], 5, 2.0, 0.0, "events.tsv")
    assert str(refused.value) == (
        "line 7 of events.tsv: the event begins at 12 s, outside the scan of 5 volumes of 2 s; "
        "events begin from 0 to 10 s; "
        "check that events and scan belong together, and the repetition time."
    )


def test_events_that_overlap_are_refused() -> None:
    with pytest.raises(DataError, match=r"line 3 of e\.tsv: .* overlap at volume 1"):
        label_volumes([Event(0, 4, "face", 2), Event(2, 2, "house", 3)], 5, 2.0, 0.0, "e.tsv")


def test_events_are_joined_to_scans_by_the_names_of_bids() -> None:
    scans = [f"func/sub-01_task-see_run-{run}_bold.nii.gz" for run in (1, 10, 2)]
    events = [f"func/sub-01_task-see_run-{run}_events.tsv" for run in (10, 2, 1)]
    assert events_of_scans(scans, events) == [events[2], events[0], events[1]]
    assert events_of_scans(scans, ["c.tsv", "a.tsv", "b.tsv"]) == ["c.tsv", "a.tsv", "b.tsv"]
    with pytest.raises(ParameterError, match="2 events files are given for 3 scans"):
        events_of_scans(scans, events[:2])
