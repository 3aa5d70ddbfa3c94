"""Bytes as a delimited file: its format is found out, a model learns from it and answers it."""

from __future__ import annotations

from driver import HERE, fuzz, written

import suffice


def read_and_learn(data: bytes) -> None:
    """Learn the last column from the others."""
    table = suffice.read_csv(written("rows.csv", data))
    model = suffice.NaiveBayes().fit(table, table.names[-1])
    assert len(model.predict(table)) >= 0


if __name__ == "__main__":
    fuzz(read_and_learn, HERE / "seeds/csv_reader")
