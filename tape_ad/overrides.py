"""Functions of our own that answer NEP 18, as NumPy's functions do."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

__all__ = ["overridable"]

PLAIN = frozenset({np.ndarray, np.float64, float, int})
"""Types that take nothing over, known without a look."""

F = TypeVar("F", bound=Callable[..., Any])


def overridable(function: F) -> F:
    """Let a function of arrays be taken over by the array types that it is called with.

    Called with plain arrays, `function` simply runs. When an argument speaks NEP 18 (a handle
    does), that argument's ``__array_function__`` gets the call, so a function of our own is
    recorded, looked up in the rule tables and differentiated exactly like one of NumPy's.

    Parameters
    ----------
    function : callable
        A function of arrays, written for plain ones.

    Returns
    -------
    callable
        The function to publish, and to use as a key in a rule table.

    Notes
    -----
    The protocol is NEP 18, https://numpy.org/neps/nep-0018-array-function-protocol.html.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            kind = type(argument)
            if kind not in PLAIN and takes_over(kind):
                return argument.__array_function__(public, (kind,), args, kwargs)
        for argument in kwargs.values():
            kind = type(argument)
            if kind is not np.ndarray and takes_over(kind):
                bound = signature.bind(*args, **kwargs)  # rules take their operands by position
                return argument.__array_function__(public, (kind,), bound.args, bound.kwargs)
        return function(*args, **kwargs)

    return cast("F", public)


def takes_over(kind: type) -> bool:
    """Tell whether a type has an ``__array_function__`` of its own.

    The one that NumPy's subclasses of ndarray inherit (`numpy.memmap`) would call us again.
    """
    own = getattr(kind, "__array_function__", None)
    return own is not None and own is not np.ndarray.__array_function__
