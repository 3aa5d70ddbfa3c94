"""A fitted logistic regression: what its coefficients are worth, and what it says of rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.answers import Evidence
from suffice.models.base.options import framed
from suffice.models.base.scikit_learn import KeptArray, check_is_fitted
from suffice.models.classifier import Classifier, answers_by_batch, costs_of
from suffice.models.design.coefficient_table import coefficient_tables
from suffice.models.design.matrix import INTERCEPT
from suffice.models.design.units import measures
from suffice.models.estimator import Kind, fitted
from suffice.models.logistic.centred_design import CentredDesign
from suffice.models.logistic.fit import Fit
from suffice.models.logistic.inference import Likelihood, LogisticSummary, ends_of
from suffice.models.logistic.model import LogisticModel, Prediction, of_every_class, predictions
from suffice.models.logistic.objective import LARGEST_HESSIAN
from suffice.models.logistic.options import Missing, Penalty
from suffice.models.logistic.problem import Problem
from suffice.models.logistic.reader import LogisticReader
from suffice.models.logistic.saved import SAVED, SavedLogistic
from suffice.models.logistic.solver import SolverName
from suffice.models.optimise.gradient_descent import GradientDescent
from suffice.models.reading import in_precision, row_by_name
from suffice.rules import build
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell


class FittedLogistic(Classifier):
    """A logistic regression, as its passes over the rows left it.

    Attributes
    ----------
    model_ : LogisticModel
        All that a prediction needs.
    likelihood_ : Likelihood or None
        Of the rows of the fit, where it has one.
    n_iter_ : ndarray (1,)
        Iterations, or passes of gradient descent.
    n_passes_ : int
        How often the rows were read.
    left_out_ : float
        Weight of the rows left out for missing cells.
    unlabelled_ : float
        Weight of the rows left out for missing labels.
    rows_ : float
        Weight of the rows learnt.
    remarks_ : tuple of str
        What a user may want to know of the columns.
    single_precision_ : bool
        Whether the rows of the fit came in single precision. Then ``coef_`` and ``intercept_`` are
        rounded to it, and what is said of rows that have it.
    """

    kind = Kind(
        name="logistic regression",
        mixins=("ClassifierMixin",),
        allows_missing=lambda self: False,
        saved=SavedLogistic,
        types=SAVED,
        records=(GradientDescent,),
        tables=lambda self: coefficient_tables(self, *self.model_.by_term),
    )
    penalty: Penalty
    solver: SolverName
    C: float
    incomplete: Missing
    reader_: LogisticReader
    model_: LogisticModel
    likelihood_: Likelihood | None
    _loss_history: NDArray[np.float64] | None = None
    n_iter_ = KeptArray()
    n_passes_: int
    left_out_: float
    unlabelled_: float
    rows_: float
    remarks_: tuple[str, ...]
    _is_sparse = False

    def _set(self, problem: Problem, fit: Fit) -> None:
        """Keep what a solver found."""
        self._loss_history = fit.loss_history
        self.model_, self.remarks_ = problem.model(fit.coefficients, fit.root), problem.constant
        self.n_iter_ = np.array([fit.iterations])
        self.n_passes_ = problem.objective.data.count + 1
        self.left_out_, self.unlabelled_ = problem.left_out, problem.unlabelled
        self.rows_ = problem.learnt
        known = problem.has_likelihood and fit.loss_history is None
        self.likelihood_ = fit.likelihood(problem.objective) if known else None

    # -- what was learnt

    @property
    def coef_(self) -> Any:
        """w, (1, p) or (k, p); in single precision if the rows were, compressed by `sparsify`."""
        w = self.model_.coefficients[:, 1:].astype(self._precision)
        if not self._is_sparse:
            return w
        from scipy.sparse import csr_matrix

        return csr_matrix(w)

    @property
    def intercept_(self) -> NDArray[Any]:
        """b, (1,) or (k,); 0 where it is not estimated."""
        return self.model_.intercept.astype(self._precision)

    @property
    def _precision(self) -> type[np.floating[Any]]:
        return np.float32 if self.single_precision_ else np.float64

    @property
    def single_precision_(self) -> bool:
        """Whether the rows of the fit came in single precision, which "liblinear" does not keep."""
        return self.reader_.single and self.solver != "liblinear"

    def sparsify(self) -> Self:
        """Let ``coef_`` be a compressed matrix, as there are many zeros; `densify` undoes it."""
        check_is_fitted(self)
        self._is_sparse = True
        return self

    def densify(self) -> Self:
        """Let ``coef_`` be an array."""
        check_is_fitted(self)
        self._is_sparse = False
        return self

    @property
    def loss_history_(self) -> NDArray[np.float64]:
        """Loss of all rows after every pass of gradient descent, (passes,).

        ::

            J = 1/N [−Σ w log P(y | x) + |w|²/(2C)]        N = Σ w
        """
        check_is_fitted(self)
        if self._loss_history is None:
            raise AttributeError("there is a loss_history_ after gradient descent only.")
        return np.array(self._loss_history)

    @property
    def terms_(self) -> tuple[str, ...]:
        """Names of all coefficients, the intercept first if there is one."""
        first = (INTERCEPT,) if self.model_.has_intercept else ()
        return (*first, *self.model_.centred.design.terms)

    def summary(self, level: float = 0.95, reference: Any = None, as_frame: bool = False) -> Any:
        """Return estimates with standard errors, tests and intervals, and the fit.

        Parameters
        ----------
        level : float
            Confidence of the intervals.
        reference : label, optional
            The class that the others are compared with; default: the first.
        as_frame : bool
            Return the coefficients as a pandas DataFrame.

        Returns
        -------
        LogisticSummary or pandas.DataFrame

        Raises
        ------
        ParameterError
            If the fit has an L2 penalty, the level is not between 0 and 1, or there is no such
            class.

        See Also
        --------
        suffice.models.logistic.inference.LogisticSummary : For the formulas, and an example.
        """
        lines = measures(self.model_.centred.design, self.schema_)
        found = replace(self._summary(level, reference), units=lines)
        return framed(found, as_frame)

    def _summary(self, level: float, reference: Any) -> LogisticSummary:
        model = self._inferable()
        labels = model.classes.values
        first = labels[0] if reference is None else reference
        if first not in labels:
            raise ParameterError(
                f"there is no class {first!r}", f"the classes are {', '.join(map(repr, labels))}"
            )
        estimate, covariance = model.against(labels.index(first))
        assert self.likelihood_ is not None
        return LogisticSummary(
            tuple(label for label in labels if label != first),
            first,
            self.terms_,
            estimate,
            np.where(
                model.estimable, np.sqrt(np.diagonal(covariance)).reshape(estimate.shape), np.nan
            ),
            level,
            self.likelihood_,
            self.penalty == "firth",
            self.left_out_,
        )

    def covariance(self, reference: Any = None) -> NDArray[np.float64]:
        """Return I⁻¹, the covariance matrix of the estimates of `summary`, row after row."""
        first = self._summary(0.95, reference).reference
        model: LogisticModel = fitted(self)
        return model.against(model.classes.values.index(first))[1]

    def _inferable(self) -> LogisticModel:
        model: LogisticModel = fitted(self)
        if model.root is None:
            raise self._no_covariance()
        return model

    @property
    def _has_penalty(self) -> bool:
        return self.penalty not in (None, "firth") and bool(np.isfinite(self.C))

    def _no_covariance(self) -> ParameterError:
        if self._has_penalty:
            return ParameterError(
                f"C={self.C!r}",
                "a penalised estimate has no standard error",
                "use C=np.inf or penalty='firth'",
            )
        if self._loss_history is not None:
            return ParameterError(
                "the fit was by descent",
                "gradient descent knows no second derivatives",
                "use solver='newton'",
            )
        return ParameterError(
            f"{self.model_.coefficients.size} coefficients",
            f"standard errors come from a Hessian, of at most {LARGEST_HESSIAN:,} coefficients",
            "use fewer columns",
        )

    # -- predicting

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return b + wᵀx of every row, (n,) for two classes, else (n, k)."""
        t = in_single(self, X, self._predictions(X, LogisticModel.scores))
        return t[:, 0] if t.shape[1] == 1 else t

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k)."""
        return in_single(self, X, self._predictions(X, LogisticModel.log_posterior))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""
        return in_single(self, X, self._predictions(X, LogisticModel.posterior))

    def explain(self, X: Any) -> Evidence:
        """Return what every column adds to the score of every class, row by row.

        ::

            log P(a | x) − log P(b | x) = (b_a − b_b) + Σ_j (x_j − x̄_j)(w_aj − w_bj)

        Columns are compared with the average row of the fit, so that a column of no effect, or a
        cell at its mean, adds 0. Of a category it is the sum over its indicators.

        Raises
        ------
        ParameterError
            If the model was fitted to sparse rows.
        DataError
            If a cell is missing, infinite, or an unknown category.

        Examples
        --------
        >>> from suffice.linear_model import LogisticRegression
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [0, 1, 0, 1]
        >>> model = LogisticRegression().fit(X, y)
        >>> evidence = model.explain(X)
        >>> bool(np.allclose(evidence.probabilities, model.predict_proba(X)))
        True
        """
        model: LogisticModel = fitted(self)
        if model.centred.is_sparse:
            raise ParameterError(
                "the model was fitted to sparse rows",
                "what columns add is told of dense rows",
                "look at coef_, or fit dense rows",
            )
        parts = answers_by_batch(self, X, predictions, (model, LogisticModel.contributions), 1)
        return Evidence(
            tuple(model.centred.design.groups),
            model.classes.values,
            of_every_class(model.coefficients[:, 0]),
            np.concatenate(list(parts)),
            start="average row",
        )

    def _interval_ends(self, level: float) -> Any:
        return ends_of(self._inferable(), level)

    def _complete_rows(self, interval: bool = False) -> Callable[[Batch], NDArray[np.bool_]] | None:
        model: LogisticModel = fitted(self)
        return None if model.centred.is_sparse else model.complete

    def _codes(self, X: Any) -> NDArray[np.intp]:
        return self._predictions(X, LogisticModel.best)

    def _predictions(self, X: Any, answer: Prediction) -> NDArray[Any]:
        """Answer for every row, in order."""
        model = fitted(self)
        with suppress(BadCell):  # which is found again below, where its column has a name
            row = row_by_name(self, X)
            if row is not None:
                return answer(model, row)
        parts = answers_by_batch(self, X, predictions, (model, answer))
        # Scores lie class by class; joined along that axis they are copied straight.
        return np.concatenate([rows.T for rows in parts], axis=-1).T

    # -- keeping

    def _kept(self) -> dict[str, Any]:
        costs_of(self, self.costs)  # with others no file could be read
        model, likelihood, dtype = self.model_, self.likelihood_, self.reader_.label_dtype
        return {
            "label_dtype": None if dtype is None else dtype.str,
            "design": model.centred.design,
            "mean": model.centred.mean,
            "scale": model.centred.scale,
            "complete": model.centred.complete,
            "classes": model.classes,
            "coefficients": model.coefficients,
            "has_intercept": model.has_intercept,
            "root": model.root,
            "loss_history": self._loss_history,
            "likelihood": None if likelihood is None else vars(likelihood),
            "n_iter": self.n_iter_,
            "n_passes": self.n_passes_,
            "left_out": self.left_out_,
            "unlabelled": self.unlabelled_,
            "rows": self.rows_,
            "remarks": self.remarks_,
        }

    def _restore(self, saved: SavedLogistic) -> None:
        design = None if saved.design.is_plain else saved.design
        of_file = saved.layout, saved.format, saved.dtype, design
        self.reader_ = LogisticReader(*of_file, single=saved.single_precision)
        centred = CentredDesign(saved.design, saved.layout, saved.mean, saved.scale, saved.complete)
        of_rows = centred, saved.classes, saved.coefficients, saved.has_intercept
        self.model_ = LogisticModel(*of_rows, saved.root)
        self._loss_history = saved.loss_history
        found = saved.likelihood
        self.likelihood_ = None if found is None else build(Likelihood, found)
        self.n_iter_, self.n_passes_, self.remarks_ = saved.n_iter, saved.n_passes, saved.remarks
        self.left_out_, self.unlabelled_, self.rows_ = saved.left_out, saved.unlabelled, saved.rows
        costs_of(self, self.costs)


def in_single(classifier: FittedLogistic, X: Any, answers: NDArray[Any]) -> NDArray[Any]:
    """Return answers in single precision where the solver keeps that of the rows."""
    found = in_precision(classifier.reader_, X, answers)
    return found if classifier.single_precision_ else answers
