"""Lowering: a program becomes a list of loop nests, external calls and runtime checks."""

import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.naming import called
from tape_ad.programs.capture.op_facts import may_fail, type_of
from tape_ad.programs.engines.native.codegen.elementwise import operands_of
from tape_ad.programs.engines.native.codegen.loops import is_sum
from tape_ad.programs.engines.native.ir import (
    Argument,
    Listing,
    Literal,
    LoopCall,
    LoopNest,
    MemoryMap,
    MemRef,
    Reduction,
    RuntimeCheck,
)
from tape_ad.programs.engines.native.lowering import (
    calls,
    generalized,
    indexing,
    moving,
    products,
    reductions,
)
from tape_ad.programs.engines.native.lowering.calls import (
    Lowering,
    NotLowerable,
    Work,
    as_ufunc,
    copy,
    known_ref,
)
from tape_ad.programs.engines.plans import is_c
from tape_ad.programs.passes.inlining import NotInlined, body_of, traced_body
from tape_ad.programs.program import COMPUTED, Call, Constant, Guard, Program, Step, Value, root_of
from tape_ad.programs.program.loops import Loop
from tape_ad.record.sweeps import all_finite
from tape_ad.rules import facts_of
from tape_ad.rules.maps.indexing import added_at
from tape_ad.rules.numpy.bodies import own_lines
from tape_ad.rules.numpy.updates import updated

NUMBERS = frozenset({int, float, complex, bool})


@define(eq=False)
class LoweringCache:
    """The loop nests of calls so far, by all that decides about them but memory.

    Attributes
    ----------
    memory_map : MemoryMap
    """

    memory_map: MemoryMap
    _known: dict[Any, tuple[LoopNest, list[int]]] = field(factory=dict)
    _narrow: dict[tuple[Value, tuple[int, ...]], MemRef] = field(factory=dict)

    def key_of(self, call: Call) -> Any:
        """Say what is alike in calls that are done in the same way; None where that is not easy.

        Operands are told apart by where they lie: two views of one place are read as one.
        """
        if call.kwargs or call.several:
            return None
        args, out = call.args, call.outputs[0]
        key: list[Any] = [call.function, out.shape, out.strides, out.dtype, out.kind]
        if call.errors:
            key += call.errors.items()
        first: dict[MemRef, int] = {}
        for number, arg in enumerate(args):
            if type(arg) is Value:
                ref = self.memory_map.of(arg)
                if ref is None or len(ref.shape) > len(out.shape):
                    return None  # of an array with more axes it can only be a part that is read
                before = first.setdefault(self.narrow(arg, out.shape), number) - number
                key += (ref.shape, ref.strides, arg.dtype, arg.kind, before)
            elif type(arg) in NUMBERS:
                key += (type(arg), repr(arg))
            else:
                return None
        return tuple(key)

    def find(self, key: Any, call: Call) -> LoopNest | None:
        """Give the nest of a call like one before."""
        known = self._known.get(key)
        if known is None:
            return None
        nest, args = known
        shape = call.outputs[0].shape
        reads = [self.narrow(call.args[number], shape) for number in args]
        out = self.narrow(call.outputs[0], shape)
        return LoopNest(out.shape, reads, nest.ops, [(nest.writes[0][0], out)])

    def narrow(self, value: Value, shape: tuple[int, ...]) -> MemRef:
        """Give a value's memory reference for a nest of a shape, without axes of one element."""
        known = self._narrow.get((value, shape))
        if known is None:
            ref = self.memory_map.of(value)
            assert ref is not None  # noqa: S101 - for mypy: its key has told
            known = self._narrow[value, shape] = ref.broadcast(shape).squeezed()
        return known

    def remember(self, key: Any, call: Call, work: Sequence[Any]) -> None:
        """Keep how a call has been done, if it is one nest over its operands."""
        nest = work[0] if key is not None and len(work) == 1 else None
        if type(nest) is not LoopNest or nest.callee or nest.reductions or len(nest.writes) != 1:
            return
        if nest.gathered:  # by indices that have been seen to be within bounds
            return
        out, shape = self.memory_map.of(call.outputs[0]), nest.shape
        if out is None or nest.writes[0][1] != out or shape != out.shape:
            return
        of = {
            self.narrow(arg, shape): number
            for number, arg in reversed(list(enumerate(call.args)))
            if type(arg) is Value
        }
        args = [of[ref] for each in nest.reads if (ref := each.squeezed()) in of]
        if len(args) == len(nest.reads):
            self._known[key] = nest, args


LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    **moving.LOWERINGS,
    **indexing.LOWERINGS,
    **calls.LOWERINGS,
    **reductions.LOWERINGS,
    **products.LOWERINGS,
    **generalized.LOWERINGS,
}
"""How functions are lowered that are no elementwise ufuncs; each module has a table of its own."""


def sums_are_finite(arrays: Sequence[Any]) -> Any:
    """Tell whether arrays are finite by their sums of squares; see `all_finite`."""
    answers = [np.isfinite(np.add.reduce(each * each, axis=None)) for each in arrays]
    return functools.reduce(np.logical_and, answers)


OF_REAL = {"rfftn": own_lines(np.fft.rfftn), "irfftn": own_lines(np.fft.irfftn)}
BODIES: Mapping[Any, Callable[..., Any]] = {
    all_finite: sums_are_finite,
    **{each: own_lines(each) for each in (np.diff, np.tril, np.triu, np.ptp)},
    **{each: own_lines(each) for each in (np.fft.fftn, np.fft.ifftn, np.fft.fft2, np.fft.ifft2)},
    **{each: own_lines(each, **OF_REAL) for each in (np.fft.rfft2, np.fft.irfft2)},
    **{getattr(np.fft, name): lines for name, lines in OF_REAL.items()},
}
"""What is lowered by lines of NumPy that no rule says."""

LOUD = frozenset({"raise", "call", "print", "log"})
"""What `numpy.errstate` may ask for that native code does not do."""


def lowered(call: Call, memory_map: MemoryMap) -> Sequence[Work]:
    """Lower a call to loop nests, external calls and runtime checks.

    Parameters
    ----------
    call : Call
        No view.
    memory_map : MemoryMap

    Returns
    -------
    list of LoopNest, ExternalCall and RuntimeCheck
        To be done in this order.

    Raises
    ------
    NotLowerable
        NumPy has to do it.
    """
    if call.errors and not LOUD.isdisjoint(call.errors.values()):
        raise NotLowerable("numpy.errstate asks to be told")
    function, lowering = call.function, Lowering(call, memory_map)
    own = LOWERINGS.get(function) if type(function).__hash__ is not None else None
    if own is not None:
        own(lowering)
    elif type(function) is np.ufunc and function.signature is None:
        as_ufunc(lowering)
    elif operands_of(function) is not None:
        try:
            calls.composed(lowering)
        except NotLowerable:  # for a single element, as others are no functions of vectors
            lowering = Lowering(call, memory_map)
            by_body(lowering)
    elif routine := facts_of(function).routine:
        generalized.ROUTINES[routine](lowering)
    else:
        by_body(lowering)
    return lowering.work


def by_body(lowering: Lowering) -> None:
    """Lower a function by the lines of NumPy that are said to be its body."""
    body = BODIES.get(lowering.call.function) or body_of(lowering.call.function)
    if body is None:
        raise NotLowerable("no native code for it")
    lower_body(lowering, body)


def lower_body(lowering: Lowering, body: Callable[..., Any]) -> None:
    """Lower a function by the calls of its body, the last of which give the results themselves."""
    call, memory_map = lowering.call, lowering.memory_map
    try:
        calls, results = traced_body(body, call.args, call.kwargs)
    except NotInlined as reason:
        raise NotLowerable(str(reason)) from reason
    outs = lowering.outs
    if len(results) != len(outs):
        raise NotLowerable("a body with other results")
    made = {out for each in calls for out in each.outputs if out.owner is None}
    copies: list[tuple[Value, MemRef]] = []
    for found, out, target in zip(results, call.outputs, outs, strict=True):
        if found.dtype != target.dtype or math.prod(found.shape) != math.prod(out.shape):
            raise NotLowerable("operands of such shapes and dtypes")
        root = found if found.owner is None else found.owner
        is_whole = is_c(found) and is_c(out) and math.prod(root.shape) == math.prod(out.shape)
        if root in made and is_whole:
            made.discard(root)  # which is the memory of one result only
            memory_map.put(root, target.along(root.shape, root.strides))
        else:
            copies.append((found, target))
    for each in calls:
        fixed = (lowering.constant(x).root if type(x) is np.ndarray else x for x in each.args)
        step = Call(each.function, tuple(fixed), each.kwargs, each.outputs)
        if not memory_map.look(step):
            lowering.work += lowered(step, memory_map)
    for found, target in copies:
        copy(lowering, lowering.ref(found), target)


