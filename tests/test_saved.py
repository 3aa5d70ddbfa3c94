"""What is loaded is checked first: files forged with care, each with a digest that holds."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.forged_files.mutants import TYPES

import suffice
from suffice import LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.data.schema import BlockLayout, Numbered, UniformColumns
from suffice.errors import ModelFileError
from suffice.families import Bernoulli, Family, Gaussian, JointTable
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from suffice.numerics.exact import DoubleDouble
from suffice.persist import read_model, write_model
from suffice.sums.comoments import Comoments
from suffice.sums.vocabulary import Vocabulary

X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [4.0, 5.0], [3.0, 1.0], [5.0, 2.0]])
LABELS, CLASSES = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 1, 2, 0, 1, 2])
TARGET = X @ [1.0, -2.0] + [0.1, 0.0, -0.1, 0.2, 0.0, 0.1]
NOTES = pa.table({"note": ["to be", "or not", "to be", "that is"], "y": ["a", "b", "a", "b"]})

Content = dict[str, Any]
Change = Callable[[Content], Content]


def forged(model: Any, change: Change, path: Path) -> Path:
    """A model's file after its content was changed."""
    model.save(path)
    kind, content = read_model(path, types=TYPES)
    write_model(path, kind, change(content), types=TYPES)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        suffice.load(path)
    return str(caught.value).removeprefix(f"{path}: ")


def of_sums(**changes: Callable[[Any], Any]) -> Change:
    """Change fields of the first statistic: a linear model's sums, or those of the first block."""

    def changed(statistic: Any) -> Any:
        return replace(statistic, **{name: make(statistic) for name, make in changes.items()})

    def change(content: Content) -> Content:
        first, *others = content["batches"]
        if isinstance(first, Comoments):
            return content | {"batches": (changed(first), *others)}
        blocks = (changed(first.blocks[0]), *first.blocks[1:])
        return content | {"batches": (replace(first, blocks=blocks), *others)}

    return change


def of_batch(**changes: Any) -> Change:
    """Change fields of the statistic of all classes."""
    return lambda content: content | {"batches": (replace(content["batches"][0], **changes),)}


def of_params(**changes: Any) -> Change:
    """Change options."""
    return lambda content: content | {"params": content["params"] | changes}


def of_estimator(name: str, options: Content) -> Change:
    """Name another covariance estimator."""
    return of_params(covariance_estimator={"covariance": name, "options": options})


def of_content(**changes: Any) -> Change:
    """Change entries."""
    return lambda content: content | changes


def of_family(family: Family) -> Change:
    """Say that the first columns are of another family."""

    def change(content: Content) -> Content:
        first, *others = content["parts"]
        return content | {"parts": (replace(first, family=family), *others)}

    return change


def cut(name: str) -> Callable[[Any], Any]:
    """Leave out the last row of an array."""
    return lambda record: getattr(record, name)[:-1].copy()


def put(name: str, value: float, at: int = 0) -> Callable[[Any], Any]:
    """Put a number into one place of an array, or of the leading parts of pairs."""

    def put_into(record: Any) -> Any:
        array = getattr(record, name)
        pair = isinstance(array, DoubleDouble)
        array = (array.hi if pair else array).copy()
        array.flat[at] = value
        return DoubleDouble.of(array) if pair else array

    return put_into


def test_the_record_the_field_the_value_and_the_rule_are_named(tmp_path):
    change = of_sums(product_index=put("product_index", 2**30))
    assert refusal(forged(LinearRegression().fit(X, TARGET), change, tmp_path / "m")) == (
        "['batches'][0]: Comoments.product_index[0] is 1073741824; product_index is from "
        "-1 to m - 1 = 0; load it with the version of suffice that wrote it."
    )


linear = LinearRegression().fit
ridge = Ridge("gcv").fit
logistic = LogisticRegression().fit
counts = MultinomialNB().fit
codes = CategoricalNB().fit
gaussian = GaussianNB().fit
joint = NaiveBayes.textbook("joint_table").fit
nominal = NaiveBayes.textbook("categorical").fit
normal = NaiveBayes.textbook().fit
quadratic = QuadraticDiscriminantAnalysis().fit


