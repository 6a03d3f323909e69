"""Handles, and the one dispatch from a NumPy call to a record."""

from collections.abc import Callable, Mapping, Sequence
from operator import getitem
from types import MappingProxyType
from typing import Any
from weakref import ref

import numpy as np
from attrs import define

from tape_ad.core.arena import CONSTANT, Arena, called, function_name
from tape_ad.core.sweeps import reverse_sweep
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.handles.arguments import (
    AS_THEY_ARE,
    as_operand,
    checked_constant,
    checked_seed,
    common_record,
    constant_value,
    entry_of,
    is_view,
    misplaced_handle,
    no_derivative,
    no_output,
    odd_one,
    primal,
    raise_with_name,
    ufunc_options,
    written_to,
)
from tape_ad.handles.array_assignment import ArrayAssignment
from tape_ad.handles.array_interface import ArrayInterface
from tape_ad.handles.gradients import Gradients
from tape_ad.linear_maps import Array, Index, Partial
from tape_ad.rules import STRAIGHT
from tape_ad.rules.base import Constant, Derivation, Filled, Rule, as_array, refuse
from tape_ad.rules.numpy.indexing import WHOLE, plain_key
from tape_ad.trees import map_leaves

__all__ = ["Tensor", "append", "record_call"]

Function = Callable[..., Any]
Options = Mapping[str, Any]
ndarray = np.ndarray
new = object.__new__
straight_makers = STRAIGHT.get
ABSENT: Any = object()
NO_OPTIONS: Options = MappingProxyType({})


def record_call(function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS) -> Any:
    """Compute a function, and record it where its arguments hold handles.

    It is recorded on the innermost record among the handles; handles of enclosing records are
    constants there, and the computation itself, being NumPy calls on them, is recorded on theirs.

    Parameters
    ----------
    function : callable
        A NumPy function, a ufunc or one of its methods, or one of ours with an entry in the rules.
    args, kwargs
        As the user called it.

    Returns
    -------
    Tensor, or plain data where the function is piecewise constant

    Raises
    ------
    NoRuleError, RecordMismatchError, ShapeError
    """
    if kwargs or function not in STRAIGHT:
        return record_any(function, args, kwargs)
    if len(args) > 2:
        return record_several(function, args)
    return record_one(function, *args) if len(args) == 1 else record_two(function, *args)


def record_one(function: Function, x: Any) -> Any:
    """Do what `record_call` does for one operand: in straight lines, if that is a handle."""
    makers = straight_makers(function)
    if makers is None or x.record.watch is not None:
        return record_any(function, (x,))
    record, data = x.record, x.data
    try:
        out = function(data)
        partial = makers[0](out, data)
    except ValueError as error:
        raise_with_name(function, (x,), error)
    record.parents.append(x.index)
    record.partials.append(partial)
    return append(record, out, function)


def record_two(function: Function, x: Any, y: Any) -> Any:
    """Do what `record_call` does for two operands: in straight lines, where most calls go."""
    makers = straight_makers(function)
    if makers is None:
        return record_any(function, (x, y))
    x_kind, y_kind = type(x), type(y)
    record = x.record if x_kind is Tensor else y.record
    if record.watch is not None:
        return record_any(function, (x, y))
    try:
        if x_kind is y_kind:
            if y.record is not record:
                return record_any(function, (x, y))
            data, other = x.data, y.data
            out = function(data, other)
            first, second = makers
            pair = first(out, data, other), second(out, data, other)
            record.parents += (x.index, y.index)
            record.partials += pair
            return append(record, out, function)
        if y_kind in AS_THEY_ARE:
            handle, plain_kind, data = x, y_kind, x.data
            out = function(data, y)
            partial = makers[0](out, data, y)
        elif x_kind in AS_THEY_ARE:
            handle, plain_kind, data = y, x_kind, y.data
            out = function(x, data)
            partial = makers[1](out, x, data)
        else:
            return record_any(function, (x, y))
    except ValueError as error:
        raise_with_name(function, (x, y), error)
    if plain_kind is ndarray and out.dtype is not data.dtype and out.dtype.kind not in "fc":
        raise no_derivative(function, out.dtype)
    record.parents.append(handle.index)
    record.partials.append(partial)
    return append(record, out, function)


def record_several(function: Function, args: tuple[Any, ...]) -> Any:
    """Do what `record_call` does for three and more operands of a straight function."""
    record: Any = None
    values, parents, positions = [], [], []
    for position, operand in enumerate(args):
        kind = type(operand)
        if kind is Tensor and (record is None or operand.record is record):
            record = operand.record
            values.append(operand.data)
            parents.append(operand.index)
            positions.append(position)
        elif kind in AS_THEY_ARE:
            values.append(operand)
        else:
            return record_any(function, args)
    if record.watch is not None:
        return record_any(function, args)
    try:
        out = function(*values)
        makers = STRAIGHT[function]
        partials = [makers[position](out, *values) for position in positions]
    except ValueError as error:
        raise_with_name(function, args, error)
    if out.dtype.kind not in "fc":
        raise no_derivative(function, out.dtype)
    record.parents += parents
    record.partials += partials
    return append(record, out, function)


