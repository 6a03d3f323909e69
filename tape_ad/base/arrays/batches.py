"""Batches that functions are being run over."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from tape_ad.base.arrays.interpreter import enter

__all__ = ["Batch"]


@define(eq=False, repr=False)
class Batch:
    """One run of a function over a batch of arguments.

    What is of a lower level is the same for each of the batch, and stays as it is.

    Attributes
    ----------
    size : int
        How many there are.
    answer : callable
        ``answer(batch, function, args, kwargs)`` makes a call that holds arrays of the batch.
    loops : callable
        ``loops(name)`` is told what is done one after the other.
    spread : callable
        ``spread(batch, array)`` gives a plain array as one of the batch.
    level : int
        When it was entered, beside other interpreters.
    ended : bool
        Whether the function has returned.
    asked : bool
        Whether a library has asked for values of one, which code in C does not let through.
    written : list of array
        The memory that was assigned to.
    parted : list of pairs of weak references to arrays
        Arrays that share memory when there is one, but not here, where they were made in a loop.
    """

    size: int
    answer: Callable[..., Any]
    loops: Callable[[str], None]
    spread: Callable[..., Any]
    level: int = field(factory=enter, init=False)
    ended: bool = field(default=False, init=False)
    asked: bool = field(default=False, init=False)
    written: list[Any] = field(factory=list, init=False)
    parted: list[Any] = field(factory=list, init=False)

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call that holds arrays of the batch."""
        return self.answer(self, function, args, kwargs)

    def lift(self, array: Any) -> Any:
        """Give an array that is the same for each as one of the batch."""
        return self.spread(self, array)
