"""Several threads on one program: the same bits as with one, and nobody waits for ever."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native.runtime import vm
from tests.programs.bits import all_same

Array = Any
SIZE = 200_003
X = np.random.default_rng(0).normal(size=SIZE)
WIDE = X[:200_000].reshape(400, 500)
DEEP = X[:200_000].reshape(20, 50, 200)
SHORT = X[:200_000].reshape(2500, 10, 8)
PRIME = X[:143_000].reshape(1300, 11, 10)


def wave(x: Array) -> Array:
    return np.sum(np.tanh(x) * np.exp(-x * x))


def branching(x: Array) -> Array:
    y = x * 2
    return y + 1 if np.max(y) > 0 else y - 1


CASES: dict[str, tuple[Callable[..., Any], tuple[Array, ...]]] = {
    "a value and a gradient": (ta.value_and_grad(wave), (X,)),
    "least and greatest": (lambda x: (np.max(x), np.min(x), np.any(x > 9), np.all(x < 9)), (X,)),
    "a sum of rows": (lambda x: np.sum(x * x, axis=1), (WIDE,)),
    "a sum of columns": (lambda x: np.sum(x * x, axis=0), (WIDE,)),
    "a greatest of columns": (lambda x: np.max(x, axis=0), (WIDE,)),
    "rows, columns and all": (lambda x: (x.sum(0), x.max(1), x.sum(), x + 1), (WIDE,)),
    "first and last of three axes": (lambda x: np.sum(x * x, axis=(0, 2)), (DEEP,)),
    "the middle of three axes": (lambda x: np.max(x, axis=1), (DEEP,)),
    "sums of short rows one below the other": (lambda x: np.sum(x * x[:, :1], axis=0), (SHORT,)),
    "sums over both sides of a short axis": (lambda x: np.sum(x * x[:, :1], axis=(0, 2)), (SHORT,)),
    "sums beside an axis of prime length": (lambda x: np.sum(x * x[:, :1], axis=0), (PRIME,)),
    "sums around an axis of prime length": (lambda x: np.sum(x * x[:1], axis=(0, 2)), (PRIME,)),
    "columns backwards with steps": (lambda x: np.sum(x[::-1, ::-1] * 2, axis=0), (WIDE,)),
    "columns stored too": (lambda x: (np.sum(x * x, axis=0), x * x), (WIDE,)),
    "a sum in single precision": (lambda x: np.sum(np.sqrt(abs(x))), (X.astype("f4"),)),
    "a sum of complex numbers": (lambda x: np.sum(x * (1 + 2j)), (X,)),
    "backwards": (lambda x: x[::-1] * x[::2].sum(), (X,)),
    "transposed": (lambda x: x.T + np.exp(x.T), (WIDE,)),
    "a guard between": (branching, (X,)),
    "a product": (lambda x: np.exp(x @ x.T / 500).sum(), (WIDE,)),
}


def replayed(f: Callable[..., Any], args: tuple[Array, ...], threads: int) -> Any:
    """Compile, and give the result of the fourth call."""
    compiled = ta.compile(f, engine="native", threads=threads)
    for _ in range(3):
        compiled(*args)
    return compiled(*args)


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_the_same_for_any_number_of_threads(name: str) -> None:
    f, args = CASES[name]
    alone = replayed(f, args, 1)
    for threads in (2, 3, 8):
        all_same(replayed(f, args, threads), alone)


def test_large_arrays_are_shared_and_small_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    invited: list[int] = []
    monkeypatch.setattr(vm.Pool, "invite", lambda self, what, count: invited.append(count))
    replayed(np.tanh, (X[:1000],), 3)
    assert invited == []
    replayed(np.tanh, (X,), 3)
    assert set(invited) == {2}


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("function", [np.sum, np.max])
def test_sums_and_the_like_are_shared_too(
    function: Any, axis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    invited: list[int] = []
    monkeypatch.setattr(vm.Pool, "invite", lambda self, what, count: invited.append(count))
    result = replayed(lambda x: function(x, axis=axis), (WIDE,), 2)
    np.testing.assert_allclose(result, function(WIDE, axis=axis), rtol=1e-9, atol=1e-12)
    assert invited


def test_several_callers_may_ask_for_several_threads_at_once() -> None:
    f, args = CASES["a value and a gradient"]
    compiled = ta.compile(f, engine="native", threads=2)
    for _ in range(3):
        expected = compiled(*args)
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda _: compiled(*args), range(60)))
    for result in results:
        all_same(result, expected)


def test_nobody_waits_for_threads_that_do_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vm, "taking_part", lambda invitations: None)
    monkeypatch.setattr(vm, "POOL", vm.Pool())
    f, args = CASES["a value and a gradient"]
    all_same(replayed(f, args, 3), replayed(f, args, 1))


def test_an_invitation_keeps_nothing_when_all_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vm, "taking_part", lambda invitations: None)
    monkeypatch.setattr(vm, "POOL", vm.Pool())
    replayed(np.tanh, (X,), 2)
    assert vm.POOL.invitations.get(timeout=1) == []


def test_a_system_without_threads_to_spare_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(vm, "POOL", vm.Pool())
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        result = replayed(np.tanh, (X,), 4)
    all_same(result, replayed(np.tanh, (X,), 1))
    assert vm.POOL.threads == []


def ended_with(script: str) -> int:
    """Run a script in a process of its own."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, timeout=60, check=False).returncode  # noqa: S603 - our own


FORK = """
import os, warnings
import numpy as np
import tape_ad as ta

x = np.linspace(-1, 1, 300_000)
f = ta.compile(lambda x: np.sum(np.tanh(x) * x), engine="native", threads=3)
for _ in range(4):
    expected = f(x)
warnings.simplefilter("ignore")  # of a fork with threads, which is what is tested
child = os.fork()
if child == 0:
    same = all(f(x) == expected for _ in range(5))
    os._exit(0 if same else 1)
_, status = os.waitpid(child, 0)
assert f(x) == expected
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_process_has_threads_of_its_own() -> None:
    assert ended_with(FORK) == 0


SHUTDOWN = """
import threading
import numpy as np
import tape_ad as ta

x = np.linspace(-1, 1, 300_000)
f = ta.compile(lambda x: np.sum(np.tanh(x) * x), engine="native", threads=3)
for _ in range(4):
    f(x)

def for_ever():
    while True:
        f(x)

threading.Thread(target=for_ever, daemon=True).start()
f(x)
"""


def test_a_process_ends_while_threads_are_at_work() -> None:
    assert ended_with(SHUTDOWN) == 0


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", None])
def test_a_number_of_threads_is_one_from_1_on(threads: Any) -> None:
    with pytest.raises(ValueError, match="threads is a number of threads from 1 on, not"):
        ta.compile(np.tanh, threads=threads)


def test_threads_are_told_to_a_decorated_function_and_to_its_copies() -> None:
    @ta.compile(threads=3)
    def f(x: Array) -> Array:
        return x + 1

    assert f.threads == 3
    assert 2 in ta.compile(np.tanh, threads=2).__reduce__()[1]
