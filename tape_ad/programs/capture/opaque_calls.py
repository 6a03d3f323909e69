"""Functions of the user's that may be anything: those with rules of their own, and the rules."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.arrays.interpreter import is_box
from tape_ad.base.arrays.overridable import apart
from tape_ad.base.errors import CaptureError, ProgramMismatchError
from tape_ad.base.trees import content_of, flatten, map_leaves, unflatten, with_paths
from tape_ad.programs.capture.comparison import Comparison, alike_functions, same_numbers
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.capture.generators import TracedGenerator
from tape_ad.programs.capture.op_facts import is_number_or_array
from tape_ad.programs.capture.tracers import concrete, is_tracer
from tape_ad.programs.program import Guard
from tape_ad.record.messages.callers import caller
from tape_ad.record.primals import read_only
from tape_ad.record.watching import few_bytes
from tape_ad.rules.maps.memory import writeable_copy

Function = Callable[..., Any]


@define(eq=False, repr=False)
class OpaqueFunction:
    """A function that is called at each replay as it is, for it is not made of NumPy calls.

    Attributes
    ----------
    function : callable
    shielded : int
        How many of its first arguments it may not write to.
    written : list of int
        Which leaves of its arguments it has written to. In a replay it is given copies of these,
        as they may stand for arrays that are still to be read, and gives what it has made of them.
    form : list
        What it has returned, leaf by leaf: shapes and types, and what is neither array nor number.
    """

    is_opaque: ClassVar[bool] = True
    function: Function
    shielded: int
    written: list[int] = field(factory=list, init=False)
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
        if kinds_of(leaves) != self.form:
            raise ProgramMismatchError(
                f"{self.__name__} gives other types, shapes or texts than when it was captured"
            )
        return tuple(filter(is_number_or_array, leaves))

    def output(self, args: Any, kwargs: Any) -> Any:
        """Call the user's function on plain arrays."""
        leaves = flatten((args, kwargs)) if self.written else []
        for place in self.written:
            leaves[place] = leaves[place].copy("K")
        if leaves:
            args, kwargs = unflatten((args, kwargs), leaves)
        first = map_leaves(as_shielded, args[: self.shielded])
        out = self.function(*first, *args[self.shielded :], **kwargs)
        return (out, [leaves[place] for place in self.written]) if leaves else out

    @property
    def __name__(self) -> str:
        """The function's name, for listings and errors."""
        return str(getattr(self.function, "__name__", "opaque"))

    def is_like(self, other: Any) -> bool:
        """Tell whether another one is the same function, captured once more."""
        return isinstance(other, OpaqueFunction) and self.function is other.function


def call_opaque(
    capture: Any, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], shielded: int
) -> Any:
    """Call a function that may be made of anything, with captured arrays among its arguments.

    What is made of NumPy calls alone is noted call by call, and can be simplified. What asks for
    values (a solver, a library in C, a loop until something is small) is noted as one call.
    """
    given = flatten((args, kwargs))
    goes_through = any(hasattr(x, "record") or type(x) is TracedGenerator for x in given)
    if goes_through or not any(map(is_tracer, given)):
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
    tracers, given, steps = given, map_leaves(concrete, (args, kwargs)), len(capture.steps)
    arrays = flatten(given)
    before = [
        few_bytes(x) if is_tracer(own) and type(x) is np.ndarray else None
        for own, x in zip(tracers, arrays, strict=True)
    ]
    try:
        with apart():  # what it records and differentiates itself is its own affair at each replay
            out = opaque.output(*given)
    except Exception as error:
        if len(capture.steps) > steps:
            return function(*args, **kwargs)
        _, noted = capture.unwrap((args, kwargs))
        capture.note_failure(opaque, *noted, error)
        raise
    written = [
        i for i, noted in enumerate(before) if noted is not None and few_bytes(arrays[i]) != noted
    ]
    if written and shielded:
        raise capture.refusal(
            f"a derivative, {opaque.__name__}, writes to what it is given ({caller()}), which "
            "others read as well; let it copy that first, x = x.copy()"
        )
    if written:
        opaque.written = written
        out = out, [arrays[place].copy("K") for place in written]
    leaves = flatten(out)
    if len(capture.steps) > steps or any(map(is_tracer, leaves)):  # it has found one elsewhere
        return function(*args, **kwargs)
    opaque.form = kinds_of(leaves)
    opaque._computed.append(filter(is_number_or_array, leaves))
    noted = iter(capture.call(opaque, args, kwargs))
    result = unflatten(out, [next(noted) if is_number_or_array(leaf) else leaf for leaf in leaves])
    if written:
        result, changed = result
        for place, each in zip(written, changed, strict=True):
            tracers[place][...] = each
    return result


