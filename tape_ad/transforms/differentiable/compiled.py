"""Compiled functions of packages: plain arrays pass, and a handle is an error that names them."""

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import NoRuleError
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten
from tape_ad.record.constants import ArrayConstant, prepare
from tape_ad.transforms.differentiable.reach import reaches

KINDS = frozenset(
    {"builtin_function_or_method", "cython_function_or_method", "fortran", "pybind11_builtins"}
    | {"fused_cython_function", "nb_func", "nb_method", "PyCapsule", "_cython_function_or_method"}
)
"""The names of the types of compiled functions."""


def is_compiled(value: Any) -> bool:
    """Tell whether something is a compiled function of a package, but NumPy and Python."""
    kind = type(value)
    if kind.__name__ not in KINDS:
        return False
    owner = getattr(value, "__self__", None)
    in_c = owner is None or isinstance(owner, types.ModuleType)
    if not in_c and not type(owner).__name__.startswith(("PyCapsule", "pybind11")):
        return False  # a method, of an object that sees for itself
    module = str(getattr(value, "__module__", None) or getattr(owner, "__name__", ""))
    package = module.partition(".")[0]
    if not package:
        return kind.__name__ == "fortran"
    return package not in ("None", "numpy", "builtins", "tape_ad") and (
        package not in sys.stdlib_module_names
    )


LIKE_NUMPY = frozenset({"bottleneck"})
"""Packages whose compiled functions do what NumPy's of the same name do, in less time."""


class Guarded:
    """A compiled function that has constants as plain arrays, and refuses handles."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__wrapped__ = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__module__ = str(getattr(function, "__module__", None) or "")
        package = self.__module__.partition(".")[0]
        self.same = getattr(np, self.__name__, None) if package in LIKE_NUMPY else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Raises
        ------
        NoRuleError
            When a handle is among the arguments.
        """
        given, named = plain_call(args, kwargs)
        if reaches((given, named)):
            if self.same is not None:
                return self.same(*args, **kwargs)
            raise NoRuleError(
                f"{called(self.function)} is compiled and has no rule, so the gradient would be "
                "lost; give it one by ta.custom_rule around a function of yours that calls it, or "
                "apply it to t.data if no gradient is meant to flow"
            )
        return self.function(*given, **named)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        binds = instance is not None and hasattr(type(self.function), "__get__")
        return types.MethodType(self, instance) if binds else self

    def __getitem__(self, key: Any) -> Any:
        return Guarded(self.function[key])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __repr__(self) -> str:
        return repr(self.function)


def is_dispatched(value: Any) -> bool:
    """Tell whether something is one of SciPy's Fourier transforms, which ask handles themselves."""
    return type(value).__name__ == "_Function" and type(value).__module__ == "uarray"


FOR_COMPILED: dict[type, Callable[[Any], Any]] = {}
"""What compiled code is given in place of objects that copies have, by their types."""


def plain(value: Any) -> Any:
    """Give the array of a constant, also in lists; dicts, which C code may write to, stay."""
    kind = type(value)
    if kind is ArrayConstant:
        return value.data
    if kind is types.FunctionType:
        return as_callback(value)
    convert = FOR_COMPILED.get(kind)
    if convert is not None:
        return convert(value)
    if kind in (list, tuple):
        found = [plain(each) for each in value]
        if all(one is other for one, other in zip(found, value, strict=True)):
            return value
        return found if kind is list else tuple(found)
    if kind is dict:
        for name, each in value.items():
            if type(each) is ArrayConstant:
                value[name] = each.data
    return value


def as_callback(value: Any) -> Any:
    """Let a copy of a function that other code calls give arrays, and give it its generators."""
    convert = FOR_COMPILED.get(type(value))
    if convert is not None:
        return convert(value)
    if type(value) is types.FunctionType and type(value.__globals__) is not dict:
        return giving_plain_results(value)
    return value


def giving_plain_results(function: Any) -> Any:
    """Let a copy that compiled code calls give arrays in place of constants."""
    return functools.wraps(function)(lambda *args, **kwargs: plain(function(*args, **kwargs)))


def plain_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Give the arguments of a call with arrays in place of constants.

    All are prepared to be written to before any array is taken, as one may be given twice, or
    beside a view of it.
    """
    for each in flatten((args, kwargs)):
        plainly = type(each) is ArrayConstant and type(each.data) is np.ndarray
        if plainly and each.data.flags.writeable:
            prepare(each)
    return [*map(plain, args)], {name: plain(value) for name, value in kwargs.items()}
