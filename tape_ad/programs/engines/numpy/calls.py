"""Calls written as Python: arguments, shorter forms with the same bits, results in place."""

import builtins
import functools
import keyword
import math
import operator
import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.naming import COMPARISONS, OPERATORS, PREFIXES, PYTHON_OPERATORS, function_name
from tape_ad.base.trees import structure_of
from tape_ad.programs.engines.plans import is_c, reduction_of
from tape_ad.programs.engines.segments import element, placed_number, python_number
from tape_ad.programs.program import DISPLAYS, Call, Display, Value, replaced, values_in
from tape_ad.record.gradients import through_buffer
from tape_ad.rules import known_facts
from tape_ad.rules.maps.indexing import Index, added_at, scatter
from tape_ad.rules.maps.memory import names_each_once
from tape_ad.rules.maps.reductions import filled_with
from tape_ad.rules.nn.activations import relu
from tape_ad.rules.numpy.updates import updated

OURS = "Diverged np base64 replay answer _ idle work workspace memory part start"
"""What the texts call their own things."""


@define(eq=False)
class Names:
    """Names that are all different, and the objects that some of them stand for.

    Attributes
    ----------
    bound : dict of str to any
        Functions, arrays and other objects that a text refers to by name.
    """

    bound: dict[str, Any] = field(factory=dict)
    taken: set[str] = field(factory=lambda: {*dir(builtins), *keyword.kwlist, *OURS.split()})
    _of: dict[Any, str] = field(factory=dict)
    _last: dict[str, int] = field(factory=dict)
    _free: list[str] = field(factory=list)
    _count: int = 0

    def new(self, wish: str) -> str:
        """Make a name from what one would like to call it."""
        stem = re.sub(r"\W+", "_", wish).strip("_") or "x"
        stem = stem if stem.isidentifier() else f"x_{stem}"
        name, number = stem, self._last.get(stem, 1)
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self._last[stem] = number  # or thousands of constants would be counted through for each
        self.taken.add(name)
        return name

    def function(self, function: Any) -> str:
        """Name a function, and bind it."""
        try:
            name = self._of.get(function)
        except TypeError:  # no hash
            return self.object(function, "function")
        if name is None:
            wish = function_name(function)
            if getattr(builtins, wish, None) is function:
                return wish
            name = self._of[function] = self.new(wish)
            self.bound[name] = function
        return name

    def object(self, thing: Any, stem: str) -> str:
        """Name any other object, and bind it; the very same one has one name."""
        return self._named(("object", id(thing)), stem, thing)  # its id stays its own while bound

    def dtype(self, dtype: np.dtype[Any]) -> str:
        """Name a dtype, and bind it."""
        return self._named(("dtype", dtype.str), dtype.name, dtype)

    def number(self, number: complex, dtype: np.dtype[Any]) -> str:
        """Name an array that holds one number, and bind it."""
        key = "number", repr(number), dtype.num, dtype.byteorder
        name = self._of.get(key)
        return name or self._named(key, f"number_{number}", np.array(number, dtype))

    def _named(self, key: Any, wish: str, thing: Any) -> str:
        name = self._of.get(key)
        if name is None:
            name = self._of[key] = self.new(wish)
            self.bound[name] = thing
        return name

    def value(self) -> str:
        """Name a value: one that is free again, so that what it stood for goes, or a new one."""
        if self._free:
            return self._free.pop()
        while True:
            self._count += 1
            name = f"v{self._count}"
            if name not in self.taken:
                self.taken.add(name)
                return name

    def free(self, name: str) -> None:
        """Give a value's name back."""
        self._free.append(name)

    def is_free(self, name: str) -> bool:
        """Tell whether a value's name has been given back and not been taken again."""
        return name in self._free


INDEX = ("key", "parent", "node", "repeats", "front", "by_truth")
"""What `scatter` asks of an index."""

LITERAL = frozenset({int, bool, type(None), str, type(Ellipsis)})


