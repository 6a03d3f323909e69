"""Activations that act element by element and NumPy lacks, each one node, stable for large inputs.

Each stands below its derivative, and `tape_ad.nn` publishes what `__all__` names. Names, parameters
and their default values are PyTorch's, and so is the derivative at a kink: the one from the left.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

import numpy as np

from tape_ad.base.arrays.overridable import SameKind, overridable, same_kind
from tape_ad.base.errors import extra
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, Maker, arguments_of, quiet, rule
from tape_ad.rules.facts import ELEMENTWISE, Facts, along
from tape_ad.rules.maps import Array, LinearMap
from tape_ad.rules.nn.activations import (
    Blocks,
    blocks,
    either,
    exponential,
    floats,
    logistic_slope,
    reach,
    real,
    replaced,
    sigmoid,
    spare,
)
from tape_ad.rules.numpy.continued import bounded, logistic

__all__ = ["elu", "gelu", "glu", "leaky_relu", "selu", "silu", "softplus"]

DENSITY = 1 / math.sqrt(2 * math.pi)
FAR = 30.0
"""Where the probability is 0 or 1, and its slope 0, for good."""

BEND = 0.35
MILLS = (
    *(0.1396186429, 0.139914804, 0.1194170361, 0.1072627731, -0.0274828897),
    *(0.1658018018, -0.2617126695, 0.1469509223, -0.029770439),
)
"""With t = 1 / (1 + BEND a) it is as probable to be below -a as t exp(-a**2 / 2) times this.

It is a polynomial in t, as in Abramowitz & Stegun, 7.1.26: what interpolates that ratio, which
hardly changes, in Chebyshev's points for a up to 15. It is off by at most 4e-8 of itself.
"""


@overridable
def normal_cdf(x: Array, /) -> Array:
    """Compute how probable it is that a standard normal variable is below x.

    Parameters
    ----------
    x : array or Tensor, any shape

    Returns
    -------
    array or Tensor, shape of `x`
        SciPy's `ndtr`; in single precision it is computed here, and off by at most four units of
        rounding, and by one of x**2.

    Raises
    ------
    ImportError
        When SciPy is needed and is not there.

    Examples
    --------
    >>> normal_cdf(np.array([-1.0, 0.0], np.float32)).round(4)
    array([0.1587, 0.5   ], dtype=float32)
    """
    if x.dtype == np.float32:
        return in_single_precision(x)
    with extra("scipy", "gelu", instead='gelu(x, approximate="tanh")'):
        from scipy.special import ndtr
    return inspect.unwrap(ndtr)(x)  # with SCIPY_ARRAY_API set, a function that refuses handles


def in_single_precision(x: Array) -> Array:
    """Compute `normal_cdf` of an array of float32, in half of the time that SciPy's takes."""
    a = np.abs(x)
    a = np.minimum(a, FAR, out=spare(a))
    t = 1 + BEND * a
    t = np.divide(1, t, out=spare(t))
    below = MILLS[-1] * t
    place = spare(below)
    for coefficient in MILLS[-2::-1]:
        below = np.multiply(np.add(below, coefficient, out=place), t, out=place)
    place = spare(a)
    a = np.multiply(a, -0.5 * a, out=place)
    below = np.multiply(below, np.exp(a, out=place), out=spare(below))
    place = spare(below)
    return np.subtract(~np.signbit(x), np.copysign(below, x, out=place), out=place)


def within_reach(x: Array) -> Array:
    """Limit x to where the probability is neither 0 nor 1, so that no power of it overflows."""
    return np.clip(x, -FAR, FAR)


def density(near: Array) -> Array:
    """Differentiate `normal_cdf` at what is `within_reach`."""
    power = near * near * -0.5
    return np.exp(power, out=spare(power)) * DENSITY


NORMAL: dict[Any, Entry] = {
    normal_cdf: rule(
        lambda out, x: density(within_reach(x)), facts=facts.ELEMENTWISE.composed_of(normal_cdf)
    )
}


RECTIFIERS: dict[Any, Entry] = {}
"""The rules of the functions below, which `activation` puts here."""

Options = ParamSpec("Options")

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
"""Klambauer, Unterthiner, Mayr & Hochreiter, https://arxiv.org/abs/1706.02515, equation 14."""

SLOPE = 2 * math.sqrt(2 / math.pi)
CUBIC = 0.044715
"""Hendrycks & Gimpel, https://arxiv.org/abs/1606.08415, section 2."""


