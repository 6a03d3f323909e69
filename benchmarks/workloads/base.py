"""What a workload is."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import field, frozen

from benchmarks.libraries import BY_HAND, FORWARD, LIBRARIES, PLAIN, TORCH_COMPILED
from benchmarks.libraries.plain import Data

__all__ = ["COMPILES_LONG", "Array", "Workload", "seeded"]

Array = Any
NOTHING: Mapping[str, Any] = MappingProxyType({})

COMPILES_LONG = {TORCH_COMPILED: "it would compile for more than 20 s"}
"""What it is a reason against: thousands of operations, one by one."""

ONLY = {
    FORWARD: (("gradient", "function"), "there is more to it than a forward pass"),
    "my_grad": (("gradient", "step"), "it has neither Jacobians nor second derivatives"),
}
"""The kinds of workloads that a library can express, where they are not all, and why not others."""


@frozen
class Workload:
    """One computation, and how each library writes it.

    Attributes
    ----------
    name : str
        For the tables, and for ``--only``.
    title : str
        A sentence about it.
    formula : callable
        ``formula(library, p, data)``, for all libraries that have nothing better.
    inputs : callable
        Makes `p` and `data` afresh, in float64.
    kind : str
        Which function of a library makes the program; see `benchmarks.libraries`.
    own : dict of str to callable
        The formulas of libraries that have to, or would, write it otherwise.
    cannot : dict of str to str
        Why a library does not take part.
    not_quick : frozenset of str
        Libraries that are left out of a quick run.
    targets : dict of str to float
        The most that our time may be, as a fraction of another library's; and the most that the
        time with layers in plain NumPy may be, as a fraction of ours.
    compiled : float
        The most that our compiled time may be, as a fraction of our own.
    native, first : float
        The most that the native engine's time may be as a fraction of `jax.jit`'s, and its first
        calls as one of JAX's first call.
    layers : bool
        Whether it is made of layers, to be compared with the same in plain NumPy.
    small : bool
        Whether the arrays are so small that the time is the libraries' own.
    dtype : str
        In which times are taken. Gradients are always compared in float64.
    rate, momentum : float
        For a step of gradient descent.
    memory : float or None
        The most that our peak of memory may be, as a fraction of PyTorch's.
    arrays : float or None
        The most that our peak of memory may be, in arrays of the size of the first input.
    timed : bool
        Whether to take times. Without, it is about memory, and not in a quick run.
    """

    name: str
    title: str
    formula: Callable[..., Any]
    inputs: Callable[[], tuple[Data, Data]]
    kind: str = field(default="gradient", kw_only=True)
    own: Mapping[str, Callable[..., Any]] = field(default=NOTHING, kw_only=True)
    cannot: Mapping[str, str] = field(default=NOTHING, kw_only=True)
    not_quick: frozenset[str] = field(default=frozenset(), kw_only=True)
    targets: Mapping[str, float] = field(default=NOTHING, kw_only=True)
    compiled: float = field(default=1.0, kw_only=True)
    native: float = field(default=0.8, kw_only=True)
    first: float = field(default=1.0, kw_only=True)
    layers: bool = field(default=False, kw_only=True)
    small: bool = field(default=False, kw_only=True)
    dtype: str = field(default="float64", kw_only=True)
    rate: float = field(default=0.0, kw_only=True)
    momentum: float = field(default=0.0, kw_only=True)
    memory: float | None = field(default=None, kw_only=True)
    arrays: float | None = field(default=None, kw_only=True)
    timed: bool = field(default=True, kw_only=True)

    def reason_against(self, library: str) -> str:
        """Say why a library does not take part; nothing when it does."""
        if library in self.cannot or library in self.own:
            return self.cannot.get(library, "")
        if not LIBRARIES[library].has_functions:
            return "not written by hand" if library == BY_HAND else "it has no such functions"
        kinds, otherwise = ONLY.get(library, ((self.kind,), ""))
        if library == PLAIN and not self.layers:
            return "there are no layers in it"
        return "" if self.kind in kinds else otherwise


def seeded(*shapes: tuple[int, ...], seed: int = 0) -> list[Array]:
    """Draw arrays from a normal distribution, the same ones every time."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]
