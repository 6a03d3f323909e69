"""Batches that functions are being run over, and which of them a call belongs to."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from attrs import define, field

from tape_ad.base.trees import flatten

__all__ = ["BATCHING", "Batch", "batch_of"]

BATCHING: ContextVar[Any] = ContextVar("tape_ad_batching", default=None)
"""The batch that the innermost `tape_ad.batched` function is being run over."""


@define(eq=False, repr=False)
class Batch:
    """One run of a function over a batch of arguments.

    Attributes
    ----------
    size : int
        How many there are.
    outer : Batch or None
        The batch in whose run this one was started.
    answer : callable
        ``answer(batch, function, args, kwargs)`` makes a call that holds arrays of the batch.
    loops : callable
        ``loops(name)`` is told what is done one after the other.
    spread : callable
        ``spread(batch, array)`` gives a plain array as one of the batch.
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
    outer: "Batch | None"
    answer: Callable[..., Any]
    loops: Callable[[str], None]
    spread: Callable[..., Any]
    ended: bool = field(default=False, init=False)
    asked: bool = field(default=False, init=False)
    written: list[Any] = field(factory=list, init=False)
    parted: list[Any] = field(factory=list, init=False)

    def is_within(self, other: "Batch") -> bool:
        """Tell whether a batch is another one, or was started in its run."""
        batch: Batch | None = self
        while batch is not None and batch is not other:
            batch = batch.outer
        return batch is other

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call that holds arrays of the batch."""
        return self.answer(self, function, args, kwargs)


def batch_of(*trees: Any) -> Batch | None:
    """Find the batch that a call belongs to, by what its arguments hold.

    Returns
    -------
    Batch or None
        The innermost one; None without any, and where a handle is of a record that was made in its
        run, to which the batch's arrays are constants.
    """
    found: Batch | None = None
    leaves = flatten(trees)
    for leaf in leaves:
        batch = getattr(leaf, "batch_here", None)
        if batch is not None and (found is None or batch.is_within(found)):
            found = batch
    if found is not None:
        for leaf in leaves:
            made_in = getattr(getattr(leaf, "record", None), "batch", None)
            if made_in is not None and made_in.is_within(found):
                return None
    return found
