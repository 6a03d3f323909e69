"""What is imported, and when."""

import subprocess
import sys


def python(program: str) -> str:
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(  # noqa: S603  # our own code in our own interpreter
        command, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_tables_that_few_programs_need_come_when_one_does() -> None:
    printed = python("""
import sys
import numpy as np
import tape_ad as ta

x = ta.ComputationRecord().tensor([1.0, 2.0, 3.0])
y = np.sum(np.tanh(x) @ np.ones((3, 2)))
print("tape_ad.rules.numpy.fft" in sys.modules)
y = np.sum(np.abs(np.fft.rfft(x)) ** 2)
print("tape_ad.rules.numpy.fft" in sys.modules, y.grad().wrt(x).round(6).tolist())
""")
    assert printed == "False\nTrue [9.0, 12.0, 15.0]"


def test_no_peer_and_no_extra_is_imported() -> None:
    printed = python("""
import sys
import tape_ad

print([name for name in ("scipy", "torch", "jax", "matplotlib", "rich") if name in sys.modules])
""")
    assert printed == "[]"
