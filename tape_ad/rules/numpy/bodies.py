"""Functions of NumPy as compositions of others: NumPy's own lines, or what stands for them.

What NumPy itself has written in Python is recorded as it stands there: see `own_lines`. The others
are bodies among facts, for calls that take no stack. What one cannot do, it refuses, and the
function itself is called.
"""

import functools
import inspect
import math
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import anywhere, as_in_key
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.rules.base import NO_VALUE, Derivation, Entry, as_array
from tape_ad.rules.facts import UNKNOWN, Facts
from tape_ad.rules.maps import Array

NO_BODY = UnsupportedArgumentError("there is no composition for this call")

SHORT = 256
"""Up to so many numbers are searched through one by one."""


# NumPy's own lines


def own_lines(function: Callable[..., Any], **names: Any) -> Callable[..., Any]:
    """Copy a function that NumPy has written in Python so that what it converts may be handles.

    The code is NumPy's, bound to other globals, in which `numpy.asarray` and its kind leave handles
    as they are.

    Parameters
    ----------
    function : callable
    **names
        What stands for further names of its module, and for those of Python.

    Examples
    --------
    >>> own_lines(np.trapezoid)([1.0, 3.0])
    np.float64(2.0)
    """
    lines: Any = inspect.unwrap(function)
    copied: Callable[..., Any] = bound_to(
        lines, globals_of(lines.__globals__["__name__"], tuple(names.items()))
    )
    return copied


def own(*functions: Callable[..., Any], facts: Facts = UNKNOWN, **names: Any) -> dict[Any, Entry]:
    """List functions of NumPy's that are compositions by their own lines; see `own_lines`.

    Examples
    --------
    >>> table = own(np.hsplit, np.vsplit)
    """
    return {each: Derivation(own_lines(each, **names), facts=facts) for each in functions}


def bound_to(lines: Any, namespace: dict[str, Any], closure: Any = NO_VALUE) -> Any:
    """Bind the code of a function to other globals, and to other variables around it."""
    closure = lines.__closure__ if closure is NO_VALUE else closure
    copied = FunctionType(lines.__code__, namespace, lines.__name__, lines.__defaults__, closure)
    copied.__kwdefaults__, copied.__doc__ = lines.__kwdefaults__, lines.__doc__
    copied.__qualname__, copied.__module__ = lines.__qualname__, lines.__module__
    copied.__dict__.update(lines.__dict__)
    return copied


