"""The maps that pull and push, and the names of HIPS autograd's core that stand in `extend`."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from tape_ad.extend.trees import flatten, map_leaves
from tape_ad.interop.autograd import extend
from tape_ad.interop.autograd.modules import falling_back
from tape_ad.interop.autograd.spaces import as_number, conjugated, given_back
from tape_ad.transforms.gradients import own
from tape_ad.transforms.tracing import Trace, trace

OF_EXTEND = (
    "SparseObject VSpace def_linear defjvp defjvp_argnum defjvp_argnums defvjp "
    "defvjp_argnum defvjp_argnums getval isbox primitive vspace"
)
__all__ = ["make_jvp", "make_vjp", *OF_EXTEND.split()]  # noqa: PLE0604 - all of them are strings
__getattr__ = falling_back(globals(), f"{extend.__name__}:{OF_EXTEND}")

Function = Callable[..., Any]


def traced_at(fun: Function, x: Any) -> Trace:
    """Run a function on handles, and warn if what it gives does not depend on them."""

    @functools.wraps(fun)
    def of_numbers(x: Any) -> Any:
        return fun(map_leaves(as_number, x))

    traced = trace(of_numbers, (x,), {}, (0,))
    if not any(map(traced.depends, flatten(traced.output))):
        warnings.warn("Output seems independent of input.", stacklevel=4)
    return traced


def make_vjp(fun: Function, x: Any) -> tuple[Function, Any]:
    """Compute a function of one argument, and give the map that pulls cotangents back.

    Parameters
    ----------
    fun : callable
        Of an array, or of nested dicts, lists and tuples of them.
    x : array or tree

    Returns
    -------
    vjp : callable
        It takes a cotangent of the result to that of the argument: of both, the conjugate of what
        `tape_ad.vjp` has.
    value : array or tree
        What `fun` gives.

    Examples
    --------
    >>> vjp, value = make_vjp(lambda z: z**2, 3 + 4j)
    >>> vjp(1.0 + 0j)
    np.complex128(6+8j)
    """
    traced = traced_at(fun, x)

    def vjp(g: Any) -> Any:
        [pulled] = traced.pull(conjugated(g))
        return given_back(conjugated(pulled))

    value = map_leaves(own, traced.value(traced.output))  # which the maps may hold, too
    return vjp, given_back(value)


def make_jvp(fun: Function, x: Any) -> Function:
    """Give the map from a tangent of a function's argument to its value and the value's tangent.

    Parameters
    ----------
    fun : callable
        Of an array, or of nested dicts, lists and tuples of them.
    x : array or tree

    Returns
    -------
    callable
        ``jvp(t)`` gives a pair.

    Examples
    --------
    >>> import numpy as np
    >>> make_jvp(np.sin, 0.0)(2.0)
    (np.float64(0.0), np.float64(2.0))
    """

    def jvp(g: Any) -> tuple[Any, Any]:
        traced = traced_at(fun, x)
        return given_back(traced.value(traced.output)), given_back(traced.push((g,)))

    return jvp
