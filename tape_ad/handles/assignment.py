"""Assignment to handles: in the graph, where nothing is written to, as NumPy does it in memory.

Whoever assigns to an array of NumPy changes it for all who hold it, and for all views of it. Here a
new node is made of the array that owns the memory, its handle is pointed at that, and so are the
handles of its views, at new nodes. The old nodes stay for what was computed from them.
"""

import dis
import sys
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from tape_ad.core.arena import Arena
from tape_ad.errors import InPlaceError, ShapeError
from tape_ad.handles.primals import primal
from tape_ad.linear_maps import Chain, Index, LinearMap, Stretch, rearranges
from tape_ad.naming import called, function_name
from tape_ad.rules.numpy.updates import updated, viewed
from tape_ad.rules.numpy.windows import Marks, Window

__all__ = ["assign", "change", "check_fit", "link", "refuse_to_write", "replace"]

Plain = np.ndarray[Any, Any]
Handle = Any
"""A Tensor, whose methods end here."""


SIGNS: dict[Any, str] = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.divide: "/",
    np.floor_divide: "//",
    np.remainder: "%",
    np.power: "**",
    np.matmul: "@",
}
"""The operators that have a form in place."""


class Nobody:
    """What has gone, for a reference that gives None."""


GONE = ref(Nobody())


def link(view: Handle, source: Handle) -> None:
    """Note that a handle is a view of another, and so of whatever that is a view of."""
    record: Arena = view.record
    base = record.bases.get(source.index, source.index)
    record.bases[view.index] = base
    if record.functions[base] is not None:  # a leaf is never assigned to
        view.view_base = source if base == source.index else source.view_base
        record.views.setdefault(base, []).append(view.index)


def assign(target: Handle, key: Any, value: Any) -> None:
    """Do what ``target[key] = value`` does with arrays, in the graph.

    Raises
    ------
    InPlaceError
        On a leaf and on its views, which stand for the user's own array; on what NumPy does not
        assign to either; and where C code moves parts of an array about.
    ShapeError
        When the value does not fit.
    """
    refuse_to_write(target, "write x = x.copy() first and assign to that")
    if getattr(value, "record", None) is not None and value.index in value.record.bases:
        if is_that_part(primal(target.data), key, primal(value.data)):
            return  # what Python does last for x[key] += y
        refuse_moving(target, value)
    replace(target, key, value)


def change(function: Callable[..., Any], target: Handle, other: Any) -> Any:
    """Do what ``target += other`` and its kind do with arrays, in the graph.

    A number is no array, so it is not changed: the name stands for another afterwards.

    Raises
    ------
    InPlaceError, ShapeError
        As `assign`.
    """
    if isinstance(primal(target.data), np.generic):
        return target._two(function, target, other)
    sign = SIGNS[function]
    refuse_to_write(target, f"write x = x {sign} y in place of x {sign}= y")
    result = target._two(function, target, other)
    if result is NotImplemented:
        return result
    check_fit(target, result, function)
    replace(target, ..., result, fresh=True)
    return target


def check_fit(target: Handle, result: Any, function: Callable[..., Any]) -> None:
    """Raise if the result of a function cannot be assigned to a handle as a whole.

    Raises
    ------
    ShapeError, InPlaceError
        When its shape or its kind of number is another.
    """
    shape, dtype = np.shape(primal(result)), np.result_type(primal(result))
    if shape != target.shape:
        elementwise = isinstance(function, np.ufunc) and function.signature is None
        pairs = zip(shape[::-1], target.shape[::-1], strict=False)
        stretches = len(shape) <= target.ndim and all(have in (1, want) for have, want in pairs)
        if not (stretches and (elementwise or function is np.clip)):
            raise ShapeError(
                f"{called(function)} gives shape {shape}, which does not go into a handle of shape "
                f"{target.shape}; leave out= out, or write x = x + y in place of x += y"
            )
    if not np.can_cast(dtype, target.dtype, "same_kind"):
        raise InPlaceError(
            f"{called(function)} gives dtype {dtype}, which does not go into a handle of dtype "
            f"{target.dtype}; leave out= out, or write x = x + y in place of x += y"
        )


def refuse_to_write(target: Handle, instead: str) -> None:
    """Raise where an assignment would change what is not the record's, or cannot be changed."""
    record: Arena = target.record
    index = record.bases.get(target.index, target.index)
    if record.functions[index] is None:
        which = "a leaf" if index == target.index else f"a view of the leaf %{index}"
        raise InPlaceError(
            f"{which} stands for the array that it was made from, which is yours, so it is not "
            f"assigned to; {instead}"
        )
    array = primal(target.data)
    if isinstance(array, np.ndarray) and array.flags.writeable:
        return
    kind = "read-only, as NumPy's is" if isinstance(array, np.ndarray) else "a number"
    raise InPlaceError(
        f"node %{target.index} ({function_name(record.functions[target.index])}) is {kind}, so it "
        f"is not assigned to; {instead}"
    )


