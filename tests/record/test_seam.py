"""The seam: another kind of record is one class, and so is another kind of array below records."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.record.array_interface import ArrayInterface
from tape_ad.record.record import ComputationRecord
from tests.functions import AT, HESSIANS_OF

OTHER = np.array([0.3, -0.8, 1.1, 0.6])


class CallKeeper(ComputationRecord):
    """A record that keeps the calls it is told of, so that they can be made again."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[Any, Any, Mapping[str, Any], int | None]] = []

    def note(
        self,
        function: Any,
        operands: Any,
        options: Any,
        data: Any,
        parents: Any = (),
        partials: Any = (),
        output: int | None = None,
        beside: Any = None,
    ) -> Any:
        handle = super().note(function, operands, options, data, parents, partials, output, beside)
        kept = map_leaves(self.place, (operands, dict(options)))
        self.told.append((function, *kept, output))
        return handle

    def place(self, leaf: Any, path: str) -> Any:
        """Take a handle to its index."""
        return Place(leaf.index) if isinstance(leaf, ta.Tensor) else leaf

    def again(self, leaf: Any) -> Any:
        """Make all calls once more, with another value for the first leaf."""
        values: list[Any] = []
        for function, operands, options, output in self.told:
            args, kwargs = map_leaves(
                lambda each, path: values[each] if isinstance(each, Place) else each,
                (operands, options),
            )
            out = leaf if function is None else function(*args, **kwargs)
            values.append(out if output is None else out[output])
        return values[-1]


class Place(int):
    """The index of a node."""


@pytest.mark.parametrize("name", sorted(HESSIANS_OF.keys() - {"where"}))  # a mask is plain data
def test_a_record_is_told_enough_to_make_all_calls_again(name: str) -> None:
    record = CallKeeper()
    function = HESSIANS_OF[name]
    out: Any = function(record.tensor(AT))
    assert out.record is record
    np.testing.assert_allclose(record.again(OTHER), function(OTHER), rtol=1e-12)


class TracedArray(ArrayInterface):
    """A stand-in for an array that notes every call on it in a list, and lies below records."""

    program: list[tuple[Any, Any, Any]]

    def __init__(self, data: Any, place: int) -> None:
        self.data, self.index = data, place

    @classmethod
    def input(cls, value: Any) -> "TracedArray":
        cls.program = [(None, (), {})]
        return cls(value, 0)


def captured(function: Any, args: Any, kwargs: Any = None) -> Any:
    """Compute a function of captured arrays at once, and note the call."""
    options = kwargs or {}
    out = function(*map_leaves(concrete, args), **map_leaves(concrete, options))
    if not isinstance(out, (np.ndarray, np.generic, tuple)):
        return out  # a dtype, for example
    TracedArray.program.append((function, args, options))
    place = len(TracedArray.program) - 1
    if not isinstance(out, tuple):
        return TracedArray(out, place)
    return tuple(captured(operator.getitem, (TracedArray(out, place), i)) for i in range(len(out)))


def answered(function: Any, args: Any, kwargs: Any = None) -> Any:
    """Leave calls with handles to them, as they stand above."""
    above = any(isinstance(leaf, ta.Tensor) for leaf in flatten((args, kwargs)))
    return NotImplemented if above else captured(function, args, kwargs)


def concrete(leaf: Any, path: str = "") -> Any:
    return leaf.data if isinstance(leaf, TracedArray) else leaf


def replayed(value: Any) -> Any:
    """Run the program on another input."""
    values: list[Any] = [value]

    def found(leaf: Any, path: str) -> Any:
        return values[leaf.index] if isinstance(leaf, TracedArray) else leaf

    for function, args, options in TracedArray.program[1:]:
        values.append(function(*map_leaves(found, args), **map_leaves(found, options)))
    return values


TracedArray.answer_with(
    call=captured,
    answer=answered,
    one=lambda function, x: captured(function, (x,)),
    two=lambda function, x, y: answered(function, (x, y)),
    item=lambda x, key: captured(operator.getitem, (x, key)),
    assign=lambda x, key, value: None,
    change=lambda function, x, other: captured(function, (x, other)),
)

TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "gradient": ta.grad,
    "Hessian": ta.hessian,
    "forward Jacobian of the gradient": lambda f: ta.jacobian(ta.grad(f), mode="forward"),
    "tangent": lambda f: lambda x: ta.jvp(f, (x,), (np.ones(4),))[1],
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", HESSIANS_OF)
def test_rules_maps_sweeps_and_transforms_run_on_another_kind_of_array(
    name: str, transform: str
) -> None:
    derivative = TRANSFORMS[transform](HESSIANS_OF[name])
    result = derivative(TracedArray.input(AT))
    place = result.index
    np.testing.assert_allclose(result.data, derivative(AT), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(replayed(OTHER)[place], derivative(OTHER), rtol=1e-9, atol=1e-11)
