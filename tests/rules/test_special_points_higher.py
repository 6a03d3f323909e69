"""Derivatives of first, second and third order where a formula has a hole, a tie or a zero.

A row says of a function what its derivatives are at one point: ``{"xy": 0.5}`` is the derivative
by the first operand and by the second. Each is taken by nested reverse mode, in both orders of the
operands, and by nested forward mode.
"""

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from numpy.testing import assert_allclose

import tape_ad as ta
from tape_ad import nn

Array = Any
Function = Callable[..., Any]

INF, NAN = np.inf, np.nan
PI, EULER, LN2 = math.pi, float(np.euler_gamma), math.log(2)
ROOT_PI = math.sqrt(PI)
ZETA3 = 1.2020569031595942


def by_grad(function: Function, operands: str) -> Function:
    """Differentiate by one operand after another, in reverse mode."""
    return functools.reduce(lambda f, name: ta.grad(f, "xyz".index(name)), operands, function)


def by_jvp(function: Function, operands: str) -> Function:
    """Differentiate by one operand after another, in forward mode."""
    return functools.reduce(lambda f, name: pushed(f, "xyz".index(name)), operands, function)


def pushed(function: Function, position: int) -> Function:
    """Make the function that gives the derivative by one operand."""

    def derivative(*x: Array) -> Array:
        def along(moved: Array) -> Array:
            return function(*x[:position], moved, *x[position + 1 :])

        return ta.jvp(along, (x[position],), (1.0,))[1]

    return derivative


@np.errstate(all="ignore")  # of what is infinite there; the numbers are what is looked at
def in_every_way(function: Function, operands: str, at: tuple[float, ...]) -> list[float]:
    """Compute one derivative by both modes and in both orders."""
    ways = (
        by_grad(function, operands),
        by_grad(function, operands[::-1]),
        by_jvp(function, operands),
    )
    return [float(way(*map(np.float64, at))) for way in ways]


def alone(function: Function) -> Function:
    """Let a function of arrays take one number."""
    return lambda x: function(np.reshape(x, (1,)))[0]


# One operand: the function, the point, and the derivatives of order 1, 2 and 3

