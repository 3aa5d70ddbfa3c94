"""Families of the columns of a mixed table, by their kinds; and weights of columns on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import SPARSE, Column, Numbered, UniformColumns
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine, engine_for
from suffice.errors import ParameterError, warn
from suffice.families import Family, family_named
from suffice.families.options import (
    Estimation,
    Evidence,
    Numbers,
    Unseen,
    check_boolean,
    check_smoothing,
)
from suffice.models.base.answers import label_sets
from suffice.models.base.unseen_values import warn_of_unseen
from suffice.models.estimator import fitted
from suffice.models.generative.calibration import Calibration
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.described import alpha_evidence
from suffice.models.generative.method import Choice, GenerativeMethod, Rows
from suffice.models.generative.part import FAMILY_OF_KIND, parts_of, whole
from suffice.models.generative.weights import calibrate as with_weights_of
from suffice.numerics.dirichlet_evidence import AlphaEvidence
from suffice.numerics.in_print import listed
from suffice.rules import check_options

CHOOSE_ALPHA = ("bernoulli", "categorical", "multinomial")  # by the evidence
READING = ("families", "numbers", "estimation", "alpha", "unseen")  # options of a layout and sums
MANY = 100  # columns of a sparse matrix, which take their time one by one

C = TypeVar("C", bound=GenerativeClassifier)


@dataclass(frozen=True, eq=False, kw_only=True)
class NaiveMethod(GenerativeMethod):
    """Every column in a family of its own, with weights of columns; see `suffice.NaiveBayes`."""

    given: Any  # families, as the user names them
    numbers: Numbers  # the family of columns of real numbers
    estimation: Estimation
    alpha: float | Evidence
    unseen: Unseen

    @classmethod
    def of(cls, estimator: Any, numbers: Numbers | None, **more: Any) -> Self:
        """Read the options of an estimator; ``more`` are fields."""
        # Here too, as there may be no column of a family that has the option.
        check_options(estimator)
        check_smoothing(estimator.estimation, estimator.alpha)
        given, calibration = estimator.families, estimator.calibration
        numbers = numbers or ("density" if estimator.estimation == "bayes" else "gaussian")
        families = [numbers, *(given.values() if isinstance(given, Mapping) else [given])]
        names = [one.name if isinstance(one, Family) else one for one in families]
        return cls(
            given=given,
            numbers=numbers,
            estimation=estimator.estimation,
            alpha=estimator.alpha,
            unseen=estimator.unseen,
            prior=estimator.class_prior,
            class_weight=estimator.class_weight,
            lenient=estimator.unseen != "error",
            calibration=calibration,
            # Weights of columns, and densities, are judged by rows.
            samples=calibration != "none" or "density" in names,
            **more,
        )

    def columns(self, rows: Rows, engine: Engine) -> Choice:
        columns = rows.columns()
        usual = FAMILY_OF_KIND | {"real": self.numbers}
        if isinstance(columns, UniformColumns) and not isinstance(self.given, Mapping):
            if self.given is None and columns.reason == SPARSE and len(columns) >= MANY:
                warn(
                    f"{len(columns):,} columns of a sparse matrix hold numbers, and each is "
                    "modelled on its own; families='multinomial' takes them for weights of "
                    "words, in less time."
                )
            return columns, whole(self._family(self.given or usual[columns.kind]), columns)
        groups = [] if self.given is None else self._groups(columns)
        chosen = {name for names, _ in groups for name in names}
        # An array was chosen column by column, and an only column is what there is to learn from.
        if isinstance(rows, TableSource):
            named = rows.named
        else:
            named = not isinstance(rows.names, Numbered)
        identifiers = "ignore" if named and len(columns) > 1 else "keep"
        # An unknown kind has no family: no row showed a value yet.
        others = [c for c in columns if c.name not in chosen and c.kind in usual]
        kinds = dict.fromkeys(map(attrgetter("kind"), others))
        families = {kind: self._family(usual[kind], identifiers) for kind in kinds}
        groups += [((c.name,), families[c.kind]) for c in others]
        return columns, parts_of(groups, {column.name: column for column in columns})

    def is_given(self, column: str) -> bool:
        if not isinstance(self.given, Mapping):
            return self.given is not None
        keys = self.given
        return any(column == key or (not isinstance(key, str) and column in key) for key in keys)

    def _groups(self, columns: Sequence[Column]) -> list[tuple[tuple[str, ...], Family]]:
        """The columns that the user chose a family for."""
        if not isinstance(self.given, Mapping):
            family = self._family(self.given)
            if family.joint:
                return [(tuple(column.name for column in columns), family)]
            return [((column.name,), family) for column in columns]
        names = [column.name for column in columns]
        groups: list[tuple[tuple[str, ...], Family]] = []
        chosen: set[str] = set()
        for key, family in self.given.items():
            group = tuple(key) if isinstance(key, tuple | list) else (key,)
            for name in group:
                if name not in names:
                    raise ParameterError(
                        f"families names the column {name!r}",
                        f"the columns are {listed(map(repr, names))}",
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


# -- members of the classifiers whose columns have weights


def calibration_of(self: GenerativeClassifier) -> Calibration | None:
    """The weights of the columns, and what they are worth; None without them."""
    return self.model_.calibration


def alpha_evidence_of(self: GenerativeClassifier) -> AlphaEvidence | None:
    """Return the values tried for α, and the log evidence of each; None where α was given."""
    return alpha_evidence(fitted(self))


def calibrate(
    self: C, X: Any, y: Any = None, sample_weight: Any = None, *, learnt: bool = True
) -> C:
    """Refit the column weights to rows of a table; the sums stay.

    Parameters
    ----------
    X, y, sample_weight
        As `fit` takes them.
    learnt : bool
        Whether these rows are training data; each is then taken out of the sums before
        it is asked about.

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
    method = _weighing(self)
    check_boolean(learnt=learnt)
    model, rows = fitted(self), self._open_more(X, y, sample_weight)
    warn_of_unseen(model.known_values, rows, self.reader_.layout)
    found = method.sample(self.reader_, rows, engine_for(rows))
    self.model_ = with_weights_of(model, self.statistic_, found, method.calibration, learnt)
    return self


def predict_set(
    self: C, X: Any, *, coverage: float = 0.9, allow_empty: bool = True
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
    _weighing(self)
    calibration = self.model_.calibration
    assert calibration is not None  # such a model has one
    return label_sets(self.predict_proba(X), calibration.label_doubts, coverage, allow_empty)


def _weighing(classifier: GenerativeClassifier) -> GenerativeMethod:
    """Return the method of a fitted classifier; refuse one whose columns have no weights."""
    method = classifier.method()
    if method.calibration == "none":
        raise ParameterError(
            "calibration='none'",
            "this rests on rows that weights of columns are learnt from",
            "set calibration='weights'",
        )
    fitted(classifier)
    return method
