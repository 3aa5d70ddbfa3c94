"""Rows as a design matrix x (n, p), and the normal equations of its exact sums."""
