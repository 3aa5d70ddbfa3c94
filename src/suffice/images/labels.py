"""Labels and runs of volumes, as PyMVPA writes them."""

from __future__ import annotations

import os
from pathlib import Path

from suffice.errors import ReadError

__all__ = ["read_attributes"]

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


def _lines(path: str | os.PathLike[str]) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ReadError(f"{path} is no text", "labels are text in UTF-8") from None
