"""The engine that writes a plan as Python, and lets NumPy run it: the same bits as eager."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.programs.capture.op_facts import is_view
from tape_ad.programs.engines import storage
from tape_ad.programs.engines.numpy.calls import (
    FRESH,
    Arguments,
    Names,
    expression_of,
    numbers_as_arrays,
    seen,
    with_out,
)
from tape_ad.programs.engines.plans import HEAVY, Plan, Run, is_c, is_one_element
from tape_ad.programs.engines.segments import Segment
from tape_ad.programs.engines.storage import ALIGNED, size_of
from tape_ad.programs.program import Call, Diverged, Guard, Program, Value, root_of, values_in
from tape_ad.rules.numpy.updates import viewed


class Workspace:
    """Arrays in one piece of memory, and views of them.

    A replay takes a workspace that is idle, or makes one; so replays in several threads, or within
    one another, have each their own. One that ends in an error leaves its to the collector.

    Parameters
    ----------
    names : Names
    size : int
        The bytes of all.
    readable : bool
        Whether people are to read it. If not, the arrays are made of a table, which Python has
        sooner than as many lines.
    """

    def __init__(self, names: Names, size: int, readable: bool) -> None:
        self.names, self.size, self.readable = names, size, readable
        self._made: dict[str, str] = {}
        self._table: list[tuple[Any, ...]] = []
        self._arrays: dict[Any, str] = {}
        self._known: set[str] = set()

    def array(self, value: Value, offset: int) -> str:
        """Name an array at a place."""
        dtype = np.dtype(value.dtype)
        key = offset, value.shape, value.strides, dtype.num, dtype.byteorder
        name = self._arrays.get(key)
        if name is None and self.readable:
            where = f"memory, {offset}" + ("" if is_c(value) else f", {value.strides}")
            words = f"{value.shape}, {self.names.dtype(dtype)}, {where}"
            name = self._arrays[key] = self.view(f"{self.names.function(np.ndarray)}({words})")
        elif name is None:
            self._table.append((value.shape, dtype, offset, value.strides))
            name = self._arrays[key] = self.names.new(f"a{len(self._table)}")
            self._known.add(name)
        return name

    def view(self, expression: str) -> str:
        """Name an array that is made of others here."""
        name = self._made.get(expression)
        if name is None:
            name = self._made[expression] = self.names.new(f"b{len(self._made) + 1}")
            self._known.add(name)
        return name

    def has(self, name: str) -> bool:
        """Tell whether an array of that name is here."""
        return name in self._known

    @property
    def all(self) -> list[str]:
        """The names of the arrays."""
        arrays = self._arrays.values() if self._table else ()
        return [*arrays, *self._made.values()]

    def lines(self) -> Iterator[str]:
        """Write what makes a workspace."""
        if not self._known:
            return
        empty = self.names.function(np.empty)
        yield "def workspace():"
        yield f"    memory = {empty}({self.size + ALIGNED}, 'u1')"
        yield f"    memory = memory[-memory.__array_interface__['data'][0] % {ALIGNED} :]"
        if self._table:
            arrays = self.names.object(functools.partial(arrays_in, self._table), "arrays")
            yield f"    [{', '.join(self._arrays.values())}] = {arrays}(memory)"
        yield from (f"    {name} = {expression}" for expression, name in self._made.items())
        yield f"    return [{', '.join(self.all)}]"
        yield ""
        yield "idle = []"
        yield ""

    def taken(self) -> Iterator[str]:
        """Write what a replay begins with."""
        if not self._known:
            return
        yield "try:"
        yield "    work = idle.pop()"
        yield "except IndexError:"
        yield "    work = workspace()"
        yield f"[{', '.join(self.all)}] = work"

    def returned(self) -> Iterator[str]:
        """Write what a replay ends with."""
        if self._known:
            yield "idle.append(work)"


def arrays_in(table: Sequence[tuple[Any, ...]], memory: Any) -> list[Any]:
    """Make arrays in a piece of memory, each of a shape, a dtype, an offset and strides."""
    return [
        np.ndarray(shape, dtype, memory, offset, strides) for shape, dtype, offset, strides in table
    ]


class BlockedLoop:
    """What one part goes through.

    Parameters
    ----------
    writer : Writer
    run : Run

    Attributes
    ----------
    passed : dict of str to (str, str)
        The parameters of the function, with the argument for a part and the one for the last part,
        which may be shorter.
    """

    def __init__(self, writer: Any, run: Run) -> None:
        self.writer, self.run = writer, run
        self.rest = run.size % run.part
        self.passed: dict[str, tuple[str, str]] = {}
        self.before: list[str] = []
        self.flats: list[str] = []

    def line(self, call: Call) -> str:
        """Write a call on parts."""
        for value in call.operands:
            self.take(value)
        out = call.outputs[0]
        block, writer = self.writer.plan.blocks[out], self.writer
        if block.size != size_of(out):
            self.take_part(out, block.offset)
        elif not writer.has_place(out):
            self.make(out)
        self.take(out)
        (text,) = with_out(writer.arguments, call, writer.of[out])
        return text

    def take(self, value: Value) -> None:
        """Pass an operand to the function."""
        name = self.writer.of[value]
        if name in self.passed:
            return
        if value.dtype is None or not value.shape:
            self.passed[name] = name, name
        elif is_one_element(value):
            one = name if value.shape == (1,) else f"{name}[{', '.join([':1'] * len(value.shape))}]"
            one = one if len(value.shape) == 1 else f"{one}.reshape(1)"
            self.passed[name] = one, one
        else:
            flat = name if len(value.shape) == 1 else self.flat(name, value)
            self.passed[name] = f"{flat}[part]", f"{flat}[{self.run.size - self.rest}:]"

    def flat(self, name: str, value: Value) -> str:
        """Write an array with one axis."""
        expression = f"{name}.reshape(-1)" if is_c(value) else f"{name}.T.reshape(-1)"
        if self.writer.workspace.has(name):
            flat: str = self.writer.workspace.view(expression)
            return flat
        flat = self.writer.names.new(f"{name}_flat")
        self.before.append(f"{flat} = {expression}")
        self.flats.append(flat)
        return flat

    def take_part(self, out: Value, offset: int) -> None:
        """Pass memory for a part of what is used in the run only."""
        workspace = self.writer.workspace
        part = Value(np.ndarray, (self.run.part,), out.dtype, (np.dtype(out.dtype).itemsize,))
        name = self.writer.of[out] = workspace.array(part, offset)
        last = workspace.view(f"{name}[:{self.rest}]") if self.rest else name
        self.passed[name] = name, last

    def make(self, out: Value) -> None:
        """Make an array that the caller gets."""
        names = self.writer.names
        name = self.writer.of[out] = names.value()
        self.writer.owned.add(out)
        self.before.append(f"{name} = {new(names, out)}")

    def calls(self, name: str) -> list[str]:
        """Write the calls of the function."""
        end, part = self.run.size - self.rest, self.run.part
        arguments = ", ".join(each for each, _ in self.passed.values())
        lines = [
            *self.before,
            f"for start in range(0, {end}, {part}):",
            f"    part = slice(start, start + {part})",
            f"    {name}({arguments})",
        ]
        if self.rest:
            lines.append(f"{name}({', '.join(last for _, last in self.passed.values())})")
        if self.flats:
            lines.append(f"del {', '.join(self.flats)}")
        return lines


class Writer:
    """What writes a plan.

    Parameters
    ----------
    plan : Plan
    readable : bool
        Whether people are to read it: with the function's own name, and with shapes; a guard is
        an error then, and the result has the structure of the function's.
    otherwise : callable, optional
        What goes on where a native call gives another number than 0.
    guards : mapping of Guard to int, optional
        Their numbers, if there are others than those in the plan.

    Attributes
    ----------
    names : Names
        After writing, with the objects that the text refers to.
    title : str
        What the function is called.
    """

    def __init__(
        self,
        plan: Plan,
        readable: bool = False,
        otherwise: Any = None,
        guards: Mapping[Guard, int] | None = None,
    ) -> None:
        self.plan, self.names, self.readable = plan, Names(), readable
        self.otherwise, every = otherwise, plan.program.guards
        self.guards = {each: k for k, each in enumerate(every)} if guards is None else guards
        own = re.sub(r"\W+", "_", plan.program.name.rpartition(".")[2]).strip("_")
        self.title = self.names.new(own or "function") if readable else "replay"
        self.of: dict[Value, str] = {}
        self.arguments = Arguments(self.names, self.of, readable)
        self.workspace = Workspace(self.names, plan.workspace, readable)
        self.owned: set[Value] = set()
        self.functions: list[str] = []
        self.heavy: list[str] = []

    def lines(self) -> list[str]:
        """Write it, line by line."""
        program = self.plan.program
        for value in program.inputs:
            self.of[value] = self.names.new(value.name or "x")
        for constant in program.constants:
            self.of[constant.value] = self.names.object(constant.data, "constant")
        body = list(self.body())
        leaves = tuple(program.outputs)
        end = f"return {self.arguments.one(program.output if self.readable else leaves)}"
        return [
            *self.workspace.lines(),
            *self.functions,
            *self.head(),
            *(f"    {line}" for line in self.workspace.taken()),
            *body,
            *(f"    {line}" for line in self.workspace.returned()),
            f"    {end}",
        ]

    def head(self) -> Iterator[str]:
        """Write the name and the arguments."""
        inputs = [(self.of[value], value) for value in self.plan.program.inputs]
        if not self.readable:
            yield f"def replay({', '.join(name for name, _ in inputs)}):"
            return
        yield f"def {self.title}("
        yield from (f"    {name},  # {value}" for name, value in inputs)
        yield "):"

    def body(self) -> Iterator[str]:
        """Write the steps, neighbours that ran in the same `numpy.errstate` in one block."""
        errors: Mapping[str, Any] | None = None
        indent = "    "
        skipped = 0
        for number, step in enumerate(self.plan.steps):
            if number < skipped:
                continue
            run = self.plan.runs.get(number)
            if run is not None:
                errors, indent, skipped = None, "    ", run.stop
                yield from (indent + line for line in self.run(run))
                yield from self.dropped(indent)
            elif type(step) is Guard:
                yield from (indent + line for line in self.guard(step, self.guards[step]))
                self.forget(number)
            elif type(step) is Call and isinstance(step.function, Segment):
                errors, indent = None, "    "
                yield from (indent + line for line in self.native(step, number))
            elif type(step) is Call:
                lines = list(self.call(step, number))
                if lines and step.errors != errors and not is_view(step):
                    errors = step.errors
                    indent = "        " if errors else "    "
                    if errors:
                        yield f"    with {self.errstate(errors)}:"
                if self.readable and lines:
                    lines[-1] += f"  # {', '.join(map(str, step.outputs))}"
                yield from (indent + line for line in lines)
                yield from self.dropped(indent)

    def dropped(self, indent: str) -> Iterator[str]:
        """Write that large arrays go, which else would go when their names are used again."""
        if self.heavy:
            names = [name for name in dict.fromkeys(self.heavy) if self.names.is_free(name)]
            self.heavy.clear()
            if names:
                yield f"{indent}del {', '.join(names)}"

    def run(self, run: Run) -> list[str]:
        """Write a run as a function of parts, and the loop that calls it."""
        steps = [step for step in self.plan.steps[run.start : run.stop] if type(step) is Call]
        loop = BlockedLoop(self, run)
        errors: Mapping[str, Any] | None = None
        body: list[str] = []
        for step in steps:
            if step.errors != errors:
                errors = step.errors
                if errors:
                    body.append(f"    with {self.errstate(errors)}:")
            text = loop.line(step)
            shape = f"  # {step.outputs[0]}" if self.readable else ""
            body.append(("        " if errors else "    ") + text + shape)
        for number in range(run.start, run.stop):
            self.forget(number)
        name = self.names.new("run")
        self.functions += [f"def {name}({', '.join(loop.passed)}):", *body, ""]
        return loop.calls(name)

    def errstate(self, errors: Mapping[str, Any]) -> str:
        """Write a `numpy.errstate`."""
        return f"{self.names.function(np.errstate)}({self.arguments.all((), errors)})"

    def guard(self, guard: Guard, number: int) -> Iterator[str]:
        """Write the comparison of a guard with the answer that is expected."""
        question = self.names.function(guard.question)
        yield f"answer = {question}({self.of[guard.value]})"
        answer = self.arguments.one(guard.answer)
        yield f"if answer != {answer}:"
        if self.readable:
            text = f"captured where {guard.line} got {guard.answer!r}, not "
            yield f"    raise ValueError({text!r} + repr(answer))"
            return
        yield from (f"    {line}" for line in self.workspace.returned())
        yield f"    return Diverged({number}, answer)"

    def call(self, call: Call, number: int) -> list[str]:
        """Write a call, and name what it gives."""
        out = call.outputs[0] if call.outputs else None
        block = None if out is None else self.plan.blocks.get(out)
        if out is not None and block is not None:
            return self.placed(call, out, number)
        shown = None if out is None else self.shown(call, out)
        if out is not None and shown is not None:
            self.of[out] = shown
            self.forget(number)
            return []
        text = self.expression(call)
        self.forget(number)
        outs = [self.name(value) for value in call.outputs]
        if call.several:
            return [f"{', '.join(outs)}{',' * (len(outs) == 1)} = {text}"]
        return [f"{outs[0]} = {text}"]

    def native(self, call: Call, number: int) -> Iterator[str]:
        """Write a call of the virtual machine, and make the arrays that it writes to."""
        segment: Any = call.function
        for out in call.outputs:
            if out not in self.plan.blocks or not self.has_place(out):
                name = self.of[out] = self.names.value()
                self.owned.add(out)
                yield f"{name} = {new(self.names, out)}"
        self.names.object(segment, "segment")  # whose loops go with it
        run, table = self.names.function(segment.run), self.names.object(segment.table, "table")
        arrays = ", ".join(self.of[value] for value in (*call.outputs, *call.args))
        if segment.foreign:
            layouts = self.names.object(segment.layouts, "layouts")
            given = ", ".join(self.of[value] for value in segment.foreign)
            run = f"{self.names.function(segment.fits)}({layouts}, {given}) or {run}"
        if not segment.checks and not segment.foreign:
            yield f"{run}({table}, {arrays})"
        else:
            inputs = ", ".join(self.of[value] for value in self.plan.program.inputs)
            yield f"number = {run}({table}, {arrays})"
            yield "if number:"
            yield from (f"    {line}" for line in self.workspace.returned())
            yield f"    return {self.names.object(self.otherwise, 'otherwise')}(number, {inputs})"
        self.forget(number)
        self.leave(out for out in call.outputs if out not in self.plan.used)

    def has_place(self, out: Value) -> bool:
        """Name what a result is written to, in the workspace or an operand, if there is such."""
        block, onto = self.plan.blocks[out], self.plan.onto.get(out)
        if not block.given:
            self.of[out] = self.workspace.array(out, block.offset)
        elif onto is not None:
            self.of[out] = self.of[onto]
            self.owned.discard(onto)
            self.owned.add(out)
        return not block.given or onto is not None

    def placed(self, call: Call, out: Value, number: int) -> list[str]:
        """Write a call whose result has a place, or an array of its own."""
        if self.has_place(out):
            lines = with_out(self.arguments, call, self.of[out])
            self.forget(number)
            return lines
        fresh = FRESH.get(call.function) if hashable(call.function) else None
        if fresh is not None:
            name = self.names.value()
            lines = fresh(self.arguments, call, name) or [f"{name} = {self.expression(call)}"]
            self.forget(number)
            self.of[out] = name
            self.owned.add(out)
            return lines
        text = self.expression(call)
        self.forget(number)
        return [f"{self.name(out)} = {text}"]

    def shown(self, call: Call, out: Value) -> str | None:
        """Name a view of the workspace, which is made with that, not at each replay."""
        if not is_view(call) or out.owner is None:
            return None
        block = self.plan.blocks.get(root_of(out))
        source = call.args[0]
        if block is None or block.given or type(source) is not Value or source is out:
            return None
        if values_in((call.args[1:], call.kwargs)) or not self.workspace.has(self.of[source]):
            return None
        return self.workspace.view(self.expression(call))

    def expression(self, call: Call) -> str:
        """Write what a call computes."""
        special = expression_of(call.function) if hashable(call.function) else None
        text = None if special is None else special(self.arguments, call)
        if call.function is viewed:
            text = self.window(call)
        if text is None:
            function = self.names.function(call.function)
            plain = type(call.function) is np.ufunc and not call.kwargs
            words = numbers_as_arrays if plain else spelled
            text = f"{function}({words(self.arguments, call)})"
        return text

    def window(self, call: Call) -> str | None:
        """Write what is seen through a window."""
        base, window = (*call.args, call.kwargs.get("window"))[:2]
        if type(base) is not Value or not is_c(base) or not window.writeable:
            return None
        return seen(self.arguments, window, self.of[base])

    def name(self, value: Value) -> str:
        """Name what a call gives."""
        if value not in self.plan.used:
            return "_"
        name = self.of[value] = self.names.value()
        self.owned.add(value)
        return name

    def forget(self, number: int) -> None:
        """Let others have the names of what is not needed behind a step."""
        self.leave(self.plan.last_uses[number])

    def leave(self, values: Iterable[Value]) -> None:
        """Let others have the names of values."""
        for value in values:
            if value in self.owned:
                name = self.of.pop(value)
                self.names.free(name)
                if size_of(root_of(value)) >= HEAVY:
                    self.heavy.append(name)


def new(names: Names, out: Value) -> str:
    """Write the making of an array in which nothing is yet."""
    dtype = names.dtype(np.dtype(out.dtype))
    if is_c(out):
        return f"{names.function(np.empty)}({out.shape}, {dtype})"
    return f"{names.function(np.ndarray)}({out.shape}, {dtype}, None, 0, {out.strides})"


def spelled(arguments: Arguments, call: Call) -> str:
    """Write a call's arguments as they are."""
    return arguments.all(call.args, call.kwargs)