def is_opaque(function: Function) -> bool:
    """Tell whether a function of a program is called as it is, and may do anything."""
    return bool(getattr(function, "is_opaque", False))


# Calls with functions among their arguments, and all that those hold; see `transforms.opaque`


@frozen
class Form:
    """What a replay relies on in what a call gives: all but numbers.

    Attributes
    ----------
    leaves : tuple
        To each path the type, with shape, dtype and strides, or what is neither array nor number.
    """

    leaves: tuple[Any, ...]

    @classmethod
    def of(cls, tree: Any) -> "Form":
        """Describe what a call gives."""
        return cls(tuple([(path, *described(leaf)) for path, leaf in with_paths(tree)]))

    def __repr__(self) -> str:
        return f"{len(self.leaves)} leaves"


def described(leaf: Any) -> tuple[Any, ...]:
    """Describe a leaf of what a call gives."""
    if isinstance(leaf, np.ndarray):
        return np.ndarray, leaf.shape, leaf.dtype, leaf.strides
    if is_number_or_array(leaf):
        return (type(leaf),)
    return type(leaf), leaf if isinstance(leaf, (str, bytes, type(None))) else None


def form_behind(token: Any) -> Form:
    """Give the form that an array without axes holds."""
    form: Form = token[()]
    return form


class ApartFunction:
    """A function that is called at each replay as it is, whatever it gives.

    It is no class of attrs, as it is a leaf among the arguments of calls.

    Attributes
    ----------
    function : callable
        Of arrays. It has a `key`, which says whether it is the same as at an earlier capture.
    """

    is_opaque: ClassVar[bool] = True

    def __init__(self, function: Any) -> None:
        self.function = function
        self._computed: list[Any] = []

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, *arrays: Any, **statics: Any) -> list[Any]:
        """Give the form of what the function gives, and the arrays and numbers in it."""
        if self._computed:  # while it is noted, which computes nothing twice
            tree = self._computed.pop()
        else:
            with apart():
                tree = self.function(*map(copied, arrays))
        if self.rounds:  # a sweep gives the same numbers in layouts that go by the values
            tree = map_leaves(in_order, tree)
        token = np.empty((), object)
        token[()] = Form.of(tree)
        return [token, *map(copied, filter(is_number_or_array, flatten(tree)))]

    def is_like(self, other: Any) -> bool:
        """Tell whether another one is the same function, captured once more."""
        same = isinstance(other, ApartFunction)
        return same and alike_keys(self.function.key, other.function.key)

    @property
    def rounds(self) -> bool:
        """Whether it may give other bits than the function that is compiled."""
        return bool(self.function.rounds)

    @property
    def __name__(self) -> str:
        """The function's name, for listings and errors."""
        return str(self.function.__name__)


def alike_keys(one: Any, two: Any) -> bool:
    """Tell whether two descriptions are alike, in which functions may be."""
    if isinstance(one, (tuple, list)):
        same = type(one) is type(two) and len(one) == len(two)
        return same and all(map(alike_keys, one, two))
    return alike_functions(one, two) if callable(one) else bool(one == two)


def copied(leaf: Any) -> Any:
    """Copy an array, in its layout: nobody else is to see what is written to it."""
    if type(leaf) is not np.ndarray or leaf.dtype.hasobject:
        return leaf
    return writeable_copy(leaf)


