"""A cache of lowered calls: a call like one before has its loop nest, over other memory."""

from collections.abc import Sequence
from typing import Any

from attrs import define, field, frozen

from tape_ad.programs.engines.native.ir.loop_nests import Argument, LoopNest, Op
from tape_ad.programs.engines.native.ir.memory_map import MemoryMap, MemRef
from tape_ad.programs.program.program import Call, Value

__all__ = ["LoweringCache"]

NUMBERS = frozenset({int, float, complex, bool})


@frozen(eq=False)
class Pattern:
    """A loop nest without its memory references.

    Attributes
    ----------
    shape : tuple of int
        That of the call's result, without axes of one element.
    reads : tuple of int
        Which argument of the call is read each time.
    ops : list of Op
    write : int or Literal
        What is stored as the result.
    """

    shape: tuple[int, ...]
    reads: tuple[int, ...]
    ops: list[Op]
    write: Argument


@define(eq=False)
class LoweringCache:
    """The loop nests of calls so far, by all that decides about them but memory.

    Attributes
    ----------
    memory_map : MemoryMap
    """

    memory_map: MemoryMap
    _known: dict[Any, Pattern | None] = field(factory=dict)
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
        pattern = self._known.get(key)
        if pattern is None:
            return None
        shape = call.outputs[0].shape
        reads = [self.narrow(call.args[number], shape) for number in pattern.reads]
        out = self.narrow(call.outputs[0], shape)
        return LoopNest(pattern.shape, reads, pattern.ops, [(pattern.write, out)])

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
        out, shape = self.memory_map.of(call.outputs[0]), nest.shape
        if out is None or nest.writes[0][1] != out or shape != out.shape:
            return
        of = {
            self.narrow(arg, shape): number
            for number, arg in reversed(list(enumerate(call.args)))
            if type(arg) is Value
        }
        reads = [of.get(ref.squeezed()) for ref in nest.reads]
        known = tuple([number for number in reads if number is not None])
        if len(known) == len(reads):
            narrow = tuple([length for length in shape if length != 1])
            self._known[key] = Pattern(narrow, known, nest.ops, nest.writes[0][0])
