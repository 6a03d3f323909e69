"""What linear systems make of inputs, in steps of time."""

import math
from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, as_constant
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import is_handle, scipy_composition
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.functions import expm
from tape_ad.scipy.signal.forms import matrices_of

__all__ = [
    "SIMULATIONS",
    "dimpulse",
    "discrete_parts",
    "dlsim",
    "dstep",
    "impulse",
    "lsim",
    "step",
]

SIMULATIONS: dict[Any, Entry] = {}


@scipy_composition(SIMULATIONS, scipy.signal.lsim, "system U T X0", trees="system")
def lsim(
    system: Any,
    U: Any,  # noqa: N803 - SciPy's name
    T: Any,  # noqa: N803 - SciPy's name
    X0: Any = None,  # noqa: N803 - SciPy's name
    interp: bool = True,
) -> tuple[Array, Array, Array]:
    """Simulate a continuous system, as `scipy.signal.lsim` does.

    Parameters
    ----------
    system : tuple of array or Tensor
        A numerator and a denominator; zeros, poles and a gain; or four matrices.
    U : array or Tensor, or None
        The input at each time, with an axis for several inputs.
    T : array or Tensor, shape (n,)
        The times, evenly spaced. The derivative is right for times that stay so.
    X0 : array or Tensor, optional
        The state at first.
    interp : bool
        Whether the input is linear between the times, or constant.

    Returns
    -------
    tuple of array or Tensor
        The times, the outputs and the states.
    """
    return simulated(*matrices_of(system), U, T, X0, interp)


def simulated(
    a: Array, b: Array, c: Array, d: Array, inputs: Any, given: Any, first: Any, interp: bool
) -> tuple[Array, Array, Array]:
    """Simulate a continuous system; see `lsim`."""
    times = as_array(given)
    times = times.reshape((1,)) if times.ndim == 0 else times
    if times.ndim != 1:
        raise ValueError("T must be a rank-1 array.")
    if bool(times[0] < 0):
        raise ValueError("Initial time must be nonnegative")
    start = np.zeros(a.shape[0], a.dtype) if first is None else as_array(first)
    start = start * np.ones(a.shape[0], a.dtype)
    if is_handle(times) or not bool(times[0] == 0):
        start = start @ expm(a.T * times[0])
    start = start.astype(a.dtype)  # as all states are
    idle = inputs is None or not (is_handle(inputs) or np.any(inputs))
    if times.shape[0] == 1:
        out = np.squeeze(start @ c.T)
        return times, out if idle else out + np.squeeze(inputs @ d.T), np.squeeze(start[None])
    dt = times[1] - times[0]
    if not bool(np.allclose(np.diff(times), dt)):
        raise ValueError("Time steps are not equally spaced.")
    if idle:
        states = in_steps(start, expm(a.T * dt), [None] * (times.shape[0] - 1))
        return times, np.squeeze(states @ c.T), np.squeeze(states)
    u = as_array(inputs)
    u = u.reshape((-1, 1)) if u.ndim < 2 else u
    if u.shape[0] != times.shape[0]:
        raise ValueError("U must have the same number of rows as elements in T.")
    if u.shape[1] != b.shape[1]:
        raise ValueError("System does not define that many inputs.")
    forward, driven = (through_lines if interp else through_steps)(a * dt, b * dt, u)
    states = in_steps(start, forward, driven)
    return times, np.squeeze(states @ c.T) + np.squeeze(u @ d.T), np.squeeze(states)


def in_steps(state: Array, forward: Array, driven: Any) -> Array:
    """Go from one state, a row, to the next, and list all of them."""
    states = [state]
    for each in driven:
        state = state @ forward if each is None else state @ forward + each
        states.append(state)
    return np.stack(states).astype(states[0].dtype)


def through_steps(a: Array, b: Array, u: Array) -> tuple[Array, Array]:
    """Make the matrix of a step, and what an input adds that is constant in it."""
    n, m = b.shape
    both = np.concatenate((np.concatenate((a, b), axis=1), np.zeros((m, n + m))))
    stepped = expm(both.T)
    return stepped[:n, :n], u[:-1] @ stepped[n:, :n]


