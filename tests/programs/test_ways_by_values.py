"""Rules that go another way for some values: a program goes the way that eager goes."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.programs.bits import all_same

VALUES: dict[str, Any] = {
    "eigvalsh": np.linalg.eigvalsh,
    "eigh": lambda a: np.linalg.eigh(a)[0],
    "eigvals": lambda a: np.real(np.linalg.eigvals(a)),
}
WEIGHTS: dict[str, Any] = {
    "all alike": lambda w: w * 2,
    "alike by chance": lambda w: w * np.array([2.0, 2.0, 2.0]),
    "one only": lambda w: w[..., 0],
    "by the values": lambda w: w * w,
}


@pytest.mark.parametrize("derivative", [ta.grad, ta.hessian])
@pytest.mark.parametrize("weigh", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_sums_of_eigenvalues(values: Any, weigh: Any, derivative: Any) -> None:
    def total(a: Any) -> Any:
        return np.sum(weigh(values(a)))

    rng = np.random.default_rng(0)
    fast = ta.compile(derivative(total), engine="numpy")
    for _ in range(4):
        a = rng.normal(size=(3, 3))
        a += a.T
        all_same(fast(a), derivative(total)(a))


def test_a_trace_of_equal_eigenvalues_has_a_second_derivative() -> None:
    fast = ta.compile(ta.hessian(lambda a: np.sum(np.linalg.eigvalsh(a))), engine="numpy")
    for _ in range(4):
        assert not np.any(fast(np.eye(3)))


def test_weights_that_become_another_take_the_other_way() -> None:
    def weighed(a: Any, weights: Any) -> Any:
        return np.sum(np.linalg.eigvalsh(a) * weights)

    a = np.array([[2.0, 1.0], [1.0, 0.5]])
    fast = ta.compile(ta.grad(weighed), engine="numpy")
    for weights in ([2.0, 2.0], [2.0, 2.0], [1.0, 3.0], [5.0, 5.0], [0.5, 1.5]):
        all_same(fast(a, np.array(weights)), ta.grad(weighed)(a, np.array(weights)))
