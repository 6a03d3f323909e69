"""The registry of adapters: which module serves another package's functions and arrays.

A layer below asks for an adapter by the name of what it has met, and never imports a layer above.
`tape_ad` itself registers those for the libraries that it knows. An installed distribution brings
one for any other package by an entry point of the group ``tape_ad``, whose name is that of the
package that it serves. No adapter is imported before somebody meets a function or an array of its
package.
"""

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tape_ad.base.errors import AdapterError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


GROUP = "tape_ad"
"""The group of entry points."""

UNSERVED = frozenset({"", "__main__", "numpy", "tape_ad"}) | sys.stdlib_module_names
"""Packages whose functions and arrays need no adapter, so nobody looks for one."""

MODULES: dict[str, str] = {}
"""The module of each adapter, imported when it is first asked for."""


def register_adapter(name: str, module: str) -> None:
    """Say which module serves a package's functions and arrays.

    An installed package says it by an entry point; this is for a program that brings its own.

    Parameters
    ----------
    name : str
        What is served: ``"dask"``, ``"array_api"``, ``"scipy.special"``. Where it is the name of a
        package, functions and arrays of that package are looked for there.
    module : str
        The full name of the module, which is imported when it is first needed. Importing it adds
        rules (`add_rules`). It may have a function ``operand(array)``, which gives an array of the
        package's, of a type with NumPy's `shape` and `dtype`, as one that handles can stand for,
        and what is one already as it is. And it may have ``counterpart(original, default)``, which
        gives what stands for an object of the package's in copies of code
        (`tape_ad.differentiable`), or the default.

    Raises
    ------
    ValueError
        When another module serves it already.

    Examples
    --------
    >>> register_adapter("orbits", "orbits_with_rules")
    >>> register_adapter("orbits", "other_rules")
    Traceback (most recent call last):
        ...
    ValueError: 'orbits' is served by orbits_with_rules already
    """
    if MODULES.setdefault(name, module) != module:
        raise ValueError(f"{name!r} is served by {MODULES[name]} already")
    operand_of.cache_clear()


def adapter(name: str) -> ModuleType:
    """Import the module that serves a package's functions and arrays.

    Raises
    ------
    KeyError
        When none is registered or installed under that name.
    AdapterError
        When the one that a distribution brings cannot be imported.
    """
    if name in MODULES:
        return importlib.import_module(MODULES[name])
    return loaded(installed(tuple(sys.path))[name])


def adapter_of(thing: Any) -> ModuleType | None:
    """Import the adapter for the package that a function or a type is of; None where there is none.

    Raises
    ------
    AdapterError
        When the one that a distribution brings cannot be imported.
    """
    module = getattr(thing, "__module__", None)
    package = module.partition(".")[0] if type(module) is str else ""
    if package in UNSERVED:
        return None
    known = package in MODULES or package in installed(tuple(sys.path))
    return adapter(package) if known else None


def adapters_met(function: Any) -> Iterator[ModuleType]:
    """Import the adapters that may know a function.

    A ufunc in C does not tell what package it is of. So for one, these are all those of other
    packages that have been imported.
    """
    function = getattr(function, "__self__", function)  # of a method of a ufunc's
    if getattr(function, "__module__", None) is not None:
        found = adapter_of(function)
        if found is not None:
            yield found
        return
    own = {name for name, module in MODULES.items() if module.startswith("tape_ad.")}
    for name in sorted({*MODULES, *installed(tuple(sys.path))} - own):
        if name in sys.modules:
            yield adapter(name)


@functools.lru_cache(maxsize=4096)
def operand_of(kind: type) -> Callable[[Any], Any] | None:
    """Find what takes arrays of a type below records: an adapter's `operand`; None for others."""
    for base in kind.__mro__:
        found = adapter_of(base)
        if found is not None and hasattr(found, "operand"):
            operand: Callable[[Any], Any] = found.operand
            return operand
    return None


@functools.lru_cache(maxsize=1)
def installed(path: tuple[str, ...]) -> dict[str, tuple["EntryPoint", ...]]:
    """List the entry points of the distributions on a path, by the packages that they serve."""
    metadata = importlib.import_module("importlib.metadata")  # which takes a while, and few need it
    found = metadata.entry_points(group=GROUP)
    return {name: tuple(found.select(name=name)) for name in found.names}


def loaded(points: tuple["EntryPoint", ...]) -> ModuleType:
    """Import what an entry point names.

    Raises
    ------
    AdapterError
        When that fails, or two distributions serve the same package.
    """
    if len({point.value for point in points}) > 1:
        raise AdapterError(
            f"{points[0].name} is served by two distributions, "
            f"{' and '.join(map(described, points))}; uninstall one of them"
        )
    try:
        module: ModuleType = points[0].load()
    except Exception as error:
        raise AdapterError(
            f"the rules for {points[0].name} that {described(points[0])} brings cannot be "
            f"imported ({type(error).__name__}: {error}); update that distribution, or uninstall it"
        ) from error
    return module


def described(point: "EntryPoint") -> str:
    """Name a distribution and its entry point, for an error."""
    of = "a distribution" if point.dist is None else f"{point.dist.name} {point.dist.version}"
    return f"{of} (entry point {point.name} = {point.value})"
