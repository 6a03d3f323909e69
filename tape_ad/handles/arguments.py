"""What users hand in besides handles: operands, options and seeds, checked and made uniform."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from tape_ad.core.arena import Arena, called, function_name, innermost
from tape_ad.core.sweeps import conform
from tape_ad.errors import (
    DtypeError,
    InPlaceError,
    NoRuleError,
    RecordMismatchError,
    SeedError,
    ShapeError,
    UnsupportedArgumentError,
)
from tape_ad.linear_maps import Array
from tape_ad.rules import RULES, load_further_rules, load_scipy_rules
from tape_ad.rules.base import Entry, refuse
from tape_ad.trees import map_leaves

__all__ = [
    "AS_THEY_ARE",
    "as_operand",
    "checked_constant",
    "checked_seed",
    "common_record",
    "constant_value",
    "entry_of",
    "is_view",
    "misplaced_handle",
    "no_derivative",
    "no_output",
    "odd_one",
    "primal",
    "raise_with_name",
    "read_only",
    "ufunc_options",
    "written_to",
]

AS_THEY_ARE = frozenset({np.ndarray, np.float64, np.float32, float, int, complex})
"""The types of operands that need no look."""


def as_operand(value: Any) -> Any:
    """Take array-likes to arrays; Python numbers stay, and so do their weak dtypes.

    Raises
    ------
    DtypeError
        For masked arrays and matrices.
    """
    if type(value) in AS_THEY_ARE or isinstance(value, np.generic):
        return value
    if isinstance(value, (np.ma.MaskedArray, np.matrix)):
        raise DtypeError(
            f"a {type(value).__name__} has another arithmetic than the array; pass a plain array "
            "(np.asarray of a matrix, .filled(...) of a masked array)"
        )
    if not isinstance(value, np.ndarray) and hasattr(type(value), "__array_function__"):
        return value
    return np.asarray(value)


def odd_one(args: tuple[Any, ...]) -> int | None:
    """Find the one operand that needs a look, if it is just one; a lone operand is given as it is.

    Returns
    -------
    int or None
        Its position.
    """
    if len(args) == 1:
        return 0
    found = None
    for position, operand in enumerate(args):
        if type(operand) not in AS_THEY_ARE:
            if found is not None:
                return None
            found = position
    return found


def ufunc_options(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Sort out the keyword arguments of a ufunc."""
    options = dict(kwargs)
    out, where = options.pop("out", None), options.pop("where", True)
    out = no_output(out)
    if out is not None and any(not hasattr(each, "record") for each in out):
        raise InPlaceError(
            f"{called(function)} would write a handle into a plain array (out= or an "
            "augmented assignment such as a += t) and drop its gradient; write a = a + t"
        )
    refuse(
        function_name(function),
        out=out,
        where=None if where is True or where is np.True_ else where,
    )
    for name in options.keys() - {"dtype", "casting", "order", "subok", "signature"}:
        refuse(function_name(function), **{name: options[name]})
    return options


def no_output(out: Any) -> Any:
    """Read ufunc's way to say that there is no ``out=``: a tuple of None."""
    return None if isinstance(out, tuple) and all(each is None for each in out) else out


def raise_with_name(
    function: Callable[..., Any], values: Sequence[Any], error: ValueError
) -> NoReturn:
    """Put the function's name and its operands' shapes before NumPy's message.

    Errors that are more than a plain ValueError (a singular matrix, or one of ours) stay as
    they are.
    """
    if type(error) is not ValueError:
        raise error
    shapes = ", ".join(str(getattr(value, "shape", ())) for value in values)
    raise ShapeError(f"{called(function)} of shapes {shapes}: {error}") from error


def primal(leaf: Any, path: str = "") -> Any:
    """Give the plain array behind a handle of any nesting; anything else as it is."""
    while hasattr(leaf, "record"):
        leaf = leaf.data
    return leaf


def read_only(array: Array) -> Array:
    """View an array without the right to write; what is not NumPy's is given as it is."""
    if isinstance(array, np.generic):
        array = np.asarray(array)
    if isinstance(array, np.ndarray):
        array = array.view()
        array.setflags(write=False)
    return array


def read_only_primal(leaf: Any, path: str = "") -> Any:
    """Give the array behind a handle, for a function that must not write to it."""
    value = primal(leaf)
    return leaf if value is leaf else read_only(value)


def is_view(out: Array, operand: Array) -> bool:
    """Tell whether NumPy made a view of an operand, which writing to either would show in."""
    if type(out) is np.float64:  # a number is no view
        return False
    if type(out) is not np.ndarray or type(operand) is not np.ndarray:
        out, operand = primal(out), primal(operand)  # what is no array has no views
        if type(out) is not np.ndarray or type(operand) is not np.ndarray:
            return False
    base = out.base
    if base is None:
        return out is operand
    if type(base) is np.ndarray:  # the array that owns the memory
        return base is operand or base is operand.base
    return np.may_share_memory(out, operand)


