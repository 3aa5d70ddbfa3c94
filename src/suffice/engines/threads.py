"""Worker threads that are started once and kept: to start them takes as long as 10,000 rows."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

__all__ = ["threads"]


@cache
def threads(number: int) -> ThreadPoolExecutor:
    """The threads of this process, which start with the first calls.

    Examples
    --------
    >>> threads(2).submit(sum, [1, 2]).result(), threads(2) is threads(2)
    (3, True)
    """
    return ThreadPoolExecutor(number, thread_name_prefix="suffice")


if hasattr(os, "register_at_fork"):
    # A child has none of its parent's threads.
    os.register_at_fork(after_in_child=threads.cache_clear)
