"""Assignment to handles: in the graph, as NumPy does it in memory.

Whoever assigns to an array of NumPy changes it for all who hold it, and for all views of it. Here a
new node is made of the array that owns the memory, its handle is pointed at that, and so are the
handles of its views, at new nodes. The old nodes stay for what was computed from them, and so do
the numbers in memory, unless nobody can see them any more.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from sys import getrefcount
from threading import get_ident
from types import FrameType
from typing import Any, TypeVar
from weakref import ref

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.interpreter import Batch, looked_through, unwrapped, with_plain_ends
from tape_ad.base.arrays.overridable import is_later, joined
from tape_ad.base.errors import InPlaceError, ShapeError
from tape_ad.base.naming import OPERATORS, called, function_name
from tape_ad.base.trees import flatten
from tape_ad.record.arena import Arena, wait_until_assigned
from tape_ad.record.messages.callers import caller, is_at
from tape_ad.record.messages.refusals import batched_value
from tape_ad.record.primals import PLAIN_TYPES, is_number, memory_of, primal
from tape_ad.rules.maps import (
    Array,
    Chain,
    Index,
    LinearMap,
    Stretch,
    broadcasts,
    clone,
    rearranges,
)
from tape_ad.rules.maps.memory import Marks, Window
from tape_ad.rules.numpy.indexing import WHOLE, filled_key, in_short, plain_key
from tape_ad.rules.numpy.updates import Placed, Without, updated, viewed

# Who stands for the same memory, as NumPy's arrays and their views do

Handle = Any
"""A Tensor, whose methods end here."""
Some = TypeVar("Some", bound=Any)
Box = Any
"""A Tensor, or anything else that stands for an array and has it as ``data``."""


@define(eq=False)
class Memory:
    """An array, and what stands for it and for views of it: an assignment to one shows in all.

    Attributes
    ----------
    data : array
        The whole of it.
    place : int or Value
        Where that stands among what was recorded; -1 for what depends on nothing.
    boxes : list of weak references
        What stands for it and its views; nothing where it is a leaf's, which is never assigned to.
    owned : bool
        Whether nobody else is to see what is written there.
    """

    data: Any
    place: Any = -1
    boxes: Any = field(factory=list)
    owned: bool = True

    @classmethod
    def shared_by(cls, box: Box, place: Any) -> "Memory":
        """Give the memory that something stands for, which others may come to share."""
        memory = getattr(box, "memory", None)
        if memory is None:
            memory = box.memory = cls(box.data, place, [ref(box)])
        found: Memory = memory
        return found

    def add(self, view: Box) -> None:
        """Note that something stands for a view of it."""
        view.memory = self
        self.boxes.append(ref(view))

    def alive(self) -> list[Box]:
        """List what is alive, and stands for this memory still."""
        found = [reference() for reference in self.boxes]
        return [each for each in found if each is not None and each.memory is self]

    def move(self, alive: list[Box]) -> None:
        """Let what is alive show a copy of the array, which nobody else has."""
        shown = [Window.of(self.data, each.data) for each in alive]
        self.data = clone(self.data)
        for each, window in zip(alive, shown, strict=True):
            each.data = window.on(self.data)


new: Any = object.__new__


def unlinked(out: Any) -> Any:
    """Give numbers that were picked from an array, in which no assignment to that is to show."""
    if not hasattr(out, "record"):
        return np.copy(out)
    out.memory = None
    return out


def linked(view: Handle, source: Handle, index: int) -> bool:
    """Note a view of what a handle stood for as that node, unless it stands for another by now."""
    record = view.record
    memory = getattr(source, "memory", None)
    if record.functions[index if memory is None else memory.place] is None:
        if memory is None:  # a leaf, which is not assigned to, so that nobody asks for its views
            memory = source.memory = Memory(source.data, index, ())
        view.memory = memory
        return True
    mine = (get_ident(),)
    while (outer := record.assigning) is not None and outer != mine:
        wait_until_assigned(record)
    try:
        record.assigning = mine
        if source.index != index:
            return False
        view.memory = memory = memory or Memory.shared_by(source, index)
        memory.boxes.append(ref(view))
        return True
    finally:
        record.assigning = outer


def base_index(handle: Handle) -> int:
    """Give the node that owns the memory of a handle's array: its own, but for views."""
    memory = getattr(handle, "memory", None)
    index: int = handle.index if memory is None else memory.place
    return index


