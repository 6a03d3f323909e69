"""Products of matrices and vectors in native code, beside NumPy's."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native.lowering import thin_products
from tape_ad.rules.maps.matrix_products import times_matrix
from tape_ad.rules.nn.affine import linear, two_linear
from tape_ad.training import blas_threads
from tests.programs.native.running import agree, agree_to_the_bit, natively, same_bits

SHAPES = [
    ((3, 4), (4, 5)),
    ((1, 4), (4, 5)),
    ((3, 1), (1, 5)),
    ((3, 4), (4, 1)),
    ((1, 1), (1, 1)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((1,), (1, 5)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 5)),
    ((40, 30), (30, 50)),
]
DTYPES = ["f8", "f4", "c8", "c16", "i8", "i4", "u1", "?"]


def numbers(shape: Any, dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * 10
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.normal(size=shape)
    if np.dtype(dtype).kind == "u":
        x = np.abs(x)
    return (x > 0) if dtype == "?" else x.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_matmul_gives_numpys_bits(a: Any, b: Any, dtype: str) -> None:
    agree_to_the_bit(np.matmul, numbers(a, dtype), numbers(b, dtype, 1))


@pytest.mark.parametrize(
    "way",
    [
        lambda x: x.mT,
        lambda x: x[..., ::-1],
        lambda x: x[..., ::-1, :],
        lambda x: x[..., ::2, ::2],
        lambda x: np.broadcast_to(x[:1], x.shape),
        lambda x: np.broadcast_to(x[..., :1], x.shape),
        lambda x: np.swapaxes(x, 0, 1),
        lambda x: np.swapaxes(x, 0, 2),
    ],
)
@pytest.mark.parametrize("dtype", ["f8", "c8", "i4"])
def test_matmul_of_any_strides(way: Any, dtype: str) -> None:
    a = way(numbers((6, 6, 6), dtype))
    b = way(numbers((6, 6, 6), dtype, 1))
    agree_to_the_bit(np.matmul, a, numbers((*a.shape[:-2], a.shape[-1], 3), dtype, 2))
    agree_to_the_bit(np.matmul, numbers((*b.shape[:-2], 3, b.shape[-2]), dtype, 2), b)
    agree_to_the_bit(np.matmul, a, b.mT)


def test_matmul_of_a_matrix_with_itself() -> None:
    a = numbers((20, 30), "f8")
    agree_to_the_bit(lambda a: (a @ a.T, a.T @ a), a)


@pytest.mark.parametrize(("a", "b"), [("f4", "f8"), ("i8", "f4"), ("f8", "c8"), ("?", "i2")])
def test_matmul_of_two_dtypes(a: Any, b: Any) -> None:
    x, y = numbers((30, 40), a), numbers((40, 20), b, 1)
    scale = np.abs(x).astype("f8") @ np.abs(y).astype("f8")
    agree(np.matmul, x, y, scale=scale)
    agree(lambda x, y: x @ y.T, x, y.T.copy(), scale=scale)


@pytest.mark.filterwarnings("ignore")
def test_products_with_infinities_and_nan() -> None:
    a, b = numbers((5, 6), "f8"), numbers((6, 7), "f8", 1)
    a[1, 2], a[3, 4], b[2, 5], b[0] = np.inf, np.nan, -np.inf, 0
    agree_to_the_bit(np.matmul, a, b)
    agree_to_the_bit(lambda a, b: a[:, :1] @ b[:1], a, b)


@pytest.mark.filterwarnings("ignore")
def test_a_column_times_a_row_has_no_negative_zeros() -> None:
    column, row = np.array([[-1.0], [2.0], [np.inf]]), np.array([[0.0, -0.0, 3.0]])
    agree_to_the_bit(np.matmul, column, row)
    agree_to_the_bit(np.dot, column, row)


DOTS = [pair for pair in SHAPES if len(pair[0]) == 1 or len(pair[1]) <= 2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "b"), DOTS)
def test_dot(a: Any, b: Any, dtype: str) -> None:
    x, y = numbers(a, dtype), numbers(b, dtype, 1)
    scale = np.dot(np.abs(x).astype("f8"), np.abs(y).astype("f8"))
    agree(np.dot, x, y, scale=scale)


@pytest.mark.parametrize("dtype", DTYPES)
def test_outer(dtype: str) -> None:
    agree_to_the_bit(np.outer, numbers(5, dtype), numbers(7, dtype, 1))
    agree_to_the_bit(np.outer, numbers(5, dtype), numbers(5, dtype, 1)[::-1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_stacks_of_vectors(dtype: str) -> None:
    x, m, y = numbers((3, 4), dtype), numbers((3, 4, 5), dtype, 1), numbers((3, 5), dtype, 2)
    agree_to_the_bit(np.vecdot, x, x[::-1])
    if hasattr(np, "matvec"):
        agree_to_the_bit(np.matvec, m, y)
        agree_to_the_bit(np.vecmat, x, m)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("shape", [(4,), (1, 4), (3, 4), (2, 3, 4)])
def test_affine_functions(shape: Any, dtype: str) -> None:
    x, h = numbers(shape, dtype), numbers((*shape[:-1], 5), dtype, 1)
    w, u, b = numbers((4, 6), dtype, 2), numbers((5, 6), dtype, 3), numbers(6, dtype, 4)
    agree_to_the_bit(linear, x, w, b)
    agree_to_the_bit(two_linear, x, w, h, u, b)
    agree_to_the_bit(lambda x, w, b: np.maximum(linear(x, w, b), 0), x, w, b)
    agree_to_the_bit(lambda x, w, b: linear(x, w.T, b), x, w.T.copy(), b)


def test_affine_functions_of_two_dtypes() -> None:
    x, w, b = numbers((3, 4), "f4"), numbers((4, 6), "f4", 1), numbers((2, 1, 6), "f8", 2)
    agree_to_the_bit(linear, x, w, b)
    agree_to_the_bit(linear, x.astype("f8"), w.astype("f8"), b.astype("f4"))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_products_that_may_only_pick_rows_are_left_to_numpy(dtype: str) -> None:
    rows, matrix = np.eye(5, 30, 3, dtype) * -2, numbers((30, 21), dtype)
    agree_to_the_bit(times_matrix, rows, matrix[:, 0].copy())
    fast = ta.compile(times_matrix, engine="native")
    for _ in range(3):
        found = fast(rows, matrix)
    assert same_bits(found, times_matrix(rows, matrix))
    assert "it may only pick rows" in fast.explain()


@pytest.mark.parametrize("shapes", [((9, 8), (8, 3)), ((9, 8), (8,)), ((8,), (8,))])
def test_rows_that_cannot_all_be_picks_are_multiplied(shapes: Any) -> None:
    agree_to_the_bit(times_matrix, *(numbers(shape, "f8") for shape in shapes))


def test_rows_of_a_product_are_looked_at_in_each_replay() -> None:
    fast = ta.compile(times_matrix, engine="native")
    right = numbers((8, 9), "f8")
    for rows in (np.eye(8), numbers((8, 8), "f8"), np.eye(8)[::-1], np.zeros((8, 8))) * 2:
        assert same_bits(fast(rows, right), times_matrix(rows, right))


@pytest.mark.parametrize("product", [np.dot, np.inner])
def test_a_product_of_two_elements_keeps_its_sign(product: Any) -> None:
    agree_to_the_bit(lambda a, b: product(a * 2, b), np.zeros(1), -np.ones(1))
    agree_to_the_bit(lambda a, b: product(a * 2, b), np.zeros((1, 1)), -np.ones(1))


SMALL_STACKS = [
    ((16, 2, 2), (16, 2, 2)),
    ((20, 1, 3), (3, 4)),
    ((4, 4), (5, 4, 4, 1)),
    ((4, 1, 3, 2), (1, 6, 2, 3)),
    ((40, 2, 3), (3,)),
    ((3,), (17, 3, 4)),
]


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(("a", "b"), SMALL_STACKS)
def test_stacks_of_small_matrices_are_multiplied_term_by_term(a: Any, b: Any, dtype: str) -> None:
    x, y = numbers(a, dtype), numbers(b, dtype, 1)
    scale = np.abs(x).astype("f8") @ np.abs(y).astype("f8")
    agree(np.matmul, x, y, scale=scale)
    whole_x, whole_y = np.round(x), np.round(y)  # which no order of terms rounds
    agree_to_the_bit(np.matmul, whole_x, whole_y)
    agree_to_the_bit(np.matmul, x[..., ::-1], np.zeros_like(y))
    agree_to_the_bit(np.matmul, -np.abs(x), np.zeros_like(y))


COLUMNS_IN_STACKS = [
    ((500, 201), (6, 201, 3)),
    ((500, 201), (2, 3, 201, 2)),
    ((3, 400, 256), (5, 1, 256, 2)),
    ((3, 400, 256), (5, 3, 256, 2)),
    ((1, 500, 201), (6, 201, 1)),
]


@pytest.mark.parametrize("dtype", ["f8", "c8"])
@pytest.mark.parametrize(("a", "b"), COLUMNS_IN_STACKS)
def test_few_columns_in_a_stack_are_multiplied_side_by_side(a: Any, b: Any, dtype: str) -> None:
    x, y = numbers(a, dtype), numbers(b, dtype, 1)
    agree(np.matmul, x, y, scale=np.abs(x).astype("f8") @ np.abs(y).astype("f8"))
    y[1, ..., 5, 0] = np.nan  # which is in one column alone
    (found,), (expected,) = natively(np.matmul, x, y)
    assert np.array_equal(np.isnan(found), np.isnan(expected))


def test_a_matrix_is_read_once_for_all_columns_of_a_stack() -> None:
    fast = ta.compile(np.matmul, engine="native")
    x, y = numbers((500, 201), "f8"), numbers((3, 201, 3), "f8", 1)
    for _ in range(3):
        fast(x, y)
    listing = str(fast.programs[0].lowered)
    assert listing.count("call matmul") == 1
    assert "-> %t1: float64[500,9]" in listing


THIN = {
    "rows": (((40_000, 5), (5, 6)), ["float64[1,33328,5]", "float64[6672,5]"]),
    "columns": (((5, 6), (6, 40_000)), ["float64[1,6,33328]", "float64[6,6672]"]),
    "sums": (((5, 40_000), (40_000, 6)), ["float64[1,5,33328]", "float64[5,6672]"]),
    "all pieces alike": (((31_248, 8), (8, 8)), ["float64[2,15624,8]"]),
    "sums of pieces that are all alike": (((8, 31_248), (31_248, 8)), ["float64[2,8,15624]"]),
}
"""Shapes of operands, and how their pieces are listed."""


@pytest.mark.parametrize("orders", ["CC", "CF", "FC", "FF"])
@pytest.mark.parametrize("axis", THIN)
def test_a_thin_matrix_is_multiplied_in_pieces_where_blas_has_one_thread(
    axis: str, orders: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thin_products, "blas_threads", lambda: 1)
    (a, b), pieces = THIN[axis]
    x = np.asarray(numbers(a, "f8"), order=orders[0])
    y = np.asarray(numbers(b, "f8", 1), order=orders[1])
    x[2, 3] = np.nan
    fast = ta.compile(np.matmul, engine="native")
    fast(x, y)
    listing = str(fast.programs[0].lowered)
    whole = "sums" in axis and orders == "CF"  # its elements are products of lines
    assert listing.count("call matmul") == (1 if whole else len(pieces))
    assert whole or all(piece in listing for piece in pieces)
    for _ in range(2):
        found = fast(x, y)
    np.testing.assert_allclose(found, x @ y, rtol=0, atol=1e-9)  # of sums of 2.5e6


def test_a_product_is_one_call_where_blas_divides_it_among_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thin_products, "blas_threads", lambda: 2)
    fast = ta.compile(np.matmul, engine="native")
    fast(numbers((40_000, 5), "f8"), numbers((5, 6), "f8", 1))
    assert str(fast.programs[0].lowered).count("call matmul") == 1


@pytest.mark.parametrize("n", [1, 2])
def test_the_number_of_threads_of_blas_is_known(n: int) -> None:
    with blas_threads(n):
        assert thin_products.blas_threads() in (n, 0)


def test_stacks_of_small_matrices_with_infinities_and_nan() -> None:
    x, y = np.round(numbers((20, 3, 3), "f8")), np.round(numbers((20, 3, 3), "f8", 1))
    x[3, 1], y[5, :, 2], y[7, 1, 1] = np.inf, -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        agree_to_the_bit(np.matmul, x, y)
