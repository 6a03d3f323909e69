"""What tests in several files share."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tape_ad.core import conforming, sweeps

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")  # new examples are for the fuzzers to find


@pytest.fixture(scope="module", params=[conforming.LARGE, -1], ids=["kept", "used again"])
def memory_used_again(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the sweep use the memory of cotangents again as it does with large ones."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (conforming, sweeps):
            patch.setattr(module, "LARGE", request.param)
        yield


@pytest.fixture
def restless() -> Iterator[None]:
    """Let the interpreter change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
