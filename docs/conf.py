"""The site's configuration, read by Sphinx. `python -m docs` builds it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = str(ROOT)
os.environ.setdefault("COLUMNS", "88")  # of what commands print
os.environ["TERM"] = "dumb"

from docs.building import formulas, llms  # noqa: E402
from docs.building.commands import CommandHelp  # noqa: E402

from suffice import __version__  # noqa: E402

project, author, copyright = "Suffice", "The Suffice authors", "The Suffice authors"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
]
exclude_patterns = ["scripts", "building", "reference/examples", "tutorials/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]

# Pages -------------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# Pages of the repository's root that pages of this folder link to, and where the site has them.
ELSEWHERE = {
    "../CHANGELOG.md": "/project/changelog.md",
    "../CONTRIBUTING.md": "/project/contributing.md",
    "../SECURITY.md": "/project/security.md",
    "../benchmarks/RESULTS.md": "/project/benchmarks.md",
}

# Reference ---------------------------------------------------------------------------------------

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_default_options = {"inherited-members": True}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Tutorials ---------------------------------------------------------------------------------------

# Lessons on data that no package has are run where the files are.
DATA = Path(os.environ.setdefault("SUFFICE_DATA", str(ROOT.parent / "shared" / "data")))
NEEDED = {"census": "adult/adult.data", "brains": "haxby_slice/bold.nii.gz"}
NOT_RUN = [lesson for lesson, file in NEEDED.items() if not (DATA / file).exists()]

sphinx_gallery_conf = {
    "examples_dirs": "scripts",
    "gallery_dirs": "tutorials",
    "within_subsection_order": "docs.building.lessons.LessonOrder",
    "filename_pattern": rf"/(?!(?:{'|'.join(NOT_RUN) or '$'})\.py)\w+\.py$",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
    "plot_gallery": True,
}
# Looks -------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "Suffice"
html_static_path = ["_static"]
html_css_files = ["suffice.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Suffice"},
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "tango",
}


def _resolved(app: Any, docname: str, source: list[str]) -> None:
    """Links to pages of the root lead to their pages of the site."""
    for old, new in ELSEWHERE.items():
        for path in (old, f"../{old}"):  # also from a folder of this one
            source[0] = source[0].replace(f"]({path}", f"]({new}")


def _inherited(app: Any, what: str, name: str, found: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from scikit-learn: its pages are there."""
    owner = getattr(getattr(found, "fget", None) or found, "__module__", None) or ""
    return True if owner.startswith("sklearn.") else None


def setup(app: Any) -> None:
    """Join what Sphinx does."""
    app.connect("autodoc-skip-member", _inherited)
    formulas.join(app)
    app.add_directive("command-help", CommandHelp)
    app.connect("source-read", _resolved)
    app.connect("build-finished", llms.write)