STATIC = frozenset({np.shape, type_of})
"""Questions that are not about values."""


@frozen(eq=False)
class LoweredStep:
    """A step of a program with what it has become.

    Attributes
    ----------
    step : Call or Guard
    work : sequence of LoopNest, ExternalCall and RuntimeCheck
    reason : str or None
        Why it could not be lowered, so that NumPy does it; None where it could.
    is_view : bool
        Whether it computes nothing: references have been resolved to the memory that it shows.
    """

    step: Step
    work: Sequence[Work] = ()
    reason: str | None = None
    is_view: bool = False


@frozen(eq=False)
class Lowered:
    """A program after lowering.

    Attributes
    ----------
    program : Program
    steps : list of LoweredStep
        In the program's order.
    memory_map : MemoryMap
    constants : sequence of Constant
        What native code needs beside the program's own.
    renamed : mapping of Value to Value
        For an array whose memory is used again, the one that is there in the end.
    """

    program: Program
    steps: list[LoweredStep]
    memory_map: MemoryMap
    renamed: Mapping[Value, Value] = field(factory=dict)

    @property
    def constants(self) -> Sequence[Constant]:
        """What native code needs beside the program's own constants."""
        return self.memory_map.constants

    def memory(self, value: Value) -> Value:
        """Give the value that stands for the memory in which a value lies."""
        ref = self.memory_map.of(value)
        root = value if ref is None else ref.root
        return self.renamed.get(root, root)

    def __str__(self) -> str:
        """List the steps, each with what it has become."""
        listing = Listing.of(self.program)
        for each in self.steps:
            listing.step(each.step, each.reason, is_view=each.is_view)
            for work in each.work:
                listing.work(work, indent="  ")
        return listing.text


def lower(
    program: Program,
    bodies: Mapping[Loop, Any] = MappingProxyType({}),
    placed: Mapping[Value, MemRef] = MappingProxyType({}),
    guards: int = 0,
) -> Lowered:
    """Lower a program, step by step; what cannot be lowered is left to NumPy.

    Parameters
    ----------
    program : Program
        Simplified.
    bodies : mapping of Loop to LoopBody
        What becomes of its loops.
    placed : mapping of Value to MemRef
        Where some values lie.
    guards : int
        How many guards come before.

    Returns
    -------
    Lowered
    """
    matrices = (
        root_of(call.args[0])
        for call in program.calls
        if type(call.function).__hash__ is not None and call.function in generalized.FACTORED
        if call.args and type(call.args[0]) is Value
    )
    memory_map = MemoryMap(Counter(matrices))
    if not placed:  # in a loop what is carried changes
        memory_map.changing = {root_of(call.args[0]) for call in program.calls if changes(call)}
    for value, ref in placed.items():
        memory_map.put(value, ref)
    cache = LoweringCache(memory_map)
    native = {each.value for each in program.constants if each.line == COMPUTED}
    steps: list[LoweredStep] = []
    for step in program.steps:
        if type(step) is Guard:
            guards += 1
            steps += lowered_guard(step, guards, memory_map, native)
            continue
        assert type(step) is Call  # noqa: S101 - for mypy: there are no others
        if type(step.function) is Loop:
            steps.append(lowered_loop(step, bodies[step.function], memory_map, guards))
            guards += len(step.function.body.guards) * step.function.count
            native.update(step.outputs)
            continue
        if memory_map.look(step):
            reason = "an index that may be out of bounds" if may_fail(step) else None
            steps.append(LoweredStep(step, reason=reason, is_view=reason is None))
            continue
        steps.append(lowered_call(step, memory_map, cache))
        if steps[-1].reason is None:
            native.update(step.outputs)
    return Lowered(program, steps, memory_map)


def lowered_call(call: Call, memory_map: MemoryMap, cache: LoweringCache) -> LoweredStep:
    """Lower a call as one like it has been, or else from its beginning; or say why it cannot be."""
    key = cache.key_of(call)
    nest = cache.find(key, call)
    if nest is not None:
        memory_map.note_product(nest)
        return LoweredStep(call, [nest])
    counts = list(map(len, memory_map.notes))
    try:
        work = lowered(call, memory_map)
    except NotLowerable as reason:
        for notes, count in zip(memory_map.notes, counts, strict=True):
            while len(notes) > count:  # those of work that has been given up
                notes.popitem()
        return LoweredStep(call, reason=str(reason))
    cache.remember(key, call, work)
    if len(work) == 1 and type(work[0]) is LoopNest:
        memory_map.note_product(work[0])
    return LoweredStep(call, [canonical(each) for each in work if not is_empty(each)])


