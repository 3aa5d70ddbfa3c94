"""Every statistic, family and estimator is found, and keeps the laws that stand beside this file.

Values are built by operations on data: no rows, one row, weights of zero, one class, a constant
column, a large offset, batches of mixed sizes, missing cells and labels.
"""

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from tests.forged_files.mutants import TYPES
from tests.laws.comparing import frozen, require
from tests.laws.estimator_laws import check_estimator_laws
from tests.laws.family_laws import check_family

import suffice.sums
from suffice import naive_bayes
from suffice.errors import ForgetError, ParameterError
from suffice.families import (
    Bernoulli,
    Categorical,
    Family,
    Gaussian,
    JointTable,
    Multinomial,
    MultivariateGaussian,
    family_named,
    family_names,
)
from suffice.models.base.evaluation import Evaluation
from suffice.numerics.exact import DoubleDouble
from suffice.persist import read_model, write_model
from suffice.privacy import findings_of
from suffice.rules import check
from suffice.sums.batch import NO_WEIGHTS, Batch
from suffice.sums.bins import (
    BinnedCountAccumulator,
    BinnedCounts,
    MomentsAndBins,
    MomentsAndBinsAccumulator,
)
from suffice.sums.block import Block, CodedBlock, IntegerBlock, RealBlock, SparseBlock
from suffice.sums.by_class import ByClass, ByClassAccumulator, ClassesByGroup
from suffice.sums.comoments import (
    Comoments,
    ComomentsAccumulator,
    FourthMoments,
    FourthMomentsAccumulator,
)
from suffice.sums.counts import (
    CountAccumulator,
    Counts,
    EventAccumulator,
    Events,
    JointAccumulator,
    JointCounts,
)
from suffice.sums.kept_rows import KeptRows, Roots, RowsAccumulator
from suffice.sums.keys import Keyed
from suffice.sums.loss_sums import LossSums
from suffice.sums.moments import Moments, MomentsAccumulator
from suffice.sums.pairs import CutBins, PairCountAccumulator, PairCounts, ValueBins
from suffice.sums.ranking import Ranking
from suffice.sums.register import STATISTICS as STATISTICS_OF_FILES
from suffice.sums.row_sample import RowSample, Sampled
from suffice.sums.vocabulary import Vocabulary
from suffice.tree import named

LABELS = ("ham", "spam", "eggs")
WORDS = ("ab", "cd", "ef", "gh", "ij", "kl")
TWO = Vocabulary((False, True), closed=True)
FEW = settings(max_examples=15)


def at_length(few: int, many: int) -> list[Any]:
    """Numbers of examples: a few at any time, and many when there is time."""
    return [pytest.param(few, id="few"), pytest.param(many, marks=pytest.mark.exhaustive)]


# -- the laws of a statistic

NAMED = named(*STATISTICS_OF_FILES)


def check_statistic(parts: Sequence[Any], *, types: Mapping[str, type] = NAMED) -> None:
    """Check that statistics of the same columns form a group, and can be saved.

    ::

        a + b = b + a      (a + b) + c = a + (b + c)      a + empty = a
        (a + b) − b = a    a − empty = a                  empty = a − a

    Weights are scaled without rounding by powers of two, as far as numbers go:

    ::

        (a + b)/2 = a/2 + b/2    a/2 + a/2 = a    (a/2)/2 = a/4    0 · a = empty

    The form that a model keeps is the same statistic; taken twice, it is taken once; a difference
    has this form: nothing else is left of the rows taken away.

    Class-wise statistics also keep their classes: ``place`` and ``take`` undo each other and go
    with +. Whatever is made by these operations keeps the rules of its fields (`suffice.rules`).

    Parameters
    ----------
    parts : sequence of Statistic
        At least one; class-wise statistics over the same k classes. Sums carry 106 bits, so values
        should not differ by more than a factor of 2²⁵ in size.
    types : mapping of str to type
        What a model file may hold.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from suffice.sums.moments import Moments
    >>> check_statistic([Moments.empty(k=2, d=3)])
    """
    before = frozen(parts)
    for i, a in enumerate(parts):
        _check_group(a, parts[i - 1], parts[(i - 2) % len(parts)])
        if hasattr(a, "scaled"):
            _check_scaled(a, parts[i - 1])
        if hasattr(a, "canonical"):
            _check_canonical(a, parts[i - 1])
        _check_rules(a, parts[i - 1])
        _check_file(a, types)
        if hasattr(a, "place"):
            _check_classes(a, parts[i - 1])
    require(frozen(parts) == before, "no operation writes to its inputs")


