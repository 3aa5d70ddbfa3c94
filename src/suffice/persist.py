"""Model files: a tree of frozen dataclasses, written and read without running any code.

The layout is that of safetensors: eight bytes with the length of the header, a JSON header,
the bytes of the arrays. The header's metadata hold one more JSON text, the *envelope*: digest,
format, kind of model, library version, and the tree in which arrays appear by their name.
``docs/file_format.md`` describes every part.

The digest guards against damage, not against forgery: whoever can write a file can compute it.
What a forged file can do is limited by the loader, which builds nothing but the types that the
caller allows.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from dataclasses import dataclass
from typing import Any, Self
from zoneinfo import ZoneInfoNotFoundError

import safetensors.numpy
from safetensors import SafetensorError

from suffice._version import __version__
from suffice.atomic import atomic_writer
from suffice.errors import ModelFileError, ParameterError
from suffice.tree import DTYPES, Decoder, Encoder, Json, Types, damaged

FORMAT_VERSION = 1

_FORMAT = "suffice"
_ENVELOPE_KEYS = {"digest", "format", "format_version", "kind", "library_version", "tree"}
_LENGTH_BYTES = 8
_MAX_HEADER_BYTES = 100_000_000
_PIECE = 1 << 24  # bytes digested at a time

# The envelope is the only metadata and "digest" the first of its sorted keys, so every model
# file starts, after the length, with these bytes and the digest.
_SIGNATURE = b'{"__metadata__":{"suffice":"{\\"digest\\":\\"'
_DIGEST = slice(_LENGTH_BYTES + len(_SIGNATURE), _LENGTH_BYTES + len(_SIGNATURE) + 64)
_OF_OWNERS = re.compile(rb'\{\s*"format": "suffice ')  # a plan, or a key
_BLANK_DIGEST = "0" * 64


def write_model(path: str | os.PathLike[str], kind: str, content: Any, *, types: Types) -> None:
    """Write a tree of frozen dataclasses to a model file, completely or not at all.

    Equal content gives equal bytes.

    Parameters
    ----------
    path : str or os.PathLike
        The file to write; a file of that name is replaced.
    kind : str
        What the file holds, for `read_model` to report.
    content : object
        A tree of registered dataclasses (saved by the fields of their constructor), tuples,
        lists, dicts with scalar keys, arrays, and scalars: str, int, float, bool, None, bytes,
        date, datetime, time, timedelta, Decimal, and the bool, int and float scalars of NumPy.
    types : mapping of str to type
        The dataclasses that may occur, by the name that the file gives them.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from tempfile import TemporaryDirectory
    >>> @dataclass(frozen=True)
    ... class Counts:
    ...     labels: tuple[str, ...]
    ...     weight: float
    >>> with TemporaryDirectory() as directory:
    ...     path = f"{directory}/model.suffice"
    ...     write_model(path, "counts", Counts(("no", "yes"), 2.0), types={"Counts": Counts})
    ...     read_model(path, types={"Counts": Counts})
    ('counts', Counts(labels=('no', 'yes'), weight=2.0))
    """
    raw = _serialise(kind, content, types)
    try:
        with atomic_writer(path) as file:
            file.write(raw)
    except OSError as error:
        raise ModelFileError(
            f"{os.fspath(path)} cannot be written: {error.strerror or error}",
            next_step="check the path, its permissions and the free space",
        ) from error


def read_model(path: str | os.PathLike[str], *, types: Types) -> tuple[str, Any]:
    """Read the kind and the content of a model file.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `write_model` wrote.
    types : mapping of str to type
        The dataclasses that may be built, by the name that the file gives them.

    Returns
    -------
    kind : str
        What the file holds.
    content : object
        The tree as it was saved, with every type, dtype and bit.

    Examples
    --------
    >>> read_model("absent.suffice", types={})
    Traceback (most recent call last):
        ...
    suffice.errors.ModelFileError: absent.suffice cannot be read: No such file or directory; \
