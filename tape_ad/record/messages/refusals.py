"""What the dispatch says when a call cannot be recorded: what happened, and what to write."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from tape_ad.base.arrays.overridable import is_traced
from tape_ad.base.errors import (
    DtypeError,
    InPlaceError,
    RecordMismatchError,
    ShapeError,
    TapeError,
    UnsupportedArgumentError,
)
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten
from tape_ad.record.messages.callers import caller
from tape_ad.record.messages.libraries import in_a_library
from tape_ad.record.messages.migration_hints import hint_for

Function = Callable[..., Any]


def raise_with_name(function: Function, values: Sequence[Any], error: ValueError) -> NoReturn:
    """Put the function's name and its operands' shapes before NumPy's message.

    Errors that are more than a plain ValueError (a singular matrix, or one of ours) stay as
    they are, and so do those of a user's own function, recorded as one node.
    """
    if type(error) is not ValueError or hasattr(function, "tape_ad_public"):
        try:
            raise error
        finally:  # a frame that keeps its error is a cycle, in which the record stays
            del error
    shapes = ", ".join(str(getattr(value, "shape", ())) for value in values)
    raise ShapeError(f"{called(function)} of shapes {shapes}: {error}") from error


def note_call(function: Function, args: Sequence[Any], error: Exception) -> None:
    """Note the function and its arrays' shapes beside NumPy's message, if it names neither."""
    if not isinstance(error, TapeError) and not hasattr(error, "__notes__"):
        shapes = ", ".join(str(x.shape) for x in flatten(args) if hasattr(x, "shape"))
        error.add_note(f"this was in {called(function)} of shapes {shapes}")


def no_derivative(function: Function, dtype: np.dtype[Any]) -> DtypeError:
    """Make the error for a result that is not a number, of which there is no derivative."""
    return DtypeError(
        f"{called(function)} of a handle and other data gives dtype {dtype}, which has "
        "no derivative; pass numbers, or t.data if no gradient is meant to flow"
    )


def no_implementation(function: Function, args: Sequence[Any]) -> TypeError:
    """Say that an array of another library stands where its own rules of arithmetic hold."""
    kinds = ", ".join(sorted({type(each).__name__ for each in args}))
    return TypeError(
        f"{called(function)} of {kinds}: a handle does not know how to calculate with all of "
        "these; pass plain arrays, or call a function of the other library"
    )


def plain_output(function: Function) -> InPlaceError:
    """Say that a handle would be written into an array that no record knows of."""
    return InPlaceError(
        f"{in_a_library()}{called(function)} would write a handle into a plain array (out= or an "
        "augmented assignment such as a += t) and drop its gradient; write a = a + t"
    )


def written_to(ufunc: np.ufunc) -> InPlaceError:
    """Say that a ufunc's method writes to a handle."""
    return InPlaceError(
        f"np.{ufunc.__name__}.at writes to its first argument, which a handle is not in, or does "
        "not follow; write x[key] += value, or np.bincount for keys that repeat"
    )


def batched_value() -> InPlaceError:
    """Say that a handle cannot hold what there is one of in each of a batch."""
    return InPlaceError(
        "a batched value cannot be assigned to a handle from outside of the batch; write to "
        "np.zeros_like(x) of a batched x, or join values with np.stack([...])"
    )


def raise_misnamed(function: Function, error: TypeError) -> NoReturn:
    """Put a function's name where Python names what sorts its arguments, and what to write."""
    found = re.fullmatch(r"[\w.<>]*signature\(\) (.*)", str(error), re.DOTALL)
    if found is None:
        try:
            raise error
        finally:  # see raise_with_name
            del error
    unknown = re.search(r"unexpected keyword argument '(\w+)'", found[1])
    words = hint_for("argument", unknown[1]) if unknown else ""
    raise TypeError(f"{called(function)}() {found[1]}{words}") from None


def misplaced_handle(function: Function) -> UnsupportedArgumentError:
    """Say that a handle stands where no derivative can be taken."""
    if function in (np.concatenate, np.stack):
        name = called(function)
        return UnsupportedArgumentError(
            f"{name} joins what a list holds: write {name}([t, ...], axis=...)"
        )
    return UnsupportedArgumentError(
        f"{called(function)} got a handle in an argument that it cannot be "
        "differentiated in; pass t.data there if it is meant as a constant"
    )


def unrelated_records(function: Function) -> RecordMismatchError:
    """Make the error for two handles of records that are not related."""
    return RecordMismatchError(
        f"{called(function)} got handles of two records of which neither is within the other; use "
        "one record for the whole computation, write ComputationRecord(within=outer), or pass "
        ".data of one of them as a constant, as in total += loss.data; of a transform that has "
        "ended, return values and keep no handles"
    )


def refuse_to_change(array: Any, what: str) -> None:
    """Refuse to change something because of an array that notes calls: no replay would do so.

    Raises
    ------
    CaptureError
        It says what would be changed, in which line of the user's.
    """
    if is_traced(array):
        raise array.capture.refusal(
            f"{what} would be changed in place ({caller()}), which no replay does; compile what "
            "comes before, the value and the gradients, and do that outside"
        )
