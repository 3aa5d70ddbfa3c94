"""The documents that ``--json`` prints, a record of each; JSON schemas are made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, final

from suffice.json_schema import Number, schema_of

Label = str | float | bool  # as the table has it
Cell = str | float | bool | None  # None: missing

File = Annotated[str, "The model file."]
Answer = Annotated[Label, "The predicted class."]
LogLoss = Annotated[Number, "Nats a row; null where it is infinite."]
Rows = Annotated[float, "The sum of their weights."]
Seed = Annotated[int | None, "null: nothing is drawn, or no seed was given."]
Ignored = Annotated[list[str], "Columns that are not read."]
ReadAs = Annotated[list[str], "How text is written, where it is not the plain case."]
Written = Annotated[str | None, "The file written to; null where the content is in this document."]


class ReadColumn(TypedDict):
    """A column, with its kind."""

    name: str
    kind: str
    reason: Annotated[str, "Why it was taken for that."]


class ModelledColumn(ReadColumn):
    """A column, with its kind and its distribution in each class."""

    family: str | None


class ClassShare(TypedDict):
    """The rows of a class and its prior probability."""

    label: Label
    rows: Rows
    prior: float


class LabelRows(TypedDict):
    """The number of rows of a label."""

    label: Label
    rows: Rows


# cv, and fit --tune --------------------------------------------------------------------------


class FoldScores(TypedDict):
    """One score over folds."""

    mean: Number
    standard_error: Annotated[float | None, "Of the mean; null of single rows."]
    folds: list[Number]


class Difference(TypedDict):
    """Difference from the best score; 95 % interval, corrected for folds that overlap."""

    mean: Number
    low: Number
    high: Number


class ImpossibleLabel(LabelRows):
    """Rows whose label the models of the folds held impossible."""

    learnt: Annotated[bool, "Whether these models had rows of the label in their training data."]


@final
class JudgedModel(TypedDict):
    """The scores of a model on held-out rows."""

    name: str
    rows: Rows
    scores: Annotated[dict[str, FoldScores], "By the name of the score."]
    difference_from_best: Difference | None
    verdict: Literal["", "as good", "best"]
    heavy_tails: Annotated[bool, "Whether the scores of folds vary by more than their mean."]
    infinite_log_loss: list[ImpossibleLabel]
    seconds: float


@final
class RefusedModel(TypedDict):
    """A model that could not be judged."""

    name: str
    error: Annotated[str, "Why."]


class Folds(TypedDict):
    """Scores of models on held-out rows."""

    folds: int
    rows: Rows
    score: Annotated[str, "What models are ranked by."]
    instead_of: Annotated[str | None, "The score asked for, where no model has it finite."]
    more_is_better: bool
    best: Annotated[str, "The name of the best model."]
    models: list[JudgedModel | RefusedModel]


class CrossValidation(Folds):
    """Scores of models on held-out rows, how folds were made, and how to fit the best."""

    seed: Seed
    in_order: Annotated[bool, "Whether every fold is a stretch of the table."]
    next: Annotated[str, "The command that fits the best model."]


# fit, show, summary --------------------------------------------------------------------------


class Classes(TypedDict):
    """The classes of a model, and the rows that it is fitted to."""

    model: File
    rows: Rows
    unlabelled: Annotated[float, "Rows left out without a label."]
    label: str | None
    classes: list[ClassShare]
    ignored: Ignored


class FittedClasses(Classes):
    """A fitted model of the columns given the class."""

    weight: Annotated[str | None, "The column of weights."]
    columns: list[ModelledColumn]
    advice: Annotated[list[str], "What is probably not meant."]
    read_as: NotRequired[ReadAs]
    tuned: NotRequired[Folds | None]
    compare: NotRequired[Annotated[str, "A command that compares the model with others."]]


class Candidate(TypedDict):
    """One of the models that an average is made of."""

    name: str
    log_loss: Annotated[float | None, "Of held-out rows, in nats a row."]
    error: Annotated[float | None, "Fraction of these rows."]
    weight: Annotated[float, "Its share of the prediction."]
    refusal: Annotated[str | None, "Why it cannot be fitted to the table."]


class FittedAverage(TypedDict):
    """The average of several models."""

    model: File
    label: str | None
    classes: list[Label]
    candidates: list[Candidate]
    columns: list[ReadColumn]
    ignored: Ignored
    read_as: NotRequired[ReadAs]


class Coefficient(TypedDict):
    """A coefficient, and what is known of its error."""

    term: str
    estimate: float
    standard_error: NotRequired[Number]
    t: NotRequired[Number]
    z: NotRequired[Number]
    p: NotRequired[Number]
    lower: NotRequired[Number]
    upper: NotRequired[Number]
    odds_ratio: NotRequired[Number]


class Equation(TypedDict):
    """The coefficients of one target, or of one class against another or all."""

    coefficients: list[Coefficient]
    remarks: list[str]
    target: NotRequired[str]
    outcome: NotRequired[Annotated[Label, "The class whose odds are modelled."]]
    reference: NotRequired[Annotated[Cell, "null: all classes."]]
    residual_standard_error: NotRequired[float]
    degrees_of_freedom: NotRequired[float]
    r_squared: NotRequired[Number]
    unexplained: NotRequired[Annotated[Number, "1 - R²"]]
    adjusted_r_squared: NotRequired[Number]
    uncentred: NotRequired[Annotated[bool, "Whether R² compares with 0 instead of the mean."]]
    f: NotRequired[Number]
    f_p: NotRequired[Number]
    log_likelihood: NotRequired[Number]
    aic: NotRequired[Number]
    bic: NotRequired[Number]


class Equations(TypedDict):
    """The equations of a linear or logistic model, and how well they fit."""

    equations: list[Equation]
    remarks: list[str]
    rows: NotRequired[Rows]
    left_out: NotRequired[Annotated[float, "Rows with missing cells."]]
    unlabelled: NotRequired[Annotated[float, "Rows without a label."]]
    penalty: NotRequired[float]
    l1_ratio: NotRequired[float]
    effective_parameters: NotRequired[float]
    errors: NotRequired[Annotated[str, "Robust standard errors: HC0 to HC3."]]
    log_likelihood: NotRequired[float]
    aic: NotRequired[float]
    bic: NotRequired[float]
    mcfadden: NotRequired[Annotated[Number, "Pseudo R² of McFadden."]]


class Coefficients(Equations):
    """The coefficients of a linear or logistic model, and how well it fits."""

    model: File
    type: Annotated[str, "The class of the estimator."]
    level: Annotated[float, "Confidence of the intervals."]


class FittedCoefficients(Coefficients):
    """A fitted linear or logistic model."""

    label: str | list[str]
    weight: Annotated[str | None, "The column of weights."]
    columns: list[ReadColumn]
    ignored: Ignored
    read_as: ReadAs
    tuned: Folds | None


class Alpha(TypedDict):
    """The pseudo-count that the evidence chose."""

    alpha: float
    log_evidence: Annotated[float, "In nats."]
    tried: list[float]
    curve: Annotated[list[float], "The log evidence of each that was tried."]


class KnownColumn(TypedDict):
    """The parameters of a column."""

    name: str
    kind: str
    family: str
    missing: Annotated[float, "Rows without a value."]
    parameters: Annotated[dict[str, list[Number]], "By quantity: a number for each class."]
    unit: NotRequired[str]
    counted: NotRequired[Annotated[float, "The weight of the column."]]
    left_out: NotRequired[Annotated[bool, "The column tells one row from another."]]
    log_loss_alone: NotRequired[Annotated[dict[str, float], "Of the families that were tried."]]
    alpha: NotRequired[Alpha]
    sampled_rows: NotRequired[Annotated[float, "Rows of a sample that its density is made of."]]


class SkippedLine(TypedDict):
    """A malformed row of a file."""

    file: str
    line: int


class TableColumn(ReadColumn):
    """A column of a table, with its kind."""

    type: Annotated[str, "As Arrow has it."]
    missing: Annotated[int, "Cells without a value."]
    doubt: Annotated[str | None, "Text that would be numbers or dates but for a few cells."]


class ReadTable(TypedDict):
    """A table, with the kinds of its columns."""

    files: list[str]
    read_as: ReadAs
    missing_tokens: Annotated[list[str], "Cells of text that are missing."]
    rows: int
    skipped: Annotated[list[SkippedLine], "Malformed rows, which are left out."]
    columns: list[TableColumn]


class Pairs(TypedDict):
    """Pairs of columns, of AODE."""

    columns: list[str]
    bins: int
    counted: float


class Shown(Classes):
    """A model of the columns given the class."""

    free_parameters: int
    columns: list[KnownColumn]
    pairs: NotRequired[Pairs]


# evaluate ------------------------------------------------------------------------------------


class Area(TypedDict):
    """An area under a curve: exact, or between bounds."""

    value: float
    lower: float
    upper: float


Tenth = TypedDict(
    "Tenth", {"from": float, "to": float, "rows": float, "mean": float, "right": float}
)


class ClassScores(TypedDict):
    """The scores of one class."""

    label: Label
    rows: Rows
    precision: Annotated[Number, "null: never predicted."]
    recall: Number
    f1: Number


class ClassEvaluation(TypedDict):
    """The quality of predicted classes."""

    rows: Rows
    unlabelled: Annotated[float, "Rows without a label, which are left out."]
    impossible: Annotated[float, "Rows that no class could have produced."]
    error_rate: float
    accuracy: float
    largest_class_error: Annotated[float, "Error rate of always predicting the largest class."]
    log_loss: LogLoss
    brier_score: float
    balanced_accuracy: Annotated[float, "Mean recall."]
    roc_area: Area | None
    average_precision: Area | None
    calibration_error: Annotated[float, "Expected calibration error."]
    reliability: Annotated[list[Tenth], "Mean probability and fraction right, by tenths."]
    classes: list[ClassScores]
    confusion: Annotated[list[list[float]], "Row: true class; column: predicted class."]
    infinite_log_loss: Annotated[list[LabelRows], "Rows whose label was held impossible."]
    unknown: Annotated[list[LabelRows], "Rows with a label unseen in fit; they count as errors."]
    costs: NotRequired[Annotated[list[list[float]], "Row: true class; column: predicted class."]]
    mean_cost: NotRequired[float]


class TargetErrors(TypedDict):
    """The errors of the predictions of one target."""

    target: str
    rows: Rows
    r_squared: Number
    unexplained: Annotated[Number, "1 - R²"]
    root_mean_squared_error: float
    mean_absolute_error: float
    mean_error: Annotated[float, "Truth less prediction."]
    uncentred: NotRequired[Annotated[bool, "Whether R² compares with 0 instead of the mean."]]


class NumberEvaluation(TypedDict):
    """The quality of predicted numbers."""

    targets: list[TargetErrors]


class ClassGroup(ClassEvaluation):
    """The quality of predicted classes in a group of rows."""

    group: Cell


class NumberGroup(NumberEvaluation):
    """The quality of predicted numbers in a group of rows."""

    group: Cell


class GroupEvaluations(TypedDict):
    """The quality of predictions in every group of rows."""

    by: Annotated[str, "The column of the groups."]
    groups: list[ClassGroup | NumberGroup]


# explain -------------------------------------------------------------------------------------


class ColumnEvidence(TypedDict):
    """The contribution of a cell to the log-odds of the prediction against another class."""

    column: str
    value: Cell
    counted: Annotated[float, "The weight of the column."]
    decibans: Annotated[Number, "10 log10 of its odds."]
    words: NotRequired[Annotated[dict[str, Number], "Of a text: by word, the largest first."]]


class Question(TypedDict):
    """A missing cell that could be asked for."""

    column: str
    bits: Annotated[float | None, "Expected information; null where it is not known."]


class Explanation(TypedDict):
    """Why a class was predicted: contributions in decibans."""

    prediction: Answer
    probability: float
    against: Annotated[Label, "The most probable other class."]
    columns: list[ColumnEvidence]
    sum: Annotated[Number, "All contributions and what they start from."]
    prior: NotRequired[Annotated[Number, "Where the sum starts: prior odds."]]
    average_row: NotRequired[Annotated[Number, "Where it starts for logistic models."]]
    interval: NotRequired[Annotated[list[float], "95 % interval of the probability."]]
    ask: NotRequired[Annotated[list[Question], "Missing cells, the most informative first."]]


class ExplainedRow(Explanation):
    """Why a class was predicted for a row."""

    row: Annotated[int, "From 1."]


class ColumnEffect(TypedDict):
    """The contribution of a cell to the predicted numbers."""

    column: str
    value: Cell
    adds: Annotated[dict[str, float], "By target."]


class ExplainedNumbers(TypedDict):
    """Why numbers were predicted for a row."""

    row: Annotated[int, "From 1."]
    prediction: Annotated[dict[str, float], "By target."]
    average_row: Annotated[dict[str, float], "By target."]
    columns: list[ColumnEffect]


class ExplainedRows(TypedDict):
    """Why the predictions of some rows are what they are."""

    rows: list[ExplainedRow | ExplainedNumbers]


# Other commands ------------------------------------------------------------------------------


class Finding(TypedDict):
    """A fact about few rows in a model file."""

    what: Annotated[str, "The kind of fact."]
    column: str | None
    label: Cell
    value: Cell
    rows: float | None
    batch: Annotated[int, "Of a window, from 0."]


class Audit(TypedDict):
    """The findings of a model file about single rows."""

    model: Annotated[str, "Its kind."]
    min_count: Annotated[float, "Findings about fewer rows are listed."]
    findings: list[Finding]


class Calibrated(TypedDict):
    """Refitted column weights of a classifier, or errors of a regression."""

    model: File
    rows: Rows
    log_loss_before: NotRequired[Annotated[float, "Nats a row with all weights 1."]]
    log_loss: NotRequired[Annotated[float, "Nats a row with the weights."]]
    median_errors: NotRequired[Annotated[list[float], "Half of the errors are at most this."]]


class ColumnBits(TypedDict):
    """Mutual information of a column and the class."""

    column: str
    family: str
    bits: Annotated[float | None, "null: the column has no distribution."]


class RankedColumns(TypedDict):
    """Mutual information of every column and the class."""

    entropy: Annotated[float, "Bits of the class before any cell is seen."]
    columns: Annotated[list[ColumnBits], "The most informative first."]


class Divergence(TypedDict):
    """The distance of two distributions."""

    hellinger: Annotated[Number, "0 to 1."]
    psi: Annotated[Number, "Population stability index."]
    p: Annotated[float | None, "Of the test that nothing has changed."]


class ClassDivergence(TypedDict):
    """The drift of a column within a class."""

    label: Label
    divergence: Divergence | None


class ColumnDivergence(TypedDict):
    """The drift of a column."""

    column: str
    overall: Divergence | None
    missing: Annotated[list[Number], "Fraction of missing cells in both."]
    within: list[ClassDivergence]


class Comparison(TypedDict):
    """The drift between the training data of two models."""

    models: list[str]
    rows: list[float]
    labels: Divergence | None
    columns: Annotated[list[ColumnDivergence], "The largest drift first."]


class Exported(TypedDict):
    """A model in another language."""

    model: File
    to: Literal["sql", "json", "onnx"]
    output: Written
    bytes: int
    content: str | None
    refuses_null: Annotated[list[str], "Of SQL: columns whose NULL gives NULL for an answer."]


class Forgotten(TypedDict):
    """A model without some rows."""

    model: File
    forgotten: Rows
    rows: Annotated[float, "Rows that are left."]


class Merged(TypedDict):
    """The model of the rows of several models."""

    model: File
    merged: Annotated[int, "The number of models."]
    rows: Rows


class KeyFiles(TypedDict):
    """The keys of an owner of rows."""

    private: str
    public: str


class Planned(TypedDict):
    """A plan for sums of several owners."""

    plan: str
    digest: str
    owners: Annotated[list[str], "Public keys."]
    columns: list[str]


class MadeRows(TypedDict):
    """Rows that a model makes."""

    model: File
    type: Annotated[str, "The class of the estimator."]
    output: Written
    columns: Annotated[list[str], "What each row holds, in order."]
    rows: int


class Predicted(MadeRows):
    """A prediction for every row, in order."""

    answers: NotRequired[Annotated[list[dict[str, Cell]], "Without a file: the rows, by column."]]
    unanswered: Annotated[int, "Rows without a prediction."]
    skipped: Annotated[list[SkippedLine], "Malformed rows, which have an empty prediction."]


class Drawn(MadeRows):
    """Rows drawn from a model."""

    seed: Seed
    drawn: NotRequired[Annotated[list[dict[str, Cell]], "Without a file: the rows, by column."]]


class Page(TypedDict):
    """The page of a model."""

    page: Annotated[str, "The file that was written."]


class BestVoxel(TypedDict):
    """The voxel around which accuracy is largest."""

    accuracy: float
    voxel: list[int]
    mm: list[float]


class AccuracyMap(TypedDict):
    """Accuracy around every voxel."""

    output: Annotated[str, "The map."]
    files: Annotated[list[str], "All files written."]
    classes: list[Label]
    folds: int
    volumes: int
    voxels: int
    chance: Annotated[float, "Accuracy of always predicting the most frequent class."]
    mean: float
    best: BestVoxel
    whole_mask: Annotated[float, "Accuracy of all voxels of the mask together."]
    permutations: NotRequired[int]
    threshold: NotRequired[Annotated[float, "Significant at a family-wise error of 5 %."]]
    voxels_above: NotRequired[int]
    whole_mask_p: NotRequired[float]


DOCUMENTS: dict[str, Any] = {
    "audit": Audit,
    "calibrate": Calibrated,
    "columns": RankedColumns,
    "compare": Comparison,
    "cv": CrossValidation,
    "evaluate": ClassEvaluation | NumberEvaluation | GroupEvaluations,
    "explain": ExplainedRows,
    "export": Exported,
    "fit": FittedClasses | FittedAverage | FittedCoefficients,
    "forget": Forgotten,
    "keys": KeyFiles,
    "merge": Merged,
    "plan": Planned,
    "predict": Predicted,
    "report": Page,
    "sample": Drawn,
    "searchlight": AccuracyMap,
    "show": Shown | FittedAverage | ReadTable,
    "summary": Coefficients,
}
"""The record that each command prints."""


def schema(command: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of what a command prints with ``--json``.

    Examples
    --------
    >>> schema("merge")["$defs"]["Merged"]["properties"]["merged"]
    {'type': 'integer', 'description': 'The number of models.'}
    """
    return schema_of(DOCUMENTS[command], f"suffice {command} --json")
