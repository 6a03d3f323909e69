"""Schedules: functions from the number of a step, counted from 0, to a learning rate.

Nothing is attached to an optimizer: write ``optimizer.lr = schedule(step)`` before a step.
"""

import math
from collections.abc import Callable

from attrs import field, frozen

from tape_ad.optim.clipping import at_least_one, at_least_zero

Schedule = Callable[[int], float]
"""From the number of a step, counted from 0, to the learning rate of that step."""


@frozen
class Constant:
    """A schedule with the same rate for every step.

    Parameters
    ----------
    lr : float

    Examples
    --------
    >>> Constant(0.1)(1000)
    0.1
    """

    lr: float = field(validator=at_least_zero)

    def __call__(self, step: int) -> float:
        """Give the rate of a step."""
        return self.lr


@frozen
class StepDecay:
    """A rate that is multiplied by `gamma` after every `step_size` steps.

    Parameters
    ----------
    lr : float
        The rate to begin with.
    step_size : int
    gamma : float

    Notes
    -----
    As PyTorch's ``StepLR``.

    Examples
    --------
    >>> [StepDecay(1.0, 2, gamma=0.5)(step) for step in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    lr: float = field(validator=at_least_zero)
    step_size: int = field(validator=at_least_one)
    gamma: float = field(default=0.1, validator=at_least_zero)

    def __call__(self, step: int) -> float:
        """Give the rate of a step."""
        return float(self.lr * self.gamma ** (step // self.step_size))


@frozen
class Cosine:
    """Half a cosine, from `lr` at step 0 down to `eta_min` at step `steps` and from there on.

    Parameters
    ----------
    lr : float
        The rate to begin with.
    steps : int
        How many steps it takes.
    eta_min : float
        The rate at the end.

    Notes
    -----
    As PyTorch's ``CosineAnnealingLR`` up to its ``T_max``, where that one turns upwards again:
    Loshchilov & Hutter, https://arxiv.org/abs/1608.03983, without restarts.

    Examples
    --------
    >>> [round(Cosine(1.0, 4)(step), 3) for step in range(6)]
    [1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """

    lr: float = field(validator=at_least_zero)
    steps: int = field(validator=at_least_one)
    eta_min: float = field(default=0.0, validator=at_least_zero)

    def __call__(self, step: int) -> float:
        """Give the rate of a step."""
        share = (1 + math.cos(math.pi * min(step, self.steps) / self.steps)) / 2
        return self.eta_min + (self.lr - self.eta_min) * share


@frozen
class WarmUp:
    """A straight line up to where another schedule begins, and then that one from its step 0.

    Parameters
    ----------
    then : Schedule
        What follows. Its rate at step 0 is what the line leads to.
    steps : int
        How many steps the line takes.
    start_factor : float
        The share of that rate which step 0 gets.

    Notes
    -----
    As PyTorch's ``LinearLR``, followed by the other one in a ``SequentialLR``.

    Examples
    --------
    >>> [WarmUp(Constant(1.0), steps=4, start_factor=0.5)(step) for step in (0, 2, 4, 6)]
    [0.5, 0.75, 1.0, 1.0]
    """

    then: Schedule
    steps: int = field(validator=at_least_one)
    start_factor: float = field(default=1 / 3, validator=at_least_zero)

    def __call__(self, step: int) -> float:
        """Give the rate of a step."""
        if step >= self.steps:
            return self.then(step - self.steps)
        share = self.start_factor + (1 - self.start_factor) * step / self.steps
        return self.then(0) * share
