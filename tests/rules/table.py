"""What a row of the test table is: a function, a way to call it, and operands to call it with.

A function needs one row, ``Row(np.tanh, [REAL(2, 3)])``, in the `ROWS` of a file that `rows` lists,
and is then checked in every way that `test_rules` knows, and against JAX. `elementwise` makes the
rows of a ufunc for the usual shapes; further rows say what else the function's arguments can be.
"""

import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.naming import function_name

__all__ = [
    "ABOVE_ONE",
    "DISTINCT",
    "INSIDE",
    "POSITIVE",
    "REAL",
    "Case",
    "Domain",
    "Operand",
    "Row",
    "cases",
    "elementwise",
    "fixed",
    "in_single_precision",
    "listed",
    "plain",
    "signed",
    "uniform",
]

Array = Any
Shape = tuple[int, ...]
Draw = Callable[[np.random.Generator, Shape], Array]


@frozen(eq=False)
class Domain:
    """Where the elements of an operand are drawn from.

    Call it with the lengths of the axes to make an operand: ``POSITIVE(2, 3)``, ``REAL()``.

    Attributes
    ----------
    draw : callable
        ``draw(rng, shape)`` gives float64, away from points where the function is not smooth.
    imaginary : callable
        The same for the imaginary part, where a row is checked on complex numbers as well.
    """

    draw: Draw
    imaginary: Draw

    def __call__(self, *shape: int) -> "Operand":
        return Operand(shape, self)


@frozen(eq=False)
class Operand:
    """One operand of a row.

    Attributes
    ----------
    shape : tuple of int
    domain : Domain
    differentiable : bool
        Whether it is checked as a handle; if not, it is passed as drawn, whatever its dtype.
    """

    shape: Shape
    domain: Domain
    differentiable: bool = True

    def sample(self, rng: np.random.Generator, dtype: Any) -> Array:
        """Draw an array of a floating or complex dtype; a constant is given as it is."""
        value = self.domain.draw(rng, self.shape)
        if not self.differentiable:
            return read_only(value)
        if np.dtype(dtype).kind == "c":
            value = value + 1j * self.domain.imaginary(rng, self.shape)
        return read_only(value, dtype)


def read_only(value: Array, dtype: Any = None) -> Array:
    """Copy into an array that nobody can write to, so that rules and sweeps show if they do."""
    array = np.array(value, dtype)
    array.flags.writeable = False
    return array


def signed(low: float, high: float) -> Draw:
    """Draw numbers of both signs, away from 0."""
    return lambda rng, shape: rng.uniform(low, high, shape) * rng.choice([-1.0, 1.0], shape)


