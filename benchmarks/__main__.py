"""Time tape_ad beside its peers, and print the ratios.

Run from the repository's root::

    pip install '.[bench]'                 # a peer that is missing is left out, and named
    python -m benchmarks                   # all of it: about 25 minutes; writes docs/benchmarks.md
    python -m benchmarks --only step       # what has "step" in its name; no files
    python -m benchmarks --quick           # agreement and memory alone: under a minute

Each library has its own process, and they run in turn on one core, with one thread for linear
algebra, so that the ratios compare the libraries and not their thread pools.

The exit status is 1 when the libraries disagree about a value or a derivative, when one of them
fails, or when our peak of memory exceeds its bound. Times depend on the machine and what else it
does, so a missed time is printed and changes nothing.
"""

import argparse
import os
import sys

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="agreement and memory, no times")
    parser.add_argument(
        "--only", metavar="NAME", default="", help="workloads and functions with NAME in theirs"
    )
    parser.add_argument("--without", metavar="LIBRARY", action="append", default=[])
    arguments = parser.parse_args()
    os.environ |= ONE_THREAD  # the libraries' processes read it when they start
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    cores: tuple[int, ...] = ()
    if hasattr(os, "sched_setaffinity") and not arguments.quick:  # they inherit the core too
        cores = tuple(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {max(cores)})
    from benchmarks.suite import Options, run  # noqa: PLC0415  # peers' processes import this file

    return run(Options(arguments.quick, arguments.only, frozenset(arguments.without), cores))


if __name__ == "__main__":
    sys.exit(main())
