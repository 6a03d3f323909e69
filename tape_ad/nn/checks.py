"""What is given to layers, checked where they are made."""

import operator
from numbers import Real
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt
from attrs import Attribute

__all__ = [
    "as_dtype",
    "as_length",
    "check_eps",
    "check_generator",
    "check_probability",
    "check_step",
    "floating",
    "is_number",
    "named",
    "not_negative",
    "positive",
    "probability",
]


def check_generator(rng: Any) -> None:
    """Check what parameters are drawn with."""
    if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
        raise TypeError(
            "parameters are drawn with a generator, such as rng = np.random.default_rng(0), got "
            f"{rng!r}"
        )


def check_step(takes: str, step: Any) -> None:
    """Check that something is a layer, or a function that counts as one."""
    if isinstance(step, type):
        raise TypeError(f"{takes} layers, got the class {step.__name__}; make one of it")
    if not callable(step):
        raise TypeError(f"{takes} layers, and functions of one array, got {step!r}")


def named(layer: Any, attribute: "Attribute[str]", value: Any) -> None:
    """Check that a name is there to tell one layer's parameters from another's."""
    if not isinstance(value, str) or not value:
        raise ValueError(
            f"{type(layer).__name__}: the name must be a string that is not empty, got {value!r}"
        )


def positive(layer: Any, attribute: "Attribute[int]", value: int) -> None:
    """Check a length of an axis."""
    if value < 1:
        raise ValueError(
            f"{type(layer).__name__}: {attribute.name} must be at least 1, got {value}"
        )


def as_length(value: SupportsIndex) -> int:
    """Make a Python number of one that counts something."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"the lengths, steps and numbers of a layer are whole numbers, got {value!r}"
        ) from None


def as_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Make a dtype of what NumPy takes for one."""
    return np.dtype(dtype)


def floating(layer: Any, attribute: "Attribute[Any]", value: np.dtype[Any]) -> None:
    """Check a dtype to draw random numbers in."""
    if value.kind != "f":
        raise ValueError(
            f"{type(layer).__name__}: the dtype must be a real floating one, got {value}"
        )


def probability(layer: Any, attribute: "Attribute[float]", value: float) -> None:
    """Check that an attribute of a layer is a probability."""
    check_probability(f"{type(layer).__name__}: {attribute.name}", value)


def check_probability(what: str, value: float) -> None:
    """Check that a number is a probability."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{what} must lie in [0, 1], got {value!r}")


def is_number(value: Any) -> bool:
    """Tell whether something is a number, or an array or a handle of some."""
    return isinstance(value, Real) or hasattr(value, "dtype")


def check_eps(name: str, eps: float) -> None:
    """Check what is added to a variance: below 0, it would make a root of a negative number."""
    if not is_number(eps) or not eps >= 0:
        raise ValueError(f"{name}: eps must be a number of at least 0, got {eps!r}")


def not_negative(layer: Any, attribute: "Attribute[float]", value: float) -> None:
    """Check that the epsilon of a layer is not negative."""
    check_eps(type(layer).__name__, value)
