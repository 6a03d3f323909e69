"""Loops in programs: a body that is a program, the iterations of which read moving keys.

A loop is the function of a call. Its operands are what is carried from one iteration to the next,
as it is before the first, and what every iteration reads. It gives what is carried, as it is after
the last iteration, and *stacks*: arrays of what each iteration has computed.
"""

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from tape_ad.programs.program import (
    COMPUTED,
    Call,
    Constant,
    Diverged,
    Guard,
    Program,
    Step,
    Value,
    rebuilt,
    replaced,
    root_of,
    run_steps,
)

__all__ = [
    "Loop",
    "Moving",
    "Stacking",
    "element_of",
    "iteration",
    "relocated",
    "unrolled",
    "viewing",
]

Elements = Mapping[Value, Sequence[Value]]


class Moving:
    """A whole number among the arguments of a body's call: ``start + step * k`` in iteration k."""

    __slots__ = ("start", "step")

    def __init__(self, start: int, step: int) -> None:
        self.start, self.step = start, step

    def at(self, k: int) -> int:
        """Give the number in iteration k."""
        return self.start + self.step * k

    def __eq__(self, other: object) -> bool:
        """Tell whether another one is the same number in every iteration."""
        return type(other) is Moving and (self.start, self.step) == (other.start, other.step)

    def __hash__(self) -> int:
        return hash((self.start, self.step))

    def __repr__(self) -> str:
        factor = {1: "", -1: "-"}.get(self.step, f"{self.step}*")
        if self.step < 0 < self.start:
            return f"{self.start}-{factor.removeprefix('-')}k"
        return f"{factor}k{f'{self.start:+}' if self.start else ''}"


@frozen(eq=False)
class Stacking:
    """Where a loop keeps what each iteration gives.

    Attributes
    ----------
    value : Value
        The stack: an array with one more axis in front.
    """

    value: Value

    @classmethod
    def of(cls, element: Value, count: int) -> "Stacking":
        """Describe the stack of so many values that lie in memory as one does."""
        dtype = np.dtype(element.dtype)
        size = dtype.itemsize * int(np.prod(element.shape, dtype=int))
        shape, strides = (count, *element.shape), (size, *element.strides)
        return cls(Value(np.ndarray, shape, dtype, strides))

    def empty(self) -> Any:
        """Make an array for it."""
        shape, strides, dtype = self.value.shape, self.value.strides, self.value.dtype
        memory = np.empty(shape[0] * strides[0], np.uint8)
        return np.ndarray(shape, dtype, memory, 0, strides)


def element_of(stack: Value, k: int | Moving, like: Value) -> Call:
    """Give the call that reads an element of a stack, which is like a value."""
    if like.kind is np.ndarray:
        out = Value(np.ndarray, like.shape, like.dtype, like.strides, stack)
        return Call(operator.getitem, (stack, (k, ...)), {}, (out,))
    return Call(operator.getitem, (stack, k), {}, (Value(like.kind, (), like.dtype),))


@frozen(eq=False, repr=False)
class Loop:
    """The function of a call that runs a body again and again.

    Attributes
    ----------
    body : Program
        Its inputs are what is carried, and then what is read; it gives what is carried to the next
        iteration, and then what is stacked.
    count : int
        How many iterations there are.
    carried : int
        How many values are carried.
    stackings : tuple of Stacking
    """

    body: Program
    count: int
    carried: int
    stackings: tuple[Stacking, ...] = ()
    __name__: str = field(default="loop", init=False)

    def __call__(self, *operands: Any) -> Any:
        """Run it, the plainest way; a guard that gets another answer ends it."""
        carried, read = list(operands[: self.carried]), operands[self.carried :]
        stacks = [each.empty() for each in self.stackings]
        for k in range(self.count):
            values: dict[Value, Any] = dict(zip(self.body.inputs, (*carried, *read), strict=True))
            steps = (s if isinstance(s, Guard) else call_at(s, k) for s in self.body.steps)
            diverged = run_steps(steps, values)
            if diverged is not None:
                return Diverged(k * len(self.body.guards) + diverged.guard, diverged.answer)
            given = [values[value] for value in self.body.output]
            carried = given[: self.carried]
            for stack, element in zip(stacks, given[self.carried :], strict=True):
                stack[k] = element
        return [*carried, *stacks]


def call_at(step: Call, k: int) -> Call:
    """Give a call of a body as it is in iteration k."""

    def at(leaf: Any) -> Any:
        return leaf.at(k) if type(leaf) is Moving else leaf

    options = dict(step.kwargs)
    kwargs = rebuilt(at, options)
    return step.given(rebuilt(at, step.args), step.kwargs if kwargs is options else kwargs)


