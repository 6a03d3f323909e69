"""Exact ties that decide a branch: ``if scale == 1.0`` where `scale` is a handle of 1.0.

The derivative of the branch that is taken need not be the function's, as the other one is taken
on all sides. So a comparison in which numbers are equal remembers what it would have given had
they differed, through ``&``, `numpy.all` and the like, and says so if a branch depends on that.
"""

import ast
import contextlib
import functools
import operator
import sys
import warnings
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import is_traced
from tape_ad.base.errors import TapeError, TieError, TieWarning
from tape_ad.base.naming import function_name
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.record.arena import CONSTANT
from tape_ad.record.messages.callers import (
    DISPATCHING,
    caller,
    is_at,
    is_copied,
    is_library,
    statements_at,
)
from tape_ad.record.messages.libraries import FOR_THE_VALUE, library_call
from tape_ad.record.primals import primal
from tape_ad.record.sweeps import forward_sweep
from tape_ad.record.watching import sources_of

EQUALITIES = frozenset({np.equal, np.not_equal})

HANDING_ON = (
    *DISPATCHING,
    *("tape_ad.batching.", "tape_ad.interop.array_api.", "tape_ad.base."),
    "tape_ad.programs.capture.",
)
"""The modules of ours that compare, and ask for the result, for whoever has called them."""

TRIMMING = frozenset({np.trim_zeros, np.polymul})
"""Functions that leave out what is exactly 0 at an end, which has a derivative all the same."""

PICKING = ("x[x]", "x[x] = x")
"""Where a mask picks elements, and a dict finds a key."""

ASSERTING = ("_pytest.", "doctest", "numpy.testing.", "unittest.")
"""The modules that compare to say what is wrong, and calculate nothing."""

Plain = np.ndarray[Any, Any]


def moved(name: str) -> Any:
    """Make the method of flags, and of what they are without ties."""

    def method(flags: Any, *args: Any, **options: Any) -> Any:
        return marked(*[getattr(f(flags), name)(*args, **options) for f in (flags_of, apart_of)])

    return method


class Tied(np.ndarray[Any, np.dtype[np.bool_]]):
    """What an array comparison with equal numbers gives: NumPy's flags, and those without ties.

    Attributes
    ----------
    apart : array or None
        What the flags were if no two numbers were equal; None where that is not known any more.
    is_key : bool
        Whether a dict or a set has compared them, to find the one by the other.
    """

    apart: Plain | None
    is_key: bool

    def __array_finalize__(self, of: Any) -> None:
        self.apart, self.is_key = None, False

    @property  # type: ignore[misc]  # for isinstance: no class can be made of NumPy's own flag
    def __class__(self) -> Any:
        return Tied if self.ndim else np.bool_

    def __bool__(self) -> bool:
        value = bool(flags_of(self))
        if self.apart is not None and bool(self.apart) is not value:
            frame = sys._getframe(1)
            if self.is_key or not is_at(frame, *PICKING):  # which picks, as any other mask does
                tell(frame)
        return value

    def __index__(self) -> int:
        value = operator.index(flags_of(self)[()])  # mostly an error, as of NumPy's flags
        bool(self)
        return value

    def __hash__(self) -> int:  # type: ignore[override]  # of one flag, as NumPy's scalars have it
        value = flags_of(self)[()]
        if self.apart is not None and self.apart[()] != value:
            tell(sys._getframe(1))  # what is found by it in a dict is a branch
        return hash(value)

    def __repr__(self) -> str:
        return repr(flags_of(self)[()])

    def __reduce__(self) -> Any:
        return flags_of(self)[()].__reduce__()

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Convert as NumPy does; other numbers than flags know of no ties."""
        flags = flags_of(self)[()].astype(dtype, *args, **kwargs)
        return flags if flags.dtype != bool or self.apart is None else marked(flags, self.apart)

    def __getitem__(self, key: Any) -> Any:
        found = flags_of(self)[key]
        return found if self.apart is None else marked(found, self.apart[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        flags_of(self)[key] = value
        self.apart = None

    def item(self, *place: Any) -> bool:
        """Give a flag of Python's, which knows of no tie: it is told now."""
        return bool(self[place] if place else self.reshape(()))

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """The flags with their axes in the other order."""
        return self.transpose()

    ravel = moved("ravel")
    reshape = moved("reshape")
    flatten = moved("flatten")
    copy = moved("copy")
    transpose = moved("transpose")
    swapaxes = moved("swapaxes")
    squeeze = moved("squeeze")
    take = moved("take")
    repeat = moved("repeat")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = function(*map_leaves(flags_of, args), **map_leaves(flags_of, kwargs))
        if type(result) not in (np.ndarray, np.bool_) or result.dtype != bool:
            return result
        return marked(result, function(*map_leaves(apart_of, args), **map_leaves(apart_of, kwargs)))

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **options: Any
    ) -> Any:
        call: Callable[..., Any] = getattr(ufunc, method)
        operands = [flags_of(each) for each in inputs]
        if out:
            for each in out:
                if type(each) is Tied:
                    each.apart = None
            call(*operands, out=tuple(map(flags_of, out)), **options)
            return out[0] if len(out) == 1 else out
        result = call(*operands, **options)
        if type(result) not in (np.ndarray, np.bool_) or result.dtype != bool:
            return result
        return marked(result, call(*map(apart_of, inputs), **options))


