"""How long it takes to import a library."""

import os
import statistics
import subprocess
import sys
import tempfile

__all__ = ["IMPORT_TARGET", "import_milliseconds"]

IMPORT_TARGET = 60.0
"""The most milliseconds that importing tape_ad may add to importing NumPy."""


def import_milliseconds(module: str, beyond: str = "numpy", runs: int = 7) -> float:
    """Give what importing a module adds to importing another: the median of fresh processes.

    It is read from ``python -X importtime``, which itself takes a little time for each module.
    Modules are compiled before, as those of an installed library are.
    """
    command = [sys.executable, "-X", "importtime", "-c", f"import {beyond}; import {module}"]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        taken = [cumulative(command, environment, module) for _ in range(runs + 1)]
    return statistics.median(taken[1:])  # the first one compiles


def cumulative(command: list[str], environment: dict[str, str], module: str) -> float:
    """Read the milliseconds for a module and all that it was the first to import."""
    done = subprocess.run(  # noqa: S603  # our own command
        command, capture_output=True, text=True, check=True, env=environment
    )
    for line in reversed(done.stderr.splitlines()):
        _, microseconds, name = line.removeprefix("import time:").split("|")
        if name.strip() == module:
            return int(microseconds) / 1e3
    raise ValueError(f"{module} is not in what importtime printed")
