"""Building typed LLVM instructions, for one element or for a vector of them at once."""

import platform
import struct
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from attrs import define, field

WIDTHS = (2, 4, 8, 16)
SINGLY = frozenset({"fmod", "nextafter"})
"""Functions that NumPy too computes for one element after the other."""


class Library(Protocol):
    """Where compiled functions of vectors and of single elements are found."""

    @property
    def convention(self) -> str:
        """Say how functions of vectors are called; mostly nothing."""

    def vector_symbol(self, name: str, dtype: Any, lanes: int, /) -> str | None:
        """Give the symbol of a function that takes so many elements at once."""

    def __hash__(self) -> int: ...

    def scalar_symbol(self, name: str, dtype: Any, /) -> str | None:
        """Give the symbol of a function of single elements."""


def call(
    writer: "IRBuilder", name: str, kind: str, kinds: Sequence[str], names: Sequence[str]
) -> str:
    """Call a function.

    Parameters
    ----------
    writer : IRBuilder
    name : str
    kind : str
        The result's type, with the convention before it, if there is one; or ``void``.
    kinds, names : sequence of str
        The operands' types, and the operands.

    Returns
    -------
    str
        The result's name.
    """
    if name not in writer.declarations:
        writer.declarations[name] = f"declare {kind} {name}({', '.join(kinds)})"
    given = ", ".join([f"{each} {x}" for each, x in zip(kinds, names, strict=True)])
    text = f"call {kind} {name}({given})"
    if kind != "void":
        return writer.emit(text)
    writer.lines.append(text)
    return ""


def call_of_library(
    writer: "IRBuilder", name: str, dtype: np.dtype[Any], args: Sequence[str]
) -> str:
    """Call a function of the library; in parts, where it takes fewer elements at once.

    Parameters
    ----------
    writer : IRBuilder
    name : str
        As C has it: ``exp``, ``atan2``, also for single precision.
    dtype : dtype
    args : sequence of str
        Floats of that dtype.

    Returns
    -------
    str
        The result's name.

    Raises
    ------
    LookupError
        The library has no such function.
    """
    width = writer.lanes
    while width > 1 and not writer.library.vector_symbol(name, dtype, width):
        width //= 2
    slow = writer.by_vectors and name not in SINGLY
    if width == 1 and (slow or not writer.library.scalar_symbol(name, dtype)):
        return single_in_a_vector(writer, name, dtype, args)
    found = []
    for start in range(0, writer.lanes, width):
        parts = [piece(writer, x, dtype, start, width) for x in args]
        found.append(call_at_once(writer, name, dtype, width, parts))
    return joined(writer, found, dtype, width)


def call_at_once(
    writer: "IRBuilder", name: str, dtype: np.dtype[Any], width: int, args: Sequence[str]
) -> str:
    """Call the function that takes so many elements."""
    kind, library = vector_type(element_type(dtype), width), writer.library
    if width == 1:
        symbol, how = library.scalar_symbol(name, dtype), kind
    else:
        symbol, how = library.vector_symbol(name, dtype, width), f"{library.convention} {kind}"
    return call(writer, f"@{symbol}", how, [kind] * len(args), args)


def single_in_a_vector(
    writer: "IRBuilder", name: str, dtype: np.dtype[Any], args: Sequence[str]
) -> str:
    """Call a function of a single element that the library has for vectors alone."""
    element = element_type(dtype)
    for width in WIDTHS:
        if writer.lanes == 1 and writer.library.vector_symbol(name, dtype, width):
            kind = vector_type(element, width)
            wide = [
                writer.emit(f"insertelement {kind} zeroinitializer, {element} {x}, i32 0")
                for x in args
            ]
            found = call_at_once(writer, name, dtype, width, wide)
            return writer.emit(f"extractelement {kind} {found}, i32 0")
    raise LookupError(f"the library has no {name} of {dtype}")


