"""The public face of a subpackage: rules of ours, and copies of what SciPy writes in Python.

A name of SciPy's module that no rule is written for is a copy of SciPy's own code that takes
handles (`tape_ad.transforms.differentiable`), made when it is first asked for.
"""

import sys
import types
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from tape_ad import differentiable
from tape_ad.extend.packages import hint_for, listed, published
from tape_ad.scipy import stand_ins  # noqa: F401 - for steps of SciPy's own code


def face(
    module: str,
    *tables: Mapping[str, Any],
    packages: Iterable[str] = (),
    also: Iterable[str] = (),
    around: Mapping[str, Callable[[Any], Any]] = MappingProxyType({}),
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Publish what a module has in common with SciPy's, what tables have, and copies of the rest.

    They become the module's ``__all__``. Names for which there is a hint what to write instead are
    left out, and modules and what is no code.

    Parameters
    ----------
    module : str
        Its name: "tape_ad.scipy.signal" has SciPy's functions of `scipy.signal`.
    *tables : mapping of str
        Functions and classes by their names, which become attributes of the module.
    packages : iterable of str
        The modules in it that are public.
    also : iterable of str
        Public names that are not SciPy's.
    around : mapping of str to callable
        For some of the copies, by their names, what makes of one the function that is public.

    Returns
    -------
    callable, callable
        The module's ``__getattr__`` and its ``__dir__``.
    """
    rest, _ = published(module, *tables, packages=packages, also=also)
    space, theirs = vars(sys.modules[module]), sys.modules[module.removeprefix("tape_ad.")]
    copied = {
        name
        for name in theirs.__all__
        if name not in space and not hint_for(module, name) and is_code(getattr(theirs, name, None))
    }
    copies: dict[str, Any] = {}  # not the module's own: a counterpart is what has a rule
    names = space["__all__"] = sorted(copied.union(space["__all__"]))

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes one
        if name not in copied:
            return rest(name)
        if name not in copies:
            copy = differentiable(getattr(theirs, name))
            copies[name] = around[name](copy) if name in around else copy
        return copies[name]

    return __getattr__, listed(names)


def with_rules(module: str, rules: Mapping[Any, Any]) -> dict[str, Any]:
    """Give the functions of a table of rules that a module has from SciPy's, by their names."""
    theirs = sys.modules[module.removeprefix("tape_ad.")].__all__
    return {each.__name__: each for each in rules if getattr(each, "__name__", "") in theirs}


def is_code(thing: Any) -> bool:
    """Tell whether something is a function or class of Python that computes."""
    if isinstance(thing, type):
        own = (each for kind in thing.__mro__ for each in vars(kind).values())
        return not issubclass(thing, BaseException) and any(
            isinstance(each, types.FunctionType) for each in own
        )
    return isinstance(thing, types.FunctionType) or hasattr(thing, "__wrapped__")
