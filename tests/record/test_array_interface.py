"""Handles look like arrays: operators, methods and properties against those of ndarray."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import InPlaceError
from tests.shorthand import X, Y, handle


def check(got: Any, expected: Any) -> None:
    """Compare values, shapes and dtypes, of handles or of plain data."""
    value = got.data if isinstance(got, ta.Tensor) else got
    np.testing.assert_array_equal(value, expected)
    assert np.shape(value) == np.shape(expected)
    assert np.asarray(value).dtype == np.asarray(expected).dtype


# Operators

BINARY: list[Callable[[Any, Any], Any]] = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.mod,
]
OPERANDS = [Y, Y[0], 2, -1.5, np.float32(1.5), np.float64(2.5), Y.tolist(), np.arange(1, 4), True]


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("other", OPERANDS, ids=lambda other: type(other).__name__)
def test_binary_operators_and_their_reflections(op: Callable[..., Any], other: Any) -> None:
    x = handle()
    there, back = op(x, other), op(other, x)
    assert isinstance(there, ta.Tensor)
    assert isinstance(back, ta.Tensor)
    check(there, op(X, other))
    check(back, op(other, X))


@pytest.mark.parametrize("op", BINARY)
def test_binary_operators_between_handles(op: Callable[..., Any]) -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(X), rec.tensor(Y)
    check(op(x, y), op(X, Y))


@pytest.mark.parametrize("number", [2, 3, 0.5, 1, np.float32(2), np.abs(Y)], ids=str)
def test_powers(number: Any) -> None:
    x = handle(np.abs(X))
    check(x**number, np.abs(X) ** number)
    check(number**x, number ** np.abs(X))
    check(x**-1, np.abs(X) ** -1)
    check(x**0, np.abs(X) ** 0)


def test_matrix_products() -> None:
    x = handle()
    check(x @ Y.T, X @ Y.T)
    check(Y.T @ x, Y.T @ X)
    check(x @ [1, 2, 3], X @ [1, 2, 3])
    check([1, 2] @ x, [1, 2] @ X)


def test_unary_operators() -> None:
    x = handle()
    check(-x, -X)
    check(+x, +X)
    check(abs(x), abs(X))


def test_floor_division_is_piecewise_constant() -> None:
    x = handle()
    for got, expected in [(x // 0.7, X // 0.7), (2 // x, 2 // X)]:
        assert isinstance(got, np.ndarray)
        check(got, expected)
    quotient, remainder = divmod(x, 0.7)
    check(quotient, X // 0.7)
    check(remainder, X % 0.7)
    quotient, remainder = divmod(5, x)
    check(quotient, 5 // X)
    check(remainder, 5 % X)
    np.testing.assert_array_equal(remainder.grad(seed=np.ones(X.shape)).wrt(x), -(5 // X))


AUGMENTED: list[Callable[[Any, Any], Any]] = [
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.imod,
    operator.ipow,
    operator.ifloordiv,
]


@pytest.mark.parametrize("op", AUGMENTED)
def test_augmented_operators_change_the_handle_and_write_to_no_array(
    op: Callable[..., Any],
) -> None:
    x = handle(np.abs(X)) + 0.0
    array, before = x.data, x.data.copy()
    assert op(x, 2.0) is x
    check(x, op(before.copy(), 2.0))
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("op", AUGMENTED)
def test_augmented_operators_on_a_leaf(op: Callable[..., Any]) -> None:
    data = np.abs(X)
    with pytest.raises(InPlaceError, match=r"a leaf stands for .* in place of x .+= y"):
        op(handle(data), 2.0)
    np.testing.assert_array_equal(data, np.abs(X))


def test_augmented_matrix_product() -> None:
    square = X @ Y.T
    x = same = handle() @ Y.T
    x @= square
    check(same, square @ square)


def test_an_augmented_accumulation_is_differentiated() -> None:
    x = handle([1.0, 2.0])
    total = x.copy()
    total += x * x
    total *= 2.0
    np.testing.assert_array_equal(total.grad(seed=np.ones(2)).wrt(x), [6.0, 10.0])


COMPARISONS: list[Callable[[Any, Any], Any]] = [
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("other", [0.5, Y, [0.5, 2.0, -0.75], np.float32(0.5)], ids=str)
def test_comparisons_are_plain_booleans(op: Callable[..., Any], other: Any) -> None:
    rec: Any = ta.ComputationRecord()
    x, same = rec.tensor(X), rec.tensor(X)
    before = len(rec)
    for got, expected in [
        (op(x, other), op(X, np.asarray(other))),
        (op(other, x), op(np.asarray(other), X)),
        (op(x, same), op(X, X)),
    ]:
        assert type(got) is np.ndarray
        check(got, expected)
    assert len(rec) == before


def test_comparison_with_none_is_false_everywhere() -> None:
    x = handle([1.0, 2.0])
    np.testing.assert_array_equal(x == None, [False, False])  # noqa: E711 - elementwise
    np.testing.assert_array_equal(x != None, [True, True])  # noqa: E711 - elementwise


@pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.lshift, operator.invert])
def test_bit_operators_are_refused(op: Callable[..., Any]) -> None:
    x = handle()
    with pytest.raises(TypeError, match=r"integers|Tensor"):
        op(x) if op is operator.invert else op(x, 1)


def test_power_with_a_modulus_does_not_exist() -> None:
    with pytest.raises(TypeError):
        pow(handle(), 2, 3)


# Methods and properties

METHODS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "sum axis": lambda x: x.sum(0),
    "sum axis keyword": lambda x: x.sum(axis=-1, keepdims=True),
    "sum axes": lambda x: x.sum(axis=(0, 1)),
    "sum dtype": lambda x: x.sum(axis=0, dtype=np.float32),
    "sum dtype by position": lambda x: x.sum(0, np.float32),
    "mean": lambda x: x.mean(1),
    "mean keepdims": lambda x: x.mean(keepdims=True),
    "prod": lambda x: x.prod(axis=1),
    "max": lambda x: x.max(),
    "max axis": lambda x: x.max(axis=0, keepdims=True),
    "min": lambda x: x.min(1),
    "var": lambda x: x.var(axis=1, ddof=1),
    "std": lambda x: x.std(0),
    "any": lambda x: x.any(),
    "all": lambda x: x.all(axis=0),
    "argmax": lambda x: x.argmax(),
    "argmin": lambda x: x.argmin(axis=1),
    "round": lambda x: x.round(1),
    "reshape": lambda x: x.reshape(3, 2),
    "reshape tuple": lambda x: x.reshape((3, -1)),
    "reshape one": lambda x: x.reshape(-1),
    "reshape F": lambda x: x.reshape(3, 2, order="F"),
    "ravel": lambda x: x.ravel(),
    "ravel F": lambda x: x.ravel("F"),
    "flatten": lambda x: x.flatten(),
    "flatten F": lambda x: x.flatten(order="F"),
    "transpose": lambda x: x.transpose(),
    "transpose axes": lambda x: x.transpose(1, 0),
    "transpose tuple": lambda x: x.transpose((1, 0)),
    "transpose negative": lambda x: x.transpose(-1, 0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "squeeze": lambda x: x[None, :, None].squeeze(),
    "squeeze axis": lambda x: x[None, :, None].squeeze(axis=0),
    "dot": lambda x: x.dot(Y.T),
    "dot number": lambda x: x.dot(2.0),
    "clip": lambda x: x.clip(-1.0, 1.0),
    "clip keyword": lambda x: x.clip(max=1.0),
    "conj": lambda x: x.conj(),
    "conjugate": lambda x: x.conjugate(),
    "astype": lambda x: x.astype(np.float32),
    "astype name": lambda x: x.astype("complex128"),
    "astype int": lambda x: x.astype(int),
    "copy": lambda x: x.copy(),
    "item": lambda x: x.item(1, 2),
    "item flat": lambda x: x.item(4),
    "tolist": lambda x: x.tolist(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "shape": lambda x: x.shape,
    "dtype": lambda x: x.dtype.num,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
    "itemsize": lambda x: x.itemsize,
    "nbytes": lambda x: x.nbytes,
    "len": len,
    "iteration": lambda x: list(x)[1],
    "reversed": lambda x: next(reversed(x)),
    "contains": lambda x: 2.0 in x,
    "contains not": lambda x: 17.0 in x,
    "index": lambda x: x[1, ::-1],
    "mask": lambda x: x[x > 0],
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("data", [X, X * (1 - 2j)], ids=["real", "complex"])
def test_a_method_gives_what_the_arrays_gives(name: str, data: Any) -> None:
    if name in ("clip", "clip keyword", "mask", "astype", "astype int") and data.dtype.kind == "c":
        data = data.imag
    if name in ("sum dtype", "sum dtype by position"):
        data = data.real
    check(METHODS[name](handle(data)), METHODS[name](data))


FLOATING = [n for n in METHODS if isinstance(METHODS[n](handle()), ta.Tensor)]


@pytest.mark.parametrize("name", FLOATING)
def test_a_method_that_gives_a_handle_is_differentiated(name: str) -> None:
    x = handle(np.ascontiguousarray(X))
    y = METHODS[name](x)
    seed = np.random.default_rng(0).normal(size=y.shape)
    gradient = y.grad(seed=seed.astype(y.dtype)).wrt(x)
    step = np.random.default_rng(1).normal(size=X.shape)
    h = 0.25 if y.dtype == np.float32 else 1e-6  # those in single precision are linear
    slope = (METHODS[name](X + h * step) - METHODS[name](X - h * step)) / (2 * h)
    rtol = 1e-5 if y.dtype == np.float32 else 1e-7
    np.testing.assert_allclose(
        np.sum(gradient * step), np.sum(seed * slope).real, rtol=rtol, atol=1e-8
    )


def test_these_methods_give_handles() -> None:
    assert set(METHODS) - set(FLOATING) == {
        *("any", "all", "argmax", "argmin", "round", "astype int", "item", "item flat", "tolist"),
        *("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "len"),
        *("contains", "contains not"),
    }


def test_real_conjugation_is_the_handle_itself() -> None:
    x = handle()
    assert x.conj() is x
    assert x.conjugate() is x


ABSENT = [
    name for name in dir(np.ndarray) if not name.startswith("__") and not hasattr(handle(), name)
]


def test_there_are_absent_attributes() -> None:
    assert {"sort", "fill", "strides", "flags", "view", "ctypes"} <= set(ABSENT)


@pytest.mark.parametrize("name", ABSENT)
def test_an_absent_attribute_of_ndarray_says_why(name: str) -> None:
    x = handle()
    assert not hasattr(x, name)
    with pytest.raises(AttributeError, match=rf"\.{name}\b.*t\.data"):
        getattr(x, name)


@pytest.mark.parametrize("name", ["sort", "fill", "put", "resize", "partition", "setflags"])
def test_an_absent_method_that_would_write_says_so(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"handles have no \.{name}\(\), which writes"):
        getattr(handle(), name)


def test_an_attribute_that_arrays_do_not_have_either() -> None:
    with pytest.raises(AttributeError, match="no attribute 'foo'"):
        handle().foo  # noqa: B018 - what is tested


@pytest.mark.parametrize("name", ["__array_interface__", "__array_struct__"])
def test_no_protocol_gives_the_memory_away(name: str) -> None:
    assert not hasattr(handle(), name)


@pytest.mark.parametrize("name", ["__dlpack__", "__dlpack_device__"])
def test_a_protocol_for_other_libraries_says_what_to_write(name: str) -> None:
    with pytest.raises(ta.errors.ConversionError, match=r"t\.data"):
        getattr(handle(), name)()


@pytest.mark.parametrize("name", ["shape", "dtype", "T", "ndim", "size"])
def test_properties_cannot_be_set(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(handle(), name, (6,))


def test_a_handle_takes_no_new_attributes() -> None:
    with pytest.raises(AttributeError):
        handle().grad_fn = None


def test_comparison_with_what_is_no_number_is_that_of_arrays() -> None:
    t = ta.ComputationRecord().tensor([1.0, 2.0])
    assert not np.any(t == "a")
    assert np.all(t != "a")
