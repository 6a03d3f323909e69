"""Formulas of functions that are several operations: NumPy's that are no ufuncs, SciPy's, our own.

Our own helpers look at whole arrays first, to find the quickest way that is right for all of their
elements. Here each element goes the way that is right for it.
"""

import functools
import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.engines.native.codegen import floats
from tape_ad.programs.engines.native.codegen.floats import (
    FLOATING,
    SUMS,
    TRUTH,
    Formula,
    absolute,
    is_finite,
    is_nan,
)
from tape_ad.programs.engines.native.codegen.integers import known_power
from tape_ad.programs.engines.native.codegen.ir_builder import (
    BOOL,
    UINT64,
    ComplexVector,
    VectorValue,
    cast,
    resized,
    select,
)
from tape_ad.rules.maps.elementwise import selected_plainly
from tape_ad.rules.numpy import continued
from tape_ad.rules.numpy.elementwise import slope_in_base, slope_in_exponent

of_parts = ComplexVector.of


def multiply(x: Any, y: Any) -> VectorValue:
    """Multiply by the four products of parts, of which NumPy rounds two."""
    re = floats.product_and(x.re, y.re, -(x.im * y.im))
    return of_parts(re, floats.product_and(x.re, y.im, x.im * y.re))


def divide(x: Any, y: Any) -> Any:
    """Divide by Smith's method, which divides by the larger part of `y` first, as NumPy does.

    R. L. Smith, "Algorithm 116: complex division", Communications of the ACM 5 (8), 1962.
    """
    straight = floats.absolute(y.re) >= floats.absolute(y.im)
    large, small = select(straight, y.re, y.im), select(straight, y.im, y.re)
    one, other = select(straight, x.re, x.im), select(straight, x.im, x.re)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    product = one * ratio
    turned = select(straight, other - product, product - other)
    found = of_parts((one + other * ratio) * scale, turned * scale)
    zero = (y.re == 0.0) & (y.im == 0.0)
    size = floats.absolute(y.re)
    return select(zero, of_parts(x.re / size, x.im / size), found)


def reciprocal(x: Any) -> Any:
    """Divide 1 by the larger part first."""
    straight = floats.absolute(x.im) <= floats.absolute(x.re)
    large, small = select(straight, x.re, x.im), select(straight, x.im, x.re)
    ratio = small / large
    scale = large + small * ratio
    one, other = 1.0 / scale, ratio / scale
    return of_parts(select(straight, one, other), -select(straight, other, one))


COMPLEX: Mapping[Any, Formula] = MappingProxyType(
    {
        **SUMS,
        np.multiply: multiply,
        np.divide: divide,
        np.conjugate: lambda x: of_parts(x.re, -x.im),
        np.square: lambda x: multiply(x, x),
        np.reciprocal: reciprocal,
        np.equal: lambda x, y: x == y,
        np.not_equal: lambda x, y: x != y,
        **TRUTH,
        np.isnan: lambda x: floats.is_nan(x.re) | floats.is_nan(x.im),
        np.isfinite: lambda x: floats.is_finite(x.re) & floats.is_finite(x.im),
        np.isinf: lambda x: (floats.absolute(x.re) == np.inf) | (floats.absolute(x.im) == np.inf),
        np.rint: lambda x: of_parts(floats.rint(x.re), floats.rint(x.im)),
    }
)
"""Of complex64 and complex128."""


exp, log, log1p, expm1 = (FLOATING[f] for f in (np.exp, np.log, np.log1p, np.expm1))


@frozen
class Composition:
    """A formula of several operations.

    Attributes
    ----------
    formula : callable
        Of the operands' vector values, and of what else the function is called with.
    operands : int
        How many of the first arguments are arrays; 0 for any number.
    kinds : str
        The kinds of dtypes that the operands may have.
    alike : int
        From which operand on all are of one dtype.
    """

    formula: Callable[..., VectorValue]
    operands: int = 1
    kinds: str = "f"
    alike: int = 0

    def takes(self, dtypes: Sequence[np.dtype[Any]]) -> bool:
        """Tell whether it is for operands of these dtypes."""
        fits = self.operands in (0, len(dtypes)) and len(set(dtypes[self.alike :])) < 2
        return fits and {dtype.kind for dtype in dtypes} <= set(self.kinds)


