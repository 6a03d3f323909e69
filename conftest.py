"""What all tests share: one thread for linear algebra, and code blocks of the documents as tests.

The blocks of a document run from top to bottom in one namespace. One in another language than
Python is not run, and one of an interactive session is compared with what it prints. A block in the
language `output` is what the Python block above it has printed, and is compared with that. There
may be two kinds of comment for Sybil: `<!-- skip: next "reason" -->` leaves the next Python block
out, and `<!-- invisible-code-block: python`, lines of code, `-->` prepares what a reader need not
see.
"""

import gc
import os
from collections.abc import Generator
from contextlib import redirect_stdout
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from doctest import Example as Expected
from importlib import import_module
from importlib.util import find_spec
from io import StringIO

import pytest
from sybil import Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.integration.pytest import SybilItem
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

# The matrices of the tests are tiny. Waking several threads for each takes a hundred times as long
# as the arithmetic where other processes keep the cores busy. It is read when NumPy is imported.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("VECLIB_MAXIMUM_THREADS", "1")

# Whole, before pytest imports any of its modules alone: that one would be imported twice.
import_module("tape_ad")

collect_ignore = ["docs/conf.py", "docs/site"]  # they need the extra `docs`, and have no examples

FLAGS = NORMALIZE_WHITESPACE | ELLIPSIS


def run_and_keep_what_is_printed(example: Example) -> None:
    """Run a block of Python, for a block of output that may stand below."""
    with redirect_stdout(StringIO()) as printed:
        PythonEvaluator()(example)
    example.namespace["printed by the block above"] = printed.getvalue()


def compare_with_what_was_printed(example: Example) -> str | None:
    """Compare a block of output, once, with what the block of Python above it has printed."""
    printed = example.namespace.pop("printed by the block above", "")
    if OutputChecker().check_output(example.parsed, printed, FLAGS):
        return None
    return OutputChecker().output_difference(Expected("", example.parsed), printed, FLAGS)


blocks = PythonCodeBlockParser(doctest_optionflags=FLAGS)
blocks.codeblock_parser = CodeBlockParser("python", run_and_keep_what_is_printed)

pytest_collect_file = Sybil(
    parsers=[blocks, CodeBlockParser("output", compare_with_what_was_printed), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/tutorial/*.md", "docs/how-to/*.md"],
).pytest()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without collections of garbage, which would go over all that there is."""
    if find_spec("dask"):
        import_module("dask.array")  # which notes whether the collector runs, and leaves it so
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


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
