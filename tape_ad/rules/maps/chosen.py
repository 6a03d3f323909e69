"""Pulling a cotangent of which a 0 says that a branch was not taken.

``np.where(x > 0, np.sqrt(x), 0)`` does not choose the root of a negative number, so nothing of its
partial, nan, may be seen in the gradient; but 0 times nan is nan.
"""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from tape_ad.base.arrays.overridable import certainly
from tape_ad.rules.maps.base import Array, LinearMap
from tape_ad.rules.maps.elementwise import cut

__all__ = ["pull_chosen", "unless_all_zero"]


def pull_chosen(linear: LinearMap, ct: Array) -> Array:
    """Pull a cotangent whose zeros count for nothing, even where the partial is nan or inf.

    A map that `multiplies` with the arrays that it holds pulls through them without what is nan or
    inf there, and an element is what `pull` gives only where a cotangent other than 0 meets such a
    one. Any other, without a ``pull_chosen`` of its own, is left to its `pull`.
    """
    own: Any = getattr(linear, "pull_chosen", None)
    if callable(own):
        pulled: Array = own(ct)
        return pulled
    plain: Array = linear.pull(ct)
    if getattr(linear, "multiplies", None) is not True or certainly(np.isfinite(plain).all()):
        return plain
    finite, broken = of_finite(linear)
    met = broken.pull(np.where(np.equal(ct, 0), 0.0, 1.0))
    return np.where(np.equal(met, 0), finite.pull(ct), plain)


def unless_all_zero(ct: Array, pulled: Array, axes: tuple[int, ...]) -> Array:
    """Give what a cotangent pulls to, and 0 where it is 0 everywhere along some axes."""
    unseen = np.logical_and.reduce(np.equal(ct, 0), axis=axes, keepdims=True)
    return cut(unseen, ct, pulled)


def of_finite(linear: Any) -> tuple[Any, Any]:
    """Make a map of what is finite in a map's arrays, and one with 1 for what is not, else 0."""
    held = {
        field.alias: value
        for field in attrs.fields(type(linear))
        if field.init and holds_numbers(value := getattr(linear, field.name))
    }
    finite = {name: each(value, finite_part) for name, value in held.items()}
    broken = {name: each(value, not_finite) for name, value in held.items()}
    return attrs.evolve(linear, **finite), attrs.evolve(linear, **broken)


def holds_numbers(held: Any) -> bool:
    """Tell whether a field of a map is an array of real or complex numbers, or has some in it."""
    if isinstance(held, tuple):
        return any(map(holds_numbers, held))
    dtype = getattr(held, "dtype", None)
    return dtype is not None and hasattr(held, "ndim") and dtype.kind in "fc"


def each(held: Any, change: Callable[[Array], Array]) -> Any:
    """Change the arrays of numbers in a field of a map."""
    if isinstance(held, tuple):
        return tuple(each(inner, change) for inner in held)
    return change(held) if holds_numbers(held) else held


def finite_part(array: Array) -> Array:
    """Give 0 for what is nan or inf."""
    return np.where(np.isfinite(array), array, 0)


def not_finite(array: Array) -> Array:
    """Give 1 for what is nan or inf, and 0 for numbers."""
    return np.where(np.isfinite(array), 0.0, 1.0)
