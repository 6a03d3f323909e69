"""LAPACK's functions and Fourier transforms in native code, beside NumPy's."""

import itertools
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - whose routines factorise

import tape_ad as ta
import tape_ad.scipy as tsp
from tape_ad.programs.engines.native.lowering.generalized import cores_of
from tests.programs.native.running import agree_to_the_bit, leaves, natively, same_bits
from tests.sampling import some

Array = Any


def numbers(shape: Any, dtype: str = "f8", seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * 3
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def positive(shape: Any, dtype: str = "f8") -> Array:
    x = numbers(shape, dtype)
    return (x @ np.conj(x.mT) + 4 * np.eye(shape[-1])).astype(dtype)


OF_SQUARE: dict[str, Callable[[Array], Any]] = {
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "slogdet": np.linalg.slogdet,
    "eigh": np.linalg.eigh,
    "eigh of the upper triangle": lambda x: np.linalg.eigh(x, "U"),
    "eigvalsh": np.linalg.eigvalsh,
    "solve": lambda x: np.linalg.solve(x, x[..., :2]),
    "solve for a vector": lambda x: np.linalg.solve(x, x[(0,) * (x.ndim - 2)][0]),
    "cholesky": lambda x: np.linalg.cholesky(x @ np.conj(x.mT)),
}
OF_ANY: dict[str, Callable[[Array], Any]] = {
    "svd": np.linalg.svd,
    "svd of as many vectors": lambda x: np.linalg.svd(x, full_matrices=False),
    "singular values": lambda x: np.linalg.svd(x, compute_uv=False),
    "svdvals": np.linalg.svdvals,
    "qr": np.linalg.qr,
    "complete qr": lambda x: np.linalg.qr(x, mode="complete"),
    "r": lambda x: np.linalg.qr(x, mode="r"),
}
VIEWS: dict[str, Callable[[Array], Array]] = {
    "whole": lambda x: x,
    "transposed": lambda x: x.mT,
    "in Fortran's order": np.asfortranarray,
    "backwards": lambda x: x[..., ::-1, ::-1],
    "with gaps": lambda x: np.repeat(np.repeat(x, 2, -1), 3, -2)[..., ::3, ::2],
    "repeated": lambda x: np.broadcast_to(x, (3, *x.shape)),
    "swapped stack": lambda x: np.moveaxis(np.stack([x, x + 1]), 0, -3),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i4"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5, 5)])
@pytest.mark.parametrize("function", OF_SQUARE.values(), ids=OF_SQUARE)
def test_square_matrices_have_numpys_bits(function: Any, shape: Any, dtype: str) -> None:
    agree_to_the_bit(function, numbers(shape, dtype) if dtype != "i4" else positive(shape, "i4"))


@pytest.mark.parametrize("dtype", ["f8", "c8"])
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (1, 3), (2, 3, 4, 2), (2, 2, 4)])
@pytest.mark.parametrize("function", OF_ANY.values(), ids=OF_ANY)
def test_other_matrices_have_numpys_bits(function: Any, shape: Any, dtype: str) -> None:
    agree_to_the_bit(function, numbers(shape, dtype))


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_matrices_may_lie_in_any_way(view: Any) -> None:
    def all_at_once(x: Array) -> Any:
        given = (*OF_SQUARE.items(), *OF_ANY.items())
        return [each(x) for name, each in given if "vector" not in name]

    agree_to_the_bit(all_at_once, view(positive((2, 4, 4))))


@pytest.mark.parametrize(
    ("a", "b"), [((4, 4), (3, 4, 2)), ((3, 4, 4), (4, 2)), ((2, 1, 4, 4), (3, 4, 2))]
)
def test_stacks_of_equations_are_broadcast(a: Any, b: Any) -> None:
    agree_to_the_bit(np.linalg.solve, positive(a), numbers(b, "f8", 1))


