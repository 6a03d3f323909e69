"""NumPy's functions that would turn handles into plain arrays, and what they do in copies."""

import operator
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.arrays.overridable import array_of
from tape_ad.base.errors import NoRuleError
from tape_ad.base.naming import called
from tape_ad.record.constants import CONSTANTS, as_array_constants, borrowed, wrapped
from tape_ad.record.creation import taken
from tape_ad.record.primals import is_number, primal
from tape_ad.transforms.differentiable.compiled import FOR_COMPILED
from tape_ad.transforms.differentiable.kinds import is_pythons, real
from tape_ad.transforms.differentiable.reach import is_active, reaches
from tape_ad.transforms.differentiable.table import (
    ABSENT,
    ORIGINALS,
    note_stand_in,
    original_of,
    replaced,
    stands_in_for,
)

Function = Callable[..., Any]

SEQUENCES = (list, tuple)


def each_of(*functions: Any) -> tuple[Any, ...]:
    """List functions, of which each has a type of its own."""
    return functions


def holds(value: Any, depth: int = 4) -> bool:
    """Tell whether something is a handle, or nested lists with one in them."""
    if is_active(value):
        return True
    if type(value) is np.ndarray:
        return value.dtype.hasobject and any(map(is_active, value.flat))
    if not isinstance(value, SEQUENCES):
        return gives_array(value) and reaches(value) and is_active(held(value))
    if not depth:
        return False
    kinds = set(map(type, value))
    return not kinds <= NUMBERS and any(holds(each, depth - 1) for each in value)


def gives_array(value: Any) -> bool:
    """Tell whether something is an object of a copied class that code in C may ask for an array."""
    return hasattr(getattr(type(value), "__array__", None), "keeping")


def held(value: Any) -> Any:
    """Give what such an object gives, which may be a handle; anything else as it is."""
    if type(value) in SEQUENCES:
        found = [held(each) for each in value]
        return value if all(map(operator.is_, found, value)) else found
    return type(value).__array__.keeping(value) if gives_array(value) else value


NUMBERS = frozenset({int, float, complex, bool, str, np.float64, np.int64, type(None)})


@stands_in_for(hash)
def hash_(value: Any) -> int:
    """Stand in for `hash`, which refuses handles: what is kept by it would be found by another.

    Dicts and sets compare those that they find, and so tell a tie.
    """
    if holds(value):
        raise TypeError(
            "a handle is unhashable, for another of the same number would be taken for it; write "
            "hash(t.item()) if no gradient is meant to flow"
        )
    return hash(value)


def as_array_handle(value: Any) -> Any:
    """Make one handle, of an array, of a handle or of nested lists with some in them."""
    value = held(value)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        value = value.tolist()
    handle = array_of(value) if isinstance(value, SEQUENCES) else value
    handle = np.positive(handle) if is_pythons(handle) else handle
    return np.copy(handle) if is_number(handle) else handle  # NumPy makes an array of a number


def array_handle_of(
    function: Function, value: Any, dtype: Any = None, *args: Any, **options: Any
) -> Any:
    """Give a handle in the place of the array that one of NumPy's functions would make."""
    value = held(value)
    if dtype is not None:
        if real(dtype) in (object, np.object_):
            return objects_of(value)
        dtype = np.dtype(dtype)
    return taken(function, value, dtype, *args, join=as_array_handle, **options)


def objects_of(value: Any) -> Any:
    """Make an array of objects that are handles of numbers.

    Raises
    ------
    NoRuleError
        When it has several axes.
    """
    values = value if not is_active(value) else [*value] if value.ndim else [value]
    if any(np.ndim(each) for each in values):
        raise NoRuleError("an array of objects with several axes takes no handles; leave out dtype")
    found = np.empty(len(values), dtype=object)
    for i, each in enumerate(values):
        found[i] = each
    return found


