"""Products, contractions and linear algebra."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import Batch
from tape_ad.batching.arrays import BatchedArray
from tape_ad.batching.basics import (
    Function,
    Handler,
    Looped,
    Options,
    all_of,
    is_of,
    loop_over,
    named,
    ndim_of,
    refuse_batched,
    spread,
)
from tape_ad.record.primals import memory_of
from tape_ad.rules.facts import read
from tape_ad.rules.sparse_products import matmul_sparse, times


def generalized(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Line up the axes in front of those that a function of whole arrays takes."""
    signature = function.signature  # type: ignore[attr-defined]  # it is a ufunc
    if "?" in signature and not kwargs:
        return product(batch, function, *args)
    options = dict(kwargs)
    cores, made = cores_of(signature)
    axis, axes = options.pop("axis", None), options.pop("axes", None)
    args = [x if hasattr(x, "ndim") else np.asarray(x) for x in args]
    loop = max(ndim_of(x) - core for x, core in zip(args, cores, strict=True))
    if options.pop("keepdims", False):
        made, options["keepdims"] = cores[:1], True
    if axis is not None:
        axes = [axis] * (len(cores) + (options.get("keepdims") is True))
    if axes is not None:
        ndims = [*map(ndim_of, args), *(loop + core for core in made)]
        options["axes"] = [from_behind(each, n) for each, n in zip(axes, ndims, strict=False)]
    refuse_batched(batch, list(options.values()))
    return with_cores(batch, function, args, cores, **options)


@functools.cache
def cores_of(signature: str) -> tuple[list[int], list[int]]:
    """Count the axes that a ufunc mixes: of the operands, and of the results."""
    inputs, outputs = read(signature)
    return [core.ndim for core in inputs], [core.ndim for core in outputs or ()]


def from_behind(axes: Any, ndim: int) -> Any:
    """Count axes from the last one, whatever stands in front of the first."""
    if isinstance(axes, tuple):
        return tuple(from_behind(axis, ndim) for axis in axes)
    if not -ndim <= axes < ndim:
        raise Looped  # where it is refused
    return axes if axes < 0 else axes - ndim


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


def sharing(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Tell whether the arrays of all share memory."""
    return function(*[memory_of(x) if is_of(x, batch) else x for x in args], **kwargs)


def contracted(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Give the batch an index of its own."""
    options = dict(kwargs)
    inputs, output = options.pop("inputs"), options.pop("output")
    letter = next(c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in "".join((*inputs, output)))
    pairs = list(zip(inputs, args, strict=True))
    named = tuple(letter + term if is_of(x, batch) else term for term, x in pairs)
    arrays = [x.stack if is_of(x, batch) else x for x in args]
    return function(*arrays, inputs=named, output=letter + output, **options)


def given(batch: Batch, out: Any) -> Any:
    """Give what one is given for all, also where it is the same for each."""
    if is_of(out, batch):
        return out.stack
    return (
        np.array(spread(batch, out)) if isinstance(out, (np.ndarray, np.generic)) else loop_over()
    )


def composed(lines: Callable[..., Any], *, writes: bool = False) -> Handler:
    """Take a function that is written in others, as one sees it; it may write to what it gets."""

    def handler(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        out = lines(*args, **kwargs)
        if (writes and out is None) or type(out) is bool:
            return out
        if isinstance(out, tuple):
            return type(out)([given(batch, each) for each in out])
        return given(batch, out)

    return handler


def sparse_product(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Multiply by a sparse matrix: the vectors of all are rows of one product."""
    left = function is matmul_sparse
    x, matrix = (
        named(args, kwargs, "x", "matrix") if left else named(args, kwargs, "matrix", "x")[::-1]
    )
    turned = not left and x.ndim == 2
    found = times(np.swapaxes(x.stack, -1, -2) if turned else x.stack, matrix if left else matrix.T)
    if x.ndim == 1 and found.shape[-1] == 1:  # of SciPy's coo_array that may be a number
        one = np.zeros(x.shape)
        return found[..., 0] if np.ndim(one @ matrix if left else matrix @ one) == 0 else found
    return np.swapaxes(found, -1, -2) if turned else found
