"""SciPy's searches by one method, each by what it finds: a root, a fixed point, a minimum."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import grad
from tape_ad.extend.arrays import any_handle, array_of, as_constant_handle, plain, refuse_handles
from tape_ad.extend.solvers import between_for_all, implicit, on_plain_arrays
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.optimize.constraints import boxed_in, stationary, warn_if_not
from tape_ad.scipy.optimize.roots import as_number, as_tuple, warn_if_unconverged

__all__ = ["SEARCHES", "brute", "line_search", "root_scalar"]

Function = Callable[..., Any]

DOCUMENTATION = """{title}, as `scipy.optimize.{name}` does.

    Its arguments are SciPy's. There may be handles among the further arguments of the function
    (`args`), in its closure and in bounds; what is found is a handle then, and {rule}. It depends
    on no other argument.

    Returns
    -------
    as in SciPy
        With a handle, or a result that has handles as `x` and `fun`, where there are handles.

    Raises
    ------
    SingularJacobianError
        Where that does not say how it moves.
    """


def search(theirs: Function, title: str, rule: str, handle: Function) -> Function:
    """Let one of SciPy's functions take handles.

    Parameters
    ----------
    theirs : callable
        Its first argument is a function.
    title, rule : str
        What it does, and what gives the derivatives, for its documentation.
    handle : callable
        ``handle(name, function, x, bounds)`` makes a handle of what it has found.
    """
    name, signature = theirs.__name__, inspect.signature(theirs)

    def found(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        first = next(iter(given))
        inner = given.get("minimizer_kwargs") or {}
        further = given.get("args", inner.get("args", ()))
        further = tuple(further) if handle is as_fixed_point else as_tuple(further)
        bounds = [(given["x1"], given["x2"])] if "x2" in given else given.get("bounds")
        function, handles = given[first], list(given.values())
        if name in BRACKETED and not given.get("full_output"):
            every = between_for_all(lambda x: function(x, *further), given["a"], given["b"])
            if every is not None:
                return implicit(lambda x: function(x, *further), every, name, elementwise=True)
        searched = [on_plain_arrays(function)]
        given[first] = searched[0]
        for each in ("fprime", "fprime2", "fhess", "fhess_p"):
            if given.get(each) is not None and callable(given[each]):
                searched.append(on_plain_arrays(given[each]))
                given[each] = searched[-1]
        for each, value in given.items():
            if any_handle(value):
                given[each] = without_handles(name, each, value)
        result = theirs(*bound.args, **bound.kwargs)
        handles += [each.found for each in searched]
        if not any_handle(handles):
            return result
        both = given.get("fprime", 0) is None and name in WITH_GRADIENT
        both = both and not given.get("approx_grad")
        both |= given.get("fprime") is True or given.get("fprime2") is True

        def alone(x: Any) -> Any:
            out = function(x, *further)
            return out[0] if both else out

        return with_handle(name, alone, result, bounds, handles, handle)

    found.__name__ = found.__qualname__ = name
    found.__signature__ = signature  # type: ignore[attr-defined]  # it is SciPy's
    found.__doc__ = DOCUMENTATION.format(title=title, name=name, rule=rule)
    return found


def without_handles(name: str, argument: str, value: Any) -> Any:
    """Give an argument without handles, or refuse them."""
    if argument in STARTS:
        return plain(array_of(value))
    if argument in NUMBERS:
        value = plain(value)
        return tuple(map(as_number, value)) if np.ndim(value) else as_number(value)
    if argument == "minimizer_kwargs":
        refuse_handles(f"{name}, in minimizer_kwargs", {**value, "args": ()})
    elif argument not in {"args", "bounds"}:
        refuse_handles(name, {argument: value})
    return plain(value)


STARTS = frozenset({"x0", "xin"})
"""What a search starts from, which has no influence on what it finds."""

NUMBERS = frozenset({"a", "b", "x1", "x2", "brack", "bracket"})
"""Where a search of numbers starts from; but what is found between `x1` and `x2` may be at one."""

BRACKETED = frozenset({"bisect", "brenth", "brentq", "ridder", "toms748"})
"""Those which search between two numbers."""

WITH_GRADIENT = frozenset({"fmin_l_bfgs_b", "fmin_tnc"})
"""Those whose function gives a pair, of the value and the gradient, where it is given alone."""


def with_handle(
    name: str, value: Function, result: Any, bounds: Any, handles: Any, handle: Function
) -> Any:
    """Put handles into what SciPy gives: a result, the solution, or a tuple that begins with it."""
    if hasattr(result, "root"):
        result.root = as_constant_handle(handle(name, value, result.root, bounds), handles)
        warn_if_unconverged(name, result)
        return result
    if hasattr(result, "x"):
        result.x = as_constant_handle(handle(name, value, result.x, bounds), handles)
        result.fun = array_of(value(result.x)).reshape(np.shape(result.fun))
        return result
    x, *rest = result if isinstance(result, tuple) else (result,)
    x = as_constant_handle(handle(name, value, x, bounds), handles)
    if rest and hasattr(rest[0], "root"):
        warn_if_unconverged(name, rest[0])
        rest[0].root = x
    if rest and name in VALUED:
        rest[0] = value(x)
    return (x, *rest) if isinstance(result, tuple) else x


VALUED = frozenset(
    {
        *("brent", "fmin", "fmin_bfgs", "fmin_cg", "fmin_l_bfgs_b", "fmin_ncg", "fmin_powell"),
        *("fminbound", "golden"),
    }
)
"""Those which give the least value behind the minimum, in a full output."""


def as_root(name: str, function: Function, x: Any, bounds: Any) -> Any:
    """Make a handle of a root."""
    return implicit(function, x, name)


def as_fixed_point(name: str, function: Function, x: Any, bounds: Any) -> Any:
    """Make a handle of a fixed point."""
    return implicit(lambda x: array_of(function(x)) - x, x, name)


def as_minimum(name: str, function: Function, x: Any, bounds: Any) -> Any:
    """Make a handle of a minimum."""
    start = np.asarray(x, float)
    flat = start.reshape(-1)
    slope = grad(lambda x: array_of(function(x.reshape(start.shape))).reshape(()))
    handle, holds = stationary(slope, flat, boxed_in(bounds, flat.size), name)
    warn_if_not(holds, name)
    if not any_handle(handle):
        return start
    return handle.reshape(start.shape) if isinstance(x, np.ndarray) else handle[0]


ROOT = "Find a root", "the equation gives it derivatives", as_root
MINIMUM = "Minimize", "the conditions of first order give it derivatives", as_minimum

FOUND: dict[tuple[str, str, Function], str] = {
    ROOT: (
        "anderson bisect brenth brentq broyden1 broyden2 diagbroyden excitingmixing linearmixing "
        "newton_krylov ridder toms748"
    ),
    ("Find a fixed point", ROOT[1], as_fixed_point): "fixed_point",
    MINIMUM: (
        "basinhopping brent differential_evolution direct dual_annealing fmin fmin_bfgs fmin_cg "
        "fmin_l_bfgs_b fmin_ncg fmin_powell fmin_tnc fminbound golden shgo"
    ),
}

SEARCHES: dict[str, Function] = {
    name: search(getattr(scipy.optimize, name), *kind)
    for kind, names in FOUND.items()
    for name in names.split()
    if getattr(scipy.optimize, name)
}


def root_scalar(f: Function, args: Any = (), method: Any = None, **options: Any) -> Any:
    """Find a root of a function of one number, as `scipy.optimize.root_scalar` does.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``
    args : tuple
        Further arguments, with handles among them.
    method : str, optional
        Any of SciPy's.
    **options
        SciPy's `bracket`, `fprime`, `x0` and so on. The root depends on none of them.

    Returns
    -------
    scipy.optimize.RootResults
        SciPy's; with handles, `root` is one.

    Examples
    --------
    >>> round(root_scalar(lambda x: x**3 - 8, bracket=[0.0, 3.0]).root, 6)
    2.0
    """
    return search(scipy.optimize.root_scalar, *ROOT)(f, args, method, **options)


def brute(
    func: Function,
    ranges: Any,
    args: Any = (),
    Ns: int = 20,  # noqa: N803 - the name that SciPy gives it
    full_output: Any = 0,
    finish: Any = scipy.optimize.fmin,
    disp: bool = False,
    workers: Any = 1,
) -> Any:
    """Minimize over a grid, as `scipy.optimize.brute` does.

    Parameters
    ----------
    func : callable
        ``func(x, *args)``, which may close over handles.
    ranges : tuple
        Of the grid, which is no handle.
    args : tuple
        May hold handles.
    Ns, full_output, disp, workers
        As in SciPy.
    finish : callable or None
        As in SciPy. The conditions of first order give what it finds its derivatives; without it
        the minimum is a point of the grid, which does not move.

    Returns
    -------
    as in SciPy
        With a handle for the minimum, and one for the least value.

    Raises
    ------
    SingularJacobianError
        Where the conditions do not say how the minimum moves.

    Examples
    --------
    >>> import tape_ad as ta
    >>> best = lambda p: brute(lambda x: np.cosh(x[0] - p), ((-2, 2),))[0]
    >>> ta.grad(best)(0.7).round(4)
    np.float64(1.0)
    """
    refuse_handles("brute", {"ranges": ranges})
    args = as_tuple(args)
    searched = on_plain_arrays(func)
    found = scipy.optimize.brute(
        searched, ranges, plain(args), Ns, full_output, finish, disp, workers
    )
    if not (searched.found or any_handle(args)):
        return found

    def alone(x: Any) -> Any:
        return func(x, *args)

    x, *rest = found if full_output else (found,)
    if finish is not None:
        x = as_minimum("brute", alone, x, None)
    x = as_constant_handle(x, args, searched.found)
    return (x, array_of(alone(x)).reshape(np.shape(rest[0])), *rest[1:]) if full_output else x


def line_search(
    f: Function,
    myfprime: Function,
    xk: Any,
    pk: Any,
    gfk: Any = None,
    old_fval: Any = None,
    old_old_fval: Any = None,
    args: Any = (),
    *more: Any,
    **options: Any,
) -> Any:
    """Find a step that meets Wolfe's conditions, as `scipy.optimize.line_search` does.

    Parameters
    ----------
    f, myfprime : callable
        The function and its gradient.
    xk, pk : array or Tensor, shape (n,)
        The start and the direction.
    gfk, old_fval, old_old_fval
        The gradient and the values at the start and before it, if they are known.
    args : tuple
        May hold handles. Handles pass through the search itself, whose choices do not change.
    *more, **options
        As in SciPy.

    Returns
    -------
    tuple
        As in SciPy.

    Examples
    --------
    >>> import tape_ad as ta
    >>> square = lambda x: np.sum(x**2)
    >>> after = lambda x: line_search(square, lambda x: 2 * x, x, np.array([-1.0]))[3]
    >>> ta.grad(after)(np.array([1.8])).round(9)
    array([1.6])
    """
    given: list[Any] = []

    def slopes(*at: Any) -> Any:
        given.append(myfprime(*at))
        return array_of(given[-1])

    refuse_handles("line_search", {"further arguments": more, **options})
    xk, pk = array_of(xk), array_of(pk)
    gfk = None if gfk is None else array_of(gfk)
    *found, slope = scipy.optimize.line_search(
        f, slopes, xk, pk, gfk, old_fval, old_old_fval, as_tuple(args), *more, **options
    )
    return *found, None if slope is None else given[-1]
