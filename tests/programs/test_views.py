"""Programs in which several values are one memory: views, copies of what repeats, in place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.programs.bits import all_same
from tests.programs.natively import assert_native_agrees

Function = Callable[..., Any]

VIEWS: dict[str, Function] = {
    "[:]": lambda y: y[:],
    "ravel": np.ravel,
    "reshape": lambda y: y.reshape(y.shape),
    "squeeze": np.squeeze,
    "T": lambda y: y.T,
    "real": lambda y: y.real,
    "atleast_1d": np.atleast_1d,
    "a part": lambda y: y[0:3],
    "one more axis": lambda y: y[None],
}


def compared(function: Function, *args: Any) -> None:
    """Assert that replays give what a function gives, NumPy's to the bit."""
    for derivative in (function, ta.grad(lambda *xs: np.sum(np.real(function(*xs))))):
        fast = ta.compile(derivative, engine="numpy")
        for _ in range(3):
            all_same(fast(*args), derivative(*args))
        assert_native_agrees(fast, args)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_sees_what_is_done_in_place(view: Function) -> None:
    def cubed(x: Any) -> Any:
        y = x.copy()
        v = view(y)
        y += 1
        return v * y * v

    compared(cubed, np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_two_views_of_one_memory_are_not_taken_for_two_arrays(view: Function) -> None:
    def mixed(x: Any, y: Any) -> Any:
        a = x * 2
        return view(a) * a + a * y + view(y) * a

    compared(mixed, np.array([1.0, 2.0, 3.0]), np.array([0.5, 4.0, -2.0]))


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("size", [3, 20_000])
def test_what_repeats_its_elements_is_changed_in_one_place(size: int, dtype: type) -> None:
    def shifted(x: Any) -> Any:
        y = x.copy()
        y[:-1] = y[1:]
        return np.sum(y) ** 2

    compared(shifted, np.linspace(0.0, 1.0, size).astype(dtype))


@pytest.mark.filterwarnings("ignore")  # NumPy's, of writing to what is broadcast
def test_a_view_that_shows_elements_many_times_is_written_to() -> None:
    pytest.importorskip("llvmlite")

    def function(x: Any) -> Any:
        y = x * 1.0
        columns, _ = np.meshgrid(y, y, copy=False)
        columns[...] = columns.T * 2.0
        return y

    fast, x = ta.compile(function, engine="native"), np.arange(9.0, dtype=np.float32).reshape(3, 3)
    for _ in range(3):
        found = fast(x)
    np.testing.assert_array_equal(found, function(x))