IN_PLACE: frozenset[Any] = frozenset({updated, added_at})


def changes(call: Call) -> bool:
    """Tell whether a call gives an array with a part changed."""
    return type(call.function).__hash__ is not None and call.function in IN_PLACE


def lowered_loop(call: Call, body: Any, memory_map: MemoryMap, guards: int) -> LoweredStep:
    """Lower a loop: what it carries is put where it is in the end, and its body does the rest.

    Raises
    ------
    NotLowerable
        Nobody knows where an operand lies.
    """
    loop: Any = call.function
    places: dict[Value, MemRef] = {}
    work: list[Work] = []
    for number, (mine, given) in enumerate(zip(loop.body.inputs, call.args, strict=True)):
        places[mine] = ref = known_ref(given, memory_map)
        if number < loop.carried:
            places[mine] = MemRef.whole(call.outputs[number])
            work.append(copy_of(ref, places[mine]))
    for stacking, out in zip(loop.stackings, call.outputs[loop.carried :], strict=True):
        places[stacking.value] = MemRef.whole(out)
    for constant in body.constants:
        places[constant.value] = MemRef.whole(constant.value)
        memory_map.constants.append(constant)
    written = frozenset(
        [*loop.body.inputs[: loop.carried], *(each.value for each in loop.stackings)]
    )
    return LoweredStep(call, [*work, LoopCall(body, places, written, guards)])


def copy_of(source: MemRef, target: MemRef) -> LoopNest:
    """Give the nest that copies elements to where others may look for them."""
    nest = LoopNest(target.shape)
    nest.write(nest.read(source), target)
    found: Any = canonical(nest)
    return found  # type: ignore[no-any-return]  # a nest stays one


def lowered_guard(
    guard: Guard, number: int, memory_map: MemoryMap, native: set[Value]
) -> Sequence[LoweredStep]:
    """Lower a guard: to a check of a byte, or to nothing where native code decides no other way.

    Parameters
    ----------
    guard : Guard
    number : int
        Counted from 1.
    memory_map : MemoryMap
    native : set of Value
        What native code computes, and constants of the program's own: it does not make shapes and
        dtypes depend on values.
    """
    if guard.question in STATIC and guard.value in native:
        return ()
    ref = memory_map.of(guard.value)
    if guard.question is bool and ref is not None and ref.dtype.kind == "b":
        return [LoweredStep(guard, [RuntimeCheck(ref, int(guard.answer), number)])]
    return [LoweredStep(guard, reason=f"{called(guard.question)} asks Python")]


def is_empty(work: Work) -> bool:
    """Tell whether a nest has no elements to go over."""
    return type(work) is LoopNest and 0 in work.shape


def canonical(work: Work) -> Work:
    """Leave out axes of one element, and store what is reduced over one element alone."""
    if type(work) is not LoopNest:
        return work
    if 1 not in work.shape:
        return without_trivial_reductions(work)
    reads = [ref.squeezed() for ref in work.reads]
    writes = [(arg, ref.squeezed()) for arg, ref in work.writes]
    reductions = [Reduction(each.ufunc, each.arg, each.ref.squeezed()) for each in work.reductions]
    shape = tuple([length for length in work.shape if length != 1])
    return without_trivial_reductions(
        LoopNest(shape, reads, work.ops, writes, reductions, work.callee, work.apart, work.ordered)
    )


def without_trivial_reductions(nest: LoopNest) -> LoopNest:
    """Store the results of reductions over one element each."""
    if not nest.reductions:
        return nest
    for each in nest.reductions:
        if 0 not in each.ref.strides:
            nest.writes.append((trivial_reduction(nest, each), each.ref))
    nest.reductions = [each for each in nest.reductions if 0 in each.ref.strides]
    return nest


def trivial_reduction(nest: LoopNest, each: Reduction) -> Argument:
    """Give the reduction of one element: that element, but -0.0 has become 0.0 in a sum."""
    dtype = each.ref.dtype
    if not is_sum(each.ufunc, dtype):
        return each.arg
    return nest.op(np.add, (dtype,) * 3, each.arg, Literal.of(0.0, dtype))
