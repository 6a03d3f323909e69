"""Functions that take numbers apart: quotients, signs, exponents, angles and special values.

What is piecewise constant of a number (its sign, its exponent, the whole part of a quotient) is
plain data. At the jumps the derivative is that of the smooth piece on the side that NumPy's value
belongs to.
"""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Call,
    Derivation,
    Entry,
    Refused,
    Signature,
    arguments_of,
    as_array,
    constants,
    outputs,
    quiet,
    refuse,
    rule,
)
from tape_ad.rules.maps import (
    SAME,
    Array,
    Chain,
    Divide,
    ImaginaryPart,
    LinearMap,
    Mask,
    RealPart,
    Scale,
)
from tape_ad.rules.maps.patterns import elementwise
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.elementwise import is_complex, power_base, power_exponent

DEGREE = math.pi / 180


@define(eq=False, repr=False)
class Shift:
    """Multiplication by ``2**exponent``, for exponents whose power of 2 overflows too."""

    broadcasts: ClassVar[bool] = True
    pattern = elementwise
    exponent: Array

    def push(self, t: Array) -> Array:
        return np.ldexp(t, self.exponent)

    def pull(self, ct: Array) -> Array:
        return np.ldexp(ct, self.exponent)


def as_ufunc(name: str, operands: int) -> Signature:
    """Make the signature of a ufunc that has several outputs, whose rule needs one."""

    def signature(*args: Any, out: Any = None, where: Any = True, **options: Any) -> Call:
        given = args[operands:] or (() if out is None else out)
        refuse(
            name,
            out=given if any(each is not None for each in given) else None,
            where=None if where is True else where,
        )
        return args[:operands], options

    return signature


def float_power_base(out: Array, x: Array, y: Array) -> Array:
    """Make the partial of `power`, in the precision that `float_power` computes in."""
    return power_base(out, as_array(x).astype(out.dtype), y)


def fmod_divisor(out: Array, x: Array, y: Array) -> Array:
    """Make the partial of x - n y with respect to y, -n, a whole number."""
    return -np.rint((x - out) / y)


def only(number: int, output: int, partial: LinearMap) -> LinearMap | None:
    """Give the partial of the one output that has one, and None for the others."""
    return partial if output == number else None


def copysign(out: Array, x: Array, y: Array) -> Array:
    """Make the partial of ``copysign``, 1 or -1, also at zeros, which have signs."""
    one = out.dtype.type(1)
    return np.where(np.signbit(x) == np.signbit(y), one, -one)


def unwrap(p: Array, period: Array, discont: float | None, axis: int) -> Array:
    """Call `numpy.unwrap` with the period by position."""
    return np.unwrap(p, discont, axis, period=period)


def whole_periods(out: Array, p: Array, period: Array, **options: Any) -> Array:
    """Make the partial of `unwrap` with respect to the period: how many of them were added."""
    return np.rint((out - p) / period)


def angle(out: Array, z: Array, deg: bool) -> LinearMap | None:
    """Make the partial of ``Im(log(z))``, which is ``Im(t / z)``; real numbers have none."""
    if not is_complex(z):
        return None
    turned = (Divide(z), ImaginaryPart())
    return Chain((*turned, Scale(1 / DEGREE)) if deg else turned)


def real_if_close(out: Array, a: Array, tol: float) -> LinearMap:
    """Make the partial of a function that may drop the imaginary part."""
    return RealPart() if is_complex(a) and not is_complex(out) else SAME


