"""Digital filters by the coefficients of a transfer function; see `recursion`."""

from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array, axis_of, primal
from tape_ad.extend.rules import Entry, add_facts
from tape_ad.scipy.counterparts import scipy_composition
from tape_ad.scipy.installed import asked, scipy
from tape_ad.scipy.signal.recursion import filtered, filtered_from
from tape_ad.scipy.signal.sections import convolved

__all__ = ["FILTERS", "filtfilt", "lfilter", "lfilter_zi", "lfiltic"]

FILTERS: dict[Any, Entry] = {}

SKIPS_ZEROS = np.lib.NumpyVersion(scipy.__version__) < "1.18.0"
"""Whether `lfilter_zi` passes over zeros that a denominator begins with; newer ones refuse them."""


@scipy_composition(FILTERS, scipy.signal.lfilter, "b a x zi")
def lfilter(b: Array, a: Array, x: Array, axis: int = -1, zi: Any = None) -> Any:
    """Filter along one axis, as `scipy.signal.lfilter` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
        The coefficients of numerator and denominator, normalised by ``a[0]``.
    x : array or Tensor
    axis : int
    zi : array or Tensor, optional
        The state of the delays at first: of the shape of `x`, but for ``max(k, l) - 1`` along the
        axis, and 1 where it is the same for all.

    Returns
    -------
    array or Tensor, shape of `x`
        With the state at the end behind it where `zi` is given.

    Examples
    --------
    >>> lfilter([1.0], [1.0, -0.5], np.array([1.0, 0.0, 0.0]))
    array([1.  , 0.5 , 0.25])
    """
    b, a, x = coefficients("lfilter", b), coefficients("lfilter", a), as_array(x)
    axis = axis_of(x.ndim, axis)
    x = to_last(x, axis)
    if type(a) is np.ndarray and a[0] == 0:
        raise ValueError("lfilter: the first coefficient of a is zero, by which it divides")
    if zi is None:
        return from_last(filtered(b, a, x), axis)
    y, zf = filtered_with_state(b, a, x, state(as_array(zi), x, b, a, axis))
    return from_last(y, axis), from_last(zf, axis)


@scipy_composition(FILTERS, scipy.signal.lfilter_zi, "b a")
def lfilter_zi(b: Array, a: Array) -> Array:
    """Compute the state in which a filter answers a step at once, as SciPy's `lfilter_zi` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)

    Returns
    -------
    array or Tensor, shape (max(k, l) - 1,)

    Examples
    --------
    >>> lfilter_zi([1.0], [1.0, -0.5])
    array([1.])
    """
    b, a = coefficients("lfilter_zi", b), coefficients("lfilter_zi", a)
    # The state is infinite beside a first coefficient of 0, and so has no derivative by that
    while SKIPS_ZEROS and a.shape[0] > 1 and primal(a[0]) == 0:
        a = a[1:]
    if primal(a[0]) == 0:
        raise ValueError("lfilter_zi: the first coefficient of a is zero")
    b, a = normalised(b, a)
    order = max(b.shape[0], a.shape[0]) - 1
    b, a = padded(b, order + 1), padded(a, order + 1)
    # The transpose of the companion matrix has -a[1:] in its first column, and ones beside the
    # diagonal
    first = np.eye(1, order, dtype=np.result_type(a))
    delays = np.eye(order, dtype=first.dtype) - np.eye(order, k=1, dtype=first.dtype)
    return np.linalg.solve(delays + a[1:, None] * first, b[1:] - a[1:] * b[0])


NORMALISES = asked(lambda: scipy.signal.lfiltic([1.0], [2.0, 1.0], [1.0])[0]) == -0.5
"""Whether this release divides by a[0] here; older ones forgot it, and so do the values then."""


