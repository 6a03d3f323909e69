"""How long it takes to import a library."""

import statistics
import subprocess
import sys

__all__ = ["IMPORT_TARGET", "import_milliseconds"]

IMPORT_TARGET = 60.0
"""The most milliseconds that importing tape_ad may add to importing NumPy."""


def import_milliseconds(module: str, beyond: str = "numpy", runs: int = 7) -> float:
    """Give what importing a module adds to importing another: the median of fresh processes.

    It is read from ``python -X importtime``, which itself takes a little time for each module.
    """
    return statistics.median(added(module, beyond) for _ in range(runs))


def added(module: str, beyond: str) -> float:
    command = [sys.executable, "-X", "importtime", "-c", f"import {beyond}; import {module}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # ours
    for line in reversed(done.stderr.splitlines()):
        _, cumulative, name = line.removeprefix("import time:").split("|")
        if name.strip() == module:
            return int(cumulative) / 1e3
    raise ValueError(f"{module} is not in what importtime printed")
