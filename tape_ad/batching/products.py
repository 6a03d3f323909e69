"""Products, contractions and linear algebra."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.arrays.batches import Batch
from tape_ad.batching.arrays import BatchedArray, shape_of_one
from tape_ad.batching.basics import (
    Function,
    Handler,
    Looped,
    Options,
    all_of,
    is_of,
    lone,
    loop_over,
    named,
    ndim_of,
)

__all__ = [
    "composed",
    "contracted",
    "convolved",
    "correlated",
    "crossed",
    "einsum",
    "generalized",
    "inner",
    "kron",
    "outer",
    "picked",
    "polynomial",
    "solve",
    "trailing",
    "vdot",
    "with_axis",
]


def generalized(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Line up the axes in front of those that a function of whole arrays takes."""
    signature = function.signature  # type: ignore[attr-defined]  # it is a ufunc
    if kwargs:
        raise Looped
    if "?" in signature:
        return product(batch, function, *args)
    cores = [part.count(",") + 1 for part in signature.partition("->")[0].split("),")]
    return with_cores(batch, function, args, cores)


def with_cores(
    batch: Batch, function: Function, args: Sequence[Any], cores: Sequence[int], **options: Any
) -> Any:
    """Call a function of stacks of arrays, whose own axes are the last ones, as many as `cores`."""
    ndims = list(map(ndim_of, args))
    if any(ndim < core for ndim, core in zip(ndims, cores, strict=True)):
        raise Looped  # where it is refused, for one
    loop = max(ndim - core for ndim, core in zip(ndims, cores, strict=True))
    return function(
        *[all_of(batch, x, loop + core) for x, core in zip(args, cores, strict=True)], **options
    )


def product(batch: Batch, function: Function, x: Any, y: Any) -> Any:
    """Compute ``x @ y``."""
    x_ndim, y_ndim = ndim_of(x), ndim_of(y)
    if x_ndim == 0 or y_ndim == 0:
        raise Looped  # where it is refused
    if y_ndim == 1 and x_ndim == 2 and not is_of(x, batch):
        return function(y.stack, np.transpose(x))
    if x_ndim == 1 and y_ndim == 2 and not is_of(y, batch):
        return function(x.stack, y)
    loop = max(x_ndim, y_ndim, 2) - 2
    if x_ndim == 1:
        x = with_axis(batch, x, -2)
    if y_ndim == 1:
        y = with_axis(batch, y, -1)
    out = function(all_of(batch, x, loop + 2), all_of(batch, y, loop + 2))
    if y_ndim == 1:
        out = out[..., 0]
    return out[..., 0] if x_ndim == 1 and y_ndim == 1 else out[..., 0, :] if x_ndim == 1 else out


def with_axis(batch: Batch, x: Any, axis: int) -> Any:
    """Insert an axis into a vector."""
    key = (..., None, slice(None)) if axis == -2 else (..., None)
    return (
        BatchedArray(x.stack[key], batch)
        if is_of(x, batch)
        else np.asarray(x)[key]
        if isinstance(x, list)
        else x[key]
    )


