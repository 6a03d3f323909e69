"""For whom of a batch a function goes on where values decide, and who is left to other runs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import Batch
from tape_ad.base.arrays.overridable import ACTIVE

FEW = 4
"""How many may give an answer of their own before the run is given up for runs of each."""


class AgainError(BaseException):
    """Some of a batch have to be computed apart; no Exception, as nobody else is to answer it."""


def members_of(batch: Batch) -> Any:
    """Give the places of those that are counted."""
    return np.arange(batch.size) if batch.counted is None else batch.counted


def part(batch: Batch, answers: Any, line: Callable[[], str]) -> int:
    """Go on for the most that have one answer, and leave the others to other runs.

    Parameters
    ----------
    batch : Batch
    answers : array, shape (size, ...)
    line : callable
        Names the line that has asked.

    Returns
    -------
    int
        The place of one of those that it goes on for.
    """
    groups = sorted(grouped(answers, members_of(batch)), key=len, reverse=True)
    first, *rest = groups
    if rest:
        batch.question = line()
        if len(first) == 1 and len(rest) >= FEW:
            batch.again = groups
            raise AgainError
        batch.others += rest
        batch.counted = first
        watch()
    return int(first[0])


def doubt(batch: Batch) -> None:
    """Note that something was wrong, of some that may not count."""
    if batch.counted is not None:
        batch.again = [batch.counted]


def watch() -> None:
    """Let NumPy tell of wrong numbers, where some do not count, in place of a warning."""
    flagged = {kind: "call" for kind, mode in np.geterr().items() if mode != "ignore"}
    np.seterrcall(doubt_all)
    np.seterr(**flagged)  # type: ignore[arg-type]  # "call" is a mode


def doubt_all(*error: Any) -> None:
    """Note in all batches that numbers were wrong."""
    for batch in ACTIVE.get().batches:
        doubt(batch)


def grouped(answers: Any, members: Any) -> list[Any]:
    """List the places of members with equal answers, for each answer."""
    if answers.dtype == bool and answers.ndim == 1:
        sides = answers[members]
        return [side for side in (members[~sides], members[sides]) if len(side)]
    groups: dict[bytes, list[int]] = {}
    for place, answer in zip(members.tolist(), answers[members], strict=True):
        groups.setdefault(answer.tobytes(), []).append(place)
    return [np.array(group) for group in groups.values()]
