"""Labels of volumes from files: attributes of PyMVPA, and events of BIDS."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import DataError, ParameterError, ReadError

__all__ = ["Event", "events_of_scans", "label_volumes", "read_attributes", "read_events"]

NOT_A_VALUE = ("", "n/a")  # BIDS writes n/a
HEADINGS = (["label", "chunk"], ["label", "run"], ["target", "chunk"], ["label"])


def read_attributes(path: str | os.PathLike[str]) -> tuple[list[str], list[str] | None]:
    """Read the label, and from a second column the run, of every volume.

    Lines hold them between blanks, tabs or commas; a line of column names may come first.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    labels : list of str
    runs : list of str, or None

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


@dataclass(frozen=True)
class Event:
    """A row of a BIDS events file."""

    onset: float  # seconds
    duration: float
    label: str  # the trial type
    line: int  # of the file


def read_events(path: str | os.PathLike[str]) -> list[Event]:
    """Read the columns onset, duration and trial_type of a BIDS events file.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    ReadError
        If a column lacks, or a time is no number.
    """
    reader = csv.DictReader(_lines(path), delimiter="\t")
    for name in ("onset", "duration", "trial_type"):
        if name not in (reader.fieldnames or []):
            raise ReadError(
                f"{path} has no column {name!r}",
                "events have the columns onset, duration and trial_type, separated by tabs",
            )

    def time(line: int, name: str, text: Any) -> float:
        try:
            seconds = float(text)
        except (TypeError, ValueError):
            seconds = math.nan
        if not (math.isfinite(seconds) and (seconds >= 0 or name == "onset")):
            raise ReadError(
                f"line {line} of {path}: the {name} is {text!r}", "it is a number of seconds"
            )
        return seconds

    return [
        Event(
            time(line, "onset", row["onset"]),
            time(line, "duration", row["duration"]),
            row["trial_type"],
            line,
        )
        for line, row in enumerate(reader, 2)
        if row["trial_type"] not in NOT_A_VALUE
    ]


def label_volumes(
    events: Sequence[Event], volumes: int, tr: float, delay: float, name: str
) -> list[str | None]:
    """Return the event that each volume shows; None for a volume without.

    Volume t, taken at t · TR, shows the event for which onset ≤ t · TR − delay < onset + duration.

    Parameters
    ----------
    events : sequence of Event
    volumes : int
        Number of volumes of the scan.
    tr : float
        Repetition time in seconds.
    delay : float
        Seconds by which the BOLD signal follows the event.
    name : str
        Name of the file of events, for messages.

    Raises
    ------
    DataError
        If an event is outside the scan, or overlaps with another.

    Examples
    --------
    >>> label_volumes([Event(0, 4, "face", 2), Event(6, 2, "house", 3)], 6, 2.0, 2.0, "events.tsv")
    [None, 'face', 'face', None, 'house', None]
    """
    labels: list[str | None] = [None] * volumes
    for event in events:
        if event.onset < 0 or event.onset >= volumes * tr:
            raise DataError(
                f"line {event.line} of {name}: the event begins at {event.onset:g} s, outside the "
                f"scan of {volumes} volumes of {tr:g} s",
                f"events begin from 0 to {volumes * tr:g} s",
                "check that events and scan belong together, and the repetition time",
            )
        # A volume that is early by rounding is in time.
        first, stop = (
            max(0, math.ceil((at + delay) / tr - 1e-9))
            for at in (event.onset, event.onset + event.duration)
        )
        for t in range(first, min(stop, volumes)):
            if labels[t] not in (None, event.label):
                raise DataError(
                    f"line {event.line} of {name}: {event.label!r} and {labels[t]!r} overlap at "
                    f"volume {t}",
                    "a volume shows one event",
                )
            labels[t] = event.label
    return labels


def events_of_scans(scans: Sequence[str], events: Sequence[str]) -> list[str]:
    """Order files of events as their scans: by BIDS names where these fit, else as given."""
    if len(events) != len(scans):
        raise ParameterError(
            f"{len(events)} events files are given for {len(scans)} scans",
            "each scan has one",
            "name them in the same order",
        )
    stems = {re.sub(r"events\.tsv$", "", os.path.basename(file)): file for file in events}
    names = [os.path.basename(scan) for scan in scans]
    joined = [next((stems[stem] for stem in stems if name.startswith(stem)), "") for name in names]
    return joined if sorted(joined) == sorted(events) else list(events)


def _lines(path: str | os.PathLike[str]) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ReadError(f"{path} is no text", "labels are text in UTF-8") from None