def where(condition: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Choose by what is not zero."""
    return select(cast(condition, BOOL), x, y)


def selected(x: VectorValue, mask: VectorValue) -> VectorValue:
    """Give what a mask picks, and 0 elsewhere."""
    return where(mask, x, x.like(0.0))


# Formulas with a hole


def over_square(x: VectorValue, y: VectorValue) -> VectorValue:
    """x / (x**2 + y**2), where that overflows or has lost digits by the square root."""
    low, high = continued.SQUARES[x.dtype.char]
    square = x * x + y * y
    radius = x.builder.function("hypot", x, y)
    return select((square > low) & (square < high), x / square, x / radius / radius)


def base_slope(out: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """y * x**(y - 1), by the power itself where that has all its digits; 0 where y is."""
    exponent = x.builder.number(y)
    if exponent is not None and floats.shorter_power(exponent - 1):
        return y * floats.power(x, x.like(exponent - 1)) if exponent else x.like(0.0)
    limits = np.finfo(out.dtype)
    size = absolute(out)
    slope = y * (out / x)
    fine = (size > limits.tiny) & (size <= limits.max) & is_finite(slope)
    general = y * floats.power(x, y - 1.0)
    return select(fine, slope, select(y == 0.0, y.like(0.0), general))


def exponent_slope(out: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """x**y * log(x), and 0 where the power is, and where both operands are."""
    slope = out * log(x)
    zero = (out == 0.0) | ((x == 0.0) & (y == 0.0))
    return select(is_finite(slope) | ~zero, slope, slope.like(0.0))


def is_index(x: VectorValue, length: int) -> VectorValue:
    """Tell whether an integer leads into an axis, from its start or from its end."""
    return resized(x + length, UINT64) < 2 * length


# Matrices of few rows


def eliminated(rows: list[list[VectorValue]]) -> tuple[VectorValue, VectorValue]:
    """Make an upper triangle of rows, with partial pivoting.

    Returns
    -------
    even, sure : VectorValue
        Whether an even number of rows has been exchanged; and whether no pivot, rounded in another
        way, might be 0: each is large beside the column that it comes of.
    """
    count, columns = len(rows), [list(column) for column in zip(*rows, strict=True)]
    even = sure = rows[0][0] == rows[0][0]
    for k, upper in enumerate(rows):
        for lower in rows[k + 1 :]:
            larger = absolute(lower[k]) > absolute(upper[k])
            for column in range(k, len(upper)):
                x, y = upper[column], lower[column]
                upper[column], lower[column] = select(larger, y, x), select(larger, x, y)
            even = even ^ larger
        for lower in rows[k + 1 :]:
            factor = lower[k] / upper[k]
            for column in range(k + 1, len(upper)):
                lower[column] = lower[column] - factor * upper[column]
        pivot = absolute(upper[k])
        sizes = [absolute(x) * (16 * count * float(np.finfo(x.dtype).eps)) for x in columns[k]]
        sure = functools.reduce(operator.and_, [pivot > size for size in sizes], sure)
    return even, sure


def determinant(*elements: VectorValue, rows: int, asked: str) -> VectorValue:
    """Give the determinant of a matrix, its sign or its logarithm; or whether it is sure.

    The product of pivots may leave the range of numbers where that of NumPy's does not, which is
    the sum of their logarithms.
    """
    triangle = [list(elements[k : k + rows]) for k in range(0, rows * rows, rows)]
    even, sure = eliminated(triangle)
    pivots = [row[k] for k, row in enumerate(triangle)]
    if asked == "logarithm":
        return functools.reduce(operator.add, [log(absolute(pivot)) for pivot in pivots])
    if asked == "sign":
        pivots = [floats.copysign(pivot.like(1.0), pivot) for pivot in pivots]
    product = functools.reduce(operator.mul, pivots)
    if asked == "is sure":
        limits = np.finfo(product.dtype)
        size = absolute(product)
        sure = functools.reduce(operator.and_, map(is_finite, elements), sure)
        return sure & (size >= float(limits.tiny)) & (size <= float(limits.max))
    return select(even, product, -product)


def unknown(*elements: VectorValue, rows: int, asked: int | str) -> VectorValue:
    """Give one of the unknowns of equations, or whether it is sure that there are solutions.

    The right sides are behind the rows' elements.
    """
    triangle = [list(elements[k : k + rows + 1]) for k in range(0, len(elements), rows + 1)]
    _, sure = eliminated(triangle)
    found: list[VectorValue] = []
    for k in reversed(range(rows)):
        left = triangle[k][rows]
        for j, x in zip(reversed(range(k + 1, rows)), found, strict=True):
            left = left - triangle[k][j] * x
        found.append(left / triangle[k][k])
    if isinstance(asked, str):
        return functools.reduce(operator.and_, map(is_finite, found), sure)
    return found[rows - 1 - asked]


# NumPy's own


def real(x: VectorValue) -> VectorValue:
    """Give the real part."""
    return x.re if isinstance(x, ComplexVector) else x


def imaginary(x: VectorValue) -> VectorValue:
    """Give the imaginary part."""
    return x.im if isinstance(x, ComplexVector) else x.like(0.0)


def angle(z: VectorValue, deg: bool = False) -> VectorValue:
    """Give the angle of a complex number; of a real one 0 or pi."""
    found = FLOATING[np.arctan2](imaginary(z), real(z))
    return found * (180 / math.pi) if deg else found


def nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> VectorValue:
    """Replace nan and the infinities by numbers."""
    if not copy:
        raise NotImplementedError("it writes to its argument")
    if isinstance(x, ComplexVector):
        parts = (nan_to_num(part, copy, nan, posinf, neginf) for part in (x.re, x.im))
        return ComplexVector.of(*parts)
    limits = np.finfo(x.dtype)
    most = float(limits.max) if posinf is None else posinf
    least = float(limits.min) if neginf is None else neginf
    x = select(is_nan(x), x.like(nan), x)
    x = select(x == np.inf, x.like(most), x)
    return select(x == -np.inf, x.like(least), x)


def rounded(x: VectorValue, decimals: int = 0) -> VectorValue:
    """Round to so many decimals."""
    factor = 10.0 ** abs(decimals)
    if decimals == 0:
        return floats.rint(x)
    return floats.rint(x * factor) / factor if decimals > 0 else floats.rint(x / factor) * factor


def sinc(x: VectorValue) -> VectorValue:
    """Give sin(pi x) / (pi x), and 1 at 0."""
    scaled = x * math.pi
    scaled = select(scaled == 0.0, x.like(float(np.finfo(x.dtype).eps)), scaled)
    return FLOATING[np.sin](scaled) / scaled


def is_close(
    x: VectorValue, y: VectorValue, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> VectorValue:
    """Tell which elements are as close as two tolerances say."""
    near = (absolute(x - y) <= atol + rtol * absolute(y)) & is_finite(y)
    found = near | (x == y)
    return found | (is_nan(x) & is_nan(y)) if equal_nan else found


COMPOSITIONS: Mapping[Any, Composition] = MappingProxyType(
    {
        selected_plainly: Composition(selected, 2, "fcb", 1),
        continued.over_square: Composition(over_square, 2),
        slope_in_base: Composition(base_slope, 3),
        slope_in_exponent: Composition(exponent_slope, 3),
        np.where: Composition(where, 3, "fciub", 1),
        np.real: Composition(real, kinds="fc"),
        np.imag: Composition(imaginary, kinds="c"),
        np.angle: Composition(angle, kinds="fc"),
        np.nan_to_num: Composition(nan_to_num, kinds="fc"),
        np.round: Composition(rounded),
        np.around: Composition(rounded),
        np.sinc: Composition(sinc),
        np.isclose: Composition(is_close, 2),
        known_power: Composition(known_power, kinds="iu"),
        is_index: Composition(is_index, kinds="i"),
        determinant: Composition(determinant, 0),
        unknown: Composition(unknown, 0),
        floats.power_by_one: Composition(floats.power_by_one, 2),
        floats.clipped_by_two: Composition(floats.clipped_by_two, 3),
        np.isposinf: Composition(lambda x: x == np.inf),
        np.isneginf: Composition(lambda x: x == -np.inf),
        np.isreal: Composition(lambda x: imaginary(x) == 0.0, kinds="fc"),
        np.iscomplex: Composition(lambda x: imaginary(x) != 0.0, kinds="fc"),
    }
)
"""By the function that a program calls."""


def times_log(
    x: VectorValue, y: VectorValue, logarithm: Callable[[VectorValue], VectorValue]
) -> VectorValue:
    """x times a logarithm, and 0 where x is."""
    return select((x == 0.0) & ~is_nan(y), x.like(0.0), x * logarithm(y))


def double_normal_cdf(x: VectorValue) -> VectorValue:
    """Give the normal distribution's cumulative probability by the error function."""
    if x.dtype != np.float64:
        raise NotImplementedError("SciPy computes it in double precision")
    scaled = x * math.sqrt(0.5)
    size = absolute(scaled)
    middle = 0.5 + 0.5 * x.builder.function("erf", scaled)
    tail = 0.5 * x.builder.function("erfc", size)
    return select(size < 1.0, middle, select(scaled > 0.0, 1.0 - tail, tail))


SCIPY: Mapping[str, Composition] = MappingProxyType(
    {
        "erf": Composition(floats.of_library("erf")),
        "erfc": Composition(floats.of_library("erfc")),
        "expit": Composition(lambda x: 1.0 / (1.0 + exp(-x))),
        "expm1": Composition(expm1),
        "log1p": Composition(log1p),
        "cbrt": Composition(FLOATING[np.cbrt]),
        "ndtr": Composition(double_normal_cdf),
        "xlogy": Composition(lambda x, y: times_log(x, y, log), 2),
        "xlog1py": Composition(lambda x, y: times_log(x, y, log1p), 2),
    }
)
"""By the names of functions of `scipy.special`, which is there only if the user has imported it."""


def composition_of(function: Any) -> Composition | None:
    """Find a function's composition."""
    if isinstance(function, np.ufunc):
        name = function.__name__
        known = SCIPY.get(name)
        special = sys.modules.get("scipy.special") if known else None
        return known if special and getattr(special, name, None) is function else None
    return COMPOSITIONS.get(function)
