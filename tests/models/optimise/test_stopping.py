"""When iterates end: small gradients, no progress, losses that grow."""

from itertools import repeat

import numpy as np
import pytest

from suffice.errors import ParameterError
from suffice.models.optimise.descent_options import GradientDescent
from suffice.models.optimise.gradient_descent import OptimizerState
from suffice.models.optimise.stopping import StallDetector, descend

ONE = np.ones(1)


def halving(known):
    """v = 1, ½, ¼, ... of the loss ½v², whose gradient is v, epoch by epoch."""
    for epoch in range(10_000):
        v = np.full((1, 1), 2.0**-epoch)
        yield OptimizerState(v, np.zeros((1, 1)), epoch), 0.5 * v[0] ** 2, v if known else None


def test_a_known_gradient_is_compared_after_every_epoch():
    asked = []

    def norm(v):
        asked.append(v.item())
        return np.ones(1)  # at v = 0, of some other loss

    how = GradientDescent(tol=0.01)
    state, history, converged = descend(halving(True), norm, how, "gradient", ONE)
    assert (state.epochs, converged, asked) == (7, True, [0.0])  # 2⁻⁷ ≤ 0.01 < 2⁻⁶
    assert history.tolist() == [0.5 * 4.0**-e for e in range(1, 8)]


def test_a_gradient_that_takes_a_pass_is_looked_at_ever_more_rarely():
    asked = []

    def norm(v):
        asked.append(v.item())
        return np.ones(1)

    how = GradientDescent(tol=0.5, max_iter=20)
    state, _, converged = descend(halving(False), norm, how, "sgd", ONE)
    assert (state.epochs, converged) == (20, False)
    epochs = [0, 1, 2, 3, 4, 5, 7, 9, 12, 15, 19, 20]  # and the last of all
    assert asked == [0.0, *(2.0**-e for e in epochs)]


def test_a_loss_that_grows_without_end_is_refused():
    states = (OptimizerState(np.ones((1, 1)), np.ones((1, 1)), e) for e in range(9))
    iterates = ((state, np.array([10.0**state.epochs]), None) for state in states)
    with pytest.raises(ParameterError, match=r"the loss grew from 1 to 1e\+05 in 5 epochs"):
        descend(iterates, lambda v: ONE, GradientDescent(tol=0.0), "sgd", ONE)


def test_progress_is_a_lower_loss_or_half_the_gradient():
    lower, flatter, still = StallDetector(), StallDetector(), StallDetector()
    assert not any(lower.has_stalled(-float(i), 1.0) for i in range(50))
    assert not any(flatter.has_stalled(1.0, 0.4**i) for i in range(50))
    stalled = [still.has_stalled(1.0, norm) for norm in repeat(1.0, 13)]
    assert stalled.index(True) == 11  # the first step and ten without progress came before
