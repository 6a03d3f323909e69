"""Initial value problems differentiated through the steps that SciPy's solver has taken.

SciPy solves on plain arrays. The steps that it accepted are then taken again on handles, with the
same formulae, so that what is differentiated is the discrete solution itself. How long
they are is a constant, but for the last one where the end of the time span moves.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad import Tensor
from tape_ad.extend.arrays import Array, array_of, primal
from tape_ad.extend.facts import composed
from tape_ad.extend.maps import SAME, adjoint
from tape_ad.extend.patterns import dense
from tape_ad.extend.rules import Entry, jointly, overridable
from tape_ad.scipy.installed import scipy

__all__ = ["STEPS"]


@overridable
def advanced(h: Array, y: Array, *slopes: Array, weights: Array) -> Array:
    """Compute ``y + h * (weights[0] * slopes[0] + weights[1] * slopes[1] + ...)``.

    Parameters
    ----------
    h : number or Tensor
    y : array or Tensor, shape (n,)
    *slopes : array or Tensor, shape (n,)
        As many as there are weights.
    weights : array, shape (s,)

    Returns
    -------
    array or Tensor, shape (n,)
    """
    return y + sloped(weights, slopes) * h


def sloped(weights: Array, slopes: Sequence[Array]) -> Array:
    """Add up slopes with weights, in the way in which SciPy does."""
    return np.dot(np.stack(slopes).T, weights)


def partials(
    positions: Sequence[int], out: Array, h: Array, y: Array, *slopes: Array, weights: Array
) -> list[Any]:
    """Make the partials of `advanced`."""
    first = sloped(weights, slopes) if 0 in positions else None
    return [weights[i - 2] * h if i > 1 else SAME if i else first for i in positions]


@define(eq=False, repr=False)
class Functional:
    """The product with a matrix of numbers, for each element of the node a row.

    Parameters
    ----------
    matrix : array, shape (node.size, parent.size)
        The gradients of the node's elements, under the real inner product.
    shape, parent : tuple of int
        The shapes of the node and of the parent.
    """

    pattern = dense
    matrix: Array
    shape: tuple[int, ...]
    parent: tuple[int, ...]

    def push(self, t: Array) -> Array:
        """Take a tangent of the parent to that of the node."""
        stack = t.shape[: t.ndim - len(self.parent)]
        pushed = np.matmul(t.reshape((*stack, -1)), adjoint(self.matrix))
        return np.real(pushed).reshape((*stack, *self.shape))

    def pull(self, ct: Array) -> Array:
        """Take a cotangent of the node to that of the parent."""
        stack = ct.shape[: ct.ndim - len(self.shape)]
        return np.matmul(ct.reshape((*stack, -1)), self.matrix).reshape((*stack, *self.parent))


STEPS: dict[Any, Entry] = {
    advanced: jointly(
        partials,
        signature=lambda h, y, *slopes, weights: ((h, y, *slopes), {"weights": weights}),
        facts=composed(inspect.unwrap(advanced)),
    ),
}


Function = Callable[..., Any]

METHODS = {
    "RK23": scipy.integrate.RK23,
    "RK45": scipy.integrate.RK45,
    "DOP853": scipy.integrate.DOP853,
}
"""The methods whose steps are taken again."""


@functools.cache  # a class is a cycle, so one for each method
def watched(method: Any) -> Any:
    """Make the class of a solver that notes where its steps begin and end, in a list `ends`."""

    class Watched(method):  # type: ignore[misc]  # SciPy's classes have no types
        def __init__(self, *args: Any, ends: list[Any], **options: Any) -> None:
            super().__init__(*args, **options)
            self.ends = ends

        def step(self) -> Any:
            message = super().step()
            if self.status != "failed":
                self.ends.append((self.t_old, self.t))
            return message

    return Watched


@define(eq=False)
class Step:
    """One step of a Runge-Kutta method, and the solution on the way.

    Attributes
    ----------
    method : type
        SciPy's class, which has the coefficients.
    fun : callable
        ``fun(t, y)``, shape (n,)
    t_old, t : number or Tensor
        Where it begins and ends.
    y_old, y : array or Tensor, shape (n,)
        The solution there.
    slopes : list of array or Tensor, shape (n,)
        What `fun` gives for the stages and, last, for the end.
    """

    method: Any
    fun: Function
    t_old: Any
    t: Any
    y_old: Any
    slopes: list[Any]
    h: Any = field(init=False)
    y: Any = field(init=False)
    _parts: list[Any] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        method, fun, slopes = self.method, self.fun, self.slopes
        self.h = self.t - self.t_old
        for row, c in zip(method.A[1:], method.C[1:], strict=True):
            stage = self._advanced(row[: len(slopes)])
            slopes.append(fun(self.t_old + c * self.h, stage))
        self.y = self._advanced(method.B)
        slopes.append(fun(self.t_old + self.h, self.y))

    def _advanced(self, weights: Any) -> Any:
        slopes = self.slopes[: len(weights)]
        return advanced(self.h, self.y_old, *slopes, weights=weights)

    def __call__(self, t: Any) -> Any:
        """Interpolate the solution at a time, shape (n,), with SciPy's own polynomial."""
        if primal(self.h) == 0:
            return self.y_old + self.slopes[0] * (t - self.t_old)
        x = (t - self.t_old) / self.h
        if self.method is not scipy.integrate.DOP853:
            powers = x ** np.arange(1, self.method.P.shape[1] + 1)
            return self.y_old + sloped(np.dot(self.method.P, powers), self.slopes) * self.h
        y = 0.0
        for i, part in enumerate(reversed(self.parts)):
            y = (y + part) * (x if i % 2 == 0 else 1 - x)
        return y + self.y_old

    def combined(self, x: Any, h: Any) -> tuple[Any, Any]:
        """Give what is combined to the solution on the way, and the weights at some places.

        Parameters
        ----------
        x : array, shape (m,)
            Shares of the step, which may be one of several.
        h : array, shape (m,)
            How long those are.

        Returns
        -------
        parts : array or Tensor, shape (k, n)
        weights : array, shape (m, k)
        """
        x, h = np.reshape(x, (-1, 1)), np.reshape(h, (-1, 1))
        if self.method is not scipy.integrate.DOP853:
            powers = x ** np.arange(1, self.method.P.shape[1] + 1)
            return np.stack(self.slopes), powers @ self.method.P.T * h
        parts = np.stack(self.parts)
        even = np.arange(len(parts)) % 2 == 0
        return parts, np.cumprod(np.where(even, x, 1 - x), axis=1)

    @property
    def parts(self) -> list[Any]:
        """What the polynomial of DOP853 is made of, for which it takes three more stages."""
        if self._parts is None:
            method, slopes = self.method, list(self.slopes)
            for row, c in zip(method.A_EXTRA, method.C_EXTRA, strict=True):
                stage = advanced(self.h, self.y_old, *slopes, weights=row[: len(slopes)])
                slopes.append(self.fun(self.t_old + c * self.h, stage))
            change, first, last = self.y - self.y_old, self.slopes[0], self.slopes[-1]
            stacked = np.stack(slopes)
            self._parts = [
                change,
                self.h * first - change,
                2 * change - self.h * (last + first),
                *(self.h * np.dot(row, stacked) for row in method.D),
            ]
        return self._parts


