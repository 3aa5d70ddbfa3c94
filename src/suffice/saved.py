"""Load any model that was saved."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.errors import ModelFileError, SufficeError
from suffice.models import grouped_sums
from suffice.models.estimator import restored
from suffice.models.opened import restored_sums
from suffice.persist import ModelFile

if TYPE_CHECKING:
    from suffice.ensemble.auto import AutoClassifier
    from suffice.linear_model.logistic_regression import LogisticRegression
    from suffice.models.generative.classifier import GenerativeClassifier
    from suffice.models.grouped_sums import GroupedSums
    from suffice.models.linear.regressor import LinearRegressor

    Model: TypeAlias = (
        GenerativeClassifier | LinearRegressor | LogisticRegression | AutoClassifier | GroupedSums
    )

MALFORMED = ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError
ENTIRE = "a model file holds all that its model is restored from"
AGAIN = "load it with the version of suffice that wrote it, or fit the model again"
# Where the classes are: the one of a file is imported, with the types that such a file may hold.
MODULES = {
    "AODE": "suffice.naive_bayes.aode",
    "AutoClassifier": "suffice.ensemble",
    "LinearDiscriminantAnalysis": "suffice.discriminant_analysis",
    "QuadraticDiscriminantAnalysis": "suffice.discriminant_analysis",
    "ElasticNet": "suffice.linear_model",
    "Lasso": "suffice.linear_model",
    "LinearRegression": "suffice.linear_model",
    "LogisticRegression": "suffice.linear_model",
    "Ridge": "suffice.linear_model",
    "BernoulliNB": "suffice.naive_bayes",
    "CategoricalNB": "suffice.naive_bayes",
    "ComplementNB": "suffice.naive_bayes",
    "GaussianNB": "suffice.naive_bayes",
    "MultinomialNB": "suffice.naive_bayes",
    "NaiveBayes": "suffice.naive_bayes",
}


def load(path: str | PathLike[str]) -> Model:
    """Read a file of a model, or of sums; nothing in it is executed.

    Raises
    ------
    ModelFileError
        If the file is not there, damaged, foreign, or written by a newer version; or if what it
        holds is no model, though its digest is right.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes().fit({"size": [1.0, 2.0, 5.0]}, ["a", "a", "b"])
    >>> with TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.suffice")
    ...     again = load(f"{folder}/model.suffice")
    >>> again.predict({"size": [4.5]})
    array(['b'], dtype='<U1')
    """
    file = ModelFile.read(path)
    of_sums = file.kind.endswith(grouped_sums.KIND)
    kind = file.kind.removesuffix(grouped_sums.KIND)
    if kind == "MaskedSums":
        raise ModelFileError(
            f"{path}: masked sums of one owner",
            "they are random numbers until those of all owners are added",
            "add them by suffice.owners.unmasked, or suffice merge --plan",
        )
    if kind not in MODULES:
        raise ModelFileError(
            f"{path}: a model of the unknown kind {file.kind!r}",
            f"known here: {', '.join(MODULES)}",
            "load it with the version of suffice that wrote it, or a later one",
        )
    estimator: Any = getattr(import_module(MODULES[kind]), kind)
    types = estimator.kind.types
    content = file.content(types | grouped_sums.TYPES if of_sums else types)
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused at the end
            read: Callable[..., Model] = restored_sums if of_sums else restored
            model = read(estimator, content)
    except KeyError as error:
        raise ModelFileError(f"{path}: a {kind} without the entry {error}", ENTIRE, AGAIN) from None
    except SufficeError as error:
        raise ModelFileError(f"{path}: {error.fact}", error.rule, AGAIN) from error
    except MALFORMED as error:
        raise ModelFileError(
            f"{path}: no {kind} follows from it: {error}", ENTIRE, AGAIN
        ) from error
    return model
