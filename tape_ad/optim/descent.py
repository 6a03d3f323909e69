"""Gradient descent, plain and with momentum."""

from typing import ClassVar

import numpy as np
from attrs import define, field

from tape_ad.optim.base import Optimizer
from tape_ad.optim.fitting import Plain, at_least_zero, below_one

__all__ = ["SGD", "decayed"]


@define(eq=False)
class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    momentum : float
        The fraction of the velocity that each step keeps, in [0, 1).
    dampening : float
        The fraction of the gradient that is left out of the velocity, except in the first step.
    weight_decay : float
        How much of the parameter itself is added to the gradient.
    nesterov : bool
        Whether to look ahead along the velocity. Needs a momentum, and no dampening.
    state : dict of str to array
        The velocities, as ``"momentum_buffer.{name}"``; none where there is no momentum.

    Notes
    -----
    As PyTorch's ``torch.optim.SGD`` does: v = momentum * v + (1 - dampening) * g, where v starts
    as g, then p -= lr * v, or p -= lr * (g + momentum * v) with Nesterov's. See Sutskever,
    Martens, Dahl & Hinton, "On the importance of initialization and momentum in deep learning",
    2013, for the other formula, where lr multiplies g.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> SGD(lr=0.5).step(params, {"w": np.array([2.0, 0.0])})
    >>> params["w"]
    array([0., 2.])
    """

    lr: float = field(default=1e-3, converter=float, validator=at_least_zero)
    momentum: float = field(default=0.0, converter=float, validator=below_one)
    dampening: float = field(default=0.0, converter=float, validator=at_least_zero)
    weight_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    nesterov: bool = False

    kinds: ClassVar[tuple[str, ...]] = ("momentum_buffer",)

    def __attrs_post_init__(self) -> None:
        if self.nesterov and (self.momentum == 0 or self.dampening != 0):
            raise ValueError(
                "SGD: nesterov=True needs a momentum above 0 and no dampening, got momentum="
                f"{self.momentum} and dampening={self.dampening}"
            )

    def _kinds_used(self) -> tuple[str, ...]:
        return self.kinds if self.momentum else ()

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        g = decayed(g, p, self.weight_decay)
        if not self.momentum:
            np.multiply(g, self.lr, out=scratch, dtype=p.dtype)
            p -= scratch
            return
        [v] = kept
        if fresh:
            v[...] = g
        else:
            v *= self.momentum
            v += np.multiply(g, 1 - self.dampening, out=scratch) if self.dampening else g
        np.multiply(v, self.momentum if self.nesterov else self.lr, out=scratch)
        if self.nesterov:
            scratch += g
            scratch *= self.lr
        p -= scratch


def decayed(g: Plain, p: Plain, weight_decay: float) -> Plain:
    """Add a share of the parameter to its gradient."""
    if not weight_decay:
        return g
    total: Plain = np.multiply(p, weight_decay)
    total += g
    return total
