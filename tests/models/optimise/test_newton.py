"""When a solver gets no further."""

from itertools import repeat

from suffice.models.optimise.newton import StallDetector


def test_progress_is_a_lower_loss_or_half_the_gradient():
    lower, flatter, still = StallDetector(), StallDetector(), StallDetector()
    assert not any(lower.has_stalled(-float(i), 1.0) for i in range(50))
    assert not any(flatter.has_stalled(1.0, 0.4**i) for i in range(50))
    stalled = [still.has_stalled(1.0, norm) for norm in repeat(1.0, 13)]
    assert stalled.index(True) == 11  # the first step and ten without progress came before
