"""Calls on constants: computed at once, or recorded where they meet a handle of a record."""

from collections.abc import Callable, Mapping
from operator import getitem
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.arrays.interpreter import (
    NO_OPTIONS,
    boxes,
    call,
    is_box,
    looked_through,
    unwrapped,
)
from tape_ad.record.arena import Arena
from tape_ad.record.constants import CONSTANTS, ConstantTensor, as_handles, prepare, promote
from tape_ad.record.messages.refusals import no_implementation
from tape_ad.record.tensor import Tensor

__all__ = ["Eager", "record_among"]

Function = Callable[..., Any]

WRITERS = frozenset({np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask})
"""NumPy's functions that write to their first argument."""


@frozen
class Eager:
    """What answers the calls of handles that depend on nothing: they are computed at once.

    Attributes
    ----------
    box : callable
        ``box(out, operands)`` makes constants of what a call gives.
    promote : callable
        ``promote(constant, record)`` makes a constant a handle of a record.
    """

    box: Callable[[Any, Any], Any]
    promote: Callable[[Any, Arena], None]
    level = 0

    def call(self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Compute a function of constants and plain arrays."""
        out = kwargs.get("out")
        outs = out if isinstance(out, tuple) else (out,)
        for target in (*outs, *(args[:1] if function in WRITERS else ())):
            if type(target) in CONSTANTS:
                prepare(target)
        result = function(*unwrapped(args), **unwrapped(dict(kwargs)))
        if out is None:
            return self.box(result, (args, dict(kwargs)))
        if not isinstance(result, tuple):
            return outs[0]
        pairs = zip(outs, result, strict=True)
        return tuple(self.box(b, args) if a is None else a for a, b in pairs)

    def called(
        self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any] = NO_OPTIONS
    ) -> Any:
        """Compute a function of constants, or have it answered by whom they meet."""
        out = self.answered(function, args, kwargs)
        if out is NotImplemented:
            raise no_implementation(function, args)
        return out

    def answered(
        self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any] = NO_OPTIONS
    ) -> Any:
        """Answer a call of constants; NotImplemented where another library should."""
        return call(function, args, kwargs, self.call)

    def lift(self, value: Any) -> Any:
        """Make a constant of a plain array."""
        return self.box(value, ())

    def one(self, function: Function, x: Any) -> Any:
        """Compute a function of one constant."""
        return self.box(function(x.data), (x,))

    def change(self, function: Function, target: Any, other: Any) -> Any:
        """Apply ``target += other`` and its kind to a constant."""
        record = record_among(other)
        if record is not None:
            self.promote(target, record)
            return Tensor._change(function, target, other)
        prepare(target)
        function(target.data, unwrapped(other), out=target.data)
        return target

    def serve(self, kind: Any, *, two: Function, item: Function, assign: Function) -> None:
        """Answer the calls and operators of a type of constants."""
        kind.interpreter = self
        boxes("interpreter")(kind)
        kind.answer_with(
            call=self.called,
            answer=self.answered,
            one=self.one,
            two=two,
            item=item,
            assign=assign,
            change=self.change,
        )


EAGER = Eager(as_handles, promote)


def record_among(tree: Any) -> Any:
    """Find the record that handles in a tree belong to, if there are any."""
    found, _ = looked_through((tree,))
    return found if isinstance(found, Arena) else None


def two(function: Function, x: Any, y: Any) -> Any:
    """Apply a binary operator to a constant of the array API and another operand."""
    if any(is_box(each) and type(each) not in CONSTANTS for each in (x, y)):
        return EAGER.answered(function, (x, y))
    return as_handles(function(*unwrapped((x, y))), ())


def item(x: ConstantTensor, key: Any) -> Any:
    """Index a constant of the array API: ``x[key]``."""
    return EAGER.called(getitem, (x, key))


def assign(target: ConstantTensor, key: Any, value: Any) -> None:
    """Assign to elements of a constant; with a handle of a record, in that record's graph."""
    record = record_among(value)
    if record is not None:
        promote(target, record)
        target[key] = value
        return
    prepare(target)
    target.data[unwrapped(key)] = unwrapped(value)


EAGER.serve(ConstantTensor, two=two, item=item, assign=assign)
