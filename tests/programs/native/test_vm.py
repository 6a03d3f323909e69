"""The virtual machine: bytecode by hand, whose loops are functions in Python that tell of calls."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tape_ad.programs.engines.native.runtime.vm import (
    CALL,
    END,
    GUARD,
    LOOP,
    NEST,
    virtual_machine,
)

Array = Any
SIGNATURE = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_int64),
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_void_p,
)
OWN = np.zeros(1, np.uint8)


def told(to: list[Any], array: Array, operands: int) -> Any:
    """Make a loop that notes how many elements it gets, where they begin, their steps, the data."""

    def loop(args: Any, dims: Any, steps: Any, data: Any) -> None:
        start = array.__array_interface__["data"][0]
        where = [args[k] - start for k in range(operands)]
        to.append((dims[0], where, [steps[k] for k in range(operands)], data))

    return SIGNATURE(loop)


def at(loop: Any) -> int:
    return int(ctypes.cast(loop, ctypes.c_void_p).value or 0)


def table(*entries: Sequence[int]) -> Array:
    """Write a table, for loops of up to 4 operands and nests of up to 3 dimensions."""
    return np.array([0, 4, 3, *(word for entry in entries for word in entry), END], np.int64)


def nest(
    dims: Sequence[int], length: int, last: int, unit: int, *loops: Sequence[int]
) -> list[int]:
    """Write a nest of loops, each with all its words."""
    body = [word for loop in loops for word in loop]
    total = int(np.prod(dims))
    rest = [total, unit, len(dims), length, last, len(loops), *dims, *body]
    return [NEST, 2 + len(rest), *rest]


def test_a_loop_is_called_once_with_its_operands() -> None:
    calls: list[Any] = []
    x = np.zeros(10)
    loop = told(calls, x, 2)
    call = [CALL, 12, at(loop), 7, 2, 1, 1, 16, 1, 24, 5, 8, -8]
    call[1] = len(call)
    assert virtual_machine().run(table(call), OWN, x) == 0
    assert calls == [(5, [16, 24], [8, -8], 7)]


def test_a_nest_goes_over_its_dimensions_the_last_one_first() -> None:
    calls: list[Any] = []
    x = np.zeros(100)
    loop = told(calls, x, 1)
    entry = nest((2, 3), 4, 1, 1, [at(loop), 0, 1, 1, 8, 100, 10, 8])
    assert virtual_machine().run(table(entry), OWN, x) == 0
    iterations = [(i, j) for i in range(2) for j in range(3)]
    assert calls == [(1 if j == 2 else 4, [8 + 100 * i + 10 * j], [8], None) for i, j in iterations]


def test_the_loops_of_a_nest_take_turns() -> None:
    calls: list[Any] = []
    x = np.zeros(100)
    loop = told(calls, x, 1)
    one, other = [at(loop), 1, 1, 1, 0, 8, 8], [at(loop), 2, 1, 1, 400, -8, 0]
    assert virtual_machine().run(table(nest((2,), 3, 3, 1, one, other)), OWN, x) == 0
    assert calls == [
        (3, [0], [8], 1),
        (3, [400], [0], 2),
        (3, [8], [8], 1),
        (3, [392], [0], 2),
    ]


@pytest.mark.parametrize(("byte", "number"), [(1, 0), (0, 12)])
def test_a_guard_ends_the_walk_with_its_number(byte: int, number: int) -> None:
    calls: list[Any] = []
    x = np.array([0, byte, 0], np.uint8)
    loop = told(calls, x, 1)
    call = [CALL, 9, at(loop), 0, 1, 1, 1, 0, 1, 1]
    call[1] = len(call)
    assert virtual_machine().run(table([GUARD, 6, 1, 1, 1, 12], call), OWN, x) == number
    assert len(calls) == (number == 0)


def test_an_error_in_a_loop_is_raised() -> None:
    loop = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value or 0
    call = [CALL, 10, loop, 0, 1, 1, 1, 0, 1, 1]
    with pytest.raises(MemoryError):
        virtual_machine().run(table(call), OWN, np.zeros(1))


def walked(tickets: int, unit: int, threads: int = 1) -> tuple[list[int], list[int]]:
    """Walk through a nest of 12 turns with a board; give the turns in order, and the board."""
    calls: list[Any] = []
    x = np.zeros(12, np.uint8)
    loop = told(calls, x, 1)
    words = table(nest((3, 4), 1, 1, unit, [at(loop), 0, 1, 1, 0, 4, 1, 1]))
    task_board = np.array([tickets, 0, 0, 0], np.int64)
    for _ in range(threads):
        assert virtual_machine().take_part(task_board, words, OWN, x) == 0
    return [where[0] for _, where, _, _ in calls], task_board.tolist()


@pytest.mark.parametrize("tickets", [1, 2, 5, 12, 100])
@pytest.mark.parametrize("unit", [1, 4, 12])
def test_tickets_are_for_every_turn_once(tickets: int, unit: int) -> None:
    iterations, task_board = walked(tickets, unit)
    assert iterations == list(range(12))
    assert task_board[2] == min(tickets, 12 // unit)  # which are finished


def test_one_that_comes_late_has_nothing_to_do() -> None:
    iterations, task_board = walked(tickets=3, unit=1, threads=3)
    assert iterations == list(range(12))
    assert task_board[2] == 3


@pytest.mark.parametrize("tickets", [1, 2, 5, 12, 100])
@pytest.mark.parametrize("unit", [1, 12])
def test_a_loop_is_divided_like_a_nest(tickets: int, unit: int) -> None:
    """Each ticket copies the body to memory of the thread's own, and moves it on to its first."""
    calls: list[Any] = []
    x, own = np.zeros(36, np.uint8), np.zeros(64, np.int64)
    called = told(calls, x, 1)
    body = table([CALL, 10, at(called), 7, 1, 1, 1, 2, 1, 1]).tolist()
    moving = body.index(2)  # the operand's offset
    loop = [LOOP, 10 + len(body), 12, unit, len(body), 1, 0, 0, moving, 3, *body]
    task_board = np.array([tickets, 0, 0, 0], np.int64)
    for _ in range(3):
        assert virtual_machine().take_part(task_board, table(loop), own, x) == 0
    assert [where for _, where, _, _ in calls] == [[2 + 3 * k] for k in range(12)]
    assert task_board[2] == min(tickets, 12 // unit)


def test_who_comes_late_hears_what_a_guard_has_found() -> None:
    x = np.zeros(1, np.uint8)
    words, task_board = table([GUARD, 6, 1, 0, 1, 5]), np.array([2, 0, 0, 0], np.int64)
    assert virtual_machine().take_part(task_board, words, OWN, x) == 5
    x[:] = 1  # its memory may be something else's by then
    assert virtual_machine().take_part(task_board, words, OWN, x) == 5
