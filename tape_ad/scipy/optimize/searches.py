"""SciPy's searches by one method, each by what it finds: a root, a fixed point, a minimum."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import grad
from tape_ad.extend.arrays import any_handle, array_of, as_constant_handle, plain, refuse_handles
from tape_ad.extend.solvers import (
    between_for_all,
    implicit,
    on_plain_arrays,
    opaque,
    root_for_all,
    warn_unconverged,
)
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.optimize.constraints import boxed_in, stationary, warn_if_not
from tape_ad.scipy.optimize.roots import as_number, as_tuple, warn_if_unconverged

__all__ = ["SEARCHES"]

Function = Callable[..., Any]


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
        """{title}, as `scipy.optimize.{name}` does.

        Its arguments are SciPy's. There may be handles among the further arguments of the function
        (`args`), in its closure and in bounds; what is found is a handle then, and {rule}. It
        depends on no other argument.

        Returns
        -------
        as in SciPy
            With a handle, or a result that has handles as `x` and `fun`, where there are handles.

        Raises
        ------
        SingularJacobianError
            Where that does not say how it moves.
        """
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        first = next(iter(given))
        inner = given.get("minimizer_kwargs") or {}
        further = given.get("args", inner.get("args", ()))
        further = tuple(further) if name in UNPACKED else as_tuple(further)
        bounds = [(given["x1"], given["x2"])] if "x2" in given else given.get("bounds")
        bounds = [bounds] if name == "minimize_scalar" and bounds is not None else bounds
        function, handles = given[first], list(given.values())
        equation = lambda x: function(x, *further)  # noqa: E731 - it is short
        few = given.get("maxiter", ENOUGH) < ENOUGH
        if name in EACH and not few and not given.get("full_output"):
            if name == "newton":
                every = root_for_all(equation, given["x0"], elementwise=True)
            else:
                every = between_for_all(equation, given["a"], given["b"])
            if every is not None:
                return implicit(equation, every, name, elementwise=True)
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
        both = given.get("fprime") is None and name in WITH_GRADIENT
        both = both and not given.get("approx_grad")
        both |= given.get("fprime") is True or given.get("fprime2") is True

        def alone(x: Any) -> Any:
            out = function(x, *further)
            return out[0] if both else out

        moved = unmoved if given.get("finish", 0) is None else handle
        if given.get("integrality") is not None:
            bounds = between_integers(result.x, bounds, given["integrality"])
        return with_handle(name, alone, result, bounds, handles, moved)

    found.__name__ = found.__qualname__ = name
    found.__signature__ = signature  # type: ignore[attr-defined]  # it is SciPy's
    found.__doc__ = (found.__doc__ or "").format(title=title, name=name, rule=rule)
    return opaque(found)


def between_integers(x: Any, bounds: Any, integrality: Any) -> list[tuple[Any, Any]]:
    """Bound unknowns that are whole numbers by what was found, so that they do not move."""
    (limit,), whole = boxed_in(bounds, x.size), np.broadcast_to(integrality, x.shape).astype(bool)
    ends = (np.where(whole, x, np.broadcast_to(end, x.shape)) for end in limit.bounds(x.size))
    return list(zip(*ends, strict=True))


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

EACH = frozenset({"bisect", "brenth", "brentq", "newton", "ridder", "toms748"})
"""Those which find a root for each element, where they search in a batch."""

ENOUGH = 50
"""Steps of SciPy's that may be too few for a search are counted by SciPy, for each alone."""

UNPACKED = frozenset({"fixed_point", "newton"})
"""Those whose further arguments may be a list."""

WITH_GRADIENT = frozenset({"fmin_l_bfgs_b", "fmin_tnc"})
"""Those whose function gives a pair, of the value and the gradient, where it is given alone."""


def with_handle(
    name: str, value: Function, result: Any, bounds: Any, handles: Any, handle: Function
) -> Any:
    """Put handles into what SciPy gives: a result, the solution, or a tuple that begins with it."""
    if hasattr(result, "zero_der"):  # a root for each element
        return result._replace(
            root=as_constant_handle(handle(name, value, result.root, bounds), handles)
        )
    if hasattr(result, "root"):
        result.root = as_constant_handle(handle(name, value, result.root, bounds), handles)
        warn_if_unconverged(name, result)
        return result
    if hasattr(result, "x"):
        failed = name == "minimize_scalar" and not result.success
        if failed:
            warn_unconverged(name, result.message)
        x = as_minimum(name, value, result.x, bounds, not failed)
        result.x = as_constant_handle(x, handles)
        result.fun = array_of(value(result.x)).reshape(np.shape(result.fun))
        return result
    x, *rest = result if isinstance(result, tuple) else (result,)
    x = as_constant_handle(handle(name, value, x, bounds), handles)
    if rest and hasattr(rest[0], "root"):
        warn_if_unconverged(name, rest[0])
        rest[0].root = x
    if rest and name in VALUED:
        rest[0] = array_of(value(x)).reshape(np.shape(rest[0]))
    return (x, *rest) if isinstance(result, tuple) else x


VALUED = frozenset(
    {"brent", "brute", "fmin", "fmin_bfgs", "fmin_cg", "fmin_l_bfgs_b", "fmin_ncg", "fmin_powell"}
    | {"fminbound", "golden"}
)
"""Those which give the least value behind the minimum, in a full output."""


def as_root(name: str, function: Function, x: Any, bounds: Any) -> Any:
    """Make a handle of a root."""
    return implicit(function, x, name)


def as_each_root(name: str, function: Function, x: Any, bounds: Any) -> Any:
    """Make a handle of a root for each element."""
    return implicit(function, x, name, elementwise=True)


def unmoved(name: str, function: Function, x: Any, bounds: Any) -> Any:
    """Give what is a point of a grid, which does not move."""
    return x


def as_fixed_point(name: str, function: Function, x: Any, bounds: Any) -> Any:
    """Make a handle of a fixed point."""
    return implicit(lambda x: array_of(function(x)) - x, x, name)


def as_minimum(name: str, function: Function, x: Any, bounds: Any, reached: bool = True) -> Any:
    """Make a handle of a minimum."""
    start = np.asarray(x, float)
    flat = start.reshape(-1)
    slope = grad(lambda x: array_of(function(x.reshape(start.shape))).reshape(()))
    limits = boxed_in(bounds, flat.size)
    handle, holds = stationary(slope, flat, limits, name, reached=reached)
    warn_if_not(holds, name)
    if not any_handle(handle):
        return start
    return handle.reshape(start.shape) if isinstance(x, np.ndarray) else handle[0]


ROOT = "Find a root", "the equation gives it derivatives", as_root
MINIMUM = "Minimize", "the conditions of first order give it derivatives", as_minimum

FOUND: dict[tuple[str, str, Function], str] = {
    ROOT: (
        "anderson bisect brenth brentq broyden1 broyden2 diagbroyden excitingmixing linearmixing "
        "newton_krylov ridder root_scalar toms748"
    ),
    ("Find a root, or one for each element", ROOT[1], as_each_root): "newton",
    ("Find a fixed point", ROOT[1], as_fixed_point): "fixed_point",
    MINIMUM: (
        "basinhopping brent brute differential_evolution direct dual_annealing fmin fmin_bfgs "
        "fmin_cg fmin_l_bfgs_b fmin_ncg fmin_powell fmin_tnc fminbound golden minimize_scalar shgo"
    ),
}

SEARCHES: dict[str, Function] = {
    name: search(getattr(scipy.optimize, name), *kind)
    for kind, names in FOUND.items()
    for name in names.split()
    if getattr(scipy.optimize, name)
}
