"""How good predictions are: error, log loss and calibration on tables of the UCI repository.

Usage: ``python -m benchmarks.accuracy [NAME ...] [--model EXPRESSION ...] [--peers]``. The folds
are those of one stratified 5-fold split with seed 17: all 5 where n < 1,000, 3 where n < 2,500, 2
where n < 9,000, else 1; adult has its own split. Every method has its defaults. Peers are logistic
regression and forests in pipelines that fill empty cells by the median, standardise, and make a
column of each category; histogram boosting; CatBoost and EBM where they are installed. A cell is
error % / log loss in nats, probabilities clipped at 1e-15. ECE is the expected calibration error of
the label answered, in 10 bins of equal width, rows of all folds of a table together.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import suffice

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[2] / "shared" / "data"))
NO_FEATURES = {"animal", "Instance_name", "Train or Test"}  # names of rows, and of their use
APART = {"letter", "sick", "waveform5000"}  # not in the means: some method has no figure for them
LEAST = 1e-15
COVERAGES = 0.9, 0.8  # of sets of classes


class Rows(NamedTuple):
    """A table, its labels as codes, and the folds: rows learnt, rows asked about."""

    name: str
    table: pa.Table
    labels: NDArray[np.intp]
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]]


class Answers(NamedTuple):
    """What one method says of one table: truth and probability of the rows of all folds."""

    error: float
    log_loss: float
    sure: NDArray[np.float64]
    right: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    seconds: float

    @property
    def calibration_error(self) -> float:
        """Σ_b n_b/n |accuracy_b − confidence_b|."""
        bins = np.minimum((self.sure * 10).astype(int), 9)
        gaps = [abs((self.right[bins == b] - self.sure[bins == b]).sum()) for b in range(10)]
        return float(sum(gaps) / len(self.sure))


def tables() -> Iterator[Rows]:
    """Every table that is there."""
    import arff

    for path in sorted((DATA / "uci").glob("*.arff")):
        text = re.sub(r"(?m)^(@ATTRIBUTE .*INTEGER) *\[.*$", r"\1", path.read_text())
        content = arff.loads(text)
        columns = {}
        for j, (name, kind) in enumerate(content["attributes"][:-1]):
            if name not in NO_FEATURES:
                values = [row[j] for row in content["data"]]
                columns[name] = pa.array(
                    values, pa.float64() if isinstance(kind, str) else pa.string()
                )
        yield _with_folds(path.stem, pa.table(columns), [row[-1] for row in content["data"]])
    with (DATA / "house_votes_84" / "house-votes-84.data").open() as file:
        rows = [[None if cell == "?" else cell for cell in row] for row in csv.reader(file) if row]
    votes = {f"vote {j}": [row[j] for row in rows] for j in range(1, 17)}
    yield _with_folds("vote", pa.table(votes), [row[0] for row in rows])
    penguins = _read(DATA / "penguins" / "penguins.csv")
    label = penguins["species"].to_pylist()
    yield _with_folds("penguins", penguins.drop_columns(["species"]), label)
    yield _adult()


def _adult() -> Rows:
    names = re.findall(r"(?m)^([a-z-]+):", (DATA / "adult" / "adult.names").read_text())
    read, parse = pyarrow.csv.ReadOptions, pyarrow.csv.ParseOptions
    parts = []
    for file, skipped in (("adult.data", 0), ("adult.test", 1)):
        text = (DATA / "adult" / file).read_text().replace(", ", ",").splitlines()[skipped:]
        lines = "\n".join(line.rstrip(".") for line in text if line)
        parts.append(
            pyarrow.csv.read_csv(
                pa.py_buffer(lines.encode()),
                read_options=read(column_names=[*names[-14:], "income"]),
                parse_options=parse(delimiter=","),
                convert_options=pyarrow.csv.ConvertOptions(
                    null_values=["?"], strings_can_be_null=True
                ),
            )
        )
    table, n = pa.concat_tables(parts), len(parts[0])
    codes = np.unique(table["income"].to_pylist(), return_inverse=True)[1]
    part = [(np.arange(n), np.arange(n, len(table)))]
    return Rows("adult", table.drop_columns(["income"]), codes, part)


def _read(path: Path) -> pa.Table:
    options = pyarrow.csv.ConvertOptions(null_values=["NA", ""], strings_can_be_null=True)
    return pyarrow.csv.read_csv(path, convert_options=options)


def _with_folds(name: str, table: pa.Table, labels: list[Any]) -> Rows:
    codes = np.unique(labels, return_inverse=True)[1]
    n = len(codes)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=17).split(codes, codes))
    return Rows(
        name, table, codes, folds[: 5 if n < 1000 else 3 if n < 2500 else 2 if n < 9000 else 1]
    )


def _pipeline(model: Any, one_hot: bool) -> Any:
    numbers, words = (
        make_column_selector(dtype_include="float"),
        make_column_selector(dtype_exclude="float"),
    )
    if one_hot:
        numeric = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
        words_as = OneHotEncoder(handle_unknown="ignore")
    else:
        numeric = "passthrough"
        words_as = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return make_pipeline(make_column_transformer((numeric, numbers), (words_as, words)), model)


def _boosting(table: pa.Table) -> Any:
    words = [j for j, kind in enumerate(table.schema.types) if pa.types.is_string(kind)]
    first = len(table.schema) - len(words)  # categories come after the numbers
    model = HistGradientBoostingClassifier(
        random_state=0, categorical_features=list(range(first, len(table.schema))) or None
    )
    return _pipeline(model, one_hot=False)


class _Words:
    """A model of frames whose words are told by name, and "" where a cell is empty."""

    def __init__(self, new: Callable[[list[str]], Any]) -> None:
        self.new = new

    def fit(self, frame: Any, y: Any) -> Any:
        self.words = [name for name in frame if frame[name].dtype.kind == "O"]
        self.model = self.new(self.words).fit(self._filled(frame), y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, frame: Any) -> Any:
        return self.model.predict_proba(self._filled(frame))

    def _filled(self, frame: Any) -> Any:
        return frame.assign(**{name: frame[name].fillna("") for name in self.words})


def _catboost(_: pa.Table) -> Any:
    from catboost import CatBoostClassifier

    quiet = {"verbose": False, "allow_writing_files": False, "random_seed": 0}
    return _Words(lambda words: CatBoostClassifier(cat_features=words, **quiet))


def _ebm(_: pa.Table) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return _Words(lambda _: ExplainableBoostingClassifier(random_state=0))


MODELS = "NaiveBayes.textbook()", "NaiveBayes()", "AODE()", "AutoClassifier()"
PEERS: dict[str, Callable[[pa.Table], Any]] = {
    "LR": lambda _: _pipeline(LogisticRegression(max_iter=1000), one_hot=True),
    "RF": lambda _: _pipeline(RandomForestClassifier(random_state=0), one_hot=True),
    "HGB": _boosting,
    **({"CatBoost": _catboost} if find_spec("catboost") else {}),
    **({"EBM": _ebm} if find_spec("interpret") else {}),
}


def answers(rows: Rows, make: Callable[[pa.Table], Any], frames: bool) -> Answers:
    """Fit and ask a method, fold by fold."""
    table = rows.table
    if frames:
        table = pa.table(
            {
                name: column.cast(pa.float64()) if not pa.types.is_string(column.type) else column
                for name, column in zip(table.column_names, table.columns, strict=True)
            }
        )
    folds, seconds = [], process_time()
    for train, test in rows.folds:
        model, parts = make(table), (table.take(train), table.take(test))
        learnt, asked = (part.to_pandas() for part in parts) if frames else parts
        p = model.fit(learnt, rows.labels[train]).predict_proba(asked)
        at = np.full(rows.labels.max() + 1, -1)
        at[model.classes_] = np.arange(len(model.classes_))
        place = at[rows.labels[test]]
        truth = np.where(place >= 0, p[np.arange(len(p)), place], 0.0)
        right = p.argmax(axis=1) == place
        log_loss = -np.log(np.maximum(truth, LEAST)).mean()
        covered = np.zeros((0, len(COVERAGES)), np.bool_)
        if hasattr(model, "predict_set") and getattr(model, "calibration", "weights") != "none":
            sets = [model.predict_set(asked, coverage=coverage) for coverage in COVERAGES]
            own = [(place >= 0) & inside[np.arange(len(p)), place] for inside in sets]
            covered = np.stack(own, axis=1)
        folds.append((100 * (~right).mean(), log_loss, p.max(axis=1), right, covered))
    errors, losses, *pooled = zip(*folds, strict=True)
    spent = process_time() - seconds
    every = map(np.concatenate, pooled)
    return Answers(float(np.mean(errors)), float(np.mean(losses)), *every, spent)


def compare(
    usage: str | None, given: Iterable[Rows], for_peers: Callable[[pa.Table], pa.Table]
) -> None:
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=usage)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help="tables; all by default")
    model = "of suffice, with options: 'NaiveBayes(alpha=0.5)'; may be repeated"
    parser.add_argument("--model", action="append", metavar="EXPRESSION", help=model)
    parser.add_argument("--peers", action="store_true", help="other libraries' models too")
    options = parser.parse_args()
    models, peers = options.model or MODELS, PEERS if options.peers else {}
    names = [*models, *peers]
    print(f"| table | {' | '.join(names)} |", f"|---|{'---|' * len(names)}", sep="\n")
    found: dict[str, list[Answers]] = {}
    for rows in given:
        if options.names and rows.name not in options.names:
            continue
        plain = rows._replace(table=for_peers(rows.table))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line = [answers(rows, partial(_model, text), frames=False) for text in models]
            line += [answers(plain, make, frames=True) for make in peers.values()]
        cells = " | ".join(f"{one.error:.1f} / {one.log_loss:.3f}" for one in line)
        print(f"| {rows.name} | {cells} |", flush=True)
        if rows.name not in APART:
            found[rows.name] = line
    if found:
        print_means(names, found)


def _model(text: str, _: pa.Table) -> Any:
    return eval(text, {name: getattr(suffice, name) for name in suffice.__all__})


def print_means(names: list[str], found: dict[str, list[Answers]]) -> None:
    """Print what all tables say together."""
    columns = list(zip(*found.values(), strict=True))
    losses = np.array([[one.log_loss for one in column] for column in columns])
    ranks = (losses[:, None] > losses[None]).sum(axis=1) + 1
    errors = np.array([[one.error for one in column] for column in columns])
    rows = {
        f"**mean of {len(found)}**": [
            f"{error:.2f} / {loss:.4f}"
            for error, loss in zip(errors.mean(axis=1), losses.mean(axis=1), strict=True)
        ],
        "mean rank by log loss": [f"{rank:.2f}" for rank in ranks.mean(axis=1)],
        **{
            f"better / equal / worse than {name}": [
                " / ".join(map(str, _compared(own, losses[c]))) for own in losses
            ]
            for c, name in enumerate(names)
            if name in ("NaiveBayes()", "AutoClassifier()", *PEERS)
        },
        "mean ECE": [f"{np.mean([a.calibration_error for a in column]):.3f}" for column in columns],
        f"{_percent(COVERAGES)} % sets cover, %": [_coverage(column) for column in columns],
        "seconds of processor time": [f"{sum(a.seconds for a in c):.1f}" for c in columns],
    }
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")


def _compared(own: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[int, int, int]:
    """On how many tables the log loss is smaller, equal to 0.001 nats, and larger."""
    difference = np.round(own - other, 3)
    return int((difference < 0).sum()), int((difference == 0).sum()), int((difference > 0).sum())


def _coverage(column: tuple[Answers, ...]) -> str:
    """How many rows have their class in their set, rows of all tables together."""
    covered = np.concatenate([one.covered for one in column])
    return " / ".join(f"{100 * c:.2f}" for c in covered.mean(axis=0)) if len(covered) else "-"


def _percent(shares: tuple[float, ...]) -> str:
    return " / ".join(f"{100 * share:.0f}" for share in shares)


if __name__ == "__main__":
    compare(__doc__, tables(), lambda table: table)
