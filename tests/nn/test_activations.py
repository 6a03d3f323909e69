"""Activations and losses: values, stability, gradients, and what they say when refused."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special

import tape_ad as ta
from tape_ad.errors import DtypeError, ShapeError
from tape_ad.nn import cross_entropy, log_softmax, logsumexp, relu, sigmoid, softmax
from tests.shorthand import gradient

Array = np.ndarray[Any, Any]

LARGE = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, 1e4], [1e4, 1e4, 1e4]])


def cross_entropy_of(targets: Any, logits: Any) -> Any:
    """Swap the arguments, for `functools.partial`."""
    return cross_entropy(logits, targets)


def central_difference(function: Callable[[Array], Any], x: Array) -> Array:
    """Differentiate a scalar function of one array numerically, to about 1e-9."""
    step = 1e-5
    columns = np.eye(x.size).reshape(x.size, *x.shape) * step
    return np.reshape(
        [(function(x + column) - function(x - column)) / (2 * step) for column in columns], x.shape
    )


# Values


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (sigmoid, scipy.special.expit),
        (softmax, lambda x: scipy.special.softmax(x, axis=-1)),
        (log_softmax, lambda x: scipy.special.log_softmax(x, axis=-1)),
        (lambda x: softmax(x, axis=0), lambda x: scipy.special.softmax(x, axis=0)),
        (lambda x: log_softmax(x, axis=None), scipy.special.log_softmax),
        (logsumexp, scipy.special.logsumexp),
        (
            lambda x: logsumexp(x, axis=1, keepdims=True),
            lambda x: scipy.special.logsumexp(x, axis=1, keepdims=True),
        ),
        (lambda x: logsumexp(x, axis=(0, 1)), lambda x: scipy.special.logsumexp(x, axis=(0, 1))),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
def test_values_are_scipys(
    ours: Callable[[Any], Any], theirs: Callable[[Any], Any], scale: float
) -> None:
    x = np.random.default_rng(0).normal(size=(4, 5)) * scale
    expected = theirs(x)
    np.testing.assert_allclose(ours(x), expected, rtol=1e-14, atol=1e-300)
    handle = ours(ta.ComputationRecord().tensor(x))
    np.testing.assert_array_equal(handle.data, ours(x))


def test_relu_keeps_what_is_positive() -> None:
    np.testing.assert_array_equal(relu(np.array([-2.0, -0.0, 3.0])), [0.0, 0.0, 3.0])
    assert relu(np.array([-1, 1], np.float32)).dtype == np.float32
    assert np.isnan(relu(np.array([np.nan]))).all()


@pytest.mark.parametrize("function", [relu, sigmoid, softmax, log_softmax, logsumexp])
def test_plain_arrays_and_lists_give_plain_arrays(function: Callable[[Any], Any]) -> None:
    x = [[0.5, -1.0], [2.0, 0.0]]
    assert isinstance(function(np.array(x)), (np.ndarray, np.float64))
    np.testing.assert_array_equal(function(x), function(np.array(x)))


@pytest.mark.parametrize("function", [relu, sigmoid, softmax, log_softmax, logsumexp])
def test_activations_are_one_node_and_keep_float32(function: Callable[[Any], Any]) -> None:
    rec = ta.ComputationRecord()
    t = rec.tensor(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
    out = function(t)
    assert len(rec) == 2
    assert out.dtype == np.float32
    assert out.grad(np.ones_like(out.data)).wrt(t).dtype == np.float32


@pytest.mark.parametrize(
    ("function", "value", "slope"), [(softmax, 1.0, 0.0), (log_softmax, 0.0, 0.0)]
)
def test_a_scalar_is_its_own_axis(
    function: Callable[[Any], Any], value: float, slope: float
) -> None:
    assert function(np.array(3.0)) == value
    assert gradient(function, 3.0) == slope
    assert gradient(lambda t: logsumexp(t, axis=-1), 3.0) == 1.0


def test_logsumexp_of_nothing_but_minus_infinity() -> None:
    x = np.array([-np.inf, -np.inf])
    assert logsumexp(x) == -np.inf
    np.testing.assert_array_equal(gradient(logsumexp, x), [0.0, 0.0])


def test_logsumexp_with_an_infinity() -> None:
    x = np.array([np.inf, 1.0])
    assert logsumexp(x) == np.inf
    np.testing.assert_array_equal(gradient(logsumexp, x), [np.nan, 0.0])


@pytest.mark.parametrize("function", [relu, sigmoid, softmax, log_softmax, logsumexp])
def test_complex_numbers_are_refused(function: Callable[[Any], Any]) -> None:
    name = function.__name__
    with pytest.raises(
        DtypeError,
        match=rf"^{name} takes real arrays, got one of dtype complex128; apply it to x\.real and "
        r"x\.imag, or to np\.abs\(x\), whichever is meant$",
    ):
        function(ta.ComputationRecord().tensor(np.array([1j, 2.0])))


# Gradients, also where the inputs are large


def test_relu_has_derivative_zero_at_its_kink() -> None:
    grad = gradient(lambda t: np.sum(relu(t)), np.array([-1.0, -0.0, 0.0, 2.0]))
    np.testing.assert_array_equal(grad, [0.0, 0.0, 0.0, 1.0])


def test_sigmoid_is_stable() -> None:
    x = np.array([-1e4, 0.0, 1e4])
    np.testing.assert_array_equal(sigmoid(x), [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(gradient(lambda t: np.sum(sigmoid(t)), x), [0.0, 0.25, 0.0])


def test_softmax_is_stable() -> None:
    third = 1 / 3
    np.testing.assert_array_equal(
        softmax(LARGE), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [third, third, third]]
    )
    grad = gradient(lambda t: np.sum(softmax(t)[:, 0]), LARGE)
    np.testing.assert_allclose(
        grad, np.array([[0, 0, 0], [0, 0, 0], [2, -1, -1]]) / 9, rtol=1e-15, atol=0
    )


def test_log_softmax_is_stable() -> None:
    log3 = np.log(3)
    np.testing.assert_array_equal(
        log_softmax(LARGE), [[0, -2e4, -1e4], [-2e4, -2e4, 0], [-log3, -log3, -log3]]
    )
    grad = gradient(lambda t: np.sum(log_softmax(t)[:, 1]), LARGE)
    np.testing.assert_allclose(
        grad, np.array([[-3, 3, 0], [0, 3, -3], [-1, 2, -1]]) / 3, rtol=1e-15, atol=0
    )


def test_logsumexp_is_stable() -> None:
    np.testing.assert_array_equal(logsumexp(LARGE, axis=1), [1e4, 1e4, 1e4 + np.log(3)])
    np.testing.assert_allclose(
        gradient(lambda t: np.sum(logsumexp(t, axis=1)), LARGE), softmax(LARGE), rtol=1e-11
    )


def test_cross_entropy_is_stable() -> None:
    numbers = np.array([0, 0, 2])
    one_hot = np.eye(3)[numbers]
    value = (0 + 2e4 + np.log(3)) / 3
    expected = (softmax(LARGE) - one_hot) / 3
    for targets in (numbers, one_hot):
        assert cross_entropy(LARGE, targets) == value
        grad = gradient(partial(cross_entropy_of, targets), LARGE)
        np.testing.assert_allclose(grad, expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize(
    "function",
    [
        sigmoid,
        lambda x: softmax(x, axis=0),
        lambda x: softmax(x, axis=(0, 1)),
        log_softmax,
        lambda x: logsumexp(x, axis=0),
        lambda x: cross_entropy(x, np.array([1, 3, 0])),
        lambda x: cross_entropy(x, np.full((3, 4), 0.25)),
        lambda x: cross_entropy(np.ones((3, 4)) * np.arange(4), softmax(x)),
    ],
)
def test_gradients_are_central_differences(function: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 4))
    weights = rng.normal(size=np.shape(function(x)))

    def weighted(x: Any) -> Any:
        return np.sum(weights * function(x))

    np.testing.assert_allclose(
        gradient(weighted, x), central_difference(weighted, x), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize(
    "function",
    [
        relu,
        sigmoid,
        softmax,
        log_softmax,
        lambda x: logsumexp(x, axis=1, keepdims=True),
        lambda x: cross_entropy(x, np.array([1, 3, 0])),
    ],
)
def test_push_and_pull_are_adjoint(function: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(2)
    rec = ta.ComputationRecord()
    t = rec.tensor(rng.normal(size=(3, 4)))
    out = function(t)
    ((_, map_),) = rec.edges(out.index)
    tangent, cotangent = rng.normal(size=(5, 3, 4)), rng.normal(size=(5, *out.shape))
    pushed = np.sum(cotangent * map_.push(tangent))
    pulled = np.sum(np.broadcast_to(map_.pull(cotangent), tangent.shape) * tangent)
    np.testing.assert_allclose(pushed, pulled, rtol=1e-12)


@pytest.mark.parametrize("targets", [np.array([1, 3, 0]), np.full((3, 4), 0.25)])
def test_cross_entropy_in_second_order(targets: Array) -> None:
    rng = np.random.default_rng(3)
    x, direction = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    outer = ta.ComputationRecord()
    t = outer.tensor(x)
    inner = ta.ComputationRecord(within=outer)
    u = inner.tensor(t)
    slope: Any = np.sum(cross_entropy(u, targets).grad().wrt(u) * direction)
    p = softmax(x)
    expected = p * (direction - np.sum(p * direction, axis=1, keepdims=True)) / 3
    np.testing.assert_allclose(slope.grad().wrt(t), expected, rtol=1e-12, atol=1e-15)


# Cross-entropy


@pytest.mark.parametrize(
    ("logits_shape", "numbers"),
    [((3,), np.array(2)), ((2, 3), np.array([2, 0])), ((2, 2, 3), np.array([[0, 1], [2, 2]]))],
)
def test_class_numbers_are_one_hot_rows(logits_shape: tuple[int, ...], numbers: Array) -> None:
    x = np.random.default_rng(4).normal(size=logits_shape)
    one_hot = np.eye(3)[numbers]
    np.testing.assert_allclose(
        cross_entropy(x, numbers), -np.mean(np.sum(one_hot * log_softmax(x), axis=-1)), rtol=1e-14
    )
    np.testing.assert_allclose(
        gradient(lambda t: cross_entropy(t, numbers), x),
        gradient(lambda t: cross_entropy(t, one_hot), x),
        rtol=1e-13,
        atol=1e-16,
    )


@pytest.mark.parametrize(
    "targets", [[1, 0], np.array([1, 0], np.uint8), np.array([1, 0], np.uint64)]
)
def test_class_numbers_of_any_integer_type(targets: Any) -> None:
    x = np.array([[0.0, np.log(3)], [0.0, np.log(3)]])
    np.testing.assert_allclose(cross_entropy(x, targets), (np.log(4 / 3) + np.log(4)) / 2)
    np.testing.assert_allclose(
        gradient(lambda t: cross_entropy(t, targets), x), [[0.125, -0.125], [-0.375, 0.375]]
    )


def test_cross_entropy_of_logits_in_fortran_order() -> None:
    x = np.random.default_rng(5).normal(size=(4, 3))
    numbers = np.array([0, 1, 2, 1])
    np.testing.assert_array_equal(
        gradient(lambda t: cross_entropy(t, numbers), np.asfortranarray(x)),
        gradient(lambda t: cross_entropy(t, numbers), x),
    )


def test_cross_entropy_is_one_node_and_writes_to_nothing() -> None:
    x, numbers = np.random.default_rng(6).normal(size=(4, 3)), np.array([0, 1, 2, 1])
    before = x.copy()
    rec = ta.ComputationRecord(check_inputs=True)
    t = rec.tensor(x)
    loss = cross_entropy(t, numbers)
    assert len(rec) == 2
    np.testing.assert_array_equal(loss.grad().wrt(t), loss.grad().wrt(t))
    np.testing.assert_array_equal(x, before)


def test_a_class_of_probability_zero_may_have_logit_minus_infinity() -> None:
    x, one_hot = np.array([[1.0, -np.inf]]), np.array([[1.0, 0.0]])
    assert cross_entropy(x, one_hot) == 0
    np.testing.assert_array_equal(gradient(lambda t: cross_entropy(t, one_hot), x), [[0.0, 0.0]])
    np.testing.assert_array_equal(gradient(lambda t: cross_entropy(t, [0]), x), [[0.0, 0.0]])


def test_cross_entropy_with_respect_to_its_targets() -> None:
    x = np.array([[0.0, np.log(3)]])
    grad = gradient(lambda t: cross_entropy(x, t), np.array([[0.5, 0.5]]))
    np.testing.assert_allclose(grad, [[np.log(4), np.log(4 / 3)]])


@pytest.mark.parametrize("as_handle", [False, True])
@pytest.mark.parametrize(
    ("logits_shape", "targets", "kind", "message"),
    [
        (
            (2, 3),
            [0, 1, 2],
            ShapeError,
            "cross_entropy: logits of shape (2, 3) need class numbers of shape (2,), got targets "
            "of shape (3,)",
        ),
        (
            (2, 3),
            [0.5, 0.5],
            ShapeError,
            "cross_entropy: logits of shape (2, 3) need probabilities of shape (2, 3), got targets "
            "of shape (2,); write targets.astype(int) if these are class numbers",
        ),
        ((0, 3), np.zeros(0, int), ShapeError, "cross_entropy: the batch of shape (0, 3) is empty"),
        (
            (2, 3),
            [0, 3],
            IndexError,
            "cross_entropy: class numbers must lie in 0..2, got 0..3",
        ),
        (
            (2, 3),
            [-1, 2],
            IndexError,
            "cross_entropy: class numbers must lie in 0..2, got -1..2",
        ),
    ],
)
def test_cross_entropy_refuses_what_does_not_fit(
    logits_shape: tuple[int, ...],
    targets: Any,
    kind: type[Exception],
    message: str,
    as_handle: bool,
) -> None:
    logits: Any = np.zeros(logits_shape)
    if as_handle:
        logits = ta.ComputationRecord().tensor(logits)
    with pytest.raises(kind) as raised:
        cross_entropy(logits, targets)
    assert str(raised.value) == message


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_relu_keeps_shape_dtype_layout_and_nan(dtype: str, order: Any) -> None:
    x = np.array([[-1.0, np.nan, 3.0], [np.inf, -np.inf, 0.0]]).astype(dtype, order=order)
    given = x.copy(order)
    expected = np.maximum(x, 0)
    np.testing.assert_array_equal(relu(x), expected, strict=True)
    assert relu(x).flags.f_contiguous == (order == "F")
    np.testing.assert_array_equal(x, given)
    np.testing.assert_array_equal(relu(x[:, 1:]), expected[:, 1:], strict=True)
    np.testing.assert_array_equal(relu(x[0, 2]), expected[0, 2], strict=True)
    assert relu(x[:0]).shape == (0, 3)


def test_arrays_in_a_file(tmp_path: Path) -> None:
    rows = np.memmap(tmp_path / "rows", dtype="f8", mode="w+", shape=(2, 3))
    numbers = np.memmap(tmp_path / "numbers", dtype="i8", mode="w+", shape=2)
    rows[...] = [[-1.0, 2.0, 0.5], [3.0, -4.0, 0.0]]
    plain = np.array(rows)
    np.testing.assert_array_equal(relu(rows), relu(plain))
    assert cross_entropy(rows, numbers) == cross_entropy(plain, np.zeros(2, int))
    by_file = gradient(lambda t: cross_entropy(t * rows, numbers), plain)
    np.testing.assert_array_equal(
        by_file, gradient(lambda t: cross_entropy(t * plain, np.zeros(2, int)), plain)
    )


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8"])
def test_class_numbers_of_every_width(dtype: str) -> None:
    classes = 200
    logits = np.random.default_rng(0).normal(size=(3, classes))
    targets = np.array([0, 1, 120], dtype)
    assert cross_entropy(logits, targets) == cross_entropy(logits, targets.astype(int))
    wrong = np.array([0, 1, -1]).astype(dtype)  # the largest number, where there are no signs
    with pytest.raises(IndexError, match=rf"lie in 0..199, got .*{wrong.max()}"):
        cross_entropy(logits, wrong)
