"""Options that commands share, and what they stand for: tables, estimators, engines, decisions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.models import (
    known_columns,
    label_of,
    load_summed,
    predicts_numbers,
    refuse_overwriting,
    refuse_replacing,
)
from suffice.cli.values import (
    LABELS,
    LINEAR,
    LOGISTIC,
    MODELS,
    NAIVE_BAYES,
    OF_FAMILIES,
    OWN,
    REGRESSIONS,
    check_columns,
    class_of,
    listed,
    named_values,
    parameters_of,
    reader_parameters,
    value_of,
    words_of,
)
from suffice.errors import ParameterError, SchemaError
from suffice.numerics import in_print

if TYPE_CHECKING:
    from suffice.data.table import Table
    from suffice.data.text_format import TextFormat

KINDS = {"categorical": "categorical", "text": "multinomial"}  # of columns, and their families
COLUMNS, READING, RUNNING = "Columns (comma lists)", "Reading", "Running"
DECISION = "Decision"
MOST_LABELS = 30  # whole numbers that are taken for classes
Several = list[str] | None  # names, or values, of an option that may be given more than once


def option(metavar: str, help: str, *names: str, group: str | None = None) -> Any:
    """Return an option with a value, in a group of the help; by default its parameter names it."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=group)


def output_file(help: str) -> Any:
    """Return the option that names the file that a command writes."""
    return typer.Option("--output", "-o", metavar="FILE", help=help)


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA", help="Files, folders, globs, URLs, or - (CSV, Parquet, Excel, ...)."
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that fit wrote.")]
Label = Annotated[
    str | None, option("COL", "True values (default: as in fit).", "--label", "--target")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RowsAsJson = Annotated[bool, typer.Option("--json", help="Print rows as lines of JSON.")]
Targets = Annotated[Several, option("COL", "Column to predict.", "--label", "--target")]
RowsFile = Annotated[
    Path | None, output_file(".csv, .tsv, .jsonl, .parquet or .arrow (default: CSV to stdout).")
]
Parameters = Annotated[
    Several,
    option(
        "NAME=VALUE",
        "Of the model; also --NAME VALUE, as --alpha 0.5. fit --model NAME --help lists them.",
        "--parameter",
        "-p",
    ),
]
ReadAs = Annotated[
    Several,
    option(
        "NAME=VALUE",
        "How text is read; also --NAME VALUE: separator, quote, header, names, missing, "
        "strip, decimal, thousands, written, skip-lines, skip-last, skip-bad-rows, encoding, "
        "sheet, label-map, label-suffix.",
        "--read",
        "-r",
        group=READING,
    ),
]
Ignore = Annotated[Several, option("COL", "Leave out; missing to the model.", group=COLUMNS)]
LeftOut = Annotated[Several, option("COL", "Leave these out.", group=COLUMNS)]
Features = Annotated[Several, option("COL", "Use only these.", group=COLUMNS)]
Categorical = Annotated[Several, option("COL", "Categories.", group=COLUMNS)]
Text = Annotated[Several, option("COL", "Texts: words are counted.", group=COLUMNS)]
Weight = Annotated[str | None, option("COL", "Weights of rows.", group=COLUMNS)]
Checkpoint = Annotated[
    Path | None, option("FILE", "Sums so far; a killed fit goes on.", group=RUNNING)
]
Engine = Annotated[
    str | None,
    option("NAME", "local=N, threads (default: one a core); dask=tcp://host:8786.", group=RUNNING),
]
Threshold = Annotated[
    float | None,
    option("P", "Predict the second of two labels above this probability.", group=DECISION),
]
Costs = Annotated[
    str | None,
    option(
        "A,B;C,D",
        "Costs of predictions, a row for each true label, labels sorted.",
        group=DECISION,
    ),
]


def typed(options: Any) -> list[str]:
    """Return options by name, or a record of them, as the user would type them again."""
    words: list[str] = []
    for name, value in options.items():
        several = value if isinstance(value, list | tuple | None) else [value]
        words += words_of(f"--{name}", several)
    return words


def _flag(name: str) -> str:
    return name.replace("_", "-")


# Reading ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """Options of reading tables; those not given are the model's."""

    text: Mapping[str, Any] = field(default_factory=dict)  # parameters of the reader of text
    sheet: str | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)  # ``label_suffix`` and ``label_map``
    words: Sequence[str] = ()  # of a line that reads in the same way

    @classmethod
    def of(cls, given: Sequence[str] | None) -> Reading:
        if not given:
            return cls()
        found = named_values("-r", given, reader_parameters(), "the reader")
        for name in ("written", "label_map"):
            if not isinstance(found.get(name, {}), dict):
                raise ParameterError(
                    f"--{_flag(name)} {found[name]}",
                    "it is a name, a colon, and its value",
                    f"write --{_flag(name)} {'day:DD/MM/YYYY' if name == 'written' else 'y:yes'}",
                )
        labels = {name: found.pop(name) for name in LABELS if name in found}
        sheet = found.pop("sheet", None)
        return cls(found, sheet, labels, words_of("-r", given))

    def open(
        self, data: Sequence[str], remembered: TextFormat | None = None, notes: bool = True
    ) -> Table:
        """Open files as one table; notes say how they were found to be written."""
        from suffice.cli.messages import note
        from suffice.data.table import CleanedTable

        missing = tuple(self.text.get("missing", ()))
        table = self._opened(data, remembered, missing)
        for remark in table.about.remarks if notes else ():
            note(remark)
        return CleanedTable(table, missing, **self.labels) if missing or self.labels else table

    def _opened(
        self, data: Sequence[str], remembered: TextFormat | None, missing: Sequence[str]
    ) -> Table:
        from suffice.data.file_formats import open_files
        from suffice.data.files.listing import STANDARD_INPUT
        from suffice.data.text_format import USUALLY_MISSING, TextFormat

        files = [STANDARD_INPUT if given == "-" else given for given in data]
        if self.sheet is not None:
            self._refuse_text(data[0])
            return open_files(files, sheet=self.sheet)
        given = dict(self.text)
        if missing:  # tokens are added to the usual ones, or replace them after ''
            usual = ("",) if "" in missing else USUALLY_MISSING
            given["missing"] = [*usual, *filter(None, missing)]
        format = TextFormat(**given)
        try:
            table = open_files(files, format, remembered)
        except ParameterError:
            # These files describe themselves; only the missing tokens still have a meaning.
            self._refuse_text(data[0])
            return open_files(files)
        for name in self.text.get("written", ()):
            if name not in table.names:
                columns = f"the columns are {in_print.listed(map(repr, table.names))}"
                raise SchemaError(f"--written names the column {name!r}", columns)
        return table

    def _refuse_text(self, file: str) -> None:
        """Refuse all that says how text is written, but for missing tokens."""
        for name in self.text:
            if name != "missing":
                raise ParameterError(
                    f"--{_flag(name)} is given for {file}",
                    "only delimited text needs to be told how it is written",
                    "leave the option out",
                ) from None


def refuse_labels(model: Any, reading: Reading) -> None:
    """Refuse other names of labels for a model that predicts numbers."""
    for option in reading.labels if predicts_numbers(model) else ():
        raise ParameterError(
            f"--{_flag(option)} is given for a {type(model).__name__}",
            "it predicts numbers, which have no other names",
            "leave the option out",
        )


# Columns, models and their parameters ----------------------------------------------------------


Columns = Mapping[str, Several]
"""The options on columns, by name: features, ignore, categorical, text."""


def _two_parts(name: str, one: str, other: str) -> ParameterError:
    fact = f"the column {name!r} is given to --{one} and to --{other}"
    return ParameterError(fact, "a column has one part to play", "drop one of them")


def selected(
    table: Table, columns: Columns, label: Sequence[str], weight: str | None, *by: str | None
) -> Table:
    """Return the columns that are features, labels, weights or groups."""
    from suffice.data.table import WithoutColumns
    from suffice.data.table_source import no_column

    for name in label:
        if name not in table.names:
            raise no_column(name, "the label", table.names, table.about.format is not None)
    roles = dict.fromkeys(label, "label") | ({weight: "weight"} if weight else {})
    given = {option: listed(columns.get(option)) for option in ("ignore", "categorical", "text")}
    for option, names in given.items():
        check_columns(option, names, table.names)
        for name in names:
            if name in roles:
                raise _two_parts(name, roles[name], option)
            roles[name] = option
    ignored, features = given["ignore"], listed(columns.get("features"))
    check_columns("features", features, table.names)
    for name in features:
        if roles.get(name) in ("label", "weight", "ignore"):
            raise _two_parts(name, roles[name], "features")
    if features:
        used = {*features, *label, weight, *by}
        ignored = tuple(name for name in table.names if name not in used)
    return WithoutColumns(table, ignored) if ignored else table


