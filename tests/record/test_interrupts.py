"""An interrupt at any moment: what it meets has happened wholly or not at all.

A tracer raises at the k-th instruction inside the library, for every third k (`tests.sampling`).
That is oftener than Python itself would: it looks for signals at calls and jumps only.
"""

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.record.arena import Arena
from tests.sampling import some

HOME = Path(ta.__file__).parent
STATEFUL = tuple(
    str(HOME / part)
    for part in (
        *("record/assignment.py", "record/views.py", "record/record.py"),
        *("record/array_operators.py", "record/arena.py"),
        *("transforms/tracing.py", "transforms/blocks.py"),
    )
)
"""Where there is anything that could be half done; nearly all of the rest are functions."""


def traced(action: Callable[[], Any], at: Callable[[FrameType], bool], error: Any) -> bool:
    """Run something, raising before the first instruction inside the library that is to be so.

    Returns
    -------
    bool
        Whether it came to that.
    """
    before = sys.gettrace()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            if at(frame):
                sys.settrace(before)
                raise error
            return trace
        if not frame.f_code.co_filename.startswith(STATEFUL):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return trace

    sys.settrace(trace)
    try:
        action()
    except error:
        return True
    finally:
        sys.settrace(before)
    return False


def moments_of(action: Callable[[], Any]) -> list[int]:
    """Number the instructions that something runs, and list when each comes first and last."""
    seen: dict[tuple[Any, int], list[int]] = {}
    numbers = itertools.count()

    def note(frame: FrameType) -> bool:
        place = frame.f_code, frame.f_lasti
        seen.setdefault(place, []).append(next(numbers))
        return False

    traced(action, note, KeyboardInterrupt)
    return sorted({each for found in seen.values() for each in (found[0], found[-1])})


def assert_consistent(record: Arena) -> None:
    """Check that the parallel lists of a record are parallel."""
    count = len(record.functions)
    lengths = [len(record.shapes), len(record.dtypes), len(record.marks), len(record.starts) - 1]
    assert lengths == [count] * 4
    assert record.starts[0] == 0
    assert record.starts == sorted(record.starts)
    assert record.starts[-1] == len(record.parents) == len(record.partials)
    assert all(parent < count for parent in record.parents)


class Scene:
    """Handles that stand for each other's memory, and some that do not."""

    def __init__(self) -> None:
        self.record: Any = ta.ComputationRecord()
        self.leaf = self.record.tensor(np.array([[0.5, 1.5], [2.0, -1.0]]))
        self.x = self.leaf * 1.0
        self.row = self.x[1]
        self.turned = self.x.T
        self.ruled = swapped(self.x)
        self.apart: Any = self.x * 3.0
        self.column = self.apart[:, 0]
        self.alias = self.x
        self.made: Any = None

    def handles(self) -> list[Any]:
        named = (self.x, self.row, self.turned, self.ruled, self.apart, self.alias)
        return [*named, self.column, *([] if self.made is None else [self.made])]

    def values(self) -> list[Any]:
        return [np.copy(handle.data) for handle in self.handles()]

    def gradients(self) -> list[Any]:
        """Compute with all handles, and give the gradients by all of them."""
        handles = self.handles()
        total: Any = sum(np.sum(np.sin(handle) * (i + 1)) for i, handle in enumerate(handles))
        grads = total.grad()
        return [np.copy(grads.wrt(handle)) for handle in (self.leaf, *handles)]

    def continued(self) -> None:
        """Go on, so that all handles have to follow each other."""
        self.x[0] = self.x[1] * 2.0
        self.row += 1.0
        self.apart[1] += self.leaf[0]


@ta.custom_rule(
    pull=lambda ct, out, x: np.swapaxes(ct, -1, -2),
    push=lambda ts, out, x: np.swapaxes(ts[0], -1, -2),
)
def swapped(x: Any) -> Any:
    return x.T


def make(function: Callable[[Scene], Any]) -> Callable[[Scene], None]:
    """Let a scene have what a function gives."""

    def action(scene: Scene) -> None:
        scene.made = function(scene)

    return action


def assign_row(scene: Scene) -> None:
    scene.x[0] = scene.apart[1]


def overwrite_row(scene: Scene) -> None:
    scene.apart[0] = scene.leaf[1]


def add_to_column(scene: Scene) -> None:
    scene.column += scene.leaf[1]


def assign_to_view(scene: Scene) -> None:
    scene.row[0] = 4.0


def add_in_place(scene: Scene) -> None:
    scene.x += scene.apart


def multiply_view(scene: Scene) -> None:
    scene.row *= scene.apart[0]


def write_where(scene: Scene) -> None:
    turned: Any = scene.turned
    np.exp(scene.apart, out=turned, where=[True, False])


