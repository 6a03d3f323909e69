"""How a function of one of a batch is computed for all, where its facts say it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from tape_ad.base.arrays.batches import Batch
from tape_ad.base.trees import flatten
from tape_ad.batching.along import Along
from tape_ad.batching.basics import (
    Function,
    Handler,
    Looped,
    Options,
    all_of,
    is_of,
    ndim_of,
)
from tape_ad.batching.elements import elementwise
from tape_ad.batching.products import composed, with_axis
from tape_ad.batching.tables import HANDLERS
from tape_ad.rules import RULES, call_signature, entry_of
from tape_ad.rules.facts import Core, Facts

__all__ = ["handler_of"]

PLACES = {"reduce": 1, "accumulate": 1, "reduceat": 2}
"""Where the methods of ufuncs, which tell nobody, have their axis; it is 0 where none is named."""

NOWHERE = 99
"""The place of a parameter that is given by name alone."""


def derived(function: Function, facts: Facts) -> Handler | None:
    """Find how a function is computed for all by what is known of it; None if nothing is."""
    handler: Handler | None = None
    if facts.dtype_by_values:
        return None  # the results of some may be complex, and those of others not
    if facts.by is not None:
        handler = depending_on_call(facts.by)
    elif facts.axis:
        handler = along_axes(function, facts)
    elif facts.is_elementwise and not facts.operands:
        handler = elementwise
    elif facts.signature:
        names = facts.operands or parameters(function)[: len(facts.inputs)]
        every = parameters(function)
        places = [every.index(name) for name in names]
        handler = Cored(names, places, facts.inputs, facts.is_elementwise)
    if facts.body is None:
        return handler
    lines = composed(facts.body, writes=facts.writes)
    return lines if handler is None else first_of(handler, lines)


def first_of(handler: Handler, other: Handler) -> Handler:
    """Make the handler that is one where that knows how, and else the other."""

    def either(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        try:
            return handler(batch, function, args, kwargs)
        except Looped:
            return other(batch, function, args, kwargs)

    return either


def depending_on_call(by: Callable[[Mapping[str, Any]], Facts]) -> Handler:
    """Make the handler for facts that depend on a call's arguments."""

    def handler(batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        bound = call_signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        found = derived(function, by(bound.arguments))
        if found is None:
            raise Looped
        return found(batch, function, args, kwargs)

    return handler


def along_axes(function: Function, facts: Facts) -> Handler:
    """Make the handler of a function along axes."""
    place, default = axis_parameter(function, facts.axis)
    lengths = facts.lengths and (parameters(function).index(facts.lengths), facts.lengths)
    named = () if function.__name__ in PLACES else parameters(function)
    beside = {n: named.index(n) if n in named else NOWHERE for n in facts.beside}
    return Along(place, default, facts.none, facts.axis, lengths or None, beside)


def parameters(function: Function) -> tuple[str, ...]:
    """List the names of a function's parameters."""
    return tuple(call_signature(function).parameters)


def axis_parameter(function: Function, name: str) -> tuple[int, Any]:
    """Find where the parameter for the axis stands, and what it is where it is not given."""
    if function.__name__ in PLACES:
        return PLACES[function.__name__], 0
    every = call_signature(function).parameters
    return list(every).index(name), every[name].default


@frozen
class Cored:
    """A function of stacks of arrays: their own axes are the last ones.

    Attributes
    ----------
    names : sequence of str
        The parameters that are operands.
    places : sequence of int
        Where they stand among the parameters.
    cores : sequence of Core
        The axes of each; for a function of elements one for all.
    elementwise : bool
        Whether it is such a function.
    """

    names: Sequence[str]
    places: Sequence[int]
    cores: Sequence[Core]
    elementwise: bool

    def __call__(self, batch: Batch, function: Function, args: Any, kwargs: Options) -> Any:
        """Call the function for all."""
        given, options = list(args), dict(kwargs)
        operands: list[tuple[Any, Any, Core]] = []
        cores = tuple(self.cores) * (len(self.names) if self.elementwise else 1)
        for name, place, core in zip(self.names, self.places, cores, strict=True):
            if place < len(given):
                operands.append((given, place, core))
            elif name in options:
                operands.append((options, name, core))
        loop, vectors = 0, False
        for where, key, core in operands:
            x = where[key]
            ndim = 0 if x is None else ndim_of(x)
            if core.single:
                if is_of(x, batch):
                    raise Looped
                continue
            if core.optional and ndim == core.ndim - 1:
                where[key], vectors = with_axis(batch, x, -1), True
                ndim += 1
            if ndim < core.ndim:
                raise Looped  # where it is refused, for one
            loop = max(loop, ndim - core.ndim)
        for where, key, core in operands:
            where[key] = all_of(batch, where[key], loop + core.ndim)
        if any(is_of(leaf, batch) for leaf in flatten((given, options))):
            raise Looped  # in an option
        try:
            out = function(*given, **options)
        except ValueError:  # of one of them, which says so then; or SciPy takes no stack yet
            raise Looped from None
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
