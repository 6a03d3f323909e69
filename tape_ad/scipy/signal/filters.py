"""A digital filter along the last axis: ``a(z) y = b(z) x + s``.

In the transposed direct form, which SciPy computes, the state of the delays before the first
sample comes out of them as if it were added to the first samples behind the numerator; s is a[0]
times that state. So everything that the output depends on goes through 1 / a(z):

    dy = 1/a(z) (b(z) dx + db(z) x + ds - da(z) y)

The adjoint of a filter is the filter run backwards in time, with conjugate coefficients; that of
a multiplication by taps is a correlation. See Oppenheim & Schafer, *Discrete-Time Signal
Processing*, section 6.3, for the structure.
"""

from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.signal
from attrs import define

from tape_ad.errors import ShapeError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, axis_of, primal
from tape_ad.extend.maps import Adjoint, Chain, Index, LinearMap, Reshape
from tape_ad.extend.patterns import rows_of
from tape_ad.extend.rules import Entry, add_facts, arguments_of, overridable, rule
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.convolution import Convolution, convolved

__all__ = ["FILTERS", "RECURSION"]


@overridable
def filtered(b: Array, a: Array, x: Array) -> Array:
    """Filter the last axis, from rest.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
        The coefficients of numerator and denominator.
    x : array or Tensor, shape (..., n)

    Returns
    -------
    array or Tensor, shape (..., n)
    """
    return scipy.signal.lfilter(b, a, x)


@overridable
def filtered_from(b: Array, a: Array, x: Array, s: Array) -> Array:
    """Filter the last axis, from a state of the delays.

    Parameters
    ----------
    b, a, x
        As for `filtered`.
    s : array or Tensor, shape (..., max(k, l) - 1)
        The state times a[0], for each signal in `x`.

    Returns
    -------
    array or Tensor, shape (..., n)
    """
    return scipy.signal.lfilter(b, a, x, zi=s / a[0])[0]


@define(eq=False, repr=False)
class Filter:
    """The filter as a map of its input."""

    pattern = rows_of
    b: Array
    a: Array

    def push(self, t: Array) -> Array:
        return filtered(self.b, self.a, t)

    def pull(self, ct: Array) -> Array:
        back = filtered(self.b.conjugate(), self.a.conjugate(), ct[..., ::-1])
        return back[..., ::-1]


def by_taps(taps: int, signal: Array) -> tuple[LinearMap, ...]:
    """Make the maps from taps to what they make of a signal along its last axis."""
    lead = (1,) * (signal.ndim - 1)
    return (
        Reshape((taps,), (*lead, taps)),
        Convolution(signal, (*lead, taps), signal.shape, (0,), "auto"),
    )


def by_numerator(out: Array, b: Array, a: Array, x: Array, s: Any = None) -> LinearMap | None:
    """Make the partial in b."""
    return Chain((*by_taps(b.size, x), Filter(one_like(a), a))) if x.size else None


def by_denominator(out: Array, b: Array, a: Array, x: Array, s: Any = None) -> LinearMap | None:
    """Make the partial in a."""
    return Chain((*by_taps(a.size, out), Filter(-one_like(a), a))) if x.size else None


def by_input(out: Array, b: Array, a: Array, x: Array, s: Any = None) -> LinearMap | None:
    """Make the partial in x."""
    return Filter(b, a) if x.size else None


def by_state(out: Array, b: Array, a: Array, x: Array, s: Array) -> LinearMap | None:
    """Make the partial in the state, of which a short signal sees a part."""
    if x.size == 0:
        return None
    lead, n = s.shape[:-1], x.shape[-1]
    kept = min(n, s.shape[-1])
    key = (*(slice(None),) * len(lead), slice(kept))
    first = Index(key, s.shape, (*lead, kept))
    placed = Adjoint(Index(key, (*lead, n), (*lead, kept)))
    return Chain((first, placed, Filter(one_like(a), a)))


