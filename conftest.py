"""What all tests share: one thread for linear algebra, and code blocks of the documents as tests.

The blocks of a document run from top to bottom in one namespace. One in another language than
Python is not run, and one of an interactive session is compared with what it prints. There may be
two kinds of comment for Sybil: `<!-- skip: next "reason" -->` leaves the next Python block out, and
`<!-- invisible-code-block: python`, lines of code, `-->` prepares what a reader need not see.
"""

import os
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib import import_module

from sybil import Sybil
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
