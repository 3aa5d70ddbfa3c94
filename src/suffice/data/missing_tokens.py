"""Texts that stand for a missing value where nobody names others."""

__all__ = ["IN_TEXT", "IN_WORKBOOKS"]

_EVERYWHERE = ("NaN", "nan", "null", "NULL", "None")
IN_TEXT = ("", "NA", "N/A", "n/a", *_EVERYWHERE)  # cells of delimited text
IN_WORKBOOKS = ("", "NA", "N/A", "#N/A", *_EVERYWHERE)  # the fourth is an error of Excel's
