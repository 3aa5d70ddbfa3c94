"""Ctrl-C inside a kernel while a model learns more, or forgets: it stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.running import on

from suffice import AODE, LinearDiscriminantAnalysis, NaiveBayes
from suffice.linear_model import LinearRegression
from suffice.numerics import kernels

MOST = 3  # moments, evenly among the calls of kernels
N = 120
RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 4, (N, 3)).astype(float), RNG.integers(0, 3, N)
MODELS: dict[str, Callable[[], Any]] = {
    "naive Bayes": lambda: on(1, NaiveBayes()),
    "textbook": lambda: on(1, NaiveBayes.textbook()),
    "categories": lambda: on(1, NaiveBayes.textbook("categorical")),
    "events": lambda: on(1, NaiveBayes.textbook("multinomial")),
    "pairs": lambda: on(1, AODE()),
    "LDA": lambda: on(1, LinearDiscriminantAnalysis()),
    "linear": lambda: on(1, LinearRegression()),
}
VERBS = ("fit", "partial_fit", "merge", "forget")
LONG = [(name, verb) for name in ("naive Bayes", "pairs") for verb in ("fit", "merge")]
CASES = [
    pytest.param(name, verb, marks=pytest.mark.exhaustive if (name, verb) in LONG else ())
    for name in MODELS
    for verb in VERBS
]
HALF = slice(0, N // 2), slice(N // 2, N)


class Interrupter:
    """Kernels that raise after the call of some number: they have written into their arrays."""

    def __init__(self) -> None:
        self.calls, self.at = 0, -1

    def after(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The same kernel, which may raise."""

        def call(*args: Any, **options: Any) -> Any:
            found = kernel(*args, **options)
            self.calls += 1
            if self.calls - 1 == self.at:
                raise KeyboardInterrupt
            return found

        return call


@pytest.fixture
def interrupter(monkeypatch: pytest.MonkeyPatch) -> Interrupter:
    found = Interrupter()
    for module in vars(kernels).values():
        if isinstance(module, ModuleType) and not module.__name__.endswith("interrupts"):
            for name, kernel in list(vars(module).items()):
                if callable(kernel) and not isinstance(kernel, type):
                    monkeypatch.setattr(module, name, found.after(kernel))
    return found


def written(model: Any, path: Path) -> bytes:
    kept = copy(model)
    kept.forgotten_ = ()  # their key is a random one
    kept.save(path)
    return path.read_bytes()


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.parametrize(("name", "verb"), CASES)
def test_the_model_stays_as_it_was(
    name: str, verb: str, interrupter: Interrupter, tmp_path: Path
) -> None:
    make, path = MODELS[name], tmp_path / "model"
    first, second = HALF
    rows = slice(0, N) if verb == "forget" else first
    model = make().fit(X[rows], Y[rows])
    more = (make().fit(X[second], Y[second]),) if verb == "merge" else (X[second], Y[second])
    before = written(model, path)
    getattr(deepcopy(model), verb)(*more)  # what is computed once in a process is known
    changed, interrupter.calls = deepcopy(model), 0
    getattr(changed, verb)(*more)
    calls, expected = interrupter.calls, written(changed, path)
    for at in np.unique(np.linspace(0, calls - 1, MOST).astype(int)).tolist():
        again, interrupter.calls, interrupter.at = deepcopy(model), 0, at
        with pytest.raises(KeyboardInterrupt):
            getattr(again, verb)(*more)
        interrupter.at = -1
        assert written(again, path) == before
        getattr(again, verb)(*more)
        assert written(again, path) == expected
        assert len(getattr(again, "forgotten_", ())) == (verb == "forget")
    assert calls
