"""Watch a small network learn a curve: what a record, a handle and a gradient are.

A linear layer, ReLU and another linear layer learn a wave from 61 points. The parameters live in a
plain dict. Every step makes a fresh record, binds the dict to it, runs ordinary NumPy on the
handles, and asks for gradients, at the end also for that of a value in the middle of the
computation. Both curves are drawn as text, before and after.

It takes a second, needs nothing but NumPy and writes no files.
"""

import argparse
from typing import Any

import numpy as np

import tape_ad as ta

LEARNING_RATE = 0.05
STEPS = 2000
ROWS = 11


def drawn(curve: np.ndarray[Any, Any], learnt: np.ndarray[Any, Any]) -> str:
    """Draw the curve as dots and what has been learnt of it as circles, which hide dots."""
    rows = [[" "] * len(curve) for _ in range(ROWS)]
    for mark, heights in ((".", curve), ("o", learnt)):
        places = np.rint((1.2 - heights) / 2.4 * (ROWS - 1)).astype(int)
        for column, place in enumerate(places):
            if 0 <= place < ROWS:
                rows[place][column] = mark
    return "\n".join("    " + "".join(row).rstrip() for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Two linear layers and ReLU learn a curve.")
    parser.add_argument("--out", metavar="DIR", help="accepted as in every example; not used")
    parser.parse_args()

    x = np.linspace(-1, 1, 61)[:, np.newaxis]  # plain arrays, so constants
    y = np.sin(4 * x)
    hidden, output = ta.nn.Linear("hidden", 1, 16), ta.nn.Linear("output", 16, 1)
    params: dict[str, np.ndarray[Any, Any]] = {}
    for layer in (hidden, output):
        layer.init(params, np.random.default_rng(0))  # arrays, by name
    print(
        "before:", drawn(y[:, 0], output(params, np.maximum(hidden(params, x), 0))[:, 0]), sep="\n"
    )

    for step in range(STEPS + 1):
        rec = ta.ComputationRecord()  # the graph of this step, and of no other
        p = rec.bind(params)  # handles, under the same names
        active = np.maximum(hidden(p, x), 0)  # x @ p["hidden.weight"] + p["hidden.bias"], and ReLU
        prediction = output(p, active)
        loss = ((prediction - y) ** 2).mean()

        grads = loss.grad()  # a value; neither params nor p has changed
        for name, gradient in grads.wrt(p).items():
            params[name] -= LEARNING_RATE * gradient
        if step % 500 == 0:
            print(f"step {step}: loss {loss.item():.4f}")

    print("after:", drawn(y[:, 0], prediction.data[:, 0]), sep="\n")
    slopes = grads.wrt(active)  # any handle may be asked about, not only the parameters
    print(f"the gradient at the ReLUs of the last step has shape {slopes.shape}")
    print("\nThe record of the last step, a line for each node:")
    print(rec)


if __name__ == "__main__":
    main()
