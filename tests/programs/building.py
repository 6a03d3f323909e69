"""Programs made by hand: each call is computed as it is noted."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.program import Call, Constant, Guard, Program, Value, replaced

__all__ = ["Builder", "same_bits"]


@define(eq=False)
class Builder:
    """A program in the making.

    Examples
    --------
    >>> b = Builder()
    >>> x = b.input(np.array([1.0, 2.0]), "x")
    >>> print(b.program(b(np.add, x, 1.0)))
    %0: float64[2] = input x
    %1: float64[2] = add %0 1.0
    return %1
    """

    concrete: dict[Value, Any] = field(factory=dict)
    inputs: list[Value] = field(factory=list)
    constants: list[Constant] = field(factory=list)
    steps: list[Any] = field(factory=list)

    def known(self, concrete: Any, name: str = "") -> Value:
        """Describe an array, and find out whose memory it lies in."""
        owner = None
        if isinstance(concrete, np.ndarray):
            for value, other in self.concrete.items():
                if isinstance(other, np.ndarray) and np.may_share_memory(concrete, other):
                    owner = value.owner or value
                    break
        value = Value.like(concrete, owner, name)
        self.concrete[value] = concrete
        return value

    def input(self, concrete: Any, name: str = "") -> Value:
        """Add an input."""
        self.inputs.append(self.known(concrete, name))
        return self.inputs[-1]

    def constant(self, array: Any) -> Value:
        """Add a constant."""
        value = self.known(array)
        self.constants.append(Constant(value, array, "line 1 of test.py"))
        return value

    def literal(self, array: Any) -> Value:
        """Add a constant that nobody else has; the builder goes on with a copy."""
        value = self.constant(array)
        self.concrete[value] = array.copy()
        return value

    def __call__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Add a call."""
        return self.call(function, args, kwargs)

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        errors: Mapping[str, Any] | None = None,
    ) -> Any:
        """Add a call that runs in a `numpy.errstate`."""
        with np.errstate(**(errors or {})):
            out = function(*replaced(args, self.concrete), **replaced(kwargs, self.concrete))
        several = isinstance(out, (tuple, list))
        values = tuple(map(self.known, out if several else (out,)))
        self.steps.append(Call(function, args, kwargs, values, several, errors))
        return values if several else values[0]

    def item(self, x: Value, key: Any) -> Value:
        """Add ``x[key]``."""
        value: Value = self(operator.getitem, x, key)
        return value

    def guard(self, question: Callable[..., Any], value: Value) -> None:
        """Add a guard."""
        answer = question(self.concrete[value])
        self.steps.append(Guard(question, value, answer, "line 2 of test.py"))

    def program(self, output: Any, name: str = "f") -> Program:
        """Finish."""
        return Program(name, tuple(self.inputs), tuple(self.constants), tuple(self.steps), output)


def same_bits(one: Any, other: Any) -> None:
    """Compare two results: their types, layouts and bits."""
    assert type(one) is type(other)
    if isinstance(one, (np.ndarray, np.generic)):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    if isinstance(one, np.ndarray):
        assert one.strides == other.strides
    if isinstance(one, float):
        assert one.hex() == other.hex()
    elif not isinstance(one, (np.ndarray, np.generic)):
        assert one == other
