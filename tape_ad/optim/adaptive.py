"""Optimizers that give every parameter a rate of its own, from the sizes of its gradients."""

from typing import ClassVar

import numpy as np
from attrs import Attribute, define, field

from tape_ad.optim.base import Optimizer
from tape_ad.optim.descent import decayed
from tape_ad.optim.fitting import Plain, at_least_zero, below_one

__all__ = ["Adagrad", "Adam", "AdamW", "RMSprop"]

Betas = tuple[float, float]


def as_betas(values: Betas) -> Betas:
    """Make two floats of a pair of numbers."""
    first, second = values
    return float(first), float(second)


def both_below_one(optimizer: "Adam", attribute: "Attribute[Betas]", value: Betas) -> None:
    """Check the shares that the two averages of Adam keep."""
    if not all(0 <= beta < 1 for beta in value):
        raise ValueError(f"{type(optimizer).__name__}: betas must lie in [0, 1), got {value}")


@define(eq=False)
class Adam(Optimizer):
    """Adam: a running mean of the gradient over the root of that of its square.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    betas : tuple of two floats
        The shares that the running means of the gradient and of its square keep in each step.
    eps : float
        What is added to the root.
    weight_decay : float
        How much of the parameter itself is added to the gradient.
    amsgrad : bool
        Whether to divide by the largest mean square so far.
    state : dict of str to array
        ``"exp_avg.{name}"``, ``"exp_avg_sq.{name}"``, with `amsgrad`
        ``"max_exp_avg_sq.{name}"``, and ``"step"``.

    Notes
    -----
    Kingma & Ba, https://arxiv.org/abs/1412.6980; amsgrad: Reddi, Kale & Kumar,
    https://arxiv.org/abs/1904.09237. As in PyTorch, a complex parameter is two real ones.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> Adam(lr=0.5).step(params, {"w": np.array([4.0, 0.0])})
    >>> params["w"].round(6)
    array([0.5, 2. ])
    """

    lr: float = field(default=1e-3, converter=float, validator=at_least_zero)
    betas: Betas = field(default=(0.9, 0.999), converter=as_betas, validator=both_below_one)
    eps: float = field(default=1e-8, converter=float, validator=at_least_zero)
    weight_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    amsgrad: bool = False

    kinds: ClassVar[tuple[str, ...]] = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    counts: ClassVar[bool] = True

    def _kinds_used(self) -> tuple[str, ...]:
        return self.kinds if self.amsgrad else self.kinds[:2]

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        self._descend(p, decayed(g, p, self.weight_decay), kept, scratch, count)

    def _descend(
        self,
        p: Plain,
        g: Plain,
        kept: list[Plain],
        scratch: Plain,
        count: int,
        shrink: float = 1.0,
    ) -> None:
        mean, square = kept[:2]
        mean_kept, square_kept = self.betas
        np.subtract(g, mean, out=scratch, dtype=p.dtype)
        scratch *= 1 - mean_kept
        mean += scratch
        add_square(square, g, square_kept, scratch)
        if self.amsgrad:
            square = np.maximum(square, kept[2], out=kept[2])
        np.sqrt(square, out=scratch)
        scratch /= (1 - square_kept**count) ** 0.5
        scratch += self.eps
        np.divide(mean, scratch, out=scratch)
        scratch *= self.lr / (1 - mean_kept**count)
        if shrink != 1:
            p *= shrink
        p -= scratch


@define(eq=False)
class AdamW(Adam):
    """Adam with a weight decay that is apart from the gradient: p -= lr * weight_decay * p.

    Parameters
    ----------
    lr, betas, eps, amsgrad, state
        As for `Adam`.
    weight_decay : float
        The share of the parameter that a step takes away, in units of `lr`.

    Notes
    -----
    Loshchilov & Hutter, https://arxiv.org/abs/1711.05101.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> AdamW(lr=0.5, weight_decay=0.1).step(params, {"w": np.array([4.0, 0.0])})
    >>> params["w"].round(6)
    array([0.45, 1.9 ])
    """

    weight_decay: float = field(default=1e-2, converter=float, validator=at_least_zero)

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        self._descend(p, g, kept, scratch, count, 1 - self.lr * self.weight_decay)


