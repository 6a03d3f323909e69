"""The overloads of ufuncs, which NumPy's stubs make instances of a few classes."""

import ast
from collections.abc import Iterator, Mapping

import numpy as np

from tape_ad.extend.rules import RULES, Refused
from tape_ad.interop.stubs.functions import gives_plain

__all__ = ["ufunc_overloads"]

PAIRS: Mapping[str, str] = {
    "divmod": "tuple[_Plain[_Anything], _Tensor]",
    "frexp": "tuple[_Tensor, _Plain[_Anything]]",
    "modf": "tuple[_Tensor, _Plain[_Anything]]",
}
"""What the ufuncs with two outputs give for handles."""

OPTIONS = "/, out: _Anything = ..., *, where: _Anything = ..., **options: _Anything"
ALONG = "axis: _Anything = ..., dtype: _Anything = ..., **options: _Anything"


def ufunc_overloads(kind: ast.ClassDef) -> dict[str, list[str]]:
    """Write the overloads of the methods of one class; some of its ufuncs give plain arrays."""
    found: dict[str, list[str]] = {}
    for returned, names in by_result(kind.name).items():
        me = f"self: {kind.name}[_OneOf[{', '.join(map(repr, names))}]{others(kind)}]"
        for method, text in of_methods(me, returned, "Nin2" in kind.name):
            found.setdefault(method, []).append(text)
    return found


def by_result(kind: str) -> dict[str, list[str]]:
    """Sort the names of the ufuncs of a class by what they give for handles."""
    found: dict[str, list[str]] = {}
    for function, entry in RULES.items():
        if not isinstance(function, np.ufunc) or isinstance(entry, Refused):
            continue
        general = "G" * (function.signature is not None)
        if kind == f"_{general}UFunc_Nin{function.nin}_Nout{function.nout}":
            plain = "_Plain[_Anything]" if gives_plain(function, entry) else "_Tensor"
            returned = PAIRS.get(function.__name__, plain)
            found.setdefault(returned, []).append(function.__name__)
    return found


def others(kind: ast.ClassDef) -> str:
    """Write what stands for the class's parameters behind the name of the ufunc."""
    count = len(getattr(kind, "type_params", ()))  # as stubs for Python 3.12 have them
    for generic in (base.slice for base in kind.bases if isinstance(base, ast.Subscript)):
        count = len(generic.elts) if isinstance(generic, ast.Tuple) else 1
    return ", _Anything" * (count - 1)


def of_methods(me: str, returned: str, two: bool) -> Iterator[tuple[str, str]]:
    """Write the overloads of a ufunc's methods, each behind the method's name."""
    if not two:
        yield "__call__", f"def __call__({me}, x1: _Tensor, {OPTIONS}) -> {returned}: ..."
        return
    for x, y in (("_Tensor", "_Tensor | _Arrays"), ("_Arrays", "_Tensor")):
        yield "__call__", f"def __call__({me}, x1: {x}, x2: {y}, {OPTIONS}) -> {returned}: ..."
        yield (
            "outer",
            f"def outer({me}, A: {x}, B: {y}, /, **options: _Anything) -> {returned}: ...",
        )
    for method, more in (("reduce", ""), ("accumulate", ""), ("reduceat", "indices: _Arrays, ")):
        text = f"def {method}({me}, array: _Tensor, /, {more}{ALONG}) -> {returned}: ..."
        yield method, text
