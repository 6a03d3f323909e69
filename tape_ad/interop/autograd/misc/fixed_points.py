"""Fixed points, differentiated by the implicit function theorem."""

from collections.abc import Callable
from typing import Any

from tape_ad.interop.autograd.core import make_vjp
from tape_ad.interop.autograd.differential_operators import make_vjp as make_vjp_of
from tape_ad.interop.autograd.primitives import defvjp, primitive
from tape_ad.interop.autograd.spaces import vspace

__all__ = ["fixed_point"]

Function = Callable[..., Any]


@primitive
def fixed_point(f: Function, a: Any, x0: Any, distance: Function, tol: float) -> Any:
    """Iterate ``x = f(a)(x)`` until it moves by `tol` at most.

    Parameters
    ----------
    f : callable
        ``f(a)`` is the function to iterate.
    a : array or tree
        Its parameters, by which the result is differentiated.
    x0 : array
        Where to start; the result does not depend on it.
    distance : callable
        ``distance(x, y)`` gives a number.
    tol : float

    Returns
    -------
    array

    Notes
    -----
    With g the cotangent of the fixed point x, that of `a` is ``u df/da``, where
    ``u = g + u df/dx`` is a fixed point as well.
    """
    step = f(a)
    x, before = step(x0), x0
    while distance(x, before) > tol:
        x, before = step(x), x
    return x


def fixed_point_vjp(
    ans: Any, f: Function, a: Any, x0: Any, distance: Function, tol: float
) -> Function:
    """Make the VJP by the parameters."""
    space = vspace(ans)

    def backwards(params: Any) -> Function:
        parameters, x, g = params
        vjp_x, _ = make_vjp(f(parameters), x)
        return lambda u: space.add(vjp_x(u), g)

    vjp_a, _ = make_vjp_of(lambda parameters, x: f(parameters)(x))(a, ans)
    return lambda g: vjp_a(fixed_point(backwards, (a, ans, g), vspace(x0).zeros(), distance, tol))


defvjp(fixed_point, None, fixed_point_vjp, None)
