"""Code as other people write it, for the tests: it knows nothing of handles."""

import abc
import cmath
import dataclasses
import functools
import math
import numbers
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

LIMIT = 2.0
COUNTS: dict[str, int] = {}
calls = 0


def scaled(x: Any, *, kernel: Any = np.exp) -> Any:
    return kernel(np.asarray(x)) * LIMIT


def counted(x: Any) -> Any:
    global calls  # noqa: PLW0603 - as some code does
    calls += 1
    COUNTS["scaled"] = COUNTS.get("scaled", 0) + 1
    return scaled(x)


KERNELS: dict[Any, Any] = {"scaled": scaled, "doubled": lambda x: np.asarray(x) * 2}


def by_name(name: str, x: Any) -> Any:
    return KERNELS[name](x)


def make_adder(offset: Any) -> Any:
    def add(x: Any) -> Any:
        return np.array(x) + offset

    return add


def doubling(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return 2 * function(*args, **kwargs)

    return wrapper


@doubling
def decorated(x: Any) -> Any:
    return np.asarray(x) ** 2


@functools.cache
def cached(x: Any) -> Any:
    return math.sin(x)


def importing(x: Any) -> Any:
    import math as m  # noqa: PLC0415 - what is tested

    from numpy import asarray as take  # noqa: PLC0415 - what is tested

    return m.cos(take(x)[0])


def generated(x: Any) -> Iterator[Any]:
    for each in np.asarray(x):
        yield math.exp(each)


def factorial(n: int, x: Any) -> Any:
    return 1.0 if n == 0 else float(x) * factorial(n - 1, x)


def kinds(x: Any) -> list[bool]:
    return [
        isinstance(x, np.ndarray),
        isinstance(x, float),
        isinstance(x, numbers.Real),
        isinstance(x, (list, np.floating)),
        type(x) is np.ndarray,
        np.isscalar(x),
    ]


def branching(x: Any) -> Any:
    total = np.zeros(3)
    for i in range(int(x[0]) + 1):
        total[i] = x[i] ** 2
    return total


def elements_are_numbers(x: Any) -> Any:
    sizes = np.ones(2)
    first, _second = sizes
    first += 5
    return (first + sizes.sum()) * x


def undoing(x: Any) -> Any:
    y = np.array(x)
    y *= 2
    y[0] = 0
    return y.sum() + np.asarray(x).sum()


def phase(x: Any) -> Any:
    return abs(cmath.exp(complex(0.0, 1.0) * x) + 1)


class Base:
    made: ClassVar[list[str]] = []

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Base.made.append(cls.__name__)

    def __init__(self, rate: Any) -> None:
        self.rate = float(rate)

    def forward(self, x: Any) -> Any:
        return np.asarray(x) * self.rate


class Derived(Base):
    def __init__(self, rate: Any, offset: Any) -> None:
        super().__init__(rate)
        self.offset = offset

    def forward(self, x: Any) -> Any:
        return super(Derived, self).forward(x) + self.offset  # noqa: UP008 - the explicit form

    @property
    def total(self) -> Any:
        return math.sqrt(self.rate)

    @classmethod
    def make(cls, rate: Any) -> "Derived":
        return cls(rate, 1.0)

    @staticmethod
    def squared(x: Any) -> Any:
        return np.asarray(x) ** 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any

    def norm(self) -> Any:
        return math.hypot(self.x, self.y)


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def root(self) -> Any:
        return math.sqrt(self.value)


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self) -> Any: ...

    def doubled(self) -> Any:
        return 2 * self.area()


class Square(Shape):
    def __init__(self, side: Any) -> None:
        self.side = side

    def area(self) -> Any:
        return math.pow(self.side, 2)


class Named:
    """Objects that are equal where their names are."""

    def __init__(self, name: str, factor: float) -> None:
        self.name, self.factor = name, factor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def times(self, x: Any) -> Any:
        return x * float(self.factor)


ONE, OTHER = Named("a", 2.0), Named("a", 3.0)


def by_equal_objects(x: Any) -> Any:
    return np.stack([ONE.times(x[0]), OTHER.times(x[1]), 0 * x[2]])


STEPS: list[Any] = [math.exp]


