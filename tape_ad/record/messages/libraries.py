"""What is said where a function of another library would turn a handle into plain numbers.

The error names the function that the user has called, which lies under however many of the
library's own, and what to write in its place.
"""

import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

from attrs import frozen

from tape_ad.base.errors import ConversionError
from tape_ad.record.messages.callers import (
    caller,
    hands_calls_on,
    is_copied,
    is_library,
    is_library_name,
)
from tape_ad.record.messages.calls_in_c import function_called
from tape_ad.record.messages.migration_hints import hint_for

__all__ = [
    "LibraryCall",
    "around_a_callback",
    "dropped_in_a_library",
    "in_a_library",
    "library_call",
    "refuse_a_library",
    "replacement_in_scipy",
]

PUBLISHED = {
    **{
        f"scipy.{name}": f"tape_ad.scipy.{name}"
        for name in (
            *("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal"),
            *("signal.windows", "sparse", "sparse.linalg", "spatial", "spatial.distance"),
            *("optimize.elementwise", "spatial.transform", "special", "stats"),
        )
    },
    "sklearn.metrics": "tape_ad.interop.sklearn",
    "sklearn.metrics.pairwise": "tape_ad.interop.sklearn.pairwise",
}
"""Where functions of other libraries' modules are to be found that handles may be given to."""

BEFORE_UFUNCS = "scipy.special._support_alternative_backends"
"""What SciPy puts before its ufuncs where SCIPY_ARRAY_API is set."""

FOR_THE_VALUE = "t.data for the value alone"

IN_A_LIST = "write np.stack([...]) in place of a list that holds handles"

INSTEAD = {
    "numpy.apply_along_axis": "give it rec.constant(array) in place of a plain array, or write "
    "np.stack([f(row) for row in array])",
    "numpy.apply_over_axes": "give it rec.constant(array) in place of a plain array",
    "numpy.piecewise": "give it rec.constant(x) in place of a plain array, or write np.where",
    "numpy.polynomial.Chebyshev.interpolate": "write np.polynomial.chebyshev.chebinterpolate, "
    "which takes functions that give handles",
    "numpy.vectorize": "write np.stack([f(x) for x in array]), or f for whole arrays",
}
"""What to write in place of functions of NumPy's that join what a user's function gives."""


COMPLAINING = {("sklearn.utils._param_validation", "validate_parameter_constraints")}
"""The functions that are not SciPy's, but print what they have got in an error of their own."""

ADVICE = {
    "sklearn": "scikit-learn keeps it where it supports the array API, within "
    "sklearn.config_context(array_api_dispatch=True) and with SCIPY_ARRAY_API=1 in the environment "
    "before SciPy is imported, but not in scores that are Python numbers (tape_ad.interop.sklearn "
    f"has those); else write the formula in NumPy, or {FOR_THE_VALUE}",
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
    name : str
        The public name: ``"scipy.signal.lfilter"``, ``"scipy.stats.norm.pdf"``.
    module : str
        The module that has it: ``"scipy.signal"``.
    ours : bool
        Whether it is we who call, for a user who has called one of our functions.
    """

    name: str
    module: str
    ours: bool

    @property
    def is_numpys(self) -> bool:
        """Whether it is NumPy, and no other library, that is called."""
        return self.module.partition(".")[0] == "numpy"

    @property
    def replacement(self) -> str | None:
        """The function of ours to be written instead, if there is one."""
        ours = PUBLISHED.get(self.module)
        if ours is None or self.ours:
            return None
        name, *methods = self.name.removeprefix(f"{self.module}.").split(".")
        return ".".join((ours, name, *methods)) if is_ours(ours, name) else None


NOT_OURS = {
    "tape_ad.interop.sklearn": {"euclidean_distances", "pairwise_distances", "pairwise_kernels"},
    "tape_ad.scipy.ndimage": {"sum"},
    "tape_ad.scipy.optimize": {"Bounds", "bracket"},
    "tape_ad.scipy.special": {"bernoulli", "gegenbauer", "genlaguerre", "jacobi", "sh_jacobi"},
}
"""What a module's code names, though it has no such function."""


def is_ours(ours: str, name: str) -> bool:
    """Tell whether a module has a function, without importing it: an error is to change nothing.

    Parameters
    ----------
    ours : str
        The module's name: "tape_ad.scipy.signal".
    name : str
        SciPy's or scikit-learn's name of the function.
    """
    module = sys.modules.get(ours)
    if module is not None:
        return hasattr(module, name)
    if ours == "tape_ad.scipy.signal.windows":
        return True  # which has all of SciPy's
    if name in NOT_OURS.get(ours, ()) or hint_for(ours, name):
        return False
    if "faces import face" in texts(ours) and is_code(
        sys.modules[ours.removeprefix("tape_ad.")], name
    ):
        return True  # it is copied when it is asked for
    forms = (
        rf"^(?:def|class) {name}\b",
        rf"^ *{name} = ",
        rf"[\"' ]{name}[\"' ]",
        rf"(?:^ +|sp\.){name}:",
        rf"^ +{name}$",
    )
    return bool(re.search("|".join(forms), texts(ours), re.MULTILINE))


def is_code(module: ModuleType, name: str) -> bool:
    """Tell whether a module publishes a function or class of Python under a name."""
    found = getattr(module, name, None)
    return name in module.__all__ and isinstance(found, type | FunctionType)


@functools.cache
def texts(ours: str) -> str:
    """Read the code of a package, or of the package that a module is in."""
    home = Path(__file__).parents[2].joinpath(*ours.split(".")[1:4])
    folder = home if home.is_dir() else home.parent
    return "\n".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))


