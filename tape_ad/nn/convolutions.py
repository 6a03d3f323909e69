"""Convolutional layers for sequences and images, and how windows move over these."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from attrs import NOTHING, Attribute, field, frozen

from tape_ad.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.nn.calls import Params, Rng, layer_call, of_two
from tape_ad.nn.initializers import uniform
from tape_ad.nn.layers import FLOAT64
from tape_ad.nn.stores import (
    Layer,
    Parameter,
    as_dtype,
    as_length,
    drawn_alike,
    floating,
    named,
    positive,
)
from tape_ad.rules.nn.images import Windows, convolve_images, correlate_images, image_adjoint

__all__ = [
    "Conv1d",
    "Conv2d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "conv1d",
    "conv2d",
    "conv_transpose1d",
    "conv_transpose2d",
]

Lengths = int | Sequence[int]


@of_two
def conv1d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Lengths = 1,
    padding: Lengths | str = 0,
    dilation: Lengths = 1,
    groups: int = 1,
) -> Array:
    """Slide kernels over sequences; see `conv2d`.

    Parameters
    ----------
    x : array or Tensor, shape (n, in_channels, length) or (in_channels, length)
    weight : array or Tensor, shape (out_channels, in_channels // groups, kernel_size)
    bias : array or Tensor, shape (out_channels,), optional
    stride : int
        The steps between places.
    padding : int, "valid" or "same"
        How many zeros are put on both sides; "valid" for none, "same" for as many as keep the
        length, which needs a stride of 1.
    dilation : int
        The steps within the kernel.
    groups : int
        How many groups the channels are split into, which do not mix.

    Returns
    -------
    array or Tensor, shape (n, out_channels, length) or (out_channels, length)

    Raises
    ------
    ShapeError
        When the shapes do not fit.

    Examples
    --------
    >>> conv1d(np.arange(5.0).reshape(1, 5), np.array([[[1.0, 0.0, -1.0]]]))
    array([[-2., -2., -2.]])
    """
    return convolve(1, x, weight, bias, stride, padding, dilation, groups)


@of_two
def conv2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Lengths = 1,
    padding: Lengths | str = 0,
    dilation: Lengths = 1,
    groups: int = 1,
) -> Array:
    """Slide kernels over images: at each place, sum(kernel * what it covers) + bias.

    It is a correlation, the kernel is not turned around, as everywhere in machine learning.

    Parameters
    ----------
    x : array or Tensor, shape (n, in_channels, height, width) or (in_channels, height, width)
    weight : array or Tensor, shape (out_channels, in_channels // groups, height, width)
    bias : array or Tensor, shape (out_channels,), optional
    stride : int or a pair
        The steps between places.
    padding : int, a pair, "valid" or "same"
        How many zeros are put on both sides of each axis; "valid" for none, "same" for as many as
        keep the lengths, which needs a stride of 1.
    dilation : int or a pair
        The steps within the kernel.
    groups : int
        How many groups the channels are split into, which do not mix.

    Returns
    -------
    array or Tensor, shape (n, out_channels, height, width) or (out_channels, height, width)

    Raises
    ------
    ShapeError
        When the shapes do not fit.

    Examples
    --------
    >>> conv2d(np.eye(3)[None], np.ones((1, 1, 2, 2)))
    array([[[2., 1.],
            [1., 2.]]])
    """
    return convolve(2, x, weight, bias, stride, padding, dilation, groups)


def convolve(rank: int, x: Array, weight: Array, bias: Array | None, *moves: Any) -> Array:
    """Convolve in one or two dimensions, with stride, padding, dilation and groups for moves."""
    name = f"conv{rank}d"
    x, weight, bias = checked_operands(name, rank, x, weight, bias, moves[-1])
    windows = windows_of(name, x, weight.shape[2:], *moves)
    batch = x if x.ndim == rank + 2 else x[None]
    if bias is None:
        out = correlate_images(batch, weight, windows=windows)
    else:
        out = convolve_images(batch, weight, bias, windows=windows)
    return out if batch is x else out[0]


@of_two
def conv_transpose1d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Lengths = 1,
    padding: Lengths = 0,
    output_padding: Lengths = 0,
    groups: int = 1,
    dilation: Lengths = 1,
) -> Array:
    """Apply the adjoint of `conv1d`, as a map of its input: what its gradient is made of.

    Parameters
    ----------
    x : array or Tensor, shape (n, in_channels, length) or (in_channels, length)
    weight : array or Tensor, shape (in_channels, out_channels // groups, kernel)
    bias : array or Tensor, shape (out_channels,), optional
    stride, padding, dilation, groups
        Those of the convolution of which it is the adjoint.
    output_padding : int or (int,)
        How much longer the output is; the convolution would lose the rest. It is below the stride
        or the dilation.

    Returns
    -------
    array or Tensor, shape (n, out_channels, l) or (out_channels, l)
        l = (length - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1.

    Raises
    ------
    ShapeError
        When the shapes do not fit.
    ValueError
        When a stride or a dilation is below 1, a padding below 0 or an output padding too large.

    Examples
    --------
    >>> conv_transpose1d(np.array([[1.0, 2.0]]), np.array([[[1.0, 10.0]]]), stride=2)
    array([[ 1., 10.,  2., 20.]])
    """
    return convolve_transposed(
        1, x, weight, bias, stride, padding, output_padding, groups, dilation
    )


@of_two
def conv_transpose2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Lengths = 1,
    padding: Lengths = 0,
    output_padding: Lengths = 0,
    groups: int = 1,
    dilation: Lengths = 1,
) -> Array:
    """Apply the adjoint of `conv2d`, as a map of its input; see `conv_transpose1d`.

    Parameters
    ----------
    x : array or Tensor, shape (n, in_channels, height, width) or (in_channels, height, width)
    weight : array or Tensor, shape (in_channels, out_channels // groups, height, width)
    bias : array or Tensor, shape (out_channels,), optional
    stride, padding, dilation, groups
        Those of the convolution of which it is the adjoint; a pair has one number
        for each axis.
    output_padding : int or a pair
        How much longer the output is; the convolution would lose the rest. It is below the stride
        or the dilation.

    Returns
    -------
    array or Tensor, shape (n, out_channels, ...) or (out_channels, ...)

    Raises
    ------
    ShapeError
        When the shapes do not fit.
    ValueError
        When a stride or a dilation is below 1, a padding below 0 or an output padding too large.

    Examples
    --------
    >>> conv_transpose2d(np.ones((1, 2, 2)), np.ones((1, 1, 2, 2)))
    array([[[1., 2., 1.],
            [2., 4., 2.],
            [1., 2., 1.]]])
    """
    return convolve_transposed(
        2, x, weight, bias, stride, padding, output_padding, groups, dilation
    )


def checked_operands(
    name: str,
    rank: int,
    x: Array,
    weight: Array,
    bias: Array | None,
    groups: int,
    *,
    transposed: bool = False,
) -> tuple[Array, Array, Array | None]:
    """Check the shapes of an input, a weight and a bias, and give them as arrays."""
    x, weight = as_array(x), as_array(weight)
    if weight.ndim != rank + 2 or x.ndim not in (rank + 1, rank + 2):
        raise ShapeError(
            f"{name}: needs an input of {rank + 1} or {rank + 2} axes and a weight of {rank + 2}, "
            f"got shapes {x.shape} and {weight.shape}"
        )
    first, second = ("in", "out") if transposed else ("out", "in")
    channels = {first: weight.shape[0], second: weight.shape[1] * groups}
    if x.shape[-rank - 1] != channels["in"] or weight.shape[0] % groups:
        raise ShapeError(
            f"{name}: an input of shape {x.shape} and a weight of shape {weight.shape} do not fit "
            f"with groups={groups}; the weight is ({first}_channels, {second}_channels // groups, "
            "...)"
        )
    if bias is None:
        return x, weight, None
    bias = as_array(bias)
    if bias.shape != (channels["out"],):
        raise ShapeError(
            f"{name}: a weight of shape {weight.shape} needs a bias of shape "
            f"{(channels['out'],)}, got {bias.shape}"
        )
    return x, weight, bias


def convolve_transposed(
    rank: int, x: Array, weight: Array, bias: Array | None, *moves: Any
) -> Array:
    """Apply the adjoint of a convolution; its moves are in the order of `conv_transpose1d`."""
    name = f"conv_transpose{rank}d"
    stride, padding, output_padding, groups, dilation = moves
    x, weight, bias = checked_operands(name, rank, x, weight, bias, groups, transposed=True)
    kernel = weight.shape[2:]
    steps, around, more, apart = (
        lengths(rank, each) for each in (stride, padding, output_padding, dilation)
    )
    for extra, step, gap in zip(more, steps, apart, strict=True):
        if not 0 <= extra < max(step, gap):
            raise ValueError(
                f"{name}: output_padding must be below the stride or the dilation, got {more} with "
                f"{steps} and {apart}"
            )
    size = tuple(
        (n - 1) * step - 2 * edge + gap * (k - 1) + extra + 1
        for n, step, edge, gap, k, extra in zip(
            x.shape[-rank:], steps, around, apart, kernel, more, strict=True
        )
    )
    if min(size) < 1:
        raise ShapeError(f"{name}: an input of shape {x.shape} gives an output of lengths {size}")
    windows = checked_windows(name, size, kernel, steps, around, apart, as_length(groups))
    batch = x if x.ndim == rank + 2 else x[None]
    beyond = [(0, count - n) for count, n in zip(windows.out, x.shape[-rank:], strict=True)]
    if any(count for _, count in beyond):  # windows that lie within the output padding
        batch = np.pad(batch, [(0, 0), (0, 0), *beyond])
    out = image_adjoint(batch, weight, windows=windows)
    if bias is not None:
        out = out + np.reshape(bias, (-1,) + (1,) * rank)
    return out if x.ndim == rank + 2 else out[0]


def windows_of(
    name: str,
    x: Array,
    kernel: Sequence[int],
    stride: Lengths,
    padding: Lengths | str,
    dilation: Lengths,
    groups: int = 1,
) -> Windows:
    """Write out how a window moves over the last axes of an array.

    Raises
    ------
    ShapeError
        When the window does not fit.
    ValueError
        When there is no such window.
    """
    rank = len(kernel)
    if x.ndim < rank:
        raise ShapeError(f"{name}: needs an input of {rank} axes or more, got shape {x.shape}")
    windows = checked_windows(
        name,
        x.shape[x.ndim - rank :],
        tuple(kernel),
        lengths(rank, stride),
        padding if isinstance(padding, str) else lengths(rank, padding),
        lengths(rank, dilation),
        as_length(groups),
    )
    if min(windows.out) < 1:
        raise ShapeError(
            f"{name}: no window of {windows.kernel} with dilation {windows.dilation} and stride "
            f"{windows.stride} fits into {windows.padded}, an input of shape {x.shape} with its "
            "padding"
        )
    return windows


@functools.lru_cache(maxsize=1024, typed=True)
def checked_windows(
    name: str,
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...] | str,
    dilation: tuple[int, ...],
    groups: int,
) -> Windows:
    """Make windows from checked lengths; a network asks for the same ones in every step."""
    around = padding_of(name, kernel, stride, padding, dilation)
    if min(*kernel, *stride, *dilation) < 1 or min(map(min, around)) < 0:
        raise ValueError(
            f"{name}: kernel, stride and dilation must be at least 1 and padding at least 0, got "
            f"{kernel}, {stride}, {dilation} and {padding}"
        )
    return Windows(size, kernel, stride, around, dilation, groups)


def padding_of(
    name: str,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: tuple[int, ...] | str,
    dilation: Sequence[int],
) -> tuple[tuple[int, int], ...]:
    """Write out the padding before and behind each axis."""
    if not isinstance(padding, str):
        return tuple((n, n) for n in padding)
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding != "same" or any(step != 1 for step in stride):
        raise ValueError(
            f'{name}: padding must be numbers, "valid", or "same" with a stride of 1, got '
            f"{padding!r} with a stride of {tuple(stride)}"
        )
    needed = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    return tuple((n // 2, n - n // 2) for n in needed)


def lengths(rank: int, given: Lengths) -> tuple[int, ...]:
    """Write a number as one for each axis."""
    if isinstance(given, Sequence):
        if len(given) != rank:
            raise ValueError(f"one number or {rank} are needed, got {tuple(given)}")
        return tuple(as_length(n) for n in given)
    return (as_length(given),) * rank


def as_lengths(given: Lengths) -> Lengths:
    """Make lengths hashable: a sequence becomes a tuple, and a number stays."""
    return tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else given


def as_padding(given: Lengths | str) -> Lengths | str:
    """Make padding hashable: a sequence becomes a tuple; a number or a word stays."""
    return given if isinstance(given, str) else as_lengths(given)


def at_least(least: int) -> Callable[[Any, "Attribute[Any]", Any], None]:
    """Make what checks a field with a length for each axis, or one for all, if any may be given."""

    def check(layer: Any, attribute: "Attribute[Any]", given: Any) -> None:
        if given is not None or attribute.default is NOTHING:
            check_lengths(layer, attribute.name, given, least)

    return check


def check_lengths(layer: Any, name: str, given: Any, least: int) -> None:
    """Check lengths when a layer is made, and not first when it is called."""
    try:
        fitting = min(lengths(layer.rank, given)) >= least
    except (TypeError, ValueError):
        fitting = False
    if not fitting:
        several = f", or a tuple of {layer.rank} of them" if layer.rank > 1 else ""
        raise ValueError(
            f"{type(layer).__name__}: {name} must be a whole number of at least {least}{several}, "
            f"got {given!r}"
        )


@frozen
class Convolution(Layer):
    """What `Conv1d` and `Conv2d` have in common."""

    rank: ClassVar[int]

    name: str = field(validator=named)
    in_channels: int = field(converter=as_length, validator=positive)
    out_channels: int = field(converter=as_length, validator=positive)
    kernel_size: Lengths = field(converter=as_lengths, validator=at_least(1))
    stride: Lengths = field(default=1, converter=as_lengths, validator=at_least(1))
    padding: Lengths | str = field(default=0, converter=as_padding)
    dilation: Lengths = field(default=1, converter=as_lengths, validator=at_least(1))
    groups: int = field(default=1, converter=as_length, validator=positive)
    bias: bool = True
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    def __attrs_post_init__(self) -> None:
        if self.in_channels % self.groups or self.out_channels % self.groups:
            raise ValueError(
                f"{type(self).__name__}: groups={self.groups} must divide in_channels="
                f"{self.in_channels} and out_channels={self.out_channels}"
            )
        if isinstance(self.padding, str):
            sizes = [lengths(self.rank, n) for n in (self.kernel_size, self.stride, self.dilation)]
            padding_of(type(self).__name__, sizes[0], sizes[1], self.padding, sizes[2])
        else:
            check_lengths(self, "padding", self.padding, 0)

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The kernels, and the bias if there is one."""
        shapes = {"weight": self._shape}
        if self.bias:
            shapes["bias"] = (self.out_channels,)
        return drawn_alike(self, shapes, uniform(1 / math.sqrt(math.prod(self._shape[1:]))))

    @property
    def _shape(self) -> tuple[int, ...]:
        channels = self.in_channels // self.groups
        return (self.out_channels, channels, *lengths(self.rank, self.kernel_size))

    @layer_call
    def __call__(
        self, store: Params, x: Array, *, rng: Rng = None, training: bool = False
    ) -> Array:
        """Apply the kernels to the input; see the function of the layer's name."""
        weight = self._read(store, f"{self.name}.weight", self._shape, rng)
        bias = None
        if self.bias:
            bias = self._read(store, f"{self.name}.bias", (self.out_channels,), rng)
        return self._apply(x, weight, bias)

    def _apply(self, x: Array, weight: Array, bias: Array | None) -> Array:
        return convolve(
            self.rank, x, weight, bias, self.stride, self.padding, self.dilation, self.groups
        )


@frozen
class Conv1d(Convolution):
    """Kernels that slide over sequences: (n, in_channels, length) -> (n, out_channels, length).

    Its parameters are ``"{name}.weight"`` and ``"{name}.bias"``, both drawn from U(-b, b) with
    b = 1 / sqrt(in_channels // groups * kernel_size), as PyTorch does.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    in_channels, out_channels : int
    kernel_size : int
    stride : int
        The steps between places.
    padding : int, "valid" or "same"
        How many zeros are put on both sides; "valid" for none, "same" for as many as keep the
        length, which needs a stride of 1.
    dilation : int
        The steps within the kernel.
    groups : int
        How many groups the channels are split into, which do not mix.
    bias : bool
        Whether it has a bias.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.Conv1d("conv", 2, 3, kernel_size=5, padding="same")
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.zeros((4, 2, 9))).shape
    (4, 3, 9)
    """

    rank: ClassVar[int] = 1


@frozen
class Conv2d(Convolution):
    """Kernels that slide over images.

    From (n, in_channels, height, width) to (n, out_channels, height, width).
    Its parameters are ``"{name}.weight"`` and ``"{name}.bias"``, both drawn from U(-b, b) with
    b = 1 / sqrt(in_channels // groups * the kernel's size), as PyTorch does.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    in_channels, out_channels : int
    kernel_size : int or a pair
    stride : int or a pair
        The steps between places.
    padding : int, a pair, "valid" or "same"
        How many zeros are put on both sides of each axis; "valid" for none, "same" for as many as
        keep the lengths, which needs a stride of 1.
    dilation : int or a pair
        The steps within the kernel.
    groups : int
        How many groups the channels are split into, which do not mix.
    bias : bool
        Whether it has a bias.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.Conv2d("conv", 1, 16, kernel_size=3)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.zeros((4, 1, 28, 28))).shape
    (4, 16, 26, 26)
    """

    rank: ClassVar[int] = 2


@frozen
class ConvTranspose(Convolution):
    """What `ConvTranspose1d` and `ConvTranspose2d` have in common."""

    output_padding: Lengths = field(
        default=0, converter=as_lengths, validator=at_least(0), kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        check_lengths(self, "padding", self.padding, 0)
        super().__attrs_post_init__()

    @property
    def _shape(self) -> tuple[int, ...]:
        channels = self.out_channels // self.groups
        return (self.in_channels, channels, *lengths(self.rank, self.kernel_size))

    def _apply(self, x: Array, weight: Array, bias: Array | None) -> Array:
        more = (self.output_padding, self.groups, self.dilation)
        return convolve_transposed(self.rank, x, weight, bias, self.stride, self.padding, *more)


@frozen
class ConvTranspose1d(ConvTranspose):
    """The adjoint of `Conv1d`: (n, in_channels, length) -> (n, out_channels, a greater length).

    Its parameters are ``"{name}.weight"``, of shape (in_channels, out_channels // groups, kernel),
    and ``"{name}.bias"``, both drawn from U(-b, b) with
    b = 1 / sqrt(out_channels // groups * kernel_size), as PyTorch does.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    in_channels, out_channels : int
    kernel_size : int
    stride, padding, dilation, groups
        Those of the convolution of which it is the adjoint.
    output_padding : int
        How much longer the output is; the convolution would lose the rest. It is below the stride
        or the dilation.
    bias : bool
        Whether it has a bias.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.ConvTranspose1d("up", 3, 2, kernel_size=4, stride=2, padding=1)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.zeros((5, 3, 9))).shape
    (5, 2, 18)
    """

    rank: ClassVar[int] = 1


@frozen
class ConvTranspose2d(ConvTranspose):
    """The adjoint of `Conv2d`, for images; see `ConvTranspose1d`.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    in_channels, out_channels : int
    kernel_size : int or a pair
    stride, padding, dilation, groups
        Those of the convolution of which it is the adjoint; a pair has one number
        for each axis.
    output_padding : int or a pair
        How much longer the output is; the convolution would lose the rest. It is below the stride
        or the dilation.
    bias : bool
        Whether it has a bias.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.ConvTranspose2d("up", 8, 1, kernel_size=2, stride=2)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.zeros((5, 8, 7, 7))).shape
    (5, 1, 14, 14)
    """

    rank: ClassVar[int] = 2
