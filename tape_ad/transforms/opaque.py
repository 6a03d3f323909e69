"""Functions that are one call of a program each: solvers, which go by values.

What they compute is computed by themselves at each replay, on plain arrays and with nothing noted,
and so are their derivatives: a record of the call is kept from the value to the sweep. Where a
derivative is itself differentiated, it is such a function in its turn.
"""

import functools
import hashlib
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from attrs import frozen

from tape_ad.base.arrays.overridable import ACTIVE, is_traced
from tape_ad.base.errors import CaptureError
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, map_leaves, unflatten
from tape_ad.record.primals import primal
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import Array
from tape_ad.transforms.blocks import Use, block
from tape_ad.transforms.opening import Opening
from tape_ad.transforms.tracing import Trace, trace_arrays

Function = Callable[..., Any]
Shape = tuple[int, ...]
F = TypeVar("F", bound=Function)


def opaque(function: F) -> F:
    """Let a function be one call of a program while a capture is going on.

    Parameters
    ----------
    function : callable
        It may go by values, and call anything. Its arguments are trees and functions, which may
        hold arrays in their closures.
    """

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        capture = ACTIVE.get().capture
        if getattr(capture, "call_apart", None) is None:  # nothing is noted
            return function(*args, **kwargs)
        opening = Opening.of((args, kwargs), capture.outside)
        if opening.generator:
            raise capture.refusal(
                f"a generator of random numbers is given to {called(function)}, which draws how "
                "often it likes; call that outside, and pass what it gives as an argument"
            )
        arrays = opening.arrays
        if any(hasattr(primal(x), "batch_here") for x in arrays):  # which are searched for at once
            capture.searches_batches = True
        if not all(is_traced(primal(x)) or type(x) is Tensor for x in arrays) or not any(
            is_traced(primal(x)) for x in arrays
        ):
            return function(*args, **kwargs)
        return noted(Apart(function, opening, capture.searches_batches), arrays)

    return cast("F", public)


def noted(function: Any, arrays: Sequence[Any]) -> Any:
    """Note the call of a function of captured arrays, and of handles that hold such."""
    slots = tuple([i for i, x in enumerate(arrays) if type(x) is Tensor])
    if not slots:
        return ACTIVE.get().capture.call_apart(function, arrays)
    found, rest = block(function, Recorded(function, slots))(*arrays)
    following = iter(found)
    return map_leaves(lambda leaf, path: next(following) if leaf is HANDLE else leaf, rest.tree)


