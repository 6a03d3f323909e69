"""tape_ad compiled, and replayed by the NumPy engine: the bits of the function itself."""

from benchmarks.libraries.tape_ad_replayed import (
    Replays,
    cross_entropy,
    fill_triangles,
    layers,
    linear,
    logsumexp,
    own_square,
    peak,
    relu,
    sigmoid,
    to_numpy,
    xp,
)

__all__ = [
    "calls",
    "cross_entropy",
    "derivative",
    "fill_triangles",
    "function",
    "gradient",
    "hessian",
    "hvp",
    "jacobian",
    "kept",
    "layers",
    "linear",
    "logsumexp",
    "own_square",
    "peak",
    "relu",
    "report",
    "sigmoid",
    "step",
    "to_numpy",
    "xp",
]

programs = Replays.by("numpy")
gradient = programs.gradient
function = programs.function
step = programs.step
jacobian = programs.jacobian
hessian = programs.hessian
derivative = programs.derivative
hvp = programs.hvp
calls = programs.calls
kept = programs.kept
report = programs.report