def piece(writer: "IRBuilder", x: str, dtype: np.dtype[Any], start: int, width: int) -> str:
    """Take some of a vector's elements."""
    if width == writer.lanes:
        return x
    whole = vector_type(element_type(dtype), writer.lanes)
    if width == 1:
        return writer.emit(f"extractelement {whole} {x}, i32 {start}")
    return shuffled(writer, whole, x, range(start, start + width))


def joined(writer: "IRBuilder", parts: Sequence[str], dtype: np.dtype[Any], width: int) -> str:
    """Make one vector of several."""
    if len(parts) == 1:
        return parts[0]
    element = element_type(dtype)
    if width == 1:
        whole, found = vector_type(element, writer.lanes), "poison"
        for i, one in enumerate(parts):
            found = writer.emit(f"insertelement {whole} {found}, {element} {one}, i32 {i}")
        return found
    kind, pairs = vector_type(element, width), zip(parts[::2], parts[1::2], strict=True)
    wider = [shuffled(writer, kind, a, range(2 * width), b) for a, b in pairs]
    return joined(writer, wider, dtype, 2 * width)


FLOAT_TYPES = {4: "float", 8: "double"}

INSTRUCTIONS: dict[str, tuple[str, str, str]] = {
    "+": ("fadd", "add", "add"),
    "-": ("fsub", "sub", "sub"),
    "*": ("fmul", "mul", "mul"),
    "/": ("fdiv", "sdiv", "udiv"),
    "%": ("frem", "srem", "urem"),
    "&": ("", "and", "and"),
    "|": ("", "or", "or"),
    "^": ("", "xor", "xor"),
    "<<": ("", "shl", "shl"),
    ">>": ("", "ashr", "lshr"),
    "<": ("fcmp olt", "icmp slt", "icmp ult"),
    "<=": ("fcmp ole", "icmp sle", "icmp ule"),
    ">": ("fcmp ogt", "icmp sgt", "icmp ugt"),
    ">=": ("fcmp oge", "icmp sge", "icmp uge"),
    "==": ("fcmp oeq", "icmp eq", "icmp eq"),
    "!=": ("fcmp une", "icmp ne", "icmp ne"),
}
"""What an operator is for floats, for signed integers, and for unsigned ones and bools."""

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
FAMILY = {"f": 0, "i": 1, "u": 2, "b": 2}


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """Write a number as LLVM does."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "f":  # by its bits; those of the double, in single precision too
        return f"0x{struct.unpack('<Q', struct.pack('<d', dtype.type(value)))[0]:016X}"
    return str(int(value))


def element_type(dtype: np.dtype[Any]) -> str:
    """Write the type of one element, as a value."""
    return FLOAT_TYPES[dtype.itemsize] if dtype.kind == "f" else f"i{width_of(dtype)}"


def width_of(dtype: np.dtype[Any]) -> int:
    """Count the bits of an element, as a value."""
    return 1 if dtype.kind == "b" else 8 * dtype.itemsize


def part_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype of a complex number's parts."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def vector_type(element: str, lanes: int) -> str:
    """Write the type of so many elements."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def shuffled(
    writer: "IRBuilder", kind: str, x: str, picks: Sequence[int], y: str = "poison"
) -> str:
    """Take some elements of one or two vectors of a type, counted through both."""
    mask = ", ".join([f"i32 {i}" for i in picks])
    return writer.emit(f"shufflevector {kind} {x}, {kind} {y}, <{len(picks)} x i32> <{mask}>")


def splat(name: str, kind: str, element: str, lanes: int) -> list[str]:
    """Write, under a name, a vector that has one element everywhere; `element` has its type."""
    zeros = f"<{lanes} x i32> zeroinitializer"
    return [
        f"{name}.one = insertelement {kind} poison, {element}, i64 0",
        f"{name} = shufflevector {kind} {name}.one, {kind} poison, {zeros}",
    ]


def iota(lanes: int) -> str:
    """Write the numbers of a vector's elements, from 0."""
    return f"<{', '.join(f'i64 {i}' for i in range(lanes))}>"