def einsum(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Give the batch a letter of its own."""
    if not isinstance(args[0], str):
        raise Looped
    terms, operands = args[0].replace(" ", ""), args[1:]
    inputs, arrow, output = terms.partition("->")
    if not arrow:
        letters = set(inputs) - set(",.")
        output = "..." * ("..." in inputs) + "".join(
            sorted(letter for letter in letters if inputs.count(letter) == 1)
        )
    letter = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in terms)
    parts = inputs.split(",")
    if len(parts) != len(operands):
        raise Looped
    dots = max(
        [
            ndim_of(x) - len(part) + 3
            for part, x in zip(parts, operands, strict=True)
            if "..." in part
        ],
        default=0,
    )
    if dots and any(part and "..." in part and not part.startswith("...") for part in parts):
        raise Looped
    named = []
    for part, x in zip(parts, operands, strict=True):
        named.append(letter + part if is_of(x, batch) else part)
    arrays = [x.stack if is_of(x, batch) else x for x in operands]
    return function(f"{','.join(named)}->{letter}{output}", *arrays, **kwargs)


def solve(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Solve systems, with a vector or a matrix on the right."""
    a, b = named(args, kwargs, "a", "b")
    if ndim_of(b) != 1:
        return with_cores(batch, function, (a, b), (2, 2))
    return with_cores(batch, function, (a, with_axis(batch, b, -1)), (2, 2))[..., 0]


def trailing(core: int) -> Handler:
    """Take a function that acts on the last axes, as many as `core`, of stacks of arrays."""

    def handler(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        x = lone(batch, args, kwargs)
        if x.ndim < core:
            raise Looped
        return function(x.stack, *args[1:], **kwargs)

    return handler


def picked(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Multiply matrices."""
    return product(batch, np.matmul, *named(args, kwargs, "rows", "right"))


def contracted(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Give the batch an index of its own."""
    options = dict(kwargs)
    inputs, output = options.pop("inputs"), options.pop("output")
    letter = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in "".join((*inputs, output)))
    pairs = list(zip(inputs, args, strict=True))
    named = tuple(letter + term if is_of(x, batch) else term for term, x in pairs)
    arrays = [x.stack if is_of(x, batch) else x for x in args]
    return function(*arrays, inputs=named, output=letter + output, **options)


def composed(lines: Callable[..., Any], *, writes: bool = False) -> Handler:
    """Take a function that is written in others, as one sees it; it may write to what it gets."""

    def handler(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        out = lines(*args, **kwargs)
        if writes and out is None:
            return None
        return out.stack if is_of(out, batch) else loop_over()  # as for NotImplemented

    return handler


def outer(a: Any, b: Any) -> Any:
    """Multiply all elements with all others; see `numpy.outer`."""
    return np.ravel(a)[:, None] * np.ravel(b)


def inner(a: Any, b: Any) -> Any:
    """Add up products over the last axes; see `numpy.inner`."""
    return a * b if ndim_of(a) == 0 or ndim_of(b) == 0 else np.tensordot(a, b, (-1, -1))


def vdot(a: Any, b: Any) -> Any:
    """Add up products with conjugates; see `numpy.vdot`."""
    return np.conj(np.ravel(a)) @ np.ravel(b)


def kron(a: Any, b: Any) -> Any:
    """Multiply all elements of one with the whole other; see `numpy.kron`."""
    ndim = max(ndim_of(a), ndim_of(b))
    shapes = [(1,) * (ndim - ndim_of(x)) + shape_of_one(x) for x in (a, b)]
    a = np.reshape(a, [length for n in shapes[0] for length in (n, 1)])
    b = np.reshape(b, [length for n in shapes[1] for length in (1, n)])
    return np.reshape(a * b, [n * m for n, m in zip(*shapes, strict=True)])


def crossed(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Multiply vectors of three numbers."""
    if kwargs or len(args) != 2 or any(shape_of_one(x)[-1:] != (3,) for x in args):
        raise Looped
    return with_cores(batch, function, args, (1, 1))


def polynomial(p: Any, x: Any) -> Any:
    """Compute polynomials by Horner's scheme, as `numpy.polyval` does."""
    value = np.zeros_like(x) if hasattr(x, "dtype") else 0 * x
    for i in range(len(p)):
        value = value * x + p[i]
    return value


def convolved(a: Any, v: Any, mode: str = "full") -> Any:
    """Slide one vector, turned round, along another; see `numpy.convolve`."""
    if any(ndim_of(x) != 1 for x in (a, v)) or not len(a) or not len(v):
        raise Looped  # where it is refused, or reshaped
    a, v = (v, a) if len(v) > len(a) else (a, v)
    return slid(a, v[::-1], mode, len(v) - 1 - (len(v) - 1) // 2)


def correlated(a: Any, v: Any, mode: str = "valid") -> Any:
    """Slide one vector along another; see `numpy.correlate`."""
    if any(ndim_of(x) != 1 for x in (a, v)) or not len(a) or not len(v) or len(v) > len(a):
        raise Looped  # of vectors that change places, the result is turned round
    return slid(a, np.conj(v), mode, len(v) // 2)


def slid(a: Any, v: Any, mode: str, before: int) -> Any:
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
        raise Looped  # where it is refused
    windows = np.lib.stride_tricks.sliding_window_view
    parts = windows(np.pad(a, widths[mode]), len(v))
    if mode == "valid" or (type(v) is np.ndarray and np.all(np.isfinite(v))):
        return parts @ v
    there = windows(np.pad(np.ones(len(a), bool), widths[mode]), len(v))
    with np.errstate(invalid="ignore"):
        products = parts * v
    return np.sum(np.where(there, products, 0), axis=-1)  # inf times what is not there is nothing
