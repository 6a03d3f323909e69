"""Places: views are where NumPy shows them, whatever they are views of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tape_ad.programs.engines.native.ir import MemRef
from tape_ad.programs.passes.inlining import stand_in
from tape_ad.programs.program import Value

Array = Any
SHAPE = (4, 5, 6)


def made() -> tuple[Array, MemRef]:
    """Make an array of numbers that are all different, and its place."""
    array = np.arange(120.0).reshape(SHAPE)
    return array, MemRef.whole(Value(np.ndarray, SHAPE, array.dtype, array.strides))


def at(ref: MemRef, memory: Array) -> Array:
    """Give the elements at a place in the memory of an array."""
    return np.ndarray(ref.shape, ref.dtype, memory, ref.offset, ref.strides)


VIEWS: dict[str, Callable[[Array], Array]] = {
    "all": lambda x: x,
    "transposed": lambda x: x.T,
    "axes moved": lambda x: np.moveaxis(x, 0, 1),
    "backwards": lambda x: x[::-1, :, ::-1],
    "with steps": lambda x: x[1::2, ::-2, 3:],
    "backwards twice": lambda x: x[::-1][1:][:, ::-1][:, 1:3],
    "one row": lambda x: x[2],
    "an element": lambda x: x[1, 2, 3:4],
    "a new axis": lambda x: x[:, None, 2],
    "repeated": lambda x: np.broadcast_to(x[:1], SHAPE),
    "a diagonal": lambda x: np.diagonal(x, 1, 1, 2),
    "another shape": lambda x: x.reshape(20, 6)[::-3],
    "without axes of one": lambda x: x[:1, :, :1].squeeze(),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_where_numpy_shows_it(name: str) -> None:
    array, ref = made()
    np.testing.assert_array_equal(at(ref.seen(VIEWS[name]), array), VIEWS[name](array))


@pytest.mark.parametrize("outer", VIEWS)
@pytest.mark.parametrize("name", ["transposed", "backwards all", "half"])
def test_a_view_of_a_view(outer: str, name: str) -> None:
    inner: dict[str, Callable[[Array], Array]] = {
        "transposed": lambda x: x.T,
        "backwards all": lambda x: x[(slice(None, None, -1),) * x.ndim],
        "half": lambda x: x[..., 1::2],
    }
    array, ref = made()
    found = at(ref.seen(VIEWS[outer]).seen(inner[name]), array)
    np.testing.assert_array_equal(found, inner[name](VIEWS[outer](array)))


def test_parts_of_complex_numbers() -> None:
    array = np.arange(8.0) + 1j * np.arange(8.0)[::-1]
    ref = MemRef.whole(Value(np.ndarray, (8,), array.dtype, (16,)))
    imag = ref.seen(np.imag)
    assert (imag.dtype, imag.offset, imag.strides) == (np.dtype(float), 8, (16,))
    np.testing.assert_array_equal(at(imag, array), array.imag)


@pytest.mark.parametrize("key", [1, -1, (1, 2), (Ellipsis, 3), (slice(None), -2), (0, 1, 2)])
def test_a_part_is_what_a_key_selects(key: Any) -> None:
    array, ref = made()
    np.testing.assert_array_equal(at(ref.part(key), array), array[key])


@pytest.mark.parametrize("shape", [(4, 5, 6), (1, 5, 6), (5, 6), (6,), (5, 1), (4, 1, 1), ()])
def test_a_place_is_repeated_as_numpy_broadcasts(shape: tuple[int, ...]) -> None:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    ref = MemRef.whole(Value(np.ndarray, shape, array.dtype, array.strides))
    found = at(ref.broadcast(SHAPE), array)
    np.testing.assert_array_equal(found, np.broadcast_to(array, SHAPE))


@pytest.mark.parametrize("shape", [(1, 5, 1), (1, 1), (2, 1, 3), (4,), ()])
def test_axes_of_one_element_are_left_out(shape: tuple[int, ...]) -> None:
    array = np.arange(float(np.prod(shape))).reshape(shape)
    ref = MemRef.whole(Value(np.ndarray, shape, array.dtype, array.strides)).squeezed()
    np.testing.assert_array_equal(at(ref, array), array.squeeze())


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((), ()), ((3,), (8,)), ((3,), (-8,)), ((3, 2), (-16, 8)), ((9, 2), (0, -24))],
)
def test_what_stands_in_has_these_strides_and_room_for_them(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    array, start = stand_in(shape, strides, np.dtype(float))
    assert (array.shape, array.strides) == (shape, strides)
    assert array.__array_interface__["data"][0] == start
    array[...] = 1.0  # which NumPy would have refused to make beyond its memory
