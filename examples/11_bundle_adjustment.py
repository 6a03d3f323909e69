"""Find where cameras stood and what they saw, from points in their pictures: bundle adjustment.

Each camera is eleven numbers, as in the benchmark ADBench (Srajer, Kukelova & Fitzgibbon, "A
benchmark of selected algorithmic differentiation tools on some problems in computer vision and
machine learning", 2018): a rotation, a place, a focal length, the middle of the picture and two
coefficients of the lens. Each point is three. Some hundred points on a torus are seen by cameras
around it, with an error of a fraction of a pixel, and both are guessed badly at first.

A pixel depends on one camera and one point, so nearly all of the Jacobian is zero. SciPy's
`least_squares` gets it as a sparse matrix: `tape_ad.scipy.optimize.least_squares` finds the
pattern, and colours it, so that a few sweeps give all entries, however many cameras and points
there are.

It takes five seconds. Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import tape_ad as ta

Array = np.ndarray[Any, Any]

CAMERAS, POINTS, SEEN = 16, 400, 6
"""How many there are, and how many cameras see a point."""

NOISE = 0.3
"""The error of a measured place in a picture, in pixels."""


GUESSED = np.array([0.02] * 3 + [0.2] * 3 + [20.0, 5, 5, 0.02, 0.02])
"""How far off a camera's numbers are at first."""


def rotated(vectors: Any, points: Any) -> Any:
    """Turn points about vectors, by as many radians as those are long: Rodrigues' formula."""
    angle = np.sqrt(np.sum(vectors**2, axis=-1, keepdims=True) + 1e-12)
    axis = vectors / angle
    along = np.sum(axis * points, axis=-1, keepdims=True) * axis
    return (
        np.cos(angle) * points
        + np.sin(angle) * np.cross(axis, points)
        + (1 - np.cos(angle)) * along
    )


def projected(cameras: Any, points: Any) -> Any:
    """Give the pixels at which cameras see points, one camera for each point."""
    seen = rotated(cameras[:, :3], points - cameras[:, 3:6])
    flat = seen[:, :2] / seen[:, 2:]
    square = np.sum(flat**2, axis=1, keepdims=True)
    lens = 1 + cameras[:, 9:10] * square + cameras[:, 10:11] * square**2
    return cameras[:, 6:7] * flat * lens + cameras[:, 7:9]


def residuals(p: Any, camera: Array, point: Array, pixels: Array, guess: Array) -> Any:
    """Compare where points should be seen with where they were, and cameras with a first guess.

    Pictures alone do not say where the whole scene stands, nor how large it is.
    """
    off = (projected(p["cameras"][camera], p["points"][point]) - pixels) / NOISE
    return [off, (p["cameras"] - guess) / GUESSED]


def scene() -> tuple[dict[str, Array], Array, Array]:
    """Put points on a torus and cameras around it; choose which camera sees which point."""
    rng = np.random.default_rng(0)
    u, v = rng.uniform(0, 2 * np.pi, (2, POINTS))
    points = np.stack(
        [(2 + 0.7 * np.cos(v)) * np.cos(u), (2 + 0.7 * np.cos(v)) * np.sin(u), 0.7 * np.sin(v)], 1
    )
    turns = 0.1 + np.linspace(0, 2 * np.pi, CAMERAS, endpoint=False)
    places = np.stack([8 * np.cos(turns), 8 * np.sin(turns), 3 + np.sin(3 * turns)], 1)
    cameras = np.concatenate(
        [
            np.array([looking_at_middle(place) for place in places]),
            places,
            np.full((CAMERAS, 1), 800.0),
            rng.normal(320, 2, (CAMERAS, 2)),
            rng.normal(0, 0.02, (CAMERAS, 2)),
        ],
        axis=1,
    )
    camera = np.concatenate([rng.permutation(CAMERAS)[:SEEN] for _ in range(POINTS)])
    return {"cameras": cameras, "points": points}, camera, np.repeat(np.arange(POINTS), SEEN)


