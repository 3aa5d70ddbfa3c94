"""JSON schemas (draft 2020-12) of typed records: what is printed and what is described are one."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Number = Annotated[float, {"type": ["number", "null"]}]
"""A number whose infinity, or missing value, is written as null."""

PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}


def schema_of(record: Any, title: str) -> dict[str, Any]:
    """Return the JSON schema of a document.

    Parameters
    ----------
    record : type
        A TypedDict, or a union of them. In its fields: str, bool, int, float, None, Any, Literal,
        unions, list[T], tuple[T, U], dict[str, T], other records, NotRequired, and Annotated with
        a description (str) or with entries of the schema (dict).
    title : str

    Examples
    --------
    >>> from typing import TypedDict
    >>> Point = TypedDict("Point", {"x": int, "name": NotRequired[str]})
    >>> schema_of(Point, "a point")["$defs"]["Point"]["properties"]
    {'x': {'type': 'integer'}, 'name': {'type': 'string'}}
    """
    records: dict[str, Any] = {}
    document = _schema(record, records)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **document,
        "$defs": records,
    }


def _schema(kind: Any, records: dict[str, Any]) -> dict[str, Any]:
    """The schema of one type; records that it names are added to `records`."""
    if kind is Any:
        return {}
    if is_typeddict(kind):
        return _reference(kind, records)
    if isinstance(kind, type) and kind in PLAIN:
        return {"type": PLAIN[kind]}
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        found = _schema(inside[0], records)
        for said in inside[1:]:
            found |= said if isinstance(said, Mapping) else {"description": said}
        return found
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(one, records) for one in inside]}
    if origin is list:
        return {"type": "array", "items": _schema(inside[0], records)}
    if origin is tuple:
        items = [_schema(one, records) for one in inside]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inside[1], records)}
    raise TypeError(f"{kind!r} has no schema")


def _reference(record: Any, records: dict[str, Any]) -> dict[str, Any]:
    """A reference to the schema of a record, which may hold itself."""
    name = record.__name__
    if name not in records:
        fields = get_type_hints(record, include_extras=True)
        optional = {key for key, kind in fields.items() if get_origin(kind) is NotRequired}
        found: dict[str, Any] = {"type": "object"}
        records[name] = found
        if record.__doc__:
            found["description"] = " ".join(record.__doc__.split())
        found["properties"] = {
            key: _schema(get_args(kind)[0] if key in optional else kind, records)
            for key, kind in fields.items()
        }
        found["required"] = [key for key in fields if key not in optional]
        found["additionalProperties"] = False
    return {"$ref": f"#/$defs/{name}"}
