"""The Jacobian of bundle adjustment by hand: the chain rule in NumPy, all residuals at once."""

from typing import Any

import numpy as np

from benchmarks.gradbench.evals.ba import BLOCK
from benchmarks.gradbench.tasks import Array


def crossed(x: Array) -> Array:
    """Write ``x × y`` as a matrix times `y`, for each row."""
    zero = np.zeros(len(x))
    a, b, c = x.T
    return np.stack([zero, -c, b, c, zero, -a, -b, a, zero], axis=1).reshape(-1, 3, 3)


def turns(vectors: Array, points: Array) -> tuple[Array, Array, Array]:
    """Turn points about vectors, and give the derivatives by points and by vectors."""
    angle = np.sqrt(np.sum(vectors * vectors, axis=1))[:, None, None]
    axis = vectors[:, :, None] / angle
    sine, cosine, eye = np.sin(angle), np.cos(angle), np.eye(3)
    across, outer = crossed(axis[:, :, 0]), axis @ axis.swapaxes(1, 2)
    rotation = cosine * eye + sine * across + (1 - cosine) * outer
    x = points[:, :, None]
    along = axis.swapaxes(1, 2) @ x
    by_angle = sine * (axis * along - x) + cosine * (across @ x)
    by_axis = (1 - cosine) * (along * eye + axis @ x.swapaxes(1, 2)) - sine * crossed(points)
    by_vector = by_angle @ axis.swapaxes(1, 2) + by_axis @ (eye - outer) / angle
    return (rotation @ x)[:, :, 0], rotation, by_vector


def blocks(p: Any, observed: Array, pixels: Array) -> Array:
    """Compute what `benchmarks.gradbench.evals.ba.blocks` does."""
    cameras, points, weights = p
    camera, point = observed
    cam = cameras[camera]
    seen, rotation, by_vector = turns(cam[:, :3], points[point] - cam[:, 3:6])
    focal, near, far = cam[:, 6:7], cam[:, 9:10], cam[:, 10:11]
    w, depth = weights[:, None], seen[:, 2:]
    flat = seen[:, :2] / depth
    square = np.sum(flat * flat, axis=1, keepdims=True)
    lens = 1 + near * square + far * square * square
    bent = 2 * (near + 2 * far * square) * flat
    by_flat = lens[:, :, None] * np.eye(2) + flat[:, :, None] * bent[:, None, :]
    by_flat *= (w * focal / depth)[:, :, None]
    by_seen = np.concatenate([by_flat, -by_flat @ flat[:, :, None]], axis=2)
    entries = np.zeros((len(weights), 2, BLOCK))
    entries[:, :, :3] = by_seen @ by_vector
    entries[:, :, 11:14] = by_seen @ rotation
    entries[:, :, 3:6] = -entries[:, :, 11:14]
    entries[:, :, 6] = w * lens * flat
    entries[:, 0, 7] = entries[:, 1, 8] = weights
    entries[:, :, 9] = w * focal * square * flat
    entries[:, :, 10] = square * entries[:, :, 9]
    entries[:, :, 14] = focal * lens * flat + cam[:, 7:9] - pixels
    return np.concatenate([entries.ravel(), -2 * weights])
