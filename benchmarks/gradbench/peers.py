"""The same objectives by PyTorch and JAX, in the ways that their users have."""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.gradbench.tasks import Array

Call = Callable[[], Any]


def torch_blocks(arguments: tuple[Any, Array, Array], some: int) -> Call | None:
    """Make what computes the blocks of the first observations: two sweeps back for each.

    That is ADBench's way with PyTorch, whose tensors of parameters are one for each camera and
    point. None without PyTorch.
    """
    if importlib.util.find_spec("torch") is None:
        return None
    torch: Any = importlib.import_module("torch")  # slow, and may be missing

    torch.set_num_threads(1)

    def turned(vector: Any, point: Any) -> Any:
        angle = torch.sqrt(torch.sum(vector * vector))
        axis = vector / angle
        along = torch.dot(axis, point) * (1 - torch.cos(angle))
        across = torch.linalg.cross(axis, point)
        return point * torch.cos(angle) + across * torch.sin(angle) + axis * along

    def seen_off(camera: Any, point: Any, weight: Any, pixel: Any) -> Any:
        seen = turned(camera[:3], point - camera[3:6])
        flat = seen[:2] / seen[2]
        square = torch.sum(flat * flat)
        lens = 1 + camera[9] * square + camera[10] * square * square
        return weight * (flat * lens * camera[6] + camera[7:9] - pixel)

    (cameras, points, weights), observed, pixels = arguments
    camera, point = observed[:, :some]
    wanted = [
        [torch.tensor(each, requires_grad=True) for each in (cameras[c], points[x], weights[i])]
        for i, (c, x) in enumerate(zip(camera, point, strict=True))
    ]
    given = [torch.tensor(each) for each in pixels[:some]]

    def blocks() -> Array:
        entries = []
        for inputs, pixel in zip(wanted, given, strict=True):
            of_camera, of_point, weight = inputs
            off = seen_off(of_camera, of_point, weight, pixel)
            for row in off:
                found = torch.autograd.grad(row, inputs, retain_graph=True)
                entries.append(torch.cat([each.reshape(-1) for each in found]))
        return np.asarray(torch.cat(entries))

    return blocks


def jax_hand(arguments: tuple[Any, ...]) -> Call | None:
    """Make what computes all columns of a complicated hand, by `jacfwd` under `jit`.

    None without JAX.
    """
    if importlib.util.find_spec("jax") is None:
        return None
    jax: Any = importlib.import_module("jax")  # slow, and may be missing
    jnp: Any = importlib.import_module("jax.numpy")
    jax.config.update("jax_enable_x64", True)
    theta, us, hand, points = arguments
    parents = hand["parents"].tolist()

    def turned(angles: Any) -> Any:
        (sx, sy, sz), (cx, cy, cz) = jnp.sin(angles).T, jnp.cos(angles).T
        zero, one = jnp.zeros(len(angles)), jnp.ones(len(angles))
        entries = [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx, zero],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx, zero],
            [-sy, cy * sx, cy * cx, zero],
            [zero, zero, zero, one],
        ]
        return jnp.stack([jnp.stack(row, axis=-1) for row in entries], axis=1)

    def rotation(vector: Any) -> Any:
        angle = jnp.sqrt(jnp.sum(vector * vector))
        axis = vector / angle
        cross = jnp.cross(jnp.eye(3), -axis).T
        cosine = jnp.cos(angle)
        outer = (1 - cosine) * jnp.outer(axis, axis)
        return cosine * jnp.eye(3) + outer + jnp.sin(angle) * cross

    def residuals(theta: Any, us: Any, hand: Any, points: Any) -> Any:
        relatives = hand["base_relatives"] @ turned(
            jnp.concatenate([jnp.zeros(1), theta])[hand["bends"]]
        )
        absolutes: list[Any] = []
        for bone, parent in enumerate(parents):
            relative = relatives[bone]
            absolutes.append(relative if parent < 0 else absolutes[parent] @ relative)
        bones = jnp.stack(absolutes)[:, :3] @ hand["inverse_base_absolutes"]
        corners = hand["weighted"] @ jnp.swapaxes(bones, 1, 2).reshape(-1, 3) * hand["mirror"]
        corners = (corners @ rotation(theta[:3]).T + theta[3:6])[hand["chosen"]]
        u, v = us[:, :1], us[:, 1:]
        along, across = corners[0] - corners[2], corners[1] - corners[2]
        return (points - (corners[2] + u * along + v * across)).ravel()

    def jacobian(theta: Any, us: Any, hand: Any, points: Any) -> Any:
        def moved(steps: Any) -> Any:
            return residuals(theta, us + steps, hand, points)

        by_theta = jax.jacfwd(residuals)(theta, us, hand, points)
        return jnp.concatenate([jax.jacfwd(moved)(jnp.zeros(2)), by_theta], axis=1)

    compiled = jax.jit(jacobian)
    given = jax.tree.map(jnp.asarray, (theta, us, hand, points))
    return lambda: np.asarray(compiled(*given).block_until_ready())
