"""What a replay may be trusted with: numbers that it has agreed on with the function itself.

That two captures agree proves nothing of arguments that were the same in both, bit for bit: what
depends on them may have been frozen. They are *untested* until a call has had other numbers there.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.programs.capture.constants import contents, fingerprint
from tape_ad.programs.capture.tracers import NUMBERS, complex_code, exact_question, float_code
from tape_ad.programs.program import Guard, Program

__all__ = ["UntestedInput", "near_by", "still_untested", "untested_inputs", "without_pinned"]

SMALL = 4096
"""How many bytes of an array are kept."""
SAMPLES = 512
"""About how many elements of a larger one are kept, with a sum over all."""


@frozen(eq=False)
class UntestedInput:
    """An input whose numbers have been the same so far.

    Attributes
    ----------
    place : int
        Which of the inputs.
    mark : hashable
        What tells its numbers from others.
    """

    place: int
    mark: Any


def untested_inputs(leaves: Sequence[Any]) -> list[UntestedInput]:
    """Note the numbers of a first call."""
    return [UntestedInput(place, mark_of(leaf)) for place, leaf in enumerate(leaves)]


def without_pinned(untested: Sequence[UntestedInput], program: Program) -> list[UntestedInput]:
    """List the untested inputs whose numbers no guard of the program fixes."""
    pinned = {guard.value for guard in program.guards if is_pinning(guard)}
    return [each for each in untested if program.inputs[each.place] not in pinned]


def is_pinning(guard: Guard) -> bool:
    """Tell whether a guard holds for one number alone."""
    if guard.question is int:
        return guard.value.kind is int
    return guard.question in (operator.index, float_code, complex_code)


def still_untested(untested: Sequence[UntestedInput], leaves: Sequence[Any]) -> list[UntestedInput]:
    """List the inputs that are untested after a call with these leaves too."""
    return [each for each in untested if mark_of(leaves[each.place]) == each.mark]


def mark_of(leaf: Any) -> Any:
    """Sum up what an array or a number holds, quickly.

    Examples
    --------
    >>> mark_of(0.0) == mark_of(-0.0), mark_of(np.ones(3)) == mark_of(np.ones(3))
    (False, True)
    """
    if type(leaf) in NUMBERS:
        return exact_question(leaf)(leaf)
    if type(leaf) is not np.ndarray:
        return contents(np.asarray(leaf))
    if leaf.nbytes <= SMALL:
        return contents(leaf)
    most = max(2, int(SAMPLES ** (1 / leaf.ndim)))
    sample = leaf[tuple([slice(None, None, max(1, length // most)) for length in leaf.shape])]
    return contents(sample), sum_of_bits(leaf)


def sum_of_bits(array: Any) -> Any:
    """Add up an array's bits as whole numbers, which takes as long as to read them."""
    if not array.flags.c_contiguous:
        return sum_of_bits(array.T) if array.flags.f_contiguous else fingerprint(array)
    width = math.gcd(array.dtype.itemsize, 8)
    words = array.reshape(-1).view(f"u{width}")
    return int(np.add.reduce(words, dtype=np.uint64))


def near_by(leaf: Any, size: float) -> Any:
    """Give other numbers than those of an input, near by; the same where there are none.

    Whole numbers in arrays change places, as they may be indices.
    """
    kind = type(leaf)
    if kind is int:
        return leaf + 1
    if kind in NUMBERS:
        return kind(leaf * (1 + size) if leaf else size)
    out = np.empty_like(leaf)
    if out.strides != np.asarray(leaf).strides:
        return leaf
    if out.dtype.kind in "fc":
        length = out.shape[-1] if out.ndim else 1
        wave = size * (1.0 - 0.5 * np.cos(np.arange(length))).reshape(out.shape[-1:])
        out[...] = leaf * (1 + wave).astype(out.real.dtype) if np.any(leaf) else wave
    elif out.ndim:
        out[...] = np.flip(leaf)
        if np.array_equal(out, leaf):
            out[...] = ~leaf if out.dtype.kind == "b" else leaf + 1
    else:
        return leaf
    return out if kind is np.ndarray else out[()]
