"""Averaged one-dependence estimators beside a weighted naive Bayes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

from suffice.engines.engine import Engine
from suffice.errors import ForgetError, ParameterError, SchemaError, warn
from suffice.families.options import Estimation, Evidence, Unseen
from suffice.models.base.checks import ClassWeight
from suffice.models.base.judge import LeaveOneOut
from suffice.models.estimator import fitted
from suffice.models.generative.aode import AODEModel
from suffice.models.generative.calibration import CalibrationName
from suffice.models.generative.classifier import GenerativeClassifier, Rows
from suffice.models.generative.method import GenerativeMethod
from suffice.models.generative.model import GenerativeModel, Prior
from suffice.models.generative.paired_columns import (
    MOST_BYTES,
    MOST_COLUMNS,
    PairedColumns,
    encodings,
    given_bins,
    learnt_bins,
    pair_sums,
)
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.sampled_bins import SampledBins
from suffice.models.generative.saved import SavedGenerative
from suffice.naive_bayes.families import (
    READING,
    NaiveMethod,
    alpha_evidence_of,
    calibrate,
    calibration_of,
    predict_set,
)
from suffice.numerics.in_print import NAMED, listed
from suffice.rules import rule
from suffice.sums.by_class import ByClass, Loss
from suffice.sums.comparison import Comparison
from suffice.sums.keys import Keyed
from suffice.sums.pairs import CutBins, PairCounts
from suffice.sums.row_sample import Sampled, in_rows


def without_pairs(sums: ByClass) -> ByClass:
    """The sums of families alone: those of pairs stand behind them."""
    return replace(sums, blocks=sums.blocks[:-1])


def paired_columns(sums: ByClass) -> PairedColumns | None:
    """The columns whose pairs stand behind the sums of families, and their bins."""
    pairs = sums.blocks[-1] if sums.blocks else None
    return PairedColumns(pairs.columns, pairs.bins) if isinstance(pairs, PairCounts) else None


@dataclass(frozen=True)
class PairedReader(GenerativeReader):
    """A reader whose sums have one more block: the pairs of columns."""

    def column(self, lost: ForgetError | Loss) -> str:
        if lost.block < len(self.parts):
            return super().column(lost)
        return "a pair of columns"

    def check_compatible(self, statistic: ByClass, other: Self, others: ByClass, verb: str) -> None:
        super().check_compatible(statistic, other, others, verb)
        if paired_columns(statistic) != paired_columns(others):
            raise SchemaError(
                "the models differ: pairs of columns were counted in other bins",
                f"only counts of pairs in the same bins can be {verb}",
                "fit one model to the files of both, or in Python the other with the bins_ of this",
            )

    def compare(self, statistic: ByClass, other: Self, others: ByClass) -> Comparison:
        return super().compare(without_pairs(statistic), other, without_pairs(others))


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedPairs(SavedGenerative):
    """The sums of naive Bayes, and behind them those of pairs, in the same bins in every batch."""

    @rule("there is a row, and every family has a statistic of its columns in every batch")
    def _has_statistics(self) -> bool:
        plain = tuple(map(without_pairs, self.batches))
        return SavedGenerative._has_statistics.kept_by(replace(self, batches=plain))

    @rule("pairs are those of columns of the model, in the same bins in every batch")
    def _has_pairs(self) -> bool:
        first = paired_columns(self.batches[0])
        if first is None or any(paired_columns(batch) != first for batch in self.batches):
            return False
        read = encodings(self.parts)
        if len(set(first.columns)) < len(first.columns) or not set(first.columns) <= set(read):
            return False
        pairs = zip(first.columns, first.bins, strict=True)
        return all((read[name] == "real") == isinstance(bins, CutBins) for name, bins in pairs)

    @property
    def groups(self) -> int:
        """Return the number of weights: pairs have one, the last."""
        return super().groups + 1


@dataclass(repr=False, eq=False)
class AODE(GenerativeClassifier):
    """Averaged one-dependence estimators, combined with a weighted naive Bayes.

    ::

        P(x | c) ∝ Σ_i P(c, x_i) Π_{j ≠ i} P(x_j | c, x_i) / P(c)
        log P(c | x) = log P(c) + t log P(x | c) + Σ_j w_j log p(x_j | c) + const

    Every column is in turn the parent of all others, in counts of pairs of bins: numbers are cut
    where the classes differ, or into ten equal parts where they do not. So this needs a second pass
    over the rows. Probabilities of pairs are m-estimates with m = 1. p(x_j | c) is that of
    `NaiveBayes` with ``numbers="density"``. The weights t and w_j are fitted to at most 4,096
    rows, each taken out of all sums before it is asked about. A missing cell, and a category that
    no row showed, is neither parent nor child.

    The counts of pairs are exact, given the bins. `partial_fit` keeps the bins of the first batch,
    with a warning; models with equal bins are merged.

    Parameters
    ----------
    families, estimation, alpha, class_prior, class_weight, unseen, costs
        As `NaiveBayes` has them. Columns of a family that is none of single categories or binned
        numbers are counted in no pairs.
    calibration : {"weights", "temperature", "none"}
        ``"weights"`` combines the two; ``"temperature"`` gives both the same weight; with
        ``"none"`` it is AODE alone.
    bins : mapping of column to cuts or values, optional
        The bins of the columns that are counted in pairs, as ``bins_`` has them. By default those
        of the 100 columns that tell most of the class, in counts of 256 MB at most:
        8 k M(M + 1) bytes for M bins and k classes.

    Attributes
    ----------
    bins_ : dict
        The cuts of numbers, or the values, of each column that is counted in pairs.

    Source: G. I. Webb, J. R. Boughton, Z. Wang, Not so naive Bayes: aggregating one-dependence
    estimators (Machine Learning 58, 2005).

    Examples
    --------
    The exclusive or of two columns, which naive Bayes cannot learn:

    >>> from suffice import AODE
    >>> X = {"a": list("ppqq" * 25 + "p"), "b": list("pqpq" * 25 + "p")}
    >>> model = AODE().fit(X, [*["same", "other", "other", "same"] * 25, "same"])
    >>> model.predict({"a": ["q", "p"], "b": ["q", "q"]})
    array(['same', 'other'], dtype='<U5')
    >>> model.bins_
    {'a': ('p', 'q'), 'b': ('p', 'q')}
    """

    kind = replace(
        GenerativeClassifier.kind,
        name="classifier of pairs of columns",
        tags=("sparse", "categorical", "string"),
        saved=SavedPairs,
        reading=(*READING, "bins"),
    )

    families: Any = None
    _: KW_ONLY
    estimation: Estimation = "bayes"
    alpha: float | Evidence = 1.0
    class_prior: Prior = "empirical"
    class_weight: ClassWeight = None
    unseen: Unseen = "ignore"
    calibration: CalibrationName = "weights"
    costs: Any = None
    bins: Mapping[Any, Any] | None = None

    def method(self) -> GenerativeMethod:
        if not (isinstance(self.bins, Mapping) or self.bins is None):
            raise ParameterError(f"bins={self.bins!r}", "it maps columns to cuts or values")
        return PairsMethod.of(self, "density", bins=self.bins)

    @property
    def bins_(self) -> dict[str, Any]:
        """The cuts of numbers, or the values, of each column that is counted in pairs."""
        pairs = _pairs_of(self)
        both = zip(pairs.columns, pairs.bins, strict=True)
        return {n: b.cuts if isinstance(b, CutBins) else b.values.values for n, b in both}

    calibration_ = property(calibration_of)
    alpha_evidence_ = property(alpha_evidence_of)
    calibrate = calibrate
    predict_set = predict_set

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        decay: float = 1.0,
        window: int | None = None,
    ) -> Self:
        """Fit to more rows, in the bins of the first; see `NaiveBayes.partial_fit`."""
        is_first = not hasattr(self, "statistic_")
        super().partial_fit(X, y, classes, sample_weight, decay=decay, window=window)
        if is_first and self.bins is None:
            warn(
                "pairs of columns are counted in the bins of this first batch from now on; if its "
                "rows are not like the others, give bins=, such as bins_ of a model of all rows."
            )
        return self


def _pairs_of(estimator: AODE) -> PairCounts:
    model = fitted(estimator)
    assert isinstance(model, AODEModel)
    return model.pairs


@dataclass(frozen=True, eq=False, kw_only=True)
class PairsMethod(NaiveMethod):
    """A weighted naive Bayes, and the pairs of its columns from a second pass."""

    bins: Mapping[Any, Any] | None  # of the columns counted in pairs; default: fitted

    reader_type = PairedReader

    @property
    def is_of_sums(self) -> bool:
        """Return False: bins are learnt from rows."""
        return False

    def sums(
        self, reader: GenerativeReader, rows: Rows, engine: Engine, like: ByClass | None = None
    ) -> ByClass:
        """Sum the rows, and count pairs of columns in another reading."""
        sums = super().sums(reader, rows, engine)
        paired = None if like is None else paired_columns(like)
        if paired is None:
            paired = self._paired(reader, sums)
        parts = rows.parts(reader.layout, engine.workers)
        found = engine.run(pair_sums, (reader.parts, reader.layout, paired), parts)
        return replace(sums, blocks=(*sums.blocks, *found.over(sums.classes).blocks))

    def _paired(self, reader: GenerativeReader, sums: ByClass) -> PairedColumns:
        """Return the columns counted in pairs, and their bins, as given or fitted."""
        if self.bins is not None:
            return given_bins(reader.parts, self.bins)
        if not len(sums.classes):  # the model refuses such sums
            return PairedColumns((), ())
        if isinstance(sums, Sampled):
            sums = in_rows(sums, sums.row_weight)
            if found := SampledBins.of(reader.parts, sums, sums.sample):
                sums = found.instead(reader.parts, sums)
        return learnt_bins(reader.parts, sums)

    def sums_by_group(self, *rows: Any) -> Keyed:
        raise ParameterError(
            "sums of pairs of columns by group",
            "pairs are counted in bins of their own, in a second pass, and take much memory",
            "leave by out, or use NaiveBayes",
        )

    def plain(self, reader: GenerativeReader, sums: ByClass) -> GenerativeModel:
        """Return the model of families and of pairs, without weights."""
        if reader.declared.values:
            sums = sums.over(reader.classes(sums))
        found = super().plain(reader, without_pairs(sums))
        return AODEModel.of(found, sums.blocks[-1])

    def remarks(self, model: GenerativeModel, of_rows: bool) -> Iterator[str]:
        """Yield also which columns are in no pairs."""
        yield from super().remarks(model, of_rows)
        assert isinstance(model, AODEModel)
        found = model.pairs.columns
        silent = [n for part in model.parts for n in part.layout.columns if n not in found]
        if of_rows and silent and self.bins is None:
            yield (
                f"{len(silent)} of {len(model.layout.names)} columns are in no pairs, as they have "
                f"one value or no bins, or as others tell more ({MOST_COLUMNS} columns are paired "
                f"at most, in {MOST_BYTES / 1e6:g} MB): "
                f"{listed(map(repr, silent), NAMED)}."
            )

    def left_out(self, estimator: Any, rows: Any) -> LeaveOneOut | None:
        return None  # the pairs have no closed form
