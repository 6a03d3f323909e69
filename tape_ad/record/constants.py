"""Handles that depend on nothing, for code written in the array API standard.

Such code makes arrays (`zeros`, `asarray`), compares handles and looks for indices in them, and
asks each result for its namespace. So what has no derivative is a handle there too, one of no
record. Where it meets a handle of a record it is the plain array that it holds.
"""

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from operator import getitem
from typing import Any, Never
from weakref import ref

import numpy as np
from attrs import frozen

from tape_ad.base.arrays.interpreter import (
    NO_OPTIONS,
    boxes,
    call,
    is_box,
    looked_through,
    unwrapped,
)
from tape_ad.base.arrays.overridable import ACTIVE, is_traced, joined, lift
from tape_ad.base.errors import InPlaceError, RecordMismatchError
from tape_ad.base.naming import PYTHON_OPERATORS
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.record.arena import CONSTANT, Arena
from tape_ad.record.array_interface import ArrayInterface
from tape_ad.record.array_operators import BitsInPlace
from tape_ad.record.handles import any_handle
from tape_ad.record.messages.callers import caller, hands_calls_on
from tape_ad.record.messages.libraries import answer_to_scipy, traced_in_a_library
from tape_ad.record.messages.migration_hints import MigrationHint
from tape_ad.record.messages.refusals import no_implementation
from tape_ad.record.mutation import (
    Memory,
    go_one_by_one,
    has_alone,
    lie_alike,
    refuse_moving,
    refuse_to_write,
    replace,
)
from tape_ad.record.primals import is_view
from tape_ad.record.tensor import Tensor
from tape_ad.record.ties import Tied
from tape_ad.rules.maps import clone
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.updates import viewed

Function = Callable[..., Any]
Plain = np.ndarray[Any, Any]

WRITERS = frozenset({np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask})
"""NumPy's functions that write to their first argument."""

LISTS = frozenset({list, tuple})

PLAIN_KEYS = frozenset({int, slice, type(None), type(...)})

new = object.__new__


class ConstantTensor(Tensor, BitsInPlace):
    """A handle that depends on nothing, and belongs to no record.

    Its numbers may be read in every way, as no gradient can be lost. An assignment of what does
    depend on something makes it a handle of that one's record.

    Attributes
    ----------
    record : None
    data : array
    memory : Memory
        With whom it shares that of its array, once it has a view.

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
        return as_constants(self.data.astype(dtype, *more, **options))

    def grad(self, seed: Any = None, *, release: bool = False, **unknown: Never) -> Any:
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
"""The types of constants."""


def as_constants(tree: Any, path: str = "") -> Any:
    """Make constants of the plain arrays and NumPy's numbers in a tree of results."""
    if isinstance(tree, (np.ndarray, np.generic)):
        array = tree if type(tree) in (np.ndarray, Tied) else np.asarray(tree)
        return constant_of(array, ConstantTensor)
    if isinstance(tree, (tuple, list)):
        return map_leaves(as_constants, tree)
    return tree


def constant_of(array: Any, kind: Any) -> Any:
    """Make a constant of an array."""
    handle: Any = new(kind)
    handle.record, handle.index = None, -1
    batches = ACTIVE.get().batches  # whose arrays it may come to hold
    handle.mark = batches[-1].level if batches else 0
    handle.data = array
    return handle


def gives_constants(args: Any, kwargs: Mapping[str, Any]) -> bool:
    """Tell whether what a call gives without a record is to be a constant.

    So it is where a record is asked for its namespace, unless a rule or a sweep of ours calls:
    those know of plain arrays alone. What stands in ``out=`` stays what it is.
    """
    leaves = [*args, *kwargs.values()]
    if "out" in kwargs:
        return False
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


def note_views(result: ConstantTensor, operands: Any) -> None:
    """Note of whose memory a constant is a view, if of any."""
    for operand in flatten(operands):
        if type(operand) in CONSTANTS and is_view(result.data, operand.data):
            Memory.shared_by(operand, -1).add(result)
            return


