"""Numbers in a program that plain NumPy has computed of arrays which the program may read too."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tape_ad.base.trees import flatten, map_leaves
from tape_ad.programs.capture.constants import same_memory
from tape_ad.programs.program.keys import content_of
from tape_ad.programs.program.program import Call, Constant, Program, Value

__all__ = ["has_derived", "same_program"]


def has_derived(program: Program, arrays: Iterable[Any]) -> bool:
    """Tell whether some number in a program may have been computed of arrays outside of it.

    Parameters
    ----------
    program : Program
    arrays : iterable of ndarray
        Those that the function finds; a constant that shows their memory is read where it is.
    """
    known = list(arrays)
    for constant in program.constants:
        read = any(np.may_share_memory(constant.data, each) for each in known)
        if not read and not is_plain(constant.data):
            return True
    calls = (step for step in program.steps if isinstance(step, Call))
    leaves = (leaf for call in calls for leaf in flatten((call.args, dict(call.kwargs))))
    return any(isinstance(leaf, (float, complex, np.inexact)) for leaf in leaves)


def is_plain(array: Any) -> bool:
    """Tell whether an array is nothing but zeros or ones, as seeds of sweeps are."""
    if array.dtype.kind not in "biufc":  # records, texts and dates are no seeds
        return False
    first = array.ravel()[:1]
    return bool(np.all(array == first) and first in (0, 1)) if array.size else True


def same_program(one: Program, two: Program) -> bool:
    """Tell whether two captures differ in nothing but what is in arrays that are read in place."""
    if len(one.constants) != len(two.constants):
        return False
    read_alike = all(map(same_constant, one.constants, two.constants))
    return read_alike and described(one) == described(two)


def same_constant(one: Constant, two: Constant) -> bool:
    """Tell whether two constants are read in one place, or hold the same."""
    return same_memory(one.data, two.data) or one.mark == two.mark


def described(program: Program) -> list[Any]:
    """Describe the steps and the output of a program, with numbers in place of values."""
    numbers = program.numbers()
    steps: list[Any] = []
    for step in program.steps:
        if isinstance(step, Call):
            function = getattr(step.function, "__code__", step.function)
            steps.append((function, numbered((step.args, dict(step.kwargs)), numbers)))
        else:
            steps.append((step.question, numbers[step.value], step.answer))
    return [*steps, numbered(program.output, numbers)]


def numbered(tree: Any, numbers: dict[Value, int]) -> Any:
    """Describe a structure, with numbers in place of values."""
    return content_of(
        map_leaves(lambda leaf, _: ("%", numbers[leaf]) if type(leaf) is Value else leaf, tree)
    )
