"""Calls that add no node of their own, and what is plain data."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.base.naming import called, function_name
from tape_ad.base.trees import map_leaves
from tape_ad.record.arena import CONSTANT
from tape_ad.record.messages.libraries import in_a_library
from tape_ad.record.messages.library_answers import answer_to_scipy
from tape_ad.record.messages.refusals import no_derivative, raise_with_name
from tape_ad.record.operands import common_record, defers_to_other_type
from tape_ad.record.primals import primal, read_only_primal
from tape_ad.record.ties import EQUALITIES, with_ties
from tape_ad.rules.base import Constant, Derivation, Entry, Filled, refuse

__all__ = ["call_unrecorded", "check_ufunc_options", "checked_constant"]

Function = Callable[..., Any]
Options = Mapping[str, Any]


def call_unrecorded(
    function: Function, entry: Entry, args: tuple[Any, ...], kwargs: Options
) -> Any:
    """Run a function that adds no node of its own: a derivation, or a piecewise constant one."""
    if type(entry) is Derivation:
        if entry.signature is not None:
            args, kwargs = entry.signature(*args, **kwargs)
        return entry.compute(*args, **kwargs)
    if type(entry) is Constant:
        if defers_to_other_type(function, args):
            return NotImplemented
        if function is np.isnan:
            answer_to_scipy("isnan", args[0])
        return constant_value(function, args, kwargs)
    if type(entry) is Filled:
        record: Any = common_record(function, args)
        filled = function(*map_leaves(primal, args), **map_leaves(primal, kwargs))
        return record.note(CONSTANT, args, kwargs, filled) if filled.dtype.kind in "fc" else filled
    refused: Any = entry
    raise UnsupportedArgumentError(f"{in_a_library()}{called(function)}: {refused.instead}")


def constant_value(function: Function, args: tuple[Any, ...], kwargs: Options) -> Any:
    """Run a piecewise constant function on the primals, which it must not write to."""
    try:
        if isinstance(function, np.ufunc):  # which writes to nothing without out=
            out = function(*map(primal, args), **kwargs)
            return with_ties(function, out, *args) if function in EQUALITIES else out
        return function(*map_leaves(read_only_primal, args), **map_leaves(read_only_primal, kwargs))
    except ValueError as error:
        if "read-only" in str(error):
            refuse(function_name(function), out="by position")
        raise_with_name(function, args, error)


def checked_constant(function: Function, out: Any) -> Any:
    """Give a result that has no derivative, if it is numbers."""
    if type(out) is not tuple and out.dtype.kind not in "biu":
        raise no_derivative(function, out.dtype)
    return out


def check_ufunc_options(function: Function, options: Options) -> None:
    """Refuse the keyword arguments of a ufunc that its rule knows nothing of."""
    for name in options.keys() - {"dtype", "casting", "order", "subok", "signature"}:
        refuse(function_name(function), **{name: options[name]})
