"""How functions of single elements are written as instructions, one line per function.

What NumPy computes exactly comes out to the bit: arithmetic, comparisons, roundings, integers. The
functions of a library are called by their names in C. Where NumPy's own formula is more than one
operation, its order is kept, and what it does with nan, infinities and zeros of either sign.
"""

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.naming import PYTHON_OPERATORS
from tape_ad.programs.capture.op_facts import is_view
from tape_ad.programs.capture.tracers import cast as cast_array
from tape_ad.programs.engines.native.codegen.compositions import COMPLEX, composition_of
from tape_ad.programs.engines.native.codegen.floats import (
    CLIP,
    FLOATING,
    ORDER,
    Formula,
    is_finite,
    never,
)
from tape_ad.programs.engines.native.codegen.integers import INTEGRAL, LOGICAL
from tape_ad.programs.engines.native.codegen.ir_builder import (
    BOOL,
    UINT64,
    IRBuilder,
    Library,
    VectorValue,
    cast,
    resized,
    select,
)
from tape_ad.programs.passes.inlining import (
    NotInlined,
    elementwise_body,
    kind_of,
    resolved,
    traced_body,
)
from tape_ad.programs.program import Call, Value

LEAST = int(np.iinfo(np.int64).min)
EXACT = 2**53
"""Up to where floats hold every integer, so that their quotient is rounded once."""


