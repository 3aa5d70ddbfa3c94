from __future__ import annotations

import builtins
import errno
import hashlib
import json
import math
import os
import pickle
import re
import resource
import stat
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import suffice
from suffice.atomic import atomic_writer
from suffice.errors import ModelFileError, ParameterError
from suffice.persist import read_model, write_model


@dataclass(frozen=True)
class Leaf:
    alpha: Any
    beta: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    families: Any
    derived: int = field(init=False, default=7)


@dataclass(frozen=True)
class Positive:
    value: float

    def __post_init__(self) -> None:
        if self.value <= 0:
            raise ValueError(f"{self.value} is not positive")


TYPES = {"Leaf": Leaf, "Branch": Branch, "Positive": Positive}
SMALL = Branch(
    families=(Leaf(np.array([[1.5, -2.0]]), {"yes": 1, "no": True}), Leaf(float("nan"), b"\0x"))
)
SIGNATURE = b'{"__metadata__":{"suffice":"{\\"digest\\":\\"'
DAMAGE = "the file was cut short or altered after it was written"


def round_trip(path: Path, content: Any) -> Any:
    write_model(path, "test", content, types=TYPES)
    kind, loaded = read_model(path, types=TYPES)
    assert kind == "test"
    return loaded


def fingerprint(value: Any) -> Any:
    """Everything that has to survive: types, bits, order."""
    if is_dataclass(value):
        members = [(f.name, fingerprint(getattr(value, f.name))) for f in fields(value)]
        return type(value), members
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape, np.array(value, order="C").tobytes()
    if isinstance(value, np.generic):
        return type(value), value.dtype, value.tobytes()
    if isinstance(value, (tuple, list)):
        return type(value), [fingerprint(item) for item in value]
    if isinstance(value, dict):
        return dict, [(fingerprint(key), fingerprint(item)) for key, item in value.items()]
    if type(value) is float:
        return float, struct.pack(">d", value)
    return type(value), repr(value) if not isinstance(value, int) else value


def signed(envelope: dict[str, Any] | str, arrays: dict[str, Any] | None = None) -> bytes:
    """Forge a file whose digest holds."""
    if not isinstance(envelope, str):
        envelope = json.dumps(envelope, sort_keys=True, separators=(",", ":"))
    raw = safetensors.numpy.save(arrays or {}, {"suffice": envelope})
    assert raw.startswith(SIGNATURE, 8)
    start = 8 + len(SIGNATURE)
    assert raw[start : start + 64] == b"0" * 64
    digest = hashlib.sha256(raw).hexdigest().encode()
    return raw[:start] + digest + raw[start + 64 :]


def envelope(tree: Any, **changes: Any) -> dict[str, Any]:
    return {
        "digest": "0" * 64,
        "format": "suffice",
        "format_version": 1,
        "kind": "test",
        "library_version": suffice.__version__,
        "tree": tree,
    } | changes


def refusal(path: Path, raw: bytes) -> str:
    path.write_bytes(raw)
    with pytest.raises(ModelFileError) as caught:
        read_model(path, types=TYPES)
    return str(caught.value).removeprefix(str(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.suffice"


DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
texts = st.text(st.characters())  # lone surrogates included
zones = st.none() | st.integers(-86_399, 86_399).map(lambda s: timezone(timedelta(seconds=s)))
BERLIN = ZoneInfo("Europe/Berlin")
numpy_scalars = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, ()).map(lambda array: array[()])
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    texts,
    st.binary(),
    st.dates(),
    st.datetimes(timezones=zones).map(lambda moment: moment.replace(fold=0)),
    st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)).map(
        lambda moment: moment.astimezone(BERLIN)
    ),
    st.sampled_from([datetime.min, datetime.max, datetime(2020, 3, 29, 2, 30)]).map(
        lambda moment: moment.replace(tzinfo=BERLIN)
    ),
    st.timedeltas(),
    st.times().map(lambda moment: moment.replace(fold=0)),
    st.decimals(),
    numpy_scalars,
)
keys = scalars.filter(lambda value: not (isinstance(value, Decimal) and value.is_snan()))
arrays = hnp.arrays(
    st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
).flatmap(lambda a: st.sampled_from([a, a.T, a[::-1] if a.ndim else a, np.asfortranarray(a)]))
contents = st.recursive(
    scalars | arrays,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(texts | keys, inner, max_size=4),
        st.builds(Leaf, inner, inner),
        st.builds(lambda families: Branch(families=families), inner),
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(contents)
def test_everything_comes_back(path: Path, content: Any) -> None:
    assert fingerprint(round_trip(path, content)) == fingerprint(content)
    before = path.read_bytes()
    write_model(path, "test", read_model(path, types=TYPES)[1], types=TYPES)
    assert path.read_bytes() == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.lists(texts, min_size=60, max_size=70).map(tuple))
