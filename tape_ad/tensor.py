"""Handles, and the one dispatch from a NumPy call to a record."""

import weakref
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import define

from tape_ad.arena import CONSTANT, Arena, function_name
from tape_ad.arguments import (
    AS_THEY_ARE,
    as_operand,
    checked_seed,
    no_output,
    primal,
    raise_with_name,
    ufunc_options,
)
from tape_ad.array_interface import ArrayInterface
from tape_ad.errors import (
    DtypeError,
    InPlaceError,
    NoRuleError,
    RecordMismatchError,
    UnsupportedArgumentError,
)
from tape_ad.gradients import Gradients
from tape_ad.linear_maps import Array, LinearMap
from tape_ad.rules import RULES, load_scipy_rules
from tape_ad.rules.base import Constant, Derivation, Filled, Refused, Rule, refuse
from tape_ad.rules.updates import updated
from tape_ad.sweeps import reverse_sweep
from tape_ad.trees import map_leaves

__all__ = ["Tensor", "append", "record_call"]

Function = Callable[..., Any]
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


def record_call(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any] = NO_OPTIONS
) -> Any:
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
    NoRuleError
        When no table has the function.
    RecordMismatchError
        When two handles belong to records that are not nested in each other.
    ShapeError
        When NumPy refuses the shapes.
    """
    rule = RULES.get(function)
    if type(rule) is not Rule:
        return call_unrecorded(function, rule, args, kwargs)
    if kwargs or not rule.straight:
        return record_general(function, rule, args, kwargs)
    # Straight lines for one or two operands, where small arrays spend their time
    x, y = args[0], args[-1]
    x_kind, y_kind = type(x), type(y)
    record = x.record if x_kind is Tensor else y.record
    if record.watch is not None:
        return record_general(function, rule, args, kwargs)
    parents: tuple[int, ...]
    partials: tuple[LinearMap, ...]
    try:
        if y_kind in AS_THEY_ARE:
            data = x.data
            out = function(data, y)
            parents, partials = (x.index,), (rule.makers[0](out, data, y),)
        elif len(args) == 1:
            data = x.data
            out = function(data)
            parents, partials = (x.index,), (rule.makers[0](out, data),)
        elif x_kind in AS_THEY_ARE:
            data = y.data
            out = function(x, data)
            parents, partials = (y.index,), (rule.makers[1](out, x, data),)
        elif x_kind is y_kind and y.record is record:
            one, two = x.data, y.data
            out = function(one, two)
            first, second = rule.makers
            parents = (x.index, y.index)
            partials = (first(out, one, two), second(out, one, two))
        else:
            return record_general(function, rule, args, kwargs)
    except ValueError as error:
        raise_with_name(function, args, error)
    return append(record, out, function, parents, partials)


def record_general(
    function: Function, rule: Rule, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Do what `record_call` does for any number of operands, options, records and array-likes."""
    options: Mapping[str, Any] = NO_OPTIONS
    if rule.signature is not None:
        args, options = rule.signature(*args, **kwargs)
    call_options = options if rule.signature is not None else ufunc_options(function, kwargs)
    record = common_record(function, args)
    if any(type(option) is Tensor for option in options.values()):
        raise misplaced_handle(function)
    values = [
        operand.data
        if type(operand) is Tensor and operand.record is record
        else as_operand(operand)
        for operand in args
    ]
    try:
        out = (rule.compute or function)(*values, **call_options)
    except ValueError as error:
        raise_with_name(function, values, error)
    if record.watch is not None:
        use = f"node %{len(record.functions)} ({function_name(function)})"
        record.watch.see((*values, *options.values(), out), use)
    parents = {
        position: operand.index
        for position, operand in enumerate(args)
        if type(operand) is Tensor and operand.record is record
    }
    if not rule.multiple:
        return record_output(record, function, rule, parents, out, (out, *values), options)
    handles = [
        record_output(record, function, rule, parents, each, (i, out, *values), options)
        for i, each in enumerate(out)
    ]
    return out._make(handles) if hasattr(out, "_make") else type(out)(handles)


def record_output(
    record: Arena,
    function: Function,
    rule: Rule,
    parents: Mapping[int, int],
    out: Array,
    arguments: tuple[Any, ...],
    options: Mapping[str, Any],
) -> Any:
    """Append a node for one output, unless no parent has a partial or the output is no number."""
    if type(out) is tuple or out.dtype.kind in "biu":
        return out
    if out.dtype.kind not in "fc":
        raise DtypeError(
            f"np.{function_name(function)} of a handle and other data gives dtype {out.dtype}, "
            "which has no derivative; pass numbers, or t.data if no gradient is meant to flow"
        )
    edges = []
    for position, parent in parents.items():
        maker = rule.maker(position)
        partial = maker and maker(*arguments, **options)
        if partial is not None:
            edges.append((parent, partial))
    if not edges:
        return out
    indices, partials = zip(*edges, strict=True)
    handle = append(record, out, function, indices, partials)
    if rule.makers and shares_memory(out, arguments[-len(rule.makers)]):
        record.add_view(handle.index, indices[0])
    return handle