def activation(
    derivative: Maker, compute: Maker | None = None, known: Facts = ELEMENTWISE
) -> Callable[[Callable[Concatenate[Any, Options], Any]], SameKind[Options]]:
    """Let handles take a function of `x` over, whose maker of partials is `derivative`.

    Where `compute` is given, it gives the value and what the maker then takes in its place.
    """

    def published(function: Callable[Concatenate[Any, Options], Any]) -> SameKind[Options]:
        public = same_kind(overridable(function))
        signature = arguments_of(public, "x") if function.__defaults__ else None
        saves = compute is not None
        RECTIFIERS[public] = rule(
            derivative,
            signature=signature,
            compute=compute,
            saves=saves,
            facts=known.composed_of(public),
        )
        return public

    return published


def leaky_relu_partial(out: Array, x: Array, negative_slope: float) -> Array:
    """The derivative of leaky ReLU: 1 above 0, and the slope below."""
    return either(np.greater(x, 0), 1.0, negative_slope, x.dtype)


@activation(leaky_relu_partial)
def leaky_relu(x: Array, /, negative_slope: float = 0.01) -> Array:
    """Compute x where it is positive, and ``negative_slope * x`` elsewhere.

    Parameters
    ----------
    x : array or Tensor, any shape
    negative_slope : float

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> leaky_relu(np.array([-1.0, 0.0, 2.0]))
    array([-0.01,  0.  ,  2.  ])
    """
    x = real(x, "leaky_relu")
    return np.maximum(x, 0) + np.minimum(x, 0) * negative_slope


def bent(x: Array, alpha: float, scale: float) -> Array:
    """Compute what `elu` and `selu` have in common."""
    return (np.maximum(x, 0) + alpha * np.expm1(np.minimum(x, 0))) * scale


def bent_partial(x: Array, alpha: float, scale: float) -> Array:
    """The scale, and below 0 times alpha * exp(x)."""
    positive = np.greater(x, 0)
    plain = type(x) is np.ndarray
    e = np.exp(np.minimum(x, 0) if plain else np.where(positive, 0, x))  # at 0 from the left
    return e * either(positive, scale, alpha * scale, x.dtype)


@activation(lambda out, x, alpha: bent_partial(x, alpha, 1.0))
def elu(x: Array, /, alpha: float = 1.0) -> Array:
    """Compute x where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere.

    Parameters
    ----------
    x : array or Tensor, any shape
    alpha : float

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> elu(np.array([-1e4, 0.0, 2.0]))
    array([-1.,  0.,  2.])
    """
    return bent(floats(x, "elu"), alpha, 1.0)


@activation(lambda out, x: bent_partial(x, SELU_ALPHA, SELU_SCALE))
def selu(x: Array, /) -> Array:
    """Compute 1.0507 times `elu` with alpha = 1.6733, which keeps the variance from layer to layer.

    Parameters
    ----------
    x : array or Tensor, any shape

    Returns
    -------
    array or Tensor, shape of `x`

    Notes
    -----
    Klambauer, Unterthiner, Mayr & Hochreiter, "Self-normalizing neural networks", 2017,
    https://arxiv.org/abs/1706.02515.

    Examples
    --------
    >>> selu(np.array([-1e4, 0.0, 1.0])).round(4)
    array([-1.7581,  0.    ,  1.0507])
    """
    return bent(floats(x, "selu"), SELU_ALPHA, SELU_SCALE)


def gelu_gate(x: Array, approximate: str) -> Array:
    """Compute what `gelu` multiplies x with."""
    if approximate == "tanh":  # (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits
        near = within_reach(x)
        return sigmoid(SLOPE * near * (1 + CUBIC * near * near))
    if approximate != "none":
        raise ValueError(f'gelu: approximate must be "none" or "tanh", got {approximate!r}')
    return normal_cdf(x)


def gelu_and_gate(x: Array, approximate: str) -> tuple[Array, Array]:
    """Compute `gelu`, and its gate."""
    x = real(x, "gelu")
    gate = gelu_gate(x, approximate)
    return x * gate, gate


def gelu_partial(gate: Array, x: Array, approximate: str) -> Array:
    """gate + x * gate'."""
    near = within_reach(x)
    if approximate == "none":
        return gate + near * density(near)
    return gate + near * logistic_slope(gate) * (SLOPE * (1 + 3 * CUBIC * near * near))


