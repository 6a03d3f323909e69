"""Batches that functions are being run over."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.active import ACTIVE
from tape_ad.base.arrays.interpreter import enter

__all__ = ["FEW", "AgainError", "Batch", "grouped", "watch"]


class AgainError(BaseException):
    """Some of a batch have to be computed apart; no Exception, as nobody else is to answer it."""


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
    counted : array of int or None
        The places of those that what is computed is right for, where others have gone another way.
    others : list of array of int
        The places of those, for each other answer that they gave.
    again : list of array of int or None
        The places of those that have to be computed again instead, if there are any.
    question : str
        Which line has asked for what is another for some of them.
    asked : bool
        Whether a library has asked for values of one, which code in C does not let through.
    given : list
        The arguments.
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
    counted: Any = field(default=None, init=False)
    others: list[Any] = field(factory=list, init=False)
    again: list[Any] | None = field(default=None, init=False)
    question: str = field(default="", init=False)
    asked: bool = field(default=False, init=False)
    given: list[Any] = field(factory=list, init=False)
    written: list[Any] = field(factory=list, init=False)
    parted: list[Any] = field(factory=list, init=False)

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call that holds arrays of the batch."""
        return self.answer(self, function, args, kwargs)

    def lift(self, array: Any) -> Any:
        """Give an array that is the same for each as one of the batch."""
        return self.spread(self, array)

    def members(self) -> Any:
        """Give the places of those that are counted."""
        return np.arange(self.size) if self.counted is None else self.counted

    def part(self, answers: Any, line: Callable[[], str]) -> int:
        """Go on for the most that have one answer, and leave the others to other runs.

        Parameters
        ----------
        answers : array, shape (size, ...)
        line : callable
            Names the line that has asked.

        Returns
        -------
        int
            The place of one of those that it goes on for.
        """
        first, *rest = groups = sorted(grouped(answers, self.members()), key=len, reverse=True)
        if rest:
            self.question = line()
            if len(first) == 1 and len(rest) >= FEW:
                self.again = groups
                raise AgainError
            self.others += rest
            self.counted = first
            watch()
        return int(first[0])

    def doubt(self) -> None:
        """Note that something was wrong, of some that may not count."""
        if self.counted is not None:
            self.again = [self.counted]


FEW = 4
"""How many may give an answer of their own before the run is given up for runs of each."""


def watch() -> None:
    """Let NumPy tell of wrong numbers, where some do not count, in place of a warning."""
    flagged = {kind: "call" for kind, mode in np.geterr().items() if mode != "ignore"}
    np.seterrcall(doubt_all)
    np.seterr(**flagged)  # type: ignore[arg-type]  # "call" is a mode


def doubt_all(*error: Any) -> None:
    """Note in all batches that numbers were wrong."""
    for batch in ACTIVE.get().batches:
        batch.doubt()


def grouped(answers: Any, members: Any) -> list[Any]:
    """List the places of members with equal answers, for each answer."""
    if answers.dtype == bool and answers.ndim == 1:
        sides = answers[members]
        return [side for side in (members[~sides], members[sides]) if len(side)]
    groups: dict[bytes, list[int]] = {}
    for place, answer in zip(members.tolist(), answers[members], strict=True):
        groups.setdefault(answer.tobytes(), []).append(place)
    return [np.array(group) for group in groups.values()]
