"""Tolerances and limits that solvers share."""

from __future__ import annotations

# Fraction of the decrease promised by the gradient that a step must bring.
# Source: J. Nocedal and S. J. Wright, Numerical Optimization, 2nd ed. (2006), section 3.1.
ARMIJO = 1e-4

# Trials of a line search: 2⁻⁶⁰ of a step, below 2⁻⁵³ of it, changes no sum in double.
HALVINGS = 60

# Fraction of a loss that may be rounding. That is 45 times 2⁻⁵²: the loss of a row is good to some
# units in its last place, and the sum over rows adds little to that.
LOSS_ROUNDING = 1e-14
