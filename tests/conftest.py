"""What tests in several files share."""

import gc
import os
import sys
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tape_ad.programs.engines import storage
from tape_ad.record import spaces, sweeps
from tests.programs import verifier

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")  # new examples are for the fuzzers to find

storage.verifier = verifier  # of what engines do with memory


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep half of all tests, chosen by their names, where TAPE_AD_HALF is 0 or 1."""
    half = os.environ.get("TAPE_AD_HALF")
    if half is not None:
        kept = [item for item in items if zlib.crc32(item.nodeid.encode()) % 2 == int(half)]
        config.hook.pytest_deselected(items=list(set(items) - set(kept)))
        items[:] = kept


def pytest_collectstart() -> None:
    """Collect no garbage while tests are collected: what is imported stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let collections of garbage pass over what has been imported, which they never find any in."""
    nothing()  # Hypothesis looks for what refers to its generator, and finds nothing frozen
    gc.collect()
    gc.freeze()
    gc.enable()


@given(st.none())
def nothing(_: None) -> None:
    """Let Hypothesis set up what it does once in a process."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test draw the same numbers from its module's generators whichever tests ran before."""
    for generator in vars(getattr(item, "module", None) or object).values():
        if isinstance(generator, np.random.Generator):
            seed = zlib.crc32(item.nodeid.encode())
            generator.bit_generator.state = np.random.PCG64(seed).state


@pytest.fixture(scope="module", params=[spaces.LARGE, -1], ids=["kept", "used again"])
def memory_used_again(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the sweep use the memory of cotangents again as it does with large ones."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (spaces, sweeps):
            patch.setattr(module, "LARGE", request.param)
        yield


@pytest.fixture
def restless() -> Iterator[None]:
    """Let the interpreter change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
