"""Initialisers: random arrays whose spread keeps signals of one size from layer to layer.

Each is called as ``initializer(rng, shape, dtype)``. The names and the default values are
PyTorch's, where Kaiming is He's given name and Xavier Glorot's; nothing is written in place.

The fans, the number of inputs of an output and of outputs of an input, are read from the shape: a
dense matrix is (inputs, outputs), and a convolution's kernel is ``(outputs, inputs, *kernel)``.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = [
    "Initializer",
    "calculate_gain",
    "constant",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "ones",
    "orthogonal",
    "uniform",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Plain = np.ndarray[Any, Any]
Shape = tuple[int, ...]


class Initializer(Protocol):
    """What makes an array of a shape and a floating dtype, with a generator to draw from."""

    def __call__(self, rng: np.random.Generator, shape: Shape, dtype: Any, /) -> Plain:
        """Make an array of initial values."""


def zeros(rng: np.random.Generator, shape: Shape, dtype: npt.DTypeLike = np.float64) -> Plain:
    """Make zeros; nothing is drawn.

    Examples
    --------
    >>> zeros(np.random.default_rng(0), (2,))
    array([0., 0.])
    """
    return np.zeros(shape, dtype)


def ones(rng: np.random.Generator, shape: Shape, dtype: npt.DTypeLike = np.float64) -> Plain:
    """Make ones; nothing is drawn.

    Examples
    --------
    >>> ones(np.random.default_rng(0), (2,))
    array([1., 1.])
    """
    return np.ones(shape, dtype)


def constant(value: float) -> Initializer:
    """Make an initialiser that gives one value.

    Examples
    --------
    >>> constant(0.1)(np.random.default_rng(0), (2,), np.float64)
    array([0.1, 0.1])
    """
    return lambda rng, shape, dtype=np.float64: np.full(shape, value, dtype)


def uniform(bound: float) -> Initializer:
    """Make an initialiser that draws from U(-bound, bound).

    Examples
    --------
    >>> bool(np.abs(uniform(0.1)(np.random.default_rng(0), (100,), np.float64)).max() <= 0.1)
    True
    """
    return lambda rng, shape, dtype=np.float64: rng.uniform(-bound, bound, shape).astype(dtype)


def normal(std: float) -> Initializer:
    """Make an initialiser that draws from N(0, std²)."""
    return lambda rng, shape, dtype=np.float64: rng.normal(0, std, shape).astype(dtype)


def kaiming_uniform(
    rng: np.random.Generator,
    shape: Shape,
    dtype: npt.DTypeLike = np.float64,
    *,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
) -> Plain:
    """Draw from U(-b, b) with b = gain * sqrt(3 / fan): He's initialisation, for ReLU networks.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
    dtype : floating dtype
    a : float
        The slope of the leaky ReLU below 0.
    mode : "fan_in" or "fan_out"
        Whether signals keep their size on the way forward or the gradients on the way back.
    nonlinearity : str
        What follows the layer; see `calculate_gain`.

    Returns
    -------
    array

    Notes
    -----
    He, Zhang, Ren & Sun, "Delving deep into rectifiers", https://arxiv.org/abs/1502.01852.

    Examples
    --------
    >>> w = kaiming_uniform(np.random.default_rng(0), (6, 100))
    >>> bool(np.abs(w).max() <= 1)
    True
    """
    gain = calculate_gain(nonlinearity, a)
    return uniform(gain * math.sqrt(3 / fan(shape, mode)))(rng, shape, dtype)


def kaiming_normal(
    rng: np.random.Generator,
    shape: Shape,
    dtype: npt.DTypeLike = np.float64,
    *,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
) -> Plain:
    """Draw from N(0, s²) with s = gain / sqrt(fan): He's initialisation, for ReLU networks.

    See `kaiming_uniform` for the parameters.

    Examples
    --------
    >>> kaiming_normal(np.random.default_rng(0), (2, 100)).std().round(1)
    np.float64(1.0)
    """
    gain = calculate_gain(nonlinearity, a)
    return normal(gain / math.sqrt(fan(shape, mode)))(rng, shape, dtype)


def xavier_uniform(
    rng: np.random.Generator, shape: Shape, dtype: npt.DTypeLike = np.float64, *, gain: float = 1.0
) -> Plain:
    """Draw from U(-b, b) with b = gain * sqrt(6 / (fan_in + fan_out)): Glorot's initialisation.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
    dtype : floating dtype
    gain : float
        For what follows the layer; see `calculate_gain`.

    Returns
    -------
    array

    Notes
    -----
    Glorot & Bengio, "Understanding the difficulty of training deep feedforward neural networks",
    2010, equation 16.

    Examples
    --------
    >>> bool(np.abs(xavier_uniform(np.random.default_rng(0), (3, 3))).max() <= 1)
    True
    """
    fan_in, fan_out = fans(shape)
    return uniform(gain * math.sqrt(6 / (fan_in + fan_out)))(rng, shape, dtype)


def xavier_normal(
    rng: np.random.Generator, shape: Shape, dtype: npt.DTypeLike = np.float64, *, gain: float = 1.0
) -> Plain:
    """Draw from N(0, s²) with s = gain * sqrt(2 / (fan_in + fan_out)): Glorot's initialisation.

    See `xavier_uniform` for the parameters.

    Examples
    --------
    >>> xavier_normal(np.random.default_rng(0), (100, 100)).std().round(2)
    np.float64(0.1)
    """
    fan_in, fan_out = fans(shape)
    return normal(gain * math.sqrt(2 / (fan_in + fan_out)))(rng, shape, dtype)


def lecun_uniform(
    rng: np.random.Generator, shape: Shape, dtype: npt.DTypeLike = np.float64
) -> Plain:
    """Draw from U(-b, b) with b = sqrt(3 / fan_in): LeCun's initialisation, for `selu` networks.

    Notes
    -----
    LeCun, Bottou, Orr & Müller, "Efficient backprop", 1998, section 4.6.

    Examples
    --------
    >>> bool(np.abs(lecun_uniform(np.random.default_rng(0), (3, 100))).max() <= 1)
    True
    """
    return uniform(math.sqrt(3 / fans(shape)[0]))(rng, shape, dtype)


def lecun_normal(
    rng: np.random.Generator, shape: Shape, dtype: npt.DTypeLike = np.float64
) -> Plain:
    """Draw from N(0, 1 / fan_in): LeCun's initialisation, for `selu` networks.

    Notes
    -----
    See `lecun_uniform`.

    Examples
    --------
    >>> lecun_normal(np.random.default_rng(0), (100, 100)).std().round(2)
    np.float64(0.1)
    """
    return normal(math.sqrt(1 / fans(shape)[0]))(rng, shape, dtype)


def orthogonal(
    rng: np.random.Generator, shape: Shape, dtype: npt.DTypeLike = np.float64, *, gain: float = 1.0
) -> Plain:
    """Draw a matrix with orthonormal rows or columns, whichever are fewer, times the gain.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
        Axes behind the first count as one.
    dtype : floating dtype
    gain : float

    Returns
    -------
    array

    Raises
    ------
    ValueError
        When the shape has fewer than two axes.

    Notes
    -----
    Saxe, McClelland & Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep
    linear neural networks", https://arxiv.org/abs/1312.6120. The signs that QR leaves open are
    fixed so that all orthogonal matrices are equally likely: Mezzadri, "How to generate random
    matrices from the classical compact groups", https://arxiv.org/abs/math-ph/0609050.

    Examples
    --------
    >>> q = orthogonal(np.random.default_rng(0), (2, 3))
    >>> bool(np.allclose(q @ q.T, np.eye(2)))
    True
    """
    if len(shape) < 2:
        raise ValueError(f"orthogonal: the shape needs at least two axes, got {shape}")
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diagonal(r))
    made: Plain = (gain * (q.T if rows < columns else q)).reshape(shape).astype(dtype)
    return made


GAINS: dict[str, Callable[[float], float]] = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "sigmoid"), lambda a: 1.0),
    "tanh": lambda a: 5.0 / 3,
    "relu": lambda a: math.sqrt(2.0),
    "leaky_relu": lambda a: math.sqrt(2.0 / (1 + a * a)),
    "selu": lambda a: 3.0 / 4,
}
"""PyTorch's table; the last one is a compromise that it gives no source for."""


def calculate_gain(nonlinearity: str, param: float = 0.01) -> float:
    """Give what a nonlinearity takes from the size of signals, to be made up for.

    Parameters
    ----------
    nonlinearity : str
        The name of a function in `tape_ad.nn`; "linear" for none.
    param : float
        The slope of "leaky_relu" below 0.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        When the nonlinearity is not one of the table.

    Examples
    --------
    >>> calculate_gain("relu")
    1.4142135623730951
    """
    if nonlinearity not in GAINS:
        raise ValueError(f"there is a gain for {', '.join(GAINS)}, not for {nonlinearity!r}")
    return GAINS[nonlinearity](param)


def fans(shape: Shape) -> tuple[int, int]:
    """Count the inputs of an output and the outputs of an input.

    Raises
    ------
    ValueError
        When the shape has fewer than two axes.
    """
    if len(shape) < 2:
        raise ValueError(f"a weight has at least two axes, got the shape {shape}")
    if len(shape) == 2:
        return shape
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def fan(shape: Shape, mode: str) -> int:
    """Choose one of the fans."""
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f'mode must be "fan_in" or "fan_out", got {mode!r}')
    return fans(shape)[mode == "fan_out"]
