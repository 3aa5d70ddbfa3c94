"""Rows as they come in practice: what real tables have, and textbooks leave out."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["DRAWN", "Made", "numbers", "parts"]

Made = tuple[dict[str, Any], NDArray[Any]]
"""Columns by name, and labels."""


def numbers(x: NDArray[Any], y: NDArray[Any]) -> Made:
    """Columns of a matrix."""
    return {f"x{j}": x[:, j] for j in range(x.shape[1])}, y


def parts(values: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """About equal parts of the values, in their order."""
    return np.searchsorted(np.quantile(values, np.arange(1, k) / k), values)


def _chance(logit: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.bool_]:
    return rng.random(len(logit)) < 1 / (1 + np.exp(-logit))


def _blank(values: Any, where: NDArray[np.bool_]) -> pa.Array[Any]:
    return pa.array(list(values), mask=where)


def _shop(rng: np.random.Generator, n: int = 1500) -> Made:
    """Orders: money, counts of many zeros, categories of 2 to 300 values, dates, texts, an id."""
    city, shop = rng.zipf(1.6, n) % 300, rng.integers(0, 12, n)
    spent, items = np.exp(rng.normal(3.5, 1.2, n)), rng.poisson(0.4, n) * rng.poisson(3, n)
    days, member = rng.integers(0, 900, n), rng.random(n) < 0.3
    moods = ["late and broken", "as told", "fine, thanks", "too small", "never again", "good"]
    mood = rng.integers(0, 6, n)
    effect = rng.normal(0, 0.8, 300)[city] + rng.normal(0, 0.6, 12)[shop]
    logit = effect + 0.7 * np.log(spent) - 3 + 0.4 * (items > 0) - member + 1.2 * (mood % 4 == 0)
    texts = [f"{moods[m]} {rng.choice(['box', 'bag', 'post'])} nr {rng.integers(99)}" for m in mood]
    first = datetime.date(2021, 3, 1)
    columns = {
        "order": [f"A{i:05}" for i in rng.permutation(n)],
        "city": [f"c{v}" for v in city],
        "zip": [f"{10000 + 37 * v:05}" for v in city],
        "shop": [f"Geschäft {v}" for v in shop],
        "spent": spent.round(2),
        "items": items,
        "date": [first + datetime.timedelta(int(v)) for v in days],
        "member": member,
        "note": texts,
        "currency": ["EUR"] * n,
    }
    return columns, np.where(_chance(logit + 0.5 * (days % 365 > 300), rng), "returned", "kept")


def _coded(rng: np.random.Generator, n: int = 1200) -> Made:
    """Missing cells as -1 and 999, more often where the value is high."""
    age, income = rng.normal(45, 15, n).clip(18, 90).round(), np.exp(rng.normal(10, 0.7, n)).round()
    visits, y = rng.poisson(age / 15), _chance((age - 45) / 12 + (np.log(income) - 10), rng)
    age[rng.random(n) < 0.1 + 0.2 * y] = 999
    income[rng.random(n) < np.where(income > 40_000, 0.4, 0.05)] = -1
    return {"age": age, "income": income, "visits": np.where(rng.random(n) < 0.1, -1, visits)}, y


def _repeated(rng: np.random.Generator, n: int = 900) -> Made:
    """Columns that are copies, a constant, rows that come three times."""
    x = rng.normal(size=(n // 3, 4)).repeat(3, axis=0)
    y = _chance(1.5 * x[:, 0] - x[:, 1], rng)
    copies = {f"copy{j}": 2 * x[:, 0] + 3 for j in range(6)}
    return {**numbers(x, y)[0], **copies, "one": np.ones(n), "none": pa.nulls(n, pa.float64())}, y


def _missing(rng: np.random.Generator, n: int = 1200) -> Made:
    """A column that only one class has, one missing where it is high, one all but empty."""
    y = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 5)) + 0.8 * y[:, None] * [1, 0, 1, 0, -1]
    gone = np.stack(
        [(y == 2), x[:, 1] > 0.5, rng.random(n) < 0.3, rng.random(n) < 0.97, x[:, 4] < -1], axis=1
    )
    kinds = rng.integers(0, 4, n) + 2 * (y == 1)
    columns = {f"x{j}": _blank(x[:, j], gone[:, j]) for j in range(5)}
    return {**columns, "kind": _blank([f"k{v}" for v in kinds], rng.random(n) < 0.2 * y)}, y


def _exclusive_or(rng: np.random.Generator, n: int = 1000) -> Made:
    """Two categories that tell nothing alone."""
    a, b = rng.integers(0, 4, (2, n))
    noise = {f"noise{j}": rng.choice(list("uvwxyz"), n) for j in range(6)}
    columns = {"a": [f"α{v}" for v in a], "b": [f"β{v}" for v in b], **noise}
    return columns, ((a % 2) ^ (b % 2)) ^ (rng.random(n) < 0.08)


def _answers(rng: np.random.Generator, n: int = 900) -> Made:
    """Questions that are answered by 1 to 5, which one trait explains."""
    trait = rng.normal(size=n)
    items = trait[:, None] * rng.uniform(0.3, 1.2, 15) + rng.normal(size=(n, 15))
    columns = numbers((items * 1.1 + 3).round().clip(1, 5).astype(int), trait)[0]
    return columns, parts(trait + rng.normal(0, 0.3, n), 4)


def _sorted(rng: np.random.Generator, n: int = 1500) -> Made:
    """Rows in the order of a clock, and classes that follow one another."""
    hours = np.sort(rng.uniform(0, 24 * 200, n))
    y = _chance(2 * np.sin(hours / 24 * 2 * np.pi) + hours / 2400 - 1, rng)
    order = np.lexsort((hours, y))
    start = np.datetime64("2023-01-01", "s")
    time = start + (hours * 3600).astype("timedelta64[s]")
    columns = {"time": time[order], "hour": (hours % 24)[order], "load": rng.gamma(2, size=n)}
    return columns, y[order]


def _rare(rng: np.random.Generator, n: int = 700) -> Made:
    """A class of three rows, and one of twelve."""
    y = np.r_[np.zeros(3), np.ones(12), rng.integers(2, 4, n - 15)].astype(int)
    x = rng.normal(size=(n, 6)) + np.eye(4, 6)[y] * [4, 3, 2, 1.5, 0, 0]
    return {
        **numbers(x, y)[0],
        "kind": [f"t{(v + e) % 5}" for v, e in zip(y, x[:, 5] > 0, strict=True)],
    }, y


def _flags(rng: np.random.Generator, n: int = 1000) -> Made:
    """Booleans, of which a majority decides."""
    flags = rng.random((n, 16)) < rng.uniform(0.1, 0.9, 16)
    return numbers(flags, flags[:, :7].sum(axis=1) + rng.normal(0, 0.5, n) > 3.3)


def _prices(rng: np.random.Generator, n: int = 800) -> Made:
    """Decimals and a ratio that decides."""
    paid, worth = np.exp(rng.normal(4, 1, (2, n)))
    cents = [decimal.Decimal(f"{v:.2f}") for v in paid]
    columns = {
        "paid": pa.array(cents),
        "worth": worth.round(1),
        "region": rng.choice(list("ÄÖÜß"), n),
    }
    return columns, np.where(_chance(3 * np.log(paid / worth), rng), "dear", "cheap")


def _tails(rng: np.random.Generator, n: int = 900) -> Made:
    """Cauchy numbers, shares with many 0 and 1, two hills a class."""
    y = rng.integers(0, 3, n)
    hills = rng.choice([-1, 1], n) * (1 + y) + rng.normal(0, 0.5, n)
    share = np.clip(rng.beta(1 + y, 2, n) * 1.4 - 0.2, 0, 1)
    return {
        "cauchy": rng.standard_cauchy(n) + y,
        "share": share,
        "hills": hills,
        "1e9": 1e9 + y % 2 + rng.normal(0, 0.8, n),
    }, y


def _soil(rng: np.random.Generator, n: int = 1500) -> Made:
    """Counts of twelve species in five places, as a Poisson model has it."""
    y = rng.choice(5, n, p=[0.5, 0.25, 0.15, 0.07, 0.03])
    return numbers(
        rng.poisson(np.exp(rng.normal(0, 0.8, (5, 12)))[y] * rng.gamma(2, 0.5, (n, 1))), y
    )


def _interest(rng: np.random.Generator, n: int = 800) -> Made:
    """Nothing tells anything."""
    columns = {**numbers(rng.normal(size=(n, 8)), rng)[0], "kind": rng.choice(list("abcdefgh"), n)}
    return columns, rng.choice(["no", "yes"], n, p=[0.8, 0.2])


def _rules(rng: np.random.Generator, n: int = 1500) -> Made:
    """A tree of thresholds and categories."""
    x, kind = rng.uniform(size=(n, 5)), rng.integers(0, 6, n)
    y = np.where(x[:, 0] > 0.6, 2 * (x[:, 1] > 0.3), np.where(kind < 3, x[:, 2] > 0.5, 3))
    y = np.where(rng.random(n) < 0.05, rng.integers(0, 4, n), y)
    return {**numbers(x, y)[0], "kind": [f"k{v}" for v in kind]}, y


def _few(rng: np.random.Generator, n: int = 36) -> Made:
    y = np.arange(n) % 3
    return {
        **numbers(rng.normal(size=(n, 5)) + y[:, None], y)[0],
        "w": [f"w{v % 4}" for v in y + rng.integers(0, 3, n)],
    }, y


DRAWN = {
    make.__name__[1:].replace("_", " "): make
    for make in (
        _shop,
        _coded,
        _repeated,
        _missing,
        _exclusive_or,
        _answers,
        _sorted,
        _rare,
        _flags,
        _prices,
        _tails,
        _soil,
        _interest,
        _rules,
        _few,
    )
}
"""By name; each takes a generator."""
