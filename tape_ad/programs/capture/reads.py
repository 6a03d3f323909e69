"""Where the calls of a program read arrays that a function finds elsewhere."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.record.messages.callers import Place, place_of, user_frame
from tape_ad.record.record import ComputationRecord

LEAF = ComputationRecord._leaf.__code__
DIFFERENTIATING = frozenset({"tape_ad.transforms.gradients", "tape_ad.record.record"})
"""The modules whose functions do nothing else with such an argument."""


@define(eq=False, repr=False)
class Reads:
    """Where calls that are noted read some arrays.

    Attributes
    ----------
    arrays : sequence of ndarray
        What is asked about.
    """

    arrays: Sequence[Any] = ()
    _noted: dict[tuple[int, CodeType, Place], set[int]] = field(factory=dict)
    _leaves: set[tuple[int, CodeType, Place]] = field(factory=set)
    _calls: Counter[CodeType] = field(factory=Counter)
    _numbers: dict[int, int] = field(factory=dict)

    def note(self, array: Any) -> None:
        """Note that a call reads an array."""
        for each in self.arrays:
            if np.may_share_memory(each, array):
                frame = user_frame()
                at = id(each), frame.f_code, place_of(frame.f_code, frame.f_lasti)
                self._noted.setdefault(at, set()).add(self._numbers.get(id(frame), 0))
                if makes_leaf(frame):
                    self._leaves.add(at)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count how often each function is called in a ``with`` block.

        That is unknown where it is profiled and traced as well, as by a debugger.
        """
        watch = sys.setprofile if sys.getprofile() is None else sys.settrace
        if not self.arrays or (watch is sys.settrace and sys.gettrace() is not None):
            yield
            return

        def count(frame: FrameType, event: str, arg: Any) -> None:
            if event == "call":
                self._calls[frame.f_code] += 1
                self._numbers[id(frame)] = self._calls[frame.f_code]  # as another had that id

        watch(count)
        try:
            yield
        finally:
            watch(None)

    def always_at(self, array: Any, code: CodeType) -> set[Place]:
        """Give the places at which each call of a function reads an array by a call that is noted.

        A function may be called with plain arrays as well, of which nothing is noted.
        """
        return {
            place
            for (at, of, place), calls in self._noted.items()
            if (at, of, len(calls)) == (id(array), code, self._calls[code])
        }

    def leaves_at(self, array: Any, code: CodeType) -> set[Place]:
        """Give the places at which a function gives an array to what makes a leaf of it."""
        return {place for at, of, place in self._leaves if (at, of) == (id(array), code)}


def makes_leaf(user: FrameType) -> bool:
    """Tell whether a frame of the user's has just called what makes a leaf of an argument."""
    frame: FrameType | None = sys._getframe(1)
    leaf, module = False, ""
    while frame is not None and frame is not user:
        leaf = leaf or frame.f_code is LEAF
        module, frame = str(frame.f_globals.get("__name__")), frame.f_back
    return leaf and module in DIFFERENTIATING
