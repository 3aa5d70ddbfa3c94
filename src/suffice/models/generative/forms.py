"""Forms: the log-ratios of the classes as linear or quadratic functions of features φ(x).

::

    log P(a | x) − log P(b | x) = δ_a(x) − δ_b(x)

The discriminant functions δ_c are log P(x, c) up to a term that all classes share, which is left
out. A form describes complete rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.python_cells import faithful
from suffice.errors import DataError, ParameterError
from suffice.families.family import Form
from suffice.models.base.checks import require_place
from suffice.models.estimator import answers_by_batch
from suffice.models.generative.model import GenerativeModel, generative
from suffice.numerics.logspace import row_sums
from suffice.numerics.rows import is_sparse, linear
from suffice.sums.batch import Batch
from suffice.sums.block import in_block

if TYPE_CHECKING:
    from scipy.sparse import csr_array

COEFFICIENTS = "fit one of them; a linear model has its form in coef_ and intercept_"


@dataclass(frozen=True, eq=False, kw_only=True)
class _Form(ABC):
    """The base of linear and quadratic forms."""

    classes: tuple[Any, ...]
    features: tuple[Any, ...]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    reference: Any = None

    by_class: ClassVar[tuple[str, ...]] = ("weights", "intercepts")  # what δ_a − δ_b subtracts

    @abstractmethod
    def _values(self, phi: Any) -> NDArray[np.float64]: ...

    def values(self, phi: Any) -> NDArray[np.float64]:
        """Return δ_c of every row, (n, k).

        Parameters
        ----------
        phi : ndarray or sparse array (n, F)
            φ, as `form_features` returns it.

        Raises
        ------
        ParameterError
            If φ has not F columns.
        DataError
            If a feature is missing or infinite.
        """
        phi = phi.tocsr() if hasattr(phi, "tocsr") else np.asarray(phi, np.float64)
        if phi.ndim != 2 or phi.shape[1] != len(self.features):
            raise ParameterError(
                f"the features have the shape {phi.shape}",
                f"the form has {len(self.features)} features, one for every column",
                "take them from form_features",
            )
        with np.errstate(invalid="ignore"):
            values = self._values(phi)
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if len(bad):
            raise DataError(
                f"row {bad[0]} has a feature that is missing or infinite",
                "a form describes complete rows",
                "leave the row out",
            )
        return values

    def decide(self, phi: Any) -> NDArray[Any]:
        """Return the label whose δ_c is largest, of every row, (n,); see `values`."""
        labels = faithful(self.classes, np.array(self.classes))
        chosen: NDArray[Any] = labels[self.values(phi).argmax(axis=1)]
        return chosen

    def against(self, reference: Any) -> Self:
        """Return the same form with δ_reference = 0, so that δ_c = log P(c | x)/P(reference | x).

        Raises
        ------
        ParameterError
            If there is no such class.
        """
        r = require_place(reference, self.classes, "class")
        parts = {name: getattr(self, name) for name in self.by_class}
        return replace(
            self, reference=reference, **{name: part - part[r] for name, part in parts.items()}
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearForm(_Form):
    """Discriminant functions that are linear in the features: δ_c(x) = w_cᵀφ(x) + b_c.

    Parameters
    ----------
    classes : tuple
        The k labels.
    features : tuple
        What the F features are: the name of a column of numbers, counts or outcomes (0 or 1); or
        a pair (column, value), the indicator of a category or the count of a word. Every category
        of a column has its indicator.
    weights : ndarray (k, F)
        w_c.
    intercepts : ndarray (k,)
        b_c; with a uniform prior and without, they differ by log P(c).
    reference : label, optional
        The class whose weights and intercept were taken off, and are 0.

    Source: Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 2nd ed. (2009),
    section 4.2; for Bernoulli and multinomial, Duda, Hart, Stork, Pattern Classification, 2nd ed.
    (2001), section 2.9.

    Examples
    --------
    >>> from suffice.naive_bayes import BernoulliNB
    >>> X, y = [[0, 1], [1, 1], [1, 0], [0, 0]], ["a", "a", "b", "b"]
    >>> model = BernoulliNB().fit(X, y)
    >>> weights, intercept = linear_form(model).pair("a", "b")
    >>> np.exp(weights).round(12), round(float(np.exp(intercept)), 12)
    (array([1., 9.]), 0.333333333333)
    >>> (form_features(model, X) @ weights + intercept > 0) == (model.predict(X) == "a")
    array([ True,  True,  True,  True])
    """

    def pair(self, a: Any, b: Any) -> tuple[NDArray[np.float64], float]:
        """Return w (F,) and b with log P(a | x) − log P(b | x) = wᵀφ(x) + b."""
        form, c = self.against(b), require_place(a, self.classes, "class")
        return form.weights[c], float(form.intercepts[c])

    def _values(self, phi: Any) -> NDArray[np.float64]:
        return _linear(phi, self.weights) + self.intercepts


@dataclass(frozen=True, eq=False, kw_only=True)
class QuadraticForm(_Form):
    """Discriminant functions that are quadratic in the features.

    ::

        δ_c(x) = Σ_f a_cf ψ_f² + w_cᵀψ + b_c,  or  ψᵀA_cψ + w_cᵀψ + b_c,    ψ = φ(x) − origin

    The origin is 0, except in a column of numbers whose mean is more than 64 standard deviations
    from 0: there, squares around 0 would drown what divides the classes.

    Parameters
    ----------
    classes, features, reference
        As in `LinearForm`.
    quadratic : ndarray (k, F), or (k, F, F)
        a_c; or A_c, symmetric, where columns are modelled by a multivariate Gaussian.
    weights : ndarray (k, F)
        w_c.
    intercepts : ndarray (k,)
        b_c.
    origin : ndarray (F,)
        What is taken off the features.

    Source: Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, 2nd ed. (2009),
    eq. 4.12.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit([[-1.0], [1.0], [1.0], [5.0]], ["a", "a", "b", "b"])
    >>> quadratic, weights, intercept = quadratic_form(model).pair("a", "b")
    >>> quadratic, weights, round(intercept, 6)  # log 2 + 9/8
    (array([-0.375]), array([-0.75]), 1.818147)
    """

    quadratic: NDArray[np.float64]
    origin: NDArray[np.float64]

    by_class: ClassVar[tuple[str, ...]] = ("quadratic", "weights", "intercepts")

    def pair(self, a: Any, b: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Return A (F,) or (F, F), w (F,), b of log P(a | x) − log P(b | x), about the origin."""
        form, c = self.against(b), require_place(a, self.classes, "class")
        return form.quadratic[c], form.weights[c], float(form.intercepts[c])

    def _values(self, phi: Any) -> NDArray[np.float64]:
        # Indicators and counts may be sparse and many; only numbers have squares and origins.
        axes = tuple(range(self.quadratic.ndim - 1))
        curved = np.flatnonzero((self.quadratic != 0).any(axis=axes) | (self.origin != 0))
        flat = np.delete(np.arange(len(self.features)), curved)
        psi = phi[:, curved]
        psi = (psi if isinstance(psi, np.ndarray) else psi.toarray()) - self.origin[curved]
        if self.quadratic.ndim == 2:
            squares = linear(psi**2, self.quadratic[:, curved].T)
        else:
            matrices = self.quadratic[:, curved[:, None], curved]
            squares = np.stack([row_sums(linear(psi, A) * psi) for A in matrices], axis=1)
        slopes = linear(psi, self.weights[:, curved].T) + _linear(
            phi[:, flat], self.weights[:, flat]
        )
        return np.asarray(squares + slopes + self.intercepts)