def entry_of(function: Callable[..., Any]) -> Entry:
    """Look up what the tables say of a function, or what it says of itself.

    Raises
    ------
    NoRuleError
        When no table has it.
    """
    entry = RULES.get(function)
    if entry is not None:
        return entry
    entry = getattr(function, "tape_ad_rule", None)
    for load in (load_further_rules, load_scipy_rules):
        if entry is None:
            load()
            entry = RULES.get(function)
    if entry is None:
        raise NoRuleError(
            f"{called(function)} has no rule, so its gradient would be lost; write it with "
            "functions that have one, or apply it to t.data if no gradient is meant to flow"
        )
    return entry


def checked_constant(function: Callable[..., Any], out: Any) -> Any:
    """Give a result that has no derivative, if it is numbers."""
    if type(out) is not tuple and out.dtype.kind not in "biu":
        raise no_derivative(function, out.dtype)
    return out


def constant_value(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Run a piecewise constant function on the primals, which it must not write to."""
    refuse(function_name(function), out=no_output(kwargs.get("out")))
    try:
        return function(*map_leaves(read_only_primal, args), **map_leaves(read_only_primal, kwargs))
    except ValueError as error:
        if "read-only" in str(error):
            refuse(function_name(function), out="by position")
        raise_with_name(function, args, error)


def checked_seed(root: Any, seed: Any) -> Array:
    """Bring a seed to the root's dtype, or make the one that a real scalar starts from.

    Raises
    ------
    SeedError
        When the seed is missing or does not fit.
    RecordMismatchError
        When the seed is a handle of a record that does not enclose the root's.
    """
    if seed is None:
        if root.shape != ():
            raise SeedError(
                f"grad() of a handle of shape {root.shape} needs a seed of that shape (its "
                "cotangent); write np.sum(t).grad(), or t.grad(seed=np.ones(t.shape)) for the same"
            )
        if root.dtype.kind == "c":
            raise SeedError(
                "grad() of a complex scalar needs a seed; write t.real.grad() for the gradient "
                "of the real part, or t.grad(seed=1j) for that of the imaginary part"
            )
        return root.dtype.type(1)
    if hasattr(seed, "record"):
        if not root.record.is_within(seed.record):
            raise RecordMismatchError(
                "a seed may be a handle only of a record that encloses the one it is swept on; "
                "pass seed.data if it is meant as a constant"
            )
    elif not hasattr(seed, "shape"):
        seed = np.asarray(seed)
    stack = seed.ndim - root.ndim
    if stack < 0 or seed.shape[stack:] != root.shape:
        raise SeedError(
            f"the seed has shape {seed.shape}; it must be the handle's shape {root.shape}, with "
            "any further axes in front for a stack of seeds"
        )
    if seed.dtype.kind not in "biufc" or (seed.dtype.kind == "c" and root.dtype.kind != "c"):
        raise SeedError(f"a seed of dtype {seed.dtype} does not fit a handle of dtype {root.dtype}")
    start = conform(seed, root.shape, root.dtype, stack)
    return np.copy(start) if start is seed else start  # the caller may write to it afterwards


def common_record(function: Callable[..., Any], args: tuple[Any, ...]) -> Arena:
    """Find the innermost of the records that a call's handles belong to.

    Raises
    ------
    RecordMismatchError
        When two of the records are not nested in each other.
    UnsupportedArgumentError
        When no operand is a handle, so the one that brought us here stands elsewhere.
    """
    record: Arena | None = None
    for operand in args:
        its = getattr(operand, "record", None)
        if its is record or not isinstance(its, Arena):
            continue
        inner = its if record is None else innermost(record, its)
        if inner is None:
            raise unrelated_records(function)
        record = inner
    if record is None:
        raise misplaced_handle(function)
    return record


def no_derivative(function: Callable[..., Any], dtype: np.dtype[Any]) -> DtypeError:
    """Say that a result is no number."""
    return DtypeError(
        f"{called(function)} of a handle and other data gives dtype {dtype}, which has "
        "no derivative; pass numbers, or t.data if no gradient is meant to flow"
    )


def written_to(ufunc: np.ufunc) -> InPlaceError:
    """Say that a ufunc's method writes to a handle."""
    return InPlaceError(
        f"np.{ufunc.__name__}.at writes to its first argument, and a handle is never written to; "
        "write np.where, or x[key] = value on a copy"
    )


def misplaced_handle(function: Callable[..., Any]) -> UnsupportedArgumentError:
    """Say that a handle stands where no derivative can be taken."""
    return UnsupportedArgumentError(
        f"{called(function)} got a handle in an argument that it cannot be "
        "differentiated in; pass t.data there if it is meant as a constant"
    )


def unrelated_records(function: Callable[..., Any]) -> RecordMismatchError:
    """Say that two handles cannot meet."""
    return RecordMismatchError(
        f"{called(function)} got handles of two records of which neither is within the other; use "
        "one record for the whole computation, write ComputationRecord(within=outer), or pass "
        ".data of one of them as a constant; in a thread of its own, a function has to get the "
        "handle as an argument of the transform"
    )
