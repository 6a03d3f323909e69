"""The registry of adapters: which module serves another library's arrays or tables.

A layer below asks for an adapter by the name of what it has met, and never imports a layer above.
`tape_ad` itself fills the registry.
"""

import importlib
from types import ModuleType

__all__ = ["adapter", "register_adapter"]

MODULES: dict[str, str] = {}
"""The module of each adapter, imported when it is first asked for."""


def register_adapter(name: str, module: str) -> None:
    """Say which module serves a library's arrays or tables.

    Parameters
    ----------
    name : str
        What is served: ``"dask"``, ``"array_api"``, ``"scipy.special"``.
    module : str
        The full name of the module, which is imported when it is first needed.

    Raises
    ------
    ValueError
        When another module serves it already.
    """
    if MODULES.setdefault(name, module) != module:
        raise ValueError(f"{name!r} is served by {MODULES[name]} already")


def adapter(name: str) -> ModuleType:
    """Import the module that serves a library's arrays or tables.

    Raises
    ------
    KeyError
        When none is registered under that name.
    """
    return importlib.import_module(MODULES[name])