@overridable
def recursed(a: Array, z: Array) -> Array:
    """Divide by a polynomial of the delay: ``sum(a[k] * y[i - k] for k in range(l)) == z[i]``.

    Parameters
    ----------
    a : array or Tensor, shape (..., l)
    z : array or Tensor, shape (..., n)

    Returns
    -------
    array or Tensor, shape (..., n)
    """
    if a.ndim == 1:
        return scipy.signal.lfilter([1.0], a, z)
    lead, n = np.broadcast_shapes(a.shape[:-1], z.shape[:-1]), z.shape[-1]
    if 0 in (*lead, n):
        return np.empty((*lead, n), np.result_type(a, z))
    a, z = np.broadcast_to(a, (*lead, a.shape[-1])), np.broadcast_to(z, (*lead, n))
    # All signals in a row are one system with a lower triangular matrix of few diagonals
    diagonals = np.repeat(a.reshape((-1, a.shape[-1])).T, n, axis=1)
    for k in range(1, len(diagonals)):
        diagonals[k].reshape((-1, n))[:, max(n - k, 0) :] = 0  # from one signal to the next
    (solve,) = scipy.linalg.get_lapack_funcs(("tbtrs",), (diagonals, z))
    y, info = solve(diagonals, z.reshape((-1, 1)), uplo="L")
    if info:
        raise ValueError("lfilter: the first coefficient of a is zero, by which it divides")
    return y.reshape(z.shape)


def delayed(x: Array, k: int) -> Array:
    """Shift along the last axis, with zeros in front."""
    if k == 0:
        return x
    n = x.shape[-1]
    zeros = np.zeros((*x.shape[:-1], min(k, n)), x.dtype)
    return np.concatenate((zeros, x[..., : max(n - k, 0)]), axis=-1)


@define(eq=False, repr=False)
class Recursion:
    """`recursed` as a map of what is divided."""

    broadcasts: ClassVar[bool] = True
    pattern = rows_of
    a: Array

    def push(self, t: Array) -> Array:
        return recursed(self.a, t)

    def pull(self, ct: Array) -> Array:
        return recursed(self.a.conjugate(), ct[..., ::-1])[..., ::-1]


@define(eq=False, repr=False)
class ByRecursion:
    """`recursed` as a map of a change of its coefficients."""

    broadcasts: ClassVar[bool] = True
    pattern = rows_of
    a: Array
    y: Array

    def push(self, t: Array) -> Array:
        terms = [t[..., k, None] * delayed(self.y, k) for k in range(self.a.shape[-1])]
        return -recursed(self.a, sum(terms))

    def pull(self, ct: Array) -> Array:
        back = Recursion(self.a).pull(ct)
        y = self.y.conjugate()
        taps = [np.sum(back * delayed(y, k), axis=-1) for k in range(self.a.shape[-1])]
        return -np.stack(taps, axis=-1)


def filtered_body(b: Array, a: Array, x: Array) -> Array:
    """Filter as `filtered` does."""
    return recursed(a, sum(b[k] * delayed(x, k) for k in range(b.shape[0])))


def filtered_from_body(b: Array, a: Array, x: Array, s: Array) -> Array:
    """Filter as `filtered_from` does."""
    n, m = x.shape[-1], s.shape[-1]
    first = s[..., :n] if m >= n else np.concatenate((s, np.zeros((*s.shape[:-1], n - m))), -1)
    return recursed(a, sum(b[k] * delayed(x, k) for k in range(b.shape[0])) + first)


def one_like(a: Array) -> Array:
    """Make the numerator of 1 / a(z)."""
    return np.ones(1, a.dtype)


