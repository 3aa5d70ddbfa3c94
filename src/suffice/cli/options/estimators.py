"""The options of the models that ``suffice fit`` learns, and the estimators that they stand for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module
from typing import Annotated, Any

import typer

from suffice.cli.options.recipes import MODELS
from suffice.cli.options.shared import flag
from suffice.errors import ParameterError

__all__ = ["Options", "estimator", "given_of", "refuse_foreign"]

MODEL, BAYES, LINEAR = (
    "Model",
    "Model: naive-bayes",
    "Model: linear, ridge, lasso, elastic-net, logistic",
)
DISCRIMINANT = "Model: lda, qda, rda"


@dataclass(frozen=True, kw_only=True)
class Options:
    """How parameters follow from the rows; what is not given is as the estimator has it."""

    threads: Annotated[
        int | None,
        typer.Option(help="Threads.", rich_help_panel=MODEL, show_default="all cores"),
    ] = None
    ddof: Annotated[
        int | None,
        typer.Option(
            help="Variances are divided by n - ddof (lda, qda, and naive-bayes with mle).",
            rich_help_panel=MODEL,
            show_default="0",
        ),
    ] = None
    estimation: Annotated[
        str | None,
        typer.Option(
            metavar="bayes|mle|map",
            help="Posterior predictive, maximum likelihood or posterior mode.",
            rich_help_panel=BAYES,
            show_default="bayes",
        ),
    ] = None
    alpha: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|gcv|evidence|loo",
            help="naive-bayes, aode: pseudo-count of every category and word; evidence chooses it "
            "for each column, shared_evidence for all. ridge, lasso, elastic-net: weight of the "
            "penalty; of ridge also chosen by gcv, evidence or loo.",
            rich_help_panel=MODEL,
            show_default="1.0",
        ),
    ] = None
    class_prior: Annotated[
        str | None,
        typer.Option(
            metavar="empirical|smoothed|uniform",
            help="P(class): as in the rows, with a pseudo-count, or equal.",
            rich_help_panel=BAYES,
            show_default="empirical",
        ),
    ] = None
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="balanced|LABEL=N,...",
            help="How often the rows of a class count (naive-bayes, lda, qda, rda, logistic).",
            rich_help_panel=MODEL,
            show_default="1 each",
        ),
    ] = None
    unseen: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="A category at prediction that no row showed. naive-bayes, aode: ignore, error or "
            "smooth. linear, ridge, lasso, elastic-net, logistic: error, or reference: it is taken "
            "for the reference value, and so is a missing one.",
            rich_help_panel=MODEL,
            show_default="ignore; linear: error",
        ),
    ] = None
    identifiers: Annotated[
        str | None,
        typer.Option(
            metavar="ignore|keep",
            help="A column that tells one row from another, such as a number of rows.",
            rich_help_panel=BAYES,
            show_default="ignore",
        ),
    ] = None
    numbers: Annotated[
        str | None,
        typer.Option(
            metavar="density|gaussian|...",
            help="The family of numbers; density: for each column the histogram or kernel density "
            "that tells most. logistic: linear, or bins cut where the classes differ.",
            rich_help_panel=BAYES,
            show_default="density",
        ),
    ] = None
    calibration: Annotated[
        str | None,
        typer.Option(
            metavar="weights|temperature|none",
            help="How much of what columns say is counted, learnt from a sample of rows.",
            rich_help_panel=BAYES,
            show_default="weights",
        ),
    ] = None
    shrinkage: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION|auto|loo",
            help="How far covariances are drawn to 0, from 0 to 1; auto: lda, qda; loo: by rows "
            "left out.",
            rich_help_panel=DISCRIMINANT,
            show_default="0; rda: loo",
        ),
    ] = None
    pooling: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION|loo",
            help="rda: from a covariance for each class, 0, to one for all, 1.",
            rich_help_panel=DISCRIMINANT,
            show_default="loo",
        ),
    ] = None
    penalty: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="logistic: l2, l1, elasticnet, firth or none.",
            rich_help_panel=LINEAR,
            show_default="l2",
        ),
    ] = None
    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            metavar="NUMBER",
            help="logistic: variance of the prior; inf for maximum likelihood, with tests.",
            rich_help_panel=LINEAR,
            show_default="1.0",
        ),
    ] = None
    l1_ratio: Annotated[
        float | None,
        typer.Option(
            metavar="FRACTION",
            help="elastic-net, logistic: the part of the penalty that makes coefficients 0.",
            rich_help_panel=LINEAR,
            show_default="elastic-net 0.5, logistic 0",
        ),
    ] = None
    standardize: Annotated[
        bool | None,
        typer.Option(
            "--standardize",
            help="With a penalty: of the coefficients of standardised columns.",
            rich_help_panel=LINEAR,
        ),
    ] = None
    incomplete: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Missing cells: error, drop (rows), gaussian (linear, ridge), indicator (bins).",
            rich_help_panel=LINEAR,
            show_default="error",
        ),
    ] = None
    no_intercept: Annotated[
        bool | None,
        typer.Option(
            "--no-intercept",
            help="Through the origin; the first category keeps a coefficient for every value.",
            rich_help_panel=LINEAR,
        ),
    ] = None
    weights_are: Annotated[
        str | None,
        typer.Option(
            metavar="copies|precisions",
            help="linear, ridge: a --weight counts as so many copies of its row, or is an inverse "
            "variance, whose scale changes no standard error.",
            rich_help_panel=LINEAR,
            show_default="copies",
        ),
    ] = None
    formula: Annotated[
        str | None,
        typer.Option(
            metavar="TERMS",
            help="Products and functions of columns, as 'size * C(year) + I(size**2)'.",
            rich_help_panel=LINEAR,
            show_default="all columns",
        ),
    ] = None
    ordered: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=LOW,...,HIGH",
            help="Categories with an order: coefficients are steps from one to the next.",
            rich_help_panel=LINEAR,
        ),
    ] = None
    reference: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL=VALUE",
            help="The value that the others of a category are compared with.",
            rich_help_panel=LINEAR,
            show_default="the first in order",
        ),
    ] = None
    words: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|counted",
            help="Into how many columns the words of a text are hashed, or each has its own.",
            rich_help_panel=LINEAR,
            show_default="256",
        ),
    ] = None


def given_of(options: Any) -> dict[str, Any]:
    """The fields of a record of options that the user gave.

    Examples
    --------
    >>> given_of(Options(alpha="gcv"))
    {'alpha': 'gcv'}
    """
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return {name: value for name, value in values.items() if value is not None}


def estimator(model: str, options: Options, **others: Any) -> Any:
    """The estimator that a name and options stand for.

    Parameters
    ----------
    model : str
        One of `MODELS`.
    options : Options
    **others
        More parameters of the estimator.

    Raises
    ------
    ParameterError
        If there is no such model, or an option is outside its rule or belongs to another model.

    Examples
    --------
    >>> estimator("ridge", Options(alpha="0.5")).alpha
    0.5
    """
    given = given_of(options)
    if model not in MODELS:
        raise ParameterError(f"--model {model!r}", f"the models are {', '.join(map(repr, MODELS))}")
    recipe = MODELS[model]
    for name in given:
        if name not in recipe.parameters:
            refuse_foreign(name, model, *(other for other, its in MODELS.items() if its.has(name)))
    if "C" in given and given.get("penalty") in ("firth", "none"):
        raise ParameterError(
            f"--C is given with --penalty {given['penalty']}",
            "it is the variance of the prior of --penalty l2",
            "leave one of them out",
        )
    known = [(recipe.parameters[name], value) for name, value in given.items()]
    parameters = {parameter.name: parameter.parse(value) for parameter, value in known}
    return getattr(import_module(recipe.module), recipe.name)(**parameters, **others)


def refuse_foreign(option: str, model: str, *owners: str) -> None:
    """Refuse an option of other models.

    Raises
    ------
    ParameterError
        Always.
    """
    raise ParameterError(
        f"{flag(option)} is given for --model {model}",
        f"it belongs to --model {', '.join(owners)}",
        "leave the option out, or choose another model",
    )