@define(eq=False)
class RMSprop(Optimizer):
    """RMSprop: the gradient over the root of a running mean of its square.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    alpha : float
        The share that the running mean of the square keeps in each step.
    eps : float
        What is added to the root.
    weight_decay : float
        How much of the parameter itself is added to the gradient.
    momentum : float
        The fraction of the velocity that each step keeps, in [0, 1).
    centered : bool
        Whether to divide by the root of the variance instead of that of the mean square.
    state : dict of str to array
        ``"square_avg.{name}"``, with a momentum ``"momentum_buffer.{name}"``, and with
        `centered` ``"grad_avg.{name}"``.

    Notes
    -----
    Tieleman & Hinton, lecture 6.5 of "Neural Networks for Machine Learning", 2012; centered:
    Graves, https://arxiv.org/abs/1308.0850.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> RMSprop(lr=0.05).step(params, {"w": np.array([4.0, 0.0])})
    >>> params["w"].round(6)
    array([0.5, 2. ])
    """

    lr: float = field(default=1e-2, converter=float, validator=at_least_zero)
    alpha: float = field(default=0.99, converter=float, validator=below_one)
    eps: float = field(default=1e-8, converter=float, validator=at_least_zero)
    weight_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    momentum: float = field(default=0.0, converter=float, validator=below_one)
    centered: bool = False

    kinds: ClassVar[tuple[str, ...]] = ("square_avg", "momentum_buffer", "grad_avg")

    def _kinds_used(self) -> tuple[str, ...]:
        wanted = (True, self.momentum > 0, self.centered)
        return tuple(kind for kind, want in zip(self.kinds, wanted, strict=True) if want)

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        g = decayed(g, p, self.weight_decay)
        square = kept[0]
        add_square(square, g, self.alpha, scratch)
        if self.centered:
            mean = kept[-1]
            np.subtract(g, mean, out=scratch, dtype=p.dtype)
            scratch *= 1 - self.alpha
            mean += scratch
            np.multiply(mean, mean, out=scratch)
            np.subtract(square, scratch, out=scratch)
            np.maximum(scratch, 0, out=scratch)  # rounding may have taken it below
            np.sqrt(scratch, out=scratch)
        else:
            np.sqrt(square, out=scratch)
        scratch += self.eps
        np.divide(g, scratch, out=scratch, dtype=p.dtype)
        if self.momentum:
            velocity = kept[1]
            velocity *= self.momentum
            velocity += scratch
            np.copyto(scratch, velocity)
        scratch *= self.lr
        p -= scratch


@define(eq=False)
class Adagrad(Optimizer):
    """Adagrad: the gradient over the root of the sum of all its squares so far.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    lr_decay : float
        The rate of step n, counted from 0, is lr / (1 + n * lr_decay).
    weight_decay : float
        How much of the parameter itself is added to the gradient.
    initial_accumulator_value : float
        What the sum starts from.
    eps : float
        What is added to the root.
    state : dict of str to array
        ``"sum.{name}"``, and ``"step"``.

    Notes
    -----
    Duchi, Hazan & Singer, https://jmlr.org/papers/v12/duchi11a.html.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> Adagrad(lr=0.5).step(params, {"w": np.array([4.0, 0.0])})
    >>> params["w"].round(6)
    array([0.5, 2. ])
    """

    lr: float = field(default=1e-2, converter=float, validator=at_least_zero)
    lr_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    weight_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    initial_accumulator_value: float = field(default=0.0, converter=float, validator=at_least_zero)
    eps: float = field(default=1e-10, converter=float, validator=at_least_zero)

    kinds: ClassVar[tuple[str, ...]] = ("sum",)
    counts: ClassVar[bool] = True

    def _start(self, kind: str, p: Plain) -> Plain:
        start = np.zeros_like(p, subok=False)
        start += self.initial_accumulator_value * (1 + 1j if p.dtype.kind == "c" else 1)
        return start

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        g = decayed(g, p, self.weight_decay)
        [total] = kept
        np.multiply(g, g, out=scratch, dtype=p.dtype)
        total += scratch
        np.sqrt(total, out=scratch)
        scratch += self.eps
        np.divide(g, scratch, out=scratch, dtype=p.dtype)
        scratch *= self.lr / (1 + (count - 1) * self.lr_decay)
        p -= scratch


def add_square(square: Plain, g: Plain, share: float, scratch: Plain) -> None:
    """Move a running mean of squares on in place; `scratch` is overwritten."""
    np.multiply(g, g, out=scratch, dtype=scratch.dtype)
    scratch *= 1 - share
    square *= share
    square += scratch
