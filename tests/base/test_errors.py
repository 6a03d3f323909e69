"""Nothing fails in silence: what is refused, and what the message says to write instead."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import (
    DtypeError,
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
