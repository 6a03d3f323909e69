"""Functions that stand for SciPy's own, made of these: same arguments, same values."""

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import overridable
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.base.naming import called
from tape_ad.rules.base import Call, Signature, as_array
from tape_ad.rules.maps import Array
from tape_ad.rules.signatures import arguments_of
from tape_ad.scipy.counterparts import holds, is_handle, joined

__all__ = [
    "by_name",
    "checked_call",
    "constant_beside",
    "is_users",
    "mirrored",
    "operands_of",
    "output_dtype",
    "refuse_elsewhere",
]

Function = Callable[..., Any]

FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
"""What functions are, apart from objects that can be called."""


def mirrored(function: Function, module: str, handles: str = "") -> Function:
    """Make the function of ours that does what one of SciPy's does, and that rules can be for.

    Parameters
    ----------
    function : callable
        SciPy's. Its signature is that of ours too, in every release.
    module : str
        The module that publishes it: "tape_ad.scipy.ndimage".
    handles : str
        The parameters that may be handles, apart by spaces.

    Returns
    -------
    callable
        Overridable. A list or tuple with handles in it counts as the array that they make, and a
        function may close over handles: then it is called once more, as if the first argument were
        one.
    """
    name = function.__name__
    home = module.removeprefix("tape_ad.")

    def plain(*args: Any, **kwargs: Any) -> Any:
        if any(map(holds, (*args, *kwargs.values()))):
            named = {key: joined(each) for key, each in kwargs.items()}
            return public(*[joined(each) for each in args], **named)
        given: list[Any] = []
        found = function(
            *[watched(each, given) for each in args],
            **{key: watched(each, given) for key, each in kwargs.items()},
        )
        return beside(given[0], args, kwargs) if given and handles else found

    def beside(handle: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do the call with a constant of the handle's record, for a function closes over that.

        What calls SciPy's function itself for the value says in `closing` what is done instead.
        """
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        composition = getattr(public, "closing", None)
        if composition is not None:
            return composition(*bound.args, **bound.kwargs)
        first = next(iter(bound.arguments))
        array = as_array(bound.arguments[first])
        if "output" in signature.parameters:
            refuse_integers(public, array)
        bound.arguments[first] = constant_beside(array, handle)
        return public(*bound.args, **bound.kwargs)

    signature = inspect.signature(function)
    plain.__name__ = plain.__qualname__ = name
    plain.__module__ = module
    plain.__doc__ = documented(name, home, handles)
    plain.__signature__ = signature  # type: ignore[attr-defined]  # as inspect looks for it
    public = overridable(plain)
    public.handles = frozenset(handles.split())  # type: ignore[attr-defined]  # for the checks below
    return public


def is_users(value: Any) -> bool:
    """Tell whether something is a function of the user's, which may close over handles."""
    if isinstance(value, FUNCTIONS):
        return True
    kind = type(value)
    known = kind.__module__.partition(".")[0] in ("builtins", "numpy", "scipy", "tape_ad")
    return callable(value) and not isinstance(value, type) and not known


def constant_beside(data: Any, handle: Any) -> Any:
    """Make a constant of a handle's record; of integers it has no derivative, and they get floats.

    Raises
    ------
    UnsupportedArgumentError
        When it is no array of numbers.
    """
    array = as_array(data)
    constant = np.asarray(array if array.dtype.kind in "fc" else array.astype(float), like=handle)
    if not is_handle(constant):
        raise UnsupportedArgumentError(
            f"a function closes over a handle beside an array of {array.dtype}, for which there is "
            "no derivative here; pass its .data if it is meant as a constant"
        )
    return constant


def watched(value: Any, given: list[Any]) -> Any:
    """Let a function of the user's give plain numbers, and keep the first handle that it gives."""
    if not is_users(value):
        return value

    def watching(*args: Any, **kwargs: Any) -> Any:
        return plain(value(*args, **kwargs))

    def plain(found: Any) -> Any:
        if holds(found):
            return type(found)(map(plain, found))
        if not is_handle(found):
            return found
        given.append(found)
        while is_handle(found):
            found = found.data
        return found

    return functools.update_wrapper(watching, value)


def documented(name: str, home: str, handles: str) -> str:
    """Write the docstring of a function that stands for one of SciPy's."""
    given = handles.replace(" ", ", ")
    what = f"Handles may be: {given}." if handles else "Handles count as constants in it."
    return (
        f"Do what `{home}.{name}` does, with its arguments and defaults.\n\n    {what} "
        "Plain arrays give SciPy's own result."
    )


def refuse_elsewhere(public: Function, arguments: Mapping[str, Any]) -> None:
    """Refuse handles in arguments by which there is no derivative.

    Raises
    ------
    UnsupportedArgumentError
    """
    known = public.handles  # type: ignore[attr-defined]  # which `mirrored` has given it
    for name, value in arguments.items():
        if name not in known and (is_handle(value) or holds(value)):
            raise UnsupportedArgumentError(
                f"{called(public)}: there is no derivative by {name}=; pass its .data if it is "
                "meant as a constant"
            )


def operands_of(function: Function, operands: str) -> Signature:
    """Make the signature of a mirrored function: operands become arrays, outputs dtypes.

    Parameters
    ----------
    function : callable
    operands : str
        The parameters that have a derivative, apart by spaces. The first is what is filtered.
    """
    sort = arguments_of(function, operands)

    def signature(*args: Any, **kwargs: Any) -> Call:
        given, options = sort(*args, **kwargs)
        arrays = tuple([as_array(joined(each)) for each in given])
        refuse_integers(function, arrays[0])
        if "output" in options:
            options["output"] = output_dtype(function, options["output"])
        return arrays, options

    return signature


def refuse_integers(function: Function, array: Array) -> None:
    """Refuse an array of integers beside handles, for SciPy then rounds the result to integers.

    Raises
    ------
    UnsupportedArgumentError
    """
    if array.dtype.kind not in "fc":
        raise UnsupportedArgumentError(
            f"{called(function)}: an array of {array.dtype} gives a result of {array.dtype}, which "
            "has no derivative; pass array.astype(float)"
        )


def checked_call(public: Function, compute: Function) -> Function:
    """Make a composition that is given every argument, the output as a dtype and the input checked.

    Parameters
    ----------
    public : callable
        What it is for; its first parameter is `input`.
    compute : callable
        Takes the same arguments, without defaults.
    """
    signature = inspect.signature(public)

    @functools.wraps(compute)
    def checked(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        refuse_elsewhere(public, arguments)
        arguments["input"] = as_array(joined(arguments["input"]))
        refuse_integers(public, arguments["input"])
        if "output" in arguments:
            output = output_dtype(public, arguments["output"])
            arguments["output"] = arguments["input"].dtype if output is None else np.dtype(output)
        return compute(*bound.args, **bound.kwargs)

    return checked


def output_dtype(function: Function, output: Any) -> Any:
    """Take the ``output=`` of a call on handles, which may be a floating dtype alone.

    Raises
    ------
    UnsupportedArgumentError
        When it is an array, which cannot hold a gradient, or a dtype of integers.
    """
    if output is None:
        return None
    if hasattr(output, "ndim") and not isinstance(output, (type, np.dtype)):
        raise UnsupportedArgumentError(
            f"{called(function)}: output= is an array, which cannot hold the gradient of a handle; "
            "leave it out, and use what the function returns"
        )
    dtype = np.dtype(output)
    if dtype.kind not in "fc":
        raise UnsupportedArgumentError(
            f"{called(function)}: output={dtype} rounds the result, which then has no derivative; "
            "leave it out, and round the result's .data"
        )
    return dtype.type


def by_name(function: Function, operands: str) -> Function:
    """Call a function with its operands by name, in whatever order the rule has them."""
    names = operands.split()

    def compute(*values: Any, **options: Any) -> Any:
        return function(**dict(zip(names, values, strict=True)), **options)

    return compute