def test_strings_come_back_packed_or_not(path: Path, strings: tuple[str, ...]) -> None:
    assert round_trip(path, strings) == strings
    assert len(safetensors.numpy.load(path.read_bytes())) == (2 if len(strings) > 64 else 0)


def test_one_value_comes_back(path: Path) -> None:
    values: list[Any] = [
        *(True, 1, 1.0, 0.0, -0.0, math.inf, -math.inf, 5e-324, 1e308, 1e22, None, "", b""),
        *(2**53 - 1, 2**53, -(2**53), 10**5000, "\ud83d", "1", Decimal("1.10"), Decimal("sNaN1")),
        *(struct.unpack(">d", bytes.fromhex(bits))[0] for bits in ("7ff0000000000001", "f" * 16)),
        *(date(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), timedelta(-1, 1, 1)),
        datetime(2024, 1, 1, tzinfo=UTC),
        *(np.float32(0.1), np.bool_(True), np.uint64(2**64 - 1), np.float64(-0.0)),
        *((), [], {}, ((),), ([],), {1: "a", "1": "b", None: "c", 2.5: "d", b"": "e"}),
        *(
            {"b": 1, "a": 2},
            {10**5000: 1, np.int8(1): 2},
            {date(2024, 1, 1): (1,)},
            {"sha256": "0" * 64, "digest": "0" * 64},
        ),
        *(np.array(3.5), np.zeros((0, 3)), np.zeros((2, 0), bool), np.arange(3)),
    ]
    for value in values:
        assert fingerprint(round_trip(path, value)) == fingerprint(value)


def test_only_constructor_fields_are_saved(path: Path) -> None:
    assert round_trip(path, SMALL).derived == 7
    assert b"derived" not in path.read_bytes()


def test_arrays_are_legible_to_safetensors(path: Path) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    np.testing.assert_array_equal(safetensors.numpy.load_file(path)["0"], [[1.5, -2.0]])


def test_equal_content_gives_equal_bytes(path: Path, tmp_path: Path) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    write_model(tmp_path / "again", "test", SMALL, types=dict(reversed(TYPES.items())))
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


def test_every_changed_byte_is_refused(path: Path) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    raw = path.read_bytes()
    for position in range(len(raw)):
        changed = bytearray(raw)
        changed[position] ^= (0x01, 0x20)[position % 2]
        refusal(path, bytes(changed))


def test_every_truncation_and_extension_is_refused(path: Path) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    raw = path.read_bytes()
    for length in range(len(raw)):
        refusal(path, raw[:length])
        refusal(path, raw[length:] if length else raw + raw)
    for added in (b"\0", b" ", b"\n"):
        refusal(path, raw + added)
        refusal(path, added + raw)


def test_a_file_that_memory_does_not_hold_is_refused(path: Path) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    os.truncate(path, 2**43)  # no byte of it is on the disk
    with pytest.raises(ModelFileError) as caught:
        read_model(path, types=TYPES)
    assert caught.value.fact == f"{path} has {2**43:,} bytes"


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (os.environ["SUFFICE_BOMB"],)


