"""Modules that have the names of another one, but for some of their own."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["falling_back"]

KEPT = frozenset({"__all__", "__path__", "__file__", "__getattr__", "__dir__", "__wrapped__"})
"""What a module has of its own, or not at all."""


def falling_back(namespace: dict[str, Any], *others: ModuleType) -> Callable[[str], Any]:
    """Make a module's ``__getattr__``, which looks in other modules and keeps what it finds.

    Parameters
    ----------
    namespace : dict
        The module's ``globals()``.
    *others : module
        Where to look, in that order.

    Returns
    -------
    callable
    """

    def look_up(name: str) -> Any:
        for other in others:
            if name not in KEPT and hasattr(other, name):
                found = namespace[name] = getattr(other, name)
                return found
        raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")

    return look_up
