"""`check`, `explain` and `to_source`: what a compiled function tells about itself."""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError, ProgramMismatchError
from tape_ad.programs import engines
from tape_ad.programs.engines import Report
from tape_ad.programs.engines.numpy import replay_of
from tape_ad.programs.engines.plans import Plan
from tape_ad.programs.program import Program
from tape_ad.programs.replay.verifying import check_alike
from tests.programs.comparing import counting

X = np.array([0.5, -1.5, 2.0])
LARGE = 9000
"""How many numbers take more than the 64 KiB whose contents are watched."""
NAN = float("nan")


class Pair(NamedTuple):
    """Two things."""

    one: Any
    two: Any


# What is alike


ALIKE: list[Any] = [
    *(X, X[:0], np.array(1.0), np.float32(1.5), 1.0, 1, True, None, "text", 1j, X > 0, X * 1j),
    *([X, {"a": (X, 1.0)}], Pair(X, None), {}, np.array([NAN, -0.0]), NAN, complex(NAN, -0.0)),
]


@pytest.mark.parametrize("number", range(len(ALIKE)))
def test_a_result_is_like_itself(number: int) -> None:
    check_alike("it", ALIKE[number], ALIKE[number])


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        (
            X + np.array([0, 1e-3, 0]),
            X,
            r"1 of 3; the largest difference at \[1\] is .*-1.499.* in place of",
        ),
        (X + np.array([1e-3, 1.0, 0]), X, r"2 of 3; the largest difference at \[1\]"),
        (X * [1, NAN, 2], X, r"2 of 3; the largest difference at \[1\] is .*nan"),
        (np.array(-0.0), np.array(0.0), r"1 of 1; the largest difference is .*-0.0"),
        (complex(0.0, -0.0), 0j, "1 of 1"),
        (X.astype(np.float32), X, r"float32\[3\] in place of float64\[3\]"),
        (X[:2], X, r"float64\[2\] in place of float64\[3\]"),
        (1.0, np.float64(1.0), "a float in place of a float64"),
        (np.array(1.0), np.float64(1.0), "a ndarray in place of a float64"),
        (1, 1.0, "a int in place of a float"),
        ("a", "b", "'a' in place of 'b'"),
        ({"a": [X, X]}, {"a": [X, X + 1]}, r"numbers than the function at \['a'\]\[1\]"),
        ({"a": X}, {"b": X}, r"another structure than the function: leaves at \['b'\] missing"),
        (Pair(X, X), Pair(X, -X), r"at \[1\]"),
        (
            np.arange(3),
            np.arange(3) + np.array([0, 0, 5]),
            r"1 of 3; the largest difference at \[2\]",
        ),
        (np.array([np.inf]), np.array([1e300]), r"inf"),
    ],
)
def test_what_differs_is_named(ours: Any, theirs: Any, message: str) -> None:
    with pytest.raises(ProgramMismatchError, match=message):
        check_alike("it", ours, theirs)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (X * (1 + 1e-9), X),
        (X + np.array([1e-9, 0, 0]), X),  # where the largest number is 2
        (np.array([0.0, NAN, np.inf, -np.inf]), np.array([-0.0, NAN, np.inf, -np.inf])),
        (np.float32(1.0001), np.float32(1.0)),
        ((1 + 1e-9) * (1 - 2j), 1 - 2j),
    ],
)
def test_rounding_is_no_difference_of_native_code(ours: Any, theirs: Any) -> None:
    check_alike("it", ours, theirs, exactly=False)
    with pytest.raises(ProgramMismatchError, match="other numbers than the function"):
        check_alike("it", ours, theirs)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (X * (1 + 1e-7), X),
        (X + np.array([1e-7, 0, 0]), X),
        (np.array([NAN, 1.0]), np.array([1.0, 1.0])),
        (np.array([np.inf, 1.0]), np.array([1e300, 1.0])),
        (np.array([np.inf, 1.0]), np.array([-np.inf, 1.0])),
        (np.array([1e-9, 0.0]), np.zeros(2)),
        (np.float32(1.001), np.float32(1.0)),
        (np.arange(3), np.arange(3) + 1),
        (1 + 1e-7j, 1 + 0j),
        (True, False),
    ],
)
def test_more_than_rounding_is_a_difference_of_native_code(ours: Any, theirs: Any) -> None:
    with pytest.raises(ProgramMismatchError, match="other numbers than the function"):
        check_alike("it", ours, theirs, exactly=False)


