"""Every function of NumPy that answers to handles: a handle, plain data on purpose, or an error.

An error is one of ours, or the one that NumPy raises for the same call on arrays.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from numpy.testing import overrides

import tape_ad as ta
from tape_ad.errors import TapeError
from tape_ad.rules import RULES, load_lazy_tables
from tape_ad.rules.base import Constant, Filled

load_lazy_tables()

Array = Any
Call = Callable[[Callable[..., Any], Any, Array], Any]

# `call(function, t, x)`: with a handle and an array, or with two arrays, which is NumPy's own.
LEADING: list[Call] = [
    lambda f, t, x: f(t),
    lambda f, t, x: f(t, t),
    lambda f, t, x: f(t, t, t),
    lambda f, t, x: f([t]),
    lambda f, t, x: f([t, t]),
    lambda f, t, x: f([t, x], 0),
    lambda f, t, x: f([x, t]),
    lambda f, t, x: f(t, x),
    lambda f, t, x: f(t, 0),
    lambda f, t, x: f(t, 1),
    lambda f, t, x: f(t, (0,)),
    lambda f, t, x: f(t, 0, 0),
    lambda f, t, x: f(t, x, t),
    lambda f, t, x: f(t, t > 0),
    lambda f, t, x: f("ij,jk", t, t),
]

FOLLOWING: list[Call] = [
    lambda f, t, x: f(x, t),
    lambda f, t, x: f(0, t),
    lambda f, t, x: f(t > 0, t),
]

SHAPES: list[tuple[int, ...]] = [(), (3,), (3, 3)]

# Beside those whose rule says so.
PLAIN_ON_PURPOSE: set[str] = {
    "angle",  # of real numbers, which is 0 or pi
    *("compress", "extract"),  # of a condition that is a handle, and a plain array
    "fromiter",  # of numbers, each read by float()
    "heaviside",  # of where the step is
    *("histogram", "histogramdd"),  # counts, and bins that are given
    "histogram_bin_edges",  # of a range that is given
    "sign",
    # of a size
}

# In their second place stands a flag, a size, a dtype or a tolerance, not a value; or it decides
# only which sign, or which values of the first, are taken.
NOT_A_VALUE: set[str] = {
    *("copysign", "intersect1d", "nextafter", "setdiff1d"),
    *("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty"),
    *("frombuffer", "identity", "nan_to_num", "ones", "real_if_close", "require"),
    *("unique", "zeros", "repack_fields", "require_fields", "stack_arrays"),
}

# They read what is not an array, and say by NumPy's own error that a handle is not that either;
# from Python 3.12 on, a buffer is asked of the handle, which says so itself.
READERS: set[str] = {
    "fromfile",
    "loadtxt",
    *(("frombuffer",) if sys.version_info < (3, 12) else ()),
}

# The number of the call in `LEADING` where NumPy takes what has no meaning, or finds another fault.
NONSENSE: set[tuple[str, int]] = {
    ("norm", 10),  # of an order that is a tuple
    ("where", 14),  # of a condition that is a text
}

# What says that arguments make no sense. NumPy and a rule may find another fault first.
REFUSALS = (TypeError, ValueError, IndexError)

FUNCTIONS: list[Any] = sorted(
    overrides.get_overridable_numpy_array_functions() | overrides.get_overridable_numpy_ufuncs(),
    key=lambda function: (getattr(function, "__module__", None) or "numpy", function.__name__),
)


@frozen
class Met:
    """What a call on a handle came to.

    Attributes
    ----------
    function : callable
    name : str
        Of the function; two functions of different modules may share it.
    number : int
        Of the call, in its list.
    fault : str
        "silent" where it gave floats, no handle and no error; "error" where it raised one that is
        neither ours nor NumPy's own.
    shown : str
        The result, or the error.
    """

    function: Any
    name: str
    number: int
    fault: str
    shown: str


Faults = dict[str, list[Met]]


def contains_handle(result: Any) -> bool:
    if isinstance(result, (list, tuple)):
        return any(map(contains_handle, result))
    return isinstance(result, ta.Tensor)


def contains_floats(result: Any) -> bool:
    if isinstance(result, (list, tuple)):
        return any(map(contains_floats, result))
    return np.asarray(result).dtype.kind in "fcO" if not isinstance(result, type) else False


def is_numpys_own(error: Exception, function: Any, call: Call, x: Array) -> bool:
    """Tell whether the same call on arrays fails as well, and in a like manner."""
    try:
        call(function, x.copy(), x.copy())
    except Exception as own:
        return isinstance(error, type(own)) or (
            isinstance(error, REFUSALS) and isinstance(own, (*REFUSALS, AttributeError))
        )
    return False


def faults(calls: list[Call], shape: tuple[int, ...]) -> Iterator[Met]:
    """Call every function in every way."""
    for function in FUNCTIONS:
        name = function.__name__
        for number, call in enumerate(calls):
            x = np.random.default_rng(3).uniform(0.1, 0.9, shape)
            t = ta.ComputationRecord().tensor(x.copy())
            try:
                result = call(function, t, x.copy())
            except TapeError:
                pass
            except Exception as error:
                if not is_numpys_own(error, function, call, x):
                    yield Met(function, name, number, "error", repr(error))
            else:
                if not contains_handle(result) and contains_floats(result):
                    yield Met(function, name, number, "silent", repr(result))
            np.testing.assert_array_equal(t.data, x, err_msg=name)


def is_plain(function: Any) -> bool:
    return (
        isinstance(RULES.get(function), (Constant, Filled)) or function.__name__ in PLAIN_ON_PURPOSE
    )


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faults]:
    """Make all calls once, in an empty folder, as some look for files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("empty"))
        yield {
            "leading": [fault for shape in SHAPES for fault in faults(LEADING, shape)],
            "following": [fault for shape in SHAPES for fault in faults(FOLLOWING, shape)],
        }
        assert list(Path.cwd().iterdir()) == []


# These calls make little sense, and NumPy says so.
pytestmark = pytest.mark.filterwarnings("ignore")


def silent(faults: list[Met]) -> list[Met]:
    return [fault for fault in faults if fault.fault == "silent"]


def errors(faults: list[Met]) -> list[Met]:
    return [fault for fault in faults if fault.fault == "error" and fault.name not in READERS]


def test_no_function_drops_the_gradient_without_a_word(met: Faults) -> None:
    following = [fault for fault in met["following"] if fault.name not in NOT_A_VALUE]
    dropped = silent(met["leading"] + following)
    assert [fault for fault in dropped if not is_plain(fault.function)] == []


def test_an_error_is_ours_or_numpys(met: Faults) -> None:
    leading = errors(met["leading"])
    assert [fault for fault in leading if (fault.name, fault.number) not in NONSENSE] == []
    assert errors(met["following"]) == []


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy 2.0 refuses some of the calls"
)
def test_every_exemption_is_needed(met: Faults) -> None:
    both = met["leading"] + met["following"]
    following = [fault for fault in silent(met["following"]) if not is_plain(fault.function)]
    assert sorted(NOT_A_VALUE - {fault.name for fault in following}) == []
    assert sorted(PLAIN_ON_PURPOSE - {fault.name for fault in silent(both)}) == []
    assert sorted(READERS - {fault.name for fault in both if fault.fault == "error"}) == []
    assert sorted(NONSENSE - {(fault.name, fault.number) for fault in errors(met["leading"])}) == []


def test_there_are_many_functions_to_try() -> None:
    assert len(FUNCTIONS) > 250
    assert {np.add, np.sum, np.linalg.svd, np.einsum} <= set(FUNCTIONS)
