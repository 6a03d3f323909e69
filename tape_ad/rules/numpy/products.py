"""Products of vectors, matrices and stacks of them."""

import math
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np

from tape_ad.rules import facts
from tape_ad.rules.base import Call, Derivation, Entry, arguments_of, as_array, refuse, rule
from tape_ad.rules.maps import (
    Array,
    Chain,
    Conjugate,
    LinearMap,
    MatmulLeft,
    MatmulRight,
    Reshape,
    multiplied,
    times_matrix,
)
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.einsum import contraction


def dot(a: Array, b: Array, out: None = None) -> Array:
    """Multiply as `numpy.dot` does: the last axis of `a` with the last but one of `b`."""
    refuse("dot", out=out)
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim <= 2 and b.ndim <= 2:
        return np.matmul(a, b)
    return np.tensordot(a, b, (-1, max(b.ndim - 2, 0)))


def inner(a: Array, b: Array, /) -> Array:
    """Multiply the last axes of both."""
    a, b = as_array(a), as_array(b)
    if a.ndim == 0 or b.ndim < 2:
        return np.dot(a, b)
    return np.tensordot(a, b, (-1, -1))


def outer_left(out: Array, a: Array, b: Array) -> LinearMap:
    """Make the map of a column to its product with a row."""
    shape = np.shape(a)
    linear = MatmulLeft(np.reshape(b, (1, -1)), 2)
    return Chain((Reshape(shape, (math.prod(shape), 1)), linear))


def outer_right(out: Array, a: Array, b: Array) -> LinearMap:
    """Make the map of a row to its product with a column."""
    shape = np.shape(b)
    linear = MatmulRight(np.reshape(a, (-1, 1)), 2)
    return Chain((Reshape(shape, (1, math.prod(shape))), linear))


def conjugate(a: Array) -> Array:
    """Conjugate what is complex; real arrays stay the same object."""
    return a.conjugate() if a.dtype.kind == "c" else a


def conjugated(a: Array, linear: LinearMap) -> LinearMap:
    """Let a map act on the conjugate of its parent `a`."""
    return Chain((Conjugate(), linear)) if a.dtype.kind == "c" else linear


def weighted_by(vector: Array, parent: Array) -> LinearMap:
    """Make the map ``vector @ ravel(parent)``."""
    return Chain((Reshape(parent.shape, (parent.size,)), MatmulRight(np.ravel(vector), 1)))


def two_arrays(a: Array, b: Array, /) -> Call:
    """Sort the arguments of functions of two arrays and nothing else."""
    return (as_array(a), as_array(b)), {}


# The products that are generalized ufuncs


def generalized(name: str, *core: str, conjugates: bool = False) -> Entry:
    """Make the rule of a generalized ufunc of two operands that `numpy.einsum` can write.

    Parameters
    ----------
    name : str
    core : str
        The indices of the two operands and of the result, without those of the loop.
    conjugates : bool
        Whether the first operand is conjugated.
    """

    def signature(a: Array, b: Array, /, out: None = None, **options: Any) -> Call:
        refuse(name, out=out)
        return (a, b), options

    def maker(position: int) -> Callable[..., LinearMap]:
        def partial(out: Array, a: Array, b: Array, **options: Any) -> LinearMap:
            axes, kept = core_axes(core, **options)
            shape = out.shape
            if kept is not None:
                shape = tuple(n for i, n in enumerate(shape) if i != kept % out.ndim)
            ndims = (a.ndim, b.ndim, len(shape))
            *inputs, output = (term(*each) for each in zip(core, axes, ndims, strict=True))
            operands = (conjugate(a), b) if conjugates else (a, b)
            linear = contraction(position, out, *operands, inputs=tuple(inputs), output=output)
            if kept is not None:
                linear = Chain((linear, Reshape(shape, out.shape)))
            return conjugated(a, linear) if conjugates and position == 0 else linear

        return partial

    return rule(maker(0), maker(1), signature=signature)


def core_axes(
    core: Sequence[str],
    axes: Sequence[Any] = (),
    axis: int = -1,
    keepdims: bool = False,
    **others: Any,
) -> tuple[list[tuple[int, ...]], int | None]:
    """Tell which axes the core indices are, and which axis of length one is kept for one."""
    if not axes and "" in core:
        axes = (axis, axis, axis) if keepdims else (axis, axis)
    given = [each if isinstance(each, tuple) else (each,) for each in axes]
    kept = (given[2][0] if len(given) > 2 else -1) if keepdims else None
    found = [tuple(range(-len(letters), 0)) for letters in core]
    found[: len(given)] = given
    return ([*found[:2], ()], kept) if keepdims else (found, kept)


def term(letters: str, axes: tuple[int, ...], ndim: int) -> str:
    """Write the indices of an array: `letters` at `axes`, capitals elsewhere.

    Examples
    --------
    >>> term("j", (0,), 3)
    'jYZ'
    """
    places = {axis % ndim: i for axis, i in zip(axes, letters, strict=True)}
    rest = iter(ascii_uppercase[26 - ndim + len(letters) :])
    return "".join(places[i] if i in places else next(rest) for i in range(ndim))


PRODUCTS: dict[Any, Entry] = {
    np.matmul: rule(
        lambda out, a, b: MatmulLeft(b, a.ndim),
        lambda out, a, b: MatmulRight(a, b.ndim),
    ),
    np.dot: Derivation(dot),
    np.inner: Derivation(inner),
    np.outer: rule(
        outer_left, outer_right, signature=arguments_of(np.outer, "a b", ""), body=bodies.outer
    ),
    **bodies.own(np.tensordot),
    np.vdot: rule(
        lambda out, a, b: conjugated(a, weighted_by(b, a)),
        lambda out, a, b: weighted_by(conjugate(a), b),
        signature=two_arrays,
        body=bodies.vdot,
    ),
    times_matrix: Derivation(lambda a, b: multiplied(as_array(a), as_array(b))),
    np.kron: Derivation(bodies.kron, two_arrays, facts.composed(bodies.kron)),
    np.vecdot: generalized("vecdot", "i", "i", "", conjugates=True),
}
if hasattr(np, "matvec"):  # since NumPy 2.2
    PRODUCTS[np.matvec] = generalized("matvec", "ij", "j", "i")
    PRODUCTS[np.vecmat] = generalized("vecmat", "i", "ij", "j", conjugates=True)
