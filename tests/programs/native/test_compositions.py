"""Functions of several operations as instructions, beside what they are when they are called.

Where a function itself has lost digits, as it computes in a low precision, it is computed in a
higher one too, and counts as right what is not much further off.
"""

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

import tape_ad as ta

pytest.importorskip("llvmlite")

from tape_ad.programs.engines.native.codegen import floats
from tape_ad.programs.engines.native.codegen.compositions import (
    COMPOSITIONS,
    SCIPY,
    determinant,
    is_index,
    unknown,
)
from tape_ad.programs.engines.native.codegen.elementwise import (
    Bound,
    can_lower,
    lowered,
    operands_of,
)
from tape_ad.programs.engines.native.codegen.integers import known_power
from tape_ad.programs.engines.native.codegen.vectors import LIBMVEC
from tape_ad.rules.maps.elementwise import selected_plainly
from tape_ad.rules.nn import activations, rectifiers
from tape_ad.rules.nn.rectifiers import normal_cdf
from tape_ad.rules.numpy import continued
from tape_ad.rules.numpy.elementwise import slope_in_base, slope_in_exponent
from tape_ad.scipy.special import elementary, gamma_functions
from tests.programs.native.looping import looped
from tests.programs.native.numbers import drawn, units_apart
from tests.programs.native.running import natively

Array = Any
FLOATS = ["f", "d"]
LANES = [1, 16]
WIDER: dict[str, Any] = {"f": np.float64, "d": np.longdouble}

EXACT: list[tuple[Any, tuple[Any, ...], str]] = [
    (activations.relu, (), "f"),
    (activations.relu, (), "d"),
    (rectifiers.leaky_relu, (0.1,), "f"),
    (rectifiers.leaky_relu, (0.1,), "d"),
    (continued.difference, (), "ff"),
    (continued.difference, (), "dd"),
    (continued.ratio, (), "dd"),
    (continued.ratio, (), "FF"),
    (continued.ratio, (), "DD"),
    (continued.unit, (), "dd"),
    (continued.unit, (), "Dd"),
    (continued.unit, (), "Ff"),
    (continued.within, (-1.0, 1.0), "d"),
    (selected_plainly, (), "f?"),
    (selected_plainly, (), "d?"),
    (selected_plainly, (), "F?"),
    (np.where, (), "?dd"),
    (np.where, (), "?ff"),
    (np.where, (), "?DD"),
    (np.where, (), "?bb"),
    (np.where, (), "?LL"),
    (np.where, (), "???"),
    (np.where, (), "ddd"),
    (np.where, (), "bdd"),
    (np.real, (), "f"),
    (np.real, (), "D"),
    (np.imag, (), "D"),
    (np.nan_to_num, (), "f"),
    (np.nan_to_num, (), "d"),
    (np.nan_to_num, (), "D"),
    (np.nan_to_num, (True, 1.5, 2.5, -3.5), "d"),
    (np.round, (), "d"),
    (np.round, (2,), "d"),
    (np.around, (), "f"),
    (np.round, (-1,), "f"),
    (np.isclose, (), "dd"),
    (np.isclose, (0.1, 0.5, True), "ff"),
    (np.isposinf, (), "d"),
    (np.isneginf, (), "d"),
    (np.isreal, (), "d"),
    (np.isreal, (), "D"),
    (np.iscomplex, (), "d"),
    (np.iscomplex, (), "D"),
]
"""Functions, what they are called with beside the operands, and the operands' dtypes."""

CLOSE: list[tuple[Any, tuple[Any, ...]]] = [
    (activations.sigmoid, ()),
    (rectifiers.elu, (1.3,)),
    (rectifiers.selu, ()),
    (rectifiers.silu, ()),
    (rectifiers.softplus, ()),
    (rectifiers.softplus, (2.0, 15.0)),
    (rectifiers.gelu, ("tanh",)),
    (continued.over_square, ()),
    (continued.logistic, (np.e,)),
    (continued.logistic, (2,)),
    (continued.signed_power, (-1.5,)),
    (continued.signed_power, (2.5,)),
    (slope_in_base, ()),
    (slope_in_exponent, ()),
    (np.angle, ()),
    (np.angle, (True,)),
    (np.sinc, ()),
]
"""Functions of floats that are rounded otherwise."""

OF_SCIPY = [
    *(special.erf, special.expit, special.expm1, special.log1p, special.cbrt),
    *(special.xlogy, special.xlog1py),
]
"""Those that SciPy computes well."""


def loop_of(function: Any, types: str, wanted: Any, rest: Any, lanes: int) -> Any:
    dtypes = [*map(np.dtype, types), wanted]
    asked = Bound(function, rest)
    assert can_lower(asked, tuple(dtypes), LIBMVEC)
    return looped(lambda builder, *args: lowered(builder, asked, dtypes, args), dtypes, lanes)


