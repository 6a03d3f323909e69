"""Checks of derivatives against differences, along random directions.

`tape_ad.testing.check_grads` compares every entry instead.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tape_ad import testing
from tape_ad.extend.trees import map_leaves
from tape_ad.interop.autograd.differential_operators import unary_to_nary
from tape_ad.interop.autograd.extend import subval, subvals
from tape_ad.interop.autograd.spaces import as_number, vspace

__all__ = ["check_grads", "subval", "subvals"]


@unary_to_nary
def check_grads(
    f: Callable[..., Any], x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2
) -> None:
    """Make the function that compares derivatives at its arguments with differences.

    Parameters
    ----------
    f : callable
    argnum : int, or tuple or list of int
        Which positional argument to differentiate by.
    modes : sequence of {"fwd", "rev"}
    order : int
        Up to which order.

    Raises
    ------
    GradientCheckError
        An `AssertionError`, by the returned function, when they differ along a random direction.

    Examples
    --------
    >>> import numpy as np
    >>> check_grads(np.sin, order=3)(0.5)
    """
    space, of_result = vspace(x), vspace(f(x))
    direction, weights = space.randn(), of_result.randn()

    def along(step: Any) -> Any:
        moved = space.add(x, space.scalar_mul(direction, step))
        return of_result.inner_prod(weights, f(map_leaves(as_number, moved)))

    testing.check_grads(along, (0.0,), order, modes)
