"""tape_ad once more, with layers that are written in plain NumPy instead of with `tape_ad.nn`."""

from benchmarks.libraries.layers import plain as layers
from benchmarks.libraries.layers.plain import cross_entropy, linear, relu
from benchmarks.libraries.tape_ad import (
    gradient,
    lean_gradient,
    lean_step,
    peak,
    step,
    to_numpy,
    xp,
)

__all__ = [
    "cross_entropy",
    "gradient",
    "layers",
    "lean_gradient",
    "lean_step",
    "linear",
    "peak",
    "relu",
    "step",
    "to_numpy",
    "xp",
]
