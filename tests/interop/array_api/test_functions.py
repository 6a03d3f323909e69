"""The namespace's functions on handles: values, gradients, signatures and refusals."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
import tape_ad.interop.array_api as xp
from tape_ad.errors import ConversionError, InPlaceError
from tape_ad.interop.array_api import fft, linalg
from tape_ad.record.constants import ConstantTensor

RNG = np.random.default_rng(0)
V, W = RNG.uniform(0.3, 0.9, (2, 5))
M = RNG.uniform(0.3, 0.9, (3, 4))
S = M @ M.T + 3 * np.eye(3)
I = np.array([2, 0, 1])  # noqa: E741 - indices
Z = RNG.normal(size=4) + 1j * RNG.normal(size=4)


def of(*operands: Any, call: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Give what a function is called with, and what is called if it is not the function alone."""
    return operands, options, call


UNARY = (
    "abs acos asin asinh atan atanh conj cos cosh exp expm1 imag log log10 log1p log2 negative "
    "positive real reciprocal sin sinh sqrt square tan tanh"
)
BINARY = (
    "add atan2 copysign divide hypot logaddexp maximum minimum multiply nextafter pow remainder "
    "subtract"
)

SMOOTH: dict[str, Any] = {
    **{name: of(V) for name in UNARY.split()},
    **{name: of(V, W) for name in BINARY.split()},
    "acosh": of(V + 1),
    "clip": of(V, W, W + 0.3),
    "astype": of(V, call=lambda x: xp.astype(x, xp.float64)),
    "asarray": of(V, call=lambda x: xp.asarray([x[0], 2.0, x[1]])),
    "broadcast_arrays": of(V, M[:, :1], call=lambda x, y: xp.broadcast_arrays(x, y)[1] * x),
    "broadcast_to": of(V, shape=(2, 5)),
    "concat": of(V, W, call=lambda x, y: xp.concat([x, y, xp.asarray([1.0])])),
    "cumulative_prod": of(V, include_initial=True),
    "cumulative_sum": of(M, axis=1, include_initial=True),
    "diff": of(V, W, call=lambda x, y: xp.diff(x, 2, prepend=y)),
    "expand_dims": of(V, axis=(0, 2)),
    "flip": of(M, axis=1),
    "full": of(V, call=lambda x: xp.full((2, 3), x[0])),
    "full_like": of(V, call=lambda x: xp.full_like(x, x[1])),
    "linspace": of(V, call=lambda x: xp.linspace(x[0], x[1], 4)),
    "matmul": of(M, M.T),
    "matrix_transpose": of(M),
    "max": of(M, axis=0, keepdims=True),
    "mean": of(M, axis=(0, 1)),
    "meshgrid": of(V, W, call=lambda x, y: xp.meshgrid(x, y, indexing="ij")[0] * y),
    "min": of(M),
    "moveaxis": of(M, call=lambda x: xp.moveaxis(x, 0, 1)),
    "permute_dims": of(M, axes=(1, 0)),
    "prod": of(M, axis=1),
    "repeat": of(V, call=lambda x: xp.repeat(x, 2)),
    "reshape": of(M, shape=(2, 6), copy=True),
    "roll": of(V, shift=2),
    "sort": of(M, axis=0, descending=True),
    "squeeze": of(M[None], axis=0),
    "stack": of(V, W, call=lambda x, y: xp.stack([x, y], axis=1)),
    "std": of(M, axis=1, correction=1),
    "sum": of(M, axis=-1),
    "take": of(V, call=lambda x: xp.take(x, xp.asarray(I), axis=0)),
    "take_along_axis": of(M, call=lambda x: xp.take_along_axis(x, xp.argsort(x))),
    "tensordot": of(M, M.T, axes=1),
    "tile": of(V, call=lambda x: xp.tile(x, (2, 1))),
    "tril": of(M, k=1),
    "triu": of(M),
    "unique_all": of(V, call=lambda x: xp.unique_all(x).values),
    "unique_counts": of(V, call=lambda x: xp.unique_counts(x).values),
    "unique_inverse": of(V, call=lambda x: xp.unique_inverse(x).values),
    "unique_values": of(V),
    "unstack": of(M, call=lambda x: xp.unstack(x, axis=1)[2]),
    "var": of(M, axis=0),
    "vecdot": of(V, W),
    "where": of(V, W, call=lambda x, y: xp.where(x > y, x, y)),
    "linalg.cholesky": of(S, upper=True),
    "linalg.cross": of(V[:3], W[:3]),
    "linalg.det": of(S),
    "linalg.diagonal": of(M, offset=1),
    "linalg.eig": of(S, call=lambda x: xp.real(xp.sum(linalg.eig(x).eigenvalues))),
    "linalg.eigh": of(S, call=lambda x: linalg.eigh(x).eigenvalues),
    "linalg.eigvals": of(S, call=lambda x: xp.real(xp.sum(linalg.eigvals(x) ** 2))),
    "linalg.eigvalsh": of(S),
    "linalg.inv": of(S),
    "linalg.matmul": of(S, M),
    "linalg.matrix_norm": of(M),
    "linalg.matrix_power": of(S, call=lambda x: linalg.matrix_power(x, 3)),
    "linalg.matrix_transpose": of(M),
    "linalg.outer": of(V, W),
    "linalg.pinv": of(M),
    "linalg.qr": of(S, call=lambda x: xp.abs(linalg.qr(x).R)),
    "linalg.slogdet": of(S, call=lambda x: linalg.slogdet(x).logabsdet),
    "linalg.solve": of(S, M),
    "linalg.svd": of(M, call=lambda x: linalg.svd(x, full_matrices=False).S),
    "linalg.svdvals": of(M),
    "linalg.tensordot": of(M, M.T, axes=1),
    "linalg.trace": of(M, offset=1),
    "linalg.vecdot": of(V, W),
    "linalg.vector_norm": of(M, axis=1, ord=3),
    **{f"fft.{name}": of(M) for name in ["rfft", "rfftn", "fft", "fftn", "ihfft"]},
    **{f"fft.{name}": of(M) for name in ["ifft", "ifftn", "hfft", "irfft", "irfftn"]},
    **{f"fft.{name}": of(M) for name in ["fftshift", "ifftshift"]},
}
"""What each differentiable function is called with, for differences."""

