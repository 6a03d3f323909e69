"""Functions that are captured at two points, replayed at others, and compared with eager ones."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

import tape_ad as ta
from tape_ad.base.trees import structure_of
from tape_ad.programs.replay.compiled import Compiled
from tests.programs.bits import same_bits
from tests.programs.natively import assert_native_agrees

__all__ = ["Counted", "assert_replays", "orders", "same_trees"]

Function = Callable[..., Any]


@define(eq=False, slots=False)
class Counted:
    """A function that counts its runs, of which a replay is none.

    Attributes
    ----------
    function : callable
    runs : int
    """

    function: Function
    runs: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        functools.update_wrapper(self, self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Count, and call."""
        self.runs += 1
        return self.function(*args, **kwargs)


def assert_replays(function: Function, *points: tuple[Any, ...]) -> Compiled:
    """Capture a function at its first two points and replay it at all: the same as without.

    Replays of NumPy's engine give the same bits, and native ones are as close as rounding allows.

    Parameters
    ----------
    function : callable
    *points : tuple
        The arguments of a call, at least twice. All of them take the same way at every branch.
    """
    counted = Counted(function)
    compiled: Compiled = ta.compile(counted, engine="numpy")
    for point in points[:2]:
        same_trees(compiled(*point), function(*point))
    assert counted.runs == 2
    for point in points[::-1]:
        same_trees(compiled(*point), function(*point))
    assert counted.runs == 2, "a call has been captured once more, in place of a replay"
    assert_native_agrees(compiled, *points)
    return compiled


def same_trees(one: Any, other: Any) -> None:
    """Compare two structures with arrays and numbers in them, to the bit."""
    assert type(one) is type(other)
    structure = structure_of(one.__class__)
    if structure is None:
        same_bits(one, other)
        return
    assert list(structure.steps(one)) == list(structure.steps(other))
    for pair in zip(structure.values(one), structure.values(other), strict=True):
        same_trees(*pair)


def orders(function: Function, *, second: bool = True) -> Function:
    """Give a function of arrays its value, gradients and, along a line, second derivatives.

    Parameters
    ----------
    function : callable
        Its last argument may be an array of integers, with respect to which there is no gradient.
    """

    def loss(*args: Any) -> Any:
        out = function(*args)
        return np.sum(out * np.cos(np.arange(out.size)).reshape(out.shape).astype(out.dtype))

    def derivatives(*args: Any) -> Any:
        places = tuple(i for i, x in enumerate(args) if x.dtype.kind in "fc")
        found = {
            "value": function(*args),
            "gradient": ta.value_and_grad(loss, argnums=places)(*args),
        }
        if second:

            def along(*args: Any) -> Any:
                slopes = ta.grad(loss, argnums=places)(*args)
                return sum(np.sum(np.sin(slope) * slope) for slope in slopes)

            found["second"] = ta.grad(along, argnums=places)(*args)
        return found

    return derivatives