def shares_memory(out: Array, operand: Array) -> bool:
    """Tell whether NumPy made a view of an operand, which writing to either would show in."""
    out, operand = primal(out), primal(operand)
    return (
        isinstance(out, np.ndarray)
        and isinstance(operand, np.ndarray)
        and (out is operand or out.base is not None)
        and np.may_share_memory(out, operand)
    )


def append(
    record: Arena,
    data: Array,
    function: Any = None,
    parents: tuple[int, ...] = (),
    partials: tuple[LinearMap, ...] = (),
) -> "Tensor":
    """Append a node to a record and make the handle to it."""
    handle = Tensor(record, len(record.functions), data)
    record.functions.append(function)
    record.parents.append(parents)
    record.partials.append(partials)
    record.shapes.append(data.shape)
    record.dtypes.append(data.dtype)
    record.handles.append(weakref.ref(handle))
    return handle


@define(eq=False, repr=False, weakref_slot=True)
class Tensor(ArrayInterface):
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
        cotangents = reverse_sweep(record, self.index, start, release=release)
        stack = start.shape[: start.ndim - self.ndim]
        return Gradients(weakref.ref(record), self.index, stack, cotangents)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Record ``np.copy(self)`` with ``self[key] = value`` and let this handle stand for it.

        Nothing is written to: the old node stays as it is for whatever was computed from it, and
        the handle is pointed at a new node.

        Raises
        ------
        InPlaceError
            On a leaf, and where NumPy would have changed another array too, as views do.
        """
        record: Arena = self.record
        if record.functions[self.index] is None:
            raise InPlaceError(
                "a leaf stands for the array that it was made from, so it is not assigned to; "
                "write t = t.copy() first and assign to that"
            )
        shared = self.index if self.index in record.bases else record.live_view(self.index)
        if shared is not None:
            raise InPlaceError(
                f"node %{shared} ({function_name(record.functions[shared])}) is a view: in NumPy, "
                "assigning would change another array as well; write t = t.copy() first and "
                "assign to that"
            )
        result = record_call(updated, (self, value), {"key": key})
        record.handles[self.index] = weakref.ref(result)  # dies with it, at the end of this call
        self.record, self.index, self.data = result.record, result.index, result.data
        self.record.handles[self.index] = weakref.ref(self)

    def __repr__(self) -> str:
        value = self.data
        if type(value) is not Tensor:
            value = np.array2string(np.asarray(value), precision=6, threshold=8, edgeitems=2)
            value = " ".join(value.split())
        return f"Tensor(%{self.index}, {self.dtype}{list(self.shape)}, {value})"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__":
            return record_call(ufunc, inputs, kwargs)
        if method == "at":
            raise InPlaceError(
                f"np.{ufunc.__name__}.at writes to its first argument, and a handle is never "
                "written to; write np.where, or x[key] = value on a copy"
            )
        return record_call(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(
        self,
        function: Function,
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        return record_call(function, args, kwargs)


def call_unrecorded(
    function: Function, entry: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Run a function that adds no node of its own: a derivation, or a piecewise constant one."""
    if type(entry) is Derivation:
        if entry.signature is not None:
            args, kwargs = entry.signature(*args, **kwargs)
        return entry.compute(*args, **kwargs)
    if type(entry) is Constant:
        refuse(function_name(function), out=no_output(kwargs.get("out")))
        return function(*map_leaves(primal, args), **map_leaves(primal, kwargs))
    if type(entry) is Filled:
        refuse(function_name(function), out=no_output(kwargs.get("out")))
        record = common_record(function, args)
        filled = function(*map_leaves(primal, args), **map_leaves(primal, kwargs))
        return append(record, filled, CONSTANT) if filled.dtype.kind in "fc" else filled
    if type(entry) is Refused:
        raise UnsupportedArgumentError(f"np.{function_name(function)}: {entry.instead}")
    if load_scipy_rules() and function in RULES:
        return record_call(function, args, kwargs)
    raise NoRuleError(
        f"np.{function_name(function)} has no rule, so its gradient would be lost; write it with "
        "functions that have one, or apply it to t.data if no gradient is meant to flow"
    )


def common_record(function: Function, args: tuple[Any, ...]) -> Arena:
    """Find the innermost of the records that a call's handles belong to.

    Raises
    ------
    RecordMismatchError
        When two of the records are not nested in each other.
    UnsupportedArgumentError
        When no operand is a handle, so the one that brought us here stands elsewhere.
    """
    record: Arena | None = None
    for operand in args:
        if type(operand) is not Tensor or operand.record is record:
            continue
        if record is None or operand.record.is_within(record):
            record = operand.record
        elif not record.is_within(operand.record):
            raise RecordMismatchError(
                f"np.{function_name(function)} got handles of two records of which neither is "
                "within the other; use one record for the whole computation, write "
                "ComputationRecord(within=outer), or pass .data of one of them as a constant"
            )
    if record is None:
        raise misplaced_handle(function)
    return record


def misplaced_handle(function: Function) -> UnsupportedArgumentError:
    """Say that a handle stands where no derivative can be taken."""
    return UnsupportedArgumentError(
        f"np.{function_name(function)} got a handle in an argument that it cannot be "
        "differentiated in; pass t.data there if it is meant as a constant"
    )