def record_item(x: Any, key: Any) -> Any:
    """Do what `record_call` does for ``x[key]``: in straight lines for integers and slices."""
    data, plain = x.data, plain_key(key)
    if plain is None or x.record.watch is not None:
        return record_any(getitem, (x, key))
    try:
        out = data[plain]
    except ValueError as error:
        raise_with_name(getitem, (x,), error)
    partial = Index(plain + (WHOLE,) * (data.ndim - len(plain)), data.shape, out.shape)
    return append_to(x, partial, out, getitem)


def record_any(function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS) -> Any:
    """Do what `record_call` does for any call at all."""
    entry = entry_of(function)
    if type(entry) is Rule:
        return record_general(function, entry, args, kwargs)
    return call_unrecorded(function, entry, args, kwargs)


def record_general(function: Function, rule: Rule, args: tuple[Any, ...], kwargs: Options) -> Any:
    """Do what `record_call` does for any number of operands, options, records and array-likes."""
    options: Options = NO_OPTIONS
    call_options: Options = NO_OPTIONS
    if rule.signature is not None:
        args, options = rule.signature(*args, **kwargs)
        call_options = options
        if Tensor in map(type, options.values()):
            raise misplaced_handle(function)
    elif kwargs:
        call_options = ufunc_options(function, kwargs)
    place = None if rule.multiple else odd_one(args)
    if place is not None and type(args[place]) is Tensor and args[place].record.watch is None:
        return record_simple(function, rule, args, place, options, call_options)
    record = common_record(function, args)
    values = []
    parents = []
    for position, operand in enumerate(args):
        if type(operand) is Tensor and operand.record is record:
            values.append(operand.data)
            parents.append((position, operand.index))
        else:
            values.append(as_operand(operand))
    out, saved = computed(function, rule, values, call_options)
    if record.watch is not None:
        use = f"node %{len(record.functions)} ({function_name(function)})"
        record.watch.see((*values, *options.values(), out), use)
    if not rule.multiple:
        arguments = (saved, *values)
        return record_output(record, function, rule, parents, out, values, arguments, options)
    handles = [
        record_output(record, function, rule, parents, each, values, (i, out, *values), options)
        for i, each in enumerate(out)
    ]
    return out._make(handles) if hasattr(out, "_make") else type(out)(handles)


def computed(
    function: Function, rule: Rule, values: Sequence[Any], options: Options
) -> tuple[Any, Any]:
    """Compute what a call gives, and what its partials are made of."""
    try:
        out = (rule.compute or function)(*values, **options)
    except ValueError as error:
        raise_with_name(function, values, error)
    return out if rule.saves else (out, out)


def record_simple(
    function: Function,
    rule: Rule,
    args: tuple[Any, ...],
    position: int,
    options: Options,
    call_options: Options,
) -> Any:
    """Do what `record_general` does for one handle among plain operands, and one output."""
    x = args[position]
    values = (x.data,) if len(args) == 1 else (*args[:position], x.data, *args[position + 1 :])
    out, saved = computed(function, rule, values, call_options)
    if type(out) is tuple or out.dtype.kind not in "fc":
        return checked_constant(function, out)
    maker = rule.maker(position)
    partial = maker and maker(saved, *values, **options)
    return out if partial is None else append_to(x, partial, out, function)


def record_output(
    record: Arena,
    function: Function,
    rule: Rule,
    parents: list[tuple[int, int]],
    out: Array,
    values: list[Array],
    arguments: tuple[Any, ...],
    options: Options,
) -> Any:
    """Append a node for one output, unless no parent has a partial or the output is no number.

    `parents` has the position and the node of each operand that is a handle of this record,
    `values` has all the operands, and `arguments` are what the rule's makers take.
    """
    if type(out) is tuple or out.dtype.kind not in "fc":
        return checked_constant(function, out)
    depends, partials = [], []
    for position, parent in parents:
        maker = rule.maker(position)
        partial = maker and maker(*arguments, **options)
        if partial is not None:
            depends.append(parent)
            partials.append(partial)
    if not depends:
        return out
    record.parents += depends
    record.partials += partials
    handle = append(record, out, function)
    for position, parent in parents:
        if is_view(out, values[position]):
            record.add_view(handle.index, parent)
    return handle


