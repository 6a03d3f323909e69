"""Every function of NumPy that answers to captured arrays: noted rightly, or an error; not frozen.

The calls are those that `test_every_function` tries handles with, each captured at one point and
replayed at another, where eager calls give other values.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from attrs import frozen

import tape_ad as ta
from tape_ad.errors import ProgramMismatchError, TapeError
from tape_ad.programs.replay.verifying import check_alike
from tests.programs.bits import Counted, all_same
from tests.sampling import some
from tests.test_every_function import FOLLOWING, FUNCTIONS, LEADING

Array = Any
Call = Callable[..., Any]

SHAPES: list[tuple[int, ...]] = [(3, 3), (), (3, 3), (3,)]
"""Taken in turns."""

NOT_DETERMINED: set[str] = {"empty", "empty_like", "array_repr", "array_str"}
"""Functions whose values nobody promises; or which NumPy lets write to the width of a line."""

TYPES_ASKED: set[str] = {
    *("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "can_cast"),
    *("frombuffer", "fromiter", "identity", "nan_to_num", "ones", "ones_like", "require"),
    *("require_fields", "tri", "zeros", "zeros_like"),
}
"""Functions that take a dtype where these calls have an array: what has a dtype may stand there.

Or they read what is not an array, and say by an error of their own that a captured one is neither.
"""


@frozen
class Met:
    """What a call came to.

    Attributes
    ----------
    name, number
        The function's name, and which call it is.
    outcome : str
        "replayed", "refused" with an error of ours what NumPy computes, "failed" as NumPy's own
        call does, or what should not be: "differs", "captured again", "error", "no error".
    """

    name: str
    number: int
    outcome: str


def at(seed: int, shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(seed).uniform(0.1, 0.9, shape)


def eager(function: Call, x: Array) -> tuple[Any, Exception | None]:
    try:
        return function(x), None
    except Exception as error:
        return None, error


def rounded_alike(one: Any, other: Any) -> None:
    check_alike("it", one, other, exactly=False)


SAME: dict[str, Callable[[Any, Any], None]] = {"numpy": all_same, "native": rounded_alike}
"""What an engine's results have to have in common with those of the function."""


def outcome(function: Call, here: Array, there: Array, engine: str) -> str:
    """Capture a function, replay it elsewhere, and say what that came to."""
    counted, same = Counted(function), SAME[engine]
    fast = ta.compile(counted, engine=engine)
    expected, own = eager(function, here)
    elsewhere, own_elsewhere = eager(function, there)
    try:
        results = [fast(here), fast(here), fast(here)]
    except Exception as error:
        if own is not None:
            return "failed"
        return "refused" if isinstance(error, TapeError) else "error"
    if own is not None:
        return "no error"
    runs = counted.runs
    results.append(eager(fast, there)[0])
    try:
        for result in results[:3]:
            same(result, expected)
        if own_elsewhere is None:
            same(results[3], elsewhere)
    except (AssertionError, ProgramMismatchError):
        return "differs"
    return "replayed" if runs == 2 else "captured again"


def met_by(function: Any, place: int, engine: str) -> Iterator[Met]:
    for number, call in enumerate([*LEADING, *FOLLOWING]):
        shape = SHAPES[(place + number) % len(SHAPES)]
        constant = at(3, shape)
        one = functools.partial(lambda call, other, x: call(function, x, other), call, constant)
        yield Met(function.__name__, number, outcome(one, at(3, shape), at(5, shape), engine))


@pytest.fixture(scope="module", params=SAME)
def met(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Met]]:
    """Make all calls once, in an empty folder, as some look for files."""
    if request.param == "native":
        pytest.importorskip("llvmlite")
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.chdir(tmp_path_factory.mktemp("empty"))
        functions = [each for each in FUNCTIONS if each.__name__ not in NOT_DETERMINED]
        functions = some(functions, 4 if request.param == "native" else 2)
        yield [
            one
            for place, each in enumerate(functions)
            for one in met_by(each, place, request.param)
        ]


# Many calls make little sense, and NumPy says so.
pytestmark = pytest.mark.filterwarnings("ignore")


def of(met: list[Met], outcome: str) -> list[Met]:
    return [each for each in met if each.outcome == outcome]


def test_no_value_is_frozen(met: list[Met]) -> None:
    assert of(met, "differs") == []


def test_what_is_captured_twice_is_replayed(met: list[Met]) -> None:
    assert of(met, "captured again") == []
    assert len(of(met, "replayed")) > len(met) / 8


def test_an_error_is_ours_or_numpys(met: list[Met]) -> None:
    others = [each for each in met if each.name not in TYPES_ASKED]
    assert of(others, "error") == []
    assert of(others, "no error") == []


def test_most_functions_can_be_captured(met: list[Met]) -> None:
    captured = {each.name for each in of(met, "replayed")}
    refused = {each.name for each in of(met, "refused")} - captured
    assert len(captured) > 5 * len(refused)
