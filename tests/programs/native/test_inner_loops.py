"""NumPy's inner loops, called without NumPy: the same bits as from the ufunc."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import tape_ad as ta
from tape_ad.programs.engines.native.ir import Callee
from tape_ad.programs.engines.native.runtime.compiling import inner_loop

Array = np.ndarray[Any, Any]

COUNT = 100
ADDRESS = ctypes.c_void_p
FUNCTION = ctypes.CFUNCTYPE(None, ADDRESS, ADDRESS, ADDRESS, ADDRESS)


def run(loop: Callee, operands: Sequence[Array], dims: Sequence[int], steps: Sequence[int]) -> None:
    assert isinstance(loop.function, int)
    FUNCTION(loop.function)(
        (ADDRESS * len(operands))(*[operand.ctypes.data for operand in operands]),
        (ctypes.c_ssize_t * len(dims))(*dims),
        (ctypes.c_ssize_t * len(steps))(*steps),
        loop.data,
    )


def found(ufunc: Any, dtypes: Sequence[np.dtype[Any]]) -> Callee:
    loop = inner_loop(ufunc, tuple(dtypes))
    assert loop is not None
    return loop


def drawn(dtype: np.dtype[Any], shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    if dtype.kind in "biu":
        return rng.integers(0, 9, shape).astype(dtype)
    whole = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype.kind == "c" else 0)
    return whole.astype(dtype)


SPECIAL = [
    *(sp.beta, sp.betaln, sp.betainc, sp.boxcox, sp.cosm1, sp.digamma, sp.ellipe),
    *(sp.ellipk, sp.entr, sp.erf, sp.erfc, sp.erfcinv, sp.erfcx, sp.erfi, sp.erfinv),
    *(sp.exp1, sp.exp10, sp.expi, sp.expit, sp.exprel, sp.gamma, sp.gammainc),
    *(sp.gammaincc, sp.gammaln, sp.huber, sp.i0, sp.i0e, sp.i1, sp.i1e, sp.iv, sp.j0),
    *(sp.j1, sp.jv, sp.k0, sp.k1, sp.kl_div, sp.kv, sp.log_expit, sp.log_ndtr, sp.logit),
    *(sp.ndtr, sp.ndtri, sp.poch, sp.pseudo_huber, sp.rel_entr, sp.rgamma, sp.sici),
    *(sp.spence, sp.xlog1py, sp.xlogy, sp.y0, sp.y1, sp.yv),
]
"""Functions that are safe to call with whatever is drawn. Not all of SciPy's are: `mathieu_cem`
crashes at infinity."""
FUNCTIONS = {
    "numpy": [x for x in vars(np).values() if isinstance(x, np.ufunc) and not x.signature],
    "scipy.special": SPECIAL,
}


def numeric(ufuncs: Sequence[np.ufunc]) -> list[tuple[np.ufunc, str]]:
    """List functions with the types that are numbers."""
    return sorted(
        {
            (ufunc, types)
            for ufunc in ufuncs
            for types in ufunc.types
            if not set(types) & set("OSUVMm") and not (ufunc is np.power and types[0] in "bhilq")
        },
        key=lambda row: (row[0].__name__, row[1]),
    )


@pytest.mark.parametrize("stride", [1, -1, 3], ids="stride {}".format)
@pytest.mark.parametrize("module", FUNCTIONS)
def test_every_loop_gives_the_bits_of_its_ufunc(module: str, stride: int) -> None:
    rows = numeric(FUNCTIONS[module])
    assert len(rows) > 100
    for ufunc, types in rows:
        given, wanted = ([np.dtype(char) for char in part] for part in types.split("->"))
        rng = np.random.default_rng(len(types))
        ins = [drawn(dtype, (3 * COUNT,), rng)[::stride][:COUNT] for dtype in given]
        outs = [np.zeros(COUNT, dtype) for dtype in wanted]
        operands = [*ins, *outs]
        loop = found(ufunc, [*given, *wanted])
        run(loop, operands, [COUNT], [operand.strides[0] for operand in operands])
        theirs = [np.zeros(COUNT, dtype) for dtype in wanted]
        with np.errstate(all="ignore"):
            ufunc(*ins, out=tuple(theirs), signature=types)
        np.testing.assert_array_equal(outs, theirs, f"{ufunc} {types}")


@pytest.mark.parametrize("char", "fdFD")
def test_a_product_of_matrices(char: str) -> None:
    dtype, rng = np.dtype(char), np.random.default_rng(0)
    a, b = drawn(dtype, (5, 4, 3), rng), drawn(dtype, (5, 3, 6), rng)
    out = np.zeros((5, 4, 6), dtype)
    steps = [x.strides[0] for x in (a, b, out)] + [s for x in (a, b, out) for s in x.strides[1:]]
    run(found(np.matmul, [dtype] * 3), [a, b, out], [5, 4, 3, 6], steps)
    np.testing.assert_array_equal(out, a @ b)


def test_a_solution_of_equations() -> None:
    rng = np.random.default_rng(0)
    a, b, out = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 1)), np.zeros((2, 3, 1))
    steps = [x.strides[0] for x in (a, b, out)] + [s for x in (a, b, out) for s in x.strides[1:]]
    solve = np.linalg._umath_linalg.solve
    run(found(solve, [np.dtype(float)] * 3), [a, b, out], [2, 3, 1], steps)
    np.testing.assert_array_equal(out, np.linalg.solve(a, b))


@pytest.mark.parametrize("count", [7, 1000])
def test_an_addition_to_the_same_place_is_a_pairwise_sum(count: int) -> None:
    x, total = np.random.default_rng(0).normal(size=count), np.zeros(())
    run(found(np.add, [np.dtype(float)] * 3), [total, x, total], [count], [0, 8, 0])
    assert total == np.add.reduce(x)


def test_two_names_of_one_type_are_one() -> None:
    names = [np.dtype(char) for char in "lqi" if np.dtype(char) == np.int64]
    assert all(inner_loop(np.add, (name,) * 3) for name in names)


REFUSED = [
    (np.add, "OOO"),
    (np.exp, "ii"),
    (np.subtract, "MMm"),
    (np.add, "dd"),
    (np.add, "???d"),
    (np.power, "iii"),
]


@pytest.mark.parametrize(("ufunc", "types"), REFUSED)
def test_what_has_no_loop_of_numbers(ufunc: np.ufunc, types: str) -> None:
    assert inner_loop(ufunc, tuple(map(np.dtype, types))) is None


def test_the_other_byte_order_is_refused() -> None:
    swapped = np.dtype(float).newbyteorder()
    assert inner_loop(np.add, (swapped,) * 3) is None


@pytest.mark.parametrize("function", [np.absolute, np.exp, np.sqrt, np.log, np.square, np.tanh])
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64, np.float64])
def test_fields_of_packed_records_are_not_aligned(function: np.ufunc, dtype: Any) -> None:
    x = np.zeros((7, 9), [("flag", "u1"), ("value", dtype)])["value"]
    x[...] = np.random.default_rng(0).random(x.shape) + (0.5j if x.dtype.kind == "c" else 0.5)
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        found = fast(x)
    np.testing.assert_allclose(found, function(x), rtol=8 * np.finfo(x.dtype).eps)
