"""Functions along axes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.arrays.batches import Batch
from tape_ad.batching.arrays import BatchedArray
from tape_ad.batching.basics import (
    Function,
    Looped,
    Options,
    all_of,
    as_axes,
    flattened,
    is_of,
    lone,
    ndim_of,
    spread,
)

__all__ = ["Along", "differences", "norm", "quantiles", "rolled"]


@frozen
class Along:
    """A function along an axis, or along several.

    Attributes
    ----------
    place : int
        Where the axis stands among the arguments.
    default : int, tuple of int or None
        The axis where none is named.
    none : {"all", "flat"}
        What None means: all axes, or the one of the flattened array.
    name : str
        The name of the argument.
    lengths : (int, str) or None
        The place and the name of the argument that has a length for each axis, if there is one.
    beside : dict of str to int
        The names and places of further operands, which are broadcast against the first.
    """

    place: int
    default: int | tuple[int, ...] | None = None
    none: str = "flat"
    name: str = "axis"
    lengths: tuple[int, str] | None = None
    beside: Mapping[str, int] = field(factory=dict)

    def __call__(self, batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        """Call the function for all."""
        if self.beside:
            args, kwargs = self.aligned(batch, args, kwargs)
        x = lone(batch, args, kwargs)
        options, given = dict(kwargs), list(args[1:])
        axis = options.pop(self.name, self.default)
        if len(args) > self.place:
            axis = args[self.place]
        data = x.stack
        whole: Any
        if axis is None and self.lengths and (lengths := self.lengths_in(args, kwargs)):
            whole = tuple(range(-np.size(lengths), 0))
        elif axis is None and self.none == "all":
            whole = tuple(range(1, x.ndim + 1))
        elif axis is None:
            if options.get("keepdims") not in (None, False) or self.beside:
                raise Looped
            data, whole = flattened(x), 1
        else:
            whole = as_axes(axis, x.ndim)
        if len(args) > self.place:
            given[self.place - 1] = whole
        else:
            options[self.name] = whole
        return function(data, *given, **options)

    def aligned(self, batch: Batch, args: Any, kwargs: Options) -> tuple[Any, Options]:
        """Give the arguments with all operands in stacks that are broadcast against each other."""
        given, options = list(args), dict(kwargs)
        if not is_of(given[0], batch):
            given[0] = BatchedArray(spread(batch, given[0]), batch)
        for name, place in self.beside.items():
            where: Any
            key: Any
            where, key = (given, place) if place < len(given) else (options, name)
            x = options.get(name) if where is options else given[place]
            if is_of(x, batch):
                if ndim_of(x) > given[0].ndim:
                    raise Looped
                where[key] = all_of(batch, x, given[0].ndim)
        return given, options

    def lengths_in(self, args: Any, kwargs: Options) -> Any:
        """Give the lengths of the axes, if they are given."""
        place, name = self.lengths or (0, "")
        return args[place] if len(args) > place else kwargs.get(name)


def differences(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Take differences; what is put before and behind is joined to each alone."""
    if kwargs.keys() - {"n", "axis"} or len(args) > 3:
        raise Looped
    return Along(2, -1)(batch, function, args, kwargs)


def rolled(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Roll, the flattened arrays where no axis is named."""
    x = lone(batch, args, kwargs)
    out = Along(2)(batch, function, args, kwargs)
    return out if out.shape == x.stack.shape else out.reshape(x.stack.shape)


def quantiles(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Compute quantiles: the axes of their numbers come first."""
    q = args[1] if len(args) > 1 else kwargs.get("q")
    if q is None or kwargs.get("weights") is not None:
        raise Looped
    out = Along(2)(batch, function, args, kwargs)
    return np.moveaxis(out, ndim_of(q), 0) if ndim_of(q) else out


def norm(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Compute a norm: of the elements, of a vector, or of a matrix."""
    x = lone(batch, args, kwargs)
    if len(args) > 3:
        raise Looped
    order = args[1] if len(args) > 1 else kwargs.get("ord")
    axis = args[2] if len(args) > 2 else kwargs.get("axis")
    kept = {"keepdims": True} if kwargs.get("keepdims") else {}
    if axis is not None:
        return function(x.stack, order, as_axes(axis, x.ndim), **kept)
    if order is None:
        out = function(flattened(x), None, 1)
        return np.reshape(out, (-1, *(1,) * x.ndim)) if kept else out
    if x.ndim not in (1, 2):
        raise Looped
    return function(x.stack, order, 1 if x.ndim == 1 else (1, 2), **kept)
