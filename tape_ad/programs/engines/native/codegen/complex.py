"""Formulas of complex64 and complex128, of those functions that are a few operations on floats.

The exponential and its like are NumPy's own, of which the special points fill pages. So is the
absolute value: it is compared with what NumPy's norms have found, and must have the same bits.
"""

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen import floats
from tape_ad.programs.engines.native.codegen.floats import Formula, itself
from tape_ad.programs.engines.native.codegen.ir_builder import ComplexVector, VectorValue, select
from tape_ad.programs.engines.native.runtime.compiling import host

__all__ = ["COMPLEX", "divide"]

of_parts = ComplexVector.of


@functools.cache
def fuses() -> bool:
    """Tell whether the processor adds a product without rounding it before, as NumPy has it do."""
    features = host().features
    return bool(features.get("fma") or features.get("neon"))


def product_and(x: VectorValue, y: VectorValue, rest: VectorValue) -> VectorValue:
    """Give x * y + rest, rounded once where it can be."""
    return x.builder.intrinsic("fma", x, y, rest) if fuses() else x * y + rest


def multiply(x: Any, y: Any) -> VectorValue:
    """Multiply by the four products of parts, of which NumPy rounds two."""
    re = product_and(x.re, y.re, -(x.im * y.im))
    return of_parts(re, product_and(x.re, y.im, x.im * y.re))


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


def truth(x: Any) -> Any:
    """Tell which elements are not zero."""
    return x != 0.0


COMPLEX: Mapping[Any, Formula] = MappingProxyType(
    {
        np.add: lambda x, y: x + y,
        np.subtract: lambda x, y: x - y,
        np.multiply: multiply,
        np.divide: divide,
        np.negative: lambda x: -x,
        np.positive: itself,
        np.conjugate: lambda x: of_parts(x.re, -x.im),
        np.square: lambda x: multiply(x, x),
        np.reciprocal: reciprocal,
        np.equal: lambda x, y: x == y,
        np.not_equal: lambda x, y: x != y,
        np.logical_and: lambda x, y: truth(x) & truth(y),
        np.logical_or: lambda x, y: truth(x) | truth(y),
        np.logical_xor: lambda x, y: truth(x) ^ truth(y),
        np.logical_not: lambda x: ~truth(x),
        np.isnan: lambda x: floats.is_nan(x.re) | floats.is_nan(x.im),
        np.isfinite: lambda x: floats.is_finite(x.re) & floats.is_finite(x.im),
        np.isinf: lambda x: (floats.absolute(x.re) == np.inf) | (floats.absolute(x.im) == np.inf),
        np.rint: lambda x: of_parts(floats.rint(x.re), floats.rint(x.im)),
    }
)
"""Of complex64 and complex128."""
