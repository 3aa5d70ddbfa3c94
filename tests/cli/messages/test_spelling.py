"""Every option that a message names is spelled by the command line as the user types it."""

from __future__ import annotations

import pytest

from suffice.cli.messages.spelling import spelled


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("estimation='best'; it is", "-p estimation=best; it is"),
        ("alpha=-1.0", "-p alpha=-1.0"),
        ("alpha='gcv'", "-p alpha=gcv"),
        ("declare it in missing=..., or not", "declare it in -r missing=..., or not"),
        ("use C=np.inf.", "use -p C=inf."),
        ("use quote=None where", "use -r quote=none where"),
        ("use separator=';'", "use -r separator=';'"),
        ('encoding="latin-1"', "-r encoding=latin-1"),
        ("written={'day': 'DD/MM/YYYY'}", "-r written=day:DD/MM/YYYY"),
        ("write ordered={'a': ['low', 'high']}", "write -p ordered=a:low,high"),
        ("leave it out: ignore=['gap']", "leave it out: --ignore gap"),
        ("rows, use learnt=False", "rows, use --new"),
        ("column 'alpha=1' has", "column 'alpha=1' has"),
        ("-p alpha=1 is given", "-p alpha=1 is given"),
        ("something=1", "something=1"),
    ],
)
def test_spellings(python: str, typed: str) -> None:
    assert spelled(python) == typed
