"""How a run is going: a bar, a few lines in a log file, and histograms of gradients as pictures."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.errors import extra
from tape_ad.base.trees import with_paths
from tape_ad.record.call_metadata import name_of
from tape_ad.record.gradients import Gradients
from tape_ad.record.inspection.pages.figures import Range, tag
from tape_ad.record.primals import primal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = 20
"""How many lines a whole run takes in a log file."""

SECONDS_SHOWN = 0.1
"""For how long at least a notebook shows the same: the file holds what comes last alone."""


class Report(Protocol):
    """What `progress` gives: call it after every step."""

    def __call__(self, advance: int = 1, **numbers: float) -> None:
        """Count steps, and show numbers such as ``loss=0.25, accuracy=0.9``.

        Parameters
        ----------
        advance : int
            How many steps were taken since the last call.
        **numbers : float
            What to show, in the order of its first appearance. A number that is not given keeps
            the value it was last given.
        """


@define(eq=False)
class Progress:
    """How far a run has come, and how it is shown."""

    total: int
    show: Callable[["Progress"], None]
    clock: Callable[[], float]
    start: float
    done: int = 0
    numbers: dict[str, float] = field(factory=dict)

    def __call__(self, advance: int = 1, **numbers: float) -> None:
        """Count steps that are done, and show that with numbers to watch."""
        self.done += advance
        self.numbers.update(numbers)
        self.show(self)

    @property
    def status(self) -> str:
        """Say what the numbers are, how fast it goes, and how long it is going to take."""
        shown = [f"{name} {as_number(value):.4g}" for name, value in self.numbers.items()]
        seconds = self.clock() - self.start
        if self.done and seconds > 0:
            speed = self.done / seconds
            shown.append(f"{speed:.3g} steps/s")
            shown.append(f"ETA {as_clock(max(self.total - self.done, 0) / speed)}")
        return ", ".join(shown)


@contextmanager
def progress(
    total: int,
    description: str = "",
    *,
    console: Any = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Report]:
    """Show how a run is going: its numbers, steps per second, and the time that is left.

    In a terminal and in a notebook it is a bar that moves, of which a saved notebook keeps the last
    state; in a log file, about twenty lines.

    Parameters
    ----------
    total : int
        The number of steps that the run is going to take.
    description : str
        What to call the run.
    console : rich.console.Console, optional
        Where to show it; standard output when left out.
    clock : callable
        Gives the time in seconds.

    Yields
    ------
    Report
        To be called after every step, with the numbers to show.

    Raises
    ------
    ValueError
        When `total` is below 1.
    ImportError
        When rich is not installed.

    Examples
    --------
    >>> with progress(total=2, clock=iter([0.0, 0.5, 1.0]).__next__) as report:
    ...     report(loss=0.75)
    ...     report(loss=0.5, accuracy=0.875)
    step 1/2: loss 0.75, 2 steps/s, ETA 0:00:00
    step 2/2: loss 0.5, accuracy 0.875, 2 steps/s, ETA 0:00:00
    """
    if total < 1:
        raise ValueError(f"progress: total must be at least 1, got {total}")
    rich = import_rich()
    console = rich.get_console() if console is None else console
    head = f"{description}: " if description else ""
    if console.is_jupyter or not console.is_terminal:
        writer: NotebookBar | LineWriter
        writer = NotebookBar(head) if console.is_jupyter else LineWriter(console, head)
        try:
            yield Progress(total, writer.show, clock, clock())
        finally:  # what came last is worth most when the loop has failed
            writer.finish()
        return
    columns = (
        rich.progress.TextColumn(f"{head}step {{task.completed}}/{{task.total}}", markup=False),
        rich.progress.BarColumn(),
        rich.progress.TextColumn("{task.fields[status]}", markup=False),
    )
    with rich.progress.Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=total, status="")

        def show(state: Progress) -> None:
            bar.update(task, completed=state.done, status=state.status)

        yield Progress(total, show, clock, clock())


@frozen
class Frame:
    """What a notebook shows of a run at one time: a bar, or a line where it has no HTML."""

    line: str
    done: int
    total: int

    def __repr__(self) -> str:
        return self.line

    def _repr_html_(self) -> str:
        bar = tag("progress", value=min(self.done, self.total), max=self.total)
        return tag("div", bar, f" {self.line}", style="font-variant-numeric:tabular-nums")


@define(eq=False)
class NotebookBar:
    """Shows a run in one output of a notebook's cell, which is written over.

    A widget, as rich makes one, would be empty in the saved file.
    """

    head: str
    shown_at: float = -math.inf
    output: Any = None
    unsaid: Progress | None = None

    def show(self, state: Progress) -> None:
        """Write over what is shown, a few times a second."""
        self.unsaid = state
        if (now := state.clock()) - self.shown_at >= SECONDS_SHOWN:
            self.shown_at = now
            self.finish()

    def finish(self) -> None:
        """Show what has come since."""
        if self.unsaid is None:
            return
        frame = Frame(line_of(self.head, self.unsaid), self.unsaid.done, self.unsaid.total)
        self.unsaid = None
        if self.output is None:
            from IPython.display import display

            self.output = display(frame, display_id=True)
        else:
            self.output.update(frame)


@define(eq=False)
class LineWriter:
    """Writes a line whenever another part of the whole is done, and one for what came last.

    The line of the last step waits for the end, as numbers may be added to it until then.
    """

    console: Any
    head: str
    part: int = 0
    unsaid: Progress | None = None

    def show(self, state: Progress) -> None:
        """Write a line if it is time for one."""
        part = state.done * LINES // state.total
        self.unsaid = state
        if part > self.part and state.done < state.total:
            self.part = part
            self.finish()

    def finish(self) -> None:
        """Write what has come since the last line."""
        if self.unsaid is not None:
            line = line_of(self.head, self.unsaid)
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)
            self.unsaid = None


def line_of(head: str, state: Progress) -> str:
    """Write how far a run has come, in one line."""
    return f"{head}step {state.done}/{state.total}: {state.status}"


def as_clock(seconds: float) -> str:
    """Write a time as hours, minutes and seconds.

    Examples
    --------
    >>> as_clock(3725.4)
    '1:02:05'
    """
    minutes, second = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{second:02d}"


def import_rich() -> Any:
    """Import what only this module needs."""
    with extra("rich", "progress"):
        import rich
        import rich.progress
    return rich


def as_number(value: Any) -> float:
    """Read a number that is shown and not computed with, a handle too."""
    return float(value.item() if hasattr(value, "item") else value)


WIDTH, HEIGHT = 3.1, 1.9
"""Of one panel, in inches."""

COLOUR = "#2b6cb0"


def gradient_histograms(
    grads: Gradients | Any, tree: Any = None, *, bins: int = 40, columns: int = 3
) -> "Figure":
    """Draw how the elements of each gradient are distributed, a panel for each parameter.

    A layer that learns nothing shows as a single bar at 0, one whose gradients explode as a wide
    axis, and what is not finite is counted in the panel's title.

    Parameters
    ----------
    grads : Gradients, or a structure of arrays
        What `Tensor.grad` gave, or ``grads.wrt(p)``.
    tree : dict, list, tuple or attrs class of Tensor
        What `ComputationRecord.bind` gave, if `grads` is a `Gradients`.
    bins : int
        The number of bars of each panel.
    columns : int
        How many panels stand beside each other, at most.

    Returns
    -------
    matplotlib.figure.Figure
        One that no window belongs to: ``figure.savefig("gradients.png")`` saves it. Of complex
        gradients, the moduli are drawn.

    Raises
    ------
    ImportError
        When matplotlib is not there; it is in the extra `examples`.
    TypeError
        When a `Gradients` comes without handles.

    Examples
    --------
    >>> import tape_ad as ta
    >>> p = ta.ComputationRecord().bind({"w": np.linspace(-1, 1, 50), "b": 0.5})
    >>> grads = np.sum((p["w"] + p["b"]) ** 2).grad()
    >>> figure = gradient_histograms(grads, p)
    >>> [panel.get_title(loc="left") for panel in figure.axes]
    ['w', 'b']
    """
    if isinstance(grads, Gradients):
        if tree is None:
            raise TypeError(
                "gradients are asked with handles: pass what rec.bind(...) returned as well, "
                "gradient_histograms(grads, p)"
            )
        grads = grads.wrt(tree)
    with extra("examples", "gradient_histograms"):
        from matplotlib.figure import Figure
    leaves = [(name_of(path), primal(leaf)) for path, leaf in with_paths(grads)]
    arrays = [(name, np.asarray(each)) for name, each in leaves if hasattr(each, "dtype")]
    across = max(1, min(columns, len(arrays)))
    down = max(1, math.ceil(len(arrays) / across))
    figure = Figure(figsize=(WIDTH * across, HEIGHT * down), layout="constrained")
    for place, (name, array) in enumerate(arrays, 1):
        draw(figure.add_subplot(down, across, place), name, array, bins)
    return figure


def draw(panel: Any, name: str, array: np.ndarray[Any, Any], bins: int) -> None:
    """Draw one histogram, without a frame, and say in its title what cannot be drawn."""
    found = Range.of(array)
    finite = array[np.isfinite(array)]
    drawn = np.abs(finite) if found.modulus else finite
    values = np.asarray(drawn, np.float64)
    panel.hist(values, bins=edges(found.low, found.high, bins), color=COLOUR)
    panel.set_title(name or "gradient", loc="left", fontsize=9)
    panel.set_title(found.doubts, loc="right", fontsize=9, color="#b42318")
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.tick_params(labelsize=7, left=False, labelleft=False)
    panel.locator_params(axis="x", nbins=4)


def edges(low: float, high: float, bins: int) -> Any:
    """Give where bars begin and end; one bar for numbers that have no others between them."""
    largest = np.nan_to_num(max(abs(low), abs(high)))
    if high - low > 4 * bins * np.spacing(largest):
        return bins
    width = largest / 20 or 1.0
    return [-1.0, 1.0] if math.isnan(low) else [low - width, high + width]
