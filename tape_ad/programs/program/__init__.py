"""The program: calls in single static assignment, and the plainest way to run one."""

import functools
import operator
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.arrays.adapters import adapter
from tape_ad.base.naming import called
from tape_ad.base.trees import structure_of

Function = Callable[..., Any]
HOLDING_NONE = frozenset({int, float, bool, type(None), type(Ellipsis), str, np.float64, type})
"""The types of most arguments that are no values, known without a look."""
COMPUTED = "the program"
"""Where a constant is from that has been computed of others before any replay."""
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


@define(eq=False, repr=False)
class Value:
    """What one call gives, or what a program starts from.

    Attributes
    ----------
    kind : type
        `numpy.ndarray`, a scalar type of NumPy's, or a Python number's type: those are weak, and
        take the dtype of what they are computed with.
    shape, dtype, strides
        As the array had them when it was captured; of Python numbers (), None and ().
    owner : Value or None
        For a view, the value that owns the memory; None for a value with memory of its own.
    name : str
        What the user calls it, for an input; else nothing.
    number : int or None
        Its place in the trace of its capture, where there is one; see `Trace`.
    """

    __array_function__: ClassVar[None] = None
    """So that it is a leaf of a tree, as the array is that it stands for."""
    kind: type
    shape: tuple[int, ...] = ()
    dtype: np.dtype[Any] | None = None
    strides: tuple[int, ...] = ()
    owner: "Value | None" = None
    name: str = ""
    number: int | None = field(default=None, init=False)

    @classmethod
    def like(cls, concrete: Any, owner: "Value | None" = None, name: str = "") -> "Value":
        """Describe an array or a number."""
        kind = type(concrete)
        if kind is np.ndarray:
            return cls(kind, concrete.shape, concrete.dtype, concrete.strides, owner, name)
        if isinstance(concrete, np.generic):
            return cls(kind, (), concrete.dtype, (), owner, name)
        return cls(kind, name=name)

    def fresh(self, owner: "Value | None" = None) -> "Value":
        """Give a value like this one, with memory of its own or in that of another."""
        return Value(self.kind, self.shape, self.dtype, self.strides, owner)

    def __str__(self) -> str:
        """Write the type: ``float64[64,10]``; a Python number's as Python does."""
        if self.dtype is None:
            return self.kind.__name__
        brackets = f"[{','.join(map(str, self.shape))}]" if self.kind is np.ndarray else ""
        return f"{self.dtype}{brackets}"

    def __repr__(self) -> str:
        return f"<Value {self}>"


BARE = HOLDING_NONE | {Value}