def test_stacks_that_do_not_lie_in_a_row_are_copied() -> None:
    x = np.swapaxes(positive((20, 12, 4, 4)), 0, 1)[::2, ::3]
    agree_to_the_bit(lambda x: np.swapaxes(np.linalg.inv(x), 0, 1), np.repeat(x, 11, 0))
    agree_to_the_bit(np.linalg.solve, positive((40, 1, 4, 4)), numbers((1, 50, 4, 2)))


@pytest.mark.parametrize(
    ("name", "dtype", "stack"),
    some(itertools.product(VIEWS, ["f8", "f4", "i4"], [(), (1,), (70,), (7, 3)]), 3),
)
def test_matrices_of_few_rows_are_eliminated(name: str, dtype: str, stack: Any) -> None:
    view = VIEWS[name]

    def all_of_them(x: Array) -> Any:
        b, vector = x[..., ::-1, :1], x[(0,) * (x.ndim - 2)][0]
        solutions = np.linalg.solve(x, b), np.linalg.solve(x, vector)
        return np.linalg.det(x), *np.linalg.slogdet(x), np.linalg.inv(x), *solutions

    for rows in (1, 2, 3):
        x = view(numbers((*stack, rows, rows), dtype) + 9 * np.tri(rows, dtype=dtype))
        for found, expected in zip(*natively(all_of_them, x), strict=True):
            assert found.dtype == expected.dtype
            near = 1e-5 if found.dtype == np.float32 else 1e-12
            np.testing.assert_allclose(found, expected, near, near * np.abs(expected).max())


@pytest.mark.parametrize("columns", [(2,), (2, 1), (3, 1, 2, 3)])
def test_few_rows_meet_a_longer_stack_of_right_sides(columns: Any) -> None:
    a = numbers((4, 2, 2)) + 9 * np.eye(2)
    for x in (a, a[:1], a[0]):
        np.testing.assert_allclose(*natively(np.linalg.solve, x, numbers(columns)), rtol=1e-12)


def test_no_matrices_at_all() -> None:
    functions: Any = (np.linalg.det, np.linalg.slogdet, np.linalg.inv)
    for function in functions:
        fast = ta.compile(function, engine="native")
        found = [fast(np.ones((0, 2, 2))) for _ in range(3)][-1]
        for one, other in zip(leaves(found), leaves(function(np.ones((0, 2, 2)))), strict=True):
            assert same_bits(one, other)


SPECIAL = [
    np.zeros((2, 2)),
    np.ones((3, 3)),
    np.arange(9.0).reshape(3, 3),
    np.array([[0.0, 1.0], [0.0, 2.0]]),
    np.array([[1.0, 2.0], [2.0, 4.0]]),
    np.array([[0.0, 1.0], [1.0, 0.0]]),
    np.array([[np.nan, 0.0], [0.0, 0.0]]),
    np.array([[0.0, np.nan], [0.0, 1.0]]),
    np.array([[np.inf, 1.0], [1.0, 1.0]]),
    np.diag([1e200, 1e200]),
    np.diag([1e-200, 1e-200]),
    np.diag([1e-200, 1e-200, 1e300]),
    np.diag([1.0, 1e-40]),
    np.eye(3)[[1, 2, 0]],
    np.eye(3)[[1, 0, 2]],
]


