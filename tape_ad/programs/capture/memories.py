"""Whose memory a result shows."""

from typing import Any

import numpy as np

from tape_ad.base.trees import structure_of
from tape_ad.programs.capture.traced_arrays import TracedArray
from tape_ad.programs.capture.traced_scalars import TracedScalar

__all__ = ["is_index", "is_of_memory", "tracers_in"]


def tracers_in(tree: Any) -> list[Any]:
    """List what is captured in a tree."""
    kind: Any = type(tree)
    if kind is TracedArray or kind is TracedScalar:
        return [tree]
    if kind is tuple or kind is list:
        return [x for each in tree for x in tracers_in(each)]
    if kind is dict:
        return tracers_in(list(tree.values()))
    structure = structure_of(kind)
    return [] if structure is None else tracers_in(list(structure.values(tree)))


def is_index(tracer: Any) -> bool:
    """Tell whether something captured is a number, as one that an array is indexed with."""
    return type(tracer) is TracedScalar or tracer.data.ndim == 0


def is_of_memory(out: Any, operand: Any) -> bool:
    """Tell whether a result shows the memory of an operand."""
    if out is operand:
        return True
    if type(operand) is not np.ndarray:
        return False
    base = out.base
    if type(base) is np.ndarray and (base is operand or base is operand.base):
        return True
    return out.size > 0 and np.may_share_memory(out, operand)
