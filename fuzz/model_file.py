"""Model files whose digest holds, changed in their bytes, their tree or their arrays.

The mutants of the tree are those of `tests/forged_files`; what loads has to answer, save and learn.
"""

from __future__ import annotations

import sys
from random import Random

import atheris
from driver import ROOT, SCRATCH, fuzz, written

import suffice

sys.path.insert(0, str(ROOT / "tests/forged_files"))
sys.path.insert(0, str(ROOT / "tests/saved_models"))
import child
import mutants
import numpy as np
import pyarrow as pa

import models

SAVED = SCRATCH / "saved"
SAVED.mkdir()
models.write(SAVED, *models.GROUPS)
MOST_COLUMNS = 100
with pa.ipc.open_file(SAVED / "table.arrow") as _file:
    TABLE = _file.read_all()


def signed(data: bytes) -> bytes:
    """The same bytes with the digest that a reader expects."""
    end = mutants.START + 64
    if len(data) < end:
        return data
    blank = data[: mutants.START] + b"0" * 64 + data[end:]
    digest = mutants.hashlib.sha256(blank).hexdigest().encode()
    return data[: mutants.START] + digest + data[end:]


def load_and_use(data: bytes) -> None:
    """Load, answer, save, load again and learn."""
    model = suffice.load(written("forged", signed(data)))
    names = [column.name for column in model.schema_[:MOST_COLUMNS]]
    if set(names) <= set(TABLE.column_names):
        child.use(model, TABLE.select(names), SCRATCH / "again")
    elif model.n_features_in_ <= MOST_COLUMNS:
        rows = np.arange(6.0 * model.n_features_in_).reshape(6, -1) % 3
        child.use(model, rows, SCRATCH / "again")


def mutate(data: bytes, most: int, seed: int) -> bytes:
    """Change the tree of a file that can be taken apart, else its bytes."""
    if seed % 4:
        try:
            forged: bytes = mutants.mutant(data, Random(seed))
        except Exception:  # these bytes are no file any more
            return signed(atheris.Mutate(data, most))
        return forged if len(forged) <= most else data
    return signed(atheris.Mutate(data, most))


if __name__ == "__main__":
    sys.argv[1:1] = ["-max_len=30000"]
    fuzz(load_and_use, SAVED, mutate)