def add_step(function: Any) -> None:
    STEPS.append(function)


def all_steps(x: Any) -> Any:
    return sum(np.stack([step(each) for each in x]) for step in STEPS)


class Hooks:
    called: ClassVar[list[Any]] = [math.exp]

    def run(self, x: Any) -> Any:
        return sum(np.stack([hook(each) for each in x]) for hook in self.called)


@dataclasses.dataclass(frozen=True)
class Mark:
    level: int

    def doubled(self) -> int:
        return 2 * self.level


MARK = Mark(1)
MARKS = [MARK]
WEIGHTS: dict[Any, float] = {Mark: 2.0, add_step: 3.0}


def by_marks(x: Any) -> Any:
    same = MARKS[0] is MARK and Mark(1) == MARK
    return x * (WEIGHTS[Mark] * WEIGHTS[add_step] if same else 0.0)


class Registered:
    """Tells its subclasses apart, and has slots."""

    __slots__ = ("value",)

    names: ClassVar[list[str]] = []

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Registered.names.append(cls.__name__)

    def __init__(self, value: Any) -> None:
        self.value = float(value)


class Squared(Registered):
    __slots__ = ()

    def result(self) -> Any:
        return math.pow(self.value, 2)


class Titled(type):
    @property
    def title(cls) -> str:
        return cls.__name__.lower()


class Cube(metaclass=Titled):
    @property
    def title(self) -> str:
        return f"a {type(self).title}"

    def volume(self, x: Any) -> Any:
        return float(x) ** 3


HANDLERS: dict[type, Any] = {Mark: lambda mark, x: mark.level * float(x)}


def by_type(mark: Mark, x: Any) -> Any:
    return HANDLERS[type(mark)](mark, x)


def with_an_own_version(x: Any) -> Any:
    return with_an_own_version.factor * float(x)  # type: ignore[attr-defined]  # set below


with_an_own_version.factor = 3.0  # type: ignore[attr-defined]  # a function may have any


def halved_in_place(x: Any) -> Any:
    x = np.asarray(x)
    x[0] = x[1] / 2
    return x


class Holding:
    """Gives an array to code in C that asks for one."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values)

    def total(self) -> Any:
        return np.asarray(self.values).sum()


class Rules:
    """Has nothing but a function in it."""

    @staticmethod
    def steps(x: Any) -> Any:
        found = np.zeros(len(x))
        for i, each in enumerate(x):
            found[i] = float(each) ** 2
        return found


class Model:
    """Holds a function, and objects of other classes, which hold some in turn."""

    rules: ClassVar[Any] = Rules()

    def __init__(self, part: Any, *more: Any, function: Any = scaled) -> None:
        self.part, self.function = part, function
        self.parts = [*more]

    def run(self, x: Any) -> Any:
        rest = self.rules.steps(x) + self.function(x)
        if isinstance(self.part, Model):
            rest = rest + self.part.run(x)
        elif self.part is not None:
            rest = rest + self.part.norm() * self.rules.steps(x)
        return rest + sum(each.run(x) for each in self.parts)

    def take(self, x: Any) -> Any:
        self.parts.extend([Model(None), Model(None)])
        last = self.parts.pop()
        self.parts[0] = last
        return x * len(self.parts)


def by_its_name(x: Any) -> Any:
    return x.__array__().sum() + (x.base is None) * x[0]


class Holder:
    """Holds what it is told to keep."""

    def keep(self, x: Any) -> Any:
        self.weights, self.result = np.ones(3), x * 2
        return (self.weights * self.result).sum()


HOLDER = Holder()
SHELF: dict[Any, Any] = {}
NOTES: list[Any] = []
SEEN: set[Any] = set()
latest: Any = None


def leaving_behind(x: Any) -> Any:
    global latest  # noqa: PLW0603 - as some code does
    latest = np.zeros(2)
    latest[0] = x[0]
    latest = np.ones(3)
    if 3 not in SHELF:
        SHELF[3] = (np.zeros(3), [np.ones(3)])
    first = x[0]
    SHELF[first] = first**2
    SEEN.add(first)
    NOTES.append(np.zeros(3))
    return HOLDER.keep(first) + np.sum(SHELF[3][1][0] * latest * x) + SHELF[first]