ONE = """isfinite isinf isnan logical_not signbit ceil floor round trunc sign argmax argmin argsort
    count_nonzero nonzero all any zeros_like ones_like empty_like"""
TWO = """equal greater greater_equal less less_equal not_equal logical_and logical_or logical_xor
    floor_divide isin searchsorted"""

ROUGH: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(ONE.split(), (V,)),
    **dict.fromkeys(TWO.split(), (V, W)),
    "linalg.matrix_rank": (M,),
}
"""Those that are piecewise constant, or take of an array its shape alone."""

INTEGERS = {
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
}
NO_VALUES = {
    *("arange", "empty", "eye", "from_dlpack", "ones", "zeros", "broadcast_shapes"),
    *("can_cast", "finfo", "iinfo", "isdtype", "result_type", "__array_namespace_info__"),
    *("fft.fftfreq", "fft.rfftfreq"),
}


def function_of(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(getattr(xp, module) if module else xp, last)


def all_functions() -> set[str]:
    names = {name for name, thing in xp.FUNCTIONS.items() if inspect.isfunction(thing)}
    return names | {
        f"{m.__name__.rpartition('.')[2]}.{n}" for m in (linalg, fft) for n in m.__all__
    }


def handles(operands: tuple[Any, ...]) -> list[Any]:
    record = ta.ComputationRecord()
    return [record.tensor(a) for a in operands]


def test_every_function_is_in_a_table() -> None:
    assert all_functions() == {*SMOOTH, *ROUGH, *INTEGERS, *NO_VALUES}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_gradient_is_that_of_differences(name: str) -> None:
    operands, options, call = SMOOTH[name]
    function: Any = call or (lambda *x: function_of(name)(*x, **options))

    def real(*x: Any) -> Any:
        return xp.real(function(*x)) + xp.imag(function(*x))

    xs = handles(operands)
    assert type(function(*xs)) is ta.Tensor
    out = real(*xs)
    seed = np.cos(np.arange(out.size) + 1).reshape(out.shape)
    slopes = out.grad(seed)
    for i, a in enumerate(operands):
        step = 1e-6 * np.cos(np.arange(a.size) * 1.7).reshape(a.shape)
        ends = [
            ta.stop_gradient(real(*map(xp.asarray, (*operands[:i], end, *operands[i + 1 :]))))
            for end in (a - step, a + step)
        ]
        difference = np.sum(seed * np.subtract(*ends[::-1])) / 2
        np.testing.assert_allclose(np.sum(slopes.wrt(xs[i]) * step), difference, rtol=1e-5)


@pytest.mark.parametrize("name", ROUGH)
def test_what_has_no_derivative_is_a_constant_of_the_value(name: str) -> None:
    out = function_of(name)(*handles(ROUGH[name]))
    plain = function_of(name)(*map(xp.asarray, ROUGH[name]))
    several = out if isinstance(out, tuple) else (out,)
    assert {type(each) for each in several} == {ConstantTensor}
    shapes = [each.shape for each in (plain if isinstance(plain, tuple) else (plain,))]
    assert [each.shape for each in several] == shapes


@pytest.mark.parametrize("name", sorted(INTEGERS))
def test_a_function_of_bits_refuses_a_handle(name: str) -> None:
    operands = handles((V,) * len(inspect.signature(function_of(name)).parameters))
    with pytest.raises(TypeError, match=r"bit|shift|invert"):
        function_of(name)(*operands)


def test_second_derivatives() -> None:
    def f(x: Any) -> Any:
        n = x.__array_namespace__()
        return n.sum(n.sort(n.square(x)) * n.arange(3.0)) + n.linalg.vector_norm(x)

    x = np.array([2.0, 0.5, 1.0])
    h = ta.hessian(f)(x)
    norm = np.sqrt(np.sum(x**2))
    want = np.diag([4.0, 0.0, 2.0]) + np.eye(3) / norm - np.outer(x, x) / norm**3
    np.testing.assert_allclose(h, want, atol=1e-12)


@pytest.mark.parametrize("version", [None, "2022.12", "2023.12", "2024.12", "2025.12"])
def test_a_handle_answers_with_the_namespace(version: str | None) -> None:
    assert handles((V,))[0].__array_namespace__(api_version=version) is xp


def test_there_is_no_namespace_of_another_version() -> None:
    with pytest.raises(ValueError, match=r"2030\.12.*2025\.12"):
        handles((V,))[0].__array_namespace__(api_version="2030.12")


def test_only_a_record_that_is_asked_gives_constants() -> None:
    (x,), (y,) = handles((V,)), handles((V,))
    x.__array_namespace__()
    assert isinstance(x > 0.5, ConstantTensor)
    assert isinstance(np.argmax(x), ConstantTensor)
    assert type(y > 0.5) is np.ndarray
    assert type(np.argmax(y)) is np.int64


def test_a_record_around_the_one_that_is_asked_gives_constants_too() -> None:
    outer = ta.ComputationRecord()
    x = outer.tensor(V)
    ta.ComputationRecord(within=outer).tensor(x).__array_namespace__()
    assert isinstance(x > 0.5, ConstantTensor)


def test_rules_and_sweeps_know_no_constants() -> None:
    def slope(x: Any) -> Any:
        x.__array_namespace__()
        return ta.grad(lambda y: np.sum(np.maximum(y, 0.5) ** 3 + np.median(y) * y))(x)

    value, pull = ta.vjp(slope, V)
    assert type(value) is type(pull(W)[0]) is np.ndarray


@pytest.mark.parametrize("device", ["cuda", "gpu", 0])
def test_there_is_one_device(device: Any) -> None:
    (x,) = handles((V,))
    assert x.device == "cpu"
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="cannot be moved to the device"):
        x.to_device(device)
    with pytest.raises(ValueError, match='on the device "cpu"'):
        xp.zeros(3, device=device)


