"""Signatures made from those that functions have, so that no default is written down again."""

import inspect
import types
from collections.abc import Callable
from typing import Any

from tape_ad.base.naming import called
from tape_ad.rules.base import Signature, refuse

__all__ = ["arguments_of"]


def arguments_of(
    function: Callable[..., Any], operands: str, options: str | None = None, *, ignored: str = ""
) -> Signature:
    """Make the signature of a function whose arguments need nothing but sorting.

    A parameter that is named nowhere, such as one that a newer NumPy has added, may be left out or
    given its default; any other value is refused by name.

    Parameters
    ----------
    function : callable
        Of NumPy, or of our own: not one written in C, which older releases give no signature.
    operands : str
        The parameters that have a derivative, apart by spaces, in the order of the rule's makers.
    options : str, optional
        Those that the makers take besides. When left out, all others that there are, which is
        right for a function of our own.
    ignored : str
        Those that may have any value, for they change nothing.

    Notes
    -----
    The text of the signature is written and compiled when it is first called: that takes longer
    than it takes to import the module that it stands in. It then takes the place of the code that
    wrote it, so that a call costs what it costs in a signature written by hand.

    Examples
    --------
    >>> import numpy as np
    >>> signature = arguments_of(np.roll, "a", "shift axis")
    >>> signature("x", 3)
    (('x',), {'shift': 3, 'axis': None})
    """
    namespace: dict[str, Any] = {}
    signature = types.FunctionType(unmade.__code__, namespace)

    def first_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = compiled(function, operands, options, ignored, namespace)
        signature.__defaults__, signature.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
        signature.__name__ = signature.__qualname__ = made.__name__
        signature.__code__ = made.__code__  # last, as another thread may call it at any time
        return signature(*args, **kwargs)

    namespace["first_call"] = first_call
    return signature


def unmade(*args: Any, **kwargs: Any) -> Any:
    """Stand for a signature until it is called; `first_call` is in each one's own namespace."""
    return first_call(args, kwargs)  # type: ignore[name-defined]  # noqa: F821 - as it says


def compiled(
    function: Callable[..., Any],
    operands: str,
    options: str | None,
    ignored: str,
    namespace: dict[str, Any],
) -> types.FunctionType:
    """Write the text of a signature, and compile it in a namespace for the defaults."""
    parameters = inspect.signature(function).parameters
    first = operands.split()
    second = [each for each in parameters if each not in first]
    if options is not None:
        second = options.split()
    known = {*first, *second, *ignored.split()}

    def refused(name: str, value: Any) -> None:
        default = parameters[name].default
        if type(value) is not type(default) or value != default:
            refuse(called(function).removeprefix("np."), **{name: value})

    heads = []
    for name, parameter in parameters.items():
        namespace[f"default_{name}"] = parameter.default
        default = parameter.empty if parameter.default is parameter.empty else Default(name)
        heads.append(parameter.replace(default=default, annotation=parameter.empty))
    lines = [
        f"def {function.__name__}{inspect.Signature(heads)}:",
        *(
            f"    if {name} is not default_{name}: refused({name!r}, {name})"
            for name in parameters
            if name not in known
        ),
        f"    return ({''.join(f'{name}, ' for name in first)}), "
        f"{{{', '.join(option(name, parameters[name].default) for name in second)}}}",
    ]
    namespace["refused"] = refused
    made: dict[str, types.FunctionType] = {}  # of this call alone, as two threads may be here
    exec("\n".join(lines), namespace, made)  # noqa: S102 - the text is made here, of parameters' names
    return made[function.__name__]


def option(name: str, default: Any) -> str:
    """Write an option; of ``np.True_`` NumPy's reductions make an error where they get it."""
    plain = name in ("keepdims", "hermitian") and isinstance(default, bool)
    return f"{name!r}: bool({name})" if plain else f"{name!r}: {name}"


class Default(str):
    """A name that stands for a default in the text of a signature."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Give the name in the namespace."""
        return f"default_{self}"
