"""The order of the tutorials."""

from __future__ import annotations

from pathlib import Path

__all__ = ["LESSONS", "LessonOrder"]

LESSONS = (
    "get_started",
    "messy_table",
    "text",
    "missing_data",
    "switch",
    "more_rows_than_memory",
    "forget_and_merge",
    "forgetting_view",
    "five_hospitals",
    "cross_validation",
    "regression",
    "census",
    "brains",
    "lecture",
    "pictures",
)


class LessonOrder:
    """Sorts the files of the tutorials in the order of `LESSONS`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> int:
        """Return the place of a file."""
        return LESSONS.index(Path(file).stem)
