"""Roots that SciPy finds, as handles; see `tape_ad.transforms.implicit`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import any_handle, array_of, as_constant_handle, plain, refuse_handles
from tape_ad.extend.solvers import implicit, lent, opaque, root_for_all, valued, warn_unconverged
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.optimize.objectives import Equations, check_option, in_a_vector, with_trees

__all__ = ["fsolve", "root"]

Function = Callable[..., Any]


@opaque
def root(
    fun: Function,
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    *,
    compile: bool = False,
    **options: Any,
) -> Any:
    """Find a root of a vector function, as `scipy.optimize.root` does.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)``, written in NumPy where derivatives are asked for.
    x0 : array, shape (n,), or tree of real arrays
        Where to start. The solution does not depend on it. With a tree, `fun` takes one and may
        return one, of as many numbers, and `x` in the result is one.
    args : tuple
        Further arguments: handles, or trees of them. `fun` may close over handles, too; each of
        its calls is recorded then, so that `args` are quicker.
    method : str
        Any of SciPy's.
    jac : bool or callable, optional
        Left out, methods that take a Jacobian ("hybr", "lm") get the exact one; with False they
        get SciPy's differences. A function is called as `fun` is, and gives a matrix; with True
        `fun` gives a pair of its value and the matrix.
    compile : bool
        Whether to compile `fun` and its Jacobian by `tape_ad.compile`, as `minimize` does.
    **options
        SciPy's `tol`, `callback` and `options`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's. With handles, `x` is one, and so is `fun`; all else is about the search.

    Raises
    ------
    SingularJacobianError
        Where the Jacobian of `fun` by x is singular at the solution.

    Warns
    -----
    ConvergenceWarning
        When the search has not succeeded, and there are handles.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def side(area):
    ...     return root(lambda x, area: x**2 - area, [1.0], args=(area,)).x[0]
    >>> ta.grad(side)(9.0).round(6)
    np.float64(0.166667)
    """
    args = as_tuple(args)
    refuse_handles("root", options)
    check_option("root", "jac", jac, True, False)
    pair = isinstance(jac, (bool, np.bool)) and bool(jac)
    if pair and compile:
        raise TypeError("root: with jac=True a function is called as it is: leave compile=True out")
    searched = Equations(fun, plain(x0), plain(args), compile, name="root", differences="jac=False")
    if searched.is_tree and callable(options.get("callback")):
        options["callback"] = with_trees(options["callback"], searched)
    takes = str(method).lower() in {"hybr", "lm"}
    given: Any = None
    if not pair and (takes or jac):
        given = searched.slopes("jac", jac, (options.get("options") or {}).get("col_deriv", False))
    values = searched.pair if pair else searched.values

    def residual(x: Any) -> Any:
        value = fun(searched.tree(x), *args)
        return in_a_vector(value[0] if pair else value)

    alone = method == "hybr" and jac is None and not set(options) - {"tol"}
    found = root_for_all(residual, searched.x0) if alone else None
    if found is not None:
        x = implicit(residual, found, "root")
        return scipy.optimize.OptimizeResult(
            x=searched.tree(x), fun=residual(x), success=True, status=1, message=FOUND
        )
    with lent(values) as borrowed, lent(given or values) as lent_slopes:
        slopes = lent_slopes if given else pair or None
        result = scipy.optimize.root(borrowed, searched.x0, (), method, slopes, **options)
    handles = (x0, args)
    x, result.x = result.x, searched.tree(result.x)
    if not any_handle((searched.found, handles)):
        return result
    if not result.success:
        warn_unconverged("root", result.message)

    x = as_constant_handle(implicit(residual, x, "root"), handles)
    result.x, value = searched.tree(x), residual(x)
    if any_handle(value) and np.size(result.fun) == value.size:
        result.fun = valued(value.reshape(np.shape(result.fun)), result.fun)
    return result


FOUND = "The solution converged."
"""What SciPy says."""


@opaque
def fsolve(
    func: Function,
    x0: Any,
    args: Any = (),
    fprime: Any = None,
    full_output: Any = 0,
    col_deriv: Any = 0,
    *,
    compile: bool = False,
    **options: Any,
) -> Any:
    """Find a root of a vector function, as `scipy.optimize.fsolve` does; see `root`.

    Without `fprime` the Jacobian is derived; ``fprime=False`` takes SciPy's differences.

    Examples
    --------
    >>> fsolve(lambda x: x**2 - 4, [1.0]).round(6)
    array([2.])
    """
    args = as_tuple(args)
    equation = lambda x: func(x, *args)  # noqa: E731 - it is short
    if fprime is None and not full_output:
        every = root_for_all(equation, plain(array_of(x0)))
        if every is not None:
            return implicit(equation, every, "fsolve")
    given = func, x0, args, fprime, full_output, col_deriv
    x, rest, handle = by_minpack(scipy.optimize.fsolve, "fprime", given, compile, options)
    if any_handle((handle, x0, args)):
        if full_output and rest[1] != 1:  # without it SciPy warns
            warn_unconverged("fsolve", rest[2])
        x = as_constant_handle(implicit(equation, x, "fsolve"), (x0, args))
    return (x, *rest) if full_output else x


def by_minpack(
    search: Function, option: str, given: Any, compiled: bool, options: dict[str, Any]
) -> tuple[Any, list[Any], Any]:
    """Let a function of MINPACK search; a handle that is met comes last."""
    name, (func, x0, args, slopes, *both) = search.__name__, given
    refuse_handles(name, options)
    differences = f"{option}=False"
    searched = Equations(func, plain(x0), plain(args), compiled, name=name, differences=differences)
    jacobian = searched.slopes(option, slopes, both[1])
    found = search(searched.values, searched.x0, (), jacobian, *both, **options)
    x, *rest = found if isinstance(found, tuple) else (found,)
    return x, rest, searched.found


# What these have in common


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Take a single further argument for a tuple of it, as SciPy does."""
    return args if isinstance(args, tuple) else (args,)


def as_number(value: Any) -> Any:
    """Give the number in an array of none or one axis, which was a handle; else the value."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def warn_if_unconverged(name: str, result: Any) -> None:
    """Warn by what a scalar solver says of itself."""
    if not np.all(result.converged):
        warn_unconverged(name, result.flag)
