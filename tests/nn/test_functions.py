"""Activations and losses at their special points, and what they say when refused."""

import builtins
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.errors import DtypeError, ShapeError
from tape_ad.rules.nn.rectifiers import RECTIFIERS
from tests.shorthand import gradient, gradients_of

Array = np.ndarray[Any, Any]

ELEMENTWISE = [function for function in RECTIFIERS if function is not nn.glu]

each_activation = pytest.mark.parametrize("function", ELEMENTWISE, ids=lambda f: f.__name__)


# Activations


@each_activation
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_inputs_give_finite_values_and_slopes(function: Any, dtype: Any) -> None:
    x = np.array([-1e4, 1e4, -1e30, 1e30], dtype)
    value, gradients = function(x), gradient(function, x)
    assert value.dtype == gradients.dtype == dtype
    assert np.isfinite(value).all()
    assert np.isfinite(gradients).all()


def test_gelu_by_tanh_of_large_inputs() -> None:
    x = np.array([-1e30, -1e4, 1e4, 1e30], np.float32)
    np.testing.assert_array_equal(nn.gelu(x, approximate="tanh"), np.maximum(x, 0))
    np.testing.assert_array_equal(gradient(lambda t: nn.gelu(t, "tanh"), x), [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (nn.leaky_relu, 0.01),
        (lambda t: nn.leaky_relu(t, negative_slope=0.3), 0.3),
        (lambda t: nn.elu(t, alpha=0.5), 0.5),
        (nn.selu, 1.6732632423543772 * 1.0507009873554805),
        (nn.gelu, 0.5),
        (nn.silu, 0.5),
        (nn.softplus, 0.5),
        (nn.tanh, 1.0),
    ],
)
def test_slopes_at_zero_are_those_from_the_left(function: Any, expected: float) -> None:
    np.testing.assert_allclose(gradient(function, np.zeros(1)), [expected], rtol=1e-15)


def test_softplus_is_exact_without_its_threshold() -> None:
    x = np.array([25.0, 40.0, -40.0])
    np.testing.assert_array_equal(nn.softplus(x)[:2], x[:2])
    exact = nn.softplus(x, threshold=np.inf)
    np.testing.assert_allclose(exact - [25, 40, 0], np.exp(-np.abs(x)), rtol=1e-2, atol=1e-14)
    np.testing.assert_allclose(exact[2], np.exp(-40.0), rtol=1e-15)


def test_the_two_gelus_are_near_each_other() -> None:
    x = np.linspace(-6, 6, 1001)
    assert np.abs(nn.gelu(x) - nn.gelu(x, "tanh")).max() < 5e-4
    small = nn.gelu(np.array([-20.0]))  # keeps its digits: -20 * 2.75e-89
    np.testing.assert_allclose(small, [-20 * 2.753624118606233e-89], rtol=1e-13)


def test_gelu_names_its_approximations() -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  # the whole message is compared
        nn.gelu(np.zeros(1), approximate="erf")
    assert str(raised.value) == 'gelu: approximate must be "none" or "tanh", got \'erf\''


def test_gelu_without_scipy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_scipy(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == "scipy":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_scipy)
    assert nn.gelu(np.zeros(1), approximate="tanh") == 0
    with pytest.raises(ImportError) as raised:
        nn.gelu(np.zeros(1))
    assert str(raised.value) == (
        "gelu needs the extra scipy: pip install 'tape-ad[scipy]', or use "
        'gelu(x, approximate="tanh")'
    )


def test_glu_refuses_an_odd_length() -> None:
    with pytest.raises(ValueError, match=r"^glu: the axis -1 of shape \(2, 3\) has an odd length$"):
        nn.glu(np.ones((2, 3)))


@pytest.mark.parametrize("function", [*ELEMENTWISE, nn.glu], ids=lambda f: f.__name__)
def test_complex_numbers_are_refused(function: Any) -> None:
    name = function.__name__
    with pytest.raises(DtypeError, match=rf"^{name} takes real arrays, got one of dtype complex"):
        function(ta.ComputationRecord().tensor(np.array([1j, 2.0])))


