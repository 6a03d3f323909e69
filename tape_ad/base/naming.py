"""What functions are called, in a printed record and in errors."""

import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

OPERATORS: Mapping[Any, tuple[str, str]] = {
    np.add: ("add", "+"),
    np.subtract: ("sub", "-"),
    np.multiply: ("mul", "*"),
    np.divide: ("truediv", "/"),
    np.floor_divide: ("floordiv", "//"),
    np.remainder: ("mod", "%"),
    np.power: ("pow", "**"),
    np.matmul: ("matmul", "@"),
    np.bitwise_and: ("and", "&"),
    np.bitwise_or: ("or", "|"),
    np.bitwise_xor: ("xor", "^"),
    np.left_shift: ("lshift", "<<"),
    np.right_shift: ("rshift", ">>"),
}
"""Python's operators of two operands that have a form in place: the middle of the names of their
methods, and their signs."""

COMPARISONS: Mapping[Any, tuple[str, str]] = {
    np.equal: ("eq", "=="),
    np.not_equal: ("ne", "!="),
    np.less: ("lt", "<"),
    np.less_equal: ("le", "<="),
    np.greater: ("gt", ">"),
    np.greater_equal: ("ge", ">="),
}
"""The same of comparisons."""

PREFIXES: Mapping[Any, tuple[str, str]] = {
    np.negative: ("neg", "-"),
    np.positive: ("pos", "+"),
    np.invert: ("invert", "~"),
}
"""The same of what stands before its one operand."""

PYTHON_OPERATORS: Mapping[Any, Callable[..., Any]] = {
    np.absolute: operator.abs,
    np.divmod: divmod,
    **{
        ufunc: getattr(operator, f"__{name}__")
        for table in (OPERATORS, COMPARISONS, PREFIXES)
        for ufunc, (name, _) in table.items()
    },
}
"""What Python does with its own numbers, for each of NumPy's functions that does so with arrays."""


NAMESAKES = ("tape_ad.scipy.", "tape_ad.interop.")
"""The packages whose functions stand for those of other libraries."""


def function_name(function: Any) -> str:
    """Name a node's function as a user would: ``matmul``, ``add.reduce``; a leaf is ``leaf``.

    Examples
    --------
    >>> function_name(np.add.reduce)
    'add.reduce'
    """
    if function is None:
        return "leaf"
    name = str(getattr(function, "__name__", function))
    owner = getattr(function, "__self__", None)
    return f"{owner.__name__}.{name}" if isinstance(owner, np.ufunc) else name


def global_name(thing: Any) -> str:
    """Give the name by which a thing is found in its module, as a decorated function is.

    It is what `pickle` takes for a reference; nothing where something else goes by that name.

    Examples
    --------
    >>> global_name(called), global_name(lambda x: x)
    ('called', '')
    """
    name = str(getattr(thing, "__qualname__", ""))
    found: Any = sys.modules.get(str(getattr(thing, "__module__", "")))
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is thing else ""


def called(function: Any) -> str:
    """Name a function for an error, with the module that a user would write before it.

    Examples
    --------
    >>> called(np.fft.fft), called(np.add.reduce), called(sum)
    ('np.fft.fft', 'np.add.reduce', 'sum')
    """
    name = function_name(function)
    module = str(getattr(function, "__module__", None))
    if module.startswith(NAMESAKES):  # before NumPy is asked, which has a convolve of its own
        return ".".join((*module.split(".")[:3], name))
    owner = getattr(function, "__self__", None)
    ufunc = owner if isinstance(owner, np.ufunc) else function
    ours = module.partition(".")[0] in ("numpy", "tape_ad", "None")  # a ufunc's method has none
    known = vars(np) if ours else {}  # NumPy warns of some that it had once: str
    namesake = known.get(name.partition(".")[0])
    if callable(namesake) and (namesake is ufunc or not isinstance(ufunc, np.ufunc)):
        return f"np.{name}"
    return f"np{module[5:]}.{name}" if module.startswith("numpy") else name


def line_name(source: tuple[str, int, str]) -> str:
    """Name a line of the user's code.

    Examples
    --------
    >>> line_name(("/home/ada/train.py", 31, "loss_of"))
    'train.py:31 in loss_of'
    """
    file, line, function = source
    return f"{file_title(file)}:{line} in {function}"


def file_title(path: str) -> str:
    """Name a file for an error: its name without folders, or a notebook's cell, as IPython does.

    Examples
    --------
    >>> file_title("/home/me/model.py")
    'model.py'
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    cell = None if shell is None else shell.compile.format_code_name(path)
    if cell is None:
        return path.replace("\\", "/").rpartition("/")[2]
    return " ".join([cell[0].lower(), *cell[1:]])


def counted(number: int, what: str) -> str:
    """Write how many there are."""
    return f"{number} {what}{'s' * (number != 1)}"
