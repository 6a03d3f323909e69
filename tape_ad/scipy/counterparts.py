"""Functions that stand for SciPy's: on plain arrays SciPy's own, on handles lines that record."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from tape_ad.base.arrays.overridable import TRACERS, declined, is_dask, overridable, takes_over
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.base.naming import called
from tape_ad.rules.base import Call, Derivation, Entry
from tape_ad.rules.signatures import arguments_of

__all__ = ["holds", "is_handle", "joined", "stands_for", "takes_lists"]

F = TypeVar("F", bound=Callable[..., Any])

SEQUENCES = (list, tuple)


def stands_for(
    table: dict[Any, Entry], original: Callable[..., Any] | None, smooth: str, *, trees: str = ""
) -> Callable[[F], F]:
    """Publish lines for handles as the counterpart of a function of SciPy's.

    Called with plain arrays, the public function calls SciPy's with the same arguments. Where a
    handle is among them, the lines run, which are NumPy calls and counterparts of other functions
    and record themselves. A list or tuple that has handles in it is stacked first.

    Parameters
    ----------
    table : dict
        Of rules, to which the function is added.
    original : callable or None
        SciPy's function; None where the installed SciPy has none, and the lines run always.
    smooth : str
        The arguments that may be handles, apart by spaces. A handle anywhere else is an error.
    trees : str
        Those of them that are lists or tuples of arrays, which are not stacked.

    Returns
    -------
    callable
        The decorator of the lines, which have SciPy's signature.
    """
    names = tuple(smooth.split())
    kept = frozenset(trees.split())

    def decorate(lines: F) -> F:
        parameters = tuple(inspect.signature(lines).parameters)

        @functools.wraps(lines)
        def plain(*args: Any, **kwargs: Any) -> Any:
            for argument in (*args, *kwargs.values()):
                if holds(argument):
                    if not kept:
                        return compute(*sort(*args, **kwargs))
                    return taken_over(public, args, kwargs)
            return (original or lines)(*args, **kwargs)

        sort = arguments_of(lines, smooth)
        public = overridable(plain)

        def signature(*args: Any, **kwargs: Any) -> Call:
            return sort(*args, **kwargs), {}

        def compute(operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
            for name, value in options.items():
                if is_handle(value) or holds(value):
                    raise misplaced(lines, name, names)
            taken = {
                name: value if name in kept else joined(value)
                for name, value in zip(names, operands, strict=True)
            }
            return lines(**taken, **options)

        assert set(names) <= set(parameters)  # noqa: S101 - of the table's text, not of arguments
        table[public] = Derivation(compute, signature)
        return cast("F", public)

    return decorate


def misplaced(function: Any, name: str, names: tuple[str, ...]) -> UnsupportedArgumentError:
    """Say that an argument is a handle which has no derivative there."""
    return UnsupportedArgumentError(
        f"{called(function)}: the argument {name}= has no derivative there and "
        f"is not taken as a handle ({', '.join(f'{each}=' for each in names)} can be one); pass "
        f"its value, .data"
    )


def is_handle(value: Any) -> bool:
    """Tell whether something is an array that records what is done with it."""
    kind = type(value)
    known = kind is np.ndarray or kind in TRACERS or is_dask(kind)
    return not known and takes_over(kind)


def holds(tree: Any) -> bool:
    """Tell whether something is a list or tuple with an array in it that takes calls over."""
    if type(tree) not in SEQUENCES:
        return False
    return any(map(takes_over, set(map(type, tree)))) or any(map(holds, tree))


def taken_over(public: Any, args: Any, kwargs: Any) -> Any:
    """Let arrays in lists and tuples take a call over, as arrays that stand alone do."""
    found: dict[type, Any] = {}

    def look(tree: Any) -> None:
        if takes_over(type(tree)):
            found.setdefault(type(tree), tree)
        elif type(tree) in SEQUENCES:
            for each in tree:
                look(each)

    look((*args, *kwargs.values()))
    for array in found.values():
        out = array.__array_function__(public, tuple(found), args, kwargs)
        if out is not NotImplemented:
            return out
    return declined(public, tuple(found))


def joined(tree: Any) -> Any:
    """Stack what stands in a list or tuple, if there are handles in it."""
    return np.stack([joined(each) for each in tree]) if holds(tree) else tree


def takes_lists(function: F) -> F:
    """Do what `overridable` does, and stack lists and tuples with handles in them before.

    It is for functions all of whose arguments are arrays where handles stand in them.
    """
    return overridable(function, prepare=stacked)


def stacked(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Stack what stands in the lists and tuples of a call, where there are handles in them."""
    if any(map(holds, args)) or any(map(holds, kwargs.values())):
        return tuple(map(joined, args)), {key: joined(each) for key, each in kwargs.items()}
    return args, kwargs
