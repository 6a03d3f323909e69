"""What is said where a function of another library would turn a handle into plain numbers."""

import re
import sys
from collections.abc import Callable, Iterator
from itertools import takewhile
from types import FrameType
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.errors import ConversionError, TapeError
from tape_ad.record.messages.callers import (
    caller,
    hands_calls_on,
    is_library,
    is_library_name,
    method_called,
)

HIDDEN = "a function"

FOR_THE_VALUE = "t.data for the value alone"

ADVICE = {
    "sklearn": "scikit-learn keeps it where it supports the array API, within "
    "sklearn.config_context(array_api_dispatch=True) and with SCIPY_ARRAY_API=1 in the environment "
    "before SciPy is imported, and tape_ad.interop.sklearn has metrics and splits; else write the "
    f"formula in NumPy, or {FOR_THE_VALUE}",
    "pandas": f"write {FOR_THE_VALUE}, as in a table of results, or series.to_numpy() and "
    "frame.to_numpy() for what is pandas', which handles can calculate with",
    **dict.fromkeys(
        ("altair", "bokeh", "matplotlib", "plotly", "seaborn"),
        "write t.data, for what is drawn is the value",
    ),
}
"""What to write where a library is not to be given handles."""


@frozen
class LibraryCall:
    """A call of another library, as the user has written it.

    Attributes
    ----------
    function : str
        Its name: ``"lfilter"``; "a function" where it has none that users know.
    package : str
        The package that has it: ``"scipy.signal"``.
    ours : bool
        Whether it is we who call, for a user who has called one of our functions.
    """

    function: str
    package: str
    ours: bool

    def __str__(self) -> str:
        return f"{self.function} of {self.package}"

    @property
    def advice(self) -> str:
        """What to write instead."""
        library = self.package.partition(".")[0]
        if library in ADVICE:
            return ADVICE[library]
        if self.package == "scipy.sparse" and "." in self.function:
            kind, _, method = self.function.partition(".")
            instead = {"multiply": " * t", "dot": " @ t"}.get(method, ".toarray()")
            array = kind.replace("_matrix", "_array")
            return f"write scipy.sparse.{array}(a){instead}, or {FOR_THE_VALUE}"
        if self.ours:
            return f"write np.stack([...]) in place of a list of handles, or {FOR_THE_VALUE}"
        if (ours := self.counterpart) is not None:
            return f"write {ours} that take handles, or {FOR_THE_VALUE}"
        return f"write {FOR_THE_VALUE}, or give it a derivative by ta.custom_rule"

    @property
    def counterpart(self) -> str | None:
        """What package of ours has such functions."""
        from pathlib import Path  # noqa: PLC0415 - which only errors need

        home = Path(__file__).parents[2].joinpath(*self.package.split("."))
        found = home.is_dir() or home.with_suffix(".py").is_file()
        text = f"tape_ad.{self.package} in place of {self.package}, which has functions of the same"
        return f"{text} names" if found else None


CALLING, COPYING = (
    ("tape_ad.transforms.", "tape_ad.programs."),
    "tape_ad.transforms.differentiable.",
)
"""The modules that call functions of users, of which some are a library's; but not its copies."""


