"""How Sphinx makes the documentation site: ``python -m sphinx -W --keep-going docs docs/_build``.

The pages are the Markdown that code hosting shows, and the reference comes from docstrings. All of
it can be read from disk: nothing is fetched, neither when it is built nor when it is read.
"""

import sys
from pathlib import Path

import tape_ad

sys.path.insert(0, str(Path(__file__).parent / "site"))  # for the extensions of our own

# NumPy's errors say "not tape_ad.Tensor"; by that name, Sphinx would take the class for an alias.
tape_ad.Tensor.__name__ = "Tensor"

project = "tape_ad"
author = "The tape_ad authors"
version = release = tape_ad.__version__
language = "en-GB"

extensions = [
    *("myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"),
    *("sphinx_copybutton", "programs", "packages"),
]
exclude_patterns = ["_build", "site", "pictures"]

# Links: each has to lead somewhere, to a heading too. The names of GitHub's anchors are taken.
nitpicky = True
myst_heading_anchors = 4
myst_links_external_new_tab = False
nitpick_ignore_regex = [
    ("py:obj", ".*"),  # `x` in a docstring may be a parameter, or a function of NumPy's
    ("py:class", ".*"),  # types are described in words: "array, shape (n,)"
    ("py:exc", ".*"),  # Python's own among them
]

# Docstrings: `name` is a link where there is such a name, and code where there is none.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say more, with shapes
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes as a list
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = f"tape_ad {release}"
html_static_path = ["site/static"]
html_css_files = ["style.css"]
html_js_files = ["filter.js"]
html_logo = "site/static/logo.svg"
html_favicon = "site/static/logo.svg"
copybutton_exclude = ".linenos, .gp, .go"  # prompts and output
html_sidebars: dict[str, list[str]] = {"changelog": []}
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would be fetched, which a browser refuses for files
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "search_bar_text": "Search",
}
