"""Recurrent networks: long records of middling and of tiny nodes."""

from typing import Any

import numpy as np

from benchmarks.libraries import BY_HAND, OURS_COMPILED, OURS_NATIVE, TORCH
from benchmarks.libraries.plain import Data, Outcome, Program
from benchmarks.workloads.base import COMPILES_LONG, Array, Workload, seeded

__all__ = ["WORKLOADS"]


def rnn_cell(library: Any, p: Data, h: Array, x: Array) -> Array:
    xp = library.xp
    return xp.tanh(xp.matmul(x, p["w_x"]) + xp.matmul(h, p["w_h"]) + p["b"])


def rnn(library: Any, p: Data, data: Data) -> Array:
    h = data["h"]
    for t in range(len(data["x"])):
        h = rnn_cell(library, p, h, data["x"][t])
    return library.xp.sum(h * h)


def scanned_rnn(library: Any, p: Data, data: Data) -> Array:
    def one(h: Array, x: Array) -> tuple[Array, None]:
        return rnn_cell(library, p, h, x), None

    h, _ = library.scan(one, data["h"], data["x"])
    return library.xp.sum(h * h)


def rnn_by_hand(p: Data, data: Data) -> Program:
    w_x, w_h, b, xs = p["w_x"], p["w_h"], p["b"], data["x"]

    def program() -> Outcome:
        states = [data["h"]]
        for x in xs:
            h = x @ w_x
            h += states[-1] @ w_h
            h += b
            states.append(np.tanh(h, out=h))
        gradients = {name: np.zeros_like(array) for name, array in p.items()}
        d = 2 * states[-1]
        for x, before, h in zip(xs[::-1], states[-2::-1], states[::-1], strict=False):
            d *= 1 - h * h
            gradients["w_x"] += x.T @ d
            gradients["w_h"] += before.T @ d
            gradients["b"] += np.add.reduce(d, axis=0)
            d = d @ w_h.T
        return np.add.reduce(states[-1] * states[-1], axis=None), gradients

    return program


def rnn_inputs() -> tuple[Data, Data]:
    x, w_x, w_h, b = seeded((100, 16, 64), (64, 64), (64, 64), (64,))
    # Smaller weights would let the gradient fade to denormal numbers, which take long
    p = {"w_x": w_x / 16, "w_h": w_h / 8, "b": 0.1 * b}
    return p, {"x": x, "h": np.zeros((16, 64))}


# The LSTM of ADBench, whose gates are elementwise: four vectors of weights and four of biases


def lstm_cell(
    library: Any, weight: Array, bias: Array, hidden: Array, cell: Array, x: Array
) -> tuple[Array, Array]:
    b = x.shape[0]
    forget = library.sigmoid(x * weight[:b] + bias[:b])
    ingate = library.sigmoid(hidden * weight[b : 2 * b] + bias[b : 2 * b])
    outgate = library.sigmoid(x * weight[2 * b : 3 * b] + bias[2 * b : 3 * b])
    change = library.xp.tanh(hidden * weight[3 * b :] + bias[3 * b :])
    cell = cell * forget + ingate * change
    return outgate * library.xp.tanh(cell), cell


def predicted(library: Any, p: Data, state: list[Array], x: Array) -> tuple[Array, list[Array]]:
    """Run all layers on one character; the state has a hidden vector and a cell for each."""
    main, extra = p["main"], p["extra"]
    x = x * extra[0]
    after: list[Array] = []
    for i in range(0, len(state), 2):
        x, cell = lstm_cell(library, main[i], main[i + 1], state[i], state[i + 1], x)
        after += [x, cell]
    return x * extra[1] + extra[2], after


def log_probability(library: Any, p: Data, state: list[Array], x: Array, target: Array) -> Any:
    xp = library.xp
    y, state = predicted(library, p, state, x)
    return xp.sum(target * (y - xp.log(xp.sum(xp.exp(y)) + 2))), state


def lstm(library: Any, p: Data, data: Data) -> Array:
    sequence, state = data["sequence"], [data["state"][i] for i in range(4)]
    total = 0.0
    for t in range(len(sequence) - 1):
        term, state = log_probability(library, p, state, sequence[t], sequence[t + 1])
        total = total + term
    return -total / ((len(sequence) - 1) * sequence.shape[1])


def scanned_lstm(library: Any, p: Data, data: Data) -> Array:
    sequence = data["sequence"]

    def one(state: list[Array], pair: tuple[Array, Array]) -> tuple[list[Array], Array]:
        term, state = log_probability(library, p, state, *pair)
        return state, term

    start = [data["state"][i] for i in range(4)]
    _, terms = library.scan(one, start, (sequence[:-1], sequence[1:]))
    return -library.xp.sum(terms) / ((len(sequence) - 1) * sequence.shape[1])


def lstm_inputs() -> tuple[Data, Data]:
    characters, bits = 1_024, 14
    main, extra, state = seeded((4, 4 * bits), (3, bits), (4, bits))
    sequence = np.random.default_rng(1).integers(2, size=(characters, bits)).astype(float)
    return {"main": main, "extra": extra}, {"state": state, "sequence": sequence}


SCANNED = "its way to write a loop is scan, which compiles"

WORKLOADS = [
    Workload(
        "RNN, 100 steps",
        "100 steps of tanh(x @ W + h @ U + b), batch 16, 64 wide",
        rnn,
        rnn_inputs,
        own={"jax_jit": scanned_rnn, BY_HAND: rnn_by_hand},
        cannot=COMPILES_LONG,
        targets={TORCH: 0.45},
        small=True,
        dtype="float32",
    ),
    Workload(
        "LSTM, 1,024 characters",
        "ADBench's LSTM: 2 layers, 14 wide, 1,024 characters",
        lstm,
        lstm_inputs,
        own={"jax_jit": scanned_lstm},
        cannot={"jax_eager": SCANNED} | COMPILES_LONG,
        not_quick=frozenset({"hips_autograd", OURS_COMPILED, OURS_NATIVE}),
        small=True,
        compiled=0.25,
        native=0.5,
    ),
]
