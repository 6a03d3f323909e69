"""What stands for SciPy's functions and objects in copies of its code: counterparts, and steps."""

import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from tape_ad.extend.arrays import SYMBOLS, Array
from tape_ad.scipy.installed import scipy

Function = TypeVar("Function")
"""A function, or an object that gives one by the types that it is compiled for."""

KNOWN: dict[int, tuple[Any, Any]] = {}
"""SciPy's objects and ours, by the identity of SciPy's."""

OBJECTS: dict[type, Callable[[Any], Any]] = {}
"""Classes of SciPy's, and what makes of an object of one the same of ours, or None."""

WHOLE: set[type] = set()
"""Classes of SciPy's whose counterparts have all that SciPy's own code asks of them."""


def stands_for(*originals: Any) -> Callable[[Function], Function]:
    """Let a function take the place of functions of SciPy's, public or not, in copies of its code.

    It has their signature, and is called where a handle is among the arguments. Those that the
    installed release has not are passed over.
    """

    def decorate(function: Function) -> Function:
        KNOWN.update((id(each), (each, function)) for each in originals if each)
        return function

    return decorate


def unwrapped(function: Any) -> Any:
    """Give what stands within the decorators of one of SciPy's functions."""
    return inspect.unwrap(function) if function else function


MODULES = (
    *("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse"),
    *("spatial", "special", "stats", "signal.windows", "sparse.linalg", "spatial.distance"),
    *("spatial.transform", "optimize.elementwise"),
)

PENDING: tuple[str, ...] = MODULES
"""Those that had not been imported when somebody last asked."""

ENTERING = threading.local()
"""The modules that a thread is entering, which may ask while it does."""


def counterpart(original: Any, default: Any = None) -> Any:
    """Give the counterpart of an object of SciPy's, found by its identity.

    Parameters
    ----------
    original : object
    default : object
        What is given where there is none.
    """
    if any(f"scipy.{name}" in sys.modules for name in PENDING):
        enter()
    pair = KNOWN.get(id(original))
    return pair[1] if pair is not None and pair[0] is original else default


def like_object(value: Any) -> Any:
    """Make of an object of SciPy's the same of ours; None where there is none."""
    make = next((make for kind, make in OBJECTS.items() if isinstance(value, kind)), None)
    return None if make is None else make(value)


def enter() -> None:
    """Enter the modules of SciPy that have been imported by now.

    Several threads may do so at once: none goes on before all is there.
    """
    global PENDING  # noqa: PLW0603 - replaced as a whole, as other threads look at it
    active = ENTERING.__dict__.setdefault("names", set())
    for name in PENDING:
        module = sys.modules.get(f"scipy.{name}")
        if module is None or name in active:
            continue
        if getattr(module.__spec__, "_initializing", False):  # half imported, as by another thread
            continue
        active.add(name)
        try:
            ours: Any = sys.modules[__package__]
            for part in name.split("."):
                ours = getattr(ours, part, None)
            if ours is not None:
                KNOWN.update((id(one), (one, other)) for one, other in pairs(module, ours))
        finally:
            active.discard(name)
        PENDING = tuple(each for each in PENDING if each != name)


def pairs(module: Any, ours: Any) -> Iterator[tuple[Any, Any]]:
    """Give what both modules have under one name, and differs; ufuncs take handles themselves."""
    for name in dir(ours):
        original = getattr(module, name, None)
        if original is None or name[0] == "_" or isinstance(original, NOT_REPLACED):
            continue
        if name not in vars(ours):  # a copy of SciPy's own code, made when it is asked for
            continue
        if str(getattr(original, "__module__", "")).startswith("scipy."):
            other = getattr(ours, name)
            if other is not original and callable(other):
                yield original, other


NOT_REPLACED = (types.ModuleType, np.ufunc, str, int, float)


@stands_for(
    scipy._lib.array_api_extra._lib._funcs._apply_where,
    scipy._external.array_api_extra._lib._funcs._apply_where,  # since SciPy 1.18
)
def chosen(
    cond: Any,
    f1: Callable[..., Array],
    f2: Callable[..., Array] | None,
    fill_value: Any,
    *args: Array,
    kwkeys: Any = (),
    xp: Any = None,
) -> Array:
    """Compute a function of the elements where a condition holds, and another of the rest.

    Where it asks in a library whether numbers are equal, and some are, the tie is told.
    """
    if kwkeys:
        f1 = taking_names(f1, kwkeys)
        f2 = f2 and taking_names(f2, kwkeys)
    if any(type(x) in SYMBOLS for x in (cond, *args)):
        return np.where(cond, f1(*args), fill_value if f2 is None else f2(*args))
    if np.all(cond):
        return f1(*args)
    bool(np.any(cond))  # which tells it
    parts = []
    for function, where in ((f1, cond), (f2, ~cond)):
        shape = (int(np.count_nonzero(where)),)
        if function is not None:
            parts.append(np.broadcast_to(function(*(x[where] for x in args)), shape))
        elif np.ndim(fill_value) == 0:
            parts.append(np.broadcast_to(fill_value, shape))
        else:
            parts.append(np.broadcast_to(fill_value, cond.shape)[where])
    order = np.argsort(np.reshape(~cond, -1), kind="stable")
    return np.reshape(np.concatenate(parts)[np.argsort(order)], cond.shape)


def taking_names(function: Callable[..., Any], names: Any) -> Callable[..., Any]:
    """Let a function have its last arguments by names."""
    count = len(names)
    return lambda *args: function(*args[:-count], **dict(zip(names, args[-count:], strict=True)))


@stands_for(scipy._lib._util._lazywhere)
def lazily(
    cond: Any,
    arrays: Any,
    f: Callable[..., Array],
    fillvalue: Any = None,
    f2: Callable[..., Array] | None = None,
) -> Array:
    """The same in releases before 1.16."""
    cond, *given = np.broadcast_arrays(cond, *arrays)
    return chosen(cond, f, f2, fillvalue, *given)
