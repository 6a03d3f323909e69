"""What would drop a gradient without a word is an error that says what to write."""

import array
import operator
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tape_ad.errors import (
    ConversionError,
    InPlaceError,
    TapeError,
    UnsupportedArgumentError,
)
from tests.shorthand import X, handle

# Conversions that would drop the gradient


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python asks a class for it since 3.12")
def test_giving_away_the_memory_of_a_handle() -> None:
    memory: Any = memoryview
    with pytest.raises(ConversionError, match=r"test_conversion.*write t\.data for the value"):
        memory(handle(np.ones(2)))


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        np.array,
        np.asanyarray,
        np.ascontiguousarray,
        np.float32,
        lambda t: np.array([t, t]),
        lambda t: np.array([1.0, t]),
        lambda t: np.array(t, dtype=object),
        lambda t: np.array([t, 1.0], dtype=object),
        lambda t: np.asarray(t, copy=False),
        lambda t: np.full(3, t),
        np.arange,
        np.ones(3).dot,
        np.ma.array,
    ],
)
@pytest.mark.parametrize("shape", [(1,), (3,), (3, 1), (0, 2)])
def test_turning_a_handle_into_an_array(
    convert: Callable[[Any], Any], shape: tuple[int, ...]
) -> None:
    t = handle(np.ones(shape))
    with pytest.raises(
        ConversionError, match=r"drop its gradient; write np\.stack.* t\.data for the value alone"
    ):
        convert(t)


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        np.float32,
        lambda t: np.array([t, t]),
        lambda t: np.array([1.0, t]),
        lambda t: np.array([[t], [1.0]], dtype=float),
    ],
)
def test_turning_scalar_handles_into_an_array(convert: Callable[[Any], Any]) -> None:
    with pytest.raises(ConversionError, match=r"np\.stack\(\[\.\.\.\]\) to join handles"):
        convert(handle(2.0))


@pytest.mark.parametrize(
    "join",
    [
        lambda t: np.sum([t, t]),
        lambda t: np.mean([t, t]),
        lambda t: np.max([t, t]),
        lambda t: np.r_[t, t],
        lambda t: np.c_[t, t],
        lambda t: np.exp([t, t]),
    ],
)
def test_what_numpy_makes_an_array_of_before_it_asks(join: Callable[[Any], Any]) -> None:
    with pytest.raises(ConversionError, match=r"np\.stack.*or np\.concatenate\(\[\.\.\.\]\)"):
        join(handle([1.0, 2.0]))


def test_an_array_full_of_a_handle() -> None:
    with pytest.raises(ConversionError, match=r"np\.broadcast_to\(t, shape\)"):
        np.full(3, handle(2.0))
    with pytest.raises(UnsupportedArgumentError, match=r"np\.broadcast_to\(src, shape\)"):
        np.full_like(np.ones(3), handle(2.0))


def test_an_iterator_of_handles() -> None:
    with pytest.raises(TypeError, match="takes a sequence of arrays"):
        np.concatenate(iter([handle([1.0])]))  # type: ignore[call-overload]  # that is the error


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: t.reshape(), TypeError, "takes a shape"),
        (lambda t: t.astype(np.float32, casting="safe"), TypeError, "Cannot cast"),
        (lambda t: np.clip(t, 0, 1, min=0), ValueError, "not both pairs"),
        (lambda t: np.lib.stride_tricks.sliding_window_view(t, 3), ValueError, "window shape"),
        (
            lambda t: np.lib.stride_tricks.sliding_window_view(t, 1, writeable=True),
            UnsupportedArgumentError,
            "not written to",
        ),
    ],
)
def test_spellings_that_numpy_refuses(
    call: Callable[[Any], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call(handle([1.0, 2.0]))


def test_a_plain_array_with_a_handle_as_an_element() -> None:
    data, t = np.zeros(3), handle(2.0)
    with pytest.raises(ValueError, match="setting an array element") as caught:
        data[0] = t
    assert isinstance(caught.value.__cause__, ConversionError)
    assert "rec.constant(array)" in str(caught.value.__cause__)
    np.testing.assert_array_equal(data, np.zeros(3))


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "csr_matrix", "csc_matrix"])
def test_a_sparse_array_of_a_handle(kind: str) -> None:
    made: Any = getattr(pytest.importorskip("scipy.sparse"), kind)
    with pytest.raises(ConversionError, match=f"{kind} of scipy.*write tape_ad.scipy.sparse in pl"):
        made(handle(np.eye(2)))


def test_a_buffer_with_a_handle_as_an_element() -> None:
    data = array.array("d", [0.0])
    with pytest.raises(
        ConversionError,
        match=r"float\(handle\) \(line \d+ of test_conversion_errors.py\) would drop",
    ):
        data[0] = handle(2.0)