def holds_numbers(table: Table, name: str) -> bool:
    """Tell numbers to be predicted from labels: fractions, or many whole numbers."""
    from suffice.data.encode import distinct
    from suffice.data.schema import stored_as

    stored = stored_as(table.shown.schema.field(name).type)
    if stored != "integer":
        return stored == "number"
    return len(distinct(name, table.head().column(name))) > MOST_LABELS


def suited(table: Table, label: Sequence[str]) -> str:
    """Return the model for a label; say so where it is one of numbers."""
    from suffice.cli.messages import note

    if not all(holds_numbers(table, name) for name in label):
        return NAIVE_BAYES
    named = ", ".join(map(repr, label))
    verb = "holds" if len(label) == 1 else "hold"
    note(f"{named} {verb} numbers, which --model linear predicts (--model chooses another)")
    return LINEAR


@dataclass(frozen=True)
class Candidate:
    """A model with its parameters, not fitted."""

    name: str  # in tables: the model and its point of a grid; the point alone of one model
    model: str  # one of `MODELS`
    estimator: Any
    words: Sequence[str]  # ``-p`` and ``NAME=VALUE``, as they were given


def candidates(
    models: Mapping[str, Sequence[str]],
    given: Sequence[str] | None,
    columns: Columns,
    reading: Reading,
    grid: Sequence[str] = (),
) -> Iterator[Candidate]:
    """Yield every model with every value of those parameters of a grid that it has.

    Models have parameters of their own, as ``NAME=VALUE``; those that are ``given`` stand instead.
    Each takes of these, and of the columns of one kind, what it has; one of the models has to.
    """
    given = given or ()
    asked: list[tuple[str, str, Sequence[str]]] = [(_typed(one), _name(one), ()) for one in given]
    asked += [(f"--{kind}", kind, OF_FAMILIES) for kind in KINDS if columns.get(kind)]
    for one, name, others in asked:
        if not _owners(models, name, others) and (owners := _owners(MODELS, name, others)):
            raise ParameterError(
                f"{one} is given for --model {next(iter(models))}",
                f"it belongs to --model {', '.join(owners)}",
                "leave the option out, or choose another model",
            )
    axes = [_axis(line, models) for line in grid]
    said = {*map(_name, given), *(name for name, _ in axes)}
    elsewhere = {name for model in models for name in parameters_of(model)}
    for model, own in models.items():
        known = parameters_of(model)
        mine = [one for one in own if _name(one) not in said]
        mine += [one for one in given if _name(one) in known or _name(one) not in elsewhere]
        owner = class_of(model)
        fixed = named_values("-p", [*OWN.get(model, ()), *mine], known, owner.__name__)
        own_axes = [[(name, value) for value in values] for name, values in axes if name in known]
        for point in product(*own_axes):
            of_grid = [f"{name}={value}" for name, value in point]
            parameters = fixed | {name: value_of(name, value) for name, value in point}
            estimator = owner(**parameters | _of_columns(model, columns, parameters))
            if model in REGRESSIONS:
                refuse_labels(estimator, reading)
            check_options(estimator)
            called = of_grid if of_grid and len(models) == 1 else [model, *of_grid]
            yield Candidate(" ".join(called), model, estimator, words_of("-p", [*mine, *of_grid]))


