"""The calls that the examples in a docstring make of what they document."""

import ast
import builtins
import contextlib
import copy
import doctest
import io
import operator
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import define, field, frozen

__all__ = [
    "OPERATORS",
    "Listener",
    "Step",
    "Unit",
    "calls_of",
    "described",
    "in_time",
    "is_numeric",
    "replayed",
    "run",
]

SECONDS_PER_EXAMPLE = 4
CALLS_PER_NAME = 4

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "MatMult": operator.matmul,
    "Div": operator.truediv,
}


@frozen(eq=False)
class Step:
    """One call: of a thing itself, of a method of it, an attribute, or an operator beside it.

    Attributes
    ----------
    what : str
        "" for a call of the thing, a method's name, an attribute's after a dot, ``"Mult"``, or
        ``"reflected Mult"``.
    args : tuple
    kwargs : dict
    """

    what: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@frozen(eq=False)
class Unit:
    """A call of the examples, with those that made what it is a call of.

    Attributes
    ----------
    name : str
        The public name that the first step starts from: ``"scipy.stats.norm"``.
    number : int
        Its place among the calls of that name.
    steps : tuple of Step
    """

    name: str
    number: int
    steps: tuple[Step, ...]


class TooSlow(Exception):  # noqa: N818 - it is no error of what is called
    """A call took longer than there is time for."""


@contextlib.contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Stop what is run in this context when its time is over.

    Raises
    ------
    TooSlow
    """

    def stop(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Hooks(ast.NodeTransformer):
    """Lead every call, every binary operator and every attribute through a function."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        arguments = [node.value, ast.Constant(node.attr)]
        return ast.copy_location(
            ast.Call(ast.Name("__attribute__", ast.Load()), arguments, []), node
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Attribute):  # of a method, which is asked for as it is
            node.func.value = self.visit(node.func.value)
        else:
            node.func = self.visit(node.func)
        node.args = [self.visit(each) for each in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return ast.copy_location(
            ast.Call(ast.Name("__call__", ast.Load()), [node.func, *node.args], node.keywords), node
        )

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        kind = type(node.op).__name__
        if kind not in OPERATORS:
            return node
        return ast.copy_location(
            ast.Call(
                ast.Name("__operate__", ast.Load()),
                [ast.Constant(kind), node.left, node.right],
                [],
            ),
            node,
        )


@define(eq=False)
class Listener:
    """Keeps the calls of one thing, and of whatever those calls give.

    Attributes
    ----------
    thing : any
        The documented function, class or instance.
    found : list of tuple of Step
    """

    thing: Any
    found: list[tuple[Step, ...]] = field(factory=list)
    histories: dict[int, tuple[Any, tuple[Step, ...]]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.histories[id(self.thing)] = self.thing, ()

    def attribute(self, owner: Any, name: str) -> Any:
        return getattr(owner, name)

    def known(self, thing: Any) -> bool:
        return id(thing) in self.histories

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        owner, what = function, ""
        if not self.known(owner):
            owner, what = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if owner is None or not self.known(owner):
            return function(*args, **kwargs)
        return self.heard(owner, what, lambda: function(*args, **kwargs), args, kwargs)

    def operate(self, kind: str, left: Any, right: Any) -> Any:
        def operate() -> Any:
            return OPERATORS[kind](left, right)

        if self.known(left):
            return self.heard(left, kind, operate, (right,), {})
        if self.known(right):
            return self.heard(right, f"reflected {kind}", operate, (left,), {})
        return operate()

    def heard(self, owner: Any, what: str, call: Callable[[], Any], args: Any, kwargs: Any) -> Any:
        """Run a call, and keep it with what it was given, as that was before."""
        try:
            step = Step(what, *copy.deepcopy((args, kwargs)))
        except Exception:
            return call()
        steps = (*self.histories[id(owner)][1], step)
        result = call()
        self.found.append(steps)
        if owner is not self.thing and (result is owner or result is None or what[:3] == "fit"):
            self.histories[id(owner)] = owner, steps
        elif not is_numeric(result) and id(result) not in self.histories:
            self.histories[id(result)] = result, steps
        return result


def is_numeric(result: Any) -> bool:
    """Tell what is plain data from an object that has methods to be called."""
    return isinstance(result, (np.ndarray, np.generic, int, float, complex, str, tuple, list, dict))


def calls_of(name: str, thing: Any) -> list[Unit]:
    """Run the examples of a docstring, and give the different calls that they make of `thing`."""
    text = getattr(thing, "__doc__", None) or ""
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return []
    listener = Listener(thing)
    space = {
        "__name__": "__main__",
        "np": np,
        "__call__": listener.call,
        "__operate__": listener.operate,
        "__attribute__": listener.attribute,
    }
    np.random.seed(0)  # noqa: NPY002 - what the examples of SciPy draw from
    for example in examples:
        run(example.source, space)
    different: dict[str, tuple[Step, ...]] = {}
    for steps in listener.found:
        different.setdefault("|".join(map(described, steps)), steps)
    return [
        Unit(name, number, steps)
        for number, steps in enumerate(list(different.values())[:CALLS_PER_NAME])
    ]


def run(source: str, space: dict[str, Any]) -> None:
    """Run one example; what fails (for a file that is not there, or on purpose) is left."""
    with contextlib.suppress(Exception, TooSlow):
        tree = ast.fix_missing_locations(Hooks().visit(ast.parse(source)))
        with (
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
            in_time(SECONDS_PER_EXAMPLE),
        ):
            warnings.simplefilter("ignore")
            builtins.exec(compile(tree, "<example>", "exec"), space)  # noqa: S102 - that is the aim


def described(step: Step) -> str:
    """Say what a step is, but for the values of its arrays."""

    def of(value: Any) -> str:
        if isinstance(value, np.ndarray):
            return f"{value.dtype.kind}{value.ndim}"
        if isinstance(value, (list, tuple)) and len(value) < 20:
            return f"{type(value).__name__}({','.join(map(of, value))})"
        if isinstance(value, float):
            return "float"
        return repr(value)[:60] if isinstance(value, (str, int, bool)) else type(value).__name__

    named = (f"{name}={of(value)}" for name, value in step.kwargs.items())
    return f"{step.what}({','.join([*map(of, step.args), *named])})"


def replayed(thing: Any, steps: tuple[Step, ...]) -> Any:
    """Do a unit's steps again, from a thing on."""
    if hasattr(type(thing), "replay"):
        return thing.replay(steps)
    for step in steps:
        kind = step.what.removeprefix("reflected ")
        if kind in OPERATORS:
            pair = (thing, *step.args) if kind == step.what else (*step.args, thing)
            thing = OPERATORS[kind](*pair)
            continue
        if step.what.startswith("."):
            thing = getattr(thing, step.what[1:])
            continue
        function = getattr(thing, step.what) if step.what else thing
        result = function(*step.args, **step.kwargs)
        thing = thing if result is None else result
    return thing
