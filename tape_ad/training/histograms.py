"""Histograms of gradients as pictures, over the steps of a training run."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tape_ad.base.extras import extra
from tape_ad.base.trees import with_paths
from tape_ad.record.call_metadata import name_of
from tape_ad.record.gradients import Gradients
from tape_ad.record.inspection.pages.figures import Range
from tape_ad.record.primals import primal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["gradient_histograms"]

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
