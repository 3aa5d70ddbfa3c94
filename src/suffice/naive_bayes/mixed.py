"""Naive Bayes on a mixed table: every column has the family that its kind suggests."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

from suffice.families.options import Estimation, Evidence, Numbers, Unseen
from suffice.models.base.checks import ClassWeight
from suffice.models.generative.calibration import CalibrationName
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.method import GenerativeMethod
from suffice.models.generative.model import Prior
from suffice.naive_bayes.families import (
    READING,
    NaiveMethod,
    alpha_evidence_of,
    calibrate,
    calibration_of,
    predict_set,
)


@dataclass(repr=False, eq=False)
class NaiveBayes(GenerativeClassifier):
    """Naive Bayes on a raw table: mixed columns, missing cells, unseen values, strings.

    ::

        log P(c | x) = log P(c) + Σ_j log p(x_j | c) − log Σ_c' P(c') Π_j p(x_j | c')

    This is the textbook's rule, `NaiveBayes.textbook`. By default columns have weights besides,
    as columns that repeat others make the rule too sure:

    ::

        log P(c | x) = log P(c) + Σ_j w_j log p(x_j | c) + const,   w_j ≥ 0

    A missing cell drops out of the sum, at fit and at prediction. Every column is modelled by
    the family that its kind suggests (`suffice.data.schema`): real numbers by the distribution that
    tells the class best, booleans, and numbers that are 0 and 1 alone, by a Bernoulli, categories
    by a categorical, text by a multinomial. Integers are numbers, unless ``families`` says that
    they are codes. A column of unknown kind, text without a value, is left out. So is, with a
    warning, a column of a table that shows another category in every row, or numbers that count the
    rows (20 rows at least), unless ``families`` names it: it is an identifier. An array of 100
    columns or more, dense or sparse, whose cells are whole numbers and in the first rows nine times
    out of ten 0, holds counts of words: all columns are one multinomial.

    If more than half of the values of a column of rows to be answered were never seen in training,
    a warning names the column, its share, and a known value that may be meant. At most 4,096 rows
    are looked at, and columns with 5 values or more among them; by `explain`, with one.

    Parameters
    ----------
    families : family, or mapping from a column (or a tuple of columns) to a family, optional
        Overrides, by name (``"poisson"``) or as an object (``Poisson(alpha=2)``). A single family
        models every column; a joint distribution, all of them together. A tuple of columns forms
        one multinomial or one joint distribution (``{("shape", "color"): "joint_table"}``).
    numbers : {"density", "gaussian"}, optional
        The family of columns of real numbers. With ``"density"`` each has the histogram or kernel
        density that tells its class best: see `suffice.families.Density`. Default: density under
        ``"bayes"``, and Gaussians under other estimations.
    estimation : {"bayes", "mle", "map"}
        Posterior predictive, maximum likelihood, or posterior mode, for families given by name.
        Under ``"mle"`` the moments choose the smallest variance of a Gaussian, as `GaussianNB` has
        it with ``var_smoothing="loo"``; ``families=Gaussian("mle", ddof=1)`` says more.
    alpha : float or "evidence"
        Pseudo-count of every category, outcome and word: 1 is Laplace's rule. Or the one of
        greatest evidence, for each column or text: see
        ``alpha_evidence_``. Families of no categories, outcomes or words have 1 then.
    class_prior : {"empirical", "smoothed", "uniform"}, mapping or sequence
        P(c): relative frequencies, the same after one more row of every class (Laplace's rule),
        equal, or as given.
    class_weight : mapping of label to float, or "balanced", optional
        P(c) ∝ f_c N_c: how often the rows of a class count there, and only there; "balanced"
        makes all classes that have rows equally likely.
    unseen : {"ignore", "error", "smooth"}
        A value at prediction that no training row showed: a category that is left out like a
        missing cell, refused, or given the probability of one more category; in a column of
        booleans, which has no room for more, left out or refused.
    calibration : {"weights", "temperature", "none"}
        How much of what columns say is counted: a share of each column; a share, one for all
        columns; or all. The shares w are fitted to at most 4,096 rows, each taken out of the
        sums before it is asked about. See ``calibration_`` and `calibrate`. Unless it is "none" and
        numbers are Gaussian, weights of rows are relative: sums are divided by ``row_weight_``,
        what one row weighs, before anything is estimated. Where columns tell rows apart, equal rows
        are copies of one row, and leave together; a file holds no rows, so a model that was loaded
        takes for new rows what it learns again.
    costs : array (k, k), optional
        ``costs[i][j]`` is the cost of answering label j where i is true, labels sorted. The label
        answered is the one of least expected cost; by default the most probable.

    Attributes
    ----------
    classes_ : ndarray (k,)
        The labels, sorted.
    class_prior_, class_count_ : ndarray (k,)
        P(c), and the weight of the training rows of each class.
    schema_ : Schema
        Every column with its kind and family, and why; it prints as a table.
    calibration_ : Calibration or None
        The weights of the columns: `suffice.bayes.column_weights` prints them by name.
    n_parameters_ : int
        Free parameters.
    n_features_in_, feature_names_in_ : int, ndarray (d,)
        The columns of the first table.
    target_names_ : tuple of str
        The column of the labels, where it has a name.
    statistic_ : ByClass
        Exact sums over the training rows: all that is kept of them.
    sums_ : GroupedSums
        The same with its table, to add, compare and save.
    alpha_evidence_ : AlphaEvidence or None
        With ``alpha="evidence"``, the pseudo-counts that were tried.

    See Also
    --------
    suffice.bayes.column_information : Bits that every column tells of the class.
    suffice.report : A page of the model that answers in a browser.
    suffice.read_csv : Options for delimited text.
    suffice.read_table : Strings that stand for missing cells, and new names of labels.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({
    ...     "size": [1.0, 1.2, None, 5.0, 5.5, 4.8],
    ...     "color": ["red", None, "red", "blue", "blue", "red"],
    ...     "kind": ["apple", "apple", "apple", "plum", "plum", "plum"],
    ... })
    >>> model = NaiveBayes().fit(table, "kind")
    >>> model.predict(pa.table({"size": [1.1, None], "color": ["green", "blue"]}))
    array(['apple', 'plum'], dtype='<U5')
    >>> model.schema_
    column  kind      family          why
    size    real      kernel_density  numbers
    color   category  categorical     2 distinct strings
    >>> model.explain({"color": "blue"})
    Row 1: plum, with probability 76.8 % (95 % interval: 11.5 % to 99.6 %)
           value    log-odds of plum against apple  odds
    prior                                     0.00  even
    color  blue                              +1.20  3.31 to 1 for
    size   missing                            0.00  even
    sum                                      +1.20  3.31 to 1 for
    """

    kind = replace(
        GenerativeClassifier.kind, tags=("sparse", "categorical", "string"), reading=READING
    )

    families: Any = None
    _: KW_ONLY
    numbers: Numbers | None = None
    estimation: Estimation = "bayes"
    alpha: float | Evidence = 1.0
    class_prior: Prior = "empirical"
    class_weight: ClassWeight = None
    unseen: Unseen = "ignore"
    calibration: CalibrationName = "weights"
    costs: Any = None

    @classmethod
    def textbook(cls, families: Any = None, **options: Any) -> Self:
        """Naive Bayes as books have it: numbers are Gaussian, and every column counts once.

        ::

            log P(c | x) = log P(c) + Σ_j log p(x_j | c) + const

        It is the model with ``numbers="gaussian"`` and ``calibration="none"``, unless ``options``
        say other. All of it follows from the sums: the cheapest model to fit, and exact under
        `merge` and `forget`.

        Examples
        --------
        >>> NaiveBayes.textbook(class_prior="uniform")
        NaiveBayes(calibration='none', class_prior='uniform', numbers='gaussian')
        """
        return cls(families, **{"numbers": "gaussian", "calibration": "none"} | options)

    def method(self) -> GenerativeMethod:
        return NaiveMethod.of(self, self.numbers)

    calibration_ = property(calibration_of)
    alpha_evidence_ = property(alpha_evidence_of)
    calibrate = calibrate
    predict_set = predict_set