@scipy_composition(FILTERS, scipy.signal.lfiltic, "b a y x")
def lfiltic(b: Array, a: Array, y: Array, x: Any = None) -> Array:
    """Compute the state of a filter from its last outputs and inputs, as SciPy's `lfiltic` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
    y, x : array or Tensor, shapes (m,) and (n,)
        The latest first; what is missing is 0.

    Returns
    -------
    array or Tensor, shape (max(k, l) - 1,)

    Examples
    --------
    >>> lfiltic([1.0], [1.0, -0.5], [2.0])
    array([1.])
    """
    b, a = coefficients("lfiltic", b), coefficients("lfiltic", a)
    a = a.astype(np.result_type(a.dtype, b.dtype))
    if NORMALISES:
        b, a = normalised(b, a)
    order = max(b.shape[0], a.shape[0]) - 1
    out = -tail_part(a, np.flip(padded(coefficients("lfiltic", y)[:order], order)))
    if x is None:
        return out
    return out + tail_part(b, np.flip(padded(coefficients("lfiltic", x)[:order], order)))


@scipy_composition(FILTERS, scipy.signal.filtfilt, "b a x")
def filtfilt(
    b: Array,
    a: Array,
    x: Array,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: int | None = None,
) -> Array:
    """Filter forwards and backwards, as `scipy.signal.filtfilt` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
    x : array or Tensor
    axis : int
    padtype, padlen
        How `x` is continued at its ends, and how far.
    method : str
        "pad", or "gust" for the initial states that make both directions agree best.
    irlen : int, optional
        The length of the impulse response, for "gust".

    Returns
    -------
    array or Tensor, shape of `x`
    """
    b, a, x = coefficients("filtfilt", b), coefficients("filtfilt", a), as_array(x)
    axis = axis_of(x.ndim, axis)
    x = to_last(x, axis)
    if method == "gust":
        return from_last(agreeing(b, a, x, irlen), axis)
    if method != "pad":
        raise ValueError("method must be 'pad' or 'gust'.")
    edge, x = continued(x, padtype, padlen, max(b.shape[0], a.shape[0]))
    zi = lfilter_zi(b, a)
    for _ in range(2):
        y, _ = filtered_with_state(b, a, x, zi * x[..., :1])
        x = y[..., ::-1]
    return from_last(x[..., edge : x.shape[-1] - edge], axis)


def agreeing(b: Array, a: Array, x: Array, irlen: int | None) -> Array:
    """Filter forwards and backwards by Gustafsson's method.

    The initial states of the two runs are those that make it matter least, in least squares,
    which of them is first (Gustafsson 1996, "Determining the initial states in forward-backward
    filtering"). With a given length of the impulse response only the ends are looked at.
    """
    order = max(b.shape[0], a.shape[0]) - 1
    if order == 0:
        return (b[0] / a[0]) ** 2 * x
    n = x.shape[-1]
    m = n if irlen is None or n <= 2 * irlen else irlen
    there = filtered(b, a, filtered(b, a, x)[..., ::-1])[..., ::-1]
    back = filtered(b, a, filtered(b, a, x[..., ::-1])[..., ::-1])
    # Rows: what each initial state makes of a run, and of a run back over that
    zeros = np.zeros((order, m), np.result_type(b, a))
    one, _ = filtered_with_state(b, a, zeros, np.eye(order, dtype=zeros.dtype))
    two = filtered(b, a, one[..., ::-1])
    first, last = two[..., ::-1] - one, one[..., ::-1] - two
    change = back - there
    if m == n:
        system = np.concatenate((first, last))
    else:
        nothing = np.zeros((order, m), zeros.dtype)
        system = np.concatenate(
            (np.concatenate((first, nothing), -1), np.concatenate((nothing, last), -1))
        )
        change = np.concatenate((change[..., :m], change[..., -m:]), -1)
    sides = change.reshape((-1, change.shape[-1]))
    states = np.linalg.lstsq(system.T, sides.T, rcond=None)[0].T
    states = states.reshape((*x.shape[:-1], 2 * order))
    start = states[..., :order] @ two[..., ::-1]
    end = states[..., order:] @ one[..., ::-1]
    if m == n:
        return there + (start + end)
    between = np.zeros((*x.shape[:-1], n - 2 * m), start.dtype)
    return there + np.concatenate((start, between, end), -1)


# What filters share


def coefficients(name: str, c: Array) -> Array:
    """Take coefficients to an array of one axis.

    Raises
    ------
    ShapeError
    """
    c = as_array(c)
    c = c.reshape((1,)) if c.ndim == 0 else c
    if c.ndim != 1 or c.shape[0] == 0:
        raise ShapeError(f"{name} takes coefficients of one axis, got shape {c.shape}")
    return c


