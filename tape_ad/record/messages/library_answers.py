"""What a handle answers where a function of another library asks it something: one table.

In most functions of a library a handle answers as everywhere. The table has those in which that
would not do, as they look at the answer only to see what it is of, or go another way on account of
it and give plain numbers without a word.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.record.messages.callers import hands_calls_on
from tape_ad.record.messages.libraries import dropped_in_a_library

__all__ = ["AS_ARRAYS", "OWN", "answer_to_scipy"]

OWN: Any = object()
"""What says that a handle is to answer as everywhere."""

NO_ARRAY = np.array(None, dtype=object)
"""What tells a `scipy.sparse` matrix in ``matrix @ handle`` to leave the product to the handle."""

AS_ARRAYS = "turns what it gets into plain arrays"
AS_NUMBERS = "takes plain numbers alone"


@frozen
class Row:
    """What a handle answers to one question in some functions.

    Attributes
    ----------
    question : str
        What is asked of the handle: "array" and "number" for itself as such, "namespace", the name
        of a function of NumPy's or of an attribute.
    functions : tuple of str
        The functions that ask, by the names in SciPy's code.
    why : str
    answer : callable
        Of the handle: gives what is answered, or raises an error.
    when : callable, optional
        Of the handle and the frame that asks: whether the row holds.
    """

    question: str
    functions: tuple[str, ...]
    why: str
    answer: Callable[[Any], Any]
    when: Callable[[Any, FrameType], bool] = lambda handle, frame: True


def refused(what: str) -> Callable[[Any], Any]:
    """Refuse, by the error of functions that would drop a gradient."""

    def answer(handle: Any) -> Any:
        told = dropped_in_a_library(what)
        if told is not None:
            raise told
        return OWN

    return answer


def leaves_out_a_weight(handle: Any, frame: FrameType) -> bool:
    """Tell whether a sum has a weight that is 0, which has a slope all the same."""
    weights: Any = frame.f_locals.get("b")
    depends = getattr(weights, "record", None) is not None
    return depends and holds_zero(weights, frame)


def holds_zero(handle: Any, frame: FrameType) -> bool:
    """Tell whether an element of a handle is exactly 0."""
    while hasattr(handle, "record"):
        handle = handle.data
    return bool(np.any(np.equal(handle, 0)))


def is_number(handle: Any, frame: FrameType) -> bool:
    """Tell whether the handle holds one of NumPy's numbers."""
    return isinstance(handle.data, np.generic)


def in_an_operator(handle: Any, frame: FrameType) -> bool:
    """Tell whether a product is that of an operator, ``matrix * t``.

    In a method that a user has called, ``matrix.multiply(t)``, there is nobody to leave it to.
    """
    above: FrameType | None = frame
    while above is not None and above.f_code.co_name in MULTIPLYING:
        above = above.f_back
    return above is not None and above.f_code.co_name == "__mul__"


def in_c(handle: Any, frame: FrameType) -> bool:
    """Tell whether a function is called by a search for roots in C."""
    above = frame.f_back
    return above is not None and above.f_code.co_name in ("bisect", "brenth", "brentq", "ridder")


def beside_handles(handle: Any, frame: FrameType) -> bool:
    """Tell whether a constant is an argument beside handles that depend on something."""
    others = frame.f_locals.values()
    return any(getattr(each, "record", None) is not None for each in others)


LOOKING = ("array_namespace", "_compliance_scipy")
MULTIPLYING = ("multiply", "_multiply_2d_with_broadcasting")
SEARCHES = ("_chandrupatla", "_chandrupatla_minimize")
BETWEEN = {"namespace": ("scipy._lib.", "scipy._external.")}

TABLE = (
    Row(
        *("array", LOOKING, "makes an array of a list only to see what it is of"),
        lambda handle: np.zeros(handle.shape, handle.dtype),
    ),
    Row("number", LOOKING, "makes an array of a list only to see what it is of", lambda handle: 0),
    Row(
        *("array", ("_matmul_dispatch", "_divide"), "leaves operators to what is no array"),
        lambda handle: NO_ARRAY,
    ),
    Row(
        *("array", MULTIPLYING, "leaves operators to what is no array"),
        lambda handle: NO_ARRAY,
        in_an_operator,
    ),
    Row(
        *("isnan", ("_minimize_scalar_golden",), "only compares values, and gives a plain minimum"),
        refused(AS_NUMBERS),
    ),
    Row(
        *("isnan", ("f_raise",), "the search in C that follows goes on with an error"),
        refused(AS_NUMBERS),
        in_c,
    ),
    Row(
        *("array of a constant", ("insert",), "its code in C forgets the error of one beside it"),
        refused(AS_ARRAYS),
        beside_handles,
    ),
    Row(
        *("copy", ("lsqr", "lsmr"), "begins with the length of the right-hand side, ends there"),
        refused("gives a solution of plain numbers"),  # where it is 0, and that is plain as well
        is_number,
    ),
    Row(
        *("namespace", ("logsumexp",), "leaves out what has the weight 0, and the slope of that"),
        refused("leaves out what has the weight 0"),
        leaves_out_a_weight,
    ),
    Row(
        *("namespace", ("entropy",), "divides by a sum, whose slope is inf * 0 beside a 0"),
        refused("has no finite slope at probabilities of 0, and spreads that to all others"),
        holds_zero,
    ),
    Row(
        *("namespace", SEARCHES, "a step that hits a root exactly loses the slope of it"),
        refused("searches by steps, whose derivatives are not those of what is found"),
    ),
)
"""What a handle answers in which functions, and why it would not do to answer as everywhere."""

ROWS = {(row.question, name): row for row in TABLE for name in row.functions}


def answer_to_scipy(question: str, handle: Any) -> Any:
    """Give what a handle answers to the function of SciPy's that asks, or OWN.

    Parameters
    ----------
    question : str
        As in the table.
    handle : Tensor

    Raises
    ------
    ConversionError
        Where that is the answer.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and passes_on(frame, question):
        frame = frame.f_back
    if frame is None:
        return OWN
    row = ROWS.get((question, frame.f_code.co_name))
    scipys = str(frame.f_globals.get("__name__")).startswith("scipy.")
    return row.answer(handle) if scipys and row and row.when(handle, frame) else OWN


def passes_on(frame: FrameType, question: str) -> bool:
    """Tell whether a frame only hands a question on."""
    name = str(frame.f_globals.get("__name__"))
    return hands_calls_on(name) or name.startswith(("numpy.", *BETWEEN.get(question, ())))