def through_lines(a: Array, b: Array, u: Array) -> tuple[Array, Array]:
    """Make the matrix of a step, and what an input adds that is linear in it."""
    n, m = b.shape
    upper = np.concatenate((a, b, np.zeros((n, m))), axis=1)
    middle = np.eye(m, n + 2 * m, n + m)
    stepped = expm(np.concatenate((upper, middle, np.zeros((m, n + 2 * m)))).T)
    last = stepped[n + m :, :n]
    return stepped[:n, :n], u[:-1] @ (stepped[n : n + m, :n] - last) + u[1:] @ last


def times_of(a: Array, given: Any, count: int | None) -> Array:
    """Make the times of a response, by the slowest pole where none are given."""
    if given is not None:
        return as_array(given)
    poles = np.linalg.eigvals(a)
    near = np.abs(poles[:, None] - poles) < 1e-6 * np.max(np.abs(poles))
    if is_handle(a) and near.sum() > poles.shape[0]:
        raise UnsupportedArgumentError(
            "tape_ad.scipy.signal.impulse and step: the times follow the slowest pole where T= is "
            "left out, and poles that meet have no derivative by the handle; pass T="
        )
    slowest = np.min(np.abs(np.real(poles)))
    slowest = slowest if bool(slowest != 0) else 1.0
    return np.linspace(0.0, 7.0 * (1.0 / slowest), 100 if count is None else count)


@scipy_composition(SIMULATIONS, scipy.signal.impulse, "system X0 T", trees="system")
def impulse(
    system: Any,
    X0: Any = None,  # noqa: N803 - SciPy's name
    T: Any = None,  # noqa: N803 - SciPy's name
    N: int | None = None,  # noqa: N803 - SciPy's name
) -> tuple[Array, Array]:
    """Compute the impulse response of a continuous system, as `scipy.signal.impulse` does.

    Parameters
    ----------
    system, X0, T
        As for `lsim`. Where times are left out they follow the slowest pole.
    N : int, optional
        The number of times.

    Returns
    -------
    tuple of array or Tensor
        The times and the response.
    """
    a, b, c, d = matrices_of(system)
    start = np.squeeze(b if X0 is None else b + X0)
    return simulated(a, b, c, d, None, times_of(a, T, N), start, interp=False)[:2]


@scipy_composition(SIMULATIONS, scipy.signal.step, "system X0 T", trees="system")
def step(
    system: Any,
    X0: Any = None,  # noqa: N803 - SciPy's name
    T: Any = None,  # noqa: N803 - SciPy's name
    N: int | None = None,  # noqa: N803 - SciPy's name
) -> tuple[Array, Array]:
    """Compute the step response of a continuous system, as `scipy.signal.step` does.

    Parameters
    ----------
    system, X0, T, N
        As for `impulse`.

    Returns
    -------
    tuple of array or Tensor
        The times and the response.
    """
    a, b, c, d = matrices_of(system)
    times = times_of(a, T, N)
    ones = np.ones(times.shape, a.dtype)
    return simulated(a, b, c, d, ones, times, X0, interp=False)[:2]


# In discrete time


def discrete_parts(system: Any) -> tuple[tuple[Any, ...], Any]:
    """Take a discrete system apart into its arrays, and its step.

    Raises
    ------
    AttributeError
        When it is a continuous system of SciPy's.
    """
    if isinstance(system, scipy.signal.lti):
        raise AttributeError("dlti systems only: this one is of continuous time")
    if isinstance(system, scipy.signal.dlti):
        return (system,), system.dt
    return tuple(system[:-1]), system[-1]


def discrete_matrices(system: Any) -> tuple[Any, Any]:
    """Take a discrete system to its matrices, and its step."""
    parts, dt = discrete_parts(system)
    return matrices_of(parts[0] if len(parts) == 1 else parts), dt


