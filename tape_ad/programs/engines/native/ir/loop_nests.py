"""The loop IR: loop nests, external calls and runtime checks over memory references."""

import functools
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.program.program import Value

__all__ = [
    "Callee",
    "ExternalCall",
    "IterationSpace",
    "LLVMFunction",
    "Literal",
    "LoopNest",
    "Op",
    "Reduction",
    "RuntimeCheck",
    "cast",
    "iteration_space",
]

SHORT = 8
"""Below which length the inner loop is along another axis, if there is a longer one."""


@frozen
class IterationSpace:
    """An iteration space: outer loops, the inner loop, and the operands' strides along them.

    Attributes
    ----------
    dims : tuple of int
        The lengths of the outer loops.
    length : int
        Of the inner loop.
    outer : list of tuple of int
        For each operand its strides along the outer loops.
    steps : list of int
        For each operand its stride along the inner loop.
    """

    dims: tuple[int, ...]
    length: int
    outer: list[tuple[int, ...]]
    steps: list[int]


def iteration_space(
    shape: Sequence[int], strides: Sequence[Sequence[int]], ordered: bool = False
) -> IterationSpace:
    """Interchange the loops of a space by their strides, and collapse those that are contiguous.

    Parameters
    ----------
    shape : sequence of int
    strides : sequence of sequence of int
        For each operand.
    ordered : bool
        Whether the axes have to stay as they are.
    """
    if not shape:
        return IterationSpace((), 1, [()] * len(strides), [0] * len(strides))
    axes = list(zip(shape, *strides, strict=True))
    if not ordered:
        axes.sort(key=lambda axis: -sum(map(abs, axis[1:])))
    merged = [axes[0]]
    for axis in axes[1:]:
        before = merged[-1]
        if all(b == a * axis[0] for b, a in zip(before[1:], axis[1:], strict=True)):
            merged[-1] = (before[0] * axis[0], *axis[1:])
        else:
            merged.append(axis)
    if merged[-1][0] < SHORT and len(merged) > 1 and not ordered:
        longest = max(range(len(merged)), key=lambda k: (merged[k][0], k))
        if merged[longest][0] >= 4 * merged[-1][0]:
            merged.append(merged.pop(longest))
    *outer, inner = merged
    dims = tuple(axis[0] for axis in outer)
    count = len(strides)
    return IterationSpace(
        dims,
        inner[0],
        [tuple(axis[1 + k] for axis in outer) for k in range(count)],
        list(inner[1:]),
    )


Function = Callable[..., Any]


def cast(x: Any) -> Any:
    """Stand in an operation for the conversion of elements to another dtype."""
    return x


@frozen(cache_hash=True)
class Literal:
    """A constant of a dtype.

    Attributes
    ----------
    bits : bytes
    dtype : numpy.dtype
    """

    bits: bytes
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, number: Any, dtype: np.dtype[Any]) -> "Literal":
        """Take a number as NumPy would beside elements of a dtype."""
        if type(number) in (int, float) and dtype.char == "d":  # as most are
            return cls(struct.pack("=d", number), dtype)
        with np.errstate(all="ignore"):
            return cls(np.array(number).astype(dtype).tobytes(), dtype)

    @property
    def number(self) -> Any:
        """The number, of NumPy's type."""
        return np.frombuffer(self.bits, self.dtype)[0]


Argument = int | Literal
"""The number of an operation; below 0, of what is read, counted from -1 downwards; or a literal."""


@frozen(eq=False)
class Kind:
    """An elementwise function with its loop's dtypes; there is one of each.

    Attributes
    ----------
    function : callable
    dtypes : tuple of numpy.dtype
        Of the operands, and of the result.
    """

    function: Function
    dtypes: tuple[np.dtype[Any], ...]
    is_external: bool = field(init=False)

    @is_external.default
    def _(self) -> bool:
        return isinstance(self.function, Callee)


kind_of = functools.lru_cache(maxsize=None)(Kind)


class Op(NamedTuple):
    """An elementwise operation: a function, and operands of the dtypes that it computes in.

    Attributes
    ----------
    kind : Kind
    args : tuple
    """

    kind: Kind
    args: tuple[Argument, ...]

    @property
    def function(self) -> Function:
        """The function."""
        return self.kind.function

    @property
    def dtypes(self) -> tuple[np.dtype[Any], ...]:
        """The dtypes of the operands, and of the result."""
        return self.kind.dtypes


def is_external(op: Op) -> bool:
    """Tell whether an operation is an inner loop of NumPy's, or of another library's ufunc."""
    return op.kind.is_external


@frozen
class Reduction:
    """A reduction at the end of a nest.

    Attributes
    ----------
    ufunc : numpy.ufunc
        What does it.
    arg : int or Literal
    ref : MemRef
        Of the results, of the nest's shape, with strides of 0 along the axes that go.
    """

    ufunc: np.ufunc
    arg: Argument
    ref: MemRef


@frozen
class LLVMFunction:
    """An inner loop as LLVM text; equal ones are compiled once.

    Attributes
    ----------
    text : str
        A function of NumPy's convention, ``define void @loop(ptr %args, ptr %dims, ptr %steps, ptr
        %data)``, and whatever it needs beside it, whose names begin with ``@loop`` as well.
    declarations : tuple of (str, str)
        What it calls, each with the line that declares it.
    level : int
        How much the code generator tries.
    """

    text: str
    declarations: tuple[tuple[str, str], ...] = ()
    level: int = 1


