"""What is said where a function of another library would turn a handle into plain numbers."""

import re
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from types import FrameType

from attrs import frozen

from tape_ad.base.errors import ConversionError
from tape_ad.record.messages.callers import caller, hands_calls_on, is_library, is_library_name

__all__ = [
    "FOR_THE_VALUE",
    "LibraryCall",
    "dropped_in_a_library",
    "in_a_library",
    "library_call",
    "refuse_a_library",
]

HERE = Path(__file__).parents[2]

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
        if self.ours:
            return f"write np.stack([...]) in place of a list of handles, or {FOR_THE_VALUE}"
        home = HERE.joinpath(*self.package.split("."))
        if home.is_dir() or home.with_suffix(".py").is_file():
            return (
                f"write tape_ad.{self.package} in place of {self.package}, which has functions of "
                f"the same names that take handles, or {FOR_THE_VALUE}"
            )
        return f"write {FOR_THE_VALUE}, or give it a derivative by ta.custom_rule"


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
            ours = ours or not hands_calls_on(module)
        elif not is_library_name(module) and module.partition(".")[0] != "numpy":
            parts = takewhile(lambda part: part[0] != "_" and part != "core", module.split("."))
            name = re.sub(r"\.__(call|init|new)__$", "", each.f_code.co_qualname)
            hidden = "._lib." in module or re.search(r"\b_|<", name)
            if found is None or found[0] == HIDDEN or not hidden:
                found, ours = (HIDDEN if hidden else name, ".".join(parts)), False
    return LibraryCall(*found, ours) if found else None


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
