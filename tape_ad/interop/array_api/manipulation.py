"""Functions that turn, join and pick arrays."""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import primal
from tape_ad.interop.array_api.wrapping import gives_handles


@gives_handles
def broadcast_arrays(*arrays: Any) -> Any:
    """Broadcast arrays against each other; see ``broadcast_arrays`` in the standard."""
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    return tuple([np.broadcast_to(each, shape) for each in arrays])


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Broadcast shapes against each other; see ``broadcast_shapes`` in the standard."""
    return np.broadcast_shapes(*shapes)


@gives_handles
def broadcast_to(x: Any, /, shape: Any) -> Any:
    """Broadcast an array to a shape; see ``broadcast_to`` in the standard."""
    return np.broadcast_to(x, shape)


@gives_handles
def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join arrays along an axis; see ``concat`` in the standard."""
    return np.concatenate(arrays, axis=axis)


@gives_handles
def expand_dims(x: Any, /, axis: Any = 0) -> Any:
    """Insert axes of length one; see ``expand_dims`` in the standard."""
    return np.expand_dims(x, axis)


@gives_handles
def flip(x: Any, /, *, axis: Any = None) -> Any:
    """Reverse axes; see ``flip`` in the standard."""
    return np.flip(x, axis)


@gives_handles
def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Move axes to other places; see ``moveaxis`` in the standard."""
    return np.moveaxis(x, source, destination)


@gives_handles
def permute_dims(x: Any, /, axes: Any) -> Any:
    """Permute axes; see ``permute_dims`` in the standard."""
    return np.transpose(x, axes)


@gives_handles
def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Repeat each element; see ``repeat`` in the standard."""
    return np.repeat(x, repeats, axis)


@gives_handles
def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """Reshape an array; see ``reshape`` in the standard.

    Raises
    ------
    ValueError
        When ``copy=False`` and there is no such view.
    """
    out = np.reshape(np.copy(x) if copy else x, shape)
    if copy is False and out.size and not np.shares_memory(*map(primal, (x, out))):
        raise ValueError("reshape cannot give this without a copy, and copy=False forbids one")
    return out


@gives_handles
def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Roll elements along axes; see ``roll`` in the standard."""
    return np.roll(x, shift, axis)


@gives_handles
def squeeze(x: Any, /, axis: Any) -> Any:
    """Remove axes of length one; see ``squeeze`` in the standard."""
    return np.squeeze(x, axis)


@gives_handles
def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Join arrays along a new axis; see ``stack`` in the standard."""
    return np.stack(arrays, axis)


@gives_handles
def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Take elements along an axis; see ``take`` in the standard."""
    return np.take(x, indices, axis)


@gives_handles
def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Take elements by an index for each; see ``take_along_axis`` in the standard."""
    return np.take_along_axis(x, indices, axis)


@gives_handles
def tile(x: Any, repetitions: Any, /) -> Any:
    """Repeat an array as a whole; see ``tile`` in the standard."""
    return np.tile(x, repetitions)


@gives_handles
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    """Split an array along an axis; see ``unstack`` in the standard."""
    return tuple(np.moveaxis(x, axis, 0))


FUNCTIONS: dict[str, Any] = {
    each.__name__: each
    for each in (
        broadcast_arrays,
        broadcast_shapes,
        broadcast_to,
        concat,
        expand_dims,
        flip,
        moveaxis,
        permute_dims,
        repeat,
        reshape,
        roll,
        squeeze,
        stack,
        take,
        take_along_axis,
        tile,
        unstack,
    )
}
