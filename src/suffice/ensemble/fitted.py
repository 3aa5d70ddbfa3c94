"""An average of fitted classifiers: what it says of rows, and how it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.schema import Layout
from suffice.data.table_source import TableSource
from suffice.ensemble.averaged import Answer, AveragedModel, answered, joint_layout
from suffice.ensemble.candidates import Candidates
from suffice.ensemble.saved import SAVED, SavedAverage, entries_of, member_of
from suffice.errors import DataError, ParameterError
from suffice.models.base.classifier import Classifier
from suffice.models.base.evidence import Evidence
from suffice.models.base.label_sets import Doubts, label_sets
from suffice.models.base.reader import LabelReader

__all__ = ["FittedAverage"]


class FittedAverage(Classifier):
    """Classifiers that are averaged.

    Attributes
    ----------
    members_ : tuple of estimator
    candidates_ : Candidates
        What they were chosen from.
    model_ : AveragedModel
        All that a prediction needs.
    doubts_ : Doubts
        How doubtful the classes of rows were that the candidates had not learnt.
    """

    input_tags = ("categorical", "string")
    array_dtype = None
    saved, saved_types, saved_options = SavedAverage, SAVED, ()
    members_: tuple[Classifier, ...]
    candidates_: Candidates
    model_: AveragedModel
    doubts_: Doubts

    def _notebook_tables(self) -> str:
        return self.candidates_._repr_html_()

    def _average(
        self, members: Sequence[Classifier], shares: NDArray[np.float64], doubts: Doubts
    ) -> None:
        """Answer by the mean of what these say, each with its share."""
        first = members[0]
        if any(member.model_.classes != first.model_.classes for member in members):
            raise DataError(
                "the candidates have learnt rows of different classes",
                "the mean is one of probabilities of the same classes",
                "leave out the classes of few rows, or name the candidates",
            )
        self.members_, self.doubts_ = tuple(members), doubts
        self._settle_columns(first.n_features_in_, vars(first).get("feature_names_in_"))
        layout = joint_layout([member._layout_to_answer() for member in members])
        dtype, single = first.label_dtype_, first.reader_.single
        self.reader_ = LabelReader(layout, first.format_, dtype, single=single)
        models = tuple(member.model_ for member in members)
        self.model_ = AveragedModel(models, shares, layout)

    def _settled(self, source: TableSource | ArraySource) -> LabelReader:
        return self.reader_

    # -- predicting

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""
        return self._answered(X, AveragedModel.posterior)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k)."""
        return self._answered(X, AveragedModel.log_posterior)

    def predict_set(
        self, X: Any, *, coverage: float = 0.9, allow_empty: bool = True
    ) -> NDArray[np.bool_]:
        """Return the classes that are not to be excluded, (n, k), in the order of ``classes_``.

        As `NaiveBayes.predict_set` does, from the rows that the candidates were judged on: each was
        asked of models that had not learnt it.

        Parameters
        ----------
        X : table (n, d)
        coverage : float
            How often the class of a new row is in its set, above 0 and below 1.
        allow_empty : bool
            Whether a set may be empty, as some are where the most probable class is right more
            often than that. If not, the most probable class is always in.

        Raises
        ------
        ParameterError
            If coverage is no fraction, or ``allow_empty`` neither True nor False.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from suffice import AutoClassifier
        >>> X, y = load_wine(return_X_y=True)
        >>> model = AutoClassifier(["naive-bayes", "lda"]).fit(X[::2], y[::2])
        >>> sets = model.predict_set(X[1::2], coverage=0.9)
        >>> float(sets[range(len(sets)), y[1::2]].mean()).__round__(2)
        0.88
        """
        self._fitted()
        return label_sets(self.predict_proba(X), self.doubts_, coverage, allow_empty)

    def explain(self, X: Any) -> Evidence:
        """Return what every column adds to the logarithms of the probabilities, row by row.

        ::

            e_j = ½ Σ_o [log P(c | x_j and the cells before j in o) − log P(c | those before)]

        over two orders o of the columns, that of the table and its reverse. P is the weighted mean
        of the members'; what is not revealed is missing. Contributions add up to the answer
        exactly, but how they are shared among columns depends on this choice of orders.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import AutoClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2))
        >>> model = AutoClassifier(["naive-bayes", "logistic"]).fit(X, X[:, 0] > 0)
        >>> evidence = model.explain(X[:5])
        >>> bool(np.allclose(evidence.probabilities, model.predict_proba(X[:5])))
        True
        """
        model = self._fitted()
        found = np.concatenate(self._batches(X, answered, (model, AveragedModel.revealed), 1))
        prior = found[0, 0] if len(found) else model.log_prior
        return Evidence(tuple(model.layout.names), model.classes.values, prior, found[:, 1:])

    def _codes(self, X: Any) -> NDArray[np.intp]:
        return self._answered(X, AveragedModel.best)

    def _answered(self, X: Any, answer: Answer) -> NDArray[Any]:
        model = self._fitted()
        row = self._row(X)
        if row is not None:
            return answer(model, row)
        return np.concatenate(self._batches(X, answered, (model, answer)))

    def _interval_ends(self, level: float, draws: int, random_state: Any) -> Any:
        raise ParameterError(
            "the answers are means of those of several models",
            "an interval is one of the parameters of a single model",
            "ask a member of members_",
        )

    def _layout(self) -> Layout:
        return self.reader_.layout

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # -- keeping

    def _entries(self) -> dict[str, Any]:
        # A column is in one block of the layout of a file; the members' blocks are put together.
        return {**super()._entries(), "layout": self.members_[0].layout_}

    def _learnt(self) -> dict[str, Any]:
        return {
            **super()._learnt(),
            "members": tuple(map(entries_of, self.members_)),
            "judged": tuple(self.candidates_),
            "doubts": self.doubts_,
        }

    def _restore(self, saved: SavedAverage) -> None:
        self.candidates_ = Candidates(saved.judged)
        shares = np.array([one.weight for one in saved.judged if one.weight])  # as members are
        self._average(list(map(member_of, saved.members)), shares, saved.doubts)