BOOL, FLOAT32, FLOAT64 = np.dtype(bool), np.dtype(np.float32), np.dtype(np.float64)
INT32, INT64, UINT64 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint64)

SATURATES = platform.machine().lower() in {"arm64", "aarch64"}
"""Whether the processor takes a float that is out of range to the nearest integer. Those of Intel's
kind give the least integer for all such, and nan."""


@define(eq=False)
class IRBuilder:
    """Builds a straight-line sequence of typed LLVM instructions, with constants folded by name.

    Attributes
    ----------
    lanes : int
        How many elements a value has; with one it is a plain number, else a vector. A power of 2.
    library : Library
        Whose functions may be called.
    prefix : str
        What the names of values begin with.
    by_vectors : bool
        Whether to refuse functions that the library has for single elements alone.
    lines : list of str
        The instructions.
    declarations : dict
        The functions that are called, each with the line that declares it.
    """

    lanes: int
    library: Library
    prefix: str = "%t"
    by_vectors: bool = False
    lines: list[str] = field(factory=list, init=False)
    declarations: dict[str, str] = field(factory=dict, init=False)
    _types: dict[Any, str] = field(factory=dict, init=False)
    _literals: dict[Any, str] = field(factory=dict, init=False)
    _numbers: dict[tuple[str, Any], Any] = field(factory=dict, init=False)

    def emit(self, instruction: str) -> str:
        """Write an instruction, and give its result a name."""
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {instruction}")
        return name

    def type_of(self, dtype: np.dtype[Any]) -> str:
        """Write the type of a value; of a bool's lanes, i1."""
        found = self._types.get(dtype)
        if found is None:
            found = self._types[dtype] = vector_type(element_type(dtype), self.lanes)
        return found

    def constant(self, value: Any, dtype: np.dtype[Any]) -> "VectorValue":
        """Give a number, the same for all elements."""
        if dtype.kind == "c":
            part = part_of(dtype)
            return ComplexVector(
                self, "", dtype, self.constant(value.real, part), self.constant(value.imag, part)
            )
        key = (value, type(value), dtype) if value else (repr(value), dtype)  # -0.0 == 0.0
        found = self._literals.get(key)
        if found is None:
            found = literal(value, dtype)
            if self.lanes > 1:
                element = element_type(dtype)
                found = f"<{', '.join([f'{element} {found}'] * self.lanes)}>"
            self._literals[key] = found
            self._numbers[found, dtype] = value
        return VectorValue(self, found, dtype)

    def number(self, x: "VectorValue") -> Any:
        """Give the number that a constant is; None of what is computed."""
        return self._numbers.get((x.name, x.dtype))

    def two(self, sign: str, x: "VectorValue", y: "VectorValue") -> "VectorValue":
        """Compute or compare two values of one dtype."""
        word = INSTRUCTIONS[sign][FAMILY[x.dtype.kind]]
        name = self.emit(f"{word} {self.type_of(x.dtype)} {x.name}, {y.name}")
        return VectorValue(self, name, BOOL if sign in COMPARISONS else x.dtype)

    def convert(self, word: str, x: "VectorValue", dtype: np.dtype[Any]) -> "VectorValue":
        """Write one of LLVM's conversions: ``sitofp``, ``trunc`` ..."""
        given, wanted = self.type_of(x.dtype), self.type_of(dtype)
        return VectorValue(self, self.emit(f"{word} {given} {x.name} to {wanted}"), dtype)

    def intrinsic(self, name: str, *args: "VectorValue") -> "VectorValue":
        """Call one of LLVM's functions that is of its first operand's type: ``sqrt``, ``ctpop``."""
        dtype = args[0].dtype
        suffix = f"{'f' if dtype.kind == 'f' else 'i'}{width_of(dtype)}"
        suffix = suffix if self.lanes == 1 else f"v{self.lanes}{suffix}"
        kinds = [self.type_of(x.dtype) for x in args]
        names = [x.name for x in args]
        return VectorValue(
            self, call(self, f"@llvm.{name}.{suffix}", kinds[0], kinds, names), dtype
        )

    def function(self, name: str, *args: "VectorValue") -> "VectorValue":
        """Call a function of the library on floats of one dtype, by C's name for it."""
        dtype = args[0].dtype
        return VectorValue(self, call_of_library(self, name, dtype, [x.name for x in args]), dtype)


