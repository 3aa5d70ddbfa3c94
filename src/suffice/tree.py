"""Trees of dataclasses as JSON and arrays, and back: what a model file holds.

A node of JSON is a plain scalar, a list, or one tagged pair; arrays appear by their name. The
decoder builds nothing but the dataclasses that the caller allows; ``docs/file_format.md`` lists
the tags.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ModelFileError, ParameterError
from suffice.rules import build

VERSION = "load it with the version of suffice that wrote it"  # what else to do with a record
_MAX_DEPTH = 64
_FIRST_PACKED_LENGTH = 65
# Other readers of JSON keep no more than the integers of a double.
_FIRST_LARGE_INT = 2**53
DTYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in (
        *("bool", "int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"),
    )
}

Json: TypeAlias = Any
Types: TypeAlias = Mapping[str, type[Any]]
Where: TypeAlias = tuple[str, ...]


def named(*types: type, **others: type) -> Types:
    """Types by the names that a file gives them: their own, or ``others``."""
    return {cls.__name__: cls for cls in types} | others


def damaged(name: str, fact: str) -> ModelFileError:
    """Say that a file is not as it was written."""
    return ModelFileError(
        f"{name}: {fact}",
        "the file was cut short or altered after it was written",
        "restore it from a copy or save the model again",
    )


def _member(key: Any) -> str:
    # An int of thousands of digits has no repr.
    return f"[{key!r}]" if _is_plain(key) else f"[{type(key).__name__}]"


def _describe(where: Where) -> str:
    return "".join(where).removeprefix(".") or "content"


def _moment_text(moment: datetime) -> str:
    """Write a point in time, the name of its zone in brackets behind it."""
    zone = moment.tzinfo.key if isinstance(moment.tzinfo, ZoneInfo) else None
    return moment.isoformat() + (f"[{zone}]" if zone else "")


def _moment(text: str) -> datetime:
    written, _, zone = text.rstrip("]").partition("[")
    moment = datetime.fromisoformat(written)
    if not zone:
        return moment
    for fold in (0, 1):  # some hours are there twice, with two offsets
        local = moment.replace(tzinfo=ZoneInfo(zone), fold=fold)
        if local.utcoffset() == moment.utcoffset():
            return local
    return moment.astimezone(ZoneInfo(zone))  # the zone had another offset when it was written


# Types that JSON lacks, with their way there and back. Base 16 has no limit on the digits of an int
# and takes linear time.
_SCALARS: dict[str, tuple[type[Any], Callable[[Any], Json], Callable[[Any], Any]]] = {
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "date": (date, date.isoformat, date.fromisoformat),
    "datetime": (datetime, _moment_text, _moment),
    "decimal": (Decimal, str, Decimal),
    "float": (
        float,
        lambda value: struct.pack(">d", value).hex(),
        lambda text: struct.unpack(">d", bytes.fromhex(text))[0],
    ),
    "int": (int, hex, lambda text: int(text, 16)),
    "time": (time, time.isoformat, time.fromisoformat),
    "timedelta": (
        timedelta,
        lambda value: [value.days, value.seconds, value.microseconds],
        lambda parts: timedelta(parts[0], parts[1], parts[2]),
    ),
}
_SCALAR_TAGS = {cls: tag for tag, (cls, *_) in _SCALARS.items()}


def _is_plain(value: Any) -> bool:
    cls = type(value)
    return (
        (cls is str or cls is bool or value is None)
        or (cls is int and abs(value) < _FIRST_LARGE_INT)
        or (cls is float and math.isfinite(value))
    )


def _is_numpy_scalar(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.name in DTYPES


def _is_scalar(value: Any) -> bool:
    return _is_plain(value) or type(value) in _SCALAR_TAGS or _is_numpy_scalar(value)


class Encoder:
    """Turns content into JSON and a dictionary of C-contiguous arrays."""

    def __init__(self, types: Types) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._names = {cls: name for name, cls in types.items()}

    def encode(self, value: Any, where: Where) -> Json:
        """Encode one node of the tree."""
        if _is_plain(value):
            return value
        if len(where) > _MAX_DEPTH:
            raise ParameterError(
                f"{_describe(where)}: nested deeper than {_MAX_DEPTH} levels",
                "a model is a tree of moderate depth",
                "look for a container that contains itself",
            )
        if hasattr(value, "in_file"):  # what stands for it there
            value = value.in_file()
        cls = type(value)
        if cls is list:
            return self._items(value, where)
        if cls is tuple:
            return self._tuple(value, where)
        if cls is dict:
            return self._dict(value, where)
        if cls is np.ndarray:
            return {"array": self._array(value, where)}
        if cls in self._names:
            return self._record(value, where)
        if cls in _SCALAR_TAGS:
            return self._scalar(value, where)
        if _is_numpy_scalar(value):
            dtype = DTYPES[value.dtype.name]
            return {"numpy": [value.dtype.name, value.astype(dtype).tobytes().hex()]}
        raise self._refusal(f"a {cls}", where)

    def _items(self, values: Sequence[Any], where: Where) -> list[Json]:
        return [self.encode(value, (*where, f"[{i}]")) for i, value in enumerate(values)]

    def _tuple(self, values: tuple[Any, ...], where: Where) -> Json:
        # A vocabulary can hold millions of strings and the header must stay small.
        if len(values) >= _FIRST_PACKED_LENGTH and all(type(value) is str for value in values):
            return {"strings": self._strings(values, where)}
        return {"tuple": self._items(values, where)}

    def _strings(self, values: tuple[str, ...], where: Where) -> list[str]:
        encoded = [value.encode("utf-8", "surrogatepass") for value in values]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        blob = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        return [self._array(blob, where), self._array(offsets, where)]

    def _dict(self, mapping: dict[Any, Any], where: Where) -> Json:
        for key in mapping:
            if not _is_scalar(key):
                raise self._refusal(f"a key of {type(key)}", where)
        values = [self.encode(value, (*where, _member(key))) for key, value in mapping.items()]
        return {"dict": [self.encode(tuple(mapping), where), values]}

    def _array(self, array: NDArray[Any], where: Where) -> str:
        if array.dtype.name not in DTYPES or not array.dtype.isnative:
            raise self._refusal(f"an array of dtype {array.dtype}", where)
        name = str(len(self.arrays))
        # safetensors 0.8 writes arrays of any other memory order scrambled, without an error.
        self.arrays[name] = np.asarray(array, order="C")
        return name

    def _record(self, value: Any, where: Where) -> Json:
        names = [f.name for f in fields(value) if f.init]
        members = {name: self.encode(getattr(value, name), (*where, f".{name}")) for name in names}
        return {"record": [self._names[type(value)], members]}

    def _scalar(self, value: Any, where: Where) -> Json:
        tag = _SCALAR_TAGS[type(value)]
        _, write, read = _SCALARS[tag]
        text = write(value)
        if tag in ("datetime", "time") and repr(read(text)) != repr(value):
            raise ParameterError(
                f"{_describe(where)}: {value!r} cannot be saved",
                "a saved time has no fold but in a zone, and no offset but of whole seconds",
                "convert it with astimezone(datetime.timezone.utc)",
            )
        return {tag: text}

    def _refusal(self, what: str, where: Where) -> ParameterError:
        return ParameterError(
            f"{_describe(where)}: {what} cannot be saved",
            "a model file holds registered dataclasses, tuples, lists, dicts with scalar keys, "
            "native arrays of bool, int or float, and scalars",
            "convert it to one of these",
        )


class Decoder:
    """Builds content from JSON and arrays, each array used once."""

    def __init__(self, name: str, types: Types, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays = arrays
        self._file = name
        self._types = types

    def decode(self, node: Json, where: Where) -> Any:
        """Decode one node of the tree."""
        if len(where) > _MAX_DEPTH:
            raise ValueError("depth")
        if isinstance(node, list):
            return self._items(node, where)
        if not isinstance(node, dict):
            if isinstance(node, float) and math.isinf(node):  # a number with a large exponent
                raise ValueError(node)
            return node
        ((tag, body),) = node.items()
        match tag:
            case "tuple":
                return tuple(self._items(body, where))
            case "dict":
                return self._dict(body, where)
            case "array":
                return self.arrays.pop(body)
            case "strings":
                return self._strings(*body)
            case "record":
                return self._record(body, where)
            case "numpy":
                dtype, text = body
                return np.frombuffer(bytes.fromhex(text), dtype=DTYPES[dtype]).reshape(())[()]
            case _:
                return _SCALARS[tag][2](body)

    def _items(self, nodes: list[Json], where: Where) -> list[Any]:
        return [self.decode(node, (*where, f"[{i}]")) for i, node in enumerate(nodes)]

    def _dict(self, body: Json, where: Where) -> dict[Any, Any]:
        keys, values = body
        names = self.decode(keys, where)
        pairs = zip(names, values, strict=True)
        mapping = {key: self.decode(value, (*where, _member(key))) for key, value in pairs}
        if len(mapping) != len(names):
            raise ValueError("duplicate key")
        return mapping

    def _strings(self, blob_name: str, offsets_name: str) -> tuple[str, ...]:
        blob, offsets = self.arrays.pop(blob_name), self.arrays.pop(offsets_name)
        if (blob.dtype.name, offsets.dtype.name, blob.ndim) != ("uint8", "int64", 1):
            raise ValueError("packed strings")
        if offsets[0] != 0 or offsets[-1] != blob.size or np.any(np.diff(offsets) < 0):
            raise ValueError("packed strings")
        text = blob.tobytes()
        ends = pairwise(offsets.tolist())
        return tuple(text[start:stop].decode("utf-8", "surrogatepass") for start, stop in ends)

    def _record(self, body: Json, where: Where) -> Any:
        name, members = body
        place = f"{self._file}: {_describe(where)}"
        if name not in self._types:
            raise ModelFileError(
                f"{place} is of the unknown type {name!r}",
                f"known here: {', '.join(sorted(self._types)) or 'none'}",
                "load it with the version of suffice that wrote it, or a later one",
            )
        cls: Any = self._types[name]
        values = {key: self.decode(node, (*where, f".{key}")) for key, node in members.items()}
        try:
            return build(cls, values)
        except ParameterError as error:
            raise ModelFileError(f"{place}: {error.fact}", error.rule, VERSION) from error
        except Exception as error:
            raise ModelFileError(
                f"{place}: {name} refuses its saved values: {error}",
                "a saved object must still be a valid one",
                VERSION,
            ) from error
