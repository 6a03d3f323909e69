"""Optimizers: they update an external store of parameters in place, from a map of gradients."""

from collections.abc import Mapping, MutableMapping, Set
from typing import Any

import numpy as np
from attrs import Attribute, define, field

from tape_ad.errors import InPlaceError, StoreMismatchError
from tape_ad.tensor import Tensor

__all__ = ["SGD"]

Plain = np.ndarray[Any, Any]


def rate(optimizer: Any, attribute: "Attribute[float]", value: float) -> None:
    """Check a learning rate."""
    if not 0 < value < np.inf:
        raise ValueError(f"SGD: lr must be a positive number, got {value}")


def fraction(optimizer: Any, attribute: "Attribute[float]", value: float) -> None:
    """Check a coefficient of momentum."""
    if not 0 <= value < 1:
        raise ValueError(f"SGD: momentum must lie in [0, 1), got {value}")


@define(eq=False)
class SGD:
    """Gradient descent, with momentum if wanted.

    Parameters
    ----------
    lr : float
        The learning rate, above 0. It may be set between steps.
    momentum : float
        The fraction of the velocity that each step keeps, in [0, 1).
    state : dict of str to array
        The velocity of each parameter. It is empty before the first step and where there is no
        momentum, and belongs to one store; save and load it beside the parameters to go on later.

    Notes
    -----
    As PyTorch's ``torch.optim.SGD`` does: v = momentum * v + g, then p -= lr * v, where v starts
    from 0. See Sutskever, Martens, Dahl & Hinton, "On the importance of initialization and
    momentum in deep learning", 2013, for the other formula, where lr multiplies g.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> SGD(lr=0.5).step(params, {"w": np.array([2.0, 0.0])})
    >>> params["w"]
    array([0., 2.])
    """

    lr: float = field(converter=float, validator=rate)
    momentum: float = field(default=0.0, converter=float, validator=fraction)
    state: dict[str, Plain] = field(factory=dict, kw_only=True, repr=False)

    def step(self, params: MutableMapping[str, Plain], gradients: Mapping[str, Plain]) -> None:
        """Move every parameter against its gradient, in place.

        Everything is checked before anything is changed. A gradient that is not finite is applied
        as it is, without a warning.

        Parameters
        ----------
        params : dict of str to array
            The store, not what `ComputationRecord.bind` makes of it. Its arrays keep their dtype.
        gradients : mapping of str to array
            What ``grads.wrt(p)`` gives: the same names, each with its parameter's shape.

        Raises
        ------
        StoreMismatchError
            When names, shapes or dtypes differ, or when a parameter cannot be written to.
        InPlaceError
            When the store holds handles.
        """
        if not isinstance(gradients, Mapping):
            raise TypeError(
                "gradients must be a mapping from names to arrays, such as grads.wrt(p), got "
                f"{type(gradients).__name__}"
            )
        if params.keys() != gradients.keys():
            raise different_names(params.keys(), gradients.keys())
        fitting = {name: checked(name, p, gradients[name]) for name, p in params.items()}
        velocities = self._velocities(params) if self.momentum else {}
        self.state.update(velocities)
        with np.errstate(all="ignore"):  # a warning made an error would stop half-way
            for name, g in fitting.items():
                p = params[name]
                if velocities:
                    v = velocities[name]
                    v *= self.momentum
                    v += g
                    p -= self.lr * v
                else:
                    p -= np.multiply(g, self.lr, dtype=p.dtype)

    def _velocities(self, params: Mapping[str, Plain]) -> dict[str, Plain]:
        velocities = {}
        for name, p in params.items():
            v = self.state.get(name)
            if v is None:
                v = np.zeros_like(p, subok=False)
            elif v.shape != p.shape or v.dtype != p.dtype or not v.flags.writeable:
                raise StoreMismatchError(
                    f"the velocity of {name!r} is {described(v)}, but the parameter is "
                    f"{described(p)}; use one optimizer for one store, and restore its state with "
                    "the store it was saved beside"
                )
            velocities[name] = v
        return velocities


def checked(name: str, p: Any, g: Any) -> Plain:
    """Check that a parameter can be written to and that its gradient fits; give the gradient."""
    if type(p) is type(g) is np.ndarray:  # nearly always all of it holds, so look at that first
        same = p.shape == g.shape and p.dtype == g.dtype
        if same and p.dtype.kind in "fc" and p.flags.writeable:
            return g
    if type(p) is Tensor or type(g) is Tensor:
        raise InPlaceError(
            f"{name!r} is a handle, and handles are never written to; pass the plain store that "
            "rec.bind was given, and .data of gradients that belong to an enclosing record"
        )
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


def described(array: Plain) -> str:
    """Describe an array in an error."""
    kind = "an array" if array.flags.writeable else "a read-only array"
    return f"{kind} of dtype {array.dtype} and shape {array.shape}"


def different_names(store: Set[str], gradients: Set[str]) -> StoreMismatchError:
    """Say which names stand on one side only."""
    without, extra = sorted(store - gradients), sorted(gradients - store)
    return StoreMismatchError(
        f"the gradients' names differ from the store's: missing {without}, unknown {extra}; pass "
        "the gradients of exactly the parameters that are to be updated"
    )