def written(sign: str) -> Callable[[Any, Any], "VectorValue"]:
    """Make the method of an operator."""
    return lambda self, other: self._two(sign, other)


def reflected(sign: str) -> Callable[[Any, Any], "VectorValue"]:
    """Make the method of an operator whose second operand is the value."""
    return lambda self, other: self.like(other)._two(sign, self)


@define(eq=False, repr=False)
class VectorValue:
    """A value in LLVM's instructions: a scalar, or a vector of elements of one dtype.

    Its operators are LLVM's, and wrap around for integers; division and shifts are for operands
    of which LLVM says what comes out. A Python number beside a value takes its dtype.

    Attributes
    ----------
    builder : IRBuilder
    name : str
        What the instructions call it, or the number itself.
    dtype : dtype
        Bools are i1 here, and a byte in memory.
    """

    builder: IRBuilder
    name: str
    dtype: np.dtype[Any]

    __hash__: ClassVar[Any] = object.__hash__

    def like(self, other: Any) -> "VectorValue":
        """Give another operand, which may be a Python number."""
        return other if isinstance(other, VectorValue) else self.builder.constant(other, self.dtype)

    def _two(self, sign: str, other: Any) -> "VectorValue":
        return self.builder.two(sign, self, self.like(other))

    __add__, __radd__ = written("+"), reflected("+")
    __sub__, __rsub__ = written("-"), reflected("-")
    __mul__, __rmul__ = written("*"), reflected("*")
    __truediv__, __rtruediv__ = written("/"), reflected("/")
    __mod__ = written("%")
    __and__, __or__, __xor__ = written("&"), written("|"), written("^")
    __lshift__, __rshift__ = written("<<"), written(">>")
    __lt__, __le__, __gt__, __ge__ = written("<"), written("<="), written(">"), written(">=")
    __eq__ = written("==")  # type: ignore[assignment]  # a value of bools
    __ne__ = written("!=")  # type: ignore[assignment]  # the same

    def __neg__(self) -> "VectorValue":
        if self.dtype.kind != "f":
            return 0 - self
        kind = self.builder.type_of(self.dtype)
        return VectorValue(self.builder, self.builder.emit(f"fneg {kind} {self.name}"), self.dtype)

    def __invert__(self) -> "VectorValue":
        return self ^ (True if self.dtype.kind == "b" else -1)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.dtype}>"


@define(eq=False, repr=False)
class ComplexVector(VectorValue):
    """A complex value, which is two real ones.

    Attributes
    ----------
    re, im : VectorValue
    """

    re: VectorValue
    im: VectorValue

    __hash__: ClassVar[Any] = object.__hash__

    @classmethod
    def of(cls, re: VectorValue, im: VectorValue) -> "ComplexVector":
        """Make one of its parts."""
        return cls(re.builder, "", np.dtype(f"c{2 * re.dtype.itemsize}"), re, im)

    def _two(self, sign: str, other: Any) -> VectorValue:
        other = self.like(other)
        re, im = self.re._two(sign, other.re), self.im._two(sign, other.im)
        if sign == "==":
            return re & im
        if sign == "!=":
            return re | im
        if sign in {"+", "-"}:
            return ComplexVector.of(re, im)
        raise NotImplementedError(sign)

    def __neg__(self) -> VectorValue:
        return ComplexVector.of(-self.re, -self.im)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.re.name}, {self.im.name}: {self.dtype}>"