@pytest.mark.parametrize("take", [np.from_dlpack, xp.from_dlpack, np.asarray, memoryview])
def test_no_protocol_takes_the_numbers(take: Any) -> None:
    with pytest.raises(TypeError, match=r"t\.data|a bytes-like object"):
        take(handles((V,))[0])


def test_another_librarys_array_becomes_a_constant() -> None:
    assert xp.from_dlpack(V).tolist() == V.tolist()
    assert np.from_dlpack(xp.asarray(V)).tolist() == V.tolist()


def test_copies_are_made_as_the_standard_says() -> None:
    (x,) = handles((V,))
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True) is not x
    assert xp.astype(x, xp.float64, copy=False) is x
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(x, dtype=xp.float32, copy=False)


def test_complex_numbers_are_not_cast_to_real_ones() -> None:
    with pytest.raises(TypeError, match=r"take real\(x\) first"):
        xp.astype(handles((Z,))[0], xp.float64)


def test_a_number_may_be_assigned_to_in_the_namespace_alone() -> None:
    (x,), (y,) = handles((V,)), handles((V,))
    s = x.__array_namespace__().sum(x)
    s[...] = 2 * s
    assert s.grad().wrt(x).tolist() == [2.0] * 5
    with pytest.raises(InPlaceError, match="is a number"):
        np.sum(y)[...] = 1.0