@pytest.mark.parametrize("content", ["empty", "text", "pickle", "parquet", "safetensors", "json"])
def test_foreign_files_are_refused(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    crater = tmp_path / "crater"
    monkeypatch.setenv("SUFFICE_BOMB", str(crater))
    match content:
        case "empty":
            path.touch()
        case "text":
            path.write_text("age,income\n1,2\n" * 100)
        case "pickle":
            path.write_bytes(pickle.dumps(Bomb()))
        case "parquet":
            pq.write_table(pa.table({"age": list(range(100))}), path)
        case "safetensors":
            safetensors.numpy.save_file({"a": np.zeros(3)}, path, {"format": "np"})
        case "json":
            path.write_text('{"model": {}}')
    assert refusal(path, path.read_bytes()) == (
        " does not start like a model file; only files that Suffice saved can be loaded; "
        "check the path."
    )
    assert not crater.exists()


def test_a_pickle_inside_the_tree_stays_bytes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUFFICE_BOMB", str(tmp_path / "crater"))
    bomb = pickle.dumps(Bomb())
    assert round_trip(path, Leaf(bomb)).alpha == bomb
    assert not (tmp_path / "crater").exists()


def test_reading_runs_no_code_from_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    read_model(path, types=TYPES)

    real_import = builtins.__import__

    def forbidden(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError

    def import_nothing_new(name: str, *args: Any, **kwargs: Any) -> Any:
        assert name in sys.modules  # NumPy looks up its own modules this way
        return real_import(name, *args, **kwargs)

    with monkeypatch.context() as patch:
        for name in ("load", "loads", "Unpickler"):
            patch.setattr(pickle, name, forbidden)
        for name in ("eval", "exec", "compile"):
            patch.setattr(builtins, name, forbidden)
        patch.setattr(builtins, "__import__", import_nothing_new)
        kind, content = read_model(path, types=TYPES)
    assert (kind, fingerprint(content)) == ("test", fingerprint(SMALL))


def test_absent_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        read_model(tmp_path / "absent", types=TYPES)
    assert str(caught.value) == (
        f"{tmp_path / 'absent'} cannot be read: No such file or directory; "
        "check the path and its permissions."
    )
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    with pytest.raises(ModelFileError, match="cannot be read: Is a directory; check the path"):
        read_model(tmp_path, types=TYPES)


def test_a_newer_format_is_refused_by_name(path: Path) -> None:
    newer = envelope(None, format_version=2, library_version="3.1.0", packing="zstd")
    assert refusal(path, signed(newer)) == (
        ": written by suffice 3.1.0 with format 2; this version reads format 1; upgrade suffice."
    )


def test_an_unknown_type_is_refused(path: Path) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    with pytest.raises(ModelFileError) as caught:
        read_model(path, types={"Branch": Branch})
    assert str(caught.value) == (
        f"{path}: families[0] is of the unknown type 'Leaf'; known here: Branch; "
        "load it with the version of suffice that wrote it, or a later one."
    )


@pytest.mark.parametrize(
    ("members", "fact"),
    [
        ({}, "lacks alpha, beta"),
        ({"alpha": 1}, "lacks beta"),
        ({"alpha": 1, "beta": 2, "gamma": 3}, "has in excess gamma"),
        ({"alpha": 1, "gamma": 3}, "lacks beta and has in excess gamma"),
    ],
)
def test_missing_and_extra_fields_are_named(path: Path, members: dict[str, int], fact: str) -> None:
    raw = signed(envelope([{"record": ["Leaf", members]}]))
    assert refusal(path, raw) == (
        f": [0]: Leaf {fact}; its fields are alpha, beta; "
        "load it with the version of suffice that wrote it."
    )


def test_a_constructor_may_refuse(path: Path) -> None:
    raw = signed(envelope({"record": ["Positive", {"value": -1.0}]}))
    assert refusal(path, raw) == (
        ": content: Positive refuses its saved values: -1.0 is not positive; a saved object must "
        "still be a valid one; load it with the version of suffice that wrote it."
    )


def test_a_forged_file_is_read_like_a_written_one(path: Path) -> None:
    path.write_bytes(signed(envelope({"tuple": [1, {"array": "0"}]}), {"0": np.arange(2)}))
    kind, content = read_model(path, types={})
    assert (kind, content[0], content[1].tolist()) == ("test", 1, [0, 1])


BLOB, OFFSETS = np.frombuffer(b"abc", np.uint8), np.array([0, 1, 3])


def test_a_malformed_tree_is_refused(path: Path) -> None:
    trees: list[tuple[Any, dict[str, Any]]] = [
        ({"pickle": "gASVAA=="}, {}),
        ({}, {}),
        ({"tuple": [], "dict": []}, {}),
        ({"tuple": 3}, {}),
        ({"dict": [{"tuple": [1, 1]}, [1, 2]]}, {}),
        ({"dict": [{"tuple": [1, 2]}, [1]]}, {}),
        ({"dict": [{"tuple": [[]]}, [1]]}, {}),
        ({"dict": 3}, {}),
        ({"record": ["Leaf"]}, {}),
        ({"record": ["Leaf", [1, 2]]}, {}),
        ({"record": [["Leaf"], {}]}, {}),
        ({"array": "0"}, {}),
        ({"array": ["0"]}, {}),
        ([{"array": "0"}, {"array": "0"}], {"0": BLOB}),
        (None, {"0": BLOB}),
        ({"array": "0"}, {"0": np.zeros(2, np.complex64)}),
        ({"strings": ["0", "1"]}, {"0": BLOB, "1": np.array([0, 2, 1, 3])}),
        ({"strings": ["0", "1"]}, {"0": BLOB, "1": np.array([0, 4])}),
        ({"strings": ["0", "1"]}, {"0": BLOB, "1": np.array([1, 3])}),
        ({"strings": ["0", "1"]}, {"0": BLOB, "1": np.array([], np.int64)}),
        ({"strings": ["0", "1"]}, {"0": BLOB, "1": np.array(3)}),
        ({"strings": ["0", "1"]}, {"0": BLOB, "1": np.array([[0, 3]])}),
        ({"strings": ["0", "1"]}, {"0": BLOB, "1": np.array([0.0, 3.0])}),
        ({"strings": ["0", "1"]}, {"0": BLOB.astype(np.int8), "1": OFFSETS}),
        ({"strings": ["0", "1"]}, {"0": np.frombuffer(b"\xff", np.uint8), "1": np.array([0, 1])}),
        ({"int": "ten"}, {}),
        ({"int": 10}, {}),
        ({"float": "7ff0"}, {}),
        ({"float": 1.0}, {}),
        ({"decimal": "1,5"}, {}),
        ({"date": "yesterday"}, {}),
        ({"datetime": "2020-01-01T00:00:00+01:00[Europe]"}, {}),
        ({"datetime": "2020-01-01T00:00:00+01:00[../Europe/Berlin]"}, {}),
        ({"timedelta": [10**10, 0, 0]}, {}),
        ({"timedelta": [1]}, {}),
        ({"bytes": "0g"}, {}),
        ({"numpy": ["object", "00"]}, {}),
        ({"numpy": ["float64", "00"]}, {}),
        ({"numpy": ["uint8", "0000"]}, {}),
    ]
    for tree, arrays in trees:
        assert refusal(path, signed(envelope(tree), arrays)) == (
            f": the tree does not follow the format; {DAMAGE}; "
            "restore it from a copy or save the model again."
        ), tree


def test_a_zone_that_is_not_known_here_is_named(path: Path) -> None:
    tree = {"datetime": "2020-01-01T00:00:00+01:00[Mars/Phobos]"}
    assert refusal(path, signed(envelope(tree))) == (
        ": No time zone found with key Mars/Phobos; the model holds times of that zone; "
        "pip install --upgrade tzdata."
    )


def test_a_zone_may_have_changed_its_offset_since(path: Path) -> None:
    path.write_bytes(signed(envelope({"datetime": "2020-01-01T00:00:00+05:00[Europe/Berlin]"})))
    _, moment = read_model(path, types=TYPES)
    assert fingerprint(moment) == fingerprint(datetime(2019, 12, 31, 20, tzinfo=BERLIN))


def test_a_malformed_envelope_is_refused(path: Path) -> None:
    format_, version = {"format": "other"}, {"format_version": 0}
    for changes in (format_, version, {"format_version": True}, {"kind": 1}, {"surplus": 1}):
        assert "the tree does not follow" in refusal(path, signed(envelope(None, **changes)))


def test_lax_json_is_refused(path: Path) -> None:
    for tail in (
        '"format":NaN}',
        '"tree":1,"tree":2}',
        '"tree":' + "[" * 100_000 + "]" * 100_000 + "}",
        '"tree":' + "9" * 5000 + "}",
        '"tree":',
    ):
        raw = signed('{"digest":"' + "0" * 64 + '",' + tail)
        assert refusal(path, raw).startswith(": the header cannot be parsed; "), tail[:20]


def test_deep_nesting_in_a_signed_tree_is_refused(path: Path) -> None:
    tree: Any = 1
    for _ in range(250):
        tree = {"tuple": [tree]}
    refusal(path, signed(envelope(tree)))


def test_a_huge_header_is_refused_before_it_is_parsed(path: Path) -> None:
    start = (2**62).to_bytes(8, "little") + SIGNATURE
    assert refusal(path, start).startswith(f": a header of {2**62:,} bytes in a file of ")


def test_duplicate_header_keys_are_refused(path: Path) -> None:
    raw = signed(envelope({"array": "0"}), {"0": BLOB})
    end = 8 + int.from_bytes(raw[:8], "little")
    text = raw[8:end].rstrip()
    entry = text[text.index(b'"0":') : -1]
    header = text[:-1] + b"," + entry + b"}"
    start = 8 + len(SIGNATURE)
    header = header.replace(raw[start : start + 64], b"0" * 64)
    forged = len(header).to_bytes(8, "little") + header + raw[end:]
    digest = hashlib.sha256(forged).hexdigest().encode()
    forged = forged[:start] + digest + forged[start + 64 :]
    assert refusal(path, forged).startswith(": the header cannot be parsed; ")


class Text(str):
    __slots__ = ()


RULE = (
    "a model file holds registered dataclasses, tuples, lists, dicts with scalar keys, native "
    "arrays of bool, int or float, and scalars; convert it to one of these."
)


@pytest.mark.parametrize(
    ("value", "fact"),
    [
        (object(), "a <class 'object'> cannot be saved"),
        ({1}, "a <class 'set'> cannot be saved"),
        (1j, "a <class 'complex'> cannot be saved"),
        (np.complex128(1j), "a <class 'numpy.complex128'> cannot be saved"),
        (np.str_("a"), "a <class 'numpy.str_'> cannot be saved"),
        (np.array(["a"]), "an array of dtype <U1 cannot be saved"),
        (np.array([None]), "an array of dtype object cannot be saved"),
        (np.zeros(2, ">f8"), "an array of dtype >f8 cannot be saved"),
        (np.zeros(2, "m8[s]"), "an array of dtype timedelta64[s] cannot be saved"),
        (np.zeros(2, np.longdouble), "an array of dtype float128 cannot be saved"),
        (np.ma.zeros(2), "a <class 'numpy.ma.MaskedArray'> cannot be saved"),
        ({(1, 2): 1}, "a key of <class 'tuple'> cannot be saved"),
        (Text("a"), f"a {Text} cannot be saved"),
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_what_cannot_be_saved_is_named_by_its_place(path: Path, value: Any, fact: str) -> None:
    content = Branch(families=[1, 2, Leaf(value)])
    with pytest.raises(ParameterError) as caught:
        write_model(path, "test", content, types=TYPES)
    assert str(caught.value) == f"families[2].alpha: {fact}; {RULE}"
    assert not path.exists()


def test_places_in_dicts_and_at_the_root_are_named(path: Path) -> None:
    with pytest.raises(ParameterError, match=re.escape("['a'][1]: a <class 'object'>")):
        write_model(path, "test", {"a": (1, object())}, types=TYPES)
    with pytest.raises(ParameterError, match=re.escape("[3][date]: a <class 'object'>")):
        write_model(path, "test", {3: {date(2024, 1, 1): object()}}, types=TYPES)
    with pytest.raises(ParameterError, match=r"^content: a <class 'object'>"):
        write_model(path, "test", object(), types=TYPES)
    with pytest.raises(ParameterError, match=r"^content: a <class '.*Leaf'> cannot"):
        write_model(path, "test", Leaf(1), types={})


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2024, 1, 1, fold=1),
        time(12, fold=1),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1), "CET")),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(microseconds=1))),
    ],
)
def test_a_time_that_text_cannot_carry_is_refused(path: Path, moment: datetime | time) -> None:
    with pytest.raises(ParameterError) as caught:
        write_model(path, "test", Leaf(moment), types=TYPES)
    assert str(caught.value) == (
        f"alpha: {moment!r} cannot be saved; a saved time has no fold but in a zone, and no offset "
        "but of whole seconds; convert it with astimezone(datetime.timezone.utc)."
    )


