"""Functions of the compiled module as its stubs have them, and calls of them that are right."""

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import isgeneratorfunction, signature
from pathlib import Path
from typing import Any

import numpy as np

from suffice.numerics import kernels
from suffice.sums.bins import CELLS

from . import test_searchlight

__all__ = ["FUNCTIONS", "right_calls"]

HERE = Path(__file__).parent
STUBS = HERE.parents[2] / "src/suffice/numerics/kernels"
MOST_CALLS, MOST_CELLS = 12, 100_000


def _functions() -> Iterator[tuple[str, list[str]]]:
    for stub in sorted(STUBS.glob("*.pyi")):
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.FunctionDef) and stub.stem != "__init__":
                yield f"{stub.stem}.{node.name}", [one.arg for one in node.args.args]


FUNCTIONS = dict(_functions())


def right_calls() -> dict[str, list[dict[str, Any]]]:
    """Arguments by name with which the tests call every function, copied before the call."""
    calls: dict[str, list[dict[str, Any]]] = {name: [] for name in FUNCTIONS}
    with _recording(calls):
        for path in sorted(HERE.glob("test_*.py")):
            for made in vars(import_module(f".{path.stem}", __package__)).values():
                if isgeneratorfunction(made) and not signature(made).parameters:
                    for _ in made():
                        pass
        _call_the_others()
    return calls


def _call_the_others() -> None:
    """Call what no generator of recorded cases calls."""
    some, whole = np.linspace(0.1, 3.0, 20), np.arange(2, 9)
    for name in ("exp", "log", "log1p", "lgamma", "digamma"):
        getattr(kernels.elementary, name)(some.reshape(4, 5), np.zeros((4, 5)))
    kernels.posterior.log_sum_exp(some.reshape(4, 5), np.zeros(4))
    kernels.posterior.log_normalise(some.reshape(4, 5), np.zeros(5), np.zeros((4, 5)))
    kernels.posterior.normalise(np.zeros((4, 5)), np.ones(5))
    for dtype in (np.int64, np.uint64):
        values = whole.astype(dtype)
        kernels.counts.mark(values, 2, np.zeros(7, np.bool_))
        kernels.counts.look_up(values, 2, np.arange(7), np.zeros(7, np.int64))
        kernels.columns.to_doubles(values.reshape(7, 1), 0, 100, np.zeros((7, 1)))
    for dtype in (np.float64, np.float32, np.int64, np.int8):
        parts = np.arange(4).astype(dtype), np.array([5, 1, 5, 0], np.int32), np.array([0, 3, 4])
        room = np.zeros(4, np.int32), np.zeros(4), np.zeros(3, np.int64)
        kernels.merging.merge(*parts, 6, *room)
    table = some.reshape(4, 5)
    for x in (table, np.asfortranarray(table)):
        kernels.bins.cells(x, np.zeros(5), np.zeros((4, 5), np.int32))
        column, codes = x[:, :1], np.array([0, -1, 0, 0])
        kernels.bins.count(column, np.zeros(1), codes, *_empty_tally())
        kernels.bins.find(x, np.arange(6), np.arange(5.0), np.zeros((4, 5), np.int64))
        kernels.bins.hash(x, np.arange(5, dtype=np.uint64), np.zeros(4, np.uint64))
    keys = np.arange(3), np.array([1, 7])
    kernels.bins.unite(*keys, np.zeros(3, np.int64), np.zeros(2, np.int64))
    tally = _empty_tally()
    tally[0][0, [3, 7]] = 2
    cells = np.zeros(2, np.int64), np.zeros(2, np.uint16), np.zeros(2)
    kernels.bins.shown(*tally, *cells)
    kernels.bins.cells_of(*cells, 1, 0, np.zeros(CELLS, np.uint16))
    kernels.bins.counts_of(*cells, 1, 0, cells[1][:1], np.zeros((1, 1)))
    sums = np.zeros(2, np.int64), np.zeros(4, np.uint16), np.zeros(4)
    kernels.bins.add(*cells, *cells, 1.0, *sums)
    at, bandwidths = np.linspace(0.0, 1.0, 5), np.ones(2)
    of_classes = np.ones((4, 2, 5))
    for x in (table, np.asfortranarray(table)):
        kernels.scores.student_terms(x, *of_classes, np.zeros((5, 2, 4)))
    counts, *densities = np.ones((2, 5)), np.zeros((2, 5)), np.zeros((2, 5))
    kernels.densities.kernel_shape(at, counts, *np.zeros((2, 2)), np.zeros(5))
    kernels.densities.kernel_logs(at, counts, bandwidths, at + 1, *densities)
    kernels.densities.back_off(counts, np.zeros(5))
    kernels.densities.bin_logs(at, at + 1, counts, at, *densities)
    merged = np.zeros(2), np.zeros(2), np.zeros((2, 2))
    kernels.densities.merge(at, at + 1, counts, np.array([2]), *merged)
    kernels.densities.log_losses(counts, *densities)
    kernels.cuts.every(table, np.zeros(5, np.int64))
    kernels.cuts.equal_frequency(at + 1, 3, np.zeros(2, np.int64))
    kernels.gram.times(table, np.ones(5), np.zeros(4))
    kernels.gram.add_transposed(table, np.ones(4), np.zeros(5))
    kernels.gram.place_terms(table, np.arange(5), 0.0, np.zeros((5, 2, 2)))
    kernels.gram.add_covariances(table, np.full((2, 2), 0.5), np.ones(2), 0, 5, np.zeros((5, 5)))
    _count_pairs()
    test_searchlight.predicted()
    test_searchlight.test_single_precision_counts_what_double_predicts()
    test_searchlight.digest()


