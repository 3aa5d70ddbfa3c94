"""Text with blanks between fields, any number of them, as columns are lined up by hand."""

from __future__ import annotations

import re

__all__ = ["BLANK", "single_blanks"]

BLANK = " "
_NEEDLESS = r"(?<![^\r\n]) +| +(?![^\r\n])|(?<= ) +"  # at the ends of a line, and after another


def single_blanks(text: bytes, quote: str | None) -> bytes:
    r"""The same lines with one blank between fields and none at the ends; quoted ones are left.

    Parameters
    ----------
    text : bytes
        Whole records in UTF-8.
    quote : str or None
        What encloses fields.

    Examples
    --------
    >>> single_blanks(b'  1   a\n 20  "b  c" \n', '"')
    b'1 a\n20 "b  c"\n'
    """
    if quote is None or quote.encode() not in text:
        return re.sub(_NEEDLESS.encode(), b"", text)
    q = re.escape(quote)
    enclosed = rf"(?<![^ \r\n])({q}(?>(?:[^{q}]|{q}{q})*){q})"
    return re.sub(f"{enclosed}|{_NEEDLESS}".encode(), lambda match: match[1] or b"", text)