def _check_group(a: Any, b: Any, c: Any) -> None:
    empty = a - a
    require(a + b == b + a, "a + b = b + a")
    require((a + b) + c == a + (b + c), "(a + b) + c = a + (b + c)")
    require((a + b) - b == a, "(a + b) - b = a")
    require((a + b + c) - (b + c) == a, "(a + b + c) - (b + c) = a")
    require(a + empty == a and empty + a == a and a - empty == a, "a + empty = a")
    require(b - b + a == a, "(b - b) + a = a")
    require(empty + empty == empty, "empty + empty = empty")


def _check_scaled(a: Any, b: Any) -> None:
    half = a.scaled(0.5)
    require(a.scaled(1.0) == a, "1 a = a")
    require((a + b).scaled(0.5) == half + b.scaled(0.5), "(a + b)/2 = a/2 + b/2")
    require(half + half == a, "a/2 + a/2 = a")
    require(half.scaled(0.5) == a.scaled(0.25), "(a/2)/2 = a/4")
    require(a.scaled(0.0) == a - a, "0 a = empty")


def _check_canonical(a: Any, b: Any) -> None:
    kept, rest = a.canonical(), (a + b) - b
    require(kept == a, "a.canonical() = a")
    require(frozen(kept.canonical()) == frozen(kept), "a.canonical().canonical() = a.canonical()")
    require(frozen(rest.canonical()) == frozen(rest), "a difference is canonical")
    require((kept + b) - b == a, "canonical sums go on")


def _check_classes(a: Any, b: Any) -> None:
    k = len(a.total)
    order = np.arange(k)[::-1]
    wide, index = 2 * k + 1, 2 * order + 1
    others = np.setdiff1d(np.arange(wide), index)
    placed = a.place(index, wide)
    require(placed.take(index) == a, "a.place(index, k).take(index) = a")
    require(not placed.take(others).total.any(), "a.place(index, k) is empty elsewhere")
    require(a.take(order).take(order) == a, "a.take(backwards).take(backwards) = a")
    require((a + b).place(index, wide) == placed + b.place(index, wide), "place goes with +")
    require((a + b).one_class == a.one_class + b.one_class, "one_class goes with +")
    require(a.take(order).one_class == a.one_class, "the order of classes is nothing in one_class")
    _check_divergences(a, b)
    require((a + b).take(order) == a.take(order) + b.take(order), "take goes with +")


def _check_divergences(a: Any, b: Any) -> None:
    there, back, itself = a.divergences(b), b.divergences(a), a.divergences(a)
    same = itself.hellinger[~np.isnan(itself.hellinger)]
    require(not same.any(), "a statistic is as far as nothing from itself")
    for name in ("hellinger", "psi", "ratio"):
        pair = getattr(there, name), getattr(back, name)
        require(np.allclose(*pair, 1e-9, 1e-9, equal_nan=True), "divergences are symmetric")
    known = there.hellinger[~np.isnan(there.hellinger)]
    require(bool(((known >= 0) & (known <= 1)).all()), "Hellinger is from 0 to 1")


