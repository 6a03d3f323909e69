"""Iteration spaces: loop interchange and collapsing, and the strides of operands."""

from collections.abc import Sequence

from attrs import frozen

__all__ = ["IterationSpace", "iteration_space"]

SHORT = 8
"""Below which length the inner loop is along another axis, if there is a longer one."""


@frozen
class IterationSpace:
    """An iteration space: outer loops, the inner loop, and the operands' strides along them.

    Attributes
    ----------
    dims : tuple of int
        The lengths of the outer loops.
    length : int
        Of the inner loop.
    outer : list of tuple of int
        For each operand its strides along the outer loops.
    steps : list of int
        For each operand its stride along the inner loop.
    """

    dims: tuple[int, ...]
    length: int
    outer: list[tuple[int, ...]]
    steps: list[int]


def iteration_space(
    shape: Sequence[int], strides: Sequence[Sequence[int]], ordered: bool = False
) -> IterationSpace:
    """Interchange the loops of a space by their strides, and collapse those that are contiguous.

    Parameters
    ----------
    shape : sequence of int
    strides : sequence of sequence of int
        For each operand.
    ordered : bool
        Whether the axes have to stay as they are.
    """
    if not shape:
        return IterationSpace((), 1, [()] * len(strides), [0] * len(strides))
    axes = list(zip(shape, *strides, strict=True))
    if not ordered:
        axes.sort(key=lambda axis: -sum(map(abs, axis[1:])))
    merged = [axes[0]]
    for axis in axes[1:]:
        before = merged[-1]
        if all(b == a * axis[0] for b, a in zip(before[1:], axis[1:], strict=True)):
            merged[-1] = (before[0] * axis[0], *axis[1:])
        else:
            merged.append(axis)
    if merged[-1][0] < SHORT and len(merged) > 1 and not ordered:
        longest = max(range(len(merged)), key=lambda k: (merged[k][0], k))
        if merged[longest][0] >= 4 * merged[-1][0]:
            merged.append(merged.pop(longest))
    *outer, inner = merged
    dims = tuple(axis[0] for axis in outer)
    count = len(strides)
    return IterationSpace(
        dims,
        inner[0],
        [tuple(axis[1 + k] for axis in outer) for k in range(count)],
        list(inner[1:]),
    )
