"""Time tape_ad beside NumPy and PyTorch, and print the ratios.

Run from the repository's root::

    pip install '.[bench]'           # PyTorch is optional: without it, its rows say so
    python -m benchmarks             # agreement, times and memory, against their targets: a minute
    python -m benchmarks --quick     # agreement and memory only: seconds, for continuous integration

Everything runs on one core with one thread for linear algebra, so that the ratios compare the
libraries and not their thread pools. The variables that say so are read when NumPy and PyTorch are
first imported: this process sets them and leaves the work to a child.

The exit status is 1 when the libraries disagree about a value or a gradient, or when a peak of
memory exceeds its target. Times depend on the machine and what else it does, so a missed time is
printed and changes nothing.
"""

import os
import subprocess
import sys

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def main() -> int:
    if hasattr(os, "sched_setaffinity"):  # a child inherits its parent's cores
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    command = [sys.executable, "-m", "benchmarks.suite", *sys.argv[1:]]
    child = subprocess.run(command, env=os.environ | ONE_THREAD, check=False)  # noqa: S603  # ours
    return child.returncode


if __name__ == "__main__":
    sys.exit(main())