def taking(function: Function) -> None:
    """Let a function that makes an array of something keep handles, and give a fillable array."""

    @stands_in_for(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        if not args:
            name = next((name for name in ("object", "a") if name in kwargs), None)
            if name is None:
                return function(**kwargs)
            args = (kwargs.pop(name),)
        first = args[0]
        if kwargs.get("like", 0) is None:
            del kwargs["like"]
        if holds(first):
            return array_handle_of(function, *args, **kwargs)
        if type(first) in CONSTANTS:
            out = function(first.data, *args[1:], **kwargs)
            return first if out is first.data else wrapped(out, (first,))
        if isinstance(first, SEQUENCES):
            args = (unwrapped(first), *args[1:])
        out = function(*args, **kwargs)
        if type(out) is not np.ndarray:
            return out
        fresh = out is not first and out.flags.owndata and out.flags.writeable
        return as_array_constants(out) if fresh else borrowed(out)


for _function in each_of(
    np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray
):
    taking(_function)


CLEARED: dict[Any, Function] = {np.empty: np.zeros, np.empty_like: np.zeros_like}
"""What leaves in an array what memory held, which no replay finds again, and what does not."""


def filling(function: Function) -> None:
    """Let a function that makes an array give one that handles may be assigned to."""
    making = CLEARED.get(function, function)

    @stands_in_for(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        if any(map(holds, args)) or any(map(holds, kwargs.values())):
            args = tuple(as_array_handle(each) if holds(each) else each for each in args)
            return making(*args, **kwargs)
        out = making(*unwrapped(args), **unwrapped(kwargs))
        if type(out) is not np.ndarray or not out.flags.writeable:
            return out
        return as_array_constants(out if out.flags.owndata else out.copy())  # as that of np.tile


for _function in each_of(np.zeros, np.empty, np.ones, np.eye, np.identity, np.tri, np.copy):
    filling(_function)
for _function in each_of(np.tile, np.repeat, np.linspace, np.diag, np.diagflat, np.vander):
    filling(_function)


@stands_in_for(np.arange)
def arange(*args: Any, **options: Any) -> Any:
    """Stand in for `numpy.arange`; how many numbers there are is that of the plain ones.

    Raises
    ------
    NoRuleError
        For whole numbers, which are sizes and orders, of which code asks no others.
    """
    if not any(map(holds, (*args, *options.values()))):
        return as_array_constants(np.arange(*unwrapped(args), **unwrapped(options)))
    names = ("start", "stop", "step") if len(args) > 1 or "stop" in options else ("stop",)
    given = {"start": 0, "step": 1, **dict(zip(names, args, strict=False)), **options}
    start, step = given["start"], given["step"]
    ends = [primal(start), primal(given["stop"]), primal(step)]
    if all(np.all(np.equal(np.round(each), each)) for each in ends):
        raise NoRuleError(
            "np.arange from and to whole numbers counts, so it takes no handles; pass t.data, or "
            "write start + step * np.arange(n)"
        )
    count = np.arange(*ends).size
    found = start + step * np.arange(count)
    return found if given.get("dtype") is None else found.astype(given["dtype"])


def like(function: Function) -> None:
    """Let ``zeros_like`` and its kind give arrays that handles may be assigned to."""
    making = CLEARED.get(function, function)

    @stands_in_for(function)
    def calling(a: Any, *args: Any, **kwargs: Any) -> Any:
        given = as_array_handle(a) if holds(a) else unwrapped(a)
        model = primal(given)
        if is_active(model) or hasattr(model, "batch_here"):
            return making(given, *args, **kwargs)
        return as_array_constants(making(model, *args, **kwargs))


for _function in each_of(np.zeros_like, np.empty_like, np.ones_like):
    like(_function)


@stands_in_for(np.full)
def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **options: Any) -> Any:
    """Stand in for `numpy.full`."""
    if not holds(fill_value):
        return as_array_constants(np.full(shape, unwrapped(fill_value), dtype, order, **options))
    value = as_array_handle(fill_value)
    found = np.copy(np.broadcast_to(value, shape))
    return found if dtype is None or found.dtype == np.dtype(dtype) else found.astype(dtype)


@stands_in_for(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    """Stand in for `numpy.full_like`."""
    if not holds(a) and not holds(fill_value):
        given = unwrapped(a), unwrapped(fill_value)
        return as_array_constants(np.full_like(*given, dtype, *args, **options))
    model = as_array_handle(a) if holds(a) else np.asarray(a)
    shape = options.get("shape")
    return full(model.shape if shape is None else shape, fill_value, dtype or model.dtype)


@stands_in_for(np.fromiter)
def fromiter(values: Any, dtype: Any, count: int = -1, **options: Any) -> Any:
    """Stand in for `numpy.fromiter`."""
    listed = list(values)
    if not holds(listed):
        return as_array_constants(np.fromiter(unwrapped(listed), dtype, count, **options))
    return array_handle_of(np.asarray, listed[: None if count < 0 else count], dtype)


def without_lists(value: Any) -> Any:
    """Give a list with handles in it as one handle; anything else as it is."""
    return as_array_handle(value) if is_listed(value) and holds(value) else value


def is_listed(value: Any) -> bool:
    """Tell whether something is a list, or an object of a copied class that stands for an array."""
    return type(value) in SEQUENCES or (
        gives_array(value) and not hasattr(type(value), "__array_function__")
    )


def joining_lists(function: Function) -> None:
    """Let a function of arrays take lists with handles in them, as it takes lists of numbers."""

    @stands_in_for(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(without_lists, args))
        kwargs = {name: without_lists(value) for name, value in kwargs.items()}
        return started(INITIAL.get(function), function, args, kwargs)


@stands_in_for(np.broadcast_arrays)
def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """Stand in for `numpy.broadcast_arrays`; copies of plain arrays may be assigned handles."""
    found, given = [], [without_lists(x) for x in args]
    for own, x in zip(given, np.broadcast_arrays(*given), strict=True):
        if type(x) is np.ndarray and any(
            x.shape[i] > 1 and not x.strides[i] for i in range(x.ndim)
        ):
            x.flags.writeable = False  # of what shows an element twice, for which NumPy warns else
        if type(x) is not np.ndarray:
            found.append(x)
        elif type(own) in CONSTANTS:
            found.append(own if x is own.data else wrapped(x, (own,)))
        else:
            found.append(borrowed(x))
    return tuple(found)


@stands_in_for(np.broadcast)
class Broadcast:
    """Stand in for `numpy.broadcast`, which goes through the elements."""

    def __init__(self, *args: Any) -> None:
        parts = broadcast_arrays(*args)
        self.parts = [np.reshape(each, -1) for each in parts]
        self.plain = np.broadcast(*[np.broadcast_to(0.0, each.shape) for each in parts])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        place = self.plain.index
        next(self.plain)
        return tuple(each[place] for each in self.parts)


INITIAL: dict[Any, np.ufunc] = {
    np.sum: np.add,
    np.prod: np.multiply,
    np.max: np.maximum,
    np.min: np.minimum,
}
"""What reductions that take ``initial=`` do with it and the rest."""

NEUTRAL: dict[Any, Any] = {np.add: 0, np.multiply: 1, np.maximum: -np.inf, np.minimum: np.inf}


def started(combine: Any, function: Function, args: tuple[Any, ...], kwargs: Any) -> Any:
    """Call a reduction, which may start with a handle."""
    start = kwargs.get("initial")
    if combine not in NEUTRAL or not is_active(start):
        return function(*args, **kwargs)
    return combine(function(*args, **{**kwargs, "initial": NEUTRAL[combine]}), start)


def joining_parts(function: Function) -> None:
    """Let a function of several arrays in a list take lists with handles among them."""

    @stands_in_for(function)
    def calling(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        parts = [*map(without_lists, arrays)] if type(arrays) in SEQUENCES else arrays
        return function(parts, *args, **kwargs)


for _function in each_of(
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack
):
    joining_parts(_function)


class Ufunc:
    """One of NumPy's ufuncs in copies: it takes lists with handles in them, and `at` does."""

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: np.ufunc) -> None:
        self.function = function
        ORIGINALS[self] = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the ufunc."""
        for each in args:
            if is_listed(each):
                return self.function(*map(without_lists, args), **kwargs)
        return self.function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.function, name)
        if name not in ("reduce", "accumulate", "reduceat", "outer"):
            return found
        combine = self.function if name == "reduce" else None
        return lambda *args, **kwargs: started(
            combine, found, tuple(map(without_lists, args)), kwargs
        )

    def at(self, a: Any, indices: Any, *operands: Any) -> None:
        """Compute at some places, one after the other where there are several of one place.

        The first of each place are computed at once, and then the second ones.
        """
        if not holds(a) and not any(map(holds, operands)):
            self.function.at(a, unwrapped(indices), *operands)
            return
        places = np.arange(a.size).reshape(a.shape)[primal(indices)]
        order = np.argsort(places, axis=None, kind="stable")
        ordered = places.ravel()[order]
        rounds = np.empty(places.size, int)
        rounds[order] = np.arange(places.size) - np.searchsorted(ordered, ordered)
        others = [np.broadcast_to(without_lists(each), places.shape) for each in operands]
        for number in range(rounds.max(initial=-1) + 1):
            now = np.reshape(rounds == number, places.shape)
            key = np.unravel_index(places[now], a.shape)
            a[key] = self.function(a[key], *[each[now] for each in others])

    def __eq__(self, other: object) -> bool:
        return original_of(other) is self.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)

    def __reduce__(self) -> Any:
        return self.function.__reduce__()


for _function in vars(np).values():
    if type(_function) is np.ufunc and replaced(_function) is ABSENT:
        note_stand_in(_function, Ufunc(_function))
FOR_COMPILED[Ufunc] = lambda stand_in: stand_in.function


@stands_in_for(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Stand in for `numpy.polyval`, also of coefficients that are rows of an array."""
    if not (holds(p) or holds(x)):
        return np.polyval(unwrapped(p), unwrapped(x))
    p = as_array_handle(p) if holds(p) else np.asarray(p)
    if isinstance(x, np.poly1d):
        value, p = replaced(np.poly1d)([p[0]]), p[1:]
    else:
        x = as_array_handle(x) if holds(x) else np.asarray(x)
        if p.ndim < 2:
            return np.polyval(p, x)
        value = 0.0 * x
    for row in p:
        value = value * x + row
    return value


@stands_in_for(np.polynomial.polyutils.mapdomain)
def mapdomain(x: Any, old: Any, new: Any) -> Any:
    """Stand in for `numpy.polynomial.polyutils.mapdomain`, which asks for Python's numbers."""
    offset, scale = np.polynomial.polyutils.mapparms(old, new)
    return offset + scale * (replaced(np.asanyarray)(x) if isinstance(x, SEQUENCES) else x)


@stands_in_for(np.where)
def where(condition: Any, *args: Any) -> Any:
    """Stand in for `numpy.where`, of an array that may be written to later."""
    if type(condition) is np.ndarray and condition.flags.writeable and any(map(holds, args)):
        condition = condition.copy()
    return np.where(condition, *map(without_lists, args))


@stands_in_for(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **options: Any) -> Any:
    """Stand in for `numpy.clip`, whose ``out=`` may stand in its place."""
    given: Any = [as_array_handle(each) if holds(each) else each for each in (a, a_min, a_max)]
    if out is None or type(out) is np.ndarray:
        return np.clip(*given, out=out, **options)  # type: ignore[type-var]  # None is no array
    out[...] = np.clip(*given, **options)
    return out


def rounded(function: Function) -> Function:
    """Let a function that rounds refuse to do so at decimals, where it would end the gradient.

    Raises
    ------
    NoRuleError
    """

    @stands_in_for(function)
    def calling(a: Any, decimals: int = 0, out: Any = None) -> Any:
        if decimals > 0 and holds(a):
            raise NoRuleError(
                f"{called(function)} to {decimals} decimals is constant between its steps, so the "
                "gradient of what it rounds would end there; write t.data if none is meant to flow"
            )
        return function(as_array_handle(a) if holds(a) else a, decimals, out)

    return calling


round_, _ = map(rounded, each_of(np.round, np.around))


# Functions that write to an array


def repeated(values: Any, count: int) -> Any:
    """Give as many values as are asked for, from the beginning again where they are too few."""
    flat = np.reshape(as_array_handle(values) if holds(values) else np.asarray(values), -1)
    return flat if flat.shape[0] == count else flat[np.arange(count) % flat.shape[0]]


def writing(original: Function) -> Callable[[Function], Function]:
    """Let a function that writes to its first argument assign to it, if there are handles."""

    def decorate(function: Function) -> Function:
        @stands_in_for(original)
        def calling(*args: Any, **kwargs: Any) -> Any:
            given = (*args, *kwargs.values())
            if any(map(holds, given)) or any(type(each) in CONSTANTS for each in given):
                return function(*args, **kwargs)
            return original(*args, **kwargs)

        return calling

    return decorate


@writing(np.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """`numpy.copyto`, by assignment."""
    source = as_array_handle(src) if holds(src) else src
    dst[...] = source if where is True else np.where(where, source, dst)


def assign_flat(array: Any, places: Any, values: Any) -> None:
    """Assign to elements that are counted through all axes."""
    several = repeated(values, places.size)
    if array.ndim:
        array[np.unravel_index(places, array.shape)] = several
    elif places.size:
        array[()] = several[-1]


@writing(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """`numpy.put`, by assignment to the flattened array."""
    index = np.ravel(primal(ind)).astype(np.intp)
    if mode == "wrap":
        index %= a.size
    elif mode == "clip":
        index = np.clip(index, 0, a.size - 1)
    assign_flat(a, np.arange(a.size)[index], v)


@writing(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """`numpy.place`, by assignment to a mask."""
    mask = np.reshape(primal(mask), arr.shape).astype(bool)
    if mask.any():
        arr[mask] = repeated(vals, int(mask.sum()))


@writing(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """`numpy.putmask`, by assignment to a mask."""
    mask = np.reshape(primal(mask), a.shape).astype(bool)
    a[mask] = np.reshape(repeated(values, a.size), a.shape)[mask]


@writing(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """`numpy.put_along_axis`, by assignment."""
    if axis is None:
        put(arr, indices, values)
        return
    axis = normalize_axis_index(axis, arr.ndim)
    index: list[Any] = list(np.ogrid[tuple(map(slice, arr.shape))])
    index[axis] = primal(indices)
    arr[tuple(index)] = values


# Functions that call functions of Python


def gathered(results: list[Any], shape: tuple[int, ...]) -> Any:
    """Put what a function has given for each element together."""
    arrays = [as_array_handle(x) if holds(x) else np.asarray(unwrapped(x)) for x in results]
    return np.reshape(np.stack(arrays), shape + np.shape(arrays[0]))


class Elementwise:
    """What `numpy.vectorize` and `numpy.frompyfunc` make of a function, on handles too."""

    def __init__(self, function: Function, original: Any, excluded: Any = ()) -> None:
        self.pyfunc, self.original, self.excluded = function, original, excluded

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function for each element."""
        if not reaches((args, kwargs)) and not reaches(self.pyfunc):
            return self.original(*unwrapped(args), **unwrapped(kwargs))
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        varied = [key for key in given if key not in (self.excluded or ())]
        arrays = [
            as_array_handle(given[key]) if holds(given[key]) else np.asarray(given[key])
            for key in varied
        ]
        last = self.core_axes(len(arrays))
        outer = [each.shape[: each.ndim - n] for each, n in zip(arrays, last, strict=True)]
        shape = np.broadcast_shapes(*outer)
        spread = [
            np.broadcast_to(each, shape + each.shape[each.ndim - n :])
            for each, n in zip(arrays, last, strict=True)
        ]
        results = []
        for index in np.ndindex(shape):
            now = {**given, **dict(zip(varied, [each[index] for each in spread], strict=True))}
            by_name = {name: now[name] for name in kwargs}
            results.append(self.pyfunc(*map(now.get, range(len(args))), **by_name))
        if results and isinstance(results[0], tuple):  # of several outputs
            return tuple(gathered([*each], shape) for each in zip(*results, strict=True))
        return gathered(results, shape)

    def core_axes(self, count: int) -> list[int]:
        """Say how many last axes of each argument the function takes as a whole."""
        signature = getattr(self.original, "signature", None)
        if signature is None:
            return [0] * count
        inputs = str(signature).replace(" ", "").partition("->")[0].strip("()").split("),(")
        return [len([*filter(None, each.split(","))]) for each in inputs]


@stands_in_for(np.vectorize)
def vectorize(pyfunc: Any = np._NoValue, *args: Any, **kwargs: Any) -> Any:
    """Stand in for `numpy.vectorize`."""
    if pyfunc is np._NoValue:
        return lambda function: vectorize(function, *args, **kwargs)
    return Elementwise(pyfunc, np.vectorize(pyfunc, *args, **kwargs), kwargs.get("excluded"))


@stands_in_for(np.frompyfunc)
def frompyfunc(func: Any, /, nin: int, nout: int, **kwargs: Any) -> Any:
    """Stand in for `numpy.frompyfunc`."""
    return Elementwise(func, np.frompyfunc(func, nin, nout, **kwargs))


@stands_in_for(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Stand in for `numpy.apply_along_axis`."""
    if not (holds(arr) or reaches((args, kwargs)) or reaches(func1d)):
        return np.apply_along_axis(func1d, axis, unwrapped(arr), *unwrapped(args), **kwargs)
    array = as_array_handle(arr) if holds(arr) else np.asarray(arr)
    axis = normalize_axis_index(axis, array.ndim)
    rows = np.moveaxis(array, axis, -1)
    outer = rows.shape[:-1]
    found = gathered([func1d(rows[index], *args, **kwargs) for index in np.ndindex(outer)], outer)
    ends = found.ndim - len(outer)
    return np.moveaxis(found, range(len(outer), found.ndim), range(axis, axis + ends))


@stands_in_for(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x: Any, *args: Any, writeable: bool = False, **kwargs: Any) -> Any:
    """Stand in for `numpy.lib.stride_tricks.sliding_window_view`; of a handle it is read-only."""
    if holds(x):
        return np.lib.stride_tricks.sliding_window_view(as_array_handle(x), *args, **kwargs)
    return np.lib.stride_tricks.sliding_window_view(x, *args, writeable=writeable, **kwargs)


@stands_in_for(np.ndenumerate)
def ndenumerate(arr: Any) -> Iterator[Any]:
    """Stand in for `numpy.ndenumerate`."""
    if not holds(arr):
        return iter(np.ndenumerate(unwrapped(arr)))
    array = as_array_handle(arr)
    return ((index, array[index]) for index in np.ndindex(array.shape))


class Iteration:
    """What `numpy.nditer` is where there are handles: the elements, in the order that it has.

    Attributes
    ----------
    operands : tuple of array or Tensor
        The arrays; those that are made are among them.
    plain : nditer
        That of the plain numbers, which knows the places.
    """

    def __init__(
        self, operands: Any, flags: Any, writes: list[bool], dtypes: Any, order: Any
    ) -> None:
        given = [each for each in operands if each is not None]
        shape = np.broadcast_shapes(*map(np.shape, given))
        common = np.result_type(*[primal(each) for each in given])
        self.operands = tuple(
            as_array_constants(np.zeros(shape, real(dtype) or common))
            if each is None
            else each
            if dtype is None
            else replaced(np.asarray)(each, dtype)
            for each, dtype in zip(operands, dtypes, strict=True)
        )
        self.read = [
            each if flag else np.broadcast_to(each, shape)
            for each, flag in zip(self.operands, writes, strict=True)
        ]
        self.writes = writes
        plain = [primal(unwrapped(each)) for each in given]
        if any(type(each) is not np.ndarray for each in plain):  # of a batch, or numbers
            plain = [np.broadcast_to(0.0, shape)]
        needed: Any = {"multi_index", "refs_ok", "zerosize_ok", *flags} - {"buffered"}
        self.plain = np.nditer(plain, [*needed], order=order)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    @property
    def value(self) -> Any:
        """The elements where it is: a tuple, unless there is one array alone."""
        several = tuple(self[i] for i in range(len(self)))
        return several if len(self) > 1 else several[0]

    def __len__(self) -> int:
        return len(self.read)

    def __getitem__(self, key: Any) -> Any:
        place = self.plain.multi_index
        return self.read[key][(*place, ...) if self.writes[key] else place]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.read[key][self.plain.multi_index] = value

    def __iter__(self) -> Iterator[Any]:
        while not self.plain.finished:
            yield self.value
            self.plain.iternext()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


FLAGS = frozenset({"multi_index", "c_index", "f_index", "refs_ok", "zerosize_ok", "buffered"})
"""The flags of `numpy.nditer` that change nothing about which elements it gives."""


@stands_in_for(np.nditer)
def nditer(
    op: Any,
    flags: Any = (),
    op_flags: Any = None,
    op_dtypes: Any = None,
    order: Any = "K",
    **kwargs: Any,
) -> Any:
    """Stand in for `numpy.nditer`, element by element.

    Raises
    ------
    NoRuleError
        For axes of its own, and for parts in place of elements.
    """
    several = op if isinstance(op, SEQUENCES) else (op,)
    if not any(map(holds, several)):
        dtypes: Any = (
            [*map(real, op_dtypes)] if isinstance(op_dtypes, SEQUENCES) else real(op_dtypes)
        )
        return np.nditer(unwrapped(op), [*flags], op_flags, dtypes, order, **kwargs)
    if kwargs or set(flags) - FLAGS:
        raise NoRuleError(
            "np.nditer with external_loop, or with axes of its own, takes no handles; write "
            "np.ndindex(x.shape)"
        )
    given = op_dtypes if isinstance(op_dtypes, SEQUENCES) else [op_dtypes] * len(several)
    told = op_flags or [["readonly"] if each is not None else ["writeonly"] for each in several]
    told = [told] * len(several) if isinstance(told[0], str) else told
    writes = [not {"readwrite", "writeonly"}.isdisjoint(each) for each in told]
    lists = [as_array_handle(each) if holds(each) else each for each in several]
    return Iteration(lists, flags, writes, given, order)


@stands_in_for(np.finfo)
def finfo(dtype: Any) -> Any:
    """Stand in for `numpy.finfo`, also of a handle's dtype."""
    return np.finfo(dtype.dtype if is_active(dtype) else real(dtype))


@stands_in_for(np.mintypecode)
def mintypecode(typechars: Any, *args: Any, **kwargs: Any) -> str:
    """Stand in for `numpy.mintypecode`, also of handles' dtypes."""
    chars = [each.dtype.char if is_active(each) else each for each in unwrapped(typechars)]
    return np.mintypecode(chars, *args, **kwargs)


def as_text(function: Function) -> None:
    """Let a function that makes a text refuse handles, as that may become a number again."""

    @stands_in_for(function)
    def calling(a: Any, *args: Any, **kwargs: Any) -> Any:
        if holds(a):
            raise NoRuleError(
                f"{called(function)} makes a text of a handle, which has no gradient and may "
                "become a number again; write t.data where it is only to be read"
            )
        return function(unwrapped(a), *args, **kwargs)


for _function in each_of(np.array2string, np.array_str, np.array_repr):
    as_text(_function)


SEVERAL = frozenset(
    {np.block, np.choose, np.histogramdd, np.linalg.multi_dot, np.piecewise, np.select}
)
"""NumPy's functions of lists that are no array."""

for _module in (np, np.linalg, np.fft):
    for _function in [*vars(_module).values()]:
        of_arrays = type(_function) is type(np.sum) and _function not in SEVERAL
        if of_arrays and replaced(_function) is ABSENT:
            joining_lists(_function)
