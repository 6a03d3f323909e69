"""Runs for parts of a batch, where values decide how a function goes on."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.arrays.interpreter import Batch
from tape_ad.base.errors import ShapeError
from tape_ad.base.trees import flatten, with_paths
from tape_ad.batching.arrays import BatchedArray, shape_of_one
from tape_ad.batching.basics import is_of, spread
from tape_ad.batching.generators import renewed
from tape_ad.record.primals import is_number_like, memory_of


@frozen
class Part:
    """What a function gives for some of a batch.

    Attributes
    ----------
    places : array of int
        Which they are.
    output : tree
        The output, of what nobody reads but the structure.
    leaves : list
        Its leaves, for each of them along an axis in front; what is no array of numbers as it is.
    each : list of bool
        Which of the leaves are others for each of them.
    """

    places: Any
    output: Any
    leaves: list[Any]
    each: list[bool]


def part_of(places: Any, output: Any, batch: Batch) -> Part:
    """Take from what a run gives what counts."""
    leaves = flatten(output)
    each = [is_of(leaf, batch) for leaf in leaves]
    stacks = [spread(batch, x) if is_number_like(x) or type(x) is bool else x for x in leaves]
    if batch.counted is not None:
        counted = np.zeros(batch.size, bool)  # a mask, so that what is nan elsewhere stays there
        counted[batch.counted] = True
        stacks = [
            stack[counted] if is_number_like(stack) and np.ndim(stack) else stack
            for stack in stacks
        ]
    return Part(places, output, stacks, each)


def one_alone(front: Any, place: int) -> Any:
    """Give the argument of one."""
    return renewed(front[place]) if type(front) is list else front[place]


def picked(front: Any, places: Any) -> Any:
    """Give the arguments of some."""
    if type(front) is list:
        return [renewed(front[place]) for place in places]
    return front[places]


def has_written(batch: Batch, x: BatchedArray) -> bool:
    """Tell whether an argument was assigned to."""
    memory = memory_of(x.stack) if batch.written else None
    return any(np.may_share_memory(memory, each) for each in batch.written)


def joined_parts(name: str, parts: Sequence[Part]) -> tuple[Any, list[tuple[Any, bool]]]:
    """Put the leaves of the parts in the order of the batch, and tell which are others for each."""
    check_structures(name, [part.output for part in parts])
    order = np.argsort(np.concatenate([part.places for part in parts]))
    joined: list[tuple[Any, bool]] = []
    for column, each in zip(
        zip(*[part.leaves for part in parts], strict=True),
        zip(*[part.each for part in parts], strict=True),
        strict=True,
    ):
        if not is_number_like(column[0]):
            joined.append((the_same(column), False))
            continue
        shapes = {shape_of_one(leaf)[1:] for leaf in column}
        if len(shapes) > 1:
            raise ShapeError(
                f"{name} gives arrays of several shapes in one batch, among them "
                f"{' and '.join(map(str, sorted(shapes)[:2]))}; write np.where(...) for what "
                "depends on values, or call the function in a loop"
            )
        joined.append((np.concatenate(column)[order], any(each)))
    return parts[0].output, joined


def the_same(column: Sequence[Any]) -> Any:
    """Give what is no array of numbers, and has to be the same for each."""
    if not all(leaf == column[0] for leaf in column):
        raise ValueError("what is no array of numbers has to be the same for each of a batch")
    return column[0]


def check_structures(name: str, outputs: Sequence[Any]) -> None:
    """Raise if outputs that are to be joined have several structures."""
    paths = [[path for path, _ in with_paths(output)] for output in outputs]
    if any(each != paths[0] for each in paths):
        raise ValueError(f"{name} gives outputs of several structures in one batch")
