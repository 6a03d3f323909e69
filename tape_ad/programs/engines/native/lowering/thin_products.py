"""Products of long and thin matrices, in pieces that BLAS need not pack.

OpenBLAS copies the operands of a large product into an order of its own, which takes as long as to
multiply matrices of few rows or columns. Those of smaller products it leaves where they are, on
processors with wide registers; on others, pieces take as long as the whole.
"""

import ctypes
import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from tape_ad.programs.engines.native.ir import MemRef, is_c_order
from tape_ad.programs.engines.native.lowering.calls import Lowering, copy
from tape_ad.programs.engines.native.lowering.generalized import LAPACK, over_stack
from tape_ad.programs.engines.native.lowering.reductions import brought_together

UNPACKED = 1_000_000
"""Up to how many multiplications OpenBLAS packs nothing."""

LEAST, UNIT = 64, 8
"""How many rows or columns a piece has at least, and of how many it is a multiple."""

PARTIAL = 4096
"""Up to how many elements the sums of pieces have, which are added up."""


def in_pieces(lowering: Lowering, x: MemRef, y: MemRef, out: MemRef) -> bool:
    """Multiply matrices in pieces of the longest axis, and tell whether that is done."""
    if not is_thin(x, y, out):
        return False
    lengths = rows, inner, columns = *x.shape, y.shape[1]
    axis = lengths.index(max(lengths))
    step = UNPACKED * lengths[axis] // math.prod(lengths) // UNIT * UNIT
    size = out.dtype.itemsize
    by_dots = size not in (x.strides[0], y.strides[1])  # for which BLAS has nothing better
    if axis == 0:
        y = laid_out(lowering, y, "C") if by_dots else y
        by_part(lowering, pieces(x, 0, step), [y, y], pieces(out, 0, step))
    elif axis == 2:
        x = laid_out(lowering, x, "F") if by_dots else x
        by_part(lowering, [x, x], pieces(y, 1, step), pieces(out, 1, step))
    elif by_dots or rows * columns > PARTIAL:
        return False
    else:
        whole, rest = divmod(inner, step)
        sums = lowering.temporary((whole + (rest > 0), rows, columns), out.dtype)
        there = [sums.part(slice(whole))]
        if rest:
            there.append(sums.part(whole))
        by_part(lowering, pieces(x, 1, step), pieces(y, 0, step), there)
        added_up(lowering, sums, out)
    return True


def is_thin(x: MemRef, y: MemRef, out: MemRef) -> bool:
    """Tell whether BLAS would pack a product of which one axis is far longer than the others."""
    if len(out.shape) != 2 or out.dtype.char not in "fd":
        return False
    lengths = *x.shape, y.shape[1]
    work = math.prod(lengths)
    if work <= UNPACKED or work * LEAST > UNPACKED * max(lengths) or min(lengths) == 1:
        return False
    in_order = all(
        ref.dtype.itemsize in ref.strides and 0 not in ref.strides for ref in (x, y, out)
    )
    return in_order and blas_threads() == 1


def pieces(ref: MemRef, axis: int, step: int) -> list[MemRef]:
    """Divide an axis into pieces of a length: give a stack of those, and what is left, if any."""
    count, rest = divmod(ref.shape[axis], step)
    stride, shape = ref.strides[axis], list(ref.shape)
    shape[axis] = step
    parts = [ref.along((count, *shape), (step * stride, *ref.strides))]
    if rest:
        shape[axis] = rest
        parts.append(ref.along(tuple(shape), ref.strides, count * step * stride))
    return parts


def by_part(lowering: Lowering, *parts: Sequence[MemRef]) -> None:
    """Multiply stacks of pieces, and what is left."""
    for x, y, out in zip(*parts, strict=False):
        over_stack(lowering, np.matmul, [x, y], [out], packs=False)


def added_up(lowering: Lowering, sums: MemRef, out: MemRef) -> None:
    """Add the sums of pieces, element by element in the order of memory if that is the same."""
    if is_c_order(out):
        out = out.seen(np.ravel)
        sums = sums.along((sums.shape[0], *out.shape), (sums.strides[0], *out.strides))
    brought_together(lowering, np.add, sums, (0,), out, out.dtype)


def laid_out(lowering: Lowering, ref: MemRef, order: str) -> MemRef:
    """Copy a matrix into another order."""
    there = lowering.temporary(ref.shape if order == "C" else ref.shape[::-1], ref.dtype)
    there = there if order == "C" else there.seen(np.transpose)
    copy(lowering, ref, there)
    return there


NAMES = tuple(
    f"{prefix}openblas_get_num_threads{suffix}"
    for prefix in ("scipy_", "")
    for suffix in ("64_", "")
)
"""What OpenBLAS calls the function that tells how many threads it has, in NumPy's builds of it."""


@functools.cache
def thread_counter() -> Callable[[], int]:
    """Find the function that tells how many threads OpenBLAS has, or one that gives 0."""
    library = ctypes.CDLL(LAPACK.__file__) if hasattr(LAPACK, "__file__") else None
    found = [getattr(library, name, None) for name in NAMES]
    return next((each for each in found if each is not None), int)


def blas_threads() -> int:
    """Say how many threads BLAS has, which share a large product: 0 where nobody knows."""
    return thread_counter()()
