"""Delimited text, such as CSV and TSV."""
