"""Draw the pictures of the tutorial: ``python docs/pictures``.

Each page is run as it stands, block by block, and what its names hold then is drawn, so that a
picture shows what the page computes. Writes PNG and SVG files beside itself. Needs the extra:
pip install 'tape-ad[examples]'.
"""

import argparse
import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

HERE = Path(__file__).parent
TUTORIAL = HERE.parent / "tutorial"
BLUE, ORANGE, GREY = "#2b6cb0", "#dd6b20", "#a0aec0"

Names = dict[str, Any]


def run_page(name: str, first: int | None = None) -> Names:
    """Run the `first` Python blocks of a page, or all that are not skipped, in one namespace."""
    text = (TUTORIAL / name).read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^(<!-- skip: next[^\n]*\n)?```python\n(.*?)^```$", text)
    names: Names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for skipped, block in blocks[:first]:
            if not skipped:
                exec(compile(block, name, "exec"), names)  # noqa: S102 - the project's own pages
    return names


def well(axes: Axes, names: Names) -> None:
    """Draw the way downhill to the place with the shortest paths."""
    villages, total = names["villages"], names["total_length"]
    x, y = np.meshgrid(np.linspace(-0.5, 5.5, 80), np.linspace(-0.5, 5.5, 80))
    lengths = np.array(
        [[total((a, b)) for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]
    )
    axes.contour(x, y, lengths, levels=14, colors=GREY, linewidths=0.6)
    way = [np.array([5.0, 5.0])]
    for _ in range(81):
        way.append(way[-1] - 0.2 * names["ta"].grad(total)(way[-1]))
    axes.plot(*np.transpose(way), ".-", color=ORANGE, markersize=3, linewidth=1)
    axes.plot(*villages.T, "o", color=BLUE, markersize=5)
    axes.set_title("where to dig a well")


def swing(axes: Axes, names: Names) -> None:
    """Draw readings of a swing, and the curve that was fitted."""
    fine = np.linspace(0, 10, 300)
    axes.plot(names["t"], names["measured"], ".", color=GREY, markersize=4)
    axes.plot(fine, names["Swing"](**names["params"]).at(fine), color=ORANGE, linewidth=1.5)
    axes.set_title("four parameters of a swing")


def misread(axes: Axes, names: Names) -> None:
    """Draw the digits that the network got wrong and was surest of, side by side."""
    images = names["images"][names["held_out"]][names["surest"]].reshape(-1, 8, 8)
    axes.imshow(np.hstack([np.pad(image, 1) for image in images]), cmap="Blues")
    said = zip(
        names["guess"][names["surest"]],
        names["labels"][names["held_out"]][names["surest"]],
        strict=True,
    )
    for place, (guess, label) in enumerate(said):
        axes.text(10 * place + 4.5, 11.5, f"{guess}, was {label}", ha="center", fontsize=8)
    axes.set_title("the network's surest mistakes")


def arm(axes: Axes, names: Names) -> None:
    """Draw the arm on its way to the target, a step of Newton's method at a time."""
    angles, target = np.array([0.3, 0.5]), names["target"]
    for step in range(5):
        elbow = np.array([np.cos(angles[0]), np.sin(angles[0])])
        hand = names["hand"](angles)
        axes.plot(
            *np.transpose([[0, 0], elbow, hand]),
            "o-",
            color=BLUE,
            alpha=0.25 + 0.18 * step,
            markersize=4,
        )
        angles = angles + np.linalg.solve(
            names["ta"].jacobian(names["hand"])(angles), target - hand
        )
    axes.plot(*target, "x", color=ORANGE, markersize=9, markeredgewidth=2)
    axes.set_title("a hand that reaches its target")


def bodies(axes: Axes, names: Names) -> None:
    """Draw the figure of eight on which three bodies chase each other."""
    way = np.array([names["follow"](names["force_of"], steps) for steps in range(0, 212, 4)])
    for body, colour in zip(range(3), (BLUE, ORANGE, GREY), strict=True):
        axes.plot(*way[:, body].T, color=colour, linewidth=1.5)
        axes.plot(*way[-1, body], "o", color=colour, markersize=7)
    axes.set_title("three bodies, compiled")


def plate(axes: Axes, names: Names) -> None:
    """Draw the temperatures that were measured, and the links that were found to be broken."""
    side = names["side"]
    axes.imshow(names["measured"].reshape(side, side), cmap="YlOrBr")
    for link in names["worst"]:
        (row, left), (_, right) = (divmod(int(point), side) for point in link)
        axes.plot([(left + right) / 2] * 2, [row - 0.5, row + 0.5], color=BLUE, linewidth=3)
    axes.set_title("a crack, found by its heat")


PICTURES: dict[str, tuple[str, Callable[[Axes, Names], None], tuple[str, ...]]] = {
    "well": ("01-first-gradient.md", well, ("image",)),
    "swing": ("03-trees-and-parameters.md", swing, ()),
    "misread": ("04-training-loop.md", misread, ("off",)),
    "arm": ("06-transforms.md", arm, ("equal",)),
    "bodies": ("08-compile.md", bodies, ("equal", "off")),
    "plate": ("09-sparse-and-large.md", plate, ("off",)),
}
"""The page that a picture shows, what draws it, and how its axes are set."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the pictures of the tutorial.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=HERE, help="where files go")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    mpl.rcParams.update(
        {"font.size": 8, "axes.titlesize": 9, "savefig.dpi": 110, "figure.dpi": 110}
    )
    pages = {name: run_page(page) for name, (page, _, _) in PICTURES.items()}

    together, grid = plt.subplots(2, 3, figsize=(8, 4.6), layout="constrained")
    for axes, (name, (_, draw, settings)) in zip(grid.flat, PICTURES.items(), strict=True):
        alone, its_axes = plt.subplots(figsize=(3.6, 2.7), layout="constrained")
        for each in (axes, its_axes):
            draw(each, pages[name])
            for setting in settings:
                each.axis(setting)
        alone.savefig(folder / f"{name}.png")
        plt.close(alone)
    together.savefig(folder / "tutorial.png")
    run_page("02-records-and-handles.md", first=1)["rec"].show(folder / "record.svg")
    print(f"wrote {len(PICTURES) + 2} pictures to {folder}")


if __name__ == "__main__":
    main()
