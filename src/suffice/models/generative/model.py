"""The generative classifier: class prior times families, p(x, y) = P(y) Π_b p(x_b | y).

A fit is the sum of `suffice.models.generative.part.summarise` over parts; a model is a function of
that sum.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Layout
from suffice.errors import DataError, ParameterError
from suffice.families import Parameters
from suffice.families.density import Chosen
from suffice.families.dirichlet import dirichlet
from suffice.families.family import Apply
from suffice.models.base.answers import Predictions
from suffice.models.base.checks import ClassWeight, class_weights
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.calibration import Calibration, Weighted
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.sampled_bins import SampledBins
from suffice.numerics import kernels
from suffice.numerics.elementary import log
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.in_print import listed
from suffice.numerics.logspace import cell_scores, log_normalise, normalise, scores
from suffice.rules import shown
from suffice.sums.base import Accumulator
from suffice.sums.batch import WEIGHT_ROUNDING, Batch
from suffice.sums.bins import BinnedCounts, MomentsAndBins, MomentsAndBinsAccumulator
from suffice.sums.block import BadCell, in_block
from suffice.sums.by_class import ByClass
from suffice.sums.row_sample import RowSample
from suffice.sums.vocabulary import Vocabulary

Prior = Literal["empirical", "smoothed", "uniform"] | Mapping[Any, float] | Sequence[float]
"""P(c), or how it follows from the rows."""


@dataclass(frozen=True)
class GenerativeModel:
    """A class prior and the parameters of every part, estimated from one statistic."""

    parts: tuple[FamilyColumns, ...]  # families and their columns
    layout: Layout  # how a table is read
    classes: Vocabulary  # the k labels
    prior: NDArray[np.float64]  # P(c), (k,)
    statistic: ByClass  # what everything is estimated from
    calibration: Calibration | None = None  # how much each column counts; by default once
    # counts of a sample, where those of all rows lie on too coarse a grid
    sampled: SampledBins | None = None
    # what each family has chosen by these sums; empty to choose
    chosen: tuple[Chosen | None, ...] = ()
    row_weight: float = 1.0  # what one row weighed in the sums before they were divided by it

    @cached_property
    def parameters(self) -> tuple[Parameters, ...]:
        """Return the parameters of every part, estimated when they are first asked for."""
        return self.estimate_by(map)

    def estimate_by(self, apply: Apply) -> tuple[Parameters, ...]:
        """Estimate the parameters now: ``apply`` is `map`, or does the same by several threads."""
        chosen = self.chosen or (None,) * len(self.parts)
        found = tuple(
            part.parameters(block, apply, known)
            for part, block, known in zip(self.parts, self.family_sums.blocks, chosen, strict=True)
        )
        vars(self)["parameters"] = found
        return found

    def with_calibration(self, calibration: Calibration) -> Self:
        """Give the columns weights; nothing is estimated anew."""
        found = replace(self, calibration=calibration)
        known = {"parameters", "family_sums", "pair_terms"} & vars(self).keys()
        vars(found).update({name: vars(self)[name] for name in known})
        return found

    @cached_property
    def weighted(self) -> tuple[Parameters | Weighted, ...]:
        """The parameters, each column counted as often as the calibration says."""
        if self.calibration is None:
            return self.parameters
        return tuple(map(Weighted, self.parameters, self.part_weights))

    @property
    def part_weights(self) -> list[NDArray[np.float64]]:
        """Return the weights of the columns, by part; one number for a group."""
        return (self.calibration or Calibration.none(self.usual_weights)).of_parts(self.parts)

    @property
    def column_weights(self) -> dict[str, float]:
        return {
            name: float(weights[min(j, len(weights) - 1)])
            for part, weights in zip(self.parts, self.part_weights, strict=True)
            for j, name in enumerate(part.layout.columns)
        }

    @property
    def usual_weights(self) -> NDArray[np.float64]:
        """Return the weights of the g terms of log p(x | c) where none are fitted, (g,)."""
        return np.ones(sum(part.groups for part in self.parts))

    def with_sample(self, sample: RowSample) -> Self:
        """Count numbers in a sample of the rows where that is more informative."""
        sampled = SampledBins.of(self.parts, self.statistic, sample)
        return replace(self, sampled=sampled, chosen=())

    @cached_property
    def family_sums(self) -> ByClass:
        if self.sampled is None:
            return self.statistic
        return self.sampled.instead(self.parts, self.statistic)

    def settled(self, anew: bool = False) -> Self:
        """Return the model with the data-driven choices of its families fixed, or made anew.

        Counts that these parameters did not need are left out.
        """
        parts, blocks = [], list(self.family_sums.blocks)
        for b, (part, parameters) in enumerate(zip(self.parts, self.parameters, strict=True)):
            family: Any = part.family
            family = family.narrowed(parameters) if anew else family.settled(parameters)
            parts.append(replace(part, family=family))
            if isinstance(block := blocks[b], MomentsAndBins):
                columns, bins = family.compared(block.moments), block.bins
                if len(columns) < block.d:
                    none = BinnedCounts.empty(block.k, bins.origin, bins.unit)
                    bins = none.with_columns(columns, bins, columns)
                    blocks[b] = replace(block, bins=bins)
        sums = replace(self.family_sums, blocks=tuple(blocks))
        return replace(self, parts=tuple(parts), statistic=sums, sampled=None, chosen=())

    def without(self, batch: Batch, factor: float = 1.0) -> Self | None:
        """Return the model of the other rows; None if none is left.

        What leaves is ``factor`` times the sums of the batch. Classes are equally likely.
        """
        k, codes, total = len(self.classes), batch.learnt(self.classes), self.statistic
        weight = total.weight.value - factor * np.bincount(codes, batch.weights, k)
        weight[weight <= WEIGHT_ROUNDING * total.weight.value] = 0.0  # what rounding leaves
        if not weight.any():
            return None
        blocks = list(total.blocks)
        for b, (part, block) in enumerate(zip(self.parts, batch.blocks, strict=True)):
            if isinstance(every := blocks[b], MomentsAndBins):
                columns = cast(Any, part.family).compared(every.moments)
                grid = every.bins.origin, every.bins.unit
                rows: Accumulator = MomentsAndBinsAccumulator(every.d, *grid, columns)
            else:
                rows = part.accumulator()
            rows.add(block, codes, batch.weights, k)
            gone = rows.statistic()
            blocks[b] = every - (gone if factor == 1 else gone.scaled(factor))
        rest = replace(total, weight=DoubleDouble.of(weight), blocks=tuple(blocks))
        return replace(self, prior=np.full(k, 1 / k), statistic=rest)

    def terms(self, batch: Batch) -> NDArray[np.float64]:
        """The terms of log p(x | c) that have a weight of their own, (groups, n, k)."""
        n, k, found = batch.rows, len(self.classes), []
        for part, parameters, block in zip(self.parts, self.parameters, batch.blocks, strict=True):
            if part.groups == 1:
                whole = scores(n, k, 0.0)
                parameters.add_log_likelihood(block, whole)
                found.append(whole[None])
            else:
                cells = cell_scores(n, len(part.layout.columns), k)
                parameters.add_contributions(block, cells)
                found.append(np.moveaxis(cells, 1, 0))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def refuse_weights(self, asked: str) -> None:
        """Refuse what is said of families alone, where columns count more or less than once."""
        if self.calibration is not None:
            raise ParameterError(
                f"the columns of the model have weights, and {asked} would leave them out",
                "it is given of models that count every column once",
                "set calibration='none' and fit again",
            )

    def refuse_pairs(self, asked: str) -> None:
        """Refuse what is said of columns that are independent in a class, where they are not."""

    @property
    def family_names(self) -> dict[str, str]:
        """Return the family of each column; of several that were tried, the one chosen."""
        return {
            name: parameters.chosen(j) or part.family.name
            for part, parameters in zip(self.parts, self.parameters, strict=True)
            for j, name in enumerate(part.layout.columns)
        }

    def __getstate__(self) -> dict[str, Any]:
        # Estimated once, and not again wherever the model arrives.
        return {**vars(self), "parameters": self.parameters}

    @cached_property
    def log_prior(self) -> NDArray[np.float64]:
        """Return log P(c), (k,)."""
        return log(self.prior)

    @property
    def n_free(self) -> int:
        """Number of free parameters of the parts; the class prior adds k − 1 if estimated."""
        return sum(parameters.n_free for parameters in self.parameters)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that say nothing of the class, as they are identifiers."""
        found: list[str] = []
        for part, block in zip(self.parts, self.statistic.blocks, strict=True):
            if getattr(part.family, "identifiers", "keep") == "keep":
                continue
            places = part.family.left_out(block).tolist()
            found.extend(map(part.layout.columns.__getitem__, places))
        return tuple(found)

    @cached_property
    def known_values(self) -> dict[str, Vocabulary]:
        """The values of categories and of binary columns, and the words of texts, by column.

        But for identifiers, which say nothing of the class.
        """
        found: dict[str, Vocabulary] = {}
        for part, parameters in zip(self.parts, self.parameters, strict=True):
            if getattr(part.family, "unseen", "") != "error":  # which refuses other values
                found |= _known_values(part.layout, self.layout, parameters)
        return {name: known for name, known in found.items() if name not in self.identifiers}

    def log_joint(self, batch: Batch) -> NDArray[np.float64]:
        """Return log P(c) + Σ_b log p(x_b | c) of every row, (n, k)."""
        return self._sum(batch, [part.add_log_likelihood for part in self.weighted])

    def discriminants(self, batch: Batch) -> NDArray[np.float64]:
        """As `log_joint`, up to a term of each row that all classes share: it may cost less."""
        return self._sum(batch, [part.add_discriminants for part in self.weighted])

    def partial_log_posterior(
        self, batch: Batch, hidden: Collection[str] = ()
    ) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k), as if the cells of ``hidden`` columns were missing."""
        batch = self.showing(batch, hidden) if hidden else batch
        return log_normalise(self.discriminants(batch), self.log_prior)[0]

    def showing(self, batch: Batch, hidden: Collection[str]) -> Batch:
        """Return a batch as if the cells of ``hidden`` columns were missing."""
        shown = (
            block.showing(np.array([name not in hidden for name in part.layout.columns]))
            for part, block in zip(self.parts, batch.blocks, strict=True)
        )
        return replace(batch, blocks=tuple(shown))

    def answers(self, batch: Batch, proba: bool = False) -> Predictions:
        """Predict the labels of a batch, and the probabilities, if asked for."""
        logs = self.discriminants(batch)
        codes = np.empty(batch.rows, np.intp)
        impossible = self.best(logs, codes)
        posterior = normalise(logs, self.prior)[0] if proba else None
        return Predictions(codes, posterior, impossible)

    def _sum(self, batch: Batch, terms: Sequence[Callable[..., None]]) -> NDArray[np.float64]:
        """Log prior and one term for every block."""
        out = scores(batch.rows, len(self.classes))
        out[:] = self.log_prior
        for b, (add, block) in enumerate(zip(terms, batch.blocks, strict=True)):
            try:
                add(block, out)
            except BadCell as bad:
                bad.block = b
                raise
        return out

    def best(self, logs: NDArray[np.float64], codes: NDArray[np.intp]) -> int:
        """Write the codes of the most probable classes, (n,); return how many rows have none."""
        impossible: int = kernels.scores.best_class(logs, codes)
        if impossible:
            codes[codes < 0] = self.prior.argmax()
        return impossible

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw one row for every class code; columns in the order of the layout."""
        drawn: dict[str, NDArray[Any]] = {}
        for part, parameters in zip(self.parts, self.parameters, strict=True):
            drawn |= zip(part.layout.columns, parameters.sample(codes, rng), strict=True)
        columns = self.layout.columns
        return {column.name: drawn[column.name] for column in columns}

    def evidence(self, batch: Batch) -> NDArray[np.float64]:
        """Return contributions to the log joint, (n, columns, k), in the layout's order."""
        pieces = []
        for b, (parameters, block) in enumerate(zip(self.weighted, batch.blocks, strict=True)):
            d = len(self.parts[b].layout.columns)
            piece = cell_scores(batch.rows, d, len(self.classes))
            with in_block(b):
                parameters.add_contributions(block, piece)
            pieces.append(piece)
        names = [name for part in self.parts for name in part.layout.columns]
        place = {name: j for j, name in enumerate(names)}
        order = [place[name] for name in self.layout.names]
        return np.concatenate(pieces, axis=1)[:, order]


