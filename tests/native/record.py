"""Write calls of the compiled kernels to a file, for a program that needs no Python to repeat.

Calls are those of the recorded cases in `tests/numerics/kernels`, whose results are held against
what the version that was compiled by Numba gave. The file holds, one after the other, the name of
a kernel, the number of its arguments, each argument as it was before the call and as it was after
it, and what was returned. An array is its type (a letter of the struct module), its order (C or F),
its dimensions, and its numbers; all numbers are little-endian.

Usage: python -m tests.native.record FILE
"""

import json
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from tests.numerics.elementary_values import SPANS
from tests.numerics.kernels import test_algebra, test_fits, test_scores, test_sums

from suffice.numerics import kernels
from suffice.sums.bins import CELLS

__all__ = ["record"]

LETTERS = {"?": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H"}
LETTERS |= {"u4": "I", "u8": "Q", "f4": "f", "f8": "d"}
# Cells that scores of compressed rows read; others become doubles.
COMPILED = ("f8", "f4", "i8", "i4")
# The place of an argument that the binding looks at, and no kernel.
CHECKED = {"pair_counts.count": 2, "pair_counts.count_weighted": 3}
VALUES = 1_000_000  # of an elementary function, whose digest is recorded
LARGE, SOME = 10_000, 40  # of calls with more bytes, one in so many is kept
ELEMENTARY = Path(__file__).parents[1] / "numerics/recorded_elementary.json"
CASES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (test_algebra, ("called", "cases", "cases_of_sweep", "scatters")),
    (test_fits, ("cases", "of_outcomes", "of_dense")),
    (
        test_scores,
        (
            *("of_numbers", "of_categories", "of_sparse", "of_best"),
            *("cases", "cases_of_linear", "of_complete", "of_marginal"),
        ),
    ),
    (
        test_sums,
        ("cases", "cases_of_counts", "cases_of_moments", "cases_of_comoments", "cases_of_columns"),
    ),
)


class Recorder:
    """Stands for the module of the kernels, and writes down every call."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.calls = self.seen = 0

    def __getattr__(self, kernel: str) -> Any:
        module = getattr(kernels, kernel)
        recorder = self

        class Submodule:
            def __getattr__(self, name: str) -> Callable[..., Any]:
                return lambda *given: recorder.call(kernel, name, getattr(module, name), *given)

        return Submodule()

    def call(self, kernel: str, name: str, function: Callable[..., Any], *given: Any) -> Any:
        """Call a kernel; what it makes itself is recorded as zeros that it fills."""
        if name == "add_sparse_linear" and given[0].dtype.str[1:] not in COMPILED:
            given = (given[0].astype(np.float64), *given[1:])  # as the binding does
        before = [np.array(one, order="K", copy=True) for one in given]
        result = function(*given)
        after, returned = [np.asarray(one) for one in given], result
        if isinstance(result, tuple):
            made = [one for one in result if isinstance(one, np.ndarray)]
            before += [np.zeros_like(one) for one in made]
            after += made
            returned = result[0] if len(made) < len(result) else None
        if f"{kernel}.{name}" in CHECKED:
            del before[CHECKED[f"{kernel}.{name}"]], after[CHECKED[f"{kernel}.{name}"]]
        size = sum(one.nbytes for one in before)
        self.seen += size > LARGE
        if size <= LARGE or self.seen % SOME == 0:
            self.write(f"{kernel}.{name}", before, after, returned)
        return result

    def write(self, name: str, before: list[Any], after: list[Any], returned: Any) -> None:
        self.calls += 1
        self.file.write(struct.pack("<q", len(name)) + name.encode())
        self.file.write(struct.pack("<q", len(before)))
        for first, last in zip(before, after, strict=True):
            write_array(self.file, first)
            write_array(self.file, np.asarray(last).astype(first.dtype))
        write_array(self.file, np.empty(0) if returned is None else np.asarray(returned))


def write_array(file: BinaryIO, array: Any) -> None:
    """Write an array in the order of its memory, if that is C's or Fortran's, and else in C's."""
    order = "F" if array.ndim == 2 and array.strides[0] < array.strides[1] else "C"
    letter = LETTERS[array.dtype.str[1:] if array.dtype != bool else "?"]
    file.write(f"{letter}{order}".encode() + struct.pack("<q", array.ndim))
    file.write(struct.pack(f"<{array.ndim}q", *array.shape))
    file.write(array.astype(array.dtype.newbyteorder("<")).tobytes(order))


