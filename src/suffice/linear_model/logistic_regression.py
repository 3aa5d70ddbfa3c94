"""Logistic regression under scikit-learn's name: fitted by passes over the rows, with inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import fit_context
from suffice.errors import ParameterError, warn
from suffice.models.base.checks import ClassWeight, check_class_weight
from suffice.models.base.options import Dependent, Unseen, framed
from suffice.models.base.scikit_learn import accepts, check_is_fitted
from suffice.models.classifier import Classifier, costs_of, warn_of_unlabelled
from suffice.models.design.matrix import INTERCEPT
from suffice.models.design.remarks import coefficient_tables, measures
from suffice.models.design.words import Ways
from suffice.models.estimator import Kind, answers_by_batch, fitted
from suffice.models.explanation import Asked, Evidence
from suffice.models.linear.diagnostics import Candidate, NestedModels, VarianceInflation
from suffice.models.logistic.first_pass import (
    LogisticReader,
    Missing,
    listed,
    read_once,
    reader_of,
)
from suffice.models.logistic.inference import Likelihood, LogisticSummary, interval_ends
from suffice.models.logistic.minimise import Solver, SolverName, minimise
from suffice.models.logistic.model import LogisticModel, Prediction, of_every_class
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.rows import LARGEST_HESSIAN, CentredDesign
from suffice.models.logistic.saved import SAVED, SavedLogistic
from suffice.models.optimise.gradient_descent import (
    PARTS,
    STEPS,
    GradientDescent,
    check_descent,
)
from suffice.models.reading import in_precision, row_by_name
from suffice.numerics import in_print
from suffice.rules import SMALLEST, Within, build, check_options
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell

Numbers = Literal["linear", "bins"]
Penalty = Literal["l2", "l1", "elasticnet", "firth", "deprecated", None]
ABOVE_0 = Within(SMALLEST, np.inf, "above 0")
NEWTON = "use solver='newton'"
OF_FIT = ("n_passes", "left_out", "unlabelled", "rows", "remarks")


@dataclass(repr=False, eq=False)
@accepts(dual=False, intercept_scaling=1, random_state=None, verbose=0, n_jobs=None)
class LogisticRegression(Classifier):
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
    penalty : {"l2", "l1", "elasticnet", "firth", None}
        Gaussian prior; that of absolute values, or both, as ``l1_ratio`` says; that of Jeffreys,
        for two classes, whose estimates are finite and less biased on any data (without C); or
        none, as C = ∞.
    C : float
        Variance of the prior; ``np.inf`` for maximum likelihood.
    l1_ratio : float
        ρ, the part of the penalty that is of absolute values.
    standardize : bool
        Whether the penalty is on coefficients of standardised columns: units do not matter.
    tol : float
        The largest element of the gradient to stop at, as a fraction of that at 0, in units of the
        columns' standard deviations. Newton and L-BFGS also end where rounding leaves no way down.
        With an L1 penalty, what the conditions of a minimum are missed by: times Σ|w| of these
        coefficients and of the best ones, it bounds how far the loss is above its minimum.
    fit_intercept : bool
        As in `LinearRegression`; numbers that are cut into bins count as categories.
    class_weight : mapping of label to float, or "balanced", optional
        What the weights of the rows of a class are multiplied by; "balanced": n/(k n_c).
    solver : {"newton", "lbfgs", "gradient", "sgd", "minibatch"}
        Newton's method; L-BFGS; or gradient descent by all rows, by single rows, or by a few rows
        at a time, which approach the result of the others, know no standard errors, do not look
        for dependent columns, and lay sparse rows out. Newton's method follows L-BFGS where that
        takes less time, and L-BFGS stands in for it beyond a Hessian of 2,000 columns. With a
        penalty of squares, rows that are fewer than columns, or than 16 of each of many classes,
        are fitted in memory first. Other names of scikit-learn stand for Newton's method or
        L-BFGS: the optimum is the same.
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
    n_passes_ : int
        How often the rows were read.
    likelihood_ : Likelihood or None
        log L, AIC, BIC; None with an L2 penalty and after descent.
    loss_history_ : ndarray (passes,)
        Loss after every pass of gradient descent.
    left_out_, unlabelled_, rows_ : float
        Weights of the rows left out for missing cells, for missing labels, and of those of the fit.
    remarks_ : tuple of str
        About columns, such as constant ones.
    single_precision_ : bool
        Whether the rows of the fit came in single precision. Then ``coef_`` and ``intercept_`` are
        rounded to it, as are predictions of rows that have it.
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
    suffice.errors.DataError: column 'x0' separates the classes; the likelihood grows \
with the coefficients for ever; use a penalty (C=1.0) or penalty='firth'.
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
    _is_sparse = False

    penalty: Penalty = "l2"
    _: KW_ONLY
    C: Annotated[float, ABOVE_0] = 1.0
    l1_ratio: Annotated[float | None, Within(0, 1)] = 0.0
    standardize: bool = False
    tol: Annotated[float, ABOVE_0] = 1e-11
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
            check_logistic(self)
            warn_of_unused(self)
            before: LogisticModel | None = vars(self).get("model_")
            source, label_dtype = self._open_first(X, y, sample_weight)
            self.reader_ = reader = reader_of(self, source, label_dtype)
            workers = PARTS if self.solver in STEPS else None  # a descent has them everywhere
            first = read_once(source, reader, workers, bool(self.fit_intercept), self.incomplete)
            start = first.start(before) if before and self.warm_start else None
            variance, l1_ratio = prior_of(self)
            objective = Objective.of(
                first,
                class_weight=self.class_weight,
                variance=variance,
                l1_ratio=l1_ratio,
                standardize=bool(self.standardize),
                firth=self.penalty == "firth",
            )
            how = self.solver, self.tol, self.max_iter, self.dependent, self.descent
            fit = minimise(objective, start, solver := Solver(*how))
            self._loss_history, self._iterations = fit.loss_history, fit.iterations
            self.likelihood_ = fit.likelihood if np.isinf(variance) else None
            of_rows = first.table, first.seen.classes, fit.coefficients, first.intercept
            self.model_ = LogisticModel(*of_rows, fit.root)
            constant = np.flatnonzero(first.table.scale == 0)
            fact = "constant, so the coefficient is 0"
            named = [f"{listed(constant, first.table.design)}: {fact}"] if len(constant) else []
            self.remarks_, self.n_passes_ = tuple(named), first.data.count
            self.rows_, every = first.seen.rows, first.every
            self.left_out_, self.unlabelled_ = (
                every.rows - self.rows_,
                float(every.unlabelled.value),
            )
            if self.unlabelled_:
                warn_of_unlabelled(self.unlabelled_)
            solver.warn(fit)
            return self

    def anova(self, other: LogisticRegression) -> NestedModels:
        """Test by likelihoods whether the larger of two models fits better than the smaller.

        As `LinearRegression.anova` does by sums of squares. No row is read.
        """
        if not isinstance(other, LogisticRegression):
            raise ParameterError(f"{other!r} is given", "two logistic regressions are compared")
        return NestedModels.of(self._candidate(), other._candidate())

    def _candidate(self) -> Candidate:
        model, of = self._inferable(), self.likelihood_
        if of is None or of.null is None:
            rule = "the test compares likelihoods without a penalty"
            raise ParameterError(f"penalty={self.penalty!r}", rule, "use C=np.inf")
        target = str(self.reader_.layout.label or "the label")
        design, intercept, same = model.centred.design, model.has_intercept, (of.rows, of.null)
        return Candidate(design, intercept, target, "chi2", of.value, of.parameters, of.rows, same)

    # -- what was learnt

    @property
    def n_iter_(self) -> NDArray[np.intp]:
        """Number of iterations, (1,)."""
        check_is_fitted(self)
        return np.array([self._iterations])

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
        return np.asarray(self.model_.intercept, self._precision)

    @property
    def _precision(self) -> type[np.floating[Any]]:
        return np.float32 if self.single_precision_ else np.float64

    @property
    def single_precision_(self) -> bool:
        """Tell if the rows of the fit came in single precision, which "liblinear" does not keep."""
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
                f"there is no class {first!r}",
                f"the classes are {in_print.listed(map(repr, labels))}",
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

    def variance_inflation(self) -> VarianceInflation:
        """Return how much each column's variance grows as it follows from others (VIF, GVIF).

        Of two classes and a fit without an L2 penalty; as `LinearRegression.variance_inflation`.
        """
        model = self._inferable()
        if len(model.classes) != 2:
            fact, rule = f"there are {len(model.classes)} classes", "one equation has variances"
            raise ParameterError(fact, rule, "fit a model to two of them")
        first = int(model.has_intercept)
        covariance, known = self.covariance()[first:, first:], model.estimable[first:]
        return VarianceInflation.of(model.centred.design, covariance, known)

    def covariance(self, reference: Any = None) -> NDArray[np.float64]:
        """Return I⁻¹, the covariance matrix of the estimates of `summary`, row after row."""
        first = self._summary(0.95, reference).reference
        model: LogisticModel = fitted(self)
        return model.against(model.classes.values.index(first))[1]

    def _inferable(self) -> LogisticModel:
        model: LogisticModel = fitted(self)
        if np.isfinite(prior_of(self)[0]):
            raise ParameterError(
                f"C={self.C!r}",
                "a penalised estimate has no standard error",
                "use C=np.inf or penalty='firth'",
            )
        if self._loss_history is not None:
            raise ParameterError(
                "the fit was by descent",
                "gradient descent knows no second derivatives",
                "use solver='newton'",
            )
        if model.root is None:
            raise ParameterError(
                f"{model.coefficients.size} coefficients",
                f"standard errors come from a Hessian, of at most {LARGEST_HESSIAN:,} coefficients",
                "use fewer columns",
            )
        return model

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
        parts = answers_by_batch(self, X, model.contributions, 1)
        return Evidence(
            tuple(model.centred.design.groups),
            model.classes.values,
            of_every_class(model.coefficients[:, 0]),
            np.concatenate(parts),
            "average row",
            Asked(copy(self), X),
        )

    def _interval_ends(self, level: float) -> Any:
        return partial(interval_ends, self._inferable(), level)

    def _complete_rows(self, interval: bool = False) -> Callable[[Batch], NDArray[np.bool_]] | None:
        model: LogisticModel = fitted(self)
        return None if model.centred.is_sparse else model.complete

    def _codes(self, X: Any) -> NDArray[np.intp]:
        return self._predictions(X, LogisticModel.best)

    def _predictions(self, X: Any, answer: Prediction) -> NDArray[Any]:
        model = fitted(self)
        with suppress(BadCell):  # which is found again below, where its column has a name
            row = row_by_name(self, X)
            if row is not None:
                return answer(model, row)
        parts = answers_by_batch(self, X, partial(answer, model))
        # Scores lie class by class; joined along that axis they are copied straight.
        return np.concatenate([rows.T for rows in parts], axis=-1).T

    # -- keeping

    def _kept(self) -> dict[str, Any]:
        costs_of(self, self.costs)  # with others no file could be read
        model, likelihood, dtype = self.model_, self.likelihood_, self.reader_.label_dtype
        of_rows = "design", "mean", "scale", "complete"
        of_model = "classes", "coefficients", "has_intercept", "root"
        return {
            "label_dtype": None if dtype is None else dtype.str,
            **{name: getattr(model.centred, name) for name in of_rows},
            **{name: getattr(model, name) for name in of_model},
            "loss_history": self._loss_history,
            "likelihood": None if likelihood is None else vars(likelihood),
            "n_iter": self.n_iter_,
            **{name: getattr(self, f"{name}_") for name in OF_FIT},
        }

    def _restore(self, saved: SavedLogistic) -> None:
        check_logistic(self)
        design = None if saved.design.is_plain else saved.design
        of_file = saved.layout, saved.format, saved.dtype, design
        self.reader_ = LogisticReader(*of_file, single=saved.single_precision)
        centred = CentredDesign(saved.design, saved.layout, saved.mean, saved.scale, saved.complete)
        of_rows = centred, saved.classes, saved.coefficients, saved.has_intercept
        self.model_ = LogisticModel(*of_rows, saved.root)
        self._loss_history, self._iterations = saved.loss_history, int(saved.n_iter[0])
        found = saved.likelihood
        self.likelihood_ = None if found is None else build(Likelihood, found)
        for name in OF_FIT:
            setattr(self, f"{name}_", getattr(saved, name))
        costs_of(self, self.costs)


def in_single(classifier: LogisticRegression, X: Any, answers: NDArray[Any]) -> NDArray[Any]:
    """Return answers in single precision where the solver keeps that of the rows."""
    found = in_precision(classifier.reader_, X, answers)
    return found if classifier.single_precision_ else answers


# -- options


def check_logistic(options: Any) -> None:
    check_options(options)
    most = options.max_iter
    if not (isinstance(most, Integral) and not isinstance(most, bool) and int(most) >= 0):
        raise ParameterError(f"max_iter={most!r}", "max_iter is a whole number, 0 or more")
    if options.descent is not None or options.solver in STEPS:
        check_descent(options, NEWTON, penalty="firth", dependent="error")
    if options.class_weight is not None:
        check_class_weight(options.class_weight)
    if options.numbers != "bins" and options.incomplete == "indicator":
        raise ParameterError(
            "incomplete='indicator' with numbers as they are",
            "a missing number has a term of its own where numbers are cut into bins",
            "set numbers='bins'",
        )
    if options.numbers == "bins" and options.formula is not None:
        raise ParameterError(
            "numbers='bins' with a formula",
            "a formula says what becomes of every number",
            "leave one of them out",
        )
    if options.penalty == "elasticnet" and options.l1_ratio is None:
        raise ParameterError(
            "l1_ratio must be specified when penalty is elasticnet",
            "it is the part of the penalty that is of absolute values",
            "give a number from 0 to 1",
        )
    if prior_of(options)[1] and options.solver in STEPS:
        raise ParameterError(
            f"l1_ratio={options.l1_ratio!r} with solver={options.solver!r}",
            "small steps make no coefficient 0",
            NEWTON,
        )


def prior_of(options: Any) -> tuple[float, float]:
    """The variance of the prior, ∞ for none, and the part of the penalty of absolute values.

    Examples
    --------
    >>> from suffice.linear_model import LogisticRegression
    >>> [prior_of(LogisticRegression(p, l1_ratio=0.5)) for p in ("l2", "l1", "firth")]
    [(1.0, 0.5), (1.0, 1.0), (inf, 0.0)]
    """
    if options.penalty in (None, "firth"):
        return np.inf, 0.0
    return float(options.C), 1.0 if options.penalty == "l1" else float(options.l1_ratio or 0.0)


def warn_of_unused(options: Any) -> None:
    """Say which options have no effect beside the penalty."""
    ratio, c = options.l1_ratio, options.C
    if options.penalty is None and c not in (1.0, np.inf):
        name, none = f"C={c:g}", "penalty=None"
        warn(f"Setting {none} will ignore the C and l1_ratio parameters: {name}.")
    if options.penalty in ("l1", None, "firth") and ratio is not None and 0 < ratio < 1:
        got = f"penalty={options.penalty!s}"
        rule = "l1_ratio parameter is only used when penalty is 'elasticnet'. Got ("
        warn(f"{rule}{got})")