check the path and its permissions.
    """
    file = ModelFile.read(path)
    return file.kind, file.content(types)


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as model files do; False if it is no file."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(_DIGEST.start)[_LENGTH_BYTES:] == _SIGNATURE


def is_no_table(start: bytes) -> bool:
    """Return whether a file that begins so holds a model, sums, a plan or a key."""
    return start.startswith(_SIGNATURE, _LENGTH_BYTES) or _OF_OWNERS.match(start) is not None


@dataclass(frozen=True)
class ModelFile:
    """A model file whose digest is right; what it holds is built when its types are known."""

    name: str  # its path
    kind: str  # what it holds
    _raw: bytes
    _tree: Json

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read the bytes of a file."""
        name = os.fspath(path)
        raw, envelope = _read_file(name)
        if raw[_DIGEST] != _digest(raw):
            raise damaged(name, "the SHA-256 differs from the one written")
        kind = envelope.get("kind")
        if (
            envelope.keys() != _ENVELOPE_KEYS
            or envelope["format"] != _FORMAT
            or type(envelope["format_version"]) is not int
            or envelope["format_version"] != FORMAT_VERSION
            or type(kind) is not str
        ):
            raise damaged(name, "the tree does not follow the format")
        return cls(name, kind, raw, envelope["tree"])

    def content(self, types: Types) -> Any:
        """Build the tree as it was saved, from dataclasses of these types."""
        try:
            arrays = safetensors.numpy.load(self._raw)
            if any(array.dtype.name not in DTYPES for array in arrays.values()):
                raise ValueError("dtype")
            decoder = Decoder(self.name, types, arrays)
            content = decoder.decode(self._tree, ())
            if decoder.arrays:
                raise ValueError("surplus arrays")
        except ModelFileError:
            raise
        except ZoneInfoNotFoundError as error:
            raise ModelFileError(
                f"{self.name}: {error.args[0]}",
                "the model holds times of that zone",
                "pip install --upgrade tzdata",
            ) from error
        except (
            *(ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError),
            *(AttributeError, OSError, SafetensorError, struct.error),
        ) as error:
            raise damaged(self.name, "the tree does not follow the format") from error
        return content


def _serialise(kind: str, content: Any, types: Types) -> bytes:
    """Lay the whole file out in memory."""
    encoder = Encoder(types)
    envelope = {
        "digest": _BLANK_DIGEST,
        "format": _FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "library_version": __version__,
        "tree": encoder.encode(content, ()),
    }
    text = json.dumps(envelope, sort_keys=True, allow_nan=False, separators=(",", ":"))
    try:
        raw = safetensors.numpy.save(encoder.arrays, {_FORMAT: text})
    except SafetensorError as error:
        raise ParameterError(
            f"the content cannot be saved: {error}",
            f"all that is not an array has to fit in {_MAX_HEADER_BYTES:,} bytes",
            "keep long lists of numbers as arrays and long lists of strings as tuples",
        ) from error
    if not raw.startswith(_SIGNATURE, _LENGTH_BYTES):
        raise ModelFileError(
            "the installed safetensors orders its header in an unknown way",
            "a file written with it could not be read again",
            "install safetensors 0.8",
        )
    return b"".join([raw[: _DIGEST.start], _digest(raw), memoryview(raw)[_DIGEST.stop :]])


def _digest(raw: bytes) -> bytes:
    # safetensors alone accepts files with bytes changed. The digest therefore covers the file
    # from its first byte to its last, lengths, offsets, padding and order of keys included, with
    # zeros in its own place; no byte is left over that could change unseen, and nothing depends
    # on how a later safetensors would write the same header.
    view = memoryview(raw)
    digest = hashlib.sha256(view[: _DIGEST.start])
    digest.update(_BLANK_DIGEST.encode())
    for start in range(_DIGEST.stop, len(raw), _PIECE):  # Ctrl-C is heard in between
        digest.update(view[start : min(start + _PIECE, len(raw))])
    return digest.hexdigest().encode()


def _read_file(name: str) -> tuple[bytes, dict[str, Json]]:
    """Read a file whole, and parse its envelope, which is not trusted yet."""
    size = 0
    try:
        with open(name, "rb") as file:
            start = file.read(_DIGEST.start)
            if start[_LENGTH_BYTES:] != _SIGNATURE:
                raise ModelFileError(
                    f"{name} does not start like a model file",
                    "only files that Suffice saved can be loaded",
                    "check the path",
                )
            size = os.fstat(file.fileno()).st_size
            raw = start + file.read()
    except MemoryError:
        raise ModelFileError(
            f"{name} has {size:,} bytes",
            "a model file is read into memory",
            "use a machine that has more, or check where the file is from",
        ) from None
    except OSError as error:
        raise ModelFileError(
            f"{name} cannot be read: {error.strerror or error}",
            next_step="check the path and its permissions",
        ) from error
    end = _LENGTH_BYTES + int.from_bytes(raw[:_LENGTH_BYTES], "little")
    if end > min(len(raw), _MAX_HEADER_BYTES):
        raise damaged(name, f"a header of {end - _LENGTH_BYTES:,} bytes in a file of {len(raw):,}")
    try:
        (text,) = _parse_json(raw[_LENGTH_BYTES:end].decode())["__metadata__"].values()
        envelope = dict(_parse_json(text))
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise damaged(name, "the header cannot be parsed") from error
    _check_version(name, envelope)
    return raw, envelope


def _check_version(name: str, envelope: dict[str, Json]) -> None:
    # Before the digest, because a newer format may compute it in another way.
    version = envelope.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelFileError(
            f"{name}: written by suffice {envelope.get('library_version')} with format {version}",
            f"this version reads format {FORMAT_VERSION}",
            "upgrade suffice",
        )


def _parse_json(text: str) -> Json:
    """Parse JSON without the liberties of the standard library."""
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate key")
    return members


def _refuse_constant(constant: str) -> Json:
    raise ValueError(constant)
