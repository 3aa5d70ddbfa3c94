"""Typicality: how unlike the training rows a row is, as the model sees these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Split, each_batch
from suffice.data.times import with_times
from suffice.errors import ParameterError
from suffice.families import Multinomial
from suffice.families.multinomial import MultinomialParameters
from suffice.families.multivariate.parameters import MultivariateGaussianParameters
from suffice.families.univariate.parameters import GaussianParameters
from suffice.models.base.options import generator
from suffice.models.base.predictions import Predictions
from suffice.models.generative.distances import gaussian_tails, multivariate_tails
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.typical_words import (
    WordSums,
    lengths_of,
    text_parts,
    unknown_words,
)
from suffice.numerics.in_html import html_notes, html_table
from suffice.numerics.in_print import aligned
from suffice.numerics.logspace import normalise, scores
from suffice.statistics.batch import Batch
from suffice.statistics.block import CodedBlock, IntegerBlock, RealBlock, in_block
from suffice.statistics.mixed_block import MixedBlock
from suffice.statistics.sparse_block import SparseBlock

__all__ = [
    "Reference",
    "Typicality",
    "beside",
    "drawn",
    "typicalities",
    "typicality",
]

SHOWN = 10  # rows in print
HEADER = ["row", "typicality", "error", "missing", "unseen"]
MOST_CELLS = 2**24  # of rows drawn to compare others with
ROUNDING = 2.0**-40  # of sums over words, which are added in another order


@dataclass(frozen=True, repr=False)
class Typicality:
    """How unlike the training rows n rows are; see `FittedGenerative.typicality`.

    Parameters
    ----------
    probability : ndarray (n,)
        Of a row of the model that is as improbable, or more: near 0 of what is unlike all rows.
    error : ndarray (n,)
        Its standard error; 0 where it follows in closed form.
    missing, unseen : ndarray of int (n,)
        Cells that are not there, and categories and words that no training row showed: both are
        left out of the probability.
    """

    probability: NDArray[np.float64]
    error: NDArray[np.float64]
    missing: NDArray[np.intp]
    unseen: NDArray[np.intp]

    def __repr__(self) -> str:
        return "\n".join([*aligned([HEADER, *self._rows()]), *self._rest()])

    def _repr_html_(self) -> str:
        likely = self.probability[:SHOWN].tolist()
        return html_table("How typical rows are", HEADER, self._rows(), likely) + html_notes(
            self._rest()
        )

    def _rest(self) -> list[str]:
        n = len(self.probability)
        return [f"and {n - SHOWN:,} more"] if n > SHOWN else []

    def _rows(self) -> list[list[str]]:
        n, table = len(self.probability), []
        for i in range(min(n, SHOWN)):
            chances = f"{self.probability[i]:.4f}", f"{self.error[i]:.4f}"
            table.append([str(i), *chances, str(self.missing[i]), str(self.unseen[i])])
        return table

    @classmethod
    def joined(cls, parts: list[Typicality]) -> Typicality:
        """That of the rows of several batches."""
        names = "probability", "error", "missing", "unseen"
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True)
class Reference:
    """Rows of the model to compare others with; none where tails are known in closed form.

    Parameters
    ----------
    batches : tuple of Batch
        Rows drawn from every class.
    codes : tuple of ndarray of int (n,)
        The classes that they were drawn from.
    words : WordSums, optional
        Words of their texts, which the rows lack.
    """

    batches: tuple[Batch, ...] = ()
    codes: tuple[NDArray[np.intp], ...] = ()

    words: WordSums | None = None

    def log_likelihoods(
        self, model: GenerativeModel, known: list[NDArray[np.bool_]]
    ) -> list[NDArray[np.float64]]:
        """log p(x | c) of the rows drawn from each class, by the known cells, k arrays (M,)."""
        found = [
            log_likelihood(model, masked(batch, known))[np.arange(batch.rows), code]
            for batch, code in zip(self.batches, self.codes, strict=True)
        ]
        drawn, code = np.concatenate(found), np.concatenate(self.codes)
        return [drawn[code == c] for c in range(len(model.classes))]


def _fractions(
    drawn: Sequence[NDArray[np.float64]], logs: NDArray[np.float64], rounding: float
) -> NDArray[np.float64]:
    """(1 + number of drawn rows as improbable)/(1 + M), (n, k): an estimate that is never 0."""
    most = logs + rounding * np.abs(logs)
    found = [
        (1 + np.searchsorted(np.sort(own), most[:, c], side="right")) / (1 + len(own))
        for c, own in enumerate(drawn)
    ]
    return np.stack(found, axis=1)


def typicality(model: GenerativeModel, batch: Batch, reference: Reference) -> Typicality:
    """The typicality of the rows of a batch."""
    missing = [np.broadcast_to(block.missing, shape_of(block)) for block in batch.blocks]
    unseen = [
        unseen_cells(block, parameters)
        for block, parameters in zip(batch.blocks, model.parameters, strict=True)
    ]
    logs = log_likelihood(model, batch)
    posterior, _ = normalise(logs + model.log_prior, model.prior)
    known = [~(m | u) for m, u in zip(missing, unseen, strict=True)]
    tails, variance = _tails(model, batch, known, logs, reference)
    return Typicality(
        (posterior * tails).sum(axis=1).clip(0.0, 1.0),
        np.sqrt((posterior**2 * variance).sum(axis=1)),
        sum((m.sum(axis=1) for m in missing), np.zeros(batch.rows, np.intp)),
        sum((u.sum(axis=1) for u in unseen), unknown_words(model.parameters, batch)),
    )


def _tails(
    model: GenerativeModel,
    batch: Batch,
    known: list[NDArray[np.bool_]],
    logs: NDArray[np.float64],
    reference: Reference,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(log p(X | c) ≤ log p(x | c) | c) (n, k), and the variances of these estimates."""
    if not model.parameters:  # no column showed a value: no row is unlike another
        return np.ones(logs.shape), np.zeros(logs.shape)
    if not reference.batches:
        values = [np.asarray(cast(RealBlock, b).values, np.float64) for b in batch.blocks]
        first = model.parameters[0]
        if isinstance(first, MultivariateGaussianParameters):
            return multivariate_tails(first.factored, values[0]), np.zeros(logs.shape)
        return gaussian_tails(list(model.parameters), known, logs), np.zeros(logs.shape)
    tails, variance = np.empty(logs.shape), np.empty(logs.shape)
    texts, lengths = text_parts(model.parameters), lengths_of(model.parameters, batch)
    sums = _word_sums(model, reference, texts, lengths)
    width = np.cumsum([k.shape[1] for k in known])[:-1]
    patterns, which = np.unique(np.concatenate(known, axis=1), axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == p)
        cells = np.split(pattern, width)
        for b in texts:
            cells[b] = np.zeros(1, np.bool_)
        others = reference.log_likelihoods(model, cells)
        groups, group = np.unique(lengths[rows], axis=0, return_inverse=True)
        for g, words in enumerate(groups):
            at = rows[group.ravel() == g]
            parts = [sums[t][n] for t, n in enumerate(words.tolist())]
            least = min([len(others[0]), *(part.shape[1] for part in parts)])
            drawn = [
                own[:least] + sum((part[c, :least] for part in parts), np.zeros(least))
                for c, own in enumerate(others)
            ]
            tails[at] = _fractions(drawn, logs[at], ROUNDING if texts else 0.0)
            variance[at] = tails[at] * (1 - tails[at]) / least
    return tails, variance


