"""What a handle answers where a function of another library asks it something: one table.

In most functions of a library a handle answers as everywhere, and an error of `libraries` names the
function. The table has those in which that would not do, as they look at the answer only to see
what it is of, put an error of their own in its place, or go another way on account of it.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import numpy as np
from attrs import frozen

from tape_ad.base.errors import InPlaceError, RefusedConversionError
from tape_ad.record.messages.callers import caller, hands_calls_on, is_library
from tape_ad.record.messages.libraries import dropped_in_a_library

__all__ = ["ASKING_FOR_TYPES", "AS_ARRAYS", "COMPARING", "NO_ARRAY", "OWN", "answer_to_scipy"]

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
        What is asked of the handle: "array" and "number" for itself as such, "type" for
        `isinstance`, "namespace", "equal" for ``==``, the name of a function of NumPy's or of an
        attribute.
    functions : tuple of str
        The functions that ask, by the names in SciPy's code; none for all of them.
    why : str
    answer : callable
        Of the handle: gives what is answered, or raises an error.
    when : callable, optional
        Of the handle and the frame that asks: whether the row holds.
    package : str
        Whose functions ask.
    """

    question: str
    functions: tuple[str, ...]
    why: str
    answer: Callable[[Any], Any]
    when: Callable[[Any, FrameType], bool] = lambda handle, frame: True
    package: str = "scipy"


def refused(what: str) -> Callable[[Any], Any]:
    """Refuse, by the error of functions that would drop a gradient."""

    def answer(handle: Any) -> Any:
        told = dropped_in_a_library(what)
        if told is not None:
            raise told
        return OWN

    return answer


def refused_in_other_words(handle: Any) -> NoReturn:
    """Refuse by an error that is no TypeError."""
    raise RefusedConversionError(str(dropped_in_a_library(AS_ARRAYS)))


def refused_in_place(handle: Any) -> NoReturn:
    """Refuse to be added to what pandas would change."""
    raise InPlaceError(
        f"a series or a frame cannot be changed in place by a handle ({caller()}), for it holds "
        "plain numbers; write series.to_numpy() + t, which is a handle"
    )


def is_argument(name: str) -> Callable[[Any, FrameType], bool]:
    """Tell whether the handle is a certain argument, or variable, of the function that asks."""
    return lambda handle, frame: frame.f_locals.get(name) is handle


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


def in_cross_validation(handle: Any, frame: FrameType) -> bool:
    """Tell whether scikit-learn is about to score fits, which puts nan where one fails."""
    return below(frame, "sklearn.model_selection.", SCORING)


def in_place(handle: Any, frame: FrameType) -> bool:
    """Tell whether the operator of a series or a frame is one that changes it."""
    return below(frame, "pandas.", ("_inplace_method",))


def below(frame: FrameType, package: str, names: tuple[str, ...]) -> bool:
    """Tell whether a function that asks has been called by one of these, without users between."""
    above: FrameType | None = frame
    while above is not None and is_library(above):
        module = str(above.f_globals.get("__name__"))
        if above.f_code.co_name in names and module.startswith(package):
            return True
        above = above.f_back
    return False


def beside_handles(handle: Any, frame: FrameType) -> bool:
    """Tell whether a constant is an argument beside handles that depend on something."""
    others = frame.f_locals.values()
    return any(getattr(each, "record", None) is not None for each in others)


def names_a_distribution(handle: Any, frame: FrameType) -> bool:
    """Tell whether a distribution is given by its name."""
    return isinstance(frame.f_locals.get("cdf"), str)


