"""Every function of the compiled module, called wrongly: a sentence or an answer, never a crash.

What the other tests call is changed at random: shapes, strides, types, sizes 0 and 1, codes and
numbers. Arrays lie between numbers that no kernel may touch. The sanitizers run this too.
"""

import os
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels

from .signatures import FUNCTIONS, right_calls

EDGE, MARK = 64, 0xA5  # bytes on either side of an array, and what they hold
TYPES = (np.float64, np.float32, np.int64, np.int32, np.int8, np.uint8, np.bool_, np.complex128)
NUMBERS = (0, 1, -1, 2, 7, -(2**31), 2**31 - 1, 2**62, -(2**63), 0.5, np.nan, np.inf, 1e300)
OTHER: tuple[Any, ...] = (None, "text", [1.0, 2.0], object(), b"bytes", np.zeros(()), 1 << 70)

Mutation = Callable[[np.random.Generator, Any], Any]


@pytest.fixture(scope="module")
def calls() -> dict[str, list[dict[str, Any]]]:
    return right_calls()


class Guarded:
    """An array between two edges that nobody may write to."""

    def __init__(self, array: Any) -> None:
        size, aligned = array.nbytes, EDGE
        self.memory = np.full(size + 3 * EDGE, MARK, np.uint8)
        start = aligned + -(self.memory.ctypes.data + aligned) % EDGE
        self.edges = self.memory[:start], self.memory[start + size :]
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        inside = self.memory[start : start + size].view(array.dtype)
        self.array = inside.reshape(array.shape, order=order)
        self.array[...] = array

    def whole(self) -> bool:
        return all(bool((edge == MARK).all()) for edge in self.edges)


def one_less(random: np.random.Generator, array: Any) -> Any:
    axis = random.integers(array.ndim)
    return array.take(range(max(array.shape[axis] - 1, 0)), axis)


def one_more(random: np.random.Generator, array: Any) -> Any:
    axis = random.integers(array.ndim)
    last = array.take([-1] if array.shape[axis] else [], axis)
    return np.concatenate([array, last], axis)


def of_length(length: int) -> Mutation:
    def cut(random: np.random.Generator, array: Any) -> Any:
        axis = random.integers(array.ndim)
        return array.take(range(min(length, array.shape[axis])), axis)

    return cut


def every_other(random: np.random.Generator, array: Any) -> Any:
    axis = random.integers(array.ndim)
    wide = np.repeat(array, 2, axis)
    return wide[(slice(None),) * axis + (slice(None, None, 2),)]


def backwards(random: np.random.Generator, array: Any) -> Any:
    return np.flip(array, random.integers(array.ndim))


def turned(random: np.random.Generator, array: Any) -> Any:
    return array.T


def in_columns(random: np.random.Generator, array: Any) -> Any:
    return array.copy("F")


def of_another_type(random: np.random.Generator, array: Any) -> Any:
    with np.errstate(all="ignore"):
        return array.real.astype(TYPES[random.integers(len(TYPES))])


def of_more_dimensions(random: np.random.Generator, array: Any) -> Any:
    return array[..., None] if random.random() < 0.5 else array[None]


def of_fewer_dimensions(random: np.random.Generator, array: Any) -> Any:
    return array.ravel() if random.random() < 0.5 or not len(array) else array[0]


def not_aligned(random: np.random.Generator, array: Any) -> Any:
    moved = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def only_read(random: np.random.Generator, array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


def swapped(random: np.random.Generator, array: Any) -> Any:
    return array.astype(array.dtype.newbyteorder())


def of_other_numbers(random: np.random.Generator, array: Any) -> Any:
    if not array.size:
        return array
    array = array.copy("A")
    number = NUMBERS[random.integers(len(NUMBERS))]
    if array.dtype.kind in "iu":
        number = 0 if not np.isfinite(number) else int(number)
        limits = np.iinfo(array.dtype)
        number = min(max(number, limits.min), limits.max)
    where = tuple(random.integers(size) for size in array.shape)
    with np.errstate(over="ignore"):
        array[where] = number
    return array


def something_else(random: np.random.Generator, array: Any) -> Any:
    return OTHER[random.integers(len(OTHER))]


MUTATIONS: tuple[Mutation, ...] = (
    one_less,
    one_more,
    of_length(0),
    of_length(1),
    every_other,
    backwards,
    turned,
    in_columns,
    of_another_type,
    of_more_dimensions,
    of_fewer_dimensions,
    not_aligned,
    only_read,
    swapped,
    of_other_numbers,
    of_other_numbers,
    of_other_numbers,
    something_else,
)


def changed(random: np.random.Generator, call: dict[str, Any]) -> dict[str, Any]:
    """The same call with one to three of its arguments changed."""
    given = dict(call)
    for _ in range(random.integers(1, 4)):
        name = list(given)[random.integers(len(given))]
        if isinstance(given[name], np.ndarray) and given[name].ndim:
            given[name] = MUTATIONS[random.integers(len(MUTATIONS))](random, given[name])
        elif random.random() < 0.5:
            given[name] = NUMBERS[random.integers(len(NUMBERS))]
        else:
            given[name] = something_else(random, given[name])
    return given


def guarded(given: Any) -> Guarded | None:
    if not isinstance(given, np.ndarray):
        return None
    flags = given.flags
    return Guarded(given) if flags.forc and flags.aligned and flags.writeable else None


def call_wrongly(name: str, calls: list[dict[str, Any]], seed: int) -> None:
    """Change a call, and make it."""
    module, _, function = name.partition(".")
    random = np.random.default_rng(seed)
    given = changed(random, calls[seed % len(calls)])
    guards = {key: guard for key, one in given.items() if (guard := guarded(one))}
    arguments = given | {key: guard.array for key, guard in guards.items()}
    said = "an answer"
    try:
        getattr(getattr(kernels, module), function)(**arguments)
    except (ValueError, TypeError) as error:
        said = str(error)
    assert " " in said, f"{name}, seed {seed}: no sentence"
    touched = [key for key, guard in guards.items() if not guard.whole()]
    assert touched == [], f"{name}, seed {seed}: written beside an array"


def test_wrong_calls_give_sentences(calls: dict[str, list[dict[str, Any]]]) -> None:
    """Of all functions in one test, as calls that are right take long to find."""
    for name, right in calls.items():
        assert right, name
        for seed in range(50):
            call_wrongly(name, right, seed)
        call_without_rows(name, right[0])


def call_without_rows(name: str, call: dict[str, Any]) -> None:
    """Make calls in which any three arrays are empty, or have one row, at the same time."""
    module, _, function = name.partition(".")
    arrays = [key for key, one in call.items() if isinstance(one, np.ndarray) and one.ndim]
    for few in combinations_with_replacement(arrays, 3):
        for length in (0, 1):
            given = call | {key: call[key][:length].copy("A") for key in few}
            said = "an answer"
            try:
                getattr(getattr(kernels, module), function)(**given)
            except (ValueError, TypeError) as error:
                said = str(error)
            assert " " in said, f"{name}, {few}, {length}: no sentence"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_wrong_calls_give_sentences(name: str, calls: dict[str, list[dict[str, Any]]]) -> None:
    for seed in range(50, int(os.environ.get("SUFFICE_WRONG_CALLS", 10_000))):
        call_wrongly(name, calls[name], seed)
