"""Loops of rolls and gathered interpolation, as for a fluid on a grid, swept through time."""

from typing import Any

import autograd.numpy as np
from autograd import value_and_grad
from autograd.misc import flatten

ROWS, COLUMNS = 5, 6


def project(vx: Any, vy: Any) -> Any:
    p = np.zeros(vx.shape)
    h = 1.0 / vx.shape[0]
    div = -0.5 * h * (np.roll(vx, -1, axis=0) - np.roll(vx, 1, axis=0))
    div = div - 0.5 * h * (np.roll(vy, -1, axis=1) - np.roll(vy, 1, axis=1))
    for _ in range(4):
        around = np.roll(p, 1, axis=0) + np.roll(p, -1, axis=0)
        p = (div + around + np.roll(p, 1, axis=1) + np.roll(p, -1, axis=1)) / 4.0
    vx = vx - 0.5 * (np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0)) / h
    return vx, vy - 0.5 * (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1)) / h


def advect(f: Any, vx: Any, vy: Any) -> Any:
    ys, xs = np.meshgrid(np.arange(COLUMNS), np.arange(ROWS))
    x, y = (xs - vx).ravel(), (ys - vy).ravel()
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    rw, bw = x - left, y - top
    left, right = np.mod(left, ROWS), np.mod(left + 1, ROWS)
    top, bottom = np.mod(top, COLUMNS), np.mod(top + 1, COLUMNS)
    upper = (1 - bw) * f[left, top] + bw * f[left, bottom]
    lower = (1 - bw) * f[right, top] + bw * f[right, bottom]
    return np.reshape((1 - rw) * upper + rw * lower, (ROWS, COLUMNS))


def run() -> Any:
    rs = np.random.RandomState(3)
    smoke, target = rs.rand(ROWS, COLUMNS), rs.rand(ROWS, COLUMNS)
    start = (0.3 * rs.randn(ROWS, COLUMNS), 0.3 * rs.randn(ROWS, COLUMNS))

    def distance(params: Any) -> Any:
        vx, vy = params
        seen = smoke
        for _ in range(3):
            moved_vx, moved_vy = advect(vx, vx, vy), advect(vy, vx, vy)
            vx, vy = project(moved_vx, moved_vy)
            seen = advect(seen, vx, vy)
        return np.mean((target - seen) ** 2)

    vector, unflatten = flatten(start)
    return value_and_grad(lambda x: distance(unflatten(x)))(vector)
