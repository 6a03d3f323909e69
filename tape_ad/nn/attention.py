"""Attention: averages of values, weighed by how well their keys fit a query."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.nn.calls import Params, Rng
from tape_ad.nn.initializers import uniform, xavier_uniform, zeros
from tape_ad.nn.layers import FLOAT64, Linear, check_generator, dropout
from tape_ad.nn.normalization import LayerNorm
from tape_ad.nn.stores import (
    Layer,
    Parameter,
    as_dtype,
    as_input,
    as_length,
    floating,
    named,
    not_negative,
    positive,
    probability,
)
from tape_ad.rules.nn.activations import relu
from tape_ad.rules.nn.affine import linear
from tape_ad.rules.nn.attention import attend, takes, weights_of

__all__ = ["MultiHeadAttention", "TransformerEncoderLayer", "scaled_dot_product_attention"]

NARROW = 2
"""Queries, keys and values are joined for one node if there are so many for each of their elements.

Where they are wider, most of the time goes to products, and to join them takes what one node saves.
"""


def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    rng: Rng = None,
) -> Array:
    """Compute softmax(query @ key.mT * scale + mask) @ value.

    Parameters
    ----------
    query : array or Tensor, shape (..., l, e)
    key : array or Tensor, shape (..., s, e)
    value : array or Tensor, shape (..., s, v)
    attn_mask : array of bool or float, shape (..., l, s), optional
        Which keys each query may look at, or what is added to the scores. A query that may look at
        none (nothing but False, or nothing but -inf) gets 0, as in PyTorch.
    dropout_p : float
        The probability of a weight to be left out.
    is_causal : bool
        Whether query number i may look at keys 0 to i alone.
    scale : float, optional
        1 / sqrt(e) when left out.
    rng : numpy.random.Generator, optional
        What chooses the weights that are left out.

    Returns
    -------
    array or Tensor, shape (..., l, v)

    Notes
    -----
    Vaswani et al., "Attention is all you need", https://arxiv.org/abs/1706.03762, equation 1.

    Examples
    --------
    >>> v = np.array([[1.0], [3.0]])
    >>> scaled_dot_product_attention(np.zeros((2, 1)), np.zeros((2, 1)), v, is_causal=True)
    array([[1.],
           [2.]])
    """
    check_generator("scaled_dot_product_attention", rng)
    query, key, value = as_array(query), as_array(key), as_array(value)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    mask = mask_of(attn_mask, is_causal, query, key)
    blind = None if is_causal or mask is None else blind_rows(mask)
    if mask is not None and blind is not None:
        mask = np.where(blind, np.asarray(mask.dtype == bool, mask.dtype), mask)
        options: dict[str, Any] = {"scale": scale, "rng": rng}
        out = scaled_dot_product_attention(query, key, value, mask, dropout_p, **options)
        return np.where(blind, out.dtype.type(0), out)
    alike = query.shape == key.shape == value.shape and query.dtype == key.dtype == value.dtype
    plain = alike and type(scale) is float and dropout_p == 0
    fits = plain and takes(query.shape, query.dtype, mask)
    if fits and NARROW * query.shape[-1] <= query.shape[-2]:
        return attend(np.stack([query, key, value]), mask=mask, scale=scale)
    return dropout(weights_of(query, key, mask, scale), dropout_p, rng=rng) @ value


def mask_of(attn_mask: Array | None, is_causal: bool, query: Array, key: Array) -> Array | None:
    """Give the mask that two arguments ask for."""
    if is_causal:
        if attn_mask is not None:
            raise TypeError("attention: give attn_mask or is_causal=True, not both")
        return np.tri(query.shape[-2], key.shape[-2], dtype=bool)
    return None if attn_mask is None else as_array(attn_mask)


def blind_rows(mask: Array) -> Array | None:
    """Tell which queries may look at no key, shape (..., l, 1); None where there are none."""
    if 0 in mask.shape:
        return None
    hidden = ~mask if mask.dtype == bool else np.equal(mask, -np.inf)
    blind = np.all(hidden, axis=-1, keepdims=True)
    return blind if blind.any() else None


def affine(x: Array, weight: Array, bias: Array | None) -> Array:
    """Multiply with a weight, and add a bias if there is one."""
    return x @ weight if bias is None else linear(x, weight, bias)


@frozen
class MultiHeadAttention(Layer):
    """Attention in several subspaces at once: the layer that transformers are made of.

    Its parameters have the names of PyTorch's ``MultiheadAttention``, but as everywhere here a
    dense matrix has the shape (inputs, outputs): ``"{name}.in_proj_weight"`` is (embed_dim,
    3 * embed_dim), for queries, keys and values side by side, and ``"{name}.out_proj.weight"`` is
    (embed_dim, embed_dim). With them go ``"{name}.in_proj_bias"`` and ``"{name}.out_proj.bias"``.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    embed_dim : int
        The length of the last axis of the input and of the output.
    num_heads : int
        The number of subspaces; it divides `embed_dim`.
    dropout : float
        The probability, in training, of an attention weight to be left out.
    bias : bool
        Whether it has biases.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.MultiHeadAttention("attention", 8, num_heads=2)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.ones((5, 10, 8)), is_causal=True).shape
    (5, 10, 8)
    """

    name: str = field(validator=named)
    embed_dim: int = field(converter=as_length, validator=positive)
    num_heads: int = field(converter=as_length, validator=positive)
    dropout: float = field(default=0.0, validator=probability)
    bias: bool = True
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    def __attrs_post_init__(self) -> None:
        if self.embed_dim % self.num_heads:
            raise ValueError(
                f"MultiHeadAttention: num_heads={self.num_heads} must divide "
                f"embed_dim={self.embed_dim}"
            )

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The projections into the subspaces, and the one out of them."""
        e, dtype, name = self.embed_dim, self.dtype, self.name
        found = {
            f"{name}.in_proj_weight": Parameter((e, 3 * e), dtype, xavier_uniform),
            f"{name}.in_proj_bias": Parameter((3 * e,), dtype, zeros),
            f"{name}.out_proj.weight": Parameter((e, e), dtype, uniform(1 / math.sqrt(e))),
            f"{name}.out_proj.bias": Parameter((e,), dtype, zeros),
        }
        return {key: each for key, each in found.items() if self.bias or len(each.shape) == 2}

    def __call__(
        self,
        store: Params,
        query: Array,
        key: Array | None = None,
        value: Array | None = None,
        *,
        attn_mask: Array | None = None,
        is_causal: bool = False,
        rng: Rng = None,
        training: bool = False,
    ) -> Array:
        """Let queries attend to keys.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
        query : array or Tensor, shape (..., l, embed_dim)
        key, value : array or Tensor, shape (..., s, embed_dim), optional
            The query when left out (self-attention); the value is the key when left out.
        attn_mask : array of bool or float, shape (l, s) or (..., num_heads, l, s), optional
            Which keys each query may look at (PyTorch's layer has it the other way round, its
            function has not), or what is added to the scores.
        is_causal : bool
            Whether query number i may look at keys 0 to i alone.
        rng : numpy.random.Generator, optional
            For what `dropout` leaves out while training, and for parameters that are not in a
            plain store yet, which are drawn and put there.
        training : bool
            Whether `dropout` leaves anything out.

        Returns
        -------
        array or Tensor, shape (..., l, embed_dim)

        Raises
        ------
        ShapeError
            When the last axis of an input is not `embed_dim` long.
        """
        query = as_input(query)
        key = query if key is None else as_array(key)
        value = key if value is None else as_array(value)
        for each in (query, key, value):
            if each.ndim < 2 or each.shape[-1] != self.embed_dim:
                raise ShapeError(
                    f"the layer {self.name!r} takes inputs of shape (..., length, "
                    f"{self.embed_dim}), got one of shape {each.shape}"
                )
        mask = mask_of(attn_mask, is_causal, query, key)
        rate = self.dropout if training else 0.0
        if key is query and value is query:
            out = self._to_itself(store, query, mask, is_causal, rate, rng)
        else:
            q, k, v = self._projected(store, query, key, value, rng)
            out = scaled_dot_product_attention(q, k, v, mask, rate, rng=rng)
        out = np.swapaxes(out, -2, -3)
        out = np.reshape(out, query.shape)
        return affine(out, *self._pair(store, "out_proj.", self.embed_dim, rng))

    def _pair(self, store: Params, which: str, width: int, rng: Rng) -> tuple[Array, Array | None]:
        """Look a weight up, and the bias beside it if there is one."""
        name = f"{self.name}.{which}"
        weight = self._read(store, f"{name}weight", (self.embed_dim, width), rng)
        return weight, self._read(store, f"{name}bias", (width,), rng) if self.bias else None

    def _projected(
        self, store: Params, query: Array, key: Array, value: Array, rng: Rng
    ) -> list[Array]:
        """Multiply the three inputs with their parts of the weight, and split them into heads."""
        e = self.embed_dim
        weight, bias = self._pair(store, "in_proj_", 3 * e, rng)
        parts = [slice(i * e, (i + 1) * e) for i in range(3)]
        return [
            self._heads(affine(x, weight[:, part], None if bias is None else bias[part]))
            for x, part in zip((query, key, value), parts, strict=True)
        ]

    def _to_itself(
        self, store: Params, x: Array, mask: Array | None, is_causal: bool, rate: float, rng: Rng
    ) -> Array:
        """Let an input attend to itself: it is projected once, and split into heads by a view."""
        e, heads = self.embed_dim, self.num_heads
        projected = affine(x, *self._pair(store, "in_proj_", 3 * e, rng))
        parts = np.reshape(projected, (*x.shape[:-1], 3, heads, e // heads))
        lead = range(x.ndim - 2)
        length, which, head, width = range(x.ndim - 2, x.ndim + 2)
        qkv = np.transpose(parts, (which, *lead, head, length, width))
        fits = rate == 0 and takes(qkv.shape[1:], qkv.dtype, mask)
        if fits and (is_causal or mask is None or blind_rows(mask) is None):
            return attend(qkv, mask=mask, scale=1 / math.sqrt(qkv.shape[-1]))
        return scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], mask, rate, rng=rng)

    def _heads(self, x: Array) -> Array:
        """Split the last axis: (..., l, embed_dim) -> (..., num_heads, l, embed_dim / heads)."""
        parts = (*x.shape[:-1], self.num_heads, self.embed_dim // self.num_heads)
        return np.swapaxes(np.reshape(x, parts), -2, -3)


@frozen
class TransformerEncoderLayer(Layer):
    """Attention of a sequence to itself, and two affine layers at each place, with shortcuts.

    Its parameters are those of the layers ``"{name}.self_attn"``, ``"{name}.linear1"``,
    ``"{name}.linear2"``, ``"{name}.norm1"`` and ``"{name}.norm2"``: PyTorch's names.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    d_model : int
        The length of the last axis of the input and of the output.
    nhead : int
        The number of heads of the attention; it divides `d_model`.
    dim_feedforward : int
        The width between the two affine layers.
    dropout : float
        The probability, in training, of an element to be left out: of the attention's weights,
        between the affine layers, and of what is added to a shortcut.
    activation : function of one array
        What stands between the affine layers.
    layer_norm_eps : float
        What is added to the variances.
    norm_first : bool
        Whether the input of each part is normalised, and not the sum behind it.
    bias : bool
        Whether there are biases.
    dtype : floating dtype
        In which `init` makes the parameters.

    Notes
    -----
    Vaswani et al., "Attention is all you need", https://arxiv.org/abs/1706.03762; with
    `norm_first`, Xiong et al., https://arxiv.org/abs/2002.04745. As in PyTorch's layer with
    ``batch_first=True``, which its own default is not.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.TransformerEncoderLayer("layer", 8, nhead=2, dim_feedforward=16)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> layer(params, np.ones((5, 10, 8)), is_causal=True).shape
    (5, 10, 8)
    """

    name: str = field(validator=named)
    d_model: int = field(converter=as_length, validator=positive)
    nhead: int = field(converter=as_length, validator=positive)
    dim_feedforward: int = field(default=2048, converter=as_length, validator=positive)
    dropout: float = field(default=0.1, validator=probability)
    activation: Callable[[Array], Array] = relu
    layer_norm_eps: float = field(default=1e-5, validator=not_negative)
    norm_first: bool = False
    bias: bool = True
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    self_attn: MultiHeadAttention = field(init=False, repr=False, eq=False)
    linear1: Linear = field(init=False, repr=False, eq=False)
    linear2: Linear = field(init=False, repr=False, eq=False)
    norm1: LayerNorm = field(init=False, repr=False, eq=False)
    norm2: LayerNorm = field(init=False, repr=False, eq=False)

    @self_attn.default
    def _self_attn(self) -> MultiHeadAttention:
        name = f"{self.name}.self_attn"
        return MultiHeadAttention(
            name, self.d_model, self.nhead, self.dropout, self.bias, self.dtype
        )

    @linear1.default
    def _linear1(self) -> Linear:
        name = f"{self.name}.linear1"
        return Linear(name, self.d_model, self.dim_feedforward, self.bias, self.dtype)

    @linear2.default
    def _linear2(self) -> Linear:
        name = f"{self.name}.linear2"
        return Linear(name, self.dim_feedforward, self.d_model, self.bias, self.dtype)

    @norm1.default
    def _norm1(self) -> LayerNorm:
        return self._norm("norm1")

    @norm2.default
    def _norm2(self) -> LayerNorm:
        return self._norm("norm2")

    def _norm(self, which: str) -> LayerNorm:
        eps = self.layer_norm_eps
        name = f"{self.name}.{which}"
        return LayerNorm(name, self.d_model, eps, bias=self.bias, dtype=self.dtype)

    def __call__(
        self,
        store: Params,
        x: Array,
        *,
        attn_mask: Array | None = None,
        is_causal: bool = False,
        rng: Rng = None,
        training: bool = False,
    ) -> Array:
        """Compute what a sequence says at each of its places.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
        x : array or Tensor, shape (..., length, d_model)
        attn_mask : array of bool or float, shape (..., length, length), optional
            Which places each place may look at, or what is added to the scores.
        is_causal : bool
            Whether place number i may look at places 0 to i alone.
        rng : numpy.random.Generator, optional
            For what `dropout` leaves out while training, and for parameters that are not in a
            plain store yet, which are drawn and put there.
        training : bool
            Whether `dropout` leaves anything out.

        Returns
        -------
        array or Tensor, shape of `x`

        Raises
        ------
        ShapeError
            When the last axis of the input is not `d_model` long.
        """
        more: dict[str, Any] = {"rng": rng, "training": training}

        def left_out(y: Array) -> Array:
            return dropout(y, self.dropout, training, rng=rng)

        def attention(y: Array) -> Array:
            out = self.self_attn(store, y, attn_mask=attn_mask, is_causal=is_causal, **more)
            return left_out(out)

        def feed_forward(y: Array) -> Array:
            inner = left_out(self.activation(self.linear1(store, y, **more)))
            return left_out(self.linear2(store, inner, **more))

        for norm, part in ((self.norm1, attention), (self.norm2, feed_forward)):
            if self.norm_first:
                x = x + part(norm(store, x, **more))
            else:
                x = norm(store, x + part(x), **more)
        return x