def boxes_beside(base: Handle) -> list[Handle]:
    """List what is alive and shows the memory that a handle owns, but for that itself."""
    memory = getattr(base, "memory", None)
    return [] if memory is None else [each for each in memory.alive() if each is not base]


def base_of(view: Handle) -> Handle:
    """Give the handle that owns the memory of a view: the one that is alive, or another."""
    memory = view.memory
    for each in memory.alive():
        if each.index == memory.place:
            return each
    base = unmarked(view, memory.place, memory.data)
    base.memory = memory
    memory.boxes.append(ref(base))
    return base


def unmarked(beside: Some, index: int, data: Array) -> Some:
    """Make a handle of a node of another handle's record, for which a sweep keeps no gradient."""
    handle: Any = new(type(beside))
    handle.record, handle.index, handle.data = beside.record, index, data
    handle.mark = object()
    return handle  # type: ignore[no-any-return]  # which is made without its fields


def way_to(view: Handle) -> LinearMap | None:
    """Give the map that makes a view of its base, if turning, picking and reshaping made it."""
    record: Arena = view.record
    node, base = view.index, view.memory.place
    first, last = record.starts[node : node + 2]
    if first + 1 == last and record.parents[first] == base:
        partial = record.partials[first]
        if type(partial) is Index:  # as most are
            return partial
    maps: list[LinearMap] = []
    while node != base:
        edges = list(record.edges(node))
        if len(edges) != 1 or not rearranges(edges[0][1]):
            return None
        parent, linear = edges[0]
        shapes = record.shapes[parent], record.shapes[node]
        if broadcasts(linear) and shapes[0] != shapes[1]:  # the sweep sees to that between nodes
            linear = Stretch(*shapes)
        maps.insert(0, linear)
        node = parent
    return maps[0] if len(maps) == 1 else Chain(tuple(maps))


def has_alone(box: Box, alive: list[Box]) -> bool:
    """Tell whether nobody but what stands for an array and its views has its memory.

    Whoever else could see what is written there, a partial, a user who has taken ``.data``, or the
    one whose array it was, holds a reference to that array or to a view of it.

    Parameters
    ----------
    box : Memory, or what stands for an array that has none
    alive : list
        What stands for that memory.
    """
    if not box.data.flags.owndata or references(box) != ALONE + len(alive):
        return False
    for each in alive:
        if each.data is not box.data and (
            references(each) != ALONE or each.data.base is not box.data
        ):
            return False
    return True


def references(box: Any) -> int:
    """Count the references to the array of what stands for it."""
    return getrefcount(box.data)


ALONE = references(Memory(np.empty(0)))
"""The references to an array that only one has."""


# Assignment to handles: in the graph, as NumPy does it in memory

Plain = np.ndarray[Any, Any]
ARRAYS = frozenset({np.ndarray, np.float64, np.float32})
"""The types of values that may be assigned as they are."""

PLAIN_ENTRIES = frozenset({int, np.ndarray, np.int64, type(None), type(...)})
"""The types of what stands in keys, and is no array of ours."""

NOTHING = None, None, None, None


def assign(target: Handle, key: Any, value: Any) -> None:
    """Record ``target[key] = value``, for handles.

    Raises
    ------
    InPlaceError
        On a leaf and on its views, which stand for the user's own array; on what NumPy does not
        assign to either; and where C code moves parts of an array about.
    ShapeError
        When the value does not fit.
    """
    if not (type(value) in PLAIN_TYPES or type(value) is type(target)) or not is_plain_key(key):
        found, constants = looked_through((target, key, value))
        if type(found) is Batch:
            raise batched_value()
        if constants:
            key, value = unwrapped((key, value))
        key = with_plain_ends(key)
    value = joined(value)
    if target.record.namespaced:
        make_array(target)
    refuse_to_write(target, "write x = x.copy() first and assign to that")
    if type(value) is type(target) and base_index(value) != value.index:
        if is_known_part(target, key, value) or is_that_part(target, key, value):
            return  # what Python does last for x[key] += y
        refuse_moving(
            sys._getframe(2),
            lambda: np.shares_memory(memory_of(target.data), memory_of(value.data)),
        )
    replace(target, key, value)


def is_plain_key(key: Any) -> bool:
    """Tell whether a key holds none but numbers, plain arrays, None and slices of numbers."""
    for each in key if type(key) is tuple else (key,):
        if type(each) is slice:
            if not PLAIN_ENTRIES.issuperset(map(type, (each.start, each.stop, each.step))):
                return False
        elif type(each) not in PLAIN_ENTRIES:
            return False
    return True


