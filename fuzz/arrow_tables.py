"""Arrow tables with schemas that nobody would write: nested, empty, repeated and odd columns."""

from __future__ import annotations

from typing import Any

import atheris
import pyarrow as pa
from driver import HERE, fuzz

import suffice

FLAT = [
    *(pa.null(), pa.bool_(), pa.int8(), pa.uint64(), pa.int64(), pa.float16(), pa.float32()),
    *(pa.float64(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(3)),
    *(pa.large_binary(), pa.binary_view(), pa.date32(), pa.date64(), pa.time32("ms")),
    *(pa.time64("ns"), pa.timestamp("s"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("us")),
    *(pa.timestamp("us", "+99:99"), pa.month_day_nano_interval(), pa.decimal32(5, 2)),
    *(pa.decimal128(38, -5), pa.decimal256(76, 40)),
]
NAMES = ["a", "b", "a", "", "x0", "\0", "y", "é" * 300, "label", " "]


def type_of(given: atheris.FuzzedDataProvider, depth: int = 0) -> pa.DataType:
    """A type, nested at most twice."""
    way = given.ConsumeIntInRange(0, 9) if depth < 2 else 0
    if way < 5:
        return given.PickValueInList(FLAT)
    inner = type_of(given, depth + 1)
    if way == 5:
        return pa.list_(inner)
    if way == 6:
        return pa.struct([("a", inner), (given.PickValueInList(NAMES), pa.int8())])
    if way == 7:
        return pa.dictionary(given.PickValueInList([pa.int8(), pa.uint32(), pa.int64()]), inner)
    if way == 8:
        return pa.run_end_encoded(pa.int32(), inner)
    return pa.map_(pa.string(), inner)


def values_of(given: atheris.FuzzedDataProvider, n: int) -> list[Any]:
    """Cells of one kind, some of them missing."""
    way = given.ConsumeIntInRange(0, 7)
    make = [
        lambda: given.ConsumeInt(8),
        lambda: given.ConsumeIntInRange(0, 2),
        given.ConsumeFloat,
        given.ConsumeBool,
        lambda: given.ConsumeUnicode(6),
        lambda: given.ConsumeBytes(3),
        lambda: [given.ConsumeIntInRange(0, 3)],
        lambda: {"a": given.ConsumeIntInRange(0, 3)},
    ][way]
    return [None if given.ConsumeIntInRange(0, 9) == 0 else make() for _ in range(n)]


def array_of(given: atheris.FuzzedDataProvider, n: int) -> pa.Array:
    """An array of a type; of nulls, where the values are not of that type."""
    kind, values = type_of(given), values_of(given, n)
    for one in (values, [None] * n):
        try:
            if pa.types.is_dictionary(kind):
                return pa.array(one, kind.value_type).dictionary_encode()
            return pa.array(one, kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            continue
    return pa.nulls(n)


def learn(data: bytes) -> None:
    """Learn a column from the others, answer, and learn again."""
    given = atheris.FuzzedDataProvider(data)
    n, d = given.ConsumeIntInRange(0, 12), given.ConsumeIntInRange(0, 5)
    columns = [array_of(given, n) for _ in range(d)]
    names = [given.PickValueInList(NAMES) for _ in range(d)]
    table = pa.Table.from_arrays(columns, names=names)
    if n and given.ConsumeBool():
        table = pa.concat_tables([table, table.slice(1), table.slice(0, 0)])
    make = given.PickValueInList(
        [suffice.NaiveBayes, suffice.LinearRegression, suffice.LogisticRegression]
    )
    y = given.PickValueInList([*names, "absent"]) if names else "y"
    model = make().fit(table, y)
    model.predict(table)
    if hasattr(model, "partial_fit") and make is suffice.NaiveBayes:
        model.partial_fit(table, y)


if __name__ == "__main__":
    fuzz(learn, HERE / "seeds/arrow_tables")
