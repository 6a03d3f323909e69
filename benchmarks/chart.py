"""The charts."""

from collections.abc import Mapping
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

__all__ = ["draw", "draw_bars"]

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


SHOWN = (
    "Rosenbrock, 1,000",
    "Hessian, 50",
    "step, digits 64x64x128x10",
    "Gaussian mixture, d=10, K=25",
    "RNN, 100 steps",
)
"""The workloads that have bars: one of each kind."""

PAIRS = (
    ("PyTorch eager / tape_ad", TORCH, OURS, COLOURS[TORCH]),
    ("JAX compiled / tape_ad, native", COMPILED, OURS_NATIVE, COLOURS[COMPILED]),
)
"""What a bar is called, whose time it shows, as a multiple of whose, and its colour."""


def draw_bars(found: Run, path: Path) -> None:
    """Draw how many times as long PyTorch and JAX take, for one workload of each kind."""
    times = {result.workload.name: result.times for result in found.results}
    medians = {
        workload: {name: taken.median for name, taken in times.get(workload, {}).items()}
        for workload in SHOWN
    }
    bars(medians, path)


def bars(medians: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Draw bars for workloads, by the median time of each library."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  # it reads the backend when imported

    figure, axes = plt.subplots(figsize=(8, 0.7 * len(medians) + 1.2), layout="constrained")
    for place, (title, peer, ours, colour) in enumerate(PAIRS):
        ratios = [
            taken[peer] / taken[ours] if {peer, ours} <= taken.keys() else 0.0
            for taken in medians.values()
        ]
        rows = [row + 0.36 * place - 0.18 for row in range(len(ratios))]
        drawn = axes.barh(rows, ratios, 0.34, color=colour, label=title)
        axes.bar_label(drawn, [f"{ratio:.1f}" if ratio else "" for ratio in ratios], padding=3)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(medians)), list(medians))
    axes.invert_yaxis()
    axes.margins(x=0.08)
    axes.set_xlabel("times as long as tape_ad takes (beyond the line: tape_ad is quicker)")
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=120)
    plt.close(figure)


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
