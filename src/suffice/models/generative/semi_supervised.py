"""Generative classifiers that rows without a label may join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, Literal, NoReturn, Self, get_args

from suffice.data.array_source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.errors import ParameterError
from suffice.models.base.exact import ExactEstimator
from suffice.models.base.leave_one_out import LeaveOneOut
from suffice.models.generative.expected_labels import (
    ExpectedLabels,
    ExpectedRows,
    Parts,
    expected_rows,
    maximised,
)
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.sampled_classifier import SampledClassifier
from suffice.models.generative.saved import SavedGenerative
from suffice.numerics.exact import DoubleDouble
from suffice.phrases import Option, Phrase
from suffice.statistics.by_class import ByClass
from suffice.statistics.row_sample import Sampled

__all__ = ["SemiSupervisedClassifier", "Unlabelled"]

Unlabelled = Literal["drop", "em"]


class SemiSupervisedClassifier(SampledClassifier):
    """A generative classifier that leaves rows without a label out, or expects their labels.

    Attributes
    ----------
    em_ : ExpectedLabels or None
        What expectation-maximisation made of rows without a label; None where they are left out.
    """

    unlabelled: Unlabelled = "drop"
    em_: ExpectedLabels | None = None

    def _check_options(self) -> None:
        super()._check_options()
        if self.unlabelled not in get_args(Unlabelled):
            rule = "unlabelled is 'drop' or 'em'"
            raise ParameterError(Option.of("unlabelled", self.unlabelled), rule)

    def _summarise(self, reader: GenerativeReader, source: TableSource | ArraySource) -> ByClass:
        labelled = super()._summarise(reader, source)
        self.em_ = None
        if self.unlabelled == "drop":
            return labelled
        self._require_rows(labelled)
        engine = self._engine_for(source)
        if isinstance(engine, CheckpointedEngine):
            engine = engine.engine  # what rows are expected to be is not kept

        def estimate(parts: Parts, sums: ByClass) -> GenerativeModel:
            return self._model_of(replace(reader, parts=parts), sums)

        def run(model: GenerativeModel) -> ExpectedRows:
            splits = source.splits(reader.layout, engine.workers)
            return engine.run(expected_rows, (model, reader.parts, reader.layout), splits)

        sampled = labelled if isinstance(labelled, Sampled) else None
        plain = labelled if sampled is None else sampled.plain
        known = replace(plain, unlabelled=DoubleDouble.zeros(()))
        sums, self.em_ = maximised(known, reader.parts, estimate, run)
        return sums if sampled is None else Sampled.with_sample(sums, sampled.sample)

    def _warn_of_unlabelled(self, rows: float) -> None:
        if self.unlabelled == "drop":  # else they have joined
            super()._warn_of_unlabelled(rows)

    def _stands_for(self, rows: Sampled) -> bool:
        """Whether a sample is still one of all labelled rows: forgetting may have emptied it."""
        sample, joined = rows.sample, self.em_.rows if self.em_ else 0.0
        labelled = (rows.rows - joined) * (1 - 1e-9)
        return sample.rows >= sample.size / 2 or sample.weight >= labelled

    # -- what expected labels leave no room for

    @property
    def _is_of_sums(self) -> bool:
        return super()._is_of_sums and self.unlabelled == "drop"

    def _leave_one_out(self, source: TableSource | ArraySource) -> LeaveOneOut:
        if self.em_ is None:
            return super()._leave_one_out(source)
        return ExactEstimator._leave_one_out(self, source)

    def _learn_more(self, *batch: Any) -> Self:
        if self.unlabelled == "em":
            self._refuse_expected("partial_fit")
        self._require_labels("partial_fit")
        return super()._learn_more(*batch)

    def _both(self, other: Any, verb: str) -> Any:
        if verb == "merged":
            for one in (self, other):
                if isinstance(one, SemiSupervisedClassifier):
                    one._require_labels("merge")
        return super()._both(other, verb)

    def forget(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, again: bool = False
    ) -> Self:
        """Take rows away again; see `ExactEstimator.forget`.

        Raises
        ------
        ForgetError
            If the rows cannot have been learnt, were forgotten before, or are seen through a
            window.
        ParameterError
            If rows without a label have joined.
        """
        self._require_labels("forget")
        return super().forget(X, y, sample_weight, again=again)

    def _require_labels(self, asked: str) -> None:
        if self.em_ is not None and self.em_.rows:
            self._refuse_expected(asked)

    def _refuse_expected(self, asked: str) -> NoReturn:
        raise ParameterError(
            Phrase(f"{asked}, with ", Option.of("unlabelled", "em")),
            "the labels expected of rows without one depend on all rows, so sums of parts do not "
            "add up to those of the whole",
            Phrase("fit all rows together, or set ", Option.of("unlabelled", "drop")),
        )

    def _warnings(self) -> Iterator[str]:
        found = super()._warnings()
        if self.em_ is None or self.em_.converged:
            return found
        unrest = (
            f"expectation-maximisation has not come to rest in {len(self.em_.log_likelihood)} "
            "steps: the labels expected of rows without one may still change a little."
        )
        return chain(found, [unrest])

    def _learnt(self) -> dict[str, Any]:
        return {**super()._learnt(), "em": self.em_}

    def _restore(self, saved: SavedGenerative) -> None:
        self.em_ = saved.em
        super()._restore(saved)
