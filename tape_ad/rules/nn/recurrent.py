"""What the cells of recurrent networks are made of: few nodes for each step.

`tape_ad.nn` builds its cells from them. The equations are those of PyTorch's cells; see Hochreiter
& Schmidhuber, "Long short-term memory", 1997, and Cho et al., https://arxiv.org/abs/1406.1078.
"""

from typing import Any

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import overridable
from tape_ad.rules import facts
from tape_ad.rules.base import Entry, rule
from tape_ad.rules.maps import Array, LinearMap, Shape
from tape_ad.rules.maps.patterns import Pattern, joined, numbered, pairs, reads
from tape_ad.rules.nn.activations import Blocks, blocks


@overridable
def lstm_gates(gates: Array, /) -> Array:
    """Activate the gates of an LSTM: input, forget, cell and output.

    Parameters
    ----------
    gates : array or Tensor, shape (..., 4 * n)

    Returns
    -------
    array or Tensor, shape (..., 4 * n)
        The third quarter is bent by tanh, the others by the logistic function.

    Examples
    --------
    >>> lstm_gates(np.zeros(4))
    array([0.5, 0.5, 0. , 0.5])
    """
    return activated(gates, 2, 4)


@overridable
def lstm_cell(gates: Array, cell: Array, /) -> Array:
    """Compute the next cell state of an LSTM: forget * cell + input * new.

    Parameters
    ----------
    gates : array or Tensor, shape (..., 4 * n)
        From `lstm_gates`.
    cell : array or Tensor, shape (..., n)

    Returns
    -------
    array or Tensor, shape (..., n)

    Examples
    --------
    >>> lstm_cell(np.array([0.5, 0.5, 0.0, 0.5]), np.array([3.0]))
    array([1.5])
    """
    i, f, g, _ = blocks(gates, 4)
    return f * cell + i * g


@overridable
def lstm_hidden(gates: Array, cell: Array, /) -> Array:
    """Compute the next hidden state of an LSTM: output * tanh(cell).

    Parameters
    ----------
    gates : array or Tensor, shape (..., 4 * n)
        From `lstm_gates`.
    cell : array or Tensor, shape (..., n)
        The next one, from `lstm_cell`.

    Returns
    -------
    array or Tensor, shape (..., n)

    Examples
    --------
    >>> lstm_hidden(np.array([0.5, 0.5, 0.0, 0.5]), np.array([1e4]))
    array([0.5])
    """
    return blocks(gates, 4)[3] * np.tanh(cell)


@overridable
def gru_gates(inputs: Array, recurrent: Array, /) -> Array:
    """Activate the gates of a GRU: reset, update and new, where the first acts on the third.

    Parameters
    ----------
    inputs, recurrent : array or Tensor, shape (..., 3 * n)
        What the input and the hidden state give.

    Returns
    -------
    array or Tensor, shape (..., 3 * n)
        sigmoid(a), sigmoid(b) and tanh(c + sigmoid(a) * d), where a and b are sums.

    Examples
    --------
    >>> gru_gates(np.zeros(3), np.zeros(3))
    array([0.5, 0.5, 0. ])
    """
    n = inputs.shape[-1] // 3
    both = activated(inputs[..., : 2 * n] + recurrent[..., : 2 * n], None, 2)
    new = np.tanh(inputs[..., 2 * n :] + both[..., :n] * recurrent[..., 2 * n :])
    return np.concatenate([both, new], -1)


@overridable
def gru_hidden(gates: Array, hidden: Array, /) -> Array:
    """Compute the next hidden state of a GRU: (1 - update) * new + update * hidden.

    Parameters
    ----------
    gates : array or Tensor, shape (..., 3 * n)
        From `gru_gates`.
    hidden : array or Tensor, shape (..., n)

    Returns
    -------
    array or Tensor, shape (..., n)

    Examples
    --------
    >>> gru_hidden(np.array([0.5, 0.5, 0.0]), np.array([3.0]))
    array([1.5])
    """
    _, z, new = blocks(gates, 3)
    return new + z * (hidden - new)


