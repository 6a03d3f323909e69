"""Running a function on handles of a fresh record, which is what every transform begins with."""

import functools
import operator
import types
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from attrs import define, field, fields

from tape_ad.base.arrays.interpreter import plain
from tape_ad.base.arrays.overridable import ACTIVE, Active, lift, lift_number
from tape_ad.base.errors import DtypeError, OutputError, RecordMismatchError
from tape_ad.base.naming import called, global_name
from tape_ad.base.trees import flatten, map_leaves, unflatten
from tape_ad.record.arena import Arena, innermost
from tape_ad.record.gradients import Gradients
from tape_ad.record.primals import PLAIN_TYPES, is_number_like
from tape_ad.record.record import ComputationRecord
from tape_ad.record.spaces import dtype_of, fitted, inexact, matched, shape_of
from tape_ad.record.sweeps import forward_sweep, reverse_sweep
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import Array


@define(eq=False, repr=False)
class Transformed:
    """A function made of another one, whose name and attributes it has.

    Unlike a closure, it is pickled and sent to other processes as what it is made of.

    Attributes
    ----------
    function : callable
        What it is made of.
    """

    made_by: ClassVar[str] = "transform"
    function: Callable[..., Any]
    __dict__: dict[str, Any] = field(init=False)  # for what a user's wrapper may copy: names alone

    def __attrs_post_init__(self) -> None:
        me: Any = self
        functools.update_wrapper(me, self.function, updated=())
        if isinstance(self.function, types.FunctionType):
            for name, attribute in vars(self.function).items():
                self.__dict__.setdefault(name, attribute)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind to an instance, as functions of a class do."""
        return self if instance is None else types.MethodType(self, instance)  # type: ignore[arg-type]  # the subclasses can be called

    def __reduce__(self) -> Any:
        return global_name(self) or (
            type(self),
            tuple([getattr(self, each.name) for each in fields(type(self)) if each.init]),
        )

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __repr__(self) -> str:
        return f"<{self.made_by} of {called(self.function)}>"


Function = Callable[..., Any]

HANDLES = frozenset({Tensor})


@define(eq=False, repr=False)
class Trace:
    """A function's run on handles: the record, and both its ends.

    Attributes
    ----------
    record : ComputationRecord
    inputs : tuple
        The arguments to differentiate with respect to, with a leaf of the record for each array.
    output : any
        What the function returned: a tree of handles of the record, and of constants.
    aux : any
        What it returned beside that, without derivatives.
    function : callable
        Which function that was.
    """

    record: ComputationRecord
    inputs: tuple[Any, ...]
    output: Any
    aux: Any
    function: Function

    @property
    def name(self) -> str:
        """The function's name, for errors."""
        return called(self.function)

    def depends(self, leaf: Any) -> bool:
        """Tell whether a leaf of the output is a handle of this record."""
        return type(leaf) is Tensor and leaf.record is self.record

    def check_output(self, leaf: Any, path: str) -> Any:
        """Refuse a leaf of the output that has nothing to do with the record, or is not numbers.

        Inside a structure, what is not an array is a constant, as in an argument.

        Raises
        ------
        OutputError, RecordMismatchError
        """
        if type(leaf) is Tensor:
            record = self.record
            if leaf.record is not record and innermost(record, leaf.record) is not record:
                where = path and f" (at {path})"
                raise RecordMismatchError(
                    f"{self.name} returned the handle %{leaf.index}{where} of a record that is "
                    "nested within the one it was traced in, or has nothing to do with it; return "
                    "what that record's gradient or .data gives, not a handle of it"
                )
        elif leaf is None and not path:
            raise OutputError(f"{self.name} returned None; does it lack a return statement?")
        elif not path and not isinstance(leaf, bool) and not is_number_like(leaf):
            raise OutputError(
                f"{self.name} returned a {type(leaf).__name__}; a function that is differentiated "
                "returns an array or a number, or nested dicts, lists, tuples and attrs classes of "
                "them"
            )
        elif is_number_like(leaf) and dtype_of(leaf).kind not in "biufc":
            where = path and f" (at {path})"
            raise OutputError(
                f"{self.name} returned an array of dtype {leaf.dtype}{where}, which has no "
                "derivative; write np.stack([...]) to join handles"
            )
        return leaf

    def value(self, tree: Any) -> Any:
        """Take the handles of this record to what they hold: arrays, or handles further out."""
        if type(tree) is Tensor:  # as what is differentiated mostly returns
            return tree.data if tree.record is self.record else tree
        return map_leaves(lambda leaf, path: leaf.data if self.depends(leaf) else plain(leaf), tree)

    def pull(
        self, cotangents: Any, *, release: bool = False, chosen: bool = False
    ) -> tuple[Any, ...]:
        """Sweep cotangents, in the structure of the output, back to the inputs."""
        pairs = []
        stack: tuple[int, ...] | None = None
        for path, leaf, ct in matched(self.output, cotangents, "cotangents", lambda: self.name):
            if ct is not None and is_number_like(leaf):
                seed, stack = fitted(plain(ct), leaf, stack, f"the cotangent of the output{path}")
                pairs.append((leaf, seed))
        kept = self.swept(pairs, release=release, chosen=chosen)
        return self.gradients(kept, stack or ())

    def gradient(self) -> tuple[Any, ...]:
        """Sweep back from an output that is one real number, once and for all."""
        output, kept = self.output, {}
        if self.depends(output):
            one = lift_number(output.dtype.type(1))
            kept = reverse_sweep(self.record, output.index, one, release=True)
        return self.gradients(kept, ())

    def gradients(self, kept: dict[int, Array], stack: tuple[int, ...]) -> tuple[Any, ...]:
        """Give the cotangents of the inputs, out of what a sweep has kept."""
        gradients = Gradients(weakref.ref(self.record), len(self.record), 0, stack, kept)
        if HANDLES.issuperset(map(type, self.inputs)):  # no structure to rebuild
            return tuple(map(gradients.wrt, self.inputs))
        found: tuple[Any, ...] = gradients.wrt(self.inputs)
        return found

    def swept(
        self,
        pairs: Iterable[tuple[Any, Array]],
        *,
        release: bool,
        chosen: bool = False,
        arena: Arena | None = None,
    ) -> dict[int, Array]:
        """Sweep back from leaves of the output, each with a cotangent that fits or None.

        It is the record that is swept, or an arena that has the same nodes.

        Returns
        -------
        dict of int to array
            The cotangents of the nodes that a handle is alive for, the inputs among them; an
            absent one is zero.
        """
        seeds: dict[int, Array] = {}
        for leaf, ct in pairs:
            if ct is not None and self.depends(leaf):
                index, seed = leaf.index, lift(ct)
                seeds[index] = seeds[index] + seed if index in seeds else seed
        if not seeds:
            return {}
        root = max(seeds)
        seed = seeds.pop(root)
        arena = self.record if arena is None else arena
        return reverse_sweep(arena, root, seed, release=release, more=seeds, chosen=chosen)

    def push(self, tangents: tuple[Any, ...]) -> Any:
        """Sweep tangents, in the structure of the inputs, forward to the output."""
        starts: dict[int, Array] = {}
        stack: tuple[int, ...] | None = None
        for path, leaf, t in matched(self.inputs, tangents, "tangents", lambda: self.name):
            if t is not None and type(leaf) is Tensor:
                start, stack = fitted(plain(t), leaf, stack, f"the tangent of the argument {path}")
                starts[leaf.index] = start
        reached = self.pushed(starts)
        return map_leaves(lambda leaf, path: self.tangent(leaf, reached, stack or ()), self.output)

    def pushed(self, starts: dict[int, Array]) -> dict[int, Array]:
        """Sweep tangents of inputs forward, and give those of the output's nodes."""
        ends = {leaf.index for leaf in flatten(self.output) if self.depends(leaf)}
        starts = {index: lift(t) for index, t in starts.items()}
        with np.errstate(all="ignore"):
            return forward_sweep(self.record, starts, max(ends, default=-1), keep=ends)

    def tangent(self, leaf: Any, reached: Mapping[int, Array], stack: tuple[int, ...]) -> Any:
        """Give the tangent of a leaf of the output after a forward sweep."""
        if not is_number_like(leaf):
            return leaf
        t = reached.get(leaf.index) if self.depends(leaf) else None
        return np.zeros(stack + shape_of(leaf), inexact(leaf)) if t is None else t


