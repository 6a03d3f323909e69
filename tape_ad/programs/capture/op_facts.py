"""What capture has to know of some functions."""

import operator
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.base.naming import called
from tape_ad.base.trees import flatten
from tape_ad.programs.capture.tracers import (
    NUMBERS,
    TracedArray,
    TracedScalar,
    failure_of,
    is_tracer,
    item_of,
)
from tape_ad.programs.program import Call
from tape_ad.record.messages.callers import caller
from tape_ad.record.mutation import names_by_place, out_by_name
from tape_ad.rules import known_facts
from tape_ad.rules.facts import SHAPED_BY_VALUES, Facts
from tape_ad.rules.numpy.updates import updated

Function = Callable[..., Any]
TRUTH = np.dtype(bool)

WITHOUT_RULE: Mapping[Any, Facts] = {
    np.broadcast_shapes: Facts(about_shapes=True),
    **dict.fromkeys((np.arange, np.poly1d, np.polydiv), SHAPED_BY_VALUES),
    operator.pow: Facts(dtype_by_values=True),  # of two whole numbers of Python's, among others
}
"""The facts of functions that have no rule beside which they could stand."""

OPERATORS = frozenset({"_operator", "operator", "builtins"})
OF_NUMBERS: frozenset[Any] = frozenset({np.where, np.clip, np.full_like, updated, item_of})
"""Functions beside ufuncs and operators for which whole numbers are but values."""

FAILING: frozenset[Any] = frozenset(
    {
        *(operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod, np.power),
        *(np.ravel_multi_index, np.unravel_index, failure_of),
    }
)
"""Functions without such facts that raise for some values: division by zero, powers below 0."""

OVERWRITE = "overwrite_"
"""How the names of options begin by which a function may write to its arguments."""


def facts_in_capture(function: Function) -> Facts:
    """Look up what is known of a function that is captured, which need not have a rule."""
    if getattr(function, "shape_by_values", False):
        return SHAPED_BY_VALUES
    return WITHOUT_RULE.get(function) or known_facts(function)


def is_view(call: Call) -> bool:
    """Tell whether a call computes nothing, and shows its first operand."""
    return known_facts(call.function).view


def type_of(result: Any) -> str:
    """Name the type of a result: an array's dtype, a number's own."""
    return str(getattr(result, "dtype", None) or type(result).__name__)


def decides(function: Function) -> bool:
    """Tell whether whole numbers among the operands may decide about the shape of the result."""
    if isinstance(function, np.ufunc) or getattr(function, "__module__", None) in OPERATORS:
        return False
    return function not in OF_NUMBERS


def with_integers_guarded(arg: Any) -> Any:
    """Take whole numbers of Python's, alone or in a tuple or list, for those that they are now."""
    kind: Any = type(arg)
    if kind is TracedScalar:
        return arg.__index__() if type(arg.data) is int else arg
    if (kind is tuple or kind is list) and TracedScalar in map(type, arg):
        return kind([with_integers_guarded(each) for each in arg])
    return arg


def holds_traced_integer(arg: Any) -> bool:
    """Tell whether an operand is, or has in it, a captured whole number of NumPy's."""
    kind = type(arg)
    if kind is tuple or kind is list:
        return any(map(holds_traced_integer, arg))
    return kind is TracedArray and arg.data.ndim == 0 and arg.data.dtype.kind in "iu"


SILENT = frozenset({"numpy", "tape_ad"}) | sys.stdlib_module_names
"""Packages whose functions raise for no values, but for those that are listed."""

CHECKING = ("numpy.linalg", "tape_ad.scipy.")
"""Packages in them of which any function may."""

RAISING = frozenset({"raise", "call"})
"""The ways of `numpy.errstate` in which a call may raise."""


def may_fail(call: Call) -> bool:
    """Tell whether a call raises for some values, and so matters though nobody needs its result.

    Examples
    --------
    >>> from tape_ad.programs.program import Value
    >>> x, y = Value(np.ndarray), Value(np.ndarray)
    >>> may_fail(Call(np.linalg.cholesky, (x,), {}, (y,))), may_fail(Call(np.exp, (x,), {}, (y,)))
    (True, False)
    """
    function = call.function
    if getattr(function, "is_effect", False):  # a draw moves its generator on
        return True
    if call.errors is not None and not RAISING.isdisjoint(call.errors.values()):
        return True
    if function in FAILING or isinstance(function, np.ufunc):
        return function in FAILING
    facts = known_facts(function)
    if facts.may_raise == "indexed" or function is item_of:
        return len(call.operands) > 1
    if facts.may_raise is not None:
        return facts.may_raise
    module = str(getattr(function, "__module__", None) or "numpy")  # of a method of a ufunc's
    own = module.partition(".")[0] in SILENT
    return not facts.is_elementwise and (not own or module.startswith(CHECKING))


def masked(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a mask decides about the shape of a result."""
    if function is np.where:
        return len(args) == 1
    if function is not operator.getitem:
        return False
    key = args[1] if type(args[1]) is tuple else (args[1],)
    arrays = (k for k in key if is_tracer(k) or isinstance(k, np.ndarray))
    return any(getattr(k, "dtype", None) == TRUTH for k in arrays)


def action_of(filters: Any) -> str:
    """Find what is done with NumPy's warnings of arithmetic."""
    actions = (
        action
        for action, message, category, module, line in filters
        if issubclass(RuntimeWarning, category) and message is module is None and line == 0
    )
    return next(actions, "default")


def check_warnings(capture: Any, before: Any) -> None:
    """Refuse to compute where a function has made warnings errors, which no replay would do.

    Raises
    ------
    CaptureError
    """
    if action_of(warnings.filters) == "error" != action_of(before):
        raise capture.refusal(
            f"it makes warnings errors ({caller()}), which a replay does not; write "
            "np.errstate(all='raise'), and catch FloatingPointError"
        )


def check_capturable(capture: Any, function: Function, out: Any) -> None:
    """Refuse a function that cannot be replayed.

    Raises
    ------
    CaptureError
    """
    if isinstance(out, (tuple, list)) and all(map(is_number_or_array, flatten(out))):
        return
    raise capture.refusal(
        f"{called(function)} ({caller()}) gives a {type(out).__name__}, which cannot be captured"
    )


def is_number_or_array(leaf: Any) -> bool:
    """Tell whether a replay can give something as a value."""
    return isinstance(leaf, (np.ndarray, np.generic)) or type(leaf) in NUMBERS


def leaves_given(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """List the leaves of what a function gives, for one that gives a tuple with a list in it."""
    return flatten(function(*args, **kwargs))


def by_name(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """Take what is said by position of where to write to the arguments by name."""
    args, kwargs = out_by_name(function, args, kwargs)
    for place, name in enumerate(names_by_place(function)[: len(args)]):
        if name.startswith(OVERWRITE) and args[place] is True:
            return args, {**kwargs, name: True}
    return args, kwargs


def may_write(function: Function) -> bool:
    """Tell whether a function has a parameter that says where, or that, it may write."""
    return any(name == "out" or name.startswith(OVERWRITE) for name in names_by_place(function))


def overwrites(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a function has been allowed to write to what it is given."""
    if function is np.nan_to_num:
        return kwargs.get("copy", args[1] if len(args) > 1 else True) is False
    return any(value is True for name, value in kwargs.items() if name.startswith(OVERWRITE))
