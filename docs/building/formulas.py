"""Formulas as MathML, which browsers draw themselves: no page asks for a script from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

__all__ = ["join"]


def join(app: Any) -> None:
    """Let formulas be written here: Sphinx takes the writer that is not its own."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode
