"""Functions for scikit-learn's: on plain arrays its own, on handles a copy of it or a formula."""

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, foreign, holds, joined, primal
from tape_ad.extend.packages import called, extra
from tape_ad.extend.rules import takes_over
from tape_ad.record.constants import ConstantTensor

Function = Callable[..., Any]


def published(
    module: str, smooth: Mapping[str, str], formulas: Mapping[str, Function]
) -> dict[str, Function]:
    """Make the counterparts of a module's functions, as far as the installed release has them.

    Parameters
    ----------
    module : str
    smooth : mapping of str to str
        By the names of the functions, the arguments that they have a derivative by, in a text.
    formulas : mapping of str to callable
        What computes those of handles whose own code cannot.

    Raises
    ------
    ImportError
        Where there is no scikit-learn; it names the extra.
    """
    with extra("sklearn", "tape_ad.interop.sklearn"):
        theirs = importlib.import_module(module)
    return {
        name: counterpart(getattr(theirs, name), arguments, formulas.get(name))
        for name, arguments in smooth.items()
        if hasattr(theirs, name)
    }


def counterpart(original: Function, smooth: str, formula: Function | None) -> Function:
    """Make the function that stands for one of scikit-learn's.

    Of a call with handles scikit-learn's function is asked first, for the values: so whatever it
    refuses or warns of, it does here. Then a copy of it computes on the handles.

    Parameters
    ----------
    original : callable
        scikit-learn's. Its signature is that of ours too, in every release.
    smooth : str
        The arguments that may be handles, apart by spaces.
    formula : callable, optional
        Takes the place of the copy: what it needs of the same arguments, by name.
    """
    signature = inspect.signature(original)
    wanted = inspect.signature(formula or original).parameters
    several = any(each.kind is each.VAR_KEYWORD for each in wanted.values())
    compute: Function = formula or differentiable(inspect.unwrap(original))

    @functools.wraps(original)
    def public(*args: Any, **kwargs: Any) -> Any:
        if not any(map(recorded, (*args, *kwargs.values()))):
            return original(*args, **kwargs)
        given = arguments_of(signature, args, kwargs)
        refuse(public, given, smooth.split())
        of_values(original, *args, **kwargs)
        given = {k: joined(v) for k, v in given.items() if several or k in wanted}
        return of_kind(compute(**given), [given[name] for name in smooth.split() if name in given])

    return documented(public, f"Handles may be: {smooth.replace(' ', ', ')}.")


def constant(original: Function) -> Function:
    """Make the counterpart of a score that is piecewise constant in labels and in scores."""
    signature = inspect.signature(original)
    steps = tuple(
        name for name in signature.parameters if name.partition("_")[0] in ("y", "y1", "y2")
    )

    @functools.wraps(original)
    def public(*args: Any, **kwargs: Any) -> Any:
        if not any(map(recorded, (*args, *kwargs.values()))):
            return original(*args, **kwargs)
        refuse(public, arguments_of(signature, args, kwargs), steps)
        return of_values(original, *args, **kwargs)

    return documented(public, "It is piecewise constant, and a plain number for handles too.")


def documented(public: Function, handles: str) -> Function:
    """Give a function its own docstring and module."""
    name = public.__name__
    home = f"sklearn.metrics{'.pairwise' if public.__module__.endswith('.pairwise') else ''}"
    public.__module__ = home.replace("sklearn.metrics", "tape_ad.interop.sklearn")
    public.__doc__ = (
        f"The counterpart of `{home}.{name}`, with its arguments and defaults.\n\n    {handles} "
        "Plain arrays give scikit-learn's own result."
    )
    return public


def arguments_of(signature: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any]:
    """Name the arguments of a call, with the defaults of those that it leaves out."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    given = dict(bound.arguments)
    named = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]
    for name in named:
        given |= given.pop(name)
    return given


def refuse(public: Function, given: Mapping[str, Any], smooth: Sequence[str]) -> None:
    """Refuse handles in arguments by which there is no derivative.

    Raises
    ------
    UnsupportedArgumentError
    """
    for name, value in given.items():
        if name not in smooth and recorded(value):
            raise UnsupportedArgumentError(
                f"{called(public)}: there is no derivative by {name}=; pass its "
                ".data if it is meant as a constant"
            )


def recorded(value: Any) -> bool:
    """Tell whether something is a handle, or a list or tuple that has one in it."""
    return takes_over(type(value)) or holds(value)


def of_values(function: Function, *args: Any, **kwargs: Any) -> Any:
    """Call a function that takes plain arrays alone with what is behind handles."""
    return foreign(function, tuple(map(plain, args)), {k: plain(v) for k, v in kwargs.items()})


def plain(value: Any) -> Any:
    """Take the numbers out of handles, for scikit-learn to look at."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    value = primal(value)
    if type(value) is ConstantTensor:
        value = value.data
    return value[()] if isinstance(value, np.ndarray) else value


def of_kind(found: Any, values: Sequence[Any]) -> Any:
    """Give a score the precision of what it depends on; nothing moves one that is plain.

    One that does not exist has nan for its slope.
    """
    handles = [each for each in values if takes_over(type(each))]
    if not recorded(found):
        slope = 0.0 if np.all(np.isfinite(found)) else np.nan
        found = found + slope * sum(map(np.sum, handles))
    dtype = np.result_type(*(each.dtype for each in handles), np.float16)
    return found if found.dtype == dtype else found.astype(dtype)


def numbers(*values: Any) -> list[Array]:
    """Make arrays of one kind of floating number of what a call was given."""
    arrays = [each if takes_over(type(each)) else np.asarray(each) for each in values]
    kinds = [each.dtype for each in arrays if each.dtype.kind == "f"]
    dtype = np.result_type(*kinds) if kinds else np.dtype(float)
    return [each if each.dtype.kind == "f" else each.astype(dtype) for each in arrays]
