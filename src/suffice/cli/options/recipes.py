"""The models that ``suffice fit`` learns, and the options that each of them has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suffice.cli.options.class_weight import class_weight_of
from suffice.cli.options.parameters import Parameter, number_or, one_of
from suffice.cli.options.terms import levels_of, places_of, reference_of

__all__ = ["CATEGORIES", "MODELS", "NAIVE_BAYES", "OF_FAMILIES", "Recipe"]

NAIVE_BAYES = "naive-bayes"
OF_FAMILIES = (NAIVE_BAYES, "aode")
"""Models that take every option that says what columns are."""


@dataclass(frozen=True)
class Recipe:
    """Where an estimator lives, and what of the command line it knows.

    Parameters
    ----------
    module, name : str
        Of its class.
    parameters : mapping of str to Parameter
        The parameters that its options stand for.
    roles : tuple of str
        Options that say what columns are, of which naive Bayes has all; each is a parameter.
    """

    module: str
    name: str
    parameters: Mapping[str, Parameter]
    roles: tuple[str, ...] = ()

    def has(self, option: str) -> bool:
        """Whether an option is one of its own."""
        return option in self.parameters


def _plain(*names: str) -> dict[str, Parameter]:
    return {name: Parameter(name) for name in names}


def _linear() -> dict[str, Parameter]:
    return _plain("threads", "formula") | {
        "incomplete": one_of("incomplete", "incomplete", "error", "drop", "gaussian"),
        "no_intercept": Parameter("fit_intercept", lambda given: not given, {"": False}),
        "words": Parameter("words", places_of, {"counted": "counted"}),
        "ordered": Parameter("ordered", levels_of),
        "reference": Parameter("reference", reference_of),
        "unseen": one_of("unseen", "unseen", "error", "reference"),
    }


def _alpha(*words: str) -> dict[str, Parameter]:
    return {"alpha": number_or("alpha", "alpha", *words)}


def _l1() -> dict[str, Parameter]:
    return _linear() | _plain("standardize") | _alpha()


_L1_RATIO = Parameter("l1_ratio")
_IDENTIFIERS = one_of("identifiers", "identifiers", "ignore", "keep")
_CLASS_WEIGHT = {"class_weight": Parameter("class_weight", class_weight_of, {})}

_GAUSSIAN = (
    _plain("ddof", "threads")
    | _CLASS_WEIGHT
    | {"shrinkage": number_or("shrinkage", "shrinkage", "auto", "loo", most=1.0)}
)

_WEIGHTS = {"weights_are": one_of("weights_are", "weights-are", "copies", "precisions")}
_LEAST_SQUARES = _linear() | _WEIGHTS

CATEGORIES = ("categorical", "text")  # which columns are categories or texts
DISCRIMINANTS = ("categorical",)

MODELS: dict[str, Recipe] = {
    NAIVE_BAYES: Recipe(
        "suffice.naive_bayes",
        "NaiveBayes",
        _plain("estimation", "class_prior", "ddof", "unseen", "threads")
        | _CLASS_WEIGHT
        | {
            "alpha": number_or("alpha", "alpha", "evidence", "shared_evidence"),
            "identifiers": _IDENTIFIERS,
            "numbers": one_of("numbers", "numbers", "density", "gaussian"),
            "calibration": one_of("calibration", "calibration", "weights", "temperature", "none"),
        },
    ),
    "aode": Recipe(
        "suffice.naive_bayes.aode",
        "AODE",
        _plain("estimation", "class_prior", "unseen", "threads")
        | _CLASS_WEIGHT
        | {
            "alpha": number_or("alpha", "alpha", "evidence", "shared_evidence"),
            "identifiers": _IDENTIFIERS,
            "numbers": one_of("numbers", "numbers", "density"),
            "calibration": one_of("calibration", "calibration", "none", "temperature", "weights"),
        },
    ),
    "lda": Recipe(
        "suffice.discriminant_analysis",
        "LinearDiscriminantAnalysis",
        _GAUSSIAN,
        DISCRIMINANTS,
    ),
    "qda": Recipe(
        "suffice.discriminant_analysis",
        "QuadraticDiscriminantAnalysis",
        _GAUSSIAN,
        DISCRIMINANTS,
    ),
    "rda": Recipe(
        "suffice.discriminant_analysis",
        "RegularizedDiscriminantAnalysis",
        _plain("threads")
        | _CLASS_WEIGHT
        | {
            "pooling": number_or("pooling", "pooling", "loo", most=1.0),
            "shrinkage": number_or("shrinkage", "shrinkage", "loo", most=1.0),
            "calibration": one_of("calibration", "calibration", "temperature", "none"),
        },
        DISCRIMINANTS,
    ),
    "linear": Recipe("suffice.linear_model", "LinearRegression", _LEAST_SQUARES, CATEGORIES),
    "ridge": Recipe(
        "suffice.linear_model",
        "Ridge",
        _LEAST_SQUARES | _plain("standardize") | _alpha("gcv", "evidence", "loo"),
        CATEGORIES,
    ),
    "lasso": Recipe("suffice.linear_model", "Lasso", _l1(), CATEGORIES),
    "elastic-net": Recipe(
        "suffice.linear_model",
        "ElasticNet",
        _l1() | {"l1_ratio": _L1_RATIO},
        CATEGORIES,
    ),
    "logistic": Recipe(
        "suffice.linear_model",
        "LogisticRegression",
        _linear()
        | _plain("standardize")
        | _CLASS_WEIGHT
        | {
            "penalty": one_of("penalty", "penalty", "l2", "l1", "elasticnet", "firth", none=True),
            "C": Parameter("C"),
            "l1_ratio": _L1_RATIO,
            "numbers": one_of("numbers", "numbers", "linear", "bins"),
            "incomplete": one_of("incomplete", "incomplete", "error", "drop", "indicator"),
        },
        CATEGORIES,
    ),
    "auto": Recipe(
        "suffice.ensemble",
        "AutoClassifier",
        _plain("threads") | {"identifiers": _IDENTIFIERS},
        CATEGORIES,
    ),
}