SMOOTH = [
    ("exp", np.exp, 0, (1, 1, 1)),
    ("exp", np.exp, -INF, (0, 0, 0)),
    ("expm1", np.expm1, 0, (1, 1, 1)),
    ("log1p", np.log1p, 0, (1, -1, 2)),
    ("sin", np.sin, 0, (1, 0, -1)),
    ("cos", np.cos, 0, (0, -1, 0)),
    ("tan", np.tan, 0, (1, 0, 2)),
    ("arcsin", np.arcsin, 0, (1, 0, 1)),
    ("arccos", np.arccos, 0, (-1, 0, -1)),
    ("arctan", np.arctan, 0, (1, 0, -2)),
    ("arctan", np.arctan, INF, (0, 0, 0)),
    ("arctan", np.arctan, -INF, (0, 0, 0)),
    ("sinh", np.sinh, 0, (1, 0, 1)),
    ("cosh", np.cosh, 0, (0, 1, 0)),
    ("tanh", np.tanh, 0, (1, 0, -2)),
    ("tanh", np.tanh, INF, (0, 0, 0)),
    ("arcsinh", np.arcsinh, 0, (1, 0, -1)),
    ("arcsinh", np.arcsinh, INF, (0, 0, 0)),
    ("arccosh", np.arccosh, INF, (0, 0, 0)),
    ("arctanh", np.arctanh, 0, (1, 0, 2)),
    ("cbrt", np.cbrt, INF, (0, 0, 0)),
    ("square", np.square, 0, (0, 2, 0)),
    ("power 0", lambda x: x ** np.array(0.0), 0, (0, 0, 0)),
    ("power 1", lambda x: x ** np.array(1.0), 0, (1, 0, 0)),
    ("power 2", lambda x: x ** np.array(2.0), 0, (0, 2, 0)),
    ("power 3", lambda x: x ** np.array(3.0), -0.0, (0, 0, 6)),
    ("power 3", lambda x: x ** np.array(3.0), -2, (12, -12, 6)),
    ("power 2 of a number", lambda x: x**2, 0, (0, 2, 0)),
    ("power 3 of a number", lambda x: x**3, 0, (0, 0, 6)),
    ("float_power 2", lambda x: np.float_power(x, np.array(2.0)), 0, (0, 2, 0)),
    ("sinc", np.sinc, 0, (0, -(PI**2) / 3, 0)),
    ("i0", np.i0, 0, (0, 0.5, 0)),
    ("logaddexp with 0", lambda x: np.logaddexp(0.0, x), 0, (0.5, 0.25, 0)),
    ("logaddexp with 0", lambda x: np.logaddexp(0.0, x), 800, (1, 0, 0)),
    ("logaddexp with 0", lambda x: np.logaddexp(0.0, x), -INF, (0, 0, 0)),
    ("logaddexp2 with 0", lambda x: np.logaddexp2(x, 0.0), 0, (0.5, LN2 / 4, 0)),
    ("std of one", np.std, 3, (0, 0, 0)),
    ("sigmoid", nn.sigmoid, 0, (0.25, 0, -0.125)),
    ("sigmoid", nn.sigmoid, -800, (0, 0, 0)),
    ("silu", nn.silu, 0, (0.5, 0.5, 0)),
    ("gelu", nn.gelu, 0, (0.5, 2 / math.sqrt(2 * PI), 0)),
    ("softplus", nn.softplus, 0, (0.5, 0.25, 0)),
    ("huber_loss", alone(lambda x: nn.huber_loss(x, np.zeros(1), "none")), 0, (0, 1, 0)),
    ("huber_loss", alone(lambda x: nn.huber_loss(x, np.zeros(1), "none")), 0.5, (0.5, 1, 0)),
    ("huber_loss", alone(lambda x: nn.huber_loss(x, np.zeros(1), "none")), -3, (-1, 0, 0)),
    ("mse_loss", alone(lambda x: nn.mse_loss(x, np.zeros(1), "none")), 0, (0, 2, 0)),
    ("expit", sp.expit, 0, (0.25, 0, -0.125)),
    ("expit", sp.expit, 800, (0, 0, 0)),
    ("log_expit", sp.log_expit, 0, (0.5, -0.25, 0)),
    ("log_expit", sp.log_expit, -INF, (1, 0, 0)),
    ("logit", sp.logit, 0.5, (4, 0, 32)),
    ("entr", sp.entr, 1, (-1, -1, 1)),
    ("erf", sp.erf, 0, (2 / ROOT_PI, 0, -4 / ROOT_PI)),
    ("erf", sp.erf, INF, (0, 0, 0)),
    ("erfc", sp.erfc, -INF, (0, 0, 0)),
    ("erfinv", sp.erfinv, 0, (ROOT_PI / 2, 0, ROOT_PI**3 / 4)),
    ("ndtr", sp.ndtr, 0, (1 / math.sqrt(2 * PI), 0, -1 / math.sqrt(2 * PI))),
    ("ndtr", sp.ndtr, -INF, (0, 0, 0)),
    ("ndtri", sp.ndtri, 0.5, (math.sqrt(2 * PI), 0, math.sqrt(2 * PI) ** 3)),
    ("dawsn", sp.dawsn, 0, (1, 0, -4)),
    ("erfcx", sp.erfcx, 0, (-2 / ROOT_PI, 2, -8 / ROOT_PI)),
    ("j0", sp.j0, 0, (0, -1 / 2, 0)),
    ("j1", sp.j1, 0, (1 / 2, 0, -3 / 8)),
    ("i1", sp.i1, 0, (1 / 2, 0, 3 / 8)),
    ("jv", lambda x: sp.jv(2.0, x), 0, (0, 1 / 4, 0)),
    (
        "gamma",
        sp.gamma,
        1,
        (-EULER, EULER**2 + PI**2 / 6, -(EULER**3) - EULER * PI**2 / 2 - 2 * ZETA3),
    ),
    ("gammaln", sp.gammaln, 1, (-EULER, PI**2 / 6, -2 * ZETA3)),
    ("rgamma", sp.rgamma, 0, (1, 2 * EULER, 3 * EULER**2 - PI**2 / 2)),
    ("rgamma", sp.rgamma, -1, (-1, 2 - 2 * EULER, 6 * EULER - 3 * EULER**2 + PI**2 / 2)),
    ("spence", sp.spence, 1, (-1, 1 / 2, -2 / 3)),
    ("ellipk", sp.ellipk, 0, (PI / 8, 9 * PI / 64, 75 * PI / 256)),
    ("ellipe", sp.ellipe, 0, (-PI / 8, -3 * PI / 64, -15 * PI / 256)),
    ("sici", lambda x: sp.sici(x)[0], 0, (1, 0, -1 / 3)),
    ("shichi", lambda x: sp.shichi(x)[0], 0, (1, 0, 1 / 3)),
    ("fresnel", lambda x: sp.fresnel(x)[0], 0, (0, 0, PI)),
    ("lambertw", lambda x: np.real(sp.lambertw(x)), 0, (1, -2, 9)),
    ("boxcox at 0", lambda x: sp.boxcox(2.0, x), 0, (LN2**2 / 2, LN2**3 / 3, LN2**4 / 4)),
    ("zeta", sp.zeta, 0, (-math.log(2 * PI) / 2, -2.006356455908585, -6.004711166862254)),
]


