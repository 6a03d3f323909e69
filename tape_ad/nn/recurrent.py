"""Recurrent networks: cells, which take one step from a state to the next, and whole sequences.

A sequence is a loop in Python over the steps of a cell. The parameters have PyTorch's names, but as
everywhere here a dense matrix has the shape (inputs, outputs): each is the transpose of PyTorch's.
"""

import math
from typing import Any, ClassVar

import numpy as np
from attrs import Attribute, field, frozen

from tape_ad.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.nn.calls import Params, Rng
from tape_ad.nn.initializers import uniform
from tape_ad.nn.layers import FLOAT64, dropout
from tape_ad.nn.stores import (
    Layer,
    Parameter,
    as_dtype,
    as_input,
    as_length,
    drawn_alike,
    floating,
    named,
    positive,
    probability,
)
from tape_ad.rules.nn.activations import relu
from tape_ad.rules.nn.affine import linear, two_linear
from tape_ad.rules.nn.recurrent import gru_gates, gru_hidden, lstm_cell, lstm_gates, lstm_hidden

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]

Values = list[Array]
"""The parameters of a cell: weight_ih, weight_hh, bias_ih, bias_hh."""

State = tuple[Array, ...]
"""What a cell hands on: its hidden state, and behind it what else it remembers."""


@frozen
class Cell(Layer):
    """What the cells have in common."""

    blocks: ClassVar[int]

    name: str = field(validator=named)
    input_size: int = field(converter=as_length, validator=positive)
    hidden_size: int = field(converter=as_length, validator=positive)
    bias: bool = True
    dtype: np.dtype[Any] = field(default=FLOAT64, converter=as_dtype, validator=floating)

    @property
    def _own_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the weights and biases of the input and of the hidden state."""
        width = self.blocks * self.hidden_size
        weights = {"weight_ih": (self.input_size, width), "weight_hh": (self.hidden_size, width)}
        return weights | ({"bias_ih": (width,), "bias_hh": (width,)} if self.bias else {})

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The weights and biases of the input and of the hidden state."""
        return drawn_alike(self, self._own_shapes, uniform(1 / math.sqrt(self.hidden_size)))

    def _values(self, store: Params, x: Array, rng: Rng, owner: Layer, end: str = "") -> Values:
        """Look the parameters up: weight_ih, weight_hh, bias_ih, bias_hh."""
        if x.shape[-1:] != (self.input_size,):
            raise ShapeError(
                f"the layer {self.name!r} takes an input of shape (..., {self.input_size}), got "
                f"one of shape {x.shape}"
            )
        name = self.name
        values = [
            owner._read(store, f"{name}.{which}{end}", shape, rng)
            for which, shape in self._own_shapes.items()
        ]
        if not self.bias:
            values += [np.zeros(values[0].shape[1], x.dtype)] * 2
        return values

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

    def _step(self, values: Values, x: Array, state: State) -> State:
        """Compute the next state, of which the first part is the output."""
        raise NotImplementedError


def known(layer: Any, attribute: "Attribute[str]", value: str) -> None:
    """Check the name of a nonlinearity."""
    if value not in ("tanh", "relu"):
        raise ValueError(f'RNNCell: nonlinearity must be "tanh" or "relu", got {value!r}')


@frozen
class HiddenCell(Cell):
    """What the cells have in common that hand on their hidden state alone."""

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
        rng : numpy.random.Generator, optional
            For parameters that are not in a plain store yet, which are drawn and put there.
        training : bool
            Of no effect.

        Returns
        -------
        array or Tensor, shape (..., hidden_size)
        """
        x = as_input(x)
        return self._step(self._values(store, x, rng, self), x, (self._state(x, hx),))[0]


@frozen
class RNNCell(HiddenCell):
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

    def _step(self, values: Values, x: Array, state: State) -> State:
        w, u, b, c = values
        out = two_linear(x, w, state[0], u, b + c)
        return (np.tanh(out) if self.nonlinearity == "tanh" else relu(out),)


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
        rng : numpy.random.Generator, optional
            For parameters that are not in a plain store yet, which are drawn and put there.
        training : bool
            Of no effect.

        Returns
        -------
        pair of array or Tensor, shape (..., hidden_size)
        """
        x = as_input(x)
        values = self._values(store, x, rng, self)
        hidden, cell = hx if hx is not None else (None, None)
        state = self._state(x, hidden), self._state(x, cell)
        return self._step(values, x, state)

    def _step(self, values: Values, x: Array, state: State) -> tuple[Array, Array]:
        w, u, b, c = values
        hidden, cell = state
        gates = lstm_gates(two_linear(x, w, hidden, u, b + c))
        cell = lstm_cell(gates, cell)
        return lstm_hidden(gates, cell), cell


