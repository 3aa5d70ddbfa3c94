"""Exact sums, log-space arithmetic and the compiled loops."""
