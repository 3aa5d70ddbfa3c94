"""Naive Bayes on a mixed table: every column has the family that its kind suggests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any, Self

from suffice.data.records import RecordReader
from suffice.data.schema import SPARSE, Column, Layout, UniformColumns
from suffice.errors import ParameterError, warn
from suffice.families import Family, family_named
from suffice.families.options import (
    Estimation,
    Evidence,
    Numbers,
    check_smoothing,
    check_words,
)
from suffice.models.base.class_weights import ClassWeight
from suffice.models.generative.alpha_evidence import alpha_evidence
from suffice.models.generative.calibrated import CalibratedClassifier
from suffice.models.generative.calibration import Method
from suffice.models.generative.class_prior import Prior
from suffice.models.generative.family_columns import FAMILY_OF_KIND, parts_of, whole
from suffice.models.generative.part import FamilyColumns
from suffice.numerics.dirichlet_evidence import AlphaEvidence

__all__ = ["NaiveBayes"]

CHOOSE_ALPHA = ("bernoulli", "categorical", "multinomial")  # by the evidence
MANY = 100  # columns of a sparse matrix, which take their time one by one


@dataclass(repr=False, eq=False)
class NaiveBayes(CalibratedClassifier):
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
        columns; or all. The shares w are learnt from at most 4,096 rows, each taken out of the
        sums before it is asked about. See ``calibration_`` and `calibrate`. Unless it is "none" and
        numbers are Gaussian, weights of rows are relative: sums are divided by ``row_weight_``,
        what one row weighs, before anything is estimated. Where columns tell rows apart, equal rows
        are copies of one row, and leave together; a file holds no rows, so a model that was loaded
        takes for new rows what it learns again.
    costs : array (k, k), optional
        ``costs[i][j]`` is the cost of answering label j where i is true, labels sorted. The label
        answered is the one of least expected cost; by default the most probable.

    See Also
    --------
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
    """

    input_tags = ("sparse", "categorical", "string")

    families: Any = None
    _: KW_ONLY
    numbers: Numbers | None = None
    estimation: Estimation = "bayes"
    alpha: float | Evidence = 1.0
    class_prior: Prior = "empirical"
    class_weight: ClassWeight = None
    unseen: str = "ignore"
    calibration: Method = "weights"
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

    @property
    def alpha_evidence_(self) -> AlphaEvidence | None:
        """What was tried for α, and the log evidence of each; None where α was given."""
        return alpha_evidence(self._fitted())

    def _prior(self) -> Prior:
        return self.class_prior

    def _check_options(self) -> None:
        super()._check_options()
        # Here too, as there may be no column of a family that has the option.
        check_words(numbers=self.numbers or "gaussian", unseen=self.unseen)

    def _layout_to_answer(self) -> Layout:
        return self.layout_ if self.unseen == "error" else self.layout_.answering

    def _record_reader(self) -> RecordReader | None:
        found = super()._record_reader()
        return found if found is None or self.unseen == "error" else self.reader_.answering_records

    def _parts(self, columns: Sequence[Column]) -> tuple[FamilyColumns, ...]:
        check_smoothing(self.estimation, self.alpha)  # whatever the columns are
        usual = FAMILY_OF_KIND | {"real": self._numbers}
        if isinstance(columns, UniformColumns) and not isinstance(self.families, Mapping):
            if self.families is None and columns.reason == SPARSE and len(columns) >= MANY:
                warn(
                    f"{len(columns):,} columns of a sparse matrix hold numbers, and each is "
                    "modelled on its own; families='multinomial' takes them for weights of "
                    "words, in less time."
                )
            return whole(self._family(self.families or usual[columns.kind]), columns)
        groups = self._groups(columns)
        chosen = {name for names, _ in groups for name in names}
        # An array was chosen column by column, and an only column is what there is to learn from.
        looked_for = len(columns) > 1 and self._is_named()
        identifiers = "ignore" if looked_for else "keep"
        # An unknown kind has no family: no row showed a value yet.
        others = [c for c in columns if c.name not in chosen and c.kind in usual]
        kinds = dict.fromkeys(map(attrgetter("kind"), others))
        families = {kind: self._family(usual[kind], identifiers) for kind in kinds}
        groups += [((c.name,), families[c.kind]) for c in others]
        return parts_of(groups, {column.name: column for column in columns})

    @property
    def _numbers(self) -> Numbers:
        return self.numbers or ("density" if self.estimation == "bayes" else "gaussian")

    @property
    def _looks_again(self) -> bool:
        """Whether weights of columns, or densities, whose bins depend on n, are judged by rows."""
        given = self.families.values() if isinstance(self.families, Mapping) else [self.families]
        names = [family.name if isinstance(family, Family) else family for family in given]
        return super()._looks_again or "density" in [self._numbers, *names]

    def _groups(self, columns: Sequence[Column]) -> list[tuple[tuple[str, ...], Family]]:
        """The columns that the user chose a family for."""
        if self.families is None:
            return []
        if not isinstance(self.families, Mapping):
            family = self._family(self.families)
            if family.joint:
                return [(tuple(column.name for column in columns), family)]
            return [((column.name,), family) for column in columns]
        names = [column.name for column in columns]
        groups: list[tuple[tuple[str, ...], Family]] = []
        chosen: set[str] = set()
        for key, family in self.families.items():
            group = tuple(key) if isinstance(key, tuple | list) else (key,)
            for name in group:
                if name not in names:
                    raise ParameterError(
                        f"families names the column {name!r}",
                        f"the columns are {', '.join(map(repr, names))}",
                    )
                if name in chosen:
                    raise ParameterError(
                        f"families names the column {name!r} twice", "a column has one family"
                    )
                chosen.add(name)
            groups.append((group, self._family(family)))
        return groups

    def _family(self, given: Any, identifiers: str = "keep") -> Family:
        if isinstance(given, Family):
            return given
        if not isinstance(given, str):
            raise ParameterError(
                f"families has {given!r}", "a family is a name or an object of suffice.families"
            )
        alpha = 1.0 if isinstance(self.alpha, str) and given not in CHOOSE_ALPHA else self.alpha
        chosen = given == "gaussian" and self.estimation == "mle"
        floor = {"variance_floor": "loo"} if chosen else {}
        return family_named(
            given,
            estimation=self.estimation,
            alpha=alpha,
            unseen=self.unseen,
            identifiers=identifiers,
            **floor,
        )
