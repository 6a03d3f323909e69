"""`install_as_autograd`: a package that imports autograd gets what stands here."""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Self

from attrs import define, field

__all__ = ["Installed", "install_as_autograd", "uninstall_autograd"]

OURS = "tape_ad.interop.autograd"
NAME = "autograd"


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
        ours = importlib.util.find_spec(OURS + fullname.removeprefix(NAME))
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
