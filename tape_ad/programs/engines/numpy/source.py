"""A program as a Python module that needs NumPy alone."""

import base64
import builtins
import importlib
import inspect
import math
import re
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.overridable import SYMBOLS, TRACERS, asarray
from tape_ad.base.errors import CaptureError
from tape_ad.base.naming import called
from tape_ad.programs.engines.numpy import Writer
from tape_ad.programs.engines.plans import Plan
from tape_ad.programs.program import Program

FEW = 24
"""Up to how many elements an array is written as a list."""

HOMES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks", "operator", "types")
"""The modules in which functions are looked for first."""


def definition(thing: Any, what: str) -> tuple[str, str]:
    """Write an expression that makes an object again, and the module that it needs.

    Parameters
    ----------
    thing : any
        A function of a public module, an array, a NumPy scalar, a dtype or a number.
    what : str
        What it is used in, for an error.

    Raises
    ------
    CaptureError
        When it cannot be written.
    """
    for kind, text_of in DISPLAYS.items():
        if isinstance(thing, kind):
            return text_of(thing, what), "numpy" if kind.__module__ == "numpy" else ""
    owner = getattr(thing, "__self__", None)
    if isinstance(owner, np.ufunc):
        text, module = definition(owner, what)
        return f"{text}.{thing.__name__}", module
    home = home_of(thing)
    if home is None:
        raise refusal(what, f"{thing!r} is no NumPy function, array or number")
    module, name = home
    of_numpy = module.startswith("numpy")
    path = f"np{module[5:]}." if of_numpy else f"{module}." * (module != "builtins")
    return path + name, module if path else ""


def refusal(what: str, why: str) -> CaptureError:
    """Make an error for a program that cannot be written."""
    return CaptureError(
        f"{what} cannot be written as NumPy alone: {why}; write the function with NumPy's own "
        "functions, or ship tape_ad with it"
    )


def home_of(thing: Any) -> tuple[str, str] | None:
    """Find the public module that a function or type belongs to, and its name there."""
    name = getattr(thing, "__name__", None)
    if not isinstance(name, str):
        return None
    if getattr(builtins, name, None) is thing:
        return "builtins", name
    module = getattr(thing, "__module__", None) or ""
    for home in (*HOMES, module, module.rpartition(".")[0], "scipy.special", "scipy.linalg"):
        if home and not home.startswith(("tape_ad", "__main__")) and is_public(home):
            try:
                found = importlib.import_module(home)
            except ImportError:
                continue
            if getattr(found, name, None) is thing:
                return home, name
    return None


def is_public(module: str) -> bool:
    """Tell whether the modules' names say that users may import it."""
    return (
        module.split(".", maxsplit=1)[0] in {"numpy", "scipy", "operator", "math", "types"}
        and "._" not in module
    )


def float_text(number: float) -> str:
    """Write a Python number that may be nan or infinite."""
    return repr(number) if math.isfinite(number) else f"float({str(number)!r})"


def scalar_text(scalar: Any, what: str = "") -> str:
    """Write a NumPy scalar."""
    if are_written_exactly(np.asarray(scalar)):
        return f"np.{type(scalar).__name__}({scalar.item()!r})"
    return f"np.frombuffer(bytes.fromhex({scalar.tobytes().hex()!r}), {scalar.dtype.str!r})[0]"


def are_written_exactly(array: Any) -> bool:
    """Tell whether elements come back as they were when Python's numbers for them are written."""
    if array.dtype.kind in "iub":
        return True
    return array.dtype.kind == "f" and array.dtype.itemsize <= 8 and bool(np.isfinite(array).all())


def array_text(array: Any, what: str) -> str:
    """Write an array in its own layout."""
    if array.dtype.hasobject:
        raise refusal(what, "it uses an array of objects")
    shape, dtype, in_order = array.shape, array.dtype.str, array.flags.c_contiguous
    if array.dtype.names:
        raise refusal(what, "it uses an array with fields")
    if array.size == 0:
        return f"np.zeros({shape}, {dtype!r})"
    if in_order and array.size <= FEW and are_written_exactly(array):
        return f"np.array({array.tolist()!r}, {dtype!r})"
    if in_order and array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size:
        return f"np.full({shape}, {scalar_text(array.reshape(-1)[0])}, {dtype!r})"
    if array.size > 0 and not any(array.strides):
        one = array_text(array.reshape(-1)[:1].copy(), what)
        return f"np.broadcast_to({one}, {shape})"
    offset, data = memory_text(array)
    where = "" if in_order else f", {offset}, {array.strides}"
    return f"np.ndarray({shape}, {dtype!r}, base64.b64decode({data}){where})"


def memory_text(array: Any) -> tuple[int, str]:
    """Write the bytes between an array's ends, and say where in them its first element is."""
    low, high = np.lib.array_utils.byte_bounds(array)
    first = array.__array_interface__["data"][0]
    memory = np.zeros(high - low, np.uint8)
    np.ndarray(array.shape, array.dtype, memory, first - low, array.strides)[...] = array
    text = base64.b64encode(memory.tobytes()).decode()
    lines = textwrap.wrap(text, 88) or [""]
    return first - low, "\n    " + "\n    ".join(repr(line) for line in lines) + "\n"


def numbers_text(numbers: Any, what: str) -> str:
    """Write a tuple or a set of Python numbers."""
    if not all(type(each) in (int, float) and math.isfinite(each) for each in numbers):
        raise refusal(what, f"{numbers!r} holds more than finite numbers")
    return repr(numbers)


