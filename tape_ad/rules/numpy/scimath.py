"""The functions of `numpy.emath`, which answer with complex numbers where the real ones give nan.

Each looks at the values, turns its operand complex if that is needed, and is then the function of
the same name in `numpy`. Beyond a branch point the derivative is the complex one.
"""

from typing import Any

import numpy as np

from tape_ad.rules.base import Derivation, Entry, as_array
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.elementwise import is_complex

__all__ = ["SCIMATH"]


def extended(x: Array, outside: Any) -> Array:
    """Turn an array complex if any of its real elements lies outside of a function's domain."""
    x = as_array(x)
    if is_complex(x) or not outside(x).any():
        return x
    half = x.dtype.type is np.float16  # which goes to double precision, as single does not
    return x.astype(np.complex128 if half else np.result_type(x.dtype, np.complex64))


def for_roots(x: Array) -> Array:
    """Prepare an operand of a function that takes real numbers from 0 on."""
    return extended(x, lambda x: np.less(x, 0))


def for_arcs(x: Array) -> Array:
    """Prepare an operand of a function that takes real numbers from -1 to 1."""
    return extended(x, lambda x: np.greater(x, 1) | np.less(x, -1))


def logn(n: Array, x: Array) -> Array:
    """Compute the logarithm to base n."""
    return np.log(for_roots(x)) / np.log(for_roots(n))


def power(x: Array, p: Array) -> Array:
    """Compute ``x**p``, complex where the real power is nan."""
    return np.power(for_roots(x), as_array(p))


SCIMATH: dict[Any, Entry] = {
    np.emath.sqrt: Derivation(lambda x: np.sqrt(for_roots(x))),
    np.emath.log: Derivation(lambda x: np.log(for_roots(x))),
    np.emath.log2: Derivation(lambda x: np.log2(for_roots(x))),
    np.emath.log10: Derivation(lambda x: np.log10(for_roots(x))),
    np.emath.logn: Derivation(logn),
    np.emath.power: Derivation(power),
    np.emath.arcsin: Derivation(lambda x: np.arcsin(for_arcs(x))),
    np.emath.arccos: Derivation(lambda x: np.arccos(for_arcs(x))),
    np.emath.arctanh: Derivation(lambda x: np.arctanh(for_arcs(x))),
}
