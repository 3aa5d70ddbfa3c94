"""Logistic regression under scikit-learn's name: fitted by passes over the rows, with inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np

from suffice.data.array_source import ArraySource
from suffice.data.source import Source
from suffice.data.table_source import TableSource
from suffice.engines.engine import fit_context
from suffice.errors import ParameterError
from suffice.models.base.checks import ClassWeight, require_weights
from suffice.models.base.options import Dependent, Unseen
from suffice.models.base.scikit_learn import accepts
from suffice.models.classifier import open_labelled, warn_of_unlabelled
from suffice.models.design.feature_columns import named_columns, predictors
from suffice.models.design.words import Ways
from suffice.models.logistic.fitted import FittedLogistic
from suffice.models.logistic.inference import LikelihoodRatio
from suffice.models.logistic.model import LogisticModel
from suffice.models.logistic.options import (
    Missing,
    Numbers,
    Penalty,
    check_options,
    l1_ratio,
    warn_of_unused,
)
from suffice.models.logistic.problem import Problem
from suffice.models.logistic.reader import Cutting, LogisticReader, settled
from suffice.models.logistic.rows import DataLoop
from suffice.models.logistic.saved import SavedLogistic
from suffice.models.logistic.solver import Solver, SolverName
from suffice.models.logistic.term_rows import read_as
from suffice.models.optimise.gradient_descent import PARTS, STEPS, GradientDescent
from suffice.models.reading import engine_for, is_named, settle_columns

__all__ = ["LogisticRegression"]


@dataclass(repr=False, eq=False)
@accepts(dual=False, intercept_scaling=1, random_state=None, verbose=0, n_jobs=None)
class LogisticRegression(FittedLogistic):
    """Logistic regression: class probabilities whose log-ratios are linear in the columns.

    ::

        P(1 | x) = 1/(1 + exp(−b − wᵀx))            P(c | x) ∝ exp(b_c + w_cᵀx)  for k > 2 classes
        minimise  −Σ w log P(y | x) + ((1 − ρ) |w|²/2 + ρ Σ|w_j|)/C

    that is, maximum likelihood for ``C=np.inf`` and otherwise, with ρ = 0, the mode of the
    posterior under a Gaussian prior of variance C. The intercept has no penalty. The rows are read
    once for the means and scales of the columns, then once in every iteration, also from files that
    do not fit in memory. Columns of strings are texts or categories, each value compared with the
    first; dates are seconds.

    Parameters
    ----------
    penalty : {"l2", "firth", None}
        Gaussian prior; that of Jeffreys, for two classes, whose estimates are finite and less
        biased on any data (without C); or none, as C = ∞.
    C : float
        Variance of the prior; ``np.inf`` for maximum likelihood.
    standardize : bool
        Whether the penalty is on coefficients of standardised columns: units do not matter.
    tol : float
        The largest element of the gradient to stop at, as a fraction of that at 0, in units of the
        columns' standard deviations. Newton and L-BFGS also end where rounding leaves no way down.
    fit_intercept : bool
        As in `LinearRegression`; numbers that are cut into bins count as categories.
    class_weight : mapping of label to float, or "balanced", optional
        What the weights of the rows of a class are multiplied by; "balanced": n/(k n_c).
    solver : {"newton", "lbfgs", "gradient", "sgd", "minibatch"}
        Newton's method, after L-BFGS where that is expected to take less time (many classes), and
        L-BFGS alone where its Hessian would have more than 2,000 columns; L-BFGS; or gradient
        descent by all rows, by single rows, or by a few rows at a time, which approach
        the result of the others, know no standard errors, do not look for dependent columns, and
        lay sparse rows out. Other names of scikit-learn stand for one of the first two: the optimum
        is the same.
    max_iter : int
        Most iterations of Newton's method and L-BFGS; with 0, coefficients stay at 0.
    warm_start : bool
        Whether a fit starts from the coefficients of the one before.
    incomplete : {"error", "drop", "indicator"}
        Rows with missing cells: an error that counts the cells by column; only complete rows; or,
        of bins, a term that is 1 where a cell is missing, for each column of which rows of the fit
        lack some. An unknown category counts as missing there.
    categorical : list of str, optional
        Columns of numbers that are categories, as columns of strings are.
    numbers : {"linear", "bins"}
        Whether a number is a term itself, or is cut into bins, an ordered category: a coefficient
        is the step of the log-odds at a cut, so that they may be any function of the number. Cuts
        are where the classes differ (minimum description length), else they make ten bins of about
        the same weight; a first pass counts what they need. Take a finite C.
    text, words, ordered, formula, reference, unseen
        What columns become: as in `LinearRegression`.
    dependent : {"minimum_norm", "error"}
        Columns that are linear combinations of others, or constant beside an intercept, without a
        penalty: of all coefficients that fit as well those of least norm, with a warning that
        names the columns, or an error. They are not looked for where a Hessian would be too large.
    descent : GradientDescent, optional
        Learning rate, size of a batch, number of passes, and the seed of these three.
    costs : array (k, k), optional
        Of answers: see `suffice.NaiveBayes`.
    dual, intercept_scaling, random_state, verbose, n_jobs
        Accepted, without effect: the seed of the order of rows is part of ``descent``.

    Attributes
    ----------
    classes_ : ndarray (k,)
        Labels, sorted.
    coef_, intercept_ : ndarray
        w, (1, p) for two classes, else (k, p), with columns that add up to 0 if ρ = 0; b, (1,) or
        (k,).
    terms_ : tuple of str
    n_iter_ : ndarray (1,)
    likelihood_ : Likelihood or None
        log L, AIC, BIC; None with an L2 penalty and after descent.
    loss_history_, n_passes_, left_out_, unlabelled_, rows_, remarks_
        As in `suffice.models.logistic.fitted.FittedLogistic`.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: columns are centred and scaled inside, so that units and offsets
    change nothing but the coefficients' units, and the default reaches the optimum to ten digits;
    ``tol`` is relative; "liblinear" does not penalise the intercept; separated data, which have no
    maximum of the likelihood, are an error that names the columns; there are standard errors and
    tests. There is no ``partial_fit``: this model is no function of a finite statistic.

    Source: C. M. Bishop, Pattern Recognition and Machine Learning (2006), sections 4.3.2 to 4.3.4;
    D. Firth, Bias reduction of maximum likelihood estimates (1993); G. Heinze and M. Schemper, A
    solution to the problem of separation in logistic regression (2002).

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"]
    >>> model = LogisticRegression(C=np.inf).fit(X, y)
    >>> model.coef_.round(4), model.predict_proba([[1.5]]).round(4)
    (array([[0.9082]]), array([[0.5, 0.5]]))
    >>> LogisticRegression(C=np.inf).fit(X, ["a", "a", "b", "b"])
    Traceback (most recent call last):
        ...
    suffice.errors.DataError: column 'x0' separates the classes completely; the likelihood grows \
