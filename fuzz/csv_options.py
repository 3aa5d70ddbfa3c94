"""Options of `read_csv`, right and wrong, with a file of any bytes."""

from __future__ import annotations

from typing import Any

import atheris
from driver import HERE, fuzz, written

import suffice

MARKS = [None, ",", ";", "\t", "|", '"', "'", "", " ", ".", "\n", "\0", "é", "ab", 3]
ENCODINGS = ["utf8", "latin-1", "utf-16", "utf-8-sig", "cp037", "idna", "rot13", "zlib", "", "x"]
NOTATIONS = ["text", "$1", "1%", "DD/MM/YYYY", "MM/DD/YYYY", "YYYY-MM-DD HH:MM", "", "1,000"]


def options(given: atheris.FuzzedDataProvider) -> dict[str, Any]:
    """Some of the options, each with a value that may break its rule."""
    texts = [given.ConsumeUnicode(8) for _ in range(given.ConsumeIntInRange(0, 3))]
    every: dict[str, Any] = {
        "separator": given.PickValueInList(MARKS),
        "quote": given.PickValueInList(MARKS),
        "header": given.PickValueInList([None, True, False, 1, "yes"]),
        "names": given.PickValueInList([None, texts, ["a", "b"], ["a", "a"], "ab", [1]]),
        "missing": given.PickValueInList([texts, ["", "?"], "?", [None]]),
        "strip": given.PickValueInList([None, True, False, 2]),
        "decimal": given.PickValueInList(MARKS),
        "thousands": given.PickValueInList(MARKS),
        "written": {name: given.PickValueInList(NOTATIONS) for name in [*texts, "a", "column_1"]},
        "guess": given.ConsumeBool(),
        "skip_bad_rows": given.PickValueInList([0, 1, 10**6, -1, 0.5, True, None]),
        "encoding": given.PickValueInList(ENCODINGS),
    }
    return {name: value for name, value in every.items() if given.ConsumeBool()}


def read_with_options(data: bytes) -> None:
    """Read, learn the last column from the others, and answer."""
    given = atheris.FuzzedDataProvider(data)
    chosen = options(given)
    file = written("rows.csv", given.ConsumeBytes(given.remaining_bytes()))
    table = suffice.read_csv(file, **chosen)
    model = suffice.NaiveBayes().fit(table, table.names[-1])
    model.predict(table)


if __name__ == "__main__":
    fuzz(read_with_options, HERE / "seeds/csv_options")