def by_zero(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether a float is divided by zero."""
    return y == 0.0


def no_power(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether a power is infinite or complex, or a root that NumPy computes otherwise."""
    lost = is_finite(x) & is_finite(y) & ~is_finite(result)
    return lost | ((x <= 0.0) & (y == 0.5))


def no_sum(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether the sum has another sign than both operands."""
    return ((x ^ result) & (y ^ result)) < 0


def no_difference(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether x - y has left its bounds: what is y + (x - y) then."""
    return ((x ^ y) & (x ^ result)) < 0


def no_product(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether the high half of the product is more than a sign."""
    builder = x.builder
    if builder.lanes > 1:
        raise NotImplementedError("Python's integers are single ones")
    name = "@llvm.smul.with.overflow.i64"
    builder.declarations[name] = f"declare {{i64, i1}} {name}(i64, i64)"
    both = builder.emit(f"call {{i64, i1}} {name}(i64 {x.name}, i64 {y.name})")
    return VectorValue(builder, builder.emit(f"extractvalue {{i64, i1}} {both}, 1"), BOOL)


def no_quotient(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether an integer is divided by zero, or the least one by -1."""
    return (y == 0) | ((x == LEAST) & (y == -1))


def no_float(result: VectorValue, x: VectorValue, y: VectorValue) -> VectorValue:
    """Tell whether a quotient of integers may be no quotient of floats."""
    inexact = [(z > EXACT) | (z < -EXACT) for z in (x, y)]
    return (y == 0) | inexact[0] | inexact[1]


NEVER_FAILING = (operator.pos, *ORDER.values())
FAILURES: Mapping[str, Mapping[Any, Callable[..., VectorValue]]] = MappingProxyType(
    {
        "f": {
            **dict.fromkeys((operator.add, operator.sub, operator.mul), never),
            **dict.fromkeys((operator.neg, operator.abs, *NEVER_FAILING), never),
            **dict.fromkeys((operator.truediv, operator.floordiv, operator.mod), by_zero),
            operator.pow: no_power,
        },
        "i": {
            **dict.fromkeys((operator.and_, operator.or_, operator.xor), never),
            **dict.fromkeys((operator.invert, *NEVER_FAILING), never),
            operator.add: no_sum,
            operator.sub: no_difference,
            operator.mul: no_product,
            operator.neg: lambda result, x: x == LEAST,
            operator.abs: lambda result, x: x == LEAST,
            operator.truediv: no_float,
            operator.floordiv: no_quotient,
            operator.mod: no_quotient,
        },
    }
)
"""By the kind of the operands' dtype, float64 or int64, and the function."""


def failing(function: Any, *args: VectorValue) -> VectorValue:
    """Tell where what `elementwise.lowered` gives is not what Python gives of its own numbers.

    Parameters
    ----------
    function : callable
        One of `operator`, of Python's floats or integers.
    *args : VectorValue
        The operands, of one dtype, and what the instructions give.

    Returns
    -------
    VectorValue
        Bools.

    Raises
    ------
    LookupError
        The function has to be left to Python.
    """
    *operands, result = args
    found: VectorValue = FAILURES[operands[0].dtype.kind][function](result, *operands)
    return found


BY_KIND = MappingProxyType(
    {"f": FLOATING, "i": INTEGRAL, "u": INTEGRAL, "b": LOGICAL, "c": COMPLEX}
)
"""The formulas of ufuncs, by the kind of their operands' dtype."""

UFUNCS: Mapping[Any, Any] = MappingProxyType(
    {function: ufunc for ufunc, function in PYTHON_OPERATORS.items() if ufunc is not np.matmul}
    | {np.clip: CLIP}
)
"""The ufuncs that operators and functions stand for."""

WIDTHS = frozenset({1, 2, 4, 8})


@frozen
class Bound:
    """A function with what it is called with beside its operands.

    Attributes
    ----------
    function : callable
    rest : tuple
        Its further arguments.
    options : tuple of (str, any)
        Those with a name.
    """

    function: Any
    rest: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    _signs: str = field(init=False, repr=False)

    @_signs.default
    def _(self) -> str:
        return repr((self.rest, self.options))  # by which 0.0 is not -0.0


@frozen
class Failing:
    """Whether Python has no such result of its own numbers; see `FAILURES`.

    Its operands are those of the function, and the result.

    Attributes
    ----------
    function : callable
    """

    function: Any


def bound(formula: Formula, further: Bound, *args: VectorValue) -> VectorValue:
    """Write a formula that takes more than operands."""
    return formula(*args, *further.rest, **dict(further.options))


def mixed(compare: Any) -> Formula:
    """Make the formula that compares a signed integer with an unsigned one of 64 bits."""

    def formula(x: VectorValue, y: VectorValue) -> VectorValue:
        plain = compare(resized(x, UINT64), resized(y, UINT64))
        signed, answer = (x, compare(-1, 0)) if x.dtype.kind == "i" else (y, compare(0, -1))
        return select(signed < 0, plain.like(answer), plain)

    return formula


def operands_of(function: Any) -> int | None:
    """Count the arguments of a function, the first ones, that are arrays; None if it is unknown.

    What else it is called with is what `Bound` is for.
    """
    if type(function).__hash__ is None:
        return None
    ufunc = UFUNCS.get(function, function)
    found = composition_of(ufunc)
    if found is not None:
        return found.operands
    _, operands = elementwise_body(function)
    if operands:
        return operands
    known = isinstance(ufunc, np.ufunc) and any(ufunc in table for table in BY_KIND.values())
    return ufunc.nin if known else None


@functools.lru_cache(maxsize=4096)
def formula_of(function: Any, dtypes: tuple[np.dtype[Any], ...]) -> Formula | None:
    """Find the formula of a function of such operands."""
    if isinstance(function, Bound):
        plain = formula_of(function.function, dtypes)
        return plain and functools.partial(bound, plain, function)
    if isinstance(function, Failing):
        return functools.partial(failing, function.function)
    ufunc = UFUNCS.get(function, function)
    found = composition_of(ufunc)
    if found is not None:
        return found.formula if found.takes(dtypes[:-1]) else None
    if isinstance(ufunc, np.ufunc):
        return formula_of_ufunc(ufunc, dtypes)
    body, operands = elementwise_body(function)
    known = body is not None and len(dtypes) == operands + 1
    return functools.partial(by_body, body) if known else None


def formula_of_ufunc(ufunc: Any, dtypes: tuple[np.dtype[Any], ...]) -> Formula | None:
    """Find the formula of a ufunc of such operands."""
    given, kind = set(dtypes[:-1]), dtypes[0].kind
    if len(dtypes) != ufunc.nin + 1:
        return None
    if len(given) > 1:
        whole = ufunc in ORDER and {x.str[1:] for x in given} == {"i8", "u8"}
        return mixed(ORDER[ufunc]) if whole else None
    return BY_KIND.get(kind, {}).get(ufunc)


def by_body(body: Any, *args: Any, **options: Any) -> VectorValue:
    """Write the calls that the lines of a function make for one element."""
    operands = [arg for arg in args if isinstance(arg, VectorValue)]
    rest = Bound(body, args[len(operands) :], tuple(options.items()))
    inputs, calls, result = calls_for_element(rest, tuple([x.dtype for x in operands]))
    known = dict(zip(inputs, operands, strict=True))
    for call in calls:
        known[call.outputs[0]] = one_call(operands[0].builder, call, known)
    return known[result]


@functools.lru_cache(maxsize=4096)
def calls_for_element(
    asked: Bound, dtypes: tuple[np.dtype[Any], ...]
) -> tuple[Sequence[Value], Sequence[Call], Value]:
    """Trace a body, called with single elements and with what else is asked."""
    inputs = [Value(dtype.type, (), dtype) for dtype in dtypes]
    calls, results = traced_body(asked.function, (*inputs, *asked.rest), dict(asked.options))
    if len(results) > 1:
        raise NotInlined("several results")
    return inputs, calls, results[0]


def one_call(builder: IRBuilder, call: Call, known: Mapping[Value, VectorValue]) -> VectorValue:
    """Write one of the calls of a body."""
    out, first = call.outputs[0], call.args[0]
    assert out.dtype is not None  # noqa: S101 - for mypy: it is no Python number
    if call.function is cast_array:
        return cast(known[first], out.dtype)
    if is_view(call) and call.function not in (np.real, np.imag):
        return known[first]  # of one element all are alike
    ufunc = UFUNCS.get(call.function, call.function)
    dtypes: Sequence[np.dtype[Any]] | None = [out.dtype] * 4
    if isinstance(ufunc, np.ufunc):
        dtypes = resolved(ufunc, tuple(map(kind_of, call.args)))
    elif ufunc is np.where:
        dtypes = [known[first].dtype, *[out.dtype] * 3]
    if dtypes is None:
        raise LookupError(f"no formula for {call.function} of such dtypes")
    args = [
        cast(known[arg], dtype) if type(arg) is Value else builder.constant(arg, dtype)
        for arg, dtype in zip(call.args, dtypes, strict=False)
    ]
    return lowered(builder, ufunc, (*dtypes[: len(args)], out.dtype), args)


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Tell whether a dtype is one that instructions know, in the processor's order of bytes."""
    size = dtype.itemsize
    known = {"b": size == 1, "f": size in {4, 8}, "c": size in {8, 16}}
    return dtype.isnative and known.get(dtype.kind, dtype.kind in "iu" and size in WIDTHS)


@functools.lru_cache(maxsize=4096)
def can_lower(
    function: Any,
    dtypes: tuple[np.dtype[Any], ...],
    library: Library,
    lanes: int = 1,
) -> bool:
    """Tell whether a function can be written as instructions.

    Parameters
    ----------
    function : callable, Bound or Failing
        With a hash.
    dtypes : tuple of dtype
        Of the operands as it takes them, and of the result.
    library : Library
    lanes : int
        For how many elements at once. A function that the library has for single ones alone is
        not written for several.

    Returns
    -------
    bool
    """
    formula = formula_of(function, dtypes) if all(map(is_plain, dtypes)) else None
    if formula is None:
        return False
    builder = IRBuilder(lanes, library, by_vectors=lanes > 1)
    try:
        args = [tried(builder, dtype) for dtype in dtypes[:-1]]
        return formula(*args).dtype == dtypes[-1]
    except (
        LookupError,
        NotImplementedError,
        NotInlined,
        TypeError,
    ):  # the last for options that it has not
        return False


def tried(builder: IRBuilder, dtype: np.dtype[Any]) -> VectorValue:
    """Make an operand to try a formula with."""
    if dtype.kind == "c":
        return builder.constant(dtype.type(0), dtype)
    return VectorValue(builder, "%x", dtype)


def lowered(
    builder: IRBuilder,
    function: Any,
    dtypes: Sequence[np.dtype[Any]],
    args: Sequence[VectorValue],
) -> VectorValue:
    """Write a function as instructions.

    Parameters
    ----------
    builder : IRBuilder
    function : callable, Bound or Failing
        One for which `can_lower` says yes.
    dtypes : sequence of dtype
        Of the operands as it takes them, and of the result.
    args : sequence of VectorValue
        The operands, of those dtypes; numbers that are known as `IRBuilder.constant` gives them.

    Returns
    -------
    VectorValue
        The result, of the last dtype.
    """
    formula = formula_of(function, tuple(dtypes))
    if formula is None:
        raise LookupError(f"no formula for {function} of {dtypes[0]}")
    return formula(*args)
