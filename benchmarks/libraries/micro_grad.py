"""micrograd, where every number is an object: a workload writes it out in numbers."""

import sys
from typing import Any

import numpy as np
from micrograd.engine import Value

from benchmarks.libraries.plain import Data, Formula, Outcome, Program, peak

__all__ = ["gradient", "peak", "step", "to_numpy"]

sys.setrecursionlimit(100_000)  # it sorts the graph by recursion, as deep as the graph is


def values(array: Any) -> Any:
    """Make nested lists of values."""
    return Value(array) if isinstance(array, float) else [values(entry) for entry in array]


def gradients(nested: Any) -> Any:
    """Read the gradients of nested lists of values."""
    return nested.grad if isinstance(nested, Value) else [gradients(entry) for entry in nested]


def to_numpy(nested: Any) -> np.ndarray[Any, Any]:
    return np.array(nested, dtype=float)


def lists(arrays: Data) -> Data:
    """Take arrays to nested lists of Python's numbers."""
    return {
        name: array.tolist() if isinstance(array, np.ndarray) else array
        for name, array in arrays.items()
    }


def gradient(formula: Formula, p: Data, data: Data) -> Program:
    numbers, data = lists(p), lists(data)

    def program() -> Outcome:
        leaves = {name: values(nested) for name, nested in numbers.items()}
        value = formula(leaves, data)
        value.backward()
        return value.data, {name: gradients(nested) for name, nested in leaves.items()}

    return program


def step(formula: Formula, p: Data, data: Data, rate: float, momentum: float) -> Program:
    if momentum:
        raise NotImplementedError("no workload asks for it")
    leaves, data = {name: values(nested) for name, nested in lists(p).items()}, lists(data)

    def parameters(nested: Any) -> list[Value]:
        if isinstance(nested, Value):
            return [nested]
        return [leaf for entry in nested for leaf in parameters(entry)]

    every = parameters(list(leaves.values()))

    def program() -> Outcome:
        for leaf in every:
            leaf.grad = 0
        loss = formula(leaves, data)
        loss.backward()
        for leaf in every:
            leaf.data -= rate * leaf.grad
        return loss.data, {name: gradients(nested) for name, nested in leaves.items()}

    return program