def flags_of(value: Any, path: str = "") -> Any:
    """Give the plain flags; anything else as it is."""
    return value.view(np.ndarray) if type(value) is Tied else value


def apart_of(value: Any, path: str = "") -> Any:
    """Give what flags were without ties; anything else as it is."""
    return value.apart if type(value) is Tied and value.apart is not None else flags_of(value)


def marked(flags: Any, apart: Any) -> Any:
    """Remember what flags were without ties, if that is anything else."""
    if np.array_equal(flags, apart):
        return flags
    tied: Any = np.asarray(flags).view(Tied)
    tied.apart = np.asarray(apart)
    return tied


def with_ties(function: np.ufunc, flags: Any, x: Any, y: Any) -> Any:
    """Remember the ties of a comparison for equality, if there are any.

    Parameters
    ----------
    function : ufunc
        `numpy.equal` or `numpy.not_equal`.
    flags : array or bool
        What it gives.
    x, y : array or Tensor
        The operands. Two handles of one node are no tie, and nor are infinities and constants.
    """
    found = concrete(flags)
    if not (has_tie(function, found) and (depends(x) or depends(y))):
        return flags
    ties = found if function is np.equal else np.logical_not(found)
    asking = asker(sys._getframe(1))
    if ties.ndim and not is_library(asking):
        return flags  # arrays of users are NumPy's
    if getattr(x, "record", x) is getattr(y, "record", y) and x.index == y.index:
        return flags
    ties = ties & np.isfinite(concrete(primal(x)))
    if is_library(asking):  # which may compare an edge of 0 that it has joined to a handle
        with flags.capture.aside() if flags is not found else contextlib.nullcontext():
            moving = [concrete(moves(each)) for each in (x, y) if depends(each)]
        ties = ties & np.broadcast_to(functools.reduce(np.logical_or, moving), ties.shape)
        if not ties.any():
            return flags
    tied = marked(found, np.logical_xor(found, ties))
    if tied is not found:
        tied.is_key = is_at(asking, *PICKING)  # in which nothing is compared but keys
    if flags is found:
        return tied
    flags.data = tied  # with which a capture goes on computing
    return flags


def concrete(value: Any) -> Any:
    """Give the array that a capture computes with; anything else as it is."""
    return value.data if is_traced(value) else value


TRUTHS: Mapping[Any, Callable[..., Any]] = {
    np.any: lambda a, *args, **options: np.any(np.not_equal(a, 0), *args, **options),
    np.all: lambda a, *args, **options: np.all(np.not_equal(a, 0), *args, **options),
    np.logical_not: lambda x, **_: np.equal(x, 0),
    np.array_equal: lambda a1, a2, **_: np.all(np.equal(a1, a2)),
    np.array_equiv: lambda a1, a2: np.all(np.equal(a1, a2)),
}
"""What asks whether numbers are equal to others, or to 0, written with comparisons."""


