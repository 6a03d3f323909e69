"""Sums of products over named axes in native code, beside NumPy's."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tape_ad as ta
from tape_ad.rules.numpy.einsum import contract
from tests.programs.native.running import agree, leaves
from tests.programs.native.test_products import numbers
from tests.sampling import some

SIZES = {"i": 5, "j": 6, "k": 7, "l": 4, "b": 3}
ONE = ["i->i", "ii->i", "ij->ji", "ij->", "ij->j", "iij->ij", "ii->"]
TWO = [
    "ij,jk->ik",
    "ij,jk->ki",
    "ji,jk->ik",
    "ij,kj->ik",
    "bij,bjk->bik",
    "ibj,jbk->kbi",
    "ij,ij->",
    "ij,ij->ij",
    "ij,ij->i",
    "i,j->ij",
    "i,i->",
    "ij,j->i",
    "j,ij->i",
    "ijk,jkl->il",
    "ijk,kjl->li",
    "ijk,l->il",
    "bijk,bklj->bil",
    "ij,kl->ijkl",
    "iij,jk->ik",
]


def operands(subscripts: str, dtype: str, times: int = 1) -> Any:
    terms = subscripts.split("->", maxsplit=1)[0].split(",")
    shapes = [tuple(SIZES[name] * times for name in term) for term in terms]
    return [numbers(shape, dtype, seed) for seed, shape in enumerate(shapes)]


@pytest.mark.parametrize("dtype", ["f8", "c8", "i4"])
@pytest.mark.parametrize("subscripts", [*ONE, *TWO, "ij,jk,kl->il"])
def test_einsum(subscripts: str, dtype: str) -> None:
    arrays = operands(subscripts, dtype)
    scale = np.einsum(subscripts, *(np.abs(x).astype("f8") for x in arrays))
    agree(lambda *arrays: 1 * np.einsum(subscripts, *arrays), *arrays, units=16, scale=scale)


@pytest.mark.parametrize("subscripts", TWO)
def test_larger_contractions(subscripts: str) -> None:
    arrays = operands(subscripts, "f4", 1 if len(subscripts) > 10 else 3)
    given, _, output = subscripts.partition("->")
    terms = tuple(given.split(","))
    scale = np.einsum(subscripts, *(np.abs(x).astype("f8") for x in arrays))

    def contracted(*arrays: Any) -> Any:
        turned = [x[..., ::-1] for x in arrays]
        return contract(*turned, inputs=terms, output=output)

    scale = np.einsum(subscripts, *(np.abs(x[..., ::-1]).astype("f8") for x in arrays))
    agree(contracted, *arrays, units=16, scale=scale)


def test_axes_of_one_element_are_stretched() -> None:
    x, y = numbers((5, 1), "f8"), numbers((6, 7), "f8", 1)
    agree(lambda x, y: np.einsum("ij,jk->ik", x, y), x, y, scale=1e3)
    agree(lambda x, y: contract(x, y, inputs=("ij", "jk"), output="ik"), x, y, scale=1e3)


@pytest.mark.parametrize("axes", [1, 2, ([1], [2]), ([0, 1], [1, 0]), ((2, 0), (1, 2)), 0])
def test_tensordot(axes: Any) -> None:
    x = numbers((4, 4, 4), "f8")
    y = numbers((4, 4, 4), "f8", 1)
    scale = np.tensordot(np.abs(x), np.abs(y), axes)
    agree(lambda x, y: np.tensordot(x, y, axes), x, y, units=16, scale=scale)


@pytest.mark.parametrize(("a", "b"), [((4,), (4,)), ((3, 4), (4,)), ((3, 4), (5, 2, 4))])
def test_inner(a: Any, b: Any) -> None:
    agree(np.inner, numbers(a, "f8"), numbers(b, "f8", 1), scale=1e4)


def test_parts_of_an_array_are_written_in_one_run() -> None:
    def joined(x: Any) -> Any:
        ends = x[:3] * 2
        return np.concatenate([ends, np.sort(x)[:3], ends + 1])  # NumPy sorts in between

    fast = ta.compile(joined, engine="native")
    for seed in range(4):
        x = numbers(5, "f8", seed)
        assert np.array_equal(fast(x), joined(x))


def test_parts_without_elements() -> None:
    def changed(x: Any, y: Any) -> Any:
        z = x * 2
        z[1:1] = y
        return z

    fast = ta.compile(changed, engine="native")
    x, y = numbers((3, 4), "f8"), numbers(4, "f8", 1)
    for _ in range(4):
        assert np.array_equal(fast(x, y), changed(x, y))


LENGTHS = [(20, 3), (20, 1), (20, 20), (5, 4), (200, 70), (70, 64), (300, 13)]
WINDOWED: dict[str, Any] = {
    "by a kernel": lambda x, k: sliding_window_view(x, len(k)) @ k,
    "kernel first": lambda x, k: k @ sliding_window_view(x, len(k)).T,
    "einsum": lambda x, k: np.einsum("ij,j->i", sliding_window_view(x, len(k)), k),
    "by several kernels": lambda x, k: (
        sliding_window_view(x, len(k)) @ np.stack([k, 2 * k, -k], axis=1)
    ),
    "sums and extremes": lambda x, k: (
        np.sum(sliding_window_view(x, len(k)), -1) * np.max(sliding_window_view(x, len(k)), -1)
    ),
    "in two dimensions": lambda x, k: np.einsum(
        "ijkl,kl->ij", sliding_window_view(np.outer(x, x), (len(k), 2)), np.stack([k, -k], axis=1)
    ),
}


LAID_OUT: dict[str, Any] = {
    "as it is": lambda x: x,
    "reversed": lambda x: x[::-1],
    "with gaps": lambda x: np.repeat(x, 2)[::2],
}


@pytest.mark.parametrize(
    ("name", "laid_out", "dtype"), some(itertools.product(WINDOWED, LAID_OUT, ["f8", "f4"]), 3)
)
def test_sliding_windows_and_their_pulls(name: str, laid_out: str, dtype: str) -> None:
    function, view = WINDOWED[name], LAID_OUT[laid_out]
    for size, count in LENGTHS[: 3 if function is WINDOWED["in two dimensions"] else None]:
        x, k = view(numbers((size,), dtype)), numbers((count,), dtype, 1)
        total = ta.value_and_grad(lambda x, k: np.sum(np.sin(function(x, k))), argnums=(0, 1))
        fast = ta.compile(total, engine="native")
        for _ in range(3):
            found, expected = leaves(fast(x, k)), leaves(total(x, k))
        for one, other in zip(found, expected, strict=True):
            near = 1e-11 if dtype == "f8" else 5e-3
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, near, near * (1 + np.abs(other).max()))


def test_windows_of_what_is_written_over() -> None:
    def changed(x: Any, k: Any) -> Any:
        y = x * 2
        before = sliding_window_view(y, 3) @ k
        y[2] = 5.0
        behind = sliding_window_view(y, 3) @ k
        y[1:3] += before[:2]
        return before + behind + sliding_window_view(y, 3)[:, 0]

    agree(changed, numbers((9,), "f8"), numbers((3,), "f8", 1), units=64)
