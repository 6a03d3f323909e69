"""How a function of one of a batch is computed for all, where its facts say it."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.arrays.interpreter import Batch
from tape_ad.base.trees import flatten, unflatten
from tape_ad.batching.arrays import BatchedArray, batched_size, shape_of_one
from tape_ad.batching.basics import (
    Function,
    Handler,
    Looped,
    Options,
    all_of,
    as_axes,
    as_shape,
    blank_of_one,
    flattened,
    is_of,
    lone,
    ndim_of,
    refuse_batched,
    spread,
)
from tape_ad.batching.products import composed, with_axis
from tape_ad.batching.shapes import flags_of_one, laid_out, layout_of
from tape_ad.rules import call_signature
from tape_ad.rules.facts import Core, Facts
from tape_ad.rules.numpy.bodies import dtype_of


def elementwise(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Line up the axes of the operands behind that of the batch, and call the function once.

    In the order that is asked for, each lies by itself.
    """
    if function is np.copy and len(args) == 2:
        args, kwargs = args[:1], {**kwargs, "order": args[1]}
    if kwargs.get("order", "K") != "K":
        options = {name: x for name, x in kwargs.items() if name != "order"}
        out = elementwise(batch, function, args, options)
        return laid_out(BatchedArray(out, batch), common_order(args, kwargs["order"]))
    kinds = (str, type, np.dtype, type(None))
    arrays = [x for x in (*args, *kwargs.values()) if not isinstance(x, kinds)]
    for x in arrays:
        if isinstance(x, (list, tuple, dict)):
            refuse_batched(batch, x)
    ndim = max([ndim_of(x) for x in arrays if not isinstance(x, dict)], default=0)
    options = {name: all_of(batch, x, ndim) for name, x in kwargs.items()}
    return function(*[all_of(batch, x, ndim) for x in args], **options)


def common_order(operands: Any, order: Any) -> Any:
    """Say in which order a result lies; A is that of Fortran where all operands have it."""
    arrays = [x for x in operands if isinstance(x, (BatchedArray, np.ndarray))]
    if str(order).upper() != "A" or not arrays:
        return order
    flags = [flags_of_one(x) if isinstance(x, BatchedArray) else x.flags for x in arrays]
    return "F" if all(each is not None and each.f_contiguous for each in flags) else "C"


