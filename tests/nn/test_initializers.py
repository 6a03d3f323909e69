"""Initialisers: their spread, and the shapes that they read fans from."""

from typing import Any

import numpy as np
import pytest

from tape_ad.nn import initializers

RNG = np.random.default_rng

SPREAD: list[tuple[Any, dict[str, Any], float]] = [
    (initializers.kaiming_uniform, {"nonlinearity": "relu"}, (2 / 300) ** 0.5),
    (initializers.kaiming_normal, {"mode": "fan_out", "a": 1.0}, (1 / 200) ** 0.5),
    (initializers.xavier_uniform, {"gain": 3.0}, 3 * (2 / 500) ** 0.5),
    (initializers.xavier_normal, {}, (2 / 500) ** 0.5),
    (initializers.lecun_uniform, {}, (1 / 300) ** 0.5),
    (initializers.lecun_normal, {}, (1 / 300) ** 0.5),
]
NAMES = [entry[0].__name__ for entry in SPREAD]


@pytest.mark.parametrize(("initializer", "options", "std"), SPREAD, ids=NAMES)
def test_spread(initializer: Any, options: dict[str, Any], std: float) -> None:
    w = initializer(RNG(0), (300, 200), **options)
    assert w.std() == pytest.approx(std, rel=0.01)
    assert abs(w.mean()) < 0.02 * std
    if "uniform" in initializer.__name__:
        assert 0.999 * 3**0.5 * std < np.abs(w).max() <= 3**0.5 * std
    np.testing.assert_array_equal(w, initializer(RNG(0), (300, 200), **options))


@pytest.mark.parametrize("initializer", [entry[0] for entry in SPREAD])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype(initializer: Any, dtype: Any) -> None:
    assert initializer(RNG(0), (3, 2), dtype).dtype == dtype
    assert initializers.orthogonal(RNG(0), (3, 2), dtype).dtype == dtype


def test_fans_of_a_matrix_and_of_a_kernel() -> None:
    assert initializers.fans((300, 200)) == (300, 200)
    assert initializers.fans((8, 4, 3, 5)) == (60, 120)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 2, 3), (4, 4)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    w = initializers.orthogonal(RNG(0), shape, gain=2.0)
    assert w.shape == shape
    q = w.reshape(shape[0], -1) / 2
    product = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
    np.testing.assert_allclose(product, np.eye(min(q.shape)), atol=1e-14)


def test_orthogonal_prefers_no_sign() -> None:
    rng = RNG(1)
    corners = [initializers.orthogonal(rng, (3, 3))[0, 0] for _ in range(400)]
    assert abs(np.mean(corners)) < 0.1


def test_simple_ones() -> None:
    rng = RNG(0)
    before = rng.bit_generator.state
    np.testing.assert_array_equal(initializers.zeros(rng, (2, 3), np.float32), np.zeros((2, 3)))
    np.testing.assert_array_equal(initializers.ones(rng, (2,)), np.ones(2))
    np.testing.assert_array_equal(initializers.constant(0.5)(rng, (2,), np.float64), [0.5, 0.5])
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: initializers.kaiming_normal(RNG(0), (3,)),
            "a weight has at least two axes, got the shape (3,)",
        ),
        (
            lambda: initializers.kaiming_normal(RNG(0), (3, 3), mode="fan"),
            'mode must be "fan_in" or "fan_out", got \'fan\'',
        ),
        (
            lambda: initializers.orthogonal(RNG(0), (3,)),
            "orthogonal: the shape needs at least two axes, got (3,)",
        ),
        (
            lambda: initializers.calculate_gain("gelu"),
            "there is a gain for linear, conv1d, conv2d, sigmoid, tanh, relu, leaky_relu, selu, "
            "not for 'gelu'",
        ),
    ],
)
def test_what_makes_no_weight_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  # the whole message is compared
        call()
    assert str(raised.value) == message