def _check_rules(a: Any, b: Any) -> None:
    made = [a, a + b, a + b - b, a - a]
    if hasattr(a, "scaled"):
        made += [(a + b).scaled(0.3), (a + b).scaled(0.7) - b.scaled(0.7), a.scaled(0.0)]
    if hasattr(a, "place"):
        k = len(a.total)
        placed = a.place(np.arange(k)[::-1], k + 1)
        made += [placed, placed.take(np.arange(k)), (a + b).one_class]
    for statistic in made:
        try:
            check(statistic)
        except ParameterError as error:
            raise AssertionError(f"a statistic keeps its rules: {error}") from error


def _check_file(a: Any, types: Mapping[str, type]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "statistic"
        write_model(path, "statistic", a, types=types)
        _, read = read_model(path, types=types)
    require(frozen(read) == frozen(a) and read == a, "a file gives back every bit")


# -- data


@dataclass(frozen=True)
class Data:
    """Everything that the batches of one table share."""

    encoding: str
    d: int
    offset: float
    constant: bool
    classes: int
    numbers: bool
    gaps: float

    def batch(self, n: int, weights: str, seed: int) -> Batch:
        rng = np.random.default_rng(seed)
        block = getattr(self, "_" + self.encoding)(n, rng)
        values = tuple(rng.permutation(LABELS[: self.classes]).tolist())
        codes = rng.integers(-1 if self.gaps else 0, self.classes, n).astype(np.intp)
        return Batch(n, (block,), codes, Vocabulary(values), self._weights(weights, n, rng))

    def _weights(self, kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
        if kind == "one":
            return NO_WEIGHTS
        return np.zeros(n) if kind == "zero" else rng.integers(0, 5, n) / 2

    def _real(self, n: int, rng: np.random.Generator) -> Block:
        x = rng.normal(size=(n, self.d)) * 10.0 ** rng.integers(-2, 3) + self.offset
        return self._numbers(x, rng)

    def _whole(self, n: int, rng: np.random.Generator) -> Block:
        return self._numbers(rng.poisson(3.0, (n, self.d)).astype(np.float64), rng)

    def _count(self, n: int, rng: np.random.Generator) -> Block:
        return self._numbers(rng.integers(0, 7, (n, self.d)) / 2, rng)

    def _numbers(self, x: np.ndarray, rng: np.random.Generator) -> Block:
        if self.constant:
            x[:, 0] = self.offset if self.encoding == "real" else 2.0
        x[rng.random(x.shape) < self.gaps] = np.nan
        return RealBlock(np.asfortranarray(x) if rng.random() < 0.5 else x)

    def _binary(self, n: int, rng: np.random.Generator) -> Block:
        return CodedBlock(self._codes(n, 2, rng).astype(np.int8), (TWO,) * self.d)

    def _category(self, n: int, rng: np.random.Generator) -> Block:
        kinds = range(1, 7) if self.numbers else WORDS
        shown = [tuple(rng.permutation(kinds)[:4].tolist()) for _ in range(self.d)]
        return CodedBlock(self._codes(n, 4, rng), tuple(map(Vocabulary, shown)))

    def _integers(self, n: int, rng: np.random.Generator) -> Block:
        return IntegerBlock(rng.integers(-3, 4, (n, self.d)).astype(np.int16))

    def _codes(self, n: int, m: int, rng: np.random.Generator) -> np.ndarray:
        codes = rng.integers(0, m, (n, self.d))
        if self.constant:
            codes[:, 0] = 0
        codes[rng.random(codes.shape) < self.gaps] = -1
        return codes

    def _events(self, n: int, rng: np.random.Generator) -> Block:
        words = tuple(rng.permutation(WORDS)[:4].tolist())
        return self._sparse(n, Vocabulary(words), rng.random(n) >= self.gaps, rng)

    def _columns(self, n: int, rng: np.random.Generator) -> Block:
        vocabulary = Vocabulary(tuple(range(self.d)), closed=True)
        block = self._sparse(n, vocabulary, np.ones(n, np.bool_), rng)
        missing = rng.random(len(block.data)) < self.gaps
        return replace(block, data=np.where(missing, np.nan, block.data))

    def _sparse(
        self, n: int, vocabulary: Vocabulary, present: np.ndarray, rng: np.random.Generator
    ) -> SparseBlock:
        x = csr_matrix(rng.poisson(0.8, (n, len(vocabulary))) * present[:, None].astype(np.float64))
        return SparseBlock(x.data, x.indices, x.indptr, vocabulary, present)


@st.composite
def batches(draw: st.DrawFn, encoding: str, offset: float | None = None) -> list[Batch]:
    data = Data(
        encoding,
        d=draw(st.integers(1, 3)),
        offset=draw(st.sampled_from([0.0, 1e4, 1e8])) if offset is None else offset,
        constant=draw(st.booleans()),
        classes=draw(st.integers(1, 3)),
        numbers=draw(st.booleans()),
        gaps=draw(st.sampled_from([0.0, 0.3, 1.0])),
    )
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 5, 23]), min_size=1, max_size=4))
    kinds = [draw(st.sampled_from(["one", "one", "zero", "halves"])) for _ in sizes]
    seed = draw(st.integers(0, 2**32 - 1))
    return [
        data.batch(n, kind, seed + i) for i, (n, kind) in enumerate(zip(sizes, kinds, strict=True))
    ]