@pytest.mark.parametrize(
    ("fit", "y", "change", "message"),
    [
        # indices, and sizes that go with them
        (linear, TARGET, of_sums(products=cut("products")), "index is from -1 to m - 1 = -1"),
        (linear, TARGET, of_sums(pattern=put("pattern", 1)), "pattern is from 0 to p - 1 = 0"),
        (linear, TARGET, of_sums(code=put("code", -1)), "code is from 0 to k - 1 = 0"),
        (linear, TARGET, of_sums(k=lambda _: 2**40), "there are sums over rows of all terms"),
        (quadratic, LABELS, of_sums(code=lambda s: s.code[::-1]), "in the order of their patterns"),
        (
            quadratic,
            LABELS,
            of_sums(product_index=lambda s: 0 * s.product_index),
            "products are those of groups",
        ),
        (joint, LABELS, of_sums(cells=put("cells", 2**40)), "values are open, and listed where"),
        (joint, LABELS, of_sums(cells=lambda s: s.cells[::-1]), "combinations are distinct"),
        (codes, LABELS, of_sums(vocabularies=lambda s: s.vocabularies[:1]), "a count for each"),
        (gaussian, LABELS, of_batch(classes=Vocabulary((0, 1, 2))), "ByClass.weight has the shape"),
        # numbers
        (linear, TARGET, of_sums(weight=put("weight", -3.0)), "weights are normal pairs above 0"),
        (linear, TARGET, of_sums(weight=put("weight", 1.0, 1)), "weights are normal pairs above 0"),
        (linear, TARGET, of_sums(sums=put("sums", 1e300)), "means can be squared"),
        (linear, TARGET, of_sums(pivot=put("pivot", np.nan)), r"Comoments.pivot\[0, 0\] is nan"),
        (linear, TARGET, of_sums(products=put("products", -9.0)), "products are those of"),
        (linear, TARGET, of_sums(products=put("products", 1e9, 1)), "products are those of"),
        (linear, TARGET, of_sums(patterns=lambda s: ~s.patterns), "0 in the place of others"),
        (gaussian, LABELS, of_sums(sums=put("sums", np.inf)), r"Moments.sums\[0, 0, 0\] is inf"),
        (gaussian, LABELS, of_sums(sums=put("sums", -99.0, 4)), "a scatter is not below 0"),
        (gaussian, LABELS, of_sums(weight=put("weight", -1.0)), "weights are normal pairs"),
        (counts, LABELS, of_sums(count=put("count", -1.0)), "count is finite, 0 or more"),
        (codes, LABELS, of_sums(count=lambda s: s.count * 0.0), "an open vocabulary has a count"),
        (gaussian, LABELS, of_batch(weight=DoubleDouble.of([0.0, 1.0])), "weight is finite, above"),
        (ridge, TARGET, of_content(alpha_=-1.0), "SavedRegressor.alpha_ is -1.0; alpha_ is"),
        # what goes with what
        (linear, TARGET, of_content(batches=()), "there are sums over rows of all terms"),
        (linear, TARGET, of_content(batches=None), "there are sums over rows of all terms"),
        (linear, TARGET, of_content(single_target="yes"), "single_target is bool"),
        (gaussian, LABELS, of_content(parts=()), "the table is read as the families"),
        (gaussian, LABELS, of_content(batches=()), "there is a row, and every family"),
        (gaussian, LABELS, of_batch(blocks=()), "every family has a statistic of its columns"),
        (gaussian, LABELS, of_content(named=None), "SavedGenerative.named is None; named is bool"),
        (gaussian, LABELS, of_content(declared=Vocabulary((), True)), "labels are open"),
        (gaussian, LABELS, of_content(declared=Vocabulary(("a",))), "labels are open, of one type"),
        (gaussian, LABELS, of_content(label_dtype="O"), "numbers if they have a dtype"),
        (gaussian, LABELS, of_content(label_dtype="<i4,<i4"), "numbers if they have a dtype"),
        (logistic, CLASSES, of_content(coefficients=np.zeros((1, 3))), "coefficients of each term"),
        (logistic, CLASSES, of_content(coefficients=np.full((3, 3), 1e20)), "changes log-odds by"),
        (logistic, CLASSES, of_content(classes=Vocabulary((0,))), "there are two classes or more"),
        (logistic, CLASSES, of_content(root=np.zeros((2, 2))), "errors are of these"),
        (logistic, CLASSES, of_content(mean=np.zeros(3)), "scale has the shape"),
        (nominal, LABELS, of_family(JointTable()), "every family has a statistic of its columns"),
        (normal, LABELS, of_family(Bernoulli()), "the family can read cells in this way"),
        (
            normal,
            LABELS,
            of_family(Gaussian(mean0=1e300)),
            r"StudentParameters.scale2\[0, 0\] is inf",
        ),
        # options
        (gaussian, LABELS, of_params(engine="spark"), "'engine' is no option of a saved"),
        (gaussian, LABELS, of_params(var_smoothing=-1.0), "var_smoothing=-1.0"),
        (gaussian, LABELS, of_params(priors=[0.5, np.nan]), "Priors must be non-negative"),
        (gaussian, LABELS, of_params(priors={"pairs": 3}), "a mapping is written as pairs"),
        (gaussian, LABELS, of_params(priors=10**5000), "the option priors is a value of type int"),
        (codes, LABELS, of_params(min_categories=Numbered(2**40)), "options are families and the"),
        (logistic, CLASSES, of_params(C="2"), "C is a number, above 0"),
        (quadratic, LABELS, of_estimator("os", {}), "one of EmpiricalCovariance"),
        (quadratic, LABELS, of_estimator("LedoitWolf", {"a": 1}), "keyword argument 'a'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_breaks_a_rule_is_refused(fit, y, change, message, tmp_path):
    assert re.search(message, refusal(forged(fit(X, y), change, tmp_path / "m")))


def test_coefficients_of_a_descent_are_those_of_its_columns(tmp_path):
    model = LinearRegression(solver="gradient").fit(X, TARGET)
    found = model.model_.fit

    def without_a_column(content: Content) -> Content:
        fewer = {"coefficients": found.coefficients[:1], "origin": found.origin[:1]}
        return content | {"coefficients": replace(found, **fewer, scale=found.scale[:1])}

    message = refusal(forged(model, without_a_column, tmp_path / "m"))
    assert "sums over rows of all terms and targets, or coefficients of them" in message


def test_sums_of_presence_are_no_more_than_the_rows(tmp_path):
    model = NaiveBayes.textbook({"note": "bernoulli"}).fit(NOTES, "y")
    message = refusal(forged(model, of_sums(count=put("count", 7.0)), tmp_path / "m"))
    assert "every family has a statistic of its columns" in message


def test_a_model_of_one_family_has_no_other(tmp_path):
    def another_kind(path: Path) -> Path:
        _, content = read_model(path, types=TYPES)
        params = {"priors": None, "var_smoothing": 1e-9}
        write_model(path, "GaussianNB", content | {"params": params}, types=TYPES)
        return path

    NaiveBayes.textbook("multivariate_gaussian").fit(X, LABELS).save(tmp_path / "m")
    message = refusal(another_kind(tmp_path / "m"))
    assert "all columns have one, Gaussian" in message


def test_words_are_of_texts(tmp_path):
    def numbered(content: Content) -> Content:
        layout = content["layout"]
        columns = tuple(replace(column, stored="number") for column in layout.columns)
        return content | {"layout": replace(layout, columns=columns)}

    model = NaiveBayes.textbook({"note": "multinomial"}).fit(NOTES, "y")
    message = refusal(forged(model, numbered, tmp_path / "m"))
    assert "words are those of a column of strings" in message


@pytest.mark.parametrize("d", [2**40, 2**60, 2**200])
@pytest.mark.parametrize("fit", [GaussianNB().fit, LinearDiscriminantAnalysis().fit])
def test_names_are_not_made_before_they_are_counted(fit, d, tmp_path):
    def endless(content: Content) -> Content:
        (part,), columns = (
            content["parts"],
            UniformColumns(Numbered(d), "number", "real", "numbers"),
        )
        block = BlockLayout("real", Numbered(d))
        layout = replace(content["layout"], blocks=(block,), columns=columns)
        parts = (replace(part, layout=block),)
        return content | {"layout": layout, "parts": parts, "named": True}

    message = refusal(forged(fit(X, LABELS), endless, tmp_path / "m"))
    assert ("Numbered.d is 1" if d > 2**53 else "statistic of its columns") in message


def test_matrices_without_rows_are_small(tmp_path):
    d = 2**20
    model = LinearDiscriminantAnalysis().fit(X, LABELS)

    def empty(content: Content) -> Content:
        (part,), block = content["parts"], BlockLayout("real", Numbered(d))
        columns = UniformColumns(Numbered(d), "number", "real", "numbers")
        layout = replace(content["layout"], blocks=(block,), columns=columns)
        batch = replace(content["batches"][0], blocks=(Comoments.empty(2, d, pooled=True),))
        parts = (replace(part, layout=block),)
        return content | {"layout": layout, "parts": parts, "batches": (batch,)}

    message = refusal(forged(model, empty, tmp_path / "m"))
    assert "columns that no row shows are few" in message


def test_a_model_without_any_cell_is_loaded(tmp_path):
    with pytest.warns(suffice.errors.SufficeWarning, match="one value only"):
        model = LinearDiscriminantAnalysis().fit(np.full((4, 2), np.nan), [0, 1, 1, 1])
    model.save(tmp_path / "m")
    with pytest.warns(suffice.errors.SufficeWarning, match="one value only"):
        loaded = suffice.load(tmp_path / "m")
    np.testing.assert_allclose(loaded.predict_proba(X[:1]), [[0.25, 0.75]], rtol=1e-15)


def test_what_is_no_model_at_all_is_refused(tmp_path):
    path = tmp_path / "m"
    write_model(path, "GaussianNB", [1, 2], types=TYPES)
    assert refusal(path).startswith("there is [1, 2]; a model file holds entries; ")


def test_a_model_with_an_option_of_every_kind_is_loaded(tmp_path):
    families = {("a", "b"): "joint_table", "c": Gaussian("mle")}
    table = {"a": ["x", "y", "x"], "b": ["u", "u", "v"], "c": [1.0, 2.0, 4.0], "y": [1, 2, 1]}
    prior = {1: 0.25, 2: 0.75}
    model = NaiveBayes.textbook(families, class_prior=prior).fit(pa.table(table), "y")
    model.save(tmp_path / "m")
    assert suffice.load(tmp_path / "m").get_params() == model.get_params()


def test_a_model_comes_through_a_pipe(tmp_path):
    model = GaussianNB().fit(X, LABELS)
    model.save(tmp_path / "m")
    raw, pipe = (tmp_path / "m").read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(raw,))
    writer.start()
    loaded = suffice.load(pipe)
    writer.join()
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("kind", ["GaussianNB", "LinearRegression", "LogisticRegression"])
def test_a_file_that_lacks_an_entry_is_refused(kind, tmp_path):
    path = tmp_path / "model.suffice"
    write_model(path, kind, {"params": {}}, types=TYPES)
    with pytest.raises(ModelFileError, match=f"a {kind} without the entry"):
        suffice.load(path)


def test_options_are_no_models(tmp_path):
    path = tmp_path / "model.suffice"
    write_model(path, "GradientDescent", {}, types=TYPES)
    with pytest.raises(ModelFileError, match="a model of the unknown kind 'GradientDescent'"):
        suffice.load(path)
