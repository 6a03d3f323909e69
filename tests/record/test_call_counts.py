"""How many Python functions run from a call on a handle to its node: what small arrays cost."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.scipy import stats

LAYER = ta.nn.Linear("layer", 4, 2)
HANDLE = ta.ComputationRecord().tensor(np.ones((3, 4)))
STORE = HANDLE.record.bind(ta.nn.init(LAYER, np.random.default_rng(0)))

OTHERS = ("site-packages", "<frozen", "<string>", "/lib/python")
"""What is in the names of files with code of other people."""


def count(function: Callable[[], Any]) -> int:
    """Count the calls of this library's Python functions, and of those that attrs has made."""
    function()  # which loads what is loaded once
    files: list[str] = []

    def look(frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            files.append(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        function()
    finally:
        sys.setprofile(before)
    return sum(not any(other in file for other in OTHERS) for file in files) - 1


@pytest.mark.parametrize(
    ("most", "function"),
    [
        pytest.param(4, lambda: np.sin(HANDLE), id="sin"),
        pytest.param(4, lambda: HANDLE * 2, id="times"),
        pytest.param(7, lambda: HANDLE[1:], id="item"),
        pytest.param(17, lambda: np.sum(HANDLE), id="sum"),
        pytest.param(26, lambda: LAYER(STORE, HANDLE), id="linear"),
        pytest.param(37, lambda: stats.norm.logpdf(HANDLE), id="logpdf"),
    ],
)
def test_a_call_on_a_handle_is_few_calls_of_python(most: int, function: Callable[[], Any]) -> None:
    assert count(function) <= most