@pytest.mark.parametrize(
    ("function", "at", "derivatives"),
    [row[1:] for row in SMOOTH],
    ids=[f"{row[0]} at {row[2]}" for row in SMOOTH],
)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_of_one_operand(
    function: Function, at: float, derivatives: tuple[float, ...], order: int
) -> None:
    found = in_every_way(function, "x" * order, (at,))
    assert_allclose(found, derivatives[order - 1], rtol=1e-9, atol=1e-12)


# At a kink, the derivatives are those from the left

KINKS = [
    ("relu", nn.relu, (0, 0, 0)),
    ("leaky_relu", nn.leaky_relu, (0.01, 0, 0)),
    ("elu", lambda x: nn.elu(x, 3.0), (3, 3, 3)),
    ("selu", nn.selu, (1.7580993408473766,) * 3),
]


@pytest.mark.parametrize(
    ("function", "derivatives"), [row[1:] for row in KINKS], ids=[row[0] for row in KINKS]
)
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_derivatives_at_the_kink_of_an_activation(
    function: Function, derivatives: tuple[float, ...], order: int, zero: float
) -> None:
    found = in_every_way(function, "x" * order, (zero,))
    assert_allclose(found, derivatives[order - 1], rtol=1e-14)


# Several operands

MIXED: list[tuple[str, Function, tuple[float, ...], dict[str, float]]] = [
    (
        "logaddexp",
        np.logaddexp,
        (3, 3),
        {"x": 0.5, "y": 0.5, "xx": 0.25, "xy": -0.25, "yy": 0.25, "xxx": 0, "xxy": 0, "xyy": 0},
    ),
    ("logaddexp", np.logaddexp, (-INF, -INF), {"x": 0.5, "y": 0.5, "xx": 0.25, "xy": -0.25}),
    ("logaddexp", np.logaddexp, (-INF, 2), {"x": 0, "y": 1, "xx": 0, "xy": 0, "yy": 0}),
    ("logaddexp2", np.logaddexp2, (0, 0), {"x": 0.5, "xx": LN2 / 4, "xy": -LN2 / 4, "xxx": 0}),
    (
        "power",
        np.power,
        (2, 0),
        {"x": 0, "y": LN2, "xx": 0, "xy": 0.5, "yy": LN2**2, "xxx": 0, "xxy": -0.25, "xyy": LN2},
    ),
    ("power", np.power, (1, 0), {"x": 0, "y": 0, "xx": 0, "xy": 1, "yy": 0, "xxy": -1}),
    ("power", np.power, (0, 2), {"x": 0, "y": 0, "xx": 2, "xy": 0, "yy": 0, "xxx": 0, "yyy": 0}),
    ("power", np.power, (0, 3), {"xx": 0, "xy": 0, "xxx": 6, "xxy": 0, "xyy": 0}),
    ("float_power", np.float_power, (2, 0), {"x": 0, "y": LN2, "xy": 0.5, "xxy": -0.25}),
    ("divide", np.divide, (0, 2), {"x": 0.5, "y": 0, "xy": -0.25, "yy": 0, "xyy": 0.25}),
    ("multiply", np.multiply, (0, 0), {"x": 0, "y": 0, "xy": 1, "xx": 0, "xxy": 0}),
    ("hypot", np.hypot, (0, 1), {"x": 0, "y": 1, "xx": 1, "xy": 0, "yy": 0, "xxy": -1, "xxx": 0}),
    ("arctan2", np.arctan2, (0, 1), {"x": 1, "y": 0, "xx": 0, "xy": -1, "xxx": -2, "xyy": 2}),
    ("arctan2", np.arctan2, (0, -2), {"x": -0.5, "xy": -0.25, "xyy": -0.25}),
    ("xlogy", sp.xlogy, (0, 2), {"x": LN2, "y": 0, "xx": 0, "xy": 0.5, "yy": 0, "xyy": -0.25}),
    ("xlogy", sp.xlogy, (0, 0), {"x": 0, "y": 0}),
    ("xlog1py", sp.xlog1py, (0, 1), {"x": LN2, "y": 0, "xy": 0.5, "yy": 0, "xyy": -0.25}),
    ("rel_entr", sp.rel_entr, (2, 2), {"x": 1, "y": -1, "xx": 0.5, "xy": -0.5, "yyy": -0.5}),
    ("rel_entr", sp.rel_entr, (0, 2), {"x": -INF, "y": 0, "xy": -0.5, "xyy": 0.25}),
    ("kl_div", sp.kl_div, (2, 2), {"x": 0, "y": 0, "xx": 0.5, "xy": -0.5, "yy": 0.5}),
    ("kl_div", sp.kl_div, (0, 2), {"y": 1, "xy": -0.5, "yy": 0, "xyy": 0.25}),
    ("gammainc", sp.gammainc, (1, 1), {"xy": EULER / math.e, "xyy": (1 - EULER) / math.e}),
    ("gammaincc", sp.gammaincc, (1, 1), {"yy": 1 / math.e, "xyy": (EULER - 1) / math.e}),
    ("betainc", sp.betainc, (1, 1, 0.5), {"z": 1, "zz": 0, "xzz": 2, "yzz": -2, "xz": 1 - LN2}),
    ("boxcox", sp.boxcox, (1, 0), {"x": 1, "y": 0, "xx": -1, "xy": 0, "xxy": 1, "yyy": 0}),
    ("inv_boxcox", sp.inv_boxcox, (0, 0), {"x": 1, "y": 0, "xx": 1, "xy": 0, "xxy": -1}),
    ("poch", sp.poch, (-1, 2), {"x": -1, "xx": 2, "xxx": 0}),
    ("binom", sp.binom, (2, 2), {"x": 1.5, "xx": 1, "xxx": 0}),
    ("zeta", sp.zeta, (2, 1), {"y": -2 * ZETA3, "yy": PI**4 / 15}),
]