# -- statistics


def summed(accumulator: Any, batch: Batch) -> Any:
    place = Vocabulary(LABELS).index(batch.classes.values, -1)
    codes = np.append(place, -1)[batch.codes]
    if batch.weights.size:
        codes = np.where(batch.weights > 0, codes, -1)
    accumulator.add(batch.blocks[0], codes, batch.weights, len(LABELS))
    return accumulator.statistic()


def by_class(accumulator: Any, batch: Batch) -> ByClass:
    total = ByClassAccumulator([accumulator])
    total.add(batch)
    return total.statistic()


def on_a_grid(batch: Batch) -> Batch:
    """The same batch with numbers of few bits, whose fourth powers a pair of doubles holds."""
    assert isinstance(batch.blocks[0], RealBlock)
    return replace(batch, blocks=(RealBlock(np.rint(batch.blocks[0].values * 64) / 64),))


def width(batch: Batch) -> int:
    return batch.blocks[0].width


def cut_bins(batch: Batch) -> tuple[CutBins, ...]:
    return tuple(CutBins(np.linspace(-1.0, j, j + 2)) for j in range(width(batch)))


def word_bins(batch: Batch) -> tuple[ValueBins, ...]:
    """Some of the values that cells have; the others count as missing."""
    return (ValueBins(Vocabulary.of((1, 2, 3, *WORDS[:4]))),) * width(batch)


def pairs_of(bins: tuple[CutBins, ...] | tuple[ValueBins, ...]) -> PairCountAccumulator:
    return PairCountAccumulator(tuple("abc"[: len(bins)]), bins)


def evaluated(batch: Batch) -> Evaluation:
    """The sums of an evaluation, from counts and moments of the same rows."""
    moments = summed(MomentsAccumulator(width(batch)), batch)
    confusion = np.resize(moments.total, (3, 3))
    losses = DoubleDouble.of([moments.total.sum(), *moments.scatter.sum(axis=0)[:1]])
    counts, reliability = DoubleDouble.of(confusion), DoubleDouble.of(np.resize(losses.hi, (10, 3)))
    of_classes = DoubleDouble.of(np.resize(losses.hi, 3))
    sums = losses[0], losses[1], losses[0], losses, reliability, of_classes
    return Evaluation(LABELS, counts, *sums, 1, batch.rows)


def ranked(batch: Batch) -> Ranking:
    """The numbers of the first column as scores of the first class."""
    scores = np.nan_to_num(np.asarray(batch.blocks[0].values, np.float64)[:, 0])
    weights = batch.weights if batch.weights.size else np.ones(batch.rows)
    kept = weights > 0
    return Ranking.of(scores[kept], batch.codes[kept] == 0, weights[kept])