def test_comparing_tells_of_no_floating_point_error() -> None:
    numbers = np.full(2, 1e-305)
    with np.errstate(all="raise"):
        check_alike("it", numbers, numbers, exactly=False)
        with pytest.raises(ProgramMismatchError, match="1 of 2; the largest difference"):
            check_alike("it", numbers, numbers * np.array([1.0, -1.0]), exactly=False)


# check


def test_check_of_native_code_allows_for_rounding() -> None:
    pytest.importorskip("llvmlite")
    scale = np.ones(LARGE)
    fast = ta.compile(lambda x: np.tanh(x) * np.exp(scale)[:3] + scale[:3], engine="native")
    for point in (X, 1.1 * X, np.linspace(-3, 3, 3)):
        fast.check(point)
    assert "native: " in fast.explain()
    scale[1] = 1.0001
    with pytest.raises(ProgramMismatchError, match="1 of 3"):
        fast.check(X)


def test_check_captures_first_and_then_replays() -> None:
    fast, runs = counting(lambda x: (x * 2, np.sum(x)))
    fast.check(X)
    assert len(runs) == 3
    assert len(fast.programs) == 1
    fast.check(X * 2)
    assert len(runs) == 4


def test_check_goes_the_way_of_the_guards() -> None:
    fast, _ = counting(lambda x: x * 2 if x[0] > 0 else x * 3)
    fast.check(X)
    fast.check(-X)
    fast.check(X * 2)
    assert [path.replays > 0 for paths in fast._paths.values() for path in paths.all] == [
        True,
        True,
    ]


def test_check_finds_what_a_replay_has_frozen() -> None:
    scale = np.ones(LARGE)
    fast = ta.compile(lambda x: {"scaled": x * np.exp(scale)[:3], "x": x * scale[:3]})
    fast.check(X)
    scale[1] = 2.0
    with pytest.raises(ProgramMismatchError, match=r"at \['scaled'\]: 1 of 3; .* at \[1\]"):
        fast.check(X)
    fast.clear()
    fast.check(X)


def test_check_says_when_there_is_nothing_to_check() -> None:
    fast = ta.compile(lambda x: x)
    with pytest.raises(CaptureError, match=r"not replayed for these arguments.*explain\(\) says"):
        fast.check(np.array(["a"]))


