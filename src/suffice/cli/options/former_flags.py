"""Options of the command line by their former names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from suffice.errors import FormerNameWarning, warn

__all__ = ["FORMER_FLAGS", "current_flags"]

FORMER_FLAGS = {
    "--columns": "--names",
    "--delimiter": "--separator",
    "--relabel": "--label-map",
    "--strip-label-suffix": "--label-suffix",
}
"""The names that options have now, which are those of Python."""


def current_flags(words: Sequence[str], known: Collection[str]) -> list[str]:
    """The words of a command, with options by the names that they have now.

    Parameters
    ----------
    words : sequence of str
    known : collection of str
        The options of the command.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     current_flags(["a.csv", "--delimiter=;"], {"--separator"})
    ['a.csv', '--separator=;']
    >>> print(caught[0].message)
    --delimiter is called --separator now.
    """
    found = list(words)
    for place, word in enumerate(words):
        if word == "--":
            break
        former, sign, value = word.partition("=")
        now = FORMER_FLAGS.get(former)
        if now in known and former not in known:
            warn(f"{former} is called {now} now.", FormerNameWarning)
            found[place] = f"{now}{sign}{value}"
    return found
