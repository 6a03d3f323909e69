"""From operators on functions of one argument to operators on functions of several."""

import functools
from collections.abc import Callable
from typing import Any

from tape_ad.interop.autograd.tuples import subvals

__all__ = ["get_doc", "get_name", "unary_to_nary", "wrap_nary_f", "wraps"]

Function = Callable[..., Any]


def get_name(f: Any) -> str:
    """Return a function's name."""
    return str(getattr(f, "__name__", "[unknown name]"))


def get_doc(f: Any) -> str:
    """Return a function's docstring."""
    return getattr(f, "__doc__", None) or ""


def wraps(
    fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any
) -> Callable[[Function], Function]:
    """Make the decorator that names and documents a function like another."""

    def decorator(f: Function) -> Function:
        f.__name__ = namestr.format(fun=get_name(fun), **kwargs)
        f.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **kwargs)
        return f

    return decorator


def wrap_nary_f(fun: Any, op: Any, argnum: Any) -> Callable[[Function], Function]:
    """Make the decorator that names and documents what an operator makes of a function."""
    return wraps(
        fun,
        "{op}_of_{fun}_wrt_argnum_{argnum}",
        "{op} of {fun} by its positional argument {argnum}; it takes the arguments of {fun}.",
        op=get_name(op),
        argnum=argnum,
    )


def unary_to_nary(unary_operator: Function) -> Function:
    """Let an operator on functions of one argument take functions of several.

    Parameters
    ----------
    unary_operator : callable
        ``unary_operator(fun, x)``.

    Returns
    -------
    callable
        ``operator(fun, argnum=0)`` gives a function of the arguments of `fun`, where `argnum` is
        the position of one, or a tuple or list of positions, which make a tuple.
    """

    @functools.wraps(unary_operator)
    def nary_operator(fun: Function, argnum: Any = 0, *nary_args: Any, **nary_options: Any) -> Any:
        if not isinstance(argnum, (int, tuple, list)):
            raise TypeError(
                f"argnum is the position of an argument, or a tuple or list of them, not {argnum!r}"
            )

        @wrap_nary_f(fun, unary_operator, argnum)
        def nary_f(*args: Any, **kwargs: Any) -> Any:
            @wraps(fun)
            def unary_f(x: Any) -> Any:
                values = [(argnum, x)] if isinstance(argnum, int) else zip(argnum, x, strict=True)
                return fun(*subvals(args, values), **kwargs)

            x = args[argnum] if isinstance(argnum, int) else tuple([args[i] for i in argnum])
            return unary_operator(unary_f, x, *nary_args, **nary_options)

        return nary_f

    return nary_operator
