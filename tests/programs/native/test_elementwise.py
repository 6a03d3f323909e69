"""Functions written as instructions, beside NumPy's: exact ones to the bit, all others closely."""

import itertools
import operator
import zlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tape_ad.programs.engines.native.codegen.elementwise import (
    BY_KIND,
    Bound,
    can_lower,
    lowered,
    operands_of,
)
from tape_ad.programs.engines.native.codegen.integers import known_power
from tape_ad.programs.engines.native.codegen.ir_builder import IRBuilder, VectorValue, cast
from tape_ad.programs.engines.native.codegen.vectors import LIBMVEC, NO_LIBRARY
from tests.programs.native.looping import looped, looped_together
from tests.programs.native.numbers import drawn, units_apart

CODES = "?bBhHiIlLfdFD"
DTYPES = [np.dtype(t) for t in CODES]
WIDER = {"f": np.float64, "d": np.longdouble, "F": np.complex128, "D": np.clongdouble}
LANES = [1, 16]

ROUNDED_FLOATS = {
    *(np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.cbrt, np.hypot, np.power),
    *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2, np.float_power),
    *(np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh, np.logaddexp, np.logaddexp2),
}
ROUNDED: dict[str, set[Any]] = {
    "f": ROUNDED_FLOATS,
    **{kind: set() for kind in "biuc"},
}
"""By the kind of the operands, functions that nobody computes to the last bit."""

CANCELLING = {np.logaddexp, np.logaddexp2}
"""Sums of two terms, the larger operand and a logarithm, of which little may be left. NumPy's own
are off by some units of the larger term too, and ours may be by four more."""

Array = Any


def calls() -> list[tuple[Any, str]]:
    """List each ufunc with the dtypes that there is a formula for."""
    found = []
    for function in dict.fromkeys(itertools.chain(*BY_KIND.values())):
        for types in dict.fromkeys(function.types):
            codes = types.replace("->", "")
            known = set(codes) <= set(CODES)
            if known and can_lower(function, tuple(map(np.dtype, codes)), LIBMVEC):
                found.append((function, codes))
    return found


CALLS = calls()


BY_FUNCTION = {
    function: [types for _, types in rows]
    for function, rows in itertools.groupby(CALLS, key=operator.itemgetter(0))
}


@pytest.mark.parametrize("function", BY_FUNCTION)
@np.errstate(all="ignore")
def test_functions_are_as_those_of_numpy(function: Any) -> None:
    ways = list(itertools.product(BY_FUNCTION[function], LANES))
    loops = looped_together(loop_of(function, *way) for way in ways)
    for (types, lanes), loop in zip(ways, loops, strict=True):
        too_far = units_too_many(function, types, loop)
        assert too_far <= 0, (types, lanes)


def loop_of(function: Any, types: str, lanes: int) -> tuple[Any, list[Any], int]:
    dtypes = [np.dtype(t) for t in types]
    return lambda builder, *args: lowered(builder, function, dtypes, args), dtypes, lanes


def units_too_many(function: Any, types: str, loop: Any) -> float:
    """Say by how many units a loop is further off than it may be: four, or none at all."""
    rng = np.random.default_rng(zlib.crc32(f"{function.__name__}{types}".encode()))
    dtypes = [np.dtype(t) for t in types]
    operands = drawn(dtypes[:-1], rng)
    wanted, got = function(*operands), loop(*operands)
    if function in ROUNDED[dtypes[0].kind]:
        exact = function(*[x.astype(WIDER[x.dtype.char]) for x in operands])
        terms = larger_term(exact, *operands) if function in CANCELLING else None
        numpys = units_apart(wanted, exact, terms) if function in CANCELLING else 0
        return float(np.max(units_apart(got, exact, terms) - numpys)) - 4
    assert wanted.dtype == dtypes[-1]
    return float(np.max(units_apart(got, wanted)))


def larger_term(total: Array, x: Array, y: Array) -> Array:
    """Give the larger one of the two terms of a sum, of which one is the larger operand."""
    term = np.maximum(x, y)
    return np.maximum(np.abs(term), np.abs(total - term)).astype(x.dtype)


def test_there_are_formulas_for_nearly_all_of_numpys_functions_of_elements() -> None:
    loops = {function for function, _ in CALLS}
    every = {
        f for name in dir(np) if isinstance(f := getattr(np, name), np.ufunc) and not f.signature
    }
    assert {f.__name__ for f in every - loops} == {
        *("gcd", "isnat", "lcm", "ldexp", "spacing"),
        *("divmod", "frexp", "modf"),  # which have two results
    }


@pytest.mark.parametrize("given", DTYPES, ids=str)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@np.errstate(all="ignore")
def test_casts_are_as_those_of_numpy(given: Any) -> None:
    ways = list(itertools.product(DTYPES, LANES))
    loops = looped_together(
        (lambda _, lane, wanted=wanted: cast(lane, wanted), [given, wanted], lanes)
        for wanted, lanes in ways
    )
    (drawn_ones,) = drawn([given], np.random.default_rng(7))
    for (wanted, lanes), loop in zip(ways, loops, strict=True):
        x = drawn_ones
        if given.kind in "fc" and wanted == np.uint32:  # there one call of NumPy's has two answers
            x = np.where((x.real > -(2.0**31)) & (x.real < 2.0**32), x, 0).astype(given)
        assert np.max(units_apart(loop(x), x.astype(wanted))) == 0, (wanted, lanes)