# Losses

PAIRS = [
    nn.mse_loss,
    nn.l1_loss,
    nn.huber_loss,
    nn.kl_div,
    nn.binary_cross_entropy_with_logits,
]


@pytest.mark.parametrize("loss", PAIRS, ids=lambda f: f.__name__)
def test_losses_do_not_broadcast(loss: Any) -> None:
    with pytest.raises(ShapeError) as raised:
        loss(np.ones((4, 1)), np.ones(4))
    assert str(raised.value) == (
        f"{loss.__name__}: the input has shape (4, 1), but the target has (4,); reshape one of "
        "them, or broadcast it with np.broadcast_to if that is meant"
    )


@pytest.mark.parametrize("loss", PAIRS, ids=lambda f: f.__name__)
def test_losses_know_their_reductions(loss: Any) -> None:
    with pytest.raises(ValueError, match=rf'^{loss.__name__}: reduction must be "mean", "sum" or'):
        loss(np.ones(2), np.ones(2), reduction="max")


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.bool_, np.int64])
@pytest.mark.parametrize(
    "function",
    [
        nn.mse_loss,
        nn.l1_loss,
        nn.huber_loss,
        lambda x, y: nn.binary_cross_entropy_with_logits(x, np.minimum(y, 1)),
        lambda x, y: nn.cross_entropy(np.zeros((3, 4)), np.array([0, 1, 2]), weight=x),
        lambda x, y: nn.nll_loss(np.ones((3, 4)), np.array([0, 1, 2]), weight=x),
        lambda x, y: nn.avg_pool1d(x, 2),
        lambda x, y: nn.avg_pool2d(np.stack([x, y]), 2, padding=1, count_include_pad=False),
        lambda x, y: nn.dropout(x, 0.25, rng=np.random.default_rng(0)),
        lambda x, y: nn.selu(x),
    ],
)
def test_narrow_integers_do_not_wrap_around(function: Any, dtype: Any) -> None:
    x, y = np.array([1, 100, 0, 120], dtype), np.array([3, 90, 1, 120], dtype)
    np.testing.assert_array_equal(function(x, y), function(x.astype(float), y.astype(float)))


@pytest.mark.parametrize("loss", PAIRS, ids=lambda f: f.__name__)
def test_losses_of_nothing_are_refused(loss: Any) -> None:
    with pytest.raises(ShapeError, match=rf"^{loss.__name__}: there is nothing to take the mean"):
        loss(np.ones((0, 2)), np.ones((0, 2)))


def test_binary_cross_entropy_keeps_its_digits() -> None:
    x = np.array([-60.0, 60.0])
    np.testing.assert_allclose(
        nn.binary_cross_entropy_with_logits(x, np.array([0.0, 1.0]), reduction="none"),
        [np.exp(-60.0)] * 2,
        rtol=1e-14,
    )
    np.testing.assert_allclose(
        gradient(lambda t: nn.binary_cross_entropy_with_logits(t, np.array([0.0, 1.0])), x),
        [np.exp(-60.0) / 2, -np.exp(-60.0) / 2],
        rtol=1e-14,
    )


def test_huber_goes_over_smoothly() -> None:
    x = np.array([-1.0, 0.0, 1.0])
    np.testing.assert_array_equal(nn.huber_loss(x, 0 * x, reduction="none"), [0.5, 0, 0.5])
    np.testing.assert_array_equal(
        gradient(lambda t: nn.huber_loss(t, np.zeros(3), reduction="sum"), x), [-1, 0, 1]
    )


def test_l1_has_slope_zero_where_its_arguments_meet() -> None:
    gradients = gradients_of(nn.l1_loss, np.array([1.0, 2.0]), np.array([1.0, 5.0]))
    np.testing.assert_array_equal(gradients, [[0, -0.5], [0, 0.5]])


