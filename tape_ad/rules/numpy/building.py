"""Functions that build arrays: triangles, diagonals, powers, and numbers between two ends."""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Call,
    Derivation,
    Entry,
    Filled,
    Maker,
    arguments_of,
    as_array,
    axes_of,
    rule,
    writing,
)
from tape_ad.rules.maps import (
    Adjoint,
    Array,
    Chain,
    Divide,
    Index,
    LinearMap,
    Reshape,
    Shape,
    Stretch,
    WeightedSum,
)
from tape_ad.rules.numpy import bodies
from tape_ad.rules.numpy.shaping import memory_order
from tape_ad.rules.numpy.updates import updated

# Triangles and diagonals


def diagonal_index(matrix: Shape, k: int) -> Index:
    """Make the map that picks a diagonal of a matrix."""
    row, column = max(-int(k), 0), max(int(k), 0)
    length = max(min(matrix[0] - row, matrix[1] - column), 0)
    steps = np.arange(length)
    return Index((steps + row, steps + column), matrix, (length,))


def diag(out: Array, v: Array, k: int) -> LinearMap:
    """Make the partial of `diag`, which takes a diagonal or makes one."""
    if v.ndim == 2:
        return diagonal_index(v.shape, k)
    return Adjoint(diagonal_index(out.shape, k))


def diagflat(out: Array, v: Array, k: int) -> LinearMap:
    """Make the partial of `diagflat`."""
    index = diagonal_index(out.shape, k)
    return Chain((Reshape(v.shape, index.node), Adjoint(index)))


# Powers


def powers(out: Array, x: Array, N: int | None, increasing: bool) -> LinearMap:  # noqa: N803 - the name that NumPy gives it
    """Make the partial of `vander`: a column of x**p from the one of x**(p - 1)."""
    count = max(out.shape[1] - 1, 0)
    factors = np.arange(1, count + 1, dtype=out.real.dtype)
    lower, upper = slice(0, count), slice(1, count + 1)
    if increasing:
        slopes, key = out[:, lower] * factors, upper
    else:
        slopes, key = out[:, upper] * factors[::-1], lower
    spread = Adjoint(WeightedSum(slopes.conjugate(), 2, (-1,), keepdims=False))
    columns = Index((slice(None), key), out.shape, (out.shape[0], count))
    return Chain((spread, Adjoint(columns)))


# Numbers between two ends


