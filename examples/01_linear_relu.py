"""Watch one layer learn, a step at a time: what a record, a handle and a gradient are.

The parameters live in a plain dict. Every step makes a fresh record, binds the dict to it, runs
ordinary NumPy on the handles, and asks for gradients, here also for that of a value in the middle
of the computation. Needs nothing but NumPy. Writes no files.
"""

import argparse

import numpy as np

import tape_ad as ta

LEARNING_RATE = 0.01
STEPS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description="A linear layer and ReLU, five steps of descent.")
    parser.add_argument("--out", metavar="DIR", help="accepted as in every example; not used")
    parser.parse_args()

    layer = ta.nn.Linear("linear", 3, 3, bias=False)
    params = {"linear.weight": np.full((3, 3), 0.5)}  # positive, so that every unit is active
    x = np.array([[1.0, 2.0, 3.0]])  # a plain array, so a constant

    for step in range(STEPS):
        rec = ta.ComputationRecord()  # the graph of this step, and of no other
        p = rec.bind(params)  # handles, under the same names
        linear = layer(p, x)  # x @ p["linear.weight"]
        loss = np.sum(ta.nn.relu(linear))

        grads = loss.grad()  # a value; neither params nor p has changed
        at_relu = grads.wrt(linear)  # any handle may be asked about, not only the parameters
        print(f"step {step}: loss {loss:.2f}, gradient at the ReLU's input {at_relu}")

        for name, gradient in grads.wrt(p).items():
            params[name] -= LEARNING_RATE * gradient

    print("\nThe record of the last step, a line for each node:")
    print(rec)


if __name__ == "__main__":
    main()
