"""Copies that are called often, made anew with a plain dict for globals.

Python looks names up fast in a plain dict alone. A function that is made anew is one of a module's
own, with a loop or many names in it. Its copy stays the object that it is, and gets code that
compares what the module's names mean with what they meant before it calls the fast one. What copies
assign to a module's attribute is put into the dict at once.
"""

import ast
import functools
import inspect
import linecache
import re
import types
import weakref
from collections.abc import Callable, Set
from typing import Any

import numpy as np

from tape_ad.record.messages.callers import PLAIN_GLOBALS, tree_of, variables_bound, variables_read

LEAST_NAMES = 5
"""How many globals a function without a loop looks up, if it is worth it."""

INNER = ("<listcomp>", "<dictcomp>", "<setcomp>")
"""Code within a function that is over when the function is; before Python 3.12 it has frames."""

SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""The flags of what may go on after names are bound anew."""

STACK = frozenset({"globals", "eval", "exec", "warn", "_getframe", "currentframe", "stack"})
"""Names of what asks for the globals of its caller, or counts the callers."""

ASSIGNING = re.compile(r"\bglobal\s+([^#;\n]*(?:\\\n[^#;\n]*)*)")
FROM_AFAR = re.compile(r"\bglobals\s*\(|\bsys\.modules\b")


REFUSED = (
    *(ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef),
    *(ast.Lambda, ast.GeneratorExp),
)
"""What a function may not have in it: what asks for its globals, or what outlives the call."""

LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp)


def names_of(code: types.CodeType) -> set[str] | None:
    """Give the globals of a function that looks many up; None where it keeps those it has."""
    tree: Any = tree_of(code)
    if tree is None or not hasattr(tree, "body") or not isinstance(tree.body, list):
        return None
    if code.co_freevars or code.co_flags & SUSPENDS or not STACK.isdisjoint(code.co_names):
        return None
    parts = [part for each in tree.body for part in ast.walk(each)]
    if any(isinstance(each, REFUSED) for each in parts) or variables_bound(code):
        return None
    names = variables_read(code)
    loops = any(isinstance(each, LOOPS) for each in parts)
    return names if loops or len(names) >= LEAST_NAMES else None


@functools.lru_cache(512)
def names_assigned(file: str) -> frozenset[str] | None:
    """Give the names that functions in a file assign to as globals; None where that is unknown."""
    text = "".join(linecache.getlines(file))
    if not text or FROM_AFAR.search(text):
        return None
    found = ASSIGNING.findall(text)
    return frozenset(name for each in found for name in re.findall(r"\w+", each))


class PlainGlobals:
    """The plain globals of the copies of one module's functions that are called often.

    Attributes
    ----------
    original : dict
        The globals of the module.
    meaning : callable
        ``meaning(name)`` is what a name means in copies.
    values : dict
        What the names of those functions mean in copies: their globals.
    seen : dict
        What they mean in the module, at the same time.
    """

    def __init__(
        self, original: dict[str, Any], fixed: dict[str, Any], meaning: Callable[[str], Any]
    ) -> None:
        self.original, self.meaning = original, meaning
        self.values: dict[str, Any] = {**fixed, PLAIN_GLOBALS: True}
        self.seen: dict[str, Any] = {}

    def look(self, name: str) -> bool:
        """See what a name of the module means now, and tell whether it may stay in the dict."""
        value = self.original[name]
        self.values[name] = self.meaning(name)
        self.seen[name] = value if stays(value) else CHANGES
        return stays(value)

    def bound_anew(self, name: str) -> None:
        """Note that a copy has assigned to an attribute of the module."""
        if name in self.seen:
            self.look(name)

    @staticmethod
    def code_of(frame: types.FrameType) -> types.CodeType:
        """Give the code of the function that a frame is of, or of a part of it."""
        while frame.f_code.co_name in INNER and frame.f_back is not None:
            frame = frame.f_back
        return frame.f_code

    def quicken(self, copy: Any) -> None:
        """Let a copy run with these globals, if it may."""
        code = copy.__code__
        names, assigned = names_of(code), names_assigned(code.co_filename)
        if names is None or assigned is None or names & assigned:
            return
        if not set(LOCALS).isdisjoint(code.co_varnames):
            return
        own = frozenset(name for name in names if name in self.original)
        if not all(stays(self.original[name]) for name in own):
            return
        for name in own:
            self.look(name)
        fast = types.FunctionType(code, self.values, copy.__name__)
        fast.__qualname__ = copy.__qualname__
        slow = weakref.ref(copy)  # for what code has in it is not freed where it is a cycle

        def again() -> Any:
            """Give what is to be called where a name means something else than before."""
            there = {name for name in names if name in self.original}
            kept = [self.look(name) for name in there]
            if there == own and all(kept):
                return fast
            found: Any = slow()
            found.__code__ = code
            return found

        copy.__code__ = entering(code, own, names - own, (self.original, self.seen, fast, again))


CHANGES: Any = object()
"""What no name of a module means: it has to be looked at again."""


def stays(value: Any) -> bool:
    """Tell whether what a name means in copies is the same object as long as the module's is."""
    return isinstance(value, STAYING) or type(value).__name__ == "_lru_cache_wrapper"


