"""The loop IR: memory references, loop nests, calls, runtime checks, and their listings."""

import functools
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.naming import called
from tape_ad.programs.capture.op_facts import is_view
from tape_ad.programs.passes.inlining import stand_in
from tape_ad.programs.program import Call, Constant, Program, Step, Value, listed

SIMPLE = frozenset("?bBhHiIlLqQfdFD")
"""The characters of dtypes that native code computes with."""


@define(unsafe_hash=True, cache_hash=True)
class MemRef:
    """A strided reference to elements in the memory of a value; it is never changed.

    Attributes
    ----------
    root : Value
        What owns the memory, or an input or a constant.
    offset : int
        Of the first element, in bytes.
    shape, strides : tuple of int
    dtype : numpy.dtype
    """

    root: Value
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    _narrow: "MemRef | None" = field(default=None, init=False, eq=False, repr=False)

    @classmethod
    def whole(cls, value: Value) -> Self:
        """Give the reference to a value that owns its memory."""
        dtype = kept_as(value)
        return cls(value, 0, value.shape, value.strides, dtype)

    @classmethod
    def new(cls, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Self:
        """Give the reference to a new value in C order, which no call knows of."""
        strides = strides_of(shape, dtype.itemsize)
        return cls(Value(np.ndarray, shape, dtype, strides), 0, shape, strides, dtype)

    def along(self, shape: tuple[int, ...], strides: tuple[int, ...], behind: int = 0) -> "MemRef":
        """Give the reference to elements that begin at the same one, or so many bytes behind it."""
        return MemRef(self.root, self.offset + behind, shape, strides, self.dtype)

    def broadcast(self, shape: tuple[int, ...]) -> "MemRef":
        """Repeat it along axes, without the axes of one element that others do not have."""
        if self.shape == shape:
            return self
        missing = len(shape) - len(self.shape)
        strides = [0] * missing
        for length, stride, wanted in zip(self.shape, self.strides, shape[missing:], strict=True):
            strides.append(stride if length == wanted else 0)
        return self.along(shape, tuple(strides))

    def spread(self, shape: tuple[int, ...], axes: Sequence[int]) -> "MemRef":
        """Give the reference to a result for each element that goes into it along some axes."""
        strides = list(self.strides)
        kept = len(strides) == len(shape)
        for axis in sorted(axes):
            strides[axis : axis + kept] = [0]
        return self.along(shape, tuple(strides))

    def squeezed(self) -> "MemRef":
        """Leave out the axes of one element."""
        if 1 not in self.shape:
            return self
        if self._narrow is None:  # which is asked often
            kept = [axis for axis, length in enumerate(self.shape) if length != 1]
            shape = tuple([self.shape[axis] for axis in kept])
            strides = tuple([self.strides[axis] for axis in kept])
            self._narrow = self.along(shape, strides)
        return self._narrow

    def seen(self, view: Callable[[Any], Any]) -> "MemRef":
        """Give the reference to a view, which a function makes of an array."""
        array, start = stand_in(self.shape, self.strides, self.dtype)
        part = view(array)
        offset = part.__array_interface__["data"][0] - start
        return MemRef(self.root, self.offset + offset, part.shape, part.strides, part.dtype)

    def part(self, key: Any) -> "MemRef":
        """Give the reference to what a key of basic indexing selects."""
        key = key if type(key) is tuple else (key,)
        key = key if Ellipsis in key else (*key, Ellipsis)  # else it would be a number
        return self.seen(lambda array: array[key])


def strides_of(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """Give the strides of elements of so many bytes that lie in C order."""
    return tuple([size * math.prod(shape[k + 1 :]) for k in range(len(shape))])


def kept_as(value: Value) -> np.dtype[Any]:
    """Say what a value is in memory: Python's numbers are those of their size."""
    return np.dtype(value.kind) if value.dtype is None else value.dtype


def is_simple(value: Value) -> bool:
    """Tell whether native code can compute with a value at all."""
    if value.dtype is None:
        return value.kind in (float, int, complex, bool)
    return value.dtype.char in SIMPLE and value.dtype.isnative and 0 not in value.shape


class MemoryMap:
    """The memory references of a program's values.

    Attributes
    ----------
    constants : list of Constant
        What native code needs beside the program's own.
    uses : mapping of Value to int
        In how many systems of equations matrices in the memory of a value are.
    factors : dict of MemRef to tuple of MemRef
        Those of matrices that have been factorised, with their pivots.
    lower : set of MemRef
        Matrices that are known to be lower triangular.
    products : dict of MemRef to list of MemRef
        What an array is the product of, where that is repeated along axes: who reads the array a
        few times may multiply instead.
    bounds : dict of (MemRef, int) to True
        Which integers have been seen to be within the bounds of an axis of which length, and which
        masks to choose how many elements.
    searches : dict of (MemRef, MemRef, str) to MemRef
        Where in sorted lists others have been found, on which side.
    changing : set of Value or None
        The memory that is written over later; None where nobody knows.
    """

    def __init__(self, uses: Mapping[Value, int] = MappingProxyType({})) -> None:
        self._known: dict[Value, MemRef | None] = {}
        self.constants: list[Constant] = []
        self.uses = uses
        self.factors: dict[MemRef, tuple[MemRef, MemRef]] = {}
        self.lower: set[MemRef] = set()
        self.products: dict[MemRef, list[MemRef]] = {}
        self.bounds: dict[tuple[MemRef, int], bool] = {}
        self.searches: dict[tuple[MemRef, MemRef, str], MemRef] = {}
        self.changing: set[Value] | None = None

    def of(self, value: Value) -> MemRef | None:
        """Give the reference to a value; None if native code cannot use it."""
        if value not in self._known:
            self._known[value] = MemRef.whole(value) if is_simple(value) else None
        return self._known[value]

    def look(self, call: Call) -> bool:
        """Take in a call that is a view, and tell whether it is one."""
        if call.several or len(call.outputs) != 1 or call.outputs[0].owner is None:
            return False
        if call.function not in (np.einsum, np.asarray) and not is_view(call):
            return False  # what it shows may depend on values
        self._known[call.outputs[0]] = viewed_at(call, self)
        return True

    def note_product(self, nest: "LoopNest") -> None:
        """Note what a nest multiplies, if that is all that it does."""
        one = len(nest.reads) == 2 and len(nest.writes) == 1 and nest.callee is None
        if self.changing is None or not one or not nest.ops:
            return
        product, *rest = nest.ops
        if product.function is not np.multiply or {*product.args} != {-1, -2}:
            return
        added = all(op.function is np.add and isinstance(op.args[1], Literal) for op in rest)
        repeated = any(0 in ref.strides for ref in nest.reads)
        if added and repeated and self.changing.isdisjoint(nest.read_roots):
            self.products[nest.writes[0][1]] = nest.reads

    @property
    def notes(self) -> tuple[dict[Any, Any], ...]:
        """What is noted of work, which does not hold if that is given up."""
        return self.bounds, self.searches, self.factors

    def put(self, value: Value, ref: MemRef) -> None:
        """Note in which memory a value lies."""
        self._known[value] = ref


def viewed_at(call: Call, memory_map: MemoryMap) -> MemRef | None:
    """Find the reference to what a call shows of the memory of its one operand."""
    given = [arg for arg in call.args if type(arg) is Value]
    if len(given) != 1 or len(call.operands) != 1:
        return None
    (source,), out = given, call.outputs[0]
    ref = memory_map.of(source)
    if ref is None or not is_simple(out):
        return None
    return ref.seen(
        lambda array: call.function(
            *[array if arg is source else arg for arg in call.args], **call.kwargs
        )
    )


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


def gather(x: Any, *indices: Any) -> Any:
    """Stand in an operation for the reading of what indices lead to.

    The first operand is where they begin, and is not read itself. What else it is called with are,
    for each index, the length of its axis in elements, and the stride in bytes.
    """
    return x


def search(x: Any, key: Any) -> Any:
    """Stand in an operation for counting what comes before a number in a sorted list.

    The first operand is where that begins. What else it is called with are its length in elements,
    its stride in bytes, and the side of `numpy.searchsorted`.
    """
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
    is_external : bool
        Whether it is an inner loop of NumPy's, or of another library's ufunc.
    is_gather : bool
        Whether its first operand is memory, in which it reads anywhere.
    """

    function: Function
    dtypes: tuple[np.dtype[Any], ...]
    is_external: bool = field(init=False)
    is_gather: bool = field(init=False)

    @is_external.default
    def _(self) -> bool:
        return isinstance(self.function, Callee)

    @is_gather.default
    def _(self) -> bool:
        return getattr(self.function, "function", None) in (gather, search)


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
        """The function that the operation computes element by element."""
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
    data : int or tuple of int
        What it is given as its last argument; 0 for NULL, a tuple for numbers that lie there.
    name : str
        For listings.
    """

    function: int | LLVMFunction
    data: int | tuple[Any, ...]
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
        """Add an elementwise operation, if the nest does not have it yet."""
        return self.again(Op(kind_of(function, tuple(dtypes)), args))

    def again(self, op: Op) -> int:
        """Add an operation on results that the nest has, if it does not have it yet."""
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

    def reduce(self, ufunc: np.ufunc, arg: Argument, axes: Sequence[int], ref: MemRef) -> None:
        """End the nest in a reduction along some axes."""
        self.reductions.append(Reduction(ufunc, arg, ref.spread(self.shape, axes)))

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
    def gathered(self) -> set[MemRef]:
        """What is read at other elements than those of the space, where indices lead."""
        bases = [op.args[0] for op in self.ops if op.kind.is_gather]
        return {self.reads[~base] for base in bases if isinstance(base, int)}

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
class LoopCall:
    """A loop of a program: bytecode that is run again and again, with addresses that move.

    Attributes
    ----------
    body : LoopBody
        Of `schedule.loops`.
    places : mapping of Value to MemRef
        Where what the body knows as memory of its own lies.
    written : frozenset of Value
        What of that it writes to.
    guards : int
        How many guards of the program come before it.
    in_any_order : bool
        Whether no iteration needs what another one has done.
    """

    body: Any
    places: Mapping[Value, MemRef]
    written: frozenset[Value]
    guards: int
    in_any_order: ClassVar[bool] = False

    @property
    def refs(self) -> list[MemRef]:
        """All memory references."""
        return list(self.places.values())

    @property
    def read_roots(self) -> set[Value]:
        """The values whose memory is read: what is carried also where it is written to."""
        return {ref.root for ref in self.places.values()}

    @property
    def written_roots(self) -> set[Value]:
        """The values whose memory is written to."""
        return {self.places[root].root for root in self.written}


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


@define(eq=False)
class Listing:
    """The lines of a listing, and the names in it.

    Attributes
    ----------
    numbers : mapping of Value to int
        Of the program's values, as its own listing has them.
    lines : list of str
    """

    numbers: Mapping[Value, int]
    lines: list[str] = field(factory=list)
    _temporaries: dict[Value, int] = field(factory=dict)

    @classmethod
    def of(cls, program: Program) -> Self:
        """Begin a listing of what a program has become."""
        return cls(program.numbers())

    @property
    def text(self) -> str:
        """The listing, with all of its lines."""
        return "\n".join(self.lines)

    def step(self, step: Step, reason: str | None, *, is_view: bool = False) -> None:
        """Write a step of the program, with who does it."""
        by = "view: " if is_view else "" if reason is None else "NumPy: "
        why = f"  # {reason}" if reason else ""
        self.lines.append(f"{by}{listed(step, self.numbers)}{why}")

    def work(
        self, work: LoopNest | ExternalCall | LoopCall | RuntimeCheck, indent: str = ""
    ) -> None:
        """Write a loop nest, an external call, a loop or a runtime check."""
        if isinstance(work, LoopNest):
            lines = self._nest(work)
        elif isinstance(work, LoopCall):
            lines = list(self._loop(work))
        elif isinstance(work, ExternalCall):
            lines = [self._call(work)]
        else:
            guard = f", guard {work.number}" if work.number else ""
            lines = [f"check {self.ref(work.ref)} is {work.answer}{guard}"]
        self.lines += [indent + line for line in lines]

    def name(self, root: Value) -> str:
        """Name memory: ``%3`` for that of a value of the program, ``%t0`` for what it knows not."""
        number = self.numbers.get(root)
        if number is not None:
            return f"%{number}"
        return f"%t{self._temporaries.setdefault(root, len(self._temporaries))}"

    def ref(self, ref: MemRef) -> str:
        """Write a memory reference; strides and an offset where it is not the whole in C order."""
        words = [f"{self.name(ref.root)}: {ref.dtype}[{','.join(map(str, ref.shape))}]"]
        if ref.offset:
            words.append(f"offset {ref.offset}")
        if not is_c_order(ref):
            words.append(f"strides {ref.strides}")
        return " ".join(words)

    def _call(self, call: ExternalCall) -> str:
        """Write an external call."""
        reads, writes = (", ".join(map(self.ref, refs)) for refs in (call.reads, call.writes))
        return f"call {call.callee.name} ({reads}) -> {writes}"

    def _loop(self, loop: LoopCall) -> Iterator[str]:
        """Write a loop: what is done in its first iteration, or its first few at once."""
        before = self.numbers
        for part in loop.body.parts:
            yield f"loop {part.count} times, {part.unrolled} iterations each"
            inside = Listing({**before, **loop.body.numbers})
            for slot in part.slots:
                inside.work(slot, "  ")
            yield from inside.lines

    def _nest(self, nest: LoopNest) -> list[str]:
        """Write a loop nest: loads are named r0, r1, ..., operations v0, v1, ..."""
        kind = "ordered nest" if nest.ordered else "nest"
        lines = [f"{kind} [{','.join(map(str, nest.shape))}]"]
        lines += [f"  r{number} = load {self.ref(ref)}" for number, ref in enumerate(nest.reads)]
        if nest.callee is not None:
            given = ", ".join(f"r{number}" for number in range(len(nest.reads)))
            targets = ", ".join(self.ref(ref) for _, ref in nest.writes)
            return [*lines, f"  call {nest.callee.name} ({given}) -> {targets}"]
        lines += [f"  v{number} = {operation(op)}" for number, op in enumerate(nest.ops)]
        lines += [f"  store {argument(arg)} -> {self.ref(ref)}" for arg, ref in nest.writes]
        lines += [
            f"  reduce {argument(each.arg)} by {each.ufunc.__name__} -> {self.ref(each.ref)}"
            for each in nest.reductions
        ]
        return lines


def argument(arg: Argument) -> str:
    """Write an operand of an operation."""
    if isinstance(arg, Literal):
        return str(arg.number)
    return f"v{arg}" if arg >= 0 else f"r{~arg}"


def operation(op: Op) -> str:
    """Write an operation."""
    function: Any = op.function
    external = isinstance(function, Callee)
    name = f"loop of {function.name}" if external else function_name(function)
    return " ".join([f"{name}.{op.dtypes[-1]}", *map(argument, op.args)])


def function_name(function: Any) -> str:
    """Name a function, also one with options bound."""
    inner = getattr(function, "function", function)
    return called(inner).removeprefix("np.").rpartition(".")[2]


def is_c_order(ref: MemRef) -> bool:
    """Tell whether elements are in C order without gaps."""
    plain = strides_of(ref.shape, ref.dtype.itemsize)
    return all(
        stride == wanted or length == 1
        for length, stride, wanted in zip(ref.shape, ref.strides, plain, strict=True)
    )
