"""What blocks hold: the records of checkpoints, and the maps of custom rules.

A block stands in a record as one node. What depends on what within it is found where it computes it
again: in a record of its own, which is made for the question, and gone after.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.transforms.blocks import BlockPartial, Use
from tape_ad.transforms.custom_rules import Custom
from tape_ad.transforms.recomputation import Recomputed, Repeated, of_operands
from tape_ad.transforms.recomputation import arrays as as_arrays
from tape_ad.transforms.tracing import Trace, trace

__all__ = ["Step", "maps_of", "steps_of"]


@frozen(eq=False)
class Step:
    """A record of what a block computes, or of one step of it.

    Attributes
    ----------
    traced : Trace
    slots : list of int
        Which leaves of the block's arguments its inputs are. Where there is a next step, the leaves
        of the output are its first ones.
    """

    traced: Trace
    slots: list[int]


def steps_of(partial: BlockPartial) -> Iterator[Step] | None:
    """Record what a block computes, step by step; None for a function that nobody records."""
    use, block = partial.use, partial.use.block
    if isinstance(block, Recomputed):
        return iter([recomputed(block, use)])
    return repeated(block, use) if isinstance(block, Repeated) else None


def recomputed(block: Recomputed, use: Use) -> Step:
    """Record again what a checkpoint has left out."""
    with np.errstate(all="ignore"):
        traced = trace(of_operands(block.function, use), use.values, {}, range(len(use.values)))
    return Step(traced, list(use.slots))


def repeated(block: Repeated, use: Use) -> Iterator[Step]:
    """Record the steps of a checkpointed sequence one after the other."""
    form = use.form()
    (state, *params), _ = form.arguments(use.values)
    state = as_arrays(state)
    for _ in range(block.n):
        with np.errstate(all="ignore"):
            traced, slots, _ = block.recorded_step(state, params, form)
            state = as_arrays(traced.value(traced.output))
        yield Step(traced, slots)


def maps_of(partial: BlockPartial) -> list[Any] | None:
    """Give the maps of a custom rule, for each operand; None where it is a pull or a push."""
    use, block = partial.use, partial.use.block
    if not isinstance(block, Custom) or block.partials is None:
        return None
    args, kwargs = use.arguments(use.values)
    return block.maps(use, args, kwargs)
