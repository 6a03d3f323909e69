"""A directive for Sphinx that describes a module by what it publishes.

``.. package:: tape_ad.nn`` gives a table of the public names, each with its first sentence, and
below it the whole docstring of each. A name whose docstring is SciPy's own stays in the table.

Options: ``:names:`` describes these names only, ``:groups:`` the names in these dictionaries of the
module as well, and ``:no-docstring:`` leaves out what the module says of itself.
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import attrs
import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

OURS = ("tape_ad", "tape_ad.errors", "tape_ad.ComputationRecord")
"""Where a short name in a docstring may be found, whatever module the docstring is in."""

HEADING = (".. list-table::", "   :widths: 30 70", "   :class: names", "")


def first_sentence(thing: Any) -> str:
    """Take the first paragraph of a docstring, up to its first full stop; formulas as text."""
    if not callable(thing):
        return f"``{thing!r}``"
    paragraphs = (inspect.getdoc(thing) or "").split("\n\n")
    if isinstance(thing, np.ufunc):  # those above are signatures, one or two of them
        paragraphs = [each for each in paragraphs if not each.startswith(f"{thing.__name__}(")]
    paragraph = re.sub(r":math:`(.*?)`", r"``\1``", " ".join(paragraphs[0].split()))
    end = paragraph.find(". ")
    return paragraph if end < 0 else paragraph[: end + 1]


def is_described_elsewhere(module: ModuleType, name: str) -> bool:
    """Tell whether a docstring is tape_ad's, SciPy's or NumPy's of that name, or of a number."""
    thing = getattr(module, name)
    if not callable(thing):
        return True
    if module.__name__ != "tape_ad" and vars(sys.modules["tape_ad"]).get(name) is thing:
        return True
    hosts = {module.__name__.removeprefix("tape_ad."), "numpy"} - {module.__name__}
    found = (sys.modules.get(host) for host in hosts)
    return isinstance(thing, np.dtype) or any(
        inspect.getdoc(getattr(host, name, None)) == inspect.getdoc(thing) for host in found
    )


def table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Write a table of two columns in reStructuredText."""
    yield from HEADING
    for name, text in rows:
        yield from (f"   * - {name}", f"     - {text}")
    yield ""


def signature(thing: Any) -> str:
    """Write how an attrs class is called, where a ``__new__`` that takes anything hides it."""
    if not (isinstance(thing, type) and attrs.has(thing) and "__init__" in vars(thing)):
        return ""
    _, *parameters = inspect.signature(thing.__init__).parameters.values()  # without self
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(bare)).replace("=NOTHING", "=...")


def is_described(kind: type, name: str) -> bool:
    """Tell whether a member of a class is a public one with a docstring of its own."""
    member = inspect.getattr_static(kind, name, None)
    return name[0] != "_" and (callable(member) or isinstance(member, property))


def entry(module: ModuleType, name: str) -> Iterator[str]:
    """Write the directive that shows a docstring."""
    thing = getattr(module, name)
    if isinstance(thing, type):
        kind = "exception" if issubclass(thing, Exception) else "class"
    else:
        kind = "function" if callable(thing) else "data"
    yield f".. auto{kind}:: {module.__name__}.{name}{signature(thing)}"
    if isinstance(thing, type) and "__dir__" in vars(thing):  # it says what users ask it for
        yield from ("   :no-members:", "")
        for member in dir(object.__new__(thing)):
            if is_described(thing, member):
                found = inspect.getattr_static(thing, member)
                form = "property" if isinstance(found, property) else "method"
                yield f"   .. auto{form}:: {module.__name__}.{name}.{member}"
    yield ""


class Package(SphinxDirective):
    """``.. package:: MODULE``."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012 - docutils reads it so
        "names": directives.unchanged,
        "groups": directives.unchanged,
        "no-docstring": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Write reStructuredText, and have it read."""
        module = import_module(self.arguments[0])
        lines = [f".. py:currentmodule:: {module.__name__}", ""]
        if "no-docstring" not in self.options:
            lines += self.docstring(module)
        lines += self.described(module, self.options.get("names", "").split() or self.names(module))
        for group in self.options.get("groups", "").split():
            lines += [f".. rubric:: {group.capitalize()}", "", *self.listed(module, group)]
        container = nodes.Element()
        self.state.nested_parse(StringList(lines, module.__file__ or ""), 0, container)
        return [*container.children]

    def docstring(self, module: ModuleType) -> Iterator[str]:
        """Show what a module says of itself."""
        yield from (f".. automodule:: {module.__name__}", "   :no-members:", "")

    def names(self, module: ModuleType) -> list[str]:
        """List what a module publishes, but for modules and what stands in a group."""
        groups = self.options.get("groups", "").split()
        grouped = {*groups}.union(*(getattr(module, group) for group in groups))
        public = getattr(module, "__all__", [name for name in dir(module) if name[0] != "_"])
        return [
            name
            for name in public
            if name not in grouped and not inspect.ismodule(getattr(module, name))
        ]

    def described(self, module: ModuleType, names: list[str]) -> Iterator[str]:
        """Write a table of names, and their docstrings below it."""
        ours = [name for name in names if not is_described_elsewhere(module, name)]
        if not names:
            return
        yield from table(
            (
                f":py:obj:`{name} <{module.__name__}.{name}>`" if name in ours else f"``{name}``",
                first_sentence(getattr(module, name)),
            )
            for name in names
        )
        for name in ours:
            yield from entry(module, name)

    def listed(self, module: ModuleType, group: str) -> Iterator[str]:
        """Write a table of the names in a dictionary of a module."""
        things = getattr(module, group)
        yield from table((f"``{name}``", first_sentence(thing)) for name, thing in things.items())


def be_exact(app: Sphinx, doctree: nodes.document) -> None:
    """Let a word in the type of a parameter, "array, shapes (n,)", be no guess at a member."""
    for node in doctree.findall(addnodes.pending_xref):
        if node.get("refdomain") == "py" and "refspecific" in node:
            del node["refspecific"]


def find_short_name(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Look for `MutatedInputError` or `Tensor.grad` where it is, from a docstring anywhere."""
    if node.get("refdomain") != "py" or node["reftype"] not in ("obj", "exc", "class"):
        return None
    known = env.domains.python_domain.objects
    for prefix in OURS:
        full = f"{prefix}.{node['reftarget']}"
        if full in known:
            at = known[full]
            return make_refnode(app.builder, node["refdoc"], at.docname, at.node_id, content, full)
    return None


def mend_source(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take links out of the pages of source code that lead nowhere.

    Sphinx's viewcode leads back to each name in one module, and ours are published in several; and
    its index has a page for builtins, which have no source.
    """
    if page.startswith("_modules/"):
        dead = r'<a class="viewcode-back".*?</a>|<li><a href="builtins.html">.*?</li>'
        context["body"] = re.sub(dead, "", context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the directive and the names."""
    app.add_directive("package", Package)
    app.connect("doctree-read", be_exact)
    app.connect("missing-reference", find_short_name)
    app.connect("html-page-context", mend_source)
    return {"parallel_read_safe": True}
