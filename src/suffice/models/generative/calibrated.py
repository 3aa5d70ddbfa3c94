"""Generative classifiers whose columns have weights: what is learnt beside the sums, and kept."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.engine import Engine
from suffice.engines.local import side_by_side
from suffice.errors import DataError, ForgetError, ParameterError
from suffice.families.options import check_boolean
from suffice.models.base.evaluated_rows import require_known
from suffice.models.base.label_sets import label_sets
from suffice.models.base.unseen_values import warn_of_unseen
from suffice.models.generative.calibration import Calibration, Method
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.column_weights import SAMPLE_ROWS, calibrated
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.reader import GenerativeReader
from suffice.models.generative.saved import SavedGenerative
from suffice.sums.batch import Batch
from suffice.sums.by_class import ByClass
from suffice.sums.row_sample import Sampled

__all__ = ["CalibratedClassifier"]

SAMPLE_CELLS = 2**22  # 32 MB of doubles
FEWEST_ROWS = 256  # of tables of any width


class CalibratedClassifier(GenerativeClassifier):
    """A generative classifier whose weights are learnt from a sample of the rows it learns from.

    The sample goes along with the sums: rows that are added join it, and rows that are forgotten
    leave it. It is in memory only. Where it is not there, as after `suffice.load`, the weights stay
    as they are, and ``calibration_.stale`` says so.

    Weights are relative: the model is one of sums in which one row of the sample weighs 1, with all
    copies of it. All weights times 100, or a table written twice, change nothing that is judged by
    rows that leave these sums.

    Attributes
    ----------
    row_weight_ : float
        What one row weighs in the sums; of earlier rows where the sample is not there. 1 where
        nothing is learnt from a sample.
    """

    calibration: Method = "none"
    row_weight_: float = 1.0

    @property
    def calibration_(self) -> Calibration | None:
        """The weights of the columns, and what they are worth; None without them."""
        found: Calibration | None = self.model_.calibration
        return found

    @property
    def column_weights_(self) -> dict[str, float]:
        """How often what each column says is counted: its w, by name; 1 without weights."""
        both = zip(self.parts_, self.model_.part_weights, strict=True)
        return {
            name: float(weights[min(j, len(weights) - 1)])
            for part, weights in both
            for j, name in enumerate(part.layout.columns)
        }

    def calibrate(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, learnt: bool = True
    ) -> Self:
        """Learn the weights of the columns anew, from rows of a table; the sums stay.

        Parameters
        ----------
        X, y, sample_weight
            As `fit` takes them.
        learnt : bool
            Whether the model has learnt these rows; each is then taken out of the sums before
            it is asked about.

        Raises
        ------
        ParameterError
            If the model has no weights, by its option ``calibration``, or ``learnt`` is neither
            True nor False.
        DataError
            If there is no labelled row, a label was never seen in training, or no row shows a
            value that the model knows.
        ForgetError
            If the rows cannot have been learnt.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> y = rng.integers(0, 2, 200)
        >>> x = rng.normal(size=(200, 1)) + y[:, None]
        >>> twice = np.hstack([x, x])  # the second column says nothing new
        >>> model = NaiveBayes.textbook(calibration="weights").fit(twice, y)
        >>> bool((model.calibration_.weights < 0.7).all())
        True
        >>> model.calibrate(twice, y).calibration_.stale
        False
        """
        self._require_weights()
        check_boolean(learnt=learnt)
        model, source = self._fitted(), self._open_more(X, y, sample_weight)
        reader = self._up_to_date(self.reader_)
        warn_of_unseen(model.known_values, source, reader.layout)
        found = self._sampled(reader, source, self._engine_for(source))
        require_known(found.classes, model.classes)
        sample = found.sample
        if not sample.rows:
            raise DataError(
                "there is no labelled row whose weight is not zero",
                "weights of columns are learnt from at least one",
                "check the label column and the weights",
            )
        if not any(_tells(model, piece.batch) for piece in sample.pieces):
            raise DataError(
                "no row shows a value that tells the classes apart",
                "values that are missing, or were never seen in training, say nothing of the class",
                "check how the columns are written",
            )
        sample = replace(sample, unit=self.row_weight_ if learnt else found.row_weight)
        try:
            if learnt:
                _require_learnt(self.statistic_, found.plain)
                model = model.with_sample(sample)
            weights = calibrated(model, sample, self.calibration, learnt)
        except ForgetError:
            raise ForgetError(
                "the model has not learnt all of these rows",
                "each is taken out of its sums before it is asked about",
                "for rows that it has not learnt, use learnt=False",
            ) from None
        self.model_ = model.with_calibration(weights)
        return self

    def predict_set(
        self, X: Any, *, coverage: float = 0.9, allow_empty: bool = True
    ) -> NDArray[np.bool_]:
        """Return the classes that are not to be excluded, (n, k), in the order of ``classes_``.

        ::

            {c : 1 − P(c | x) ≤ q}

        with q the quantile of level coverage · (1 + 1/n) of 1 − P(c_i | x_i) over n rows i that
        the weights were learnt from, each taken out of the sums (conformal prediction). The class
        of a new row from the same population is in its set with about this probability, whatever
        the model is worth: a worse model has larger sets.

        Where the most probable class is right more often than that, some sets are empty: those of
        the most doubtful rows. Ask for a higher coverage, or for the most probable class in any
        case; then more rows are covered than ``coverage`` says.

        Parameters
        ----------
        X : table (n, d)
        coverage : float
            Above 0 and below 1.
        allow_empty : bool
            Whether a set may be empty. If not, the most probable class is always in.

        Raises
        ------
        ParameterError
            If the model has no weights, by its option ``calibration``, or coverage is no fraction,
            or ``allow_empty`` neither True nor False.

        Source: M. Sadinle, J. Lei, L. Wasserman, Least ambiguous set-valued classifiers with
        bounded error levels (JASA 114, 2019).

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> y = rng.integers(0, 2, 500)
        >>> x = rng.normal(size=(500, 1)) + 2 * y[:, None]
        >>> model = NaiveBayes.textbook(calibration="temperature").fit(x, y)
        >>> model.predict_set([[-1.0], [1.0], [3.0]], coverage=0.95)
        array([[ True, False],
               [ True,  True],
               [False,  True]])
        >>> model.predict_set([[-1.0], [1.0], [3.0]], coverage=0.5).sum(axis=1)
        array([1, 0, 1])
        """
        self._require_weights()
        assert self.calibration_ is not None
        doubts = self.calibration_.label_doubts
        return label_sets(self.predict_proba(X), doubts, coverage, allow_empty)

    def _require_weights(self) -> None:
        if self.calibration == "none":
            raise ParameterError(
                "calibration='none'",
                "this rests on rows that weights of columns are learnt from",
                "set calibration='weights'",
            )
        self._fitted()

    def _check_options(self) -> None:
        super()._check_options()
        if self.calibration not in get_args(Method):
            rule = "calibration is 'none', 'temperature' or 'weights'"
            raise ParameterError(f"calibration={self.calibration!r}", rule)

    @property
    def _looks_again(self) -> bool:
        """Whether something is learnt from a sample of the rows."""
        return self.calibration != "none"

    @property
    def _is_of_sums(self) -> bool:
        return super()._is_of_sums and not self._looks_again

    def _sampled(
        self, reader: GenerativeReader, source: TableSource | ArraySource, engine: Engine
    ) -> Sampled:
        if isinstance(engine, CheckpointedEngine):
            engine = engine.engine  # no file holds rows
        found = reader.sample(source, engine, _sample_rows(reader))
        assert isinstance(found, Sampled)
        return found

    def _summarise(self, reader: GenerativeReader, source: TableSource | ArraySource) -> ByClass:
        if not self._looks_again:
            return super()._summarise(reader, source)
        engine = self._engine_for(source)
        if not isinstance(engine, CheckpointedEngine):
            return self._sampled(reader, source, engine)
        # The checkpoint keeps the sums; the rows of the sample are chosen in another reading, which
        # starts anew after a stop.
        sums = reader.summarise(source, engine)
        return Sampled.with_sample(sums, self._sampled(reader, source, engine).sample)

    def _in_rows(self, statistic: ByClass) -> ByClass:
        """The same sums, in which one row weighs 1."""
        if not self._looks_again:
            self.row_weight_ = 1.0
        elif isinstance(statistic, Sampled) and self._stands_for(statistic):
            self.row_weight_ = statistic.row_weight
        weight = self.row_weight_
        if weight == 1:
            return statistic
        if not isinstance(statistic, Sampled):
            return statistic.scaled(1 / weight)
        sample = replace(statistic.sample, unit=weight)
        return Sampled.with_sample(statistic.plain.scaled(1 / weight), sample)

    def _stands_for(self, rows: Sampled) -> bool:
        """Whether a sample is still one of all rows: forgetting may have emptied it."""
        sample = rows.sample
        return sample.rows >= sample.size / 2 or sample.weight >= rows.rows * (1 - 1e-9)

    def _estimate(
        self,
        reader: GenerativeReader,
        statistic: ByClass,
        source: TableSource | ArraySource | None = None,
        tuned: bool = False,
    ) -> GenerativeModel:
        statistic = self._in_rows(statistic)
        model = super()._estimate(reader, statistic, source, tuned)
        if self.calibration == "none" or tuned:
            return model  # what a file holds is put in its place by `_restore_tuned`
        if isinstance(statistic, Sampled) and self._stands_for(statistic):
            model, sample = model.with_sample(statistic.sample), statistic.sample
            apply = partial(side_by_side, self._engine_for(source))
            model.estimate_by(apply)
            found = calibrated(model, sample, self.calibration, own=True, apply=apply)
            return model.with_calibration(found)
        sampled = self.model_.sampled if hasattr(self, "model_") else None
        if sampled is not None and self.model_.statistic != statistic:
            grown = self.model_.statistic.rows <= statistic.rows
            sampled = sampled.far(model.parts, statistic) if grown else None  # nothing forgotten
        return replace(model, calibration=self._known(model), sampled=sampled)

    def _known(self, model: GenerativeModel) -> Calibration:
        """The weights so far, of other rows."""
        if not hasattr(self, "model_") or self.calibration_ is None:
            return replace(Calibration.none(model.usual_weights), stale=True)
        if self.model_.statistic == model.statistic:
            return self.calibration_
        return replace(self.calibration_, stale=True)

    def _learnt(self) -> dict[str, Any]:
        batches = tuple(b.plain if isinstance(b, Sampled) else b for b in self.batches_)
        weight = {"row_weight": self.row_weight_} if self.row_weight_ != 1 else {}
        kept = {"calibration": self.calibration_, "sampled": self.model_.sampled}
        return {**super()._learnt(), "batches": batches, **weight, **kept}

    def _restore(self, saved: SavedGenerative) -> None:
        self.row_weight_ = saved.row_weight
        super()._restore(saved)

    def _restore_tuned(self, saved: SavedGenerative) -> None:
        super()._restore_tuned(saved)
        if saved.calibration is not None:
            self.model_ = replace(self.model_, calibration=saved.calibration, sampled=saved.sampled)


def _require_learnt(sums: ByClass, rows: ByClass) -> None:
    """Refuse rows that the sums of families cannot contain: other blocks may follow theirs.

    Raises
    ------
    ForgetError
        If they cannot.
    """
    own = sums.blocks[: len(rows.blocks)]
    ByClass(sums.classes, sums.weight, sums.unlabelled, own) - rows


def _tells(model: GenerativeModel, batch: Batch) -> bool:
    """Whether any cell of some rows says more for one class than for another."""
    terms = model.terms(batch)
    return bool((terms != terms[..., :1]).any())


def _sample_rows(reader: GenerativeReader) -> int:
    """How many rows a sample has at most: fewer where they are wide."""
    dense = [part.layout for part in reader.parts if part.layout.encoding != "sparse"]
    columns = sum(len(layout.columns) for layout in dense)
    return min(SAMPLE_ROWS, max(FEWEST_ROWS, SAMPLE_CELLS // max(1, columns)))
