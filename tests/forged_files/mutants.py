"""Model files forged at random: any part may be changed, and the digest is right.

A file is taken apart into its envelope, which holds the tree, and its arrays; one to three changes
are made, and it is put together again with a digest that holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from suffice.models.generative import saved as generative
from suffice.models.linear import saved as linear
from suffice.models.logistic import saved as logistic
from suffice.tree import DTYPES

TYPES = {**generative.SAVED, **linear.SAVED, **logistic.SAVED}

START = 8 + len(b'{"__metadata__":{"suffice":"{\\"digest\\":\\"')  # of the digest
STORED = {
    name: {"b": "BOOL", "i": "I", "u": "U", "f": "F"}[dtype.kind] + str(8 * dtype.itemsize)
    for name, dtype in DTYPES.items()
} | {"bool": "BOOL"}
LOADED = {stored: name for name, stored in STORED.items()}

NAN, INFINITY = "7ff8000000000000", "7ff0000000000000"
WHOLE = [-1, 0, 1, 2, 3, 7, 64, 2**20, 2**30, 2**31, 2**40, 2**53 - 1, -(2**30), 1 - 2**53]
REAL = [0.0, -0.0, 0.5, 1.0, -1.0, 3.7, 1e-320, 1e-200, 1e100, 1e149, 1e200, 1e308, -1e308]
WORDS = ["", "x0", "x1", "y", "a", "0", "kind", "mle", "real", "number", "é", "\ud800", "a" * 99]
NODES: list[Any] = [
    *(None, True, False, [], {}, {"x": 1}, {"tuple": []}, {"tuple": [0, 1]}),
    *({"float": NAN}, {"float": INFINITY}, {"numpy": ["int64", "ff" * 8]}, {"decimal": "sNaN"}),
    *({"int": "0x20000000000000"}, {"int": "-0x" + "f" * 30}, {"int": "0x" + "f" * 5000}),
    *({"date": "2020-01-01"}, {"datetime": "2020-01-01T00:00:00"}, {"timedelta": [1, 2, 3]}),
    *({"bytes": "00ff"}, {"dict": [{"tuple": []}, []]}, {"record": ["Numbered", {"d": 2**40}]}),
    {"record": ["Vocabulary", {"values": {"tuple": []}, "closed": True}]},
]
NUMBERS = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1.0, 2.0**30, 1e149, 1e200, 1e308, -1e308, 1e-320]
PLACES = [-1, 0, 1, 2, 5, 100, 2**30, 2**31, 2**40, 2**62, -(2**62)]


@dataclass
class Parts:
    """A file taken apart; ``said`` is what its header is to say of some arrays instead."""

    envelope: dict[str, Any]
    arrays: dict[str, np.ndarray]
    said: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, raw: bytes) -> Parts:
        begin = 8 + int.from_bytes(raw[:8], "little")
        header = json.loads(raw[8:begin])
        envelope, arrays = json.loads(header.pop("__metadata__")["suffice"]), {}
        for name, entry in header.items():
            first, last = (begin + offset for offset in entry["data_offsets"])
            values = np.frombuffer(raw[first:last], DTYPES[LOADED[entry["dtype"]]])
            arrays[name] = values.reshape(entry["shape"])
        return cls(envelope, arrays)

    def together(self) -> bytes:
        entries, data = {}, b""
        for name, array in self.arrays.items():
            part = np.ascontiguousarray(array).tobytes()
            entries[name] = {
                "dtype": STORED[array.dtype.name],
                "shape": list(array.shape),
                "data_offsets": [len(data), len(data) + len(part)],
            } | self.said.get(name, {})
            data += part
        envelope = self.envelope | {"digest": "0" * 64}
        text = json.dumps(envelope, sort_keys=True, separators=(",", ":"))
        described = {"__metadata__": {"suffice": text}} | entries
        header = json.dumps(described, separators=(",", ":")).encode()
        header += b" " * (-len(header) % 8)
        raw = len(header).to_bytes(8, "little") + header + data
        return raw[:START] + hashlib.sha256(raw).hexdigest().encode() + raw[START + 64 :]


def mutant(raw: bytes, rng: Random) -> bytes:
    """A file with one to three changes."""
    parts = Parts.of(raw)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        (change,) = rng.choices([change_tree, change_array, change_header], [6, 4, 1])
        change(rng, parts)
    return parts.together()


# -- the tree

Place = tuple[Any, Any]  # a list or a dictionary, and an index or a key


def places_in(node: Any) -> list[Place]:
    """All places in a tree."""
    if not isinstance(node, list | dict):
        return []
    keys = list(range(len(node)) if isinstance(node, list) else node)
    return [place for key in keys for place in [(node, key), *places_in(node[key])]]


def change_tree(rng: Random, parts: Parts) -> None:
    """Change the envelope, or a place in the tree."""
    if rng.random() < 0.02:
        key = rng.choice(["kind", "format", "library_version", "format_version"])
        parts.envelope[key] = rng.choice([*WORDS, *WHOLE, "GaussianNB", "LogisticRegression"])
        return
    places = places_in(parts.envelope["tree"])
    if places:
        ways = [replaced, replaced, replaced, copied, cut, twice, renamed]
        rng.choice(ways)(rng, rng.choice(places), places)


def replaced(rng: Random, place: Place, places: list[Place]) -> None:
    """Put something else there, most often of the same type."""
    holder, key = place
    old = holder[key]
    anything = [*WHOLE, *REAL, *WORDS, *map(deepcopy, NODES)]
    if rng.random() < 0.25:
        holder[key] = rng.choice(anything)
    elif isinstance(old, bool):
        holder[key] = not old
    elif isinstance(old, int):
        holder[key] = rng.choice([*WHOLE, old + 1, old - 1])
    elif isinstance(old, float):
        holder[key] = rng.choice([*REAL, old * 2, -old])
    elif isinstance(old, str):
        others = [h[k] for h, k in places if isinstance(h[k], str)]
        holder[key] = rng.choice([*WORDS, *rng.choices(others, k=20), old + "x", old[:-1]])
    elif isinstance(old, list):
        rng.shuffle(old)
    elif isinstance(old, dict) and isinstance(old.get("record"), list) and old["record"]:
        old["record"][0] = rng.choice(list(TYPES))
    else:
        holder[key] = rng.choice(anything)


def copied(rng: Random, place: Place, places: list[Place]) -> None:
    """Put something of another place there, in exchange or not."""
    holder, key = place
    other, there = rng.choice(places)
    mine, theirs = deepcopy(holder[key]), deepcopy(other[there])
    holder[key] = theirs
    if rng.random() < 0.5:
        other[there] = mine


def cut(rng: Random, place: Place, places: list[Place]) -> None:
    """Take something away, or all that follows."""
    holder, key = place
    if isinstance(holder, list) and rng.random() < 0.3:
        del holder[key:]
    else:
        del holder[key]


def twice(rng: Random, place: Place, places: list[Place]) -> None:
    """Repeat an element of a list."""
    holder, key = place
    if isinstance(holder, list):
        holder.insert(key, deepcopy(holder[key]))
    else:
        replaced(rng, place, places)


def renamed(rng: Random, place: Place, places: list[Place]) -> None:
    """Give a field, or a tag, another name."""
    holder, key = place
    if isinstance(holder, dict):
        names = ["tuple", "dict", "strings", "array", "values", "missing", "count", f"{key}x"]
        holder[rng.choice(names)] = holder.pop(key)
    else:
        replaced(rng, place, places)


# -- arrays

Change = Callable[[Random, np.ndarray], np.ndarray]


def change_array(rng: Random, parts: Parts) -> None:
    """Change an array, or put it in the place of another."""
    if not parts.arrays:
        return
    name, other = rng.choices(list(parts.arrays), k=2)
    if rng.random() < 0.1:
        parts.arrays[name], parts.arrays[other] = parts.arrays[other], parts.arrays[name]
        return
    ways: list[Change] = [filled, filled, filled, recast, reshaped, resized, resized, noisy, moved]
    with np.errstate(all="ignore"):
        parts.arrays[name] = rng.choice(ways)(rng, np.array(parts.arrays[name]))


def filled(rng: Random, array: np.ndarray) -> np.ndarray:
    """Odd numbers in one place, in a row, or everywhere; or a change of sign."""
    number: Any = rng.choice(NUMBERS)
    if array.dtype.kind in "iu":
        bounds = np.iinfo(array.dtype)
        number = min(max(rng.choice(PLACES), bounds.min), bounds.max)
    flat = array.reshape(-1)
    if not flat.size:
        return array
    at, way = rng.randrange(flat.size), rng.randrange(4)
    if way == 0:
        flat[:] = number
    elif way == 1:
        flat[at] = not flat[at] if array.dtype.kind == "b" else 0 - flat[at]
    elif way == 2 and array.ndim:
        array[rng.randrange(len(array))] = number
    else:
        flat[at] = number
    return array


def recast(rng: Random, array: np.ndarray) -> np.ndarray:
    """The same numbers in another dtype, or the same bytes."""
    if rng.random() < 0.3 and array.dtype.itemsize == 8:
        return array.view(rng.choice(["float64", "int64", "uint64"]))
    return array.astype(rng.choice(list(DTYPES)))


def reshaped(rng: Random, array: np.ndarray) -> np.ndarray:
    """The same numbers in another shape."""
    flat = array.reshape(-1)
    return rng.choice([array.T, flat, flat[::-1], array[None], array[..., None]])


def resized(rng: Random, array: np.ndarray) -> np.ndarray:
    """More or fewer numbers along one axis; or none, whatever the other axes say."""
    if not array.ndim:
        return array[None]
    axis, way = rng.randrange(array.ndim), rng.randrange(5)
    n = array.shape[axis]
    if way == 0 and array.size:
        return np.delete(array, rng.randrange(n), axis)
    if way == 1 and array.size:
        at = rng.randrange(n)
        return np.insert(array, at, array.take(at, axis), axis)
    if way == 2 and array.size:  # of none, each of 2⁴⁰ would be repeated
        return np.repeat(array, rng.choice([0, 2, 3]), axis)
    shape = list(array.shape)
    shape[axis - 1] = rng.choice([1, 2**20, 2**40]) if way == 3 else shape[axis - 1]
    shape[axis] = 0
    return np.zeros(shape, array.dtype)


def noisy(rng: Random, array: np.ndarray) -> np.ndarray:
    """Random bytes in one number, or in all."""
    if rng.random() < 0.5 or array.dtype.kind == "b" or not array.size:
        return np.frombuffer(rng.randbytes(array.nbytes), array.dtype).reshape(array.shape)
    flat = array.reshape(-1)
    at = rng.randrange(flat.size)
    flat[at : at + 1] = np.frombuffer(rng.randbytes(flat.itemsize), flat.dtype)
    return array


def moved(rng: Random, array: np.ndarray) -> np.ndarray:
    """Numbers in another order, or on another scale."""
    if array.dtype.kind == "b":
        return ~array
    several = array * array.dtype.type(rng.choice([2, 3, 100]))
    in_order = np.sort(array.reshape(-1)).reshape(array.shape)
    return rng.choice([np.flip(array), in_order, several, array - array.dtype.type(1)])


# -- what the header says


def change_header(rng: Random, parts: Parts) -> None:
    """Let the header say something else of an array."""
    if not parts.arrays:
        return
    name = rng.choice(list(parts.arrays))
    shape, size = list(parts.arrays[name].shape), parts.arrays[name].size
    options: dict[str, list[Any]] = {
        "shape": [shape[::-1], shape[1:], [*shape, 1], [size], [2**62, 4], [0, 2**62], [-1], 3],
        "dtype": [*STORED.values(), "C64", "F128", 8],
        "data_offsets": [[0, 8], [0, 2**62], [-8, 8], [8, 0], [2**63, 2**63 + 8], ["0", "8"], []],
    }
    key = rng.choice(list(options))
    parts.said[name] = {key: rng.choice(options[key])}