@define(eq=False)
class ConstantElements:
    """The constants of a program, elements of which are constants too where a loop is written out.

    Attributes
    ----------
    constants : mapping of Value to Constant
    elements : dict of (Value, int) to Constant
        Those that have been asked for: views, so that they are what the whole is.
    numbers : dict of Value to float
        What elements of one axis are that nobody can change, by the results of the calls that read
        them.
    """

    constants: Mapping[Value, Constant]
    elements: dict[tuple[Value, int], Constant] = field(factory=dict)
    numbers: dict[Value, float] = field(factory=dict)

    def element(self, call: Call) -> Value | None:
        """Find the constant that a call reads, if it reads an array as `element_of` does."""
        constant, key = self.read(call)
        if constant is None or type(key) is not tuple or key[1:] != (...,):
            return None
        found = self.elements.get((constant.value, key[0]))
        if found is None:
            value, data = call.outputs[0].fresh(), constant.data[key]
            found = Constant(value, data, constant.line, own=constant.own)
            self.elements[constant.value, key[0]] = found
        return found.value

    def with_numbers(self, call: Call) -> Call:
        """Note a number that a call reads; give a call of a ufunc with those that are known."""
        constant, key = self.read(call)
        numbers: dict[Any, Any] = self.numbers
        if constant is not None and constant.line == COMPUTED and type(key) is int:
            numbers[call.outputs[0]] = constant.data[key].item()
        if type(call.function) is not np.ufunc or numbers.keys().isdisjoint(call.operands):
            return call
        args = tuple([numbers.get(arg, arg) if type(arg) is Value else arg for arg in call.args])
        return call.given(args, call.kwargs)

    def read(self, call: Call) -> tuple[Constant | None, Any]:
        """Give the constant that a call reads elements of, and the key."""
        if call.function is not operator.getitem or type(call.args[0]) is not Value:
            return None, None
        return self.constants.get(call.args[0]), call.args[1]


def iteration(
    loop: Loop,
    k: int,
    inputs: Sequence[Value],
    steps: list[Step],
    elements: Elements,
    constants: ConstantElements | None = None,
) -> list[Value]:
    """Append the calls of an iteration, with values of their own.

    Parameters
    ----------
    loop : Loop
    k : int
    inputs : sequence of Value
        What stands for the inputs of the body.
    steps : list of Call
        What is appended to.
    elements : mapping of Value to list of Value
        What is known of stacks, so that an element need not be read.
    constants : ConstantElements, optional
        What is known of constants.

    Returns
    -------
    list of Value
        What stands for what the body gives.
    """
    by: dict[Value, Value] = dict(zip(loop.body.inputs, inputs, strict=True))
    for step in loop.body.steps:
        if isinstance(step, Guard):
            steps.append(step.replaced(by))
            continue
        call = call_at(step, k).replaced(by)
        element = known_element(call, elements)
        if element is None and constants is not None:
            element = constants.element(call)
        if element is not None:
            by[call.outputs[0]] = element
            continue
        pairs = [*zip(step.operands, call.operands, strict=True)]
        own = call.giving([viewing(out, pairs) for out in call.outputs])
        by |= zip(call.outputs, own.outputs, strict=True)
        steps.append(own if constants is None else constants.with_numbers(own))
    return [by[value] for value in loop.body.output]


def known_element(call: Call, elements: Elements) -> Value | None:
    """Find the element of a stack that a call reads."""
    stack = call.args[0] if call.function is operator.getitem else None
    if type(stack) is not Value or stack not in elements:
        return None
    key = call.args[1]
    return elements[stack][key[0] if type(key) is tuple else key]


def viewing(out: Value, pairs: Iterable[tuple[Value, Value]]) -> Value:
    """Give a new value like what a call gave, now that it has other operands.

    Parameters
    ----------
    out : Value
    pairs : iterable of (Value, Value)
        What was an operand, and what is it now: `out` may be a view of one.
    """
    owner = None
    if out.owner is not None:
        owner = next((root_of(new) for old, new in pairs if root_of(old) is out.owner), None)
    return out.fresh(owner)


def relocated(old: Step, by: dict[Value, Value]) -> Any:
    """Give a step with others for its operands; what it views may be in other memory then.

    Parameters
    ----------
    old : Call or Guard
    by : dict of Value to Value
        What stands in place of values: of its results, too, where they are views.
    """
    if by.keys().isdisjoint(old.operands):
        return old
    step: Any = old.replaced(by)
    if all(out.owner is None for out in old.outputs):
        return step
    pairs = list(zip(old.operands, step.operands, strict=True))
    step = step.giving([viewing(out, pairs) for out in step.outputs])
    by |= zip(old.outputs, step.outputs, strict=True)
    return step


def unrolled(program: Program, loops: Collection[Loop] | None = None) -> Program:
    """Write loops as the calls of all of their iterations.

    Parameters
    ----------
    program : Program
    loops : collection of Loop, optional
        Which, together with those that read what they stack; all, if it is not said.
    """
    if not any(type(call.function) is Loop for call in program.calls):
        return program
    steps: list[Step] = []
    by: dict[Value, Value] = {}
    elements: dict[Value, Sequence[Value]] = {}
    known = ConstantElements({each.value: each for each in program.constants})
    for old in program.steps:
        step = relocated(old, by)
        if not isinstance(old, Call):
            steps.append(step)
            continue
        loop: Any = step.function
        if type(loop) is Loop and (
            loops is None or loop in loops or not elements.keys().isdisjoint(step.operands)
        ):
            given, read = step.args[: loop.carried], step.args[loop.carried :]
            rows = []
            for k in range(loop.count):
                outs = iteration(loop, k, (*given, *read), steps, elements, known)
                given = tuple(outs[: loop.carried])
                rows.append(outs[loop.carried :])
            by |= zip(step.outputs[: loop.carried], given, strict=True)
            elements |= zip(step.outputs[loop.carried :], zip(*rows, strict=True), strict=True)
            continue
        element = known_element(step, elements)
        if element is not None:
            by[old.outputs[0]] = element
            continue
        steps.append(step)
    constants = (*program.constants, *known.elements.values())
    output = replaced(program.output, by)
    return evolve(program, constants=constants, steps=tuple(steps), output=output)
