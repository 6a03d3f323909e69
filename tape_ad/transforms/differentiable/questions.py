"""Questions about types in code that a copy could not answer as the original does.

``isinstance`` and ``type`` are replaced in copies, but ``x.__class__``, ``is`` and the patterns of
``match`` ask the interpreter itself.
"""

import ast
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from tape_ad.base.errors import NoRuleError
from tape_ad.base.naming import called
from tape_ad.record.messages.callers import place_of, tree_of, words_in
from tape_ad.transforms.differentiable.compiled import plain_call
from tape_ad.transforms.differentiable.reach import reaches

ABSTRACT = frozenset(
    {"ndarray", "generic", "number", "inexact", "floating", "complexfloating"}
    | {"Number", "Complex", "Real"}
)
"""Names of classes that arrays and numbers are instances of, and that nothing stands for."""

OF_NUMBERS = frozenset({"float", "complex", "float64", "float32", "complex128", "complex64"})
"""Names of the types of numbers, for which a copy has stand-ins."""

NUMBERS_OF_PYTHON = frozenset({"float", "complex"})
BY_CLASS = "the `__class__` of a number or array; write isinstance"
BY_TYPE = "`x.dtype.type is`; write `==` in place of `is`"


@functools.lru_cache(8192)
def unanswerable(code: types.CodeType) -> str | None:
    """Say what a function, or one in it, asks that a copy cannot answer; None where it can."""
    words = frozenset(words_of(code))
    if not words & (ABSTRACT | OF_NUMBERS):
        return None
    tree = tree_of(code)
    if tree is None:
        return BY_CLASS if "__class__" in words else None
    for node in ast.walk(tree):
        match node:
            case ast.MatchClass(kind):
                if met := words_in([kind]) & ABSTRACT:
                    return f"`case {min(met)}()`; write isinstance"
            case ast.Compare(ops=operators):
                met = words_in([node])
                if "__class__" in met and met & (ABSTRACT | OF_NUMBERS):
                    return BY_CLASS
                same = any(isinstance(each, (ast.Is, ast.IsNot)) for each in operators)
                if same and {"type", "dtype"} <= met and met & OF_NUMBERS:
                    return BY_TYPE
    return None


@functools.lru_cache(4096)
def asks_of_numbers(code: types.CodeType) -> bool:
    """Tell whether a function asks if something is an array or a number."""
    words = frozenset(words_of(code))
    return not words.isdisjoint(ASKING) and not words.isdisjoint(ABSTRACT | OF_NUMBERS)


ASKING = frozenset({"isinstance", "issubclass", "type"})
"""Functions that are replaced in copies."""


def words_of(code: types.CodeType) -> Iterator[str]:
    """Give the names and texts in the code of a function, and of those in it."""
    yield from (*code.co_names, *code.co_varnames, *code.co_freevars)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from words_of(each)
        elif isinstance(each, str):
            yield each


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
    tree = tree_of(code)
    if tree is None:
        return not NUMBERS_OF_PYTHON.isdisjoint(code.co_names)
    place = place_of(code, at)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            if any(extent(asked_of(each)) == place for each in operands):
                return not NUMBERS_OF_PYTHON.isdisjoint(words_in(operands))
    return False


@functools.lru_cache(8192)
def keyed_by(code: types.CodeType, at: int) -> tuple[str, ...]:
    """Name the table of which the type that a function gets at an instruction is the key.

    The names are those of a variable and of attributes; there are none where it is no key.
    """
    tree, place = tree_of(code), place_of(code, at)
    for node in () if tree is None else ast.walk(tree):
        match node:
            case ast.Subscript(table, key) | ast.Call(ast.Attribute(table, "get"), [key, *_]):
                if isinstance(key, ast.Call) and extent(key) == place:
                    *attributes, variable = names_of(table)
                    return (variable, *reversed(attributes))
    return ()


def names_of(node: ast.AST) -> Iterator[str]:
    """Give the attributes that code looks up, the last first, and the variable whose they are."""
    while isinstance(node, ast.Attribute):
        yield node.attr
        node = node.value
    yield node.id if isinstance(node, ast.Name) else ""


def asked_of(operand: ast.AST) -> ast.AST:
    """Give what an operand is, or is an attribute of."""
    while isinstance(operand, (ast.Attribute, ast.NamedExpr)):
        operand = operand.value
    return operand


def extent(node: Any) -> tuple[int, int, int, int]:
    """Give the place of an expression in its file."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
