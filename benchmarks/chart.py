"""The bar chart."""

from pathlib import Path

import matplotlib as mpl
import numpy as np

from benchmarks.found import Run
from benchmarks.libraries import COMPILED, LIBRARIES, OURS, OURS_COMPILED, TORCH

__all__ = ["draw"]

COLOURS = {
    TORCH: "#d1495b",
    "hips_autograd": "#edae49",
    "my_grad": "#66a182",
    "jax_eager": "#8d96a3",
    OURS_COMPILED: "#00798c",
    COMPILED: "#2e4057",
}


def draw(found: Run, path: Path) -> None:
    """Draw how many times as long as tape_ad each library takes, on a logarithmic axis."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  # it reads the backend when imported

    results = [result for result in found.results if OURS in result.times]
    shown = [name for name in COLOURS if any(name in result.times for result in results)]
    height = 0.8 / len(shown)
    figure, axes = plt.subplots(figsize=(9, 0.55 * len(results) + 1.5), layout="constrained")
    for place, name in enumerate(shown):
        rows = [row for row, result in enumerate(results) if name in result.times]
        times = [1 / results[row].ratio(name) for row in rows]
        axes.barh(
            np.array(rows) + (place - (len(shown) - 1) / 2) * height,
            np.array(times) - 1,
            height,
            left=1,
            color=COLOURS[name],
            label=LIBRARIES[name].title,
        )
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(results)), [result.workload.name for result in results])
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("time / tape_ad's time (to the left of 1: quicker than tape_ad)")
    axes.legend(loc="best", fontsize="small")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)
