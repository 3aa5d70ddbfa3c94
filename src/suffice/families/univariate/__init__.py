"""Shapes of one column: where it is cut, how densities are estimated, and which of them tells."""