@pytest.mark.parametrize("lanes", [2, 4, 8, 32])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@np.errstate(all="ignore")
def test_any_number_of_lanes_is_made_of_registers(dtype: Any, lanes: int) -> None:
    dtypes = [np.dtype(dtype)] * 3
    x, y = drawn(dtypes[:-1], np.random.default_rng(lanes))
    loop = looped(lambda builder, *args: lowered(builder, np.arctan2, dtypes, args), dtypes, lanes)
    assert (
        np.max(
            units_apart(loop(x, y), np.arctan2(*(z.astype(WIDER[z.dtype.char]) for z in (x, y))))
        )
        <= 4
    )


@np.errstate(all="ignore")
def test_a_function_without_a_vector_is_called_for_each_element() -> None:
    dtypes = (np.dtype(float),) * 3
    x, y = drawn(dtypes[:-1], np.random.default_rng(0))

    def formula(builder: IRBuilder, *args: VectorValue) -> VectorValue:
        builder.library = NO_LIBRARY
        return lowered(builder, np.hypot, dtypes, args)

    assert np.max(units_apart(looped(formula, dtypes, 8)(x, y), np.hypot(x, y))) <= 1
    assert can_lower(np.hypot, dtypes, NO_LIBRARY)
    assert not can_lower(np.hypot, dtypes, NO_LIBRARY, lanes=8)
    assert can_lower(np.fmod, dtypes, NO_LIBRARY, lanes=8)


@pytest.mark.parametrize("dtypes", ["lL?", "Ll?"])
@pytest.mark.parametrize(
    "function", [np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal]
)
def test_integers_with_and_without_sign_are_compared(function: Any, dtypes: str) -> None:
    kinds = [np.dtype(t) for t in dtypes]
    x, y = drawn(kinds[:-1], np.random.default_rng(0))
    loop = looped(lambda builder, *args: lowered(builder, function, kinds, args), kinds, 8)
    assert np.array_equal(loop(x, y), function(x, y))


@pytest.mark.parametrize("exponent", [-64, -3, -2, -1, 0, 0.5, 1, 2, 3, 4, 5, 31, 65, 2.5])
@np.errstate(all="ignore")
def test_powers_by_a_number_are_as_numpys(exponent: float) -> None:
    dtype = np.dtype(float)
    (x,) = drawn([dtype], np.random.default_rng(0))
    loop = looped(
        lambda builder, x: lowered(builder, operator.pow, [dtype] * 3, [x, x.like(exponent)]),
        [dtype, dtype],
        8,
    )
    exact = exponent in (-1, 0, 0.5, 1, 2)
    found, expected = loop(x), x**exponent
    assert np.max(units_apart(found, expected)) <= (
        2 if exponent == 3 else 3 if exponent == 4 else 1 - exact
    )
    assert np.array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind in "iu"], ids=str)
def test_integers_are_raised_to_a_number(dtype: np.dtype[Any]) -> None:
    def power(exponent: int) -> Any:
        return lambda builder, x: lowered(builder, np.power, [dtype] * 3, [x, x.like(exponent)])

    exponents = [0, 1, 2, 3, 7, 10, 63]
    (x,) = drawn([dtype], np.random.default_rng(0))
    loops = looped_together((power(exponent), [dtype, dtype], 8) for exponent in exponents)
    for exponent, loop in zip(exponents, loops, strict=True):
        assert np.array_equal(loop(x), np.power(x, exponent)), exponent
        assert can_lower(Bound(known_power, (exponent,)), (dtype,) * 2, LIBMVEC)


def test_what_numpy_would_raise_for_is_not_written() -> None:
    dtypes = (np.dtype(np.int64),) * 3
    assert not can_lower(np.power, dtypes, LIBMVEC)
    assert not can_lower(Bound(known_power, (-1,)), dtypes[1:], LIBMVEC)
    assert not can_lower(np.subtract, (np.dtype(bool),) * 3, LIBMVEC)


@pytest.mark.parametrize("function", [np.add.reduce, np.linalg.norm, np.matmul, operator.matmul])
def test_other_functions_are_not_written(function: Any) -> None:
    assert not can_lower(function, (np.dtype(float),) * 3, LIBMVEC)
    assert operands_of(function) is None


@pytest.mark.parametrize("dtype", [">f8", np.float16, np.longdouble, object, "S3"])
def test_other_dtypes_are_not_written(dtype: Any) -> None:
    assert not can_lower(np.add, (np.dtype(dtype),) * 3, LIBMVEC)


@pytest.mark.parametrize("function", [np.maximum, np.minimum])
@pytest.mark.parametrize("number", [0.0, -0.0, 1.5, np.inf, np.nan])
@pytest.mark.parametrize("first", [True, False])
def test_extrema_beside_a_number_are_as_numpys(function: Any, number: float, first: bool) -> None:
    dtype = np.dtype(float)
    (x,) = drawn([dtype], np.random.default_rng(0))

    def formula(builder: IRBuilder, x: VectorValue) -> VectorValue:
        args = [x.like(number), x] if first else [x, x.like(number)]
        return lowered(builder, function, [dtype] * 3, args)

    wanted = function(number, x) if first else function(x, number)
    assert np.max(units_apart(looped(formula, [dtype, dtype], 8)(x), wanted)) == 0
