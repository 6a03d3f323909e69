"""What the batching of every kind of function begins with."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from tape_ad.base.arrays.interpreter import Batch, is_box
from tape_ad.batching.arrays import BatchedArray, batched_size, in_front, shape_of_one
from tape_ad.record.primals import memory_of
from tape_ad.rules.maps.memory import Layout

Function = Callable[..., Any]
Options = Mapping[str, Any]
Handler = Callable[[Batch, Function, Any, Options], Any]


class Looped(Exception):  # noqa: N818 - it is no error, but a way to go
    """A call that is to be made for one after the other."""


def loop_over() -> NoReturn:
    """Have a call made for one member of a batch after the other."""
    raise Looped


def is_of(leaf: Any, batch: Batch) -> bool:
    """Tell whether something is an array of this batch."""
    return type(leaf) is BatchedArray and leaf.batch_here is batch


def named(args: Sequence[Any], kwargs: Options, *names: str) -> list[Any]:
    """List arguments, whether they stand by place or by name."""
    rest = names[len(args) :]
    if len(args) > len(names) or kwargs.keys() - set(rest):
        raise Looped
    return [*args, *(kwargs[name] for name in rest)]


def lone(batch: Batch, args: Sequence[Any], kwargs: Options) -> BatchedArray:
    """Give the first argument, if it is batched and nothing else is."""
    if not args or not is_of(args[0], batch):
        raise Looped
    for other in (*args[1:], *kwargs.values()):
        refuse_batched(batch, other)
    first: BatchedArray = args[0]
    return first


def refuse_batched(batch: Batch, tree: Any) -> None:
    """Have a call made for one after the other where something batched is in an option."""
    if is_of(tree, batch):
        raise Looped
    if isinstance(tree, (list, tuple)):
        for each in tree:
            refuse_batched(batch, each)


def ndim_of(x: Any) -> int:
    """Count the axes of an operand of one."""
    return int(x.ndim) if hasattr(x, "ndim") else len(shape_of_one(x))


def all_of(batch: Batch, x: Any, ndim: int) -> Any:
    """Give an operand for all, whose own axes are made `ndim` where it is batched."""
    return in_front(x, ndim) if is_of(x, batch) else x


def spread(batch: Batch, x: Any) -> Any:
    """Give an array for all, also of what is the same for each."""
    if is_of(x, batch):
        return x.stack
    return np.broadcast_to(x, (batch.size, *shape_of_one(x)))


def blank_of_one(x: BatchedArray) -> Any:
    """Make memory without numbers that lies as that of one does, where there is no batch.

    What says whether something is a view of one can be asked of it. It is None where each has no
    memory of NumPy's. What an argument shows is a part of the array that was given; anything else
    lies as closely as it would if it were made for one.
    """
    memory, batches = x.stack, [x.batch_here]
    while is_box(memory):  # of which no more is relied on than how it lies
        if type(memory) is BatchedArray:
            batches.append(memory.batch_here)
            memory = memory.stack
        else:
            memory = memory.data
    if not isinstance(memory, np.ndarray):
        return None
    layout = Layout.of(memory)
    for batch in reversed(batches):
        length, step, inside = layout.shape[0], abs(layout.strides[0]), layout.strides[1:]
        if not is_argument(batch, memory):
            inside = tuple(
                stride // length if 0 < step < abs(stride) and not stride % length else stride
                for stride in inside
            )
        layout = Layout(layout.shape[1:], inside, layout.dtype)
    before, after = layout.span
    return layout.on(np.empty(before + after, np.uint8), before)


def is_argument(batch: Batch, memory: Any) -> bool:
    """Tell whether what is written to an array would be seen outside of the function."""
    arrays = [memory_of(x.stack) for x in batch.given if type(x) is BatchedArray]
    return any(np.may_share_memory(memory, each) for each in arrays)


def as_shape(shape: Any) -> tuple[int, ...]:
    """Write a shape as a tuple."""
    if isinstance(shape, (tuple, list)) or hasattr(shape, "__iter__"):
        return tuple(map(operator.index, shape))
    return (operator.index(shape),)


def as_axis(axis: Any, ndim: int) -> int:
    """Count an axis of one as an axis of all."""
    axis = operator.index(axis)
    shifted: int = axis + 1 if axis >= 0 else axis
    if not -ndim <= axis < ndim:
        raise Looped  # where it is refused, or taken for a number
    return shifted


def as_axes(axis: Any, ndim: int) -> Any:
    """Shift an axis, or each of several, past the axis of the batch; see `as_axis`."""
    if isinstance(axis, (tuple, list)):
        return tuple(as_axis(each, ndim) for each in axis)
    return as_axis(axis, ndim)


def flattened(x: BatchedArray) -> Any:
    """Give the elements of each in a row."""
    return x.stack.reshape((x.batch_here.size, batched_size(x.shape)))
