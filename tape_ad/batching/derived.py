"""How a function of one of a batch is computed for all, where its facts say it."""

import inspect
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from tape_ad.base.arrays.batches import Batch
from tape_ad.batching.along import Along
from tape_ad.batching.basics import (
    Function,
    Handler,
    Looped,
    Options,
    all_of,
    is_of,
    ndim_of,
    refuse_batched,
)
from tape_ad.batching.elements import elementwise
from tape_ad.batching.products import composed, with_axis
from tape_ad.batching.tables import HANDLERS
from tape_ad.rules import RULES, entry_of
from tape_ad.rules.facts import Core, Facts

__all__ = ["handler_of"]

PLACES = {"reduce": 1, "accumulate": 1, "reduceat": 2}
"""Where the methods of ufuncs, which tell nobody, have their axis; it is 0 where none is named."""


def derived(function: Function, facts: Facts) -> Handler | None:
    """Find how a function is computed for all by what is known of it; None if nothing is."""
    if facts.axis:
        lengths = facts.lengths and (parameters(function).index(facts.lengths), facts.lengths)
        place, default = axis_parameter(function, facts.axis)
        return Along(place, default, facts.none, facts.axis, lengths or None)
    if facts.is_elementwise and not facts.operands:
        return elementwise
    if facts.signature:
        names = facts.operands or parameters(function)[: len(facts.inputs)]
        return Cored(names, facts.inputs, facts.is_elementwise)
    return None if facts.body is None else composed(facts.body)


def parameters(function: Function) -> tuple[str, ...]:
    """List the names of a function's parameters."""
    return tuple(inspect.signature(function).parameters)


def axis_parameter(function: Function, name: str) -> tuple[int, Any]:
    """Find where the parameter for the axis stands, and what it is where it is not given."""
    if function.__name__ in PLACES:
        return PLACES[function.__name__], 0
    every = inspect.signature(function).parameters
    return list(every).index(name), every[name].default


@frozen
class Cored:
    """A function of stacks of arrays: their own axes are the last ones.

    Attributes
    ----------
    names : sequence of str
        The parameters that are operands.
    cores : sequence of Core
        The axes of each; for a function of elements one for all.
    elementwise : bool
        Whether it is such a function.
    """

    names: Sequence[str]
    cores: Sequence[Core]
    elementwise: bool

    def __call__(self, batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        """Call the function for all."""
        count = len(self.names)
        operands: dict[Any, Any] = dict(enumerate(args[:count]))
        operands |= {name: kwargs[name] for name in self.names[len(args) :] if name in kwargs}
        options = {name: value for name, value in kwargs.items() if name not in operands}
        refuse_batched(batch, [*args[count:], *options.values()])
        if self.elementwise:
            cores: Sequence[Core] = (self.cores[0],) * len(operands)
        else:
            cores = self.cores
        if len(operands) != len(cores):
            raise Looped
        loop, vectors = 0, False
        for (place, x), core in zip(operands.items(), cores, strict=True):
            ndim = 0 if x is None else ndim_of(x)
            if core.single and is_of(x, batch):
                raise Looped
            if core.optional and ndim == core.ndim - 1:
                operands[place], vectors = with_axis(batch, x, -1), True
                ndim += 1
            if ndim < core.ndim:
                raise Looped  # where it is refused, for one
            loop = max(loop, ndim - core.ndim)
        for (place, x), core in zip(operands.items(), cores, strict=True):
            operands[place] = all_of(batch, x, loop + core.ndim)
        first = [operands.pop(i) for i in range(min(count, len(args)))]
        out = function(*first, *args[count:], **operands, **options)
        return out[..., 0] if vectors else out


KNOWN: dict[Any, Handler] = dict(HANDLERS)
"""The handlers of the table, and those that have been derived."""


def handler_of(function: Function) -> Handler | None:
    """Find how a function is computed for all; None if neither table nor facts say it."""
    handler = KNOWN.get(function)
    if handler is None:
        handler = derived(function, entry_of(function).facts)
        if handler is not None and function in RULES:
            KNOWN[function] = handler
    return handler
