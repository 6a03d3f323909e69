"""Jacobians and Hessians: every way of writing one gives the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import OutputError
from tape_ad.transforms import jacobians
from tests.functions import AT, HESSIANS_OF

Function = Callable[..., Any]

RNG = np.random.default_rng(12)
W = RNG.normal(size=(4, 3))
X = np.array([0.4, -0.7, 1.1])


def close(got: Any, expected: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


# Jacobians


def dense(x: Any) -> Any:
    return np.tanh(W @ x) * np.sum(x * x)


def jacobian_by_hand(x: Any) -> Any:
    t = np.tanh(W @ x)
    return (1 - t * t)[:, None] * W * np.sum(x * x) + np.outer(t, 2 * x)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 100])
def test_the_jacobian_in_every_mode(mode: str, batch_size: int | None) -> None:
    got = ta.jacobian(dense, mode=mode, batch_size=batch_size)(X)
    close(got, jacobian_by_hand(X), 1e-14)
    assert got.dtype == np.float64


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_shapes_of_matrices_to_matrices(mode: str) -> None:
    a = RNG.normal(size=(2, 3))
    got = ta.jacobian(lambda a: W @ a.T, mode=mode)(a)
    assert got.shape == (4, 2, 2, 3)
    close(got, np.einsum("ik,jl->ijlk", W, np.eye(2)))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_trees_on_both_sides(mode: str, batch_size: int | None) -> None:
    def f(p: Any, y: Any) -> Any:
        return {"product": p["x"] * y, "rest": [np.sum(p["x"]), None, 5.0]}

    both = ta.jacobian(f, (0, 1), mode=mode, batch_size=batch_size)({"x": X, "name": "p"}, 2.0)
    close(both["product"][0]["x"], 2 * np.eye(3))
    close(both["product"][1], X)
    close(both["rest"][0][0]["x"], np.ones(3))
    close(both["rest"][0][1], 0.0)
    close(both["rest"][2][0]["x"], np.zeros(3))
    assert both["rest"][1] is None
    assert both["product"][0]["name"] == "p"
    one = ta.jacobian(f, 1, mode=mode, batch_size=batch_size)({"x": X}, 2.0)
    close(one["product"], X)
    assert one["rest"][1] is None


def test_auto_takes_the_side_with_fewer_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def watched(name: str, real: Function) -> Function:
        def sweep(*args: Any) -> Any:
            taken.append(name)
            return real(*args)

        return sweep

    for name in ("by_forward", "by_reverse"):
        monkeypatch.setattr(jacobians, name, watched(name, getattr(jacobians, name)))
    ta.jacobian(lambda x: W @ x)(X)
    ta.jacobian(lambda x: W.T @ x)(np.ones(4))
    ta.jacobian(lambda x: 1j * x)(X)
    ta.jacobian(lambda z: z.real)(X + 0j)
    assert taken == ["by_forward", "by_reverse", "by_forward", "by_reverse"]


def test_aux_and_named_arguments() -> None:
    got, aux = ta.jacobian(lambda x, k=1: (x * k, {"x": x}), has_aux=True)(X, k=3)
    close(got, 3 * np.eye(3))
    np.testing.assert_array_equal(aux["x"], X, strict=True)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_jacobian_of_nothing(mode: str) -> None:
    assert ta.jacobian(lambda x: x * 2, mode=mode)(np.zeros(0)).shape == (0, 0)
    assert ta.jacobian(lambda x: np.ones(2), mode=mode)(X).tolist() == np.zeros((2, 3)).tolist()


def test_float32_stays() -> None:
    assert ta.jacobian(np.sin, mode="forward")(X.astype(np.float32)).dtype == np.float32
    assert ta.jacobian(np.sin, mode="reverse")(X.astype(np.float32)).dtype == np.float32


def test_complex_on_one_side() -> None:
    close(ta.jacobian(lambda x: np.exp(1j * x))(X), np.diag(1j * np.exp(1j * X)))
    z = X + 1j
    close(ta.jacobian(lambda z: np.abs(z) ** 2)(z), np.diag(2 * z))


@pytest.mark.parametrize(
    ("f", "at", "mode"),
    [
        (np.sin, X + 0j, "auto"),
        (np.abs, X + 1j, "forward"),
        (lambda x: x * 1j, X, "reverse"),
    ],
)
def test_complex_where_one_number_does_not_say_it(f: Function, at: Any, mode: str) -> None:
    with pytest.raises(OutputError, match="is not one number for each pair of elements"):
        ta.jacobian(f, mode=mode)(at)


def test_options_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="mode is 'auto', 'forward' or 'reverse', not 'both'"):
        ta.jacobian(np.sin, mode="both")
    with pytest.raises(ValueError, match="at least 1, not 0"):
        ta.jacobian(np.sin, batch_size=0)


def test_a_batch_bounds_what_is_swept_at_once() -> None:
    stacks: list[int] = []

    def pull(ct: Any, out: Any, x: Any) -> Any:
        stacks.append(len(ct))
        return ct

    @ta.custom_rule(pull=pull, stacked=True)
    def watched(x: Any) -> Any:
        return x.copy()

    close(ta.jacobian(watched, mode="reverse", batch_size=2)(np.ones(5)), np.eye(5))
    assert stacks == [2, 2, 1]


# Hessians


def unit(n: int) -> list[Any]:
    return list(np.eye(n))


WAYS: dict[str, Callable[[Function, Any], Any]] = {
    "hessian": lambda f, x: ta.hessian(f)(x),
    "in batches": lambda f, x: ta.hessian(f, batch_size=2)(x),
    "reverse over reverse": lambda f, x: ta.jacobian(ta.grad(f), mode="reverse")(x),
    "forward over reverse": lambda f, x: ta.jacobian(ta.grad(f), mode="forward")(x),
    "reverse over forward": lambda f, x: ta.jacobian(
        ta.jacobian(f, mode="forward"), mode="reverse"
    )(x),
    "forward over forward": lambda f, x: ta.jacobian(
        ta.jacobian(f, mode="forward"), mode="forward"
    )(x),
    "looped pulls": lambda f, x: np.stack([ta.vjp(ta.grad(f), x)[1](e)[0] for e in unit(len(x))]),
    "stacked pulls": lambda f, x: ta.vjp(ta.grad(f), x)[1](np.eye(len(x)))[0],
    "looped pushes": lambda f, x: np.stack(
        [ta.jvp(ta.grad(f), (x,), (e,))[1] for e in unit(len(x))]
    ),
    "gradients of slopes": lambda f, x: np.stack(
        [ta.grad(lambda x, e=e: ta.jvp(f, (x,), (e,))[1])(x) for e in unit(len(x))]
    ),
    "slopes of slopes": lambda f, x: np.array(
        [
            [ta.jvp(lambda x, e=e: ta.jvp(f, (x,), (e,))[1], (x,), (d,))[1] for d in unit(len(x))]
            for e in unit(len(x))
        ]
    ),
    "products": lambda f, x: np.stack([ta.hvp(f, x, e) for e in unit(len(x))]),
    "stacked products": lambda f, x: ta.hvp(f, x, np.eye(len(x))),
}


@pytest.mark.parametrize("name", HESSIANS_OF)
def test_all_ways_of_writing_a_hessian_agree(name: str) -> None:
    f = HESSIANS_OF[name]
    step = 1e-5
    differences = np.stack(
        [(ta.grad(f)(AT + step * e) - ta.grad(f)(AT - step * e)) / (2 * step) for e in unit(4)]
    )
    scale = np.max(np.abs(differences))
    reference = ta.hessian(f)(AT)
    np.testing.assert_allclose(reference, differences, rtol=0, atol=1e-8 * scale)
    for way, hessian in WAYS.items():
        np.testing.assert_allclose(
            hessian(f, AT), reference, rtol=0, atol=1e-12 * scale, err_msg=way
        )
    for batch_size in (None, 1, 3):
        diagonal = ta.hessian_diag(f, AT, batch_size=batch_size)
        np.testing.assert_allclose(diagonal, np.diag(reference), rtol=0, atol=1e-12 * scale)


def test_the_hessian_of_a_tree() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["w"] ** 2) * p["b"][0] ** 3 + p["unused"]

    p: dict[str, Any] = {"w": np.array([1.0, 2.0]), "b": (3.0,), "unused": 1.0}
    h = ta.hessian(f)(p)
    close(h["w"]["w"], 2 * 27 * np.eye(2))
    close(h["w"]["b"][0], 2 * p["w"] * 27)
    close(h["b"][0]["w"], 2 * p["w"] * 27)
    close(h["b"][0]["b"][0], 5 * 18)
    assert h["unused"]["unused"] == 0.0
    diagonal = ta.hessian_diag(f, p)
    close(diagonal["w"], [54.0, 54.0])
    assert diagonal["b"] == (90.0,)
    assert diagonal["unused"] == 0.0
    product = ta.hvp(f, p, {"w": np.array([1.0, 0.0]), "b": (10.0,), "unused": 0.0})
    close(product["w"], [54 + 10 * 54, 10 * 108])
    assert product["b"] == (54 + 900,)


def test_the_hessian_by_two_arguments() -> None:
    (xx, xy), (yx, yy) = ta.hessian(lambda x, y: x**2 * y**3, (0, 1))(2.0, 3.0)
    assert (xx, xy, yx, yy) == (54.0, 108.0, 108.0, 72.0)
    assert ta.hessian(lambda x, y: x**2 * y**3, 1)(2.0, 3.0) == 72.0


def test_hessians_of_linear_and_constant_functions_are_zero() -> None:
    for f in (np.sum, lambda x: 3.0, lambda x: np.sum(x) * 2):
        np.testing.assert_array_equal(ta.hessian(f)(X), np.zeros((3, 3)))
        np.testing.assert_array_equal(ta.hessian_diag(f, X), np.zeros(3))
        np.testing.assert_array_equal(ta.hvp(f, X, X), np.zeros(3))


@pytest.mark.parametrize("batch_size", [0, -1, 1.5])
def test_a_batch_size_that_makes_no_sense(batch_size: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: ta.jacobian(np.sin, batch_size=batch_size)(X),
        lambda: ta.hessian(np.sum, batch_size=batch_size)(X),
        lambda: ta.hessian_diag(np.sum, X, batch_size=batch_size),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="batch_size is a number of unit vectors, at least 1"):
            call()


def test_a_hessian_is_differentiated() -> None:
    third = ta.jacobian(ta.hessian(lambda x: np.sum(x**4)))(X)
    expected = np.zeros((3, 3, 3))
    expected[range(3), range(3), range(3)] = 24 * X
    close(third, expected)
    close(ta.grad(lambda x: np.sum(ta.hessian_diag(lambda y: np.sum(y**4), x)))(X), 24 * X)
    close(ta.grad(lambda x: ta.hvp(lambda y: np.sum(y**4), x, X) @ X)(X), 24 * X * X * X)


def test_a_hessian_of_complex_arguments_is_refused() -> None:
    with pytest.raises(OutputError, match="from complex to complex"):
        ta.hessian(lambda z: np.sum(np.abs(z) ** 2))(X + 0j)
    with pytest.raises(OutputError, match="from complex to complex"):
        ta.hessian_diag(lambda z: np.sum(np.abs(z) ** 2), X + 0j)


def test_what_has_no_hessian() -> None:
    with pytest.raises(OutputError, match=r"returned an array of shape \(3,\)"):
        ta.hessian(np.sin)(X)
    with pytest.raises(OutputError, match=r"returned an array of shape \(3,\)"):
        ta.hvp(np.sin, X, X)