@frozen
class GRUCell(HiddenCell):
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

    def _step(self, values: Values, x: Array, state: State) -> State:
        w, u, b, c = values
        [hidden] = state
        return (gru_hidden(gru_gates(linear(x, w, b), linear(hidden, u, c)), hidden),)


@frozen
class Recurrent(Layer):
    """What `RNN`, `LSTM` and `GRU` have in common."""

    cell: ClassVar[type[Cell]]
    parts: ClassVar[int] = 1  # of a state

    name: str = field(validator=named)
    input_size: int = field(converter=as_length, validator=positive)
    hidden_size: int = field(converter=as_length, validator=positive)
    num_layers: int = field(default=1, converter=as_length, validator=positive)
    bias: bool = field(default=True, kw_only=True)
    batch_first: bool = field(default=False, kw_only=True)
    dropout: float = field(default=0.0, validator=probability, kw_only=True)
    bidirectional: bool = field(default=False, kw_only=True)
    dtype: np.dtype[Any] = field(
        default=FLOAT64, converter=as_dtype, validator=floating, kw_only=True
    )

    @property
    def cells(self) -> list[list[tuple[str, Cell]]]:
        """For each layer the cells of its directions, and how their parameters' names end."""
        ends = ("", "_reverse") if self.bidirectional else ("",)
        return [
            [(f"_l{k}{end}", self._cell(len(ends) * self.hidden_size if k else 0)) for end in ends]
            for k in range(self.num_layers)
        ]

    def _cell(self, input_size: int) -> Cell:
        """Make a cell; 0 is for the input of the whole layer."""
        size = input_size or self.input_size
        return self.cell(self.name, size, self.hidden_size, self.bias, dtype=self.dtype)

    @property
    def own_parameters(self) -> dict[str, Parameter]:
        """The parameters of all layers and directions."""
        return {
            name + end: parameter
            for layer in self.cells
            for end, cell in layer
            for name, parameter in cell.own_parameters.items()
        }

    def __call__(
        self, store: Params, x: Array, hx: Any = None, *, rng: Rng = None, training: bool = False
    ) -> tuple[Array, Any]:
        """Run over a sequence.

        Parameters
        ----------
        store : dict of str to Tensor, or to array
        x : array or Tensor, shape (length, n, input_size) or (length, input_size)
            With `batch_first`, (n, length, input_size).
        hx : array or Tensor, shape (num_layers * directions, n, hidden_size), optional
            The state to begin with; zeros when left out. An LSTM has a pair of them.
        rng : numpy.random.Generator, optional
            For what `dropout` leaves out while training, and for parameters that are not in a
            plain store yet, which are drawn and put there.
        training : bool
            Whether `dropout` leaves anything out.

        Returns
        -------
        output : array or Tensor, shape (length, n, directions * hidden_size)
            The hidden state of the last layer at each step; with `batch_first` as for `x`.
        state : like `hx`
            The states at the end.

        Raises
        ------
        ShapeError
            When the input or the state has another shape, or the sequence has no steps.
        """
        x = as_input(x)
        axis = 1 if self.batch_first and x.ndim > 2 else 0
        if x.ndim < 2 or x.shape[axis] == 0:
            raise ShapeError(
                f"the layer {self.name!r} takes a sequence of one step or more, of shape (length, "
                f"..., {self.input_size}) or with batch_first (n, length, {self.input_size}), got "
                f"one of shape {x.shape}"
            )
        steps = list(np.moveaxis(x, axis, 0))
        cells = self.cells
        starts = self._starts(hx, len(cells) * len(cells[0]))
        ends: list[State] = []
        for k, layer in enumerate(cells):
            if k and self.dropout:
                steps = [dropout(each, self.dropout, training, rng=rng) for each in steps]
            found = []
            for backward, (end, cell) in enumerate(layer):
                values = cell._values(store, steps[0], rng, self, end)
                state = tuple(cell._state(steps[0], each) for each in starts[len(ends)])
                outputs = []
                for each in reversed(steps) if backward else steps:
                    state = cell._step(values, each, state)
                    outputs.append(state[0])
                ends.append(state)
                found.append(outputs[::-1] if backward else outputs)
            steps = (
                found[0]
                if len(found) == 1
                else [np.concatenate(pair, axis=-1) for pair in zip(*found, strict=True)]
            )
        last = tuple(np.stack(part) for part in zip(*ends, strict=True))
        return np.stack(steps, axis), last if self.parts > 1 else last[0]

    def _starts(self, hx: Any, count: int) -> list[tuple[Array | None, ...]]:
        """Give the state that each cell begins with."""
        if hx is None:
            return [(None,) * self.parts] * count
        given = tuple(hx) if self.parts > 1 else (hx,)
        parts = [as_array(each) for each in given]
        if len(parts) != self.parts or any(each.shape[:1] != (count,) for each in parts):
            what = "a pair of states" if self.parts > 1 else "a state"
            raise ShapeError(
                f"the layer {self.name!r} begins with {what} of shape ({count}, ..., "
                f"{self.hidden_size}), got {[each.shape for each in parts]}"
            )
        return list(zip(*parts, strict=True))