def dropped_in_a_library(what: str) -> ConversionError | None:
    """Say that the function of another library drops a gradient; None if none is called."""
    call = library_call() or call_in_c()
    if call is None or (call.is_numpys and call.name not in INSTEAD):
        return None
    told = f"{call.name} {what} ({caller()}), which would drop the gradient"
    if call.name in INSTEAD:
        return ConversionError(f"{told.replace('numpy.', 'np.', 1)}; {INSTEAD[call.name]}")
    # A function of ours takes handles, but not where this one stands
    if call.ours and not call.name.startswith("pandas."):
        return ConversionError(f"{told}; {IN_A_LIST}, or {FOR_THE_VALUE}")
    instead = call.replacement
    if instead is not None:
        return ConversionError(f"{told}; write {instead}, which takes handles, or {FOR_THE_VALUE}")
    package = call.module.partition(".")[0]
    home = "tape_ad" if package == "scipy" else "tape_ad.interop"
    public = PUBLISHED.get(call.module, f"{home}.{call.module}")
    names = call.name.removeprefix(f"{call.module}.").split(".")  # of a method, its class at last
    known = next(filter(None, (hint_for(public, name) for name in reversed(names))), "")
    advice = known.removeprefix("; ") or ADVICE.get(
        package,
        f"none is given for it here: write {FOR_THE_VALUE}, or give it one by ta.custom_rule",
    )
    return ConversionError(f"{told}; {advice}")


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
    if call is None or call.is_numpys:
        return ""
    instead = f" (write {call.replacement} instead)" if call.replacement else ""
    return f"{call.name}{instead} takes plain arrays alone: "


def around_a_callback() -> str:
    """Name the function that calls the user's function which is at fault, if there is one of ours.

    Returns
    -------
    str
        The end of an error; nothing where the user has called no function of another library.
    """
    frame = users_frame()
    call = library_call(frame.f_back) if frame is not None else None
    if call is None or call.is_numpys:
        return ""
    told = f"; and in a function that {call.name} calls"
    if call.ours:
        return f"{told}, what it is given is a handle where it is given rec.constant(array)"
    return f"{told}, write {call.replacement} in place of that" if call.replacement else ""


def users_frame() -> FrameType | None:
    """Give the frame of the user's line that has called us, or another library that has."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_library(frame):
        frame = frame.f_back
    return frame


def library_call(frame: FrameType | None = None) -> LibraryCall | None:
    """Find the outermost function of another library between the user's line and here.

    Parameters
    ----------
    frame : frame, optional
        Where to begin; the caller's when left out.
    """
    frames = []
    frame = frame or sys._getframe(1)
    while frame is not None and is_library(frame):
        frames.append(frame)
        frame = frame.f_back
    ours, numpys = False, None
    for frame in reversed(frames):
        module = str(frame.f_globals.get("__name__"))
        package = module.partition(".")[0]
        if package == "tape_ad":
            ours = ours or not hands_calls_on(module)
        elif package == "numpy":
            numpys = numpys or (None if ours else next(public_names(frame), None))
        elif not is_library_name(module):
            for found in public_names(frame):
                return LibraryCall(*found, ours)
    return LibraryCall(*numpys, ours=False) if numpys else None


def call_in_c() -> LibraryCall | None:
    """Find the function that the user's line calls, if it is one in C of another library's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and hands_calls_on(str(frame.f_globals.get("__name__"))):
        frame = frame.f_back
    function = None if frame is None or is_library(frame) else function_called(frame)
    if function is None:
        return None
    of = getattr(function, "__self__", None)
    kind = type(of) if of is not None and not isinstance(of, ModuleType) else None
    if kind is None and not hasattr(function, "__qualname__"):
        kind, function = type(function), function.__call__  # type: ignore[operator]  # it is called
    name = getattr(function, "__qualname__", "")
    named = [(str(getattr(function, "__module__", None)), str(name))]
    if kind is not None:
        named.insert(0, (kind.__module__, f"{kind.__name__}.{name.rpartition('.')[2]}"))
    for module, each in named:
        if not is_library_name(module) and module.partition(".")[0] != "numpy":
            found = public_name(module, each)
            if found is not None:
                return LibraryCall(*found, ours=False)
    return None


