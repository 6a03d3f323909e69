"""Drawing random calls: a function, arguments by what its parameters are called, and options.

A call is drawn either from the function's signature, parameter by parameter, or from one of the
function's rows in the test table, with other dtypes, layouts and options.
"""

import functools
import inspect
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.naming import function_name
from tape_ad.rules import RULES
from tests.coverage.document import public_names
from tests.fuzz.vocabulary import OPERANDS, OPTIONS, SPECIAL_MODES
from tests.rules.rows import CONSTANTS, FILLED, ROWS
from tests.rules.table import Row

__all__ = ["FUNCTIONS", "Call", "Drawer", "draw_call"]

Function = Callable[..., Any]

SHAPES = [
    *((), (1,), (3,), (4,), (2, 3), (3, 3), (3, 1), (1, 4), (2, 2, 3), (2, 3, 3), (3, 3, 3)),
    *((0,), (0, 3), (3, 0), (2, 0, 3), (1, 1), (1, 2, 1, 3), (5,), (6,), (4, 4)),
]
DTYPES = [
    *["f8"] * 40,
    *["f4"] * 12,
    *["f2"] * 4,
    *["c16"] * 14,
    *["c8"] * 5,
    *[">f8"] * 5,
    *[">c16"] * 2,
    *["i8"] * 7,
    *["i4", "i1", "i1", "u1", "u1", "u1", "?", "?", "?"],
]

NATIVE = [each for each in DTYPES if each[0] != ">" and each != "f2"]
"""What SciPy's compiled code takes; of half precision and swapped bytes each function of it makes
something else, or an error."""

MODULES = ["fft", "integrate", "interpolate", "linalg", "ndimage", "signal", "spatial", "stats"]

"""The modules with functions that stand for SciPy's, which are drawn from by themselves."""

OWN = tuple(f"tape_ad.scipy.{module}." for module in MODULES)


def by_name() -> dict[str, Function]:
    """Find the functions that users can call, by the names they write."""
    public = public_names().items()
    names = {name: function for function, name in public if not name.startswith(OWN)}
    for function in RULES:
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            names[f"np.{function_name(function)}"] = function
    return dict(sorted(names.items()))


FUNCTIONS = by_name()

IN_MODULES = {
    name: function
    for function, name in sorted(public_names().items(), key=lambda pair: pair[1])
    if name.startswith(OWN)
}

ROWS_OF: Mapping[Function, list[Row]] = defaultdict(list)
for _row in (*ROWS, *CONSTANTS, *FILLED):
    ROWS_OF[_row.function].append(_row)


@frozen(eq=False)
class Call:
    """One call to be tried.

    Attributes
    ----------
    name : str
        What is called, as users write it.
    run : callable
        ``run(*args, **kwargs)``.
    args, kwargs
        Arrays and options, nested in lists and tuples.
    smooth : bool
        Whether its arrays are random enough to have no ties.
    """

    name: str
    run: Function
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    smooth: bool = True

    def __str__(self) -> str:
        named = [f"{name}={written(value)}" for name, value in self.kwargs.items()]
        return f"{self.name}({', '.join([*map(written, self.args), *named])})"


