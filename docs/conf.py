"""Settings of Sphinx."""

from __future__ import annotations

from pathlib import Path

import river_budget
from docs import links, names

project = "river_budget"
author = "The river_budget developers"
release = version = river_budget.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "docs.docstrings",
    "docs.markdown",
]
exclude_patterns = ["_build", "_static", "_templates", "demos/*.py", "demos/*.ipynb"]
templates_path = ["_templates"]
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Aliases are shown by their names.
autodoc_type_aliases = {name: name for name in ["Batch", "ClassWeight", "Features", "LabelSeries"]}
maximum_signature_line_length = 80
python_use_unqualified_type_names = True
autosummary_generate = True
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_param = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../demos",
    "gallery_dirs": "demos",
    "filename_pattern": r"(?<!agents_on_quix)\.py$",
    "ignore_pattern": r"(mock_kafka|__init__)\.py$",
    "reset_argv": "docs.gallery.arguments",
    "image_scrapers": ("docs.gallery.shown",),
    "reset_modules": (),
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,
}

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "river_budget"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["sort.js"]
html_copy_source = False
html_show_copyright = False
html_show_sourcelink = False
# Summaries of search results are fetched, which browsers refuse to do from `file://`.
html_show_search_summary = False
html_search_scorer = str(Path(__file__).with_name("search.js"))
# Holds its fonts: formulas need no network.
mathjax_path = "mathjax/tex-svg.js"


def show_pages(app, docname: str, source: list[str]) -> None:
    source[0] = links.to_pages(source[0])
    if docname == "api":
        source[0] += names.table()


def break_names(app, page: str, template: str, context: dict, tree) -> None:
    """Let the long names of classes in the navigation break before a capital, and nowhere else."""
    context["furo_navigation_tree"] = links.breakable(context["furo_navigation_tree"])


def setup(app) -> None:
    app.connect("source-read", show_pages)
    # After the theme, whose priority is 500.
    app.connect("html-page-context", break_names, priority=900)
