"""Which rows of the table of rules are computed one after the other in a batch, and by which call.

python -m tests.batching.loops                 # how many, and the functions that are called so
python -m tests.batching.loops --cases linalg  # the cases whose name has that in it
"""

import argparse
import contextlib
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from attrs import define, field

import tape_ad as ta
from tests.rules.rows import CONSTANTS, ROWS
from tests.rules.table import Case, cases

__all__ = ["TEXTS", "VALUES", "Loops", "count", "outputs", "several", "total"]

Array = Any

TEXTS = {
    *(np.array2string, np.array_repr, np.array_str, np.einsum_path),
    *(np.result_type, np.min_scalar_type, np.common_type),
}
"""Functions that give no arrays."""

VALUES = [case for case in cases(ROWS + CONSTANTS) if case.row.function not in TEXTS]
REFUSED = (ta.errors.TapeError, ValueError, TypeError, NotImplementedError, AttributeError)
"""What is refused for one as well: a row with nothing to differentiate, and so on."""

DIFFERENTIATED = frozenset(map(id, ROWS))


def several(case: Case) -> list[list[Array]]:
    """List operands for three of a batch, near to each other, so that all are in the domain."""
    return [[(1 + 1e-3 * i) * leaf for leaf in case.leaves()] for i in range(3)]


def outputs(case: Case, leaves: Any) -> list[Array]:
    """Call the row, and list the arrays that it gives."""
    found = case.apply(leaves)
    return [leaf for each in found for leaf in (each if isinstance(each, list) else [each])]


def total(case: Case, leaves: Any) -> Array:
    """Add up the real outputs, each element with a factor of its own."""
    outs = [np.real(out) for out in outputs(case, leaves) if out.dtype.kind in "fc"]
    return sum(np.sum(out * np.cos(np.arange(out.size)).reshape(out.shape)) for out in outs)


def weighted(slopes: Any) -> Any:
    """Add up the real parts of gradients, each element with a factor of its own."""

    def function(*leaves: Array) -> Array:
        return sum(
            np.sum(np.real(each) * np.sin(1 + np.arange(each.size)).reshape(each.shape))
            for each in slopes(*leaves)
        )

    return function


@define
class Loops:
    """What is computed one after the other.

    Attributes
    ----------
    tried : int
        The number of cases.
    values, gradients, second : dict
        For each case with a loop in them, what is called in it; `second` is for gradients of
        gradients.
    """

    tried: int = 0
    values: dict[str, set[str]] = field(factory=dict)
    gradients: dict[str, set[str]] = field(factory=dict)
    second: dict[str, set[str]] = field(factory=dict)

    @property
    def found(self) -> dict[str, set[str]]:
        """For each case with a loop in any of them, what is called in it."""
        orders = self.values, self.gradients, self.second
        every = self.values.keys() | self.gradients.keys() | self.second.keys()
        return {x: set().union(*(order.get(x, ()) for order in orders)) for x in every}


def looped(function: Any, stacks: list[Any]) -> set[str]:
    """Run a function over a batch, and give the names of what is called in a loop."""
    batched = ta.batched(function)
    with contextlib.suppress(*REFUSED):
        batched(*stacks)
    return set(batched.looped)


def count(checked: Iterable[Case], *, second: bool = True) -> Loops:
    """Count the cases that have a loop, in the value, the gradient or the `second` order."""
    loops = Loops()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in checked:
            operands = several(case)
            try:
                outputs(case, operands[1])
            except ValueError:
                continue  # the row takes no other numbers
            loops.tried += 1
            stacks = [np.stack(leaves) for leaves in zip(*operands, strict=True)]
            if found := looped(lambda *leaves, case=case: outputs(case, leaves), stacks):
                loops.values[str(case)] = found
            if id(case.row) in DIFFERENTIATED:
                places = tuple(range(len(stacks)))
                slopes = ta.grad(lambda *leaves, case=case: total(case, leaves), places)
                if found := looped(slopes, stacks):
                    loops.gradients[str(case)] = found
                if second and (found := looped(ta.grad(weighted(slopes), places), stacks)):
                    loops.second[str(case)] = found
    return loops


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", metavar="TEXT", help="list the cases with this in their names")
    wanted = parser.parse_args().cases
    loops = count(case for case in VALUES if wanted is None or wanted in str(case))
    print(
        f"{len(loops.found)} of {loops.tried} cases have a loop, {len(loops.values)} in the value, "
        f"{len(loops.gradients)} in the gradient and {len(loops.second)} in that of the gradient"
    )
    if wanted is not None:
        for name, found in loops.found.items():
            print(f"{name}: {', '.join(sorted(found))}")
        return
    for name, number in Counter(name for f in loops.found.values() for name in f).most_common():
        print(f"{number:5} {name}")


if __name__ == "__main__":
    main()
