"""Maps of gradients: whether they fit a store, and clipping of those that are too large."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from attrs import Attribute

from tape_ad.base.arrays.overridable import is_dask
from tape_ad.base.errors import InPlaceError, StoreMismatchError
from tape_ad.base.trees import by_name, flatten, map_leaves
from tape_ad.base.vectors import computed
from tape_ad.record.messages.refusals import refuse_to_change
from tape_ad.record.tensor import Tensor

Plain = np.ndarray[Any, Any]

Fitting = list[tuple[str, Plain, Plain]]
"""Name, parameter and gradient, for every parameter of a store."""


def fitting(params: Any, gradients: Any) -> Fitting:
    """Pair every parameter with its gradient.

    Raises
    ------
    TypeError
        When the gradients are no mapping where the parameters are.
    StoreMismatchError
        When names, shapes or dtypes differ, or when a parameter cannot be written to.
    InPlaceError
        When the store or the gradients hold handles.
    """
    if gradients is None:
        raise TypeError(
            "an optimizer holds neither parameters nor gradients; write optimizer.step(params, "
            "loss.grad().wrt(p)), where p is rec.bind(params)"
        )
    if isinstance(params, Mapping) and not isinstance(gradients, Mapping):
        raise TypeError(
            "gradients must be a mapping from names to arrays, such as grads.wrt(p), got "
            f"{type(gradients).__name__}"
        )
    params, gradients = by_name(params), by_name(gradients)
    if params.keys() != gradients.keys():
        raise different_names(params.keys(), gradients.keys())
    pairs = []
    for name, p in params.items():
        g = gradients[name]
        # Nearly always all of this holds, so it is looked at first
        if type(p) is type(g) is np.ndarray and p.shape == g.shape and p.dtype is g.dtype:
            if p.dtype.kind not in "fc" or not p.flags.writeable:
                check_parameter(name, p)
        else:
            if is_dask(type(g)):
                gradients = computed(dict(gradients))
            g = checked_gradient(name, p, gradients[name])
        pairs.append((name, p, g))
    check_apart([name for name, _, _ in pairs], [p for _, p, _ in pairs])
    return pairs


def check_apart(names: Sequence[str], arrays: Sequence[Plain]) -> None:
    """Refuse one array under two names: each would get a step of its own, by a part of the slope.

    Raises
    ------
    StoreMismatchError
    """
    if len(set(map(id, arrays))) == len(arrays):
        return
    first: dict[int, str] = {}
    for name, array in zip(names, arrays, strict=True):
        other = first.setdefault(id(array), name)
        if other != name:
            raise StoreMismatchError(
                f"the parameters {other!r} and {name!r} are one array; keep it under one name, and "
                "use that wherever it is shared: p['w'] twice, or one layer twice"
            )


def check_parameter(name: str, p: Any) -> None:
    """Check that an entry of a store can be updated in place."""
    if type(p) is Tensor:
        raise handle_met(name)
    refuse_to_change(p, f"the parameter {name!r}")
    if not isinstance(p, np.ndarray):
        raise StoreMismatchError(
            f"the parameter {name!r} is a {type(p).__name__}, which cannot be updated in place; "
            "keep NumPy arrays in the store, np.array(2.0) for a single number"
        )
    if p.dtype.kind not in "fc" or not p.flags.writeable:
        raise StoreMismatchError(
            f"the parameter {name!r} is {described(p)}, which cannot be updated in place; keep "
            "writable arrays of a floating or complex dtype in the store"
        )


def checked_gradient(name: str, p: Any, g: Any) -> Plain:
    """Check a parameter and its gradient; give the gradient as an array."""
    if type(g) is Tensor:
        raise handle_met(name)
    check_parameter(name, p)
    gradient: Plain = np.asarray(g)
    if gradient.shape != p.shape:
        raise StoreMismatchError(
            f"the gradient of {name!r} has shape {gradient.shape}, but the parameter has {p.shape}"
        )
    if gradient.dtype.kind not in ("biufc" if p.dtype.kind == "c" else "biuf"):
        raise StoreMismatchError(
            f"the gradient of {name!r} has dtype {gradient.dtype}, which does not fit the "
            f"parameter's {p.dtype}"
        )
    return gradient


def handle_met(name: str) -> InPlaceError:
    """Say that a handle stands where an array is expected."""
    return InPlaceError(
        f"{name!r} is a handle, and handles are never written to; pass the plain store that "
        "rec.bind was given, and .data of gradients that belong to an enclosing record"
    )


def described(array: Plain) -> str:
    """Describe an array in an error."""
    kind = "an array" if array.flags.writeable else "a read-only array"
    return f"{kind} of dtype {array.dtype} and shape {array.shape}"


def different_names(store: Set[str], gradients: Set[str]) -> StoreMismatchError:
    """Describe the names that only one of two structures has."""
    without, extra = sorted(store - gradients), sorted(gradients - store)
    return StoreMismatchError(
        f"the gradients' names differ from the store's: missing {without}, unknown {extra}; pass "
        "the gradients of exactly the parameters that are to be updated"
    )


def at_least_one(owner: Any, attribute: "Attribute[Any]", value: int | None) -> None:
    """Check a number of steps, or a limit of some, which may be None."""
    if value is not None and value < 1:
        raise ValueError(
            f"{type(owner).__name__}: {attribute.name} must be at least 1, got {value}"
        )


def at_least_zero(owner: Any, attribute: "Attribute[float]", value: float) -> None:
    """Check a rate, a decay or the like."""
    if not 0 <= value < np.inf:
        raise ValueError(
            f"{type(owner).__name__}: {attribute.name} must be a finite number, 0 or above, "
            f"got {value}"
        )


def below_one(owner: Any, attribute: "Attribute[float]", value: float) -> None:
    """Check the share of an average that a step keeps."""
    if not 0 <= value < 1:
        raise ValueError(
            f"{type(owner).__name__}: {attribute.name} must lie in [0, 1), got {value}"
        )


def clip_by_value(gradients: Any, clip_value: float) -> Any:
    """Bring every element of the gradients into [-clip_value, clip_value].

    Parameters
    ----------
    gradients : mapping of str to array, or another tree of arrays
        What ``grads.wrt(p)`` gives. Of complex ones, both parts are clipped.
    clip_value : float
        0 or above.

    Returns
    -------
    dict of str to array, or the same tree
        The same names, shapes and dtypes.

    Raises
    ------
    ValueError
        When `clip_value` is below 0 or nan.

    Notes
    -----
    As PyTorch's ``clip_grad_value_`` does, but nothing is written to.

    Examples
    --------
    >>> clip_by_value({"w": np.array([-3.0, 0.5])}, 1.0)
    {'w': array([-1. ,  0.5])}
    """
    limit = checked_limit("clip_by_value: clip_value", clip_value)

    def clipped(gradient: Plain, path: str) -> Plain:
        g = as_floating(gradient).copy()
        for part in (g,) if g.dtype.kind != "c" else (g.real, g.imag):
            np.clip(part, -limit, limit, out=part)
        return g

    return map_leaves(clipped, gradients)


def clip_by_global_norm(gradients: Any, max_norm: float) -> Any:
    """Scale all gradients together so that their norm, as of one long vector, is no larger.

    Parameters
    ----------
    gradients : mapping of str to array, or another tree of arrays
        What ``grads.wrt(p)`` gives.
    max_norm : float
        0 or above.

    Returns
    -------
    dict of str to array, or the same tree
        The same names, shapes and dtypes; the arrays themselves where nothing had to be done.
        `global_norm` gives the norm before.

    Raises
    ------
    ValueError
        When `max_norm` is below 0 or nan.

    Notes
    -----
    As PyTorch's ``clip_grad_norm_`` does, with its factor max_norm / (norm + 1e-6), but nothing
    is written to. A norm that is not finite gives gradients that are not.

    Examples
    --------
    >>> clipped = clip_by_global_norm({"w": np.array([30.0]), "b": np.array([40.0])}, 5.0)
    >>> clipped["w"].round(3), clipped["b"].round(3)
    (array([3.]), array([4.]))
    """
    limit = checked_limit("clip_by_global_norm: max_norm", max_norm)
    norm = np.float64(global_norm(gradients))
    with np.errstate(all="ignore"):
        factor = float(limit / (norm + 1e-6))

    def scaled(gradient: Plain, path: str) -> Plain:
        g = as_floating(gradient)
        with np.errstate(all="ignore"):
            return g if factor >= 1 else np.asarray(np.multiply(g, factor, dtype=g.dtype))

    return map_leaves(scaled, gradients)


def global_norm(gradients: Any) -> float:
    """Give the norm of all gradients together, as of one long vector.

    Parameters
    ----------
    gradients : mapping of str to array, or another tree of arrays
        Real or complex.

    Returns
    -------
    float
        The squares are added in float64 whatever the dtypes are.

    Examples
    --------
    >>> global_norm({"w": np.array([3.0]), "b": [np.array([4.0j])]})
    5.0
    """
    with np.errstate(all="ignore"):
        return float(np.sqrt(sum(sum_of_squares(as_floating(g)) for g in flatten(gradients))))


def sum_of_squares(array: Plain) -> float:
    """Add up |x|² in float64, without an array of them."""
    parts = (array,) if array.dtype.kind != "c" else (array.real, array.imag)
    flats = (part.reshape(-1) for part in parts)
    return sum(
        float(np.einsum("i,i->", flat, flat, dtype=np.float64, casting="same_kind"))
        for flat in flats
    )


def as_floating(gradient: Plain) -> Plain:
    """Take integers and bools to float64, since a clipped one is none; the rest stays as it is."""
    array = np.asarray(gradient)
    return array if array.dtype.kind in "fc" else array.astype(np.float64)


def checked_limit(what: str, value: float) -> float:
    """Check the size that gradients are clipped to."""
    if not value >= 0:
        raise ValueError(f"{what} must be 0 or above, got {value}")
    return float(value)
