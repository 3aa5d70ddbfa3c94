"""Tables of every shape beside scikit-learn: ``python -m benchmarks.shapes [NAME ...] [--quick]``.

Every fit runs in a process of its own, after a small one to warm up. **CPU** is processor time,
**MB** the peak over the data. **apart** is the largest difference of predictions of new rows, in
units of the largest; **above** how far the objective is above theirs, as a fraction. Asked are 1.5
times the peer's seconds plus 0.3, twice its MB plus 100, and 1e-6 apart or 1e-9 above. The peer of
`NaiveBayes` is its textbook form, of which it may take three times plus 1 s; `AutoClassifier` has
none, and a number of seconds. Where a class has few rows, **shrunk** LDA is another estimate than
that of scikit-learn, which shrinks every class apart.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pkgutil import resolve_name
from resource import RLIMIT_CPU, setrlimit
from time import process_time
from typing import Any, NamedTuple
from warnings import simplefilter

import numpy as np
from scipy.sparse import issparse

from benchmarks.measure import rise

RNG = np.random.default_rng
NEW = 200  # rows that are predicted
LIMIT = 60  # seconds of processor time of one process
HEAD = "| shape | model | CPU | theirs | MB | theirs | apart | above | |"
PRELOADED = (
    *("benchmarks.measure", "pandas", "pyarrow.compute", "scipy.sparse.linalg", "scipy.optimize"),
    *("sklearn.linear_model", "sklearn.discriminant_analysis", "sklearn.naive_bayes"),
    *("sklearn.feature_extraction.text", "suffice.linear_model", "suffice.discriminant_analysis"),
    *("suffice.naive_bayes", "suffice.model_selection"),
)


# Tables ------------------------------------------------------------------------------------------


class Rows(NamedTuple):
    """Rows, the last of them new; ``peer`` makes of x what scikit-learn takes, within its time."""

    x: Any
    y: Any
    label: Any
    peer: Callable[[Any], Any] = lambda x: x
    options: Mapping[str, Any] = {}
    gaps: bool = False

    def part(self, new: bool) -> tuple[Any, Any, Any]:
        n = len(self.y) - NEW
        rows = slice(n, None) if new else slice(n)
        x = self.x.iloc[rows] if hasattr(self.x, "iloc") else self.x[rows]
        return x, self.y[rows], self.label[rows]


def halves(y: Any) -> Any:
    return np.where(y > np.median(y), "b", "a")


def dense(n: int, p: int, k: int = 2, dtype: Any = float, change: Any = None) -> Rows:
    """Numbers; k classes differ in their means, two by the sum of some columns."""
    rng = RNG(n + p)
    x = rng.normal(size=(n + NEW, p))
    label = np.append(np.arange(k), rng.integers(0, k, n + NEW - k))
    if k > 2:
        x += rng.normal(size=(k, p))[label]
    x = 3 * x if np.issubdtype(dtype, np.integer) else x
    y = x[:, :20].sum(axis=1) + rng.normal(size=n + NEW)
    x = np.ascontiguousarray((x if change is None else change(x)).astype(dtype))
    return Rows(x, y, label if k > 2 else halves(y + 3 * rng.normal(size=n + NEW)))


def twins(x: Any) -> Any:
    return np.hstack([x, x, np.full((len(x), 1), 7.0)])


def constants(x: Any) -> Any:
    x[:, ::2] = 5.0
    return x


def collinear(x: Any) -> Any:
    return np.cumsum(x, axis=1) + 100.0


def gaps(n: int, p: int) -> Rows:
    rows = dense(n, p)
    holes = RNG(2).random(rows.x.shape) < 0.2 / p
    holes[n:] = False
    x = np.where(holes, np.nan, rows.x)
    return rows._replace(x=x, options={"incomplete": "drop"}, gaps=True)


def sparse(n: int, p: int, cells: int, k: int = 2, counts: bool = False) -> Rows:
    """Rows of so many cells; few columns have many of them, as words do."""
    from scipy.sparse import csr_array

    rng = RNG(n + p)
    share = 1.0 / np.arange(1, p + 1) ** 0.6
    column = rng.choice(p, (n + NEW, cells), p=share / share.sum()).ravel()
    value = np.ones(len(column)) if counts else rng.random(len(column))
    row = np.repeat(np.arange(n + NEW), cells)
    x = csr_array((value, (row, column)), shape=(n + NEW, p))
    x.sum_duplicates()
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    slopes = rng.normal(size=(p, max(k, 2)))
    score = x @ slopes + rng.gumbel(size=(n + NEW, max(k, 2)))
    y = x @ slopes[:, 0] + rng.normal(size=n + NEW)
    return Rows(x, y, score.argmax(axis=1))


def categories(n: int, *sizes: int, k: int = 2) -> Rows:
    """Three numbers and columns of so many categories; one-hot without the first for the peer."""
    import pandas as pd

    rng = RNG(n)
    x, y = rng.normal(size=(n + NEW, 3)), rng.normal(size=n + NEW)
    table: dict[str, Any] = {f"x{j}": column for j, column in enumerate(x.T)}
    for j, size in enumerate(sizes):
        code = np.concatenate([np.arange(size), rng.integers(0, size, n + NEW - size)])
        y += rng.normal(size=size)[code]
        table[f"c{j}"] = pd.Categorical.from_codes(code, [f"{name:06d}" for name in range(size)])
    numbers = [f"x{j}" for j in range(3)]

    def one_hot(rows: Any) -> Any:
        from scipy.sparse import coo_array, csr_array, hstack

        blocks: list[Any] = [csr_array(rows[numbers].to_numpy())]
        for name, size in zip([name for name in rows if name not in numbers], sizes, strict=True):
            code = np.asarray(rows[name].cat.codes)
            row = np.flatnonzero(code > 0)
            cells = np.ones(len(row)), (row, code[row] - 1)
            blocks.append(coo_array(cells, shape=(len(code), size - 1)))
        x = csr_array(hstack(blocks))
        x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
        return x

    y = y + x.sum(axis=1)
    label = halves(y) if k == 2 else np.searchsorted(np.quantile(y, np.arange(1, k) / k), y)
    return Rows(pd.DataFrame(table), y, label, one_hot)


def texts(n: int) -> Rows:
    """Texts of 15 words, of which rare ones are many; tf-idf with pairs."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = RNG(n).zipf(1.3, (n + NEW, 15)) % 20_000
    rows = pd.DataFrame({"note": [" ".join(f"w{word}" for word in row) for row in words]})
    y = (words == 1).sum(axis=1) + RNG(1).normal(size=n + NEW)
    kept = TfidfVectorizer(ngram_range=(1, 2))

    def weighted(rows: Any) -> Any:
        return (kept.transform if hasattr(kept, "idf_") else kept.fit_transform)(rows["note"])

    return Rows(rows, y, halves(y), weighted, {"words": "tf-idf"})


