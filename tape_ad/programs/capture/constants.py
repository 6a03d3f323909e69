"""The arrays that a function finds elsewhere."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.errors import CaptureError
from tape_ad.programs.capture.reads import Reads
from tape_ad.programs.program import Constant, Program, Value
from tape_ad.record.messages.callers import caller

BLOCK = 2**20
"""How many bytes of an array that is not contiguous are copied at once."""

PADDED = frozenset("gG")
"""The dtypes whose bytes are not all theirs, by their characters: the extended precisions."""


def contents(array: Any) -> bytes:
    """Give the contents of a small array."""
    if array.dtype.char in PADDED:
        return b"".join([each.tobytes() for each in unpadded(array)])
    return bytes(array.tobytes())


def fingerprint(array: Any) -> bytes:
    """Sum up the contents of an array, without a copy of a large one.

    Examples
    --------
    >>> x = np.arange(6.0).reshape(2, 3)
    >>> fingerprint(x) == fingerprint(x.copy()), fingerprint(x) == fingerprint(x + 1)
    (True, False)
    """
    digest = hashlib.sha1(usedforsecurity=False)  # the quickest of those that depend on order
    for piece in pieces(np.asarray(array)):
        digest.update(piece)
    return digest.digest()


def pieces(array: Any) -> Iterator[Any]:
    """Give the bytes of an array, in an order that depends on its layout only."""
    if array.dtype.hasobject:
        yield array.tobytes()  # the addresses of the objects
    elif array.dtype.char in PADDED:
        for part in unpadded(array):
            yield from pieces(part)
    elif array.flags.c_contiguous:
        yield array.reshape(-1).view(np.uint8)
    elif array.flags.f_contiguous:
        yield from pieces(array.T)
    else:
        rows = max(1, BLOCK * len(array) // array.nbytes)
        for start in range(0, len(array), rows):
            yield from pieces(np.ascontiguousarray(array[start : start + rows]))


def unpadded(array: Any) -> Iterator[Any]:
    """Give the numbers of an extended precision, whose bytes hold what has been left in memory.

    Each is written as a sum of two numbers in double precision, which hold 106 bits of it.
    """
    for part in (array.real, array.imag) if array.dtype.char == "G" else (array,):
        with np.errstate(all="ignore"):
            high = part.astype(np.float64)
            low = (part - high).astype(np.float64)
        yield from (high, low)


@define(eq=False, repr=False)
class Constants:
    """The arrays that a capture has met, each once.

    They are kept by reference. A function that writes to one of them while it runs would do so at
    no replay, so their contents are compared: before it runs, those that earlier captures have
    met; where one is first used; and in the end.

    Attributes
    ----------
    name : str
        The function's.
    earlier : sequence of Program
        What earlier captures gave.
    reads : Reads
    """

    name: str
    earlier: Sequence[Program]
    reads: Reads = field(factory=Reads)
    _met: dict[int, Constant] = field(factory=dict, init=False)
    _by_value: dict[Value, Constant] = field(factory=dict, init=False)
    _before: dict[int, tuple[Constant, bytes]] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        for program in self.earlier:
            for constant in program.constants:
                mark = self.mark_of(constant.data)
                self._before[id(constant.data)] = constant, mark

    def mark_of(self, array: Any) -> bytes:
        """Sum up what an array holds now, unless that has been done."""
        before = self._before.get(id(array))
        return fingerprint(array) if before is None else before[1]

    def value_of(self, array: Any) -> Value:
        """Give the value that stands for an array."""
        self.reads.note(array)
        met = self._met.get(id(array))
        if met is None:
            known = type(array) is np.ndarray or isinstance(array, np.generic)
            value = Value.like(array if known else np.asarray(array))
            mark = self.mark_of(array)
            met = self._met[id(array)] = Constant(value, array, caller(), mark)
            self._before.setdefault(id(array), (met, mark))
            self._by_value[value] = met
        return met.value

    def standing_for(self, value: Value) -> Constant | None:
        """Give the constant that a value stands for, if it is one's."""
        return self._by_value.get(value)

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
        for constant, before in self._before.values():
            if fingerprint(constant.data) != before:
                error = CaptureError(
                    f"{self.name} cannot be compiled: it writes to an array that is no argument "
                    f"(and is used in {constant.line}), which no replay would do; pass it as an "
                    "argument, and return the new value"
                )
                error.in_copies = True  # an array that the function has made is one of the program
                raise error


def same_memory(one: Any, two: Any) -> bool:
    """Tell whether two arrays, both alive, show the same memory in the same way."""
    if one is two:
        return True
    ours, theirs = one.__array_interface__["data"][0], two.__array_interface__["data"][0]
    layout = one.shape == two.shape and one.strides == two.strides and one.dtype == two.dtype
    return bool(layout and ours == theirs and one.size)
