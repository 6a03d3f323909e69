"""Names for what a written program speaks of."""

import builtins
import keyword
import re
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.naming import function_name

__all__ = ["Names"]

OURS = "Diverged np base64 replay answer _ idle work workspace memory part start"
"""What the texts call their own things."""


@define(eq=False)
class Names:
    """Names that are all different, and the objects that some of them stand for.

    Attributes
    ----------
    bound : dict of str to any
        Functions, arrays and other objects that a text refers to by name.
    """

    bound: dict[str, Any] = field(factory=dict)
    taken: set[str] = field(factory=lambda: {*dir(builtins), *keyword.kwlist, *OURS.split()})
    _of: dict[Any, str] = field(factory=dict)
    _last: dict[str, int] = field(factory=dict)
    _free: list[str] = field(factory=list)
    _count: int = 0

    def new(self, wish: str) -> str:
        """Make a name from what one would like to call it."""
        stem = re.sub(r"\W+", "_", wish).strip("_") or "x"
        stem = stem if stem.isidentifier() else f"x_{stem}"
        name, number = stem, self._last.get(stem, 1)
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self._last[stem] = number  # or thousands of constants would be counted through for each
        self.taken.add(name)
        return name

    def function(self, function: Any) -> str:
        """Name a function, and bind it."""
        try:
            name = self._of.get(function)
        except TypeError:  # no hash
            return self.object(function, "function")
        if name is None:
            wish = function_name(function)
            if getattr(builtins, wish, None) is function:
                return wish
            name = self._of[function] = self.new(wish)
            self.bound[name] = function
        return name

    def object(self, thing: Any, stem: str) -> str:
        """Name any other object, and bind it; the very same one has one name."""
        return self._named(("object", id(thing)), stem, thing)  # its id stays its own while bound

    def dtype(self, dtype: np.dtype[Any]) -> str:
        """Name a dtype, and bind it."""
        return self._named(("dtype", dtype.str), dtype.name, dtype)

    def number(self, number: complex, dtype: np.dtype[Any]) -> str:
        """Name an array that holds one number, and bind it."""
        key = "number", repr(number), dtype.num, dtype.byteorder
        name = self._of.get(key)
        return name or self._named(key, f"number_{number}", np.array(number, dtype))

    def _named(self, key: Any, wish: str, thing: Any) -> str:
        name = self._of.get(key)
        if name is None:
            name = self._of[key] = self.new(wish)
            self.bound[name] = thing
        return name

    def value(self) -> str:
        """Name a value: one that is free again, so that what it stood for goes, or a new one."""
        if self._free:
            return self._free.pop()
        while True:
            self._count += 1
            name = f"v{self._count}"
            if name not in self.taken:
                self.taken.add(name)
                return name

    def free(self, name: str) -> None:
        """Give a value's name back."""
        self._free.append(name)

    def is_free(self, name: str) -> bool:
        """Tell whether a value's name has been given back and not been taken again."""
        return name in self._free
