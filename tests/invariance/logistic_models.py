"""Print the level of the processor, and digests of logistic models in any order of the rows."""

import json
import sys
import tempfile
import warnings
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from suffice.errors import SufficeWarning
from suffice.linear_model import LogisticRegression
from suffice.numerics import kernels

Options = dict[str, Any]
NONE = {"C": np.inf}


def rows(n: int, d: int, k: int) -> tuple[Any, Any, Any]:
    """Return whole numbers over 7 about means that are far apart, labels, and weights.

    They are made without an elementary function, so that they are the same everywhere.
    """
    random = np.random.default_rng(n)
    x = random.integers(-3_000, 3_000, size=(n, d)) / 7.0
    score = (x[:, :k] + random.integers(-3_000, 3_000, size=(n, k))).argmax(axis=1)
    return x * 10.0 ** np.arange(d) + 1e6, score, random.integers(1, 2**30, n) / 2.0**20


def models() -> dict[str, tuple[Options, Any, Any, Any]]:
    """Return options, rows, labels and weights by name."""
    x, y, w = rows(900, 5, 3)
    near = np.column_stack([x, x[:, 0] + 1e-4 * x[:, 1]])
    table = pa.table(
        {
            "number": x[:, 0],
            "word": np.where(x[:, 1] % 3 < 1, "a", np.where(x[:, 2] % 3 < 2, "b", "c")),
            "gaps": pa.array(x[:, 3], mask=x[:, 4] % 7 < 1),
        }
    )
    two, of_two, _ = rows(700, 4, 2)
    long, of_long, heavy = rows(140_000, 3, 2)
    few = np.round(long[:, :2] / np.array([1e3, 1e4]))  # a tenth of the rows are distinct
    return {
        "plain": ({}, x, y, None),
        "weights": (NONE, x, y, w),
        "balanced, no intercept": ({"class_weight": "balanced", "fit_intercept": False}, x, y, w),
        "L-BFGS": ({"solver": "lbfgs"}, x, y, None),
        "nearly dependent": (NONE, near, y, None),
        "dependent": (NONE, np.column_stack([x, x[:, 0] + x[:, 1]]), y, None),
        "formula": ({"formula": "number * word", "C": np.inf}, table, y, None),
        "categories and gaps": ({"incomplete": "drop"}, table, y, w),
        "Firth": ({"penalty": "firth"}, two, of_two, None),
        "one column": (NONE, two[:, :1], of_two, None),
        "long": ({}, long, of_long, heavy),
        "long, equal rows": (NONE, few, of_long, None),
    }


def digests(threads: int, seed: int) -> dict[str, str]:
    """Return a digest of the file and the probabilities of every model."""
    found = {}
    for name, (options, x, y, w) in models().items():
        order = np.random.default_rng(seed).permutation(len(y)) if seed else np.arange(len(y))
        shuffled = x.take(order) if isinstance(x, pa.Table) else x[order]
        model = LogisticRegression(reproducible=True, threads=threads, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SufficeWarning)
            model.fit(shuffled, y[order], None if w is None else w[order])
        total = sha256()
        if not isinstance(x, pa.Table):
            total.update(np.ascontiguousarray(model.predict_proba(x[:500])).tobytes())
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            model.set_params(threads=None).save(file)
            total.update(file.read_bytes())
        found[name] = total.hexdigest()
    return found


if __name__ == "__main__":
    threads, seed = map(int, sys.argv[1:])
    print(json.dumps({"level": kernels.level(), "digests": digests(threads, seed)}))
