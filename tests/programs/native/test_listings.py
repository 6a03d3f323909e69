"""The passes of the native compiler, each alone: what its listing says of small programs."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import tape_ad as ta
from tape_ad.programs.engines.native.fusion import eliminate_dead_stores, fuse, reuse_memory
from tape_ad.programs.engines.native.lowering import lower
from tape_ad.programs.engines.native.schedule import schedule
from tape_ad.programs.program import Program
from tests.programs.building import Builder

X, W = np.ones((4, 3)), np.ones((3, 2))
INTEGERS = np.array([2, 0])


def captured(function: Any, *args: Any) -> Program:
    """Capture and simplify a function."""
    fast = ta.compile(function, engine="numpy")
    for _ in range(2):
        fast(*args)
    (program,) = fast.programs
    assert isinstance(program, Program)
    return program


def lines(text: str) -> list[str]:
    """Take a listing apart, without what stands around it in a test."""
    return [line.removeprefix("        ") for line in text.strip("\n ").split("\n")]


def squares(x: Any) -> Any:
    return np.sum(np.tanh(x) * x)


def test_lowering_gives_a_nest_for_each_call() -> None:
    text = """
        %1: float64[4,3] = tanh %0
          nest [4,3]
            r0 = load %0: float64[4,3]
            v0 = tanh.float64 r0
            store v0 -> %1: float64[4,3]
        %2: float64[4,3] = multiply %1 %0
          nest [4,3]
            r0 = load %1: float64[4,3]
            r1 = load %0: float64[4,3]
            v0 = multiply.float64 r0 r1
            store v0 -> %2: float64[4,3]
        %3: float64 = sum %2
          nest [4,3]
            r0 = load %2: float64[4,3]
            reduce r0 by add -> %3: float64[4,3] strides (0, 0)
    """
    assert str(lower(captured(squares, X))).split("\n") == lines(text)


def test_fusion_makes_one_nest_of_them() -> None:
    text = """
        nest [4,3]
          r0 = load %0: float64[4,3]
          v0 = tanh.float64 r0
          v1 = multiply.float64 v0 r0
          store v0 -> %1: float64[4,3]
          store v1 -> %2: float64[4,3]
          reduce v1 by add -> %3: float64[4,3] strides (0, 0)
    """
    fused = fuse(lower(captured(squares, X)))
    assert str(fused).split("\n") == lines(text)
    stores = [line for line in str(eliminate_dead_stores(fused)).split("\n") if "store" in line]
    assert stores == []
    assert len([line for line in str(fused).split("\n") if "store" in line]) == 2


def test_scheduling_gives_bytecode_for_the_nest() -> None:
    text = """
        bytecode of 17 words
          call loop0 (%0: float64[4,3], %3: float64[4,3] strides (0, 0)) lengths (12,) steps (8, 0)
    """
    made = schedule(eliminate_dead_stores(fuse(lower(captured(squares, X)))))
    assert str(made).split("\n") == lines(text)
    assert made.llvm.startswith("define void @loop0(ptr %args, ptr %dims, ptr %steps, ptr %data)")


def test_products_are_external_calls() -> None:
    text = """
        %2: float64[4,2] = matmul %0 %1
          call matmul (%0: float64[4,3], %1: float64[3,2]) -> %2: float64[4,2]
    """
    assert str(lower(captured(lambda x, w: x @ w, X, W))).split("\n") == lines(text)


def test_what_cannot_be_lowered_is_numpys_and_says_why() -> None:
    text = str(lower(captured(np.sort, X)))
    assert text == "NumPy: %1: float64[4,3] = sort %0  # no native code for it"


def test_views_are_resolved_to_references() -> None:
    text = """
        view: %1: float64[3] = getitem %0 (1, :)
        %2: float64[3] = exp %1
          nest [3]
            r0 = load %0: float64[3] offset 24
            v0 = exp.float64 r0
            store v0 -> %2: float64[3]
    """
    assert str(lower(captured(lambda x: np.exp(x[1, :]), X))).split("\n") == lines(text)


def branching(x: Any) -> Any:
    return x * 2 if np.sum(x) > 1 else x


def test_a_condition_is_a_runtime_check() -> None:
    listing = str(lower(captured(branching, X))).split("\n")
    check = listing.index("  check %2: bool[] is 1, guard 1")
    assert listing[check - 1].startswith("guard bool %2 is True, line ")


def test_integers_lead_to_a_gather_and_a_check_that_none_is_out_of_bounds() -> None:
    text = """
        %2: float64[2,3] = getitem %0 %1
          nest [2,3]
            r0 = load %0: float64[2,3] strides (0, 8)
            r1 = load %1: int64[2,3] strides (8, 0)
            v0 = gather.float64 r0 r1
            store v0 -> %2: float64[2,3]
          nest [2]
            r0 = load %1: int64[2]
            v0 = is_index.bool r0
            reduce v0 by logical_and -> %t0: bool[2] strides (0,)
          check %t0: bool[] is 1
    """
    assert str(lower(captured(lambda x, i: x[i], X, INTEGERS))).split("\n") == lines(text)


def changed(x: Any) -> Any:
    y = x * 2
    y[0] = 1.0
    return y


def test_memory_that_is_dead_is_written_over() -> None:
    before = lower(captured(changed, X))
    after = reuse_memory(before)
    copy = "    r0 = load %1: float64[3,3] offset 24"
    assert copy in str(before).split("\n")
    assert copy not in str(after).split("\n")
    assert "    store v0 -> %2: float64[4,3]" in str(after).split("\n")  # in the later one's memory
    assert len(after.renamed) == 1


def test_memory_that_is_returned_is_not() -> None:
    b = Builder()
    y = b(np.multiply, b.input(X, "x"), 2.0)
    program = captured(changed, X)
    assert reuse_memory(lower(b.program((y,)))).renamed == {}
    assert len(reuse_memory(lower(program)).renamed) == 1


def partly(x: Any) -> Any:
    y = x * 2
    y[:, 3:] = 1.0  # there are three columns
    return y - x


def test_nests_without_elements_are_left_out() -> None:
    steps = lower(captured(partly, X)).steps
    assert all(
        0 not in part.shape for each in steps for part in each.work if hasattr(part, "shape")
    )
    fast = ta.compile(partly, engine="native")
    for _ in range(3):  # the verifier takes no write that is none for one that comes too late
        np.testing.assert_array_equal(fast(X), partly(X))


def test_explain_lists_every_pass() -> None:
    fast = ta.compile(squares, engine="native")
    for _ in range(3):
        fast(X)
    text = fast.explain(passes=True)
    names = "capture", "lowering", "fusion", "dead store elimination", "scheduling"
    places = [text.index(f"    {name}:\n") for name in (*names, "code generation")]
    assert places == sorted(places)
    assert "memory reuse" not in text  # which has changed nothing
    assert "define void @loop0" in text
    assert "define void @loop0" not in fast.explain()


def test_explain_lists_the_simplifications_of_the_numpy_engine_too() -> None:
    fast = ta.compile(lambda x: np.exp(x) + np.exp(x), engine="numpy")
    for _ in range(3):
        fast(X)
    text = fast.explain(passes=True)
    first, last = text.split("    common subexpression elimination:\n")
    assert first.count("= exp %0") == 2
    assert last.partition("return")[0].count("= exp %0") == 1
    assert "lowering" not in text
