"""Functions that rearrange, split and join at their special points, and what they refuse."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import TieWarning


def leaf(*shape: int) -> Any:  # a handle, which NumPy's types do not know
    return ta.ComputationRecord().tensor(np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape))


def test_aliases_are_the_same_functions() -> None:
    assert np.permute_dims is np.transpose
    assert np.concat is np.concatenate


@pytest.mark.parametrize("function", [np.atleast_1d, np.atleast_2d, np.atleast_3d])
def test_enough_axes_leave_the_array_as_it_is(function: Callable[..., Any]) -> None:
    x = leaf(2, 3, 1)
    assert function(x).shape == (2, 3, 1)
    one, other = function(x, 1.0)
    assert type(one) is ta.Tensor
    assert type(other) is np.ndarray


OPTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "roll flat": (np.roll, {"shift": 2}),
    "roll twice": (np.roll, {"shift": (1, 2), "axis": (0, 1)}),
    "rot90": (np.rot90, {}),
    "flip": (np.flip, {}),
    "tile": (np.tile, {"reps": (2, 2)}),
    "repeat": (np.repeat, {"repeats": 3, "axis": 1}),
    "repeat by counts": (np.repeat, {"repeats": [1, 0, 2], "axis": 1}),
    "resize": (np.resize, {"new_shape": (5, 5)}),
}


@pytest.mark.parametrize(("function", "options"), OPTIONS.values(), ids=OPTIONS.keys())
def test_one_call_is_one_node(function: Callable[..., Any], options: dict[str, Any]) -> None:
    x = leaf(2, 3)
    function(x, **options)
    assert len(x.record) == 2


def test_rolling_along_no_axis_changes_nothing() -> None:
    x = leaf(2, 3)
    rolled = np.roll(x, (), axis=())
    np.testing.assert_array_equal(rolled.data, x.data)
    np.testing.assert_array_equal(rolled.grad(seed=x.data).wrt(x), x.data)


def test_repeating_nothing_has_the_gradient_zero() -> None:
    x = leaf(3)
    total = np.sum(np.repeat(x, [0, 0, 0])) + 0 * np.sum(x)
    np.testing.assert_array_equal(total.grad().wrt(x), np.zeros(3))


SPLITS: dict[str, tuple[Callable[..., Any], tuple[int, ...], Any, str]] = {
    "unequal": (np.split, (5,), 2, "does not result in an equal division"),
    "no sections": (np.array_split, (5,), 0, "larger than 0"),
    "hsplit": (np.hsplit, (), 1, "hsplit only works on arrays of 1 or more"),
    "vsplit": (np.vsplit, (4,), 2, "vsplit only works on arrays of 2 or more"),
    "dsplit": (np.dsplit, (4, 4), 2, "dsplit only works on arrays of 3 or more"),
}


@pytest.mark.parametrize(
    ("function", "shape", "parts", "message"), SPLITS.values(), ids=SPLITS.keys()
)
def test_wrong_splits_are_errors(
    function: Callable[..., Any], shape: tuple[int, ...], parts: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        function(leaf(*shape), parts)


def test_the_last_of_two_values_put_in_one_place_comes_second() -> None:
    x, values = leaf(2), np.array([10.0, 20.0])
    inserted: Any = np.insert(x, [1, 1], values)
    np.testing.assert_array_equal(inserted.data, [1.0, 10.0, 20.0, 2.0])
    seed = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(inserted.grad(seed=seed).wrt(x), [1.0, 4.0])


def test_values_with_more_axes_than_the_array_are_put_in() -> None:
    values = leaf(1, 2)
    inserted: Any = np.insert(np.zeros(3), [0, 2], values)
    seed = np.arange(5.0)
    np.testing.assert_array_equal(inserted.grad(seed=seed).wrt(values), [[0.0, 3.0]])


def test_trimming_an_array_without_anything_else_leaves_nothing() -> None:
    x = leaf(3) * 0
    with pytest.warns(TieWarning, match="trim_zeros leaves out"):
        assert np.trim_zeros(x).shape == (0,)
    with pytest.raises(ValueError, match="unexpected character"):
        np.trim_zeros(x, "x")  # type: ignore[arg-type]  # what is tested


def test_trimming_keeps_the_gradients_of_what_is_left_and_tells_of_the_others() -> None:
    x = ta.ComputationRecord().tensor([0.0, 3.0, 0.0, 4.0, 0.0])
    with pytest.warns(TieWarning, match=r"exactly 0 \(line \d+ of test_shaping"):
        trimmed = np.trim_zeros(x, "f")
    seed = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(trimmed.grad(seed=seed).wrt(x), [0.0, 1.0, 2.0, 3.0, 4.0])
    assert np.trim_zeros(x[1:4]).shape == (3,)


def test_meshgrid_refuses_other_orders() -> None:
    with pytest.raises(ValueError, match="'xy' and 'ij'"):
        np.meshgrid(leaf(2), leaf(3), indexing="yx")  # type: ignore[call-overload]  # what is tested


# Joining


@pytest.mark.parametrize("function", [np.concatenate, np.stack])
def test_out_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ta.errors.InPlaceError, match="would write a handle into a"):
        function([leaf(3)], out=np.zeros(3))


@pytest.mark.parametrize("function", [np.hstack, np.vstack, np.dstack, np.column_stack, np.stack])
def test_a_handle_is_a_sequence_of_its_rows(function: Callable[..., Any]) -> None:
    x = leaf(2, 3)
    joined = function(x)
    np.testing.assert_array_equal(joined.data, function(list(x.data)))
    gradient = np.sum(joined * joined).grad().wrt(x)
    np.testing.assert_array_equal(gradient, 2 * x.data)


def test_wrong_shapes_and_axes_are_errors() -> None:
    with pytest.raises(ta.errors.ShapeError, match=r"np\.concatenate of shapes"):
        np.concatenate([leaf(2, 3), np.zeros((2, 4))])
    with pytest.raises(np.exceptions.AxisError):
        np.concatenate([leaf(2, 3), np.zeros((2, 3))], axis=2)
    with pytest.raises(ValueError, match="zero-dimensional arrays cannot be concatenated"):
        np.concatenate([leaf(), np.zeros(())])


def test_blocks_are_nested_lists() -> None:
    x = leaf(2)
    with pytest.raises(TypeError, match="not tuples"):
        np.block([x, (1.0, 2.0)])
    with pytest.raises(ValueError, match="List depths are mismatched"):
        np.block([[x], x])


@pytest.mark.parametrize(
    "made",
    [
        lambda x: np.delete(x, 1, axis=0),
        lambda x: np.delete(x, slice(1, 2), axis=1),
        lambda x: np.insert(x, 1, 5.0, axis=0),
        lambda x: np.insert(x, [0, 2], x[:, :2], axis=1),
        lambda x: np.full_like(x, x[0, 0]),
        lambda x: np.gradient(x, axis=0),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_is_made_beside_an_array_lies_in_memory_as_numpys_does(made: Any, order: str) -> None:
    def written(x: Any) -> Any:
        new = made(x)
        np.ravel(new)[0] = 50.0  # which shows where that is a view
        np.ravel(new.T)[1] = 70.0
        return new * x[0, 0]

    x: Any = np.asarray(np.arange(1.0, 13).reshape(3, 4) ** 2, order=order)  # type: ignore[call-overload]  # a str, which mypy takes for any
    np.testing.assert_array_equal(ta.vjp(written, x)[0], written(x))


def test_the_array_that_another_is_shaped_like_may_be_of_any_record() -> None:
    full: Any = np.full_like(leaf(2, 3), leaf()[()] * 2)
    np.testing.assert_array_equal(full.data, np.full((2, 3), 2.0))
