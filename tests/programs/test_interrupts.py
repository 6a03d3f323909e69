"""An interrupt at any moment of a capture or a replay leaves a compiled function usable."""

import gc
import itertools
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.base.trees import flatten
from tests.record import test_interrupts
from tests.record.test_interrupts import is_next, moments_of, traced

X = np.array([0.5, -1.5, 2.0])
SCALE = np.array([1.0, 2.0, 3.0])
HOME = Path(ta.__file__).parent / "programs"
STATEFUL = (
    *(f"replay/{name}" for name in ("compiled", "replaying", "paths", "capturing")),
    *(f"capture/{name}" for name in ("capture", "comparison", "constants", "writing")),
)


@pytest.fixture(autouse=True)
def in_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt where a compiled function has anything that could be half done, and in replays."""
    places = (*(f"{HOME / name}.py" for name in STATEFUL), "<replay of", "<written for")
    monkeypatch.setattr(test_interrupts, "STATEFUL", places)


def plain(x: Any) -> Any:
    y = x * SCALE
    y[0] = np.sum(x)
    return {"y": y, "n": [np.exp(x), 2.0]} if x[1] < 0 else {"y": y + 1, "n": []}


gradient = ta.grad(lambda x: np.sum(np.sin(x) * SCALE) if x[0] > 0 else np.sum(x * x))

BEFORE: dict[str, list[Any]] = {
    "first call": [],
    "second call": [X],
    "third call": [X, X],
    "a replay": [X, X, X],
    "another path": [-X, -X, -X],
    "another path again": [-X, -X, -X, X],
    "back to a path": [X, X, -X, -X, -X],
}


def called_before(function: Any, arrays: list[Any]) -> Any:
    fast = ta.compile(function, engine="numpy")
    for array in arrays:
        fast(array)
    return fast


def assert_usable(fast: Any, function: Any) -> None:
    """Check that nothing is half done, and that later calls are right and are replayed."""
    assert ACTIVE.get().capture is None
    assert ACTIVE.get().record is None
    assert gc.isenabled()
    for array in (X, X * 2, -X, -X * 2, X, -X, X * 3):
        got, wanted = fast(array), function(array)
        assert all(map(np.array_equal, flatten(got), flatten(wanted)))
    (paths,) = fast._paths.values()
    assert [path.replay is not None for path in paths.all] == [True, True]
    assert not paths.exhausted


@pytest.mark.skipif(
    sys.version_info >= (3, 12),
    reason="its tracing passes over the instructions of code that it meets for the first time",
)
@pytest.mark.parametrize("when", BEFORE)
@pytest.mark.parametrize(("function", "each"), [(plain, 29), (gradient, 97)])
def test_an_interrupted_call_leaves_a_function_usable(function: Any, each: int, when: str) -> None:
    called_before(function, BEFORE[when])(X)  # what is looked up once for each type has been
    first = called_before(function, BEFORE[when])
    moments = moments_of(partial(first, X))
    assert len(moments) > 20
    interrupted = []
    for moment in moments[::each]:
        fast = called_before(function, BEFORE[when])
        numbers = itertools.count()
        at = partial(is_next, numbers, moment)
        interrupted.append(traced(partial(fast, X), at, KeyboardInterrupt))
        assert_usable(fast, function)
    assert sum(interrupted) >= 0.9 * len(interrupted)  # a few steps less are possible
