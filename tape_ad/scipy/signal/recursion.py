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
import scipy.signal
from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array
from tape_ad.extend.maps import Adjoint, Chain, Index, LinearMap, Reshape
from tape_ad.extend.patterns import rows_of
from tape_ad.extend.rules import Entry, arguments_of, overridable, rule
from tape_ad.scipy.signal.sections import Convolution

__all__ = ["RECURSION", "filtered", "filtered_from"]


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

    broadcasts: ClassVar[bool] = False
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


def one_like(a: Array) -> Array:
    """Make the numerator of 1 / a(z)."""
    return np.ones(1, a.dtype)


RECURSION: dict[Any, Entry] = {
    filtered: rule(
        by_numerator,
        by_denominator,
        by_input,
        signature=arguments_of(filtered, "b a x"),
        facts=facts.cores("(k)!,(l)!,(n)->(n)"),
    ),
    filtered_from: rule(
        by_numerator,
        by_denominator,
        by_input,
        by_state,
        signature=arguments_of(filtered_from, "b a x s"),
        facts=facts.cores("(k)!,(l)!,(n),(d)->(n)"),
    ),
}