def cast(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Cast each."""
    options = dict(kwargs)
    order = options.pop("order", "K")
    x = lone(batch, args, kwargs)
    out = x.stack.astype(*args[1:], **options)
    return out if order == "K" else laid_out(BatchedArray(out, batch), layout_of(x, order))


def filled(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Make an array like a batched one, for all."""
    x = lone(batch, args, kwargs)
    shape = kwargs.get("shape")
    if shape is None:
        return function(x.stack, *args[1:], **kwargs)
    return function(x.stack, *args[1:], **{**kwargs, "shape": (batch.size, *as_shape(shape))})


def like_one(x: Any, path: str = "") -> Any:
    """Give an array of the shape and dtype of one, which lies as that does, without its values."""
    if type(x) is not BatchedArray:
        return x
    blank = blank_of_one(x)
    return np.broadcast_to(np.empty((), x.dtype), x.shape) if blank is None else blank


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
        one: Any = None
        kept = False
        if x.ndim == 0 and axis in (0, -1):
            one = function(np.zeros((), x.dtype), *args[1:], **kwargs)  # raises if it needs axes
            data, whole = flattened(x), 1
            if np.ndim(one) and options.get("keepdims") not in (None, False):
                raise Looped
        elif axis is None and self.lengths and (lengths := self.lengths_in(args, kwargs)):
            whole = tuple(range(-np.size(lengths), 0))
        elif axis is None and self.none == "all":
            whole = tuple(range(1, x.ndim + 1))
        elif axis is None:
            if self.beside or "keepdims" in parameters(function)[: len(args)]:
                raise Looped
            kept = options.pop("keepdims", None) not in (None, False)
            data, whole = flattened(x), 1
        else:
            whole = as_axes(axis, x.ndim)
        if len(args) > self.place:
            given[self.place - 1] = whole
        else:
            options[self.name] = whole
        out = function(data, *given, **options)
        if one is not None and out.ndim != 1 + np.ndim(one):  # as np.diff of no differences
            raise Looped
        return np.reshape(out, (-1, *(1,) * x.ndim)) if kept else out

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


def rolled(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Roll, the flattened arrays where no axis is named."""
    x = lone(batch, args, kwargs)
    out = Along(2)(batch, function, args, kwargs)
    return out if out.shape == x.stack.shape else out.reshape(x.stack.shape)


def quantiles(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Compute quantiles: the axes of their numbers come first."""
    q = args[1] if len(args) > 1 else kwargs.get("q")
    if is_of(q, batch):
        return quantiles_of_each(batch, function, args, kwargs)
    if q is None:
        raise Looped
    x, weights = lone(batch, args, kwargs), kwargs.get("weights")
    if weights is not None and np.shape(weights) == x.shape:  # else they are those along the axes
        kwargs = {**kwargs, "weights": np.broadcast_to(weights, x.stack.shape)}
    out = Along(2)(batch, function, args, kwargs)
    return np.moveaxis(out, ndim_of(q), 0) if ndim_of(q) else out


def quantiles_of_each(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Compute quantiles whose numbers are others for each: between two places in sorted rows.

    The function itself is asked for the places, of the places of as many elements.
    """
    bound = call_signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    a, q, method, axis = (given[name] for name in ("a", "q", "method", "axis"))
    kept = given["keepdims"] not in (np._NoValue, False)
    if any(given.get(name) is not None for name in ("out", "weights")) or not is_of(q, batch):
        raise Looped
    stack = spread(batch, a)
    axes = tuple(range(1, stack.ndim)) if axis is None else as_axes(axis, stack.ndim - 1)
    axes = tuple(i % stack.ndim for i in ((axes,) if isinstance(axes, int) else axes))
    others = [i for i in range(stack.ndim) if i not in axes]
    rows = np.transpose(stack, (*others, *axes))
    rows = np.reshape(rows, (*rows.shape[: len(others)], -1))
    passing = function in (np.nanquantile, np.nanpercentile)
    if rows.size == 0 or (passing and (q.ndim > 1 or np.any(np.isnan(rows)))):
        raise Looped
    n = rows.shape[-1]
    places = function(np.arange(float(n)), np.reshape(q.stack, (-1,)), method=method)
    places = np.reshape(places, (batch.size, *(1,) * (rows.ndim - 2), -1))
    places = np.broadcast_to(places, (*rows.shape[:-1], places.shape[-1]))
    below = np.clip(np.floor(places), 0, max(n - 2, 0))
    above = np.minimum(below + 1, n - 1)  # also at a place, where the slope is that of what follows
    share = places - below
    rows = np.sort(rows, axis=-1, kind="stable")
    first, second = (
        np.take_along_axis(rows, np.astype(each, np.intp), axis=-1) for each in (below, above)
    )
    step = second - first
    out = np.where(share < 0.5, first + step * share, second - step * (1 - share))
    out = np.where(np.isnan(rows[..., -1:]), np.nan, np.where(step == 0, first, out))
    shape = [
        1 if i in axes else stack.shape[i] for i in range(1, stack.ndim) if kept or i in others
    ]
    return np.reshape(np.moveaxis(out, -1, 1), (batch.size, *q.shape, *shape))


def norm(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
    """Compute a norm: of the elements, of a vector, or of a matrix."""
    x = lone(batch, args, kwargs)
    if len(args) > 3:
        args, kwargs = args[:3], {"keepdims": args[3]}
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


PLACES = {"reduce": 1, "accumulate": 1, "reduceat": 2}
"""Where the methods of ufuncs, which tell nobody, have their axis; it is 0 where none is named."""

NOWHERE = 99
"""The place of a parameter that is given by name alone."""


def derived(function: Function, facts: Facts) -> Handler | None:
    """Find how a function is computed for all by what is known of it; None if nothing is."""
    handler: Handler | None = None
    if facts.by is not None:
        handler = depending_on_call(facts.by)
    elif facts.axis:
        handler = along_axes(function, facts)
    elif facts.is_elementwise and not facts.operands:
        handler = elementwise
    elif facts.signature:
        names = facts.operands or parameters(function)[: len(facts.inputs)]
        every = parameters(function)
        places = [every.index(name) for name in names]
        handler = Cored(names, places, facts.inputs, facts.is_elementwise)
    others: list[Handler] = []
    if facts.body is not None:
        others.append(composed(facts.body, writes=facts.writes))
    if facts.moves and not facts.view:  # which a copy is none of
        others.append(Moved(facts.moves, *places_of(function, facts.moves)))
    for other in others:
        handler = other if handler is None else first_of(handler, other)
    return handler


def places_of(function: Function, names: Sequence[str]) -> list[int]:
    """Find where parameters stand; one that is given by name alone is nowhere."""
    every = parameters(function)
    return [every.index(name) if name in every else NOWHERE for name in names]


@frozen(init=False)
class Moved:
    """A function that moves elements: it is asked where it puts numbers that count them.

    Attributes
    ----------
    names : tuple of str
        The parameters whose elements it moves; ``*`` for all arguments.
    places : tuple of int
        Where they stand.
    """

    names: tuple[str, ...]
    places: tuple[int, ...]

    def __init__(self, names: tuple[str, ...], *places: int) -> None:
        self.__attrs_init__(names, places)

    def __call__(self, batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        """Call the function for numbers, and pick what they count."""
        given, options = list(args), dict(kwargs)
        keys: list[tuple[Any, Any]] = []
        for name, place in zip(self.names, self.places, strict=True):
            if name == "*":
                keys += [(given, i) for i in range(len(given))]
            elif place < len(given):
                keys.append((given, place))
            elif options.get(name) is not None:
                keys.append((options, name))
        trees = [where[key] for where, key in keys]
        arrays = flatten(trees)
        starts = itertools.accumulate(map(size_of, arrays), initial=1)
        numbers = [
            np.arange(start, start + size_of(x)).reshape(shape_of_one(x))
            for start, x in zip(starts, arrays, strict=False)
        ]
        zeros = [np.zeros(shape_of_one(x), dtype_of(x)) for x in arrays]
        found = []
        for leaves in (numbers, zeros):
            for (where, key), tree in zip(keys, unflatten(trees, leaves), strict=True):
                where[key] = tree
            if any(is_of(leaf, batch) for leaf in flatten((given, options))):
                raise Looped  # in an option
            found.append(function(*given, **options))
        places, fill = found
        rows = [np.reshape(spread(batch, x), (batch.size, -1)) for x in arrays if size_of(x)]
        if not rows:
            return np.broadcast_to(fill, (batch.size, *fill.shape)).copy()
        row = np.concatenate(rows, 1)
        turn = fill.flags.f_contiguous and not fill.flags.c_contiguous  # as it lies in memory
        picked = np.take(row, np.maximum(places.T if turn else places, 1) - 1, 1)
        picked = np.transpose(picked, (0, *range(fill.ndim, 0, -1))) if turn else picked
        picked = picked.astype(fill.dtype)
        return picked if np.all(places > 0) else np.where(places > 0, picked, fill)


def size_of(x: Any) -> int:
    """Count the elements of an operand of one."""
    return batched_size(shape_of_one(x))


def first_of(handler: Handler, other: Handler) -> Handler:
    """Make the handler that is one where that knows how, and else the other."""

    def either(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        try:
            return handler(batch, function, args, kwargs)
        except Looped:
            return other(batch, function, args, kwargs)

    return either


def depending_on_call(by: Callable[[Mapping[str, Any]], Facts]) -> Handler:
    """Make the handler for facts that depend on a call's arguments."""

    def handler(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        bound = call_signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        found = derived(function, by(bound.arguments))
        if found is None:
            raise Looped
        return found(batch, function, args, kwargs)

    return handler


def along_axes(function: Function, facts: Facts) -> Handler:
    """Make the handler of a function along axes."""
    place, default = axis_parameter(function, facts.axis)
    lengths = facts.lengths and (parameters(function).index(facts.lengths), facts.lengths)
    named = () if function.__name__ in PLACES else parameters(function)
    beside = {n: named.index(n) if n in named else NOWHERE for n in facts.beside}
    return Along(place, default, facts.none, facts.axis, lengths or None, beside)


def parameters(function: Function) -> tuple[str, ...]:
    """List the names of a function's parameters."""
    return tuple(call_signature(function).parameters)


def axis_parameter(function: Function, name: str) -> tuple[int, Any]:
    """Find where the parameter for the axis stands, and what it is where it is not given."""
    if function.__name__ in PLACES:
        return PLACES[function.__name__], 0
    every = call_signature(function).parameters
    return list(every).index(name), every[name].default


@frozen
class Cored:
    """A function of stacks of arrays: their own axes are the last ones.

    Attributes
    ----------
    names : sequence of str
        The parameters that are operands.
    places : sequence of int
        Where they stand among the parameters.
    cores : sequence of Core
        The axes of each; for a function of elements one for all.
    elementwise : bool
        Whether it is such a function.
    """

    names: Sequence[str]
    places: Sequence[int]
    cores: Sequence[Core]
    elementwise: bool

    def __call__(self, batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        """Call the function for all."""
        given, options = list(args), dict(kwargs)
        operands: list[tuple[Any, Any, Core]] = []
        cores = tuple(self.cores) * (len(self.names) if self.elementwise else 1)
        for name, place, core in zip(self.names, self.places, cores, strict=True):
            if place < len(given):
                operands.append((given, place, core))
            elif name in options:
                operands.append((options, name, core))
        loop, vectors = 0, False
        if not self.elementwise and (columns := columns_of(batch, operands, given, options)):
            return by_columns(function, given, options, *columns)
        for where, key, core in operands:
            x = where[key]
            ndim = 0 if x is None else ndim_of(x)
            if core.single:
                if is_of(x, batch):
                    raise Looped
                continue
            if core.optional and ndim == core.ndim - 1:
                where[key], vectors = with_axis(batch, x, -1), True
                ndim += 1
            if ndim < core.ndim:
                raise Looped  # where it is refused, for one
            loop = max(loop, ndim - core.ndim)
        for where, key, core in operands:
            where[key] = all_of(batch, where[key], loop + core.ndim)
        if any(is_of(leaf, batch) for leaf in flatten((given, options))):
            raise Looped  # in an option
        try:
            out = function(*given, **options)
        except ValueError:  # of one of them, which says so then; or SciPy takes no stack yet
            raise Looped from None
        out = out[..., 0] if vectors else out
        return tuple(out) if type(out) is list else out  # in which SciPy gives several stacks


def columns_of(batch: Batch, operands: Any, given: Any, options: Any) -> tuple[Any, Any] | None:
    """Find the right-hand side of a system, where nothing else is another for each."""
    if not operands or not operands[-1][2].optional:
        return None
    where, key, core = operands[-1]
    batched = [leaf for leaf in flatten((given, options)) if is_of(leaf, batch)]
    alone = len(batched) == 1 and batched[0] is where[key] and batched[0].ndim <= core.ndim
    if alone and any(ndim_of(at[name]) > each.ndim for at, name, each in operands[:-1]):
        return None  # a stack of matrices
    return (where, key) if alone else None


def by_columns(function: Function, given: Any, options: Any, where: Any, key: Any) -> Any:
    """Let the columns of all be columns of one, where the matrix is the same for each."""
    stack = where[key].stack
    size, n = stack.shape[:2]
    where[key] = np.reshape(np.moveaxis(stack, 0, -1), (n, -1))
    try:
        out = function(*given, **options)
    except ValueError:
        raise Looped from None
    return np.moveaxis(np.reshape(out, (*out.shape[:1], *stack.shape[2:], size)), -1, 0)
