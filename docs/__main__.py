"""Build the site: ``python -m docs``, in an environment that has '.[docs]'.

Every tutorial is run, a warning is an error, every link inside the site is followed, and every
search of the page of questions has to find its page. The pages are in ``build/docs``; open
``build/docs/index.html``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from docs.building.links import dead_links
from docs.building.questions import unanswered
from sphinx.cmd.build import build_main

DOCS = Path(__file__).parent


def main() -> int:
    """Build the site, and return the exit code: 0 if there is nothing to mend."""
    parser = argparse.ArgumentParser(prog="python -m docs", description=__doc__)
    parser.add_argument("--output", type=Path, default=DOCS.parent / "build" / "docs")
    parser.add_argument(
        "--without-tutorials", action="store_true", help="a quick look, without their pictures"
    )
    chosen = parser.parse_args()
    options = ["-b", "html", "-W", "--keep-going", "-q"]
    if chosen.without_tutorials:
        options += ["-D", "plot_gallery=0"]
    code = build_main([*options, str(DOCS), str(chosen.output)])
    faults = [*dead_links(chosen.output), *unanswered(chosen.output, DOCS / "questions.md")]
    print(*faults, sep="\n", file=sys.stderr, end="\n" if faults else "")
    return code or int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