@pytest.mark.filterwarnings("ignore:(invalid|overflow|divide):RuntimeWarning")
@pytest.mark.parametrize("a", SPECIAL, ids=range(len(SPECIAL)))
def test_matrices_that_might_be_singular_are_numpys(a: Array) -> None:
    for x in (a, np.stack([a, np.eye(len(a))])):
        functions: Any = (np.linalg.det, np.linalg.slogdet, np.linalg.inv)
        for function in functions:
            fast = ta.compile(function, engine="native")
            for _ in range(2):
                fast(np.broadcast_to(np.eye(len(a)), x.shape).copy())
            try:
                expected = function(x)
            except np.linalg.LinAlgError:
                with pytest.raises(np.linalg.LinAlgError):
                    fast(x)
            else:
                for one, other in zip(leaves(fast(x)), leaves(expected), strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("b", [(6,), (6, 3), (6, 1)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_least_squares_have_numpys_bits(dtype: str, b: Any) -> None:
    agree_to_the_bit(np.linalg.lstsq, numbers((6, 3), dtype), numbers(b, dtype, 1))
    agree_to_the_bit(lambda a, b: np.linalg.lstsq(a, b, 1e-3), numbers((6, 3), dtype), numbers(b))


def test_least_squares_of_another_rank_are_numpys() -> None:
    fast = ta.compile(lambda a, b: np.linalg.lstsq(a, b)[0], engine="native")
    a, b = numbers((6, 3)), numbers(6)
    for _ in range(3):
        fast(a, b)
    a[:, 1] = 2 * a[:, 0]
    assert same_bits(fast(a, b), np.linalg.lstsq(a, b)[0])


LENGTHS = [1, 2, 7, 16, 30, 101]
TRANSFORMS: dict[str, Any] = {
    name: getattr(np.fft, name)
    for name in ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "rfft2", "irfft2")
} | {name: getattr(np.fft, name) for name in ("fftn", "ifftn", "rfftn", "irfftn")}


@pytest.mark.parametrize("norm", [None, "ortho", "forward", "backward"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_have_numpys_bits(name: str, norm: Any) -> None:
    transform = TRANSFORMS[name]
    axes = [{}, {"axes": (0, 2)}, {"s": (5, 7), "axes": (1, 0)}]
    axis = [{}, {"axis": 0}, {"n": 5, "axis": 1}, {"n": 12}]
    options = axes if name.endswith(("2", "n")) else axis
    for dtype in ("f8", "f4", "c16", "c8", "i2", "i8", "?"):
        x = numbers((4, 6, 8), dtype)
        if dtype[0] == "c" and name.startswith("r"):
            continue  # which is an error
        agree_to_the_bit(lambda x: [transform(x, norm=norm, **each) for each in options], x)


@pytest.mark.parametrize("length", LENGTHS)
def test_transforms_of_any_length(length: int) -> None:
    def both(x: Array, z: Array) -> Any:
        return np.fft.rfft(x), np.fft.irfft(z), np.fft.fft(z), np.fft.ifft(x, length + 3)

    agree_to_the_bit(both, numbers((3, length)), numbers((3, length + 1), "c16"))


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_what_is_transformed_may_lie_in_any_way(view: Any) -> None:
    def several(x: Array) -> Any:
        return np.fft.fft(x), np.fft.rfft(x, axis=-2), np.fft.ifft2(x), np.fft.irfft(x, axis=0)

    agree_to_the_bit(several, view(numbers((4, 6))))
    agree_to_the_bit(lambda x: np.fft.fft(np.moveaxis(x, 0, -1)), view(numbers((3, 4), "c16")))


CROWDED: dict[str, tuple[tuple[int, ...], Callable[[Array], Array]]] = {
    "whole": ((64, 256), lambda x: x),
    "a part of which fills no panels": ((71, 512), lambda x: x[1:, 3:40]),
    "backwards": ((64, 256), lambda x: x[::-1, ::-1]),
    "a stack": ((3, 66, 256), lambda x: x),
    "every other one": ((64, 512), lambda x: x[:, ::2]),
}


@pytest.mark.parametrize("name", CROWDED)
def test_lines_that_would_displace_one_another_are_copied_in_panels(name: str) -> None:
    shape, view = CROWDED[name]

    def several(x: Array) -> Any:
        n = x.shape[-2]
        found = [np.fft.fft(x, axis=-2), np.fft.irfft(x, axis=-2)]
        found += [np.fft.ifft(x, n + 7, -2, "ortho"), np.fft.fft(x, n - 5, -2, "forward")]
        return *found, np.fft.rfft(x.real, axis=-2), np.fft.rfft(x.imag, n - 1, -2)

    x = view(numbers(shape, "c16"))
    agree_to_the_bit(several, x)
    agree_to_the_bit(several, view(numbers(shape, "c8")))
    fast = ta.compile(several)
    fast(x), fast(x)
    text = fast.explain(passes=True)
    for each in ("fft", "ifft", "irfft", "rfft_n_even"):
        assert f"call {each} in panels" in text


def test_lines_in_panels_may_be_of_numbers_that_are_not_finite() -> None:
    x = numbers((64, 256), "c16")
    x[3, 5], x[10, 20] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        agree_to_the_bit(np.fft.fft2, x)


def test_a_rolled_loop_takes_lines_in_panels() -> None:
    def spread(x: Array) -> Array:
        for _ in range(30):
            x = np.fft.ifft(np.fft.fft(x, axis=0) * 0.5, axis=0).real
        return x

    fast = ta.compile(spread, engine="native")
    x = numbers((64, 256))
    found = [fast(x) for _ in range(3)][-1]
    assert same_bits(found, spread(x))
    assert "in panels" in fast.explain(passes=True)


FAILURES: dict[str, tuple[Callable[[Array], Any], Array]] = {
    "inv": (np.linalg.inv, np.ones((3, 3))),
    "solve": (lambda x: np.linalg.solve(x, np.ones(3)), np.ones((3, 3))),
    "cholesky": (np.linalg.cholesky, -np.eye(3)),
    "one of a stack": (np.linalg.inv, np.stack([np.eye(3), np.ones((3, 3)), np.eye(3)])),
    "eigh": (lambda x: np.linalg.eigh(x)[0], np.full((3, 3), np.nan)),
    "svd": (lambda x: np.linalg.svd(x)[1], np.full((3, 3), np.nan)),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("dtype", ["f8", "c8"])
def test_errors_are_numpys(name: str, dtype: str) -> None:
    function, bad = FAILURES[name]
    bad = bad.astype(dtype)
    good = positive(bad.shape, dtype)
    fast = ta.compile(lambda x: (x * 2, function(x + 1)), engine="native", check_every=0)
    for _ in range(3):
        found = fast(good)
    before = bad.copy()
    for _ in range(2):
        try:
            expected = np.asarray(function(bad - 1 + 1))
        except np.linalg.LinAlgError as error:
            with pytest.raises(np.linalg.LinAlgError, match=str(error)):
                fast(bad - 1)
        else:
            assert same_bits(fast(bad - 1)[1], expected)
        assert np.array_equal(bad, before, equal_nan=True)
        assert all(map(same_bits, fast(good), found))


def test_singular_matrices_have_determinants_and_slopes() -> None:
    value_and_slope = ta.compile(ta.value_and_grad(np.linalg.det), engine="native")
    for _ in range(3):
        value_and_slope(positive((3, 3)))
    singular = np.outer([1.0, 2, 3], [3.0, 1, 2]) + np.diag([1.0, 0, 0])
    value, slope = ta.value_and_grad(np.linalg.det)(singular)
    found, slope_found = value_and_slope(singular)
    assert np.allclose(found, value, atol=1e-14)
    assert np.allclose(slope_found, slope, atol=1e-12)


def test_no_warning_is_given_for_what_is_fine() -> None:
    x = positive((3, 3))
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        found, expected = natively(lambda x: np.linalg.inv(x) / np.linalg.det(x), x)
    assert np.allclose(found, expected, rtol=1e-14)


def test_several_threads_may_decompose() -> None:
    fast = ta.compile(lambda x: np.linalg.svd(np.linalg.inv(x)), engine="native", check_every=0)
    arrays = [positive((24, 24)) + k for k in range(8)]
    for _ in range(3):
        fast(arrays[0])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fast, arrays * 8))
    for each, x in zip(found, arrays * 8, strict=True):
        assert all(map(same_bits, each, np.linalg.svd(np.linalg.inv(x))))


def test_without_numpys_loops_it_is_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "tape_ad.programs.engines.native.lowering.generalized"
    monkeypatch.setattr(f"{where}.LAPACK", None)
    monkeypatch.setattr(f"{where}.POCKETFFT", None)
    fast = ta.compile(lambda x: np.linalg.inv(x) * np.fft.rfft(x, 4), engine="native")
    x = positive((3, 3))
    for _ in range(3):
        found = fast(x)
    assert np.allclose(found, np.linalg.inv(x) * np.fft.rfft(x, 4))
    assert "no loop of NumPy's for it" in fast.explain()


def test_the_axes_of_generalized_ufuncs() -> None:
    assert cores_of(np.matmul) == (("n", "k"), ("k", "m"), ("n", "m"))
    assert cores_of(np.vecdot) == (("n",), ("n",), ())


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i8"])
@pytest.mark.parametrize("columns", [(), (1,), (3,)])
def test_triangular_equations_have_scipys_bits(columns: Any, dtype: str) -> None:
    solve = tsp.linalg.solve_triangular
    b = numbers((6, *columns), dtype, 1)

    def several(a: Array, b: Array) -> Any:
        return [
            solve(a, b, trans, lower=lower, unit_diagonal=unit)
            for trans in (0, "T", "C")
            for lower in (False, True)
            for unit in (False, True)
        ]

    for view in (lambda a: a, lambda a: a.T, np.asfortranarray, lambda a: a[::-1, ::-1]):
        agree_to_the_bit(several, view(positive((6, 6), dtype)), b)
    agree_to_the_bit(lambda a, b: solve(a[1:4, 2:5], b[:3]), positive((6, 6), dtype), b)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8"])
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
@pytest.mark.filterwarnings("ignore::tape_ad.errors.BatchWarning")  # SciPy 1.14 takes no stacks
def test_triangular_equations_of_a_batch_are_those_of_each(axes: Any, dtype: str) -> None:
    def several(a: Array, b: Array) -> Any:
        return [solve(a, b, trans, lower=lower) for trans, lower in ((0, False), (1, True))]

    solve = tsp.linalg.solve_triangular
    a, b = positive((5, 4, 4), dtype), numbers((5, 4, 3), dtype, 1)
    a, b = (a if axes[0] == 0 else a[1]), (b if axes[1] == 0 else b[1])
    views: list[Callable[[Array], Array]] = [
        lambda a: a,
        lambda a: a.mT,
        lambda a: a[..., ::-1, ::-1],
    ]
    for view in views:
        fast = ta.compile(ta.batched(several, axes), engine="native")
        for scale in (1, 2, 3, 1):
            found = fast(view(a * scale), b)
        for k in range(5):
            wanted = several(view(a[k] if axes[0] == 0 else a), b[k] if axes[1] == 0 else b)
            for x, y in zip(found, wanted, strict=True):
                assert np.allclose(x[k], y, rtol=20 * np.finfo(x.dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8"])
@pytest.mark.parametrize("columns", [(), (1,), (3,)])
def test_equations_of_cholesky_factors_have_scipys_bits(columns: Any, dtype: str) -> None:
    def several(a: Array, b: Array) -> Any:
        return [tsp.linalg.cho_solve((a, lower), b) for lower in (False, True)]

    b = numbers((6, *columns), dtype, 1)
    for view in (lambda a: a, lambda a: a.T, np.asfortranarray, lambda a: a[::-1, ::-1]):
        agree_to_the_bit(several, view(positive((6, 6), dtype)), b)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("shape", [(12, 12), (5, 12, 12)])
def test_a_cholesky_factor_is_inverted_as_a_triangle(shape: Any, dtype: str) -> None:
    fast = ta.compile(lambda x: np.linalg.inv(np.linalg.cholesky(x)), engine="native")
    x = positive(shape, dtype)
    for scale in (1, 2, 3):
        found = fast(scale * x)
    assert "call trtrs" in str(fast.programs[0].lowered)
    assert found.flags.c_contiguous
    assert np.allclose(found, np.linalg.inv(np.linalg.cholesky(3 * x)), rtol=1e-12, atol=1e-14)
    with pytest.raises(np.linalg.LinAlgError):
        fast(-x)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_errors_of_triangular_equations_are_scipys(bad: float) -> None:
    fast = ta.compile(tsp.linalg.solve_triangular, engine="native", check_every=0)
    a, b = positive((4, 4)), numbers(4)
    for _ in range(3):
        found = fast(a, b)
    wrong = a.copy()
    wrong[2, 2] = bad
    with pytest.raises((np.linalg.LinAlgError, ValueError), match=r"singular|infs or NaNs"):
        fast(wrong, b)
    assert same_bits(fast(a, b), found)


def test_without_scipys_capsules_it_is_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scipy.linalg.cython_lapack.__pyx_capi__", {})
    fast = ta.compile(tsp.linalg.solve_triangular, engine="native")
    a, b, c = positive((12, 12)), numbers(12), numbers((12, 3))
    for _ in range(3):
        found = fast(a, b)
    assert same_bits(found, tsp.linalg.solve_triangular(a, b))
    assert "no routine of SciPy's for it" in fast.explain()
    agree_to_the_bit(several_equations, a, b, c)


def several_equations(a: Array, b: Array, c: Array) -> Any:
    transposed = np.linalg.solve(a.T, c), np.linalg.solve(a.T, c[:, ::-1])
    return np.linalg.solve(a, b), *transposed, np.linalg.inv(a), np.linalg.solve(a, c[:, 0])


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_matrix_of_several_equations_is_factorised_once(view: Any, dtype: str) -> None:
    a = view(positive((12, 12), dtype))
    a = a if a.ndim == 2 else a[(0,) * (a.ndim - 2)]
    b, c = numbers(12, "f8", 1), np.asfortranarray(numbers((12, 3), dtype, 2))
    found, expected = natively(several_equations, a, b, c)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12)
    fast = ta.compile(several_equations, engine="native")
    for _ in range(3):
        fast(a, b, c)
    last = fast.explain(passes=True).partition("dead store elimination:")[2]
    assert last.count("call getrf") == 1
    singular = np.zeros_like(a)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        fast(singular, b, c)
    assert all(map(same_bits, fast(a, b, c), found))


@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_what_factors_of_the_transpose_would_hide_is_numpys(dtype: str) -> None:
    def both(a: Array, b: Array) -> Any:
        return np.linalg.solve(a, b), np.linalg.solve(a.T, b)

    fast = ta.compile(both, engine="native", check_every=0)
    b = numbers((9, 2), dtype, 1)
    for seed in range(3):
        fast(numbers((9, 9), dtype, seed), b)
    assert "call getrf" in fast.explain(passes=True)
    raised = 0
    for seed in range(40):
        a = numbers((9, 9), dtype, seed + 3)
        a[:, 2] = a[:, 5]
        try:
            expected = both(a, b)
        except np.linalg.LinAlgError:
            raised += 1
            with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
                fast(a, b)
        else:
            assert all(map(same_bits, fast(a, b), expected))
    assert raised
    for bad in (np.nan, np.inf):
        for where in range(2):
            wrong = [numbers((9, 9), dtype, 3), b.copy()]
            wrong[where][4, 1] = bad
            for one, other in zip(fast(*wrong), both(*wrong), strict=True):
                assert np.array_equal(one, other, equal_nan=True)


def test_slopes_of_equations_take_the_factors_of_the_solution() -> None:
    def loss(a: Array, b: Array) -> Array:
        return np.sum(np.linalg.solve(a, b) ** 3)

    for matrix in (positive((20, 20)), numbers((20, 20))):
        given = matrix, numbers((20, 2), "f8", 1)
        slopes = ta.grad(loss, argnums=(0, 1))
        fast = ta.compile(slopes, engine="native")
        for _ in range(3):
            found = fast(*given)
        assert "call getrs" in fast.explain(passes=True)
        for one, other in zip(found, slopes(*given), strict=True):
            assert np.allclose(one, other, rtol=1e-9)