def trace(
    function: Function,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    positions: Sequence[int],
    has_aux: bool = False,
) -> Trace:
    """Run a function with leaves of a fresh record in place of some arguments.

    Parameters
    ----------
    function : callable
    args, kwargs
        What to call it with.
    positions : sequence of int
        Which arguments are differentiated, from 0; they may be trees.
    has_aux : bool
        Whether the function returns a pair, of its output and of anything else.

    Returns
    -------
    Trace

    Raises
    ------
    OutputError
        When the function returns something that is not numbers.
    RecordMismatchError
        When it returns a handle of a record that is nested further in, or has nothing to do with
        the arguments.
    """
    varied = tuple([args[position] for position in positions])
    filled, first = list(args), varied[0] if len(varied) == 1 else None
    if type(first) is np.ndarray and first.dtype.kind == "f":  # as most are
        record = fresh_record(varied)
        filled[positions[0]] = leaf = record.tensor(first)
        inputs: tuple[Any, ...] = (leaf,)
    else:
        record = fresh_record(flatten(varied))
        inputs = tuple(map(record.bind, varied))
        for position, handles in zip(positions, inputs, strict=True):
            filled[position] = handles  # in structures of their own, which the function may change
            if type(handles) is not Tensor:
                filled[position] = unflatten(handles, flatten(handles))
    output = run_in(record, function, filled, kwargs)
    aux = None
    if has_aux:
        if not isinstance(output, tuple) or len(output) != 2:
            raise OutputError(
                f"with has_aux=True, {called(function)} must return a pair: (output, the rest)"
            )
        output, aux = output
    traced = Trace(record, inputs, output, aux, function)
    if not traced.depends(output):
        map_leaves(traced.check_output, output)
    return traced


