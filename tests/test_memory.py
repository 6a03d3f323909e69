"""That memory is kept from step to step."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
import tape_ad

def step():
    arrays = [np.ones(250_000) for _ in range(5)]  # 2 MB each, 2,400 pages in all

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

step()
before = faults()
for _ in range(10):
    step()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library decides otherwise")
def test_freed_memory_is_not_given_back_and_cleared_again() -> None:
    command = [sys.executable, "-c", PROGRAM]
    fixing = ("MALLOC_", "GLIBC_TUNABLES")  # what fixes the thresholds from outside
    environment = {k: v for k, v in os.environ.items() if not k.startswith(fixing)}
    done = subprocess.run(  # noqa: S603  # our own command
        command, capture_output=True, text=True, check=True, env=environment
    )
    assert int(done.stdout) < 1_000