def _linear(phi: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return wᵀφ of rows (n, F), dense or sparse, and weights (k, F)."""
    return linear(phi, weights.T) if isinstance(phi, np.ndarray) else np.asarray(phi @ weights.T)


def linear_form(classifier: Any, reference: Any = None) -> LinearForm:
    """Return weights and intercepts with log P(a | x) − log P(b | x) linear in features φ(x).

    For outcomes, categories, counts and words, and for numbers whose variance the classes
    share: ``Gaussian("mle", shared=True)``.

    Parameters
    ----------
    classifier : GenerativeClassifier
        Fitted, such as a naive Bayes or a discriminant analysis.
    reference : label, optional
        A class to measure the others against: its weights and intercept become 0.

    Raises
    ------
    ParameterError
        If the model has no form, or none that is linear; if an event is impossible; or if there
        is no such class.
    """
    form = quadratic_form(classifier)
    differs = form.quadratic != form.quadratic[:1]
    curved = np.flatnonzero(differs.any(axis=tuple(range(differs.ndim - 1))))
    if len(curved):
        column = column_of(form.features[curved[0]])
        parts: Sequence[Any] = classifier.model_.parts
        family = next(part.family for part in parts if column in part.layout.columns)
        raise ParameterError(
            f"column {column!r}, modelled by {family}, is quadratic",
            "a linear form needs variances that the classes share",
            "use quadratic_form, Gaussian('mle', shared=True), or linear discriminant analysis",
        )
    linear = LinearForm(
        classes=form.classes,
        features=form.features,
        weights=form.weights,
        intercepts=form.intercepts - form.weights @ form.origin,
    )
    return linear if reference is None else linear.against(reference)


def quadratic_form(classifier: Any, reference: Any = None) -> QuadraticForm:
    """Return the log-ratios of classes as quadratic functions of features φ(x).

    As `linear_form`, also for Gaussians whose variances differ from class to class
    (``estimation="mle"`` or ``"map"``).

    Raises
    ------
    ParameterError
        As `linear_form` does.
    """
    model = generative(classifier, COEFFICIENTS)
    forms, names, order = forms_of(model)
    origins = [np.broadcast_to(form.origin, form.linear.shape[1]) for form in forms]
    form = QuadraticForm(
        classes=model.classes.values,
        features=tuple(names[f] for f in order),
        quadratic=_quadratic(forms, order),
        weights=np.concatenate([form.linear for form in forms], axis=1)[:, order],
        intercepts=np.sum([model.log_prior, *(form.constant for form in forms)], axis=0),
        origin=np.concatenate(origins)[order],
    )
    _check_possible(model, form)
    return form if reference is None else form.against(reference)


def _quadratic(forms: Sequence[Form], order: NDArray[np.intp]) -> NDArray[np.float64]:
    """The quadratic parts side by side: (k, F), or (k, F, F) if one of them is of matrices."""
    parts = [form.quadratic for form in forms]
    if all(part.ndim == 2 for part in parts):
        return np.concatenate(parts, axis=1)[:, order]
    whole, first = np.zeros((len(parts[0]), len(order), len(order))), 0
    for part in parts:
        rows = np.arange(first, first + part.shape[1])
        if part.ndim == 3:
            whole[:, rows[:, None], rows] = part
        else:
            whole[:, rows, rows] = part
        first += len(rows)
    return whole[:, order[:, None], order]


def _check_possible(model: GenerativeModel, form: QuadraticForm) -> None:
    """Refuse weights and intercepts without bound."""
    never = np.flatnonzero(model.prior == 0)
    if len(never):
        raise ParameterError(
            f"the class {form.classes[never[0]]!r} has the prior 0",
            "a form needs finite logarithms",
            "fit with class_prior='smoothed'",
        )
    endless = np.argwhere(~np.isfinite(form.weights))
    if len(endless):
        c, f = map(int, endless[0])
        feature = form.features[f]
        event = repr(feature[1]) if isinstance(feature, tuple) else "an outcome"
        raise ParameterError(
            f"column {column_of(feature)!r}: {event} is impossible under the class "
            f"{form.classes[c]!r}",
            "a form needs finite logarithms",
            "smooth it: alpha > 0 with estimation='bayes', or alpha > 1 with 'map'",
        )


def form_features(classifier: Any, X: Any) -> NDArray[np.float64] | csr_array:
    """Return the features φ(x) of `linear_form` and `quadratic_form`, (n, F).

    Numbers and counts as they are, outcomes as 0 and 1, an indicator for every category, a
    count (or an indicator) for every word: sparse where there are categories or words. A
    category that is missing or was never seen has no indicator, and a missing count is 0,
    which says what the model says; any other missing cell is refused.

    Raises
    ------
    ParameterError
        If the model has no form.
    DataError
        If a cell is missing and the form has no place for that.
    """
    model = generative(classifier, COEFFICIENTS)
    *_, order = forms_of(model)
    phi: NDArray[np.float64] | csr_array
    phi = stacked(answers_by_batch(classifier, X, partial(features_of, model, order)))
    return phi


# -- features


def forms_of(model: GenerativeModel) -> tuple[list[Form], list[Any], NDArray[np.intp]]:
    """Return the forms of all parts, the F names of their features, and the order of these (F,).

    A name is that of a column, or a pair (column, value); the order is that of the columns.
    """
    if not model.parts:
        raise ParameterError(
            "no column had a value so far", "a form weighs the values of columns", "learn some rows"
        )
    model.refuse_weights("a form")
    forms: list[Form] = []
    names: list[Any] = []
    for part, parameters in zip(model.parts, model.parameters, strict=True):
        columns, form = part.layout.columns, parameters.form()
        if form is None:
            raise ParameterError(
                f"column {columns[0]!r} is modelled by {part.family}",
                "its log-likelihood is neither linear nor quadratic",
                "fit it with estimation='mle', or choose another family for it",
            )
        forms.append(form)
        names += (
            (columns[feature[0]], feature[1]) if isinstance(feature, tuple) else columns[feature]
            for feature in form.features
        )
    place = {name: j for j, name in enumerate(model.layout.names)}
    return forms, names, np.argsort([place[column_of(name)] for name in names], kind="stable")


def column_of(feature: Any) -> str:
    name: str = feature[0] if isinstance(feature, tuple) else feature
    return name


def features_of(model: GenerativeModel, order: NDArray[np.intp], batch: Batch) -> Any:
    """Return the features φ (n, F) of the rows of a batch."""
    pieces = []
    for b, (parameters, block) in enumerate(zip(model.parameters, batch.blocks, strict=True)):
        with in_block(b):
            pieces.append(parameters.features(block))
    phi = stacked(pieces, axis=1)
    return phi if np.array_equal(order, np.arange(len(order))) else phi[:, order]


def stacked(pieces: Sequence[Any], axis: int = 0) -> Any:
    """Join matrices; the result is a sparse array where one of them is."""
    if len(pieces) == 1:
        return pieces[0]
    if any(is_sparse(piece) for piece in pieces):
        from scipy.sparse import csr_array, hstack, vstack

        return csr_array((hstack if axis else vstack)(pieces))
    return np.concatenate(pieces, axis=axis)
