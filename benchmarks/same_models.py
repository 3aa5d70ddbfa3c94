"""Compare parameters and answers of two versions to the bit: every estimator, ten tables.

Usage: ``python -m benchmarks.same_models OLD [NEW]``, each a commit or the folder of a source tree;
NEW is this one unless it is given. The compiled kernels of this tree serve every version whose
``src/native`` is the same; otherwise its own are built. Every version runs in a process of its own,
with this very script. Compared are public parameters, answers, and both once more after merging,
forgetting, saving and loading. What only one version has counts as a difference.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
KERNELS = Path("suffice", "numerics")
ALONE = "import sys; sys.path.insert(0, sys.argv[1]); import same_models; same_models.write()"

PARAMETERS = (
    *("class_count_", "class_prior_", "priors_", "theta_", "var_", "feature_log_prob_"),
    *("category_count_", "means_", "coef_", "intercept_", "explained_variance_ratio_"),
    *("n_parameters_", "rank_", "singular_", "effective_parameters_", "loss_history_"),
)
ANSWERS = ("predict_joint_log_proba", "predict_log_proba", "decision_function", "predict")
FEW = 200  # rows that are answered


def main() -> None:
    """Compare, and end with 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_models", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("old", help="a commit, or the folder of a source tree")
    parser.add_argument("new", nargs="?", default=str(ROOT), help="another; default: this tree")
    parser.add_argument("--table", default="", help="one of the ten tables; default: all")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        old, new = (
            results(stack.enter_context(package(version)), chosen.table)
            for version in (chosen.old, chosen.new)
        )
    fits: dict[str, list[str]] = {name.rpartition(": ")[0]: [] for name in old | new}
    for name in sorted(old | new):
        if found := difference(old.get(name), new.get(name)):
            fit, _, what = name.rpartition(": ")
            fits[fit].append(f"{what} ({found})")
    for fit, differences in fits.items():
        if differences:
            print(f"{fit}: {', '.join(differences)}")
    differing = sum(map(bool, fits.values()))
    print(f"{len(fits)} fits, {len(old | new):,} results: {differing} fits differ")
    sys.exit(bool(differing))


def difference(old: Any, new: Any) -> str:
    """Return how two arrays differ, in words; nothing if they are equal to the bit."""
    import numpy as np

    if old is None or new is None:
        return "only before" if new is None else "only now"
    if old.dtype != new.dtype or old.shape != new.shape:
        return f"{old.dtype} {old.shape} before, {new.dtype} {new.shape} now"
    if old.tobytes() == new.tobytes():
        return ""
    if old.dtype.kind != "f":
        return f"{np.sum(old != new)} of {old.size}"
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.nanmax(np.abs(old - new) / np.maximum(np.abs(old), np.abs(new)), initial=0.0)
    return f"{relative:.1e}"


@contextmanager
def package(version: str) -> Iterator[str]:
    """Give the folder that holds the package of a version, with its kernels."""
    with TemporaryDirectory() as folder:
        source, found = Path(version), Path(folder, "package")
        if not (source / "src" / "suffice").is_dir():
            source = Path(folder, "source")
            source.mkdir()
            archive = subprocess.run(
                ["git", "archive", version], cwd=ROOT, check=True, stdout=subprocess.PIPE
            )
            subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)
        if equal(source / "src" / "native", ROOT / "src" / "native"):
            shutil.copytree(source / "src" / "suffice", found / "suffice")
            for kernels in compiled():
                shutil.copy(kernels, found / KERNELS)
        else:
            install = ["-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps"]
            target = ["--target", str(found), str(source.resolve())]
            subprocess.run([sys.executable, *install, *target], check=True, stdout=sys.stderr)
        yield str(found)


def compiled() -> list[Path]:
    """Return the kernels of this tree: beside its modules, or where it is installed."""
    here = ROOT / "src" / KERNELS
    spec = find_spec("suffice.numerics")
    places = [here, *map(Path, (spec and spec.submodule_search_locations) or ())]
    found = (sorted([*place.glob("kernels*.so"), *place.glob("kernels*.pyd")]) for place in places)
    return next(filter(None, found), [])


