"""Labels of volumes from files: attributes of PyMVPA, events of BIDS, and what BIDS names say."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import DataError, ReadError

__all__ = [
    "Event",
    "events_beside",
    "label_volumes",
    "read_attributes",
    "read_events",
    "seconds_of",
]

NOT_A_VALUE = ("", "n/a")  # BIDS writes n/a


def read_attributes(path: str | os.PathLike[str]) -> tuple[list[str], list[str] | None]:
    """Read a label, and where there is a second column a run, for every volume.

    Lines hold them between blanks, tabs or commas; a line of column names may come first.

    Raises
    ------
    ReadError
        If a line has another number of words than the first.
    """
    rows = [line.replace(",", " ").split() for line in _lines(path)]
    numbered = [(i, row) for i, row in enumerate(rows, 1) if row]
    if numbered and [word.lower().rstrip("s") for word in numbered[0][1][:2]] in HEADINGS:
        numbered = numbered[1:]
    if not numbered:
        raise ReadError(f"{path} is empty", "it has a line for every volume: a label and a run")
    width = len(numbered[0][1])
    for line, row in numbered:
        if len(row) != width or width > 2:
            raise ReadError(
                f"line {line} of {path} has {len(row)} words",
                "every line has a label and a run, or every line a label",
            )
    labels = [row[0] for _, row in numbered]
    return labels, [row[1] for _, row in numbered] if width == 2 else None


HEADINGS = (["label", "chunk"], ["label", "run"], ["target", "chunk"], ["label"])


@dataclass(frozen=True)
class Event:
    """What was shown from ``onset`` on, for ``duration`` seconds; ``line`` of the file says so."""

    onset: float
    duration: float
    label: str
    line: int


def read_events(path: str | os.PathLike[str]) -> list[Event]:
    """Read the columns onset, duration and trial_type of a BIDS events file.

    Raises
    ------
    ReadError
        If a column lacks, or a time is no number.
    """
    reader = csv.DictReader(_lines(path), delimiter="\t")
    names = reader.fieldnames or []
    for name in ("onset", "duration", "trial_type"):
        if name not in names:
            raise ReadError(
                f"{path} has no column {name!r}",
                "events have the columns onset, duration and trial_type, separated by tabs",
            )
    return [
        Event(
            _time(path, line, "onset", row),
            _time(path, line, "duration", row),
            row["trial_type"],
            line,
        )
        for line, row in enumerate(reader, 2)
        if row["trial_type"] not in NOT_A_VALUE
    ]


def _time(path: Any, line: int, name: str, row: dict[str, str]) -> float:
    try:
        seconds = float(row[name])
    except (TypeError, ValueError):
        seconds = math.nan
    if not (math.isfinite(seconds) and (seconds >= 0 or name == "onset")):
        raise ReadError(
            f"line {line} of {path}: the {name} is {row[name]!r}", "it is a number of seconds"
        )
    return seconds


def label_volumes(
    events: Sequence[Event], volumes: int, seconds: float, delay: float, name: str
) -> list[str | None]:
    """The event that each volume shows; None for a volume without.

    Volume t, taken at t · ``seconds``, shows the event for which
    onset ≤ t · seconds − delay < onset + duration.

    Parameters
    ----------
    delay : float
        Seconds by which the blood follows the event.
    name : str
        Of the file of events.

    Raises
    ------
    DataError
        If an event is outside the scan, shown by no volume, or overlaps with another.

    Examples
    --------
    >>> label_volumes([Event(0, 4, "face", 2), Event(6, 2, "house", 3)], 6, 2.0, 2.0, "events.tsv")
    [None, 'face', 'face', None, 'house', None]
    """
    labels: list[str | None] = [None] * volumes
    for event in events:
        if event.onset < 0 or event.onset >= volumes * seconds:
            raise DataError(
                f"line {event.line} of {name}: the event begins at {event.onset:g} s, outside the "
                f"scan of {volumes} volumes of {seconds:g} s",
                f"events begin from 0 to {volumes * seconds:g} s",
                "check that events and scan belong together, and the repetition time",
            )
        first = _first_at(event.onset + delay, seconds)
        stop = _first_at(event.onset + event.duration + delay, seconds)
        for t in range(first, min(stop, volumes)):
            if labels[t] not in (None, event.label):
                raise DataError(
                    f"line {event.line} of {name}: {event.label!r} and {labels[t]!r} overlap at "
                    f"volume {t}",
                    "a volume shows one event",
                )
            labels[t] = event.label
    return labels


def _first_at(time: float, seconds: float) -> int:
    """The first volume at a time or later; one that is late by rounding is in time."""
    return max(0, math.ceil(time / seconds - 1e-9))


# -- what the names of BIDS say


def events_beside(image: str | os.PathLike[str]) -> Path | None:
    """The events file that belongs to an image by its name.

    Examples
    --------
    >>> print(events_beside("sub-01_task-rest_run-1_bold.nii.gz"))
    None
    """
    for path in _inherited(Path(image), "events.tsv"):
        return path
    return None


def seconds_of(image: str | os.PathLike[str]) -> float | None:
    """The repetition time in the JSON file that belongs to an image by its name.

    Raises
    ------
    ReadError
        If that file is no JSON, or the time no number above 0.
    """
    for path in _inherited(Path(image), f"{_stem(Path(image)).split('_')[-1]}.json"):
        try:
            found = json.loads(path.read_text(encoding="utf-8")).get("RepetitionTime")
        except (ValueError, AttributeError):
            raise ReadError(f"{path} is no JSON object") from None
        if found is not None:
            if isinstance(found, bool) or not isinstance(found, int | float) or not found > 0:
                raise ReadError(
                    f"{path}: RepetitionTime is {found!r}", "it is a number of seconds above 0"
                )
            return float(found)
    return None


def _inherited(image: Path, ending: str) -> Iterator[Path]:
    """Files whose entities are among those of an image: beside it first, then further up."""
    entities = _stem(image).split("_")[:-1]
    if not any("-" in entity for entity in entities):
        return
    for folder in list(image.absolute().parents)[:4]:
        candidates = [
            path
            for path in folder.glob(f"*{ending}")
            if path.name == ending or path.name.endswith(f"_{ending}")
        ]
        fitting = [
            path
            for path in candidates
            if set(path.name.removesuffix(ending).rstrip("_").split("_")) - {""} <= set(entities)
        ]
        yield from sorted(fitting, key=lambda path: (-len(path.name), path.name))


def _stem(image: Path) -> str:
    return image.name.removesuffix(".gz").removesuffix(".nii")


def _lines(path: str | os.PathLike[str]) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ReadError(f"{path} is no text", "labels are text in UTF-8") from None
