"""Densities, evidence and boundaries: what is drawn, against SciPy and by hand."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.patches import StepPatch
from scipy.stats import multivariate_normal, nbinom, norm
from sklearn.datasets import load_iris

from suffice import (
    AODE,
    AutoClassifier,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.bayes import column_information, column_weights
from suffice.errors import DataError, ParameterError
from suffice.naive_bayes import GaussianNB
from suffice.plotting import ClassDensityDisplay, ColumnImportanceDisplay, DecisionBoundaryDisplay

X, Y = load_iris(return_X_y=True)
MEANS = np.array([X[c == Y].mean(axis=0) for c in range(3)])
SCALES = np.array([X[c == Y].std(axis=0) for c in range(3)])


def mixed() -> pa.Table:
    rng = np.random.default_rng(0)
    kind = np.repeat(["a", "b"], 100)
    return pa.table(
        {
            "hue": np.where(rng.random(200) < np.where(kind == "a", 0.8, 0.3), "red", "blue"),
            "wet": pa.array([None if i % 10 == 0 else bool(i % 3) for i in range(200)]),
            "visits": rng.poisson(np.where(kind == "a", 2, 6)),
            "sign": np.where(rng.random(200) < 0.5, -1, 1),
            "kind": kind,
        }
    )


def test_densities_are_those_of_the_gaussians() -> None:
    display = ClassDensityDisplay.from_estimator(GaussianNB(var_smoothing=0.0).fit(X, Y), "x2")
    lines = display.ax_.lines
    assert len(lines) == 3
    for c, line in enumerate(lines):
        at, drawn = line.get_data()
        expected = norm.pdf(at, MEANS[c, 2], SCALES[c, 2])
        np.testing.assert_allclose(drawn, expected, rtol=1e-9, atol=1e-300)
    at = display.cells.values
    assert at[0] < X[:, 2].min()
    assert at[-1] > X[:, 2].max()
    assert display.ax_.get_xlabel() == "x2"


def test_bars_are_shares_of_the_class() -> None:
    table = mixed()
    model = NaiveBayes.textbook(estimation="mle").fit(table, "kind")
    display = ClassDensityDisplay.from_estimator(model, "hue")
    hue, kind = (table.column(name).to_numpy(zero_copy_only=False) for name in ("hue", "kind"))
    lengths = [bar.get_width() for bar in display.ax_.patches]
    expected = [np.mean(hue[kind == c] == v) for c in "ab" for v in ("red", "blue")]
    np.testing.assert_allclose(lengths, expected, rtol=1e-12)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["red", "blue"]
    assert display.ax_.get_title("left") == "hue, by kind"


def test_many_values_are_those_of_the_largest_shares_in_their_order() -> None:
    rng = np.random.default_rng(0)
    towns = [f"town {i}" for i in np.minimum(rng.geometric(0.08, 3000), 40)]
    model = NaiveBayes.textbook().fit({"town": towns}, rng.integers(0, 12, 3000))
    display = ClassDensityDisplay.from_estimator(model, "town")
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    share = dict(zip(display.cells.values, display.density.mean(axis=1), strict=True))
    assert names == sorted(share, key=lambda name: -share[name])[:24]
    assert "16 rarer values" in display.ax_.get_xlabel()
    assert not display.ax_.lines
    looks = {(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in display.ax_.containers}
    assert len(looks) == 12


@pytest.mark.parametrize(("zeros", "kind"), [(0.9, "rank"), (0.0, "log")])
def test_a_spiky_column_has_an_axis_that_shows_it(zeros: float, kind: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    gain = np.where(rng.random(2000) < zeros, 0.0, np.exp(rng.normal(8 + y, 1.5)))
    model = NaiveBayes().fit({"gain": gain}, y)
    display = ClassDensityDisplay.from_estimator(model, "gain", {"gain": gain}, y)
    axis = display.cells.axis
    assert axis is not None
    assert axis.kind == kind
    for c, line in enumerate(display.ax_.lines):  # the area is the share of the class
        at, height = line.get_data()
        width = np.diff(axis.position(at))[::2]
        share = height[::2] * width
        np.testing.assert_allclose(share.sum(), 1, rtol=1e-9)
        assert width[height[::2] > 0.05 * height.max()].sum() > 0.2 * width.sum()
        stairs = [patch for patch in display.ax_.patches if isinstance(patch, StepPatch)]
        values, edges, _ = stairs[c].get_data()
        mine = gain[y == c]
        counted = [np.mean((mine >= low) & (mine < high)) for low, high in pairwise(edges[1:-1])]
        shown = (values * np.diff(axis.position(edges)))[1:-1]
        np.testing.assert_allclose(shown, counted, atol=1e-12)


def test_whole_numbers_are_drawn_one_by_one() -> None:
    table = mixed()
    model = NaiveBayes.textbook(families={"visits": "poisson"}).fit(table, "kind")
    display = ClassDensityDisplay.from_estimator(model, "visits")
    at = display.cells.values
    assert display.cells.axis is None
    assert at.tolist() == list(range(int(at[-1]) + 1))
    visits = table.column("visits").to_numpy()
    for c in range(2):
        events, rows = 1 + visits[100 * c : 100 * c + 100].sum(), 1 + 100
        expected = nbinom.pmf(at, events, rows / (rows + 1))
        np.testing.assert_allclose(display.density[:, c], expected, rtol=1e-9)


def test_weights_of_columns_leave_densities_alone() -> None:
    table = mixed()
    model = NaiveBayes().fit(table, "kind")
    hue = ClassDensityDisplay.from_estimator(model, "hue")
    np.testing.assert_allclose(hue.density.sum(axis=0), 1.0, rtol=1e-12)
    pairs = AODE().fit(table.select(["hue", "sign", "kind"]), "kind")
    alone = ClassDensityDisplay.from_estimator(pairs, "hue").density
    np.testing.assert_allclose(alone, hue.density, rtol=1e-12)


def test_densities_are_drawn_over_the_rows() -> None:
    model = GaussianNB().fit(X, Y)
    display = ClassDensityDisplay.from_estimator(model, "x2", X, Y)
    stairs = [patch for patch in display.ax_.patches if isinstance(patch, StepPatch)]
    assert len(stairs) == 3
    for c, one in enumerate(stairs):
        values, edges, _ = one.get_data()
        expected, _ = np.histogram(X[c == Y, 2], edges, density=True)
        share = np.mean((X[c == Y, 2] >= edges[0]) & (X[c == Y, 2] <= edges[-1]))
        np.testing.assert_allclose(values, expected * share, rtol=1e-12)


@pytest.mark.parametrize("column", ["hue", "wet", "visits", "sign"])
def test_shares_of_rows_are_dots_at_their_bars(column: str) -> None:
    table = mixed()
    model = NaiveBayes.textbook(families={"visits": "poisson"}).fit(table, "kind")
    display = ClassDensityDisplay.from_estimator(model, column, table, "kind")
    frame = table.to_pandas()
    for c, label in enumerate("ab"):
        line, mine = display.ax_.lines[c], frame[frame["kind"] == label][column].dropna()
        found = {value: np.mean(mine == value) for value in display.cells.values.tolist()}
        bars, x, y = display.ax_.containers[c].patches, *line.get_data()
        if column == "visits":
            middles, shares = [bar.get_x() + bar.get_width() / 2 for bar in bars], y
            expected, at = list(found.values()), x
        else:
            middles, shares = [bar.get_y() + bar.get_height() / 2 for bar in bars], x
            values = [text.get_text() for text in display.ax_.get_yticklabels()]
            named, at = {str(value): share for value, share in found.items()}, y
            expected = [named[value.replace("\N{MINUS SIGN}", "-")] for value in values]
        np.testing.assert_allclose(shares, expected, rtol=1e-12)
        np.testing.assert_allclose(at, middles, rtol=1e-12, atol=1e-12)


def test_columns_by_what_they_tell() -> None:
    model = GaussianNB().fit(X, Y)
    display = ColumnImportanceDisplay.from_estimator(model, most=3)
    expected = np.sort(column_information(model).bits)[::-1][:3]
    assert [bar.get_width() for bar in display.ax_.patches] == expected.tolist()
    assert "1 more" in display.ax_.get_xlabel()


def test_a_column_that_is_not_counted_is_hollow() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    first = np.where(rng.random(400) < 0.9, y, 1 - y)
    letters = np.array(["u", "v"])
    table = {"first": letters[first]}  # the others know of y by it only
    for i in range(6):
        table[f"echo {i}"] = letters[np.where(rng.random(400) < 0.8, first, 1 - first)]
    model = NaiveBayes().fit(table, y)
    display = ColumnImportanceDisplay.from_estimator(model)
    hollow = [bar.get_facecolor()[3] == 0 for bar in display.ax_.patches]
    ranked = [text.get_text() for text in display.ax_.get_yticklabels()]
    weights = column_weights(model)
    assert hollow == [weights[name] == 0 for name in ranked]
    assert any(hollow)
    assert "hollow" in display.ax_.get_xlabel()


def test_the_plane_of_two_columns_leaves_the_others_out() -> None:
    model = QuadraticDiscriminantAnalysis().fit(X, Y)
    display = DecisionBoundaryDisplay.from_estimator(model, ("x2", "x3"), points=40)
    grid = np.stack(np.meshgrid(display.x, display.y), axis=-1)
    parts = [X[c == Y, 2:] for c in range(3)]
    gaussians = [multivariate_normal(x.mean(axis=0), np.cov(x.T, bias=True)) for x in parts]
    joint = np.stack([one.logpdf(grid) for one in gaussians], axis=-1)
    expected = joint - np.logaddexp.reduce(joint, axis=2)[:, :, None]
    np.testing.assert_allclose(display.log_proba, expected, rtol=1e-6, atol=1e-6)


def test_pictures_are_drawn_on_given_axes() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    display = ClassDensityDisplay.from_estimator(GaussianNB().fit(X, Y), 0, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.plot().ax_ is not ax


def test_what_cannot_be_drawn_is_refused() -> None:
    model = NaiveBayes.textbook().fit(mixed(), "kind")
    with pytest.raises(ParameterError, match="there is no column 'hew'; the columns are 'hue'"):
        ClassDensityDisplay.from_estimator(model, "hew")
    with pytest.raises(ParameterError, match="LogisticRegression does not say how a column looks"):
        ClassDensityDisplay.from_estimator(LogisticRegression().fit(X, Y), 0)
    with pytest.raises(ParameterError, match="'hue' holds no numbers"):
        DecisionBoundaryDisplay.from_estimator(model, ("hue", "visits"))
    with pytest.raises(ParameterError, match="'hue' holds no numbers"):
        DecisionBoundaryDisplay.from_estimator(model, ("hue", "visits"), mixed(), "kind")
    with pytest.raises(ParameterError, match="does not know where rows lie"):
        DecisionBoundaryDisplay.from_estimator(LogisticRegression().fit(X, Y))
    with pytest.raises(ParameterError, match="column 'visits' is held and drawn"):
        DecisionBoundaryDisplay.from_estimator(model, ("visits", "sign"), held={"visits": 1})
    with pytest.raises(DataError, match="x2"):
        DecisionBoundaryDisplay.from_estimator(
            LogisticRegression().fit(X, Y), limits=((4, 8), (2, 5)), points=3
        )
    texts = {"mail": ["win a prize now ok", "see you at noon then"] * 3, "y": list("sh" * 3)}
    words = NaiveBayes.textbook(families={"mail": "multinomial"}).fit(texts, "y")
    with pytest.raises(ParameterError, match="'mail' is modelled by multinomial"):
        ClassDensityDisplay.from_estimator(words, "mail")


def test_an_average_of_models_is_refused_with_what_can_be_drawn() -> None:
    model = AutoClassifier(["lda", "qda"]).fit(X, Y)
    with pytest.raises(ParameterError, match=r"the models that it averages: model\.members_"):
        ClassDensityDisplay.from_estimator(model, 0)
    with pytest.raises(ParameterError, match=r"model\.members_"):
        ColumnImportanceDisplay.from_estimator(model)
    held = {"x0": 5.8, "x1": 3.0}
    plane = DecisionBoundaryDisplay.from_estimator(
        model, ("x2", "x3"), held=held, limits=((1.0, 7.0), (0.0, 2.5)), points=5
    )
    assert plane.log_proba.shape == (5, 5, 3)


HOSTILE = ["<script>alert(1)</script>", "$\\frac{1}{0}$", 'a "b"\n\tc שלום 🐧', "n" * 10_000]


@pytest.mark.parametrize("name", HOSTILE, ids=["script", "formula", "letters", "long"])
def test_hostile_names_are_text(name: str) -> None:
    table = {name: [name, "other", name, "other"] * 3, "y": [1.0, 2.0, 3.5, 4.0] * 3}
    model = NaiveBayes.textbook().fit(table, [name, "=1+1"] * 6)
    for display in (
        ClassDensityDisplay.from_estimator(model, name),
        ColumnImportanceDisplay.from_estimator(model),
    ):
        display.figure_.canvas.draw()  # warnings are errors: no glyph is missing, no formula fails
        assert all(len(text.get_text()) < 70 for text in display.ax_.get_yticklabels())
    assert model.reader_.layout.names[0] == name