def library_call(frame: FrameType | None = None) -> LibraryCall | None:
    """Find the outermost function of another library between the user's line and here.

    Parameters
    ----------
    frame : frame, optional
        Where to begin; the caller's when left out.
    """
    found, ours = None, False
    for each in library_frames(frame or sys._getframe(1)):
        module = str(each.f_globals.get("__name__"))
        if module.partition(".")[0] == "tape_ad":
            calling = module.startswith(CALLING) and not module.startswith(COPYING)
            ours = ours or not (calling or hands_calls_on(module))
        elif not is_library_name(module) and module.partition(".")[0] != "numpy":
            name = re.sub(r"\.__(call|init|new)__$", "", each.f_code.co_qualname)
            if name.startswith("_apply_over_batch."):  # SciPy's wrapper, of a function for one
                name, module = each.f_locals["f"].__name__, "scipy.linalg"
            parts = takewhile(lambda part: part[0] != "_" and part != "core", module.split("."))
            if (
                "self" in each.f_locals and "<" not in name
            ):  # whose class may be a hidden one's child
                name = re.sub(r"^\w+\b", type(each.f_locals["self"]).__name__, name)
            hidden = "._lib." in module or re.search(r"\b_|<", name)
            if found is None or found[0] == HIDDEN or not hidden:
                found, ours = (HIDDEN if hidden else name, ".".join(parts)), False
    return LibraryCall(*found, ours) if found else None


def in_place_of_call(frame: FrameType) -> str:
    """Say what to write in place of a function of NumPy's that no handle can be given to.

    Empty where it is none of those, or the source of the line is not there.
    """
    if frame.f_code.co_qualname.startswith("vectorize."):
        return "write a function of whole arrays, with np.where for its branches, or ta.batched(f)"
    name = method_called(frame)
    if name[:1] != "_" and hasattr(np.random.Generator, name):
        return (
            "draw from plain parameters and calculate with that, as in loc + scale * "
            f"rng.standard_normal(shape), or write {FOR_THE_VALUE}"
        )
    return ""


def library_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Give the frames from one on to that of the user's line, and not that."""
    while frame is not None and is_library(frame):
        yield frame
        frame = frame.f_back


def dropped_in_a_library(what: str) -> ConversionError | None:
    """Say that the function of another library drops a gradient; None if none is called."""
    call = library_call()
    if call is None:
        return None
    return ConversionError(
        f"{call} {what} ({caller()}), which would drop the gradient; {call.advice}"
    )


def traced_in_a_library(what: str) -> str | None:
    """Say what is to be written in place of a library's function in a capture or a batch."""
    call = library_call()
    if call is None or (call.ours and what == AS_ARRAYS):
        return None
    ours = "" if call.ours or call.counterpart is None else f"{call.counterpart}, or "
    return f"{call} {what} ({caller()}); write {ours}ta.differentiable(f) for the f that calls it"


def refuse_a_library(frame: FrameType) -> None:
    """Refuse to give numbers to code that is installed; users who ask for them mean it.

    Raises
    ------
    ConversionError
    """
    name = str(frame.f_globals.get("__name__"))
    if "site-packages" in frame.f_code.co_filename and not is_library_name(name):
        raise dropped_in_a_library("takes Python numbers from what it gets") or ConversionError(
            f"{name} takes Python numbers from a handle ({caller()}), which would drop the "
            f"gradient; write {FOR_THE_VALUE}"
        )


def in_a_library() -> str:
    """Name the function of another library that is called, before what went wrong there."""
    call = library_call()
    return "" if call is None else f"{call} takes plain arrays alone: "


# What a handle answers where a function of another library asks it something: one table

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


def in_an_objective(handle: Any, frame: FrameType) -> bool:
    """Tell whether a function to be minimised has given what a number is made of."""
    names = ("_ScalarFunctionWrapper.", "_wrap_scalar_function")
    return frame.f_code.co_qualname.startswith(names)


def refused_aloud(handle: Any) -> Any:
    """Refuse by no TypeError, which the function would take for another thing, and hide."""
    told = dropped_in_a_library(AS_ARRAYS)
    if told is not None:
        raise TapeError(str(told))
    return OWN


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
        *("array", ("function_wrapper", "__call__"), "takes a TypeError for what gives no number"),
        refused_aloud,
        in_an_objective,
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
        *("format", ("__init__",), "says of an error only what it was given"),
        refused(AS_ARRAYS),
    ),
    Row(
        *("atleast_1d", ("_check_func", "lfilter"), "its code in C says another thing of an error"),
        refused(AS_ARRAYS),
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
