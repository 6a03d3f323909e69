"""Attention as one node, for as many queries at a time as stay in the cache.

What is computed of a block of scores, from their product to the weighted sum of the values and
back, goes through the cache alone; only the weights are kept. Blocks, and how the sum over a row of
cotangents comes from the result, are those of Dao, Fu, Ermon, Rudra & Ré, "FlashAttention",
https://arxiv.org/abs/2205.14135.
"""

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import is_plain, is_traced, overridable, takes_over, whole
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, arguments_of, rule
from tape_ad.rules.maps import (
    Array,
    Chain,
    LinearMap,
    Mask,
    MatmulLeft,
    MatmulRight,
    Scale,
    Shape,
    Transpose,
    pull_chosen,
)
from tape_ad.rules.maps.patterns import Pattern, dense_blocks, reads
from tape_ad.rules.nn.activations import SoftmaxMap, softmax

IN_CACHE = 1 << 19
"""About how many bytes of scores are worked on at a time."""

MODERATE = 20.0
"""Scores of less than this size need no shift before they go through exp.

The largest of each row is as long in coming as exp itself, that of a block takes a seventh."""


def weights_of(query: Array, key: Array, mask: Array | None, scale: Any) -> Array:
    """Compute softmax(query @ key.mT * scale + mask).

    Parameters
    ----------
    query : array or Tensor, shape (..., l, e)
    key : array or Tensor, shape (..., s, e)
    mask : array or Tensor, shape (..., l, s), optional
        What is added; of bools, where it is False the weight is 0.
    scale : float or Tensor

    Returns
    -------
    array or Tensor, shape (..., l, s)
    """
    scores = (query * scale) @ np.swapaxes(key, -1, -2)
    if mask is not None and mask.dtype == bool:
        scores = np.where(mask, scores, scores.dtype.type(-np.inf))
    elif mask is not None:
        scores = scores + mask
    return softmax(scores)


Saved = tuple[Array, Array, Array | None]

Block = tuple[tuple[Any, ...], slice]
"""Some of a stack of matrices, by a key, and some of their rows."""


@overridable
def attend(qkv: Array, /, mask: Array | None, scale: float) -> Array:
    """Compute softmax(query @ key.mT * scale + mask) @ value as one node.

    Parameters
    ----------
    qkv : array or Tensor, shape (3, ..., l, e)
        The queries, the keys and the values.
    mask : array, shape (..., l, l), optional
        As for `weights_of`.
    scale : float

    Returns
    -------
    array or Tensor, shape (..., l, e)

    Examples
    --------
    >>> zeros = np.zeros((2, 1))
    >>> attend(np.stack([zeros, zeros, [[1.0], [3.0]]]), None, 1.0)
    array([[2.],
           [2.]])
    """
    return attend_and_more(qkv, mask, scale)[0]


def attend_and_more(qkv: Array, mask: Array | None, scale: float) -> tuple[Array, Saved]:
    """Compute `attend`, and what its partial is made of.

    Returns
    -------
    out : array, shape (..., l, e)
    saved : tuple of array
        The result, what the values are weighed with, and what that is to be divided by.
    """
    if is_plain(qkv):
        found = attended(qkv, mask, scale)
        return found[0], found
    query, key, value = qkv[0], qkv[1], qkv[2]
    weights = weights_of(query, key, mask, scale)
    out = weights @ value
    return out, (out, weights, None)


@whole
def attended(qkv: Array, mask: Array | None, scale: float) -> tuple[Array, Array, Array]:
    """Compute `attend` of a plain array, and give what `attend_and_more` saves."""
    query, key, value = qkv
    *lead, length, _ = query.shape
    weights = np.empty((*lead, length, length), qkv.dtype)
    totals = np.empty((*lead, length, 1), qkv.dtype)
    out = np.empty_like(value)  # with its axes in memory in the same order
    ones = np.ones((length, 1), qkv.dtype)
    added, highest = masks(mask, weights)
    for block in blocks(weights.shape, weights.itemsize):
        scores, total, piece = (part(array, block) for array in (weights, totals, out))
        which = block[0]
        factors, values = (part(query, block) * scale, key[which].mT), value[which]
        np.matmul(*factors, out=scores)
        if added is None and np.min(scores) > -MODERATE and np.max(scores) < MODERATE:
            with np.errstate(all="ignore"):
                hide(scores, block, highest)
                average(scores, values, ones, total, piece)
            if np.isfinite(piece).all():
                continue
            np.matmul(*factors, out=scores)  # values so large that they overflow without a shift
        hide(scores, block, highest)
        if added is not None:
            scores += part(added, block)
        scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
        average(scores, values, ones, total, piece)
    return out, weights, totals


