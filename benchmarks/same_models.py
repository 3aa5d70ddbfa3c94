"""Whether two versions write the same models: every estimator, ten tables, byte for byte.

Usage: ``python -m benchmarks.same_models OLD [NEW]``. Each is a commit or the path of a Python
interpreter that has the version installed; NEW is this interpreter unless it is given. A commit is
built and installed, without its dependencies, into a temporary environment that sees the packages
of this one. Every version runs in a process of its own, with this very script.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import sysconfig
import venv
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
ALONE = "import sys; sys.path.insert(0, sys.argv[1]); import same_models; same_models.write()"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_models", description=__doc__)
    parser.add_argument("old", help="a commit, or a Python interpreter")
    parser.add_argument("new", nargs="?", default=sys.executable, help="another; default: this one")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        old, new = (digests(stack.enter_context(python(v))) for v in (chosen.old, chosen.new))
    differ = sorted(name for name in old | new if old.get(name) != new.get(name))
    for name in differ:
        print(f"{name}: {old.get(name, 'absent')[:12]} before, {new.get(name, 'absent')[:12]} now")
    print(f"{len(old)} models, {len(differ)} differ")
    sys.exit(bool(differ))


@contextmanager
def python(version: str) -> Iterator[str]:
    """The interpreter of a version: the one that is named, or one that a commit is built for."""
    if Path(version).is_file():
        yield version
        return
    with TemporaryDirectory() as folder:
        source, home = Path(folder, "source"), Path(folder, "environment")
        archive = subprocess.run(
            ["git", "archive", version], cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
        source.mkdir()
        subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)
        interpreter = _environment(home)
        install = [interpreter, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps"]
        subprocess.run([*install, str(source)], check=True, stdout=sys.stderr)
        yield interpreter


def _environment(home: Path) -> str:
    """Make an environment that has the packages of this one, after its own."""
    venv.create(home, with_pip=True)
    scheme = sysconfig.get_preferred_scheme("prefix")
    own = sysconfig.get_path("purelib", scheme, vars={"base": str(home), "platbase": str(home)})
    shared = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    Path(own, "shared.pth").write_text("\n".join(shared) + "\n")
    scripts = sysconfig.get_path("scripts", scheme, vars={"base": str(home)})
    return str(Path(scripts, Path(sys.executable).name))


def digests(interpreter: str) -> dict[str, str]:
    """What a version writes: a digest for each model."""
    command = [interpreter, "-c", ALONE, str(Path(__file__).parent)]
    done = subprocess.run(command, cwd="/", check=True, stdout=subprocess.PIPE, text=True)
    return dict(line.split("\t") for line in done.stdout.splitlines())


def write() -> None:
    """Print a digest of every model on every table that it can be fitted to."""
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for table, (X, y, values) in tables().items():
            for name, model in models(table).items():
                regression = name.startswith(("LinearRegression", "Ridge"))
                model.fit(X, values if regression else y).save(path)
                print(f"{name} of {table}", hashlib.sha256(path.read_bytes()).hexdigest(), sep="\t")


def tables() -> dict[str, tuple[Any, Any, Any]]:
    """Rows, labels, and numeric targets of ten tables."""
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


def models(table: str) -> dict[str, Any]:
    """The models that a table suits, by name."""
    from suffice import discriminant_analysis as da
    from suffice import linear_model as lm
    from suffice import naive_bayes as nb

    naive_bayes = getattr(nb.NaiveBayes, "textbook", nb.NaiveBayes)  # older ones have no other
    if table == "mixed":
        return {
            f"NaiveBayes {estimation}": naive_bayes(estimation=estimation)
            for estimation in ("bayes", "mle", "map")
        }
    if table == "words":
        counted = nb.BernoulliNB, nb.MultinomialNB, nb.ComplementNB, lm.LogisticRegression
        return {kind.__name__: kind() for kind in counted}
    found: dict[str, Any] = {
        "GaussianNB": nb.GaussianNB(),
        "NaiveBayes": naive_bayes(),
        "NaiveBayes by default": nb.NaiveBayes(),
        "LDA": da.LinearDiscriminantAnalysis(),
        "LDA shrunk": da.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        "QDA": da.QuadraticDiscriminantAnalysis(),
    }
    if table == "gaps":  # by the former name of `incomplete`, which earlier commits know too
        return found | {
            "LinearRegression gaussian": lm.LinearRegression(missing="gaussian"),
            "LinearRegression drop": lm.LinearRegression(missing="drop"),
            "LogisticRegression drop": lm.LogisticRegression(missing="drop"),
        }
    found |= {
        "LinearRegression": lm.LinearRegression(),
        "LinearRegression gradient": lm.LinearRegression(solver="gradient"),
        "Ridge": lm.Ridge(),
        "Ridge gcv": lm.Ridge(alpha="gcv"),
        "LogisticRegression": lm.LogisticRegression(),
        "LogisticRegression lbfgs": lm.LogisticRegression(solver="lbfgs"),
        "LogisticRegression sgd": lm.LogisticRegression(solver="sgd"),
    }
    if table == "digits":
        found |= {"CategoricalNB": nb.CategoricalNB(), "MultinomialNB": nb.MultinomialNB()}
    return found


if __name__ == "__main__":
    main()