def steps_of(
    method: Any, fun: Function, ends: Sequence[tuple[Any, Any]], y0: Any, t0: Any, tf: Any
) -> list[Step]:
    """Repeat the steps of an integration at given times, on handles.

    Parameters
    ----------
    method : type
    fun : callable
        ``fun(t, y)``, which may close over handles.
    ends : sequence of tuple of float
        Where the steps began and ended.
    y0 : array or Tensor, shape (n,)
    t0 : Tensor or None
        What to take for the first beginning; None for the plain number.
    tf : number, Tensor or None
        What to take for the last end; None where an event has ended the search, so that the last
        step keeps its length as well.
    """

    def slope(t: Any, y: Any) -> Any:
        value = array_of(fun(t, y))
        return value if value.shape == y.shape else np.broadcast_to(value, y.shape)

    steps: list[Step] = []
    y, t, slopes = y0, ends[0][0] if t0 is None else t0, None
    for i, (begin, end) in enumerate(ends):
        if tf is not None and i == len(ends) - 1:
            t_new = tf
        else:  # a step keeps its length where the beginning moves
            t_new = t + (end - begin) if type(t) is Tensor else end
        step = Step(method, slope, t, t_new, y, [slope(t, y) if slopes is None else slopes])
        steps.append(step)
        y, t, slopes = step.y, t_new, step.slopes[-1]
    return steps


@define(eq=False)
class DenseSolution:
    """The solution as a function of time, in the place of SciPy's `OdeSolution`.

    Attributes
    ----------
    ts : array, shape (m + 1,)
        Where the steps begin and end.
    interpolants : list of Step
    """

    ts: Array
    interpolants: list[Step]

    @property
    def t_min(self) -> Any:
        """The earliest time that the solution covers."""
        return self.ts.min()

    @property
    def t_max(self) -> Any:
        """The latest time that the solution covers."""
        return self.ts.max()

    def __call__(self, t: Any) -> Any:
        """Evaluate the solution at times, by its interpolants.

        Parameters
        ----------
        t : number, array or Tensor, shape () or (k,)

        Returns
        -------
        Tensor, shape (n,) or (n, k)
        """
        t = array_of(t)
        if t.ndim == 0:
            return self.step_at(primal(t))(t)
        return np.stack([self.step_at(primal(each))(each) for each in t], axis=1)

    def step_at(self, t: Any) -> Step:
        """Find the step that a time is in: the first one that does not end before it."""
        ends = self.ts[1:]
        passed = ends < t if self.ts[-1] >= self.ts[0] else ends > t
        return self.interpolants[min(int(np.sum(passed)), len(self.interpolants) - 1)]

    def step_to(self, t: Any) -> Step | None:
        """Find the step that ends at a time."""
        at = np.flatnonzero(self.ts[1:] == t)
        return self.interpolants[at[0]] if at.size else None
