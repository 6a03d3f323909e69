"""Methods of copied classes that users call themselves, with objects of the original classes."""

import dataclasses
import math
import operator
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

REGISTRY: dict[str, Any] = {}


class Registry:
    """What quantities belong to, as those of a package of units."""

    def __init__(self) -> None:
        self.made = 0

    def count(self) -> None:
        self.made += 1


SHARED = Registry()


class Quantity:
    """A quantity of a registry, which is compared by identity."""

    last: Any = None

    def __init__(self, value: Any, power: int = 1) -> None:
        self.value, self.power, self.registry = value, power, SHARED
        self.registry.count()

    def __hash__(self) -> int:
        return hash(self.power)

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, Quantity) and self.power == other.power

    def check(self, other: Any) -> None:
        if self.registry is not other.registry or type(self) is not type(other):
            raise ValueError("of different registries")

    def __mul__(self, other: Any) -> Any:
        self.check(other)
        return Quantity(self.value * np.asarray(other.value), self.power + other.power)

    __rmul__ = __mul__

    def times(self, other: Any) -> Any:
        return self * other

    @classmethod
    def product(cls, one: Any, other: Any) -> Any:
        return cls(one.value, one.power) * other

    @staticmethod
    def of(one: Any, other: Any) -> Any:
        return one * other

    @property
    def squared(self) -> Any:
        Quantity.last = self * self
        return Quantity.last

    def leave(self, other: Any) -> Any:
        REGISTRY["left"] = np.zeros(2)
        other.notes = [np.ones(2), Registry()]
        return self


Copy: Any = ta.differentiable(Quantity)

WAYS = {
    "operator": operator.mul,
    "method": lambda one, other: one.times(other),
    "class method": Copy.product,
    "static method": Copy.of,
}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("both", [False, True])
def test_a_copied_object_meets_one_of_the_original_class(name: str, *, both: bool) -> None:
    other = Quantity(np.array([3.0, 4.0]))

    def product(x: Any) -> Any:
        one = WAYS[name](Copy(x), Copy(other.value) if both else other)
        assert isinstance(one, Quantity)
        assert one.power == 2
        return np.sum(one.value)

    np.testing.assert_array_equal(ta.grad(product)(np.ones(2)), other.value)


def test_an_original_object_meets_a_copied_one() -> None:
    other = Quantity(np.array([3.0, 4.0]))
    slope = ta.grad(lambda x: np.sum((other * Copy(x)).value))(np.ones(2))
    np.testing.assert_array_equal(slope, other.value)


def test_a_property_is_entered_as_a_method_is() -> None:
    slope = ta.grad(lambda x: np.sum(Copy(x).squared.value))(np.ones(2))
    np.testing.assert_array_equal(slope, [2.0, 2.0])


def test_what_a_method_leaves_in_original_objects_is_settled() -> None:
    other = Quantity(1.0)
    Copy(2.0).leave(other)
    kinds = [type(each) for each in (*other.notes, REGISTRY["left"])]  # type: ignore[attr-defined]  # put there
    assert kinds == [np.ndarray, Registry, np.ndarray]


def test_a_method_stays_one_of_the_object_and_can_be_asked_for_its_name() -> None:
    thing = Copy(2.0)
    assert thing.times.__self__ is thing
    assert thing.times.__name__ == "times"
    assert Copy.__dict__["times"] is not Quantity.__dict__["times"]
    assert Quantity(1.0) * Quantity(2.0) == Quantity(3.0, 2)


CHOSEN: ContextVar[Any] = ContextVar("CHOSEN", default=math.sin)


def by_variable(x: Any) -> Any:
    token = CHOSEN.set(math.cos)
    found = CHOSEN.get()(x[0])
    CHOSEN.reset(token)
    return found + CHOSEN.get()(x[1])


TEXT = """
def filled(t):
    values = np.zeros(2)
    values[0] = math.sin(float(t[0]))
    return values.sum() * k
k = 2.0
"""


