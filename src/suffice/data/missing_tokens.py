"""Texts that stand for a missing value where nobody names others."""

from suffice.data.text.format import USUALLY_MISSING

__all__ = ["IN_WORKBOOKS"]

IN_WORKBOOKS = (*USUALLY_MISSING, "#N/A")  # the last is an error of Excel's