def _name(given: str) -> str:
    return given.partition("=")[0].strip().replace("-", "_")


def _typed(given: str) -> str:
    name, _, value = given.partition("=")
    return f"--{_flag(name.strip())} {value}"


def _owners(models: Iterable[str], name: str, others: Sequence[str] = ()) -> list[str]:
    """Return which models have a parameter, or are among others."""
    return [model for model in models if model in others or name in parameters_of(model)]


def _axis(line: str, models: Iterable[str]) -> tuple[str, list[str]]:
    """Return a parameter of a grid, which one of the models has, and its values."""
    name, sign, values = line.partition("=")
    name = _name(name)
    if not (sign and values.strip()):
        step = "write --grid alpha=0.1,1,10"
        raise ParameterError(f"--grid {line!r}", "it is a parameter, =, and its values", step)
    if not _owners(models, name):
        owners = ", ".join(_owners(MODELS, name))
        raise ParameterError(
            f"--grid names {name!r}, which no model here has",
            f"it belongs to --model {owners}" if owners else "it is a parameter of no model",
            "see suffice fit --model NAME --help",
        )
    return name, [value.strip() for value in values.split(",")]


def _of_columns(model: str, columns: Columns, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a model that say which columns are categories and texts."""
    given = {kind: listed(columns[kind]) for kind in KINDS if columns.get(kind)}
    if model not in OF_FAMILIES:
        return {kind: names for kind, names in given.items() if kind in parameters_of(model)}
    families = {name: KINDS[kind] for kind, names in given.items() for name in names}
    said = parameters.get("families")
    said = dict(said) if families and isinstance(said, Mapping) else {}
    for name in [name for name in said if name in families]:
        raise _two_parts(name, "families", "categorical or --text")
    return {"families": said | families} if families else {}


def left_of_formula(parameters: Sequence[str] | None) -> list[str]:
    """Return the columns to predict that a formula among the parameters names."""
    from suffice.models.design.formula import left_side

    pairs = (one.partition("=") for one in parameters or ())
    return [target for name, _, text in pairs if name == "formula" for target in left_side(text)]


def check_options(estimator: Any) -> None:
    """Refuse options outside their rules before a table is read."""
    if hasattr(estimator, "method"):
        estimator.method()
    elif isinstance(estimator, class_of(LOGISTIC)):
        from suffice.linear_model.logistic_regression import check_logistic

        check_logistic(estimator)


# Running ----------------------------------------------------------------------------------------


@contextmanager
def running(
    name: str | None, what: str, threads: int | None = None, checkpoint: Path | None = None
) -> Iterator[None]:
    """Choose the engine that ``--engine`` names, and show on a terminal how far the work is.

    ``threads`` are those of the local engine, unless the option says.
    """
    from suffice.engines.engine import engine, set_engine

    kind, _, where = (name or "local").partition("=")
    options: dict[str, Any]
    if kind == "dask":
        options = {"address": where or None}
    elif kind != "local":
        raise ParameterError(f"--engine {kind!r}", "the engines are 'local', 'dask'")
    elif not where:
        options = {"threads": threads}
    elif where.isdecimal() and int(where) > 0:
        options = {"threads": int(where)}
    else:
        rule = "behind local= stands a number of threads, 1 or more"
        raise ParameterError(f"--engine {name}", rule)
    with ExitStack() as until_end:
        report = None
        if sys.stderr and sys.stderr.isatty():
            from suffice.engines.progress import bar

            report = until_end.enter_context(bar(what))
        made = engine(kind, progress=report, checkpoint=checkpoint, **options)
        until_end.enter_context(set_engine(made))
        yield


def rows_for(
    model: Any,
    data: Sequence[str],
    reading: Reading,
    label: str | None = None,
    weight: str | None = None,
    by: str | None = None,
    ignore: Sequence[str] | None = None,
) -> tuple[Table, Any, str | None]:
    """Open rows as a model reads them; return the columns of truth and weights beside them.

    Weights are those of the fit where the rows have them, if none are given.
    """
    opened = reading.open(data, model.reader_.format)
    table = known_columns(opened, model, label, weight, by, ignore=ignore)
    remembered = model.reader_.layout.weight
    weight = weight or (remembered if remembered in table.names else None)
    return table, label_of(model, label), weight


@contextmanager
def updated(
    path: Path, data: Sequence[str], read: Sequence[str] | None, output: Path, doing: str
) -> Iterator[tuple[Any, Table, Any, str | None]]:
    """Give a model and rows, by which a block changes it, and save it then."""
    reading = Reading.of(read)
    refuse_overwriting(output, data)
    model = load_summed(path)
    refuse_labels(model, reading)
    rows = rows_for(model, data, reading)
    with running(None, f"{doing} {', '.join(data)}"):
        try:
            yield model, *rows
        except SchemaError as error:
            fact = f"{', '.join(data)} does not fit {path}: {error.fact}"
            raise SchemaError(fact, error.rule, error.next_step) from None
    refuse_replacing(output, model, model.target_names_, [path])
    model.save(output)


# Decisions --------------------------------------------------------------------------------------


def check_threshold(threshold: float, labels: int, instead: str) -> None:
    """Refuse a threshold that is no probability, or is to decide between other than two labels."""
    given = f"--threshold {threshold:g}"
    if not 0 <= threshold <= 1:
        raise ParameterError(given, "a probability is from 0 to 1")
    if labels != 2:
        fact = f"{given} is given for {labels} labels"
        raise ParameterError(fact, "a threshold decides between two", instead)


def decided(model: Any, threshold: float | None, costs: str | None) -> Any:
    """Return a fitted model with these costs; by default it decides as it remembers."""
    from suffice.models.base.answers import checked_costs, of_threshold

    given = {"--threshold": threshold, "--costs": costs}
    options = [option for option, value in given.items() if value is not None]
    if not options:
        return model
    fact = f"{options[0]} is given for a {type(model).__name__}"
    if predicts_numbers(model):
        rule = "its predictions are numbers, not classes"
        raise ParameterError(fact, rule, "leave the option out")
    if len(options) == 2:
        raise ParameterError(
            "--threshold and --costs are both given",
            "each says which label is predicted",
            "leave one of them out",
        )
    if "costs" not in model.get_params(deep=False):
        rule = "it has scikit-learn's parameters, and no costs"
        raise ParameterError(fact, rule, "fit --model naive-bayes, lda, qda or logistic")
    labels = model.classes_
    k = len(labels)
    if threshold is not None:
        check_threshold(threshold, k, "use --costs")
        return model.set_params(costs=of_threshold(threshold).tolist())
    try:
        table = [[float(cell) for cell in row.split(",")] for row in (costs or "").split(";")]
    except ValueError:
        table = []
    if len(table) != k or any(len(row) != k for row in table):
        raise ParameterError(
            f"--costs {costs!r}",
            f"there are {k} labels ({', '.join(map(str, labels[:10]))}): costs are {k} "
            f"rows of {k} numbers",
            "separate numbers by commas and rows by semicolons, such as '0,1;5,0'",
        )
    return model.set_params(costs=checked_costs(table, k).tolist())
