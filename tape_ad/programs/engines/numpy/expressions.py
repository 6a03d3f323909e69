"""Calls that are written in another way than by the function's name: shorter, with the same bits.

NumPy's functions in Python come down to a ufunc or a method, and take up to three times as long on
a small array.
"""

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.numpy.arguments import Arguments
from tape_ad.programs.engines.out_support import dtype_of_reduction
from tape_ad.programs.program.native import element, python_number
from tape_ad.programs.program.program import Call, Value
from tape_ad.record.gradients import through_buffer
from tape_ad.rules import known_facts

__all__ = ["expression_of"]

Expression = Callable[[Arguments, Call], str | None]
"""Gives None for a call that has to be written by its name."""

NUMBERS = frozenset({float, np.float64})
EXACT = 2**53
"""Up to which integers are float64 too."""


def infix(sign: str, arguments: Arguments, call: Call) -> str | None:
    """Write an operator between numbers, which NumPy's scalars answer ten times as fast."""
    if call.kwargs or len(call.args) != 2 or not all(map(is_number, call.args)):
        return None
    if not any(map(is_scalar, call.args)):  # of two Python floats, they would give a Python float
        return None
    x, y = map(arguments.one, call.args)
    return f"{x} {sign} {y}"


def prefix(form: str, arguments: Arguments, call: Call) -> str | None:
    """Write an operator on a number."""
    if call.kwargs or len(call.args) != 1 or not is_scalar(call.args[0]):
        return None
    return form.format(arguments.one(call.args[0]))


def is_number(operand: Any) -> bool:
    """Tell whether Python's operators compute float64 with an operand, as the ufunc does."""
    if type(operand) is Value:
        return operand.kind in NUMBERS
    return type(operand) is float or (type(operand) is int and abs(operand) <= EXACT)


def is_scalar(operand: Any) -> bool:
    """Tell whether an operand is one of NumPy's float64 scalars."""
    return type(operand) is Value and operand.kind is np.float64


def pythons(form: str, arguments: Arguments, call: Call) -> str:
    """Write a function of `operator`."""
    words = map(arguments.one, call.args)
    return form.format(*(f"({word})" if word.startswith("-") else word for word in words))


def item(arguments: Arguments, call: Call) -> str:
    """Write ``x[key]``."""
    array, key = call.args
    return f"{arguments.one(array)}[{arguments.key(key)}]"


def reduction(ufunc: np.ufunc, arguments: Arguments, call: Call) -> str | None:
    """Write `np.sum` and its kind as the ``ufunc.reduce`` that they call."""
    options = named(call, "a", "axis", "dtype", "out", "keepdims")
    if options is None or not is_array(options["a"]) or options.get("out") is not None:
        return None
    given = options.get("dtype", dtype_of_reduction(ufunc))
    words = [options["a"], options.get("axis")]
    keepdims = bool(options.get("keepdims", False))
    if given is not None or keepdims:
        words.append(given)
    if keepdims:
        words += [None, True]
    return f"{arguments.names.function(ufunc.reduce)}({arguments.all(tuple(words), {})})"


def transposed(arguments: Arguments, call: Call) -> str | None:
    """Write `np.matrix_transpose`."""
    if len(call.args) != 1 or call.kwargs or not is_array(call.args[0]):
        return None
    return f"{arguments.one(call.args[0])}.swapaxes(-1, -2)"


def reduced(arguments: Arguments, call: Call) -> str | None:
    """Write ``ufunc.reduce`` with its arguments by position, in half of the time for them."""
    options = named(call, "array", "axis", "dtype", "out", "keepdims")
    if options is None or not is_array(options.get("array")):
        return None
    words: list[Any] = [options["array"], options.get("axis", 0)]
    if options.get("keepdims", False) is not False:
        words += [options.get("dtype"), None, True]
    elif options.get("dtype") is not None:
        words.append(options["dtype"])
    return f"{arguments.names.function(call.function)}({arguments.all(tuple(words), {})})"


def method(name: str, options: tuple[str, ...], arguments: Arguments, call: Call) -> str | None:
    """Write a function of an array as the array's method."""
    if not call.args or not is_array(call.args[0]) or not set(call.kwargs) <= set(options):
        return None
    array, *rest = call.args
    if name == "reshape" and len(rest) != 1:  # the method takes an order by its name only
        return None
    return f"{arguments.one(array)}.{name}({arguments.all(tuple(rest), call.kwargs)})"


def attribute(name: str, arguments: Arguments, call: Call) -> str | None:
    """Write `np.real` and `np.imag`."""
    if len(call.args) != 1 or not is_array(call.args[0]):
        return None
    return f"{arguments.one(call.args[0])}.{name}"