@frozen(eq=False)
class Apart:
    """A call as a function of the arrays in it.

    Attributes
    ----------
    function : callable
    opening : Opening
    rounds : bool
        Whether it may give other digits than without a capture, where a batch is searched for at
        once.
    """

    function: Function
    opening: Opening
    rounds: bool = False

    @property
    def __name__(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", self.function))

    @property
    def key(self) -> Any:
        """What a later capture tells it by."""
        return self.function, self.opening.outline

    @property
    def statics(self) -> list[Any]:
        """What is in the call beside the arrays, and is to be the same at the next capture."""
        return self.opening.statics

    def __call__(self, *arrays: Any) -> Any:
        """Make the call on other arrays.

        Raises
        ------
        CaptureError
            When what it is given changes what it closes over, of which others would not hear.
        """
        (args, kwargs), changed = self.opening.filled(arrays)
        out = self.function(*args, **kwargs)
        if found := changed():
            raise CaptureError(
                f"what is given to {self.__name__} changes {found}, of which the compiled function "
                "would not hear in a replay; let it compute from its arguments alone, or make that "
                "outside of the compiled function"
            )
        return out


@frozen(eq=False)
class Derived:
    """A function made of one that is noted as a whole.

    Attributes
    ----------
    of : any
        That function.
    form : hashable
        What else it depends on.
    """

    rounds: ClassVar[bool] = True
    mode: ClassVar[str]
    of: Any
    form: Any

    @property
    def __name__(self) -> str:
        """The function's name."""
        return f"{self.mode} {self.of.__name__}"

    @property
    def key(self) -> Any:
        """What a later capture tells it by."""
        return type(self), self.form, self.of.key

    @property
    def statics(self) -> list[Any]:
        """What is in the call beside the arrays, and is to be the same at the next capture."""
        found: list[Any] = self.of.statics
        return found


class Hidden:
    """What goes as one leaf through those that look for arrays in trees."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree


DESCRIPTION: ContextVar[Function | None] = ContextVar("tape_ad_description", default=None)
"""What describes the record of a call, where replays depend on that, as sparsity patterns do."""


def digest(text: str) -> str:
    """Sum up a text."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


HANDLE = "a handle"
"""What stands in place of handles; a text, so that it is the same at each call."""


class WithRecord(Derived):
    """The function with a record of its operands, for the sweep.

    Its form is the operands, and what describes the record where replays depend on that.
    """

    mode: ClassVar[str] = "record"
    rounds: ClassVar[bool] = False

    def __call__(self, *arrays: Any) -> tuple[Any, list[Any], Any, str]:
        """Give the record, what depends on the operands, all else, and a digest of the record."""
        slots, description = self.form
        traced = recorded(self.of, arrays, slots)
        leaves = flatten(traced.output)
        found = [leaf.data for leaf in leaves if traced.depends(leaf)]
        rest = [HANDLE if traced.depends(leaf) else leaf for leaf in leaves]
        token = np.empty((), object)
        token[()] = traced
        described = "" if description is None else digest(str(description(traced.record)))
        return token, found, unflatten(traced.output, rest), described


class Pull(Derived):
    """The pull of the function, of cotangents and of its arrays; or of its record.

    Its form is the operands, which cotangents there are, their stack and whether they are chosen.
    """

    mode: ClassVar[str] = "pull"

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Give the cotangents of the operands."""
        slots, there, stack, chosen = self.form
        count = sum(there)
        cotangents, rest = arrays[:count], arrays[count:]
        traced = kept_or_recorded(self.of, rest, slots)
        following = iter(cotangents)
        pairs = [
            (leaf, next(following) if given else None)
            for leaf, given in zip(results(traced), there, strict=True)
        ]
        return traced.gradients(traced.swept(pairs, release=False, chosen=chosen), stack)


class Push(Derived):
    """The push of the function, of a tangent and of its arrays; or of its record.

    Its form is the operands, which of them the tangent is of, and its stack.
    """

    mode: ClassVar[str] = "push"

    def __call__(self, tangent: Array, *rest: Any) -> list[Any]:
        """Give the tangents of what depends on the operands."""
        slots, position, stack = self.form
        traced = kept_or_recorded(self.of, rest, slots)
        reached = traced.pushed({traced.inputs[position].index: tangent})
        return [traced.tangent(leaf, reached, stack) for leaf in results(traced)]


def recorded(function: Function, arrays: Sequence[Any], slots: Sequence[int]) -> Trace:
    """Record a function by some of its arrays."""
    filled = list(arrays)

    def inside(*operands: Any) -> Any:
        for slot, operand in zip(slots, operands, strict=True):
            filled[slot] = operand
        return function(*filled)

    return trace_arrays(inside, [arrays[slot] for slot in slots])


def kept_or_recorded(function: Function, given: Sequence[Any], slots: Sequence[int]) -> Trace:
    """Give the record that was kept, if that is what is given; else record the function."""
    if len(given) == 1 and given[0].dtype.hasobject:
        traced: Trace = given[0][()]
        return traced
    return recorded(function, given, slots)


def results(traced: Trace) -> list[Any]:
    """List what depends on the operands."""
    return [leaf for leaf in flatten(traced.output) if traced.depends(leaf)]


@frozen
class Recorded:
    """The block of a function that is noted as a whole."""

    keeps_output: ClassVar[bool] = False
    function: Any
    slots: tuple[int, ...]

    def run(self, *arrays: Any) -> tuple[Any, Any]:
        """Note the function, which keeps its record for the sweep."""
        capture = ACTIVE.get().capture
        with_record = WithRecord(self.function, (self.slots, DESCRIPTION.get()))
        token, found, rest, _ = capture.call_apart(with_record, arrays)
        return (found, Hidden(rest)), token

    def pull(self, use: Use, cotangents: Any, stack: Shape, chosen: bool) -> list[Any]:
        """Note the pull."""
        every = flatten(cotangents[0])
        there = tuple([ct is not None for ct in every])
        given = [ct for ct in every if ct is not None]
        pull = Pull(self.function, (self.slots, there, stack, chosen))
        pulled = noted(pull, [*given, *self.operands(use, given)])
        return [pulled[self.slots.index(slot)] for slot in use.slots]

    def push(self, use: Use, position: int, tangent: Array, stack: Shape) -> Any:
        """Note the push."""
        place = self.slots.index(use.slots[position])
        push = Push(self.function, (self.slots, place, stack))
        return noted(push, [tangent, *self.operands(use, [tangent])]), None

    def operands(self, use: Use, given: Sequence[Any]) -> list[Any]:
        """Give the record, where it has been kept and no derivative is taken; else the arrays."""
        if use.saved is not None and Tensor not in map(type, given):
            return [use.saved]
        args, _ = use.arguments(use.values)
        return list(args)