def spaced(rng: np.random.Generator, shape: Shape) -> Array:
    """Draw numbers in no order, no two of them nearer than 0.2, none nearer than 0.1 to 0."""
    size = int(np.prod(shape, dtype=int))
    steps = 0.3 * (np.arange(size) - size // 2) + rng.uniform(0.1, 0.2, size)
    return rng.permutation(steps).reshape(shape)


def uniform(low: float, high: float) -> Domain:
    """Make the domain of an interval; imaginary parts are small, of both signs and not 0."""
    return Domain(lambda rng, shape: rng.uniform(low, high, shape), signed(0.2, 0.8))


REAL = Domain(signed(0.3, 2.0), signed(0.2, 0.8))
POSITIVE = uniform(0.3, 2.0)
INSIDE = uniform(-0.9, 0.9)
ABOVE_ONE = uniform(1.2, 3.0)
DISTINCT = Domain(spaced, signed(0.2, 0.8))


def fixed(values: Any) -> Operand:
    """Make an operand of given values; its imaginary part is half of the real one."""
    array = np.asarray(values, float)
    return Operand(array.shape, Domain(lambda rng, shape: array, lambda rng, shape: array / 2))


def plain(values: Any) -> Operand:
    """Make an operand that is never a handle, such as a mask."""
    array = np.asarray(values)
    domain = Domain(lambda rng, shape: array, lambda rng, shape: array)
    return Operand(array.shape, domain, differentiable=False)


def direct(function: Callable[..., Any], *operands: Array, **options: Any) -> Any:
    """Call a function in the plainest way."""
    return function(*operands, **options)


@frozen(eq=False, repr=False)
class Row:
    """A function, a way to call it, and operands to call it with.

    Attributes
    ----------
    function : callable
        The key in `tape_ad.rules.RULES`.
    operands : list of Operand
    options : dict
        Keyword arguments of the call.
    call : callable
        ``call(function, *operands, **options)``, where the plain call is not what is meant:
        ``lambda f, x, y: f([x, y])``. It is called with JAX's function too.
    prepare : callable, optional
        ``prepare(*operands)`` lists what to call the function with instead, where operands drawn
        at random are outside of its domain: ``lambda a: [a @ a.mT]``. It is differentiated too;
        JAX sees it as well, so it is written with operators and methods.
    note : str
        What sets the row apart from others of the same function, shapes and options.
    complex : bool
        Whether to check it on complex numbers as well.
    mixed : bool
        Whether to check it then on mixtures of complex and real operands too.
    single : float
        How far a float32 result may be from the float64 one, relative to the largest element.
    noticed : sequence of int, optional
        The positions of the operands that NumPy looks for handles in; all of them when left out.
        A handle elsewhere is only noticed beside one there.
    nodes : int
        The largest number of nodes that a call may record, those of `prepare` included.
    jax : str or callable
        JAX's counterpart: a dotted name below `jax` ("scipy.special.erf"), or ``jax(module)``
        to get it from the module; empty for NumPy's own name below `jax.numpy`.
    no_jax : str
        Why there is nothing in JAX to compare with; empty where there is.
    no_complex_jax : str
        Why JAX is compared with on real numbers only; empty where it is on both.
    torch : str or callable
        PyTorch's counterpart, compared with where JAX is not: a dotted name below `torch`
        ("linalg.eig"), or ``torch(module)`` to get it from the module; empty where it has none.
    """

    function: Callable[..., Any]
    operands: Sequence[Operand]
    options: dict[str, Any] = field(factory=dict, kw_only=True)
    call: Callable[..., Any] = field(default=direct, kw_only=True)
    prepare: Callable[..., Sequence[Array]] | None = field(default=None, kw_only=True)
    note: str = field(default="", kw_only=True)
    complex: bool = field(default=False, kw_only=True)
    mixed: bool = field(default=True, kw_only=True)
    single: float = field(default=2e-5, kw_only=True)
    noticed: Sequence[int] | None = field(default=None, kw_only=True)
    nodes: int = field(default=1, kw_only=True)
    jax: str | Callable[..., Any] = field(default="", kw_only=True)
    no_jax: str = field(default="", kw_only=True)
    no_complex_jax: str = field(default="", kw_only=True)
    torch: str | Callable[..., Any] = field(default="", kw_only=True)

    def __repr__(self) -> str:
        # The same in every process, so without the addresses of objects
        shapes = ",".join(shape_name(operand.shape) for operand in self.operands)
        options = (f"{name}={value}" for name, value in self.options.items())
        options = (re.sub(" at 0x[0-9a-f]+", "", option) for option in options)
        return "-".join(filter(None, [function_name(self.function), shapes, *options, self.note]))

    def apply(self, values: Sequence[Array], function: Any = None) -> list[Any]:
        """Call the function, or its counterpart elsewhere, and list its outputs."""
        prepared = values if self.prepare is None else self.prepare(*values)
        result = self.call(function or self.function, *prepared, **self.options)
        return list(result) if isinstance(result, (tuple, list)) else [result]

    @property
    def kinds_in_jax(self) -> tuple[str, ...]:
        """The choices of dtypes that JAX is compared with on."""
        if self.no_jax:
            return ()
        return ("real", "complex") if self.complex and not self.no_complex_jax else ("real",)

    @property
    def kinds_in_torch(self) -> tuple[str, ...]:
        """The choices of dtypes that PyTorch is compared with on."""
        every = ("real", "complex") if self.complex else ("real",)
        return tuple(kind for kind in every if self.torch and kind not in self.kinds_in_jax)

    @property
    def differentiable(self) -> tuple[int, ...]:
        """The positions of the operands that are checked as handles."""
        return tuple(i for i, operand in enumerate(self.operands) if operand.differentiable)

    def beside(self, position: int) -> Sequence[int]:
        """Tell which operand has to be a handle as well, if that one is to be noticed."""
        return () if self.noticed is None or position in self.noticed else self.noticed[:1]


def shape_name(shape: Shape) -> str:
    """Write a shape as a short word."""
    return "x".join(map(str, shape)) or "0d"


# The first two of each are enough to check complex numbers on.
SHAPES: dict[int, tuple[tuple[Shape, ...], ...]] = {
    1: (((2, 3),), ((),), ((0, 3),)),
    2: (
        ((2, 3), (2, 3)),
        ((3, 1), (4,)),
        ((), (3,)),
        ((2, 3), ()),
        ((), ()),
        ((2, 0), (1,)),
    ),
}


def elementwise(function: Callable[..., Any], *domains: Domain, **fields: Any) -> list[Row]:
    """Make the rows of a ufunc of one or two operands: equal shapes, broadcasting, 0-d, empty.

    Parameters
    ----------
    function : callable
    domains : Domain
        One for each operand.
    fields
        As in `Row`.
    """
    on_complex = fields.pop("complex", False)
    return [
        Row(
            function,
            [domain(*shape) for domain, shape in zip(domains, shapes, strict=True)],
            complex=on_complex and i < 2,
            **fields,
        )
        for i, shapes in enumerate(SHAPES[len(domains)])
    ]


@frozen(eq=False, repr=False)
class Case:
    """A row with a choice of dtypes, and what it is checked with: always the same numbers.

    Attributes
    ----------
    row : Row
    kind : str
        "real", "complex", or which of the two comes "first" where they take turns.
    """

    row: Row
    kind: str
    _drawn: list[Array] = field(init=False, factory=list)  # when they are first asked for

    def __repr__(self) -> str:
        return f"{self.row}-{self.kind}"

    def primals(self) -> list[Array]:
        """List all operands."""
        if not self._drawn:
            rng, dtypes = self._rng("primals"), self._dtypes()
            operands = zip(self.row.operands, dtypes, strict=True)
            self._drawn.extend(operand.sample(rng, dtype) for operand, dtype in operands)
        return list(self._drawn)

    def leaves(self) -> list[Array]:
        """List the operands that are to be leaves: the differentiable ones."""
        values = self.primals()
        return [values[i] for i in self.row.differentiable]

    def apply(self, leaves: Sequence[Array]) -> list[Any]:
        """Call the function with other values for the differentiable operands."""
        return self.row.apply(self.filled(leaves))

    def filled(self, leaves: Sequence[Array]) -> list[Array]:
        """List all operands, with other values for the differentiable ones."""
        values = self.primals()
        for position, value in zip(self.row.differentiable, leaves, strict=True):
            values[position] = value
        return values

    def tangents(self, *stack: int, purpose: str = "tangents") -> list[Array]:
        """Draw a tangent, or a stack of them, for each differentiable operand."""
        rng = self._rng(purpose)
        dtypes = self._dtypes()
        return [
            normal(rng, stack + self.row.operands[i].shape, dtypes[i])
            for i in self.row.differentiable
        ]

    def cotangents(self, outputs: Sequence[Array], *stack: int) -> list[Array]:
        """Draw a cotangent, or a stack of them, for each output."""
        rng = self._rng("cotangents")
        return [normal(rng, stack + out.shape, out.dtype) for out in outputs]

    def _dtypes(self) -> list[Any]:
        turns = {
            "real": (np.float64, np.float64),
            "complex": (np.complex128, np.complex128),
            "real first": (np.float64, np.complex128),
            "complex first": (np.complex128, np.float64),
        }[self.kind]
        order = {position: i for i, position in enumerate(self.row.differentiable)}
        return [turns[order.get(i, 0) % 2] for i in range(len(self.row.operands))]

    def _rng(self, purpose: str) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(f"{self} {purpose}".encode()))


