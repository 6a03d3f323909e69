"""Checks of derivatives against differences, along random directions.

`tape_ad.testing.check_grads` compares every entry instead.
"""

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from tape_ad.interop.autograd.core import make_jvp, make_vjp
from tape_ad.interop.autograd.differential_operators import get_name, unary_to_nary
from tape_ad.interop.autograd.extend import subval, subvals
from tape_ad.interop.autograd.spaces import vspace

__all__ = [
    "check_equivalent",
    "check_grads",
    "check_jvp",
    "check_vjp",
    "combo_check",
    "func",
    "make_numerical_jvp",
    "quick_grad_check",
    "scalar_close",
    "subval",
    "subvals",
]

Function = Callable[..., Any]

EPS = TOL = RTOL = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Tell whether two numbers differ by less than 1e-6, absolutely or relatively."""
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Function, x: Any) -> Function:
    """Make the function that computes central differences of `f` at `x` along a direction."""
    space, of_result = vspace(x), vspace(f(x))

    def jvp(v: Any) -> Any:
        ahead, behind = (f(space.add(x, space.scalar_mul(v, step))) for step in (EPS / 2, -EPS / 2))
        difference = of_result.add(ahead, of_result.scalar_mul(behind, -1.0))
        return of_result.scalar_mul(difference, 1.0 / EPS)

    return jvp


def check_vjp(f: Function, x: Any) -> None:
    """Compare the VJP of a function of one argument with a difference.

    Raises
    ------
    AssertionError
    """
    vjp, y = make_vjp(f, x)
    space, of_result = vspace(x), vspace(y)
    t, ct = space.randn(), of_result.randn()
    pulled = space.covector(vjp(of_result.covector(ct)))
    differing(
        vspace(pulled) != space,
        f"the (VJP) check of {get_name(f)} failed: it is in another space than {x!r}",
    )
    exact = space.inner_prod(t, pulled)
    numeric = of_result.inner_prod(ct, make_numerical_jvp(f, x)(t))
    differing(
        not scalar_close(numeric, exact),
        f"the (VJP) check of {get_name(f)} failed at {x!r}: {exact} is not {numeric}",
    )


def check_jvp(f: Function, x: Any) -> None:
    """Compare the JVP of a function of one argument with a difference.

    Raises
    ------
    AssertionError
    """
    t = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(t)[1], make_numerical_jvp(f, x)(t))


def check_equivalent(x: Any, y: Any) -> None:
    """Compare two values along a random direction.

    Raises
    ------
    AssertionError
    """
    space = vspace(x)
    differing(space != vspace(y), f"{x!r} and {y!r} are in different spaces")
    v = space.randn()
    same = scalar_close(space.inner_prod(x, v), space.inner_prod(y, v))
    differing(not same, f"{x!r} and {y!r} are different")


def differing(found: bool, message: str) -> None:
    """Raise what the tests of programs expect."""
    if found:
        raise AssertionError(message)


@unary_to_nary
def check_grads(f: Function, x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2) -> None:
    """Make the function that compares derivatives at its arguments with differences.

    Parameters
    ----------
    f : callable
    argnum : int, or tuple or list of int
        Which positional argument to differentiate by.
    modes : sequence of {"fwd", "rev"}
    order : int
        Up to which order.

    Examples
    --------
    >>> import numpy as np
    >>> check_grads(np.sin, order=3)(0.5)
    """
    if not set(modes) <= {"fwd", "rev"}:
        raise ValueError(f"modes={modes!r} are some of 'fwd' and 'rev'")
    if "fwd" in modes:
        check_jvp(f, x)
    if "rev" in modes:
        check_vjp(f, x)
    if order > 1:
        both: dict[str, tuple[Function, Any]] = {
            "fwd": (lambda x, v: make_jvp(f, x)(v)[1], x),
            "rev": (lambda x, v: make_vjp(f, x)[0](v), f(x)),
        }
        kinds = {"fwd": "jvp", "rev": "vjp"}
        for mode in modes:
            derivative, like = both[mode]
            derivative.__name__ = f"{kinds[mode]}_{get_name(f)}"
            check_grads(derivative, (0, 1), modes, order=order - 1)(x, vspace(like).randn())


def combo_check(fun: Function, *args: Any, **kwargs: Any) -> Function:
    """Make the function that checks `fun` for all combinations of the arguments in lists."""
    check = check_grads(fun, *args, **kwargs)

    def check_all(*args: Any, **kwargs: Any) -> None:
        for each in product(*args):
            for options in product(*kwargs.values()):
                check(*each, **dict(zip(kwargs, options, strict=True)))

    return check_all


def func(f: Any) -> Any:
    """Return `f` itself, as HIPS autograd's `func` does."""
    return f


def quick_grad_check(
    fun: Callable[..., Any], arg0: Any, extra_args: Any = (), kwargs: Any = None, **options: Any
) -> None:
    """Check a gradient by the first argument; write `test_util.check_grads` in place of it."""
    warnings.warn(
        "quick_grad_check is deprecated; write test_util.check_grads",
        DeprecationWarning,
        stacklevel=2,
    )
    check_grads(fun, modes=["rev"], order=1)(arg0, *extra_args, **(kwargs or {}))
