"""The functions that native code has from a library, each with mpmath's and its delicate points."""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import scipy.special as sp
from attrs import field, frozen

from tape_ad import nn

__all__ = ["COMPOSED", "HARDEST", "ROWS", "Row"]

INF = np.inf


def pairs(points: Sequence[Any]) -> Sequence[tuple[float, ...]]:
    """Write points as tuples of operands."""
    return [tuple(np.atleast_1d(point).tolist()) for point in points]


@frozen
class Row:
    """A function, and what it is measured on.

    Attributes
    ----------
    function : callable
        A ufunc, or one of our own functions of one operand.
    reference : callable
        The same function of mpmath's numbers.
    low, high : float
        Between which numbers the first operand lies, both excluded.
    near : sequence of tuple of float
        Where it is delicate: at zeros, poles and bounds, and where it begins to overflow.
    largest : float
        Up to which size operands are drawn as large ones: where all is said beyond, less than all.
    """

    function: Callable[..., Any]
    reference: Callable[..., Any]
    low: float = -INF
    high: float = INF
    near: Sequence[tuple[float, ...]] = field(default=(), converter=pairs)
    largest: float = INF

    def __str__(self) -> str:
        return self.function.__name__

    @property
    def operands(self) -> int:
        """How many operands the function takes."""
        return getattr(self.function, "nin", 1)


QUARTERS = tuple(np.pi / 2 * np.array([1, 2, 3, 4, 5, 11, 22, 355, 104_348, 3_126_535, 1e15]))
HARDEST = 6381956970095103 * 2.0**797
"""The double that is closest to a multiple of a quarter turn; of floats, 16367173 * 2**72 is."""
ZEROS = (*QUARTERS, 16367173 * 2.0**72)
OVERFLOWING = (709.782712893384, -745.1332191019411, -708.3964185322641, 88.72283, -103.97208)
OVERFLOWING_2 = (1024.0, -1075.0, -1022.0, 128.0, -150.0, -126.0)


def power(x: Any, y: Any) -> Any:
    exponent = y * mpmath.log(x)
    return mpmath.exp(exponent) if abs(exponent) < 2000 else mpmath.mpf(INF if exponent > 0 else 0)


ROWS = [
    Row(np.exp, mpmath.exp, near=(*OVERFLOWING, 1.0), largest=750),
    Row(np.exp2, lambda x: mpmath.power(2, x), near=(*OVERFLOWING_2, 1.0), largest=1080),
    Row(np.expm1, mpmath.expm1, near=(*OVERFLOWING, 1.0), largest=750),
    Row(np.log, mpmath.log, low=0, near=(1.0,)),
    Row(np.log2, lambda x: mpmath.log(x, 2), low=0, near=(1.0, 2.0)),
    Row(np.log10, mpmath.log10, low=0, near=(1.0, 10.0)),
    Row(np.log1p, mpmath.log1p, low=-1, near=(-1.0, 1.0)),
    Row(np.sin, mpmath.sin, near=ZEROS),
    Row(np.cos, mpmath.cos, near=ZEROS),
    Row(np.tan, mpmath.tan, near=ZEROS),
    Row(np.arcsin, mpmath.asin, low=-1, high=1, near=(-1.0, -0.5, 0.5, 1.0)),
    Row(np.arccos, mpmath.acos, low=-1, high=1, near=(-1.0, -0.5, 0.5, 1.0)),
    Row(np.arctan, mpmath.atan, near=(-1.0, 1.0)),
    Row(np.sinh, mpmath.sinh, near=(710.4758600739439, 89.41599, 1.0), largest=715),
    Row(np.cosh, mpmath.cosh, near=(710.4758600739439, 89.41599, 1.0), largest=715),
    Row(np.tanh, mpmath.tanh, near=(0.5, 1.0, 18.2, 8.15, 19.0, 9.0)),
    Row(np.arcsinh, mpmath.asinh, near=(-1.0, 1.0)),
    Row(np.arccosh, mpmath.acosh, low=1, near=(1.0, 2.0)),
    Row(np.arctanh, mpmath.atanh, low=-1, high=1, near=(-1.0, -0.5, 0.5, 1.0)),
    Row(np.cbrt, lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), near=(1.0, 8.0)),
    Row(np.sqrt, mpmath.sqrt, low=0, near=(1.0, 4.0)),
    Row(np.reciprocal, lambda x: 1 / x, near=(1.0, 3.0)),
    Row(sp.erf, mpmath.erf, near=(1.0, 3.65, 5.9), largest=30),
    Row(sp.erfc, mpmath.erfc, near=(1.0, 1.2215600038386774, 10.05, 26.54), largest=30),
    Row(np.hypot, mpmath.hypot, near=((1, 1), (3, 4), (1, 1e-8))),
    Row(np.arctan2, mpmath.atan2, near=((1, 1), (1, -1), (1e-8, -1), (1, 1e-8))),
    Row(
        np.power,
        power,
        low=0,
        near=((1, 1e9), (1, -1e15), (2, 1023), (0.5, 1074), (10, 308), (1.5, 2), (2, 0.5)),
    ),
]
"""What NumPy computes exactly is not among them; there the bits are compared."""


def logistic(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def log_of_sum(x: Any, y: Any, base: float) -> Any:
    beside = mpmath.log1p(mpmath.power(base, -abs(x - y)))
    return max(x, y) + beside / mpmath.log(base)


COMPOSED = [
    Row(
        np.logaddexp,
        lambda x, y: log_of_sum(x, y, mpmath.e),
        near=((1, 1), (30, -6), (1e-9, 1)),
        largest=1e4,
    ),
    Row(
        np.logaddexp2,
        lambda x, y: log_of_sum(x, y, 2),
        near=((1, 1), (40, -13), (1e-9, 1)),
        largest=1e4,
    ),
    Row(sp.expit, logistic, near=(1.0, -36.0, 36.0), largest=80),
    Row(sp.ndtr, mpmath.ncdf, near=(1.0, -5.0, -12.0), largest=38),
    Row(nn.sigmoid, logistic, near=(1.0, -36.0, 36.0), largest=80),
    Row(nn.softplus, lambda x: mpmath.log1p(mpmath.exp(x)), near=(1.0, -36.0), largest=19),
]
"""Functions that native code writes as several operations, as NumPy, SciPy and our own code do."""