def normal(rng: np.random.Generator, shape: Shape, dtype: Any) -> Array:
    """Draw normal numbers of a floating or complex dtype."""
    value = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        value = value + 1j * rng.standard_normal(shape)
    return read_only(value, dtype)


def cases(rows: Sequence[Row]) -> list[Case]:
    """List every row with every choice of dtypes that it is checked with."""
    return [Case(row, kind) for row in rows for kind in kinds(row)]


def kinds(row: Row) -> tuple[str, ...]:
    """List the choices of dtypes for a row."""
    if not row.complex:
        return ("real",)
    if not row.mixed or len(row.differentiable) == 1:
        return ("real", "complex")
    return ("real", "complex", "real first", "complex first")


def in_single_precision(case: Case) -> list[list[Array]]:
    """Draw all operands with every differentiable one in single precision, or every other one."""
    single = {"f": np.float32, "c": np.complex64}
    several = len(case.row.differentiable) > 1
    choices = []
    for turns in ((0, 1), (0,), (1,)) if several else ((0, 1),):
        values = case.primals()
        for i, position in enumerate(case.row.differentiable):
            if i % 2 in turns:
                values[position] = values[position].astype(single[values[position].dtype.kind])
        choices.append(values)
    return choices


def listed(values: Sequence[Array], position: int) -> list[Any]:
    """Turn arrays into lists or numbers, but for one position and for what a list cannot say."""
    return [v if i == position or v.size == 0 else v.tolist() for i, v in enumerate(values)]
