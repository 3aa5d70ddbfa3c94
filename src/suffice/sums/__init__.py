"""Exact sums over rows: they add, subtract and compare, and nothing else."""