def looking_at_middle(place: Array) -> Array:
    """Give the rotation of a camera that looks at the middle of the scene."""
    forward = -place / np.linalg.norm(place)
    right = np.cross(forward, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    matrix = np.stack([right, np.cross(forward, right), forward])
    angle = np.arccos((np.trace(matrix) - 1) / 2)
    off = np.array(
        [matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]]
    )
    vector: Array = off * angle / (2 * np.sin(angle))
    return vector


def main(out: Path) -> None:
    truth, camera, point = scene()
    rng = np.random.default_rng(1)
    exact = projected(truth["cameras"][camera], truth["points"][point])
    pixels = exact + NOISE * rng.normal(size=exact.shape)
    guess = {
        "cameras": truth["cameras"] + GUESSED * rng.normal(size=truth["cameras"].shape),
        "points": truth["points"] + 0.2 * rng.normal(size=truth["points"].shape),
    }

    jacobian = ta.sparse_jacobian(residuals)
    seen = camera, point, pixels, guess["cameras"]
    jacobian(guess, *seen)
    print(jacobian.explain())

    costs: list[float] = []

    def watched(*args: Any) -> Any:
        off = residuals(*args)
        if isinstance(off[0], np.ndarray):  # a step that is tried, and not its derivative
            cost = sum(float(np.sum(part**2)) for part in off) / 2
            costs.append(min([cost, *costs[-1:]]))
        return off

    begin = time.perf_counter()
    result = ta.scipy.optimize.least_squares(
        watched, guess, args=seen, x_scale="jac", ftol=1e-4, max_nfev=40
    )
    elapsed = time.perf_counter() - begin
    off = NOISE * np.sqrt(2 * result.cost / pixels.size)
    print(f"{len(costs)} steps in {elapsed:.1f} s: {off:.3f} pixels off, noise {NOISE}")
    draw(jacobian, costs, guess, result.x, out)
    print(f"wrote {out / 'bundle_adjustment.png'}")
    assert off < NOISE


def draw(jacobian: Any, costs: list[float], guess: dict[str, Array], found: Any, out: Path) -> None:
    """Draw the scene, a corner of the pattern of the Jacobian, and the cost by step."""
    figure = plt.figure(figsize=(13, 4.2), layout="constrained")
    draw_scene(figure.add_subplot(1, 3, 1, projection="3d"), guess, found)
    draw_pattern(figure.add_subplot(1, 3, 2), jacobian)
    of_cost = figure.add_subplot(1, 3, 3)
    of_cost.semilogy(np.arange(len(costs)), costs, "o-", color="tab:blue", ms=4)
    of_cost.set(xlabel="step", ylabel="half the sum of squares", title="cost")
    of_cost.grid(alpha=0.3)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "bundle_adjustment.png", dpi=110)
    plt.close(figure)


def draw_scene(axes: Any, guess: dict[str, Array], found: Any) -> None:
    """Draw points and cameras, as they were guessed and as they were found."""
    for scene_of, color, label in ((guess, "0.7", "guessed"), (found, "tab:orange", "found")):
        axes.scatter(*scene_of["points"].T, s=3, color=color, label=label)
        axes.scatter(*scene_of["cameras"][:, 3:6].T, s=30, marker="^", color=color)
    axes.set(title="the points, and the cameras (triangles)", aspect="equal")
    axes.set_axis_off()
    axes.legend(loc="upper left")


def draw_pattern(axes: Any, jacobian: Any) -> None:
    """Draw which pixels depend on which numbers, each of their coordinates in a colour."""
    right = 2 * SEEN * 60
    pattern = jacobian.pattern[:right].tocoo()
    axes.scatter(
        pattern.col, pattern.row, c=pattern.row % 2, s=1.5, cmap="coolwarm", marker="s", lw=0
    )
    axes.set(xlim=(0, CAMERAS * 11 + 3 * 60), ylim=(right, 0), xlabel="cameras, then points")
    axes.set(ylabel="pixels", title=f"entries, by {jacobian.colors} sweeps (a part)")


if __name__ == "__main__":
    mpl.use("Agg")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(), help="the folder for the picture")
    main(parser.parse_args().out)
