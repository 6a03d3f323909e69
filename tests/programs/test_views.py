"""Programs in which several values are one memory: views, copies of what repeats, in place."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
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


LAYOUTS: dict[str, Function] = {
    "[::-1]": lambda y: y[::-1],
    "T": lambda y: y.T,
    "reshape": lambda y: y.reshape(3, 2),
    "rot90": np.rot90,
    "swapaxes": lambda y: y.swapaxes(0, -1),
    "[:, ::-1]": lambda y: y[:, ::-1],
}
COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "ravel": lambda y, order: y.ravel(order),
    "np.ravel": lambda y, order: np.ravel(y, order=order),
    "flatten": lambda y, order: y.flatten(order),
    "copy": lambda y, order: y.copy(order),
    "copy and ravel": lambda y, order: np.copy(y, order=order).ravel("K"),
    "astype and ravel": lambda y, order: y.astype(np.float32, order=order).ravel("K"),
    "ufunc and ravel": lambda y, order: np.multiply(y, 2.0, order=order).ravel("K"),
    "reshape": lambda y, order: y.reshape(-1, order="C" if order == "K" else order),
}


def of_layout(chain: tuple[Function, ...], copies: list[tuple[str, str]]) -> Function:
    """Make a function that copies a view in several orders."""

    def function(x: Any) -> Any:
        y = x.reshape(2, 3)
        for view in chain:
            y = view(y)
        return [COPIES[name](y, order) for name, order in copies]

    return function


def with_gradient(chain: tuple[Function, ...], name: str, order: str) -> bool:
    """Tell whether eager code has a gradient; it has none of an order that a handle hides."""
    try:
        ta.grad(lambda x: np.sum(of_layout(chain, [(name, order)])(x)[0]))(np.arange(6.0))
    except UnsupportedArgumentError:
        return False
    return True


@pytest.mark.parametrize(
    "chain", [each for n in range(3) for each in itertools.product(LAYOUTS, repeat=n)], ids=" ".join
)
def test_copies_in_each_order_of_each_layout(chain: tuple[str, ...]) -> None:
    x, views = np.arange(6.0) + 1, tuple([LAYOUTS[each] for each in chain])
    every = list(itertools.product(COPIES, "CFAK"))
    values = of_layout(views, every)
    known = [each for each in every if with_gradient(views, *each)]
    assert set(itertools.product(("ravel", "flatten", "copy"), "CF")) <= set(known)

    def weighed(x: Any) -> Any:
        return sum(
            np.sum(each * each * np.arange(1.0, 7.0).reshape(each.shape))
            for each in of_layout(views, known)(x)
        )

    for function in (values, ta.grad(weighed)):
        for engine in ("numpy", "native"):
            fast = ta.compile(function, engine=engine)
            for scale in (1.0, 1.0, 1.0, 3.0):
                for given, wanted in zip(fast(x * scale), function(x * scale), strict=True):
                    np.testing.assert_allclose(given, wanted, rtol=1e-14)
                    assert np.shape(given) == np.shape(wanted)


def test_a_copy_that_locks_its_arrays_is_captured_and_leaves_arguments_as_they_are() -> None:
    @ta.differentiable
    def locked(x: Any) -> Any:
        window = x * 2
        window.setflags(write=False)
        x.setflags(write=False)
        return np.sum(window * x)

    @ta.differentiable
    def written(x: Any) -> Any:
        window = x * 2
        window.setflags(write=False)
        window[0] = 1.0
        return window

    x = np.arange(3.0)
    for function in (locked, ta.grad(locked)):
        fast = ta.compile(function)
        for _ in range(2):
            all_same(fast(x), function(x.copy()))
    assert x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        ta.compile(written)(x)
