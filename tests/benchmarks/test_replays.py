import functools
import importlib
from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.agreement import distance
from benchmarks.libraries import (
    OURS,
    OURS_COMPILED,
    OURS_NATIVE,
)
from benchmarks.libraries.plain import Outcome
from benchmarks.workers import Desk
from benchmarks.workloads import FUNCTIONS, WORKLOADS
from tests.benchmarks.engines import needs_native
from tests.sampling import some

LONG = {
    "chain, 10,000 elements",
    "chain of 1,000 steps, 10^5 elements",
    "elementwise, 10^6",
    "step, 256x784x1024x10",
    "attention, 8x256x256",
    "transformer block, 8x256x256",
    "CNN, 64x28x28",
    "Gaussian mixture, d=64, K=100",
    "LSTM, 1,024 characters",
    "determinant, 8x8",
    "Hessian of a network, 500",
    "Hessian of a network, 2,000",
    "stack of 1,000",
    "stack of 10,000",
}
"""Which take seconds: `python -m benchmarks` compares them."""


NAMES = [*some((name for name in WORKLOADS if name not in LONG), 6), *some(FUNCTIONS, 60)]
"""Some (`tests.sampling`): the benchmarks compare all before they measure."""


@functools.lru_cache(maxsize=1)
def eager_outcomes(name: str) -> list[Outcome]:
    """Run a workload eagerly, once for the tests that compare with that."""
    return outcomes(OURS, name)


def outcomes(library: str, name: str) -> list[Outcome]:
    return Desk(importlib.import_module(f"benchmarks.libraries.{library}")).outcomes(name, 4)


def same_bits(name: str) -> None:
    """Assert that replays by NumPy give the bits of eager calls."""
    replayed = outcomes(OURS_COMPILED, name)
    for (value, derivatives), (other, others) in zip(eager_outcomes(name), replayed, strict=True):
        np.testing.assert_array_equal(other, value, strict=True)
        assert others.keys() == derivatives.keys()
        for by, derivative in derivatives.items():
            np.testing.assert_array_equal(others[by], derivative, strict=True)


def same_but_for_rounding(name: str) -> None:
    """Assert that native code gives what eager calls do, but for rounding."""
    replayed = outcomes(OURS_NATIVE, name)
    for (value, derivatives), (other, others) in zip(eager_outcomes(name), replayed, strict=True):
        assert value is None or distance(other, value) < 1e-12
        assert {by: distance(others[by], each) < 1e-12 for by, each in derivatives.items()} == (
            dict.fromkeys(others, True)
        )


@pytest.mark.parametrize(
    "compare",
    [same_bits, pytest.param(same_but_for_rounding, marks=needs_native)],
    ids=["numpy", "native"],
)
@pytest.mark.parametrize("name", NAMES)
def test_compiled_programs_give_what_eager_ones_do(
    name: str, compare: Callable[[str], None]
) -> None:
    compare(name)
