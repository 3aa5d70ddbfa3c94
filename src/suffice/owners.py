"""Sums of several owners of rows, of which nobody sees another's: masks that cancel.

::

    plan      columns, kinds, categories, labels, scales, public keys: no counts
    vᵢ        the sums of owner i in whole units, modulo 2^384
    mᵢⱼ       ChaCha20(HKDF(X25519(i, j), plan, keys of i and j))
    file i    vᵢ + Σ_{j > i} mᵢⱼ − Σ_{j < i} mᵢⱼ
    Σ files   Σ vᵢ

Owners and whoever adds the files are taken to follow the protocol, and to be curious. n − 2 of n
owners who tell each other everything learn the sum of the other two. Missing, foreign and damaged
files are noticed, not repaired. The sums of all rows tell what sums tell: see `suffice.privacy`;
those of two plans tell their difference. Nothing here is differential privacy, and nobody outside
has reviewed it.

Sources: K. Bonawitz et al., Practical secure aggregation for privacy-preserving machine learning,
CCS 2017, section 4, without the recovery of owners who drop out; RFC 7748, 5869 and 8439.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import islice
from os import PathLike
from typing import IO, Annotated, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.atomic import atomic_writer
from suffice.data.schema import UniformColumns
from suffice.errors import DataError, ModelFileError, ParameterError, SufficeError, warn
from suffice.models.from_sums import FittedFromSums
from suffice.models.grouped_sums import GroupedSums
from suffice.models.opened import sums_read_alike, sums_without_rows
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.in_print import Printed, Table, listed
from suffice.persist import read_model, write_model
from suffice.rules import Shape, build, check
from suffice.saved import MODULES
from suffice.sums import whole_units as units
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments, FourthMoments, no_sums
from suffice.sums.counts import Counts, Events
from suffice.sums.kept_rows import KeptRows
from suffice.sums.moments import Moments
from suffice.sums.vocabulary import Vocabulary
from suffice.tree import Decoder, Encoder, Json

__all__ = ["MaskedSums", "Plan", "keys", "masked_sums", "plan", "unmasked"]

T = TypeVar("T")
Path = str | PathLike[str]
FEWEST = 3  # owners: of two, each would subtract its own sums
KEY, PUBLIC, PLAN = "suffice key", "suffice public key", "suffice plan"
MASKED = "MaskedSums"
VERSION = 1
NEW_PLAN = "ask for a new plan"
AGAIN = "get the file again from where it is from"


# -- keys


def keys(path: Path) -> None:
    """Write a new private key, and beside it the public one, which goes to whoever makes a plan.

    The private key is the owner's alone: its file can be read by nobody else (mode 0600), and
    remembers which plans it has served, so do not copy it. The public key is in the file of the
    same name with ``.pub`` at its end.

    Parameters
    ----------
    path : str or os.PathLike
        The file of the private key; it must not exist.

    Raises
    ------
    ParameterError
        If one of the files exists.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     keys(f"{folder}/ulm.key")
    ...     sorted(os.listdir(folder))
    ['ulm.key', 'ulm.key.pub']
    """
    private = _x25519().X25519PrivateKey.generate()
    public = private.public_key().public_bytes_raw().hex()
    name, rule = os.fspath(path), "a key that is lost cannot be had again"
    with (
        _created(name, 0o600, rule, "choose another name") as file,
        _created(f"{name}.pub", 0o644, rule, "choose another name") as beside,
    ):
        _write(file, KEY, {"private": private.private_bytes_raw().hex(), "served": {}})
        _write(beside, PUBLIC, {"public": public})


@dataclass(frozen=True)
class _Key:
    """A private key, and by plan the digest of the sums that it has masked."""

    path: str
    private: bytes = field(repr=False)
    public: str
    served: Mapping[str, str]

    @classmethod
    def of(cls, name: str, content: Mapping[str, Any]) -> Self:
        if os.name == "posix" and os.stat(name).st_mode & 0o077:
            raise ModelFileError(
                f"{name} can be read by others",
                "a private key is its owner's alone",
                f"chmod 600 {name}; if others may have read it, make a new one",
            )
        private, served = bytes.fromhex(content["private"]), dict(content["served"])
        public = _x25519().X25519PrivateKey.from_private_bytes(private).public_key()
        return cls(name, private, public.public_bytes_raw().hex(), served)

    def serve(self, plan: Plan, contribution: bytes) -> None:
        """Remember sums under a plan; refuse others: two under one mask tell their difference.

        The file ``.new`` is the lock. Who creates it reads what others have served, and renames it.
        """
        digest, home = hashlib.sha256(contribution).hexdigest(), os.path.realpath(self.path)
        rule = "one process at a time masks sums with a key"
        next_step = "run again; if no other process is running, delete it"
        with _created(f"{home}.new", 0o600, rule, next_step) as file:
            served = {**_read(self.path, KEY, _Key.of).served}
            if served.setdefault(plan.digest, digest) != digest:
                raise ParameterError(
                    f"{self.path} has masked other sums under this plan",
                    "a plan is used once: two files of it would tell their difference",
                    f"{NEW_PLAN} to send other rows",
                )
            _write(file, KEY, {"private": self.private.hex(), "served": served})
        os.replace(f"{home}.new", home)

    def masks(self, plan: Plan, size: int) -> Iterator[list[int]]:
        """Yield of every other owner the mask of so many bytes, with its sign."""
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        mine, salt = plan.owners.index(self.public), bytes.fromhex(plan.digest)
        for place, other in enumerate(plan.owners):
            if place == mine:
                continue
            info = " ".join([PLAN, *sorted([self.public, other])]).encode()
            key = HKDF(SHA256(), 32, salt, info).derive(_shared_secret(self.private, other))
            stream = Cipher(ChaCha20(key, bytes(16)), None).encryptor()  # one key, one message
            sign = 1 if place > mine else -1
            yield [sign * number for number in units.unpacked(stream.update(bytes(size)))]


def _shared_secret(private: bytes, public: str) -> bytes:
    x25519 = _x25519()
    other = x25519.X25519PublicKey.from_public_bytes(bytes.fromhex(public))
    found: bytes = x25519.X25519PrivateKey.from_private_bytes(private).exchange(other)
    return found


def _x25519() -> Any:
    try:
        return import_module("cryptography.hazmat.primitives.asymmetric.x25519")
    except ImportError:
        raise ParameterError(
            "the package cryptography is not installed",
            "masks are made by it",
            "pip install 'suffice[owners]'",
        ) from None


def _agreed(owners: Iterable[str]) -> tuple[str, ...]:
    """Return public keys, three or more and each another."""
    found = tuple(owners)
    if len(found) < FEWEST:
        raise ParameterError(
            f"there are {len(found)} owners",
            "of the sum of two, each subtracts his own and has the other's",
            "find a third",
        )
    for owner in found:
        if found.count(owner) > 1:
            raise ParameterError(
                f"the public key {owner[:8]}... is given twice",
                "every owner has a key of his own",
                "give one file for each",
            )
    return found


def _point(public: str) -> str:
    """Refuse, by ValueError, other spellings of a key, and those whose secrets everybody knows."""
    point = bytes.fromhex(public)
    if point.hex() != public or int.from_bytes(point, "little") >= 2**255 - 19:
        raise ValueError("spelling")
    _shared_secret(secrets.token_bytes(32), public)  # 0 with every key if the order is 8 or less
    return public


def _public(name: str, content: Mapping[str, Any]) -> str:
    return _point(content["public"])


# -- files


@contextmanager
def _created(path: str, mode: int, rule: str, next_step: str) -> Iterator[IO[str]]:
    """Create a file, of this mode from its first byte on, or refuse; after an error it is gone."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    except FileExistsError:
        raise ParameterError(f"{path} is there", rule, next_step) from None
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        os.unlink(path)
        raise