@pytest.mark.parametrize("key", [slice(None), ..., slice(0, 2), [0, 1], np.array([True, True])])
@pytest.mark.parametrize("value", [2.0, [1.0, 2.0]])
def test_a_plain_array_with_handles_as_a_part(key: Any, value: Any) -> None:
    data = np.zeros(2)
    with pytest.raises(ConversionError, match="would drop its gradient"):
        data[key] = handle(value)
    np.testing.assert_array_equal(data, [0.0, 0.0])


def test_pickling() -> None:
    with pytest.raises(ConversionError, match=r"cannot be pickled.*pickle t\.data"):
        pickle.dumps(handle())


def test_the_truth_of_several_elements() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 3\) is ambiguous; write np\.any\(t\)"):
        bool(handle())
    with pytest.raises(ValueError, match="ambiguous"):
        bool(handle([]))
    with pytest.raises(ValueError, match="ambiguous"):
        [X].index(handle())


@pytest.mark.parametrize("use", [operator.index, range, lambda t: [1, 2][t], lambda t: "a" * t])
def test_a_handle_is_no_index_of_pythons_containers(use: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        use(handle([1.0]))


@pytest.mark.parametrize("data", [X, [1.0, 2.0]])
def test_a_handle_is_no_index_of_an_array(data: Any) -> None:
    with pytest.raises((TapeError, IndexError)):
        np.asarray(data)[handle(1.0)]
    with pytest.raises((TapeError, IndexError)):
        handle(data)[handle(1.0)]


# Writing


def test_an_augmented_assignment_to_a_plain_array() -> None:
    t = handle([1.0, 2.0])
    operations: list[Any] = [operator.iadd, operator.isub, operator.imul, operator.itruediv]
    for operation in operations:
        data = np.ones(2)
        with pytest.raises(InPlaceError, match=r"write a handle into a plain array.*a = a \+ t"):
            operation(data, t)
        np.testing.assert_array_equal(data, [1.0, 1.0])


def test_out_of_a_ufunc() -> None:
    t, data = handle([1.0, 2.0]), np.zeros(2)
    calls: list[Callable[[], Any]] = [
        lambda: np.add(t, 1.0, out=data),
        lambda: np.add(t, 1.0, data),
        lambda: np.exp(t, out=(data,)),
        lambda: np.add(t, t, out=data),
    ]
    for call in calls:
        with pytest.raises(InPlaceError, match=r"np\.(add|exp) would write a handle into a plain"):
            call()
    np.testing.assert_array_equal(data, [0.0, 0.0])


def test_a_handle_as_out() -> None:
    values = np.array([1.0, 2.0])
    t = handle(values)
    calls: list[Callable[[], Any]] = [
        lambda: np.add(values, 1.0, out=t),
        lambda: np.add(t, 1.0, out=t),
        lambda: np.sum(X, axis=1, out=t),
        lambda: np.floor(values, out=t),
    ]
    for call in calls:
        with pytest.raises(InPlaceError, match="a leaf stands for the array"):
            call()
    np.testing.assert_array_equal(values, [1.0, 2.0])


@pytest.mark.parametrize("function", [np.sum, np.mean, np.max, np.prod, np.var])
def test_out_of_a_reduction(function: Callable[..., Any]) -> None:
    data = np.zeros(3)
    with pytest.raises(InPlaceError, match="would write a handle into a plain array"):
        function(handle(), axis=0, out=data)
    np.testing.assert_array_equal(data, np.zeros(3))


def test_an_initial_value_that_is_a_handle() -> None:
    t = handle()
    with pytest.raises(UnsupportedArgumentError, match=r"np\.sum got a handle in an argument"):
        np.sum(t, initial=np.max(t))


def test_ufunc_at() -> None:
    with pytest.raises(InPlaceError, match=r"np\.add\.at writes to its first argument"):
        np.add.at(handle([1.0, 2.0]), [0], 1.0)
    data = np.zeros(2)
    with pytest.raises(TapeError):
        np.add.at(data, [0], handle(1.0))
    np.testing.assert_array_equal(data, [0.0, 0.0])


def test_assigning_to_a_leaf() -> None:
    t = handle()
    with pytest.raises(InPlaceError, match=r"a leaf stands for the array.*write x = x\.copy\(\)"):
        t[0] = 1.0


def test_assigning_to_a_view() -> None:
    row = handle()[0]
    with pytest.raises(InPlaceError, match=r"a view of the leaf %0 stands for the array"):
        row[0] = 1.0


@pytest.mark.parametrize(
    "view", [lambda y: np.broadcast_to(y, (2, 2, 3)), lambda y: y.imag, np.diagonal]
)
def test_assigning_to_what_numpy_does_not_assign_to(view: Callable[[Any], Any]) -> None:
    seen = view(handle() * 1.0)
    with pytest.raises((InPlaceError, TypeError), match=r"read-only|item assignment"):
        seen[0] = 1.0


def test_assigning_to_a_number() -> None:
    with pytest.raises(InPlaceError, match=r"node %1 \(sum\) is a number"):
        np.sum(handle())[()] = 1.0