@pytest.mark.parametrize(
    ("function", "at", "operands", "expected"),
    [
        pytest.param(function, at, operands, expected, id=f"{name} at {at} by {operands}")
        for name, function, at, derivatives in MIXED
        for operands, expected in derivatives.items()
    ],
)
def test_derivatives_of_several_operands(
    function: Function, at: tuple[float, ...], operands: str, expected: float
) -> None:
    assert_allclose(in_every_way(function, operands, at), expected, rtol=1e-9, atol=1e-12)


# What there is no derivative of is not a number that somebody could take for one

MISSING = [
    ("hypot", np.hypot, (0, 0), "xx"),
    ("power", np.power, (0, 1), "xy"),
    ("power", np.power, (0, 0), "xy"),
    ("power", np.power, (0, 2), "xxy"),
    ("xlogy", sp.xlogy, (0, 0), "xy"),
    ("xlog1py", sp.xlog1py, (0, -1), "xy"),
    ("rel_entr", sp.rel_entr, (0, 0), "xy"),
    ("norm", lambda x, y: np.linalg.norm(np.stack([x, y])), (0, 0), "xx"),
    ("norm 1.5", lambda x, y: np.linalg.norm(np.stack([x, y]), 1.5), (0, 1), "xx"),
    ("std", lambda x, y: np.std(np.stack([x, y])), (1, 1), "xx"),
    ("abs", lambda x, y: np.abs(x + 1j * y), (0, 0), "xx"),
]


@pytest.mark.parametrize(
    ("function", "at", "operands"),
    [row[1:] for row in MISSING],
    ids=[f"{row[0]} at {row[2]}" for row in MISSING],
)
def test_a_derivative_that_does_not_exist_is_not_finite(
    function: Function, at: tuple[float, ...], operands: str
) -> None:
    assert not np.isfinite(in_every_way(function, operands, at)).any()


# Functions of three numbers: the derivatives continue those around the point

