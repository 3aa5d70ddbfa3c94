"""How the command line writes what columns of linear models become."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.cli.options.names import listed
from suffice.errors import ParameterError

__all__ = ["levels_of", "places_of", "reference_of"]


def places_of(given: str) -> int | str:
    """The value of ``--words``.

    Examples
    --------
    >>> places_of("64"), places_of("counted")
    (64, 'counted')
    """
    if given == "counted":
        return given
    if not given.isdecimal():
        raise ParameterError(
            f"--words {given}", "it is 'counted', or into how many columns words are hashed"
        )
    return int(given)


def levels_of(given: Sequence[str]) -> dict[str, list[str]]:
    """The value of ``--ordered``, which may be given several times.

    Examples
    --------
    >>> levels_of(["size=S,M,L"])
    {'size': ['S', 'M', 'L']}
    """
    found: dict[str, list[str]] = {}
    for each in given:
        name, _, levels = each.partition("=")
        if not levels or name in found:
            raise ParameterError(
                f"--ordered {each}",
                "it is a column, =, and its levels, the lowest first, once a column",
                f"write --ordered {name or 'COL'}=LOW,HIGH",
            )
        found[name] = list(listed([levels]))
    return found


def reference_of(given: Sequence[str]) -> dict[str, str]:
    """The value of ``--reference``, which may be given several times.

    Examples
    --------
    >>> reference_of(["island=Biscoe"])
    {'island': 'Biscoe'}
    """
    found: dict[str, str] = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not (sign and name and value) or name in found:
            raise ParameterError(
                f"--reference {each}",
                "it is a column, =, and the value that the others are compared with, once a column",
                f"write --reference {name or 'COL'}=VALUE",
            )
        found[name] = value
    return found
