"""Estimators: options, a reader of tables, and a model.

Those whose model is a function of sums are in `suffice.models.from_sums`. The properties of all
estimators of a class stand in its `Kind`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from inspect import getattr_static
from os import PathLike
from typing import Any, ClassVar, Self, TypeVar

from suffice.data.schema import Schema
from suffice.engines.engine import engine_for, map_batches
from suffice.errors import ParameterError
from suffice.models.base.options import answering
from suffice.models.base.saved import Saved, portable, unportable
from suffice.models.base.scikit_learn import (
    KeptArray,
    available_if,
    bases,
    check_is_fitted,
    defaults,
    diagram,
    is_of_scikit_learn,
    printed,
    protect_fitted,
    with_bases,
)
from suffice.models.base.unseen_values import FEWEST, warn_of_unseen
from suffice.models.reading import TableReader, is_named, open_rows, settle_columns
from suffice.persist import write_model
from suffice.sums.batch import Batch, scored_rows

T = TypeVar("T")
INNER = ("kind", "method", "unfitted", "reader_", "model_", "batches_", "forgotten_")


def always(estimator: Any) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The properties that all estimators of a class share."""

    name: str = "model"  # of such a model, in errors
    row: str = "row"  # of a training row, in errors
    mixins: tuple[str, ...] = ()  # the classes of scikit-learn that it would inherit from
    tags: tuple[str, ...] = ("sparse",)  # what may be in an input
    dtype: str | None = "numeric"  # None where an array of strings makes sense
    allows_missing: Callable[[Any], bool] = always  # cells, by the options
    poor_score: bool = False  # scikit-learn is not to expect much of it
    is_density: bool = True  # p(x) is a probability
    in_single: bool = True  # answers to rows of single precision have it too
    saved: type[Saved] | None = None  # what its file holds; None where there is none
    types: Mapping[str, type] | None = None  # of the entries, by name
    records: tuple[type, ...] = ()  # of those options that are records
    tables: Callable[[Any], str] | None = None  # what was fitted as tables in HTML, for notebooks
    # options that decide how tables are read and summed; models of the same sums agree in them
    reading: tuple[str, ...] = ()