WEIGHTS = np.array([1.0, -2.0, 3.0])
SINGULAR = np.stack([np.diag(d) for d in ([0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [2.0, 0.0, 0.0])])
MOVES = np.random.default_rng(0).normal(size=(3, 3, 3))


def of_three(function: Function) -> Function:
    """Let a function of an array with three elements take them one by one."""
    return lambda x, y, z: np.sum(function(np.stack([x, y, z])) * WEIGHTS)


CONTINUING: list[tuple[str, Function, list[tuple[float, float, float]]]] = [
    ("prod", of_three(np.prod), [(0, 0, 0), (0, 0, 2), (0, 1, 2)]),
    ("cumprod", of_three(np.cumprod), [(0, 0, 0), (0, 0, 2), (1, 0, 2)]),
    ("divide.accumulate", of_three(np.divide.accumulate), [(0, 1, 1)]),
    ("multiply.reduceat", of_three(lambda a: np.multiply.reduceat(a, [0, 1, 0])), [(0, 0, 2)]),
    ("var", of_three(np.var), [(1, 1, 1)]),
    ("logaddexp.reduce", of_three(np.logaddexp.reduce), [(0, 0, 0), (1, 1, 0)]),
    ("logaddexp2.reduce", of_three(np.logaddexp2.reduce), [(1, 1, 1)]),
    ("logaddexp.accumulate", of_three(np.logaddexp.accumulate), [(0, 0, 0)]),
    ("logaddexp.reduceat", of_three(lambda a: np.logaddexp.reduceat(a, [0, 1, 2])), [(1, 1, 1)]),
    ("norm", of_three(np.linalg.norm), [(0, 0, 2)]),
    ("norm 4", of_three(lambda a: np.linalg.norm(a, 4)), [(0, 1, 1)]),
    ("softmax", of_three(nn.softmax), [(0, 0, 0), (1, 1, 0)]),
    ("log_softmax", of_three(nn.log_softmax), [(0, 0, 0), (1, 1, 0)]),
    ("logsumexp", of_three(nn.logsumexp), [(0, 0, 0), (1, 1, 0)]),
    ("cross_entropy", of_three(lambda a: nn.cross_entropy(a[None], np.array([0]))), [(0, 0, 0)]),
    (
        "cross_entropy of probabilities",
        lambda x, y, z: nn.cross_entropy(
            np.stack([x, y])[None], np.stack([z, 1 - z])[None], weight=np.array([1.0, 2.0])
        ),
        [(0, 0, 0), (1, 0, 1)],
    ),
    (
        "binary_cross_entropy_with_logits",
        of_three(lambda a: nn.binary_cross_entropy_with_logits(a[:1], a[1:2])),
        [(0, 0, 0), (0, 0.5, 0), (0, 1, 0)],
    ),
    ("kl_div", of_three(lambda a: nn.kl_div(a[:1], a[1:2])), [(0, 1, 0)]),
    (
        "corrcoef",
        of_three(lambda a: np.corrcoef(a, np.array([1.0, 2.0, 4.0]))[0, 1]),
        [(1, 2, 4), (-1, -2, -4)],
    ),
    ("det", of_three(lambda a: np.linalg.det(SINGULAR + a[:, None, None] * MOVES)), [(0, 0, 0)]),
    ("det of zeros", of_three(lambda a: np.linalg.det(a[:, None, None] * MOVES)), [(0, 0, 0)]),
    ("vander", of_three(lambda a: np.vander(a, 3) @ WEIGHTS), [(0, 0, 1)]),
]


def continued(derivative: Function, at: tuple[float, ...]) -> float:
    """Extrapolate a derivative to a point from its values on both sides along a slanting line."""

    def mean(step: float) -> float:
        aside = step * np.array([0.618, -0.755, 0.57])
        return (float(derivative(*(at + aside))) + float(derivative(*(at - aside)))) / 2

    far, near, nearer = map(mean, (0.04, 0.02, 0.01))
    return (64 * nearer - 20 * near + far) / 45


@pytest.mark.parametrize(
    ("function", "at"),
    [
        pytest.param(function, np.array(at, float), id=f"{name} at {at}")
        for name, function, points in CONTINUING
        for at in points
    ],
)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_continue_those_around_the_point(
    function: Function, at: tuple[float, ...], order: int
) -> None:
    for operands in map("".join, itertools.combinations_with_replacement("xyz", order)):
        expected = continued(by_grad(function, operands), at)
        found = in_every_way(function, operands, at)
        assert_allclose(found, expected, rtol=2e-6, atol=2e-6, err_msg=operands)


def test_the_hessian_of_logistic_regression_at_zero_weights() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(5, 3)), np.array([1.0, 0.0, 1.0, 1.0, 0.0])

    def loss(w: Array) -> Array:
        z = x @ w
        return np.sum(np.logaddexp(0, z) - y * z)

    assert_allclose(ta.hessian(loss)(np.zeros(3)), x.T @ x / 4, rtol=1e-14)