RECURSION: dict[Any, Entry] = {
    recursed: rule(
        lambda out, a, z: ByRecursion(a, out),
        lambda out, a, z: Recursion(a),
        signature=arguments_of(recursed, "a z"),
        facts=facts.cores("(l),(n)->(n)"),
    ),
    filtered: rule(
        by_numerator,
        by_denominator,
        by_input,
        signature=arguments_of(filtered, "b a x"),
        facts=facts.cores("(k)!,(l)!,(n)->(n)").also(body=filtered_body),
    ),
    filtered_from: rule(
        by_numerator,
        by_denominator,
        by_input,
        by_state,
        signature=arguments_of(filtered_from, "b a x s"),
        facts=facts.cores("(k)!,(l)!,(n),(d)->(n)").also(body=filtered_from_body),
    ),
}


# Digital filters by the coefficients of a transfer function, or by sections

FILTERS: dict[Any, Entry] = {}


@counterpart(FILTERS, scipy.signal.lfilter, "b a x zi")
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


@counterpart(FILTERS, scipy.signal.lfilter_zi, "b a")
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
    if primal(a[0]) == 0:  # the state is infinite beside it, and so has no derivative by that
        scipy.signal.lfilter_zi(primal(b), primal(a))  # which newer releases refuse
        a = a[np.argmax(primal(a) != 0) :]
    b, a = normalised(b, a)
    order = max(b.shape[0], a.shape[0]) - 1
    b, a = padded(b, order + 1), padded(a, order + 1)
    # The transpose of the companion matrix has -a[1:] in its first column, and ones beside the
    # diagonal
    first = np.eye(1, order, dtype=np.result_type(a))
    delays = np.eye(order, dtype=first.dtype) - np.eye(order, k=1, dtype=first.dtype)
    return np.linalg.solve(delays + a[1:, None] * first, b[1:] - a[1:] * b[0])


@counterpart(FILTERS, scipy.signal.sosfilt, "sos x zi", anchor=True)
def sosfilt(sos: Array, x: Array, axis: int = -1, zi: Any = None) -> Any:
    """Filter along one axis by second-order sections, as `scipy.signal.sosfilt` does.

    Parameters
    ----------
    sos : array or Tensor, shape (sections, 6)
        The three coefficients of the numerator of each, and those of the denominator, of which
        the first is 1.
    x : array or Tensor
    axis : int
    zi : array or Tensor, optional
        The state of the delays at first, of the shape ``(sections, ..., 2, ...)``, where the 2
        stands in the place of the axis.

    Returns
    -------
    array or Tensor, shape of `x`
        With the state at the end behind it where `zi` is given.
    """
    sos, x = sections_of("sosfilt", sos), as_array(x)
    axis = axis_of(x.ndim, axis)
    x = to_last(x, axis)
    if zi is None:
        for i in range(sos.shape[0]):
            x = filtered(sos[i, :3], sos[i, 3:], x)
        return from_last(x, axis)
    zi = as_array(zi)
    states = to_last(zi, axis) if zi.ndim == x.ndim + 1 else zi
    if states.shape != (sos.shape[0], *x.shape[:-1], 2):
        raise ShapeError(
            f"zi of sosfilt has the shape {(sos.shape[0], *x.shape[:-1], 2)}, with the axis of "
            f"the 2 where x is filtered; got {zi.shape}"
        )
    y, zf = through_sections(sos, x, states)
    return from_last(y, axis), from_last(zf, axis)


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


def sections_of(name: str, sos: Array) -> Array:
    """Check the shape of sections, and that their denominators begin with 1.

    Raises
    ------
    ShapeError
    ValueError
        When one does not.
    """
    sos = as_array(sos)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise ShapeError(f"{name} takes sections of shape (n, 6), got {sos.shape}")
    if not (primal(sos)[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    return sos


def through_sections(sos: Array, x: Array, states: Array) -> tuple[Array, Array]:
    """Filter the last axis from states, and give the last states too."""
    ends = []
    for i, zi in enumerate(states):
        x, zf = filtered_with_state(sos[i, :3], sos[i, 3:], x, zi)
        ends.append(zf)
    return x, np.stack(ends)


add_facts(FILTERS, (lfilter_zi,), shape_by_values=True)
