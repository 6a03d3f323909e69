"""Branches that an exact tie decides: an error in a library, a warning at home."""

import operator
import pickle
import subprocess
import sys
import types
import warnings
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import TieError, TieWarning


def handle(*numbers: float) -> Any:
    return ta.ComputationRecord().tensor(np.array(numbers) if len(numbers) > 1 else numbers[0])


def as_a_library(text: str) -> Any:
    """Make a function of installed code, of one argument `x`."""
    module = types.ModuleType("installed")
    code = compile(f"import numpy as np\ndef f(x, y=0):\n    {text}", "/site-packages/i.py", "exec")
    exec(code, module.__dict__)  # noqa: S102 - the text stands in this file
    return module.f


BRANCHES = [
    ("return 1 if x == 0 else 2", (0.0,)),
    ("return 1 if x != 0 else 2", (0.0,)),
    ("return 1 if 0 == x else 2", (0.0,)),
    ("return 1 if not x else 2", (0.0,)),
    ("return x in (0, 1)", (1.0,)),
    ("return x in [0, 1]", (0.0,)),
    ("return 1 if not (x == 0) else 2", (0.0,)),
    ("return 1 if (x == 0) | (y > 1) else 2", (0.0,)),
    ("return 1 if np.equal(x, 0) else 2", (0.0,)),
    ("return 1 if np.any(x == 0) else 2", (0.0, 1.0)),
    ("return 1 if (x == 0).any() else 2", (0.0, 1.0)),
    ("return 1 if np.all(x == np.array([2, 1])) else 2", (2.0, 1.0)),
    ("return 1 if (x != np.array([2, 1])).any() else 2", (2.0, 1.0)),
    ("return 1 if (x == 0)[0] else 2", (0.0, 1.0)),
    ("return 1 if x[0] == x[1] else 2", (3.0, 3.0)),
    ("return [1 for each in x == 0 if each]", (0.0, 1.0)),
    ("return 1 if x == np.floor(x.data) else 2", (3.0,)),
    ("return 1 if np.concatenate(([1.0], x * x))[1] == 0 else 2", (0.0, 1.0)),
    ("return 1 if np.outer(x, x)[0, 1] == 0 else 2", (0.0, 0.0)),
    ("return 1 if np.array_equal(x, [0.0, 1.0]) else 2", (0.0, 1.0)),
    ("return 1 if np.array_equiv(x, [2.0, 1.0]) else 2", (2.0, 1.0)),
    ("return 1 if np.all(x) else 2", (0.0, 1.0)),
    ("return 1 if x.any() else 2", (0.0, 0.0)),
    ("return 1 if np.logical_not(x) else 2", (0.0,)),
    ("return 1 if (x == 0).ravel()[0] else 2", (0.0, 1.0)),
    ("return 1 if (x == 0).T.copy().any() else 2", (0.0, 1.0)),
    ("return 1 if (x == 0).all(axis=0).item() else 2", (0.0, 0.0)),
    ("return 1 if (x == 0).item(1) else 2", (1.0, 0.0)),
    ("return 1 if np.concatenate([x == 0, x == 1])[0] else 2", (0.0, 2.0)),
    ("return 1 if np.broadcast_to(x == 0, (2, 2)).all(axis=0)[0] else 2", (0.0, 1.0)),
    ("return 1 if np.where(x == 0, True, False).any() else 2", (0.0, 1.0)),
]


@pytest.mark.parametrize(("text", "numbers"), BRANCHES)
def test_a_library_that_branches_on_a_tie_is_refused(text: str, numbers: Any) -> None:
    f = as_a_library(text)
    with pytest.raises(TieError, match=r"branches on numbers that are exactly equal \(line \d+"):
        f(handle(*numbers))
    f(np.array(numbers) if len(numbers) > 1 else numbers[0]) if ".data" not in text else None


