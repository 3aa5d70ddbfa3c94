"""Ordinary least squares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from suffice.errors import DataError, ParameterError
from suffice.models.base.options import Dependent, WeightsAre
from suffice.models.base.scikit_learn import accepts
from suffice.models.grouped_sums import GroupedSums
from suffice.models.linear.level_rows import LevelLeastSquares
from suffice.models.linear.method import LinearMethod, Penalty, method_of
from suffice.models.linear.regressor import LinearRegressor
from suffice.models.linear.robust import POWER, ClusterErrors, Robust, clustered, influences, robust
from suffice.models.linear.summary import Summary, target_place
from suffice.models.optimise.gradient_descent import GradientDescent, Steps
from suffice.models.reading import summed
from suffice.sums.comoments import Comoments


@dataclass(repr=False, eq=False, kw_only=True)
@accepts(copy_X=True, tol=1e-6, n_jobs=None)
class LinearRegression(LinearRegressor):
    """Ordinary least squares: b and w that minimise Σ(y − b − xᵀw)².

    Parameters
    ----------
    fit_intercept : bool
        Whether b is estimated; else it is 0, and the first category (or column of true and false)
        has a coefficient for every value. ``0 +`` or ``- 1`` in a formula leaves b out too.
    copy_X, tol, n_jobs
        Accepted, without effect: the input is never written to, and nothing iterates.
    positive : bool
        Allow only w ≥ 0 (Lawson and Hanson's algorithm). There are then no standard errors.
    incomplete : {"error", "drop", "gaussian"}
        Rows with missing cells: an error that counts the cells by column; only complete rows; or
        regression under the joint Gaussian of all columns and targets, fitted by
        expectation-maximisation, with what is expected in the place of missing cells at
        prediction. The last has no standard errors.
    categorical : list of str, optional
        Columns of numbers that are categories, as columns of strings are: each value is compared
        with the smallest.
    text : list of str, optional
        Columns of strings whose words are counted, besides those that read like texts: four words
        a cell on average, and most cells distinct.
    words : int, "counted", "tf-idf" or mapping
        Into how many columns the words of a text are hashed, by a hash that never changes; or that
        each word is counted in a column of its own. Then a word that the first fit did not show is
        refused by `partial_fit`, and left out of predictions. "tf-idf" counts pairs of neighbouring
        words too, and weights counts as scikit-learn's ``TfidfVectorizer`` does. A mapping says
        all: ``words={"ngrams": 2, "weights": "tf-idf", "min_count": 3}``, where words of fewer
        rows than min_count are left out. With these, words of later rows are left out as well.
    ordered : mapping of str to list, optional
        The levels of ordered categories, the lowest first; pandas, polars and Arrow may state them
        too. Each coefficient is the step from one level to the next.
    formula : str, optional
        The terms, as in ``"size * C(year) + I(size**2) + log(rooms)"``, in Wilkinson's notation
        (``pip install 'suffice[formula]'``): products by ``:`` and ``*``; categories by ``C()``;
        abs, exp, floor, log, log1p, sqrt and arithmetic. Other columns are left out. Functions of
        all rows, such as ``center``, ``scale`` and splines, are refused. Before ``~`` may stand the
        targets, joined by ``+``, in place of y; and log, log1p or sqrt of one, which is modelled,
        while predictions, their intervals and evaluations are in units of the target.
    reference : mapping of str to object, optional
        The value that the others of a category are compared with, as in
        ``reference={"island": "Biscoe"}``; default: the smallest.
    unseen : {"error", "reference"}
        A category at prediction that no row of the fit showed, or that is missing: an error (see
        ``unanswerable`` in `predict_batches`), or taken for the reference (of ordered ones: the
        lowest level).
    dependent : {"minimum_norm", "error"}
        Columns that are linear combinations of others: of all w that fit as well the one of least
        norm, with a warning that names the columns, or an error.
    weights_are : {"copies", "precisions"}
        What weights of rows are. Copies (frequency weights): a row of weight 2 is the row twice,
        also for standard errors. Precisions (inverse variances up to a factor, analytic weights, as
        in R's ``lm`` and statsmodels' ``WLS``): errors are estimated from the number of rows, and
        do not depend on the scale of the weights. Coefficients are the same.
    solver : {"normal", "gradient", "sgd", "minibatch"}
        The normal equations; or gradient descent by all rows, by single rows, or by a few rows at
        a time. The last three approach the result of the first, keep no sums, and so know no
        standard errors, learn no further rows, and do not look for dependent columns.
    descent : GradientDescent, optional
        How to descend: learning rate, size of a batch, number of passes, and the seed.
    cluster : str, optional
        A column, no predictor, whose values are clusters of rows that depend on each other: the
        errors of `summary` allow for it. `fit` takes sums by this column, too.
    cluster_errors : {"CR1", "CR3"}
        CR1, as in Stata, and in statsmodels with ``cov_type="cluster"``; or the jackknife, which
        leaves out each cluster in turn, and is more reliable where they are few or uneven. Source:
        J. G. MacKinnon, M. Ø. Nielsen and M. D. Webb, Fast and reliable jackknife and bootstrap
        methods for cluster-robust inference (2023).

    Attributes
    ----------
    coef_ : ndarray (d,), or (t, d) for targets (n, t)
    intercept_ : float, or ndarray (t,)
    rank_ : int
    singular_ : ndarray (min(n, d),)
    n_iter_ : int
        Passes of gradient descent, else 1.
    loss_history_ : ndarray (passes,)
        Loss of all rows after every pass of gradient descent.
    terms_ : tuple of str
        Names of all coefficients, the intercept first.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: rank is decided on columns that are scaled and exactly summed,
    so a column of small scale is not taken for 0, and ``tol`` decides nothing; dependent columns
    are named; missing cells have two ways out; `partial_fit`, `forget` and `merge` give the bits
    of one `fit`.

    Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed. (2013), section 5.3.

    Examples
    --------
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    >>> model.intercept_, model.coef_, model.predict([[10.0]])
    (1.0, array([2.]), array([21.]))
    """

    dependent: Dependent = "minimum_norm"
    weights_are: WeightsAre = "copies"
    solver: Literal["normal"] | Steps = "normal"
    descent: GradientDescent | None = None
    cluster: str | None = None
    cluster_errors: ClusterErrors = "CR1"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        if self.cluster is None:
            return super().fit(X, y, sample_weight)
        given = isinstance(X, GroupedSums)
        sums = X if given else self.sums(X, y, sample_weight, by=self.cluster)
        sums = sums.total(by=self.cluster)
        super().fit(sums.total(), *((y, sample_weight) if given else ()))
        self.clusters_ = sums
        return self

    def method(self) -> LinearMethod:
        return method_of(self, Penalty(0.0))

    def _summary(self, target: str | int | None, level: float) -> Summary:
        fit, j = self._inferable(), target_place(self.design_.targets, target)
        found = Summary.of(fit, self.terms_, self.design_.left, j, level, self._left_out)
        if self.cluster is None:
            return found
        if not hasattr(self, "clusters_"):
            raise ParameterError(
                f"cluster={self.cluster!r}, and the model has no sums by cluster",
                "files of models, and further rows, bring the sums of all rows together",
                "keep sums(X, y, by=cluster), add to them, and fit them",
            )
        sums = self.clusters_.sums
        return clustered(found, self._of_products(fit), sums, j, self.cluster_errors)

    def robust_summary(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        kind: Robust = "HC3",
        target: str | int | None = None,
        level: float = 0.95,
    ) -> Summary:
        """Return the summary with standard errors that hold where rows differ in their variance.

        ::

            V = (XᵀX)⁻¹ (Σ w uᵢ² xᵢxᵢᵀ) (XᵀX)⁻¹
            HC0: u = e    HC1: u = e √(n/(n − p))    HC2: u = e/√(1 − h)    HC3: u = e/(1 − h)

        with residuals e and leverages h. The rows are read once more: these errors are no function
        of the sums. Tests use t with n − p degrees of freedom, F is the robust Wald test that all
        coefficients but the intercept are 0. A row of weight 2 is the row twice; where weights are
        precisions, e and x are multiplied by their roots.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit.
        kind : {"HC3", "HC0", "HC1", "HC2"}
        target : str or int, optional
            Which target; needed if there are several.
        level : float
            Confidence of the intervals.

        Raises
        ------
        DataError
            If these are not as many rows as those of the fit, or with HC2 and HC3 a row decides
            its own fit.
        ParameterError
            If there is no such kind or target.

        Source: J. S. Long and L. H. Ervin, Using heteroscedasticity consistent standard errors in
        the linear regression model (2000), eqs. 3 to 6.

        Examples
        --------
        >>> x, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], [1.0, 2.0, 2.5, 5.0, 3.5]
        >>> model = LinearRegression().fit(x, y)
        >>> model.robust_summary(x, y, kind="HC3").standard_error.round(4)
        array([1.0078, 0.5025])
        """
        if kind not in POWER:
            raise ParameterError(f"kind={kind!r}", f"kind is one of {', '.join(map(repr, POWER))}")
        summary = self.summary(target, level)
        fit = self._inferable()
        if isinstance(fit, LevelLeastSquares):  # whose levels take products, too
            fit = self._of_products(fit)
        model, source = self.model_, self._open_more(X, y, sample_weight)
        layout = self.reader_.layout_of(source)
        j = target_place(self.design_.targets, target)
        asked = replace(model, layout=layout, fit=fit), j, POWER[kind]
        found: Comoments = summed(influences, asked, source, layout)
        learnt = summary.rows if fit.equations.weights.precisions else fit.equations.rows
        if found.rows != learnt:
            raise DataError(
                f"these rows weigh {found.rows:g}, those of the fit {learnt:g}",
                "robust errors are of the rows of the fit",
                "pass the same table",
            )
        return robust(summary, found, kind, fit)