LOOKING = ("array_namespace", "_compliance_scipy")
WRAPPERS = ("function_wrapper", "_calculate_population_energies")
MULTIPLYING = ("multiply", "_multiply_2d_with_broadcasting")
SCORING = ("cross_validate", "fit", "learning_curve", "permutation_test_score", "validation_curve")
SEARCHES = ("_chandrupatla", "_chandrupatla_minimize")
QUADRATURES = ("roots_jacobi", "roots_gegenbauer")
BETWEEN = {"namespace": ("scipy._lib.", "scipy._external."), "deepcopy": ("copy",)}
NO_NUMBERS = "gives scores that are plain numbers, and nan where one cannot be computed"

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
        *("array", ("check_x_scale",), "takes a TypeError for that of a word"),
        refused_in_other_words,
    ),
    Row(
        *("array", WRAPPERS, "takes a TypeError for that of an objective that is no number"),
        refused_in_other_words,
    ),
    Row(
        *("array", ("__call__", "wrapped"), "takes a TypeError for that of an objective"),
        refused_in_other_words,
        is_argument("fx"),
    ),
    Row(
        *("isnan", ("_minimize_scalar_golden",), "only compares values, and gives a plain minimum"),
        refused(AS_NUMBERS),
    ),
    Row(
        *("atleast_1d", ("_check_func", "lfilter"), "its code in C says another thing of an error"),
        refused(AS_ARRAYS),
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
        *("astype", ("funm",), "its compiled code says another thing of a handle"),
        refused(AS_ARRAYS),
    ),
    Row(
        *("matvec", (), "takes what has it not for a type that it does not understand"),
        refused("takes matrices of plain numbers"),
    ),
    Row(
        *("namespace", ("cramervonmises",), "takes the names of distributions for NumPy's alone"),
        refused("takes the name of a distribution for plain arrays alone"),
        names_a_distribution,
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
    Row(
        *("equal", QUADRATURES, "goes on with the plain one of two parameters that are equal"),
        refused(AS_NUMBERS),
    ),
    Row(
        *("fit", ("_num_samples",), "takes an error for a fit that fails, and scores it with nan"),
        refused(NO_NUMBERS),
        in_cross_validation,
        "sklearn",
    ),
    Row(
        *("deepcopy", ("_clone_parametrized", "clone"), "as above, of an estimator's parameters"),
        refused(NO_NUMBERS),
        in_cross_validation,
        "sklearn",
    ),
    Row(
        *("priority", ("new_method",), "asks what NotImplemented gives for its index"),
        refused_in_place,
        in_place,
        "pandas",
    ),
    Row(
        *("type", ("set_bandwidth",), "takes what is no number for a word"),
        refused("takes bw_method as a plain number or a word"),
        is_argument("bw_method"),
    ),
    Row(
        *("type", ("_validate_fs",), "takes what is no number for several"),
        refused("takes fs as a plain number alone"),
        is_argument("fs"),
    ),
    Row(
        *("type", ("pmean",), "has another formula for 0, and takes what is no number for a word"),
        refused("takes p as a plain number alone"),
        is_argument("p"),
    ),
    Row(
        *("type", ("root_scalar",), "takes what is no list for none"),
        refused("takes bracket as plain numbers alone"),
        is_argument("bracket"),
    ),
)
"""What a handle answers in which functions, and why it would not do to answer as everywhere."""

ROWS = {(row.question, name): row for row in TABLE for name in row.functions or ("",)}

ASKING_FOR_TYPES = frozenset({"isscalar", *(name for question, name in ROWS if question == "type")})
"""The functions from which a question for the type may be one of the table; NumPy's for others."""

COMPARING = frozenset(name for question, name in ROWS if question == "equal")
"""The functions whose ``==`` may be a question of the table."""


def answer_to_scipy(question: str, handle: Any) -> Any:
    """Give what a handle answers to the function of SciPy's that asks, or OWN.

    Parameters
    ----------
    question : str
        As in the table.
    handle : Tensor

    Raises
    ------
    ConversionError, RefusedConversionError
        Where that is the answer.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and passes_on(frame, question):
        frame = frame.f_back
    if frame is None:
        return OWN
    row = ROWS.get((question, frame.f_code.co_name)) or ROWS.get((question, ""))
    if row is None or package_of(frame) != row.package or not row.when(handle, frame):
        return OWN
    return row.answer(handle)


def package_of(frame: FrameType) -> str:
    """Name the package that a frame's function is of."""
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def passes_on(frame: FrameType, question: str) -> bool:
    """Tell whether a frame only hands a question on."""
    name = str(frame.f_globals.get("__name__"))
    return hands_calls_on(name) or name.startswith(("numpy.", *BETWEEN.get(question, ())))
