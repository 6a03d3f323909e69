"""Small inputs for the evals of GradBench."""

from typing import Any

import numpy as np

RNG = np.random.default_rng(17)
BONES = 22


def hand() -> dict[str, Any]:
    """A hand of no particular shape, with the bones of the real one."""
    fingers = [0 if bone % 4 == 1 else bone - 1 for bone in range(1, BONES)]
    return {
        "bone_count": BONES,
        "bone_names": [f"bone {i}" for i in range(BONES)],
        "parents": [-1, *fingers],
        "base_relatives": RNG.normal(size=(BONES, 4, 4), scale=0.5).tolist(),
        "inverse_base_absolutes": RNG.normal(size=(BONES, 4, 4), scale=0.5).tolist(),
        "base_positions": RNG.normal(size=(30, 4)).tolist(),
        "weights": RNG.uniform(size=(30, BONES)).tolist(),
        "triangles": RNG.integers(0, 30, (12, 3)).tolist(),
        "is_mirrored": True,
    }


def posed(us: Any) -> dict[str, Any]:
    """Measured points for a hand."""
    data = {
        "model": hand(),
        "correspondences": RNG.integers(0, 12, 4).tolist(),
        "points": RNG.normal(size=(4, 3)).tolist(),
    }
    return {"theta": RNG.normal(size=26).tolist(), "us": us, "data": data}


POINTS = RNG.uniform(size=(30, 2)).tolist()

INPUTS: dict[str, Any] = {
    "ba": {
        "n": 3,
        "m": 5,
        "p": 20,
        "cam": RNG.normal(size=11).tolist(),
        "x": RNG.normal(size=3).tolist(),
        "w": 0.417,
        "feat": RNG.normal(size=2).tolist(),
    },
    "det": {"A": RNG.uniform(size=25).tolist(), "ell": 5},
    "gmm": {
        "d": 3,
        "k": 4,
        "n": 9,
        "m": 2,
        "gamma": 1.3,
        "x": RNG.normal(size=(9, 3)).tolist(),
        "alpha": RNG.normal(size=4).tolist(),
        "mu": RNG.uniform(size=(4, 3)).tolist(),
        "q": RNG.normal(size=(4, 3)).tolist(),
        "l": RNG.normal(size=(4, 3)).tolist(),
    },
    "hello": 3.0,
    "ht": posed(RNG.uniform(size=(4, 2)).tolist()),
    "kmeans": {"points": POINTS, "centroids": POINTS[-4:]},
    "llsq": {"x": RNG.normal(size=4).tolist(), "n": 9},
    "lse": {"x": [3.0, 1000.0, 999.0, 1000.0, -2.0]},
    "lstm": {
        "main_params": RNG.uniform(size=(4, 12)).tolist(),
        "extra_params": RNG.uniform(size=(3, 3)).tolist(),
        "state": RNG.uniform(size=(4, 3)).tolist(),
        "sequence": RNG.integers(0, 2, (6, 3)).astype(float).tolist(),
    },
    "ode": {"x": RNG.uniform(size=5).tolist(), "s": 6},
}
