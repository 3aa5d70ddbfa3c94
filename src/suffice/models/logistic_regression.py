"""Logistic regression under scikit-learn's name: fitted by passes over the rows, with inference."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from suffice.data.arrays import ArraySource
from suffice.data.schema import Alike, BlockLayout, Column, Layout
from suffice.data.source import Source
from suffice.data.tables import TableSource
from suffice.engines.choice import Choice, engine_of
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError, SchemaError, SufficeWarning
from suffice.models.centring import Centring
from suffice.models.contract import unless_it_fails
from suffice.models.design import INTERCEPT, Design
from suffice.models.evaluation import Evaluation, evaluation
from suffice.models.gradient_descent import PARTS, SINGLE_ROWS, STEPS, GradientDescent, Steps
from suffice.models.inference import Likelihood, LikelihoodRatio, LogisticSummary
from suffice.models.logistic_descent import Stride, fit_by_descent
from suffice.models.logistic_fit import LARGEST_HESSIAN, Fit, Method, Passes, fit, likelihood
from suffice.models.logistic_model import Answer, LogisticModel, answers
from suffice.models.logistic_task import ClassWeight, Missing, Setting, Task
from suffice.models.logistic_words import listed, separated
from suffice.models.model_file import TYPES, portable, unportable
from suffice.models.reading import ReadsTables
from suffice.models.regressor import feature_columns
from suffice.persist import write_model
from suffice.statistics.batch import NO_CLASSES
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["LogisticRegression"]

Penalty = Literal["l2", "firth", "deprecated", None]
OwnSolver = Literal["newton", "lbfgs", "gradient", "sgd", "minibatch"]
Solver = Literal[OwnSolver, "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"]
Dependent = Literal["minimum_norm", "error"]

SECOND_ORDER = ("newton", "liblinear", "newton-cg", "newton-cholesky")


class LogisticRegression(ClassifierMixin, ReadsTables):  # type: ignore[misc]
    """Logistic regression: class probabilities whose log-ratios are linear in the columns.

    ::

        P(1 | x) = 1/(1 + exp(−b − wᵀx))            P(c | x) ∝ exp(b_c + w_cᵀx)  for k > 2 classes

        minimise  −Σ w log P(y | x) + |w|²/(2C)

    that is, maximum likelihood for ``C=np.inf`` and the mode of the posterior under a Gaussian
    prior of variance C otherwise. The intercept has no penalty. The rows are read once for the
    means and spreads of the columns, and once in every iteration; they may be in files that do not
    fit in memory. Columns of strings are categories, each compared with the first of its sorted
    values.

    Parameters
    ----------
    penalty : {"l2", "firth", None}
        Gaussian prior; the prior of Jeffreys, for two classes, whose estimates are finite and
        less biased on any data (then C has no meaning); or none, as C = ∞.
    C : float
        Variance of the prior; ``np.inf`` for maximum likelihood.
    standardize : bool
        Whether the penalty is on coefficients of columns divided by their standard deviations, so
        that units do not matter.
    tol : float
        The largest element of the gradient to stop at, as a share of that at 0, in units of the
        columns' standard deviations; for Newton's method and L-BFGS.
    fit_intercept : bool
        Whether b is estimated; else it is 0.
    class_weight : mapping of label to float, or "balanced", optional
        What the weights of the rows of a class are multiplied by; "balanced": n/(k n_c).
    solver : {"newton", "lbfgs", "gradient", "sgd", "minibatch"}
        Newton's method, or L-BFGS where its Hessian would have more than 2,000 columns; L-BFGS; or
        gradient descent by all rows, by single rows, or by a few rows at a time, which approach
        the result of the others, know no standard errors, and do not look for dependent columns.
        "sgd" and "minibatch" learn further rows (`partial_fit`), step in one thread of this
        process, and lay sparse rows out. The other names of scikit-learn stand for one of the
        first two: the optimum is the same.
    max_iter : int
        Most iterations of Newton's method and L-BFGS.
    warm_start : bool
        Whether a fit starts from the coefficients of the one before.
    missing : {"error", "drop", "gaussian"}
        Missing cells: an error that counts them by column; only complete rows; or what is expected
        of them under a Gaussian of the columns in every class (see the notes).
    dependent : {"minimum_norm", "error"}
        Columns that are linear combinations of others, without a penalty: of all coefficients that
        fit as well those of least norm, with a warning that names the columns, or an error.
    descent : GradientDescent, optional
        How to descend with "gradient", "sgd" and "minibatch": learning rate, momentum, when to
        stop, and the seed.
    threads : int, optional
        Default: ``n_jobs``, or all cores.
    engine : str or Engine, optional
        Where the rows are summed: see `suffice.set_engine`.
    l1_ratio, dual, intercept_scaling, random_state, verbose, n_jobs
        Accepted for compatibility; nothing is random but the order of rows, whose seed is part of
        ``descent``, and no L1 penalty is offered.

    Attributes
    ----------
    classes_ : ndarray (k,)
        Labels, sorted.
    coef_, intercept_ : ndarray
        w, (1, p) for two classes, else (k, p) with columns that add up to 0; b, (1,) or (k,).
    terms_ : tuple of str
        Names of the coefficients, the intercept first.
    n_iter_ : ndarray (1,)
        Iterations, or epochs of gradient descent.
    loss_history_ : ndarray (epochs,)
        Loss of every epoch of gradient descent.
    n_passes_ : int
        How often the rows were read.
    likelihood_ : Likelihood or None
        log L, AIC, BIC and the like; None with an L2 penalty, after gradient descent, and where
        missing cells were modelled.
    remarks_ : tuple of str
        What a user may want to know of the columns.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)
        Only when the columns have names.

    Notes
    -----
    Differences from scikit-learn: columns are centred and scaled inside, so that units and offsets
    change nothing but the coefficients' units, and the default reaches the optimum to ten digits;
    ``tol`` is relative; the "liblinear" solver does not penalise the intercept; separated data,
    which have no maximum of the likelihood, are an error that names the columns, not large
    numbers; there are standard errors and tests. There is no ``partial_fit`` but with "sgd" and
    "minibatch": unlike the other models of this library, this one is no function of a finite
    statistic.

    With ``missing="gaussian"``, x | c ~ N(μ_c, Σ) with one Σ for all classes, for which log-odds
    are linear in x, is fitted by expectation-maximisation to all labelled rows, categories as
    indicators of their terms. A fit then maximises

    ::

        Σ w E[log P(y | x) | x_o, y]

    over what a row shows, x_o, and its class: of complete rows, the usual sum. Where rows do come
    from such Gaussians, and cells are missing at random given x_o and y, the true coefficients
    maximise it in the long run. The expectation is approximated: a row that lacks r cells counts
    as 4r rows with shares of its weight, whose mean and covariance are those that the missing
    cells are expected to have. A prediction is the expected probability

    ::

        P(c | x_o) = Σ_a P(a | x_o) ∫ P(c | x) p(x_m | x_o, a) dx_m

    by quadrature for two classes and for rows with one gap, else by the same approximation, which
    is off by a few thousandths; `decision_function` gives the log-odds of that. There are no
    standard errors, as what is expected in a gap has errors of its own.

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

    def __init__(
        self,
        penalty: Penalty = "l2",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        standardize: bool = False,
        dual: bool = False,
        tol: float = 1e-11,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        random_state: Any = None,
        solver: Solver = "newton",
        max_iter: int = 1_000,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        missing: Missing = "error",
        dependent: Dependent = "minimum_norm",
        descent: GradientDescent | None = None,
        threads: int | None = None,
        engine: Choice = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.missing = missing
        self.dependent = dependent
        self.descent = descent
        self.threads = threads
        self.engine = engine

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : table (n, d)
            A NumPy array or SciPy sparse matrix; anything with ``__arrow_c_stream__`` (pandas,
            polars, pyarrow, duckdb); a path, glob or list of paths (Parquet, Arrow IPC, CSV, TSV);
            or what `suffice.read_csv` returns.
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
            ``missing="error"``; if there is only one class; if classes are separated and there is
            no penalty; or if the rows change while they are read.
        ParameterError
            If an option is outside its rule.
        """
        with unless_it_fails(self):
            self._check_options()
            before: LogisticModel | None = getattr(self, "model_", None)
            source = self._open_new(X, y, sample_weight)
            task = self._setting.task(self._passes(source), NO_CLASSES)
            self.left_out_ = task.left_out
            start = self._start(before, task) if self.warm_start else None
            self.__dict__.pop("stride_", None)
            self._set(task, self._fitted_to(task, start))
            return self

    @available_if(lambda self: self._require_single_rows() is None)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Step after every few of some more rows: one epoch, from where the last ended.

        Only with ``solver="sgd"`` and ``"minibatch"``. The first call settles the centres and
        units of the columns, their categories, and the classes, unless a descent by `fit` did; a
        fit by another solver is forgotten. The learning rate decays from call to call, and a
        penalty is shared among all rows seen so far.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like, optional
            Labels that are still to come, at the first call.

        Raises
        ------
        DataError
            As `fit`, and if a label is new.
        ParameterError
            As `fit`, and with ``class_weight="balanced"``.

        Examples
        --------
        >>> model = LogisticRegression(solver="sgd", C=np.inf)
        >>> for _ in range(50):
        ...     model = model.partial_fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> model.predict([[0.5], [2.5]])
        array([0, 1])
        """
        with unless_it_fails(self):
            self._check_options()
            if self.class_weight == "balanced":
                raise ParameterError(
                    "class_weight='balanced' with partial_fit",
                    "the shares of the classes are known when all rows are",
                    "give the weights by label",
                )
            steps = cast(Steps, self.solver)
            if not hasattr(self, "stride_"):
                declared = Vocabulary.of(() if classes is None else np.unique(classes).tolist())
                passes = self._passes(self._open_new(X, y, sample_weight))
                task = self._setting.task(passes, declared)
                self.stride_ = Stride.start(task.objective)
                self.left_out_, self.n_passes_ = 0.0, 0
            else:
                passes = self._passes(self._open_labelled(X, y, sample_weight))
                task = self._setting.further(passes, self.model_)
            self.stride_ = self.stride_.after(task.objective, task.passes, self._how, steps)
            self._set_model(task, self.stride_.coefficients)
            self.n_iter_ = np.array([len(self.stride_.loss_history)])
            self.n_passes_ += passes.count + 1
            self.left_out_ += task.left_out
            self.likelihood_: Likelihood | None = None
            return self

    def _require_single_rows(self) -> None:
        if self.solver not in SINGLE_ROWS:
            raise ParameterError(
                f"solver={self.solver!r}",
                "this model is no function of a finite statistic",
                "use solver='sgd' or 'minibatch', or fit all rows",
            )

    def _check_options(self) -> None:
        rules = (("penalty", Penalty), ("solver", Solver), ("missing", Missing))
        for name, allowed in (*rules, ("dependent", Dependent)):
            if getattr(self, name) not in get_args(allowed):
                raise ParameterError(
                    f"{name}={getattr(self, name)!r}",
                    f"{name} is one of {', '.join(map(repr, get_args(allowed)))}",
                )
        for name in ("C", "tol", "max_iter"):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (number and value > 0):
                raise ParameterError(f"{name}={value!r}", f"{name} is a number above 0")
        if not isinstance(self.descent, GradientDescent | None):
            raise ParameterError(
                f"descent={self.descent!r}", "descent is a GradientDescent or None"
            )
        for name, value in (("penalty", "firth"), ("dependent", "error")):
            if self.solver in STEPS and getattr(self, name) == value:
                raise ParameterError(
                    f"{name}={value!r} with solver={self.solver!r}",
                    "gradient descent does not offer it",
                    "use solver='newton'",
                )
        if self.solver in SINGLE_ROWS and self.missing == "gaussian":
            raise ParameterError(
                f"missing='gaussian' with solver={self.solver!r}",
                "what is expected of missing cells takes sums over all rows",
                "use solver='newton'",
            )
        if self.l1_ratio not in (0, None):
            raise ParameterError(
                f"l1_ratio={self.l1_ratio!r}", "no L1 penalty is offered", "leave it at 0"
            )
        if isinstance(self.class_weight, str) and self.class_weight != "balanced":
            raise ParameterError(
                f"class_weight={self.class_weight!r}",
                "it is 'balanced', or maps labels to numbers",
            )

    def _engine_for(self, source: object) -> Engine:
        jobs = self.n_jobs if self.n_jobs is not None and self.n_jobs > 0 else None
        home = getattr(getattr(source, "table", None), "engine", None)
        return engine_of(self.engine, self.threads if self.threads is not None else jobs, home)

    @property
    def _how(self) -> GradientDescent:
        return GradientDescent() if self.descent is None else self.descent

    def _passes(self, source: Source) -> Passes:
        """Passes over the rows of a source; a descent has the same parts on any engine."""
        engine = self._engine_for(source)
        workers = PARTS if self.solver in STEPS else engine.workers
        return Passes(engine, source.splits(self.layout_, workers))

    @property
    def _setting(self) -> Setting:
        return Setting(
            self.layout_,
            bool(self.fit_intercept),
            self.missing,
            self.class_weight,
            float(self.C) if self._gaussian_prior else np.inf,
            bool(self.standardize),
            self.penalty == "firth",
        )

    @property
    def _gaussian_prior(self) -> bool:
        return self.penalty in ("l2", "deprecated") and bool(np.isfinite(self.C))

    def _fitted_to(self, task: Task, start: NDArray[np.float64] | None) -> Fit:
        """Descend, and say what is wrong with where that ended."""
        found = self._descended(task, start)
        objective = task.objective
        terms = objective.centring.design.terms
        if found.separation is not None:
            raise separated(found.separation, terms, objective.k)
        if found.dependent and self.dependent == "error":
            raise DataError(
                f"{listed(found.dependent, terms)}: linear combinations of other columns",
                "the coefficients of such columns are not determined",
                "leave columns out, or use dependent='minimum_norm', or a penalty",
            )
        return found

    def _descended(self, task: Task, start: NDArray[np.float64] | None) -> Fit:
        objective = task.objective
        if self.solver in STEPS:
            steps = cast(Steps, self.solver)
            found, self.stride_ = fit_by_descent(objective, task.passes, self._how, steps, start)
            return found
        small = len(objective.basis) * objective.centring.width <= LARGEST_HESSIAN
        if objective.firth and not small:
            raise ParameterError(
                f"penalty='firth' with {objective.centring.width} coefficients",
                f"it needs their Hessian, of at most {LARGEST_HESSIAN:,}",
                "use C=1.0",
            )
        second = objective.firth or (self.solver in SECOND_ORDER and small)
        method: Method = "newton" if second else "lbfgs"
        return fit(objective, task.passes, method, self.tol, self.max_iter, start)

    def _start(self, before: LogisticModel | None, task: Task) -> NDArray[np.float64] | None:
        """The coefficients of an earlier model of the same columns and classes."""
        if before is None or before.centring.design != task.centring.design:
            return None
        same = before.classes == task.objective.seen.classes
        return before.about(task.centring) if same else None

    def _set(self, task: Task, found: Fit) -> None:
        objective = task.objective
        self._set_model(task, found.coefficients, None if task.spread else found.covariance)
        self.n_iter_ = np.array([found.iterations])
        self.n_passes_ = task.passes.count + 1
        known = not (self._gaussian_prior or task.spread or self.solver in STEPS)
        self.likelihood_ = likelihood(objective, found) if known else None
        self._warn(found, task)

    def _set_model(
        self,
        task: Task,
        coefficients: NDArray[np.float64],
        covariance: NDArray[np.float64] | None = None,
    ) -> None:
        centring, classes = task.centring, task.objective.seen.classes
        intercept = bool(self.fit_intercept)
        self.model_ = LogisticModel(
            centring, classes, coefficients, intercept, covariance, task.cells
        )
        constant = np.flatnonzero(centring.scale == 0)
        self.remarks_: tuple[str, ...] = ()
        if len(constant):
            names = listed(constant, centring.design.terms)
            self.remarks_ = (f"{names}: constant, so the coefficient is 0",)

    def _warn(self, found: Fit, task: Task) -> None:
        terms = task.centring.design.terms
        if not found.converged and self.solver in STEPS:
            warnings.warn(
                f"after {found.iterations} epochs the rule for stopping (tol={self._how.tol:g}) is "
                "not met; raise max_iter or tol, or use solver='newton'.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not found.converged:
            warnings.warn(
                f"after {found.iterations} iterations the gradient is {found.slope:.1g} of that at "
                f"0, not tol={self.tol:g}; raise max_iter or tol, or use solver='newton'.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if found.dependent:
            warnings.warn(
                f"{listed(found.dependent, terms)}: linear combinations of other columns. Of all "
                "coefficients that fit as well, those of least norm were taken; "
                "dependent='error' refuses.",
                SufficeWarning,
                stacklevel=4,
            )
        if found.undecided:
            warnings.warn(
                "there are too many columns to rule out that the classes are separated and the "
                "likelihood has no maximum; a penalty (C=1.0) is always safe.",
                SufficeWarning,
                stacklevel=4,
            )

        for remark in task.remarks:
            warnings.warn(remark, SufficeWarning, stacklevel=4)

    # -- what was learnt

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, (k,)."""
        return np.array(self.model_.classes.values)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """w, (1, p) or (k, p)."""
        return np.array(self.model_.coefficients[:, 1:])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """b, (1,) or (k,); 0 where it is not estimated."""
        return np.array(self.model_.intercept)

    @property
    def loss_history_(self) -> NDArray[np.float64]:
        """Loss of every epoch of gradient descent, (epochs,).

        ::

            J = 1/N [−Σ w log P(y | x) + |w|²/(2C)]        N = Σ w

        after an epoch of ``solver="gradient"``; for the others the mean over the rows of the
        epoch, each before the step that it leads to.
        """
        check_is_fitted(self)
        if not hasattr(self, "stride_"):
            raise AttributeError("there is a loss_history_ after gradient descent only.")
        return np.array(self.stride_.loss_history)

    @property
    def terms_(self) -> tuple[str, ...]:
        """Names of all coefficients, the intercept first if there is one."""
        first = (INTERCEPT,) if self.model_.has_intercept else ()
        return (*first, *self.model_.centring.design.terms)

    @property
    def schema_(self) -> Sequence[Column]:
        """What each column is, and why."""
        columns: Sequence[Column] = self.layout_.columns
        return columns

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
        suffice.models.inference.LogisticSummary : For the formulas, and an example.
        """
        found = self._summary(level, reference)
        return found.frame() if as_frame else found

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
            np.sqrt(np.diagonal(covariance)).reshape(estimate.shape),
            level,
            self.likelihood_,
            self.penalty == "firth",
        )

    def covariance(self, reference: Any = None) -> NDArray[np.float64]:
        """Return I⁻¹, the covariance matrix of the estimates of `summary`, row after row."""
        first = self._summary(0.95, reference).reference
        model = self._fitted()
        return model.against(model.classes.values.index(first))[1]

    def likelihood_ratio(
        self, columns: Sequence[str | int], X: Any, y: Any = None, sample_weight: Any = None
    ) -> LikelihoodRatio:
        """Test whether some columns are needed: fit without them, and compare likelihoods.

        Parameters
        ----------
        columns : sequence of str or int
            Names or positions of the columns to be tested together.
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
                "penalty='firth'", "the test compares likelihoods without a penalty", "use C=np.inf"
            )
        design, names = model.centring.design, self.layout_.names
        chosen = [names[c] if isinstance(c, int) and c < len(names) else c for c in columns]
        for name in chosen:
            if name not in set(names):
                raise SchemaError(
                    f"there is no column {name!r}",
                    f"the model has {', '.join(map(repr, names[:20]))}",
                )
        passes = self._passes(self._open_labelled(X, y, sample_weight))
        task = self._setting.task(passes, NO_CLASSES)
        start = self._start(model, task)
        smaller = task.objective.without(design.places([str(name) for name in chosen]))
        full = self._fitted_to(task, start)
        less = self._fitted_to(replace(task, objective=smaller), start)
        count = full.parameters - less.parameters
        return LikelihoodRatio(2 * (less.loss - full.loss), count)

    def _inferable(self) -> LogisticModel:
        model = self._fitted()
        if model.covariance is None:
            raise self._no_covariance()
        return model

    def _no_covariance(self) -> ParameterError:
        if self._gaussian_prior:
            return ParameterError(
                f"C={self.C!r}",
                "a penalised estimate has no standard error",
                "use C=np.inf or penalty='firth'",
            )
        if hasattr(self, "stride_"):
            return ParameterError(
                "the fit was by descent",
                "gradient descent knows no second derivatives",
                "use solver='newton'",
            )
        if self.missing == "gaussian":
            return ParameterError(
                "rows have missing cells and missing='gaussian'",
                "what was expected in their place has errors of its own",
                "use missing='drop'",
            )
        return ParameterError(
            f"{len(self.terms_)} coefficients",
            "their covariance matrix was not computed",
            "use fewer columns",
        )

    # -- predicting

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return b + wᵀx of every row, (n,) for two classes, else (n, k)."""
        t = self._answers(X, LogisticModel.scores)
        return t[:, 0] if t.shape[1] == 1 else t

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k)."""
        return self._answers(X, LogisticModel.log_posterior)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""
        return self._answers(X, LogisticModel.posterior)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of every row, (n,)."""
        codes = self._answers(X, LogisticModel.best)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose label is predicted."""
        return self.evaluate(X, y, sample_weight).accuracy

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Evaluation:
        """Return accuracy, log loss, Brier score and the confusion table of labelled rows.

        Its log-likelihood is that of the labels given the columns.

        Raises
        ------
        DataError
            If a label was never seen in training, or no row has a label.
        """
        model: Any = self._fitted()
        source = self._open_labelled(X, y, sample_weight)
        engine = self._engine_for(source)
        result = engine.run(evaluation, model, source.splits(self.layout_, engine.workers))
        if not result.weight:
            raise DataError(
                "there is no labelled row whose weight is not zero",
                "an evaluation needs at least one",
                "check the label column and the weights",
            )
        return result

    def _fitted(self) -> LogisticModel:
        check_is_fitted(self)
        model: LogisticModel = self.model_
        return model

    def _answers(self, X: Any, answer: Answer) -> NDArray[Any]:
        """Answer for every row, in order."""
        model, source = self._fitted(), self._open_classes(X)
        engine = self._engine_for(source)
        splits = source.splits(self.layout_, engine.workers)
        parts = engine.map(answers, (model, answer), splits)
        return np.concatenate([rows for split in parts for rows in split])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "gaussian"
        return tags

    # -- keeping

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that `suffice.load` reads; nothing in it is executed.

        The file holds the parameters: a loaded model predicts and explains, and a new fit starts
        from the rows.

        Raises
        ------
        ModelFileError
            If the file cannot be written. A file that was there before is left as it was.
        """
        model, likelihood = self._fitted(), self.likelihood_
        content = {
            "params": portable(self.get_params(deep=False)),
            "design": model.centring.design,
            "layout": self.layout_,
            "mean": model.centring.mean,
            "scale": model.centring.scale,
            "complete": model.centring.complete,
            "classes": model.classes,
            "coefficients": model.coefficients,
            "has_intercept": model.has_intercept,
            "covariance": model.covariance,
            "cells": model.cells,
            "stride": getattr(self, "stride_", None),
            "likelihood": None if likelihood is None else vars(likelihood),
            "n_iter": self.n_iter_,
            "n_passes": self.n_passes_,
            "left_out": self.left_out_,
            "remarks": self.remarks_,
            "named": hasattr(self, "feature_names_in_"),
            "format": self.format_,
        }
        write_model(path, type(self).__name__, content, types=TYPES)

    @classmethod
    def restored(cls, content: dict[str, Any]) -> Self:
        """Rebuild a model from what `save` wrote."""
        model = cls(**unportable(content["params"]))
        model.layout_, model.format_ = content["layout"], content["format"]
        names = ("design", "layout", "mean", "scale", "complete")
        centring = Centring(*(content[name] for name in names))
        model.model_ = LogisticModel(
            centring,
            content["classes"],
            content["coefficients"],
            content["has_intercept"],
            content["covariance"],
            content["cells"],
        )
        if content["stride"] is not None:
            model.stride_ = content["stride"]
        found = content["likelihood"]
        model.likelihood_ = None if found is None else Likelihood(**found)
        model.n_iter_, model.n_passes_ = content["n_iter"], content["n_passes"]
        model.left_out_, model.remarks_ = content["left_out"], tuple(content["remarks"])
        columns = tuple(model.layout_.names)
        model.n_features_in_ = len(columns)
        if content["named"]:
            model.feature_names_in_ = np.array(columns, dtype=object)
        return model

    # -- reading tables

    def _blocks(self, source: Source, columns: Sequence[Column]) -> tuple[BlockLayout, ...]:
        """How the columns are read: numbers together, dense or sparse, then categories."""
        if isinstance(source, ArraySource):
            laid_out = self.solver in SINGLE_ROWS or self.missing == "gaussian"
            sparse = issparse(source.x) and not laid_out
            return (BlockLayout("sparse" if sparse else "real", source.names),)
        coded = tuple(c.name for c in columns if c.kind == "category")
        empty = dict.fromkeys(coded, Vocabulary(()))
        return Design(tuple(c.name for c in columns), (), empty).blocks

    def _open_new(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """Open the first table: it settles the columns and how they are read."""
        source = self._open_labelled(X, y, sample_weight, reset=True)
        columns: Sequence[Column]
        if isinstance(source, TableSource):
            columns = feature_columns(source, ())
        else:
            names = cast(ArraySource, source).names
            columns = Alike(names, "number", "real", "as a linear model reads it")
        if not columns:
            raise SchemaError("the table has no column besides the label", "a model needs features")
        self.layout_ = Layout(
            self._blocks(source, columns),
            columns,
            label=source.label,
            weight=source.weight,
            label_stored=source.label_stored(),
            ignored=getattr(getattr(source, "table", None), "ignored", ()),
        )
        return source
