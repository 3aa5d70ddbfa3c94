"""A ten-row table, worked out in fractions from the rows and nothing else."""

from fractions import Fraction

import pyarrow as pa
import pytest

from suffice import NaiveBayes

ROWS = [
    ("cir", "large", "light", "malignant"),
    ("cir", "large", "light", "benign"),
    ("cir", "large", "light", "malignant"),
    ("ovl", "large", "light", "benign"),
    ("ovl", "large", "dark", "malignant"),
    ("ovl", "small", "dark", "benign"),
    ("ovl", "small", "dark", "malignant"),
    ("ovl", "small", "light", "benign"),
    ("cir", "small", "dark", "benign"),
    ("cir", "large", "dark", "malignant"),
]
NAMES = ["shape", "size", "color", "type"]
QUERY = ("cir", "small", "light")
CLASSES = ("benign", "malignant")


def table(rows: list[tuple[str, ...]], names: list[str]) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def posterior(pseudo: int) -> list[Fraction]:
    """P(type | cir, small, light), with so many pseudo-counts for each of the two values."""
    joint = []
    for label in CLASSES:
        rows = [row for row in ROWS if row[-1] == label]
        product = Fraction(len(rows), len(ROWS))
        for j, value in enumerate(QUERY):
            product *= Fraction(
                sum(row[j] == value for row in rows) + pseudo, len(rows) + 2 * pseudo
            )
        joint.append(product)
    return [part / sum(joint) for part in joint]


# By hand: the 5 benign rows show cir 2, small 3, light 3 times, the 5 malignant ones 3, 1, 2.
# Both classes have the prior 1/2, so 2·3·3 : 3·1·2 under maximum likelihood, and with one
# pseudo-count per value 3·4·4 : 4·2·3. MAP with alpha = 2 and the posterior mean with alpha = 1
# add the same pseudo-count.
@pytest.mark.parametrize(
    ("options", "pseudo", "by_hand"),
    [
        ({"estimation": "mle"}, 0, [Fraction(3, 4), Fraction(1, 4)]),
        ({"estimation": "map", "alpha": 2}, 1, [Fraction(2, 3), Fraction(1, 3)]),
        ({"estimation": "bayes", "alpha": 1}, 1, [Fraction(2, 3), Fraction(1, 3)]),
    ],
)
def test_posterior_is_the_exact_fraction(options, pseudo, by_hand):
    assert posterior(pseudo) == by_hand
    model = NaiveBayes.textbook(**options).fit(table(ROWS, NAMES), "type")
    given = model.predict_proba(table([QUERY], NAMES[:3]))[0]
    assert model.classes_.tolist() == list(CLASSES)
    assert given == pytest.approx([float(p) for p in by_hand], rel=0, abs=2e-16)


@pytest.mark.parametrize(
    ("options", "pseudo"), [({"estimation": "mle"}, 0), ({"estimation": "map", "alpha": 2}, 1)]
)
def test_every_parameter_is_the_rounded_fraction(options, pseudo):
    parameters = NaiveBayes.textbook(**options).fit(table(ROWS, NAMES), "type").model_.parameters[0]
    for j in range(3):
        values = parameters.vocabularies[j].values
        for c, label in enumerate(CLASSES):
            cells = [row[j] for row in ROWS if row[-1] == label]
            expected = [Fraction(cells.count(v) + pseudo, 5 + 2 * pseudo) for v in values]
            assert parameters.probabilities(j)[c].tolist() == [float(p) for p in expected]