def reshaped(arguments: Arguments, call: Call) -> str | None:
    """Write `np.expand_dims`, which works the new shape out each time."""
    if not call.args or not is_array(call.args[0]):
        return None
    return f"{arguments.one(call.args[0])}.reshape({call.outputs[0].shape})"


def moved(arguments: Arguments, call: Call) -> str | None:
    """Write `np.moveaxis`, which works the order of axes out each time."""
    options = named(call, "a", "source", "destination")
    if options is None or len(options) != 3 or not is_array(options["a"]):
        return None
    order = order_of(len(options["a"].shape), options["source"], options["destination"])
    return f"{arguments.one(options['a'])}.transpose({order})"


def order_of(ndim: int, source: Any, destination: Any) -> tuple[int, ...]:
    """Find the order of axes that `np.moveaxis` gives."""
    sizes = np.empty(tuple(range(ndim)))  # axis i has i elements
    return np.moveaxis(sizes, source, destination).shape


def named(call: Call, *parameters: str) -> dict[str, Any] | None:
    """Give a call's arguments by name; None if there are others."""
    if len(call.args) > len(parameters) or not set(call.kwargs) <= set(parameters):
        return None
    return dict(zip(parameters, call.args, strict=False)) | dict(call.kwargs)


def is_array(operand: Any) -> bool:
    """Tell whether an operand is an array, not a number of any kind."""
    return type(operand) is Value and operand.kind is np.ndarray


def table(form: Callable[..., Any], rows: Mapping[Any, Any]) -> dict[Any, Expression]:
    """Make entries of a table, with what each function is written as."""
    return {
        function: functools.partial(form, *(to if type(to) is tuple else (to,)))
        for function, to in rows.items()
    }


INFIX = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.divide: "/",
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
}


def taken(arguments: Arguments, call: Call) -> str:
    """Write that a number is taken out of an array of one element."""
    array = arguments.one(call.args[0])
    return f"{array}[()]" if call.function is element else f"{array}.item()"


def buffered(arguments: Arguments, call: Call) -> str:
    """Write `through_buffer` for what is an array, or a number, of NumPy's for sure."""
    asarray = arguments.names.function(np.asarray)
    return f"{asarray}({arguments.one(call.args[0])}.data.toreadonly())"


PYTHONS = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.truediv: "{} / {}",
    operator.floordiv: "{} // {}",
    operator.mod: "{} % {}",
    operator.pow: "{} ** {}",
    operator.neg: "-{}",
    operator.pos: "+{}",
    operator.abs: "abs({})",
    operator.eq: "{} == {}",
    operator.ne: "{} != {}",
    operator.lt: "{} < {}",
    operator.le: "{} <= {}",
    operator.gt: "{} > {}",
    operator.ge: "{} >= {}",
    operator.and_: "{} & {}",
    operator.or_: "{} | {}",
    operator.xor: "{} ^ {}",
    operator.invert: "~{}",
}

METHODS: dict[Any, tuple[str, tuple[str, ...]]] = {
    np.reshape: ("reshape", ("order",)),
    np.transpose: ("transpose", ()),
    np.swapaxes: ("swapaxes", ()),
    np.squeeze: ("squeeze", ("axis",)),
    np.ravel: ("ravel", ("order",)),
    np.diagonal: ("diagonal", ("offset", "axis1", "axis2")),
    np.take: ("take", ("indices", "axis", "mode")),
    np.repeat: ("repeat", ("repeats", "axis")),
    np.cumsum: ("cumsum", ("axis", "dtype")),
    np.argmax: ("argmax", ("axis", "keepdims")),
    np.argmin: ("argmin", ("axis", "keepdims")),
    np.mean: ("mean", ("axis", "dtype", "keepdims")),
}

EXPRESSIONS: dict[Any, Expression] = {
    operator.getitem: item,
    np.expand_dims: reshaped,
    element: taken,
    through_buffer: buffered,
    python_number: taken,
    np.matrix_transpose: transposed,
    **dict.fromkeys((np.add.reduce, np.maximum.reduce, np.minimum.reduce), reduced),
    np.moveaxis: moved,
    **table(infix, INFIX),
    **table(prefix, {np.negative: "-{}", np.absolute: "abs({})"}),
    **table(pythons, PYTHONS),
    **table(method, METHODS),
    **table(attribute, {np.real: "real", np.imag: "imag"}),
}
"""How calls of a function are written."""


def expression_of(function: Any) -> Expression | None:
    """Find how calls of a function are written, if it is in a form of their own."""
    form = EXPRESSIONS.get(function)
    ufunc = known_facts(function).reduces if form is None else None
    return form if ufunc is None else functools.partial(reduction, ufunc)