def append(record: Arena, data: Array, function: Any = None) -> "Tensor":
    """Append a node to a record, with the edges that were appended last, and make its handle."""
    functions = record.functions
    handle: Tensor = new(Tensor)  # its __init__ would take as long again
    handle.record, handle.index, handle.data = record, len(functions), data
    functions.append(function)
    record.starts.append(len(record.parents))
    record.shapes.append(data.shape)
    record.dtypes.append(data.dtype)
    record.handles.append(ref(handle))
    return handle


def append_to(x: "Tensor", partial: Partial, out: Array, function: Any) -> "Tensor":
    """Append a node with one edge, which may be a view of what it comes from."""
    record: Arena = x.record
    record.parents.append(x.index)
    record.partials.append(partial)
    handle = append(record, out, function)
    if is_view(out, x.data):
        record.add_view(handle.index, x.index)
    return handle


@define(eq=False, repr=False, weakref_slot=True)
class Tensor(ArrayInterface, ArrayAssignment):
    """A handle: an index into a record, and the primal that was computed there.

    It looks like an ndarray and is never written to. Handles are made by
    `ComputationRecord.tensor`, by `ComputationRecord.bind`, and by calling NumPy on handles.

    Attributes
    ----------
    record : ComputationRecord
        The record that the node stands in.
    index : int
        The node's index there.
    data : array
        The primal. It lives as long as the handle, or as a partial that needs it.

    Examples
    --------
    >>> import tape_ad as ta
    >>> x = ta.ComputationRecord().tensor([1.0, 2.0])
    >>> y = np.sum(x * x)
    >>> y
    Tensor(%2, float64[], 5.)
    >>> y.grad().wrt(x)
    array([2., 4.])
    """

    record: Any
    index: int
    data: Array

    _call = staticmethod(record_call)
    _item = staticmethod(record_item)
    _one = staticmethod(record_one)
    _two = staticmethod(record_two)

    def grad(self, seed: Any = None, *, release: bool = False) -> Gradients:
        """Sweep back from this handle and give the gradients of all handles that are alive.

        Parameters
        ----------
        seed : array, shape stack + self.shape, optional
            The cotangent to start from; 1 for a scalar when left out. Any leading axes are a
            stack of seeds, swept at once, and the gradients have them too.
        release : bool
            Free each partial as soon as it is used. Those nodes cannot be swept again.

        Returns
        -------
        Gradients
            The gradient of the real part of ``sum(conj(seed) * self)``. For complex handles it is
            the one under the real inner product, so that ``z -= rate * gradient`` descends.

        Raises
        ------
        SeedError
            When a handle that is not a real scalar gets no seed, or a seed does not fit.
        ReleasedError
            When the sweep meets a node that an earlier one has released.
        MutatedInputError
            With ``ComputationRecord(check_inputs=True)``, when an array was written to meanwhile.
        """
        record: Arena = self.record
        start = checked_seed(self, seed)
        if record.watch is not None:
            record.watch.check()
        with np.errstate(all="ignore"):  # a pole is inf or nan, and NumPy has warned of the value
            cotangents = reverse_sweep(record, self.index, start, release=release)
        stack = start.shape[: start.ndim - self.ndim]
        return Gradients(ref(record), self.index, stack, cotangents)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, x: Any, y: Any = ABSENT, *more: Any, **kwargs: Any
    ) -> Any:
        if method == "__call__" and not (more or kwargs):
            return record_one(ufunc, x) if y is ABSENT else record_two(ufunc, x, y)
        inputs = (x,) if y is ABSENT else (x, y, *more)
        if method == "__call__":
            return record_any(ufunc, inputs, kwargs)
        if method == "at":
            raise written_to(ufunc)
        if method == "outer":
            x, y = map(as_array, inputs)
            return record_call(ufunc, (x[(..., *(None,) * y.ndim)], y), kwargs)
        return record_call(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(self, function: Function, types: Any, args: Any, kwargs: Any) -> Any:
        return record_call(function, args, kwargs)


def call_unrecorded(function: Function, entry: Any, args: tuple[Any, ...], kwargs: Options) -> Any:
    """Run a function that adds no node of its own: a derivation, or a piecewise constant one."""
    if type(entry) is Derivation:
        if entry.signature is not None:
            args, kwargs = entry.signature(*args, **kwargs)
        return entry.compute(*args, **kwargs)
    if type(entry) is Constant:
        return constant_value(function, args, kwargs)
    if type(entry) is Filled:
        refuse(function_name(function), out=no_output(kwargs.get("out")))
        record = common_record(function, args)
        filled = function(*map_leaves(primal, args), **map_leaves(primal, kwargs))
        return append(record, filled, CONSTANT) if filled.dtype.kind in "fc" else filled
    raise UnsupportedArgumentError(f"{called(function)}: {entry.instead}")