def select(condition: VectorValue, x: Any, y: Any) -> VectorValue:
    """Choose between two values of one dtype, element by element; one may be a Python number."""
    x, y = (x, x.like(y)) if isinstance(x, VectorValue) else (y.like(x), y)
    if isinstance(x, ComplexVector):
        return ComplexVector.of(select(condition, x.re, y.re), select(condition, x.im, y.im))
    builder, kind = x.builder, x.builder.type_of(x.dtype)
    which = f"{builder.type_of(BOOL)} {condition.name}"
    return VectorValue(
        builder, builder.emit(f"select {which}, {kind} {x.name}, {kind} {y.name}"), x.dtype
    )


def cast(x: VectorValue, dtype: np.dtype[Any]) -> VectorValue:
    """Give a value in another dtype, as `ndarray.astype` does."""
    return x if x.dtype == dtype else CASTS[dtype.kind](x, dtype)


def to_bool(x: VectorValue, dtype: np.dtype[Any]) -> VectorValue:
    """Tell which elements are not zero; nan is none."""
    return x != (0 if x.dtype.kind != "f" else 0.0)


def to_complex(x: VectorValue, dtype: np.dtype[Any]) -> VectorValue:
    """Cast the real and the imaginary part to those of a complex dtype."""
    part = part_of(dtype)
    if isinstance(x, ComplexVector):
        return ComplexVector.of(cast(x.re, part), cast(x.im, part))
    re = cast(x, part)
    return ComplexVector.of(re, re.like(0.0))


def to_float(x: VectorValue, dtype: np.dtype[Any]) -> VectorValue:
    """Round to the nearest float; of a complex number the real part."""
    if isinstance(x, ComplexVector):
        return cast(x.re, dtype)
    if x.dtype.kind != "f":
        return x.builder.convert("sitofp" if x.dtype.kind == "i" else "uitofp", x, dtype)
    return x.builder.convert("fpext" if dtype.itemsize > x.dtype.itemsize else "fptrunc", x, dtype)


def to_integer(x: VectorValue, dtype: np.dtype[Any]) -> VectorValue:
    """Give an integer of another size or sign, or cut off a float's fraction."""
    if isinstance(x, ComplexVector):
        return cast(x.re, dtype)
    return truncated(x, dtype) if x.dtype.kind == "f" else resized(x, dtype)


CASTS = {"b": to_bool, "c": to_complex, "f": to_float, "i": to_integer, "u": to_integer}


def resized(x: VectorValue, dtype: np.dtype[Any]) -> VectorValue:
    """Give an integer or a bool as an integer of another size or sign."""
    given, wanted = width_of(x.dtype), width_of(dtype)
    if given == wanted:
        return VectorValue(x.builder, x.name, dtype)
    if given > wanted:
        return x.builder.convert("trunc", x, dtype)
    return x.builder.convert("sext" if x.dtype.kind == "i" else "zext", x, dtype)


def truncated(x: VectorValue, dtype: np.dtype[Any]) -> VectorValue:
    """Cut off a float's fraction.

    What is out of range has no result in C, and none in LLVM. As compilers do it for NumPy, a small
    integer is the lower bits of a larger one, and that is what the processor gives.
    """
    if dtype == UINT64:
        half = 2.0**63  # what the processor cannot do, as it knows no unsigned integers
        large = x >= half
        found = to_signed(select(large, x - half, x), INT64)
        return select(large, resized(found, UINT64) ^ (1 << 63), resized(found, UINT64))
    fits = dtype.itemsize < 4 or dtype == INT32
    return resized(to_signed(x, INT32 if fits else INT64), dtype)


def to_signed(x: VectorValue, dtype: np.dtype[Any]) -> VectorValue:
    """Cut off a float's fraction, as one instruction of the processor does."""
    least = float(np.iinfo(dtype).min)
    if SATURATES:
        most = int(np.iinfo(dtype).max)
        safe = select((x > least) & (x < -least), x, 0.0)
        found = select(x >= -least, most, x.builder.convert("fptosi", safe, dtype))
        return select(x <= least, int(least), found)
    fits = (x > least - 1) if dtype == INT32 and x.dtype == FLOAT64 else (x >= least)
    fits &= x < -least
    found = x.builder.convert("fptosi", select(fits, x, 0.0), dtype)
    return select(fits, found, int(least))
