"""Links to the programs in examples/, which lead to their pages on the site.

A page of Markdown links to ``../examples/02_train_digits.py``, which code hosting shows. On the
site such a link leads to the program's page in docs/programs.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx


def label(program: str) -> str:
    """Name the page on which a program stands."""
    return "program-" + Path(program).stem.replace("_", "-")


def lead_to_the_page(app: Sphinx, doctree: nodes.document) -> None:
    """Replace a download of a program by a link to where it is shown."""
    for node in list(doctree.findall(addnodes.download_reference)):
        target = Path(node["reftarget"])
        if target.parent.name == "examples" and target.suffix == ".py":
            link = addnodes.pending_xref(
                "",
                nodes.inline("", node.astext()),
                refdomain="std",
                reftype="ref",
                reftarget=label(target.name),
                refexplicit=True,
                refwarn=True,
                refdoc=app.env.current_document.docname,
            )
            node.replace_self(link)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the links."""
    app.connect("doctree-read", lead_to_the_page)
    return {"parallel_read_safe": True}