def test_kl_div_of_probability_zero() -> None:
    log_p = np.array([0.0, -np.inf])
    one_hot = np.array([1.0, 0.0])
    assert nn.kl_div(log_p, one_hot, reduction="sum") == 0
    np.testing.assert_array_equal(
        gradient(lambda t: nn.kl_div(t, one_hot, reduction="sum"), np.array([0.0, -5.0])), [-1, 0]
    )


def test_cross_entropy_of_large_logits_with_every_option() -> None:
    logits = np.array([[1e4, -1e4, 0.0], [0.0, 1e4, 1e4], [-1e4, 0.0, 0.0]])
    targets = np.array([0, 1, -1])
    weight = np.array([1.0, 2.0, 3.0])

    def loss(t: Any) -> Any:
        return nn.cross_entropy(t, targets, weight, -1, label_smoothing=0.1)

    spread = 0.1 / 3 * (2 * 2e4 + 3 * 1e4), 1.8 * np.log(2) + 0.1 / 3 * (1e4 + 6 * np.log(2))
    np.testing.assert_allclose(loss(logits), sum(spread) / 3, rtol=1e-13)
    gradients = gradient(loss, logits)
    assert np.isfinite(gradients).all()
    np.testing.assert_array_equal(gradients[2], 0)
    np.testing.assert_allclose(gradients.sum(axis=1), 0, atol=1e-15)


@pytest.mark.parametrize("number", [1, np.int64(1), np.uint8(1), np.array(1)])
@pytest.mark.parametrize("loss", [nn.cross_entropy, nn.nll_loss])
def test_one_class_number_may_be_a_number_of_any_kind(loss: Any, number: Any) -> None:
    logits = np.array([2.0, -1.0, 0.5])
    log_p = logits if loss is nn.nll_loss else nn.log_softmax(logits)
    recorded = loss(ta.ComputationRecord().tensor(logits), number)
    np.testing.assert_allclose([loss(logits, number), recorded.item()], -log_p[1], rtol=1e-15)


def test_cross_entropy_smoothed_and_ignored_by_hand() -> None:
    logits = np.log([[0.5, 0.25, 0.25], [0.2, 0.3, 0.5]])
    plain = -np.log([0.5, 0.5])
    np.testing.assert_allclose(
        nn.cross_entropy(logits, np.array([0, 2]), reduction="none"), plain, rtol=1e-15
    )
    smooth = 0.7 * plain - 0.1 * logits.sum(axis=1)
    np.testing.assert_allclose(
        nn.cross_entropy(logits, np.array([0, 2]), reduction="none", label_smoothing=0.3),
        smooth,
        rtol=1e-15,
    )
    np.testing.assert_allclose(
        nn.cross_entropy(logits, np.array([0, 7]), ignore_index=7), plain[0], rtol=1e-15
    )


@pytest.mark.parametrize("loss", [nn.cross_entropy, nn.nll_loss], ids=lambda f: f.__name__)
def test_class_numbers_that_are_all_ignored_or_none_are_refused(loss: Any) -> None:
    with pytest.raises(ShapeError, match=r"there is nothing to take the mean of, shape \(2,\)$"):
        loss(np.zeros((2, 3)), np.array([-100, -100]))
    with pytest.raises(IndexError, match=r"class numbers must lie in 0\.\.2, got 0\.\.3$"):
        loss(np.zeros((3, 3)), np.array([-100, 0, 3]))
    assert loss(np.zeros((2, 3)), np.array([-100, -100]), reduction="sum") == 0


def test_nll_loss_takes_class_numbers_alone() -> None:
    with pytest.raises(TypeError, match=r"^nll_loss: the targets must be class numbers, got dtype"):
        nn.nll_loss(np.zeros((2, 3)), np.ones((2, 3)))
    x = nn.log_softmax(np.arange(6.0).reshape(2, 3))
    np.testing.assert_allclose(nn.nll_loss(x, [1, 2]), nn.cross_entropy(x, [1, 2]), rtol=1e-14)
