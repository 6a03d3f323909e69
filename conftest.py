"""What all tests share: one thread for linear algebra, and code blocks of the documents as tests.

The blocks of a document run from top to bottom in one namespace. One in another language than
Python is not run, and one of an interactive session is compared with what it prints. There may be
two kinds of comment for Sybil: `<!-- skip: next "reason" -->` leaves the next Python block out, and
`<!-- invisible-code-block: python`, lines of code, `-->` prepares what a reader need not see.
"""

import os
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib import import_module

import pytest
from sybil import Sybil
from sybil.integration.pytest import SybilItem
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

# The matrices of the tests are tiny. Waking several threads for each takes a hundred times as long
# as the arithmetic where other processes keep the cores busy. It is read when NumPy is imported.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("VECLIB_MAXIMUM_THREADS", "1")

# Whole, before pytest imports any of its modules alone: that one would be imported twice.
import_module("tape_ad")

pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=NORMALIZE_WHITESPACE | ELLIPSIS),
        SkipParser(),
    ],
    patterns=["README.md", "docs/*.md"],
).pytest()

RUN: set[str] = set()
"""The blocks that this process has run."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run the blocks above one that has come to another process of pytest-xdist than they have."""
    if isinstance(item, SybilItem):
        for above in item.session.items:
            if above is item:
                break
            if above.parent is item.parent and above.nodeid not in RUN:
                RUN.add(above.nodeid)
                above.runtest()
        RUN.add(item.nodeid)
