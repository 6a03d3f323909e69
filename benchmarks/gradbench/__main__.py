"""Answer GradBench's messages on standard input; docs/gradbench.md says how to run it.

::

    python -m benchmarks.gradbench              # ta.compile makes each function
    python -m benchmarks.gradbench --eager      # each call records afresh
    python -m benchmarks.gradbench --multithreaded
"""

import argparse
import os
import sys

from benchmarks.__main__ import ONE_THREAD


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.gradbench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--eager", action="store_true", help="without ta.compile")
    parser.add_argument("--multithreaded", action="store_true", help="more than one core")
    arguments = parser.parse_args()
    if not arguments.multithreaded:
        os.environ |= ONE_THREAD  # NumPy's linear algebra reads it when it is imported
    from benchmarks.gradbench.protocol import Tool  # noqa: PLC0415  # imports NumPy

    name = "tape_ad-eager" if arguments.eager else "tape_ad"
    Tool(name, compiled=not arguments.eager).serve(sys.stdin, sys.stdout)


if __name__ == "__main__":
    main()