def _word_sums(
    model: GenerativeModel,
    reference: Reference,
    texts: Sequence[int],
    lengths: NDArray[np.intp],
) -> list[dict[int, NDArray[np.float64]]]:
    """What words drawn for each text add to log p(x | c), by the number of words."""
    if reference.words is None or not len(lengths):
        return [{} for _ in texts]
    return [
        reference.words.sums(
            cast(MultinomialParameters, model.parameters[b]), b, np.unique(lengths[:, t]).tolist()
        )
        for t, b in enumerate(texts)
    ]


def typicalities(split: Split, params: tuple[GenerativeModel, Reference]) -> list[Typicality]:
    """Kernel: the typicality of the rows of a split, batch by batch."""
    model, reference = params
    return list(each_batch(split, model.layout, lambda batch: typicality(model, batch, reference)))


def drawn(
    model: GenerativeModel,
    n_samples: int,
    random_state: Any,
    splits_of: Callable[[Any], Sequence[Split]],
) -> Reference:
    """Rows of the model to compare others with, where they are needed.

    Parameters
    ----------
    n_samples : int
        Of each class; fewer where these would have more than 2²⁴ cells.
    splits_of : function
        Reads a table as the model does.

    Raises
    ------
    ParameterError
        If the model does not describe rows, or the number is none.
    """
    if not (isinstance(n_samples, Integral) and n_samples > 0):
        raise ParameterError(f"n_samples={n_samples!r}", "it is a whole number, 1 or more")
    check_describes_rows(model)
    if is_closed(model):
        return Reference()
    k = len(model.classes)
    most = max(100, MOST_CELLS // (k * len(model.layout.columns)))
    number, rng = min(int(n_samples), most), generator(random_state)
    codes = np.repeat(np.arange(k), number)
    texts = text_parts(model.parameters)
    splits = splits_of(_sampled(model, codes, rng, texts))
    batches = tuple(batch for split in splits for batch in split.batches())
    ends = np.cumsum([batch.rows for batch in batches])[:-1]
    words = WordSums(int(rng.integers(2**62)), number) if texts else None
    return Reference(batches, tuple(np.split(codes, ends)), words)


def _sampled(
    model: GenerativeModel, codes: NDArray[np.intp], rng: np.random.Generator, texts: Sequence[int]
) -> dict[str, NDArray[Any]]:
    """As `GenerativeModel.sample` draws rows, but without texts, which take much room."""
    nothing = np.full(len(codes), None, dtype=object)
    rows: dict[str, NDArray[Any]] = dict.fromkeys(model.layout.names, nothing)
    for b, (part, parameters) in enumerate(zip(model.parts, model.parameters, strict=True)):
        if b not in texts:
            rows |= zip(part.layout.columns, parameters.sample(codes, rng), strict=True)
    return with_times(rows, model.layout.columns)


def check_describes_rows(model: GenerativeModel) -> None:
    """Refuse models that give rows no probability that can be compared.

    Raises
    ------
    ParameterError
        Naming the family.
    """
    texts = text_parts(model.parameters)
    for b, part in enumerate(model.parts):
        counts = isinstance(part.family, Multinomial) and b not in texts
        if not part.family.is_distribution or counts:
            raise ParameterError(
                f"the typicality of rows is asked for, with {part.family}",
                "it scores events one by one, and does not describe how many a row has",
                f"leave out {', '.join(map(repr, part.layout.columns[:3]))}",
            )


def is_closed(model: GenerativeModel) -> bool:
    """Whether log p(x | c) is a quadratic form of a Gaussian, so that its tail is known."""
    if len(model.parameters) == 1 and isinstance(
        model.parameters[0], MultivariateGaussianParameters
    ):
        return True
    return all(isinstance(found, GaussianParameters) for found in model.parameters)


def log_likelihood(model: GenerativeModel, batch: Batch) -> NDArray[np.float64]:
    """Return log p(x | c), (n, k), falling off beyond the rows where a density has an end."""
    out = scores(batch.rows, len(model.classes), 0.0)
    for b, (parameters, block) in enumerate(zip(model.parameters, batch.blocks, strict=True)):
        with in_block(b):
            parameters.add_log_likelihood(block, out)
            out -= parameters.beyond(block)[:, None]
    return out


def shape_of(block: Any) -> tuple[int, int]:
    """Rows and columns of a block; events are one column."""
    return block.rows, 1 if isinstance(block, SparseBlock) else block.width


def unseen_cells(block: Any, parameters: Any) -> NDArray[np.bool_]:
    """Which cells show a category that no training row showed, (n, d)."""
    if isinstance(block, MixedBlock):
        found = np.zeros(shape_of(block), np.bool_)
        found[:, ~block.is_number] = unseen_cells(block.categories, parameters.terms)
        return found
    known = getattr(parameters, "vocabularies", None)
    if known is None or not isinstance(block, CodedBlock | IntegerBlock):
        return np.zeros(shape_of(block), np.bool_)
    sizes = [len(vocabulary) for vocabulary in known]
    return np.asarray(block.coded().recode(known) == sizes)


def masked(batch: Batch, known: list[NDArray[np.bool_]]) -> Batch:
    """The same rows without the cells of some columns."""
    return replace(batch, blocks=tuple(map(_masked, batch.blocks, known)))


def _masked(block: Any, known: NDArray[np.bool_]) -> Any:
    if known.all():
        return block
    if isinstance(block, RealBlock):
        return RealBlock(np.where(known, block.values, np.nan))
    if isinstance(block, MixedBlock):
        return block.showing(known)
    if isinstance(block, SparseBlock):
        return replace(block, present=np.zeros(block.rows, np.bool_))
    coded = block.coded()
    return CodedBlock(np.where(known, coded.codes, -1), coded.vocabularies)


def beside(
    answer: Callable[..., Predictions], model: GenerativeModel, reference: Reference, batch: Batch
) -> Predictions:
    """What a model answers for a batch, with the typicality of its rows."""
    found = typicality(model, batch, reference)
    more = {"typicality": found.probability, "missing": found.missing, "unseen": found.unseen}
    return replace(answer(batch), more=more)
