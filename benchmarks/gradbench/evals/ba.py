"""Bundle adjustment: where cameras see points, and a weight for each that they see.

Rows and columns stand as in ADBench: two residuals for each observation and then one for each
weight; eleven columns for each camera, three for each point and one for each weight.
"""

from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks

CAMERA = 11
"""Numbers of a camera: rotation (3), place (3), focal length, middle (2), two of the lens."""

BLOCK = CAMERA + 3 + 1
"""Entries in the row of a pixel."""


def rotated(vectors: Any, points: Any) -> Any:
    """Turn points about vectors, by as many radians as those are long: Rodrigues' formula."""
    square = np.sum(vectors * vectors, axis=1, keepdims=True)
    still = square == 0
    if still.any():  # there the formula has 0/0, and its limit is linear
        turned = rotated(np.where(still, 1.0, vectors), points)
        return np.where(still, points + np.cross(vectors, points), turned)
    angle = np.sqrt(square)
    axis = vectors / angle
    sine, cosine = np.sin(angle), np.cos(angle)
    along = np.sum(axis * points, axis=1, keepdims=True) * (1 - cosine)
    return points * cosine + np.cross(axis, points) * sine + axis * along


def projected(cameras: Any, points: Any) -> Any:
    """Give the pixels at which cameras see points, one camera for each point."""
    seen = rotated(cameras[:, :3], points - cameras[:, 3:6])
    flat = seen[:, :2] / seen[:, 2:]
    square = np.sum(flat * flat, axis=1, keepdims=True)
    lens = 1 + cameras[:, 9:10] * square + cameras[:, 10:11] * square * square
    return flat * lens * cameras[:, 6:7] + cameras[:, 7:9]


def seen_off(cameras: Any, points: Any, weights: Any, pixels: Array) -> Any:
    """Compare where cameras see points with where they should, one of each for each pixel."""
    return weights[:, np.newaxis] * (projected(cameras, points) - pixels)


def objective(p: Any, observed: Array, pixels: Array) -> Any:
    """Give the residuals of pixels, and those of weights."""
    cameras, points, weights = p
    camera, point = observed
    return [seen_off(cameras[camera], points[point], weights, pixels), 1 - weights * weights]


def blocks(p: Any, observed: Array, pixels: Array) -> Any:
    """Compute the Jacobian's entries, row after row, in whole blocks.

    A residual has a camera and a point of its own here, copies of those it shares. So all first
    rows are one cotangent and all second rows another, however many observations there are.
    """
    cameras, points, weights = p
    camera, point = observed
    rows = np.eye(2)[:, np.newaxis] * np.ones((len(weights), 1))
    copies = cameras[camera], points[point], weights
    _, pull = ta.vjp(lambda c, x, w: seen_off(c, x, w, pixels), *copies)
    by_camera, by_point, by_weight = pull(rows)
    entries = np.concatenate([by_camera, by_point, by_weight[..., np.newaxis]], axis=2)
    return np.concatenate([np.swapaxes(entries, 0, 1).ravel(), -2 * weights])


def prepare(given: Any) -> tuple[Any, Array, Array]:
    """Repeat the one camera, point, weight and pixel that a message has."""
    n, m, p = given["n"], given["m"], given["p"]
    store = (
        np.tile(np.array(given["cam"], float), (n, 1)),
        np.tile(np.array(given["x"], float), (m, 1)),
        np.full(p, float(given["w"])),
    )
    observed = np.stack([np.arange(p) % n, np.arange(p) % m])
    return store, observed, np.tile(np.array(given["feat"], float), (p, 1))


def answer_objective(result: Any, _prepared: Any) -> Any:
    """Give the first observation's residuals, of which the others are copies."""
    off, errors = result
    return {
        "reproj_error": {"elements": off[0], "repeated": len(off)},
        "w_err": {"element": errors[0], "repeated": len(errors)},
    }


def structure(p: Any, observed: Array) -> tuple[Array, Array, int]:
    """Give columns and starts of rows of a CSR matrix of whole blocks, and its width.

    A pixel's row depends on one of the middle's two numbers, and stores a zero for the other.
    """
    cameras, points, weights = p
    camera, point = observed[:, :, np.newaxis]
    first = CAMERA * len(cameras)
    last = first + points.size + np.arange(len(weights))[:, np.newaxis]
    of_pixels = np.concatenate(
        [CAMERA * camera + np.arange(CAMERA), first + 3 * point + np.arange(3), last], axis=1
    )
    columns = np.concatenate([np.repeat(of_pixels, 2, axis=0).ravel(), last.ravel()])
    lengths = np.repeat([BLOCK, 1], [2 * len(weights), len(weights)])
    return columns, np.concatenate([[0], np.cumsum(lengths)]), first + points.size + len(weights)


def answer_jacobian(values: Any, prepared: tuple[Any, Array, Array]) -> Any:
    """Give the first block and the last entry of rows, columns and values."""
    columns, starts, _ = structure(*prepared[:2])
    shown = 2 * BLOCK
    return {
        name: [*array[:shown], array[-1]]
        for name, array in (("rows", starts), ("cols", columns), ("vals", values))
    }


TASKS: Tasks = {
    "objective": Task(objective, prepare, answer_objective),
    "jacobian": Task(blocks, prepare, answer_jacobian),
}