WIDE = "OLS ridge lasso logistic L1 LDA"
TABLE: dict[str, tuple[Callable[[], Rows], str]] = {
    # wide
    "50 x 100,000": (partial(dense, 50, 100_000), "OLS ridge logistic GaussianNB"),
    "100 x 1,000": (partial(dense, 100, 1_000), "NaiveBayes AutoClassifier"),
    "100 x 3,000": (partial(dense, 100, 3_000), f"{WIDE} net NaiveBayes AutoClassifier"),
    "100 x 10,000": (partial(dense, 100, 10_000), f"{WIDE} NaiveBayes"),
    "100 x 20,000": (partial(dense, 100, 20_000), "NaiveBayes GaussianNB"),
    "120 x 12,000, 3 classes": (partial(dense, 120, 12_000, 3), "LDA AutoClassifier"),
    "400 x 4,096, 40 classes": (partial(dense, 400, 4_096, 40), "LDA logistic GaussianNB"),
    "400 x 1,000, 40 classes": (partial(dense, 400, 1_000, 40), "shrunk NaiveBayes"),
    "1,000 x 1,000": (partial(dense, 1_000, 1_000), "OLS ridge lasso"),
    "2,000 x 5,000": (partial(dense, 2_000, 5_000), "ridge lasso L1"),
    # tall
    "50 x 2": (partial(dense, 50, 2), f"{WIDE} QDA NaiveBayes"),
    "1,000 x 100, 30 classes": (partial(dense, 1_000, 100, 30), "LDA NaiveBayes AutoClassifier"),
    "10,000 x 784, 10 classes": (partial(dense, 10_000, 784, 10), "logistic NaiveBayes"),
    "100,000 x 300": (partial(dense, 100_000, 300), "OLS ridge lasso logistic GaussianNB"),
    "20,000 x 200": (partial(dense, 20_000, 200), "LDA QDA L1"),
    "1,000,000 x 2": (partial(dense, 1_000_000, 2), "OLS logistic GaussianNB"),
    "1,000,000 x 10": (partial(dense, 1_000_000, 10), "OLS ridge lasso LDA"),
    "float32 50,000 x 100": (partial(dense, 50_000, 100, dtype=np.float32), "OLS logistic LDA"),
    "integers 50,000 x 50": (partial(dense, 50_000, 50, dtype=np.int64), "OLS logistic LDA"),
    "missing cells 50,000 x 40": (partial(gaps, 50_000, 40), "OLS ridge logistic"),
    # columns that say the same, or nothing
    "twins 1,000 x 601": (partial(dense, 1_000, 300, change=twins), "OLS ridge lasso logistic"),
    "twins 200 x 2,001": (partial(dense, 200, 1_000, change=twins), "OLS ridge lasso"),
    "constants 1,000 x 400": (partial(dense, 1_000, 400, change=constants), "OLS ridge lasso"),
    "sums 5,000 x 100": (partial(dense, 5_000, 100, change=collinear), "OLS ridge net logistic"),
    # many classes
    "50,000 x 50, 1,000 classes": (partial(dense, 50_000, 50, 1_000), "GaussianNB NaiveBayes"),
    "20,000 x 20, 5,000 classes": (partial(dense, 20_000, 20, 5_000), "GaussianNB NaiveBayes LDA"),
    "2,000 x 20, 200 classes": (partial(dense, 2_000, 20, 200), "logistic LDA"),
    # sparse
    "sparse 5,000 x 5,000": (partial(sparse, 5_000, 5_000, 50), "OLS ridge lasso L1"),
    "sparse 20,000 x 5,000": (partial(sparse, 20_000, 5_000, 20), "OLS ridge lasso logistic"),
    "sparse 5,574 x 50,000": (partial(sparse, 5_574, 50_000, 30), "ridge lasso logistic L1"),
    "sparse 1,000 x 100,000": (partial(sparse, 1_000, 100_000, 100), "ridge logistic L1"),
    "counts 100,000 x 2,000": (
        partial(sparse, 100_000, 2_000, 10, counts=True),
        "ridge L1 MultinomialNB BernoulliNB",
    ),
    "sparse 5,000 x 20,000, 20 classes": (partial(sparse, 5_000, 20_000, 50, 20), "logistic"),
    # categories and texts
    "200 categories, 3 classes": (partial(categories, 100_000, 200, k=3), "LDA logistic"),
    "3,000 categories": (partial(categories, 100_000, 3_000, 20), "OLS ridge lasso logistic LDA"),
    "two of 20,000 and 5,000": (partial(categories, 200_000, 20_000, 5_000), "OLS ridge"),
    "100,000 categories": (partial(categories, 300_000, 100_000), "OLS ridge lasso logistic"),
    "5,000 texts": (partial(texts, 5_000), "ridge lasso logistic L1"),
}
QUICK = ("100 x 3,000", "twins 1,000 x 601", "sparse 5,000 x 5,000", "200 categories, 3 classes")