def test_a_container_that_contains_itself_is_refused(path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ParameterError) as caught:
        write_model(path, "test", loop, types=TYPES)
    assert str(caught.value) == (
        f"{'[0]' * 65}: nested deeper than 64 levels; a model is a tree of moderate depth; "
        "look for a container that contains itself."
    )


def test_the_deepest_tree_comes_back(path: Path) -> None:
    content: Any = 1
    for _ in range(64):
        content = (content,)
    assert round_trip(path, content) == content


def test_a_header_over_the_limit_is_refused(path: Path) -> None:
    with pytest.raises(ParameterError, match=r"header too large; .* in 100,000,000 bytes; keep"):
        write_model(path, "test", '"' * 26_000_000, types={})
    assert not path.exists()


def test_an_unknown_header_order_is_noticed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safetensors.numpy, "save", lambda *_: b"\0" * 300)
    with pytest.raises(ModelFileError, match="orders its header in an unknown way"):
        write_model(path, "test", 1, types={})
    assert not path.exists()


def test_a_failing_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    before = path.read_bytes()

    def full(_: Any) -> None:
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, lambda *args: full(args))
            with pytest.raises(ModelFileError) as caught:
                write_model(path, "test", 1, types={})
        assert str(caught.value) == (
            f"{path} cannot be written: No space left on device; "
            "check the path, its permissions and the free space."
        )
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]