@define
class Drawer:
    """What draws the parts of one call.

    Attributes
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
        That of the call's first array, which others follow.
    name : str
        The function.
    ties : bool
        Whether arrays are made of a few small integers.
    """

    rng: np.random.Generator
    name: str
    shape: tuple[int, ...] = field(init=False)
    ties: bool = field(init=False)
    kind: int = field(init=False)
    dtype: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.shape = self.one_of(SHAPES)
        if "linalg" in self.name and self.chance(0.7):
            self.shape = self.one_of([(3, 3), (2, 3, 3), (2, 2), (1, 1), (4, 4), (0, 0), (3, 2)])
        self.ties = self.chance(0.1)
        self.kind = int(self.rng.integers(3))
        self.dtype = self.one_of(self.dtypes)

    @property
    def dtypes(self) -> list[str]:
        """The types of numbers to be drawn from, some oftener."""
        return NATIVE if self.name.startswith(OWN) else DTYPES

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def one_of(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def axis(self) -> int:
        """Draw an axis; now and then one that is not there."""
        ndim = max(len(self.shape), 1)
        return self.whole(-ndim, ndim - 1) + 3 * self.chance(0.02)

    def axes(self, count: int) -> tuple[int, ...]:
        """Draw different axes."""
        order = self.rng.permutation(len(self.shape))[:count]
        return tuple(int(a) - len(self.shape) * self.chance(0.4) for a in order)

    def related_shape(self) -> tuple[int, ...]:
        """Draw a shape that mostly broadcasts with the call's."""
        choice = self.rng.random()
        if choice < 0.5:
            return self.shape
        if choice < 0.65:
            return self.shape[self.whole(0, len(self.shape)) :]
        if choice < 0.8:
            return tuple(1 if self.chance(0.4) else n for n in self.shape)
        if choice < 0.9:
            return self.shape[::-1]
        shape: tuple[int, ...] = self.one_of(SHAPES)
        return shape

    def values(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Draw an array of numbers."""
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return self.rng.random(shape) < 0.5
        if self.ties or dtype.kind in "iu":
            numbers = self.rng.integers(0 if dtype.kind == "u" else -2, 4, shape)
            return np.asarray(numbers).astype(dtype)
        draw: Any = [
            self.rng.standard_normal,
            functools.partial(self.rng.uniform, 0.1, 0.9),
            functools.partial(self.rng.uniform, 1.1, 3.0),
        ][self.kind]
        numbers = draw(size=shape)
        if dtype.kind == "c":
            numbers = numbers + 1j * draw(size=shape)
        return np.asarray(numbers).astype(dtype)

    def array(self, shape: tuple[int, ...] | None = None, dtype: str | None = None) -> Any:
        """Draw an array in some memory layout, or a list or number in its place."""
        if shape is None:
            shape = self.related_shape()
        dtype = dtype or (self.dtype if self.chance(0.75) else self.one_of(self.dtypes))
        array = self.laid_out(self.values(shape, dtype))
        if self.chance(0.06) and array.size:  # an empty list says nothing of shape and dtype
            return array.tolist()
        return array

    def laid_out(self, array: Any) -> Any:
        """Put an array into another memory layout, at times."""
        layout = self.rng.random()
        if layout < 0.7 or array.ndim == 0:
            return array
        if layout < 0.8:
            return np.asfortranarray(array)
        if layout < 0.9:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]

    def arrays(self, count: int | None = None) -> list[Any]:
        """Draw several arrays of related shapes."""
        number = self.whole(1, 3) if count is None else count
        alike = self.chance(0.7)
        return [self.array(self.shape if alike else None) for _ in range(number)]


def draw_call(rng: np.random.Generator, module: str = "") -> Call:
    """Draw a call; of a function of some module, or of any that stands for SciPy's, if told."""
    functions = (
        {n: f for n, f in IN_MODULES.items() if n.startswith(module)} if module else FUNCTIONS
    )
    names = list(functions)
    name = names[int(rng.integers(len(names)))]
    function, drawer = functions[name], Drawer(rng, name)
    if ROWS_OF[function] and drawer.chance(0.7 if module else 0.45):
        return from_row(drawer, name, drawer.one_of(ROWS_OF[function]))
    return from_signature(drawer, name, function)


def from_row(drawer: Drawer, name: str, row: Row) -> Call:
    """Draw other numbers, dtypes, layouts and options for a row of the test table."""
    operands = []
    for operand in row.operands:
        dtype = np.dtype(drawer.dtype if row.complex or "c" not in drawer.dtype else "f8")
        value = operand.sample(drawer.rng, np.complex128 if dtype.kind == "c" else np.float64)
        if operand.differentiable and dtype.kind in "fc" and drawer.chance(0.6):
            value = value.astype(dtype)
        operands.append(drawer.laid_out(value) if isinstance(value, np.ndarray) else value)
    known = [option for option in parameters(row.function) if option in OPTIONS]
    options = dict(row.options)
    drawer.shape = np.shape(operands[0]) if operands else ()
    for option in known:
        if option in options and drawer.chance(0.3):
            options[option] = drawn_option(drawer, option)
    run = functools.partial(row.call, row.function)
    prepared = operands if row.prepare is None else list(row.prepare(*operands))
    return Call(f"{name} [row {row}]", run, tuple(prepared), options)


def from_signature(drawer: Drawer, name: str, function: Any) -> Call:
    """Draw arguments parameter by parameter."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    if isinstance(function, np.ufunc):
        args = [drawer.array(drawer.shape if i == 0 else None) for i in range(function.nin)]
        if drawer.chance(0.05):
            kwargs["dtype"] = drawer.one_of(["f4", "f8", "c16"])
        return Call(name, function, tuple(args), kwargs, smooth=not drawer.ties)
    by_position = True
    for parameter in parameters(function).values():
        needed = parameter.default is inspect.Parameter.empty
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += drawer.arrays()
            by_position = False
        elif parameter.kind is parameter.VAR_KEYWORD or parameter.name == "out":
            continue
        elif needed and parameter.name in OPERANDS:
            value = OPERANDS[parameter.name](drawer)
            args.append(value)
        elif needed or (parameter.name in OPTIONS and drawer.chance(0.3)):
            value = drawn_option(drawer, parameter.name)
            if parameter.kind is parameter.KEYWORD_ONLY or not (by_position and needed):
                kwargs[parameter.name] = value
            else:
                args.append(value)
        else:
            by_position = False
    return Call(name, function, tuple(args), kwargs, smooth=not drawer.ties)


def drawn_option(drawer: Drawer, option: str) -> Any:
    """Draw the value of an option, or an array for one that the vocabulary does not have."""
    modes = SPECIAL_MODES.get(drawer.name.rpartition(".")[2])
    if option == "mode" and modes is not None:
        return drawer.one_of(modes)
    return OPTIONS[option](drawer) if option in OPTIONS else drawer.array()


@functools.cache
def parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    """Give a function's parameters; none where it does not say."""
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError):
        return {}


def written(value: Any) -> str:
    """Write an argument as Python."""
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(written, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r}, {value.dtype.str!r}).reshape({value.shape})"
    return repr(value)