def prepare(target: ConstantTensor) -> None:
    """Copy a constant's memory before it is written to, if others have it too.

    A partial may hold it, and its derivative must stay that of what was computed.
    """
    memory = getattr(target, "memory", None)
    if hasattr(target.data, "batch_here"):
        return
    if memory is None:
        if not (has_alone(target, []) and target.data.flags.writeable):
            target.data = clone(target.data)
        return
    if not memory.owned:
        return
    if not target.data.flags.writeable:
        raise InPlaceError(
            "this constant is a read-only view, as NumPy's is, so it is not assigned to; copy it "
            "first, by asarray(x, copy=True)"
        )
    alive = memory.alive()
    if not has_alone(memory, alive):
        memory.move(alive)


TRIED_AGAIN: ContextVar[bool] = ContextVar("tape_ad_tried_again", default=False)
"""Whether a call to which an array of a batch is refused is made again, with handles."""


def take_in(target: ConstantTensor, value: Any) -> None:
    """Let a constant that was made in a batch hold an array for each, which is written to.

    Raises
    ------
    InPlaceError
        Where it was not, or has views, where the call is made again then, and where the value is
        traced.
    """
    if type(value) in LISTS:
        for each in value:
            take_in(target, each)
        return
    own: Any = value.data if type(value) in CONSTANTS else value
    is_number = is_traced(own) and isinstance(own, (float, complex))
    if not (isinstance(own, ArrayInterface) or is_number):
        return
    batch: Any = getattr(own, "batch_here", None)
    if batch is not None:
        holder: Any = target.data
        while hasattr(holder, "batch_here"):
            if holder.batch_here is batch:
                return
            holder = holder.stack
        memory = getattr(target, "memory", None)
        apart = memory is None or (memory.owned and len(memory.alive()) == 1)
        known = batch.level <= target.mark and not TRIED_AGAIN.get()
        if apart and known and target.data.flags.c_contiguous:
            target.memory = None
            target.data = np.array(target.data, like=own)
            return
        go_one_by_one(own)
    what = "assigns a batched or traced array to a part of a plain one"
    raise InPlaceError(
        traced_in_a_library(what)
        or f"{caller()} {what}; make the array by np.zeros_like(x) or np.stack([...])"
    )


def promote(target: ConstantTensor, record: Any) -> None:
    """Make a constant, and all that share its memory, handles of a record.

    Raises
    ------
    InPlaceError
        When they are no floating numbers, and so cannot depend on anything, and when somebody else
        has the array too.
    """
    if target.dtype.kind not in "fc":
        raise InPlaceError(
            f"a handle that depends on something is assigned to a constant of dtype "
            f"{target.dtype}, which cannot follow it; make that with a floating dtype"
        )
    memory, alive = getattr(target, "memory", None), [target]
    if memory is None:
        target.data = lift(target.data)  # for what captures calls, if anything does
        memory = Memory(target.data)
    elif not memory.owned:
        raise InPlaceError(
            "a handle is assigned to a part of an array of plain numbers that the code was given, "
            "and its gradient would be lost; give it a copy that is made of a handle, as by "
            "array + 0 * t, or let it make its own by np.array(x) or np.zeros(n)"
        )
    else:
        alive = memory.alive()
        if not memory.data.flags.forc:  # its views are found in what is laid out so, or cloned
            memory.move(alive)
    whole = memory.data
    base = record.note(CONSTANT, (), {}, whole)
    first = next((each for each in alive if each.data is whole), None)
    if first is not None:
        become(first, base)
        base = first
    views = [each for each in alive if each is not base]
    for each in views:
        window = Window.of(whole, each.data)
        become(each, base._call(viewed, (base,), {"window": window}))
    moved = Memory(whole, base.index, [ref(base), *map(ref, views)])
    for each in (base, *views):
        each.memory = moved


def become(constant: ConstantTensor, node: Tensor) -> None:
    """Make a constant the handle of a node."""
    handle: Any = constant
    handle.__class__ = Tensor
    handle.record, handle.index, handle.data = node.record, node.index, node.data
    handle.mark = node.mark


def fill(target: Any, value: Any) -> None:
    """Assign to a result that nobody else has, as ``target[...] = value``, without a copy.

    Parameters
    ----------
    target : Tensor or constant
    value : array or Tensor
        What a call has just given.
    """
    if type(value) is Tensor and lie_alike(target.data, value.data):
        if type(target) is Tensor and target.record is value.record:
            refuse_to_write(target, "leave it out")
            replace(target, ..., value, fresh=True)
            return
        if type(target) in CONSTANTS and getattr(target, "memory", None) is None:
            become(target, value)
            return
    target[...] = value