class Callee(NamedTuple):
    """A compiled inner loop in NumPy's convention, or the text of one.

    Attributes
    ----------
    function : int or LLVMFunction
        Its address, or what it does.
    data : int
        What it is given as its last argument; 0 for NULL.
    name : str
        For listings.
    """

    function: int | LLVMFunction
    data: int
    name: str


@define(eq=False)
class LoopNest:
    """Perfectly nested loops over one iteration space: loads, operations, stores, reductions.

    Attributes
    ----------
    shape : tuple of int
    reads : list of MemRef
        Of this shape.
    ops : list of Op
    writes : list of (argument, MemRef)
    reductions : list of Reduction
    callee : Callee or None
        The one inner loop that does it, if it is not made of operations: its
        operands are what is read and written.
    apart : bool
        Whether nothing else in its call touches what is written here, which is new.
    ordered : bool
        Whether the elements have to be gone over in C order, and by one thread.
    """

    shape: tuple[int, ...]
    reads: list[MemRef] = field(factory=list)
    ops: list[Op] = field(factory=list)
    writes: list[tuple[Argument, MemRef]] = field(factory=list)
    reductions: list[Reduction] = field(factory=list)
    callee: Callee | None = None
    apart: bool = False
    ordered: bool = False
    _read: dict[MemRef, int] = field(factory=dict, init=False)
    _done: dict[Op, int] = field(factory=dict, init=False)

    def read(self, ref: MemRef) -> int:
        """Read elements, if that has not been asked before."""
        known = self._read.get(ref)
        if known is None:
            self.reads.append(ref)
            known = self._read[ref] = -len(self.reads)
        return known

    def op(self, function: Function, dtypes: Sequence[np.dtype[Any]], *args: Argument) -> Argument:
        """Do something elementwise, if that has not been asked before."""
        return self.again(Op(kind_of(function, tuple(dtypes)), args))

    def again(self, op: Op) -> int:
        """Do an operation on what is here."""
        known = self._done.get(op)
        if known is None:
            known = self._done[op] = len(self.ops)
            self.ops.append(op)
        return known

    def cast(self, arg: Argument, dtype: np.dtype[Any]) -> Argument:
        """Convert elements."""
        before = self.dtype_of(arg)
        if before == dtype:
            return arg
        return self.op(cast, (before, dtype), arg)

    def dtype_of(self, arg: Argument) -> np.dtype[Any]:
        """Say of what dtype an argument is."""
        if isinstance(arg, Literal):
            return arg.dtype
        return self.ops[arg].dtypes[-1] if arg >= 0 else self.reads[~arg].dtype

    def write(self, arg: Argument, ref: MemRef) -> None:
        """Store elements, as the dtype that they have there."""
        self.writes.append((self.cast(arg, ref.dtype), ref))

    @property
    def operands(self) -> int:
        """How many memory references there are."""
        return len(self.reads) + len(self.writes) + len(self.reductions)

    @property
    def refs(self) -> list[MemRef]:
        """All memory references: those loaded, stored and reduced to."""
        return [
            *self.reads,
            *(ref for _, ref in self.writes),
            *(reduction.ref for reduction in self.reductions),
        ]

    @property
    def read_roots(self) -> set[Value]:
        """The values whose memory is read; what is gone over in order may be changed there."""
        read = {ref.root for ref in self.reads}
        return read | self.written_roots if self.ordered else read

    @property
    def written_roots(self) -> set[Value]:
        """The values whose memory is written to."""
        written = {ref.root for _, ref in self.writes}
        if self.reductions:
            written.update([reduction.ref.root for reduction in self.reductions])
        return written


@define(eq=False)
class ExternalCall:
    """A call of a compiled loop of NumPy's, BLAS' or our own, which iterates by itself.

    Attributes
    ----------
    callee : Callee
    reads, writes : list of MemRef
        Its operands, in this order.
    lengths, steps : tuple of int
        What it is called with beside them.
    cost : int
        About how many operations it does.
    """

    callee: Callee
    reads: list[MemRef]
    writes: list[MemRef]
    lengths: tuple[int, ...]
    steps: tuple[int, ...]
    cost: int = 0

    @property
    def refs(self) -> list[MemRef]:
        """All memory references."""
        return [*self.reads, *self.writes]

    @property
    def read_roots(self) -> set[Value]:
        """The values whose memory is read."""
        return {ref.root for ref in self.reads}

    @property
    def written_roots(self) -> set[Value]:
        """The values whose memory is written to."""
        return {ref.root for ref in self.writes}


@frozen(eq=False)
class RuntimeCheck:
    """A test of a byte: of a guard, or of the flag by which a loop says that all was well.

    Attributes
    ----------
    ref : MemRef
    answer : int
    number : int
        Of the guard, from 1; 0 for a loop's word.
    """

    ref: MemRef
    answer: int
    number: int = 0

    @property
    def refs(self) -> list[MemRef]:
        """All memory references."""
        return [self.ref]

    @property
    def read_roots(self) -> set[Value]:
        """The values whose memory is read."""
        return {self.ref.root}

    written_roots: frozenset[Value] = frozenset()