@activation(gelu_partial, gelu_and_gate)
def gelu(x: Array, /, approximate: str = "none") -> Array:
    """Compute x times the normal distribution's cumulative probability of x.

    Parameters
    ----------
    x : array or Tensor, any shape
    approximate : "none" or "tanh"
        The exact function, which needs the extra `scipy` unless x has single precision, or its
        approximation by a tanh, which is off by less than 5e-4.

    Returns
    -------
    array or Tensor, shape of `x`

    Raises
    ------
    ImportError
        When the exact function needs SciPy, and that is not there.

    Notes
    -----
    Hendrycks & Gimpel, "Gaussian error linear units", https://arxiv.org/abs/1606.08415.

    Examples
    --------
    >>> gelu(np.array([-1e4, 0.0, 1.0]), approximate="tanh").round(4)
    array([-0.    ,  0.    ,  0.8412])
    """
    return gelu_and_gate(x, approximate)[0]


def silu_and_gate(x: Array) -> tuple[Array, Array]:
    """Compute `silu`, and the sigmoid that it multiplies x with."""
    x = real(x, "silu")
    s = sigmoid(x)
    return x * s, s


@quiet
def silu_partial(s: Array, x: Array) -> Array:
    """s + x * s * (1 - s), of which the second term is 0 at both infinities."""
    return s + logistic_slope(s) * bounded(x)


@activation(silu_partial, silu_and_gate)
def silu(x: Array, /) -> Array:
    """Compute x times its `sigmoid`, which is also called swish.

    Parameters
    ----------
    x : array or Tensor, any shape

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> silu(np.array([-1e4, 0.0, 1e4]))
    array([   -0.,     0., 10000.])
    """
    return silu_and_gate(x)[0]


def softplus_of(e: Array, x: Array, beta: float, threshold: float) -> Array:
    """Compute `softplus` from exp(beta * x)."""
    out = np.log1p(e)
    return replaced(out if beta == 1 else out / beta, is_above(x, beta, threshold), x)


def is_above(x: Array, beta: float, threshold: float) -> Array:
    """Tell where `softplus` is x itself."""
    return np.greater(x if beta == 1 else x * beta, min(threshold, reach(x.dtype)))


def softplus_and_slope(x: Array, beta: float, threshold: float) -> tuple[Array, Array]:
    """Compute `softplus`, and sigmoid(beta * x), which is 1 above the threshold."""
    x = real(x, "softplus")
    e = exponential(x if beta == 1 else x * beta)
    out = softplus_of(e, x, beta, threshold)
    if type(x) is np.ndarray:
        slope = np.divide(e, 1 + e, out=spare(e))
    else:  # the slope of that quotient has no digits left where e is large
        slope = logistic(x if beta == 1 else x * beta, math.e)
    return out, replaced(slope, is_above(x, beta, threshold), 1)


@activation(lambda slope, x, beta, threshold: slope, softplus_and_slope)
def softplus(x: Array, /, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """Compute log(1 + exp(beta * x)) / beta, and x itself where beta * x is above a threshold.

    Parameters
    ----------
    x : array or Tensor, any shape
    beta : float
        How sharp the bend is.
    threshold : float
        The function is stable without it (pass ``np.inf``); it is there because PyTorch has it.

    Returns
    -------
    array or Tensor, shape of `x`

    Examples
    --------
    >>> softplus(np.array([-1e4, 0.0, 30.0])).round(4)
    array([ 0.    ,  0.6931, 30.    ])
    """
    x = real(x, "softplus")
    return softplus_of(exponential(x if beta == 1 else x * beta), x, beta, threshold)


def halves(x: Array, axis: int) -> tuple[Array, ...]:
    """Cut an axis in two."""
    length = x.shape[axis]
    if length % 2:
        raise ValueError(f"glu: the axis {axis} of shape {x.shape} has an odd length")
    return blocks(x, 2, axis % x.ndim - x.ndim)


def glu_and_gate(x: Array, axis: int) -> tuple[Array, Array]:
    """Compute `glu`, and the sigmoid in it."""
    value, gate = halves(real(x, "glu"), axis)
    s = sigmoid(gate)
    return value * s, s


@quiet
def glu_partial(s: Array, x: Array, axis: int) -> LinearMap:
    """The partial of GLU, by both halves of its argument."""
    slope = logistic_slope(s) * halves(x, axis)[0]
    return Blocks((s, slope), axis % x.ndim - x.ndim)


@activation(glu_partial, glu_and_gate, along())
def glu(x: Array, /, axis: int = -1) -> Array:
    """Multiply the first half of an axis by the `sigmoid` of its second half.

    Parameters
    ----------
    x : array or Tensor
        Its axis has an even length.
    axis : int

    Returns
    -------
    array or Tensor
        The axis has half the length.

    Raises
    ------
    ValueError
        When the axis has an odd length.

    Examples
    --------
    >>> glu(np.array([3.0, 4.0, 0.0, 1e4]))
    array([1.5, 4. ])
    """
    return glu_and_gate(x, axis)[0]
