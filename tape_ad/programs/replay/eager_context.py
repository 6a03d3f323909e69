"""Running a function as it is, beside its replays: nothing noted, no draw and no warning left."""

import random
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import define, evolve

from tape_ad.base.arrays.active import ACTIVE

__all__ = ["Generators", "run_eagerly"]

Function = Callable[..., Any]
LOUD = frozenset({"warn", "print", "log"})
"""What NumPy does of a floating-point error where it goes on with the result."""


@define(eq=False)
class EagerContext:
    """What stands in place of a capture, so that compiled functions within run as they are.

    Attributes
    ----------
    ended : bool
        Whether the function has returned, which a task that it has started may outlive.
    """

    ended: bool = False

    def lift(self, tree: Any) -> Any:
        """Leave plain arrays as they are."""
        return tree

    def lift_constant(self, number: Any) -> Any:
        """Leave a number as it is."""
        return number

    def whole(self, function: Function, args: Any, kwargs: Any) -> Any:
        """Let helpers go the way of plain arrays."""
        return NotImplemented

    def call_opaque(self, function: Function, args: Any, kwargs: Any, shielded: int) -> Any:
        """Call a function of the user's."""
        return function(*args, **kwargs)


def run_eagerly(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call a function without any replay in it, and without NumPy's floating-point warnings."""
    settings: dict[str, Any] = {
        kind: "ignore" if setting in LOUD else setting for kind, setting in np.geterr().items()
    }
    context = EagerContext()
    before = ACTIVE.get()
    ACTIVE.set(evolve(before, capture=context))
    try:
        with np.errstate(**settings):
            return function(*args, **kwargs)
    finally:
        ACTIVE.set(before)
        context.ended = True


@define(eq=False)
class Generators:
    """The generators of random numbers that a function may draw from.

    Attributes
    ----------
    places : list of tuple
        For each of them, what gives its state, and what takes one.
    """

    places: list[tuple[Function, Function]]

    @classmethod
    def among(cls, values: Any) -> "Generators":
        """Find the generators in some values, or that these are methods of."""
        found = {id(each): each for each in map(generator_of, values)}
        return cls([state_of(each) for each in found.values() if each is not None])

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Give all of them, after a ``with`` block, the states that they had before it."""
        states = [(put, get()) for get, put in self.places]
        try:
            yield
        finally:
            for put, state in states:
                put(state)


def generator_of(value: Any) -> Any:
    """Give the generator that a value is, or that it is a method of; None where there is none."""
    kinds = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
    owner = value if isinstance(value, types.ModuleType) else getattr(value, "__self__", value)
    return owner if isinstance(owner, kinds) or owner is np.random or owner is random else None


def state_of(generator: Any) -> tuple[Function, Function]:
    """Give what reads the state of a generator, and what sets it."""
    if isinstance(generator, (np.random.Generator, np.random.BitGenerator)):
        bits: Any = getattr(generator, "bit_generator", generator)
        return lambda: bits.state, lambda state: setattr(bits, "state", state)
    if isinstance(generator, np.random.RandomState) or generator is np.random:
        return generator.get_state, generator.set_state
    return generator.getstate, generator.setstate
