"""Handles that depend on nothing, for code written in the array API standard.

Such code makes arrays (`zeros`, `asarray`), compares handles and looks for indices in them, and
asks each result for its namespace. So what has no derivative is a handle there too, one of no
record. Where it meets a handle of a record it is the plain array that it holds.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import ref

import numpy as np
from attrs import define, field

from tape_ad.base.errors import InPlaceError, RecordMismatchError
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.record.arena import CONSTANT
from tape_ad.record.array_operators import BitsInPlace
from tape_ad.record.messages.callers import hands_calls_on
from tape_ad.record.messages.library_answers import answer_to_scipy
from tape_ad.record.primals import is_view
from tape_ad.record.tensor import Tensor
from tape_ad.record.ties import Tied
from tape_ad.record.views import ALONE, references
from tape_ad.rules.maps import clone
from tape_ad.rules.numpy.updates import viewed
from tape_ad.rules.numpy.windows import Window

__all__ = [
    "CONSTANTS",
    "ConstantTensor",
    "as_constants",
    "as_handles",
    "gives_constants",
    "handles_in",
    "note_views",
    "prepare",
    "promote",
]

Plain = np.ndarray[Any, Any]

new = object.__new__


@define(eq=False)
class Memory:
    """Which constants show the same memory, so that an assignment to one is seen in all.

    Attributes
    ----------
    array : array
        The whole of it.
    handles : list of weak references
    """

    array: Plain
    handles: list["ref[ConstantTensor]"] = field(factory=list)

    def alive(self) -> "list[ConstantTensor]":
        """List the constants that are alive, and are constants still."""
        found = [reference() for reference in self.handles]
        return [each for each in found if each is not None and each.mark is self]

    def move(self, alive: "list[ConstantTensor]") -> None:
        """Let the constants show a copy of the memory, which nobody else has."""
        shown = [Window.of(self.array, each.data) for each in alive]
        self.array = clone(self.array)
        for each, window in zip(alive, shown, strict=True):
            each.data = window.on(self.array)


class ConstantTensor(Tensor, BitsInPlace):
    """A handle that depends on nothing, and belongs to no record.

    Its numbers may be read in every way, as no gradient can be lost. An assignment of what does
    depend on something makes it a handle of that one's record.

    Attributes
    ----------
    record : None
    data : array
    mark : Memory or None
        With whom it shares its memory, once it has a view.

    Examples
    --------
    >>> import tape_ad.interop.array_api as xp
    >>> xp.asarray([1, 2]) + 1
    Tensor(constant, int64[2], [2 3])
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__().replace("(%-1,", "(constant,", 1)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        answer_to_scipy("array of a constant", self)
        return np.array(self.data, dtype=dtype, copy=copy)

    def __bool__(self) -> bool:
        return bool(self.data) if self.size == 1 else super().__bool__()

    def __float__(self) -> float:
        return float(self.data)

    def __int__(self) -> int:
        return int(self.data)

    def __complex__(self) -> complex:
        return complex(self.data)

    def __index__(self) -> int:
        index: int = self.data.__index__()
        return index

    def __reduce__(self) -> Any:
        return as_constants, (self.data,)

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        newer = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        given = {name: value for name, value in newer.items() if value is not None}
        return self.data.__dlpack__(stream=stream, **given)  # NumPy 2.0 has the first alone

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self.data.__dlpack_device__()
        return device

    def astype(self, dtype: Any, *more: Any, **options: Any) -> Any:
        """Cast; see `ndarray.astype`."""
        return as_handles(self.data.astype(dtype, *more, **options), ())

    def grad(self, seed: Any = None, *, release: bool = False) -> Any:
        """Refuse a gradient, since nothing was recorded.

        Raises
        ------
        RecordMismatchError
        """
        raise RecordMismatchError(
            "this handle is a constant: it depends on nothing and belongs to no record, so there "
            "is nothing to sweep; take the gradient of what was computed from rec.tensor(...)"
        )


CONSTANTS: set[type] = {ConstantTensor}
"""The types of constants; `tape_ad.record.array_constants` adds its own."""


def as_constants(tree: Any, path: str = "") -> Any:
    """Make constants of the plain arrays and NumPy's numbers in a tree of results."""
    if isinstance(tree, (np.ndarray, np.generic)):
        handle: Any = new(ConstantTensor)
        handle.record, handle.index, handle.mark = None, -1, None
        handle.data = tree if type(tree) in (np.ndarray, Tied) else np.asarray(tree)
        return handle
    if isinstance(tree, (tuple, list)):
        return map_leaves(as_constants, tree)
    return tree


