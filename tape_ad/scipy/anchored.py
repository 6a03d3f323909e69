"""Compositions whose value is SciPy's own, to the last bit and the last sign."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import TRACERS, overridable, takes_over
from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.base.naming import called
from tape_ad.rules import facts, facts_of
from tape_ad.rules.base import Call, Derivation, Entry, jointly
from tape_ad.rules.maps import SAME, Array
from tape_ad.scipy.counterparts import joined
from tape_ad.scipy.mirrored import refuse_elsewhere

__all__ = ["ANCHORED", "anchored", "exactly"]

Function = Callable[..., Any]


class Slot(int):
    """Stands for an array among the arguments of a call: which one of them it is."""


@overridable
def anchored(
    composed: Array,
    number: int | None,
    function: Function,
    args: Any,
    kwargs: Any,
    axis: int | None = None,
) -> Array:
    """Give what a function gives, with the derivative of what stands for it.

    Parameters
    ----------
    composed : array or Tensor
        The function's output, composed of functions that have rules.
    number : int or None
        Which of several outputs it is.
    function : callable
    args, kwargs
        What it is called with.
    axis : int, optional
        The axis that vectors lie along, where what is composed may have others of their signs.

    Returns
    -------
    array or Tensor
    """
    out = function(*args, **kwargs)
    return np.asarray(out if number is None else out[number])[()]


def anchored_signature(
    composed: Array,
    number: int | None,
    function: Function,
    args: Any,
    kwargs: Any,
    axis: int | None = None,
) -> Call:
    """Sort the arguments: the arrays that the function is called with are operands, too."""
    arrays: list[Any] = []

    def stored(argument: Any) -> Any:
        argument = joined(argument)
        if not hasattr(argument, "ndim"):
            return argument
        arrays.append(argument)
        return Slot(len(arrays) - 1)

    layout = tuple(map(stored, args)), {key: stored(each) for key, each in kwargs.items()}
    options = {"number": number, "function": function, "layout": layout, "axis": axis}
    return (composed, *arrays), options


def compute(
    composed: Array,
    *arrays: Any,
    number: int | None,
    function: Function,
    layout: Any,
    axis: int | None,
) -> Any:
    """Call the function one level below."""

    def filled(argument: Any) -> Any:
        return arrays[argument] if type(argument) is Slot else argument

    args, kwargs = layout
    out = function(*map(filled, args), **{key: filled(each) for key, each in kwargs.items()})
    out = out if number is None else out[number]
    out = out if hasattr(out, "dtype") else np.asarray(out)[()]
    if np.shape(composed) != out.shape:  # a sweep would broadcast one to the other
        raise ShapeError(
            f"{called(function)} gives shape {out.shape}, and what is composed for its derivative "
            f"has {np.shape(composed)}"
        )
    return out


def partials(
    positions: Sequence[int],
    out: Array,
    composed: Array,
    *arrays: Any,
    axis: int | None,
    **options: Any,
) -> list[Any]:
    """Make the partial by what is composed, which has all of the derivative."""
    partial: Any = SAME
    if axis is not None:
        overlap = np.add.reduce(composed.conjugate() * out, axis=axis, keepdims=True)
        none = np.equal(overlap, 0)
        phase = np.where(none, 1, overlap / np.where(none, 1, np.abs(overlap)))
        partial = np.broadcast_to(phase, out.shape)
    return [None if position else partial for position in positions]


def exactly(
    public: Function,
    composition: Function,
    *,
    axes: Mapping[int | None, int] = MappingProxyType({}),
    anchor: bool = True,
) -> Derivation:
    """Make the entry of a function that is composed, and has its own value all the same.

    Parameters
    ----------
    public : callable
    composition : callable
        Takes its arguments, with all defaults given, and gives its outputs.
    axes : mapping of int
        For those of its outputs that are vectors of either sign, the axis that they lie along; for
        the only one, under None.
    anchor : bool
        Whether the value is another than that of the composition.
    """
    signature = inspect.signature(public)

    def derived(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        refuse_elsewhere(public, bound.arguments)
        out = composition(*bound.args, **bound.kwargs)
        if not anchor:
            return out
        call = public, args, kwargs
        if not isinstance(out, tuple):
            return settled(out, None, *call, axes.get(None))
        made = [settled(each, i, *call, axes.get(i)) for i, each in enumerate(out)]
        return out._make(made) if hasattr(out, "_make") else tuple(made)

    return Derivation(derived)


def settled(
    out: Any, number: int | None, public: Function, args: Any, kwargs: Any, axis: int | None
) -> Any:
    """Anchor one output, if it has a derivative."""
    if not takes_over(type(out)) or type(out) in TRACERS:
        return out
    return anchored(out, number, public, args, kwargs, axis)


def composed_alone(
    composed: Array,
    number: int | None,
    function: Function,
    args: Any,
    kwargs: Any,
    axis: int | None = None,
) -> Array:
    """Give what is composed, for a batch: but for signs it is the function's value to 1e-12."""
    if axis is not None or facts_of(function).dtype_by_values:
        raise UnsupportedArgumentError(f"{called(function)} has to be asked itself")
    return composed


ANCHORED: dict[Any, Entry] = {
    anchored: jointly(
        partials,
        signature=anchored_signature,
        compute=compute,
        facts=facts.composed(composed_alone),
    ),
}
