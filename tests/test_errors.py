"""Nothing fails in silence: what is refused, and what the message says to write instead."""

import array
import operator
import pickle
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import (
    ConversionError,
    DtypeError,
    InPlaceError,
    NoRuleError,
    RecordMismatchError,
    ShapeError,
    TapeError,
    UnsupportedArgumentError,
)
from tests.shorthand import X, handle


@pytest.mark.parametrize("surplus", [0.1, "extra", X, handle()], ids=str)
def test_an_argument_too_many(surplus: Any) -> None:
    x, silu = handle(), cast("Any", ta.nn.silu)
    for _ in range(2):  # the first call may be the one that loads the rules
        with pytest.raises((TypeError, RecordMismatchError)):
            silu(x, surplus)


@pytest.mark.parametrize("key", [np.s_[::0], np.s_[:, ::0]])
def test_a_step_of_zero(key: Any) -> None:
    with pytest.raises(ShapeError, match=r"getitem of shapes \(2, 3\): slice step cannot be zero"):
        handle()[key]


def test_an_axis_that_a_number_has_not() -> None:
    with pytest.raises(np.exceptions.AxisError, match="axis 0 is out of bounds"):
        np.mean(handle(2.0), axis=0)


class WithRecord(float):
    """A number that happens to have an attribute of that name."""

    record = "of sales"


def test_an_operand_with_a_record_of_its_own() -> None:
    np.testing.assert_array_equal((handle() * WithRecord(2.0)).data, X * 2)
    chosen: Any = np.where(X > 0, handle(), WithRecord(2.0))
    np.testing.assert_array_equal(chosen.data, np.where(X > 0, X, 2.0))


# Conversions that would drop the gradient


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
    with pytest.raises(ConversionError, match=r"drop its gradient; write t\.data for the value"):
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


def test_a_buffer_with_a_handle_as_an_element() -> None:
    data = array.array("d", [0.0])
    with pytest.raises(
        ConversionError,
        match=r"handle \(line \d+ of test_errors.py\) would drop",
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


# Rules


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (np.arctan2.accumulate, "arctan2.accumulate"),
        (lambda t: np.hypot.reduceat(t, [0, 1]), "hypot.reduceat"),
        (np.hypot.reduce, "hypot.reduce"),
        (np.isnat, "isnat"),
        (np.packbits, "packbits"),
    ],
)
def test_a_function_without_a_rule(call: Callable[[Any], Any], name: str) -> None:
    t = handle([1.0, 2.0])
    with pytest.raises(
        NoRuleError, match=rf"np\.{name} has no rule, so its gradient would be lost.*t\.data"
    ):
        call(t)
    assert len(t.record) == 1


def test_a_handle_where_no_derivative_can_be_taken() -> None:
    t = handle(1.0)
    with pytest.raises(TypeError):
        np.sum(X, axis=t)
    with pytest.raises((TypeError, TapeError)):
        np.sum(t, axis=t)
    with pytest.raises(TapeError, match="argument"):
        np.sum(t, initial=t)


def test_an_argument_that_numpy_does_not_have() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        handle().mean(nonsense=1)


