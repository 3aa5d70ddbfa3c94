"""Load forged files and use those that load: what a test runs apart, as it may crash.

``python child.py FIRST LAST FOLDER ...`` forges mutants FIRST to LAST − 1 of the files in folders
of saved models. The number of a mutant is written before it is touched, and what became of it
after: ``refused``, ``used``, or ``FAILED`` and why. A crash leaves a line without an end.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from mutants import mutant

import suffice
from suffice.errors import DataError, ModelFileError, SchemaError, SufficeError

MEMORY = 16 * 2**30  # of the process, in bytes
PATIENCE = 120  # seconds after which a mutant is taken to run for ever, and the process ends


def main(first: int, last: int, folders: list[Path]) -> None:
    """Go through the mutants of all files."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    os.fsync = lambda _: None  # what is written here need not outlive the machine
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as scratch:
        for path in [path for folder in folders for path in sorted(folder.glob("*.suffice"))]:
            raw, rows = path.read_bytes(), rows_of(path.parent, path.name)
            for number in range(first, last):
                signal.alarm(PATIENCE)
                print(path.name, number, end=" ", flush=True)
                forged = mutant(raw, Random(f"{path.name} {number}"))
                print(outcome(forged, rows, Path(scratch)), flush=True)


def rows_of(folder: Path, name: str) -> Any:
    """The rows that the model of a file predicts."""
    written = json.loads((folder / "predictions.json").read_text("utf-8"))
    model = written["models"][name]
    if model["rows"] != "table":
        return np.array(written["rows"][model["rows"]])
    with pa.ipc.open_file(folder / "table.arrow") as file:
        return file.read_all().select(model["columns"])


def outcome(raw: bytes, rows: Any, scratch: Path) -> str:
    """What became of a file."""
    (scratch / "forged").write_bytes(raw)
    try:
        try:
            model = suffice.load(scratch / "forged")
        except ModelFileError:
            return "refused"
        use(model, rows, scratch / "again")
    except Exception as error:
        places = traceback.extract_tb(error.__traceback__)[-3:]
        where = ", ".join(f"{os.path.basename(place.filename)}:{place.lineno}" for place in places)
        return f"FAILED with {type(error).__name__}: {str(error)[:200]!r} at {where}"
    return "used"


def use(model: Any, rows: Any, path: Path) -> None:
    """Predict, save, and learn.

    A forged file can be that of an honest model of other columns, which says so (`SchemaError`),
    or of one that takes no such cell and names its row (`DataError`).
    """
    try:
        found = answers(model, rows)
    except SchemaError:
        found = None
    except DataError as error:
        if "row " not in error.fact:
            raise
        found = None
    model.save(path)
    again = suffice.load(path)
    if found is not None:
        np.testing.assert_array_equal(answers(again, rows), found)
    y = targets(model, len(rows))
    for name, given in (("partial_fit", (rows, y)), ("forget", (rows, y)), ("merge", (again,))):
        learner = deepcopy(again)
        try:
            getattr(learner, name, lambda *_: None)(*given)
        except SufficeError:
            continue


def answers(model: Any, rows: Any) -> Any:
    """Probabilities, or numbers; they are finite."""
    found = model.predict(rows)
    if not hasattr(model, "predict_proba"):
        assert np.isfinite(found).all(), "a prediction is not finite"
        return found
    shares = model.predict_proba(rows)
    assert np.isfinite(shares).all(), "a probability is not finite"
    assert np.allclose(shares.sum(axis=1), 1.0), "probabilities do not add up to 1"
    assert not np.isnan(model.predict_log_proba(rows)).any(), "a logarithm is NaN"
    return shares


def targets(model: Any, n: int) -> Any:
    """Labels or numbers to learn from."""
    if hasattr(model, "classes_"):
        return np.resize(model.classes_, n)
    y = np.arange(float(n))
    return y if model.single_target_ else np.stack([y] * len(model.design_.targets), axis=1)


if __name__ == "__main__":
    _, first, last, *folders = sys.argv
    main(int(first), int(last), list(map(Path, folders)))