def test_a_compiled_function_may_ask_for_the_namespace() -> None:
    def f(x: Any) -> Any:
        n = x.__array_namespace__()
        return n.sum(n.where(x > 0.5, x**2, n.zeros_like(x)))

    compiled, slopes = ta.compile(f), ta.compile(ta.grad(f))
    for x in (V, W, V - 0.2, W + 0.1):
        assert compiled(x) == f(x)
        np.testing.assert_array_equal(slopes(x), ta.grad(f)(x))


def test_an_error_of_numpys_conversion_names_the_primal() -> None:
    with pytest.raises(ConversionError, match=r"t\.data"):
        handles((V,))[0].__dlpack__()


def test_distinct_values_are_sorted() -> None:
    for x in (xp.asarray([3, 1, 2, 1, 3]), ta.ComputationRecord().tensor([3.0, 1.0, 2.0, 1.0])):
        assert xp.unique_values(x).tolist() == [1, 2, 3]


def test_numbers_stand_where_arrays_do() -> None:
    assert xp.result_type(1, 2.0) == xp.float64
    x = ta.ComputationRecord().tensor([1.0, 2.0])
    one, other = xp.broadcast_arrays(2, x)
    assert (one * other).tolist() == [2.0, 4.0]


def test_a_condition_alone_gives_places() -> None:
    (places,) = xp.where(xp.asarray([True, False, True]))
    assert places.tolist() == [0, 2]
    with pytest.raises(ValueError, match="either both or neither"):
        xp.where(xp.asarray([True]), xp.asarray([1.0]))


def test_a_condition_alone_gives_places_as_numpys_does() -> None:
    x = ta.ComputationRecord().tensor(np.array([0.0, 2.0, 3.0]))
    places = xp.where(xp.asarray([False, True, True]))
    np.testing.assert_array_equal(xp.take(x, places[0]).data, [2.0, 3.0])
    assert len(inspect.signature(xp.where).parameters) == 3  # as the standard's
    with pytest.raises(ValueError, match="either both or neither"):
        xp.where(x > 1.0, x)
