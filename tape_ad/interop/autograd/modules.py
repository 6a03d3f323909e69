"""HIPS autograd's tree of modules: how it is published here, and installed under its own name."""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Self

from attrs import define, field

__all__ = ["Installed", "falling_back", "install_as_autograd", "publish", "uninstall_autograd"]

OURS = "tape_ad.interop.autograd"
NAME = "autograd"


KEPT = frozenset({"__all__", "__path__", "__file__", "__getattr__", "__dir__", "__wrapped__"})
"""What a module has of its own, or not at all."""


def found_in(sources: Sequence[str]) -> Iterator[tuple[Any, list[str] | None]]:
    """Yield modules and other objects by their names, each with what is taken of it, if not all."""
    for source in sources:
        name, _, taken = source.partition(":")
        yield pkgutil.resolve_name(name), taken.split() or None


def falling_back(namespace: dict[str, Any], *sources: str) -> Callable[[str], Any]:
    """Make a module's ``__getattr__``, which looks in other modules and keeps what it finds.

    Parameters
    ----------
    namespace : dict
        The module's ``globals()``.
    *sources : str
        Where to look, in that order: the names of modules, or of objects in them; ``"module:a b"``
        has `a` and `b` alone. They are imported when they are first looked into.

    Returns
    -------
    callable
    """

    def look_up(name: str) -> Any:
        if name not in KEPT:
            for source, taken in found_in(sources):
                if (taken is None or name in taken) and hasattr(source, name):
                    found = namespace[name] = getattr(source, name)
                    return found
        elif name == "__all__":
            return sorted(names())
        raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")

    def names() -> set[str]:
        """List what there is: the names that are given, and those of modules."""
        found: set[str] = set()
        for source, taken in found_in(sources):
            found.update(getattr(source, "__all__", ()) if taken is None else taken)
        return found

    return look_up


def publish(package: str, rows: Mapping[str, Sequence[str]]) -> None:
    """Make modules below another one, which have no files: all their names are those of others.

    Parameters
    ----------
    package : str
    rows : mapping of str to (sequence of str)
        The sources of each: see `falling_back`. A row for a package stands above its modules.
    """
    for name, sources in rows.items():
        full = f"{package}.{name}"
        parent, _, last = full.rpartition(".")
        module: Any = ModuleType(full, f"The names of {', '.join(sources) or 'none'}.")
        module.__spec__ = ModuleSpec(full, None)
        module.__package__ = parent
        module.__getattr__ = falling_back(vars(module), *sources)
        module.__dir__ = lambda module=module: sorted({*vars(module), *module.__all__})
        sys.modules[full] = module
        vars(sys.modules[parent]).setdefault(last, module)


def is_named_so(name: str) -> bool:
    """Tell whether a module's name is autograd, or below it."""
    return name == NAME or name.startswith(f"{NAME}.")


@define(eq=False)
class Alias(MetaPathFinder, Loader):
    """Finds ``autograd`` and what is below it among this library's modules.

    Each is looked up when it is imported, so that those which need SciPy wait until then.
    """

    replaced: dict[str, ModuleType] = field(factory=dict)
    specs: dict[str, Any] = field(factory=dict)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of that name, if there is one here."""
        if not is_named_so(fullname):
            return None
        name = OURS + fullname.removeprefix(NAME)
        if name != OURS:
            importlib.import_module(name.rpartition(".")[0])  # which may publish it
        ours = importlib.util.find_spec(name)
        if ours is None:
            return None
        return ModuleSpec(fullname, self, is_package=ours.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Give this library's module, which has been made already or is made now."""
        module = importlib.import_module(OURS + spec.name.removeprefix(NAME))
        self.specs[spec.name] = module.__spec__
        for name, each in list(sys.modules.items()):  # also those that it has imported
            if name.startswith(f"{OURS}."):
                sys.modules.setdefault(NAME + name.removeprefix(OURS), each)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module back its own spec, in place of that which Python has put there."""
        spec = module.__spec__
        if spec is not None and spec.name in self.specs:
            module.__spec__ = self.specs.pop(spec.name)


ALIAS = Alias()


class Installed:
    """What `install_as_autograd` gives; at the end of a ``with`` block the name is free again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        uninstall_autograd()


def install_as_autograd(*, replace: bool = False) -> Installed:
    """Let ``import autograd``, and all modules below it, give `tape_ad.interop.autograd`.

    It has to be called before anything imports HIPS autograd, which need not be installed. Packages
    that were imported before keep what they have.

    Parameters
    ----------
    replace : bool
        Take the name also where HIPS autograd has been imported. What holds its functions keeps
        them, and handles of the one are nothing to the other.

    Returns
    -------
    Installed
        A context manager that calls `uninstall_autograd`; it may be dropped.

    Raises
    ------
    ImportError
        When HIPS autograd has been imported, and `replace` is false.

    Examples
    --------
    >>> with install_as_autograd(replace=True):
    ...     import autograd
    ...     import autograd.numpy as np
    >>> autograd.grad(np.sin)(0.0)
    np.float64(1.0)
    """
    if ALIAS in sys.meta_path:
        return Installed()
    present = {name: module for name, module in sys.modules.items() if is_named_so(name)}
    if present and not replace:
        raise ImportError(
            "autograd has been imported already, and what imported it keeps it; call "
            "install_as_autograd() first, or with replace=True for what is imported from now on"
        )
    for name in present:
        del sys.modules[name]
    ALIAS.replaced = present
    sys.meta_path.insert(0, ALIAS)
    return Installed()


def uninstall_autograd() -> None:
    """Free the name again; HIPS autograd has it as before, if it was imported."""
    if ALIAS not in sys.meta_path:
        return
    sys.meta_path.remove(ALIAS)
    for name in [name for name in sys.modules if is_named_so(name)]:
        del sys.modules[name]
    sys.modules.update(ALIAS.replaced)
    ALIAS.replaced = {}
