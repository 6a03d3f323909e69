"""Random programs of NumPy calls, made by hand: quicker to draw than functions are to capture."""

import contextlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.program import Program, Value
from tape_ad.rules.maps.indexing import Index, added_at, scatter
from tape_ad.rules.numpy.updates import updated
from tests.programs.building import Builder

__all__ = ["Drawn", "drawn_program"]

Array = Any

SHAPES: Sequence[tuple[int, ...]] = (
    *((), (1,), (2,), (3,), (7,), (8,), (9,), (16,), (17,), (33,), (65,), (100,), (257,), (1000,)),
    *((2, 3), (4, 5), (1, 4), (5, 1), (8, 9), (3, 33), (33, 3), (2, 130), (3, 4, 5), (2, 1, 3)),
    *((2, 3, 2, 3), (0,), (0, 3), (3, 0)),
)
LARGE: Sequence[tuple[int, ...]] = ((20_001,), (3, 9_000), (9_001, 2), (300, 70))
"""What is gone over in blocks."""
DTYPES = (
    ("f8",) * 8
    + ("f4",) * 3
    + ("c16", "c16", "c8", "i8", "i8", "i4", "?", "?")
    + (*("i1", "i2", "u1", "u2", "u4", "u8", "f2", ">f8", "g"),)
)
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, 0.5, -3.0, 1e-310, -5e-324, 1e300)
NUMBERS: Sequence[Any] = (
    *(2, 3, 0, -1, 0.5, -2.0, 1e-3, np.inf, np.nan, -0.0, 1.5j, True),
    *(np.float32(0.1), np.float64(3.0), np.int64(7), 255),
)

UFUNCS = [
    ufunc
    for name in sorted(dir(np))
    if isinstance(ufunc := getattr(np, name), np.ufunc)
    and ufunc.signature is None
    and ufunc.__name__ == name
]
UNARY = [ufunc for ufunc in UFUNCS if ufunc.nin == 1]
BINARY = [ufunc for ufunc in UFUNCS if ufunc.nin == 2]
COMMON = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.less, np.power]
GENTLE = [np.tanh, np.exp, np.negative, np.square, np.absolute, np.sin, np.sqrt, np.log1p, np.cos]


def within(array: Array) -> Array:
    """Copy an array into the middle of the last axis of a wider one."""
    wide = np.zeros((*array.shape[:-1], array.shape[-1] + 3), array.dtype)
    wide[..., 1:-2] = array
    return wide[..., 1:-2]


def unaligned(array: Array) -> Array:
    """Copy an array in between other fields, where no element is aligned."""
    record = np.zeros(array.shape, [("before", "i1"), ("number", array.dtype)])
    record["number"] = array
    return record["number"]