def handles_in(*trees: Any) -> Iterator[Tensor]:
    """Iterate over the handles of records in nested structures."""
    return (leaf for leaf in flatten(trees) if type(leaf) is Tensor)


def gives_constants(args: Any, kwargs: Mapping[str, Any]) -> bool:
    """Tell whether what a call gives without a record is to be a constant.

    So it is where a record is asked for its namespace, unless a rule or a sweep of ours calls:
    those know of plain arrays alone.
    """
    leaves = [*args, *kwargs.values()]
    for leaf in leaves:  # which grows
        kind = type(leaf)
        if kind is Tensor:
            if is_namespaced(leaf):
                break
        elif kind is list or kind is tuple:
            leaves += leaf
    else:
        return False
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and is_passed_by(frame.f_globals.get("__name__")):
        frame = frame.f_back
    name = str(frame.f_globals.get("__name__"))
    return not name.startswith("tape_ad.") or name.startswith("tape_ad.interop.array_api")


def is_namespaced(handle: Any) -> bool:
    """Tell whether a record of a handle, at any depth, is asked for its namespace."""
    while type(handle) is Tensor:
        if handle.record.namespaced:
            return True
        handle = handle.data
    return False


def is_passed_by(name: Any) -> bool:
    """Tell whether a module is one that calls go through."""
    return hands_calls_on(str(name)) or name == "tape_ad.base.arrays.overridable"


def as_handles(out: Any, operands: Any) -> Any:
    """Make constants of what was computed of constants alone, and note which are views."""
    result = as_constants(out)
    if type(result) is ConstantTensor:
        note_views(result, operands)
    elif isinstance(result, (tuple, list)):
        for each in flatten(result):
            if type(each) is ConstantTensor:
                note_views(each, operands)
    return result


def note_views(result: ConstantTensor, operands: Any) -> None:
    """Note of whose memory a constant is a view, if of any."""
    for operand in flatten(operands):
        if type(operand) in CONSTANTS and is_view(result.data, operand.data):
            memory = operand.mark
            if not isinstance(memory, Memory):
                memory = operand.mark = Memory(operand.data, [ref(operand)])
            result.mark = memory
            memory.handles.append(ref(result))
            return


def prepare(target: ConstantTensor) -> None:
    """See to it that nobody but a constant and its views has the memory that is written to.

    A partial may hold it, and its derivative must stay that of what was computed.
    """
    memory = target.mark
    if not isinstance(memory, Memory):
        if references(target) != ALONE or not (
            target.data.flags.owndata and target.data.flags.writeable
        ):
            target.data = clone(target.data)
        return
    if not target.data.flags.writeable:
        raise InPlaceError(
            "this constant is a read-only view, as NumPy's is, so it is not assigned to; copy it "
            "first, by asarray(x, copy=True)"
        )
    alive = memory.alive()
    if not has_alone(memory, alive):
        memory.move(alive)


def has_alone(memory: Memory, alive: list[ConstantTensor]) -> bool:
    """Tell whether nobody but the constants has their memory."""
    array = memory.array
    wholes = sum(each.data is array for each in alive)
    views = [each for each in alive if each.data is not array]
    return (
        array.flags.owndata
        and sys.getrefcount(array) == ALONE + 1 + wholes + len(views)
        and all(references(each) == ALONE and each.data.base is array for each in views)
    )


def promote(target: ConstantTensor, record: Any) -> None:
    """Make a constant, and all that share its memory, handles of a record.

    Raises
    ------
    InPlaceError
        When they are no floating numbers, and so cannot depend on anything.
    """
    if target.dtype.kind not in "fc":
        raise InPlaceError(
            f"a handle that depends on something is assigned to a constant of dtype "
            f"{target.dtype}, which cannot follow it; make that with a floating dtype"
        )
    memory = target.mark
    if isinstance(memory, Memory):
        alive = memory.alive()
        if not memory.array.flags.forc:  # its views are found in what is laid out so, or cloned
            memory.move(alive)
        whole = memory.array
    else:
        alive, whole = [target], target.data
    base = record.note(CONSTANT, (), {}, whole)
    first = next((each for each in alive if each.data is whole), None)
    if first is not None:
        become(first, base)
        base = first
    others = []
    for each in alive:
        if each is not base and type(each) in CONSTANTS:
            window = Window.of(whole, each.data)
            become(each, base._call(viewed, (base,), {"window": window}))
            record.bases[each.index] = base.index
            each.view_base = base
            others.append(ref(each))
    record.views[base.index] = others


def become(constant: ConstantTensor, node: Tensor) -> None:
    """Make a constant the handle of a node."""
    handle: Any = constant
    handle.__class__ = Tensor
    handle.record, handle.index, handle.data = node.record, node.index, node.data
    handle.mark = node.mark