def test_content_that_cannot_be_saved_leaves_the_old_file(path: Path) -> None:
    write_model(path, "test", SMALL, types=TYPES)
    before = path.read_bytes()
    with pytest.raises(ParameterError):
        write_model(path, "test", [np.zeros(5), object()], types=TYPES)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_unwritable_places_are_named(tmp_path: Path) -> None:
    for target, reason in (
        (tmp_path / "absent" / "model", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (Path("/dev/null"), "Not a regular file"),
    ):
        with pytest.raises(ModelFileError) as caught:
            write_model(target, "test", 1, types={})
        assert str(caught.value).startswith(f"{target} cannot be written: {reason}; check")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_mid_write_leaves_the_old_file(path: Path, error: type[BaseException]) -> None:
    path.write_bytes(b"old")
    with pytest.raises(error), atomic_writer(path) as file:  # noqa: PT012
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


@pytest.fixture
def umask() -> Iterator[int]:
    previous = os.umask(0o027)
    yield 0o027
    os.umask(previous)


def test_permissions_follow_the_umask_or_the_old_file(path: Path, umask: int) -> None:
    with atomic_writer(path) as file:
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o604)
    with atomic_writer(path) as file:
        file.write(b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_protected_file_is_not_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write anywhere
    with pytest.raises(PermissionError) as caught, atomic_writer(path):
        pass
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"


def test_a_symbolic_link_keeps_pointing(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "real")
    for content in (b"first", b"second"):
        with atomic_writer(path) as file:
            file.write(content)
        assert path.is_symlink()
        assert (tmp_path / "real").read_bytes() == content


@pytest.mark.parametrize("mode", ["wb", "w"])
@pytest.mark.parametrize("step", ["write", "sync", "replace"])
def test_an_error_at_any_step_names_the_file_asked_for(
    path: Path, mode: Any, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "sync":
        monkeypatch.setattr(os, "fsync", full)
    if step == "replace":
        monkeypatch.setattr(os, "replace", full)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if step == "write":
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    said = "File too large" if step == "write" else "No space left on device"
    try:
        with pytest.raises(OSError, match=said) as caught, atomic_writer(path, mode) as file:
            file.write(b"new" if mode == "wb" else "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(path)
    assert os.listdir(path.parent) == []


def test_an_error_of_the_block_names_what_it_names(path: Path) -> None:
    with pytest.raises(OSError, match="output error") as caught, atomic_writer(path):
        raise OSError(errno.EIO, "Input/output error")
    assert caught.value.filename is None
