"""What `tape_ad.differentiable` makes of a function: what it copies, and where it would stop."""

import ast
import builtins
import functools
import itertools
import textwrap
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.errors import NoRuleError
from tape_ad.base.naming import called
from tape_ad.base.trees import content_of
from tape_ad.record.messages.callers import tree_of, variables_read
from tape_ad.rules import entry_of
from tape_ad.transforms.differentiable.compiled import Guarded, is_compiled
from tape_ad.transforms.differentiable.copying import (
    NOT_COPIED,
    converted,
    is_copied_module,
    module_of,
)
from tape_ad.transforms.differentiable.numpy_names import Ufunc
from tape_ad.transforms.differentiable.questions import words_of
from tape_ad.transforms.differentiable.table import ABSENT, replaced

MOST = 2000
"""How many functions are looked into."""


@frozen(repr=False)
class Explanation:
    """What becomes of the functions that a function names, and that those name in turn.

    Attributes
    ----------
    copied : tuple of str
        The functions and classes that are copied.
    rules : tuple of str
        Those of Python, NumPy's conversions and SciPy that others stand for, which take handles.
    left : tuple of str
        Those of packages that are never copied, such as pandas, where a handle may be refused.
    stops : tuple of str
        The compiled functions without a rule, which refuse handles.
    """

    copied: tuple[str, ...] = field(factory=tuple)
    rules: tuple[str, ...] = field(factory=tuple)
    left: tuple[str, ...] = field(factory=tuple)
    stops: tuple[str, ...] = field(factory=tuple)

    def __repr__(self) -> str:
        parts = (
            ("copied", self.copied),
            ("by a rule or a stand-in", self.rules),
            ("left as they are, and may refuse handles", self.left),
            ("compiled without a rule, so handles are refused", self.stops),
        )
        return "\n".join(line for title, names in parts for line in listing(title, names))


def listing(title: str, names: tuple[str, ...]) -> Iterator[str]:
    """Write names under a title, those of one module or class beside each other."""
    yield f"{title} ({len(names)}){':' if names else ''}"
    owners = sorted((name.rpartition(".")[0], name) for name in names)
    for owner, pairs in itertools.groupby(owners, lambda pair: pair[0]):
        text = ", ".join(name.rpartition(".")[2] for _, name in pairs)
        first = f"  {owner}: " if owner else "  "
        yield textwrap.fill(text, 100, initial_indent=first, subsequent_indent="    ")


def explain(thing: Any) -> Explanation:
    """Say what `tape_ad.differentiable` copies of a function, and where it would stop.

    Parameters
    ----------
    thing : function, bound method, partial or class
        Or what `tape_ad.differentiable` has made of one.

    Returns
    -------
    Explanation
        By the names in the code, whether or not a call comes to them. Methods of objects are not
        among them, as the code does not say whose they are.

    Examples
    --------
    >>> import math
    >>> def area(r):
    ...     return np.asarray(math.pi * r**2)
    >>> explain(area).rules
    ('np.asarray',)
    """
    copied, rules, left, stops = (dict[str, None]() for _ in range(4))
    waiting, seen = [unwrapped_of(thing)], set[int]()
    kept = []  # what is named by its identity has to stay
    while waiting and len(seen) < MOST:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        kept.append(each)
        if replaced(each) is not ABSENT:
            rules[title(each)] = None
        elif isinstance(each, np.ufunc):
            (rules if has_rule(each) else stops)[title(each)] = None
        elif is_compiled(each):
            stops[title(each)] = None
        elif str(getattr(each, "__module__", None)).partition(".")[0] in LEFT:
            left[title(each)] = None
        elif isinstance(each, types.FunctionType) and is_copied_module(module_of(each)):
            copied[title(each)] = None
            waiting += named_in(each)
        elif isinstance(each, type) and converted(each) is not each:
            copied[title(each)] = None
            waiting += [unwrapped_of(value) for value in vars(each).values()]
    return Explanation(*(tuple(sorted(names)) for names in (copied, rules, left, stops)))


LEFT = NOT_COPIED - {"tape_ad", "attr", "attrs", "typing_extensions", "threadpoolctl", "tqdm"}
"""The packages of which it is told that they are left as they are."""


def has_rule(ufunc: np.ufunc) -> bool:
    """Tell whether handles may be given to a ufunc."""
    try:
        entry_of(ufunc)
    except NoRuleError:
        return False
    return True


def title(thing: Any) -> str:
    """Name a function or class with its module, unless that is the user's or Python's own."""
    if isinstance(thing, np.ufunc):
        return str(thing.__name__)
    module = str(getattr(thing, "__module__", None))
    if module.partition(".")[0] == "numpy":
        return called(thing)
    name = getattr(thing, "__qualname__", None) or getattr(thing, "name", type(thing).__name__)
    return str(name) if module in ("__main__", "builtins", "None") else f"{module}.{name}"


def unwrapped_of(thing: Any) -> Any:
    """Give the function behind what it is wrapped in."""
    while True:
        if isinstance(thing, functools.partial):
            thing = thing.func
        elif isinstance(thing, (types.MethodType, staticmethod, classmethod)):
            thing = thing.__func__
        elif isinstance(thing, property) and thing.fget is not None:
            thing = thing.fget
        elif isinstance(thing, Guarded) or type(thing).__name__ == "Differentiable":
            thing = thing.function
        elif type(thing).__name__ == "_lru_cache_wrapper":
            thing = thing.__wrapped__
        else:
            return thing


def named_in(function: Any) -> Iterator[Any]:
    """Give the objects that a function names: globals and what it closes over, and their parts."""
    code = function.__code__
    known = {**vars(builtins), **function.__globals__}
    known = {name: known[name] for name in variables_read(code) if name in known}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        known[name] = content_of(cell, None)
    words, tree = set(words_of(code)), tree_of(code)
    modules = (each for each in known.values() if isinstance(each, types.ModuleType))
    parts = (getattr(each, name, None) for each in modules for name in words)
    found = [*known.values(), *parts]
    if tree is not None:
        found = [meant(each, known, words) for each in ast.walk(tree)]
    for each in found:
        if callable(each) and type(replaced(each)) is not Ufunc:
            yield unwrapped_of(each)


def meant(node: ast.AST, known: Mapping[str, Any], words: set[str]) -> Any:
    """Give what a name stands for, or an attribute of a module that code looks up; or None."""
    match node:
        case ast.Name(name):
            return known.get(name)
        case ast.Attribute(holder, name) if name in words:
            module = meant(holder, known, words)
            return getattr(module, name, None) if isinstance(module, types.ModuleType) else None
    return None
