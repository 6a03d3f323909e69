"""Classes and functions of all kinds as other people write them, for the tests."""

import asyncio
import contextlib
import dataclasses
import functools
import math
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import attrs
import numpy as np

T = TypeVar("T")


@attrs.define
class Fitted:
    start: Any
    scale: Any = attrs.field(default=1.0, converter=float)
    rate: Any = attrs.field(
        default=0.5, validator=[attrs.validators.instance_of(float), attrs.validators.gt(0)]
    )
    values: Any = attrs.field(factory=lambda: np.zeros(2))

    def __attrs_post_init__(self) -> None:
        self.values = self.values + math.sin(self.start)

    def total(self) -> Any:
        return np.sum(self.values) * self.scale * self.rate


@dataclasses.dataclass(slots=True, order=True)
class Slotted:
    value: Any
    more: Any = dataclasses.field(default_factory=list)
    factor: dataclasses.InitVar[float] = 2.0

    def __post_init__(self, factor: float) -> None:
        self.more = [math.sin(self.value) * factor]

    def doubled(self) -> Any:
        return dataclasses.replace(self, value=self.value * 2, factor=3.0)

    def total(self) -> Any:
        return float(self.value) ** 2 + sum(self.more)


class Temperature:
    __slots__ = ("_kelvin", "name")

    def __init__(self, kelvin: Any) -> None:
        self._kelvin, self.name = float(kelvin), "temperature"

    @property
    def celsius(self) -> Any:
        return self._kelvin - 273.15

    @celsius.setter
    def celsius(self, value: Any) -> None:
        self._kelvin = np.float64(value) * 2 + 273.15


class Doubling:
    """A descriptor."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return getattr(instance, self.name)

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self.name, float(value) * 2)


class Described:
    size = Doubling()

    def __init__(self, size: Any) -> None:
        self.size = size

    def grown(self) -> Any:
        return math.exp(self.size)


class Registering(type):
    registry: ClassVar[dict[str, type]] = {}

    def __new__(cls, name: str, bases: Any, body: Any) -> Any:
        made = super().__new__(cls, name, bases, body)
        cls.registry[name] = made
        return made

    def __call__(cls, *args: Any) -> Any:
        made = super().__call__(*args)
        made.is_made = True
        return made


class Wave(metaclass=Registering):
    is_made = False

    def __init__(self, phase: Any) -> None:
        self.phase = phase

    def value(self) -> Any:
        return math.sin(self.phase) * self.is_made


class Louder(Wave):
    def value(self) -> Any:
        return super().value() * 2


class Dispatching:
    @functools.singledispatchmethod
    def applied(self, value: Any) -> Any:
        return 0.0

    @applied.register(float)
    def _(self, value: Any) -> Any:
        return math.sin(value)

    @applied.register(list)
    def _(self, value: Any) -> Any:
        return sum(map(math.exp, value))


class Box(Generic[T]):
    def opened(self, value: Any) -> Any:
        return math.exp(value)


class Pair(NamedTuple):
    first: Any
    second: Any

    def product(self) -> Any:
        return math.exp(self.first) * self.second


class Twice:
    """A decorator that is a class."""

    def __init__(self, function: Any) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        return self.function(*args) * 2

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)


@Twice
def twice_as_large(x: Any) -> Any:
    return math.exp(float(x))


class Large:
    @Twice
    def size(self, x: Any) -> Any:
        return math.exp(float(x))


def told_back(xs: Any) -> Generator[Any, Any, None]:
    offset = 0.0
    for x in np.asarray(xs):
        told = yield math.exp(x) + offset
        offset = offset if told is None else offset + float(told)


def telling(xs: Any) -> Any:
    iterator = told_back(xs)
    return next(iterator) + iterator.send(xs[0]) + next(iterator)


def handed_on(xs: Any) -> Iterator[Any]:
    yield from told_back(xs)


async def later(x: Any) -> Any:
    await asyncio.sleep(0)
    return math.sin(x)


async def one_by_one(xs: Any) -> AsyncIterator[Any]:
    for x in xs:
        yield float(x) ** 2


@contextlib.asynccontextmanager
async def at_hand(x: Any) -> AsyncIterator[Any]:
    yield math.cos(x)


async def together(xs: Any) -> Any:
    total = sum(await asyncio.gather(later(xs[0]), later(xs[1])))
    async for each in one_by_one(xs):
        total = total + each
    async with at_hand(xs[2]) as value:
        return total + value


@contextlib.contextmanager
def squared(x: Any) -> Iterator[Any]:
    yield np.float64(x) ** 2


def in_context(xs: Any) -> Any:
    with squared(xs[0]) as value, contextlib.suppress(ValueError):
        return value * math.exp(xs[1])


class Jitted:
    """What `numba.jit` makes of a function, as far as copies look at it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    def __call__(self, *args: Any) -> Any:
        return float(self.py_func(*map(np.asarray, args)))


@Jitted
def jitted(x: Any) -> Any:
    return math.exp(x) * 2


@functools.cache
def window(n: int) -> Any:
    return np.hanning(n + 2)[1:-1]


def through_window(xs: Any) -> Any:
    return np.sum(window(len(xs)) * np.asarray(xs))


def imported_beside(xs: Any) -> Any:
    from .foreign_code import scaled  # noqa: PLC0415, TID252 - what is tested

    return scaled(xs)