def _empty_tally() -> tuple[np.ndarray, np.ndarray]:
    """What counts of cells of one column leave in a byte, and carry."""
    return np.zeros((1, CELLS + 1), np.uint8), np.zeros((1, CELLS + 1), np.uint16)


def _count_pairs() -> None:
    """Call the kernels of pairs with five bins of two columns."""
    places, codes = np.array([[0, 2], [-1, 4], [1, -1]], np.int32), np.array([0, 1, -1])
    kernels.pair_counts.count(places, codes, 5, np.zeros((2, 15), np.uint32))
    kernels.pair_counts.count_weighted(places, codes, np.ones(3), 5, np.zeros((2, 2, 15)))
    parent = np.array([True, False, True, True, True])
    sums = np.zeros((3, 2, 2))
    kernels.pair_counts.sum_by_parent(places, parent, np.linspace(-1, 0, 50).reshape(2, 5, 5), sums)


@contextmanager
def _recording(calls: dict[str, list[dict[str, Any]]]) -> Iterator[None]:
    kept = {}
    for name in FUNCTIONS:
        module, _, function = name.partition(".")
        kept[name] = getattr(getattr(kernels, module), function)
        setattr(getattr(kernels, module), function, _noting(name, kept[name], calls[name]))
    try:
        yield
    finally:
        for name, before in kept.items():
            module, _, function = name.partition(".")
            setattr(getattr(kernels, module), function, before)


def _noting(
    name: str, function: Callable[..., Any], calls: list[dict[str, Any]]
) -> Callable[..., Any]:
    seen: set[Any] = set()

    def call(*given: Any, **named: Any) -> Any:
        by_name = dict(zip(FUNCTIONS[name], given, strict=False)) | named
        arrays = [one for one in by_name.values() if isinstance(one, np.ndarray)]
        kinds = tuple((a.dtype.str, a.ndim, a.size == 0) for a in arrays)
        known = kinds in seen and len(calls) >= MOST_CALLS
        if known or sum(a.size for a in arrays) > MOST_CELLS:
            return function(*given, **named)
        copies = {
            key: np.copy(one, "K") if isinstance(one, np.ndarray) else one
            for key, one in by_name.items()
        }
        answer = function(*given, **named)
        seen.add(kinds)
        calls.append(copies)
        return answer

    return call