def _write(
    file: IO[str], what: str, content: Mapping[str, Json], indent: int | None = None
) -> None:
    json.dump({"format": what, "format_version": VERSION, **content}, file, indent=indent)
    file.write("\n")


def _read(path: Path, what: str, made: Callable[[str, dict[str, Any]], T]) -> T:
    """Return what is made of a file of JSON that says what it is."""
    name, kind = os.fspath(path), what.removeprefix("suffice ")
    none = ModelFileError(f"{name} holds no {kind}", f"a {kind} is made by Suffice", AGAIN)
    _x25519()  # which all that is read needs
    try:
        with open(name, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        fact = f"{name} cannot be read: {error.strerror or error}"
        raise ModelFileError(fact, next_step="check the path and its permissions") from None
    except (RecursionError, ValueError):
        raise none from None
    if not isinstance(content, dict) or content.pop("format", None) != what:
        raise none
    if (version := content.pop("format_version", None)) != VERSION:
        raise ModelFileError(
            f"{name} has the format {version!r}",
            f"this version reads format {VERSION}",
            "use the version of suffice that wrote it",
        )
    try:
        return made(name, content)
    except ModelFileError:
        raise
    except SufficeError as error:
        raise ModelFileError(f"{name}: {error.fact}", error.rule, AGAIN) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise none from error


# -- the plan


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Printed):
    """The agreement of the owners of rows before they sum: no rows, and no counts of any.

    Parameters
    ----------
    like : GroupedSums
        The sums of no row: estimator, columns and their kinds, labels, values of categories.
    scales : ndarray of int (d,)
        Exponents s of all columns, whose numbers are about as large as 2^s; 0 of counts.
    weighted : bool
        Whether rows have weights.
    owners : tuple of str
        Public keys, in hexadecimal digits.
    round : str
        A random number: no two plans are the same.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> like = GaussianNB().sums([[1.0], [9.0]], ["ill", "well"])
    >>> print(Plan(like, np.array([3]), False, ("ab", "cd", "ef"), "0"))  # doctest: +ELLIPSIS
    GaussianNB(), 3 owners, plan ...
              values     scale
    x0        -            2^3
    (labels)  ill, well
    """

    like: GroupedSums
    scales: Annotated[NDArray[np.intp], Shape("d")]
    weighted: bool
    owners: tuple[str, ...]
    round: str

    @cached_property
    def columns(self) -> list[dict[str, list[Any] | int | None]]:
        """By block and name: the values that are counted, None for events, or the scale."""
        scales, columns = iter(self.scales.tolist()), []
        for names, block in zip(_terms(self.like.reader), _blocks(self.like.sums), strict=True):
            told: list[Any] = list(islice(scales, block.d))
            if isinstance(block, Events):
                told = [None] * block.d
            elif isinstance(block, Counts):
                told = [list(known.values) for known in block.vocabularies]
            columns.append(dict(zip(names, told, strict=True)))
        return columns

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, which all masks are bound to."""
        return hashlib.sha256(_canonical(self._content())).hexdigest()

    def table(self) -> Table:
        """Return the columns, and the values or the scales of them, as a table."""
        rows = []
        for name, told in [pair for block in self.columns for pair in block.items()]:
            values = listed(map(str, told)) if isinstance(told, list) else "-"
            rows.append([name, values, f"2^{told}" if isinstance(told, int) else ""])
        if isinstance(self.like.sums, ByClass):
            rows.append(["(labels)", listed(map(str, self.like.sums.classes.values)), ""])
        title = f"{self.like.estimator!r}, {len(self.owners)} owners, plan {self.digest[:8]}"
        return Table(title, ["", "values", "scale"], rows, left=(0, 1))

    def save(self, path: Path) -> None:
        """Write the plan as JSON, which everybody reads before he takes part."""
        with atomic_writer(path, "w") as file:
            _write(file, PLAN, self._content(), indent=1)

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Read a plan.

        Raises
        ------
        ModelFileError
            If it is none, or not as it was written.
        """
        return _read(path, PLAN, cls._of_content)

    def _content(self) -> dict[str, Json]:
        encoder = Encoder(self.like.estimator.kind.types)
        sums = self.like.sums
        labels = list(sums.classes.values) if isinstance(sums, ByClass) else None
        return {
            "estimator": type(self.like.estimator).__name__,
            "weighted": self.weighted,
            "owners": list(self.owners),
            "round": self.round,
            "labels": encoder.encode(labels, ("labels",)),
            "columns": [
                {name: encoder.encode(one, (name,)) for name, one in block.items()}
                for block in self.columns
            ],
            "read": {k: encoder.encode(one, (k,)) for k, one in self.like.entries().items()},
            "arrays": {  # filled by all that is encoded above
                name: [array.dtype.name, list(array.shape), array.tobytes().hex()]
                for name, array in encoder.arrays.items()
            },
        }

    @classmethod
    def _of_content(cls, name: str, content: dict[str, Json]) -> Plan:
        kind = content["estimator"]
        estimator = getattr(import_module(MODULES[kind]), kind)
        arrays = {
            key: np.frombuffer(bytes.fromhex(data), dtype).reshape(shape)
            for key, (dtype, shape, data) in content["arrays"].items()
        }
        decoder = Decoder(name, estimator.kind.types, arrays)
        entries = {key: decoder.decode(node, (key,)) for key, node in content["read"].items()}
        labels = decoder.decode(content["labels"], ("labels",))
        columns = [
            [decoder.decode(node, (term,)) for term, node in block.items()]
            for block in content["columns"]
        ]
        scales = [one if type(one) is int else 0 for block in columns for one in block]
        if max(map(abs, scales), default=0) > units.PLACES:
            raise ValueError("scales")
        like = _without_rows(estimator, entries, labels, columns)
        owners, weighted = _agreed(map(_point, content["owners"])), bool(content["weighted"])
        found = cls(like, np.array(scales, np.intp), weighted, owners, str(content["round"]))
        if _canonical(found._content()) != _canonical(content):
            raise ValueError("content")
        return found


