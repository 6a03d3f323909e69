"""Filters whose windows or lines are given to a function of the user's."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tape_ad.rules.base import Derivation, Entry, as_array
from tape_ad.rules.maps import Array
from tape_ad.scipy.counterparts import checked_call, joined, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.axes import axes_of, one_axis
from tape_ad.scipy.ndimage.correlation import MODULE
from tape_ad.scipy.ndimage.extension import OUTSIDE, extension
from tape_ad.scipy.ndimage.ranks import around, footprint_of

__all__ = ["USER_FUNCTIONS", "generic_filter", "generic_filter1d"]

generic_filter = scipy_function(scipy.ndimage.generic_filter, MODULE, "input cval extra_arguments")
generic_filter1d = scipy_function(scipy.ndimage.generic_filter1d, MODULE, "input cval")


def extended(image: Array, margins: list[tuple[int, int]], modes: list[str], cval: Any) -> Array:
    """Extend an image beyond its edges, where a mode has it so by a constant."""
    numbers = np.arange(1, image.size + 1).reshape(image.shape)
    places = extension(image.shape, margins, modes).forward(numbers) - 1
    return np.where(places == OUTSIDE, cval, image.reshape(-1)[places.clip(0)])


def generic_filter_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    function: Callable[..., Any],
    size: Any,
    footprint: Any,
    output: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    extra_arguments: Sequence[Any],
    extra_keywords: dict[str, Any] | None,
    *,
    axes: Any = None,
) -> Array:
    """Call a function with the elements around each one."""
    if not input.size:
        return input.astype(output)
    named = axes_of(input.ndim, axes)
    laid = footprint_of(size, footprint, None, len(named))
    choice = around(input.ndim, laid, named, mode, origin, 0)
    window = choice.footprint.shape
    margins = [(b, m - 1 - b) for b, m in zip(choice.before, window, strict=True)]
    values = extended(input, margins, choice.modes, cval)
    parts = [
        values[tuple(slice(k, k + n) for k, n in zip(offset, input.shape, strict=True))]
        for offset in itertools.product(*map(range, window))
        if choice.footprint[offset]
    ]
    rows = np.stack(parts, axis=-1).reshape((-1, len(parts)))
    more = extra_keywords or {}
    found = [as_array(joined(function(row, *extra_arguments, **more))) for row in rows]
    return np.stack(found).reshape(input.shape).astype(output)


def generic_filter1d_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    function: Callable[..., Any],
    filter_size: int,
    axis: int,
    output: Any,
    mode: str,
    cval: Any,
    origin: int,
    extra_arguments: Sequence[Any],
    extra_keywords: dict[str, Any] | None,
) -> Array:
    """Call a function with each extended line, and with one to be filled."""
    if not input.size:
        return input.astype(output)
    axis = one_axis(input.ndim, axis)
    before = filter_size // 2 + origin
    margins, modes = [(0, 0)] * input.ndim, ["nearest"] * input.ndim
    margins[axis], modes[axis] = (before, filter_size - 1 - before), mode
    lines = np.moveaxis(extended(input, margins, modes, cval), axis, -1)
    shape = (*lines.shape[:-1], input.shape[axis])
    found = []
    for line in lines.reshape((-1, lines.shape[-1])):
        out = np.zeros(shape[-1], np.float64, like=line)
        function(line, out, *extra_arguments, **(extra_keywords or {}))
        found.append(out)
    return np.moveaxis(np.stack(found).reshape(shape), -1, axis).astype(output)


USER_FUNCTIONS: dict[Any, Entry] = {
    public: Derivation(checked_call(public, compute))
    for public, compute in (
        (generic_filter, generic_filter_of_handle),
        (generic_filter1d, generic_filter1d_of_handle),
    )
}