def hide(scores: Array, block: Block, highest: Array | None) -> None:
    """Make scores -inf where a mask says so, even where they are nan."""
    if highest is not None:
        np.fmin(scores, part(highest, block), out=scores)


def average(scores: Array, values: Array, ones: Array, total: Array, out: Array) -> None:
    """Take averages, weighed with exp of the scores, which the scores become."""
    np.exp(scores, out=scores)
    np.matmul(scores, ones, out=total)
    np.matmul(scores, values, out=out)
    out /= total


def masks(mask: Array | None, scores: Array) -> tuple[Array | None, Array | None]:
    """Give what is added to scores, and the most that each may be: one of them, or neither."""
    if mask is None:
        return None, None
    if mask.dtype != bool:
        return np.broadcast_to(mask, scores.shape), None
    infinite = scores.dtype.type(np.inf)
    return None, np.broadcast_to(np.where(mask, infinite, -infinite), scores.shape)


def takes(shape: tuple[int, ...], dtype: np.dtype[Any], mask: Array | None) -> bool:
    """Tell whether `attend` takes queries, keys and values of some shape and dtype, and a mask."""
    if len(shape) < 2 or 0 in shape or dtype.kind != "f" or dtype.itemsize < 4:
        return False  # half precision has no room for the exp of moderate scores
    if mask is None:
        return True
    scores = (*shape[:-1], shape[-2])
    pairs = zip(mask.shape[::-1], scores[::-1], strict=False)
    fits = mask.ndim <= len(scores) and all(have in (1, want) for have, want in pairs)
    return fits and mask.dtype in (dtype, np.dtype(bool)) and is_constant(mask)


def is_constant(mask: Array) -> bool:
    """Tell whether a mask is no handle."""
    return is_traced(mask) or not takes_over(type(mask))


# Blocks


def part(array: Array, block: Block) -> Array:
    """View the rows of a block."""
    key, rows = block
    return array[key][..., rows, :]