@define(eq=False, repr=False)
class Call:
    """One call of a function.

    Attributes
    ----------
    function : callable
        A NumPy function, a ufunc or one of its methods, one of ours, or one of `operator`.
    args, kwargs
        What it is called with: trees in which values stand for arrays and captured numbers; all
        else is as it was.
    outputs : tuple of Value
    several : bool
        Whether the function returns a sequence, which the outputs are the items of.
    errors : mapping or None
        The `numpy.errstate` that it ran in, where that is not the caller's own.
    """

    function: Function
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    outputs: tuple[Value, ...]
    several: bool = False
    errors: Mapping[str, Any] | None = None

    _operands: Sequence[Value] | None = field(default=None, init=False)

    @property
    def operands(self) -> Sequence[Value]:
        """The values among the arguments, in order, each as often as it stands there."""
        found = self._operands
        if found is None:
            if not self.kwargs and BARE.issuperset(map(type, self.args)):  # as most are
                values = [arg for arg in self.args if type(arg) is Value]
                found = values if len(values) < len(self.args) else self.args
            else:
                found = values_in((self.args, self.kwargs) if self.kwargs else self.args)
            self._operands = found
        return found

    def named(self, *names: str) -> list[Any]:
        """Give the arguments of these names, in this order; None for one that is missing."""
        found = dict(zip(names, self.args, strict=False)) | dict(self.kwargs)
        return [found.get(name) for name in names]

    def run(self, values: dict[Value, Any]) -> Any:
        """Run it on the values at hand, and add what it gives, if a loop has not diverged."""
        with np.errstate(**(self.errors or {})):
            out = self.function(*replaced(self.args, values), **replaced(self.kwargs, values))
        if type(out) is Diverged:
            return out
        outs = tuple(out) if self.several else (out,)
        values |= zip(self.outputs, outs, strict=True)
        return outs

    def replaced(self, by: Mapping[Value, Value]) -> "Call":
        """Give the call with other values for some of its operands."""
        args = self.args
        if len(self.operands) == [*map(type, args)].count(Value):  # and there is none in structures
            others = [by.get(arg, arg) if type(arg) is Value else arg for arg in args]
            return self.given(tuple(others), self.kwargs)
        return self.given(replaced(self.args, by), self.kwargs and replaced(self.kwargs, by))

    def given(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> "Call":
        """Give the call with other arguments; the very call, if they are the same."""
        if args is self.args and kwargs is self.kwargs:
            return self
        return Call(self.function, args, kwargs, self.outputs, self.several, self.errors)

    def giving(self, outputs: Iterable[Value]) -> "Call":
        """Give the call with other results."""
        outs = tuple(outputs)
        return Call(self.function, self.args, self.kwargs, outs, self.several, self.errors)


@define(eq=False, repr=False)
class Guard:
    """A fact about a value that what follows relies on.

    Attributes
    ----------
    question : callable
        What Python asked: ``bool``, ``int``, ``operator.index`` ...
    value : Value
        Whom.
    answer : any
        What it was told, which is compared by ``==``.
    line : str
        Where, as ``line 3 of model.py``.
    """

    outputs: ClassVar[tuple[Value, ...]] = ()
    """It computes nothing."""
    question: Function
    value: Value
    answer: Any
    line: str

    @property
    def operands(self) -> Sequence[Value]:
        """The value that is asked."""
        return (self.value,)

    def replaced(self, by: Mapping[Value, Value]) -> "Guard":
        """Give the guard for another value."""
        value = by.get(self.value)
        return self if value is None else Guard(self.question, value, self.answer, self.line)


Step = Call | Guard


@frozen(eq=False, repr=False)
class Constant:
    """An array that a function finds elsewhere, or makes anew each time with the same numbers.

    Attributes
    ----------
    value : Value
    data : array
        The very array, which is read at each replay.
    line : str
        Where it was first used.
    mark : bytes
        What sums up its contents then: the caller may have got the array, and written to it since.
    own : bool
        Whether the function makes it anew at each call.
    """

    value: Value
    data: Any
    line: str
    mark: bytes = b""
    own: bool = False


@frozen(eq=False, repr=False, slots=False)
class Program:
    """A function's calls for arguments of certain shapes and dtypes, on one of its paths.

    It is never changed: a pass of `programs.passes` gives another one.

    Attributes
    ----------
    name : str
        The function's.
    inputs : tuple of Value
        One for each array and Python number among the arguments.
    constants : tuple of Constant
    steps : sequence of Call and Guard
        In the order in which they were made: a tuple, or the `Trace` of a long capture.
    output : tree
        What the function returned, with values in place of arrays and captured numbers.
    history : tuple of (str, Program)
        What it was made from: the name of each pass, and the program before it.
    nbytes : int or None
        The most bytes that a replay needs beside its arguments and constants, with what it
        returns; None where it is not replayed yet.
    rounds : bool
        Whether it may give other digits than the function, as its capture has found.
    """

    name: str
    inputs: tuple[Value, ...]
    constants: tuple[Constant, ...]
    steps: Sequence[Step]
    output: Any
    history: tuple[tuple[str, "Program"], ...] = field(default=(), kw_only=True)
    nbytes: int | None = field(default=None, kw_only=True)
    rounds: bool = field(default=False, kw_only=True)

    @property
    def outputs(self) -> list[Value]:
        """The values that are returned, in the order of the output's leaves."""
        return values_in(self.output)

    @property
    def calls(self) -> list[Call]:
        """The steps that compute."""
        return [step for step in self.steps if type(step) is Call]

    @property
    def kinds(self) -> Sequence[Step]:
        """Steps with one of each kind among them: all, but for those of a trace."""
        kinds: Sequence[Step] = getattr(self.steps, "kinds", self.steps)
        return kinds

    @functools.cached_property
    def guards(self) -> list[Guard]:
        """The steps that compare; those of a loop as often as they are done."""
        known = getattr(self.steps, "guards", None)
        if known is not None:  # of a trace, which has no loops yet
            return list(known.values())
        found: list[Guard] = []
        for step in self.steps:
            if isinstance(step, Guard):
                found.append(step)
            elif step.several and (body := body_of(step)) is not None and (own := body.guards):
                found += own * step.function.count  # type: ignore[attr-defined]  # it is a loop
        return found

    @functools.cached_property
    def functions(self) -> list[Function]:
        """The different functions that are called."""
        calls = [step for step in self.kinds if type(step) is Call]
        return list({id(call.function): call.function for call in calls}.values())

    def forget_operands(self) -> None:
        """Forget the lists of operands that passes have asked for, which are found anew."""
        for step in self.kinds:
            if type(step) is Call:
                step._operands = None

    @property
    def lowered(self) -> Any:
        """What the native compiler makes of each call, to be printed; it needs llvmlite."""
        _, made = next(adapter("compiler").passes(self))
        return made

    def numbers(self) -> dict[Value, int]:
        """Number all values, in the order in which they come to be."""
        values = [*self.inputs, *(constant.value for constant in self.constants)]
        for call in self.calls:
            if (body := body_of(call)) is not None:
                values += body.numbers()
            values += call.outputs
        return {value: number for number, value in enumerate(values)}

    def __len__(self) -> int:
        """Count the calls."""
        return len(self.calls)

    def __repr__(self) -> str:
        return (
            f"<Program of {self.name}: {len(self.calls)} calls, {len(self.guards)} guards, "
            f"{len(self.inputs)} inputs, {len(self.constants)} constants>"
        )

    def __str__(self) -> str:
        """List the program, one call to a line."""
        numbers = self.numbers()
        lines = [f"%{numbers[v]}: {v} = input {v.name}" for v in self.inputs]
        lines += [f"%{numbers[c.value]}: {c.value} = constant of {c.line}" for c in self.constants]
        lines += [listed(step, numbers) for step in self.steps]
        lines.append(f"return {shown(self.output, numbers)}")
        return "\n".join(lines)


def body_of(call: Call) -> Program | None:
    """Give the body of a loop; None for any other call."""
    if not call.several:  # as a loop does
        return None
    body = getattr(call.function, "body", None)
    return body if type(body) is Program else None


def root_of(value: Value) -> Value:
    """Find what owns the memory of a value."""
    while value.owner is not None:
        value = value.owner
    return value


def values_in(tree: Any) -> list[Value]:
    """List the values in a tree, in order, each as often as it stands there."""
    values: list[Value] = []
    collect(tree if type(tree) is tuple else (tree,), values)
    return values


def collect(trees: Iterable[Any], values: list[Value]) -> None:
    """Append the values in some trees."""
    for tree in trees:
        kind: Any = type(tree)
        if kind is Value:
            values.append(tree)
        elif kind in HOLDING_NONE:
            continue
        elif kind is tuple or kind is list:
            collect(tree, values)
        elif kind is slice:
            collect((tree.start, tree.stop, tree.step), values)
        elif (structure := structure_of(kind)) is not None:
            collect(structure.values(tree), values)


def replaced(tree: Any, by: Mapping[Value, Any]) -> Any:
    """Put others in place of values in a tree; the very tree, where none of them is in it."""
    kind: Any = type(tree)
    if kind is Value:
        return by.get(tree, tree)
    if kind in HOLDING_NONE:
        return tree
    if kind is tuple:
        leaves = [replaced(leaf, by) for leaf in tree]
        return tree if all(map(operator.is_, leaves, tree)) else tuple(leaves)
    return rebuilt(lambda leaf: by.get(leaf, leaf) if type(leaf) is Value else leaf, tree)


def rebuilt(function: Callable[[Any], Any], tree: Any) -> Any:
    """Put others in place of leaves, those of slices too; the very tree, where all stay."""
    kind: Any = type(tree)
    structure = None if kind is slice else structure_of(kind)
    if structure is None and kind is not slice:
        return function(tree)
    before = [tree.start, tree.stop, tree.step] if structure is None else [*structure.values(tree)]
    after = [rebuilt(function, each) for each in before]
    if all(map(operator.is_, before, after)):
        return tree
    return slice(*after) if structure is None else structure.rebuilt(tree, after)


def listed(step: Step, numbers: Mapping[Value, int]) -> str:
    """Write a step as a line of a listing."""
    if isinstance(step, Guard):
        question = getattr(step.question, "__name__", str(step.question))
        short = reprlib.repr if type(step.answer) is bytes else repr  # all bytes of an array
        answer = short(step.answer)
        return f"guard {question} %{numbers[step.value]} is {answer}, {step.line}"
    if body_of(step) is not None:
        return "\n".join(listed_loop(step, numbers))
    given = ", ".join(f"%{numbers[v]}: {v}" for v in step.outputs)
    return f"{given} = {written(step, numbers)}"


def listed_loop(call: Call, numbers: Mapping[Value, int]) -> Iterator[str]:
    """Write a loop as the lines of a listing, with its body below its head."""
    loop: Any = call.function
    body, given = loop.body, call.args

    def pairs(ours: Iterable[Value], theirs: Iterable[Value]) -> str:
        return ", ".join(
            f"%{numbers[a]} = %{numbers[b]}" for a, b in zip(ours, theirs, strict=True)
        )

    yield f"for k in range({loop.count}):"
    if loop.carried:
        yield f"  first {pairs(body.inputs[: loop.carried], given[: loop.carried])}"
    yield f"  with {pairs(body.inputs[loop.carried :], given[loop.carried :])}"
    for step in body.steps:
        yield from ("  " + line for line in listed(step, numbers).splitlines())
    if loop.carried:
        yield f"  next {pairs(body.inputs[: loop.carried], body.output[: loop.carried])}"
    stacks = call.outputs[loop.carried :]
    for stack, value in zip(stacks, body.output[loop.carried :], strict=True):
        yield f"  %{numbers[stack]}: {stack} [k] = %{numbers[value]}"
    for out, value in zip(call.outputs, body.inputs[: loop.carried], strict=False):
        yield f"%{numbers[out]}: {out} = last %{numbers[value]}"


def written(call: Call, numbers: Mapping[Value, int]) -> str:
    """Write a call as it stands in a listing."""
    name = called(call.function).removeprefix("np.")
    words = [name, *(shown(arg, numbers) for arg in call.args)]
    words += [f"{option}={shown(arg, numbers)}" for option, arg in call.kwargs.items()]
    return " ".join(words)


Display = Callable[[Callable[[Any], str], Any], str]
DISPLAYS: Mapping[type, Display] = {
    tuple: lambda one, tree: f"({', '.join(map(one, tree))}{',' * (len(tree) == 1)})",
    list: lambda one, tree: f"[{', '.join(map(one, tree))}]",
    dict: lambda one, tree: (
        f"{{{', '.join(f'{one(key)}: {one(each)}' for key, each in tree.items())}}}"
    ),
}
"""How Python writes structures, by what writes each of their parts."""


def shown(tree: Any, numbers: Mapping[Value, int]) -> str:
    """Write an argument of a call as a listing shows it."""
    if type(tree) is Value:
        return f"%{numbers[tree]}"
    if type(tree) in DISPLAYS:
        return DISPLAYS[type(tree)](lambda each: shown(each, numbers), tree)
    if type(tree) is slice:
        parts = (tree.start, tree.stop, *(() if tree.step is None else (tree.step,)))
        return ":".join("" if part is None else shown(part, numbers) for part in parts)
    structure = structure_of(tree.__class__)
    if structure is not None:
        inner = ", ".join(shown(each, numbers) for each in structure.values(tree))
        return f"{type(tree).__name__}({inner})"
    return "..." if tree is Ellipsis else repr(tree)


@frozen(eq=False)
class Diverged:
    """What a replay gives in place of results when a guard has got another answer.

    Attributes
    ----------
    guard : int
        Which one, counted from 0.
    answer : any
        The other answer.
    """

    guard: int
    answer: Any


def interpret(program: Program, inputs: Sequence[Any]) -> Any:
    """Run a program.

    Parameters
    ----------
    program : Program
    inputs : sequence of array and number
        One for each of the program's inputs.

    Returns
    -------
    The output's tree with arrays and numbers in it, or Diverged
    """
    values, diverged = interpreted(program, inputs)
    if diverged is not None:
        return diverged
    return replaced(program.output, values)


def interpreted(
    program: Program, inputs: Sequence[Any]
) -> tuple[dict[Value, Any], Diverged | None]:
    """Run a program, and give all of its values; those before the guard where it has diverged."""
    values = values_before(program, inputs)
    return values, run_steps(program.steps, values)


def values_before(program: Program, inputs: Sequence[Any]) -> dict[Value, Any]:
    """Give the values that there are before the first step."""
    values: dict[Value, Any] = dict(zip(program.inputs, inputs, strict=True))
    return values | {constant.value: constant.data for constant in program.constants}


def run_steps(steps: Iterable[Step], values: dict[Value, Any]) -> Diverged | None:
    """Run steps on the values at hand, and add what they give; end where a guard diverges."""
    guards = 0
    for step in steps:
        if isinstance(step, Guard):
            answer = step.question(values[step.value])
            if answer != step.answer:
                return Diverged(guards, answer)
            guards += 1
            continue
        outs = step.run(values)
        if type(outs) is Diverged:  # in a loop
            return Diverged(guards + outs.guard, outs.answer)
        body = body_of(step)
        guards += 0 if body is None else len(body.guards) * step.function.count  # type: ignore[attr-defined]  # it is a loop
    return None