@frozen
class Eager:
    """What answers the calls of handles that depend on nothing: they are computed at once.

    Attributes
    ----------
    box : callable
        ``box(out)`` makes constants of what a call gives.
    """

    box: Callable[[Any], Any]
    level = 0

    def boxed(self, out: Any, operands: Any) -> Any:
        """Make constants of what was computed of constants, and note which are views of them."""
        result = self.box(out)
        several = isinstance(result, (tuple, list))
        for each in flatten(result) if several else (result,):
            if type(each) in CONSTANTS:
                note_views(each, operands)
        return result

    def call(self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Compute a function of constants and plain arrays."""
        out = kwargs.get("out")
        outs = out if isinstance(out, tuple) else (out,)
        for target in (*outs, *(args[:1] if function in WRITERS else ())):
            if type(target) in CONSTANTS:
                prepare(target)
        result = function(*unwrapped(args), **unwrapped(dict(kwargs)))
        if out is None:
            return self.boxed(result, (args, dict(kwargs)))
        if not isinstance(result, tuple):
            return outs[0]
        pairs = zip(outs, result, strict=True)
        return tuple(self.boxed(b, args) if a is None else a for a, b in pairs)

    def called(
        self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any] = NO_OPTIONS
    ) -> Any:
        """Compute a function of constants, or have it answered by whom they meet."""
        out = self.answered(function, args, kwargs)
        if out is NotImplemented:
            raise no_implementation(function, args)
        return out

    def answered(
        self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any] = NO_OPTIONS
    ) -> Any:
        """Answer a call of constants; NotImplemented where another library should."""
        return call(function, args, kwargs, self.call)

    def lift(self, value: Any) -> Any:
        """Make a constant of a plain array."""
        return self.box(value)

    def one(self, function: Function, x: Any) -> Any:
        """Compute a function of one constant."""
        return self.boxed(function(x.data), (x,))

    def two(self, function: Function, x: Any, y: Any) -> Any:
        """Apply a binary operator to a constant and another operand, as Python does.

        NumPy's arrays leave operators to objects, as SciPy's sparse arrays, that its functions
        would take for arrays; and NumPy 2.0 rounds a power in ways of its own.
        """
        first = x.data if type(x) in CONSTANTS else x
        second = y.data if type(y) in CONSTANTS else y
        if is_box(first) or is_box(second) or {type(x), type(y)} & LISTS:
            return self.answered(function, (x, y))
        return self.box(PYTHON_OPERATORS.get(function, function)(first, second))

    def item(self, x: Any, key: Any) -> Any:
        """Index a constant: ``x[key]``."""
        entries = key if type(key) is tuple else (key,)
        if PLAIN_KEYS.issuperset(map(type, entries)):
            return self.boxed(x.data[key], (x,))
        return self.called(getitem, (x, key))

    def assign(self, target: Any, key: Any, value: Any) -> None:
        """Assign to elements of a constant; with a handle of a record, in that record's graph.

        Raises
        ------
        InPlaceError
            Where C code moves parts of an array about, and of what is batched or traced.
        """
        record = record_among(value)
        if record is not None:
            promote(target, record)
            target[key] = joined(value)
            return
        take_in(target, value)
        memory = getattr(value, "memory", None) if type(value) in CONSTANTS else None
        if memory is not None:
            refuse_moving(sys._getframe(2), lambda: memory is getattr(target, "memory", None))
        prepare(target)
        target.data[unwrapped(key)] = unwrapped(value)

    def change(self, function: Function, target: Any, other: Any) -> Any:
        """Apply ``target += other`` and its kind to a constant.

        Raises
        ------
        InPlaceError
            As for `assign`.
        """
        record = record_among(other)
        if record is not None:
            promote(target, record)
            return Tensor._change(function, target, joined(other))
        take_in(target, other)
        prepare(target)
        function(target.data, unwrapped(other), out=target.data)
        return target

    def serve(self, kind: Any) -> None:
        """Answer the calls and operators of a type of constants."""
        kind.interpreter = self
        boxes("interpreter")(kind)
        kind.answer_with(
            call=self.called,
            answer=self.answered,
            one=self.one,
            two=self.two,
            item=self.item,
            assign=self.assign,
            change=self.change,
        )


Eager(as_constants).serve(ConstantTensor)


def record_among(tree: Any) -> Any:
    """Find the record that handles in a tree belong to, if there are any."""
    found, _ = looked_through((tree,))
    return found if isinstance(found, Arena) else None


# Constants with NumPy's semantics, for code that makes an array and assigns handles to it


class ArrayConstant(ConstantTensor):
    """A plain array that may be assigned handles, and is a handle itself from then on.

    Examples
    --------
    >>> from tape_ad.record.record import ComputationRecord
    >>> x = ComputationRecord().tensor(3.0)
    >>> powers = as_array_constants(np.zeros(3))
    >>> for i in range(3):
    ...     powers[i] = x**i
    >>> np.sum(powers).grad().wrt(x)
    np.float64(7.0)
    """

    __slots__ = ()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "at":
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        target, *others = inputs
        if type(target) not in CONSTANTS or any_handle(others):
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)  # which refuses
        prepare(target)
        return ufunc.at(*unwrapped(inputs))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.data, dtype=dtype, copy=copy)

    def __bool__(self) -> bool:
        return bool(self.data)

    def __repr__(self) -> str:
        return repr(self.data)

    def __str__(self) -> str:
        return str(self.data)

    def __format__(self, spec: str) -> str:
        return format(self.data, spec)

    def __reduce__(self) -> Any:
        return self.data.__reduce__()

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self.data)))

    def astype(self, dtype: Any, *more: Any, **options: Any) -> Any:
        """Cast; see `ndarray.astype`."""
        return wrapped(self.data.astype(dtype, *more, **options), (self,))

    def item(self, *args: Any) -> Any:
        """Give an element as a Python number."""
        return self.data.item(*args)

    def tolist(self) -> Any:
        """Give nested lists of Python numbers."""
        return self.data.tolist()

    def fill(self, value: Any) -> None:
        """Assign to all elements; see `ndarray.fill`."""
        self[...] = value

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """Give a view, which has the handles that are assigned to either; see `ndarray.view`."""
        found = self.data.view(*args, **kwargs)
        if type(found) is not np.ndarray or found.dtype != self.data.dtype:
            return given_away(self).view(*args, **kwargs)
        return wrapped(found, (self,))


class OfTheArray:
    """An attribute that ndarrays have and handles do not: that of the array itself."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, constant: Any, owner: type) -> Any:
        return self if constant is None else getattr(given_away(constant), self.name)


for _name in dir(np.ndarray):
    if _name not in vars(ArrayConstant) and isinstance(
        vars(ArrayInterface).get(_name), MigrationHint
    ):
        setattr(ArrayConstant, _name, OfTheArray(_name))

ArrayConstant.__array_wrap__ = OfTheArray("__array_wrap__")  # type: ignore[attr-defined]  # as the others

CONSTANTS.add(ArrayConstant)


def as_array_constants(tree: Any) -> Any:
    """Make constants of the arrays of floating numbers in what a call gives; numbers stay."""
    if type(tree) is np.ndarray and tree.dtype.kind in "fc":
        return constant_of(tree, ArrayConstant)
    if type(tree) in (tuple, list):
        return type(tree)(map(as_array_constants, tree))
    if isinstance(tree, tuple) and hasattr(tree, "_make"):
        return tree._make(map(as_array_constants, tree))
    return tree


def borrowed(array: Any) -> Any:
    """Make a constant of an array that somebody else has too; what is no such array stays.

    Plain numbers are written there, as NumPy does. Handles cannot be.
    """
    found = as_array_constants(array)
    if type(found) is ArrayConstant:
        found.memory = Memory(array, owned=False)
    return found


def wrapped(out: Any, operands: Any) -> Any:
    """Make constants of what a call gives, and note which are views of its operands."""
    return EAGER.boxed(out, operands)


def given_away(constant: Any) -> Any:
    """Give the array of a constant to code that may write to it."""
    prepare(constant)
    return constant.data


EAGER = Eager(as_array_constants)
EAGER.serve(ArrayConstant)
