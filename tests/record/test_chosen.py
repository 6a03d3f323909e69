"""What was not chosen contributes exactly 0, whatever partials the cotangent meets further back."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

RNG = np.random.default_rng(7)
GOOD = np.abs(RNG.normal(size=(2, 3, 3))) + 0.5
BROKEN = GOOD.copy()
BROKEN[0] = -1.0
TAKEN = np.array([False, True])

# Functions of a stack of two matrices, of which the first has no root.
BEHIND: dict[str, Callable[[Any], Any]] = {
    "checkpoint": ta.checkpoint(np.sqrt),
    "checkpoints in each other": ta.checkpoint(lambda x: ta.checkpoint(np.sqrt)(x) * 2),
    "repeated": lambda x: ta.checkpoint_sequential(np.sqrt, 2, x),
    "einsum": lambda x: np.einsum("nij,nij->ni", np.sqrt(x), np.sqrt(x)),
    "einsum of three": lambda x: np.einsum("nij,njk,nik->ni", np.sqrt(x), x, np.log(x)),
    "matmul": lambda x: np.sqrt(x) @ np.log(x),
    "vecdot": lambda x: np.vecdot(np.sqrt(x), np.log(x)),
    "norm": lambda x: np.linalg.norm(np.sqrt(x), axis=-1),
    "softmax": lambda x: ta.nn.softmax(np.sqrt(x)),
    "prod": lambda x: np.prod(np.sqrt(x), axis=-1),
    "inv": lambda x: np.linalg.inv(np.sqrt(x)),
    "sort": lambda x: np.sort(np.sqrt(x)),
    "quotient": lambda x: np.log(x) / np.sqrt(x),
    "reciprocal of 0": lambda x: 1 / (x + 1),
}


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of the values
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("name", BEHIND)
def test_a_branch_that_was_not_taken(name: str) -> None:
    def chosen(x: Any) -> Any:
        out = BEHIND[name](x)
        return np.sum(np.where(TAKEN.reshape(2, *[1] * (out.ndim - 1)), out, 0.0) ** 2)

    found = ta.grad(chosen)(BROKEN)
    np.testing.assert_array_equal(found[0], np.zeros((3, 3)))
    np.testing.assert_allclose(found[1], ta.grad(chosen)(GOOD)[1], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_what_was_chosen_keeps_its_nan() -> None:
    found = ta.grad(lambda x: np.sum(np.where(x > -2, np.sqrt(x), 0.0)))(
        np.array([-1.0, 4.0, -3.0])
    )
    np.testing.assert_array_equal(found, [np.nan, 0.25, 0.0])


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("at", [0.5, 1.0, 2.0])
def test_a_tie_elsewhere_changes_nothing(at: float) -> None:
    found = ta.grad(lambda x: np.sum(np.maximum(np.log(x), 0.0)))(np.array([0.0, at]))
    assert found[0] == 0.0
    assert found[1] == {0.5: 0.0, 1.0: 0.5, 2.0: 0.5}[at]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("stack", [(), (2,)])
def test_a_sweep_that_releases_is_repeated_too_and_then_releases(stack: tuple[int, ...]) -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor([-1.0, 4.0])
    y: Any = np.where(x > 0, np.sqrt(x) * 3.0, 0.0)
    gradient = y.grad(np.ones((*stack, 2)), release=True).wrt(x)
    np.testing.assert_array_equal(gradient, np.broadcast_to([0.0, 0.75], (*stack, 2)))
    with pytest.raises(ta.errors.ReleasedError):
        y.grad(np.ones(2))


class Doubled:
    """A user's map with members of other meanings that have the names of the sweep's own."""

    broadcasts = True
    fresh = np.ones(3)
    hides = "nothing"
    identity = 7

    def push(self, t: Any) -> Any:
        return t * 2

    def pull(self, ct: Any) -> Any:
        return ct * 2


class Halved(Doubled):
    """A user's map that takes part in what the sweep offers."""

    fresh = True  # type: ignore[assignment]  # which is what the member means
    uniform = True
    hides = False  # type: ignore[assignment]  # the same

    def push(self, t: Any) -> Any:
        return t / 2

    def pull(self, ct: Any) -> Any:
        return ct / 2


@pytest.mark.parametrize(("linear", "factor"), [(Doubled(), 2.0), (Halved(), 0.5)])
def test_a_map_of_a_users_own(linear: Any, factor: float) -> None:
    scaled = ta.custom_rule(partials=lambda out, x: linear)(lambda x: x * factor)
    x = np.arange(3.0)
    np.testing.assert_array_equal(ta.grad(lambda x: np.sum(scaled(x) * x))(x), 2 * factor * x)
    tangent = ta.jvp(scaled, (x,), (np.ones(3),))[1]
    np.testing.assert_array_equal(tangent, np.full(3, factor))


@pytest.mark.parametrize("broken", [np.inf, np.nan])
def test_a_first_derivative_of_zero_beside_what_was_not_chosen_has_one_of_its_own(
    broken: float,
) -> None:
    marked = np.array([True, False, True, True])
    factor = np.array([1.0, 1.0, 1.0, broken])

    def chosen(x: Any) -> Any:
        return np.sum(np.where(marked, 2 * x, (2 * x * factor) ** 2))

    x, v = np.array([0.0, 0.0, 0.0, -1.0]), np.ones(4)
    np.testing.assert_array_equal(ta.grad(chosen)(x), [2, 0, 2, 2])
    np.testing.assert_array_equal(ta.hvp(chosen, x, v), [0, 8, 0, 0])
    np.testing.assert_array_equal(
        ta.grad(lambda x: np.sum(ta.grad(chosen)(x) * v))(x), [0, 8, 0, 0]
    )