DISPLAYS: dict[Any, Callable[[Any, str], str]] = {
    np.ndarray: array_text,
    np.generic: scalar_text,
    np.dtype: lambda dtype, what: f"np.dtype({dtype.descr if dtype.names else dtype.str!r})",
    tuple: numbers_text,
    frozenset: numbers_text,
    float: lambda number, what: float_text(number),
    complex: lambda number, what: f"complex({float_text(number.real)}, {float_text(number.imag)})",
}
"""How objects of a kind are written."""


ABOUT_OVERRIDES = re.compile(r"^@(?!np\.).*\n", re.MULTILINE)
"""Decorators, which say how handles take a function over; those of NumPy's stay."""


def is_own(thing: Any) -> bool:
    """Tell whether something is a function of this library."""
    function = implementation_of(thing)
    return isinstance(function, types.FunctionType) and function.__module__.startswith("tape_ad.")


def implementation_of(thing: Any) -> Any:
    """Give the function behind one that array types may take over."""
    return inspect.unwrap(getattr(thing, "_implementation", thing))


@define(eq=False)
class Helpers:
    """What is written before a program: functions of ours, and what they speak of.

    Attributes
    ----------
    texts : dict of str to str
        By name, in an order in which they can be run.
    modules : set of str
        What has to be imported.
    """

    texts: dict[str, str] = field(factory=dict)
    modules: set[str] = field(factory=set)
    _things: dict[str, Any] = field(factory=dict)

    def add(self, name: str, thing: Any, what: str) -> None:
        """Write an object under a name, after all that it needs.

        Raises
        ------
        CaptureError
            When it cannot be written.
        """
        thing = np.asarray if thing is asarray else thing  # which tracers do not need there
        known = self._things.get(name, self)
        if known is not self:
            alike = known is thing or (callable(thing) and known == thing)  # as ``ufunc.reduce`` is
            if not alike:
                raise refusal(what, f"two things that it needs are called {name}")
            return
        self._things[name] = thing
        if any(thing is each for each in (TRACERS, SYMBOLS)):
            self.texts[name] = f"{name} = ()  # nothing notes calls here"
            return
        if isinstance(thing, types.ModuleType):
            self.modules.add(thing.__name__)
        elif isinstance(thing, type) and issubclass(thing, BaseException) and not home_of(thing):
            plain = next(kind for kind in thing.__mro__ if kind.__module__ == "builtins")
            self.texts[name] = f"{name} = {plain.__name__}"
        elif is_own(thing):
            self._add_function(name, implementation_of(thing), what)
        elif type(thing) in (int, str, bool, type(None)):
            self.texts[name] = f"{name} = {thing!r}"
        else:
            text, module = definition(thing, what)
            self.modules |= {module} if module else set()
            if text != name:
                self.texts[name] = f"{name} = {text}"

    def _add_function(self, name: str, function: Any, what: str) -> None:
        if function.__closure__ or function.__name__ == "<lambda>":
            raise refusal(what, f"{function.__name__} is a closure")
        if inspect.isgeneratorfunction(function):  # which a decorator makes a context of
            raise refusal(what, f"{function.__name__} is a generator")
        for used, thing in sorted(globals_of(function).items()):
            self.add(used, thing, what)
        source = textwrap.dedent(inspect.getsource(function))
        source = ABOUT_OVERRIDES.sub("", source).rstrip()
        if function.__name__ != name:
            source += f"\n\n\n{name} = {function.__name__}"
        self.texts[name] = source


def globals_of(function: Any) -> dict[str, Any]:
    """Find what a function speaks of that is neither its own nor Python's."""
    namespace = function.__globals__
    return {name: namespace[name] for name in names_in(function.__code__) if name in namespace}


def names_in(code: types.CodeType) -> Iterator[str]:
    """List the names in a function and in those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


HEAD = '''"""{name}, written by tape_ad as calls of NumPy.

It takes arrays of the shapes and dtypes that stand beside its arguments, in the same layout.
"""
'''


def source_of(program: Program) -> str:
    """Write a program as a module that runs without tape_ad, and gives the same bits.

    Parameters
    ----------
    program : Program

    Returns
    -------
    str
        A module with one function, named like the program's. Its arguments are the leaves of the
        arguments of the function that was captured. Where an argument of other values would take
        another path, it raises ValueError.

    Raises
    ------
    CaptureError
        When a call cannot be written so: of a function of the user's own, for example.
    """
    writer = Writer(Plan.of(program), readable=True)
    body = "\n".join(writer.lines())
    helpers = Helpers()
    users = users_of(program)
    for name, thing in writer.names.bound.items():
        helpers.add(name, thing, f"{program.name}: {users.get(id(thing), name)}")
    modules = {module.partition(".")[0] for module in helpers.modules} - {"numpy"}
    modules |= {module for module in helpers.modules if module.startswith("scipy.")} - {"scipy"}
    if any("base64" in text for text in helpers.texts.values()):
        modules.add("base64")
    imports = [f"import {module}" for module in sorted(modules - {"scipy"})]
    parts = [
        HEAD.format(name=writer.title),
        "from __future__ import annotations",
        "\n".join([*imports, *([""] if imports else []), "import numpy as np"]),
        *spaced(list(helpers.texts.values())),
        "\n" + body,
    ]
    return "\n\n".join(parts) + "\n"


def spaced(texts: list[str]) -> list[str]:
    """Put definitions of one line close together, and functions apart."""
    lines = [text for text in texts if not text.startswith(("def ", "@"))]
    functions = ["\n" + text for text in texts if text.startswith(("def ", "@"))]
    return ["\n".join(lines), *functions] if lines else functions


def users_of(program: Program) -> dict[int, str]:
    """Find a call that uses each object, for errors."""
    users: dict[int, str] = {}
    for call in program.calls:
        things: list[Any] = [call.function, *call.args, *call.kwargs.values()]
        for thing in things:
            users.setdefault(id(thing), f"the call of {called(call.function)}")
    return users
