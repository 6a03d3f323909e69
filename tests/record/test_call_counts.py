"""How many calls of Python's an operation takes: what makes small arrays fast."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.memory import pause_collection, resume_collection
from tape_ad.scipy import stats

OTHERS = ("site-packages", "dist-packages", "<frozen", "<string>", "/lib/python")
"""What is in the names of files with code of other people."""

LAYER = ta.nn.Linear("layer", 4, 2)
BATCH: Any = ta.ComputationRecord().tensor(np.ones((3, 4)))
STORE = BATCH.record.bind(ta.nn.init(LAYER, np.random.default_rng(0)))
H: Any = ta.ComputationRecord().tensor(np.array([0.5, 1.5, 2.5]))
M: Any = ta.ComputationRecord().tensor(np.ones((2, 3)))
MASK = np.array([True, False, True])
ROWS: list[Any] = [
    ("np.sin(h)", lambda: np.sin(H), 4),
    ("h * 2", lambda: H * 2, 4),
    ("h * g", lambda: H * H, 5),
    ("h[1:]", lambda: H[1:], 6),
    ("m[1:, 0]", lambda: M[1:, 0], 6),
    ("h > 0", lambda: H > 0, 2),
    ("h > g", lambda: H > H, 13),
    ("np.sum(h)", lambda: np.sum(H), 13),
    ("np.where(mask, h, g)", lambda: np.where(MASK, H, H), 20),
    ("np.concatenate([h, g])", lambda: np.concatenate([H, H]), 30),
]


def count(function: Callable[[], Any], others: tuple[str, ...] = ()) -> int:
    """Count the calls that a function makes, its own and those in some files left out."""
    found = 0

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal found
        if event == "call":
            found += not any(other in frame.f_code.co_filename for other in others)

    function()  # which fills what is looked up once for each type
    before = sys.getprofile()
    pause_collection(seen)  # it may call what others have left to be called
    sys.setprofile(seen)
    try:
        function()
    finally:
        sys.setprofile(before)
        resume_collection(seen)
    return found - 1


@pytest.mark.parametrize(("name", "function", "most"), ROWS, ids=[row[0] for row in ROWS])
def test_calls(name: str, function: Callable[[], Any], most: int) -> None:
    assert count(function) <= most


@pytest.mark.parametrize(("name", "function", "most"), ROWS, ids=[row[0] for row in ROWS])
def test_calls_beside_a_record_that_is_asked_for_its_namespace(
    name: str, function: Callable[[], Any], most: int
) -> None:
    other: Any = ta.ComputationRecord().tensor(1.0)
    other.__array_namespace__().zeros(3)
    assert count(function) <= most


@pytest.mark.parametrize(
    ("function", "most"),
    [
        pytest.param(lambda: LAYER(STORE, BATCH), 14, id="linear"),
        pytest.param(lambda: stats.norm.logpdf(H), 30, id="logpdf"),
    ],
)
def test_calls_of_our_own(function: Callable[[], Any], most: int) -> None:
    assert count(function, OTHERS) <= most