LAYOUTS: Sequence[Callable[[Array], Array]] = (
    *(np.ascontiguousarray,) * 6,
    np.asfortranarray,
    lambda x: x[::-1].copy()[::-1],
    lambda x: x[..., ::-1].copy()[..., ::-1],
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    lambda x: np.repeat(x, 3, axis=0)[1::3],
    within,
    lambda x: np.broadcast_to(x[:1], x.shape),
    unaligned,
)
"""Ways for an array to lie in memory, with the same numbers or, broadcast, with fewer."""


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Draw elements, of which some may be special."""
    values: Any = rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3)
    if rng.random() < 0.3:
        values = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), values)
    elif rng.random() < 0.2:
        values = np.round(values)
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind in "iu":
            return np.nan_to_num(values, posinf=1e9, neginf=-1e9).astype("i8").astype(dtype)
        if np.dtype(dtype).kind == "c":
            values = values + 1j * np.roll(values, 1) * rng.choice([1.0, -0.5, 0.0])
        return np.asarray(values).astype(dtype)


@define(eq=False)
class Drawn:
    """A program with what it is called with.

    Attributes
    ----------
    program : Program
    points : list of tuple
        The inputs that it has been written with, and others.
    """

    program: Program
    points: list[tuple[Any, ...]]


@define(eq=False)
class Maker:
    """Draws a program, computing it as it grows.

    Attributes
    ----------
    rng : Generator
    b : Builder
    values : list of Value
    """

    rng: np.random.Generator
    b: Builder = field(factory=Builder)
    values: list[Value] = field(factory=list)

    def one(self, options: Sequence[Any]) -> Any:
        """Choose one of several, the last ones oftener."""
        return options[int(self.rng.integers(len(options)))]

    def some(self) -> Value:
        """Choose a value, often a late one."""
        if self.rng.random() < 0.5:
            return self.values[-1 - int(self.rng.integers(min(3, len(self.values))))]
        return self.one(self.values)  # type: ignore[no-any-return]  # `one` is of anything

    def array(self) -> Value:
        """Choose a value that has axes."""
        arrays = [v for v in self.values if v.kind is np.ndarray and v.shape]
        return self.one(arrays) if arrays else self.some()

    def add(self, out: Any) -> None:
        """Keep what a call gives."""
        self.values += out if isinstance(out, tuple) else (out,)

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Add a call that gives no more than moderately many elements."""
        errors = {"all": "ignore"} if self.rng.random() < 0.1 else None
        if self.rng.random() < 0.02:
            errors = {self.one(["divide", "invalid", "over"]): "raise"}
        self.add(self.b.call(function, args, kwargs, errors))

    def axis(self, x: Value) -> Any:
        """Choose an axis, or several, or all."""
        ndim = len(x.shape)
        if not ndim or self.rng.random() < 0.3:
            return None
        if ndim > 1 and self.rng.random() < 0.2:
            return (0, ndim - 1)
        return int(self.rng.integers(-ndim, ndim))

    # What a step may be

    def unary(self) -> None:
        self.call(self.one(GENTLE) if self.rng.random() < 0.5 else self.one(UNARY), self.some())

    def binary(self) -> None:
        x, y = self.some(), self.some() if self.rng.random() < 0.7 else self.one(NUMBERS)
        x, y = (x, y) if self.rng.random() < 0.7 else (y, x)
        self.call(self.one(COMMON) if self.rng.random() < 0.7 else self.one(BINARY), x, y)

    def chosen(self) -> None:
        x, y = self.some(), self.one([self.some(), self.one(NUMBERS)])
        self.call(np.where, self.b(np.greater, x, self.one([0.0, 0.5, y])), x, y)

    def clipped(self) -> None:
        self.call(np.clip, self.some(), self.one([-1.0, 0, None]), self.one([1.0, 2, self.some()]))

    def cast(self) -> None:
        self.call(np.astype, self.array(), np.dtype(self.one(DTYPES)))

    def reduced(self) -> None:
        x = self.array()
        function = self.one(
            [
                *(np.sum, np.sum, np.mean, np.max, np.min, np.prod, np.any, np.all, np.argmax),
                *(np.argmin, np.count_nonzero, np.add.reduce, np.maximum.reduce, np.var),
                *(np.multiply.reduce, np.logical_or.reduce, np.ptp, np.nansum, np.fmin.reduce),
            ]
        )
        axis = self.axis(x)
        if function in (np.argmax, np.argmin) and isinstance(axis, tuple):
            axis = axis[0]
        options = {"keepdims": True} if self.rng.random() < 0.3 else {}
        self.call(function, x, axis=axis, **options)

    def accumulated(self) -> None:
        x = self.array()
        axis = int(self.rng.integers(len(x.shape)))
        function = self.one([np.cumsum, np.cumprod, np.add.accumulate, np.maximum.accumulate])
        self.call(function, x, axis=axis)

    def part(self) -> None:
        x = self.array()
        n = x.shape[0]
        keys: list[Any] = [
            *(slice(1, None), slice(None, None, -1), slice(None, -1), 0, -1, (..., 0), (..., None)),
            *((..., slice(None, None, 2)), (slice(1, None), ..., slice(None, None, -2)), ...),
            *(slice(n // 3, n // 2 + 1), (None, ..., slice(1, 3)), slice(None, None, 3)),
        ]
        self.call(operator.getitem, x, self.one(keys))

    def rearranged(self) -> None:
        x = self.array()
        size = int(np.prod(x.shape))
        calls: list[Any] = [
            *((np.reshape, -1), (np.transpose,), (np.expand_dims, 0), (np.ravel,), (np.flip,)),
            *((np.broadcast_to, (2, *x.shape)), (np.moveaxis, 0, -1), (np.squeeze,)),
            *((np.roll, 1), (np.roll, -2, 0), (np.repeat, 2), (np.tile, 2), (np.pad, 1)),
            *((np.reshape, (-1, 2)), (np.swapaxes, 0, -1), (np.reshape, x.shape[::-1])),
            *((np.sort,), (np.diff,), (np.copy,), (np.real,), (np.imag,), (np.flip, 0)),
        ]
        function, *rest = self.one(calls)
        if size < 5_000:
            self.call(function, x, *rest)

    def joined(self) -> None:
        x, y = self.array(), self.array()
        function = self.one([np.concatenate, np.stack, np.hstack])
        self.call(function, (x, y) if x.shape[1:] == y.shape[1:] else (x, x))

    def taken(self) -> None:
        x = self.array()
        n, count = x.shape[0], int(self.rng.integers(0, 9))
        places = self.rng.integers(-n, n, count)
        found = [v for v in self.values if v.dtype is not None and v.dtype.kind == "i" and v.shape]
        index = self.one([places, places.tolist(), *found[-2:]])
        ways: list[Any] = [(operator.getitem, x, (index,)), (np.take, x, index)]
        if len(x.shape) > 1:
            ways.append((operator.getitem, x, (slice(None), index % x.shape[1])))
        self.call(*self.one(ways))

    def placed(self) -> None:
        x = self.array()
        n = x.shape[-1]
        index = self.one(
            [
                Index((slice(0, n),), (n + 2,), (n,)),
                Index((self.rng.integers(0, 3, n),), (3,), (n,), repeats=True),
                Index((self.rng.permutation(n),), (n + 1,), (n,)),
                Index((slice(None, None, -1),), (n,), (n,)),
            ]
        )
        total = self.b(scatter, x, index)
        self.add(total)
        self.add(self.b(added_at, total, self.b(np.negative, x), index))

    def assigned(self) -> None:
        x = self.array()
        keys = [0, slice(None, None, 2), ..., ([0],), (..., -1), slice(1, None)]
        self.call(updated, x, self.one([0.0, 2, self.some()]), self.one(keys))

    def product(self) -> None:
        x, y = self.array(), self.array()
        turned = self.b(np.swapaxes, x, 0, -1)
        ways: list[Any] = [(np.matmul, x, turned), (np.matmul, turned, x), (np.dot, x, turned)]
        ways += [(np.vdot, x, x), (np.matmul, x, y), (np.einsum, "...i,...i->...", x, x)]
        if len(x.shape) == 2:
            ways += [(np.einsum, "ij,kj->ik", x, x), (np.einsum, "ij->j", x)]
        if int(np.prod(x.shape)) < 2_000:
            self.call(*self.one(ways))

    def decomposed(self) -> None:
        x = self.array()
        n = x.shape[-2]
        square = self.b(np.matmul, x, self.b(np.conj, self.b(np.matrix_transpose, x)))
        square = self.b(np.add, square, np.eye(n) * self.one([0, 1, 3]))
        square = self.one([square, self.b(np.matrix_transpose, square)])
        calls: list[Any] = [
            *((np.linalg.inv, square), (np.linalg.solve, square, x), (np.linalg.cholesky, square)),
            *((np.linalg.det, square), (np.linalg.slogdet, square), (np.linalg.eigvalsh, square)),
            *((np.linalg.svdvals, x), (np.linalg.lstsq, x, self.b(np.sum, x, axis=-1))),
            *((np.linalg.eigh, square), (np.linalg.svd, x), (np.linalg.qr, x)),
        ]
        if int(np.prod(x.shape)) < 2_000:
            self.call(*self.one(calls))

    def transformed(self) -> None:
        x = self.array()
        name = self.one(["fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "rfftn", "irfftn"])
        options: list[dict[str, Any]] = [{"axis": self.axis(x)}, {"n": 5}, {"n": 12, "axis": 0}, {}]
        if name[-1] in "n2":
            options = [{"s": (3, 6), "axes": (0, -1)}, {"axes": (-1, 0)}, {"axes": (0,)}, {}]
        norm = self.one([None, "ortho", "forward"])
        self.call(getattr(np.fft, name), x, **self.one(options), norm=norm)

    def normalized(self) -> None:
        x = self.array()
        large = self.b(np.max, x, axis=-1, keepdims=True)
        powers = self.b(np.exp, self.b(np.subtract, x, large))
        total = self.b(np.sum, powers, axis=-1, keepdims=True)
        self.add(self.b(np.divide, powers, total))
        self.add(self.b(np.add, self.b(np.log, total), large))

    def asked(self) -> None:
        x = self.some()
        question = self.one([np.any, np.all])
        self.b.guard(bool, self.b(question, self.b(np.greater, x, self.one([0.0, 0.5, 3.0]))))
        if self.rng.random() < 0.1:
            self.b.guard(operator.attrgetter("shape"), self.array())


STEPS: Sequence[Callable[[Maker], None]] = (
    *(Maker.unary,) * 5,
    *(Maker.binary,) * 8,
    *(Maker.reduced,) * 4,
    *(Maker.part,) * 3,
    *(Maker.rearranged,) * 3,
    *(Maker.chosen, Maker.clipped, Maker.cast, Maker.accumulated, Maker.joined, Maker.taken),
    *(Maker.placed, Maker.assigned, Maker.assigned, Maker.product, Maker.normalized, Maker.asked),
    *(Maker.decomposed, Maker.decomposed, Maker.transformed),
)


def inputs_of(rng: np.random.Generator) -> list[Any]:
    """Draw what a program is called with."""
    given: list[Any] = []
    shape = SHAPES[int(rng.integers(len(SHAPES)))]
    if rng.random() < 0.03:
        shape = LARGE[int(rng.integers(len(LARGE)))]
    dtype = DTYPES[int(rng.integers(len(DTYPES)))]
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.3:
            dtype = DTYPES[int(rng.integers(len(DTYPES)))]
        if rng.random() < 0.2:
            shape = SHAPES[int(rng.integers(len(SHAPES)))]
        elif rng.random() < 0.2:
            shape = tuple(1 if rng.random() < 0.5 else n for n in shape)
        array = numbers(rng, shape, dtype)
        given.append(LAYOUTS[int(rng.integers(len(LAYOUTS)))](array) if shape else array)
    if rng.random() < 0.3:
        given.append([float(rng.normal()), int(rng.integers(-3, 9)), 0.5j][int(rng.integers(3))])
    return given


def alike(rng: np.random.Generator, x: Any) -> Any:
    """Draw other numbers for an input, which lie in memory as it does."""
    if not isinstance(x, np.ndarray):
        return type(x)(x * 2)
    if 0 in x.strides and x.size > 1:
        return np.broadcast_to(alike(rng, x[:1].copy()), x.shape)
    other = np.empty_like(x) if x.dtype.fields is None else x.copy()
    if other.strides != x.strides:  # not dense: within a copy of all that it lies in
        low, high = np.lib.array_utils.byte_bounds(x)
        start = x.__array_interface__["data"][0] - low
        memory = np.zeros(high - low, "u1")
        other = np.ndarray(x.shape, x.dtype, memory, start, x.strides)
    other[...] = numbers(rng, x.shape, x.dtype.str)
    return other


def drawn_program(seed: int, number: int) -> Drawn:
    """Draw a program, always the same for the same numbers."""
    rng = np.random.default_rng([seed, number])
    maker = Maker(rng)
    given = inputs_of(rng)
    maker.add(tuple(maker.b.input(x, f"x{i}") for i, x in enumerate(given)))
    for _ in range(int(rng.integers(1, 16))):
        steps = len(maker.b.steps)
        with contextlib.suppress(Exception):  # NumPy's own, of what does not go together
            maker.one(STEPS)(maker)
            large = [v for v in maker.values if np.prod(v.shape) > 200_000]
            if large:
                del maker.b.steps[steps:]
                maker.values = [v for v in maker.values if v not in large]
    made = {value for step in maker.b.steps for value in getattr(step, "outputs", ())}
    outputs = [v for v in maker.values if v in made or v in maker.b.inputs]
    chosen = [outputs[-1], *(outputs[int(rng.integers(len(outputs)))] for _ in range(3))]
    program = maker.b.program(tuple(chosen[: int(rng.integers(1, 5))]))
    others = [tuple(alike(rng, x) for x in given) for _ in range(2)]
    return Drawn(program, [tuple(given), *others])