# Models ------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Our model and the peer's, whose options may follow from x; and the parts of the penalty."""

    ours: str
    theirs: str
    options: Mapping[str, Any] = {}
    their_options: Callable[[Any], Mapping[str, Any]] = lambda x: {}
    penalty: tuple[float, float] | None = None  # of squares and of absolute values
    classifies: bool = True
    cpu: tuple[float, float] = (1.5, 0.3)

    def model(self, side: str, options: Mapping[str, Any], x: Any = None) -> Any:
        of = resolve_name(self.ours if side == "ours" else self.theirs)
        return of(**self.options, **(options if side == "ours" else self.their_options(x)))

    def objective(self, model: Any, x: Any, y: Any) -> float:
        """Half the residuals' squares over n, or log loss; and the penalty."""
        if self.penalty is None:
            return float("nan")
        w = np.asarray(model.coef_, float)
        squares, absolute = self.penalty
        unit = 1.0 if self.classifies else 1.0 / len(y)
        cost = 0.5 * squares * (w**2).sum() * unit + absolute * np.abs(w).sum()
        if not self.classifies:
            return float(0.5 * ((y - model.predict(x)) ** 2).mean() + cost)
        shown = model.predict_proba(x)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        return float(cost - np.log(np.maximum(shown, 1e-300)).sum())


