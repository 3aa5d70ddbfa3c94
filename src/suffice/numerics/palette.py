"""Colours of classes in pictures, in notebooks and on terminals."""

from __future__ import annotations

__all__ = ["AGAINST", "COLOURS", "FOR"]

# Colours that readers with any kind of colour vision tell apart: M. Okabe and K. Ito, Color
# Universal Design (2008). The yellow is left out: a thin line of it cannot be seen on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
FOR, AGAINST = COLOURS[0], COLOURS[1]  # what speaks for a class, and what against it
