"""SciPy's special functions for handles and arrays, under SciPy's names.

SciPy's ufuncs record themselves when they are called on handles, so write
``scipy.special.gammaln(t)``. A function written in Python turns its arguments into arrays, which
handles refuse; here it stands under the same name, with the same signature. On plain arrays it
gives what SciPy's gives, except that `multigammaln` and `polygamma` keep float32.

With the environment variable SCIPY_ARRAY_API set, SciPy puts a function in Python before its ufuncs
too. In SciPy 1.17 that asks a handle for its namespace and finds the functions here; in SciPy 1.14
it turns the handle into an array, which raises. Every ufunc that has a rule stands here as well, so
write ``tape_ad.scipy.special.gammaln(t)`` in programs that may run with either.

It needs the extra `scipy`, and is not imported with the library: write ``import
tape_ad.scipy.special``.

Examples
--------
>>> import tape_ad as ta
>>> from tape_ad.scipy import special
>>> x = ta.ComputationRecord().tensor([0.0, 0.0])
>>> special.logsumexp(x).grad().wrt(x)
array([0.5, 0.5])
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.packages import extra

with extra("scipy", "tape_ad.scipy.special"):
    import scipy.special  # noqa: F401 - to say what is missing

from tape_ad import Tensor
from tape_ad.extend.arrays import Array, any_handle, joined
from tape_ad.extend.rules import add_rules
from tape_ad.rules.nn import activations
from tape_ad.scipy.counterparts import WITH_VALUE
from tape_ad.scipy.faces import face
from tape_ad.scipy.special import elementary, shared
from tape_ad.scipy.special.gamma_functions import multigammaln as multigammaln
from tape_ad.scipy.special.gamma_functions import polygamma as polygamma
from tape_ad.scipy.special.rules import COUNTERPARTS, SPECIAL

add_rules(SPECIAL)
add_rules(WITH_VALUE)

Axis = int | tuple[int, ...] | None

CALLING_UFUNCS = ("lambertw", "sinc", "softplus", "zeta")
"""Functions that SciPy writes in Python and that record themselves all the same."""

UFUNCS = {
    name: function
    for name, function in vars(shared.sp).items()
    if name in CALLING_UFUNCS or (isinstance(function, np.ufunc) and function in SPECIAL)
}


def logsumexp(
    a: Array, axis: Axis = None, b: Array = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Compute log(sum(b * exp(a))) without overflow; see `scipy.special.logsumexp`.

    Parameters
    ----------
    a : array or Tensor, any shape
    axis : int, tuple of int or None
        The axes to reduce; None for all.
    b : array or Tensor, optional
        Weights, which broadcast with `a` and may be negative.
    keepdims : bool
        Keep the reduced axes with length one.
    return_sign : bool
        Give the logarithm of the sum's absolute value, and its sign.

    Returns
    -------
    array or Tensor, or a pair of it and a plain array of signs

    Raises
    ------
    UnsupportedArgumentError
        For complex handles when `return_sign` is true.

    Examples
    --------
    >>> logsumexp(np.array([1e4, 1e4]))
    np.float64(10000.69314718056)
    """
    a, b = shaped(a, b)
    if not return_sign:
        return elementary.log_sum_exp(a, b, axis, keepdims)
    for operand in (a, b):
        if isinstance(operand, Tensor) and operand.dtype.kind == "c":
            raise UnsupportedArgumentError(
                "scipy.special.logsumexp: return_sign=True is not supported on complex handles; "
                "take the real part of the result of return_sign=False"
            )
    return elementary.log_abs_sum_exp(a, b, axis, keepdims)


def shaped(a: Array, b: Array) -> tuple[Array, Array]:
    """Bring the terms and weights of a sum to one shape, of one axis at least."""
    a, b = joined(a), joined(b)
    if np.ndim(a) == 0:
        a = np.reshape(a, 1)
    if b is None or np.shape(a) == np.shape(b):
        return a, b
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    return np.broadcast_to(a, shape), np.broadcast_to(b, shape)


def softmax(x: Array, axis: Axis = None) -> Any:
    """Compute exp(x) / sum(exp(x)) without overflow; see `scipy.special.softmax`.

    Parameters
    ----------
    x : array or Tensor, any shape
    axis : int, tuple of int or None
        The axes that sum to one; None for all.

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> softmax(np.array([1e4, 1e4, -1e4]))
    array([0.5, 0.5, 0. ])
    """
    return activations.softmax(joined(x), axis)


def log_softmax(x: Array, axis: Axis = None) -> Any:
    """Compute log(softmax(x)), finite also for large inputs; see `scipy.special.log_softmax`.

    Parameters
    ----------
    x : array or Tensor, any shape
    axis : int, tuple of int or None
        The axes that sum to one after `exp`; None for all.

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> log_softmax(np.array([1e4, -1e4]))
    array([     0., -20000.])
    """
    return activations.log_softmax(joined(x), axis)


def in_real_numbers(copy: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function that also counts in Python's integers say that it does so with no handles."""

    @functools.wraps(copy)
    def public(*args: Any, exact: bool = False, **kwargs: Any) -> Any:
        if exact and any_handle((args, kwargs)):
            raise UnsupportedArgumentError(
                f"scipy.special.{copy.__name__} counts in Python's integers when exact=True, so it "
                "cannot be differentiated; write exact=False, or pass .data"
            )
        if kwargs or exact or not any_handle(args) or any(map(np.ndim, args)):
            return copy(*args, exact=exact, **kwargs)
        return copy(*(np.reshape(x, 1) for x in args))[0]  # of numbers SciPy branches on values

    return public


__getattr__, __dir__ = face(
    __name__,
    COUNTERPARTS,
    UFUNCS,
    around=dict.fromkeys(("comb", "factorial", "perm"), in_real_numbers),
)
