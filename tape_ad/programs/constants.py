"""The arrays that a function finds elsewhere."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.errors import CaptureError
from tape_ad.handles.callers import caller
from tape_ad.programs.program import Constant, Program, Value

__all__ = ["Constants", "same_memory"]


@define(eq=False, repr=False)
class Constants:
    """The arrays that a capture has met, each once.

    They are kept by reference. A function that writes to one of them while it runs would do so at
    no replay, so their contents are compared: before it runs, those that an earlier capture has
    met; where one is first used; and in the end.

    Attributes
    ----------
    name : str
        The function's.
    earlier : Program or None
        What an earlier capture gave.
    """

    name: str
    earlier: Program | None
    _met: dict[int, Constant] = field(factory=dict, init=False)
    _before: list[tuple[Constant, bytes]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        known = () if self.earlier is None else self.earlier.constants
        self._before = [(each, fingerprint(each.data)) for each in known]

    def value_of(self, array: Any) -> Value:
        """Give the value that stands for an array."""
        met = self._met.get(id(array))
        if met is None:
            value = Value.like(array if type(array) is np.ndarray else np.asarray(array))
            met = Constant(value, array, caller())
            self._met[id(array)] = met
            self._before.append((met, fingerprint(array)))
        return met.value

    def owner_of(self, out: Any, operands: Iterable[Any]) -> Value | None:
        """Find the array among the operands of a call whose memory its result shows."""
        for each in operands:
            if isinstance(each, np.ndarray) and out.size and np.may_share_memory(out, each):
                return self.value_of(each)
        return None

    def found(self) -> tuple[Constant, ...]:
        """List them in the order in which they were met."""
        return tuple(self._met.values())

    def check_untouched(self) -> None:
        """Refuse a function that has written to one of them.

        Raises
        ------
        CaptureError
        """
        for constant, before in self._before:
            if fingerprint(constant.data) != before:
                raise CaptureError(
                    f"{self.name} cannot be compiled: it writes to an array that is no argument "
                    f"(and is used in {constant.line}), which no replay would do; pass it as an "
                    "argument, and return the new value"
                )


def fingerprint(array: Any) -> bytes:
    """Sum up the contents of an array."""
    return hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).digest()


def same_memory(one: Any, two: Any) -> bool:
    """Tell whether two arrays, both alive, show the same memory in the same way."""
    if one is two:
        return True
    ours, theirs = one.__array_interface__["data"][0], two.__array_interface__["data"][0]
    layout = one.shape == two.shape and one.strides == two.strides and one.dtype == two.dtype
    return bool(layout and ours == theirs and one.size)
