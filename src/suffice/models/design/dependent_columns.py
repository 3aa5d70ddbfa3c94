"""Columns of a linear model that are linear combinations of others, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from suffice.numerics.in_print import NAMED, bound
from suffice.numerics.linalg import Factor


def dependence(
    dependent: Sequence[int], factor: Factor | None, terms: Sequence[str], intercept: bool
) -> Iterator[str]:
    """Say what every column is made of that depends on columns before it.

    Parameters
    ----------
    dependent : sequence of int
        Those columns, increasing.
    factor : Factor, optional
        Of all columns; without it, the dependent ones are constant.
    terms : sequence of str
        Names of all columns.
    intercept : bool
        Whether the model has an intercept, which makes constant columns dependent.

    Examples
    --------
    >>> list(dependence([1], None, ["size", "one"], True))
    ["column 'one' has one value only"]
    """
    constant = " plus a constant" if intercept else ""
    size = "standard deviation" if intercept else "root mean square"
    for j in dependent[:NAMED]:
        made_of = {} if factor is None else factor.combination(j)
        sum_of = " + ".join(f"{value:g} × {terms[i]!r}" for i, value in made_of.items())
        if len(made_of) > NAMED:
            sum_of = f"a combination of {len(made_of)} columns before it"
        left_over = 0.0 if factor is None else factor.left_over(j)
        if sum_of:
            up_to = f", up to {bound(left_over)} of its {size}"
            yield f"column {terms[j]!r} is {sum_of}{constant}{up_to}"
        elif left_over:
            yield f"column {terms[j]!r} varies by no more than the rounding of its values"
        elif intercept:
            yield f"column {terms[j]!r} has one value only"
        else:
            yield f"column {terms[j]!r} is 0 in every row"
    if len(dependent) > NAMED:
        yield (
            f"{len(dependent) - NAMED} columns more are combinations of the columns before "
            f"them, {terms[dependent[NAMED]]!r} the first of these"
        )