def activated(gates: Array, tanh_at: int | None, count: int) -> Array:
    """Bend one block by tanh and the others by the logistic function, which is (1 + tanh(x/2)) / 2.

    It is right to the last digit of 1, though not of small values: enough for a gate, and as fast
    as one tanh.
    """
    half = marked(gates, tanh_at, count, 0.5, 1.0)
    return np.tanh(gates * half) * half + (1 - half)


def slopes(activated: Array, tanh_at: int, count: int) -> Array:
    """Give the derivative of each activation from its value, a.

    That of the logistic function is a * (1 - a), and that of tanh is (1 + a) * (1 - a).
    """
    return (activated + marked(activated, tanh_at, count, 0.0, 1.0)) * (1 - activated)


def marked(gates: Array, at: int | None, count: int, others: float, value: float) -> Array:
    """Make a row with one number for a block and another for the other blocks."""
    width = gates.shape[-1]
    row = np.full(width, others, gates.dtype)
    if at is not None:
        row[at * width // count : (at + 1) * width // count] = value
    return row


@define(eq=False, repr=False)
class GRUGates:
    """The derivative of `gru_gates`; `reset` is what the parent's third block is multiplied by."""

    slopes: Array
    passed: Array
    reset: Array | None

    @reads()
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell that each gate depends on its own block, and the last on the first as well."""
        numbers = numbered(parent)
        r, z, _ = blocks(numbers, 3)
        return joined([pairs(numbers), pairs(np.concatenate([r, z, r], -1))])

    def push(self, t: Array) -> Array:
        s, (r, z, n) = blocks(self.slopes, 3), blocks(t, 3)
        r = r * s[0]
        n = n if self.reset is None else n * self.reset
        return np.concatenate([r, z * s[1], (n + r * self.passed) * s[2]], -1)

    def pull(self, ct: Array) -> Array:
        s, (r, z, n) = blocks(self.slopes, 3), blocks(ct, 3)
        n = n * s[2]
        r = (r + n * self.passed) * s[0]
        return np.concatenate([r, z * s[1], n if self.reset is None else n * self.reset], -1)


def lstm_hidden_by_cell(out: Array, gates: Array, cell: Array) -> Array:
    """The output gate times 1 - tanh(cell)**2."""
    bent = np.tanh(cell)
    return blocks(gates, 4)[3] * (1 - bent * bent)


def gru_by_inputs(out: Array, inputs: Array, recurrent: Array) -> LinearMap:
    """Make a partial of the gates of a GRU."""
    return GRUGates(slopes(out, 2, 3), blocks(recurrent, 3)[2], None)


def gru_by_recurrent(out: Array, inputs: Array, recurrent: Array) -> LinearMap:
    """Make a partial of the gates of a GRU."""
    return GRUGates(slopes(out, 2, 3), blocks(recurrent, 3)[2], blocks(out, 3)[0])


def lstm_cell_by_gates(out: Array, gates: Array, cell: Array) -> LinearMap:
    """The other factor of each product; the output gate has no part in it."""
    i, _, g, _ = blocks(gates, 4)
    return Blocks((g, cell, i, None))


def gru_hidden_by_gates(out: Array, gates: Array, hidden: Array) -> LinearMap:
    """The reset gate has no part in it."""
    _, z, new = blocks(gates, 3)
    return Blocks((None, hidden - new, 1 - z))


RECURRENT: dict[Any, Entry] = {
    lstm_gates: rule(lambda out, gates: slopes(out, 2, 4), facts=facts.cores("(n)->(n)")),
    lstm_cell: rule(
        lstm_cell_by_gates,
        lambda out, gates, cell: blocks(gates, 4)[1],
        facts=facts.cores("(m),(n)->(n)"),
    ),
    lstm_hidden: rule(
        lambda out, gates, cell: Blocks((None, None, None, np.tanh(cell))),
        lstm_hidden_by_cell,
        facts=facts.cores("(m),(n)->(n)"),
    ),
    gru_gates: rule(gru_by_inputs, gru_by_recurrent, facts=facts.cores("(m),(m)->(m)")),
    gru_hidden: rule(
        gru_hidden_by_gates,
        lambda out, gates, hidden: blocks(gates, 3)[1],
        facts=facts.cores("(m),(n)->(n)"),
    ),
}
