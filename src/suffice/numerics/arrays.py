"""Types of the arrays that formulas are about; shapes are said where they are used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
"""Codes, places and numbers of things."""
Bools = NDArray[np.bool_]
