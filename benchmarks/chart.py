"""The chart."""

from pathlib import Path

import matplotlib as mpl

from benchmarks.found import Run
from benchmarks.libraries import (
    COMPILED,
    LIBRARIES,
    OURS,
    OURS_COMPILED,
    OURS_NATIVE,
    TORCH,
    TORCH_COMPILED,
)

__all__ = ["draw"]

COLOURS = {
    TORCH: "#d1495b",
    "hips_autograd": "#edae49",
    "my_grad": "#66a182",
    "jax_eager": "#8d96a3",
    TORCH_COMPILED: "#7a2a35",
    OURS_COMPILED: "#00798c",
    OURS_NATIVE: "#1fc7e0",
    COMPILED: "#2e4057",
}


def draw(found: Run, path: Path) -> None:
    """Draw how many times as long as tape_ad each library takes, as points on a logarithmic axis.

    Bars would have to begin somewhere, and such an axis has no zero.
    """
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  # it reads the backend when imported

    results = [result for result in found.results if OURS in result.times]
    shown = [name for name in COLOURS if any(name in result.times for result in results)]
    figure, axes = plt.subplots(figsize=(9, 0.28 * len(results) + 2), layout="constrained")
    for name in shown:
        rows = [row for row, result in enumerate(results) if name in result.times]
        times = [1 / results[row].ratio(name) for row in rows]
        marker = "D" if name in {OURS_COMPILED, OURS_NATIVE} else "o"
        title = LIBRARIES[name].title
        axes.plot(times, rows, marker, color=COLOURS[name], label=title, markersize=6, alpha=0.9)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(results)), [result.workload.name for result in results])
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("time / tape_ad's time (to the left of 1: quicker than tape_ad)")
    figure.legend(loc="outside upper center", ncols=4, fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)