def test_check_raises_what_the_function_raises() -> None:
    fast = ta.compile(np.linalg.inv)
    fast.check(np.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        fast.check(np.zeros((2, 2)))


# explain


def test_explain_tells_what_has_become_of_each_program() -> None:
    table = np.arange(3.0)

    def function(x: Any, flag: bool) -> Any:
        y = x * table + np.ones(3)
        return y if y[1] < 0 else -y

    fast = ta.compile(function)
    for x in (X, X, X, -X * 9, X, -X * 9, X):
        fast(x, True)
    for _ in range(4):
        fast(X, False)
    fast(np.ma.masked_array(X), True)
    text = fast.explain()
    first = function.__code__.co_firstlineno
    for part in (
        "<compiled function: 3 programs>, engine 'auto'",
        "for x: float64[3], True",
        "for x: float64[3], False",
        "captured by calls 1 and 2",
        "replayed 3 times",
        "guard bool %",
        "failed 2 times",
        f"constant float64[3], line {first + 1} of test_checking.py",
        f"line {first + 1} of test_checking.py: made by the function, and kept",
        "ran by itself 1 time: the argument x is a MaskedArray",
    ):
        assert part in text, f"{part!r} is not in\n{text}"
    assert "program 2" in text


def test_explain_counts_guards_that_failed_with_their_line() -> None:
    def function(x: Any) -> Any:
        return x if x > 0 else -x

    fast = ta.compile(function)
    for x in (1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0, -1.0):
        fast(x)
    line = function.__code__.co_firstlineno + 1
    assert f"guard bool %1, line {line} of test_checking.py: failed 3 times" in fast.explain()
    assert "captured by calls 4 and 5" in fast.explain()


def test_explain_of_a_function_that_was_never_called() -> None:
    assert ta.compile(np.exp).explain() == "<compiled np.exp: 0 programs>, engine 'auto'"


def test_explain_lists_a_dozen_arguments() -> None:
    fast = ta.compile(lambda *args: args[0])
    fast(*[1.0] * 30)
    assert "args[11]: float, 18 others" in fast.explain()


def test_the_bytes_of_a_replay_are_told() -> None:
    fast = ta.compile(lambda x: np.sum(np.tanh(x) * np.exp(x)), engine="numpy")
    fast(np.ones(1000))
    assert fast.programs[0].nbytes is None
    fast(np.ones(1000))
    assert fast.programs[0].nbytes in range(8_000, 17_000)
    assert f"; {fast.programs[0].nbytes:,} bytes" in fast.explain()


def test_what_an_engine_tells_of_native_code_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"its shape depends on values": {"np.nonzero": 1, "np.unique": 2}}
    report = Report(native=9, segments=2, loops=1, left=left, seconds=0.01234)

    def partly_native(program: Program, threads: int) -> Any:
        replay: Any = replay_of(Plan.of(program))
        replay.report = report
        return replay

    scale = np.ones(3)
    fast = ta.compile(lambda x: x * scale)
    fast(X)
    assert "native" not in fast.explain()
    monkeypatch.setattr(engines, "ENGINES", {"auto": partly_native})
    fast(X)
    assert "\n    native: 9 calls, as 1 loop in 2 runs of native code; compiled in 12.3 ms\n" in (
        fast.explain()
    )
    assert "    NumPy: np.nonzero, np.unique 2 times: its shape depends on values" in fast.explain()


def test_auto_lets_numpy_do_what_native_code_fails_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(program: Program, threads: int) -> Any:
        raise OSError("no such processor")

    monkeypatch.setattr(engines, "by_compiling", failing)
    monkeypatch.setattr(engines, "has_llvm", lambda: True)
    fast = ta.compile(lambda x: np.exp(x) + np.exp(-x))
    for _ in range(3):
        assert np.array_equal(fast(X), np.exp(X) + np.exp(-X))
    text = "NumPy: np.exp 2 times, np.negative, np.add: native code fails with OSError: no such"
    assert text in fast.explain()
    fast.check(X)


# to_source


def test_the_source_runs_and_gives_the_same(tmp_path: Path) -> None:
    def loss(w: Any, x: Any) -> Any:
        return np.mean(np.tanh(x @ w) ** 2)

    fast = ta.compile(ta.value_and_grad(loss), engine="numpy")
    w, x = np.ones(3), np.arange(6.0).reshape(2, 3)
    fast(w, x), fast(w, x)
    space: dict[str, Any] = {}
    exec(compile(fast.to_source(), "source", "exec"), space)  # noqa: S102 - which is to be run
    check_alike("it", list(space["loss"](w * 2, x)), list(fast(w * 2, x)))


def test_one_of_several_programs_has_to_be_named() -> None:
    fast = ta.compile(lambda x: x * 2)
    with pytest.raises(ValueError, match="no program yet; call it with arguments first"):
        fast.to_source()
    for x in (X, X, X[:2], X[:2]):
        fast(x)
    with pytest.raises(ValueError, match=r"has 2 programs.* from to_source\(0\) to to_source\(1\)"):
        fast.to_source()
    assert "float64[2]" in fast.to_source(1)
    number: Any
    for number in (2, -1, "0", 0.5):
        with pytest.raises(ValueError, match=r"has 2 programs, counted from 0, and not"):
            fast.to_source(number)


def test_names_of_functions_without_one() -> None:
    class Scale:
        def __call__(self, x: Any) -> Any:
            return x * 2

    assert repr(ta.compile(np.vectorize(abs))) == "<compiled abs: 0 programs>"
    names = [
        repr(ta.compile(f)) for f in (Scale(), functools.partial(np.sum, axis=0), np.add.reduce)
    ]
    assert names == [f"<compiled {n}: 0 programs>" for n in ("Scale", "np.sum", "np.add.reduce")]
