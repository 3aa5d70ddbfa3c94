"""exp, log, log(1 + x), log Γ and digamma against mpmath, at their ends, and at every level."""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from suffice.numerics import kernels
from suffice.numerics.elementary import digamma, exp, lgamma, log, log1p

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests/numerics/recorded_elementary.json"
FUNCTIONS = {"exp": exp, "log": log, "log1p": log1p, "lgamma": lgamma, "digamma": digamma}
TRUTH: dict[str, Callable[[Any], Any]] = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "log1p": mpmath.log1p,
    "lgamma": mpmath.loggamma,
    "digamma": mpmath.digamma,
}
#: Ranges of each function; numbers are drawn evenly, or evenly in their logarithms ("scales").
RANGES = [
    *(("exp", "even", a, b) for a, b in ((-745, 709.7), (-1, 1), (-40, 0), (-745.13, -708))),
    ("exp", "scales", 1e-20, 1),
    *(("log", "scales", a, b) for a, b in ((5e-324, 1.7e308), (5e-324, 1e-307))),
    *(("log", "even", a, b) for a, b in ((0.5, 2), (0.99, 1.01), (1 - 1e-13, 1 + 1e-13))),
    *(("log1p", "scales", a, b) for a, b in ((1e-320, 1.7e308), (1e-18, 1))),
    *(("log1p", "even", a, b) for a, b in ((-1, 1), (-0.4, 0.5), (-1e-3, 1e-3), (-1e-15, 1e-15))),
    *(("lgamma", "scales", a, b) for a, b in ((1e-310, 1e300), (8, 1e6), (1e300, 2.5e305))),
    *(("lgamma", "even", a, b) for a, b in ((0, 0.6), (0.4, 1.5), (1.4, 2.6), (2.4, 9), (8.4, 30))),
    *(("lgamma", "even", a, b) for a, b in ((1 - 1e-6, 1 + 1e-6), (2 - 1e-6, 2 + 1e-6))),
    ("digamma", "scales", 1e-300, 1e300),
    *(
        ("digamma", "even", a, b)
        for a, b in ((0, 1), (0.9, 2.1), (1.4616, 1.4617), (2, 9), (7, 30))
    ),
]


def worst(name: str, kind: str, first: float, last: float, n: int) -> float:
    """Return the largest error of n values, in units of the last place of the true one."""
    random = np.random.default_rng(RANGES.index((name, kind, first, last)))
    ends = (first, last) if kind == "even" else (np.log2(first), np.log2(last))
    x = random.uniform(*ends, n)
    x = x if kind == "even" else np.exp2(x)
    found, largest = FUNCTIONS[name](x), 0.0
    with mpmath.workprec(150):
        for argument, value in zip(x.tolist(), found.tolist(), strict=True):
            true = TRUTH[name](mpmath.mpf(argument))
            unit = float(np.spacing(abs(float(true))))
            largest = max(largest, float(abs(mpmath.mpf(value) - true) / unit))
    return largest


@pytest.mark.parametrize(("name", "kind", "first", "last"), RANGES)
def test_is_off_by_less_than_a_unit(name: str, kind: str, first: float, last: float) -> None:
    assert worst(name, kind, first, last, 200) < 1.0


INF, NAN = np.inf, np.nan
ENDS: dict[str, list[tuple[float, float]]] = {
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (NAN, NAN),
        (709.782712893384, 1.7976931348622732e308),
        (709.7827128933841, INF),
        (-745.1332191019411, 5e-324),
        (-745.1332191019412, 0.0),
        (5e-324, 1.0),
        (-5e-324, 1.0),
        (1e308, INF),
        (-1e308, 0.0),
    ],
    "log": [
        (1.0, 0.0),
        (0.0, -INF),
        (-0.0, -INF),
        (-5e-324, NAN),
        (-INF, NAN),
        (INF, INF),
        (NAN, NAN),
        (5e-324, -744.4400719213812),
        (2.0, 0.6931471805599453),
    ],
    "log1p": [
        (0.0, 0.0),
        (-1.0, -INF),
        (-1.0000000000000002, NAN),
        (INF, INF),
        (-INF, NAN),
        (NAN, NAN),
        (5e-324, 5e-324),
        (-5e-324, -5e-324),
        (1.0, 0.6931471805599453),
    ],
    "lgamma": [
        (0.0, INF),
        (-0.0, INF),
        (1.0, 0.0),
        (2.0, 0.0),
        (-1.0, NAN),
        (-INF, NAN),
        (INF, INF),
        (NAN, NAN),
        (2.5599833278516383e305, 1.7976931348623157e308),
        (2.5599833278516387e305, INF),
        (5e-324, 744.4400719213812),
    ],
    "digamma": [
        (0.0, -INF),
        (5e-324, -INF),
        (1.0, -0.5772156649015329),
        (-1.0, NAN),
        (INF, INF),
        (NAN, NAN),
        (1.7976931348623157e308, 709.782712893384),
    ],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ends_of_the_range(name: str) -> None:
    x, expected = np.array(ENDS[name]).T
    np.testing.assert_array_equal(FUNCTIONS[name](x), expected)
    one_by_one = [float(FUNCTIONS[name](value)) for value in x]
    np.testing.assert_array_equal(one_by_one, expected)


