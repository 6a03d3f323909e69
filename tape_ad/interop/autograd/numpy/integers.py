"""NumPy's types of whole numbers, which take handles: nothing whole has a derivative."""

from typing import Any

import numpy as np

from tape_ad.interop.autograd.values import plain

__all__ = ["int8", "int16", "int32", "int64", "int_"]


class OfIntegers(type):
    """Lets NumPy's own numbers be instances of these types."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__base__)  # type: ignore[arg-type]  # which is NumPy's


def taking_handles(kind: Any) -> Any:
    """Make a type like one of NumPy's, also as a dtype, which is called on handles as well."""

    def converted(cls: type, *args: Any) -> Any:
        return kind(*map(plain, args))

    return OfIntegers(kind.__name__, (kind,), {"__new__": converted, "__slots__": ()})


int8: Any = taking_handles(np.int8)
int16: Any = taking_handles(np.int16)
int32: Any = taking_handles(np.int32)
int64: Any = taking_handles(np.int64)
int_: Any = {np.int32: int32, np.int64: int64}[np.int_]
