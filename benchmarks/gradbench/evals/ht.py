"""Hand tracking: how far a posed hand is from points that were measured.

A hand is a skin of vertices, each drawn along by some bones. `theta` turns and moves the whole and
bends the fingers. A measured point belongs to a vertex, or ("complicated") to a place on a triangle
that two numbers of its own say.
"""

from typing import Any

import numpy as np

import tape_ad as ta
from benchmarks.gradbench.tasks import Array, Task, Tasks


def bends(bones: int) -> Array:
    """Say which number of a padded `theta` turns which bone about which axis; 0 is none.

    The first bone is the wrist. A finger has four, of which the first stays, the second bends both
    ways and the other two one way.
    """
    numbers = np.zeros((bones, 3), int)
    following = 7
    for finger in range(5):
        for joint in range(2, 5):
            bone = 4 * finger + joint
            numbers[bone, 0] = following
            following += 1
            if joint == 2:
                numbers[bone, 2] = following
                following += 1
    return numbers


def turned(angles: Any) -> Any:
    """Turn about x, y and z in this order, for each row of angles, in homogeneous coordinates."""
    (sx, sy, sz), (cx, cy, cz) = np.sin(angles).T, np.cos(angles).T
    zero, one = np.zeros(len(angles)), np.ones(len(angles))
    entries = [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx, zero],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx, zero],
        [-sy, cy * sx, cy * cx, zero],
        [zero, zero, zero, one],
    ]
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=1)


def rotation(vector: Any) -> Any:
    """Turn about a vector by as many radians as it is long: Rodrigues' formula."""
    angle = np.sqrt(np.sum(vector * vector))
    if angle < 1e-4:  # ADBench's bound
        return np.eye(3)
    x, y, z = axis = vector / angle
    cross = np.stack([np.stack([0 * x, -z, y]), np.stack([z, 0 * x, -x]), np.stack([-y, x, 0 * x])])
    cosine = np.cos(angle)
    return cosine * np.eye(3) + (1 - cosine) * np.outer(axis, axis) + np.sin(angle) * cross


def posed(theta: Any, hand: dict[str, Array]) -> Any:
    """Give the vertices that are asked for, of shape (..., 3)."""
    angles = np.concatenate([np.zeros(1), theta])[hand["bends"]]
    relatives = hand["base_relatives"] @ turned(angles)
    absolutes: list[Any] = []
    for bone, parent in enumerate(hand["parents"].tolist()):
        relative = relatives[bone]
        absolutes.append(relative if parent < 0 else absolutes[parent] @ relative)
    bones = np.stack(absolutes)[:, :3] @ hand["inverse_base_absolutes"]
    # A vertex is a sum over bones and coordinates, with numbers that belong to the vertex alone.
    vertices = hand["weighted"] @ np.swapaxes(bones, 1, 2).reshape(-1, 3) * hand["mirror"]
    return (vertices @ rotation(theta[:3]).T + theta[3:6])[hand["chosen"]]


def simple(theta: Any, hand: dict[str, Array], points: Array) -> Any:
    return (points - posed(theta, hand)).ravel()


def complicated(theta: Any, us: Any, hand: dict[str, Array], points: Array) -> Any:
    corners = posed(theta, hand)
    u, v = us[:, :1], us[:, 1:]
    along, across = corners[0] - corners[2], corners[1] - corners[2]
    return (points - (corners[2] + u * along + v * across)).ravel()


def objective(theta: Any, us: Any, hand: dict[str, Array], points: Array) -> Any:
    if len(us):
        return complicated(theta, us, hand, points)
    return simple(theta, hand, points)


def jacobian(theta: Array, us: Array, hand: dict[str, Array], points: Array) -> Any:
    """Give the columns of `theta`, and two for all of `us` before them.

    A residual depends on its own two numbers alone, so that one column holds the derivatives by the
    first of all pairs, and another those by the second. All columns of `theta` are one sweep.
    """
    if not len(us):
        return ta.jacobian(simple, mode="forward")(theta, hand, points)

    def moved(steps: Any) -> Any:
        return complicated(theta, us + steps, hand, points)

    by_us = ta.jacobian(moved, mode="forward")(np.zeros(2))
    by_theta = ta.jacobian(complicated, mode="forward")(theta, us, hand, points)
    return np.concatenate([by_us, by_theta], axis=1)


def prepare(given: Any) -> tuple[Array, Array, dict[str, Array], Array]:
    data = given["data"]
    model = data["model"]
    us = np.array(given["us"], float).reshape(-1, 2)
    chosen = np.array(data["correspondences"], int)
    if len(us):
        chosen = np.array(model["triangles"], int)[chosen].T
    vertices, places = np.unique(chosen, return_inverse=True)  # each is posed once
    weights, base = (
        np.array(model[name], float)[vertices] for name in ("weights", "base_positions")
    )
    weighted = (weights[:, :, np.newaxis] * base[:, np.newaxis, :]).reshape(len(vertices), -1)
    hand = {
        "bends": bends(len(model["parents"])),
        "parents": np.array(model["parents"], int),
        "base_relatives": np.array(model["base_relatives"], float),
        "inverse_base_absolutes": np.array(model["inverse_base_absolutes"], float),
        "weighted": weighted,
        "chosen": places.reshape(chosen.shape),
        "mirror": np.array([-1.0 if model["is_mirrored"] else 1.0, 1.0, 1.0]),
    }
    return np.array(given["theta"], float), us, hand, np.array(data["points"], float)


TASKS: Tasks = {"objective": Task(objective, prepare), "jacobian": Task(jacobian, prepare)}
