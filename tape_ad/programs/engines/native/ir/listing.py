"""Listings of the loop IR: what each pass of the compiler prints."""

import math
from collections.abc import Mapping
from typing import Any, Self

from attrs import define, field

from tape_ad.base.naming import called
from tape_ad.programs.engines.native.ir.loop_nests import (
    Argument,
    Callee,
    ExternalCall,
    Literal,
    LoopNest,
    Op,
    RuntimeCheck,
)
from tape_ad.programs.engines.native.ir.memory_map import MemRef
from tape_ad.programs.program.program import Program, Step, Value, listed

__all__ = ["Listing"]


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
        """The whole listing."""
        return "\n".join(self.lines)

    def step(self, step: Step, reason: str | None, *, is_view: bool = False) -> None:
        """Write a step of the program, with who does it."""
        by = "view: " if is_view else "" if reason is None else "NumPy: "
        why = f"  # {reason}" if reason else ""
        self.lines.append(f"{by}{listed(step, self.numbers)}{why}")

    def work(self, work: LoopNest | ExternalCall | RuntimeCheck, indent: str = "") -> None:
        """Write a loop nest, an external call or a runtime check."""
        if isinstance(work, LoopNest):
            lines = self._nest(work)
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
    size = ref.dtype.itemsize
    plain = (size * math.prod(ref.shape[k + 1 :]) for k in range(len(ref.shape)))
    return all(
        stride == wanted or length == 1
        for length, stride, wanted in zip(ref.shape, ref.strides, plain, strict=True)
    )