def hashable(function: Any) -> bool:
    """Tell whether a function can be looked up in a table."""
    return type(function).__hash__ is not None


def replay_of(
    plan: Plan,
    otherwise: Callable[..., Any] | None = None,
    guards: Mapping[Guard, int] | None = None,
) -> Any:
    """Make a plan something to call.

    Parameters
    ----------
    plan : Plan
    otherwise : callable, optional
        ``otherwise(number, *inputs)`` is called where a native call gives another number than 0.
    guards : mapping of Guard to int, optional
        Their numbers, if there are others than those in the plan.

    Returns
    -------
    callable
        ``replay(*inputs)``: a tuple of outputs, or Diverged. It may run in several threads. Its
        `nbytes` is the plan's.
    """
    if storage.verifier is not None:
        storage.verifier.verify_plan(plan)
    writer = Writer(plan, otherwise=otherwise, guards=guards)
    text = "\n".join(writer.lines())
    namespace: dict[str, Any] = {"Diverged": Diverged, **writer.names.bound}
    # A module's own names are as quick as local ones, once Python has run a line twice
    exec(compile(text, f"<replay of {plan.program.name}>", "exec"), namespace)  # noqa: S102  # our text
    replay: Any = namespace.pop("replay")  # no cycle of it and its names
    replay.nbytes = plan.nbytes
    return replay


def by_numpy(program: Program, threads: int = 1) -> Any:
    """Make a program something to call, of calls of NumPy alone; that has threads of its own."""
    return replay_of(Plan.of(program))