def public_names(frame: FrameType) -> Iterator[tuple[str, str]]:
    """Give what users may know the function of a frame by: the whole name, and its module."""
    for place, name in names_in(frame):
        found = public_name(place, name)
        if found is not None:
            yield found


def names_in(frame: FrameType) -> Iterator[tuple[str, str]]:
    """Give what may be the module and the name of the function that a frame is of, or wraps."""
    code, values = frame.f_code, frame.f_locals
    method = values.get("method") if code.co_name == "__ua_function__" else None
    functions = [each for each in (method, *map(values.get, code.co_freevars)) if callable(each)]
    named = [(each.__module__, getattr(each, "__qualname__", "")) for each in functions]
    if frame.f_globals.get("__name__") == BEFORE_UFUNCS:
        ufunc = values.get("f_name") or getattr(values.get("self"), "name", "")
        named.insert(0, ("scipy.special", str(ufunc)))
    if "<locals>" not in code.co_qualname:
        named.append((frame.f_globals.get("__name__"), code.co_qualname))
    of = values.get("self")
    parts = getattr(
        of, "__dict__", {}
    )  # no getattr, which an object that is half made may not bear
    for module, name in named:
        if of is not None and "." in name:
            for owner in (parts.get("dist", of), of):  # a frozen distribution has one to be named
                its = getattr(owner, "__dict__", {})
                for called in (its.get("name"), its.get("__name__"), type(owner).__name__):
                    if isinstance(called, str):
                        yield type(owner).__module__, f"{called}.{name.rpartition('.')[2]}"
        yield str(module), name
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    for base in type(of).__mro__[1:]:  # a class that users do not know may be of one that they do
        if base.__module__.partition(".")[0] == package:
            yield base.__module__, f"{base.__name__}.{code.co_name}"


def public_name(module: str, name: str) -> tuple[str, str] | None:
    """Find the module that a user would import a name from, and the whole name.

    Examples
    --------
    >>> import attrs
    >>> public_name("attr._make", "Attribute.evolve")
    ('attr.Attribute.evolve', 'attr')
    """
    head, *methods = name.split(".")
    parts = module.split(".")
    if head.startswith("_") or any(map(is_hidden, methods)):
        return None
    for count in range(1, len(parts) + 1):
        holder = ".".join(parts[:count])
        if parts[count - 1].startswith("_"):  # scipy.stats._qmc has what scipy.stats.qmc publishes
            holder = ".".join((*parts[: count - 1], parts[count - 1].lstrip("_")))
            if holder not in sys.modules:
                return None
        found = head if hasattr(sys.modules.get(holder), head) else maker_of(head, holder)
        if callable(getattr(sys.modules.get(holder), found, None)):
            return ".".join((holder, found, *(m for m in methods if m[:2] != "__"))), holder
    return None


def maker_of(name: str, holder: str) -> str:
    """Find the function of a module that gives a result of a class which the module has not.

    SciPy names one after the other: ``BinomTestResult`` is what ``binomtest`` gives, and
    ``dirichlet`` is of the class ``dirichlet_gen``, and gives a ``dirichlet_frozen``.
    """
    public = getattr(sys.modules.get(holder), "__all__", ())
    of = name.removesuffix("_gen").removesuffix("_frozen")
    if of != name:
        return of if of in public else ""
    makers = {each.replace("_", "").lower(): each for each in public}
    return makers.get(name.removesuffix("Result").lower(), "") if name.endswith("Result") else ""


def is_hidden(method: str) -> bool:
    """Tell whether a method is one that users do not call."""
    return method.startswith("_") and not method.startswith("__")


def replacement_in_scipy(frame: Any) -> str:
    """Say what to write instead, in what another library prints of a handle in an error."""
    name = str(frame.f_globals.get("__name__"))
    complaining = (name, frame.f_code.co_name) in COMPLAINING
    if is_copied(frame) or not (name.startswith("scipy.") or complaining):
        return ""
    where = in_a_library()
    return f"; a handle, {where.removesuffix(': ')}" if where else ""
