"""``suffice keys``: a pair of keys, for sums of several owners."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from suffice.cli.options import AsJson, output_file
from suffice.cli.output import deliver


def keys(
    *,
    output: Annotated[Path, output_file("Private key; FILE.pub is the public one.")],
    as_json: AsJson = False,
) -> None:
    """Make the keys of an owner of rows, for sums that nobody sees.

    The public key goes to whoever makes the plan; the private one stays.

    Example: suffice keys -o ulm.key
    """
    from suffice.owners import keys as made

    made(output)
    facts = {"private": str(output), "public": f"{output}.pub"}
    said = f"{output} is private: it stays here. Send {output}.pub to whoever makes the plan."
    deliver(facts, [said], as_json)