with the coefficients for ever; use a penalty (C=1.0) or penalty='firth'.
    """

    penalty: Penalty = "l2"
    _: KW_ONLY
    C: float = 1.0
    l1_ratio: float = 0.0
    standardize: bool = False
    tol: float = 1e-11
    fit_intercept: bool = True
    class_weight: ClassWeight = None
    solver: SolverName = "newton"
    max_iter: int = 1_000
    warm_start: bool = False
    incomplete: Missing = "error"
    categorical: Sequence[str] | None = None
    text: Sequence[str] | None = None
    words: Ways = 256
    numbers: Numbers = "linear"
    ordered: Mapping[str, Sequence[Any]] | None = None
    formula: str | None = None
    reference: Mapping[str, Any] | None = None
    unseen: Unseen = "error"
    dependent: Dependent = "minimum_norm"
    descent: GradientDescent | None = None
    costs: Any = None

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table (n, d)
            A NumPy array or SciPy sparse matrix; a table of pandas, polars, pyarrow or duckdb; a
            dict of columns; a path, glob or list of paths; or what `suffice.read_csv` returns.
        y : array-like (n,) or str
            Labels, or the name of the column that holds them. A row without a label is left out.
        sample_weight : array-like (n,) or str, optional
            Row weights, 0 or more, or the name of their column. A row of weight 2 is the row
            twice.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If a cell breaks a rule (it is named by column and row), or is missing with
            ``incomplete="error"``; if there is only one class; if classes are separated and there
            is no penalty; or if the rows change while they are read.
        ParameterError
            If an option is outside its rule.
        """
        with fit_context(self):
            check_options(self)
            warn_of_unused(self)
            before: LogisticModel | None = getattr(self, "model_", None)
            source, dtype = self._open_first(X, y, sample_weight)
            self.reader_ = replace(self._first_reader(source), label_dtype=dtype)
            problem = self._problem(source)
            require_weights(source, problem.labels)
            start = problem.start(before) if before and self.warm_start else None
            fit = self._solver.minimum(problem.objective, start)
            self._set(problem, fit)
            warn_of_unlabelled(problem.unlabelled)
            self._solver.warn(fit)
            return self

    def likelihood_ratio(
        self, columns: Sequence[str | int], X: Any, y: Any = None, sample_weight: Any = None
    ) -> LikelihoodRatio:
        """Test whether some columns are needed: fit without them, and compare likelihoods.

        Parameters
        ----------
        columns : sequence of str or int
            Names or positions of the columns, or products of a formula, to be tested together.
        X, y, sample_weight
            The rows of the fit.

        Raises
        ------
        SchemaError
            If there is no such column.
        ParameterError
            If the fit has a penalty.
        """
        model = self._inferable()
        if self.penalty == "firth":
            raise ParameterError(
                "penalty='firth'",
                "the test compares likelihoods without a penalty",
                "use C=np.inf",
            )
        design = model.centred.design
        tested = design.places(named_columns(columns, design.groups))
        problem, solver = self._problem(open_labelled(self, X, y, sample_weight)), self._solver
        start = problem.start(model)
        full = solver.minimum(problem.objective, start)
        less = solver.minimum(problem.objective.without(tested), start)
        return LikelihoodRatio(2 * (less.loss - full.loss), full.parameters - less.parameters)

    def _restore(self, saved: SavedLogistic) -> None:
        check_options(self)
        super()._restore(saved)

    def _problem(self, source: Source) -> Problem:
        """What to minimise over the rows of a source; a descent has the same parts everywhere."""
        engine, layout = engine_for(source), self.reader_.layout
        workers = PARTS if self.solver in STEPS else engine.workers
        if isinstance(source, TableSource):
            source = source.read_often(layout)
        parts: Sequence[Any] = source.parts(layout, workers)
        laid_out, design, intercept = None, self.reader_.design, bool(self.fit_intercept)
        if design is not None:
            laid_out = read_as(design, layout)
            parts, layout = laid_out.parts(parts), laid_out.terms_layout
            intercept = intercept and design.allows_intercept
        return Problem(
            data=DataLoop(engine, parts),
            layout=layout,
            laid_out=laid_out,
            intercept=intercept,
            incomplete=self.incomplete,
            class_weight=self.class_weight,
            variance=float(self.C) if self._has_penalty else np.inf,
            standardize=bool(self.standardize),
            firth=self.penalty == "firth",
            l1_ratio=l1_ratio(self),
        )

    @property
    def _solver(self) -> Solver:
        return Solver(self.solver, self.tol, self.max_iter, self.dependent, self.descent)

    # -- reading tables

    def _first_reader(self, source: TableSource | ArraySource) -> LogisticReader:
        """How all tables are read that follow the first."""
        laid_out = self.solver in STEPS
        cutting = Cutting.of(self.incomplete) if self.numbers == "bins" else None
        reader = settled(source, predictors(self), engine_for(source), laid_out, cutting)
        if self.formula is not None and isinstance(source, TableSource):
            settle_columns(self, len(reader.names), reader.names if is_named(self) else None)
        return reader
