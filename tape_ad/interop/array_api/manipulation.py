"""Functions that turn, join and pick arrays."""

from typing import Any

import numpy as np

from tape_ad.interop.array_api.wrapping import of_standard


def broadcast_arrays(*arrays: Any) -> Any:
    """Broadcast arrays against each other."""
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    return tuple([np.broadcast_to(each, shape) for each in arrays])


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """Reshape an array.

    Raises
    ------
    ValueError
        When ``copy=False`` and there is no such view.
    """
    out = np.reshape(np.copy(x) if copy else x, shape)
    if copy is False and out.size and not np.shares_memory(*map(plain_of, (x, out))):
        raise ValueError("reshape cannot give this without a copy, and copy=False forbids one")
    return out


def plain_of(x: Any) -> Any:
    """Give the numbers of a handle, of any nesting."""
    while hasattr(x, "record"):
        x = x.data
    return x


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Broadcast shapes against each other; see ``broadcast_shapes`` in the standard."""
    return np.broadcast_shapes(*shapes)


FUNCTIONS: dict[str, Any] = {
    "broadcast_shapes": broadcast_shapes,
    **of_standard(
        {
            "broadcast_arrays": broadcast_arrays,
            "broadcast_to": lambda x, /, shape: np.broadcast_to(x, shape),
            "concat": lambda arrays, /, *, axis=0: np.concatenate(arrays, axis=axis),
            "expand_dims": lambda x, /, axis=0: np.expand_dims(x, axis),
            "flip": lambda x, /, *, axis=None: np.flip(x, axis),
            "moveaxis": lambda x, source, destination, /: np.moveaxis(x, source, destination),
            "permute_dims": lambda x, /, axes: np.transpose(x, axes),
            "repeat": lambda x, repeats, /, *, axis=None: np.repeat(x, repeats, axis),
            "reshape": reshape,
            "roll": lambda x, /, shift, *, axis=None: np.roll(x, shift, axis),
            "squeeze": lambda x, /, axis: np.squeeze(x, axis),
            "stack": lambda arrays, /, *, axis=0: np.stack(arrays, axis),
            "take": lambda x, indices, /, *, axis=None: np.take(x, indices, axis),
            "take_along_axis": lambda x, indices, /, *, axis=-1: np.take_along_axis(
                x, indices, axis
            ),
            "tile": lambda x, repetitions, /: np.tile(x, repetitions),
            "tril": lambda x, /, *, k=0: np.tril(x, k),
            "triu": lambda x, /, *, k=0: np.triu(x, k),
            "unstack": lambda x, /, *, axis=0: tuple(np.moveaxis(x, axis, 0)),
        }
    ),
}
