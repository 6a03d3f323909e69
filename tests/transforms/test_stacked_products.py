"""A stack of seeds through a product of vectors: one matrix product, and the same numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.rules.maps import MatmulLeft, MatmulRight, matrix_products
from tape_ad.rules.maps.matrix_products import picked

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 5))
LEFTS, RIGHTS = RNG.normal(size=(2, 6, 4, 3)), RNG.normal(size=(2, 6, 3, 5))
X = np.array([0.4, -0.7, 1.1])

Function = Callable[[Any], Any]

PROGRAMS: dict[str, Function] = {
    "matrix @ x": lambda x: A @ x,
    "x @ matrix": lambda x: x @ B,
    "stack of matrices @ x": lambda x: LEFTS @ x,
    "x @ stack of matrices": lambda x: x @ RIGHTS,
    "vector @ x": lambda x: B[:, 0] @ x,
    "matrix @ column": lambda x: A @ x[:, None],
    "row @ matrix": lambda x: x[None] @ B,
    "matrix @ two columns": lambda x: A @ np.stack([x, x * x], axis=1),
    "two rows @ matrix": lambda x: np.stack([x, x * x]) @ B,
    "stack of matrices @ column": lambda x: LEFTS @ x[:, None],
    "stack of matrices @ columns": lambda x: LEFTS @ (x * np.ones((6, 2, 3))).mT,
    "rows @ vector": lambda x: (x * A) @ B[:, 0],
    "stack of rows @ vector": lambda x: (x * LEFTS) @ B[:, 0],
    "stack of rows @ matrix": lambda x: (x * LEFTS) @ B,
    "vector @ rows": lambda x: A[:, 0] @ (x * A),
    "both": lambda x: (x * A) @ (x[:, None] * B),
    "dot": lambda x: np.dot(A, x),
    "outer": lambda x: np.outer(x, x),
    "vecdot": lambda x: np.vecdot(A, x),
    "einsum": lambda x: np.einsum("ij,j->i", A, x),
    "no element": lambda x: np.zeros((0, 3)) @ x,
}


@pytest.mark.parametrize("at", [X, X + 1j * X[::-1]], ids=["real", "complex"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_stack_is_swept_as_its_entries_are(name: str, at: Any) -> None:
    f = PROGRAMS[name]
    out, pull = ta.vjp(f, at)
    cts = RNG.normal(size=(2, 4, *out.shape)) + (1j if np.iscomplexobj(out) else 0)
    ts = RNG.normal(size=(2, 4, *at.shape)) + (1j if np.iscomplexobj(at) else 0)
    pulled, pushed = pull(cts)[0], ta.jvp(f, (at,), (ts,))[1]
    for i in np.ndindex(2, 4):
        np.testing.assert_allclose(pulled[i], pull(cts[i])[0], rtol=1e-12, atol=1e-14)
        one = ta.jvp(f, (at,), (ts[i],))[1]
        np.testing.assert_allclose(pushed[i], one, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives_with_stacks_in_stacks(name: str) -> None:
    f = PROGRAMS[name]
    twice = ta.jacobian(ta.jacobian(lambda x: np.sum(np.sin(f(x)))))(X)
    step = 1e-6
    ahead, behind = (
        [ta.grad(lambda x: np.sum(np.sin(f(x))))(X + sign * step * e) for e in np.eye(3)]
        for sign in (1, -1)
    )
    np.testing.assert_allclose(twice, (np.array(ahead) - behind) / 2 / step, atol=1e-6)


class CountingNumPy:
    """NumPy, with the shapes of the stacks of matrices that it multiplies."""

    def __init__(self) -> None:
        self.stacks: list[tuple[int, ...]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def matmul(self, a: Any, b: Any) -> Any:
        product = np.matmul(a, b)
        self.stacks.append(product.shape[: max(product.ndim - 2, 0)])
        return product


@pytest.mark.parametrize("linear", [MatmulRight(A, 1), MatmulLeft(A.T, 1)], ids=["right", "left"])
@pytest.mark.parametrize("stack", [(7,), (2, 7)], ids=str)
def test_a_stack_of_vectors_is_one_product(
    linear: Any, stack: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = CountingNumPy()
    monkeypatch.setattr(matrix_products, "np", counting)
    linear.push(np.ones((*stack, 3)))
    linear.pull(np.ones((*stack, 4)))
    assert counting.stacks == [(), ()]


@pytest.mark.parametrize("n", [8, 64])
def test_a_stack_through_many_matrices_is_one_product_for_each_and_one_back(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = CountingNumPy()
    monkeypatch.setattr(matrix_products, "np", counting)
    linear = MatmulLeft(RIGHTS, 1)
    linear.push(np.ones((n, 1, 1, 3)))
    linear.pull(np.ones((n, 2, 6, 5)))
    assert counting.stacks == [(2, 6), ()]


# Rows of one element

RIGHT = RNG.normal(size=(80, 90))
EYE = np.eye(80)
LATE = EYE.copy()
LATE[5, 7] = 2.0
LEFT_OUT = EYE.copy()
LEFT_OUT[[3, 0]] = 0.0
BAD_ROW = EYE.copy()
BAD_ROW[4, 4] = np.nan

FOUND = {
    "all unit vectors": EYE,
    "some of them": EYE[20:70],
    "the last of them": EYE[30:],
    "multiples": EYE * RNG.normal(size=80),
    "in another order": EYE[RNG.permutation(80)],
    "one of them again and again": np.tile(EYE[3], (80, 1)),
    "zeros among them": LEFT_OUT,
    "nothing but zeros": np.zeros((80, 80)),
    "complex": EYE * 1j,
    "nan": BAD_ROW,
}
LEFT_ALONE = {
    "two in the first row": EYE + np.eye(80, k=1),
    "two in another row": LATE,
    "two in a row, none in another": LATE * (np.arange(80) != 3)[:, None],
}


@pytest.mark.parametrize("name", FOUND)
def test_rows_of_one_element_pick_rows(name: str) -> None:
    rows = FOUND[name]
    got = picked(rows, RIGHT)
    assert got is not None
    finite = np.isfinite(rows).all(axis=1)
    np.testing.assert_array_equal(got[finite], rows[finite] @ RIGHT)
    assert np.isnan(got[~finite]).all()


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_rows_are_multiplied(name: str) -> None:
    assert picked(LEFT_ALONE[name], RIGHT) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_multiplied_with_zeros_too(bad: float) -> None:
    held = RIGHT.copy()
    held[2, 5] = bad
    with np.errstate(invalid="ignore"):
        got = MatmulLeft(held, 1).push(EYE)
        np.testing.assert_array_equal(got, EYE @ held)


def test_unit_vectors_are_not_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = CountingNumPy()
    monkeypatch.setattr(matrix_products, "np", counting)
    got = ta.jacobian(lambda x: np.tanh(RIGHT.T @ x), mode="reverse")(np.ones(80))
    assert counting.stacks == []
    t = np.tanh(RIGHT.T @ np.ones(80))
    np.testing.assert_allclose(got, (1 - t * t)[:, None] * RIGHT.T, rtol=1e-14)