def slopes(scene: Scene) -> Any:
    return ta.grad(lambda y: np.sum(y * y * scene.apart))(scene.x)


ACTIONS: dict[str, Callable[[Scene], None]] = {
    "multiply": make(lambda s: s.x * s.apart),
    "sum": make(lambda s: np.sum(s.x, axis=0)),
    "element": make(lambda s: s.x[0]),
    "by a list": make(lambda s: s.x[[0, 0]]),
    "split": make(lambda s: np.split(s.x, 2)[1]),
    "assign": assign_row,
    "assign in the memory": overwrite_row,
    "add to a view in the memory": add_to_column,
    "assign to a view": assign_to_view,
    "add in place": add_in_place,
    "multiply a view in place": multiply_view,
    "out and where": write_where,
    "bind": make(lambda s: s.record.bind({"a": [np.ones(2), 3.0]})["a"][0]),
    "constant": make(lambda s: s.record.constant(np.ones(2)) + 0.0 * s.row),
    "sweep": make(lambda s: s.record.tensor(np.sum(s.x * s.row).grad().wrt(s.row))),
    "checkpoint": make(lambda s: ta.checkpoint(lambda a: (a[0], a * 2.0))(s.x)[1]),
    "rule of one's own": make(lambda s: swapped(s.x)),
    "transform": make(slopes),
}


def outcome(action: Callable[[Scene], None] | None) -> tuple[list[Any], list[Any], list[Any]]:
    """Give the values after an action, and those and all gradients after going on."""
    scene = Scene()
    if action is not None:
        action(scene)
    values = scene.values()
    scene.continued()
    return values, scene.values(), scene.gradients()


def same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(map(np.array_equal, one, other))


Outcome = tuple[list[Any], list[Any], list[Any]]


def check_scene(scene: Scene, outcomes: list[Outcome], moment: int) -> None:
    """Check that an action has happened to a scene wholly or not at all, and go on."""
    assert ACTIVE.get().record is None
    assert_consistent(scene.record)
    found = scene.values()
    fitting = [each for each in outcomes if same(found, each[0])]
    assert fitting, f"neither happened nor not, at {moment}: {found}"
    scene.continued()
    assert any(
        same(scene.values(), later) and same(scene.gradients(), gradients)
        for _, later, gradients in fitting
    ), f"wrong after {moment}"


def is_next(numbers: Iterator[int], moment: int, frame: FrameType) -> bool:
    """Tell whether the next number is that of a moment."""
    return next(numbers) == moment


def check_interrupts(name: str, error: type[BaseException], each: int) -> None:
    """Interrupt an action at one in so many of its moments, and go on."""
    action = ACTIONS[name]
    outcomes = [outcome(None), outcome(action)]
    first = Scene()
    for moment in some(moments_of(lambda: action(first)), each):
        scene = Scene()
        numbers = itertools.count()
        assert traced(partial(action, scene), partial(is_next, numbers, moment), error)
        check_scene(scene, outcomes, moment)


@pytest.mark.parametrize("name", ACTIONS)
def test_an_interrupted_operation_has_happened_wholly_or_not_at_all(name: str) -> None:
    check_interrupts(name, KeyboardInterrupt, 6)


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
@pytest.mark.parametrize("name", ACTIONS)
def test_nor_has_one_half_that_lacks_memory(name: str, error: type[BaseException]) -> None:
    check_interrupts(name, error, 29)


def below(depth: int, action: Callable[[], Any]) -> Any:
    """Run something at the end of so many calls."""
    return action() if depth == 0 else below(depth - 1, action)


@pytest.mark.parametrize("name", ACTIONS)
def test_near_the_end_of_the_stack_an_operation_happens_or_not(name: str) -> None:
    action = ACTIONS[name]
    outcomes = [outcome(None), outcome(action)]
    height, ends = len(inspect.stack(0)), 0
    for depth in range(1, 48):
        scene = Scene()
        try:
            below(sys.getrecursionlimit() - height - depth, partial(action, scene))
        except RecursionError:
            ends += 1
        check_scene(scene, outcomes, depth)
    assert 0 < ends < 47


def assigned_elsewhere() -> Any:
    """Assign to a view in a record of one's own."""
    scene = Scene()
    scene.row[0] = 4.0
    return scene.x.data[1, 0]


@pytest.mark.parametrize("name", ["assign to a view", "element"])
def test_what_was_interrupted_holds_up_no_other_thread(name: str) -> None:
    action, first = ACTIONS[name], Scene()
    with ThreadPoolExecutor(1) as pool:
        for moment in some(moments_of(lambda: action(first)), 6):
            numbers = itertools.count()
            at = partial(is_next, numbers, moment)
            assert traced(partial(action, Scene()), at, KeyboardInterrupt)
            assert pool.submit(assigned_elsewhere).result(timeout=2) == 4