class Estimator:
    """Options, a reader of tables, and the model that was fitted, as scikit-learn asks for them.

    Its parameters are those of ``__init__``, kept under their names. Members that scikit-learn's
    classes would give it, such as `set_output` and `set_fit_request`, are those of a class that
    inherits from both, which is made when the first is asked for. Fitted arrays are read-only.

    The first table fixes the reader; tables that follow are opened and read by it.

    Attributes
    ----------
    reader_ : TableReader
        How tables are read.
    model_ : object
        All that a prediction needs.
    n_features_in_ : int
        Columns of the first table.
    feature_names_in_ : ndarray (d,)
        Their names, only where they have some.

    Examples
    --------
    >>> class Ridge(Estimator):
    ...     def __init__(self, alpha=1.0):
    ...         self.alpha = alpha
    >>> Ridge(2.0).get_params()
    {'alpha': 2.0}
    >>> Ridge().set_params(alpha=3.0)
    Ridge(alpha=3.0)
    """

    kind: ClassVar[Kind] = Kind()
    _accepted: ClassVar[tuple[str, ...]] = ()  # parameters without effect
    _by: tuple[str, ...] = ()  # columns of the first table by which its rows are grouped
    reader_: TableReader
    model_: Any
    n_features_in_: int
    feature_names_in_ = KeptArray()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        protect_fitted(cls)

    # -- parameters

    @classmethod
    def _get_param_names(cls) -> list[str]:
        of_class: Any = cls
        return sorted(defaults(of_class))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Whether those of an estimator among them are returned too, as ``name__its_name``.
        """
        found: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params().items()
                found.update((f"{name}__{key}", of_inner) for key, of_inner in inner)
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name.

        Raises
        ------
        ParameterError
            If there is none of that name.
        """
        known = self._get_param_names()
        for name in sorted(params, key=lambda name: "__" in name):  # its own before those of these
            outer, nested, inner = name.partition("__")
            if outer not in known:
                raise ParameterError(
                    f"Invalid parameter {outer!r} for estimator {self}",
                    f"Valid parameters are: {known!r}",
                )
            if nested:
                getattr(self, outer).set_params(**{inner: params[name]})
            else:
                setattr(self, name, params[name])
        return self

    def unfitted(self) -> Self:
        """Return an unfitted estimator with copies of the parameters.

        As `sklearn.base.clone` does.
        """
        return type(self)(**deepcopy(self.get_params(deep=False)))

    def __repr__(self) -> str:
        return printed(type(self), self.get_params(deep=False))

    # -- what scikit-learn's classes would give it

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self), name):  # a property that failed, or a method that an option hides
            return super().__getattribute__(name)
        if is_of_scikit_learn(name):
            cls: Any = type(self)
            face = with_bases(cls)
            try:
                member = getattr_static(face, name)
            except AttributeError:
                pass
            else:
                return member.__get__(self, face) if hasattr(member, "__get__") else member
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        """Names that users type: some methods depend on options, and what fits them is left out."""
        typed = (
            name
            for name in super().__dir__()
            if name not in INNER and (name[0] != "_" or name.startswith(("__", "_repr_")))
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return [name for name in typed if hasattr(self, name)]

    def __sklearn_tags__(self) -> Any:
        cls: Any = type(self)
        tags = bases(cls)().__sklearn_tags__()
        for tag in self.kind.tags:
            setattr(tags.input_tags, tag, True)
        tags.input_tags.allow_nan = self.kind.allows_missing(self)
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score = self.kind.poor_score
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def _html_repr(self) -> str:
        tables = self.kind.tables if "model_" in vars(self) else None
        return (tables(self) if tables else "") or diagram(self)

    # -- what was fitted

    @property
    def schema_(self) -> Schema:
        """Return the kind and the family of each column, and the reason for it."""
        return Schema(self.reader_.columns, self.model_)

    # -- keeping

    @available_if(lambda self: self.kind.saved is not None)
    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that `suffice.load` reads; nothing in it is executed.

        A model of sums keeps its statistic there, so that a loaded one can fit more, merge and
        forget. Of a logistic regression, and of a descent, there are the coefficients.

        Raises
        ------
        ModelFileError
            If the file cannot be written. A file that was there before is left as it was.
        """
        fitted(self)
        write_model(path, type(self).__name__, entries_of(self), types=self.kind.types or {})

    def _kept(self) -> dict[str, Any]:
        """Return the content of a file besides options and layout, in the order of its entries."""
        raise NotImplementedError

    def _restore(self, saved: Any) -> None:
        """Check the options as a fit does, and take over what a file holds besides these."""
        raise NotImplementedError


def fitted(estimator: Any) -> Any:
    """Return the model of an estimator; one of terms treats unseen categories by its option."""
    check_is_fitted(estimator)
    model = estimator.model_
    return answering(model, estimator.unseen) if hasattr(model, "unseen") else model


def answers_by_batch(
    estimator: Any, X: Any, answer: Callable[[Batch], T], fewest: int = FEWEST
) -> list[T]:
    """Return the answers to every batch of a table, in order.

    Say which columns are mostly unseen, of those with ``fewest`` values or more.
    """
    source, layout = open_rows(estimator, X), estimator.reader_.to_answer
    rows = scored_rows(len(getattr(estimator.model_, "classes", ())))
    answers = map_batches(engine_for(source), answer, source, layout, rows)
    warn_of_unseen(estimator.model_.known_values, source, layout, fewest)
    return list(answers)


def entries_of(estimator: Any) -> dict[str, Any]:
    """Return what a file holds of an estimator, in the order of its entries."""
    reader = estimator.reader_
    return {
        "params": portable(estimator.get_params(deep=False)),
        "layout": reader.layout,
        "format": reader.format,
        "named": is_named(estimator),
        "single_precision": reader.single,
        **estimator._kept(),
    }


E = TypeVar("E", bound=Estimator)


def restored(cls: type[E], content: Any) -> E:
    assert cls.kind.saved is not None  # only such estimators are saved
    saved = cls.kind.saved.of(content)
    model = unfitted_of(cls, saved)
    names = saved.layout.names
    settle_columns(model, len(names), names if saved.named else None)
    model._restore(saved)
    return model


def unfitted_of(cls: type[E], saved: Any) -> E:
    known = cls._get_param_names()
    unknown = sorted(saved.params.keys() - known)
    if unknown:
        raise ParameterError(
            f"{unknown[0]!r} is no option of a saved {cls.__name__}",
            f"its options are {', '.join(known)}",
        )
    return cls(**unportable(saved.params, cls.kind.records))