def equal(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same files."""
    names = [
        sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.suffix in SOURCES)
        for top in (one, other)
    ]
    if names[0] != names[1]:
        return False
    same, _, _ = filecmp.cmpfiles(one, other, names[0], shallow=False)
    return len(same) == len(names[0])


SOURCES = (".cpp", ".hpp", ".txt", ".cmake")


def results(folder: str, table: str) -> dict[str, Any]:
    """Return the arrays of a version, by fit and name."""
    import numpy as np

    with TemporaryDirectory() as place:
        file = str(Path(place, "results.npz"))
        settings = {"PYTHONPATH": folder, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-c", ALONE, str(Path(__file__).parent), file, folder, table]
        subprocess.run(command, cwd="/", check=True, env=os.environ | settings)
        with np.load(file) as found:
            return dict(found)


def write() -> None:
    """Write parameters and answers of every model on every table that it suits."""
    file, folder, table = sys.argv[2:]
    import numpy as np

    import suffice

    assert Path(suffice.__file__).is_relative_to(folder), suffice.__file__
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    for name, (X, y, values) in tables().items():
        if table in ("", name):
            for kind, make in models(name).items():
                for what, value in of_fit(make, X, values if is_regression(kind) else y).items():
                    found[f"{kind} of {name}: {what}"] = np.asarray(value)
    np.savez(file, **found)


def is_regression(kind: str) -> bool:
    """Return whether a kind of model predicts numbers."""
    return kind.split()[0] in ("LinearRegression", "Ridge", "Lasso", "ElasticNet")


def of_fit(make: Callable[[], Any], X: Any, y: Any) -> dict[str, Any]:
    """Return what a fit gives; the type of the error where there is none."""
    import suffice

    found: dict[str, Any] = {}
    half = X.shape[0] // 2 if hasattr(X, "shape") else len(X) // 2
    first, rest = X[:half], X[half:]
    try:
        model = make().fit(X, y)
    except Exception as error:
        return {"fit": type(error).__name__}
    found |= said(model, X)
    with TemporaryDirectory() as place:
        model.save(Path(place, "model"))
        found |= {
            f"{k} when loaded": v for k, v in said(suffice.load(Path(place, "model")), X).items()
        }
    if hasattr(model, "merge") and hasattr(model, "forget"):
        try:
            merged = make().fit(first, y[:half]).merge(make().fit(rest, y[half:]))
            found |= {f"{k} when merged": v for k, v in said(merged, X).items()}
            found |= {
                f"{k} when forgotten": v for k, v in said(model.forget(rest, y[half:]), X).items()
            }
        except Exception as error:
            found["merge and forget"] = type(error).__name__
    return found


def said(model: Any, X: Any) -> dict[str, Any]:
    """Return the parameters of a fitted model, and its answers to some rows."""
    found = {name: getattr(model, name) for name in PARAMETERS if hasattr(model, name)}
    found = {k: v for k, v in found.items() if not isinstance(v, list | tuple | dict)}
    for name in ANSWERS:
        if hasattr(model, name):
            try:
                found[name] = getattr(model, name)(X[:FEW])
            except Exception as error:
                found[name] = type(error).__name__
    return found


def tables() -> dict[str, tuple[Any, Any, Any]]:
    """Return rows, labels and numeric targets of ten tables."""
    import numpy as np
    import pyarrow as pa
    from scipy.sparse import csr_array
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    rng = np.random.default_rng(0)
    found: dict[str, tuple[Any, Any, Any]] = {}
    loaders = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
    for name, load in loaders.items():
        x, y = load(return_X_y=True)
        found[name] = x, y, x[:, 0] * 2.0 + y
    x, y = load_digits(return_X_y=True)
    found["digits"] = x, y, x.sum(axis=1)
    x = rng.normal(size=(2_000, 6)) @ rng.normal(size=(6, 6)) + 1e6
    y = (x[:, 0] > 1e6).astype(int) + (x[:, 1] > 1e6)
    found["offset"] = x, y, x @ np.arange(6.0)
    gaps = np.where(rng.random(x.shape) < 0.1, np.nan, x - 1e6)
    found["gaps"] = gaps, y, rng.normal(size=len(y))
    wide = rng.normal(size=(60, 200))
    found["wide"] = wide, np.arange(60) % 3, wide[:, 0]
    skewed = np.exp(3.0 * rng.normal(size=(3_000, 4)))
    found["skewed"] = skewed, (skewed[:, 0] > 1.0).astype(int), np.log(skewed[:, 1])
    words = csr_array(rng.poisson(0.2, size=(500, 300)))
    found["words"] = words, np.arange(500) % 4, rng.normal(size=500)
    color = rng.choice(np.array(["red", "green", "blue", None], object), 900)
    size = rng.normal(size=900)
    kind = np.where(size + (color == "red") > 0.5, "apple", "plum")
    text = [" ".join(rng.choice(["sweet", "sour", "ripe", "green"], 3)) for _ in range(900)]
    mixed = pa.table({"color": color.tolist(), "size": size, "flag": size > 0, "text": text})
    found["mixed"] = mixed, kind, size
    return found


def models(table: str) -> dict[str, Callable[[], Any]]:
    """Return the models that a table suits, by name."""
    from functools import partial

    from suffice import AODE, AutoClassifier
    from suffice import discriminant_analysis as da
    from suffice import linear_model as lm
    from suffice import naive_bayes as nb

    if table == "mixed":
        return {
            f"NaiveBayes {estimation}": partial(nb.NaiveBayes.textbook, estimation=estimation)
            for estimation in ("bayes", "mle", "map")
        } | {"NaiveBayes": nb.NaiveBayes, "LogisticRegression": lm.LogisticRegression}
    if table == "words":
        counted = nb.BernoulliNB, nb.MultinomialNB, nb.ComplementNB, lm.LogisticRegression
        return {kind.__name__: kind for kind in counted}
    found: dict[str, Callable[[], Any]] = {
        "GaussianNB": nb.GaussianNB,
        "NaiveBayes textbook": partial(nb.NaiveBayes.textbook, numbers="gaussian"),
        "NaiveBayes": nb.NaiveBayes,
        "LinearDiscriminantAnalysis": da.LinearDiscriminantAnalysis,
        "LinearDiscriminantAnalysis shrunk": partial(
            da.LinearDiscriminantAnalysis, solver="lsqr", shrinkage="auto"
        ),
        "QuadraticDiscriminantAnalysis": da.QuadraticDiscriminantAnalysis,
    }
    if table == "gaps":
        return found | {
            "LinearRegression drop": partial(lm.LinearRegression, incomplete="drop"),
            "LogisticRegression drop": partial(lm.LogisticRegression, incomplete="drop"),
        }
    found |= {
        "LinearRegression": lm.LinearRegression,
        "LinearRegression gradient": partial(lm.LinearRegression, solver="gradient"),
        "Ridge": lm.Ridge,
        "Ridge gcv": partial(lm.Ridge, alpha="gcv"),
        "Lasso": partial(lm.Lasso, alpha=0.1),
        "ElasticNet": partial(lm.ElasticNet, alpha=0.1),
        "LogisticRegression": lm.LogisticRegression,
        "LogisticRegression lbfgs": partial(lm.LogisticRegression, solver="lbfgs"),
        "LogisticRegression sgd": partial(lm.LogisticRegression, solver="sgd"),
    }
    if table == "digits":
        found |= {"CategoricalNB": nb.CategoricalNB, "MultinomialNB": nb.MultinomialNB}
    if table == "iris":
        found |= {"AODE": AODE, "AutoClassifier": AutoClassifier}
    return found


if __name__ == "__main__":
    main()