def make_array(target: Handle) -> None:
    """Let a handle stand for an array of no axes where NumPy gives a number.

    The array API standard knows no numbers, so what it gives of no axes may be assigned to.
    """
    while type(target.data) is type(target):
        target = target.data
    if isinstance(target.data, np.generic):
        target.data = np.array(target.data)


def change(function: Callable[..., Any], target: Handle, other: Any) -> Any:
    """Record ``target += other`` and its kind, for handles.

    A number is no array, so it is not changed: the name stands for another afterwards.

    Raises
    ------
    InPlaceError, ShapeError
        As `assign`.
    """
    if type(other) not in PLAIN_TYPES and type(looked_through((target, other))[0]) is Batch:
        raise batched_value()
    plain = type(target.data) is np.ndarray
    if not plain and is_number(target.data):
        return target._two(function, target, other)
    _, sign = OPERATORS[function]
    refuse_to_write(target, f"write x = x {sign} y in place of x {sign}= y")
    result = target._two(function, target, other)
    if result is NotImplemented:
        return result
    if not same_layout(result, target):
        check_fit(target, result, function)
    replace(target, ..., result, fresh=True)
    return target


def check_fit(target: Box, result: Any, function: Callable[..., Any]) -> None:
    """Raise if the result of a function cannot be assigned to an array as a whole, as NumPy does.

    Raises
    ------
    ShapeError, InPlaceError
        When its shape or its kind of number is another.
    """
    shape, own = getattr(result, "shape", ()), target.shape
    what = "a handle" if hasattr(target, "record") else "an array"
    instead = "leave out= out, or write x = x + y in place of x += y"
    if shape != own:
        elementwise = isinstance(function, np.ufunc) and function.signature is None
        pairs = zip(shape[::-1], own[::-1], strict=False)
        stretches = len(shape) <= len(own) and all(have in (1, want) for have, want in pairs)
        if not (stretches and (elementwise or function is np.clip)):
            raise ShapeError(
                f"{called(function)} gives shape {shape}, which does not go into {what} of shape "
                f"{own}; {instead}"
            )
    dtype = result.dtype if hasattr(result, "dtype") else np.result_type(result)
    if not np.can_cast(dtype, target.dtype, "same_kind"):
        raise InPlaceError(
            f"{called(function)} gives dtype {dtype}, which does not go into {what} of dtype "
            f"{target.dtype}; {instead}"
        )


def assign_outputs(
    function: Callable[..., Any], out: Any, results: Any, assigned: Callable[..., None]
) -> Any:
    """Assign what a function gives to what ``out=`` names: all of it or, where one fails, nothing.

    Parameters
    ----------
    function : callable
    out : array, or tuple of array and None
    results : array, or tuple of array
    assigned : callable
        ``assigned(target, ..., result)`` is called for each.

    Returns
    -------
    array, or tuple of array
        What the call gives.
    """
    outs = out if isinstance(out, tuple) else (out,)
    several = results if isinstance(results, tuple) else (results,)
    pairs = [pair for pair in zip(outs, several, strict=True) if pair[0] is not None]
    for target, result in pairs:
        check_fit(target, result, function)
    for target, result in pairs:
        assigned(target, ..., result)
    filled = tuple(b if a is None else a for a, b in zip(outs, several, strict=True))
    return filled if isinstance(results, tuple) else filled[0]


@functools.cache
def names_by_place(function: Callable[..., Any]) -> list[str]:
    """List the parameters of a function of NumPy that may be given by position."""
    if not str(getattr(function, "__module__", None)).startswith("numpy"):
        return []
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function of C, which says nothing of its parameters
        return {np.dot: ["a", "b", "out"], np.concatenate: ["arrays", "axis", "out"]}.get(
            function, []
        )
    return [each.name for each in parameters if each.kind < each.VAR_POSITIONAL]


