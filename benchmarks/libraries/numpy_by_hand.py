"""NumPy with gradients written by hand: here a workload's formula makes the program itself."""

from collections.abc import Callable

from benchmarks.libraries.plain import Data, Program, peak, to_numpy

__all__ = ["function", "gradient", "hessian", "jacobian", "peak", "step", "to_numpy"]


def gradient(make: Callable[[Data, Data], Program], p: Data, data: Data) -> Program:
    return make(p, data)


def step(
    make: Callable[[Data, Data, float, float], Program],
    p: Data,
    data: Data,
    rate: float,
    momentum: float,
) -> Program:
    return make(p, data, rate, momentum)


function = jacobian = hessian = gradient
