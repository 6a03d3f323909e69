"""Functions of the user's that may be anything: those with rules of their own, and the rules."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.overridable import apart
from tape_ad.base.errors import ProgramMismatchError
from tape_ad.base.trees import flatten, map_leaves, unflatten
from tape_ad.programs.capture.comparison import Comparison
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.capture.tracers import NUMBERS, is_tracer, plain
from tape_ad.programs.program import Guard
from tape_ad.record.primals import read_only

Function = Callable[..., Any]


@define(eq=False, repr=False)
class OpaqueFunction:
    """A function that is called at each replay as it is, for it is not made of NumPy calls.

    Attributes
    ----------
    function : callable
    shielded : int
        How many of its first arguments it may not write to.
    form : list
        What it has returned, leaf by leaf: shapes and types, and what is neither array nor number.
    """

    function: Function
    shielded: int
    form: list[Any] = field(factory=list)
    _computed: list[Any] = field(factory=list)

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Give the arrays and numbers in what the function returns.

        Raises
        ------
        ProgramMismatchError
            In a replay, when that is of another structure than when it was captured, on which all
            that follows relies. The call is captured anew then.
        """
        if self._computed:  # while it is noted, which computes nothing twice
            return tuple(self._computed.pop())
        leaves = flatten(self.output(args, kwargs))
        if form_of(leaves) != self.form:
            raise ProgramMismatchError(
                f"{self.__name__} gives other types, shapes or texts than when it was captured"
            )
        return tuple(filter(varies, leaves))

    def output(self, args: Any, kwargs: Any) -> Any:
        """Call the user's function on plain arrays."""
        first = map_leaves(as_shielded, args[: self.shielded])
        return self.function(*first, *args[self.shielded :], **kwargs)

    @property
    def __name__(self) -> str:
        """The function's name, for listings and errors."""
        return str(getattr(self.function, "__name__", "opaque"))

    @property
    def __code__(self) -> Any:
        """What a later capture tells by that it is the same function: the function."""
        return self.function


def call_opaque(
    capture: Any, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], shielded: int
) -> Any:
    """Call a function that may be made of anything, with captured arrays among its arguments.

    What is made of NumPy calls alone is noted call by call, and can be simplified. What asks for
    values (a solver, a library in C, a loop until something is small) is noted as one call.
    """
    given = flatten((args, kwargs))
    if any(hasattr(leaf, "record") for leaf in given) or not any(map(is_tracer, given)):
        return function(*args, **kwargs)
    if closes_over_tracer(function):
        return function(*args, **kwargs)
    known = capture.in_numpy.get(id(function))
    if known is None:
        found = is_in_numpy(capture, function, args, kwargs)
        known = capture.in_numpy[id(function)] = found, function  # whose id is not given again
    if known[0]:
        return function(*args, **kwargs)
    opaque = OpaqueFunction(function, shielded)
    given, steps = map_leaves(plain, (args, kwargs)), len(capture.steps)
    try:
        with apart():  # what it records and differentiates itself is its own affair at each replay
            out = opaque.output(*given)
    except Exception as error:
        if len(capture.steps) > steps:
            return function(*args, **kwargs)
        _, noted = capture.unwrap((args, kwargs))
        capture.note_failure(opaque, *noted, error)
        raise
    leaves = flatten(out)
    if len(capture.steps) > steps or any(map(is_tracer, leaves)):  # it has found one elsewhere
        return function(*args, **kwargs)
    opaque.form = form_of(leaves)
    opaque._computed.append(filter(varies, leaves))
    noted = iter(capture.call(opaque, args, kwargs))
    return unflatten(out, [next(noted) if varies(leaf) else leaf for leaf in leaves])


def is_in_numpy(
    capture: Any, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Try whether a function can be captured without a question about values."""
    trial = type(capture)(capture.name, Comparison([]), Constants(capture.name, ()))
    failure = capture._failure
    inputs = map_leaves(
        lambda leaf, path: trial.input(leaf.data, "x") if is_tracer(leaf) else leaf,
        (args, kwargs),
    )
    try:
        trial.run(function, *inputs)
        trial.program(None)
    except Exception:  # which it raises again where it is not on trial
        return False
    finally:
        capture._failure = failure
    return not any(isinstance(step, Guard) for step in trial.steps)


def closes_over_tracer(function: Function, seen: tuple[Any, ...] = ()) -> bool:
    """Tell whether a function has something captured that is not among its arguments.

    It may be in its closure, its defaults or the arguments of a partial function, or in those of
    a function that is there.
    """
    if any(function is each for each in seen):
        return False
    held = [getattr(function, name, None) for name in ("__defaults__", "__func__", "__self__")]
    if isinstance(function, functools.partial):
        held += [function.func, function.args, function.keywords]
    for cell in getattr(function, "__closure__", None) or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # of a variable without a value so far
            continue
    for leaf in flatten(held):
        if is_tracer(leaf):
            return True
        if callable(leaf) and closes_over_tracer(leaf, (*seen, function)):
            return True
    return False


def form_of(leaves: list[Any]) -> list[Any]:
    """Describe what a replay relies on in what a function returns, by types, shapes and texts."""
    return [
        (type(leaf), np.shape(leaf), getattr(leaf, "dtype", None))
        if varies(leaf)
        else (type(leaf), leaf if isinstance(leaf, (str, bytes)) else None)
        for leaf in leaves
    ]


def varies(leaf: Any) -> bool:
    """Tell whether a leaf is an array or a number, which is another at each call."""
    return isinstance(leaf, (np.ndarray, np.generic)) or type(leaf) in NUMBERS


def as_shielded(leaf: Any, path: str) -> Any:
    """View an array without the right to write."""
    return read_only(leaf) if isinstance(leaf, np.ndarray) else leaf
