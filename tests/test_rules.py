"""Rules that stand beside the fields of a record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from suffice.data.schema import Column, Numbered, UniformColumns
from suffice.errors import ParameterError
from suffice.hints import dtype_of, fits
from suffice.numerics.exact import DoubleDouble
from suffice.rules import (
    FINITE,
    NONNEGATIVE,
    POSITIVE,
    Index,
    Shape,
    Within,
    build,
    check,
    rule,
    shown,
)


@dataclass(frozen=True, eq=False)
class Groups:
    k: Annotated[int, NONNEGATIVE]
    code: Annotated[NDArray[np.intp], Shape("g"), Index("k")]
    home: Annotated[NDArray[np.intp], Shape("g"), Index("m", or_none=True)]
    weight: Annotated[NDArray[np.float64], Shape("g", 2), NONNEGATIVE]
    products: Annotated[NDArray[np.float64], Shape("m", 2, "d", "d"), FINITE]
    names: Annotated[tuple[str, ...] | None, Shape("d")] = None
    derived: int = field(init=False, default=7)

    @rule("groups come in the order of their classes")
    def _in_order(self) -> bool:
        return bool((np.diff(self.code) > 0).all())


@dataclass(frozen=True, eq=False)
class Shares(Groups):
    """A record keeps the rules of what it is derived from."""

    share: Annotated[float | None, Within(0, 1)] = None


@dataclass(frozen=True, eq=False)
class Model:
    groups: tuple[Groups, ...]
    total: Annotated[DoubleDouble | None, Shape("k"), POSITIVE] = None
    options: dict[str, Any] = field(default_factory=dict)


GOOD = {
    "k": 3,
    "code": np.array([0, 2]),
    "home": np.array([-1, 0]),
    "weight": np.ones((2, 2)),
    "products": np.zeros((1, 2, 4, 4)),
    "names": tuple("abcd"),
}


def broken(cls: type, values: dict[str, Any]) -> str:
    with pytest.raises(ParameterError) as caught:
        build(cls, values)
    return str(caught.value)


def test_what_keeps_all_rules_is_built():
    groups = build(Groups, GOOD)
    assert groups.code is GOOD["code"]
    assert groups.derived == 7
    assert build(Groups, GOOD | {"names": None}).names is None
    assert build(Shares, GOOD | {"share": None}).share is None


BROKEN = [
    ({"k": "3"}, "k is '3'; k is int."),
    ({"k": -1}, "k is -1; k is finite, 0 or more."),
    ({"k": 10**5000}, "k is a value of type int; k is int."),
    ({"code": [0, 2]}, "code is [0, 2]; code is an array of int64."),
    ({"code": np.zeros(2)}, "code is an array (2,) of float64; code is an array of int64."),
    ({"code": np.array([0, 3])}, "code[1] is 3; code is from 0 to k - 1 = 2."),
    ({"home": np.array([-1, 1])}, "home[1] is 1; home is from -1 to m - 1 = 0."),
    ({"home": np.array([-2, 0])}, "home[0] is -2; home is from -1 to m - 1 = 0."),
    ({"weight": np.ones((3, 2))}, "weight has the shape (3, 2); its shape is (g, 2), where g = 2."),
    ({"weight": np.ones(2)}, "weight has the shape (2,); its shape is (g, 2), where g = 2."),
    (
        {"weight": np.array([[1.0, 0.0], [np.nan, 0.0]])},
        "weight[1, 0] is nan; weight is finite, 0 or more.",
    ),
    (
        {"products": np.zeros((1, 2, 4, 3))},
        "products has the shape (1, 2, 4, 3); its shape is (m, 2, d, d), where m = 1, d = 4.",
    ),
    (
        {"products": np.full((1, 2, 4, 4), -np.inf)},
        "products[0, 0, 0, 0] is -inf; products is finite.",
    ),
    ({"names": "abcd"}, "names is 'abcd'; names is tuple[str, ...] | None."),
    ({"names": tuple("abc")}, "names has the shape (3,); its shape is (d,), where d = 4."),
]


@pytest.mark.parametrize(("changes", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_a_broken_rule_is_named_with_its_field_and_value(changes, message):
    assert broken(Groups, GOOD | changes) == f"Groups.{message}"


def test_a_broken_rule_of_several_fields_is_named_with_the_sizes():
    assert broken(Groups, GOOD | {"code": np.array([2, 0])}) == (
        "a Groups with d = 4, g = 2, k = 3, m = 1; groups come in the order of their classes."
    )


def test_fields_are_exactly_those_of_the_constructor():
    assert broken(Groups, {name: GOOD[name] for name in ("k", "code", "home", "weight")}) == (
        "Groups lacks names, products; its fields are code, home, k, names, products, weight."
    )
    assert broken(Groups, GOOD | {"derived": 7, 3: 1}) == (
        "Groups has in excess 3, derived; its fields are code, home, k, names, products, weight."
    )


def test_rules_are_inherited():
    assert "share is from 0 to 1" in broken(Shares, GOOD | {"share": 1.5})
    backwards = GOOD | {"code": np.array([2, 0]), "share": None}
    assert "groups come in the order" in broken(Shares, backwards)


def test_pairs_are_judged_by_their_leading_part():
    groups = (build(Groups, GOOD),)
    assert build(Model, {"groups": groups, "total": DoubleDouble.of([1.0]), "options": {}}).groups
    of_none = {"groups": groups, "total": DoubleDouble.of([1.0, 0.0]), "options": {}}
    assert broken(Model, of_none) == "Model.total[1] is 0.0; total is finite, above 0."


def test_records_inside_a_record_are_checked_first():
    check(Model((Groups(**GOOD),)))
    bad = Groups(**(GOOD | {"code": np.array([0, 7])}))
    with pytest.raises(ParameterError, match=r"^Groups\.code\[1\] is 7; code is from 0 to k - 1"):
        check(Model((Groups(**GOOD), bad)))
    with pytest.raises(ParameterError, match=r"^Groups\.code\[1\] is 7"):
        check(Model((), options={"groups": bad}))


def test_values_of_any_size_can_be_shown():
    assert shown("x" * 10**6) == "'xxxxxxxxxxxx...xxxxxxxxxxxxx'"
    assert shown(10**5000) == "a value of type int"
    assert shown(np.zeros((2, 3))) == "an array (2, 3) of float64"


# -- what an annotation says of a value


@dataclass(frozen=True)
class Pair:
    a: int


ENDLESS = Numbered(2**50)
COLUMNS = UniformColumns(ENDLESS, "number", "real", "numbers")


@pytest.mark.parametrize(
    ("hint", "values", "others"),
    [
        (Any, [None, 3, "x", str], []),
        (None, [None], [0, False, ""]),
        (str, ["", "é"], [b"", None, 1]),
        (bool, [True, False, np.True_, 0, 1], [2, -1, 0.0, "True", None, np.zeros(1)]),
        (int, [0, -3, True, np.int64(4), 2**999], [1.0, "1", None, 2**1001, np.float64(1)]),
        (float, [0, 1.5, True, np.float32(1), Fraction(1, 3), np.nan], ["1", None, 1j, 10**400]),
        (float | None, [None, 2.0], ["2"]),
        (Literal["mle", 1], ["mle", 1], ["map", True, 1.0]),
        (tuple[str, ...], [(), ("a", "b")], [["a"], ("a", 1), "ab", None]),
        (tuple[int, str], [(1, "a")], [(1,), (1, "a", "b"), ("a", 1), [1, "a"]]),
        (list[int], [[], [1]], [(1,), ["1"]]),
        (dict[str, int], [{}, {"a": 1}], [{1: 1}, {"a": "1"}, [("a", 1)]]),
        (Mapping[str, Any], [{}, {"a": None}], [{1: 1}, None]),
        (Sequence[str], [[], ("a",), ENDLESS], ["ab", b"ab", [1], COLUMNS, 3]),
        (Sequence[Column], [(), COLUMNS], [ENDLESS, ["a"]]),
        (NDArray[np.float64], [np.zeros(2), np.float64(1)], [np.zeros(2, "f4"), [0.0], 1.0]),
        (NDArray[np.intp], [np.zeros(0, np.int64)], [np.zeros(0, ">i8"), np.zeros(0, np.uint64)]),
        (NDArray[Any], [np.zeros(2), np.zeros(1, bool)], [[1]]),
        (Annotated[str, "a word"], ["x"], [1]),
        (Pair, [Pair(1)], [Pair, (1,), None]),
    ],
    ids=str,
)
def test_what_fits_an_annotation(hint, values, others):
    assert [value for value in values if not fits(hint, value)] == []
    assert [value for value in others if fits(hint, value)] == []


def test_the_dtype_of_an_array():
    assert dtype_of(NDArray[np.float64]) == np.float64
    assert dtype_of(NDArray[Any]) is None
    assert dtype_of(str) is None
