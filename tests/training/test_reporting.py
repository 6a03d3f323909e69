"""The progress helper: a bar where something can move, a few lines where it cannot."""

import io
import itertools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console

from tape_ad.training import progress


def ticking(seconds: float) -> Callable[[], float]:
    """Make a clock that goes on by so much whenever it is looked at."""
    return itertools.count(0.0, seconds).__next__


def test_a_log_file_gets_twenty_lines_of_a_long_run() -> None:
    console = Console(file=io.StringIO(), width=40)
    with progress(1000, "train", console=console, clock=ticking(0.5)) as report:
        for step in range(1000):
            report(loss=1 / (step + 1), accuracy=step / 1000)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]  # a StringIO
    assert len(lines) == 20
    assert lines[0] == ("train: step 50/1000: loss 0.02, accuracy 0.049, 100 steps/s, ETA 0:00:10")
    assert lines[-1] == (
        "train: step 1000/1000: loss 0.001, accuracy 0.999, 100 steps/s, ETA 0:00:00"
    )


def test_a_log_file_gets_every_step_of_a_short_run() -> None:
    file = io.StringIO()
    with progress(3, console=Console(file=file), clock=ticking(4.0)) as report:
        report()
        report(loss=0.5)
        report(accuracy=0.25)
    assert file.getvalue() == (
        "step 1/3: 0.25 steps/s, ETA 0:00:08\n"
        "step 2/3: loss 0.5, 0.25 steps/s, ETA 0:00:04\n"
        "step 3/3: loss 0.5, accuracy 0.25, 0.25 steps/s, ETA 0:00:00\n"
    )


def test_several_steps_may_be_counted_at_once() -> None:
    file = io.StringIO()
    with progress(100, console=Console(file=file), clock=ticking(5.0)) as report:
        report(50, loss=2.0)
        report(60, loss=1.0)
    assert file.getvalue() == (
        "step 50/100: loss 2, 10 steps/s, ETA 0:00:05\n"
        "step 110/100: loss 1, 11 steps/s, ETA 0:00:00\n"
    )


def test_the_last_numbers_of_a_loop_that_ended_early_are_written() -> None:
    file = io.StringIO()
    with progress(1000, console=Console(file=file), clock=ticking(5.0)) as report:
        for _ in range(60):
            report(loss=2.0)
        report(0, accuracy=0.5)
    assert file.getvalue() == (
        "step 50/1000: loss 2, 10 steps/s, ETA 0:01:35\n"
        "step 60/1000: loss 2, accuracy 0.5, 6 steps/s, ETA 0:02:37\n"
    )


def test_what_is_reported_after_the_last_step_stands_in_its_line() -> None:
    file = io.StringIO()
    with progress(2, console=Console(file=file), clock=ticking(4.0)) as report:
        report()
        report(loss=0.5)
        report(0, accuracy=0.25)
    assert file.getvalue() == (
        "step 1/2: 0.25 steps/s, ETA 0:00:04\n"
        "step 2/2: loss 0.5, accuracy 0.25, 0.25 steps/s, ETA 0:00:00\n"
    )


def test_a_terminal_gets_a_bar_that_moves() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=120, color_system=None)
    with progress(2, "train", console=console, clock=ticking(1.0)) as report:
        report(loss=0.75)
        report(loss=0.5, accuracy=0.875)
    shown = file.getvalue()
    assert "train: step 2/2" in shown
    assert "loss 0.5, accuracy 0.875, 1 steps/s, ETA 0:00:00" in shown
    assert "\x1b[?25l" in shown  # the cursor is hidden while it moves
    assert shown.rstrip().endswith("\x1b[?25h")  # and comes back


class Shown:
    """What a notebook keeps of its displays: the last of each."""

    def __init__(self) -> None:
        self.frames: list[Any] = []
        self.updates = 0

    def display(self, frame: Any, *, display_id: bool) -> "Shown":
        self.frames.append(frame)
        return self

    def update(self, frame: Any) -> None:
        self.frames[-1] = frame
        self.updates += 1


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Shown:
    shown = Shown()
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    module = ModuleType("IPython.display")
    module.display = shown.display  # type: ignore[attr-defined]  # it becomes one
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return shown


def test_a_notebook_keeps_the_last_state_in_one_output(notebook: Shown) -> None:
    console = Console(file=io.StringIO(), force_jupyter=True)
    with progress(1000, "<b>", console=console, clock=ticking(0.01)) as report:
        for _ in range(1000):
            report(loss=0.5)
        report(0, accuracy=0.25)
    (frame,) = notebook.frames
    assert repr(frame).startswith("<b>: step 1000/1000: loss 0.5, accuracy 0.25, ")
    assert '<progress value="1000" max="1000"></progress> &lt;b&gt;: step' in frame._repr_html_()
    assert 20 < notebook.updates < 200  # of a thousand steps


def test_a_notebook_shows_where_a_loop_has_failed(notebook: Shown) -> None:
    console = Console(file=io.StringIO(), force_jupyter=True)

    def failing() -> None:
        with progress(10, console=console, clock=ticking(1e-3)) as report:
            report(loss=1.0)
            report(2, loss=0.5)
            raise ArithmeticError("in the loop")

    with pytest.raises(ArithmeticError, match="in the loop"):
        failing()
    (frame,) = notebook.frames
    assert repr(frame).startswith("step 3/10: loss 0.5, ")


def test_a_run_without_a_report_shows_nothing_in_a_notebook(notebook: Shown) -> None:
    with progress(10, console=Console(file=io.StringIO(), force_jupyter=True)):
        pass
    assert notebook.frames == []


def test_an_error_in_the_loop_comes_through() -> None:
    console = Console(file=io.StringIO(), force_terminal=True)
    with pytest.raises(ArithmeticError, match="in the loop"), progress(2, console=console):
        raise ArithmeticError("in the loop")


def test_the_last_numbers_before_an_error_are_written() -> None:
    file = io.StringIO()

    def failing() -> None:
        with progress(1000, console=Console(file=file), clock=ticking(1.0)) as report:
            report(loss=2.0)
            raise ArithmeticError("in the loop")

    with pytest.raises(ArithmeticError, match="in the loop"):
        failing()
    assert file.getvalue() == "step 1/1000: loss 2, 1 steps/s, ETA 0:16:39\n"


def test_a_total_below_one_is_refused() -> None:
    with (
        pytest.raises(ValueError, match=r"^progress: total must be at least 1, got 0$"),
        progress(0),
    ):
        pass


def test_the_library_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError) as raised, progress(1):
        pass
    assert str(raised.value) == "progress needs the extra rich: pip install 'tape-ad[rich]'"
