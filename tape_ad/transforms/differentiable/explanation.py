"""What `tape_ad.differentiable` makes of a function: what it copies, and where it would stop."""

import builtins
import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.naming import called
from tape_ad.transforms.differentiable.compiled import Guarded, is_compiled
from tape_ad.transforms.differentiable.copying import converted, is_copied_module, module_of
from tape_ad.transforms.differentiable.table import ABSENT, replaced

__all__ = ["Explanation", "explain"]

MOST = 2000
"""How many functions are looked into."""

ABSENT_NAME: Any = object()


@frozen(repr=False)
class Explanation:
    """What becomes of the functions that a function names, and that those name in turn.

    Attributes
    ----------
    copied : tuple of str
        The functions and classes that are copied.
    rules : tuple of str
        Those of Python, NumPy's conversions and SciPy that others stand for, which take handles.
    stops : tuple of str
        The compiled functions without a rule, which refuse handles.
    """

    copied: tuple[str, ...] = field(factory=tuple)
    rules: tuple[str, ...] = field(factory=tuple)
    stops: tuple[str, ...] = field(factory=tuple)

    def __repr__(self) -> str:
        parts = (
            ("copied", self.copied),
            ("by a rule or a stand-in", self.rules),
            ("compiled, so handles are refused", self.stops),
        )
        return "\n".join(
            f"{title} ({len(names)}): {', '.join(names) or 'none'}" for title, names in parts
        )


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
    copied, rules, stops = dict[str, None](), dict[str, None](), dict[str, None]()
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
        elif is_compiled(each):
            stops[title(each)] = None
        elif isinstance(each, types.FunctionType) and is_copied_module(module_of(each)):
            copied[title(each)] = None
            waiting += named_in(each, each.__code__)
        elif isinstance(each, type) and converted(each) is not each:
            copied[title(each)] = None
            waiting += [unwrapped_of(value) for value in vars(each).values()]
    return Explanation(*(tuple(sorted(names)) for names in (copied, rules, stops)))


def title(thing: Any) -> str:
    """Name a function or class with its module, unless that is the user's or Python's own."""
    module = str(getattr(thing, "__module__", None))
    if module.startswith("numpy"):
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


def named_in(function: Any, code: types.CodeType) -> Iterator[Any]:
    """Give the objects that a function names: globals and what it closes over, and their parts."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found: Any = ABSENT_NAME
    for each in dis.get_instructions(code):
        if each.opname == "LOAD_GLOBAL":
            yield from parts_of(found)
            known = getattr(builtins, each.argval, ABSENT_NAME)
            found = function.__globals__.get(each.argval, known)
        elif each.opname == "LOAD_DEREF" and each.argval in cells:
            yield from parts_of(found)
            try:
                found = cells[each.argval].cell_contents
            except ValueError:
                found = ABSENT_NAME
        elif each.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(found, types.ModuleType):
            found = getattr(found, each.argval, ABSENT_NAME)
        elif each.opname not in ("CACHE", "PUSH_NULL", "PRECALL"):
            yield from parts_of(found)
            found = ABSENT_NAME
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from named_in(function, constant)


def parts_of(found: Any) -> Iterator[Any]:
    """Give an object that is named, if it can be called."""
    if found is not ABSENT_NAME and callable(found) and not isinstance(found, np.ufunc):
        yield unwrapped_of(found)
