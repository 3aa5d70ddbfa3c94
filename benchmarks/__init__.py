"""Suffice and its peers side by side, in one process: ``python -m benchmarks all``."""