def nan_to_num(
    x: Array, copy: bool = True, nan: Array = 0.0, posinf: Array = None, neginf: Array = None
) -> Array:
    """Put numbers in the place of nan and the infinities, of complex numbers part by part."""
    if not copy:
        raise UnsupportedArgumentError(
            "np.nan_to_num: copy=False writes to x; leave it out, and write x[...] = "
            "np.nan_to_num(x) where x itself is to change"
        )
    x = as_array(x)
    if x.dtype.kind not in "fc":  # has neither
        return x
    if is_complex(x):
        parts = [nan_to_num(part, True, nan, posinf, neginf) for part in (x.real, x.imag)]
        return like(x, parts[0] + turned(parts[1]))
    nan, posinf, neginf = (
        as_array(value).astype(x.dtype, casting="same_kind")
        for value in (
            nan,
            np.finfo(x.dtype).max if posinf is None else posinf,
            np.finfo(x.dtype).min if neginf is None else neginf,
        )
    )
    infinite = np.where(np.greater(x, 0), posinf, neginf)
    found = np.where(np.isfinite(x), x, np.where(np.isnan(x), nan, infinite))
    return like(x, found) if x.ndim else found[()]  # a number, as NumPy gives


def turned(y: Array) -> Array:
    """Compute 1j * y, without nan where y is infinite."""
    finite = np.isfinite(y)
    if finite.all():
        return 1j * y
    product = 1j * np.where(finite, y, 0)
    sign = np.where(np.isnan(y), np.nan, np.where(np.greater(y, 0), 1.0, -1.0))
    ends = np.zeros(product.shape, product.dtype)
    ends.imag = np.inf * sign
    return np.where(finite, product, ends)


def like(x: Array, found: Array) -> Array:
    """Bring an array to the byte order of another; numbers have none."""
    return found if x.ndim == 0 or found.dtype == x.dtype else found.astype(x.dtype)


OF_INTEGERS = Refused(
    "it works on integers, which have no derivative; apply it to integers made of t.data"
)

PARTS: dict[Any, Entry] = {
    # Quotients and powers
    np.fmod: rule(lambda out, x, y: SAME, quiet(fmod_divisor)),
    np.divmod: outputs(
        lambda k, outs, x, y, **options: only(1, k, SAME),
        lambda k, outs, x, y, **options: only(1, k, -outs[0]),
        signature=as_ufunc("divmod", 2),
    ),
    np.float_power: rule(quiet(float_power_base), power_exponent),
    # Signs, whole parts and exponents
    np.copysign: rule(copysign, None),
    np.heaviside: rule(None, lambda out, x, y: Mask(np.equal(x, 0))),
    np.modf: outputs(
        lambda k, outs, x, **options: only(0, k, SAME),
        signature=as_ufunc("modf", 1),
    ),
    np.frexp: outputs(
        lambda k, outs, x, **options: only(0, k, Shift(-outs[1])),
        signature=as_ufunc("frexp", 1),
    ),
    np.ldexp: rule(lambda out, x, exponent: Shift(exponent), None),
    # Angles
    **dict.fromkeys((np.deg2rad, np.radians), rule(lambda out, x: DEGREE)),
    **dict.fromkeys((np.rad2deg, np.degrees), rule(lambda out, x: 1 / DEGREE)),
    np.unwrap: rule(
        lambda out, p, period, **options: SAME,
        quiet(whole_periods),
        signature=arguments_of(np.unwrap, "p period", "discont axis"),
        compute=unwrap,
        facts=facts.along(),
    ),
    np.angle: rule(
        quiet(angle), signature=arguments_of(np.angle, "z", "deg"), facts=facts.ELEMENTWISE
    ),
    # Special values
    np.nan_to_num: Derivation(nan_to_num, facts=facts.ELEMENTWISE),
    np.real_if_close: rule(
        real_if_close,
        signature=arguments_of(np.real_if_close, "a", "tol"),
        facts=facts.Facts(dtype_by_values=True, body=bodies.real_if_close),
    ),
    # Piecewise constant
    **constants(np.fix, facts=facts.ELEMENTWISE),
    **constants(np.spacing),
    np.nextafter: rule(lambda out, x, y: SAME, None),  # x and its least step
    # Of integers only
    **dict.fromkeys(
        (
            *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift),
            *(np.right_shift, np.bitwise_count, np.gcd, np.lcm),
        ),
        OF_INTEGERS,
    ),
}