def out_by_name(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Take an array to write to, if it is given by position, to the arguments by name."""
    names = names_by_place(function)[: len(args)]
    if "out" in names:
        place = names.index("out")
        given = dict(zip(names[place:], args[place:], strict=True))
        if given["out"] is not None:
            return args[:place], {**kwargs, **given}
    return args, kwargs


DTYPE_AT = {
    **dict.fromkeys(("sum", "prod", "mean", "cumsum", "cumprod", "reduce", "accumulate"), 2),
    **dict.fromkeys(("nansum", "nanprod", "nanmean", "nancumsum", "nancumprod"), 2),
    **dict.fromkeys(("var", "std", "nanvar", "nanstd", "ptp", "median"), 2),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), 1),
    "reduceat": 3,
    "trace": 4,
    "einsum": 10**6,
}
"""Functions that compute in the dtype of ``out=`` if that is wider, and where they take another."""


def in_dtype_of(
    out: Any, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, ...]:
    """Add to the options of a call the dtype that NumPy computes in, as it writes to `out`.

    A mean that is subtracted first has the dtype of the operand all the same. Of what takes no
    dtype, the operand is cast.
    """
    if len(args) > DTYPE_AT.get(function.__name__, -1) or options.get("dtype") is not None:
        return args
    dtypes = [leaf.dtype for leaf in flatten((args, options)) if hasattr(leaf, "dtype")]
    if dtypes and (wide := np.result_type(out.dtype, *dtypes)) != np.result_type(*dtypes):
        if function in (np.ptp, np.median):
            return (args[0].astype(wide), *args[1:])
        options["dtype"] = wide
        mean_of = MEAN_OF.get(function)
        if mean_of is not None and options.get("mean", np._NoValue) is np._NoValue:
            among = {"dtype": args[0].dtype} | ({"axis": args[1]} if len(args) > 1 else {})
            among |= {name: options[name] for name in ("axis", "where") if name in options}
            options["mean"] = mean_of(args[0], keepdims=True, **among)
    return args


MEAN_OF = {np.var: np.mean, np.std: np.mean, np.nanvar: np.nanmean, np.nanstd: np.nanmean}


def refuse_to_write(target: Handle, instead: str) -> None:
    """Raise where an assignment would change what is not the record's, or cannot be changed."""
    record: Arena = target.record
    index = base_index(target)
    if record.functions[index] is None:
        which = "a leaf" if index == target.index else f"a view of the leaf %{index}"
        raise InPlaceError(
            f"{which} stands for the array that it was made from, which is yours, so it is not "
            f"assigned to; {instead}"
        )
    array = target.data
    if type(array) is not np.ndarray:
        array = None if is_number(array) else memory_of(array)
    if isinstance(array, np.ndarray) and array.flags.writeable:
        return
    kind = "read-only, as NumPy's is" if isinstance(array, np.ndarray) else "a number"
    if is_later(array):
        kind, instead = "a Dask array", "write np.where or np.concatenate, which give new arrays"
    raise InPlaceError(
        f"node %{target.index} ({function_name(record.functions[target.index])}) is {kind}, so it "
        f"is not assigned to; {instead}"
    )


def refuse_moving(frame: FrameType, shared: Callable[[], bool]) -> None:
    """Raise if C code swaps rows by assignment, which reads views after they have changed.

    `numpy.random.Generator.shuffle` swaps the rows of arrays by way of a buffer, and of all else by
    ``x[i], x[j] = x[j], x[i]``.

    Parameters
    ----------
    frame : frame
        That assigns.
    shared : callable
        Tells whether what is assigned lies in the memory that it is assigned to.
    """
    if not is_at(frame, "x[x] = x", "x[:] = x", "x[x:x] = x") and shared():
        raise InPlaceError(
            "code that was not written for handles moves parts of one about, of which some would "
            "be lost; write x = x[rng.permutation(len(x))] in place of rng.shuffle(x), and copy a "
            "view before it is assigned to another place"
        )


def is_known_part(target: Handle, key: Any, value: Handle) -> bool:
    """Tell of the commonest keys what `is_that_part` does, by the nodes alone."""
    record: Arena = target.record
    plain = plain_key(key)
    if plain is None or value.record is not record:
        return False
    way = way_to(value) if base_index(value) == target.index else None
    if type(way) is not Index:
        return False
    whole = plain + (WHOLE,) * (len(way.parent) - len(plain))
    return plain_key(way.key) == whole  # a diagonal has arrays for a key


def is_that_part(target: Handle, key: Any, value: Handle) -> bool:
    """Tell whether a view shows the very part of an array that a key picks; arrays pick copies.

    The memory of a batch of arrays has axes in front that the key knows nothing of.
    """
    entries = key if type(key) is tuple else (key,)
    entries = tuple([int(k) if isinstance(k, np.integer) else k for k in entries])
    plain = filled_key(entries, target.ndim)
    if plain is None:
        return False
    array, part = memory_of(target.data), memory_of(value.data)
    picked = array[(WHOLE,) * (array.ndim - target.ndim) + plain]
    return (
        type(picked) is type(part) is np.ndarray
        and picked.size > 0
        and picked.__array_interface__ == part.__array_interface__
    )


def replace(target: Handle, key: Any, value: Any, *, fresh: bool = False) -> None:
    """Make the new nodes, and then point all handles of the same memory at them.

    A value that is `fresh`, so that nobody else has it, may be taken without a copy.
    """
    record: Arena = target.record
    mine = (get_ident(),)
    while (outer := record.assigning) is not None and outer != mine:
        wait_until_assigned(record)
    try:
        record.assigning = mine
        window = None
        base = target
        if base_index(target) != target.index:
            base = base_of(target)
            copied = is_copied(base, target)
            way = way_to(target) if key is ... or copied else None
            if copied and key is not ...:
                value, key = target._call(updated, (target, value), {"key": key}), ...
            if type(way) is Index:  # a row, as in x[key] += y
                number = target.ndim == 0 and not any(k is ... for k in way.key)
                key = (*way.key, ...) if number else way.key  # to write to an array
            elif not copied:
                window = Window.of_one(memory_of(base.data), memory_of(target.data), base.data.ndim)
            else:
                go_one_by_one(target)
                raise InPlaceError(
                    "a view of a part that is at another place in each of a batch is assigned to; "
                    "write x = x.copy() before the assignment"
                )
        views = boxes_beside(base)
        if fresh and window is None and not views and same_layout(value, base):
            commit(base, value, [])
            return
        if window is None and overwrite(base, key, value, views):
            return
        new = base._call(updated, (base, value), {"key": key, "window": window})
        if type(new) is not type(base):  # nothing that is assigned is differentiated
            call = (base, value), {"key": key, "window": window}
            new = base.record.note(updated, *call, new)
        followers = [followed(base, view, new, key, value, window) for view in views]
        commit(base, new, followers)
    finally:
        record.assigning = outer


def is_copied(base: Handle, view: Handle) -> bool:
    """Tell of what is a view in each of a batch whether it is a copy in all."""
    own = primal(view.data)
    if not hasattr(own, "batch_here") or own.size == 0:
        return False
    return not np.may_share_memory(memory_of(base.data), memory_of(own))


def go_one_by_one(handle: Handle) -> None:
    """Let a batch call its function for one after the other, where an error is to follow."""
    batch = primal(handle).batch_here
    batch.asked, batch.question = True, caller()


def overwrite(base: Handle, key: Any, value: Any, views: list[Handle]) -> bool:
    """Write into the owner's memory itself, for keys of integers and slices and values that fit.

    Where nobody else has the memory, neither a user nor a partial that needs what is there, it is
    written to, and nothing is copied.

    Returns
    -------
    bool
        Whether it was such an assignment, with views that are turned, picked or reshaped.
    """
    record, plain = base.record, in_short(key, base.ndim)
    if plain is None or type(base.data) is not np.ndarray:
        return False
    seen = record.observer is not None and record.observer.sees_arrays
    memory = getattr(base, "memory", None)  # before anything here has the array as well
    alone = not seen and (
        has_alone(base, []) if memory is None else has_alone(memory, [base, *views])
    )
    recorded = type(value) is type(base) and value.record is record
    own = value.data if recorded else value
    before = base.data
    try:
        part = before[plain]
    except IndexError:
        return False
    ways = [way_to(view) for view in views]
    if not fits_as_it_is(own, part) or None in ways:
        return False
    data = before
    if not alone:
        data = clone(before)
        data[plain] = own
    index = Index(plain + (WHOLE,) * (data.ndim - len(plain)), data.shape, part.shape)
    partial = Without(index.key)
    call = updated, (base, value), {"key": key, "window": None}
    if recorded:
        parents = value.index, base.index
        new = record.note(*call, data, parents, (Placed(index), partial))
    else:
        new = record.note(*call, data, base.index, partial)
    followers = []
    for view, way in zip(views, ways, strict=True):
        seen = view.data if alone else Window.of(before, view.data).on(data)
        node = record.note(viewed, (new,), {"way": way}, seen, new.index, way)
        followers.append((view, node))
    commit(base, new, followers, (data, plain, own, part.copy()) if alone else None)
    return True


def fits_as_it_is(value: Any, part: Any) -> bool:
    """Tell whether a value is assigned to a part of an array without broadcasting or casting."""
    kind = type(value)
    if kind is float or kind is int:
        return bool(part.dtype.kind == "f")
    return kind in ARRAYS and value.dtype == part.dtype and value.shape == part.shape


def same_layout(value: Any, base: Handle) -> bool:
    """Tell whether a fresh result can stand for the array that it is assigned to."""
    if type(value) is not type(base):
        return False
    one, two = value.data, base.data
    plain = type(one) is type(two) is np.ndarray
    return lie_alike(one, two) if plain else lie_alike(memory_of(one), memory_of(two))


def lie_alike(one: Any, two: Any) -> bool:
    """Tell whether two are plain arrays of one shape, dtype and order in memory."""
    return (
        type(one) is type(two) is np.ndarray
        and one.shape == two.shape
        and one.dtype == two.dtype
        and one.strides == two.strides
    )


def followed(
    base: Handle, view: Handle, new: Handle, key: Any, value: Any, window: Window | None
) -> tuple[Handle, Handle]:
    """Make the node that a view stands for after an assignment to its base.

    What NumPy made by turning, picking or reshaping is made again. Any other function that gave a
    view (one with a rule of its own, a checkpoint) is not called again, for its derivative may be
    another: of its view just those elements change that are assigned to.

    Raises
    ------
    InPlaceError
        When those cannot be told.
    """
    way, whole = way_to(view), memory_of(base.data)
    copied = way is not None and is_copied(base, view)
    seen: Any = None if copied else Window.of_one(whole, memory_of(view.data), base.data.ndim)
    if way is not None:
        return view, view._call(viewed, (new,), {"window": seen, "way": way})
    if np.ndim(whole) > base.ndim:  # the key knows nothing of the axes of a batch
        go_one_by_one(view)
        raise InPlaceError(
            f"node %{view.index} ({function_name(view.record.functions[view.index])}) is a view of "
            "a batched array that is assigned to, and was not made by turning, picking or "
            "reshaping, so it cannot be followed; write x = x.copy() before the assignment"
        )
    written = window or Window.of(whole, whole)
    if len({whole.dtype, written.view.dtype, seen.view.dtype}) > 1:
        raise InPlaceError(
            f"node %{view.index} ({function_name(view.record.functions[view.index])}) is a view of "
            "the complex array whose real or imaginary part is assigned to, which cannot be "
            "followed; write x = x.copy() before the assignment"
        )
    marks = Marks.of_assignment(written, key)
    picked = marks.seen(seen.view)
    node = view
    if (picked >= 0).any() or new.record is not view.record:
        own = np.shape(primal(value))
        fits = own[max(len(own) - len(marks.shape), 0) :]  # axes of length one in front may go
        flat = np.reshape(np.broadcast_to(np.reshape(value, fits), marks.shape), -1)
        node = view._call(np.where, (picked < 0, view, flat[np.maximum(picked, 0)]))
    node = node.snapshot()
    node.data = viewed(new.data, seen)
    return view, node


def commit(
    base: Handle, new: Handle, followers: list[tuple[Handle, Handle]], write: Any = None
) -> None:
    """Point handles at their new nodes, all of them or none.

    What is still to be written is given as an array, a key, the value and what was there before.
    """
    changes = []
    for handle, node in [(base, new), *followers]:
        old, index = handle.record, handle.index
        before = node.record.marks[node.index]
        mark = before if node.mark is before else object()  # it says what the node's call was
        own = old, index, handle.data, handle.mark, getattr(handle, "memory", None)
        changes.append((handle, own, node, before, mark))
        if not hasattr(handle, "earlier"):
            handle.earlier = []
        handle.earlier.append((old, index))
    memory = None
    if followers:
        memory = Memory(new.data, new.index, [ref(base), *[ref(view) for view, _ in followers]])
    array, key, value, earlier = write or NOTHING
    try:  # an interrupt may come before any instruction, and after the last one all is done
        if array is not None:
            array[key] = value
        for handle, _, node, _, mark in changes:
            node.record.marks[node.index] = handle.mark = mark
            handle.record, handle.index, handle.data = node.record, node.index, node.data
            handle.memory = memory
    except BaseException:  # no call here, as this may be the end of stack or memory
        if array is not None:
            array[key] = earlier
        for handle, own, node, before, _ in changes:
            handle.record, handle.index, handle.data, handle.mark, handle.memory = own
            node.record.marks[node.index] = before
        raise