def blocks(shape: tuple[int, ...], itemsize: int) -> Iterator[Block]:
    """Divide a stack of matrices into blocks that stay in the cache."""
    *lead, rows, columns = shape
    each = rows * columns * itemsize
    if each > IN_CACHE:
        step = max(1, IN_CACHE // (columns * itemsize))
        for key in np.ndindex(*lead):
            for start in range(0, rows, step):
                yield key, slice(start, start + step)
        return
    axis = len(lead)  # the first axis of which one step is no more than a block
    while axis and math.prod(lead[axis - 1 :]) * each <= IN_CACHE:
        axis -= 1
    everything = slice(None)
    if axis == 0:
        yield (), everything
        return
    step = max(1, IN_CACHE // (math.prod(lead[axis:]) * each))
    for key in np.ndindex(*lead[: axis - 1]):
        for start in range(0, lead[axis - 1], step):
            yield (*key, slice(start, start + step)), everything


# The partial


@define(eq=False, repr=False)
class Attention:
    """What attention is in its queries, keys and values.

    Parameters
    ----------
    qkv, mask, scale
        As for `attend`.
    out, weights, totals : array
        As `attend_and_more` gives them.
    """

    fresh: ClassVar[bool] = True
    qkv: Array
    mask: Array | None
    scale: float
    out: Array
    weights: Array
    totals: Array | None

    @property
    def hides(self) -> bool:
        return self.mask is not None and self.mask.dtype == bool

    @reads()
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that the members of a batch have nothing to do with each other."""
        return dense_blocks(parent, node, [(axis, axis) for axis in range(-len(node), -2)])

    def push(self, t: Array) -> Array:
        stack = (slice(None),) * (t.ndim - self.qkv.ndim)
        query, key, value = (
            chain.push(t[(*stack, place)]) for place, chain in enumerate(self.chains())
        )
        return query + key + value

    def pull(self, ct: Array) -> Array:
        same = is_plain(ct) and ct.shape == self.out.shape and ct.dtype == self.out.dtype
        if same and self.totals is not None:
            pulled = pulled_in_blocks(ct, self.qkv, self.scale, self.out, self.weights, self.totals)
            if np.isfinite(pulled).all():
                return pulled
        return np.stack([pull_behind(chain, ct) for chain in self.chains()], axis=-self.qkv.ndim)

    def pull_chosen(self, ct: Array) -> Array:
        return np.stack([chain.pull_chosen(ct) for chain in self.chains()], axis=-self.qkv.ndim)

    def chains(self) -> tuple[Chain, Chain, Chain]:
        """Give the same as compositions: for handles, stacks, and where not all is finite."""
        query, key, value = self.qkv[0], self.qkv[1], self.qkv[2]
        p = self.weights if self.totals is None else self.weights / self.totals
        ndim = query.ndim
        kept = (Mask(self.mask),) if self.hides else ()
        behind = *kept, SoftmaxMap(p, (-1,)), MatmulLeft(value, ndim)
        swap = Transpose((*range(-ndim, -2), -1, -2))
        return (
            Chain((Scale(self.scale), MatmulLeft(np.swapaxes(key, -1, -2), ndim), *behind)),
            Chain((swap, MatmulRight(query * self.scale, ndim), *behind)),
            Chain((MatmulRight(p, ndim),)),
        )


@whole
def pulled_in_blocks(
    ct: Array, qkv: Array, scale: float, out: Array, weights: Array, totals: Array
) -> Array:
    """Pull a plain cotangent of the node's shape through `Attention`.

    With p the softmax of a row, dp its cotangent and out its average, that of the scores is p * (dp
    - sum(p * dp)), and sum(p * dp) is sum(ct * out). It is taken off in the product that dp is.
    """
    query, key, value = qkv
    pulled = np.empty_like(qkv)
    minus = np.full((*value.shape[:-1], 1), -1, ct.dtype)
    for block in blocks(weights.shape, ct.itemsize):
        which, rows = block
        p = part(weights, block)
        each = part(ct, block) / part(totals, block)
        along = np.add.reduce(each * part(out, block), axis=-1, keepdims=True)
        values = np.concatenate((value[which], minus[which]), axis=-1)
        scores = np.matmul(np.concatenate((each, along), axis=-1), values.mT)
        scores *= p
        to_query = part(pulled[0], block)
        np.matmul(scores, key[which], out=to_query)
        to_query *= scale
        products = (scores, part(query, block) * scale), (p, each)
        for (left, right), to in zip(products, pulled[1:], strict=True):
            whole_of = to[which]
            if rows.start:
                whole_of += np.matmul(left.mT, right)
            else:
                np.matmul(left.mT, right, out=whole_of)
    return pulled


def pull_behind(chain: Chain, ct: Array) -> Array:
    """Pull through a chain; behind a map that hides, zeros count for what was not chosen."""
    chosen = False
    for each in reversed(chain.maps):
        ct = pull_chosen(each, ct) if chosen else each.pull(ct)
        chosen = chosen or getattr(each, "hides", None) is True
    return ct


def attention_partial(saved: Saved, qkv: Array, mask: Array | None, scale: float) -> LinearMap:
    """Make the partial of `attend`, an `Attention`."""
    kept = mask if mask is None else mask.copy()  # whose array may be filled for another call
    return Attention(qkv, kept, scale, *saved)


ATTENTION: dict[Any, Entry] = {
    attend: rule(
        attention_partial,
        signature=arguments_of(attend, "qkv"),
        compute=attend_and_more,
        saves=True,
        facts=facts.composed(attend),
    )
}
