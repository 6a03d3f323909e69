"""SciPy as it is installed, whichever names that release has.

Tables of rules name hundreds of SciPy's functions, and a release may drop any of them. They are
written ``scipy.signal.sosfreqz`` here as everywhere, but a name that is not there is an error only
where it is called, and all others are as they were.
"""

import importlib
import sys
from types import ModuleType
from typing import Any, NoReturn

ABSENT: Any = object()


class MissingError(AttributeError):
    """A function of SciPy's was called that the installed release has not."""


class Missing:
    """What stands for a function or class that the installed SciPy has not; a call says so.

    Parameters
    ----------
    name : str
        The whole name: "scipy.signal.sosfreqz".

    Examples
    --------
    >>> scipy.signal.no_such_filter
    <missing scipy.signal.no_such_filter>
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.__module__, _, self.__name__ = name.rpartition(".")
        self.__qualname__ = self.__name__

    def __getattr__(self, name: str) -> "Missing":
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.name}.{name}")

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (object,)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise the error that the installed SciPy lacks the function."""
        raise MissingError(f"the installed SciPy has no {self.name}")

    def __eq__(self, other: object) -> bool:
        return type(other) is Missing and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<missing {self.name}>"


class Installed:
    """A module of SciPy's, each name of which is looked up when it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        whole = f"{self._name}.{name}"
        module = sys.modules.get(self._name) or importlib.import_module(self._name)
        found = getattr(module, name, ABSENT)
        if found is ABSENT and name.startswith("__"):
            raise AttributeError(whole)
        if found is ABSENT:
            try:
                found = importlib.import_module(whole)
            except ModuleNotFoundError:
                return Missing(whole)
        if not isinstance(found, ModuleType):
            return found
        self.__dict__[name] = within = Installed(found.__name__)  # looked up in as before
        return within

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module(self._name))


scipy: Any = Installed("scipy")
