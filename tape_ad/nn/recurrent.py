"""Cells of recurrent networks: one step, from an input and a state to the next state.

A sequence is a loop in Python. The parameters have PyTorch's names, but as everywhere here a dense
matrix has the shape (inputs, outputs): each is the transpose of PyTorch's.
"""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import Attribute, field, frozen

from tape_ad.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.nn.calls import Params, Rng
from tape_ad.nn.initializers import uniform
from tape_ad.nn.layers import FLOAT64
from tape_ad.nn.stores import (
    Layer,
    Parameter,
    as_dtype,
    as_length,
    floating,
    named,
    positive,
)
from tape_ad.rules.nn.activations import relu
from tape_ad.rules.nn.affine import linear, two_linear
from tape_ad.rules.nn.recurrent import gru_gates, gru_hidden, lstm_cell, lstm_gates, lstm_hidden

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


@frozen
class Cell(Layer):
    """What the cells have in common."""

    blocks: ClassVar[int]

    name: str = field(validator=named)
    input_size: int = field(converter=as_length, validator=positive)
    hidden_size: int = field(converter=as_length, validator=positive)
    bias: bool = True

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The weights and biases of the input and of the hidden state."""
        draw = uniform(1 / math.sqrt(self.hidden_size))
        width = self.blocks * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (self.input_size, width),
            "weight_hh": (self.hidden_size, width),
        }
        if self.bias:
            shapes |= {"bias_ih": (width,), "bias_hh": (width,)}
        dtype: np.dtype[Any] = self.dtype  # type: ignore[attr-defined]  # the last field of each
        return {f"{self.name}.{which}": Parameter(s, dtype, draw) for which, s in shapes.items()}

    def _values(self, store: Params, x: Array, rng: Rng) -> list[Array]:
        """Look the parameters up: weight_ih, weight_hh, bias_ih, bias_hh."""
        if x.shape[-1:] != (self.input_size,):
            raise ShapeError(
                f"the layer {self.name!r} takes an input of shape (..., {self.input_size}), got "
                f"one of shape {x.shape}"
            )
        width = self.blocks * self.hidden_size
        name = self.name
        values = [
            self._read(store, f"{name}.weight_ih", (self.input_size, width), rng),
            self._read(store, f"{name}.weight_hh", (self.hidden_size, width), rng),
        ]
        if not self.bias:
            return [*values, np.zeros(width, x.dtype), np.zeros(width, x.dtype)]
        return [
            *values,
            self._read(store, f"{name}.bias_ih", (width,), rng),
            self._read(store, f"{name}.bias_hh", (width,), rng),
        ]

    def _state(self, x: Array, state: Array | None) -> Array:
        """Check a state, or start from zeros."""
        shape = (*x.shape[:-1], self.hidden_size)
        if state is None:
            return np.zeros(shape, x.dtype)
        state = as_array(state)
        if state.shape != shape:
            raise ShapeError(
                f"the layer {self.name!r} needs a state of shape {shape} for an input of shape "
                f"{x.shape}, got one of shape {state.shape}"
            )
        return state


def known(layer: Any, attribute: "Attribute[str]", value: str) -> None:
    """Check the name of a nonlinearity."""
    if value not in ("tanh", "relu"):
        raise ValueError(f'RNNCell: nonlinearity must be "tanh" or "relu", got {value!r}')


@frozen
class RNNCell(Cell):
    """One step of a plain recurrent network: tanh(x @ weight_ih + b + h @ weight_hh + c).

    Its parameters are ``"{name}.weight_ih"`` of shape (input_size, hidden_size),
    ``"{name}.weight_hh"`` of shape (hidden_size, hidden_size), and ``"{name}.bias_ih"`` and
    ``"{name}.bias_hh"``; all are drawn from U(-1/sqrt(hidden_size), 1/sqrt(hidden_size)).

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    input_size, hidden_size : int
    bias : bool
        Whether it has biases.
    nonlinearity : "tanh" or "relu"
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> cell = ta.nn.RNNCell("cell", 3, 4)
    >>> params = ta.nn.init(cell, np.random.default_rng(0))
    >>> h = None
    >>> for x in np.ones((10, 2, 3)):
    ...     h = cell(params, x, h)
    >>> h.shape
    (2, 4)
    """

    blocks: ClassVar[int] = 1

    nonlinearity: str = field(default="tanh", validator=known)
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    def __call__(
        self,
        store: Params,
        x: Array,
        hx: Array | None = None,
        *,
        rng: Rng = None,
        training: bool = False,
    ) -> Array:
        """Compute the next hidden state.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
        x : array or Tensor, shape (..., input_size)
        hx : array or Tensor, shape (..., hidden_size), optional
            The hidden state; zeros when left out.
        rng, training
            As for all layers.

        Returns
        -------
        array or Tensor, shape (..., hidden_size)
        """
        x = as_array(x)
        w, u, b, c = self._values(store, x, rng)
        out = two_linear(x, w, self._state(x, hx), u, b + c)
        return np.tanh(out) if self.nonlinearity == "tanh" else relu(out)


@frozen
class LSTMCell(Cell):
    """One step of a long short-term memory.

    Its parameters are those of `RNNCell` with four blocks of columns, for the input, forget, cell
    and output gate: ``"{name}.weight_ih"`` has the shape (input_size, 4 * hidden_size).

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    input_size, hidden_size : int
    bias : bool
        Whether it has biases.
    dtype : floating dtype
        In which `init` makes the parameters.

    Notes
    -----
    Hochreiter & Schmidhuber, "Long short-term memory", 1997, with the forget gate of Gers,
    Schmidhuber & Cummins, 2000.

    Examples
    --------
    >>> import tape_ad as ta
    >>> cell = ta.nn.LSTMCell("cell", 3, 4)
    >>> params = ta.nn.init(cell, np.random.default_rng(0))
    >>> state = None
    >>> for x in np.ones((10, 2, 3)):
    ...     state = cell(params, x, state)
    >>> h, c = state
    >>> h.shape, c.shape
    ((2, 4), (2, 4))
    """

    blocks: ClassVar[int] = 4

    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    def __call__(
        self,
        store: Params,
        x: Array,
        hx: tuple[Array, Array] | None = None,
        *,
        rng: Rng = None,
        training: bool = False,
    ) -> tuple[Array, Array]:
        """Compute the next hidden state and cell state.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
        x : array or Tensor, shape (..., input_size)
        hx : pair of array or Tensor, shape (..., hidden_size), optional
            The hidden state and the cell state; zeros when left out.
        rng, training
            As for all layers.

        Returns
        -------
        pair of array or Tensor, shape (..., hidden_size)
        """
        x = as_array(x)
        w, u, b, c = self._values(store, x, rng)
        hidden, cell = hx if hx is not None else (None, None)
        gates = lstm_gates(two_linear(x, w, self._state(x, hidden), u, b + c))
        cell = lstm_cell(gates, self._state(x, cell))
        return lstm_hidden(gates, cell), cell


@frozen
class GRUCell(Cell):
    """One step of a gated recurrent unit.

    Its parameters are those of `RNNCell` with three blocks of columns, for the reset, update and
    new gate: ``"{name}.weight_ih"`` has the shape (input_size, 3 * hidden_size).

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    input_size, hidden_size : int
    bias : bool
        Whether it has biases.
    dtype : floating dtype
        In which `init` makes the parameters.

    Notes
    -----
    Cho et al., https://arxiv.org/abs/1406.1078, in PyTorch's variant, where the reset gate acts
    behind the matrix product.

    Examples
    --------
    >>> import tape_ad as ta
    >>> cell = ta.nn.GRUCell("cell", 3, 4)
    >>> params = ta.nn.init(cell, np.random.default_rng(0))
    >>> cell(params, np.ones((2, 3)), np.zeros((2, 4))).shape
    (2, 4)
    """

    blocks: ClassVar[int] = 3

    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    def __call__(
        self,
        store: Params,
        x: Array,
        hx: Array | None = None,
        *,
        rng: Rng = None,
        training: bool = False,
    ) -> Array:
        """Compute the next hidden state.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
        x : array or Tensor, shape (..., input_size)
        hx : array or Tensor, shape (..., hidden_size), optional
            The hidden state; zeros when left out.
        rng, training
            As for all layers.

        Returns
        -------
        array or Tensor, shape (..., hidden_size)
        """
        x = as_array(x)
        w, u, b, c = self._values(store, x, rng)
        hidden = self._state(x, hx)
        return gru_hidden(gru_gates(linear(x, w, b), linear(hidden, u, c)), hidden)
