"""What stands beside handles in a call, and which record the call belongs to."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.base.arrays.adapters import adapter
from tape_ad.base.arrays.overridable import below_records, lies_below
from tape_ad.base.errors import DtypeError, UnsupportedArgumentError
from tape_ad.base.naming import COMPARISONS, PYTHON_OPERATORS, called
from tape_ad.record.arena import Arena
from tape_ad.record.array_operators import ArrayOperators
from tape_ad.record.messages.refusals import misplaced_handle, raise_with_name, unrelated_records
from tape_ad.record.primals import PLAIN_TYPES, primal
from tape_ad.record.tensor import Tensor
from tape_ad.record.ties import Tied
from tape_ad.rules.base import Rule, as_array
from tape_ad.rules.sparse_products import is_sparse, matmul_sparse, sparse_matmul

# What ``dtype=`` and ``signature=`` of a call mean for what is differentiated


def as_computed_with(
    function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Cast complex operands, where ``casting="unsafe"`` lets a function compute with real numbers.

    NumPy casts them on the way, so the derivative is that at their real parts, which the rule has
    to see: then it is real, and goes to the real parts alone.

    Raises
    ------
    DtypeError
        When the function is to compute with Python's objects.
    """
    dtype, signature = options.get("dtype"), options.get("signature")
    if dtype is not None and np.dtype(dtype) == object:
        raise DtypeError(
            f"{called(function)}: dtype=object computes with Python's objects, which have no "
            "derivative; leave dtype= out, or give that of numbers"
        )
    if options.get("casting") != "unsafe":
        return args
    if function is np.einsum and dtype is not None:
        return tuple(as_kind(arg, np.dtype(dtype)) for arg in args)
    if not isinstance(function, np.ufunc):
        return args
    if not any(np.iscomplexobj(arg) for arg in args):
        return args
    if signature is None:
        signature = (None,) * function.nin + (np.dtype(dtype),) * function.nout
    given = [getattr(arg, "dtype", type(arg)) for arg in args]
    loop = function.resolve_dtypes(
        (*given, *(None,) * function.nout), signature=signature, casting="unsafe"
    )
    return tuple(map(as_kind, args, loop[: function.nin]))


def as_kind(operand: Any, kind: np.dtype[Any]) -> Any:
    """Cast an operand that the cast drops imaginary parts of."""
    known = hasattr(operand, "astype")
    return operand.astype(kind) if known and is_cut(operand.dtype, kind) else operand


def is_cut(given: np.dtype[Any], kind: np.dtype[Any]) -> bool:
    """Tell whether a cast drops imaginary parts."""
    return given.kind == "c" and kind.kind in "biuf"


# Arithmetic of handles with constant matrices of `scipy.sparse`, element by element

Function = Callable[..., Any]

COMPARED = {each: PYTHON_OPERATORS[each] for each in COMPARISONS}

PRODUCTS = (matmul_sparse, sparse_matmul)


def meets_sparse(function: Function, x: Any, y: Any) -> bool:
    """Tell whether one of two operands is a sparse matrix, of a function that knows none."""
    return (is_sparse(x) or is_sparse(y)) and function not in PRODUCTS


def beside_sparse(function: Function, x: Any, y: Any, again: Function) -> Any:
    """Compute a function of a handle, or a captured or batched array, and a sparse matrix.

    Parameters
    ----------
    function : callable
    x, y
        One of them is sparse.
    again : callable
        ``again(function, x, y)`` computes it for other operands.

    Raises
    ------
    UnsupportedArgumentError
        It says what to write instead.
    """
    matrix, handle = (x, y) if is_sparse(x) else (y, x)
    if function in COMPARED and hasattr(handle, "record"):
        return COMPARED[function](primal(x), primal(y))
    divided = function is np.divide and matrix is x
    times = function is np.multiply and not (np.ndim(handle) and is_matrix(matrix))
    if (divided or times) and matrix.shape != np.shape(handle):
        scaled = adapter("scipy.sparse").sparse_of(matrix)
        return scaled / handle if divided else scaled * handle
    if function in (np.multiply, np.matmul) and (is_matrix(matrix) or function is np.matmul):
        if np.ndim(handle):
            return again(sparse_matmul, x, y) if matrix is x else again(matmul_sparse, x, y)
    elif matrix.shape == np.shape(handle) and (
        divided or function in (np.add, np.subtract, np.multiply, *COMPARED)
    ):
        x, y = (each.toarray() if is_sparse(each) else each for each in (x, y))
        return again(function, x, y)
    raise UnsupportedArgumentError(
        f"{called(function)} of a handle of shape {np.shape(handle)} and a {type(matrix).__name__} "
        f"of shape {matrix.shape} is not supported; write A.toarray() for the matrix, if it may "
        "become dense, or after A = A.tocoo() tape_ad.scipy.sparse.coo_array((A.data * t, "
        "A.coords), A.shape) for a sparse matrix whose elements are a handle"
    )


def is_matrix(x: Any) -> bool:
    """Tell whether ``*`` means the product of matrices, as it does for those that are no arrays."""
    return any(kind.__name__ == "spmatrix" for kind in type(x).__mro__)


# What stands beside handles in a call, and which record the call belongs to

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
    array = np.asarray(value)
    if array.dtype.hasobject and not isinstance(value, (np.ndarray, list, tuple)):
        raise DtypeError(
            f"a {type(value).__name__} is neither a number nor an array, and what it does with a "
            "handle is not recorded; compute with the numbers in it"
        )
    return array


def without_wrapping(value: Any) -> Any:
    """Take an array that wraps results, as PyTorch's makes uint8 of bools, to NumPy's."""
    return as_array(value) if hasattr(value, "__array_wrap__") else value


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


def takes_operators(kind: type) -> bool:
    """Tell whether arrays leave their operators to objects of a type, as NEP 13 has it."""
    if any(REFLECTING in vars(each) for each in kind.__mro__):
        return True
    return getattr(kind, "__array_ufunc__", ABSENT) is None


REFLECTING = "__takes_operators__"
"""What is in copied classes whose objects take handles that they are added to or multiplied by."""


@functools.cache
def is_foreign(kind: type) -> bool:
    """Tell whether a type says itself how it takes part in arithmetic."""
    if kind.__module__.partition(".")[0] == "pandas":
        return False  # of a series or a frame the values are taken, and its labels left
    if lies_below(kind):
        return False
    if takes_operators(kind):
        return True
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
