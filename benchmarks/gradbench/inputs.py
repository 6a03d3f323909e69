"""Inputs of the sizes that ADBench and GradBench have, made up here."""

from typing import Any

import numpy as np

SIZES = [(49, 7776, 31843), (1197, 126327, 563734)]
"""Cameras, points and observations of ADBench's first and tenth."""


def bundle(n: int, m: int, p: int) -> dict[str, Any]:
    """Make an instance of a size of ADBench's, with a camera of the usual kind."""
    camera = [0.0157, -0.0128, -0.0044, -0.034, -0.1075, 1.12, 399.75, 3.1, 2.0, -3.2e-3, 5.9e-4]
    return {"n": n, "m": m, "p": p, "cam": camera, "x": [-0.61, 0.57, -1.85], "w": 0.5} | {
        "feat": [-332.65, 262.09]
    }


def hand(count: int, vertices: int, simple: bool = False) -> dict[str, Any]:
    """Make a hand and as many measured points, on places of triangles or ("simple") on vertices."""
    rng = np.random.default_rng(0)
    bones = 22
    nearby = rng.dirichlet(np.full(bones, 0.1), vertices)
    small = np.eye(4) + rng.normal(size=(2, bones, 4, 4), scale=0.05)
    model = {
        "bone_names": [f"bone {bone}" for bone in range(bones)],
        "parents": [-1, *(0 if bone % 4 == 1 else bone - 1 for bone in range(1, bones))],
        "base_relatives": small[0],
        "inverse_base_absolutes": small[1],
        "base_positions": np.c_[rng.normal(size=(vertices, 3)), np.ones(vertices)],
        "weights": nearby,
        "triangles": rng.integers(0, vertices, (vertices, 3)),
        "is_mirrored": False,
    }
    data = {
        "model": model,
        "correspondences": rng.integers(0, vertices, count),
        "points": rng.normal(size=(count, 3)),
    }
    us = rng.dirichlet(np.ones(3), count)[:, :2]
    return {
        "theta": rng.normal(size=26, scale=0.3),
        "us": us[: 0 if simple else count],
        "data": data,
    }


def mixture(d: int, k: int, n: int) -> dict[str, Any]:
    """Make points and a mixture of Gaussians for them."""
    rng = np.random.default_rng(0)
    return {
        "d": d,
        "k": k,
        "n": n,
        "m": 0,
        "gamma": 1.0,
        "x": rng.normal(size=(n, d)),
        "alpha": rng.normal(size=k),
        "mu": rng.uniform(size=(k, d)),
        "q": rng.normal(size=(k, d)),
        "l": rng.normal(size=(k, d * (d - 1) // 2)),
    }


def clusters(k: int, n: int, d: int) -> dict[str, Any]:
    """Make points, of which the last are the centres: so no cluster is empty."""
    points = np.random.default_rng(0).uniform(size=(n, d))
    return {"points": points, "centroids": points[-k:]}


def text(layers: int, length: int, bits: int = 14) -> dict[str, Any]:
    """Make a text, and a network that foretells it."""
    rng = np.random.default_rng(0)
    return {
        "main_params": rng.normal(size=(2 * layers, 4 * bits)),
        "extra_params": rng.normal(size=(3, bits)),
        "state": rng.normal(size=(2 * layers, bits)),
        "sequence": rng.integers(0, 2, (length, bits)).astype(float),
    }


def numbers(count: int) -> Any:
    """Make numbers between 0 and 1."""
    return np.random.default_rng(0).uniform(size=count)


def of_all_evals() -> list[tuple[str, str, Any]]:
    """Give evals, sizes and inputs: small and large, where the eval has sizes."""
    return [
        ("hello", "one number", 3.0),
        *(("gmm", f"d {d}, k {k}, n 1000", mixture(d, k, 1000)) for d, k in ((10, 25), (64, 10))),
        *(
            ("kmeans", f"k {k}, n {n}, d {d}", clusters(k, n, d))
            for k, n, d in ((10, 1000, 8), (100, 10_000, 16))
        ),
        *(("lse", f"n {n}", {"x": numbers(n)}) for n in (2500, 640_000)),
        *(("llsq", f"n {n}, m 128", {"x": numbers(128), "n": n}) for n in (256, 4096)),
        *(("lstm", f"l {layers}, c {c}", text(layers, c)) for layers, c in ((2, 128), (2, 1024))),
        ("ba", f"{SIZES[0][2]} observations", bundle(*SIZES[0])),
        *(
            ("ht", f"{'simple' if simple else 'complicated'}, {n} points", hand(n, 544, simple))
            for n in (100, 10_000)
            for simple in (True, False)
        ),
        *(("det", f"{ell} rows", {"A": numbers(ell * ell), "ell": ell}) for ell in (5, 9)),
        *(("ode", f"n {n}, s 10", {"x": numbers(n), "s": 10}) for n in (1000, 100_000)),
    ]
