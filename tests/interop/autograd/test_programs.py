"""Programs in the style of those written for HIPS autograd run on us; numbers: tests/oracle."""

from pathlib import Path

import numpy as np
import pytest

from tape_ad.base.trees import flatten
from tests.interop.autograd.running import PROGRAMS, by_us


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_runs_to_finite_numbers(path: Path) -> None:
    pytest.importorskip("scipy")
    numbers = [leaf for leaf in flatten(by_us(path)) if not isinstance(leaf, (str, bool))]
    assert numbers
    assert all(np.isfinite(leaf).all() for leaf in numbers)
