"""The loss of a recurrent network that foretells a text, bit by bit.

As ADBench has it: all weights are diagonal, the forget and output gates see the input alone, and
the normaliser has a 2 in its sum.
"""

from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def objective(p: Any, state: Array, sequence: Array) -> Any:
    main, extra = p
    into, out, bias = extra
    layers = [
        np.split(main[2 * i], 4) + np.split(main[2 * i + 1], 4) for i in range(len(main) // 2)
    ]
    hidden, cell = list(state[::2]), list(state[1::2])
    given = sequence[:-1] * into
    seen = []
    for bits in given:
        x = bits
        for i, (forget, ingate, outgate, change, *b) in enumerate(layers):
            kept = cell[i] * sigmoid(x * forget + b[0])
            new = sigmoid(hidden[i] * ingate + b[1]) * np.tanh(hidden[i] * change + b[3])
            cell[i] = kept + new
            hidden[i] = x = sigmoid(x * outgate + b[2]) * np.tanh(cell[i])
        seen.append(x)
    said = np.stack(seen) * out + bias
    normaliser = np.log(2 + np.sum(np.exp(said), axis=1, keepdims=True))
    return -np.mean(sequence[1:] * (said - normaliser))


def prepare(given: Any) -> tuple[Any, Array, Array]:
    p = np.array(given["main_params"], float), np.array(given["extra_params"], float)
    return p, np.array(given["state"], float), np.array(given["sequence"], float)


def answer(result: Any, _prepared: Any) -> Any:
    """Write one gradient after the other."""
    return np.concatenate([part.ravel() for part in result])


TASKS: Tasks = {
    "objective": Task(objective, prepare),
    "jacobian": Task(ta.grad(objective), prepare, answer),
}