def by_text(x: Any) -> Any:
    names: dict[str, Any] = {"math": math, "np": np}
    exec(TEXT, names)  # noqa: S102 - what is tested
    assert {"filled", "k", "__builtins__"} <= names.keys()
    assert "__warningregistry__" not in names
    return names["filled"](x) * eval("math.exp(x[1])", {"x": x, "math": math})  # noqa: S307 - as above


@pytest.mark.parametrize("function", [by_variable, by_text])
def test_what_comes_out_of_a_variable_or_a_text_is_a_copy(function: Any) -> None:
    x = np.array([0.3, 0.5])
    slope = [(function(x + h) - function(x - h)) / 2e-6 for h in np.eye(2) * 1e-6]
    np.testing.assert_allclose(ta.grad(ta.differentiable(function))(x), slope, rtol=1e-6)
    assert CHOSEN.get() is math.sin


class Filling:
    def __init__(self) -> None:
        self.values = np.zeros(2)

    def given(self) -> Any:
        return self.values

    def put(self, value: Any) -> Any:
        self.values[0] = value
        return self.values


def test_an_array_that_a_method_has_given_stays_that_of_the_object() -> None:
    thing: Any = ta.differentiable(Filling)()
    values = thing.given()
    thing.put(1.0)
    np.testing.assert_array_equal(values, [1.0, 0.0])
    assert np.array_equal(ta.grad(lambda x: np.sum(thing.put(x) ** 2))(3.0), 6.0)


class Rotation:
    """A product with an order, of which the reflected method thinks of numbers alone."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Rotation):
            return Rotation(self.matrix @ other.matrix)
        return Rotation(self.matrix * other)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __rsub__(self, other: Any) -> Any:
        return Rotation(other - self.matrix)


class Turn(Rotation):
    """One that inherits its products."""


@pytest.mark.parametrize("kind", [Rotation, Turn])
@pytest.mark.parametrize("left", [Rotation, Turn])
def test_the_object_on_the_left_is_asked_first(kind: Any, left: Any) -> None:
    first = np.array([[1.0, 2.0], [3.0, 4.0]])

    def entry(x: Any, kind: Any) -> Any:
        return (left(first) * kind(np.eye(2, k=1) * x)).matrix[0, 1]

    def entries(x: Any) -> Any:
        return entry(x, ta.differentiable(kind))

    assert entries(0.7) == entry(0.7, kind) == 0.7
    assert ta.grad(entries)(0.7) == 1.0


def slope_forward(function: Any) -> Any:
    return lambda x: ta.jvp(function, (x,), (1.0,))[1]


@pytest.mark.parametrize("operation", [operator.mul, operator.sub])
@pytest.mark.parametrize("by", [ta.grad, lambda f: ta.grad(ta.compile(f)), slope_forward])
def test_a_number_is_multiplied_by_an_object_without_sums(operation: Any, by: Any) -> None:
    copy: Any = ta.differentiable(Rotation)

    def entry(x: Any) -> Any:
        return operation(x, copy(np.ones(2) * x)).matrix[0]

    expected = {operator.mul: 1.4, operator.sub: 0.0}[operation]
    np.testing.assert_allclose(by(entry)(0.7), expected, atol=1e-15)


def scalar_or_sum(values: Any) -> Any:
    filled = np.zeros(2)
    filled[:] = values
    try:
        return float(filled)
    except TypeError:
        return filled.sum()


def test_an_array_of_several_elements_is_no_float_for_plain_arrays_either() -> None:
    summed = ta.differentiable(scalar_or_sum)
    assert summed(np.ones(2)) == 2.0
    np.testing.assert_array_equal(ta.grad(lambda x: summed(np.ones(2)) * x[0])(np.ones(2)), [2, 0])
    np.testing.assert_array_equal(ta.grad(summed)(np.ones(2)), np.ones(2))


@dataclasses.dataclass(frozen=True)
class Key:
    """Values with no method but those that are made for them."""

    number: float


def test_objects_without_methods_of_their_own_are_equal_to_originals() -> None:
    copy: Any = ta.differentiable(Key)
    assert copy(2.0) == Key(2.0)
    assert Key(2.0) == copy(2.0) != Key(3.0)
    assert {copy(2.0): "a"}[Key(2.0)] == {Key(2.0): "a"}[copy(2.0)] == "a"
