"""A few random programs by native code, and whether the fuzzer sees what it is for.

With TAPE_AD_EVERY_ROW=1 in the environment there are eight times as many, and with TAPE_AD_SHARE=1
or 2 others; the fuzzer itself tries as many as one likes.
"""

import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tape_ad.programs.engines import engine_named
from tests.fuzz.native import Finding, found_in, parsed, searched
from tests.programs import natively
from tests.sampling import SHARE, some

pytest.importorskip("llvmlite")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the allocator calls Linux")


def looked_for(count: int, *options: str) -> list[Finding]:
    """Try an eighth of some programs, or all of them where that is asked for."""
    tried = some(range(count), 8)
    first = str(SHARE * len(tried))
    return list(searched(parsed(["--programs", str(len(tried)), "--first", first, *options])))


def test_random_programs_give_what_numpy_gives() -> None:
    assert looked_for(100) == []


@LINUX
@pytest.mark.parametrize("side", ["end", "start"])
def test_no_byte_beyond_an_array_is_touched(side: str) -> None:
    assert looked_for(80, "--seed", "1", "--guarded", side) == []


def test_functions_with_branches_and_derivatives() -> None:
    assert looked_for(24, "--kind", "functions") == []


def test_functions_of_views_and_what_is_done_in_place() -> None:
    assert looked_for(200, "--kind", "views") == []


BESIDE = """
import ctypes, numpy as np
from tests.fuzz.guarded import guarded
with guarded({at_end}):
    array = np.arange(5.0)
    elements = ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_double))
    assert elements[4] == 4.0
    print("there", flush=True)
    elements[{place}]
"""


@LINUX
@pytest.mark.parametrize(("at_end", "place"), [(True, 5), (False, -1)])
def test_a_touch_beyond_an_array_ends_the_process(at_end: bool, place: int) -> None:
    code = BESIDE.format(at_end=at_end, place=place)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)  # noqa: S603 - our own code
    assert (ended.stdout, ended.returncode) == (b"there\n", -signal.SIGSEGV), ended.stderr


def test_a_crash_is_named_and_the_search_goes_on() -> None:
    (found,) = searched(parsed(["--programs", "3", "--crashing", "1"]))
    assert found.number == 1
    assert f"ends the process: {-signal.SIGSEGV}" in found.story


def slightly_wrong(program: Any) -> Any:
    """Replay by NumPy, with the last element of each array a little larger."""
    replay = engine_named("numpy")(program)

    def wrong(*inputs: Any) -> Any:
        out = replay(*inputs)
        return tuple(map(with_larger_end, out)) if type(out) is tuple else out

    return wrong


def with_larger_end(x: Any) -> Any:
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f" or not x.size:
        return x
    copy = x.copy("K")
    copy.flat[-1] *= 1.001
    return copy


def test_wrong_numbers_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        natively,
        "engine_named",
        lambda name: slightly_wrong if name == "native" else engine_named(name),
    )
    assert sum(bool(found_in(0, number)) for number in range(12)) > 3