def operands(function: Any, types: str) -> list[Array]:
    """Draw operands; for the derivatives of powers the power comes first."""
    dtypes = list(map(np.dtype, types))
    power = function in {slope_in_base, slope_in_exponent}
    drawn_ones = drawn(dtypes[power:], np.random.default_rng(3))
    return [np.power(*drawn_ones), *drawn_ones] if power else drawn_ones


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize(("function", "rest", "types"), EXACT)
@np.errstate(all="ignore")
def test_choices_are_the_same_to_the_bit(function: Any, rest: Any, types: str, lanes: int) -> None:
    given = operands(function, types)
    wanted = np.asarray(function(*given, *rest))
    got = loop_of(function, types, wanted.dtype, rest, lanes)(*given)
    assert np.max(units_apart(got, wanted)) == 0


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("code", FLOATS)
@pytest.mark.parametrize(("function", "rest"), CLOSE)
@np.errstate(all="ignore")
def test_formulas_lose_no_digits(function: Any, rest: Any, code: str, lanes: int) -> None:
    types = code * (operands_of(function) or 0)
    given = operands(function, types)
    wanted = function(*given, *rest)
    exact = function(*(x.astype(WIDER[code]) for x in given), *rest)
    got = loop_of(function, types, wanted.dtype, rest, lanes)(*given)
    further = units_apart(got, exact) - units_apart(wanted, exact)
    assert np.max(np.fmin(units_apart(got, wanted), further)) <= 4


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("code", FLOATS)
@pytest.mark.parametrize("function", OF_SCIPY)
@np.errstate(all="ignore")
def test_functions_of_scipy_are_close(function: Any, code: str, lanes: int) -> None:
    given = operands(function, code * function.nin)
    got = loop_of(function, code * function.nin, given[0].dtype, (), lanes)(*given)
    assert np.max(units_apart(got, function(*given))) <= 4


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("function", [rectifiers.gelu, normal_cdf])
@np.errstate(all="ignore")
def test_the_normal_distribution_in_single_precision(function: Any, lanes: int) -> None:
    (x,) = drawn([np.dtype(np.float32)], np.random.default_rng(3))
    got, wanted = loop_of(function, "f", x.dtype, (), lanes)(x), function(x)
    exact = function(x.astype(np.float64))
    further = units_apart(got, exact) - units_apart(wanted, exact)
    assert np.max(np.fmin(units_apart(got, wanted), further)) <= 4


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize(
    ("function", "exact"),
    [(special.erfc, mpmath.erfc), (special.erf, mpmath.erf), (special.ndtr, mpmath.ncdf)],
    ids=["erfc", "erf", "ndtr"],
)
def test_tails_are_as_good_as_scipys(function: Any, exact: Any, lanes: int) -> None:
    x = np.linspace(-26, 26, 512)
    got = loop_of(function, "d", x.dtype, (), lanes)(x)
    right = np.array([np.longdouble(mpmath.nstr(exact(mpmath.mpf(each)), 30)) for each in x])
    assert np.max(units_apart(got, right)) <= max(4, np.max(units_apart(function(x), right)))


SPECIAL = np.array(
    [0.0, -0.0, 1, -1, -2, 0.5, -0.5, 3, 1e-30, 1e30, np.inf, np.nan, 25, -7.25, 1e-8, 1e8]
)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    "function",
    [
        gamma_functions.digamma_step,
        elementary.log_beside,
        elementary.log1p_beside,
        elementary.log_ratio,
    ],
)
@np.errstate(all="ignore")
def test_what_partials_of_special_functions_call(function: Any, dtype: str) -> None:
    x, y = np.meshgrid(*[SPECIAL.astype(dtype)] * 2)
    found, expected = natively(function, x, y)
    assert found[0].dtype == expected[0].dtype
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-10 if dtype == "f8" else 1e-5)
    fast = ta.compile(function, engine="native")
    for _ in range(3):
        given = fast(np.arange(1, 5), 3)
    np.testing.assert_allclose(given, function(np.arange(1, 5), 3), rtol=1e-14)


def test_every_composition_is_tested() -> None:
    tested = {row[0] for row in (*EXACT, *CLOSE)} | {
        rectifiers.gelu,
        normal_cdf,
        known_power,
        floats.power_by_one,
        floats.clipped_by_two,
        is_index,  # by out-of-bounds indices of tests/programs/native/test_indexing.py
        determinant,  # both beside LAPACK's
        unknown,
    }
    assert not COMPOSITIONS.keys() - tested
    assert {x.__name__ for x in (*OF_SCIPY, special.erfc, special.ndtr)} == set(SCIPY)


@pytest.mark.parametrize(
    ("function", "types", "rest"),
    [
        (rectifiers.gelu, "DD", ()),
        (special.ndtr, "ff", ()),
        (np.nan_to_num, "dd", (False,)),
        (continued.over_square, "dff", ()),
        (np.where, "?dfd", ()),
        (activations.relu, "DD", ()),
        (activations.relu, "dd", (1, 2, 3)),
        (np.where, "?df", ()),
        (np.frompyfunc(abs, 1, 1), "dd", ()),
    ],
)
def test_what_has_no_formula_is_not_written(function: Any, types: str, rest: Any) -> None:
    dtypes = tuple(np.dtype(t) for t in types)
    assert not can_lower(Bound(function, rest), dtypes, LIBMVEC)


def test_a_function_that_is_named_like_one_of_scipys_is_another_one() -> None:
    namesake = np.frompyfunc(abs, 1, 1)
    assert operands_of(namesake) is None


@pytest.mark.parametrize("exponent", [-1.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0])
@np.errstate(all="ignore")
def test_slopes_of_powers_by_a_number(exponent: float) -> None:
    dtype = np.dtype(float)
    (x,) = drawn([dtype], np.random.default_rng(0))
    out = x**exponent
    dtypes = [dtype] * 4
    loop = looped(
        lambda builder, out, x: lowered(builder, slope_in_base, dtypes, [out, x, x.like(exponent)]),
        [dtype] * 3,
        8,
    )
    exact = exponent * x.astype(np.longdouble) ** (exponent - 1) if exponent else np.zeros(x.shape)
    wanted = slope_in_base(out, x, np.full(x.shape, exponent))
    close = np.fmin(units_apart(loop(out, x), exact), units_apart(loop(out, x), wanted))
    assert np.max(close) <= 4