@overridable
def linspace(
    start: Array,
    stop: Array,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Give the samples of `numpy.linspace`, without the step.

    Parameters
    ----------
    start, stop : array
        Shapes that broadcast with each other.
    num : int
    endpoint : bool
    dtype : dtype, optional
    axis : int

    Returns
    -------
    array
        As `numpy.linspace` gives it.
    """
    return np.linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)


def ends_signature(start: Array, stop: Array, num: int = 50, *args: Any, **options: Any) -> Call:
    """Sort the arguments of a function of two ends."""
    names = ("endpoint", "dtype", "axis")
    return (start, stop), {"num": num, **dict(zip(names, args, strict=False)), **options}


def linspace_and_step(
    start: Array,
    stop: Array,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Space numbers evenly; the step is one more result."""
    samples = linspace(start, stop, num, endpoint, dtype, axis)
    if not retstep:
        return samples
    divisor = num - 1 if endpoint else num
    return samples, (stop - start) / divisor if divisor > 0 else np.nan


def shares(out: Array, num: int, endpoint: bool, axis: int) -> Array:
    """Tell how much of each sample comes from the stop, in a shape that broadcasts to them."""
    divisor = max(num - 1 if endpoint else num, 1)
    (last,) = axes_of(out.ndim, axis)
    share: Array = (np.arange(num) / divisor).astype(out.real.dtype)
    return share.reshape((num,) + (1,) * (-1 - last))


def spread(weights: Array, out: Array, parent: Shape, axis: int) -> tuple[LinearMap, ...]:
    """Make the maps that broadcast an end, and weight it for each of the samples."""
    (last,) = axes_of(out.ndim, axis)
    number = last + out.ndim
    shape = (*out.shape[:number], *out.shape[number + 1 :])
    stretch = () if parent == shape else (Stretch(parent, shape),)
    along = WeightedSum(weights.conjugate(), out.ndim, (last,), keepdims=False)
    return (*stretch, Adjoint(along))


def partial_by(end: int, *, logarithmic: bool) -> Maker:
    """Make the maker of the partial with respect to the start, 0, or the stop, 1.

    The samples of `geomspace` are start**(1 - w) * stop**w.
    """

    def partial(
        out: Array, *ends: Array, num: int, endpoint: bool = True, axis: int = 0, **options: Any
    ) -> LinearMap:
        share = shares(out, num, endpoint, axis)
        weights = share if end else 1 - share
        shape = np.shape(ends[end])
        if logarithmic:
            return Chain((Divide(ends[end]), *spread(out * weights, out, shape, axis)))
        return Chain(spread(weights, out, shape, axis))

    return partial


@overridable
def geomspace(
    start: Array,
    stop: Array,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Give the samples of `numpy.geomspace` in a dtype that holds what the ends are."""
    return np.geomspace(start, stop, num, endpoint, dtype, axis)


def geomspace_in_any_dtype(
    start: Array,
    stop: Array,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Space numbers evenly on a logarithmic scale; the real part is taken last, as NumPy does."""
    wide = dtype
    if dtype is not None:
        wide = np.result_type(as_array(start), as_array(stop), 1.0, dtype)
    samples = geomspace(start, stop, num, endpoint, wide, axis)
    return samples if wide == dtype else np.astype(samples, np.dtype(dtype))


# Arrays to fill


@overridable
def filled_like(a: Array, fill_value: Any, **options: Any) -> Array:
    """Call `numpy.full_like` with plain data to fill the array with."""
    return np.full_like(a, fill_value, **options)


def full_like(
    a: Array,
    fill_value: Array,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Shape | int | None = None,
    *,
    device: Any = None,
) -> Array:
    """Fill an array like another one; it is a constant unless the value to fill with is none."""
    if isinstance(fill_value, np.ndarray) or not hasattr(fill_value, "__array_function__"):
        return filled_like(a, np.asarray(fill_value), dtype=dtype, order=order, shape=shape)
    wanted = a.dtype if dtype is None else np.dtype(dtype)
    if not hasattr(fill_value, "dtype"):  # a Python number that notes calls
        return filled_like(a, fill_value, dtype=dtype, order=order, shape=shape)
    value = fill_value if fill_value.dtype == wanted else fill_value.astype(wanted)
    full, layout = np.broadcast_to(value, a.shape if shape is None else shape), order
    if order not in ("C", "F"):
        layout = "C" if order == "K" and full.ndim != a.ndim else memory_order(a)
    if layout == order == "K":  # a part of an array, or one with its axes in any order
        return updated(filled_like(a, 0, dtype=dtype, shape=shape), value, ...)
    return np.copy(full, order="F" if layout == "F" else "C")


BUILDING: dict[Any, Entry] = {
    **bodies.own(np.tril, np.triu, facts=facts.cores("(m,n)->(m,n)")),
    np.diag: rule(diag, signature=arguments_of(np.diag, "v", "k"), facts=facts.moves("v")),
    np.diagflat: rule(
        diagflat, signature=arguments_of(np.diagflat, "v", "k"), facts=facts.moves("v")
    ),
    np.fill_diagonal: writing(
        "write np.where(np.eye(n, dtype=bool), value, t), or t = t.copy() and t[i, i] = value with "
        "i = np.arange(n)"
    ),
    np.vander: rule(
        powers, signature=arguments_of(np.vander, "x", "N increasing"), body=bodies.vander
    ),
    np.linspace: Derivation(linspace_and_step),
    linspace: rule(
        *(partial_by(end, logarithmic=False) for end in (0, 1)), signature=ends_signature
    ),
    **bodies.own(np.logspace),
    np.geomspace: Derivation(geomspace_in_any_dtype),
    geomspace: rule(
        *(partial_by(end, logarithmic=True) for end in (0, 1)), signature=ends_signature
    ),
    np.full_like: Derivation(full_like),
    filled_like: Filled(),
}