def bent(batch: Batch) -> LossSums:
    """Loss sums of random shapes, over the rows of a batch."""
    x = np.nan_to_num(np.asarray(batch.blocks[0].values, np.float64))
    w = batch.weights if batch.weights.size else np.ones(batch.rows)
    total = np.bincount(batch.codes + 1, w, 4)[1:]
    sums = total, total / 3, float(w.sum()), (w @ x)[None], (x.T * w) @ x
    return LossSums(*map(DoubleDouble.of, sums))


def in_units(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Origins and units of columns."""
    return np.full(d, 1e4), 0.1 * np.arange(1.0, d + 1)


Make = Callable[[Batch], Any]
STATISTICS: dict[type, list[tuple[str, Make]]] = {
    Moments: [("real", lambda batch: summed(MomentsAccumulator(width(batch)), batch))],
    BinnedCounts: [
        ("real", lambda batch: summed(BinnedCountAccumulator(np.full(width(batch), 1e8)), batch)),
        ("real", lambda batch: summed(BinnedCountAccumulator(*in_units(width(batch))), batch)),
        ("whole", lambda batch: summed(BinnedCountAccumulator(np.zeros(width(batch))), batch)),
    ],
    MomentsAndBins: [
        ("real", lambda batch: summed(MomentsAndBinsAccumulator(width(batch)), batch)),
        ("whole", lambda batch: summed(MomentsAndBinsAccumulator(width(batch)), batch)),
    ],
    Comoments: [
        ("real", lambda batch: summed(ComomentsAccumulator(width(batch)), batch)),
        ("real", lambda batch: summed(ComomentsAccumulator(width(batch), pooled=True), batch)),
    ],
    Counts: [
        ("binary", lambda batch: summed(CountAccumulator(width(batch)), batch)),
        ("category", lambda batch: summed(CountAccumulator(width(batch)), batch)),
        ("integers", lambda batch: summed(CountAccumulator(width(batch)), batch)),
    ],
    LossSums: [("real", bent)],
    FourthMoments: [
        ("real", lambda batch: summed(FourthMomentsAccumulator(width(batch)), on_a_grid(batch))),
    ],
    Events: [
        ("count", lambda batch: summed(EventAccumulator(), batch)),
        ("columns", lambda batch: summed(EventAccumulator(), batch)),
        ("events", lambda batch: summed(EventAccumulator(presence=True), batch)),
    ],
    JointCounts: [
        ("category", lambda batch: summed(JointAccumulator(width(batch)), batch)),
        ("integers", lambda batch: summed(JointAccumulator(width(batch)), batch)),
    ],
    PairCounts: [
        ("real", lambda batch: summed(pairs_of(cut_bins(batch)), batch)),
        ("category", lambda batch: summed(pairs_of(word_bins(batch)), batch)),
        ("integers", lambda batch: summed(pairs_of(word_bins(batch)), batch)),
    ],
    ByClass: [
        ("real", lambda batch: by_class(pairs_of(cut_bins(batch)), batch)),
        ("real", lambda batch: by_class(ComomentsAccumulator(width(batch), pooled=True), batch)),
        ("category", lambda batch: by_class(CountAccumulator(width(batch)), batch)),
        ("events", lambda batch: by_class(EventAccumulator(), batch)),
    ],
}


def found_statistics() -> set[type]:
    names = (m.name for m in pkgutil.iter_modules(suffice.sums.__path__))
    modules = [import_module(f"suffice.sums.{name}") for name in names]
    found = ((name, cls) for module in modules for name, cls in vars(module).items())
    classes = {cls for name, cls in found if isinstance(cls, type) and name[0] != "_"}
    classes = {cls for cls in classes if cls.__module__.startswith("suffice.sums")}
    return {cls for cls in classes if is_dataclass(cls) and hasattr(cls, "__sub__")}


def test_every_statistic_has_data() -> None:
    by_group = {ClassesByGroup, Keyed}  # their laws are those of `tests/test_grouped_sums.py`
    others = {KeptRows, Roots, Ranking, RowSample, Sampled, *by_group}
    assert found_statistics() == {*STATISTICS, *others}


def test_rows_that_are_kept_are_a_group() -> None:
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(15, 40)), rng.integers(1, 5, 15) / 2
    codes = rng.integers(0, 2, 15)

    def kept(part: Any) -> KeptRows:
        total = RowsAccumulator(40, pooled=True, gaps=False)
        total.add(RealBlock(values[part]), codes[part], weights[part], 2)
        found = total.statistic()
        assert isinstance(found, KeptRows)
        return found

    a, b, c = map(kept, np.split(np.arange(15), 3))
    _check_group(a, b, c)
    _check_scaled(a, b)
    _check_canonical(a, b)
    assert not (a - a).rows
    assert a.place(np.array([2, 0]), 3).take(np.array([2, 0])) == a
    with pytest.raises(ForgetError, match="a file holds no rows"):
        _ = a.in_file() + b  # roots are what is left of them in a file


@pytest.mark.parametrize(
    ("encoding", "make"),
    [
        pytest.param(encoding, make, id=f"{cls.__name__}-{encoding}")
        for cls, ways in STATISTICS.items()
        for encoding, make in ways
    ],
)
@pytest.mark.parametrize("examples", at_length(6, 60))
def test_statistics(encoding: str, make: Make, examples: int) -> None:
    @settings(max_examples=examples)
    @given(parts=batches(encoding))
    def laws(parts: list[Batch]) -> None:
        check_statistic([make(batch) for batch in parts])

    laws()


@FEW
@given(parts=batches("real"))
def test_rankings(parts: list[Batch]) -> None:
    check_statistic([ranked(batch) for batch in parts], types={**TYPES, "Ranking": Ranking})


@FEW
@given(parts=batches("real", offset=0.0))
def test_evaluations(parts: list[Batch]) -> None:
    types = {**TYPES, "Evaluation": Evaluation}
    check_statistic([evaluated(batch) for batch in parts], types=types)


# -- families


def variants(name: str) -> list[Family]:
    """A family under every estimation, and its options that matter for the laws."""
    made = [family_named(name, estimation=e, alpha=1.5) for e in ("mle", "map", "bayes")]
    special: dict[type, list[Family]] = {
        Gaussian: [
            Gaussian("mle", ddof=1),
            Gaussian(mean0=0.0, b0=1.0, kappa0=0.1),
            *(Gaussian(estimation, shared=True) for estimation in ("mle", "map", "bayes")),
        ],
        Categorical: [Categorical(unseen="smooth"), Categorical(unseen="error", min_categories=9)],
        Bernoulli: [Bernoulli(alpha=0.0)],
        Multinomial: [Multinomial(alpha=0.0)],
        JointTable: [JointTable(alpha=0.0), JointTable(unseen="smooth")],
        MultivariateGaussian: [
            *(MultivariateGaussian(e, pooling=1) for e in ("mle", "map", "bayes")),
            MultivariateGaussian("mle", ddof=1, shrinkage=0.2),
            MultivariateGaussian("mle", shrinkage="ledoit-wolf"),
            MultivariateGaussian("mle", variance_floor=0.0),
        ],
    }
    return made + special.get(type(made[0]), [])


MORE_SHAPES = {"events": ["columns"], "category": ["integers"]}
CASES = [
    (family, encoding, shape)
    for name in family_names()
    for family in variants(name)
    for encoding in family.encodings
    for shape in (encoding, *MORE_SHAPES.get(encoding, ()))
]


@pytest.mark.parametrize(
    ("family", "encoding", "shape"), CASES, ids=[f"{family}-{shape}" for family, _, shape in CASES]
)
@pytest.mark.parametrize("examples", at_length(3, 40))
def test_families(family: Family, encoding: str, shape: str, examples: int) -> None:
    @settings(max_examples=examples)
    @given(parts=batches(shape), seed=st.integers(0, 99))
    def laws(parts: list[Batch], seed: int) -> None:
        check_family(family, parts, encoding=encoding, seed=seed)

    laws()


def test_laws_find_a_family_that_depends_on_the_order_of_rows() -> None:
    rows = RealBlock(np.array([[1.0], [2.0], [4.0]]))
    batch = Batch(3, (rows,), np.array([0, 1, 1]), Vocabulary(("a", "b")))
    check_family(Gaussian("mle"), [batch])
    with pytest.raises(AssertionError, match="any partition gives the same parameters"):
        check_family(FirstValue("mle"), [batch])


class FirstValue(Gaussian):
    def estimate(self, statistic: Moments) -> Any:
        return replace(super().estimate(statistic), mean=statistic.pivot)


# -- estimators


def mixed_table(rng: np.random.Generator, n: int) -> pa.Table:
    """Numbers, counts, categories, booleans and texts, with gaps; labels without an order."""
    code = rng.integers(0, 3, n)

    def gappy(values: list[Any]) -> list[Any]:
        gone = rng.random(n) < 0.2
        return [None if g else v for g, v in zip(gone, values, strict=True)]

    return pa.table(
        {
            "size": gappy((rng.normal(size=n) + code).tolist()),
            "far": gappy((1e8 + rng.normal(size=n)).tolist()),
            "visits": pa.array(gappy(rng.poisson(2.0 + code).tolist()), pa.int64()),
            "color": pa.array(gappy(rng.choice(["red", "blue", "green"], n).tolist()), pa.string()),
            "old": pa.array(gappy((rng.random(n) < 0.3 + 0.2 * code).tolist()), pa.bool_()),
            "note": pa.array(
                gappy([" ".join(rng.choice(WORDS, 5)) for _ in range(n)]), pa.string()
            ),
            "kind": pa.array(gappy([LABELS[c] for c in code]), pa.string()),
        }
    )


def binary_table(rng: np.random.Generator, n: int) -> pa.Table:
    """Zeros and ones, which every estimator of naive Bayes can model."""
    columns = {f"x{j}": rng.integers(0, 2, n).astype(np.float64) for j in range(4)}
    return pa.table(columns | {"kind": np.resize(["a", "b", "c"], n)})


CHOSEN = {
    "size": "gaussian",
    "far": "gaussian",
    "visits": "poisson",
    "color": "categorical",
    "old": "bernoulli",
    "note": "multinomial",
}
TABLES = {"NaiveBayes": (mixed_table, {"families": CHOSEN, "calibration": "none"})}


@pytest.mark.parametrize("name", naive_bayes.__all__)
def test_estimators(name: str) -> None:
    make_table, options = TABLES.get(name, (binary_table, {}))
    table = make_table(np.random.default_rng(18), 18)
    check_estimator_laws(lambda: getattr(naive_bayes, name)(**options), table, "kind")


@pytest.mark.parametrize(
    "options",
    [
        {"estimation": "mle"},
        {"estimation": "map", "class_prior": "smoothed", "alpha": 2.0},
        {"alpha": 0.5, "class_prior": "uniform", "unseen": "smooth"},
        {"families": {**CHOSEN, "note": "bernoulli", "visits": "categorical"}},
    ],
    ids=str,
)
def test_options_keep_the_laws(options: dict[str, Any]) -> None:
    table = mixed_table(np.random.default_rng(7), 24)
    check_estimator_laws(
        lambda: naive_bayes.NaiveBayes.textbook(**{"families": CHOSEN, **options}), table, "kind"
    )


# -- audits


def test_every_statistic_of_a_file_has_a_rule() -> None:
    # No statistics of columns:
    parts = {ByClass, CutBins, DoubleDouble, LossSums, ValueBins, Vocabulary}
    unknown = findings_of.dispatch(object)
    assert {kind for kind in STATISTICS_OF_FILES if findings_of.dispatch(kind) is unknown} == parts