@functools.cache
def globals_of(module: str, others: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Give the globals of a module of NumPy's, with conversions that keep handles."""
    found, changed = vars(sys.modules[module]), KEEPING | dict(others)
    kept_here = {name: each for name, each in KEEPING.items() if name in found}
    names = found | kept_here | dict(others)
    for name, each in found.items():
        if isinstance(each, ModuleType) and each.__name__.startswith("numpy"):
            names[name] = SimpleNamespace(**vars(each) | changed)
        elif isinstance(each, FunctionType) and name[0] == "_" and each.__globals__ is found:
            names[name] = bound_to(each, names)
    return names


def kept(a: Any, dtype: Any = None, order: Any = None, **options: Any) -> Array:
    """Stand in for `numpy.asarray` and `numpy.asanyarray`."""
    a = as_array(a)
    return a if dtype is None or a.dtype == dtype else a.astype(dtype)


def made(
    a: Any, dtype: Any = None, *, copy: bool | None = True, ndmin: int = 0, **options: Any
) -> Array:
    """Stand in for `numpy.array`."""
    found = kept(a, dtype)
    found = np.copy(found) if copy and found is a else found
    return np.reshape(found, (1,) * (ndmin - found.ndim) + found.shape)


KEEPING: dict[str, Any] = {
    **dict.fromkeys(("asarray", "asanyarray"), kept),
    "array": made,
    "broadcast": lambda *arrays: np.broadcast(*(np.empty(np.shape(each)) for each in arrays)),
}
"""What NumPy's own lines find in the place of some of its functions."""


def outer(a: Array, b: Array, out: None = None) -> Array:
    """Multiply all elements with all others; see `numpy.outer`."""
    return np.ravel(a)[:, None] * np.ravel(b)


def crossed(
    a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Multiply 3-vectors; see `numpy.cross`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise NO_BODY
    parts = [a[..., j] * b[..., k] - a[..., k] * b[..., j] for j, k in ((1, 2), (2, 0), (0, 1))]
    return np.moveaxis(np.stack(parts, axis=-1), -1, axisc)


def vdot(a: Array, b: Array) -> Array:
    """Add up products with conjugates; see `numpy.vdot`."""
    return np.conj(np.ravel(a)) @ np.ravel(b)


def kron(a: Array, b: Array) -> Array:
    """Multiply all elements of one with the whole other; see `numpy.kron`."""
    ndim = max(np.ndim(a), np.ndim(b))
    shapes = [(1,) * (ndim - np.ndim(x)) + np.shape(x) for x in (a, b)]
    a = np.reshape(a, [length for n in shapes[0] for length in (n, 1)])
    b = np.reshape(b, [length for n in shapes[1] for length in (1, n)])
    return np.reshape(a * b, [n * m for n, m in zip(*shapes, strict=True)])


polynomial = own_lines(np.polyval, poly1d=())
real_if_close = own_lines(np.real_if_close)


def convolved(a: Array, v: Array, mode: str = "full") -> Array:
    """Slide one vector, turned round, along another; see `numpy.convolve`."""
    a, v = (np.reshape(x, (1,)) if np.ndim(x) == 0 else x for x in (a, v))
    if any(np.ndim(x) != 1 for x in (a, v)) or not len(a) or not len(v):
        raise NO_BODY  # where it is refused
    a, v = (v, a) if len(v) > len(a) else (a, v)
    return slid(a, v[::-1], mode, len(v) - 1 - (len(v) - 1) // 2)


def correlated(a: Array, v: Array, mode: str = "valid") -> Array:
    """Slide one vector along another; see `numpy.correlate`."""
    if any(np.ndim(x) != 1 for x in (a, v)) or not len(a) or not len(v):
        raise NO_BODY  # where it is refused
    if len(v) > len(a):  # of vectors that change places, the result is turned round
        return slid(np.conj(v), a, mode, len(a) // 2)[::-1]
    return slid(a, np.conj(v), mode, len(v) // 2)


SUMMED = frozenset(map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128, np.int64)))
"""The dtypes that sums of products keep."""


def dtype_of(x: Any) -> np.dtype[Any]:
    """Give the dtype of an array, or of the one that a list or number is taken for."""
    return np.dtype(x.dtype) if hasattr(x, "dtype") else np.asarray(x).dtype


def slid(a: Array, v: Array, mode: str, before: int) -> Array:
    """Multiply windows of one vector by another that is no longer.

    Parameters
    ----------
    a, v : array of one axis
    mode : {"full", "same", "valid"}
    before : int
        How many zeros stand before the first element for "same".
    """
    rest = len(v) - 1
    widths = {"full": (rest, rest), "same": (before, rest - before), "valid": (0, 0)}
    if mode not in widths:
        raise NO_BODY  # where it is refused
    if np.result_type(dtype_of(a), dtype_of(v)) not in SUMMED:
        raise NO_BODY  # whose sums are of other dtypes
    windows, (first, last) = np.lib.stride_tricks.sliding_window_view, widths[mode]
    if type(v) is np.ndarray and np.all(np.isfinite(v)):
        with np.errstate(invalid="ignore"):  # of which NumPy's loop does not warn
            return windows(np.pad(a, (first, last)), len(v)) @ v

    def beyond(part: Array, width: tuple[int, int]) -> Array:
        there = windows(np.pad(np.ones(rest, bool), width), len(v))
        products = windows(np.pad(part, width), len(v)) * v
        return np.sum(np.where(there, products, 0), axis=-1)  # inf times what is not there is 0

    with np.errstate(invalid="ignore"):
        parts = [beyond(a[:rest], (first, 0))] if first else []
        parts.append(windows(a, len(v)) @ v)
        parts += [beyond(a[len(a) - rest :], (0, last))] if last else []
    return np.concatenate(parts)


# Joining


def block(arrays: Any) -> Array:
    """Join arrays in nested lists; see `numpy.block`."""

    def most_axes(part: Any) -> int:
        return max(map(most_axes, part)) if isinstance(part, list) else int(np.ndim(part))

    ndim = max(depth_of(arrays), most_axes(arrays))

    def joined(part: Any, axis: int) -> Any:
        if isinstance(part, list):
            return np.concatenate([joined(each, axis + 1) for each in part], axis)
        more = (1,) * (ndim - np.ndim(part))
        return np.reshape(part, more + np.shape(part)) if more else part

    whole: Array = joined(arrays, -depth_of(arrays))
    return whole


def depth_of(arrays: Any) -> int:
    """Count how deep lists are nested."""
    if isinstance(arrays, tuple):
        raise TypeError("np.block takes nested lists, and not tuples, of arrays")
    if not isinstance(arrays, list):
        return 0
    depths = set(map(depth_of, arrays))
    if len(depths) != 1:
        raise ValueError("np.block: List depths are mismatched, or a list is empty")
    return 1 + depths.pop()


# Selecting


def flat_nonzero(a: Array) -> Array:
    """Find where elements of the flattened array are not 0; see `numpy.flatnonzero`."""
    return np.nonzero(np.ravel(a))[0]


def rows_of_nonzero(a: Array) -> Array:
    """List the places of elements that are not 0; see `numpy.argwhere`."""
    if np.ndim(a) == 0:
        raise NO_BODY
    return np.stack(np.nonzero(a), axis=-1)


def compressed(condition: Array, a: Array, axis: int | None = None, out: Any = None) -> Array:
    """Pick where a condition holds along an axis; see `numpy.compress`."""
    if out is not None or np.ndim(condition) != 1:
        raise NO_BODY
    places = np.nonzero(condition)[0]
    return np.take(np.ravel(a) if axis is None else a, places, axis=axis or 0)


def extracted(condition: Array, arr: Array) -> Array:
    """Pick where a condition holds in the flattened arrays; see `numpy.extract`."""
    return np.take(np.ravel(arr), np.nonzero(np.ravel(condition))[0])


def lexsorted(keys: Any, axis: int = -1) -> Array:
    """Order by several keys, the last one first; see `numpy.lexsort`."""
    order: Any = None
    for key in keys:
        if np.ndim(key) == 0:
            raise NO_BODY
        rows = key if order is None else np.take_along_axis(key, order, axis)
        step = np.argsort(rows, axis=axis, kind="stable")
        order = step if order is None else np.take_along_axis(order, step, axis)
    return order


# Polynomials


def from_roots(seq_of_zeros: Array) -> Array:
    """Multiply out roots; see `numpy.poly`."""
    if np.ndim(seq_of_zeros) == 2 and len(seq_of_zeros):
        held = seq_of_zeros
        while hasattr(held, "stack"):
            held = held.stack
        if hasattr(held, "record"):
            raise NO_BODY  # as eigenvalues that coincide have no derivatives
        seq_of_zeros = np.linalg.eigvals(seq_of_zeros)
    if np.ndim(seq_of_zeros) != 1:
        raise NO_BODY  # where it is refused
    p: Any = np.ones(1, np.result_type(dtype_of(seq_of_zeros), np.ones(0)))
    for zero in seq_of_zeros:
        p = np.convolve(p, np.stack([np.ones_like(zero), -zero]))
    if dtype_of(p).kind != "c":
        return p
    apart = np.abs(np.sort(seq_of_zeros) - np.sort(np.conj(seq_of_zeros)))
    return p if anywhere(~(apart <= 0)) else np.real(p)  # as the values are


def roots(p: Array) -> Array:
    """Find the eigenvalues of companion matrices; see `numpy.roots`."""
    if np.ndim(p) != 1 or len(p) < 2 or anywhere(np.equal(p[0] * p[-1], 0)):
        raise NO_BODY  # where NumPy leaves zeros out
    first = -p[1:] / p[0]
    below = np.eye(len(p) - 2, len(p) - 1, dtype=first.dtype)
    found = np.linalg.eigvals(np.concatenate((first[None], below)))
    real = dtype_of(first).kind == "f" and not anywhere(np.abs(np.imag(found)) > 0)
    return np.real(found) if real else found


def is_place_or_slice(obj: Any) -> bool:
    """Tell whether `numpy.delete` takes out one place or a slice, in the order of the array."""
    return isinstance(obj, slice) or (np.size(obj) == 1 and np.asarray(obj).dtype != bool)


def vander(x: Array, N: int | None = None, increasing: bool = False) -> Array:  # noqa: N803 - NumPy's name
    """List the powers of numbers; see `numpy.vander`."""
    if np.ndim(x) != 1:
        raise NO_BODY  # where it is refused
    count = len(x) if N is None else N
    first = np.ones((len(x), min(count, 1)), np.promote_types(x.dtype, int))
    later = np.broadcast_to(x[:, None], (len(x), max(count - 1, 0)))
    powers = np.multiply.accumulate(np.concatenate((first, later), axis=1), axis=1)
    return powers if increasing else np.copy(powers[:, ::-1], order="C")


# Searching


def searched(a: Array, v: Array, side: str = "left", sorter: Any = None) -> Array:
    """Count the numbers before others in a short sorted list; see `numpy.searchsorted`."""
    a, v = as_array(a), as_array(v)
    if sorter is not None or len(a) > SHORT or np.result_type(a, v).kind not in "iuf":
        raise NO_BODY
    if side not in ("left", "right"):
        raise NO_BODY  # where it is refused
    v = np.expand_dims(v, -1)
    before = np.less(a, v) if side == "left" else np.less_equal(a, v)
    last = np.isnan(v) & (~np.isnan(a) if side == "left" else True)  # as nan is the largest
    return np.sum(before | last, axis=-1)


def within(
    element: Array,
    test_elements: Array,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Array:
    """Tell what is among some values, of which there are few; see `numpy.isin`."""
    if np.size(test_elements) > SHORT:
        raise NO_BODY
    x = element if hasattr(element, "dtype") else np.asarray(element)
    found = np.any(np.equal(x[..., None], np.ravel(test_elements)), axis=-1)
    return ~found if invert else found


def interpolated(x: Array, xp: Array, fp: Array) -> Array:
    """Interpolate, with constant values outside of the knots; see `numpy.interp`."""
    n = len(xp)
    if n == 0 or dtype_of(fp).kind == "c":  # whose parts NumPy interpolates apart
        raise NO_BODY
    first, last, low, high = xp[0], xp[-1], fp[0], fp[-1]
    if n == 1:  # of which NumPy gives the value for nan too
        return np.where(np.less(x, first), low, high)
    left = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, n - 2)
    right = left + 1
    xp, fp = as_in_key(xp, (left,)), as_in_key(fp, (left,))
    before, start, end = xp[left], fp[left], fp[right]
    with np.errstate(invalid="ignore"):  # beside infinity, of which NumPy does not warn
        slope = (end - start) / np.where(np.equal(before, xp[right]), 1, xp[right] - before)
        inner, back = slope * (x - before) + start, slope * (x - xp[right]) + end
    at_last, steep = np.equal(x, last), ~np.isfinite(slope)
    inner = np.where(np.isnan(inner) | at_last, back, inner)  # which has the slope on its left
    inner = np.where(np.isnan(inner) & np.equal(start, end), start, inner)
    steep = steep | np.isnan(inner)
    inner = np.where(steep & np.equal(x, before), start, inner)
    inner = np.where(steep & at_last, high, inner)
    inner = np.where(np.isnan(x), x, inner)
    return np.where(np.less(x, first), low, np.where(x > last, high, inner))


# Reductions


def variance(
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    **others: Any,
) -> Array:
    """Average the squares of what elements are off their mean; see `numpy.var`."""
    if others or dtype is not None or out is not None or dtype_of(a).kind == "c":
        raise NO_BODY
    centred = a - np.mean(a, axis=axis, keepdims=True)
    squares = centred * centred
    if ddof == 0:
        return np.mean(squares, axis=axis, keepdims=keepdims)
    total = np.sum(squares, axis=axis, keepdims=keepdims)
    return total / max(np.size(a) // max(np.size(total), 1) - ddof, 0)


def deviation(a: Array, *args: Any, **options: Any) -> Array:
    """Take the root of the variance; see `numpy.std`."""
    return np.sqrt(variance(a, *args, **options))


def largest(a: Array, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Find the place of the first of the largest elements, or of nan; see `numpy.argmax`."""
    return first(a, np.maximum.reduce(a, axis=axis, keepdims=True), axis, out, keepdims)


def smallest(a: Array, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Find the place of the first of the smallest elements, or of nan; see `numpy.argmin`."""
    return first(a, np.minimum.reduce(a, axis=axis, keepdims=True), axis, out, keepdims)


def first(a: Array, extreme: Array, axis: Any, out: Any, keepdims: bool) -> Array:
    """Find the place of the first element that is an extreme one, or nan."""
    if out is not None or dtype_of(a).kind == "c" or np.ndim(a) == 0:
        raise NO_BODY
    lengths = [n if axis is None or i == axis % np.ndim(a) else 1 for i, n in enumerate(a.shape)]
    count = math.prod(lengths)
    there = np.equal(a, extreme)
    there = np.logical_or(there, np.isnan(a)) if dtype_of(a).kind == "f" else there
    numbers = np.where(there, np.arange(count).reshape(lengths), count)
    return np.min(numbers, axis=axis, keepdims=keepdims)


# Linear algebra


def all_close(
    a: Array, b: Array, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> Array:
    """Tell whether all elements are nearly equal; see `numpy.allclose`."""
    return np.all(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))


def euclidean(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:  # noqa: A002 - NumPy's name
    """Take the root of a sum of squares, of real numbers; see `numpy.linalg.norm`."""
    is_euclidean = ord is None or (ord == 2 and isinstance(axis, int))
    if not is_euclidean or dtype_of(x).kind != "f":
        raise NO_BODY
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def least_squares(a: Array, b: Array, rcond: float | None = None) -> tuple[Array, ...]:
    """Solve for what fits best, by matrices of full rank; see `numpy.linalg.lstsq`."""
    if np.ndim(a) != 2 or 0 in np.shape(a) or np.ndim(b) not in (1, 2):
        raise NO_BODY
    if dtype_of(a) != np.result_type(dtype_of(a), dtype_of(b)):
        a = a.astype(np.result_type(dtype_of(a), dtype_of(b)))  # as the singular values are, too
    (m, n), dtype = np.shape(a), np.result_type(a, b, np.float64)
    q, r = np.linalg.qr(a) if m >= n else (None, a)
    s = np.linalg.svd(r, compute_uv=False)  # of a triangle, where there is one, it is quicker
    smallest = np.finfo(dtype).eps * (max(m, n) if rcond is None else 1)
    cut = smallest if rcond is None or rcond == -1 else rcond
    rank = np.sum(s > cut * s[0], axis=-1, dtype=np.intc)
    if anywhere(np.not_equal(rank, min(m, n))):
        raise NO_BODY  # of another rank, residuals have another shape
    columns = b if np.ndim(b) == 2 else b[:, None]
    if q is None:
        x = np.linalg.pinv(a, rcond=0.0) @ columns  # of full rank it is smooth; U and V are not
    else:
        x = np.linalg.solve(r, np.conj(q).mT @ columns)
    rest = columns - a @ x
    residuals = np.sum(np.square(np.abs(rest)), axis=0) if m > n else s[:0]
    return x if np.ndim(b) == 2 else x[:, 0], residuals, rank, s
