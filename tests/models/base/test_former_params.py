"""A renamed parameter is taken by both names, and is one parameter."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

import suffice
from suffice.errors import ParameterError, SufficeWarning
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge

ESTIMATORS = [LinearRegression, Ridge, LogisticRegression]
RENAMED = r"^\w+: missing= is called incomplete= now; write "


@pytest.fixture(params=ESTIMATORS, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_the_former_name_is_taken_with_a_warning(kind: Any) -> None:
    with pytest.warns(SufficeWarning, match=RENAMED + r"incomplete='drop'\.") as caught:
        model = kind(missing="drop")
    assert caught[0].filename == __file__
    assert model.get_params() == kind(incomplete="drop").get_params()
    with pytest.warns(SufficeWarning, match=RENAMED):
        assert model.set_params(missing="error").incomplete == "error"
    with pytest.warns(SufficeWarning, match=RENAMED + r"\.incomplete\."):
        assert model.missing == "error"
    with pytest.warns(SufficeWarning, match=RENAMED):
        model.missing = "drop"
    assert clone(model).incomplete == "drop"


def test_it_is_no_parameter(kind: Any) -> None:
    assert "missing" not in kind().get_params()
    assert "missing" not in inspect.signature(kind).parameters


def test_both_names_at_once_are_refused(kind: Any) -> None:
    with (
        pytest.warns(SufficeWarning, match=RENAMED),
        pytest.raises(ParameterError, match=r"^incomplete= and missing= are both given"),
    ):
        kind(missing="drop", incomplete="drop")


def test_files_have_the_former_name(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.suffice"
    kind(incomplete="drop").fit([[0.0], [1.0], [2.0], [2.5]], [0, 1, 0, 1]).save(path)
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert '"missing"' in json.dumps(header).replace("\\", "")
    assert '"incomplete"' not in json.dumps(header).replace("\\", "")
    assert suffice.load(path).incomplete == "drop"