def generative(classifier: Any, next_step: str = "fit one of them") -> GenerativeModel:
    """Return the model of a fitted classifier; refuse one that says nothing of its columns."""
    check_is_fitted(classifier)
    if not isinstance(classifier.model_, GenerativeModel):
        raise ParameterError(
            f"{type(classifier).__name__} does not say how a column looks in a class",
            "naive Bayes and discriminant analysis do",
            next_step,
        )
    return classifier.model_


def revealed(
    log_p: Callable[[Collection[str]], NDArray[np.float64]], names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log p with all columns hidden, (n, k), and its change as each is shown, (n, d, k).

    The mean of two orders: that of the table, and the reverse. ``log_p`` of hidden columns are
    those of all rows.
    """
    start = log_p(names)
    found = np.zeros((len(start), len(names), start.shape[1]))
    for order in (range(len(names)), reversed(range(len(names)))):
        hidden, before = set(names), start
        for j in order:
            hidden.discard(names[j])
            after = log_p(hidden)
            found[:, j] += (after - before) / 2
            before = after
    return start, found


def _known_values(block: BlockLayout, layout: Layout, parameters: Any) -> dict[str, Vocabulary]:
    """The values of a part's categories and binary columns, or the words of its text."""
    names = block.columns
    if block.encoding == "category":
        return dict(zip(names, parameters.vocabularies, strict=True))
    if block.encoding == "mixed":
        return dict(parameters.design.categories)
    if block.encoding == "events":
        words = getattr(parameters, "words", None) or getattr(parameters, "events", None)
        return {} if words is None or words.closed else {names[0]: words}
    if block.encoding in ("binary", "outcome") and layout.threshold is None:
        lows = zip(names, layout.lows(block).tolist(), strict=True)
        return {name: Vocabulary((int(low), 1)) for name, low in lows if low == low}
    return {}


def class_prior(
    sums: ByClass,
    prior: Prior,
    class_weight: ClassWeight = None,
    option: str = "class_prior",
) -> NDArray[np.float64]:
    """Return P(c), (k,), from the weights N_c of the rows of each class.

    ::

        "empirical"  f_c N_c / Σ f_c N_c
        "smoothed"   (f_c N_c + 1) / (Σ f_c N_c + k), Laplace's rule
        "uniform"    1 / k

    or as given: a mapping from label to probability, or a sequence in the order of the labels.
    Errors call it by the name of its ``option``.

    The weight f_c of a class counts here alone: rows that are counted f_c times in the sums of
    columns would have pseudo-counts, and a covariance that classes share, of rows that are not
    there.
    """
    weight, classes = sums.weight.hi, sums.classes.values
    k = len(classes)
    if not weight.any():
        raise DataError(
            "there is no labelled row whose weight is not zero",
            "a model needs at least one",
            "check the label column and the weights",
        )
    if class_weight is not None:
        if not (isinstance(prior, str) and prior in ("empirical", "smoothed")):
            raise ParameterError(
                f"class_weight={class_weight!r}",
                f"it weighs the classes' numbers of rows, and {option} is given",
                "leave one of them out",
            )
        weight = class_weights(class_weight, weight, classes) * weight
    if isinstance(prior, str):
        if prior == "empirical":
            return np.asarray(weight / weight.sum())
        if prior == "smoothed":
            return np.asarray(dirichlet(weight[None], 1.0, "bayes", k)[0])
        if prior == "uniform":
            return np.full(k, 1 / k)
        raise ParameterError(
            f"{option}={prior!r}",
            "it is 'empirical', 'smoothed', 'uniform', a mapping or one number per class",
        )
    return given_prior(prior, classes, option)


def given_prior(prior: Any, classes: Sequence[Any], option: str) -> NDArray[np.float64]:
    """Return P(c), (k,), as it is given: a mapping, or a sequence in the order of the classes."""
    k = len(classes)
    if isinstance(prior, Mapping):
        absent = [value for value in classes if value not in prior]
        if absent:
            raise ParameterError(
                f"{option} has no entry for the class {absent[0]!r}",
                "a prior that is given has one for every class",
                f"add it, or leave {option} out and adjust the prior again",
            )
        prior = [prior[value] for value in classes]
    try:
        given = np.array(prior, dtype=np.float64)  # the caller's array may change
    except (OverflowError, TypeError, ValueError):
        raise ParameterError(f"{option}={shown(prior)}", "a probability is a number") from None
    if given.shape != (k,):
        raise ParameterError(
            f"{option} has {given.size} numbers"
            if given.ndim == 1
            else f"{option} has the shape {given.shape}, not ({k},)",
            f"Number of priors must match number of classes, {k}: {listed(map(repr, classes))}",
        )
    if not (given >= 0).all():
        raise ParameterError(f"{option}={given.tolist()}", "Priors must be non-negative")
    if not abs(given.sum() - 1) < 1e-9:
        raise ParameterError(f"{option}={given.tolist()}", "The sum of the priors should be 1")
    return given
