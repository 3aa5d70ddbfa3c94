"""Rows that a query returns."""