@pytest.mark.parametrize(("text", "numbers"), BRANCHES)
def test_without_a_tie_it_branches_as_ever(text: str, numbers: Any) -> None:
    as_a_library(text)(handle(*[each + 0.25 * i + 0.125 for i, each in enumerate(numbers)]))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("return np.where(x == 0, 1.0, x)", (0.0, 2.0)),
        ("return x[x == 0]", (0.0, 2.0)),
        ("return x * (x != 0)", (0.0, 2.0)),
        ("return (x == 0).sum() > 0", (0.0, 2.0)),
        ("return 1 if np.all(x == 0) else 2", (0.0, 2.0)),  # whether or not the tie holds
        ("return 1 if np.any(x != 0) else 2", (0.0, 2.0)),
        ("return 1 if x != x else 2", (2.0,)),  # which asks for nan
        ("return 1 if x == np.inf else 2", (np.inf,)),
        ("return 1 if np.concatenate(([0.0], x))[0] == 0 else 2", (1.0, 2.0)),  # a constant edge
        ("return 1 if x == 0 and False else 2", (1.0,)),
        ("return 1 if x <= 0 else 2", (0.0,)),
    ],
)
def test_masks_and_what_no_tie_decides_are_as_before(text: str, numbers: Any) -> None:
    f = as_a_library(text)
    found = f(handle(*numbers))
    expected = f(np.array(numbers) if len(numbers) > 1 else numbers[0])
    np.testing.assert_array_equal(getattr(found, "data", found), expected)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("return np.count_nonzero(x == 0)", (0.0, 2.0)),  # a number, as sums of masks are
        ("return np.array_equal(x, [0.0, 1.0])", (0.0, 2.0)),
        ("return np.array_equal(x, [0.0])", (0.0, 2.0)),
        ("return np.stack([x == 0, x == 2]).argmax(axis=0)", (0.0, 2.0)),
        ("return np.where((x == 0).reshape(2), x, 3.0)", (0.0, 2.0)),
    ],
)
def test_what_is_counted_or_picked_by_a_mask_is_as_before(text: str, numbers: Any) -> None:
    found = as_a_library(text)(handle(*numbers))
    np.testing.assert_array_equal(
        getattr(found, "data", found), as_a_library(text)(np.array(numbers))
    )


@pytest.mark.parametrize("engine", ["numpy", "auto"])
@pytest.mark.parametrize(
    ("text", "tie"),
    [
        ("return 0 * x[0] if x[0] == 0 else x[0]", (0.0, 1.0)),
        ("return 0 * x[0] if np.any(x == 0) else x[0] * x[1]", (0.0, 1.0)),
        ("return x[0] if np.array_equal(x, [0.0, 1.0]) else x[0] * x[1]", (0.0, 1.0)),
        ("return x[0] if np.concatenate(([0.0], x * x))[1] == 0 else x[1]", (0.0, 1.0)),
    ],
)
def test_a_tie_is_told_where_a_function_is_compiled(text: str, tie: Any, engine: str) -> None:
    slope = ta.grad(as_a_library(text))
    fast = ta.compile(slope, engine=engine)
    for point in (tie, (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), tie):
        if point is tie:
            with pytest.raises(TieError):
                fast(np.array(point))
        else:
            np.testing.assert_array_equal(fast(np.array(point)), slope(np.array(point)))


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_masks_with_ties_are_captured_as_any_others(engine: str) -> None:
    lines = "m = x == 0; v = m[1:]; v[0] = True; return np.sum(np.where(m, 3 * x, x * x))"
    edge = "return np.sum(x * x if np.concatenate(([0.0], x))[0] == 0 else x)"
    for text in (lines, edge):
        slope = ta.grad(as_a_library(text))
        fast = ta.compile(slope, engine=engine)
        for point in ([0.0, 1.0], [1.0, 2.0], [0.0, 3.0], [2.0, 3.0], [4.0, 0.0], [0.0, 0.0]):
            np.testing.assert_array_equal(fast(np.array(point)), slope(np.array(point)))


def test_at_home_a_compiled_function_warns_as_well() -> None:
    def scaled(x: Any) -> Any:
        return 2.0 * x if x == 0 else 3.0 * x

    fast = ta.compile(ta.grad(scaled))
    with pytest.warns(TieWarning, match="exactly equal"):
        assert fast(0.0) == 2.0
    assert fast(1.0) == 3.0


def test_a_constant_of_a_record_has_no_derivative_to_lose() -> None:
    constant = ta.ComputationRecord().constant(np.zeros(2))
    assert as_a_library("return bool(np.all(x == 0))")(constant)


