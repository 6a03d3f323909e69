"""Questions about types in code that a copy could not answer as the original does.

``isinstance`` and ``type`` are replaced in copies, but ``x.__class__``, ``is`` and the patterns of
``match`` ask the interpreter itself.
"""

import dis
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from tape_ad.base.errors import NoRuleError
from tape_ad.base.naming import called
from tape_ad.transforms.differentiable.compiled import plain_call
from tape_ad.transforms.differentiable.reach import reaches

__all__ = ["asks_for_float", "refusing", "unanswerable"]

ABSTRACT = frozenset(
    {"ndarray", "generic", "number", "inexact", "floating", "complexfloating"}
    | {"Number", "Complex", "Real"}
)
"""Names of classes that arrays and numbers are instances of, and that nothing stands for."""

OF_NUMBERS = frozenset({"float", "complex", "float64", "float32", "complex128", "complex64"})
"""Names of the types of numbers, for which a copy has stand-ins."""

COMPARISONS = frozenset({"IS_OP", "COMPARE_OP", "CONTAINS_OP"})

ENDS = ("STORE_", "RETURN_", "POP_", "RAISE_", "JUMP_", "YIELD_")


def comparisons(code: types.CodeType) -> Iterator[tuple[str, set[Any]]]:
    """Give each comparison, and the names and texts that its statement has before it."""
    met: set[Any] = set()
    for each in dis.get_instructions(code):
        if each.opname in COMPARISONS or each.opname == "MATCH_CLASS":
            yield each.opname, met
            met = set()
        elif each.opname.startswith(ENDS):
            met = set()
        elif each.opname.startswith("LOAD_") and isinstance(each.argval, str):
            met.add(each.argval)


@functools.lru_cache(8192)
def unanswerable(code: types.CodeType) -> str | None:
    """Say what a function, or one in it, asks that a copy cannot answer; None where it can."""
    for operation, met in comparisons(code):
        if operation == "MATCH_CLASS":
            if met & ABSTRACT:
                return f"`case {min(met & ABSTRACT)}()`; write isinstance"
        elif "__class__" in met and met & (ABSTRACT | OF_NUMBERS):
            return "the `__class__` of a number or array; write isinstance"
        elif operation == "IS_OP" and "type" in met and "dtype" in met and met & OF_NUMBERS:
            return "`x.dtype.type is`; write `==` in place of `is`"
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return next(filter(None, map(unanswerable, inner)), None)


def refusing(function: Callable[..., Any], question: str) -> Callable[..., Any]:
    """Let a function that asks what cannot be answered run as it is on plain arrays alone."""

    @functools.wraps(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        given, named = plain_call(args, kwargs)
        if reaches((given, named)) or reaches(function):
            raise NoRuleError(
                f"{called(function)} asks for a type in a manner that ta.differentiable cannot "
                f"answer for a handle: {question}"
            )
        return function(*given, **named)

    return calling


@functools.lru_cache(8192)
def asks_for_float(code: types.CodeType, at: int) -> bool:
    """Tell whether the type that a function gets at an instruction is compared with Python's."""
    met: set[Any] = set()
    for each in dis.get_instructions(code):
        if each.offset <= at:
            continue
        if each.opname in COMPARISONS:
            return not met.isdisjoint({"float", "complex"})
        if each.opname.startswith(ENDS):
            return False
        met.add(each.argval if each.opname.startswith("LOAD_") else None)
    return False