def in_order(leaf: Any, path: str) -> Any:
    """Lay an array out in C order."""
    return np.ascontiguousarray(leaf).reshape(leaf.shape) if type(leaf) is np.ndarray else leaf


class Unreplayed:
    """What stands for an object that is no array, and that a replay does not give."""

    def __init__(self, capture: Any, kind: str, path: str) -> None:
        self.__dict__["_told"] = capture, kind, path

    def __getattr__(self, name: str) -> Any:
        capture, kind, path = self.__dict__["_told"]
        raise capture.refusal(
            f"{path.lstrip('.')} of what a solver gives is a {kind}, which is not made again by a "
            f"replay; use what else it gives, or call the solver outside ({caller()})"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse to be called."""
        return self.__getattr__("__call__")


KNOWN = (str, bytes, type(None), type, np.dtype)


def call_apart(capture: Any, function: Any, arrays: Sequence[Any]) -> Any:
    """Note the call of a function of arrays that may be anything, as one.

    Parameters
    ----------
    capture : Capture
    function : callable
        It has a `key`, which says what it is, and `statics`, which are to be the same at the next
        capture.
    arrays : sequence
        What is captured, and plain arrays.

    Returns
    -------
    tree
        What the function gives, with captured arrays and numbers.

    Raises
    ------
    CaptureError
    """
    given = list(map(concrete, arrays))
    copies, steps = list(map(copied, given)), len(capture.steps)
    statics, noted = capture.unwrap(list(function.statics))
    del statics
    apart_function = ApartFunction(function)
    try:
        with apart():
            tree = function(*copies)
    except CaptureError as error:
        raise capture.refusal(f"{error} ({caller()})") from None
    except Exception as error:
        _, noted_args = capture.unwrap(tuple(arrays))
        capture.note_failure(apart_function, noted_args, {"statics": noted}, error)
        raise
    name = function.__name__
    if len(capture.steps) > steps or any(map(is_box, flatten(tree))):
        raise capture.refusal(
            f"what is given to {name} ({caller()}) reads an array of the function that is compiled "
            "from where nobody sees it, such as a global variable; pass it by args="
        )
    for one, other in zip(given, copies, strict=True):
        if type(one) is np.ndarray and not one.dtype.hasobject and not same_numbers(one, other):
            raise capture.refusal(f"what is given to {name} ({caller()}) writes to its arguments")
    apart_function._computed.append(tree)
    token, *leaves = capture.call(apart_function, tuple(arrays), {"statics": function.statics})
    capture.ask(form_behind, token)
    following = iter(leaves)

    def put(leaf: Any, path: str) -> Any:
        if is_number_or_array(leaf):
            return next(following)
        known = isinstance(leaf, KNOWN) or leaf is Ellipsis
        return leaf if known else Unreplayed(capture, type(leaf).__name__, path)

    return map_leaves(put, tree)


def is_in_numpy(
    capture: Any, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Try whether a function can be captured without a question about values."""
    trial = type(capture)(capture.name, Comparison([]), Constants(capture.name, ()))
    failure = capture._failure
    inputs = map_leaves(
        lambda leaf, path: trial.input(leaf.data, "x") if is_tracer(leaf) else leaf, (args, kwargs)
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
    held += [content_of(cell, None) for cell in getattr(function, "__closure__", None) or ()]
    for leaf in flatten(held):
        if is_tracer(leaf):
            return True
        if callable(leaf) and closes_over_tracer(leaf, (*seen, function)):
            return True
    return False


def kinds_of(leaves: list[Any]) -> list[Any]:
    """Describe what a replay relies on in what a function returns, by types, shapes and texts."""
    return [described(leaf)[:3] for leaf in leaves]  # layouts may go by values


def as_shielded(leaf: Any, path: str) -> Any:
    """View an array without the right to write."""
    return read_only(leaf) if isinstance(leaf, np.ndarray) else leaf
