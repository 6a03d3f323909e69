"""Sums of products over named axes in native code, beside NumPy's."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.rules.numpy.einsum import contract
from tests.programs.native.running import agree
from tests.programs.native.test_products import numbers

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