@frozen
class RNN(Recurrent):
    """A plain recurrent network over whole sequences: `RNNCell` at each step, in layers.

    Its parameters are those of a cell for each layer and direction, with PyTorch's names:
    ``"{name}.weight_ih_l0"``, ``"{name}.weight_hh_l0"``, ``"{name}.bias_ih_l0"``, ...,
    ``"{name}.weight_ih_l1_reverse"``.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    input_size, hidden_size : int
    num_layers : int
        How many cells lie upon each other; each has the outputs of the one below as its input.
    nonlinearity : "tanh" or "relu"
    bias : bool
        Whether there are biases.
    batch_first : bool
        Whether inputs and outputs are (n, length, ...) rather than (length, n, ...). The state is
        (num_layers * directions, n, hidden_size) either way.
    dropout : float
        The probability, in training, of an output between two layers to be left out.
    bidirectional : bool
        Whether each layer also runs backwards; its outputs are joined.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.RNN("rnn", 3, 4, num_layers=2)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> output, state = layer(params, np.ones((10, 2, 3)))
    >>> output.shape, state.shape
    ((10, 2, 4), (2, 2, 4))
    """

    cell: ClassVar[type[Cell]] = RNNCell

    nonlinearity: str = field(default="tanh", validator=known)

    def _cell(self, input_size: int) -> Cell:
        size = input_size or self.input_size
        return RNNCell(self.name, size, self.hidden_size, self.bias, self.nonlinearity, self.dtype)


@frozen
class LSTM(Recurrent):
    """A long short-term memory over whole sequences: `LSTMCell` at each step, in layers.

    Its state is a pair, the hidden states and the cell states.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    input_size, hidden_size : int
    num_layers : int
        How many cells lie upon each other; each has the outputs of the one below as its input.
    bias : bool
        Whether there are biases.
    batch_first : bool
        Whether inputs and outputs are (n, length, ...) rather than (length, n, ...). The state is
        (num_layers * directions, n, hidden_size) either way.
    dropout : float
        The probability, in training, of an output between two layers to be left out.
    bidirectional : bool
        Whether each layer also runs backwards; its outputs are joined.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.LSTM("lstm", 3, 4, batch_first=True, bidirectional=True)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> output, (h, c) = layer(params, np.ones((2, 10, 3)))
    >>> output.shape, h.shape, c.shape
    ((2, 10, 8), (2, 2, 4), (2, 2, 4))
    """

    cell: ClassVar[type[Cell]] = LSTMCell
    parts: ClassVar[int] = 2


@frozen
class GRU(Recurrent):
    """A gated recurrent unit over whole sequences: `GRUCell` at each step, in layers.

    Parameters
    ----------
    name : str
        What the names of its parameters begin with.
    input_size, hidden_size : int
    num_layers : int
        How many cells lie upon each other; each has the outputs of the one below as its input.
    bias : bool
        Whether there are biases.
    batch_first : bool
        Whether inputs and outputs are (n, length, ...) rather than (length, n, ...). The state is
        (num_layers * directions, n, hidden_size) either way.
    dropout : float
        The probability, in training, of an output between two layers to be left out.
    bidirectional : bool
        Whether each layer also runs backwards; its outputs are joined.
    dtype : floating dtype
        In which `init` makes the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.GRU("gru", 3, 4)
    >>> params = ta.nn.init(layer, np.random.default_rng(0))
    >>> output, state = layer(params, np.ones((10, 2, 3)))
    >>> output.shape, state.shape
    ((10, 2, 4), (1, 2, 4))
    """

    cell: ClassVar[type[Cell]] = GRUCell