STAYING = (
    *(types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type, np.ufunc),
    *(int, float, complex, str, bytes, type(None), slice, range, np.dtype, np.generic),
)

LOCALS = ("_names_of_the_module", "_names_seen", "_fast_function", "_again")


def entering(
    code: types.CodeType, own: Set[str], absent: Set[str], constants: tuple[Any, ...]
) -> types.CodeType:
    """Make code with a function's parameters that calls the fast one, if names mean the same."""
    module, seen, fast, again = LOCALS
    tests = [f"{module}[{name!r}] is {seen}[{name!r}]" for name in sorted(own)]
    tests += [f"{name!r} not in {module}" for name in sorted(absent)]
    text = "\n ".join(
        [
            "def entry():",
            *[f"{name} = '<{name}>'" for name in LOCALS],  # for the constants, put in below
            "try:",
            f" if not ({' and '.join(tests) or 'True'}): {fast} = {again}()",
            f"except KeyError: {fast} = {again}()",
            f"return {fast}()",
        ]
    )
    tree = ast.parse(text)
    function: Any = tree.body[0]
    function.args = parameters(code)
    call = function.body[-1].value
    call.args, call.keywords = handed_on(function.args)
    for node in ast.walk(tree):
        node.__dict__ |= dict.fromkeys(("lineno", "end_lineno"), code.co_firstlineno)
        node.__dict__ |= dict.fromkeys(("col_offset", "end_col_offset"), 0)
    module_code = compile(tree, code.co_filename, "exec", dont_inherit=True)
    entry = next(each for each in module_code.co_consts if isinstance(each, types.CodeType))
    marks = [f"<{name}>" for name in LOCALS]
    held = tuple(
        constants[marks.index(each)] if each in marks else each for each in entry.co_consts
    )
    return entry.replace(co_consts=held, co_name=code.co_name, co_qualname=code.co_qualname)


def parameters(code: types.CodeType) -> ast.arguments:
    """Give the parameters of a function; the defaults are not in its code."""
    names = iter([ast.arg(name) for name in code.co_varnames])
    first = [next(names) for _ in range(code.co_posonlyargcount)]
    then = [next(names) for _ in range(code.co_argcount - code.co_posonlyargcount)]
    named = [next(names) for _ in range(code.co_kwonlyargcount)]
    rest = next(names) if code.co_flags & inspect.CO_VARARGS else None
    options = next(names) if code.co_flags & inspect.CO_VARKEYWORDS else None
    return ast.arguments(first, then, rest, named, [None] * len(named), options, [])


def handed_on(given: ast.arguments) -> tuple[list[ast.expr], list[ast.keyword]]:
    """Give the arguments of a call that hands all parameters on."""

    def value(each: ast.arg) -> ast.Name:
        return ast.Name(each.arg, ast.Load())

    args: list[ast.expr] = [value(each) for each in (*given.posonlyargs, *given.args)]
    if given.vararg is not None:
        args.append(ast.Starred(value(given.vararg), ast.Load()))
    named = [ast.keyword(each.arg, value(each)) for each in given.kwonlyargs]
    if given.kwarg is not None:
        named.append(ast.keyword(None, value(given.kwarg)))
    return args, named
