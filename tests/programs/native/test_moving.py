"""Calls that move elements, in native code and by NumPy: the same bits."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.programs.bits import all_same
from tests.programs.native.layouts import DTYPES, LAYOUTS, laid, numbers
from tests.programs.native.running import agree_to_the_bit

Function = Callable[..., Any]


def assigned(x: Any, y: Any) -> Any:
    z = x.copy()
    z[0] = y[0]
    z[..., -1] = 1
    z[::-1][0] = y[-1]
    z[..., ::2] = y[..., ::2]
    return z, z[::-1] * z.dtype.type(1)


def collected(x: Any, y: Any) -> Any:
    z = np.zeros_like(x)
    z[:1] = x[:1]
    z[1:] = y[1:]
    return z


MOVES: dict[str, Function] = {
    "concatenate": lambda x, y: np.concatenate([x, y[:1], x]),
    "concatenate last": lambda x, y: np.concatenate((x, y, x), axis=-1),
    "concatenate flat": lambda x, y: np.concatenate((x, y), axis=None),
    "concatenate numbers": lambda x, y: np.concatenate([x, np.ones((1, 4), x.dtype), y]),
    "stack": lambda x, y: np.stack([x, y, x]),
    "stack last": lambda x, y: np.stack([x, y], axis=-1),
    "a list as an array": lambda x, y: np.asarray([x, y[::-1], x]),
    "a tuple as an array": lambda x, y: np.asarray((y, y), dtype=np.complex128),
    "stack elements": lambda x, y: np.stack([x[0, 1], y[-1, -1], x[2, 0]]),
    "hstack": lambda x, y: np.hstack([x, y]),
    "vstack": lambda x, y: np.vstack([x[0], y]),
    "dstack": lambda x, y: np.dstack([x, y]),
    "column_stack": lambda x, y: np.column_stack([x[:, 0], y]),
    "block": lambda x, y: np.block([[x, y], [y, x]]),
    "append": np.append,
    "append to axis": lambda x, y: np.append(x, y, axis=0),
    "insert": lambda x, y: np.insert(x, 1, y[0], axis=0),
    "insert at places": lambda x, y: np.insert(x, [0, 2], y[:, :2], axis=1),
    "roll": lambda x, y: np.roll(x, 1),
    "roll axes": lambda x, y: np.roll(x, (-1, 2), axis=(0, 1)),
    "tile": lambda x, y: np.tile(x, 2),
    "tile axes": lambda x, y: np.tile(x, (2, 1, 2)),
    "repeat axis": lambda x, y: np.repeat(x, 2, axis=-1),
    "pad": lambda x, y: np.pad(x, 1),
    "pad with ones": lambda x, y: np.pad(x, ((1, 2), (0, 1)), constant_values=1),
    "pad by the edge": lambda x, y: np.pad(x, 2, mode="edge"),
    "pad around": lambda x, y: np.pad(x, 2, mode="wrap"),
    "pad symmetric": lambda x, y: np.pad(x, 1, "symmetric"),
    "pad reflected": lambda x, y: np.pad(x, 1, "reflect"),
    "tril": lambda x, y: np.tril(x),
    "triu": lambda x, y: np.triu(x, 1),
    "diag": lambda x, y: np.diag(x[0], 1),
    "diagflat": lambda x, y: np.diagflat(x[1], -1),
    "zeros": lambda x, y: np.zeros_like(x),
    "ones": lambda x, y: np.ones_like(x),
    "full": lambda x, y: np.full_like(x, 1),
    "full of an array of more axes": lambda x, y: np.full_like(x, y[None]),
    "reshape": lambda x, y: np.reshape(x.T, -1),
    "ravel": lambda x, y: np.ravel(x, order="F"),
    "ravel in C order": lambda x, y: np.ravel(x.T, "C"),
    "ravel as a method": lambda x, y: x.T.ravel(),
    "reshape in C order": lambda x, y: np.reshape(x.T, -1, order="C"),
    "copy": lambda x, y: x.copy(),
    "copy in Fortran's order": lambda x, y: np.copy(x, order="F"),
    "resize": lambda x, y: np.resize(x, (3, 5)),
    "flatten": lambda x, y: x.flatten(),
    "an element": lambda x, y: x[-1, 2],
    "the only element": lambda x, y: x[:1, :1][0, 0],
    "assigned": assigned,
    "collected": collected,
}


def each(move: Function, pairs: list[tuple[Any, Any]]) -> None:
    """Assert of pairs of arrays that a move of each gives the same bits, in one program."""
    agree_to_the_bit(lambda *pairs: [move(x, y) for x, y in pairs], *pairs)


@pytest.mark.parametrize("move", MOVES)
def test_moves_of_arrays_that_lie_in_all_ways(move: str) -> None:
    y = numbers((3, 4), "f8", 1)
    each(MOVES[move], [(laid((3, 4), "f8", layout), y) for layout in LAYOUTS])


@pytest.mark.parametrize("move", MOVES)
def test_moves_of_all_dtypes(move: str) -> None:
    each(MOVES[move], [(numbers((3, 4), t), numbers((3, 4), t, 1)) for t in DTYPES])


@pytest.mark.parametrize("given", DTYPES)
def test_casts(given: str) -> None:
    real = np.dtype(given).kind != "c"  # where it is not, NumPy warns of a part that is lost
    wanted = [t for t in DTYPES if real or np.dtype(t).kind in "cb"]
    agree_to_the_bit(lambda x: [x.astype(t) for t in wanted], numbers((3, 4), given))


def test_many_pieces_are_gathered_one_by_one() -> None:
    agree_to_the_bit(lambda x: np.tile(x, 100), numbers((3,), "f8"))


def test_rows_are_repeated_as_often_as_an_array_says() -> None:
    counts = np.arange(100) % 3
    x = numbers((100, 2), "f8")
    fast = ta.compile(lambda x: np.repeat(x, counts, axis=0), engine="native")
    for _ in range(3):
        all_same(fast(x), np.repeat(x, counts, axis=0))


def test_numbers_of_another_dtype_are_joined_as_numpy_joins_them() -> None:
    agree_to_the_bit(
        lambda x, y, z: np.concatenate([x, y, z]),
        numbers((2,), "f4"),
        numbers((3,), "i8"),
        numbers((1,), "?"),
    )


def test_parts_of_one_result_may_be_in_one_loop() -> None:
    agree_to_the_bit(
        lambda x: np.stack([x[0] * x[1], x[1], np.exp(x[0]), x[2] + x[0]]) * 2.0,
        numbers((3,), "f8"),
    )


def test_what_is_written_over_is_not_what_is_read_behind_it() -> None:
    def function(x: Any) -> Any:
        z = x * 2
        before = z[0] + z[1]
        z[0] = 7.0
        between = z[0] * z[1]
        z[0] = before
        return z, before, between, z[0] * 1.0

    agree_to_the_bit(function, numbers((2,), "f8"))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u2", "c16"])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("axis", [0, -1])
def test_differences(axis: int, n: int, dtype: str) -> None:
    x = numbers((4, 5), dtype)
    agree_to_the_bit(lambda x: np.diff(x, n, axis), x)
    agree_to_the_bit(lambda x: np.diff(x, n, axis), x[::-1, ::-1])


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap", "mean", "constant"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_gradients_of_padding(mode: Any, dtype: str) -> None:
    for shape, width in (((6,), 2), ((5, 4), ((1, 2), (0, 3))), ((3, 4, 5), 1)):
        x = np.random.default_rng(0).normal(size=shape).astype(dtype)
        for view in (x, x[::-1], np.asfortranarray(x)):
            total = ta.grad(lambda x, w=width: np.sum(np.sin(np.pad(x, w, mode=mode))))
            fast = ta.compile(total, engine="native")
            for _ in range(3):
                found = fast(view)
            np.testing.assert_allclose(found, total(view), rtol=1e-5 if dtype == "f4" else 1e-12)
            assert found.dtype == x.dtype


@pytest.mark.parametrize("ravel", [np.ravel, lambda x: x.ravel(), lambda x: np.ravel(x, order="C")])
def test_what_is_raveled_is_copied_by_one_nest(ravel: Any) -> None:
    fast = ta.compile(lambda x: ravel(x.T), engine="native")
    fast(np.ones((12, 9)))
    listing = str(fast.programs[0].lowered)
    assert "nest [9,12]" in listing
    assert "gather" not in listing
