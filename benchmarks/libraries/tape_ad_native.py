"""tape_ad compiled, and replayed by the native engine: LLVM's code, within a few units."""

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
from tape_ad.programs.engines.native.native_engine import assembled
from tape_ad.programs.engines.plans import Plan

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

programs = Replays.by("native")
gradient = programs.gradient
function = programs.function
step = programs.step
jacobian = programs.jacobian
hessian = programs.hessian
derivative = programs.derivative
hvp = programs.hvp
calls = programs.calls
report = programs.report


def kept() -> int:
    """Count the bytes that native code keeps to compute in, and NumPy between its runs."""
    found = 0
    for path in programs.paths():
        if path.simple is not None and path.report is not None:
            native = path.report.native > 0
            program = assembled(path.simple).program if native else path.simple
            found += Plan.of(program).workspace
    return found
