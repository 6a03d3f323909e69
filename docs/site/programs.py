"""The programs in examples/ as a page of the site, and links to them that lead there.

A page of Markdown links to ``../examples/02_train_digits.py``, which code hosting shows. On the
site such a link leads to the page that ``.. programs::`` makes.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

EXAMPLES = Path(__file__).parents[2] / "examples"


def label(program: str) -> str:
    """Name the place on the page where a program stands."""
    return "program-" + Path(program).stem.replace("_", "-")


class Programs(SphinxDirective):
    """``.. programs::``."""

    def run(self) -> list[nodes.Node]:
        """Show each program with its highlighted lines."""
        lines: list[str] = []
        for path in sorted(EXAMPLES.glob("[0-9]*.py")):
            lines += [f".. _{label(path.name)}:", "", path.name, "-" * len(path.name), ""]
            source = Path("..") / path.relative_to(EXAMPLES.parent)
            lines += [f".. literalinclude:: {source.as_posix()}", ""]
        return [*self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)]


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
    """Tell Sphinx of the directive and the links."""
    app.add_directive("programs", Programs)
    app.connect("doctree-read", lead_to_the_page)
    return {"parallel_read_safe": True}
