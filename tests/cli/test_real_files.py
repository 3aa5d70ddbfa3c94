"""Real files as they are, in one command each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Run = Callable[..., Result]

ADULT = (
    "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,"
    "capital_gain,capital_loss,hours_per_week,native_country,income"
)


def evaluated(run: Run, *words: object) -> dict[str, Any]:
    result = run("evaluate", *words, "--json")
    assert result.exit_code == 0, result.stderr
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


def test_adult(run: Run, data: Path) -> None:
    folder = data / "adult"
    result = run(
        "fit", folder / "adult.data", "-r", "header=false", "-r", f"names={ADULT}", "--label",
        "income",
        "-r", "strip=true", "-r", "missing=?",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "32,561 rows, 0 left out without label" in result.stdout
    facts = evaluated(run, "adult.suffice", folder / "adult.test", "-r", "label_suffix=.")
    # adult.names: 16,281 instances for testing, 23.60 % of them with a larger income.
    assert facts["rows"] == 16_281
    assert round(facts["largest_class_error"], 3) == 0.236
    assert facts["error_rate"] < 0.18


def test_labels_of_adult_need_their_dot_removed(run: Run, data: Path) -> None:
    folder = data / "adult"
    run(
        "fit", folder / "adult.data", "-r", "header=false", "-r", f"names={ADULT}", "--label",
        "income",
        "-r", "strip=true",
    )  # fmt: skip
    result = run("evaluate", "adult.suffice", folder / "adult.test")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: the label '<=50K.' was never seen in training; ")


def test_sms(run: Run, data: Path) -> None:
    messages = data / "sms_spam" / "SMSSpamCollection"
    result = run(
        "fit", messages, "-r", "header=false", "-r", "names=label,message", "--label", "label",
        "-r", "separator=tab", "-r", "quote=none", "--text", "message", "-o", "sms.suffice",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert evaluated(run, "sms.suffice", messages)["rows"] == 5_574


# Printed by e1071 1.7, naiveBayes(Class ~ ., HouseVotes84) and the same with laplace = 3.
VOTES = [
    (("-p", "estimation=mle"), [[238, 29], [13, 155]]),
    (("-p", "alpha=3"), [[237, 30], [12, 156]]),
]


@pytest.mark.parametrize(("smoothing", "confusion"), VOTES, ids=["none", "3"])
def test_house_votes(
    run: Run, data: Path, smoothing: tuple[str, str], confusion: list[list[int]]
) -> None:
    votes = data / "house_votes_84" / "house-votes-84.data"
    result = run(
        "fit", votes, "-r", "header=false", "--label", "column_1", "-r", "strip=true", "-r",
        "missing=?",
        "-p", "calibration=none", *smoothing, "-o", "votes.suffice",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert evaluated(run, "votes.suffice", votes)["confusion"] == confusion
