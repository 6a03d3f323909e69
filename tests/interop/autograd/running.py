"""Programs written for HIPS autograd, run with its own modules or with ours in their place."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from tape_ad.interop import install_as_autograd

__all__ = ["PROGRAMS", "by_us", "run", "same"]

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


def run(path: Path) -> Any:
    """Load a program afresh, with whatever autograd is now, and run it."""
    spec: Any = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program.run()


def by_us(path: Path) -> Any:
    """Run a program on this library."""
    with install_as_autograd(replace=True):
        return run(path)


def same(found: Any, expected: Any) -> None:
    """Compare two results of the same formula."""
    np.testing.assert_allclose(found, expected, rtol=1e-13)
