"""A fitted model as one page for a browser, that answers by itself.

`suffice.report` writes it. The page needs no network, no server and no Python.
Needs Jinja2: ``pip install 'suffice[report]'``.
"""

from suffice.reports.write import report

__all__ = ["report"]