def tall(x: Any) -> bool:
    return x is not None and isinstance(x, np.ndarray) and len(x) > 5 * x.shape[1]


def linear(name: str, options: Mapping[str, Any], theirs: Any, penalty: Any, **more: Any) -> Pair:
    ours = f"suffice.linear_model.{name}"
    return Pair(ours, f"sklearn.linear_model.{name}", options, theirs, penalty, **more)


def generative(name: str, options: Mapping[str, Any] | None = None) -> Pair:
    return Pair(f"suffice.{name}", f"sklearn.{name}", options or {})


def descent(x: Any) -> dict[str, Any]:
    return {"tol": 1e-10, "max_iter": 100_000, "precompute": tall(x)}


def of_logistic(x: Any) -> dict[str, Any]:
    solver = "newton-cholesky" if tall(x) and x.shape[1] <= 300 else "lbfgs"
    return {"solver": solver, "tol": 1e-7, "max_iter": 100_000}


def of_l1(x: Any) -> dict[str, Any]:
    return {"solver": "liblinear", "tol": 1e-8, "random_state": 0, "max_iter": 100_000}


LINE = {"classifies": False}
LDA = "discriminant_analysis.LinearDiscriminantAnalysis"
SHRUNK = {"solver": "lsqr", "shrinkage": "auto"}
L1 = {"l1_ratio": 1.0, "fit_intercept": False}
MODELS: dict[str, Pair] = {
    "OLS": linear("LinearRegression", {}, lambda x: {"tol": 1e-10}, (0.0, 0.0), **LINE),
    "ridge": linear("Ridge", {"alpha": 1.0}, lambda x: {"tol": 1e-10}, (1.0, 0.0), **LINE),
    "lasso": linear("Lasso", {"alpha": 0.1}, descent, (0.0, 0.1), **LINE),
    "net": linear("ElasticNet", {"alpha": 0.2}, descent, None, **LINE),
    "logistic": linear("LogisticRegression", {}, of_logistic, (1.0, 0.0)),
    "L1": linear("LogisticRegression", L1, of_l1, (0.0, 1.0)),
    "LDA": generative(LDA),
    "shrunk": generative(LDA, SHRUNK),
    "QDA": generative("discriminant_analysis.QuadraticDiscriminantAnalysis"),
    "GaussianNB": generative("naive_bayes.GaussianNB"),
    "MultinomialNB": generative("naive_bayes.MultinomialNB"),
    "BernoulliNB": generative("naive_bayes.BernoulliNB"),
    "NaiveBayes": Pair("suffice.NaiveBayes", "suffice.NaiveBayes.textbook", cpu=(3.0, 1.0)),
    "AutoClassifier": Pair("suffice.AutoClassifier", ""),
}
OTHERWISE = ("NaiveBayes", "shrunk")  # are not to predict as their peers do
ALONE = {  # seconds, of fits without a peer
    ("100 x 1,000", "AutoClassifier"): 5.0,
    ("100 x 3,000", "AutoClassifier"): 20.0,
    ("120 x 12,000, 3 classes", "AutoClassifier"): 60.0,
    ("1,000 x 100, 30 classes", "AutoClassifier"): 3.0,
    ("3,000 categories", "LDA"): 3.0,  # of which its own takes gigabytes
}


# Measuring ---------------------------------------------------------------------------------------


class Found(NamedTuple):
    """Seconds and MB of a fit, its objective, and predictions of new rows."""

    seconds: float
    memory: float
    objective: float
    predictions: Any