def _canonical(content: Mapping[str, Json]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def plan(
    estimator: FittedFromSums[Any, Any],
    X: Any,
    y: Any,
    *,
    public: Sequence[Path],
    sample_weight: Any = None,
) -> Plan:
    """Return a plan for sums of several owners.

    Labels, values of categories, kinds and scales of columns are those of a table. No count of it
    goes into the plan, so its rows may be made up: they have to show every label and every value,
    and numbers about as large as those of the owners.

    Parameters
    ----------
    estimator : FittedFromSums
        Naive Bayes without weights of columns, discriminant analysis or least squares.
    X, y, sample_weight
        As for `fit`.
    public : sequence of str or os.PathLike
        Files of the public keys of all owners, three or more.

    Raises
    ------
    ParameterError
        If there are fewer than three owners, or one twice; or if the model needs more of the rows
        than sums of columns that are known before.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     sites = [f"{folder}/{place}.key" for place in ("bonn", "kiel", "ulm")]
    ...     for site in sites:
    ...         keys(site)
    ...     public = [f"{site}.pub" for site in sites]
    ...     plan(GaussianNB(), [[1.0], [9.0]], ["ill", "well"], public=public).columns
    [{'x0': 3}]
    """
    owners = _agreed([_read(path, PUBLIC, _public) for path in public])
    if not (isinstance(estimator, FittedFromSums) and estimator.method().is_of_sums):
        textbook = f"use {type(estimator).__name__}.textbook()"
        raise ParameterError(
            f"{estimator!r} looks at rows besides their sums",
            "owners send sums, and no sample of rows",
            textbook if hasattr(estimator, "textbook") else "choose other options or another model",
        )
    found = estimator.sums(X, y, sample_weight)
    sums = _summable(found)
    layout = found.reader.layout
    if not isinstance(layout.columns, UniformColumns):  # a reason may count rows of text
        texts = [replace(c, reason="text") if c.stored == "string" else c for c in layout.columns]
        layout = replace(layout, columns=tuple(texts))
    labels = list(sums.classes.values) if isinstance(sums, ByClass) else None
    values = [[v.values for v in getattr(block, "vocabularies", ())] for block in _blocks(sums)]
    like = _without_rows(type(estimator), found.entries() | {"layout": layout}, labels, values)
    weighted, scales = sample_weight is not None, units.scales(sums)
    return Plan(like, scales, weighted, owners, secrets.token_hex(16))


def _terms(reader: Any) -> list[Sequence[str]]:
    """Return the names of what is summed, block by block."""
    if hasattr(reader, "parts"):
        return [part.terms for part in reader.parts]
    return [(*reader.design.terms, *reader.design.targets)]


def _blocks(sums: Any) -> Sequence[Any]:
    return sums.blocks if isinstance(sums, ByClass) else (sums,)


def _summable(found: GroupedSums) -> Any:
    """Return sums whose numbers have units; refuse the others by name."""
    sums = found.sums
    if isinstance(sums, KeptRows):
        sums = sums.products()
    drops = getattr(found.estimator, "incomplete", "error") == "drop"
    for block, names in zip(_blocks(sums), _terms(found.reader), strict=True):
        words = isinstance(block, Events) and not block.vocabularies[0].closed
        if words or not isinstance(block, Counts | Moments | Comoments | FourthMoments):
            kind = "words" if words else type(block).__name__
            raise ParameterError(
                f"{found.estimator!r} sums {listed(map(repr, names[:3]))} as {kind}",
                "what is summed has to be the same at every owner before a row is read",
                "leave these columns out, or choose another family: gaussian, categorical",
            )
        rows = block.columns if isinstance(block, FourthMoments) else block
        if isinstance(rows, Comoments) and not rows.complete and not drops:
            lacking = np.flatnonzero(~rows.patterns.all(axis=0)).tolist()
            raise DataError(
                f"rows lack a cell in {listed(repr(names[j]) for j in lacking)}",
                "which cells are missing would be told of single rows",
                "leave such rows out, or fill the cells",
            )
    return sums


def _without_rows(
    estimator: Any,
    entries: Mapping[str, Any],
    labels: list[Any] | None,
    values: Sequence[Sequence[Any]],
) -> GroupedSums:
    """Return the sums of no row, over labels and, by block and column, values of categories."""
    sums: Any
    if labels is None:
        design = entries["design"]
        d = len(design) + len(design.targets)
        every, first = np.ones((1, d), bool), np.zeros(1, np.intp)
        empty = *no_sums(d, first), np.zeros((1, 3), np.int64)
        sums = Comoments(1, False, every, first, first, *empty)
    else:
        blocks = []
        for part, of_columns in zip(entries["parts"], values, strict=True):
            block: Any = part.accumulator().statistic()
            if isinstance(block, Events):
                block = block.over((Vocabulary(tuple(range(len(part.terms))), True),))
            elif isinstance(block, Counts):
                closed = part.layout.encoding != "category"
                block = block.over(tuple([_vocabulary(known, closed) for known in of_columns]))
            blocks.append(block)
        weight, none = DoubleDouble.zeros(0), DoubleDouble.zeros(())
        sums = ByClass(Vocabulary(()), weight, none, tuple(blocks)).over(_vocabulary(labels))
    return sums_without_rows(estimator, entries, sums)


def _vocabulary(values: Sequence[Any], closed: bool = False) -> Vocabulary:
    return build(Vocabulary, {"values": tuple(values), "closed": closed})


def _plan(given: Plan | Path) -> Plan:
    return given if isinstance(given, Plan) else Plan.load(given)


# -- contributions


@dataclass(frozen=True, eq=False)
class MaskedSums:
    """The sums of one owner under masks: random numbers to everybody without all other files.

    Parameters
    ----------
    plan : str
        Its digest.
    owner : str
        The public key.
    words : ndarray of uint64
        Whole numbers, the lowest words first.

    Examples
    --------
    >>> MaskedSums("5b", "c0", np.array([3], np.uint64)).owner
    'c0'
    """

    plan: str
    owner: str
    words: Annotated[NDArray[np.uint64], Shape("n")]

    def save(self, path: Path) -> None:
        """Write the file that goes to whoever adds them."""
        write_model(path, MASKED, self, types={MASKED: MaskedSums})

    @classmethod
    def load(cls, path: Path) -> MaskedSums:
        """Read a file; nothing in it is executed.

        Raises
        ------
        ModelFileError
            If it is no file of masked sums, or not as it was written.
        """
        _, found = read_model(path, types={MASKED: MaskedSums})
        if not isinstance(found, cls):
            fact = f"{os.fspath(path)} holds no masked sums"
            raise ModelFileError(fact, "masked sums are added", AGAIN)
        return found


def masked_sums(
    X: Any, y: Any = None, *, plan: Plan | Path, key: Path, sample_weight: Any = None
) -> MaskedSums:
    """Return the sums over the rows of an owner, masked by a plan.

    Parameters
    ----------
    X, y, sample_weight
        As for `fit`. The columns of labels or targets, and of weights, are those of the plan.
    plan : Plan, str or os.PathLike
    key : str or os.PathLike
        The file of the private key, which remembers the plan.

    Raises
    ------
    DataError
        If there is no row, or one that the plan has no place for: a label, a value of a category, a
        missing cell where products are summed, a number that is far too large.
    ParameterError
        If the key is none of the plan's, or has masked other sums under it.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     sites = [f"{folder}/{place}.key" for place in ("bonn", "kiel", "ulm")]
    ...     for site in sites:
    ...         keys(site)
    ...     public = [f"{site}.pub" for site in sites]
    ...     agreed = plan(GaussianNB(), [[1.0], [9.0]], ["ill", "well"], public=public)
    ...     masked_sums([[2.0]], ["ill"], plan=agreed, key=sites[0]).words.shape
    (60,)
    """
    agreed, mine = _plan(plan), _read(key, KEY, _Key.of)
    if mine.public not in agreed.owners:
        raise ParameterError(
            f"{mine.path} is the key of no owner of this plan",
            f"a plan names the public keys of all {len(agreed.owners)}",
            "give the key whose public half was sent",
        )
    like, layout = agreed.like, agreed.like.reader.layout
    if y is None:
        y = layout.label if isinstance(like.sums, ByClass) else list(like.reader.design.targets)
    weight = layout.weight if sample_weight is None else sample_weight
    if weight is not None and not agreed.weighted:
        raise ParameterError(
            "sample_weight is given, and the plan has no weights",
            "all owners count rows in the same way",
            f"leave it out, or {NEW_PLAN} with weights",
        )
    found = sums_read_alike(like, _known_values(like), X, y, weight)
    totals = _whole(agreed, _placed(like, _summable(found)))
    contribution = units.packed(totals)
    mine.serve(agreed, contribution)
    for mask in mine.masks(agreed, len(contribution)):
        totals = [a + b for a, b in zip(totals, mask, strict=True)]
    return MaskedSums(agreed.digest, mine.public, np.frombuffer(units.packed(totals), "<u8"))


def _known_values(like: GroupedSums) -> dict[str, Vocabulary]:
    """Return the values of categories by column."""
    if not isinstance(like.sums, ByClass):
        return dict(like.reader.design.known_values)
    found: dict[str, Vocabulary] = {}
    for part, block in zip(like.reader.parts, like.sums.blocks, strict=True):
        if part.design is not None:
            found |= part.design.known_values
        elif isinstance(block, Counts) and part.layout.encoding == "category":
            found |= dict(zip(part.layout.columns, block.vocabularies, strict=True))
    return found


def _placed(like: GroupedSums, sums: Any) -> Any:
    """Return sums over the labels and values of a plan; refuse others."""
    if sums.is_empty:
        raise DataError("there is no row to be summed", "an owner has one at least")
    if not isinstance(sums, ByClass):
        return sums
    both = like.sums + sums
    _refuse_unknown("the label", both.classes, like.sums.classes)
    for block, empty, names in zip(both.blocks, like.sums.blocks, _terms(like.reader), strict=True):
        if isinstance(block, Counts):
            for name, *values in zip(names, block.vocabularies, empty.vocabularies, strict=False):
                _refuse_unknown(f"column {name!r}", *values)
    return both


def _refuse_unknown(what: str, shown: Vocabulary, known: Vocabulary) -> None:
    for value in shown.values:
        if value not in known.codes:
            raise DataError(
                f"{what}: {value!r} is not in the plan",
                f"it has {listed(map(repr, known.values))}",
                f"{NEW_PLAN}, made of rows that show it, or correct the cell",
            )


def _whole(plan: Plan, sums: Any) -> list[int]:
    """Return sums in units, and a 0 by which masks that are left are noticed."""
    names = [name for block in plan.columns for name in block]
    numbers: list[int] = []
    rounded: set[int] = set()
    for part in units.elements(sums, plan.scales):
        whole = part.whole()
        over = (abs(whole) >= units.HALF // len(plan.owners)).astype(bool)
        if over.any():
            column = part.columns(over)[-1]
            where = f"column {names[column]!r}: its sums" if column >= 0 else "weights"
            raise DataError(
                f"{where} do not fit into the words of the plan",
                "numbers are at most 2^60 times as large as those that the plan was made of",
                f"correct them, or {NEW_PLAN} of rows like these",
            )
        rounded |= {*part.columns(part.coarse(whole)).tolist()} - {-1}
        numbers += whole.ravel().tolist()
    if rounded:
        warn(
            f"columns {listed(repr(names[j]) for j in sorted(rounded))}: numbers are less than "
            "2^-54 of those that the plan was made of, and their variances are rounded."
        )
    return [*numbers, 0]


# -- their sum


def unmasked(files: Sequence[MaskedSums | Path], plan: Plan | Path) -> GroupedSums:
    """Return the sums of all owners' rows, from the masked ones of each.

    The model that is fitted to them is that of one fit of all rows.

    Parameters
    ----------
    files : sequence of MaskedSums, str or os.PathLike
        Of every owner one.
    plan : Plan, str or os.PathLike

    Raises
    ------
    DataError
        If a file is missing, comes twice, or is of another plan; or if masks do not cancel.
    ModelFileError
        If a file is not as it was written.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> rows = {"bonn": [[2.0], [8.0]], "kiel": [[4.0], [6.0]], "ulm": [[3.0], [7.0]]}
    >>> labels = ["ill", "well"]
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     sites = {place: f"{folder}/{place}.key" for place in rows}
    ...     for site in sites.values():
    ...         keys(site)
    ...     public = [f"{site}.pub" for site in sites.values()]
    ...     agreed = plan(GaussianNB(), [[1.0], [9.0]], labels, public=public)
    ...     files = [masked_sums(rows[p], labels, plan=agreed, key=sites[p]) for p in rows]
    >>> GaussianNB().fit(unmasked(files, agreed)).theta_
    array([[3.],
           [7.]])
    """
    agreed = _plan(plan)
    many = 1 + sum(one.values.size for one in units.elements(agreed.like.sums, agreed.scales))
    known: dict[str, str] = {}
    totals = [0] * many
    for place, given in enumerate(files):
        one = given if isinstance(given, MaskedSums) else MaskedSums.load(given)
        name = f"file {place}" if isinstance(given, MaskedSums) else os.fspath(given)
        if one.plan != agreed.digest:
            raise DataError(
                f"{name} was made under the plan {one.plan[:8]}",
                f"this is the plan {agreed.digest[:8]}",
                "sum the rows again under this plan",
            )
        if one.owner not in agreed.owners or len(one.words) != many * units.WORDS:
            fact = f"{name} has {len(one.words)} words of the key {one.owner[:8]}"
            rule = f"the plan has {many * units.WORDS}, of each of its owners"
            raise DataError(fact, rule, AGAIN)
        if one.owner in known:
            raise DataError(
                f"{name} and {known[one.owner]} are of the same owner",
                "of every owner there is one file",
                "leave one of them out",
            )
        known[one.owner] = name
        totals = [a + b for a, b in zip(totals, units.unpacked(one.words.tobytes()), strict=True)]
    if absent := [owner for owner in agreed.owners if owner not in known]:
        raise DataError(
            f"{len(absent)} of {len(agreed.owners)} files are missing: "
            f"of the key {listed(owner[:8] for owner in absent)}",
            "masks cancel in the sum of all",
            f"wait for them, or {NEW_PLAN} and never add the files of this one",
        )
    return replace(agreed.like, sums=_sums_of(agreed, units.unpacked(units.packed(totals))))


def _sums_of(plan: Plan, totals: list[int]) -> Any:
    """Return the sums of whole numbers; refuse what no rows have, as masks that are left give."""
    like, numbers = plan.like.sums, iter(totals)
    values = []
    for part in units.elements(like, plan.scales):
        whole = np.fromiter(islice(numbers, part.values.size), object)
        values.append(part.of_whole(whole.reshape(part.values.shape)))
    try:
        if any(numbers):
            raise DataError("the masks do not cancel")
        sums = units.rebuilt(like, iter(values)).canonical()
        check(sums)
    except (OverflowError, SufficeError) as error:
        raise DataError(
            "the sum of the files is that of no rows: masks are left in it",
            "a file was altered, or made with another key",
            f"{NEW_PLAN}, for which all send again",
        ) from error
    if sums.is_empty:
        raise DataError("no owner has a row that is summed", "a model needs rows")
    return sums