def truth_with_ties(
    function: Any, flags: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Remember the ties of what one of `TRUTHS` gives, where a library asks."""
    if not is_library(asker(sys._getframe(1))) or (flags is False):  # of arrays that differ
        return flags
    told = TRUTHS[function](*args, **kwargs)
    return told if type(concrete(told)) is Tied else flags


def has_tie(function: np.ufunc, flags: Any) -> bool:
    """Tell whether numbers were equal; not of arrays that are no plain ones."""
    if type(flags) is np.bool_:
        return bool(flags) is (function is np.equal)
    if type(flags) is not np.ndarray or not flags.size:
        return False
    first = flags.argmax() if function is np.equal else flags.argmin()  # which stop where it is
    return bool(flags.item(first)) is (function is np.equal)


def look_at_trimmed(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Say that zeros of a handle are left out; a warning to users who ask for just that.

    Raises
    ------
    TieError
    """
    operands = [x for x in flatten((args, dict(kwargs))) if depends(x)]
    if function is np.trim_zeros:
        kept = function(*map_leaves(primal, args), **map_leaves(primal, dict(kwargs)))
        if not operands or kept.shape == operands[0].shape:
            return
        instead = "t[...] for a slice, np.polyval for a polynomial"
    else:
        if not any(x.size > 1 and np.ravel(primal(x))[0] == 0 for x in operands):
            return
        instead = "np.convolve, which keeps them all"
    frame = sys._getframe(1)
    while frame.f_back is not None and name_of(frame).startswith("tape_ad."):
        frame = frame.f_back
    call = library_call(frame)
    told = (
        f"{call or function_name(function)} leaves out numbers that are exactly 0 "
        f"({caller(frame)}), and the derivative with respect to them is lost; write {instead}"
    )
    if function is not np.trim_zeros or is_library(frame):
        raise TieError(f"{told}, or {FOR_THE_VALUE}")
    warn(frame, told)


def depends(x: Any) -> bool:
    """Tell whether something is a handle of what depends on a leaf."""
    record = getattr(x, "record", None)
    return record is not None and record.functions[x.index] is not CONSTANT


def moves(x: Any) -> Any:
    """Tell which elements of a handle depend on a leaf, by how far nan in the leaves gets."""
    record = x.record
    before = sources_of(record, [x.index])
    leaves = [node for node in before if record.functions[node] is None]
    nan = {"f": np.nan, "c": complex(np.nan, np.nan)}
    tangents = {
        node: np.full(record.shapes[node], nan[dtype.kind], dtype)
        for node, dtype in ((node, np.dtype(record.dtypes[node])) for node in leaves)
    }
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reached = forward_sweep(record, tangents, x.index, among=before)
    except (TapeError, ValueError, ArithmeticError):  # of maps that solve, or have been released
        return True
    return np.isnan(primal(reached[x.index])) if x.index in reached else False


def tell(frame: FrameType) -> None:
    """Say that a tie decides a branch: by an error to libraries and copies, by a warning to users.

    Raises
    ------
    TieError
    """
    asking = asker(frame)
    name = name_of(asking)
    if f"{name}.".startswith(ASSERTING) or only_raises(asking):
        return
    if not is_library(asking) and not is_copied(asking):
        warn(
            asking,
            f"a branch is decided by numbers that are exactly equal ({caller(asking)}): the "
            "derivative is that of the branch, which need not be the function's; compare t.data "
            "where that is meant, or write np.where or < and >",
        )
        return
    call = library_call(asking)
    advice = f"write {FOR_THE_VALUE}" if call is None or call.ours else call.advice
    if not is_library(asking):
        advice = (
            "write np.where or < and >, or compare ta.stop_gradient(t) where the branch is meant"
        )
    raise TieError(
        f"{call or name} branches on numbers that are exactly equal ({caller(asking)}), and the "
        f"derivative of that branch need not be the function's; {advice}"
    )


def only_raises(frame: FrameType) -> bool:
    """Tell whether a line is that of ``assert``, or of an ``if`` with nothing in it but ``raise``.

    It computes nothing: what is differentiated is the same on all sides, where the check is left
    out.
    """
    line = frame.f_lineno
    return any(
        line <= (node.test.end_lineno or line)
        for node in statements_at(frame.f_code, line)
        if isinstance(node, ast.Assert)
        or (isinstance(node, ast.If) and not node.orelse and all_raise(node.body))
        if not any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.test))
    )


def all_raise(body: list[ast.stmt]) -> bool:
    """Tell whether statements do nothing but raise an error."""
    return all(isinstance(each, ast.Raise) for each in body)


def warn(frame: FrameType, told: str) -> None:
    """Warn of the line that a frame is at, once."""
    file, registry = frame.f_code.co_filename, frame.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(told, TieWarning, file, frame.f_lineno, name_of(frame), registry)


def asker(frame: FrameType) -> FrameType:
    """Find who has called a handle."""
    while frame.f_back is not None and f"{name_of(frame)}.".startswith(HANDING_ON):
        frame = frame.f_back
    return frame


def name_of(frame: FrameType) -> str:
    """Name the module that a frame runs in."""
    return str(frame.f_globals.get("__name__"))
