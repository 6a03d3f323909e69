"""Collect the README's Python code blocks as tests, run from top to bottom in one namespace.

A block in another language is not run. The README may hold two kinds of comment for Sybil:
`<!-- skip: next "reason" -->` leaves the next Python block out, and
`<!-- invisible-code-block: python`, lines of code, `-->` prepares what a reader need not see.
"""

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md"],
).pytest()
