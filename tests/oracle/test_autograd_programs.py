"""Programs in the style of those written for HIPS autograd give the same numbers on us."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tape_ad.base.trees import with_paths
from tests.interop.autograd.running import PROGRAMS, by_us, run
from tests.oracle.oracles import oracle

autograd: Any = oracle("autograd")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_gives_what_it_gives_on_hips_autograd(path: Path) -> None:
    expected = with_paths(run(path))
    found = with_paths(by_us(path))
    assert [each for each, _ in found] == [each for each, _ in expected]
    for (where, ours), (_, theirs) in zip(found, expected, strict=True):
        if isinstance(theirs, str):
            assert ours == theirs
            continue
        assert np.shape(ours) == np.shape(theirs), where
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11, err_msg=where)


def test_the_programs_are_run_by_two_libraries() -> None:
    assert sys.modules["autograd"] is autograd
    assert not autograd.grad.__module__.startswith("tape_ad")