def refuse_moving(target: Handle, value: Any) -> None:
    """Raise if C code swaps rows by assignment, which reads views after they have changed.

    `numpy.random.Generator.shuffle` swaps the rows of arrays by way of a buffer, and of all else by
    ``x[i], x[j] = x[j], x[i]``.
    """
    frame = sys._getframe(3)
    if dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("CALL") and np.shares_memory(
        primal(target.data), primal(value.data)
    ):
        raise InPlaceError(
            "code that was not written for handles moves parts of one about, of which some would "
            "be lost; write x = x[rng.permutation(len(x))] in place of rng.shuffle(x), and copy a "
            "view before it is assigned to another place"
        )


def is_that_part(array: Plain, key: Any, part: Plain) -> bool:
    """Tell whether a view shows the very part of an array that a key picks."""
    picked = array[key]
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
    window = None
    base = target
    if target.index in record.bases:
        base = target.view_base
        way = way_to(target) if key is ... else None
        if type(way) is Index:  # a row, as in x[key] += y
            key = way.key
        else:
            window = Window.of(primal(base.data), primal(target.data))
    views = live_views(base)
    if fresh and window is None and not views and same_layout(value, base):
        new = value
    else:
        new = base._call(updated, (base, value), {"key": key, "window": window})
    if type(new) is not type(base):  # nothing that is assigned is differentiated
        call = (base, value), {"key": key, "window": window}
        new = base.record.note(updated, *call, new)
    followers = [followed(base, view, new, key, value, window) for view in views]
    commit(base, new, followers)


def same_layout(value: Any, base: Handle) -> bool:
    """Tell whether a fresh result can stand for the array that it is assigned to."""
    if type(value) is not type(base):
        return False
    one, two = primal(value.data), primal(base.data)
    return (
        isinstance(one, np.ndarray)
        and one.shape == two.shape
        and one.dtype == two.dtype
        and one.strides == two.strides
    )


def live_views(base: Handle) -> list[Handle]:
    """List the handles of the views of an array that are alive."""
    record: Arena = base.record
    seen = [i for i in record.views.get(base.index, ()) if record.bases.get(i) == base.index]
    found = (record.handles[view]() for view in seen)
    return [view for view in found if view is not None]


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
    seen = Window.of(primal(base.data), primal(view.data))
    way = way_to(view)
    if way is not None:
        return view, view._call(viewed, (new,), {"window": seen, "way": way})
    whole = primal(base.data)
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


def way_to(view: Handle) -> LinearMap | None:
    """Give the map that makes a view of its base, if turning, picking and reshaping made it."""
    record: Arena = view.record
    node, base = view.index, record.bases[view.index]
    maps: list[LinearMap] = []
    while node != base:
        edges = list(record.edges(node))
        if len(edges) != 1 or not rearranges(edges[0][1]):
            return None
        parent, linear = edges[0]
        shapes = record.shapes[parent], record.shapes[node]
        if linear.broadcasts and shapes[0] != shapes[1]:  # the sweep sees to that between nodes
            linear = Stretch(*shapes)
        maps.insert(0, linear)
        node = parent
    return maps[0] if len(maps) == 1 else Chain(tuple(maps))


def commit(base: Handle, new: Handle, followers: list[tuple[Handle, Handle]]) -> None:
    """Point handles at their new nodes, all of them or none."""
    record: Arena = new.record
    changes = [
        (handle, handle.record, handle.index, handle.data, node, ref(handle))
        for handle, node in [(base, new), *followers]
    ]
    for handle, old, index, *_ in changes:
        if not hasattr(handle, "earlier"):
            handle.earlier = []
        handle.earlier.append((old, index))
    for _, node in followers:
        record.bases[node.index] = new.index
    record.views[new.index] = [node.index for _, node in followers]
    try:  # an interrupt may come before any instruction, and after the last one all is done
        for handle, old, index, _, node, reference in changes:
            old.handles[index] = GONE  # first, as a view may go on standing for the same node
            node.record.handles[node.index] = reference
            handle.record, handle.index, handle.data = node.record, node.index, node.data
    except BaseException:  # no call here, as this may be the end of stack or memory
        for handle, old, index, data, _, reference in changes:
            handle.record, handle.index, handle.data = old, index, data
            old.handles[index] = reference
        raise
