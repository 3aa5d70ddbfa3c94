"""The page as one file: a template, its scripts and styles, and the model as JSON."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from suffice.numerics.in_print import percent
from suffice.reports.about import about
from suffice.reports.columns import Ends, column_facts
from suffice.reports.rows import rows_of
from suffice.reports.scoring import scoring
from suffice.reports.tested import how_good, in_print, with_answers

# In the order of their imports.
SCRIPTS = (
    *("score", "format", "dom", "chart", "densities", "gains", "words", "address", "answer"),
    *("ask", "columns", "good", "rows", "nomogram", "main"),
)
IMPORT = re.compile(r"^import .*?;\n", re.M | re.S)
EXPORT = re.compile(r"^export ", re.M)
COMMENT = re.compile(r"^ *//.*\n|/\*\*(?:(?!\*/)[^`])*\*/ ?", re.M)
INDENT = re.compile(r"^\s+", re.M)


def page(model: Any, test: Any = None) -> str:
    """Return the page as text; ``test`` are held-out rows with their answers."""
    scored = scoring(model)
    facts = about(model, len(scored["columns"]), scored["outputs"])
    facts["fingerprint"] = hashlib.sha256(_json(scored).encode()).hexdigest()
    listed: dict[str, Any] = {}
    ends: Ends = {}
    if test is not None:
        X, y = with_answers(model, test)
        listed["tested"] = how_good(model, X, y)
        rows, ends = rows_of(model, X, y, scored["columns"])
        listed |= rows
    described = column_facts(model, scored["columns"], ends)
    columns = [one | of for one, of in zip(scored["columns"], described, strict=True)]
    data = scored | {"columns": columns, "target": facts["target"]} | listed
    if "members" in data:
        del data["terms"]  # some of those of the first member, from which the page takes them
    style, script = _file("page.css"), _bundle()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    # Names that come from the data are escaped; the parts given as markup are our own files.
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["in_print"] = in_print
    environment.filters["share"] = lambda share: percent(share).replace(" ", "\N{NO-BREAK SPACE}")
    template = environment.from_string(_file("page.html.j2"))
    written: str = template.render(
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        data=Markup(_json(data)),
        about=facts,
        good=data.get("tested"),
        calibration=getattr(model.model_, "calibration", None),
        total=data.get("total", 0),
        listed=len(data.get("rows", ())),
    )
    return written


def _file(name: str) -> str:
    return files("suffice.reports").joinpath("page", name).read_text("utf8")


def _bundle() -> str:
    """The modules in the order of their imports, as one script."""
    parts = (_file(f"{name}.js") for name in SCRIPTS)
    text = "".join(EXPORT.sub("", IMPORT.sub("", part)) for part in parts)
    text = INDENT.sub("", COMMENT.sub("", text))
    return f'"use strict";\n{text}'


def _hash(text: str) -> str:
    """The source that a content security policy knows an inline text by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(data: Any) -> str:
    """JSON that no text in it can end the script element of."""
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return written