FORMS_OF_TREES: Mapping[type, Display] = {
    **DISPLAYS,
    slice: lambda one, tree: f"slice({one(tree.start)}, {one(tree.stop)}, {one(tree.step)})",
}


class Arguments:
    """What writes arguments, for a text with certain names.

    Parameters
    ----------
    names : Names
    of : mapping of Value to str
        How values are called at present.
    readable : bool
        Whether the text has to do without our classes.
    """

    def __init__(self, names: Names, of: Mapping[Value, str], readable: bool = False) -> None:
        self.names, self.of, self.readable = names, of, readable

    def one(self, tree: Any) -> str:
        """Write one argument as Python text."""
        kind = type(tree)
        if kind is Value:
            return self.of[tree]
        if kind in LITERAL or (kind is float and math.isfinite(tree)):
            return "..." if tree is ... else repr(tree)
        form = FORMS_OF_TREES.get(kind)
        if form is not None:
            return form(self.one, tree)
        if self.readable and kind is Index:
            fields = ((name, getattr(tree, name)) for name in INDEX)
            inner = ", ".join(f"{name}={self.one(field)}" for name, field in fields)
            return f"{self.names.function(SimpleNamespace)}({inner})"
        if structure_of(tree.__class__) is not None and (inside := values_in(tree)):
            inside = list(dict.fromkeys(inside))
            maker = self.names.object(maker_of(tree, inside), f"make_{kind.__name__}")
            return f"{maker}({', '.join(map(self.of.__getitem__, inside))})"
        return self.names.object(tree, stem_of(tree))

    def all(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Write the arguments of a call."""
        words = [self.of[arg] if type(arg) is Value else self.one(arg) for arg in args]
        if kwargs:
            words += [f"{option}={self.one(arg)}" for option, arg in kwargs.items()]
        return ", ".join(words)

    def key(self, key: Any) -> str:
        """Write what stands in brackets behind an array."""
        if type(key) is tuple and key:
            return ", ".join(map(self.entry, key)) + "," * (len(key) == 1)
        return self.entry(key)

    def entry(self, entry: Any) -> str:
        """Write an entry of a key."""
        if type(entry) is not slice:
            return self.one(entry)
        ends = [
            "" if end is None else self.one(end) for end in (entry.start, entry.stop, entry.step)
        ]
        return ":".join(ends if entry.step is not None else ends[:2])


def maker_of(tree: Any, inside: list[Value]) -> Callable[..., Any]:
    """Give a function that puts arrays in place of the values in a structure."""
    return lambda *arrays: replaced(tree, dict(zip(inside, arrays, strict=True)))


def stem_of(thing: Any) -> str:
    """Find a name for an object that has no other."""
    if isinstance(thing, type):
        return thing.__name__
    return "array" if hasattr(thing, "dtype") and hasattr(thing, "shape") else "constant"


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


def reduced(arguments: Arguments, call: Call) -> str | None:
    """Write a reduction by position, in half of the time for its arguments."""
    found = reduction_of(call)
    if found is None or not is_array(found[1][0]):
        return None
    reduce, (array, axis, dtype, keeps) = found
    words: tuple[Any, ...] = (array, axis)
    if keeps or dtype is not None:
        words += (dtype, None, True) if keeps else (dtype,)
    return f"{arguments.names.function(reduce)}({arguments.all(words, {})})"


def method(name: str, options: tuple[str, ...], arguments: Arguments, call: Call) -> str | None:
    """Write a function of an array as the array's method."""
    if not call.args or not is_array(call.args[0]) or not set(call.kwargs) <= set(options):
        return None
    array, *rest = call.args
    if name == "reshape" and len(rest) != 1:  # the method takes an order by its name only
        return None
    return f"{arguments.one(array)}.{name}({arguments.all(tuple(rest), call.kwargs)})"


def attribute(form: str, arguments: Arguments, call: Call) -> str | None:
    """Write a function of one array as what the array has itself."""
    if len(call.args) != 1 or call.kwargs or not is_array(call.args[0]):
        return None
    return form.format(arguments.one(call.args[0]))


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
    ufunc: sign
    for ufunc, (_, sign) in {**OPERATORS, **COMPARISONS}.items()
    if ufunc in COMPARISONS or ufunc in (np.add, np.subtract, np.multiply, np.divide)
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
    operator.abs: "abs({})",
    **{
        PYTHON_OPERATORS[ufunc]: f"{{}} {sign} {{}}"
        for ufunc, (_, sign) in {**OPERATORS, **COMPARISONS}.items()
    },
    **{PYTHON_OPERATORS[ufunc]: f"{sign}{{}}" for ufunc, (_, sign) in PREFIXES.items()},
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

ATTRIBUTES = {np.real: "{}.real", np.imag: "{}.imag", np.matrix_transpose: "{}.swapaxes(-1, -2)"}

EXPRESSIONS: dict[Any, Expression] = {
    operator.getitem: item,
    element: taken,
    through_buffer: buffered,
    python_number: taken,
    **dict.fromkeys((np.add.reduce, np.maximum.reduce, np.minimum.reduce), reduced),
    **table(infix, INFIX),
    **table(prefix, {np.negative: "-{}", np.absolute: "abs({})"}),
    **table(pythons, PYTHONS),
    **table(method, METHODS),
    **table(attribute, ATTRIBUTES),
}
"""How calls of a function are written."""


def expression_of(function: Any) -> Expression | None:
    """Find how calls of a function are written, if it is in a form of their own."""
    form = EXPRESSIONS.get(function)
    return reduced if form is None and known_facts(function).reduces is not None else form


def with_out(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write a call whose result lands in an array that is there.

    Parameters
    ----------
    arguments : Arguments
    call : Call
        One that `plans.fills` says can do it.
    target : str
        What the array is called.
    """
    function = call.function
    if type(function) is np.ufunc:
        words = [numbers_as_arrays(arguments, call)]
        words.append(f"out={target}" if function in NOT_BY_POSITION else target)
        if call.kwargs:
            words.append(arguments.all((), call.kwargs))
        return [f"{arguments.names.function(function)}({', '.join(words)})"]
    form = FORMS.get(function)
    return (reduced_into if form is None else form)(arguments, call, target)


NOT_BY_POSITION = frozenset({np.maximum, np.minimum})
"""To whose third argument NumPy objects, since users have meant another operand by it."""

WEAKLY = frozenset(
    {*COMPARISONS, np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum}
)
"""Where a Python number takes the dtype of the other operand."""


def numbers_as_arrays(arguments: Arguments, call: Call) -> str:
    """Write the operands of a ufunc, Python numbers as the arrays that NumPy makes of them.

    A quarter of the time of a call on a small array is in making one.
    """
    if call.function not in WEAKLY or len(call.args) != 2:
        return arguments.all(call.args, {})
    x, y = call.args
    return f"{operand(arguments, x, y)}, {operand(arguments, y, x)}"


def operand(arguments: Arguments, one: Any, other: Any) -> str:
    """Write an operand beside another one."""
    if type(one) not in (int, float) or type(other) is not Value:
        return arguments.one(one)
    if other.dtype is None or other.dtype.kind not in "fc":
        return arguments.one(one)
    return arguments.names.number(one, other.dtype)


def reduced_into(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write a reduction by a ufunc."""
    found = reduction_of(call)
    assert found is not None  # noqa: S101 - for mypy: it would not be placed
    reduce, (*given, keeps) = found
    words = [*map(arguments.one, given), target, *["True"] * keeps]
    return [f"{arguments.names.function(reduce)}({', '.join(words)})"]


def rectified(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `relu`, which gives zeros of other signs beside an array of them than beside one."""
    (x,) = call.args
    maximum, name = arguments.names.function(np.maximum), arguments.one(x)
    if x.dtype == np.float32 and is_c(x):
        return [f"{target}[...] = 0", f"{maximum}({name}, {target}, out={target})"]
    return [f"{maximum}({name}, {arguments.names.number(0, x.dtype)}, out={target})"]


def joined(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `np.concatenate` and `np.stack`."""
    options = {name: each for name, each in call.kwargs.items() if name != "dtype"}
    words = arguments.all(call.args, options)  # NumPy takes a dtype, or memory that has one
    return [f"{arguments.names.function(call.function)}({words}, out={target})"]


def stored(place: str, arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write an assignment of the one operand."""
    return [f"{target}[{place}] = {arguments.one(call.args[0])}"]


def changed(copying: str, arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `updated` or `added_at`: the change of a copy, or of the array itself."""
    before = arguments.one(call.args[0])
    lines = [] if before == target else [copying.format(target, before)]
    if call.function is added_at:
        _, ct, index = call.named("total", "ct", "linear")
        return [*lines, put_at(arguments, call, target, ct, index, "+=")]
    _, value, key, window = call.named("a", "value", "key", "window")
    place = target if window is None else seen(arguments, window, target)
    return [*lines, f"{place}[{arguments.key(key)}] = {arguments.one(value)}"]


def put_at(arguments: Arguments, call: Call, target: str, ct: Value, index: Any, sign: str) -> str:
    """Write the addition or assignment of elements to a part of an array."""
    key = (slice(None),) * (len(ct.shape) - len(index.node)) + index.key
    once = sign == "=" and names_each_once(key, call.outputs[0].shape)
    if not index.repeats or once:
        return f"{target}[{arguments.key(key)}] {sign} {arguments.one(ct)}"
    at = arguments.names.function(np.add.at)
    return f"{at}({target}, {arguments.one(key)}, {arguments.one(ct)})"


def seen(arguments: Arguments, window: Any, target: str) -> str:
    """Write what is seen through a window."""
    view = window.view
    ndarray = arguments.names.function(np.ndarray)
    dtype = arguments.names.dtype(view.dtype)
    return f"{ndarray}({view.shape}, {dtype}, {target}, {view.offset}, {view.strides})"


def scattered(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `scatter`: zeros, and one assignment or addition."""
    ct, index = call.named("ct", "index")
    return [f"{target}[...] = 0", put_at(arguments, call, target, ct, index, "=")]


COPIED, NEW = "{}[...] = {}", "{} = {}.copy()"

FORMS: Mapping[Any, Callable[[Arguments, Call, str], list[str]]] = {
    np.concatenate: joined,
    np.stack: joined,
    updated: functools.partial(changed, COPIED),
    filled_with: functools.partial(stored, "..."),
    placed_number: functools.partial(stored, "()"),
    scatter: scattered,
    added_at: functools.partial(changed, COPIED),
    relu: rectified,
}


def fresh_zeros(arguments: Arguments, call: Call, name: str) -> list[str]:
    """Write `scatter` into an array of its own."""
    out = call.outputs[0]
    zeros, dtype = arguments.names.function(np.zeros), arguments.names.dtype(np.dtype(out.dtype))
    return [f"{name} = {zeros}({out.shape}, {dtype})", scattered(arguments, call, name)[1]]


def fresh_copy(arguments: Arguments, call: Call, name: str) -> list[str] | None:
    """Write `updated` or `added_at` as the change of a new copy."""
    base = call.args[0]
    if type(base) is not Value or base.kind is not np.ndarray or not is_c(base):
        return None
    return changed(NEW, arguments, call, name)


FRESH: Mapping[Any, Callable[[Arguments, Call, str], list[str] | None]] = {
    updated: fresh_copy,
    scatter: fresh_zeros,
    added_at: fresh_copy,
}
"""How the same is written when the array has to be a new one, the caller's own."""
