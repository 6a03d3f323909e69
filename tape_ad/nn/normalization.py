"""Layers that bring what passes through them to mean 0 and variance 1."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import Attribute, field, frozen

from tape_ad.errors import InPlaceError, ShapeError
from tape_ad.extend.arrays import Array, primal, refuse_to_change
from tape_ad.nn.calls import Params, Rng, layer_call
from tape_ad.nn.initializers import ones, zeros
from tape_ad.nn.layers import FLOAT64
from tape_ad.nn.stores import (
    Layer,
    Moved,
    Parameter,
    as_dtype,
    as_input,
    as_length,
    check_eps,
    check_probability,
    floating,
    named,
    not_negative,
    positive,
)
from tape_ad.rules.nn.activations import real
from tape_ad.rules.nn.normalization import normalize, standardize

__all__ = ["BatchNorm1d", "BatchNorm2d", "GroupNorm", "LayerNorm", "group_norm", "layer_norm"]


def layer_norm(
    x: Array,
    normalized_shape: int | Sequence[int],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Array:
    """Bring each sample to mean 0 and variance 1, then multiply with a weight and add a bias.

    Parameters
    ----------
    x : array or Tensor, shape ``(..., *normalized_shape)``
    normalized_shape : int or tuple of int
        The lengths of the last axes, over which mean and variance are taken.
    weight, bias : array or Tensor, shape normalized_shape, optional
    eps : float
        What is added to the variance.

    Returns
    -------
    array or Tensor, shape of `x`

    Raises
    ------
    ShapeError
        When the last axes of `x` have other lengths.
    ValueError
        When `eps` is below 0.

    Notes
    -----
    Ba, Kiros & Hinton, "Layer normalization", https://arxiv.org/abs/1607.06450.

    Examples
    --------
    >>> layer_norm(np.array([[1.0, 3.0], [5.0, 5.0]]), 2, eps=1e-12)
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    check_eps("layer_norm", eps)
    shape = as_shape(normalized_shape)
    x = real(x, "layer_norm")
    if x.shape[x.ndim - len(shape) :] != shape or x.ndim < len(shape):
        raise ShapeError(
            f"layer_norm: the last axes of an input of shape {x.shape} are not {shape}"
        )
    axes = tuple(range(-len(shape), 0))
    if weight is not None and bias is not None:
        return normalize(x, weight, bias, axes, eps)
    out = standardize(x, axes, eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


def as_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    """Write a length as a shape of one axis."""
    lengths = (shape,) if type(shape) is int or not isinstance(shape, Sequence) else shape
    return tuple(map(as_length, lengths))


def affine_parameters(
    name: str, shape: tuple[int, ...], dtype: np.dtype[Any], affine: bool, bias: bool
) -> dict[str, Parameter]:
    """Describe the weight and the bias of a normalisation, as far as they are wanted."""
    draws = {"weight": ones, "bias": zeros} if bias else {"weight": ones}
    return {
        f"{name}.{which}": Parameter(shape, dtype, draw) for which, draw in draws.items() if affine
    }


def affine_values(
    layer: Any, store: Params, rng: Rng, shape: tuple[int, ...], affine: bool, bias: bool
) -> tuple[Array | None, Array | None]:
    """Look the weight and the bias of a normalisation up, as far as they are wanted."""
    if not affine:
        return None, None
    weight = layer._read(store, f"{layer.name}.weight", shape, rng)
    return weight, layer._read(store, f"{layer.name}.bias", shape, rng) if bias else None


@frozen
class LayerNorm(Layer):
    """Each sample brought to mean 0 and variance 1, times a weight, plus a bias.

    Its parameters are ``"{name}.weight"``, at first ones, and ``"{name}.bias"``, at first zeros.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    normalized_shape : int or tuple of int
        The lengths of the last axes of the input, and the shape of the parameters.
    eps : float
        What is added to the variance.
    elementwise_affine : bool
        Whether it has parameters.
    bias : bool
        Whether it then has a bias.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.LayerNorm("norm", 4)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.array([[1.0, 1.0, 3.0, 3.0]])).round(3)
    array([[-1., -1.,  1.,  1.]])
    """

    name: str = field(validator=named)
    normalized_shape: tuple[int, ...] = field(converter=as_shape)
    eps: float = field(default=1e-5, validator=not_negative)
    elementwise_affine: bool = True
    bias: bool = True
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The weight and the bias, as far as they are wanted."""
        wanted = self.elementwise_affine, self.bias
        return affine_parameters(self.name, self.normalized_shape, self.dtype, *wanted)

    @layer_call
    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Normalise: shape ``(..., *normalized_shape)``; see `layer_norm`."""
        wanted = self.elementwise_affine, self.bias
        weight, bias = affine_values(self, store, rng, self.normalized_shape, *wanted)
        return layer_norm(x, self.normalized_shape, weight, bias, self.eps)


def group_norm(
    x: Array,
    num_groups: int,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
) -> Array:
    """Bring each group of channels of a sample to mean 0 and variance 1; scale and shift channels.

    Parameters
    ----------
    x : array or Tensor, shape (n, c, ...)
    num_groups : int
        It divides c.
    weight, bias : array or Tensor, shape (c,), optional
    eps : float
        What is added to the variance.

    Returns
    -------
    array or Tensor, shape of `x`

    Raises
    ------
    ShapeError
        When the channels cannot be divided so.
    ValueError
        When `eps` is below 0.

    Notes
    -----
    Wu & He, "Group normalization", https://arxiv.org/abs/1803.08494.

    Examples
    --------
    >>> group_norm(np.array([[1.0, 3.0, 5.0, 5.0]]), 2, eps=1e-12)
    array([[-1.,  1.,  0.,  0.]])
    """
    check_eps("group_norm", eps)
    x = real(x, "group_norm")
    groups = as_length(num_groups)
    if x.ndim < 2 or groups < 1 or x.shape[1] % groups:
        raise ShapeError(
            f"group_norm: an input of shape {x.shape}, (n, channels, ...), has no {groups} groups "
            "of as many channels each"
        )
    parts = np.reshape(x, (x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    out = np.reshape(standardize(parts, tuple(range(2 - parts.ndim, 0)), eps), x.shape)
    spread = (-1,) + (1,) * (x.ndim - 2)
    out = out if weight is None else out * np.reshape(weight, spread)
    return out if bias is None else out + np.reshape(bias, spread)


@frozen
class GroupNorm(Layer):
    """Groups of channels brought to mean 0 and variance 1, times a weight, plus a bias.

    Its parameters are ``"{name}.weight"``, at first ones, and ``"{name}.bias"``, at first zeros,
    both of shape (num_channels,).

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    num_groups : int
        How many groups the channels make; it divides `num_channels`.
    num_channels : int
        The length of the second axis of the input, (n, num_channels, ...).
    eps : float
        What is added to the variance.
    affine : bool
        Whether it has parameters.
    bias : bool
        Whether it then has a bias.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.GroupNorm("norm", 2, 4)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.array([[1.0, 3.0, 5.0, 5.0]])).round(3)
    array([[-1.,  1.,  0.,  0.]])
    """

    name: str = field(validator=named)
    num_groups: int = field(converter=as_length, validator=positive)
    num_channels: int = field(converter=as_length, validator=positive)
    eps: float = field(default=1e-5, validator=not_negative)
    affine: bool = True
    bias: bool = True
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    def __attrs_post_init__(self) -> None:
        if self.num_channels % self.num_groups:
            raise ValueError(
                f"GroupNorm: num_groups={self.num_groups} must divide num_channels="
                f"{self.num_channels}"
            )

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The weight and the bias, as far as they are wanted."""
        shape = (self.num_channels,)
        return affine_parameters(self.name, shape, self.dtype, self.affine, self.bias)

    @layer_call
    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Normalise: shape (n, num_channels, ...); see `group_norm`."""
        x = real(as_input(x), f"the layer {self.name!r}")
        if x.shape[1:2] != (self.num_channels,):
            raise ShapeError(
                f"the layer {self.name!r} takes an input of shape (n, {self.num_channels}, ...), "
                f"got one of shape {x.shape}"
            )
        shape = (self.num_channels,)
        weight, bias = affine_values(self, store, rng, shape, self.affine, self.bias)
        return group_norm(x, self.num_groups, weight, bias, self.eps)


def rate(layer: Any, attribute: "Attribute[Any]", value: float | None) -> None:
    """Check how far running statistics go in a step; None is for the mean of all steps."""
    if value is not None:
        check_probability(f"{type(layer).__name__}: {attribute.name}", value)


@frozen
class BatchNorm(Layer):
    """What `BatchNorm1d` and `BatchNorm2d` have in common."""

    ranks: ClassVar[tuple[int, ...]]

    name: str = field(validator=named)
    num_features: int = field(converter=as_length, validator=positive)
    eps: float = field(default=1e-5, validator=not_negative)
    momentum: float | None = field(default=0.1, validator=rate)
    affine: bool = True
    track_running_stats: bool = True
    bias: bool = True
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """What is trained, and the running statistics, which are not."""
        name, shape, count = self.name, (self.num_features,), np.dtype(np.int64)
        trained = affine_parameters(name, shape, self.dtype, self.affine, self.bias)
        statistics = {
            f"{name}.running_mean": Parameter(shape, self.dtype, zeros, trained=False),
            f"{name}.running_var": Parameter(shape, self.dtype, ones, trained=False),
            f"{name}.num_batches_tracked": Parameter((), count, zeros, trained=False),
        }
        return trained | (statistics if self.track_running_stats else {})

    @layer_call
    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Normalise each channel.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
            The bound parameters, and the running statistics as plain arrays:
            ``rec.bind(params) | statistics``, with both from `partition`.
        x : array or Tensor, shape (n, num_features, ...)
        rng : numpy.random.Generator, optional
            For parameters that are not in a plain store yet, which are made and put there.
        training : bool
            Whether to take mean and variance of the batch, and to update the running ones in
            place. Otherwise the running ones are taken.

        Returns
        -------
        array or Tensor, shape of `x`

        Raises
        ------
        InPlaceError
            When the running statistics were bound to a record.
        """
        x = real(as_input(x), f"the layer {self.name!r}")
        if x.ndim not in self.ranks or x.shape[1] != self.num_features:
            raise ShapeError(
                f"the layer {self.name!r} takes an input of {self.ranks} axes, of which the second "
                f"has length {self.num_features}, got one of shape {x.shape}"
            )
        own = self.own_parameters
        value = {
            name.rpartition(".")[2]: self._read(store, name, parameter.shape, rng)
            for name, parameter in own.items()
        }
        spread = (-1,) + (1,) * (x.ndim - 2)
        if training or not self.track_running_stats:
            axes = tuple(i - x.ndim for i in range(x.ndim) if i != 1)
            if math.prod(x.shape[i] for i in axes) < 2:
                raise ShapeError(
                    f"the layer {self.name!r} needs more than one value a channel to train on, got "
                    f"an input of shape {x.shape}"
                )
            if self.track_running_stats:
                self._update(store, value, primal(x), axes)
            if "bias" in value:
                scale, shift = (np.reshape(value[name], spread) for name in ("weight", "bias"))
                return normalize(x, scale, shift, axes, self.eps)
            out = standardize(x, axes, self.eps)
        else:
            divisor = np.sqrt(value["running_var"] + self.eps)
            out = (x - np.reshape(value["running_mean"], spread)) / np.reshape(divisor, spread)
        if "weight" in value:
            out = out * np.reshape(value["weight"], spread)
        return out + np.reshape(value["bias"], spread) if "bias" in value else out

    def _update(
        self, store: Params, value: dict[str, Any], x: Array, axes: tuple[int, ...]
    ) -> None:
        """Move the running statistics towards those of a batch."""
        names = ("running_mean", "running_var", "num_batches_tracked")
        running = [value[name] for name in names]
        if isinstance(store, Moved):
            moved = self._moved(list(map(primal, running)), x, axes)
            store |= {f"{self.name}.{name}": new for name, new in zip(names, moved, strict=True)}
            return
        for array in (x, *running):
            refuse_to_change(array, f"the running statistics of the layer {self.name!r}")
        if not all(isinstance(array, np.ndarray) for array in running):
            raise InPlaceError(
                f"the running statistics of the layer {self.name!r} are updated in place, so they "
                "must be plain arrays, not handles; write params, statistics = nn.partition(layer, "
                "store), and call the layer with rec.bind(params) | statistics"
            )
        for array, new in zip(running, self._moved(running, x, axes), strict=True):
            array[...] = new

    def _moved(
        self, running: Sequence[Array], x: Array, axes: tuple[int, ...]
    ) -> tuple[Array, Array, Array]:
        """Compute what the running statistics are after one more batch."""
        mean, var, count = running
        count = np.full_like(count, count + 1)
        rate: Any = self.momentum
        if rate is None:
            rate = (1 / count).astype(mean.dtype)
        batch = np.mean(x, axis=axes), np.var(x, axis=axes, ddof=1)
        mean, var = (
            (old + rate * (new - old)).astype(old.dtype)
            for old, new in zip((mean, var), batch, strict=True)
        )
        return mean, var, count


@frozen
class BatchNorm1d(BatchNorm):
    """Each feature brought to mean 0 and variance 1 over the batch, times a weight, plus a bias.

    Trained are ``"{name}.weight"`` and ``"{name}.bias"``; ``"{name}.running_mean"``,
    ``"{name}.running_var"`` and ``"{name}.num_batches_tracked"`` are running statistics, which the
    layer updates in training and uses otherwise. `partition` takes the two apart.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    num_features : int
        The length of the second axis of the input, (n, num_features) or (n, num_features, length).
    eps : float
        What is added to the variance.
    momentum : float or None
        How far the running statistics move towards those of a batch; None for the mean of all
        batches.
    affine : bool
        Whether there is something to train.
    track_running_stats : bool
        Whether there are running statistics; if not, those of the batch are always taken.
    bias : bool
        Whether there is a bias, if there is something to train.
    dtype : floating dtype
        In which `init` makes the parameters.

    Notes
    -----
    Ioffe & Szegedy, "Batch normalization", https://arxiv.org/abs/1502.03167. As in PyTorch, the
    running variance is that of a sample, with n - 1.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.BatchNorm1d("norm", 1)
    >>> store = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(store, np.array([[1.0], [3.0]]), training=True).round(3)
    array([[-1.],
           [ 1.]])
    >>> store["norm.running_mean"]
    array([0.2])
    """

    ranks: ClassVar[tuple[int, ...]] = (2, 3)


@frozen
class BatchNorm2d(BatchNorm):
    """Each channel of images brought to mean 0 and variance 1 over the batch; see `BatchNorm1d`.

    The input has the shape (n, num_features, height, width).

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.BatchNorm2d("norm", 3)
    >>> store = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(store, np.zeros((2, 3, 4, 4))).shape
    (2, 3, 4, 4)
    """

    ranks: ClassVar[tuple[int, ...]] = (4,)