# Shapes and records


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t + np.ones(4), r"np\.add of shapes \(2, 3\), \(4,\): operands could not be"),
        (lambda t: np.ones(4) * t, r"np\.multiply of shapes \(4,\), \(2, 3\): operands could"),
        (lambda t: t + t[:, :2], r"np\.add of shapes \(2, 3\), \(2, 2\): operands could not be"),
        (lambda t: t @ t, r"np\.matmul of shapes \(2, 3\), \(2, 3\): matmul: .*mismatch"),
        (lambda t: t.reshape(4), r"np\.reshape of shapes \(2, 3\): cannot reshape .* size 6"),
        (lambda t: np.concatenate([t, t[0]]), r"np\.concatenate of shapes \(2, 3\), \(3,\): all"),
        (lambda t: np.stack([t, t.T]), r"np\.stack of shapes \(2, 3\), \(3, 2\): all input"),
        (lambda t: np.where(t[:, :2] > 0, t, 0), r"np\.where of shapes \(2, 2\), \(2, 3\), \(\)"),
        (lambda t: np.broadcast_to(t, (3, 2)), r"np\.broadcast_to of shapes \(2, 3\): "),
        (
            lambda t: np.einsum("ij,jk", t, t),
            r"np\.einsum\('ij,jk'\) of shapes \(2, 3\), \(2, 3\): ",
        ),
        (lambda t: np.squeeze(t, axis=0), r"np\.squeeze of shapes \(2, 3\): cannot select"),
        (lambda t: np.transpose(t, (0, 0)), r"np\.transpose of shapes \(2, 3\): repeated axis"),
    ],
)
def test_shapes_that_numpy_refuses(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ShapeError, match=message) as caught:
        call(handle())
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda t: t[5], IndexError),
        (lambda t: t[0, 0, 0], IndexError),
        (lambda t: t["name"], IndexError),
        (lambda t: t[1.0], IndexError),
        (lambda t: t[[True, False, True]], IndexError),
        (lambda t: np.sum(t, axis=2), np.exceptions.AxisError),
        (lambda t: np.mean(t, axis=(0, 0)), ValueError),
        (lambda t: np.swapaxes(t, 0, 2), np.exceptions.AxisError),
        (np.add, TypeError),
        (lambda t: t + None, TypeError),
        (lambda t: t + "text", TypeError),
        (lambda t: np.max(t[:0]), ValueError),
        (lambda t: t.reshape(3, order="K"), (ValueError, TypeError)),
    ],
)
def test_other_mistakes_raise_what_numpy_raises(
    call: Callable[[Any], Any], kind: type[Exception]
) -> None:
    t = handle()
    with pytest.raises(kind):
        call(X)
    with pytest.raises(kind):
        call(t)
    assert len(t.record) <= 2  # the operation that failed recorded nothing


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda a, b: a + b, "add"),
        (lambda a, b: a @ b, "matmul"),
        (lambda a, b: np.where(X > 0, a, b), "where"),
        (lambda a, b: np.concatenate([a, b]), "concatenate"),
        (lambda a, b: np.einsum("i,i", a, b), "einsum"),
        (np.hypot, "hypot"),
    ],
)
def test_handles_of_two_records(call: Callable[[Any, Any], Any], name: str) -> None:
    a, b = handle([1.0, 2.0]), handle([3.0, 4.0])
    with pytest.raises(
        RecordMismatchError,
        match=rf"np\.{name} got handles of two records.*ComputationRecord\(within=outer\)",
    ):
        call(a, b)
    assert len(a.record) == len(b.record) == 1


# Operands without arithmetic of ours


@pytest.mark.parametrize(
    "other",
    [
        np.array([1, 2], dtype=object),
        np.array([1, 2], "m8[s]"),
        np.timedelta64(1, "s"),
        np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    ],
    ids=["object", "timedelta array", "timedelta", "masked"],
)
def test_an_operand_that_would_make_another_kind_of_array(other: Any) -> None:
    t = handle([1.0, 2.0])
    with pytest.raises(TapeError):
        t * other
    with pytest.raises(TapeError):
        np.multiply(other, t)
    assert len(t.record) == 1


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_as_operand() -> None:
    with pytest.raises(DtypeError, match="matrix"):
        handle([1.0, 2.0]) * np.matrix([[1.0, 2.0]])


def test_joining_with_text() -> None:
    with pytest.raises(TapeError):
        np.stack(["text", handle(1.0)])


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.round([1.5, 2.5], 0, t),
        lambda t: np.isposinf([1.5, 2.5], t),
    ],
)
def test_a_constant_function_never_writes_to_a_handle(call: Callable[[Any], Any]) -> None:
    t = handle([1.0, 2.0])
    with pytest.raises((UnsupportedArgumentError, ShapeError), match=r"out=|read-only"):
        call(t)
    np.testing.assert_array_equal(t.data, [1.0, 2.0])


@pytest.mark.parametrize("other", [np.array([1.5, 2.0], object), np.timedelta64(3, "s")])
def test_an_operation_whose_result_is_no_number(other: Any) -> None:
    t = handle([1.0, 2.0])
    with pytest.raises(DtypeError, match=r"np\.multiply of a handle and other data gives dtype"):
        t * other
    assert len(t.record) == 1