def fit(shape: str, name: str, side: str, answer: Connection) -> None:
    """Fit in this process, and send what was found, or the error."""
    setrlimit(RLIMIT_CPU, (LIMIT, LIMIT))
    pair, rows, ours = MODELS[name], TABLE[shape][0](), side == "ours"
    (x, y, label), (new, *_) = rows.part(False), rows.part(True)
    y = label if pair.classifies else y
    options = rows.options if ours else {}

    def shown(x: Any) -> Any:
        x = x if ours or pair.theirs.startswith("suffice") else rows.peer(x)
        return x.toarray() if name in ("LDA", "QDA") and not ours and issparse(x) else x

    kept = ~np.isnan(x).any(axis=1) if rows.gaps else slice(None)
    if rows.gaps and not ours:
        x, y, kept = x[kept], y[kept], slice(None)
    models: list[Any] = []
    taken = [0.0]

    def work() -> None:
        taken[0] -= process_time()
        given = shown(x)
        models.append(pair.model(side, options, given).fit(given, y))
        getattr(models[0], "coef_", None)  # which may be solved for when they are asked for
        taken[0] += process_time()

    simplefilter("ignore")
    try:
        warm = RNG(0).random((40, 2))
        pair.model(side, {}).fit(warm, np.arange(40) % 2)
        memory = rise(work)
        ask = "decision_function" if "Discriminant" in pair.ours else "predict_proba"
        found = getattr(models[0], ask if pair.classifies else "predict")(shown(new))
        value = pair.objective(models[0], shown(x[kept] if rows.gaps else x), y[kept])
        answer.send(Found(taken[0], memory, value, np.ravel(found)))
    except Exception as error:
        answer.send(f"{type(error).__name__}: {error}".partition("\n")[0][:90])


def in_process(shape: str, name: str, side: str) -> Found | str:
    """Fit in a fresh process, of which modules are loaded; else say why there is no model."""
    context = get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=fit, args=(shape, name, side, there))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return f"> {LIMIT} s"
    finally:
        process.kill()
        process.join()


def measured(shape: str, name: str) -> list[str]:
    """Fit both, and return what a row of the table says."""
    ours, seconds, memory = in_process(shape, name, "ours"), ALONE.get((shape, name)), np.inf
    if isinstance(ours, str):
        return [shape, name, ours, *[""] * 5, "**short**"]
    figures, apart, above, same = ["", ""], np.nan, np.nan, True
    if seconds is None:
        theirs, (factor, more) = in_process(shape, name, "theirs"), MODELS[name].cpu
        if isinstance(theirs, str):
            figures, seconds = [theirs, ""], np.inf
        else:
            figures = [f"{theirs.seconds:,.2f}", f"{theirs.memory:,.0f}"]
            seconds, memory = factor * theirs.seconds + more, 2.0 * theirs.memory + 100.0
            apart = np.abs(ours.predictions - theirs.predictions).max()
            apart /= max(np.abs(theirs.predictions).max(), 1e-300)
            above = (ours.objective - theirs.objective) / abs(theirs.objective)
            same = apart <= (1e-4 if "float32" in shape else 1e-6) or above <= 1e-9
    over = {
        "CPU": ours.seconds > seconds,
        "MB": ours.memory > memory,
        "apart": not same and name not in OTHERWISE,
    }
    short = " ".join(word for word, one in over.items() if one)
    mine = f"{ours.seconds:,.2f}", f"{ours.memory:,.0f}"
    far = ["" if np.isnan(one) else f"{one:.0e}" for one in (apart, above)]
    shown = [mine[0], figures[0], mine[1], figures[1], *far]
    return [shape, name, *shown, f"**{short}**" if short else "met"]


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser("python -m benchmarks.shapes", description=__doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    said = "shapes or models; default: all"
    parser.add_argument("names", nargs="*", metavar="NAME", help=said)
    parser.add_argument("--quick", action="store_true", help="a few, which take a minute")
    options = parser.parse_args()
    if unknown := set(options.names).difference(TABLE, MODELS):
        parser.error(f"no {', '.join(sorted(unknown))}; there are {', '.join([*TABLE, *MODELS])}")
    shapes = [one for one in options.names if one in TABLE]
    models = [one for one in options.names if one in MODELS]
    print(HEAD, "|---" * 9 + "|", sep="\n")
    for shape in shapes or (QUICK if options.quick else TABLE):
        for name in TABLE[shape][1].split():
            if name in (models or MODELS):
                print(f"| {' | '.join(measured(shape, name))} |", flush=True)


if __name__ == "__main__":
    main()