def borders() -> Iterator[tuple[str, float]]:
    yield from (
        ("exp", (n + 0.5) * np.log(2)) for n in (-1000, -700, -50, -3, -2, -1, 0, 1, 2, 900)
    )
    yield from (("log", np.sqrt(0.5) * 2.0**n) for n in (-1060, -1022, -3, -1, 0, 1, 2, 1000))
    yield from (("log1p", np.sqrt(0.5) * 2.0**n - 1) for n in (0, 1, 2, 30))
    yield from (("lgamma", x) for x in (2.5, 3.5, 7.5, 8.5))
    yield from (("digamma", x) for x in (0.5, 1.0, 1.4616321449683623, 2.0, 3.0, 7.0, 8.0))


def test_rises_across_the_borders_of_its_polynomials() -> None:
    for name, border in borders():
        x = border + np.spacing(border) * np.arange(-400.0, 400.0)
        steps = np.diff(FUNCTIONS[name](np.sort(x)))
        assert (steps >= 0).all(), (name, border)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=20)
@given(
    x=arrays(np.float64, st.integers(0, 40), elements=st.floats(width=64)), first=st.integers(0, 8)
)
def test_no_value_depends_on_its_neighbours(name: str, x: Any, first: int) -> None:
    f = FUNCTIONS[name]
    whole = f(x)
    alone = np.array([float(f(value)) for value in x])
    np.testing.assert_array_equal(whole.view(np.int64), alone.view(np.int64))
    np.testing.assert_array_equal(whole[first:], f(x[first:]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_shape_and_order(name: str) -> None:
    f, x = FUNCTIONS[name], np.random.default_rng(3).random((6, 10, 7)) * 12
    expected = f(x.ravel()).reshape(x.shape)
    for table in (
        x,
        x.transpose(2, 0, 1),
        x[:, ::2],
        x[:, 0],
        x[:, 0].T,
        x[0, 1:, ::3],
        x[0, 0, 0],
    ):
        order = np.array([np.flatnonzero(x.ravel() == value)[0] for value in table.ravel()])
        found = f(table)
        assert found.shape == table.shape
        np.testing.assert_array_equal(found.ravel(), expected.ravel()[order])


@pytest.fixture
def modes() -> Iterator[Callable[[int], int]]:
    """Set a rounding mode of the C library, as other code of a process may; set it back."""
    library = ctypes.CDLL(None)
    before = library.fegetround()
    yield library.fesetround
    library.fesetround(before)


@pytest.mark.skipif(sys.platform != "linux", reason="numbers of the modes are those of Linux")
def test_a_changed_rounding_mode_changes_nothing_and_is_kept(modes: Callable[[int], int]) -> None:
    x = np.linspace(0.1, 20.0, 1_001)
    expected = [f(x) for f in FUNCTIONS.values()]
    x86 = kernels.level() != "base"
    for mode in (0x400, 0x800, 0xC00) if x86 else (0x400000, 0x800000, 0xC00000):
        assert modes(mode) == 0
        found = [f(x) for f in FUNCTIONS.values()]
        kept = ctypes.CDLL(None).fegetround()
        modes(0)
        assert kept == mode
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.skipif(
    sys.platform != "linux" or kernels.level() == "base", reason="the modes are those of MXCSR"
)
def test_subnormal_numbers_are_kept_where_a_process_flushes_them() -> None:
    library = ctypes.CDLL(None)
    before, flushing = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    library.fegetenv(before)
    library.fegetenv(flushing)
    modes = int.from_bytes(flushing.raw[28:], "little") | 0x8040
    flushing.raw = flushing.raw[:28] + modes.to_bytes(4, "little")
    x, found, after = np.array([[-740.0]]), np.empty((1, 1)), ctypes.create_string_buffer(32)
    library.fesetenv(flushing)
    kernels.elementary.exp(x, found)
    library.fegetenv(after)
    library.fesetenv(before)
    assert 0.0 < found.item() < 1e-320
    assert int.from_bytes(after.raw[28:], "little") & 0x8040 == 0x8040


def test_coefficients_are_those_that_the_script_writes() -> None:
    file = ROOT / "src/native/support/elementary_coefficients.py"
    spec = spec_from_file_location("elementary_coefficients", file)
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    with mpmath.workdps(100):
        spec.loader.exec_module(script)
        header = script.header()
    assert script.HEADER.read_text(encoding="utf-8") == header


def levels() -> list[str]:
    names = ["v2", "v3", "v4"]
    return names[: names.index(kernels.level()) + 1] if kernels.level() in names else ["base"]


def first_and_last(names: list[str]) -> list[Any]:
    """Return the names, of which those between take part where there is time."""
    between = dict.fromkeys(names[1:-1], pytest.mark.exhaustive)
    return [pytest.param(name, marks=between.get(name, ())) for name in names]


@pytest.mark.parametrize("level", first_and_last(levels()))
def test_a_million_values_are_the_same_bits_at_every_level(level: str) -> None:
    program = ROOT / "tests/numerics/elementary_values.py"
    environment = os.environ | {"SUFFICE_SIMD": level}
    found = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True
    )
    if os.environ.get("SUFFICE_RECORD"):
        RECORDED.write_text(found.stdout)
    assert json.loads(found.stdout) == json.loads(RECORDED.read_text())
