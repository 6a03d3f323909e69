"""Finite differences and the integrals that go with them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tape_ad.rules import facts
from tape_ad.rules.base import NO_VALUE, Derivation, Entry, along, as_array
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.bodies import own
from tape_ad.rules.numpy.shaping import memory_order
from tape_ad.rules.numpy.updates import updated

# Differences of neighbours


def along_where_alone(given: Mapping[str, Any]) -> facts.Facts:
    """Tell what is known of `numpy.diff`, which may join something to the array before."""
    joins = given["prepend"] is not NO_VALUE or given["append"] is not NO_VALUE
    return facts.UNKNOWN if joins or not np.any(given["n"]) else facts.along()


def ediff1d(ary: Array, to_end: Any = None, to_begin: Any = None) -> Array:
    """Difference all the elements in C order, with more put before and after."""
    ary = as_array(ary)
    inside = np.diff(np.ravel(ary))
    ends = [None if end is None else np.ravel(as_array(end)) for end in (to_begin, to_end)]
    for name, end in zip(("to_begin", "to_end"), ends, strict=True):
        if end is not None and not np.can_cast(end.dtype, ary.dtype, casting="same_kind"):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
    parts = [part for part in (ends[0], inside, ends[1]) if part is not None]
    if len(parts) == 1:
        return inside
    return np.concatenate(parts, dtype=ary.dtype, casting="same_kind")


# Derivatives


def gradient(f: Array, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Differentiate numerically, as `numpy.gradient` does, by formulae that are recorded.

    Coordinates that are handles get the formula for any spacing even if they are evenly spaced,
    for their derivatives are about spacings that are not even. The formulae are in Fornberg,
    "Generation of finite difference formulas on arbitrarily spaced grids" (1988).
    """
    f = as_array(f)
    if f.dtype.kind != "b":  # of which NumPy takes no differences
        f = inexact(f)
    numbers = range(f.ndim) if axis is None else normalize_axis_tuple(axis, f.ndim)
    axes = tuple(number - f.ndim for number in numbers)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    spacings = spacings_of(f, varargs, axes)
    along_axes = [
        derivative(f, h, each, edge_order) for h, each in zip(spacings, axes, strict=True)
    ]
    return along_axes[0] if len(along_axes) == 1 else tuple(along_axes)


def inexact(x: Array) -> Array:
    """Take integers and bools to float64."""
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def spacings_of(f: Array, given: tuple[Any, ...], axes: tuple[int, ...]) -> list[Any]:
    """Give the spacing along each axis: a number, or the steps from one place to the next."""
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and np.ndim(given[0]) == 0:
        return list(given) * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    return [
        h if np.ndim(h) == 0 else steps_of(as_array(h), f.shape[axis])
        for h, axis in zip(given, axes, strict=True)
    ]


def steps_of(coordinates: Array, length: int) -> Array:
    """Give the steps between coordinates; one number where they are equal and constant."""
    if coordinates.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if coordinates.shape[0] != length:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    coordinates = inexact(coordinates)
    steps = np.diff(coordinates)
    even = type(coordinates) is np.ndarray and bool(np.all(steps == steps[:1]))
    return steps[0] if even and length > 1 else steps


def derivative(f: Array, h: Any, axis: int, edge_order: int) -> Array:
    """Differentiate along one axis, a negative one."""
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    first, last = edges(f, h, axis, edge_order)
    parts = (first, interior(f, h, axis), last)
    out = np.concatenate(parts, axis=axis, dtype=f.dtype, casting="same_kind")
    return out if memory_order(f) == "C" else updated(np.empty_like(f), out, ...)


def interior(f: Array, h: Any, axis: int) -> Array:
    """Differentiate between the edges, by central differences of second order."""
    before, here, after = (
        f[along(axis, part)] for part in (slice(-2), slice(1, -1), slice(2, None))
    )
    if np.ndim(h) == 0:
        return (after - before) / (2.0 * h)
    h = np.reshape(h, (-1, *(1,) * (-axis - 1)))
    left, right = h[:-1], h[1:]
    return (
        -right / (left * (left + right)) * before
        + (right - left) / (left * right) * here
        + left / (right * (left + right)) * after
    )


def edges(f: Array, h: Any, axis: int, edge_order: int) -> tuple[Array, Array]:
    """Differentiate at both ends, by one-sided differences."""
    at = [f[along(axis, slice(i, i + 1))] for i in range(min(3, f.shape[axis]))]
    end = [f[along(axis, slice(-i - 1, -i or None))] for i in range(min(3, f.shape[axis]))]
    even = np.ndim(h) == 0
    if edge_order == 1:
        head, tail = (h, h) if even else (h[0], h[-1])
        return (at[1] - at[0]) / head, (end[0] - end[1]) / tail
    if even:
        a, b, c = 1.5 / h, 2.0 / h, 0.5 / h
        return b * at[1] - a * at[0] - c * at[2], c * end[2] - b * end[1] + a * end[0]
    return one_sided(at, h[0], h[1]), -one_sided(end, h[-1], h[-2])


def one_sided(f: list[Array], near: Any, far: Any) -> Array:
    """Differentiate at the first of three places by the parabola through them."""
    both = near + far
    return (
        -(near + both) / (near * both) * f[0]
        + both / (near * far) * f[1]
        - near / (far * both) * f[2]
    )


DIFFERENCES: dict[Any, Entry] = {
    **own(np.diff, facts=facts.depending(along_where_alone)),
    np.ediff1d: Derivation(ediff1d),
    np.gradient: Derivation(gradient),
    **own(np.trapezoid),
}
