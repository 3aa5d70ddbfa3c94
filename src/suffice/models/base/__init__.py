"""Shared by all estimators: tables, labels, options, checks, scores, model files."""
