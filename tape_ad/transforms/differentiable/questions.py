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
def beside_type(
    code: types.CodeType, at: int
) -> tuple[tuple[types.CodeType | None, frozenset[str]], ...]:
    """List what the type that a function gets at an instruction is compared with, or looked up in.

    Each is an expression, which is None where it is not known or calls something, and the words in
    it. A variable that the type is assigned to is followed.
    """
    tree, place = tree_of(code), place_of(code, at)
    if tree is None:
        return ((None, frozenset(code.co_names)),)
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign([*targets], value) if extent(value) == place:
                names |= {each.id for each in targets if isinstance(each, ast.Name)}
            case ast.NamedExpr(ast.Name(name), value) if extent(value) == place:
                names.add(name)

    def is_meant(node: ast.expr) -> bool:
        match node:
            case ast.Attribute(inner) | ast.NamedExpr(value=inner):
                return is_meant(inner)
            case ast.ListComp(inner) | ast.SetComp(inner) | ast.GeneratorExp(inner):
                return is_meant(inner) or extent(node) == place
            case ast.Tuple(parts) | ast.List(parts):
                return any(map(is_meant, parts))
            case ast.Name(name) if name in names:
                return True
        return extent(node) == place

    beside: list[ast.expr] = []
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left, _, others) if any(map(is_meant, (left, *others))):
                beside += [each for each in (left, *others) if not is_meant(each)]
            case ast.Subscript(table, key) | ast.Call(ast.Attribute(table, "get"), [key, *_]):
                beside += [table] if is_meant(key) else []
    return tuple((expression_of(each), frozenset(words_in([each]))) for each in beside)


READ = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.Set)
READ += (ast.Dict, ast.expr_context)  # type: ignore[assignment]  # of more classes
"""What an expression consists of that calls nothing, but for `type`."""


def expression_of(node: ast.expr) -> types.CodeType | None:
    """Compile a part of a function, if it calls nothing; None otherwise."""
    for each in ast.walk(node):
        if not isinstance(each, READ) and ast.dump(getattr(each, "func", each)) != CALL_OF_TYPE:
            return None
    return compile(ast.Expression(node), "<type>", "eval")


CALL_OF_TYPE = ast.dump(ast.Name("type", ast.Load()))


def extent(node: Any) -> tuple[int, int, int, int]:
    """Give the place of an expression in its file."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