def test_at_home_it_is_a_warning_once_per_line() -> None:
    def relu(x: Any) -> Any:
        return 0.0 if x == 0 else x

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            relu(handle(0.0))
    (warning,) = told
    assert warning.category is TieWarning
    assert "exactly equal (line" in str(warning.message)
    assert warning.filename == __file__


def test_masks_at_home_are_no_matter() -> None:
    x = handle(0.0, 2.0)
    mask = x == 0
    assert type(mask) is np.ndarray
    assert mask.tolist() == [True, False]
    y = np.sum(np.where(mask, 3 * x, x) * mask)
    assert y.grad().wrt(x).tolist() == [3.0, 0.0]


def test_the_numbers_of_ties_are_numpys() -> None:
    tie: Any = handle(0.0) == 0
    assert (repr(tie), tie.dtype, tie.shape) == (repr(np.True_), np.dtype(bool), ())
    assert np.isscalar(tie)
    assert issubclass(tie.__class__, np.bool_)
    assert not isinstance(as_a_library("return x == 0")(handle(0.0, 2.0)), np.bool_)
    assert type(pickle.loads(pickle.dumps(tie))) is np.bool_
    assert type(tie.astype(float)) is np.float64
    with pytest.raises((TypeError, DeprecationWarning)):  # the latter by NumPy 2.0
        operator.index(tie)  # type: ignore[arg-type]  # for which it is no number


def test_what_a_tie_finds_in_a_dict_is_a_branch() -> None:
    with pytest.warns(TieWarning):
        found = {True: 1, False: 2}[handle(0.0) == 0]
    assert found == 1


def test_a_tie_that_picks_from_an_array_is_a_mask() -> None:
    x = handle(1.0, 2.0)
    assert np.arange(3.0)[x[0] == 1].shape == (1, 3)
    assert x[x[0] == 1].shape == (1, 2)
    assert as_a_library("y = np.arange(3.0); y[x == 1] = 7; return y")(handle(1.0)).sum() == 21


def test_a_check_that_computes_nothing_may_have_ties() -> None:
    x = handle(1.0, 2.0)
    assert x[0] == 1
    if x[1] != 2:
        raise ValueError(x)
    if not (
        x[0] == 1  # over lines
        and x[1] == 2
    ):
        raise ValueError(x)
    with pytest.warns(TieWarning):
        assert (y := 3 if x[0] == 1 else x[0]) == 3
    with pytest.warns(TieWarning):
        y = 3 if x[0] == 1 else x[0]
    assert y == 3


def test_a_mask_that_is_written_to_forgets() -> None:
    mask = as_a_library("return x == 0")(handle(0.0, 2.0))
    assert repr(mask) == "array([ True, False])"
    mask[0] = False
    mask |= np.array([True, True])
    assert mask.all()


@pytest.mark.parametrize("name", ["tape_ad.scipy.stats.own", "tape_ad.nn.own"])
def test_our_own_functions_are_no_exception(name: str) -> None:
    module = types.ModuleType(name)
    exec("def f(x):\n    return 1 if x == 0 else x", module.__dict__)  # noqa: S102 - as above
    with pytest.raises(TieError, match=rf"{name} branches on numbers"):
        module.f(handle(0.0))


PROGRAM = """
import numpy as np
import scipy.stats
import tape_ad as ta

x = np.array([1.0, 2.0, 4.5])
for f, at in (
    (lambda l: scipy.stats.boxcox_llf(l, x), 0.0),
    (lambda s: scipy.stats.iqr(x, scale=s), 1.0),
):
    try:
        print(ta.grad(f)(at))
    except ta.errors.TieError as error:
        print(error)
"""


def test_scipy_is_refused_and_what_is_right_there_named() -> None:
    pytest.importorskip("scipy")
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    printed = subprocess.run(  # noqa: S603  # our own code in our own interpreter
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert printed[0].startswith("boxcox_llf of scipy.stats branches")
    assert printed[1].startswith("iqr of scipy.stats branches")
    assert all("write tape_ad.scipy.stats in place of scipy.stats" in line for line in printed)
