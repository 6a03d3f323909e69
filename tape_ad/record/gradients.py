"""Gradients as a value: a read-only map from handles to arrays."""

import gc
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import is_later, is_traced, whole
from tape_ad.base.errors import ConversionError, RecordMismatchError
from tape_ad.base.trees import map_leaves
from tape_ad.record.arena import CONSTANT, Arena
from tape_ad.record.array_interface import ArrayInterface
from tape_ad.record.inspection.pages.figures import Range, aligned, shape_as_text, shown_by_repr
from tape_ad.record.primals import is_number, is_number_like, primal
from tape_ad.rules.maps import Array

if TYPE_CHECKING:
    from tape_ad.base.trees import OverLeaves


LISTED = 20
"""How many gradients are listed one by one."""


class Handle(Protocol):
    """What gradients know of a handle."""

    record: Any
    index: int
    data: Any


def asks(method: Any) -> "OverLeaves[Handle, np.ndarray[Any, Any]]":
    """Say what becomes of the types of trees; the method stays as it is."""
    wrt: OverLeaves[Handle, np.ndarray[Any, Any]] = method
    return wrt


@shown_by_repr
@define(eq=False, repr=False)
class Gradients:
    """The result of one reverse sweep, asked with `wrt`.

    It holds the gradient of every handle that was alive during the sweep, leaf or intermediate;
    it keeps neither the record nor its partials alive, nor any handle.

    ``len(grads)`` is how many handles it knows a gradient of that are alive now, and a loop over it
    gives these handles, in the order of their nodes. Both look for them among all objects of the
    interpreter: they are for looking, not for the steps of a loop.

    Examples
    --------
    >>> import tape_ad as ta
    >>> p = ta.ComputationRecord().bind({"w": np.array([1.0, -2.0]), "b": 3.0})
    >>> loss = np.sum(p["w"] ** 2) + p["b"]
    >>> grads = loss.grad()
    >>> grads
    <Gradients of node %4: 3 handles reached
      %0  leaf w      float64[2]  -4 to 2
      %1  leaf b      float64[]   1
      %4  add %3, %1  float64[]   1>
    >>> len(grads), [handle.index for handle in grads]
    (3, [0, 1, 4])
    """

    _arena: "weakref.ref[Arena]"
    _length: int  # of the arena when it was swept
    _root: int
    _stack: tuple[int, ...]
    _cotangents: dict[int, Array]

    @asks
    def wrt(self, tree: Any) -> Any:
        """Give the gradient with respect to a handle, or to each handle of a nested structure.

        Parameters
        ----------
        tree : Tensor, or a dict, list, tuple or attrs class of them
            What `ComputationRecord.bind` returned, for example. In a structure, None and other
            things that are no numbers stay as they are, as they do in `bind`.

        Returns
        -------
        ndarray, or the same structure of them
            Of the handle's shape and dtype, behind the seed's leading axes if it had any; zeros
            where the result does not depend on the handle. A handle of a number, as of a Python
            float, has a number for its gradient, a ``np.float64``. The arrays are read-only and
            stay so, for two entries may share memory; copy one to write to it.

        Raises
        ------
        RecordMismatchError
            When a handle belongs to another record.
        TypeError
            When an array, a number or nothing at all stands where a handle is expected.

        Examples
        --------
        >>> import tape_ad as ta
        >>> rec = ta.ComputationRecord()
        >>> x, y = rec.tensor(2.0), rec.tensor(3.0)
        >>> grads = (x * y).grad()
        >>> grads.wrt(x), grads.wrt({"y": y})
        (np.float64(3.0), {'y': np.float64(2.0)})
        """
        if not isinstance(tree, dict) and getattr(tree, "record", None) is not None:
            return self._entry(tree, "")
        return map_leaves(self._entry, tree)

    def __getitem__(self, handle: Any) -> NoReturn:
        """Refuse ``grads[x]``, and name `wrt` instead."""
        name = isinstance(handle, str)
        raise TypeError(
            "gradients are asked for by grads.wrt(handle), not by grads"
            + (f"[{handle!r}]; write grads.wrt(p)[{handle!r}]" if name else "[handle]")
        )

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse ``grads.w``, and name `wrt` instead."""
        raise AttributeError(
            f"gradients have no .{name}; they are asked for by grads.wrt(handle), or by "
            "grads.wrt(p), which has the structure of p"
        )

    def __contains__(self, handle: Any) -> bool:
        """Tell whether the result depends on a handle."""
        return self._index(handle, "") in self._cotangents

    def __iter__(self) -> Iterator[Any]:
        """Go through the handles that are alive and have a gradient here."""
        arena = self._arena()
        if arena is not None:
            for handle in handles_alive():
                node = self._index_then(handle, arena)
                if node is not None and node in self._cotangents:
                    yield handle

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __copy__(self) -> Self:
        return self  # for nothing in it changes

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise ConversionError(
            "gradients cannot be pickled, for they are asked with handles, which belong to a "
            "record; pickle the arrays, grads.wrt(...)"
        )

    def __bool__(self) -> bool:
        return True  # a result, though no handle of it may be left

    def __repr__(self) -> str:
        many = len(self._cotangents)
        nodes = sorted(self._cotangents)
        if many > LISTED:
            nodes = [*nodes[: LISTED // 2], *nodes[-(LISTED // 2) :]]
        rows = [f"\n  {row}" for row in aligned([self._row(node) for node in nodes])]
        if many > LISTED:
            rows.insert(LISTED // 2, f"\n  ... {many - LISTED} more")
        return f"<Gradients of node %{self._root}: {many} handles reached{''.join(rows)}>"

    def _row(self, node: int) -> list[str]:
        """Say of a gradient what it is with respect to, its space, and its range."""
        arena: Any = self._arena()
        ct = primal(self._cotangents[node])
        call = "" if arena is None or node >= len(arena) else arena[node].call
        known = isinstance(ct, (np.ndarray, np.generic))  # another may not be computed yet
        range_ = str(Range.of(np.asarray(ct))) if known else ""
        return [f"%{node}", call, f"{ct.dtype}{shape_as_text(ct.shape)}", range_]

    def _entry(self, leaf: Any, path: str) -> Any:
        arena: Any = self._arena()
        known = arena is not None and getattr(leaf, "record", None) is arena
        if known and leaf.index < self._length and arena.functions[leaf.index] is not CONSTANT:
            index = leaf.index  # as of most
        elif known or not path or is_number_like(leaf):
            index = self._index(leaf, path)
        else:
            return leaf
        ct, data = self._cotangents.get(index), leaf.data
        if ct is None:
            ct = np.zeros(self._stack + leaf.shape, data.dtype)
        elif ct.dtype is not data.dtype and ct.dtype != data.dtype:
            ct = ct.astype(data.dtype)  # a sum is in the machine's byte order
        if type(data) is not np.ndarray and is_later(data):
            return data.as_gradient(ct)
        return as_number(ct) if is_number_for(leaf, ct) else sealed(ct)

    def _index(self, handle: Any, path: str) -> int:
        record, arena = getattr(handle, "record", None), self._arena()
        if record is not None and arena is not None:
            index = self._index_then(handle, arena)
            if index is not None and arena.functions[index] is not CONSTANT:
                return index
        where = f" (at {path})" if path else ""
        if record is None:
            raise TypeError(
                f"gradients are asked with a handle, got {type(handle).__name__}{where}; pass what "
                "rec.tensor(...) or rec.bind(...) returned, grads.wrt(p) or grads.wrt(p['w']), not "
                "the array that it was made from, nor a name"
            )
        if record is not arena:
            raise RecordMismatchError(
                f"the handle %{handle.index}{where} belongs to another record than these "
                "gradients; ask with a handle of the record that the result was computed on"
            )
        raise TypeError(
            f"the handle %{handle.index}{where} is a constant, and nothing is differentiated with "
            "respect to it; make it with rec.tensor(...)"
        )

    def _index_then(self, handle: Any, arena: Arena) -> int | None:
        """Find the node that a handle stood for when the arena was swept, if it was in that."""
        record, index = handle.record, handle.index
        if record is arena and index < self._length:
            found: int = index
            return found
        for record, found in reversed(getattr(handle, "earlier", ())):
            if record is arena and found < self._length:
                return found
        return index if handle.record is arena else None


def sealed(array: Array) -> Array:
    """View an array without the right to write, nor that to get it back; others stay as they are.

    NumPy lets ``setflags(write=True)`` make a view of a writeable array writeable again. A view
    through a read-only buffer takes no memory either, and that NumPy refuses.
    """
    if type(array) is np.ndarray:
        return np.asarray(array.data.toreadonly())
    if isinstance(array, (np.ndarray, np.generic)):
        return through_buffer(array)
    if hasattr(array, "record"):  # a handle of an outer record, which may be a partial's as well
        array.data = sealed(array.data)
    return through_buffer_as_one(array) if is_traced(array) else array


def is_number_for(leaf: Any, ct: Array) -> bool:
    """Tell whether a derivative is a number as its leaf is, and no array of no axes."""
    return ct.shape == () and is_number(leaf.data)


def as_number(ct: Array) -> Array:
    """Take an array of no axes to the number that NumPy would give, which nobody can write to."""
    return ct if is_number(ct) else ct[()]


def through_buffer(array: Array) -> Array:
    """View an array of NumPy's, or a number, through a buffer that is read-only."""
    return np.asarray(np.asarray(array).data.toreadonly())


through_buffer_as_one = whole(through_buffer)


def handles_alive() -> list[Any]:
    """List the handles of all records that anybody holds, in the order of their nodes.

    A record has no references to its handles, so all objects are gone through that Python's
    garbage collector knows. That takes a second where there are ten millions, and nothing at all
    while computing. The snapshots that inner records keep are no handles of a user's.
    """
    found = [
        each for each in gc.get_objects() if issubclass(type(each), ArrayInterface) and is_own(each)
    ]
    return sorted(found, key=lambda handle: handle.index)


def is_own(handle: Any) -> bool:
    """Tell a handle from a snapshot of one, from one whose node was taken back, and a constant."""
    record = getattr(handle, "record", None)  # arrays of a batch have none
    if record is None or not 0 <= handle.index < len(record.marks):
        return False
    return record.marks[handle.index] is handle.mark