def to_last(x: Array, axis: int) -> Array:
    """Move an axis, a negative number, to the end."""
    return x if axis == -1 else np.moveaxis(x, axis, -1)


def from_last(x: Array, axis: int) -> Array:
    """Move the last axis to where it was."""
    return x if axis == -1 else np.moveaxis(x, -1, axis)


def normalised(b: Array, a: Array) -> tuple[Array, Array]:
    """Divide coefficients by a[0]; where that is a plain 1 there is nothing to do."""
    if type(a) is np.ndarray and a[0] == 1:
        return b, a
    return b / a[0], a / a[0]


def padded(c: Array, size: int) -> Array:
    """Fill coefficients up with zeros."""
    return c if c.shape[0] == size else np.concatenate((c, np.zeros(size - c.shape[0], c.dtype)))


def state(zi: Array, x: Array, b: Array, a: Array, axis: int) -> Array:
    """Move the axis of a state to the end, where `x` has it already, and check its shape.

    Raises
    ------
    ShapeError
    """
    order = max(b.shape[0], a.shape[0]) - 1
    zi = to_last(zi, axis) if zi.ndim == x.ndim else zi
    fits = zi.ndim == x.ndim and zi.shape[-1] == order
    if not fits or any(k not in (1, n) for k, n in zip(zi.shape[:-1], x.shape[:-1], strict=True)):
        raise ShapeError(
            f"zi has {order} elements along the axis that is filtered, and the shape of x, or 1, "
            f"along all others; got shape {zi.shape} for {x.shape}, with that axis last"
        )
    return zi


def filtered_with_state(b: Array, a: Array, x: Array, zi: Array) -> tuple[Array, Array]:
    """Filter the last axis from a state, and give the last state too."""
    order, n = zi.shape[-1], x.shape[-1]
    zi = np.broadcast_to(zi, (*x.shape[:-1], order))
    y = filtered_from(b, a, x, zi if type(a) is np.ndarray and a[0] == 1 else zi * a[0])
    if order == 0:
        return y, zi
    b, a = normalised(b, a)
    zf = tail_part(b, last_part(x, order)) - tail_part(a, last_part(y, order))
    if n < order:
        nothing = np.zeros((*zi.shape[:-1], n), zi.dtype)
        zf = zf + np.concatenate((zi[..., n:], nothing), -1)
    return y, zf


def last_part(x: Array, size: int) -> Array:
    """Take so many of the last samples, with zeros before them where there are fewer."""
    n = x.shape[-1]
    if n >= size:
        return x[..., n - size :]
    return np.concatenate((np.zeros((*x.shape[:-1], size - n), x.dtype), x), -1)


def tail_part(c: Array, x: Array) -> Array:
    """Compute what delays hold of the last samples, those of a signal that ends in `x`."""
    order = x.shape[-1]
    taps = c.reshape((1,) * (x.ndim - 1) + c.shape)
    return convolved(x, taps, (order,), (order,), "direct")


def continued(x: Array, padtype: str | None, padlen: int | None, taps: int) -> tuple[int, Array]:
    """Continue the last axis at both ends, as SciPy does before it filters forth and back.

    Returns
    -------
    tuple of int and array
        How far, and the longer signal.

    Raises
    ------
    ValueError
        When there is no such type, or the signal is too short.
    """
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(
            f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd', "
            "'constant', or None."
        )
    edge = 0 if padtype is None else taps * 3 if padlen is None else padlen
    if x.shape[-1] <= edge:
        raise ValueError(
            f"The length of the input vector x must be greater than padlen, which is {edge}."
        )
    if edge == 0:
        return 0, x
    if padtype == "constant":
        widths = [(0, 0)] * (x.ndim - 1) + [(edge, edge)]
        return edge, np.pad(x, widths, mode="edge")
    left, right = x[..., edge:0:-1], x[..., -2 : -edge - 2 : -1]
    if padtype == "odd":
        left, right = 2 * x[..., :1] - left, 2 * x[..., -1:] - right
    return edge, np.concatenate((left, x, right), -1)


add_facts(FILTERS, (lfilter_zi,), shape_by_values=True)