def posteriors(kernels: Any) -> None:
    """Call the functions of posteriors, which are younger than the recorded cases."""
    random = np.random.default_rng(8)
    for n, k in ((1, 1), (7, 2), (8, 3), (9, 9), (65, 17)):
        joint = 100.0 * random.standard_normal((n, k))
        joint[random.random((n, k)) < 0.2] = -np.inf
        prior = random.dirichlet(np.ones(k))
        kernels.posterior.log_sum_exp(joint, np.zeros(n))
        kernels.posterior.log_normalise(joint, -prior, np.zeros((n, k)))
        kernels.posterior.normalise(np.asfortranarray(joint), prior)


def cuts_and_products(kernels: Any) -> None:
    """Call kernels of cuts, of products in one order, and sums of pairs."""
    random = np.random.default_rng(9)
    for k, m in ((1, 1), (2, 9), (5, 40), (20, 300)):
        count = 0.5 * random.integers(0, 9, (k, m))
        kernels.cuts.every(count, np.zeros(m, np.int64))
    for m, g in ((0, 3), (1, 1), (7, 13), (36, 8), (70, 33)):
        a, x, r = random.standard_normal((m, g)), *map(random.standard_normal, (g, m))
        kernels.gram.times(a, x, np.zeros(m))
        kernels.gram.add_transposed(a, r, np.zeros(g))
        p, of_classes = random.dirichlet(np.ones(3), m), random.standard_normal((3 * m, g))
        kernels.gram.add_covariances(of_classes, p, np.abs(r), 0, g, np.zeros((g, g)))
        kernels.sums.sum_pairs(a, 1e-17 * a, np.zeros(g), np.zeros(g))


def bins_and_pairs(kernels: Any) -> None:
    """Call kernels of bins of numbers, and of pairs of them."""
    random = np.random.default_rng(10)
    for n, d in ((1, 1), (33, 5), (8, 70)):
        x = random.standard_normal((n, d)) * 10.0 ** random.integers(-300, 300, (n, d))
        x[random.random((n, d)) < 0.1] = np.nan
        origin, low = random.standard_normal(d), np.sort(random.standard_normal(3 * d))
        names = random.integers(0, 2**63, d).astype(np.uint64)
        logs = random.standard_normal((3, 3 * d))
        for rows in (x, np.asfortranarray(x)):
            kernels.bins.cells(rows, origin, np.zeros((n, d), np.int32))
            kernels.bins.find(rows, 3 * np.arange(d + 1), low, np.zeros((n, d), np.int64))
            kernels.bins.hash(rows, names, np.zeros(n, np.uint64))
            kernels.piecewise.add(rows, 3 * np.arange(d + 1), low, logs, np.zeros((n, 3)))
        for _ in range(SOME):  # a table of all cells is large
            tally = np.zeros((1, CELLS + 1), np.uint8), np.zeros((1, CELLS + 1), np.uint16)
            kernels.bins.count(x[:, :1].copy(), origin[:1], np.zeros(n, np.int64), *tally)
        bins = 2 * d
        places = (2 * np.arange(d) + random.integers(0, 2, (n, d))).astype(np.int32)
        places[random.random((n, d)) < 0.2] = -1
        codes, pairs = random.integers(-1, 3, n), bins * (bins + 1) // 2
        kernels.pair_counts.count(places, codes, bins, np.zeros((3, pairs), np.uint32))
        weights, table = random.random(n), np.zeros((3, 2, pairs))
        kernels.pair_counts.count_weighted(places, codes, weights, bins, table)
        terms, sums = random.standard_normal((3, bins, bins)), np.zeros((n, 3, d))
        kernels.pair_counts.sum_by_parent(places, random.random(bins) < 0.5, terms, sums)
    a, b = (np.unique(random.integers(0, 99, 40)) for _ in range(2))
    kernels.bins.unite(a, b, np.zeros_like(a), np.zeros_like(b))


def digests() -> Iterator[tuple[str, list[Any], Any]]:
    """Yield what a digest of an elementary function is made from, and the digest."""
    for name, digest in json.loads(ELEMENTARY.read_text()).items():
        given = [np.array(SPANS[name]), np.array(VALUES), np.array(name != "exp")]
        yield f"digest.{name}", given, np.frombuffer(bytes.fromhex(digest), np.uint8)


def record(path: Path) -> int:
    """Write the calls, and return their number."""
    with path.open("wb") as file, np.errstate(all="ignore"):
        recorder = Recorder(file)
        for module, names in CASES:
            module.kernels = recorder
            for name in names:
                for _ in getattr(module, name)():
                    pass
            module.kernels = kernels
        for called in (posteriors, cuts_and_products, bins_and_pairs):
            called(recorder)
        for name, given, digest in digests():
            recorder.write(name, given, given, digest)
        return recorder.calls


if __name__ == "__main__":
    print(record(Path(sys.argv[1])), "calls")