def trace_arrays(function: Function, values: Sequence[Array]) -> Trace:
    """Record a function of arrays, whatever it returns."""
    record = fresh_record(values)
    inputs = tuple(map(record.tensor, values))
    return Trace(record, inputs, run_in(record, function, inputs, {}), None, function)


def run_in(
    record: ComputationRecord, function: Function, args: Iterable[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Call a function, and let transforms in it nest their records in this one."""
    before = ACTIVE.get()
    try:  # twice, for an interrupt may come before the first instruction of one
        try:  # a token would be lost if one came before it had a name
            ACTIVE.set(Active(before.capture, record, before.wishes, before.batches))
            return function(*args, **kwargs)
        finally:
            ACTIVE.set(before)
            record.ended = True
    finally:
        ACTIVE.set(before)
        record.ended = True


def fresh_record(leaves: Sequence[Any]) -> ComputationRecord:
    """Make a record that is within the innermost in sight.

    That is the one being traced in, or that of a handle among the leaves. A record that a function
    closes over is not in sight; the fresh record is the newer one, which is all that matters when
    the function comes to use its handle.

    Raises
    ------
    RecordMismatchError
        When a handle cannot be met from here.
    """
    record: Any = ACTIVE.get().record
    while record is not None and record.ended:  # an asyncio task may outlive what started it
        record = record.within
    for leaf in leaves:
        if type(leaf) is not Tensor or leaf.record is record:
            continue
        if leaf.record.ended:
            raise RecordMismatchError(
                f"an argument is the handle %{leaf.index} of a transform that has ended; let its "
                "function return a value, and do not keep its handles"
            )
        inner = leaf.record if record is None else innermost(record, leaf.record)
        if inner is None:
            raise RecordMismatchError(
                f"an argument is the handle %{leaf.index} of a record that has nothing to do with "
                "the one that is being traced in; make that with ComputationRecord(within=...), "
                "or pass .data of the handle as a constant"
            )
        record = inner
    fresh = ComputationRecord(within=record)
    fresh.by_transform = True
    return fresh


def as_argnums(argnums: SupportsIndex | Iterable[SupportsIndex]) -> int | tuple[int, ...]:
    """Read the number of an argument, or the numbers of several.

    Raises
    ------
    TypeError
    """
    try:
        return operator.index(argnums)  # type: ignore[arg-type]  # if not, they are several
    except TypeError:
        pass
    try:
        return tuple(map(operator.index, argnums))  # type: ignore[arg-type]  # the same
    except TypeError:
        raise TypeError(f"argnums is an int or a tuple of them, not {argnums!r}") from None


def chosen(argnums: int | tuple[int, ...], args: tuple[Any, ...]) -> tuple[int, ...]:
    """Find the arguments to differentiate with respect to, counting negative numbers from the end.

    Raises
    ------
    TypeError
        When there is no such argument.
    DtypeError
        When it is not about numbers.
    """
    count = len(args)
    if type(argnums) is int and 0 <= argnums < count and type(args[argnums]) in PLAIN_TYPES:
        return (argnums,)
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    for number in numbers:
        if not -count <= number < count:
            raise TypeError(
                f"argnums={argnums} asks for the positional argument {number}, but there are "
                f"{count}; an argument given by name is a constant"
            )
    positions = tuple(number % count for number in numbers)
    if len(set(positions)) < len(positions):
        raise TypeError(f"argnums={argnums} names an argument twice")
    for position in positions:
        arg = args[position]
        if arg is None or is_number_like(arg):
            continue
        if any(leaf is arg for leaf in flatten(arg)):
            raise DtypeError(
                f"the argument {position} is a {type(arg).__name__}, which has no derivative; "
                "pass numbers, or nested dicts, lists, tuples and attrs classes of them, or choose "
                "other arguments by argnums="
            )
    return positions


def check_callable(transform: str, function: Any) -> None:
    """Refuse what is no function, before somebody waits for a call."""
    if not callable(function):
        raise TypeError(
            f"{transform} takes a function and gives a function, but it got a "
            f"{type(function).__name__}; write {transform}(f)(x)"
        )
