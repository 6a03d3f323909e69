"""What has gone wrong in other libraries, so that it does not go wrong here.

Each test names where a user of another library met it. `HIPS/autograd#151` is issue 151 at
https://github.com/HIPS/autograd/issues.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.rules.checks import gradients

Array = Any
Function = Callable[..., Any]


def gradient(function: Function, value: Any, seed: Any = None) -> Array:
    """Differentiate the real part of the sum of a function, or pull a seed back through it."""
    handle = ta.ComputationRecord().tensor(value)
    result = function(handle)
    root = np.sum(result).real if seed is None else result
    return root.grad(seed).wrt(handle)


# Norms, deviations and products at zero


@pytest.mark.parametrize("axis", [None, -1])
def test_the_norm_at_zero(axis: int | None) -> None:
    # HIPS/autograd#151, HIPS/autograd#617, pytorch/pytorch#2421, jax-ml/jax#3058: nan
    zero = np.zeros((2, 3))
    np.testing.assert_array_equal(gradient(lambda x: np.linalg.norm(x, axis=axis), zero), zero)


def test_the_square_of_a_norm_at_zero() -> None:
    # HIPS/autograd#183, HIPS/autograd#570: nan
    found = gradient(lambda x: np.linalg.norm(x) ** 2, np.zeros(3))
    np.testing.assert_array_equal(found, np.zeros(3))


def test_the_standard_deviation_of_equal_elements() -> None:
    # pytorch/pytorch#4320: nan
    np.testing.assert_array_equal(gradient(np.std, np.full(3, 0.1)), np.zeros(3))


@pytest.mark.parametrize(
    ("factors", "expected"),
    [([0.0], [1.0]), ([0.0, 2.0, 3.0], [6.0, 0.0, 0.0]), ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0])],
)
def test_products_with_zeros(factors: list[float], expected: list[float]) -> None:
    # HIPS/autograd#93, HIPS/autograd#378, pytorch/pytorch#773: nan
    np.testing.assert_array_equal(gradient(np.prod, factors), expected)


def test_cumulative_products_with_zeros() -> None:
    # HIPS/autograd#257: no rule; tensorflow/tensorflow#3862: nan
    np.testing.assert_array_equal(gradient(np.cumprod, [0.0, 2.0, 0.0]), [3.0, 0.0, 0.0])


# Branches not taken


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.where(x > 0, np.sqrt(x), 0),
        lambda x: np.where(x > 0, np.arctan2(x, x), 0),
        lambda x: np.where(x > 0, x**0.5, 0),
    ],
    ids=["sqrt", "arctan2", "power"],
)
@np.errstate(all="ignore")  # for the values; what NumPy warns of there is not at issue
def test_a_branch_of_where_that_is_not_taken(function: Function) -> None:
    # jax-ml/jax#347, jax-ml/jax#1052, tinygrad/tinygrad#12409: nan
    found = gradient(function, [-1.0, 0.0, 4.0])
    np.testing.assert_array_equal(found[:2], [0.0, 0.0])
    assert np.isfinite(found[2])


def test_a_slope_that_is_infinite_in_a_branch_that_is_not_taken() -> None:
    # jax-ml/jax#2630: nan
    assert gradient(lambda x: np.where(x > 0, 0, x * np.inf), 1.0) == 0.0


# einsum, diagonals, broadcasting


@pytest.mark.parametrize("subscripts", ["ii", "ii->", "ii->i"])
def test_einsum_with_an_index_that_repeats(subscripts: str) -> None:
    # HIPS/autograd#115: ValueError
    found = gradient(lambda a: np.einsum(subscripts, a), np.ones((3, 3)))
    np.testing.assert_array_equal(found, np.eye(3))


def test_einsum_with_an_index_that_repeats_beside_another_operand() -> None:
    # HIPS/autograd#510: ValueError
    x = np.arange(8.0).reshape(4, 2)
    found = gradient(lambda w: np.einsum("nd,nn->d", x, w), np.ones((4, 4)))
    np.testing.assert_array_equal(found, np.diag(x.sum(1)))


def test_einsum_that_sums_axes_away() -> None:
    # HIPS/autograd#242: IndexError
    seed = np.arange(6.0).reshape(2, 3)
    found = gradient(lambda x: np.einsum("abcd->bd", x), np.ones((4, 2, 5, 3)), seed)
    np.testing.assert_array_equal(found, np.broadcast_to(seed[:, None, :], (4, 2, 5, 3)))


@pytest.mark.parametrize("function", [np.diagonal, np.diag, np.linalg.diagonal, np.trace])
def test_diagonals_with_default_axes(function: Function) -> None:
    # HIPS/autograd#372: NotImplementedError
    np.testing.assert_array_equal(gradient(function, np.ones((2, 2))), np.eye(2))


def test_broadcast_to_with_new_leading_axes() -> None:
    # HIPS/autograd#384: KeyError
    found = gradient(lambda x: np.broadcast_to(x, (5, 4, 3)), np.ones(3))
    np.testing.assert_array_equal(found, np.full(3, 20.0))


# Transforms


@pytest.mark.parametrize("n", [5, 6, 7, 8])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_real_transforms_of_odd_and_even_lengths(n: int, norm: Any) -> None:
    # ooples/AiDotNet.Tensors#911: the last frequency of an odd length counted once, not twice;
    # HIPS/autograd#187: no rule
    seed = np.random.default_rng(n).standard_normal(n)
    there = gradient(lambda x: np.fft.irfft(np.fft.rfft(x, norm=norm), n, norm=norm), seed, seed)
    np.testing.assert_allclose(there, seed, atol=1e-14)

    def inverse(z: Array) -> Array:
        return np.fft.irfft(z, n, norm=norm)

    frequencies = n // 2 + 1
    basis = np.concatenate([np.eye(frequencies), 1j * np.eye(frequencies)])
    by_columns = inverse(basis) @ seed
    found = gradient(inverse, np.zeros(frequencies, complex), seed)
    np.testing.assert_allclose(np.concatenate([found.real, found.imag]), by_columns, atol=1e-14)


# Sorting and padding


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_sort_of_an_array_with_several_axes(axis: int | None) -> None:
    # HIPS/autograd#349: NotImplementedError
    x = np.random.default_rng(0).standard_normal((4, 3))
    weights = np.arange(12.0).reshape(12 if axis is None else (4, 3))
    expected = np.empty(12) if axis is None else np.empty((4, 3))
    np.put_along_axis(expected, np.argsort(x, axis), weights, axis)
    found = gradient(lambda x: np.sort(x, axis), x, weights)
    np.testing.assert_array_equal(found, expected.reshape(4, 3))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("constant", [1.0, 1.0, 1.0]),
        ("edge", [3.0, 1.0, 3.0]),
        ("reflect", [2.0, 3.0, 2.0]),
        ("symmetric", [2.0, 3.0, 2.0]),
        ("wrap", [2.0, 3.0, 2.0]),
        ("empty", None),
        ("mean", np.full(3, 1 + 4 / 3)),
        ("maximum", [1.0, 1.0, 5.0]),
        ("minimum", [5.0, 1.0, 1.0]),
        ("median", [1.0, 5.0, 1.0]),
        ("linear_ramp", [1.5, 1.0, 1.5]),
    ],
)
def test_modes_of_pad(mode: Any, expected: Any) -> None:
    # HIPS/autograd#429, HIPS/autograd#808: constant padding only, and not as the default
    if mode == "empty":
        found = gradient(lambda x: np.pad(x, 2, mode)[2:-2], [1.0, 2.0, 4.0])
        np.testing.assert_array_equal(found, np.ones(3))
        return
    found = gradient(lambda x: np.pad(x, 2, mode), [1.0, 2.0, 4.0])
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_pad_without_a_mode_and_with_a_width_of_zero() -> None:
    # HIPS/autograd#808: TypeError; HIPS/autograd#431: an empty gradient
    np.testing.assert_array_equal(gradient(lambda x: np.pad(x, 2), np.ones(3)), np.ones(3))
    found = gradient(lambda x: np.pad(x, ((0, 0), (1, 1))), np.ones((3, 3)))
    np.testing.assert_array_equal(found, np.ones((3, 3)))


# Dtypes


@pytest.mark.parametrize(
    "function",
    [
        np.max,
        lambda x: np.max(x, axis=1),
        np.mean,
        np.std,
        np.var,
        lambda x: np.maximum(x, 0),
        np.log10,
        lambda x: np.linalg.eigh(x @ x.T)[1],
        lambda x: np.linalg.svd(x)[0],
        lambda x: x**2,
        lambda x: np.linalg.norm(x, axis=0),
        lambda x: np.sum(x) / 3,
    ],
    ids=[
        *("max", "max of rows", "mean", "std", "var", "maximum", "log10", "eigh", "svd"),
        *("square", "norm", "sum"),
    ],
)
def test_single_precision_stays(function: Function) -> None:
    # HIPS/autograd#163, HIPS/autograd#199: float64
    x = np.random.default_rng(0).uniform(0.5, 2.0, (3, 3)).astype(np.float32)
    handle = ta.ComputationRecord().tensor(x)
    result = np.sum(function(handle))
    assert result.dtype == result.grad().wrt(handle).dtype == np.float32


@pytest.mark.parametrize("value", [3, True, np.int8(3), [1, 2], np.array([1, 2])], ids=repr)
def test_a_leaf_of_integers(value: Any) -> None:
    # HIPS/autograd#482: TypeError; pytorch/pytorch#53466: RuntimeError
    found = gradient(lambda x: x * x, value)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, 2.0 * np.asarray(value))


# Arrays that are written to


def test_an_input_that_is_written_to_before_the_sweep() -> None:
    # NVIDIA/warp#1350, jax-ml/jax#37830: a wrong gradient, or another value, without a word
    data = np.array([1.0, 2.0])
    record = ta.ComputationRecord(check_inputs=True)
    x = record.tensor(data)
    loss = np.sum(x * x)
    data[0] = 5.0
    with pytest.raises(ta.errors.MutatedInputError):
        loss.grad()


def test_an_array_that_is_filled_in_a_loop() -> None:
    # HIPS/autograd#58, HIPS/autograd#177, HIPS/autograd#559: float() argument must be a number
    def filled(x: Array) -> Array:
        result = np.zeros_like(x)
        for i in range(len(x)):
            result[i] = x[i] * x[0]
        return result

    np.testing.assert_array_equal(gradient(filled, [2.0, 3.0]), [7.0, 2.0])


def test_an_assignment_to_a_plain_array_says_what_to_write() -> None:
    # HIPS/autograd#58, HIPS/autograd#515: an error about float() or about a sequence
    handle = ta.ComputationRecord().tensor([1.0, 2.0])
    plain = np.zeros(2)
    with pytest.raises(ta.errors.ConversionError, match=r"rec\.constant\(array\)"):
        plain[:] = handle


# What is an array


def test_a_handle_is_no_ndarray_and_says_so_where_it_would_become_one() -> None:
    # HIPS/autograd#459, HIPS/autograd#552: an array of objects. Code that asks
    # isinstance(x, np.ndarray) takes a handle for no array; np.asarray, which such code then
    # calls, is an error that names what to write, never an array without a gradient
    handle: Any = ta.ComputationRecord().tensor([1.0, 2.0])
    assert not isinstance(handle, np.ndarray)
    assert hasattr(handle, "__array_function__")
    assert hasattr(handle, "__array_ufunc__")
    for convert in (np.asarray, np.array, lambda t: np.array([t, t]), np.asarray_chkfinite):
        with pytest.raises(ta.errors.ConversionError, match=r"\.data"):
            convert(handle)


def test_a_method_of_a_plain_array_does_not_drop_the_gradient() -> None:
    # HIPS/autograd#8: zeros without a word
    handle = ta.ComputationRecord().tensor([1.0, 2.0])
    with pytest.raises(ta.errors.ConversionError, match=r"\.data"):
        np.ones((2, 2)).dot(handle)


def test_a_list_of_handles_goes_into_functions_that_take_lists() -> None:
    # HIPS/autograd#757: TypeError
    found = gradient(lambda x: np.stack([x[0], 2 * x[1]]).mean(), [1.0, 2.0])
    np.testing.assert_array_equal(found, [0.5, 1.0])


# Decompositions


def test_equal_singular_values_and_eigenvalues() -> None:
    # jax-ml/jax#2311, jax-ml/jax#8732, pytorch/pytorch#49886, pytorch/pytorch#47599: nan, which is
    # right for the vectors alone
    np.testing.assert_allclose(gradient(lambda a: np.linalg.svd(a)[1], np.eye(3)), np.eye(3))
    np.testing.assert_allclose(gradient(np.linalg.eigvalsh, np.eye(3)), np.eye(3))
    vectors = gradient(lambda a: np.linalg.eigh(a)[1], np.eye(3))
    assert np.isnan(vectors).any()


def test_singular_values_of_a_large_matrix_have_second_derivatives() -> None:
    # pytorch/pytorch#194705: nan, as squares overflow
    outer = ta.ComputationRecord()
    at = outer.tensor(np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32) * np.float32(1e19))
    inner = ta.ComputationRecord(within=outer).tensor(at)
    (first,) = gradients(np.sum(np.linalg.svdvals(inner)), [inner])
    (second,) = gradients(np.sum(first * first.data.data[::-1]), [at])
    assert np.isfinite(second).all()
    assert np.abs(second).max() < 1e-18


@pytest.mark.parametrize(("uplo", "half"), [("L", np.tril), ("U", np.triu)])
def test_eigh_reads_one_triangle(uplo: Any, half: Function) -> None:
    # jax-ml/jax#12795, pytorch/pytorch#30578: the gradient is that of another matrix
    a = np.random.default_rng(0).standard_normal((3, 3))
    found = gradient(lambda a: np.linalg.eigvalsh(a, uplo)[0], a)
    np.testing.assert_array_equal(found, half(found))
    step = 1e-6 * np.random.default_rng(1).standard_normal((3, 3))
    above, below = (np.linalg.eigvalsh(a + s, uplo)[0] for s in (step, -step))
    np.testing.assert_allclose(np.sum(found * step), (above - below) / 2, rtol=1e-8)