@scipy_composition(SIMULATIONS, scipy.signal.dlsim, "system u x0", trees="system")
def dlsim(system: Any, u: Any, t: Any = None, x0: Any = None) -> tuple[Array, ...]:
    """Simulate a discrete system, as `scipy.signal.dlsim` does.

    Parameters
    ----------
    system : tuple of array or Tensor
        As for `lsim`, with the step behind.
    u : array or Tensor
        The inputs, with an axis for several ones.
    t : array, optional
        The times of the inputs, between which they are linear.
    x0 : array or Tensor, optional
        The state at first.

    Returns
    -------
    tuple of array or Tensor
        The times, the outputs and, of a system of states, those.
    """
    (a, b, c, d), dt = discrete_matrices(system)
    times, out, states = stepped(a, b, c, d, dt, u, t, x0)
    of_states = len(system) == 5 if type(system) in (tuple, list) else hasattr(system, "A")
    return (times, out, states) if of_states else (times, out)


def stepped(
    a: Array, b: Array, c: Array, d: Array, dt: Any, u: Any, t: Any, x0: Any
) -> tuple[Array, Array, Array]:
    """Simulate a discrete system step by step."""
    u = as_array(u)
    u = u.reshape((-1, 1)) if u.ndim < 2 else u
    if t is None:
        times = np.arange(float(u.shape[0])) * dt
    else:
        t = as_constant(t)
        times = np.linspace(0.0, t[-1], math.floor(t[-1] / float(as_plain(dt))) + 1)
        u = between(t, u, times)
    if u.shape[1] != b.shape[1]:
        raise ShapeError(f"a system of {b.shape[1]} inputs, got an input of shape {u.shape}")
    start = np.zeros(a.shape[0])
    if x0 is not None:
        start = as_array(x0) + start
    states = in_steps(start, a.T, (u @ b.T)[:-1])
    return times, states @ c.T + u @ d.T, states


def as_plain(number: Any) -> Any:
    """Give the value of a number."""
    return number.item() if hasattr(number, "item") else number


def between(t: Array, u: Array, times: Array) -> Array:
    """Take what is linear between samples at other times."""
    left = np.clip(np.searchsorted(t, times, side="right") - 1, 0, t.shape[0] - 2)
    share = ((times - t[left]) / (t[left + 1] - t[left]))[:, None]
    return u[left] * (1 - share) + u[left + 1] * share


def responses(system: Any, x0: Any, t: Any, n: int | None, length: Any) -> tuple[Array, Any]:
    """Simulate a discrete system with an input at each of its places in turn.

    Parameters
    ----------
    length : int or None
        How many samples of it are 1, the others 0.
    """
    (a, b, c, d), dt = discrete_matrices(system)
    outs: tuple[Array, ...] = ()
    step = 1.0
    if t is None:  # as SciPy makes them, with which the last one may get lost in rounding
        number = float(as_plain(dt))
        n = 100 if n is None else n
        t, step = np.linspace(0, n * number, n, endpoint=False), dt / number
    count = as_constant(t).shape[0]
    times: Array = np.zeros(0)
    for i in range(b.shape[1]):
        u = np.zeros((count, b.shape[1]))
        u[:length, i] = 1.0
        times, out, _ = stepped(a, b, c, d, dt, u, t, x0)
        outs = (*outs, out)
    return times * step, outs


@scipy_composition(SIMULATIONS, scipy.signal.dimpulse, "system x0", trees="system")
def dimpulse(system: Any, x0: Any = None, t: Any = None, n: int | None = None) -> tuple[Array, Any]:
    """Compute the impulse responses of a discrete system, as `scipy.signal.dimpulse` does.

    Parameters
    ----------
    system, x0, t
        As for `dlsim`.
    n : int, optional
        The number of samples, 100 when left out.

    Returns
    -------
    tuple
        The times, and a tuple with the response to each input.
    """
    return responses(system, x0, t, n, 1)


@scipy_composition(SIMULATIONS, scipy.signal.dstep, "system x0", trees="system")
def dstep(system: Any, x0: Any = None, t: Any = None, n: int | None = None) -> tuple[Array, Any]:
    """Compute the step responses of a discrete system, as `scipy.signal.dstep` does.

    Parameters
    ----------
    system, x0, t, n
        As for `dimpulse`.

    Returns
    -------
    tuple
        The times, and a tuple with the response to each input.
    """
    return responses(system, x0, t, n, None)
