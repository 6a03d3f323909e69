"""What stands beside handles in a call, and which record the call belongs to."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import below_records, lies_below
from tape_ad.base.errors import DtypeError, UnsupportedArgumentError
from tape_ad.record.arena import Arena
from tape_ad.record.array_operators import ArrayOperators
from tape_ad.record.messages.refusals import misplaced_handle, raise_with_name, unrelated_records
from tape_ad.record.primals import PLAIN_TYPES, primal
from tape_ad.record.tensor import Tensor
from tape_ad.record.ties import Tied
from tape_ad.rules.base import Rule
from tape_ad.rules.sparse_products import is_sparse

__all__ = [
    "as_operand",
    "common_record",
    "computed",
    "defers_to_other_type",
    "lifted",
    "partition_operands",
    "partition_operands_slow",
    "single_candidate",
]

ABSENT = object()

Partition = tuple[Any, list[tuple[int, Tensor]], list[Any]]
"""A record, its handles behind their positions, and the values of all operands."""


def as_operand(value: Any) -> Any:
    """Take array-likes to arrays; Python numbers stay, and so do their weak dtypes.

    Raises
    ------
    DtypeError
        For matrices, and for masked arrays with a masked element.
    UnsupportedArgumentError
        For sparse ones.
    """
    if type(value) in PLAIN_TYPES or isinstance(value, np.generic):
        return value
    if isinstance(value, np.ma.MaskedArray) and not np.ma.is_masked(value):
        return np.asarray(value)
    if isinstance(value, (np.ma.MaskedArray, np.matrix)):
        raise DtypeError(
            f"a {type(value).__name__} has another arithmetic than the array; pass a plain array "
            "(np.asarray of a matrix, .filled(...) of a masked array)"
        )
    if lies_below(type(value)):
        return below_records(value)
    if is_sparse(value):
        raise UnsupportedArgumentError(
            f"a {type(value).__name__} of scipy.sparse is no array: of a handle and it there are A "
            "@ t, t @ A, A * t and A + t; write A.toarray() for other functions"
        )
    if not isinstance(value, np.ndarray) and hasattr(type(value), "__array_function__"):
        return value
    return np.asarray(value)


def single_candidate(args: tuple[Any, ...]) -> int | None:
    """Find the one operand that needs a look, if it is just one.

    Returns
    -------
    int or None
        Its position.
    """
    found = None
    for position, operand in enumerate(args):
        if type(operand) not in PLAIN_TYPES:
            if found is not None:
                return None
            found = position
    return found


def partition_operands(operands: tuple[Any, ...]) -> Partition | None:
    """Tell handles from constants, where nothing else is among the operands.

    Returns
    -------
    tuple or None
        The record of all the handles, the handles behind their positions, and the values to
        compute with; None where an operand needs a longer look.
    """
    record: Any = None
    handles: list[tuple[int, Tensor]] = []
    values: list[Any] = []
    for position, operand in enumerate(operands):
        kind = type(operand)
        if kind is Tensor and (record is None or operand.record is record):
            record = operand.record
            handles.append((position, operand))
            values.append(operand.data)
        elif kind in PLAIN_TYPES:
            values.append(operand)
        else:
            return None
    return None if record is None else (record, handles, values)


def partition_operands_slow(function: Callable[..., Any], operands: tuple[Any, ...]) -> Partition:
    """Tell handles from constants where they are of several records or beside array-likes."""
    record: Any = common_record(function, operands)
    handles = [(i, x) for i, x in enumerate(operands) if is_of(x, record)]
    values = [x.data if is_of(x, record) else record.lift(x, function) for x in operands]
    return record, handles, values


def is_of(operand: Any, record: Arena) -> bool:
    """Tell whether an operand is a handle of a record."""
    return type(operand) is Tensor and operand.record is record


def lifted(record: Arena, value: Any, function: Any) -> Any:
    """Give what a record holds of an operand that is a constant there.

    Of a handle of an outer record it is the node that it stands for now, whatever is assigned to
    it later.

    Raises
    ------
    RecordMismatchError
        When it is a handle of a record that may not be met.
    """
    if type(value) is not Tensor:
        return as_operand(value)
    if not record.is_within(value.record):
        raise unrelated_records(function)
    return value.snapshot()


def common_record(function: Callable[..., Any], args: Iterable[Any]) -> Arena:
    """Find the innermost of the records that a call's handles belong to.

    Raises
    ------
    UnsupportedArgumentError
        When no operand is a handle, so the one that brought us here stands elsewhere.
    """
    record: Arena | None = None
    for operand in args:
        if type(operand) is Tensor and (record is None or operand.record.level > record.level):
            record = operand.record
    if record is None:
        raise misplaced_handle(function)
    return record


def defers_to_other_type(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Tell whether an operand's own library is to have the say, as NumPy's arrays leave it to it.

    In ufuncs that is so for types with an ``__array_ufunc__`` of their own, or with None in its
    place, unless they lie below records: as arrays that look like NumPy's do, and those of a
    handle's own kind. Other functions take what can be made an array of.

    Notes
    -----
    The rules are those of NEP 13, https://numpy.org/neps/nep-0013-ufunc-overrides.html.
    """
    if not isinstance(function, np.ufunc):
        return False
    foreign = set(filter(is_foreign, map(type, args)))
    own = {type(primal(each)) for each in args if hasattr(each, "record")} if foreign else set()
    return not foreign <= own


@functools.cache
def is_foreign(kind: type) -> bool:
    """Tell whether a type says itself how it takes part in arithmetic."""
    if kind.__module__.partition(".")[0] == "pandas":
        return False  # of a series or a frame the values are taken, and its labels left
    if lies_below(kind):
        return False
    protocol = getattr(kind, "__array_ufunc__", ABSENT)
    if protocol is ABSENT or protocol is np.ndarray.__array_ufunc__:
        return False
    return not issubclass(kind, (ArrayOperators, Tied, np.generic))


def computed(
    function: Callable[..., Any], rule: Rule, values: Sequence[Any], options: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Compute what a call gives, and what its partials are made of.

    Plain values go to what a public function runs for them, which need not look for handles again.
    """
    compute = rule.compute or function
    if PLAIN_TYPES.issuperset(map(type, values)):
        compute = getattr(compute, "_implementation", compute)
    try:
        out = compute(*values, **options)
    except ValueError as error:
        raise_with_name(function, values, error)
    return out if rule.saves else (out, out)
