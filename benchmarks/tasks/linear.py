"""Linear models beside ``sklearn.linear_model`` and the oneDAL of scikit-learn-intelex."""

from __future__ import annotations

from functools import partial

from benchmarks import rows
from benchmarks.measure.contests import Contest, Solver
from benchmarks.measure.task import MILLION, Method, Target, Task

__all__ = ["CONTESTS", "TASKS"]

least_squares = partial(Method, "LinearRegression", "fit", module="linear_model")
ridge = partial(Method, "Ridge", "fit", module="linear_model")
lasso = partial(Method, "Lasso", "fit", module="linear_model")

WORKS = (
    ("linear-fit", least_squares(), (Target("ratio", 3),)),
    ("ridge-fit", ridge(), (Target("ratio", 3),)),
    ("lasso-fit", lasso(), (Target("ratio", 3),)),
)
logistic_l1 = Method(
    "LogisticRegression",
    "fit",
    module="linear_model",
    ours={"l1_ratio": 1.0},
    theirs={"l1_ratio": 1.0, "solver": "liblinear"},  # the quickest of scikit-learn's
)
TASKS = (
    *(Task(name, work, rows.numbers, MILLION, targets) for name, work, targets in WORKS),
    Task("logistic-l1-fit", logistic_l1, rows.overlapping, 100_000, (Target("ratio", 1),)),
)


def _logistic(library: str, *solvers: str) -> tuple[Solver, ...]:
    return tuple(
        Solver(library, "LogisticRegression", {"solver": name}, iterates=True) for name in solvers
    )


(ours,) = _logistic("suffice", "newton")
dense = (
    *_logistic("sklearn", "lbfgs", "newton-cholesky", "newton-cg"),
    *_logistic("sklearnex", "lbfgs", "newton-cg"),
)
sparse = _logistic("sklearn", "lbfgs", "newton-cg")  # a Hessian of 50,000 columns is 20 GB
bounds = {"sklearn": 4.0, "sklearnex": 1.3}


CONTESTS = (
    Contest(
        "linear-intelex",
        rows.numbers,
        MILLION,
        Solver("suffice", "LinearRegression"),
        (Solver("sklearnex", "LinearRegression"),),
        bounds={"sklearnex": 1.0},
    ),
    Contest(
        "ridge-intelex",
        rows.numbers,
        MILLION,
        Solver("suffice", "Ridge"),
        (Solver("sklearnex", "Ridge"),),
        penalty=1.0,
        bounds={"sklearnex": 1.0},
    ),
    Contest("logistic-2", rows.overlapping, MILLION, ours, dense, 1.0, bounds),
    Contest("logistic-5", partial(rows.overlapping, k=5), MILLION, ours, dense, 1.0, bounds),
    Contest(
        "logistic-text", partial(rows.words, k=2), 200_000, ours, sparse, 1.0, {"sklearn": 1.0}
    ),
)
