"""What passes are tried on, and how a program is compared with what they make of it."""

from typing import Any

import numpy as np

from tape_ad.base.trees import flatten
from tape_ad.programs.program import Program, interpret
from tests.programs.building import Builder, same_bits

__all__ = ["PARTS", "SPECIAL", "TURNED", "X", "Z", "assert_same", "builder", "functions"]

SPECIAL = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-310, 3e38, 3.0, 0.1, -7.0]
X = np.array(SPECIAL).reshape(3, 4)
Z = X.astype(complex)
Z.imag = X[::-1]
TURNED = np.asfortranarray(X)
PARTS = np.zeros((6, 8))[::2, ::2]
PARTS[...] = X


def builder(*inputs: Any) -> Builder:
    to = Builder()
    for number, each in enumerate(inputs):
        to.input(each, f"x{number}")
    return to


def results(program: Program, *inputs: Any) -> list[Any]:
    """Run a program on copies that lie in memory as the inputs do."""
    with np.errstate(all="ignore"):
        return flatten(interpret(program, [each.copy(order="K") for each in inputs]))


def assert_same(one: Program, other: Program, *inputs: Any) -> None:
    pairs = zip(results(one, *inputs), results(other, *inputs), strict=True)
    for ours, theirs in pairs:
        same_bits(ours, theirs)


def functions(program: Program) -> list[Any]:
    return [call.function for call in program.calls]
